//! A file of lines that is read twice, line by line: first to validate all of it, then to use it.
//!
//! Input that cannot be read twice, such as stdin, is copied to an unnamed temporary file during the
//! first pass.

use std::env;
use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::SystemTime;

use super::source::ByteLimit;
use crate::args::input_arg::FileOrStreamArg;
use crate::error::{Error, Kind, io_message_without_errno};
use crate::fs::open;
use crate::fs::open_failure::OpenFailure;
use crate::text::Sanitized;

/// A file that is read twice.
#[derive(Debug)]
pub(crate) struct TwoPassFile {
    /// The name of the file for messages.
    what: String,
    /// The file for the second pass.
    file: File,
    /// The offsets of the first line and of the end of the last one. The first pass finds out the end.
    start: u64,
    end: u64,
    /// The stream from which the first pass reads while it copies the lines to `file`. `None` if `file` itself is the
    /// source.
    from: Option<File>,
    /// The length and time of change of the file, to detect a change by another process. `None` for a temporary copy.
    stamp: Option<FileStamp>,
    /// Maximum length of a line in bytes.
    longest: ByteLimit,
    /// The lines of one member of a context, if the lines were shared out to several. `None` for all lines.
    part: Option<LinesOfMember>,
}

/// Which of the lines one member of a context gets.
#[derive(Debug)]
struct LinesOfMember {
    /// The index of the member that gets each line, by line number.
    owners: Arc<Vec<u8>>,
    member: u8,
}

impl LinesOfMember {
    fn owns_line(&self, number: u64) -> bool {
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        self.owners.get(at) == Some(&self.member)
    }
}

/// A line with its position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextLine<'l> {
    /// The number of the line, counted from 1. Empty lines count, too.
    pub number: u64,
    /// The offset of the line in the file.
    pub offset: u64,
    pub text: &'l [u8],
}

#[derive(Clone, Debug, PartialEq)]
struct FileStamp {
    length: u64,
    modified: Option<SystemTime>,
}

/// Size of the read buffer.
const READ_BUFFER_SIZE: usize = 1 << 17;

