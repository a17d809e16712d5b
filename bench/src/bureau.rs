//! A bureau that takes its time: every check is answered well, after a while.

use std::time::Duration;

use anyhow::Result;
use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::post;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// Serves for ever; prints its address first.
pub(crate) async fn serve(delay: Duration) -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}", listener.local_addr()?);
    let answer = move |body: String| async move {
        let asked: Value = serde_json::from_str(&body).unwrap_or_default();
        tokio::time::sleep(delay).await;
        let result = match asked["check"].as_str() {
            Some("income") => json!({ "yearly": 85_000 }),
            Some("softCredit") => json!({ "score": 720 }),
            _ => json!({ "found": false }),
        };
        let told = json!({
            "reference": asked["reference"], "check": asked["check"], "status": "complete", "result": result,
        });
        ([(CONTENT_TYPE, "application/json")], told.to_string())
    };
    Ok(axum::serve(listener, Router::new().route("/v1/checks", post(answer))).await?)
}
