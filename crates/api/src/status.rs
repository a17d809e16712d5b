//! The HTTP status of each error code.

use axum::http::StatusCode;
use portico_domain::ErrorCode;

macro_rules! statuses {
    ($($status:ident: $($code:ident)|+;)+) => {
        pub(crate) const fn status_of(code: ErrorCode) -> StatusCode {
            match code { $($(ErrorCode::$code)|+ => StatusCode::$status,)+ }
        }
    };
}

statuses! {
    BAD_REQUEST: InvalidRequest | InvalidPath | IncompleteBody | UnknownListing | NothingToCheck;
    UNAUTHORIZED: Unauthenticated;
    FORBIDDEN: Forbidden | ForeignOrigin | FindingNotYours | SignatureInvalid;
    NOT_FOUND: NotFound | ListingNotFound | NoListings | SavedListingNotFound | ApplicationNotFound | NothingAttested |
        ConsentNotFound | CheckNotFound | RequirementsNotFound | PipelineNotFound | TemplateNotFound |
        NoActiveTemplates | PortfolioNotFound | DeviceNotFound | KeyNotFound | RecordNotFound |
        BlockNotFound | TransactionNotFound | CaseNotFound | VerificationNotFound | IdentityNotFound;
    METHOD_NOT_ALLOWED: MethodNotAllowed;
    REQUEST_TIMEOUT: BodyTimeout;
    CONFLICT: ListingExists | ListingNotAvailable | ConditionsChanged | NoReport | OtherIdentity | OwnListing | ApplicationDecided |
        ApplicationWithdrawn | ApplicationClosed | CheckNotValid | DeviceExists | ClientIdTaken |
        TooManyClientIds | TooManySaved | TooManyApplications | TooManyKeys | IdentityRevoked |
        ClaimExpired;
    PRECONDITION_FAILED: PreconditionFailed;
    PAYLOAD_TOO_LARGE: BodyTooLarge;
    UNSUPPORTED_MEDIA_TYPE: UnsupportedMediaType;
    MISDIRECTED_REQUEST: HostNotAllowed;
    UNPROCESSABLE_ENTITY: IdempotencyKeyReused;
    TOO_MANY_REQUESTS: RateLimited | QuotaExhausted | TooManyWaiting | TooManyGuesses;
    INTERNAL_SERVER_ERROR: InternalError;
    SERVICE_UNAVAILABLE: Unavailable | RecordPending | RecordFailed | BureauUnavailable;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_codes_are_sorted_by_status() {
        assert!(ErrorCode::ALL.is_sorted_by_key(|code| status_of(*code)));
    }
}
