//! A TCP proxy to PostgreSQL that can disconnect, stall and recover.

use std::sync::Arc;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Forwarding,
    /// Closes all connections, new ones too.
    Disconnected,
    /// Accepts data but forwards nothing.
    Stalled,
}

#[derive(Debug)]
pub(crate) struct Proxy {
    /// The database's URL through the proxy.
    pub(crate) url: String,
    state: Arc<watch::Sender<State>>,
}

impl Proxy {
    pub(crate) async fn to(url: &str) -> Self {
        let (head, tail) = url.rsplit_once('/').unwrap();
        let (user, target) = head.rsplit_once('@').unwrap();
        let target = target.to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("{user}@{}/{tail}", listener.local_addr().unwrap());
        let state = Arc::new(watch::Sender::new(State::Forwarding));
        let states = state.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(forward(client, target.clone(), states.subscribe()));
            }
        });
        Self { url, state }
    }

    pub(crate) fn disconnect(&self) {
        self.state.send_replace(State::Disconnected);
    }

    pub(crate) fn stall(&self) {
        self.state.send_replace(State::Stalled);
    }

    pub(crate) fn recover(&self) {
        self.state.send_replace(State::Forwarding);
    }
}

async fn forward(client: TcpStream, target: String, mut state: watch::Receiver<State>) {
    let (up_state, down_state) = (state.clone(), state.clone());
    let forwarding = async move {
        let Ok(server) = TcpStream::connect(target).await else { return };
        let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
        tokio::select! {
            () = copy(from_client, to_server, up_state) => {}
            () = copy(from_server, to_client, down_state) => {}
        }
    };
    tokio::select! {
        () = forwarding => {}
        _ = state.wait_for(|state| *state == State::Disconnected) => {}
    }
}

async fn copy(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut state: watch::Receiver<State>) {
    let mut piece = vec![0; 16 * 1024];
    while let Ok(length @ 1..) = from.read(&mut piece).await {
        let moving = state.wait_for(|state| *state != State::Stalled).await.is_ok();
        if !moving || to.write_all(&piece[..length]).await.is_err() {
            break;
        }
    }
}
