//! A bureau behind the protocol of `docs/bureaus.md`: signed JSON over HTTPS.
//!
//! A POST starts the check. A bureau that needs longer responds with 202 and is polled with GET until it is done or
//! the deadline passes. Redirects and proxies from the environment are disabled: requests go to the configured URL or
//! nowhere.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use portico_domain::{Timestamp, endpoints};
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Method, Response, StatusCode, Url};
use secrecy::{ExposeSecret as _, SecretString};
use tokio::time::{Instant, sleep, timeout_at};
use zeroize::Zeroizing;

use self::signing::Signer;
use self::wire::Progress;
use crate::Finding;
use crate::bureau::{Bureau, BureauError, CheckFuture, DEFAULT_MAX_CONCURRENCY, Request};

pub mod signing;
mod wire;

pub const MAX_RESPONSE_BYTES: usize = 64 << 10;
/// How far a response's timestamp may be off.
pub const MAX_CLOCK_SKEW_SECONDS: i64 = 300;
pub const MIN_SECRET_BYTES: usize = 32;
/// Minimum and maximum.
const POLL_INTERVAL: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(5));
const MAX_RETRY_AFTER: Duration = Duration::from_hours(1);

const TIMESTAMP: &str = "portico-timestamp";
const SIGNATURE: &str = "portico-signature";

pub type Now = Arc<dyn Fn() -> Timestamp + Send + Sync>;

#[derive(Debug, Clone)]
pub struct HttpBureauSettings {
    pub name: String,
    /// https, or http on this machine.
    pub url: String,
    /// Shared with the bureau.
    pub secret: SecretString,
    /// Whether responses must be signed.
    pub require_signed_responses: bool,
    pub connect_timeout: Duration,
    /// From connecting to the last byte.
    pub timeout: Duration,
    pub max_concurrency: usize,
}

impl HttpBureauSettings {
    pub fn new(name: impl Into<String>, url: impl Into<String>, secret: SecretString) -> Self {
        Self {
            name: name.into(),
            url: url.into(),
            secret,
            require_signed_responses: true,
            connect_timeout: Duration::from_secs(2),
            timeout: Duration::from_secs(5),
            max_concurrency: DEFAULT_MAX_CONCURRENCY,
        }
    }
}

pub struct HttpBureau {
    settings: HttpBureauSettings,
    checks: Url,
    client: reqwest::Client,
    signer: Signer,
    now: Now,
}

