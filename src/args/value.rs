//! Parsers of single values. A parser that refuses a value returns [`Invalid`].

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{
    OsStringValueParser, PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser,
};
use clap::error::{ContextKind, ContextValue};
use strum::VariantArray;

use super::invalid::Invalid;
use super::plain;
use crate::clock::duration::parse_duration;
use crate::clock::moment::Moment;
use crate::error::{Cause, Error};
use crate::json::path::JsonPath;
use crate::model::bulk::MAX_JOBS_PER_CALL;
use crate::model::data_filter::DataFilter;
use crate::model::event::EventKind;
use crate::model::finding::{FINDINGS, Severity};
use crate::model::job::State;
use crate::model::pattern::NamePattern;
use crate::model::put::MissingJidSource;
use crate::model::rate::MaxRate;
use crate::model::text_regex::TextRegex;
use crate::model::work::RetryCause;
use crate::model::work_queue::QueueSelector;
use crate::name;
use crate::name::Name;
use crate::text;
use crate::text::Sanitized;

pub(crate) use super::candidates::{CompletionKind, JidCompletionKind};

/// The largest integer up to which doubles are exact: the core's numbers are doubles.
pub(crate) const LARGEST: u64 = 1 << 53;

/// Maximum number of processes of one worker. Each takes a few descriptors.
const MAX_PROCESSES: usize = 1000;

/// Maximum number of jobs of a graph. Graphviz takes half a minute to draw them.
const MAX_GRAPH: usize = 10_000;

/// The longest message of a failure, in bytes.
const MAX_ERROR_BYTES: usize = 1 << 20;

/// The maximum size of data, in bytes. A Redis string holds 512 MiB, so 12 MiB remain for the rest of the job.
const MAX_DATA_BYTES: usize = 500 << 20;

/// A word as it is.
pub(crate) fn any_word() -> impl TypedValueParser<Value = OsString> {
    OsStringValueParser::new().map(|word: OsString| plain::word_and_had_plain_mark(word).0)
}

/// A word of UTF-8 as it is.
pub(crate) fn any_text() -> impl TypedValueParser<Value = String> {
    StringValueParser::new().map(|text: String| plain::strip_plain_marks(&text))
}

/// A queue, tag, group, worker or jid that may exist: any bytes, but not empty.
pub(crate) fn name() -> impl TypedValueParser<Value = Name> {
    any_word().try_map(|word: OsString| {
        if word.is_empty() {
            Err(Invalid::because("is empty"))
        } else {
            Ok(Name::from(word.as_os_str()))
        }
    })
}

/// A name that may exist: any bytes.
pub(crate) fn name_or_empty() -> impl TypedValueParser<Value = Name> {
    any_word().map(|word: OsString| Name::from(word.as_os_str()))
}

/// A name, or a glob that matches names.
pub(crate) fn name_or_glob() -> impl TypedValueParser<Value = NamePattern> {
    OsStringValueParser::new().try_map(|word: OsString| {
        let (word, is_plain) = plain::word_and_had_plain_mark(word);
        let name = Name::from(word.as_os_str());
        match (name.is_empty(), is_plain) {
            (true, _) => Err(Invalid::because("is empty")),
            (false, true) => Ok(NamePattern::Plain(name)),
            (false, false) => NamePattern::parse(name).map_err(Invalid::Expects),
        }
    })
}

/// A queue of a worker: `NAME`, `NAME=WEIGHT`, a glob, or `!NAME`.
pub(crate) fn work_queue() -> impl TypedValueParser<Value = QueueSelector> {
    name().try_map(|name| QueueSelector::parse(&name).map_err(Invalid::Expects))
}

/// Parses the value of `--where`, which may have any bytes: `PATH=VALUE`, `PATH=~REGEX` or `PATH!~REGEX`.
pub(crate) fn data_filter() -> impl TypedValueParser<Value = DataFilter> {
    OsStringValueParser::new().try_map(|text: OsString| {
        DataFilter::parse(&Name::from(text.as_os_str())).map_err(Invalid::Expects)
    })
}

/// A job's state.
pub(crate) fn state() -> impl TypedValueParser<Value = State> {
    let words = State::VARIANTS.iter().map(State::into_str);
    PossibleValuesParser::new(words).try_map(|word| word.parse::<State>())
}

