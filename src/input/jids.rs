//! The jids that a command is given: on the command line, from stdin, or from a file.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use super::source::InputSource;
use crate::error::Error;
use crate::name::Name;

/// The jids given, each once, in order.
#[derive(Debug, PartialEq)]
pub(crate) enum JidArgs {
    /// Exactly one jid, on the command line.
    One(Name),
    /// Several jids, or a list.
    Many(Vec<Name>),
}

impl JidArgs {
    pub(crate) fn jids(&self) -> &[Name] {
        match self {
            JidArgs::One(jid) => std::slice::from_ref(jid),
            JidArgs::Many(jids) => jids,
        }
    }

    pub(crate) fn into_jids(self) -> Vec<Name> {
        match self {
            JidArgs::One(jid) => vec![jid],
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

/// Removes duplicates.
fn once(mut jids: Vec<Name>, listed: bool) -> JidArgs {
    let mut seen = HashSet::with_capacity(jids.len());
    jids.retain(|jid| seen.insert(jid.clone()));
    match jids.len() {
        1 if !listed => JidArgs::One(jids.swap_remove(0)),
        _ => JidArgs::Many(jids),
    }
}

/// A line of any ndjson that qless writes; the last line of a bulk verb has no jid.
#[derive(Deserialize)]
struct Line {
    jid: Option<String>,
    jid_bytes: Option<String>,
    #[serde(default)]
    summary: Option<serde::de::IgnoredAny>,
}

/// Maximum length of a line that is a plain jid, in bytes.
const LONGEST: usize = 64 << 10;

/// Returns the jid of a line, if it has one.
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
    fn only_a_single_jid_on_the_command_line_is_one() {
        let once =
            |jids: &[&str], listed| once(jids.iter().map(|&jid| jid.into()).collect(), listed);
        assert_eq!(once(&["a"], false), JidArgs::One("a".into()));
        assert_eq!(once(&["a", "a"], false), JidArgs::One("a".into()));
        assert_eq!(once(&["a"], true), JidArgs::Many(vec!["a".into()]));
        let many = JidArgs::Many(vec!["b".into(), "a".into()]);
        assert_eq!(once(&["b", "a", "b"], false), many);
    }

    #[test]
    fn a_line_is_a_jid_or_an_object_with_one() {
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
        let expected = Err("this is too long for a job id".to_owned());
        assert_eq!(read_line(long.as_bytes()), expected);
        assert_eq!(read_line(b"{"), Err("this is not JSON".to_owned()));
    }
}
