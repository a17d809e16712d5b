//! The permission table, written by hand: who may call which operation, in which profile.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Caller {
    Nobody,
    WrongBearer,
    WrongKey,
    OtherBearer,
    OwnerBearer,
    OtherKey,
    OwnerKey,
    OperatorKey,
    AdminBearer,
}

/// In the order of the verdicts.
pub(super) const CALLERS: [Caller; 9] = [
    Caller::Nobody,
    Caller::WrongBearer,
    Caller::WrongKey,
    Caller::OtherBearer,
    Caller::OwnerBearer,
    Caller::OtherKey,
    Caller::OwnerKey,
    Caller::OperatorKey,
    Caller::AdminBearer,
];

/// The expected response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Yes,
    /// 401
    Unauthorized,
    /// 403
    Forbidden,
    /// 404, to hide the resource.
    NotFound,
    /// 409: the caller may do it, but it contradicts the resource.
    Conflict,
}
use Verdict::{Conflict, Forbidden, NotFound, Unauthorized, Yes};

impl Verdict {
    pub(super) fn allows(self, status: u16) -> bool {
        match self {
            Yes => (200..300).contains(&status),
            Unauthorized => status == 401,
            Forbidden => status == 403,
            NotFound => status == 404,
            Conflict => status == 409,
        }
    }
}

type Verdicts = [Verdict; 9];

// In the order of CALLERS.
const OPEN: Verdicts = [Yes, Unauthorized, Unauthorized, Yes, Yes, Yes, Yes, Yes, Yes];
const OPEN_OR_OWN: Verdicts = [Yes, Unauthorized, Unauthorized, Forbidden, Yes, Forbidden, Yes, Yes, Yes];
const OWN: Verdicts = [Unauthorized, Unauthorized, Unauthorized, Forbidden, Yes, Forbidden, Yes, Yes, Yes];
const BEARER: Verdicts =
    [Unauthorized, Unauthorized, Unauthorized, Yes, Yes, Unauthorized, Unauthorized, Unauthorized, Yes];
const OWN_BEARER: Verdicts =
    [Unauthorized, Unauthorized, Unauthorized, Forbidden, Yes, Unauthorized, Unauthorized, Unauthorized, Yes];
const OWN_HIDDEN_BEARER_OR_OPERATOR: Verdicts =
    [Unauthorized, Unauthorized, Unauthorized, NotFound, Yes, Unauthorized, Unauthorized, Yes, Yes];
const ONLY_OWN_HIDDEN_BEARER: Verdicts = [
    Unauthorized,
    Unauthorized,
    Unauthorized,
    NotFound,
    Yes,
    Unauthorized,
    Unauthorized,
    Unauthorized,
    NotFound,
];
const ONLY_OWN_BEARER: Verdicts = [
    Unauthorized,
    Unauthorized,
    Unauthorized,
    Forbidden,
    Yes,
    Unauthorized,
    Unauthorized,
    Unauthorized,
    Forbidden,
];
/// Without a report even the owner checks no name.
const NAME_CHECK: Verdicts =
    [Unauthorized, Unauthorized, Unauthorized, Forbidden, Conflict, Forbidden, Conflict, Conflict, Conflict];
/// Nothing is attested yet.
const PROOF: Verdicts = [
    Unauthorized,
    Unauthorized,
    Unauthorized,
    Forbidden,
    NotFound,
    Unauthorized,
    Unauthorized,
    Unauthorized,
    Forbidden,
];
/// Without a wallet's message even the owner claims nothing.
const CLAIM: Verdicts = [
    Unauthorized,
    Unauthorized,
    Unauthorized,
    NotFound,
    Conflict,
    Unauthorized,
    Unauthorized,
    Unauthorized,
    NotFound,
];
const OWN_HIDDEN: Verdicts =
    [Unauthorized, Unauthorized, Unauthorized, NotFound, Yes, NotFound, Yes, Yes, Yes];
const KEY: Verdicts =
    [Unauthorized, Unauthorized, Unauthorized, Unauthorized, Unauthorized, Yes, Yes, Yes, Unauthorized];
