//! Names as each shell takes them: one on a line.

use clap_complete::Shell;

use super::Named;
use super::line::Typed;
use super::place::Place;

/// Returns the lines for a shell.
pub(super) fn lines(
    shell: Shell,
    named: impl Iterator<Item = Named>,
    typed: &Typed,
    place: &Place,
) -> String {
    let mut lines = String::new();
    for Named { name, says } in named {
        let line = match shell {
            Shell::Bash => bash(&name, typed.quote, &place.begun),
            // They replace the whole word.
            Shell::Elvish => format!("{}{name}\t{says}", place.before),
            Shell::PowerShell => format!("{}\t{name}\t{says}", power(&place.before, &name)),
            _ => format!("{name}\t{says}"),
        };
        lines.push_str(&line);
        lines.push('\n');
    }
    lines
}

/// Where bash ends a word by itself: what is completed begins behind the last of them.
const BREAKS: &[char] = &['=', ':'];

/// Returns what readline is to insert: the name as the open quote wants it, without what bash
/// takes for words of their own.
fn bash(name: &str, quote: Option<char>, begun: &str) -> String {
    let escaped = |text: &str, special: &dyn Fn(char) -> bool| {
        let mut written = String::with_capacity(text.len());
        for c in text.chars() {
            if special(c) {
                written.push('\\');
            }
            written.push(c);
        }
        written
    };
    match quote {
        Some('\'') => name.replace('\'', "'\\''"),
        Some(_) => escaped(name, &|c| "\"\\$`!".contains(c)),
        None => {
            let done = begun.rfind(BREAKS).map_or(0, |at| at + 1);
            let rest = name.get(done..).unwrap_or(name);
            let plain = |c: char| c.is_alphanumeric() || "-_.,/@%+:=".contains(c);
            escaped(rest, &|c| !plain(c))
        }
    }
}

/// Returns a word of PowerShell.
fn power(before: &str, name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:%+".contains(c);
    match name.chars().all(plain) {
        true => format!("{before}{name}"),
        false => format!("{before}'{}'", name.replace('\'', "''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bash_gets_what_it_would_read_back() {
        for (name, quote, begun, written) in [
            ("mail", None, "ma", "mail"),
            ("my mail", None, "my", r"my\ mail"),
            ("my mail", Some('\''), "my", "my mail"),
            ("it's $5 \"now\"", None, "", r#"it\'s\ \$5\ \"now\""#),
            ("it's $5", Some('\''), "", r"it'\''s $5"),
            ("it's $5 \"now\"", Some('"'), "", r#"it's \$5 \"now\""#),
            ("a:b:c", None, "a:", "b:c"),
            ("a:b:c", None, "a:b", "b:c"),
            ("a:b", Some('"'), "a:", "a:b"),
            (r"a\*", None, "", r"a\\\*"),
            ("日本 x", None, "日", "日本\\ x"),
            ("~x", None, "", r"\~x"),
        ] {
            assert_eq!(bash(name, quote, begun), written, "{name} {quote:?}");
        }
    }

    #[test]
    fn powershell_gets_single_quotes() {
        assert_eq!(power("", "mail"), "mail");
        assert_eq!(power("--queue=", "it's"), "--queue='it''s'");
    }
}
