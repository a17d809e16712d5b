//! `PostgreSQL` connections: setup, statements with a deadline, and error mapping.

use std::error::Error as _;
use std::time::Duration;

use deadpool_postgres::{
    ClientWrapper, Hook, HookError, Manager, ManagerConfig, Pool, PoolError, RecyclingMethod, Runtime,
    TimeoutType,
};
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{IsNull, ToSql, Type, private::BytesMut, to_sql_checked};
use tokio_postgres::{Config, NoTls, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::engine::error::{Error, Result};
use crate::engine::sql::{Columns, FromRow, Param, Row, Sql};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// After that the caller gets a 503.
const POOL_ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);
/// None of our statements takes longer; the server is considered lost after that.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(10);
/// What a role or a database has as `synchronous_commit` may make commits safer, but not unsafe.
const SETTINGS: &str = "SET application_name = 'portico'; SET statement_timeout = '9s'; \
     SET idle_in_transaction_session_timeout = '10s'; SET TIME ZONE 'UTC'; \
     SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'";

/// Connects lazily, to a database or to one of its schemas.
pub(crate) fn pool(url: &str, schema: Option<&'static str>, size: usize) -> Result<Pool> {
    let mut config: Config = url.parse().map_err(|error: tokio_postgres::Error| {
        Error::Unavailable(format!("the database URL: {}", describe(&error)))
    })?;
    config.connect_timeout(CONNECT_TIMEOUT).keepalives_idle(Duration::from_secs(30));
    config.tcp_user_timeout(STATEMENT_TIMEOUT);
    let manager_config = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let manager = if is_plain(&config) {
        Manager::from_config(config, NoTls, manager_config)
    } else {
        config.ssl_mode(SslMode::Require);
        let (tls, _unreadable) = MakeRustlsConnect::with_native_certs()
            .map_err(|errors| Error::Unavailable(format!("the system's certificates: {errors:?}")))?;
        Manager::from_config(config, tls, manager_config)
    };
    let settings = match schema {
        Some(schema) => format!("{SETTINGS}; SET search_path = {schema}"),
        None => SETTINGS.into(),
    };
    let configure = Hook::async_fn(move |client: &mut ClientWrapper, _| {
        let settings = settings.clone();
        Box::pin(async move { client.batch_execute(&settings).await.map_err(HookError::Backend) })
    });
    Pool::builder(manager)
        .max_size(size)
        .runtime(Runtime::Tokio1)
        .wait_timeout(Some(POOL_ACQUIRE_TIMEOUT))
        .create_timeout(Some(CONNECT_TIMEOUT))
        .post_create(configure)
        .build()
        .map_err(|error| Error::Bug(error.to_string()))
}

/// Connections to other machines always verify the server's certificate. `sslmode=disable` turns encryption off for
/// private networks.
pub(crate) fn is_plain(config: &Config) -> bool {
    let is_local = config.get_hosts().iter().all(|host| match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => matches!(name.as_str(), "localhost" | "127.0.0.1" | "::1"),
    }) && config.get_hostaddrs().iter().all(std::net::IpAddr::is_loopback);
    match config.get_ssl_mode() {
        SslMode::Disable => true,
        SslMode::Prefer => is_local,
        _ => false,
    }
}

impl From<PoolError> for Error {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Timeout(TimeoutType::Wait) => Self::Busy,
            PoolError::Timeout(_) => Self::Unavailable("no connection within 3 s".into()),
            PoolError::Backend(error) | PoolError::PostCreateHook(HookError::Backend(error)) => {
                Self::Unavailable(describe(&error))
            }
            other => Self::Unavailable(other.to_string()),
        }
    }
}

/// For statements without parameters and rows.
pub(crate) async fn batch(client: &ClientWrapper, sql: &str) -> Result<()> {
    with_deadline(client.batch_execute(sql)).await
}

/// Prepared once per connection.
pub(crate) async fn prepare_cached(client: &ClientWrapper, sql: &'static Sql) -> Result<Statement> {
    // Boxed: the future is large and rarely does anything.
    Box::pin(with_deadline(client.prepare_cached(sql.postgres()))).await
}

/// Planned for these parameters.
pub(crate) async fn prepare(client: &ClientWrapper, sql: &'static Sql) -> Result<Statement> {
    with_deadline(client.prepare(sql.postgres())).await
}

pub(crate) async fn exec(client: &ClientWrapper, statement: &Statement, params: &[Param<'_>]) -> Result<u64> {
    with_deadline(client.execute_raw(statement, used(statement, params))).await
}

pub(crate) async fn query<R: FromRow>(
    client: &ClientWrapper,
    statement: &Statement,
    params: &[Param<'_>],
) -> Result<Vec<R>> {
    let params: Vec<&(dyn ToSql + Sync)> =
        used(statement, params).map(|param| param as &(dyn ToSql + Sync)).collect();
    let rows = with_deadline(client.query(statement, &params)).await?;
    rows.iter().map(|row| R::from_row(&mut Columns::new(row))).collect()
}

/// Only the parameters that the statement names.
fn used<'p, 'v>(
    statement: &Statement,
    params: &'p [Param<'v>],
) -> std::iter::Take<std::slice::Iter<'p, Param<'v>>> {
    params.iter().take(statement.params().len())
}

async fn with_deadline<T>(work: impl Future<Output = Result<T, tokio_postgres::Error>>) -> Result<T> {
    match tokio::time::timeout(STATEMENT_TIMEOUT, work).await {
        Ok(outcome) => outcome.map_err(Into::into),
        Err(_) => Err(Error::Unavailable("no answer within 10 s".into())),
    }
}

impl ToSql for Param<'_> {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Assigned => Err("only SQLite assigns numbers on insert".into()),
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

impl Row for tokio_postgres::Row {
    fn int(&self, column: usize) -> Result<Option<i64>> {
        self.try_get(column).map_err(Into::into)
    }
    fn text(&self, column: usize) -> Result<Option<&str>> {
        self.try_get(column).map_err(Into::into)
    }
    fn bytes(&self, column: usize) -> Result<Option<&[u8]>> {
        self.try_get(column).map_err(Into::into)
    }
}

impl From<tokio_postgres::Error> for Error {
    fn from(error: tokio_postgres::Error) -> Self {
        let Some(code) = error.code() else { return Self::Unavailable(describe(&error)) };
        let again = [
            SqlState::T_R_SERIALIZATION_FAILURE,
            SqlState::T_R_DEADLOCK_DETECTED,
            SqlState::LOCK_NOT_AVAILABLE,
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
        if *code == SqlState::UNIQUE_VIOLATION {
            Self::Duplicate(describe(&error))
        } else if again.contains(code) {
            Self::Again(describe(&error))
        } else if gone.contains(code) || code.code().starts_with("08") {
            Self::Unavailable(describe(&error))
        } else {
            Self::Bug(describe(&error))
        }
    }
}

/// The error with its causes, without the detail line, which may quote a value.
pub(crate) fn describe(error: &tokio_postgres::Error) -> String {
    match (error.as_db_error(), error.source()) {
        (Some(db), _) => format!("{} ({})", db.message(), db.code().code()),
        (None, Some(cause)) => format!("{error}: {cause}"),
        (None, None) => error.to_string(),
    }
}