/// The kind of an event that the core publishes.
pub(crate) fn event_kind() -> impl TypedValueParser<Value = EventKind> {
    let kinds = EventKind::VARIANTS.iter();
    let kinds = kinds.filter(|kind| kind.is_published());
    PossibleValuesParser::new(kinds.map(EventKind::into_str))
        .try_map(|word| word.parse::<EventKind>())
}

/// A name that the call may create: not empty, not too long, without control characters.
pub(crate) fn new_name() -> impl TypedValueParser<Value = Name> {
    any_word().try_map(|text: OsString| {
        name::refuse_as_new_name(text.as_bytes())
            .map(|()| Name::from(text.as_os_str()))
            .map_err(Invalid::Because)
    })
}

/// Parses the class of a job to put. A text that looks like JSON data means that the class was forgotten, unless it
/// stands after `--`.
pub(crate) fn klass() -> impl TypedValueParser<Value = Name> {
    OsStringValueParser::new().try_map(|text: OsString| {
        let (text, is_plain) = plain::word_and_had_plain_mark(text);
        name::refuse_as_new_name(text.as_bytes()).map_err(Invalid::Because)?;
        match text.as_bytes().trim_ascii_start().first() {
            Some(b'{' | b'[') if !is_plain => Err(Invalid::expects(
                "the class of the job before its data, as in `QUEUE KLASS DATA`",
            )),
            _ => Ok(Name::from(text.as_os_str())),
        }
    })
}

/// A jid that the call may create.
pub(crate) fn new_jid() -> impl TypedValueParser<Value = Name> {
    OsStringValueParser::new().try_map(|text: OsString| {
        name::refuse_as_new_name(text.as_bytes())?;
        match name::reserved_jid_suffix(text.as_bytes()) {
            Some(suffix) => Err(Invalid::because(format!(
                "ends in `{suffix}`, which is reserved for the keys beside a job"
            ))),
            None => Ok(Name::from(text.as_os_str())),
        }
    })
}

/// Parses the prefix of all keys and channels. It refuses characters that mean something in the patterns of SCAN, ACLs
/// and subscriptions.
pub(crate) fn prefix(text: &str) -> Result<String, Invalid> {
    let plain = |byte: u8| byte.is_ascii_graphic() && !b"'\"`\\*?[]".contains(&byte);
    if !(1..=64).contains(&text.len()) || !text.ends_with(':') || !text.bytes().all(plain) {
        return Err(Invalid::expects(
            "1 to 64 printable characters ending in `:`, without blanks, quotes, backslash and \
             `*?[]`",
        ));
    }
    let braces: String = text.chars().filter(|c| "{}".contains(*c)).collect();
    match braces.as_str() {
        "" => Ok(text.into()),
        "{}" if !text.contains("{}") => Ok(text.into()),
        _ => Err(Invalid::expects(
            "at most one hash tag, which is not empty, such as `{ql}:`",
        )),
    }
}

/// Adds a suggestion to the error about a prefix with wrong braces: a prefix that works, with one hash tag.
pub(crate) fn suggest_working_prefix(error: Error, wrong: &str) -> Error {
    let name = wrong.replace(['{', '}'], "");
    let name = name.trim_end_matches(':');
    let tagged = format!("{{{}}}:", if name.is_empty() { "ql" } else { name });
    if !wrong.contains(['{', '}']) || prefix(&tagged).is_err() {
        return error;
    }
    error.caused_by(Cause::WrongAddressKind {
        redis: None,
        prefix: Some(tagged),
    })
}

/// A whole number of either sign.
pub(crate) fn integer(text: &str) -> Result<i64, Invalid> {
    // A number of a file has no marks.
    let number = text.parse::<i64>();
    match number.or_else(|_| plain::strip_plain_marks(text).parse()) {
        Ok(number) if number.unsigned_abs() <= LARGEST => Ok(number),
        _ => Err(Invalid::expects(format!(
            "a whole number between -{LARGEST} and {LARGEST}"
        ))),
    }
}

/// A whole number of at least 0.
pub(crate) fn at_least_zero(text: &str) -> Result<u64, Invalid> {
    match text.parse::<u64>() {
        Ok(number) if number <= LARGEST => Ok(number),
        _ => Err(Invalid::expects(format!(
            "a whole number between 0 and {LARGEST}"
        ))),
    }
}

pub(crate) fn at_least_one(text: &str) -> Result<u64, Invalid> {
    match at_least_zero(text) {
        Ok(number @ 1..) => Ok(number),
        _ => Err(Invalid::expects(format!(
            "a whole number between 1 and {LARGEST}"
        ))),
    }
}

