//! Runs a test in a separate process, for global state: the environment, the log.

use std::process::Command;

pub(crate) fn run_alone(test: &str, change: impl FnOnce(&mut Command)) {
    let mut process = Command::new(std::env::current_exe().unwrap());
    process.args(["--exact", test, "--include-ignored"]);
    change(&mut process);
    let ran = process.output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && said.contains("1 passed"), "{said}");
}
