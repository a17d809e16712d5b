//! `/v1/predefined-portfolio`: templates that users copy. Deleting one only deactivates it.

use portico_app::templates::NewTemplate;
use portico_domain::portfolios::{RiskLevel, Template, TemplateChange};
use portico_domain::{Allocation, ErrorCode, TemplateId, Timestamp};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::portfolios::{ProtocolItemOut, items_out};
use crate::access::{CATALOGUE, PUBLIC};
use crate::input::{Input, Reader};
use crate::operation::{Context, Operation, delete, get, post, put, with_tag};
use crate::paging::{PagedResponse, Paging};
use crate::problem::Result;
use crate::reply::{Created, Json, Message, message};

const NOT_FOUND: &str = "There is no such predefined portfolio";

pub(crate) fn operations() -> Vec<Operation> {
    with_tag(
        "Portfolios",
        vec![
            post("/v1/predefined-portfolio", CATALOGUE, create)
                .id("createPredefinedPortfolio")
                .about("Shares add up to at most 100 percent.")
                .summary("Makes a predefined portfolio"),
            get("/v1/predefined-portfolios", PUBLIC, list)
                .id("listPredefinedPortfolios")
                .about("404 if there is none.")
                .summary("The active predefined portfolios")
                .not_found("There are no active predefined portfolios"),
            get("/v1/predefined-portfolios/risk/{riskLevel}", PUBLIC, list_by_risk)
                .id("listPredefinedPortfoliosByRisk")
                .about("404 if there is none.")
                .summary("The active predefined portfolios of a risk level")
                .not_found("There are none of this risk level"),
            get("/v1/predefined-portfolio/{portfolioId}", PUBLIC, read)
                .id("getPredefinedPortfolio")
                .about("Answers with its protocols and the sum of their shares.")
                .summary("One predefined portfolio, active or not")
                .not_found(NOT_FOUND),
            put("/v1/predefined-portfolio/{portfolioId}", CATALOGUE, change)
                .id("changePredefinedPortfolio")
                .about("What is absent stays. Portfolios that were copied from it stay as they are.")
                .summary("Changes what the body names")
                .not_found(NOT_FOUND),
            delete("/v1/predefined-portfolio/{portfolioId}", CATALOGUE, deactivate)
                .id("deactivatePredefinedPortfolio")
                .about("Portfolios that were copied from it stay.")
                .summary("Takes it out of the lists (soft delete); it stays readable")
                .not_found(NOT_FOUND),
        ],
    )
}

/// A predefined portfolio.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PredefinedPortfolio)]
struct TemplateOut {
    predefined_portfolio_id: String,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    description: Option<String>,
    risk_level: RiskLevel,
    protocol_items: Vec<ProtocolItemOut>,
    /// The sum of all shares
    #[schema(value_type = f64)]
    total_allocation: Allocation,
    is_active: bool,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

impl From<Template> for TemplateOut {
    fn from(template: Template) -> Self {
        Self {
            predefined_portfolio_id: template.id.into(),
            name: template.name.into(),
            description: template.description.map(Into::into),
            risk_level: template.risk,
            protocol_items: items_out(&template.items),
            total_allocation: template.items.total(),
            is_active: template.active,
            created_at: template.created_at,
            updated_at: template.updated_at,
        }
    }
}

/// What was done, and the sum of all shares after it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct TemplateWritten {
    message: &'static str,
    predefined_portfolio_id: String,
    #[schema(value_type = f64)]
    total_allocation: Allocation,
}

struct Create(NewTemplate);

impl Input for Create {
    const BODY: bool = true;
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let mut body = from.body();
        let name = body.required("name", "Its name");
        let description = body.optional("description", "What it is for");
        let risk = body.required("riskLevel", "Its risk");
        let items = body.optional("protocolItems", "Its protocols; shares add up to at most 100");
        let active = body.optional("isActive", "Whether it is offered; true if absent");
        let (items, active) = (items.unwrap_or_default(), active.unwrap_or(true));
        Some(Self(NewTemplate { name: name?, description, risk: risk?, items, active }))
    }
    fn example() -> Option<Value> {
        Some(json!({
            "name": "Balanced", "description": "Half storage, half wireless", "riskLevel": "Moderate",
            "protocolItems": [
                {"protocolName": "Filecoin", "protocolIdentifier": "fil", "allocationPercentage": 50},
                {"protocolName": "Helium", "protocolIdentifier": "hnt", "allocationPercentage": 50},
            ],
            "isActive": true,
        }))
    }
}

async fn create(cx: Context, Create(new): Create) -> Result<Created<TemplateWritten>> {
    let created = cx.app().portfolios.create_template(&cx.call, new).await?;
    let path = ["v1", "predefined-portfolio", created.id.as_str()];
    let body = TemplateWritten {
        message: "Predefined portfolio created",
        predefined_portfolio_id: created.id.as_str().into(),
        total_allocation: created.total,
    };
    Ok(Created::at(&path, body))
}

struct List(Option<RiskLevel>, Paging);

impl Input for List {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self(None, Paging::read(from)))
    }
}

async fn list(cx: Context, List(risk, paging): List) -> Result<PagedResponse<TemplateOut>> {
    let listed = PagedResponse::read_long(cx, risk, paging, async |cx, risk, after, limit| {
        Ok(cx.app().portfolios.active_templates(&cx.call, *risk, after, limit).await?.map(Into::into))
    });
    listed.await?.or_not_found(ErrorCode::NoActiveTemplates)
}

struct ListByRisk(List);

impl Input for ListByRisk {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let (risk, paging) = (from.strict_path("riskLevel", "The risk level"), Paging::read(from));
        Some(Self(List(Some(risk?), paging)))
    }
}

async fn list_by_risk(cx: Context, ListByRisk(input): ListByRisk) -> Result<PagedResponse<TemplateOut>> {
    list(cx, input).await
}

struct TemplatePath(TemplateId);

impl Input for TemplatePath {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        from.path("portfolioId", "The predefined portfolio").map(Self)
    }
}

async fn read(cx: Context, TemplatePath(id): TemplatePath) -> Result<Json<TemplateOut>> {
    Ok(Json(cx.app().portfolios.template(&cx.call, &id).await?.into()))
}

struct Change(TemplateId, TemplateChange);

impl Input for Change {
    const BODY: bool = true;
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let id = from.path("portfolioId", "The predefined portfolio");
        let mut body = from.body();
        let change = TemplateChange {
            name: body.optional("name", "Its name"),
            description: body.optional("description", "What it is for"),
            risk: body.optional("riskLevel", "Its risk"),
            items: body.optional("protocolItems", "Its protocols; shares add up to at most 100"),
            active: body.optional("isActive", "Whether it is offered"),
        };
        Some(Self(id?, change))
    }
    fn example() -> Option<Value> {
        Some(json!({"name": "Balanced 2", "isActive": true}))
    }
}

async fn change(cx: Context, Change(id, change): Change) -> Result<Json<TemplateWritten>> {
    let predefined_portfolio_id = id.as_str().into();
    let total_allocation = cx.app().portfolios.change_template(&cx.call, id, change).await?;
    Ok(Json(TemplateWritten {
        message: "Predefined portfolio changed",
        predefined_portfolio_id,
        total_allocation,
    }))
}

async fn deactivate(cx: Context, TemplatePath(id): TemplatePath) -> Result<Json<Message>> {
    cx.app().portfolios.deactivate_template(&cx.call, id).await?;
    Ok(Json(message("Predefined portfolio deactivated")))
}
