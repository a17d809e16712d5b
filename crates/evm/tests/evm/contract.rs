//! A small contract, assembled here, and a wallet that signs. Also used by the benchmark in `examples`.

use std::cell::Cell;

use alloy_consensus::{SignableTransaction, TxEip1559};
use alloy_eips::eip2718::Encodable2718;
use alloy_primitives::{Address, B256, Bytes, Signature, TxKind, U256, hex, keccak256};
use k256::ecdsa::SigningKey;
use portico_evm::Envelope;

/// Words of call data per record: its key, its two values, and padding that is not stored.
pub(crate) const RECORD_WORDS: usize = 8;

/// A signing key that tracks its nonce.
pub(crate) struct Wallet {
    key: SigningKey,
    pub(crate) address: Address,
    pub(crate) nonce: Cell<u64>,
    pub(crate) chain_id: u64,
}

impl Wallet {
    pub(crate) fn new(seed: u8, chain_id: u64) -> Self {
        let key = SigningKey::from_slice(&[seed; 32]).unwrap();
        let public = key.verifying_key().to_encoded_point(false);
        let address = Address::from_raw_public_key(&public.as_bytes()[1..]);
        Self { key, address, nonce: Cell::new(0), chain_id }
    }

    /// A valid unsigned transaction, for tests to change.
    pub(crate) fn draft(&self, to: TxKind, input: impl Into<Bytes>) -> TxEip1559 {
        TxEip1559 {
            chain_id: self.chain_id,
            nonce: self.nonce.get(),
            gas_limit: 10_000_000,
            max_fee_per_gas: 100,
            max_priority_fee_per_gas: 1,
            to,
            input: input.into(),
            ..TxEip1559::default()
        }
    }

    pub(crate) fn sign<T: SignableTransaction<Signature>>(&self, transaction: T) -> Bytes
    where
        Envelope: From<alloy_consensus::Signed<T>>,
    {
        let hash = transaction.signature_hash();
        let (signature, id) = self.key.sign_prehash_recoverable(hash.as_slice()).unwrap();
        let signed = transaction.into_signed(Signature::from((signature, id)));
        Envelope::from(signed).encoded_2718().into()
    }

    pub(crate) fn count(&self) {
        self.nonce.set(self.nonce.get() + 1);
    }

    /// Signs a call and increments the nonce.
    pub(crate) fn call(&self, to: Address, input: impl Into<Bytes>) -> Bytes {
        let raw = self.sign(self.draft(TxKind::Call(to), input));
        self.count();
        raw
    }

    /// Signs a contract creation and increments the nonce. Also returns the contract's address.
    pub(crate) fn deploy(&self, init: impl Into<Bytes>) -> (Bytes, Address) {
        let raw = self.sign(self.draft(TxKind::Create, init));
        let address = self.address.create(self.nonce.get());
        self.count();
        (raw, address)
    }
}

pub(crate) fn selector(signature: &str) -> Vec<u8> {
    keccak256(signature)[..4].to_vec()
}

/// Call data of a function with numeric arguments.
pub(crate) fn data(signature: &str, words: &[U256]) -> Vec<u8> {
    let mut data = selector(signature);
    for word in words {
        data.extend(word.to_be_bytes::<32>());
    }
    data
}

/// Call data of `record()` with one record per key.
pub(crate) fn record(keys: impl IntoIterator<Item = u64>) -> Vec<u8> {
    let mut words = Vec::new();
    for key in keys {
        words.extend([U256::from(key), U256::from(key) + U256::ONE, U256::from(1_000_000_000_000_u64 + key)]);
        words.extend([U256::MAX; RECORD_WORDS - 3]);
    }
    data("record()", &words)
}

/// The event's first topic. The second is the key; the data has the values.
pub(crate) fn recorded() -> B256 {
    keccak256("Recorded(uint256,uint256,uint256)")
}

pub(crate) fn init() -> Vec<u8> {
    init_of(&runtime())
}

