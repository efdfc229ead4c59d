//! Checks that a text is JSON before it is sent, and reports the position of the first fault.
//!
//! The check is stricter than the core's decoder, which accepts `NaN`, hexadecimal numbers and
//! broken surrogates. It builds no value: the bytes are sent unchanged.

use std::borrow::Cow;

/// The maximum depth that the core decodes.
pub(crate) const DEEPEST: usize = 1000;

/// The position at which a text stops being JSON, and why. Lines and columns start at 1; a column is a
/// character, not a byte.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub line: usize,
    pub column: usize,
    pub what: String,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let Fault { line, column, what } = self;
        write!(f, "line {line}, column {column}: {what}")
    }
}

/// The type of a JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Object,
    Array,
    String,
    Number,
    Bool,
    Null,
}

impl Shape {
    /// Returns its name with an article.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Shape::Object => "an object",
            Shape::Array => "an array",
            Shape::String => "a text",
            Shape::Number => "a number",
            Shape::Bool => "true or false",
            Shape::Null => "null",
        }
    }
}

/// Returns the type of the value, or where and why the text is not JSON.
pub(crate) fn check(text: &[u8]) -> Result<Shape, Fault> {
    let mut reader = Reader::new(text);
    let read = reader.value().and_then(|shape| {
        reader.end()?;
        Ok(shape)
    });
    read.map_err(|what| reader.fault(what))
}

/// A member of an object, as it is written in the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member<'t> {
    /// The key without its quotes, with its escapes.
    pub key: &'t [u8],
    pub value: &'t [u8],
    pub shape: Shape,
    /// The offsets of the key and of the value.
    pub key_at: usize,
    pub at: usize,
}

/// A fault: its offset in the text, and what is wrong.
pub(crate) type Wrong = (usize, String);

/// Calls `take` with each member of the object in the text, and checks the text to its end.
pub(crate) fn members<'t>(
    text: &'t [u8],
    mut take: impl FnMut(Member<'t>) -> Result<(), Wrong>,
) -> Result<(), Fault> {
    let mut reader = Reader::new(text);
    let mut read = || {
        reader.blanks();
        reader.expect(b'{').map_err(|what| (reader.at, what))?;
        reader.members(&mut take)?;
        reader.end().map_err(|what| (reader.at, what))
    };
    read().map_err(|(at, what)| fault(text, at, what))
}

/// Returns a fault at the line and column of this offset.
pub(crate) fn fault(text: &[u8], at: usize, what: String) -> Fault {
    let mut reader = Reader::new(text);
    reader.at = at;
    reader.fault(what)
}

/// Calls `take` with the offset and the text of each element of an array that is known to be JSON.
pub(crate) fn elements<'t>(
    text: &'t [u8],
    mut take: impl FnMut(usize, &'t [u8], Shape) -> Result<(), Wrong>,
) -> Result<(), Wrong> {
    let mut reader = Reader::new(text);
    let mut step = |reader: &mut Reader<'t>| {
        reader.blanks();
        let start = reader.at;
        let shape = reader.value().map_err(|what| (start, what))?;
        take(start, &text[start..reader.at], shape)?;
        reader.blanks();
        Ok(reader.skip(b','))
    };
    reader.skip(b'[');
    reader.blanks();
    if reader.peek() == Some(b']') {
        return Ok(());
    }
    while step(&mut reader)? {}
    Ok(())
}

/// Returns the text of a JSON string that is given without its quotes.
pub(crate) fn unescaped(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.contains(&b'\\') {
        return Cow::Borrowed(text);
    }
    let quoted = [b"\"", text, b"\""].concat();
    match serde_json::from_slice::<String>(&quoted) {
        Ok(text) => Cow::Owned(text.into_bytes()),
        Err(_) => Cow::Borrowed(text),
    }
}

/// The token that may come next inside the open arrays and objects.
enum Next {
    /// A value, or `]` right after `[`.
    Value { or_end: bool },
    /// A key, or `}` right after `{`.
    Key { or_end: bool },
    /// A comma, or the end of the innermost array or object.
    More,
}

/// The arrays and objects that are open, one bit each.
struct Open {
    depth: usize,
    arrays: [u64; DEEPEST / 64 + 1],
}

impl Default for Open {
    fn default() -> Open {
        Open {
            depth: 0,
            arrays: [0; DEEPEST / 64 + 1],
        }
    }
}

impl Open {
    /// Opens an array or an object. The depth must be less than [`DEEPEST`].
    fn push(&mut self, array: bool) {
        let (at, bit) = (self.depth / 64, 1 << (self.depth % 64));
        if array {
            self.arrays[at] |= bit
        } else {
            self.arrays[at] &= !bit
        }
        self.depth += 1;
    }

