//! stdin, stdout, stderr: width, colour, terminal or not, prompts, progress.
//!
//! stdout is the result; stderr is everything else. dialoguer and indicatif are named here and
//! nowhere else.

use std::io::{self, IsTerminal, Write};

use dialoguer::console::Term;

use crate::args::format::{Format, TimeFormat, When};
use crate::args::globals::Globals;
use crate::clock::moment::Moment;
use crate::env;
use crate::error::{Error, Kind, io_words};
use crate::exit::Exit;
use crate::text;
use crate::view::table::Choice;
use crate::view::{Lines, Page, Times, View, json};

mod ask;
mod pager;
mod progress;
pub(crate) mod screen;
mod sink;

use pager::Pager;
use sink::Sink;

pub(crate) use crate::trace::Trace;
pub(crate) use progress::Progress;

/// What questions and plans say about the context in use.
#[derive(Clone, Debug)]
pub(crate) struct ContextLabel {
    /// The name in the config file.
    pub name: String,
    /// What questions call it; the name unless the file says otherwise.
    pub label: String,
    /// Whether changes of several jobs ask for the label.
    pub protected: bool,
}

/// The streams of this process, and what may be written where.
pub(crate) struct Ui {
    format: Format,
    stdout: Sink,
    /// What text for people is written on.
    page: Page,
    yes: bool,
    /// What was given with `--confirm`.
    confirm: Option<String>,
    /// The context in use.
    context: Option<ContextLabel>,
    no_input: bool,
    quiet: bool,
    verbose: u8,
    force_raw: bool,
    /// Whether documents are those of ticks.
    ticks: bool,
}

impl Ui {
    /// Streams as the global flags want them.
    pub(crate) fn new(globals: &Globals) -> Ui {
        let mut out = Ui::plain(globals.output.unwrap_or_default());
        out.yes = globals.yes;
        out.confirm = globals.confirm.clone();
        out.no_input = globals.no_input;
        out.quiet = globals.quiet;
        out.verbose = globals.verbose;
        out.force_raw = globals.force_raw;
        let page = &mut out.page;
        page.color = color(globals.color.unwrap_or_default(), page.terminal);
        page.times = match globals.time_format.unwrap_or_default() {
            TimeFormat::Relative => Times::Relative,
            TimeFormat::Iso => Times::Iso,
            TimeFormat::Unix => Times::Unix,
            TimeFormat::Auto => page.times,
        };
        page.headers = match globals.headers.unwrap_or_default() {
            When::Always => true,
            When::Never => false,
            When::Auto => page.terminal,
        };
        page.choice = Choice {
            columns: globals.columns.clone(),
            sort: globals.sort.clone(),
            reverse: globals.reverse,
            rows: None,
        };
        out
    }

    /// Streams for a command line that could not be read.
    pub(crate) fn plain(format: Format) -> Ui {
        let terminal = io::stdout().is_terminal();
        let times = match terminal {
            true => Times::Relative,
            false => Times::Iso,
        };
        Ui {
            format,
            stdout: Sink::new(),
            page: Page {
                terminal,
                width: if terminal { width() } else { 80 },
                color: false,
                now: Moment::from_micros(0),
                times,
                headers: terminal,
                choice: Choice::default(),
            },
            yes: false,
            confirm: None,
            context: None,
            no_input: false,
            quiet: false,
            verbose: 0,
            force_raw: false,
            ticks: false,
        }
    }

    /// Has what is longer than the screen go through a pager: what people only read. Calls that
    /// `-v` tells would be written over it.
    pub(crate) fn page_long(&mut self) {
        let reads = self.format == Format::Table && self.page.terminal && self.verbose == 0;
        if let (true, Some(pager)) = (reads, Pager::find()) {
            self.stdout.page(pager);
        }
    }

    /// Sets the context in use: its label is shown in questions, and protects it.
    pub(crate) fn set_context(&mut self, context: Option<ContextLabel>) {
        self.context = context;
    }

    /// Returns the name of the context that holds, for documents.
    pub(crate) fn context(&self) -> Option<&str> {
        self.context.as_ref().map(|context| context.name.as_str())
    }

    /// Returns what was asked for with `-o`.
    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// Whether stdout is a terminal.
    pub(crate) fn terminal(&self) -> bool {
        self.page.terminal
    }

