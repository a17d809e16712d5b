//! All error codes. The HTTP layer, the OpenAPI document and the table in `docs/api.md` derive codes, statuses and
//! texts from here.

macro_rules! error_codes {
    ($($variant:ident = $status:literal, $name:literal, $text:literal;)+) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum ErrorCode {
            $(#[doc = $text] $variant,)+
        }

        impl ErrorCode {
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            pub const fn status(self) -> u16 {
                match self { $(Self::$variant => $status,)+ }
            }

            /// The default message.
            pub const fn text(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }
    };
}

error_codes! {
    InvalidRequest = 400, "invalid_request", "the request has faults";
    InvalidPath = 400, "invalid_path", "the path is not valid UTF-8 once it is decoded";
    IncompleteBody = 400, "incomplete_body", "the body broke off";
    UnknownListing = 400, "unknown_listing", "a listing that was named does not exist";
    NothingToCheck = 400, "nothing_to_check", "no check can run";
    Unauthenticated = 401, "unauthenticated", "a credential is missing or not valid";
    Forbidden = 403, "forbidden", "the caller may not do this";
    ForeignOrigin = 403, "foreign_origin", "a page of another origin may not change anything in the sandbox";
    FindingNotYours = 403, "finding_not_yours", "this finding is about somebody else";
    SignatureInvalid = 403, "signature_invalid", "the signature is not that of the wallet";
    NotFound = 404, "not_found", "there is nothing here";
    ListingNotFound = 404, "listing_not_found", "there is no such listing";
    NoListings = 404, "no_listings", "no listing was found";
    SavedListingNotFound = 404, "saved_listing_not_found", "this listing is not saved";
    ApplicationNotFound = 404, "application_not_found", "this user has not applied to any listing";
    ConsentNotFound = 404, "consent_not_found", "there is no consent text of this version";
    CheckNotFound = 404, "check_not_found", "this verification has no such check";
    RequirementsNotFound = 404, "requirements_not_found", "nothing is recorded for this listing and applicant";
    PipelineNotFound = 404, "pipeline_not_found", "this account has no pipeline yet";
    TemplateNotFound = 404, "template_not_found", "there is no such predefined portfolio";
    NoActiveTemplates = 404, "no_active_templates", "there are no active predefined portfolios";
    PortfolioNotFound = 404, "portfolio_not_found", "there is no such portfolio";
    DeviceNotFound = 404, "device_not_found", "there is no such device";
    KeyNotFound = 404, "key_not_found", "there is no such key";
    RecordNotFound = 404, "record_not_found", "this listing has no record on the chain";
    BlockNotFound = 404, "block_not_found", "there is no such block";
    TransactionNotFound = 404, "transaction_not_found", "there is no such transaction";
    CaseNotFound = 404, "case_not_found", "there is no such case";
    VerificationNotFound = 404, "verification_not_found", "there is no such verification, or it is no longer valid";
    IdentityNotFound = 404, "identity_not_found", "there is no such identity, or the names are not its own";
    MethodNotAllowed = 405, "method_not_allowed", "this path does not have that method";
    BodyTimeout = 408, "body_timeout", "the body did not arrive in time";
    ListingExists = 409, "listing_exists", "a listing with this id exists already";
    ListingNotAvailable = 409, "listing_not_available", "this listing takes no applications at the moment";
    OwnListing = 409, "own_listing", "nobody applies to their own listing";
    ApplicationDecided = 409, "application_decided", "this application has been decided already";
    ApplicationWithdrawn = 409, "application_withdrawn", "this application was withdrawn";
    ApplicationClosed = 409, "application_closed", "this application ended with its listing";
    CheckNotValid = 409, "check_not_valid", "a check that was named has no valid finding for this application: read it again";
    DeviceExists = 409, "device_exists", "this device is registered on its network already";
    ClientIdTaken = 409, "client_id_taken", "this ClientId belongs to another account";
    TooManyClientIds = 409, "too_many_client_ids", "this account has used as many ClientIds as is possible";
    TooManySaved = 409, "too_many_saved", "no more listings can be saved";
    TooManyApplications = 409, "too_many_applications", "this user cannot apply to more listings";
    TooManyKeys = 409, "too_many_keys", "no more keys can be made: revoke one first";
    IdentityRevoked = 409, "identity_revoked", "the token of this case was revoked";
    ClaimExpired = 409, "claim_expired", "this message is not the last one for the token, has expired or was used: ask for a new one";
    PreconditionFailed = 412, "precondition_failed", "it was changed meanwhile: read it again and repeat the change";
    BodyTooLarge = 413, "body_too_large", "the body is too long";
    UnsupportedMediaType = 415, "unsupported_media_type", "the body must be JSON: Content-Type: application/json";
    HostNotAllowed = 421, "host_not_allowed", "this server does not answer for that host";
    IdempotencyKeyReused = 422, "idempotency_key_reused", "this Idempotency-Key was used with another request";
    RateLimited = 429, "rate_limited", "too many requests: try again soon";
    QuotaExhausted = 429, "quota_exhausted", "the budget of this day (UTC) is used up";
    TooManyWaiting = 429, "too_many_waiting", "this account's listings fill its share of those that may wait for the chain, which is 1,000: try again soon";
    TooManyGuesses = 429, "too_many_guesses", "too many wrong names: try again in an hour";
    InternalError = 500, "internal_error", "something went wrong here; the request id helps to find out what";
    Unavailable = 503, "unavailable", "the service cannot do this at the moment: try again soon";
    RecordPending = 503, "record_pending", "the record is not on the chain yet: try again soon";
    RecordFailed = 503, "record_failed", "the chain did not take the record";
    BureauUnavailable = 503, "bureau_unavailable", "a bureau does not answer at the moment: try again, and what was found is not asked for twice";
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
    fn codes_are_sorted_by_status_and_unique() {
        assert!(ErrorCode::ALL.is_sorted_by_key(|code| code.status()));
        let names: std::collections::BTreeSet<_> = ErrorCode::ALL.iter().map(|code| code.name()).collect();
        assert_eq!(names.len(), ErrorCode::ALL.len());
    }
}
