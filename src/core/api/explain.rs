//! Reading what `explain` needs: what a pop of a queue meets, and traces of jobs that do not exist.

use crate::clock::moment::Moment;
use crate::core::call::{Call, Core, Value, reply};
use crate::error::Error;
use crate::model::explain::{PopFacts, Traces};
use crate::name::Name;

impl Core {
    /// Returns what pops of queues meet, in one round trip; of each queue also where a job stands.
    pub(crate) fn pop_facts(
        &mut self,
        now: Moment,
        queues: &[(&Name, Option<&Name>)],
    ) -> Result<Vec<PopFacts>, Error> {
        let calls: Vec<Call> = queues
            .iter()
            .map(|(queue, jid)| Call::read("look.pop").queue(queue).args(*jid))
            .collect();
        let replies = self.calls(now, &calls).into_iter();
        replies.map(|reply| read(reply?)).collect()
    }

    /// Returns where the id of a job is mentioned.
    pub(crate) fn traces(&mut self, now: Moment, jid: &Name) -> Result<Traces, Error> {
        let mut traces = Traces::default();
        for (field, value) in reply::pairs(self.call(now, Call::read("look.traces").jid(jid))?)? {
            match field.as_slice() {
                b"history" => traces.history = reply::count(&reply::bytes(value)?),
                b"tracked" => traces.tracked = reply::bytes(value)? == b"1",
                b"complete" => traces.complete = reply::bytes(value)? == b"1",
                b"dependents" => traces.dependents = reply::names(value)?,
                b"dependencies" => traces.dependencies = reply::names(value)?,
                b"tags" => traces.tags = reply::names(value)?,
                b"queues" => traces.queues = reply::names(value)?,
                _ => {}
            }
        }
        Ok(traces)
    }
}

fn read(fields: Value) -> Result<PopFacts, Error> {
    let mut facts = PopFacts::default();
    for (field, value) in reply::pairs(fields)? {
        let Some(text) = reply::optional(value)? else {
            continue;
        };
        match field.as_slice() {
            b"limit" => facts.limit = Some(reply::count(&text)),
            b"held" => facts.held = reply::count(&text),
            b"late" => facts.late_recurring = reply::count(&text),
            b"popped" => facts.popped = Moment::read(&text),
            b"holder" => facts.holder = Some(Name::from(text)),
            b"worker" => facts.worker = Some(Name::from(text)),
            b"seen" => facts.seen = Moment::read(&text),
            b"pops" => facts.pops = reply::count(&text),
            b"day" => facts.day = Moment::read(&text),
            b"queued" => facts.queued = Moment::read(&text),
            b"due" => facts.due = Moment::read(&text),
            b"ghost" => facts.ghost = Some(Name::from(text)),
            b"oldest" => facts.oldest = Moment::read(&text),
            b"next_held" => facts.next_held = Some(Name::from(text)),
            b"listed" => facts.listed = true,
            b"ahead" => facts.ahead = reply::count(&text),
            _ => {}
        }
    }
    Ok(facts)
}
