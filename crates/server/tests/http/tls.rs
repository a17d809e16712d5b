//! TLS by the server itself, and its certificate's renewal.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::support::{App, Engine, Options, listing, portico, run};

const SETTINGS: &str = "[req]\ndistinguished_name = name\nx509_extensions = extensions\nprompt = no\n[name]\nCN = portico\n\
     [extensions]\nbasicConstraints = critical, CA:FALSE\nsubjectAltName = IP:127.0.0.1\n";

/// A folder with the certificates of this machine that a test makes.
struct Certificates(TempDir);

impl Certificates {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("settings"), SETTINGS).unwrap();
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Makes `NAME.cert` and `NAME.key`.
    fn make(&self, name: &str) -> CertificateDer<'static> {
        let made = Command::new("openssl")
            .args([
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:P-256",
                "-nodes",
                "-days",
                "2",
            ])
            .args(["-config", "settings", "-keyout", &format!("{name}.key"), "-out", &format!("{name}.cert")])
            .current_dir(self.0.path())
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        CertificateDer::from_pem_file(self.path(&format!("{name}.cert"))).unwrap()
    }

    fn copy(&self, from: &str, to: &str) {
        std::fs::copy(self.path(from), self.path(to)).unwrap();
    }

    fn flags(&self, certificate: &str, key: &str) -> [String; 4] {
        let text = |path: PathBuf| path.into_os_string().into_string().unwrap();
        ["--tls-cert".into(), text(self.path(certificate)), "--tls-key".into(), text(self.path(key))]
    }
}

async fn start(flags: &[String]) -> App {
    let flags: Vec<&str> =
        flags.iter().map(String::as_str).chain(["--admin-listen", "127.0.0.1:0"]).collect();
    Options::new(Engine::Sqlite).flags(&flags).start().await
}

/// A connection of a client that trusts this certificate alone.
async fn connect(app: &App, trusted: &CertificateDer<'static>) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let mut config = config.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let stream = TcpStream::connect(app.address()).await?;
    TlsConnector::from(Arc::new(config)).connect(ServerName::try_from("127.0.0.1").unwrap(), stream).await
}

async fn ask(app: &App, mut stream: TlsStream<TcpStream>, path: &str) -> String {
    let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", app.address());
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[test]
fn serves_over_tls_with_hsts() {
    run(async {
        let certificates = Certificates::new();
        let trusted = certificates.make("own");
        let app = start(&certificates.flags("own.cert", "own.key")).await;
        assert!(app.url.starts_with("https://"), "{}", app.url);
        for path in ["/healthz", "/listings", "/console/", "/nothing"] {
            let answer = ask(&app, connect(&app, &trusted).await.unwrap(), path).await;
            assert!(answer.starts_with("HTTP/1.1 "), "{path}: {answer}");
            assert!(answer.contains("strict-transport-security: max-age=31536000\r\n"), "{path}: {answer}");
        }
        let stream = connect(&app, &trusted).await.unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
        // Plain HTTP is no HTTP there.
        let mut plain = TcpStream::connect(app.address()).await.unwrap();
        plain.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
        let mut answer = Vec::new();
        let _ = plain.read_to_end(&mut answer).await;
        assert!(!answer.starts_with(b"HTTP/"), "{}", String::from_utf8_lossy(&answer));
        let admin = reqwest::get(format!("{}/healthz", app.admin.as_ref().unwrap())).await.unwrap();
        assert_eq!(admin.status(), 200);
        let plain = App::shared(Engine::Sqlite).get("/healthz").await;
        assert_eq!(plain.header("strict-transport-security"), "");
    });
}

#[test]
fn renewed_certificate_drops_no_connection() {
    run(async {
        let certificates = Certificates::new();
        let (first, second) = (certificates.make("first"), certificates.make("second"));
        certificates.copy("first.cert", "cert");
        certificates.copy("first.key", "key");
        let app = start(&certificates.flags("cert", "key")).await;
        let body = listing("slow", "ada").to_string();
        let mut slow = connect(&app, &first).await.unwrap();
        let (host, length) = (app.address(), body.len());
        let head = format!("POST /listings HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n\r\n");
        slow.write_all(head.as_bytes()).await.unwrap();

        certificates.copy("second.cert", "cert");
        certificates.copy("second.key", "key");
        app.signal("HUP");
        app.logs("the TLS certificate was read again").await;
        assert!(connect(&app, &first).await.is_err());
        let answer = ask(&app, connect(&app, &second).await.unwrap(), "/healthz").await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");

        slow.write_all(body.as_bytes()).await.unwrap();
        let mut answer = [0; 12];
        slow.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"HTTP/1.1 201");
    });
}

#[test]
fn unusable_renewal_keeps_the_old_certificate() {
    run(async {
        let certificates = Certificates::new();
        let first = certificates.make("first");
        certificates.make("second");
        certificates.copy("first.cert", "cert");
        certificates.copy("first.key", "key");
        let app = start(&certificates.flags("cert", "key")).await;
        // The new certificate, but the old key: a renewal that is half done.
        certificates.copy("second.cert", "cert");
        app.signal("HUP");
        app.logs("the new TLS certificate cannot be used: the old one stays").await;
        let answer = ask(&app, connect(&app, &first).await.unwrap(), "/healthz").await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert!(!app.log().contains("PRIVATE KEY"), "{}", app.log());
    });
}

#[test]
fn server_does_not_start_without_a_usable_certificate() {
    let certificates = Certificates::new();
    certificates.make("own");
    certificates.make("other");
    std::fs::write(certificates.path("empty"), "").unwrap();
    for (certificate, key, told) in [
        ("missing", "own.key", "missing"),
        ("own.cert", "empty", "empty"),
        ("own.key", "own.key", "own.key"),
        ("own.cert", "other.key", "do not fit"),
    ] {
        let mut command = portico();
        command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(certificates.path("data"));
        let output = command.args(certificates.flags(certificate, key)).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && error.contains(told), "{certificate}, {key}: {error}");
        assert!(!error.contains(key_text(&certificates.path("own.key"))), "{error}");
    }
}

/// A line of a key that no message may hold.
fn key_text(path: &Path) -> &'static str {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().nth(1).unwrap().to_owned().leak()
}

/// A handshake has as much time as a request's head, and delays no shutdown.
#[test]
fn silent_handshake_is_closed() {
    run(async {
        let certificates = Certificates::new();
        certificates.make("own");
        let mut app = start(&certificates.flags("own.cert", "own.key")).await;
        let mut silent = TcpStream::connect(app.address()).await.unwrap();
        let mut heard = Vec::new();
        let closed = tokio::time::timeout(Duration::from_secs(20), silent.read_to_end(&mut heard)).await;
        assert!(closed.is_ok() && heard.is_empty(), "{heard:?}");
        let _silent = TcpStream::connect(app.address()).await.unwrap();
        let begin = std::time::Instant::now();
        app.signal("TERM");
        assert!(app.ended().await);
        assert!(begin.elapsed() < Duration::from_secs(4), "{:?}", begin.elapsed());
    });
}
