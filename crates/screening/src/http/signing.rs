//! HMAC-SHA256 signatures with a secret that this service and the bureau share, in hexadecimal.

use aws_lc_rs::{constant_time, hmac};
use secrecy::{ExposeSecret as _, SecretString};

const SCHEME: &str = "v1=";

pub struct Signer(hmac::Key);

impl Signer {
    pub fn new(secret: &SecretString) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, secret.expose_secret().as_bytes()))
    }

    pub fn request(&self, timestamp: &str, method: &str, path: &str, body: &[u8]) -> String {
        self.signature(&[timestamp.as_bytes(), method.as_bytes(), path.as_bytes(), body])
    }

    pub fn answer(&self, timestamp: &str, reference: &str, body: &[u8]) -> String {
        self.signature(&[timestamp.as_bytes(), reference.as_bytes(), body])
    }

    /// Whether one of the header's comma-separated signatures is valid. Compares in constant time.
    pub fn verifies(&self, header: &str, timestamp: &str, reference: &str, body: &[u8]) -> bool {
        let wanted = self.sign(&[timestamp.as_bytes(), reference.as_bytes(), body]);
        header
            .split(',')
            .filter_map(|one| decode_hex(one.trim().strip_prefix(SCHEME)?))
            .any(|given| constant_time::verify_slices_are_equal(wanted.as_ref(), &given).is_ok())
    }

    fn signature(&self, parts: &[&[u8]]) -> String {
        format!("{SCHEME}{}", hex::encode(self.sign(parts)))
    }

    fn sign(&self, parts: &[&[u8]]) -> hmac::Tag {
        let mut context = hmac::Context::with_key(&self.0);
        for (at, part) in parts.iter().enumerate() {
            if at > 0 {
                context.update(b".");
            }
            context.update(part);
        }
        context.sign()
    }
}

/// A signature has 64 digits; `hex` would also take `0x` before them.
fn decode_hex(text: &str) -> Option<Vec<u8>> {
    if text.len() == 64 { hex::decode(text).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn signer() -> Signer {
        Signer::new(&"0123456789abcdef0123456789abcdef".into())
    }

    /// The examples of the document, made with another implementation.
    #[test]
    fn signatures_are_those_of_the_document() {
        let body = br#"{"reference":"case-1"}"#;
        assert_eq!(
            signer().request("1760000000", "POST", "/v1/checks", body),
            "v1=e56dafaab8da3447e35ac6db205bc24370959d8cfb078eb6ca0a168decca8793"
        );
        let body =
            br#"{"reference":"case-1","check":"softCredit","status":"complete","result":{"score":720}}"#;
        assert_eq!(
            signer().answer("1760000001", "case-1", body),
            "v1=8774bb30b3ffe21df143601d8a141a0e3ff2e41e59bcb06b2f54edbe315f8824"
        );
    }

    #[test]
    fn one_right_signature_among_several_is_enough() {
        let right = signer().answer("1", "r", b"body");
        let other = Signer::new(&"another secret that is long enough".into()).answer("1", "r", b"body");
        assert!(signer().verifies(&format!("{other}, {right}"), "1", "r", b"body"));
        assert!(!signer().verifies(&other, "1", "r", b"body"));
    }

    #[test]
    fn malformed_signature_is_rejected() {
        let right = signer().answer("1", "r", b"body");
        for wrong in
            ["", "v1=", "v1=00", &right[3..], &right.replace("v1=", "v2="), &right[..66], &"é".repeat(34)]
        {
            assert!(!signer().verifies(wrong, "1", "r", b"body"), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn no_other_header_verifies(header in "\\PC{0,80}|v1=[0-9a-fx,]{0,140}", at: prop::sample::Index, digit: char) {
            prop_assert!(!signer().verifies(&header, "1", "r", b"body"));
            let right = signer().answer("1", "r", b"body");
            let among_others = format!("{header},{right}");
            prop_assert!(signer().verifies(&among_others, "1", "r", b"body"));
            let mut altered: Vec<char> = right.chars().collect();
            let at = at.index(altered.len());
            prop_assume!(!altered[at].eq_ignore_ascii_case(&digit));
            altered[at] = digit;
            let altered: String = altered.into_iter().collect();
            prop_assert!(!signer().verifies(&altered, "1", "r", b"body"), "{}", altered);
        }

        #[test]
        fn signature_rejects_every_altered_bit(
            body in proptest::collection::vec(any::<u8>(), 1..200), bit: usize,
        ) {
            let signature = signer().answer("1", "r", &body);
            prop_assert!(signer().verifies(&signature, "1", "r", &body));
            let mut altered = body.clone();
            altered[bit / 8 % body.len()] ^= 1 << (bit % 8);
            prop_assert!(!signer().verifies(&signature, "1", "r", &altered));
            prop_assert!(!signer().verifies(&signature, "2", "r", &body));
            prop_assert!(!signer().verifies(&signature, "1", "s", &body));
        }
    }
}
