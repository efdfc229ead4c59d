//! The lines in which a program answers: how a job ends, or how far it got.
//!
//! ```json
//! {"jid":"9f31c0","result":"complete","data":{},"next":"ship","delay":"10m","depends":["5510a4"]}
//! {"jid":"9f31c0","result":"retry","delay":30,"group":"smtp","message":"greylisted"}
//! {"jid":"9f31c0","result":"fail","group":"address","message":"no such user","data":{}}
//! {"jid":"9f31c0","progress":"page 3 of 9"}
//! ```

use std::time::Duration;

use serde_json::value::RawValue;

use crate::clock::duration;
use crate::json::object::{
    FieldConvention, ParsedObject, describe_found_value, sanitize_and_cut_for_message, string_text,
};
use crate::json::syntax::{JsonType, SyntaxFault};
use crate::model::ending::{EndingAction, FailureReason, NextQueue};
use crate::name::{Name, refuse_as_new_name, reserved_jid_suffix};
use crate::text::{Sanitized, cut_with_ellipsis, format_count, sanitize_keeping_lines};

/// A line that a program wrote as an answer about a job.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The job that the line names. `None` only if the line is not an answer.
    pub jid: Option<Name>,
    /// What the line says about the job, or why the line is not an answer, as the end of a sentence: `has no "result"`.
    pub content: Result<EndingOrProgress, String>,
    /// Why parts of the answer are ignored, a sentence for each. The other parts are valid.
    pub ignored: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum EndingOrProgress {
    /// How the job ends. A retry with only a message has no group yet: [`EndingAction::set_missing_retry_group`] sets it.
    Ending(EndingAction),
    /// A text for the history of the job.
    Progress(Name),
}

/// The fields that each kind of answer may have, besides `jid`.
const COMPLETE: &[&str] = &["result", "data", "next", "delay", "depends"];
const RETRY: &[&str] = &["result", "delay", "group", "message"];
const FAIL: &[&str] = &["result", "group", "message", "data"];
const PROGRESS: &[&str] = &["progress"];

/// Maximum number of ignored fields of one answer that are reported.
const MAX_IGNORED: usize = 5;

/// Maximum number of bytes of a line without a job that the reason shows.
const MAX_SHOWN: usize = 200;

impl Answer {
    /// Parses a line, or only its start unless `is_whole`. A retry without a delay gets `retry_delay`. A field that is
    /// `null` counts as missing, even `data`: otherwise a program that writes unused fields as `null` would delete the
    /// data of its jobs.
    pub fn parse_line(line: &[u8], is_whole: bool, retry_delay: Duration) -> Answer {
        let mut ignored = Vec::new();
        let reason = match read_jid_and_content(line, retry_delay, &mut ignored) {
            Ok((jid, content)) => {
                return Answer {
                    jid: Some(jid),
                    content: Ok(content),
                    ignored,
                };
            }
            Err(reason) => reason,
        };
        let jid = jid_and_has_result(line).0;
        let content = Err(if !is_whole {
            let length = format_count(line.len() as u64, "byte", "bytes");
            format!("it is longer than {length}")
        } else if jid.is_some() {
            reason
        } else {
            let start = sanitize_keeping_lines(&line[..line.len().min(MAX_SHOWN)]);
            format!("{reason}: {}", start.trim_end())
        });
        Answer {
            jid,
            content,
            ignored: Vec::new(),
        }
    }
}

fn read_jid_and_content(
    line: &[u8],
    retry_delay: Duration,
    ignored: &mut Vec<String>,
) -> Result<(Name, EndingOrProgress), String> {
    let fields =
        ParsedObject::parse(line, FieldConvention::Document).map_err(describe_line_fault)?;
    let jid: Name = fields
        .read_required_field("jid")
        .map_err(describe_field_fault)?;
    if jid.is_empty() {
        return Err("`jid` is empty".into());
    }
    Ok((jid, read_answer_content(&fields, retry_delay, ignored)?))
}

