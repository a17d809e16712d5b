//! The OpenAPI document, generated from the list of operations.

pub(crate) mod components;
mod examples;

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::OnceLock;

use axum::http::{HeaderValue, Method, StatusCode};
use bytes::Bytes;
use portico_app::{AccessTable, Portico, Profile};
use utoipa::ToSchema;
use utoipa::openapi::path::{Operation as Described, OperationBuilder, ParameterIn};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::security::{
    ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme,
};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{
    ContactBuilder, ContentBuilder, HttpMethod, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, Paths,
    Required, Server,
};

use crate::access::RequiredCredential;
use crate::operation::Operation;
use crate::problem::{Problem, ProblemOut, Result};
use crate::reply::Schemas;
use crate::{input, rpc};

const ABOUT: &str = "Rental listings, applicant screening and infrastructure portfolios.\n\n\
    Lists: without `limit` the whole list is streamed; with `limit` the `Link` header leads to the next page.\n\n\
    Retries: every POST takes an `Idempotency-Key`. The same key and request: the first answer again. Another \
    request: 422. Keys are kept for 24 hours.\n\n\
    Errors are `application/problem+json` (RFC 9457) with a stable `code` and every fault in `errors`.";

const TAGS: [(&str, &str); 14] = [
    ("Listings", "Rental listings"),
    ("Stage listings", "Stored listing records, as typed attributes"),
    ("Saved listings", "Listings that a user has saved"),
    ("Applications", "Which listings a user applied to"),
    ("Requirements", "Which requirements an applicant meets"),
    ("Verification pipeline", "Which checks an account requires"),
    ("Screening", "Verifications, their results, and identity tokens"),
    ("Chain", "Blocks, transactions and contracts"),
    ("Portfolios", "Portfolios of users, and their predefined templates"),
    ("Devices", "Infrastructure devices"),
    ("Keys", "API keys"),
    (
        "Sandbox",
        "Sign-in as anybody, demonstration data and a clock that can be moved; not in a live instance",
    ),
    ("Operation", "What operators see and do: users, audit log, queue for the chain, bureaus, configuration"),
    ("Service", "The service itself"),
];

#[derive(Debug)]
pub(crate) struct ServedDocument {
    pub(crate) json: Bytes,
    pub(crate) etag: HeaderValue,
}

/// Built once per profile and access table.
pub(crate) fn served(app: &Portico) -> Result<&'static ServedDocument> {
    static OPEN_SANDBOX: OnceLock<ServedDocument> = OnceLock::new();
    static SANDBOX: OnceLock<ServedDocument> = OnceLock::new();
    static LIVE: OnceLock<ServedDocument> = OnceLock::new();
    let served = match (app.profile(), app.access()) {
        (Profile::Sandbox, AccessTable::Open) => &OPEN_SANDBOX,
        (Profile::Sandbox, AccessTable::Live) => &SANDBOX,
        (Profile::Live, _) => &LIVE,
    };
    if let Some(served) = served.get() {
        return Ok(served);
    }
    let bug = |error: &dyn std::fmt::Display| Problem::internal(error.to_string());
    let json = document(app.profile(), app.access()).to_json().map_err(|error| bug(&error))?;
    let mut hasher = DefaultHasher::new();
    json.hash(&mut hasher);
    let etag = HeaderValue::try_from(format!("\"{:016x}\"", hasher.finish())).map_err(|error| bug(&error))?;
    Ok(served.get_or_init(|| ServedDocument { json: json.into(), etag }))
}

pub(crate) fn document(profile: Profile, access: AccessTable) -> OpenApi {
    let operations = crate::operations(profile);
    let mut schemas: Schemas =
        vec![(ProblemOut::name().into(), <ProblemOut as utoipa::PartialSchema>::schema())];
    ProblemOut::schemas(&mut schemas);
    input::enums(&mut schemas);
    let mut described: Vec<(&str, HttpMethod, Described)> = operations
        .iter()
        .map(|operation| {
            let described = describe(operation, access, &mut schemas);
            (operation.path, http_method(&operation.method), described)
        })
        .collect();
    if profile == Profile::Sandbox {
        described.push(("/rpc", HttpMethod::Post, rpc::describe()));
    }
    let mut components = components::shared();
    components.schemas.extend(schemas);
    examples::add(&mut described, &components.schemas);
    let mut paths = Paths::new();
    for (path, method, operation) in described {
        paths.add_path_operation(path, vec![method], operation);
    }
    let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).bearer_format("JWT").build();
    components.add_security_scheme("bearer", SecurityScheme::Http(bearer));
    components
        .add_security_scheme("apiKey", SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::new("X-API-Key"))));
    let info = InfoBuilder::new()
        .title("Portico")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(ABOUT))
        .contact(Some(ContactBuilder::new().name(Some("Portico")).build()))
        .license(Some(
            LicenseBuilder::new().name("MIT OR Apache-2.0").identifier(Some("MIT OR Apache-2.0")).build(),
        ));
    let tags = TAGS.map(|(name, about)| TagBuilder::new().name(name).description(Some(about)).build());
    OpenApiBuilder::new()
        .info(info.build())
        .servers(Some([Server::new("/")]))
        .paths(paths)
        .components(Some(components))
        .tags(Some(tags))
        .build()
}

fn http_method(method: &Method) -> HttpMethod {
    match *method {
        Method::POST => HttpMethod::Post,
        Method::PUT => HttpMethod::Put,
        Method::PATCH => HttpMethod::Patch,
        Method::DELETE => HttpMethod::Delete,
        _ => HttpMethod::Get,
    }
}

