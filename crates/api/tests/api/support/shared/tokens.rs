//! Signing keys and claims for test tokens.

use aws_lc_rs::encoding::AsDer as _;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPair as RsaKeyPair, KeySize};
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _};
use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine as _};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::{Value, json};

use crate::support::App;

pub(crate) fn base64(bytes: impl AsRef<[u8]>) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

/// Seconds since 1970.
pub(crate) fn now() -> i64 {
    let since = std::time::UNIX_EPOCH.elapsed().expect("it is later than 1970");
    i64::try_from(since.as_secs()).expect("it is not that late")
}

/// A signing key and its JWK.
#[derive(Clone)]
pub(crate) struct Signer {
    pub(crate) key: EncodingKey,
    pub(crate) algorithm: Algorithm,
    pub(crate) kid: String,
    pub(crate) jwk: Value,
}

impl Signer {
    pub(crate) fn rs256(kid: &str) -> Self {
        let pair = RsaKeyPair::generate(KeySize::Rsa2048).unwrap();
        let der: aws_lc_rs::encoding::Pkcs8V1Der<'_> = pair.as_der().unwrap();
        let public = pair.public_key();
        let (n, e) = (public.modulus().big_endian_without_leading_zero(), public.exponent());
        let (n, e) = (base64(n), base64(e.big_endian_without_leading_zero()));
        let jwk = json!({"kty": "RSA", "alg": "RS256", "use": "sig", "kid": kid, "n": n, "e": e});
        // The PKCS #1 key starts after the 26-byte PKCS #8 header.
        let key = EncodingKey::from_rsa_der(&der.as_ref()[26..]);
        Self { key, algorithm: Algorithm::RS256, kid: kid.into(), jwk }
    }

    pub(crate) fn es256(kid: &str) -> Self {
        let der =
            EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new()).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der.as_ref()).unwrap();
        let (x, y) = pair.public_key().as_ref()[1..].split_at(32);
        let (x, y) = (base64(x), base64(y));
        let jwk =
            json!({"kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": kid, "x": x, "y": y});
        let key = EncodingKey::from_ec_der(der.as_ref());
        Self { key, algorithm: Algorithm::ES256, kid: kid.into(), jwk }
    }

    pub(crate) fn eddsa(kid: &str) -> Self {
        let pair = Ed25519KeyPair::generate().unwrap();
        Self::of_pair(&pair, kid)
    }

    /// The key of a server's own issuer, from its data folder.
    pub(crate) async fn of_server(app: &App) -> Self {
        let hex = std::fs::read_to_string(app.data.join("issuer.key")).unwrap();
        let seed: Vec<u8> =
            (0..32).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap()).collect();
        let published = app.get("/.well-known/jwks.json").await.json(200);
        let kid = published["keys"][0]["kid"].as_str().expect("the key has a name").to_owned();
        Self::of_pair(&Ed25519KeyPair::from_seed_unchecked(&seed).unwrap(), &kid)
    }

    fn of_pair(pair: &Ed25519KeyPair, kid: &str) -> Self {
        let x = base64(pair.public_key());
        let jwk = json!({"kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig", "kid": kid, "x": x});
        let key = EncodingKey::from_ed_der(pair.to_pkcs8v1().unwrap().as_ref());
        Self { key, algorithm: Algorithm::EdDSA, kid: kid.into(), jwk }
    }

    /// With these members of the header, besides `alg` and `kid`.
    pub(crate) fn sign_under(&self, header: &Value, claims: &Value) -> String {
        let header = super::with(json!({"alg": self.algorithm, "kid": self.kid}), header.clone());
        let message = format!("{}.{}", base64(header.to_string()), base64(claims.to_string()));
        let signature = jsonwebtoken::crypto::sign(message.as_bytes(), &self.key, self.algorithm).unwrap();
        format!("{message}.{signature}")
    }

    pub(crate) fn sign(&self, claims: &Value) -> String {
        let header = Header { kid: Some(self.kid.clone()), ..Header::new(self.algorithm) };
        jsonwebtoken::encode(&header, claims, &self.key).unwrap()
    }
}

/// A token signed with HS256.
pub(crate) fn hs256(secret: &[u8], kid: &str, claims: &Value) -> String {
    let header = Header { kid: Some(kid.into()), ..Header::new(Algorithm::HS256) };
    jsonwebtoken::encode(&header, claims, &EncodingKey::from_secret(secret)).unwrap()
}

/// An unsigned token.
pub(crate) fn unsigned(kid: &str, claims: &Value) -> String {
    let header = json!({"typ": "JWT", "alg": "none", "kid": kid});
    format!("{}.{}.", base64(header.to_string()), base64(claims.to_string()))
}
