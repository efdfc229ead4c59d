//! A graph as input of Mermaid. Only letters, digits and blanks of a text stand as they are: everything else
//! is written as an entity, because Mermaid reads Markdown, HTML and words of its own in labels.

use std::fmt::Write as _;

use super::{Graph, style_word};
use crate::text::with_thousands_separators;
use crate::view::RenderOptions;

/// Maximum number of edges, and of characters, that Mermaid draws unless it is configured otherwise.
const MERMAID_EDGES: usize = 500;
const MERMAID_CHARS: usize = 50_000;

/// The look of each state.
const CLASSES: &str =
    "  classDef running fill:#d3efd3,stroke:#444444,stroke-width:2px,color:#000000
  classDef waiting fill:#ffffff,stroke:#444444,color:#000000
  classDef scheduled fill:#dbe8fb,stroke:#444444,color:#000000
  classDef depends fill:#dff3f5,stroke:#444444,color:#000000
  classDef stalled fill:#fff0c2,stroke:#444444,color:#000000
  classDef throttled fill:#fff0c2,stroke:#444444,color:#000000
  classDef failed fill:#fbd5d0,stroke:#b3261e,stroke-width:3px,color:#000000
  classDef complete fill:#eeeeee,stroke:#999999,color:#555555
  classDef missing fill:#ffffff,stroke:#b3261e,stroke-width:3px,stroke-dasharray:5 5,color:#000000
  classDef unknown fill:#ffffff,stroke:#444444,color:#000000
";

impl Graph {
    pub(super) fn mermaid_text(&self, options: &RenderOptions) -> String {
        let labels = self.jid_labels();
        let mut text = "%% An arrow leads from a job to a job that it depends on.\n".to_owned();
        if let Some(omitted) = self.omission_sentence() {
            writeln!(text, "%% {omitted}").expect("a String takes all");
        }
        text.push_str("flowchart LR\n");
        for (at, node) in self.nodes.iter().enumerate() {
            let lines = self.box_lines(node, &labels, options);
            let lines: Vec<String> = lines.iter().map(|line| escape_label_line(line)).collect();
            let (label, class) = (lines.join("<br/>"), style_word(node));
            // A job that was asked for has a second line at its sides.
            let (open, close) = if node.asked { ("[[", "]]") } else { ("[", "]") };
            writeln!(text, "  n{at}{open}\"{label}\"{close}:::{class}")
                .expect("a String takes all");
        }
        for edge in &self.edges {
            let (from, to) = edge.ends;
            let arrow = match (edge.closes_cycle, edge.one_sided) {
                (true, _) => "-->|cycle|",
                (_, true) => "-.->|one sided|",
                (false, false) => "-->",
            };
            writeln!(text, "  n{from} {arrow} n{to}").expect("a String takes all");
        }
        text.push_str(CLASSES);
        text
    }

    /// The setting to change in Mermaid for this text, if the text is larger than Mermaid draws by default.
    pub(crate) fn mermaid_limit_sentence(&self, text: &str) -> Option<String> {
        let is_larger = self.edges.len() > MERMAID_EDGES || text.chars().count() > MERMAID_CHARS;
        is_larger.then(|| {
            format!(
                "by default, Mermaid draws up to {MERMAID_EDGES} edges and {} characters: draw less with \
                 `--limit N` or `--depth N`, or set `maxEdges` and `maxTextSize` in Mermaid",
                with_thousands_separators(MERMAID_CHARS as u64)
            )
        })
    }
}

/// A line of a label, quoted for Mermaid. The line must be sanitized.
fn escape_label_line(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    for c in line.chars() {
        // Mermaid uses the four letters and signs for entities of its own while it draws.
        let is_plain = c == ' ' || c.is_alphanumeric() && !"ﬂ°¶ß".contains(c);
        if is_plain {
            text.push(c);
        } else {
            write!(text, "#{};", u32::from(c)).expect("a String takes all");
        }
    }
    text
}
