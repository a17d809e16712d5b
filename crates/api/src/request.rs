//! What an operation takes: path, query and body, read and described by the same function.
//!
//! An operation's [`Input`] has one function, [`Input::read`]. Run on a request it parses every part and
//! collects every fault; run on a description it writes down the parameters and the body's schema. So the
//! document says exactly what the parser does. A `read` must ask for all of its parts before it looks at any
//! of them, for while it describes, every part is `None`.

use std::borrow::Cow;
use std::collections::HashSet;

use portico_domain::Fault;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::Schema;
use utoipa::openapi::{ObjectBuilder, RefOr, Required};

use crate::json::{Json, Members};
use crate::problem::{FaultOut, Problem};
use crate::routes::OpenParts;

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

/// A value in a JSON body.
pub(crate) trait Field: Sized {
    /// What it may be.
    fn schema() -> RefOr<Schema>;
    /// Reads it; faults go to `at`.
    fn from_json(json: Json<'_>, at: &mut Place<'_>) -> Option<Self>;
}

/// A value in a path or a query.
pub(crate) trait Param: Sized {
    /// What it may be.
    fn schema() -> RefOr<Schema>;
    /// Reads it.
    fn from_text(text: &str) -> Result<Self, Fault>;
}

/// So many faults are listed at most.
const MAX_FAULTS: usize = 100;

/// Where in the body a value stands, and where its faults go.
pub(crate) struct Place<'f> {
    /// The way to it, if it is not the whole body. Most values are right, and nobody asks for it.
    way: Option<Step<'f>>,
    faults: &'f mut Vec<FaultOut>,
}

/// A member or an item, and where its object or array stands.
#[derive(Clone, Copy)]
struct Step<'f> {
    above: Option<&'f Step<'f>>,
    name: &'f dyn std::fmt::Display,
}

impl Step<'_> {
    fn write(&self, pointer: &mut String) {
        if let Some(above) = self.above {
            above.write(pointer);
        }
        pointer.push('/');
        pointer.push_str(&self.name.to_string().replace('~', "~0").replace('/', "~1"));
    }
}

impl<'f> Place<'f> {
    /// The body itself.
    fn whole(faults: &'f mut Vec<FaultOut>) -> Self {
        Self { way: None, faults }
    }

    pub(crate) fn fault(&mut self, fault: Fault) {
        if self.faults.len() >= MAX_FAULTS {
            return;
        }
        let mut pointer = String::new();
        if let Some(way) = &self.way {
            way.write(&mut pointer);
        }
        self.faults.push(FaultOut::in_body(pointer, fault));
    }

    /// Takes what is right, notes what is wrong.
    pub(crate) fn take<T>(&mut self, outcome: Result<T, Fault>) -> Option<T> {
        outcome.map_err(|fault| self.fault(fault)).ok()
    }

    /// The place of a member or an item below this one.
    pub(crate) fn below<'p>(&'p mut self, name: &'p dyn std::fmt::Display) -> Place<'p> {
        Place { way: Some(Step { above: self.way.as_ref(), name }), faults: self.faults }
    }
}

/// A request's parts as they came.
#[derive(Debug, Default)]
pub(crate) struct Parts<'b> {
    pub(crate) path: OpenParts,
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
    /// Reads.
    Request(Reading<'r>),
    /// Describes.
    Description(Box<Description>),
}

/// A request that is being read.
pub(crate) struct Reading<'r> {
    parts: &'r Parts<'r>,
    faults: Vec<FaultOut>,
    /// A path that names nothing: 404, whatever else is wrong.
    unknown_path: bool,
    refused: Option<Problem>,
}

/// Reads an operation's input.
pub(crate) fn read<I: Input>(parts: &Parts<'_>) -> Result<I, Problem> {
    let reading = Reading { parts, faults: Vec::new(), unknown_path: false, refused: None };
    let mut reader = Reader::Request(reading);
    let input = I::read(&mut reader);
    let Reader::Request(reading) = reader else { return Err(Problem::internal("a reader changed its mind")) };
    if reading.unknown_path {
        return Err(Problem::not_found("not_found"));
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
                let mut given = reading.parts.query.iter().filter(|(of, _)| of == name).map(|(_, text)| text);
                let outcome = match (given.next(), given.next()) {
                    (None, _) if required => Err(Fault::new("missing", "is required")),
                    (None, _) => return None,
                    (Some(_), Some(_)) => Err(Fault::new("repeated", "must be given only once")),
                    (Some(text), None) => P::from_text(text),
                };
                reading.parameter(name, outcome)
            }
        }
    }

    /// Notes a fault that lies between several query parameters.
    pub(crate) fn parameter_fault(&mut self, name: &str, fault: Fault) {
        if let Self::Request(reading) = self {
            reading.faults.push(FaultOut::in_parameter(name, fault));
        }
    }

    /// The body's object.
    pub(crate) fn body(&mut self) -> Object<'_, 'r> {
        match self {
            Self::Description(description) => Object::Describe(description, ObjectBuilder::new()),
            Self::Request(reading) => {
                let members = Json::parse(reading.parts.body).and_then(|json| {
                    json.members().map_err(|fault| Problem::body(fault.code, fault.message))
                });
                let members = members.unwrap_or_else(|problem| {
                    reading.refused = Some(problem);
                    Vec::new()
                });
                Object::of(members, Place::whole(&mut reading.faults))
            }
        }
    }
}

