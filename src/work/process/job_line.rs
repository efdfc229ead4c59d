//! A job as one line of JSON, for programs that receive many.

use serde::Serialize;
use serde_json::value::RawValue;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::clock::moment::Moment;
use crate::error::Error;
use crate::model::popped_job::PoppedJob;
use crate::name::{self, Name};

#[derive(Serialize)]
struct JobLine<'a> {
    #[serde(flatten, serialize_with = "name::jid")]
    jid: &'a Name,
    #[serde(flatten, serialize_with = "name::queue")]
    queue: &'a Name,
    #[serde(flatten, serialize_with = "name::klass")]
    klass: &'a Name,
    /// `null` if the stored bytes are not JSON; `data_bytes` has them then.
    data: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data_bytes: Option<String>,
    #[serde(flatten, serialize_with = "name::tags")]
    tags: &'a Vec<Name>,
    priority: i64,
    attempt: i64,
    retries_left: i64,
    #[serde(flatten, serialize_with = "name::spawned_from")]
    spawned_from: &'a Option<Name>,
    #[serde(flatten, serialize_with = "name::dependencies")]
    dependencies: &'a Vec<Name>,
    expires: Option<Moment>,
    fence: Option<u64>,
    payloads: Option<()>,
}

/// Appends the line of a job, with its newline. The data is copied as it is stored, but line breaks
/// between its tokens become blanks.
pub fn append(job: &PoppedJob, into: &mut Vec<u8>) -> Result<(), Error> {
    let text = std::str::from_utf8(&job.data).ok();
    let data: Option<&RawValue> = text.and_then(|text| serde_json::from_str(text).ok());
    // JSON has no line break within a string.
    let is_one_line = |data: &&RawValue| !data.get().contains(['\n', '\r']);
    let unbroken = match data.filter(|data| !is_one_line(data)) {
        None => None,
        Some(data) => {
            let text = data.get().replace(['\n', '\r'], " ");
            Some(RawValue::from_string(text).map_err(Error::internal)?)
        }
    };
    let line = JobLine {
        jid: &job.jid,
        queue: &job.queue,
        klass: &job.klass,
        data: unbroken.as_deref().or(data),
        data_bytes: data.is_none().then(|| STANDARD.encode(&job.data)),
        tags: &job.tags,
        priority: job.priority,
        attempt: job.attempt(),
        retries_left: job.remaining,
        spawned_from: &job.spawned_from,
        dependencies: &job.dependencies,
        expires: Moment::from_seconds(job.expires),
        fence: None,
        payloads: None,
    };
    into.reserve(job.data.len() + 256);
    serde_json::to_writer(&mut *into, &line).map_err(Error::internal)?;
    into.push(b'\n');
    Ok(())
}
