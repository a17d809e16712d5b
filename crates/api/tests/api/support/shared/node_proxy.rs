//! A node that counts the requests for blocks, in front of another one.

use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

#[derive(Debug)]
pub(crate) struct NodeProxy {
    pub(crate) url: String,
    /// The numbers of the blocks that were asked for.
    asked: Arc<Mutex<Vec<u64>>>,
}

impl NodeProxy {
    pub(crate) async fn to(node: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (node, asked) = (node.to_owned(), Arc::<Mutex<Vec<u64>>>::default());
        let noted = asked.clone();
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(forward(stream, client.clone(), node.clone(), noted.clone()));
            }
        });
        Self { url, asked }
    }

    /// How many requests for blocks below a number there were since the last call.
    pub(crate) fn asked_below(&self, number: u64) -> usize {
        std::mem::take(&mut *self.asked.lock().unwrap()).into_iter().filter(|asked| *asked < number).count()
    }
}

/// Answers one request and closes. A disconnect ends it.
async fn forward(
    mut stream: TcpStream,
    client: reqwest::Client,
    node: String,
    asked: Arc<Mutex<Vec<u64>>>,
) -> Option<()> {
    let mut request = Vec::new();
    let body: Value = loop {
        if stream.read_buf(&mut request).await.ok()? == 0 {
            return None;
        }
        let Some(at) = request.windows(4).position(|end| end == b"\r\n\r\n") else { continue };
        if let Ok(body) = serde_json::from_slice(&request[at + 4..]) {
            break body;
        }
    };
    if body["method"] == "eth_getBlockByNumber"
        && let Some(number) = body["params"][0].as_str().and_then(|number| number.strip_prefix("0x"))
    {
        asked.lock().unwrap().push(u64::from_str_radix(number, 16).unwrap());
    }
    let request = client.post(node).header("content-type", "application/json").body(body.to_string());
    let answer = request.send().await.ok()?.bytes().await.ok()?;
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", answer.len());
    stream.write_all(&[head.as_bytes(), &answer].concat()).await.ok()
}
