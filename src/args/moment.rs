//! Moments as given: in UTC, in the local zone, or relative to now.

use std::time::Duration;

use jiff::civil;
use jiff::civil::Weekday;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use super::invalid::Invalid;
use super::value;
use crate::clock::moment::Moment;

/// A moment as the user typed it. [`MomentArg::resolve`] turns it into a time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum MomentArg {
    At(Moment),
    In(Duration),
    /// A time of day in the local zone: the next such moment.
    Clock(civil::Time),
    /// A time of a day of the week in the local zone: the next such moment.
    Weekday(Weekday, civil::Time),
    /// A minute of each hour in the local zone: the next such moment.
    Minute(i8),
}

const DAYS: [Weekday; 7] = [
    Weekday::Monday,
    Weekday::Tuesday,
    Weekday::Wednesday,
    Weekday::Thursday,
    Weekday::Friday,
    Weekday::Saturday,
    Weekday::Sunday,
];

/// When a recurring job runs, as typed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RecurrenceArg {
    pub interval: Duration,
    /// The time of the first run, if the word names one, as `@daily` does.
    pub at: Option<MomentArg>,
}

/// Reads a duration of at least 1 ms, or `@hourly`, `@daily`, `@midnight` or `@weekly` as crontab(5) has
/// them.
pub(crate) fn parse_recurrence(text: &str) -> Result<RecurrenceArg, Invalid> {
    let midnight = civil::Time::midnight();
    let at = match text {
        "@hourly" => MomentArg::Minute(0),
        "@daily" | "@midnight" => MomentArg::Clock(midnight),
        "@weekly" => MomentArg::Weekday(Weekday::Sunday, midnight),
        _ if text.starts_with('@') => {
            return Err(Invalid::expects(
                "a duration such as `1d`, `@hourly`, `@daily` or `@weekly`",
            ));
        }
        _ => {
            let interval = value::recurring_interval(text)?;
            return Ok(RecurrenceArg { interval, at: None });
        }
    };
    Ok(RecurrenceArg {
        interval: at.recurring_period().unwrap_or_default(),
        at: Some(at),
    })
}

/// Reads what [`parse_moment_or_delay`] reads, `:30` for minute 30 of each hour, or `mon 03:00`.
pub(crate) fn parse_run_time(text: &str) -> Result<MomentArg, Invalid> {
    let Some(minute) = text.strip_prefix(':') else {
        return match parse_weekday_and_time(text) {
            Some((day, time)) => Ok(MomentArg::Weekday(day, time)),
            None => parse_moment_or_delay(text).map_err(|_| {
                Invalid::expects(
                    "a time such as `03:00`, `mon 03:00`, `:30` or `2026-11-21T06:00:00Z`",
                )
            }),
        };
    };
    let digits = minute.len() == 2 && minute.bytes().all(|byte| byte.is_ascii_digit());
    match minute.parse() {
        Ok(minute @ 0..=59) if digits => Ok(MomentArg::Minute(minute)),
        _ => Err(Invalid::expects(
            "a minute of the hour such as `:05` or `:30`",
        )),
    }
}

/// Reads `2026-11-21T06:00:00Z`, `2026-11-21 06:00` or `06:00` in the local zone, `now`, `+10m`.
pub(crate) fn parse_moment_or_delay(text: &str) -> Result<MomentArg, Invalid> {
    let invalid = || {
        Invalid::expects(
            "a time such as `06:00`, `2026-11-21 06:00`, `2026-11-21T06:00:00Z` or `+10m`",
        )
    };
    if text == "now" {
        return Ok(MomentArg::In(Duration::ZERO));
    }
    if let Some(later) = text.strip_prefix('+') {
        return value::duration(later)
            .map(MomentArg::In)
            .map_err(|_| invalid());
    }
    if let Ok(at) = text.parse::<Timestamp>() {
        return Ok(MomentArg::At(Moment::from_micros(at.as_microsecond())));
    }
    if let Some(time) = parse_time_of_day(text) {
        return Ok(MomentArg::Clock(time));
    }
    let local: civil::DateTime = text.parse().map_err(|_| invalid())?;
    let zoned = local.to_zoned(TimeZone::system()).map_err(|_| invalid())?;
    Ok(MomentArg::At(Moment::from_micros(
        zoned.timestamp().as_microsecond(),
    )))
}

