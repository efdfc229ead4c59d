//! A put of one job, for real or as a dry run: the same call, whose one reply is shown.

use crate::args::coordination;
use crate::clock::moment::Moment;
use crate::core::api::guard::GuardReply;
use crate::core::api::put::{PutCall, PutPolicy, PutResult, ThrottleMaxima};
use crate::core::api::queue::CHECK;
use crate::error::{Cause, Error, Kind};
use crate::exit::Exit;
use crate::input::line::NewJob;
use crate::json::Json;
use crate::model::bulk::OutcomeCode;
use crate::model::coordination::{Coordination, CoordinationOption, RequiredOption};
use crate::model::put::Put;
use crate::name::Name;
use crate::session::Session;
use crate::text::short_jid;

/// The put of one job.
#[derive(Debug)]
pub(crate) struct SinglePut<'j> {
    pub job: NewJob<'j>,
    pub jid: Name,
    pub policy: PutPolicy,
    /// Whether an existing job is left as it is.
    pub if_absent: bool,
    pub maxima: Option<ThrottleMaxima>,
}

/// The result of a put, or of its dry run.
#[derive(Debug)]
pub(crate) struct PlacedJob {
    pub shown: Put,
    /// Whether the job was a duplicate, and what then happened.
    deduplication: PutDeduplication,
}

/// Whether a job to put was a duplicate of another job, and what then happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PutDeduplication {
    /// The job was no duplicate.
    None,
    /// The job exists and stays as it is.
    Exists,
    Merged,
    Replaced,
    Skipped,
}

