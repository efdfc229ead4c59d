//! The streams stdin, stdout and stderr: width, color, prompts, progress.
//!
//! stdout carries the result, stderr everything else. No other module uses dialoguer or indicatif.

use std::io::{self, IsTerminal};
use std::time::Duration;

use dialoguer::console::Term;

use crate::args::format::{DisplayWhen, Format, OutputFormatArg, TimeFormat};
use crate::args::globals::Globals;
use crate::clock::moment::Moment;
use crate::command_line::add_destination_to_commands;
use crate::env;
use crate::error::{Error, Kind};
use crate::exit::Exit;
use crate::model::jid_list;
use crate::name::Name;
use crate::text;
use crate::view::table::{Heading, TableSelection};
use crate::view::{MomentFormat, NdjsonLines, RenderOptions, View, ViewOutput, json};

mod ask;
mod capture;
pub(crate) mod keyboard;
mod manual;
pub(crate) mod member;
mod output_thread;
mod pager;
mod progress;
pub(crate) mod screen;
mod stdout;

use capture::ReplacedSettings;
use member::{MemberMessage, MemberStreams};
use output_thread::OutputThread;
use pager::PagerCommand;
use stdout::{LostOutput, ResultWriter};

pub(crate) use crate::core::call::trace::CallTracer;
pub(crate) use progress::{LiveLines, Progress};

/// Maximum number of job ids that the error names of those that `-o jid` has left out.
const UNLISTED_SHOWN: usize = 3;

/// The name, the label and the protection of the context in use, for questions and plans.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContextInUse {
    /// The name of the context in the configuration file. `None` if no context is in use.
    pub name: Option<String>,
    /// The label to show and to type in questions: that of the context in use, or of another context that protects
    /// the database.
    pub label: Option<String>,
    /// Whether the user has to type the label to confirm changes of several jobs.
    pub protected: bool,
}

/// The streams of this process, and the options for writing to them.
pub(crate) struct Ui {
    format: Format,
    stdout: ResultWriter,
    /// Whether stdout is a terminal.
    tty: bool,
    /// How text is laid out: for people or for programs, its width, colors and times.
    render_options: RenderOptions,
    yes: bool,
    /// The values of `--confirm`.
    confirm: Vec<String>,
    /// The context in use.
    context: ContextInUse,
    no_input: bool,
    quiet: bool,
    /// Whether the program goes on after the reader has closed stdout.
    outlives_reader: bool,
    /// The output that could not be written to stdout, of a command that changes something.
    lost: LostOutput,
    verbose: u8,
    force_raw: bool,
    /// Whether `--watch` writes a JSON document for each tick.
    ticks: bool,
    /// Whether a NUL ends each job id of `-o jid`, instead of a newline.
    null: bool,
    /// The number of job ids that `-o jid` has left out because they contain its separator.
    unlisted: u64,
    /// The first job ids that were left out.
    unlisted_jids: Vec<Name>,
    /// The widths of the columns of a table whose rows are written as they arrive.
    streamed_widths: Vec<usize>,
    /// Whether the command changes nothing, because it is a dry run or finds nothing to change.
    is_unchanged: bool,
    /// The channels to the command as a whole, if the command runs on one of several members.
    member: Option<MemberStreams>,
    /// The settings that the present capture has replaced. `None` if nothing is being captured.
    replaced: Option<ReplacedSettings>,
}

