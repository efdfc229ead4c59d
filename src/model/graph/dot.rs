//! A graph of jobs as input of Graphviz. Each text is quoted. Characters are escaped if Graphviz would read them as an
//! escape, an entity or the end of the text.

use std::fmt::Write as _;

use super::{Graph, GraphNode, style_class_of_state};
use crate::text;
use crate::view::RenderOptions;

/// The settings for all boxes and arrows.
const HEAD: &str = r##"// An arrow leads from a job to a job that it depends on.
digraph jobs {
  rankdir=LR
  ranksep=0.6
  graph [fontname="Helvetica", fontsize=10, labelloc=b, labeljust=l]
  node [fontname="Helvetica", fontsize=11, shape=box, style="rounded,filled", color="#444444", fillcolor="#ffffff", margin="0.15,0.08"]
  edge [fontname="Helvetica", fontsize=10, color="#444444", arrowsize=0.8]
"##;

impl Graph {
    pub(super) fn dot_text(&self, options: &RenderOptions) -> String {
        let labels = self.jid_labels();
        let mut dot = HEAD.to_owned();
        let caption = format!(
            "As of {}{}. An arrow leads from a job to a job that it depends on.",
            options.format_timestamp(options.now),
            options.zone_suffix()
        );
        let caption = [Some(caption), self.omission_sentence()];
        let caption: Vec<String> = caption.into_iter().flatten().collect();
        writeln!(dot, "  label={}", quoted_label(&caption)).expect("a String takes all");
        for node in &self.nodes {
            let label = quoted_label(&self.box_lines(node, &labels, options));
            let id = quoted_id(node.job.jid.as_bytes());
            let attributes = node_style_attributes(node);
            writeln!(dot, "  {id} [label={label}{attributes}]").expect("a String takes all");
        }
        for edge in &self.edges {
            let (from, to) = (
                quoted_id(edge.from.as_bytes()),
                quoted_id(edge.to.as_bytes()),
            );
            let attributes = match (edge.closes_cycle, edge.one_sided) {
                (true, _) => {
                    r##" [label="cycle", color="#b3261e", fontcolor="#b3261e", penwidth=2]"##
                }
                (_, true) => {
                    r##" [label="one-sided", color="#b3261e", fontcolor="#b3261e", style=dashed]"##
                }
                (false, false) => "",
            };
            writeln!(dot, "  {from} -> {to}{attributes}").expect("a String takes all");
        }
        dot.push_str("}\n");
        dot
    }
}

/// The Graphviz attributes of a job's box. Colors, corners and borders show the state, also in print without colors.
fn node_style_attributes(node: &GraphNode) -> String {
    let own = match style_class_of_state(node) {
        "running" => r##", fillcolor="#d3efd3", penwidth=2"##,
        "scheduled" => r##", fillcolor="#dbe8fb""##,
        "depends" => r##", fillcolor="#dff3f5""##,
        "stalled" | "throttled" => r##", fillcolor="#fff0c2""##,
        "failed" => r##", style=filled, fillcolor="#fbd5d0", color="#b3261e", penwidth=3"##,
        "complete" => r##", fillcolor="#eeeeee", color="#999999", fontcolor="#555555""##,
        "missing" => r##", style="filled,dashed", color="#b3261e", penwidth=2"##,
        _ => "",
    };
    let asked = if node.asked { ", peripheries=2" } else { "" };
    format!("{own}{asked}")
}

/// The quoted name of a job's node. Different jids have different names.
fn quoted_id(jid: &[u8]) -> String {
    let id = escape_noncharacters(&text::sanitize_to_line_escaping_backslashes(jid));
    format!("\"{}\"", id.replace('"', "\\\""))
}

/// The quoted label with these lines, which are aligned to the left. The lines must be sanitized.
fn quoted_label(lines: &[String]) -> String {
    let lines = lines.iter().map(|line| {
        let line = escape_noncharacters(line);
        let line = line.replace('\\', "\\\\").replace('"', "\\\"");
        format!("{}\\l", line.replace('&', "&amp;"))
    });
    format!("\"{}\"", lines.collect::<String>())
}

/// Escapes U+FFFE and U+FFFF, which an SVG cannot contain.
fn escape_noncharacters(text: &str) -> String {
    text.replace('\u{fffe}', "\\u{fffe}")
        .replace('\u{ffff}', "\\u{ffff}")
}
