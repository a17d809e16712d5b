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
        let mut settled = None;
        loop {
            let found = self.read(sql, &params, weight).await?;
            let page = Page { settled, ..Page::cut(found, limit) };
            if self.is_settled(&page) {
                return Ok(page);
            }
            settled = self.settle_order().await?;
        }
    }

    /// Whether the cursor after a page in creation order can be handed out.
    pub(crate) fn is_settled<T>(&self, page: &Page<T>) -> bool {
        match (&self.0, page.next) {
            (Engine::Postgres(postgres), Some(next)) => {
                page.settled.is_some() || postgres.is_settled(next.seq)
            }
            _ => true,
        }
    }

    /// How far lists in creation order are settled. To be asked before the page is read: what is committed in between
    /// is on the page. On SQLite rows are committed in the order of their numbers.
    pub(crate) async fn settle_order(&self) -> Result<Option<i64>> {
        match &self.0 {
            Engine::Sqlite(_) => Ok(None),
            Engine::Postgres(postgres) => postgres.settle().await.map(Some),
        }
    }
}