/// The byte order mark, which Windows programs put at the start of files.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl TwoPassFile {
    /// Opens a file, or stdin. No line may be longer than `max_line_bytes`.
    pub(crate) fn open(
        given: &FileOrStreamArg,
        max_line_bytes: impl Into<ByteLimit>,
    ) -> Result<TwoPassFile, Error> {
        let max_line_bytes = max_line_bytes.into();
        match given {
            FileOrStreamArg::Stream => TwoPassFile::open_stdin(max_line_bytes),
            FileOrStreamArg::Path(path) => {
                let what = format!("`{}`", Sanitized(path.as_os_str().as_encoded_bytes()));
                let failed =
                    |why: OpenFailure| why.into_error(&format!("cannot read {what}"), Kind::Usage);
                let file = open::open_input_or_pipe(path).map_err(failed)?;
                let about = file.metadata().map_err(|fault| failed(fault.into()))?;
                if about.is_dir() {
                    let fault = io::Error::from(io::ErrorKind::IsADirectory);
                    return Err(failed(fault.into()));
                }
                if about.is_file() {
                    Ok(TwoPassFile::new(what, file, 0, max_line_bytes))
                } else {
                    TwoPassFile::spool_in_first_pass(what, file, max_line_bytes)
                }
            }
        }
    }

    fn open_stdin(max_line_bytes: ByteLimit) -> Result<TwoPassFile, Error> {
        let stdin = io::stdin();
        if stdin.is_terminal() {
            return Err(
                Error::usage("`-` reads jobs from stdin, but stdin is a terminal")
                    .hint("pipe them in, one JSON object per line, or name a file"),
            );
        }
        let failed =
            |fault: io::Error| Error::from_io(Kind::File, "cannot read jobs from stdin", &fault);
        let file = File::from(stdin.as_fd().try_clone_to_owned().map_err(failed)?);
        let regular = file.metadata().is_ok_and(|about| about.is_file());
        // Start at the present position of stdin: another program may have read the beginning of the file.
        match io::Seek::stream_position(&mut &file) {
            Ok(start) if regular => Ok(TwoPassFile::new(
                "stdin".into(),
                file,
                start,
                max_line_bytes,
            )),
            _ => TwoPassFile::spool_in_first_pass("stdin".into(), file, max_line_bytes),
        }
    }

    fn new(what: String, file: File, start: u64, max_line_bytes: ByteLimit) -> TwoPassFile {
        TwoPassFile {
            what,
            stamp: FileStamp::of_file(&file),
            file,
            start,
            end: u64::MAX,
            from: None,
            longest: max_line_bytes,
            part: None,
        }
    }

    /// Shares the lines out to the members of a context. Reads all lines once, and asks `owner` for the index of the
    /// member that gets each. Returns one `TwoPassFile` per member, which reads only the lines of that member. Stops at
    /// the first error of `owner`.
    pub(crate) fn share_lines_by_shard_key(
        mut self,
        members: usize,
        owner: impl Fn(TextLine) -> Result<usize, Error>,
    ) -> Result<Vec<TwoPassFile>, Error> {
        let mut owners = Vec::new();
        self.for_each_line_in_first_pass(|line| {
            let at = usize::try_from(line.number).unwrap_or(usize::MAX);
            owners.resize(at.saturating_add(1), u8::MAX);
            owners[at] = u8::try_from(owner(line)?).unwrap_or(u8::MAX);
            Ok(())
        })?;
        self.refuse_changed_file()?;
        let owners = Arc::new(owners);
        let part = |member: usize| {
            let file = self.file.try_clone();
            Ok(TwoPassFile {
                what: self.what.clone(),
                file: file.map_err(|fault| self.unreadable_error(&fault))?,
                start: self.start,
                end: self.end,
                from: None,
                stamp: self.stamp.clone(),
                longest: self.longest,
                part: Some(LinesOfMember {
                    owners: owners.clone(),
                    member: u8::try_from(member).unwrap_or(u8::MAX),
                }),
            })
        };
        (0..members).map(part).collect()
    }

    fn spool_in_first_pass(
        what: String,
        from: File,
        max_line_bytes: ByteLimit,
    ) -> Result<TwoPassFile, Error> {
        let spool = tempfile::tempfile().map_err(|fault| spool_error(&what, &fault))?;
        Ok(TwoPassFile {
            from: Some(from),
            stamp: None,
            ..TwoPassFile::new(what, spool, 0, max_line_bytes)
        })
    }

    /// The name of the file for messages.
    pub(crate) fn source_name(&self) -> &str {
        &self.what
    }

    /// Makes the first pass over the file, and passes each line that is not empty to `take`.
    pub(crate) fn for_each_line_in_first_pass(
        &mut self,
        take: impl FnMut(TextLine) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let end = match self.from.take() {
            None => {
                let mut lines = self.line_reader();
                self.pass_nonempty_own_lines(&mut lines, take)?;
                lines.offset
            }
            Some(from) => {
                let copy = CopyingReader {
                    from,
                    to: &self.file,
                    write_fault: None,
                };
                let mut lines = OffsetLineReader::starting_at(copy, 0, self.longest.bytes);
                let read = self.pass_nonempty_own_lines(&mut lines, take);
                if let Some(fault) = lines.from.into_inner().write_fault {
                    return Err(spool_error(&self.what, &fault));
                }
                read?;
                lines.offset
            }
        };
        self.end = end;
        Ok(())
    }

    /// The lines for a further pass.
    pub(crate) fn line_reader(&self) -> OffsetLineReader<impl Read + use<'_>> {
        let part = FileRangeReader {
            file: &self.file,
            at: self.start,
            end: self.end,
        };
        OffsetLineReader::starting_at(part, self.start, self.longest.bytes)
    }

    /// Reads one line again.
    pub(crate) fn read_line_at(
        &self,
        offset: u64,
        length: usize,
        line: &mut Vec<u8>,
    ) -> Result<(), Error> {
        line.resize(length, 0);
        let read = self.file.read_exact_at(line, offset);
        read.map_err(|fault| self.unreadable_error(&fault))
    }

    /// Makes a further pass over the file, and passes each line that is not empty to `take`.
    pub(crate) fn for_each_line_in_further_pass<R: Read>(
        &self,
        mut lines: OffsetLineReader<R>,
        take: impl FnMut(TextLine) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.pass_nonempty_own_lines(&mut lines, take)
    }

    fn pass_nonempty_own_lines<R: Read>(
        &self,
        lines: &mut OffsetLineReader<R>,
        mut take: impl FnMut(TextLine) -> Result<(), Error>,
    ) -> Result<(), Error> {
        while lines
            .read_next_line()
            .map_err(|fault| self.unreadable_error(&fault))?
        {
            let part = self.part.as_ref();
            if part.is_some_and(|part| !part.owns_line(lines.number)) {
                continue;
            }
            if lines.line.len() > self.longest.bytes {
                let (what, number) = (&self.what, lines.number);
                let max_bytes = self.longest.bytes;
                return Err(self.longest.exceeded_error(format!(
                    "{what}, line {number}: it is longer than {max_bytes} bytes"
                )));
            }
            if !lines.current_line().text.trim_ascii().is_empty() {
                take(lines.current_line())?;
            }
        }
        Ok(())
    }

    /// Refuses a file that was changed after it was opened.
    pub(crate) fn refuse_changed_file(&self) -> Result<(), Error> {
        if self.stamp == FileStamp::of_file(&self.file) || self.stamp.is_none() {
            Ok(())
        } else {
            Err(self.changed_error())
        }
    }

    /// The error for a file that was changed.
    pub(crate) fn changed_error(&self) -> Error {
        Error::new(
            Kind::File,
            format!("{} was changed while it was read", self.what),
        )
        .hint("run the command again once nothing writes to it")
    }

    fn unreadable_error(&self, fault: &io::Error) -> Error {
        Error::from_io(Kind::File, &format!("cannot read {}", self.what), fault)
    }
}

