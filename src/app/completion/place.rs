//! Where on the command line the cursor is: which argument of which command is to be completed.

use clap::{Arg, Command};

use super::kind;
use super::kind::Wanted;
use super::line::Typed;

/// An argument that takes names.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Place {
    pub wanted: Wanted,
    /// What is typed of it.
    pub begun: String,
    /// What stands before it in the same word: `--queue=`.
    pub before: String,
    /// The global flags that were typed.
    pub globals: Vec<String>,
}

/// Returns the place, `None` where no names are known or something cannot be known.
pub(super) fn find(tree: &Command, typed: &Typed) -> Option<Place> {
    let (last, words) = typed.words.split_last()?;
    let mut walk = Walk {
        command: tree,
        path: Vec::new(),
        positional: 0,
        waits: None,
        only_positionals: false,
        globals: Vec::new(),
    };
    for word in words.iter().skip(1) {
        let global = walk.globals.len();
        walk.step(&word.text);
        if word.unknown && walk.globals.len() > global {
            return None;
        }
    }
    if words.is_empty() || last.unknown {
        return None;
    }
    let path: Vec<&str> = walk.path;
    let place = |arg: &Arg, begun: &str, before: &str| {
        Some(Place {
            wanted: kind::of(&path, arg)?,
            begun: begun.to_owned(),
            before: before.to_owned(),
            globals: walk.globals.clone(),
        })
    };
    if let Some(arg) = walk.waits {
        return place(arg, &last.text, "");
    }
    if last.text.starts_with('-') && !walk.only_positionals {
        let (flag, begun) = last.text.split_once('=')?;
        let arg = long(walk.command, flag.strip_prefix("--")?)?;
        return place(arg, begun, &format!("{flag}="));
    }
    place(walk.command.positional(walk.positional)?, &last.text, "")
}

/// A way through the words.
struct Walk<'t> {
    command: &'t Command,
    path: Vec<&'t str>,
    /// How many positional arguments there were.
    positional: usize,
    /// The flag that takes the next word.
    waits: Option<&'t Arg>,
    only_positionals: bool,
    globals: Vec<String>,
}

impl<'t> Walk<'t> {
    fn step(&mut self, word: &str) {
        if let Some(arg) = self.waits.take() {
            return self.given(arg, Some(word));
        }
        if self.only_positionals || !word.starts_with('-') || word == "-" {
            return self.plain(word);
        }
        if word == "--" {
            self.only_positionals = true;
        } else if let Some(flag) = word.strip_prefix("--") {
            let (name, value) = match flag.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (flag, None),
            };
            if let Some(arg) = long(self.command, name) {
                self.flag(arg, value);
            }
        } else {
            self.shorts(&word[1..]);
        }
    }

    /// Takes `-yo json` and `-ojson`.
    fn shorts(&mut self, letters: &str) {
        for (at, letter) in letters.char_indices() {
            let is = |arg: &&Arg| arg.get_short() == Some(letter);
            let Some(arg) = self.command.get_arguments().find(is) else {
                return;
            };
            let rest = &letters[at + letter.len_utf8()..];
            if arg.get_action().takes_values() {
                let value = rest.strip_prefix('=').unwrap_or(rest);
                return self.flag(arg, (!value.is_empty()).then_some(value));
            }
            self.flag(arg, None);
        }
    }

    fn flag(&mut self, arg: &'t Arg, value: Option<&str>) {
        let optional = arg
            .get_num_args()
            .is_some_and(|count| count.min_values() == 0);
        match value {
            None if arg.get_action().takes_values() && !optional => self.waits = Some(arg),
            value => self.given(arg, value),
        }
    }

    fn given(&mut self, arg: &Arg, value: Option<&str>) {
        if let (true, Some(name)) = (arg.is_global_set(), arg.get_long()) {
            self.globals.push(match value {
                Some(value) => format!("--{name}={value}"),
                None => format!("--{name}"),
            });
        }
    }

    fn plain(&mut self, word: &str) {
        let below = self.command.find_subcommand(word);
        match below.filter(|_| self.positional == 0 && !self.only_positionals) {
            Some(below) => {
                self.command = below;
                self.path.push(below.get_name());
            }
            None => self.positional += 1,
        }
    }
}

fn long<'t>(command: &'t Command, name: &str) -> Option<&'t Arg> {
    command
        .get_arguments()
        .find(|arg| arg.get_long() == Some(name))
}

/// The positional argument at a place; the last one may take all that follow.
trait Positional {
    fn positional(&self, at: usize) -> Option<&Arg>;
}

