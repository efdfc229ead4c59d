//! The Lua core as one script: its text, its SHA, and the origin of each line.
//!
//! The build joins the files of `lua/` and computes the SHA for the usual prefix. So `qless` composes the text of the
//! script only for a server that does not have the script yet.

pub(crate) mod keys;

use std::borrow::Cow;

use sha1_smol::Sha1;

/// The prefix that the reference core and its clients use.
pub(crate) const USUAL_PREFIX: &str = "ql:";

const USUAL_SHA: &str = env!("QLESS_CORE_SHA");

/// Consecutive lines of the script, which the build joined from files of `lua/`. A script consists of a few such parts.
#[derive(Debug)]
struct JoinedLuaFiles {
    text: &'static str,
    lines: usize,
    /// Where each file of `lua/` begins: the line in this part, counted from 0, and the path of the file. The path is
    /// empty for lines that the build adds.
    files: &'static [(usize, &'static str)],
}

include!(concat!(env!("OUT_DIR"), "/parts.rs"));

/// The clients that a script is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScriptClients {
    /// For all clients of qless-core.
    Common,
    /// For qless-php. This script has the defaults and replies of that client's own core, which differ.
    QlessPhp,
    /// For all clients of a cluster that has one primary, if the prefix has no hash tag.
    OnePrimary,
    /// For plugins of other clients, which append their own script to the text of this one.
    Library,
}

impl ScriptClients {
    fn script_parts(self) -> &'static [JoinedLuaFiles] {
        match self {
            ScriptClients::Common | ScriptClients::QlessPhp => &[HEAD, NEED, DISPATCH],
            ScriptClients::OnePrimary => &[HEAD, SPLIT, NEED, DISPATCH],
            ScriptClients::Library => &[HEAD, NEED, LIB],
        }
    }
}

/// The joined script of one prefix.
#[derive(Debug)]
pub struct Script {
    prefix: String,
    /// The keys that each call passes to EVALSHA: none, or two keys that never exist.
    routing_keys: Vec<String>,
    dialect: ScriptClients,
    sha: Cow<'static, str>,
}

impl Script {
    /// The script that `qless` loads.
    pub fn new(prefix: &str) -> Script {
        Script::with_prefix(prefix, ScriptClients::Common)
    }

    /// The script that qless-php loads in place of its own.
    pub fn for_qless_php(prefix: &str) -> Script {
        Script::with_prefix(prefix, ScriptClients::QlessPhp)
    }

    /// The script for a cluster that has one primary, if the prefix has no hash tag. That primary has all keys.
    pub(crate) fn for_one_primary_cluster(prefix: &str) -> Script {
        Script::with_prefix(prefix, ScriptClients::OnePrimary)
    }

    /// The core as a Lua library: plugins of other clients append their own script to its text.
    pub fn for_appended_plugins(prefix: &str) -> Script {
        Script::with_prefix(prefix, ScriptClients::Library)
    }

    fn with_prefix(prefix: &str, dialect: ScriptClients) -> Script {
        let mut script = Script {
            prefix: prefix.to_string(),
            routing_keys: routing_keys(prefix),
            dialect,
            sha: USUAL_SHA.into(),
        };
        if prefix != USUAL_PREFIX || dialect != ScriptClients::Common {
            script.sha = Sha1::from(script.script_text()).digest().to_string().into();
        }
        script
    }

    /// The prefix of all keys.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The keys that each call passes to EVALSHA, so that a cluster runs the script on the node that has the prefix.
    /// These keys never exist. There are none for a prefix without a hash tag, whose keys are not on one node.
    pub(crate) fn routing_keys(&self) -> &[String] {
        &self.routing_keys
    }

    /// Whether the prefix has a hash tag.
    pub(crate) fn has_tagged_prefix(&self) -> bool {
        !self.routing_keys.is_empty()
    }

    /// The text of the script for this prefix, exactly as the server gets it.
    pub fn script_text(&self) -> String {
        let php = self.dialect == ScriptClients::QlessPhp;
        let tagged = self.has_tagged_prefix();
        // A Dragonfly server runs a script whose calls name no keys only if the script's first line allows that. With a
        // hash tag each call names two keys.
        let first = match (tagged, php) {
            (true, _) => "",
            (false, true) => "--!df flags=allow-undeclared-keys for qless-php",
            (false, false) => "--!df flags=allow-undeclared-keys",
        };
        let (_, head) = HEAD.text.split_once('\n').unwrap_or_default();
        // `lua/head.lua` sets its variables `php` and `tagged` to `false, false`: replace both values.
        let head = head.replace("false, false", &format!("{php}, {tagged}"));
        let mut text = format!("{first}\n{head}");
        for part in &self.dialect.script_parts()[1..] {
            text.push_str(part.text);
        }
        if self.prefix == USUAL_PREFIX {
            text
        } else {
            text.replace("'ql:", &format!("'{}", self.prefix))
        }
    }

    /// The SHA, by which EVALSHA finds the script.
    pub fn sha(&self) -> &str {
        &self.sha
    }

    /// The origin of a line of the script, counted from 1: `lua/command/put.lua:17`.
    pub fn source_of_line(&self, line: usize) -> Option<String> {
        let mut line = line.checked_sub(1)?;
        for part in self.dialect.script_parts() {
            if line < part.lines {
                let file = part.files.iter().rfind(|(start, _)| *start <= line);
                let (start, path) = file.filter(|(_, path)| !path.is_empty())?;
                return Some(format!("{path}:{}", line - start + 1));
            }
            line -= part.lines;
        }
        None
    }
}

