//! Fixtures of the tests in this process and of those with a server process.

mod answer;
mod anvil;
mod bureau;
mod chain;
mod client;
pub(crate) mod erasing;
pub(crate) mod node_proxy;
mod people;
mod raw_sql;
pub(crate) mod tokens;
mod wallet;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

pub(crate) use answer::Answer;
pub(crate) use anvil::Anvil;
pub(crate) use bureau::Bureau;
pub(crate) use client::{Request, Session};
pub(crate) use people::{Verified, applicant};
pub(crate) use raw_sql::{Cell, Raw};
pub(crate) use wallet::Wallet;

/// The server's database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Engine {
    Sqlite,
    Postgres,
}

impl Engine {
    /// The URL of a new database; `None` for SQLite, whose database is in the data folder.
    pub(crate) async fn database(self) -> Option<String> {
        match self {
            Self::Sqlite => None,
            Self::Postgres => Some(new_database().await),
        }
    }
}

/// Creates a database on the test server, which is discarded with it.
pub(crate) async fn new_database() -> String {
    let server = std::env::var("PORTICO_TEST_POSTGRES").unwrap_or_else(|_| {
        panic!("PORTICO_TEST_POSTGRES is not set: use `make test`, or scripts/with-postgres cargo test …")
    });
    let name = format!("portico_http_{}_{}", std::process::id(), number());
    let (client, connection) = tokio_postgres::connect(&server, tokio_postgres::NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    client.batch_execute(&format!("CREATE DATABASE {name}")).await.unwrap();
    drop(client);
    connection.await.unwrap().unwrap();
    let (server, _) = server.rsplit_once('/').expect("a database URL ends with its name");
    format!("{server}/{name}")
}

/// Generates the tests `sqlite::name` and `postgres::name` for each async function.
///
/// `shared`: takes the engine's shared `&App` and must use unique ids (see [`unique`]).
/// `own`: takes the [`Engine`] and starts its own servers.
macro_rules! on_both_engines {
    ($(shared: $($shared:ident),+ $(,)?;)? $(own: $($own:ident),+ $(,)?;)?) => {
        mod sqlite {
            $($(#[test] fn $shared() {
                crate::support::run(super::$shared(crate::support::App::shared(crate::support::Engine::Sqlite)));
            })+)?
            $($(#[test] fn $own() { crate::support::run(super::$own(crate::support::Engine::Sqlite)); })+)?
        }
        mod postgres {
            $($(#[test] fn $shared() {
                crate::support::run(super::$shared(crate::support::App::shared(crate::support::Engine::Postgres)));
            })+)?
            $($(#[test] fn $own() { crate::support::run(super::$own(crate::support::Engine::Postgres)); })+)?
        }
    };
}
pub(crate) use on_both_engines;

/// A unique word.
pub(crate) fn unique(what: &str) -> String {
    format!("{what}-{}", number())
}

/// A number that is unique across processes, which may share servers.
pub(crate) fn number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1000);
    u64::from(std::process::id()) * 1_000_000 + NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Percent-encodes a value.
pub(crate) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

/// Polls until there is a value; panics with the name of what it waits for.
pub(crate) async fn until<T, F: Future<Output = Option<T>>>(
    what: &str,
    seconds: u64,
    mut attempt: impl FnMut() -> F,
) -> T {
    let deadline = Instant::now() + Duration::from_secs(seconds);
    loop {
        if let Some(found) = attempt().await {
            return found;
        }
        assert!(Instant::now() < deadline, "not within {seconds} s: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A valid body for a recorded listing.
pub(crate) fn on_chain(id: &str, user: &str) -> Value {
    json!({
        "id": id, "userId": user, "addressStreet": "7 Elm Street", "addressCity": "Austin", "addressState": "TX",
        "addressPostal": "78702", "monthlyPayment": 1850,
    })
}

/// A valid body for a listing.
pub(crate) fn listing(id: &str, user: &str) -> Value {
    json!({
        "listingId": id, "userId": user, "streetAddress": "12 Oak Street", "city": "Austin", "state": "TX",
        "postalCode": "78701",
    })
}

/// Merges members into an object.
pub(crate) fn with(mut base: Value, more: Value) -> Value {
    let Value::Object(more) = more else { panic!("an object is put over an object") };
    base.as_object_mut().expect("an object is put over an object").extend(more);
    base
}

/// A protocol item.
pub(crate) fn item(name: &str, share: Value) -> Value {
    json!({"protocolName": name, "protocolIdentifier": name.to_lowercase(), "allocationPercentage": share})
}

/// A street map of the given length: a header, and bytes that tell where they are.
pub(crate) fn street_map(length: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..length).map(|at| u8::try_from(at % 251).unwrap()).collect();
    bytes[..127].fill(0);
    bytes[..8].copy_from_slice(b"PMTiles\x03");
    bytes[97..100].copy_from_slice(&[2, 2, 1]);
    bytes
}

/// The ids in an array of objects.
pub(crate) fn ids(list: &Value, member: &str) -> Vec<String> {
    let items = list.as_array().unwrap_or_else(|| panic!("an array is expected: {list}"));
    items.iter().map(|item| item[member].as_str().expect(member).to_owned()).collect()
}

/// Asserts an ISO 8601 timestamp in UTC; returns it.
#[track_caller]
pub(crate) fn moment(value: &Value) -> Value {
    let text = value.as_str().unwrap_or_else(|| panic!("a moment is a string: {value}"));
    let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    assert_eq!(shape, "0000-00-00T00:00:00.000000Z", "{text}");
    value.clone()
}
