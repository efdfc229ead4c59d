//! The layers of `src/`, which `CONTRIBUTING.md` shows: a module imports only modules of
//! lower rows, or of its own folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use proc_macro2::{TokenStream, TokenTree};

/// The rows, lowest first. A module is the path below `crate::` of a folder or file; the longest
/// path that fits a file counts.
const LAYERS: &[(&str, &[&str])] = &[
    ("leaves", &["exit", "lenient", "text"]),
    ("leaves", &["name"]),
    ("leaves", &["command_line", "error"]),
    ("leaves", &["threads"]),
    (
        "leaves",
        &["address", "clock", "consent", "env", "fs", "interrupt"],
    ),
    ("model", &["json"]),
    ("model", &["view"]),
    ("model", &["model"]),
    ("core", &["core::script"]),
    ("core", &["core::call"]),
    ("core", &["core::api"]),
    ("core", &["core"]),
    ("args", &["args"]),
    ("args", &["settings"]),
    ("ui", &["ui", "input"]),
    ("ui", &["listen", "session"]),
    (
        "operations",
        &["events", "graph", "look", "select", "wait", "watch", "work"],
    ),
    ("operations", &["explain"]),
    ("operations", &["bulk", "doctor"]),
    ("operations", &["top", "web"]),
    (
        "operations",
        &["submit", "check::scan", "check::repair_queue"],
    ),
    ("operations", &["check::verify"]),
    ("operations", &["check"]),
    ("commands", &["commands"]),
    ("app", &["app"]),
];

/// A path that a file names, from the root of the crate on.
struct Import {
    line: usize,
    path: Vec<String>,
}

/// A file of `src/`: its path, the path of its module, and what it imports.
struct Module {
    file: String,
    path: Vec<String>,
    imports: Vec<Import>,
}

impl Module {
    fn read(root: &Path, file: &Path) -> Module {
        let shown = file.strip_prefix(root).unwrap().to_str().unwrap();
        let mut path: Vec<String> = shown
            .trim_end_matches(".rs")
            .split('/')
            .map(str::to_owned)
            .collect();
        if path
            .last()
            .is_some_and(|last| last == "mod" || last == "lib")
        {
            path.pop();
        }
        let text = fs::read_to_string(file).unwrap();
        let tokens: TokenStream = text.parse().expect("Rust");
        let mut imports = Vec::new();
        collect(tokens, &path, &mut imports);
        Module {
            file: format!("src/{shown}"),
            path,
            imports,
        }
    }
}

/// Collects the paths below `crate`, `self` and `super`, in macros too.
fn collect(tokens: TokenStream, module: &[String], imports: &mut Vec<Import>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Ident(word) if word == "mod" => {
                if let (Some(TokenTree::Ident(name)), Some(TokenTree::Group(body))) =
                    (tokens.get(at + 1), tokens.get(at + 2))
                {
                    let inner = [module, &[name.to_string()]].concat();
                    collect(body.stream(), &inner, imports);
                    at += 3;
                    continue;
                }
            }
            TokenTree::Ident(word) if is_separator(&tokens, at + 1) => {
                let base = match word.to_string().as_str() {
                    "crate" => Some(Vec::new()),
                    "self" => Some(module.to_vec()),
                    "super" => Some(parent(module)),
                    _ => None,
                };
                if let Some(base) = base {
                    expand(&tokens[at + 3..], base, imports);
                }
            }
            TokenTree::Group(group) => collect(group.stream(), module, imports),
            _ => {}
        }
        at += 1;
    }
}

/// Follows one path from behind a `::`, into the braces of a `use`.
fn expand(tokens: &[TokenTree], mut path: Vec<String>, imports: &mut Vec<Import>) {
    let mut at = 0;
    let mut line = 0;
    loop {
        match tokens.get(at) {
            Some(TokenTree::Ident(word)) => {
                line = word.span().start().line;
                match word.to_string().as_str() {
                    "super" => path = parent(&path),
                    "self" => {}
                    name => path.push(name.trim_start_matches("r#").to_owned()),
                }
            }
            Some(TokenTree::Group(group)) => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                for part in
                    inner.split(|token| matches!(token, TokenTree::Punct(p) if p.as_char() == ','))
                {
                    if !part.is_empty() {
                        expand(part, path.clone(), imports);
                    }
                }
                return;
            }
            _ => break,
        }
        at += 1;
        if !is_separator(tokens, at) {
            break;
        }
        at += 2;
    }
    imports.push(Import { line, path });
}

fn parent(path: &[String]) -> Vec<String> {
    path[..path.len().saturating_sub(1)].to_vec()
}

fn is_separator(tokens: &[TokenTree], at: usize) -> bool {
    let colon =
        |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == ':');
    colon(at) && colon(at + 1)
}

