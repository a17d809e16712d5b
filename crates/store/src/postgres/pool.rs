//! Connections that are shared (a [`Lane`]) or lent to one user at a time (the [`Pool`]).

use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};

use super::connection::{Connection, Connector};
use crate::{Error, Result};

/// How long a transaction waits for a connection before the caller is told to come back.
const POOL_ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);

/// One connection that many readers pipeline their queries over. It is made again when it is lost.
#[derive(Debug)]
pub(super) struct SharedClient {
    connector: Arc<Connector>,
    /// What is told to the server first.
    setting: &'static str,
    current: RwLock<Option<Arc<Connection>>>,
    /// Held by the one who connects, so that a returning server is not stormed. It keeps why that failed last.
    connecting: tokio::sync::Mutex<Option<Error>>,
    /// How often that has failed.
    failures: AtomicU64,
}

impl SharedClient {
    pub(super) fn new(connector: Arc<Connector>, setting: &'static str) -> Self {
        let (current, connecting) = (RwLock::default(), tokio::sync::Mutex::default());
        Self { connector, setting, current, connecting, failures: AtomicU64::new(0) }
    }

    fn alive(&self) -> Option<Arc<Connection>> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        current.as_ref().filter(|connection| !connection.is_closed()).cloned()
    }

    /// Lets a connection go that has failed, although it may not know yet that it is closed.
    pub(super) fn forget(&self, failed: &Arc<Connection>) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        if current.as_ref().is_some_and(|connection| Arc::ptr_eq(connection, failed)) {
            *current = None;
        }
    }

    pub(super) async fn connection(&self) -> Result<Arc<Connection>> {
        if let Some(connection) = self.alive() {
            return Ok(connection);
        }
        let failures = self.failures.load(Ordering::Acquire);
        let mut last = self.connecting.lock().await;
        if let Some(connection) = self.alive() {
            return Ok(connection);
        }
        // Whoever waited for an attempt that failed shares its failure: one after the other they would wait for ever.
        if let Some(why) = last.as_ref().filter(|_| self.failures.load(Ordering::Acquire) != failures) {
            return Err(why.clone());
        }
        match self.connect().await {
            Ok(connection) => {
                *self.current.write().unwrap_or_else(PoisonError::into_inner) = Some(connection.clone());
                Ok(connection)
            }
            Err(why) => {
                *last = Some(why.clone());
                self.failures.fetch_add(1, Ordering::Release);
                Err(why)
            }
        }
    }

    async fn connect(&self) -> Result<Arc<Connection>> {
        let connection = self.connector.connect().await?;
        connection.batch(self.setting).await?;
        Ok(Arc::new(connection))
    }
}

#[derive(Debug)]
pub(super) struct Pool {
    connector: Arc<Connector>,
    turns: Semaphore,
    idle: Mutex<Vec<Connection>>,
}

impl Pool {
    pub(super) fn new(connector: Arc<Connector>, size: usize) -> Self {
        Self { connector, turns: Semaphore::new(size), idle: Mutex::default() }
    }

    pub(super) async fn take(&self) -> Result<PooledConnection<'_>> {
        let turn = tokio::time::timeout(POOL_ACQUIRE_TIMEOUT, self.turns.acquire()).await;
        let turn = turn.ok().and_then(Result::ok).ok_or(Error::Busy)?;
        let idle = {
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            idle.retain(|connection| !connection.is_closed());
            idle.pop()
        };
        let connection = match idle {
            Some(connection) => connection,
            None => self.connector.connect().await?,
        };
        Ok(PooledConnection { connection: Some(connection), pool: self, _turn: turn })
    }
}

/// A connection in use. It goes back by [`give_back`](Lent::give_back); dropped otherwise, by a panic or after
/// a failure, it is closed, and the server undoes what was begun on it.
pub(super) struct PooledConnection<'p> {
    connection: Option<Connection>,
    pool: &'p Pool,
    _turn: SemaphorePermit<'p>,
}

impl PooledConnection<'_> {
    /// Lets others use it: no transaction is open on it.
    pub(super) fn release(mut self) {
        if let Some(connection) = self.connection.take().filter(|connection| !connection.is_closed()) {
            self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        }
    }
}

impl Deref for PooledConnection<'_> {
    type Target = Connection;
    fn deref(&self) -> &Connection {
        self.connection
            .as_ref()
            .unwrap_or_else(|| unreachable!("a lent connection is there until it is dropped"))
    }
}