/// Init code that deploys `runtime`.
pub(crate) fn init_of(runtime: &[u8]) -> Vec<u8> {
    let [high, low] = u16::try_from(runtime.len()).unwrap().to_be_bytes();
    // PUSH2 size, DUP1, PUSH1 12, PUSH1 0, CODECOPY, PUSH1 0, RETURN
    let mut init = vec![0x61, high, low, 0x80, 0x60, 12, 0x60, 0, 0x39, 0x60, 0, 0xf3];
    init.extend(runtime);
    init
}

/// `record()`, `get(uint256)`, `env()`, `fail()`, `spin()`.
pub(crate) fn runtime() -> Vec<u8> {
    let mut code = Code::default();
    code.push(&[0]).hex("35 60e0 1c"); // the selector
    for function in ["record()", "get(uint256)", "env()", "fail()", "spin()"] {
        code.hex("80").push(&selector(function)).hex("14").jump_if(function);
    }
    code.hex("6000 6000 fd");

    // The offset in the call data is on the stack; memory: key, value, value.
    code.label("record()").hex("50 6004");
    code.label("next").hex("80 36 90 10 15").jump_if("done"); // unless offset < size
    code.hex("6060 81 6000 37"); // three words to memory 0
    code.hex("6020 6000 20"); // slot = keccak(key)
    code.hex("6020 51 81 55"); // slot: the first value
    code.hex("6040 51 90 6001 01 55"); // slot + 1: the second
    code.hex("6000 51").push(recorded().as_slice()).hex("6040 6020 a2");
    code.push(&u16::try_from(RECORD_WORDS * 32).unwrap().to_be_bytes()).hex("01").jump("next");
    code.label("done").hex("00");

    code.label("get(uint256)")
        .hex("6004 35 6000 52 6020 6000 20 80 54 6020 52 6001 01 54 6040 52 6040 6020 f3");

    // number, timestamp, hash of the block before, chain id, base fee, caller, value
    code.label("env()")
        .hex("43 6000 52 42 6020 52 6001 43 03 40 6040 52 46 6060 52 48 6080 52 33 60a0 52 34 60c0 52");
    code.hex("60e0 6000 f3");

    code.label("fail()").push(&[0x08, 0xc3, 0x79, 0xa0]).hex("60e0 1b 6000 52 6020 6004 52 6005 6024 52");
    code.push(b"never").hex("60d8 1b 6044 52 6064 6000 fd");

    code.label("spin()").jump("spin()");
    code.finish()
}

/// An assembler.
#[derive(Default)]
struct Code {
    bytes: Vec<u8>,
    labels: Vec<(String, usize)>,
    jumps: Vec<(String, usize)>,
}

impl Code {
    fn hex(&mut self, code: &str) -> &mut Self {
        self.bytes.extend(hex::decode(code.replace(' ', "")).unwrap());
        self
    }

    fn push(&mut self, value: &[u8]) -> &mut Self {
        self.bytes.push(0x5f + u8::try_from(value.len()).unwrap());
        self.bytes.extend(value);
        self
    }

    fn label(&mut self, name: &str) -> &mut Self {
        self.labels.push((name.into(), self.bytes.len()));
        self.hex("5b")
    }

    fn jump(&mut self, name: &str) -> &mut Self {
        self.jumps.push((name.into(), self.bytes.len() + 1));
        self.hex("610000 56")
    }

    fn jump_if(&mut self, name: &str) -> &mut Self {
        self.jumps.push((name.into(), self.bytes.len() + 1));
        self.hex("610000 57")
    }

    fn finish(mut self) -> Vec<u8> {
        for (name, at) in &self.jumps {
            let (_, target) = self.labels.iter().find(|(label, _)| label == name).unwrap();
            self.bytes[*at..at + 2].copy_from_slice(&u16::try_from(*target).unwrap().to_be_bytes());
        }
        self.bytes
    }
}
