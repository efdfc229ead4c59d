//! The put of one job, for real or as a dry run: one call, whose reply becomes the result.

use crate::args::coordination;
use crate::clock::moment::Moment;
use crate::core::api::guard::GuardReply;
use crate::core::api::put::{PutCall, PutPolicy, PutResult, ThrottleMaximaJson};
use crate::core::api::queue::CHECK;
use crate::error::{Cause, Error, Kind};
use crate::exit::Exit;
use crate::input::line::NewJob;
use crate::json::Json;
use crate::model::bulk::OutcomeCode;
use crate::model::coordination::{CoordinationOption, CoordinationOptions, RequiredOption};
use crate::model::put::{DuplicateOutcome, PutOrExistingJob};
use crate::name::Name;
use crate::session::Session;

/// The put of one job.
#[derive(Debug)]
pub(crate) struct SinglePut<'j> {
    pub job: NewJob<'j>,
    pub jid: Name,
    pub policy: PutPolicy,
    /// Whether an existing job is left as it is, instead of being an error.
    pub if_absent: bool,
    pub maxima: Option<ThrottleMaximaJson>,
}

impl SinglePut<'_> {
    /// Puts the job. If the core refuses it, the result is an error.
    pub(crate) fn put_job(
        &self,
        now: Moment,
        session: &mut Session,
    ) -> Result<PutOrExistingJob, Error> {
        let reply = self.send_put(now, session)?;
        match reply.code {
            OutcomeCode::Ok => {
                let placed = reply.done.unwrap_or_default();
                for jid in &placed.no_dependencies {
                    let what = if self.policy.allow_missing {
                        "complete or missing"
                    } else {
                        "complete already"
                    };
                    session
                        .ui
                        .note(&format!("note: `{jid}` is {what}: not a dependency"));
                }
                self.note_if_option_has_no_effect(now, session)?;
                self.find_put_or_duplicated_job(&placed, now, session)
            }
            OutcomeCode::Exists if self.if_absent => {
                self.read_existing_job(&self.jid, now, session)
            }
            OutcomeCode::Exists => Err(self
                .put_conflict_error(&reply)
                .hint("`--if-absent` leaves it as it is, `--replace` puts it again")),
            OutcomeCode::MissingDependency => Err(self.missing_dependencies_error(&reply)),
            OutcomeCode::Cycle => Err(self.put_conflict_error(&reply)),
            _ => Err(self.refusal_error(&reply)),
        }
    }

    /// Makes the call.
    pub(crate) fn send_put(
        &self,
        now: Moment,
        session: &mut Session,
    ) -> Result<GuardReply<PutResult>, Error> {
        let mut puts = PutCall::new(self.policy);
        puts.maxima.clone_from(&self.maxima);
        self.job.add_to_call(self.jid.as_bytes(), now, &mut puts);
        session.core()?.put_one(now, &self.jid, &puts)
    }

    /// The result of an accepted put: the new job, or the existing job that it duplicates with what the core did
    /// about it.
    pub(crate) fn find_put_or_duplicated_job(
        &self,
        placed: &PutResult,
        now: Moment,
        session: &mut Session,
    ) -> Result<PutOrExistingJob, Error> {
        let queued_behind = placed.behind.clone();
        let existing = placed.jid.as_ref().filter(|jid| **jid != self.jid);
        let Some(existing) = existing else {
            return Ok(PutOrExistingJob {
                jid: self.jid.clone(),
                queue: Some(Name::from(self.job.queue())),
                state: placed.state.clone(),
                created: true,
                new: true,
                queued_behind,
                dry_run: self.policy.dry_run,
                duplicate: DuplicateOutcome::None,
            });
        };
        let duplicate = match placed.state.as_ref().map(Name::as_bytes) {
            Some(b"merged") => DuplicateOutcome::Merged,
            Some(b"replaced") => DuplicateOutcome::Replaced,
            Some(b"skipped") => DuplicateOutcome::Skipped,
            _ => DuplicateOutcome::Exists,
        };
        Ok(PutOrExistingJob {
            queued_behind,
            duplicate,
            ..self.read_existing_job(existing, now, session)?
        })
    }

    /// A job that existed before the put, with its present queue and state.
    fn read_existing_job(
        &self,
        jid: &Name,
        now: Moment,
        session: &mut Session,
    ) -> Result<PutOrExistingJob, Error> {
        let found = session
            .core()?
            .job_snapshots(now, std::slice::from_ref(jid))?;
        let found = found.into_iter().flatten().next();
        Ok(PutOrExistingJob {
            jid: jid.clone(),
            queue: found.as_ref().and_then(|job| job.queue.clone()),
            state: found.as_ref().map(|job| job.state.clone()),
            dry_run: self.policy.dry_run,
            duplicate: DuplicateOutcome::Exists,
            ..PutOrExistingJob::default()
        })
    }

    /// Notes an option that has no effect, because neither the put nor the defaults of its queue set the `dup` that
    /// the option requires. This is no error: the defaults can change between two runs of a command.
    fn note_if_option_has_no_effect(
        &self,
        now: Moment,
        session: &mut Session,
    ) -> Result<(), Error> {
        let given = &self.job.coordination;
        let (Some((_, RequiredOption::Dup(needed))), Err(unmet)) = (
            given.first_unmet_requirement(),
            coordination::refuse_unmet_requirements(given),
        ) else {
            return Ok(());
        };
        let key = Name::from([self.job.queue(), b"-defaults"].concat());
        let options = session.core()?.config(now)?.into_iter();
        let stored = options
            .filter(|option| option.set)
            .find(|option| option.key == key);
        let stored = stored.and_then(|stored| Json::parse(stored.value.as_bytes()));
        let defaults = stored
            .map(|stored| CoordinationOptions::from_stored_json(&stored))
            .unwrap_or_default();
        let mut all = given.clone();
        all.fill_absent(&defaults);
        if all.option_value(CoordinationOption::Dup) != Some(needed.as_bytes()) {
            let why = unmet.message();
            session.ui.note(&format!("note: {why}: it has no effect"));
        }
        Ok(())
    }

    fn cannot_put_message(&self, why: &str) -> String {
        format!("cannot put `{}`: {why}", self.jid)
    }

    fn put_conflict_error(&self, reply: &GuardReply<PutResult>) -> Error {
        let message = self.cannot_put_message(
            reply
                .put_or_dependency_refusal_text()
                .text_with_jobs_or_summary(),
        );
        Error::conflict(message).about_jid(&self.jid)
    }

    fn missing_dependencies_error(&self, reply: &GuardReply<PutResult>) -> Error {
        let mut missing = reply.detail_names();
        let hint = if missing.any(|name| name.as_bytes().contains(&b',')) {
            "name each job by a `--depends` of its own"
        } else {
            "`--allow-missing` ignores dependencies that do not exist"
        };
        Error::not_found(
            self.cannot_put_message(
                reply
                    .put_or_dependency_refusal_text()
                    .text_with_jobs_or_summary(),
            ),
        )
        .hint(hint)
        .about_jid(&self.jid)
        .caused_by(Cause::MissingDependency)
    }

    /// The error for a put that the core refused: a missing option, a key of the wrong type, or another reason.
    fn refusal_error(&self, reply: &GuardReply<PutResult>) -> Error {
        // If the put has an option that requires another one, the queue's defaults did not set the required one
        // either.
        if let (OutcomeCode::Invalid, Err(unmet)) = (
            reply.code,
            coordination::refuse_unmet_requirements(&self.job.coordination),
        ) {
            return unmet;
        }
        let why = reply.core_refusal_text();
        // These are the texts about a key of the wrong type. The core names the key, or repeats the server's
        // `WRONGTYPE` error.
        if why.starts_with("WRONGTYPE") || why.contains(" is no ") {
            let why = why
                .split_once("WRONGTYPE")
                .map_or(why.as_str(), |_| "a key that it needs has the wrong type");
            return Error::new(Kind::WrongKeyType, self.cannot_put_message(why))
                .hint(format!("`{CHECK}` names it"));
        }
        Error::new(Kind::Error, self.cannot_put_message(&why))
    }
}

/// Shows the result of a put. On a terminal, or for a dry run, a line on stderr says what happened.
pub(crate) fn show_put(put: &PutOrExistingJob, session: &mut Session) -> Result<Exit, Error> {
    session.ui.show(put)?;
    if put.dry_run {
        session.ui.note_dry_run_changes(&put.change_text());
    } else {
        session.ui.note_to_people(&put.change_text());
    }
    Ok(Exit::Ok)
}
