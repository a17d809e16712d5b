//! The wallet that a `walletId` names: the wish of a case's owner, sealed, until the wallet claims the token.

use alloy_primitives::Address;
use portico_domain::{CaseId, FaultCode, ValidationError, WalletId};
use portico_store::screening::{Case, WishWallet};

use crate::core::Core;
use crate::error::{Error, Result};
use crate::people::keystore::PersonKey;

fn wish_context(case: &CaseId) -> [&[u8]; 3] {
    [b"cases", case.as_str().as_bytes(), b"wished_wallet"]
}

pub(crate) fn non_zero(wallet: Address) -> Result<Address, ValidationError> {
    if wallet.is_zero() {
        return Err(ValidationError::new(FaultCode::NotAWallet, "must not be the zero address"));
    }
    Ok(wallet)
}

/// The address that a `walletId` is. Any other id names no wallet on the chain.
pub(crate) fn address_of(wallet: Option<&WalletId>) -> Result<Option<Address>> {
    let text = wallet.map(WalletId::as_str).filter(|text| text.starts_with("0x"));
    let Some(address) = text.and_then(|text| text.parse().ok()) else { return Ok(None) };
    non_zero(address).map(Some).map_err(|fault| Error::Parameter { name: "walletId", fault })
}

pub(crate) fn sealed_wish(key: &PersonKey, case: &CaseId, wallet: Address) -> Result<Vec<u8>> {
    key.seal(&wish_context(case), wallet.as_slice())
}

pub(crate) fn wished_wallet(key: &PersonKey, case: &Case) -> Result<Option<Address>> {
    let Some(wish) = &case.wished_wallet else { return Ok(None) };
    let address = key.open(&wish_context(&case.id), wish)?;
    Address::try_from(&**address).map(Some).map_err(|_| Error::Bug("a wished wallet is no address".into()))
}

impl Core {
    /// Remembers the wallet of a case that was open before, while its token is in custody.
    pub(crate) async fn wish_wallet(&self, key: &PersonKey, case: &mut Case, wallet: Address) -> Result<()> {
        if case.custody.is_none() || wished_wallet(key, case)? == Some(wallet) {
            return Ok(());
        }
        let wished_wallet = sealed_wish(key, &case.id, wallet)?;
        case.wished_wallet = Some(wished_wallet.clone());
        self.db.write(WishWallet { case: case.id.clone(), wished_wallet }).await?;
        Ok(())
    }
}