/// The row of a path, and the entry of it that fits the path longest.
fn row(path: &[String]) -> Option<(usize, &'static str)> {
    let mut best: Option<(usize, &'static str)> = None;
    for (row, (_, entries)) in LAYERS.iter().enumerate() {
        for entry in *entries {
            let fits = entry
                .split("::")
                .enumerate()
                .all(|(at, word)| path.get(at).is_some_and(|have| have == word));
            if fits && best.is_none_or(|(_, found)| entry.len() > found.len()) {
                best = Some((row, entry));
            }
        }
    }
    best
}

/// Why a module may not import a path, if it may not.
fn violation(from: &[String], path: &[String]) -> Option<String> {
    let (above, importer) = row(from)?;
    let (below, imported) = row(path)?;
    let own = importer == imported;
    // A folder's `mod.rs` and its children may import each other.
    let family = |one: &str, other: &str| {
        one.strip_prefix(other)
            .is_some_and(|rest| rest.starts_with("::"))
    };
    if own || below < above || family(imported, importer) {
        return None;
    }
    Some(format!(
        "`{importer}` (row {above}, {}) may not import `{imported}` (row {below}, {}): imports point to lower rows",
        LAYERS[above].0, LAYERS[below].0
    ))
}

/// All modules of `src`, parsed once for all tests.
fn modules() -> &'static [Module] {
    static MODULES: OnceLock<Vec<Module>> = OnceLock::new();
    MODULES.get_or_init(parse_modules)
}

fn parse_modules() -> Vec<Module> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    let mut folders: Vec<PathBuf> = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path)
            } else if path.extension().is_some_and(|end| end == "rs") {
                files.push(path)
            }
        }
    }
    files.sort();
    files.iter().map(|file| Module::read(&root, file)).collect()
}

#[test]
fn imports_point_to_lower_layers() {
    let mut wrong = Vec::new();
    for module in modules() {
        for import in &module.imports {
            if let Some(why) = violation(&module.path, &import.path) {
                wrong.push(format!("{}:{}: {why}", module.file, import.line));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn every_module_has_a_layer() {
    let modules = modules();
    for module in modules {
        let whole = module.path.is_empty() || module.path == ["main"];
        assert!(
            whole || row(&module.path).is_some(),
            "{} is in no row of LAYERS",
            module.file
        );
    }
    for (_, entries) in LAYERS {
        for entry in *entries {
            let there = |module: &Module| module.path.join("::").starts_with(entry);
            assert!(
                modules.iter().any(there),
                "LAYERS names `{entry}`, which does not exist"
            );
        }
    }
}

/// The table of layers as `CONTRIBUTING.md` shows it.
fn table() -> String {
    let mut table = "| Layer | Modules |\n| --- | --- |\n".to_owned();
    for (layer, entries) in LAYERS {
        let modules: Vec<String> = entries.iter().map(|entry| format!("`{entry}`")).collect();
        table.push_str(&format!("| {layer} | {} |\n", modules.join(", ")));
    }
    table
}

#[test]
fn contributing_shows_the_table_of_layers() {
    const BEGIN: &str = "<!-- layers: written by UPDATE_EXPECT=1 cargo test architecture -->\n";
    const END: &str = "<!-- end of layers -->\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("CONTRIBUTING.md");
    let text = fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGIN).expect("the begin of the table");
    let (shown, after) = rest.split_once(END).expect("the end of the table");
    if shown != table() && std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, [before, BEGIN, &table(), END, after].concat()).unwrap();
        return;
    }
    assert_eq!(shown, table());
}

#[test]
fn an_upward_import_is_reported_with_its_line() {
    let text = "use crate::{error::Error, commands};\nfn f() { format!(\"{}\", crate::app::X) }";
    let mut imports = Vec::new();
    let module = ["core".to_owned(), "call".to_owned()];
    collect(text.parse().unwrap(), &module, &mut imports);
    let lines: Vec<usize> = imports
        .iter()
        .filter(|import| violation(&module, &import.path).is_some())
        .map(|import| import.line)
        .collect();
    assert_eq!(lines, [1, 2]);
}

/// The files of `src` that contain a text, sorted.
fn files_with(text: &str) -> Vec<&'static str> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let has_text = |file: &&str| fs::read_to_string(root.join(file)).unwrap().contains(text);
    let files = modules().iter().map(|module| module.file.as_str());
    files.filter(has_text).collect()
}

#[test]
fn only_the_prompts_grant_consent() {
    assert_eq!(files_with("Consent::grant"), ["src/ui/ask.rs"]);
}

/// Changes of one named job, of jobs that the command's worker holds, and of nothing need no question.
#[test]
fn only_these_files_take_consent_without_a_question() {
    assert_eq!(
        files_with(".consent_without_question()"),
        [
            "src/bulk/cancel.rs",
            "src/bulk/plan.rs",
            "src/commands/complete.rs",
            "src/commands/heartbeat.rs",
            "src/submit/import/mod.rs",
        ]
    );
}
