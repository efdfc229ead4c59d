//! The job of a line: the members of the line, and defaults from the command line.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::time::Duration;

use strum::VariantArray;

use sha2::{Digest, Sha256};

use crate::args::moment::When;
use crate::clock::duration;
use crate::clock::moment::Moment;
use crate::core::api::put::PackedJob;
use crate::error::{Error, Kind, io_words};
use crate::input::line::{Dependency, LineFault, NewJid, NewJob, NewName, into_bytes, refuse_jid};
use crate::json::object::{offset_of, text_of};
use crate::json::path::Path;
use crate::json::quote::array;
use crate::json::syntax::Shape;
use crate::model::coordination::{Coordination, CoordinationOption, Need};
use crate::model::jid_source::JidSource;

/// What the command line says about all lines.
#[derive(Debug, Default)]
pub(crate) struct JobDefaults {
    /// The members that a line does not have.
    pub job: NewJob<'static>,
    /// The origin of the jid of a line that has none.
    pub jids: JidSource,
    /// Maximum length of a job's data in bytes.
    pub max_data: usize,
}

/// A job of the file.
#[derive(Debug)]
pub(crate) struct JobSpec<'l> {
    pub queue: &'l [u8],
    pub klass: &'l [u8],
    pub data: &'l [u8],
    pub delay: Option<Duration>,
    pub at: Option<&'l When>,
    pub priority: Option<&'l [u8]>,
    pub retries: Option<&'l [u8]>,
    pub tags: Option<&'l [NewName<'l>]>,
    pub depends: Option<&'l [Dependency<'l>]>,
    pub coordination: Coordination<'l>,
    pub jid: JidSpec<'l>,
}

/// The jid of a job.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum JidSpec<'l> {
    Fresh,
    /// A hash of the job's content: a second job with the same content is the same job.
    Content([u8; 32]),
    /// The jid from the line or its data.
    Given(Cow<'l, [u8]>),
}

impl JidSpec<'_> {
    /// Returns the jid, unless it is still to be made.
    pub(crate) fn known(&self) -> Option<&[u8]> {
        match self {
            JidSpec::Fresh => None,
            JidSpec::Content(jid) => Some(jid),
            JidSpec::Given(jid) => Some(jid),
        }
    }
}

impl JobDefaults {
    /// Returns the job that a line describes.
    pub(crate) fn job<'l>(
        &'l self,
        text: &[u8],
        line: &'l NewJob<'l>,
    ) -> Result<JobSpec<'l>, LineFault> {
        let all = &self.job;
        let queue = line.queue.as_ref().or(all.queue.as_ref());
        let klass = line.klass.as_ref().or(all.klass.as_ref());
        let (Some(NewName(queue)), Some(NewName(klass))) = (queue, klass) else {
            let what = if queue.is_none() { "queue" } else { "klass" };
            let mut fault = LineFault::at(text, 0, format!("it has no `{what}`"));
            fault.hint = Some(format!(
                "add `\"{what}\"` to the line, or give it on the command line: `qless put QUEUE KLASS --from …`"
            ));
            return Err(fault);
        };
        let data = line.data.as_deref().or(all.data.as_deref());
        let data = data.unwrap_or(b"{}");
        let jid = match (&line.jid, &self.jids) {
            (Some(NewJid(jid)), _) => JidSpec::Given(Cow::Borrowed(jid)),
            (None, JidSource::Fresh) => JidSpec::Fresh,
            (None, JidSource::Content) => JidSpec::Content(content([queue, klass, data])),
            (None, JidSource::Path(path, typed)) => {
                let jid = jid_in_data(data, path, typed);
                jid.map_err(|(part, what)| LineFault::at(text, place(text, part), what))?
            }
        };
        let coordination = line.coordination.or(&all.coordination);
        if let Some((option, need)) = coordination.unmet() {
            let needed = match need {
                Need::Key if coordination.get(CoordinationOption::Key).is_some() => {
                    "a `key` that is not empty".to_owned()
                }
                Need::Key => "`key`".to_owned(),
                Need::Dup(word) => format!("`dup` to be `{word}`"),
            };
            let what = format!("`{}` needs {needed}", option.into_str());
            return Err(LineFault::at(text, 0, what));
        }
        let with_time = match (line.delay, &line.at) {
            (None, None) => all,
            _ => line,
        };
        let depends = line.depends.as_ref().or(all.depends.as_ref());
        Ok(JobSpec {
            queue,
            klass,
            data,
            delay: with_time.delay,
            at: with_time.at.as_ref(),
            priority: line.priority.as_deref().or(all.priority.as_deref()),
            retries: line.retries.as_deref().or(all.retries.as_deref()),
            tags: line.tags.as_deref().or(all.tags.as_deref()),
            depends: depends.map(Vec::as_slice),
            coordination,
            jid,
        })
    }
}

/// The most options of a job: five, and those that coordinate it with others.
const MOST_OPTIONS: usize = 5 + CoordinationOption::VARIANTS.len();

