//! How the bureaus are doing, for the operator.

pub use portico_screening::BureauError;
pub use portico_screening::breaker::State as CircuitState;
pub use portico_screening::runner::Health;

use crate::caller::{CallContext, require_operator};
use crate::error::Result;
use crate::screening::service::Screening;

impl Screening {
    /// For each check, since this process began. Replicas count on their own.
    pub fn bureaus(&self, call: &CallContext) -> Result<[Health; 4]> {
        require_operator(&call.actor)?;
        Ok(self.core.screening.bureaus.runner().health())
    }
}