impl HttpBureau {
    /// Returns all invalid settings, each starting with its name.
    pub fn new(settings: HttpBureauSettings, now: Now) -> Result<Self, Vec<String>> {
        let mut faults = Vec::new();
        let checks = address(&settings.url).map_err(|fault| faults.push(format!("url {fault}")));
        if settings.secret.expose_secret().len() < MIN_SECRET_BYTES {
            faults.push(format!("secret must be at least {MIN_SECRET_BYTES} bytes long"));
        }
        let client = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .connect_timeout(settings.connect_timeout)
            .user_agent(concat!("portico/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|_| faults.push("cannot be used: no HTTP client could be made".into()));
        match (checks, client, faults.is_empty()) {
            (Ok(checks), Ok(client), true) => {
                let signer = Signer::new(&settings.secret);
                Ok(Self { settings, checks, client, signer, now })
            }
            _ => Err(faults),
        }
    }

    async fn ask(&self, request: Request<'_>) -> Result<Finding, BureauError> {
        let body = wire::request_body(&request)?;
        let mut progress = self.exchange(Method::POST, &self.checks, body, &request).await?;
        let mut again = self.checks.clone();
        again.set_path(&format!("{}/{}", self.checks.path(), request.reference));
        loop {
            let wait = match progress {
                Progress::Complete(finding) => return Ok(finding),
                Progress::Pending(wait) => wait.clamp(POLL_INTERVAL.0, POLL_INTERVAL.1),
            };
            if Instant::now() + wait >= request.deadline {
                return Err(BureauError::TooSlow);
            }
            sleep(wait).await;
            progress = self.exchange(Method::GET, &again, Bytes::new(), &request).await?;
        }
    }

    /// One request and its response, within the request timeout.
    async fn exchange(
        &self,
        method: Method,
        url: &Url,
        body: Bytes,
        request: &Request<'_>,
    ) -> Result<Progress, BureauError> {
        let until = request.deadline.min(Instant::now() + self.settings.timeout);
        let exchange = async {
            let asked_before = method == Method::GET;
            let response = self.send(method, url, body, request).await?;
            let status = response.status();
            if !matches!(status, StatusCode::OK | StatusCode::ACCEPTED) {
                return Err(self.no_answer(status, response.headers(), asked_before));
            }
            let progress = self.read(response, request).await?;
            match (&progress, status) {
                (Progress::Complete(_), StatusCode::OK) | (Progress::Pending(_), StatusCode::ACCEPTED) => {
                    Ok(progress)
                }
                _ => Err(BureauError::Broken("its HTTP status is not that of its own")),
            }
        };
        timeout_at(until, exchange).await.unwrap_or(Err(BureauError::TooSlow))
    }

    async fn send(
        &self,
        method: Method,
        url: &Url,
        body: Bytes,
        request: &Request<'_>,
    ) -> Result<Response, BureauError> {
        let timestamp = self.seconds().to_string();
        let signature = self.signer.request(&timestamp, method.as_str(), url.path(), &body);
        let mut message = self
            .client
            .request(method, url.clone())
            .header("accept", "application/json")
            .header("idempotency-key", request.reference.as_str())
            .header(TIMESTAMP, timestamp)
            .header(SIGNATURE, signature);
        if !body.is_empty() {
            message = message.header("content-type", "application/json").body(body);
        }
        message.send().await.map_err(|error| transport_error(&error))
    }

    /// The error for a status other than 200 and 202.
    fn no_answer(&self, status: StatusCode, headers: &HeaderMap, asked_before: bool) -> BureauError {
        match status.as_u16() {
            408 => BureauError::TooSlow,
            // 409: the first request with this idempotency key is still running.
            409 | 425 | 429 => BureauError::Busy { retry_after: self.retry_after(headers) },
            401 | 403 => BureauError::Broken("it does not accept this service's signature"),
            404 | 405 | 410 => BureauError::Broken("it does not know this address or reference"),
            400..=499 if asked_before => BureauError::Broken("it refuses what it had accepted"),
            400..=499 => BureauError::Refused,
            500..=599 => BureauError::Unavailable { retry_after: self.retry_after(headers) },
            300..=399 => BureauError::Broken("it is a redirect"),
            _ => BureauError::Broken("its HTTP status is unknown"),
        }
    }

    /// Reads a response: bounded, and signed unless the settings say otherwise.
    async fn read(&self, mut response: Response, request: &Request<'_>) -> Result<Progress, BureauError> {
        let too_long = BureauError::Broken("it is too long");
        let expected = response.content_length().unwrap_or(0);
        let capacity =
            usize::try_from(expected).ok().filter(|&length| length <= MAX_RESPONSE_BYTES).ok_or(too_long)?;
        let mut body = Zeroizing::new(Vec::with_capacity(capacity));
        while let Some(chunk) = response.chunk().await.map_err(|error| transport_error(&error))? {
            if body.len() + chunk.len() > MAX_RESPONSE_BYTES {
                return Err(too_long);
            }
            body.extend_from_slice(&chunk);
        }
        if self.settings.require_signed_responses {
            self.verify(response.headers(), &body, request)?;
        }
        wire::progress(&body, request)
    }

    fn verify(&self, headers: &HeaderMap, body: &[u8], request: &Request<'_>) -> Result<(), BureauError> {
        let header = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let (Some(timestamp), Some(signature)) = (header(TIMESTAMP), header(SIGNATURE)) else {
            return Err(BureauError::Broken("it is not signed"));
        };
        if !self.signer.verifies(signature, timestamp, request.reference.as_str(), body) {
            return Err(BureauError::Broken("its signature is wrong"));
        }
        let skew = timestamp.parse().ok().and_then(|then: i64| self.seconds().checked_sub(then));
        match skew.and_then(i64::checked_abs) {
            Some(skew) if skew <= MAX_CLOCK_SKEW_SECONDS => Ok(()),
            _ => Err(BureauError::Broken("it was signed at another time")),
        }
    }

    /// In seconds or as a date.
    fn retry_after(&self, headers: &HeaderMap) -> Option<Duration> {
        let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
        let seconds = value.parse().ok().or_else(|| {
            let date = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(value).ok()?;
            Some(u64::try_from(date.as_second().saturating_sub(self.seconds())).unwrap_or(0))
        })?;
        Some(Duration::from_secs(seconds).min(MAX_RETRY_AFTER))
    }

    fn seconds(&self) -> i64 {
        (self.now)().micros().div_euclid(1_000_000)
    }
}

impl Bureau for HttpBureau {
    fn name(&self) -> &str {
        &self.settings.name
    }

    fn check<'a>(&'a self, request: Request<'a>) -> CheckFuture<'a> {
        Box::pin(self.ask(request))
    }

    fn max_concurrency(&self) -> usize {
        self.settings.max_concurrency
    }
}

/// Drops the HTTP client's message: it may contain addresses.
fn transport_error(error: &reqwest::Error) -> BureauError {
    if error.is_timeout() { BureauError::TooSlow } else { BureauError::Unavailable { retry_after: None } }
}

/// The URL of the checks below the bureau's base URL.
fn address(base: &str) -> Result<Url, &'static str> {
    let mut url =
        Url::parse(base).map_err(|_| "must be an address, such as https://bureau.example/portico")?;
    endpoints::check_secure(base)?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err("must not hold a user or a password");
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("must not hold a query or a fragment");
    }
    let path = format!("{}/v1/checks", url.path().trim_end_matches('/'));
    url.set_path(&path);
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_https_or_on_this_machine() {
        for (base, checks) in [
            ("https://bureau.example", "https://bureau.example/v1/checks"),
            ("https://bureau.example/portico/", "https://bureau.example/portico/v1/checks"),
            ("http://127.0.0.1:9000", "http://127.0.0.1:9000/v1/checks"),
            ("http://[::1]:9000", "http://[::1]:9000/v1/checks"),
            ("http://localhost/x", "http://localhost/x/v1/checks"),
        ] {
            assert_eq!(address(base).unwrap().as_str(), checks);
        }
        for wrong in [
            "bureau.example",
            "http://bureau.example",
            "http://127.0.0.1.example",
            "http://localhost.example",
            "ftp://127.0.0.1",
            "https://user:word@bureau.example",
            "https://bureau.example/?key=1",
            "https://bureau.example/#x",
        ] {
            assert!(address(wrong).is_err(), "{wrong}");
        }
    }
}
