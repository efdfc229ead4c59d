//! The calls that verify candidates: which findings they look for, and how many items they take.

use std::time::{Duration, Instant};

use super::batch_size::BatchSizes;
use super::finding_filter::{VerifyPhase, findings_argument};
use super::options::VerifyOptions;
use crate::core::call::Core;
use crate::error::Error;
use crate::model::verdict::{ItemKind, Location, VerdictReply};
use crate::name::Name;

/// The calls of a scan.
pub(super) struct VerifyCalls {
    phase: VerifyPhase,
    /// The findings that the core looks for in each phase.
    scan_findings: Option<String>,
    deferred_findings: Option<String>,
    batch_sizes: BatchSizes,
    /// The number of candidates verified.
    pub(super) verified: u64,
}

impl VerifyCalls {
    pub(super) fn new(options: &VerifyOptions) -> VerifyCalls {
        let findings = |phase| options.filter.finding_list_to_scan(phase, options.repair);
        VerifyCalls {
            phase: VerifyPhase::DuringScan,
            scan_findings: findings(VerifyPhase::DuringScan),
            deferred_findings: findings(VerifyPhase::AfterScan),
            batch_sizes: BatchSizes::default(),
            verified: 0,
        }
    }

    /// Begins a scan of a server that takes this long for a call that does nothing.
    pub(super) fn begin_scan(&mut self, round_trip: Duration) {
        self.batch_sizes = BatchSizes::new(round_trip);
    }

    /// Verifies from now on the findings that require a complete scan.
    pub(super) fn begin_deferred_phase(&mut self) {
        self.phase = VerifyPhase::AfterScan;
    }

    /// The findings to look for in items of this kind; `None` if there are none.
    pub(super) fn findings_for(&self, kind: ItemKind) -> Option<String> {
        match self.phase {
            VerifyPhase::DuringScan => {
                let findings = self.scan_findings.clone();
                findings.map(|findings| findings_argument(findings, kind))
            }
            VerifyPhase::AfterScan => self.deferred_findings.clone(),
        }
    }

    /// The number of items for one call, whole items only.
    pub(super) fn batch_size(&self, kind: ItemKind, max_size: usize) -> usize {
        let size = self.batch_sizes.size_for(kind).min(max_size);
        size.next_multiple_of(kind.words_per_item())
    }

    /// Has items verified by one call. `is_typical`: other calls will cost as much.
    pub(super) fn verify_items(
        &mut self,
        core: &mut Core,
        findings: &str,
        location: &Location,
        items: &[Name],
        is_typical: bool,
    ) -> Result<VerdictReply, Error> {
        let together = Location::of_jobs_in_one_call();
        let location_or_together = match (location.kind, is_typical) {
            (ItemKind::Job, false) => &together,
            _ => location,
        };
        let begun = Instant::now();
        let reply = core.verify_items(core.now(), findings, location_or_together, items)?;
        self.verified += reply.verified as u64;
        if is_typical {
            let elapsed = begun.elapsed();
            self.batch_sizes
                .adjust_size(location.kind, reply.verified, elapsed);
        }
        Ok(reply)
    }
}
