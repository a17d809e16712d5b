//! A bounded map that many threads read and fill. It knows nothing of what it keeps.

use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::sync::{Mutex, MutexGuard, PoisonError};

use alloy_primitives::map::{DefaultHashBuilder, HashMap};

/// Threads meet only when they want the same one of so many parts.
const CACHE_SHARDS: usize = 32;

/// Keeps what was used lately: new and used entries go into the young half, and once that is full it becomes
/// the old half, which is forgotten.
pub(crate) struct Cache<K, V> {
    shards: Box<[Mutex<Shard<K, V>>]>,
    hasher: DefaultHashBuilder,
    /// Entries in one half of one shard.
    half: usize,
}

struct Shard<K, V> {
    young: HashMap<K, V>,
    old: HashMap<K, V>,
}

impl<K, V> fmt::Debug for Cache<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").field("half", &self.half).finish_non_exhaustive()
    }
}

impl<K: Eq + Hash, V: Clone> Cache<K, V> {
    /// Keeps `capacity` entries at most, and the latest half of them for certain.
    pub(crate) fn new(capacity: usize) -> Self {
        let shard = || Mutex::new(Shard { young: HashMap::default(), old: HashMap::default() });
        Self {
            shards: (0..CACHE_SHARDS).map(|_| shard()).collect(),
            hasher: DefaultHashBuilder::default(),
            half: (capacity / CACHE_SHARDS / 2).max(1),
        }
    }

    pub(crate) fn get(&self, key: &K) -> Option<V>
    where
        K: Clone,
    {
        let mut shard = self.shard(key);
        if let Some(value) = shard.young.get(key) {
            return Some(value.clone());
        }
        let value = shard.old.remove(key)?;
        shard.insert(key.clone(), value.clone(), self.half);
        Some(value)
    }

    /// Keeps the value, whatever was kept before.
    pub(crate) fn set(&self, key: K, value: V) {
        let mut shard = self.shard(&key);
        shard.old.remove(&key);
        shard.insert(key, value, self.half);
    }

    /// Keeps the value if it is `still` true. Nobody else changes the entry while that is asked.
    pub(crate) fn fill(&self, key: K, value: V, still: impl FnOnce() -> bool) {
        let mut shard = self.shard(&key);
        if still() {
            shard.insert(key, value, self.half);
        }
    }

    fn shard(&self, key: &K) -> MutexGuard<'_, Shard<K, V>> {
        // The map inside uses the same bits for its own places, so take others.
        let hash = self.hasher.hash_one(key).rotate_left(32);
        let index = usize::try_from(hash % CACHE_SHARDS as u64).unwrap_or_default();
        self.shards[index].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Eq + Hash, V> Shard<K, V> {
    fn insert(&mut self, key: K, value: V, half: usize) {
        if self.young.len() >= half && !self.young.contains_key(&key) {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(cache: &Cache<u32, u32>) -> usize {
        cache.shards.iter().map(|shard| shard.lock().unwrap()).map(|s| s.young.len() + s.old.len()).sum()
    }

    #[test]
    fn it_never_keeps_more_than_its_capacity() {
        let cache = Cache::new(640);
        for key in 0..10_000 {
            cache.set(key, key);
            assert!(kept(&cache) <= 640);
        }
        assert_eq!(cache.get(&9_999), Some(9_999));
    }

    #[test]
    fn what_is_used_stays() {
        let cache = Cache::new(640);
        for key in 0..10_000 {
            cache.set(key, key);
            assert!(cache.get(&0).is_some(), "forgotten at {key}");
        }
    }

    #[test]
    fn setting_replaces_what_is_in_the_old_half_too() {
        let cache = Cache::new(2 * CACHE_SHARDS);
        for key in 0..1_000 {
            cache.set(key, 0);
            cache.set(0, key);
            assert_eq!(cache.get(&0), Some(key));
        }
    }

    #[test]
    fn a_late_filler_keeps_nothing() {
        let cache = Cache::new(640);
        cache.set(1, 2);
        cache.fill(1, 1, || false);
        assert_eq!(cache.get(&1), Some(2));
    }
}
