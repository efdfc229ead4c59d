//! The jobs a command is told: on the command line, from standard input, or from a file.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use super::source::InputSource;
use crate::error::Error;
use crate::name::Name;

/// The jobs told, each once, in the order they were told.
#[derive(Debug, PartialEq)]
pub(crate) enum JidArgs {
    /// One jid stands on the command line and nothing else does.
    One(Name),
    /// Several, or those of a list.
    Many(Vec<Name>),
}

impl JidArgs {
    pub(crate) fn jids(&self) -> &[Name] {
        match self {
            JidArgs::One(jid) => std::slice::from_ref(jid),
            JidArgs::Many(jids) => jids,
        }
    }
}

/// Reads `JID…`, `-` and `@FILE`.
pub(crate) fn read(source: &mut InputSource, given: &[Name]) -> Result<JidArgs, Error> {
    let mut jids = Vec::new();
    let mut listed = false;
    for name in given {
        let take = |line: &[u8]| read_line(line).map(|jid| jids.extend(jid));
        match source.lines(OsStr::from_bytes(name.as_bytes()), "job ids", take)? {
            true => listed = true,
            false => jids.push(name.clone()),
        }
    }
    Ok(once(jids, listed))
}

/// Drops repeats.
fn once(mut jids: Vec<Name>, listed: bool) -> JidArgs {
    let mut seen = HashSet::with_capacity(jids.len());
    jids.retain(|jid| seen.insert(jid.clone()));
    match jids.len() {
        1 if !listed => JidArgs::One(jids.swap_remove(0)),
        _ => JidArgs::Many(jids),
    }
}

/// A line of any ndjson of ours; the last one of a bulk verb holds no job.
#[derive(Deserialize)]
struct Line {
    jid: Option<String>,
    jid_bytes: Option<String>,
    #[serde(default)]
    summary: Option<serde::de::IgnoredAny>,
}

/// Longer than any jid that works: such a line is something else.
const LONGEST: usize = 64 << 10;

/// Reads the jid that a line names, if it names one.
pub(crate) fn read_line(line: &[u8]) -> Result<Option<Name>, String> {
    let line = line.trim_ascii();
    match line.first() {
        None | Some(b'#') => return Ok(None),
        Some(b'{') => {}
        Some(_) if line.len() > LONGEST => return Err("this is too long for a job id".to_owned()),
        Some(_) => return Ok(Some(Name::from(line))),
    }
    let line: Line = serde_json::from_slice(line).map_err(|error| match error.is_data() {
        true => "its `jid` is not a text".to_owned(),
        false => "this is not JSON".to_owned(),
    })?;
    match line {
        Line {
            jid_bytes: Some(bytes),
            ..
        } => match STANDARD.decode(bytes) {
            Ok(jid) => Ok(Some(Name::from(jid))),
            Err(_) => Err("`jid_bytes` is not base64".to_owned()),
        },
        Line { jid: Some(jid), .. } => Ok(Some(Name::from(jid))),
        Line {
            summary: Some(_), ..
        } => Ok(None),
        _ => Err("there is no `jid` in it".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_jid_on_the_command_line_is_one() {
        let once =
            |jids: &[&str], listed| once(jids.iter().map(|&jid| jid.into()).collect(), listed);
        assert_eq!(once(&["a"], false), JidArgs::One("a".into()));
        assert_eq!(once(&["a", "a"], false), JidArgs::One("a".into()));
        assert_eq!(once(&["a"], true), JidArgs::Many(vec!["a".into()]));
        let many = JidArgs::Many(vec!["b".into(), "a".into()]);
        assert_eq!(once(&["b", "a", "b"], false), many);
    }

    #[test]
    fn lines_are_jids_or_objects_with_one() {
        assert_eq!(read_line(b" a b \r"), Ok(Some("a b".into())));
        assert_eq!(read_line(b"# a"), Ok(None));
        assert_eq!(read_line(b"  "), Ok(None));
        assert_eq!(
            read_line(br#"{"kind":"job","jid":"a"}"#),
            Ok(Some("a".into()))
        );
        assert_eq!(
            read_line(br#"{"jid":"a\\xff","jid_bytes":"Yf8="}"#),
            Ok(Some(Name::from(&b"a\xff"[..])))
        );
        assert_eq!(read_line(br#"{"summary":{"done":3}}"#), Ok(None));
        assert_eq!(read_line(b"{}"), Err("there is no `jid` in it".to_owned()));
        let long = "a".repeat(LONGEST + 1);
        let told = Err("this is too long for a job id".to_owned());
        assert_eq!(read_line(long.as_bytes()), told);
        assert_eq!(read_line(b"{"), Err("this is not JSON".to_owned()));
    }
}
