//! A test application, on either engine.

use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::pin::Pin;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use portico_app::budgets::Budgets;
use portico_app::clock::{CalendarClock, Clock, Ids, Randomness};
use portico_app::keystore::{Keystore, Root};
use portico_app::screening::{Applicant, Bureaus, Verification, VerificationResult};
use portico_app::tokens::Tokens;
use portico_app::vault::{ROOT_BYTES, Vault};
use portico_app::{Actor, Builder, CallContext, ListingDetails, NewListing, Parts, Portico, Profile};
use portico_domain::chain::{Passes, Terms};
use portico_domain::keys::KeyScope;
use portico_domain::listing_changes::ListingChange;
use portico_domain::listings::Address;
use portico_domain::pipelines::Pipeline;
use portico_domain::{AccountId, CaseId, Country, Income, KeyId, ListingId, Tenant, Text, Timestamp, UserId};
use portico_records::{Content, ItemKind};
use portico_screening::config::{BuildContext, ScreeningConfig};
use portico_screening::{
    ApplicantField, Bureau, Check, CheckFuture, Finding, Request, Routing, Sandbox, Score, personal::day_of,
};
use portico_store::chain::Word;
use portico_store::screening::Case;
use portico_store::{Db, Location, Role};
use secrecy::SecretSlice;
use tempfile::TempDir;

/// Moves only when a test advances it.
#[derive(Debug)]
pub(crate) struct FakeClock(AtomicI64);

impl Clock for FakeClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::Relaxed))
    }
}

impl FakeClock {
    pub(crate) fn advance_days(&self, days: i64) {
        self.advance_seconds(days * 24 * 60 * 60);
    }

    pub(crate) fn advance_seconds(&self, seconds: i64) {
        self.0.fetch_add(seconds * 1_000_000, Ordering::Relaxed);
    }
}

/// Returns increasing numbers.
#[derive(Debug, Default)]
struct Numbers(AtomicU64);

impl Ids for Numbers {
    fn next(&self) -> String {
        format!("id-{:06}", self.0.fetch_add(1, Ordering::Relaxed))
    }
}

/// Keeps the words that were drawn: salts are among them.
#[derive(Debug, Default)]
struct RecordedRandomness {
    numbers: AtomicU64,
    drawn: Mutex<Vec<Word>>,
}

impl Randomness for RecordedRandomness {
    fn fill(&self, bytes: &mut [u8]) -> portico_app::Result<()> {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        for (byte, value) in bytes.iter_mut().zip(number.iter().rev().cycle()) {
            *byte = *value;
        }
        if let Ok(word) = Word::try_from(&*bytes) {
            self.drawn.lock().unwrap_or_else(PoisonError::into_inner).push(word);
        }
        Ok(())
    }
}

/// What the bureau knows about everyone. `None`: as the sandbox's bureau answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) score: Option<u16>,
    /// In whole units of the currency.
    pub(crate) income: Option<i64>,
    pub(crate) evicted: Option<bool>,
    pub(crate) criminal: Option<bool>,
}

/// The sandbox's bureau with facts that a test sets: there a score is part of the SSN, and so of the identity.
struct TestBureau {
    sandbox: Sandbox,
    facts: Mutex<Facts>,
}

impl Bureau for TestBureau {
    fn name(&self) -> &str {
        Sandbox::NAME
    }

    fn check<'a>(&'a self, request: Request<'a>) -> CheckFuture<'a> {
        let facts = *self.facts.lock().unwrap_or_else(PoisonError::into_inner);
        let found = match request.check {
            Check::SoftCredit => facts.score.map(|points| Finding::SoftCredit {
                score: Score::clamped(points),
                range: None,
                factors: Vec::new(),
            }),
            Check::Income => facts
                .income
                .map(|whole| Finding::Income { yearly: Income::from_units(whole * Income::SCALE) }),
            Check::Eviction => facts.evicted.map(|found| Finding::Eviction { found }),
            Check::CriminalBackground => facts.criminal.map(|found| Finding::CriminalBackground { found }),
        };
        match found {
            Some(finding) => Box::pin(async move { Ok(finding) }),
            None => self.sandbox.check(request),
        }
    }

    fn uses_circuit_breaker(&self) -> bool {
        false
    }
}

