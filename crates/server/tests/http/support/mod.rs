//! Shared fixtures: a running server, a client, signed-in users.

pub(crate) mod answer;
pub(crate) mod anvil;
pub(crate) mod bureau;
pub(crate) mod inspect;
pub(crate) mod installation;
pub(crate) mod jwks;
pub(crate) mod node_proxy;
pub(crate) mod people;
pub(crate) mod proxy;
pub(crate) mod raw;
pub(crate) mod server;
pub(crate) mod tokens;
pub(crate) mod wallet;

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

pub(crate) use answer::Answer;
pub(crate) use anvil::Anvil;
pub(crate) use bureau::Bureau;
pub(crate) use inspect::{Cell, Raw};
pub(crate) use installation::Installation;
pub(crate) use people::{Verified, applicant};
pub(crate) use server::{App, Engine, Options, Session, new_database, portico};
pub(crate) use wallet::Wallet;

/// One runtime for all tests, so that pooled client connections outlive a test.
static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap());

pub(crate) fn run<F: Future>(test: F) -> F::Output {
    RUNTIME.block_on(test)
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
