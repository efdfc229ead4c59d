//! Text for people: sanitizes foreign text, and formats ages, durations, numbers and shortened texts. `view::table`
//! lays out columns.

use std::fmt::{Display, Write as _};

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The text on one line, with everything escaped that a terminal would act on or hide:
/// controls as `\n`, `\x1b`, direction and format characters and lone combining marks as
/// `\u{202e}`, bytes that are not UTF-8 as `\xff`. Applying it twice changes nothing more.
pub(crate) fn sanitize_to_line(text: impl AsRef<[u8]>) -> String {
    sanitize(text.as_ref(), false)
}

/// As [`sanitize_to_line`], with each backslash doubled, so that different texts never look alike.
pub(crate) fn sanitize_to_line_escaping_backslashes(text: &[u8]) -> String {
    let bytes = text.iter().flat_map(|byte| match byte {
        b'\\' => &b"\\\\"[..],
        byte => std::slice::from_ref(byte),
    });
    sanitize_to_line(bytes.copied().collect::<Vec<u8>>())
}

/// As [`sanitize_to_line`], but line ends and tabs stay: for texts that are shown in full.
pub(crate) fn sanitize_keeping_lines(text: impl AsRef<[u8]>) -> String {
    sanitize(text.as_ref(), true)
}

/// Text from outside: a server's message, a path, a word of the configuration file. Its `Display`
/// is sanitized by [`sanitize_to_line`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sanitized<T>(pub(crate) T);

impl<T: AsRef<[u8]>> std::fmt::Display for Sanitized<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.pad(&sanitize_to_line(self.0.as_ref()))
    }
}

fn sanitize(text: &[u8], keep_lines: bool) -> String {
    let mut clean = String::with_capacity(text.len());
    // A combining mark is kept only after a character that is itself kept.
    let mut has_base = false;
    for chunk in text.utf8_chunks() {
        for c in chunk.valid().chars() {
            let keep = match c {
                '\n' | '\t' => keep_lines,
                ' '..='~' => true,
                _ if is_harmful_to_terminal(c) => false,
                _ => c.width() != Some(0) || has_base,
            };
            if keep {
                clean.push(c);
            } else {
                push_escaped(c, &mut clean);
            }
            has_base = keep && !c.is_whitespace();
        }
        for byte in chunk.invalid() {
            write!(clean, "\\x{byte:02x}").expect("a String takes all");
            has_base = false;
        }
    }
    clean
}

fn push_escaped(c: char, into: &mut String) {
    match c {
        '\n' => into.push_str("\\n"),
        '\r' => into.push_str("\\r"),
        '\t' => into.push_str("\\t"),
        c if c.is_ascii() => write!(into, "\\x{:02x}", c as u32).expect("a String takes all"),
        c => write!(into, "\\u{{{:x}}}", c as u32).expect("a String takes all"),
    }
}

/// Whether a terminal would act on the character instead of printing it: a control, a line
/// or paragraph separator, a direction mark or another format character.
pub(crate) fn is_harmful_to_terminal(c: char) -> bool {
    let is_format = || {
        FORMAT.binary_search_by(|&(first, last)| {
            if last < c {
                std::cmp::Ordering::Less
            } else if first > c {
                std::cmp::Ordering::Greater
            } else {
                std::cmp::Ordering::Equal
            }
        })
    };
    c.is_control() || !c.is_ascii() && is_format().is_ok()
}

/// The format characters (Cf) of Unicode 16, both separators (Zl, Zp), and the fillers that take
/// columns and show nothing.
const FORMAT: [(char, char); 25] = [
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{600}', '\u{605}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{6dd}', '\u{6dd}'),
    ('\u{70f}', '\u{70f}'),
    ('\u{890}', '\u{891}'),
    ('\u{8e2}', '\u{8e2}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180e}', '\u{180e}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{2028}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff9}', '\u{fffb}'),
    ('\u{110bd}', '\u{110bd}'),
    ('\u{110cd}', '\u{110cd}'),
    ('\u{13430}', '\u{1343f}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0001}', '\u{e0001}'),
    ('\u{e0020}', '\u{e007f}'),
];

/// How many columns the text takes on a terminal.
pub fn width(text: &str) -> usize {
    text.width()
}

/// The text with a capital letter at its beginning.
pub(crate) fn capitalize(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string());
    first.unwrap_or_default() + chars.as_str()
}

/// The text cut to a number of columns. If it was cut, the last column is `…`.
pub(crate) fn cut_with_ellipsis(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let Some(available) = columns.checked_sub(1) else {
        return String::new();
    };
    let mut end = 0;
    for (at, c) in text.char_indices() {
        let next = at + c.len_utf8();
        if width(&text[..next]) > available {
            break;
        }
        end = next;
    }
    format!("{}…", &text[..end])
}

