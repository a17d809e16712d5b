//! Several processes on one PostgreSQL database.

use std::hash::{BuildHasher as _, RandomState};

use portico_store::{Location, Role};
use tokio_postgres::NoTls;

use super::proxy::{Proxy, ProxyMode};
use super::*;

/// A separate database on the test server; it disappears with that server.
struct Database {
    server: String,
    name: String,
}

impl Database {
    async fn create() -> Self {
        let Ok(server) = std::env::var("PORTICO_TEST_POSTGRES") else {
            panic!(
                "PORTICO_TEST_POSTGRES is not set: use `make test` or `scripts/with-postgres cargo test …`"
            );
        };
        let name = format!("chain_{:016x}", RandomState::new().hash_one(0_u8));
        let database = Self { server, name };
        database.reply(format!("CREATE DATABASE {} TEMPLATE template0", database.name)).await;
        database
    }

    async fn reply(&self, sql: String) {
        let (client, io) = tokio_postgres::connect(&self.server, NoTls).await.unwrap();
        let io = tokio::spawn(io);
        client.batch_execute(&sql).await.unwrap();
        drop(client);
        io.await.unwrap().unwrap();
    }

    /// A handle as another process would have it.
    async fn open(&self) -> Db {
        let (server, _) = self.server.rsplit_once('/').unwrap();
        Db::open(&Location::Postgres(format!("{server}/{}", self.name)), Role::Server).await.unwrap()
    }
}

/// Runs a test on a separate database.
fn on_postgres<F: Future<Output = ()>>(test: impl FnOnce(Arc<Database>) -> F) {
    run(async {
        let database = Arc::new(Database::create().await);
        test(database).await;
    });
}

/// Records listings concurrently.
async fn record_many(portico: &Arc<Portico>, name: &str, count: usize) {
    let one = |n: usize| {
        let (portico, id) = (portico.clone(), format!("{name}-{n}"));
        tokio::spawn(async move { portico.record(&id).await.unwrap() })
    };
    let all: Vec<_> = (0..count).map(one).collect();
    for recorded in all {
        recorded.await.unwrap();
    }
}

#[test]
fn two_replicas_with_a_key_each_record_concurrently() {
    on_postgres(|database| async move {
        let (anvil, db) = (Anvil::start(&[]).await, database.open().await);
        let contracts = contracts(&anvil, &db).await;
        // Both have both keys, and each takes the first free one.
        let keys = || vec![samples::key(1), samples::key(2)];
        let first = Arc::new(Portico::start(&[&anvil.url], &db, keys(), contracts, settings()).await);
        let other = database.open().await;
        let second = Arc::new(Portico::start(&[&anvil.url], &other, keys(), contracts, settings()).await);
        let signers = [&first, &second].map(|replica| replica.writer.status().signer.unwrap());
        assert_eq!(signers, [samples::key(1).address(), samples::key(2).address()]);
        tokio::join!(record_many(&first, "first", 200), record_many(&second, "second", 200));
        // The same listing at both: one of them gets a conflict.
        let (one, two) = tokio::join!(first.record("both"), second.record("both"));
        assert_eq!(u8::from(one.is_ok()) + u8::from(two.is_ok()), 1);
        for n in 0..20 {
            second.delete(&format!("first-{n}")).await;
        }
        first.until_it_agrees(401, DEFAULT_DEADLINE).await;
        second.until_it_agrees(401, DEFAULT_DEADLINE).await;
    });
}

#[test]
fn standby_with_the_same_key_takes_over() {
    on_postgres(|database| async move {
        let (anvil, db) = (Anvil::start(&[]).await, database.open().await);
        let contracts = contracts(&anvil, &db).await;
        let proxy = Proxy::start(&anvil.url).await;
        let keys = || vec![samples::key(1)];
        let first = Arc::new(Portico::start(&[&proxy.url], &db, keys(), contracts, settings()).await);
        let other = database.open().await;
        let second = Arc::new(Portico::start(&[&anvil.url], &other, keys(), contracts, settings()).await);
        record_many(&first, "sent", 20).await;
        first.until_it_agrees(20, DEFAULT_DEADLINE).await;
        assert!(matches!(second.record("early").await, Err(Error::Stopped(_))), "the other one signs");
        // Now listings are signed but cannot be sent; then the process dies.
        proxy.set(ProxyMode::Shut);
        record_many(&first, "unsent", 20).await;
        drop(first);
        until("the other one takes over", DEFAULT_DEADLINE, || async {
            second.writer.status().signer.is_some()
        })
        .await;
        second.until_it_agrees(40, DEFAULT_DEADLINE).await;
        record_many(&second, "later", 20).await;
        second.until_it_agrees(60, DEFAULT_DEADLINE).await;
    });
}

#[test]
fn replica_with_another_key_follows_orphaned_batches() {
    on_postgres(|database| async move {
        let (anvil, db) = (Anvil::start(&[]).await, database.open().await);
        let contracts = contracts(&anvil, &db).await;
        let proxy = Proxy::start(&anvil.url).await;
        let keys = || vec![samples::key(1), samples::key(2)];
        let first = Arc::new(Portico::start(&[&proxy.url], &db, keys(), contracts, settings()).await);
        let other = database.open().await;
        let second = Arc::new(Portico::start(&[&anvil.url], &other, keys(), contracts, settings()).await);
        record_many(&second, "second", 5).await;
        proxy.set(ProxyMode::Shut);
        record_many(&first, "unsent", 20).await;
        drop(first);
        second.until_it_agrees(25, DEFAULT_DEADLINE).await;
        assert_eq!(second.writer.status().signer, Some(samples::key(2).address()));
        // Its signer is free again.
        let signers = || async {
            let signers = db.chain_signers().await.unwrap();
            signers.iter().any(|signer| signer.address == samples::key(1).address().0.0 && signer.beat < 0)
        };
        let blocks = || async {
            anvil.ask("anvil_mine", json!(["0x1"])).await;
            signers().await
        };
        until("its signer is given back", DEFAULT_DEADLINE, blocks).await;
    });
}

#[test]
fn clean_shutdown_releases_the_lease() {
    on_postgres(|database| async move {
        let (anvil, db) = (Anvil::start(&[]).await, database.open().await);
        let contracts = contracts(&anvil, &db).await;
        // Nobody takes over a lease whose holder seems alive.
        let settings = WriterSettings { lease_timeout: Duration::from_hours(1), ..settings() };
        let keys = || vec![samples::key(1)];
        let first = Portico::start(&[&anvil.url], &db, keys(), contracts, settings).await;
        first.record("oak").await.unwrap();
        let other = database.open().await;
        let second = Portico::start(&[&anvil.url], &other, keys(), contracts, settings).await;
        assert_eq!(second.writer.status().signer, None);
        first.writer.release().await;
        until("the other one signs", DEFAULT_DEADLINE, || async { second.writer.status().signer.is_some() })
            .await;
        assert!(matches!(first.record("elm").await, Err(Error::Stopped(_))), "it does not sign any more");
        second.record("elm").await.unwrap();
        second.until_it_agrees(2, DEFAULT_DEADLINE).await;
    });
}
