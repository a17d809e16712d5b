//! User portfolios.

use std::sync::Arc;

use portico_domain::portfolios::{
    Portfolio, PortfolioChange, PortfolioEdit, PortfolioStatistics, ProtocolItems, RiskLevel,
};
use portico_domain::{
    Allocation, Description, ErrorCode, FaultCode, Label, PortfolioId, TemplateId, UserId, ValidationError,
};
use portico_store::{ChangePortfolio, CopyTemplate, CreatePortfolio, Cursor, DeletePortfolio, Page};
use serde::{Deserialize, Serialize};

use crate::caller::CallContext;
use crate::core::Core;
use crate::core::answering;
use crate::error::{Error, Result};

#[derive(Debug, Clone)]
pub struct NewPortfolio {
    pub user: UserId,
    pub name: Option<Label>,
    pub description: Option<Description>,
    pub risk: RiskLevel,
    pub items: ProtocolItems,
    pub based_on: Option<TemplateId>,
    pub custom: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PortfolioCreated {
    pub id: PortfolioId,
    /// The sum of its allocations.
    pub total: Allocation,
}

/// User portfolios and predefined ones.
#[derive(Debug)]
pub struct Portfolios {
    pub(crate) core: Arc<Core>,
}

impl Portfolios {
    pub async fn create(&self, call: &CallContext, new: NewPortfolio) -> Result<PortfolioCreated> {
        self.core.may_act_for(&call.actor, &new.user).await?;
        let by = self.core.context(call);
        let answer = PortfolioCreated { id: self.core.new_id(), total: new.items.total() };
        let portfolio = Portfolio {
            id: answer.id.clone(),
            user: new.user,
            name: new.name,
            description: new.description,
            risk: new.risk,
            items: new.items,
            based_on: new.based_on,
            custom: new.custom,
            created_at: by.at,
            updated_at: by.at,
        };
        let made = self.core.write(call, answering(CreatePortfolio { portfolio, by }, answer)).await;
        made.map_err(|error| match error {
            Error::NotFound(ErrorCode::TemplateNotFound) => Error::Invalid {
                pointer: "/basedOnPredefinedId",
                fault: ValidationError::new(
                    FaultCode::UnknownTemplate,
                    "must be the id of a predefined portfolio",
                ),
            },
            other => other,
        })
    }

    /// Copies an active template to a user; returns the new id.
    pub async fn copy_template(
        &self,
        call: &CallContext,
        template: TemplateId,
        user: UserId,
        custom: bool,
    ) -> Result<PortfolioId> {
        self.core.may_act_for(&call.actor, &user).await?;
        let (id, by) = (self.core.new_id(), self.core.context(call));
        let answer = id.clone();
        self.core.write(call, answering(CopyTemplate { template, id, user, custom, by }, answer)).await
    }

    /// For its owner.
    pub async fn get(&self, call: &CallContext, id: &PortfolioId) -> Result<Portfolio> {
        let portfolio =
            self.core.db.portfolio(id).await?.ok_or(Error::NotFound(ErrorCode::PortfolioNotFound))?;
        self.core.may_act_for(&call.actor, &portfolio.user).await?;
        Ok(portfolio)
    }

    pub async fn of_user(
        &self,
        call: &CallContext,
        user: &UserId,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<Portfolio>> {
        self.core.may_act_for(&call.actor, user).await?;
        Ok(self.core.db.portfolios(user, after, limit).await?)
    }

    /// A page of the edits, oldest first. For its owner.
    pub async fn history(
        &self,
        call: &CallContext,
        id: &PortfolioId,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<PortfolioEdit>> {
        self.get(call, id).await?;
        Ok(self.core.db.portfolio_history(id, after, limit).await?)
    }

    /// Returns the sum of allocations.
    pub async fn change(
        &self,
        call: &CallContext,
        id: PortfolioId,
        change: PortfolioChange,
    ) -> Result<Allocation> {
        self.get(call, &id).await?;
        let by = self.core.context(call);
        self.core.write(call, ChangePortfolio { id, change, by }).await
    }

    pub async fn delete(&self, call: &CallContext, id: PortfolioId) -> Result<()> {
        self.get(call, &id).await?;
        let by = self.core.context(call);
        self.core.write(call, DeletePortfolio { id, by }).await
    }

    /// Open to everyone.
    pub async fn statistics(&self, _: &CallContext) -> Result<PortfolioStatistics> {
        Ok(self.core.db.portfolio_statistics().await?)
    }
}
