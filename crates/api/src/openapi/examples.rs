//! Examples of responses, made from their schemas.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use utoipa::openapi::path::Operation;
use utoipa::openapi::schema::Schema;
use utoipa::openapi::{HttpMethod, RefOr};

/// Texts by the name of their field; other texts say what their field's name says.
const TEXTS: [(&str, &str); 33] = [
    ("listingId", "oak-12"),
    ("ListingId", "oak-12"),
    ("listingIds", "oak-12"),
    ("userId", "ada"),
    ("UserId", "ada"),
    ("UserKey", "ada"),
    ("streetAddress", "12 Oak Street"),
    ("StreetAddress", "12 Oak Street"),
    ("city", "Austin"),
    ("City", "Austin"),
    ("state", "TX"),
    ("State", "TX"),
    ("postalCode", "78701"),
    ("PostalCode", "78701"),
    ("country", "US"),
    ("Country", "US"),
    ("CountryIdentifier", "US"),
    ("ClientId", "acme"),
    ("clientId", "acme"),
    ("walkthroughLink", "https://example.com/oak-12"),
    ("description", "Two bright rooms, close to the park"),
    ("network", "Helium"),
    ("deviceIdentifier", "112qB3YaH5bZkCnKA5uRH"),
    ("protocolName", "Filecoin"),
    ("protocolIdentifier", "fil"),
    ("stateDistribution", "TX"),
    ("networkDistribution", "Helium"),
    ("userDistribution", "ada"),
    ("riskLevelDistribution", "Moderate"),
    ("n", "2100.25"),
    ("N", "2100.25"),
    ("tokenId", "7"),
    ("token", "eyJhbGciOiJFUzI1NiJ9.e30.c2ln"),
];
const HASHES: [&str; 10] = [
    "hash",
    "parentHash",
    "transactionHash",
    "transactions",
    "key",
    "digest",
    "chainDigest",
    "salt",
    "head",
    "topics",
];
const ADDRESSES: [&str; 10] = [
    "address",
    "contract",
    "signer",
    "from",
    "to",
    "wallet",
    "holder",
    "listingRegistry",
    "identityToken",
    "applicationChecks",
];

/// Gives every response in JSON an example.
pub(super) fn add(
    operations: &mut [(&str, HttpMethod, Operation)],
    schemas: &BTreeMap<String, RefOr<Schema>>,
) {
    let schemas = serde_json::to_value(schemas).unwrap_or_default();
    for response in
        operations.iter_mut().flat_map(|(_, _, operation)| operation.responses.responses.values_mut())
    {
        let RefOr::T(response) = response else { continue };
        for content in response.content.values_mut() {
            if let RefOr::T(content) = content
                && let (Some(schema), None) = (&content.schema, &content.example)
            {
                let schema = serde_json::to_value(schema).unwrap_or_default();
                content.example = Some(example(&schema, "Success", &schemas));
            }
        }
    }
}

fn example(schema: &Value, name: &str, schemas: &Value) -> Value {
    let first = |key: &str| schema[key].as_array().and_then(|values| values.first()).cloned();
    if let Some(target) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        return example(&schemas[target], name, schemas);
    }
    if let Some(value) =
        schema.get("example").cloned().or_else(|| first("examples")).or_else(|| first("enum"))
    {
        return value;
    }
    let parts = |key: &str| schema[key].as_array().into_iter().flatten();
    if let Some(part) = parts("oneOf").chain(parts("anyOf")).find(|part| part["type"] != "null") {
        return example(part, name, schemas);
    }
    if schema.get("allOf").is_some() {
        let merged = parts("allOf").filter_map(|part| match example(part, name, schemas) {
            Value::Object(members) => Some(members),
            _ => None,
        });
        return Value::Object(merged.flatten().collect());
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().find(|kind| *kind != "null").cloned().unwrap_or_default(),
        kind => kind.clone(),
    };
    match kind.as_str() {
        Some("array") => json!([example(&schema["items"], name, schemas)]),
        Some("boolean") => json!(true),
        Some("integer") => {
            json!(schema["minimum"].as_i64().unwrap_or(0).max(if name == "version" { 1 } else { 2 }))
        }
        Some("number") => json!(number(name)),
        Some("string") => json!(text(schema, name)),
        Some("object") => object(schema, name, schemas),
        _ => json!(1900),
    }
}

fn object(schema: &Value, name: &str, schemas: &Value) -> Value {
    let mut members = Map::new();
    for (member, schema) in schema["properties"].as_object().into_iter().flatten() {
        members.insert(member.clone(), example(schema, member, schemas));
    }
    if let values @ Value::Object(_) = &schema["additionalProperties"] {
        members.insert(text(&Value::Null, name), example(values, "count", schemas));
    }
    Value::Object(members)
}

fn number(name: &str) -> f64 {
    match name {
        "latitude" => 30.2672,
        "longitude" => -97.7431,
        "allocationPercentage" => 62.5,
        "totalAllocation" | "averageAllocation" => 100.0,
        _ => 2100.25,
    }
}

fn text(schema: &Value, name: &str) -> String {
    match schema["format"].as_str() {
        Some("date-time") => return "2026-01-15T12:00:00Z".into(),
        Some("date") => return "2026-03-01".into(),
        _ => {}
    }
    if schema["pattern"] == "^0x[0-9a-f]{64}$" || HASHES.contains(&name) {
        return format!("0x{}", "5c".repeat(32));
    }
    if ADDRESSES.contains(&name) {
        return "0x52908400098527886E0F7030069857D2E4169EE7".into();
    }
    TEXTS.iter().find(|(of, _)| *of == name).map_or(name, |(_, text)| text).into()
}
