//! One command on several prefixes or servers that a context names as one: on each of them side by side, on
//! those that hold the jobs it names, or on the one that a new job belongs to.
//!
//! Each member runs the command in a thread, with a session and a connection of its own. What it shows,
//! notes and asks comes here: results are joined, questions are asked once for all. There is no state
//! besides the config file.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use super::tree::Command;
use crate::args::format::Format;
use crate::args::input_arg::InputArg;
use crate::commands::MemberUse;
use crate::core::call::Core;
use crate::error::{Error, Kind};
use crate::exit::Exit;
use crate::input::jids;
use crate::input::jids::JidArgs;
use crate::name::Name;
use crate::session::{MemberPart, Session};
use crate::settings::members::{Member, Members};
use crate::text::{Sanitized, plural};
use crate::ui::Ui;
use crate::ui::member::{
    MemberMessage, MemberQuestion, MemberSender, MemberStreams, label_with_member,
};
use crate::view::joined::{Joined, Shown};
use crate::work;

/// Runs the subcommand on the members of the context in use.
pub(super) fn run(
    command: &Command,
    members: &Members,
    session: &mut Session,
) -> Result<Exit, Error> {
    let member_use = command.member_use();
    let group = MemberGroup {
        command,
        members,
        wait_for_any: match &member_use {
            MemberUse::Wait { any, .. } => Some(*any),
            _ => None,
        },
    };
    let all = || members.list.iter().map(|_| MemberPart::default());
    match member_use {
        MemberUse::Itself => command.run(session),
        MemberUse::Refused(why) => Err(group.refused_error(why)),
        _ if command.writes() && session.canonical_command().has_flag("--limit") => {
            Err(group.refused_error("`--limit` counts the jobs of one"))
        }
        MemberUse::Each => group.run_side_by_side(all().map(Some).collect(), session),
        MemberUse::Jobs([]) | MemberUse::Wait { jids: [], .. } => {
            group.run_side_by_side(all().map(Some).collect(), session)
        }
        MemberUse::Jobs(given) | MemberUse::Wait { jids: given, .. } => {
            group.run_on_holders(given, session)
        }
        MemberUse::Job(jid) => {
            let given = [InputArg::Value(
                OsStr::from_bytes(jid.as_bytes()).to_owned(),
            )];
            group.run_on_holders(&given, session)
        }
        MemberUse::NewJob(kept_with) => {
            let fresh = || Cow::Owned(uuid::Uuid::new_v4().as_bytes().to_vec());
            let kept_with = kept_with.unwrap_or_else(fresh);
            let index = Members::index_for(&kept_with, members.list.len());
            session.use_only(&members.list[index], MemberPart::default());
            let result = command.run(session);
            result.map_err(|error| group.with_dependency_hint(error))
        }
        MemberUse::NewJobs(args) => {
            let lines = args.share_lines(members.list.len(), session)?;
            let parts = lines.into_iter().map(|lines| {
                Some(MemberPart {
                    lines: Some(lines),
                    ..MemberPart::default()
                })
            });
            group.run_side_by_side(parts.collect(), session)
        }
        MemberUse::InTurn => group.run_in_turn(session),
        MemberUse::UntilFound => group.run_until_found(session),
        MemberUse::Processes => work::members::run(members, session),
    }
}

/// A command, and the members it runs on.
struct MemberGroup<'g> {
    command: &'g Command,
    members: &'g Members,
    /// If the command waits for jobs, whether one of them is enough.
    wait_for_any: Option<bool>,
}

/// How the command ended on a member.
type MemberResult<'g> = (&'g Member, Result<Exit, Error>);

impl<'g> MemberGroup<'g> {
    /// The error for a command that is for one member.
    fn refused_error(&self, why: &str) -> Error {
        let one = match self.members.list.first() {
            Some(member) => Sanitized(&member.name).to_string(),
            None => String::new(),
        };
        let flag = match self.members.kind.heading() {
            "PREFIX" => "--prefix",
            _ => "--context",
        };
        let members = self.members.list.len() as u64;
        let members = plural(members, "member", "members");
        Error::usage(format!("{why}, and the context has {members}"))
            .hint(format!("name one, such as `{flag} '{one}'`"))
    }

