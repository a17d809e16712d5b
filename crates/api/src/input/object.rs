//! JSON objects, parsed member by member, or described.

use std::borrow::Cow;
use std::collections::HashSet;

use portico_domain::{FaultCode, ValidationError};
use utoipa::openapi::schema::{AdditionalProperties, Schema, SchemaType, Type};
use utoipa::openapi::{ObjectBuilder, OneOfBuilder, RefOr};

use super::json::{Json, Members};
use super::pointer::JsonPointer;

/// A value in a JSON body.
pub(crate) trait Field: Sized {
    fn schema() -> RefOr<Schema>;
    /// Parses the value; errors go to `at`.
    fn from_json(json: Json<'_>, at: &mut JsonPointer<'_>) -> Option<Self>;
    /// What `null` means in a PATCH.
    fn from_null(at: &mut JsonPointer<'_>) -> Option<Self> {
        at.report(ValidationError::new(FaultCode::NotRemovable, "cannot be removed"));
        None
    }
}

/// Whether a member or a parameter may be absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    Required,
    Optional,
}

/// What `null` and unknown members mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// `null` for an optional member means that it is absent; unknown members are ignored.
    Whole,
    /// `null` clears; unknown members are errors.
    Patch,
}

/// An object whose members are parsed or described.
pub(crate) struct Object<'o, 'b> {
    source: Source<'o, 'b>,
    rule: Rule,
    /// Names that were asked for.
    known: Vec<&'static str>,
}

