//! What programs rely on stays: `tests/stable/` has a file for each release, and nothing that it lists is taken
//! away or gets another type. `docs/stability.md` says what that means. Additions pass.
//!
//! UPDATE_EXPECT=1 writes the file of a release that has none, and changes no other.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use qless::internals::{clap_tree, finding::FindingId};
use serde_json::Value;

use super::support::qless::Qless;

/// The first release that keeps its promises.
const FIRST: &str = "1.0.0";

/// One promise a line: a word for its kind, its name, and its type.
#[derive(Default)]
struct Promises(BTreeSet<String>);

impl Promises {
    /// Those of the present program.
    fn present() -> Promises {
        let mut promises = Promises::default();
        promises.command("", &clap_tree());
        let qless = Qless::bare();
        for line in qless.run("help json").ok().lines() {
            let kind = line.split(' ').next().unwrap();
            let schema = qless.run(&format!("help json {kind}")).json();
            promises.document(kind, &schema, &schema, &mut Vec::new());
        }
        for line in qless.run("help exit-codes").ok().lines() {
            // The table, up to the empty line.
            let Some((code, name)) = line.trim_start().split_once("  ") else {
                break;
            };
            let name = name.split("  ").next().unwrap();
            promises.add(format!("exit {code}: {name}"));
        }
        for id in FindingId::all() {
            promises.add(format!("finding {id}"));
        }
        let lua = Path::new(env!("CARGO_MANIFEST_DIR")).join("lua");
        for entry in std::fs::read_dir(lua.join("command")).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let name = name.trim_end_matches(".lua");
            // Those are between one program and its own core.
            if !name.starts_with("look.") && !name.starts_with("check.") {
                promises.add(format!("core {name}"));
            }
        }
        let keys = std::fs::read_to_string(lua.join("keys.lua")).unwrap();
        for line in keys.lines() {
            if let Some((name, key)) = line.trim().split_once(" = '") {
                let key = key.split('\'').next().unwrap();
                promises.add(format!("key {name}: {key}"));
            }
        }
        promises
    }

    fn add(&mut self, line: String) {
        self.0.insert(line);
    }

    fn command(&mut self, name: &str, command: &clap::Command) {
        for argument in command.get_arguments().filter(|it| !it.is_hide_set()) {
            let takes = match argument.get_action().takes_values() {
                true if argument.get_num_args().is_some_and(|n| n.min_values() == 0) => {
                    "takes a value or none"
                }
                true => "takes a value",
                false => "takes no value",
            };
            let mut flags: Vec<String> = Vec::new();
            flags.extend(argument.get_short().map(|short| format!("-{short}")));
            let longs = argument.get_long_and_visible_aliases();
            flags.extend(longs.unwrap_or_default().iter().map(|it| format!("--{it}")));
            for flag in &flags {
                self.add(format!("flag{name} {flag}: {takes}"));
                if takes != "takes no value" {
                    for value in argument.get_possible_values() {
                        self.add(format!("flag{name} {flag}={}", value.get_name()));
                    }
                }
            }
        }
        let positionals: Vec<&clap::Arg> = command.get_positionals().collect();
        let required = positionals.iter().filter(|it| it.is_required_set()).count();
        // More required arguments take the first of these lines away.
        for count in required..=positionals.len() {
            self.add(format!(
                "command{name}: can be called with {count} arguments"
            ));
        }
        for command in command.get_subcommands().filter(|it| !it.is_hide_set()) {
            for word in std::iter::once(command.get_name()).chain(command.get_visible_aliases()) {
                self.add(format!("command{name} {word}"));
            }
            self.command(&format!("{name} {}", command.get_name()), command);
        }
    }

    /// The fields of a document. `open` are the definitions that are being followed.
    fn document(&mut self, path: &str, schema: &Value, root: &Value, open: &mut Vec<String>) {
        let mut types = BTreeSet::new();
        let mut parts = Vec::new();
        collect(schema, root, &mut types, &mut parts, open);
        if types.is_empty() {
            types.insert("any".to_owned());
        }
        let types: Vec<String> = types.into_iter().collect();
        self.add(format!("json {path}: {}", types.join(" or ")));
        for (part, opened) in parts {
            open.extend(opened.clone());
            let required: Vec<&str> = part["required"]
                .as_array()
                .map(|names| names.iter().filter_map(Value::as_str).collect())
                .unwrap_or_default();
            for (name, field) in part["properties"].as_object().into_iter().flatten() {
                if required.contains(&name.as_str()) {
                    self.add(format!("json {path}.{name}: always"));
                }
                self.document(&format!("{path}.{name}"), field, root, open);
            }
            if part["items"].is_object() {
                self.document(&format!("{path}[]"), &part["items"], root, open);
            }
            if part["additionalProperties"].is_object() {
                let of = &part["additionalProperties"];
                self.document(&format!("{path}.*"), of, root, open);
            }
            for value in part["enum"].as_array().into_iter().flatten() {
                self.add(format!("json {path} = {value}"));
            }
            if !part["const"].is_null() {
                self.add(format!("json {path} = {}", part["const"]));
            }
            open.truncate(open.len() - opened.len());
        }
    }
}

