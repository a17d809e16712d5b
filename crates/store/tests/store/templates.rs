//! Predefined portfolios: partial changes, deactivation, no deletion.

use portico_domain::portfolios::{ProtocolItems, RiskLevel, Template, TemplateChange};
use portico_domain::{Allocation, Timestamp};
use portico_store::{ChangeTemplate, Result};

use crate::engines::Db;
use crate::samples::{NOW, by_at, create_template, in_pieces, items, later, missing, template, text, totals};

on_both_engines! {
    a_template_is_read_as_it_was_stored,
    allocations_are_kept_exactly,
    unknown_template_is_none,
    a_change_touches_only_what_it_names,
    a_change_answers_with_the_total,
    an_empty_change_still_moves_the_time,
    changing_an_unknown_template_is_refused,
    change_time_increases_while_the_clock_stands,
    change_time_increases_while_the_clock_goes_back,
    only_active_templates_are_listed,
    templates_are_listed_by_risk,
    templates_are_read_in_pieces,
    templates_are_counted,
}

fn change() -> TemplateChange {
    TemplateChange::default()
}

async fn change_at(db: &Db, id: &str, change: TemplateChange, at: Timestamp) -> Result<Allocation> {
    db.write(ChangeTemplate { id: text(id), change, by: by_at(at) }).await
}

async fn changed(db: &Db, id: &str, change: TemplateChange) -> Result<Allocation> {
    change_at(db, id, change, NOW).await
}

async fn read(db: &Db, id: &str) -> Template {
    db.template(&text(id)).await.unwrap().unwrap()
}

async fn active(db: &Db, risk: Option<RiskLevel>) -> Vec<String> {
    let page = db.active_templates(risk, None, 100).await.unwrap();
    assert_eq!(page.next, None);
    page.items.into_iter().map(|template| template.id.to_string()).collect()
}

async fn store(db: &Db, template: Template) {
    db.write(create_template(template)).await.unwrap();
}

async fn a_template_is_read_as_it_was_stored(db: Db) {
    let bare = Template {
        name: text("\"Quoted\" \\ ü 🏠"),
        description: None,
        items: ProtocolItems::default(),
        active: false,
        updated_at: later(7),
        ..template("bare")
    };
    let empty =
        Template { description: Some(text("")), risk: RiskLevel::ModerateAggressive, ..template("empty") };
    for stored in [template("full"), bare, empty] {
        store(&db, stored.clone()).await;
        assert_eq!(read(&db, stored.id.as_str()).await, stored);
    }
}

async fn allocations_are_kept_exactly(db: Db) {
    let shares = [1, 333_333, 10, 100, 99_999, 1_000, 123_456, 0];
    let names: Vec<String> = (0..shares.len()).map(|n| format!("p{n}")).collect();
    let pairs: Vec<(&str, i64)> = names.iter().map(String::as_str).zip(shares).collect();
    store(&db, Template { items: items(&pairs), ..template("t") }).await;
    let kept = read(&db, "t").await.items;
    assert_eq!(kept, items(&pairs));
    assert_eq!(kept.total().units(), shares.iter().sum::<i64>());
}

async fn unknown_template_is_none(db: Db) {
    store(&db, template("a")).await;
    assert_eq!(db.template(&text("A")).await.unwrap(), None);
    assert_eq!(db.template(&text("b")).await.unwrap(), None);
}

async fn a_change_touches_only_what_it_names(db: Db) {
    store(&db, template("a")).await;
    store(&db, template("b")).await;
    let mut expected = template("a");
    for (n, change) in [
        TemplateChange { name: Some(text("New name")), ..change() },
        TemplateChange { description: Some(text("")), ..change() },
        TemplateChange { risk: Some(RiskLevel::Conservative), ..change() },
        TemplateChange { items: Some(ProtocolItems::default()), ..change() },
        TemplateChange { active: Some(false), ..change() },
        TemplateChange { active: Some(true), name: Some(text("Newer name")), ..change() },
    ]
    .into_iter()
    .enumerate()
    {
        let at = later(1000 + i64::try_from(n).unwrap());
        change_at(&db, "a", change.clone(), at).await.unwrap();
        expected = expected.changed(change, at);
        assert_eq!(read(&db, "a").await, expected);
    }
    assert_eq!(read(&db, "b").await, template("b"), "its neighbour stays");
}

async fn a_change_answers_with_the_total(db: Db) {
    store(&db, template("a")).await;
    assert_eq!(changed(&db, "a", change()).await.unwrap().to_string(), "83.3333");
    let half = TemplateChange { items: Some(items(&[("x", 500_000), ("y", 1)])), ..change() };
    assert_eq!(changed(&db, "a", half).await.unwrap().to_string(), "50.0001");
    let none = TemplateChange { items: Some(ProtocolItems::default()), ..change() };
    assert_eq!(changed(&db, "a", none).await.unwrap().to_string(), "0");
}

