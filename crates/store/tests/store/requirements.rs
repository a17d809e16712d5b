//! Requirements records: one per listing and applicant, replaced when written again.

use portico_domain::SafeInteger;
use portico_domain::requirements::RequirementsRecord;
use portico_store::PutRequirements;

use crate::engines::Db;
use crate::samples::by;

on_both_engines! {
    a_record_is_read_as_it_was_written,
    a_second_record_replaces_the_first,
    records_belong_to_listing_and_applicant,
    there_is_no_record_at_first,
}

fn record(listing: i64, applicant: i64, met: &[bool]) -> RequirementsRecord {
    let [listing, applicant] = [listing, applicant].map(SafeInteger::from_units);
    RequirementsRecord { listing, applicant, met: met.to_vec() }
}

async fn put(db: &Db, record: &RequirementsRecord) {
    db.write(PutRequirements { record: record.clone(), by: by() }).await.unwrap();
}

async fn assert_kept(db: &Db, record: RequirementsRecord) {
    let kept = db.requirements(record.listing, record.applicant).await.unwrap();
    assert_eq!(kept, Some(record));
}

async fn a_record_is_read_as_it_was_written(db: Db) {
    let many: Vec<bool> = (0..1000).map(|n| n % 3 == 0).collect();
    for record in
        [record(1, 2, &[true, false, true]), record(0, 0, &[]), record(9_007_199_254_740_991, 3, &many)]
    {
        put(&db, &record).await;
        assert_kept(&db, record).await;
    }
}

async fn a_second_record_replaces_the_first(db: Db) {
    put(&db, &record(1, 2, &[true, false, true])).await;
    put(&db, &record(1, 2, &[false])).await;
    assert_kept(&db, record(1, 2, &[false])).await;
}

async fn records_belong_to_listing_and_applicant(db: Db) {
    let all = [record(1, 2, &[true]), record(2, 1, &[false]), record(1, 1, &[true, true])];
    for record in &all {
        put(&db, record).await;
    }
    for record in all {
        assert_kept(&db, record).await;
    }
}

async fn there_is_no_record_at_first(db: Db) {
    put(&db, &record(1, 2, &[true])).await;
    for (listing, applicant) in [(1, 1), (2, 2), (2, 1), (0, 0)] {
        let [listing, applicant] = [listing, applicant].map(SafeInteger::from_units);
        assert_eq!(db.requirements(listing, applicant).await.unwrap(), None);
    }
}