/// A number of jobs in a graph.
pub(crate) fn graph_job_limit(text: &str) -> Result<usize, Invalid> {
    match text.parse() {
        Ok(number @ 1..=MAX_GRAPH) => Ok(number),
        _ => Err(Invalid::expects(format!(
            "a whole number between 1 and {MAX_GRAPH}"
        ))),
    }
}

pub(crate) fn process_count(text: &str) -> Result<usize, Invalid> {
    match text.parse() {
        Ok(number @ 1..=MAX_PROCESSES) => Ok(number),
        _ => Err(Invalid::expects(format!(
            "a whole number between 1 and {MAX_PROCESSES}"
        ))),
    }
}

/// Parses a word of `--retry-on`: a way in which a process ends, after which its jobs are retried.
pub(crate) fn retry_cause(text: &str) -> Result<RetryCause, Invalid> {
    text.parse().map_err(|what: &str| Invalid::expects(what))
}

/// A number of bytes: `16MiB`, `64k`, `1000`.
pub(crate) fn byte_count(text: &str) -> Result<usize, Invalid> {
    let invalid = || Invalid::expects("a number of bytes such as `65536` or `16MiB`");
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor: usize = match unit {
        "" => 1,
        "k" | "K" | "KiB" => 1 << 10,
        "m" | "M" | "MiB" => 1 << 20,
        "g" | "G" | "GiB" => 1 << 30,
        _ => return Err(invalid()),
    };
    let number: usize = number.parse().map_err(|_| invalid())?;
    number.checked_mul(factor).ok_or_else(invalid)
}

/// Parses the maximum size of a job's data. The reply with the whole job must fit into a Redis string of 512 MiB.
pub(crate) fn max_data_size(text: &str) -> Result<usize, Invalid> {
    match byte_count(text) {
        Ok(number @ 0..=MAX_DATA_BYTES) => Ok(number),
        _ => Err(Invalid::expects(
            "a number of bytes up to 500MiB, such as `65536` or `16MiB`",
        )),
    }
}

/// Parses the maximum length of a failure's message, which the core stores with each failed job.
pub(crate) fn max_failure_message_size(text: &str) -> Result<usize, Invalid> {
    match byte_count(text) {
        Ok(number @ 0..=MAX_ERROR_BYTES) => Ok(number),
        _ => Err(Invalid::expects(
            "a number of bytes up to 1MiB, such as `8192` or `64KiB`",
        )),
    }
}

/// A pair of names: `OLD=NEW`.
pub(crate) fn old_and_new_name() -> impl TypedValueParser<Value = (Name, Name)> {
    OsStringValueParser::new().try_map(|text: OsString| {
        let bytes = text.as_encoded_bytes();
        let at = bytes.iter().position(|byte| *byte == b'=');
        let (old, new) = match at {
            Some(at) => (&bytes[..at], &bytes[at + 1..]),
            None => return Err(Invalid::expects("`OLD=NEW`")),
        };
        if old.is_empty() || new.is_empty() {
            Err(Invalid::expects("`OLD=NEW`, neither of them empty"))
        } else {
            match name::refuse_as_new_name(new) {
                Ok(()) => Ok((Name::from(old), Name::from(new))),
                Err(why) => Err(Invalid::Because(why)),
            }
        }
    })
}

/// A file to write.
pub(crate) fn file_to_write() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().try_map(|text: OsString| match text.as_bytes() {
        b"" => Err(Invalid::because("is empty")),
        b"-" => Err(Invalid::expects(
            "the name of a file, `./-` for one of that name",
        )),
        _ => Ok(PathBuf::from(text)),
    })
}

/// The id of a finding, or `all` if that is allowed.
pub(crate) fn finding_id(allows_all: bool) -> impl TypedValueParser<Value = String> {
    FindingIdOrAllParser { allows_all }
}

/// Accepts the id of a finding, or `all` if that is allowed. For another word it suggests the nearest one.
#[derive(Clone)]
struct FindingIdOrAllParser {
    allows_all: bool,
}

impl FindingIdOrAllParser {
    fn accepted_words(&self) -> Vec<&'static str> {
        let all = self.allows_all.then_some("all");
        let ids = FINDINGS.iter().map(|finding| finding.id.into_str());
        all.into_iter().chain(ids).collect()
    }
}

