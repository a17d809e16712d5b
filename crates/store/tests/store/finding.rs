//! Every access path to listings: before and after the search index contains them.

use portico_domain::geo::{Area, Point};
use portico_domain::listings::Field;
use portico_domain::listings::{Listing, ListingFilter};
use portico_domain::{Kilometres, Money};

use crate::engines::{Db, HeldIndex};
use crate::samples::{
    create, delete, find_after, find_all, found, ids, listing, money, rooms, store_all, term, text,
};

on_both_engines! {
    by_id,
    by_owner_exactly,
    by_whole_city_ignoring_case,
    by_postal_code_exactly,
    term_covers_five_fields,
    term_of_any_length_is_a_substring,
    term_does_not_match_across_fields,
    a_term_is_literal,
    a_term_ignores_case_in_every_script,
    every_substring_is_found,
    context_dependent_lower_case_is_found,
    the_longest_term_is_found,
    field_search_covers_only_its_field,
    rare_short_term_is_found_among_thousands,
    odd_short_term_is_found_among_thousands,
    noncharacter_is_found_among_thousands,
    a_common_short_term_finds_thousands,
    rents_are_ranges_with_their_edges,
    equal_rents_stay_in_creation_order,
    rooms_are_counted_exactly,
    rooms_and_rent_together,
    near_a_point,
    in_a_box,
    across_the_antimeridian,
    around_a_pole,
    areas_and_everything_else_together,
    all_conditions_must_hold,
    deleted_listing_is_on_no_access_path,
    a_page_that_ends_the_list_has_no_cursor,
    a_cursor_outlives_its_listing,
    listings_made_while_paging_come_last,
}

fn all() -> ListingFilter {
    ListingFilter::default()
}

fn with_term(raw: &str) -> ListingFilter {
    ListingFilter { term: Some(term(raw)), ..all() }
}

fn in_field(name: &str, raw: &str) -> ListingFilter {
    ListingFilter { field: Some((Field::parse(name).unwrap(), term(raw))), ..all() }
}

fn circle(centre: &str, km: &str) -> Area {
    Area::Circle { centre: Point::parse(centre).unwrap(), radius: Kilometres::parse(km).unwrap() }
}

fn inside(area: Area) -> ListingFilter {
    ListingFilter { areas: vec![area], ..all() }
}

fn in_box(text: &str) -> ListingFilter {
    inside(Area::parse_box(text).unwrap())
}

fn at(id: &str, place: &str) -> Listing {
    Listing { place: Some(Point::parse(place).unwrap()), ..listing(id) }
}

/// Asserts the matches before and after the search index is up to date.
async fn expect(db: &Db, held: HeldIndex, cases: &[(ListingFilter, &[&str])]) {
    for (filter, expected) in cases {
        assert_eq!(found(db, filter).await, *expected, "before indexing: {filter:?}");
    }
    drop(held);
    db.settle().await.unwrap();
    db.assert_not_yet_indexed(0).await;
    for (filter, expected) in cases {
        assert_eq!(found(db, filter).await, *expected, "after indexing: {filter:?}");
    }
}

/// Ignores the order, which is by Morton code.
async fn expect_somewhere(db: &Db, held: HeldIndex, cases: &[(ListingFilter, &[&str])]) {
    let mut in_order = Vec::new();
    for (filter, expected) in cases {
        let ids = found(db, filter).await;
        let mut sorted = ids.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, *expected, "before indexing: {filter:?}");
        in_order.push(ids);
    }
    drop(held);
    db.settle().await.unwrap();
    db.assert_not_yet_indexed(0).await;
    for ((filter, _), ids) in cases.iter().zip(in_order) {
        assert_eq!(found(db, filter).await, ids, "after indexing: {filter:?}");
    }
}

/// Sequentially, so that the creation order is the given order.
async fn store_in_order(db: &Db, listings: impl IntoIterator<Item = Listing>) {
    for listing in listings {
        db.write(create(listing)).await.unwrap();
    }
}

