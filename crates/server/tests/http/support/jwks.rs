//! A token issuer: its keys and its configuration, which can be changed or broken. Counts the requests for keys.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::tokens::Signer;

#[derive(Debug)]
struct State {
    /// `None`: the endpoint fails.
    keys: Mutex<Option<String>>,
    /// For discovery.
    configuration: Mutex<Option<String>>,
    asked: AtomicUsize,
}

/// The endpoint. Its thread ends with the process.
#[derive(Debug)]
pub(crate) struct KeyEndpoint {
    address: SocketAddr,
    state: Arc<State>,
}

impl KeyEndpoint {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State {
            keys: Mutex::default(),
            configuration: Mutex::default(),
            asked: AtomicUsize::new(0),
        });
        let endpoint = Self { address, state: state.clone() };
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                // Ignore disconnects.
                let _ = answer(stream, &state);
            }
        });
        endpoint
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/keys", self.address)
    }

    /// The issuer whose configuration this endpoint serves.
    pub(crate) fn issuer(&self) -> String {
        format!("http://{}/tenant", self.address)
    }

    pub(crate) fn configure(&self, configuration: &Value) {
        *self.state.configuration.lock().unwrap() = Some(configuration.to_string());
    }

    pub(crate) fn publish(&self, signers: &[&Signer]) {
        let keys: Vec<_> = signers.iter().map(|signer| &signer.jwk).collect();
        *self.state.keys.lock().unwrap() = Some(json!({"keys": keys}).to_string());
    }

    /// The number of requests.
    pub(crate) fn asked(&self) -> usize {
        self.state.asked.load(Ordering::SeqCst)
    }
}

fn answer(mut stream: TcpStream, state: &State) -> std::io::Result<()> {
    let mut request = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    let mut path = String::new();
    while request.read_line(&mut line)? > 2 {
        if path.is_empty() {
            line.split(' ').nth(1).unwrap_or_default().clone_into(&mut path);
        }
        line.clear();
    }
    let document = if path == "/tenant/.well-known/openid-configuration" {
        state.configuration.lock().unwrap().clone()
    } else {
        state.asked.fetch_add(1, Ordering::SeqCst);
        state.keys.lock().unwrap().clone()
    };
    let (status, body) = match &document {
        Some(keys) => ("200 OK", keys.as_str()),
        None => ("500 Internal Server Error", ""),
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}
