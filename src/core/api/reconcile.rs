//! What a second reply means if the first one was lost: the call was applied, or another client was
//! faster.
//!
//! The call has a note and is repeated with the same `now`. So a job that it changed has the note in
//! its history, at the whole second of that `now`.

use std::collections::HashMap;

use super::guard::GuardReply;
use crate::clock::moment::Moment;
use crate::core::call::reply;
use crate::core::call::{Core, Value};
use crate::error::Error;
use crate::model::bulk::Code;
use crate::model::bulk::MAX_JOBS_PER_CALL;
use crate::name::Name;

/// A job that this call changed, as it is now.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ChangedJob {
    pub state: Option<Name>,
    pub queue: Option<Name>,
    /// A JSON array.
    pub tags: Vec<u8>,
    pub remaining: i64,
}

/// The reason for a job whose outcome nothing shows.
pub(crate) const LOST: &str = "the reply was lost; the change may or may not have happened";

const LOST_AND_GONE: &str =
    "the reply was lost, and the job no longer exists; the change may or may not have happened";

impl Core {
    /// Returns the jobs that a call with this note changed at this moment.
    pub(crate) fn noted(
        &mut self,
        now: Moment,
        note: &[u8],
        jids: &[&Name],
    ) -> Result<HashMap<Name, ChangedJob>, Error> {
        let entry = [
            format!("[{},\"cli\",", second(now)).as_bytes(),
            note,
            b"]".as_slice(),
        ]
        .concat();
        let mut noted = HashMap::new();
        for jids in jids.chunks(MAX_JOBS_PER_CALL) {
            let fields = "history,shown,queue,tags,remaining";
            for (jid, job) in jids.iter().zip(self.look(now, fields, jids)?) {
                if matches!(job, Value::Nil) {
                    continue;
                }
                if let Some(job) = read(job, &entry)? {
                    noted.insert((*jid).clone(), job);
                }
            }
        }
        Ok(noted)
    }

    /// Corrects the outcomes of guarded calls that were repeated. Returns the jobs that the calls
    /// changed after all.
    pub(crate) fn reconcile(
        &mut self,
        now: Moment,
        note: &[u8],
        repeated: Vec<(&Name, &mut GuardReply)>,
    ) -> HashMap<Name, ChangedJob> {
        let changed = |outcome: &GuardReply| outcome.code == Code::StateChanged;
        let open = repeated.iter().filter(|(_, outcome)| changed(outcome));
        let open: Vec<&Name> = open.map(|(jid, _)| *jid).collect();
        let noted = if open.is_empty() {
            Ok(HashMap::new())
        } else {
            self.noted(now, note, &open)
        };
        for (jid, outcome) in repeated {
            let unknown = match (outcome.code, &noted) {
                (Code::StateChanged, Ok(noted)) => match noted.get(jid) {
                    Some(job) => {
                        outcome.code = Code::Ok;
                        outcome.detail = vec![job.state.clone(), job.queue.clone()];
                        continue;
                    }
                    None => continue,
                },
                (Code::StateChanged, Err(_)) => LOST,
                (Code::Gone, _) => LOST_AND_GONE,
                _ => continue,
            };
            outcome.code = Code::Unknown;
            outcome.detail = vec![Some(Name::from(unknown))];
        }
        noted.unwrap_or_default()
    }
}

impl GuardReply {
    /// Corrects the outcome of a repeated cancel: a job that no longer exists was cancelled.
    pub(crate) fn reconcile_cancel(&mut self) {
        if self.code == Code::Gone {
            self.code = Code::Ok;
            self.detail.clear();
            self.reconciled = true;
        }
    }

    /// Corrects the outcome of a repeated put: an existing job is the one that was put if it is not
    /// older than the put. For a job that was `restored` with its history, its newest put counts.
    pub(crate) fn reconcile_put(&mut self, now: Moment, restored: bool) {
        if self.code != Code::Exists {
            return;
        }
        let since = self.word(usize::from(restored));
        let since = since.and_then(|since| Moment::read(since.as_bytes()));
        if since.is_some_and(|since| second(since) >= second(now)) {
            self.code = Code::Ok;
            self.detail.clear();
        }
    }
}

/// Returns the whole second of a moment, as in histories.
fn second(moment: Moment) -> i64 {
    moment.micros().div_euclid(1_000_000)
}

/// Reads a job if its history has the entry.
fn read(job: Value, entry: &[u8]) -> Result<Option<ChangedJob>, Error> {
    let mut present = ChangedJob::default();
    let mut noted = false;
    for (field, value) in reply::pairs(job)? {
        if field == b"history" {
            for found in reply::list(value)? {
                noted |= reply::bytes(found)? == entry;
            }
            continue;
        }
        let Some(text) = reply::optional(value)? else {
            continue;
        };
        let some = |text: Vec<u8>| (!text.is_empty()).then(|| Name::from(text));
        match field.as_slice() {
            b"shown" => present.state = some(text),
            b"queue" => present.queue = some(text),
            b"tags" => present.tags = text,
            b"remaining" => {
                let text = std::str::from_utf8(&text).unwrap_or_default();
                present.remaining = text.parse::<f64>().unwrap_or_default() as i64;
            }
            _ => {}
        }
    }
    Ok(noted.then_some(present))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(code: Code, detail: &[Option<&str>]) -> GuardReply {
        let detail = detail.iter().map(|word| word.map(Name::from)).collect();
        GuardReply {
            code,
            mark: Vec::new(),
            detail,
            reconciled: false,
        }
    }

    #[test]
    fn an_existing_job_that_is_not_older_than_the_put_was_put() {
        let now: Moment = "1000.7".parse().unwrap();
        for (first, newest, restored, code) in [
            (Some("1000"), Some("1000"), false, Code::Ok),
            (Some("1001"), Some("1001"), false, Code::Ok),
            (Some("999"), Some("1000"), false, Code::Exists),
            (Some("999"), Some("1000"), true, Code::Ok),
            (None, None, false, Code::Exists),
            (None, None, true, Code::Exists),
        ] {
            let mut put = outcome(Code::Exists, &[first, newest]);
            put.reconcile_put(now, restored);
            assert_eq!(put.code, code, "{first:?} {newest:?} {restored}");
        }
    }

    #[test]
    fn a_job_that_a_repeated_cancel_does_not_find_was_cancelled() {
        for (code, corrected) in [
            (Code::Gone, Code::Ok),
            (Code::StateChanged, Code::StateChanged),
            (Code::HasDependents, Code::HasDependents),
        ] {
            let mut cancel = outcome(code, &[]);
            cancel.reconcile_cancel();
            assert_eq!(cancel.code, corrected);
        }
    }
}
