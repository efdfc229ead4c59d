//! Parses the durations that people type, and writes durations as the core takes them. `text.rs` formats durations
//! for people.

use std::time::Duration;

/// Parses a duration that a person types: text of the crate `humantime`, such as `5m`, or 0. Refuses any other number
/// without a unit, because `5` may mean seconds or minutes.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => {
            Err("a duration with a unit, such as `5s` or `5m`".to_string())
        }
        _ => parse_duration_or_seconds(text),
    }
}

/// Parses a duration with a unit, such as `5m`, or seconds as a bare number, as the core and JSON have them.
pub(crate) fn parse_duration_or_seconds(text: &str) -> Result<Duration, String> {
    let expected = || "a duration such as `90s`, `15m` or `2h`".to_string();
    let duration = match text.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).map_err(|_| expected())?,
        Err(_) => humantime::parse_duration(text).map_err(|_| expected())?,
    };
    if duration > LONGEST {
        Err("at most 1000 years".to_string())
    } else {
        Ok(duration)
    }
}

/// The longest duration that the parsers accept: a thousand years. If it is added to any time of a job, the sum is
/// still before the year 10,000, up to which dates can be printed.
pub(crate) const LONGEST: Duration = Duration::from_secs(1000 * 31_557_600);

/// A duration as the text that the core takes: decimal seconds without an exponent.
pub(crate) fn decimal_seconds_text(duration: Duration) -> String {
    let whole = duration.as_secs();
    match duration.subsec_nanos() {
        0 => whole.to_string(),
        nanos => format!("{whole}.{nanos:09}")
            .trim_end_matches('0')
            .to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_written_without_an_exponent() {
        assert_eq!(decimal_seconds_text(Duration::from_secs(600)), "600");
        assert_eq!(decimal_seconds_text(Duration::from_millis(1500)), "1.5");
        assert_eq!(decimal_seconds_text(Duration::from_nanos(10)), "0.00000001");
    }
}