/// The text wrapped to lines of up to `columns` columns, each indented, with a line end.
pub(crate) fn wrap_and_indent(text: &str, columns: usize, indent: usize) -> String {
    let mut lines = String::new();
    let mut taken = usize::MAX;
    for word in text.split(' ') {
        let wide = width(word);
        if taken.saturating_add(1 + wide) > columns {
            if !lines.is_empty() {
                lines.push('\n');
            }
            lines.extend(std::iter::repeat_n(' ', indent));
            taken = indent;
        } else {
            lines.push(' ');
            taken += 1;
        }
        lines.push_str(word);
        taken += wide;
    }
    lines.push('\n');
    lines
}

/// The line of a failure's message that says what failed: the last one of a Python traceback that
/// is not blank, else the first one.
pub(crate) fn failure_summary_line(message: &[u8]) -> &[u8] {
    let mut lines = message.split(|&byte| byte == b'\n');
    let line = if message.starts_with(b"Traceback (most recent call last)") {
        lines.rfind(|line| !line.trim_ascii().is_empty())
    } else {
        lines.next()
    };
    let line = line.unwrap_or_default();
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// A jid shortened for sentences: of more than 12 characters, the first eight and `…`. Commands that can be
/// typed need the full jid.
pub(crate) fn short_jid(jid: impl AsRef<[u8]>) -> String {
    let whole = sanitize_to_line(jid);
    match whole.char_indices().nth(8) {
        Some((end, _)) if whole.chars().count() > 12 => format!("{}…", &whole[..end]),
        _ => whole,
    }
}

const UNITS: [(f64, &str); 4] = [(86400.0, "d"), (3600.0, "h"), (60.0, "m"), (1.0, "s")];

/// A duration as its two largest units: `4m 12s`, `3d 4h`.
pub(crate) fn format_duration(seconds: f64) -> String {
    format_units(seconds, 2)
}

/// A duration as its largest unit alone: `4m`.
pub(crate) fn format_rough_duration(seconds: f64) -> String {
    format_units(seconds, 1)
}

fn format_units(seconds: f64, max_units: usize) -> String {
    if !seconds.is_finite() {
        return "–".to_owned();
    }
    let sign = if seconds <= -1.0 { "-" } else { "" };
    let mut rest = seconds.abs().floor();
    let mut parts: Vec<String> = Vec::new();
    for (size, unit) in UNITS {
        let count = (rest / size).floor();
        rest -= count * size;
        if count > 0.0 || !parts.is_empty() {
            parts.push(if count > 0.0 {
                format!("{count}{unit}")
            } else {
                String::new()
            });
        }
        if parts.len() == max_units {
            break;
        }
    }
    parts.retain(|unit| !unit.is_empty());
    if parts.is_empty() {
        return "0s".to_owned();
    }
    format!("{sign}{}", parts.join(" "))
}

/// A measured duration, with tenths below a minute: `0.8s`, `41.2s`, `2m 5s`.
pub(crate) fn format_duration_tenths_below_minute(seconds: f64) -> String {
    if seconds.is_finite() && seconds.abs() < 60.0 {
        format!("{seconds:.1}s")
    } else {
        format_duration(seconds)
    }
}

/// A size in the largest unit: `1.2 GiB`.
pub(crate) fn format_bytes(count: u64) -> String {
    let mut size = count as f64;
    for unit in ["B", "KiB", "MiB"] {
        if size < 1024.0 {
            return match unit {
                "B" => format!("{count} B"),
                unit => format!("{size:.1} {unit}"),
            };
        }
        size /= 1024.0;
    }
    format!("{size:.1} GiB")
}

/// A duration, with a fraction if it is less than a second.
pub(crate) fn format_duration_tenths_below_second(seconds: f64) -> String {
    if seconds < 1.0 {
        format_duration_tenths_below_minute(seconds)
    } else {
        format_duration(seconds)
    }
}

/// A whole number with its thousands separated.
pub(crate) fn with_thousands_separators(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Lists things: `a, b, c`.
pub(crate) fn comma_list<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    items.join(", ")
}

/// Lists names, each in backticks.
pub(crate) fn backtick_list<T: Display>(names: impl IntoIterator<Item = T>) -> String {
    comma_list(names.into_iter().map(|name| format!("`{name}`")))
}

/// A count with its noun, for people and programs alike: `1 job`, `1204 jobs`.
pub(crate) fn format_count_without_separators(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// A count with its noun, for people: `1 job`, `1,204 jobs`.
pub(crate) fn format_count(count: u64, one: &str, many: &str) -> String {
    let noun = if count == 1 { one } else { many };
    format!("{} {noun}", with_thousands_separators(count))
}

/// The known name that is most similar to `name`, if one is similar: for "did you mean".
pub(crate) fn nearest_spelling<T: AsRef<[u8]>>(name: impl AsRef<[u8]>, known: &[T]) -> Option<&T> {
    let name = sanitize_to_line(name).to_lowercase();
    let like = |other: &T| strsim::jaro_winkler(&name, &sanitize_to_line(other).to_lowercase());
    let scored = known.iter().map(|other| (like(other), other));
    let best = scored.max_by(|(one, _), (other, _)| one.total_cmp(other))?;
    (best.0 > 0.8).then_some(best.1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn controls_directions_and_bad_bytes_become_visible() {
        assert_eq!(sanitize_to_line("a\x1b[31mb"), "a\\x1b[31mb");
        assert_eq!(
            sanitize_to_line("two\nlines\tand\rback"),
            "two\\nlines\\tand\\rback"
        );
        assert_eq!(sanitize_to_line("\x7f\u{9b}\0"), "\\x7f\\u{9b}\\x00");
        assert_eq!(
            sanitize_to_line("ab\u{202e}dc\u{2066}\u{200f}\u{61c}"),
            "ab\\u{202e}dc\\u{2066}\\u{200f}\\u{61c}"
        );
        assert_eq!(
            sanitize_to_line("a\u{2028}b\u{2029}c"),
            "a\\u{2028}b\\u{2029}c"
        );
        assert_eq!(sanitize_to_line(b"caf\xe9 \xff\xfe"), "caf\\xe9 \\xff\\xfe");
        assert_eq!(
            sanitize_to_line("tag\u{e0041}soft\u{ad}zero\u{200b}"),
            "tag\\u{e0041}soft\\u{ad}zero\\u{200b}"
        );
    }

    #[test]
    fn combining_marks_stay_on_their_base_and_are_escaped_alone() {
        assert_eq!(sanitize_to_line("e\u{301}te\u{301}"), "e\u{301}te\u{301}");
        assert_eq!(sanitize_to_line("\u{301}a"), "\\u{301}a");
        assert_eq!(sanitize_to_line("a \u{301}b"), "a \\u{301}b");
        assert_eq!(sanitize_to_line("\x1b\u{301}"), "\\x1b\\u{301}");
    }

    #[test]
    fn characters_of_all_scripts_are_unchanged() {
        for text in ["naïve", "日本語", "Привет", "שלום", "مرحبا", "🦀 ok", "–…▇"]
        {
            assert_eq!(sanitize_to_line(text), text);
        }
    }

    #[test]
    fn text_in_full_keeps_line_ends_and_tabs() {
        assert_eq!(sanitize_keeping_lines("a\n\tb\r\x1b"), "a\n\tb\\r\\x1b");
    }

    proptest! {
        #[test]
        fn cleaned_text_is_harmless_and_cleaning_again_changes_nothing(
            bytes in proptest::collection::vec(any::<u8>(), 0..64),
            text in "\\PC{0,16}|[\u{0}-\u{a0}\u{200b}-\u{2070}\u{300}-\u{310}a ]{0,16}",
        ) {
            for input in [bytes.as_slice(), text.as_bytes()] {
                let once = sanitize_to_line(input);
                prop_assert!(!once.chars().any(is_harmful_to_terminal));
                prop_assert_eq!(sanitize_to_line(&once), once.clone());
                let lines = sanitize_keeping_lines(input);
                prop_assert!(!lines.chars().any(|c| is_harmful_to_terminal(c) && c != '\n' && c != '\t'));
                prop_assert_eq!(sanitize_keeping_lines(&lines), lines.clone());
            }
        }

        #[test]
        fn a_cut_text_fits(text in "\\PC{0,24}", columns in 0usize..20) {
            prop_assert!(width(&cut_with_ellipsis(&sanitize_to_line(&text), columns)) <= columns);
        }
    }

    #[test]
    fn texts_are_cut_by_width() {
        assert_eq!(cut_with_ellipsis("abcdef", 6), "abcdef");
        assert_eq!(cut_with_ellipsis("abcdef", 4), "abc…");
        assert_eq!(cut_with_ellipsis("日本語", 4), "日…");
        assert_eq!(cut_with_ellipsis("abc", 1), "…");
        assert_eq!(cut_with_ellipsis("abc", 0), "");
    }

    #[test]
    fn durations_show_their_two_largest_units() {
        for (seconds, text) in [
            (0.0, "0s"),
            (0.9, "0s"),
            (41.0, "41s"),
            (252.0, "4m 12s"),
            (3600.0, "1h"),
            (3605.0, "1h"),
            (273_600.0, "3d 4h"),
            (-90.0, "-1m 30s"),
            (f64::NAN, "–"),
        ] {
            assert_eq!(format_duration(seconds), text);
        }
        assert_eq!(format_rough_duration(252.0), "4m");
        assert_eq!(format_duration_tenths_below_minute(0.84), "0.8s");
        assert_eq!(format_duration_tenths_below_minute(125.0), "2m 5s");
    }

    #[test]
    fn counts_separate_thousands_and_inflect_their_noun() {
        assert_eq!(with_thousands_separators(7), "7");
        assert_eq!(with_thousands_separators(1204), "1,204");
        assert_eq!(with_thousands_separators(1_000_000), "1,000,000");
        assert_eq!(format_count(1, "job", "jobs"), "1 job");
        assert_eq!(format_count(1237, "job", "jobs"), "1,237 jobs");
    }

    #[test]
    fn only_long_jids_are_shortened() {
        assert_eq!(short_jid("c41d77aa0e3b4f6c"), "c41d77aa…");
        assert_eq!(short_jid("nightly"), "nightly");
        assert_eq!(short_jid("order-012345"), "order-012345");
    }
}
