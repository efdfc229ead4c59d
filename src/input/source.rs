//! The source of a value: the argument itself, `@FILE`, or `-` for stdin.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, IsTerminal, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::jids::GivenJids;
use crate::args::input_arg::ValueFileOrStdinArg;
use crate::error::{Error, Kind};
use crate::fs::open;
use crate::text::Sanitized;

/// The inputs of one command, which can read stdin only once.
pub(crate) struct CommandInputs {
    /// What the command reads from stdin, such as `job ids`.
    claimed_by: Option<&'static str>,
    /// Whether each item of a list ends in a NUL instead of a line end: `--null`.
    is_null_separated: bool,
    /// The jids for the command, if another part of the program has read them already.
    pub(super) jids: Option<GivenJids>,
    /// Whether several members of a context run the command at the same time: stdin cannot serve all of them.
    shared: bool,
}

/// Whether the run of a command for one member of a context may read stdin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum StdinAvailability {
    #[default]
    Free,
    /// `qless` has read the jids for all members from stdin.
    Jids,
    /// Several parts run at the same time.
    Shared,
}

/// The bytes of an input, and its name for messages.
pub(crate) struct InputText {
    pub bytes: Vec<u8>,
    /// `data`, or the file as it was given.
    pub what: String,
}

struct OpenInput {
    from: Box<dyn Read>,
    /// The name of the input for messages.
    what: String,
    is_stdin: bool,
}

/// An item of a list.
pub(crate) enum LineOrNulItem<'i> {
    Line(&'i [u8]),
    /// The text before a NUL, byte for byte.
    Exact(&'i [u8]),
}

/// The maximum length of an input, or of one of its lines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByteLimit {
    pub(super) bytes: usize,
    /// Whether `--max-data` sets the limit.
    is_set_by_flag: bool,
}

impl From<usize> for ByteLimit {
    /// The limit that `--max-data` sets.
    fn from(bytes: usize) -> ByteLimit {
        let is_set_by_flag = true;
        ByteLimit {
            bytes,
            is_set_by_flag,
        }
    }
}

impl ByteLimit {
    /// A limit that no flag sets.
    pub(crate) const fn fixed(bytes: usize) -> ByteLimit {
        let is_set_by_flag = false;
        ByteLimit {
            bytes,
            is_set_by_flag,
        }
    }

    /// The error for what exceeds the limit.
    pub(super) fn exceeded_error(self, message: String) -> Error {
        let hint = "`--max-data` raises the limit";
        Error::usage(message).hint_if(self.is_set_by_flag.then(|| hint.to_owned()))
    }
}

/// Maximum length of an item in a list, in bytes: twice that of a job with the longest data.
const MAX_ITEM_BYTES: u64 = 64 << 20;

impl CommandInputs {
    pub(crate) fn new(is_null_separated: bool) -> CommandInputs {
        CommandInputs {
            claimed_by: None,
            is_null_separated,
            jids: None,
            shared: false,
        }
    }

    /// The inputs for the run of a command for one member. `jids` are its share of the jids if those were read already.
    pub(crate) fn for_member_run(
        self,
        jids: Option<GivenJids>,
        stdin: StdinAvailability,
    ) -> CommandInputs {
        CommandInputs {
            jids,
            claimed_by: (stdin == StdinAvailability::Jids).then_some("job ids"),
            shared: stdin == StdinAvailability::Shared,
            ..self
        }
    }

    /// Reads the input `what` from the source `given`. Fails if the input exceeds the limit.
    pub(crate) fn read_input(
        &mut self,
        given: &ValueFileOrStdinArg,
        what: &'static str,
        limit: impl Into<ByteLimit>,
    ) -> Result<InputText, Error> {
        let limit = limit.into();
        let max_bytes = limit.bytes;
        let text = match given {
            ValueFileOrStdinArg::Value(value) => InputText {
                bytes: value.as_bytes().to_vec(),
                what: what.to_owned(),
            },
            ValueFileOrStdinArg::Stdin => {
                read_one_byte_past_limit(self.open_stdin(what)?, max_bytes)?
            }
            ValueFileOrStdinArg::File(path) => {
                read_one_byte_past_limit(OpenInput::open_file(path)?, max_bytes)?
            }
        };
        if text.bytes.len() <= max_bytes {
            return Ok(text);
        }
        let size = match given {
            ValueFileOrStdinArg::Value(value) => Some(value.len() as u64),
            ValueFileOrStdinArg::Stdin => None,
            // The size of a pipe or device is reported as 0: only a size above the limit is known to be right.
            ValueFileOrStdinArg::File(path) => path.metadata().ok().map(|file| file.len()),
        };
        let size = size.filter(|size| *size > max_bytes as u64);
        Err(too_long_error(&text.what, size, limit))
    }

