//! Maxima of throttles that a put names: `--throttle ID=MAX`.

use std::collections::BTreeMap;

use crate::args::coordination::Throttled;
use crate::clock::moment::Moment;
use crate::error::Error;
use crate::model::throttle::{Throttle, maximum_text};
use crate::name::Name;
use crate::session::{Session, actor};

/// The maxima that differ from the present ones.
///
/// A put that puts nothing changes no throttle, so a maximum is set after the put: until then the
/// throttle has its present one. A throttle without a maximum has no limit: its jobs could be popped
/// before it gets one. So its maximum is set before the put, and deleted if nothing was put.
#[derive(Debug)]
pub(crate) struct Maxima {
    changes: Vec<Change>,
    /// Whether all are set.
    settled: bool,
}

#[derive(Debug)]
struct Change {
    present: Throttle,
    maximum: i64,
    /// Whether this command has set it.
    set: bool,
}

/// Sets each maximum that differs from the present one. A time after which the present one is
/// forgotten stays.
pub(crate) fn set(
    throttles: &[Throttled],
    dry_run: bool,
    now: Moment,
    session: &mut Session,
) -> Result<(), Error> {
    let mut maxima = Maxima::read(throttles, now, session)?;
    if dry_run {
        maxima.rehearse(session);
        return Ok(());
    }
    maxima.confirm(session)?;
    maxima.set_all(now, session)
}

impl Maxima {
    /// Reads the throttles that have another maximum. Refuses two maxima for one throttle.
    pub(crate) fn read(
        throttles: &[Throttled],
        now: Moment,
        session: &mut Session,
    ) -> Result<Maxima, Error> {
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
                    changes.push(Change {
                        present,
                        maximum,
                        set: false,
                    });
                }
            }
        }
        Ok(Maxima {
            changes,
            settled: false,
        })
    }

    /// Reports what would be set.
    pub(crate) fn rehearse(&self, session: &mut Session) {
        if !self.changes.is_empty() {
            let what = self.describe();
            session.ui.note_dry_run(&format!("would {what}"));
        }
    }

    /// Asks for consent in a protected context.
    pub(crate) fn confirm(&self, session: &mut Session) -> Result<(), Error> {
        if self.changes.is_empty() {
            return Ok(());
        }
        let question = format!("{}{}", self.describe(), session.on()?);
        session.ui.confirm_protected(&question, |_| String::new())?;
        Ok(())
    }

    fn describe(&self) -> String {
        let change = |change: &Change| {
            let Change {
                present, maximum, ..
            } = change;
            let maximum = maximum_text(*maximum);
            format!("the maximum of throttle {} to {maximum}", present.id)
        };
        let changes: Vec<String> = self.changes.iter().map(change).collect();
        format!("set {}", changes.join(", "))
    }

    /// Returns whether a throttle has no maximum yet.
    pub(crate) fn has_new(&self) -> bool {
        let mut changes = self.changes.iter();
        changes.any(|change| !change.set && !change.present.defined)
    }

    /// Sets the maxima of throttles that have none.
    pub(crate) fn set_new(&mut self, now: Moment, session: &mut Session) -> Result<(), Error> {
        let new = |change: &&mut Change| !change.set && !change.present.defined;
        for change in self.changes.iter_mut().filter(new) {
            change.set(now, session)?;
        }
        Ok(())
    }

    /// Sets the maxima that are not set yet.
    fn set_all(&mut self, now: Moment, session: &mut Session) -> Result<(), Error> {
        if self.settled {
            return Ok(());
        }
        for change in self.changes.iter_mut().filter(|change| !change.set) {
            change.set(now, session)?;
        }
        self.settled = true;
        if !self.changes.is_empty() {
            session.ui.note_on_terminal(&self.describe());
        }
        Ok(())
    }

    /// Sets the other maxima after a put. If nothing was put, deletes those that were set before;
    /// `existing` are jobs that were found instead.
    pub(crate) fn settle(
        &mut self,
        put: bool,
        existing: &[Name],
        now: Moment,
        session: &mut Session,
    ) -> Result<(), Error> {
        if put {
            return self.set_all(now, session);
        }
        for change in self.changes.iter().filter(|change| change.set) {
            if !change.is_used(existing, now, session)? {
                let id = &change.present.id;
                session.core()?.delete_throttle(now, id)?;
            }
        }
        Ok(())
    }
}

impl Change {
    fn set(&mut self, now: Moment, session: &mut Session) -> Result<(), Error> {
        let ttl = self.present.ttl_s.filter(|seconds| *seconds > 0);
        let ttl = ttl.map(|seconds| seconds.to_string());
        let id = &self.present.id;
        session
            .core()?
            .set_throttle(now, id, self.maximum, ttl.as_deref(), &actor::by())?;
        self.set = true;
        Ok(())
    }

    /// Returns whether another client may rely on the maximum that this command has set. The same
    /// command on another machine finds it, leaves it as it is, and puts the job that this one then
    /// finds: that job has the throttle.
    fn is_used(
        &self,
        existing: &[Name],
        now: Moment,
        session: &mut Session,
    ) -> Result<bool, Error> {
        let id = &self.present.id;
        let core = session.core()?;
        let present = core.throttles(now, std::slice::from_ref(id))?;
        let same = |throttle: &Throttle| {
            throttle.maximum == self.maximum
                && throttle.ttl_s.is_none()
                && throttle.locks + throttle.pending == 0
        };
        if !present.iter().all(same) {
            return Ok(true);
        }
        let jobs = core.jobs_with(now, "jid,throttles", existing)?;
        let mut jobs = jobs.into_iter().flatten();
        Ok(jobs.any(|job| job.throttles.contains(id)))
    }
}
