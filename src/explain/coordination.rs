//! The lane that keeps a job from running.

use crate::clock::moment::Moment;
use crate::core::call::Core;
use crate::error::Error;
use crate::model::job::{Job, Neighbor, State};
/// The jobs that come before a job in its lane, in order. Empty if the job does not wait for them: its state
/// is not `depends`, and the lane does not keep a pop from returning the job (`is_blocked_by_lane`).
pub(super) fn lane_jobs_before(
    core: &mut Core,
    now: Moment,
    job: &Job,
    is_blocked_by_lane: bool,
) -> Result<Vec<Neighbor>, Error> {
    let waits = is_blocked_by_lane || job.state == Some(State::Depends);
    let Some(lane) = job.key.as_ref().filter(|_| waits) else {
        return Ok(Vec::new());
    };
    let mut lane = core.lane_jobs(now, lane)?;
    match lane.iter().position(|other| other.jid == job.jid) {
        Some(place) => lane.truncate(place),
        // A complete or failed job is no longer in its lane, so no job of the lane blocks it.
        None if matches!(job.state, Some(State::Complete | State::Failed)) => lane.clear(),
        None => {}
    }
    Ok(lane)
}
