//! Chain identifiers: one soulbound token per case. Its name commitment lets anybody who knows a result's id and both
//! names check them against the chain, and reveals nothing to others.

use std::sync::Arc;

use alloy_primitives::Address;
use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::hmac;
use portico_chain::{custody, reads};
use portico_domain::{CaseId, ErrorCode, VerificationId, WalletId, names};
use portico_records::{ItemKind, token_commitment, token_key};
use portico_store::audit::Entry;
use portico_store::chain::Word;
use portico_store::screening::{
    Case, CaseSelector, FinishGuess, Guess, Lifetime, Mint, NewCase, OpenCase, RevokeIdentity,
    StoredVerification, TakeGuess,
};

use crate::caller::CallContext;
use crate::core::Core;
use crate::error::{Error, Result};
use crate::people::access::signed_in;
use crate::people::keystore::PersonKey;
use crate::screening::results::outcome;
use crate::screening::wished_wallets::{address_of, sealed_wish};

/// Wrong names that may be tried on one result within [`GUESS_WINDOW_SECONDS`]: by one caller, and by all together.
pub(crate) const MAX_GUESSES_PER_CALLER: i64 = 5;
pub(crate) const MAX_GUESSES: i64 = 50;
pub(crate) const GUESS_WINDOW_SECONDS: i64 = 60 * 60;
pub(crate) const NO_SUCH_IDENTITY: Error = Error::NotFound(ErrorCode::IdentityNotFound);

/// The decimal token id of the specification.
pub(crate) fn token_number(token: &[u8; 16]) -> String {
    u128::from_be_bytes(*token).to_string()
}

/// The sealing context of a case's secret.
fn secret_context(case: &CaseId) -> [&[u8]; 3] {
    [b"cases", case.as_str().as_bytes(), b"secret"]
}

/// The commitment to a name under a case's secret; zero if a name is missing or the secret is erased.
pub(crate) fn commitment(
    key: &PersonKey,
    case: &Case,
    first: Option<&str>,
    last: Option<&str>,
) -> Result<Word> {
    let (Some(secret), Some(first), Some(last)) = (&case.secret, first, last) else {
        return Ok(Word::default());
    };
    let secret = key.open(&secret_context(&case.id), secret)?;
    let mut context = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, &secret));
    for name in [names::folded(first), names::folded(last)] {
        context.update(&(name.len() as u64).to_be_bytes());
        context.update(name.as_bytes());
    }
    let mut commitment = Word::default();
    commitment.copy_from_slice(context.sign().as_ref());
    Ok(commitment)
}

#[derive(Debug)]
pub struct Identities {
    pub(crate) core: Arc<Core>,
}

impl Identities {
    /// Returns the case's token, minting it on first use. Retries and other wallets get the same token.
    pub async fn create(&self, call: &CallContext, case: CaseId, wallet: &WalletId) -> Result<String> {
        let (user, _) = signed_in(&call.actor)?;
        self.core.remember_tenant(&call.actor).await?;
        let (key, lifetime) = self.core.person_key(user).await?;
        let case = self.core.open_case(call, Some(case), Some(wallet), (&key, lifetime)).await?;
        // A token that exists already is not minted again.
        let item = self.core.db.chain_item_state(ItemKind::Identity, &token_key(&case.token)).await?;
        let mint = Mint { case: case.id.clone(), at: self.core.clock.now() };
        self.core.write_recorded(call, mint, usize::from(item.is_none())).await?;
        self.core.chain.wake();
        Ok(token_number(&case.token))
    }

    /// Returns a result's token to callers who know both names.
    pub async fn validate(
        &self,
        call: &CallContext,
        id: VerificationId,
        first: &str,
        last: &str,
    ) -> Result<String> {
        let (caller, _) = signed_in(&call.actor)?;
        let Some(verification) = self.core.db.verification(&id).await? else {
            // The id may be anything, even a name, so the audit log does not contain it.
            self.core
                .append_audit_entry(self.core.entry(
                    call,
                    "identity.not_validated",
                    "",
                    "no such verification",
                ))
                .await?;
            return Err(NO_SUCH_IDENTITY);
        };
        let case = self.core.db.case(&verification.case).await?.ok_or(NO_SUCH_IDENTITY)?;
        let entry = |action| self.core.entry(call, action, id.as_str(), token_number(&case.token));
        let now = self.core.clock.now();
        let guess = Guess { verification: id.clone(), caller: caller.as_str().into(), at: now };
        let since = now.minus_seconds(GUESS_WINDOW_SECONDS);
        let refused = entry("identity.validation_refused");
        let Some(place) = self
            .core
            .db
            .write(TakeGuess {
                guess,
                limit_per_caller: MAX_GUESSES_PER_CALLER,
                limit: MAX_GUESSES,
                since,
                refused,
            })
            .await?
        else {
            return Err(Error::TooMany {
                code: ErrorCode::TooManyGuesses,
                retry_after: GUESS_WINDOW_SECONDS.unsigned_abs(),
            });
        };
        let outcome = self.names_match(call, &verification, &case, first, last).await;
        // An error on our side does not count as a wrong guess.
        let (is_correct, action) = match &outcome {
            Ok(true) => (true, "identity.validated"),
            Ok(false) => (false, "identity.not_validated"),
            Err(_) => (true, "identity.validation_failed"),
        };
        self.core.db.write(FinishGuess { place, is_correct, entry: entry(action) }).await?;
        if outcome? { Ok(token_number(&case.token)) } else { Err(NO_SUCH_IDENTITY) }
    }

