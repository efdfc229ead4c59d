//! The calls that verify candidates: which findings they look for, and how many items they take.

use std::time::{Duration, Instant};

use super::batch_size::BatchSizes;
use super::finding_filter::{VerifyPhase, exclude_failure_list_searches_if_jobs};
use super::options::VerifyOptions;
use crate::core::call::Core;
use crate::error::Error;
use crate::model::verdict::{ItemKind, ItemLocation, VerdictReply};
use crate::name::Name;

/// The calls of a scan.
pub(super) struct VerifyCaller {
    phase: VerifyPhase,
    /// The findings that the core looks for during the scan.
    scan_findings: Option<String>,
    /// The findings that the core looks for after a complete scan.
    deferred_findings: Option<String>,
    batch_sizes: BatchSizes,
    /// The number of candidates verified.
    pub(super) verified: u64,
}

impl VerifyCaller {
    pub(super) fn new(options: &VerifyOptions) -> VerifyCaller {
        let findings = |phase| options.filter.finding_list_to_scan(phase, options.repair);
        VerifyCaller {
            phase: VerifyPhase::DuringScan,
            scan_findings: findings(VerifyPhase::DuringScan),
            deferred_findings: findings(VerifyPhase::AfterScan),
            batch_sizes: BatchSizes::default(),
            verified: 0,
        }
    }

    /// Begins a scan. `round_trip` is the duration of a call that does nothing.
    pub(super) fn reset_batch_sizes(&mut self, round_trip: Duration) {
        self.batch_sizes = BatchSizes::new(round_trip);
    }

    /// From now on, the calls verify only the findings that require a complete scan.
    pub(super) fn begin_deferred_phase(&mut self) {
        self.phase = VerifyPhase::AfterScan;
    }

    /// The findings to look for in items of this kind; `None` if there are none.
    pub(super) fn findings_for(&self, kind: ItemKind) -> Option<String> {
        match self.phase {
            VerifyPhase::DuringScan => {
                let findings = self.scan_findings.clone();
                findings.map(|findings| exclude_failure_list_searches_if_jobs(findings, kind))
            }
            VerifyPhase::AfterScan => self.deferred_findings.clone(),
        }
    }

    /// The number of arguments for the items of one call. An item of some kinds takes several arguments.
    pub(super) fn args_per_call(&self, kind: ItemKind, max_size: usize) -> usize {
        let size = self.batch_sizes.size_for(kind).min(max_size);
        size.next_multiple_of(kind.call_args_per_item())
    }

    /// Has the core verify items in one call. If `is_typical`, its duration adjusts the size of later calls.
    pub(super) fn verify_items(
        &mut self,
        core: &mut Core,
        findings: &str,
        location: &ItemLocation,
        items: &[Name],
        is_typical: bool,
    ) -> Result<VerdictReply, Error> {
        let together = ItemLocation::for_jobs_verified_together();
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
