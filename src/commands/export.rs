//! `qless export`

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use clap::ValueEnum;
use strum::VariantArray;

use super::{HelpGroup, MemberDispatch, Spec};
use crate::args::format::Format;
use crate::args::shared::{JobTargets, Selector};
use crate::bulk::ledger;
use crate::clock::moment::Moment;
use crate::core::api::export::{ExportedJobReader, StoredJidScan};
use crate::core::api::index::Index;
use crate::core::api::job::JobFields;
use crate::core::api::not_found;
use crate::core::api::queue;
use crate::core::api::throttle;
use crate::core::api::throttle::UnreadableThrottle;
use crate::error::Error;
use crate::exit::Exit;
use crate::fs::atomic_file::AtomicFile;
use crate::input::jids;
use crate::interrupt::InterruptFlags;
use crate::json::Json;
use crate::model::bulk::MAX_JOBS_PER_CALL;
use crate::model::coordination::CoordinationOption;
use crate::model::done::CommandResult;
use crate::model::export;
use crate::model::export::{ExportHead, SavedRecurring, SavedThrottle};
use crate::model::job::State;
use crate::model::pattern::{NamePattern, passes_filter};
use crate::model::recur::Recurring;
use crate::name::Name;
use crate::select::JobSearch;
use crate::session::Session;
use crate::text::format_count;
use crate::ui::{Progress, Ui};

/// Export jobs with everything `import` needs
///
/// Writes one JSON document per line: a head, then each job with its data, history, dependencies
/// and failure, byte for byte, then what `--with` adds. `qless import` reads it on any server and
/// with any prefix. `qless help json export` describes the documents.
///
/// Each job is read atomically, but not all jobs at the same moment. If that matters, pause the
/// queues first. The jobs of a queue come in the order in which they would be popped. `--all` also
/// scans all keys, for jobs that are in no set.
///
/// Recurring jobs and pauses are exported for the queues that `--queue` names, else for all queues.
/// Options and the maxima of throttles are always exported in full. Without `--with throttles`, a
/// throttle of the exported jobs has no maximum on the other server: a note on stderr names such
/// throttles.
///
/// The file is readable by its owner only. It appears, or replaces an older one, when it is
/// complete. If jids are given and none of them exists, no file is written. A file that `--save`, `--undo`,
/// `--journal` or `--report` began is not replaced.
///
/// Examples: `qless export --queue mail --file mail.ndjson`
/// · `qless export --all --with config,recur,paused,throttles --file all.ndjson`
/// · `qless export --group 'upload error' | jq -c 'select(.kind == "job").data'`
///
/// Exit codes: 0, 1 the file cannot be written, 2 usage, 3 a queue or a throttle could not be read, because a
/// key of it has the wrong type, 4 unknown jid, queue or group, 6 server.
///
/// See also: `qless import`, `qless help json export`
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    targets: JobTargets,
    /// What to export besides jobs
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_enum)]
    with: Vec<ExportAddition>,
    /// File to write [default: stdout]
    #[arg(long, value_name = "FILE")]
    file: Option<OsString>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ExportAddition {
    /// The options that are set
    Config,
    /// Recurring jobs
    Recur,
    /// Which queues are paused, until when and why
    Paused,
    /// The maxima of throttles, and when they end
    Throttles,
}

pub(crate) const SPEC: Spec<Args> =
    Spec::reads(HelpGroup::Operate, run).context_member_dispatch(|_| MemberDispatch::InTurn);

