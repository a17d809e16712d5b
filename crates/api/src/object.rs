//! JSON objects, member by member, for lists that are long or asked for often: what `serde_json` spends on looking
//! for characters to escape in names that have none is a good part of them.

use serde::Serialize;

/// An object that is being written.
pub(crate) struct Object<'a> {
    to: &'a mut Vec<u8>,
    before: u8,
}

impl Object<'_> {
    /// Writes an object with these members, of which there is at least one.
    pub(crate) fn write(to: &mut Vec<u8>, members: impl FnOnce(&mut Object<'_>)) {
        members(&mut Object { to, before: b'{' });
        to.push(b'}');
    }

    /// A name has nothing that would have to be escaped.
    fn name(&mut self, name: &'static str) {
        self.to.push(std::mem::replace(&mut self.before, b','));
        self.to.push(b'"');
        self.to.extend_from_slice(name.as_bytes());
        self.to.extend_from_slice(b"\":");
    }

    /// A text.
    pub(crate) fn text(&mut self, name: &'static str, text: &str) {
        self.name(name);
        if text.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
            self.to.push(b'"');
            self.to.extend_from_slice(text.as_bytes());
            self.to.push(b'"');
        } else {
            by_serde(&text, self.to);
        }
    }

    /// A value that may be absent, and then is no member.
    pub(crate) fn optional(&mut self, name: &'static str, value: Option<impl Serialize>) {
        if let Some(value) = value {
            self.name(name);
            by_serde(&value, self.to);
        }
    }
}

/// Writes a value as it serialises.
pub(crate) fn by_serde<T: Serialize>(value: &T, to: &mut Vec<u8>) {
    // Writing to memory cannot fail, and wire types always serialise.
    let _ = serde_json::to_writer(to, value);
}
