//! How long to wait between two tries: twice as long each time, and never the same for all.

use std::time::Duration;

use aws_lc_rs::rand::{SecureRandom as _, SystemRandom};

/// Where chance comes from, so that a test can say what it does.
pub trait Jitter: Send + Sync {
    /// A number from 0 to `most`, both included.
    fn up_to(&self, most: u64) -> u64;
}

/// The operating system's chance.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemJitter;

impl Jitter for SystemJitter {
    fn up_to(&self, most: u64) -> u64 {
        let mut bytes = [0; 8];
        // Without randomness all would wait equally long: a pity, not a fault.
        let _ = SystemRandom::new().fill(&mut bytes);
        let random = u64::from_be_bytes(bytes);
        most.checked_add(1).map_or(random, |count| random % count)
    }
}

/// The waits between tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// The longest wait after the first try; after each further one it doubles.
    pub first: Duration,
    /// The longest wait of all.
    pub most: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { first: Duration::from_millis(200), most: Duration::from_secs(2) }
    }
}

impl Backoff {
    /// The wait after so many tries: at least half of what it may be, the rest by chance.
    pub fn after(&self, tries: u32, dice: &dyn Jitter) -> Duration {
        let doubled = self.first.saturating_mul(2_u32.saturating_pow(tries.saturating_sub(1)));
        let longest = u64::try_from(doubled.min(self.most).as_millis()).unwrap_or(u64::MAX);
        let sure = longest / 2;
        Duration::from_millis(sure + dice.up_to(longest - sure))
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
        let waits = |dice: &Always| -> Vec<u128> {
            (1..=6).map(|tries| Backoff::default().after(tries, dice).as_millis()).collect()
        };
        assert_eq!(waits(&Always(|most| most)), [200, 400, 800, 1600, 2000, 2000]);
        assert_eq!(waits(&Always(|_| 0)), [100, 200, 400, 800, 1000, 1000]);
    }

    proptest! {
        #[test]
        fn no_number_of_tries_makes_it_overflow(tries: u32) {
            prop_assert!(Backoff::default().after(tries, &SystemJitter) <= Duration::from_secs(2));
        }

        #[test]
        fn the_systems_dice_stay_within_their_bound(most: u64) {
            prop_assert!(SystemJitter.up_to(most) <= most);
        }
    }
}
