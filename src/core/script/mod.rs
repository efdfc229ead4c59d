//! The Lua core as one script: its text, its SHA, and the origin of each line.
//!
//! For the usual prefix the build makes text and SHA: no command waits for the join, and the text is
//! read only if the server does not have the script yet.

pub(crate) mod join;
pub(crate) mod keys;
pub(crate) mod source;

use std::borrow::Cow;

use sha1_smol::Sha1;

pub(crate) use self::join::Dialect;
use self::join::{join, tagged};
use self::source::{DISPATCH, LIB, Source};

/// The prefix of the reference and its clients.
pub(crate) const USUAL: &str = "ql:";

const USUAL_TEXT: &str = include_str!(concat!(env!("OUT_DIR"), "/core.lua"));
const USUAL_SHA: &str = env!("QLESS_CORE_SHA");

/// The joined script of one prefix.
#[derive(Debug)]
pub struct Script {
    prefix: String,
    /// The keys that each call passes: none, or two that never exist.
    routing_keys: Vec<String>,
    dialect: Dialect,
    last: Source,
    text: Cow<'static, str>,
    sha: Cow<'static, str>,
}

impl Script {
    /// Returns the script that `qless` loads.
    pub fn new(prefix: &str) -> Script {
        if prefix != USUAL {
            return Script::joined(prefix, Dialect::Common, DISPATCH);
        }
        Script {
            prefix: prefix.to_string(),
            routing_keys: routing_keys(prefix),
            dialect: Dialect::Common,
            last: DISPATCH,
            text: USUAL_TEXT.into(),
            sha: USUAL_SHA.into(),
        }
    }

    /// The script that qless-php loads in place of its own.
    pub fn qless_php(prefix: &str) -> Script {
        Script::joined(prefix, Dialect::QlessPhp, DISPATCH)
    }

    /// The script for a cluster with one primary, which has all keys, if the prefix has no hash tag.
    pub(crate) fn one_primary(prefix: &str) -> Script {
        Script::joined(prefix, Dialect::OnePrimary, DISPATCH)
    }

    /// Returns the library form, which plugins of other clients put before their own script.
    pub fn library(prefix: &str) -> Script {
        Script::joined(prefix, Dialect::Common, LIB)
    }

    fn joined(prefix: &str, dialect: Dialect, last: Source) -> Script {
        let text = join(prefix, dialect, last).text;
        Script {
            prefix: prefix.to_string(),
            routing_keys: routing_keys(prefix),
            dialect,
            last,
            sha: Sha1::from(&text).digest().to_string().into(),
            text: text.into(),
        }
    }

    /// Returns the prefix of all keys.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Returns the keys that each call passes, by which a cluster finds the node. None of them ever
    /// exists. A prefix without a hash tag has no node of its own, and no keys.
    pub(crate) fn routing_keys(&self) -> &[String] {
        &self.routing_keys
    }

    /// Returns whether the prefix has a hash tag.
    pub(crate) fn is_tagged(&self) -> bool {
        !self.routing_keys.is_empty()
    }

    /// Returns the text that is loaded, byte for byte.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the SHA, by which EVALSHA finds the script.
    pub fn sha(&self) -> &str {
        &self.sha
    }

    /// Returns the origin of a line of the script, counted from 1: `lua/command/put.lua:17`.
    pub fn place(&self, line: usize) -> Option<String> {
        let places = join(&self.prefix, self.dialect, self.last).places;
        let (path, number) = (*places.get(line.checked_sub(1)?)?)?;
        Some(format!("{path}:{number}"))
    }
}

/// Returns a prefix with a hash tag around its name: `ql:` becomes `{ql}:`.
pub(crate) fn with_tag(prefix: &str) -> String {
    match prefix.strip_suffix(':') {
        Some(name) if !name.is_empty() && !tagged(prefix) => format!("{{{name}}}:"),
        _ => "{ql}:".into(),
    }
}

