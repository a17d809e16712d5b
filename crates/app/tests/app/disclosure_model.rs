//! Searches for a sequence of calls by which somebody learns more about an applicant than the rules of sharing say.
//!
//! Every generated sequence runs in two worlds that differ only in the applicant's secrets: score, income, records. A
//! model predicts for each application what the rules disclose. Where they disclose the same in both worlds, every
//! answer to a landlord or a stranger has to be the same in both, errors included. The properties:
//!
//! - P1: what a landlord reads depends on no more than the flags and checks of the present application.
//! - P2: what a stranger reads depends on nothing.
//! - P3: after the sharing has ended, a closure or an erasure, nothing that the owner reads depends on a secret.
//! - P4: within 30 days an owner's account gets one person's flags by at most five sets of terms.
//! - P5: a former owner reads nothing about later applications.
//! - P6: there are flags only if every required check has a valid finding, all about one identity.
//! - P7: what is shared does not change once it is complete, but by its applicant; after a decision not at all.
//! - P8: whoever reads the chain sees the same in both worlds, but for random bytes.
//!
//! `PORTICO_MODEL_CASES` is the number of sequences.

use std::collections::BTreeSet;
use std::fmt::{Debug, Write as _};

use portico_app::applications::{Basis, CheckStatus, DecisionRequest, Evaluation, SeenConditions};
use portico_app::{CallContext, Profile};
use portico_domain::applications::Decision;
use portico_domain::chain::{Passes, Terms};
use portico_domain::listing_changes::ListingChange;
use portico_domain::listings::ListingStatus;
use portico_domain::{Credit, Income, ListingId, UserId, VerificationId};
use portico_screening::Check;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

use crate::world::{Facts, Inputs, World, listing, member, operator, person, terms_of};

const DEFAULT_CASES: u32 = 40;
const MAX_ACTIONS: usize = 26;
const LISTINGS: [&str; 3] = ["oak", "elm", "fir"];
const DAY: i64 = 24 * 60 * 60;
const VALID: i64 = 30 * DAY;
const WINDOW: i64 = 30 * DAY;
const MAX_TERMS: usize = 5;

/// Around the scores and incomes of [`PROFILES`], so that many of them separate the two worlds.
const TERMS: [[i64; 4]; 12] = [
    [0, 0, 0, 0],
    [600, 600, 0, 0],
    [640, 700, 0, 0],
    [660, 660, 0, 0],
    [680, 760, 0, 0],
    [700, 700, 0, 0],
    [0, 720, 0, 0],
    [0, 0, 40_000, 40_000],
    [0, 0, 45_000, 90_000],
    [650, 690, 50_000, 70_000],
    [690, 690, 55_000, 55_000],
    [300, 850, 1, 200_000],
];

/// What the bureau knows at a verification, in either world.
const PROFILES: [[Facts; 2]; 5] = [
    [facts(655, 48_000, false), facts(655, 48_000, true)],
    [facts(650, 60_000, false), facts(690, 60_000, false)],
    [facts(600, 42_000, false), facts(840, 42_000, false)],
    [facts(700, 41_000, false), facts(700, 89_000, false)],
    [facts(320, 0, true), facts(850, 150_000, false)],
];

const fn facts(score: u16, income: i64, has_record: bool) -> Facts {
    Facts { score: Some(score), income: Some(income), evicted: Some(has_record), criminal: Some(has_record) }
}

/// Two people, and inputs that say less or more about them.
const INPUTS: [Inputs; 8] = [
    Inputs::ALL,
    Inputs::CREDIT,
    Inputs::INCOME,
    Inputs::RECORDS,
    Inputs::CREDIT_AND_INCOME,
    Inputs { last_name: Some("Byron"), ..Inputs::ALL },
    Inputs { ssn: Some("900-11-0700"), ..Inputs::CREDIT },
    Inputs { born: Some("1991-01-01"), ..Inputs::RECORDS },
];

const PIPELINES: [&[Check]; 5] =
    [&[], &[Check::SoftCredit], &[Check::Eviction], &[Check::Income, Check::SoftCredit], &Check::ALL];

