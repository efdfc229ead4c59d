//! Runs a command on the members of a context: the prefixes or servers that the context names as one. The command
//! runs on all members at the same time, on the members that hold the named jobs, or on the member that a new job
//! belongs to.
//!
//! Each member runs the command in a thread, with a session and a connection of its own. This module joins the output
//! of the members, and asks their questions once for all of them. There is no state besides the config file.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use super::Command;
use crate::args::format::Format;
use crate::args::input_arg::ValueFileOrStdinArg;
use crate::command_line;
use crate::commands::MemberDispatch;
use crate::core::call::Core;
use crate::error::{Cause, Error, Kind};
use crate::exit::Exit;
use crate::input::jids;
use crate::input::jids::GivenJids;
use crate::input::source::StdinAvailability;
use crate::name::Name;
use crate::session::{MemberCommandPart, Session, SharedStreamCounters};
use crate::settings::members::{ContextMember, ContextMembers};
use crate::text::{Sanitized, format_count};
use crate::threads;
use crate::ui::Ui;
use crate::ui::member::{
    MemberMessage, MemberQuestion, MemberSender, MemberStreams, label_with_member,
};
use crate::view::ViewOutput;
use crate::view::joined::{MemberOutputs, with_first_field};
use crate::work;
use crate::work::process::terminate_when_parent_dies;

/// Runs the subcommand on the members of the context in use.
pub(super) fn run(
    command: &Command,
    members: &ContextMembers,
    session: &mut Session,
) -> Result<Exit, Error> {
    let group = CommandOnMembers {
        command,
        dispatch: command.context_member_dispatch(),
        members,
        names_several_groups: session.canonical_command().flag_count("--group") > 1,
    };
    match &group.dispatch {
        MemberDispatch::Itself => command.run(session),
        MemberDispatch::Apart => {
            session.refuse_password_prompt_per_member()?;
            session.members = members.list.clone();
            command.run(session)
        }
        MemberDispatch::Refused(why) => Err(group.single_member_error(why)),
        _ if command.may_write() && session.canonical_command().has_flag("--limit") => {
            Err(group.single_member_error("`--limit` counts the jobs of one"))
        }
        MemberDispatch::Each
        | MemberDispatch::EachMustHaveNames
        | MemberDispatch::Jobs([])
        | MemberDispatch::JobsInOrder([])
        | MemberDispatch::Wait { jids: [], .. } => {
            let part = |_| Some(MemberCommandPart::default());
            group.run_side_by_side(members.list.iter().map(part).collect(), session)
        }
        MemberDispatch::Jobs(given)
        | MemberDispatch::AllJobs(given)
        | MemberDispatch::Wait { jids: given, .. } => {
            group.run_on_members_with_jobs(given, session)
        }
        MemberDispatch::JobsInOrder(given) => group.run_in_job_order(given, session),
        MemberDispatch::Job(jid) => {
            let given = [ValueFileOrStdinArg::Value(
                OsStr::from_bytes(jid.as_bytes()).to_owned(),
            )];
            group.run_on_members_with_jobs(&given, session)
        }
        MemberDispatch::NewJob { kept_with, jid } => {
            let fresh = uuid::Uuid::new_v4();
            let kept_with = kept_with.as_deref().unwrap_or(fresh.as_bytes());
            let new = || ContextMembers::member_index_of_new_job(kept_with, members.list.len());
            let found = jid.and_then(|jid| group.find_member_with_job(jid, session));
            let index = found.unwrap_or_else(new);
            group.run_on_member(index, MemberCommandPart::default(), session)
        }
        MemberDispatch::NewJobs(args) => {
            let lines = args.split_lines_among_members(members.list.len(), session)?;
            let parts = lines.into_iter().map(|lines| {
                Some(MemberCommandPart {
                    lines: Some(lines),
                    input_sharing_member_count: Some(members.list.len()),
                    ..MemberCommandPart::default()
                })
            });
            group.run_side_by_side(parts.collect(), session)
        }
        MemberDispatch::InTurn => group.run_one_after_another(session),
        MemberDispatch::UntilFound => group.run_until_job_found(session),
        MemberDispatch::Processes => match members.member_of_this_process()? {
            Some(member) => {
                _ = terminate_when_parent_dies();
                let index = members.list.iter().position(|one| one.name == member.name);
                group.run_on_member(index.unwrap_or(0), MemberCommandPart::default(), session)
            }
            None => work::members::run(members, session),
        },
    }
}

