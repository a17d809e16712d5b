//! Threads that restart after a panic.

use std::io;
use std::panic::AssertUnwindSafe;
use std::thread::JoinHandle;
use std::time::Duration;

const RESTART_DELAY: Duration = Duration::from_millis(100);

/// Starts a thread that restarts its body after a panic and ends when the body returns.
pub fn spawn_supervised(
    name: &'static str,
    mut body: impl FnMut() + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    let supervised = move || {
        while std::panic::catch_unwind(AssertUnwindSafe(&mut body)).is_err() {
            tracing::error!(thread = name, "a background thread panicked and restarts");
            std::thread::park_timeout(RESTART_DELAY);
        }
    };
    std::thread::Builder::new().name(name.into()).spawn(supervised)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn panicked_thread_restarts() {
        let (began, begins) = channel();
        let mut times = 0;
        let thread = spawn_supervised("panics-twice", move || {
            times += 1;
            began.send(times).unwrap();
            assert!(times > 2, "on purpose");
        });
        assert_eq!(begins.iter().collect::<Vec<i32>>(), [1, 2, 3], "and ends when its body returns");
        thread.unwrap().join().unwrap();
    }
}
