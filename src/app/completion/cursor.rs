//! Where on the command line the cursor is.

use std::ffi::OsString;

use clap::builder::ValueRange;
use clap::{Arg, ArgAction, Command};

use super::line::TypedLine;

/// The command, the flag and the value that the word at the cursor belongs to.
#[derive(Clone, Debug)]
pub(super) struct CompletionCursor<'t> {
    pub command: &'t Command,
    pub slot: CursorSlot<'t>,
    /// The part of the value that was typed before the cursor.
    pub begun: String,
    /// The part of the word before the value: `--queue=`, or the values before a comma.
    pub before_value: String,
    /// Whether the shell would expand a part of the word.
    pub expands: bool,
    /// Whether `--` was typed, so that no flag can follow.
    pub escaped: bool,
    /// The flags that were typed before.
    pub flags: Vec<&'t Arg>,
    /// The global flags that were typed, with their values.
    pub globals: Vec<String>,
    /// The positional arguments of the command that were typed before.
    pub positionals: Vec<String>,
}

/// The kind of word that can be typed at the cursor.
#[derive(Clone, Copy, Debug)]
pub(super) enum CursorSlot<'t> {
    /// The name of a flag.
    Flag,
    /// The value of a flag.
    Value(&'t Arg),
    /// A subcommand, or the next positional argument if the command has one.
    Positional(Option<&'t Arg>),
    /// The file of a redirection.
    Redirection,
}

/// The position of the cursor. `None` on the name of the program, or if the shell would expand the value of a global
/// flag: then the server may be another one.
pub(super) fn locate_completion_cursor<'t>(
    tree: &'t Command,
    typed: &TypedLine,
) -> Option<CompletionCursor<'t>> {
    let (last, words) = typed.words.split_last()?;
    if words.is_empty() && !typed.ends_in_redirection {
        return None;
    }
    let mut parser = PartialLineParser::new(tree);
    for word in words.iter().skip(1) {
        let globals = parser.globals.len();
        parser.read_word(&word.text);
        if word.expands && parser.globals.len() > globals {
            return None;
        }
    }
    let LastWord {
        slot,
        begun,
        before_value,
    } = parser.read_last_word(&last.text, typed.ends_in_redirection);
    let (mut before_value, mut begun) = (before_value.to_owned(), begun.to_owned());
    if let CursorSlot::Value(arg) | CursorSlot::Positional(Some(arg)) = slot
        && let Some(delimiter) = arg.get_value_delimiter()
        && let Some(at) = begun.rfind(delimiter)
    {
        let rest = begun.split_off(at + delimiter.len_utf8());
        before_value.push_str(&begun);
        begun = rest;
    }
    Some(CompletionCursor {
        command: parser.command,
        slot,
        begun,
        before_value,
        expands: last.expands,
        escaped: parser.only_positionals,
        flags: parser.flags,
        globals: parser.globals,
        positionals: parser.positionals,
    })
}

/// The index of the `--` that ends the flags.
pub(in crate::app) fn end_of_flags(tree: &Command, words: &[OsString]) -> Option<usize> {
    let mut parser = PartialLineParser::new(tree);
    for (at, word) in words.iter().enumerate().skip(1) {
        parser.read_word(&word.to_string_lossy());
        if parser.only_positionals {
            return Some(at);
        }
    }
    None
}

/// The number of words up to and including the last one that names a command or subcommand. `None` if there is none.
pub(in crate::app) fn end_of_command(tree: &Command, words: &[OsString]) -> Option<usize> {
    let (mut parser, mut end) = (PartialLineParser::new(tree), None);
    for (at, word) in words.iter().enumerate().skip(1) {
        let above = parser.command;
        parser.read_word(&word.to_string_lossy());
        if !std::ptr::eq(above, parser.command) {
            end = Some(at + 1);
        }
    }
    end
}

/// The command that the words name, even if clap would refuse the other words.
pub(in crate::app) fn named_command<'t>(tree: &'t Command, words: &[OsString]) -> &'t Command {
    let mut parser = PartialLineParser::new(tree);
    for word in words.iter().skip(1) {
        parser.read_word(&word.to_string_lossy());
    }
    parser.command
}