/// Reads a deadline: a duration from now on such as `30s`, or a time as [`parse_moment_or_delay`] does.
pub(crate) fn parse_deadline(text: &str) -> Result<MomentArg, Invalid> {
    match value::duration(text) {
        Ok(duration) => Ok(MomentArg::In(duration)),
        Err(refused) if text.parse::<f64>().is_ok() => Err(refused),
        Err(_) => parse_moment_or_delay(text).map_err(|_| {
            Invalid::expects("a duration such as `90s` or `10m`, or a time such as `06:00`")
        }),
    }
}

/// Reads `mon 03:00` or `Monday 03:00`.
fn parse_weekday_and_time(text: &str) -> Option<(Weekday, civil::Time)> {
    let (day, time) = text.split_once(' ')?;
    let day = day.to_lowercase();
    let is_named = |of: &Weekday| {
        let name = format!("{of:?}").to_lowercase();
        day == name || day == name[..3]
    };
    Some((
        DAYS.into_iter().find(is_named)?,
        parse_time_of_day(time.trim())?,
    ))
}

/// Reads `06:00`, `6:00` or `06:00:30`.
fn parse_time_of_day(text: &str) -> Option<civil::Time> {
    let padded = match text.find(':') {
        Some(1) => format!("0{text}"),
        _ => text.to_owned(),
    };
    let text = padded.as_str();
    let is_clock = matches!(text.len(), 5 | 8)
        && text.bytes().enumerate().all(|(at, byte)| match at {
            2 | 5 => byte == b':',
            _ => byte.is_ascii_digit(),
        });
    is_clock.then(|| text.parse().ok()).flatten()
}

impl MomentArg {
    /// The moment, if `now` is the present.
    pub(crate) fn resolve(&self, now: Moment) -> Moment {
        match self {
            MomentArg::At(moment) => *moment,
            MomentArg::In(duration) => now.plus(*duration),
            MomentArg::Clock(time) => {
                next_time_of_day(None, *time, now, TimeZone::system()).unwrap_or(now)
            }
            MomentArg::Weekday(day, time) => {
                next_time_of_day(Some(*day), *time, now, TimeZone::system()).unwrap_or(now)
            }
            MomentArg::Minute(minute) => {
                next_minute(*minute, now, TimeZone::system()).unwrap_or(now)
            }
        }
    }
}

impl MomentArg {
    /// The interval at which the given time recurs, such as a day. `None` if it does not recur.
    pub(crate) fn recurring_period(&self) -> Option<Duration> {
        let hours = match self {
            MomentArg::At(_) | MomentArg::In(_) => return None,
            MomentArg::Minute(_) => 1,
            MomentArg::Clock(_) => 24,
            MomentArg::Weekday(..) => 7 * 24,
        };
        Some(Duration::from_secs(hours * 3600))
    }

    /// The time from `now` until the given moment.
    pub(crate) fn time_left(&self, now: Moment) -> Duration {
        Duration::try_from_secs_f64(self.resolve(now).since(now)).unwrap_or_default()
    }
}

/// The next moment after `now` at which a clock of that zone shows `time`, on that day of the week
/// if one is given.
fn next_time_of_day(
    day: Option<Weekday>,
    time: civil::Time,
    now: Moment,
    zone: TimeZone,
) -> Option<Moment> {
    let now = Timestamp::from_microsecond(now.micros())
        .ok()?
        .to_zoned(zone.clone());
    let today = now.date();
    let (first, step) = match day {
        None => (0, 1),
        Some(day) => (today.weekday().until(day), 7),
    };
    for days in [first, first + step] {
        let date = today.checked_add(days.days()).ok()?;
        let at = date.to_datetime(time).to_zoned(zone.clone()).ok()?;
        if at > now {
            return Some(Moment::from_micros(at.timestamp().as_microsecond()));
        }
    }
    None
}