/// What an applicant gives to a verification. The last name and what is present select the checks: names and a date of
/// birth for evictions and criminal records, names and an SSN for credit, a token for income.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Inputs {
    /// With a first name that is always the same.
    pub(crate) last_name: Option<&'static str>,
    pub(crate) born: Option<&'static str>,
    pub(crate) ssn: Option<&'static str>,
    pub(crate) token: Option<&'static str>,
}

impl Inputs {
    /// Selects every check: a score of 700 and an income of 85,000.
    pub(crate) const ALL: Self = Self {
        last_name: Some("Lovelace"),
        born: Some("1990-05-17"),
        ssn: Some("900-00-0700"),
        token: Some("income-85000"),
    };
    pub(crate) const INCOME: Self = Self { last_name: None, born: None, ssn: None, ..Self::ALL };
    pub(crate) const CREDIT: Self = Self { born: None, token: None, ..Self::ALL };
    pub(crate) const CREDIT_AND_INCOME: Self = Self { born: None, ..Self::ALL };
    pub(crate) const RECORDS: Self = Self { ssn: None, token: None, ..Self::ALL };
}

/// An application's flags on the chain, as everyone reads them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChainFlags {
    pub(crate) key: Word,
    /// `None`: they were cleared.
    pub(crate) passes: Option<Passes>,
    /// What everybody reads, but for random bytes: version and day of expiry.
    pub(crate) public: (i64, Option<u32>),
}

/// Where worlds keep their databases.
#[derive(Debug, Clone)]
pub(crate) enum Site {
    Sqlite,
    /// Databases are not dropped one by one; they disappear with the server.
    Postgres(String),
}

/// Boxed, because compiling a runtime for each test is slow.
pub(crate) type Test = fn(World) -> Pin<Box<dyn Future<Output = ()>>>;

impl Site {
    pub(crate) fn postgres() -> Self {
        let Ok(url) = std::env::var("PORTICO_TEST_POSTGRES") else {
            panic!(
                "PORTICO_TEST_POSTGRES is not set: use `make test` or `scripts/with-postgres cargo test …`"
            );
        };
        Self::Postgres(url)
    }

    /// Runs a test in each profile.
    pub(crate) fn run(&self, test: Test) {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        for profile in [Profile::Sandbox, Profile::Live] {
            runtime.block_on(async { test(World::on(self, profile).await).await });
        }
    }

    async fn location(&self, folder: &TempDir) -> Location {
        match self {
            Self::Sqlite => Location::Sqlite(folder.path().join("portico.db")),
            Self::Postgres(url) => {
                let name = format!("t{:016x}", RandomState::new().hash_one(0_u8));
                let (client, io) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
                let io = tokio::spawn(io);
                client.simple_query(&format!("CREATE DATABASE {name} TEMPLATE template0")).await.unwrap();
                drop(client);
                io.await.unwrap().unwrap();
                let (server, _) = url.rsplit_once('/').unwrap();
                Location::Postgres(format!("{server}/{name}"))
            }
        }
    }
}

pub(crate) struct World {
    pub(crate) app: Portico,
    pub(crate) clock: Arc<FakeClock>,
    db: Db,
    bureau: Arc<TestBureau>,
    random: Arc<RecordedRandomness>,
    _folder: TempDir,
}

impl World {
    /// On SQLite.
    pub(crate) async fn new(profile: Profile) -> Self {
        Self::on(&Site::Sqlite, profile).await
    }

    pub(crate) async fn on(site: &Site, profile: Profile) -> Self {
        Self::with_budgets(site, profile, Budgets::default()).await
    }

