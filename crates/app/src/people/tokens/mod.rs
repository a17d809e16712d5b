//! Bearer tokens of the instance's own issuer and of an external one.

mod claims;
mod discovery;
mod external;
mod issuer;

pub use external::ExternalIssuer;
pub use issuer::{MAX_OWN_LIFETIME, NewToken, Tokens};
