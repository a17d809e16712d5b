//! Which texts there are to consent to, and which consent a verification needs.

use portico_domain::{ErrorCode, FaultCode, Label, ValidationError};

use crate::caller::CallContext;
use crate::error::{Error, Result};
use crate::profile::Profile;
use crate::screening::service::Screening;

pub use crate::screening::consent_texts::{Consent, Consents};

impl Screening {
    /// Open to all.
    pub fn consent(&self, _call: &CallContext, version: &Label) -> Result<Consent> {
        self.core.screening.consents.get(version).ok_or(Error::NotFound(ErrorCode::ConsentNotFound))
    }

    /// In the order of their versions; forms show the last one. Open to all.
    pub fn consents(&self, _call: &CallContext) -> Vec<Consent> {
        self.core.screening.consents.all().collect()
    }

    /// Consent is to a known text. A live instance sends no bureau request without it.
    pub(super) fn check_consent(&self, version: Option<&Label>) -> Result<()> {
        let fault = match (self.core.profile, version) {
            (Profile::Sandbox, None) => return Ok(()),
            (_, Some(version)) if self.core.screening.consents.contains(version) => return Ok(()),
            (_, Some(_)) => ValidationError::new(
                FaultCode::UnknownConsent,
                "is no version of a consent text: see /v1/consents",
            ),
            (Profile::Live, None) => ValidationError::new(FaultCode::Missing, "is required"),
        };
        Err(Error::Invalid { pointer: "/consentVersion", fault })
    }
}
