//! The scan of `qless check` without the binary: its candidates, verified as the binary verifies
//! them, compared with a verification of everything.

use qless::internals::CallTracer;
use qless::internals::Error;
use qless::internals::Moment;
use qless::internals::Name;
use qless::internals::ServerTarget;
use qless::internals::scan;
use qless::internals::scan::{CandidateSink, ScanCounts};
use qless::internals::verdict::{ItemKind, ItemLocation};
use qless::internals::{ConnectionSettings, Core as Plain};

use super::check_calls::{
    DEFERRED, DEFERRED_KINDS, Finding, describe_all, finding, misplaced, name_bytes, rows, same,
};
use super::core::Core;

/// A table large enough for a scan in one pass.
pub(crate) const WHOLE: usize = 1 << 22;

/// The candidates of a scan.
#[derive(Debug, Default)]
pub(crate) struct ScanResult {
    /// Candidates before and after the end of the scan. Candidates that are verified together are one entry.
    pub(crate) first: Vec<(ItemLocation, Vec<Name>)>,
    pub(crate) last: Vec<(ItemLocation, Vec<Name>)>,
    whole: bool,
    passes: usize,
    /// What was read in the first pass.
    pub(crate) seen: ScanCounts,
}

impl CandidateSink for ScanResult {
    fn take_candidate(
        &mut self,
        core: &mut Plain,
        place: &ItemLocation,
        item: Name,
    ) -> Result<(), Error> {
        self.take_candidates_to_verify_together(core, place, vec![item])
    }

    fn take_candidates_to_verify_together(
        &mut self,
        _: &mut Plain,
        place: &ItemLocation,
        items: Vec<Name>,
    ) -> Result<(), Error> {
        let list = if self.whole {
            &mut self.last
        } else {
            &mut self.first
        };
        list.push((place.clone(), items));
        Ok(())
    }

    fn note_scan_pass_start(&mut self) {
        self.passes += 1;
    }

    fn note_and_pace_keys_scanned(&mut self, _: &mut Plain, seen: ScanCounts) -> Result<(), Error> {
        if self.passes <= 1 {
            self.seen.keys += seen.keys;
            self.seen.jobs += seen.jobs;
            self.seen.queues += seen.queues;
        }
        Ok(())
    }

    fn note_lock_in_unlisted_queue(&mut self) {}

    fn pace_members_read(&mut self, _: &mut Plain, _: usize) -> Result<(), Error> {
        Ok(())
    }

    fn verify_waiting_and_end_scan_phase(&mut self, _: &mut Plain) -> Result<(), Error> {
        self.whole = true;
        Ok(())
    }
}

/// Opens the connection that the binary would use.
pub(crate) fn plain(core: &Core) -> Plain {
    Plain::connect(ConnectionSettings {
        target: ServerTarget::parse(&core.url()).expect("an address"),
        prefix: "ql:".into(),
        name: "walk".into(),
        timeout: std::time::Duration::from_secs(30),
        clock: qless::internals::Clock::from_env().expect("a clock"),
        trace: CallTracer::default(),
        read_only: true,
        writes: false,
        asks_for_eviction: false,
    })
    .expect("the private server answers")
}

/// Scans with a table of this many slots.
pub(crate) fn scanned(core: &Core, now: f64, slots: usize, queues: &[&str]) -> ScanResult {
    let mut scanned = ScanResult::default();
    run_scan(core, now, slots, queues, &mut scanned);
    scanned
}

fn run_scan(core: &Core, now: f64, slots: usize, queues: &[&str], sink: &mut dyn CandidateSink) {
    let mut plain = plain(core);
    let now = Moment::from_seconds(now).expect("a moment");
    let queues: Vec<Name> = queues.iter().map(|queue| Name::from(*queue)).collect();
    scan::run_scan(&mut plain, now, &queues, sink, slots)
        .unwrap_or_else(|error| panic!("a walk says {}", error.message()));
}

/// Does something between the pages of a scan, given the number of keys or members of the last one.
struct Between<'a> {
    scanned: ScanResult,
    most: usize,
    act: &'a mut dyn FnMut(usize),
}

