//! Every public method of every service: each takes a caller, and a live instance refuses the wrong ones. The sources
//! say which methods there are, so that none can be forgotten.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use portico_app::applications::{Basis, DecisionRequest, SeenConditions};
use portico_app::audit::{Anchor, AuditFilter};
use portico_app::chain_admin::{ChainAdmin, ChainLocation, ChainSettings};
use portico_app::clock::{CalendarClock, SystemClock};
use portico_app::portfolios::NewPortfolio;
use portico_app::templates::NewTemplate;
use portico_app::tokens::NewToken;
use portico_app::{CallContext, Database, Error, Location, Profile, Result, Role, keystore};
use portico_domain::applications::Decision;
use portico_domain::chain::Terms;
use portico_domain::clusters::Zoom;
use portico_domain::keys::{KeyFilter, KeyScope};
use portico_domain::listing_changes::ListingChange;
use portico_domain::listings::ListingFilter;
use portico_domain::pipelines::Pipeline;
use portico_domain::portfolios::{PortfolioChange, ProtocolItems, RiskLevel, TemplateChange};
use portico_domain::requirements::RequirementsRecord;
use portico_domain::{
    AccountId, CaseId, DeviceId, ErrorCode, KeyId, ListingId, PortfolioId, SafeInteger, TemplateId, Text,
    UserId, VerificationId,
};
use portico_screening::Check;

use crate::world::{Inputs, World, account_key, anonymous, listing, operator, person, verification};

/// They authenticate, tell nothing about anybody, or are read by the server itself.
const WITHOUT_CALLER: [&str; 5] =
    ["audit.is_altered", "audit.knows_key", "keys.jwks", "keys.verify", "keys.verify_token"];
/// For the keystore, of which these worlds have only one, and whose loss has its own tests.
const WITH_ANOTHER_KEYSTORE: &str = "people.replace_keystore";

/// `+` past the check of the caller, `u` unauthenticated, `f` forbidden, `n` not found. There is no chain here: what
/// only reads it gets past the check as well.
fn letter<T>(result: Result<T>) -> char {
    match result.map(drop) {
        Err(Error::Unauthenticated(_)) => 'u',
        Err(Error::Forbidden(_) | Error::Refused(ErrorCode::FindingNotYours)) => 'f',
        Err(Error::NotFound(_)) => 'n',
        Ok(()) | Err(_) => '+',
    }
}

/// Ada's things, and a template.
struct Made {
    portfolio: PortfolioId,
    template: TemplateId,
    device: DeviceId,
    key: KeyId,
    verification: VerificationId,
    token: String,
}

fn new_template() -> NewTemplate {
    let items = ProtocolItems::default();
    NewTemplate { name: Text::stored("T"), description: None, risk: RiskLevel::Moderate, items, active: true }
}

fn new_portfolio(user: &UserId) -> NewPortfolio {
    NewPortfolio {
        user: user.clone(),
        name: None,
        description: None,
        risk: RiskLevel::Moderate,
        items: ProtocolItems::default(),
        based_on: None,
        custom: true,
    }
}

async fn with_things_of_ada() -> (World, Made) {
    let world = World::new(Profile::Live).await;
    let (ada, user) = (person("ada"), UserId::stored("ada"));
    let app = &world.app;
    world.add_listing("oak", "ada").await;
    world.add_listing("elm", "ann").await;
    app.applications
        .apply(&ada, user.clone(), vec![ListingId::stored("elm")], SeenConditions::new())
        .await
        .unwrap();
    app.screening.put_pipeline(&ada, Pipeline { income: Some(true), ..Pipeline::default() }).await.unwrap();
    let verified = world.screen(&ada, Inputs::INCOME).await.unwrap();
    let scope = KeyScope::User(user.clone());
    let made = Made {
        portfolio: app.portfolios.create(&ada, new_portfolio(&user)).await.unwrap().id,
        template: app.portfolios.create_template(&operator(), new_template()).await.unwrap().id,
        device: app.devices.register(&ada, user, Text::stored("N"), Text::stored("1")).await.unwrap(),
        key: app.keys.create(&ada, Text::stored("k"), scope, None).await.unwrap().id,
        verification: verified.id,
        token: verified.token,
    };
    (world, made)
}

