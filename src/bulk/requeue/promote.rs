//! Promoting: scheduled jobs run now.

use super::{Requeue, When, refuse};
use crate::bulk::{Fate, Plan, Verb};
use crate::cx::Cx;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::bulk::Shows;
use crate::model::seen::Seen;
use crate::view::text::quoted;

pub const PROMOTE: Verb = Verb {
    word: "promote",
    asks: "promote",
    past: "promoted",
    shows: Shows::Nothing,
};

/// Refuses a job that waits for no time. Older cores leave some in the schedule that call
/// themselves waiting.
pub fn judge(job: &Seen) -> Option<Fate> {
    let jid = quoted(&job.jid);
    let hint = match job.stored.as_bytes() {
        b"scheduled" => return None,
        b"waiting" if job.due.is_some() => return None,
        b"failed" => format!("`qless retry {jid}`"),
        b"depends" => format!("let it wait no longer: `qless depends {jid} --off-all`"),
        _ => return Some(refuse(job)),
    };
    Some(refuse(job).hint(hint))
}

/// Promotes the jobs of a plan.
pub fn run(plan: Plan, cx: &mut Cx) -> Result<Exit, Error> {
    let requeue = Requeue {
        to: None,
        priority: None,
    };
    requeue.run(plan, cx, |_| When::Now, |_| true)
}
