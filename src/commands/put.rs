//! `qless put`

use std::borrow::Cow;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use super::{HelpGroup, MemberDispatch, Spec};
use crate::args::coordination::{self, CoordinationFlags, OccupiedLaneFlags};
use crate::args::input_arg::{FileOrStreamArg, ValueFileOrStdinArg};
use crate::args::moment::{self, MomentArg};
use crate::args::shared::{
    BULK, DueTimeFlags, MaxInputDataFlag, RequireExistingQueueFlag, WaitReplicasFlag,
    refuse_too_many_tags,
};
use crate::args::value;
use crate::bulk::maxima::ThrottleMaximaToSet;
use crate::bulk::new_queues;
use crate::clock::moment::Moment;
use crate::core::api::guard::{GuardRefusal, GuardReply, PutPolicy, PutResult};
use crate::core::api::queue::CHECK;
use crate::error::{Cause, Error, Kind};
use crate::exit::Exit;
use crate::input::data;
use crate::input::line::{Dependency, NewJob, NewName};
use crate::input::source::CommandInputs;
use crate::input::two_pass::TwoPassFile;
use crate::json::path::JsonPath;
use crate::model::bulk::OutcomeCode;
use crate::model::job::State;
use crate::model::put::{DuplicateOutcome, MissingJidSource, PutOrExistingJob};
use crate::name::Name;
use crate::session::Session;
use crate::submit::jid::{self, LineDefaults};
use crate::submit::queue_defaults::note_option_without_required_dup;
use crate::submit::{self, PutFromFlags, SubmitOptions};
use crate::text::{format_count, format_duration};
use crate::wait::{self, SubscribedWait, WaitOptions};

/// The longest time between a put and `--at`, in seconds.
const TEN_YEARS: f64 = 10.0 * 365.25 * 86_400.0;