fn run(mut args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[])?;
    let file = args.file.take().filter(|file| file != "-");
    if file.as_ref().is_some_and(|file| file.is_empty()) {
        return Err(Error::usage("the name of the file is empty"));
    }
    let path = file
        .as_ref()
        .map(|file| session.member_file_path(Path::new(file)));
    if let Some(path) = &path {
        ledger::refuse_to_replace_ledger(path)?;
    }
    if file.is_none() && session.ui.format() == Format::Json {
        return Err(
            Error::usage("an export has one document per line, not one document")
                .hint("leave out `-o json`, or name a file: `--file FILE`"),
        );
    }
    args.targets.require_either_jids_or_selector()?;
    let all_jobs = args.targets.selector.all;
    if all_jobs {
        // Select all states, so that the export reads the sets of each queue and keeps the order of their jobs.
        args.targets.selector = args.targets.selector.with_default_states(State::VARIANTS)?;
    }
    let given = if args.targets.jids.is_empty() {
        None
    } else {
        Some(jids::read_jids(&mut session.input(), &args.targets.jids)?)
    };
    let now = session.connect()?;
    let selector = &args.targets.selector;
    let jobs = match &given {
        Some(given) => {
            let found = count_existing_jobs(given.jids(), now, session)?;
            if found == 0 {
                // The file of an earlier export stays.
                not_found::refuse_missing_jobs(given.jids())?;
            }
            Some(found)
        }
        None => selected_job_count_if_known(selector, now, session)?,
    };
    let to = match &path {
        Some(path) => Some(AtomicFile::create_private(path)?),
        None => None,
    };
    let mut writer = ExportWriter {
        to,
        stop: InterruptFlags::install_handlers_once(),
        progress: session.ui.start_progress_bar(jobs.unwrap_or(0)),
        jobs: 0,
        throttles: BTreeSet::new(),
    };
    let head = ExportHead {
        at: now,
        prefix: session.prefix().to_string(),
        jobs,
        command: "export",
    };
    writer.write_line(&mut session.ui, &export::head_line(&head)?)?;
    let (mut missing, mut unreadable) = (Vec::new(), Vec::new());
    match &given {
        Some(given) => missing = writer.write_jobs_returning_missing(given.jids(), session)?,
        None => {
            // With `--all`, the scan of all keys below adds the jobs that no set of a listed queue has.
            let all = all_jobs && selector.limit.is_none() && selector.offset == 0;
            let mut seen: HashSet<Name> = HashSet::new();
            let mut search = JobSearch::start(session.core()?, now, selector, JobFields::Jid)?;
            search.note_full_scan_and_data_paths(&mut session.ui);
            while let Some(jobs) = search.next_jobs(session.core()?)? {
                let jids: Vec<Name> = jobs.into_iter().map(|job| job.jid).collect();
                // Leave out a job that was deleted after it was listed. This is no error, since no argument names it.
                writer.write_jobs_returning_missing(&jids, session)?;
                seen.extend(jids.into_iter().filter(|_| all));
            }
            unreadable = search.unreadable;
            if all {
                let mut scan = StoredJidScan::new("jobs");
                while let Some(mut jids) = scan.ids_of_next_scan_step(session.core()?, now)? {
                    jids.retain(|jid| seen.insert(jid.clone()));
                    writer.write_jobs_returning_missing(&jids, session)?;
                }
            }
        }
    }
    let unreadable_throttles =
        writer.write_extra_parts(&args.with, &selector.queues, now, session)?;
    let ExportWriter {
        to,
        jobs,
        progress,
        throttles,
        ..
    } = writer;
    progress.remove_bar();
    let exported = format_count(jobs, "job", "jobs");
    if let (Some(file), Some(to)) = (file, to) {
        to.finish()?;
        let file = Name::from(file.as_os_str());
        note_on_terminal(session, &format!("exported {exported} to {file}"));
        session
            .ui
            .show(&CommandResult::new("export", vec![file], false))?;
    } else {
        session.ui.flush_stdout_and_wait_for_pager()?;
        note_on_terminal(session, &format!("exported {exported}"));
    }
    if !args.with.contains(&ExportAddition::Throttles) {
        note_unexported_maxima(throttles, now, session)?;
    }
    if all_jobs && !args.with.contains(&ExportAddition::Recur) {
        // The export is complete without the note.
        _ = note_unexported_recurring(now, session);
    }
    not_found::refuse_missing_jobs(&missing)?;
    let queues = session
        .ui
        .report_if_incomplete(queue::partial_result_error(&unreadable));
    let throttles = session
        .ui
        .report_if_incomplete(throttle::partial_result_error(&unreadable_throttles));
    Ok(if queues == Exit::Ok {
        throttles
    } else {
        queues
    })
}

/// Maximum number of throttles that an export remembers for its note about maxima, since each job may have a throttle
/// of its own.
const NOTED_THROTTLES: usize = 1000;

