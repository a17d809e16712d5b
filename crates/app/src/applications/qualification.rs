//! "Do I qualify?": a listing's terms against the caller's own findings, before they apply. Nothing is recorded: callers
//! learn only what follows from their own results.

use portico_domain::chain::Terms;
use portico_domain::{Credit, Income, ListingId, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use super::conditions::Conditions;
use super::evaluation::{CheckState, Evaluation};
use super::report::{ReportFindings, Required};
use super::service::Applications;
use crate::caller::CallContext;
use crate::error::Result;
use crate::people::access::signed_in;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Qualification {
    /// Empty: the listing has no terms.
    pub terms: Vec<TermState>,
    /// The checks that the listing's owner requires.
    pub checks: Vec<CheckState>,
}

/// One of a listing's terms, and whether the caller's findings meet it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TermState {
    pub term: Term,
    pub value: TermValue,
    pub status: TermStatus,
}

/// Its public name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Term {
    MinCredit,
    PrefCredit,
    MinIncome,
    PrefIncome,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TermValue {
    Credit(Credit),
    Income(Income),
}

/// Whether a person meets a term. Everybody meets a term of 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TermStatus {
    Met,
    NotMet,
    NotChecked,
}

impl Applications {
    /// For the person whose token it is, about themselves.
    pub async fn qualification(&self, call: &CallContext, id: &ListingId) -> Result<Qualification> {
        let (user, _) = signed_in(&call.actor)?;
        let stored = self.core.stored_listing(id).await?;
        let conditions = self.conditions_of(&stored).await?;
        let checks = conditions.required();
        let Conditions { terms, country, .. } = conditions;
        let now = self.core.clock.now();
        let findings = match self.core.keystore()?.person(user).await? {
            Some(key) => {
                let required = Required { checks: &checks, country: &country };
                let report = self.core.present_report(user, &key, &required).await?;
                self.core.report_findings(&key, &report, &country).await?
            }
            None => ReportFindings::default(),
        };
        let states = terms.map(|terms| term_states(&terms, &findings, now)).unwrap_or_default();
        let checks = Evaluation::new(terms.as_ref(), &checks, &findings, now).checks;
        Ok(Qualification { terms: states, checks })
    }
}

fn term_states(terms: &Terms, findings: &ReportFindings, now: Timestamp) -> Vec<TermState> {
    let status = |is_zero: bool, is_met: Option<bool>| match is_met {
        // Everybody meets it, as in the flags.
        _ if is_zero => TermStatus::Met,
        Some(true) => TermStatus::Met,
        Some(false) => TermStatus::NotMet,
        None => TermStatus::NotChecked,
    };
    let credit = |term, value: Credit| {
        let is_met = findings.credit(now).map(|credit| credit >= value);
        let status = status(value == Credit::from_units(0), is_met);
        TermState { term, value: TermValue::Credit(value), status }
    };
    let income = |term, value: Income| {
        let is_met = findings.income(now).map(|income| income >= value);
        let status = status(value == Income::from_units(0), is_met);
        TermState { term, value: TermValue::Income(value), status }
    };
    vec![
        credit(Term::MinCredit, terms.min_credit()),
        credit(Term::PrefCredit, terms.pref_credit()),
        income(Term::MinIncome, terms.min_income()),
        income(Term::PrefIncome, terms.pref_income()),
    ]
}
