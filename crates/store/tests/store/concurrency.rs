//! Concurrency: no counter is off by one, no change is lost.

use futures_util::future::join_all;
use portico_domain::ErrorCode;
use portico_domain::listings::{Listing, ListingFilter};
use portico_domain::portfolios::{Portfolio, PortfolioChange, RiskLevel, Template, TemplateChange};
use portico_store::{
    ChangePortfolio, ChangeTemplate, CopyTemplate, DeleteDevice, Error, Result, SaveListing,
};

use crate::engines::Db;
use crate::samples::{
    NOW, by, create, create_portfolio, create_template, delete, device, find_all, items, later, listing,
    listing_ids, offer, person, portfolio, register, store_all, submission, template, text, totals,
};

on_both_engines! {
    totals_are_exact_after_concurrent_changes,
    one_of_many_concurrent_creates_succeeds,
    one_of_many_concurrent_deletes_succeeds,
    saving_and_applying_at_once_counts_once,
    concurrent_applicants_do_not_deadlock,
    concurrent_changes_of_a_template_lose_no_update,
    concurrent_template_changes_all_move_the_time,
    concurrent_changes_of_a_portfolio_lose_no_update,
    concurrent_risk_changes_are_counted_exactly,
    concurrent_copy_and_deactivation_are_counted_exactly,
    writes_are_visible_immediately,
}

/// Runs every future in its own task.
async fn run_concurrently<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
    work: impl IntoIterator<Item = F>,
) -> Vec<T> {
    let tasks: Vec<_> = work.into_iter().map(tokio::spawn).collect();
    join_all(tasks).await.into_iter().map(|task| task.unwrap()).collect()
}

async fn count(db: &Db, table: &str) -> i64 {
    db.raw(&format!("SELECT count(*) FROM {table}")).await[0][0].as_ref().unwrap().parse().unwrap()
}

fn in_state(n: usize) -> Listing {
    Listing { state: text(["TX", "NY", "CA"][n % 3]), ..listing(&format!("l-{n}")) }
}

async fn totals_are_exact_after_concurrent_changes(db: Db) {
    // The first hundred are deleted while two hundred others are created.
    store_all(&db, (0..100).map(in_state)).await;
    let made = (100..300).map(|n| (Some(in_state(n)), String::new()));
    let deleted = (0..100).map(|n| (None, format!("l-{n}")));
    let outcomes = run_concurrently(made.chain(deleted).map(|(listing, id)| {
        let db = db.handle();
        async move {
            match listing {
                Some(listing) => db.write(create(listing)).await,
                None => db.write(delete(&id)).await,
            }
        }
    }))
    .await;
    for outcome in outcomes {
        outcome.unwrap();
    }
    let statistics = db.listing_statistics().await.unwrap();
    assert_eq!(statistics.total, 200);
    assert_eq!(statistics.by_state, totals(&[("CA", 67), ("NY", 67), ("TX", 66)]));
    assert_eq!(count(&db, "listings").await, 200);
    assert_eq!(count(&db, "events").await, 400);
    let all = find_all(&db, &ListingFilter::default(), 7).await;
    let mut numbers: Vec<usize> = all.iter().map(|l| l.id.as_str()[2..].parse().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (100..300).collect::<Vec<_>>(), "each is listed once");
}

/// The number of successes, and the errors.
fn split<T>(outcomes: Vec<Result<T>>) -> (usize, Vec<Error>) {
    let (good, bad): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
    (good.len(), bad.into_iter().filter_map(Result::err).collect())
}

async fn one_of_many_concurrent_creates_succeeds(db: Db) {
    let outcomes = run_concurrently((0..50).map(|n| {
        let (db, op) = (db.handle(), create(Listing { user: text(&format!("user-{n}")), ..listing("a") }));
        async move { db.write(op).await }
    }))
    .await;
    let (good, bad) = split(outcomes);
    assert_eq!(good, 1);
    assert!(bad.iter().all(|error| matches!(error, Error::Conflict(ErrorCode::ListingExists))), "{bad:?}");
    assert_eq!(db.listing_statistics().await.unwrap().total, 1);
    assert_eq!(count(&db, "events").await, 1);
}