impl SinglePut<'_> {
    /// Puts the job. A job that could not be put is an error.
    pub(crate) fn put_job(&self, now: Moment, session: &mut Session) -> Result<PlacedJob, Error> {
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
                self.note_option_without_effect(now, session)?;
                self.find_placed_job(&placed, now, session)
            }
            OutcomeCode::Exists if self.if_absent => {
                let shown = self.read_existing_job(&self.jid, now, session)?;
                let deduplication = PutDeduplication::Exists;
                Ok(PlacedJob {
                    shown,
                    deduplication,
                })
            }
            OutcomeCode::Exists => Err(self
                .conflict_error(&reply)
                .hint("`--if-absent` leaves it as it is, `--replace` puts it again")),
            OutcomeCode::MissingDependency => Err(self.missing_dependencies_error(&reply)),
            OutcomeCode::Cycle => Err(self.conflict_error(&reply)),
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

    /// Finds the job that was put, or the one that it duplicates, and how.
    pub(crate) fn find_placed_job(
        &self,
        placed: &PutResult,
        now: Moment,
        session: &mut Session,
    ) -> Result<PlacedJob, Error> {
        let queued_behind = placed.behind.clone();
        let existing = placed.jid.as_ref().filter(|jid| **jid != self.jid);
        let Some(existing) = existing else {
            let shown = Put {
                jid: self.jid.clone(),
                queue: Some(Name::from(self.job.queue())),
                state: placed.state.clone(),
                created: true,
                new: true,
                queued_behind,
                dry_run: self.policy.dry_run,
            };
            let deduplication = PutDeduplication::None;
            return Ok(PlacedJob {
                shown,
                deduplication,
            });
        };
        let shown = Put {
            queued_behind,
            ..self.read_existing_job(existing, now, session)?
        };
        let deduplication = match placed.state.as_ref().map(Name::as_bytes) {
            Some(b"merged") => PutDeduplication::Merged,
            Some(b"replaced") => PutDeduplication::Replaced,
            Some(b"skipped") => PutDeduplication::Skipped,
            _ => PutDeduplication::Exists,
        };
        Ok(PlacedJob {
            shown,
            deduplication,
        })
    }

    /// A job that existed before the put, with its present queue and state.
    fn read_existing_job(
        &self,
        jid: &Name,
        now: Moment,
        session: &mut Session,
    ) -> Result<Put, Error> {
        let found = session
            .core()?
            .job_snapshots(now, std::slice::from_ref(jid))?;
        let found = found.into_iter().flatten().next();
        Ok(Put {
            jid: jid.clone(),
            queue: found.as_ref().and_then(|job| job.queue.clone()),
            state: found.as_ref().map(|job| job.state.clone()),
            dry_run: self.policy.dry_run,
            ..Put::default()
        })
    }

    /// Notes an option that was given and has no effect, because neither the put nor the queue says how
    /// puts of one key are answered. It is no error: the defaults of the queue may give it one, and these
    /// can change between two runs of the same command.
    fn note_option_without_effect(&self, now: Moment, session: &mut Session) -> Result<(), Error> {
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
            .map(|stored| Coordination::from_json(&stored))
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

    fn conflict_error(&self, reply: &GuardReply<PutResult>) -> Error {
        let message = self.cannot_put_message(reply.refusal_reason().sentence());
        Error::conflict(message).about_jid(&self.jid)
    }

    fn missing_dependencies_error(&self, reply: &GuardReply<PutResult>) -> Error {
        let mut missing = reply.detail_names();
        let hint = if missing.any(|name| name.as_bytes().contains(&b',')) {
            "name each job by a `--depends` of its own"
        } else {
            "`--allow-missing` ignores dependencies that do not exist"
        };
        Error::not_found(self.cannot_put_message(reply.refusal_reason().sentence()))
            .hint(hint)
            .about_jid(&self.jid)
            .caused_by(Cause::MissingDependency)
    }

    /// The error for a put that the core refused as invalid.
    fn refusal_error(&self, reply: &GuardReply<PutResult>) -> Error {
        // If the put has an option that requires another one, the defaults of the queue did not give that either.
        if let (OutcomeCode::Invalid, Err(unmet)) = (
            reply.code,
            coordination::refuse_unmet_requirements(&self.job.coordination),
        ) {
            return unmet;
        }
        let why = reply.refusal_text();
        // A key has the wrong type: the core names the key, or repeats the error of the server.
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

impl PlacedJob {
    pub(crate) fn has_changed_job(&self) -> bool {
        !matches!(
            self.deduplication,
            PutDeduplication::Exists | PutDeduplication::Skipped
        )
    }

    /// Shows the result, and says on a terminal, or for a dry run, what happened.
    pub(crate) fn show_placed_job(&self, session: &mut Session) -> Result<Exit, Error> {
        let shown = &self.shown;
        session.ui.show(shown)?;
        let (place, jid) = (self.describe_queue_and_state(), &shown.jid);
        if shown.dry_run {
            let behind = self.describe_job_before(Name::to_string);
            session.ui.note_dry_run(&match self.deduplication {
                PutDeduplication::None => format!("would put a job {place}{behind}"),
                PutDeduplication::Exists => "would leave the job as it is".to_owned(),
                PutDeduplication::Merged => format!("would merge the data into {jid} {place}"),
                PutDeduplication::Replaced => format!("would replace {jid} {place}"),
                PutDeduplication::Skipped => format!("would put nothing: {jid} is {place}"),
            });
            return Ok(Exit::Ok);
        }
        let jid = short_jid(jid.as_bytes());
        let behind = self.describe_job_before(|jid| short_jid(jid.as_bytes()));
        session.ui.note_to_people(&match self.deduplication {
            PutDeduplication::None => format!("put {jid} {place}{behind}"),
            PutDeduplication::Merged => format!("merged into {jid} {place}"),
            PutDeduplication::Replaced => format!("replaced {jid} {place}"),
            PutDeduplication::Skipped => format!("skipped: {jid} is {place}"),
            PutDeduplication::Exists if shown.queue.is_none() => {
                format!("{jid} exists already, {place}")
            }
            PutDeduplication::Exists => format!("{jid} exists already {place}"),
        });
        Ok(Exit::Ok)
    }

    /// The queue and the state of the job. A complete job is in no queue.
    fn describe_queue_and_state(&self) -> String {
        let state = self
            .shown
            .state
            .as_ref()
            .map_or("–".into(), Name::to_string);
        match &self.shown.queue {
            Some(queue) => format!("in {queue}, {state}"),
            None => state,
        }
    }

    fn describe_job_before(&self, jid: impl Fn(&Name) -> String) -> String {
        let behind = self.shown.queued_behind.as_ref();
        behind.map_or_else(String::new, |behind| format!(", behind {}", jid(behind)))
    }
}
