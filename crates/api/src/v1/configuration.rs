//! `/v1/configuration`: the settings in force, without secrets.

use portico_app::configuration::{Setting, SettingSource, SettingValue};
use serde::Serialize;
use utoipa::ToSchema;

use crate::access::OPERATORS_ONLY;
use crate::operation::{Context, Operation, get};
use crate::problem::Result;
use crate::reply::JsonArray;

pub(crate) fn operations() -> Vec<Operation> {
    let list = get("/v1/configuration", OPERATORS_ONLY, list)
        .id("getConfiguration")
        .about("With each setting's source.")
        .summary("The settings in force on the server that answers; secrets are hidden");
    vec![list.tagged("Operation")]
}

/// A setting.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Setting)]
struct SettingOut {
    /// As in the configuration file
    #[schema(example = "rate_limit")]
    name: String,
    /// Absent if it is not set, or secret. Of a URL that may hold a secret: only its scheme and host
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    value: Option<String>,
    is_set: bool,
    /// Whether it is a secret that is set
    is_hidden: bool,
    source: SettingSource,
}

impl From<&Setting> for SettingOut {
    fn from(setting: &Setting) -> Self {
        let value = match &setting.value {
            SettingValue::Shown(value) => Some(value.clone()),
            SettingValue::NotSet | SettingValue::Hidden => None,
        };
        Self {
            name: setting.name.clone(),
            value,
            is_set: setting.value != SettingValue::NotSet,
            is_hidden: setting.value == SettingValue::Hidden,
            source: setting.source,
        }
    }
}

async fn list(cx: Context, (): ()) -> Result<JsonArray<SettingOut>> {
    let settings = cx.app().configuration.settings(&cx.call)?;
    Ok(JsonArray(settings.iter().map(Into::into).collect()))
}
