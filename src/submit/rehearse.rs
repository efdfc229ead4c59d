//! A dry run: what would be put, and what is there already.

use std::sync::mpsc::Receiver;

use super::pack::Round;
use super::{Sender, Told};
use crate::error::Error;
use crate::model::bulk::MOST;
use crate::model::bulk::{Code, Result as Counted};
use crate::name::Name;
use crate::session::Session;

impl Sender<'_> {
    /// Looks at the jobs of each round; returns what broke that off.
    pub(super) fn rehearse(
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
            if let Some(kind) = self.stop.asked() {
                return Ok(Some(self.interrupted(kind, session)));
            }
            let jobs: Vec<_> = round.parts.iter().flat_map(|part| &part.jobs).collect();
            for jobs in jobs.chunks(MOST) {
                let jids: Vec<Name> = jobs.iter().map(|job| round.jid(job).into()).collect();
                let core = session.core()?;
                let now = core.now();
                let seen = core.snapshots(now, &jids)?;
                for (job, seen) in jobs.iter().zip(seen) {
                    let mut told = Told {
                        line: job.line,
                        jid: round.jid(job),
                        queue: round.queue(job),
                        result: Counted::Planned,
                        code: Code::Ok,
                        why: None,
                        detail: None,
                        state: None,
                    };
                    if seen.is_some() && !self.order.policy.replace {
                        told.code = Code::Exists;
                        if self.order.if_absent {
                            told.result = Counted::Skipped;
                        } else {
                            told.result = Counted::Failed;
                            told.why = Some("a job of this id exists already".into());
                        }
                    }
                    self.tally.add(&mut session.ui, told)?;
                }
            }
            self.progress.add(round.jobs() as u64);
        }
        Ok(None)
    }
}