/// Put a job into a queue, or many jobs from a file
///
/// Prints only the jid. The data is JSON text, `@FILE`, `-` for stdin, or built from pairs: `--arg
/// user:=42 --arg locale=de`. The default is `{}`.
///
/// With `--if-absent`, nothing is put as long as a job with this jid exists. A complete job is deleted
/// after `jobs-history` seconds (7 days by default), or earlier, when `jobs-history-count` newer jobs
/// (50,000) are complete. For "once a day", `--key K --unique --ttl 24h` does not depend on that: see
/// `qless config list`, `qless help recipes`.
///
/// `--from` puts one job per line of a file. A line is a JSON object with the members `queue klass
/// data jid delay at priority tags retries depends throttles lock key dup until ttl score rescore hold
/// backoff`; the command line supplies members that a line lacks. All lines are checked before the first one is sent. A line may depend on jobs of other
/// lines by jid, in any order. `delay` is a duration or a number of seconds. `at` is a time as for
/// `--at`, or seconds since the epoch. `throttles` is an array of `ID` or `ID=MAX`, as for `--throttle`.
/// What an option requires (`key`, `dup`) may stand in the defaults of the queue: `qless defaults`.
///
/// `--jid-from PATH` takes the jid from a text or number in the data. `--jid-from content` computes
/// it from the job: the first 32 hexadecimal digits of SHA-256 over queue, klass and data, each
/// preceded by its length in bytes and a colon (`4:mail13:Mail::Welcome2:{}`). Equal lines are then
/// one job. Both leave an existing job as it is, so the same command can be run again. `--journal
/// FILE` also makes the command repeatable: it records each line before sending it and when it is
/// done, and skips lines that are done, even if their jobs have long expired. If the server restarted, was
/// flushed or evicted keys since, it asks for the jobs of these lines, and puts the missing ones again,
/// unless they may have ended and been deleted by `jobs-history` or `jobs-history-count`. A job that was
/// cancelled is then put again, too.
///
/// If the server restarts, is flushed or evicts keys while `--from` puts jobs, the rest is put and the exit
/// code is 3 (`server_restarted`): what it had acknowledged may be lost.
///
/// Jobs of one priority with new jids are popped in the order of their lines. With given or
/// computed jids the order is lost within one call; `--batch 1` keeps it.
///
/// Memory does not grow with the size of the file, apart from 12 to 24 bytes per given or computed
/// jid, and the throttles that lines give a maximum. If a line depends on a later line, more is kept per line. On a terminal, in a dry run and with
/// `--existing-queue`, the name of each queue is kept, too: queues that do not exist yet are named.
///
/// `--key` puts the job into a lane: jobs of one key run one at a time, in the order of their puts.
/// `--merge`, `--unique` and `--dup` say what happens if the lane has a job already. Then the put may
/// be answered by that job, and its jid is printed; `new` in the document of `-o json` is false.
/// `--lock` and `--throttle` limit how many jobs run at the same time: `qless help recipes`.
///
/// `--wait` ends when the jobs are complete, or when one of them has failed or was cancelled. It also waits for those
/// that `--if-absent` left as they are. stdout is the same as without it.
///
/// Example: `jid=$(qless put mail Mail::Welcome --arg user:=42 --delay 10m --tag onboarding)`
///
/// Example: `qless put reports Nightly --jid "nightly-$(date +%F)" --if-absent`
///
/// Example: `jq -c '{queue:"img",klass:"Thumb",data:.}' photos.json | qless put --from - --jid-from sha --rate 500/s`
///
/// Example: `qless put ci Test --jid build-78 --wait=1s || [ $? = 124 ]`
///
/// Examples: `qless put orders Sync '{"v":1}' --key customer-7 --merge`
/// · `qless put reports Nightly --key nightly --unique --ttl 24h`
/// · `qless put mail Api::Call --throttle api=10 --backoff exp:30s`
///
/// Exit codes: 0, 2 usage, 3 some lines failed or the server may have lost jobs, 4 a dependency or, with `--existing-queue`, a queue
/// does not exist, 5 the jid exists already or the dependencies form a cycle, 6 server, 8 the job
/// that `--wait` waited for failed or was cancelled, 9 not confirmed, 124 deadline, 130 interrupted.
#[derive(Clone, Debug, clap::Args)]
#[command(override_usage = "qless put [OPTIONS] QUEUE KLASS [DATA] | [QUEUE [KLASS]] --from FILE")]
pub(crate) struct Args {
    /// Queue
    #[arg(value_parser = value::new_name(), required_unless_present = "from",
          add = value::CompletionKind::Queues)]
    queue: Option<Name>,
    /// Class of the job: the kind of work
    #[arg(value_parser = value::klass(), required_unless_present = "from")]
    klass: Option<Name>,
    /// Data: JSON, `@FILE`, or `-` for stdin
    #[arg(value_name = "DATA", allow_negative_numbers = true)]
    positional: Option<ValueFileOrStdinArg>,
    /// Data: JSON, `@FILE`, or `-` for stdin
    #[arg(long, allow_hyphen_values = true, conflicts_with = "positional")]
    data: Option<ValueFileOrStdinArg>,
    /// Member of the data: `key=text` or `key:=json`; dots in the key make nested objects
    #[arg(long, value_name = "PAIR", conflicts_with_all = ["positional", "data"])]
    arg: Vec<OsString>,
    #[command(flatten)]
    existing: RequireExistingQueueFlag,
    #[command(flatten)]
    limit: MaxInputDataFlag,
    /// Jid of the job [default: a new one]
    #[arg(long, value_parser = value::new_jid())]
    jid: Option<Name>,
    /// Leave an existing job with this jid as it is, also a complete one that is still known
    #[arg(long, conflicts_with = "replace")]
    if_absent: bool,
    /// Put an existing job with this jid again; a worker that holds it loses it
    #[arg(long)]
    replace: bool,
    #[command(flatten)]
    later: DueTimeFlags,
    /// Priority; higher runs first
    #[arg(long, value_name = "N", value_parser = value::integer, allow_hyphen_values = true)]
    priority: Option<i64>,
    /// Tag
    #[arg(long = "tag", value_name = "T", value_parser = value::new_name(),
          add = value::CompletionKind::Tags)]
    tags: Vec<Name>,
    /// Number of retries
    #[arg(long, value_name = "N", value_parser = value::at_least_zero, allow_hyphen_values = true)]
    retries: Option<u64>,
    /// Jid of a job that must be complete first
    #[arg(long, value_name = "JID", value_parser = value::name(),
          add = value::CompletionKind::Jids(value::JidCompletionKind::NotComplete))]
    depends: Vec<Name>,
    /// Ignore dependencies that do not exist
    #[arg(long)]
    allow_missing: bool,
    /// With `--from`: source of the jids: `content`, or a path in the data such as `user.id`
    #[arg(long, value_name = "content|PATH", value_parser = value::jid_derivation(), requires = "from",
          conflicts_with = "replace")]
    jid_from: Option<MissingJidSource>,
    /// In a context with several prefixes or members, keep jobs together by the value at this path in the
    /// data, such as `customer.id` [default: by `--key`, else by the jid]
    #[arg(long, value_name = "PATH", value_parser = value::data_path())]
    shard_by: Option<JsonPath>,
    /// Put one job per line of this file, each a JSON object; `-` for stdin
    #[arg(help_heading = BULK, long, value_name = "FILE",
          conflicts_with_all = ["positional", "jid"])]
    from: Option<FileOrStreamArg>,
    #[command(flatten)]
    lines: PutFromFlags,
    /// Wait until the job is complete, at most for D, such as `10m`; with `--from`, all jobs
    #[arg(long, value_name = "D", num_args = 0..=1, require_equals = true,
          value_parser = moment::parse_deadline)]
    wait: Option<Option<MomentArg>>,
    /// With `--wait`: the same as the D of `--wait=D`; also a time, such as `06:00`. With both, the earlier one counts
    #[arg(long, value_name = "D|T", value_parser = moment::parse_deadline, requires = "wait")]
    deadline: Option<MomentArg>,
    #[command(flatten)]
    coordinated: CoordinationFlags,
    #[command(flatten)]
    lane: OccupiedLaneFlags,
    #[command(flatten)]
    replicas: WaitReplicasFlag,
    /// Show what would be done; change nothing
    #[arg(help_heading = BULK, short = 'n', long)]
    dry_run: bool,
}