/// Reads the content of an answer. Refuses the answer only if its result is unclear. A wrong field that the result does
/// not depend on is ignored: it must not make a job that is done run again or fail.
fn read_answer_content(
    fields: &ParsedObject,
    retry_delay: Duration,
    ignored: &mut Vec<String>,
) -> Result<EndingOrProgress, String> {
    let Some(result) = fields
        .read_field::<Name>("result")
        .map_err(describe_field_fault)?
    else {
        let progress = fields
            .read_field("progress")
            .map_err(describe_field_fault)?;
        let text = progress.ok_or("there is neither `result` nor `progress` in it")?;
        note_ignored_fields(fields, "progress", PROGRESS, ignored);
        return Ok(EndingOrProgress::Progress(text));
    };
    Ok(EndingOrProgress::Ending(match result.as_bytes() {
        b"complete" => {
            note_ignored_fields(fields, "complete", COMPLETE, ignored);
            EndingAction::Complete {
                data: read_data(fields),
                next: read_next_queue(fields, ignored)?,
            }
        }
        b"retry" => {
            note_ignored_fields(fields, "retry", RETRY, ignored);
            // Refuse a wrong delay instead of ignoring it: without a delay, the job may run again immediately and use
            // up its retries.
            let delay = read_delay(fields)?;
            let group = value_or_ignored(read_name_for_new_item(fields, "group"), ignored);
            let message = value_or_ignored(
                fields.read_field("message").map_err(describe_field_fault),
                ignored,
            );
            EndingAction::Retry {
                delay: delay.unwrap_or(retry_delay),
                why: (group.is_some() || message.is_some()).then(|| FailureReason {
                    group: group.unwrap_or_default(),
                    message: message.unwrap_or_default(),
                }),
            }
        }
        b"fail" => {
            note_ignored_fields(fields, "fail", FAIL, ignored);
            EndingAction::Fail {
                why: FailureReason {
                    group: read_name_for_new_item(fields, "group")?
                        .ok_or("there is no `group` in it")?,
                    message: fields
                        .read_required_field("message")
                        .map_err(describe_field_fault)?,
                },
                data: read_data(fields),
            }
        }
        other => {
            let other = cut_with_ellipsis(&Sanitized(other).to_string(), 60);
            return Err(format!(
                "`result` expects complete, retry or fail, not `{other}`"
            ));
        }
    }))
}

/// Adds to `ignored` the fields that this kind of answer does not have.
fn note_ignored_fields(
    fields: &ParsedObject,
    kind: &str,
    known: &[&str],
    ignored: &mut Vec<String>,
) {
    for (key, value) in fields.fields() {
        let plain = key.strip_suffix("_bytes").unwrap_or(key);
        let is_known = plain == "jid" || known.contains(&key) || known.contains(&plain);
        if !is_known && value.get() != "null" && ignored.len() < MAX_IGNORED {
            let key = sanitize_and_cut_for_message(key);
            ignored.push(format!("`{key}` is not allowed in a `{kind}` answer"));
        }
    }
}

/// A field that the result does not depend on. If its value is wrong, the field counts as missing.
fn value_or_ignored<T>(read: Result<Option<T>, String>, ignored: &mut Vec<String>) -> Option<T> {
    read.unwrap_or_else(|why| {
        ignored.push(why);
        None
    })
}

/// The data as it is written.
fn read_data(fields: &ParsedObject) -> Option<Vec<u8>> {
    let data = field_unless_null(fields, "data")?;
    Some(data.get().as_bytes().to_vec())
}

/// A field that is not `null`, as it is written.
fn field_unless_null<'t>(fields: &ParsedObject<'t>, name: &str) -> Option<&'t RawValue> {
    let mut fields = fields.fields();
    let (_, value) = fields.find(|(key, _)| *key == name)?;
    (value.get() != "null").then_some(value)
}

fn read_depends(fields: &ParsedObject) -> Result<Vec<Name>, SyntaxFault> {
    fields.read_field("depends").map(Option::unwrap_or_default)
}

fn read_next_queue(
    fields: &ParsedObject,
    ignored: &mut Vec<String>,
) -> Result<Option<NextQueue>, String> {
    let Some(queue) = read_name_for_new_item(fields, "next")? else {
        let has_delay = field_unless_null(fields, "delay").is_some();
        let has_depends = read_depends(fields).map_or(true, |jids| !jids.is_empty());
        for (name, is_given) in [("delay", has_delay), ("depends", has_depends)] {
            if is_given {
                ignored.push(format!("`{name}` expects `next` beside it"));
            }
        }
        return Ok(None);
    };
    // Refuse a wrong delay or dependency instead of ignoring it: without it, the job might run too early.
    let delay = read_delay(fields)?;
    let depends = read_depends(fields).map_err(describe_field_fault)?;
    for jid in &depends {
        refuse_as_new_name(jid.as_bytes()).map_err(|why| format!("a jid of `depends` {why}"))?;
        if let Some(suffix) = reserved_jid_suffix(jid.as_bytes()) {
            return Err(format!(
                "a jid of `depends` ends in `{suffix}`, which is reserved"
            ));
        }
        if fields.read_field("jid").ok().flatten().as_ref() == Some(jid) {
            return Err("`depends` names the job itself".into());
        }
    }
    Ok(Some(NextQueue {
        queue,
        delay: delay.unwrap_or_default(),
        depends,
        ..NextQueue::default()
    }))
}

