//! Exponential backoff with jitter.

use std::time::Duration;

use aws_lc_rs::rand::{SecureRandom as _, SystemRandom};

/// A source of randomness that tests can replace.
pub trait Jitter: Send + Sync {
    /// A number from 0 to `most`, both included.
    fn up_to(&self, most: u64) -> u64;
}

#[derive(Debug, Clone, Copy, Default)]
pub struct SystemJitter;

impl Jitter for SystemJitter {
    fn up_to(&self, most: u64) -> u64 {
        let mut bytes = [0; 8];
        // Without randomness everyone waits equally long, which is tolerable.
        let _ = SystemRandom::new().fill(&mut bytes);
        let random = u64::from_be_bytes(bytes);
        most.checked_add(1).map_or(random, |count| random % count)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// The longest wait after the first try; it doubles with each further one.
    pub first: Duration,
    /// The upper bound of all waits.
    pub most: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { first: Duration::from_millis(200), most: Duration::from_secs(2) }
    }
}

impl Backoff {
    /// Half of the bound, plus jitter.
    pub fn after(&self, tries: u32, jitter: &dyn Jitter) -> Duration {
        let doubled = self.first.saturating_mul(2_u32.saturating_pow(tries.saturating_sub(1)));
        let longest = u64::try_from(doubled.min(self.most).as_millis()).unwrap_or(u64::MAX);
        let sure = longest / 2;
        Duration::from_millis(sure + jitter.up_to(longest - sure))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    struct Always(fn(u64) -> u64);
    impl Jitter for Always {
        fn up_to(&self, most: u64) -> u64 {
            (self.0)(most)
        }
    }

    #[test]
    fn waits_double_up_to_the_longest() {
        let waits = |jitter: &Always| -> Vec<u128> {
            (1..=6).map(|tries| Backoff::default().after(tries, jitter).as_millis()).collect()
        };
        assert_eq!(waits(&Always(|most| most)), [200, 400, 800, 1600, 2000, 2000]);
        assert_eq!(waits(&Always(|_| 0)), [100, 200, 400, 800, 1000, 1000]);
    }

    proptest! {
        #[test]
        fn no_number_of_tries_overflows(tries: u32) {
            prop_assert!(Backoff::default().after(tries, &SystemJitter) <= Duration::from_secs(2));
        }

        #[test]
        fn system_jitter_stays_within_its_bound(most: u64) {
            prop_assert!(SystemJitter.up_to(most) <= most);
        }
    }
}