const OWN_KEY: Verdicts =
    [Unauthorized, Unauthorized, Unauthorized, Unauthorized, Unauthorized, Forbidden, Yes, Yes, Unauthorized];
const OPEN_OR_OPERATOR: Verdicts =
    [Yes, Unauthorized, Unauthorized, Forbidden, Forbidden, Forbidden, Forbidden, Yes, Yes];
const OPERATOR: Verdicts =
    [Unauthorized, Unauthorized, Unauthorized, Forbidden, Forbidden, Forbidden, Forbidden, Yes, Yes];

/// A request and who may make it. `$…` is a placeholder for a resource of the owner, created anew for every call.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) operation: &'static str,
    pub(super) path: &'static str,
    pub(super) body: &'static str,
    pub(super) sandbox: Verdicts,
    /// `None`: the operation does not exist.
    pub(super) live: Option<Verdicts>,
}

fn row(
    operation: &'static str,
    path: &'static str,
    body: &'static str,
    sandbox: Verdicts,
    live: Verdicts,
) -> Row {
    Row { operation, path, body, sandbox, live: Some(live) }
}

const LISTING: &str = r#"{"listingId":"$new","userId":"$owner","streetAddress":"1 Oak","city":"Austin","state":"TX","postalCode":"1"}"#;
const ON_CHAIN: &str = r#"{"id":"$new","userId":"$owner","addressStreet":"1 Oak","addressCity":"Austin","addressState":"TX","addressPostal":"1","monthlyPayment":1}"#;
const RECORD: &str = r#"{"listingId":"$record","applicantId":2,"requirementsMet":[]}"#;
const APPLICATION: &str = r#"{"userId":"$owner","listingIds":["$offered"]}"#;
const TEMPLATE: &str = r#"{"name":"T","riskLevel":"Moderate"}"#;
const PORTFOLIO: &str = r#"{"userId":"$owner","riskLevel":"Moderate","isCustom":true}"#;
const APPLICANT: &str =
    r#"{"FirstName":"Ada","LastName":"Lovelace","DateOfBirth":"1990-12-10","consentVersion":"2026-01"}"#;
const DEVICE: &str = r#"{"userId":"$owner","network":"N","deviceIdentifier":"$new"}"#;
const DEVICES: &str = r#"{"userId":"$owner","devices":[{"network":"N","deviceIdentifier":"$new"}]}"#;