/// The first flag with an optional value that a separate word follows, and that word: clap reads such a value only
/// after `=`.
pub(in crate::app) fn detached_value(
    tree: &Command,
    words: &[OsString],
) -> Option<(String, String)> {
    let mut parser = PartialLineParser::new(tree);
    let mut last_flag: Option<&Arg> = None;
    for word in words.iter().skip(1) {
        let word = word.to_string_lossy();
        let is_plain = !word.starts_with('-') && parser.pending.is_none();
        if let (Some(flag), true) = (last_flag, is_plain) {
            let arg = Arg::new("value").value_parser(flag.get_value_parser().clone());
            let mut alone = Command::new("x").no_binary_name(true).arg(arg);
            let words = [OsString::from(&*word)];
            if alone.try_get_matches_from_mut(&words[..]).is_ok() {
                return Some((format!("--{}", flag.get_long()?), word.into_owned()));
            }
        }
        let is_flag = parser.pending.is_none() && !parser.only_positionals;
        let long = word.strip_prefix("--").filter(|_| is_flag);
        last_flag = long.and_then(|name| parser.find_long_flag(name));
        last_flag = last_flag.filter(|arg| arg.is_require_equals_set());
        parser.read_word(&word);
    }
    None
}

/// The word at the cursor.
struct LastWord<'t, 'w> {
    slot: CursorSlot<'t>,
    /// The part of its value that was typed.
    begun: &'w str,
    /// The part of the word before the value.
    before_value: &'w str,
}

/// Reads words as clap would, however incomplete the line is.
struct PartialLineParser<'t> {
    command: &'t Command,
    /// The flag that takes the next word.
    pending: Option<&'t Arg>,
    /// The flag whose list of values may continue with the next word.
    open: Option<&'t Arg>,
    only_positionals: bool,
    flags: Vec<&'t Arg>,
    globals: Vec<String>,
    positionals: Vec<String>,
}

impl<'t> PartialLineParser<'t> {
    fn new(tree: &'t Command) -> PartialLineParser<'t> {
        PartialLineParser {
            command: tree,
            pending: None,
            open: None,
            only_positionals: false,
            flags: Vec::new(),
            globals: Vec::new(),
            positionals: Vec::new(),
        }
    }

    fn read_last_word<'w>(&self, word: &'w str, ends_in_redirection: bool) -> LastWord<'t, 'w> {
        let whole_word = |slot| LastWord {
            slot,
            begun: word,
            before_value: "",
        };
        if ends_in_redirection {
            return whole_word(CursorSlot::Redirection);
        }
        if let Some(arg) = self.pending {
            return whole_word(CursorSlot::Value(arg));
        }
        if !word.starts_with('-') || self.only_positionals {
            return whole_word(match self.open {
                Some(arg) => CursorSlot::Value(arg),
                None => CursorSlot::Positional(self.next_positional()),
            });
        }
        let at = match word.strip_prefix("--") {
            Some(flag) => flag
                .find('=')
                .map(|at| (at + 3, self.find_long_flag(&flag[..at]))),
            None => self
                .short_flag_value_start(word)
                .map(|(at, arg)| (at, Some(arg))),
        };
        match at {
            Some((at, Some(arg))) => LastWord {
                slot: CursorSlot::Value(arg),
                begun: &word[at..],
                before_value: &word[..at],
            },
            _ => whole_word(CursorSlot::Flag),
        }
    }

    /// The position at which the value begins in `-ojson` or `-yo=json`, and the flag of the value.
    fn short_flag_value_start(&self, word: &str) -> Option<(usize, &'t Arg)> {
        for (at, letter) in word.char_indices().skip(1) {
            let arg = self.find_short_flag(letter)?;
            if arg.get_action().takes_values() {
                let at = at + letter.len_utf8();
                let at = at + usize::from(word[at..].starts_with('='));
                return Some((at, arg));
            }
        }
        None
    }