    pub(crate) async fn with_budgets(site: &Site, profile: Profile, budgets: Budgets) -> Self {
        // In memory where that is possible: nothing here tests what survives a crash, and syncing takes most of the time.
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let root: SecretSlice<u8> = vec![7; ROOT_BYTES].into();
        let db = Db::open(&site.location(&folder).await, Role::Server).await.unwrap();
        let keystore = Location::Sqlite(folder.path().join("keys.db"));
        let keystore = Keystore::open(&keystore, Root::new(&root).unwrap()).await.unwrap();
        let clock = Arc::new(FakeClock(AtomicI64::new(1_700_000_000_000_000)));
        let now = clock.clone();
        let surroundings =
            BuildContext { sandbox_key: &root, now: Arc::new(move || now.now()), env: &|_: &str| None };
        let mut screening = ScreeningConfig::default().build(&BTreeMap::new(), &surroundings).unwrap();
        let bureau = Arc::new(TestBureau { sandbox: Sandbox::new(&root), facts: Mutex::default() });
        screening.routing = Routing::all(bureau.clone());
        let random = Arc::new(RecordedRandomness::default());
        let app = Builder::new(Parts {
            db: db.clone(),
            profile,
            vault: Vault::new(&root).unwrap(),
            tokens: Tokens::new(&root, None, profile).unwrap(),
            bureaus: Bureaus::new(screening),
        })
        .clock(CalendarClock::new(clock.clone()))
        .ids(Arc::new(Numbers::default()))
        .randomness(random.clone())
        .keystore(keystore)
        .budgets(budgets)
        .build();
        Self { app, clock, db, bureau, random, _folder: folder }
    }

    /// What the bureau answers from now on.
    pub(crate) fn set_facts(&self, facts: Facts) {
        *self.bureau.facts.lock().unwrap_or_else(PoisonError::into_inner) = facts;
    }

    pub(crate) async fn add_listing(&self, id: &str, owner: &str) -> ListingId {
        let listing = listing(id, owner);
        self.app.listings.create(&person(owner), listing).await.unwrap();
        ListingId::stored(id)
    }

    /// Minimum and preferred credit score, then income in whole units of the currency.
    pub(crate) async fn set_terms(
        &self,
        call: &CallContext,
        listing: &ListingId,
        terms: [i64; 4],
    ) -> portico_app::Result<ListingDetails> {
        let change = ListingChange { terms: terms_of(terms).into(), ..ListingChange::default() };
        self.app.listings.edit(call, listing.clone(), change, None).await
    }

    /// A new listing with terms.
    pub(crate) async fn offer(&self, id: &str, owner: &CallContext, terms: [i64; 4]) -> ListingId {
        let Actor::User { user, .. } = &owner.actor else { panic!("a listing needs an owner") };
        self.app.listings.create(owner, listing(id, user.as_str())).await.unwrap();
        let id = ListingId::stored(id);
        self.set_terms(owner, &id, terms).await.unwrap();
        id
    }

    /// The account of the caller requires exactly these checks.
    pub(crate) async fn require(&self, call: &CallContext, checks: &[Check]) {
        self.require_in(call, checks, None).await;
    }

    /// In a country.
    pub(crate) async fn require_in(&self, call: &CallContext, checks: &[Check], country: Option<&str>) {
        let is_required = |check| Some(checks.contains(&check));
        let change = Pipeline {
            client: None,
            eviction: is_required(Check::Eviction),
            income: is_required(Check::Income),
            soft_credit: is_required(Check::SoftCredit),
            criminal_background: is_required(Check::CriminalBackground),
            country: country.map(Country::stored),
        };
        self.app.screening.put_pipeline(call, change).await.unwrap();
    }

    pub(crate) async fn verify(
        &self,
        call: &CallContext,
        last_name: &'static str,
    ) -> portico_app::Result<VerificationResult> {
        self.screen(call, Inputs { last_name: Some(last_name), ..Inputs::ALL }).await
    }

    /// In a new case.
    pub(crate) async fn screen(
        &self,
        call: &CallContext,
        inputs: Inputs,
    ) -> portico_app::Result<VerificationResult> {
        self.app.screening.verify(call, verification(self.applicant(inputs))).await
    }

    /// In a case that earlier results may belong to: its findings are used again while they are valid.
    pub(crate) async fn screen_in(
        &self,
        call: &CallContext,
        inputs: Inputs,
        case: &str,
    ) -> portico_app::Result<VerificationResult> {
        let case = Some(CaseId::stored(case));
        let request = Verification { case, ..verification(self.applicant(inputs)) };
        self.app.screening.verify(call, request).await
    }

    pub(crate) fn applicant(&self, inputs: Inputs) -> Applicant {
        let Inputs { last_name, born, ssn, token } = inputs;
        let mut applicant = Applicant::default();
        let today = day_of(self.clock.now());
        for (field, value) in [
            (ApplicantField::FirstName, last_name.map(|_| "Ada")),
            (ApplicantField::LastName, last_name),
            (ApplicantField::DateOfBirth, born),
            (ApplicantField::Ssn, ssn),
            (ApplicantField::OpenBankingToken, token),
        ] {
            if let Some(value) = value {
                applicant.set(field, value, today).unwrap();
            }
        }
        applicant
    }