impl Positional for Command {
    fn positional(&self, at: usize) -> Option<&Arg> {
        let all: Vec<&Arg> = self.get_positionals().collect();
        match all.get(at) {
            Some(arg) => Some(arg),
            None => {
                let many = |arg: &&&Arg| {
                    arg.get_num_args()
                        .is_some_and(|count| count.max_values() > 1)
                };
                all.last().filter(many).copied()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::app::completion::line;
    use clap_complete::Shell;

    fn told(line: &str) -> String {
        let mut tree = crate::app::parse::command();
        tree.build();
        let typed = line::read(Shell::Bash, &[line.into()]).unwrap();
        match find(&tree, &typed) {
            None => "–".to_owned(),
            Some(place) => {
                let Place {
                    wanted,
                    begun,
                    before,
                    globals,
                } = place;
                let glob = if wanted.glob { " or glob" } else { "" };
                let kind = wanted.kind.word();
                format!("{kind}{glob} {before}<{begun}> {}", globals.join(" "))
            }
        }
    }

    #[test]
    fn the_cursor_is_in_an_argument() {
        let mut all = String::new();
        for line in [
            "qless ",
            "qless re",
            "qless jobs ",
            "qless jobs --queue ",
            "qless jobs --queue=ma",
            "qless --redis local: jobs -o json --queue 'a b",
            "qless --context pr",
            "qless --context=prod -v retry 0b",
            "qless --redis \"$URL\" retry 0b",
            "qless retry x --delay 5m y",
            "qless retry --to ",
            "qless retry --fail-group ",
            "qless retry --as-holder ",
            "qless promote ",
            "qless timeout ",
            "qless cancel ",
            "qless put ",
            "qless put mail ",
            "qless put mail K --tag ",
            "qless put mail K --jid ",
            "qless put --depends ",
            "qless queues ",
            "qless queues a b",
            "qless length ",
            "qless length a ",
            "qless pause --all --until ",
            "qless forget queue ",
            "qless forget worker ",
            "qless config get ",
            "qless config set ",
            "qless config unset a ",
            "qless context use ",
            "qless context add ",
            "qless recur rm ",
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
            "qless depends ",
            "qless depends x --on ",
            "qless get -- -",
            "qless jobs --watch --queue ",
            "qless jobs -",
            "qless help ",
        ] {
            all.push_str(&format!("{line}  {}\n", told(line)));
        }
        expect![[r#"
            qless   –
            qless re  –
            qless jobs   –
            qless jobs --queue   queue or glob <> 
            qless jobs --queue=ma  queue or glob --queue=<ma> 
            qless --redis local: jobs -o json --queue 'a b  queue or glob <a b> --redis=local: --output=json
            qless --context pr  context <pr> 
            qless --context=prod -v retry 0b  failed <0b> --context=prod --verbose
            qless --redis "$URL" retry 0b  –
            qless retry x --delay 5m y  failed <y> 
            qless retry --to   queue <> 
            qless retry --fail-group   group <> 
            qless retry --as-holder   failed <> 
            qless promote   scheduled <> 
            qless timeout   held <> 
            qless cancel   open <> 
            qless put   queue <> 
            qless put mail   –
            qless put mail K --tag   tag <> 
            qless put mail K --jid   –
            qless put --depends   open <> 
            qless queues   queue or glob <> 
            qless queues a b  queue or glob <b> 
            qless length   queue <> 
            qless length a   –
            qless pause --all --until   –
            qless forget queue   queue <> 
            qless forget worker   worker <> 
            qless config get   option <> 
            qless config set   option <> 
            qless config unset a   option <> 
            qless context use   context <> 
            qless context add   –
            qless recur rm   recurring <> 
            qless recur put   queue <> 
            qless recur list   queue or glob <> 
            qless recur put q K --jid   –
            qless tag x --add   tag <> 
            qless tag x --remove=  tag --remove=<> 
            qless track --remove   open <> 
            qless workers   worker or glob <> 
            qless failed --group   group or glob <> 
            qless unfail   group <> 
            qless unfail g --to   queue <> 
            qless priority --to   –
            qless priority --to 5   open <> 
            qless stats   queue or glob <> 
            qless jobs --held-by   worker or glob <> 
            qless complete   held <> 
            qless complete x --next   queue <> 
            qless fail --worker   worker <> 
            qless depends   depends <> 
            qless depends x --on   open <> 
            qless get -- -  open <-> 
            qless jobs --watch --queue   queue or glob <> 
            qless jobs -  –
            qless help   –
        "#]].assert_eq(&all);
    }
}
