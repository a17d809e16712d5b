//! Where in a body a value stands, and the list that collects the faults of all values.

use portico_domain::ValidationError;

use crate::problem::FieldError;

/// Faults that a response lists at most.
const MAX_FAULTS: usize = 100;

/// The place of a value in the body. Its text is built only for a fault.
pub(crate) struct JsonPointer<'f> {
    /// `None`: the whole body.
    segment: Option<Segment<'f>>,
    faults: &'f mut Vec<FieldError>,
}

/// A member or an item, and the segment of its object or array.
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
    pub(super) fn root(faults: &'f mut Vec<FieldError>) -> Self {
        Self { segment: None, faults }
    }

    /// The same place, borrowed.
    pub(super) fn reborrow(&mut self) -> JsonPointer<'_> {
        JsonPointer { segment: self.segment, faults: self.faults }
    }

    pub(crate) fn fault(&mut self, fault: ValidationError) {
        if self.faults.len() >= MAX_FAULTS {
            return;
        }
        let mut pointer = String::new();
        if let Some(segment) = &self.segment {
            segment.write(&mut pointer);
        }
        self.faults.push(FieldError::in_body(pointer, fault));
    }

    /// The value, or its fault on the list.
    pub(crate) fn take<T>(&mut self, outcome: Result<T, ValidationError>) -> Option<T> {
        outcome.map_err(|fault| self.fault(fault)).ok()
    }

    /// The place of a member or an item of this value.
    pub(crate) fn child<'p>(&'p mut self, name: &'p dyn std::fmt::Display) -> JsonPointer<'p> {
        JsonPointer { segment: Some(Segment { parent: self.segment.as_ref(), name }), faults: self.faults }
    }
}