/// The types of a schema, and its parts, each with the definitions on the way to it.
fn collect<'a>(
    schema: &'a Value,
    root: &'a Value,
    types: &mut BTreeSet<String>,
    parts: &mut Vec<(&'a Value, Vec<String>)>,
    open: &[String],
) {
    if let Some(reference) = schema["$ref"].as_str() {
        if open.iter().any(|it| it == reference) {
            types.insert(format!("the same as above ({reference})"));
            return;
        }
        let definition = root.pointer(reference.trim_start_matches('#')).unwrap();
        let mut inner = open.to_vec();
        inner.push(reference.to_owned());
        let before = parts.len();
        collect(definition, root, types, parts, &inner);
        for (_, opened) in &mut parts[before..] {
            opened.push(reference.to_owned());
        }
        return;
    }
    for choice in ["anyOf", "oneOf", "allOf"] {
        for part in schema[choice].as_array().into_iter().flatten() {
            collect(part, root, types, parts, open);
        }
    }
    match &schema["type"] {
        Value::String(name) => {
            types.insert(name.clone());
        }
        Value::Array(names) => types.extend(names.iter().filter_map(Value::as_str).map(Into::into)),
        _ => {}
    }
    if let Some(format) = schema["format"].as_str() {
        types.insert(format!("({format})"));
    }
    parts.push((schema, Vec::new()));
}

/// The file of the release that this program is or becomes, if such a release has one.
fn file_of_release(dir: &Path) -> Option<PathBuf> {
    let version = env!("CARGO_PKG_VERSION");
    let version = if version.starts_with("0.") {
        FIRST
    } else {
        version
    };
    version
        .ends_with(".0")
        .then(|| dir.join(format!("{version}.txt")))
}

#[test]
fn what_a_release_promised_is_still_there() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stable");
    let present = Promises::present().0;
    if let Some(file) = file_of_release(&dir).filter(|file| !file.exists()) {
        assert!(
            std::env::var_os("UPDATE_EXPECT").is_some(),
            "{} is missing: `UPDATE_EXPECT=1 cargo test promised` writes it",
            file.display()
        );
        let lines: String = present.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(file, lines).unwrap();
    }
    let mut lost = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let release = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let promised = std::fs::read_to_string(&path).unwrap();
        assert!(promised.lines().count() > 500, "{release} lists too little");
        let gone = promised.lines().filter(|line| !present.contains(*line));
        lost.extend(gone.map(|line| format!("{release}: {line}")));
    }
    assert_eq!(lost, [""; 0], "docs/stability.md says how a promise ends");
}