/// Keeps the search index from indexing them.
async fn store_unindexed(db: &Db, listings: impl IntoIterator<Item = Listing>) -> HeldIndex {
    let held = db.hold_search_index();
    let mut count = 0;
    for listing in listings {
        db.write(create(listing)).await.unwrap();
        count += 1;
    }
    db.assert_not_yet_indexed(count).await;
    held
}

async fn by_id(db: Db) {
    let held = store_unindexed(&db, [listing("a"), listing("A"), listing("b")]).await;
    let id = |id, city: Option<&str>| ListingFilter { id: Some(text(id)), city: city.map(text), ..all() };
    expect(
        &db,
        held,
        &[
            (id("a", None), &["a"]),
            (id("A", None), &["A"]),
            (id("c", None), &[]),
            (id("a", Some("AUSTIN")), &["a"]),
            (id("a", Some("Boston")), &[]),
        ],
    )
    .await;
}

async fn by_owner_exactly(db: Db) {
    let owned = |id, user| Listing { user: text(user), ..listing(id) };
    let held =
        store_unindexed(&db, [owned("a", "ann"), owned("b", "Ann"), owned("c", "ann"), owned("d", "an")])
            .await;
    let of = |user| ListingFilter { user: Some(text(user)), ..all() };
    expect(&db, held, &[(of("ann"), &["a", "c"]), (of("Ann"), &["b"]), (of("ANN"), &[]), (of("a%"), &[])])
        .await;
}

async fn by_whole_city_ignoring_case(db: Db) {
    let of = |id: &str, city: &str| Listing { city: text(city), ..listing(id) };
    let cities = ["New York", "NEW YORK", "York", "München", "MÜNCHEN", "Munchen", "new york city", "%"];
    let held =
        store_unindexed(&db, cities.iter().enumerate().map(|(n, city)| of(&format!("{n}"), city))).await;
    let city = |city| ListingFilter { city: Some(text(city)), ..all() };
    expect(
        &db,
        held,
        &[
            (city("new york"), &["0", "1"]),
            (city("YORK"), &["2"]),
            (city("mÜNCHEN"), &["3", "4"]),
            (city("munchen"), &["5"]),
            (city("new"), &[]),
            (city("%"), &["7"]),
            (city("_ork"), &[]),
        ],
    )
    .await;
}

async fn by_postal_code_exactly(db: Db) {
    let of = |id, postal| Listing { postal: text(postal), ..listing(id) };
    let held = store_unindexed(
        &db,
        [of("a", "SW1A 1AA"), of("b", "sw1a 1aa"), of("c", "SW1A"), of("d", "SW1A 1AA")],
    )
    .await;
    let postal = |postal| ListingFilter { postal: Some(text(postal)), ..all() };
    expect(
        &db,
        held,
        &[
            (postal("SW1A 1AA"), &["a", "d"]),
            (postal("SW1A"), &["c"]),
            (postal("SW"), &[]),
            (postal("%"), &[]),
        ],
    )
    .await;
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

/// More listings than a search for one or two characters scans before it uses the index.
fn many(count: usize) -> impl Iterator<Item = Listing> {
    (0..count).map(|n| Listing { street: text(&format!("{n} Elm")), ..listing(&format!("{n}")) })
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
        db.settle().await.unwrap();
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
        db.settle().await.unwrap();
    }
}

async fn odd_short_term_is_found_among_thousands(db: Db) {
    let odd = ["\u{fffd}", "\u{feff}", "\u{e000}", "\u{10ffff}", "\u{200d}", "\u{301}", "\u{1f3e0}"];
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
    db.settle().await.unwrap();
    let listings = find_all(&db, &with_term("e"), 1000).await;
    assert_eq!(listings.len(), 3000);
    assert_eq!(find_all(&db, &with_term("E"), 5000).await, listings);
}