impl CandidateSink for Between<'_> {
    fn take_candidate(
        &mut self,
        core: &mut Plain,
        place: &ItemLocation,
        item: Name,
    ) -> Result<(), Error> {
        self.scanned.take_candidate(core, place, item)
    }

    fn note_and_pace_keys_scanned(
        &mut self,
        core: &mut Plain,
        seen: ScanCounts,
    ) -> Result<(), Error> {
        (self.act)(seen.keys as usize);
        self.scanned.note_and_pace_keys_scanned(core, seen)
    }

    fn note_lock_in_unlisted_queue(&mut self) {}

    fn pace_members_read(&mut self, _: &mut Plain, members: usize) -> Result<(), Error> {
        (self.act)(members);
        Ok(())
    }

    fn max_members_per_read(&self) -> usize {
        self.most
    }

    fn verify_waiting_and_end_scan_phase(&mut self, core: &mut Plain) -> Result<(), Error> {
        self.scanned.verify_waiting_and_end_scan_phase(core)
    }
}

/// Scans in pages of up to `most` members, and does something between them.
pub(crate) fn scanned_while(
    core: &Core,
    now: f64,
    most: usize,
    act: &mut dyn FnMut(usize),
) -> ScanResult {
    let scanned = ScanResult::default();
    let mut between = Between { scanned, most, act };
    run_scan(core, now, WHOLE, &[], &mut between);
    between.scanned
}

/// Verifies candidates.
fn verify(
    core: &mut Core,
    now: f64,
    findings: &str,
    scanned: &[(ItemLocation, Vec<Name>)],
) -> Vec<Finding> {
    let time = now.to_string();
    let mut found: Vec<Finding> = Vec::new();
    let mut others: Vec<(ItemLocation, Vec<Name>)> = Vec::new();
    for (place, items) in scanned {
        let (kind, name) = match place.kind {
            ItemKind::Cycle => (ItemKind::Cycle, &b""[..]),
            kind => (kind, place.name.as_bytes()),
        };
        let mut argv: Vec<&[u8]> = vec![b"check.slice", time.as_bytes(), b"look"];
        argv.extend([findings.as_bytes(), b"", kind.into_str().as_bytes(), name]);
        argv.extend(items.iter().map(Name::as_bytes));
        let reply = core.call(&argv).expect("check.slice");
        found.extend(rows(reply.list(), items.len()).0.iter().map(finding));
        let jids = misplaced(reply.list());
        if !jids.is_empty() {
            let group = ItemLocation::new(ItemKind::Group, place.name.clone());
            let bytes = jids.iter().map(|jid| Name::from(name_bytes(jid)));
            others.push((group, bytes.collect()));
        }
    }
    if !others.is_empty() {
        found.extend(verify(core, now, findings, &others));
    }
    found
}

/// The findings that the scan did not lead to.
pub(crate) fn missed(core: &mut Core, now: f64, wanted: &[Finding], slots: usize) -> Vec<Finding> {
    let scanned = scanned(core, now, slots, &[]);
    let mut found = verify(core, now, DEFERRED, &scanned.first);
    for (id, _) in DEFERRED_KINDS {
        found.extend(verify(core, now, id, &scanned.last));
    }
    // Of cycles that share jobs each side reports the first it reaches.
    let cycle = |one: &Finding| one.id == "dependency-cycle";
    let circular = found.iter().any(cycle);
    let missed = wanted.iter().filter(|one| {
        let same = |other: &Finding| same(other, one) || same(one, other);
        !(found.iter().any(same) || circular && cycle(one))
    });
    missed.cloned().collect()
}

/// The scan leads to all findings, in one pass and in several.
#[track_caller]
pub(crate) fn finds(core: &mut Core, now: f64, wanted: &[Finding]) {
    for slots in [WHOLE, 16] {
        let missed = missed(core, now, wanted, slots);
        assert_eq!(
            describe_all(&missed),
            Vec::<String>::new(),
            "with {slots} slots"
        );
    }
}
