//! A wire to PostgreSQL that can be cut, held still and mended.

use std::sync::Arc;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Carries everything.
    Whole,
    /// Ends all connections, and every new one as soon as it is made.
    Cut,
    /// Takes everything and carries nothing.
    Still,
}

/// The wire.
#[derive(Debug)]
pub(crate) struct Proxy {
    /// The database's URL through the wire.
    pub(crate) url: String,
    state: Arc<watch::Sender<State>>,
}

impl Proxy {
    /// A wire to the database behind a URL.
    pub(crate) async fn to(url: &str) -> Self {
        let (head, tail) = url.rsplit_once('/').unwrap();
        let (user, target) = head.rsplit_once('@').unwrap();
        let target = target.to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("{user}@{}/{tail}", listener.local_addr().unwrap());
        let state = Arc::new(watch::Sender::new(State::Whole));
        let states = state.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(carry(client, target.clone(), states.subscribe()));
            }
        });
        Self { url, state }
    }

    pub(crate) fn cut(&self) {
        self.state.send_replace(State::Cut);
    }

    pub(crate) fn hold_still(&self) {
        self.state.send_replace(State::Still);
    }

    pub(crate) fn mend(&self) {
        self.state.send_replace(State::Whole);
    }
}

async fn carry(client: TcpStream, target: String, mut state: watch::Receiver<State>) {
    let (up_state, down_state) = (state.clone(), state.clone());
    let carrying = async move {
        let Ok(server) = TcpStream::connect(target).await else { return };
        let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
        tokio::select! {
            () = one_way(from_client, to_server, up_state) => {}
            () = one_way(from_server, to_client, down_state) => {}
        }
    };
    tokio::select! {
        () = carrying => {}
        _ = state.wait_for(|state| *state == State::Cut) => {}
    }
}

async fn one_way(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut state: watch::Receiver<State>) {
    let mut piece = vec![0; 16 * 1024];
    while let Ok(length @ 1..) = from.read(&mut piece).await {
        let moving = state.wait_for(|state| *state != State::Still).await.is_ok();
        if !moving || to.write_all(&piece[..length]).await.is_err() {
            break;
        }
    }
}
