//! User portfolios: created or copied, changed, deleted, and counted exactly after each step.

use portico_domain::portfolios::{
    Portfolio, PortfolioChange, PortfolioEdit, PortfolioStatistics, ProtocolItems, RiskLevel, Template,
    TemplateChange,
};
use portico_domain::{Allocation, Timestamp};
use portico_store::{ChangePortfolio, ChangeTemplate, CopyTemplate, DeletePortfolio, Result};

use crate::engines::Db;
use crate::samples::{
    NOW, by, by_at, create_portfolio, create_template, in_pieces, items, later, missing, portfolio, template,
    text, totals,
};

on_both_engines! {
    a_portfolio_is_read_as_it_was_stored,
    a_portfolio_may_name_a_template_that_is_inactive,
    a_portfolio_of_an_unknown_template_is_refused,
    a_copy_holds_what_its_template_held,
    a_copy_does_not_follow_its_template,
    a_copy_of_an_unknown_template_is_refused,
    a_copy_of_an_inactive_template_is_refused,
    a_change_touches_only_what_it_names,
    change_time_increases_while_the_clock_stands,
    changing_an_unknown_portfolio_is_refused,
    edits_are_recorded_with_both_values,
    the_last_hundred_edits_are_kept,
    long_edits_are_kept_for_less_time,
    a_deleted_portfolio_leaves_no_history,
    a_deleted_portfolio_is_gone,
    users_see_their_own_in_order_of_creation,
    portfolios_are_read_in_pieces,
    statistics_are_exact_after_each_step,
}

fn change() -> PortfolioChange {
    PortfolioChange::default()
}

async fn change_at(db: &Db, id: &str, change: PortfolioChange, at: Timestamp) -> Result<Allocation> {
    db.write(ChangePortfolio { id: text(id), change, by: by_at(at) }).await
}

async fn copy(db: &Db, template: &str, id: &str, custom: bool) -> Result<()> {
    let (template, id, user) = (text(template), text(id), text("bob"));
    db.write(CopyTemplate { template, id, user, custom, by: by_at(later(3)) }).await
}

async fn remove(db: &Db, id: &str) -> Result<()> {
    db.write(DeletePortfolio { id: text(id), by: by() }).await
}

async fn change_template(db: &Db, id: &str, change: TemplateChange) {
    db.write(ChangeTemplate { id: text(id), change, by: by() }).await.unwrap();
}

fn inactive() -> TemplateChange {
    TemplateChange { active: Some(false), ..TemplateChange::default() }
}

async fn read(db: &Db, id: &str) -> Option<Portfolio> {
    db.portfolio(&text(id)).await.unwrap()
}

async fn of_user(db: &Db, user: &str) -> Vec<String> {
    let page = db.portfolios(&text(user), None, 100).await.unwrap();
    assert_eq!(page.next, None);
    page.items.into_iter().map(|portfolio| portfolio.id.to_string()).collect()
}

fn renamed(name: &str) -> PortfolioChange {
    PortfolioChange { name: Some(text(name)), ..change() }
}

async fn history(db: &Db, id: &str) -> Vec<PortfolioEdit> {
    let id = text(id);
    in_pieces(30, None, |after| db.portfolio_history(&id, after, 30)).await
}

async fn edits_are_recorded_with_both_values(db: Db) {
    db.write(create_portfolio(portfolio("p"))).await.unwrap();
    let before = read(&db, "p").await.unwrap();
    change_at(&db, "p", change(), later(10)).await.unwrap();
    assert_eq!(history(&db, "p").await, [], "a change without effect is no edit");
    let edit = PortfolioChange { items: Some(items(&[("a", 1)])), ..renamed("Second") };
    change_at(&db, "p", edit, later(20)).await.unwrap();
    change_at(&db, "p", renamed("Third"), later(30)).await.unwrap();
    let after = read(&db, "p").await.unwrap();

    let [first, second] = <[PortfolioEdit; 2]>::try_from(history(&db, "p").await).unwrap();
    assert_eq!((first.number, first.at, second.number, second.at), (1, later(20), 2, after.updated_at));
    let fields: Vec<&str> = first.changes.iter().map(|change| &*change.field).collect();
    assert_eq!(fields, ["name", "protocolItems"]);
    assert_eq!(first.changes[0].before, before.name.unwrap().as_str());
    assert_eq!((&second.changes[0].before, &second.changes[0].after), (&"Second".into(), &"Third".into()));
}