impl Args {
    fn context_member_dispatch(&self) -> MemberDispatch<'_> {
        if self.existing.existing_queue {
            return MemberDispatch::Refused("`--existing-queue` asks one for its queues");
        }
        if self.allow_missing {
            return MemberDispatch::Refused("`--allow-missing` asks one for its jobs");
        }
        if self.from.is_some() {
            return MemberDispatch::NewJobs(self);
        }
        let data = match self.positional.as_ref().or(self.data.as_ref()) {
            Some(ValueFileOrStdinArg::Value(data)) => data.as_bytes().to_vec(),
            Some(_) if self.shard_by.is_some() => {
                return MemberDispatch::Refused("`--shard-by` needs the data on the command line");
            }
            Some(_) => Vec::new(),
            // If `--arg` is wrong, `put_one` says so.
            None => data::build_object(&self.arg).unwrap_or_default(),
        };
        let job = self.new_job(data);
        let jid = self.jid.as_ref().map(Name::as_bytes);
        let kept_with = jid::shard_key(&job, jid, self.shard_by.as_ref());
        MemberDispatch::NewJob {
            kept_with: kept_with.map(|key| Cow::Owned(key.into_owned())),
            jid: self.jid.as_ref(),
        }
    }

    /// Divides the lines of the file among the members of the context.
    pub(crate) fn split_lines_among_members(
        &self,
        members: usize,
        session: &mut Session,
    ) -> Result<Vec<TwoPassFile>, Error> {
        let from = self.from.as_ref().unwrap_or(&FileOrStreamArg::Stream);
        let data = self.positional.as_ref().or(self.data.as_ref());
        if data == Some(&ValueFileOrStdinArg::Stdin) {
            let what = "the data comes from stdin, which several members cannot read";
            return Err(Error::usage(what).hint("name a file: `@FILE`"));
        }
        let data = self.read_data(&mut session.input())?;
        let defaults = self.line_defaults(data);
        submit::share_lines_by_shard_key(from, &defaults, self.shard_by.as_ref(), members)
    }

    /// The defaults that the command line gives for all lines of a file.
    fn line_defaults(&self, data: Vec<u8>) -> LineDefaults {
        LineDefaults {
            job: self.new_job(data),
            jids: self.jid_from.clone().unwrap_or_default(),
            max_data: self.limit.max_data,
        }
    }

    /// The data from the command line.
    fn read_data(&self, source: &mut CommandInputs) -> Result<Vec<u8>, Error> {
        let max_data = self.limit.max_data;
        match self.positional.as_ref().or(self.data.as_ref()) {
            Some(given) => Ok(data::read_json_data(source, given, max_data)?.0),
            None => data::refuse_too_long(data::build_object(&self.arg)?, max_data),
        }
    }

    /// The job that the command line describes, without its jid.
    fn new_job(&self, data: Vec<u8>) -> NewJob<'static> {
        let number = |number: String| Cow::Owned(number.into_bytes());
        let tags = self.tags.iter().map(NewName::from).collect();
        let depends = self.depends.iter().map(Dependency::from).collect();
        NewJob {
            queue: self.queue.as_ref().map(NewName::from),
            klass: self.klass.as_ref().map(NewName::from),
            data: Some(Cow::Owned(data)),
            delay: self.later.delay,
            at: self.later.at.clone(),
            priority: self.priority.map(|priority| number(priority.to_string())),
            retries: self.retries.map(|retries| number(retries.to_string())),
            tags: (!self.tags.is_empty()).then_some(Cow::Owned(tags)),
            depends: (!self.depends.is_empty()).then_some(Cow::Owned(depends)),
            coordination: self.lane.lane_and_coordination_options(&self.coordinated),
            ..NewJob::default()
        }
    }

    fn policy(&self) -> PutPolicy {
        PutPolicy {
            replace: self.replace,
            allow_missing: self.allow_missing,
            tell_lanes: true,
            dry_run: self.dry_run,
        }
    }

    /// The options of `--wait`.
    fn wait_options(&self, now: Moment) -> Option<WaitOptions> {
        let deadlines = self.wait.as_ref()?.iter().chain(&self.deadline);
        Some(WaitOptions {
            awaited: State::Complete,
            any: false,
            deadline: deadlines.map(|deadline| deadline.time_left(now)).min(),
            allow_gone: false,
            must_exist: false,
        })
    }
}

