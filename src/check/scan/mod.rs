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
mod marks;
pub mod rescan;
mod scan;
mod scope;
mod set;
mod tally;
mod templates;
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
use marks::{Marks, Met, Salt};
use tally::Tally;

/// What a walk goes through.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// Only what belongs to these queues is suspected; everything if empty.
    pub queues: Vec<Name>,
}

/// What a walk went through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Candidate {
    pub keys: u64,
    pub jobs: u64,
    pub queues: u64,
}

/// Who is told of candidates.
pub trait Sink {
    /// Takes a candidate. The same one may come more than once.
    fn suspect(&mut self, core: &mut Core, place: &Location, item: Name) -> Result<(), Error>;

    /// Takes a candidate that is large: judged with others, it would keep the server for long.
    fn alone(&mut self, core: &mut Core, place: &Location, item: Name) -> Result<(), Error> {
        self.suspect(core, place, item)
    }

    /// Takes candidates that have to be judged in one call: a cycle, or all jobs of which the same
    /// job is a dependent that has lost its dependencies.
    fn together(
        &mut self,
        core: &mut Core,
        place: &Location,
        items: Vec<Name>,
    ) -> Result<(), Error> {
        let mut items = items.into_iter();
        items.try_for_each(|item| self.suspect(core, place, item))
    }

    /// Is told of a job that somebody knows to wait for him, which it does not know itself; `None`
    /// where it can't be read who is known to. Before all that it waits for is known again, or taken
    /// off there, it must not be released.
    fn held_back(&mut self, _jid: Option<&[u8]>) {}

    /// Is told which jobs know of one that does not know them: unless all of these are judged, it is
    /// not to be told anew what it waits for.
    fn knows(&mut self, _job: &[u8], _others: &[Name]) {}

    /// Is told what no call can judge, and why.
    fn beyond(&mut self, _item: Name, _why: &str) {}

    /// Is told how far the walk has come: what it has seen since it was told last. Sets the pace,
    /// and ends the walk by an error.
    fn seen(&mut self, core: &mut Core, seen: Candidate) -> Result<(), Error>;

    /// Is told how many members of indexes and edges were read since it was told last. What is read
    /// twice is told twice. Sets the pace, and ends the walk, too.
    fn read(&mut self, core: &mut Core, members: usize) -> Result<(), Error>;

    /// Returns how many keys or members are to be read at once at most, if the pace is slow.
    fn most(&self) -> usize {
        usize::MAX
    }

    /// Is told that everything was walked. The candidates that follow may be asked about what needs
    /// that (`core.md` 9.5): jobs in `depends` that wait for nothing, `names` of `tags`, and the
    /// counters of failed jobs.
    fn whole(&mut self, core: &mut Core) -> Result<(), Error>;
}

/// Walks, and returns what was seen.
pub fn run(
    core: &mut Core,
    now: Moment,
    scope: &Scope,
    sink: &mut dyn Sink,
) -> Result<Candidate, Error> {
    Scanner::new(core, now, scope, sink).run(Marks::default())
}

/// Walks with a table of so many slots, a power of two: the fewer, the more passes.
pub fn run_in(
    core: &mut Core,
    now: Moment,
    scope: &Scope,
    sink: &mut dyn Sink,
    slots: usize,
) -> Result<Candidate, Error> {
    Scanner::new(core, now, scope, sink).run(Marks::new(slots))
}

/// So many names are remembered as listed or walked.
const KNOWN: usize = 400_000;

/// So many bytes of candidates are kept for the end.
const LATE: usize = 4 << 20;

/// So many keys or members are read at once at most: the server answers nobody else meanwhile.
const MANY: usize = 4000;

/// However slow the pace is, so many of them are.
const FEW: usize = 10;

/// Times further ahead than this are judged, in seconds.
const AHEAD: f64 = 3600.0;

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
    ReadReply,
    History,
    Edge,
}