async fn rents_are_ranges_with_their_edges(db: Db) {
    let at = |id, rent: Option<&str>| Listing { rent: rent.map(money), ..listing(id) };
    let held = store_unindexed(
        &db,
        [
            at("free", Some("0")),
            at("unknown", None),
            at("low", Some("999.9999")),
            at("even", Some("1000")),
            at("high", Some("1000.0001")),
            at("most", Some("99999999999")),
        ],
    )
    .await;
    let rent = |min: Option<&str>, max: Option<&str>| ListingFilter {
        min_rent: min.map(money),
        max_rent: max.map(money),
        ..all()
    };
    expect(
        &db,
        held,
        &[
            (rent(Some("0"), None), &["free", "low", "even", "high", "most"]),
            (rent(None, Some("99999999999")), &["free", "low", "even", "high", "most"]),
            (rent(Some("1000"), Some("1000")), &["even"]),
            (rent(Some("999.9999"), Some("1000")), &["low", "even"]),
            (rent(Some("1000.0001"), None), &["high", "most"]),
            (rent(None, Some("0")), &["free"]),
            (rent(Some("5"), Some("4")), &[]),
            (rent(Some("99999999999"), None), &["most"]),
        ],
    )
    .await;
}

async fn equal_rents_stay_in_creation_order(db: Db) {
    let rents = [500, 100, 500, 100, 300, 500, 100];
    store_in_order(
        &db,
        rents
            .iter()
            .enumerate()
            .map(|(n, rent)| Listing { rent: Some(Money::from_units(*rent)), ..listing(&format!("{n}")) }),
    )
    .await;
    let any = ListingFilter { min_rent: Some(money("0")), ..all() };
    for _before_and_after_indexing in 0..2 {
        for limit in [1, 2, 3, 7, 8] {
            let order = ids(&find_all(&db, &any, limit).await);
            assert_eq!(order, ["1", "3", "6", "4", "0", "2", "5"], "in pieces of {limit}");
        }
        db.settle().await.unwrap();
    }
}

async fn rooms_are_counted_exactly(db: Db) {
    let with = |id, beds: Option<i64>, baths: Option<i64>| Listing {
        bedrooms: beds.map(rooms),
        bathrooms: baths.map(rooms),
        ..listing(id)
    };
    let held = store_unindexed(
        &db,
        [
            with("studio", Some(0), Some(1)),
            with("flat", Some(2), Some(1)),
            with("house", Some(2), Some(2)),
            with("tower", Some(1000), None),
            with("unknown", None, None),
        ],
    )
    .await;
    let of = |beds: Option<i64>, baths: Option<i64>| ListingFilter {
        bedrooms: beds.map(rooms),
        bathrooms: baths.map(rooms),
        ..all()
    };
    expect(
        &db,
        held,
        &[
            (of(Some(0), None), &["studio"]),
            (of(Some(2), None), &["flat", "house"]),
            (of(Some(1000), None), &["tower"]),
            (of(Some(3), None), &[]),
            (of(None, Some(1)), &["studio", "flat"]),
            (of(None, Some(0)), &[]),
            (of(Some(2), Some(2)), &["house"]),
            (of(Some(2), Some(3)), &[]),
        ],
    )
    .await;
}

async fn rooms_and_rent_together(db: Db) {
    let with = |id, rent: Option<&str>| Listing {
        rent: rent.map(money),
        bedrooms: Some(rooms(2)),
        bathrooms: Some(rooms(1)),
        ..listing(id)
    };
    let other = Listing { rent: Some(money("200")), bedrooms: Some(rooms(3)), ..listing("other") };
    let held = store_unindexed(
        &db,
        [with("c", Some("300")), with("?", None), with("a", Some("100")), other, with("b", Some("200"))],
    )
    .await;
    let two = ListingFilter { bedrooms: Some(rooms(2)), ..all() };
    let one = ListingFilter { bathrooms: Some(rooms(1)), ..all() };
    let from = |filter: &ListingFilter, min| ListingFilter { min_rent: Some(money(min)), ..filter.clone() };
    let to = |filter: &ListingFilter, max| ListingFilter { max_rent: Some(money(max)), ..filter.clone() };
    expect(
        &db,
        held,
        &[
            (two.clone(), &["?", "a", "b", "c"]),
            (from(&two, "200"), &["b", "c"]),
            (to(&two, "200"), &["a", "b"]),
            (to(&from(&two, "150"), "250"), &["b"]),
            (one.clone(), &["?", "a", "b", "c"]),
            (from(&one, "0"), &["a", "b", "c"]),
            (to(&one, "99.9999"), &[]),
        ],
    )
    .await;
}