    fn pop(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Returns whether the innermost open value is an array.
    fn is_array(&self) -> bool {
        let last = self.depth.saturating_sub(1);
        self.arrays[last / 64] >> (last % 64) & 1 == 1
    }
}

/// The offsets of a member.
struct Span {
    key_at: usize,
    key_end: usize,
    at: usize,
    shape: Shape,
}

struct Reader<'t> {
    text: &'t [u8],
    at: usize,
}

type Step<T> = Result<T, String>;

impl<'t> Reader<'t> {
    fn new(text: &'t [u8]) -> Reader<'t> {
        Reader { text, at: 0 }
    }

    /// Reads the members of an object after its `{`, and its `}`.
    fn members(
        &mut self,
        mut take: impl FnMut(Member<'t>) -> Result<(), Wrong>,
    ) -> Result<(), Wrong> {
        let text = self.text;
        self.blanks();
        if self.skip(b'}') {
            return Ok(());
        }
        loop {
            let member = self.member().map_err(|what| (self.at, what))?;
            take(Member {
                key: &text[member.key_at + 1..member.key_end],
                value: &text[member.at..self.at],
                shape: member.shape,
                key_at: member.key_at,
                at: member.at,
            })?;
            self.blanks();
            if self.skip(b'}') {
                return Ok(());
            }
            if !self.skip(b',') {
                return Err((self.at, self.expected("`,` or `}`")));
            }
        }
    }

    fn member(&mut self) -> Step<Span> {
        self.blanks();
        let key_at = self.at;
        if self.peek() != Some(b'"') {
            return Err(self.expected("a key in double quotes"));
        }
        self.string()?;
        let key_end = self.at - 1;
        self.blanks();
        self.expect(b':')?;
        self.blanks();
        let at = self.at;
        let shape = self.value()?;
        Ok(Span {
            key_at,
            key_end,
            at,
            shape,
        })
    }

    fn end(&mut self) -> Step<()> {
        self.blanks();
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.expected("the end")),
        }
    }

    /// Reads one value.
    fn value(&mut self) -> Step<Shape> {
        self.blanks();
        let shape = match self.peek() {
            Some(b'{') => Shape::Object,
            Some(b'[') => Shape::Array,
            Some(b'"') => Shape::String,
            Some(b't' | b'f') => Shape::Bool,
            Some(b'n') => Shape::Null,
            _ => Shape::Number,
        };
        if !matches!(shape, Shape::Object | Shape::Array) {
            self.scalar()?;
            return Ok(shape);
        }
        let mut open = Open::default();
        let mut next = Next::Value { or_end: false };
        loop {
            self.blanks();
            next = match (next, self.peek()) {
                (Next::Value { or_end: true }, Some(b']'))
                | (Next::Key { or_end: true }, Some(b'}')) => {
                    self.at += 1;
                    open.pop();
                    Next::More
                }
                (Next::Value { .. }, Some(opening @ (b'[' | b'{'))) => {
                    if open.depth == DEEPEST {
                        return Err(format!("nested deeper than {DEEPEST}"));
                    }
                    self.at += 1;
                    open.push(opening == b'[');
                    match opening {
                        b'[' => Next::Value { or_end: true },
                        _ => Next::Key { or_end: true },
                    }
                }
                (Next::Value { .. }, _) => {
                    self.scalar()?;
                    Next::More
                }
                (Next::Key { .. }, Some(b'"')) => {
                    self.string()?;
                    self.blanks();
                    self.expect(b':')?;
                    Next::Value { or_end: false }
                }
                (Next::Key { .. }, _) => return Err(self.expected("a key in double quotes")),
                (Next::More, found) => match (open.is_array(), found) {
                    (true, Some(b',')) => {
                        self.at += 1;
                        Next::Value { or_end: false }
                    }
                    (false, Some(b',')) => {
                        self.at += 1;
                        Next::Key { or_end: false }
                    }
                    (true, Some(b']')) | (false, Some(b'}')) => {
                        self.at += 1;
                        open.pop();
                        Next::More
                    }
                    (true, _) => return Err(self.expected("`,` or `]`")),
                    (false, _) => return Err(self.expected("`,` or `}`")),
                },
            };
            if open.depth == 0 {
                return Ok(shape);
            }
        }
    }

    fn scalar(&mut self) -> Step<()> {
        match self.peek() {
            Some(b'"') => self.string(),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true"),
            Some(b'f') => self.word("false"),
            Some(b'n') => self.word("null"),
            _ => Err(self.expected("a value")),
        }
    }

