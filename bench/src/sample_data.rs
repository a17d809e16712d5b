//! Listings and devices that look real and are the same in every run.

use portico_domain::devices::Device;
use portico_domain::geo::Point;
use portico_domain::listings::Listing;
use portico_domain::{Degrees, Money, Text, Timestamp, Whole};

pub(crate) const NOW: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);

/// SplitMix64: looks random, and is the same in every run.
fn pseudo_random(n: i64) -> u64 {
    let mut z = n.cast_unsigned().wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn pick<'a>(from: &[&'a str], n: u64) -> &'a str {
    from[usize::try_from(n % from.len() as u64).unwrap_or(0)]
}

/// A name made of syllables.
fn name(seed: u64) -> String {
    const SYLLABLES: [&str; 24] = [
        "al", "ber", "cas", "dor", "el", "fen", "gar", "hol", "in", "jas", "kel", "lor", "mar", "nor", "os",
        "pel", "quin", "ros", "sal", "tor", "ul", "ven", "wes", "yor",
    ];
    let (a, b, c) = (pick(&SYLLABLES, seed), pick(&SYLLABLES, seed >> 8), pick(&SYLLABLES, seed >> 16));
    let mut name = format!("{a}{b}{c}");
    name[..1].make_ascii_uppercase();
    name
}

/// Listing number `n` of `total`; every user owns twenty of them.
pub(crate) fn listing(prefix: &str, n: i64, total: i64) -> Listing {
    const STATES: [&str; 10] = ["TX", "CA", "NY", "WA", "FL", "IL", "OH", "GA", "CO", "OR"];
    const KINDS: [&str; 6] = ["Street", "Avenue", "Road", "Lane", "Drive", "Court"];
    let seed = pseudo_random(n);
    let small = |shift: u32, below: u64| i64::try_from((seed >> shift) % below).unwrap_or(0);
    let latitude = Degrees::from_units(25_000_000_000 + small(3, 23_000_000_000));
    let longitude = Degrees::from_units(-123_000_000_000 + small(7, 55_000_000_000));
    Listing {
        id: Text::stored(format!("{prefix}-{n}")),
        user: Text::stored(format!("user-{}", n % (total / 20).max(1))),
        street: Text::stored(format!(
            "{} {} {}",
            1 + small(5, 9000),
            name(seed >> 12),
            pick(&KINDS, seed >> 40)
        )),
        city: Text::stored(name(pseudo_random(small(20, 4000)))),
        state: Text::stored(pick(&STATES, seed >> 33)),
        postal: Text::stored(format!("{:05}", 10_000 + small(9, 80_000))),
        country: Text::stored("US"),
        rent: Some(Money::from_units((500 + small(11, 6000)) * Money::SCALE)),
        property_value: None,
        bedrooms: Some(Whole::from_units(1 + small(13, 5))),
        bathrooms: Some(Whole::from_units(1 + small(17, 3))),
        place: Point::new(latitude, longitude).ok(),
        walkthrough: None,
        description: None,
        available_from: None,
        status: portico_domain::listings::ListingStatus::Active,
    }
}

/// Ten users and ten networks, so that statistics over a million devices are as long as those over ten.
pub(crate) fn device(n: i64) -> Device {
    Device {
        id: Text::stored(format!("device-{n}")),
        user: Text::stored(format!("user-{}", n % 10)),
        network: Text::stored(format!("network-{}", n % 10)),
        identifier: Text::stored(format!("{n:016x}")),
        created_at: NOW,
        updated_at: NOW,
    }
}