/// Whether a prefix has a hash tag: then all its keys are in one slot of a cluster.
fn has_hash_tag(prefix: &str) -> bool {
    prefix.contains('{')
}

/// A prefix with a hash tag around its name: `ql:` becomes `{ql}:`.
pub(crate) fn with_hash_tag(prefix: &str) -> String {
    match prefix.strip_suffix(':') {
        Some(name) if !name.is_empty() && !has_hash_tag(prefix) => format!("{{{name}}}:"),
        _ => "{ql}:".into(),
    }
}

/// The keys that each call passes to EVALSHA: two for a prefix with a hash tag, else none. There are two because a
/// cluster node to which a slot is still moving refuses a call on missing keys only if the call names several.
fn routing_keys(prefix: &str) -> Vec<String> {
    if has_hash_tag(prefix) {
        vec![prefix.to_owned(), format!("{prefix}.")]
    } else {
        Vec::new()
    }
}

/// All Lua source files: the path below `lua/` and the text of each.
#[cfg(test)]
pub(crate) fn sources() -> Vec<(String, String)> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("lua");
    let mut found = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|kind| kind == "lua") {
                let text = std::fs::read_to_string(&path).unwrap();
                let path = path.strip_prefix(&root).unwrap().to_str().unwrap();
                found.push((path.to_owned(), text));
            }
        }
    }
    assert!(found.len() > 100);
    found
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    /// The lines that differ between two scripts of the same length.
    fn differences(one: &Script, other: &Script) -> Vec<(String, String)> {
        let (one, other) = (one.script_text(), other.script_text());
        assert_eq!(one.lines().count(), other.lines().count());
        let lines = one.lines().zip(other.lines());
        let differing = lines.filter(|(one, other)| one != other);
        differing
            .map(|(one, other)| (one.into(), other.into()))
            .collect()
    }

    #[test]
    fn keys_and_lists_of_fields_are_literals() {
        let text = Script::new("ql:").script_text();
        for unjoined in ["Keys.", "Fields(", "unpack(Job)", "#Job", "Job.state"] {
            assert_eq!(text.find(unjoined), None, "{unjoined}");
        }
        assert!(text.contains("'ql:j:' .. jid"));
        assert!(text.contains("'jid', 'klass', 'state', 'queue', "));
    }

    #[test]
    fn the_prefix_is_the_only_difference_between_two_scripts() {
        let (usual, other) = (Script::new("ql:"), Script::new("t:"));
        assert_ne!(usual.sha(), other.sha());
        assert!(!other.script_text().contains("'ql:"));
        assert_eq!(
            other.script_text().replace("'t:", "'ql:"),
            usual.script_text()
        );
    }

    #[test]
    fn a_hash_tag_adds_two_keys_to_each_call() {
        let (usual, tagged) = (Script::new("t:"), Script::new("{t}:"));
        assert_eq!(usual.routing_keys(), [] as [String; 0]);
        assert_eq!(tagged.routing_keys(), ["{t}:", "{t}:."]);
        let other = differences(&usual, &tagged);
        let other = other
            .iter()
            .filter(|(usual, tagged)| tagged.replace("'{t}:", "'t:") != *usual);
        let other: Vec<_> = other.map(|(_, tagged)| tagged.as_str()).collect();
        assert_eq!(other, ["", "local redis, php, tagged = redis, false, true"]);
    }

    #[test]
    fn only_the_first_lines_make_the_script_for_qless_php() {
        let differences = differences(&Script::new("ql:"), &Script::for_qless_php("ql:"));
        let php: Vec<_> = differences.iter().map(|(_, php)| php.as_str()).collect();
        let first = "--!df flags=allow-undeclared-keys for qless-php";
        assert_eq!(
            php,
            [first, "local redis, php, tagged = redis, true, false"]
        );
    }

    #[test]
    fn every_line_has_its_origin() {
        let sources: HashMap<String, String> = sources().into_iter().collect();
        for script in [
            Script::new("ql:"),
            Script::for_one_primary_cluster("t:"),
            Script::for_appended_plugins("ql:"),
        ] {
            let mut count = 0;
            for (number, line) in (1..).zip(script.script_text().lines()) {
                let Some(place) = script.source_of_line(number) else {
                    continue;
                };
                let (path, number) = place.split_once(':').unwrap();
                let source = &sources[path.strip_prefix("lua/").unwrap()];
                let origin = source
                    .lines()
                    .nth(number.parse::<usize>().unwrap() - 1)
                    .unwrap();
                // Names of keys and of lists, which become literals, begin with a capital.
                let is_kept = !origin.contains(|c: char| c.is_ascii_uppercase() || c == '-');
                if is_kept && !line.is_empty() {
                    assert_eq!(line, origin.trim_start(), "{place}");
                    count += 1;
                }
            }
            assert!(count > 2000, "{count}");
            assert_eq!(script.source_of_line(0), None);
            assert_eq!(script.source_of_line(1_000_000), None);
        }
    }

    #[test]
    fn the_only_comment_in_the_script_is_for_dragonfly() {
        let text = Script::new("ql:").script_text();
        let mut comments = text.lines();
        assert_eq!(comments.next(), Some("--!df flags=allow-undeclared-keys"));
        assert!(comments.all(|line| !line.trim_start().starts_with("--")));
    }

    #[test]
    fn the_sha_that_the_build_made_is_that_of_the_text() {
        let script = Script::new(USUAL_PREFIX);
        assert_eq!(
            script.sha(),
            Sha1::from(script.script_text()).digest().to_string()
        );
    }
}
