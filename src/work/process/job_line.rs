//! A job as one line of JSON, for programs that receive many.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::clock::moment::Moment;
use crate::error::Error;
use crate::json::quote::quote_string;
use crate::json::write;
use crate::model::popped_job::PoppedJob;
use crate::name::Name;

#[derive(Serialize)]
struct JobLine<'a> {
    jid: &'a Name,
    queue: &'a Name,
    klass: &'a Name,
    /// `null` if the stored data is not JSON. Then `data_bytes` has the data in Base64.
    data: Option<OneLineJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data_bytes: Option<String>,
    tags: &'a Vec<Name>,
    priority: i64,
    attempt: i64,
    retries_left: i64,
    spawned_from: &'a Option<Name>,
    dependencies: &'a Vec<Name>,
    expires: Option<Moment>,
    key: &'a Option<Name>,
    fence: Option<u64>,
    /// Absent unless the job is a merge job.
    payloads: Option<Vec<(Option<OneLineJson<'a>>, &'a RawValue)>>,
}

/// JSON on one line. Line breaks between its tokens have become blanks. Strings of JSON hold no line breaks.
#[derive(Serialize)]
#[serde(transparent)]
struct OneLineJson<'a>(Cow<'a, RawValue>);

/// The stored JSON with a blank for each line break. `None` if the bytes are not JSON.
fn without_line_breaks(stored: &[u8]) -> Result<Option<OneLineJson<'_>>, Error> {
    let text = std::str::from_utf8(stored).ok();
    let value: Option<&RawValue> = text.and_then(|text| serde_json::from_str(text).ok());
    let Some(value) = value else {
        return Ok(None);
    };
    if !value.get().contains(['\n', '\r']) {
        return Ok(Some(OneLineJson(Cow::Borrowed(value))));
    }
    let text = value.get().replace(['\n', '\r'], " ");
    let value = RawValue::from_string(text).map_err(Error::internal)?;
    Ok(Some(OneLineJson(Cow::Owned(value))))
}

/// Appends the line of a job, with its newline. The data is copied as it is stored, but line breaks
/// between its tokens become blanks.
pub fn append_job_line<'j>(job: &'j PoppedJob, into: &mut Vec<u8>) -> Result<(), Error> {
    let data = without_line_breaks(&job.data)?;
    let payload = |(payload, score): &'j (Vec<u8>, String)| {
        let score: &RawValue = serde_json::from_str(score).map_err(Error::internal)?;
        Ok((without_line_breaks(payload)?, score))
    };
    let payloads = if job.payloads.is_empty() {
        None
    } else {
        Some(
            job.payloads
                .iter()
                .map(payload)
                .collect::<Result<_, Error>>()?,
        )
    };
    let line = JobLine {
        jid: &job.jid,
        queue: &job.queue,
        klass: &job.klass,
        data_bytes: data.is_none().then(|| STANDARD.encode(&job.data)),
        data,
        tags: &job.tags,
        priority: job.priority,
        attempt: job.attempt_number(),
        retries_left: job.remaining,
        spawned_from: &job.spawned_from,
        dependencies: &job.dependencies,
        expires: Moment::from_seconds(job.expires),
        key: &job.key,
        fence: job.fence,
        payloads,
    };
    into.reserve(job.data.len() + 256);
    write::write_unsanitized_compact(&line, into).map_err(Error::internal)?;
    into.push(b'\n');
    Ok(())
}

/// The line of JSON that tells a persistent process to drop a job.
pub(in crate::work) fn cancel_line(jid: &Name) -> Vec<u8> {
    let mut line = b"{\"jid\":".to_vec();
    line.extend(quote_string(jid.as_bytes()));
    line.extend(b",\"cancel\":true}\n");
    line
}
