//! Restores of backups that were made at random moments of a busy server. `make restore-drill` does more rounds.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::{join, join_all};
use reqwest::Method;

use super::{Instance, On, agrees_with_the_chain, is_delivered, is_proved, stop};
use crate::support::{App, Engine, Session, Verified, applicant, on_chain, run, until};

/// Of each engine on each chain.
const ROUNDS: usize = 1;
const RECORDERS: usize = 4;

mod sqlite {
    #[test]
    fn random_moments_on_the_embedded_chain_are_restored() {
        super::run(super::drill(super::Engine::Sqlite, super::On::EmbeddedChain));
    }

    #[test]
    fn random_moments_on_a_real_node_are_restored() {
        super::run(super::drill(super::Engine::Sqlite, super::On::Anvil));
    }
}

mod postgres {
    #[test]
    fn random_moments_on_the_embedded_chain_are_restored() {
        super::run(super::drill(super::Engine::Postgres, super::On::EmbeddedChain));
    }

    #[test]
    fn random_moments_on_a_real_node_are_restored() {
        super::run(super::drill(super::Engine::Postgres, super::On::Anvil));
    }
}

/// What the server has acknowledged.
#[derive(Debug, Default)]
struct Acknowledged {
    listings: Mutex<BTreeSet<String>>,
    /// Whose data must be readable, if they are in the backup.
    people: Mutex<Vec<(Session, Verified)>>,
    /// Whose data must never be readable again.
    erased: Mutex<Vec<(Session, Verified)>>,
}

impl Acknowledged {
    fn listings(&self) -> usize {
        self.listings.lock().unwrap().len()
    }
}

fn rounds() -> usize {
    std::env::var("PORTICO_DRILL_ROUNDS").map_or(ROUNDS, |rounds| rounds.parse().unwrap())
}

/// How many listings are acknowledged in a round before its backup is made.
fn moment() -> usize {
    use std::hash::{BuildHasher as _, RandomState};
    10 + usize::try_from(RandomState::new().hash_one(0) % 150).unwrap()
}

/// Records listings until the server is killed.
async fn record_until_killed(app: &App, name: &str, key: &str, acknowledged: &Acknowledged) {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    for number in 0.. {
        let id = format!("{name}-{number}");
        let request = client.post(format!("{}/stage/listings", app.url)).header("x-api-key", key);
        let request = request.header("content-type", "application/json");
        match request.body(on_chain(&id, "landlord").to_string()).send().await {
            Ok(answer) if answer.status() == 201 => _ = acknowledged.listings.lock().unwrap().insert(id),
            Ok(answer) => panic!("{}", answer.status()),
            Err(_) => break,
        }
    }
}

/// Verifies people and erases every second one.
async fn screen_until(is_over: &AtomicBool, app: &App, acknowledged: &Acknowledged) {
    while !is_over.load(Ordering::Relaxed) {
        let (gone, stays) = (app.someone().await, app.someone().await);
        let erased = app.verified(&gone.token, "", &applicant("Lovelace")).await;
        let kept = app.verified(&stays.token, "", &applicant("Lovelace")).await;
        acknowledged.people.lock().unwrap().push((stays, kept));
        let path = format!("/v1/users/{}/personal-data", gone.user);
        app.request(Method::DELETE, &path).bearer(&gone.token).send().await.only_message(200);
        acknowledged.erased.lock().unwrap().push((gone, erased));
    }
}

/// Keeps a server busy, makes a backup at a random moment, and kills it. Returns what the backup must have.
async fn back_up_under_load(
    instance: &Instance,
    mut app: App,
    round: usize,
    backup: &str,
    acknowledged: &Acknowledged,
) -> (BTreeSet<String>, usize) {
    let (key, is_over) = (app.new_key(&[]), AtomicBool::new(false));
    let (start, wait) = (acknowledged.listings(), moment());
    println!("round {round}: a backup after {wait} listings");
    let recorders = (0..RECORDERS).map(|number| {
        let (app, key) = (&app, &key);
        async move { record_until_killed(app, &format!("{round}-{number}"), key, acknowledged).await }
    });
    let has_recorded = async |count: usize| {
        until("listings are acknowledged", 60, async || (acknowledged.listings() >= count).then_some(()))
            .await;
    };
    let operator = async {
        has_recorded(start + wait).await;
        let listings = acknowledged.listings.lock().unwrap().clone();
        let people = acknowledged.people.lock().unwrap().len();
        let mut command = instance.command(&["backup", "create", backup]);
        let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        has_recorded(acknowledged.listings() + 50).await;
        is_over.store(true, Ordering::Relaxed);
        (listings, people)
    };
    let killer = async {
        let (in_backup, ()) = join(operator, screen_until(&is_over, &app, acknowledged)).await;
        app.signal("KILL");
        in_backup
    };
    let (_, in_backup) = join(join_all(recorders), killer).await;
    assert!(!app.ended().await);
    in_backup
}

/// Nothing that was acknowledged before is lost, and nothing that was erased is readable.
async fn has_everything(app: &App, acknowledged: &Acknowledged) {
    let listings = acknowledged.listings.lock().unwrap().clone();
    for id in &listings {
        is_proved(app, id).await;
    }
    let people = acknowledged.people.lock().unwrap().clone();
    for (who, verified) in &people {
        app.validate(&who.token, &verified.id, "Ada", "Lovelace").await.status(200);
    }
    let erased = acknowledged.erased.lock().unwrap().clone();
    for (who, verified) in &erased {
        let answer = app.validate(&who.token, &verified.id, "Ada", "Lovelace").await;
        answer.refused(404, "identity_not_found");
    }
    println!(
        "{} listings and {} people are there, {} stay erased",
        listings.len(),
        people.len(),
        erased.len()
    );
}

/// What the chain has and the database not is ended; then both agree.
async fn reconcile(instance: &Instance) {
    if !instance.run(&["chain", "reconcile"]).status.success() {
        instance.prints(&["chain", "reconcile", "--repair"]);
        let app = instance.start().await;
        is_delivered(&app).await;
        stop(app).await;
    }
    agrees_with_the_chain(instance);
}

async fn drill(engine: Engine, on: On) {
    let instance = Instance::new(engine, on).await;
    let acknowledged = Acknowledged::default();
    for round in 0..rounds() {
        let backup = instance.path(&format!("backup-{round}"));
        let app = instance.start().await;
        let (listings, people) = back_up_under_load(&instance, app, round, &backup, &acknowledged).await;
        *acknowledged.listings.lock().unwrap() = listings;
        acknowledged.people.lock().unwrap().truncate(people);
        instance.prints(&["restore", &backup]);
        let app = instance.start().await;
        has_everything(&app, &acknowledged).await;
        is_delivered(&app).await;
        stop(app).await;
        reconcile(&instance).await;
    }
}
