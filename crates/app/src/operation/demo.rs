//! Demo data for a sandbox: homes in several cities, applicants, portfolios and devices. It is deterministic, so
//! seeding twice changes nothing.

use portico_domain::chain::Terms;
use portico_domain::geo::Point;
use portico_domain::listings::{Address, Listing};
use portico_domain::portfolios::{ProtocolItem, ProtocolItems, RiskLevel};
use portico_domain::{
    Allocation, Credit, Degrees, ErrorCode, Income, ListingId, Money, TemplateId, Tenant, Text, UserId, Whole,
};
use portico_records::listing_item;
use portico_screening::{Applicant, Field};
use portico_store::chain::{NewRecord, QueueRecord};
use portico_store::{Budget, StoredReply};
use serde::{Deserialize, Serialize};

use crate::caller::{Actor, Call};
use crate::core::answering;
use crate::error::{Error, Result};
use crate::portfolios::templates::NewTemplate;
use crate::portico::Portico;
use crate::profile::Profile;
use crate::screening::service::Verification;

/// Name, state, prefix of postal codes, centre, and usual rent.
type CityData = (&'static str, &'static str, &'static str, f64, f64, i64);
const CITIES: [CityData; 12] = [
    ("Austin", "TX", "787", 30.2672, -97.7431, 1900),
    ("Dallas", "TX", "752", 32.7767, -96.797, 1750),
    ("Houston", "TX", "770", 29.7604, -95.3698, 1600),
    ("Denver", "CO", "802", 39.7392, -104.9903, 2100),
    ("Seattle", "WA", "981", 47.6062, -122.3321, 2400),
    ("Portland", "OR", "972", 45.5152, -122.6784, 1850),
    ("Chicago", "IL", "606", 41.8781, -87.6298, 1950),
    ("Atlanta", "GA", "303", 33.749, -84.388, 1700),
    ("Boston", "MA", "021", 42.3601, -71.0589, 2900),
    ("Brooklyn", "NY", "112", 40.6782, -73.9442, 3100),
    ("Miami", "FL", "331", 25.7617, -80.1918, 2300),
    ("Phoenix", "AZ", "850", 33.4484, -112.074, 1550),
];
const STREETS: [&str; 16] = [
    "Oak Street",
    "Elm Road",
    "Pine Avenue",
    "Maple Drive",
    "Cedar Lane",
    "Birch Court",
    "Willow Way",
    "Juniper Terrace",
    "Aspen Place",
    "Magnolia Boulevard",
    "Chestnut Row",
    "Sycamore Street",
    "Laurel Hill",
    "Poplar Walk",
    "Hawthorn Close",
    "Linden Square",
];
const LISTINGS: usize = 360;
/// The first one is the console's default user.
const LANDLORDS: [&str; 6] = ["ada", "harbor-homes", "northside-rentals", "lone-star-living", "june", "omar"];
/// User, first and last name, score, income.
const APPLICANTS: [(&str, &str, &str, u16, u32); 12] = [
    ("ben", "Ben", "Castillo", 712, 84_000),
    ("mia", "Mia", "Novak", 655, 61_500),
    ("noah", "Noah", "Whitfield", 768, 112_000),
    ("aisha", "Aisha", "Rahman", 590, 52_000),
    ("lucas", "Lucas", "Moreau", 690, 73_250),
    ("emma", "Emma", "Sorensen", 640, 48_900),
    ("kofi", "Kofi", "Mensah", 731, 95_400),
    ("sofia", "Sofia", "Marin", 702, 68_000),
    ("liam", "Liam", "Byrne", 815, 141_000),
    ("hana", "Hana", "Sato", 677, 57_700),
    ("diego", "Diego", "Paredes", 622, 64_800),
    ("zoe", "Zoe", "Abbott", 748, 88_300),
];
/// Name, description, risk, and allocations.
type TemplateData = (&'static str, &'static str, RiskLevel, &'static [(&'static str, &'static str, i64)]);
const TEMPLATES: [TemplateData; 7] = [
    (
        "Steady storage",
        "Storage and bandwidth with long contracts.",
        RiskLevel::Conservative,
        &[("Filecoin", "fil", 50), ("Arweave", "ar", 30), ("Storj", "storj", 20)],
    ),
    (
        "Quiet connectivity",
        "Wireless coverage beside storage.",
        RiskLevel::ModerateConservative,
        &[("Helium", "hnt", 40), ("Filecoin", "fil", 40), ("Pocket", "pokt", 20)],
    ),
    (
        "Balanced networks",
        "A little of everything that has users.",
        RiskLevel::Moderate,
        &[
            ("Helium", "hnt", 30),
            ("Render", "rndr", 30),
            ("Filecoin", "fil", 20),
            ("Hivemapper", "honey", 20),
        ],
    ),
    (
        "Compute first",
        "Graphics and general compute.",
        RiskLevel::ModerateAggressive,
        &[("Render", "rndr", 45), ("Akash", "akt", 35), ("io.net", "io", 20)],
    ),
    (
        "Sensors and maps",
        "Young networks that map the world.",
        RiskLevel::Aggressive,
        &[("Hivemapper", "honey", 40), ("DIMO", "dimo", 30), ("WeatherXM", "wxm", 30)],
    ),
    (
        "Compute and storage",
        "Two sides of the same cloud.",
        RiskLevel::Moderate,
        &[("Akash", "akt", 50), ("Filecoin", "fil", 50)],
    ),
    (
        "All on wireless",
        "For those who believe in radio.",
        RiskLevel::Aggressive,
        &[("Helium", "hnt", 70), ("XNET", "xnet", 30)],
    ),
];
const NETWORKS: [&str; 6] = ["Helium", "Hivemapper", "DIMO", "WeatherXM", "Render", "Filecoin"];
const DEVICES: usize = 120;

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

fn demo_listing(number: usize, draw: &mut Rng) -> Result<(Listing, Terms)> {
    let (city, state, postal, latitude, longitude, usual) = CITIES[number % CITIES.len()];
    let bedrooms = draw.from(1, 4);
    let rent = (usual + (bedrooms - 2) * 420 + draw.from(-8, 14) * 25).max(700);
    let place = Point::new(degrees(latitude + draw.off(0.09))?, degrees(longitude + draw.off(0.11))?);
    let (number_on_street, street) = (draw.from(1, 999), STREETS[draw.below(STREETS.len())]);
    let landlord = LANDLORDS[if number.is_multiple_of(9) { 0 } else { draw.below(LANDLORDS.len()) }];
    let id = ListingId::stored(format!("demo-{}-{number:03}", city.to_lowercase()));
    let address = Address {
        street: Text::stored(format!("{number_on_street} {street}")),
        city: Text::stored(city),
        state: Text::stored(state),
        postal: Text::stored(format!("{postal}{:02}", draw.from(1, 60))),
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

fn as_user(user: &str) -> Call {
    let actor =
        Actor::User { user: UserId::stored(user), tenant: Tenant::User(UserId::stored(user)), admin: false };
    Call::new(actor)
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
    pub async fn seed_demo(&self, call: &Call, progress: impl FnMut(u64, u64) + Send) -> Result<Seeded> {
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
        let steps = (LISTINGS + APPLICANTS.len() + TEMPLATES.len() + DEVICES) as u64;
        let (mut done, mut seeded) = (0, Seeded::default());
        let mut step = || {
            done += 1;
            progress(done, steps);
        };
        let mut draw = Rng(0x9e37_79b9_7f4a_7c15);
        let mut homes = Vec::with_capacity(LISTINGS);
        for number in 0..LISTINGS {
            let (listing, terms) = demo_listing(number, &mut draw)?;
            homes.push(listing.id.clone());
            seeded.listings += u64::from(self.seed_listing(listing, terms).await?);
            step();
        }
        self.core.wake_chain();
        for (number, person) in APPLICANTS.iter().enumerate() {
            let applied: Vec<ListingId> =
                (0..5).map(|n| homes[(number * 31 + n * 47) % homes.len()].clone()).collect();
            let count = applied.len() as u64;
            if self.seed_person(person, applied).await? {
                seeded.applications += count;
                seeded.people += 1;
            }
            step();
        }
        for (number, sketch) in TEMPLATES.iter().enumerate() {
            seeded.portfolios += self.seed_template(number, sketch).await?;
            step();
        }
        for number in 0..DEVICES {
            let (user, network) =
                (if number % 3 == 0 { "dev" } else { APPLICANTS[number % 12].0 }, draw.below(6));
            let identifier = format!("demo-{:08x}", number * 2_654_435_761 % 4_294_967_296);
            let call = as_user(user);
            let made = self.devices.register(
                &call,
                UserId::stored(user),
                Text::stored(NETWORKS[network]),
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
        (user, first, last, score, income): &(&str, &str, &str, u16, u32),
        applied: Vec<ListingId>,
    ) -> Result<bool> {
        let (call, id) = (as_user(user), UserId::stored(*user));
        self.applications.apply(&call, id.clone(), applied).await?;
        let newest = self.core.db.newest_verifications(&id, 1).await?;
        if newest.iter().any(|newest| newest.expires_at > self.core.clock.now()) {
            return Ok(false);
        }
        let mut applicant = Applicant::default();
        let (ssn, token) = (format!("900-00-{score:04}"), format!("income-{income}"));
        for (field, value) in [
            (Field::FirstName, *first),
            (Field::LastName, *last),
            (Field::DateOfBirth, "1990-05-17"),
            (Field::Ssn, &ssn),
            (Field::OpenBankingToken, &token),
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
    async fn seed_template(&self, number: usize, (name, about, risk, shares): &TemplateData) -> Result<u64> {
        let operator = Call::new(Actor::Operator);
        let known = self.portfolios.active_templates(&operator, Some(*risk), None, 1000).await?;
        if known.items.iter().any(|template| template.name.as_str() == *name) {
            return Ok(0);
        }
        let items = shares.iter().map(|(name, id, share)| ProtocolItem {
            protocol_name: Text::stored(*name),
            protocol_identifier: Text::stored(*id),
            allocation_percentage: Allocation::from_units(share * Allocation::SCALE),
        });
        let items = ProtocolItems::new(items.collect()).map_err(|fault| Error::Bug(fault.to_string()))?;
        let new = NewTemplate {
            name: Text::stored(*name),
            description: Some(Text::stored(*about)),
            risk: *risk,
            items,
            active: true,
        };
        let template: TemplateId = self.portfolios.create_template(&operator, new).await?.id;
        for (copy, user) in ["chloe", APPLICANTS[number].0, APPLICANTS[number + 3].0].iter().enumerate() {
            self.portfolios
                .copy_template(&as_user(user), template.clone(), UserId::stored(*user), copy == 1)
                .await?;
        }
        Ok(4)
    }
}
