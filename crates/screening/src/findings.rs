//! Findings of bureaus, and whether they pass.

use std::collections::BTreeMap;

use portico_domain::text::TextFormat;
use portico_domain::{Country, FaultCode, Income, Text, ValidationError};
use serde::{Deserialize, Serialize};

use crate::Check;

/// 300 to 850.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u16", into = "u16")]
pub struct Score(u16);

impl Score {
    pub const MIN: Self = Self(300);
    pub const MAX: Self = Self(850);
    /// For countries without a configured threshold.
    pub const DEFAULT_THRESHOLD: Self = Self(620);

    pub fn new(points: u16) -> Result<Self, ValidationError> {
        if (Self::MIN.0..=Self::MAX.0).contains(&points) {
            Ok(Self(points))
        } else {
            Err(ValidationError::new(FaultCode::OutOfRange, "must be between 300 and 850").between(300, 850))
        }
    }

    #[must_use]
    pub fn clamped(points: u16) -> Self {
        Self(points.clamp(Self::MIN.0, Self::MAX.0))
    }

    pub const fn points(self) -> u16 {
        self.0
    }
}

impl TryFrom<u16> for Score {
    type Error = ValidationError;

    fn try_from(points: u16) -> Result<Self, ValidationError> {
        Self::new(points)
    }
}

impl From<Score> for u16 {
    fn from(score: Score) -> Self {
        score.0
    }
}

impl std::fmt::Debug for Score {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[personal]")
    }
}

/// The lowest and the highest score that the bureau's model gives.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Bounds")]
pub struct ScoreRange {
    min: u16,
    max: u16,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Bounds {
    min: u16,
    max: u16,
}

impl ScoreRange {
    /// No model in use goes higher.
    pub const LIMIT: u16 = 1000;

    pub fn new(min: u16, max: u16) -> Result<Self, ValidationError> {
        if min < max && max <= Self::LIMIT {
            Ok(Self { min, max })
        } else {
            Err(ValidationError::new(
                FaultCode::OutOfRange,
                "must be a minimum below a maximum of at most 1000",
            ))
        }
    }

    pub const fn min(self) -> u16 {
        self.min
    }

    pub const fn max(self) -> u16 {
        self.max
    }

    pub fn contains(self, score: Score) -> bool {
        (self.min..=self.max).contains(&score.points())
    }
}

impl TryFrom<Bounds> for ScoreRange {
    type Error = ValidationError;

    fn try_from(Bounds { min, max }: Bounds) -> Result<Self, ValidationError> {
        Self::new(min, max)
    }
}

/// Does not print: with a score, it belongs to a person.
impl std::fmt::Debug for ScoreRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[personal]")
    }
}

/// A key factor that lowered a score, in the bureau's words: 1 to 200 characters. Does not print.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ScoreFactor(Text<FactorFormat>);

/// The format of a [`ScoreFactor`].
#[derive(Debug)]
pub struct FactorFormat;

impl TextFormat for FactorFormat {
    const MAX: usize = 200;
}

impl ScoreFactor {
    /// 15 U.S.C. 1681g(f)(1)(C) and (f)(9): four factors, and the number of inquiries as a fifth.
    pub const MAX_COUNT: usize = 5;

    pub fn parse(text: &str) -> Result<Self, ValidationError> {
        Text::parse(text).map(Self)
    }

    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl std::fmt::Debug for ScoreFactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[personal]")
    }
}

/// Serializes for sealing; does not print.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "check", rename_all = "camelCase", deny_unknown_fields)]
pub enum Finding {
    Eviction {
        /// An eviction is on file.
        found: bool,
    },
    Income {
        yearly: Income,
    },
    SoftCredit {
        score: Score,
        /// `None`: the bureau did not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        range: Option<ScoreRange>,
        /// At most [`ScoreFactor::MAX_COUNT`], the most important one first. Empty: the bureau did not say.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        factors: Vec<ScoreFactor>,
    },
    CriminalBackground {
        /// A record is on file.
        found: bool,
    },
}

impl Finding {
    pub const fn check(&self) -> Check {
        match self {
            Self::Eviction { .. } => Check::Eviction,
            Self::Income { .. } => Check::Income,
            Self::SoftCredit { .. } => Check::SoftCredit,
            Self::CriminalBackground { .. } => Check::CriminalBackground,
        }
    }

    /// Passes: nothing on file, a verified income, a score at or above the country's threshold.
    pub fn passed(&self, country: &Country, thresholds: &Thresholds) -> bool {
        match self {
            Self::Eviction { found } | Self::CriminalBackground { found } => !*found,
            Self::Income { yearly } => yearly.units() > 0,
            Self::SoftCredit { score, .. } => *score >= thresholds.of(country),
        }
    }
}

impl std::fmt::Debug for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Finding({})", self.check())
    }
}

