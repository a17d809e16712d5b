//! Fixed numbers of bytes.

/// A hash, key or digest.
pub type Word = [u8; 32];

/// The number of an identity token.
pub type Token = [u8; 16];
