//! Reads everything that is stored about jobs, for an export.

use serde::Deserialize;

use super::job::read_jobs;
use super::page::ScanCursor;
use crate::clock::moment::Moment;
use crate::core::call::reply::Bytes;
use crate::core::call::reply::JobsPerReply;
use crate::core::call::{Call, Core, calls};
use crate::error::Error;
use crate::model::export::{ExportedJob, PausedQueue};
use crate::name::Name;

use super::index::Index;

/// Maximum number of jobs that one call returns. It is low, because each job comes with its whole history.
const MAX_JOBS_PER_EXPORT_CALL: usize = 200;

/// Reads jobs with all stored fields and their history, in slices of about equal size in bytes.
#[derive(Debug)]
pub(crate) struct ExportedJobReader<'a> {
    remaining: &'a [Name],
    size: JobsPerReply,
}

impl<'a> ExportedJobReader<'a> {
    pub(crate) fn new(jids: &'a [Name]) -> ExportedJobReader<'a> {
        ExportedJobReader {
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
    ) -> Result<Option<Vec<ExportedJob>>, Error> {
        if self.remaining.is_empty() {
            return Ok(None);
        }
        let (slice, rows) =
            core.read_next_slice(now, "full", &mut self.remaining, &mut self.size)?;
        let jobs = read_jobs(slice, rows)?.into_iter().flatten();
        Ok(Some(jobs.map(ExportedJob::new).collect()))
    }
}

/// Reads the jids of all jobs, or of all recurring jobs, from the names of their keys. So it also finds jobs that are
/// missing from all indexes.
#[derive(Debug)]
pub(crate) struct StoredJidScan {
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

impl StoredJidScan {
    pub(crate) fn new(id_kind: &'static str) -> StoredJidScan {
        StoredJidScan {
            kind: id_kind,
            cursor: ScanCursor::new(),
        }
    }

    /// The next ids, `None` at the end. A slice may be empty, and an id may come twice.
    pub(crate) fn ids_of_next_scan_step(
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
            .advance_or_restart_if_moved(core, "look.scan", page.next)?;
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
