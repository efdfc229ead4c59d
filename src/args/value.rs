//! Parsers of single values, with their error texts.
//!
//! A text follows the name of the argument: `wants …` (the value is told after it) or `is …`.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{OsStringValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue};

pub(crate) use crate::clock::duration::parse as duration;
use crate::clock::moment::Moment;
use crate::error::Error;
use crate::json::path::Path;
use crate::model::bulk::MAX_JOBS_PER_CALL;
use crate::model::data_filter::DataFilter;
use crate::model::finding::{FINDINGS, Severity};
use crate::model::jid_source::JidSource;
use crate::model::job::State;
use crate::model::pattern::Pattern;
use crate::model::rate::Rate;
use crate::name;
use crate::name::Name;
use crate::text;
use crate::text::clean;

pub(crate) use super::candidates::{Candidates, Jobs};

/// Doubles are exact up to here, and the core's numbers are doubles.
pub(crate) const LARGEST: u64 = 1 << 53;

/// A queue, tag, group, worker or jid that may exist: any bytes, but some.
pub(crate) fn name() -> impl TypedValueParser<Value = Name> {
    OsStringValueParser::new().try_map(|text: OsString| match text.is_empty() {
        true => Err("is empty"),
        false => Ok(Name::from(text.as_os_str())),
    })
}

/// A name, or a glob that names fit.
pub(crate) fn pattern() -> impl TypedValueParser<Value = Pattern> {
    name().try_map(Pattern::new)
}

/// `PATH=VALUE`: any bytes.
pub(crate) fn equal() -> impl TypedValueParser<Value = DataFilter> {
    OsStringValueParser::new()
        .try_map(|text: OsString| DataFilter::new(&Name::from(text.as_os_str())))
}

/// A job's state.
pub(crate) fn state() -> impl TypedValueParser<Value = State> {
    let words = State::ALL.map(State::word);
    PossibleValuesParser::new(words).try_map(|word| word.parse::<State>())
}

/// A name that may come to be by this call: not empty, not overlong, no control characters.
pub(crate) fn new_name() -> impl TypedValueParser<Value = Name> {
    OsStringValueParser::new().try_map(|text: OsString| {
        name::refuse_new(text.as_bytes()).map(|()| Name::from(text.as_os_str()))
    })
}

/// A jid that may come to be by this call.
pub(crate) fn new_jid() -> impl TypedValueParser<Value = Name> {
    OsStringValueParser::new().try_map(|text: OsString| {
        name::refuse_new(text.as_bytes())?;
        match name::reserved(text.as_bytes()) {
            Some(suffix) => Err(format!(
                "ends in `{suffix}`, which is reserved for the keys beside a job"
            )),
            None => Ok(Name::from(text.as_os_str())),
        }
    })
}

/// JidSource that may exist, `-` for a list on stdin, or `@FILE`: any bytes.
pub(crate) fn jids() -> impl TypedValueParser<Value = Name> {
    OsStringValueParser::new().map(|text: OsString| Name::from(text.as_os_str()))
}

/// The prefix of all keys and channels: it goes into patterns of SCAN, ACLs and subscriptions.
pub(crate) fn prefix(text: &str) -> Result<String, String> {
    let plain = |byte: u8| byte.is_ascii_graphic() && !b"'\"`\\*?[]".contains(&byte);
    if !(1..=64).contains(&text.len()) || !text.ends_with(':') || !text.bytes().all(plain) {
        return Err(
            "wants 1 to 64 printable characters ending in `:`, without blanks, quotes, \
                    backslash and `*?[]`"
                .into(),
        );
    }
    let braces: String = text.chars().filter(|c| "{}".contains(*c)).collect();
    match braces.as_str() {
        "" => Ok(text.into()),
        "{}" if !text.contains("{}") => Ok(text.into()),
        _ => Err("wants at most one hash tag such as `{ql}:`".into()),
    }
}

/// A whole number of either sign.
pub(crate) fn integer(text: &str) -> Result<i64, String> {
    match text.parse::<i64>() {
        Ok(number) if number.unsigned_abs() <= LARGEST => Ok(number),
        _ => Err(format!(
            "wants a whole number between -{LARGEST} and {LARGEST}"
        )),
    }
}

/// A whole number of at least 0.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    match text.parse::<u64>() {
        Ok(number) if number <= LARGEST => Ok(number),
        _ => Err(format!("wants a whole number between 0 and {LARGEST}")),
    }
}

/// A whole number of at least 1.
pub(crate) fn at_least_one(text: &str) -> Result<u64, String> {
    match count(text) {
        Ok(number @ 1..) => Ok(number),
        _ => Err(format!("wants a whole number between 1 and {LARGEST}")),
    }
}