/// An argument is an index into the constants above, or the number of a landlord.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Create {
        listing: usize,
        by: usize,
    },
    SetTerms {
        listing: usize,
        by: usize,
        terms: usize,
    },
    SetPaused {
        listing: usize,
        by: usize,
        paused: bool,
    },
    Delete {
        listing: usize,
        by: usize,
    },
    Require {
        by: usize,
        pipeline: usize,
    },
    Apply {
        listing: usize,
    },
    EndSharing {
        listing: usize,
    },
    Renew {
        listing: usize,
    },
    /// `by`: a landlord, a stranger or the operator.
    Decide {
        listing: usize,
        by: usize,
        adverse: bool,
        reasons: usize,
    },
    Verify {
        inputs: usize,
        profile: usize,
    },
    /// The result is counted from the newest.
    Dispute {
        result: usize,
        check: usize,
    },
    Wait {
        hours: i64,
    },
    Erase,
    Tidy,
}

fn any_action() -> impl Strategy<Value = Action> {
    let (l, by) = (0..LISTINGS.len(), 0..2_usize);
    prop_oneof![
        2 => (l.clone(), by.clone()).prop_map(|(listing, by)| Action::Create { listing, by }),
        5 => (l.clone(), by.clone(), 0..TERMS.len())
            .prop_map(|(listing, by, terms)| Action::SetTerms { listing, by, terms }),
        1 => (l.clone(), by.clone(), any::<bool>())
            .prop_map(|(listing, by, paused)| Action::SetPaused { listing, by, paused }),
        2 => (l.clone(), by.clone()).prop_map(|(listing, by)| Action::Delete { listing, by }),
        1 => (by, 0..PIPELINES.len()).prop_map(|(by, pipeline)| Action::Require { by, pipeline }),
        7 => l.clone().prop_map(|listing| Action::Apply { listing }),
        3 => l.clone().prop_map(|listing| Action::EndSharing { listing }),
        3 => l.clone().prop_map(|listing| Action::Renew { listing }),
        2 => (l, 0..4_usize, any::<bool>(), 0..PIPELINES.len())
            .prop_map(|(listing, by, adverse, reasons)| Action::Decide { listing, by, adverse, reasons }),
        5 => (0..INPUTS.len(), 0..PROFILES.len())
            .prop_map(|(inputs, profile)| Action::Verify { inputs, profile }),
        1 => (0..3_usize, 0..Check::ALL.len()).prop_map(|(result, check)| Action::Dispute { result, check }),
        2 => prop_oneof![1_i64..48, 200..400_i64, 600..900_i64].prop_map(|hours| Action::Wait { hours }),
        1 => Just(Action::Erase),
        1 => Just(Action::Tidy),
    ]
}

/// A landlord's search for a score: one set of terms after the other, by the same listing.
fn search() -> impl Strategy<Value = Vec<Action>> {
    let terms = proptest::sample::subsequence((0..TERMS.len()).collect::<Vec<_>>(), 5..9).prop_shuffle();
    (prop_oneof![Just((0, 0)), Just((1, 0)), Just((2, 1))], terms).prop_map(|((listing, by), terms)| {
        let round = |terms| {
            [
                Action::EndSharing { listing },
                Action::SetTerms { listing, by, terms },
                Action::Apply { listing },
            ]
        };
        terms.into_iter().flat_map(round).collect()
    })
}

/// Every sequence begins with listings of both landlords and a result.
fn sequence() -> impl Strategy<Value = (bool, Vec<Action>)> {
    let offers = [(0, 0, 3), (1, 0, 5), (2, 1, 9)];
    let begin: Vec<Action> = offers
        .into_iter()
        .flat_map(|(listing, by, terms)| {
            [Action::Create { listing, by }, Action::SetTerms { listing, by, terms }]
        })
        .chain([Action::Verify { inputs: 0, profile: 1 }])
        .collect();
    let some_steps = prop_oneof![24 => any_action().prop_map(|action| vec![action]), 1 => search()];
    let rest = proptest::collection::vec(some_steps, 4..MAX_ACTIONS);
    (any::<bool>(), rest)
        .prop_map(move |(colleagues, rest)| (colleagues, [begin.clone(), rest.concat()].concat()))
}

/// What the rules say: written from the specification, not from the code.
#[derive(Default)]
struct Model {
    now: i64,
    /// The landlords belong to one account.
    colleagues: bool,
    listings: [Option<Offer>; 3],
    pipelines: [Option<Vec<Check>>; 2],
    incarnations: u64,
    applications: Vec<Application>,
    /// Oldest first.
    results: Vec<ModelResult>,
    /// Accounts, sets of terms and times.
    disclosed: Vec<(usize, [i64; 4], i64)>,
}

