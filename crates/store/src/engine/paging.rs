//! Reading pages in creation order.

use crate::engine::db::{Db, Engine};
use crate::engine::error::Result;
use crate::engine::page::{Cursor, Page, as_limit, weight};
use crate::engine::sql::{FromRow, Param, Sql, Weight};

impl Db {
    /// A page in creation order. Parameters: after (`?1`), limit (`?2`), then `subject`.
    pub(crate) async fn page<T: FromRow>(
        &self,
        sql: &'static Sql,
        subject: &[Param<'_>],
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<T>> {
        self.weighted_page(sql, subject, after, limit, weight(limit)).await
    }

    /// The same for rows that may be as long as a body.
    pub(crate) async fn long_page<T: FromRow>(
        &self,
        sql: &'static Sql,
        subject: &[Param<'_>],
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<T>> {
        self.weighted_page(sql, subject, after, limit, Weight::Scan).await
    }

    async fn weighted_page<T: FromRow>(
        &self,
        sql: &'static Sql,
        subject: &[Param<'_>],
        after: Option<Cursor>,
        limit: usize,
        weight: Weight,
    ) -> Result<Page<T>> {
        let mut params =
            vec![Param::Int(after.unwrap_or(Cursor::START).seq), Param::Int(as_limit(limit) + 1)];
        params.extend_from_slice(subject);
        let mut stable_up_to = None;
        loop {
            let found = self.read(sql, &params, weight).await?;
            let page = Page { stable_up_to, ..Page::cut(found, limit) };
            if self.is_stable(&page) {
                return Ok(page);
            }
            stable_up_to = self.stable_up_to().await?;
        }
    }

    /// Whether the cursor after a page in creation order can be handed out.
    pub(crate) fn is_stable<T>(&self, page: &Page<T>) -> bool {
        match (&self.0, page.next) {
            (Engine::Postgres(postgres), Some(next)) => {
                page.stable_up_to.is_some() || postgres.is_stable(next.seq)
            }
            _ => true,
        }
    }

    /// How far lists in creation order are stable. To be asked before the page is read: what is committed in between
    /// is on the page. On SQLite rows are committed in the order of their numbers.
    pub(crate) async fn stable_up_to(&self) -> Result<Option<i64>> {
        match &self.0 {
            Engine::Sqlite(_) => Ok(None),
            Engine::Postgres(postgres) => postgres.stable_up_to().await.map(Some),
        }
    }
}