/// A number of bytes: `16MiB`, `64k`, `1000`.
pub(crate) fn bytes(text: &str) -> Result<usize, String> {
    let wants = || "wants a number of bytes such as `65536` or `16MiB`".to_string();
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor: usize = match unit {
        "" => 1,
        "k" | "K" | "KiB" => 1 << 10,
        "m" | "M" | "MiB" => 1 << 20,
        "g" | "G" | "GiB" => 1 << 30,
        _ => return Err(wants()),
    };
    let number: usize = number.parse().map_err(|_| wants())?;
    number.checked_mul(factor).ok_or_else(wants)
}

/// Two names: `OLD=NEW`.
pub(crate) fn mapping() -> impl TypedValueParser<Value = (Name, Name)> {
    OsStringValueParser::new().try_map(|text: OsString| {
        let bytes = text.as_encoded_bytes();
        let at = bytes.iter().position(|byte| *byte == b'=');
        let (old, new) = match at {
            Some(at) => (&bytes[..at], &bytes[at + 1..]),
            None => return Err("wants `OLD=NEW`".to_string()),
        };
        match old.is_empty() || new.is_empty() {
            true => Err("wants `OLD=NEW`, neither of them empty".to_string()),
            false => name::refuse_new(new).map(|()| (Name::from(old), Name::from(new))),
        }
    })
}

/// A file to be written.
pub(crate) fn file() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().try_map(|text: OsString| match text.as_bytes() {
        b"" => Err("is empty"),
        b"-" => Err("wants the name of a file, `./-` for one of that name"),
        _ => Ok(PathBuf::from(text)),
    })
}

/// The name of a finding; where `all` may be said, every one.
pub(crate) fn finding(all: bool) -> impl TypedValueParser<Value = String> {
    Findings { all }
}

#[derive(Clone)]
struct Findings {
    all: bool,
}

impl Findings {
    fn words(&self) -> Vec<&'static str> {
        let all = self.all.then_some("all");
        let ids = FINDINGS.iter().map(|finding| finding.id);
        all.into_iter().chain(ids).collect()
    }
}

impl TypedValueParser for Findings {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        let words = self.words();
        let known: Vec<Name> = words.iter().map(|word| Name::from(*word)).collect();
        let parse = move |text: &str| match words.contains(&text) {
            true => Ok(text.to_owned()),
            false => Err("wants the name of a finding"),
        };
        let mut wrong = match parse.parse_ref(command, arg, value) {
            Ok(id) => return Ok(id),
            Err(wrong) => wrong,
        };
        let near = text::nearest(&Name::from(value), &known);
        if let Some(near) = near {
            wrong.insert(
                ContextKind::SuggestedValue,
                ContextValue::String(clean(near)),
            );
        }
        Err(wrong)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.words().into_iter().map(PossibleValue::new)))
    }
}

/// How bad a finding is.
pub(crate) fn severity() -> impl TypedValueParser<Value = Severity> {
    let words = Severity::ALL.map(Severity::word);
    PossibleValuesParser::new(words).map(|word| {
        let named = Severity::ALL
            .iter()
            .find(|severity| severity.word() == word);
        named.copied().unwrap_or(Severity::Info)
    })
}

/// A file to be read, or `-`.
pub(crate) fn input() -> impl TypedValueParser<Value = OsString> {
    OsStringValueParser::new().try_map(|text: OsString| match text.is_empty() {
        true => Err("is empty"),
        false => Ok(text),
    })
}

/// As many jobs as one call takes.
pub(crate) fn batch(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number @ 1..=MAX_JOBS_PER_CALL) => Ok(number),
        _ => Err(format!(
            "wants a number of jobs between 1 and {MAX_JOBS_PER_CALL}"
        )),
    }
}

/// Where jids come from: `content`, or a path.
pub(crate) fn jid_from() -> impl TypedValueParser<Value = JidSource> {
    OsStringValueParser::new().try_map(|text: OsString| match text.as_bytes() {
        b"content" => Ok(JidSource::Content),
        path => match Path::new(path) {
            Ok(path) => Ok(JidSource::Path(path, clean(text.as_encoded_bytes()))),
            Err(wants) => Err(format!("wants `content`, or {wants}")),
        },
    })
}

/// A rate: `20/s`.
pub(crate) fn rate(text: &str) -> Result<Rate, String> {
    text.parse()
}

/// A day of UTC.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Day {
    /// Days from today: 0, or -1 for yesterday.
    Near(i64),
    On(jiff::civil::Date),
}

impl Day {
    /// Returns the day's name and its first moment.
    pub(crate) fn begins(self, now: Moment) -> Result<(String, Moment), Error> {
        const DAY: i64 = 86_400_000_000;
        let first = match self {
            Day::Near(days) => (now.micros().div_euclid(DAY) + days) * DAY,
            Day::On(date) => {
                let first = date.to_zoned(jiff::tz::TimeZone::UTC);
                let first = first.map_err(|_| Error::usage("`--day` is beyond the calendar"))?;
                first.timestamp().as_microsecond()
            }
        };
        let first = Moment::from_micros(first);
        let name = first.rfc3339().unwrap_or_default();
        let (name, _) = name.split_once('T').unwrap_or((&name, ""));
        Ok((name.to_owned(), first))
    }
}

