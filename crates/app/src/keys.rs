//! API keys: made from 256 random bits, shown once, kept as a digest, compared in constant time.

use std::time::Duration;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::digest::{SHA256, digest};
use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine};
use portico_domain::keys::{Key, KeyScope};
use portico_domain::{KeyId, Label, UserId};
use portico_store::{CreateKey, RevokeKey, StoredKey};
use serde::{Deserialize, Serialize};

use crate::tokens::NewToken;
use crate::vault::ROOT_BYTES;
use crate::{Actor, Call, Error, Portico, Profile, Result, answering};

const NOT_VALID: Error = Error::Unauthenticated("the API key is not valid");

/// A new key. The secret is never shown again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NewKey {
    pub id: KeyId,
    /// The whole key, as it is presented.
    pub secret: String,
}

/// How many working keys one user or account may have.
const MAX_KEYS: i64 = 100;
/// How long a session of the sandbox lasts.
const SESSION: Duration = Duration::from_hours(12);

/// What the sandbox gives to whoever wants to act as a user.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Session {
    pub token: String,
    /// A key that is bound to the user.
    pub key: NewKey,
}

pub(crate) fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    aws_lc_rs::rand::fill(&mut bytes).map_err(|_| Error::Bug("no randomness".into()))?;
    Ok(bytes)
}

fn sha256(text: &str) -> Vec<u8> {
    digest(&SHA256, text.as_bytes()).as_ref().to_vec()
}

impl Portico {
    pub async fn create_key(&self, call: &Call, name: Label, scope: KeyScope) -> Result<NewKey> {
        // The sandbox makes a key per session, so that counting them would only get in the way.
        let limit = (self.profile == Profile::Live).then_some(MAX_KEYS);
        let (op, key) = self.new_key(call, name, scope, limit)?;
        let bound = match &op.key.key.scope {
            KeyScope::Operator => "to nobody".to_owned(),
            KeyScope::Account(account) => format!("to account {account}"),
            KeyScope::User(user) => format!("to user {user}"),
        };
        let entry = Some(self.entry(call, "key.created", key.id.as_str(), bound));
        self.write(call, answering(CreateKey { entry, ..op }, key)).await
    }

    /// A token and a key for any user: the sandbox's way of signing in.
    pub async fn open_session(&self, call: &Call, user: UserId) -> Result<Session> {
        if self.profile != Profile::Sandbox {
            return Err(Error::NotFound("not_found"));
        }
        let token = NewToken { user: user.clone(), account: None, admin: false, ttl: SESSION };
        let token = self.tokens.issue(&token, self.clock.now())?;
        let (op, key) = self.new_key(call, Label::stored("Sandbox session"), KeyScope::User(user), None)?;
        self.write(call, answering(op, Session { token, key })).await
    }

    /// A key that is to be stored, and what its owner is told.
    fn new_key(
        &self,
        call: &Call,
        name: Label,
        scope: KeyScope,
        limit: Option<i64>,
    ) -> Result<(CreateKey, NewKey)> {
        let id = format!("{:016x}", u64::from_be_bytes(random()?));
        let mode = self.profile.key_prefix();
        let secret = format!("{mode}_{id}_{}", BASE64_URL_SAFE_NO_PAD.encode(random::<ROOT_BYTES>()?));
        let id = KeyId::stored(id);
        let by = self.by(call);
        let key = Key { id: id.clone(), name, scope, created_at: by.at, revoked_at: None };
        let op = CreateKey { key: StoredKey { digest: sha256(&secret), key }, limit, entry: None, by };
        Ok((op, NewKey { id, secret }))
    }

    /// The keys that are bound to a user, or all of them.
    pub async fn keys(&self, of: Option<&UserId>) -> Result<Vec<Key>> {
        Ok(self.db.keys(of).await?)
    }

    /// Revokes a key. A signed-in user may revoke only keys that are bound to themselves.
    pub async fn revoke_key(&self, call: &Call, id: KeyId) -> Result<()> {
        if let Actor::User { user, .. } = &call.actor {
            let key = self.db.key(&id).await?;
            let own = key.is_some_and(|stored| stored.key.scope == KeyScope::User(user.clone()));
            if !own && !call.actor.is_operator() {
                return Err(Error::NotFound("key_not_found"));
            }
        }
        let (by, entry) = (self.by(call), self.entry(call, "key.revoked", id.as_str(), ""));
        self.write(call, RevokeKey { id, entry, by }).await
    }

    /// Whose key this is, if it is valid and not revoked.
    pub async fn verify_key(&self, presented: &str) -> Result<Actor> {
        // A sandbox gives keys to anybody: none of them works on a live instance.
        let (prefix, rest) = presented.split_once('_').ok_or(NOT_VALID)?;
        if prefix != self.profile.key_prefix() {
            return Err(NOT_VALID);
        }
        let id = rest.split('_').next().ok_or(NOT_VALID)?;
        let id = KeyId::parse(id).map_err(|_| NOT_VALID)?;
        let stored = self.db.presented_key(&id).await?.ok_or(NOT_VALID)?;
        verify_slices_are_equal(&stored.digest, &sha256(presented)).map_err(|_| NOT_VALID)?;
        match stored.key.revoked_at {
            None => Ok(Actor::Key { id: stored.key.id.clone(), scope: stored.key.scope.clone() }),
            Some(_) => Err(NOT_VALID),
        }
    }
}
