//! `portico`: see `portico help`.

use clap::Parser;
use portico_server::cli::{Cli, run};
use portico_server::tell;

/// Many small allocations on two threads: noticeably quicker than the system's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    match run(Cli::parse()) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            tell(&format!("portico: {error:#}"));
            std::process::ExitCode::FAILURE
        }
    }
}
