//! Wallets and tokens. A token stays at its custody address until its owner proves control of a wallet: the wallet
//! signs a message (EIP-4361), and then holds the token.
//!
//! The server keeps the hash of the message that it wrote, and verifies the signature against that. It never parses a
//! message of a client.

use alloy_primitives::{Address, B256, eip191_hash_message, hex};
use portico_chain::wallet::{self, Proof};
use portico_domain::{CaseId, ClaimNonce, ErrorCode, FaultCode, Timestamp, ValidationError, WalletSignature};
use portico_store::chain::Word;
use portico_store::screening::{BeginClaim, Case, ClaimIdentity, WalletClaim};
use serde::{Deserialize, Serialize};

use crate::caller::CallContext;
use crate::error::{Error, Result};
use crate::people::access::signed_in;
use crate::people::keystore::PersonKey;
use crate::profile::Profile;
use crate::screening::identities::{Identities, NO_SUCH_IDENTITY, token_number};
use crate::screening::results::{opened, sealed};
use crate::screening::wished_wallets::{non_zero, wished_wallet};

/// How long a message can be signed.
const CLAIM_SECONDS: i64 = 10 * 60;
/// The code of a wallet that is a contract, and a call of it.
const SIGNATURE_READS: usize = 2;
const CLAIM_EXPIRED: Error = Error::Conflict(ErrorCode::ClaimExpired);

/// A token, for its owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    pub token: String,
    pub case: CaseId,
    /// `None`: the token was revoked.
    pub holder: Option<Holder>,
    /// The wallet that the owner named and that has not been claimed.
    pub wished_wallet: Option<String>,
}

/// With its address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holder {
    Custody(String),
    Wallet(String),
}

/// A message for a wallet to sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimMessage {
    pub message: String,
    pub nonce: String,
    pub expires_at: Timestamp,
}

/// What an open claim waits for.
#[derive(Serialize, Deserialize)]
struct SealedClaim {
    wallet: Address,
    /// Of the message (EIP-191).
    hash: B256,
    chain_id: u64,
}

fn claim_context<'a>(token: &'a [u8; 16], nonce: &'a Word) -> [&'a [u8]; 3] {
    [b"wallet_claims", token, nonce]
}

impl Identities {
    /// For the token's owner alone, like claims.
    pub async fn identity(&self, call: &CallContext, token: &str) -> Result<Identity> {
        let (case, key) = self.own_case(call, token).await?;
        let holder = Address::from(case.holder).to_string();
        let holder = if case.custody.is_some() { Holder::Custody(holder) } else { Holder::Wallet(holder) };
        Ok(Identity {
            token: token_number(&case.token),
            wished_wallet: wished_wallet(&key, &case)?.map(|wallet| wallet.to_string()),
            holder: case.revoked_at.is_none().then_some(holder),
            case: case.known_as().clone(),
        })
    }

    /// Writes the message by which a wallet claims a token: the given wallet, or the wished one. It replaces an
    /// earlier message for the token. `domain` is the server's own host, which the wallet compares with the page.
    pub async fn begin_claim(
        &self,
        call: &CallContext,
        token: &str,
        wallet: Option<[u8; 20]>,
        domain: &str,
    ) -> Result<ClaimMessage> {
        let (case, key) = self.own_case(call, token).await?;
        if case.revoked_at.is_some() {
            return Err(Error::Conflict(ErrorCode::IdentityRevoked));
        }
        let parameter = |fault| Error::Parameter { name: "address", fault };
        let wallet = match wallet {
            Some(wallet) => non_zero(wallet.into()).map_err(parameter)?,
            None => wished_wallet(&key, &case)?.ok_or_else(|| {
                parameter(ValidationError::new(
                    FaultCode::Missing,
                    "is required, because the case names no wallet",
                ))
            })?,
        };
        let chain_id = self.core.chain.writer()?.engine().chain_id();
        let (now, nonce) = (self.core.clock.now(), hex::encode(self.core.random::<16>()?));
        let expires_at = now.minus_seconds(-CLAIM_SECONDS);
        let scheme = if self.core.profile == Profile::Live { "https" } else { "http" };
        let token = token_number(&case.token);
        // EIP-4361. The address has its checksum (EIP-55).
        let message = format!(
            "{domain} wants you to sign in with your Ethereum account:\n{wallet}\n\n\
             Make this wallet the holder of the Portico identity token {token}.\n\n\
             URI: {scheme}://{domain}/v1/identities/{token}\nVersion: 1\nChain ID: {chain_id}\nNonce: {nonce}\n\
             Issued At: {now}\nExpiration Time: {expires_at}"
        );
        let claim = SealedClaim { wallet, hash: eip191_hash_message(&message), chain_id };
        let digest = self.nonce_digest(&nonce);
        let claim = WalletClaim {
            token: case.token,
            user: case.user,
            nonce: digest,
            message: sealed(&key, &claim_context(&case.token, &digest), &claim)?,
            expires_at,
        };
        let entry = self.core.entry(call, "identity.claim_begun", token, "");
        self.core.db.write(BeginClaim { claim, entry }).await?;
        Ok(ClaimMessage { message, nonce, expires_at })
    }

