//! What an edit changed, for the history of a listing or a portfolio.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One changed field, by its public name. `null`: it had or has no value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldChange {
    pub field: Cow<'static, str>,
    pub before: Value,
    pub after: Value,
}

pub(crate) type Fields = Vec<(&'static str, Value)>;

/// The fields that differ. Both states name the same fields, in the same order.
pub(crate) fn field_changes(before: Fields, after: Fields) -> Vec<FieldChange> {
    let differ = before.into_iter().zip(after).filter(|((_, before), (_, after))| before != after);
    differ.map(|((field, before), (_, after))| FieldChange { field: field.into(), before, after }).collect()
}
