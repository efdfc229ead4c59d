//! The walk that finds candidates. What it suspects is judged by `check.slice`, and only that
//! verdict is told: a false candidate costs a call, a missed one is a defect.
//!
//! Indexes first: each of their entries leaves a mark (`marks`). Then one SCAN of all keys: what is
//! met is read while the server has it at hand, and each job strikes off the entries that it should
//! have. What is not there to strike, and what is left, is suspected (`performance.md`, "How a check
//! stays cheap"). If the marks do not fit the table, the walk begins again for the rest of them. All
//! that is kept is bounded, whatever the size of the database.

mod cycles;
pub mod deferred;
mod edges;
mod index;
mod jobs;
pub mod rescan;
mod scan;
mod scope;
mod set;
mod tally;
mod templates;
mod unmatched;
pub mod validate;

use std::collections::{HashMap, HashSet};

use crate::clock::moment::Moment;
use crate::core::api::read::{Fields, PAGE, Read, ReadReply};
use crate::core::call::Core;
use crate::core::script::keys::Keys;
use crate::error::{Error, Kind as Fault};
use crate::model::verdict::{ItemKind, Location};
use crate::name::Name;

use cycles::Cycles;
use tally::Tally;
use unmatched::{Match, Salt, Unmatched};

/// What a walk goes through.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// Only what belongs to these queues is suspected; everything if empty.
    pub queues: Vec<Name>,
}

/// What a walk went through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScanCounts {
    pub keys: u64,
    pub jobs: u64,
    pub queues: u64,
}

/// Who is told of candidates.
pub trait Sink {
    /// Takes a candidate. The same one may come more than once.
    fn candidate(&mut self, core: &mut Core, location: &Location, item: Name) -> Result<(), Error>;

    /// Takes a candidate that is large: judged with others, it would keep the server for long.
    fn large_candidate(
        &mut self,
        core: &mut Core,
        location: &Location,
        item: Name,
    ) -> Result<(), Error> {
        self.candidate(core, location, item)
    }

    /// Takes candidates that have to be judged in one call: a cycle, or all jobs of which the same
    /// job is a dependent that has lost its dependencies.
    fn candidate_group(
        &mut self,
        core: &mut Core,
        location: &Location,
        items: Vec<Name>,
    ) -> Result<(), Error> {
        let mut items = items.into_iter();
        items.try_for_each(|item| self.candidate(core, location, item))
    }

    /// Is told of a job that somebody knows to wait for him, which it does not know itself; `None`
    /// where it can't be read who is known to. Before all that it waits for is known again, or taken
    /// off there, it must not be released.
    fn one_sided_dependency(&mut self, _jid: Option<&[u8]>) {}

    /// Is told which jobs know of one that does not know them: unless all of these are judged, it is
    /// not to be told anew what it waits for.
    fn lost_dependencies(&mut self, _job: &[u8], _others: &[Name]) {}

    /// Is told what no call can judge, and why.
    fn not_verifiable(&mut self, _item: Name, _why: &str) {}

    /// Is told how far the walk has come: what it has seen since it was told last. Sets the pace,
    /// and ends the walk by an error.
    fn keys_scanned(&mut self, core: &mut Core, seen: ScanCounts) -> Result<(), Error>;

    /// Is told how many members of indexes and edges were read since it was told last. What is read
    /// twice is told twice. Sets the pace, and ends the walk, too.
    fn members_read(&mut self, core: &mut Core, members: usize) -> Result<(), Error>;

    /// Returns how many keys or members are to be read at once at most, if the pace is slow.
    fn max_batch(&self) -> usize {
        usize::MAX
    }

    /// Is told that everything was walked. The candidates that follow may be asked about what needs
    /// that (`core.md` 9.5): jobs in `depends` that wait for nothing, `names` of `tags`, and the
    /// counters of failed jobs.
    fn scan_complete(&mut self, core: &mut Core) -> Result<(), Error>;
}

/// Walks, and returns what was seen.
pub fn run(
    core: &mut Core,
    now: Moment,
    scope: &Scope,
    sink: &mut dyn Sink,
) -> Result<ScanCounts, Error> {
    Scanner::new(core, now, scope, sink).run(Unmatched::default())
}

