//! All error codes. The HTTP layer, the OpenAPI document and the table in `docs/api.md` derive codes and texts from here.

macro_rules! error_codes {
    ($($variant:ident = $name:literal, $text:literal;)+) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum ErrorCode {
            $(#[doc = $text] $variant,)+
        }

        impl ErrorCode {
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// The default message.
            pub const fn text(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }
    };
}

error_codes! {
    InvalidRequest = "invalid_request", "the request has faults";
    InvalidPath = "invalid_path", "the path is not valid UTF-8 once it is decoded";
    IncompleteBody = "incomplete_body", "the body broke off";
    UnknownListing = "unknown_listing", "a listing that was named does not exist";
    NothingToCheck = "nothing_to_check", "no check can run";
    Unauthenticated = "unauthenticated", "a credential is missing or not valid";
    Forbidden = "forbidden", "the caller may not do this";
    ForeignOrigin = "foreign_origin", "a page of another origin may not change anything in the sandbox";
    FindingNotYours = "finding_not_yours", "this finding is about somebody else";
    SignatureInvalid = "signature_invalid", "the signature is not that of the wallet";
    NotFound = "not_found", "there is nothing here";
    ListingNotFound = "listing_not_found", "there is no such listing";
    NoListings = "no_listings", "no listing was found";
    SavedListingNotFound = "saved_listing_not_found", "this listing is not saved";
    ApplicationNotFound = "application_not_found", "this user has not applied to any listing";
    NothingAttested = "nothing_attested", "no flags are attested for this application";
    ConsentNotFound = "consent_not_found", "there is no consent text of this version";
    CheckNotFound = "check_not_found", "this verification has no such check";
    RequirementsNotFound = "requirements_not_found", "nothing is recorded for this listing and applicant";
    PipelineNotFound = "pipeline_not_found", "this account has no pipeline yet";
    TemplateNotFound = "template_not_found", "there is no such predefined portfolio";
    NoActiveTemplates = "no_active_templates", "there are no active predefined portfolios";
    PortfolioNotFound = "portfolio_not_found", "there is no such portfolio";
    DeviceNotFound = "device_not_found", "there is no such device";
    KeyNotFound = "key_not_found", "there is no such key";
    RecordNotFound = "record_not_found", "this listing has no record on the chain";
    BlockNotFound = "block_not_found", "there is no such block";
    TransactionNotFound = "transaction_not_found", "there is no such transaction";
    CaseNotFound = "case_not_found", "there is no such case";
    VerificationNotFound = "verification_not_found", "there is no such verification, or it is no longer valid";
    IdentityNotFound = "identity_not_found", "there is no such identity, or the names are not its own";
    MethodNotAllowed = "method_not_allowed", "this path does not have that method";
    BodyTimeout = "body_timeout", "the body did not arrive in time";
    ListingExists = "listing_exists", "a listing with this id exists already";
    ListingNotAvailable = "listing_not_available", "this listing takes no applications at the moment";
    ConditionsChanged = "conditions_changed", "the conditions are not those that the applicant has seen";
    NoReport = "no_report", "the applicant shares no report";
    OtherIdentity = "other_identity", "the new results are about somebody else than what is shared";
    OwnListing = "own_listing", "nobody applies to their own listing";
    ApplicationDecided = "application_decided", "this application has been decided already";
    ApplicationWithdrawn = "application_withdrawn", "this application was withdrawn";
    ApplicationClosed = "application_closed", "this application ended with its listing";
    CheckNotValid = "check_not_valid", "a check that was named has no valid finding for this application: read it again";
    DeviceExists = "device_exists", "this device is registered on its network already";
    ClientIdTaken = "client_id_taken", "this ClientId belongs to another account";
    TooManyClientIds = "too_many_client_ids", "this account has used as many ClientIds as is possible";
    TooManySaved = "too_many_saved", "no more listings can be saved";
    TooManyApplications = "too_many_applications", "this user cannot apply to more listings";
    TooManyKeys = "too_many_keys", "no more keys can be made: revoke one first";
    IdentityRevoked = "identity_revoked", "the token of this case was revoked";
    ClaimExpired = "claim_expired", "this message is not the last one for the token, has expired or was used: ask for a new one";
    PreconditionFailed = "precondition_failed", "it was changed meanwhile: read it again and repeat the change";
    BodyTooLarge = "body_too_large", "the body is too long";
    UnsupportedMediaType = "unsupported_media_type", "the body must be JSON: Content-Type: application/json";
    HostNotAllowed = "host_not_allowed", "this server does not answer for that host";
    IdempotencyKeyReused = "idempotency_key_reused", "this Idempotency-Key was used with another request";
    RateLimited = "rate_limited", "too many requests: try again soon";
    QuotaExhausted = "quota_exhausted", "the budget of this day (UTC) is used up";
    TooManyWaiting = "too_many_waiting", "this account's listings fill its share of those that may wait for the chain, which is 1,000: try again soon";
    TooManyGuesses = "too_many_guesses", "too many wrong names: try again in an hour";
    InternalError = "internal_error", "something went wrong here; the request id helps to find out what";
    Unavailable = "unavailable", "the service cannot do this at the moment: try again soon";
    RecordPending = "record_pending", "the record is not on the chain yet: try again soon";
    RecordFailed = "record_failed", "the chain did not take the record";
    BureauUnavailable = "bureau_unavailable", "a bureau does not answer at the moment: try again, and what was found is not asked for twice";
}

impl std::fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique() {
        let names: std::collections::BTreeSet<_> = ErrorCode::ALL.iter().map(|code| code.name()).collect();
        assert_eq!(names.len(), ErrorCode::ALL.len());
    }
}
