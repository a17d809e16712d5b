//! Search terms: where they match, and that they are literal.

use portico_domain::listings::{Listing, ListingFilter};

use super::{expect, in_field, store_unindexed, with_term};
use crate::engines::Db;
use crate::samples::{listing, text};

on_both_engines! {
    term_covers_five_fields,
    term_of_any_length_is_a_substring,
    term_does_not_match_across_fields,
    a_term_is_literal,
    a_term_ignores_case_in_every_script,
    every_substring_is_found,
    context_dependent_lower_case_is_found,
    the_longest_term_is_found,
    field_search_covers_only_its_field,
}

async fn term_covers_five_fields(db: Db) {
    let hidden = Listing {
        user: text("needle"),
        country: text("needle"),
        walkthrough: Some(text("https://example.com/needle")),
        ..listing("hidden")
    };
    let held = store_unindexed(
        &db,
        [
            listing("the needle"),
            Listing { street: text("9 Needle Lane"), ..listing("b") },
            Listing { city: text("Needles"), ..listing("c") },
            Listing { state: text("needle"), ..listing("d") },
            Listing { postal: text("XNEEDLEX"), ..listing("e") },
            hidden,
        ],
    )
    .await;
    expect(
        &db,
        held,
        &[
            (with_term("needle"), &["the needle", "b", "c", "d", "e"]),
            (with_term("needles"), &["c"]),
            (with_term("no needle"), &[]),
        ],
    )
    .await;
}

async fn term_of_any_length_is_a_substring(db: Db) {
    let on = |id, street| Listing { street: text(street), ..listing(id) };
    let held =
        store_unindexed(&db, [on("1", "Quay"), on("2", "Quiz Q"), on("3", "Jazz"), on("4", "Zq")]).await;
    expect(
        &db,
        held,
        &[
            (with_term("q"), &["1", "2", "4"]),
            (with_term("Z"), &["2", "3", "4"]),
            (with_term("zq"), &["4"]),
            (with_term("zz"), &["3"]),
            (with_term("qu"), &["1", "2"]),
            (with_term("uiz"), &["2"]),
            (with_term("iz Q"), &["2"]),
            (with_term("quiz q"), &["2"]),
            (with_term("quiz  q"), &[]),
            (with_term("quiz qq"), &[]),
            (with_term("y"), &["1"]),
        ],
    )
    .await;
}

async fn term_does_not_match_across_fields(db: Db) {
    let two = Listing { street: text("ABC"), city: text("DEF"), state: text("G"), ..listing("a") };
    let held = store_unindexed(&db, [two]).await;
    expect(
        &db,
        held,
        &[
            (with_term("abc"), &["a"]),
            (with_term("def"), &["a"]),
            (with_term("bcd"), &[]),
            (with_term("cd"), &[]),
            (with_term("bc def"), &[]),
            (with_term("efg"), &[]),
        ],
    )
    .await;
}

async fn a_term_is_literal(db: Db) {
    let streets = [
        "100% Road",
        "100x Road",
        "under_score",
        "under-score",
        "O'Neil",
        "a \"quoted\" b",
        "back\\slash",
        "backslash",
        "star* (of) ^caret:col",
        "rock AND roll",
        "rock NOT roll",
        "a-b+c{d}[e]",
    ];
    let held = store_unindexed(
        &db,
        streets
            .iter()
            .enumerate()
            .map(|(n, street)| Listing { street: text(street), ..listing(&format!("{n}")) }),
    )
    .await;
    expect(
        &db,
        held,
        &[
            (with_term("%"), &["0"]),
            (with_term("0%"), &["0"]),
            (with_term("100%"), &["0"]),
            (with_term("%road%"), &[]),
            (with_term("_"), &["2"]),
            (with_term("r_s"), &["2"]),
            (with_term("under_score"), &["2"]),
            (with_term("'"), &["4"]),
            (with_term("o'n"), &["4"]),
            (with_term("o''n"), &[]),
            (with_term("\""), &["5"]),
            (with_term("\"q"), &["5"]),
            (with_term("\"quoted\""), &["5"]),
            (with_term("\\"), &["6"]),
            (with_term("k\\s"), &["6"]),
            (with_term("k\\\\s"), &[]),
            (with_term("star*"), &["8"]),
            (with_term("sta*"), &[]),
            (with_term("(of)"), &["8"]),
            (with_term("^caret:col"), &["8"]),
            (with_term("AND"), &["9"]),
            (with_term("rock AND roll"), &["9"]),
            (with_term("rock OR roll"), &[]),
            (with_term("NOT"), &["10"]),
            (with_term("-b+"), &["11"]),
            (with_term("{d}["), &["11"]),
            (with_term("?1"), &[]),
            (with_term("$1"), &[]),
        ],
    )
    .await;
}

