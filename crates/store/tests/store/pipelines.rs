//! Verification pipelines: one per account, partial writes, unique client ids.

use futures_util::future::join_all;
use portico_domain::pipelines::Pipeline;
use portico_domain::{ErrorCode, Tenant};
use portico_store::{Error, PutPipeline, Result};

use crate::engines::Db;
use crate::samples::{account, by, conflict, text};

on_both_engines! {
    there_is_no_pipeline_at_first,
    a_pipeline_is_read_as_it_was_written,
    an_empty_write_makes_an_empty_pipeline,
    a_partial_write_changes_only_what_it_names,
    accounts_do_not_share_a_pipeline,
    client_id_of_another_account_is_refused,
    own_client_id_may_be_written_again,
    a_client_id_that_was_given_up_stays_with_its_account,
    an_account_may_use_a_limited_number_of_client_ids,
    user_and_account_of_one_name_are_apart,
    client_ids_that_differ_in_case_are_different,
    one_of_many_concurrent_claims_gets_the_client_id,
}

async fn put(db: &Db, account: &str, change: Pipeline) -> Result<()> {
    db.write(PutPipeline { tenant: self::account(account), change, by: by() }).await
}

async fn pipeline(db: &Db, account: &str) -> Option<Pipeline> {
    db.pipeline(&self::account(account)).await.unwrap()
}

fn client(id: &str) -> Pipeline {
    Pipeline { client: Some(text(id)), ..Pipeline::default() }
}

fn full() -> Pipeline {
    Pipeline {
        client: Some(text("client")),
        eviction: Some(true),
        income: Some(false),
        soft_credit: Some(true),
        criminal_background: Some(false),
        country: Some(text("US")),
    }
}

async fn there_is_no_pipeline_at_first(db: Db) {
    assert_eq!(pipeline(&db, "acme").await, None);
}

async fn a_pipeline_is_read_as_it_was_written(db: Db) {
    put(&db, "acme", full()).await.unwrap();
    assert_eq!(pipeline(&db, "acme").await, Some(full()));
}

async fn an_empty_write_makes_an_empty_pipeline(db: Db) {
    put(&db, "acme", Pipeline::default()).await.unwrap();
    assert_eq!(pipeline(&db, "acme").await, Some(Pipeline::default()));
}

async fn a_partial_write_changes_only_what_it_names(db: Db) {
    let none = Pipeline::default;
    let mut expected = none();
    for change in [
        full(),
        none(),
        Pipeline { eviction: Some(false), ..none() },
        Pipeline { income: Some(true), ..none() },
        Pipeline { soft_credit: Some(false), ..none() },
        Pipeline { criminal_background: Some(true), ..none() },
        Pipeline { country: Some(text("DE")), ..none() },
        client("another"),
        Pipeline { income: Some(false), country: Some(text("FR")), ..none() },
    ] {
        put(&db, "acme", change.clone()).await.unwrap();
        expected = expected.changed_by(change);
        assert_eq!(pipeline(&db, "acme").await, Some(expected.clone()));
    }
}

async fn accounts_do_not_share_a_pipeline(db: Db) {
    put(&db, "acme", full()).await.unwrap();
    put(&db, "ACME", client("other")).await.unwrap();
    assert_eq!(pipeline(&db, "acme").await, Some(full()));
    assert_eq!(pipeline(&db, "ACME").await, Some(client("other")));
}

async fn client_id_of_another_account_is_refused(db: Db) {
    put(&db, "acme", client("shared")).await.unwrap();
    let both = Pipeline { income: Some(true), ..client("shared") };
    assert_eq!(conflict(put(&db, "new", both.clone()).await), "client_id_taken");
    assert_eq!(pipeline(&db, "new").await, None);

    put(&db, "new", client("own")).await.unwrap();
    assert_eq!(conflict(put(&db, "new", both).await), "client_id_taken");
    assert_eq!(pipeline(&db, "new").await, Some(client("own")));
    assert_eq!(pipeline(&db, "acme").await, Some(client("shared")));
}

async fn own_client_id_may_be_written_again(db: Db) {
    put(&db, "acme", client("own")).await.unwrap();
    let more = Pipeline { income: Some(true), ..client("own") };
    put(&db, "acme", more.clone()).await.unwrap();
    assert_eq!(pipeline(&db, "acme").await, Some(more));
}

async fn a_client_id_that_was_given_up_stays_with_its_account(db: Db) {
    put(&db, "acme", client("first")).await.unwrap();
    put(&db, "acme", client("second")).await.unwrap();
    for taken in ["first", "second"] {
        assert_eq!(conflict(put(&db, "new", client(taken)).await), "client_id_taken");
    }
    assert_eq!(pipeline(&db, "new").await, None);
    put(&db, "acme", client("first")).await.unwrap();
    assert_eq!(pipeline(&db, "acme").await, Some(client("first")));
}

async fn an_account_may_use_a_limited_number_of_client_ids(db: Db) {
    for n in 0..20 {
        put(&db, "acme", client(&format!("name-{n}"))).await.unwrap();
    }
    assert_eq!(conflict(put(&db, "acme", client("one more")).await), "too_many_client_ids");
    assert_eq!(pipeline(&db, "acme").await, Some(client("name-19")));
    put(&db, "acme", client("name-0")).await.unwrap();
    put(&db, "new", client("one more")).await.unwrap();
}

async fn user_and_account_of_one_name_are_apart(db: Db) {
    let user = Tenant::User(text("acme"));
    put(&db, "acme", full()).await.unwrap();
    assert_eq!(db.pipeline(&user).await.unwrap(), None);
    let change = Pipeline { income: Some(true), ..client("own") };
    let put_own = |change| db.write(PutPipeline { tenant: user.clone(), change, by: by() });
    put_own(change.clone()).await.unwrap();
    assert_eq!(db.pipeline(&user).await.unwrap(), Some(change));
    assert_eq!(pipeline(&db, "acme").await, Some(full()));
    assert_eq!(conflict(put_own(client("client")).await), "client_id_taken");
}

async fn client_ids_that_differ_in_case_are_different(db: Db) {
    put(&db, "acme", client("one")).await.unwrap();
    put(&db, "new", client("One")).await.unwrap();
    assert_eq!(pipeline(&db, "new").await, Some(client("One")));
}

async fn one_of_many_concurrent_claims_gets_the_client_id(db: Db) {
    let accounts: Vec<String> = (0..20).map(|n| format!("account-{n}")).collect();
    let outcomes = join_all(accounts.iter().map(|account| put(&db, account, client("wanted")))).await;
    let (won, lost): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
    assert_eq!(won.len(), 1);
    for outcome in lost {
        assert!(matches!(outcome, Err(Error::Conflict(ErrorCode::ClientIdTaken))), "{outcome:?}");
    }
    assert_eq!(db.raw("SELECT count(*) FROM pipelines").await, [[Some("1".to_owned())]]);
}
