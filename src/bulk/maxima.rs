//! Maxima of throttles that a put names: `--throttle ID=MAX`.

use std::collections::BTreeMap;

use crate::args::coordination::Throttled;
use crate::clock::moment::Moment;
use crate::error::Error;
use crate::name::Name;
use crate::session::Session;

/// Sets each maximum that differs from the present one. A time after which the present one is
/// forgotten stays.
pub(crate) fn set(
    throttles: &[Throttled],
    dry_run: bool,
    now: Moment,
    session: &mut Session,
) -> Result<(), Error> {
    let mut wanted: BTreeMap<&Name, i64> = BTreeMap::new();
    for throttle in throttles {
        let Some(maximum) = throttle.maximum else {
            continue;
        };
        let id = &throttle.id;
        if wanted
            .insert(id, maximum)
            .is_some_and(|other| other != maximum)
        {
            return Err(Error::usage(format!(
                "`--throttle` gives `{id}` two maxima"
            )));
        }
    }
    if wanted.is_empty() {
        return Ok(());
    }
    let ids: Vec<Name> = wanted.keys().map(|id| (*id).clone()).collect();
    let mut present = session.core()?.throttles(now, &ids)?;
    present.retain(|throttle| !throttle.defined || throttle.maximum != wanted[&throttle.id]);
    if present.is_empty() {
        return Ok(());
    }
    let maximum = |id: &Name| format!("the maximum of throttle {id} to {}", wanted[id]);
    let changes: Vec<String> = present
        .iter()
        .map(|throttle| maximum(&throttle.id))
        .collect();
    let what = format!("set {}", changes.join(", "));
    if dry_run {
        session.ui.note_dry_run(&format!("would {what}"));
        return Ok(());
    }
    let question = format!("{what}{}", session.on()?);
    session.ui.confirm_protected(&question, |_| String::new())?;
    for throttle in &present {
        let ttl = throttle.ttl_s.filter(|seconds| *seconds > 0);
        let ttl = ttl.map(|seconds| seconds.to_string());
        let id = &throttle.id;
        session
            .core()?
            .set_throttle(now, id, wanted[id], ttl.as_deref())?;
    }
    session.ui.note_on_terminal(&what);
    Ok(())
}
