//! Raw connections for malformed requests.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use super::App;

/// A raw connection.
#[derive(Debug)]
pub(crate) struct Raw(TcpStream);

impl Raw {
    pub(crate) fn connect(app: &App) -> Self {
        let stream = TcpStream::connect(app.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(40))).unwrap();
        Self(stream)
    }

    /// The head of a POST with this content length, and the beginning of the body.
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

    /// Sends to a server that may have closed the connection already.
    pub(crate) fn send_if_heard(&mut self, bytes: impl AsRef<[u8]>) {
        // The response is read afterwards.
        let _ = self.0.write_all(bytes.as_ref());
    }

    /// Shuts down writing and keeps reading.
    pub(crate) fn fall_silent(&self) {
        // The server may have closed already.
        let _ = self.0.shutdown(std::net::Shutdown::Write);
    }

    /// The first bytes of the response head.
    pub(crate) fn beginning(&mut self) -> String {
        let mut heard = [0; 64];
        self.0.read_exact(&mut heard).unwrap();
        String::from_utf8(heard.into()).unwrap()
    }

    /// Everything until the server closes the connection.
    pub(crate) fn read_to_end(mut self) -> String {
        let mut heard = Vec::new();
        match self.0.read_to_end(&mut heard) {
            Err(error) if error.kind() != std::io::ErrorKind::ConnectionReset => {
                panic!("the server neither answered nor closed: {error}: {}", String::from_utf8_lossy(&heard))
            }
            _ => String::from_utf8_lossy(&heard).into_owned(),
        }
    }
}

/// The response to a whole request with `Connection: close`.
pub(crate) fn exchange(app: &App, request: impl AsRef<[u8]>) -> String {
    let mut raw = Raw::connect(app);
    raw.send(request);
    raw.read_to_end()
}

#[track_caller]
pub(crate) fn status(answer: &str) -> u16 {
    let status = answer.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
    status.unwrap_or_else(|| panic!("an answer is expected: {answer:?}"))
}

/// The JSON body.
#[track_caller]
pub(crate) fn json(answer: &str) -> serde_json::Value {
    let (_, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("a body is expected: {answer:?}"));
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer:?}"))
}