enum Source<'o, 'b> {
    /// With the names that are given twice.
    Read(Members<'b>, JsonPointer<'o>, Vec<Cow<'b, str>>),
    /// Describes the request body.
    Describe(&'o mut Option<RefOr<Schema>>, ObjectBuilder),
    /// Describes a nested object.
    Nested(ObjectBuilder),
}

impl<'o, 'b> Object<'o, 'b> {
    pub(super) fn of(members: Members<'b>, pointer: JsonPointer<'o>, rule: Rule) -> Self {
        let mut names = HashSet::with_capacity(members.len());
        let repeated = members.iter().filter(|(name, _)| !names.insert(name)).map(|(name, _)| name.clone());
        let repeated = repeated.collect();
        Self::new(Source::Read(members, pointer, repeated), rule)
    }

    fn new(source: Source<'o, 'b>, rule: Rule) -> Self {
        Self { source, rule, known: Vec::new() }
    }

    pub(super) fn describe(body: &'o mut Option<RefOr<Schema>>, rule: Rule) -> Self {
        Self::new(Source::Describe(body, builder(rule)), rule)
    }

    pub(crate) fn nested(json: Json<'b>, at: &'o mut JsonPointer<'_>) -> Option<Self> {
        let members = at.take(json.members())?;
        Some(Self::of(members, at.reborrow(), Rule::Whole))
    }

    /// An object in the body of a PATCH.
    pub(super) fn nested_patch(json: Json<'b>, at: &'o mut JsonPointer<'_>) -> Option<Self> {
        let members = at.take(json.members())?;
        Some(Self::of(members, at.reborrow(), Rule::Patch))
    }

    /// The schema of a nested object, which `read` reads.
    pub(crate) fn schema_of<T>(read: impl FnOnce(&mut Self) -> T) -> RefOr<Schema> {
        Self::nested_schema(read, Rule::Whole)
    }

    pub(super) fn patch_schema<T>(read: impl FnOnce(&mut Self) -> T) -> RefOr<Schema> {
        Self::nested_schema(read, Rule::Patch)
    }

    fn nested_schema<T>(read: impl FnOnce(&mut Self) -> T, rule: Rule) -> RefOr<Schema> {
        let mut object = Self::new(Source::Nested(builder(rule)), rule);
        read(&mut object);
        match &mut object.source {
            Source::Nested(object) => std::mem::take(object).into(),
            Source::Describe(..) | Source::Read(..) => ObjectBuilder::new().into(),
        }
    }

    pub(crate) fn required<F: Field>(&mut self, name: &'static str, about: &str) -> Option<F> {
        self.member(name, about, Presence::Required)
    }

    pub(crate) fn optional<F: Field>(&mut self, name: &'static str, about: &str) -> Option<F> {
        self.member(name, about, Presence::Optional)
    }

    fn member<F: Field>(&mut self, name: &'static str, about: &str, presence: Presence) -> Option<F> {
        self.known.push(name);
        match &mut self.source {
            Source::Read(members, pointer, repeated) => {
                let mut pointer = pointer.child(&name);
                if repeated.iter().any(|of| of == name) {
                    repeated.retain(|of| of != name);
                    pointer.report(given_twice());
                }
                match members.iter().find(|(of, _)| of == name) {
                    Some((_, json)) if json.is_null() && presence == Presence::Optional => match self.rule {
                        Rule::Whole => None,
                        Rule::Patch => F::from_null(&mut pointer),
                    },
                    Some((_, json)) => F::from_json(*json, &mut pointer),
                    None => {
                        if presence == Presence::Required {
                            pointer.report(ValidationError::new(FaultCode::Missing, "is required"));
                        }
                        None
                    }
                }
            }
            Source::Describe(_, object) | Source::Nested(object) => {
                let schema = match (presence, self.rule) {
                    (Presence::Optional, Rule::Whole) => nullable(F::schema()),
                    _ => F::schema(),
                };
                let mut next = std::mem::take(object).property(name, described(schema, about));
                if presence == Presence::Required {
                    next = next.required(name);
                }
                *object = next;
                None
            }
        }
    }

    /// Whether the member is present, valid or not.
    pub(crate) fn has(&self, name: &str) -> bool {
        let Source::Read(members, ..) = &self.source else { return false };
        let is_present = |json: &Json<'_>| self.rule == Rule::Patch || !json.is_null();
        members.iter().any(|(of, json)| of == name && is_present(json))
    }

    /// Members of a PATCH that exist, but cannot be changed.
    pub(crate) fn reject_changes(&mut self, fixed: &[&'static str]) {
        for name in fixed {
            self.known.push(name);
            if self.has(name) {
                self.report(name, ValidationError::new(FaultCode::NotChangeable, "cannot be changed"));
            }
        }
    }

    /// Reports an error that concerns several members.
    pub(crate) fn report(&mut self, name: &'static str, error: ValidationError) {
        if let Source::Read(_, pointer, _) = &mut self.source {
            pointer.child(&name).report(error);
        }
    }
}

impl Drop for Object<'_, '_> {
    fn drop(&mut self) {
        match &mut self.source {
            Source::Describe(body, object) => **body = Some(std::mem::take(object).into()),
            Source::Read(members, pointer, _) if self.rule == Rule::Patch => {
                for (name, _) in members.iter().filter(|(name, _)| !self.known.contains(&&**name)) {
                    pointer.child(name).report(unknown_member());
                }
            }
            // The name of an unknown member is not repeated in an error: it may be personal, as values are.
            Source::Read(_, pointer, repeated) if !repeated.is_empty() => pointer.report(given_twice()),
            Source::Read(..) | Source::Nested(_) => {}
        }
    }
}

fn builder(rule: Rule) -> ObjectBuilder {
    let closed = (rule == Rule::Patch).then_some(AdditionalProperties::<Schema>::FreeForm(false));
    ObjectBuilder::new().additional_properties(closed)
}

fn given_twice() -> ValidationError {
    ValidationError::new(FaultCode::Repeated, "is given twice")
}

fn unknown_member() -> ValidationError {
    ValidationError::new(FaultCode::UnknownMember, "is not a member that can be changed")
}

/// The schema, or `null`. What has a name in the document keeps it.
pub(super) fn nullable(schema: RefOr<Schema>) -> RefOr<Schema> {
    match schema {
        RefOr::T(Schema::Object(object)) if object.title.is_some() => or_null(object),
        RefOr::T(Schema::Object(mut object)) => {
            add_null(&mut object.schema_type);
            if let Some(values) = &mut object.enum_values {
                values.push(serde_json::Value::Null);
            }
            object.into()
        }
        RefOr::T(Schema::Array(mut array)) => {
            add_null(&mut array.schema_type);
            array.into()
        }
        RefOr::Ref(reference) => or_null(reference),
        other @ RefOr::T(_) => other,
    }
}

fn or_null(schema: impl Into<RefOr<Schema>>) -> RefOr<Schema> {
    let null = ObjectBuilder::new().schema_type(SchemaType::Type(Type::Null));
    OneOfBuilder::new().item(schema).item(null).into()
}

fn add_null(kind: &mut SchemaType) {
    if let SchemaType::Type(one) = kind {
        *kind = SchemaType::Array(vec![one.clone(), Type::Null]);
    }
}

fn described(schema: RefOr<Schema>, about: &str) -> RefOr<Schema> {
    match schema {
        RefOr::T(Schema::Object(mut object)) => {
            object.description = Some(about.into());
            object.into()
        }
        RefOr::T(Schema::Array(mut array)) => {
            array.description = Some(about.into());
            array.into()
        }
        RefOr::T(Schema::OneOf(mut one)) => {
            one.description = Some(about.into());
            RefOr::T(Schema::OneOf(one))
        }
        RefOr::Ref(mut reference) => {
            reference.description = about.into();
            RefOr::Ref(reference)
        }
        other @ RefOr::T(_) => other,
    }
}

#[cfg(test)]
mod tests {
    use portico_domain::listing_changes::{Change, TermsChange};
    use portico_domain::{City, Credit, Money};
    use serde_json::{Value, json};

    use crate::input::{Input, Parts, Reader, describe, read};
    use crate::problem::Problem;

    struct Post {
        city: City,
        rent: Option<Money>,
        has_rent: bool,
    }

    impl Input for Post {
        fn read(from: &mut Reader<'_>) -> Option<Self> {
            let mut body = from.body();
            let (city, rent) = (body.required("city", ""), body.optional("rent", ""));
            Some(Self { has_rent: body.has("rent"), city: city?, rent })
        }
    }

    #[derive(Debug)]
    struct Patch {
        city: Option<City>,
        rent: Change<Money>,
        terms: TermsChange,
    }

    impl Input for Patch {
        fn read(from: &mut Reader<'_>) -> Option<Self> {
            let mut body = from.patch_body();
            let (city, rent) = (body.optional("city", ""), body.optional("rent", "").unwrap_or_default());
            let terms = body.optional("terms", "").unwrap_or_default();
            body.reject_changes(&["version"]);
            Some(Self { city, rent, terms })
        }
    }

    fn parse<I: Input>(body: &Value) -> Result<I, Problem> {
        read(&Parts { body: body.to_string().as_bytes(), ..Parts::default() })
    }

    fn faults<I: Input>(body: &Value) -> Vec<(String, String)> {
        let problem = parse::<I>(body).err().expect("a fault");
        let faults = problem.errors.into_iter();
        faults.map(|fault| (fault.pointer.unwrap_or_default(), fault.code.into())).collect()
    }

    #[test]
    fn null_is_an_absent_optional_member() {
        let Post { city, rent, has_rent } = parse(&json!({"city": "Oslo", "rent": null})).unwrap();
        assert_eq!((city.as_str(), rent, has_rent), ("Oslo", None, false));
        assert_eq!(faults::<Post>(&json!({"city": null})), [("/city".into(), "wrong_type".into())]);
        assert_eq!(faults::<Post>(&json!({"city": "Oslo", "rent": "x"}))[0].1, "wrong_type");
    }

    #[test]
    fn null_in_a_patch_clears() {
        let Patch { city, rent, terms } =
            parse(&json!({"rent": null, "terms": {"minCredit": null}})).unwrap();
        assert_eq!((city, rent, terms.min_credit), (None, Change::Clear, Change::Clear));
        let wrong = json!({"city": null, "terms": null});
        let expected = ["/city", "/terms"].map(|at| (at.into(), "not_removable".into()));
        assert_eq!(faults::<Patch>(&wrong), expected);
    }

    #[test]
    fn absent_members_of_a_patch_stay() {
        let Patch { city, rent, terms } = parse(&json!({"terms": {"minCredit": 610}})).unwrap();
        assert_eq!((city, rent), (None, Change::Keep));
        let min_credit = Change::Set(Credit::from_units(610));
        assert_eq!(terms, TermsChange { min_credit, ..TermsChange::default() });
        let none: Patch = parse(&json!({"terms": {}})).unwrap();
        assert_eq!(none.terms, TermsChange::default());
    }

    #[test]
    fn unknown_members_of_a_patch_are_named() {
        let body = json!({"version": 1, "a/b": 1, "terms": {"minCredits": 1, "minCredit": 7, "prefCredit": 6}, "x": null});
        let expected = [
            ("/terms/prefCredit", "below_minimum"),
            ("/terms/minCredits", "unknown_member"),
            ("/version", "not_changeable"),
            ("/a~1b", "unknown_member"),
            ("/x", "unknown_member"),
        ];
        assert_eq!(faults::<Patch>(&body), expected.map(|(at, code)| (at.into(), code.into())));
        parse::<Post>(&json!({"city": "Oslo", "unknown": 1})).unwrap();
    }

    #[test]
    fn schemas_say_what_null_and_unknown_members_mean() {
        let schema = |body| serde_json::to_value::<Option<_>>(body).unwrap();
        let post = schema(describe::<Post>().body);
        assert_eq!(post["properties"]["rent"]["type"], json!(["number", "null"]));
        assert_eq!(
            (&post["properties"]["city"]["type"], post.get("additionalProperties")),
            (&json!("string"), None)
        );
        let patch = schema(describe::<Patch>().body);
        assert_eq!(patch["properties"]["city"]["type"], "string");
        let (rent, terms) = (&patch["properties"]["rent"], &patch["properties"]["terms"]);
        assert_eq!(rent["type"], json!(["number", "null"]));
        assert_eq!(
            (&patch["additionalProperties"], &terms["additionalProperties"]),
            (&json!(false), &json!(false))
        );
    }
}