impl Ui {
    /// The streams with the options of the global flags.
    pub(crate) fn new(globals: &Globals) -> Ui {
        let output = globals.output.unwrap_or_default();
        let mut ui = Ui::without_globals(output.format());
        match output {
            OutputFormatArg::Tsv => ui.set_layout(false),
            // Only the flag `-o table` changes the output in a pipe. `table` in the environment or the
            // configuration file must not, because scripts read that output.
            OutputFormatArg::Table if globals.given.output => ui.set_layout(true),
            _ => {}
        }
        ui.yes = globals.yes;
        ui.confirm = globals.confirm.clone();
        ui.no_input = globals.no_input;
        ui.quiet = globals.quiet;
        ui.verbose = globals.verbose;
        ui.null = globals.null;
        ui.force_raw = globals.force_raw;
        let render_options = &mut ui.render_options;
        render_options.color = should_color(
            globals.color.unwrap_or_default(),
            ui.tty && render_options.terminal,
        );
        render_options.times = match globals.time_format.unwrap_or_default() {
            TimeFormat::Relative => MomentFormat::Relative,
            TimeFormat::Iso => MomentFormat::Iso,
            TimeFormat::Unix => MomentFormat::Unix,
            TimeFormat::Auto => render_options.times,
        };
        render_options.headers = match globals.headers.unwrap_or_default() {
            DisplayWhen::Always => true,
            DisplayWhen::Never => false,
            DisplayWhen::Auto => render_options.headers,
        };
        render_options.choice = TableSelection {
            columns: globals.columns.clone(),
            sort: globals.sort.clone(),
            reverse: globals.reverse,
            rows: None,
        };
        ui
    }

    /// The streams of a command on one of several members. What it writes goes to the command as a whole.
    pub(crate) fn for_member(globals: &Globals, whole: &Ui, streams: MemberStreams) -> Ui {
        let mut ui = Ui::new(globals);
        (ui.format, ui.ticks) = (whole.format, whole.ticks);
        (ui.render_options, ui.tty) = (whole.render_options.clone(), whole.tty);
        ui.context = whole.context.clone();
        ui.stdout.set_member_sender(streams.sender.clone());
        ui.member = Some(streams);
        ui
    }

    /// The streams for a command line that could not be parsed, so that its global flags are unknown.
    pub(crate) fn without_globals(format: Format) -> Ui {
        let tty = io::stdout().is_terminal();
        let mut ui = Ui {
            format,
            stdout: ResultWriter::to_stdout(),
            tty,
            render_options: RenderOptions {
                terminal: tty,
                width: 80,
                color: false,
                now: Moment::from_micros(0),
                times: MomentFormat::Iso,
                headers: tty,
                choice: TableSelection::default(),
            },
            yes: false,
            confirm: Vec::new(),
            context: ContextInUse::default(),
            no_input: false,
            quiet: false,
            outlives_reader: false,
            lost: LostOutput::default(),
            verbose: 0,
            force_raw: false,
            ticks: false,
            null: false,
            unlisted: 0,
            unlisted_jids: Vec::new(),
            streamed_widths: Vec::new(),
            is_unchanged: false,
            member: None,
            replaced: None,
        };
        ui.set_layout(tty);
        ui
    }

    /// Sets the layout of text: for people, as on a terminal, or for programs, as in a pipe.
    fn set_layout(&mut self, for_people: bool) {
        let render_options = &mut self.render_options;
        render_options.terminal = for_people;
        render_options.headers = for_people;
        (render_options.times, render_options.width) = if !for_people {
            (MomentFormat::Iso, 80)
        } else if self.tty {
            (MomentFormat::Relative, terminal_width())
        } else {
            (MomentFormat::Relative, pipe_width())
        };
    }

    /// From now on, shows text for people in a pager if it is longer than the screen. Has no effect with `-v`,
    /// because the trace of calls would overwrite the pager.
    pub(crate) fn page_long_output(&mut self) {
        let for_people = self.format == Format::Table && self.render_options.terminal;
        if !for_people || !self.tty || self.verbose > 0 {
            return;
        }
        if let Some(pager) = PagerCommand::of_terminal() {
            self.stdout.set_pager(pager);
        }
    }

    pub(crate) fn set_context(&mut self, context: ContextInUse) {
        self.context = context;
    }

    /// The name of the context in use, for documents.
    pub(crate) fn context_name(&self) -> Option<&str> {
        self.context.name.as_deref()
    }

    /// The format given with `-o`.
    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// Whether stdout is a terminal.
    pub(crate) fn is_stdout_terminal(&self) -> bool {
        self.tty
    }