impl TypedValueParser for FindingIdOrAllParser {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        let words = self.accepted_words();
        let known: Vec<Name> = words.iter().map(|word| Name::from(*word)).collect();
        let parse = move |text: &str| {
            if words.contains(&text) {
                Ok(text.to_owned())
            } else {
                Err(Invalid::expects("the name of a finding"))
            }
        };
        let mut error = match parse.parse_ref(command, arg, value) {
            Ok(id) => return Ok(id),
            Err(error) => error,
        };
        let near = text::nearest_spelling(Name::from(value), &known);
        if let Some(near) = near {
            error.insert(
                ContextKind::SuggestedValue,
                ContextValue::String(near.to_string()),
            );
        }
        Err(error)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(
            self.accepted_words().into_iter().map(PossibleValue::new),
        ))
    }
}

pub(crate) fn severity() -> impl TypedValueParser<Value = Severity> {
    let words = Severity::VARIANTS.iter().rev().map(Severity::into_str);
    PossibleValuesParser::new(words).try_map(|word| word.parse::<Severity>())
}

pub(crate) fn jobs_per_call(text: &str) -> Result<usize, Invalid> {
    match text.parse() {
        Ok(number @ 1..=MAX_JOBS_PER_CALL) => Ok(number),
        _ => Err(Invalid::expects(format!(
            "a number of jobs between 1 and {MAX_JOBS_PER_CALL}"
        ))),
    }
}

/// The source of jids: `content`, or a path in the data.
pub(crate) fn jid_derivation() -> impl TypedValueParser<Value = MissingJidSource> {
    OsStringValueParser::new().try_map(|text: OsString| match text.as_bytes() {
        b"content" => Ok(MissingJidSource::Content),
        path => match JsonPath::parse(path) {
            Ok(path) => Ok(MissingJidSource::Path(
                path,
                Sanitized(text.as_encoded_bytes()).to_string(),
            )),
            Err(expected) => Err(Invalid::expects(format!("`content`, or {expected}"))),
        },
    })
}

/// A path in the data, such as `user.id`.
pub(crate) fn data_path() -> impl TypedValueParser<Value = JsonPath> {
    OsStringValueParser::new()
        .try_map(|text: OsString| JsonPath::parse(text.as_bytes()).map_err(Invalid::expects))
}

/// A rate: `20/s`.
pub(crate) fn rate(text: &str) -> Result<MaxRate, Invalid> {
    text.parse().map_err(Invalid::Expects)
}

/// A day of UTC.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum UtcDay {
    /// Days from today: 0, or -1 for yesterday.
    Near(i64),
    On(jiff::civil::Date),
}

impl UtcDay {
    /// The day's name and its first moment.
    pub(crate) fn date_and_start(self, now: Moment) -> Result<(String, Moment), Error> {
        const DAY: i64 = 86_400_000_000;
        let first = match self {
            UtcDay::Near(days) => (now.micros().div_euclid(DAY) + days) * DAY,
            UtcDay::On(date) => {
                let first = date.to_zoned(jiff::tz::TimeZone::UTC);
                let first = first.map_err(|_| Error::usage("`--day` is beyond the calendar"))?;
                first.timestamp().as_microsecond()
            }
        };
        let first = Moment::from_micros(first);
        let name = first.to_rfc3339().unwrap_or_default();
        let (name, _) = name.split_once('T').unwrap_or((&name, ""));
        Ok((name.to_owned(), first))
    }
}

/// A day: `2026-11-20`, `today` or `yesterday`.
pub(crate) fn day(text: &str) -> Result<UtcDay, Invalid> {
    match text {
        "today" => Ok(UtcDay::Near(0)),
        "yesterday" => Ok(UtcDay::Near(-1)),
        _ => if text.len() == 10 {
            text.parse().map(UtcDay::On).map_err(|_| ())
        } else {
            Err(())
        }
        .map_err(|()| Invalid::expects("a day such as `2026-11-20`, `today` or `yesterday`")),
    }
}

/// A number of days, up to a year.
pub(crate) fn day_count(text: &str) -> Result<u16, Invalid> {
    match text.parse::<u16>() {
        Ok(days @ 1..=366) => Ok(days),
        _ => Err(Invalid::expects("a number of days between 1 and 366")),
    }
}

/// A duration: `90s`, `15m`, or 0.
pub(crate) fn duration(text: &str) -> Result<Duration, Invalid> {
    parse_duration(text).map_err(Invalid::Expects)
}

