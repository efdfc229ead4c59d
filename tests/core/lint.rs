//! A linter for `lua/`: variables, unused files and the form of each file. It needs no Lua tool.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The names that Redis, Lua, the build or `head.lua` define.
const GLOBALS: [&str; 23] = [
    "ARGV",
    "Fields",
    "KEYS",
    "Keys",
    "cjson",
    "error",
    "ipairs",
    "math",
    "need",
    "next",
    "pairs",
    "pcall",
    "php",
    "rawget",
    "redis",
    "select",
    "setmetatable",
    "string",
    "table",
    "tagged",
    "tonumber",
    "tostring",
    "type",
];

const KEYWORDS: [&str; 21] = [
    "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "if", "in", "local",
    "nil", "not", "or", "repeat", "return", "then", "true", "until", "while",
];

/// The labels of a file's header, in their order.
const LABELS: [&str; 4] = ["Takes", "Result", "Refuses", "Publishes"];

/// The files of `lua/` with their text, by path below the project.
fn files() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders: Vec<PathBuf> = vec![root.join("lua")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|kind| kind == "lua") {
                let text = std::fs::read_to_string(&path).unwrap();
                let path = path.strip_prefix(root).unwrap();
                files.push((path.to_str().unwrap().to_owned(), text));
            }
        }
    }
    files.sort();
    assert!(files.len() > 100);
    files
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Name,
    Keyword,
    Text,
    Number,
    Symbol,
    End,
}

#[derive(Clone, Copy, Debug)]
struct Token<'a> {
    kind: Kind,
    text: &'a str,
    line: usize,
}

/// Splits Lua into tokens, without comments.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let bytes = text.as_bytes();
    let (mut tokens, mut at, mut line) = (Vec::new(), 0, 1);
    while at < bytes.len() {
        let rest = &text[at..];
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let (kind, length) = match bytes[at] {
            b'\n' => {
                line += 1;
                at += 1;
                continue;
            }
            b' ' => {
                at += 1;
                continue;
            }
            b'-' if rest.starts_with("--") => {
                at += rest.find('\n').unwrap_or(rest.len());
                continue;
            }
            b'[' if rest.starts_with("[[") => (Kind::Text, rest.find("]]").unwrap() + 2),
            quote @ (b'\'' | b'"') => {
                let mut end = 1;
                while rest.as_bytes()[end] != quote {
                    end += if rest.as_bytes()[end] == b'\\' { 2 } else { 1 };
                }
                (Kind::Text, end + 1)
            }
            b'0'..=b'9' => {
                let end = rest.find(|c: char| !is_word(c) && c != '.');
                (Kind::Number, end.unwrap_or(rest.len()))
            }
            byte if is_word(byte as char) => {
                let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
                let keyword = KEYWORDS.contains(&&rest[..end]);
                (if keyword { Kind::Keyword } else { Kind::Name }, end)
            }
            _ => {
                let long = ["...", "..", "==", "~=", "<=", ">="];
                let long = long.iter().find(|symbol| rest.starts_with(**symbol));
                (Kind::Symbol, long.map_or(1, |symbol| symbol.len()))
            }
        };
        let text = &rest[..length];
        tokens.push(Token { kind, text, line });
        line += text.matches('\n').count();
        at += length;
    }
    let (kind, text) = (Kind::End, "");
    tokens.push(Token { kind, text, line });
    tokens
}

/// A local variable.
struct Local<'a> {
    name: &'a str,
    line: usize,
    used: bool,
    /// Whether it is a parameter, which may stay unused before a used one.
    parameter: bool,
}

/// A parser that resolves the variables of one file.
struct Resolver<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
    scopes: Vec<Vec<Local<'a>>>,
    faults: Vec<String>,
}

