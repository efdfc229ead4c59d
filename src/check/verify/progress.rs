//! The progress of a scan, its pace, and its interrupt.

use crate::bulk::pace::Pace;
use crate::check::scan::ScanCounts;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::text::with_thousands_separators;
use crate::ui::Progress;

/// The pace and the progress of a scan.
pub(crate) struct VerifyProgress {
    bar: Progress,
    pace: Pace,
    interrupt: Interrupt,
    /// The counts of the scan. A key that is scanned in several passes counts once.
    pub(super) counts: ScanCounts,
    /// The number of this pass over all keys, and the number of keys that the pass has scanned.
    pass: (u64, u64),
}

impl VerifyProgress {
    pub(crate) fn new(bar: Progress, pace: Pace, interrupt: Interrupt) -> VerifyProgress {
        VerifyProgress {
            bar,
            pace,
            interrupt,
            counts: ScanCounts::default(),
            pass: (0, 0),
        }
    }

    /// Waits for the pace after `count` keys or members. An interrupt is an error.
    pub(super) fn keep_pace(&mut self, count: usize) -> Result<(), Error> {
        self.pace.wait_before_slice(count, &self.interrupt);
        match self.interrupt.kind_of_received_signal() {
            Some(kind) => Err(Error::new(kind, "interrupted")),
            None => Ok(()),
        }
    }

    /// Maximum number of keys or members that one read may have at this pace.
    pub(super) fn max_members_per_read(&self) -> usize {
        self.pace.slice_size(usize::MAX)
    }

    /// A pass over all keys begins.
    pub(super) fn note_pass_start(&mut self) {
        self.pass = (self.pass.0 + 1, 0);
    }

    /// Counts the keys, redraws the bar, and waits for the pace.
    pub(super) fn note_keys_scanned(&mut self, since_last: ScanCounts) -> Result<(), Error> {
        self.pass.1 += since_last.keys;
        let (pass, passed) = self.pass;
        if pass > 1 {
            let note = format!("pass {pass}: {}", with_thousands_separators(passed));
            self.bar.fill_and_note(note);
        } else {
            self.counts.keys += since_last.keys;
            self.counts.jobs += since_last.jobs;
            self.counts.queues += since_last.queues;
            self.bar.add_done(since_last.keys);
        }
        self.keep_pace(usize::try_from(since_last.keys).unwrap_or(usize::MAX))
    }

    /// Redraws the bar, whose count is of keys only, and waits for the pace.
    pub(super) fn pace_member_reads(&mut self, members: usize) -> Result<(), Error> {
        self.bar.add_done(0);
        self.keep_pace(members)
    }

    pub(super) fn clear_bar(self) {
        self.bar.finish();
    }
}