/// A day: `2026-11-20`, `today` or `yesterday`.
pub(crate) fn day(text: &str) -> Result<Day, String> {
    match text {
        "today" => Ok(Day::Near(0)),
        "yesterday" => Ok(Day::Near(-1)),
        _ => match text.len() == 10 {
            true => text.parse().map(Day::On).map_err(|_| ()),
            false => Err(()),
        }
        .map_err(|()| "wants a day such as `2026-11-20`, `today` or `yesterday`".to_owned()),
    }
}

/// A number of days, a year at most.
pub(crate) fn days(text: &str) -> Result<u16, String> {
    match text.parse::<u16>() {
        Ok(days @ 1..=366) => Ok(days),
        _ => Err("wants a number of days between 1 and 366".into()),
    }
}

/// How often something recurs; the core cannot tell moments apart that are much closer.
pub(crate) fn interval(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        short if short < Duration::from_millis(1) => Err("wants at least 1ms".into()),
        duration => Ok(duration),
    }
}

/// How often something is shown anew.
pub(crate) fn tick(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        short if short < Duration::from_millis(500) => Err("wants at least 0.5s".into()),
        duration => Ok(duration),
    }
}

/// A duration that is not nothing.
pub(crate) fn timeout(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err("wants more than no time".into()),
        duration => Ok(duration),
    }
}

/// Returns the sentence for a value that a parser of `cli::value` refused. Its reason follows the
/// name of the argument: `wants a duration such as `90s`` (then the value is told) or `is empty`.
pub(crate) fn refused(arg: &str, value: &str, why: &str) -> String {
    match why.starts_with("wants ") && !value.is_empty() {
        true if value.chars().count() > 60 => {
            let start: String = value.chars().take(60).collect();
            format!("`{arg}` {why}, not `{start}…`")
        }
        true => format!("`{arg}` {why}, not `{value}`"),
        false => format!("`{arg}` {why}"),
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
    fn what_no_calendar_holds_is_no_duration() {
        assert!(duration("1000y").is_ok());
        for long in ["1001y", "31557600001", "9007199254740992", "100000000y"] {
            assert_eq!(duration(long), Err("wants at most 1000 years".into()));
        }
    }

    #[test]
    fn nothing_recurs_all_the_time() {
        assert!(interval("1ms").is_ok());
        for short in ["0", "1ns", "0.0001"] {
            assert_eq!(interval(short), Err("wants at least 1ms".into()));
        }
    }

    #[test]
    fn numbers_stay_where_doubles_are_exact() {
        assert_eq!(integer("-10"), Ok(-10));
        assert_eq!(integer("9007199254740992"), Ok(LARGEST as i64));
        for text in ["9007199254740993", "1.5", "nan", "1e3", "", "x"] {
            assert!(integer(text).is_err(), "{text}");
            assert!(count(text).is_err(), "{text}");
        }
        assert!(count("-1").is_err());
        assert!(at_least_one("0").is_err());
        assert_eq!(at_least_one("1"), Ok(1));
    }

    #[test]
    fn prefixes_have_rules() {
        let longest = format!("{}:", "a".repeat(63));
        for text in ["ql:", ":", "{mail}:", "a{b}c:", &longest] {
            assert_eq!(prefix(text), Ok(text.to_string()));
        }
        let longer = format!("{}:", "a".repeat(64));
        let wrong = [
            "", "ql", "q l:", "q\"l:", "q'l:", "q\\l:", "ql*:", "[ql]:", "ü:", "q\nl:",
        ];
        let tags = ["{}:", "{a}{b}:", "{a:", "a}:", "}a{:", "{{a}}:"];
        for text in wrong.into_iter().chain(tags).chain([longer.as_str()]) {
            assert!(prefix(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(bytes("16MiB"), Ok(16 << 20));
        assert_eq!(bytes("64k"), Ok(65536));
        assert_eq!(bytes("1000"), Ok(1000));
        for text in ["", "MiB", "12 apples", "-1", "99999999999G"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn new_names_have_rules() {
        assert_eq!(name::refuse_new("caf\u{e9} au lait".as_bytes()), Ok(()));
        assert_eq!(name::refuse_new(b"\xff"), Ok(()));
        for name in [&b""[..], b"a\x1b[2J", "a\u{9b}".as_bytes(), &[b'a'; 513]] {
            assert!(name::refuse_new(name).is_err(), "{name:?}");
        }
        assert_eq!(name::reserved(b"job-history"), Some("-history"));
        assert_eq!(name::reserved(b"history"), None);
    }

    #[test]
    fn what_is_no_duration_is_refused() {
        for text in ["", "soon", "-1", "-5m", "nan", "inf", "1e300", "5 parsecs"] {
            assert!(duration(text).is_err(), "{text}");
        }
        assert!(timeout("0").is_err());
    }
}