#[derive(Clone, Copy)]
struct Offer {
    incarnation: u64,
    owner: usize,
    terms: Option<[i64; 4]>,
    paused: bool,
}

#[expect(clippy::struct_excessive_bools, reason = "the states of an application are independent")]
struct Application {
    incarnation: u64,
    account: usize,
    terms: Option<[i64; 4]>,
    checks: Vec<Check>,
    is_open: bool,
    is_shared: bool,
    is_withheld: bool,
    /// Only the applicant changes the report any more.
    is_complete: bool,
    report: Report,
    /// In either world.
    on_chain: Option<[u8; 2]>,
}

#[derive(Clone)]
struct Report {
    identity: Inputs,
    known: Vec<Known>,
}

/// Of whom nothing is said.
const NOBODY: Inputs = Inputs { last_name: None, born: None, ssn: None, token: None };
const EMPTY: Report = Report { identity: NOBODY, known: Vec::new() };

struct ModelResult {
    inputs: Inputs,
    at: i64,
    /// Each with its time and the values in either world.
    findings: Vec<(Check, i64, [Facts; 2])>,
    disputed: BTreeSet<Check>,
}

/// What an application discloses in one world.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Disclosed {
    flags: Option<u8>,
    checks: Vec<(Check, CheckStatus)>,
}

#[derive(Clone)]
struct Known {
    check: Check,
    at: i64,
    values: [Facts; 2],
    /// The number of the result.
    of: usize,
}

/// Whether no field that both give differs.
fn agree(one: &Inputs, other: &Inputs) -> bool {
    let same = |one: Option<&str>, other: Option<&str>| one.is_none() || other.is_none() || one == other;
    same(one.last_name, other.last_name) && same(one.born, other.born) && same(one.ssn, other.ssn)
}

fn is_nobody(inputs: &Inputs) -> bool {
    (inputs.last_name, inputs.born, inputs.ssn) == (None, None, None)
}

fn merged(known: Inputs, of: &Inputs) -> Inputs {
    Inputs {
        last_name: known.last_name.or(of.last_name),
        born: known.born.or(of.born),
        ssn: known.ssn.or(of.ssn),
        token: None,
    }
}

impl Model {
    fn account(&self, landlord: usize) -> usize {
        if self.colleagues { 0 } else { landlord }
    }

    fn offer(&self, listing: usize, by: usize) -> Option<Offer> {
        self.listings[listing].filter(|offer| offer.owner == by)
    }

    /// With what it lacks, from the newest results about the same identity.
    fn extended(&self, mut report: Report, checks: &[Check]) -> Report {
        report.known.retain(|known| known.at + VALID > self.now);
        for (of, result) in self.results.iter().enumerate().rev() {
            if result.at + VALID <= self.now || !agree(&report.identity, &result.inputs) {
                continue;
            }
            let is_open = report.known.is_empty() && is_nobody(&report.identity);
            let is_new = |check: &Check| report.known.iter().all(|known| known.check != *check);
            let missing = result
                .findings
                .iter()
                .filter(|(check, at, _)| checks.contains(check) && is_new(check) && at + VALID > self.now);
            let missing: Vec<Known> =
                missing.map(|&(check, at, values)| Known { check, at, values, of }).collect();
            if is_open || !missing.is_empty() {
                report.identity = merged(report.identity, &result.inputs);
            }
            report.known.extend(missing);
        }
        report
    }

    /// Score and income in either world, if they are valid.
    fn values(&self, known: &[Known]) -> [(Option<Credit>, Option<Income>); 2] {
        let valid = |check| known.iter().find(|known| known.check == check && known.at + VALID > self.now);
        let (credit, income) = (valid(Check::SoftCredit), valid(Check::Income));
        [0, 1].map(|world| {
            let score = credit.and_then(|known| known.values[world].score);
            let yearly = income.and_then(|known| known.values[world].income);
            (
                score.map(|score| Credit::from_units(score.into())),
                yearly.map(|whole| Income::from_units(whole * Income::SCALE)),
            )
        })
    }

    /// Whether every required check has a valid finding.
    fn has_all(&self, application: &Application) -> bool {
        let known = &application.report.known;
        let is_valid =
            |check: &Check| known.iter().any(|known| known.check == *check && known.at + VALID > self.now);
        application.checks.iter().all(is_valid)
    }

