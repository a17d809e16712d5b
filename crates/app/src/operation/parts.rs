//! What the services of operation keep in memory.

use crate::operation::audit::state::{AuditAlarm, AuditVerification};
use crate::operation::settings::Setting;
use crate::operation::write_proof::WriteProof;

#[derive(Debug, Default)]
pub(crate) struct OperationParts {
    pub(crate) write_proof: WriteProof,
    pub(crate) audit_alarm: AuditAlarm,
    pub(crate) audit_verification: AuditVerification,
    /// The settings in force, without secrets. Empty in commands.
    pub(crate) settings: Vec<Setting>,
}
