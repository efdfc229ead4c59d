//! The scan that finds candidates for findings. The core verifies them with `check.slice`, and only its verdicts are
//! reported: a false candidate only costs a call, but a missed candidate hides a finding.
//!
//! The scan reads the indexes first, and adds each entry to a table of unmatched entries (`unmatched`). Then it reads
//! all keys with SCAN. For each job, it removes the entries that the job should have from the table. No list names
//! all lanes and throttles, so the SCAN finds their keys: an entry and its job match in either order. Missing entries,
//! and entries that remain, are candidates. If the table is too small, another pass covers the rest of the entries. So
//! the memory is bounded, whatever the size of the database.

mod dependencies;
mod extra_reads;
mod index;
mod jobs;
mod keys;
mod rescan;
mod set;
mod settings;
mod unmatched;
pub mod validate;

use std::collections::{HashMap, HashSet};

use crate::clock::moment::Moment;
use crate::core::api::read::{PAGE, ReadCommand, ReadReply, WireEncodedFieldNames};
use crate::core::call::Core;
use crate::core::script::keys::{KeyFamily, Keys};
use crate::error::{Error, Kind as Fault};
pub use crate::model::check::ScanCounts;
use crate::model::verdict::{ItemKind, ItemLocation};
use crate::name::Name;

use dependencies::DependencyEdges;
use keys::ReadPipeline;
use rescan::FailedTally;
pub use unmatched::MAX_TABLE_SLOTS;
use unmatched::{SaltedHasher, UnmatchedTable};

/// The receiver of candidates.
pub trait CandidateSink {
    /// Takes a candidate to verify. The scan may report the same candidate more than once.
    fn take_candidate(
        &mut self,
        core: &mut Core,
        location: &ItemLocation,
        item: Name,
    ) -> Result<(), Error>;

    /// Takes a large candidate, to verify it in a call of its own: a call for several would block the server for long.
    fn take_candidate_for_own_call(
        &mut self,
        core: &mut Core,
        location: &ItemLocation,
        item: Name,
    ) -> Result<(), Error> {
        self.take_candidate(core, location, item)
    }

    /// Takes candidates to verify in one call: the jobs of a dependency cycle, or all jobs that list one job as a
    /// dependent although this job does not list them as dependencies.
    fn take_candidates_to_verify_together(
        &mut self,
        core: &mut Core,
        location: &ItemLocation,
        items: Vec<Name>,
    ) -> Result<(), Error> {
        let mut items = items.into_iter();
        items.try_for_each(|item| self.take_candidate(core, location, item))
    }

    /// Notes a job that another job lists as a dependent, although the job does not list that dependency. A repair
    /// must not release the job before it has repaired the dependency.
    fn note_one_sided_dependency(&mut self, _jid: &[u8]) {}

    /// Notes that a set of dependents is unreadable: then any job may have a dependency that only the other job lists.
    fn note_unreadable_dependents(&mut self) {}

    /// Notes a job that lost its dependencies, with all jobs that still list it as a dependent. A repair must not
    /// restore the dependencies unless the core has verified all of them.
    fn note_dependencies_to_restore(&mut self, _job: &[u8], _jobs_still_listing_it: &[Name]) {}

    /// Notes an item that no call can verify, and the reason.
    fn note_unverifiable_item(&mut self, _item: Name, _why: &str) {}

    /// Notes that a pass over all keys begins. The scan takes several passes if its tables are too small.
    fn note_scan_pass_start(&mut self) {}

    /// Notes what was scanned since the last call, and waits as long as the pace requires. An error ends the scan.
    fn note_and_pace_keys_scanned(
        &mut self,
        core: &mut Core,
        since_last: ScanCounts,
    ) -> Result<(), Error>;

    /// Notes the number of members read since the last call, and waits as long as the pace requires. A member that is
    /// read twice counts twice. An error ends the scan.
    fn pace_members_read(&mut self, core: &mut Core, members: usize) -> Result<(), Error>;

    /// The maximum number of keys or members of one read, if the pace limits it.
    fn max_members_per_read(&self) -> usize {
        usize::MAX
    }

    /// Notes that a job may be running in a queue that is not listed. The core would not see its lock, since it looks
    /// for locks in listed queues only.
    fn note_lock_in_unlisted_queue(&mut self);

    /// Notes that the scan has read everything: verifies the candidates that wait. The candidates that follow are the
    /// ones that require a complete scan: jobs in `depends` without dependencies, names in the list of tags, and
    /// counters of failed jobs.
    fn verify_waiting_and_end_scan_phase(&mut self, core: &mut Core) -> Result<(), Error>;
}

