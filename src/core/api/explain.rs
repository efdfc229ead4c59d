//! Reading what `explain` needs: what a pop of a queue meets, and traces of jobs that do not exist.

use super::queue;
use crate::clock::moment::Moment;
use crate::core::call::{Call, Core, Value, reply};
use crate::error::Error;
use crate::model::explain::{FullThrottle, PopFacts, Traces};
use crate::model::job::Neighbor;
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
        replies.map(|reply| read(now, reply?)).collect()
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

fn read(now: Moment, fields: Value) -> Result<PopFacts, Error> {
    let mut facts = PopFacts::default();
    for (field, value) in reply::pairs(fields)? {
        if field == b"queue" {
            facts.queue = queue::read(now, value)?;
            continue;
        }
        if field == b"throttles" || field == b"full" {
            let rows = reply::list(value)?.into_iter().map(throttle);
            let rows = rows.collect::<Result<Vec<_>, Error>>()?;
            if field == b"full" {
                facts.full = rows
            } else {
                facts.throttles = rows
            }
            continue;
        }
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
            b"next" => facts.next = Some(Name::from(text)),
            b"ready" => facts.ready = Moment::read(&text),
            b"renewed" => facts.renewed = reply::count(&text),
            b"ordered" => facts.ordered = true,
            b"due" => facts.due = Moment::read(&text),
            b"ghost" => facts.ghost = Some(Name::from(text)),
            b"oldest" => facts.oldest = Moment::read(&text),
            b"listed" => facts.listed = true,
            b"pace" => {
                facts.pace = std::str::from_utf8(&text)
                    .ok()
                    .and_then(|text| text.parse().ok())
            }
            b"ahead" => facts.ahead = reply::count(&text),
            _ => {}
        }
    }
    Ok(facts)
}

/// Reads a row of `throttle/figures`.
fn throttle(row: Value) -> Result<FullThrottle, Error> {
    let words = reply::names(row)?;
    let (figures, holders) = words
        .split_at_checked(4)
        .ok_or_else(|| reply::unexpected("the figures of a throttle"))?;
    let text = |word: &Name| std::str::from_utf8(word.as_bytes()).ok().map(str::to_owned);
    let holder = |words: &[Name]| Neighbor {
        jid: words[0].clone(),
        klass: Some(words[1].clone()).filter(|klass| !klass.is_empty()),
        queue: Some(words[2].clone()).filter(|queue| !queue.is_empty()),
        state: text(&words[3]).and_then(|state| state.parse().ok()),
        job: None,
    };
    Ok(FullThrottle {
        id: figures[0].clone(),
        maximum: text(&figures[1])
            .and_then(|text| text.parse().ok())
            .unwrap_or(0),
        taken: reply::count(figures[2].as_bytes()),
        waiting: reply::count(figures[3].as_bytes()),
        holders: holders.chunks_exact(4).map(holder).collect(),
    })
}