/// Walks with a table of so many slots, a power of two: the fewer, the more passes.
pub fn run_in(
    core: &mut Core,
    now: Moment,
    scope: &Scope,
    sink: &mut dyn Sink,
    slots: usize,
) -> Result<ScanCounts, Error> {
    Scanner::new(core, now, scope, sink).run(Unmatched::new(slots))
}

/// So many names are remembered as listed or walked.
const MAX_KNOWN: usize = 400_000;

/// So many bytes of candidates are kept for the end.
const MAX_DEFERRED_BYTES: usize = 4 << 20;

/// So many keys or members are read at once at most: the server answers nobody else meanwhile.
const MAX_READ: usize = 4000;

/// However slow the pace is, so many of them are.
const MIN_READ: usize = 10;

/// Times further ahead than this are judged, in seconds.
const MAX_CLOCK_DRIFT: f64 = 3600.0;

/// What a name is remembered for; numbers beyond those of [`ItemKind`].
#[derive(Clone, Copy)]
#[repr(u8)]
enum Known {
    /// It is in the list of all such names.
    Queue = 100,
    Worker,
    /// Its sets were walked.
    Walked,
    /// Jobs were suspected for its sake.
    Reported,
    History,
    Edge,
}

struct Scanner<'a> {
    core: &'a mut Core,
    now: Moment,
    scope: &'a Scope,
    sink: &'a mut dyn Sink,
    /// How many keys or members are read at once at most.
    max_batch: usize,
    keys: Keys,
    salt: Salt,
    unmatched: Unmatched,
    /// Whether this is the first part, which sees everything but the marks of the others.
    first_pass: bool,
    /// Whether entries are entered, or those left are told.
    rescanning: bool,
    /// Whether places were walked that no list names.
    has_unlisted: bool,
    known: HashSet<u64>,
    /// Limits of queues, as configured.
    limits: HashMap<Vec<u8>, f64>,
    /// How far templates have counted.
    template_counts: HashMap<Vec<u8>, Option<f64>>,
    tally: Tally,
    cycles: Cycles,
    /// Candidates of which it is not known to which queue they belong.
    undecided: Vec<(Location, Name)>,
    deferred: Vec<(Location, Name)>,
    deferred_bytes: usize,
    /// Whether keys may have expiries.
    expiring: bool,
    has_tracked: bool,
    job_fields: Fields,
    /// Whether jobs are asked for each field by its name.
    by_name: bool,
    template_fields: Fields,
    state_fields: Fields,
    /// Bytes of jobs that were read, and how many jobs they were.
    weight: (u64, u64),
    counts: ScanCounts,
}