    fn read_word(&mut self, word: &str) {
        if let Some(arg) = self.pending.take() {
            let many = |count: ValueRange| count.max_values() > 1;
            self.open = arg.get_num_args().is_some_and(many).then_some(arg);
            return self.note_given_flag(arg, Some(word));
        }
        if word.starts_with('-') {
            self.open = None;
        } else if let Some(arg) = self.open {
            return self.note_given_flag(arg, Some(word));
        }
        if self.only_positionals || !word.starts_with('-') || word == "-" {
            return self.read_plain_word(word);
        }
        if word == "--" {
            self.only_positionals = true;
        } else if let Some(flag) = word.strip_prefix("--") {
            let (name, value) = match flag.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (flag, None),
            };
            if let Some(arg) = self.find_long_flag(name) {
                self.read_flag(arg, value);
            }
        } else {
            self.read_short_flags(&word[1..]);
        }
    }

    /// Reads `-yo json` and `-ojson`.
    fn read_short_flags(&mut self, letters: &str) {
        for (at, letter) in letters.char_indices() {
            let Some(arg) = self.find_short_flag(letter) else {
                return;
            };
            let rest = &letters[at + letter.len_utf8()..];
            if arg.get_action().takes_values() {
                let value = rest.strip_prefix('=').unwrap_or(rest);
                return self.read_flag(arg, (!value.is_empty()).then_some(value));
            }
            self.read_flag(arg, None);
        }
    }

    fn read_flag(&mut self, arg: &'t Arg, value: Option<&str>) {
        let optional = arg
            .get_num_args()
            .is_some_and(|count| count.min_values() == 0);
        match value {
            None if arg.get_action().takes_values() && !optional => self.pending = Some(arg),
            value => self.note_given_flag(arg, value),
        }
    }

    fn note_given_flag(&mut self, arg: &'t Arg, value: Option<&str>) {
        self.flags.push(arg);
        if let (true, Some(name)) = (arg.is_global_set(), arg.get_long()) {
            self.globals.push(match value {
                Some(value) => format!("--{name}={value}"),
                None => format!("--{name}"),
            });
        }
    }

    fn read_plain_word(&mut self, word: &str) {
        let below = self.command.find_subcommand(word);
        match below.filter(|_| self.positionals.is_empty() && !self.only_positionals) {
            Some(below) => self.command = below,
            None => self.positionals.push(word.to_owned()),
        }
    }

    fn find_long_flag(&self, name: &str) -> Option<&'t Arg> {
        let mut args = self.command.get_arguments();
        args.find(|arg| arg.get_long() == Some(name))
    }

    fn find_short_flag(&self, letter: char) -> Option<&'t Arg> {
        let mut args = self.command.get_arguments();
        args.find(|arg| arg.get_short() == Some(letter))
    }

    /// The positional argument that the next word belongs to. The last argument of a command may take several words.
    fn next_positional(&self) -> Option<&'t Arg> {
        let all: Vec<&Arg> = self.command.get_positionals().collect();
        let many = |arg: &&&Arg| {
            let max_values = arg.get_num_args().map_or(1, |count| count.max_values());
            max_values > 1 || matches!(arg.get_action(), ArgAction::Append)
        };
        let next = all.get(self.positionals.len());
        next.or_else(|| all.last().filter(many)).copied()
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::line;
    use super::super::offer::{candidate_kind, takes_glob};
    use super::super::shell::Shell;
    use super::*;

    /// What is looked up for the last word of a line.
    fn at(line: &str) -> String {
        let mut tree = crate::app::parse::clap_tree();
        tree.build();
        let typed = line::read_typed_line(Shell::Bash, &[" =:".into(), line.into()]).unwrap();
        let Some(cursor) = locate_completion_cursor(&tree, &typed) else {
            return "–".to_owned();
        };
        let slot = match cursor.slot {
            CursorSlot::Flag => "flag".to_owned(),
            CursorSlot::Redirection => "file".to_owned(),
            CursorSlot::Positional(None) => "command".to_owned(),
            CursorSlot::Value(arg) | CursorSlot::Positional(Some(arg)) => {
                match candidate_kind(&cursor, arg) {
                    Some(kind) if takes_glob(arg) => format!("{kind:?} or glob"),
                    Some(kind) => format!("{kind:?}"),
                    None => "other value".to_owned(),
                }
            }
        };
        let (before, begun, globals) =
            (cursor.before_value, cursor.begun, cursor.globals.join(" "));
        format!("{slot} {before}<{begun}> {globals}")
    }

    #[test]
    fn the_cursor_is_in_an_argument() {
        let mut all = String::new();
        for line in [
            "qless ",
            "qless jobs ",
            "qless --redis local: jobs -o json --queue 'a b",
            "qless --context pr",
            "qless --context=prod -v retry 0b",
            "qless --redis \"$URL\" retry 0b",
            "qless retry x --delay 5m y",
            "qless retry --to ",
            "qless retry --fail-group ",
            "qless retry --as-holder ",
            "qless put ",
            "qless put mail ",
            "qless put mail K --tag ",
            "qless put mail K --jid ",
            "qless put --depends ",
            "qless queues ",
            "qless queues a b",
            "qless pause --all --until ",
            "qless forget queue ",
            "qless forget worker ",
            "qless config set ",
            "qless config unset a ",
            "qless context use ",
            "qless context add ",
            "qless recur put ",
            "qless recur list ",
            "qless recur put q K --jid ",
            "qless tag x --add ",
            "qless tag x --remove=",
            "qless track --remove ",
            "qless workers ",
            "qless failed --group ",
            "qless unfail ",
            "qless unfail g --to ",
            "qless priority --to ",
            "qless priority --to 5 ",
            "qless stats ",
            "qless jobs --held-by ",
            "qless complete ",
            "qless complete x --next ",
            "qless fail --worker ",
            "qless depends x --on ",
            "qless depends x --on a ",
            "qless depends x --on a --off ",
            "qless get -- -",
            "qless jobs --watch --queue ",
            "qless jobs -",
            "qless --context local queues ",
            "qless jobs -y -o=js",
            "qless config set heartbeat ",
            "qless config set heartbeat 60 ",
        ] {
            all.push_str(&format!("{line}  {}\n", at(line)));
        }
        expect![[r#"
            qless   command <> 
            qless jobs   command <> 
            qless --redis local: jobs -o json --queue 'a b  Queues or glob <a b> --redis=local: --output=json
            qless --context pr  Contexts <pr> 
            qless --context=prod -v retry 0b  Jids(Failed) <0b> --context=prod --verbose
            qless --redis "$URL" retry 0b  –
            qless retry x --delay 5m y  Jids(Failed) <y> 
            qless retry --to   Queues <> 
            qless retry --fail-group   Groups <> 
            qless retry --as-holder   Jids(Failed) <> 
            qless put   Queues <> 
            qless put mail   other value <> 
            qless put mail K --tag   Tags <> 
            qless put mail K --jid   other value <> 
            qless put --depends   Jids(NotComplete) <> 
            qless queues   Queues or glob <> 
            qless queues a b  Queues or glob <b> 
            qless pause --all --until   other value <> 
            qless forget queue   Queues <> 
            qless forget worker   Workers <> 
            qless config set   Options <> 
            qless config unset a   Options <> 
            qless context use   Contexts <> 
            qless context add   other value <> 
            qless recur put   Queues <> 
            qless recur list   Queues or glob <> 
            qless recur put q K --jid   other value <> 
            qless tag x --add   Tags <> 
            qless tag x --remove=  Tags --remove=<> 
            qless track --remove   Jids(NotComplete) <> 
            qless workers   Workers or glob <> 
            qless failed --group   Groups or glob <> 
            qless unfail   Groups <> 
            qless unfail g --to   Queues <> 
            qless priority --to   other value <> 
            qless priority --to 5   Jids(NotComplete) <> 
            qless stats   Queues or glob <> 
            qless jobs --held-by   Workers or glob <> 
            qless complete   Jids(Held) <> 
            qless complete x --next   Queues <> 
            qless fail --worker   Workers <> 
            qless depends x --on   Jids(NotComplete) <> 
            qless depends x --on a   Jids(NotComplete) <> 
            qless depends x --on a --off   Jids(NotComplete) <> 
            qless get -- -  Jids(NotComplete) <-> 
            qless jobs --watch --queue   Queues or glob <> 
            qless jobs -  flag <-> 
            qless --context local queues   Queues or glob <> --context=local
            qless jobs -y -o=js  other value -o=<js> --yes
            qless config set heartbeat   other value <> 
            qless config set heartbeat 60   Options <> 
        "#]].assert_eq(&all);
    }
}