/// Prints a note that names the throttles of the exported jobs whose maximum the export does not have.
fn note_unexported_maxima(
    throttles: BTreeSet<Name>,
    now: Moment,
    session: &mut Session,
) -> Result<(), Error> {
    let throttles: Vec<Name> = throttles.into_iter().collect();
    if throttles.is_empty() || session.ui.is_quiet() {
        return Ok(());
    }
    let found = session.core()?.throttles(now, &throttles)?;
    let defined = found.iter().filter(|throttle| throttle.defined);
    let names: Vec<String> = defined
        .map(|throttle| format!("`{}`", throttle.id))
        .collect();
    let named = match names.as_slice() {
        [] => return Ok(()),
        [name] => format!("throttle {name}"),
        names if names.len() <= 3 => format!("throttles {}", names.join(", ")),
        names => {
            let more = names.len() - 3;
            format!("throttles {} and {more} more", names[..3].join(", "))
        }
    };
    let maxima = if names.len() == 1 {
        "its maximum is"
    } else {
        "their maxima are"
    };
    session.ui.note(&format!(
        "note: exported jobs have {named}; {maxima} not exported without `--with throttles`"
    ));
    Ok(())
}

/// Prints a note with the number of recurring jobs, which an export of all jobs does not have.
fn note_unexported_recurring(now: Moment, session: &mut Session) -> Result<(), Error> {
    if session.ui.is_quiet() {
        return Ok(());
    }
    let core = session.core()?;
    let queues = core.queues_like_and_unreadable(now, &[])?.readable;
    let active = queues
        .iter()
        .map(|queue| queue.recurring)
        .fold(0, u64::saturating_add);
    let paused = core.index_members(now, &Index::PausedRecurring)?.len() as u64;
    let all = active.saturating_add(paused);
    if all > 0 {
        let jobs = format_count(all, "recurring job is", "recurring jobs are");
        session
            .ui
            .note(&format!("note: {jobs} not exported without `--with recur`"));
    }
    Ok(())
}

/// Prints a note, if people read stderr.
fn note_on_terminal(session: &mut Session, line: &str) {
    if session.ui.shows_hints() {
        session.ui.note(line);
    }
}

/// The throttles of the jobs that a recurring job puts, for the note about maxima that are not exported.
fn throttles_of_recurring(recurring: &Recurring) -> Vec<Name> {
    let coordination = recurring.coordination();
    let ids = coordination.option_value(CoordinationOption::Throttles);
    let ids = ids.and_then(Json::parse).and_then(|ids| ids.text_array());
    ids.unwrap_or_default()
}

/// Counts the given jobs that exist. Reads a limited number of jobs at a time, because a job takes far more memory than
/// its jid.
fn count_existing_jobs(jids: &[Name], now: Moment, session: &mut Session) -> Result<u64, Error> {
    let mut found = 0;
    for slice in jids.chunks(MAX_JOBS_PER_CALL) {
        let jobs = session.core()?.jobs(now, JobFields::Jid, slice)?;
        found += jobs.iter().flatten().count() as u64;
    }
    Ok(found)
}

/// The number of jobs to export. `None` if the sizes of indexes do not tell it.
fn selected_job_count_if_known(
    selector: &Selector,
    now: Moment,
    session: &mut Session,
) -> Result<Option<u64>, Error> {
    let core = session.core()?;
    let total = JobSearch::start(core, now, selector, JobFields::Jid)?.total_matches(core)?;
    Ok(total.map(|total| {
        let rest = total.saturating_sub(selector.offset);
        rest.min(selector.limit.unwrap_or(u64::MAX))
    }))
}

/// Writes the lines to a file or to stdout.
struct ExportWriter {
    /// The file. `None` means stdout.
    to: Option<AtomicFile>,
    stop: InterruptFlags,
    progress: Progress,
    jobs: u64,
    /// Throttles of the exported jobs.
    throttles: BTreeSet<Name>,
}

impl ExportWriter {
    fn write_line(&mut self, ui: &mut Ui, line: &[u8]) -> Result<(), Error> {
        match &mut self.to {
            Some(file) => file.write(line),
            None => ui.write_bytes(line),
        }
    }

