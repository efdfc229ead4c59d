//! The scan that finds candidates for findings. The core verifies them with `check.slice`, and only its verdicts are
//! reported: a false candidate only costs a call, but a missed candidate hides a finding.
//!
//! The scan reads the indexes first, and adds each entry to a table of unmatched entries (`unmatched`). Then it reads
//! all keys with SCAN. For each job, it removes the entries that the job should have from the table. No list names
//! all lanes and throttles, so the SCAN finds their keys: an entry and its job match in either order. Missing entries,
//! and entries that remain, are candidates. If the table is too small, another pass covers the rest of the entries. So
//! the memory is bounded, whatever the size of the database.

mod cycles;
pub mod deferred;
mod edges;
mod extra_reads;
mod index;
mod jobs;
mod keys;
pub mod rescan;
mod scope;
mod set;
mod templates;
mod unmatched;
pub mod validate;

use std::collections::{HashMap, HashSet};

use crate::clock::moment::Moment;
use crate::core::api::read::{PAGE, PackedFieldNames, ReadCommand, ReadReply};
use crate::core::call::Core;
use crate::core::script::keys::Keys;
use crate::error::{Error, Kind as Fault};
pub use crate::model::check::ScanCounts;
use crate::model::verdict::{ItemKind, ItemLocation};
use crate::name::Name;

