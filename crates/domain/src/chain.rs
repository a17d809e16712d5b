//! Data that goes on the chain: a listing's terms and the outcome of an application's checks. Nothing else.

use crate::{Credit, FaultCode, Income, ValidationError};

/// What a landlord requires of an applicant. A preferred value is never below its minimum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    min_credit: Credit,
    pref_credit: Credit,
    min_income: Income,
    pref_income: Income,
}

/// The term whose preferred value is below its minimum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preferred {
    Credit,
    Income,
}

impl Preferred {
    /// The public name of the preferred value.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Credit => "prefCredit",
            Self::Income => "prefIncome",
        }
    }
}

impl Terms {
    /// Everybody meets them.
    pub const NONE: Self = Self {
        min_credit: Credit::from_units(0),
        pref_credit: Credit::from_units(0),
        min_income: Income::from_units(0),
        pref_income: Income::from_units(0),
    };

    /// A missing minimum is 0, a missing preference is the minimum. Reports every contradiction.
    pub fn new(
        credit: (Option<Credit>, Option<Credit>),
        income: (Option<Income>, Option<Income>),
    ) -> Result<Self, Vec<(Preferred, ValidationError)>> {
        let (min_credit, pref_credit) = bounds(credit, Credit::from_units(0));
        let (min_income, pref_income) = bounds(income, Income::from_units(0));
        let mut faults = Vec::new();
        if pref_credit < min_credit {
            faults.push((Preferred::Credit, below_minimum("minCredit")));
        }
        if pref_income < min_income {
            faults.push((Preferred::Income, below_minimum("minIncome")));
        }
        if faults.is_empty() {
            Ok(Self { min_credit, pref_credit, min_income, pref_income })
        } else {
            Err(faults)
        }
    }

    pub fn min_credit(&self) -> Credit {
        self.min_credit
    }
    pub fn pref_credit(&self) -> Credit {
        self.pref_credit
    }
    pub fn min_income(&self) -> Income {
        self.min_income
    }
    pub fn pref_income(&self) -> Income {
        self.pref_income
    }
}

impl Terms {
    /// Minimum and preferred credit, then income, in their units.
    pub fn units(&self) -> [i64; 4] {
        let (credit, income) = ((self.min_credit, self.pref_credit), (self.min_income, self.pref_income));
        [credit.0.units(), credit.1.units(), income.0.units(), income.1.units()]
    }

    /// `None`: they contradict each other.
    pub fn from_units([min_credit, pref_credit, min_income, pref_income]: [i64; 4]) -> Option<Self> {
        let (credit, income) =
            (|points| Some(Credit::from_units(points)), |cents| Some(Income::from_units(cents)));
        let terms =
            Self::new((credit(min_credit), credit(pref_credit)), (income(min_income), income(pref_income)));
        terms.ok()
    }
}

fn bounds<T: Copy>((min, pref): (Option<T>, Option<T>), zero: T) -> (T, T) {
    let min = min.unwrap_or(zero);
    (min, pref.unwrap_or(min))
}

fn below_minimum(min: &str) -> ValidationError {
    ValidationError::new(FaultCode::BelowMinimum, format!("must not be less than {min}"))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "the four flags of the specification")]
pub struct Passes {
    pub min_credit: bool,
    pub pref_credit: bool,
    pub min_income: bool,
    pub pref_income: bool,
}

impl Passes {
    /// An applicant without a score passes only where no score is required.
    pub fn of(terms: &Terms, credit: Option<Credit>, income: Income) -> Self {
        let credit = credit.unwrap_or(Credit::from_units(0));
        Self {
            min_credit: credit >= terms.min_credit,
            pref_credit: credit >= terms.pref_credit,
            min_income: income >= terms.min_income,
            pref_income: income >= terms.pref_income,
        }
    }

    /// Bit 0 is `min_credit`.
    pub fn bits(self) -> u8 {
        u8::from(self.min_credit)
            | u8::from(self.pref_credit) << 1
            | u8::from(self.min_income) << 2
            | u8::from(self.pref_income) << 3
    }

    /// Ignores bits above the fourth.
    pub fn from_bits(bits: u8) -> Self {
        let flag = |n: u8| bits >> n & 1 == 1;
        Self { min_credit: flag(0), pref_credit: flag(1), min_income: flag(2), pref_income: flag(3) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn credit(points: i64) -> Credit {
        Credit::from_units(points)
    }

    #[test]
    fn missing_terms_require_nothing() {
        let terms = Terms::new((None, None), (None, None)).unwrap();
        assert_eq!(terms.min_credit(), Credit::from_units(0));
        assert_eq!(terms.pref_income(), Income::from_units(0));
    }

    #[test]
    fn missing_preference_is_the_minimum() {
        let terms = Terms::new((Some(credit(620)), None), (None, None)).unwrap();
        assert_eq!(terms.pref_credit(), Credit::from_units(620));
    }

    #[test]
    fn reports_every_preference_below_its_minimum() {
        let income = (Some(Income::from_units(2)), Some(Income::from_units(1)));
        let faults = Terms::new((Some(credit(700)), Some(credit(620))), income).unwrap_err();
        let named: Vec<Preferred> = faults.into_iter().map(|(which, _)| which).collect();
        assert_eq!(named, [Preferred::Credit, Preferred::Income]);
    }

    #[test]
    fn passes_at_or_above_the_bound() {
        let income = |cents| Income::from_units(cents);
        let terms =
            Terms::new((Some(credit(620)), Some(credit(700))), (Some(income(500)), Some(income(700))))
                .unwrap();
        for (score, cents, bits) in [
            (Some(620), 499, 0b0001),
            (Some(619), 500, 0b0100),
            (Some(700), 700, 0b1111),
            (Some(699), 699, 0b0101),
            (None, 0, 0b0000),
        ] {
            let passes = Passes::of(&terms, score.map(credit), income(cents));
            assert_eq!(passes, Passes::from_bits(bits), "{score:?} {cents}");
        }
        let nothing = Terms::new((None, None), (None, None)).unwrap();
        assert_eq!(Passes::of(&nothing, None, income(0)).bits(), 0b1111);
    }

    #[test]
    fn terms_round_trip_through_units() {
        let terms = Terms::from_units([620, 700, 1, 2]).unwrap();
        assert_eq!(Terms::from_units(terms.units()), Some(terms));
        assert_eq!(Terms::from_units([700, 620, 0, 0]), None);
    }

    #[test]
    fn flags_round_trip_through_bits() {
        for bits in 0..16 {
            assert_eq!(Passes::from_bits(bits).bits(), bits);
        }
        assert_eq!(Passes::from_bits(0b0001).bits(), 1);
    }
}