/// A command, and the members it runs on.
struct CommandOnMembers<'g> {
    command: &'g Command,
    dispatch: MemberDispatch<'g>,
    members: &'g ContextMembers,
    /// Whether several groups are named. A member that lacks one of them does not list the jobs of the others either.
    names_several_groups: bool,
}

/// How the command ended on a member.
type MemberResult<'g> = (&'g ContextMember, Result<Exit, Error>);

impl<'g> CommandOnMembers<'g> {
    /// The error for a command that runs on one member only, in a context of several.
    fn single_member_error(&self, why: &str) -> Error {
        let count = format_count(self.members.list.len() as u64, "member", "members");
        let error = Error::usage(format!("{why}, and the context has {count}"));
        match self.members.list.first() {
            Some(one) => {
                let flag = command_line::flag_with_quoted_value(
                    self.members.kind.selecting_flag(),
                    &one.name,
                );
                error.hint(format!("name one, such as `{flag}`"))
            }
            None => error,
        }
    }

    /// Adds a hint to the error about a missing dependency: the dependency may be on another member.
    fn with_hint_if_dependency_missing(&self, error: Error) -> Error {
        if error.cause() == Some(&Cause::MissingDependency) {
            error.hint(
                "a job can depend only on jobs of the same member: `--shard-by PATH` puts jobs with one \
                 value in their data together, `--prefix` or `--context` names a member",
            )
        } else {
            error
        }
    }

    /// Runs the command on one member, as if the context were this member alone.
    fn run_on_member(
        &self,
        index: usize,
        part: MemberCommandPart,
        session: &mut Session,
    ) -> Result<Exit, Error> {
        let member = &self.members.list[index];
        let suffix = member.file_suffix();
        session.use_only_member(member, MemberCommandPart { suffix, ..part });
        let result = self.command.run(session);
        result.map_err(|error| {
            if is_unreachable(&error) && session.core_if_open().is_none() {
                let text = label_with_member(&member.name, &error.message());
                return Error::new(error.kind(), text);
            }
            self.with_hint_if_dependency_missing(error)
        })
    }

    /// Runs the command on each member that gets a part, in threads at the same time.
    fn run_side_by_side(
        &self,
        mut parts: Vec<Option<MemberCommandPart>>,
        session: &mut Session,
    ) -> Result<Exit, Error> {
        session.refuse_password_prompt_per_member()?;
        let running = parts.iter().flatten().count() as u32;
        let members_must_stop = Arc::new(AtomicBool::new(false));
        let stream = Arc::new(SharedStreamCounters::default());
        let stdout_lost = Arc::new(AtomicBool::new(false));
        let (to, messages) = channel();
        let mut answers: Vec<Option<Sender<bool>>> = Vec::new();
        thread::scope(|scope| {
            for (index, member) in self.members.list.iter().enumerate() {
                let Some(mut part) = parts[index].take() else {
                    answers.push(None);
                    continue;
                };
                part.suffix = member.file_suffix();
                part.stdin = StdinAvailability::Shared;
                part.members = running;
                part.members_must_stop = members_must_stop.clone();
                part.stream = stream.clone();
                let (answer, answered) = channel();
                answers.push(Some(answer));
                let sender = MemberSender {
                    index,
                    to: to.clone(),
                };
                let streams = MemberStreams {
                    sender: sender.clone(),
                    answers: answered,
                    heading: self.members.kind.table_heading(),
                    stdout_lost: stdout_lost.clone(),
                };
                let ui = Ui::for_member(&member.globals, &session.ui, streams);
                let mut own = session.for_member(member, ui, part);
                let of_thread = sender.clone();
                let started = threads::spawn_scoped(scope, move || {
                    let result = self.command.run(&mut own);
                    of_thread.send(MemberMessage::Ended(result));
                });
                if let Err(error) = started {
                    sender.send(MemberMessage::Ended(Err(error)));
                }
            }
            drop(to);
            let mut collected = MemberRunCoordinator {
                group: self,
                answers,
                questions: Vec::new(),
                shown: self.members.list.iter().map(|_| Vec::new()).collect(),
                results: Vec::new(),
                members_must_stop: members_must_stop.clone(),
                stdout_lost,
                decisive: None,
                refusal: None,
                ready: Vec::new(),
            };
            // After an error, `receive_messages` drops the remaining messages, so that no member waits for a reply to
            // them.
            let received = collected.receive_messages(messages, session);
            if received.is_err() {
                members_must_stop.store(true, Ordering::Relaxed);
            }
            received?;
            collected.show_results_and_choose_exit(session)
        })
    }

