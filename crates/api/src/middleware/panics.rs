//! Turns a handler's panic into a 500, counts it and logs it.

use std::any::Any;
use std::sync::Arc;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use tower_http::catch_panic::ResponseForPanic;

use crate::Service;
use crate::problem::Problem;

#[derive(Debug, Clone)]
pub(super) struct PanicHandler(pub(super) Arc<Service>);

impl ResponseForPanic for PanicHandler {
    type ResponseBody = Body;

    fn response_for_panic(&mut self, panic: Box<dyn Any + Send>) -> Response {
        self.0.metrics.panicked();
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("");
        Problem::internal(format!("panic: {text}")).into_response()
    }
}
