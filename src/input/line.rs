//! One line of a file of jobs: a JSON object, parsed without copies and validated as the core
//! would.

use std::borrow::Cow;
use std::fmt::Display;
use std::time::Duration;

use strum::VariantArray;

use crate::args::coordination::Throttled;
use crate::args::invalid::Invalid;
use crate::args::moment;
use crate::args::moment::When;
use crate::args::value;
use crate::clock::duration;
use crate::clock::moment::Moment;
use crate::json::quote::array;
use crate::json::syntax;
use crate::json::syntax::{Member, Shape, Wrong};
use crate::model::coordination::{Coordination, CoordinationOption, WrongValue};
use crate::name;
use crate::text::{Harmless, cut};

/// The members of a line, in the order of hints.
const MEMBERS: [&str; 20] = [
    "queue",
    "klass",
    "data",
    "jid",
    "delay",
    "at",
    "priority",
    "tags",
    "retries",
    "depends",
    "throttles",
    "lock",
    "key",
    "dup",
    "until",
    "ttl",
    "score",
    "rescore",
    "hold",
    "backoff",
];

const QUEUE: usize = 0;
const KLASS: usize = 1;
const DATA: usize = 2;
const JID: usize = 3;
const DELAY: usize = 4;
const AT: usize = 5;
const PRIORITY: usize = 6;
const TAGS: usize = 7;
const RETRIES: usize = 8;
const DEPENDS: usize = 9;
/// The first of the options that coordinate jobs, in the order of `CoordinationOption::ALL`.
const COORDINATION: usize = 10;

/// The most tags of a job: the core refuses more, and with them the whole call.
const MAX_TAGS: usize = 1000;

/// The members of a line. The command line has defaults for the missing ones.
#[derive(Debug, Default)]
pub(crate) struct JobLine<'t> {
    pub queue: Option<Cow<'t, [u8]>>,
    pub klass: Option<Cow<'t, [u8]>>,
    pub jid: Option<Cow<'t, [u8]>>,
    /// The text of the value, byte for byte, as in the following members.
    pub data: Option<&'t [u8]>,
    /// The offset of the data.
    pub data_at: usize,
    pub due: Option<DueTime>,
    pub priority: Option<&'t [u8]>,
    pub retries: Option<&'t [u8]>,
    pub tags: Option<&'t [u8]>,
    pub depends: Option<&'t [u8]>,
    pub coordination: Coordination<'t>,
    /// The throttles whose maxima the line sets.
    pub maxima: Vec<Throttled>,
    /// The offsets of the jid and of the dependencies.
    pub jid_at: usize,
    pub depends_at: usize,
}

/// When a job is to run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum DueTime {
    In(Duration),
    At(When),
}

/// Why a line is refused, and at which column.
#[derive(Debug, PartialEq)]
pub(crate) struct LineFault {
    pub column: usize,
    pub what: String,
    pub hint: Option<String>,
}

impl LineFault {
    /// Returns a fault at a byte offset of the line.
    pub(crate) fn at(line: &[u8], at: usize, what: impl Into<String>) -> LineFault {
        let what = what.into();
        LineFault {
            hint: None,
            column: syntax::fault(line, at, String::new()).column,
            what,
        }
    }
}