struct Scanner<'a> {
    core: &'a mut Core,
    now: Moment,
    scope: &'a Scope,
    sink: &'a mut dyn Sink,
    /// How many keys or members are read at once at most.
    most: usize,
    keys: Keys,
    salt: Salt,
    marks: Marks,
    /// Whether this is the first part, which sees everything but the marks of the others.
    first: bool,
    /// Whether entries are entered, or those left are told.
    telling: bool,
    /// Whether places were walked that no list names.
    strangers: bool,
    known: HashSet<u64>,
    /// Limits of queues, as configured.
    limits: HashMap<Vec<u8>, f64>,
    /// How far templates have counted.
    counted: HashMap<Vec<u8>, Option<f64>>,
    tally: Tally,
    cycles: Cycles,
    /// Candidates of which it is not known to which queue they belong.
    open: Vec<(Location, Name)>,
    late: Vec<(Location, Name)>,
    late_bytes: usize,
    /// Whether keys may have expiries.
    expiring: bool,
    tracks: bool,
    fields: Fields,
    /// Whether jobs are asked for each field by its name.
    by_name: bool,
    template: Fields,
    brief: Fields,
    /// Bytes of jobs that were read, and how many jobs they were.
    weight: (u64, u64),
    seen: Candidate,
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
            most: sink.most().min(MANY),
            sink,
            salt: Salt::default(),
            marks: Marks::default(),
            first: true,
            telling: false,
            strangers: false,
            known: HashSet::new(),
            limits: HashMap::new(),
            counted: HashMap::new(),
            tally: Tally::default(),
            cycles: Cycles::default(),
            open: Vec::new(),
            late: Vec::new(),
            late_bytes: 0,
            expiring: true,
            tracks: false,
            fields: Fields::new(&jobs::FIELDS),
            by_name: false,
            template: Fields::new(&templates::FIELDS),
            brief: Fields::new(&edges::FIELDS),
            weight: (0, 0),
            seen: Candidate::default(),
        }
    }

    fn run(mut self, marks: Marks) -> Result<Candidate, Error> {
        self.marks = marks;
        let server = self.server()?;
        self.expiring = !self.core.nothing_expires(self.now)?;
        loop {
            self.indexes()?;
            self.scan()?;
            self.tell_left()?;
            self.first = false;
            self.known.clear();
            if !self.marks.next_part() {
                break;
            }
        }
        self.marks = Marks::new(1);
        self.tell_cycles()?;
        self.close()?;
        self.sink.whole(self.core)?;
        self.later()?;
        self.close()?;
        // A cursor means nothing to another run of the server: keys may have been passed over.
        if self.server()? != server {
            let message = format!("lost `{}` while reading", self.core.address());
            return Err(Error::new(Fault::Unreachable, message));
        }
        Ok(self.seen)
    }

    /// Returns which run of the server this is, if it tells; after a lost answer it is asked again,
    /// once there is a connection.
    fn server(&mut self) -> Result<Option<String>, Error> {
        if let Some(id) = self.core.run_id() {
            return Ok(Some(id));
        }
        self.core.nothing_expires(self.now)?;
        Ok(self.core.run_id())
    }

    /// Suspects a key, and the job that it would be.
    fn suspect_key(&mut self, key: &[u8]) -> Result<(), Error> {
        if !self.first {
            return Ok(());
        }
        let bare = self.keys.without_prefix(key).to_vec();
        self.suspect(ItemKind::Key, b"", &bare)?;
        match key.strip_prefix(self.keys.job.as_bytes()) {
            Some(jid) => self.suspect(ItemKind::Job, b"", jid),
            None => Ok(()),
        }
    }

    /// Suspects something as soon as everything was walked.
    fn suspect_late(&mut self, kind: ItemKind, name: &[u8], item: &[u8]) {
        let size = name.len() + item.len() + 100;
        self.late_bytes += size;
        if self.late_bytes <= LATE {
            self.late
                .push((Location::new(kind, name), Name::from(item)));
        }
    }

    /// Remembers a name. Returns whether it was unknown.
    fn know(&mut self, what: Known, name: &[u8]) -> bool {
        let hash = self.salt.place(what as u8, name);
        match self.known.len() < KNOWN {
            true => self.known.insert(hash),
            false => !self.known.contains(&hash),
        }
    }

    fn knows(&self, what: Known, name: &[u8]) -> bool {
        self.known.contains(&self.salt.place(what as u8, name))
    }

    fn mark(&self, kind: ItemKind, name: &[u8], member: &[u8], number: u64) -> u64 {
        let place = self.salt.place(kind as u8, name);
        self.salt.entry(place, member, number)
    }

    /// Strikes an entry off. Returns whether nothing is missing in this part.
    fn strike(
        &mut self,
        kind: ItemKind,
        name: &[u8],
        member: &[u8],
        number: u64,
    ) -> Result<bool, Error> {
        Ok(self.meet(kind, name, member, number)? != Met::Alone)
    }

    /// Strikes an entry off, if it is there. Sets that no list names are walked as soon as a job
    /// should be in them.
    fn meet(
        &mut self,
        kind: ItemKind,
        name: &[u8],
        member: &[u8],
        number: u64,
    ) -> Result<Met, Error> {
        let hash = self.mark(kind, name, member, number);
        match self.marks.strike(hash) {
            Met::Alone if self.walk_stranger(kind, name)? => Ok(self.marks.strike(hash)),
            met => Ok(met),
        }
    }

    /// Returns how many pages are read in one round trip, of so many that are wanted.
    fn pages(&self, wanted: usize) -> usize {
        wanted.min(self.most / FEW).max(1)
    }

    /// Returns how many members a page has, if so many pages are read in one round trip.
    fn page(&self, pages: usize) -> usize {
        (self.most / pages.max(1)).clamp(FEW, PAGE)
    }

    fn reads(&mut self, asks: Vec<Read>) -> Result<Vec<ReadReply>, Error> {
        self.core.reads(self.now, asks)
    }

    fn now(&self) -> f64 {
        self.now.seconds()
    }
}