impl FileStamp {
    fn of_file(file: &File) -> Option<FileStamp> {
        let about = file.metadata().ok()?;
        Some(FileStamp {
            length: about.len(),
            modified: about.modified().ok(),
        })
    }
}

fn spool_error(what: &str, fault: &io::Error) -> Error {
    let (dir, why) = (
        Sanitized(env::temp_dir().into_os_string().into_encoded_bytes()),
        io_message_without_errno(fault),
    );
    Error::new(Kind::File, format!("cannot keep {what} in `{dir}`: {why}"))
        .hint("TMPDIR names another directory")
}

/// Reads lines of limited length, and notes the number and offset of each, by which a line can be read again.
pub(crate) struct OffsetLineReader<R> {
    from: BufReader<R>,
    line: Vec<u8>,
    number: u64,
    /// The offsets of the current line and of the next line.
    begin: u64,
    offset: u64,
    longest: usize,
}

impl<R: Read> OffsetLineReader<R> {
    fn starting_at(from: R, offset: u64, max_line_bytes: usize) -> OffsetLineReader<R> {
        OffsetLineReader {
            from: BufReader::with_capacity(READ_BUFFER_SIZE, from),
            line: Vec::new(),
            number: 0,
            begin: offset,
            offset,
            longest: max_line_bytes,
        }
    }

    /// Reads the next line, but at most one byte beyond the maximum length. False at the end of the file.
    fn read_next_line(&mut self) -> io::Result<bool> {
        self.line.clear();
        self.number += 1;
        self.begin = self.offset;
        let max_bytes = self.longest as u64 + 1;
        let read = self
            .from
            .by_ref()
            .take(max_bytes)
            .read_until(b'\n', &mut self.line)?;
        self.offset += read as u64;
        Ok(read > 0)
    }