    /// Finds the members that hold the jobs, and runs the command there. A jid that no member has goes to the member
    /// to which a new job with this jid would belong: that member reports the job as missing. A command that needs
    /// all of its jobs runs nowhere if a job is missing.
    fn run_on_members_with_jobs(
        &self,
        given: &[ValueFileOrStdinArg],
        session: &mut Session,
    ) -> Result<Exit, Error> {
        session.refuse_password_prompt_per_member()?;
        let from_stdin = given.contains(&ValueFileOrStdinArg::Stdin);
        let given = jids::read_jids(&mut session.input(), given)?;
        let found = self.members_have_jobs(given.jids(), session);
        let count = self.members.list.len();
        if let Some(error) = error_if_all_unreachable(&found) {
            return Err(error);
        }
        let mut own: Vec<Vec<Name>> = vec![Vec::new(); count];
        let mut unknown = Vec::new();
        let away = || found.iter().find_map(|found| found.as_ref().err());
        let all_must_exist = matches!(self.dispatch, MemberDispatch::AllJobs(_));
        for (at, jid) in given.jids().iter().enumerate() {
            let has = |found: &Result<Vec<bool>, Error>| found.as_ref().is_ok_and(|has| has[at]);
            let holders: Vec<usize> = (0..count).filter(|index| has(&found[*index])).collect();
            match holders.as_slice() {
                [] if away().is_some() => unknown.push(jid),
                [] if all_must_exist => {
                    let what = format!("job `{jid}` does not exist; nothing was changed");
                    return Err(Error::not_found(what).about_jid(jid));
                }
                [] => own[ContextMembers::member_index_of_new_job(jid.as_bytes(), count)]
                    .push(jid.clone()),
                [one] => own[*one].push(jid.clone()),
                [one, other, ..] => return Err(self.jid_on_two_members_error(jid, *one, *other)),
            }
        }
        if let (true, Some(first), Some(error)) = (all_must_exist, unknown.first(), away()) {
            let what = format!(
                "cannot find job `{first}`: {}; nothing was changed",
                error.message()
            );
            return Err(Error::new(error.kind(), what));
        }
        let part = |jids: Vec<Name>| (!jids.is_empty()).then(|| part_of_jids(&given, jids));
        let mut parts: Vec<Option<MemberCommandPart>> = own.into_iter().map(part).collect();
        if given.jids().is_empty() {
            parts[0] = Some(part_of_jids(&given, Vec::new()));
        }
        let exit = match parts.iter().flatten().count() {
            0 => Exit::Ok,
            1 => {
                let index = parts.iter().position(Option::is_some).unwrap_or(0);
                let mut part = parts[index].take().unwrap_or_default();
                if from_stdin {
                    part.stdin = StdinAvailability::Jids;
                }
                self.run_on_member(index, part, session)?
            }
            _ => self.run_side_by_side(parts, session)?,
        };
        let (Some(first), Some(error)) = (unknown.first(), away()) else {
            return Ok(exit);
        };
        let jobs = match unknown.len() {
            1 => format!("job `{first}`"),
            many => format_count(many as u64, "job", "jobs"),
        };
        let member = found.iter().position(|found| found.is_err()).unwrap_or(0);
        let member = Sanitized(&self.members.list[member].name);
        let what = format!("cannot find {jobs}: `{member}`: {}", error.message());
        Err(Error::new(Kind::Partial, what))
    }

