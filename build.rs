//! Joins the files of `lua/` into the script that Redis loads, for the usual prefix.
//!
//! Redis runs the whole text at each call, so nothing is built before a call asks for it: `need` is a
//! choice with a branch for each shared function and each command. Key names and slots of lists of
//! fields become literals, comments become empty lines. What few calls use stays text, which is
//! compiled on demand: as functions, it would make each call slower to load and to garbage-collect.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// What most calls need, in this order: a call compares names until one matches.
const HOT: &str = "
    job/read job/put queue/place value/number value/whole_tries queue/remove_from_state_set history/append history/trim history/limit value/in_chunks stats/add_values job/render
    job/render_all job/put_options value/names job/index_tags job/tries_left
    dependency/any_related job/tracked job/forget_complete ending/end_jobs ending/positions
    ending/batch ending/complete queue/enter value/key_fault
    queue/grant queue/pop_decision dependency/pending_dependencies dependency/link
    dependency/release_dependents dependency/release_job dependency/unlink job/reserved
    job/lock_lost job/tags job/untag job/render_existing queue/expire_locks queue/call_budget
    queue/next_due queue/due queue/promote queue/score recurring/spawn recurring/pause recurring/paused
    recurring/resume ending/complete_options queue/paused failure/enter failure/encode
    failure/event failure/decode failure/leave failure/leave_many failure/uncount
    failure/forget_times failure/age failure/forget_old job/delete value/args_from stats/count
    value/defaults value/integer value/document history/legacy history/migrate
    history/entry_time job/mark value/sort value/members value/json_arg value/data_arg value/object_arg
    history/note job/key_fault dependency/classify dependency/find_cycle dependency/key_fault
    value/outcome_row job/restore job/put_args job/put_new job/put_guarded
    dependency/waiting_dependents dependency/keep_blocked queue/oldest ending/retry ending/fail
    ending/enter_failed history/retried value/error_text

    put pop heartbeat complete guard.turn guard.finish guard.heartbeat config.get fail retry get
    length queues cancel multiget peek jobs failed workers timeout unfail priority log tag track
    stats depends requeue config.set config.unset pause unpause recur unrecur recur.get
    recur.update recur.tag recur.untag queue.forget worker.deregister
";

/// Whether a file stays text until a call needs it.
fn is_compiled_on_demand(path: &str) -> bool {
    let in_dry_run = path.starts_with("lib/dry_run/") && path != "lib/dry_run/begin";
    let on_refusal = ["lib/value/wrong_type", "lib/value/raise_write_refusal"];
    path.starts_with("check/") || in_dry_run || on_refusal.contains(&path)
}

fn main() {
    println!("cargo::rerun-if-changed=lua");
    // The tests run the binary 13,000 times. Linked to a fixed address, it takes 410 page faults to start, not 730,
    // and 5 ms, not 8. A release stays where the loader puts it, which is harder to attack.
    if env::var("PROFILE").is_ok_and(|profile| profile == "debug") && cfg!(target_os = "linux") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let write =
        |name: &str, text: &str| fs::write(out.join(name), text).expect("OUT_DIR is written");

    let sources = Sources::read(Path::new("lua"));
    let parts = [
        ("head", sources.part("head")),
        ("split", sources.part("split")),
        ("need", sources.choices()),
        ("dispatch", sources.part("dispatch")),
        ("lib", sources.part("lib")),
    ];
    let mut core = sha1_smol::Sha1::new();
    let mut table = String::new();
    for (name, part) in &parts {
        write(&format!("{name}.lua"), &part.text);
        let constant = name.to_uppercase();
        let text = format!("include_str!(concat!(env!(\"OUT_DIR\"), \"/{name}.lua\"))");
        let (lines, files) = (part.lines, &part.files);
        _ = writeln!(
            table,
            "const {constant}: JoinedLuaFiles = JoinedLuaFiles {{ text: {text}, lines: {lines}, files: &{files:?} }};"
        );
        if ["head", "need", "dispatch"].contains(name) {
            core.update(part.text.as_bytes());
        }
    }
    write("parts.rs", &table);
    println!("cargo::rustc-env=QLESS_CORE_SHA={}", core.digest());

    let mut names = String::new();
    for (name, key) in &sources.keys {
        let (constant, key) = (name.to_uppercase(), key.trim_start_matches("ql:"));
        // Some are only for Lua.
        names.push_str("#[allow(dead_code)]\n");
        _ = writeln!(names, "pub(crate) const {constant}: &str = {key:?};");
    }
    write("keys.rs", &names);
    write("homes.rs", &sources.homes());
}

