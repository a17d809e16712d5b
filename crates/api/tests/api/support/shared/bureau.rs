//! A local bureau with the protocol of `docs/bureaus.md` and the sandbox's conventions, which records its requests.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, OnceLock};

use portico_screening::BureauConfig;
use portico_screening::http::signing::Signer;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::tokens;
use crate::support::RUNTIME;

const SECRET: &str = "a secret that bureau and tests share";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RecordedRequest {
    pub(crate) check: String,
    pub(crate) reference: String,
    /// The names of the applicant's fields.
    pub(crate) fields: Vec<String>,
}

#[derive(Debug, Default)]
struct State {
    requests: Vec<RecordedRequest>,
    broken: HashSet<String>,
}

/// Runs until the tests end.
#[derive(Debug, Clone)]
pub(crate) struct Bureau {
    url: String,
    state: Arc<Mutex<State>>,
}

impl Bureau {
    /// Shared by all live servers.
    pub(crate) fn shared() -> &'static Self {
        static SHARED: OnceLock<Bureau> = OnceLock::new();
        SHARED.get_or_init(Self::start)
    }

    pub(crate) fn start() -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let url = format!("http://{}/vendor", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State::default()));
        let seen = state.clone();
        RUNTIME.spawn(async move {
            let listener = TcpListener::from_std(listener).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                let seen = seen.clone();
                // Ignore disconnects.
                tokio::spawn(async move { serve(stream, &seen).await.unwrap_or_default() });
            }
        });
        Self { url, state }
    }

    /// Settings that route all checks here; more `[screening]` keys may follow.
    pub(crate) fn settings(&self) -> String {
        let url = &self.url;
        format!(
            "[bureaus.loopback]\nurl = \"{url}\"\nsecret = \"{SECRET}\"\nname = \"Loopback Reports\"\n\
             address = \"1 Main Street, Dover, DE 19901, USA\"\ntelephone = \"+1 800 555 0100\"\n\n[screening]\neviction = \"loopback\"\n\
             income = \"loopback\"\nsoft_credit = \"loopback\"\ncriminal_background = \"loopback\"\n"
        )
    }

    /// The same for a service in this process.
    pub(crate) fn config(&self) -> BureauConfig {
        BureauConfig {
            url: Some(self.url.clone()),
            name: Some("Loopback Reports".into()),
            address: Some("1 Main Street, Dover, DE 19901, USA".into()),
            telephone: Some("+1 800 555 0100".into()),
            secret: Some(SECRET.into()),
            ..BureauConfig::default()
        }
    }

    /// Makes a check fail.
    pub(crate) fn fail_check(&self, check: &str) {
        self.state.lock().unwrap().broken.insert(check.into());
    }

    /// Makes all checks work again.
    pub(crate) fn clear_failures(&self) {
        self.state.lock().unwrap().broken.clear();
    }

    /// Takes the recorded requests.
    pub(crate) fn take_requests(&self) -> Vec<RecordedRequest> {
        let mut requests = std::mem::take(&mut self.state.lock().unwrap().requests);
        requests.sort_by(|one, other| one.check.cmp(&other.check));
        requests
    }
}

async fn serve(mut stream: TcpStream, state: &Mutex<State>) -> std::io::Result<()> {
    let body = receive(&mut stream).await?;
    let question: Value = serde_json::from_slice(&body)?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (check, reference) = (text(&question["check"]), text(&question["reference"]));
    let applicant = &question["applicant"];
    let broken = {
        let mut state = state.lock().unwrap();
        let fields = applicant.as_object().map(|fields| fields.keys().cloned().collect()).unwrap_or_default();
        state.requests.push(RecordedRequest { check: check.clone(), reference: reference.clone(), fields });
        state.broken.contains(&check)
    };
    let last = text(&applicant["LastName"]).to_lowercase();
    if last == "timeout" {
        std::future::pending::<()>().await;
    }
    let answer = if broken || last == "down" {
        "HTTP/1.1 503 X\r\nconnection: close\r\ncontent-length: 0\r\n\r\n".to_owned()
    } else {
        let result = found(&check, applicant, &last);
        let answer = json!({"reference": reference, "check": check, "status": "complete", "result": result});
        signed(&reference, &answer.to_string())
    };
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await
}

fn found(check: &str, applicant: &Value, last: &str) -> Value {
    let text = |name: &str| applicant[name].as_str().unwrap_or_default().to_owned();
    match check {
        "eviction" => json!({"found": last == "evicted"}),
        "criminalBackground" => json!({"found": last == "record"}),
        "income" => {
            let income = text("OpenBankingToken").strip_prefix("income-").and_then(|n| n.parse::<u64>().ok());
            json!({"yearly": income.unwrap_or(50_000)})
        }
        _ => {
            let score = text("SSN").strip_prefix("900-").and_then(|rest| rest[3..].parse::<u64>().ok());
            json!({"score": score.unwrap_or(700).clamp(300, 850)})
        }
    }
}

fn signed(reference: &str, body: &str) -> String {
    let (timestamp, length) = (tokens::now().to_string(), body.len());
    let signature = Signer::new(&SECRET.into()).answer(&timestamp, reference, body.as_bytes());
    format!(
        "HTTP/1.1 200 X\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
         Portico-Timestamp: {timestamp}\r\nPortico-Signature: {signature}\r\n\r\n{body}"
    )
}

/// The body of a request.
async fn receive(stream: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        if let Some(head) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let text = String::from_utf8_lossy(&bytes[..head]).to_lowercase();
            let length =
                text.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
            let length: usize = length.unwrap_or(0);
            if bytes.len() >= head + 4 + length {
                return Ok(bytes[head + 4..].to_vec());
            }
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
}
