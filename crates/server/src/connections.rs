//! The open connections, bounded altogether and for each client address. A newcomer takes the place of the connection
//! that has waited longest for a request, so that silent clients cannot use up the connections.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use portico_api::network;
use tokio::sync::Notify;

use crate::idle_timeout::Activity;

/// A full server closes one in so many connections, if they are idle.
const EVICTION_DIVISOR: usize = 64;

#[derive(Debug)]
pub(crate) struct Connections {
    max: usize,
    /// 0: no limit.
    max_per_address: usize,
    open: Mutex<OpenConnections>,
    closed: Notify,
}

/// An IPv6 subscriber has a whole network of addresses, which counts as one.
#[derive(Debug, Default)]
struct OpenConnections {
    by_address: HashMap<IpAddr, Vec<Arc<Activity>>>,
    count: usize,
}

/// An open connection, until it is dropped.
#[derive(Debug)]
pub(crate) struct Connection {
    connections: Arc<Connections>,
    address: IpAddr,
    pub(crate) activity: Arc<Activity>,
}

impl Connections {
    pub(crate) fn new(max: usize, max_per_address: usize) -> Arc<Self> {
        Arc::new(Self { max, max_per_address, open: Mutex::default(), closed: Notify::new() })
    }

    /// `None`: the address has as many connections as it may have, and all of them are in use. Waits for another
    /// connection to close if all of all addresses are in use.
    pub(crate) async fn admit(self: &Arc<Self>, address: IpAddr) -> Option<Connection> {
        let address = network(address);
        loop {
            let closed = self.closed.notified();
            match self.try_admit(address) {
                Admission::Admitted(connection) => return Some(connection),
                Admission::AddressFull => return None,
                Admission::Full => closed.await,
            }
        }
    }

    fn try_admit(self: &Arc<Self>, address: IpAddr) -> Admission {
        let mut open = self.open();
        let own = open.by_address.get(&address).map_or(0, Vec::len);
        if self.max_per_address > 0 && own >= self.max_per_address && !open.evict_from(address) {
            return Admission::AddressFull;
        }
        if open.count >= self.max && !open.evict_any() {
            return Admission::Full;
        }
        let activity = Arc::new(Activity::new());
        open.by_address.entry(address).or_default().push(activity.clone());
        open.count += 1;
        Admission::Admitted(Connection { connections: self.clone(), address, activity })
    }

    /// Closes those that have never had a request.
    pub(crate) fn close_silent(&self) {
        self.open().by_address.values().flatten().for_each(|activity| activity.close_if_silent());
    }

    /// The lock is never held across a panic.
    fn open(&self) -> MutexGuard<'_, OpenConnections> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Admission {
    Admitted(Connection),
    AddressFull,
    Full,
}

impl OpenConnections {
    /// Closes the connection of this address that has been idle for longest, if any is.
    fn evict_from(&mut self, address: IpAddr) -> bool {
        let own = self.by_address.get(&address).into_iter().flatten();
        let idle = own.filter_map(|one| Some((one.idle_since()?, one)));
        let oldest = idle.min_by_key(|(since, _)| *since).map(|(_, oldest)| oldest.clone());
        oldest.is_some_and(|oldest| self.evict(address, &oldest))
    }

    /// Closes those that have been idle for longest, if any are. Several, since finding them looks at all.
    fn evict_any(&mut self) -> bool {
        let all = self.by_address.iter().flat_map(|(address, own)| own.iter().map(|one| (*address, one)));
        let mut idle: Vec<_> =
            all.filter_map(|(address, one)| Some((one.idle_since()?, address, one.clone()))).collect();
        let count = (self.count / EVICTION_DIVISOR).max(1);
        if idle.len() > count {
            idle.select_nth_unstable_by_key(count, |(since, ..)| *since);
            idle.truncate(count);
        }
        for (_, address, one) in &idle {
            self.evict(*address, one);
        }
        !idle.is_empty()
    }

    fn evict(&mut self, address: IpAddr, activity: &Arc<Activity>) -> bool {
        activity.close();
        self.remove(address, activity)
    }

    /// Whether it was still there.
    fn remove(&mut self, address: IpAddr, activity: &Arc<Activity>) -> bool {
        let Some(own) = self.by_address.get_mut(&address) else { return false };
        let Some(at) = own.iter().position(|one| Arc::ptr_eq(one, activity)) else { return false };
        own.swap_remove(at);
        if own.is_empty() {
            self.by_address.remove(&address);
        }
        self.count -= 1;
        true
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.connections.open().remove(self.address, &self.activity);
        self.connections.closed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn admitted(connections: &Arc<Connections>, address: &str) -> Connection {
        connections.admit(address.parse().unwrap()).await.unwrap()
    }

    /// Whether it was told to close.
    async fn is_closed(connection: &Connection) -> bool {
        tokio::time::timeout(std::time::Duration::from_millis(1), connection.activity.end()).await.is_ok()
    }

    fn counts(connections: &Connections) -> (usize, usize) {
        let open = connections.open();
        (open.count, open.by_address.values().map(Vec::len).sum())
    }

    #[tokio::test(start_paused = true)]
    async fn address_at_its_limit_loses_its_oldest_idle_connection() {
        let connections = Connections::new(100, 2);
        let other = admitted(&connections, "10.0.0.2").await;
        let first = admitted(&connections, "10.0.0.1").await;
        tokio::time::advance(std::time::Duration::from_millis(5)).await;
        let second = admitted(&connections, "10.0.0.1").await;
        let third = admitted(&connections, "10.0.0.1").await;
        assert!(is_closed(&first).await && !is_closed(&second).await && !is_closed(&other).await);
        assert_eq!(counts(&connections), (3, 3));
        drop(first);
        assert_eq!(counts(&connections), (3, 3), "its place is not given twice");
        let _busy = (second.activity.begin_request(), third.activity.begin_request());
        assert!(connections.admit("10.0.0.1".parse().unwrap()).await.is_none());
        admitted(&connections, "10.0.0.2").await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_network_of_ipv6_addresses_has_one_share() {
        let connections = Connections::new(100, 1);
        let first = admitted(&connections, "2001:db8::1").await;
        let _busy = first.activity.begin_request();
        assert!(connections.admit("2001:db8::2".parse().unwrap()).await.is_none());
        admitted(&connections, "2001:db8:0:1::1").await;
    }

    #[tokio::test(start_paused = true)]
    async fn full_server_lets_the_oldest_idle_connection_go() {
        let connections = Connections::new(2, 0);
        let first = admitted(&connections, "10.0.0.1").await;
        let busy = first.activity.begin_request();
        tokio::time::advance(std::time::Duration::from_millis(5)).await;
        let second = admitted(&connections, "10.0.0.2").await;
        let third = admitted(&connections, "10.0.0.3").await;
        assert!(!is_closed(&first).await && is_closed(&second).await);
        let _busy = (busy, third.activity.begin_request());
        let mut waiting = Box::pin(admitted(&connections, "10.0.0.4"));
        let wait = std::time::Duration::from_millis(1);
        assert!(tokio::time::timeout(wait, &mut waiting).await.is_err());
        drop(third);
        assert!(tokio::time::timeout(wait, &mut waiting).await.is_ok());
    }
}
