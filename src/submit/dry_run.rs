//! A dry run: which jobs would be put, and which exist already.

use std::sync::mpsc::Receiver;

use super::pack::Round;
use super::{LineOutcome, Sender};
use crate::error::Error;
use crate::model::bulk::MAX_JOBS_PER_CALL;
use crate::model::bulk::{Code, ItemResult};
use crate::name::Name;
use crate::session::Session;

impl Sender<'_> {
    /// Reads the jobs of each round. Returns the error that stopped it.
    pub(super) fn dry_run(
        &mut self,
        session: &mut Session,
        rounds: &Receiver<Result<Round, Error>>,
    ) -> Result<Option<Error>, Error> {
        for round in rounds {
            let round = match round {
                Ok(round) => round,
                Err(error) => return Ok(Some(error)),
            };
            self.done_before(&round);
            if let Some(kind) = self.interrupt.asked() {
                return Ok(Some(self.interrupted(kind, session)));
            }
            let jobs: Vec<_> = round.batches.iter().flat_map(|batch| &batch.jobs).collect();
            for jobs in jobs.chunks(MAX_JOBS_PER_CALL) {
                let jids: Vec<Name> = jobs.iter().map(|job| round.jid(job).into()).collect();
                let core = session.core()?;
                let now = core.now();
                let found = core.snapshots(now, &jids)?;
                for (job, found) in jobs.iter().zip(found) {
                    let mut outcome = LineOutcome {
                        line: job.line,
                        jid: round.jid(job),
                        queue: round.queue(job),
                        result: ItemResult::Planned,
                        code: Code::Ok,
                        why: None,
                        detail: None,
                        state: None,
                    };
                    if found.is_some() && !self.options.policy.replace {
                        outcome.code = Code::Exists;
                        if self.options.if_absent {
                            outcome.result = ItemResult::Skipped;
                        } else {
                            outcome.result = ItemResult::Failed;
                            outcome.why = Some("a job of this id exists already".into());
                        }
                    }
                    self.tally.add(&mut session.ui, outcome)?;
                }
            }
            self.progress.add(round.jobs() as u64);
        }
        Ok(None)
    }
}