/// Returns the jid at a path in the data. An error has the part of the data that is wrong.
fn jid_in_data<'d>(
    data: &'d [u8],
    path: &Path,
    typed: &str,
) -> Result<JidSpec<'d>, (&'d [u8], String)> {
    let json = std::str::from_utf8(data).unwrap_or_default();
    let Some(value) = path.find(json) else {
        return Err((data, format!("its data has no `{typed}`")));
    };
    let wrong = |what: String| Err((value.get().as_bytes(), format!("`{typed}` {what}")));
    let jid = match Shape::of(value.get().as_bytes()) {
        Shape::String => into_bytes(text_of(value)),
        Shape::Number => Cow::Borrowed(value.get().as_bytes()),
        shape => return wrong(format!("is {}, not a text or a number", shape.words())),
    };
    match refuse_jid(&jid) {
        Ok(()) => Ok(JidSpec::Given(jid)),
        Err(why) => wrong(why),
    }
}

/// The offset of a part of a line, with its quote; 0 for what the command line says.
pub(crate) fn place(line: &[u8], part: &[u8]) -> usize {
    let at = offset_of(line, part).unwrap_or(0);
    let is_quoted = at > 0 && line[at - 1] == b'"';
    at - usize::from(is_quoted)
}

impl JobSpec<'_> {
    /// Passes the job as it is sent to `take`.
    pub(crate) fn words<T>(
        &self,
        jid: &[u8],
        now: Moment,
        take: impl FnOnce(&PackedJob) -> T,
    ) -> T {
        let delay = self.delay.map(duration::seconds);
        let at = self.at.map(|when| when.from(now).to_string());
        let (tags, depends) = (self.tags.map(array), self.depends.map(array));
        let mut options: [(&'static str, &[u8]); MOST_OPTIONS] = [("", b""); MOST_OPTIONS];
        let values = [
            ("at", at.as_deref().map(str::as_bytes)),
            ("priority", self.priority),
            ("retries", self.retries),
            ("tags", tags.as_deref()),
            ("depends", depends.as_deref()),
        ];
        let mut count = 0;
        let given = values
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)));
        for option in given.chain(self.coordination.words()) {
            options[count] = option;
            count += 1;
        }
        take(&PackedJob {
            queue: self.queue,
            jid,
            klass: self.klass,
            data: self.data,
            delay: delay.as_deref().map_or(b"0", str::as_bytes),
            options: &options[..count],
        })
    }
}

/// Returns the first half of SHA-256 over the texts, each after its length in bytes, in decimal
/// digits, and a colon: `4:mail13:Mail::Welcome2:{}`.
fn content(texts: [&[u8]; 3]) -> [u8; 32] {
    let mut sum = Sha256::new();
    for text in texts {
        let length = text.len();
        sum.update(format!("{length}:"));
        sum.update(text);
    }
    let mut jid = [0; 32];
    for (byte, digits) in sum.finalize().iter().zip(jid.chunks_exact_mut(2)) {
        digits.copy_from_slice(&HEX[usize::from(*byte)]);
    }
    jid
}

/// The two digits of each byte.
const HEX: [[u8; 2]; 256] = {
    let digits = b"0123456789abcdef";
    let mut table = [[0; 2]; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = [digits[byte / 16], digits[byte % 16]];
        byte += 1;
    }
    table
};

/// Returns bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8], into: &mut Vec<u8>) {
    for byte in bytes {
        into.extend_from_slice(&HEX[usize::from(*byte)]);
    }
}

/// Makes new jids as other clients do: random UUIDs. Reads the system's random bytes in blocks.
pub(crate) struct UuidSource {
    from: File,
    bytes: Vec<u8>,
}

impl UuidSource {
    pub(crate) fn new() -> Result<UuidSource, Error> {
        let from = File::open("/dev/urandom").map_err(|fault| random_error(&fault))?;
        Ok(UuidSource {
            from,
            bytes: Vec::new(),
        })
    }

    pub(crate) fn jid(&mut self) -> Result<[u8; 32], Error> {
        if self.bytes.is_empty() {
            self.bytes.resize(256 * 16, 0);
            let read = self.from.read_exact(&mut self.bytes);
            read.map_err(|fault| random_error(&fault))?;
        }
        let mut random = [0; 16];
        let rest = self.bytes.len() - random.len();
        random.copy_from_slice(&self.bytes[rest..]);
        self.bytes.truncate(rest);
        let uuid = uuid::Builder::from_random_bytes(random).into_uuid();
        let mut jid = [0; 32];
        uuid.simple().encode_lower(&mut jid);
        Ok(jid)
    }
}

fn random_error(fault: &io::Error) -> Error {
    let why = io_words(fault);
    Error::new(Kind::Error, format!("cannot read `/dev/urandom`: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_of_the_content_depends_on_the_lengths_of_its_parts() {
        // printf '4:mail13:Mail::Welcome2:{}' | sha256sum | cut -c1-32
        let jid = content([b"mail", b"Mail::Welcome", b"{}"]);
        assert_eq!(&jid, b"8bc483e3e3ffe8dd47490e78e5036b62");
        assert_ne!(content([b"ab", b"c", b"1"]), content([b"a", b"bc", b"1"]));
    }

    #[test]
    fn fresh_jids_are_random_uuids() {
        let mut fresh = UuidSource::new().unwrap();
        let (one, other) = (fresh.jid().unwrap(), fresh.jid().unwrap());
        assert_ne!(one, other);
        assert!(one.iter().all(|digit| b"0123456789abcdef".contains(digit)));
        assert_eq!(one[12], b'4');
    }
}
