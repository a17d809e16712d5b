//! The embedded chain, tested through its public interface.

mod contract;
mod submit;
mod support;
