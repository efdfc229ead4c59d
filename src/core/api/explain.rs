//! Reads what `explain` needs: what decides about the next pop of a queue, and where the data still mentions a job that
//! does not exist.

use super::queue;
use crate::clock::moment::Moment;
use crate::core::call::{Call, Core, calls};
use crate::error::Error;
use crate::model::explain::{MissingJobTraces, PopFacts};
use crate::name::Name;

impl Core {
    /// What decides about the next pop of each queue, read in one round trip. If a jid is given with a queue, the facts
    /// include the position of its job in that queue.
    pub(crate) fn pop_facts(
        &mut self,
        now: Moment,
        queues_and_jids: &[(&Name, Option<&Name>)],
    ) -> Result<Vec<PopFacts>, Error> {
        let call = |(queue, jid): &(&Name, Option<&Name>)| {
            Call::new(calls::LOOK_POP).arg(queue).args(*jid)
        };
        let calls = queues_and_jids.iter().map(call);
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
