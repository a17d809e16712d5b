//! The shared client for reads, and pooled connections for exclusive use.

use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use deadpool_postgres::{ClientWrapper, Object, Pool};

use crate::engine::error::{Error, Result};

/// One connection over which many readers pipeline short queries. It is replaced when it is lost.
#[derive(Debug)]
pub(super) struct SharedClient {
    pool: Pool,
    current: RwLock<Option<Arc<ClientWrapper>>>,
    /// Held while connecting, so that callers do not storm a returning server. Contains the last failure.
    connecting: tokio::sync::Mutex<Option<Error>>,
    failures: AtomicU64,
}

impl SharedClient {
    pub(super) fn new(pool: Pool) -> Self {
        let (current, connecting) = (RwLock::default(), tokio::sync::Mutex::default());
        Self { pool, current, connecting, failures: AtomicU64::new(0) }
    }

    fn alive(&self) -> Option<Arc<ClientWrapper>> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        current.as_ref().filter(|client| !client.is_closed()).cloned()
    }

    /// Drops a failed client, which may not know yet that it is closed.
    pub(super) fn discard(&self, failed: &Arc<ClientWrapper>) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        if current.as_ref().is_some_and(|client| Arc::ptr_eq(client, failed)) {
            *current = None;
        }
    }

    pub(super) async fn get(&self) -> Result<Arc<ClientWrapper>> {
        if let Some(client) = self.alive() {
            return Ok(client);
        }
        let failures = self.failures.load(Ordering::Acquire);
        let mut last_failure = self.connecting.lock().await;
        if let Some(client) = self.alive() {
            return Ok(client);
        }
        // Callers that waited for a failed attempt share its failure; retrying one after the other would take
        // forever.
        if let Some(why) = last_failure.as_ref().filter(|_| self.failures.load(Ordering::Acquire) != failures)
        {
            return Err(why.clone());
        }
        match self.pool.get().await {
            Ok(connection) => {
                let client = Arc::new(Object::take(connection));
                *self.current.write().unwrap_or_else(PoisonError::into_inner) = Some(client.clone());
                Ok(client)
            }
            Err(error) => {
                let why = Error::from(error);
                *last_failure = Some(why.clone());
                self.failures.fetch_add(1, Ordering::Release);
                Err(why)
            }
        }
    }
}

/// A pooled connection. Only [`release`](Self::release) returns it to the pool; if it is dropped after a failure or a
/// panic, it is closed and the server rolls back.
pub(super) struct PooledConnection(Option<Object>);

impl PooledConnection {
    pub(super) async fn get(pool: &Pool) -> Result<Self> {
        Ok(Self(Some(pool.get().await?)))
    }

    /// No transaction may be open.
    pub(super) fn release(mut self) {
        self.0.take();
    }
}

impl Drop for PooledConnection {
    fn drop(&mut self) {
        if let Some(connection) = self.0.take() {
            drop(Object::take(connection));
        }
    }
}

impl Deref for PooledConnection {
    type Target = ClientWrapper;
    fn deref(&self) -> &ClientWrapper {
        self.0.as_ref().unwrap_or_else(|| unreachable!("a pooled connection is there until it is dropped"))
    }
}
