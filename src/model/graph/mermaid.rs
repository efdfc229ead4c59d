//! A graph of jobs as input of Mermaid. In labels, every character except letters, digits and blanks is written as an
//! entity, because Mermaid interprets Markdown, HTML and its own keywords there.

use std::fmt::Write as _;

use super::{Graph, style_class_of_state};
use crate::text::with_thousands_separators;
use crate::view::RenderOptions;

/// Maximum number of edges, and of characters of input, that Mermaid draws by default.
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
            let (label, class) = (lines.join("<br/>"), style_class_of_state(node));
            // The box of a job that was asked for has double lines at its left and right side.
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

    /// The note that Mermaid does not draw this graph by default, and what to do. `None` if the graph is small enough.
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

/// Escapes a sanitized line of a label for Mermaid.
fn escape_label_line(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    for c in line.chars() {
        // Mermaid replaces entities with these four characters internally, so it would misread them in a label.
        let is_plain = c == ' ' || c.is_alphanumeric() && !"ﬂ°¶ß".contains(c);
        if is_plain {
            text.push(c);
        } else {
            write!(text, "#{};", u32::from(c)).expect("a String takes all");
        }
    }
    text
}