    fn expires_today(&self, application: &Application) -> bool {
        let earliest = application.report.known.iter().map(|known| known.at + VALID).min();
        earliest.is_none_or(|earliest| earliest.div_euclid(DAY) * DAY <= self.now)
    }

    fn discloses(&self, application: &Application) -> bool {
        let [(credit, income), _] = self.values(&application.report.known);
        application.terms.is_some() && (credit.is_some() || income.is_some())
    }

    fn disclosed(&self, application: &Application) -> [Disclosed; 2] {
        if !application.is_shared {
            return [0, 1].map(|_| Disclosed { flags: None, checks: Vec::new() });
        }
        let known = &application.report.known;
        let values = self.values(known);
        let terms: Option<Terms> = application.terms.map(terms_of);
        let hidden = application.is_withheld && self.discloses(application);
        let has_flags = !hidden
            && !application.checks.is_empty()
            && self.has_all(application)
            && !self.expires_today(application);
        [0, 1].map(|world| {
            let (credit, income) = values[world];
            // Terms that are not stated are met.
            let stated = terms.unwrap_or(Terms::NONE);
            let flags = has_flags
                .then(|| Passes::of(&stated, credit, income.unwrap_or(Income::from_units(0))).bits());
            let status = |check: &Check| {
                let Some(newest) = known.iter().find(|known| known.check == *check) else {
                    return CheckStatus::Missing;
                };
                if newest.at + VALID <= self.now {
                    return CheckStatus::Expired;
                }
                if hidden && matches!(check, Check::Income | Check::SoftCredit) {
                    return CheckStatus::Missing;
                }
                let passed = match check {
                    Check::SoftCredit => credit >= terms.map(|terms| terms.min_credit()),
                    Check::Income => income >= terms.map(|terms| terms.min_income()),
                    Check::Eviction => newest.values[world].evicted == Some(false),
                    Check::CriminalBackground => newest.values[world].criminal == Some(false),
                };
                match (self.results[newest.of].disputed.contains(check), passed) {
                    (true, _) => CheckStatus::Disputed,
                    (_, true) => CheckStatus::Passed,
                    (_, false) => CheckStatus::NotPassed,
                }
            };
            let checks = application.checks.iter().map(|check| (*check, status(check))).collect();
            Disclosed { flags, checks }
        })
    }

    /// The service computes what an application shares.
    fn compute(&mut self, index: usize) {
        let application = &self.applications[index];
        if !application.is_shared || !self.is_newest(index) {
            self.applications[index].on_chain = None;
            return;
        }
        if application.is_open && !application.is_complete {
            let report = self.extended(application.report.clone(), &application.checks);
            self.applications[index].report = report;
        }
        let application = &self.applications[index];
        let (account, is_complete) = (application.account, self.has_all(application));
        let mut is_withheld = false;
        if let Some(terms) = application.terms.filter(|_| self.discloses(application)) {
            let recent = self
                .disclosed
                .iter()
                .filter(|(of, other, at)| *of == account && *other != terms && *at > self.now - WINDOW);
            let others: BTreeSet<[i64; 4]> = recent.map(|(_, terms, _)| *terms).collect();
            is_withheld = others.len() >= MAX_TERMS;
            if !is_withheld {
                self.disclosed.push((account, terms, self.now));
            }
        }
        self.applications[index].is_withheld = is_withheld;
        self.applications[index].is_complete |= is_complete;
        let [a, b] = self.disclosed(&self.applications[index]);
        self.applications[index].on_chain = a.flags.zip(b.flags).map(|(a, b)| [a, b]);
    }

    fn is_newest(&self, index: usize) -> bool {
        let incarnation = self.applications[index].incarnation;
        self.applications[index + 1..].iter().all(|later| later.incarnation != incarnation)
    }

    /// The newest application to the present incarnation.
    fn newest(&self, listing: usize) -> Option<usize> {
        let incarnation = self.listings[listing]?.incarnation;
        self.applications.iter().rposition(|application| application.incarnation == incarnation)
    }