    /// Passes each item of a list in a file or on stdin to `take`. If `given` is a plain value, returns that value.
    pub(crate) fn for_each_item_unless_value<'g>(
        &mut self,
        given: &'g ValueFileOrStdinArg,
        what: &'static str,
        mut take: impl FnMut(LineOrNulItem) -> Result<(), String>,
    ) -> Result<Option<&'g OsStr>, Error> {
        let mut input = match given {
            ValueFileOrStdinArg::Value(value) => return Ok(Some(value)),
            ValueFileOrStdinArg::Stdin => self.open_stdin(what)?,
            ValueFileOrStdinArg::File(path) => OpenInput::open_file(path)?,
        };
        let (end, unit) = if self.is_null_separated {
            (0, "item")
        } else {
            (b'\n', "line")
        };
        let mut from = BufReader::new(std::mem::replace(&mut input.from, Box::new(io::empty())));
        let mut bytes = Vec::new();
        for number in 1.. {
            bytes.clear();
            let read = from
                .by_ref()
                .take(MAX_ITEM_BYTES)
                .read_until(end, &mut bytes);
            if read.map_err(|fault| input.unreadable_error(&fault))? == 0 {
                break;
            }
            let item = bytes.strip_suffix(&[end]).unwrap_or(&bytes);
            let taken = if bytes.len() as u64 == MAX_ITEM_BYTES {
                Err(format!("it is longer than {MAX_ITEM_BYTES} bytes"))
            } else if self.is_null_separated {
                take(LineOrNulItem::Exact(item))
            } else {
                take(LineOrNulItem::Line(item))
            };
            taken.map_err(|why| Error::usage(format!("{}, {unit} {number}: {why}", input.what)))?;
        }
        Ok(None)
    }

    fn open_stdin(&mut self, what: &'static str) -> Result<OpenInput, Error> {
        self.claim_stdin_unless_terminal(what)?;
        Ok(OpenInput {
            from: Box::new(io::stdin()),
            what: what.to_owned(),
            is_stdin: true,
        })
    }

    /// Claims stdin for the input `what`. Fails if another input has claimed it, or if several members run the command.
    pub(crate) fn claim_stdin_for(&mut self, what: &'static str) -> Result<(), Error> {
        if self.shared {
            let error = format!("several members cannot read {what} from stdin");
            return Err(Error::usage(error).hint("name a file: `@FILE`"));
        }
        if let Some(before) = self.claimed_by.replace(what) {
            return Err(Error::usage(format!(
                "`-` can be given once: stdin cannot be both {before} and {what}"
            )));
        }
        Ok(())
    }

    fn claim_stdin_unless_terminal(&mut self, what: &'static str) -> Result<(), Error> {
        self.claim_stdin_for(what)?;
        if io::stdin().is_terminal() {
            return Err(Error::usage(format!(
                "`-` reads {what} from stdin, but stdin is a terminal"
            ))
            .hint(format!("pipe {what} in, or name a file: `@FILE`")));
        }
        Ok(())
    }
}

/// The error for a text that exceeds its limit. The size is unknown for a pipe.
pub(super) fn too_long_error(what: &str, size: Option<u64>, limit: ByteLimit) -> Error {
    let max_bytes = limit.bytes;
    let message = match size {
        Some(size) => format!("{what} is {size} bytes long, the maximum is {max_bytes}"),
        None => format!("{what} is longer than {max_bytes} bytes"),
    };
    limit.exceeded_error(message)
}

/// Reads an input, but at most one byte more than `max_bytes`. That byte shows the caller that the input is too long.
fn read_one_byte_past_limit(mut input: OpenInput, max_bytes: usize) -> Result<InputText, Error> {
    let mut bytes = Vec::new();
    let more = (max_bytes as u64).saturating_add(1);
    let read = input.from.by_ref().take(more).read_to_end(&mut bytes);
    read.map_err(|fault| input.unreadable_error(&fault))?;
    let what = input.what;
    Ok(InputText { bytes, what })
}

impl OpenInput {
    fn open_file(path: &Path) -> Result<OpenInput, Error> {
        let mut input = OpenInput {
            from: Box::new(io::empty()),
            what: format!("`{}`", Sanitized(path.as_os_str().as_bytes())),
            is_stdin: false,
        };
        let failed = format!("cannot read {}", input.what);
        let file =
            open::open_input_or_pipe(path).map_err(|why| why.into_error(&failed, Kind::Usage))?;
        input.from = Box::new(file);
        Ok(input)
    }

    fn unreadable_error(&self, fault: &io::Error) -> Error {
        let what = &self.what;
        if self.is_stdin {
            Error::from_io(Kind::File, &format!("cannot read {what} from stdin"), fault)
        } else {
            Error::from_io(Kind::Usage, &format!("cannot read {what}"), fault)
        }
    }
}
