//! One connection to `PostgreSQL`: its prepared statements, its deadlines, and what its errors mean.

use std::collections::HashMap;
use std::error::Error as _;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{IsNull, ToSql, Type, private::BytesMut, to_sql_checked};
use tokio_postgres::{Client, Config, NoTls, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::read_all;
use crate::sql::{FromRow, Sql, Val};
use crate::{Error, Result};

const CONNECT_DEADLINE: Duration = Duration::from_secs(3);
/// No statement of ours takes longer; a server that has gone silent is given up after that.
const STATEMENT_DEADLINE: Duration = Duration::from_secs(10);
const SETTINGS: &str = "SET application_name = 'portico'; SET statement_timeout = '9s'; \
     SET idle_in_transaction_session_timeout = '10s'; SET TIME ZONE 'UTC'";

/// Knows how to make connections.
pub(super) struct Connector {
    config: Config,
    tls: Option<MakeRustlsConnect>,
    settings: String,
}

impl std::fmt::Debug for Connector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connector").finish_non_exhaustive()
    }
}

impl Connector {
    pub(super) fn new(url: &str) -> Result<Self> {
        let mut config: Config = url.parse().map_err(|error: tokio_postgres::Error| {
            Error::Unavailable(format!("the database URL: {}", words(&error)))
        })?;
        config.connect_timeout(CONNECT_DEADLINE).keepalives_idle(Duration::from_secs(30));
        config.tcp_user_timeout(STATEMENT_DEADLINE);
        // On the way to another machine the server's certificate is always verified; `sslmode=disable`
        // turns encryption off for those who have a private network.
        let local = config.get_hosts().iter().all(|host| match host {
            Host::Unix(_) => true,
            Host::Tcp(name) => matches!(name.as_str(), "localhost" | "127.0.0.1" | "::1"),
        }) && config.get_hostaddrs().iter().all(std::net::IpAddr::is_loopback);
        let plain = match config.get_ssl_mode() {
            SslMode::Disable => true,
            SslMode::Prefer => local,
            _ => false,
        };
        if !plain {
            config.ssl_mode(SslMode::Require);
        }
        let tls = (!plain).then(MakeRustlsConnect::with_native_certs).transpose();
        let tls =
            tls.map_err(|errors| Error::Unavailable(format!("the system's certificates: {errors:?}")))?;
        Ok(Self { config, tls: tls.map(|(tls, _unreadable)| tls), settings: SETTINGS.into() })
    }

    /// Likewise, to the tables of a schema.
    pub(super) fn within(mut self, schema: &'static str) -> Self {
        self.settings = format!("{SETTINGS}; SET search_path = {schema}");
        self
    }

    pub(super) async fn connect(&self) -> Result<Connection> {
        // Rare and large: boxed, so that what may have to connect stays small.
        let connecting = Box::pin(async {
            let client = if let Some(tls) = &self.tls {
                let (client, io) = self.config.connect(tls.clone()).await?;
                tokio::spawn(io);
                client
            } else {
                let (client, io) = self.config.connect(NoTls).await?;
                tokio::spawn(io);
                client
            };
            client.batch_execute(&self.settings).await?;
            Ok(Connection { client, statements: RwLock::default() })
        });
        match tokio::time::timeout(CONNECT_DEADLINE, connecting).await {
            Ok(Err(Error::Bug(why))) => Err(Error::Unavailable(why)),
            Ok(connected) => connected,
            Err(_) => Err(Error::Unavailable("no connection within 3 s".into())),
        }
    }
}

/// A connection and the statements prepared on it.
#[derive(Debug)]
pub(super) struct Connection {
    client: Client,
    /// By the address of the statement's text, which is static.
    statements: RwLock<HashMap<usize, Arc<Statement>>>,
}

impl Connection {
    pub(super) fn client(&self) -> &Client {
        &self.client
    }
    pub(super) fn client_mut(&mut self) -> &mut Client {
        &mut self.client
    }
    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    pub(super) async fn batch(&self, sql: &str) -> Result<()> {
        in_time(self.client.batch_execute(sql)).await
    }

