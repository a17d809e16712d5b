//! User portfolios: created directly or copied from a template.

use portico_domain::field_changes::FieldChange;
use portico_domain::portfolios::{Portfolio, PortfolioChange, PortfolioEdit, PortfolioStatistics};
use portico_domain::{Allocation, ErrorCode, PortfolioId, TemplateId, Timestamp, UserId};

use crate::engine::counters::{ChangeContext, record};
use crate::engine::creation_number::creation_number;
use crate::engine::db::Db;
use crate::engine::error::{Error, Result};
use crate::engine::page::{Cursor, Page};
use crate::engine::sql::{
    Columns, FromRow, Op, Row, Sql, Tx, params, row, select, select_dialects, sql, statements,
};
use crate::engine::totals::total;
use crate::templates::{for_change as template_for_change, items_to_json};

static INSERT: Sql = sql(
    "INSERT INTO portfolios (seq, id, user_id, name, description, risk, items, based_on, custom, created_at, updated_at) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
);
static UPDATE: Sql = sql(
    "UPDATE portfolios SET name = ?2, description = ?3, risk = ?4, items = ?5, updated_at = ?6 WHERE id = ?1",
);
static DELETE: Sql = sql("DELETE FROM portfolios WHERE id = ?1");
static GET: Sql = select::<Portfolio>("SELECT {columns} FROM portfolios WHERE id = ?1");
static GET_TO_CHANGE: Sql = select_dialects::<Portfolio>(
    "SELECT {columns} FROM portfolios WHERE id = ?1",
    "SELECT {columns} FROM portfolios WHERE id = ?1 FOR UPDATE",
);
static OF_USER: Sql = select::<Portfolio>(
    "SELECT {columns}, seq, seq FROM portfolios WHERE user_id = ?3 AND seq > ?1 ORDER BY seq LIMIT ?2",
);

/// Older edits are deleted.
const MAX_EDITS: i64 = 100;
/// Of all edits but the newest, in characters: an edit of a long list has it twice.
const MAX_HISTORY_LENGTH: i64 = 1 << 20;

static LAST_EDIT: Sql =
    sql("SELECT number FROM portfolio_history WHERE portfolio_id = ?1 ORDER BY number DESC LIMIT 1");
static ADD_EDIT: Sql =
    sql("INSERT INTO portfolio_history (portfolio_id, number, at, changes) VALUES (?1, ?2, ?3, ?4)");
static DELETE_EDITS: Sql = sql("DELETE FROM portfolio_history WHERE portfolio_id = ?1 AND number <= ?2");
/// Up to a number (`?2`), and those before the newest (`?3`) which are longer than `?4` together with all later ones.
static DELETE_OLD_EDITS: Sql =
    sql("DELETE FROM portfolio_history WHERE portfolio_id = ?1 AND (number <= ?2 OR number IN \
     (SELECT number FROM (SELECT number, sum(length(changes)) OVER (ORDER BY number DESC) AS length \
     FROM portfolio_history WHERE portfolio_id = ?1 AND number < ?3) AS measured WHERE length > ?4))");
static EDITS: Sql = sql("SELECT number, at, changes, number, number FROM portfolio_history \
     WHERE portfolio_id = ?3 AND number > ?1 ORDER BY number LIMIT ?2");

row!(Portfolio {
    id, user = "user_id", name, description, risk, items, based_on, custom, created_at, updated_at,
});

async fn insert<T: Tx>(tx: &mut T, portfolio: &Portfolio, by: &ChangeContext) -> Result<()> {
    let items = items_to_json(&portfolio.items)?;
    let params = params![
        creation_number(tx).await?,
        &portfolio.id,
        &portfolio.user,
        portfolio.name.as_ref(),
        portfolio.description.as_ref(),
        portfolio.risk.as_str(),
        items.as_str(),
        portfolio.based_on.as_ref(),
        portfolio.custom,
        portfolio.created_at,
        portfolio.updated_at
    ];
    tx.exec(&INSERT, &params).await?;
    count(tx, portfolio, by, "portfolio.created", 1).await
}

async fn count<T: Tx>(
    tx: &mut T,
    portfolio: &Portfolio,
    by: &ChangeContext,
    kind: &'static str,
    one: i64,
) -> Result<()> {
    let counts = [
        ("portfolios", "total", one),
        ("portfolios", "custom", one * i64::from(portfolio.custom)),
        ("portfolios", "based_on", one * i64::from(portfolio.based_on.is_some())),
        ("portfolios.risk", portfolio.risk.as_str(), one),
    ];
    record(tx, by, kind, portfolio.id.as_str(), &counts).await
}

async fn add_edit<T: Tx>(tx: &mut T, id: &PortfolioId, at: Timestamp, changes: &[FieldChange]) -> Result<()> {
    let last = tx.one::<(i64,)>(&LAST_EDIT, &[id.into()]).await?;
    let number = last.map_or(1, |(last,)| last + 1);
    let changes = serde_json::to_string(changes).map_err(|error| Error::Bug(error.to_string()))?;
    tx.exec(&ADD_EDIT, &[id.into(), number.into(), at.into(), changes.as_str().into()]).await?;
    let bounds = [id.into(), (number - MAX_EDITS).into(), number.into(), MAX_HISTORY_LENGTH.into()];
    tx.exec(&DELETE_OLD_EDITS, &bounds).await.map(drop)
}