    fn perform(&mut self, action: Action) {
        match action {
            Action::Create { listing, by } => {
                if self.listings[listing].is_none() {
                    self.incarnations += 1;
                    let incarnation = self.incarnations;
                    self.listings[listing] =
                        Some(Offer { incarnation, owner: by, terms: None, paused: false });
                }
            }
            Action::SetTerms { listing, by, terms } => {
                if self.offer(listing, by).is_some() {
                    self.listings[listing].as_mut().unwrap().terms = Some(TERMS[terms]);
                }
            }
            Action::SetPaused { listing, by, paused } => {
                if self.offer(listing, by).is_some() {
                    self.listings[listing].as_mut().unwrap().paused = paused;
                }
            }
            Action::Delete { listing, by } => {
                let Some(offer) = self.offer(listing, by) else { return };
                self.listings[listing] = None;
                for application in &mut self.applications {
                    if application.incarnation == offer.incarnation {
                        (application.is_open, application.is_shared) = (false, false);
                        application.on_chain = None;
                    }
                }
            }
            Action::Require { by, pipeline } => {
                let account = self.account(by);
                self.pipelines[account] = Some(PIPELINES[pipeline].to_vec());
            }
            Action::Apply { listing } => self.apply(listing),
            Action::EndSharing { listing } => {
                let Some(newest) = self.newest(listing).filter(|n| self.applications[*n].is_shared) else {
                    return;
                };
                let application = &mut self.applications[newest];
                (application.is_open, application.is_shared, application.on_chain) = (false, false, None);
            }
            Action::Renew { listing } => {
                let Some(newest) = self.newest(listing).filter(|n| self.applications[*n].is_open) else {
                    return;
                };
                let application = &self.applications[newest];
                let report = self.extended(EMPTY, &application.checks);
                let is_other = !agree(&report.identity, &application.report.identity);
                if !is_other {
                    let application = &mut self.applications[newest];
                    (application.report, application.is_complete) = (report, false);
                    self.compute(newest);
                }
            }
            Action::Decide { listing, by, reasons, .. } => {
                let may = by == 3 || (by < 2 && self.offer(listing, by).is_some());
                let Some(newest) = self.newest(listing).filter(|n| may && self.applications[*n].is_open)
                else {
                    return;
                };
                let [seen, _] = self.disclosed(&self.applications[newest]);
                let is_valid = |check: &Check| {
                    let valid = [CheckStatus::Passed, CheckStatus::NotPassed, CheckStatus::Disputed];
                    seen.checks.iter().any(|(of, status)| of == check && valid.contains(status))
                };
                if PIPELINES[reasons].iter().all(is_valid) {
                    self.applications[newest].is_open = false;
                }
            }
            Action::Verify { inputs, profile } => self.verify(INPUTS[inputs], profile),
            Action::Dispute { result, check } => {
                let (now, check) = (self.now, Check::ALL[check]);
                let Some(index) = self.results.len().checked_sub(1 + result) else { return };
                let result = &mut self.results[index];
                if result.findings.iter().any(|(of, at, _)| *of == check && at + VALID > now) {
                    result.disputed.insert(check);
                }
            }
            Action::Wait { hours } => self.now += hours * 60 * 60,
            Action::Erase => {
                self.applications.clear();
                self.results.clear();
                self.disclosed.clear();
            }
            Action::Tidy => {}
        }
    }

    fn apply(&mut self, listing: usize) {
        let Some(offer) = self.listings[listing] else { return };
        let is_open = self.newest(listing).is_some_and(|newest| self.applications[newest].is_open);
        if offer.paused || is_open {
            return;
        }
        let account = self.account(offer.owner);
        let [_, credit, _, income] = offer.terms.unwrap_or_default();
        let is_required = |check: &Check| {
            let of_terms = match check {
                Check::Income => income > 0,
                Check::SoftCredit => credit > 0,
                _ => false,
            };
            of_terms || self.pipelines[account].as_ref().is_some_and(|checks| checks.contains(check))
        };
        let checks = Check::ALL.into_iter().filter(is_required).collect();
        let (incarnation, terms) = (offer.incarnation, offer.terms);
        let before = self.newest(listing);
        self.applications.push(Application {
            incarnation,
            account,
            terms,
            checks,
            is_open: true,
            is_shared: true,
            is_withheld: false,
            is_complete: false,
            report: EMPTY,
            on_chain: None,
        });
        // Only the newest application to a listing has flags.
        if let Some(before) = before {
            self.compute(before);
        }
        self.compute(self.applications.len() - 1);
    }

