//! The table cells of `qless top`: texts of a fixed width, and sparklines.

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

use crate::text::{cut_with_ellipsis, width};

/// The meaning of a text, which decides its color and weight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Tone {
    #[default]
    Plain,
    Dim,
    Strong,
    Good,
    Warn,
    Bad,
}

impl Tone {
    /// The terminal style for this meaning. Without color, `Bad` is still bold.
    pub(super) fn style(self, color: bool) -> Style {
        let plain = Style::default();
        let colored = |hue: Color| if color { plain.fg(hue) } else { plain };
        match self {
            Tone::Plain => plain,
            Tone::Dim => plain.add_modifier(Modifier::DIM),
            Tone::Strong => plain.add_modifier(Modifier::BOLD),
            Tone::Good => colored(Color::Green),
            Tone::Warn => colored(Color::Yellow),
            Tone::Bad => colored(Color::Red).add_modifier(Modifier::BOLD),
        }
    }
}

/// A table cell: its text, its width in columns, its alignment and its meaning.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub text: String,
    pub width: usize,
    pub right: bool,
    pub tone: Tone,
}

pub(super) fn left_aligned(text: impl Into<String>, width: usize, tone: Tone) -> Cell {
    Cell {
        text: text.into(),
        width,
        right: false,
        tone,
    }
}

pub(super) fn right_aligned(text: impl Into<String>, width: usize, tone: Tone) -> Cell {
    Cell {
        right: true,
        ..left_aligned(text, width, tone)
    }
}

/// A row of a table: `mark`, then the cells with two blanks between them. Text that is too long is cut.
pub(super) fn row_line(mark: &str, cells: &[Cell], color: bool) -> Line<'static> {
    let mut spans = vec![Span::raw(mark.to_owned())];
    for (at, cell) in cells.iter().enumerate() {
        let text = cut_with_ellipsis(&cell.text, cell.width);
        let gap = " ".repeat(cell.width.saturating_sub(width(&text)));
        let text = if cell.right {
            format!("{gap}{text}")
        } else {
            format!("{text}{gap}")
        };
        if at > 0 {
            spans.push(Span::raw("  "));
        }
        spans.push(Span::styled(text, cell.tone.style(color)));
    }
    Line::from(spans)
}

/// A sparkline of up to `columns` characters. Each is the mean of consecutive values, as a bar of one to eight
/// eighths, or blank if nothing was measured.
pub(super) fn sparkline(values: &[Option<f64>], columns: usize) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let per_column = values.len().div_ceil(columns.max(1)).max(1);
    let means = values.chunks(per_column).map(|chunk| {
        let known: Vec<f64> = chunk.iter().flatten().copied().collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    });
    let means: Vec<Option<f64>> = means.collect();
    let highest = means.iter().flatten().copied().fold(0.0, f64::max);
    let bar = |mean: &Option<f64>| match mean {
        None => ' ',
        Some(_) if highest <= 0.0 => BARS[0],
        Some(mean) => BARS[((mean / highest * 7.0).round() as usize).min(7)],
    };
    means.iter().map(bar).collect()
}
