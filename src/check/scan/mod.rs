//! The scan that finds candidates. `check.slice` verifies them, and only its verdicts are reported: a
//! false candidate costs a call, a missed one is a defect.
//!
//! Indexes come first: each entry is added to a table of unmatched entries (`unmatched`). Then one SCAN
//! of all keys reads what it finds, and each job removes the entries that it should have from the
//! table. Lanes and throttles are listed nowhere: the SCAN finds their keys, and their entries and the
//! jobs match in either order. Missing entries, and entries that remain, are candidates. If the table is
//! too small, the scan begins again for the rest of the entries. The memory is bounded, whatever the
//! size of the database.

mod ahead;
mod cycles;
pub mod deferred;
mod edges;
mod extra_reads;
mod homes;
mod index;
mod jobs;
mod keys;
pub mod rescan;
mod scanned_job;
mod scope;
mod set;
mod tally;
mod templates;
mod unmatched;
pub mod validate;

use std::collections::{HashMap, HashSet};

use crate::clock::moment::Moment;
use crate::core::api::read::{PAGE, PackedFields, ReadCommand, ReadReply};
use crate::core::call::Core;
use crate::core::script::keys::Keys;
use crate::error::{Error, Kind as Fault};
use crate::model::verdict::{ItemKind, Location};
use crate::name::Name;

use ahead::ReadPipeline;
use cycles::DependencyEdges;
use tally::FailedTally;
use unmatched::{MatchResult, SaltedHasher, UnmatchedTable};

/// The queues of a scan.
#[derive(Clone, Debug, Default)]
pub struct ScanScope {
    /// Only candidates of these queues are reported; all if empty.
    pub queues: Vec<Name>,
}

/// The counts of what a scan has read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScanCounts {
    pub keys: u64,
    pub jobs: u64,
    pub queues: u64,
}

/// The receiver of candidates.
pub trait CandidateSink {
    /// Takes a candidate to verify. The scan may report the same candidate more than once.
    fn take_candidate(
        &mut self,
        core: &mut Core,
        location: &Location,
        item: Name,
    ) -> Result<(), Error>;

    /// Takes a large candidate: verified with others, it would block the server for long.
    fn take_large_candidate(
        &mut self,
        core: &mut Core,
        location: &Location,
        item: Name,
    ) -> Result<(), Error> {
        self.take_candidate(core, location, item)
    }

    /// Takes candidates to verify in one call: a cycle, or all jobs that list the same job as a
    /// dependent although it does not list them as dependencies.
    fn take_candidate_group(
        &mut self,
        core: &mut Core,
        location: &Location,
        items: Vec<Name>,
    ) -> Result<(), Error> {
        let mut items = items.into_iter();
        items.try_for_each(|item| self.take_candidate(core, location, item))
    }

    /// Notes a job that another one lists as a dependent, but that does not list the other one as a
    /// dependency. The job must not be released before the dependency is repaired.
    fn note_one_sided_dependency(&mut self, _jid: &[u8]) {}

    /// Notes an unreadable set of dependents: any job may have a one-sided dependency then.
    fn note_unreadable_dependents(&mut self) {}

    /// Notes all dependencies of a job that lost them: unless all of them are verified, its
    /// dependencies must not be restored.
    fn note_lost_dependencies(&mut self, _job: &[u8], _others: &[Name]) {}

    /// Notes an item that no call can verify, and the reason.
    fn note_unverifiable_item(&mut self, _item: Name, _why: &str) {}

    /// Notes that a scan of all keys begins. There is more than one if the tables are too small.
    fn note_pass_start(&mut self) {}

    /// Notes progress: what was scanned since the last call. Sets the pace. An error ends the scan.
    fn note_keys_scanned(&mut self, core: &mut Core, since_last: ScanCounts) -> Result<(), Error>;

    /// Notes the number of members read since the last call. A member that is read twice counts
    /// twice. Sets the pace. An error ends the scan.
    fn note_members_read(&mut self, core: &mut Core, members: usize) -> Result<(), Error>;

    /// The maximum number of keys or members to read at once, if the pace is slow.
    fn max_members_per_read(&self) -> usize {
        usize::MAX
    }

    /// Notes that a job may be running in a queue that is not listed: the core looks for locks in
    /// listed queues only.
    fn note_unlisted_lock(&mut self);

    /// Notes that everything was scanned. The candidates that follow may be verified for findings that
    /// require a complete scan: jobs in `depends` without dependencies, `names` of
    /// `tags`, and the counters of failed jobs.
    fn note_scan_complete(&mut self, core: &mut Core) -> Result<(), Error>;
}

