//! stdout, stderr, width, colour, terminal or not, prompts, progress.

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};

use crate::cli::{Format, Globals, TimeFormat, When, env};
use crate::error::{Error, Kind};
use crate::exit::Exit;
use crate::model::moment::Moment;
use crate::view::table::Choice;
use crate::view::{Lines, Page, Times, View, json, text};

/// The streams of this process, and what may be written where.
pub struct Out {
    format: Format,
    stdout: BufWriter<Stdout>,
    terminal: bool,
    quiet: bool,
    verbose: u8,
    page: Page,
}

impl Out {
    pub fn new(globals: &Globals) -> Out {
        let mut out = Out::plain(globals.output.unwrap_or_default());
        out.quiet = globals.quiet;
        out.verbose = globals.verbose;
        out.page.color = colors(globals.color.unwrap_or_default(), out.terminal);
        out.page.times = match globals.time_format.unwrap_or_default() {
            TimeFormat::Relative => Times::Relative,
            TimeFormat::Iso => Times::Iso,
            TimeFormat::Unix => Times::Unix,
            TimeFormat::Auto => out.page.times,
        };
        out.page.headers = match globals.headers.unwrap_or_default() {
            When::Always => true,
            When::Never => false,
            When::Auto => out.terminal,
        };
        out.page.choice = Choice {
            columns: globals.columns.clone(),
            sort: globals.sort.clone(),
            reverse: globals.reverse,
        };
        out
    }

    /// Streams for a command line that could not be read.
    pub fn plain(format: Format) -> Out {
        let terminal = io::stdout().is_terminal();
        Out {
            format,
            stdout: BufWriter::new(io::stdout()),
            terminal,
            quiet: false,
            verbose: 0,
            page: Page {
                terminal,
                width: 80,
                color: false,
                now: Moment::from_micros(0),
                times: if terminal {
                    Times::Relative
                } else {
                    Times::Iso
                },
                headers: terminal,
                choice: Choice::default(),
            },
        }
    }

    /// Sets the moment that ages are counted from: that of the command.
    pub fn at(&mut self, now: Moment) {
        self.page.now = now;
    }

    pub fn format(&self) -> Format {
        self.format
    }

    /// Refuses `-o jid` and `-o raw` unless they are among the formats that a command also knows.
    pub fn accepts(&self, also: &[Format]) -> Result<(), Error> {
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
    pub fn shows<V: View>(&self) -> Result<(), Error> {
        self.page.choice.check(V::COLUMNS)
    }

    /// Shows a result in the format that was asked for.
    pub fn show<V: View>(&mut self, view: &V) -> Result<(), Error> {
        let bytes = match self.format {
            Format::Table | Format::Raw => view.text(&self.page).into_bytes(),
            Format::Json => json::document(view).map_err(unwritable)?,
            Format::Ndjson => {
                let mut lines = Lines::default();
                view.lines(&mut lines).map_err(unwritable)?;
                lines.0
            }
            Format::Jid => {
                let jids = view.jids().unwrap_or_default();
                let mut bytes = Vec::new();
                for jid in jids {
                    bytes.extend_from_slice(jid.as_bytes());
                    bytes.push(b'\n');
                }
                bytes
            }
        };
        self.bytes(&bytes)
    }

    /// Writes bytes to stdout.
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.stdout.write_all(bytes).map_err(write_error)
    }

    /// Returns what text for people is written on.
    pub fn page(&self) -> &Page {
        &self.page
    }

    /// Writes a line about what was done to stderr.
    pub fn note(&mut self, line: &str) {
        if !self.quiet {
            self.say(&format!("{line}\n"));
        }
    }

    /// Writes text to stderr; nobody can be told if that fails.
    pub fn say(&mut self, text: &str) {
        _ = io::stderr().write_all(text.as_bytes());
    }

    /// Ends stdout; a full disk is an error, not a silent cut.
    pub fn finish(&mut self) -> Result<(), Error> {
        self.stdout.flush().map_err(write_error)
    }

    /// Tells an error on stderr and returns the code to exit with.
    pub fn fail(&mut self, error: &Error) -> Exit {
        _ = self.stdout.flush();
        if self.format.is_json() {
            if let Ok(line) = json::line(error) {
                _ = io::stderr().write_all(&line);
            }
            return error.exit();
        }
        let mut told = format!("error: {}\n", text::clean(error.message().as_bytes()));
        if let Some(hint) = error.hint_text() {
            told.push_str(&format!("hint: {}\n", text::clean(hint.as_bytes())));
        }
        if let (true, Some(words)) = (self.verbose > 0, error.detail_text()) {
            told.push_str(&format!("  {}\n", text::clean(words.as_bytes())));
        }
        self.say(&told);
        error.exit()
    }
}

fn write_error(error: io::Error) -> Error {
    Error::new(Kind::File, format!("cannot write to stdout: {error}"))
}

fn unwritable(error: serde_json::Error) -> Error {
    Error::new(Kind::Internal, format!("internal: document: {error}"))
}

/// The flag beats the environment, which beats what stdout is.
fn colors(flag: When, terminal: bool) -> bool {
    let is = |name: &str, value: &str| env::var(name).is_some_and(|set| set == value);
    match flag {
        When::Always => true,
        When::Never => false,
        When::Auto if env::var("CLICOLOR_FORCE").is_some_and(|set| set != "0") => true,
        When::Auto if env::var("NO_COLOR").is_some() => false,
        When::Auto => terminal && !is("CLICOLOR", "0") && !is("TERM", "dumb"),
    }
}