/// Returns the keys that a call passes: two for a prefix with a hash tag (`reliability.md` 3.3).
fn routing_keys(prefix: &str) -> Vec<String> {
    match tagged(prefix) {
        true => vec![prefix.to_owned(), format!("{prefix}.")],
        false => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::script::join::{field_lists, join_source, keys};
    use crate::core::script::source::{COMMANDS, HEAD, KEYS, ON_DEMAND, SHARED, SPLIT};

    fn sources() -> impl Iterator<Item = Source> {
        let named = SHARED.iter().chain(ON_DEMAND).chain(COMMANDS);
        let named = named.map(|(_, source)| *source);
        [HEAD, SPLIT, DISPATCH, LIB].into_iter().chain(named)
    }

    #[test]
    fn every_file_of_lua_is_joined() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("lua");
        let mut found = Vec::new();
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|kind| kind == "lua") {
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
            // A pattern may look for a bracket, `%[[^,]`, and a text may be two: `'[['`. The list of
            // outcomes is one text, with comments that stay in it.
            let text = source.text.replace("%[[", "").replace("'[['", "");
            let text = match path {
                "lua/check/repair/outcomes.lua" => text.replacen("return [[", "", 1),
                _ => text,
            };
            assert!(!text.contains("[["), "{path}: multi-line text");
            assert!(!source.text.contains("--["), "{path}: block comment");
            assert!(!source.text.contains('\r'), "{path}: carriage return");
            assert!(!text.contains("]==]"), "{path}: end of a text");
        }
        for (_, source) in ON_DEMAND {
            assert!(
                source.text.starts_with("--"),
                "{}: the join skips the first line",
                source.path
            );
        }
    }

    #[test]
    fn every_key_name_is_known_and_replaced() {
        for script in [Script::new("ql:"), Script::library("ql:")] {
            assert_eq!(script.text.find("Keys."), None);
            assert_eq!(script.text.find("Prefix."), None);
        }
        assert!(keys().count() > 20);
    }

    #[test]
    fn every_list_of_fields_is_known_and_its_slots_are_replaced() {
        let mut count = 0;
        for source in sources() {
            let lists = field_lists(source.text);
            for name in lists.names() {
                count += 1;
                assert!(lists.get(name).is_some_and(|fields| fields.len() > 1));
                let joined = join_source(source);
                for unjoined in [format!("{name}."), format!("({name})"), format!("#{name}")] {
                    assert!(!joined.contains(&unjoined), "{}: {unjoined}", source.path);
                }
            }
        }
        assert!(count > 30);
        assert_eq!(Script::new("ql:").text.find("Fields("), None);
    }

    #[test]
    fn lists_of_fields_and_slots_become_literals() {
        let lists =
            field_lists("local A = Fields('jid', 'max-size')\nlocal B = Fields(A,\n  'c')\nx");
        assert_eq!(lists.get("A"), Some(&["jid", "max-size"][..]));
        assert_eq!(lists.get("B"), Some(&["jid", "max-size", "c"][..]));
        assert!(lists.declares(2) && !lists.declares(3));
        let text = "local A = Fields('jid', 'max-size')\ncall('hmget', key, unpack(A), #A + 1, r[A.max_size], MA.x)\n";
        let path = "";
        assert_eq!(
            join_source(Source { path, text }),
            "call('hmget', key, 'jid', 'max-size', 2 + 1, r[2], MA.x)\n"
        );
        let read = SHARED
            .iter()
            .find(|(name, _)| *name == "job/read")
            .unwrap()
            .1;
        let pop = COMMANDS.iter().find(|(name, _)| *name == "pop").unwrap().1;
        let (read, pop) = (field_lists(read.text), field_lists(pop.text));
        assert_eq!(read.get("Job"), pop.get("Job"));
    }

    #[test]
    fn the_prefix_is_the_only_difference_between_two_scripts() {
        let (usual, other) = (Script::new("ql:"), Script::new("t:"));
        assert_ne!(usual.sha(), other.sha());
        assert!(!other.text().contains("'ql:"));
        assert_eq!(other.text().replace("'t:", "'ql:"), usual.text());
    }

    #[test]
    fn a_hash_tag_adds_two_keys_to_each_call_and_nothing_else() {
        let (usual, tagged) = (Script::new("ql:"), Script::new("{t}:"));
        assert_eq!(usual.routing_keys(), [] as [String; 0]);
        assert_eq!(tagged.routing_keys(), ["{t}:", "{t}:."]);
        let usual = usual
            .text()
            .replacen("--!df flags=allow-undeclared-keys\n", "", 1);
        let other = tagged.text().replace("'{t}:", "'ql:");
        let lines = usual.lines().zip(other.lines());
        let differing: Vec<_> = lines.filter(|(one, other)| one != other).collect();
        assert_eq!(differing, [("if false then", "if true then")]);
        assert_eq!(usual.lines().count(), other.lines().count());
    }

    #[test]
    fn only_the_first_line_and_constants_make_the_script_for_qless_php() {
        let (common, php) = (Script::new("ql:"), Script::qless_php("ql:"));
        let first = php.text().lines().next();
        let expected = "--!df flags=allow-undeclared-keys for qless-php";
        assert_eq!(first, Some(expected));
        assert_eq!(common.text().lines().count(), php.text().lines().count());
        let lines = common.text().lines().zip(php.text().lines()).skip(1);
        let mut count = 0;
        for (common, php) in lines.filter(|(common, php)| common != php) {
            assert_eq!(
                php.replace("true", "false"),
                common.replace("true", "false")
            );
            count += 1;
        }
        assert!((5..30).contains(&count), "{count}");
        assert!(!common.text().contains("Dialect"));
    }

    #[test]
    fn every_line_has_its_origin() {
        let script = Script::new("ql:");
        let lines: Vec<&str> = script.text().lines().collect();
        let places = join("ql:", Dialect::Common, DISPATCH).places;
        assert_eq!(lines.len(), places.len());
        for source in sources().filter(|source| ![LIB.path, SPLIT.path].contains(&source.path)) {
            let lists = field_lists(source.text);
            for (at, line) in source.text.lines().enumerate() {
                let line = line.trim_start();
                if line.is_empty() || line.starts_with("--") || lists.declares(at) {
                    continue;
                }
                assert!(places.contains(&Some((source.path, at + 1))));
            }
        }
        let first = lines.iter().position(|line| line.contains("Must provide"));
        let place = script.place(first.unwrap() + 1).unwrap();
        assert!(place.starts_with("lua/dispatch.lua:"), "{place}");
        assert_eq!(script.place(0), None);
        assert_eq!(script.place(1_000_000), None);
    }

    #[test]
    fn the_only_comment_in_the_script_is_for_dragonfly() {
        let script = Script::new("ql:");
        let mut comments = script.text().lines();
        assert_eq!(comments.next(), Some("--!df flags=allow-undeclared-keys"));
        assert!(comments.all(|line| !line.trim_start().starts_with("--")));
    }

    #[test]
    fn the_build_and_the_binary_join_the_same_script() {
        let (built, joined) = (
            Script::new(USUAL),
            Script::joined(USUAL, Dialect::Common, DISPATCH),
        );
        assert_eq!(built.text(), joined.text());
        assert_eq!(built.sha(), joined.sha());
    }
}