/// The qualifying score by country.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "BTreeMap<String, Score>")]
pub struct Thresholds(BTreeMap<String, Score>);

impl Thresholds {
    /// Falls back to [`Score::DEFAULT_THRESHOLD`].
    pub fn of(&self, country: &Country) -> Score {
        let own = self.0.get(&country.as_str().to_uppercase());
        own.copied().unwrap_or(Score::DEFAULT_THRESHOLD)
    }
}

impl Thresholds {
    pub fn by_country(&self) -> impl Iterator<Item = (&str, Score)> {
        self.0.iter().map(|(country, score)| (country.as_str(), *score))
    }
}

impl From<BTreeMap<String, Score>> for Thresholds {
    fn from(by_country: BTreeMap<String, Score>) -> Self {
        Self(by_country.into_iter().map(|(country, score)| (country.trim().to_uppercase(), score)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn score(points: u16) -> Finding {
        Finding::SoftCredit { score: Score::new(points).unwrap(), range: None, factors: Vec::new() }
    }

    fn explained(points: u16) -> Finding {
        Finding::SoftCredit {
            score: Score::new(points).unwrap(),
            range: Some(ScoreRange::new(300, 850).unwrap()),
            factors: vec![ScoreFactor::parse("Too many inquiries").unwrap()],
        }
    }

    fn us() -> Country {
        Country::parse("US").unwrap()
    }

    #[test]
    fn passing_findings_pass() {
        let usual = Thresholds::default();
        for (finding, passed) in [
            (Finding::Eviction { found: false }, true),
            (Finding::Eviction { found: true }, false),
            (Finding::CriminalBackground { found: false }, true),
            (Finding::CriminalBackground { found: true }, false),
            (Finding::Income { yearly: Income::from_units(1) }, true),
            (Finding::Income { yearly: Income::from_units(0) }, false),
            (score(620), true),
            (score(619), false),
        ] {
            assert_eq!(finding.passed(&us(), &usual), passed, "{}", serde_json::to_string(&finding).unwrap());
        }
    }

    #[test]
    fn a_country_may_have_a_threshold_of_its_own() {
        let thresholds: Thresholds = serde_json::from_str(r#"{"ca": 660}"#).unwrap();
        assert!(!score(650).passed(&Country::parse("CA").unwrap(), &thresholds));
        assert!(score(650).passed(&us(), &thresholds));
    }

    #[test]
    fn scores_are_between_300_and_850() {
        for points in [0, 299, 851, u16::MAX] {
            assert_eq!(Score::new(points).unwrap_err().code.name(), "out_of_range");
        }
        let stored = r#"{"check":"softCredit","score":299}"#;
        assert!(serde_json::from_str::<Finding>(stored).is_err());
    }

    #[test]
    fn score_of_an_older_version_has_no_range_and_no_factors() {
        let stored = r#"{"check":"softCredit","score":720}"#;
        assert!(serde_json::from_str::<Finding>(stored).unwrap() == score(720));
        assert_eq!(serde_json::to_string(&score(720)).unwrap(), stored);
    }

    #[test]
    fn score_range_is_a_minimum_below_a_maximum() {
        for (min, max) in [(850, 300), (300, 300), (0, 1001)] {
            assert_eq!(ScoreRange::new(min, max).unwrap_err().code.name(), "out_of_range");
        }
        let range = ScoreRange::new(300, 720).unwrap();
        assert!(range.contains(Score::clamped(720)) && !range.contains(Score::clamped(721)));
    }

    #[test]
    fn score_factor_is_a_short_text() {
        for wrong in ["", " ", "two\nlines", &"x".repeat(201)] {
            assert!(ScoreFactor::parse(wrong).is_err(), "{wrong}");
        }
        assert_eq!(ScoreFactor::parse(&"ä".repeat(200)).unwrap().as_str().chars().count(), 200);
    }

    #[test]
    fn a_finding_does_not_print() {
        let income = Finding::Income { yearly: Income::from_units(8_512_345) };
        assert_eq!(format!("{income:?} {:?}", explained(720)), "Finding(income) Finding(softCredit)");
        let Finding::SoftCredit { range, factors, .. } = explained(720) else { unreachable!() };
        assert_eq!(format!("{range:?} {factors:?}"), "Some([personal]) [[personal]]");
    }

    proptest! {
        #[test]
        fn finding_round_trips_through_storage(cents in 0..9_999_999_999_900_i64, points in 300..=850_u16, found: bool) {
            for finding in [
                Finding::Eviction { found },
                Finding::CriminalBackground { found },
                Finding::Income { yearly: Income::from_units(cents) },
                score(points),
                explained(points),
            ] {
                let stored = serde_json::to_string(&finding).unwrap();
                prop_assert!(serde_json::from_str::<Finding>(&stored).unwrap() == finding);
            }
        }
    }
}