fn describe(operation: &Operation, access: AccessTable, schemas: &mut Schemas) -> Described {
    let mut input = (operation.input)();
    let need = operation.access.need(access);
    let about: Vec<_> =
        [operation.about, need.sentence()].into_iter().filter(|text| !text.is_empty()).collect();
    let mut described = OperationBuilder::new()
        .operation_id(Some(operation.id))
        .summary(Some(operation.summary))
        .description(Some(about.join(" ")))
        .tag(operation.tag)
        .securities(Some(security(need)));
    let (has_parameters, has_path) = (
        !input.parameters.is_empty(),
        input.parameters.iter().any(|parameter| parameter.parameter_in == ParameterIn::Path),
    );
    for parameter in &mut input.parameters {
        parameter.schema.iter_mut().for_each(|schema| components::hoist(schema, schemas));
        described = described.parameter(parameter.clone());
    }
    if let Some(mut schema) = input.body {
        components::hoist(&mut schema, schemas);
        let content = ContentBuilder::new().schema(Some(schema)).example((operation.example)()).build();
        let body =
            RequestBodyBuilder::new().content("application/json", content).required(Some(Required::True));
        described = described.request_body(Some(body.build()));
    }
    let mut success = (operation.output)(components::SUCCESS, schemas);
    components::add_headers(&mut success, operation.success);
    described = described.response(operation.success.as_str(), success);
    if operation.is_conditional {
        described = described.response("304", components::response(StatusCode::NOT_MODIFIED, None));
    }
    for (status, when) in refusals(operation, has_parameters, has_path) {
        described = described.response(status.as_str(), components::response(status, when));
    }
    let mut described = described.build();
    if operation.method == Method::POST {
        described.parameters.get_or_insert_default().push(components::idempotency_key());
    }
    described
}

/// Every error response of an operation, with a description if it is the operation's own.
fn refusals(
    operation: &Operation,
    has_parameters: bool,
    has_path: bool,
) -> Vec<(StatusCode, Option<&'static str>)> {
    let mut all: Vec<_> = operation.refusals.iter().map(|(status, when)| (*status, Some(*when))).collect();
    let mut add = |applies: bool, status: StatusCode| {
        if applies && all.iter().all(|(of, _)| *of != status) {
            all.push((status, None));
        }
    };
    let is_post = operation.method == Method::POST;
    add(operation.has_body || has_parameters || is_post, StatusCode::BAD_REQUEST);
    add(true, StatusCode::UNAUTHORIZED);
    add(true, StatusCode::FORBIDDEN);
    add(has_path, StatusCode::NOT_FOUND);
    add(true, StatusCode::METHOD_NOT_ALLOWED);
    add(operation.has_body, StatusCode::REQUEST_TIMEOUT);
    add(operation.has_body, StatusCode::PAYLOAD_TOO_LARGE);
    add(operation.has_body, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    add(is_post, StatusCode::UNPROCESSABLE_ENTITY);
    add(true, StatusCode::TOO_MANY_REQUESTS);
    add(true, StatusCode::INTERNAL_SERVER_ERROR);
    add(true, StatusCode::SERVICE_UNAVAILABLE);
    all
}

/// The empty requirement means that no credential is needed.
fn security(need: RequiredCredential) -> Vec<SecurityRequirement> {
    let nobody = SecurityRequirement::default;
    let bearer = || SecurityRequirement::new::<_, [String; 0], String>("bearer", []);
    let key = || SecurityRequirement::new::<_, [String; 0], String>("apiKey", []);
    match need {
        RequiredCredential::None | RequiredCredential::AnonymousOrOperator => vec![nobody(), bearer(), key()],
        RequiredCredential::Bearer => vec![bearer()],
        RequiredCredential::Key => vec![key()],
        RequiredCredential::SignedIn
        | RequiredCredential::Operator
        | RequiredCredential::BearerOrOperator => vec![bearer(), key()],
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_tag_is_used_and_defined() {
        let operations = crate::operations(Profile::Sandbox);
        let used: BTreeSet<&str> = operations.iter().map(|operation| operation.tag).collect();
        assert_eq!(used, TAGS.iter().map(|(name, _)| *name).collect());
    }

    #[test]
    fn schemas_are_named_after_what_they_describe() {
        for profile in [Profile::Sandbox, Profile::Live] {
            let components = crate::openapi(profile).components.unwrap();
            for name in components.schemas.keys() {
                assert!(!name.ends_with("Out"), "{name}");
            }
        }
    }

    /// `multipleOf` is computed in binary: validators refuse 14.29.
    #[test]
    fn document_is_small_and_has_no_multiples() {
        let json = crate::openapi(Profile::Sandbox).to_json().unwrap();
        assert!(!json.contains("multipleOf"));
        assert!(json.len() < 275_000, "{}", json.len());
    }

    #[test]
    fn every_reference_leads_somewhere() {
        let document = serde_json::to_value(crate::openapi(Profile::Sandbox)).unwrap();
        let (text, mut used) = (document.to_string(), BTreeSet::new());
        for reference in text.split("\"$ref\":\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
            assert!(document.pointer(reference).is_some(), "{reference}");
            used.insert(reference.to_owned());
        }
        for (kind, components) in document["components"].as_object().unwrap() {
            for name in components.as_object().unwrap().keys().filter(|_| kind != "securitySchemes") {
                assert!(used.contains(&format!("/components/{kind}/{name}")), "{kind} {name} is not used");
            }
        }
    }
}
