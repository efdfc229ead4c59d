//! A regular expression that filters jobs by a text, such as the message of a failure. A match may begin anywhere in
//! the text.
//!
//! A search takes linear time for every expression. It works on bytes, because texts need not be UTF-8.

use regex::bytes::{Regex, RegexBuilder};
use regex_syntax::Error as Fault;

use crate::name::Name;

/// A regular expression that filters jobs by the message of their failure or by a value in their data.
#[derive(Clone, Debug)]
pub(crate) struct TextRegex(Regex);

/// The maximum memory of a compiled expression, in bytes.
const MAX_SIZE: usize = 1 << 20;

impl TextRegex {
    /// Parses an argument as a regular expression. The error is the end of the message "`FLAG` expects …".
    pub(crate) fn parse(input: &str) -> Result<TextRegex, String> {
        let wants = |why: String| format!("a regular expression ({why})");
        let (what, at) = match regex_syntax::ParserBuilder::new()
            .utf8(false)
            .build()
            .parse(input)
        {
            Ok(_) => {
                let regex = RegexBuilder::new(input).size_limit(MAX_SIZE).build();
                return regex
                    .map(TextRegex)
                    .map_err(|_| wants("that is not that large".into()));
            }
            Err(Fault::Parse(fault)) => (fault.kind().to_string(), fault.span().start.offset),
            Err(Fault::Translate(fault)) => (fault.kind().to_string(), fault.span().start.offset),
            Err(fault) => return Err(wants(fault.to_string())),
        };
        let before = input.get(..at).unwrap_or(input).chars().count();
        Err(wants(format!("{what}, at character {}", before + 1)))
    }

    pub(crate) fn matches(&self, text: &Name) -> bool {
        self.0.is_match(text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_match_is_found_anywhere_in_the_message() {
        for (input, message) in [
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
                TextRegex::parse(input)
                    .unwrap()
                    .matches(&Name::from(message)),
                "{input}"
            );
        }
        assert!(!TextRegex::parse("^a$").unwrap().matches(&Name::from("ab")));
    }

    #[test]
    fn a_syntax_error_is_reported_with_its_position() {
        for (input, why) in [
            ("é(", "unclosed group, at character 2"),
            ("a{2", "at character 2"),
            ("[z-a]", "at character 2"),
            ("(?=x)", "look-around"),
            (r"(a)\1", "backreferences are not supported, at character 4"),
            ("(((((a{50}){50}){50}){50}){50})", "not that large"),
        ] {
            let error = TextRegex::parse(input).unwrap_err();
            assert!(error.starts_with("a regular expression ("), "{error}");
            assert!(error.contains(why), "{input}: {error}");
        }
    }

    #[test]
    fn every_expression_is_searched_in_linear_time() {
        let regex = TextRegex::parse("(a*)*(a*)*b").unwrap();
        assert!(!regex.matches(&Name::from("a".repeat(100_000))));
    }
}