/// Scans, and returns what was scanned.
pub fn run_scan(
    core: &mut Core,
    now: Moment,
    scope: &ScanScope,
    sink: &mut dyn CandidateSink,
) -> Result<ScanCounts, Error> {
    Scanner::new(core, now, scope, sink).run_passes(UnmatchedTable::default())
}

/// Scans with a table of `slots` slots, a power of two. Fewer slots take more passes.
pub fn run_scan_with_slots(
    core: &mut Core,
    now: Moment,
    scope: &ScanScope,
    sink: &mut dyn CandidateSink,
    slots: usize,
) -> Result<ScanCounts, Error> {
    Scanner::new(core, now, scope, sink).run_passes(UnmatchedTable::new(slots))
}

/// Maximum number of names remembered as listed or scanned.
const MAX_KNOWN: usize = 400_000;

/// Maximum size of the deferred candidates.
const MAX_DEFERRED_BYTES: usize = 4 << 20;

/// Maximum number of jobs without dependencies that one scan verifies (16 MiB).
const MAX_WITHOUT_DEPENDENCIES: usize = 1 << 20;

/// Maximum number of keys or members read at once: meanwhile the server serves no other client.
const MAX_READ: usize = 4000;

/// Minimum number of keys or members read at once, however slow the pace is.
const MIN_READ: usize = 10;

/// A lock that expires later than this is implausible, in seconds.
const MAX_LOCK: f64 = 8_640_000.0;

/// Times further ahead than this are verified, in seconds.
const MAX_CLOCK_DRIFT: f64 = 3600.0;

/// Replies in the order of their reads.
type Replies = std::vec::IntoIter<ReadReply>;

/// Why a name is remembered. The numbers begin above the numbers of [`ItemKind`].
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
    scope: &'a ScanScope,
    sink: &'a mut dyn CandidateSink,
    /// Maximum number of keys or members read at once.
    max_members_per_read: usize,
    keys: Keys,
    salt: SaltedHasher,
    unmatched: UnmatchedTable,
    /// Whether this is the first pass. Later ones only match the entries whose hashes the table could not take before.
    first_pass: bool,
    /// The version of the route to the server when the scan began: another one means that the keys have moved.
    first_route_version: u64,
    /// Whether unmatched entries are looked up by name, instead of being added.
    rescanning: bool,
    /// Whether unlisted sets were scanned.
    has_unlisted: bool,
    known: HashSet<u64>,
    /// The maximum numbers of running jobs that the options set for queues.
    limits: HashMap<Vec<u8>, f64>,
    /// The number of jobs that each recurring job has put, by its id.
    template_counts: HashMap<Vec<u8>, Option<f64>>,
    tally: FailedTally,
    cycles: DependencyEdges,
    /// Candidates whose queue is not known yet.
    undecided: Vec<(Location, Name)>,
    deferred: Vec<(Location, Name)>,
    deferred_bytes: usize,
    /// Hashes of the jobs in `depends` that were seen without dependencies.
    without_dependencies: HashSet<u64>,
    /// Whether keys may have expiries.
    expiring: bool,
    has_tracked: bool,
    /// Whether any job is listed with the time of its failure, or as complete in a queue.
    has_failed_times: bool,
    has_completed_in: bool,
    /// Whether the user may read hashes whole.
    reads_whole: bool,
    job_fields: PackedFields,
    template_fields: PackedFields,
    state_fields: PackedFields,
    pipeline: ReadPipeline,
    /// Maximum number of requests that wait for their replies; 0 if the pace is slow.
    max_ahead: usize,
    /// Bytes and number of the jobs read, which give the mean size.
    bytes_and_jobs: (u64, u64),
    counts: ScanCounts,
}