    /// The member that already has a job with this jid, so that a put creates no second job. Members that do not
    /// answer are skipped: the new job may belong to another member.
    fn find_member_with_job(&self, jid: &Name, session: &Session) -> Option<usize> {
        let found = self.members_have_jobs(std::slice::from_ref(jid), session);
        let mut found = found.iter();
        found.position(|found| found.as_ref().is_ok_and(|has| has[0]))
    }

    /// Runs the command for jobs in the order given: on the member of the first jobs, then on the member of the next
    /// jobs, and so on.
    fn run_in_job_order(
        &self,
        given: &[ValueFileOrStdinArg],
        session: &mut Session,
    ) -> Result<Exit, Error> {
        session.refuse_password_prompt_per_member()?;
        let given = jids::read_jids(&mut session.input(), given)?;
        let found = self.members_have_jobs(given.jids(), session);
        if let Some(error) = error_if_all_unreachable(&found) {
            return Err(error);
        }
        let count = self.members.list.len();
        let mut runs: Vec<(usize, Vec<Name>)> = Vec::new();
        for (at, jid) in given.jids().iter().enumerate() {
            let has = |found: &Result<Vec<bool>, Error>| found.as_ref().is_ok_and(|has| has[at]);
            let holder = found.iter().position(has);
            let holder = holder
                .unwrap_or_else(|| ContextMembers::member_index_of_new_job(jid.as_bytes(), count));
            match runs.last_mut() {
                Some((index, jids)) if *index == holder => jids.push(jid.clone()),
                _ => runs.push((holder, vec![jid.clone()])),
            }
        }
        let mut results = Vec::new();
        for (index, jids) in runs {
            let part = part_of_jids(&given, jids);
            let result = self.run_on_member(index, part, session);
            results.push((&self.members.list[index], result));
        }
        self.report_and_choose_exit(results, session)
    }

    /// For each member, whether it has each of the jobs. Asks all members at the same time.
    fn members_have_jobs(&self, jids: &[Name], session: &Session) -> Vec<Result<Vec<bool>, Error>> {
        thread::scope(|scope| {
            let look_up = |(index, member): (usize, &'g ContextMember)| {
                let (to, _) = channel();
                let (_, answers) = channel();
                let streams = MemberStreams {
                    sender: MemberSender { index, to },
                    answers,
                    heading: self.members.kind.table_heading(),
                    stdout_lost: Arc::default(),
                };
                let ui = Ui::for_member(&member.globals, &session.ui, streams);
                let mut own = session.for_member(member, ui, MemberCommandPart::default());
                threads::spawn_scoped(scope, move || {
                    let now = own.connect()?;
                    own.core()
                        .and_then(|core: &mut Core| core.jids_in_use(now, jids))
                })
            };
            let members = self.members.list.iter().enumerate();
            let lookups: Vec<_> = members.map(look_up).collect();
            let panicked = |_| Err(Error::internal("a thread ended"));
            let found = lookups.into_iter();
            found
                .map(|one| one.and_then(|one| one.join().unwrap_or_else(panicked)))
                .collect()
        })
    }

    fn jid_on_two_members_error(&self, jid: &Name, one: usize, other: usize) -> Error {
        let name = |index: usize| Sanitized(&self.members.list[index].name).to_string();
        let (one, other) = (name(one), name(other));
        Error::conflict(format!("`{one}` and `{other}` both have a job `{jid}`"))
            .about_jid(jid)
            .hint("`--prefix` or `--context` names one of them")
    }

