//! A wire to PostgreSQL that can be cut and mended.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

#[derive(Debug, Default)]
struct Wire {
    is_cut: AtomicBool,
    cut: Notify,
}

/// The wire.
#[derive(Debug)]
pub(crate) struct Proxy {
    /// The database's URL through the wire.
    pub(crate) url: String,
    wire: Arc<Wire>,
}

impl Proxy {
    /// A wire to the database behind a URL.
    pub(crate) async fn to(url: &str) -> Self {
        let (head, tail) = url.rsplit_once('/').unwrap();
        let (user, target) = head.rsplit_once('@').unwrap();
        let target = target.to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("{user}@{}/{tail}", listener.local_addr().unwrap());
        let wire = Arc::new(Wire::default());
        let state = wire.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(carry(client, target.clone(), state.clone()));
            }
        });
        Self { url, wire }
    }

    /// Ends all connections, and every new one as soon as it is made.
    pub(crate) fn cut(&self) {
        self.wire.is_cut.store(true, Ordering::SeqCst);
        self.wire.cut.notify_waiters();
    }

    pub(crate) fn mend(&self) {
        self.wire.is_cut.store(false, Ordering::SeqCst);
    }
}

async fn carry(mut client: TcpStream, target: String, wire: Arc<Wire>) {
    let cut = wire.cut.notified();
    if wire.is_cut.load(Ordering::SeqCst) {
        return;
    }
    let Ok(mut server) = TcpStream::connect(target).await else { return };
    tokio::select! {
        _ = tokio::io::copy_bidirectional(&mut client, &mut server) => {}
        () = cut => {}
    }
}