/// Calls everything about ada's things: for each method, what an anonymous caller, another person, a key of another
/// account and the operator get, and what this caller gets.
#[expect(clippy::too_many_lines, reason = "one line for each method")]
async fn all(world: &World, made: &Made, call: &CallContext) -> Vec<(&'static str, &'static str, char)> {
    let app = &world.app;
    let (ada, oak, elm) = (UserId::stored("ada"), ListingId::stored("oak"), ListingId::stored("elm"));
    let (network, number) = (Text::stored("N"), SafeInteger::from_units(1));
    let label = || Text::stored("x");
    let Made { portfolio, template, device, key, verification: result, token } = made;
    macro_rules! table {
        ($($name:literal $expected:literal $outcome:expr),+ $(,)?) => {
            vec![$(($name, $expected, letter(Box::pin(async { $outcome }).await))),+]
        };
    }
    table! {
        "applications.apply" "uff+" app.applications.apply(
            call, ada.clone(), vec![elm.clone()], SeenConditions::new(),
        ).await,
        "applications.of_user" "uff+" app.applications.of_user(call, ada.clone()).await,
        "applications.check" "uff+" app.applications.check(call, &ada, &elm).await,
        "applications.record" "uff+" app.applications.record(call, &ada, &elm).await,
        "applications.view" "uff+" app.applications.view(call, &ada, &elm).await,
        "applications.page" "uff+" app.applications.page(call, &ada, None, 1).await,
        "applications.applicants" "uff+" app.applications.applicants(call, &elm, None, 1).await,
        "applications.qualification" "u+uu" app.applications.qualification(call, &elm).await,
        "applications.decide" "uff+" app.applications.decide(call, &ada, &elm, DecisionRequest {
            decision: Decision::Approved, basis: Basis::NoReport, note: None, if_match: None,
        }).await,
        "applications.conditions" "++++" app.applications.conditions(call, &elm).await,
        "applications.check_name" "uff+" app.applications.check_name(call, (&ada, &elm), ("Ada", "Ada")).await,
        "applications.proof" "ffff" app.applications.proof(call, &ada, &elm).await,
        "applications.renew" "ffff" app.applications.renew(call, &ada, &elm).await,
        "applications.end_sharing" "ffff" app.applications.end_sharing(call, &ada, &elm).await,
        "audit.log" "fff+" app.audit.log(call).await,
        "audit.inspect" "fff+" app.audit.inspect(call, Anchor::Unknown, |_| ()).await,
        "audit.reader" "fff+" app.audit.reader(call, AuditFilter::default()).await,
        "audit.status" "fff+" app.audit.status(call).await,
        "audit.begin_verification" "fff+" app.audit.begin_verification(call),
        "chain.status" "++++" app.chain.status(call).await,
        "chain.blocks" "++++" app.chain.blocks(call, None, 1).await,
        "chain.block" "++++" app.chain.block(call, 0).await,
        "chain.transaction" "++++" app.chain.transaction(call, [0; 32]).await,
        "chain.transactions" "++++" app.chain.transactions(call, portico_app::chain::Address::ZERO, None, 1).await,
        "chain.rpc" "++++" app.chain.rpc(call),
        "chain.queue" "fff+" app.chain.queue(call).await,
        "chain.retry" "fff+" app.chain.retry(call).await,
        "configuration.settings" "fff+" app.configuration.settings(call),
        "devices.register" "uff+" app.devices.register(call, ada.clone(), network.clone(), Text::stored("2")).await,
        "devices.register_all" "uff+"
            app.devices.register_all(call, ada.clone(), vec![(network.clone(), Text::stored("3"))]).await,
        "devices.get" "uff+" app.devices.get(call, device).await,
        "devices.of_user" "uff+" app.devices.of_user(call, &ada, None, 1).await,
        "devices.on_network" "uff+" app.devices.on_network(call, &network, None, 1).await,
        "devices.statistics" "uff+" app.devices.statistics(call, None).await,
        "devices.delete" "uff+" app.devices.delete(call, device.clone()).await,
        "identities.identity" "unuu" app.identities.identity(call, token).await,
        "identities.begin_claim" "unuu" app.identities.begin_claim(call, token, Some([1; 20]), "host").await,
        "identities.claim" "unuu"
            app.identities.claim(call, token, &Text::stored("n"), &Text::stored("0x12")).await,
        "identities.create" "u+uu" app.identities.create(call, CaseId::stored("c"), &Text::stored("w")).await,
        "identities.validate" "unuu" app.identities.validate(call, result.clone(), "Ada", "Lovelace").await,
        "identities.revoke" "unn+" app.identities.revoke(call, token).await,
        "keys.create" "fff+" app.keys.create(call, label(), KeyScope::User(ada.clone()), None).await,
        "keys.issue_token" "fff+" app.keys.issue_token(call, &NewToken {
            user: ada.clone(), account: None, admin: true, ttl: Duration::from_secs(1),
        }).await,
        "keys.open_session" "nnnn" app.keys.open_session(call, ada.clone(), false).await,
        "keys.own" "u+uu" app.keys.own(call).await,
        "keys.all" "fff+" app.keys.all(call).await,
        "keys.reader" "fff+" app.keys.reader(call, KeyFilter::default()).await,
        "keys.revoke" "unu+" app.keys.revoke(call, key.clone()).await,
        "listings.create" "uff+" app.listings.create(call, listing("ash", "ada")).await,
        "listings.record" "uff+" app.listings.record(call, listing("fir", "ada"), Terms::from_units([0; 4]).unwrap()).await,
        "listings.terms" "++++" app.listings.terms(call, &oak).await,
        "listings.record_status" "++++" app.listings.record_status(call, &oak).await,
        "listings.proof" "nnnn" app.listings.proof(call, &oak).await,
        "listings.edit" "uff+"
            app.listings.edit(call, oak.clone(), ListingChange::default(), None).await,
        "listings.details" "++++" app.listings.details(call, &oak).await,
        "listings.history" "++++" app.listings.history(call, &oak, None, 1).await,
        "listings.get" "++++" app.listings.get(call, &oak).await,
        "listings.find" "++++" app.listings.find(call, &ListingFilter::default(), None, 1).await,
        "listings.clusters" "++++"
            app.listings.clusters(call, &ListingFilter::default(), Zoom::new(1).unwrap()).await,
        "listings.statistics" "++++" app.listings.statistics(call).await,
        "listings.save" "uff+" app.listings.save(call, ada.clone(), elm.clone()).await,
        "listings.saved" "uff+" app.listings.saved(call, &ada).await,
        "listings.unsave" "uff+" app.listings.unsave(call, ada.clone(), elm.clone()).await,
        "portfolios.create" "uff+" app.portfolios.create(call, new_portfolio(&ada)).await,
        "portfolios.copy_template" "uff+"
            app.portfolios.copy_template(call, template.clone(), ada.clone(), false).await,
        "portfolios.get" "uff+" app.portfolios.get(call, portfolio).await,
        "portfolios.of_user" "uff+" app.portfolios.of_user(call, &ada, None, 1).await,
        "portfolios.history" "uff+" app.portfolios.history(call, portfolio, None, 1).await,
        "portfolios.change" "uff+"
            app.portfolios.change(call, portfolio.clone(), PortfolioChange::default()).await,
        "portfolios.statistics" "++++" app.portfolios.statistics(call).await,
        "portfolios.create_template" "uff+" app.portfolios.create_template(call, new_template()).await,
        "portfolios.template" "++++" app.portfolios.template(call, template).await,
        "portfolios.active_templates" "++++" app.portfolios.active_templates(call, None, None, 1).await,
        "portfolios.change_template" "uff+"
            app.portfolios.change_template(call, template.clone(), TemplateChange::default()).await,
        "portfolios.deactivate_template" "uff+"
            app.portfolios.deactivate_template(call, template.clone()).await,
        "portfolios.delete" "uff+" app.portfolios.delete(call, portfolio.clone()).await,
        "sandbox.advance_clock" "nnnn" app.sandbox.advance_clock(call, 1).await,
        "screening.bureaus" "fff+" app.screening.bureaus(call),
        "screening.consent" "++++" app.screening.consent(call, &Text::stored("2026-01")),
        "screening.consents" "++++" portico_app::Result::Ok(app.screening.consents(call)),
        "screening.pipeline" "ufuu" app.screening.pipeline(call, &AccountId::stored("ada")).await,
        "screening.own_pipeline" "u+uu" app.screening.own_pipeline(call).await,
        "screening.put_pipeline" "u+uu" app.screening.put_pipeline(call, Pipeline::default()).await,
        "screening.put_requirements" "uff+" app.screening.put_requirements(call, RequirementsRecord {
            listing: number, applicant: number, met: vec![true],
        }).await,
        "screening.requirements" "uff+" app.screening.requirements(call, number, number).await,
        "screening.verify" "u+uu"
            app.screening.verify(call, verification(world.applicant(Inputs::INCOME))).await,
        "screening.verification" "unuu" app.screening.verification(call, result).await,
        "screening.verifications" "u+uu" app.screening.verifications(call, None, 1).await,
        "screening.dispute" "ufuu" app.screening.dispute(call, result, Check::Income).await,
        "people.overview" "fff+" app.people.overview(call, ada.clone()).await,
        "people.erase" "uff+" app.people.erase(call, &ada).await,
        "listings.delete" "uff+" app.listings.delete(call, oak.clone()).await,
    }
}

