//! The words that were typed up to the cursor.

use std::ffi::OsString;

use clap_complete::Shell;

/// What was typed of a command line; the last word is the one to be completed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Typed {
    pub words: Vec<Word>,
    /// The quote that is still open in the last word.
    pub quote: Option<char>,
}

/// A word without its quotes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    pub text: String,
    /// Whether the shell would put something else there, which only it knows.
    pub unknown: bool,
}

/// Reads what a shell hands over: bash the line itself, the others their words.
pub(super) fn read(shell: Shell, args: &[OsString]) -> Option<Typed> {
    let mut texts: Vec<&str> = args.iter().map(|arg| arg.to_str()).collect::<Option<_>>()?;
    if let (Shell::PowerShell, Some(last)) = (shell, texts.last_mut()) {
        // It loses empty words: there is a sign before the last one.
        *last = last.strip_prefix('=')?;
    }
    if let (Shell::Zsh | Shell::Fish, Some(last)) = (shell, texts.last_mut()) {
        // They take no quote away that is still open.
        *last = last.strip_prefix(['\'', '"']).unwrap_or(last);
    }
    if shell == Shell::Bash {
        return Some(of_bash(texts.first()?));
    }
    let words = texts.into_iter().map(|text| Word {
        text: text.to_owned(),
        unknown: false,
    });
    Some(Typed {
        words: words.collect(),
        quote: None,
    })
}

/// Takes a line apart as bash does, but for what it would expand.
fn of_bash(line: &str) -> Typed {
    let mut typed = Typed::default();
    let mut word: Option<Word> = None;
    let mut letters = line.chars().peekable();
    while let Some(c) = letters.next() {
        match (typed.quote, c) {
            (Some('\''), '\'') => typed.quote = None,
            (Some('"'), '"') => typed.quote = None,
            (Some('"'), '\\') if letters.peek().is_some_and(|next| "\"\\$`".contains(*next)) => {
                word.get_or_insert_default().text.extend(letters.next());
            }
            (None, '\'' | '"') => {
                typed.quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '\\') => word.get_or_insert_default().text.extend(letters.next()),
            (None, c) if c.is_whitespace() => typed.words.extend(word.take()),
            (quote, c) => {
                let word = word.get_or_insert_default();
                word.unknown |= match quote {
                    Some('\'') => false,
                    Some(_) => "$`".contains(c),
                    None => "$`*?[{~".contains(c),
                };
                word.text.push(c);
            }
        }
    }
    typed.words.push(word.unwrap_or_default());
    // Variables that are set for the command alone stand before it.
    let begins = |word: &Word| !word.text.contains('=');
    let first = typed.words.iter().position(begins).unwrap_or(0);
    typed.words.drain(..first);
    typed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> (Vec<String>, Option<char>) {
        let typed = of_bash(line);
        let words = typed.words.iter().map(|word| match word.unknown {
            true => format!("{} (?)", word.text),
            false => word.text.clone(),
        });
        (words.collect(), typed.quote)
    }

    #[test]
    fn a_line_falls_into_words() {
        let told = |line: &str| words(line).0;
        assert_eq!(told("qless "), ["qless", ""]);
        assert_eq!(told("qless jobs --qu"), ["qless", "jobs", "--qu"]);
        assert_eq!(told("X=1 qless jobs"), ["qless", "jobs"]);
        assert_eq!(told(r"q a\ b 'c d' "), ["q", "a b", "c d", ""]);
        assert_eq!(told(r#"q "a\"\$b\c" $x "#), ["q", "a\"$b\\c", "$x (?)", ""]);
        assert_eq!(told(r#"q '$x' "$x" ~/y"#), ["q", "$x", "$x (?)", "~/y (?)"]);
        assert_eq!(
            words("q 'a b"),
            (vec!["q".into(), "a b".into()], Some('\''))
        );
        assert_eq!(words("q \"a"), (vec!["q".into(), "a".into()], Some('"')));
        assert_eq!(told(r"q a\"), ["q", "a"]);
    }
}
