//! API keys and users' accounts.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use portico_domain::keys::{Key, KeyFilter, KeyScope, ScopeKind};
use portico_domain::{ErrorCode, Tenant, Timestamp};
use portico_store::{CreateKey, Error, JoinTenant, NoteKeyUse, Result, RevokeKey, Role, StoredKey};

use crate::engines::Db;
use crate::samples::{NOW, account, by, by_at, conflict, entry, later, missing, text};

on_both_engines! {
    a_key_is_found_by_its_public_part,
    unknown_key_is_none,
    a_revoked_key_says_so_at_once,
    repeated_lookup_returns_the_stored_key,
    revocation_by_another_process_is_seen_soon,
    revoking_twice_changes_nothing,
    revoking_an_unknown_key_is_refused,
    keys_are_listed_in_order_of_creation,
    newest_keys_come_first_in_pages,
    keys_are_filtered_by_scope_and_owner,
    user_sees_only_own_keys,
    the_limit_counts_working_keys_of_the_same_scope,
    the_limit_holds_when_keys_are_made_at_once,
    expired_keys_do_not_count_for_the_limit,
    last_use_of_a_key_only_moves_ahead,
    a_user_is_a_tenant_of_their_own_at_first,
    a_user_belongs_to_the_tenant_that_was_joined_last,
}

pub(crate) fn key(id: &str, scope: KeyScope) -> StoredKey {
    let key = Key {
        id: text(id),
        name: text("für alles"),
        scope,
        created_at: NOW,
        expires_at: None,
        last_used_at: None,
        revoked_at: None,
    };
    StoredKey { digest: (0..32).map(|n| n * 8).collect(), key }
}

pub(crate) fn ann() -> KeyScope {
    KeyScope::User(text("ann"))
}

async fn create(db: &Db, key: StoredKey, limit: Option<i64>) -> Result<()> {
    db.write(CreateKey { key, limit, entry: None, by: by() }).await
}

async fn revoke(db: &Db, id: &str, at: Timestamp) -> Result<()> {
    db.write(RevokeKey { id: text(id), entry: entry("key.revoked", id), by: by_at(at) }).await
}

async fn listed(db: &Db, of: Option<&str>) -> Vec<String> {
    let keys = db.keys(of.map(text).as_ref()).await.unwrap();
    keys.into_iter().map(|key| key.id.to_string()).collect()
}

async fn a_key_is_found_by_its_public_part(db: Db) {
    for (id, scope) in
        [("operator", KeyScope::Operator), ("account", KeyScope::Account(text("acme"))), ("user", ann())]
    {
        let stored = key(id, scope);
        create(&db, stored.clone(), None).await.unwrap();
        let kept = db.key(&text(id)).await.unwrap().unwrap();
        assert_eq!((kept.digest, kept.key), (stored.digest, stored.key));
    }
}

async fn unknown_key_is_none(db: Db) {
    create(&db, key("a", KeyScope::Operator), None).await.unwrap();
    assert!(db.key(&text("A")).await.unwrap().is_none());
    assert!(db.key(&text("b")).await.unwrap().is_none());
}

async fn a_revoked_key_says_so_at_once(db: Db) {
    for id in ["a", "b"] {
        create(&db, key(id, ann()), None).await.unwrap();
    }
    revoke(&db, "a", later(5)).await.unwrap();
    let kept = db.key(&text("a")).await.unwrap().unwrap();
    assert_eq!(kept.key, Key { revoked_at: Some(later(5)), ..key("a", ann()).key });
    assert_eq!(db.key(&text("b")).await.unwrap().unwrap().key.revoked_at, None);
    let revoked: Vec<_> = db.keys(None).await.unwrap().into_iter().map(|key| key.revoked_at).collect();
    assert_eq!(revoked, [Some(later(5)), None], "it is still listed");
}

