//! Single requests to the server, besides the load that wrk makes.

use anyhow::Result;
use reqwest::header::{CONTENT_TYPE, HeaderName};
use reqwest::{Client, Response};

#[derive(Clone)]
pub(super) struct Http {
    client: Client,
    url: String,
}

impl Http {
    pub(super) fn new(url: &str) -> Result<Self> {
        Ok(Self { client: Client::builder().no_proxy().build()?, url: url.to_owned() })
    }

    /// Reads a body to its end without keeping it; any status but success is an error.
    pub(super) async fn get(&self, path: &str) -> Result<()> {
        discard(self.client.get(format!("{}{path}", self.url)).send().await?).await
    }

    /// Posts JSON; any status but success is an error.
    pub(super) async fn post(
        &self,
        path: &str,
        credentials: Option<(HeaderName, &str)>,
        body: String,
    ) -> Result<()> {
        let mut request =
            self.client.post(format!("{}{path}", self.url)).header(CONTENT_TYPE, "application/json");
        if let Some((name, value)) = credentials {
            request = request.header(name, value);
        }
        discard(request.body(body).send().await?).await
    }
}

async fn discard(response: Response) -> Result<()> {
    let mut response = response.error_for_status()?;
    while response.chunk().await?.is_some() {}
    Ok(())
}
