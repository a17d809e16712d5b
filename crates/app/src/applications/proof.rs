//! What an applicant needs to prove their flags to anyone who reads the chain.

use portico_chain::contracts::Contracts;
use portico_domain::{ErrorCode, ListingId, UserId};
use portico_records::{CheckFlags, Content, ItemKind};
use portico_store::chain::Word;

use super::service::Applications;
use crate::caller::CallContext;
use crate::error::{Error, Result};

const NOTHING: Error = Error::NotFound(ErrorCode::NothingAttested);

/// Opens the commitment of an application's record.
#[derive(Debug)]
pub struct FlagProof {
    pub chain_id: u64,
    pub contracts: Contracts,
    /// The record's key.
    pub key: Word,
    pub flags: CheckFlags,
    pub salt: Word,
}

impl Applications {
    /// For the applicant alone, by their own token: who has the salt can show the flags to others.
    pub async fn proof(&self, call: &CallContext, user: &UserId, listing: &ListingId) -> Result<FlagProof> {
        if !call.actor.is_signed_in_as(user) {
            return Err(Error::Forbidden("only the applicant gets the proof, with their own token"));
        }
        let application = self.visible_application(call, user, listing).await?;
        let (key, salt) = (application.stored.chain_key, application.salt()?.ok_or(NOTHING)?);
        let item = self.core.db.chain_item(ItemKind::Check, &key).await?.ok_or(NOTHING)?;
        let Content::Check(commitment) = Content::decode(ItemKind::Check, &item.payload)? else {
            return Err(NOTHING);
        };
        let flags = commitment.open(&key, &salt).ok_or(NOTHING)?;
        let (_, contracts) = self.core.chain.reader()?;
        let chain_id = self.core.chain.writer()?.engine().chain_id();
        Ok(FlagProof { chain_id, contracts, key, flags, salt })
    }
}
