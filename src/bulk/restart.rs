//! Notices that the server restarted, was flushed or evicted keys after it had acknowledged changes of this
//! command: it may have lost them.

use crate::address::Node;
use crate::core::api::epoch::ServerEpoch;
use crate::core::call::Core;
use crate::error::{Error, Kind};
use crate::name::Name;
use crate::session::Session;
use crate::text::plural;

/// How many of the jobs that were put first are looked for after a flush.
const MAX_FIRST: usize = 10;

/// Compares the server at the begin, after each reconnect and at the end. That costs no call per round.
#[derive(Debug)]
pub(crate) struct RestartWatch {
    /// `None` if the server does not report it.
    begun: Option<ServerEpoch>,
    /// The node of the cluster that was asked last, and how many connections had broken until then.
    node: Option<Node>,
    losses: u64,
    /// The number of the connection on which the server was asked last.
    connection: u64,
    /// The first jobs that were put. If they still exist after a flush, it was a flush of another database.
    first: Vec<Name>,
    loss: Option<SuspectedLoss>,
}

/// What may have been lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SuspectedLoss {
    cause: &'static str,
    /// How many changes were acknowledged until the loss was noticed.
    acknowledged: usize,
}

impl RestartWatch {
    pub(crate) fn begin(session: &mut Session) -> Result<RestartWatch, Error> {
        let core = session.core()?;
        let begun = core.server_epoch()?;
        let (node, connection) = (core.connected_node(), core.connection_number());
        let losses = core.lost_connections();
        if begun.is_none() {
            session.ui.note(
                "note: the server does not say whether it restarts (INFO), so a loss of jobs by that \
                 is not noticed",
            );
        }
        Ok(RestartWatch {
            begun,
            node,
            losses,
            connection,
            first: Vec::new(),
            loss: None,
        })
    }

    /// Takes in that a job was put.
    pub(crate) fn remember_put(&mut self, jid: &[u8]) {
        if self.first.len() < MAX_FIRST {
            self.first.push(jid.into());
        }
    }

    /// Asks the server after a round, if there is another connection than before. `acknowledged`
    /// changes were made until now.
    pub(crate) fn check_after_round(&mut self, core: &mut Core, acknowledged: usize) {
        if core.connection_number() == self.connection {
            return;
        }
        // If the server is away again, the next round fails, or asks again.
        if let Ok(present) = core.server_epoch() {
            self.connection = core.connection_number();
            self.compare_epoch(core, present, acknowledged);
        }
    }

    /// The error that stopped the command. Without one, asks the server once more, and returns
    /// the error that it may have lost what it acknowledged, with `rerun_hint` as its hint.
    pub(crate) fn check_at_end(
        mut self,
        stopped_by: Option<Error>,
        acknowledged: usize,
        rerun_hint: String,
        session: &mut Session,
    ) -> Result<Option<Error>, Error> {
        let (core, ui) = session.core_and_ui()?;
        if stopped_by.is_none() && self.begun.is_some() && acknowledged > 0 {
            match core.server_epoch() {
                Ok(present) => self.compare_epoch(core, present, acknowledged),
                Err(away) => return Ok(Some(away.hint(rerun_hint))),
            }
        }
        let Some(loss) = self.loss else {
            return Ok(stopped_by);
        };
        let error = loss.loss_error(core).hint(rerun_hint);
        Ok(Some(match stopped_by {
            None => error,
            Some(stopped_by) => {
                ui.warn(&error.message());
                stopped_by
            }
        }))
    }

    fn compare_epoch(
        &mut self,
        core: &mut Core,
        present: Option<ServerEpoch>,
        acknowledged: usize,
    ) {
        let (Some(begun), Some(present)) = (&self.begun, present) else {
            return;
        };
        let node = core.connected_node();
        let moved = begun.run_id != present.run_id
            && node.is_some()
            && node != self.node
            && core.lost_connections() == self.losses
            && !begun.was_replaced_by(&present);
        self.losses = core.lost_connections();
        self.node = node;
        if moved {
            // Another node of the cluster serves the slot now: it was moved with all of its keys, so nothing was lost.
            self.begun = Some(present);
            return;
        }
        let cause = match () {
            () if begun.run_id != present.run_id => "restarted, or another one took its place",
            () if present.flushes > begun.flushes && self.has_lost_first_jobs(core) => {
                "was flushed"
            }
            // Policies that evict only keys with an expiry delete no job: then the policy is not known here.
            () if present.evicted > begun.evicted && core.eviction_policy().is_some() => {
                "evicted keys, because its memory was full"
            }
            () => return,
        };
        self.begun = Some(present);
        if acknowledged > 0 {
            self.loss = Some(SuspectedLoss {
                cause,
                acknowledged,
            });
        }
    }

    /// Whether one of the first jobs is missing.
    fn has_lost_first_jobs(&self, core: &mut Core) -> bool {
        let now = core.now();
        let found = core.jobs_exist(now, &self.first).unwrap_or_default();
        found.contains(&false)
    }
}

impl SuspectedLoss {
    /// The error about changes that may be lost.
    pub(crate) fn loss_error(self, core: &Core) -> Error {
        let (address, cause) = (core.address(), self.cause);
        let changes = plural(self.acknowledged as u64, "change", "changes");
        Error::new(
            Kind::ServerRestarted,
            format!("`{address}` {cause}: up to {changes} that it had acknowledged may be lost"),
        )
    }
}