/// Waits until jobs are complete. Writes nothing to stdout, which already has the output of `put`.
fn wait_until_jobs_complete(
    waiter: SubscribedWait,
    jids: Vec<Name>,
    session: &mut Session,
) -> Result<(), Error> {
    let options = waiter.options;
    session.ui.flush_stdout_and_wait_for_pager()?;
    let wait = waiter.wait_until_outcome_certain(jids, session, |_, _| Ok(()))?;
    wait::require_awaited_state(&wait, &options, session)?;
    let elapsed = format_duration(wait.totals.elapsed_s.0);
    let jobs = format_count(wait.totals.jobs as u64, "job", "jobs");
    session
        .ui
        .note_to_people(&format!("{jobs} complete in {elapsed}"));
    Ok(())
}

pub(crate) const SPEC: Spec<Args> =
    Spec::writes(HelpGroup::Submit, run).context_member_dispatch(Args::context_member_dispatch);

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    refuse_too_many_tags("--tag", &args.tags)?;
    if let Some(from) = &args.from {
        return put_lines(&args, from, session);
    }
    // clap does not refuse these if there is positional data, because that conflicts with `--from`.
    if args.jid_from.is_some() || args.lines != PutFromFlags::default() {
        return Err(Error::usage("`--from` is missing"));
    }
    put_one(&args, session)
}