    fn current_line(&self) -> TextLine<'_> {
        let first = self.number == 1;
        let marked = first && self.line.starts_with(BYTE_ORDER_MARK);
        let skipped = if marked { BYTE_ORDER_MARK.len() } else { 0 };
        let text = &self.line[skipped..];
        TextLine {
            number: self.number,
            offset: self.begin + skipped as u64,
            text: text.strip_suffix(b"\n").unwrap_or(text),
        }
    }
}

/// A reader of a range of a file. It does not move the file's position.
struct FileRangeReader<'f> {
    file: &'f File,
    at: u64,
    end: u64,
}

impl Read for FileRangeReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.end.saturating_sub(self.at);
        let max_bytes = buffer
            .len()
            .min(usize::try_from(left).unwrap_or(usize::MAX));
        let read = self.file.read_at(&mut buffer[..max_bytes], self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// A reader that copies its input.
struct CopyingReader<'f> {
    from: File,
    to: &'f File,
    /// The error of a write to the copy.
    write_fault: Option<io::Error>,
}

impl Read for CopyingReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(buffer)?;
        if let Err(fault) = self.to.write_all(&buffer[..read]) {
            let kind = fault.kind();
            self.write_fault = Some(fault);
            return Err(kind.into());
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_limit_of_a_flag_has_a_hint_at_it() {
        let hint = |limit: ByteLimit| {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("jobs");
            std::fs::write(&path, b"too long\n").unwrap();
            let mut file = TwoPassFile::open(&FileOrStreamArg::Path(path), limit).unwrap();
            let error = file.for_each_line_in_first_pass(|_| Ok(())).unwrap_err();
            error.hint_text().map(str::to_owned)
        };
        assert!(hint(ByteLimit::from(3)).unwrap().contains("--max-data"));
        assert_eq!(hint(ByteLimit::fixed(3)), None);
    }

    fn read(bytes: &[u8], longest: usize) -> Result<Vec<(u64, u64, Vec<u8>)>, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("jobs");
        std::fs::write(&path, bytes).unwrap();
        let mut twice = TwoPassFile::open(&FileOrStreamArg::Path(path.clone()), longest).unwrap();
        let (mut first, mut again) = (Vec::new(), Vec::new());
        let message = |error: Error| error.message().rsplit("jobs`, ").next().unwrap().to_owned();
        let row = |row: TextLine| (row.number, row.offset, row.text.to_vec());
        let keep = |rows: &mut Vec<_>, found: TextLine| {
            rows.push(row(found));
            Ok(())
        };
        twice
            .for_each_line_in_first_pass(|row| keep(&mut first, row))
            .map_err(message)?;
        twice
            .for_each_line_in_further_pass(twice.line_reader(), |row| keep(&mut again, row))
            .unwrap();
        assert_eq!(first, again);
        for (_, offset, text) in &first {
            let mut line = Vec::new();
            twice.read_line_at(*offset, text.len(), &mut line).unwrap();
            assert_eq!(&line, text);
        }
        Ok(first)
    }

    #[test]
    fn lines_are_numbered_and_can_be_read_again() {
        let text = |text: &str| text.as_bytes().to_vec();
        assert_eq!(
            read(b"\xef\xbb\xbfa\r\n\n  \nbc\n\nd", 10),
            Ok(vec![
                (1, 3, text("a\r")),
                (4, 10, text("bc")),
                (6, 14, text("d"))
            ])
        );
        assert_eq!(read(b"", 10), Ok(vec![]));
        assert_eq!(read(b"\n\n", 10), Ok(vec![]));
        assert_eq!(read(b"aaaa\n", 5).map(|rows| rows.len()), Ok(1));
        assert_eq!(
            read(b"a\naaaaaa\n", 5),
            Err("line 2: it is longer than 5 bytes".into())
        );
    }
}
