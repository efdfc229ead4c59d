//! Reads the data of a job from an argument, a file or stdin, or builds it from `--arg` pairs. Checks that the data is
//! JSON before a call is sent.

use std::ffi::OsString;

use super::source::{ByteLimit, CommandInputs, too_long_error};
use crate::args::input_arg::ValueFileOrStdinArg;
use crate::error::Error;
use crate::json::quote::quote_string;
use crate::json::syntax;
use crate::json::syntax::JsonType;

/// Reads the data of a job from an argument, from a file (`@FILE`) or from stdin (`-`). Refuses data that is not JSON.
/// The bytes stay as they are.
pub(crate) fn read_json_data(
    source: &mut CommandInputs,
    given: &ValueFileOrStdinArg,
    limit: impl Into<ByteLimit>,
) -> Result<(Vec<u8>, JsonType), Error> {
    let text = source.read_input(given, "data", limit)?;
    match syntax::check_syntax(&text.bytes) {
        Ok(shape) => Ok((text.bytes, shape)),
        Err(fault) => Err(Error::usage(format!("{} is not JSON: {fault}", text.what))
            .hint("quote it for the shell, or build it from pairs: `--arg user:=42`")),
    }
}

/// The refusal of data that [`is_bare_false`].
pub(super) const BARE_FALSE: &str = "must not be the bare document `false`";

/// Whether the data of a job is a bare `false`, which the core refuses.
pub(crate) fn is_bare_false(data: &[u8]) -> bool {
    data.trim_ascii() == b"false"
}

/// Refuses data that is longer than `max_bytes`.
pub(crate) fn refuse_too_long(data: Vec<u8>, max_bytes: usize) -> Result<Vec<u8>, Error> {
    if data.len() > max_bytes {
        return Err(too_long_error(
            "data",
            Some(data.len() as u64),
            max_bytes.into(),
        ));
    }
    Ok(data)
}

/// Builds a JSON object from the pairs of `--arg`: `key=text` or `key:=json`. A dot in a key nests objects: `a.b=c`
/// gives `{"a":{"b":"c"}}`.
pub(crate) fn build_object(pairs: &[OsString]) -> Result<Vec<u8>, Error> {
    let mut root = Vec::new();
    for pair in pairs {
        let wrong = |why: &str| {
            let shown = pair.to_string_lossy();
            Error::usage(format!(
                "`--arg` expects `key=text` or `key:=json`, not `{}`: {why}",
                shown
            ))
        };
        let text = pair.to_str().ok_or_else(|| wrong("it is not UTF-8"))?;
        let (key, value) = text
            .split_once('=')
            .ok_or_else(|| wrong("there is no `=`"))?;
        let (path, value) = match key.strip_suffix(':') {
            None => (key, quote_string(value.as_bytes())),
            Some(path) => match syntax::check_syntax(value.as_bytes()) {
                Ok(_) => (path, value.as_bytes().to_vec()),
                Err(fault) => return Err(wrong(&format!("no JSON after `:=`, {fault}"))),
            },
        };
        if path.split('.').count() > syntax::DEEPEST {
            return Err(wrong(&format!("nested deeper than {}", syntax::DEEPEST)));
        }
        insert_at_path(&mut root, path.split('.'), value).map_err(|why| wrong(&why))?;
    }
    let mut data = Vec::new();
    write_object(&root, &mut data);
    match syntax::check_syntax(&data) {
        Ok(_) => Ok(data),
        Err(fault) => Err(Error::usage(format!("`--arg` builds no JSON: {fault}"))),
    }
}

enum ArgValueOrObject {
    Value(Vec<u8>),
    Object(Vec<(String, ArgValueOrObject)>),
}

fn insert_at_path<'k>(
    object: &mut Vec<(String, ArgValueOrObject)>,
    mut path: impl Iterator<Item = &'k str>,
    value: Vec<u8>,
) -> Result<(), String> {
    let mut object = object;
    let mut key = path.next().unwrap_or_default();
    loop {
        if key.is_empty() {
            return Err("a key is empty".to_owned());
        }
        let place = object.iter().position(|(known, _)| known == key);
        match (path.next(), place) {
            (None, Some(_)) => return Err(format!("`{}` is given twice", key)),
            (None, None) => {
                object.push((key.to_owned(), ArgValueOrObject::Value(value)));
                return Ok(());
            }
            (Some(below), place) => {
                let place = place.unwrap_or_else(|| {
                    object.push((key.to_owned(), ArgValueOrObject::Object(Vec::new())));
                    object.len() - 1
                });
                object = match &mut object[place].1 {
                    ArgValueOrObject::Object(inner) => inner,
                    ArgValueOrObject::Value(_) => {
                        return Err(format!("`{}` is a value already", key));
                    }
                };
                key = below;
            }
        }
    }
}

fn write_object(object: &[(String, ArgValueOrObject)], into: &mut Vec<u8>) {
    into.push(b'{');
    for (at, (key, node)) in object.iter().enumerate() {
        if at > 0 {
            into.push(b',');
        }
        into.extend(quote_string(key.as_bytes()));
        into.push(b':');
        match node {
            ArgValueOrObject::Value(value) => into.extend(value),
            ArgValueOrObject::Object(inner) => write_object(inner, into),
        }
    }
    into.push(b'}');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(pairs: &[&str]) -> Result<String, String> {
        let pairs: Vec<OsString> = pairs.iter().map(OsString::from).collect();
        match build_object(&pairs) {
            Ok(data) => Ok(String::from_utf8(data).unwrap()),
            Err(error) => Err(error.message().into_owned()),
        }
    }

    #[test]
    fn pairs_become_an_object_in_their_order() {
        assert_eq!(
            built(&["user:=9007199254740993", "locale=de", "opts.fast:=true", "opts.list:=[]", "note=a=\"b\""]),
            Ok(r#"{"user":9007199254740993,"locale":"de","opts":{"fast":true,"list":[]},"note":"a=\"b\""}"#.to_owned())
        );
        assert_eq!(built(&[]), Ok("{}".to_owned()));
        assert_eq!(built(&["a="]), Ok(r#"{"a":""}"#.to_owned()));
    }

    #[test]
    fn a_pair_that_makes_no_sense_is_refused() {
        for (pairs, why) in [
            (
                &["user"][..],
                "`--arg` expects `key=text` or `key:=json`, not `user`: there is no `=`",
            ),
            (
                &["=1"],
                "`--arg` expects `key=text` or `key:=json`, not `=1`: a key is empty",
            ),
            (
                &["a..b=1"],
                "`--arg` expects `key=text` or `key:=json`, not `a..b=1`: a key is empty",
            ),
            (
                &["a=1", "a=2"],
                "`--arg` expects `key=text` or `key:=json`, not `a=2`: `a` is given twice",
            ),
            (
                &["a=1", "a.b=2"],
                "`--arg` expects `key=text` or `key:=json`, not `a.b=2`: `a` is a value already",
            ),
            (
                &["a.b=2", "a=1"],
                "`--arg` expects `key=text` or `key:=json`, not `a=1`: `a` is given twice",
            ),
            (
                &["a:=x"],
                "`--arg` expects `key=text` or `key:=json`, not `a:=x`: no JSON after `:=`, line 1, column 1: expected value at `x`",
            ),
        ] {
            assert_eq!(built(pairs), Err(why.to_owned()));
        }
    }

    #[test]
    fn pairs_may_not_nest_too_deep() {
        let path = vec!["a"; 1001].join(".") + "=1";
        assert!(
            built(&[&path])
                .unwrap_err()
                .ends_with("nested deeper than 1000")
        );
    }
}
