//! A proxy in front of PostgreSQL that cuts a connection at a given statement, before or after the server gets it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use portico_store::Location;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

/// No cut is to come.
const NEVER: i64 = i64::MAX;

pub(crate) struct CuttingProxy {
    /// Of the database behind it.
    pub(crate) location: Location,
    /// Half statements until the cut: an even number is before the server gets it, an odd one after.
    left: Arc<AtomicI64>,
    is_between: bool,
}

impl CuttingProxy {
    /// SQLite has no connections: there is nothing in between.
    pub(crate) async fn start(location: &Location) -> Self {
        let left = Arc::new(AtomicI64::new(NEVER));
        let Location::Postgres(url) = location else {
            return Self { location: location.clone(), left, is_between: false };
        };
        let (head, name) = url.rsplit_once('/').unwrap();
        let (user, server) = head.rsplit_once('@').unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let location = Location::Postgres(format!("{user}@{}/{name}", listener.local_addr().unwrap()));
        let (server, countdown) = (server.to_owned(), left.clone());
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let Ok(server) = TcpStream::connect(&server).await else { continue };
                tokio::spawn(forward(client, server, countdown.clone()));
            }
        });
        Self { location, left, is_between: true }
    }

    /// `place` counts statements twice: before each, and after.
    pub(crate) fn cut_at(&self, place: usize) {
        self.left.store(i64::try_from(place).unwrap(), Ordering::SeqCst);
    }

    /// Whether there was a cut.
    pub(crate) fn disarm(&self) -> bool {
        self.is_between && self.left.swap(NEVER, Ordering::SeqCst) < 0
    }

    pub(crate) fn counts(&self) -> bool {
        self.is_between
    }
}

async fn forward(client: TcpStream, server: TcpStream, left: Arc<AtomicI64>) {
    let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
    tokio::select! {
        _ = requests(from_client, to_server, &left) => {}
        _ = answers(from_server, to_client) => {}
    }
}

async fn answers(mut from: OwnedReadHalf, mut to: OwnedWriteHalf) -> std::io::Result<()> {
    tokio::io::copy(&mut from, &mut to).await.map(drop)
}

/// Ends at the cut.
async fn requests(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, left: &AtomicI64) -> std::io::Result<()> {
    // The first message has no type.
    let mut message = vec![0; 4];
    from.read_exact(&mut message).await?;
    let mut is_first = true;
    loop {
        let size = u32::from_be_bytes(message[message.len() - 4..].try_into().unwrap()) as usize;
        let head = message.len();
        message.resize(head + size - 4, 0);
        from.read_exact(&mut message[head..]).await?;
        let runs = !is_first && matches!(message[0], b'Q' | b'E');
        is_first = false;
        if runs && is_cut(left) {
            return Ok(());
        }
        to.write_all(&message).await?;
        if runs && is_cut(left) {
            // The server runs it; nobody learns of it.
            to.write_all(b"S\0\0\0\x04").await?;
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            return Ok(());
        }
        message.resize(5, 0);
        from.read_exact(&mut message).await?;
    }
}

fn is_cut(left: &AtomicI64) -> bool {
    left.load(Ordering::SeqCst) != NEVER && left.fetch_sub(1, Ordering::SeqCst) == 0
}