    fn verify(&mut self, inputs: Inputs, profile: usize) {
        let is_called = inputs.last_name.is_some();
        let possible = |check: &Check| match check {
            Check::Income => inputs.token.is_some(),
            Check::SoftCredit => is_called && inputs.ssn.is_some(),
            Check::Eviction | Check::CriminalBackground => is_called && inputs.born.is_some(),
        };
        let findings =
            Check::ALL.into_iter().filter(possible).map(|check| (check, self.now, PROFILES[profile]));
        let (findings, disputed) = (findings.collect(), BTreeSet::new());
        self.results.push(ModelResult { inputs, at: self.now, findings, disputed });
        for index in 0..self.applications.len() {
            if self.applications[index].is_open && !self.applications[index].is_complete {
                self.compute(index);
            }
        }
    }
}

/// A world with its callers.
struct Run {
    world: World,
    colleagues: bool,
    results: Vec<VerificationId>,
    which: usize,
}

fn id(listing: usize) -> ListingId {
    ListingId::stored(LISTINGS[listing])
}

fn bob() -> UserId {
    UserId::stored("bob")
}

impl Run {
    async fn new(which: usize, colleagues: bool, profile: Profile) -> Self {
        Self { world: World::new(profile).await, colleagues, results: Vec::new(), which }
    }

    fn landlord(&self, number: usize) -> CallContext {
        let name = ["ann", "amy"][number];
        member(name, if self.colleagues { "acme" } else { name })
    }

    /// What the callers other than the applicant are told.
    async fn perform(&mut self, action: Action) -> String {
        let app = &self.world.app;
        // No two findings have the same time.
        self.world.clock.advance_seconds(1);
        match action {
            Action::Create { listing: number, by } => {
                let new = listing(LISTINGS[number], ["ann", "amy"][by]);
                told(&app.listings.create(&self.landlord(by), new).await)
            }
            Action::SetTerms { listing, by, terms } => {
                told(&self.world.set_terms(&self.landlord(by), &id(listing), TERMS[terms]).await)
            }
            Action::SetPaused { listing, by, paused } => {
                let status = Some(if paused { ListingStatus::Paused } else { ListingStatus::Active });
                let change = ListingChange { status, ..ListingChange::default() };
                told(&app.listings.edit(&self.landlord(by), id(listing), change, None).await)
            }
            Action::Delete { listing, by } => {
                let deleted = told(&app.listings.delete(&self.landlord(by), id(listing)).await);
                app.maintenance.record_flags().await.unwrap();
                deleted
            }
            Action::Require { by, pipeline } => {
                self.world.require(&self.landlord(by), PIPELINES[pipeline]).await;
                String::new()
            }
            Action::Decide { listing, by, adverse, reasons } => {
                let call = match by {
                    0 | 1 => self.landlord(by),
                    2 => person("eve"),
                    _ => operator(),
                };
                let decision = if adverse { Decision::Declined } else { Decision::Approved };
                let basis = match PIPELINES[reasons] {
                    [] => Basis::NoReport,
                    reasons => Basis::Checks(reasons.to_vec()),
                };
                let request = DecisionRequest { decision, basis, note: None, if_match: None };
                told(&app.applications.decide(&call, &bob(), &id(listing), request).await)
            }
            own => {
                self.perform_own(own).await;
                String::new()
            }
        }
    }

    /// The applicant's actions. What the applicant is told may depend on the secrets.
    async fn perform_own(&mut self, action: Action) {
        let (app, own) = (&self.world.app, person("bob"));
        match action {
            Action::Apply { listing } => {
                let seen = SeenConditions::new();
                drop(app.applications.apply(&own, bob(), vec![id(listing)], seen).await);
            }
            Action::EndSharing { listing } => {
                drop(app.applications.end_sharing(&own, &bob(), &id(listing)).await);
            }
            Action::Renew { listing } => drop(app.applications.renew(&own, &bob(), &id(listing)).await),
            Action::Verify { inputs, profile } => {
                self.world.set_facts(PROFILES[profile][self.which]);
                let verified = self.world.screen(&own, INPUTS[inputs]).await.unwrap();
                self.results.push(verified.id);
            }
            Action::Dispute { result, check } => {
                if let Some(index) = self.results.len().checked_sub(1 + result) {
                    drop(app.screening.dispute(&own, &self.results[index], Check::ALL[check]).await);
                }
            }
            Action::Wait { hours } => self.world.clock.advance_seconds(hours * 60 * 60),
            Action::Erase => {
                app.people.erase(&own, &bob()).await.unwrap();
                self.results.clear();
            }
            Action::Tidy => app.maintenance.tidy().await.unwrap(),
            other => panic!("not the applicant's: {other:?}"),
        }
    }

