//! Reads everything that is stored about jobs, for an export.

use serde::Deserialize;

use super::job::{self, JobRow};
use super::page::ScanCursor;
use crate::clock::moment::Moment;
use crate::core::call::jobs_per_reply::JobsPerReply;
use crate::core::call::reply::Bytes;
use crate::core::call::{Call, Core, Value, calls};
use crate::error::Error;
use crate::json::Json;
use crate::json::quote::quote_as_core;
use crate::model::export::{PausedQueue, SavedJob};
use crate::model::job::{HistoryEntry, State};
use crate::name::Name;

use super::index::Index;

/// Maximum number of jobs that one call returns. It is low, because each job comes with its whole history.
const MAX_JOBS_PER_EXPORT_CALL: usize = 200;

/// Reads jobs with all stored fields and their history, in slices of about equal size in bytes.
#[derive(Debug)]
pub(crate) struct ExportReader<'a> {
    remaining: &'a [Name],
    size: JobsPerReply,
}

impl<'a> ExportReader<'a> {
    pub(crate) fn new(jids: &'a [Name]) -> ExportReader<'a> {
        ExportReader {
            remaining: jids,
            // The first call reads only 20 jobs, because their size is not known yet.
            size: JobsPerReply::new(20, MAX_JOBS_PER_EXPORT_CALL),
        }
    }

    /// The next jobs, each as it was at one moment, `None` at the end. Jobs that no longer
    /// exist are skipped.
    pub(crate) fn next_jobs(
        &mut self,
        core: &mut Core,
        now: Moment,
    ) -> Result<Option<Vec<SavedJob>>, Error> {
        if self.remaining.is_empty() {
            return Ok(None);
        }
        let (slice, replies) =
            core.read_next_slice(now, "full", &mut self.remaining, &mut self.size)?;
        let mut jobs = Vec::with_capacity(slice.len());
        for (jid, job) in slice.iter().zip(replies) {
            if !matches!(job, Value::Nil) {
                jobs.push(read_saved_job(jid, job)?);
            }
        }
        Ok(Some(jobs))
    }
}

/// Reads the jids of all jobs, or of all recurring jobs, from the names of their keys. So it also finds jobs that are
/// missing from all indexes.
#[derive(Debug)]
pub(crate) struct StoredIdScan {
    kind: &'static str,
    cursor: ScanCursor,
}

/// The reply of `look.scan`.
#[derive(Deserialize)]
#[serde(rename = "row")]
struct IdPage {
    /// The cursor of the next page, `0` after the last one.
    next: Bytes,
    #[serde(rename = "..")]
    ids: Vec<Name>,
}

impl StoredIdScan {
    pub(crate) fn new(id_kind: &'static str) -> StoredIdScan {
        StoredIdScan {
            kind: id_kind,
            cursor: ScanCursor::new(),
        }
    }

    /// The next ids, `None` at the end. A slice may be empty, and an id may come twice.
    pub(crate) fn next_ids(
        &mut self,
        core: &mut Core,
        now: Moment,
    ) -> Result<Option<Vec<Name>>, Error> {
        let Some(cursor) = self.cursor.next_cursor(core) else {
            return Ok(None);
        };
        let call = Call::new(calls::LOOK_SCAN).arg(self.kind).arg(cursor);
        let page: IdPage = core.call(now, call.arg("1000"))?;
        self.cursor
            .advance_or_restart(core, "look.scan", page.next)?;
        Ok(Some(page.ids))
    }
}

impl Core {
    /// The paused queues by name.
    pub fn paused_queues(&mut self, now: Moment) -> Result<Vec<PausedQueue>, Error> {
        let names = self.index_members(now, &Index::Paused)?;
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let queues = self.queues(now, &names)?.into_iter();
        let paused = queues.filter(|queue| queue.paused);
        let paused = paused.map(|queue| PausedQueue {
            queue: queue.name,
            since: queue.paused_since,
            until: queue.paused_until,
            reason: queue.paused_reason,
            by: queue.paused_by,
        });
        Ok(paused.collect())
    }
}

fn read_saved_job(jid: &Name, fields: Value) -> Result<SavedJob, Error> {
    let JobRow {
        mut job,
        mut entries,
        legacy,
        mut due,
        scheduled,
    } = job::read_job_row(jid, fields)?;
    if let Some(legacy) = legacy {
        entries.append(&mut history_entries_from_legacy(&legacy));
    }
    let history = entries.iter().map(Name::as_bytes);
    job.history = Some(history.filter_map(HistoryEntry::from_stored).collect());
    if job.state == Some(State::Depends) {
        due = scheduled;
    }
    Ok(SavedJob::new(job, &entries, due))
}

/// The entries that the core will make from a history that is still one JSON document, as old versions stored it.
fn history_entries_from_legacy(legacy: &Json) -> Vec<Name> {
    let mut entries = Vec::new();
    for item in legacy.array().unwrap_or_default() {
        let fields = item.object().unwrap_or_default();
        let field = |name: &str| {
            let mut fields = fields.iter();
            let found = fields.find(|(key, _)| key.as_bytes() == name.as_bytes());
            found.map(|(_, value)| value)
        };
        let text = |name: &str| {
            let value = field(name);
            let text =
                value.and_then(|value| value.text().or_else(|| Some(value.to_single_line())));
            quote_as_core(text.unwrap_or_default().as_bytes())
        };
        for (name, what) in [
            ("put", "put"),
            ("popped", "popped"),
            ("failed", "failed"),
            ("done", "done"),
        ] {
            let when = field(name).and_then(|when| match when.text() {
                Some(text) => text.as_str()?.trim().parse().ok(),
                None => when.number(),
            });
            let Some(when) = when.filter(|when: &f64| when.is_finite()) else {
                continue;
            };
            let mut entry = format!("[{:.0},\"{what}\"", when.floor()).into_bytes();
            let noted = match what {
                "put" => Some(("q", text("q"))),
                "popped" => Some(("worker", text("worker"))),
                _ => None,
            };
            if let Some((key, value)) = noted {
                entry.extend(format!(",{{\"{key}\":").into_bytes());
                entry.extend(value);
                entry.push(b'}');
            }
            entry.push(b']');
            entries.push(Name::from(entry));
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_in_the_old_form_becomes_entries() {
        let old = r#"[{"put":1.7,"q":"a/b","popped":"3","worker":"w","failed":null},{"done":9},7]"#;
        let entries = history_entries_from_legacy(&Json::parse(old.as_bytes()).unwrap());
        let texts: Vec<&str> = entries.iter().filter_map(Name::as_str).collect();
        assert_eq!(
            texts,
            [
                r#"[1,"put",{"q":"a\/b"}]"#,
                r#"[3,"popped",{"worker":"w"}]"#,
                r#"[9,"done"]"#
            ]
        );
    }
}
