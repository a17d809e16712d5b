//! The surface under `/stage`: stored records with typed attributes.

mod empty_ids;
mod listings;
mod recording;
mod saved;

use serde_json::{Value, json};

/// The stored record of a [`listing`](crate::support::listing), with changed attributes.
fn record(id: &str, user: &str, more: Value) -> Value {
    let record = json!({
        "ListingId": {"S": id}, "UserId": {"S": user}, "StreetAddress": {"S": "12 Oak Street"},
        "City": {"S": "Austin"}, "State": {"S": "TX"}, "PostalCode": {"S": "78701"}, "Country": {"S": "US"},
        "MonthlyRent": {"N": "0"}, "PropertyValue": {"N": "0"}, "Latitude": {"NULL": true},
        "Longitude": {"NULL": true}, "walkthroughLink": {"S": ""},
    });
    crate::support::with(record, more)
}