impl<'t> JobLine<'t> {
    /// Parses a line; its data may have up to `most` bytes.
    pub(crate) fn read(text: &'t [u8], most: usize) -> Result<JobLine<'t>, LineFault> {
        let mut line = JobLine::default();
        let mut seen = 0_u32;
        let mut unknown_member = None;
        let take = |member: Member<'t>| {
            let key = syntax::unescaped(member.key);
            // A `match` is faster than a search in `MEMBERS`, and every line is parsed twice.
            let at = match &*key {
                b"queue" => QUEUE,
                b"klass" => KLASS,
                b"data" => DATA,
                b"jid" => JID,
                b"delay" => DELAY,
                b"at" => AT,
                b"priority" => PRIORITY,
                b"tags" => TAGS,
                b"retries" => RETRIES,
                b"depends" => DEPENDS,
                key if let Some(option) = CoordinationOption::named(key) => {
                    COORDINATION + option as usize
                }
                _ => {
                    let what = format!("a job has no member `{}`", shown(&key));
                    unknown_member = Some(key.into_owned());
                    return Err((member.key_at, what));
                }
            };
            if seen & 1 << at != 0 {
                return Err((
                    member.key_at,
                    format!("`{}` stands here twice", MEMBERS[at]),
                ));
            }
            seen |= 1 << at;
            let wrong = |what: String| (member.at, format!("`{}` {what}", MEMBERS[at]));
            match at {
                QUEUE => line.queue = Some(name(&member).map_err(wrong)?),
                KLASS => line.klass = Some(name(&member).map_err(wrong)?),
                JID => {
                    line.jid = Some(jid(&member).map_err(wrong)?);
                    line.jid_at = member.at;
                }
                DATA => {
                    data(&member, most).map_err(wrong)?;
                    line.data = Some(member.value);
                    line.data_at = member.at;
                }
                DELAY | AT if line.due.is_some() => {
                    return Err((member.key_at, "`delay` and `at` exclude each other".into()));
                }
                DELAY => line.due = Some(DueTime::In(delay(&member).map_err(wrong)?)),
                AT => line.due = Some(DueTime::At(moment(&member).map_err(wrong)?)),
                PRIORITY => {
                    number(&member, value::integer).map_err(wrong)?;
                    line.priority = Some(member.value);
                }
                RETRIES => {
                    number(&member, value::count).map_err(wrong)?;
                    line.retries = Some(member.value);
                }
                TAGS => {
                    names(&member, "tags", name::refuse_new)?;
                    if texts(member.value).len() > MAX_TAGS {
                        return Err(wrong(format!("holds more than {MAX_TAGS} tags")));
                    }
                    line.tags = Some(member.value);
                }
                COORDINATION.. => {
                    let option = CoordinationOption::VARIANTS[at - COORDINATION];
                    let mut value = option_value(&member, option).map_err(wrong)?;
                    if option == CoordinationOption::Throttles {
                        let mut throttles = Throttled::list(&value).map_err(wrong)?;
                        if value.contains(&b'=') {
                            value = Cow::Owned(array(throttles.iter().map(|one| &one.id)));
                        }
                        throttles.retain(|throttle| throttle.maximum.is_some());
                        line.maxima = throttles;
                    }
                    line.coordination.set(option, value);
                }
                _ => {
                    names(&member, "depends", refuse_empty)?;
                    line.depends = Some(member.value);
                    line.depends_at = member.at;
                }
            }
            Ok(())
        };
        match syntax::members(text, take) {
            Ok(()) => Ok(line),
            Err(fault) => Err(LineFault {
                hint: unknown_member.as_deref().and_then(nearest),
                column: fault.column,
                what: fault.what,
            }),
        }
    }
}

/// Refuses a jid that no new job may have. The reason follows the name of the member.
pub(crate) fn refuse_jid(jid: &[u8]) -> Result<(), String> {
    name::refuse_new(jid)?;
    match name::reserved(jid) {
        Some(suffix) => Err(format!(
            "ends in `{suffix}`, which is reserved for the keys beside a job"
        )),
        None => Ok(()),
    }
}

/// Returns the texts of an array that was validated.
pub(crate) fn texts(array: &[u8]) -> Vec<Cow<'_, [u8]>> {
    let mut texts = Vec::new();
    // A validated array has no elements that could be refused.
    _ = syntax::elements(array, |_, text, _| {
        texts.push(inside(text));
        Ok(())
    });
    texts
}

/// Returns the text of a JSON string.
pub(crate) fn inside(string: &[u8]) -> Cow<'_, [u8]> {
    let inside = string.strip_prefix(b"\"").unwrap_or(string);
    syntax::unescaped(inside.strip_suffix(b"\"").unwrap_or(inside))
}

