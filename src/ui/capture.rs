//! What a command prints, taken by a listener in place of a terminal.

use super::Ui;
use crate::args::format::Format;
use crate::view::Times;

/// What a capture puts aside.
#[derive(Debug)]
pub(super) struct SetAside {
    format: Format,
    times: Times,
    terminal: bool,
    color: bool,
    yes: bool,
    confirm: Vec<String>,
}

impl Ui {
    /// Takes what a command prints from now on: its JSON document alone, or text for people with its notes. No
    /// question is asked.
    pub(crate) fn begin_capture(&mut self, document: bool) {
        let page = &mut self.page;
        self.set_aside = Some(SetAside {
            format: self.format,
            times: page.times,
            terminal: page.terminal,
            color: page.color,
            yes: self.yes,
            confirm: std::mem::take(&mut self.confirm),
        });
        page.terminal = !document;
        page.headers = !document;
        page.times = if document {
            Times::Iso
        } else {
            Times::Relative
        };
        page.color = false;
        page.width = 100;
        self.format = if document {
            Format::Json
        } else {
            Format::Table
        };
        (self.yes, self.no_input) = (false, true);
        self.stdout.begin_capture(!document);
    }

    /// Answers the questions of the command with yes, and with the label of a protected context.
    pub(crate) fn answer_yes(&mut self, label: Option<String>) {
        self.yes = true;
        self.confirm.extend(label);
    }

    /// What the command has printed.
    pub(crate) fn end_capture(&mut self) -> Vec<u8> {
        let text = self.stdout.take_frame();
        self.stdout.end_frame();
        if let Some(before) = self.set_aside.take() {
            self.format = before.format;
            self.page.times = before.times;
            self.page.terminal = before.terminal;
            self.page.color = before.color;
            (self.yes, self.confirm) = (before.yes, before.confirm);
        }
        text
    }
}
