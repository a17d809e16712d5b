//! Which operation a request asks for. Operations have a table of their own beside the router of the pages:
//! nearly every request is for one, and is handed to it directly.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::ALLOW;
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::Response;

use crate::edge::method_name;
use crate::metrics::{Metrics, OfRoute};
use crate::operation::{Handler, Operation};

/// An operation as it is called.
pub(crate) struct Route {
    method: Method,
    pub(crate) template: &'static str,
    pub(crate) handler: Handler,
    success: StatusCode,
    counted: OnceLock<OfRoute>,
}

impl Route {
    /// Counts an answer of this operation.
    pub(crate) fn answered(
        &self,
        metrics: &Metrics,
        method: &'static str,
        status: StatusCode,
        took: Duration,
    ) {
        let own = method_name(&self.method);
        if status != self.success || method != own {
            return metrics.answered(method, self.template, status, took);
        }
        self.counted.get_or_init(|| metrics.of_route(own, self.template, status)).count(took);
    }
}

/// The parts of a path that a template leaves open, by name, as they were sent.
pub(crate) type OpenParts = Vec<(String, String)>;

/// What a method and a path lead to.
pub(crate) enum Found<'t> {
    /// An operation.
    Operation(&'t Route, OpenParts),
    /// A path that has other methods: a 405 that names them.
    OtherMethods(Response),
    /// A path of no operation.
    Nothing,
}

/// Every operation, by path and method.
pub(crate) struct Routes(matchit::Router<Vec<Route>>);

impl std::fmt::Debug for Routes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Routes")
    }
}

impl Routes {
    pub(crate) fn new(operations: Vec<Operation>) -> Result<Self, matchit::InsertError> {
        let mut paths = BTreeMap::<_, Vec<_>>::new();
        for Operation { method, path, success, handler, .. } in operations {
            let route = Route { method, template: path, handler, success, counted: OnceLock::new() };
            paths.entry(path).or_default().push(route);
        }
        let mut table = matchit::Router::new();
        for (path, routes) in paths {
            table.insert(path, routes)?;
        }
        Ok(Self(table))
    }

    /// Finds the operation. Of what can be got, the head alone can be got too.
    pub(crate) fn find(&self, method: &Method, path: &str) -> Found<'_> {
        let Ok(found) = self.0.at(path) else { return Found::Nothing };
        let wanted = if method == Method::HEAD { &Method::GET } else { method };
        match found.value.iter().find(|route| route.method == *wanted) {
            Some(route) => {
                let open = found.params.iter().map(|(name, value)| (name.into(), value.into()));
                Found::Operation(route, open.collect())
            }
            None => Found::OtherMethods(not_allowed(found.value)),
        }
    }
}

fn not_allowed(routes: &[Route]) -> Response {
    let mut allowed = Vec::with_capacity(routes.len() + 1);
    for route in routes {
        allowed.push(route.method.as_str());
        if route.method == Method::GET {
            allowed.push("HEAD");
        }
    }
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
    if let Ok(allowed) = HeaderValue::try_from(allowed.join(",")) {
        response.headers_mut().insert(ALLOW, allowed);
    }
    response
}

#[cfg(test)]
mod tests {
    use portico_app::Profile;

    use super::*;

    #[test]
    fn no_two_operations_claim_one_path() {
        for profile in [Profile::Sandbox, Profile::Live] {
            Routes::new(crate::operations(profile)).unwrap();
        }
    }
}