    /// Reads jobs and writes their lines of the export. Returns the jids of jobs that do not exist.
    fn write_jobs_returning_missing(
        &mut self,
        jids: &[Name],
        session: &mut Session,
    ) -> Result<Vec<Name>, Error> {
        let mut missing = Vec::new();
        let mut unwritten = jids.iter();
        let mut savings = ExportedJobReader::new(jids);
        loop {
            if let Some(kind) = self.stop.error_kind_of_received_signal() {
                let jobs = format_count(self.jobs, "job", "jobs");
                let error = Error::new(kind, format!("interrupted after {jobs}"));
                return Err(match &self.to {
                    Some(to) if to.replaces_at_finish() => {
                        error.hint("the file was left as it was")
                    }
                    _ => error,
                });
            }
            let (core, ui) = session.core_and_ui()?;
            let now = core.now();
            let Some(slice) = savings.next_jobs(core, now)? else {
                missing.extend(unwritten.cloned());
                return Ok(missing);
            };
            let some = slice.len() as u64;
            for saved in slice {
                let jid = saved.job.jid.clone();
                missing.extend(
                    unwritten
                        .by_ref()
                        .take_while(|other| **other != jid)
                        .cloned(),
                );
                self.remember_throttles_for_note(&saved.job.throttles);
                self.write_line(ui, &saved.export_line()?)?;
            }
            self.jobs += some;
            self.progress.add_done(some);
        }
    }

    /// Remembers throttles, up to a maximum.
    fn remember_throttles_for_note(&mut self, throttles: &[Name]) {
        for id in throttles {
            if self.throttles.len() < NOTED_THROTTLES && !self.throttles.contains(id) {
                self.throttles.insert(id.clone());
            }
        }
    }

    /// Writes the parts that `--with` names. Returns the throttles that cannot be read.
    fn write_extra_parts(
        &mut self,
        with: &[ExportAddition],
        queues: &[NamePattern],
        now: Moment,
        session: &mut Session,
    ) -> Result<Vec<UnreadableThrottle>, Error> {
        let meant = |queue: &Name| passes_filter(queues, Some(queue));
        let (core, ui) = session.core_and_ui()?;
        if with.contains(&ExportAddition::Recur) {
            // A scan of all keys also finds recurring jobs that no set of a listed queue has.
            let (mut scan, mut found) = (StoredJidScan::new("recurring"), BTreeSet::new());
            while let Some(ids) = scan.ids_of_next_scan_step(core, now)? {
                found.extend(ids);
            }
            found.extend(core.index_members(now, &Index::PausedRecurring)?);
            let found: Vec<Name> = found.into_iter().collect();
            for recurring in core.recurring_jobs(now, &found)?.into_iter().flatten() {
                let nowhere = Name::default();
                if !meant(recurring.queue.as_ref().unwrap_or(&nowhere)) {
                    continue;
                }
                self.remember_throttles_for_note(&throttles_of_recurring(&recurring));
                let due = recurring.next;
                self.write_line(ui, &SavedRecurring::new(recurring, due).export_line()?)?;
            }
        }
        if with.contains(&ExportAddition::Config) {
            let mut options = core.config(now)?;
            options.retain(|option| option.set);
            self.write_line(ui, &export::config_line(options)?)?;
        }
        if with.contains(&ExportAddition::Paused) {
            for paused in core.paused_queues(now)? {
                if meant(&paused.queue) {
                    self.write_line(ui, &export::paused_queue_line(&paused)?)?;
                }
            }
        }
        if !with.contains(&ExportAddition::Throttles) {
            return Ok(Vec::new());
        }
        let (throttles, unreadable) = core.all_throttles(now)?;
        for throttle in throttles.into_iter().filter(|throttle| throttle.defined) {
            let expires = throttle.ttl_s.map(Duration::from_secs);
            let saved = SavedThrottle {
                id: throttle.id,
                maximum: throttle.maximum,
                expires: expires.map(|ttl| now.plus(ttl)),
            };
            self.write_line(ui, &export::throttle_line(&saved)?)?;
        }
        Ok(unreadable)
    }
}
