//! What a second answer means where the first one was lost: that the call was applied, or that
//! others were faster (`reliability.md` 4.3 and 4.4).
//!
//! The call carried a note, and was made again with the same `now`: so a job that it changed has the
//! note in its history, at the whole second of that `now`.

use std::collections::HashMap;

use super::guard::GuardReply;
use crate::clock::moment::Moment;
use crate::core::call::Core;
use crate::core::call::Value;
use crate::core::call::reply;
use crate::error::Error;
use crate::model::bulk::Code;
use crate::model::bulk::MAX_JOBS_PER_CALL;
use crate::name::Name;

/// A job that a call of ours has changed, as it is now.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SecondReply {
    pub state: Option<Name>,
    pub queue: Option<Name>,
    /// A JSON array.
    pub tags: Vec<u8>,
    pub remaining: i64,
}

/// Said of a job of which nobody knows.
pub(crate) const LOST: &str = "the answer was lost, it may or may not have happened";

const LOST_AND_GONE: &str =
    "the answer was lost, and the job is gone since; it may or may not have happened";

impl Core {
    /// Returns those of the jobs that a call with this note changed at that moment.
    pub(crate) fn noted(
        &mut self,
        now: Moment,
        note: &[u8],
        jids: &[&Name],
    ) -> Result<HashMap<Name, SecondReply>, Error> {
        let entry = [
            format!("[{},\"cli\",", second(now)).as_bytes(),
            note,
            b"]".as_slice(),
        ]
        .concat();
        let mut noted = HashMap::new();
        for jids in jids.chunks(MAX_JOBS_PER_CALL) {
            let mut words: Vec<&[u8]> = vec![b"history,shown,queue,tags,remaining"];
            words.extend(jids.iter().map(|jid| jid.as_bytes()));
            let found = reply::list(self.call(now, "look.jobs", &words)?)?;
            for (jid, job) in jids.iter().zip(found) {
                if matches!(job, Value::Nil) {
                    continue;
                }
                if let Some(after) = read(job, &entry)? {
                    noted.insert((*jid).clone(), after);
                }
            }
        }
        Ok(noted)
    }

    /// Settles the outcomes of guarded calls that were made again. Returns those of the jobs that
    /// were changed by us after all.
    pub(crate) fn settle(
        &mut self,
        now: Moment,
        note: &[u8],
        again: Vec<(&Name, &mut GuardReply)>,
    ) -> HashMap<Name, SecondReply> {
        let changed = |outcome: &GuardReply| outcome.code == Code::StateChanged;
        let open = again.iter().filter(|(_, outcome)| changed(outcome));
        let open: Vec<&Name> = open.map(|(jid, _)| *jid).collect();
        let noted = match open.is_empty() {
            true => Ok(HashMap::new()),
            false => self.noted(now, note, &open),
        };
        for (jid, outcome) in again {
            let unknown = match (outcome.code, &noted) {
                (Code::StateChanged, Ok(noted)) => match noted.get(jid) {
                    Some(after) => {
                        outcome.code = Code::Ok;
                        outcome.detail = vec![after.state.clone(), after.queue.clone()];
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
    /// Settles a cancel that was made again: what is gone was cancelled.
    pub(crate) fn settle_cancel(&mut self) {
        if self.code == Code::Gone {
            self.code = Code::Ok;
            self.detail.clear();
            self.settled = true;
        }
    }

    /// Settles a put that was made again: a job that exists is the one that was put, if it is no
    /// older than the put. Of one that was `restored` with its history its newest put tells.
    pub(crate) fn settle_put(&mut self, now: Moment, restored: bool) {
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

/// Returns the whole second of a moment, as histories have it.
fn second(moment: Moment) -> i64 {
    moment.micros().div_euclid(1_000_000)
}

/// Reads a job, if its history has the entry.
fn read(job: Value, entry: &[u8]) -> Result<Option<SecondReply>, Error> {
    let mut after = SecondReply::default();
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
            b"shown" => after.state = some(text),
            b"queue" => after.queue = some(text),
            b"tags" => after.tags = text,
            b"remaining" => {
                let text = std::str::from_utf8(&text).unwrap_or_default();
                after.remaining = text.parse::<f64>().unwrap_or_default() as i64;
            }
            _ => {}
        }
    }
    Ok(noted.then_some(after))
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
            settled: false,
        }
    }

    #[test]
    fn a_job_that_is_no_older_than_the_put_was_put() {
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
            put.settle_put(now, restored);
            assert_eq!(put.code, code, "{first:?} {newest:?} {restored}");
        }
    }

    #[test]
    fn what_a_repeated_cancel_does_not_find_was_cancelled() {
        for (told, meant) in [
            (Code::Gone, Code::Ok),
            (Code::StateChanged, Code::StateChanged),
            (Code::HasDependents, Code::HasDependents),
        ] {
            let mut cancel = outcome(told, &[]);
            cancel.settle_cancel();
            assert_eq!(cancel.code, meant);
        }
    }
}
