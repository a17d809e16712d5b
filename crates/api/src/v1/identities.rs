//! `/v1/identities`: a token, its wallet and its end.

use axum::http::header::HOST;
use portico_app::Profile;
use portico_app::claims::{ClaimMessage, Holder, Identity};
use portico_domain::{ClaimNonce, Timestamp, WalletId, WalletSignature};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::access::{BEARER, SIGNED_IN};
use crate::input::{Input, Reader, WalletAddress};
use crate::operation::{Context, Operation, delete, get, post, with_tag};
use crate::problem::{Problem, Result};
use crate::reply::{Json, Message, message};

pub(crate) fn operations() -> Vec<Operation> {
    with_tag("Screening", vec![
        get("/v1/identities/{tokenId}", BEARER, read)
            .id("getIdentity")
            .about("No name and no finding is in it.")
            .summary("One of the caller's tokens: who holds it, and which wallet may claim it")
            .not_found("The caller has no such token"),
        get("/v1/identities/{tokenId}/claim", BEARER, begin_claim)
            .id("beginClaim")
            .about("The message is valid for a short time and for one signature.")
            .summary("The message (EIP-4361) that a wallet signs to become the token's holder; it replaces earlier ones")
            .not_found("The caller has no such token")
            .conflict("The token was revoked"),
        post("/v1/identities/{tokenId}/claim", BEARER, claim)
            .id("claimIdentity")
            .about("The signature is checked as that of an account, or by the wallet's contract (ERC-1271).")
            .summary("Makes the wallet that signed the message the token's holder. A signature of another key is 403 `signature_invalid`")
            .not_found("The caller has no such token")
            .conflict("The message is not the last one, has expired or was used; or the token was revoked"),
        delete("/v1/identities/{tokenId}", SIGNED_IN, revoke)
            .id("revokeIdentity")
            .about("For the person whose token it is, and the operator.")
            .summary("Revokes a token, for good; validating it fails from then on")
            .not_found("The caller has no such token"),
    ])
}

/// A token, for its owner.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Identity)]
struct IdentityOut {
    token_id: String,
    case_id: String,
    /// Whether the token was revoked; then nobody holds it
    revoked: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    holder: Option<HolderOut>,
    /// The wallet that the case names, until it is claimed
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "0x52908400098527886E0F7030069857D2E4169EE7")]
    wished_wallet: Option<String>,
}

/// Who holds a token, or will as soon as the chain has caught up.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Holder)]
struct HolderOut {
    /// `custody`: an address that is kept here; `wallet`: the owner's wallet
    kind: HolderKind,
    #[schema(example = "0x52908400098527886E0F7030069857D2E4169EE7")]
    address: String,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum HolderKind {
    Custody,
    Wallet,
}

impl From<Identity> for IdentityOut {
    fn from(identity: Identity) -> Self {
        Self {
            token_id: identity.token,
            case_id: identity.case.into(),
            revoked: identity.holder.is_none(),
            holder: identity.holder.map(Into::into),
            wished_wallet: identity.wished_wallet,
        }
    }
}

impl From<Holder> for HolderOut {
    fn from(holder: Holder) -> Self {
        match holder {
            Holder::Custody(address) => Self { kind: HolderKind::Custody, address },
            Holder::Wallet(address) => Self { kind: HolderKind::Wallet, address },
        }
    }
}

fn token(from: &mut Reader<'_>) -> Option<WalletId> {
    from.path("tokenId", "The token's number")
}

struct Read(WalletId);

impl Input for Read {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        token(from).map(Self)
    }
}

async fn read(cx: Context, Read(token): Read) -> Result<Json<IdentityOut>> {
    Ok(Json(cx.app().identities.identity(&cx.call, token.as_str()).await?.into()))
}

struct BeginClaim {
    token: WalletId,
    address: Option<WalletAddress>,
}

impl Input for BeginClaim {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let token = token(from);
        let address = from.query("address", "The wallet; the one that the case names, if it is left out");
        Some(Self { token: token?, address })
    }
}

/// A message for a wallet to sign with `personal_sign`.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ClaimMessage)]
struct ClaimMessageOut {
    /// Sign exactly this text
    message: String,
    /// To be sent with the signature
    nonce: String,
    #[schema(value_type = String, format = DateTime)]
    expires_at: Timestamp,
}

impl From<ClaimMessage> for ClaimMessageOut {
    fn from(ClaimMessage { message, nonce, expires_at }: ClaimMessage) -> Self {
        Self { message, nonce, expires_at }
    }
}

async fn begin_claim(
    cx: Context,
    BeginClaim { token, address }: BeginClaim,
) -> Result<Json<ClaimMessageOut>> {
    let domain = domain(&cx)?;
    let wallet = address.map(|WalletAddress(address)| address);
    Ok(Json(cx.app().identities.begin_claim(&cx.call, token.as_str(), wallet, &domain).await?.into()))
}

/// The host for the message, which the host check has accepted. A live instance needs `--allow-host` for that:
/// otherwise a caller could ask for a message in the name of a foreign page, and have a stranger sign it there.
fn domain(cx: &Context) -> Result<String> {
    let is_open = cx.service.hosts.admit_any();
    if is_open && cx.app().profile() == Profile::Live {
        return Err(Problem::unavailable("wallets can claim tokens only if --allow-host names this host"));
    }
    let host = cx.headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
    if host.is_empty() || !host.bytes().all(is_plain) {
        return Err(Problem::unavailable("the Host header is not an authority"));
    }
    Ok(host.to_ascii_lowercase())
}

struct Claim {
    token: WalletId,
    nonce: ClaimNonce,
    signature: WalletSignature,
}

impl Input for Claim {
    const BODY: bool = true;
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let token = token(from);
        let mut body = from.body();
        let nonce = body.required("nonce", "The nonce of the message");
        let signature = body.required(
            "signature",
            "65 bytes by a key (EIP-191), or what the contract account takes (EIP-1271)",
        );
        Some(Self { token: token?, nonce: nonce?, signature: signature? })
    }
    fn example() -> Option<Value> {
        Some(
            json!({"nonce": "0f6d3a0c92b84e570f6d3a0c92b84e57", "signature": format!("0x{}", "1b".repeat(65))}),
        )
    }
}

async fn claim(cx: Context, Claim { token, nonce, signature }: Claim) -> Result<Json<IdentityOut>> {
    Ok(Json(cx.app().identities.claim(&cx.call, token.as_str(), &nonce, &signature).await?.into()))
}

struct Revoke(WalletId);

impl Input for Revoke {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        token(from).map(Self)
    }
}

async fn revoke(cx: Context, Revoke(token): Revoke) -> Result<Json<Message>> {
    cx.app().identities.revoke(&cx.call, token.as_str()).await?;
    Ok(Json(message("Identity revoked")))
}
