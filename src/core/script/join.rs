//! Joins the Lua sources. The build joins them for the usual prefix (`build.rs`), the binary for any
//! other prefix, and to find the file of a line.
//!
//! Redis runs the script text from scratch at each call, so nothing is built before a call asks for
//! it: each shared function and each command becomes one branch of a choice. Key names, lists of
//! fields and slots are written as literals. Comments and blank lines are dropped, so that they never
//! change the SHA. Functions that few calls use stay text, which is compiled on demand, once per call.

use std::collections::HashMap;

use super::source::{COMMANDS, HEAD, KEYS, ON_DEMAND, SHARED, SPLIT, Source};

/// A joined script.
pub(crate) struct Joined {
    pub text: String,
    /// For each line the file and line it came from; `None` for what the join adds.
    pub places: Vec<Option<(&'static str, usize)>>,
}

/// The clients that a script is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// All clients of qless-core.
    Common,
    /// qless-php, whose own core has other defaults and replies.
    QlessPhp,
    /// All clients, on a cluster with one primary and a prefix without a hash tag.
    OnePrimary,
}

/// Joins all functions and commands for a prefix, with `last` at the end.
pub(crate) fn join(prefix: &str, dialect: Dialect, last: Source) -> Joined {
    let mut join = Join::new(prefix, dialect);
    // The first line lets a Dragonfly run a script that names no keys.
    if !join.tagged {
        join.source(HEAD);
    }
    if dialect == Dialect::QlessPhp && !join.tagged {
        // The flags of the first line end at the blank.
        join.text.truncate(join.text.trim_end().len());
        join.text.push_str(" for qless-php\n");
    }
    // A dry run replaces it.
    join.line("local redis = redis");
    if dialect == Dialect::OnePrimary {
        join.source(SPLIT);
    }
    join.line("local need, built");
    join.line("need = function(name, command)");
    join.line("if not command then");
    join.choice(SHARED);
    join.on_demand();
    join.line("end");
    join.choice(COMMANDS);
    join.line("end");
    join.source(last);
    Joined {
        text: join.text,
        places: join.places,
    }
}

/// Returns whether a prefix has a hash tag: then all its keys are in one slot of a cluster.
pub(crate) fn tagged(prefix: &str) -> bool {
    prefix.contains('{')
}

