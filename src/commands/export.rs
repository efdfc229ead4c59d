//! `qless export`

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsString;
use std::path::Path;

use clap::ValueEnum;

use super::{Group, Spec};
use crate::args::format::Format;
use crate::args::shared::{Selector, Targets};
use crate::clock::moment::Moment;
use crate::core::api::export::{ExportReader, KeyScan};
use crate::core::api::job::Detail;
use crate::core::api::not_found;
use crate::error::Error;
use crate::exit::Exit;
use crate::fs::atomic_file::AtomicFile;
use crate::input::jids;
use crate::input::source::InputSource;
use crate::interrupt::Interrupt;
use crate::model::done::Done;
use crate::model::export::{ExportHead, SavedRecurring};
use crate::model::job::State;
use crate::model::pattern::Pattern;
use crate::name::Name;
use crate::select::Selection;
use crate::session::Session;
use crate::text::{clean, plural};
use crate::ui::{Progress, Ui};
use crate::view::export;

/// Write jobs with all that it takes to put them again
///
/// One JSON document a line: first the head, then each job with its data, history, dependencies and
/// failure, byte for byte; then what `--with` adds. `qless import` reads it, on any server and
/// under any prefix; `qless help json export` tells what stands in it.
///
/// Each job is as it was at one moment, but not all at the same one: pause the queues first where
/// that matters. A queue's jobs come in the order in which they would be popped; `--all` looks through
/// all keys besides, for what is in no set.
///
/// Recurring jobs and pauses are those of the queues that `--queue` names, else all; options are
/// always all that are set.
///
/// A file is for its owner only, and appears or is replaced when it is whole.
///
/// Examples: `qless export --queue mail --file mail.ndjson`
/// · `qless export --all --with config,recur,paused --file all.ndjson`
/// · `qless export --group 'upload error' | jq -c 'select(.kind == "job").data'`
///
/// Exit codes: 0, 1 the file cannot be written, 4 unknown jid, queue or group, 6 server.
///
/// See also: `qless import`, `qless help json export`
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    targets: Targets,
    /// What to write besides jobs
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_enum)]
    with: Vec<With>,
    /// The file to write; stdout otherwise
    #[arg(long, value_name = "FILE")]
    file: Option<OsString>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum With {
    /// The options that are set
    Config,
    /// Recurring jobs
    Recur,
    /// Which queues are paused, until when and why
    Paused,
}

pub(crate) const SPEC: Spec<Args> = Spec::reads(Group::Operate, run);

fn run(mut args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[])?;
    let file = args.file.take().filter(|file| file != "-");
    if file.as_ref().is_some_and(|file| file.is_empty()) {
        return Err(Error::usage("the name of the file is empty"));
    }
    if file.is_none() && session.ui.format() == Format::Json {
        return Err(Error::usage("an export is not one document but one a line")
            .hint("leave out `-o json`, or name a file: `--file FILE`"));
    }
    args.targets.check()?;
    let every = args.targets.selector.all;
    if every {
        // By their sets, so that a queue's jobs keep their order.
        args.targets.selector = args.targets.selector.or_states(&State::ALL)?;
    }
    let told = match args.targets.jids.is_empty() {
        true => None,
        false => Some(jids::read(&mut InputSource::default(), &args.targets.jids)?),
    };
    let now = session.begin()?;
    let selector = &args.targets.selector;
    let jobs = match &told {
        Some(told) => Some(told.jids().len() as u64),
        None => count(selector, now, session)?,
    };
    let to = match &file {
        Some(file) => Some(AtomicFile::create(Path::new(file))?),
        None => None,
    };
    let mut writer = Writer {
        to,
        stop: Interrupt::listen(),
        progress: session.ui.progress(jobs.unwrap_or(0)),
        jobs: 0,
    };
    let head = ExportHead {
        at: now,
        prefix: session.prefix().to_string(),
        jobs,
        command: "export",
    };
    writer.write(&mut session.ui, &export::head(&head)?)?;
    let mut missing = Vec::new();
    match &told {
        Some(told) => missing = writer.jobs(told.jids(), session)?,
        None => {
            // Of all jobs some may be in no set, or in that of a forgotten queue.
            let all = every && selector.limit.is_none() && selector.offset == 0;
            let mut seen: HashSet<Name> = HashSet::new();
            let mut selection = Selection::open(session.core()?, now, selector, Detail::Match)?;
            selection.announce(&mut session.ui);
            while let Some(jobs) = selection.next(session.core()?)? {
                let jids: Vec<Name> = jobs.into_iter().map(|job| job.jid).collect();
                // Those that are gone by now were there when nobody could tell.
                writer.jobs(&jids, session)?;
                seen.extend(jids.into_iter().filter(|_| all));
            }
            if all {
                let mut scan = KeyScan::new("jobs");
                while let Some(mut jids) = scan.next(session.core()?, now)? {
                    jids.retain(|jid| seen.insert(jid.clone()));
                    writer.jobs(&jids, session)?;
                }
            }
        }
    }
    writer.with(&args.with, &selector.queues, now, session)?;
    let Writer {
        to, jobs, progress, ..
    } = writer;
    progress.finish();
    let exported = plural(jobs, "job", "jobs");
    if let (Some(file), Some(to)) = (file, to) {
        to.finish()?;
        let file = Name::from(file.as_os_str());
        note(session, &format!("exported {exported} to {}", clean(&file)));
        session.ui.show(&Done::new("export", vec![file], false))?;
    } else {
        session.ui.finish()?;
        note(session, &format!("exported {exported}"));
    }
    not_found::jobs(&missing).map(|()| Exit::Ok)
}

