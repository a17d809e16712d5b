//! How much a caller may do in a time, and how much of it is left.

/// A limit and its state, as sent in the headers `RateLimit-Policy` and `RateLimit`.
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

impl Quota {
    pub fn policy(&self) -> String {
        format!("\"{}\";q={};w={}", self.name, self.limit, self.window_seconds)
    }

    pub fn state(&self) -> String {
        format!("\"{}\";r={};t={}", self.name, self.remaining, self.reset_seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_structured_fields() {
        let quota = Quota { name: "requests", limit: 100, window_seconds: 1, remaining: 7, reset_seconds: 1 };
        assert_eq!(quota.policy(), r#""requests";q=100;w=1"#);
        assert_eq!(quota.state(), r#""requests";r=7;t=1"#);
    }
}
