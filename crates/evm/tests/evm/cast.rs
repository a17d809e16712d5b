//! The real `cast` of Foundry, over HTTP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;

use portico_evm::Chain;

use crate::contract::{record, recorded};
use crate::support::World;

fn program() -> String {
    std::env::var("PORTICO_CAST").expect(
        "PORTICO_CAST must name the program `cast` of Foundry. To install it: \
         npm install --prefix /tmp/tools @foundry-rs/cast; then PORTICO_CAST=/tmp/tools/node_modules/.bin/cast",
    )
}

/// Serves the chain over HTTP until the tests end. Returns the URL.
fn serve(chain: &Chain) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let chain = chain.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let chain = chain.clone();
            std::thread::spawn(move || serve_connection(&chain, &stream));
        }
    });
    format!("http://{address}")
}

fn serve_connection(chain: &Chain, stream: &TcpStream) {
    let mut reader = BufReader::new(stream);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let answer = chain.rpc(&body);
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            answer.len()
        );
        let mut writer = stream;
        writer.write_all(head.as_bytes()).and_then(|()| writer.write_all(&answer)).unwrap();
    }
}

struct Cast {
    program: String,
    url: String,
}

impl Cast {
    fn run(&self, arguments: &[&str]) -> Result<String, String> {
        let output = Command::new(&self.program)
            .args(arguments)
            .args(["--rpc-url", &self.url])
            .env("NO_COLOR", "1")
            .output()
            .unwrap_or_else(|error| panic!("{}: {error}", self.program));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
    }

    fn output(&self, arguments: &[&str]) -> String {
        self.run(arguments).unwrap_or_else(|error| panic!("cast {arguments:?}: {error}"))
    }
}

#[test]
fn cast_reads_the_chain() {
    let (world, contract) = World::with_contract();
    let receipt = world.mine(world.wallet.call(contract, record([4, 5])));
    let cast = Cast { program: program(), url: serve(&world.chain) };
    let (to, from) = (contract.to_string(), world.wallet.address.to_string());
    let (hash, block) = (receipt.transaction_hash.to_string(), receipt.block_hash.to_string());

    assert_eq!(cast.output(&["chain-id"]), "4242");
    assert_eq!(cast.output(&["client"]), format!("portico-evm/v{}", env!("CARGO_PKG_VERSION")));
    assert_eq!(cast.output(&["block-number"]), "2");
    assert_eq!(cast.output(&["gas-price"]), "7");
    assert_eq!(cast.output(&["basefee"]), "7");
    assert_eq!(cast.output(&["nonce", &from]), "2");
    assert_eq!(
        cast.output(&["balance", &from]),
        world.chain.balance(world.wallet.address).unwrap().to_string()
    );
    assert_eq!(cast.output(&["code", &to]), world.chain.code(contract).unwrap().to_string());
    assert_eq!(cast.output(&["storage", &to, "0"]), format!("{:#066x}", 0));
    assert_eq!(cast.output(&["block", "--field", "hash"]), block);
    assert_eq!(cast.output(&["block", &block, "--field", "number"]), "2");
    assert!(cast.output(&["block", "latest", "--full"]).contains(&hash));
    assert!(cast.output(&["block", "0"]).contains(&world.chain.genesis_hash().to_string()));

    assert_eq!(cast.output(&["tx", &hash, "from"]), from);
    assert!(cast.output(&["tx", &hash]).contains(&block));
    let shown = cast.output(&["receipt", &hash]);
    assert!(shown.contains("1 (success)") && shown.contains(&format!("{:#x}", recorded())), "{shown}");
    assert_eq!(cast.output(&["receipt", &hash, "gasUsed"]), receipt.gas_used.to_string());

    let values = cast.output(&["call", &to, "get(uint256)(uint256,uint256)", "5"]);
    assert!(values.starts_with("6\n1000000000005"), "{values}");
    let events = ["logs", "--from-block", "0", "--address", &to];
    let found = cast.output(&[&events[..], &["Recorded(uint256 indexed,uint256,uint256)", "5"]].concat());
    assert_eq!(found.matches("transactionHash").count(), 1, "{found}");
    assert_eq!(cast.output(&events).matches("transactionHash").count(), 2);
    let estimate: u64 =
        cast.output(&["estimate", &to, "get(uint256)", "5", "--from", &from]).parse().unwrap();
    assert!((21_000..40_000).contains(&estimate), "{estimate}");
    assert_eq!(
        cast.output(&[
            "estimate",
            "0x00000000000000000000000000000000000a11ce",
            "--value",
            "1",
            "--from",
            &from
        ]),
        "21000"
    );
}

#[test]
fn cast_shows_why_a_request_fails() {
    let (world, contract) = World::with_contract();
    let cast = Cast { program: program(), url: serve(&world.chain) };
    let to = contract.to_string();
    let refused = |arguments: &[&str], expected: &str| {
        let error = cast.run(arguments).unwrap_err();
        assert!(error.contains(expected), "cast {arguments:?}: {error}");
    };
    refused(&["call", &to, "fail()"], "execution reverted: never");
    refused(&["balance", &to, "--block", "0"], "state is kept for the latest block only");
    let raw = world.wallet.call(contract, record([1])).to_string();
    refused(&["publish", &raw], "this endpoint only reads");
    refused(&["rpc", "debug_traceTransaction", "0x00"], "does not exist here");
}
