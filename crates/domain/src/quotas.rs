//! How much a caller may do in a time, and how much of it is left.

/// A limit and its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// Of the policy: a short word.
    pub name: &'static str,
    pub limit: u32,
    pub window_seconds: u32,
    pub remaining: u32,
    /// Until there is more again.
    pub reset_seconds: u32,
}
