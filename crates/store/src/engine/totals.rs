//! Reading counters.

use crate::engine::db::Db;
use crate::engine::error::Result;
use crate::engine::page::as_limit;
use crate::engine::sql::{Sql, Weight, sql, statements};

static TOTALS: Sql = sql("SELECT name, CAST(sum(n) AS BIGINT) FROM counters WHERE scope = ?1 AND name > ?2 \
     GROUP BY name HAVING sum(n) <> 0 ORDER BY name LIMIT ?3");

static LARGEST: Sql = sql("SELECT name, CAST(sum(n) AS BIGINT) AS total FROM counters WHERE scope = ?1 \
     GROUP BY name HAVING sum(n) <> 0 ORDER BY total DESC, name LIMIT ?2");

/// Names in the first, cheap read; a scan reads the rest.
const FIRST_TOTALS: usize = 256;

impl Db {
    /// The totals of a scope by name.
    pub(crate) async fn totals(&self, scope: &str) -> Result<Vec<(String, i64)>> {
        let mut totals: Vec<(String, i64)> = self
            .read(&TOTALS, &[scope.into(), "".into(), as_limit(FIRST_TOTALS).into()], Weight::Point)
            .await?;
        if totals.len() == FIRST_TOTALS
            && let Some((last, _)) = totals.last()
        {
            let params = [scope.into(), last.as_str().into(), i64::MAX.into()];
            let mut others = self.read(&TOTALS, &params, Weight::Scan).await?;
            totals.append(&mut others);
        }
        Ok(totals)
    }

    /// The largest totals of a scope, then by name.
    pub(crate) async fn largest_totals(&self, scope: &str, count: usize) -> Result<Vec<(String, i64)>> {
        self.read(&LARGEST, &[scope.into(), as_limit(count).into()], Weight::Scan).await
    }
}

pub(crate) fn total(totals: &[(String, i64)], name: &str) -> i64 {
    totals.iter().find(|(of, _)| of == name).map_or(0, |(_, n)| *n)
}

statements! { TOTALS, LARGEST }
