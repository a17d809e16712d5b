//! Path, query and body of a request, parsed and described by the same function.
//!
//! An operation's [`Input`] has one function, [`Input::read`]. Run on a request it parses every part and collects
//! every error; run on a description it records the parameters and the body's schema. So the document matches the
//! parser. While describing, every part is `None`: a `read` must ask for all of its parts before it looks at one.

use std::borrow::Cow;

use axum::http::HeaderMap;
use portico_domain::{ErrorCode, FaultCode, ValidationError};
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::Schema;
use utoipa::openapi::{RefOr, Required};

use super::json::Json;
use super::object::{Object, Presence, Rule};
use super::pointer::JsonPointer;
use crate::problem::{FieldError, Problem};

/// What an operation takes.
pub(crate) trait Input: Sized + Send + 'static {
    /// Whether there is a JSON body.
    const BODY: bool = false;
    /// Parses or describes the input.
    fn read(from: &mut Reader<'_>) -> Option<Self>;
    /// A valid body, for the document.
    fn example() -> Option<serde_json::Value> {
        None
    }
}

impl Input for () {
    fn read(_: &mut Reader<'_>) -> Option<Self> {
        Some(())
    }
}

/// A path or query parameter.
pub(crate) trait Param: Sized {
    /// Whether an invalid value in a path is a 400 that names the fault. Otherwise it names nothing: 404.
    const IS_STRICT_IN_PATH: bool = false;
    fn schema() -> RefOr<Schema>;
    fn from_text(text: &str) -> Result<Self, ValidationError>;
}

/// Decoded path parameters by name.
pub(crate) type PathParams = Vec<(String, String)>;

#[derive(Debug, Default)]
pub(crate) struct Parts<'b> {
    /// The path with the names of its parameters.
    pub(crate) route: &'b str,
    pub(crate) path: PathParams,
    pub(crate) query: Vec<(Cow<'b, str>, Cow<'b, str>)>,
    pub(crate) body: &'b [u8],
    pub(crate) headers: Option<&'b HeaderMap>,
}

#[derive(Default)]
pub(crate) struct Description {
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) body: Option<RefOr<Schema>>,
}

pub(crate) enum Reader<'r> {
    Request(RequestReader<'r>),
    Description(Box<Description>),
}

pub(crate) struct RequestReader<'r> {
    parts: &'r Parts<'r>,
    errors: Vec<FieldError>,
    /// The path names nothing: 404, whatever else is wrong.
    unknown_path: bool,
    refused: Option<Problem>,
    #[cfg(test)]
    requested: Vec<String>,
}

impl<'r> RequestReader<'r> {
    fn new(parts: &'r Parts<'r>) -> Self {
        Self {
            parts,
            errors: Vec::new(),
            unknown_path: false,
            refused: None,
            #[cfg(test)]
            requested: Vec::new(),
        }
    }

    #[cfg(test)]
    fn note(&mut self, name: &str) {
        self.requested.push(name.into());
    }
    #[cfg(not(test))]
    #[expect(clippy::unused_self, reason = "only tests look at it")]
    fn note(&mut self, _: &str) {}
}

pub(crate) fn read<I: Input>(parts: &Parts<'_>) -> Result<I, Problem> {
    let mut reader = Reader::Request(RequestReader::new(parts));
    let input = I::read(&mut reader);
    let Reader::Request(request) = reader else { return Err(Problem::internal("a reader changed its mode")) };
    if request.unknown_path {
        return Err(Problem::from(ErrorCode::NotFound));
    }
    if let Some(problem) = request.refused {
        return Err(problem);
    }
    match input {
        Some(input) if request.errors.is_empty() => Ok(input),
        _ if request.errors.is_empty() => Err(Problem::internal("an input was rejected without an error")),
        _ => Err(Problem::invalid(request.errors)),
    }
}