    /// Everything that a caller other than the applicant can read about one listing.
    async fn read(&self, call: &CallContext, listing: usize) -> Reading {
        let (applications, listing) = (&self.world.app.applications, id(listing));
        let view = applications.view(call, &bob(), &listing).await;
        let (mut evaluation, mut tag) = (None, None);
        let view = view.inspect(|view| {
            evaluation = Some(view.evaluation.clone());
            tag = Some(view.tag.clone());
        });
        let applicants = applications.applicants(call, &listing, None, 10).await;
        let mut rest = format!(
            "{:?}\n{:?}\n{:?}\n{:?}\n",
            view.as_ref().map(|view| (&view.id, view.status, view.applied_at, view.terms, &view.findings)),
            view.as_ref().map(|view| (view.is_withheld, &view.sharing, &view.decision, &view.timeline)),
            view.as_ref().map(|view| (&view.notice, view.conditions_seen, &view.name_checks)).ok(),
            applicants.as_ref().map(|page| {
                let of = |applicant: &portico_app::applications::Applicant| {
                    (applicant.user.clone(), applicant.applied_at, applicant.status, applicant.is_withheld)
                };
                page.items.iter().map(of).collect::<Vec<_>>()
            }),
        );
        let listed = applicants.ok().and_then(|page| page.items.into_iter().next());
        let listed = listed.map(|applicant| applicant.evaluation);
        let checked = applications.check(call, &bob(), &listing).await;
        let record = applications.record(call, &bob(), &listing).await;
        // Without a chain a record that is there is an error.
        writeln!(rest, "{}\n{}", told(&checked), told(&record)).unwrap();
        writeln!(rest, "{}", told(&applications.of_user(call, bob()).await)).unwrap();
        writeln!(rest, "{}", told(&applications.page(call, &bob(), None, 10).await)).unwrap();
        Reading { evaluation, listed, tag, rest }
    }
}

/// One caller's answers about one listing.
#[derive(Debug, Clone, PartialEq)]
struct Reading {
    evaluation: Option<Evaluation>,
    listed: Option<Evaluation>,
    tag: Option<String>,
    rest: String,
}

impl Reading {
    fn disclosed(&self) -> Option<Disclosed> {
        self.evaluation.as_ref().map(|evaluation| Disclosed {
            flags: evaluation.flags.map(|flags| flags.passes.bits()),
            checks: evaluation.checks.iter().map(|state| (state.check, state.status)).collect(),
        })
    }
}

fn told<T: Debug>(result: &portico_app::Result<T>) -> String {
    match result {
        Ok(answer) => format!("{answer:?}"),
        Err(error) => format!("error: {error}"),
    }
}

/// Runs a sequence in both worlds, and says what is wrong.
async fn check(colleagues: bool, actions: &[Action], profile: Profile) -> Result<(), String> {
    let mut runs = [Run::new(0, colleagues, profile).await, Run::new(1, colleagues, profile).await];
    let outcome = run_in_both(colleagues, actions, &mut runs).await;
    for run in &runs {
        run.world.app.maintenance.close().await.unwrap();
    }
    outcome
}

async fn run_in_both(colleagues: bool, actions: &[Action], runs: &mut [Run; 2]) -> Result<(), String> {
    let mut model = Model { colleagues, now: runs[0].now(), ..Model::default() };
    for (number, action) in actions.iter().enumerate() {
        let fail = |what: String| Err(format!("after action {number}, {action:?}: {what}"));
        model.now += 1;
        model.perform(*action);
        let [a, b] = &mut *runs;
        let (one, two) = (a.perform(*action).await, b.perform(*action).await);
        if one != two {
            return fail(format!("the answers differ:\n  {one}\n  {two}"));
        }
        if let Err(what) = compare(&model, runs).await {
            return fail(what);
        }
    }
    Ok(())
}

impl Run {
    fn now(&self) -> i64 {
        use portico_app::clock::Clock as _;
        self.world.clock.now().micros() / 1_000_000
    }
}