async fn a_term_ignores_case_in_every_script(db: Db) {
    let streets = ["École Ünïté", "ПРОСПЕКТ Мира", "日本橋一丁目", "🏠 house 🏡", "Οδός Ερμού", "Straße 1"];
    let held = store_unindexed(
        &db,
        streets
            .iter()
            .enumerate()
            .map(|(n, street)| Listing { street: text(street), ..listing(&format!("{n}")) }),
    )
    .await;
    expect(
        &db,
        held,
        &[
            (with_term("é"), &["0"]),
            (with_term("ÉC"), &["0"]),
            (with_term("ÜNÏTÉ"), &["0"]),
            (with_term("ecole"), &[]),
            (with_term("проспект МИРА"), &["1"]),
            (with_term("П"), &["1"]),
            (with_term("日本"), &["2"]),
            (with_term("橋"), &["2"]),
            (with_term("橋一丁"), &["2"]),
            (with_term("🏠"), &["3"]),
            (with_term("e 🏡"), &["3"]),
            (with_term("ΕΡΜΟΎ"), &["4"]),
            (with_term("STRAß"), &["5"]),
        ],
    )
    .await;
}

/// Also where the lower-case form is longer than the upper-case one.
async fn every_substring_is_found(db: Db) {
    let street = "İZMIR ẞ ǅ ﬁ Ǆ";
    let held = store_unindexed(&db, [Listing { street: text(street), ..listing("a") }]).await;
    let starts: Vec<usize> = street.char_indices().map(|(at, _)| at).chain([street.len()]).collect();
    let mut cases: Vec<(ListingFilter, &[&str])> = Vec::new();
    for (n, from) in starts.iter().enumerate() {
        let pieces = starts[n + 1..].iter().map(|to| &street[*from..*to]);
        cases.extend(
            pieces.filter(|piece| piece.trim() == *piece).map(|piece| (with_term(piece), ["a"].as_slice())),
        );
    }
    expect(&db, held, &cases).await;
}

/// An upper-case sigma becomes `ς` at the end of a word and `σ` elsewhere.
async fn context_dependent_lower_case_is_found(db: Db) {
    let on = |id, street| Listing { street: text(street), ..listing(id) };
    let held = store_unindexed(&db, [on("a", "ΟΔΟΣΑ"), on("b", "ΟΔΟΣ")]).await;
    expect(&db, held, &[(with_term("ΟΔΟΣ"), &["a", "b"]), (with_term("Σ"), &["a", "b"])]).await;
}

async fn the_longest_term_is_found(db: Db) {
    let long: String =
        ('a'..='z').cycle().enumerate().map(|(n, c)| if n % 3 == 0 { '7' } else { c }).take(255).collect();
    let nearly = format!("{}!", &long[..254]);
    let held = store_unindexed(
        &db,
        [Listing { street: text(&long), ..listing("a") }, Listing { street: text(&nearly), ..listing("b") }],
    )
    .await;
    expect(
        &db,
        held,
        &[
            (with_term(&long.to_uppercase()), &["a"]),
            (with_term(&long[..254]), &["a", "b"]),
            (with_term(&"%".repeat(255)), &[]),
        ],
    )
    .await;
}

async fn field_search_covers_only_its_field(db: Db) {
    let full = Listing {
        user: text("U-user"),
        street: text("S-street"),
        city: text("C-city"),
        state: text("T-state"),
        postal: text("P-postal"),
        country: text("N-country"),
        walkthrough: Some(text("https://w-walk.example/")),
        ..listing("I-id")
    };
    let held = store_unindexed(&db, [full, listing("other")]).await;
    let pieces = [
        ("ListingId", "i-ID"),
        ("UserId", "u-USER"),
        ("StreetAddress", "s-STREET"),
        ("City", "c-CITY"),
        ("State", "t-STATE"),
        ("PostalCode", "p-POSTAL"),
        ("Country", "n-COUNTRY"),
        ("walkthroughLink", "w-WALK"),
    ];
    let mut cases: Vec<(ListingFilter, &[&str])> = Vec::new();
    for (field, _) in pieces {
        for (home, piece) in pieces {
            for piece in [piece, &piece[..1], &piece[..2]] {
                let expected: &[&str] = if field == home { &["I-id"] } else { &[] };
                // Single letters also occur in other fields.
                if piece.len() > 1 {
                    cases.push((in_field(field, piece), expected));
                }
            }
        }
    }
    cases.push((in_field("walkthroughLink", "h"), &["I-id"]));
    cases.push((in_field("userId", "A"), &["other"]));
    cases.push((in_field("country", "U"), &["I-id", "other"]));
    expect(&db, held, &cases).await;
}
