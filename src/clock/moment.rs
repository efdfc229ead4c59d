//! A moment: a point in time in microseconds since the epoch, and its text forms.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::{Serialize, Serializer};

/// The longest delay after which a job still becomes due, in seconds: 1,000 years.
pub(crate) const MAX_DELAY: f64 = 31_557_600_000.0;

pub(crate) const SECONDS_PER_DAY: f64 = 86_400.0;

/// A moment in whole microseconds. `Display` and `Deserialize` use the decimal seconds of the core, `Serialize`
/// the RFC 3339 of documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(i64);

impl Moment {
    pub const fn from_micros(micros: i64) -> Moment {
        Moment(micros)
    }

    /// The moment for a number of seconds since the epoch. `None` if the number is too large, or is not a number.
    pub fn from_seconds(seconds: f64) -> Option<Moment> {
        let micros = (seconds * 1e6).round();
        (micros.abs() < 9e18).then_some(Moment(micros as i64))
    }

    /// Parses decimal seconds since the epoch, as a field of a job or a score has them.
    pub fn from_decimal(text: &[u8]) -> Option<Moment> {
        std::str::from_utf8(text).ok()?.parse().ok()
    }

    pub const fn micros(self) -> i64 {
        self.0
    }

    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e6
    }

    pub fn plus(self, duration: Duration) -> Moment {
        let micros = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
        Moment(self.0.saturating_add(micros))
    }

    /// Whether a job with this score in a schedule will ever become due, seen from this moment. No core runs a job
    /// scheduled before the epoch. A score more than 1,000 years ahead is a time in milliseconds, or not a time.
    pub(crate) fn score_can_become_due(self, due_score: f64) -> bool {
        (0.0..=self.seconds() + MAX_DELAY).contains(&due_score)
    }

    /// The seconds since `earlier`, negative if `earlier` is later.
    pub fn since(self, earlier: Moment) -> f64 {
        self.0.saturating_sub(earlier.0) as f64 / 1e6
    }

    /// Reads RFC 3339.
    pub fn from_rfc3339(text: &str) -> Option<Moment> {
        let at: Timestamp = text.parse().ok()?;
        Some(Moment(at.as_microsecond()))
    }

    /// Date and time in this machine's time zone, `None` after the year 9999.
    pub(crate) fn to_local_text(self) -> Option<String> {
        let at = Timestamp::from_microsecond(self.0).ok()?;
        let local = at.to_zoned(TimeZone::system());
        Some(local.strftime("%Y-%m-%d %H:%M:%S").to_string())
    }

    /// RFC 3339 in UTC with milliseconds, `None` after the year 9999.
    pub fn to_rfc3339(self) -> Option<String> {
        let at = Timestamp::from_microsecond(self.0).ok()?;
        Some(format!("{at:.3}"))
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let micros = self.0.unsigned_abs();
        let (whole, rest) = (micros / 1_000_000, micros % 1_000_000);
        if rest == 0 {
            return write!(f, "{sign}{whole}");
        }
        let rest = format!("{rest:06}");
        write!(f, "{sign}{whole}.{}", rest.trim_end_matches('0'))
    }
}

/// Reads decimal seconds since the epoch.
impl FromStr for Moment {
    type Err = ();

    fn from_str(text: &str) -> Result<Moment, ()> {
        let seconds: f64 = text.trim().parse().map_err(|_| ())?;
        Moment::from_seconds(seconds).ok_or(())
    }
}

/// Writes RFC 3339 in UTC with milliseconds, or `null` after the year 9999.
impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_rfc3339().serialize(serializer)
    }
}

/// Parses the decimal seconds in a reply of the core.
impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Moment, D::Error> {
        struct MomentVisitor;
        impl Visitor<'_> for MomentVisitor {
            type Value = Moment;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("seconds since the epoch")
            }
            fn visit_bytes<E: Error>(self, text: &[u8]) -> Result<Moment, E> {
                Moment::from_decimal(text).ok_or_else(|| E::custom("not a time"))
            }
        }
        deserializer.deserialize_bytes(MomentVisitor)
    }
}

impl JsonSchema for Moment {
    fn schema_name() -> Cow<'static, str> {
        "Moment".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_keep_their_digits() {
        for text in ["0", "71", "1000.5", "1763627462.114203", "-1.25"] {
            let moment: Moment = text.parse().unwrap();
            assert_eq!(moment.to_string(), text);
        }
    }

    #[test]
    fn a_text_that_is_not_a_finite_time_is_refused() {
        for text in ["", "soon", "nan", "inf", "1e300"] {
            assert!(text.parse::<Moment>().is_err(), "{text}");
        }
    }

    #[test]
    fn documents_have_milliseconds() {
        let moment: Moment = "1763627462.114203".parse().unwrap();
        assert_eq!(moment.to_rfc3339().unwrap(), "2025-11-20T08:31:02.114Z");
        assert_eq!(Moment(0).to_rfc3339().unwrap(), "1970-01-01T00:00:00.000Z");
    }
}
