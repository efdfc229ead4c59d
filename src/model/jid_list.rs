//! Lists of jids: how the jid of a line is read, and which jids a line can hold.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use crate::name::Name;

/// Whether [`read_jid_line`] gets exactly this jid from a line that holds it.
pub(crate) fn is_safe_in_lines(jid: &Name) -> bool {
    !jid.as_bytes().contains(&b'\n')
        && read_jid_line(jid.as_bytes()).as_ref() == Ok(&Some(jid.clone()))
}

/// Whether an id can stand before a NUL.
pub(crate) fn is_safe_before_nul(jid: &Name) -> bool {
    !jid.as_bytes().contains(&0)
}

/// A line of ndjson that a command of `qless` has printed. A line with a summary instead of a jid names no job.
#[derive(Deserialize)]
struct InputJidLine {
    jid: Option<String>,
    jid_bytes: Option<String>,
    #[serde(default)]
    summary: Option<serde::de::IgnoredAny>,
}

/// Maximum length of a line that is a plain jid, in bytes.
const MAX_BYTES: usize = 64 << 10;

/// The jid of a line, if it has one.
pub(crate) fn read_jid_line(line: &[u8]) -> Result<Option<Name>, String> {
    let line = line.trim_ascii();
    match line.first() {
        None | Some(b'#') => return Ok(None),
        Some(b'{') => {}
        Some(_) if line.len() > MAX_BYTES => {
            return Err("this is too long for a job id".to_owned());
        }
        Some(_) => return Ok(Some(Name::from(line))),
    }
    let line: InputJidLine = serde_json::from_slice(line).map_err(|error| {
        if error.is_data() {
            "its `jid` is not a text".to_owned()
        } else {
            "this is not JSON".to_owned()
        }
    })?;
    match line {
        InputJidLine {
            jid_bytes: Some(bytes),
            ..
        } => match STANDARD.decode(bytes) {
            Ok(jid) => Ok(Some(Name::from(jid))),
            Err(_) => Err("`jid_bytes` is not base64".to_owned()),
        },
        InputJidLine { jid: Some(jid), .. } => Ok(Some(Name::from(jid))),
        InputJidLine {
            summary: Some(_), ..
        } => Ok(None),
        _ => Err("there is no `jid` in it".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_is_a_jid_or_an_object_with_one() {
        assert_eq!(read_jid_line(b" a b \r"), Ok(Some("a b".into())));
        assert_eq!(read_jid_line(b"# a"), Ok(None));
        assert_eq!(read_jid_line(b"  "), Ok(None));
        assert_eq!(
            read_jid_line(br#"{"kind":"job","jid":"a"}"#),
            Ok(Some("a".into()))
        );
        assert_eq!(
            read_jid_line(br#"{"jid":"a\\xff","jid_bytes":"Yf8="}"#),
            Ok(Some(Name::from(&b"a\xff"[..])))
        );
        assert_eq!(read_jid_line(br#"{"summary":{"done":3}}"#), Ok(None));
        assert_eq!(
            read_jid_line(b"{}"),
            Err("there is no `jid` in it".to_owned())
        );
        let long = "a".repeat(MAX_BYTES + 1);
        let expected = Err("this is too long for a job id".to_owned());
        assert_eq!(read_jid_line(long.as_bytes()), expected);
        assert_eq!(read_jid_line(b"{"), Err("this is not JSON".to_owned()));
    }

    #[test]
    fn an_id_that_a_reader_would_take_for_another_fits_no_line() {
        for jid in [
            "a",
            "--all",
            "-",
            "@/etc/hostname",
            "*",
            "a b",
            "a\tb",
            "a#",
            "'; rm",
        ] {
            assert!(is_safe_in_lines(&jid.into()), "{jid:?}");
        }
        let long = "a".repeat(MAX_BYTES + 1);
        for jid in [
            "",
            " ",
            "a\nb",
            "\na",
            "a\n",
            "a\r",
            " a",
            "a ",
            "\ta",
            "a\x0c",
            "# a",
            "#",
            "{",
            "{}",
            "{\"jid\":\"b\"}",
            &long,
        ] {
            assert!(!is_safe_in_lines(&jid.into()), "{jid:?}");
        }
        assert!(is_safe_before_nul(&"a\nb".into()) && !is_safe_before_nul(&"a\0b".into()));
    }

    proptest! {
        #[test]
        fn what_fits_a_line_is_read_from_it(jid in proptest::collection::vec(any::<u8>(), 0..6)) {
            let jid = Name::from(jid);
            let text = [jid.as_bytes(), b"\n"].concat();
            let read: Vec<Result<Option<Name>, String>> =
                text.split_inclusive(|byte| *byte == b'\n').map(read_jid_line).collect();
            prop_assert_eq!(is_safe_in_lines(&jid), read == [Ok(Some(jid))]);
        }
    }
}