impl FromRow for PortfolioEdit {
    fn from_row<R: Row>(c: &mut Columns<'_, R>) -> Result<Self> {
        let (number, at) = (c.get()?, c.get()?);
        let changes = serde_json::from_str(c.text()?)
            .map_err(|error| Error::Bug(format!("a portfolio's history: {error}")))?;
        Ok(Self { number, at, changes })
    }
}

async fn for_change<T: Tx>(tx: &mut T, id: &PortfolioId) -> Result<Portfolio> {
    tx.one(&GET_TO_CHANGE, &[id.into()]).await?.ok_or(Error::Missing(ErrorCode::PortfolioNotFound))
}

/// The template it names must exist.
#[derive(Debug)]
pub struct CreatePortfolio {
    pub portfolio: Portfolio,
    pub by: ChangeContext,
}

impl Op for CreatePortfolio {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        if let Some(template) = &self.portfolio.based_on {
            template_for_change(tx, template).await?;
        }
        insert(tx, &self.portfolio, &self.by).await
    }
}

/// Copies an active template to a user.
#[derive(Debug)]
pub struct CopyTemplate {
    pub template: TemplateId,
    pub id: PortfolioId,
    pub user: UserId,
    pub custom: bool,
    pub by: ChangeContext,
}

impl Op for CopyTemplate {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        let template = template_for_change(tx, &self.template).await?;
        if !template.active {
            return Err(Error::Missing(ErrorCode::TemplateNotFound));
        }
        let copy = template.copied(self.id.clone(), self.user.clone(), self.custom, self.by.at);
        insert(tx, &copy, &self.by).await
    }
}

/// Changes only the fields that are set, and records what differs.
#[derive(Debug)]
pub struct ChangePortfolio {
    pub id: PortfolioId,
    pub change: PortfolioChange,
    pub by: ChangeContext,
}

impl Op for ChangePortfolio {
    /// The total allocation after the change.
    type Out = Allocation;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Allocation> {
        let before = for_change(tx, &self.id).await?;
        let was_risk = before.risk;
        let after = before.clone().changed(self.change.clone(), self.by.at);
        let items = items_to_json(&after.items)?;
        let params = params![
            &after.id,
            after.name.as_ref(),
            after.description.as_ref(),
            after.risk.as_str(),
            items.as_str(),
            after.updated_at
        ];
        tx.exec(&UPDATE, &params).await?;
        let changes = after.changes_since(&before);
        if !changes.is_empty() {
            add_edit(tx, &after.id, after.updated_at, &changes).await?;
        }
        let moved = i64::from(was_risk != after.risk);
        let counts =
            [("portfolios.risk", was_risk.as_str(), -moved), ("portfolios.risk", after.risk.as_str(), moved)];
        record(tx, &self.by, "portfolio.changed", after.id.as_str(), &counts).await?;
        Ok(after.items.total())
    }
}

#[derive(Debug)]
pub struct DeletePortfolio {
    pub id: PortfolioId,
    pub by: ChangeContext,
}

impl Op for DeletePortfolio {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        let portfolio = for_change(tx, &self.id).await?;
        tx.exec(&DELETE, &[(&self.id).into()]).await?;
        tx.exec(&DELETE_EDITS, &[(&self.id).into(), i64::MAX.into()]).await?;
        count(tx, &portfolio, &self.by, "portfolio.deleted", -1).await
    }
}

impl Db {
    pub async fn portfolio(&self, id: &PortfolioId) -> Result<Option<Portfolio>> {
        self.one(&GET, &[id.into()]).await
    }

    pub async fn portfolios(
        &self,
        user: &UserId,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<Portfolio>> {
        self.long_page(&OF_USER, &[user.into()], after, limit).await
    }

    /// A page of a portfolio's edits, oldest first.
    pub async fn portfolio_history(
        &self,
        id: &PortfolioId,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<PortfolioEdit>> {
        self.long_page(&EDITS, &[id.into()], after, limit).await
    }

    pub async fn portfolio_statistics(&self) -> Result<PortfolioStatistics> {
        let (templates, portfolios) = (self.totals("templates").await?, self.totals("portfolios").await?);
        Ok(PortfolioStatistics {
            templates: total(&templates, "total"),
            active_templates: total(&templates, "active"),
            template_risks: self.totals("templates.risk").await?,
            portfolios: total(&portfolios, "total"),
            custom_portfolios: total(&portfolios, "custom"),
            based_on_template: total(&portfolios, "based_on"),
            portfolio_risks: self.totals("portfolios.risk").await?,
        })
    }
}

statements! {
    INSERT, UPDATE, DELETE, GET, GET_TO_CHANGE, OF_USER, LAST_EDIT, ADD_EDIT, DELETE_EDITS,
    DELETE_OLD_EDITS, EDITS
}