pub(crate) fn describe<I: Input>() -> Description {
    let mut reader = Reader::Description(Box::default());
    I::read(&mut reader);
    match reader {
        Reader::Description(description) => *description,
        Reader::Request(_) => Description::default(),
    }
}

fn parameter<P: Param>(name: &str, location: ParameterIn, presence: Presence, about: &str) -> Parameter {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(location)
        .required(match presence {
            Presence::Required => Required::True,
            Presence::Optional => Required::False,
        })
        .description(Some(about))
        .schema(Some(P::schema()))
        .build()
}

impl<'r> Reader<'r> {
    /// A path parameter.
    pub(crate) fn path<P: Param>(&mut self, name: &str, about: &str) -> Option<P> {
        match self {
            Self::Request(_) if P::IS_STRICT_IN_PATH => self.strict_path(name, about),
            Self::Description(description) => {
                description.parameters.push(parameter::<P>(
                    name,
                    ParameterIn::Path,
                    Presence::Required,
                    about,
                ));
                None
            }
            Self::Request(request) => {
                request.note(name);
                let text =
                    request.parts.path.iter().find(|(of, _)| of == name).map(|(_, text)| text.as_str());
                let value = text.and_then(|text| P::from_text(text).ok());
                request.unknown_path |= value.is_none();
                value
            }
        }
    }

    /// A path parameter whose invalid values are a 400 instead of a 404.
    pub(crate) fn strict_path<P: Param>(&mut self, name: &str, about: &str) -> Option<P> {
        match self {
            Self::Description(_) => self.path(name, about),
            Self::Request(request) => {
                request.note(name);
                let text = request.parts.path.iter().find(|(of, _)| of == name).map_or("", |(_, text)| text);
                request.parameter(name, P::from_text(text))
            }
        }
    }

    pub(crate) fn query<P: Param>(&mut self, name: &str, about: &str) -> Option<P> {
        self.query_parameter(name, about, Presence::Optional)
    }

    /// `None`: this is a description.
    pub(crate) fn parts(&self) -> Option<&'r Parts<'r>> {
        match self {
            Self::Request(request) => Some(request.parts),
            Self::Description(_) => None,
        }
    }

    /// A header. Several lines of it are one list.
    pub(crate) fn header<P: Param>(&mut self, name: &'static str, about: &str) -> Option<P> {
        match self {
            Self::Description(description) => {
                description.parameters.push(parameter::<P>(
                    name,
                    ParameterIn::Header,
                    Presence::Optional,
                    about,
                ));
                None
            }
            Self::Request(request) => {
                request.note(name);
                let lines = request.parts.headers?.get_all(name).iter();
                let lines: Vec<_> = lines.map(|line| String::from_utf8_lossy(line.as_bytes())).collect();
                if lines.is_empty() {
                    return None;
                }
                request.parameter(name, P::from_text(&lines.join(", ")))
            }
        }
    }

    pub(crate) fn required_query<P: Param>(&mut self, name: &str, about: &str) -> Option<P> {
        self.query_parameter(name, about, Presence::Required)
    }

    fn query_parameter<P: Param>(&mut self, name: &str, about: &str, presence: Presence) -> Option<P> {
        match self {
            Self::Description(description) => {
                description.parameters.push(parameter::<P>(name, ParameterIn::Query, presence, about));
                None
            }
            Self::Request(request) => {
                request.note(name);
                let mut given = request.parts.query.iter().filter(|(of, _)| of == name).map(|(_, text)| text);
                let outcome = match (given.next(), given.next()) {
                    (None, _) if presence == Presence::Required => {
                        Err(ValidationError::new(FaultCode::Missing, "is required"))
                    }
                    (None, _) => return None,
                    (Some(_), Some(_)) => {
                        Err(ValidationError::new(FaultCode::Repeated, "must be given only once"))
                    }
                    (Some(text), None) => P::from_text(text),
                };
                request.parameter(name, outcome)
            }
        }
    }

