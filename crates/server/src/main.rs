//! `portico`: see `portico help`.

use clap::Parser as _;
use portico_server::cli::{Cli, run};
use portico_server::tell;

/// Noticeably faster than the system allocator for many small allocations.
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