/// The next moment after `now` at which a clock of that zone shows this minute of any hour, such as `:30`.
fn next_minute(minute: i8, now: Moment, zone: TimeZone) -> Option<Moment> {
    let now = Timestamp::from_microsecond(now.micros())
        .ok()?
        .to_zoned(zone);
    let with = now.with().minute(minute).second(0).subsec_nanosecond(0);
    let this_hour = with.build().ok()?;
    let next = if this_hour > now {
        this_hour
    } else {
        this_hour.checked_add(1.hour()).ok()?
    };
    Some(Moment::from_micros(next.timestamp().as_microsecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_means_its_next_occurrence() {
        let now = Moment::from_seconds(86_400.0 + 6.5 * 3600.0).unwrap();
        let next = |text: &str, zone: &TimeZone| match parse_run_time(text) {
            Ok(MomentArg::Minute(minute)) => {
                next_minute(minute, now, zone.clone()).unwrap().to_string()
            }
            other => panic!("{other:?}"),
        };
        let utc = TimeZone::UTC;
        assert_eq!(next(":31", &utc), "109860");
        assert_eq!(next(":30", &utc), "113400");
        assert_eq!(next(":05", &utc), "111900");
        // In Kathmandu the clock shows 12:15.
        let kathmandu = TimeZone::fixed(jiff::tz::offset(5).saturating_add(45.minutes()));
        assert_eq!(next(":16", &kathmandu), "109860");
        for text in [":60", ":5", ":+5", ":", ":055"] {
            assert!(parse_run_time(text).is_err(), "{text}");
        }
        assert!(matches!(parse_run_time("06:00"), Ok(MomentArg::Clock(_))));
    }

    #[test]
    fn a_moment_is_absolute_relative_or_a_time_of_day() {
        let now = Moment::from_seconds(1_000.0).unwrap();
        let from = |text: &str| {
            parse_moment_or_delay(text)
                .unwrap()
                .resolve(now)
                .to_string()
        };
        assert_eq!(from("now"), "1000");
        assert_eq!(from("+10m"), "1600");
        assert_eq!(from("2026-11-21T06:00:00Z"), "1795240800");
        assert_eq!(from("2026-11-21T07:00:00.5+01:00"), "1795240800.5");
        assert!(matches!(
            parse_moment_or_delay("06:00"),
            Ok(MomentArg::Clock(_))
        ));
        assert!(matches!(
            parse_moment_or_delay("2026-11-21 06:00"),
            Ok(MomentArg::At(_))
        ));
        for text in ["soon", "", "25:00", "-5m", "2026-13-01 06:00", "+x"] {
            assert!(parse_moment_or_delay(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_time_of_day_means_its_next_occurrence() {
        let now = Moment::from_seconds(86_400.0 + 6.0 * 3600.0).unwrap();
        let next = |text: &str| {
            let (day, time) = match parse_run_time(text).unwrap() {
                MomentArg::Clock(time) => (None, time),
                MomentArg::Weekday(day, time) => (Some(day), time),
                other => panic!("{other:?}"),
            };
            next_time_of_day(day, time, now, TimeZone::UTC)
                .unwrap()
                .to_string()
        };
        assert_eq!(next("06:00"), "194400");
        assert_eq!(next("06:00:01"), "108001");
        assert_eq!(next("05:59"), "194340");
        assert_eq!(next("5:59"), "194340");
        // The day of the test is a Friday: the next one is a week later.
        assert_eq!(next("fri 06:00"), "712800");
        assert_eq!(next("Friday 06:00:01"), "108001");
        assert_eq!(next("thu 06:00"), "626400");
        assert_eq!(next("SAT 00:00"), "172800");
        for text in [
            "fr 06:00",
            "fri",
            "fri 25:00",
            "friday06:00",
            "someday 06:00",
        ] {
            assert!(parse_run_time(text).is_err(), "{text}");
        }
    }
}