    /// Reports an error that concerns several query parameters.
    pub(crate) fn report_parameter(&mut self, name: &str, error: ValidationError) {
        if let Self::Request(request) = self {
            request.errors.push(FieldError::in_parameter(name, error));
        }
    }

    pub(crate) fn body(&mut self) -> Object<'_, 'r> {
        self.read_body(Rule::Whole)
    }

    /// The body of a PATCH.
    pub(crate) fn patch_body(&mut self) -> Object<'_, 'r> {
        self.read_body(Rule::Patch)
    }

    fn read_body(&mut self, rule: Rule) -> Object<'_, 'r> {
        match self {
            Self::Description(description) => Object::describe(&mut description.body, rule),
            Self::Request(request) => {
                request.note("body");
                let members = Json::parse(request.parts.body).and_then(|json| {
                    json.members().map_err(|fault| Problem::body(fault.code, fault.message))
                });
                let members = members.unwrap_or_else(|problem| {
                    request.refused = Some(problem);
                    Vec::new()
                });
                Object::of(members, JsonPointer::root(&mut request.errors), rule)
            }
        }
    }
}

impl RequestReader<'_> {
    fn parameter<T>(&mut self, name: &str, outcome: Result<T, ValidationError>) -> Option<T> {
        outcome.map_err(|error| self.errors.push(FieldError::in_parameter(name, error))).ok()
    }
}

#[cfg(test)]
pub(crate) fn requested_parts<I: Input>(parts: &Parts<'_>) -> Vec<String> {
    let mut reader = Reader::Request(RequestReader::new(parts));
    I::read(&mut reader);
    match reader {
        Reader::Request(request) => request.requested,
        Reader::Description(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use portico_app::Profile;

    use super::*;

    /// Every path and query parameter accepts at least one of these.
    const VALUES: [&str; 5] = [
        "1",
        "City",
        "30.2,-97.7",
        "-98,30,-97,31",
        "0x0000000000000000000000000000000000000000000000000000000000000001",
    ];

    /// An input that looks at a part too early is described without the later ones.
    #[test]
    fn every_input_requests_all_parts_first() {
        for operation in crate::operations(Profile::Sandbox) {
            let Description { parameters, body } = (operation.input)();
            let described: BTreeSet<String> = parameters
                .iter()
                .map(|parameter| parameter.name.clone())
                .chain(body.map(|_| "body".to_owned()))
                .collect();
            let example = (operation.example)().map(|example| example.to_string()).unwrap_or_default();
            let (mut requested, headers) = (BTreeSet::new(), HeaderMap::new());
            for value in VALUES {
                let given = |location: ParameterIn| {
                    let parameters =
                        parameters.iter().filter(move |parameter| parameter.parameter_in == location);
                    parameters.map(move |parameter| (parameter.name.clone(), value.to_owned()))
                };
                let query = given(ParameterIn::Query).map(|(name, value)| (name.into(), value.into()));
                let parts = Parts {
                    route: operation.path,
                    path: given(ParameterIn::Path).collect(),
                    query: query.collect(),
                    body: example.as_bytes(),
                    headers: Some(&headers),
                };
                requested.extend((operation.requested_parts)(&parts));
            }
            assert_eq!(requested, described, "{operation:?}");
        }
    }

    struct LooksTooEarly;

    impl Input for LooksTooEarly {
        fn read(from: &mut Reader<'_>) -> Option<Self> {
            from.query::<portico_domain::UserId>("first", "Read first")?;
            from.query::<portico_domain::UserId>("second", "Read second")?;
            Some(Self)
        }
    }

    #[test]
    fn detects_an_input_that_looks_too_early() {
        let query = vec![("first".into(), "1".into())];
        let requested = requested_parts::<LooksTooEarly>(&Parts { query, ..Parts::default() });
        assert_eq!(requested, ["first", "second"]);
        assert_eq!(describe::<LooksTooEarly>().parameters.len(), 1);
    }
}
