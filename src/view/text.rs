//! The words of views: cleaning what others wrote, ages, durations, plurals, cutting.

use std::fmt::Write;

/// Whether a character could do something to a terminal, or hide there.
pub fn is_harmful(c: char) -> bool {
    matches!(c,
        '\0'..='\x1f' | '\x7f'..='\u{9f}'
        | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{ad}' | '\u{180e}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Returns text that is harmless in one line: controls as `\n`, `\x1b`, `\u{202e}`, bytes that
/// are not UTF-8 as `\xff`.
pub fn clean(bytes: &[u8]) -> String {
    cleaned(bytes, false)
}

/// The same, but keeps line ends and tabs; for detail views.
pub fn clean_lines(bytes: &[u8]) -> String {
    cleaned(bytes, true)
}

fn cleaned(bytes: &[u8], lines: bool) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\n' | '\t' if lines => text.push(c),
                '\n' => text.push_str("\\n"),
                '\r' => text.push_str("\\r"),
                '\t' => text.push_str("\\t"),
                '\0'..='\x1f' | '\x7f' => _ = write!(text, "\\x{:02x}", c as u32),
                c if is_harmful(c) => _ = write!(text, "\\u{{{:x}}}", c as u32),
                c => text.push(c),
            }
        }
        for byte in chunk.invalid() {
            _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}