impl<'a> Resolver<'a> {
    fn peek(&self) -> &'a str {
        match self.tokens[self.at].kind {
            Kind::Text | Kind::Number => "",
            _ => self.tokens[self.at].text,
        }
    }

    fn take(&mut self) -> Token<'a> {
        let token = self.tokens[self.at];
        self.at += 1;
        token
    }

    /// Takes a symbol or keyword, if it is next.
    fn takes(&mut self, text: &str) -> bool {
        let next = self.tokens[self.at].kind != Kind::End && self.peek() == text;
        self.at += usize::from(next);
        next
    }

    fn expect(&mut self, text: &str) {
        let line = self.tokens[self.at].line;
        assert!(self.takes(text), "line {line}: `{text}` expected");
    }

    fn name(&mut self) -> Token<'a> {
        let token = self.take();
        assert_eq!(token.kind, Kind::Name, "line {}: name expected", token.line);
        token
    }

    fn fault(&mut self, line: usize, what: String) {
        self.faults.push(format!("{line}: {what}"));
    }

    fn declare(&mut self, token: Token<'a>, parameter: bool) {
        let (name, line) = (token.text, token.line);
        let scope = self.scopes.last_mut().unwrap();
        scope.push(Local {
            name,
            line,
            used: name == "_",
            parameter,
        });
    }

    fn open(&mut self) {
        self.scopes.push(Vec::new());
    }

    fn close(&mut self) {
        let scope = self.scopes.pop().unwrap();
        let last_used = scope.iter().rposition(|local| local.used);
        for (at, local) in scope.iter().enumerate() {
            let before_used = local.parameter && last_used.is_some_and(|last| at < last);
            if !local.used && !before_used {
                self.fault(local.line, format!("`{}` is never used", local.name));
            }
        }
    }

    fn local(&mut self, name: &str) -> Option<&mut Local<'a>> {
        let scopes = self.scopes.iter_mut().rev();
        let mut locals = scopes.flat_map(|scope| scope.iter_mut().rev());
        locals.find(|local| local.name == name)
    }

    /// Marks a variable as used.
    fn read(&mut self, token: Token<'a>) {
        match self.local(token.text) {
            Some(local) => local.used = true,
            None if GLOBALS.contains(&token.text) || token.text == "unpack" => {}
            None => self.fault(token.line, format!("`{}` is not defined", token.text)),
        }
    }

    fn block(&mut self) {
        self.open();
        while !["end", "else", "elseif", "until", ""].contains(&self.peek())
            || self.tokens[self.at].kind == Kind::Text
        {
            self.statement();
        }
    }

    /// Parses a block up to its `end`.
    fn body(&mut self) {
        self.block();
        self.close();
        self.expect("end");
    }

    fn statement(&mut self) {
        match self.peek() {
            "local" => {
                self.take();
                if self.takes("function") {
                    let name = self.name();
                    self.declare(name, false);
                    self.function(false);
                    return;
                }
                let mut names = vec![self.name()];
                while self.takes(",") {
                    names.push(self.name());
                }
                if self.takes("=") {
                    self.expressions();
                }
                for name in names {
                    self.declare(name, false);
                }
            }
            "if" => {
                self.take();
                self.expression();
                self.expect("then");
                self.block();
                self.close();
                while self.takes("elseif") {
                    self.expression();
                    self.expect("then");
                    self.block();
                    self.close();
                }
                if self.takes("else") {
                    self.block();
                    self.close();
                }
                self.expect("end");
            }
            "while" => {
                self.take();
                self.expression();
                self.expect("do");
                self.body();
            }
            "do" => {
                self.take();
                self.body();
            }
            "for" => {
                self.take();
                let mut names = vec![self.name()];
                while self.takes(",") {
                    names.push(self.name());
                }
                assert!(self.takes("=") || self.takes("in"));
                self.expressions();
                self.expect("do");
                self.open();
                for name in names {
                    self.declare(name, false);
                }
                self.body();
                self.close();
            }
            "repeat" => {
                self.take();
                self.block();
                self.expect("until");
                self.expression();
                self.close();
            }
            "function" => {
                self.take();
                let name = self.name();
                self.read(name);
                let mut method = false;
                while self.takes(".") || (self.peek() == ":") {
                    method = self.takes(":");
                    self.name();
                }
                self.function(method);
            }
            "return" => {
                self.take();
                if !["end", "else", "elseif", "until"].contains(&self.peek())
                    && self.tokens[self.at].kind != Kind::End
                {
                    self.expressions();
                }
            }
            "break" => {
                self.take();
            }
            _ => self.call_or_assignment(),
        }
    }

    fn call_or_assignment(&mut self) {
        let line = self.tokens[self.at].line;
        let mut targets = Vec::new();
        loop {
            targets.push(self.suffixed());
            if !self.takes(",") {
                break;
            }
        }
        let assigned = self.takes("=");
        if assigned {
            self.expressions();
        }
        for name in targets.into_iter().flatten() {
            if !assigned {
                self.fault(line, format!("`{}` is not a statement", name.text));
            } else if self.local(name.text).is_none() {
                self.fault(line, format!("global `{}` is assigned", name.text));
            }
        }
    }

    /// Parses parameters and body of a function.
    fn function(&mut self, method: bool) {
        self.open();
        if method {
            let (kind, text, line) = (Kind::Name, "self", 0);
            self.declare(Token { kind, text, line }, true);
            self.local("self").unwrap().used = true;
        }
        self.expect("(");
        while !self.takes(")") {
            if !self.takes("...") {
                let name = self.name();
                self.declare(name, true);
            }
            self.takes(",");
        }
        self.body();
        self.close();
    }

    fn expressions(&mut self) {
        self.expression();
        while self.takes(",") {
            self.expression();
        }
    }

    fn expression(&mut self) {
        while ["not", "-", "#"].contains(&self.peek()) {
            self.take();
        }
        match (self.tokens[self.at].kind, self.peek()) {
            (Kind::Text | Kind::Number, _) | (_, "nil" | "true" | "false" | "...") => {
                self.take();
            }
            (_, "{") => self.table(),
            (_, "function") => {
                self.take();
                self.function(false);
            }
            _ => {
                if let Some(name) = self.suffixed() {
                    self.read(name);
                }
            }
        }
        let operators = [
            "+", "-", "*", "/", "%", "^", "..", "==", "~=", "<", "<=", ">", ">=", "and", "or",
        ];
        if operators.contains(&self.peek()) && self.tokens[self.at].kind != Kind::Text {
            self.take();
            self.expression();
        }
    }

    /// Parses a name, a member or a call. Returns the name if it stands alone.
    fn suffixed(&mut self) -> Option<Token<'a>> {
        let mut alone = None;
        if self.takes("(") {
            self.expression();
            self.expect(")");
        } else {
            alone = Some(self.name());
        }
        loop {
            let text = self.tokens[self.at].kind == Kind::Text;
            if !text && !["(", "{", "[", ".", ":"].contains(&self.peek()) {
                return alone;
            }
            if let Some(name) = alone.take() {
                self.read(name);
            }
            if text {
                self.take();
            } else if self.takes(".") || self.takes(":") {
                self.name();
            } else if self.takes("[") {
                self.expression();
                self.expect("]");
            } else if self.takes("(") {
                if !self.takes(")") {
                    self.expressions();
                    self.expect(")");
                }
            } else {
                self.table();
            }
        }
    }

    fn table(&mut self) {
        self.expect("{");
        while !self.takes("}") {
            let named =
                self.tokens[self.at].kind == Kind::Name && self.tokens[self.at + 1].text == "=";
            if named {
                self.name();
                self.expect("=");
            } else if self.takes("[") {
                self.expression();
                self.expect("]");
                self.expect("=");
            }
            self.expression();
            self.takes(",");
        }
    }
}

