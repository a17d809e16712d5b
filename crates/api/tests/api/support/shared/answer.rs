//! A response and common assertions.

use reqwest::header::HeaderMap;
use serde_json::Value;

/// A response, read completely.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The request, for messages.
    pub(crate) request: String,
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("an answer is UTF-8")
    }

    /// The path of the next page, in the `Link` header.
    pub(crate) fn next_page(&self) -> Option<String> {
        let link = Some(self.header("link")).filter(|link| !link.is_empty())?;
        let path = link.strip_prefix('<').and_then(|rest| rest.strip_suffix(">; rel=\"next\""));
        Some(path.unwrap_or_else(|| panic!("a link is expected: {link}")).to_owned())
    }

    /// A header that occurs at most once; empty if absent.
    pub(crate) fn header(&self, name: &str) -> &str {
        assert!(self.headers.get_all(name).iter().count() <= 1, "{}: {name} is there twice", self.request);
        self.headers.get(name).map_or("", |value| value.to_str().expect("a header is ASCII"))
    }

    #[track_caller]
    pub(crate) fn status(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}: {}", self.request, self.text());
        self
    }

    /// Asserts the status; returns the JSON body.
    #[track_caller]
    pub(crate) fn json(self, status: u16) -> Value {
        let answer = self.status(status);
        assert_eq!(answer.header("content-type"), "application/json", "{}", answer.request);
        serde_json::from_slice(&answer.body)
            .unwrap_or_else(|error| panic!("{}: {error}: {}", answer.request, answer.text()))
    }

    /// The body without its `message`, which must exist.
    #[track_caller]
    pub(crate) fn json_without_message(self, status: u16) -> Value {
        let mut body = self.json(status);
        let message = body.as_object_mut().and_then(|body| body.remove("message"));
        assert!(
            message.as_ref().and_then(Value::as_str).is_some_and(|message| !message.is_empty()),
            "a message is expected: {message:?} {body}"
        );
        body
    }

    /// Asserts that the body is only `{message}`.
    #[track_caller]
    pub(crate) fn only_message(self, status: u16) {
        assert_eq!(self.json_without_message(status), serde_json::json!({}));
    }

    /// The problem document of an error; asserts its shape.
    #[track_caller]
    pub(crate) fn problem(self, status: u16) -> Value {
        let answer = self.status(status);
        let request = &answer.request;
        assert_eq!(answer.header("content-type"), "application/problem+json", "{request}");
        let body: Value = serde_json::from_slice(&answer.body).expect("a problem is JSON");
        let text = |name: &str| body[name].as_str().unwrap_or_else(|| panic!("{request}: {name} in {body}"));
        assert_eq!(body["status"], status, "{request}");
        assert!(!text("title").is_empty() && !text("detail").is_empty(), "{request}: {body}");
        assert_eq!(text("detail"), text("message"), "{request}");
        let is_code = |code: &str| {
            !code.is_empty()
                && code.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        };
        assert!(is_code(text("code")), "{request}: {body}");
        assert_eq!(text("requestId"), answer.header("x-request-id"), "{request}");
        let known = ["title", "status", "detail", "message", "code", "errors", "requestId"];
        for (name, value) in body.as_object().expect("a problem is an object") {
            assert!(known.contains(&name.as_str()), "{request}: {name} is new in a problem: {value}");
        }
        for fault in body["errors"].as_array().into_iter().flatten() {
            let fault = fault.as_object().expect("a fault is an object");
            assert!(fault.contains_key("pointer") ^ fault.contains_key("parameter"), "{request}: {fault:?}");
            assert!(fault["code"].as_str().is_some_and(is_code), "{request}: {fault:?}");
            assert!(fault["message"].as_str().is_some_and(|text| !text.is_empty()), "{request}: {fault:?}");
            for (name, value) in fault {
                let is_known = ["pointer", "parameter", "code", "message"].contains(&name.as_str());
                let is_limit = ["min", "max"].contains(&name.as_str()) && value.is_i64();
                assert!(is_known || is_limit, "{request}: {fault:?}");
            }
        }
        body
    }

    /// Asserts status and error code.
    #[track_caller]
    pub(crate) fn refused(self, status: u16, code: &str) {
        let request = self.request.clone();
        assert_eq!(self.problem(status)["code"], code, "{request}");
    }

    /// The validation errors of a 400: `(pointer or parameter, code)`.
    #[track_caller]
    pub(crate) fn faults(self) -> Vec<(String, String)> {
        let body = self.problem(400);
        assert_eq!(body["code"], "invalid_request", "{body}");
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let place = |fault: &Value| text(fault.get("pointer").unwrap_or(&fault["parameter"]));
        let faults = body["errors"].as_array().expect("a 400 names its faults");
        faults.iter().map(|fault| (place(fault), text(&fault["code"]))).collect()
    }

    /// Asserts a 400 with exactly these errors, in any order.
    #[track_caller]
    pub(crate) fn has_faults(self, expected: &[(&str, &str)]) {
        let request = self.request.clone();
        let mut found = self.faults();
        found.sort();
        let mut expected: Vec<(String, String)> =
            expected.iter().map(|(place, code)| ((*place).into(), (*code).into())).collect();
        expected.sort();
        assert_eq!(found, expected, "{request}");
    }
}