    /// Runs the command on one member after the other, so that the output of each member is complete before the next
    /// one begins. A signal ends the loop.
    fn run_one_after_another(&self, session: &mut Session) -> Result<Exit, Error> {
        let mut results = Vec::new();
        for (index, member) in self.members.list.iter().enumerate() {
            let result = self.run_on_member(index, MemberCommandPart::default(), session);
            let exit = result.as_ref().map_or_else(Error::exit, |exit| *exit);
            results.push((member, result));
            if matches!(exit, Exit::Interrupted | Exit::Terminated) {
                break;
            }
        }
        self.report_and_choose_exit(results, session)
    }

    /// Runs the command on one member after the other, beginning with a random one, until a member exits with another
    /// code than 4 (not found).
    fn run_until_job_found(&self, session: &mut Session) -> Result<Exit, Error> {
        let count = self.members.list.len();
        let first = uuid::Uuid::new_v4().as_u128() as usize % count;
        let mut results = Vec::new();
        for index in (0..count).map(|step| (first + step) % count) {
            let member = &self.members.list[index];
            let result = self.run_on_member(index, MemberCommandPart::default(), session);
            match result {
                Ok(Exit::NotFound) => {}
                // Without a connection, the member changed nothing: the command goes on with the next member.
                Err(error) if is_unreachable(&error) && session.core_if_open().is_none() => {
                    results.push((member, Err(error)));
                }
                ended => {
                    for (member, result) in &results {
                        if let Err(error) = result {
                            self.report_member_error(member, error, session);
                        }
                    }
                    return ended;
                }
            }
        }
        if results.is_empty() {
            Ok(Exit::NotFound)
        } else {
            self.report_and_choose_exit(results, session)
        }
    }

    fn report_member_error(&self, member: &ContextMember, error: &Error, session: &mut Session) {
        let message = error.message();
        let text = label_with_member(&member.name, &message);
        let own = label_with_member(&member.name, "");
        let text = if message.starts_with(&own) {
            message.into_owned()
        } else {
            text
        };
        // Leave out the hint about an unreachable server: it would name another address than the member's.
        let hint = error.hint_text().filter(|_| !is_unreachable(error));
        let hint = hint.map(str::to_owned);
        session
            .ui
            .report_error(&Error::new(error.kind(), text).hint_if(hint));
    }

    /// Whether the error of a member counts even if another member has succeeded. Often "not found" does not count:
    /// another member may have what this one lacks.
    fn counts_despite_success(&self, error: &Error) -> bool {
        match &self.dispatch {
            _ if error.kind() != Kind::NotFound || self.names_several_groups => true,
            MemberDispatch::Jobs(jids) | MemberDispatch::JobsInOrder(jids) => !jids.is_empty(),
            MemberDispatch::AllJobs(_) | MemberDispatch::NewJobs(_) => true,
            MemberDispatch::EachMustHaveNames => true,
            _ => false,
        }
    }

    /// Whether the command puts the jobs of a file: then a bad exit code of any member counts.
    fn puts_new_jobs(&self) -> bool {
        matches!(self.dispatch, MemberDispatch::NewJobs(_))
    }

