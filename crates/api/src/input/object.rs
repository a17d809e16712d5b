//! JSON objects, member by member: read strictly, or described.

use std::collections::HashSet;

use portico_domain::ValidationError;
use utoipa::openapi::schema::Schema;
use utoipa::openapi::{ObjectBuilder, RefOr};

use super::json::{Json, Members};
use super::pointer::JsonPointer;

/// A value in a JSON body.
pub(crate) trait Field: Sized {
    /// What it may be.
    fn schema() -> RefOr<Schema>;
    /// Reads it; faults go to `at`.
    fn from_json(json: Json<'_>, at: &mut JsonPointer<'_>) -> Option<Self>;
}

/// An object whose members are read, or described.
pub(crate) enum Object<'o, 'b> {
    Read(Members<'b>, JsonPointer<'o>),
    /// Describes the request's body.
    Describe(&'o mut Option<RefOr<Schema>>, ObjectBuilder),
    /// Describes an object inside another.
    Nested(ObjectBuilder),
}

impl<'o, 'b> Object<'o, 'b> {
    pub(super) fn of(members: Members<'b>, mut pointer: JsonPointer<'o>) -> Self {
        let mut names = HashSet::with_capacity(members.len());
        for (name, _) in &members {
            if !names.insert(name) {
                pointer.child(&name).fault(ValidationError::new("repeated", "is given twice"));
            }
        }
        Self::Read(members, pointer)
    }

    /// Reads an object inside another.
    pub(crate) fn nested(json: Json<'b>, at: &'o mut JsonPointer<'_>) -> Option<Self> {
        let members = at.take(json.members())?;
        Some(Self::of(members, at.reborrow()))
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
            Self::Read(members, pointer) => {
                let mut pointer = pointer.child(&name);
                match members.iter().find(|(of, _)| of == name) {
                    Some((_, json)) => F::from_json(*json, &mut pointer),
                    None => {
                        if required {
                            pointer.fault(ValidationError::new("missing", "is required"));
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
    pub(crate) fn fault(&mut self, name: &'static str, fault: ValidationError) {
        if let Self::Read(_, pointer) = self {
            pointer.child(&name).fault(fault);
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
        if let Self::Describe(body, object) = self {
            **body = Some(std::mem::take(object).into());
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
