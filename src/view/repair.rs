//! A repair: its plan, its commands, what became of what was found.

use std::collections::BTreeMap;

use super::check::{COLUMNS as FOUND, count, examples, severity};
use super::document::Document;
use super::json::Lines;
use super::table::{Cell, Column, Table};
use super::{Page, View};
use crate::model::check::{Check, Found};
use crate::model::finding::{Approval, Severity};
use crate::model::repair::{Planned, Rehearsed, Repaired, Row};
use crate::name::Name;
use crate::text::{clean, is_harmful, measure, thousands};

const COLUMNS: &[Column] = &[
    Column::text("SEVERITY"),
    Column::text("FINDING"),
    Column::number("MENDED"),
    Column::number("GONE"),
    Column::number("REFUSED"),
    Column::number("LEFT"),
    Column::free("DONE"),
];

impl View for Repaired {
    const DOCUMENT: Document = Check::DOCUMENT;
    const COLUMNS: &'static [Column] = COLUMNS;

    fn text(&self, page: &Page) -> String {
        let mut table = Table::new(COLUMNS);
        for row in &self.items {
            let Row { found, fate } = row;
            let done = match (fate.mended, found.finding.remedy) {
                (1.., Some(remedy)) => format!("{} {}", remedy.past, remedy.what),
                _ if found.mends > 0 || fate.gone + fate.refused > 0 => "nothing".to_owned(),
                _ if found.asks > 0 => "nothing, it asks".to_owned(),
                _ => "nothing, only told".to_owned(),
            };
            table.row(vec![
                severity(found.severity),
                Cell::text(found.finding.id),
                Cell::count(fate.mended, page),
                Cell::count(fate.gone, page),
                Cell::count(fate.refused, page),
                Cell::count(found.count, page),
                Cell::text(done),
            ]);
        }
        table.draw(page)
    }

    fn lines(&self, lines: &mut Lines) -> Result<(), serde_json::Error> {
        lines.items(&self.items)
    }
}

impl Repaired {
    /// Returns the sum in words: `6 mended, 1 gone by itself in 0.4s, 4 left`.
    pub(crate) fn told(&self) -> String {
        let mut told = format!("{} mended", thousands(self.sum.mended));
        if self.sum.gone > 0 {
            told.push_str(&format!(", {} gone by itself", thousands(self.sum.gone)));
        }
        if self.sum.refused > 0 {
            told.push_str(&format!(", {} refused", thousands(self.sum.refused)));
        }
        if self.check.elapsed_s.0 >= 0.05 {
            told.push_str(&format!(" in {}", measure(self.check.elapsed_s.0)));
        }
        told
    }
}

impl View for Rehearsed {
    const DOCUMENT: Document = Check::DOCUMENT;
    const COLUMNS: &'static [Column] = FOUND;

    fn text(&self, _: &Page) -> String {
        self.plan.iter().map(commands).collect()
    }

    fn lines(&self, lines: &mut Lines) -> Result<(), serde_json::Error> {
        lines.items(&self.plan)
    }
}

/// Returns the commands of a finding, below a line that says what it is.
pub(crate) fn commands(planned: &Planned) -> String {
    let mut text = format!("# {}", planned.finding);
    for word in [&planned.item, &planned.detail] {
        if !word.is_empty() {
            text.push(' ');
            text.push_str(&clean(word));
        }
    }
    text.push('\n');
    for command in &planned.commands {
        text.push_str(command);
        text.push('\n');
    }
    text
}

/// Returns a command as redis-cli takes it: what is not plain stands in quotes, and what could touch
/// a terminal as `\xNN`.
pub(crate) fn spelt(words: &[Name]) -> String {
    let words: Vec<String> = words.iter().map(spelt_word).collect();
    words.join(" ")
}

