//! Finds the jids of all jobs, page by page, with plain SCAN, and reads some of their fields with plain HMGET.
//!
//! Inside a script these reads would cost the server three times as much, and block other clients (`make bench`: `jobs
//! --where`). So they only find candidates. `look.jobs` reads each candidate again, and its reply decides whether the
//! job matches. Key names come from `lua/keys.lua`.

use crate::clock::moment::Moment;
use crate::core::call::reply::{Bytes, unexpected_reply};
use crate::core::call::{Call, Core};
use crate::core::script::keys::{self, Keys};
use crate::error::{Error, Kind};
use crate::model::bulk::MAX_JOBS_PER_CALL;
use crate::name::Name;

/// The number of keys that one SCAN examines, which takes the server less than a millisecond.
const KEYS: &str = "500";

/// The cursor of a scan, and the server that issued it: another server cannot continue from it.
///
/// If the data moves to another server, the scan begins again, at most once.
#[derive(Debug)]
pub(crate) struct ScanCursor {
    /// `None` at the end.
    next: Option<Vec<u8>>,
    route: Option<u64>,
    began_again: bool,
}

impl ScanCursor {
    pub(crate) fn new() -> ScanCursor {
        ScanCursor {
            next: Some(b"0".to_vec()),
            route: None,
            began_again: false,
        }
    }

    /// The cursor for the next call; `None` at the end.
    pub(crate) fn next_cursor(&mut self, core: &Core) -> Option<Vec<u8>> {
        self.route.get_or_insert_with(|| core.route_version());
        self.next.clone()
    }

    /// Stores the cursor from the reply to `call`. If the data has moved to another server, begins the scan again, or
    /// fails if it had begun again before.
    pub(crate) fn advance_or_restart_if_moved(
        &mut self,
        core: &mut Core,
        call: &str,
        Bytes(cursor): Bytes,
    ) -> Result<(), Error> {
        if cursor == b"0" {
            self.next = None;
            core.follow_moving_keys()?;
        } else if self.next.replace(cursor) == self.next {
            return Err(unexpected_reply(call, "the scan does not advance"));
        }
        let route = core.route_version();
        if self.route == Some(route) {
            return Ok(());
        }
        if self.began_again {
            return Err(core.moved_while_scanning());
        }
        *self = ScanCursor {
            route: Some(route),
            began_again: true,
            ..ScanCursor::new()
        };
        Ok(())
    }
}

/// Reads the jids of all jobs, in no order.
#[derive(Debug)]
pub(crate) struct JobScan {
    cursor: ScanCursor,
    /// The beginning of the jids.
    beginning: Vec<u8>,
}

impl Default for JobScan {
    fn default() -> JobScan {
        JobScan::of_jids_beginning_with(b"")
    }
}

impl JobScan {
    /// Reads only the jids that begin so.
    pub(crate) fn of_jids_beginning_with(jid_start: &[u8]) -> JobScan {
        JobScan {
            cursor: ScanCursor::new(),
            beginning: jid_start.to_vec(),
        }
    }

    /// The next jids, `None` at the end. A page may be empty, and a jid may come twice.
    pub(crate) fn jids_of_next_scan_step(
        &mut self,
        core: &mut Core,
        now: Moment,
    ) -> Result<Option<Vec<Name>>, Error> {
        let Some(cursor) = self.cursor.next_cursor(core) else {
            return Ok(None);
        };
        let prefix = Keys::new(core.prefix()).with_prefix(keys::JOB);
        // Only the beginning of the jid is escaped: a prefix cannot contain special characters of a pattern.
        let mut pattern = prefix.as_bytes().to_vec();
        for byte in &self.beginning {
            if b"*?[]\\".contains(byte) {
                pattern.push(b'\\');
            }
            pattern.push(*byte);
        }
        pattern.push(b'*');
        let call = Call::redis_read_command("SCAN")
            .arg(cursor)
            .arg("MATCH")
            .arg(pattern)
            .arg("COUNT")
            .arg(KEYS)
            .arg("TYPE")
            .arg("hash");
        let (cursor, keys): (Bytes, Vec<Bytes>) = core.call(now, call)?;
        self.cursor
            .advance_or_restart_if_moved(core, "SCAN", cursor)?;
        let jid = |Bytes(key): Bytes| Name::from(key.get(prefix.len()..).unwrap_or_default());
        Ok(Some(keys.into_iter().map(jid).collect()))
    }
}

impl Core {
    /// The stored values of the named fields of each job, in the order of the jids. A missing field is `None`.
    pub fn stored_job_fields(
        &mut self,
        now: Moment,
        names: &[&str],
        jids: &[Name],
    ) -> Result<Vec<Vec<Option<Vec<u8>>>>, Error> {
        let prefix = Keys::new(self.prefix()).with_prefix(keys::JOB);
        let mut fields = Vec::with_capacity(jids.len());
        for slice in jids.chunks(MAX_JOBS_PER_CALL) {
            let calls: Vec<Call> = slice
                .iter()
                .map(|jid| {
                    let key = [prefix.as_bytes(), jid.as_bytes()].concat();
                    Call::redis_read_command("HMGET").arg(key).args(names)
                })
                .collect();
            for reply in self.call_all::<Vec<Option<Bytes>>>(now, &calls) {
                let values = match reply {
                    // A key of another type is not a job: it has no values.
                    Err(error) if error.kind() == Kind::WrongKeyType => Vec::new(),
                    values => values?,
                };
                let values = values
                    .into_iter()
                    .map(|value| value.map(|Bytes(text)| text));
                fields.push(values.collect());
            }
        }
        Ok(fields)
    }
}