/// Returns the hint for an unknown member: the most similar member, or all members.
fn nearest(key: &[u8]) -> Option<String> {
    let key = shown(key).to_lowercase();
    match key.as_str() {
        "kind" => return Some("what `qless export` wrote is read by `qless import`".into()),
        // Flags of the command line, whose members have other names.
        "merge" => return Some("`\"dup\":\"merge\"` is what `--merge` does".into()),
        "unique" => return Some("`\"dup\":\"skip\"` is what `--unique` does".into()),
        _ => {}
    }
    let scored = MEMBERS.map(|name| (strsim::jaro_winkler(&key, name), name));
    let best = scored
        .into_iter()
        .max_by(|one, other| one.0.total_cmp(&other.0))?;
    Some(if best.0 > 0.7 {
        format!("did you mean `{}`?", best.1)
    } else {
        format!("a job has {}", MEMBERS.join(", "))
    })
}

/// Returns a text of the file for a message.
fn shown(text: &[u8]) -> String {
    cut(&Harmless(text).to_string(), 60)
}

fn text<'t>(member: &Member<'t>) -> Result<Cow<'t, [u8]>, String> {
    match member.shape {
        Shape::String => Ok(inside(member.value)),
        shape => Err(format!("expects a text, not {}", shape.words())),
    }
}

fn name<'t>(member: &Member<'t>) -> Result<Cow<'t, [u8]>, String> {
    let name = text(member)?;
    name::refuse_new(&name).map(|()| name)
}

fn jid<'t>(member: &Member<'t>) -> Result<Cow<'t, [u8]>, String> {
    let jid = text(member)?;
    refuse_jid(&jid).map(|()| jid)
}

/// Refuses data that is too long, and `false`, which the core does not take.
fn data(member: &Member, most: usize) -> Result<(), String> {
    if member.value.len() > most {
        let size = member.value.len();
        return Err(format!("is {size} bytes long, the maximum is {most}"));
    }
    match member.value {
        b"false" => Err("must not be the bare document `false`".into()),
        _ => Ok(()),
    }
}

/// Parses a number or a text as the command line does.
fn typed<T, E: Display>(member: &Member, read: impl Fn(&str) -> Result<T, E>) -> Result<T, String> {
    let text = match member.shape {
        Shape::String => inside(member.value),
        _ => Cow::Borrowed(member.value),
    };
    let read = match member.shape {
        Shape::String | Shape::Number => read(std::str::from_utf8(&text).unwrap_or_default()),
        _ => read(""),
    };
    read.map_err(|wants| format!("{wants}, not {}", value(member)))
}

fn value(member: &Member) -> String {
    match member.shape {
        Shape::String | Shape::Number | Shape::Bool => format!("`{}`", shown(member.value)),
        shape => shape.words().into(),
    }
}

fn delay(member: &Member) -> Result<Duration, String> {
    match member.shape {
        // Seconds, as in the core.
        Shape::Number => typed(member, |text| {
            duration::parse_or_seconds(text).map_err(Invalid::Expects)
        }),
        _ => typed(member, value::duration),
    }
}

fn moment(member: &Member) -> Result<When, String> {
    match member.shape {
        // Seconds since the epoch, as in the core.
        Shape::Number => typed(member, |text| {
            let seconds = text
                .parse()
                .ok()
                .filter(|seconds: &f64| seconds.abs() <= LATEST);
            let moment = seconds.and_then(Moment::from_seconds).map(When::At);
            moment.ok_or_else(|| "expects seconds since the epoch".to_owned())
        }),
        _ => typed(member, moment::when),
    }
}

/// The last second of the year 9999.
const LATEST: f64 = 253_402_300_799.0;

fn number<T, E: Display>(
    member: &Member,
    read: impl Fn(&str) -> Result<T, E>,
) -> Result<(), String> {
    match member.shape {
        Shape::Number => typed(member, read).map(drop),
        _ => Err(format!("expects a whole number, not {}", value(member))),
    }
}

