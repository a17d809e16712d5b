//! Threads that restart after a panic.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use crate::{Error, Result};

const RESTART_DELAY: Duration = Duration::from_millis(100);

/// The thread restarts if it panics, and ends when its body returns.
pub(super) fn spawn(name: &'static str, mut body: impl FnMut() + Send + 'static) -> Result<()> {
    let supervised = move || {
        while std::panic::catch_unwind(AssertUnwindSafe(&mut body)).is_err() {
            tracing::error!(thread = name, "a background thread panicked and restarts");
            std::thread::park_timeout(RESTART_DELAY);
        }
    };
    std::thread::Builder::new()
        .name(name.into())
        .spawn(supervised)
        .map(drop)
        .map_err(|error| Error::Unavailable(error.to_string()))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn panicked_thread_restarts() {
        let (began, begins) = channel();
        let mut times = 0;
        spawn("panics-twice", move || {
            times += 1;
            began.send(times).unwrap();
            assert!(times > 2, "on purpose");
        })
        .unwrap();
        assert_eq!(begins.iter().collect::<Vec<i32>>(), [1, 2, 3], "and ends when its body returns");
    }
}