/// Says something where people read it.
fn note(session: &mut Session, line: &str) {
    if session.ui.hints() {
        session.ui.note(line);
    }
}

/// Returns how many jobs there are, if the indexes know.
fn count(selector: &Selector, now: Moment, session: &mut Session) -> Result<Option<u64>, Error> {
    let core = session.core()?;
    let total = Selection::open(core, now, selector, Detail::Match)?.total(core)?;
    Ok(total.map(|total| {
        let rest = total.saturating_sub(selector.offset);
        rest.min(selector.limit.unwrap_or(u64::MAX))
    }))
}

/// Where the lines go.
struct Writer {
    /// The file; stdout otherwise.
    to: Option<AtomicFile>,
    stop: Interrupt,
    progress: Progress,
    jobs: u64,
}

impl Writer {
    fn write(&mut self, ui: &mut Ui, line: &[u8]) -> Result<(), Error> {
        match &mut self.to {
            Some(file) => file.write(line),
            None => ui.write(line),
        }
    }

    /// Writes jobs; returns the jids that nothing has.
    fn jobs(&mut self, jids: &[Name], session: &mut Session) -> Result<Vec<Name>, Error> {
        let mut missing = Vec::new();
        let mut untold = jids.iter();
        let mut savings = ExportReader::new(jids);
        loop {
            if let Some(kind) = self.stop.asked() {
                let jobs = plural(self.jobs, "job", "jobs");
                return Err(Error::new(kind, format!("interrupted after {jobs}")));
            }
            let (core, ui) = session.core_and_ui()?;
            let now = core.now();
            let Some(slice) = savings.next(core, now)? else {
                missing.extend(untold.cloned());
                return Ok(missing);
            };
            let some = slice.len() as u64;
            for saved in slice {
                let jid = saved.job.jid.clone();
                missing.extend(untold.by_ref().take_while(|other| **other != jid).cloned());
                self.write(ui, &export::job(saved, None)?)?;
            }
            self.jobs += some;
            self.progress.add(some);
        }
    }

    fn with(
        &mut self,
        with: &[With],
        queues: &[Pattern],
        now: Moment,
        session: &mut Session,
    ) -> Result<(), Error> {
        let meant =
            |queue: &Name| queues.is_empty() || queues.iter().any(|pattern| pattern.matches(queue));
        let (core, ui) = session.core_and_ui()?;
        if with.contains(&With::Recur) {
            // A template may be in no set, or in that of a forgotten queue.
            let (mut scan, mut found) = (KeyScan::new("recurring"), BTreeSet::new());
            while let Some(ids) = scan.next(core, now)? {
                found.extend(ids);
            }
            let found: Vec<Name> = found.into_iter().collect();
            for recurring in core.recurs(now, &found)?.into_iter().flatten() {
                let nowhere = Name::default();
                if !meant(recurring.queue.as_ref().unwrap_or(&nowhere)) {
                    continue;
                }
                let due = recurring.next;
                let saved = SavedRecurring { recurring, due };
                self.write(ui, &export::recurring(saved)?)?;
            }
        }
        if with.contains(&With::Config) {
            let mut options = core.config(now)?;
            options.retain(|option| option.set);
            self.write(ui, &export::config(options)?)?;
        }
        if with.contains(&With::Paused) {
            for paused in core.paused(now)? {
                if meant(&paused.queue) {
                    self.write(ui, &export::paused(&paused)?)?;
                }
            }
        }
        Ok(())
    }
}
