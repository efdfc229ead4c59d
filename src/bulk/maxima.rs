//! Maxima of throttles that a command names: `--throttle ID=MAX`.

use std::collections::BTreeMap;

use crate::args::coordination::ThrottleArg;
use crate::clock::moment::Moment;
use crate::core::api::guard::ThrottleMaximaJson;
use crate::error::Error;
use crate::model::throttle::{Throttle, describe_maximum};
use crate::name::Name;
use crate::session::{Session, actor};

/// The maxima to set, which differ from the present ones. A put sets them within its own call, and only if it puts a
/// job.
#[derive(Debug)]
pub(crate) struct ThrottleMaximaToSet {
    /// The present throttles with their new maxima.
    changes: Vec<(Throttle, i64)>,
}

/// Sets each maximum that differs from the present one, for a command whose own call cannot set it. The expiry time
/// of the present maximum stays. A dry run only reports what would be set.
pub(crate) fn set_changed_maxima(
    throttles: &[ThrottleArg],
    dry_run: bool,
    now: Moment,
    session: &mut Session,
) -> Result<(), Error> {
    let maxima = ThrottleMaximaToSet::read_changes(throttles, now, session)?;
    if dry_run {
        maxima.note_planned_maxima(session);
        return Ok(());
    }
    maxima.confirm_if_protected(session)?;
    for (present, maximum) in &maxima.changes {
        let ttl = present.ttl_s.filter(|seconds| *seconds > 0);
        let ttl = ttl.map(|seconds| seconds.to_string());
        let core = session.core()?;
        core.set_maximum_and_wake_held_jobs(
            now,
            &present.id,
            *maximum,
            ttl.as_deref(),
            &actor::user_at_host(),
        )?;
    }
    maxima.note_changed_maxima(session);
    Ok(())
}

impl ThrottleMaximaToSet {
    /// Reads which of the throttles have another maximum than the given one. Refuses two maxima for one throttle.
    pub(crate) fn read_changes(
        throttles: &[ThrottleArg],
        now: Moment,
        session: &mut Session,
    ) -> Result<ThrottleMaximaToSet, Error> {
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
        let mut changes = Vec::new();
        if !wanted.is_empty() {
            let ids: Vec<Name> = wanted.keys().map(|id| (*id).clone()).collect();
            for present in session.core()?.throttles(now, &ids)? {
                let maximum = wanted[&present.id];
                if !present.defined || present.maximum != maximum {
                    changes.push((present, maximum));
                }
            }
        }
        Ok(ThrottleMaximaToSet { changes })
    }

    /// Reports what would be set.
    pub(crate) fn note_planned_maxima(&self, session: &mut Session) {
        if !self.changes.is_empty() {
            let what = self.describe_changes();
            session.ui.note_dry_run_changes(&format!("would {what}"));
        }
    }

    /// Asks for consent in a protected context.
    pub(crate) fn confirm_if_protected(&self, session: &mut Session) -> Result<(), Error> {
        if self.changes.is_empty() {
            return Ok(());
        }
        let question = format!(
            "{}{}",
            self.describe_changes(),
            session.on_server_text_if_labeled()?
        );
        session
            .ui
            .confirm_if_protected(&question, |_| String::new())?;
        Ok(())
    }

    /// The maxima as a put takes them; `None` if nothing differs.
    pub(crate) fn changed_maxima_for_put(&self) -> Option<ThrottleMaximaJson> {
        let changes = self.changes.iter();
        let maxima = changes.map(|(present, maximum)| (&present.id, *maximum));
        (!self.changes.is_empty()).then(|| ThrottleMaximaJson::new(maxima, &actor::user_at_host()))
    }

    /// Says on a terminal what was set.
    pub(crate) fn note_changed_maxima(&self, session: &mut Session) {
        if !self.changes.is_empty() {
            session.ui.note_to_people(&self.describe_changes());
        }
    }

    fn describe_changes(&self) -> String {
        let change = |(present, maximum): &(Throttle, i64)| {
            let maximum = describe_maximum(*maximum);
            format!("the maximum of throttle {} to {maximum}", present.id)
        };
        let changes: Vec<String> = self.changes.iter().map(change).collect();
        format!("set {}", changes.join(", "))
    }
}