    pub(super) async fn prepared(&self, sql: &'static Sql) -> Result<Arc<Statement>> {
        let key = std::ptr::from_ref(sql).addr();
        if let Some(statement) = self.statements.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(statement.clone());
        }
        let preparing = Box::pin(async { in_time(self.client.prepare(&numbered(sql.pg))).await });
        let statement = Arc::new(preparing.await?);
        self.statements.write().unwrap_or_else(PoisonError::into_inner).insert(key, statement.clone());
        Ok(statement)
    }

    pub(super) async fn exec(&self, statement: &Statement, params: &[Val<'_>]) -> Result<u64> {
        in_time(self.client.execute_raw(statement, used(statement, params))).await
    }

    pub(super) async fn query<R: FromRow>(
        &self,
        statement: &Statement,
        params: &[Val<'_>],
    ) -> Result<Vec<R>> {
        let params: Vec<&(dyn ToSql + Sync)> =
            used(statement, params).map(|p| p as &(dyn ToSql + Sync)).collect();
        read_all(&in_time(self.client.query(statement, &params)).await?)
    }

    pub(super) async fn rows<R: FromRow>(&self, sql: &'static Sql, params: &[Val<'_>]) -> Result<Vec<R>> {
        let statement = self.prepared(sql).await?;
        self.query(&statement, params).await
    }
}

/// The parameters that the statement names.
fn used<'p, 'v>(
    statement: &Statement,
    params: &'p [Val<'v>],
) -> std::iter::Take<std::slice::Iter<'p, Val<'v>>> {
    params.iter().take(statement.params().len())
}

async fn in_time<T>(work: impl Future<Output = Result<T, tokio_postgres::Error>>) -> Result<T> {
    match tokio::time::timeout(STATEMENT_DEADLINE, work).await {
        Ok(outcome) => outcome.map_err(Into::into),
        Err(_) => Err(Error::Unavailable("no answer within 10 s".into())),
    }
}

/// `?1` as `PostgreSQL` writes it: `$1`. No statement of ours has a question mark of another meaning.
fn numbered(sql: &str) -> String {
    sql.replace('?', "$")
}

impl ToSql for Val<'_> {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Int(int) => int.to_sql(kind, out),
            Self::Text(text) => text.to_sql(kind, out),
            Self::Bytes(bytes) => bytes.to_sql(kind, out),
        }
    }
    fn accepts(kind: &Type) -> bool {
        matches!(*kind, Type::INT8 | Type::TEXT | Type::BYTEA)
    }
    to_sql_checked!();
}

impl From<tokio_postgres::Error> for Error {
    fn from(error: tokio_postgres::Error) -> Self {
        let Some(code) = error.code() else { return Self::Unavailable(words(&error)) };
        let again = [
            SqlState::T_R_SERIALIZATION_FAILURE,
            SqlState::T_R_DEADLOCK_DETECTED,
            SqlState::LOCK_NOT_AVAILABLE,
            // Two replicas have drawn the same place in the order of creation.
            SqlState::UNIQUE_VIOLATION,
        ];
        let gone = [
            SqlState::ADMIN_SHUTDOWN,
            SqlState::CRASH_SHUTDOWN,
            SqlState::CANNOT_CONNECT_NOW,
            SqlState::TOO_MANY_CONNECTIONS,
            SqlState::READ_ONLY_SQL_TRANSACTION,
            SqlState::QUERY_CANCELED,
            SqlState::DISK_FULL,
            SqlState::OUT_OF_MEMORY,
            SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
        ];
        if again.contains(code) {
            Self::Again(words(&error))
        } else if gone.contains(code) || code.code().starts_with("08") {
            Self::Unavailable(words(&error))
        } else {
            Self::Bug(words(&error))
        }
    }
}

/// An error's own words with its causes, without the detail line, which may quote a value.
fn words(error: &tokio_postgres::Error) -> String {
    match (error.as_db_error(), error.source()) {
        (Some(db), _) => format!("{} ({})", db.message(), db.code().code()),
        (None, Some(cause)) => format!("{error}: {cause}"),
        (None, None) => error.to_string(),
    }
}
