//! Captures the output of a command in memory, for `qless top` and `qless web`.

use std::mem;

use super::Ui;
use crate::args::format::Format;
use crate::view::{MomentFormat, RenderOptions};

/// The settings that a capture has replaced. They are restored when it ends.
#[derive(Debug)]
pub(super) struct ReplacedSettings {
    format: Format,
    render_options: RenderOptions,
    yes: bool,
    confirm: Vec<String>,
    no_input: bool,
    quiet: bool,
}

impl Ui {
    /// From now on, collects the output of a command in memory: its JSON document without notes, or text for people
    /// with notes. The command cannot ask questions.
    pub(crate) fn begin_capture(&mut self, as_document: bool) {
        let render_options = RenderOptions {
            terminal: !as_document,
            times: if as_document {
                MomentFormat::Iso
            } else {
                MomentFormat::Relative
            },
            headers: !as_document,
            now: self.render_options.now,
            ..RenderOptions::terminal_without_color(100)
        };
        let format = if as_document {
            Format::Json
        } else {
            Format::Table
        };
        self.replaced = Some(ReplacedSettings {
            format: mem::replace(&mut self.format, format),
            render_options: mem::replace(&mut self.render_options, render_options),
            yes: mem::replace(&mut self.yes, false),
            confirm: mem::take(&mut self.confirm),
            no_input: mem::replace(&mut self.no_input, true),
            quiet: mem::replace(&mut self.quiet, false),
        });
        self.stdout.begin_frame(!as_document);
    }

    /// Answers the questions of a captured command: with yes, and in a protected context with `confirm_label`.
    pub(crate) fn answer_yes_to_all(&mut self, confirm_label: Option<String>) {
        self.yes = true;
        self.confirm.extend(confirm_label);
    }

    /// The output of the command.
    pub(crate) fn end_capture(&mut self) -> Vec<u8> {
        let text = self.stdout.take_frame();
        self.stdout.return_to_stdout();
        if let Some(before) = self.replaced.take() {
            (self.format, self.render_options) = (before.format, before.render_options);
            (self.yes, self.confirm) = (before.yes, before.confirm);
            (self.no_input, self.quiet) = (before.no_input, before.quiet);
        }
        text
    }
}