/// The faults of a file, each with its line.
fn lint(text: &str) -> Vec<String> {
    let mut resolver = Resolver {
        tokens: tokens(text),
        at: 0,
        scopes: Vec::new(),
        faults: Vec::new(),
    };
    resolver.block();
    assert_eq!(resolver.tokens[resolver.at].kind, Kind::End, "{text}");
    resolver.close();
    resolver.faults.sort();
    resolver.faults
}

#[test]
fn the_linter_finds_what_it_should() {
    for (text, faults) in [
        ("local a = 1\nreturn a", ""),
        ("local a = 1", "1: `a` is never used"),
        ("return b", "1: `b` is not defined"),
        ("local a = a\nreturn a", "1: `a` is not defined"),
        ("x = 1", "1: global `x` is assigned"),
        ("function f() end", "1: `f` is not defined"),
        ("for i = 1, 2 do end", "1: `i` is never used"),
        ("return function(a, b) return b end", ""),
        ("return function(a, b) return a end", "1: `b` is never used"),
        (
            "local t = {}\nfunction t:f(a) return a, t.b[1]:c 'd' .. 'e' end",
            "",
        ),
        (
            "if true then local a end\nreturn a",
            "1: `a` is never used\n2: `a` is not defined",
        ),
    ] {
        assert_eq!(lint(text).join("\n"), faults, "{text}");
    }
}

#[test]
fn every_variable_is_defined_and_used() {
    let mut faults = Vec::new();
    for (path, text) in files() {
        // The keys are read by the build. These define what the others use, or replace it.
        let excepted = [
            "lua/head.lua",
            "lua/keys.lua",
            "lua/split.lua",
            "lua/lib/dry_run/begin.lua",
        ];
        if !excepted.contains(&path.as_str()) {
            faults.extend(lint(&text).iter().map(|fault| format!("{path}:{fault}")));
        }
    }
    assert_eq!(faults.join("\n"), "");
}

#[test]
fn only_the_last_part_of_the_script_reads_the_arguments_of_the_call() {
    for (path, text) in files() {
        let reads = tokens(&text);
        let mut reads = reads.iter().filter(|token| token.kind == Kind::Name);
        let found = reads.any(|token| ["ARGV", "KEYS"].contains(&token.text));
        assert_eq!(found, path == "lua/dispatch.lua", "{path}");
    }
}

