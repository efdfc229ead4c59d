//! The words that were typed up to the cursor.

use std::ffi::OsString;

use super::shell::Shell;

/// The words of a command line up to the cursor. The last word is the one to complete.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TypedLine {
    pub words: Vec<UnquotedWord>,
    /// The quote that is still open in the last word.
    pub quote: Option<char>,
    /// The length of the part of the last word that bash leaves in place: bash inserts behind the last of its word
    /// breaks, or behind an open quote.
    pub kept: usize,
    /// Whether the last word is the file of a redirection.
    pub ends_in_redirection: bool,
}

/// A word without its quotes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct UnquotedWord {
    pub text: String,
    /// Whether the shell would expand a part of the word, such as a variable or a glob.
    pub expands: bool,
}

/// Reads what a shell passes on: bash its `COMP_WORDBREAKS` and the line, the others their words.
pub(super) fn read_typed_line(shell: Shell, args: &[OsString]) -> Option<TypedLine> {
    let mut texts: Vec<&str> = args.iter().map(|arg| arg.to_str()).collect::<Option<_>>()?;
    if let (Shell::Powershell, Some(last)) = (shell, texts.last_mut()) {
        // PowerShell drops empty words, so its script puts a `=` before the last word.
        *last = last.strip_prefix('=')?;
    }
    if let (Shell::Zsh | Shell::Fish, Some(last)) = (shell, texts.last_mut()) {
        // zsh and fish pass a quote that is still open as the first character of the word.
        *last = last.strip_prefix(['\'', '"']).unwrap_or(last);
    }
    if shell == Shell::Bash {
        let [breaks, line] = texts.as_slice() else {
            return None;
        };
        return Some(split_like_bash(breaks, line));
    }
    let words = texts.into_iter().map(|text| UnquotedWord {
        text: text.to_owned(),
        expands: false,
    });
    Some(TypedLine {
        words: words.collect(),
        ..TypedLine::default()
    })
}

/// Splits a line as bash does, without expanding anything.
fn split_like_bash(breaks: &str, line: &str) -> TypedLine {
    let mut typed = TypedLine::default();
    let mut word: Option<UnquotedWord> = None;
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
                typed.kept = word.get_or_insert_default().text.len();
            }
            (None, '\\') => word.get_or_insert_default().text.extend(letters.next()),
            (None, c) if c.is_whitespace() => typed.push_word_unless_redirection(word.take()),
            (None, '<' | '>') => {
                // The number of a stream is not a word.
                let is_stream = |word: &UnquotedWord| word.text.chars().all(|c| c.is_ascii_digit());
                typed.push_word_unless_redirection(word.take().filter(|word| !is_stream(word)));
                typed.ends_in_redirection = true;
            }
            (quote, c) => {
                let word = word.get_or_insert_default();
                word.expands |= match quote {
                    Some('\'') => false,
                    Some(_) => "$`".contains(c),
                    None => "$`*?[{~".contains(c),
                };
                let begins = word.text.len();
                word.text.push(c);
                if quote.is_none() && breaks.contains(c) {
                    // Readline takes an `@` for the beginning of a host and completes that, too.
                    typed.kept = if c == '@' { begins } else { word.text.len() };
                }
            }
        }
    }
    typed.words.push(word.unwrap_or_default());
    // Skip words such as `NAME=value` before the command: they set variables for that command only.
    let is_name = |word: &UnquotedWord| !word.text.contains('=');
    let first = typed.words.iter().position(is_name).unwrap_or(0);
    typed.words.drain(..first);
    typed
}

impl TypedLine {
    /// Adds a word, unless it is the file of a redirection.
    fn push_word_unless_redirection(&mut self, word: Option<UnquotedWord>) {
        self.kept = 0;
        if let Some(word) = word {
            if !self.ends_in_redirection {
                self.words.push(word);
            }
            self.ends_in_redirection = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> (Vec<String>, Option<char>) {
        let typed = split_like_bash(" \t\n\"'@><=;|&(:", line);
        let words = typed.words.iter().map(|word| {
            if word.expands {
                format!("{} (?)", word.text)
            } else {
                word.text.clone()
            }
        });
        (words.collect(), typed.quote)
    }

    #[test]
    fn a_line_is_split_into_words() {
        let split = |line: &str| words(line).0;
        assert_eq!(split("qless "), ["qless", ""]);
        assert_eq!(split("qless jobs --qu"), ["qless", "jobs", "--qu"]);
        assert_eq!(split("X=1 qless jobs"), ["qless", "jobs"]);
        assert_eq!(split(r"q a\ b 'c d' "), ["q", "a b", "c d", ""]);
        assert_eq!(
            split(r#"q "a\"\$b\c" $x "#),
            ["q", "a\"$b\\c", "$x (?)", ""]
        );
        assert_eq!(
            split(r#"q '$x' "$x" ~/y"#),
            ["q", "$x", "$x (?)", "~/y (?)"]
        );
        assert_eq!(
            words("q 'a b"),
            (vec!["q".into(), "a b".into()], Some('\''))
        );
        assert_eq!(words("q \"a"), (vec!["q".into(), "a".into()], Some('"')));
        assert_eq!(split(r"q a\"), ["q", "a"]);
    }

    #[test]
    fn bash_inserts_behind_a_break_or_an_open_quote() {
        let kept = |line: &str| split_like_bash("=:", line).kept;
        assert_eq!(kept("q ab"), 0);
        assert_eq!(kept("q a: b"), 0);
        assert_eq!(kept("q a:b:c"), 4);
        assert_eq!(kept("q a:b@c"), 2);
        assert_eq!(kept("q --queue=a:b"), 10);
        assert_eq!(split_like_bash("@:", "q a:b@c").kept, 3);
        assert_eq!(kept(r"q a\:b"), 0);
        assert_eq!(kept("q 'a:b"), 0);
        assert_eq!(kept("q --queue='a:b"), 8);
    }

    #[test]
    fn the_file_of_a_redirection_is_no_word() {
        let redirects = |line: &str| split_like_bash("=:", line).ends_in_redirection;
        assert!(redirects("q x >"));
        assert!(redirects("q x > fi"));
        assert!(redirects("q x 2>>fi"));
        assert!(!redirects("q x > file "));
        assert!(!redirects("q x '>' "));
        assert_eq!(words("q x 2>/dev/null <in ").0, ["q", "x", ""]);
    }
}
