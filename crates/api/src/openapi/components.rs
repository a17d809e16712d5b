//! What the operations of the document share: error responses, headers, a parameter, and named schemas.

use axum::http::StatusCode;
use utoipa::ToSchema;
use utoipa::openapi::header::Header;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::response::Response;
use utoipa::openapi::schema::{AdditionalProperties, ArrayItems, Components, Schema, Type};
use utoipa::openapi::{ContentBuilder, HeaderBuilder, ObjectBuilder, Ref, RefOr, Required, ResponseBuilder};

use crate::problem::ProblemOut;

/// Referenced schemas by name.
pub(crate) type Schemas = Vec<(String, RefOr<Schema>)>;

pub(super) const SUCCESS: &str = "Success";

/// Every status that is not a success: its component, when it is sent, and its headers.
const RESPONSES: [(StatusCode, &str, &str, &[&str]); 16] = [
    (StatusCode::NOT_MODIFIED, "NotModified", "The client has the current version", &["ETag"]),
    (StatusCode::BAD_REQUEST, "BadRequest", "The request has faults; all of them are listed", &[]),
    (StatusCode::UNAUTHORIZED, "Unauthorized", "A credential is missing or not valid", &["WWW-Authenticate"]),
    (StatusCode::FORBIDDEN, "Forbidden", "The caller may not do this", &[]),
    (StatusCode::NOT_FOUND, "NotFound", "The path names nothing", &[]),
    (StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", "The path does not take this method", &["Allow"]),
    (StatusCode::REQUEST_TIMEOUT, "RequestTimeout", "The body did not arrive in time", &[]),
    (StatusCode::CONFLICT, "Conflict", "The present state does not allow it", &[]),
    (
        StatusCode::PRECONDITION_FAILED,
        "PreconditionFailed",
        "There is a newer version than the one in If-Match",
        &[],
    ),
    (StatusCode::PAYLOAD_TOO_LARGE, "PayloadTooLarge", "The body is longer than 1 MiB", &[]),
    (StatusCode::UNSUPPORTED_MEDIA_TYPE, "UnsupportedMediaType", "The body is not JSON", &[]),
    (
        StatusCode::UNPROCESSABLE_ENTITY,
        "IdempotencyKeyReused",
        "The Idempotency-Key was used with another request",
        &[],
    ),
    (
        StatusCode::TOO_MANY_REQUESTS,
        "TooManyRequests",
        "Too many requests",
        &["Retry-After", "RateLimit-Policy", "RateLimit"],
    ),
    (StatusCode::INTERNAL_SERVER_ERROR, "InternalServerError", "Something went wrong here", &[]),
    (StatusCode::SERVICE_UNAVAILABLE, "ServiceUnavailable", "Not at the moment", &["Retry-After"]),
    (StatusCode::NO_CONTENT, "NoContent", "There is nothing to return", &[]),
];

const HEADERS: [(&str, &str); 9] = [
    ("X-Request-Id", "The id under which the service's log knows the request"),
    ("Location", "The path of what was created"),
    ("Link", "With `limit`: the next page, `<…>; rel=\"next\"`, if there is one"),
    ("ETag", "The version, for `If-Match` and `If-None-Match`"),
    ("Allow", "The methods that the path takes"),
    ("WWW-Authenticate", "The credentials that are accepted"),
    ("Retry-After", "Seconds after which to try again"),
    ("RateLimit-Policy", "Which limit it is, `\"name\";q=limit;w=seconds`"),
    ("RateLimit", "What is left of it, and the seconds until there is more, `\"name\";r=rest;t=seconds`"),
];

const IDEMPOTENCY_KEY: &str = "Idempotency-Key";

pub(super) fn shared() -> Components {
    let mut components = Components::new();
    for (name, about) in HEADERS {
        let kind = if name == "Retry-After" { Type::Integer } else { Type::String };
        let schema = ObjectBuilder::new().schema_type(kind);
        let header: Header = HeaderBuilder::new().schema(Some(schema)).description(Some(about)).build();
        components.headers.insert(name.into(), header.into());
    }
    for (status, name, about, headers) in RESPONSES {
        let mut response = ResponseBuilder::new().description(about);
        if status.as_u16() >= 400 {
            let content = ContentBuilder::new().schema(Some(Ref::from_schema_name(ProblemOut::name())));
            response = response.content("application/problem+json", content.build());
        }
        let mut response = response.build();
        response.headers.extend(["X-Request-Id"].iter().chain(headers).map(|name| header(name)));
        components.responses.insert(name.into(), response.into());
    }
    let parameter: Parameter = ParameterBuilder::new()
        .name(IDEMPOTENCY_KEY)
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some("The same key and request: the first answer again, for 24 hours"))
        .schema(Some(ObjectBuilder::new().schema_type(Type::String).pattern(Some("^[!-~]{1,255}$"))))
        .build();
    components.parameters.insert(IDEMPOTENCY_KEY.into(), parameter.into());
    components
}

/// A header of the components.
pub(crate) fn header(name: &str) -> (String, RefOr<Header>) {
    (name.into(), RefOr::Ref(Ref::new(format!("#/components/headers/{name}"))))
}

/// The headers of a success.
pub(super) fn add_headers(response: &mut Response, status: StatusCode) {
    response.headers.extend([header("X-Request-Id")]);
    if status == StatusCode::CREATED {
        response.headers.extend([header("Location")]);
    }
}

/// The shared response of a status; `when` replaces its description.
pub(crate) fn response(status: StatusCode, when: Option<&str>) -> RefOr<Response> {
    let name = RESPONSES.iter().find(|(of, ..)| *of == status).map_or("", |(_, name, ..)| name);
    let mut reference = Ref::from_response_name(name);
    reference.description = when.unwrap_or_default().into();
    reference.into()
}

pub(super) fn idempotency_key() -> RefOr<Parameter> {
    RefOr::Ref(Ref::new(format!("#/components/parameters/{IDEMPOTENCY_KEY}")))
}

/// Moves the parts of a schema that have a title to the named schemas, so that each is stated once.
pub(super) fn hoist(schema: &mut RefOr<Schema>, named: &mut Schemas) {
    let RefOr::T(inline) = schema else { return };
    match inline {
        Schema::Object(object) => {
            object.properties.values_mut().for_each(|part| hoist(part, named));
            if let Some(AdditionalProperties::RefOr(part)) = object.additional_properties.as_deref_mut() {
                hoist(part, named);
            }
            let Some(title) = object.title.take() else { return };
            let mut reference = Ref::from_schema_name(title.as_str());
            reference.description = object.description.take().unwrap_or_default();
            named.push((title, schema.clone()));
            *schema = reference.into();
        }
        Schema::Array(array) => {
            if let ArrayItems::RefOrSchema(items) = &mut array.items {
                hoist(items, named);
            }
        }
        Schema::OneOf(any) => any.items.iter_mut().for_each(|part| hoist(part, named)),
        _ => {}
    }
}
