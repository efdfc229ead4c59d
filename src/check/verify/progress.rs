//! The progress of a scan, its pace, and its interrupt.

use crate::bulk::pace::Pace;
use crate::check::scan::ScanCounts;
use crate::error::Error;
use crate::interrupt::InterruptFlags;
use crate::text::with_thousands_separators;
use crate::ui::Progress;

/// The pace and the progress of a scan.
pub(crate) struct VerifyProgress {
    bar: Progress,
    pace: Pace,
    interrupt: InterruptFlags,
    /// The counts of the scan. A key that is scanned in several passes counts once.
    pub(super) counts: ScanCounts,
    /// The number of the current pass over all keys, and the number of keys that this pass has scanned so far.
    pass: (u64, u64),
}

impl VerifyProgress {
    pub(crate) fn new(bar: Progress, pace: Pace, interrupt: InterruptFlags) -> VerifyProgress {
        VerifyProgress {
            bar,
            pace,
            interrupt,
            counts: ScanCounts::default(),
            pass: (0, 0),
        }
    }

    /// Waits until `--rate` allows `count` more keys or members. A received signal is an error.
    pub(super) fn pace_unless_interrupted(&mut self, count: usize) -> Result<(), Error> {
        self.pace.wait_unless_interrupted(count, &self.interrupt)
    }

    /// Maximum number of keys or members of one read, as `--rate` allows it.
    pub(super) fn max_members_per_read(&self) -> usize {
        self.pace.slice_size(usize::MAX)
    }

    /// A pass over all keys begins.
    pub(super) fn note_pass_start(&mut self) {
        self.pass = (self.pass.0 + 1, 0);
    }

    /// Counts the scanned keys, redraws the progress bar, and waits as long as `--rate` requires.
    pub(super) fn note_and_pace_keys_scanned(
        &mut self,
        since_last: ScanCounts,
    ) -> Result<(), Error> {
        self.pass.1 += since_last.keys;
        let (pass, passed) = self.pass;
        if pass > 1 {
            let note = format!("pass {pass}: {}", with_thousands_separators(passed));
            self.bar.fill_and_show_pending(note);
        } else {
            self.counts.keys += since_last.keys;
            self.counts.jobs += since_last.jobs;
            self.counts.queues += since_last.queues;
            self.bar.add_done(since_last.keys);
        }
        self.pace_unless_interrupted(usize::try_from(since_last.keys).unwrap_or(usize::MAX))
    }

    /// Redraws the progress bar, which counts only keys, and waits as long as `--rate` requires for these members.
    pub(super) fn pace_member_reads(&mut self, members: usize) -> Result<(), Error> {
        self.bar.add_done(0);
        self.pace_unless_interrupted(members)
    }

    pub(super) fn clear_bar(self) {
        self.bar.remove_bar();
    }
}