/// Scans all keys. `queues` are the queues whose candidates it reports, empty for all. The table of unmatched entries has
/// up to `table_slots` slots, a power of two. Fewer slots take more passes.
pub fn run_scan(
    core: &mut Core,
    now: Moment,
    queues: &[Name],
    sink: &mut dyn CandidateSink,
    table_slots: usize,
) -> Result<(), Error> {
    Scanner::new(core, now, queues, sink, table_slots).run_passes()
}

/// Maximum number of candidates that wait until one round trip reads their queues.
const MAX_UNDECIDED: usize = 200;

/// Maximum number of keys or members of one read, during which the server serves no other client.
const MAX_READ: usize = 4000;

/// Minimum number of keys or members of one read, however slow the pace is.
const MIN_READ: usize = 10;

/// The longest plausible time to the expiry of a lock, in seconds: 100 days.
const MAX_LOCK: f64 = 8_640_000.0;

/// A time in the future by more than this number of seconds makes a candidate, where only past times are expected.
const MAX_CLOCK_DRIFT: f64 = 3600.0;

/// Replies in the order of their reads.
type Replies = std::vec::IntoIter<ReadReply>;

struct Scanner<'a> {
    core: &'a mut Core,
    now: Moment,
    /// The queues whose candidates the scan reports. If empty, it reports the candidates of all queues.
    queues: &'a [Name],
    sink: &'a mut dyn CandidateSink,
    /// Maximum number of keys or members of one read.
    max_members_per_read: usize,
    keys: Keys,
    salt: SaltedHasher,
    unmatched: UnmatchedTable,
    /// Whether this is the first pass. Later passes only match entries for which the table had no room before.
    first_pass: bool,
    /// The version of the route to the server when the scan began. If the version changes, the keys have moved.
    first_route_version: u64,
    /// Whether the scan reads the indexes again to find the names of unmatched entries, instead of adding entries.
    rescanning: bool,
    /// Whether unlisted sets were scanned.
    has_unlisted: bool,
    known: HashSet<u64>,
    /// By queue, the maximum number of running jobs that an option sets.
    limits: HashMap<Vec<u8>, f64>,
    /// The number of jobs that each recurring job has put, by its id.
    template_counts: HashMap<Vec<u8>, Option<f64>>,
    tally: FailedTally,
    cycles: DependencyEdges,
    /// Candidates whose queue is not known yet.
    undecided: Vec<(ItemLocation, Name)>,
    deferred: Vec<(ItemLocation, Name)>,
    deferred_bytes: usize,
    /// Hashes of the jobs in `depends` for which the scan found no dependencies.
    without_dependencies: HashSet<u64>,
    /// Whether keys may have expiries.
    expiring: bool,
    has_tracked: bool,
    /// Whether the list of the times of failures has any entry.
    has_failed_times: bool,
    /// Whether any queue has a list of its completed jobs.
    has_completed_in: bool,
    /// Whether the user may read hashes whole.
    reads_whole: bool,
    job_fields: WireEncodedFieldNames,
    template_fields: WireEncodedFieldNames,
    state_fields: WireEncodedFieldNames,
    pipeline: ReadPipeline,
    /// Maximum number of requests that wait for their replies; 0 if the pace is slow.
    max_ahead: usize,
    /// The total bytes and the number of the jobs read, from which the mean size of a job follows.
    bytes_and_jobs: (u64, u64),
}

