//! The engines under test: a fresh database per test, raw access to it, and control over SQLite's search index, which
//! PostgreSQL does not have.

use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use portico_store::{Location, MigrationStatus, Role};
use rusqlite::types::ValueRef;
use tempfile::TempDir;
use tokio_postgres::{NoTls, SimpleQueryMessage};

/// Boxed, because compiling a runtime for each test is slow.
pub(crate) type Test = fn(Db) -> Pin<Box<dyn Future<Output = ()>>>;

pub(crate) type Row = Vec<Option<String>>;

/// An open database, in the server role by default.
pub(crate) struct Db {
    store: portico_store::Db,
    place: Place,
}

impl std::ops::Deref for Db {
    type Target = portico_store::Db;
    fn deref(&self) -> &portico_store::Db {
        &self.store
    }
}

/// A database that may not be open yet.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) location: Location,
    site: Arc<Site>,
}

/// Where a test's databases are created.
enum Site {
    Folder(TempDir),
    /// Databases are not dropped one by one, because that costs a checkpoint; they disappear with the server.
    Server {
        url: String,
    },
}

pub(crate) fn on_sqlite(test: Test) {
    on(Site::Folder(tempfile::tempdir().unwrap()), test);
}

pub(crate) fn on_postgres(test: Test) {
    let Ok(url) = std::env::var("PORTICO_TEST_POSTGRES") else {
        panic!("PORTICO_TEST_POSTGRES is not set: use `make test` or `scripts/with-postgres cargo test …`");
    };
    on(Site::Server { url }, test);
}

fn on(site: Site, test: Test) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let site = Arc::new(site);
    runtime.block_on(async { test(site.fresh().await.open(Role::Server).await).await });
}

fn unique() -> String {
    format!("{:016x}", RandomState::new().hash_one(0_u8))
}

trait Fresh {
    async fn fresh(&self) -> Place;
}

impl Fresh for Arc<Site> {
    async fn fresh(&self) -> Place {
        let location = match &**self {
            Site::Folder(folder) => {
                let inner = folder.path().join(unique());
                std::fs::create_dir(&inner).unwrap();
                Location::Sqlite(inner.join("portico.db"))
            }
            Site::Server { url } => {
                let name = format!("t{}", unique());
                postgres_rows(url, &format!("CREATE DATABASE {name} TEMPLATE template0")).await;
                let (server, _) = url.rsplit_once('/').unwrap();
                Location::Postgres(format!("{server}/{name}"))
            }
        };
        Place { location, site: self.clone() }
    }
}

impl Db {
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// Another database of the same engine that was never opened.
    pub(crate) async fn fresh_place(&self) -> Place {
        self.place.site.fresh().await
    }

    pub(crate) fn handle(&self) -> portico_store::Db {
        self.store.clone()
    }

    /// Bypasses the store.
    pub(crate) async fn raw(&self, sql: &str) -> Vec<Row> {
        self.place.raw(sql).await
    }

    /// The same data, not open anywhere, as after the end of the process. On SQLite that is a copy, because an
    /// engine's threads close their files asynchronously.
    pub(crate) async fn closed(self) -> Place {
        let Location::Sqlite(path) = &self.place.location else { return self.place };
        let copy = self.fresh_place().await;
        let (from, to) = (path.parent().unwrap(), copy.path().unwrap().parent().unwrap().to_owned());
        for entry in std::fs::read_dir(from).unwrap() {
            let name = entry.unwrap().file_name();
            if !name.to_string_lossy().ends_with("-shm") {
                std::fs::copy(from.join(&name), to.join(&name)).unwrap();
            }
        }
        copy
    }

    /// Closes all connections to the database, if the engine has any.
    pub(crate) async fn cut_connections(&self) {
        if let Location::Postgres(_) = &self.place.location {
            let others = "datname = current_database() AND pid <> pg_backend_pid()";
            let sql = format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}");
            assert!(!self.raw(&sql).await.is_empty(), "there was nothing to cut");
        }
    }

    /// Freezes the search index until the result is dropped.
    pub(crate) fn hold_search_index(&self) -> HeldIndex {
        HeldIndex(self.place.search_index().map(|file| {
            let connection = rusqlite::Connection::open(file).unwrap();
            connection.execute_batch("BEGIN IMMEDIATE").unwrap();
            connection
        }))
    }

    /// Asserts how many listings the search index, if there is one, still lacks.
    pub(crate) async fn assert_not_yet_indexed(&self, listings: usize) {
        let Some(index) = self.place.search_index() else { return };
        let revision = sqlite_rows(&index, "SELECT revision FROM progress")[0][0].clone().unwrap();
        let newer = self.raw(&format!("SELECT count(*) FROM listings WHERE revision > {revision}")).await;
        assert_eq!(newer, [[Some(listings.to_string())]], "listings that the search index lacks");
    }
}

pub(crate) enum OpenTransaction {
    Open(tokio_postgres::Client),
    Later(Place, String),
}