async fn near_a_point(db: Db) {
    let held = store_unindexed(
        &db,
        [
            at("austin", "30.267153,-97.743061"),
            at("round rock", "30.508255,-97.678896"),
            at("dallas", "32.776664,-96.796988"),
            at("london", "51.507351,-0.127758"),
            listing("nowhere"),
        ],
    )
    .await;
    let near = |km| inside(circle("30.267153,-97.743061", km));
    expect_somewhere(
        &db,
        held,
        &[
            (near("0"), &["austin"]),
            (near("25"), &["austin"]),
            (near("30"), &["austin", "round rock"]),
            (near("250"), &["austin", "round rock"]),
            (near("300"), &["austin", "dallas", "round rock"]),
            (near("20038"), &["austin", "dallas", "london", "round rock"]),
        ],
    )
    .await;
}

async fn in_a_box(db: Db) {
    let held = store_unindexed(
        &db,
        [at("a", "10,20"), at("b", "10,21"), at("c", "11,20"), at("d", "-10,-20"), listing("nowhere")],
    )
    .await;
    expect_somewhere(
        &db,
        held,
        &[
            (in_box("20,10,21,11"), &["a", "b", "c"]),
            (in_box("20,11,21,10"), &["a", "b", "c"]),
            (in_box("20,10,20,10"), &["a"]),
            (in_box("20.000000001,10,21,11"), &["b"]),
            (in_box("-180,-90,180,90"), &["a", "b", "c", "d"]),
            (in_box("-180,-90,0,0"), &["d"]),
            (in_box("0,0,1,1"), &[]),
        ],
    )
    .await;
}

async fn across_the_antimeridian(db: Db) {
    let held = store_unindexed(
        &db,
        [
            at("suva", "-18.1416,178.4419"),
            at("apia", "-13.8333,-171.7667"),
            at("line east", "-17,180"),
            at("line west", "-17,-180"),
            at("perth", "-31.9505,115.8605"),
        ],
    )
    .await;
    expect_somewhere(
        &db,
        held,
        &[
            (in_box("177,-20,-178,-12"), &["line east", "line west", "suva"]),
            (in_box("170,-20,-170,-12"), &["apia", "line east", "line west", "suva"]),
            (in_box("-178,-20,177,-12"), &["apia"]),
            (inside(circle("-17,179.9", "100")), &["line east", "line west"]),
            (inside(circle("-17,-179.9", "100")), &["line east", "line west"]),
            (inside(circle("-17,180", "0.001")), &["line east", "line west"]),
            (inside(circle("-17,-180", "250")), &["line east", "line west", "suva"]),
        ],
    )
    .await;
}

async fn around_a_pole(db: Db) {
    let held = store_unindexed(
        &db,
        [
            at("pole", "90,0"),
            at("pole too", "90,135"),
            at("near", "89.9,-170"),
            at("far", "80,10"),
            at("south", "-90,0"),
        ],
    )
    .await;
    expect_somewhere(
        &db,
        held,
        &[
            (inside(circle("90,45", "0.1")), &["pole", "pole too"]),
            (inside(circle("89.9,10", "30")), &["near", "pole", "pole too"]),
            (inside(circle("-89.9,10", "30")), &["south"]),
            (in_box("-180,89.5,180,90"), &["near", "pole", "pole too"]),
        ],
    )
    .await;
}

