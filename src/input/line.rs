//! One line of a file of jobs: a JSON object. Texts without escapes are borrowed from the line, not copied. Each field
//! is validated as the core validates it.

use std::borrow::Cow;
use std::fmt::Display;
use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use strum::VariantArray;

use super::data::{BARE_FALSE, is_bare_false};
use crate::args::coordination::ThrottleArg;
use crate::args::invalid::Invalid;
use crate::args::moment;
use crate::args::moment::MomentArg;
use crate::args::shared::MAX_TAGS;
use crate::args::value;
use crate::clock::duration;
use crate::clock::moment::Moment;
use crate::json::object;
use crate::json::object::{CowText, RawJsonOrBytes, describe_found_value, string_text};
use crate::json::quote::quote_array;
use crate::json::syntax::{JsonType, SyntaxFault, UnknownField};
use crate::model::coordination::{CoordinationOption, CoordinationOptions, OptionValueFault};
use crate::name;
use crate::name::Name;

/// Maximum number of options of a put, unless an export adds more: `at`, `priority`, `retries`, `tags`, `depends` and
/// all coordination options.
const MAX_OPTIONS: usize = 5 + CoordinationOption::VARIANTS.len();

/// A job to put: from the command line, from a line of `--from`, or from a line of an export. The command line supplies
/// the fields that a line of `--from` lacks. A field that is absent in both means the core's default or, for an
/// existing job, its present value.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct NewJob<'l> {
    #[serde(borrow)]
    pub queue: Option<NewName<'l>>,
    pub klass: Option<NewName<'l>>,
    /// JSON, byte for byte.
    #[serde(deserialize_with = "read_data_except_bare_false")]
    pub data: Option<Cow<'l, [u8]>>,
    pub jid: NewJid<'l>,
    #[serde(deserialize_with = "read_delay")]
    pub delay: Option<Duration>,
    #[serde(deserialize_with = "read_moment")]
    pub at: Option<MomentArg>,
    /// The decimal text of the number, exactly as in the line. `retries` is such a text, too.
    #[serde(deserialize_with = "read_integer_as_written")]
    pub priority: Option<Cow<'l, [u8]>>,
    pub tags: Option<Cow<'l, [NewName<'l>]>>,
    #[serde(deserialize_with = "read_count_as_written")]
    pub retries: Option<Cow<'l, [u8]>>,
    pub depends: Option<Cow<'l, [Dependency<'l>]>>,
    pub throttles: Option<&'l RawValue>,
    pub lock: Option<&'l RawValue>,
    pub key: Option<&'l RawValue>,
    pub dup: Option<&'l RawValue>,
    pub until: Option<&'l RawValue>,
    pub ttl: Option<&'l RawValue>,
    pub score: Option<&'l RawValue>,
    pub rescore: Option<&'l RawValue>,
    pub hold: Option<&'l RawValue>,
    pub backoff: Option<&'l RawValue>,
    /// The ten fields from `throttles` to `backoff`, in the form that the core takes.
    #[serde(skip)]
    pub coordination: CoordinationOptions<'l>,
    /// The throttles for which the line gives a maximum, as in `api=5`.
    #[serde(skip)]
    pub maxima: Vec<ThrottleArg>,
    /// Further options of `guard.put` for a job from an export: its origin, and the state that it had at the export.
    #[serde(skip)]
    pub past: Vec<(&'static str, Cow<'l, [u8]>)>,
}

/// A name that may be new to the core.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct NewName<'l>(
    #[serde(borrow, deserialize_with = "read_new_name")] pub Cow<'l, [u8]>,
);

/// The jid that a job to be put will have.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum NewJid<'l> {
    /// The job gets a new jid when it is sent.
    #[default]
    Fresh,
    /// A hash of the job's content, so that two puts of equal content make one job.
    Content([u8; 32]),
    Given(Cow<'l, [u8]>),
}

impl<'de: 'l, 'l> Deserialize<'de> for NewJid<'l> {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<NewJid<'l>, D::Error> {
        read_checked_text(value, refuse_as_new_jid).map(NewJid::Given)
    }
}

impl NewJid<'_> {
    /// The jid, unless it is still to be made.
    pub(crate) fn jid_unless_fresh(&self) -> Option<&[u8]> {
        match self {
            NewJid::Fresh => None,
            NewJid::Content(jid) => Some(jid),
            NewJid::Given(jid) => Some(jid),
        }
    }
}

