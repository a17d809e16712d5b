//! Requests that no well-behaved client sends, byte by byte.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use super::App;

/// A connection on which anything can be said.
#[derive(Debug)]
pub(crate) struct Raw(TcpStream);

impl Raw {
    pub(crate) fn connect(app: &App) -> Self {
        let stream = TcpStream::connect(app.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(40))).unwrap();
        Self(stream)
    }

    /// The head of a POST that promises a body of so many bytes, and the beginning of it.
    pub(crate) fn begin_post(app: &App, path: &str, length: usize, beginning: &str) -> Self {
        let mut raw = Self::connect(app);
        let host = app.address();
        raw.send(format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
             Connection: close\r\n\r\n{beginning}"
        ));
        raw
    }

    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.0.write_all(bytes.as_ref()).unwrap();
    }

    /// Sends to a server that may have turned away already.
    pub(crate) fn send_if_heard(&mut self, bytes: impl AsRef<[u8]>) {
        // What it has said is read afterwards.
        let _ = self.0.write_all(bytes.as_ref());
    }

    /// Says no more, but goes on listening.
    pub(crate) fn fall_silent(&self) {
        // The server may have hung up already.
        let _ = self.0.shutdown(std::net::Shutdown::Write);
    }

    /// The first bytes of what the server says: the head, in ASCII.
    pub(crate) fn beginning(&mut self) -> String {
        let mut heard = [0; 64];
        self.0.read_exact(&mut heard).unwrap();
        String::from_utf8(heard.into()).unwrap()
    }

    /// Everything the server says until it closes the connection.
    pub(crate) fn rest(mut self) -> String {
        let mut heard = Vec::new();
        match self.0.read_to_end(&mut heard) {
            Err(error) if error.kind() != std::io::ErrorKind::ConnectionReset => {
                panic!("the server neither answered nor closed: {error}: {}", String::from_utf8_lossy(&heard))
            }
            _ => String::from_utf8_lossy(&heard).into_owned(),
        }
    }
}

/// The answer to a whole request that asks for the connection to be closed.
pub(crate) fn exchange(app: &App, request: impl AsRef<[u8]>) -> String {
    let mut raw = Raw::connect(app);
    raw.send(request);
    raw.rest()
}

/// The status in an answer's first line.
#[track_caller]
pub(crate) fn status(answer: &str) -> u16 {
    let status = answer.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
    status.unwrap_or_else(|| panic!("an answer is expected: {answer:?}"))
}

/// The JSON after an answer's head.
#[track_caller]
pub(crate) fn json(answer: &str) -> serde_json::Value {
    let (_, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("a body is expected: {answer:?}"));
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer:?}"))
}
