//! Reading the audit log.

use portico_domain::Timestamp;
use portico_store::Cursor;
use portico_store::audit::{Append, AuditFilter, ENTRIES_PER_SEARCH, Entry};

use crate::engines::Db;
use crate::samples::{entry, later};

on_both_engines! {
    newest_entries_come_first_in_pages,
    filters_are_combined,
    action_is_matched_by_its_beginning,
    rare_entry_is_found_beyond_one_read,
    cursor_from_elsewhere_ends,
}

async fn append(db: &Db, entries: Vec<Entry>) {
    for entry in entries {
        db.write(Append(entry)).await.unwrap();
    }
}

fn at(micros: i64, actor: &str, action: &'static str, subject: &str) -> Entry {
    Entry { at: later(micros), actor: actor.into(), ..entry(action, subject) }
}

/// The numbers on each page.
async fn pages(db: &Db, filter: &AuditFilter, limit: usize) -> Vec<Vec<i64>> {
    let (mut pages, mut after) = (Vec::new(), None::<Cursor>);
    loop {
        let page = db.audit_matching(filter, after, limit).await.unwrap();
        pages.push(page.items.iter().map(|entry| entry.seq).collect());
        let Some(next) = page.next else { return pages };
        assert!(after.is_none_or(|after| next > after), "cursors grow: {next:?} after {after:?}");
        after = Some(next);
    }
}

async fn newest_entries_come_first_in_pages(db: Db) {
    assert_eq!(pages(&db, &AuditFilter::default(), 2).await, [Vec::<i64>::new()]);
    append(&db, (0..5).map(|n| at(n, "user ann", "key.created", "k")).collect()).await;
    assert_eq!(pages(&db, &AuditFilter::default(), 2).await, [vec![5, 4], vec![3, 2], vec![1]]);
    assert_eq!(pages(&db, &AuditFilter::default(), 5).await, [vec![5, 4, 3, 2, 1]]);
}

async fn filters_are_combined(db: Db) {
    let entries = vec![
        at(0, "user ann", "key.created", "one"),
        at(1, "user bob", "key.created", "one"),
        at(2, "user ann", "key.revoked", "one"),
        at(3, "user ann", "key.created", "two"),
        at(4, "user ann' OR 1=1 --", "key.created", "%"),
    ];
    append(&db, entries).await;
    let found = async |filter: AuditFilter| pages(&db, &filter, 10).await.concat();
    let all = AuditFilter::default;
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(found(AuditFilter { actor: text("user ann"), ..all() }).await, [4, 3, 1]);
    assert_eq!(found(AuditFilter { actor: text("user"), ..all() }).await, [0; 0]);
    assert_eq!(found(AuditFilter { subject: text("one"), ..all() }).await, [3, 2, 1]);
    assert_eq!(found(AuditFilter { subject: text("%"), ..all() }).await, [5]);
    let both = AuditFilter { actor: text("user ann"), subject: text("one"), ..all() };
    assert_eq!(found(both).await, [3, 1]);
    let (from, until) = (later(1), later(3));
    assert_eq!(found(AuditFilter { from, until, ..all() }).await, [3, 2], "the end is not included");
    assert_eq!(found(AuditFilter { from: Timestamp::from_micros(i64::MAX), ..all() }).await, [0; 0]);
}

async fn action_is_matched_by_its_beginning(db: Db) {
    let actions = ["key.created", "key.revoked", "keys.listed", "a_key.used", "Key.created"];
    append(&db, actions.into_iter().map(|action| at(0, "user ann", action, "k")).collect()).await;
    let found = async |action: &str| {
        let filter = AuditFilter { action: Some(action.into()), ..AuditFilter::default() };
        pages(&db, &filter, 10).await.concat()
    };
    assert_eq!(found("key.").await, [2, 1]);
    assert_eq!(found("key").await, [3, 2, 1]);
    assert_eq!(found("key.created").await, [1]);
    assert_eq!(found("_key").await, [0; 0], "it is no pattern");
    assert_eq!(found("key.created.more").await, [0; 0]);
}

async fn rare_entry_is_found_beyond_one_read(db: Db) {
    append(&db, vec![at(0, "user ann", "rare", "k")]).await;
    // What is read is a range of numbers: the log is continued far above.
    db.raw(&format!("UPDATE audit_head SET seq = seq + {}", 2 * ENTRIES_PER_SEARCH)).await;
    append(&db, vec![at(0, "user ann", "key.created", "k")]).await;
    let filter = AuditFilter { action: Some("rare".into()), ..AuditFilter::default() };
    assert_eq!(pages(&db, &filter, 10).await, [vec![], vec![], vec![1]]);
}

async fn cursor_from_elsewhere_ends(db: Db) {
    append(&db, vec![at(0, "user ann", "key.created", "k")]).await;
    for seq in [i64::MIN, i64::MIN + 1, 0, 1, i64::MAX] {
        let cursor = Some(Cursor { key: seq, seq });
        let page = db.audit_matching(&AuditFilter::default(), cursor, 10).await.unwrap();
        assert_eq!((page.items.len(), page.next), (usize::from(seq < 0), None), "{seq}");
    }
}
