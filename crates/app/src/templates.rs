//! Predefined portfolios.

use portico_domain::portfolios::{ProtocolItems, RiskLevel, Template, TemplateChange};
use portico_domain::{Allocation, Description, Label, TemplateId};
use portico_store::{ChangeTemplate, CreateTemplate, Cursor, Page};
use serde::{Deserialize, Serialize};

use crate::{Call, Error, Portico, Result, answering};

/// A template that is to be made.
#[derive(Debug, Clone)]
pub struct NewTemplate {
    pub name: Label,
    pub description: Option<Description>,
    pub risk: RiskLevel,
    pub items: ProtocolItems,
    pub active: bool,
}

/// What is answered about a template that was made.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TemplateCreated {
    pub id: TemplateId,
    /// The sum of its shares.
    pub total: Allocation,
}

impl Portico {
    pub async fn create_template(&self, call: &Call, new: NewTemplate) -> Result<TemplateCreated> {
        let by = self.by(call);
        let NewTemplate { name, description, risk, items, active } = new;
        let answer = TemplateCreated { id: self.new_id(), total: items.total() };
        let (id, created_at, updated_at) = (answer.id.clone(), by.at, by.at);
        let template = Template { id, name, description, risk, items, active, created_at, updated_at };
        self.write(call, answering(CreateTemplate { template, by }, answer)).await
    }

    /// One template, active or not.
    pub async fn template(&self, id: &TemplateId) -> Result<Template> {
        self.db.template(id).await?.ok_or(Error::NotFound("template_not_found"))
    }

    /// A piece of the active templates.
    pub async fn active_templates(
        &self,
        risk: Option<RiskLevel>,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<Template>> {
        Ok(self.db.active_templates(risk, after, limit).await?)
    }

    /// Changes a template; answers the sum of its shares.
    pub async fn change_template(
        &self,
        call: &Call,
        id: TemplateId,
        change: TemplateChange,
    ) -> Result<Allocation> {
        let by = self.by(call);
        self.write(call, ChangeTemplate { id, change, by }).await
    }

    /// Takes a template out of the lists; it stays readable.
    pub async fn deactivate_template(&self, call: &Call, id: TemplateId) -> Result<()> {
        let change = TemplateChange { active: Some(false), ..TemplateChange::default() };
        self.change_template(call, id, change).await.map(drop)
    }
}