async fn one_of_many_concurrent_deletes_succeeds(db: Db) {
    db.write(create(listing("a"))).await.unwrap();
    let outcomes = run_concurrently((0..50).map(|_| {
        let db = db.handle();
        async move { db.write(delete("a")).await }
    }))
    .await;
    let (good, bad) = split(outcomes);
    assert_eq!(good, 1);
    assert!(bad.iter().all(|error| matches!(error, Error::Missing(ErrorCode::ListingNotFound))), "{bad:?}");
    assert_eq!(db.listing_statistics().await.unwrap().total, 0);
    assert_eq!(count(&db, "events").await, 2);
}

async fn saving_and_applying_at_once_counts_once(db: Db) {
    offer(&db, &["a"]).await;
    let mut submissions = Vec::new();
    for _ in 0..30 {
        submissions.push(submission(&db, 1, &["a"], NOW).await);
    }
    let outcomes = run_concurrently(submissions.into_iter().map(|submission| {
        let db = db.handle();
        async move {
            let (user, listing) = (text("ann"), text("a"));
            db.write(SaveListing { user, listing, by: by() }).await?;
            db.write(submission).await
        }
    }))
    .await;
    for outcome in outcomes {
        outcome.unwrap();
    }
    assert_eq!(db.saved_listings(&text("ann")).await.unwrap().0, listing_ids(&["a"]));
    assert_eq!(db.applications_of(&person(1)).await.unwrap().len(), 1);
    assert_eq!(db.listing_statistics().await.unwrap().applications, 1);
    assert_eq!(count(&db, "events").await, 3);
}

