//! API keys that were presented a moment ago.
//!
//! Whoever sends many requests sends the same key with each. It is read again as soon as this process has committed
//! anything, and after as long as a snapshot is shared in any case: what this process has acknowledged is always seen.

use std::sync::Arc;

use portico_domain::KeyId;
use quick_cache::sync::Cache;

use super::reader::{Commits, Moment};
use crate::Result;
use crate::keys::StoredKey;

/// So many keys are remembered.
const MAX_KEYS: usize = 1024;

pub(super) struct ApiKeyCache(Cache<KeyId, (Moment, Arc<StoredKey>)>);

impl std::fmt::Debug for ApiKeyCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Presented").field("keys", &self.0.len()).finish()
    }
}

impl Default for ApiKeyCache {
    fn default() -> Self {
        Self(Cache::new(MAX_KEYS))
    }
}

impl ApiKeyCache {
    /// A key from memory, or else by `read`, which must see everything that was acknowledged.
    pub(super) fn get(
        &self,
        id: &KeyId,
        commits: &Commits,
        read: impl FnOnce() -> Result<Option<StoredKey>>,
    ) -> Result<Option<Arc<StoredKey>>> {
        let now = commits.now();
        if let Some((since, key)) = self.0.get(id)
            && now.is_still(since)
        {
            return Ok(Some(key));
        }
        let key = read()?.map(Arc::new);
        if let Some(key) = &key {
            self.0.insert(id.clone(), (now, key.clone()));
        }
        Ok(key)
    }
}
