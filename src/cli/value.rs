//! Parsers of single values, with their error texts.
//!
//! A text follows the name of the argument: `wants …` (the value is told after it) or `is …`.

use std::ffi::OsString;
use std::time::Duration;

use clap::builder::{OsStringValueParser, TypedValueParser};

use crate::model::name::Name;

/// A queue, tag, group, worker or jid that may exist: any bytes, but some.
pub fn name() -> impl TypedValueParser<Value = Name> {
    OsStringValueParser::new().try_map(|text: OsString| match text.is_empty() {
        true => Err("is empty"),
        false => Ok(Name::from(text.as_os_str())),
    })
}

/// A duration: humantime text, or seconds as a bare number.
pub fn duration(text: &str) -> Result<Duration, String> {
    let wants = || "wants a duration such as `90s`, `15m` or `2h`".to_string();
    if let Ok(seconds) = text.parse::<f64>() {
        return match seconds < 0.0 {
            true => Err("wants a duration from now on".into()),
            false => Duration::try_from_secs_f64(seconds).map_err(|_| wants()),
        };
    }
    humantime::parse_duration(text).map_err(|_| wants())
}

/// A duration that is not nothing.
pub fn timeout(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err("wants more than no time".into()),
        duration => Ok(duration),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_number_is_seconds() {
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("1.5"), Ok(Duration::from_millis(1500)));
        assert_eq!(duration("1h30m"), Ok(Duration::from_secs(5400)));
    }

    #[test]
    fn what_is_no_duration_is_refused() {
        for text in ["", "soon", "-1", "-5m", "nan", "inf", "1e300", "5 parsecs"] {
            assert!(duration(text).is_err(), "{text}");
        }
        assert!(timeout("0").is_err());
    }
}
