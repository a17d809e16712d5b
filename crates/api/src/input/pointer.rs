//! JSON pointers into a body, and the list that collects all validation errors.

use portico_domain::ValidationError;

use crate::problem::FieldError;

/// Validation errors in one response.
const MAX_FIELD_ERRORS: usize = 100;

/// The position of a value in the body. Its text is built only for an error.
pub(crate) struct JsonPointer<'f> {
    /// `None`: the whole body.
    segment: Option<Segment<'f>>,
    errors: &'f mut Vec<FieldError>,
}

/// A member or item, and the segment of its parent.
#[derive(Clone, Copy)]
struct Segment<'f> {
    parent: Option<&'f Segment<'f>>,
    name: &'f dyn std::fmt::Display,
}

impl Segment<'_> {
    fn write(&self, pointer: &mut String) {
        if let Some(parent) = self.parent {
            parent.write(pointer);
        }
        pointer.push('/');
        pointer.push_str(&self.name.to_string().replace('~', "~0").replace('/', "~1"));
    }
}

impl<'f> JsonPointer<'f> {
    pub(super) fn root(errors: &'f mut Vec<FieldError>) -> Self {
        Self { segment: None, errors }
    }

    pub(super) fn reborrow(&mut self) -> JsonPointer<'_> {
        JsonPointer { segment: self.segment, errors: self.errors }
    }

    pub(crate) fn report(&mut self, error: ValidationError) {
        if self.errors.len() >= MAX_FIELD_ERRORS {
            return;
        }
        let mut pointer = String::new();
        if let Some(segment) = &self.segment {
            segment.write(&mut pointer);
        }
        self.errors.push(FieldError::in_body(pointer, error));
    }

    /// Reports an error and returns `None`, or returns the value.
    pub(crate) fn take<T>(&mut self, outcome: Result<T, ValidationError>) -> Option<T> {
        outcome.map_err(|error| self.report(error)).ok()
    }

    /// The pointer of a member or item.
    pub(crate) fn child<'p>(&'p mut self, name: &'p dyn std::fmt::Display) -> JsonPointer<'p> {
        JsonPointer { segment: Some(Segment { parent: self.segment.as_ref(), name }), errors: self.errors }
    }
}
