//! Path, query and body of a request, read and described by the same function.
//!
//! An operation's [`Input`] has one function, [`Input::read`]. Run on a request it parses every part and collects every
//! fault; run on a description it writes down the parameters and the body's schema. So the document says exactly what the
//! parser does. While it describes, every part is `None`: a `read` must ask for all of its parts before it looks at one.

use std::borrow::Cow;

use portico_domain::{ErrorCode, ValidationError};
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::Schema;
use utoipa::openapi::{ObjectBuilder, RefOr, Required};

use super::json::Json;
use super::object::Object;
use super::pointer::JsonPointer;
use crate::problem::{FieldError, Problem};

/// What an operation takes.
pub(crate) trait Input: Sized + Send + 'static {
    /// Whether there is a JSON body.
    const BODY: bool = false;
    /// Reads it, or describes it.
    fn read(from: &mut Reader<'_>) -> Option<Self>;
    /// A body that works, for the document.
    fn example() -> Option<serde_json::Value> {
        None
    }
}

/// An operation that takes nothing.
impl Input for () {
    fn read(_: &mut Reader<'_>) -> Option<Self> {
        Some(())
    }
}

/// A value in a path or a query.
pub(crate) trait Param: Sized {
    /// What it may be.
    fn schema() -> RefOr<Schema>;
    fn from_text(text: &str) -> Result<Self, ValidationError>;
}

/// The parameters of a path, by name, decoded.
pub(crate) type PathParams = Vec<(String, String)>;

/// A request's parts as they came.
#[derive(Debug, Default)]
pub(crate) struct Parts<'b> {
    pub(crate) path: PathParams,
    pub(crate) query: Vec<(Cow<'b, str>, Cow<'b, str>)>,
    pub(crate) body: &'b [u8],
}

/// What an input's parts are, for the document.
#[derive(Default)]
pub(crate) struct Description {
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) body: Option<RefOr<Schema>>,
}

/// Reads a request, or writes a description.
pub(crate) enum Reader<'r> {
    Request(Reading<'r>),
    Description(Box<Description>),
}

/// A request that is being read.
pub(crate) struct Reading<'r> {
    parts: &'r Parts<'r>,
    faults: Vec<FieldError>,
    /// A path that names nothing: 404, whatever else is wrong.
    unknown_path: bool,
    refused: Option<Problem>,
    #[cfg(test)]
    asked: Vec<String>,
}

impl<'r> Reading<'r> {
    fn new(parts: &'r Parts<'r>) -> Self {
        Self {
            parts,
            faults: Vec::new(),
            unknown_path: false,
            refused: None,
            #[cfg(test)]
            asked: Vec::new(),
        }
    }

    #[cfg(test)]
    fn note(&mut self, name: &str) {
        self.asked.push(name.into());
    }
    #[cfg(not(test))]
    #[expect(clippy::unused_self, reason = "only tests look at it")]
    fn note(&mut self, _: &str) {}
}

/// Reads an operation's input.
pub(crate) fn read<I: Input>(parts: &Parts<'_>) -> Result<I, Problem> {
    let mut reader = Reader::Request(Reading::new(parts));
    let input = I::read(&mut reader);
    let Reader::Request(reading) = reader else { return Err(Problem::internal("a reader changed its mind")) };
    if reading.unknown_path {
        return Err(Problem::from(ErrorCode::NotFound));
    }
    if let Some(problem) = reading.refused {
        return Err(problem);
    }
    match input {
        Some(input) if reading.faults.is_empty() => Ok(input),
        _ if reading.faults.is_empty() => Err(Problem::internal("an input was refused without a fault")),
        _ => Err(Problem::invalid(reading.faults)),
    }
}

/// Describes an operation's input.
pub(crate) fn describe<I: Input>() -> Description {
    let mut reader = Reader::Description(Box::default());
    I::read(&mut reader);
    match reader {
        Reader::Description(description) => *description,
        Reader::Request(_) => Description::default(),
    }
}

fn parameter<P: Param>(name: &str, place: ParameterIn, required: bool, about: &str) -> Parameter {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(place)
        .required(if required { Required::True } else { Required::False })
        .description(Some(about))
        .schema(Some(P::schema()))
        .build()
}

impl<'r> Reader<'r> {
    /// A part of the path. What cannot be one names nothing: 404.
    pub(crate) fn path<P: Param>(&mut self, name: &str, about: &str) -> Option<P> {
        match self {
            Self::Description(description) => {
                description.parameters.push(parameter::<P>(name, ParameterIn::Path, true, about));
                None
            }
            Self::Request(reading) => {
                reading.note(name);
                let text =
                    reading.parts.path.iter().find(|(of, _)| of == name).map(|(_, text)| text.as_str());
                let value = text.and_then(|text| P::from_text(text).ok());
                reading.unknown_path |= value.is_none();
                value
            }
        }
    }