    pub(crate) async fn audit_entries(&self) -> i64 {
        self.db.audit_head().await.unwrap().seq
    }

    pub(crate) async fn stored_verifications(&self, user: &UserId) -> usize {
        self.db.verifications(user, None, 1000).await.unwrap().items.len()
    }

    pub(crate) async fn cases_of(&self, user: &UserId) -> Vec<Case> {
        self.db.cases_of(user).await.unwrap()
    }

    /// The keys of all tokens that are to be on the chain.
    pub(crate) async fn minted_tokens(&self) -> HashSet<Word> {
        let items = self.db.chain_items_after(ItemKind::Identity, &[], 100_000).await.unwrap();
        items.into_iter().filter(|listed| !listed.deleted).map(|listed| listed.item.key).collect()
    }

    pub(crate) async fn people_who_applied(&self) -> usize {
        self.db.people_who_applied(None, 100_000).await.unwrap().len()
    }

    /// The flags of all applications, as they are to be on the chain.
    pub(crate) async fn chain_flags(&self) -> Vec<ChainFlags> {
        let items = self.db.chain_items_after(ItemKind::Check, &[], 10_000).await.unwrap();
        let salts = self.random.drawn.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let flags = items.into_iter().map(|listed| {
            let (key, version) = (listed.item.key, listed.item.version);
            let commitment = match Content::decode(ItemKind::Check, &listed.item.payload).unwrap() {
                Content::Check(commitment) => Some(commitment),
                _ => None,
            };
            let passes = commitment.map(|commitment| {
                let open = |salt: &Word| commitment.open(&key, salt);
                salts.iter().find_map(open).expect("a salt opens it").passes
            });
            ChainFlags { key, passes, public: (version, commitment.map(|commitment| commitment.expiry_day)) }
        });
        flags.collect()
    }
}

/// Minimum and preferred credit score, then income in whole units of the currency.
pub(crate) fn terms_of([min_credit, pref_credit, min_income, pref_income]: [i64; 4]) -> Terms {
    let cents = |whole: i64| whole * Income::SCALE;
    Terms::from_units([min_credit, pref_credit, cents(min_income), cents(pref_income)]).unwrap()
}

pub(crate) fn verification(applicant: Applicant) -> Verification {
    Verification {
        verified: None,
        client: None,
        case: None,
        wallet: None,
        applicant,
        consented_at: None,
        consent_version: Some(Text::stored("2026-01")),
    }
}

pub(crate) fn listing(id: &str, owner: &str) -> NewListing {
    let address = Address {
        street: Text::stored("1 Oak Street"),
        city: Text::stored("Austin"),
        state: Text::stored("TX"),
        postal: Text::stored("78701"),
    };
    NewListing {
        id: Some(ListingId::stored(id)),
        user: UserId::stored(owner),
        address,
        country: None,
        rent: None,
        property_value: None,
        bedrooms: None,
        bathrooms: None,
        place: None,
        walkthrough: None,
    }
}

pub(crate) fn call(actor: Actor) -> CallContext {
    CallContext::new(actor)
}

pub(crate) fn anonymous() -> CallContext {
    call(Actor::Anonymous)
}

pub(crate) fn operator() -> CallContext {
    call(Actor::Operator)
}

pub(crate) fn person(user: &str) -> CallContext {
    call(Actor::User { user: UserId::stored(user), tenant: Tenant::User(UserId::stored(user)), admin: false })
}

/// Signed in for an account that others belong to as well.
pub(crate) fn member(user: &str, account: &str) -> CallContext {
    let tenant = Tenant::Account(AccountId::stored(account));
    call(Actor::User { user: UserId::stored(user), tenant, admin: false })
}

pub(crate) fn user_key(user: &str) -> CallContext {
    call(Actor::Key { id: KeyId::stored("k"), scope: KeyScope::User(UserId::stored(user)) })
}

pub(crate) fn account_key(account: &str) -> CallContext {
    call(Actor::Key { id: KeyId::stored("k"), scope: KeyScope::Account(AccountId::stored(account)) })
}
