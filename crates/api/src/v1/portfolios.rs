//! `/v1/user-portfolio`: portfolios of users, and statistics over all portfolios.

use std::collections::BTreeMap;

use portico_app::portfolios::NewPortfolio;
use portico_domain::portfolios::{
    Portfolio, PortfolioChange, PortfolioEdit, PortfolioStatistics, ProtocolItem, ProtocolItems, RiskLevel,
};
use portico_domain::{Allocation, PortfolioId, TemplateId, Timestamp, UserId};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::field_changes::FieldChangeOut;
use crate::access::{OWNED, PUBLIC};
use crate::input::{Input, Reader};
use crate::operation::{Context, Operation, delete, get, post, put, with_tag};
use crate::paging::{PagedResponse, Paging};
use crate::problem::Result;
use crate::reply::{Created, Json, Message, message};

const NOT_FOUND: &str = "There is no such portfolio";

pub(crate) fn operations() -> Vec<Operation> {
    with_tag(
        "Portfolios",
        vec![
            post("/v1/user-portfolio", OWNED, create)
                .id("createUserPortfolio")
                .about("Shares add up to at most 100 percent.")
                .summary("Makes a portfolio"),
            post("/v1/user-portfolio/copy/{predefinedPortfolioId}", OWNED, copy)
                .id("copyPredefinedPortfolio")
                .about("Later changes of the predefined portfolio do not change the copy.")
                .summary("Makes a user's own copy of an active predefined portfolio")
                .not_found("There is no such active predefined portfolio"),
            get("/v1/user-portfolios/{userId}", OWNED, list)
                .id("listUserPortfolios")
                .about("For their owner and the operator, oldest first.")
                .summary("A user's portfolios"),
            get("/v1/user-portfolio/{portfolioId}", OWNED, read)
                .id("getUserPortfolio")
                .about("For its owner and the operator.")
                .summary("One portfolio")
                .not_found(NOT_FOUND),
            get("/v1/user-portfolio/{portfolioId}/history", OWNED, history)
                .id("listPortfolioHistory")
                .about("For its owner and the operator.")
                .summary("The last 100 edits of a portfolio, fewer if they are long, oldest first")
                .not_found(NOT_FOUND),
            put("/v1/user-portfolio/{portfolioId}", OWNED, change)
                .id("changeUserPortfolio")
                .about("For its owner and the operator. What is absent stays.")
                .summary("Changes what the body names")
                .not_found(NOT_FOUND),
            delete("/v1/user-portfolio/{portfolioId}", OWNED, remove)
                .id("deleteUserPortfolio")
                .about("For its owner and the operator.")
                .summary("Deletes a portfolio")
                .not_found(NOT_FOUND),
            get("/v1/portfolios/stats/overview", PUBLIC, statistics)
                .id("getPortfolioStatistics")
                .about("Counts of portfolios and predefined portfolios, by risk level.")
                .summary("Totals over all portfolios"),
        ],
    )
}

/// A protocol and its share.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ProtocolItem)]
pub(super) struct ProtocolItemOut {
    protocol_name: String,
    protocol_identifier: String,
    #[schema(value_type = f64)]
    allocation_percentage: Allocation,
}

pub(super) fn items_out(items: &ProtocolItems) -> Vec<ProtocolItemOut> {
    let out = |item: &ProtocolItem| ProtocolItemOut {
        protocol_name: item.protocol_name.clone().into(),
        protocol_identifier: item.protocol_identifier.clone().into(),
        allocation_percentage: item.allocation_percentage,
    };
    items.as_slice().iter().map(out).collect()
}