async fn concurrent_applicants_do_not_deadlock(db: Db) {
    let ids: Vec<String> = (0..20).map(|n| format!("l-{n}")).collect();
    offer(&db, &ids.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let mut submissions = Vec::new();
    for who in 0..40 {
        submissions.push(submission(&db, who, &ids, NOW).await);
    }
    let outcomes = run_concurrently(submissions.into_iter().map(|submission| {
        let db = db.handle();
        async move { db.write(submission).await }
    }))
    .await;
    for outcome in outcomes {
        outcome.unwrap();
    }
    assert_eq!(db.listing_statistics().await.unwrap().applications, 800);
    assert_eq!(count(&db, "applications").await, 800);
}

async fn concurrent_changes_of_a_template_lose_no_update(db: Db) {
    db.write(create_template(template("t"))).await.unwrap();
    for round in 0..10 {
        let name = format!("Name {round}");
        let share = 1000 * (round + 1);
        let risk = RiskLevel::ALL[usize::try_from(round).unwrap() % 5];
        let none = TemplateChange::default;
        let changes = [
            TemplateChange { name: Some(text(&name)), ..none() },
            TemplateChange { description: Some(text(&name)), ..none() },
            TemplateChange { risk: Some(risk), ..none() },
            TemplateChange { items: Some(items(&[("x", share)])), ..none() },
            TemplateChange { active: Some(round % 2 == 0), ..none() },
        ];
        let outcomes = run_concurrently(changes.map(|change| {
            let db = db.handle();
            async move { db.write(ChangeTemplate { id: text("t"), change, by: by() }).await }
        }))
        .await;
        for outcome in outcomes {
            outcome.unwrap();
        }
        let expected = Template {
            name: text(&name),
            description: Some(text(&name)),
            risk,
            items: items(&[("x", share)]),
            active: round % 2 == 0,
            updated_at: later(5 * (round + 1)),
            ..template("t")
        };
        assert_eq!(db.template(&text("t")).await.unwrap(), Some(expected));
        let statistics = db.portfolio_statistics().await.unwrap();
        assert_eq!((statistics.templates, statistics.active_templates), (1, 1 - round % 2));
        assert_eq!(statistics.template_risks, totals(&[(risk.as_str(), 1)]));
    }
}

async fn concurrent_template_changes_all_move_the_time(db: Db) {
    db.write(create_template(template("t"))).await.unwrap();
    let outcomes = run_concurrently((0..100).map(|_| {
        let (db, change) = (db.handle(), TemplateChange::default());
        async move { db.write(ChangeTemplate { id: text("t"), change, by: by() }).await }
    }))
    .await;
    for outcome in outcomes {
        outcome.unwrap();
    }
    // The clock stands still, so each change moved the time by exactly one microsecond.
    assert_eq!(db.template(&text("t")).await.unwrap().unwrap().updated_at, later(100));
    assert_eq!(count(&db, "events").await, 101);
}

async fn concurrent_changes_of_a_portfolio_lose_no_update(db: Db) {
    db.write(create_portfolio(portfolio("p"))).await.unwrap();
    let none = PortfolioChange::default;
    let changes = [
        PortfolioChange { name: Some(text("New")), ..none() },
        PortfolioChange { description: Some(text("Newer")), ..none() },
        PortfolioChange { risk: Some(RiskLevel::Conservative), ..none() },
        PortfolioChange { items: Some(items(&[("x", 7)])), ..none() },
    ];
    let outcomes = run_concurrently(changes.into_iter().cycle().take(40).map(|change| {
        let db = db.handle();
        async move { db.write(ChangePortfolio { id: text("p"), change, by: by() }).await }
    }))
    .await;
    for outcome in outcomes {
        outcome.unwrap();
    }
    let expected = Portfolio {
        name: Some(text("New")),
        description: Some(text("Newer")),
        risk: RiskLevel::Conservative,
        items: items(&[("x", 7)]),
        updated_at: later(40),
        ..portfolio("p")
    };
    assert_eq!(db.portfolio(&text("p")).await.unwrap(), Some(expected));
    assert_eq!(db.portfolio_statistics().await.unwrap().portfolio_risks, totals(&[("Conservative", 1)]));
}

async fn concurrent_risk_changes_are_counted_exactly(db: Db) {
    for n in 0..20 {
        db.write(create_portfolio(portfolio(&format!("p-{n}")))).await.unwrap();
    }
    let outcomes = run_concurrently((0..200).map(|n| {
        let db = db.handle();
        let risk = Some(RiskLevel::ALL[n % 5]);
        let (id, change) =
            (text(&format!("p-{}", n % 20)), PortfolioChange { risk, ..PortfolioChange::default() });
        async move { db.write(ChangePortfolio { id, change, by: by() }).await }
    }))
    .await;
    for outcome in outcomes {
        outcome.unwrap();
    }
    let rows = db.raw("SELECT risk, count(*) FROM portfolios GROUP BY risk ORDER BY risk").await;
    let counted: Vec<(String, i64)> = rows
        .into_iter()
        .map(|row| (row[0].clone().unwrap(), row[1].as_ref().unwrap().parse().unwrap()))
        .collect();
    assert_eq!(db.portfolio_statistics().await.unwrap().portfolio_risks, counted);
}

async fn concurrent_copy_and_deactivation_are_counted_exactly(db: Db) {
    db.write(create_template(template("t"))).await.unwrap();
    let outcomes = run_concurrently((0..60).map(|n| {
        let db = db.handle();
        async move {
            if n == 30 {
                let change = TemplateChange { active: Some(false), ..TemplateChange::default() };
                return db.write(ChangeTemplate { id: text("t"), change, by: by() }).await.map(drop);
            }
            let (template, id, user) = (text("t"), text(&format!("p-{n}")), text("ann"));
            db.write(CopyTemplate { template, id, user, custom: false, by: by() }).await
        }
    }))
    .await;
    let (good, bad) = split(outcomes);
    assert!(bad.iter().all(|error| matches!(error, Error::Missing(ErrorCode::TemplateNotFound))), "{bad:?}");
    let copies = i64::try_from(good).unwrap() - 1;
    let statistics = db.portfolio_statistics().await.unwrap();
    assert_eq!((statistics.active_templates, statistics.portfolios), (0, copies));
    assert_eq!(count(&db, "portfolios").await, copies);
}

async fn writes_are_visible_immediately(db: Db) {
    let outcomes = run_concurrently((0..50).map(|n| {
        let db = db.handle();
        async move {
            let id = format!("{n}");
            db.write(create(listing(&id))).await.unwrap();
            assert_eq!(db.listing(&text(&id)).await.unwrap(), Some(listing(&id)));
            let term = ListingFilter {
                field: Some((portico_domain::listings::SearchField::ListingId, crate::samples::term(&id))),
                ..ListingFilter::default()
            };
            let found = db.find_listings(&term, None, 1000).await.unwrap().items;
            assert!(found.contains(&listing(&id)), "it is found");
            db.write(register(device(&id))).await.unwrap();
            db.write(DeleteDevice { id: text(&id), by: by() }).await.unwrap();
            db.device(&text(&id)).await.unwrap()
        }
    }))
    .await;
    assert!(outcomes.iter().all(Option::is_none), "what was deleted is gone at once");
    assert_eq!(db.device_total().await.unwrap(), 0);
}