/// The jid of a dependency: a job that exists, or another job in the file that is being read.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Dependency<'l>(
    #[serde(borrow, deserialize_with = "read_nonempty_text")] pub Cow<'l, [u8]>,
);

impl<'l> NewName<'l> {
    fn reborrow<'s: 'l>(&'s self) -> NewName<'l> {
        NewName(Cow::Borrowed(&self.0))
    }
}

impl From<&Name> for NewName<'static> {
    fn from(name: &Name) -> NewName<'static> {
        NewName(Cow::Owned(name.as_bytes().to_vec()))
    }
}

impl From<&Name> for Dependency<'static> {
    fn from(name: &Name) -> Dependency<'static> {
        Dependency(Cow::Owned(name.as_bytes().to_vec()))
    }
}

impl AsRef<[u8]> for NewName<'_> {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl AsRef<[u8]> for Dependency<'_> {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Why a line is refused, and at which column.
#[derive(Debug, PartialEq)]
pub(crate) struct LineFault {
    pub column: usize,
    pub what: String,
    pub hint: Option<String>,
}

impl LineFault {
    /// A fault at a byte offset of the line.
    pub(crate) fn at_offset(line: &[u8], at: usize, what: impl Into<String>) -> LineFault {
        SyntaxFault::at_offset(line, at, what).into()
    }
}

impl From<SyntaxFault> for LineFault {
    fn from(fault: SyntaxFault) -> LineFault {
        let what = match &fault.unknown {
            Some(unknown) => format!("a job has no field `{}`", unknown.name),
            None => fault.what,
        };
        LineFault {
            column: fault.column,
            what,
            hint: fault.unknown.map(unknown_field_hint),
        }
    }
}

impl<'l> NewJob<'l> {
    /// Parses a line of `--from`. The field `data` may have up to `max_data` bytes.
    pub(crate) fn parse_line(text: &'l [u8], max_data: usize) -> Result<NewJob<'l>, LineFault> {
        let mut job: NewJob = object::read_object(text)?;
        let wrong = |name: &str, what: String| {
            let column = object::column_of_field_value(text, name);
            LineFault {
                column,
                what: format!("`{name}` {what}"),
                hint: None,
            }
        };
        let size = job.data.as_ref().map_or(0, |data| data.len());
        if size > max_data {
            let what = format!("is {size} bytes long, the maximum is {max_data}");
            return Err(wrong("data", what));
        }
        if job.tags.as_ref().is_some_and(|tags| tags.len() > MAX_TAGS) {
            return Err(wrong("tags", format!("holds more than {MAX_TAGS} tags")));
        }
        if job.delay.is_some() && job.at.is_some() {
            return Err(wrong("at", "and `delay` exclude each other".into()));
        }
        for (option, value) in job.coordination_fields() {
            let Some(given) = value else {
                continue;
            };
            let wrong = |what| wrong(option.into_str(), what);
            let mut value = read_option_value(given, option).map_err(wrong)?;
            if option == CoordinationOption::Throttles {
                let mut throttles = ThrottleArg::parse_json_array(&value).map_err(wrong)?;
                if value.contains(&b'=') {
                    value = Cow::Owned(quote_array(throttles.iter().map(|one| &one.id)));
                }
                throttles.retain(|throttle| throttle.maximum.is_some());
                job.maxima = throttles;
            }
            job.coordination.set_option(option, value);
        }
        Ok(job)
    }

    /// Takes the values of `other` for absent fields. `delay` and `at` exclude each other, so `other` fills them only
    /// if both are absent.
    pub(crate) fn fill_absent<'s: 'l>(&mut self, other: &'s NewJob) {
        fn fill<T>(value: &mut Option<T>, default: impl FnOnce() -> Option<T>) {
            if value.is_none() {
                *value = default();
            }
        }
        fn borrow_bytes<'l>(value: &'l Option<Cow<[u8]>>) -> Option<Cow<'l, [u8]>> {
            value.as_deref().map(Cow::Borrowed)
        }
        let name = |name: &'s Option<NewName>| name.as_ref().map(NewName::reborrow);
        fill(&mut self.queue, || name(&other.queue));
        fill(&mut self.klass, || name(&other.klass));
        fill(&mut self.data, || borrow_bytes(&other.data));
        if self.delay.is_none() && self.at.is_none() {
            (self.delay, self.at) = (other.delay, other.at.clone());
        }
        fill(&mut self.priority, || borrow_bytes(&other.priority));
        fill(&mut self.retries, || borrow_bytes(&other.retries));
        fill(&mut self.tags, || other.tags.as_deref().map(Cow::Borrowed));
        fill(&mut self.depends, || {
            other.depends.as_deref().map(Cow::Borrowed)
        });
        self.coordination.fill_absent(&other.coordination);
    }

