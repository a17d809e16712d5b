//! JSON objects, parsed member by member, or described.

use std::collections::HashSet;

use portico_domain::ValidationError;
use utoipa::openapi::schema::Schema;
use utoipa::openapi::{ObjectBuilder, RefOr};

use super::json::{Json, Members};
use super::pointer::JsonPointer;

/// A value in a JSON body.
pub(crate) trait Field: Sized {
    fn schema() -> RefOr<Schema>;
    /// Parses the value; errors go to `at`.
    fn from_json(json: Json<'_>, at: &mut JsonPointer<'_>) -> Option<Self>;
}

/// An object whose members are parsed or described.
pub(crate) enum Object<'o, 'b> {
    Read(Members<'b>, JsonPointer<'o>),
    /// Describes the request body.
    Describe(&'o mut Option<RefOr<Schema>>, ObjectBuilder),
    /// Describes a nested object.
    Nested(ObjectBuilder),
}

impl<'o, 'b> Object<'o, 'b> {
    pub(super) fn of(members: Members<'b>, mut pointer: JsonPointer<'o>) -> Self {
        let mut names = HashSet::with_capacity(members.len());
        for (name, _) in &members {
            if !names.insert(name) {
                pointer.child(&name).report(ValidationError::new("repeated", "is given twice"));
            }
        }
        Self::Read(members, pointer)
    }

    pub(crate) fn nested(json: Json<'b>, at: &'o mut JsonPointer<'_>) -> Option<Self> {
        let members = at.take(json.members())?;
        Some(Self::of(members, at.reborrow()))
    }

    pub(crate) fn required<F: Field>(&mut self, name: &'static str, about: &str) -> Option<F> {
        self.member(name, about, true)
    }

    /// `null` is not absent: it is an invalid value.
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
                            pointer.report(ValidationError::new("missing", "is required"));
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

    /// Whether the member is present, valid or not.
    pub(crate) fn has(&self, name: &str) -> bool {
        matches!(self, Self::Read(members, _) if members.iter().any(|(of, _)| of == name))
    }

    /// Reports an error that concerns several members.
    pub(crate) fn report(&mut self, name: &'static str, error: ValidationError) {
        if let Self::Read(_, pointer) = self {
            pointer.child(&name).report(error);
        }
    }

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
