//! API keys: 256 random bits, shown once, stored as a digest, compared in constant time.

use std::sync::Arc;

use std::time::Duration;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::digest::{SHA256, digest};
use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine};
use portico_domain::keys::{Key, KeyScope};
use portico_domain::{ErrorCode, KeyId, Label, UserId};
use portico_store::{CreateKey, RevokeKey, StoredKey};
use serde::{Deserialize, Serialize};

use crate::access::{require_operator, signed_in};
use crate::core::answering;
use crate::tokens::NewToken;
use crate::vault::ROOT_BYTES;
use crate::{Actor, Call, Core, Error, Profile, Result};

const NOT_VALID: Error = Error::Unauthenticated("the API key is not valid");

/// The secret is shown only once.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NewKey {
    pub id: KeyId,
    /// The whole key, as clients present it.
    pub secret: String,
}

/// Active keys per user or account.
const MAX_KEYS: i64 = 100;
const SESSION_LIFETIME: Duration = Duration::from_hours(12);

/// Credentials for any user of the sandbox.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Session {
    pub token: String,
    /// Bound to the user.
    pub key: NewKey,
}

fn sha256(text: &str) -> Vec<u8> {
    digest(&SHA256, text.as_bytes()).as_ref().to_vec()
}

#[derive(Debug)]
pub struct Keys {
    pub(crate) core: Arc<Core>,
}

impl Keys {
    /// Users create keys for themselves, the operator for everyone.
    pub async fn create(&self, call: &Call, name: Label, scope: KeyScope) -> Result<NewKey> {
        match (&call.actor, &scope) {
            (Actor::User { user: own, .. }, KeyScope::User(user)) if own == user => {}
            (actor, _) => require_operator(actor)?,
        }
        // The sandbox creates a key per session, so it has no limit.
        let limit = (self.core.profile == Profile::Live).then_some(MAX_KEYS);
        let (op, key) = self.new_key(call, name, scope, limit)?;
        let bound = match &op.key.key.scope {
            KeyScope::Operator => "to nobody".to_owned(),
            KeyScope::Account(account) => format!("to account {account}"),
            KeyScope::User(user) => format!("to user {user}"),
        };
        let entry = Some(self.core.entry(call, "key.created", key.id.as_str(), bound));
        self.core.write(call, answering(CreateKey { entry, ..op }, key)).await
    }

    /// The sandbox's sign-in: a token and a key for any user.
    pub async fn open_session(&self, call: &Call, user: UserId) -> Result<Session> {
        if self.core.profile != Profile::Sandbox {
            return Err(Error::NotFound(ErrorCode::NotFound));
        }
        let token = NewToken { user: user.clone(), account: None, admin: false, ttl: SESSION_LIFETIME };
        let token = self.core.tokens.issue(&token, self.core.clock.machine_now())?;
        let (op, key) = self.new_key(call, Label::stored("Sandbox session"), KeyScope::User(user), None)?;
        self.core.write(call, answering(op, Session { token, key })).await
    }

    fn new_key(
        &self,
        call: &Call,
        name: Label,
        scope: KeyScope,
        limit: Option<i64>,
    ) -> Result<(CreateKey, NewKey)> {
        let id = format!("{:016x}", u64::from_be_bytes(self.core.random()?));
        let mode = self.core.profile.key_prefix();
        let secret =
            format!("{mode}_{id}_{}", BASE64_URL_SAFE_NO_PAD.encode(self.core.random::<ROOT_BYTES>()?));
        let id = KeyId::stored(id);
        let by = self.core.machine_context(call);
        let key = Key { id: id.clone(), name, scope, created_at: by.at, revoked_at: None };
        let op = CreateKey { key: StoredKey { digest: sha256(&secret), key }, limit, entry: None, by };
        Ok((op, NewKey { id, secret }))
    }

    pub async fn own(&self, call: &Call) -> Result<Vec<Key>> {
        let (user, _) = signed_in(&call.actor)?;
        Ok(self.core.db.keys(Some(user)).await?)
    }

    pub async fn all(&self, call: &Call) -> Result<Vec<Key>> {
        require_operator(&call.actor)?;
        Ok(self.core.db.keys(None).await?)
    }

    /// Users may revoke only their own keys.
    pub async fn revoke(&self, call: &Call, id: KeyId) -> Result<()> {
        if !call.actor.is_operator() {
            let (user, _) = signed_in(&call.actor)?;
            let key = self.core.db.key(&id).await?;
            if !key.is_some_and(|stored| stored.key.scope == KeyScope::User(user.clone())) {
                return Err(Error::NotFound(ErrorCode::KeyNotFound));
            }
        }
        let (by, entry) =
            (self.core.machine_context(call), self.core.entry(call, "key.revoked", id.as_str(), ""));
        self.core.write(call, RevokeKey { id, entry, by }).await
    }

    pub async fn verify_token(&self, token: &str) -> Result<Actor> {
        self.core.tokens.verify(token, self.core.clock.machine_now()).await
    }

    /// The public keys of the instance's own issuer.
    pub fn jwks(&self) -> serde_json::Value {
        self.core.tokens.jwks()
    }

    /// Rejects invalid and revoked keys.
    pub async fn verify(&self, presented: &str) -> Result<Actor> {
        // A sandbox gives keys to anyone, so none of them works on a live instance.
        let (prefix, rest) = presented.split_once('_').ok_or(NOT_VALID)?;
        if prefix != self.core.profile.key_prefix() {
            return Err(NOT_VALID);
        }
        let id = rest.split('_').next().ok_or(NOT_VALID)?;
        let id = KeyId::parse(id).map_err(|_| NOT_VALID)?;
        let stored = self.core.db.key(&id).await?.ok_or(NOT_VALID)?;
        verify_slices_are_equal(&stored.digest, &sha256(presented)).map_err(|_| NOT_VALID)?;
        match stored.key.revoked_at {
            None => Ok(Actor::Key { id: stored.key.id, scope: stored.key.scope }),
            Some(_) => Err(NOT_VALID),
        }
    }
}