async fn areas_and_everything_else_together(db: Db) {
    let with =
        |id, place, beds, city| Listing { bedrooms: Some(rooms(beds)), city: text(city), ..at(id, place) };
    let held = store_unindexed(
        &db,
        [
            with("a", "10,10", 1, "Here"),
            with("b", "10.1,10.1", 2, "Here"),
            with("c", "10.2,10.2", 2, "There"),
            with("d", "50,50", 2, "Here"),
        ],
    )
    .await;
    let near = || inside(circle("10,10", "50"));
    expect_somewhere(
        &db,
        held,
        &[
            (near(), &["a", "b", "c"]),
            (ListingFilter { bedrooms: Some(rooms(2)), ..near() }, &["b", "c"]),
            (ListingFilter { bedrooms: Some(rooms(2)), city: Some(text("here")), ..near() }, &["b"]),
            (ListingFilter { term: Some(term("THERE")), ..near() }, &["c"]),
            (ListingFilter { user: Some(text("ann")), ..near() }, &["a", "b", "c"]),
            (ListingFilter { user: Some(text("bob")), ..near() }, &[]),
            (ListingFilter { min_rent: Some(money("0")), ..near() }, &[]),
            (
                ListingFilter {
                    areas: vec![circle("10,10", "50"), Area::parse_box("10.05,10.05,11,11").unwrap()],
                    ..all()
                },
                &["b", "c"],
            ),
            (ListingFilter { areas: vec![circle("10,10", "5"), circle("50,50", "5")], ..all() }, &[]),
        ],
    )
    .await;
}

async fn all_conditions_must_hold(db: Db) {
    let one = Listing {
        rent: Some(money("1000")),
        bedrooms: Some(rooms(2)),
        bathrooms: Some(rooms(1)),
        place: Some(Point::parse("30,-97").unwrap()),
        ..listing("one")
    };
    let full = ListingFilter {
        id: None,
        user: Some(text("ann")),
        city: Some(text("AUSTIN")),
        postal: Some(text("78701")),
        term: Some(term("elm")),
        field: Some((Field::State, term("t"))),
        min_rent: Some(money("1000")),
        max_rent: Some(money("1000")),
        bedrooms: Some(rooms(2)),
        bathrooms: Some(rooms(1)),
        areas: vec![circle("30,-97", "1")],
    };
    let held = store_unindexed(&db, [listing("other"), one]).await;
    let mut cases: Vec<(ListingFilter, &[&str])> = vec![
        (full.clone(), &["one"]),
        (ListingFilter { id: Some(text("one")), ..full.clone() }, &["one"]),
        (ListingFilter { id: Some(text("other")), ..full.clone() }, &[]),
        (ListingFilter { user: Some(text("bob")), ..full.clone() }, &[]),
        (ListingFilter { city: Some(text("Boston")), ..full.clone() }, &[]),
        (ListingFilter { postal: Some(text("78702")), ..full.clone() }, &[]),
        (ListingFilter { term: Some(term("oak")), ..full.clone() }, &[]),
        (ListingFilter { field: Some((Field::City, term("x"))), ..full.clone() }, &[]),
        (ListingFilter { min_rent: Some(money("1000.0001")), ..full.clone() }, &[]),
        (ListingFilter { max_rent: Some(money("999.9999")), ..full.clone() }, &[]),
        (ListingFilter { bedrooms: Some(rooms(1)), ..full.clone() }, &[]),
        (ListingFilter { bathrooms: Some(rooms(2)), ..full.clone() }, &[]),
        (ListingFilter { areas: vec![circle("31,-97", "1")], ..full.clone() }, &[]),
    ];
    // Dropping conditions one by one switches the access path.
    let mut fewer = full;
    for leave in [
        |f: &mut ListingFilter| f.user = None,
        |f: &mut ListingFilter| f.postal = None,
        |f: &mut ListingFilter| f.areas.clear(),
        |f: &mut ListingFilter| f.term = None,
        |f: &mut ListingFilter| f.field = None,
        |f: &mut ListingFilter| f.city = None,
        |f: &mut ListingFilter| f.bedrooms = None,
        |f: &mut ListingFilter| f.bathrooms = None,
        |f: &mut ListingFilter| f.min_rent = None,
    ] {
        leave(&mut fewer);
        cases.push((fewer.clone(), &["one"]));
    }
    expect(&db, held, &cases).await;
}