impl Reading<'_> {
    fn parameter<T>(&mut self, name: &str, outcome: Result<T, Fault>) -> Option<T> {
        outcome.map_err(|fault| self.faults.push(FaultOut::in_parameter(name, fault))).ok()
    }
}

/// An object whose members are read, or described.
pub(crate) enum Object<'o, 'b> {
    /// Reads.
    Read(Members<'b>, Place<'o>),
    /// Describes the request's body.
    Describe(&'o mut Description, ObjectBuilder),
    /// Describes an object inside another.
    Nested(ObjectBuilder),
}

impl<'o, 'b> Object<'o, 'b> {
    fn of(members: Members<'b>, mut place: Place<'o>) -> Self {
        let mut names = HashSet::with_capacity(members.len());
        for (name, _) in &members {
            if !names.insert(name) {
                place.below(&name).fault(Fault::new("repeated", "is given twice"));
            }
        }
        Self::Read(members, place)
    }

    /// Reads an object inside another.
    pub(crate) fn nested(json: Json<'b>, at: &'o mut Place<'_>) -> Option<Self> {
        let members = at.take(json.members())?;
        Some(Self::of(members, Place { way: at.way, faults: at.faults }))
    }

    /// A member that must be there.
    pub(crate) fn required<F: Field>(&mut self, name: &'static str, about: &str) -> Option<F> {
        self.member(name, about, true)
    }

    /// A member that may be absent. `null` is not absent: it is a value, and a wrong one.
    pub(crate) fn optional<F: Field>(&mut self, name: &'static str, about: &str) -> Option<F> {
        self.member(name, about, false)
    }

    fn member<F: Field>(&mut self, name: &'static str, about: &str, required: bool) -> Option<F> {
        match self {
            Self::Read(members, place) => {
                let mut place = place.below(&name);
                match members.iter().find(|(of, _)| of == name) {
                    Some((_, json)) => F::from_json(*json, &mut place),
                    None => {
                        if required {
                            place.fault(Fault::new("missing", "is required"));
                        }
                        None
                    }
                }
            }
            Self::Describe(_, object) | Self::Nested(object) => {
                let mut next = std::mem::take(object).property(name, described(F::schema(), about));
                if required {
                    next = next.required(name);
                }
                *object = next;
                None
            }
        }
    }

    /// Whether a member is there, right or wrong.
    pub(crate) fn has(&self, name: &str) -> bool {
        matches!(self, Self::Read(members, _) if members.iter().any(|(of, _)| of == name))
    }

    /// Notes a fault that lies between several members.
    pub(crate) fn fault(&mut self, name: &'static str, fault: Fault) {
        if let Self::Read(_, place) = self {
            place.below(&name).fault(fault);
        }
    }

    /// The schema of an object that describes itself.
    pub(crate) fn schema(mut self) -> RefOr<Schema> {
        match &mut self {
            Self::Nested(object) => std::mem::take(object).into(),
            Self::Describe(..) | Self::Read(..) => ObjectBuilder::new().into(),
        }
    }
}

impl Drop for Object<'_, '_> {
    fn drop(&mut self) {
        if let Self::Describe(description, object) = self {
            description.body = Some(std::mem::take(object).into());
        }
    }
}

fn described(schema: RefOr<Schema>, about: &str) -> RefOr<Schema> {
    match schema {
        RefOr::T(Schema::Object(mut object)) => {
            object.description = Some(about.into());
            RefOr::T(Schema::Object(object))
        }
        RefOr::T(Schema::Array(mut array)) => {
            array.description = Some(about.into());
            RefOr::T(Schema::Array(array))
        }
        other => other,
    }
}