    /// Makes the wallet that signed the message the token's holder. The name commitment stays.
    pub async fn claim(
        &self,
        call: &CallContext,
        token: &str,
        nonce: &ClaimNonce,
        signature: &WalletSignature,
    ) -> Result<Identity> {
        let (case, key) = self.own_case(call, token).await?;
        if self.core.claim_replay(call).await? {
            return self.identity(call, token).await;
        }
        if case.revoked_at.is_some() {
            return Err(Error::Conflict(ErrorCode::IdentityRevoked));
        }
        let nonce = self.nonce_digest(nonce.as_str());
        let now = self.core.clock.now();
        let claim = self.core.db.wallet_claim(&case.token, &case.user, &nonce, now).await?;
        let claim = claim.ok_or(CLAIM_EXPIRED)?;
        let claim: SealedClaim = opened(&key, &claim_context(&case.token, &nonce), &claim)?;
        self.check_signature(call, &case, &claim, signature).await?;
        let op = ClaimIdentity {
            token: case.token,
            user: case.user,
            nonce,
            wallet: claim.wallet.into_array(),
            entry: self.core.entry(call, "identity.claimed", token_number(&case.token), ""),
            by: self.core.context(call),
        };
        self.core.write_recorded(call, op, 1).await?;
        self.core.chain.wake();
        self.identity(call, token).await
    }

    async fn check_signature(
        &self,
        call: &CallContext,
        case: &Case,
        claim: &SealedClaim,
        signature: &WalletSignature,
    ) -> Result<()> {
        let (node, _) = self.core.chain.reader()?;
        if claim.chain_id != self.core.chain.writer()?.engine().chain_id() {
            return Err(CLAIM_EXPIRED);
        }
        self.core.charge_chain_reads(call, SIGNATURE_READS).await?;
        let bytes = hex::decode(signature.as_str()).map_err(|error| Error::Bug(error.to_string()))?;
        match wallet::verify(node, claim.wallet, claim.hash, &bytes).await? {
            Proof::Valid => Ok(()),
            Proof::Malformed(why) => {
                let fault = ValidationError::new(FaultCode::NotASignature, why);
                Err(Error::Invalid { pointer: "/signature", fault })
            }
            Proof::Foreign => {
                let entry = self.core.entry(call, "identity.claim_refused", token_number(&case.token), "");
                self.core.append_audit_entry(entry).await?;
                Err(Error::Refused(ErrorCode::SignatureInvalid))
            }
        }
    }

    fn nonce_digest(&self, nonce: &str) -> Word {
        self.core.vault.digest(&[b"wallet claim", nonce.as_bytes()])
    }

    /// The caller's case of a token. Other people's tokens are indistinguishable from missing ones.
    async fn own_case(&self, call: &CallContext, token: &str) -> Result<(Case, PersonKey)> {
        let (user, _) = signed_in(&call.actor)?;
        let token = token.parse::<u128>().map_err(|_| NO_SUCH_IDENTITY)?.to_be_bytes();
        let case = self.core.db.case_of_token(&token).await?.filter(|case| case.user == *user);
        let case = case.ok_or(NO_SUCH_IDENTITY)?;
        let key = self.core.keystore()?.person(user).await?.ok_or(NO_SUCH_IDENTITY)?;
        Ok((case, key))
    }
}
