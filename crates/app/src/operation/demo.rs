//! Demo data for a sandbox: homes in several cities, applicants, portfolios and devices. It is deterministic, so
//! seeding twice changes nothing.

use portico_domain::chain::Terms;
use portico_domain::geo::Point;
use portico_domain::listings::{Address, Listing};
use portico_domain::portfolios::{ProtocolItem, ProtocolItems, RiskLevel};
use portico_domain::{
    Credit, Degrees, Description, ErrorCode, Income, Label, ListingId, Money, TemplateId, Tenant, Text,
    UserId, Whole,
};
use portico_records::listing_item;
use portico_screening::{Applicant, ApplicantField};
use portico_store::chain::{NewRecord, QueueRecord};
use portico_store::{Budget, StoredReply};
use serde::{Deserialize, Serialize};

use crate::applications::SeenConditions;
use crate::caller::{Actor, CallContext};
use crate::core::answering;
use crate::error::{Error, Result};
use crate::portfolios::templates::NewTemplate;
use crate::portico::Portico;
use crate::profile::Profile;
use crate::screening::service::Verification;

const FIXTURES: &str = include_str!("../../fixtures/demo.json");
const LISTINGS: usize = 360;
const DEVICES: usize = 120;

#[derive(Deserialize)]
struct Fixtures {
    cities: Vec<CityFixture>,
    streets: Vec<String>,
    /// The first one is the console's default user.
    landlords: Vec<String>,
    applicants: Vec<Person>,
    templates: Vec<TemplateFixture>,
    networks: Vec<String>,
}

#[derive(Deserialize)]
struct CityFixture {
    name: String,
    state: String,
    /// What its postal codes begin with.
    postal: String,
    latitude: f64,
    longitude: f64,
    /// The usual one.
    rent: i64,
}

#[derive(Deserialize)]
struct Person {
    user: String,
    first: String,
    last: String,
    score: u16,
    income: u32,
}

#[derive(Deserialize)]
struct TemplateFixture {
    name: Label,
    description: Description,
    risk: RiskLevel,
    items: Vec<ProtocolItem>,
}

/// Totals after seeding.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seeded {
    pub listings: u64,
    /// People with a result.
    pub people: u64,
    pub applications: u64,
    /// New templates and portfolios.
    pub portfolios: u64,
    pub devices: u64,
}

/// A deterministic pseudo-random generator.
struct Rng(u64);

impl Rng {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % (limit as u64)).unwrap_or(0)
    }

    fn from(&mut self, least: i64, most: i64) -> i64 {
        least + i64::try_from(self.below(usize::try_from(most - least + 1).unwrap_or(1))).unwrap_or(0)
    }

    /// A random offset of at most this many degrees.
    #[expect(clippy::cast_precision_loss, reason = "a few thousand steps")]
    fn off(&mut self, degrees: f64) -> f64 {
        (self.below(2001) as f64 - 1000.0) / 1000.0 * degrees
    }
}

fn degrees(value: f64) -> Result<Degrees> {
    Degrees::parse(&format!("{value:.6}")).map_err(|fault| Error::Bug(fault.to_string()))
}

fn demo_listing(demo: &Fixtures, number: usize, draw: &mut Rng) -> Result<(Listing, Terms)> {
    let city = &demo.cities[number % demo.cities.len()];
    let bedrooms = draw.from(1, 4);
    let rent = (city.rent + (bedrooms - 2) * 420 + draw.from(-8, 14) * 25).max(700);
    let place =
        Point::new(degrees(city.latitude + draw.off(0.09))?, degrees(city.longitude + draw.off(0.11))?);
    let (number_on_street, street) = (draw.from(1, 999), &demo.streets[draw.below(demo.streets.len())]);
    let landlords = &demo.landlords;
    let landlord = &landlords[if number.is_multiple_of(9) { 0 } else { draw.below(landlords.len()) }];
    let id = ListingId::stored(format!("demo-{}-{number:03}", city.name.to_lowercase()));
    let address = Address {
        street: Text::stored(format!("{number_on_street} {street}")),
        city: Text::stored(&city.name),
        state: Text::stored(&city.state),
        postal: Text::stored(format!("{}{:02}", city.postal, draw.from(1, 60))),
    };
    let listing = Listing {
        rent: Some(Money::from_units(rent * Money::SCALE)),
        property_value: Some(Money::from_units(rent * 210 * Money::SCALE)),
        bedrooms: Some(Whole::from_units(bedrooms)),
        bathrooms: Some(Whole::from_units(draw.from(1, bedrooms.min(3)))),
        place: place.ok(),
        ..Listing::new(id, UserId::stored(landlord), address, Text::stored("US"))
    };
    let (credit, income) = (draw.from(56, 70) * 10, rent * 12 * 5 / 2 / 500 * 500);
    let terms = Terms::new(
        (Some(Credit::from_units(credit)), Some(Credit::from_units(credit + 60))),
        (Some(Income::from_units(income * 100)), Some(Income::from_units(income * 130))),
    );
    Ok((listing, terms.map_err(|_| Error::Bug("terms that contradict themselves".into()))?))
}

fn as_user(user: &str) -> CallContext {
    let actor =
        Actor::User { user: UserId::stored(user), tenant: Tenant::User(UserId::stored(user)), admin: false };
    CallContext::new(actor)
}

/// Ignores conflicts: the row exists already.
fn ignore_conflict<T>(outcome: Result<T>) -> Result<Option<T>> {
    match outcome {
        Err(Error::Conflict(_)) => Ok(None),
        outcome => outcome.map(Some),
    }
}