impl OpenTransaction {
    pub(crate) async fn commit(self) {
        match self {
            Self::Open(client) => client.batch_execute("COMMIT").await.unwrap(),
            Self::Later(place, sql) => place.batch(&sql).await,
        }
    }
}

impl Place {
    pub(crate) async fn open(&self, role: Role) -> Db {
        self.try_open(role).await.unwrap()
    }

    pub(crate) async fn try_open(&self, role: Role) -> portico_store::Result<Db> {
        let store = portico_store::Db::open(&self.location, role).await?;
        Ok(Db { store, place: self.clone() })
    }

    pub(crate) async fn status(&self) -> MigrationStatus {
        portico_store::Db::status(&self.location).await.unwrap()
    }

    /// Bypasses the store.
    pub(crate) async fn raw(&self, sql: &str) -> Vec<Row> {
        match &self.location {
            Location::Sqlite(path) => sqlite_rows(path, sql),
            Location::Postgres(url) => postgres_rows(url, sql).await,
        }
    }

    /// Runs the statement of the engine in a transaction that stays open. SQLite has one writer: there, it runs when it
    /// is committed.
    pub(crate) async fn begin(&self, sqlite: &str, postgres: &str) -> OpenTransaction {
        match &self.location {
            Location::Sqlite(_) => OpenTransaction::Later(self.clone(), sqlite.to_owned()),
            Location::Postgres(url) => {
                let (client, io) = tokio_postgres::connect(url, NoTls).await.unwrap();
                tokio::spawn(io);
                client.batch_execute(&format!("BEGIN; {postgres}")).await.unwrap();
                OpenTransaction::Open(client)
            }
        }
    }

    /// Bypasses the store.
    pub(crate) async fn batch(&self, sql: &str) {
        match &self.location {
            Location::Sqlite(path) => rusqlite::Connection::open(path).unwrap().execute_batch(sql).unwrap(),
            Location::Postgres(url) => drop(postgres_rows(url, sql).await),
        }
    }

    /// Files or tables that exist before Portico creates anything.
    pub(crate) async fn contents(&self) -> Vec<String> {
        match &self.location {
            Location::Sqlite(path) => std::fs::read_dir(path.parent().unwrap())
                .unwrap()
                .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
                .collect(),
            Location::Postgres(url) => {
                let tables = "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace";
                postgres_rows(url, tables).await.into_iter().flatten().flatten().collect()
            }
        }
    }

    /// All spellings of its URL.
    pub(crate) fn urls(&self) -> Vec<String> {
        match &self.location {
            Location::Sqlite(path) => {
                ["sqlite:", "sqlite://"].map(|s| format!("{s}{}", path.display())).into()
            }
            Location::Postgres(url) => vec![url.clone(), url.replace("postgres://", "postgresql://")],
        }
    }

    /// Removes every file except the database.
    pub(crate) fn keep_only_the_database(&self) {
        let Some(path) = self.path() else { return };
        for entry in std::fs::read_dir(path.parent().unwrap()).unwrap() {
            let file = entry.unwrap().path();
            if file != path {
                std::fs::remove_file(file).unwrap();
            }
        }
    }

    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.location {
            Location::Sqlite(path) => Some(path),
            Location::Postgres(_) => None,
        }
    }

    /// `None` on PostgreSQL.
    pub(crate) fn search_index(&self) -> Option<PathBuf> {
        self.path().map(|path| path.with_extension("search.db"))
    }

    /// `None` on PostgreSQL.
    pub(crate) fn raw_index(&self, sql: &str) -> Option<Vec<Row>> {
        self.search_index().map(|file| sqlite_rows(&file, sql))
    }
}

#[must_use]
pub(crate) struct HeldIndex(
    #[expect(dead_code, reason = "it is held, not used")] Option<rusqlite::Connection>,
);

fn sqlite_rows(path: &Path, sql: &str) -> Vec<Row> {
    let connection = rusqlite::Connection::open(path).unwrap();
    let mut statement = connection.prepare(sql).unwrap();
    let columns = statement.column_count();
    let mut rows = statement.query([]).unwrap();
    let mut found = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        let text = |column| match row.get_ref(column).unwrap() {
            ValueRef::Null => None,
            ValueRef::Integer(integer) => Some(integer.to_string()),
            ValueRef::Text(text) => Some(String::from_utf8(text.to_vec()).unwrap()),
            other => panic!("a column that is not shown as text: {other:?}"),
        };
        found.push((0..columns).map(text).collect());
    }
    found
}

async fn postgres_rows(url: &str, sql: &str) -> Vec<Row> {
    let (client, io) = tokio_postgres::connect(url, NoTls).await.unwrap();
    let io = tokio::spawn(io);
    let messages = client.simple_query(sql).await.unwrap();
    drop(client);
    io.await.unwrap().unwrap();
    let rows = messages.into_iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => {
            Some((0..row.len()).map(|column| row.get(column).map(str::to_owned)).collect())
        }
        _ => None,
    });
    rows.collect()
}
