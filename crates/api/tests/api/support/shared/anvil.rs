//! A real Ethereum node for the tests.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::{Value, json};

use super::number;
use crate::support::run;

/// A running Anvil, shared by all tests; each signs with a separate key.
#[derive(Debug)]
pub(crate) struct Anvil {
    pub(crate) url: String,
}

impl Anvil {
    pub(crate) fn shared() -> &'static Self {
        static SHARED: OnceLock<Anvil> = OnceLock::new();
        SHARED.get_or_init(Self::start)
    }

    /// Starts one on a free port. A shell ends it when this process exits.
    fn start() -> Self {
        const SCRIPT: &str = r#""$@" & exec >&-; trap '' TERM; read _; kill "$!"; wait"#;
        let program = std::env::var("PORTICO_ANVIL").unwrap_or_else(|_| {
            panic!("PORTICO_ANVIL is not set: use `make test`, or scripts/need foundry and ~/.cache/portico/tools/bin/anvil")
        });
        let mut child = Command::new("sh")
            .args(["-c", SCRIPT, "sh", &program, "--port", "0", "--accounts", "1"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let address = lines.find_map(|line| line.unwrap().strip_prefix("Listening on ").map(str::to_owned));
        let url = format!("http://{}", address.expect("anvil says where it listens"));
        // Drain its output, and keep the shell's standard input open.
        std::thread::spawn(move || {
            let _keeper = child;
            lines.for_each(drop);
        });
        Self { url }
    }

    pub(crate) async fn ask(&self, method: &str, params: Value) -> Value {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let request = client.post(&self.url).header("content-type", "application/json").body(body);
        let answer = request.send().await.unwrap().bytes().await.unwrap();
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// A new key with a hundred ether.
    pub(crate) fn new_key(&self) -> String {
        let secret = format!("{:064x}", u128::from(number()) << 64 | u128::from(std::process::id()));
        let key = portico_chain::signer::Key::parse(&secret.clone().into()).unwrap();
        let params = json!([key.address(), "0x56bc75e2d63100000"]);
        std::thread::scope(|scope| {
            scope.spawn(|| run(self.ask("anvil_setBalance", params))).join().unwrap();
        });
        secret
    }
}
