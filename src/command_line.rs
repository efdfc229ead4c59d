//! The command lines that messages of `qless` print, as words for a program and as a line to type.
//!
//! Names come from other clients and can look like a flag or a file. So a printed command has the value of a flag
//! behind `=`, and `--` before such a name.

use std::borrow::Cow;
use std::cell::RefCell;
use std::path::Path;
use std::sync::OnceLock;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::ser::{Serialize, Serializer};

use crate::name;
use crate::name::Name;
use crate::text;

/// A command of `qless`: `qless COMMAND FLAG… [--] NAME…`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CommandLine {
    /// The command and its flags.
    words: Vec<WordOrFlag>,
    names: Vec<Name>,
}

/// A word before the names.
#[derive(Clone, Debug, PartialEq)]
struct WordOrFlag {
    text: Name,
    value: Option<Name>,
}

impl CommandLine {
    /// A command line that begins with these fixed words, such as `recur run` or `retry --completed`.
    pub(crate) fn new(words: &str) -> CommandLine {
        let words = words.split_ascii_whitespace();
        words.fold(CommandLine::default(), CommandLine::with_word)
    }

    /// Adds a word as it is: a flag, or an argument before `--`.
    pub(crate) fn with_word(mut self, word: impl Into<Name>) -> CommandLine {
        let (text, value) = (word.into(), None);
        self.words.push(WordOrFlag { text, value });
        self
    }

    /// Adds a flag with its value. A line for a shell has `FLAG=VALUE` with only the value quoted.
    pub(crate) fn with_flag(mut self, flag: &str, value: impl Into<Name>) -> CommandLine {
        let (text, value) = (Name::from(flag), Some(value.into()));
        self.words.push(WordOrFlag { text, value });
        self
    }

    /// Adds a flag whose value is a pattern. Wildcards in the name are escaped, so the pattern matches this name
    /// only.
    pub(crate) fn with_exact_pattern(self, flag: &str, name: &Name) -> CommandLine {
        self.with_flag(flag, name::escape_wildcards(name))
    }

    /// Adds an argument.
    pub(crate) fn with_name_argument(mut self, name: impl Into<Name>) -> CommandLine {
        self.names.push(name.into());
        self
    }

