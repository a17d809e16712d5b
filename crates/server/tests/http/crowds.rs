//! Crowds of clients that send nothing or take nothing. `PORTICO_CROWD` is their number; `make crowds` has the long form.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

use crate::support::{App, Engine, Options, listing, run, until, with};

const SHORT_CROWD: usize = 600;

/// The number of clients; every one needs an open file.
fn crowd() -> usize {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    std::env::var("PORTICO_CROWD").ok().and_then(|count| count.parse().ok()).unwrap_or(SHORT_CROWD)
}

/// One of the addresses of this machine.
fn address(number: usize) -> IpAddr {
    let [_, _, high, low] = u32::try_from(number + 1).unwrap().to_be_bytes();
    Ipv4Addr::new(127, 0, high, low).into()
}

async fn connect(to: &str, from: IpAddr) -> TcpStream {
    let to: SocketAddr = to.parse().unwrap();
    let socket = TcpSocket::new_v4().unwrap();
    // So that a response is soon more than its client takes.
    socket.set_recv_buffer_size(8 * 1024).unwrap();
    socket.bind((from, 0).into()).unwrap();
    socket.connect(to).await.unwrap()
}

/// The response to a request from an address, and how long it took.
async fn ask(to: &str, from: IpAddr, path: &str) -> (String, Duration) {
    let begin = Instant::now();
    let asking = async {
        let mut stream = connect(to, from).await;
        let request = format!("GET {path} HTTP/1.1\r\nHost: {to}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    };
    let answer = tokio::time::timeout(Duration::from_secs(30), asking).await.expect("an answer");
    (answer, begin.elapsed())
}

async fn assert_healthy(to: &str, from: IpAddr) {
    for path in ["/healthz", "/readyz"] {
        let (answer, took) = ask(to, from, path).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{path} from {from}: {answer}");
        assert!(took < Duration::from_secs(1), "{path} from {from} took {took:?}");
    }
}

/// A POST whose body does not arrive.
async fn busy(app: &App, from: IpAddr) -> TcpStream {
    let mut stream = connect(app.address(), from).await;
    let host = app.address();
    let head = format!("POST /listings HTTP/1.1\r\nHost: {host}\r\nContent-Length: 100\r\n\r\n{{");
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

async fn in_flight(app: &App, count: usize) {
    let line = format!("portico_http_requests_in_flight {count}");
    until("the requests are in flight", 10, async || {
        let (answer, _) = ask(app.admin(), address(0), "/metrics").await;
        answer.lines().any(|one| one == line).then_some(())
    })
    .await;
}

impl App {
    /// `127.0.0.1:PORT` of the listener for health and metrics.
    fn admin(&self) -> &str {
        self.admin.as_ref().unwrap().strip_prefix("http://").unwrap()
    }
}

/// The service answers everybody, while one address and then many hold silent connections.
#[test]
fn silent_sockets_keep_nobody_out() {
    run(async {
        let crowd = crowd();
        let limit = (crowd / 2).min(4096).to_string();
        let flags = ["--max-connections", &limit, "--admin-listen", "127.0.0.1:0"];
        let app = Options::new(Engine::Sqlite).flags(&flags).start().await;
        for addresses in [1, 50] {
            let mut silent = Vec::new();
            for number in 0..crowd {
                silent.push(connect(app.address(), address(number % addresses)).await);
            }
            // The other listener does not wait for the crowd to be accepted.
            assert_healthy(app.admin(), address(0)).await;
            let (_, arrival) = ask(app.address(), address(0), "/healthz").await;
            println!("{crowd} sockets of {addresses} addresses: the first answer after {arrival:?}");
            assert_healthy(app.address(), address(0)).await;
            assert_healthy(app.address(), address(100)).await;
            assert!(ask(app.address(), address(0), "/listings").await.0.starts_with("HTTP/1.1 200"));
        }
    });
}

#[test]
fn busy_connections_of_one_address_are_limited() {
    run(async {
        let flags = ["--max-connections-per-address", "2", "--admin-listen", "127.0.0.1:0"];
        let app = Options::new(Engine::Sqlite).flags(&flags).start().await;
        let _busy = (busy(&app, address(0)).await, busy(&app, address(0)).await);
        in_flight(&app, 2).await;
        let mut third = connect(app.address(), address(0)).await;
        let mut heard = Vec::new();
        // It is closed, or reset.
        let _ = tokio::time::timeout(Duration::from_secs(5), third.read_to_end(&mut heard))
            .await
            .expect("closed");
        assert_eq!(heard, b"");
        assert_healthy(app.address(), address(1)).await;
    });
}

/// All clients of a proxy have its address.
#[test]
fn address_of_a_trusted_proxy_has_no_limit() {
    run(async {
        let flags = ["--trusted-hops", "1", "--admin-listen", "127.0.0.1:0"];
        let app = Options::new(Engine::Sqlite).flags(&flags).start().await;
        let mut all = Vec::new();
        for _ in 0..300 {
            all.push(busy(&app, address(0)).await);
        }
        in_flight(&app, 300).await;
        assert_healthy(app.address(), address(0)).await;
    });
}

#[test]
fn connection_over_the_limit_waits_if_all_are_busy() {
    run(async {
        let flags = ["--max-connections", "1", "--admin-listen", "127.0.0.1:0"];
        let app = Options::new(Engine::Sqlite).flags(&flags).start().await;
        let mut first = busy(&app, address(0)).await;
        in_flight(&app, 1).await;
        let mut second = connect(app.address(), address(1)).await;
        second
            .write_all(format!("GET /healthz HTTP/1.0\r\nHost: {}\r\n\r\n", app.address()).as_bytes())
            .await
            .unwrap();
        let mut answer = String::new();
        let waiting =
            tokio::time::timeout(Duration::from_millis(200), second.read_to_string(&mut answer)).await;
        assert!(waiting.is_err(), "{answer}");
        first.write_all(&[b' '; 99]).await.unwrap();
        second.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.0 200") || answer.starts_with("HTTP/1.1 200"), "{answer}");
    });
}

#[test]
fn admin_listener_answers_when_no_connection_is_free() {
    run(async {
        let flags = ["--max-connections", "2", "--admin-listen", "127.0.0.1:0"];
        let app = Options::new(Engine::Sqlite).flags(&flags).start().await;
        let _busy = (busy(&app, address(0)).await, busy(&app, address(1)).await);
        in_flight(&app, 2).await;
        assert_healthy(app.admin(), address(0)).await;
        for path in ["/listings", "/", "/openapi.json", "/console/"] {
            let (answer, _) = ask(app.admin(), address(0), path).await;
            assert!(answer.starts_with("HTTP/1.1 404"), "{path}: {answer}");
            assert!(answer.contains("application/problem+json"), "{answer}");
        }
    });
}

#[test]
fn admin_listener_asks_for_no_credentials() {
    run(async {
        let app = Options::new(Engine::Sqlite).live().flags(&["--admin-listen", "127.0.0.1:0"]).start().await;
        app.get("/metrics").await.refused(401, "unauthenticated");
        assert_healthy(app.admin(), address(0)).await;
        let (metrics, _) = ask(app.admin(), address(0), "/metrics").await;
        assert!(metrics.starts_with("HTTP/1.1 200"), "{metrics}");
        assert!(metrics.contains("content-type: application/openmetrics-text"), "{metrics}");
        assert!(metrics.contains("portico_http_requests_total"), "{metrics}");
    });
}

/// The bytes that are held for responses.
async fn held(app: &App) -> u64 {
    let (metrics, _) = ask(app.admin(), address(0), "/metrics").await;
    let line = metrics.lines().find_map(|line| line.strip_prefix("portico_http_response_bytes_held "));
    line.expect("a metric").parse().unwrap()
}

/// Listings that are as long as they may be.
async fn fill(app: &App, count: usize) {
    for number in 0..count {
        let (long, short) = ("語".repeat(255), "語".repeat(100));
        let body = json!({"streetAddress": long, "postalCode": long, "city": short, "state": short});
        app.add_listing(with(listing(&format!("long-{number}"), "ada"), body)).await;
    }
}

/// A client that takes the beginning of the whole list and leaves the rest. The status, and the connection.
async fn read_slowly(app: &App, from: IpAddr) -> (String, TcpStream) {
    let mut stream = connect(app.address(), from).await;
    let request = format!("GET /listings HTTP/1.1\r\nHost: {}\r\n\r\n", app.address());
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut beginning = [0; 12];
    stream.read_exact(&mut beginning).await.unwrap();
    (String::from_utf8_lossy(&beginning[9..]).into_owned(), stream)
}

#[test]
fn slow_readers_hold_little_memory() {
    run(async {
        // Every reader holds 128 KiB: half of them, and in the long form a quarter, find memory.
        let crowd = crowd();
        let readers = if crowd > SHORT_CROWD { crowd.min(4096) } else { 64 };
        let mib = (readers / 16).min(128);
        let most = (mib as u64) << 20;
        let mib = mib.to_string();
        let flags = ["--max-response-memory", &mib, "--admin-listen", "127.0.0.1:0"];
        let app = Options::new(Engine::Sqlite).flags(&flags).start().await;
        fill(&app, 400).await;
        let reading = join_all((0..readers).map(|number| read_slowly(&app, address(number % 50)))).await;
        let served = reading.iter().filter(|(status, _)| status == "200").count();
        let refused = reading.iter().filter(|(status, _)| status == "503").count();
        let now = held(&app).await;
        println!("{served} served, {refused} refused, {now} bytes held, {} KiB at most", peak(&app));
        assert_eq!(served + refused, readers);
        assert!(refused > 0 && now > 0 && now <= most);
        let (answer, _) = ask(app.address(), address(100), "/listings").await;
        assert!(answer.starts_with("HTTP/1.1 503") && answer.contains("retry-after: "), "{answer}");
        assert!(answer.contains("too many long responses"), "{answer}");
        assert!(ask(app.address(), address(100), "/listings?limit=2").await.0.starts_with("HTTP/1.1 200"));
        assert_healthy(app.address(), address(100)).await;
        // Slow clients are disconnected, and long responses continue.
        until("nothing is held", 60, async || (held(&app).await == 0).then_some(())).await;
        assert_eq!(app.get("/listings").await.json(200).as_array().unwrap().len(), 400);
        assert!(peak(&app) < 400 << 10, "{} KiB", peak(&app));
        drop(reading);
    });
}

/// The most memory that the server has used, in KiB.
fn peak(app: &App) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", app.pid())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.expect("Linux").split_whitespace().next().unwrap().parse().unwrap()
}
