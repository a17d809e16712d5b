//! Cursors as clients see them. A cursor belongs to the query that it came from: elsewhere it would skip items.

use axum::http::{HeaderValue, Uri};
use portico_app::Cursor;
use portico_domain::{FaultCode, ValidationError};
use sha2::{Digest as _, Sha256};
use utoipa::openapi::schema::{Schema, SchemaType, Type};
use utoipa::openapi::{ObjectBuilder, RefOr};

use crate::input::{Param, Parts, Reader};

/// Identifies a query: the operation, its path parameters and all conditions, in any order. It protects against mistakes
/// and not against forgers: a cursor leads to nothing that its list does not show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct QueryDigest([u8; 8]);

impl QueryDigest {
    fn of(parts: &Parts<'_>) -> Self {
        let mut conditions: Vec<(&str, &str)> =
            parts.query.iter().map(|(name, value)| (&**name, &**value)).collect();
        conditions.retain(|(name, _)| !["cursor", "limit"].contains(name));
        conditions.sort_unstable();
        let path = parts.path.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let mut hash = Sha256::new();
        for (name, value) in [("", parts.route)].into_iter().chain(path).chain(conditions) {
            for text in [name, value] {
                hash.update(text.len().to_be_bytes());
                hash.update(text);
            }
        }
        let mut digest = [0; 8];
        digest.copy_from_slice(&hash.finalize()[..8]);
        Self(digest)
    }

    /// Reads the parameter `cursor`, which must be of this query.
    pub(crate) fn read(from: &mut Reader<'_>) -> (Self, Option<Cursor>) {
        let digest = from.parts().map_or(Self([0; 8]), Self::of);
        let token =
            from.query::<CursorToken>("cursor", "Where to go on, from the `Link` header of the page before");
        let is_foreign = token.as_ref().is_some_and(|token| token.query != digest);
        if is_foreign {
            from.report_parameter("cursor", not_a_cursor());
        }
        (digest, token.filter(|_| !is_foreign).map(|token| token.cursor))
    }

    /// The request's URI with the cursor of the next page.
    pub(crate) fn next_link(self, uri: &Uri, next: Cursor) -> Option<HeaderValue> {
        let (path, query) = (uri.path(), uri.query().unwrap_or(""));
        let mut link = String::with_capacity(path.len() + query.len() + 96);
        link.push('<');
        link.push_str(path);
        link.push('?');
        for part in query.split('&').filter(|part| !part.is_empty() && !part.starts_with("cursor=")) {
            link.push_str(part);
            link.push('&');
        }
        link.push_str("cursor=");
        link.push_str(&CursorToken { cursor: next, query: self }.digits());
        link.push_str(">; rel=\"next\"");
        HeaderValue::try_from(link).ok()
    }
}

/// The parameter `cursor`: sort key, creation number and digest of the query in hexadecimal.
#[derive(Debug, PartialEq, Eq)]
struct CursorToken {
    cursor: Cursor,
    query: QueryDigest,
}

impl CursorToken {
    fn digits(&self) -> String {
        let Self { cursor, query } = self;
        hex::encode([cursor.key.to_be_bytes(), cursor.seq.to_be_bytes(), query.0].concat())
    }
}

impl Param for CursorToken {
    fn schema() -> RefOr<Schema> {
        let text = ObjectBuilder::new().schema_type(SchemaType::Type(Type::String));
        text.pattern(Some("^[0-9a-f]{48}$")).into()
    }
    fn from_text(text: &str) -> Result<Self, ValidationError> {
        let is_lower_case = !text.bytes().any(|byte| byte.is_ascii_uppercase());
        let digits = (text.len() == 48 && is_lower_case).then_some(text);
        let bytes: Option<[u8; 24]> = digits.and_then(|digits| hex::decode_to_array(digits).ok());
        let (parts, _) = bytes.as_ref().ok_or_else(not_a_cursor)?.as_chunks::<8>();
        let [key, seq, query] = parts else { return Err(not_a_cursor()) };
        let cursor = Cursor { key: i64::from_be_bytes(*key), seq: i64::from_be_bytes(*seq) };
        Ok(Self { cursor, query: QueryDigest(*query) })
    }
}

fn not_a_cursor() -> ValidationError {
    ValidationError::new(FaultCode::NotACursor, "must be a cursor from a `Link` header of the same query")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::{Input, read};

    struct Listed(QueryDigest, Option<Cursor>);

    impl Input for Listed {
        fn read(from: &mut Reader<'_>) -> Option<Self> {
            let (digest, after) = QueryDigest::read(from);
            Some(Self(digest, after))
        }
    }

    fn parts(route: &'static str, user: &str, query: &'static str) -> Parts<'static> {
        let query = url::form_urlencoded::parse(query.as_bytes()).collect();
        Parts { route, path: vec![("userId".into(), user.into())], query, ..Parts::default() }
    }

    const AT: Cursor = Cursor { key: -3, seq: 77 };

    /// What the query makes of a cursor of `/devices/ada?a=1&b=2`.
    fn follow(mut to: Parts<'static>) -> Option<Cursor> {
        let Listed(query, _) = read(&parts("/devices", "ada", "a=1&b=2&limit=5")).unwrap();
        let cursor = CursorToken { cursor: AT, query }.digits();
        to.query.push(("cursor".into(), cursor.into()));
        match read::<Listed>(&to) {
            Ok(listed) => listed.1,
            Err(problem) => {
                assert_eq!((problem.errors.len(), problem.errors[0].code), (1, "not_a_cursor"));
                None
            }
        }
    }

    #[test]
    fn cursor_is_accepted_by_its_query() {
        assert_eq!(follow(parts("/devices", "ada", "a=1&b=2&limit=5")), Some(AT));
        assert_eq!(follow(parts("/devices", "ada", "b=2&a=%31&limit=7")), Some(AT), "in another order");
    }

    #[test]
    fn cursor_of_another_query_is_rejected() {
        for other in [
            parts("/portfolios", "ada", "a=1&b=2"),
            parts("/devices", "eve", "a=1&b=2"),
            parts("/devices", "ada", "a=1&b=3"),
            parts("/devices", "ada", "a=1"),
            parts("/devices", "ada", "a=1&b=2&c="),
            parts("/devices", "ada", "a=1b&=2"),
        ] {
            assert_eq!(follow(other), None);
        }
    }

    #[test]
    fn rejects_what_is_no_cursor() {
        let digits = CursorToken { cursor: AT, query: QueryDigest([7; 8]) }.digits();
        assert_eq!(CursorToken::from_text(&digits).unwrap().cursor, AT);
        for wrong in ["", "x", &digits[2..], &digits.to_uppercase(), &format!("{digits}00"), &"ü".repeat(24)]
        {
            assert_eq!(CursorToken::from_text(wrong).unwrap_err().code.name(), "not_a_cursor", "{wrong}");
        }
    }
}