/// A user's portfolio.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = UserPortfolio)]
struct PortfolioOut {
    user_portfolio_id: String,
    user_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    description: Option<String>,
    risk_level: RiskLevel,
    protocol_items: Vec<ProtocolItemOut>,
    /// The sum of all shares
    #[schema(value_type = f64)]
    total_allocation: Allocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    based_on_predefined_id: Option<String>,
    is_custom: bool,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

impl From<Portfolio> for PortfolioOut {
    fn from(portfolio: Portfolio) -> Self {
        Self {
            user_portfolio_id: portfolio.id.into(),
            user_id: portfolio.user.into(),
            name: portfolio.name.map(Into::into),
            description: portfolio.description.map(Into::into),
            risk_level: portfolio.risk,
            protocol_items: items_out(&portfolio.items),
            total_allocation: portfolio.items.total(),
            based_on_predefined_id: portfolio.based_on.map(Into::into),
            is_custom: portfolio.custom,
            created_at: portfolio.created_at,
            updated_at: portfolio.updated_at,
        }
    }
}

/// What was done, and the sum of all shares after it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PortfolioWritten {
    message: &'static str,
    user_portfolio_id: String,
    #[schema(value_type = f64)]
    total_allocation: Allocation,
}

struct Create(NewPortfolio);

impl Input for Create {
    const BODY: bool = true;
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let mut body = from.body();
        let user = body.required("userId", "Owner");
        let name = body.optional("name", "Its name");
        let description = body.optional("description", "What it is for");
        let risk = body.required("riskLevel", "Its risk");
        let based_on =
            body.optional("basedOnPredefinedId", "The predefined portfolio it is based on, which must exist");
        let custom = body.required("isCustom", "Whether the user made it their own");
        let items = body.optional("protocolItems", "Its protocols; shares add up to at most 100");
        let items = items.unwrap_or_default();
        Some(Self(NewPortfolio {
            user: user?,
            name,
            description,
            risk: risk?,
            items,
            based_on,
            custom: custom?,
        }))
    }
    fn example() -> Option<Value> {
        Some(json!({
            "userId": "ada", "name": "Storage first", "riskLevel": "Moderate", "isCustom": true,
            "protocolItems": [
                {"protocolName": "Filecoin", "protocolIdentifier": "fil", "allocationPercentage": 62.5},
                {"protocolName": "Helium", "protocolIdentifier": "hnt", "allocationPercentage": 37.5},
            ],
        }))
    }
}

async fn create(cx: Context, Create(new): Create) -> Result<Created<PortfolioWritten>> {
    let created = cx.app().portfolios.create(&cx.call, new).await?;
    let body = PortfolioWritten {
        message: "Portfolio created",
        user_portfolio_id: created.id.as_str().into(),
        total_allocation: created.total,
    };
    Ok(Created::at(&["v1", "user-portfolio", created.id.as_str()], body))
}

struct CopyTemplateRequest {
    template: TemplateId,
    user: UserId,
    customize: bool,
}

impl Input for CopyTemplateRequest {
    const BODY: bool = true;
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let template = from.path("predefinedPortfolioId", "The predefined portfolio");
        let mut body = from.body();
        let user = body.required("userId", "Owner of the copy");
        let customize =
            body.optional("customize", "Whether the user is going to make it their own; false if absent");
        Some(Self { template: template?, user: user?, customize: customize.unwrap_or(false) })
    }
    fn example() -> Option<Value> {
        Some(json!({"userId": "ada", "customize": true}))
    }
}

/// A copy that was made.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PortfolioCopied {
    message: &'static str,
    user_portfolio_id: String,
    based_on_predefined_id: String,
    is_custom: bool,
}

async fn copy(cx: Context, input: CopyTemplateRequest) -> Result<Created<PortfolioCopied>> {
    let based_on_predefined_id = input.template.as_str().into();
    let id = cx.app().portfolios.copy_template(&cx.call, input.template, input.user, input.customize).await?;
    let body = PortfolioCopied {
        message: "Portfolio copied",
        user_portfolio_id: id.as_str().into(),
        based_on_predefined_id,
        is_custom: input.customize,
    };
    Ok(Created::at(&["v1", "user-portfolio", id.as_str()], body))
}

struct List(UserId, Paging);

impl Input for List {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let (user, paging) = (from.path("userId", "Owner"), Paging::read(from));
        Some(Self(user?, paging))
    }
}

