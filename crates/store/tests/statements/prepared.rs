//! Prepares every statement on both engines: a column that a migration lacks, or one engine's syntax in a statement for
//! both, shows here and not in the first request that runs it. Part of the crate, because statements are private.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use crate::engine::error::Error;
use crate::engine::location::Role;
use crate::engine::postgres::connection::{pool, prepare};
use crate::engine::postgres::database::{KEYSTORE_SCHEMA, Postgres};
use crate::engine::sql::Sql;
use crate::engine::sqlite::database::Sqlite;

/// Where the statements of a file run.
#[derive(Clone, Copy, PartialEq)]
enum Target {
    Both,
    Sqlite,
    Postgres,
    /// Of both engines.
    Keystores,
}

type File = (&'static str, Target, &'static [&'static Sql]);

macro_rules! files {
    ($($target:ident: $($($module:ident)::+),+;)+) => {
        vec![$($((
            concat!($("/", stringify!($module)),+),
            Target::$target,
            crate::$($module)::+::STATEMENTS,
        )),+),+]
    };
}

fn files() -> Vec<File> {
    files! {
        Both: applications::changes, applications::reports, applications::stored, applications::submission, audit, budgets,
            chain::batches, chain::history, chain::items, chain::queue, chain::record, chain::signers, chain::state,
            database_facts, deployment, devices, engine::counters, engine::db, engine::totals, idempotency, keys,
            listings::clusters, listings::create, listings::delete, listings::edit, listings::find, pipelines,
            portfolios, requirements, saved, screening::cases, screening::checks, screening::claims,
            screening::guesses, screening::lifetimes, screening::people, screening::verifications, templates, tenants, users;
        Sqlite: listings::sqlite_index;
        Postgres: engine::creation_number, engine::postgres::creation_numbers, listings::postgres_index;
        Keystores: keystore::moving, keystore::relocation, keystore::store;
    }
}

/// How many statements a source file declares outside its tests.
fn declared(source: &str) -> usize {
    let code = source.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let declarations = code.lines().filter_map(|line| line.split_once("static ")?.1.split_once(": "));
    declarations
        .map(|(_, kind)| match kind.strip_prefix("[Sql; ").and_then(|rest| rest.split_once(']')) {
            Some((count, _)) => count.parse().unwrap(),
            None => usize::from(kind.starts_with("Sql =")),
        })
        .sum()
}

fn collect(folder: &Path, name: &str, found: &mut BTreeMap<String, usize>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{name}/{}", path.file_stem().unwrap().to_str().unwrap());
        if path.is_dir() {
            collect(&path, &name, found);
        } else {
            let count = declared(&std::fs::read_to_string(&path).unwrap());
            found.extend((count > 0).then_some((name, count)));
        }
    }
}

#[test]
fn every_statement_is_listed() {
    let mut found = BTreeMap::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), "", &mut found);
    let listed = files().into_iter().map(|(file, _, statements)| {
        let distinct: HashSet<_> = statements.iter().map(|sql| std::ptr::from_ref(*sql)).collect();
        (file.to_owned(), distinct.len())
    });
    assert_eq!(
        listed.collect::<BTreeMap<_, _>>(),
        found,
        "name each in its file's statements!, and the file here"
    );
}

#[tokio::test]
async fn sqlite_prepares_every_statement() {
    let folder = tempfile::tempdir().unwrap();
    let data = Sqlite::open(&folder.path().join("portico.db"), Role::Server).unwrap();
    let keys = Sqlite::open_keystore(&folder.path().join("keys.db")).unwrap();
    for (file, target, statements) in files() {
        let database = match target {
            Target::Both | Target::Sqlite => &data,
            Target::Keystores => &keys,
            Target::Postgres => continue,
        };
        let prepared = database.scan(move |connection| {
            for sql in statements {
                let prepared = connection.prepare(sql.sqlite());
                prepared.map_err(|error| Error::Bug(format!("{file}: {}: {error}", sql.sqlite())))?;
            }
            Ok(())
        });
        prepared.await.unwrap();
    }
}

#[tokio::test]
async fn postgres_prepares_every_statement() {
    let Ok(url) = std::env::var("PORTICO_TEST_POSTGRES") else {
        panic!("PORTICO_TEST_POSTGRES is not set: use `make test` or `scripts/with-postgres cargo test …`");
    };
    let (server, _) = url.rsplit_once('/').unwrap();
    let name = format!("statements{}", std::process::id());
    let maintenance = pool(&url, None, 1).unwrap().get().await.unwrap();
    maintenance.batch_execute(&format!("CREATE DATABASE {name} TEMPLATE template0")).await.unwrap();
    let url = format!("{server}/{name}");
    Postgres::open(&url).await.unwrap();
    Postgres::open_keystore(&url).await.unwrap();
    let data = pool(&url, None, 1).unwrap().get().await.unwrap();
    let keys = pool(&url, Some(KEYSTORE_SCHEMA), 1).unwrap().get().await.unwrap();
    for (file, target, statements) in files() {
        let client = match target {
            Target::Both | Target::Postgres => &data,
            Target::Keystores => &keys,
            Target::Sqlite => continue,
        };
        for sql in statements {
            let prepared = prepare(client, sql).await;
            prepared.unwrap_or_else(|error| panic!("{file}: {}: {error}", sql.postgres()));
        }
    }
}