async fn repeated_lookup_returns_the_stored_key(db: Db) {
    for n in 0..100 {
        let id = format!("k{n}");
        let presented = || async { db.key(&text(&id)).await.unwrap() };
        assert!(presented().await.is_none(), "{id} is not there yet");
        create(&db, key(&id, ann()), None).await.unwrap();
        for _again in 0..3 {
            let found = presented().await.unwrap();
            assert_eq!((&found.digest, &found.key), (&key(&id, ann()).digest, &key(&id, ann()).key));
        }
        revoke(&db, &id, later(5)).await.unwrap();
        assert_eq!(presented().await.unwrap().key.revoked_at, Some(later(5)), "{id} at once");
    }
}

async fn revocation_by_another_process_is_seen_soon(server: Db) {
    create(&server, key("a", ann()), None).await.unwrap();
    let tool = server.place().open(Role::Tool).await;
    tool.write(RevokeKey { id: text("a"), entry: entry("key.revoked", "a"), by: by() }).await.unwrap();
    let (began, mut seen) = (Instant::now(), false);
    // Presented continuously.
    while !seen && began.elapsed() < Duration::from_secs(10) {
        seen = server.key(&text("a")).await.unwrap().unwrap().key.revoked_at.is_some();
    }
    assert!(seen);
}

async fn revoking_twice_changes_nothing(db: Db) {
    create(&db, key("a", KeyScope::Operator), None).await.unwrap();
    revoke(&db, "a", later(5)).await.unwrap();
    revoke(&db, "a", later(9)).await.unwrap();
    assert_eq!(db.key(&text("a")).await.unwrap().unwrap().key.revoked_at, Some(later(5)));
}

async fn revoking_an_unknown_key_is_refused(db: Db) {
    assert_eq!(missing(revoke(&db, "a", NOW).await), "key_not_found");
}

async fn keys_are_listed_in_order_of_creation(db: Db) {
    assert_eq!(listed(&db, None).await, [""; 0]);
    for (id, scope) in [("m", KeyScope::Operator), ("a", ann()), ("z", KeyScope::Account(text("ann")))] {
        create(&db, key(id, scope), None).await.unwrap();
    }
    assert_eq!(listed(&db, None).await, ["m", "a", "z"]);
}

async fn newest_keys_come_first_in_pages(db: Db) {
    for (id, scope) in [("first", KeyScope::Operator), ("second", ann()), ("third", ann())] {
        create(&db, key(id, scope), None).await.unwrap();
    }
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = db.newest_keys(&KeyFilter::default(), after, 2).await.unwrap();
        seen.push(page.items.iter().map(|key| key.id.to_string()).collect::<Vec<_>>());
        assert!(page.next.is_none_or(|next| after.is_none_or(|after| next > after)), "cursors grow");
        let Some(next) = page.next else { break };
        after = Some(next);
    }
    assert_eq!(seen, [vec!["third", "second"], vec!["first"]]);
}