/// What both worlds tell now, against the model.
async fn compare(model: &Model, [a, b]: &[Run; 2]) -> Result<(), String> {
    for (listing, name) in LISTINGS.iter().enumerate() {
        let owner = model.listings[listing].map(|offer| offer.owner);
        let newest = model.newest(listing).map(|newest| model.disclosed(&model.applications[newest]));
        // The stranger and the operator of nothing: everyone but the owner.
        for (who, call) in [("ann", a.landlord(0)), ("amy", a.landlord(1)), ("eve", person("eve"))] {
            let (one, two) = (a.read(&call, listing).await, b.read(&call, listing).await);
            let is_owner = owner.is_some_and(|owner| ["ann", "amy"][owner] == who);
            if one.rest != two.rest {
                return Err(format!("P1: {who} reads about {name}\n{}\nand\n{}", one.rest, two.rest));
            }
            if !is_owner {
                let told = one.evaluation.is_some() || one.listed.is_some() || one != two;
                if told {
                    return Err(format!("P2, P5: {who} reads about {name}: {one:?}"));
                }
                continue;
            }
            if one.listed.is_some() && one.listed != one.evaluation {
                return Err(format!("{who} reads in the list of {name}: {one:?}"));
            }
            for (world, reading) in [&one, &two].into_iter().enumerate() {
                let expected = newest.as_ref().map(|disclosed| &disclosed[world]);
                if reading.disclosed().as_ref() != expected {
                    let found = reading.disclosed();
                    return Err(format!(
                        "P1, P3, P6: {who} reads about {name} in world {world}\n  {found:?}, expected\n  {expected:?}"
                    ));
                }
            }
            let is_same = newest.as_ref().is_none_or(|[one, two]| one == two);
            if is_same && one != two {
                return Err(format!("P1: {who} reads about {name}\n  {one:?} and\n  {two:?}"));
            }
        }
    }
    compare_chains(model, [a, b]).await?;
    disclosed_terms(model)
}

/// Everyone reads the chain. Flags are opened here by the salts, which nobody else has.
async fn compare_chains(model: &Model, runs: [&Run; 2]) -> Result<(), String> {
    let mut public = Vec::new();
    for (world, run) in runs.into_iter().enumerate() {
        let records = run.world.chain_flags().await;
        let keys: BTreeSet<_> = records.iter().map(|record| record.key).collect();
        if keys.len() != records.len() {
            return Err("two applications share a key".into());
        }
        let mut found: Vec<u8> = records.iter().filter_map(|record| Some(record.passes?.bits())).collect();
        let on_chain = model.applications.iter().filter_map(|application| Some(application.on_chain?[world]));
        let mut expected: Vec<u8> = on_chain.collect();
        found.sort_unstable();
        expected.sort_unstable();
        if found != expected {
            return Err(format!(
                "P3, P4, P7: the chain of world {world} has {found:?}, expected {expected:?}"
            ));
        }
        public.push(records.into_iter().map(|record| record.public).collect::<Vec<_>>());
    }
    if public[0] != public[1] {
        return Err(format!("P8: the chains show {:?} and {:?}", public[0], public[1]));
    }
    Ok(())
}

/// P4, of the model itself: the readings were compared with it.
fn disclosed_terms(model: &Model) -> Result<(), String> {
    for (account, _, at) in &model.disclosed {
        let recent =
            model.disclosed.iter().filter(|(of, _, then)| of == account && then <= at && *then > at - WINDOW);
        let terms: BTreeSet<[i64; 4]> = recent.map(|(_, terms, _)| *terms).collect();
        if terms.len() > MAX_TERMS {
            return Err(format!("P4: account {account} got flags by {terms:?}"));
        }
    }
    Ok(())
}

#[test]
fn nobody_learns_more_than_the_rules_say() {
    let cases = std::env::var("PORTICO_MODEL_CASES").ok().and_then(|cases| cases.parse().ok());
    let config = Config {
        cases: cases.unwrap_or(DEFAULT_CASES),
        max_shrink_iters: 300,
        failure_persistence: None,
        ..Config::default()
    };
    let outcome =
        TestRunner::new(config).run(&(sequence(), any::<bool>()), |((colleagues, actions), live)| {
            let profile = if live { Profile::Live } else { Profile::Sandbox };
            // In a thread of its own, because a thread keeps its connections open as long as it lives.
            let outcome = std::thread::scope(|scope| {
                let run = || {
                    let runtime =
                        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
                    runtime.unwrap().block_on(check(colleagues, &actions, profile))
                };
                scope.spawn(run).join()
            });
            match outcome {
                Ok(outcome) => outcome.map_err(TestCaseError::fail),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}