#[tokio::test]
async fn wrong_callers_are_refused_when_live() {
    let callers = [anonymous(), person("bob"), account_key("bob"), operator()];
    let mut found: BTreeMap<&str, (&str, String)> = BTreeMap::new();
    for caller in callers {
        let (world, made) = with_things_of_ada().await;
        for (name, expected, letter) in all(&world, &made, &caller).await {
            found.entry(name).or_insert((expected, String::new())).1.push(letter);
        }
    }
    let wrong: Vec<_> = found.iter().filter(|(_, (expected, letters))| expected != letters).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let called = found.keys().map(|name| (*name).to_owned());
    let others = WITHOUT_CALLER.into_iter().chain([WITH_ANOTHER_KEYSTORE]).map(str::to_owned);
    let listed: BTreeSet<String> = called.chain(others).collect();
    let methods: BTreeSet<String> = methods().into_keys().collect();
    assert_eq!(listed, methods, "every public method has a row, and every row a method");
}

#[tokio::test]
async fn only_an_operator_opens_database_keystore_and_chain() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| Location::Sqlite(folder.path().join(name));
    let (data, keys) = (place("portico.db"), place("keys.db"));
    let database = Database::open(&operator(), &data, Role::Tool).await.unwrap();
    let connect = |call: &CallContext| {
        let location = ChainLocation::Embedded(folder.path().join("chain.db"));
        let settings =
            ChainSettings { location, id: None, contracts: None, owner: None, keys: Vec::new(), fee_cap: 1 };
        ChainAdmin::connect(call, &database, settings, CalendarClock::new(Arc::new(SystemClock)))
    };
    for call in [anonymous(), person("ada"), account_key("ada")] {
        let outcomes = [
            letter(Database::open(&call, &data, Role::Tool).await),
            letter(Database::open_restored(&call, &data).await),
            letter(Database::status(&call, &data).await),
            letter(keystore::mark(&call, &keys).await),
            letter(connect(&call)),
        ];
        assert_eq!(outcomes, ['f'; 5], "{call:?}");
    }
    assert_eq!(letter(connect(&operator())), '+');
    assert!(keystore::mark(&operator(), &keys).await.unwrap().is_none());
}

