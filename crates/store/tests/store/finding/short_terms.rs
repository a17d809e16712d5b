//! Terms of one or two characters among thousands of listings.

use portico_domain::listings::Listing;

use super::{many, store_in_order, with_term};
use crate::engines::Db;
use crate::samples::{find_all, found, listing, store_all, text};

on_both_engines! {
    rare_short_term_is_found_among_thousands,
    odd_short_term_is_found_among_thousands,
    noncharacter_is_found_among_thousands,
    a_common_short_term_finds_thousands,
}

async fn rare_short_term_is_found_among_thousands(db: Db) {
    store_all(&db, many(2500)).await;
    let rare = ["Qx", "Zß", "%", "_", "\"", "'", "\\", "é", "日本", "🏠", "*", "^"];
    store_in_order(
        &db,
        rare.iter()
            .map(|rare| Listing { street: text(&format!("Elm {rare}")), ..listing(&format!("-{rare}")) }),
    )
    .await;
    for state in ["before indexing", "after indexing"] {
        for rare in rare {
            for rare in [rare.to_lowercase(), rare.to_uppercase().replace("SS", "ß")] {
                let ids = found(&db, &with_term(&rare)).await;
                assert_eq!(ids.len(), 1, "{state}: {rare}: {ids:?}");
                assert_eq!(ids[0].to_lowercase(), format!("-{}", rare.to_lowercase()), "{state}");
            }
        }
        assert_eq!(found(&db, &with_term("q")).await, ["-Qx"], "{state}");
        assert_eq!(found(&db, &with_term("j")).await, [""; 0], "{state}");
        assert_eq!(found(&db, &with_term("jj")).await, [""; 0], "{state}");
        db.wait_for_index().await.unwrap();
    }
}

/// Asserts that each of these is found behind many other listings.
async fn find_behind_thousands(db: &Db, odd: &[&str]) {
    store_all(db, many(2500)).await;
    store_in_order(
        db,
        odd.iter().enumerate().map(|(n, odd)| Listing {
            street: text(&format!("Elm {odd} 1")),
            ..listing(&format!("odd-{n}"))
        }),
    )
    .await;
    for state in ["before indexing", "after indexing"] {
        for (n, odd) in odd.iter().enumerate() {
            let expected = [format!("odd-{n}")];
            assert_eq!(found(db, &with_term(odd)).await, expected, "{state}: {odd:?}");
            assert_eq!(found(db, &with_term(&format!("{odd} 1"))).await, expected, "{state}: {odd:?}");
        }
        db.wait_for_index().await.unwrap();
    }
}

async fn odd_short_term_is_found_among_thousands(db: Db) {
    let odd = ["\u{fffd}", "\u{fffc}", "\u{e000}", "\u{10ffff}", "\u{fe0f}", "\u{301}", "\u{1f3e0}"];
    find_behind_thousands(&db, &odd).await;
}

/// Unicode noncharacters, which a client may send all the same.
async fn noncharacter_is_found_among_thousands(db: Db) {
    find_behind_thousands(&db, &["\u{fffe}", "\u{ffff}", "\u{1fffe}", "\u{fdd0}"]).await;
}

async fn a_common_short_term_finds_thousands(db: Db) {
    // Thousands of different trigrams that begin with the term.
    let street = |n: usize| {
        let letter = |n: usize| char::from_u32(0x4e00 + u32::try_from(n).unwrap()).unwrap();
        format!("e{}{}", letter(n), letter(n / 7))
    };
    store_all(&db, (0..3000).map(|n| Listing { street: text(&street(n)), ..listing(&format!("{n}")) })).await;
    db.wait_for_index().await.unwrap();
    let listings = find_all(&db, &with_term("e"), 1000).await;
    assert_eq!(listings.len(), 3000);
    assert_eq!(find_all(&db, &with_term("E"), 5000).await, listings);
}