    /// A part of the path for which a wrong value is a fault (400) and not an unknown thing.
    pub(crate) fn strict_path<P: Param>(&mut self, name: &str, about: &str) -> Option<P> {
        match self {
            Self::Description(_) => self.path(name, about),
            Self::Request(reading) => {
                reading.note(name);
                let text = reading.parts.path.iter().find(|(of, _)| of == name).map_or("", |(_, text)| text);
                reading.parameter(name, P::from_text(text))
            }
        }
    }

    /// An optional query parameter.
    pub(crate) fn query<P: Param>(&mut self, name: &str, about: &str) -> Option<P> {
        self.query_parameter(name, about, false)
    }

    /// A query parameter that must be there.
    pub(crate) fn required_query<P: Param>(&mut self, name: &str, about: &str) -> Option<P> {
        self.query_parameter(name, about, true)
    }

    fn query_parameter<P: Param>(&mut self, name: &str, about: &str, required: bool) -> Option<P> {
        match self {
            Self::Description(description) => {
                description.parameters.push(parameter::<P>(name, ParameterIn::Query, required, about));
                None
            }
            Self::Request(reading) => {
                reading.note(name);
                let mut given = reading.parts.query.iter().filter(|(of, _)| of == name).map(|(_, text)| text);
                let outcome = match (given.next(), given.next()) {
                    (None, _) if required => Err(ValidationError::new("missing", "is required")),
                    (None, _) => return None,
                    (Some(_), Some(_)) => Err(ValidationError::new("repeated", "must be given only once")),
                    (Some(text), None) => P::from_text(text),
                };
                reading.parameter(name, outcome)
            }
        }
    }

    /// Notes a fault that lies between several query parameters.
    pub(crate) fn parameter_fault(&mut self, name: &str, fault: ValidationError) {
        if let Self::Request(reading) = self {
            reading.faults.push(FieldError::in_parameter(name, fault));
        }
    }

    pub(crate) fn body(&mut self) -> Object<'_, 'r> {
        match self {
            Self::Description(description) => Object::Describe(&mut description.body, ObjectBuilder::new()),
            Self::Request(reading) => {
                reading.note("body");
                let members = Json::parse(reading.parts.body).and_then(|json| {
                    json.members().map_err(|fault| Problem::body(fault.code, fault.message))
                });
                let members = members.unwrap_or_else(|problem| {
                    reading.refused = Some(problem);
                    Vec::new()
                });
                Object::of(members, JsonPointer::root(&mut reading.faults))
            }
        }
    }
}

impl Reading<'_> {
    fn parameter<T>(&mut self, name: &str, outcome: Result<T, ValidationError>) -> Option<T> {
        outcome.map_err(|fault| self.faults.push(FieldError::in_parameter(name, fault))).ok()
    }
}

/// The parts that an input asks a request for.
#[cfg(test)]
pub(crate) fn asked_parts<I: Input>(parts: &Parts<'_>) -> Vec<String> {
    let mut reader = Reader::Request(Reading::new(parts));
    I::read(&mut reader);
    match reader {
        Reader::Request(reading) => reading.asked,
        Reader::Description(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use portico_app::Profile;

    use super::*;

    /// Values of which at least one is valid for every path and query parameter.
    const VALUES: [&str; 5] = [
        "1",
        "City",
        "30.2,-97.7",
        "-98,30,-97,31",
        "0x0000000000000000000000000000000000000000000000000000000000000001",
    ];

    /// An input that looks at a part before it has asked for all is described without the later ones.
    #[test]
    fn every_input_asks_for_all_parts_before_it_looks_at_one() {
        for operation in crate::operations(Profile::Sandbox) {
            let Description { parameters, body } = (operation.input)();
            let described: BTreeSet<String> = parameters
                .iter()
                .map(|parameter| parameter.name.clone())
                .chain(body.map(|_| "body".to_owned()))
                .collect();
            let example = (operation.example)().map(|example| example.to_string()).unwrap_or_default();
            let mut asked = BTreeSet::new();
            for value in VALUES {
                let given = |place: ParameterIn| {
                    let parameters =
                        parameters.iter().filter(move |parameter| parameter.parameter_in == place);
                    parameters.map(move |parameter| (parameter.name.clone(), value.to_owned()))
                };
                let query = given(ParameterIn::Query).map(|(name, value)| (name.into(), value.into()));
                let parts = Parts {
                    path: given(ParameterIn::Path).collect(),
                    query: query.collect(),
                    body: example.as_bytes(),
                };
                asked.extend((operation.asked_parts)(&parts));
            }
            assert_eq!(asked, described, "{operation:?}");
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
    fn an_input_that_looks_too_early_is_noticed() {
        let query = vec![("first".into(), "1".into())];
        let asked = asked_parts::<LooksTooEarly>(&Parts { path: Vec::new(), query, body: b"" });
        assert_eq!(asked, ["first", "second"]);
        assert_eq!(describe::<LooksTooEarly>().parameters.len(), 1);
    }
}