impl<'a> Scanner<'a> {
    fn new(
        core: &'a mut Core,
        now: Moment,
        queues: &'a [Name],
        sink: &'a mut dyn CandidateSink,
        table_slots: usize,
    ) -> Scanner<'a> {
        let max_ahead = match sink.max_members_per_read() {
            usize::MAX => keys::MAX_AHEAD,
            _ => 0,
        };
        Scanner {
            keys: Keys::new(core.prefix()),
            core,
            now,
            queues,
            max_members_per_read: sink.max_members_per_read().min(MAX_READ),
            sink,
            salt: SaltedHasher::default(),
            unmatched: UnmatchedTable::new(table_slots),
            first_route_version: 0,
            first_pass: true,
            rescanning: false,
            has_unlisted: false,
            known: HashSet::new(),
            limits: HashMap::new(),
            template_counts: HashMap::new(),
            tally: FailedTally::default(),
            cycles: DependencyEdges::default(),
            undecided: Vec::new(),
            deferred: Vec::new(),
            deferred_bytes: 0,
            without_dependencies: HashSet::new(),
            expiring: true,
            has_tracked: false,
            has_failed_times: false,
            has_completed_in: false,
            reads_whole: false,
            job_fields: WireEncodedFieldNames::new(&jobs::FIELDS),
            template_fields: WireEncodedFieldNames::new(&settings::TEMPLATE_FIELDS),
            state_fields: WireEncodedFieldNames::new(&dependencies::STATE_FIELDS),
            pipeline: ReadPipeline::default(),
            max_ahead,
            bytes_and_jobs: (0, 0),
        }
    }

    fn run_passes(mut self) -> Result<(), Error> {
        let server = self.server_run_id()?;
        self.first_route_version = self.core.route_version();
        self.expiring = !self.core.no_key_expires(self.now)?;
        self.reads_whole = self.core.may_user_read_whole_hashes(self.now)?;
        loop {
            self.scan_listed_indexes()?;
            self.scan_keys()?;
            self.rescan_to_name_unmatched_hashes()?;
            self.first_pass = false;
            self.known.clear();
            if !self.unmatched.begin_next_hash_range_if_any() {
                break;
            }
        }
        self.unmatched = UnmatchedTable::new(1);
        self.add_cycle_candidates()?;
        self.decide_undecided_by_queue()?;
        self.sink.verify_waiting_and_end_scan_phase(self.core)?;
        self.run_checks_deferred_to_end()?;
        self.decide_undecided_by_queue()?;
        self.core.follow_moving_keys()?;
        self.require_unmoved_keys()?;
        // If the server restarted during the scan, its old cursors were meaningless, and the scan may have missed keys.
        if self.server_run_id()? != server {
            let message = format!("lost `{}` while reading", self.core.address());
            return Err(Error::new(Fault::Unreachable, message));
        }
        Ok(())
    }

    /// Ends the scan with an error if the keys have moved to another server, where the scan's cursors mean nothing.
    fn require_unmoved_keys(&self) -> Result<(), Error> {
        if self.core.route_version() == self.first_route_version {
            Ok(())
        } else {
            Err(self.core.moved_while_scanning())
        }
    }

    /// The run id of the server, if the server reports one. If the connection was lost, any read opens a new one. So
    /// this sends a read, then asks for the id again.
    fn server_run_id(&mut self) -> Result<Option<String>, Error> {
        if let Some(id) = self.core.read_run_id() {
            return Ok(Some(id));
        }
        self.core.no_key_expires(self.now)?;
        Ok(self.core.read_run_id())
    }

    fn add_key_and_its_job_in_first_pass(&mut self, key: &[u8]) -> Result<(), Error> {
        if self.first_pass {
            self.add_key_and_its_job(key)
        } else {
            Ok(())
        }
    }

    /// Adds a key as a candidate. If it is a key of a job, also adds the job.
    fn add_key_and_its_job(&mut self, key: &[u8]) -> Result<(), Error> {
        self.add_key_candidate(key)?;
        match self.keys.without_job_prefix(key) {
            Some(jid) => self.add_job_candidate(jid),
            None => Ok(()),
        }
    }

    fn add_job_candidate(&mut self, jid: &[u8]) -> Result<(), Error> {
        self.add_candidate_if_in_scope(ItemKind::Job, b"", jid)
    }

    fn add_key_candidate(&mut self, key: &[u8]) -> Result<(), Error> {
        let bare = self.keys.without_prefix(key).to_vec();
        self.add_candidate_if_in_scope(ItemKind::Key, b"", &bare)
    }

    /// The number of pages to read in one round trip, up to `wanted`.
    fn pages_per_round_trip(&self, wanted: usize) -> usize {
        wanted.min(self.max_members_per_read / MIN_READ).max(1)
    }

    /// The number of members to read per page, if one round trip reads `pages` pages.
    fn members_per_page(&self, pages: usize) -> usize {
        (self.max_members_per_read / pages.max(1)).clamp(MIN_READ, PAGE)
    }

    fn run_reads(&mut self, reads: Vec<ReadCommand>) -> Result<Vec<ReadReply>, Error> {
        self.core.run_reads(self.now, reads)
    }

    fn now_in_seconds(&self) -> f64 {
        self.now.seconds()
    }
}

