//! What the search index of `SQLite` has for a listing, and how its text index is asked.

use portico_domain::Money;
use portico_domain::listings::{Listing, ListingOrder};
use portico_domain::search::SearchTerm;
use portico_domain::text::fold;
use rusqlite::{Connection, OptionalExtension};

use crate::engine::error::Result;

/// The tokenizer replaces them.
pub(crate) const NONCHARACTERS: [char; 2] = ['\u{fffe}', '\u{ffff}'];

pub(crate) fn quoted(gram: &str) -> String {
    format!("\"{}\"", gram.replace('"', "\"\""))
}

/// An FTS5 expression for texts that may contain the term: all of its trigrams, or, for a shorter term, any trigram
/// that begins with it. `None`: no indexed text contains it.
pub(crate) fn match_expression(connection: &Connection, term: &SearchTerm) -> Result<Option<String>> {
    let mut grams = term.trigrams();
    if !grams.is_empty() {
        grams.sort_unstable();
        grams.dedup();
        return Ok(Some(grams.into_iter().map(quoted).collect::<Vec<_>>().join(" AND ")));
    }
    // Seeking from trigram to trigram is faster than a range, which would count each one's listings.
    let mut seek = connection.prepare_cached("SELECT term FROM trigrams WHERE term >= ?1 LIMIT 1")?;
    let term = term.as_str().replace(NONCHARACTERS, "\u{fffd}");
    let (mut from, mut any) = (term.clone(), Vec::new());
    while let Some(gram) = seek.query_row([&from], |row| row.get::<_, String>(0)).optional()? {
        if !gram.starts_with(&term) {
            break;
        }
        any.push(quoted(&gram));
        from = gram + "\0";
    }
    Ok((!any.is_empty()).then(|| any.join(" OR ")))
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum EntryKind {
    City = 1,
    Postal = 2,
    Rent = 3,
    Bedrooms = 4,
    Bathrooms = 5,
    Place = 6,
    Size = 7,
}

/// Kind, key, sort, seq.
pub(crate) type Entry = (i64, i64, i64, i64);

pub(crate) fn entries(listing: &Listing, seq: i64, to: &mut Vec<Entry>) {
    let rent = listing.rent.map_or(-1, Money::units);
    let mut add = |kind: EntryKind, key, sort| to.push((kind as i64, key, sort, seq));
    add(EntryKind::City, hash_key(&fold(listing.city.as_str())), 0);
    add(EntryKind::Postal, hash_key(listing.postal.as_str()), 0);
    add(EntryKind::Rent, 0, ListingOrder::Rent.key(listing, seq));
    add(EntryKind::Size, 0, ListingOrder::Size.key(listing, seq));
    if let Some(bedrooms) = listing.bedrooms {
        add(EntryKind::Bedrooms, bedrooms.units(), rent);
    }
    if let Some(bathrooms) = listing.bathrooms {
        add(EntryKind::Bathrooms, bathrooms.units(), rent);
    }
    if let Some(place) = listing.place {
        add(EntryKind::Place, 0, place.morton());
    }
}

/// FNV-1a. Collisions are harmless, because every candidate is checked.
pub(crate) fn hash_key(text: &str) -> i64 {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hash.cast_signed()
}
