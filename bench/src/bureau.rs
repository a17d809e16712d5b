//! A slow bureau: every check passes, after a delay.

use std::time::Duration;

use anyhow::Result;
use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::post;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// Prints its address and serves until the process ends.
pub(crate) async fn serve(delay: Duration) -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}", listener.local_addr()?);
    let answer = move |body: String| async move {
        let request: Value = serde_json::from_str(&body).unwrap_or_default();
        tokio::time::sleep(delay).await;
        let result = match request["check"].as_str() {
            Some("income") => json!({ "yearly": 85_000 }),
            Some("softCredit") => json!({ "score": 720 }),
            _ => json!({ "found": false }),
        };
        let reply = json!({
            "reference": request["reference"], "check": request["check"], "status": "complete", "result": result,
        });
        ([(CONTENT_TYPE, "application/json")], reply.to_string())
    };
    Ok(axum::serve(listener, Router::new().route("/v1/checks", post(answer))).await?)
}