    pub(crate) fn queue(&self) -> &[u8] {
        self.queue.as_ref().map_or(&[], |queue| &queue.0)
    }

    pub(crate) fn klass(&self) -> &[u8] {
        self.klass.as_ref().map_or(&[], |klass| &klass.0)
    }

    /// The data, by default an empty object.
    pub(crate) fn data(&self) -> &[u8] {
        self.data.as_deref().unwrap_or(b"{}")
    }

    pub(crate) fn dependencies(&self) -> &[Dependency<'l>] {
        self.depends.as_deref().unwrap_or_default()
    }

    /// Passes the words of the job with this jid to `add`, one by one, as a call of `guard.put` takes them: their number,
    /// queue, jid, class, data, delay in seconds, and the options by name. Relative times count from `now`.
    pub(crate) fn for_each_put_word(&self, jid: &[u8], now: Moment, mut add: impl FnMut(&[u8])) {
        let delay = self.delay.map(duration::decimal_seconds_text);
        let at = self.at.as_ref().map(|when| when.resolve(now).to_string());
        let tags = self.tags.as_deref().map(quote_array);
        let depends = self.depends.as_deref().map(quote_array);
        let values = [
            ("at", at.as_deref().map(str::as_bytes)),
            ("priority", self.priority.as_deref()),
            ("retries", self.retries.as_deref()),
            ("tags", tags.as_deref()),
            ("depends", depends.as_deref()),
        ];
        let mut options: Vec<(&'static str, &[u8])> = Vec::with_capacity(MAX_OPTIONS);
        options.extend(
            values
                .into_iter()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        options.extend(self.coordination.option_pairs());
        options.extend(self.past.iter().map(|(name, value)| (*name, &**value)));
        let delay = delay.as_deref().map_or(&b"0"[..], str::as_bytes);
        let words = [self.queue(), jid, self.klass(), self.data(), delay];
        add((words.len() + 2 * options.len()).to_string().as_bytes());
        words.into_iter().for_each(&mut add);
        for (name, value) in options {
            add(name.as_bytes());
            add(value);
        }
    }

    /// The number of tags and dependencies.
    pub(crate) fn tag_and_dependency_count(&self) -> usize {
        self.tags.as_deref().map_or(0, <[_]>::len) + self.dependencies().len()
    }

    /// The ten coordination options, each with the field of the line.
    fn coordination_fields(&self) -> [(CoordinationOption, Option<&'l RawValue>); 10] {
        use CoordinationOption::*;
        [
            (Throttles, self.throttles),
            (Lock, self.lock),
            (Key, self.key),
            (Dup, self.dup),
            (Until, self.until),
            (Ttl, self.ttl),
            (Score, self.score),
            (Rescore, self.rescore),
            (Hold, self.hold),
            (Backoff, self.backoff),
        ]
    }
}

/// Refuses a jid that no new job may have. The error is the reason, to be written after the name of the field.
pub(crate) fn refuse_as_new_jid(jid: &[u8]) -> Result<(), String> {
    name::refuse_as_new_name(jid)?;
    match name::reserved_jid_suffix(jid) {
        Some(suffix) => Err(format!(
            "ends in `{suffix}`, which is reserved for the keys beside a job"
        )),
        None => Ok(()),
    }
}

/// The hint for an unknown field: what to use instead, the most similar field, or all fields.
fn unknown_field_hint(unknown: UnknownField) -> String {
    let UnknownField { name, known } = unknown;
    let name = name.to_lowercase();
    match name.as_str() {
        "kind" => return "what `qless export` wrote is read by `qless import`".into(),
        // Flags of the command line, for which a line uses the field `dup`.
        "merge" => return "`\"dup\":\"merge\"` is what `--merge` does".into(),
        "unique" => return "`\"dup\":\"skip\"` is what `--unique` does".into(),
        _ => {}
    }
    let likeness = |other: &&&str| (strsim::jaro_winkler(&name, other) * 1e6) as u64;
    match known.iter().max_by_key(likeness) {
        Some(best) if likeness(&best) > 700_000 => format!("did you mean `{best}`?"),
        _ => format!("a job has {}", known.join(", ")),
    }
}

fn read_new_name<'l, D: Deserializer<'l>>(value: D) -> Result<Cow<'l, [u8]>, D::Error> {
    read_checked_text(value, name::refuse_as_new_name)
}

fn read_nonempty_text<'l, D: Deserializer<'l>>(value: D) -> Result<Cow<'l, [u8]>, D::Error> {
    let refuse = |jid: &[u8]| {
        if jid.is_empty() {
            Err("is empty")
        } else {
            Ok(())
        }
    };
    read_checked_text(value, refuse)
}

/// Reads a text, unless it is refused.
fn read_checked_text<'l, D: Deserializer<'l>, W: Display>(
    value: D,
    refuse: impl Fn(&[u8]) -> Result<(), W>,
) -> Result<Cow<'l, [u8]>, D::Error> {
    let text = into_bytes(CowText::deserialize(value)?.0);
    refuse(&text).map_err(D::Error::custom)?;
    Ok(text)
}

