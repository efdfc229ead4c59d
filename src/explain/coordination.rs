//! The lane that keeps a job from running.

use crate::clock::moment::Moment;
use crate::core::call::Core;
use crate::error::Error;
use crate::model::job::{Job, Neighbor, State};
/// The jobs before a job in its lane, in order. With `ordered`, a pop would not return the job because of them.
pub(super) fn lane_jobs_before(
    core: &mut Core,
    now: Moment,
    job: &Job,
    ordered: bool,
) -> Result<Vec<Neighbor>, Error> {
    let waits = ordered || job.state == Some(State::Depends);
    let Some(lane) = job.key.as_ref().filter(|_| waits) else {
        return Ok(Vec::new());
    };
    let mut lane = core.lane_jobs(now, lane)?;
    match lane.iter().position(|other| other.jid == job.jid) {
        Some(place) => lane.truncate(place),
        // A job that has ended has left its lane, so no job there blocks it.
        None if matches!(job.state, Some(State::Complete | State::Failed)) => lane.clear(),
        None => {}
    }
    Ok(lane)
}