#[test]
fn every_method_takes_a_caller() {
    for (name, parameters) in methods() {
        let has_caller = parameters.contains("&CallContext");
        assert_eq!(has_caller, !WITHOUT_CALLER.contains(&name.as_str()), "{name}({parameters})");
    }
}

/// The public methods of the services that requests call, with their parameters.
fn methods() -> BTreeMap<String, String> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let root = std::fs::read_to_string(sources.join("portico.rs")).unwrap();
    let fields = root.split_once("pub struct Portico {").unwrap().1.split_once('}').unwrap().0;
    let fields = fields.lines().filter_map(|line| line.trim().strip_prefix("pub ")?.split_once(": "));
    let services: BTreeMap<&str, &str> = fields
        .map(|(name, service)| (service.trim_end_matches(','), name))
        .filter(|(service, _)| *service != "Maintenance")
        .collect();
    assert!(services.len() >= 10, "{services:?}");
    let mut methods = BTreeMap::new();
    read(&sources, &services, &mut methods);
    methods
}

fn read(folder: &Path, services: &BTreeMap<&str, &str>, methods: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read(&path, services, methods);
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for block in text.split("\nimpl ").skip(1) {
            let Some((head, body)) = block.split_once(" {\n") else { continue };
            let Some(service) = services.get(head) else { continue };
            let body = format!("\n{}", body.split("\n}\n").next().unwrap());
            for method in body.split("\n    pub ").skip(1) {
                let method = method.trim_start_matches("const ").trim_start_matches("async ");
                let Some(method) = method.strip_prefix("fn ") else { continue };
                let (name, rest) = method.split_once('(').unwrap();
                let parameters = rest.split_once(')').unwrap().0.to_owned();
                methods.insert(format!("{service}.{name}"), parameters);
            }
        }
    }
}