#[test]
fn every_shared_file_is_needed() {
    let files = files();
    let needed: BTreeSet<&str> = files
        .iter()
        .flat_map(|(_, text)| tokens(text))
        .filter(|token| token.kind == Kind::Text)
        .map(|token| token.text.trim_matches(['\'', '"']))
        .collect();
    for (path, _) in &files {
        let name = path
            .strip_prefix("lua/lib/")
            .or(path.strip_prefix("lua/check/"));
        if let Some(name) = name.and_then(|name| name.strip_suffix(".lua")) {
            assert!(needed.contains(name), "{path} is unused");
        }
    }
}

#[test]
fn every_needed_file_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("lua");
    for (path, text) in files() {
        let tokens = tokens(&text);
        for (at, token) in tokens.iter().enumerate() {
            let name = token.text.trim_matches(['\'', '"']);
            let call = at >= 2 && tokens[at - 2].text == "need" && tokens[at - 1].text == "(";
            let file = match (token.kind, tokens.get(at + 1).map(|next| next.text)) {
                (Kind::Text, Some(",")) if call => format!("command/{name}.lua"),
                (Kind::Text, _) if call || is_file_name(name) => format!("lib/{name}.lua"),
                _ => continue,
            };
            let exists =
                root.join(&file).is_file() || root.join(file.replace("lib/", "check/")).is_file();
            assert!(exists, "{path}:{}: there is no file `{name}`", token.line);
        }
    }
}

/// Whether a text looks like the name of a shared file: `job/read`.
fn is_file_name(text: &str) -> bool {
    let is_word = |word: &str| {
        let plain = |c: char| c.is_ascii_lowercase() || c == '_';
        !word.is_empty() && word.chars().all(plain)
    };
    text.split_once('/')
        .is_some_and(|(noun, name)| is_word(noun) && is_word(name))
}

/// The lines of the comment that a file opens with.
fn header(text: &str) -> Vec<&str> {
    let lines = text.lines().filter(|line| !line.starts_with("--!"));
    let lines = lines.take_while(|line| line.starts_with("--"));
    lines.map(|line| line.trim_start_matches("--")).collect()
}

/// A file opens with what it does, in sentences, and then, as far as it applies, with lines
/// `Takes:`, `Result:`, `Refuses:` and `Publishes:`; further lines of one are indented.
#[test]
fn every_file_opens_in_one_form() {
    for (path, text) in files() {
        let header = header(&text);
        let label = |line: &str| {
            let label = line
                .trim_start()
                .split_once(": ")
                .map(|(label, _)| label.to_owned());
            LABELS
                .iter()
                .position(|known| label.as_deref() == Some(known))
        };
        let first = header.iter().position(|line| label(line).is_some());
        let (does, labels) = header.split_at(first.unwrap_or(header.len()));
        let does = does.join("");
        assert!(
            does.starts_with(' ') && does.ends_with(['.', ':']) && !does.contains("  "),
            "{path}: not a description in sentences: {does}"
        );
        assert!(
            does[1..].starts_with(|c: char| c.is_ascii_uppercase()),
            "{path}: {does}"
        );
        let mut last = None;
        for line in labels {
            let own = label(line);
            assert!(
                own.is_some() || line.starts_with("   "),
                "{path}: neither a label nor indented: {line}"
            );
            assert!(own.is_none() || own > last, "{path}: out of order: {line}");
            last = own.or(last);
        }
        for (needle, needed) in [("error('", 2), ("error(\"", 2), ("call('publish'", 3)] {
            let has = labels.iter().any(|line| label(line) == Some(needed));
            assert!(
                has || !text.contains(needle),
                "{path}: no line `{}:`",
                LABELS[needed]
            );
        }
        let command = path.starts_with("lua/command/") && text.contains("argv[");
        let takes = labels.iter().any(|line| label(line) == Some(0));
        assert!(takes || !command, "{path}: no line `Takes:`");
    }
}

#[test]
fn files_and_lines_are_short() {
    for (path, text) in files() {
        let count = text.lines().count();
        assert!(count <= 150, "{path} has {count} lines");
        for (at, line) in text.lines().enumerate() {
            let length = line.chars().count();
            assert!(length <= 120, "{path}:{}: {length} characters", at + 1);
            assert_eq!(line.trim_end(), line, "{path}:{}", at + 1);
        }
        assert!(text.ends_with('\n') && !text.ends_with("\n\n"), "{path}");
    }
}