fn spelt_word(word: &Name) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.,:/@%+=".contains(byte);
    let bytes = word.as_bytes();
    if !bytes.is_empty() && bytes.iter().all(plain) {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    let mut text = String::from("\"");
    let escape = |text: &mut String, bytes: &[u8]| {
        for byte in bytes {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    };
    for chunk in bytes.utf8_chunks() {
        for letter in chunk.valid().chars() {
            match letter {
                '"' | '\\' => text.extend(['\\', letter]),
                '\n' => text.push_str("\\n"),
                '\r' => text.push_str("\\r"),
                '\t' => text.push_str("\\t"),
                letter if is_harmful(letter) => {
                    escape(&mut text, letter.encode_utf8(&mut [0; 4]).as_bytes());
                }
                letter => text.push(letter),
            }
        }
        escape(&mut text, chunk.invalid());
    }
    text.push('"');
    text
}

const PLAN: [Column; 4] = [
    Column::text("FINDING"),
    Column::number("COUNT"),
    Column::text("WHAT IS DONE"),
    Column::free("EXAMPLES"),
];

/// As many jobs in no set may be all of a queue.
const MANY: u64 = 10;

/// Returns what a repair does about each finding, and what it leaves to be decided.
pub(crate) fn plan(items: &[Found], page: &Page) -> String {
    let mut table = Table::new(&PLAN);
    for found in items.iter().filter(|found| found.mends > 0) {
        let remedy = found.finding.remedy;
        let done = remedy.map_or_else(String::new, |remedy| {
            format!("{} {}", remedy.verb, remedy.what)
        });
        table.row(vec![
            Cell::text(found.finding.id),
            count(found.mends, found, page),
            Cell::text(done),
            Cell::text(examples(found, page.terminal)),
        ]);
    }
    let plain = Page {
        headers: true,
        choice: Default::default(),
        ..page.clone()
    };
    let table = table.draw(&plain);
    let mut text: String = table.lines().map(|line| format!("  {line}\n")).collect();
    let many = |found: &Found| found.finding.id == "in-no-set" && found.mends >= MANY;
    if items.iter().any(many) {
        text.push_str(
            "\n  if a whole queue was lost, a backup of it may be better: it knows every place\n",
        );
    }
    let decisions = decisions(items, Severity::Info);
    if !decisions.is_empty() {
        text.push('\n');
        text.push_str(&decisions);
    }
    text
}

/// Returns what only a human decides, with the command for each choice.
pub(crate) fn decisions(items: &[Found], least: Severity) -> String {
    let mut text = String::new();
    let asks = |found: &&Found| {
        let left = found.count > found.mends;
        left && (found.severity >= Severity::Warn || found.asks > 0 && found.severity >= least)
    };
    for found in items.iter().filter(asks) {
        if text.is_empty() {
            text.push_str("  left as it is, for somebody has to decide:\n");
        }
        let (id, left) = (found.finding.id, thousands(found.count - found.mends));
        text.push_str(&format!("  {id}, {left}: {}\n", found.finding.problem));
        for choice in found.choices() {
            text.push_str(&format!("    {choice}\n"));
        }
    }
    text
}

/// Returns how many changes mended what.
pub(crate) fn by_finding(counts: &BTreeMap<String, u64>) -> String {
    let wide = counts.keys().map(String::len).max().unwrap_or(0);
    let lines = counts.iter().map(|(finding, count)| {
        let count = thousands(*count);
        format!("  {:<wide$}  {count}\n", clean(finding))
    });
    lines.collect()
}

/// Returns how many keys are to be deleted, which nothing puts back.
pub(crate) fn deletes(items: &[Found]) -> u64 {
    let typed = |found: &&Found| found.finding.consent == Approval::Typed;
    items.iter().filter(typed).map(|found| found.mends).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_spelt_for_redis_cli() {
        for (word, spelling) in [
            (&b"ql:q:mail-work"[..], "ql:q:mail-work"),
            (b"-163.5", "-163.5"),
            (b"", "\"\""),
            (b"two words", "\"two words\""),
            (b"it's", "\"it's\""),
            (b"{\"a\":\"\\\"}", "\"{\\\"a\\\":\\\"\\\\\\\"}\""),
            (b"a\nb\x1b[31m\xff", "\"a\\nb\\x1b[31m\\xff\""),
            ("ü\u{202e}".as_bytes(), "\"ü\\xe2\\x80\\xae\""),
        ] {
            assert_eq!(spelt_word(&Name::from(word)), spelling);
        }
    }
}
