//! The text output of `qless doctor`: a line for each check with its sign, its name, what was found, and what to do.

use strum::VariantArray;

use super::{Diagnosis, DoctorCheck, DoctorItem, DoctorLevel};
use crate::text::{sanitize_to_line, width, wrap_and_indent};
use crate::view::document::DocumentKind;
use crate::view::paint::{Style, TextStyler};
use crate::view::{NdjsonLines, RenderOptions, View};

impl View for Diagnosis {
    const DOCUMENT: DocumentKind = DocumentKind::new::<Diagnosis>(
        "doctor",
        "Whether this machine can use the queues of a server: doctor",
    );

    fn text(&self, options: &RenderOptions) -> String {
        let marks = TextStyler::new(options.color);
        let lines = self.items.iter().map(|item| {
            if options.terminal {
                item.terminal_lines(options.width, marks)
            } else {
                item.tab_separated_line()
            }
        });
        marks.marks_to_ansi_codes(lines.collect())
    }

    fn lines(&self, lines: &mut NdjsonLines) -> Result<(), serde_json::Error> {
        lines.write_items(&self.items)
    }
}

impl DoctorLevel {
    const fn sign(self) -> &'static str {
        match self {
            DoctorLevel::Ok => "✓",
            DoctorLevel::Warning => "!",
            DoctorLevel::Error => "✗",
            DoctorLevel::Skipped => "–",
        }
    }

    const fn style(self) -> Style {
        match self {
            DoctorLevel::Ok => Style::Green,
            DoctorLevel::Warning => Style::Yellow,
            DoctorLevel::Error => Style::Red,
            DoctorLevel::Skipped => Style::Dim,
        }
    }
}

impl DoctorItem {
    /// The lines of a check on a terminal. The hint follows what was found, or is below it if both do not fit on one
    /// line.
    fn terminal_lines(&self, columns: usize, marks: TextStyler) -> String {
        let names = DoctorCheck::VARIANTS.iter();
        let names = names.map(|check| check.into_str().len()).max().unwrap_or(0);
        let indent = 2 + names + 2;
        let sign = marks.mark_text(self.level.sign(), Some(self.level.style()));
        let name = self.check.into_str();
        let what = sanitize_to_line(&self.what);
        let hint = self.hint.as_ref().map(sanitize_to_line);
        let one_line = match &hint {
            Some(hint) => format!("{what}    {hint}"),
            None => what.clone(),
        };
        let below = if indent + width(&one_line) <= columns {
            format!("{one_line}\n")
        } else {
            let what = wrap_and_indent(&what, columns, indent);
            let hint = hint.map(|hint| wrap_and_indent(&format!("hint: {hint}"), columns, indent));
            format!("{}{}", what.trim_start(), hint.unwrap_or_default())
        };
        format!("{sign} {name:names$}  {below}")
    }

    fn tab_separated_line(&self) -> String {
        // Backslashes are not doubled: the texts contain foreign texts whose control characters are escaped already.
        let hint = self.hint.as_deref().unwrap_or_default();
        format!(
            "{}\t{}\t{}\t{}\n",
            self.level.sign(),
            self.check.into_str(),
            sanitize_to_line(&self.what),
            sanitize_to_line(hint)
        )
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn diagnosis() -> Diagnosis {
        Diagnosis::from_items(vec![
            DoctorItem::ok(DoctorCheck::Config, "/home/ann/\x1b.toml, context prod"),
            DoctorItem::warning(DoctorCheck::Eviction, "jobs are deleted", "`set it`"),
            DoctorItem::skipped(DoctorCheck::Keys, "not looked at: `login` failed"),
        ])
    }

    #[test]
    fn a_hint_stands_behind_or_below() {
        expect![[r#"
            ✓ config       /home/ann/\x1b.toml, context prod
            ! eviction     jobs are deleted    `set it`
            – keys         not looked at: `login` failed
        "#]]
        .assert_eq(&diagnosis().text(&RenderOptions::terminal_without_color(60)));
        expect![[r#"
            ✓ config       /home/ann/\x1b.toml,
                           context prod
            ! eviction     jobs are deleted
                           hint: `set it`
            – keys         not looked at:
                           `login` failed
        "#]]
        .assert_eq(&diagnosis().text(&RenderOptions::terminal_without_color(36)));
        expect![[r#"
            ✓	config	/home/ann/\x1b.toml, context prod	
            !	eviction	jobs are deleted	`set it`
            –	keys	not looked at: `login` failed	
        "#]]
        .assert_eq(&diagnosis().text(&RenderOptions::pipe()));
    }
}