async fn keys_are_filtered_by_scope_and_owner(db: Db) {
    for (id, scope) in [
        ("operator", KeyScope::Operator),
        ("user", ann()),
        ("account", KeyScope::Account(text("ann"))),
        ("other", KeyScope::User(text("Ann"))),
    ] {
        create(&db, key(id, scope), None).await.unwrap();
    }
    let found = async |scope: Option<ScopeKind>, owner: Option<&str>| {
        let filter = KeyFilter { scope, owner: owner.map(text) };
        let page = db.newest_keys(&filter, None, 10).await.unwrap();
        page.items.iter().map(|key| key.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(found(Some(ScopeKind::Operator), None).await, ["operator"]);
    assert_eq!(found(Some(ScopeKind::User), None).await, ["other", "user"]);
    assert_eq!(found(None, Some("ann")).await, ["account", "user"]);
    assert_eq!(found(Some(ScopeKind::Account), Some("ann")).await, ["account"]);
    assert_eq!(found(Some(ScopeKind::Operator), Some("ann")).await, [""; 0]);
}

async fn user_sees_only_own_keys(db: Db) {
    for (id, scope) in [
        ("m", ann()),
        ("b", KeyScope::User(text("Ann"))),
        ("c", KeyScope::Account(text("ann"))),
        ("d", KeyScope::Operator),
        ("a", ann()),
    ] {
        create(&db, key(id, scope), None).await.unwrap();
    }
    assert_eq!(listed(&db, Some("ann")).await, ["m", "a"]);
    assert_eq!(listed(&db, Some("Ann")).await, ["b"]);
    assert_eq!(listed(&db, Some("eve")).await, [""; 0]);
}

async fn the_limit_counts_working_keys_of_the_same_scope(db: Db) {
    for id in ["1", "2"] {
        create(&db, key(id, ann()), Some(2)).await.unwrap();
    }
    assert_eq!(conflict(create(&db, key("3", ann()), Some(2)).await), "too_many_keys");
    assert_eq!(listed(&db, None).await, ["1", "2"]);
    create(&db, key("account", KeyScope::Account(text("ann"))), Some(1)).await.unwrap();
    create(&db, key("bob", KeyScope::User(text("bob"))), Some(1)).await.unwrap();
    revoke(&db, "1", NOW).await.unwrap();
    create(&db, key("3", ann()), Some(2)).await.unwrap();
    assert_eq!(conflict(create(&db, key("4", ann()), Some(2)).await), "too_many_keys");
    create(&db, key("4", ann()), None).await.unwrap();
}

async fn the_limit_holds_when_keys_are_made_at_once(db: Db) {
    let outcomes = join_all((0..40).map(|n| create(&db, key(&format!("{n}"), ann()), Some(5)))).await;
    let (made, refused): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
    for outcome in refused {
        assert!(matches!(outcome, Err(Error::Conflict(ErrorCode::TooManyKeys))), "{outcome:?}");
    }
    assert_eq!(made.len(), 5);
    assert_eq!(listed(&db, Some("ann")).await.len(), 5);
}

fn expiring(id: &str, created: i64, expires: i64) -> StoredKey {
    let StoredKey { digest, key } = key(id, ann());
    StoredKey { digest, key: Key { created_at: later(created), expires_at: Some(later(expires)), ..key } }
}

async fn expired_keys_do_not_count_for_the_limit(db: Db) {
    create(&db, expiring("a", 0, 10), Some(1)).await.unwrap();
    assert_eq!(conflict(create(&db, expiring("b", 9, 20), Some(1)).await), "too_many_keys");
    create(&db, expiring("b", 10, 20), Some(1)).await.unwrap();
    let kept = db.keys(None).await.unwrap();
    assert_eq!(kept.iter().map(|key| key.expires_at).collect::<Vec<_>>(), [Some(later(10)), Some(later(20))]);
    assert_eq!(kept.iter().map(|key| key.is_valid(later(10))).collect::<Vec<_>>(), [false, true]);
}

async fn last_use_of_a_key_only_moves_ahead(db: Db) {
    create(&db, key("a", ann()), None).await.unwrap();
    create(&db, key("b", ann()), None).await.unwrap();
    for (at, expected) in [(5, 5), (3, 5), (7, 7)] {
        db.write(NoteKeyUse { id: text("a"), at: later(at) }).await.unwrap();
        let kept = db.key(&text("a")).await.unwrap().unwrap().key;
        assert_eq!(kept, Key { last_used_at: Some(later(expected)), ..key("a", ann()).key });
    }
    assert_eq!(db.key(&text("b")).await.unwrap().unwrap().key.last_used_at, None);
}

fn user(name: &str) -> Tenant {
    Tenant::User(text(name))
}

async fn join(db: &Db, user: &str, tenant: Tenant) {
    db.write(JoinTenant { user: text(user), tenant, at: NOW }).await.unwrap();
}

async fn a_user_is_a_tenant_of_their_own_at_first(db: Db) {
    assert_eq!(db.tenant_of(&text("ann")).await.unwrap(), user("ann"));
}

async fn a_user_belongs_to_the_tenant_that_was_joined_last(db: Db) {
    for tenant in [account("acme"), account("umbrella"), account("umbrella"), user("ann"), account("ann")] {
        join(&db, "ann", tenant.clone()).await;
        assert_eq!(db.tenant_of(&text("ann")).await.unwrap(), tenant);
    }
    assert_eq!(db.tenant_of(&text("Ann")).await.unwrap(), user("Ann"), "nobody else is moved");
}
