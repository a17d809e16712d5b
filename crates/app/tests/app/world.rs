//! A test application.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use portico_app::clock::{CalendarClock, Clock, Ids, Randomness};
use portico_app::consents::Consents;
use portico_app::keystore::{Keystore, Root};
use portico_app::readiness::WriteProof;
use portico_app::screening::{Applicant, Bureaus, Verification, Verified};
use portico_app::tokens::Tokens;
use portico_app::vault::{ROOT_BYTES, Vault};
use portico_app::{Actor, Call, Core, Portico, Profile};
use portico_domain::keys::KeyScope;
use portico_domain::listings::{Address, Listing};
use portico_domain::{AccountId, Country, KeyId, ListingId, Text, Timestamp, UserId};
use portico_screening::config::{BuildContext, ScreeningConfig};
use portico_screening::{Field, personal::day_of};
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
        self.0.fetch_add(days * 24 * 60 * 60 * 1_000_000, Ordering::Relaxed);
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

impl Randomness for Numbers {
    fn fill(&self, bytes: &mut [u8]) -> portico_app::Result<()> {
        let number = self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        for (byte, value) in bytes.iter_mut().zip(number.iter().rev().cycle()) {
            *byte = *value;
        }
        Ok(())
    }
}

pub(crate) struct World {
    pub(crate) app: Portico,
    pub(crate) clock: Arc<FakeClock>,
    _folder: TempDir,
}

impl World {
    pub(crate) async fn new(profile: Profile) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root: SecretSlice<u8> = vec![7; ROOT_BYTES].into();
        let db = Db::open(&Location::Sqlite(folder.path().join("portico.db")), Role::Server).await.unwrap();
        let keystore = Location::Sqlite(folder.path().join("keys.db"));
        let keystore = Keystore::open(&keystore, Root::new(&root).unwrap()).await.unwrap();
        let clock = Arc::new(FakeClock(AtomicI64::new(1_700_000_000_000_000)));
        let now = clock.clone();
        let surroundings =
            BuildContext { sandbox_key: &root, now: Arc::new(move || now.now()), env: &|_: &str| None };
        let screening = ScreeningConfig::default().build(&BTreeMap::new(), &surroundings).unwrap();
        let app = Portico::new(Core {
            db,
            clock: CalendarClock::new(clock.clone()),
            ids: Arc::new(Numbers::default()),
            randomness: Arc::new(Numbers::default()),
            vault: Arc::new(Vault::new(&root).unwrap()),
            tokens: Tokens::new(&root, None, profile).unwrap(),
            profile,
            country: Country::stored("US"),
            keystore: Some(keystore),
            bureaus: Bureaus::new(screening),
            consents: Consents::default(),
            retention_days: 30,
            chain: None,
            write_proof: WriteProof::default(),
        });
        Self { app, clock, _folder: folder }
    }

    pub(crate) async fn add_listing(&self, id: &str, owner: &str) -> ListingId {
        let listing = listing(id, owner);
        self.app.listings.create(&person(owner), listing).await.unwrap();
        ListingId::stored(id)
    }

    pub(crate) async fn verify(&self, call: &Call, last_name: &str) -> portico_app::Result<Verified> {
        let mut applicant = Applicant::default();
        let today = day_of(self.clock.now());
        for (field, value) in [
            (Field::FirstName, "Ada"),
            (Field::LastName, last_name),
            (Field::DateOfBirth, "1990-05-17"),
            (Field::Ssn, "900-00-0700"),
            (Field::OpenBankingToken, "income-85000"),
        ] {
            applicant.set(field, value, today).unwrap();
        }
        self.app.screening.verify(call, verification(applicant)).await
    }
}

pub(crate) fn verification(applicant: Applicant) -> Verification {
    Verification {
        verified: None,
        client: None,
        case: None,
        wallet: None,
        applicant,
        consented_at: None,
        consent_version: None,
    }
}

pub(crate) fn listing(id: &str, owner: &str) -> Listing {
    let address = Address {
        street: Text::stored("1 Oak Street"),
        city: Text::stored("Austin"),
        state: Text::stored("TX"),
        postal: Text::stored("78701"),
    };
    Listing::new(ListingId::stored(id), UserId::stored(owner), address, Country::stored("US"))
}

pub(crate) fn call(actor: Actor) -> Call {
    Call { actor, idempotency_key: None }
}

pub(crate) fn anonymous() -> Call {
    call(Actor::Anonymous)
}

pub(crate) fn operator() -> Call {
    call(Actor::Operator)
}

pub(crate) fn person(user: &str) -> Call {
    call(Actor::User { user: UserId::stored(user), account: AccountId::stored(user), admin: false })
}

pub(crate) fn account_key(account: &str) -> Call {
    call(Actor::Key { id: KeyId::stored("k"), scope: KeyScope::Account(AccountId::stored(account)) })
}