    /// Reports the errors of members, and chooses the exit code of the whole command.
    fn report_and_choose_exit(
        &self,
        results: Vec<MemberResult>,
        session: &mut Session,
    ) -> Result<Exit, Error> {
        let errors = results.iter();
        let errors = errors.filter_map(|(member, result)| Some((*member, result.as_ref().err()?)));
        // A signal or a declined question is the result of the whole command, whatever the other members report.
        let is_final = |error: &Error| {
            matches!(
                error.exit(),
                Exit::Interrupted | Exit::Terminated | Exit::NotConfirmed
            )
        };
        if let Some((_, first)) = errors.clone().find(|(_, error)| is_final(error)) {
            let exit = first.exit();
            for (member, error) in errors {
                self.report_member_error(member, error, session);
            }
            return Ok(exit);
        }
        let has_ended_well = results.iter().any(|(_, result)| result.is_ok());
        let errors =
            errors.filter(|(_, error)| !has_ended_well || self.counts_despite_success(error));
        let errors: Vec<(&ContextMember, &Error)> = errors.collect();
        if let Some((_, first)) = errors.first() {
            let is_same =
                |(_, error): &(&ContextMember, &Error)| error.message() == first.message();
            if !has_ended_well && errors.iter().all(is_same) && !is_unreachable(first) {
                return Err((*first).clone());
            }
            let others = errors.iter().filter(|(_, error)| !is_unreachable(error));
            let kind = |(_, error): &(&ContextMember, &Error)| error.kind();
            // If some members answered, their errors decide the kind.
            let kinds: Vec<Kind> = if others.clone().count() > 0 {
                others.map(kind).collect()
            } else {
                errors.iter().map(kind).collect()
            };
            let is_one_kind = kinds.iter().all(|kind| *kind == kinds[0]);
            if !has_ended_well
                && is_one_kind
                && errors.iter().all(|(_, error)| is_unreachable(error))
            {
                for (member, error) in &errors[1..] {
                    self.report_member_error(member, error, session);
                }
                let (member, first) = errors[0];
                return Err(Error::new(
                    first.kind(),
                    label_with_member(&member.name, &first.message()),
                ));
            }
            for (member, error) in &errors {
                self.report_member_error(member, error, session);
            }
            let is_unknown = kinds.iter().all(|kind| *kind == Kind::NotFound);
            let some_away = errors.iter().any(|(_, error)| is_unreachable(error));
            // Exit 4 is for a jid that no member has. If only some members lack a queue, the exit code is that of a
            // partial failure.
            let is_whole = match self.dispatch {
                _ if is_unknown && some_away => false,
                MemberDispatch::EachMustHaveNames => !has_ended_well,
                _ if self.names_several_groups => !has_ended_well,
                _ => !has_ended_well || is_unknown,
            };
            return Ok(if is_one_kind && is_whole {
                kinds[0].exit()
            } else {
                Exit::Partial
            });
        }
        let mut exits: Vec<Exit> = results
            .iter()
            .filter_map(|(_, result)| result.as_ref().ok().copied())
            .collect();
        let unknown = |exit: &Exit| *exit == Exit::NotFound;
        if matches!(self.dispatch, MemberDispatch::Wait { .. }) && exits.iter().all(unknown) {
            return Ok(Exit::Ok);
        }
        if !self.puts_new_jobs() && !exits.iter().all(unknown) {
            exits.retain(|exit| !unknown(exit));
        }
        if !self.puts_new_jobs() && exits.iter().any(|exit| *exit != Exit::Ok) {
            exits.retain(|exit| *exit != Exit::Ok);
        }
        exits.dedup();
        Ok(match exits.as_slice() {
            [] => Exit::Ok,
            [one] => *one,
            _ => Exit::Partial,
        })
    }
}

/// The part of a member that gets `jids` of the given ones.
fn part_of_jids(given: &GivenJids, jids: Vec<Name>) -> MemberCommandPart {
    MemberCommandPart {
        jids: Some(match given {
            GivenJids::One(jid) => GivenJids::One(jid.clone()),
            GivenJids::Many(_) => GivenJids::Many(jids),
        }),
        ..MemberCommandPart::default()
    }
}

/// The error if no member answers.
fn error_if_all_unreachable(found: &[Result<Vec<bool>, Error>]) -> Option<Error> {
    let errors = found.iter().map(|found| found.as_ref().err());
    errors
        .collect::<Option<Vec<&Error>>>()?
        .first()
        .map(|error| (*error).clone().without_hint())
}