    pub(crate) fn with_name_arguments<'n>(
        mut self,
        names: impl IntoIterator<Item = &'n Name>,
    ) -> CommandLine {
        self.names.extend(names.into_iter().cloned());
        self
    }

    /// The words of the command for a program to run, beginning with `qless`; no words if a value or a name is empty
    /// or has a NUL byte.
    pub(crate) fn runnable_argv_or_empty(&self) -> Vec<Name> {
        if self.has_empty_or_nul_argument() {
            return Vec::new();
        }
        let program = [Name::from("qless")].into_iter();
        program
            .chain(self.with_destination_flags().argv_without_program())
            .collect()
    }

    /// The words and flags of the command, and apart from them its names, which are plain names: no flags, files or
    /// patterns. `qless` and the flags that name the server are left out. `None` if no process could run the command.
    pub(crate) fn runnable_words_and_names(&self) -> Option<(Vec<Name>, &[Name])> {
        let runnable = !self.has_empty_or_nul_argument();
        runnable.then(|| (self.args_before_names().collect(), self.names.as_slice()))
    }

    fn args_before_names(&self) -> impl Iterator<Item = Name> {
        self.words.iter().map(|word| match &word.value {
            Some(value) => Name::from([word.text.as_bytes(), b"=", value.as_bytes()].concat()),
            None => word.text.clone(),
        })
    }

    fn argv_without_program(&self) -> impl Iterator<Item = Name> {
        let words = self.args_before_names();
        let separator = self.double_dash_if_needed().map(Name::from);
        let words: Vec<Name> = words
            .chain(separator)
            .chain(self.names.iter().cloned())
            .collect();
        words.into_iter()
    }

    /// The command quoted for a shell, with the flags that name the server; `None` if no process can run it.
    pub(crate) fn shell_line(&self) -> Option<String> {
        let runnable = !self.has_empty_or_nul_argument();
        runnable.then(|| {
            self.with_destination_flags()
                .shell_line_without_destination()
        })
    }

    /// The sentence with the command line, in backticks, in place of `{}`; `None` if no process can run the command.
    pub(crate) fn fill_sentence(&self, sentence: &str) -> Option<String> {
        let line = self.shell_line()?;
        Some(sentence.replacen("{}", &format!("`{line}`"), 1))
    }

    /// The command quoted for a shell, without the flags that name the server. A command that no process can run is
    /// quoted, too: the user may have typed an empty name.
    pub(crate) fn shell_line_without_destination(&self) -> String {
        let words = self
            .words
            .iter()
            .map(|WordOrFlag { text, value }| match value {
                Some(value) => format!("{text}={}", shell_quoted(value)),
                None => shell_quoted(text),
            });
        let separator = self.double_dash_if_needed().map(str::to_owned);
        let names = self.names.iter().map(shell_quoted);
        let program = ["qless".to_owned()].into_iter();
        let words = program.chain(words).chain(separator).chain(names);
        words.collect::<Vec<String>>().join(" ")
    }

    /// The command line with another value for a flag that the user typed, as `FLAG=VALUE` or as two words. A flag
    /// that [`CommandLine::with_flag`] added keeps its value.
    pub(crate) fn with_changed_typed_value(&self, flag: &str, value: &str) -> CommandLine {
        let joined = Name::from(format!("{flag}={value}"));
        let start = [flag.as_bytes(), b"="].concat();
        let mut line = self.clone();
        let mut words = line.words.iter_mut().map(|word| &mut word.text);
        while let Some(word) = words.next().filter(|word| word.as_bytes() != b"--") {
            if word.as_bytes().starts_with(&start) {
                *word = joined.clone();
            } else if word.as_bytes() == flag.as_bytes()
                && let Some(given) = words.next()
            {
                *given = Name::from(value);
            }
        }
        line
    }

    /// The command line with a global flag set to this value, whether or not it was given before.
    pub(crate) fn with_global_flag_set_to(&self, flag: &str, value: &str) -> CommandLine {
        let line = self.with_changed_typed_value(flag, value);
        if line != *self {
            return line;
        }
        let mut line = CommandLine::default().with_flag(flag, value);
        line.words.extend(self.words.iter().cloned());
        line.names.clone_from(&self.names);
        line
    }

    /// The command line, with the flags that name the server of this process before it. A flag that the command line
    /// already has is not added.
    fn with_destination_flags(&self) -> CommandLine {
        let mut line = CommandLine::default();
        let first = self.words.first().map(|word| word.text.as_bytes());
        for (flag, value) in destination_flags(first.unwrap_or_default()) {
            if !self.has_flag(flag) {
                line = line.with_flag(flag, value);
            }
        }
        line.words.extend(self.words.iter().cloned());
        line.names.clone_from(&self.names);
        line
    }

    /// The command line without a flag and its value.
    pub(crate) fn without_flag(&self, flag: &str) -> CommandLine {
        let mut line = self.clone();
        line.words
            .retain(|word| word.text.as_bytes() != flag.as_bytes());
        line
    }

    /// The quoted line without the name of the program.
    pub(crate) fn subcommand_line_without_destination(&self) -> String {
        let line = self.shell_line_without_destination();
        line.strip_prefix("qless ").unwrap_or(&line).to_owned()
    }

    pub(crate) fn has_first_word(&self, word: &str) -> bool {
        let first = self.words.first().map(|first| first.text.as_bytes());
        first == Some(word.as_bytes())
    }

    /// Whether a flag was given, with or without a value.
    pub(crate) fn has_flag(&self, flag: &str) -> bool {
        self.flag_count(flag) > 0
    }

    /// How often a flag was given.
    pub(crate) fn flag_count(&self, flag: &str) -> usize {
        let words = self.words.iter();
        words
            .filter(|word| word.text.as_bytes() == flag.as_bytes())
            .count()
    }

    /// Whether a name or value cannot be an argument: the argument of a process holds no NUL, and no command
    /// takes an empty name.
    fn has_empty_or_nul_argument(&self) -> bool {
        let values = self.words.iter().filter_map(|word| word.value.as_ref());
        let mut names = values.chain(&self.names);
        names.any(|name| name.is_empty() || name.as_bytes().contains(&0))
    }

    fn double_dash_if_needed(&self) -> Option<&'static str> {
        let mut names = self.names.iter();
        names
            .any(|name| is_ambiguous_argument(name.as_bytes()))
            .then_some("--")
    }
}