/// Validates an array of texts.
fn names(
    member: &Member,
    what: &str,
    refuse: impl Fn(&[u8]) -> Result<(), String>,
) -> Result<(), Wrong> {
    let wants = |at, shape: Shape| {
        let wants = format!("`{what}` expects an array of texts, not {}", shape.words());
        Err((member.at + at, wants))
    };
    match member.shape {
        Shape::Array => syntax::elements(member.value, |at, text, shape| {
            if shape != Shape::String {
                let wants = format!("`{what}` expects texts, not {}", shape.words());
                return Err((member.at + at, wants));
            }
            let refused = refuse(&inside(text));
            refused.map_err(|why| (member.at + at, format!("a name in `{what}` {why}")))
        }),
        shape => wants(0, shape),
    }
}

/// Returns the value of an option that coordinates jobs, as the core takes it.
fn option_value<'t>(
    member: &Member<'t>,
    option: CoordinationOption,
) -> Result<Cow<'t, [u8]>, String> {
    let given: Cow<'t, [u8]> = match (option, member.shape) {
        (CoordinationOption::Throttles, Shape::Array) => Cow::Borrowed(member.value),
        (CoordinationOption::Hold, Shape::Bool) => {
            Cow::Borrowed(if member.value == b"true" { b"1" } else { b"0" })
        }
        (CoordinationOption::Hold, Shape::Number)
        | (CoordinationOption::Score | CoordinationOption::Ttl, Shape::Number) => {
            Cow::Borrowed(member.value)
        }
        (CoordinationOption::Throttles | CoordinationOption::Score, shape) => {
            let expected = match option {
                CoordinationOption::Throttles => "an array of texts",
                _ => "a number",
            };
            return Err(format!("expects {expected}, not {}", shape.words()));
        }
        _ => text(member)?,
    };
    let refused = |wrong: WrongValue| match wrong {
        WrongValue::Expects(what) => format!("expects {what}, not {}", value(member)),
        WrongValue::Because(why) => why,
    };
    let checked = match member.shape {
        Shape::String => option.typed(&given),
        _ => option.checked(&given),
    };
    let checked = checked.map_err(refused)?;
    Ok(match checked {
        Cow::Owned(checked) => Cow::Owned(checked),
        Cow::Borrowed(_) => given,
    })
}