impl Portico {
    /// Creates demo data; `progress` gets the number of finished and of all steps. A repeated idempotency key returns
    /// the first totals.
    pub async fn seed_demo(
        &self,
        call: &CallContext,
        progress: impl FnMut(u64, u64) + Send,
    ) -> Result<Seeded> {
        if self.core.profile == Profile::Live {
            return Err(Error::NotFound(ErrorCode::NotFound));
        }
        let Some(idempotency_key) = call.idempotency_key else { return self.seed(progress).await };
        if let Some(first) =
            self.core.db.write(StoredReply::new(self.core.store_key(idempotency_key))).await?
        {
            return Ok(first);
        }
        let seeded = self.seed(progress).await?;
        self.core.write(call, answering((), seeded)).await
    }

    async fn seed(&self, mut progress: impl FnMut(u64, u64) + Send) -> Result<Seeded> {
        let demo: Fixtures = serde_json::from_str(FIXTURES).map_err(|error| Error::Bug(error.to_string()))?;
        let steps = (LISTINGS + demo.applicants.len() + demo.templates.len() + DEVICES) as u64;
        let (mut done, mut seeded) = (0, Seeded::default());
        let mut step = || {
            done += 1;
            progress(done, steps);
        };
        let mut draw = Rng(0x9e37_79b9_7f4a_7c15);
        let mut homes = Vec::with_capacity(LISTINGS);
        for number in 0..LISTINGS {
            let (listing, terms) = demo_listing(&demo, number, &mut draw)?;
            homes.push(listing.id.clone());
            seeded.listings += u64::from(self.seed_listing(listing, terms).await?);
            step();
        }
        self.core.chain.wake();
        for (number, person) in demo.applicants.iter().enumerate() {
            let applied: Vec<ListingId> =
                (0..5).map(|n| homes[(number * 31 + n * 47) % homes.len()].clone()).collect();
            let count = applied.len() as u64;
            if self.seed_person(person, applied).await? {
                seeded.applications += count;
                seeded.people += 1;
            }
            step();
        }
        for (number, template) in demo.templates.iter().enumerate() {
            let copied_by = ["chloe", &*demo.applicants[number].user, &*demo.applicants[number + 3].user];
            seeded.portfolios += self.seed_template(template, copied_by).await?;
            step();
        }
        for number in 0..DEVICES {
            let user = if number % 3 == 0 { "dev" } else { &*demo.applicants[number % 12].user };
            let network = &demo.networks[draw.below(demo.networks.len())];
            let identifier = format!("demo-{:08x}", number * 2_654_435_761 % 4_294_967_296);
            let call = as_user(user);
            let made = self.devices.register(
                &call,
                UserId::stored(user),
                Text::stored(network),
                Text::stored(identifier),
            );
            seeded.devices += u64::from(ignore_conflict(made.await)?.is_some());
            step();
        }
        Ok(seeded)
    }

    /// The running server signs the listing's record.
    async fn seed_listing(&self, listing: Listing, terms: Terms) -> Result<bool> {
        let by = self.core.context(&as_user(listing.user.as_str()));
        let desired = listing_item(&listing, terms, self.core.random()?, by.at);
        let record = QueueRecord(NewRecord {
            listing,
            desired,
            by,
            idempotency_key: None,
            budget: Budget::default(),
            payer: None,
        });
        Ok(ignore_conflict(self.core.db.write(record).await.map_err(Into::into))?.is_some())
    }

    async fn seed_person(
        &self,
        Person { user, first, last, score, income }: &Person,
        applied: Vec<ListingId>,
    ) -> Result<bool> {
        let (call, id) = (as_user(user), UserId::stored(user));
        self.applications.apply(&call, id.clone(), applied, SeenConditions::new()).await?;
        if !self.core.db.valid_verifications(&id, self.core.clock.now()).await?.is_empty() {
            return Ok(false);
        }
        let mut applicant = Applicant::default();
        let (ssn, token) = (format!("900-00-{score:04}"), format!("income-{income}"));
        for (field, value) in [
            (ApplicantField::FirstName, first.as_str()),
            (ApplicantField::LastName, last),
            (ApplicantField::DateOfBirth, "1990-05-17"),
            (ApplicantField::Ssn, &ssn),
            (ApplicantField::OpenBankingToken, &token),
        ] {
            let today = portico_screening::personal::day_of(self.core.clock.now());
            applicant.set(field, value, today).map_err(|fault| Error::Bug(fault.to_string()))?;
        }
        let asked = Verification {
            verified: None,
            client: None,
            case: None,
            wallet: None,
            applicant,
            consented_at: Some(self.core.clock.now()),
            consent_version: None,
        };
        self.screening.verify(&call, asked).await?;
        Ok(true)
    }

    /// A template and some users' copies of it.
    async fn seed_template(&self, template: &TemplateFixture, copied_by: [&str; 3]) -> Result<u64> {
        let operator = CallContext::new(Actor::Operator);
        let known = self.portfolios.active_templates(&operator, Some(template.risk), None, 1000).await?;
        if known.items.iter().any(|known| known.name == template.name) {
            return Ok(0);
        }
        let items = ProtocolItems::new(template.items.clone());
        let new = NewTemplate {
            name: template.name.clone(),
            description: Some(template.description.clone()),
            risk: template.risk,
            items: items.map_err(|fault| Error::Bug(fault.to_string()))?,
            active: true,
        };
        let id: TemplateId = self.portfolios.create_template(&operator, new).await?.id;
        for (copy, user) in copied_by.into_iter().enumerate() {
            self.portfolios
                .copy_template(&as_user(user), id.clone(), UserId::stored(user), copy == 1)
                .await?;
        }
        Ok(4)
    }
}
