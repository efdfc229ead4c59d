//! Helpers for text.

use expect_test::Expect;

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
