//! Predefined portfolios. They are only deactivated, never deleted.

use portico_domain::portfolios::{ProtocolItem, ProtocolItems, RiskLevel, Template, TemplateChange};
use portico_domain::{Allocation, ErrorCode, TemplateId};

use crate::engine::counters::{ChangeContext, record};
use crate::engine::creation_number::creation_number;
use crate::engine::db::Db;
use crate::engine::error::{Error, Result};
use crate::engine::page::{Cursor, Page};
use crate::engine::sql::{
    FromColumn, Op, Row, Sql, Tx, params, row, select, select_dialects, sql, statements,
};

static INSERT: Sql =
    sql("INSERT INTO templates (seq, id, name, description, risk, items, active, created_at, updated_at) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)");
static UPDATE: Sql = sql(
    "UPDATE templates SET name = ?2, description = ?3, risk = ?4, items = ?5, active = ?6, updated_at = ?7 WHERE id = ?1",
);
static GET: Sql = select::<Template>("SELECT {columns} FROM templates WHERE id = ?1");
static GET_TO_CHANGE: Sql = select_dialects::<Template>(
    "SELECT {columns} FROM templates WHERE id = ?1",
    "SELECT {columns} FROM templates WHERE id = ?1 FOR UPDATE",
);
static ACTIVE: Sql = select::<Template>(
    "SELECT {columns}, seq, seq FROM templates WHERE active = 1 AND seq > ?1 ORDER BY seq LIMIT ?2",
);
static ACTIVE_WITH_RISK: Sql = select::<Template>(
    "SELECT {columns}, seq, seq FROM templates WHERE active = 1 AND risk = ?3 AND seq > ?1 ORDER BY seq LIMIT ?2",
);

pub(crate) fn items_to_json(items: &ProtocolItems) -> Result<String> {
    serde_json::to_string(items.as_slice()).map_err(|error| Error::Bug(error.to_string()))
}

impl FromColumn for ProtocolItems {
    fn nullable(row: &impl Row, column: usize) -> Result<Option<Self>> {
        let Some(json) = row.text(column)? else { return Ok(None) };
        let items: Vec<ProtocolItem> =
            serde_json::from_str(json).map_err(|error| Error::Bug(error.to_string()))?;
        Self::new(items).map(Some).map_err(|fault| Error::Bug(fault.to_string()))
    }
}

impl FromColumn for RiskLevel {
    fn nullable(row: &impl Row, column: usize) -> Result<Option<Self>> {
        let parsed = row.text(column)?.map(Self::parse).transpose();
        parsed.map_err(|fault| Error::Bug(fault.to_string()))
    }
}

row!(Template { id, name, description, risk, items, active, created_at, updated_at });

/// Locks the template for the transaction.
pub(crate) async fn for_change<T: Tx>(tx: &mut T, id: &TemplateId) -> Result<Template> {
    tx.one(&GET_TO_CHANGE, &[id.into()]).await?.ok_or(Error::Missing(ErrorCode::TemplateNotFound))
}

#[derive(Debug)]
pub struct CreateTemplate {
    pub template: Template,
    pub by: ChangeContext,
}

impl Op for CreateTemplate {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        let template = &self.template;
        let items = items_to_json(&template.items)?;
        let params = params![
            creation_number(tx).await?,
            &template.id,
            &template.name,
            template.description.as_ref(),
            template.risk.as_str(),
            items.as_str(),
            template.active,
            template.created_at,
            template.updated_at
        ];
        tx.exec(&INSERT, &params).await?;
        let counts = [
            ("templates", "total", 1),
            ("templates", "active", i64::from(template.active)),
            ("templates.risk", template.risk.as_str(), 1),
        ];
        record(tx, &self.by, "template.created", template.id.as_str(), &counts).await
    }
}

/// Changes only the fields that are set.
#[derive(Debug)]
pub struct ChangeTemplate {
    pub id: TemplateId,
    pub change: TemplateChange,
    pub by: ChangeContext,
}

impl Op for ChangeTemplate {
    /// The total allocation after the change.
    type Out = Allocation;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Allocation> {
        let before = for_change(tx, &self.id).await?;
        let (was_active, was_risk) = (before.active, before.risk);
        let after = before.changed(self.change.clone(), self.by.at);
        let items = items_to_json(&after.items)?;
        let params = params![
            &after.id,
            &after.name,
            after.description.as_ref(),
            after.risk.as_str(),
            items.as_str(),
            after.active,
            after.updated_at
        ];
        tx.exec(&UPDATE, &params).await?;
        let moved = i64::from(was_risk != after.risk);
        let counts = [
            ("templates", "active", i64::from(after.active) - i64::from(was_active)),
            ("templates.risk", was_risk.as_str(), -moved),
            ("templates.risk", after.risk.as_str(), moved),
        ];
        let kind = match (was_active, after.active) {
            (true, false) => "template.deactivated",
            (false, true) => "template.activated",
            _ => "template.changed",
        };
        record(tx, &self.by, kind, after.id.as_str(), &counts).await?;
        Ok(after.items.total())
    }
}

impl Db {
    /// Active or not.
    pub async fn template(&self, id: &TemplateId) -> Result<Option<Template>> {
        self.one(&GET, &[id.into()]).await
    }

    /// With one risk level, or all.
    pub async fn active_templates(
        &self,
        risk: Option<RiskLevel>,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<Template>> {
        match risk {
            Some(risk) => self.long_page(&ACTIVE_WITH_RISK, &[risk.as_str().into()], after, limit).await,
            None => self.long_page(&ACTIVE, &[], after, limit).await,
        }
    }
}

statements! { INSERT, UPDATE, GET, GET_TO_CHANGE, ACTIVE, ACTIVE_WITH_RISK }
