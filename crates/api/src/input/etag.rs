//! Entity tags in conditional requests (RFC 9110, section 13).

use portico_domain::{FaultCode, ValidationError};
use utoipa::openapi::schema::{Schema, SchemaType, Type};
use utoipa::openapi::{ObjectBuilder, RefOr};

use super::reader::Param;

const PATTERN: &str = r#"^(\*|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*)$"#;

/// `If-Match`: the strong tags, or `None` for `*`, which every version matches.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct IfMatch(pub(crate) Option<Vec<String>>);

impl Param for IfMatch {
    fn schema() -> RefOr<Schema> {
        let text = ObjectBuilder::new().schema_type(SchemaType::Type(Type::String));
        text.pattern(Some(PATTERN)).examples(["*"]).into()
    }
    fn from_text(text: &str) -> Result<Self, ValidationError> {
        let fault = || ValidationError::new(FaultCode::NotAnEtag, "must be * or ETags in quotation marks");
        match text.trim() {
            "*" => Ok(Self(None)),
            list => tags(list).map(|tags| Self(Some(tags))).ok_or_else(fault),
        }
    }
}

/// The tags without their quotation marks. A weak one never matches a strong one, so that it is left out.
fn tags(mut list: &str) -> Option<Vec<String>> {
    let mut tags = Vec::new();
    loop {
        list = list.trim_start_matches([' ', '\t']);
        let (is_weak, quoted) = match list.strip_prefix("W/") {
            Some(quoted) => (true, quoted),
            None => (false, list),
        };
        let (tag, rest) = quoted.strip_prefix('"')?.split_once('"')?;
        if tag.bytes().any(|byte| !matches!(byte, b'!' | b'#'..=b'~')) {
            return None;
        }
        if !is_weak {
            tags.push(tag.to_owned());
        }
        let rest = rest.trim_start_matches([' ', '\t']);
        if rest.is_empty() {
            return Some(tags);
        }
        list = rest.strip_prefix(',')?;
    }
}

/// `If-None-Match`. A malformed one matches nothing: the response is complete.
#[derive(Debug)]
pub(crate) struct IfNoneMatch(String);

impl Param for IfNoneMatch {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(SchemaType::Type(Type::String)).into()
    }
    fn from_text(text: &str) -> Result<Self, ValidationError> {
        Ok(Self(text.trim().to_owned()))
    }
}

impl IfNoneMatch {
    /// Whether the client has this version. Weak tags count here.
    pub(crate) fn includes(&self, etag: &str) -> bool {
        self.0 == "*" || self.0.contains(etag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_any_list_of_tags() {
        let read = |text| IfMatch::from_text(text).unwrap().0;
        assert_eq!(read("*"), None);
        assert_eq!(read(r#""1-a""#), Some(vec!["1-a".into()]));
        assert_eq!(read(r#" "1-a" ,W/"2", "3,4" "#), Some(vec!["1-a".into(), "3,4".into()]));
    }

    #[test]
    fn rejects_what_is_no_list_of_tags() {
        for wrong in ["", "1", r#""1"#, r#""1" "2""#, r#""1","#, "**", "w/\"1\"", "\"a b\"", "\"ü\""] {
            assert_eq!(IfMatch::from_text(wrong).unwrap_err().code.name(), "not_an_etag", "{wrong}");
        }
    }
}