async fn the_last_hundred_edits_are_kept(db: Db) {
    db.write(create_portfolio(portfolio("p"))).await.unwrap();
    for n in 1..=103 {
        change_at(&db, "p", renamed(&format!("{n}")), later(n)).await.unwrap();
    }
    let numbers: Vec<i64> = history(&db, "p").await.into_iter().map(|edit| edit.number).collect();
    assert_eq!(numbers, (4..=103).collect::<Vec<_>>());
}

async fn long_edits_are_kept_for_less_time(db: Db) {
    db.write(create_portfolio(portfolio("p"))).await.unwrap();
    let names: Vec<String> = (0..1000).map(|n| format!("{n:0>250}")).collect();
    let long: Vec<(&str, i64)> = names.iter().map(|name| (name.as_str(), 0)).collect();
    change_at(&db, "p", renamed("Second"), later(1)).await.unwrap();
    for n in 2..=6 {
        let items = items(if n % 2 == 0 { &long } else { &[("a", 1)] });
        change_at(&db, "p", PortfolioChange { items: Some(items), ..change() }, later(n)).await.unwrap();
    }
    let kept = history(&db, "p").await;
    let length: usize = kept.iter().map(|edit| serde_json::to_string(&edit.changes).unwrap().len()).sum();
    assert!(length < 2 << 20, "{length}");
    let numbers: Vec<i64> = kept.into_iter().map(|edit| edit.number).collect();
    assert!(numbers.ends_with(&[5, 6]) && !numbers.contains(&1), "{numbers:?}");
    change_at(&db, "p", renamed("Third"), later(7)).await.unwrap();
    assert_eq!(history(&db, "p").await.last().map(|edit| edit.number), Some(7));
}

async fn a_deleted_portfolio_leaves_no_history(db: Db) {
    for id in ["p", "q"] {
        db.write(create_portfolio(portfolio(id))).await.unwrap();
        change_at(&db, id, renamed("Second"), later(1)).await.unwrap();
    }
    remove(&db, "p").await.unwrap();
    assert_eq!((history(&db, "p").await.len(), history(&db, "q").await.len()), (0, 1));
}

async fn a_portfolio_is_read_as_it_was_stored(db: Db) {
    db.write(create_template(template("t"))).await.unwrap();
    let bare = Portfolio {
        name: None,
        description: None,
        items: ProtocolItems::default(),
        custom: false,
        updated_at: later(9),
        ..portfolio("bare")
    };
    let based =
        Portfolio { based_on: Some(text("t")), risk: RiskLevel::ModerateConservative, ..portfolio("based") };
    for stored in [portfolio("full"), bare, based] {
        db.write(create_portfolio(stored.clone())).await.unwrap();
        assert_eq!(read(&db, stored.id.as_str()).await, Some(stored));
    }
    assert_eq!(read(&db, "unknown").await, None);
}

async fn a_portfolio_may_name_a_template_that_is_inactive(db: Db) {
    db.write(create_template(Template { active: false, ..template("t") })).await.unwrap();
    let based = Portfolio { based_on: Some(text("t")), ..portfolio("p") };
    db.write(create_portfolio(based.clone())).await.unwrap();
    assert_eq!(read(&db, "p").await, Some(based));
}

async fn a_portfolio_of_an_unknown_template_is_refused(db: Db) {
    let based = Portfolio { based_on: Some(text("t")), ..portfolio("p") };
    assert_eq!(missing(db.write(create_portfolio(based)).await), "template_not_found");
    assert_eq!(read(&db, "p").await, None);
    assert_eq!(db.portfolio_statistics().await.unwrap(), PortfolioStatistics::default());
}

