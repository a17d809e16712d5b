//! Alternating rounds of two servers.

/// What is compared in one round. The ratio of the two counts, because both have met the same machine.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Round<T> {
    pub(super) ratio: f64,
    pub(super) measured: T,
    pub(super) base: T,
}

/// Sorts rounds by their ratio and returns the middle one; of an even number, the lower of the two in the middle.
pub(super) fn middle<T>(rounds: &mut [Round<T>]) -> Option<&Round<T>> {
    rounds.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
    rounds.get(rounds.len().checked_sub(1)? / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn middle_of(ratios: &[f64]) -> Option<f64> {
        let mut rounds: Vec<_> =
            ratios.iter().map(|&ratio| Round { ratio, measured: (), base: () }).collect();
        middle(&mut rounds).map(|round| round.ratio)
    }

    #[test]
    fn outliers_do_not_count() {
        assert_eq!(middle_of(&[0.4, 9.0, 0.5, 0.1, 0.6]), Some(0.5));
        assert_eq!(middle_of(&[7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0]), Some(4.0));
    }

    #[test]
    fn even_number_takes_the_lower() {
        assert_eq!(middle_of(&[4.0, 3.0, 2.0, 1.0]), Some(2.0));
    }

    #[test]
    fn no_rounds_no_middle() {
        assert_eq!(middle_of(&[]), None);
    }
}