    /// Sets the moment that ages are counted from: that of the command.
    pub(crate) fn at(&mut self, now: Moment) {
        self.page.now = now;
    }

    /// Whether `-v` was given.
    pub(crate) fn verbose(&self) -> bool {
        self.verbose > 0
    }

    /// Returns where the core tells its calls.
    pub(crate) fn trace(&self) -> Trace {
        Trace::new(self.verbose)
    }

    /// Refuses `-o jid` and `-o raw` unless they are among the formats that a command also knows.
    pub(crate) fn require_format(&self, also: &[Format]) -> Result<(), Error> {
        match self.format {
            Format::Jid if !also.contains(&Format::Jid) => Err(Error::usage(
                "`-o jid` is for commands whose result is jobs",
            )),
            Format::Raw if !also.contains(&Format::Raw) => Err(Error::usage(
                "`-o raw` is for commands that are one call of the core",
            )),
            _ => Ok(()),
        }
    }

    /// Refuses `--columns` and `--sort` that the tables of this view do not know. To be asked
    /// before anything is changed.
    pub(crate) fn check_columns<V: View>(&self) -> Result<(), Error> {
        self.page.choice.check(V::COLUMNS)
    }

    /// How many rows a table has where no limit is given; all in a pipe and in documents.
    pub(crate) fn rows(&self) -> Option<u64> {
        (self.format == Format::Table && self.page.terminal).then_some(50)
    }

    /// Whether the order of tables was asked for.
    pub(crate) fn sorts(&self) -> bool {
        self.page.choice.sort.is_some() || self.page.choice.reverse
    }

    /// Cuts tables after they are sorted.
    pub(crate) fn cut(&mut self, offset: u64, limit: Option<u64>) {
        self.page.choice.rows = Some((offset, limit));
    }

    /// Shows what follows as one table with what was shown before.
    pub(crate) fn no_more_headers(&mut self) {
        self.page.headers = false;
    }

    /// Whether a hint would be seen.
    pub(crate) fn hints(&self) -> bool {
        self.format == Format::Table && !self.quiet && io::stderr().is_terminal()
    }

    /// Shows a result in the format that was asked for.
    pub(crate) fn show<V: View>(&mut self, view: &V) -> Result<(), Error> {
        let bytes = match self.format {
            Format::Table | Format::Raw => view.text(&self.page).into_bytes(),
            Format::Json if self.ticks => json::tick(view, self.page.now).map_err(unwritable)?,
            Format::Json => json::document(view).map_err(unwritable)?,
            Format::Ndjson => {
                let mut lines = Lines::default();
                view.lines(&mut lines).map_err(unwritable)?;
                lines.0
            }
            Format::Jid => {
                let mut bytes = Vec::new();
                for jid in view.jids().unwrap_or_default() {
                    bytes.extend_from_slice(jid.as_bytes());
                    bytes.push(b'\n');
                }
                return self.verbatim(&bytes);
            }
        };
        self.write(&bytes)
    }