    fn word(&mut self, word: &str) -> Step<()> {
        if !self.text[self.at..].starts_with(word.as_bytes()) {
            return Err(self.expected("a value"));
        }
        self.at += word.len();
        Ok(())
    }

    fn number(&mut self) -> Step<()> {
        let start = self.at;
        self.skip(b'-');
        if self.text[self.at..].starts_with(b"Infinity") {
            self.at = start;
            return Err("`-Infinity` is not a JSON number".to_owned());
        }
        if self.skip(b'0') {
            if matches!(self.peek(), Some(b'0'..=b'9' | b'x' | b'X')) {
                self.at = start;
                return Err("a number does not start with `0`".to_owned());
            }
        } else {
            self.digits()?;
        }
        if self.skip(b'.') {
            self.digits()?;
        }
        if self.skip(b'e') || self.skip(b'E') {
            let _ = self.skip(b'+') || self.skip(b'-');
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Step<()> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if start == self.at {
            Err(self.expected("a digit"))
        } else {
            Ok(())
        }
    }

    fn string(&mut self) -> Step<()> {
        self.at += 1;
        loop {
            let rest = &self.text[self.at..];
            let plain = |byte: &u8| matches!(byte, 0x20..0x80) && !matches!(byte, b'"' | b'\\');
            self.at += rest.iter().take_while(|byte| plain(byte)).count();
            match self.peek() {
                None => return Err("a string is not closed".to_owned()),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => self.escape()?,
                Some(byte @ 0..0x20) => {
                    return Err(format!(
                        "a control character stands in a string; write it `\\u{byte:04x}`"
                    ));
                }
                Some(_) => self.at += self.character()?.len_utf8(),
            }
        }
    }

    fn escape(&mut self) -> Step<()> {
        let start = self.at;
        let refuse = |reader: &mut Self, what: &str| {
            reader.at = start;
            Err(what.to_owned())
        };
        self.at += 1;
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.at += 1;
                Ok(())
            }
            Some(b'u') => {
                let Some(unit) = self.unit() else {
                    return refuse(self, "`\\u` expects four hexadecimal digits");
                };
                match unit {
                    0xdc00..=0xdfff => refuse(self, "half of a surrogate pair stands alone"),
                    0xd800..=0xdbff => {
                        let paired = self.skip(b'\\')
                            && self.peek() == Some(b'u')
                            && matches!(self.unit(), Some(0xdc00..=0xdfff));
                        if paired {
                            Ok(())
                        } else {
                            refuse(self, "half of a surrogate pair stands alone")
                        }
                    }
                    _ => Ok(()),
                }
            }
            _ => refuse(self, "an unknown escape in a string"),
        }
    }

    /// Reads `uXXXX`.
    fn unit(&mut self) -> Option<u16> {
        let digits = self.text.get(self.at + 1..self.at + 5)?;
        if !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        self.at += 5;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    }

    fn character(&self) -> Step<char> {
        let few = &self.text[self.at..self.text.len().min(self.at + 4)];
        let valid = match std::str::from_utf8(few) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(&few[..error.valid_up_to()]).unwrap_or_default(),
        };
        valid
            .chars()
            .next()
            .ok_or_else(|| format!("byte 0x{:02x} is not UTF-8", self.text[self.at]))
    }

    /// Returns the message for a text in which `what` does not come next.
    fn expected(&self, what: &str) -> String {
        match self.peek() {
            None if self.at == 0 => format!("it is empty, {what} was expected"),
            None => format!("it ends where {what} was expected"),
            Some(_) => match self.character() {
                Ok(_) if self.text[self.at..].starts_with(b"NaN") => {
                    "`NaN` is not a JSON number".to_owned()
                }
                Ok(_) if self.text[self.at..].starts_with(b"Infinity") => {
                    "`Infinity` is not a JSON number".to_owned()
                }
                Ok(found) => format!("expected {what}, not `{}`", found),
                Err(fault) => fault,
            },
        }
    }

    fn expect(&mut self, byte: u8) -> Step<()> {
        if self.skip(byte) {
            Ok(())
        } else {
            Err(self.expected(&format!("`{}`", byte as char)))
        }
    }

    fn skip(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn fault(&self, what: String) -> Fault {
        let before = &self.text[..self.at.min(self.text.len())];
        let start = before
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |newline| newline + 1);
        Fault {
            line: before.iter().filter(|&&byte| byte == b'\n').count() + 1,
            // Bytes that continue a character are not counted.
            column: before[start..]
                .iter()
                .filter(|&&byte| byte & 0xc0 != 0x80)
                .count()
                + 1,
            what,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> String {
        check(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn json_of_every_shape_passes() {
        for (text, shape) in [
            (" {\"a\" : [1, -0.5e+3, {}], \"b\":null}\n", Shape::Object),
            ("[]", Shape::Array),
            ("\"\\ud83d\\ude00 \u{e9}\\/\\u0000\"", Shape::String),
            ("9007199254740993", Shape::Number),
            ("-0", Shape::Number),
            ("1e999", Shape::Number),
            ("true", Shape::Bool),
            ("false", Shape::Bool),
            ("null", Shape::Null),
        ] {
            assert_eq!(check(text.as_bytes()), Ok(shape), "{text}");
        }
        assert_eq!(
            check(&[b"[".repeat(1000), b"]".repeat(1000)].concat()),
            Ok(Shape::Array)
        );
    }

    #[test]
    fn a_fault_names_its_line_and_column() {
        assert_eq!(
            fault("{\n  \"a\": x\n}"),
            "line 2, column 8: expected a value, not `x`"
        );
        assert_eq!(
            fault("[\"\u{e9}\u{e9}\" 1]"),
            "line 1, column 7: expected `,` or `]`, not `1`"
        );
    }

    #[test]
    fn near_misses_are_refused_with_the_reason() {
        assert_eq!(
            fault(""),
            "line 1, column 1: it is empty, a value was expected"
        );
        assert_eq!(
            fault("{"),
            "line 1, column 2: it ends where a key in double quotes was expected"
        );
        assert_eq!(
            fault("{a:1}"),
            "line 1, column 2: expected a key in double quotes, not `a`"
        );
        assert_eq!(
            fault("{'a':1}"),
            "line 1, column 2: expected a key in double quotes, not `'`"
        );
        assert_eq!(fault("[1,]"), "line 1, column 4: expected a value, not `]`");
        assert_eq!(
            fault("{\"a\":1,}"),
            "line 1, column 8: expected a key in double quotes, not `}`"
        );
        assert_eq!(
            fault("[1}"),
            "line 1, column 3: expected `,` or `]`, not `}`"
        );
        assert_eq!(fault("1 2"), "line 1, column 3: expected the end, not `2`");
        assert_eq!(fault("\"a"), "line 1, column 3: a string is not closed");
        assert_eq!(
            fault("\"\t\""),
            "line 1, column 2: a control character stands in a string; write it `\\u0009`"
        );
        assert_eq!(
            fault("\"\\x\""),
            "line 1, column 2: an unknown escape in a string"
        );
        assert_eq!(
            fault("\"\\u12g4\""),
            "line 1, column 2: `\\u` expects four hexadecimal digits"
        );
        assert_eq!(fault("tru"), "line 1, column 1: expected a value, not `t`");
        assert_eq!(
            fault("1."),
            "line 1, column 3: it ends where a digit was expected"
        );
        assert_eq!(
            fault("01"),
            "line 1, column 1: a number does not start with `0`"
        );
        assert_eq!(
            fault("0x10"),
            "line 1, column 1: a number does not start with `0`"
        );
        assert_eq!(fault("+1"), "line 1, column 1: expected a value, not `+`");
        assert_eq!(fault("1\0"), "line 1, column 2: expected the end, not `\0`");
    }

    #[test]
    fn json_that_only_the_core_accepts_is_refused() {
        assert_eq!(
            fault("[NaN]"),
            "line 1, column 2: `NaN` is not a JSON number"
        );
        assert_eq!(
            fault("Infinity"),
            "line 1, column 1: `Infinity` is not a JSON number"
        );
        assert_eq!(
            fault("[-Infinity]"),
            "line 1, column 2: `-Infinity` is not a JSON number"
        );
        for half in [
            "\"\\ud800\"",
            "\"\\ud800x\"",
            "\"\\ud800\\n\"",
            "\"\\ud800\\u0041\"",
            "\"\\udc00\"",
        ] {
            assert_eq!(
                fault(half),
                "line 1, column 2: half of a surrogate pair stands alone"
            );
        }
        assert_eq!(
            fault(&"[".repeat(1001)),
            "line 1, column 1001: nested deeper than 1000"
        );
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_refused() {
        let fault = check(b"[\"a\xff\"]").unwrap_err();
        assert_eq!(
            fault.to_string(),
            "line 1, column 4: byte 0xff is not UTF-8"
        );
        assert!(check(b"\"\xc3\"").is_err());
        assert!(check(b"\xff").is_err());
    }
}