async fn an_empty_change_still_moves_the_time(db: Db) {
    store(&db, template("a")).await;
    change_at(&db, "a", change(), later(50)).await.unwrap();
    assert_eq!(read(&db, "a").await, Template { updated_at: later(50), ..template("a") });
}

async fn changing_an_unknown_template_is_refused(db: Db) {
    assert_eq!(missing(changed(&db, "a", change()).await), "template_not_found");
}

async fn change_time_increases_while_the_clock_stands(db: Db) {
    store(&db, template("a")).await;
    for n in 1..=5 {
        changed(&db, "a", change()).await.unwrap();
        assert_eq!(read(&db, "a").await.updated_at, later(n));
    }
    assert_eq!(read(&db, "a").await.created_at, NOW);
}

async fn change_time_increases_while_the_clock_goes_back(db: Db) {
    store(&db, template("a")).await;
    change_at(&db, "a", change(), later(100)).await.unwrap();
    change_at(&db, "a", change(), later(-100)).await.unwrap();
    assert_eq!(read(&db, "a").await.updated_at, later(101));
}

async fn only_active_templates_are_listed(db: Db) {
    for (id, active) in [("c", true), ("a", false), ("b", true)] {
        store(&db, Template { active, ..template(id) }).await;
    }
    assert_eq!(active(&db, None).await, ["c", "b"]);
    let set = |active| TemplateChange { active: Some(active), ..change() };
    changed(&db, "c", set(false)).await.unwrap();
    assert_eq!(active(&db, None).await, ["b"]);
    changed(&db, "a", set(true)).await.unwrap();
    assert_eq!(active(&db, None).await, ["a", "b"], "in order of creation");
    assert!(!read(&db, "c").await.active, "it stays, deactivated");
}

async fn templates_are_listed_by_risk(db: Db) {
    for (n, risk) in RiskLevel::ALL.iter().copied().chain([RiskLevel::Moderate]).enumerate() {
        store(&db, Template { risk, ..template(&format!("{n}")) }).await;
    }
    assert_eq!(active(&db, Some(RiskLevel::Moderate)).await, ["2", "5"]);
    assert_eq!(active(&db, Some(RiskLevel::ModerateConservative)).await, ["1"]);
    changed(&db, "2", TemplateChange { active: Some(false), ..change() }).await.unwrap();
    changed(&db, "1", TemplateChange { risk: Some(RiskLevel::Moderate), ..change() }).await.unwrap();
    assert_eq!(active(&db, Some(RiskLevel::Moderate)).await, ["1", "5"]);
    assert_eq!(active(&db, Some(RiskLevel::ModerateConservative)).await, [""; 0]);
}

async fn templates_are_read_in_pieces(db: Db) {
    let names: Vec<String> = (0..7).map(|n| format!("t{n}")).collect();
    for name in &names {
        store(&db, template(name)).await;
    }
    for risk in [None, Some(RiskLevel::Moderate)] {
        for limit in [1, 3, 7, 8] {
            let read = in_pieces(limit, None, |after| db.active_templates(risk, after, limit)).await;
            let read: Vec<String> = read.into_iter().map(|template| template.id.to_string()).collect();
            assert_eq!(read, names, "in pieces of {limit}");
        }
    }
}

async fn templates_are_counted(db: Db) {
    async fn assert_counted(db: &Db, total: i64, active: i64, risks: &[(&str, i64)]) {
        let statistics = db.portfolio_statistics().await.unwrap();
        assert_eq!((statistics.templates, statistics.active_templates), (total, active));
        assert_eq!(statistics.template_risks, totals(risks));
    }
    assert_counted(&db, 0, 0, &[]).await;
    store(&db, template("a")).await;
    store(&db, Template { active: false, risk: RiskLevel::Conservative, ..template("b") }).await;
    assert_counted(&db, 2, 1, &[("Conservative", 1), ("Moderate", 1)]).await;

    let set = |active| TemplateChange { active: Some(active), ..change() };
    changed(&db, "a", set(false)).await.unwrap();
    assert_counted(&db, 2, 0, &[("Conservative", 1), ("Moderate", 1)]).await;
    changed(&db, "a", set(false)).await.unwrap();
    assert_counted(&db, 2, 0, &[("Conservative", 1), ("Moderate", 1)]).await;
    changed(&db, "b", set(true)).await.unwrap();
    changed(&db, "b", set(true)).await.unwrap();
    assert_counted(&db, 2, 1, &[("Conservative", 1), ("Moderate", 1)]).await;

    let risk = |risk| TemplateChange { risk: Some(risk), ..change() };
    changed(&db, "a", risk(RiskLevel::Conservative)).await.unwrap();
    changed(&db, "a", risk(RiskLevel::Conservative)).await.unwrap();
    assert_counted(&db, 2, 1, &[("Conservative", 2)]).await;
    missing(changed(&db, "unknown", risk(RiskLevel::Moderate)).await);
    assert_counted(&db, 2, 1, &[("Conservative", 2)]).await;
}