    /// Whether text is laid out for people.
    pub(crate) fn is_for_people(&self) -> bool {
        self.render_options.terminal
    }

    /// Sets the moment from which ages are counted.
    pub(crate) fn set_now(&mut self, now: Moment) {
        self.render_options.now = now;
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Whether `-v` was given.
    pub(crate) fn is_verbose(&self) -> bool {
        self.verbose > 0
    }

    /// The trace of `-v`, to which each call to the server is written.
    pub(crate) fn trace(&self) -> CallTracer {
        CallTracer::new(self.verbose)
    }

    /// Refuses `-o jid` and `-o raw` unless the command supports them.
    pub(crate) fn require_format(&self, also: &[Format]) -> Result<(), Error> {
        match self.format {
            Format::Jid if !also.contains(&Format::Jid) => Err(Error::usage(
                "`-o jid` is only for commands whose result is jobs",
            )),
            Format::Raw if !also.contains(&Format::Raw) => Err(Error::usage(
                "`-o raw` is only for commands that are one call of the core",
            )),
            _ => Ok(()),
        }
    }

    /// Refuses `--columns` and `--sort` with a column that the tables of this view do not have. Also refuses an
    /// order for output that is not a table. To be called before the command changes anything.
    pub(crate) fn check_columns<V: View>(&self) -> Result<(), Error> {
        if self.has_sort_flag() && self.format != Format::Table {
            let flag = match self.render_options.choice.sort {
                Some(_) => "--sort",
                None => "--reverse",
            };
            return Err(Error::usage(format!("`{flag}` is only for tables"))
                .hint("`-o table` and `-o tsv` are tables"));
        }
        let mut known = V::headings();
        if let (Some(member), false) = (&self.member, known.is_empty()) {
            known.push(Heading::of_text(member.heading));
        }
        self.render_options.choice.refuse_unknown_columns(&known)
    }

    /// The default for the number of rows of a table on a terminal. `None` in pipes and documents: they have all
    /// rows.
    pub(crate) fn default_row_limit(&self) -> Option<u64> {
        (self.format == Format::Table && self.render_options.terminal && self.tty).then_some(50)
    }

    /// Refuses `-o json` for a command whose output has no end, as a document must have one.
    pub(crate) fn refuse_json_for_stream(&self, command: &str) -> Result<(), Error> {
        match self.format {
            Format::Json => Err(
                Error::usage(format!("`{command}` writes events line by line"))
                    .hint("use `-o ndjson`"),
            ),
            _ => Ok(()),
        }
    }

    /// Whether a flag sets the order of tables.
    pub(crate) fn has_sort_flag(&self) -> bool {
        self.render_options.choice.sort.is_some() || self.render_options.choice.reverse
    }

    /// Sets the range of rows that tables show after they are sorted.
    pub(crate) fn set_shown_rows(&mut self, offset: u64, limit: Option<u64>) {
        self.render_options.choice.rows = Some((offset, limit));
    }

    /// Leaves out the header of the next table, which continues the one before.
    pub(crate) fn omit_next_headers(&mut self) {
        self.render_options.headers = false;
    }

    /// Whether somebody reads the notes on stderr: it is a terminal, or the notes are a part of a plan. Never with
    /// `--quiet`.
    pub(crate) fn are_notes_read(&self, is_plan_shown: bool) -> bool {
        !self.quiet && (is_plan_shown || io::stderr().is_terminal())
    }

    pub(crate) fn shows_hints(&self) -> bool {
        self.format == Format::Table && !self.quiet && io::stderr().is_terminal()
    }

    /// Writes a result in the format given.
    pub(crate) fn show<V: View>(&mut self, view: &V) -> Result<(), Error> {
        let shown = self.render(view)?;
        self.send_or_write(shown)
    }

    /// Writes a result as the last step of a command that succeeds.
    pub(crate) fn show_and_exit_ok<V: View>(&mut self, view: &V) -> Result<Exit, Error> {
        self.show(view)?;
        Ok(Exit::Ok)
    }

    /// Writes a line of a stream in the output format, and flushes it. Rows of tables form one table with one
    /// header.
    pub(crate) fn show_stream_line<V: View>(&mut self, view: &V) -> Result<(), Error> {
        let line = match self.render(view)? {
            ViewOutput::Table(row, _) => ViewOutput::Row(row),
            line => line,
        };
        self.send_or_write(line)?;
        self.flush_stdout_and_wait_for_pager()
    }

    /// Writes a result to stdout. On one of several members, sends it to the command as a whole.
    fn send_or_write(&mut self, shown: ViewOutput) -> Result<(), Error> {
        match &self.member {
            Some(member) => {
                member.sender.send(MemberMessage::ViewOutput(shown));
                Ok(())
            }
            None => self.write_output(shown),
        }
    }

    /// The result in the format given.
    fn render<V: View>(&self, view: &V) -> Result<ViewOutput, Error> {
        let jids = || {
            let jids = view.output_jids().unwrap_or_default();
            ViewOutput::Jids(jids.into_iter().cloned().collect())
        };
        Ok(match self.format {
            Format::Table | Format::Raw if view.text_is_jids() => jids(),
            Format::Table | Format::Raw => {
                if let Some(table) = view.table(&self.render_options) {
                    ViewOutput::Table(table, self.render_options.choice.rows)
                } else if let Some(count) = view.count_that_is_whole_text() {
                    ViewOutput::Count(count)
                } else if view.is_about_jobs() {
                    ViewOutput::JobText(view.text(&self.render_options))
                } else {
                    ViewOutput::Text(view.text(&self.render_options))
                }
            }
            Format::Json if self.ticks => ViewOutput::Document(
                json::watch_document_line(view, self.render_options.now)
                    .map_err(document_serialization_error)?,
            ),
            Format::Json => ViewOutput::Document(
                json::pretty_document(view).map_err(document_serialization_error)?,
            ),
            Format::Ndjson => {
                let mut lines = NdjsonLines::default();
                view.lines(&mut lines)
                    .map_err(document_serialization_error)?;
                ViewOutput::Lines(lines.0)
            }
            Format::Jid => jids(),
        })
    }

    fn write_output(&mut self, shown: ViewOutput) -> Result<(), Error> {
        match shown {
            ViewOutput::Table(table, rows) => {
                let text = table.into_text_of_rows(&self.render_options, rows);
                self.write_bytes(text.as_bytes())
            }
            ViewOutput::Row(row) => {
                let text = row.into_streamed_text(&self.render_options, &mut self.streamed_widths);
                self.omit_next_headers();
                self.write_bytes(text.as_bytes())
            }
            ViewOutput::Text(text) | ViewOutput::JobText(text) => self.write_bytes(text.as_bytes()),
            ViewOutput::Count(count) => self.write_bytes(format!("{count}\n").as_bytes()),
            ViewOutput::Document(bytes) | ViewOutput::Lines(bytes) => self.write_bytes(&bytes),
            ViewOutput::Jids(jids) => {
                self.write_jids_skipping_ambiguous(&jids.iter().collect::<Vec<_>>())
            }
        }
    }

    /// Writes job ids. Leaves out an id that contains the separator, because a reader would take it for several
    /// ids. `-o raw` leaves nothing out.
    pub(crate) fn write_jids_skipping_ambiguous(&mut self, jids: &[&Name]) -> Result<(), Error> {
        if let Some(member) = &self.member {
            let jids = jids.iter().map(|jid| (*jid).clone()).collect();
            member
                .sender
                .send(MemberMessage::ViewOutput(ViewOutput::Jids(jids)));
            return Ok(());
        }
        let (end, fits): (u8, fn(&Name) -> bool) = match (self.format, self.null) {
            (Format::Raw, _) => (b'\n', |_| true),
            (_, true) => (0, jid_list::is_safe_before_nul),
            (_, false) => (b'\n', jid_list::is_safe_in_lines),
        };
        let mut bytes = Vec::new();
        for jid in jids {
            if !fits(jid) {
                self.unlisted += 1;
                if self.unlisted_jids.len() < UNLISTED_SHOWN {
                    self.unlisted_jids.push((*jid).clone());
                }
                continue;
            }
            bytes.extend_from_slice(jid.as_bytes());
            bytes.push(end);
        }
        self.write_verbatim_unless_terminal(&bytes)
    }

    /// The error about the job ids that were left out. `None` if there are none. With `command_writes`, its hint is
    /// for the next run: the command has changed the jobs, and would not list them again.
    pub(crate) fn left_out_jids_error(&self, command_writes: bool) -> Option<Error> {
        let (reason, way) = if self.null {
            ("with a NUL", "`-o ndjson`")
        } else {
            ("that fit no line", "`-0` or `-o ndjson`")
        };
        let way = if command_writes && !self.is_unchanged {
            format!("the command was carried out; next time, {way} prints all")
        } else {
            format!("{way} prints all")
        };
        let reason = match self.unlisted {
            0 => return None,
            1 => reason.replace("fit", "fits"),
            _ => reason.to_owned(),
        };
        let jids = text::format_count(self.unlisted, "job id", "job ids");
        let shown = self.unlisted_jids.iter();
        let shown = shown.map(|jid| {
            format!(
                "`{}`",
                text::cut_with_ellipsis(&text::sanitize_to_line(jid), 40)
            )
        });
        let more = (self.unlisted > UNLISTED_SHOWN as u64).then(|| "…".to_owned());
        let shown: Vec<String> = shown.chain(more).collect();
        let message = format!("left out {jids} {reason}: {}", shown.join(", "));
        Some(Error::new(Kind::Partial, message).hint(way))
    }

    /// Writes text to stdout. The caller has sanitized it.
    pub(crate) fn print_text(&mut self, text: &str) -> Result<(), Error> {
        self.write_bytes(text.as_bytes())
    }

    /// Writes data that `qless` did not make to stdout: sanitized on a terminal, unless `--force-raw` is given,
    /// else byte for byte.
    pub(crate) fn write_verbatim_unless_terminal(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if self.tty && !self.force_raw {
            self.write_bytes(text::sanitize_keeping_lines(bytes).as_bytes())
        } else {
            self.write_bytes(bytes)
        }
    }

    /// Writes bytes to stdout unchanged, even on a terminal.
    pub(crate) fn write_bytes(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if self.lost.has_lost_output() {
            self.lost.add_lost(bytes);
            return Ok(());
        }
        let written = self.stdout.write(bytes);
        self.handle_write_result(written, bytes)
    }

    /// Handles the result of writing `bytes`. After a failure, a command that goes on keeps the output for stderr,
    /// or drops it if the reader has closed stdout. For other commands, the failure is an error.
    fn handle_write_result(&mut self, written: io::Result<()>, bytes: &[u8]) -> Result<(), Error> {
        match written {
            Err(error) if self.outlives_reader && is_closed_pipe(&error) => Ok(()),
            Err(error) if self.lost.keeps_output_after(&error) => {
                self.lost
                    .begin_keeping_lost_output(error, self.stdout.take_unwritten());
                self.lost.add_lost(bytes);
                Ok(())
            }
            written => written.map_err(end_by_sigpipe_or_stdout_error),
        }
    }

    /// From now on, the program goes on after the reader has closed stdout. The output after that is lost.
    pub(crate) fn ignore_closed_stdout(&mut self) {
        // A handler that does nothing is enough: it replaces the default action of SIGPIPE, which ends the process.
        _ = signal_hook::flag::register(signal_hook::consts::SIGPIPE, std::sync::Arc::default());
        self.outlives_reader = true;
    }

    /// From now on, a thread writes the output, so that a reader who stops reading does not block the program.
    /// `wake` is the `on_drained` of [`OutputThread::start`].
    pub(crate) fn start_output_thread(
        &mut self,
        wake: impl Fn() + Send + 'static,
    ) -> Result<(), Error> {
        let thread = OutputThread::start(self.live_lines(), wake)?;
        self.stdout.set_output_thread(thread);
        Ok(())
    }

    /// Shows a status line on a terminal, below the output, unless earlier output still waits for the output
    /// thread.
    pub(crate) fn show_status_line_if_no_output_waits(&self, line: String) {
        if let Some(thread) = self.stdout.output_thread() {
            thread.queue_status_if_no_output_waits(line);
        }
    }

    /// Whether the output that waits for the output thread has reached its limit. Then the caller should write no
    /// more.
    pub(crate) fn is_output_thread_full(&self) -> bool {
        self.stdout
            .output_thread()
            .is_some_and(OutputThread::is_full)
    }

    pub(crate) fn is_output_thread_drained(&self) -> bool {
        self.stdout
            .output_thread()
            .is_none_or(OutputThread::is_empty)
    }

    /// The error of the first write to stdout that failed in the output thread, reported once. The output after
    /// that is lost.
    pub(crate) fn take_write_error(&self) -> Option<Error> {
        self.stdout
            .output_thread()?
            .take_write_fault()
            .map(end_by_sigpipe_or_stdout_error)
    }

    /// Waits up to `patience` until the output thread has written everything. If it has, further output is written
    /// without the thread.
    pub(crate) fn end_output_thread_if_written(&mut self, patience: Duration) {
        if self
            .stdout
            .output_thread()
            .is_some_and(|thread| thread.wait_until_written(patience))
        {
            self.stdout.return_to_stdout();
        }
    }

    /// Flushes stdout. If a pager is running, waits until the user has quit it.
    pub(crate) fn flush_stdout_and_wait_for_pager(&mut self) -> Result<(), Error> {
        let flushed = self.stdout.flush_and_wait_for_pager();
        self.handle_write_result(flushed, b"")
    }

    /// The format of text for people.
    pub(crate) fn render_options(&self) -> &RenderOptions {
        &self.render_options
    }

    /// Writes a line to stderr, such as what was changed. Does nothing with `--quiet`.
    pub(crate) fn note(&mut self, line: &str) {
        if !self.quiet {
            self.write_stderr(&format!("{line}\n"));
        }
    }

    /// Writes to stderr what a dry run would change, preceded by the context's label.
    pub(crate) fn note_dry_run_changes(&mut self, line: &str) {
        self.is_unchanged = true;
        if let Some(member) = &self.member {
            member.sender.send(MemberMessage::DryRun);
        }
        match self.context.label.as_ref().map(text::sanitize_to_line) {
            Some(label) => self.note(&format!("{label}: {line}")),
            None => self.note(line),
        }
    }

    /// Writes a line to stderr, but only if people read stdout. A script does not need the line.
    pub(crate) fn note_to_people(&mut self, line: &str) {
        if self.tty && self.render_options.terminal && self.format == Format::Table {
            self.note(line);
        }
    }

    /// Writes a note on a terminal if a list continues after the rows shown. `total` is the length of
    /// the list, if it is known.
    pub(crate) fn note_rows_left_out(
        &mut self,
        shown: u64,
        total: Option<u64>,
        offset: u64,
        noun: &str,
    ) {
        let more = "`--limit N` shows more";
        let count = text::with_thousands_separators(shown);
        match total {
            Some(total) if total <= offset + shown => {}
            Some(total) => {
                let total = text::with_thousands_separators(total);
                self.note_to_people(&format!("{count} of {total} {noun}; {more}"));
            }
            None => self.note_to_people(&format!("the first {count} {noun}; {more}")),
        }
    }

    /// Suggests the next useful command on stderr, if people read the output.
    pub(crate) fn hint(&mut self, line: &str) {
        if self.shows_hints() {
            self.note(&format!("hint: {}", add_destination_to_commands(line)));
        }
    }

    /// Suggests a command, if it can be typed.
    pub(crate) fn hint_if(&mut self, command: Option<String>) {
        if let Some(command) = command {
            self.hint(&command);
        }
    }

    /// Writes a hint even if a script reads the output, because it belongs to the result.
    pub(crate) fn hint_even_to_scripts(&mut self, line: &str) {
        if self.format == Format::Table {
            self.note(&format!("hint: {}", add_destination_to_commands(line)));
        }
    }

    /// Warns on stderr.
    pub(crate) fn warn(&mut self, line: &str) {
        self.note(&format!("warning: {line}"));
    }

    /// Writes text to stderr. Ignores a failure, because nothing could report it.
    pub(crate) fn write_stderr(&mut self, text: &str) {
        self.stdout.write_note(text.as_bytes());
    }

    /// Writes the error about an incomplete result, if there is one. The result is the exit code.
    pub(crate) fn report_if_incomplete(&mut self, error: Option<Error>) -> Exit {
        error.map_or(Exit::Ok, |error| self.report_error(&error))
    }

    /// Writes an error with its hint to stderr. The result is its exit code.
    pub(crate) fn report_error(&mut self, error: &Error) -> Exit {
        let hint = error.hint_text().map(add_destination_to_commands);
        let error = &error.clone().hint_if(hint);
        if self.format.is_json_or_ndjson() {
            if let Ok(line) = json::compact_line(error) {
                self.stdout.write_note(&line);
            }
            return error.exit();
        }
        let mut text = format!(
            "error: {}\n",
            text::sanitize_to_line(error.message().as_bytes())
        );
        if let Some(hint) = error.hint_text() {
            text.push_str(&format!(
                "hint: {}\n",
                text::sanitize_to_line(hint.as_bytes())
            ));
        }
        if let (true, Some(words)) = (self.is_verbose(), error.server_message()) {
            text.push_str(&format!(
                "server: {}\n",
                text::sanitize_to_line(words.as_bytes())
            ));
        }
        self.write_stderr(&text);
        error.exit()
    }
}

/// The width of the terminal in columns.
fn terminal_width() -> usize {
    match Term::stdout().size_checked() {
        Some((_, columns)) if columns > 0 => columns.into(),
        _ => 80,
    }
}

/// The width of a table that is laid out for people in a pipe: the variable COLUMNS, else 100.
fn pipe_width() -> usize {
    let set = env::nonempty_var("COLUMNS").and_then(|set| set.to_str()?.parse().ok());
    set.filter(|&columns| columns > 0).unwrap_or(100)
}

/// Whether to color a stream: as the flag says, else as the environment says, else if the stream is a terminal.
fn should_color(flag: DisplayWhen, is_terminal: bool) -> bool {
    let is = |name: &str, value: &str| env::nonempty_var(name).is_some_and(|set| set == value);
    match flag {
        DisplayWhen::Always => true,
        DisplayWhen::Never => false,
        DisplayWhen::Auto if env::nonempty_var("CLICOLOR_FORCE").is_some_and(|set| set != "0") => {
            true
        }
        DisplayWhen::Auto if env::nonempty_var("NO_COLOR").is_some() => false,
        DisplayWhen::Auto => is_terminal && !is("CLICOLOR", "0") && !is("TERM", "dumb"),
    }
}

/// Whether stderr is a terminal, and not in a CI system.
fn is_stderr_interactive() -> bool {
    io::stderr().is_terminal() && env::nonempty_var("CI").is_none()
}

fn is_closed_pipe(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe
}

/// The error of a failed write to stdout. If the reader has closed stdout, ends the process by the default action
/// of SIGPIPE.
fn end_by_sigpipe_or_stdout_error(error: io::Error) -> Error {
    if is_closed_pipe(&error) {
        let pipe = signal_hook::consts::SIGPIPE;
        _ = signal_hook::low_level::emulate_default_handler(pipe);
    }
    Error::from_io(Kind::File, "cannot write to stdout", &error)
}

fn document_serialization_error(error: serde_json::Error) -> Error {
    Error::internal(format!("document: {error}"))
}
