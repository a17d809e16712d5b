//! The OpenAPI document, generated from the list of operations.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::OnceLock;

use axum::http::{HeaderValue, Method, StatusCode};
use bytes::Bytes;
use portico_app::{AccessTable, Portico, Profile};
use utoipa::ToSchema;
use utoipa::openapi::path::{OperationBuilder, ParameterBuilder, ParameterIn};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::schema::{Components, SchemaType, Type};
use utoipa::openapi::security::{
    ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme,
};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{
    ContentBuilder, Header, HeaderBuilder, HttpMethod, InfoBuilder, LicenseBuilder, ObjectBuilder, OpenApi,
    OpenApiBuilder, Paths, Ref, RefOr, Required, ResponseBuilder, Server,
};

use crate::access::RequiredCredential;
use crate::operation::Operation;
use crate::problem::{Problem, ProblemOut, Result};
use crate::reply::Schemas;

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
    let json =
        document(&crate::operations(app.profile()), app.access()).to_json().map_err(|error| bug(&error))?;
    let mut hasher = DefaultHasher::new();
    json.hash(&mut hasher);
    let etag = HeaderValue::try_from(format!("\"{:016x}\"", hasher.finish())).map_err(|error| bug(&error))?;
    Ok(served.get_or_init(|| ServedDocument { json: json.into(), etag }))
}

pub(crate) fn document(operations: &[Operation], access: AccessTable) -> OpenApi {
    let mut schemas: Schemas =
        vec![(ProblemOut::name().into(), <ProblemOut as utoipa::PartialSchema>::schema())];
    ProblemOut::schemas(&mut schemas);
    let mut paths = Paths::new();
    for operation in operations {
        let described = describe(operation, access, &mut schemas);
        paths.add_path_operation(operation.path, vec![http_method(&operation.method)], described);
    }
    let mut components = Components::new();
    components.schemas.extend(schemas);
    let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).bearer_format("JWT").build();
    components.add_security_scheme("bearer", SecurityScheme::Http(bearer));
    components
        .add_security_scheme("apiKey", SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::new("X-API-Key"))));
    let info = InfoBuilder::new()
        .title("Portico")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(ABOUT))
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

fn describe(
    operation: &Operation,
    access: AccessTable,
    schemas: &mut Schemas,
) -> utoipa::openapi::path::Operation {
    let input = (operation.input)();
    let mut described = OperationBuilder::new()
        .operation_id(Some(operation.id))
        .summary(Some(operation.summary))
        .tag(operation.tag)
        .securities(Some(security(operation.access.need(access))));
    let (has_parameters, has_path) = (
        !input.parameters.is_empty(),
        input.parameters.iter().any(|parameter| parameter.parameter_in == ParameterIn::Path),
    );
    for parameter in input.parameters {
        described = described.parameter(parameter);
    }
    if operation.method == Method::POST {
        described = described.parameter(idempotency_key());
    }
    if let Some(schema) = input.body {
        let content = ContentBuilder::new().schema(Some(schema)).example((operation.example)()).build();
        let body =
            RequestBodyBuilder::new().content("application/json", content).required(Some(Required::True));
        described = described.request_body(Some(body.build()));
    }
    let success = (operation.output)("Success", schemas);
    described = described.response(operation.success.as_str(), success);
    if operation.is_conditional {
        let not_modified = ResponseBuilder::new().description("The client has the current version").build();
        described = described.response(StatusCode::NOT_MODIFIED.as_str(), not_modified);
    }
    for (status, when) in refusals(operation, has_parameters, has_path) {
        let mut refusal = problem(&when);
        if status == StatusCode::TOO_MANY_REQUESTS {
            refusal.headers.extend(quota_headers());
        }
        described = described.response(status.as_str(), refusal);
    }
    described.build()
}

/// Every error response of an operation.
fn refusals(operation: &Operation, has_parameters: bool, has_path: bool) -> Vec<(StatusCode, String)> {
    let mut all: Vec<(StatusCode, String)> = Vec::new();
    let mut add = |status: StatusCode, when: &str| match all.iter_mut().find(|(of, _)| *of == status) {
        Some((_, words)) => {
            words.push_str("; ");
            words.push_str(when);
        }
        None => all.push((status, when.into())),
    };
    for (status, when) in &operation.refusals {
        add(*status, when);
    }
    if operation.has_body || has_parameters || operation.method == Method::POST {
        add(StatusCode::BAD_REQUEST, "The request has faults; all of them are listed");
    }
    add(StatusCode::UNAUTHORIZED, "A credential is missing or not valid");
    add(StatusCode::FORBIDDEN, "This belongs to someone else");
    if has_path && !operation.refusals.iter().any(|(status, _)| *status == StatusCode::NOT_FOUND) {
        add(StatusCode::NOT_FOUND, "The path names nothing");
    }
    if operation.has_body {
        add(StatusCode::REQUEST_TIMEOUT, "The body did not arrive in time");
        add(StatusCode::PAYLOAD_TOO_LARGE, "The body is longer than 1 MiB");
        add(StatusCode::UNSUPPORTED_MEDIA_TYPE, "The body is not JSON");
    }
    if operation.method == Method::POST {
        add(StatusCode::UNPROCESSABLE_ENTITY, "The Idempotency-Key was used with another request");
    }
    add(StatusCode::TOO_MANY_REQUESTS, "Too many requests; see Retry-After");
    add(StatusCode::INTERNAL_SERVER_ERROR, "Something went wrong here");
    add(StatusCode::SERVICE_UNAVAILABLE, "Not at the moment; see Retry-After");
    all
}

fn problem(when: &str) -> utoipa::openapi::response::Response {
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name(ProblemOut::name()))).build();
    ResponseBuilder::new().description(when).content("application/problem+json", content).build()
}

/// Headers of a 429.
fn quota_headers() -> [(String, RefOr<Header>); 2] {
    [
        ("RateLimit-Policy", "Which limit it is, `\"name\";q=limit;w=seconds`"),
        ("RateLimit", "What is left of it, and the seconds until there is more, `\"name\";r=rest;t=seconds`"),
    ]
    .map(|(name, about)| {
        let text = ObjectBuilder::new().schema_type(SchemaType::Type(Type::String));
        let header = HeaderBuilder::new().schema(Some(text)).description(Some(about)).build();
        (name.to_owned(), header.into())
    })
}

fn idempotency_key() -> utoipa::openapi::path::Parameter {
    let text =
        ObjectBuilder::new().schema_type(SchemaType::Type(Type::String)).pattern(Some("^[!-~]{1,255}$"));
    ParameterBuilder::new()
        .name("Idempotency-Key")
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some("The same key and request: the first answer again, for 24 hours"))
        .schema(Some(text))
        .build()
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
}