pub(crate) fn into_bytes(text: Cow<str>) -> Cow<[u8]> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

/// The data of a job: any JSON except a bare `false`, which the core refuses.
fn read_data_except_bare_false<'l, D: Deserializer<'l>>(
    value: D,
) -> Result<Option<Cow<'l, [u8]>>, D::Error> {
    match RawJsonOrBytes::deserialize(value)?.0 {
        data if is_bare_false(&data) => Err(D::Error::custom(BARE_FALSE)),
        data => Ok(Some(data)),
    }
}

/// A duration, or seconds as in the core.
fn read_delay<'l, D: Deserializer<'l>>(value: D) -> Result<Option<Duration>, D::Error> {
    let seconds = |text: &str| duration::parse_duration_or_seconds(text).map_err(Invalid::Expects);
    read_text_or_number(value, value::duration, seconds).map(Some)
}

/// A time as text, or a number of seconds since the epoch.
fn read_moment<'l, D: Deserializer<'l>>(value: D) -> Result<Option<MomentArg>, D::Error> {
    let seconds = |text: &str| {
        let seconds = text.parse().ok();
        let seconds = seconds.filter(|seconds: &f64| seconds.abs() <= LATEST);
        let moment = seconds.and_then(Moment::from_seconds).map(MomentArg::At);
        moment.ok_or("expects seconds since the epoch")
    };
    read_text_or_number(value, moment::parse_moment_or_delay, seconds).map(Some)
}

/// The last second of the year 9999.
const LATEST: f64 = 253_402_300_799.0;

/// Reads a JSON string with `text`, and a JSON number with `number`. The error shows the value that was found.
fn read_text_or_number<'l, D: Deserializer<'l>, T, W: Display, N: Display>(
    value: D,
    text: impl Fn(&str) -> Result<T, W>,
    number: impl Fn(&str) -> Result<T, N>,
) -> Result<T, D::Error> {
    let raw = <&RawValue>::deserialize(value)?;
    let read = match JsonType::from_text(raw.get().as_bytes()) {
        JsonType::Number => number(raw.get()).map_err(|wants| wants.to_string()),
        JsonType::String => text(&string_text(raw)).map_err(|wants| wants.to_string()),
        _ => text("").map_err(|wants| wants.to_string()),
    };
    read.map_err(|wants| D::Error::custom(format!("{wants}, not {}", describe_found_value(raw))))
}

fn read_integer_as_written<'l, D: Deserializer<'l>>(
    value: D,
) -> Result<Option<Cow<'l, [u8]>>, D::Error> {
    read_whole_number_as_written(value, value::integer)
}

fn read_count_as_written<'l, D: Deserializer<'l>>(
    value: D,
) -> Result<Option<Cow<'l, [u8]>>, D::Error> {
    read_whole_number_as_written(value, value::at_least_zero)
}

