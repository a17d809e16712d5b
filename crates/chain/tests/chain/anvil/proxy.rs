//! A proxy in front of the node that can be closed, hang, or lose replies.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProxyMode {
    Open,
    /// Closes every connection.
    Shut,
    /// Answers nothing until it is open again.
    Hanging,
}

#[derive(Debug)]
struct State {
    way: ProxyMode,
    /// Loses the reply to every second new transaction after the node has accepted it.
    loses: bool,
    seen: HashSet<Vec<u8>>,
    lost: usize,
}

#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) url: String,
    state: Arc<Mutex<State>>,
    task: JoinHandle<()>,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Proxy {
    pub(crate) async fn start(node: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = State { way: ProxyMode::Open, loses: false, seen: HashSet::new(), lost: 0 };
        let state = Arc::new(Mutex::new(state));
        let (node, shared) = (node.to_owned(), state.clone());
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let task = tokio::spawn(async move {
            loop {
                let Ok((stream, _)) = listener.accept().await else { continue };
                tokio::spawn(serve(stream, client.clone(), node.clone(), shared.clone()));
            }
        });
        Self { url, state, task }
    }

    pub(crate) fn set(&self, way: ProxyMode) {
        self.state.lock().unwrap().way = way;
    }

    pub(crate) fn lose_every_second_answer(&self) {
        self.state.lock().unwrap().loses = true;
    }

    /// The number of lost replies.
    pub(crate) fn lost(&self) -> usize {
        self.state.lock().unwrap().lost
    }
}

/// One request per connection.
async fn serve(mut stream: TcpStream, client: reqwest::Client, node: String, state: Arc<Mutex<State>>) {
    let Some(body) = request(&mut stream).await else { return };
    loop {
        let way = state.lock().unwrap().way;
        match way {
            ProxyMode::Open => break,
            ProxyMode::Shut => return,
            ProxyMode::Hanging => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
    let asked = client.post(node).header("content-type", "application/json").body(body.clone()).send().await;
    let Ok(answer) = asked else { return };
    let Ok(answer) = answer.bytes().await else { return };
    if is_lost(&mut state.lock().unwrap(), &body) {
        return;
    }
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        answer.len()
    );
    let _ = stream.write_all(&[head.as_bytes(), &answer].concat()).await;
}

fn is_lost(state: &mut State, body: &[u8]) -> bool {
    let text = String::from_utf8_lossy(body);
    if !state.loses || !text.contains("eth_sendRawTransaction") {
        return false;
    }
    // The request id differs every time; the transaction does not.
    let transaction = text.split("\"params\"").nth(1).unwrap().as_bytes().to_vec();
    let lost = state.seen.insert(transaction) && state.seen.len() % 2 == 1;
    state.lost += usize::from(lost);
    lost
}

/// Reads the body of an HTTP request.
async fn request(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let length: usize =
            head.lines().find_map(|line| line.strip_prefix("content-length:"))?.trim().parse().ok()?;
        if bytes.len() >= end + 4 + length {
            return Some(bytes.split_off(end + 4));
        }
    }
}
