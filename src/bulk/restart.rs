//! Notices that the server restarted, was flushed or evicted keys after it had acknowledged changes of this command:
//! the changes may be lost.

use crate::address::Node;
use crate::core::api::epoch::{DataLossCause, LossFreeEpoch};
use crate::core::call::Core;
use crate::error::{Error, Kind};
use crate::interrupt::InterruptFlags;
use crate::model::bulk::JobSnapshot;
use crate::name::Name;
use crate::session::Session;
use crate::text::format_count;

/// Maximum number of the first jobs put that are looked for after a flush.
const MAX_FIRST: usize = 10;

/// Compares what the server reports about restarts, flushes and evictions: at the beginning, after each reconnect and
/// at the end. So the rounds in between need no further call.
#[derive(Debug)]
pub(crate) struct RestartWatch {
    /// `None` if the server does not report it.
    begun: Option<LossFreeEpoch>,
    /// The node of the cluster that was asked last.
    node: Option<Node>,
    /// The number of connections that had broken when the server was asked last.
    losses: u64,
    /// The number of the connection on which the server was asked last.
    connection: u64,
    /// The first jobs that were put. If they still exist after a flush, another database was flushed.
    first: Vec<Name>,
    /// The error about changes that may be lost.
    loss: Option<Error>,
}

impl RestartWatch {
    pub(crate) fn begin_noting_unsupported(session: &mut Session) -> Result<RestartWatch, Error> {
        let watch = RestartWatch::begin_without_support_note(session.core()?)?;
        if watch.begun.is_none() {
            session.ui.note(
                "note: the server does not say whether it restarts (INFO), so a loss of jobs by that \
                 is not noticed",
            );
        }
        Ok(watch)
    }

    /// Begins the watch. Does not say on stderr that the server does not report restarts: another watch of the command
    /// says it.
    pub(super) fn begin_without_support_note(core: &mut Core) -> Result<RestartWatch, Error> {
        Ok(RestartWatch {
            begun: core.current_loss_free_epoch()?,
            node: core.last_connected_cluster_node(),
            losses: core.lost_connection_count(),
            connection: core.connection_number(),
            first: Vec::new(),
            loss: None,
        })
    }

    /// Refuses the jobs that a bulk action has just listed if the server has lost some of them meanwhile (a restart, a
    /// flush, an eviction): the list may lack further jobs.
    pub(super) fn refuse_data_loss_since_listing(
        mut self,
        listed: &[JobSnapshot],
        core: &mut Core,
    ) -> Result<(), Error> {
        let present = core.current_loss_free_epoch()?;
        let first = listed.iter().take(MAX_FIRST).map(|job| job.jid.clone());
        let first: Vec<Name> = first.collect();
        match self.cause_of_loss(core, present, &first) {
            Some(cause) if is_any_job_missing(core, &first) => {
                let (address, cause) = (core.address(), cause.as_data_loss_clause());
                let message = format!(
                    "`{address}` {cause} while the jobs were listed, and has lost some of them; nothing was \
                     changed"
                );
                Err(Error::new(Kind::ServerRestarted, message).hint("run the same command again"))
            }
            _ => Ok(()),
        }
    }

    /// Takes in that a job was put.
    pub(crate) fn remember_put(&mut self, jid: &[u8]) {
        if self.first.len() < MAX_FIRST {
            self.first.push(jid.into());
        }
    }

    /// After a round, asks the server whether it may have lost changes, if the connection is a new one.
    /// `acknowledged` changes were made until now.
    pub(crate) fn check_loss_if_reconnected(&mut self, core: &mut Core, acknowledged: usize) {
        if core.connection_number() == self.connection {
            return;
        }
        // A failure is ignored: the next round fails too, or checks again.
        if let Ok(present) = core.current_loss_free_epoch() {
            self.connection = core.connection_number();
            self.record_loss_if_suspected(core, present, acknowledged);
        }
    }

    /// The error that ends the command: `stopped_by`, else an error with `rerun_hint` if the server may have lost
    /// changes that it acknowledged. Without `stopped_by`, asks the server once more. With `stopped_by`, such a loss
    /// is a warning.
    pub(crate) fn check_loss_at_end(
        mut self,
        stopped_by: Option<Error>,
        acknowledged: usize,
        rerun_hint: String,
        session: &mut Session,
    ) -> Result<Option<Error>, Error> {
        let (core, ui) = session.core_and_ui()?;
        if stopped_by.is_none() && self.begun.is_some() && acknowledged > 0 {
            let interrupt = InterruptFlags::install_handlers_once();
            let present = core
                .disconnect_if_sentinels_name_another_master(&interrupt)
                .and_then(|()| core.current_loss_free_epoch());
            match present {
                Ok(present) => self.record_loss_if_suspected(core, present, acknowledged),
                Err(away) => {
                    if let Some(loss) = &self.loss {
                        ui.warn(&loss.message());
                    }
                    return Ok(Some(away.hint(rerun_hint)));
                }
            }
        }
        let Some(loss) = self.loss else {
            return Ok(stopped_by);
        };
        let error = loss.hint(rerun_hint);
        Ok(Some(match stopped_by {
            None => error,
            Some(stopped_by) => {
                ui.warn(&error.message());
                stopped_by
            }
        }))
    }

    fn record_loss_if_suspected(
        &mut self,
        core: &mut Core,
        present: Option<LossFreeEpoch>,
        acknowledged: usize,
    ) {
        let first = self.first.clone();
        let cause = self.cause_of_loss(core, present, &first);
        if let (Some(cause), true) = (cause, acknowledged > 0) {
            let (address, cause) = (core.address(), cause.as_data_loss_clause());
            let changes = format_count(acknowledged as u64, "change", "changes");
            self.loss = Some(Error::new(
                Kind::ServerRestarted,
                format!(
                    "`{address}` {cause}: up to {changes} that it had acknowledged may be lost"
                ),
            ));
        }
    }

    /// The event by which the server may have lost jobs since it was asked last. A flush counts if one of these
    /// jobs is missing.
    fn cause_of_loss(
        &mut self,
        core: &mut Core,
        present: Option<LossFreeEpoch>,
        first: &[Name],
    ) -> Option<DataLossCause> {
        let (begun, present) = (self.begun.as_ref()?, present?);
        let node = core.last_connected_cluster_node();
        let moved = begun.run_id != present.run_id
            && node.is_some()
            && node != self.node
            && core.lost_connection_count() == self.losses
            && !begun.may_have_failed_over_to(&present);
        self.losses = core.lost_connection_count();
        self.node = node;
        if moved {
            // Another node of the cluster serves the slot now: the slot was moved with all of its keys, so nothing
            // was lost.
            self.begun = Some(present);
            return None;
        }
        let cause = begun.causes_of_loss(&present).find(|cause| match cause {
            DataLossCause::Flushed => is_any_job_missing(core, first),
            DataLossCause::Restarted | DataLossCause::Evicted => true,
        })?;
        self.begun = Some(present);
        Some(cause)
    }
}

/// Whether one of these jobs is missing.
fn is_any_job_missing(core: &mut Core, jids: &[Name]) -> bool {
    let now = core.now();
    let found = core.jobs_exist(now, jids).unwrap_or_default();
    found.contains(&false)
}
