//! `/verificationPipeline`: which checks an account requires.

use portico_domain::AccountId;
use portico_domain::pipelines::Pipeline;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::access::BEARER;
use crate::input::{Input, Reader};
use crate::operation::{Context, Operation, get, post, with_tag};
use crate::problem::Result;
use crate::reply::{Json, JsonArray, Plain};

pub(crate) fn operations() -> Vec<Operation> {
    with_tag(
        "Verification pipeline",
        vec![
            get("/verificationPipeline", BEARER, read)
                .id("getPipeline")
                .about("By the caller's account or its ClientId.")
                .summary("The pipeline of the caller's account")
                .not_found("The account has no pipeline yet"),
            post("/verificationPipeline", BEARER, write)
                .id("putPipeline")
                .about("Answers with the text `Success`. At least one check must be required.")
                .summary("Adds the pipeline of the caller's account, or changes what the body names")
                .conflict("The ClientId belongs to another account"),
            get("/v1/pipelines", BEARER, list)
                .id("listPipelines")
                .about("An array, so that no pipeline yet is no error.")
                .summary("The pipelines of the caller's account: one, or none yet"),
        ],
    )
}

/// A pipeline's configuration. A check that was never set is not required.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
#[schema(as = Pipeline)]
#[expect(clippy::struct_excessive_bools, reason = "the shape of the specification")]
struct PipelineOut {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    client_id: Option<String>,
    eviction_check: bool,
    income_check: bool,
    soft_credit_check: bool,
    criminal_background_check: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    country_identifier: Option<String>,
}

impl From<Pipeline> for PipelineOut {
    fn from(pipeline: Pipeline) -> Self {
        Self {
            client_id: pipeline.client.map(Into::into),
            eviction_check: pipeline.eviction.unwrap_or_default(),
            income_check: pipeline.income.unwrap_or_default(),
            soft_credit_check: pipeline.soft_credit.unwrap_or_default(),
            criminal_background_check: pipeline.criminal_background.unwrap_or_default(),
            country_identifier: pipeline.country.map(Into::into),
        }
    }
}

struct Read(AccountId);

impl Input for Read {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        from.required_query("accountId", "The caller's account, or its ClientId").map(Self)
    }
}

async fn read(cx: Context, Read(account): Read) -> Result<Json<PipelineOut>> {
    Ok(Json(cx.app().screening.pipeline(&cx.call, &account).await?.into()))
}

async fn list(cx: Context, (): ()) -> Result<JsonArray<PipelineOut>> {
    let own = cx.app().screening.own_pipeline(&cx.call).await?;
    Ok(JsonArray::at_most_one(own))
}

struct Write(Pipeline);

impl Input for Write {
    const BODY: bool = true;
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let mut body = from.body();
        Some(Self(Pipeline {
            client: body.optional("ClientId", "Client ID for the pipeline"),
            eviction: body.optional("EvictionCheck", "Eviction check required"),
            income: body.optional("IncomeCheck", "Income check required"),
            soft_credit: body.optional("SoftCreditCheck", "Soft credit check required"),
            criminal_background: body
                .optional("CriminalBackgroundCheck", "Criminal background check required"),
            country: body.optional("CountryIdentifier", "Country identifier"),
        }))
    }
    fn example() -> Option<Value> {
        Some(
            json!({"ClientId": "acme", "IncomeCheck": true, "SoftCreditCheck": true, "CountryIdentifier": "US"}),
        )
    }
}

async fn write(cx: Context, Write(change): Write) -> Result<Plain> {
    cx.app().screening.put_pipeline(&cx.call, change).await?;
    Ok(Plain("Success".into()))
}