fn refuse_empty(name: &[u8]) -> Result<(), String> {
    if name.is_empty() {
        Err("is empty".into())
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> String {
        let fault = JobLine::read(text.as_bytes(), 100).unwrap_err();
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
        let line = JobLine::read(text.as_bytes(), 100).unwrap();
        assert_eq!(line.queue.as_deref(), Some("m\u{e4}il".as_bytes()));
        assert_eq!(line.klass.as_deref(), Some(&b"K"[..]));
        assert_eq!(line.jid.as_deref(), Some(&b"a/b"[..]));
        assert_eq!(line.data, Some(&br#"{"n": 9007199254740993, "l": []}"#[..]));
        assert_eq!(line.tags, Some(&br#"["eu", "v\u0069p"]"#[..]));
        assert_eq!(texts(line.tags.unwrap()), [&b"eu"[..], b"vip"]);
        assert_eq!(line.depends, Some(&b"[]"[..]));
        assert!(texts(b"[]").is_empty());
        assert_eq!(line.priority, Some(&b"-3"[..]));
        assert_eq!(line.retries, Some(&b"0"[..]));
        assert_eq!(line.due, Some(DueTime::In(Duration::from_secs(600))));
        assert_eq!(&text.as_bytes()[line.data_at..][..4], b"{\"n\"");
        assert_eq!(&text.as_bytes()[line.jid_at..][..2], b"\"a");
    }

    #[test]
    fn times_are_texts_or_seconds() {
        let due = |text: &str| {
            let text = format!("{{\"at\":{text}}}");
            JobLine::read(text.as_bytes(), 0).map(|line| line.due)
        };
        let at = Moment::from_seconds(1000.5).map(When::At).map(DueTime::At);
        assert_eq!(due("1000.5").unwrap(), at);
        assert!(matches!(
            due("\"2026-11-21T06:00:00Z\""),
            Ok(Some(DueTime::At(_)))
        ));
        let delay = JobLine::read(b"{\"delay\":1.5}", 0).unwrap().due;
        assert_eq!(delay, Some(DueTime::In(Duration::from_millis(1500))));
        for text in ["1e300", "\"soon\"", "null", "[]"] {
            assert!(due(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_unknown_member_gets_the_nearest_as_hint() {
        assert_eq!(
            fault(r#"{"klass":"K","qeue":"q"}"#),
            "14: a job has no member `qeue` (did you mean `queue`?)"
        );
        assert_eq!(
            fault(r#"{"kind":"export"}"#),
            "2: a job has no member `kind` (what `qless export` wrote is read by `qless import`)"
        );
        assert_eq!(
            fault(r#"{"zzz":1}"#),
            "2: a job has no member `zzz` (a job has queue, klass, data, jid, delay, at, priority, \
             tags, retries, depends, throttles, lock, key, dup, until, ttl, score, rescore, hold, \
             backoff)"
        );
    }

    #[test]
    fn each_member_is_checked_for_its_type() {
        let many_tags = format!(r#"{{"tags":[{}"t"]}}"#, r#""t","#.repeat(MAX_TAGS));
        for (text, expected) in [
            ("", "1: it is empty, `{` was expected"),
            ("[]", "1: expected `{`, not `[`"),
            ("{} {}", "4: expected the end, not `{`"),
            ("{\"data\":1", "10: it ends where `,` or `}` was expected"),
            (
                r#"{"é":1,"queue":x}"#,
                "2: a job has no member `é` (a job has queue, klass, data, jid, delay, at, priority, tags, retries, depends, throttles, lock, key, dup, until, ttl, score, rescore, hold, backoff)",
            ),
            (r#"{"queue":1}"#, "10: `queue` expects a text, not a number"),
            (r#"{"queue":null}"#, "10: `queue` expects a text, not null"),
            (r#"{"queue":""}"#, "10: `queue` is empty"),
            (
                r#"{"klass":"a\nb"}"#,
                "10: `klass` holds a control character, U+000A",
            ),
            (
                r#"{"jid":"a-history"}"#,
                "8: `jid` ends in `-history`, which is reserved for the keys beside a job",
            ),
            (r#"{"jid":"a","jid":"b"}"#, "12: `jid` stands here twice"),
            (
                r#"{"data":false}"#,
                "9: `data` must not be the bare document `false`",
            ),
            (r#"{"data":[1,NaN]}"#, "12: `NaN` is not a JSON number"),
            (
                r#"{"delay":-1}"#,
                "10: `delay` expects a duration such as `90s`, `15m` or `2h`, not `-1`",
            ),
            (
                r#"{"delay":{}}"#,
                "10: `delay` expects a duration such as `90s`, `15m` or `2h`, not an object",
            ),
            (
                r#"{"delay":1,"at":1}"#,
                "12: `delay` and `at` exclude each other",
            ),
            (
                r#"{"priority":1.5}"#,
                "13: `priority` expects a whole number between -9007199254740992 and 9007199254740992, not `1.5`",
            ),
            (
                r#"{"priority":"1"}"#,
                "13: `priority` expects a whole number, not `\"1\"`",
            ),
            (
                r#"{"retries":-1}"#,
                "12: `retries` expects a whole number between 0 and 9007199254740992, not `-1`",
            ),
            (
                r#"{"tags":"eu"}"#,
                "9: `tags` expects an array of texts, not a text",
            ),
            (
                r#"{"tags":["eu", 1]}"#,
                "16: `tags` expects texts, not a number",
            ),
            (r#"{"tags":["eu",""]}"#, "15: a name in `tags` is empty"),
            (&many_tags, "9: `tags` holds more than 1000 tags"),
            (r#"{"depends":[""]}"#, "13: a name in `depends` is empty"),
        ] {
            assert_eq!(fault(text), expected);
        }
        let long = format!(r#"{{"data":"{}"}}"#, "a".repeat(99));
        assert_eq!(
            fault(&long),
            "9: `data` is 101 bytes long, the maximum is 100"
        );
    }
}