/// Parses the regular expression to find in the messages of failures.
pub(crate) fn message_regex(text: &str) -> Result<TextRegex, Invalid> {
    TextRegex::parse(text).map_err(Invalid::Expects)
}

/// Parses the interval of a recurring job, at least 1 ms: the core cannot distinguish moments much closer together.
pub(crate) fn recurring_interval(text: &str) -> Result<Duration, Invalid> {
    match duration(text)? {
        short if short < Duration::from_millis(1) => Err(Invalid::expects("at least 1ms")),
        duration => Ok(duration),
    }
}

/// The interval of `--watch`.
pub(crate) fn watch_interval(text: &str) -> Result<Duration, Invalid> {
    match duration(text)? {
        short if short < Duration::from_millis(500) => Err(Invalid::expects("at least 0.5s")),
        duration => Ok(duration),
    }
}

/// A duration of more than 0.
pub(crate) fn positive_duration(text: &str) -> Result<Duration, Invalid> {
    match duration(text)? {
        Duration::ZERO => Err(Invalid::expects("a duration of more than 0")),
        duration => Ok(duration),
    }
}

/// The name of an environment variable.
pub(crate) fn env_variable_name(text: &str) -> Result<String, Invalid> {
    if text.is_empty() || text.contains(['=', '\0']) {
        Err("is not the name of a variable".into())
    } else {
        Ok(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_without_a_unit_is_refused() {
        let unit = Invalid::expects("a duration with a unit, such as `5s` or `5m`");
        for bare in ["5", "1.5", "1e3", "31557600001"] {
            assert_eq!(duration(bare), Err(unit.clone()), "{bare}");
        }
        assert_eq!(duration("0"), Ok(Duration::ZERO));
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(duration("1h30m"), Ok(Duration::from_secs(5400)));
    }

    #[test]
    fn a_duration_is_at_most_1000_years() {
        assert!(duration("1000y").is_ok());
        for long in ["1001y", "31557600001s", "100000000y"] {
            assert_eq!(duration(long), Err(Invalid::expects("at most 1000 years")));
        }
    }

    #[test]
    fn an_interval_is_at_least_a_millisecond() {
        assert!(recurring_interval("1ms").is_ok());
        for short in ["0", "1ns", "0.1ms"] {
            assert_eq!(
                recurring_interval(short),
                Err(Invalid::expects("at least 1ms"))
            );
        }
    }

    #[test]
    fn numbers_are_limited_to_what_doubles_hold_exactly() {
        assert_eq!(integer("-10"), Ok(-10));
        assert_eq!(integer("9007199254740992"), Ok(LARGEST as i64));
        for text in ["9007199254740993", "1.5", "nan", "1e3", "", "x"] {
            assert!(integer(text).is_err(), "{text}");
            assert!(at_least_zero(text).is_err(), "{text}");
        }
        assert!(at_least_zero("-1").is_err());
        assert!(at_least_one("0").is_err());
        assert_eq!(at_least_one("1"), Ok(1));
    }

    #[test]
    fn a_prefix_ends_in_a_colon_and_has_at_most_one_hash_tag() {
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
    fn a_size_may_have_a_unit() {
        assert_eq!(byte_count("16MiB"), Ok(16 << 20));
        assert_eq!(byte_count("64k"), Ok(65536));
        assert_eq!(byte_count("1000"), Ok(1000));
        for text in ["", "MiB", "12 apples", "-1", "99999999999G"] {
            assert!(byte_count(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_new_name_is_not_empty_not_long_and_has_no_control_characters() {
        assert_eq!(
            name::refuse_as_new_name("caf\u{e9} au lait".as_bytes()),
            Ok(())
        );
        assert_eq!(name::refuse_as_new_name(b"\xff"), Ok(()));
        for name in [&b""[..], b"a\x1b[2J", "a\u{9b}".as_bytes(), &[b'a'; 513]] {
            assert!(name::refuse_as_new_name(name).is_err(), "{name:?}");
        }
        assert_eq!(name::reserved_jid_suffix(b"job-history"), Some("-history"));
        assert_eq!(name::reserved_jid_suffix(b"history"), None);
    }

    #[test]
    fn texts_that_are_not_durations_are_refused() {
        for text in ["", "soon", "-1", "-5m", "nan", "inf", "1e300", "5 parsecs"] {
            assert!(duration(text).is_err(), "{text}");
        }
        assert!(positive_duration("0").is_err());
    }
}
