//! Why a parser refuses a value.

use std::fmt;

/// Why a parser refuses a value. The text follows the name of the argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Invalid {
    /// What the argument expects, such as ``a duration such as `90s` ``. The sentence ends with the
    /// value that was given.
    Expects(String),
    /// What is wrong with the value, such as `is empty`. The sentence does not repeat the value.
    Because(String),
}

/// The longest value that a sentence repeats in full, in characters.
const MAX_SHOWN_CHARACTERS: usize = 60;

impl Invalid {
    /// The argument expects something else.
    pub(crate) fn expects(what: impl Into<String>) -> Invalid {
        Invalid::Expects(what.into())
    }

    /// Something is wrong with the value.
    pub(crate) fn because(why: impl Into<String>) -> Invalid {
        Invalid::Because(why.into())
    }

    /// The sentence that refuses this value of this argument.
    pub(crate) fn refusal_sentence(&self, arg: &str, value: &str) -> String {
        format!("`{arg}` {}", self.refusal_without_argument_name(value))
    }

    /// The sentence without its subject.
    pub(crate) fn refusal_without_argument_name(&self, value: &str) -> String {
        match self {
            Invalid::Expects(_) if value.chars().count() > MAX_SHOWN_CHARACTERS => {
                let start: String = value.chars().take(MAX_SHOWN_CHARACTERS).collect();
                format!("{self}, not `{start}…`")
            }
            Invalid::Expects(_) if !value.is_empty() => format!("{self}, not `{value}`"),
            _ => self.to_string(),
        }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Invalid::Expects(what) => write!(out, "expects {what}"),
            Invalid::Because(why) => out.write_str(why),
        }
    }
}

impl std::error::Error for Invalid {}

/// A text becomes [`Invalid::Because`], since it says what is wrong with the value.
impl From<String> for Invalid {
    fn from(why: String) -> Invalid {
        Invalid::Because(why)
    }
}

impl From<&str> for Invalid {
    fn from(why: &str) -> Invalid {
        Invalid::Because(why.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_repeats_the_value_if_something_else_is_expected() {
        let expects = Invalid::expects("a number");
        assert_eq!(
            expects.refusal_sentence("--n", "x"),
            "`--n` expects a number, not `x`"
        );
        assert_eq!(
            expects.refusal_sentence("--n", ""),
            "`--n` expects a number"
        );
        let long = expects.refusal_sentence("--n", &"x".repeat(61));
        assert_eq!(
            long,
            format!("`--n` expects a number, not `{}…`", "x".repeat(60))
        );
        assert_eq!(
            Invalid::because("is empty").refusal_sentence("--n", ""),
            "`--n` is empty"
        );
    }
}
