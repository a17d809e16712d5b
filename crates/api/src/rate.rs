//! A limit on how often one address may call: a bucket per address that fills at the limit's rate.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Addresses remembered at most; beyond that, those whose bucket is full again are forgotten.
const REMEMBERED: usize = 100_000;

#[derive(Debug)]
pub(crate) struct Rates {
    per_second: u32,
    buckets: Mutex<HashMap<IpAddr, (f64, Instant)>>,
}

impl Rates {
    /// So many requests a second and address; 0: any number.
    pub(crate) fn new(per_second: u32) -> Self {
        Self { per_second, buckets: Mutex::default() }
    }

    /// Takes a drop from the address's bucket, which holds one second's worth.
    pub(crate) fn admit(&self, address: IpAddr) -> bool {
        self.per_second == 0 || self.admit_at(address, Instant::now())
    }

    fn admit_at(&self, address: IpAddr, now: Instant) -> bool {
        let full = f64::from(self.per_second);
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= REMEMBERED {
            buckets.retain(|_, (_, since)| now.duration_since(*since).as_secs() < 1);
        }
        let (level, since) = buckets.entry(address).or_insert((full, now));
        *level = (*level + now.duration_since(*since).as_secs_f64() * full).min(full);
        *since = now;
        let admitted = *level >= 1.0;
        if admitted {
            *level -= 1.0;
        }
        admitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn an_address_may_call_so_often_a_second_and_no_more() {
        let (rates, now) = (Rates::new(2), Instant::now());
        let (one, other) = (IpAddr::from([127, 0, 0, 1]), IpAddr::from([127, 0, 0, 2]));
        let admitted: Vec<bool> = (0..3).map(|_| rates.admit_at(one, now)).collect();
        assert_eq!(admitted, [true, true, false]);
        assert!(rates.admit_at(other, now), "each address has its own bucket");
        assert!(rates.admit_at(one, now + Duration::from_millis(500)), "it fills again");
    }
}
