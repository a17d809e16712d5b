//! What `pg_dump` and `pg_restore` need of us: a snapshot to dump, how to connect, and the tables that make room.

use deadpool_postgres::Object;
use portico_domain::{KeyId, Timestamp};
use tokio_postgres::Config;
use tokio_postgres::config::Host;

use crate::database_facts::{Facts, ReadFacts};
use crate::engine::audit_key::AuditKeyCell;
use crate::engine::error::{Error, Result};
use crate::engine::postgres::connection::{batch, describe, is_plain, pool};
use crate::engine::postgres::restore_mark::{Pending, exists, pending};
use crate::engine::postgres::transaction::PgTx;
use crate::engine::sql::Op as _;
use crate::keys::Revocation;

/// One state of a database that others may write to.
pub struct PostgresSnapshot {
    connection: Object,
    id: String,
}

impl std::fmt::Debug for PostgresSnapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PostgresSnapshot({})", self.id)
    }
}

impl PostgresSnapshot {
    pub async fn open(url: &str) -> Result<Self> {
        let connection = pool(url, None, 1)?.get().await?;
        // It stays open as long as the dump takes.
        batch(
            &connection,
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL idle_in_transaction_session_timeout = 0",
        )
        .await?;
        let id = connection.query_one("SELECT pg_export_snapshot()", &[]).await?.try_get(0)?;
        Ok(Self { connection, id })
    }

    /// For `pg_dump --snapshot`.
    pub fn id(&self) -> &str {
        &self.id
    }

    pub async fn facts(&self) -> Result<Facts> {
        let mut tx = PgTx::new(&self.connection, AuditKeyCell::default());
        tx.begun = true;
        ReadFacts.run(&mut tx).await
    }
}

/// How PostgreSQL's own programs reach a database: through their environment, where no other user sees the password.
pub struct ClientEnvironment(pub Vec<(&'static str, String)>);

impl std::fmt::Debug for ClientEnvironment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ClientEnvironment")
    }
}

impl ClientEnvironment {
    pub fn new(url: &str) -> Result<Self> {
        let config: Config = url.parse().map_err(|error: tokio_postgres::Error| {
            Error::Unavailable(format!("the database URL: {}", describe(&error)))
        })?;
        let host = |host: &Host| match host {
            Host::Tcp(name) => name.clone(),
            Host::Unix(path) => path.display().to_string(),
        };
        let list = |items: Vec<String>| Some(items.join(",")).filter(|list| !list.is_empty());
        let password = config.get_password().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        let (mode, roots) =
            if is_plain(&config) { ("disable", None) } else { ("verify-full", Some("system")) };
        let settings = [
            ("PGHOST", list(config.get_hosts().iter().map(host).collect())),
            ("PGPORT", list(config.get_ports().iter().map(u16::to_string).collect())),
            ("PGUSER", config.get_user().map(Into::into)),
            ("PGDATABASE", config.get_dbname().or(config.get_user()).map(Into::into)),
            ("PGPASSWORD", password),
            ("PGSSLMODE", Some(mode.into())),
            ("PGSSLROOTCERT", roots.map(Into::into)),
        ];
        Ok(Self(settings.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()))
    }
}

/// A database into which a backup is to be restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Its tables, as SQL names them.
    pub relations: Vec<String>,
    /// Whether they are Portico's.
    pub is_ours: bool,
    pub profile: Option<String>,
    /// Connections of running servers and commands.
    pub users: i64,
    /// The backup of a restore that was interrupted.
    pub pending: Option<String>,
}

pub async fn inspect_target(url: &str) -> Result<Target> {
    let connection = pool(url, None, 1)?.get().await?;
    let schema: Option<String> = connection.query_one("SELECT current_schema()", &[]).await?.try_get(0)?;
    if schema.as_deref() != Some("public") {
        return Err(Error::Unavailable(
            "the tables of this database are not in the schema public: restore it with pg_restore".into(),
        ));
    }
    let users = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
         AND application_name = 'portico' AND pid <> pg_backend_pid()";
    let known = |table: &'static str| async { exists(&connection, table).await };
    let is_ours = known("public.portico_migrations").await?;
    let profile = if known("public.deployment").await? && is_ours {
        connection.query_one("SELECT max(profile) FROM public.deployment", &[]).await?.try_get(0)?
    } else {
        None
    };
    Ok(Target {
        relations: relations(&connection, "public").await?,
        is_ours,
        profile,
        users: connection.query_one(users, &[]).await?.try_get(0)?,
        pending: pending(&connection).await?.map(|pending| pending.backup),
    })
}

