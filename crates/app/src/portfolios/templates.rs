//! Predefined portfolios.

use portico_domain::portfolios::{ProtocolItems, RiskLevel, Template, TemplateChange};
use portico_domain::{Allocation, Description, ErrorCode, Label, TemplateId};
use portico_store::{ChangeTemplate, CreateTemplate, Cursor, Page};
use serde::{Deserialize, Serialize};

use crate::caller::CallContext;
use crate::core::answering;
use crate::error::{Error, Result};
use crate::portfolios::user_portfolios::Portfolios;

#[derive(Debug, Clone)]
pub struct NewTemplate {
    pub name: Label,
    pub description: Option<Description>,
    pub risk: RiskLevel,
    pub items: ProtocolItems,
    pub active: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TemplateCreated {
    pub id: TemplateId,
    /// The sum of its allocations.
    pub total: Allocation,
}

impl Portfolios {
    pub async fn create_template(&self, call: &CallContext, new: NewTemplate) -> Result<TemplateCreated> {
        self.core.may_edit_templates(&call.actor)?;
        let by = self.core.context(call);
        let NewTemplate { name, description, risk, items, active } = new;
        let answer = TemplateCreated { id: self.core.new_id(), total: items.total() };
        let (id, created_at, updated_at) = (answer.id.clone(), by.at, by.at);
        let template = Template { id, name, description, risk, items, active, created_at, updated_at };
        self.core.write(call, answering(CreateTemplate { template, by }, answer)).await
    }

    /// Active or not. Open to everyone.
    pub async fn template(&self, _: &CallContext, id: &TemplateId) -> Result<Template> {
        self.core.db.template(id).await?.ok_or(Error::NotFound(ErrorCode::TemplateNotFound))
    }

    /// Open to everyone.
    pub async fn active_templates(
        &self,
        _: &CallContext,
        risk: Option<RiskLevel>,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<Template>> {
        Ok(self.core.db.active_templates(risk, after, limit).await?)
    }

    /// Returns the sum of allocations.
    pub async fn change_template(
        &self,
        call: &CallContext,
        id: TemplateId,
        change: TemplateChange,
    ) -> Result<Allocation> {
        self.core.may_edit_templates(&call.actor)?;
        let by = self.core.context(call);
        self.core.write(call, ChangeTemplate { id, change, by }).await
    }

    /// Hides a template from lists; it stays readable.
    pub async fn deactivate_template(&self, call: &CallContext, id: TemplateId) -> Result<()> {
        let change = TemplateChange { active: Some(false), ..TemplateChange::default() };
        self.change_template(call, id, change).await.map(drop)
    }
}
