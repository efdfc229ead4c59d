//! The layout of help: first line, usage, examples, text, flags, exit codes, see also. All of it comes
//! from the doc comment of the command, by paragraphs.

use clap::Command;
use strum::VariantArray;

use crate::app::all_subcommands;
use crate::commands::HelpGroup;

/// The help of a command.
const COMMAND_TEMPLATE: &str = "\
{about-with-newline}
{usage-heading} {usage}

{before-help}{all-args}{after-help}";

/// The help that lists all commands.
const ROOT_TEMPLATE: &str = "\
{about-with-newline}
{usage-heading} {usage}

{before-help}Global flags:
{options}{after-help}";

/// The first lines of the short help.
const START: &str = "\
Start with:
  qless status        Show the whole system on one screen
  qless help recipes  What to type when
";

/// The parts of a doc comment.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct DocCommentParts {
    /// The first line: what the command does.
    pub first: String,
    /// The paragraphs of text.
    pub text: Vec<String>,
    /// The examples, each a command line.
    pub examples: Vec<String>,
    /// The lines of an example program. They belong behind the paragraph that ends with a colon.
    pub example_program: Option<String>,
    pub exit_codes: Option<String>,
    pub see_also: Option<String>,
}

impl DocCommentParts {
    /// Splits the doc comment of a command into its parts.
    pub(crate) fn of_command(command: &Command) -> DocCommentParts {
        let about = command.get_long_about().or_else(|| command.get_about());
        let about = about.map(ToString::to_string).unwrap_or_default();
        let program = command.get_before_long_help();
        let mut parts = DocCommentParts {
            example_program: program.map(ToString::to_string),
            ..DocCommentParts::default()
        };
        for paragraph in about.split("\n\n") {
            let begins = |word: &str| {
                let rest = paragraph.strip_prefix(word)?;
                rest.strip_prefix(": ").map(str::to_owned)
            };
            if parts.first.is_empty() {
                parts.first = paragraph.to_owned();
            } else if let Some(codes) = begins("Exit codes") {
                parts.exit_codes = Some(codes);
            } else if let Some(others) = begins("See also") {
                parts.see_also = Some(others);
            } else if let Some(examples) = begins("Examples").or_else(|| begins("Example")) {
                let quoted = examples.split('`').skip(1).step_by(2);
                parts
                    .examples
                    .extend(quoted.map(|example| example.replace('\n', " ")));
            } else {
                parts.text.push(paragraph.to_owned());
            }
        }
        parts
    }

    /// The paragraphs. One that ends with a colon comes with the example program that it introduces.
    pub(crate) fn paragraphs_with_example_program(
        &self,
    ) -> impl Iterator<Item = (&str, Option<&str>)> {
        self.text.iter().map(|text| {
            let program = self
                .example_program
                .as_deref()
                .filter(|_| text.ends_with(':'));
            (text.as_str(), program)
        })
    }
}

/// Lets a flag take a negative number as its value, which clap would report as an unknown flag. So the parser of the
/// value decides whether the number is valid.
fn allow_negative_value(arg: clap::Arg) -> clap::Arg {
    let takes_word = arg.get_action().takes_values() && !arg.is_require_equals_set();
    match arg.get_long() {
        Some(_) if takes_word => arg.allow_negative_numbers(true),
        _ => arg,
    }
}