/// A name from an answer that the core accepts for a new queue or group.
fn read_name_for_new_item(fields: &ParsedObject, key: &str) -> Result<Option<Name>, String> {
    let name: Option<Name> = fields.read_field(key).map_err(describe_field_fault)?;
    if let Some(name) = &name {
        refuse_as_new_name(name.as_bytes()).map_err(|why| format!("`{key}` {why}"))?;
    }
    Ok(name)
}

/// The delay in an answer: a number of seconds, or a text such as `10m`.
fn read_delay(fields: &ParsedObject) -> Result<Option<Duration>, String> {
    let Some(value) = field_unless_null(fields, "delay") else {
        return Ok(None);
    };
    let read = match JsonType::from_text(value.get().as_bytes()) {
        JsonType::String => duration::parse_duration(&string_text(value)),
        JsonType::Number => duration::parse_duration_or_seconds(value.get()),
        _ => Err("seconds or a text".to_owned()),
    };
    let wrong = |expects| {
        format!(
            "`delay` expects {expects}, not {}",
            describe_found_value(value)
        )
    };
    read.map(Some).map_err(wrong)
}

/// The job about whose end a line of output says something, if it is an answer. The beginning of the line suffices,
/// since a long line comes in parts.
pub fn jid_if_result(line: &[u8]) -> Option<Name> {
    // Most output is not JSON: parse only what may be an object.
    let is_object = line.trim_ascii_start().first() == Some(&b'{');
    let (jid, has_result) = is_object.then(|| jid_and_has_result(line))?;
    jid.filter(|_| has_result)
}