/// The script so far.
struct Join {
    keys: HashMap<&'static str, String>,
    /// Whether the prefix has a hash tag.
    tagged: bool,
    dialect: Dialect,
    text: String,
    places: Vec<Option<(&'static str, usize)>>,
}

impl Join {
    fn new(prefix: &str, dialect: Dialect) -> Join {
        Join {
            tagged: tagged(prefix),
            dialect,
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

    /// Adds a choice by name. A call enters one branch.
    fn choice(&mut self, sources: &[(&str, Source)]) {
        for (at, (name, source)) in sources.iter().enumerate() {
            let word = if at == 0 { "if" } else { "elseif" };
            self.line(&format!("{word} name == '{name}' then"));
            self.source(*source);
        }
        self.line("end");
    }

    /// Adds a choice among texts, and the lines that compile one. Each text has the lines of its
    /// file, so that an error names the line of the file.
    fn on_demand(&mut self) {
        // A text sees the server itself, unless it is given another one.
        let given = match self.dialect {
            Dialect::OnePrimary => "need, redis",
            Dialect::Common | Dialect::QlessPhp => "need",
        };
        self.line("built = built or {}");
        self.line(&format!(
            "if built[name] then return built[name]({given}) end"
        ));
        self.line("local path, text");
        for (at, (name, source)) in ON_DEMAND.iter().enumerate() {
            let word = if at == 0 { "if" } else { "elseif" };
            let path = source.path;
            self.line(&format!(
                "{word} name == '{name}' then path, text = '@{path}', [==[local {given} = ..."
            ));
            let lists = field_lists(source.text);
            for (at, line) in source.text.lines().enumerate().skip(1) {
                if is_code(line) && !lists.declares(at) {
                    self.code(line, &lists);
                }
                self.text.push('\n');
                self.places.push(Some((source.path, at + 1)));
            }
            self.line("]==]");
        }
        self.line("end");
        self.line("built[name] = loadstring(text, path)");
        self.line(&format!("return built[name]({given})"));
    }

    /// Adds the code of a file.
    fn source(&mut self, source: Source) {
        let lists = field_lists(source.text);
        for (at, line) in source.text.lines().enumerate() {
            if !is_code(line) || lists.declares(at) {
                continue;
            }
            self.code(line, &lists);
            self.text.push('\n');
            self.places.push(Some((source.path, at + 1)));
        }
    }

    /// Adds a line of code with literals in place of `Keys.<name>`, `Dialect.php`, `Prefix.tagged`,
    /// `unpack(<List>)`, `#<List>` and `<List>.<field>`. Unknown names stay as they are; a test asserts that
    /// there are none.
    fn code(&mut self, line: &str, lists: &FieldLists) {
        let mut rest = line;
        while let Some(start) = rest.find(is_word) {
            let (before, from) = rest.split_at(start);
            let (name, after) = from.split_at(word_length(from));
            let member = after
                .strip_prefix('.')
                .map(|text| &text[..word_length(text)]);
            let key = member.filter(|_| name == "Keys");
            let key = key.and_then(|member| self.keys.get(member));
            if let (Some(key), Some(member)) = (key, member) {
                self.text.push_str(before);
                self.text.push_str(key);
                rest = &after[1 + member.len()..];
                continue;
            }
            let constant = match (name, member) {
                ("Dialect", Some("php")) => Some(self.dialect == Dialect::QlessPhp),
                ("Prefix", Some("tagged")) => Some(self.tagged),
                _ => None,
            };
            if let (Some(constant), Some(member)) = (constant, member) {
                self.text.push_str(&format!("{before}{constant}"));
                rest = &after[1 + member.len()..];
                continue;
            }
            rest = after;
            let Some(fields) = lists.get(name) else {
                self.text.push_str(before);
                self.text.push_str(name);
                continue;
            };
            let slot = member
                .and_then(|member| fields.iter().position(|field| slot_name(field) == member));
            if let (Some(slot), Some(member)) = (slot, member) {
                self.text.push_str(&format!("{before}{}", slot + 1));
                rest = &after[1 + member.len()..];
            } else if let Some(before) = before.strip_suffix('#') {
                self.text.push_str(&format!("{before}{}", fields.len()));
            } else if let (true, Some(after)) = (self.ends_unpack(before), after.strip_prefix(')'))
            {
                self.text.truncate(self.text.len() - "unpack".len());
                self.text.push_str(&format!("'{}'", fields.join("', '")));
                rest = after;
            } else {
                self.text.push_str(before);
                self.text.push_str(name);
            }
        }
        self.text.push_str(rest);
    }

    /// Whether the text so far, and `before`, open the arguments of `unpack`.
    fn ends_unpack(&self, before: &str) -> bool {
        before == "(" && self.text.ends_with("unpack")
    }
}

/// Joins one file alone, for the usual prefix.
#[cfg(test)]
pub(crate) fn join_source(source: Source) -> String {
    let mut join = Join::new("ql:", Dialect::Common);
    join.source(source);
    join.text
}

/// The lists of fields that a file declares with `local Name = Fields(…)`.
///
/// An item is a field, an earlier list of the file, or the path of another file (`'job/read'`),
/// which stands for the list of the same name there.
pub(crate) struct FieldLists {
    lists: Vec<(&'static str, Vec<&'static str>)>,
    /// The numbers of the lines that declare them, from 0.
    lines: Vec<usize>,
}

impl FieldLists {
    /// Returns the fields of a list.
    pub(crate) fn get(&self, name: &str) -> Option<&[&'static str]> {
        let list = self.lists.iter().find(|(known, _)| *known == name);
        list.map(|(_, fields)| fields.as_slice())
    }

    /// Returns the names of the lists.
    #[cfg(test)]
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.lists.iter().map(|(name, _)| *name)
    }

    /// Whether a line, counted from 0, belongs to a declaration.
    pub(crate) fn declares(&self, line: usize) -> bool {
        self.lines.contains(&line)
    }
}

/// Reads the declarations of lists of fields in a file.
pub(crate) fn field_lists(text: &'static str) -> FieldLists {
    let mut found = FieldLists {
        lists: Vec::new(),
        lines: Vec::new(),
    };
    let mut open: Option<(&str, Vec<&str>)> = None;
    for (at, line) in text.lines().enumerate() {
        let mut items = line;
        if open.is_none() {
            let declared = line.strip_prefix("local ");
            let Some((name, rest)) = declared.and_then(|line| line.split_once(" = Fields(")) else {
                continue;
            };
            open = Some((name, Vec::new()));
            items = rest;
        }
        found.lines.push(at);
        let (items, ends) = match items.strip_suffix(')') {
            Some(items) => (items, true),
            None => (items, false),
        };
        let Some((name, fields)) = &mut open else {
            continue;
        };
        for item in items
            .split(',')
            .map(str::trim)
            .filter(|item| !item.is_empty())
        {
            match item.trim_matches('\'') {
                path if path.contains('/') => fields.extend(list_of(path, name)),
                list if list == item => fields.extend(found.get(list).unwrap_or_default()),
                field => fields.push(field),
            }
        }
        if ends {
            found.lists.extend(open.take());
        }
    }
    found
}

/// Returns the list of this name in another file.
fn list_of(path: &str, name: &str) -> Vec<&'static str> {
    let all = SHARED.iter().chain(ON_DEMAND);
    let source = all.into_iter().find(|(known, _)| *known == path);
    let lists = source.map(|(_, source)| field_lists(source.text));
    let list = lists.and_then(|lists| lists.get(name).map(<[&str]>::to_vec));
    list.unwrap_or_default()
}

/// Returns the name of a field's slot: a dash becomes an underscore.
fn slot_name(field: &str) -> String {
    field.replace('-', "_")
}

/// Whether a character belongs to a name in Lua.
fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Returns the length of the name that a text begins with.
fn word_length(text: &str) -> usize {
    text.find(|c| !is_word(c)).unwrap_or(text.len())
}

/// Whether a line is code, or a comment that Dragonfly reads.
fn is_code(line: &str) -> bool {
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