/// The flags that the user gave to name the server of this process.
static DESTINATION: OnceLock<Vec<(&'static str, Name)>> = OnceLock::new();

/// Sets the flags that name the server of this process. Every command printed from now on gets them.
pub(crate) fn set_destination_flags_of_process(flags: Vec<(&'static str, Name)>) {
    _ = DESTINATION.set(flags);
}

thread_local! {
    /// The flag that names the server of this thread, if the process uses several servers.
    static SERVER_OF_THREAD: RefCell<Option<(&'static str, Name)>> = const { RefCell::new(None) };
}

/// Sets the flag that names the server of this thread. Every command that the thread prints from now on gets it.
pub(crate) fn set_server_flag_of_thread(flag: &'static str, value: &str) {
    SERVER_OF_THREAD.set(Some((flag, Name::from(value))));
}

/// The flags that name the server, for a command that begins with this word; none if the command needs no server.
fn destination_flags(first_word: &[u8]) -> Vec<(&'static str, Name)> {
    if matches!(
        first_word,
        b"help" | b"context" | b"completions" | b"version"
    ) {
        return Vec::new();
    }
    let mut flags = DESTINATION.get().cloned().unwrap_or_default();
    if let Some(own) = SERVER_OF_THREAD.with_borrow(Clone::clone) {
        flags.retain(|(flag, _)| *flag != own.0);
        flags.push(own);
    }
    flags
}

/// Adds the flags that name the server to each command in a sentence. A command begins with `` `qless ``.
pub(crate) fn add_destination_to_commands(sentence: &str) -> String {
    const START: &str = "`qless ";
    let mut parts = sentence.split(START);
    let mut directed = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        directed.push_str(START);
        let command = part.split('`').next().unwrap_or_default();
        let mut words = command.split(' ');
        for (flag, value) in destination_flags(words.next().unwrap_or_default().as_bytes()) {
            let is_flag = |word: &str| word.split('=').next() == Some(flag);
            if !command.split(' ').any(is_flag) {
                directed.push_str(&format!("{} ", flag_with_quoted_value(flag, &value)));
            }
        }
        directed.push_str(part);
    }
    directed
}

/// Whether `qless` could read an argument without `--` before it as a flag, stdin, a file or a pattern instead of a
/// name.
pub(crate) fn is_ambiguous_argument(name: &[u8]) -> bool {
    has_ambiguous_start(name) || name::has_wildcards(name)
}

/// Whether the first character of an argument, `-` or `@`, could make the argument a flag, stdin or a file.
pub(crate) fn has_ambiguous_start(name: &[u8]) -> bool {
    matches!(name, [b'-' | b'@', ..])
}

/// Serializes the words of the command as a list, which is empty if a value or a name is empty or has a NUL byte.
impl Serialize for CommandLine {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.runnable_argv_or_empty().serialize(serializer)
    }
}

impl JsonSchema for CommandLine {
    fn schema_name() -> Cow<'static, str> {
        "CommandLine".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Vec::<Name>::json_schema(generator)
    }
}

/// A flag with its value quoted for a shell, for a command in a message: `--prefix=ql:`.
pub(crate) fn flag_with_quoted_value(flag: &str, value: impl AsRef<[u8]>) -> String {
    format!("{flag}={}", shell_quoted(value))
}

/// A flag whose value is a pattern that matches this name only, quoted for a command in a message.
pub(crate) fn quoted_exact_pattern_flag(flag: &str, name: &Name) -> String {
    self::flag_with_quoted_value(flag, name::escape_wildcards(name))
}

/// A command of the shell that changes the rights to a path: `chmod MODE [--] PATH`.
pub(crate) fn chmod_command(mode: &str, path: &Path) -> String {
    let path = path.as_os_str().as_encoded_bytes();
    let separator = if path.starts_with(b"-") { "-- " } else { "" };
    format!("chmod {mode} {separator}{}", shell_quoted(path))
}

/// Stands in a printed command for a name that no command can hold. The parentheses make a shell refuse the line.
const UNTYPABLE: &str = "(name with a NUL byte)";

/// A name quoted for a shell, which reads exactly the bytes of the name from it. A name with a NUL byte becomes
/// [`UNTYPABLE`].
pub(crate) fn shell_quoted(name: impl AsRef<[u8]>) -> String {
    let name = name.as_ref();
    if name.contains(&0) {
        return UNTYPABLE.to_owned();
    }
    let clean = text::sanitize_to_line(name);
    if clean.as_bytes() != name {
        return dollar_quoted(name);
    }
    let is_plain = |c: char| c.is_alphanumeric() || "-_.,:/@%+=".contains(c);
    if !clean.is_empty() && !clean.starts_with('=') && clean.chars().all(is_plain) {
        clean
    } else {
        format!("'{}'", clean.replace('\'', "'\\''"))
    }
}