use cycles::DependencyEdges;
use deferred::FailedTally;
use keys::ReadPipeline;
pub use unmatched::MAX_TABLE_SLOTS;
use unmatched::{EntryMatch, SaltedHasher, UnmatchedTable};

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
    fn take_candidates_for_one_call(
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
    fn note_lost_dependencies(&mut self, _job: &[u8], _dependencies: &[Name]) {}

    /// Notes an item that no call can verify, and the reason.
    fn note_unverifiable_item(&mut self, _item: Name, _why: &str) {}

    /// Notes that a pass over all keys begins. The scan takes several passes if its tables are too small.
    fn note_pass_start(&mut self) {}

    /// Notes what was scanned since the last call, and waits as long as the pace requires. An error ends the scan.
    fn note_and_pace_keys_scanned(
        &mut self,
        core: &mut Core,
        since_last: ScanCounts,
    ) -> Result<(), Error>;

    /// Notes the number of members read since the last call, and waits as long as the pace requires. A member that is
    /// read twice counts twice. An error ends the scan.
    fn note_and_pace_members_read(&mut self, core: &mut Core, members: usize) -> Result<(), Error>;

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

/// Maximum number of names remembered as listed or scanned.
const MAX_KNOWN: usize = 400_000;

/// Maximum size of the deferred candidates.
const MAX_DEFERRED_BYTES: usize = 4 << 20;

/// Maximum number of jobs in `depends` without dependencies that one scan remembers, to verify them (16 MiB).
const MAX_WITHOUT_DEPENDENCIES: usize = 1 << 20;

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

/// What a hash of a name stands for. The numbers are above the numbers of [`ItemKind`], so that the hashes differ.
#[derive(Clone, Copy)]
#[repr(u8)]
enum RememberedAs {
    /// The queue is in the list of queues.
    Queue = 100,
    Worker,
    /// The sets of this name were scanned.
    Scanned,
    /// A candidate was added because this name is not listed.
    Reported,
    History,
    Payloads,
    Edge,
}

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
    job_fields: PackedFieldNames,
    template_fields: PackedFieldNames,
    state_fields: PackedFieldNames,
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
            job_fields: PackedFieldNames::new(&jobs::FIELDS),
            template_fields: PackedFieldNames::new(&templates::FIELDS),
            state_fields: PackedFieldNames::new(&edges::STATE_FIELDS),
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
            self.rescan_for_unmatched_names()?;
            self.first_pass = false;
            self.known.clear();
            if !self.unmatched.begin_next_hash_range_if_any() {
                break;
            }
        }
        self.unmatched = UnmatchedTable::new(1);
        self.add_cycle_candidates()?;
        self.pass_on_undecided_in_scope()?;
        self.sink.verify_waiting_and_end_scan_phase(self.core)?;
        self.add_deferred_candidates()?;
        self.pass_on_undecided_in_scope()?;
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
        if let Some(id) = self.core.run_id() {
            return Ok(Some(id));
        }
        self.core.no_key_expires(self.now)?;
        Ok(self.core.run_id())
    }

    /// Adds a key as a candidate in the first pass. If it is a key of a job, also adds the job.
    fn add_key_and_its_job_in_first_pass(&mut self, key: &[u8]) -> Result<(), Error> {
        if !self.first_pass {
            return Ok(());
        }
        self.add_key_candidate(key)?;
        match self.keys.without_job_prefix(key) {
            Some(jid) => self.add_candidate_if_in_scope(ItemKind::Job, b"", jid),
            None => Ok(()),
        }
    }

    fn add_key_candidate(&mut self, key: &[u8]) -> Result<(), Error> {
        let bare = self.keys.without_prefix(key).to_vec();
        self.add_candidate_if_in_scope(ItemKind::Key, b"", &bare)
    }

    /// Keeps a candidate until the end of the scan, because only a complete scan allows to verify it. Drops it if too
    /// many are kept.
    fn defer_candidate(&mut self, kind: ItemKind, name: &[u8], item: &[u8]) {
        let size = name.len() + item.len() + 100;
        self.deferred_bytes += size;
        if self.deferred_bytes <= MAX_DEFERRED_BYTES {
            self.deferred
                .push((ItemLocation::new(kind, name), Name::from(item)));
        }
    }

    /// Remembers a job in `depends` that has no dependencies, and keeps it as a candidate until the end of the scan.
    fn defer_job_without_dependencies(&mut self, jid: &[u8]) {
        if self.without_dependencies.len() < MAX_WITHOUT_DEPENDENCIES {
            let hash = self.hash_entry(ItemKind::Job, b"", jid, 0);
            self.without_dependencies.insert(hash);
            self.defer_candidate(ItemKind::Job, b"", jid);
        }
    }

    /// Whether the scan found the job in `depends` without dependencies.
    fn was_deferred_without_dependencies(&self, jid: &[u8]) -> bool {
        let hash = self.hash_entry(ItemKind::Job, b"", jid, 0);
        self.without_dependencies.contains(&hash)
    }

    /// Remembers a name, unless there are too many. Returns whether the name is not remembered yet.
    fn remember_name(&mut self, what: RememberedAs, name: &[u8]) -> bool {
        let hash = self.salt.hash_location(what as u8, name);
        if self.known.len() < MAX_KNOWN {
            self.known.insert(hash)
        } else {
            !self.known.contains(&hash)
        }
    }

    fn is_remembered(&self, what: RememberedAs, name: &[u8]) -> bool {
        self.known
            .contains(&self.salt.hash_location(what as u8, name))
    }

    fn hash_entry(&self, kind: ItemKind, name: &[u8], member: &[u8], bucket: u64) -> u64 {
        let location = self.salt.hash_location(kind as u8, name);
        self.salt.hash_entry(location, member, bucket)
    }

    /// Whether an index has the entry that a job should have. Such an entry leaves the table of unmatched entries. An
    /// entry that another pass covers counts as present.
    fn match_expected_entry(
        &mut self,
        kind: ItemKind,
        name: &[u8],
        member: &[u8],
        bucket: u64,
    ) -> Result<bool, Error> {
        Ok(
            self.match_entry_or_scan_its_unlisted_set(kind, name, member, bucket)?
                != EntryMatch::Missing,
        )
    }

    /// Removes an entry that a job should have from the table of unmatched entries. If the table lacks the entry, and
    /// the scan has not read its set because no list names it, reads the set and tries again.
    fn match_entry_or_scan_its_unlisted_set(
        &mut self,
        kind: ItemKind,
        name: &[u8],
        member: &[u8],
        bucket: u64,
    ) -> Result<EntryMatch, Error> {
        let hash = self.hash_entry(kind, name, member, bucket);
        match self.unmatched.remove_matching_entry(hash) {
            EntryMatch::Missing if self.scan_unlisted_once(kind, name)? => {
                Ok(self.unmatched.remove_matching_entry(hash))
            }
            result => Ok(result),
        }
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