async fn deleted_listing_is_on_no_access_path(db: Db) {
    let with = |id| Listing {
        street: text("77 Unique Street"),
        rent: Some(money("5")),
        bedrooms: Some(rooms(1)),
        bathrooms: Some(rooms(1)),
        walkthrough: Some(text("https://example.com/")),
        ..at(id, "1,1")
    };
    let ways = [
        all(),
        ListingFilter { user: Some(text("ann")), ..all() },
        ListingFilter { city: Some(text("austin")), ..all() },
        ListingFilter { postal: Some(text("78701")), ..all() },
        with_term("u"),
        with_term("un"),
        with_term("unique"),
        in_field("walkthroughLink", "example"),
        ListingFilter { min_rent: Some(money("1")), ..all() },
        ListingFilter { bedrooms: Some(rooms(1)), ..all() },
        ListingFilter { bathrooms: Some(rooms(1)), ..all() },
        inside(circle("1,1", "1")),
        in_box("0,0,2,2"),
    ];
    // Deleted before and after indexing.
    store_in_order(&db, ["indexed", "kept", "indexed too"].map(with)).await;
    db.settle().await.unwrap();
    let held = db.hold_search_index();
    store_in_order(&db, ["new", "newer"].map(with)).await;
    for way in &ways {
        assert_eq!(found(&db, way).await.len(), 5, "{way:?}");
    }
    for id in ["indexed", "indexed too", "new", "newer"] {
        db.write(delete(id)).await.unwrap();
    }
    expect(&db, held, &ways.map(|way| (way, ["kept"].as_slice()))).await;
    for id in ["indexed", "indexed too", "new", "newer"] {
        let by_id = ListingFilter { id: Some(text(id)), ..all() };
        assert_eq!(found(&db, &by_id).await, [""; 0]);
    }
}

async fn a_page_that_ends_the_list_has_no_cursor(db: Db) {
    store_in_order(&db, many(6).map(|l| Listing { rent: Some(money("7")), ..l })).await;
    let by_rent = ListingFilter { min_rent: Some(money("7")), ..all() };
    for filter in [all(), by_rent, with_term("elm"), with_term("e")] {
        for (limit, pages) in [(1, 6), (2, 3), (3, 2), (4, 2), (6, 1), (7, 1)] {
            let (mut after, mut count) = (None, 0);
            loop {
                let page = db.find_listings(&filter, after, limit).await.unwrap();
                assert!(!page.items.is_empty());
                count += 1;
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
            assert_eq!(count, pages, "{filter:?} in pieces of {limit}");
        }
    }
}

async fn a_cursor_outlives_its_listing(db: Db) {
    store_in_order(&db, many(6).map(|l| Listing { rent: Some(money("7")), ..at(l.id.as_str(), "5,5") }))
        .await;
    let ways = [
        all(),
        ListingFilter { min_rent: Some(money("7")), ..all() },
        ListingFilter { city: Some(text("austin")), ..all() },
        inside(circle("5,5", "1")),
        with_term("elm"),
    ];
    let mut cursors = Vec::new();
    for way in &ways {
        let page = db.find_listings(way, None, 3).await.unwrap();
        assert_eq!(ids(&page.items), ["0", "1", "2"]);
        cursors.push(page.next);
    }
    db.write(delete("2")).await.unwrap();
    for _before_and_after_indexing in 0..2 {
        for (way, cursor) in ways.iter().zip(&cursors) {
            assert_eq!(ids(&find_after(&db, way, *cursor, 2).await), ["3", "4", "5"], "{way:?}");
        }
        db.settle().await.unwrap();
    }
}

async fn listings_made_while_paging_come_last(db: Db) {
    store_in_order(&db, many(3)).await;
    for (n, way) in
        [all(), ListingFilter { city: Some(text("austin")), ..all() }, with_term("elm")].iter().enumerate()
    {
        let page = db.find_listings(way, None, 2).await.unwrap();
        let new = format!("new-{n}");
        store_in_order(&db, [listing(&new)]).await;
        let rest = ids(&find_after(&db, way, page.next, 2).await);
        assert_eq!(rest.first().map(String::as_str), Some("2"));
        assert_eq!(rest.last(), Some(&new));
        db.settle().await.unwrap();
    }
}