    /// Says of a dependency that was not found that it may be on another member.
    fn with_dependency_hint(&self, error: Error) -> Error {
        if error.kind() == Kind::NotFound && error.message().contains("no job can depend on it") {
            error.hint(
                "a job can depend only on jobs of the same member: `--shard-by PATH` puts jobs with one \
                 value in their data together, `--prefix` or `--context` names a member",
            )
        } else {
            error
        }
    }

    /// Runs the command on each member that gets a part, side by side.
    fn run_side_by_side(
        &self,
        mut parts: Vec<Option<MemberPart>>,
        session: &mut Session,
    ) -> Result<Exit, Error> {
        refuse_password_prompt(session)?;
        let running = parts.iter().flatten().count() as u32;
        let called_off = Arc::new(AtomicBool::new(false));
        let (to, messages) = channel();
        let mut answers: Vec<Option<Sender<bool>>> = Vec::new();
        thread::scope(|scope| {
            for (index, member) in self.members.list.iter().enumerate() {
                let Some(mut part) = parts[index].take() else {
                    answers.push(None);
                    continue;
                };
                part.suffix = self.members.file_suffix(index);
                part.members = running;
                part.called_off = called_off.clone();
                let (answer, answered) = channel();
                answers.push(Some(answer));
                let sender = MemberSender {
                    index,
                    to: to.clone(),
                };
                let streams = MemberStreams {
                    sender: sender.clone(),
                    answers: answered,
                    heading: self.members.kind.heading(),
                };
                let ui = Ui::for_member(&member.globals, &session.ui, streams);
                let mut own = session.for_member(member, ui, part);
                scope.spawn(move || {
                    let result = self.command.run(&mut own);
                    sender.send(MemberMessage::Ended(result));
                });
            }
            drop(to);
            let mut collected = Collector {
                group: self,
                answers,
                questions: Vec::new(),
                shown: self.members.list.iter().map(|_| Vec::new()).collect(),
                results: Vec::new(),
                called_off,
                decisive: None,
            };
            collected.receive_all(&messages, session)?;
            collected.show(session)
        })
    }

    /// Finds the members that hold the jobs, and runs the command there. A jid that no member has goes to the
    /// member that a new job with it would belong to, which says that it is missing.
    fn run_on_holders(&self, given: &[InputArg], session: &mut Session) -> Result<Exit, Error> {
        refuse_password_prompt(session)?;
        let given = jids::read_jids(&mut session.input(), given)?;
        let found = self.find_holders(given.jids(), session);
        let count = self.members.list.len();
        let mut own: Vec<Vec<Name>> = vec![Vec::new(); count];
        let mut unknown = Vec::new();
        let away = || found.iter().find_map(|found| found.as_ref().err());
        for (at, jid) in given.jids().iter().enumerate() {
            let has = |found: &Result<Vec<bool>, Error>| found.as_ref().is_ok_and(|has| has[at]);
            let holders: Vec<usize> = (0..count).filter(|index| has(&found[*index])).collect();
            match holders.as_slice() {
                [] if away().is_some() => unknown.push(jid),
                [] => own[Members::index_for(jid.as_bytes(), count)].push(jid.clone()),
                [one] => own[*one].push(jid.clone()),
                [one, other, ..] => return Err(self.ambiguous_error(jid, *one, *other)),
            }
        }
        let mut parts: Vec<Option<MemberPart>> = Vec::new();
        for jids in own {
            let jids = match &given {
                JidArgs::One(jid) => (!jids.is_empty()).then(|| JidArgs::One(jid.clone())),
                JidArgs::Many(_) => (!jids.is_empty()).then_some(JidArgs::Many(jids)),
            };
            parts.push(jids.map(|jids| MemberPart {
                jids: Some(jids),
                ..MemberPart::default()
            }));
        }
        let exit = match parts.iter().flatten().count() {
            0 => Exit::Ok,
            1 => {
                let index = parts.iter().position(Option::is_some).unwrap_or(0);
                let part = parts[index].take().unwrap_or_default();
                session.use_only(&self.members.list[index], part);
                let result = self.command.run(session);
                result.map_err(|error| self.with_dependency_hint(error))?
            }
            _ => self.run_side_by_side(parts, session)?,
        };
        let (Some(first), Some(error)) = (unknown.first(), away()) else {
            return Ok(exit);
        };
        let jobs = match unknown.len() {
            1 => format!("job `{first}`"),
            many => plural(many as u64, "job", "jobs"),
        };
        let member = found.iter().position(|found| found.is_err()).unwrap_or(0);
        let member = Sanitized(&self.members.list[member].name);
        let what = format!("cannot find {jobs}: `{member}`: {}", error.message());
        Err(Error::new(Kind::Partial, what))
    }

