//! The throttles and the lane that keep a job from running.

use crate::clock::moment::Moment;
use crate::core::call::Core;
use crate::error::Error;
use crate::model::job::{Job, Neighbor, State};
use crate::model::throttle::ThrottleJobs;
use crate::name::Name;

/// What coordinates a job with others, as far as it matters in its state.
#[derive(Debug, Default)]
pub(super) struct CoordinationFacts {
    /// The throttles that have no free slot for it, each with its holders.
    pub full: Vec<ThrottleJobs>,
    /// The jobs before it in its lane, in order.
    pub before: Vec<Neighbor>,
}

/// Reads the throttles of a job that could run but for them, and the lane of a job that waits for
/// others.
pub(super) fn read(core: &mut Core, now: Moment, job: &Job) -> Result<CoordinationFacts, Error> {
    let mut facts = CoordinationFacts::default();
    let can_wait = [State::Throttled, State::Waiting, State::Stalled];
    if job.state.is_some_and(|state| can_wait.contains(&state)) {
        for id in &job.throttles {
            let throttle = core.throttle(now, id)?;
            if is_full(&throttle, &job.jid) {
                facts.full.push(throttle);
            }
        }
    }
    if let (Some(State::Depends), Some(lane)) = (job.state, &job.key) {
        let lane = core.lane(now, lane)?.into_iter();
        facts.before = lane.take_while(|other| other.jid != job.jid).collect();
    }
    Ok(facts)
}

/// Whether a throttle has no free slot for a job. A job that was not ended keeps its slot.
fn is_full(throttle: &ThrottleJobs, jid: &Name) -> bool {
    let limit = throttle.throttle.maximum;
    let holds = throttle.holders.iter().any(|holder| holder.jid == *jid);
    limit != 0 && !holds && throttle.throttle.locks >= limit.max(0) as u64
}
