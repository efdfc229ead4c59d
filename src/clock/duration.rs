//! Durations as text: as people type them, and as the core takes them. `text.rs` formats the
//! durations that are shown.

use std::time::Duration;

/// Reads a duration as people type it: humantime text, or 0. Another number without a unit is refused:
/// `5` may be meant as minutes.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => {
            Err("a duration with a unit, such as `5s` or `5m`".to_string())
        }
        _ => parse_duration_or_seconds(text),
    }
}

/// Reads a duration as the core and JSON have it, too: seconds as a bare number.
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

/// The longest duration that is accepted: a thousand years. A moment that long after any time of a job is
/// still within the calendar.
pub(crate) const LONGEST: Duration = Duration::from_secs(1000 * 31_557_600);

/// The seconds as the core takes them, without an exponent.
pub(crate) fn format_seconds(duration: Duration) -> String {
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
        assert_eq!(format_seconds(Duration::from_secs(600)), "600");
        assert_eq!(format_seconds(Duration::from_millis(1500)), "1.5");
        assert_eq!(format_seconds(Duration::from_nanos(10)), "0.00000001");
    }
}