async fn a_copy_holds_what_its_template_held(db: Db) {
    let original = template("t");
    db.write(create_template(original.clone())).await.unwrap();
    for (id, custom) in [("plain", false), ("custom", true)] {
        copy(&db, "t", id, custom).await.unwrap();
        let expected = Portfolio {
            id: text(id),
            user: text("bob"),
            name: Some(original.name.clone()),
            description: original.description.clone(),
            risk: original.risk,
            items: original.items.clone(),
            based_on: Some(text("t")),
            custom,
            created_at: later(3),
            updated_at: later(3),
        };
        assert_eq!(read(&db, id).await, Some(expected));
    }
}

async fn a_copy_does_not_follow_its_template(db: Db) {
    db.write(create_template(template("t"))).await.unwrap();
    copy(&db, "t", "p", false).await.unwrap();
    let before = read(&db, "p").await;
    let new = TemplateChange { name: Some(text("New")), items: Some(items(&[])), ..inactive() };
    change_template(&db, "t", new).await;
    assert_eq!(read(&db, "p").await, before);

    let own = PortfolioChange { name: Some(text("Own")), ..change() };
    change_at(&db, "p", own, NOW).await.unwrap();
    assert_eq!(db.template(&text("t")).await.unwrap().unwrap().name, text("New"));
}

async fn a_copy_of_an_unknown_template_is_refused(db: Db) {
    assert_eq!(missing(copy(&db, "t", "p", false).await), "template_not_found");
    assert_eq!(of_user(&db, "bob").await, [""; 0]);
}

async fn a_copy_of_an_inactive_template_is_refused(db: Db) {
    db.write(create_template(template("t"))).await.unwrap();
    change_template(&db, "t", inactive()).await;
    assert_eq!(missing(copy(&db, "t", "p", false).await), "template_not_found");
    assert_eq!(of_user(&db, "bob").await, [""; 0]);
    change_template(&db, "t", TemplateChange { active: Some(true), ..TemplateChange::default() }).await;
    copy(&db, "t", "p", false).await.unwrap();
}

async fn a_change_touches_only_what_it_names(db: Db) {
    let bare = Portfolio { name: None, description: None, ..portfolio("a") };
    for stored in [bare.clone(), portfolio("b")] {
        db.write(create_portfolio(stored)).await.unwrap();
    }
    let mut expected = bare;
    for (n, (change, total)) in [
        (PortfolioChange { name: Some(text("Named")), ..change() }, "100"),
        (PortfolioChange { description: Some(text("Described")), ..change() }, "100"),
        (PortfolioChange { risk: Some(RiskLevel::Conservative), ..change() }, "100"),
        (PortfolioChange { items: Some(items(&[("x", 123_456)])), ..change() }, "12.3456"),
        (change(), "12.3456"),
    ]
    .into_iter()
    .enumerate()
    {
        let at = later(1000 + i64::try_from(n).unwrap());
        assert_eq!(change_at(&db, "a", change.clone(), at).await.unwrap().to_string(), total);
        expected = expected.changed(change, at);
        assert_eq!(read(&db, "a").await, Some(expected.clone()));
    }
    assert_eq!(read(&db, "b").await, Some(portfolio("b")), "its neighbour stays");
}

async fn change_time_increases_while_the_clock_stands(db: Db) {
    db.write(create_portfolio(portfolio("a"))).await.unwrap();
    for n in 1..=3 {
        change_at(&db, "a", change(), NOW).await.unwrap();
        assert_eq!(read(&db, "a").await.unwrap().updated_at, later(n));
    }
}

async fn changing_an_unknown_portfolio_is_refused(db: Db) {
    assert_eq!(missing(change_at(&db, "a", change(), NOW).await), "portfolio_not_found");
}

async fn a_deleted_portfolio_is_gone(db: Db) {
    for id in ["a", "b"] {
        db.write(create_portfolio(portfolio(id))).await.unwrap();
    }
    remove(&db, "a").await.unwrap();
    assert_eq!(read(&db, "a").await, None);
    assert_eq!(of_user(&db, "ann").await, ["b"]);
    assert_eq!(missing(remove(&db, "a").await), "portfolio_not_found");
    assert_eq!(missing(change_at(&db, "a", change(), NOW).await), "portfolio_not_found");
}