/// Puts one job per line of a file.
fn put_lines(args: &Args, from: &FileOrStreamArg, session: &mut Session) -> Result<Exit, Error> {
    let mut source = session.input();
    let data = args.read_data(&mut source)?;
    // Claim stdin for the jobs, unless its lines were read before, to divide them among the members of the context.
    if *from == FileOrStreamArg::Stream && session.input_sharing_member_count().is_none() {
        source.claim_stdin_for("jobs")?;
    }
    let options = SubmitOptions {
        from: from.clone(),
        defaults: args.line_defaults(data),
        throttles: args.coordinated.throttles.clone(),
        policy: args.policy(),
        existing: args.existing,
        if_absent: args.if_absent || args.jid_from.is_some(),
        flags: args.lines.clone(),
        replicas: args.replicas.wait_replicas,
        keep_jids: args.wait.is_some() && !args.dry_run,
    };
    let submitted = submit::submit_file(&options, session)?;
    if !submitted.jids.is_empty()
        && let Some(options) = args.wait_options(session.now())
    {
        let waiter = SubscribedWait::subscribe_and_handle_signals(options, session)?;
        wait_until_jobs_complete(waiter, submitted.jids, session)?;
    }
    Ok(submitted.exit)
}

/// Puts one job: one call, whose reply becomes the result.
fn put_one(args: &Args, session: &mut Session) -> Result<Exit, Error> {
    // Without `--from` both are required.
    let (Some(queue), Some(klass)) = (&args.queue, &args.klass) else {
        return Err(Error::usage("`qless put` expects a queue and a klass"));
    };
    if args.allow_missing && args.depends.is_empty() {
        return Err(Error::usage("`--allow-missing` needs `--depends`"));
    }
    // Refuse options that need a key only if `--key` is given and empty: if it is absent, the defaults of the queue may
    // supply a key.
    if args.coordinated.key.as_ref().is_some_and(Name::is_empty) {
        coordination::refuse_unmet_requirements(
            &args.lane.lane_and_coordination_options(&args.coordinated),
        )?;
    }
    let data = args.read_data(&mut session.input())?;
    let now = session.connect()?;
    if let Some(at) = &args.later.at
        && at.resolve(now).since(now) > TEN_YEARS
    {
        return Err(Error::usage("`--at` is more than ten years ahead"));
    }
    new_queues::note_or_refuse_new_queue_of_job(
        queue,
        klass,
        args.existing,
        args.dry_run,
        now,
        session,
    )?;
    let maxima = ThrottleMaximaToSet::read_changes(&args.coordinated.throttles, now, session)?;
    // Subscribe before the put, so that the wait misses no event of the job.
    let awaited = args.wait_options(now).filter(|_| !args.dry_run);
    let waiter = awaited
        .map(|options| SubscribedWait::subscribe_and_handle_signals(options, session))
        .transpose()?;
    if !args.dry_run {
        maxima.confirm_if_protected(session)?;
    }
    let job = args.new_job(data);
    let fresh = || Name::from(uuid::Uuid::new_v4().simple().to_string());
    let jid = args.jid.clone().unwrap_or_else(fresh);
    let mut call = args
        .policy()
        .put_one_call(maxima.changed_maxima_for_put().as_ref());
    job.for_each_put_word(jid.as_bytes(), now, |word| call.push_arg(word));
    let put = match session.core()?.put_one(now, &jid, call)? {
        GuardReply::Done(placed) => {
            note_no_dependencies(&placed, args.allow_missing, session);
            note_option_without_required_dup(job.queue(), &job.coordination, now, session)?;
            put_or_duplicated_job(&job, jid, placed, args.dry_run, now, session)?
        }
        GuardReply::Refused(refusal) if refusal.code == OutcomeCode::Exists && args.if_absent => {
            read_existing_job_as_result(jid, args.dry_run, now, session)?
        }
        GuardReply::Refused(refusal) => return Err(refusal_error(&job, &jid, &refusal)),
    };
    show_put(&put, session)?;
    if args.dry_run {
        if put.creates_or_changes_job() {
            maxima.note_planned_maxima(session);
        }
        return Ok(Exit::Ok);
    }
    if put.creates_or_changes_job() {
        maxima.note_changed_maxima(session);
    }
    if let Some(replicas) = args.replicas.wait_replicas {
        session.core()?.wait_for_replicas(replicas)?;
    }
    if let Some(waiter) = waiter {
        wait_until_jobs_complete(waiter, vec![put.jid], session)?;
    }
    Ok(Exit::Ok)
}