    /// Asks each member, side by side, which of the jobs it has.
    fn find_holders(&self, jids: &[Name], session: &Session) -> Vec<Result<Vec<bool>, Error>> {
        thread::scope(|scope| {
            let look = |(index, member): (usize, &'g Member)| {
                let (to, _) = channel();
                let (_, answers) = channel();
                let streams = MemberStreams {
                    sender: MemberSender { index, to },
                    answers,
                    heading: self.members.kind.heading(),
                };
                let ui = Ui::for_member(&member.globals, &session.ui, streams);
                let mut own = session.for_member(member, ui, MemberPart::default());
                scope.spawn(move || {
                    let now = own.connect()?;
                    own.core()
                        .and_then(|core: &mut Core| core.jids_in_use(now, jids))
                })
            };
            let members = self.members.list.iter().enumerate();
            let looking: Vec<_> = members.map(look).collect();
            let panicked = |_| Err(Error::internal("a thread ended"));
            let found = looking.into_iter();
            found
                .map(|one| one.join().unwrap_or_else(panicked))
                .collect()
        })
    }

    fn ambiguous_error(&self, jid: &Name, one: usize, other: usize) -> Error {
        let name = |index: usize| Sanitized(&self.members.list[index].name).to_string();
        let (one, other) = (name(one), name(other));
        Error::conflict(format!("`{one}` and `{other}` both have a job `{jid}`"))
            .about_jid(jid)
            .hint("`--prefix` or `--context` names one of them")
    }

    /// Runs the command on one member after the other, with the output of each after that of the one before.
    fn run_in_turn(&self, session: &mut Session) -> Result<Exit, Error> {
        let mut results = Vec::new();
        for (index, member) in self.members.list.iter().enumerate() {
            let part = MemberPart {
                suffix: self.members.file_suffix(index),
                ..MemberPart::default()
            };
            session.use_only(member, part);
            results.push((member, self.command.run(session)));
        }
        self.end(results, session)
    }

    /// Runs the command on one member after the other, from a random one on, until one has something.
    fn run_until_found(&self, session: &mut Session) -> Result<Exit, Error> {
        let count = self.members.list.len();
        let first = uuid::Uuid::new_v4().as_u128() as usize % count;
        let mut results = Vec::new();
        for index in (0..count).map(|step| (first + step) % count) {
            let member = &self.members.list[index];
            session.use_only(member, MemberPart::default());
            match self.command.run(session) {
                Ok(Exit::NotFound) => {}
                Err(error) if is_away(&error) => results.push((member, Err(error))),
                ended => return ended,
            }
        }
        if results.is_empty() {
            Ok(Exit::NotFound)
        } else {
            self.end(results, session)
        }
    }

