//! Joins the Lua sources. The build does so for the usual prefix (`build.rs`), the binary for any
//! other, and to know which line came from where.
//!
//! Redis runs the script text anew at each call, so nothing is built before it is asked for: each
//! shared room and each command becomes one branch of a choice, and key names are written as
//! literals. Comments and blank lines are dropped, so that they never change the SHA. What is
//! seldom needed stays text, which is compiled when it is asked for and kept for the call.

use std::collections::HashMap;

use super::source::{COMMANDS, HEAD, KEYS, RARE, ROOMS, Source};

/// A joined script.
pub(crate) struct Joined {
    pub text: String,
    /// For each line the file and line it came from; `None` for what the join adds.
    pub places: Vec<Option<(&'static str, usize)>>,
}

/// Joins all rooms and commands for a prefix, with `last` in the end.
pub(crate) fn join(prefix: &str, last: Source) -> Joined {
    let mut join = Join::new(prefix);
    join.source(HEAD);
    join.line("local need, kept");
    join.line("need = function(name, command)");
    join.line("if not command then");
    join.choice(ROOMS);
    join.rare(RARE);
    join.line("end");
    join.choice(COMMANDS);
    join.line("end");
    join.source(last);
    Joined {
        text: join.text,
        places: join.places,
    }
}

/// The script so far.
struct Join {
    keys: HashMap<&'static str, String>,
    text: String,
    places: Vec<Option<(&'static str, usize)>>,
}

impl Join {
    fn new(prefix: &str) -> Join {
        Join {
            keys: keys()
                .map(|(name, key)| (name, format!("'{}'", key.replacen("ql:", prefix, 1))))
                .collect(),
            text: String::with_capacity(1 << 17),
            places: Vec::with_capacity(1 << 12),
        }
    }

    /// Adds a line of the join itself.
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
        self.places.push(None);
    }

    /// Adds a choice by name, of which a call enters one branch.
    fn choice(&mut self, sources: &[(&str, Source)]) {
        for (at, (name, source)) in sources.iter().enumerate() {
            let word = if at == 0 { "if" } else { "elseif" };
            self.line(&format!("{word} name == '{name}' then"));
            self.source(*source);
        }
        self.line("end");
    }

    /// Adds a choice among texts, and what compiles one. Each has the lines of its file, so that
    /// what it raises names them.
    fn rare(&mut self, sources: &[(&str, Source)]) {
        self.line("kept = kept or {}");
        self.line("if kept[name] then return kept[name](need) end");
        self.line("local path, text");
        for (at, (name, source)) in sources.iter().enumerate() {
            let word = if at == 0 { "if" } else { "elseif" };
            let path = source.path;
            self.line(&format!(
                "{word} name == '{name}' then path, text = '@{path}', [==[local need = ..."
            ));
            for (at, line) in source.text.lines().enumerate().skip(1) {
                if says(line) {
                    self.keyed(line);
                }
                self.text.push('\n');
                self.places.push(Some((source.path, at + 1)));
            }
            self.line("]==]");
        }
        self.line("end");
        self.line("kept[name] = loadstring(text, path)");
        self.line("return kept[name](need)");
    }

    /// Adds the lines of a file that say something to Lua.
    fn source(&mut self, source: Source) {
        for (at, line) in source.text.lines().enumerate() {
            if !says(line) {
                continue;
            }
            self.keyed(line);
            self.text.push('\n');
            self.places.push(Some((source.path, at + 1)));
        }
    }

    /// Adds a line with literals in place of `Keys.<name>`. A name that is none stays as it is;
    /// a test says that there is none.
    fn keyed(&mut self, line: &str) {
        let mut rest = line;
        while let Some(at) = rest.find("Keys.") {
            let (before, name) = (&rest[..at], &rest[at + 5..]);
            let end = name
                .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                .unwrap_or(name.len());
            self.text.push_str(before);
            match self.keys.get(&name[..end]) {
                Some(literal) => self.text.push_str(literal),
                None => self.text.push_str(&rest[at..at + 5 + end]),
            }
            rest = &name[end..];
        }
        self.text.push_str(rest);
    }
}

/// Whether a line says something to Lua, or to Dragonfly.
fn says(line: &str) -> bool {
    let start = line.trim_start();
    !start.is_empty() && (!start.starts_with("--") || start.starts_with("--!df"))
}

/// Returns the names and values of `keys.lua`: its lines `  name = 'ql:j:',`.
pub(crate) fn keys() -> impl Iterator<Item = (&'static str, &'static str)> {
    KEYS.text.lines().filter_map(|line| {
        let (name, value) = line.trim().split_once(" = '")?;
        Some((name, value.strip_suffix("',")?))
    })
}
