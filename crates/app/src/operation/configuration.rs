//! The configuration in force, for the operator. What is secret does not get here: the server says only that it is set.

use std::sync::Arc;

use crate::caller::{CallContext, require_operator};
use crate::core::Core;
use crate::error::Result;

pub use crate::operation::settings::{Setting, SettingSource, SettingValue};

#[derive(Debug)]
pub struct Configuration {
    pub(crate) core: Arc<Core>,
}

impl Configuration {
    pub fn settings(&self, call: &CallContext) -> Result<&[Setting]> {
        require_operator(&call.actor)?;
        Ok(&self.core.operation.settings)
    }
}