/// Notes each given dependency for which the job does not wait.
fn note_no_dependencies(placed: &PutResult, allow_missing: bool, session: &mut Session) {
    let what = if allow_missing {
        "complete or missing"
    } else {
        "complete already"
    };
    for jid in &placed.no_dependencies {
        session
            .ui
            .note(&format!("note: `{jid}` is {what}: not a dependency"));
    }
}

/// The result of an accepted put: the new job, or the existing job that it duplicates with what the core did about it.
pub(super) fn put_or_duplicated_job(
    job: &NewJob,
    jid: Name,
    placed: PutResult,
    dry_run: bool,
    now: Moment,
    session: &mut Session,
) -> Result<PutOrExistingJob, Error> {
    let Some(existing) = placed.jid.filter(|existing| *existing != jid) else {
        return Ok(PutOrExistingJob {
            jid,
            queue: Some(Name::from(job.queue())),
            state: placed.state,
            created: true,
            new: true,
            queued_behind: placed.behind,
            dry_run,
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
        queued_behind: placed.behind,
        duplicate,
        ..read_existing_job_as_result(existing, dry_run, now, session)?
    })
}

/// A job that existed before the put, with its present queue and state.
fn read_existing_job_as_result(
    jid: Name,
    dry_run: bool,
    now: Moment,
    session: &mut Session,
) -> Result<PutOrExistingJob, Error> {
    let core = session.core()?;
    let found = core.job_snapshots(now, std::slice::from_ref(&jid))?;
    let found = found.into_iter().flatten().next();
    Ok(PutOrExistingJob {
        jid,
        queue: found.as_ref().and_then(|job| job.queue.clone()),
        state: found.as_ref().map(|job| job.state.clone()),
        dry_run,
        duplicate: DuplicateOutcome::Exists,
        ..PutOrExistingJob::default()
    })
}

/// The error for a put that the core refused.
fn refusal_error(job: &NewJob, jid: &Name, refusal: &GuardRefusal) -> Error {
    // If the put has an option that requires another one, the queue's defaults did not set the required one either.
    if let (OutcomeCode::Invalid, Err(unmet)) = (
        refusal.code,
        coordination::refuse_unmet_requirements(&job.coordination),
    ) {
        return unmet;
    }
    let cannot_put = |why: &str| format!("cannot put `{jid}`: {why}");
    let message = cannot_put(&refusal.put_or_dependency_detail().to_string());
    match refusal.code {
        OutcomeCode::Exists => Error::conflict(message)
            .about_jid(jid)
            .hint("`--if-absent` leaves it as it is, `--replace` puts it again"),
        OutcomeCode::Cycle => Error::conflict(message).about_jid(jid),
        OutcomeCode::MissingDependency => {
            let mut missing = refusal.detail_names();
            let hint = if missing.any(|name| name.as_bytes().contains(&b',')) {
                "name each job by a `--depends` of its own"
            } else {
                "`--allow-missing` ignores dependencies that do not exist"
            };
            Error::not_found(message)
                .hint(hint)
                .about_jid(jid)
                .caused_by(Cause::MissingDependency)
        }
        _ => {
            let why = refusal.core_refusal_text();
            // These are the texts about a key of the wrong type. The core names the key, or repeats the server's
            // `WRONGTYPE` error.
            if !why.starts_with("WRONGTYPE") && !why.contains(" is no ") {
                return Error::new(Kind::Error, message);
            }
            let why = why
                .split_once("WRONGTYPE")
                .map_or(why.as_str(), |_| "a key that it needs has the wrong type");
            Error::new(Kind::WrongKeyType, cannot_put(why)).hint(format!("`{CHECK}` names it"))
        }
    }
}

/// Shows the result of a put. On a terminal, or for a dry run, a line on stderr says what happened.
pub(super) fn show_put(put: &PutOrExistingJob, session: &mut Session) -> Result<(), Error> {
    session.ui.show(put)?;
    if put.dry_run {
        session.ui.note_dry_run_changes(&put.change_text());
    } else {
        session.ui.note_to_people(&put.change_text());
    }
    Ok(())
}
