//! Where a value comes from: the argument itself, `@FILE`, or `-` for standard input.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use crate::error::{Error, Kind, io_words};
use crate::text::clean;

/// The inputs of one command; standard input can be read only once.
#[derive(Default)]
pub(crate) struct InputSource {
    /// What was read from standard input.
    stdin: Option<&'static str>,
}

/// What was read, and by which words to speak of it.
pub(crate) struct InputText {
    pub bytes: Vec<u8>,
    /// `data`, or the file as it was given.
    pub what: String,
}

/// An input that is open.
struct OpenInput {
    from: Box<dyn Read>,
    /// By which words to speak of what is read.
    what: String,
    stdin: bool,
}

/// As long as a line of a list may be: a job with the longest data, twice over.
const LONGEST: u64 = 64 << 20;

impl InputSource {
    /// Reads `what` from where `given` says, at most `most` bytes.
    pub(crate) fn read(
        &mut self,
        given: &OsStr,
        what: &'static str,
        most: usize,
    ) -> Result<InputText, Error> {
        let text = match self.open(given, what)? {
            Some(mut input) => {
                // One byte more than allowed, so that too much is seen as such.
                let more = (most as u64).saturating_add(1);
                let mut bytes = Vec::new();
                let read = input.from.by_ref().take(more).read_to_end(&mut bytes);
                read.map_err(|fault| input.failed(&fault))?;
                let what = input.what;
                InputText { bytes, what }
            }
            None => InputText {
                bytes: given.as_bytes().to_vec(),
                what: what.to_owned(),
            },
        };
        match text.bytes.len() > most {
            true => Err(
                Error::usage(format!("{} is longer than {most} bytes", text.what))
                    .hint("`--max-data` raises the limit"),
            ),
            false => Ok(text),
        }
    }

    /// Hands over each line of the list that `given` names, which is `-` or `@FILE`; holds one at
    /// a time. Returns whether it names one.
    pub(crate) fn lines(
        &mut self,
        given: &OsStr,
        what: &'static str,
        mut take: impl FnMut(&[u8]) -> Result<(), String>,
    ) -> Result<bool, Error> {
        let Some(mut input) = self.open(given, what)? else {
            return Ok(false);
        };
        let mut from = BufReader::new(std::mem::replace(&mut input.from, Box::new(io::empty())));
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            let read = from.by_ref().take(LONGEST).read_until(b'\n', &mut line);
            if read.map_err(|fault| input.failed(&fault))? == 0 {
                break;
            }
            let taken = match line.len() as u64 == LONGEST {
                true => Err(format!("it is longer than {LONGEST} bytes")),
                false => take(&line),
            };
            taken.map_err(|why| Error::usage(format!("{}, line {number}: {why}", input.what)))?;
        }
        Ok(true)
    }

    /// Opens what `given` names: `-` or `@FILE`, else nothing.
    fn open(&mut self, given: &OsStr, what: &'static str) -> Result<Option<OpenInput>, Error> {
        let mut input = OpenInput {
            from: Box::new(io::empty()),
            what: what.to_owned(),
            stdin: true,
        };
        match given.as_bytes() {
            b"-" => {
                self.claim_stdin(what)?;
                input.from = Box::new(io::stdin());
            }
            [b'@', path @ ..] => {
                input.what = format!("`{}`", clean(path));
                input.stdin = false;
                let path = PathBuf::from(std::ffi::OsString::from_vec(path.to_vec()));
                let file = File::open(path).map_err(|fault| input.failed(&fault))?;
                input.from = Box::new(file);
            }
            _ => return Ok(None),
        }
        Ok(Some(input))
    }

    /// Refuses to read standard input for two things.
    pub(crate) fn claim(&mut self, what: &'static str) -> Result<(), Error> {
        if let Some(before) = self.stdin.replace(what) {
            return Err(Error::usage(format!(
                "`-` can be given once: stdin cannot be both {before} and {what}"
            )));
        }
        Ok(())
    }

    fn claim_stdin(&mut self, what: &'static str) -> Result<(), Error> {
        self.claim(what)?;
        if io::stdin().is_terminal() {
            return Err(Error::usage(format!(
                "`-` reads {what} from stdin, but stdin is a terminal"
            ))
            .hint(format!("pipe {what} in, or name a file: `@FILE`")));
        }
        Ok(())
    }
}

impl OpenInput {
    fn failed(&self, fault: &io::Error) -> Error {
        let (what, why) = (&self.what, io_words(fault));
        match self.stdin {
            true => Error::new(Kind::File, format!("cannot read {what} from stdin: {why}")),
            false => Error::usage(format!("cannot read {what}: {why}")),
        }
    }
}