async fn list(cx: Context, List(user, paging): List) -> Result<PagedResponse<PortfolioOut>> {
    PagedResponse::read_long(cx, user, paging, async |cx, user, after, limit| {
        Ok(cx.app().portfolios.of_user(&cx.call, &user, after, limit).await?.map(Into::into))
    })
    .await
}

struct PortfolioPath(PortfolioId);

impl Input for PortfolioPath {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        from.path("portfolioId", "The portfolio").map(Self)
    }
}

async fn read(cx: Context, PortfolioPath(id): PortfolioPath) -> Result<Json<PortfolioOut>> {
    Ok(Json(cx.app().portfolios.get(&cx.call, &id).await?.into()))
}

/// One edit of a portfolio.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PortfolioEdit)]
struct PortfolioEditOut {
    /// 1 for the first edit
    number: i64,
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    changes: Vec<FieldChangeOut>,
}

impl From<PortfolioEdit> for PortfolioEditOut {
    fn from(edit: PortfolioEdit) -> Self {
        let changes = edit.changes.into_iter().map(Into::into).collect();
        Self { number: edit.number, at: edit.at, changes }
    }
}

struct History(PortfolioId, Paging);

impl Input for History {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let (id, paging) = (from.path("portfolioId", "The portfolio"), Paging::read(from));
        Some(Self(id?, paging))
    }
}

async fn history(cx: Context, History(id, paging): History) -> Result<PagedResponse<PortfolioEditOut>> {
    PagedResponse::read_long(cx, id, paging, async |cx, id, after, limit| {
        Ok(cx.app().portfolios.history(&cx.call, &id, after, limit).await?.map(Into::into))
    })
    .await
}

struct Change(PortfolioId, PortfolioChange);

impl Input for Change {
    const BODY: bool = true;
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let id = from.path("portfolioId", "The portfolio");
        let mut body = from.body();
        let change = PortfolioChange {
            name: body.optional("name", "Its name"),
            description: body.optional("description", "What it is for"),
            risk: body.optional("riskLevel", "Its risk"),
            items: body.optional("protocolItems", "Its protocols; shares add up to at most 100"),
        };
        Some(Self(id?, change))
    }
    fn example() -> Option<Value> {
        Some(json!({"name": "Storage only", "riskLevel": "Aggressive"}))
    }
}

async fn change(cx: Context, Change(id, change): Change) -> Result<Json<PortfolioWritten>> {
    let user_portfolio_id = id.as_str().into();
    let total_allocation = cx.app().portfolios.change(&cx.call, id, change).await?;
    Ok(Json(PortfolioWritten { message: "Portfolio changed", user_portfolio_id, total_allocation }))
}

async fn remove(cx: Context, PortfolioPath(id): PortfolioPath) -> Result<Json<Message>> {
    cx.app().portfolios.delete(&cx.call, id).await?;
    Ok(Json(message("Portfolio deleted")))
}

/// Totals over all portfolios.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PortfolioStatistics)]
struct PortfolioStatisticsOut {
    predefined_portfolios: TemplateTotals,
    user_portfolios: PortfolioTotals,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct TemplateTotals {
    total: i64,
    active: i64,
    risk_distribution: BTreeMap<String, i64>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PortfolioTotals {
    total: i64,
    custom: i64,
    based_on_predefined: i64,
    risk_distribution: BTreeMap<String, i64>,
}

async fn statistics(cx: Context, (): ()) -> Result<Json<PortfolioStatisticsOut>> {
    let PortfolioStatistics {
        templates,
        active_templates,
        template_risks,
        portfolios,
        custom_portfolios,
        based_on_template,
        portfolio_risks,
    } = cx.app().portfolios.statistics(&cx.call).await?;
    Ok(Json(PortfolioStatisticsOut {
        predefined_portfolios: TemplateTotals {
            total: templates,
            active: active_templates,
            risk_distribution: template_risks.into_iter().collect(),
        },
        user_portfolios: PortfolioTotals {
            total: portfolios,
            custom: custom_portfolios,
            based_on_predefined: based_on_template,
            risk_distribution: portfolio_risks.into_iter().collect(),
        },
    }))
}
