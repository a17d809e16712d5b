//! Decodes and validates signed transactions. Balance and nonce are checked during execution.

use alloy_consensus::{EthereumTxEnvelope, Transaction as _, TxEip4844, Typed2718 as _};
use alloy_eips::eip2718::Decodable2718;
use alloy_primitives::{Address, B256, Bytes, Signature, U256, uint};
use revm::context::TxEnv;
use revm::precompile::crypto;

use crate::error::Refused;
use crate::{BASE_FEE, TRANSACTION_GAS_CAP};

/// A transaction of any type that Ethereum knows.
pub type Envelope = EthereumTxEnvelope<TxEip4844>;

/// Signatures with a higher `s` are invalid (EIP-2).
const SECP256K1_HALF_ORDER: U256 =
    uint!(0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0_U256);

/// A transaction with a valid signature, for this chain, with an acceptable fee and gas limit.
#[derive(Debug)]
pub(crate) struct VerifiedTransaction {
    pub(crate) envelope: Envelope,
    pub(crate) hash: B256,
    pub(crate) sender: Address,
    pub(crate) raw: Bytes,
}

impl VerifiedTransaction {
    pub(crate) fn parse(raw: &Bytes, chain_id: u64) -> Result<Self, Refused> {
        let malformed = |error: alloy_eips::eip2718::Eip2718Error| Refused::Malformed(error.to_string());
        let envelope = Envelope::decode_2718_exact(raw).map_err(malformed)?;
        let sender = sender(&envelope)?;
        if envelope.is_eip4844() || envelope.is_eip7702() {
            return Err(Refused::Invalid(format!("transaction type {} not supported", envelope.ty())));
        }
        if envelope.chain_id() != Some(chain_id) {
            return Err(Refused::WrongChainId { given: envelope.chain_id(), wanted: chain_id });
        }
        if envelope.gas_limit() > TRANSACTION_GAS_CAP {
            return Err(Refused::GasTooHigh { cap: TRANSACTION_GAS_CAP, given: envelope.gas_limit() });
        }
        if envelope.max_fee_per_gas() < u128::from(BASE_FEE) {
            return Err(Refused::FeeTooLow { offered: envelope.max_fee_per_gas(), base_fee: BASE_FEE });
        }
        Ok(Self { hash: *envelope.tx_hash(), sender, raw: raw.clone(), envelope })
    }

    pub(crate) fn env(&self) -> TxEnv {
        let tx = &self.envelope;
        TxEnv {
            tx_type: tx.ty(),
            caller: self.sender,
            gas_limit: tx.gas_limit(),
            gas_price: tx.max_fee_per_gas(),
            kind: tx.kind(),
            value: tx.value(),
            data: tx.input().clone(),
            nonce: tx.nonce(),
            chain_id: tx.chain_id(),
            access_list: tx.access_list().cloned().unwrap_or_default(),
            gas_priority_fee: tx.max_priority_fee_per_gas(),
            ..TxEnv::default()
        }
    }
}

fn sender(envelope: &Envelope) -> Result<Address, Refused> {
    let signature: &Signature = envelope.signature();
    let invalid = || Refused::Malformed("invalid signature".into());
    if signature.s() > SECP256K1_HALF_ORDER {
        return Err(invalid());
    }
    let mut scalars = [0; 64];
    scalars[..32].copy_from_slice(&signature.r().to_be_bytes::<32>());
    scalars[32..].copy_from_slice(&signature.s().to_be_bytes::<32>());
    let recovered = crypto()
        .secp256k1_ecrecover(&scalars, u8::from(signature.v()), &envelope.signature_hash())
        .map_err(|_| invalid())?;
    Ok(Address::from_slice(&recovered[12..]))
}