/// A word as `$'…'`, for bytes that a terminal would not show. A shell that does not know this form, such as dash,
/// ends the text at the next quote, even behind a backslash. So a quote is written as an octal escape.
fn dollar_quoted(name: &[u8]) -> String {
    let bytes = name.iter().map(|&byte| match byte {
        b'\n' => "\\n".to_owned(),
        b'\t' => "\\t".to_owned(),
        b'\r' => "\\r".to_owned(),
        b'\\' => "\\\\".to_owned(),
        b' '..=b'&' | b'('..=b'~' => char::from(byte).to_string(),
        // Write all three digits of an octal escape: a shell then reads a digit behind the escape as a character.
        byte => format!("\\{byte:03o}"),
    });
    format!("$'{}'", bytes.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(command: CommandLine) -> (String, Vec<String>) {
        let argv = command
            .runnable_argv_or_empty()
            .iter()
            .map(Name::to_string)
            .collect();
        (command.shell_line().unwrap(), argv)
    }

    #[test]
    fn an_ordinary_name_needs_nothing() {
        let command = CommandLine::new("retry --completed").with_name_argument("a1:b/c");
        let (line, argv) = both(command);
        assert_eq!(line, "qless retry --completed a1:b/c");
        assert_eq!(argv, ["qless", "retry", "--completed", "a1:b/c"]);
    }

    #[test]
    fn a_name_that_could_mean_something_else_stands_after_two_dashes() {
        for name in [
            "--all",
            "-y",
            "-",
            "@/etc/hostname",
            "*",
            "a?",
            "[a",
            "{",
            "\\",
        ] {
            let argv = CommandLine::new("get")
                .with_name_argument(name)
                .runnable_argv_or_empty();
            assert_eq!(argv[2..], ["--".into(), Name::from(name)], "{name}");
        }
        let (line, _) = both(
            CommandLine::new("key")
                .with_name_argument("mail")
                .with_name_argument("-y"),
        );
        assert_eq!(line, "qless key -- mail -y");
    }

    #[test]
    fn a_command_that_no_process_can_run_is_not_printed() {
        for name in ["a\0b", ""] {
            for command in [
                CommandLine::new("get")
                    .with_name_argument("a")
                    .with_name_argument(name),
                CommandLine::new("jobs").with_exact_pattern("--queue", &name.into()),
            ] {
                assert_eq!(command.shell_line(), None);
                assert_eq!(command.fill_sentence("see {}"), None);
                assert!(command.runnable_argv_or_empty().is_empty());
            }
        }
        let within = CommandLine::new("get")
            .with_name_argument("{}")
            .fill_sentence("{} shows it");
        assert_eq!(within.as_deref(), Some("`qless get -- '{}'` shows it"));
    }

    #[test]
    fn the_value_of_a_flag_stands_behind_an_equals_sign() {
        let command = CommandLine::new("depends")
            .with_flag("--off", "--all")
            .with_name_argument("b");
        let (line, argv) = both(command);
        assert_eq!(line, "qless depends --off=--all b");
        assert_eq!(argv, ["qless", "depends", "--off=--all", "b"]);
        let command = CommandLine::new("jobs").with_exact_pattern("--queue", &"a*".into());
        let (line, argv) = both(command);
        assert_eq!(line, "qless jobs --queue='a\\*'");
        assert_eq!(argv, ["qless", "jobs", "--queue=a\\*"]);
    }

    #[test]
    fn a_shell_reads_exactly_the_bytes() {
        for (name, word) in [
            (&b"mail"[..], "mail"),
            (b"", "''"),
            (b"two words", "'two words'"),
            (b"it's; rm", "'it'\\''s; rm'"),
            (b"=ls", "'=ls'"),
            (b"a\nb", "$'a\\nb'"),
            (b"a'\x1b1\xff\\", "$'a\\047\\0331\\377\\\\'"),
            ("\u{202e}ü".as_bytes(), "$'\\342\\200\\256\\303\\274'"),
            (b"a\0b", UNTYPABLE),
        ] {
            assert_eq!(shell_quoted(name), word);
            if name.contains(&0) {
                for line in [format!("true {word} a"), format!("true --flag={word} a")] {
                    let ran = std::process::Command::new("bash")
                        .args(["-c", &line])
                        .output();
                    let said = String::from_utf8(ran.unwrap().stderr).unwrap();
                    assert!(said.contains("syntax error"), "{line}: {said}");
                }
                continue;
            }
            let script = format!("printf %s {word}");
            let ran = std::process::Command::new("bash")
                .args(["-c", &script])
                .output();
            assert_eq!(ran.unwrap().stdout, name, "{word}");
        }
    }

    #[test]
    fn no_shell_runs_a_part_of_a_name() {
        for name in [
            "a\n'; echo in #",
            "a\n\\'; echo in #",
            "a\\\n'$(echo in >&2)`echo in`",
            "'\t'\necho in\n",
        ] {
            for shell in ["sh", "bash"] {
                let ran = std::process::Command::new(shell)
                    .args(["-c", &format!(": {}", shell_quoted(name))])
                    .output()
                    .unwrap();
                assert!(ran.stdout.is_empty() && ran.stderr.is_empty(), "{ran:?}");
            }
        }
    }
}
