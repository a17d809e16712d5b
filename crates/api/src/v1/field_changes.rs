//! A changed field, in the history of a listing or a portfolio.

use portico_domain::field_changes::FieldChange;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// One changed field.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FieldChange)]
pub(super) struct FieldChangeOut {
    /// Its name, as in the listing or the portfolio
    #[schema(example = "monthlyRent")]
    field: String,
    /// Null if it had no value
    before: Value,
    /// Null if it has no value any more
    after: Value,
}

impl From<FieldChange> for FieldChangeOut {
    fn from(FieldChange { field, before, after }: FieldChange) -> Self {
        Self { field: field.into(), before, after }
    }
}