/// Passes on only the candidates of the queues that `--queue` selects. The scan reads all keys in any case, because
/// some findings, such as missing dependents, require all of them.
impl Scanner<'_> {
    fn covers_all_queues(&self) -> bool {
        self.queues.is_empty()
    }

    /// Whether a queue is scanned.
    fn is_in_scope(&self, queue: &[u8]) -> bool {
        let named = |name: &Name| name.as_bytes() == queue;
        self.covers_all_queues() || self.queues.iter().any(named)
    }

    fn add_candidate_if_in_scope(
        &mut self,
        kind: ItemKind,
        name: &[u8],
        item: &[u8],
    ) -> Result<(), Error> {
        let location = ItemLocation::new(kind, name);
        let item = Name::from(item);
        use ItemKind::{
            CompletedIn, Depends, Failed, FailedTimes, Job, Key, Lane, Locks, Names, Pending,
            Recur, Recurring, Scheduled, Slots, Throttled, Work,
        };
        let is_in_scope = match kind {
            _ if self.covers_all_queues() => true,
            Work | Locks | Scheduled | Depends | Throttled | Recur | CompletedIn
                if self.is_in_scope(name) =>
            {
                true
            }
            // A job of a selected queue may be in a set of another queue, in a lane or in a throttle. So read the
            // queue of the job first.
            Work | Locks | Scheduled | Depends | Throttled | Recur | Job | Failed | Recurring
            | Lane | Slots | Pending | FailedTimes => {
                self.undecided.push((location, item));
                return if self.undecided.len() >= MAX_UNDECIDED {
                    self.decide_undecided_by_queue()
                } else {
                    Ok(())
                };
            }
            Names => {
                matches!(name, b"queues" | b"paused_queues") && self.is_in_scope(item.as_bytes())
            }
            Key => {
                let key = [self.keys.with_prefix("").as_bytes(), item.as_bytes()].concat();
                let family = self.keys.family_of_key(&key);
                matches!(family, KeyFamily::Queue(_, queue) if self.is_in_scope(queue))
            }
            _ => false,
        };
        if is_in_scope {
            self.sink.take_candidate(self.core, &location, item)
        } else {
            Ok(())
        }
    }

    fn add_candidate_if_first_pass(&mut self, kind: ItemKind, item: &[u8]) -> Result<(), Error> {
        if self.first_pass {
            self.add_candidate_if_in_scope(kind, b"", item)
        } else {
            Ok(())
        }
    }

    /// Reads the queues of the undecided candidates, and passes on the candidates of selected queues.
    fn decide_undecided_by_queue(&mut self) -> Result<(), Error> {
        let open = std::mem::take(&mut self.undecided);
        let reads = open.iter().map(|(location, item)| {
            let key = match location.kind {
                ItemKind::Recur | ItemKind::Recurring => self.keys.recurring_key(item.as_bytes()),
                _ => self.keys.job_key(item.as_bytes()),
            };
            ReadCommand::hash_field(&key, "queue")
        });
        let replies = self.run_reads(reads.collect())?;
        self.sink.pace_members_read(self.core, open.len())?;
        for ((location, item), reply) in open.into_iter().zip(replies) {
            if matches!(reply, ReadReply::Text(Some(queue)) if self.is_in_scope(&queue)) {
                self.sink.take_candidate(self.core, &location, item)?;
            }
        }
        Ok(())
    }

    /// Whether `--queue` selects queues, and any of these jobs belongs to one of them.
    fn is_any_in_named_queues<'b>(
        &mut self,
        jids: impl Iterator<Item = &'b [u8]>,
    ) -> Result<bool, Error> {
        if self.covers_all_queues() {
            return Ok(false);
        }
        let reads = jids.map(|jid| ReadCommand::hash_field(&self.keys.job_key(jid), "queue"));
        let replies = self.run_reads(reads.collect())?;
        if !replies.is_empty() {
            self.sink.pace_members_read(self.core, replies.len())?;
        }
        let ours = |reply: &ReadReply| matches!(reply, ReadReply::Text(Some(queue)) if self.is_in_scope(queue));
        Ok(replies.iter().any(ours))
    }

    /// Adds a set of dependents as a candidate if its job is missing. The set belongs to no queue, but it is the only
    /// trace of dependencies that jobs of the selected queues have lost. Passes on the undecided candidates first.
    fn add_dependents_key_if_job_missing(&mut self, key: &[u8], jid: &[u8]) -> Result<(), Error> {
        self.decide_undecided_by_queue()?;
        let read = ReadCommand::key_exists(&self.keys.job_key(jid));
        match self.core.run_read(self.now, read)? {
            ReadReply::Number(0) => {
                let bare = Name::from(self.keys.without_prefix(key));
                self.sink
                    .take_candidate(self.core, &ItemLocation::new(ItemKind::Key, ""), bare)
            }
            _ => Ok(()),
        }
    }

    /// Adds candidates that one call verifies together, if any of them or the job `about_job` belongs to a selected
    /// queue.
    fn add_candidate_group_if_in_scope(
        &mut self,
        location: &ItemLocation,
        about_job: &[u8],
        items: Vec<Name>,
    ) -> Result<(), Error> {
        if !self.covers_all_queues() {
            let jids = items.iter().map(Name::as_bytes).chain([about_job]);
            if !self.is_any_in_named_queues(jids)? {
                return Ok(());
            }
        }
        match items.as_slice() {
            [one] => self.sink.take_candidate(self.core, location, one.clone()),
            _ => self
                .sink
                .take_candidates_to_verify_together(self.core, location, items),
        }
    }
}
