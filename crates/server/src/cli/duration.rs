//! Durations on the command line: `90s`, `15m`, `1h`, `7d`.

use std::time::Duration;

/// A parser for durations from one second up to `longest`, which the error names as `text`.
pub(super) fn at_most(
    longest: Duration,
    text: &'static str,
) -> impl Fn(&str) -> Result<Duration, String> + Clone + Send + Sync + 'static {
    move |given| match parse(given) {
        Some(duration) if duration >= Duration::from_secs(1) && duration <= longest => Ok(duration),
        Some(_) => Err(format!("must be between 1s and {text}")),
        None => Err("must be a number with s, m, h or d, such as 15m".into()),
    }
}

fn parse(text: &str) -> Option<Duration> {
    let (at, unit) = text.char_indices().next_back()?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        _ => return None,
    };
    let number: u64 = text[..at].parse().ok()?;
    number.checked_mul(seconds).map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_and_bounds() {
        let day = at_most(Duration::from_hours(24), "24h");
        for (text, seconds) in [("1s", 1), ("15m", 900), ("24h", 86_400), ("1d", 86_400)] {
            assert_eq!(day(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["0s", "86401s", "25h", "2d", "18446744073709551615s"] {
            assert_eq!(day(text), Err("must be between 1s and 24h".into()), "{text}");
        }
        for text in ["", "s", "-1h", "1.5h", "soon", "10", "1\u{e9}", "18446744073709551615d"] {
            assert_eq!(day(text), Err("must be a number with s, m, h or d, such as 15m".into()), "{text}");
        }
    }
}
