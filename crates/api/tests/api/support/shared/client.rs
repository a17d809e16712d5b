//! What both kinds of test ask: sessions, and requests with their bodies and headers.

use reqwest::Method;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};

use super::{Answer, listing, unique};
use crate::support::{App, Target};

/// A signed-in user.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(crate) user: String,
    pub(crate) token: String,
    pub(crate) key: String,
}

impl App {
    /// Signs a user in, as the sandbox does.
    pub(crate) async fn sign_in(&self, user: &str) -> Session {
        let answer = self.post("/v1/sandbox/sessions", json!({"userId": user})).await.json(201);
        let text = |name: &str| answer[name].as_str().expect(name).to_owned();
        Session { user: user.into(), token: text("token"), key: text("apiKey") }
    }

    /// Signs in a new user.
    pub(crate) async fn someone(&self) -> Session {
        let user = unique("someone");
        if self.is_live() {
            let (token, key) = (self.token(&["--sub", &user]), self.new_key(&["--user", &user]));
            return Session { user, token, key };
        }
        self.sign_in(&user).await
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> Request {
        Request { target: self.target(), method, path: path.into(), headers: HeaderMap::new(), body: None }
    }

    pub(crate) fn to_get(&self, path: &str) -> Request {
        self.request(Method::GET, path)
    }

    pub(crate) fn to_post(&self, path: &str, body: &Value) -> Request {
        self.request(Method::POST, path).json(body)
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.to_get(path).send().await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        self.to_post(path, &body).send().await
    }

    pub(crate) async fn put(&self, path: &str, body: Value) -> Answer {
        self.request(Method::PUT, path).json(&body).send().await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.request(Method::DELETE, path).send().await
    }

    /// Creates these listings if they do not exist.
    pub(crate) async fn offer(&self, ids: &[&str]) {
        for id in ids {
            let made = self.to_post("/listings", &listing(id, "landlord")).key(self.operator()).send();
            let made = made.await;
            assert!(matches!(made.status, 201 | 409), "{id}: {}", made.text());
        }
    }

    /// Stores a listing; returns its body.
    pub(crate) async fn add_listing(&self, body: Value) -> Value {
        self.to_post("/listings", &body).key(self.operator()).send().await.only_message(201);
        body
    }
}

/// A request builder.
#[derive(Debug)]
pub(crate) struct Request {
    target: Target,
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Option<Vec<u8>>,
}

impl Request {
    pub(crate) fn bearer(self, token: &str) -> Self {
        self.header("authorization", &format!("Bearer {token}"))
    }

    pub(crate) fn key(self, key: &str) -> Self {
        self.header("x-api-key", key)
    }

    pub(crate) fn once(self, key: &str) -> Self {
        self.header("idempotency-key", key)
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        // Whitespace around a value is no part of it.
        let value = HeaderValue::from_str(value.trim()).expect("a header's value");
        self.headers.append(HeaderName::from_bytes(name.as_bytes()).expect("a header's name"), value);
        self
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.body(body.to_string())
    }

    /// A raw JSON body.
    pub(crate) fn body(self, body: impl Into<Vec<u8>>) -> Self {
        self.header("content-type", "application/json").bare_body(body)
    }

    /// A body without a content type.
    pub(crate) fn bare_body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = Some(body.into());
        self
    }

    pub(crate) async fn send(self) -> Answer {
        let (target, request) = (self.target.clone(), format!("{} {}", self.method, self.path));
        let (status, headers, body) = target.send(self).await;
        Answer { request, status, headers, body }
    }
}