    /// Whether the token carries this name, and a check of the result that is still valid was passed under it.
    async fn names_match(
        &self,
        call: &CallContext,
        verification: &StoredVerification,
        case: &Case,
        first: &str,
        last: &str,
    ) -> Result<bool> {
        let key = self.core.keystore()?.person(&verification.user).await?;
        let (None, Some(key)) = (case.revoked_at, key) else { return Ok(false) };
        let claimed = commitment(&key, case, Some(first), Some(last))?;
        if outcome(&key, verification)?.checks_backing(&claimed, self.core.clock.now()).is_empty() {
            return Ok(false);
        }
        let (node, contracts) = self.core.chain.reader()?;
        let token = token_key(&case.token);
        let read = || reads::identity(node, contracts, &token);
        let Some((_, committed)) = self.core.on_chain(call, ItemKind::Identity, &token, read).await? else {
            return Ok(false);
        };
        let is_set = committed != Word::default();
        Ok(is_set && verify_slices_are_equal(&claimed, &committed).is_ok())
    }

    /// For the token's owner and the operator.
    pub async fn revoke(&self, call: &CallContext, token: &str) -> Result<()> {
        let token = token.parse::<u128>().map_err(|_| NO_SUCH_IDENTITY)?.to_be_bytes();
        let case = self.core.db.case_of_token(&token).await?.ok_or(NO_SUCH_IDENTITY)?;
        match self.core.may_act_for(&call.actor, &case.user).await {
            // Indistinguishable from a missing token.
            Err(Error::Forbidden(_)) => return Err(NO_SUCH_IDENTITY),
            allowed => allowed?,
        }
        let entry: Entry = self.core.entry(call, "identity.revoked", token_number(&token), "");
        let by = self.core.context(call);
        self.core.db.write(RevokeIdentity { token, entry, by }).await?;
        self.core.chain.wake();
        Ok(())
    }
}

impl Core {
    /// The commitment of a case's token as it is or will be on the chain; `None` if it has no name or was revoked.
    pub(crate) async fn committed_name(&self, case: &Case) -> Result<Option<Word>> {
        let item = self.db.chain_item(ItemKind::Identity, &token_key(&case.token)).await?;
        let Some(item) = item.filter(|_| case.revoked_at.is_none()) else { return Ok(None) };
        Ok(token_commitment(&item.payload)?.filter(|commitment| *commitment != Word::default()))
    }

    /// A new token's holder: a custody address at a random index. A wallet has to claim the token.
    async fn new_holder(&self) -> Result<(Address, i64)> {
        let seed = self.keystore()?.custody_seed(self.clock.now()).await?;
        let place = u64::from_be_bytes(self.random()?) >> 2;
        Ok((custody::address(&seed, place)?, place.cast_signed()))
    }

    /// Finds the caller's case, or opens one with a new token.
    pub(crate) async fn open_case(
        &self,
        call: &CallContext,
        case: Option<CaseId>,
        wallet: Option<&WalletId>,
        (key, lifetime): (&PersonKey, Lifetime),
    ) -> Result<Case> {
        let (user, tenant) = signed_in(&call.actor)?;
        let of = if case.is_some() { CaseSelector::Named } else { CaseSelector::Generated };
        let id: CaseId = self.new_id();
        let name = case.unwrap_or_else(|| id.clone());
        let wallet = address_of(wallet)?;
        let (holder, custody) = self.new_holder().await?;
        let secret = key.seal(&secret_context(&id), &self.random::<32>()?)?;
        let mut token = self.random::<16>()?;
        // The contract rejects token 0.
        token[15] |= 1;
        let entry = self.entry(call, "case.opened", name.as_str(), token_number(&token));
        let case = Case {
            wished_wallet: wallet.map(|wallet| sealed_wish(key, &id, wallet)).transpose()?,
            id,
            name: Some(name),
            tenant: Some(tenant.clone()),
            user: user.clone(),
            token,
            holder: holder.into_array(),
            custody: Some(custody),
            secret: Some(secret),
            revoked_at: None,
        };
        let open = OpenCase { new: NewCase { case, of }, lifetime, entry, by: self.context(call) };
        let mut case = self.db.write(open).await?;
        if let Some(wallet) = wallet.filter(|_| case.token != token) {
            self.wish_wallet(key, &mut case, wallet).await?;
        }
        Ok(case)
    }
}
