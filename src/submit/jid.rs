//! The sources of jids: the line, a value in its data, a hash of the job, or random numbers.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};

use sha2::{Digest, Sha256};

use crate::error::{Error, Kind};
use crate::input::line::{LineFault, NewJid, NewJob, into_bytes, refuse_as_new_jid};
use crate::json::object::{offset_of_subslice, string_text};
use crate::json::path::JsonPath;
use crate::json::syntax::JsonType;
use crate::model::coordination::CoordinationOption;
use crate::model::put::MissingJidSource;

/// The settings of the command line for all lines: default fields, the source of jids, the maximum size of the
/// data.
#[derive(Debug, Default)]
pub(crate) struct LineDefaults {
    /// The defaults for fields that a line does not set.
    pub job: NewJob<'static>,
    /// The source of the jid for a line that sets none.
    pub jids: MissingJidSource,
    /// Maximum length of a job's data in bytes.
    pub max_data: usize,
}

impl LineDefaults {
    /// The job that a line describes.
    pub(crate) fn parse_job_line<'l>(&'l self, text: &'l [u8]) -> Result<NewJob<'l>, LineFault> {
        let mut job = NewJob::parse_line(text, self.max_data)?;
        job.fill_absent(&self.job);
        for (what, name) in [("queue", &job.queue), ("klass", &job.klass)] {
            if name.is_none() {
                let mut fault = LineFault::at_offset(text, 0, format!("it has no `{what}`"));
                fault.hint = Some(format!(
                    "add `\"{what}\"` to the line, or give it on the command line: `qless put QUEUE KLASS --from …`"
                ));
                return Err(fault);
            }
        }
        if job.jid == NewJid::Fresh {
            job.jid = self.fresh_or_derived_jid(&job, text)?;
        }
        Ok(job)
    }

    /// The jid of a job whose line gives none.
    fn fresh_or_derived_jid<'l>(
        &self,
        job: &NewJob<'l>,
        line_text: &[u8],
    ) -> Result<NewJid<'l>, LineFault> {
        let (path, input) = match &self.jids {
            MissingJidSource::Fresh => return Ok(NewJid::Fresh),
            MissingJidSource::Content => {
                let content = jid_from_content_hash([job.queue(), job.klass(), job.data()]);
                return Ok(NewJid::Content(content));
            }
            MissingJidSource::Path(path, input) => (path, input),
        };
        let wrong = |fault: JidFromDataFault<'_>| {
            LineFault::at_offset(
                line_text,
                offset_with_quote(line_text, fault.part),
                fault.why,
            )
        };
        match &job.data {
            // Borrowed data are a part of the line, so an error names the column inside them.
            Some(Cow::Borrowed(data)) => jid_in_data(data, path, input).map_err(wrong),
            _ => match jid_in_data(job.data(), path, input) {
                Ok(jid) => Ok(Cow::Owned(jid.into_owned())),
                Err(fault) => Err(wrong(fault)),
            },
        }
        .map(NewJid::Given)
    }
}

/// The value whose hash assigns a job to one of several members: the value at `shard_by` in its data, else its
/// `key`, because the jobs of a key run in order, else its jid. `None` if any member can get the job.
pub(crate) fn shard_key<'j>(
    job: &'j NewJob,
    jid: Option<&'j [u8]>,
    shard_by: Option<&JsonPath>,
) -> Option<Cow<'j, [u8]>> {
    let data = std::str::from_utf8(job.data()).unwrap_or_default();
    let value = shard_by.and_then(|path| path.find_value(data));
    let value = value.map(|value| match JsonType::from_text(value.get().as_bytes()) {
        JsonType::String => into_bytes(string_text(value)),
        _ => Cow::Borrowed(value.get().as_bytes()),
    });
    let key = job.coordination.option_value(CoordinationOption::Key);
    let key = key.filter(|key| !key.is_empty()).map(Cow::Borrowed);
    value.or(key).or(jid.map(Cow::Borrowed))
}

/// Why data give no jid.
struct JidFromDataFault<'d> {
    /// The part of the data that is wrong.
    part: &'d [u8],
    why: String,
}

fn jid_in_data<'d>(
    data: &'d [u8],
    path: &JsonPath,
    input: &str,
) -> Result<Cow<'d, [u8]>, JidFromDataFault<'d>> {
    let json = std::str::from_utf8(data).unwrap_or_default();
    let Some(value) = path.find_value(json) else {
        let why = format!("its data has no `{input}`");
        return Err(JidFromDataFault { part: data, why });
    };
    let wrong = |what: String| {
        let why = format!("`{input}` {what}");
        Err(JidFromDataFault {
            part: value.get().as_bytes(),
            why,
        })
    };
    let jid = match JsonType::from_text(value.get().as_bytes()) {
        JsonType::String => into_bytes(string_text(value)),
        JsonType::Number => Cow::Borrowed(value.get().as_bytes()),
        shape => {
            return wrong(format!(
                "is {}, not a text or a number",
                shape.name_with_article()
            ));
        }
    };
    match refuse_as_new_jid(&jid) {
        Ok(()) => Ok(jid),
        Err(why) => wrong(why),
    }
}

/// The offset of `part` in `line`, or of its opening quote if there is one. 0 if `part` is from the command line.
pub(crate) fn offset_with_quote(line: &[u8], part: &[u8]) -> usize {
    let at = offset_of_subslice(line, part).unwrap_or(0);
    let is_quoted = at > 0 && line[at - 1] == b'"';
    at - usize::from(is_quoted)
}

/// A jid from the content of a job: half of the SHA-256, in hexadecimal, over queue, klass and data. Each is
/// preceded by its length in bytes and a colon: `4:mail13:Mail::Welcome2:{}`.
fn jid_from_content_hash(queue_klass_data: [&[u8]; 3]) -> [u8; 32] {
    let mut sum = Sha256::new();
    for text in queue_klass_data {
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

/// Adds bytes as hexadecimal digits.
pub(crate) fn append_hex(bytes: &[u8], into: &mut Vec<u8>) {
    for byte in bytes {
        into.extend_from_slice(&HEX[usize::from(*byte)]);
    }
}

/// Makes random UUIDs as new jids, as other clients do. Reads `/dev/urandom` in blocks of 256 jids.
pub(crate) struct UuidSource {
    from: File,
    bytes: Vec<u8>,
}

impl UuidSource {
    pub(crate) fn new() -> Result<UuidSource, Error> {
        let from = File::open("/dev/urandom").map_err(|fault| urandom_error(&fault))?;
        Ok(UuidSource {
            from,
            bytes: Vec::new(),
        })
    }

    pub(crate) fn next_jid(&mut self) -> Result<[u8; 32], Error> {
        if self.bytes.is_empty() {
            self.bytes.resize(256 * 16, 0);
            let read = self.from.read_exact(&mut self.bytes);
            read.map_err(|fault| urandom_error(&fault))?;
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

fn urandom_error(fault: &io::Error) -> Error {
    Error::from_io(Kind::Error, "cannot read `/dev/urandom`", fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fresh_jids_are_random_uuids() {
        let mut fresh = UuidSource::new().unwrap();
        let (one, other) = (fresh.next_jid().unwrap(), fresh.next_jid().unwrap());
        assert_ne!(one, other);
        assert!(one.iter().all(|digit| b"0123456789abcdef".contains(digit)));
        assert_eq!(one[12], b'4');
    }
}