/// Checks a whole number.
fn read_whole_number_as_written<'l, D: Deserializer<'l>, T, E: Display>(
    value: D,
    read: impl Fn(&str) -> Result<T, E>,
) -> Result<Option<Cow<'l, [u8]>>, D::Error> {
    let raw = <&RawValue>::deserialize(value)?;
    let read = match JsonType::from_text(raw.get().as_bytes()) {
        JsonType::Number => read(raw.get()).map_err(|wants| wants.to_string()),
        _ => Err("expects a whole number".to_owned()),
    };
    match read {
        Ok(_) => Ok(Some(raw.get().as_bytes().into())),
        Err(wants) => Err(D::Error::custom(format!(
            "{wants}, not {}",
            describe_found_value(raw)
        ))),
    }
}

/// The value of a coordination option, as the core takes it.
fn read_option_value<'l>(
    given: &'l RawValue,
    option: CoordinationOption,
) -> Result<Cow<'l, [u8]>, String> {
    use CoordinationOption::{Hold, Score, Throttles, Ttl};
    let json = given.get();
    let shape = JsonType::from_text(json.as_bytes());
    let value = match (option, shape) {
        (Hold, JsonType::Bool) if json == "true" => Cow::Borrowed("1"),
        (Hold, JsonType::Bool) => Cow::Borrowed("0"),
        (Throttles, JsonType::Array) | (Hold | Score | Ttl, JsonType::Number) => {
            Cow::Borrowed(json)
        }
        (Throttles, _) => {
            return Err(format!(
                "expects an array of texts, not {}",
                describe_found_value(given)
            ));
        }
        (Score, _) => {
            return Err(format!(
                "expects a number, not {}",
                describe_found_value(given)
            ));
        }
        (_, JsonType::String) => string_text(given),
        _ => {
            return Err(format!(
                "expects a text, not {}",
                describe_found_value(given)
            ));
        }
    };
    let checked = match shape {
        JsonType::String => option.parse_value(value.as_bytes()),
        _ => option.normalize_value(value.as_bytes()),
    };
    match checked {
        Ok(Cow::Owned(checked)) => Ok(Cow::Owned(checked)),
        Ok(Cow::Borrowed(_)) => Ok(into_bytes(value)),
        Err(OptionValueFault::Expects(what)) => Err(format!(
            "expects {what}, not {}",
            describe_found_value(given)
        )),
        Err(OptionValueFault::Because(why)) => Err(why),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn fault(text: &str) -> String {
        let fault = NewJob::parse_line(text.as_bytes(), 100).unwrap_err();
        let hint = fault
            .hint
            .map_or(String::new(), |hint| format!(" ({hint})"));
        format!("{}: {}{hint}", fault.column, fault.what)
    }

    #[test]
    fn the_values_of_a_line_are_kept_byte_for_byte() {
        let text = concat!(
            r#" {"qu\u0065ue":"m\u00e4il", "klass" : "K","jid":"a\/b","data": {"n": 9007199254740993, "l": []} ,"#,
            r#""tags":["eu", "v\u0069p"],"depends":[],"priority":-3,"retries":0,"delay":"10m"}"#,
            "\r\n"
        );
        let line = NewJob::parse_line(text.as_bytes(), 100).unwrap();
        let texts = |names: Cow<[NewName]>| -> Vec<Vec<u8>> {
            names.iter().map(|name| name.0.to_vec()).collect()
        };
        assert_eq!(*line.queue.unwrap().0, *"m\u{e4}il".as_bytes());
        assert_eq!(*line.klass.unwrap().0, *b"K");
        assert_eq!(line.jid.jid_unless_fresh(), Some(&b"a/b"[..]));
        let data = br#"{"n": 9007199254740993, "l": []}"#;
        assert_eq!(line.data.as_deref(), Some(&data[..]));
        assert!(matches!(line.data, Some(Cow::Borrowed(_))));
        assert_eq!(texts(line.tags.unwrap()), [&b"eu"[..], b"vip"]);
        assert!(line.depends.unwrap().is_empty());
        assert_eq!(line.priority.as_deref(), Some(&b"-3"[..]));
        assert_eq!(line.retries.as_deref(), Some(&b"0"[..]));
        assert_eq!(line.delay, Some(Duration::from_secs(600)));
    }

    #[test]
    fn times_are_texts_or_seconds() {
        let due = |text: &str| {
            let text = format!("{{\"at\":{text}}}");
            NewJob::parse_line(text.as_bytes(), 0).map(|line| line.at)
        };
        let at = Moment::from_seconds(1000.5).map(MomentArg::At);
        assert_eq!(due("1000.5").unwrap(), at);
        assert!(due("\"2026-11-21T06:00:00Z\"").unwrap().is_some());
        let delay = NewJob::parse_line(b"{\"delay\":1.5}", 0).unwrap().delay;
        assert_eq!(delay, Some(Duration::from_millis(1500)));
        for text in ["1e300", "\"soon\"", "null", "[]"] {
            assert!(due(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_unknown_field_gets_the_nearest_as_hint() {
        assert_eq!(
            fault(r#"{"klass":"K","qeue":"q"}"#),
            "14: a job has no field `qeue` (did you mean `queue`?)"
        );
        assert_eq!(
            fault(r#"{"kind":"export"}"#),
            "2: a job has no field `kind` (what `qless export` wrote is read by `qless import`)"
        );
        assert_eq!(
            fault(r#"{"zzz":1}"#),
            "2: a job has no field `zzz` (a job has queue, klass, data, jid, delay, at, priority, \
             tags, retries, depends, throttles, lock, key, dup, until, ttl, score, rescore, hold, \
             backoff)"
        );
    }

    #[test]
    fn each_field_is_checked_for_its_type() {
        let many_tags = format!(r#"{{"tags":[{}"t"]}}"#, r#""t","#.repeat(MAX_TAGS));
        let texts = [
            "",
            "[]",
            "{} {}",
            "{\"data\":1",
            r#"{"é":1,"queue":x}"#,
            r#"{"queue":1}"#,
            r#"{"queue":null}"#,
            r#"{"queue":""}"#,
            r#"{"klass":"a\nb"}"#,
            r#"{"jid":"a-history"}"#,
            r#"{"jid":"a","jid":"b"}"#,
            r#"{"data":false}"#,
            r#"{"data":[1,NaN]}"#,
            r#"{"delay":-1}"#,
            r#"{"delay":{}}"#,
            r#"{"delay":1,"at":1}"#,
            r#"{"priority":1.5}"#,
            r#"{"priority":"1"}"#,
            r#"{"retries":-1}"#,
            r#"{"tags":"eu"}"#,
            r#"{"tags":["eu", 1]}"#,
            r#"{"tags":["eu",""]}"#,
            &many_tags,
            r#"{"depends":[""]}"#,
        ];
        let faults = texts.map(|text| format!("{text:.60}\n  {}\n", fault(text)));
        expect![[r#"

              1: it is empty, an object was expected
            []
              1: expected an object, not `[`
            {} {}
              4: trailing characters at `{`
            {"data":1
              10: EOF while parsing an object
            {"é":1,"queue":x}
              16: expected value at `x`
            {"queue":1}
              10: `queue` expects a text, not `1`
            {"queue":null}
              10: `queue` expects a text, not null
            {"queue":""}
              10: `queue` is empty
            {"klass":"a\nb"}
              10: `klass` holds a control character, U+000A
            {"jid":"a-history"}
              8: `jid` ends in `-history`, which is reserved for the keys beside a job
            {"jid":"a","jid":"b"}
              12: `jid` stands here twice
            {"data":false}
              9: `data` must not be the bare document `false`
            {"data":[1,NaN]}
              12: expected value at `NaN`
            {"delay":-1}
              10: `delay` expects a duration such as `90s`, `15m` or `2h`, not `-1`
            {"delay":{}}
              10: `delay` expects a duration such as `90s`, `15m` or `2h`, not an object
            {"delay":1,"at":1}
              17: `at` and `delay` exclude each other
            {"priority":1.5}
              13: `priority` expects a whole number between -9007199254740992 and 9007199254740992, not `1.5`
            {"priority":"1"}
              13: `priority` expects a whole number, not `"1"`
            {"retries":-1}
              12: `retries` expects a whole number between 0 and 9007199254740992, not `-1`
            {"tags":"eu"}
              9: `tags` expects a list, not `"eu"`
            {"tags":["eu", 1]}
              16: `tags[1]` expects a text, not `1`
            {"tags":["eu",""]}
              15: `tags[1]` is empty
            {"tags":["t","t","t","t","t","t","t","t","t","t","t","t","t"
              9: `tags` holds more than 1000 tags
            {"depends":[""]}
              13: `depends[0]` is empty
        "#]].assert_eq(&faults.concat());
        let long = format!(r#"{{"data":"{}"}}"#, "a".repeat(99));
        assert_eq!(
            fault(&long),
            "9: `data` is 101 bytes long, the maximum is 100"
        );
    }
}