/// The job that a line names, even if the rest of the line is not an answer, and whether the line says how the job ends.
fn jid_and_has_result(line: &[u8]) -> (Option<Name>, bool) {
    let fields = ParsedObject::parse_before_fault(line, FieldConvention::Document);
    let jid = fields.read_field("jid").ok().flatten();
    let result = field_unless_null(&fields, "result").map(RawValue::get);
    let has_result = matches!(result, Some(r#""complete""# | r#""retry""# | r#""fail""#));
    (jid.filter(|jid: &Name| !jid.is_empty()), has_result)
}

fn describe_field_fault(fault: SyntaxFault) -> String {
    fault.what
}

/// Describes a fault in an answer by its column only, since an answer is one line.
fn describe_line_fault(fault: SyntaxFault) -> String {
    format!("column {}: {}", fault.column, fault.what)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    const RETRY_DELAY: Duration = Duration::from_secs(7);

    fn read(line: &[u8]) -> Answer {
        Answer::parse_line(line, true, RETRY_DELAY)
    }

    fn ending(line: &str) -> EndingAction {
        let answer = read(line.as_bytes());
        assert_eq!(answer.jid, Some(Name::from("a")));
        match answer.content {
            Ok(EndingOrProgress::Ending(action)) => action,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn each_kind_of_answer_is_read() {
        assert_eq!(
            ending(r#"{"jid":"a","result":"complete"}"#),
            EndingAction::Complete {
                data: None,
                next: None
            }
        );
        assert_eq!(
            ending(concat!(
                r#" { "jid" : "a", "data": {"b":9007199254740993, "a":[ ]} ,"result":"complete","#,
                r#""next":"ship","delay":"1m","depends":["x","y"]}"#
            )),
            EndingAction::Complete {
                data: Some(br#"{"b":9007199254740993, "a":[ ]}"#.to_vec()),
                next: Some(NextQueue {
                    queue: Name::from("ship"),
                    delay: Duration::from_secs(60),
                    depends: vec![Name::from("x"), Name::from("y")],
                    ..NextQueue::default()
                }),
            }
        );
        assert_eq!(
            ending(r#"{"jid":"a","result":"retry","delay":1.5,"group":"g","message":null}"#),
            EndingAction::Retry {
                delay: Duration::from_millis(1500),
                why: Some(FailureReason {
                    group: Name::from("g"),
                    message: Name::default()
                }),
            }
        );
        assert_eq!(
            ending(r#"{"jid":"a","result":"retry","next":null}"#),
            EndingAction::Retry {
                delay: RETRY_DELAY,
                why: None
            }
        );
        assert_eq!(
            ending(r#"{"jid":"a","result":"fail","group":"g","message":"caf\u00e9","data":null}"#),
            EndingAction::Fail {
                why: FailureReason {
                    group: Name::from("g"),
                    message: Name::from("café")
                },
                data: None,
            }
        );
        assert_eq!(
            read(br#"{"jid":"a","progress":"3 of 9"}"#).content,
            Ok(EndingOrProgress::Progress(Name::from("3 of 9")))
        );
    }

    #[test]
    fn a_job_that_is_not_utf8_is_named_by_its_bytes() {
        let line = br#"{"jid":"\\xff","jid_bytes":"/w==","result":"complete"}"#;
        let answer = read(line);
        assert!(answer.content.is_ok());
        assert_eq!(answer.jid, Some(Name::from(&b"\xff"[..])));
        let line = b"{\"jid\":\"\xff\",\"result\":\"complete\"}";
        assert_eq!(
            read(line).content.unwrap_err(),
            r#"column 9: byte 0xff is not UTF-8: {"jid":"\xff","result":"complete"}"#
        );
    }

    #[test]
    fn what_does_not_apply_is_ignored_if_the_result_is_known() {
        let lines = [
            r#"{"jid":"a","result":"complete","group":"g","dta":1,"delay":5,"depends":["b"]}"#,
            r#"{"jid":"a","result":"complete","depends":[],"delay":null}"#,
            r#"{"jid":"a","result":"complete","progress":1}"#,
            r#"{"jid":"a","result":"retry","data":{},"group":"","message":"m"}"#,
            r#"{"jid":"a","result":"fail","group":"g","message":"m","next":"q"}"#,
            r#"{"jid":"a","progress":"1","dta":1}"#,
        ];
        let mut shown = String::new();
        for line in lines {
            let answer = read(line.as_bytes());
            shown += &format!("{:?}\n", answer.content.unwrap());
            let ignored = answer.ignored.into_iter();
            shown.extend(ignored.map(|reason| format!("  {reason}\n")));
        }
        expect![[r#"
            Ending(Complete { data: None, next: None })
              `group` is not allowed in a `complete` answer
              `dta` is not allowed in a `complete` answer
              `delay` expects `next` beside it
              `depends` expects `next` beside it
            Ending(Complete { data: None, next: None })
            Ending(Complete { data: None, next: None })
              `progress` is not allowed in a `complete` answer
            Ending(Retry { delay: 7s, why: Some(FailureReason { group: Name([]), message: Name([109]) }) })
              `data` is not allowed in a `retry` answer
              `group` is empty
            Ending(Fail { why: FailureReason { group: Name([103]), message: Name([109]) }, data: None })
              `next` is not allowed in a `fail` answer
            Progress(Name([49]))
              `dta` is not allowed in a `progress` answer
        "#]].assert_eq(&shown);
    }

    #[test]
    fn output_is_an_answer_if_it_has_a_job_and_a_result() {
        let job = |line: &str| jid_if_result(line.as_bytes()).map(|jid| jid.to_string());
        let start = r#" {"jid":"a","result":"complete","data":{"x":"#;
        assert_eq!(job(start).as_deref(), Some("a"));
        for line in [
            "",
            "a",
            "{",
            r#"{"result":"fail"}"#,
            r#"{"jid":"a","result":"ok"}"#,
        ] {
            assert_eq!(job(line), None, "{line}");
        }
    }

    #[test]
    fn a_line_that_is_not_an_answer_names_its_job_if_it_can() {
        let long = format!(
            r#"{{"jid":"a","result":"complete","next":"{}"}}"#,
            "q".repeat(513)
        );
        let lines = [
            "done",
            "[1]",
            "{}",
            r#"{"jid":7,"result":"complete"}"#,
            r#"{"jid":"","result":"complete"}"#,
            r#"{"jid":"a"}"#,
            r#"{"jid":"a","result":"complete""#,
            r#"{"jid":"a","result":"complete","data":NaN}"#,
            r#"{"jid":"a","result":"complete"} x"#,
            r#"{"jid":"a","result":"done"}"#,
            r#"{"jid":"a","result":true}"#,
            r#"{"jid":"a","result":"complete","result":"fail"}"#,
            r#"{"jid":"a","result":"complete","next":""}"#,
            r#"{"jid":"a","result":"complete","next":"a\nb"}"#,
            &long,
            r#"{"jid":"a","result":"complete","next":"q","depends":"b"}"#,
            r#"{"jid":"a","result":"complete","next":"q","depends":["b-history"]}"#,
            r#"{"jid":"a","result":"complete","next":"q","depends":["b","a"]}"#,
            r#"{"jid":"a","result":"complete","next":"q","delay":-1}"#,
            r#"{"jid":"a","result":"complete","next":"q","delay":"soon"}"#,
            r#"{"jid":"a","result":"complete","next":"q","delay":[1]}"#,
            r#"{"jid":"a","result":"retry","delay":-5}"#,
            r#"{"jid":"a","result":"retry","delay":"1e9999d"}"#,
            r#"{"jid":"a","result":"fail","message":"m"}"#,
            r#"{"jid":"a","result":"fail","group":"g"}"#,
        ];
        let mut shown = String::new();
        for line in lines {
            let answer = read(line.as_bytes());
            let reason = answer.content.unwrap_err();
            let jid = answer.jid.map_or("-".to_owned(), |jid| jid.to_string());
            shown += &format!("{jid} {}\n  {reason}\n", cut_with_ellipsis(line, 60));
        }
        expect![[r#"
            - done
              column 1: expected an object, not `done`: done
            - [1]
              column 1: expected an object, not `[`: [1]
            - {}
              there is no `jid` in it: {}
            - {"jid":7,"result":"complete"}
              `jid` expects a text, not `7`: {"jid":7,"result":"complete"}
            - {"jid":"","result":"complete"}
              `jid` is empty: {"jid":"","result":"complete"}
            a {"jid":"a"}
              there is neither `result` nor `progress` in it
            a {"jid":"a","result":"complete"
              column 31: EOF while parsing an object
            a {"jid":"a","result":"complete","data":NaN}
              column 39: expected value at `NaN`
            a {"jid":"a","result":"complete"} x
              column 33: trailing characters at `x`
            a {"jid":"a","result":"done"}
              `result` expects complete, retry or fail, not `done`
            a {"jid":"a","result":true}
              `result` expects a text, not `true`
            a {"jid":"a","result":"complete","result":"fail"}
              column 32: `result` stands here twice
            a {"jid":"a","result":"complete","next":""}
              `next` is empty
            a {"jid":"a","result":"complete","next":"a\nb"}
              `next` holds a control character, U+000A
            a {"jid":"a","result":"complete","next":"qqqqqqqqqqqqqqqqqqqq…
              `next` is 513 bytes long, the maximum is 512
            a {"jid":"a","result":"complete","next":"q","depends":"b"}
              `depends` expects a list, not `"b"`
            a {"jid":"a","result":"complete","next":"q","depends":["b-his…
              a jid of `depends` ends in `-history`, which is reserved
            a {"jid":"a","result":"complete","next":"q","depends":["b","a…
              `depends` names the job itself
            a {"jid":"a","result":"complete","next":"q","delay":-1}
              `delay` expects a duration such as `90s`, `15m` or `2h`, not `-1`
            a {"jid":"a","result":"complete","next":"q","delay":"soon"}
              `delay` expects a duration such as `90s`, `15m` or `2h`, not `"soon"`
            a {"jid":"a","result":"complete","next":"q","delay":[1]}
              `delay` expects seconds or a text, not an array
            a {"jid":"a","result":"retry","delay":-5}
              `delay` expects a duration such as `90s`, `15m` or `2h`, not `-5`
            a {"jid":"a","result":"retry","delay":"1e9999d"}
              `delay` expects a duration such as `90s`, `15m` or `2h`, not `"1e9999d"`
            a {"jid":"a","result":"fail","message":"m"}
              there is no `group` in it
            a {"jid":"a","result":"fail","group":"g"}
              there is no `message` in it
        "#]]
        .assert_eq(&shown);
    }
}