#[rustfmt::skip]
#[expect(clippy::too_many_lines, reason = "a row for each operation")]
pub(super) fn rows() -> Vec<Row> {
    let mut rows = vec![
        row("GET /listings", "/listings?listingId=$listing", "", OPEN, OPEN),
        row("POST /listings", "/listings", LISTING, OPEN_OR_OWN, OWN),
        row("DELETE /listings/{listingId}", "/listings/$listing", "", OPEN_OR_OWN, OWN),

        row("GET /verificationPipeline", "/verificationPipeline?accountId=$owner", "", OWN_BEARER, OWN_BEARER),
        row("POST /verificationPipeline", "/verificationPipeline", r#"{"EvictionCheck":true}"#, BEARER, BEARER),

        row("POST /verifyRentalRequirements", "/verifyRentalRequirements?caseId=$new", APPLICANT, BEARER, BEARER),
        row("GET /chainIdentityInd", "/chainIdentityInd?Id=$verified&FirstName=Ada&LastName=Lovelace", "", BEARER, BEARER),
        row("POST /chainIdentityInd", "/chainIdentityInd?caseId=$new&walletId=w", "", BEARER, BEARER),

        row("POST /requirements", "/requirements", RECORD, OPEN, OPERATOR),
        row("GET /requirements/{listingId}/{applicantId}", "/requirements/$record/1", "", OPEN, OPERATOR),

        row("POST /applications", "/applications", APPLICATION, OWN, OWN),
        row("GET /applications/{userId}", "/applications/$owner", "", OWN, OWN),
        row("POST /applications/{userId}/{listingId}/check", "/applications/$owner/$offered/check", APPLICATION, OPEN_OR_OWN, OWN),

        row("GET /applications/{userId}/{listingId}/check", "/applications/$owner/oak/check", "", OPEN_OR_OWN, OWN),

        row("POST /stage/listings", "/stage/listings", ON_CHAIN, OWN_KEY, OWN_KEY),
        row("GET /stage/listing/requirements/{ListingKey}", "/stage/listing/requirements/$onchain", "", KEY, KEY),
        row("GET /stage/listing/{ListingKey}", "/stage/listing/$listing", "", KEY, KEY),
        row("DELETE /stage/listing/{ListingKey}", "/stage/listing/$listing", "", OWN_KEY, OWN_KEY),
        row("GET /stage/listings/user/{UserId}", "/stage/listings/user/$owner?x=$listing", "", KEY, KEY),
        row("GET /stage/listings/postal/{postalCode}", "/stage/listings/postal/78701?x=$listing", "", KEY, KEY),
        row("GET /stage/listings/city/{city}", "/stage/listings/city/austin?x=$listing", "", KEY, KEY),
        row("GET /stage/listings/search", "/stage/listings/search?field=ListingId&value=$listing", "", KEY, KEY),
        row("GET /stage/savedListings/{userId}", "/stage/savedListings/$owner", "", OWN_KEY, OWN_KEY),
        row("POST /stage/savedListings", "/stage/savedListings", r#"{"userId":"$owner","listingId":"$new"}"#, OWN_KEY, OWN_KEY),
        row("DELETE /stage/savedListings/{userId}/{listingId}", "/stage/savedListings/$owner/$saved", "", OWN_KEY, OWN_KEY),

        row("POST /v1/user-portfolio", "/v1/user-portfolio", PORTFOLIO, OPEN_OR_OWN, OWN),
        row("POST /v1/user-portfolio/copy/{predefinedPortfolioId}", "/v1/user-portfolio/copy/$template", r#"{"userId":"$owner"}"#, OPEN_OR_OWN, OWN),
        row("GET /v1/user-portfolios/{userId}", "/v1/user-portfolios/$owner", "", OPEN_OR_OWN, OWN),
        row("GET /v1/user-portfolio/{portfolioId}", "/v1/user-portfolio/$portfolio", "", OPEN_OR_OWN, OWN),
        row("GET /v1/user-portfolio/{portfolioId}/history", "/v1/user-portfolio/$portfolio/history", "", OPEN_OR_OWN, OWN),
        row("PUT /v1/user-portfolio/{portfolioId}", "/v1/user-portfolio/$portfolio", r#"{"name":"P"}"#, OPEN_OR_OWN, OWN),
        row("DELETE /v1/user-portfolio/{portfolioId}", "/v1/user-portfolio/$portfolio", "", OPEN_OR_OWN, OWN),
        row("GET /v1/portfolios/stats/overview", "/v1/portfolios/stats/overview", "", OPEN, OPEN),

        row("POST /v1/predefined-portfolio", "/v1/predefined-portfolio", TEMPLATE, OPEN_OR_OPERATOR, OPERATOR),
        row("GET /v1/predefined-portfolios", "/v1/predefined-portfolios?x=$template", "", OPEN, OPEN),
        row("GET /v1/predefined-portfolios/risk/{riskLevel}", "/v1/predefined-portfolios/risk/Moderate?x=$template", "", OPEN, OPEN),
        row("GET /v1/predefined-portfolio/{portfolioId}", "/v1/predefined-portfolio/$template", "", OPEN, OPEN),
        row("PUT /v1/predefined-portfolio/{portfolioId}", "/v1/predefined-portfolio/$template", TEMPLATE, OPEN_OR_OPERATOR, OPERATOR),
        row("DELETE /v1/predefined-portfolio/{portfolioId}", "/v1/predefined-portfolio/$template", "", OPEN_OR_OPERATOR, OPERATOR),

        row("POST /v1/depin-device", "/v1/depin-device", DEVICE, OPEN_OR_OWN, OWN),
        row("POST /v1/depin-devices", "/v1/depin-devices", DEVICES, OPEN_OR_OWN, OWN),
        row("GET /v1/depin-device/{deviceId}", "/v1/depin-device/$device", "", OPEN_OR_OWN, OWN),
        row("DELETE /v1/depin-device/{deviceId}", "/v1/depin-device/$device", "", OPEN_OR_OWN, OWN),
        row("GET /v1/depin-devices/user/{userId}", "/v1/depin-devices/user/$owner", "", OPEN_OR_OWN, OWN),
        row("GET /v1/depin-devices/network/{network}", "/v1/depin-devices/network/N", "", OPEN, OPERATOR),
        row("GET /v1/depin-devices/stats/overview", "/v1/depin-devices/stats/overview", "", OPEN, OPERATOR),

        // Beyond the specification: applicants are for the listing's owner, totals are public, users manage their own keys.
        row("GET /v1/listings/{id}/applicants", "/v1/listings/$listing/applicants", "", OWN, OWN),
        row("GET /v1/listings/{id}", "/v1/listings/$listing", "", OPEN, OPEN),
        row("GET /v1/listings/{id}/conditions", "/v1/listings/$listing/conditions", "", OPEN, OPEN),
        row("PATCH /v1/listings/{id}", "/v1/listings/$listing", r#"{"city":"Dallas"}"#, OPEN_OR_OWN, OWN),
        row("GET /v1/listings/{id}/history", "/v1/listings/$listing/history", "", OPEN, OPEN),
        row("GET /v1/listings/stats/overview", "/v1/listings/stats/overview", "", OPEN, OPEN),
        row("GET /v1/listing-clusters", "/v1/listing-clusters?zoom=3&listingId=$listing", "", OPEN, OPEN),
        row("GET /v1/listings/{id}/proof", "/v1/listings/$onchain/proof", "", OPEN, OPEN),
        row("GET /v1/listings/{id}/records", "/v1/listings/$listing/records", "", OPEN, OPEN),
        row("GET /v1/users/{userId}/applications", "/v1/users/$owner/applications", "", OWN, OWN),
        row("GET /v1/applications/{userId}/{listingId}/records", "/v1/applications/$owner/oak/records", "", OPEN_OR_OWN, OWN),
        row("GET /v1/applications/{userId}/{listingId}", "/v1/applications/$owner/oak", "", OWN, OWN),
        row("DELETE /v1/applications/{userId}/{listingId}", "/v1/applications/$applied", "", ONLY_OWN_BEARER, ONLY_OWN_BEARER),
        row("PUT /v1/applications/{userId}/{listingId}/report", "/v1/applications/$applied/report", "{}", ONLY_OWN_BEARER, ONLY_OWN_BEARER),
        row("GET /v1/applications/{userId}/{listingId}/proof", "/v1/applications/$applied/proof", "", PROOF, PROOF),
        row("POST /v1/applications/{userId}/{listingId}/name-check", "/v1/applications/$applicant/name-check", r#"{"firstName":"Ada","lastName":"Lovelace"}"#, NAME_CHECK, NAME_CHECK),
        row("POST /v1/applications/{userId}/{listingId}/decision", "/v1/applications/$applicant/decision", r#"{"decision":"approved"}"#, OWN, OWN),
        row("GET /v1/consents", "/v1/consents", "", OPEN, OPEN),
        row("GET /v1/consents/{version}", "/v1/consents/2026-01", "", OPEN, OPEN),
        row("GET /v1/pipelines", "/v1/pipelines", "", BEARER, BEARER),
        row("GET /v1/chain/status", "/v1/chain/status", "", OPEN, OPEN),
        row("GET /v1/chain/blocks", "/v1/chain/blocks", "", OPEN, OPEN),
        row("GET /v1/chain/blocks/{number}", "/v1/chain/blocks/0", "", OPEN, OPEN),
        row("GET /v1/listings/{id}/qualification", "/v1/listings/$offered/qualification", "", BEARER, BEARER),
        row("GET /v1/chain/transactions", "/v1/chain/transactions?address=$address", "", OPEN, OPEN),
        row("GET /v1/chain/transactions/{hash}", "/v1/chain/transactions/$transaction", "", OPEN, OPEN),
        row("POST /v1/keys", "/v1/keys", r#"{"name":"k"}"#, BEARER, BEARER),
        row("GET /v1/keys", "/v1/keys", "", BEARER, BEARER),
        row("GET /v1/keys/all", "/v1/keys/all", "", OPERATOR, OPERATOR),
        row("GET /v1/users/{userId}", "/v1/users/$owner", "", OPERATOR, OPERATOR),
        row("GET /v1/audit", "/v1/audit?limit=1", "", OPERATOR, OPERATOR),
        row("GET /v1/audit/verification", "/v1/audit/verification", "", OPERATOR, OPERATOR),
        row("POST /v1/audit/verification", "/v1/audit/verification", "", OPERATOR, OPERATOR),
        row("GET /v1/chain/queue", "/v1/chain/queue", "", OPERATOR, OPERATOR),
        row("POST /v1/chain/queue/retry", "/v1/chain/queue/retry", "", OPERATOR, OPERATOR),
        row("GET /v1/bureaus", "/v1/bureaus", "", OPERATOR, OPERATOR),
        row("GET /v1/configuration", "/v1/configuration", "", OPERATOR, OPERATOR),
        row("DELETE /v1/keys/{id}", "/v1/keys/$key", "", OWN_HIDDEN_BEARER_OR_OPERATOR, OWN_HIDDEN_BEARER_OR_OPERATOR),

        // Results are for the applicant alone; the person or the operator revokes and erases.
        row("GET /v1/verifications", "/v1/verifications", "", BEARER, BEARER),
        row("GET /v1/verifications/{id}", "/v1/verifications/$verified", "", ONLY_OWN_HIDDEN_BEARER, ONLY_OWN_HIDDEN_BEARER),
        row("POST /v1/verifications/{id}/checks/{check}/dispute", "/v1/verifications/$verified/checks/eviction/dispute", "", ONLY_OWN_BEARER, ONLY_OWN_BEARER),
        row("GET /v1/identities/{tokenId}", "/v1/identities/$token", "", ONLY_OWN_HIDDEN_BEARER, ONLY_OWN_HIDDEN_BEARER),
        row("GET /v1/identities/{tokenId}/claim", "/v1/identities/$token/claim?address=0x52908400098527886E0F7030069857D2E4169EE7", "", ONLY_OWN_HIDDEN_BEARER, ONLY_OWN_HIDDEN_BEARER),
        row("POST /v1/identities/{tokenId}/claim", "/v1/identities/$token/claim", r#"{"nonce":"ab","signature":"0x12"}"#, CLAIM, CLAIM),
        row("DELETE /v1/identities/{tokenId}", "/v1/identities/$token", "", OWN_HIDDEN, OWN_HIDDEN),
        row("DELETE /v1/users/{userId}/personal-data", "/v1/users/$person/personal-data", "", OWN_BEARER, OWN_BEARER),

        row("GET /healthz", "/healthz", "", OPEN, OPEN),
        row("GET /readyz", "/readyz", "", OPEN, OPEN),
        row("GET /metrics", "/metrics", "", OPEN, OPERATOR),
        row("GET /openapi.json", "/openapi.json", "", OPEN, OPEN),
        row("GET /.well-known/jwks.json", "/.well-known/jwks.json", "", OPEN, OPEN),
    ];
    let sessions = row("POST /v1/sandbox/sessions", "/v1/sandbox/sessions", r#"{"userId":"$owner"}"#, OPEN, OPEN);
    let demo = row("POST /v1/sandbox/demo", "/v1/sandbox/demo", "", OPEN, OPEN);
    let clock = row("POST /v1/sandbox/clock", "/v1/sandbox/clock", r#"{"advanceSeconds":1}"#, OPEN, OPEN);
    let rpc = row("POST /rpc", "/rpc", r#"{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}"#, [Yes; 9], [Yes; 9]);
    rows.extend([sessions, demo, clock, rpc].map(|row| Row { live: None, ..row }));
    rows
}
