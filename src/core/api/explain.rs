//! Reads what `explain` needs: what decides about the next pop of a queue, and where the data still mentions a job that
//! does not exist.

use super::queue;
use crate::clock::moment::Moment;
use crate::core::call::{Call, Core, calls};
use crate::error::Error;
use crate::model::explain::{MissingJobTraces, PopFacts};
use crate::name::Name;

/// The queue, and optionally a job in it, for which [`PopFacts`] are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueAndOptionalJid<'n> {
    pub queue: &'n Name,
    /// The job whose position in the queue is read, too; `None` for the facts about the queue alone.
    pub jid: Option<&'n Name>,
}

impl Core {
    /// What decides about the next pop of each queue, read in one round trip.
    pub(crate) fn pop_facts(
        &mut self,
        now: Moment,
        queries: &[QueueAndOptionalJid],
    ) -> Result<Vec<PopFacts>, Error> {
        let call = Call::new(calls::LOOK_POP);
        let calls = queries.iter();
        let calls = calls.map(|query| call.clone().arg(query.queue).args(query.jid));
        let mut facts: Vec<PopFacts> = self.call_in_rounds(now, calls, usize::MAX)?;
        for facts in &mut facts {
            queue::add_head_job_waits(now, std::slice::from_mut(&mut facts.queue), false);
        }
        Ok(facts)
    }

    /// Where the id of a job is mentioned.
    pub(crate) fn traces_of_jid(
        &mut self,
        now: Moment,
        jid: &Name,
    ) -> Result<MissingJobTraces, Error> {
        self.call(now, Call::new(calls::LOOK_TRACES).arg(jid))
    }
}
