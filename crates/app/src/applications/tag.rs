//! Tags of what somebody was shown.

use std::fmt::Debug;

use aws_lc_rs::digest::{SHA256, digest};

/// Differs for whatever differs.
pub(super) fn tag_of(shown: &impl Debug) -> String {
    hex::encode(&digest(&SHA256, format!("{shown:?}").as_bytes()).as_ref()[..16])
}
