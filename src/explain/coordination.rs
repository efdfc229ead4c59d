//! The lane that keeps a job from running.

use crate::clock::moment::Moment;
use crate::core::call::Core;
use crate::error::Error;
use crate::model::job::{Job, Neighbor, State};
/// The jobs before a job in its lane, in order. `ordered`: a pop would not give it away because of them.
pub(super) fn before(
    core: &mut Core,
    now: Moment,
    job: &Job,
    ordered: bool,
) -> Result<Vec<Neighbor>, Error> {
    let waits = ordered || job.state == Some(State::Depends);
    let Some(lane) = job.key.as_ref().filter(|_| waits) else {
        return Ok(Vec::new());
    };
    let lane = core.lane(now, lane)?.into_iter();
    Ok(lane.take_while(|other| other.jid != job.jid).collect())
}