impl<'a> Scanner<'a> {
    fn new(
        core: &'a mut Core,
        now: Moment,
        scope: &'a Scope,
        sink: &'a mut dyn Sink,
    ) -> Scanner<'a> {
        Scanner {
            keys: Keys::new(core.prefix()),
            core,
            now,
            scope,
            max_batch: sink.max_batch().min(MAX_READ),
            sink,
            salt: Salt::default(),
            unmatched: Unmatched::default(),
            first_pass: true,
            rescanning: false,
            has_unlisted: false,
            known: HashSet::new(),
            limits: HashMap::new(),
            template_counts: HashMap::new(),
            tally: Tally::default(),
            cycles: Cycles::default(),
            undecided: Vec::new(),
            deferred: Vec::new(),
            deferred_bytes: 0,
            expiring: true,
            has_tracked: false,
            job_fields: Fields::new(&jobs::FIELDS),
            by_name: false,
            template_fields: Fields::new(&templates::FIELDS),
            state_fields: Fields::new(&edges::FIELDS),
            weight: (0, 0),
            counts: ScanCounts::default(),
        }
    }

    fn run(mut self, unmatched: Unmatched) -> Result<ScanCounts, Error> {
        self.unmatched = unmatched;
        let server = self.server_run()?;
        self.expiring = !self.core.nothing_expires(self.now)?;
        loop {
            self.scan_indexes()?;
            self.scan_keys()?;
            self.rescan_unmatched()?;
            self.first_pass = false;
            self.known.clear();
            if !self.unmatched.next_part() {
                break;
            }
        }
        self.unmatched = Unmatched::new(1);
        self.add_cycles()?;
        self.resolve_undecided()?;
        self.sink.scan_complete(self.core)?;
        self.add_deferred()?;
        self.resolve_undecided()?;
        // A cursor means nothing to another run of the server: keys may have been passed over.
        if self.server_run()? != server {
            let message = format!("lost `{}` while reading", self.core.address());
            return Err(Error::new(Fault::Unreachable, message));
        }
        Ok(self.counts)
    }

    /// Returns which run of the server this is, if it tells; after a lost answer it is asked again,
    /// once there is a connection.
    fn server_run(&mut self) -> Result<Option<String>, Error> {
        if let Some(id) = self.core.run_id() {
            return Ok(Some(id));
        }
        self.core.nothing_expires(self.now)?;
        Ok(self.core.run_id())
    }

    /// Suspects a key, and the job that it would be.
    fn add_key(&mut self, key: &[u8]) -> Result<(), Error> {
        if !self.first_pass {
            return Ok(());
        }
        let bare = self.keys.bare(key).to_vec();
        self.add_candidate(ItemKind::Key, b"", &bare)?;
        match key.strip_prefix(self.keys.job.as_bytes()) {
            Some(jid) => self.add_candidate(ItemKind::Job, b"", jid),
            None => Ok(()),
        }
    }

    /// Suspects something as soon as everything was walked.
    fn defer(&mut self, kind: ItemKind, name: &[u8], item: &[u8]) {
        let size = name.len() + item.len() + 100;
        self.deferred_bytes += size;
        if self.deferred_bytes <= MAX_DEFERRED_BYTES {
            self.deferred
                .push((Location::new(kind, name), Name::from(item)));
        }
    }

    /// Remembers a name. Returns whether it was unknown.
    fn remember(&mut self, what: Known, name: &[u8]) -> bool {
        let hash = self.salt.location(what as u8, name);
        match self.known.len() < MAX_KNOWN {
            true => self.known.insert(hash),
            false => !self.known.contains(&hash),
        }
    }

    fn is_known(&self, what: Known, name: &[u8]) -> bool {
        self.known.contains(&self.salt.location(what as u8, name))
    }

    fn hash_entry(&self, kind: ItemKind, name: &[u8], member: &[u8], number: u64) -> u64 {
        let location = self.salt.location(kind as u8, name);
        self.salt.entry(location, member, number)
    }

    /// Strikes an entry off. Returns whether nothing is missing in this part.
    fn match_entry(
        &mut self,
        kind: ItemKind,
        name: &[u8],
        member: &[u8],
        number: u64,
    ) -> Result<bool, Error> {
        Ok(self.match_or_scan(kind, name, member, number)? != Match::Missing)
    }

    /// Strikes an entry off, if it is there. Sets that no list names are walked as soon as a job
    /// should be in them.
    fn match_or_scan(
        &mut self,
        kind: ItemKind,
        name: &[u8],
        member: &[u8],
        number: u64,
    ) -> Result<Match, Error> {
        let hash = self.hash_entry(kind, name, member, number);
        match self.unmatched.match_entry(hash) {
            Match::Missing if self.scan_unlisted(kind, name)? => {
                Ok(self.unmatched.match_entry(hash))
            }
            met => Ok(met),
        }
    }

    /// Returns how many pages are read in one round trip, of so many that are wanted.
    fn pages(&self, wanted: usize) -> usize {
        wanted.min(self.max_batch / MIN_READ).max(1)
    }

    /// Returns how many members a page has, if so many pages are read in one round trip.
    fn page(&self, pages: usize) -> usize {
        (self.max_batch / pages.max(1)).clamp(MIN_READ, PAGE)
    }

    fn read_all(&mut self, asks: Vec<Read>) -> Result<Vec<ReadReply>, Error> {
        self.core.reads(self.now, asks)
    }

    fn now(&self) -> f64 {
        self.now.seconds()
    }
}