/// The tables and the like of a schema, as SQL names them: neither what belongs to an extension nor what belongs to a
/// column.
async fn relations(connection: &Object, schema: &str) -> Result<Vec<String>> {
    let found = connection
        .query(
            "SELECT format('%s %I.%I', CASE relkind WHEN 'S' THEN 'SEQUENCE' WHEN 'v' THEN 'VIEW' \
             WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'TABLE' END, $1::text, relname) FROM pg_class c \
             WHERE relnamespace = $1::text::regnamespace AND relkind IN ('r', 'p', 'S', 'v', 'm') \
             AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_class'::regclass \
             AND d.objid = c.oid AND d.deptype IN ('e', 'a', 'i')) ORDER BY relname",
            &[&schema],
        )
        .await?;
    Ok(found.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?)
}

/// The statements that move the existing tables to another schema and mark the restore as incomplete. Run them in the
/// transaction that restores.
pub fn make_room(target: &Target, replaced: Option<&str>, backup: &str) -> String {
    let mut statements = vec!["DROP SCHEMA IF EXISTS portico_restore CASCADE;\n".to_owned()];
    if let Some(replaced) = replaced {
        statements.push(format!("CREATE SCHEMA {replaced};\n"));
        let move_to_replaced = |relation| format!("ALTER {relation} SET SCHEMA {replaced};\n");
        statements.extend(target.relations.iter().map(move_to_replaced));
    }
    statements.push("CREATE SCHEMA portico_restore;\n".to_owned());
    statements
        .push("CREATE TABLE portico_restore.pending (backup text NOT NULL, kept_at text);\n".to_owned());
    let backup = backup.replace('\'', "''");
    let replaced = replaced.map_or("NULL".to_owned(), |replaced| format!("'{replaced}'"));
    statements.push(format!("INSERT INTO portico_restore.pending VALUES ('{backup}', {replaced});\n"));
    statements.concat()
}

/// Puts back what a restore that is not complete replaced.
pub async fn undo(url: &str) -> Result<()> {
    let connection = pool(url, None, 1)?.get().await?;
    let Some(Pending { replaced, .. }) = pending(&connection).await? else { return Ok(()) };
    let mut statements = vec!["BEGIN".to_owned(), "DROP SCHEMA portico_restore CASCADE".to_owned()];
    let restored = relations(&connection, "public").await?;
    statements.extend(restored.iter().map(|relation| {
        let (kind, name) = relation.split_once(" public.").unwrap_or(("TABLE", relation));
        format!("DROP {kind} IF EXISTS public.{name} CASCADE")
    }));
    if let Some(schema) = replaced {
        let replaced = relations(&connection, &schema).await?;
        statements.extend(replaced.iter().map(|relation| format!("ALTER {relation} SET SCHEMA public")));
        statements.push(format!("DROP SCHEMA {schema}"));
    }
    statements.push("COMMIT".to_owned());
    batch(&connection, &statements.join(";\n")).await
}

/// The keys that were revoked in what a restore that is not complete replaced; `None`: it replaced nothing.
pub async fn replaced_revocations(url: &str) -> Result<Option<Vec<Revocation>>> {
    let connection = pool(url, None, 1)?.get().await?;
    let Some(schema) = pending(&connection).await?.and_then(|pending| pending.replaced) else {
        return Ok(None);
    };
    let sql =
        format!("SELECT id, revoked_at FROM {schema}.api_keys WHERE revoked_at IS NOT NULL ORDER BY seq");
    let revocation = |row: &tokio_postgres::Row| {
        let (key, at): (String, i64) = (row.try_get(0)?, row.try_get(1)?);
        Ok(Revocation { key: KeyId::stored(key), at: Timestamp::from_micros(at) })
    };
    connection.query(&sql, &[]).await?.iter().map(revocation).collect::<Result<_>>().map(Some)
}

/// The restore is complete.
pub async fn complete(url: &str) -> Result<()> {
    let connection = pool(url, None, 1)?.get().await?;
    batch(&connection, "DROP SCHEMA IF EXISTS portico_restore CASCADE").await
}