    /// Writes text of ours, or cleaned text, to stdout.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), Error> {
        self.write(text.as_bytes())
    }

    /// Writes what others wrote to stdout, byte for byte; on a terminal it is cleaned.
    pub(crate) fn verbatim(&mut self, bytes: &[u8]) -> Result<(), Error> {
        match self.page.terminal && !self.force_raw {
            true => self.write(text::clean_lines(bytes).as_bytes()),
            false => self.write(bytes),
        }
    }

    /// Writes bytes to stdout as they are, whatever it is; only `--force-raw` asks for this.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.stdout.write(bytes).map_err(unwritten)
    }

    /// Hands on what was written so far; streams do so after each line.
    pub(crate) fn finish(&mut self) -> Result<(), Error> {
        self.stdout.flush().map_err(unwritten)
    }

    /// Returns what text for people is written on.
    pub(crate) fn page(&self) -> &Page {
        &self.page
    }

    /// Says in one line on stderr what was changed.
    pub(crate) fn note(&mut self, line: &str) {
        if !self.quiet {
            self.say(&format!("{line}\n"));
        }
    }

    /// Says in one line on stderr what would be changed, and where, if that place has a label.
    pub(crate) fn note_dry_run(&mut self, line: &str) {
        let label = self
            .context
            .as_ref()
            .map(|context| text::clean(&context.label));
        match label {
            Some(label) => self.note(&format!("{label}: {line}")),
            None => self.note(line),
        }
    }

    /// The same as [`Ui::note`], but only where people read stdout: there it says what a script does not need.
    pub(crate) fn note_on_terminal(&mut self, line: &str) {
        if self.page.terminal && self.format == Format::Table {
            self.note(line);
        }
    }

    /// Says, where people read it, that a list goes on after what was shown; `total` is how many
    /// there are, where that is known.
    pub(crate) fn note_cut(&mut self, shown: u64, total: Option<u64>, offset: u64, of: &str) {
        let more = "`--limit N` shows more";
        let count = text::thousands(shown);
        match total {
            Some(total) if total <= offset + shown => {}
            Some(total) => {
                let total = text::thousands(total);
                self.note_on_terminal(&format!("{count} of {total} {of}; {more}"));
            }
            None => self.note_on_terminal(&format!("the first {count} {of}; {more}")),
        }
    }

    /// Offers the next useful command, where people read it.
    pub(crate) fn hint(&mut self, line: &str) {
        if self.hints() {
            self.note(&format!("hint: {line}"));
        }
    }

    /// The same, also where a script reads: it belongs to what was found.
    pub(crate) fn hint_in_any_case(&mut self, line: &str) {
        if self.format == Format::Table {
            self.note(&format!("hint: {line}"));
        }
    }

    /// Warns on stderr.
    pub(crate) fn warn(&mut self, line: &str) {
        self.note(&format!("warning: {line}"));
    }

    /// Writes text to stderr; nobody can be told if that fails.
    pub(crate) fn say(&mut self, text: &str) {
        if self.stdout.append_to_frame(text) {
            return;
        }
        _ = self.stdout.flush();
        _ = io::stderr().write_all(text.as_bytes());
    }

    /// Tells an error on stderr and returns the code to exit with.
    pub(crate) fn fail(&mut self, error: &Error) -> Exit {
        if self.format.is_json() {
            if let Ok(line) = json::line(error) {
                _ = self.stdout.flush();
                _ = io::stderr().write_all(&line);
            }
            return error.exit();
        }
        let mut told = format!("error: {}\n", text::clean(error.message().as_bytes()));
        if let Some(hint) = error.hint_text() {
            told.push_str(&format!("hint: {}\n", text::clean(hint.as_bytes())));
        }
        if let (true, Some(words)) = (self.verbose(), error.detail_text()) {
            told.push_str(&format!("server: {}\n", text::clean(words.as_bytes())));
        }
        self.say(&told);
        error.exit()
    }
}

/// Returns the columns of the terminal.
fn width() -> usize {
    match Term::stdout().size_checked() {
        Some((_, columns)) if columns > 0 => columns.into(),
        _ => 80,
    }
}

/// Whether to colour a stream. The flag beats the environment, which beats what the stream is.
fn color(flag: When, terminal: bool) -> bool {
    let is = |name: &str, value: &str| env::var(name).is_some_and(|set| set == value);
    match flag {
        When::Always => true,
        When::Never => false,
        When::Auto if env::var("CLICOLOR_FORCE").is_some_and(|set| set != "0") => true,
        When::Auto if env::var("NO_COLOR").is_some() => false,
        When::Auto => terminal && !is("CLICOLOR", "0") && !is("TERM", "dumb"),
    }
}

/// Whether stderr is a terminal that somebody watches.
fn watched() -> bool {
    io::stderr().is_terminal() && env::var("CI").is_none()
}

/// A closed pipe ends the process by SIGPIPE's default action; anything else is told.
fn unwritten(error: io::Error) -> Error {
    if error.kind() == io::ErrorKind::BrokenPipe {
        let pipe = signal_hook::consts::SIGPIPE;
        _ = signal_hook::low_level::emulate_default_handler(pipe);
    }
    let words = io_words(&error);
    Error::new(Kind::File, format!("cannot write to stdout: {words}"))
}

fn unwritable(error: serde_json::Error) -> Error {
    Error::internal(format!("document: {error}"))
}
