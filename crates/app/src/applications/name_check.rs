//! "Is this report about the person in front of me?"

use portico_domain::{ErrorCode, ListingId, UserId};
use portico_store::screening::{FinishGuess, Guess, TakeGuess};

use super::decisions::Change;
use super::document::NameCheck;
use super::service::Applications;
use crate::caller::CallContext;
use crate::error::{Error, Result};
use crate::people::access::require_credential;
use crate::screening::identities::{GUESS_WINDOW_SECONDS, MAX_GUESSES, MAX_GUESSES_PER_CALLER};

impl Applications {
    /// Whether the report is about somebody of this name. For the listing's owner and the operator; counted and limited
    /// like guesses of names, and shown to the applicant.
    pub async fn check_name(
        &self,
        call: &CallContext,
        (user, listing): (&UserId, &ListingId),
        (first, last): (&str, &str),
    ) -> Result<bool> {
        require_credential(&call.actor)?;
        let number = self.core.own_listing_number(call, listing).await?;
        let application = self.core.newest_application(user, number).await?;
        let (stored, report) = (&application.stored, &application.document.report);
        let verification = report.any_verification().filter(|_| stored.is_shared() && !stored.is_withheld);
        let verification = verification.ok_or(Error::Conflict(ErrorCode::NoReport))?.clone();
        let entry = |action| self.core.entry(call, action, stored.id.as_str(), "");
        let now = self.core.clock.now();
        let take = TakeGuess {
            guess: Guess { verification, caller: call.actor.name().replace('\0', " "), at: now },
            limit_per_caller: MAX_GUESSES_PER_CALLER,
            limit: MAX_GUESSES,
            since: now.minus_seconds(GUESS_WINDOW_SECONDS),
            refused: entry("application.name_check_refused"),
        };
        let Some(place) = self.core.db.write(take).await? else {
            return Err(Error::TooMany {
                code: ErrorCode::TooManyGuesses,
                retry_after: GUESS_WINDOW_SECONDS.unsigned_abs(),
            });
        };
        let matches = report.is_about(&application.key, first, last);
        let action = if matches { "application.name_matches" } else { "application.name_differs" };
        self.core.db.write(FinishGuess { place, is_correct: matches, entry: entry(action) }).await?;
        // Without the idempotency key: a repetition is another guess.
        let noted = CallContext { idempotency_key: None, ..call.clone() };
        self.change(&noted, user, number, &Change::NoteNameCheck(NameCheck::new(now, matches))).await?;
        Ok(matches)
    }
}
