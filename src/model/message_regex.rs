//! What a failure's message has to look like: a regular expression, found anywhere in it.
//!
//! It is searched in linear time, whatever was typed, and over bytes: messages need not be UTF-8.

use regex::bytes::{Regex, RegexBuilder};
use regex_syntax::Error as Fault;

use crate::name::Name;

/// An expression for the words of a failure.
#[derive(Clone, Debug)]
pub(crate) struct Wording(Regex);

/// As much memory as an expression may take.
const LARGEST: usize = 1 << 20;

impl Wording {
    /// Reads what was typed; the error is the end of a sentence that begins with the flag.
    pub(crate) fn new(typed: &str) -> Result<Wording, String> {
        let wants = |why: String| format!("a regular expression ({why})");
        let (what, at) = match regex_syntax::ParserBuilder::new()
            .utf8(false)
            .build()
            .parse(typed)
        {
            Ok(_) => {
                let regex = RegexBuilder::new(typed).size_limit(LARGEST).build();
                return regex
                    .map(Wording)
                    .map_err(|_| wants("that is not that large".into()));
            }
            Err(Fault::Parse(fault)) => (fault.kind().to_string(), fault.span().start.offset),
            Err(Fault::Translate(fault)) => (fault.kind().to_string(), fault.span().start.offset),
            Err(fault) => return Err(wants(fault.to_string())),
        };
        let before = typed.get(..at).unwrap_or(typed).chars().count();
        Err(wants(format!("{what}, at character {}", before + 1)))
    }

    pub(crate) fn is_in(&self, message: &Name) -> bool {
        self.0.is_match(message.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_found_anywhere_in_the_message() {
        for (typed, message) in [
            ("timed? out", &b"the call timed out after 5s"[..]),
            ("^a$", b"a"),
            ("(?m)^at", b"x\nat upload.py"),
            ("(?i)É", "é".as_bytes()),
            (r"\d{3}", b"PUT: 503 Slow Down"),
            ("out", b"\xff out \xfe"),
            (r"(?-u)\xff", b"\xff"),
            ("", b""),
        ] {
            assert!(
                Wording::new(typed).unwrap().is_in(&Name::from(message)),
                "{typed}"
            );
        }
        assert!(!Wording::new("^a$").unwrap().is_in(&Name::from("ab")));
    }

    #[test]
    fn a_mistake_is_told_with_its_place() {
        for (typed, why) in [
            ("é(", "unclosed group, at character 2"),
            ("a{2", "at character 2"),
            ("[z-a]", "at character 2"),
            ("(?=x)", "look-around"),
            (r"(a)\1", "backreferences are not supported, at character 4"),
            ("(((((a{50}){50}){50}){50}){50})", "not that large"),
        ] {
            let told = Wording::new(typed).unwrap_err();
            assert!(told.starts_with("a regular expression ("), "{told}");
            assert!(told.contains(why), "{typed}: {told}");
        }
    }

    #[test]
    fn no_expression_takes_long() {
        let wording = Wording::new("(a*)*(a*)*b").unwrap();
        assert!(!wording.is_in(&Name::from("a".repeat(100_000))));
    }
}