async fn users_see_their_own_in_order_of_creation(db: Db) {
    for (id, user) in [("c", "ann"), ("x", "Ann"), ("a", "ann"), ("b", "ann")] {
        let of = Portfolio { user: text(user), ..portfolio(id) };
        db.write(create_portfolio(of)).await.unwrap();
    }
    change_at(&db, "c", change(), later(50)).await.unwrap();
    assert_eq!(of_user(&db, "ann").await, ["c", "a", "b"]);
    assert_eq!(of_user(&db, "Ann").await, ["x"]);
    assert_eq!(of_user(&db, "nobody").await, [""; 0]);
}

async fn portfolios_are_read_in_pieces(db: Db) {
    let ann = text("ann");
    let names: Vec<String> = (0..7).map(|n| format!("p{n}")).collect();
    for name in &names {
        db.write(create_portfolio(portfolio(name))).await.unwrap();
    }
    for limit in [1, 3, 7, 8] {
        let read = in_pieces(limit, None, |after| db.portfolios(&ann, after, limit)).await;
        let read: Vec<String> = read.into_iter().map(|portfolio| portfolio.id.to_string()).collect();
        assert_eq!(read, names, "in pieces of {limit}");
    }
}

async fn statistics_are_exact_after_each_step(db: Db) {
    let mut expected = PortfolioStatistics::default();
    assert_eq!(db.portfolio_statistics().await.unwrap(), expected);

    db.write(create_template(template("t"))).await.unwrap();
    expected.templates = 1;
    expected.active_templates = 1;
    expected.template_risks = totals(&[("Moderate", 1)]);
    assert_eq!(db.portfolio_statistics().await.unwrap(), expected);

    db.write(create_portfolio(portfolio("own"))).await.unwrap();
    expected.portfolios = 1;
    expected.custom_portfolios = 1;
    expected.portfolio_risks = totals(&[("Aggressive", 1)]);
    assert_eq!(db.portfolio_statistics().await.unwrap(), expected);

    copy(&db, "t", "copy", false).await.unwrap();
    expected.portfolios = 2;
    expected.based_on_template = 1;
    expected.portfolio_risks = totals(&[("Aggressive", 1), ("Moderate", 1)]);
    assert_eq!(db.portfolio_statistics().await.unwrap(), expected);

    copy(&db, "t", "custom copy", true).await.unwrap();
    expected.portfolios = 3;
    expected.custom_portfolios = 2;
    expected.based_on_template = 2;
    expected.portfolio_risks = totals(&[("Aggressive", 1), ("Moderate", 2)]);
    assert_eq!(db.portfolio_statistics().await.unwrap(), expected);

    let bolder = PortfolioChange { risk: Some(RiskLevel::Aggressive), ..change() };
    for _twice in 0..2 {
        change_at(&db, "copy", bolder.clone(), NOW).await.unwrap();
        expected.portfolio_risks = totals(&[("Aggressive", 2), ("Moderate", 1)]);
        assert_eq!(db.portfolio_statistics().await.unwrap(), expected);
    }

    change_template(&db, "t", inactive()).await;
    expected.active_templates = 0;
    assert_eq!(db.portfolio_statistics().await.unwrap(), expected);

    missing(copy(&db, "t", "refused", true).await);
    missing(remove(&db, "unknown").await);
    assert_eq!(db.portfolio_statistics().await.unwrap(), expected);

    remove(&db, "custom copy").await.unwrap();
    expected.portfolios = 2;
    expected.custom_portfolios = 1;
    expected.based_on_template = 1;
    expected.portfolio_risks = totals(&[("Aggressive", 2)]);
    assert_eq!(db.portfolio_statistics().await.unwrap(), expected);

    remove(&db, "copy").await.unwrap();
    remove(&db, "own").await.unwrap();
    expected.portfolios = 0;
    expected.custom_portfolios = 0;
    expected.based_on_template = 0;
    expected.portfolio_risks = totals(&[]);
    assert_eq!(db.portfolio_statistics().await.unwrap(), expected);
}
