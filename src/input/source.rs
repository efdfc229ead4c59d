//! Where a value comes from: the argument itself, `@FILE`, or `-` for standard input.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{IsTerminal, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use crate::error::{Error, Kind, io_words};
use crate::view::text::clean;

/// The inputs of one command; standard input can be read only once.
#[derive(Default)]
pub struct Source {
    /// What was read from standard input.
    stdin: Option<&'static str>,
}

/// What was read, and by which words to speak of it.
pub struct Text {
    pub bytes: Vec<u8>,
    /// `data`, or the file as it was given.
    pub what: String,
}

impl Source {
    /// Reads `what` from where `given` says, at most `most` bytes.
    pub fn read(&mut self, given: &OsStr, what: &'static str, most: usize) -> Result<Text, Error> {
        let text = match given.as_bytes() {
            b"-" => Text {
                bytes: self.stdin(what, most)?,
                what: what.to_owned(),
            },
            [b'@', path @ ..] => {
                let named = format!("`{}`", clean(path));
                let path = PathBuf::from(std::ffi::OsString::from_vec(path.to_vec()));
                let file = File::open(path).and_then(|file| limited(file, most));
                let bytes = file.map_err(|fault| {
                    Error::usage(format!("cannot read {named}: {}", io_words(&fault)))
                })?;
                Text { bytes, what: named }
            }
            bytes => Text {
                bytes: bytes.to_vec(),
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

    fn stdin(&mut self, what: &'static str, most: usize) -> Result<Vec<u8>, Error> {
        if let Some(before) = self.stdin.replace(what) {
            return Err(Error::usage(format!(
                "`-` can be given once: stdin cannot be both {before} and {what}"
            )));
        }
        let stdin = std::io::stdin();
        if stdin.is_terminal() {
            return Err(Error::usage(format!(
                "`-` reads {what} from stdin, but stdin is a terminal"
            ))
            .hint(format!("pipe {what} in, or name a file: `@FILE`")));
        }
        limited(stdin.lock(), most).map_err(|fault| {
            Error::new(
                Kind::File,
                format!("cannot read {what} from stdin: {}", io_words(&fault)),
            )
        })
    }
}

/// Reads one byte more than allowed, so that too much is seen as such.
fn limited(from: impl Read, most: usize) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take((most as u64).saturating_add(1))
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}
