//! Requirements records: which of a listing's requirements an applicant meets.

use crate::SafeInteger;

/// Writing a record again replaces it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequirementsRecord {
    pub listing: SafeInteger,
    pub applicant: SafeInteger,
    /// One flag per requirement.
    pub met: Vec<bool>,
}