/// Whether a member did not answer.
fn is_unreachable(error: &Error) -> bool {
    error.exit() == Exit::Server
}

/// Receives what the members send.
struct MemberRunCoordinator<'c> {
    group: &'c CommandOnMembers<'c>,
    /// The channel back to each member that runs.
    answers: Vec<Option<Sender<bool>>>,
    /// The questions of members that wait for an answer.
    questions: Vec<(usize, MemberQuestion)>,
    shown: Vec<Vec<ViewOutput>>,
    results: Vec<(usize, Result<Exit, Error>)>,
    /// Tells the members to stop, because the command's wait has ended or its output failed.
    members_must_stop: Arc<AtomicBool>,
    /// Tells the members that stdout cannot be written to any more.
    stdout_lost: Arc<AtomicBool>,
    /// The result that decided the wait.
    decisive: Option<Result<Exit, Error>>,
    /// Why the operator did not answer yes, or why a member refused its part of the input.
    refusal: Option<Error>,
    /// The members that have found their parts of the input valid.
    ready: Vec<usize>,
}

impl MemberRunCoordinator<'_> {
    fn member_name(&self, index: usize) -> &str {
        &self.group.members.list[index].name
    }

    fn receive_messages(
        &mut self,
        messages: Receiver<(usize, MemberMessage)>,
        session: &mut Session,
    ) -> Result<(), Error> {
        let running = self.answers.iter().flatten().count();
        for (index, message) in messages {
            match message {
                MemberMessage::ViewOutput(
                    shown @ (ViewOutput::Lines(_) | ViewOutput::Jids(_) | ViewOutput::Row(_)),
                ) => {
                    self.show_immediately(index, shown, session)?;
                }
                MemberMessage::DryRun => session.ui.mark_nothing_changed(),
                MemberMessage::ViewOutput(shown) => self.shown[index].push(shown),
                MemberMessage::Bytes(bytes) if session.ui.format() == Format::Ndjson => {
                    self.show_immediately(index, ViewOutput::Lines(bytes), session)?;
                }
                MemberMessage::Bytes(bytes) => session.ui.write_bytes(&bytes)?,
                MemberMessage::Note(note) => {
                    let field = self.group.members.kind.document_field();
                    let text = if session.ui.format().is_json_or_ndjson() && note.starts_with(b"{")
                    {
                        String::from_utf8_lossy(&with_first_field(
                            &note,
                            field,
                            self.member_name(index),
                        ))
                        .into_owned()
                    } else {
                        let note = String::from_utf8_lossy(&note);
                        let lines = note
                            .lines()
                            .map(|line| label_with_member(self.member_name(index), line) + "\n");
                        lines.collect()
                    };
                    session.ui.write_stderr(&text);
                }
                MemberMessage::Flush(written) => {
                    session.ui.flush_stdout_and_wait_for_pager()?;
                    drop(written);
                }
                MemberMessage::Question(question) => self.questions.push((index, question)),
                MemberMessage::Ready => self.ready.push(index),
                MemberMessage::Ended(result) => {
                    if self.decisive.is_none() && self.decides_wait(&result) {
                        self.decisive = Some(result.clone());
                        self.members_must_stop.store(true, Ordering::Relaxed);
                    }
                    self.results.push((index, result));
                }
            }
            if session.ui.lost_output_error().is_some() {
                self.stdout_lost.store(true, Ordering::Relaxed);
            }
            if !self.ready.is_empty() && self.ready.len() + self.results.len() == running {
                let mut refused = self.results.iter();
                let refused = refused.find_map(|(_, result)| result.as_ref().err());
                let refused = refused.filter(|error| !is_unreachable(error)).cloned();
                for index in std::mem::take(&mut self.ready) {
                    if let Some(answer) = &self.answers[index] {
                        _ = answer.send(refused.is_none());
                    }
                }
                self.refusal = self.refusal.take().or(refused);
            }
            if !self.questions.is_empty() && self.questions.len() + self.results.len() == running {
                self.ask_once_for_members(session);
            }
        }
        Ok(())
    }

    /// Whether the result of a member ends the wait of the whole command.
    fn decides_wait(&self, result: &Result<Exit, Error>) -> bool {
        let exit = result.as_ref().map_or_else(Error::exit, |exit| *exit);
        match self.group.dispatch {
            // A member without such jobs.
            MemberDispatch::Wait { jids: [], .. } if exit == Exit::NotFound => false,
            MemberDispatch::Wait { any: true, .. } => exit == Exit::Ok,
            MemberDispatch::Wait { any: false, .. } => exit != Exit::Ok && exit != Exit::Server,
            _ => false,
        }
    }

    /// Shows lines of a member as soon as they arrive, since there may be too many to keep.
    fn show_immediately(
        &self,
        index: usize,
        lines: ViewOutput,
        session: &mut Session,
    ) -> Result<(), Error> {
        let joined = MemberOutputs {
            kind: self.group.members.kind,
            parts: vec![(self.member_name(index), lines)],
            away: Vec::new(),
        };
        let shown = joined.join_parts(session.ui.render_options());
        session.ui.show_joined(shown)
    }

    /// Asks once for all members that wait for an answer.
    fn ask_once_for_members(&mut self, session: &mut Session) {
        let questions = std::mem::take(&mut self.questions);
        let (indices, questions): (Vec<usize>, Vec<MemberQuestion>) = questions.into_iter().unzip();
        let names = indices.iter().map(|index| self.member_name(*index));
        let questions: Vec<(&str, MemberQuestion)> = names.zip(questions).collect();
        self.refusal = session.ui.confirm_for_members(&questions).err();
        let yes = self.refusal.is_none();
        for index in indices {
            if let Some(answer) = &self.answers[index] {
                _ = answer.send(yes);
            }
        }
    }

    /// Shows the joined results of the members, reports their errors, and chooses the exit code.
    fn show_results_and_choose_exit(mut self, session: &mut Session) -> Result<Exit, Error> {
        self.results.sort_unstable_by_key(|(index, _)| *index);
        let members = &self.group.members.list;
        let results: Vec<MemberResult> = self
            .results
            .into_iter()
            .map(|(index, result)| (&members[index], result))
            .collect();
        let is_answered = results.iter().any(|(_, result)| result.is_ok());
        let away = results.iter().filter_map(|(member, result)| {
            let error = result.as_ref().err()?;
            (is_answered && is_unreachable(error)).then_some((member.name.as_str(), error))
        });
        let away: Vec<(&str, &Error)> = away.collect();
        if self.shown.iter().all(Vec::is_empty) && !away.is_empty() {
            // If no member has output, unreachable members would go unnoticed. So join an empty result with the rows
            // that name them.
            let answered = results.iter().find(|(_, result)| result.is_ok());
            let at = members.iter().position(|member| {
                answered.is_some_and(|(answered, _)| answered.name == member.name)
            });
            if let Some(at) = at {
                self.shown[at].push(session.ui.empty_result());
            }
        }
        let views = self.shown.iter().map(Vec::len).max().unwrap_or(0);
        let mut all: Vec<_> = self.shown.into_iter().map(Vec::into_iter).collect();
        for view in 0..views {
            let parts = all.iter_mut().zip(members);
            let parts =
                parts.filter_map(|(shown, member)| Some((member.name.as_str(), shown.next()?)));
            let joined = MemberOutputs {
                kind: self.group.members.kind,
                parts: parts.collect(),
                away: if view + 1 == views {
                    away.clone()
                } else {
                    Vec::new()
                },
            };
            let shown = joined.join_parts(session.ui.render_options());
            session.ui.show_joined(shown)?;
        }
        match (self.refusal, self.decisive) {
            (Some(refusal), _) => Err(refusal),
            (None, Some(decisive)) => decisive,
            (None, None) => self.group.report_and_choose_exit(results, session),
        }
    }
}
