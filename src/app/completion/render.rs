//! Candidates as each shell takes them.
//!
//! The first line has `files` or `directories` if the shell itself offers them, too, else `names`; then a tab, and
//! the part of the word before the value. Each further line is a candidate.

use super::Candidate;
use super::cursor::CompletionCursor;
use super::line::TypedLine;
use super::offer::{CandidatesAndFiles, FileOffer};
use super::shell::Shell;

/// The lines for a shell.
pub(super) fn shell_lines(
    shell: Shell,
    offer: &CandidatesAndFiles,
    typed: &TypedLine,
    cursor: &CompletionCursor,
) -> String {
    let files = match offer.files {
        Some(FileOffer::Any) => "files",
        Some(FileOffer::Directories) => "directories",
        None => "names",
    };
    let before = &cursor.before_value;
    let mut lines = format!("{files}\t{before}\n");
    for Candidate { value, help } in &offer.candidates {
        // Elvish, fish and PowerShell replace the whole word. Bash inserts the rest of the word. zsh takes the value
        // alone.
        let line = match shell {
            Shell::Bash => bash_insertion(&format!("{before}{value}"), typed),
            Shell::Elvish | Shell::Fish => format!("{before}{value}\t{help}"),
            Shell::Powershell => {
                format!("{}\t{value}\t{help}", quote_for_powershell(before, value))
            }
            Shell::Zsh => zsh_pair(value, help),
        };
        lines.push_str(&line);
        lines.push('\n');
    }
    lines
}

/// The text that readline inserts: the rest of the word, in the form that the open quote requires.
fn bash_insertion(word: &str, typed: &TypedLine) -> String {
    let escaped = |text: &str, special: &dyn Fn(char) -> bool| {
        let mut escaped = String::with_capacity(text.len());
        for c in text.chars() {
            if special(c) {
                escaped.push('\\');
            }
            escaped.push(c);
        }
        escaped
    };
    let rest = word.get(typed.kept..).unwrap_or(word);
    match typed.quote {
        Some('\'') => rest.replace('\'', "'\\''"),
        // In double quotes, bash keeps a backslash before `!`, and without a backslash expands `!` from its history.
        // So close the quotes, write `'!'`, and open them again. Readline lets a quote at the start replace the open
        // one.
        Some(_) => {
            let text = escaped(rest, &|c| "\"\\$`".contains(c)).replace('!', "\"'!'\"");
            let open = if rest.starts_with('!') { "\"" } else { "" };
            format!("{open}{text}")
        }
        None => {
            let plain = |c: char| c.is_alphanumeric() || "-_.,/@%+:=".contains(c);
            escaped(rest, &|c| !plain(c))
        }
    }
}

/// A word of PowerShell.
fn quote_for_powershell(before_value: &str, value: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:%+".contains(c);
    if value.chars().all(plain) {
        format!("{before_value}{value}")
    } else {
        format!("{before_value}'{}'", value.replace('\'', "''"))
    }
}

/// A candidate and its help as one word for `_describe` of zsh, which quotes the value itself.
fn zsh_pair(value: &str, help: &str) -> String {
    let value = value.replace('\\', "\\\\").replace(':', "\\:");
    match help {
        "" => value,
        help => format!("{value}:{}", help.replace('\\', "\\\\")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bash_gets_what_it_would_read_back() {
        for (word, quote, kept, written) in [
            ("mail", None, 0, "mail"),
            ("my mail", None, 0, r"my\ mail"),
            ("my mail", Some('\''), 0, "my mail"),
            ("it's $5 \"now\"", None, 0, r#"it\'s\ \$5\ \"now\""#),
            ("it's $5", Some('\''), 0, r"it'\''s $5"),
            ("it's $5 \"now\"", Some('"'), 0, r#"it's \$5 \"now\""#),
            ("a:b:c", None, 2, "b:c"),
            ("--queue=my mail", None, 8, r"my\ mail"),
            ("a:b", Some('"'), 0, "a:b"),
            ("a!b", Some('"'), 0, r#"a"'!'"b"#),
            ("!b", Some('"'), 0, r#"""'!'"b"#),
            (r"a\*", None, 0, r"a\\\*"),
            ("日本 x", None, 0, "日本\\ x"),
            ("~x", None, 0, r"\~x"),
        ] {
            let typed = TypedLine {
                quote,
                kept,
                ..TypedLine::default()
            };
            assert_eq!(bash_insertion(word, &typed), written, "{word} {quote:?}");
        }
    }

    #[test]
    fn powershell_gets_single_quotes() {
        assert_eq!(quote_for_powershell("", "mail"), "mail");
        assert_eq!(quote_for_powershell("--queue=", "it's"), "--queue='it''s'");
    }

    #[test]
    fn zsh_gets_pairs_with_escaped_colons() {
        assert_eq!(
            zsh_pair("a:b", "Mail::Welcome, failed"),
            r"a\:b:Mail::Welcome, failed"
        );
        assert_eq!(zsh_pair(r"a\*", ""), r"a\\*");
    }
}
