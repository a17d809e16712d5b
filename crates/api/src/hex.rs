//! Hexadecimal encoding.

/// With the prefix `0x`.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 + 2 * bytes.len());
    text.push_str("0x");
    text.extend(bytes.iter().flat_map(|byte| hex_digits(*byte)).map(char::from));
    text
}

pub(crate) fn hex_digits(byte: u8) -> [u8; 2] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]
}