/// The files of `lua/`, and what stands in them in place of literals.
struct Sources {
    /// Texts by path below `lua/`, without the extension.
    texts: BTreeMap<String, String>,
    /// Key names by what the files call them.
    keys: BTreeMap<String, String>,
    /// The lists of fields of each file.
    lists: HashMap<String, Lists>,
}

/// The lists of fields that a file declares with `local Name = Fields(…)`.
#[derive(Default)]
struct Lists {
    fields: HashMap<String, Vec<String>>,
    /// The numbers of the lines that declare them, from 0.
    lines: Vec<usize>,
}

/// A part of the script.
#[derive(Default)]
struct Part {
    text: String,
    /// Where each file begins, counted in lines from 0, and its path; none for what the join adds.
    files: Vec<(usize, String)>,
    lines: usize,
}

impl Part {
    fn file(&mut self, path: &str, skipped: usize) {
        self.files.push((self.lines - skipped, path.to_owned()));
    }

    /// Adds a line without its indentation: the binary holds the text, and Redis parses it.
    fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_start());
        self.text.push('\n');
        self.lines += 1;
    }
}

impl Sources {
    fn read(root: &Path) -> Sources {
        let mut texts = BTreeMap::new();
        let mut folders = vec![root.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("lua/ is readable") {
                let path = entry.expect("lua/ is readable").path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|kind| kind == "lua") {
                    let text = fs::read_to_string(&path).expect("Lua is UTF-8");
                    for broken in ["]==]", "--[", "\r"] {
                        assert!(!text.contains(broken), "{}: {broken:?}", path.display());
                    }
                    let name = path
                        .strip_prefix(root)
                        .expect("it is below")
                        .with_extension("");
                    texts.insert(name.to_str().expect("names are UTF-8").to_owned(), text);
                }
            }
        }
        // Lines `  name = 'ql:j:',`.
        let keys = texts["keys"].lines().filter_map(|line| {
            let (name, key) = line.trim().split_once(" = '")?;
            Some((name.to_owned(), key.strip_suffix("',")?.to_owned()))
        });
        let mut sources = Sources {
            keys: keys.collect(),
            texts,
            lists: HashMap::new(),
        };
        let paths: Vec<String> = sources.texts.keys().cloned().collect();
        for path in paths {
            sources.read_lists(&path);
        }
        sources
    }

    /// The table of `check/judge/homes` as Rust: lines `    running = Keys.locks,` or `= false,`.
    fn homes(&self) -> String {
        let mut table = String::from("const HOMES: &[(&[u8], Option<ItemKind>)] = &[\n");
        let lines = self.texts["check/judge/homes"].lines();
        for (state, home) in lines.filter_map(|line| line.trim().split_once(" = ")) {
            let home = home.trim_end_matches(',');
            let home = home.strip_prefix("Keys.").map(|set| {
                let (first, rest) = set.split_at(1);
                format!("ItemKind::{}{rest}", first.to_uppercase())
            });
            let home = home.map_or("None".to_owned(), |home| format!("Some({home})"));
            _ = writeln!(table, "(b{state:?}, {home}),");
        }
        table + "];\n"
    }

    /// Reads the lists of a file: an item is a field, an earlier list of the file, or the path of another
    /// file (`'job/read'`), which stands for the list of the same name there.
    fn read_lists(&mut self, path: &str) {
        if self.lists.contains_key(path) {
            return;
        }
        let text = self.texts[path].clone();
        let mut found = Lists::default();
        let mut lines = text.lines().enumerate();
        while let Some((at, line)) = lines.next() {
            let declared = line.strip_prefix("local ");
            let Some((name, rest)) = declared.and_then(|line| line.split_once(" = Fields(")) else {
                continue;
            };
            found.lines.push(at);
            let mut items = rest.to_owned();
            while !items.ends_with(')') {
                let (at, line) = lines.next().expect("a list of fields ends");
                found.lines.push(at);
                items.push_str(line);
            }
            let mut fields = Vec::new();
            for item in items.trim_end_matches(')').split(',').map(str::trim) {
                match item.trim_matches('\'') {
                    file if file.contains('/') => {
                        let folders = ["lib", "check"].map(|folder| format!("{folder}/{file}"));
                        let file = folders
                            .into_iter()
                            .find(|file| self.texts.contains_key(file));
                        let file = file.unwrap_or_else(|| panic!("lua/{path}.lua: {line}"));
                        self.read_lists(&file);
                        fields.extend(self.lists[&file].fields[name].iter().cloned());
                    }
                    list if list == item => fields.extend(found.fields[list].iter().cloned()),
                    field => fields.push(field.to_owned()),
                }
            }
            found.fields.insert(name.to_owned(), fields);
        }
        self.lists.insert(path.to_owned(), found);
    }

    /// Joins one file alone.
    fn part(&self, path: &str) -> Part {
        let mut part = Part::default();
        self.add(&mut part, path, 0);
        part
    }

    /// Adds a file from a line on. Each line stays a line, so that an error names it.
    fn add(&self, part: &mut Part, path: &str, from: usize) {
        part.file(&format!("lua/{path}.lua"), from);
        let lists = &self.lists[path];
        for (at, line) in self.texts[path].lines().enumerate().skip(from) {
            let comment = line.trim_start().starts_with("--") && !line.starts_with("--!df");
            if comment || lists.lines.contains(&at) {
                part.line("")
            } else {
                part.line(&self.with_literals(line, lists, path))
            }
        }
        part.file("", 0);
    }

    /// Joins `need`, which builds a shared function or a command.
    fn choices(&self) -> Part {
        let hot: HashMap<&str, usize> = HOT.split_whitespace().zip(0..).collect();
        let mut paths: Vec<&String> = self
            .texts
            .keys()
            .filter(|path| path.contains('/'))
            .collect();
        paths.sort_by_key(|path| hot.get(needed_name(path)).unwrap_or(&usize::MAX));
        let (commands, shared): (Vec<_>, Vec<_>) = paths
            .into_iter()
            .partition(|path| path.starts_with("command/"));
        let (on_demand, shared): (Vec<_>, Vec<_>) = shared
            .into_iter()
            .partition(|path| is_compiled_on_demand(path));
        let mut part = Part::default();
        part.file("", 0);
        // A text sees the live server, also in a dry run.
        part.line("local live = redis");
        part.line("local need, built");
        part.line("need = function(name, command)");
        part.line("if not command then");
        self.add_choice(&mut part, &shared);
        part.line("built = built or {}");
        part.line("if built[name] then return built[name](need, live) end");
        part.line("local path, text");
        for (at, path) in on_demand.iter().enumerate() {
            part.line(&format!(
                "{} name == '{}' then path, text = '@lua/{path}.lua', [==[local need, redis = ...",
                if_or_elseif(at),
                needed_name(path)
            ));
            self.add(&mut part, path, 1);
            part.line("]==]");
        }
        part.line("end");
        part.line("built[name] = loadstring(text, path)");
        part.line("return built[name](need, live)");
        part.line("end");
        self.add_choice(&mut part, &commands);
        part.line("end");
        part
    }

    /// Adds a choice by name. A call enters one branch.
    fn add_choice(&self, part: &mut Part, paths: &[&String]) {
        for (at, path) in paths.iter().enumerate() {
            part.line(&format!(
                "{} name == '{}' then",
                if_or_elseif(at),
                needed_name(path)
            ));
            self.add(part, path, 0);
        }
        part.line("end");
    }

    /// A line with literals in place of `Keys.<name>`, `unpack(<List>)`, `#<List>` and `<List>.<field>`.
    fn with_literals(&self, line: &str, lists: &Lists, path: &str) -> String {
        let mut text = String::new();
        let mut rest = line;
        while let Some(start) = rest.find(is_word) {
            text.push_str(&rest[..start]);
            let (name, after) = split_word(&rest[start..]);
            let member = after.strip_prefix('.').map(split_word);
            rest = after;
            let fail = |what: &str| -> ! { panic!("lua/{path}.lua: {what}: {line}") };
            match (lists.fields.get(name), member) {
                (None, Some((member, after))) if name == "Keys" => {
                    let Some(key) = self.keys.get(member) else {
                        fail("unknown key")
                    };
                    _ = write!(text, "'{key}'");
                    rest = after;
                }
                (None, _) => text.push_str(name),
                (Some(fields), Some((member, after))) => {
                    let slot = fields
                        .iter()
                        .position(|field| field.replace('-', "_") == member);
                    let Some(slot) = slot else {
                        fail("unknown field")
                    };
                    _ = write!(text, "{}", slot + 1);
                    rest = after;
                }
                (Some(fields), None) if text.ends_with('#') => {
                    text.pop();
                    _ = write!(text, "{}", fields.len());
                }
                (Some(fields), None) if text.ends_with("unpack(") => {
                    text.truncate(text.len() - "unpack(".len());
                    _ = write!(text, "'{}'", fields.join("', '"));
                    let Some(after) = after.strip_prefix(')') else {
                        fail("`unpack` does not end")
                    };
                    rest = after;
                }
                // A word of a text.
                (Some(_), None) => text.push_str(name),
            }
        }
        text + rest
    }
}

fn if_or_elseif(at: usize) -> &'static str {
    if at == 0 { "if" } else { "elseif" }
}

/// The name that `need` takes: `job/put` of `lib/job/put`, `put` of `command/put`.
fn needed_name(path: &str) -> &str {
    path.split_once('/').map_or(path, |(_, name)| name)
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn split_word(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c| !is_word(c)).unwrap_or(text.len()))
}