/// Lays out the help of a command and of its subcommands.
pub(crate) fn lay_out_command_help(command: Command) -> Command {
    let parts = DocCommentParts::of_command(&command);
    let mut before = String::new();
    if !parts.examples.is_empty() {
        before.push_str("Examples:\n");
        for example in &parts.examples {
            before.push_str(&format!("  {example}\n"));
        }
        before.push('\n');
    }
    for (text, program) in parts.paragraphs_with_example_program() {
        before.push_str(&format!("{text}\n\n"));
        let lines = program.iter().flat_map(|program| program.lines());
        before.extend(lines.map(|line| format!("    {line}\n")));
        before.push_str(program.map_or("", |_| "\n"));
    }
    let mut after = Vec::new();
    if let Some(codes) = &parts.exit_codes {
        after.push(format!("Exit codes: {codes}"));
    }
    if let Some(others) = &parts.see_also {
        after.push(format!("See also: {others}"));
    }
    let mut command = command
        .long_about(parts.first)
        .help_template(COMMAND_TEMPLATE)
        .mut_args(allow_negative_value)
        .mut_subcommands(lay_out_command_help);
    if !before.trim().is_empty() {
        command = command.before_long_help(before.trim_end().to_owned());
    }
    if !after.is_empty() {
        command = command.after_long_help(after.join("\n\n"));
    }
    command
}

/// Lays out the help that lists all commands.
pub(crate) fn lay_out_root_help(root: Command) -> Command {
    let parts = DocCommentParts::of_command(&root);
    let mut list = String::new();
    for group in HelpGroup::VARIANTS {
        list.push_str(&format!("{}:\n", group.help_heading()));
        for listed in all_subcommands().filter(|listed| listed.group == *group) {
            let name = listed.name;
            let Some(command) = root.find_subcommand(&name) else {
                continue;
            };
            let about = command.get_about().map(ToString::to_string);
            list.push_str(&format!("  {name:<11}  {}\n", about.unwrap_or_default()));
        }
        list.push('\n');
    }
    let examples = parts
        .examples
        .iter()
        .map(|example| format!("  {example}\n"));
    let examples: String = examples.collect();
    let text = parts.text.join("\n\n");
    let more = "`qless help COMMAND` prints the help of a command, `qless help TOPIC` that of a topic: recipes,\n\
                selectors, findings, formats, environment, exit-codes, acl, work-protocol, json.";
    root.long_about(parts.first)
        .help_template(ROOT_TEMPLATE)
        .before_help(format!("{START}\n{}", list.trim_end()))
        .before_long_help(format!("Examples:\n{examples}\n{}", list.trim_end()))
        .after_help(more)
        .after_long_help(format!("{more}\n\n{text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_examples_and_exit_codes() {
        let mut tree = crate::app::parse::clap_tree();
        tree.build();
        fn walk(command: &Command, at: &str, wrong: &mut Vec<String>) {
            for below in command.get_subcommands() {
                let path = format!("{at} {}", below.get_name());
                let parts = DocCommentParts::of_command(below);
                if parts.examples.is_empty() {
                    wrong.push(format!("{path}: no example"));
                }
                if parts.exit_codes.is_none() {
                    wrong.push(format!("{path}: no exit codes"));
                }
                if let Some(example) = parts
                    .examples
                    .iter()
                    .find(|example| example.contains("qless  "))
                {
                    wrong.push(format!("{path}: {example}"));
                }
                walk(below, &path, wrong);
            }
        }
        let mut wrong = Vec::new();
        walk(&tree, "qless", &mut wrong);
        assert_eq!(wrong, [""; 0]);
    }

    #[test]
    fn a_doc_comment_is_split_into_parts() {
        let command = Command::new("x").long_about(
            "Do it\n\nSome more:\n\nExamples: `qless x` · `qless x\n| y`\n\nAnd more.\n\n\
             Example: `z`\n\nExit codes: 0.\n\nSee also: `qless y`",
        );
        let command = command.before_long_help("a\nb");
        let parts = DocCommentParts::of_command(&command);
        assert_eq!(parts.first, "Do it");
        let text: Vec<_> = parts.paragraphs_with_example_program().collect();
        assert_eq!(text, [("Some more:", Some("a\nb")), ("And more.", None)]);
        assert_eq!(parts.examples, ["qless x", "qless x | y", "z"]);
        assert_eq!(parts.exit_codes.as_deref(), Some("0."));
        assert_eq!(parts.see_also.as_deref(), Some("`qless y`"));
    }
}