    /// Reports the error of a member.
    fn report(&self, member: &Member, error: &Error, session: &mut Session) {
        let text = label_with_member(&member.name, &error.message());
        let hint = error.hint_text().map(str::to_owned);
        session
            .ui
            .report_error(&Error::new(error.kind(), text).hint_if(hint));
    }

    /// The end of the command as a whole: reports what failed, and chooses the exit code.
    fn end(&self, results: Vec<MemberResult>, session: &mut Session) -> Result<Exit, Error> {
        let has_ended_well = results.iter().any(|(_, result)| result.is_ok());
        let errors = results.iter();
        let errors = errors.filter_map(|(member, result)| Some((*member, result.as_ref().err()?)));
        // A name that one member does not know may be known to another.
        let errors = errors.filter(|(_, error)| !has_ended_well || error.kind() != Kind::NotFound);
        let (away, others): (Vec<_>, Vec<_>) = errors.partition(|(_, error)| is_away(error));
        for (member, error) in &away {
            self.report(member, &(*error).clone().without_hint(), session);
        }
        let is_same = |error: &Error| others.iter().all(|(_, other)| other.kind() == error.kind());
        match others.first() {
            Some((_, first)) if !has_ended_well && is_same(first) => return Err((*first).clone()),
            None if !away.is_empty() && !has_ended_well => return Ok(Exit::Server),
            None if away.is_empty() => {}
            _ => {
                for (member, error) in &others {
                    self.report(member, error, session);
                }
                return Ok(Exit::Partial);
            }
        }
        let mut exits: Vec<Exit> = results
            .iter()
            .filter_map(|(_, result)| result.as_ref().ok().copied())
            .collect();
        if exits.iter().any(|exit| *exit != Exit::NotFound) {
            exits.retain(|exit| *exit != Exit::NotFound);
        }
        if exits.iter().any(|exit| *exit != Exit::Ok) {
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

/// Refuses a password that would have to be typed once for each member.
fn refuse_password_prompt(session: &Session) -> Result<(), Error> {
    let globals = &session.globals;
    let from_stdin = globals
        .password_file
        .as_ref()
        .is_some_and(|file| file == "-");
    if globals.askpass || from_stdin {
        return Err(Error::usage("a password can be typed only for one member")
            .hint("a context names its source: `password-command` or `password-env`"));
    }
    Ok(())
}

/// Whether a member did not answer.
fn is_away(error: &Error) -> bool {
    error.exit() == Exit::Server
}

/// Receives what the members send.
struct Collector<'c> {
    group: &'c MemberGroup<'c>,
    /// The way back to each member that runs.
    answers: Vec<Option<Sender<bool>>>,
    /// The questions of members that wait for an answer.
    questions: Vec<(usize, MemberQuestion)>,
    shown: Vec<Vec<Shown>>,
    results: Vec<(usize, Result<Exit, Error>)>,
    /// Tells the others that the wait is decided.
    called_off: Arc<AtomicBool>,
    /// What decided it.
    decisive: Option<Result<Exit, Error>>,
}

impl Collector<'_> {
    fn name(&self, index: usize) -> &str {
        &self.group.members.list[index].name
    }

    fn receive_all(
        &mut self,
        messages: &Receiver<(usize, MemberMessage)>,
        session: &mut Session,
    ) -> Result<(), Error> {
        let running = self.answers.iter().flatten().count();
        for (index, message) in messages {
            match message {
                MemberMessage::Shown(Shown::Lines(lines)) => {
                    self.show_at_once(index, Shown::Lines(lines), session)?;
                }
                MemberMessage::Shown(shown) => self.shown[index].push(shown),
                MemberMessage::Bytes(bytes) if session.ui.format() == Format::Ndjson => {
                    self.show_at_once(index, Shown::Lines(bytes), session)?;
                }
                MemberMessage::Bytes(bytes) => session.ui.write(&bytes)?,
                MemberMessage::Note(note) => {
                    let note = String::from_utf8_lossy(&note);
                    for line in note.lines() {
                        let line = label_with_member(self.name(index), line);
                        session.ui.write_stderr(&format!("{line}\n"));
                    }
                }
                MemberMessage::Question(question) => self.questions.push((index, question)),
                MemberMessage::Ended(result) => {
                    if self.decisive.is_none() && self.decides_wait(&result) {
                        self.decisive = Some(result.clone());
                        self.called_off.store(true, Ordering::Relaxed);
                    }
                    self.results.push((index, result));
                }
            }
            if !self.questions.is_empty() && self.questions.len() + self.results.len() == running {
                self.ask(session);
            }
        }
        Ok(())
    }

    /// Whether this end of a member is the end of the wait as a whole.
    fn decides_wait(&self, result: &Result<Exit, Error>) -> bool {
        let exit = result.as_ref().map_or_else(Error::exit, |exit| *exit);
        match self.group.wait_for_any {
            Some(true) => exit == Exit::Ok,
            Some(false) => exit != Exit::Ok && exit != Exit::Server,
            None => false,
        }
    }

    /// Shows lines as soon as they come: there may be many.
    fn show_at_once(&self, index: usize, lines: Shown, session: &mut Session) -> Result<(), Error> {
        let joined = Joined {
            heading: self.group.members.kind.heading(),
            parts: vec![(self.name(index), lines)],
            away: Vec::new(),
        };
        let shown = joined.into_shown(session.ui.render_options());
        session.ui.show_joined(shown)
    }

    /// Asks once for all members that wait for an answer.
    fn ask(&mut self, session: &mut Session) {
        let questions = std::mem::take(&mut self.questions);
        let (indices, questions): (Vec<usize>, Vec<MemberQuestion>) = questions.into_iter().unzip();
        let names = indices.iter().map(|index| self.name(*index));
        let questions: Vec<(&str, MemberQuestion)> = names.zip(questions).collect();
        let yes = session.ui.confirm_for_members(&questions).is_ok();
        for index in indices {
            if let Some(answer) = &self.answers[index] {
                _ = answer.send(yes);
            }
        }
    }

    /// Shows what the members have shown, and ends the command.
    fn show(mut self, session: &mut Session) -> Result<Exit, Error> {
        self.results.sort_by_key(|(index, _)| *index);
        let members = &self.group.members.list;
        let results: Vec<MemberResult> = self
            .results
            .into_iter()
            .map(|(index, result)| (&members[index], result))
            .collect();
        let is_answered = results.iter().any(|(_, result)| result.is_ok());
        let away = results.iter().filter_map(|(member, result)| {
            let error = result.as_ref().err()?;
            (is_answered && is_away(error)).then_some((member.name.as_str(), error))
        });
        let away: Vec<(&str, &Error)> = away.collect();
        if self.shown.iter().all(Vec::is_empty) && !away.is_empty() {
            // What was shown is out already, or there is nothing: the rows of the others are still missing.
            let first = self
                .shown
                .iter_mut()
                .zip(&results)
                .find(|(_, (_, result))| result.is_ok());
            if let Some((shown, _)) = first {
                shown.push(session.ui.nothing_shown());
            }
        }
        let most = self.shown.iter().map(Vec::len).max().unwrap_or(0);
        let mut all: Vec<_> = self.shown.into_iter().map(Vec::into_iter).collect();
        for view in 0..most {
            let parts = all.iter_mut().zip(members);
            let parts =
                parts.filter_map(|(shown, member)| Some((member.name.as_str(), shown.next()?)));
            let joined = Joined {
                heading: self.group.members.kind.heading(),
                parts: parts.collect(),
                away: if view + 1 == most {
                    away.clone()
                } else {
                    Vec::new()
                },
            };
            let shown = joined.into_shown(session.ui.render_options());
            session.ui.show_joined(shown)?;
        }
        match self.decisive {
            Some(decisive) => decisive,
            None => self.group.end(results, session),
        }
    }
}
