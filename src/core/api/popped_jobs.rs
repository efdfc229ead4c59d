//! Reads the jobs that a worker receives from a pop, and the jobs that it already holds.

use crate::clock::moment::Moment;
use crate::core::call::Core;
use crate::core::call::reply;
use crate::error::Error;
use crate::json;
use crate::model::job::{Job, MergePayload};
use crate::model::popped_job::PoppedJob;
use crate::name::{Name, lossless_text};

/// Reads the JSON text of popped jobs, a part of the reply to `call`, which errors name. Skips the history of the jobs.
pub fn read_popped_jobs(call: &str, bytes: &[u8]) -> Result<Vec<PoppedJob>, Error> {
    if bytes == b"{}" {
        return Ok(Vec::new());
    }
    let mut jobs: Vec<PoppedJob> = serde_json::from_str(&lossless_text(bytes))
        .map_err(|why| reply::unexpected_reply(call, why))?;
    // Jobs of one reply mostly have the same class and queue: share the names with the job before.
    for at in 1..jobs.len() {
        let (before, rest) = jobs.split_at_mut(at);
        let (last, job) = (&before[at - 1], &mut rest[0]);
        if job.klass == last.klass {
            job.klass = last.klass.clone();
        }
        if job.queue == last.queue {
            job.queue = last.queue.clone();
        }
    }
    Ok(jobs)
}

impl Core {
    /// Reads these jobs, and keeps only the ones that the worker still holds.
    pub(super) fn jobs_still_held(
        &mut self,
        now: Moment,
        worker: &Name,
        jids: &[Name],
    ) -> Result<Vec<PoppedJob>, Error> {
        let fields = "jid,state,shown,worker,klass,queue,data,tags,priority,retries,remaining,expires,\
                      spawned_from_jid,dependencies,key,fence,payloads";
        let jobs = self
            .jobs_with_fields(now, fields, jids)?
            .into_iter()
            .flatten();
        let held = jobs.filter(|job| job.worker.as_ref() == Some(worker));
        Ok(held.map(popped_job_from_job).collect())
    }
}

/// A job as pop would return it.
fn popped_job_from_job(job: Job) -> PoppedJob {
    let whole = |number: Option<json::Number>| number.map_or(0, |number| number.0 as i64);
    let payloads = job.payloads.into_iter();
    let payload = |payload: MergePayload| {
        let score = payload.score.to_string();
        (payload.data.as_bytes().to_vec(), score)
    };
    PoppedJob {
        jid: job.jid,
        klass: job.klass.unwrap_or_default(),
        queue: job.queue.unwrap_or_default(),
        data: job.data.as_bytes().to_vec(),
        tags: job.tags,
        priority: whole(job.priority),
        retries: whole(job.retries),
        remaining: whole(job.remaining),
        expires: job.expires.map_or(0.0, Moment::seconds),
        spawned_from: job.spawned_from,
        dependencies: job.dependencies,
        key: job.key,
        fence: job.fence.map(|fence| fence.0 as u64),
        payloads: payloads.map(payload).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_of_a_popped_job_is_kept() {
        let reply = b"[{\"jid\":\"\xff\xf4\x8f\xbe\x80\",\"klass\":\"K\xf4\x8f\xbe\x80\",\"queue\":false,\"data\":\"{\\n}\",\
            \"tags\":{},\"history\":[{\"what\":\"put\"}],\"priority\":1.5,\"spawned_from_jid\":false,\"fence\":7,\
            \"payloads\":[[\"1\",2.50]]}]";
        let jobs = read_popped_jobs("pop", reply).unwrap();
        let expected = PoppedJob {
            jid: Name::from(b"\xff\xf4\x8f\xbe\x80".as_slice()),
            klass: Name::from("K\u{10FF80}"),
            data: b"{\n}".to_vec(),
            priority: 1,
            fence: Some(7),
            payloads: vec![(b"1".to_vec(), "2.50".to_owned())],
            ..PoppedJob::default()
        };
        assert_eq!(jobs, [expected]);
    }
}
