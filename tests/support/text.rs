//! Helpers for text.

use expect_test::Expect;
use serde_json::Value;

/// A text that is compared with the expected one.
pub trait Shows {
    fn shows(&self, expected: Expect);
}

impl<T: AsRef<str>> Shows for T {
    #[track_caller]
    fn shows(&self, expected: Expect) {
        expected.assert_eq(self.as_ref());
    }
}

/// The lines that hold a word.
pub fn lines_with(text: &str, word: &str) -> String {
    let lines = text.lines().filter(|line| line.contains(word));
    lines.map(|line| format!("{line}\n")).collect()
}

/// One document, which a newline ends, without the blanks between its tokens.
pub fn compact(json: &str) -> String {
    let document = serde_json::from_str::<serde::de::IgnoredAny>(json);
    assert!(
        document.is_ok() && json.ends_with('\n'),
        "not a document: {json}"
    );
    let (mut in_string, mut is_escaped) = (false, false);
    let is_kept = |c: &char| {
        let is_kept = in_string || !c.is_ascii_whitespace();
        in_string ^= *c == '"' && !is_escaped;
        is_escaped = in_string && *c == '\\' && !is_escaped;
        is_kept
    };
    json.chars().filter(is_kept).collect()
}

/// Members of a document, as `jq -c` prints them: `.items[0].jid`, `.items[].jid`, or several in one array, such as
/// `[.kind, .total]`.
pub fn pick(json: &str, filter: &str) -> String {
    let document: Value = serde_json::from_str(json).expect("a document");
    let (paths, in_array) = match filter.strip_prefix('[') {
        Some(paths) => (paths.strip_suffix(']').expect("an array"), true),
        None => (filter, false),
    };
    let found: Vec<&Value> = paths
        .split(", ")
        .flat_map(|path| at_path(&document, path))
        .collect();
    if in_array {
        return serde_json::to_string(&found).unwrap();
    }
    let found: Vec<String> = found.into_iter().map(Value::to_string).collect();
    found.join("\n")
}

/// The values at a path such as `.items[].jid`.
fn at_path<'d>(document: &'d Value, path: &str) -> Vec<&'d Value> {
    let steps = path.replace("[", ".[");
    let steps = steps.strip_prefix('.').expect("a path begins with a dot");
    let mut values = vec![document];
    for step in steps.split('.') {
        values = match step.strip_prefix('[').and_then(|at| at.strip_suffix(']')) {
            Some("") => values
                .into_iter()
                .flat_map(|value| value.as_array().expect("an array"))
                .collect(),
            Some(at) => values
                .iter()
                .map(|value| &value[at.parse::<usize>().unwrap()])
                .collect(),
            None => values.iter().map(|value| &value[step]).collect(),
        };
    }
    values
}

/// The text that `printf 'a\nb'` prints: the escapes are `\n`, `\t`, `\r` and `\\`.
pub fn printf(command: &str) -> String {
    let words = words(command);
    let [_, text] = &words[..] else {
        panic!("`printf` takes one word: {command}");
    };
    let mut printed = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        printed.push(match c {
            '\\' => match chars.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('r') => '\r',
                Some('\\') => '\\',
                other => panic!("`printf` knows no escape {other:?}: {command}"),
            },
            '%' => panic!("`printf` takes no `%` here: {command}"),
            c => c,
        });
    }
    printed
}

/// Splits a line into words as a shell would: blanks, '…' and "…"; no backslashes.
pub fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    assert!(quote.is_none(), "a quote stays open in: {line}");
    words.extend(word);
    words
}

/// The rows of a table, one on each line: `input | expected`.
pub fn rows(table: &str) -> impl Iterator<Item = (&str, &str)> {
    let rows = table.lines().map(str::trim).filter(|row| !row.is_empty());
    rows.map(|row| {
        let (input, expected) = row.split_once(" |").expect("a row has a ` |`");
        (input.trim_end(), expected.trim_start())
    })
}

#[test]
fn words_are_split_as_a_shell_splits_them() {
    assert_eq!(
        words("put  q 'a b' \"c 'd'\" ''"),
        ["put", "q", "a b", "c 'd'", ""]
    );
}

#[test]
fn only_blanks_between_the_tokens_of_a_document_are_left_out() {
    let document = "{\n  \"a b\": [1, \"\\\" , \\\\\" ]\n}\n";
    assert_eq!(compact(document), r#"{"a b":[1,"\" , \\"]}"#);
}

#[test]
fn parts_of_a_document_are_picked_as_jq_picks_them() {
    let document = r#"{"kind":"bulk","items":[{"jid":"a"},{"jid":"b","code":null}]}"#;
    let pick = |filter| pick(document, filter);
    assert_eq!(pick(".items[1].jid"), r#""b""#);
    assert_eq!(pick(".items[].jid"), "\"a\"\n\"b\"");
    assert_eq!(
        pick("[.kind, .items[].jid, .none]"),
        r#"["bulk","a","b",null]"#
    );
}

#[test]
fn printf_prints_escapes() {
    assert_eq!(printf(r#"printf '{"a": 1}\n\\n'"#), "{\"a\": 1}\n\\n");
}
