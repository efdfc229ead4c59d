//! The Lua sources joined into one script, its SHA, and which line came from where.
//!
//! Redis runs the script text anew at each call, so nothing is built before it is asked for: each
//! shared room and each command becomes one branch of a choice, and key names are written as
//! literals. Comments and blank lines are dropped, so that they never change the SHA.

use std::collections::HashMap;

use sha1_smol::Sha1;

use super::source::{COMMANDS, DISPATCH, HEAD, KEYS, LIB, ROOMS, Source};

/// The joined script of one prefix.
#[derive(Debug)]
pub struct Script {
    prefix: String,
    text: String,
    sha: String,
    /// For each line the file and line it came from; `None` for what the join adds.
    places: Vec<Option<(&'static str, usize)>>,
}

impl Script {
    /// Joins the script that the binary loads.
    pub fn new(prefix: &str) -> Script {
        Script::ending(prefix, DISPATCH)
    }

    /// Joins the library form, which plugins of other clients put before their own script.
    pub fn library(prefix: &str) -> Script {
        Script::ending(prefix, LIB)
    }

    fn ending(prefix: &str, last: Source) -> Script {
        let mut join = Join::new(prefix);
        join.source(HEAD);
        join.line("local need");
        join.line("need = function(name, command)");
        join.line("if not command then");
        join.choice(ROOMS);
        join.line("end");
        join.choice(COMMANDS);
        join.line("end");
        join.source(last);
        Script {
            prefix: prefix.to_string(),
            sha: Sha1::from(&join.text).digest().to_string(),
            text: join.text,
            places: join.places,
        }
    }

    /// Returns the prefix of all keys.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Returns what is loaded, byte for byte.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the name that EVALSHA knows it by.
    pub fn sha(&self) -> &str {
        &self.sha
    }

    /// Returns the file and line that a line of the script, counted from 1, came from:
    /// `lua/command/put.lua:17`.
    pub fn place(&self, line: usize) -> Option<String> {
        let (path, number) = (*self.places.get(line.checked_sub(1)?)?)?;
        Some(format!("{path}:{number}"))
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

    /// Adds the lines of a file that say something to Lua.
    fn source(&mut self, source: Source) {
        for (at, line) in source.text.lines().enumerate() {
            let start = line.trim_start();
            let comment = start.starts_with("--") && !start.starts_with("--!df");
            if start.is_empty() || comment {
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

/// Returns the names and values of `keys.lua`: its lines `  name = 'ql:j:',`.
fn keys() -> impl Iterator<Item = (&'static str, &'static str)> {
    KEYS.text.lines().filter_map(|line| {
        let (name, value) = line.trim().split_once(" = '")?;
        Some((name, value.strip_suffix("',")?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources() -> impl Iterator<Item = Source> {
        let named = ROOMS.iter().chain(COMMANDS).map(|(_, source)| *source);
        [HEAD, DISPATCH, LIB].into_iter().chain(named)
    }

    #[test]
    fn every_file_of_lua_is_joined() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("lua");
        let mut found = Vec::new();
        for dir in ["", "room", "command"] {
            for entry in std::fs::read_dir(root.join(dir)).unwrap().flatten() {
                let path = entry.path();
                if path.extension().is_some_and(|kind| kind == "lua") {
                    let path = path.strip_prefix(root.parent().unwrap()).unwrap();
                    found.push(path.to_str().unwrap().to_string());
                }
            }
        }
        let mut listed: Vec<_> = sources().map(|source| source.path.to_string()).collect();
        listed.push(KEYS.path.to_string());
        listed.sort();
        found.sort();
        assert_eq!(listed, found);
    }

    #[test]
    fn sources_stay_simple_enough_for_the_join() {
        for source in sources().chain([KEYS]) {
            let path = source.path;
            // A pattern may well look for a bracket: `%[[^,]`.
            let text = source.text.replace("%[[", "");
            assert!(!text.contains("[["), "{path}: multi-line text");
            assert!(!source.text.contains("--["), "{path}: block comment");
            assert!(!source.text.contains('\r'), "{path}: carriage return");
        }
    }

    #[test]
    fn every_key_name_is_known_and_replaced() {
        for script in [Script::new("ql:"), Script::library("ql:")] {
            assert_eq!(script.text.find("Keys."), None);
        }
        assert!(keys().count() > 20);
    }

    #[test]
    fn the_prefix_is_the_only_difference_between_two_scripts() {
        let (ours, other) = (Script::new("ql:"), Script::new("{t}:"));
        assert_ne!(ours.sha(), other.sha());
        assert!(!other.text().contains("'ql:"));
        assert_eq!(other.text().replace("'{t}:", "'ql:"), ours.text());
    }

    #[test]
    fn every_line_knows_where_it_came_from() {
        let script = Script::new("ql:");
        let lines: Vec<&str> = script.text().lines().collect();
        assert_eq!(lines.len(), script.places.len());
        for source in sources().filter(|source| source.path != LIB.path) {
            for (at, line) in source.text.lines().enumerate() {
                let line = line.trim_start();
                if line.is_empty() || line.starts_with("--") {
                    continue;
                }
                assert!(script.places.contains(&Some((source.path, at + 1))));
            }
        }
        let first = lines.iter().position(|line| line.contains("Must provide"));
        let place = script.place(first.unwrap() + 1).unwrap();
        assert!(place.starts_with("lua/dispatch.lua:"), "{place}");
        assert_eq!(script.place(0), None);
        assert_eq!(script.place(1_000_000), None);
    }

    #[test]
    fn the_only_comment_left_is_for_dragonfly() {
        let script = Script::new("ql:");
        let mut comments = script.text().lines();
        assert_eq!(comments.next(), Some("--!df flags=allow-undeclared-keys"));
        assert!(comments.all(|line| !line.trim_start().starts_with("--")));
    }
}
