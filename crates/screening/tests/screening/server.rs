//! A handwritten HTTP server that can violate the protocol.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use portico_screening::http::signing::Signer;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

pub(crate) const SECRET: &str = "a shared secret of 34 characters..";
/// In seconds since 1970.
pub(crate) const NOW: i64 = 1_760_000_000;

#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) body: Vec<u8>,
    headers: Vec<(String, String)>,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

#[derive(Debug, Clone)]
pub(crate) enum Reply {
    Sends(Vec<u8>),
    /// Then keeps the connection open.
    SendsAndHangs(Vec<u8>),
    /// Sends the first bytes, then the last byte slowly, forever.
    Drips(Vec<u8>, u8),
    /// Sends the first bytes, then the others as fast as possible, forever.
    Floods(Vec<u8>, Vec<u8>),
    Closes,
}

/// Each header ends with its line end.
pub(crate) fn answer(status: u16, headers: &str, body: &str) -> Reply {
    let length = body.len();
    Reply::Sends(
        format!(
            "HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
        )
        .into(),
    )
}

pub(crate) fn signed_at(timestamp: i64, status: u16, reference: &str, body: &str) -> Reply {
    let timestamp = timestamp.to_string();
    let signature = Signer::new(&SECRET.into()).answer(&timestamp, reference, body.as_bytes());
    answer(status, &format!("Portico-Timestamp: {timestamp}\r\nPortico-Signature: {signature}\r\n"), body)
}

pub(crate) fn signed(status: u16, reference: &str, body: &str) -> Reply {
    signed_at(NOW, status, reference, body)
}

pub(crate) struct Server {
    pub(crate) url: String,
    received: Arc<Mutex<Vec<Received>>>,
    task: JoinHandle<()>,
}

impl Server {
    /// Sends these replies in order; the last one repeats forever.
    pub(crate) async fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/vendor", listener.local_addr().unwrap());
        let received = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&received);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (seen, replies) = (Arc::clone(&seen), replies.clone());
                // A client may disconnect early.
                tokio::spawn(async move { serve(stream, &seen, &replies).await.unwrap_or_default() });
            }
        });
        Self { url, received, task }
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, seen: &Mutex<Vec<Received>>, replies: &[Reply]) -> std::io::Result<()> {
    let request = receive(&mut stream).await?;
    let at = {
        let mut seen = seen.lock().unwrap();
        seen.push(request);
        seen.len() - 1
    };
    match replies[at.min(replies.len() - 1)].clone() {
        Reply::Sends(bytes) => stream.write_all(&bytes).await?,
        Reply::SendsAndHangs(bytes) => {
            stream.write_all(&bytes).await?;
            std::future::pending::<()>().await;
        }
        Reply::Drips(bytes, drop) => {
            stream.write_all(&bytes).await?;
            let mut beat = tokio::time::interval(Duration::from_millis(5));
            loop {
                beat.tick().await;
                stream.write_all(&[drop]).await?;
            }
        }
        Reply::Floods(bytes, more) => {
            stream.write_all(&bytes).await?;
            loop {
                stream.write_all(&more).await?;
            }
        }
        Reply::Closes => {}
    }
    stream.shutdown().await
}

async fn receive(stream: &mut TcpStream) -> std::io::Result<Received> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        more(stream, &mut bytes).await?;
    };
    let text = String::from_utf8(bytes[..head].to_vec()).unwrap();
    let mut lines = text.split("\r\n");
    let mut first = lines.next().unwrap().split(' ').map(str::to_owned);
    let header =
        |line: &str| line.split_once(':').map(|(key, value)| (key.to_lowercase(), value.trim().to_owned()));
    let mut request = Received {
        method: first.next().unwrap(),
        path: first.next().unwrap(),
        body: Vec::new(),
        headers: lines.filter_map(header).collect(),
    };
    let length = request.header("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = bytes.split_off(head + 4);
    while body.len() < length {
        more(stream, &mut body).await?;
    }
    request.body = body;
    Ok(request)
}

async fn more(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> std::io::Result<()> {
    match stream.read_buf(bytes).await? {
        0 => Err(std::io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(()),
    }
}