impl<'a> Scanner<'a> {
    fn new(
        core: &'a mut Core,
        now: Moment,
        scope: &'a ScanScope,
        sink: &'a mut dyn CandidateSink,
    ) -> Scanner<'a> {
        let max_ahead = match sink.max_members_per_read() {
            usize::MAX => ahead::MAX_AHEAD,
            _ => 0,
        };
        Scanner {
            keys: Keys::new(core.prefix()),
            core,
            now,
            scope,
            max_members_per_read: sink.max_members_per_read().min(MAX_READ),
            sink,
            salt: SaltedHasher::default(),
            unmatched: UnmatchedTable::default(),
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
            job_fields: PackedFields::new(&jobs::FIELDS),
            template_fields: PackedFields::new(&templates::FIELDS),
            state_fields: PackedFields::new(&edges::STATE_FIELDS),
            pipeline: ReadPipeline::default(),
            max_ahead,
            bytes_and_jobs: (0, 0),
            counts: ScanCounts::default(),
        }
    }

    fn run_passes(mut self, unmatched: UnmatchedTable) -> Result<ScanCounts, Error> {
        self.unmatched = unmatched;
        let server = self.server_run_id()?;
        self.first_route_version = self.core.route_version();
        self.expiring = !self.core.no_key_expires(self.now)?;
        self.reads_whole = self.core.may_read_whole_hashes(self.now)?;
        loop {
            self.scan_listed_indexes()?;
            self.scan_keys()?;
            self.rescan_for_unmatched_names()?;
            self.first_pass = false;
            self.known.clear();
            if !self.unmatched.begin_next_part_if_any() {
                break;
            }
        }
        self.unmatched = UnmatchedTable::new(1);
        self.add_cycle_candidates()?;
        self.resolve_undecided()?;
        self.sink.note_scan_complete(self.core)?;
        self.add_deferred_candidates()?;
        self.resolve_undecided()?;
        self.core.follow_moving_keys()?;
        self.require_same_server()?;
        // After a restart of the server its cursors are meaningless: the scan may have missed keys.
        if self.server_run_id()? != server {
            let message = format!("lost `{}` while reading", self.core.address());
            return Err(Error::new(Fault::Unreachable, message));
        }
        Ok(self.counts)
    }

    /// Ends the scan if the keys went to another server, where a cursor of this one means nothing.
    fn require_same_server(&self) -> Result<(), Error> {
        if self.core.route_version() == self.first_route_version {
            Ok(())
        } else {
            Err(self.core.moved_while_scanning())
        }
    }

    /// The run id of the server, if it reports one. If a reply was lost, another read opens a new connection, on
    /// which the id is read again.
    fn server_run_id(&mut self) -> Result<Option<String>, Error> {
        if let Some(id) = self.core.run_id() {
            return Ok(Some(id));
        }
        self.core.no_key_expires(self.now)?;
        Ok(self.core.run_id())
    }

    /// Adds a key as a candidate, and its job if it is the key of a job.
    fn add_key_candidate(&mut self, key: &[u8]) -> Result<(), Error> {
        if !self.first_pass {
            return Ok(());
        }
        let bare = self.keys.without_prefix(key).to_vec();
        self.add_candidate(ItemKind::Key, b"", &bare)?;
        match self.keys.jid_of_job_key(key) {
            Some(jid) => self.add_candidate(ItemKind::Job, b"", jid),
            None => Ok(()),
        }
    }

    /// Keeps a candidate that can only be verified after a complete scan.
    fn defer_candidate(&mut self, kind: ItemKind, name: &[u8], item: &[u8]) {
        let size = name.len() + item.len() + 100;
        self.deferred_bytes += size;
        if self.deferred_bytes <= MAX_DEFERRED_BYTES {
            self.deferred
                .push((Location::new(kind, name), Name::from(item)));
        }
    }

    /// Adds a job in `depends` without dependencies as a candidate once the scan is complete.
    fn defer_job_without_dependencies(&mut self, jid: &[u8]) {
        if self.without_dependencies.len() < MAX_WITHOUT_DEPENDENCIES {
            let hash = self.hash_entry(ItemKind::Job, b"", jid, 0);
            self.without_dependencies.insert(hash);
            self.defer_candidate(ItemKind::Job, b"", jid);
        }
    }

    /// Whether a job was seen without dependencies.
    fn is_without_dependencies(&self, jid: &[u8]) -> bool {
        let hash = self.hash_entry(ItemKind::Job, b"", jid, 0);
        self.without_dependencies.contains(&hash)
    }

    /// Remembers a name. Returns whether it is new.
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

    /// Matches an entry. The result is false if the table lacks it. An entry that another pass covers counts as
    /// present.
    fn take_entry(
        &mut self,
        kind: ItemKind,
        name: &[u8],
        member: &[u8],
        bucket: u64,
    ) -> Result<bool, Error> {
        Ok(self.match_entry_or_scan_unlisted(kind, name, member, bucket)? != MatchResult::Missing)
    }

    /// Matches an entry. If its set is not listed, the set is scanned first, since a job should be in it.
    fn match_entry_or_scan_unlisted(
        &mut self,
        kind: ItemKind,
        name: &[u8],
        member: &[u8],
        bucket: u64,
    ) -> Result<MatchResult, Error> {
        let hash = self.hash_entry(kind, name, member, bucket);
        match self.unmatched.match_entry(hash) {
            MatchResult::Missing if self.scan_unlisted_once(kind, name)? => {
                Ok(self.unmatched.match_entry(hash))
            }
            result => Ok(result),
        }
    }

    /// The number of pages to read in one round trip, up to `wanted`.
    fn pages_per_round_trip(&self, wanted: usize) -> usize {
        wanted.min(self.max_members_per_read / MIN_READ).max(1)
    }

    /// The number of members of a page, if `pages` pages are read in one round trip.
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
