//! `qless work`

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::{HelpGroup, MemberDispatch, Spec};
use crate::args::value;
use crate::core::call::rights;
use crate::env;
use crate::error::{Error, Kind};
use crate::exit::Exit;
use crate::listen::{AccessOptions, ListenAddress, ListenOptions, listen_address};
use crate::model::retry_cause::RetryCause;
use crate::model::work_queue::QueueSelector;
use crate::name::{Name, refuse_as_new_name};
use crate::session::Session;
use crate::session::actor;
use crate::text::format_count;
use crate::work;
use crate::work::machine::event::{DispatchMode, WorkLimit, WorkerRunResult};
use crate::work::machine::rotation::QueueOrder;
use crate::work::process::ProgramDirectory;
use crate::work::{HookCommands, WorkOptions};

/// An example program for `--persistent`, which the help shows and a test runs.
const WORKER: &str = r#"import json, os, sys
answers = open(int(os.environ["QLESS_RESULT_FD"]), "w", buffering=1)
for job in map(json.loads, sys.stdin):
    if not job.get("cancel"):
        print("working on", job["data"])
        answers.write(json.dumps({"jid": job["jid"], "result": "complete"}) + "\n")"#;

/// Run jobs with any program
///
/// Pops jobs and runs COMMAND for each. The job's data is its stdin. QLESS_JID, QLESS_QUEUE,
/// QLESS_KLASS, QLESS_TAGS, QLESS_PRIORITY, QLESS_RETRIES_LEFT, QLESS_ATTEMPT and QLESS_WORKER are in its
/// environment, and QLESS_KEY and QLESS_FENCE if the job has a lane or throttles. `{jid}`, `{queue}`, `{klass}` and `{data.PATH}` in its arguments are replaced, without a
/// shell. Exit code 0 completes the job, an end that `--retry-on` names retries it, any other exit code fails it
/// in group `exit-N`, with the end of stderr as the message.
///
/// With `--batch`, a process gets several jobs. With `--persistent`, processes stay and get one job after
/// the other. A process starts when there is a job for it. Both ways, a job is a line of JSON on stdin, and
/// its answer a line of JSON to descriptor 3, not to stdout. `qless help work-protocol` and qless-work(5)
/// describe both lines. A worker in Python:
///
/// `qless` extends the locks while commands run. If a job is cancelled or loses its lock, its command
/// gets SIGTERM, and SIGKILL after `--kill-after`; its result is discarded. With `--time-limit`, a command that
/// runs for too long gets the same signals, and the job fails in group `time-limit`.
///
/// After the first SIGINT, SIGTERM, SIGHUP or SIGQUIT, `qless` pops nothing more and lets the commands finish. After the
/// second one it stops them and gives their jobs back, which uses no retry. If the server does not reply
/// within `--timeout`, the jobs come back when their locks expire. The third one kills the commands and
/// ends immediately. A signal within a second of another one counts as the same. SIGTTIN prints what each slot
/// does. SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXFSZ, SIGIO, SIGPWR and real-time signals are ignored.
///
/// `--order lag` pops from the queue whose oldest due job has been due for longest, as `qless lag` prints
/// it. `--order patterns` pops in the order of the priority patterns that
/// `qless api queuePriorityPatterns.setAll` stores; a fair pattern takes its queues in turn, by weight. Globs and
/// stored patterns are read again every 10 s. Among more than 500 queues, it is asked once a second which have jobs.
///
/// With `--metrics`, the worker answers while it works, without asking Redis: `/metrics` is for Prometheus, `/livez` is 503
/// if a turn or a heartbeat is overdue, and `/readyz` is 503 before it pops, while Redis is away and from the first
/// signal on. `qless help work-protocol` and qless-work(5) describe them.
///
/// A lock cannot stop a program on a machine that is frozen: after a pause longer than the lock, the program of a
/// lost job may run beside the next one until `qless` runs again and stops it. QLESS_FENCE tells them apart.
///
/// Examples: `qless work mail --concurrency 4 -- ./send-mail`
/// · `qless work ci --drain --retry-on 75,111 -- make -C {data.repo} test`
/// · `qless work mail --time-limit 5m --retry-on 75,signal,time-limit -- ./send-mail`
/// · `qless work mail --metrics :9123 -- ./send-mail`
/// · `qless work high=3 low --order round-robin -- ./run`
/// · `qless work thumbs --persistent --concurrency 8 -- python3 thumbs.py`
///
/// Exit codes: 0, 1 the command, the directory of `--sandbox`, stdout or the address of `--metrics` cannot be used, or `--on-start` failed, 6 server, 8 a job
/// failed for good, or the data of running jobs was deleted (both with `--drain` or `--count` only), or the job of `--count 1` was lost,
/// 130 or 143 stopped by a second signal.
///
/// See also: `qless workers`, `qless pop`, `qless help work-protocol`, `qless help recipes`
#[derive(Clone, Debug, clap::Args)]
#[command(before_long_help = WORKER)]
pub(crate) struct Args {
    /// Queues: names, globs such as `mail-*`, `@NAME` for a stored identifier pattern, `!NAME` to leave
    /// one out; `NAME=3` is a weight
    #[arg(required = true, value_name = "QUEUE", value_parser = value::work_queue(),
          add = value::CompletionKind::Queues)]
    queues: Vec<QueueSelector>,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND", value_parser = value::any_word())]
    command: Vec<OsString>,
    /// From which queue to pop next
    #[arg(long, value_name = "ORDER", default_value = "ordered")]
    order: QueueOrder,
    /// Maximum number of processes at a time
    #[arg(long, short = 'c', value_name = "N", value_parser = value::process_count, default_value = "1")]
    concurrency: usize,
    /// Maximum time between two pops from empty queues
    #[arg(long, value_name = "D", value_parser = value::positive_duration, default_value = "5s")]
    poll: Duration,
    /// Exit when no job can be popped now, nor later without a put. Waits for jobs whose lock has expired, until the end of
    /// their grace period, and for those that wait for a slot of a throttle or behind a running job of their lane. Scheduled and
    /// blocked jobs, jobs of paused queues and those whose locks other workers hold stay, and are counted on stderr
    #[arg(long)]
    drain: bool,
    /// Exit after this number of jobs; with `--drain`, also when there are fewer
    #[arg(long, value_name = "N", value_parser = value::at_least_one)]
    count: Option<u64>,
    /// Give each process up to this number of jobs, as lines on its stdin
    #[arg(long, value_name = "N", value_parser = value::jobs_per_call, conflicts_with = "persistent")]
    batch: Option<usize>,
    /// Keep the processes, and give them jobs as lines on their stdin
    #[arg(long)]
    persistent: bool,
    /// Maximum number of unanswered jobs per process
    #[arg(long, value_name = "N", value_parser = value::jobs_per_call, default_value = "1", requires = "persistent",
          conflicts_with_all = ["batch", "capture"])]
    in_flight: usize,
    /// Read answers from stdout, too, not only from descriptor 3
    #[arg(long, value_name = "WHERE", value_parser = ["stdout"], requires = "persistent",
          conflicts_with_all = ["batch", "capture"])]
    answers: Option<String>,
    /// Ends of a process that retry its jobs: exit codes (`75`, `1-255`), `any` for all but exit code 0,
    /// `signal` or its name (`KILL`), `crash` for the end of a process of `--persistent`, `time-limit`
    #[arg(long, value_name = "ENDS", value_delimiter = ',', default_value = "75",
          value_parser = value::retry_cause)]
    retry_on: Vec<RetryCause>,
    /// Time before a job of `--retry-on` runs again; 0s leaves it to the job's back-off policy, if it has one
    #[arg(long, value_name = "D", value_parser = value::duration, default_value = "0s")]
    retry_delay: Duration,
    /// Put completed jobs into this queue
    #[arg(long, value_name = "QUEUE", value_parser = value::new_name(), add = value::CompletionKind::Queues)]
    next: Option<Name>,
    /// Maximum time that a process may have a job: then it gets SIGTERM, SIGKILL after `--kill-after`,
    /// and the job fails in group `time-limit`
    #[arg(long, value_name = "D", value_parser = value::positive_duration)]
    time_limit: Option<Duration>,
    /// Time from SIGTERM to SIGKILL
    #[arg(long, value_name = "D", value_parser = value::duration, default_value = "10s")]
    kill_after: Duration,
    /// Store the output of the command as the data of the job, if it is JSON
    #[arg(long, conflicts_with_all = ["batch", "persistent"])]
    capture: bool,
    /// Put the time, the slot and the job before each line of the command's output
    #[arg(long)]
    label: bool,
    /// Time between two extensions of a lock; default: a third of the lock
    #[arg(long, value_name = "D", value_parser = value::positive_duration)]
    heartbeat: Option<Duration>,
    /// Run commands in this directory
    #[arg(long, value_name = "DIR", value_parser = value::file_to_write(), conflicts_with = "sandbox")]
    chdir: Option<PathBuf>,
    /// Run each slot in its own directory below this one, emptied before each process
    #[arg(long, value_name = "DIR", value_parser = value::file_to_write())]
    sandbox: Option<PathBuf>,
    /// Shell command to run before the first job; if it fails, no job is popped
    #[arg(long, value_name = "CMD")]
    on_start: Option<String>,
    /// Shell command to run after a job has failed
    #[arg(long, value_name = "CMD")]
    on_exhausted: Option<String>,
    /// Shell command to run after a signal ended a process
    #[arg(long, value_name = "CMD")]
    on_crash: Option<String>,
    /// Maximum length of the message of a failure, in bytes: the end of stderr
    #[arg(long, value_name = "N", value_parser = value::max_failure_message_size, default_value = "8192")]
    error_bytes: usize,
    /// Accept placeholders whose value makes an argument begin with a dash
    #[arg(long)]
    allow_dash: bool,
    /// First part of the worker's name [QLESS_WORKER; default: the host]
    #[arg(long, value_name = "NAME", value_parser = value::new_name())]
    worker: Option<Name>,
    /// Answer HTTP requests for `/metrics`, `/livez` and `/readyz` at HOST:PORT, at :PORT of this machine only, or at
    /// unix:PATH
    #[arg(id = "listen", long = "metrics", value_name = "ADDR", value_parser = listen_address())]
    metrics: Option<ListenAddress>,
    #[command(flatten)]
    access: AccessOptions,
}

pub(crate) const SPEC: Spec<Args> = Spec::writes(HelpGroup::Work, run)
    .unpaged()
    .context_member_dispatch(|_| MemberDispatch::Processes);

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.refuse_json_for_stream("work")?;
    session.ui.require_format(&[])?;
    if args.queues.iter().all(|queue| queue.is_excluded) {
        let error = Error::usage("every queue is left out");
        return Err(error.hint("name a queue, or `*` for all others"));
    }
    // `--retry-on crash` has no effect without `--persistent`, and `--retry-on time-limit` has none without
    // `--time-limit`: refuse both.
    if args.retry_on.contains(&RetryCause::Crash) && !args.persistent {
        return Err(Error::usage("`--retry-on crash` requires `--persistent`"));
    }
    if args.retry_on.contains(&RetryCause::TimeLimit) && args.time_limit.is_none() {
        return Err(Error::usage(
            "`--retry-on time-limit` requires `--time-limit`",
        ));
    }
    let options = WorkOptions {
        worker: worker_name_prefix(args.worker)?,
        queues: args.queues,
        order: args.order,
        mode: match (args.batch, args.persistent) {
            (Some(jobs), _) => DispatchMode::Batch(jobs),
            (None, true) => DispatchMode::Persistent(args.in_flight),
            (None, false) => DispatchMode::Single,
        },
        concurrency: args.concurrency,
        limit: match (args.drain, args.count) {
            (true, Some(count)) => WorkLimit::DrainUpTo(count),
            (true, None) => WorkLimit::Drain,
            (false, Some(count)) => WorkLimit::Count(count),
            (false, None) => WorkLimit::Never,
        },
        poll: args.poll,
        retry_on: args.retry_on,
        retry_delay: args.retry_delay,
        next: args.next,
        kill_after: args.kill_after,
        time_limit: args.time_limit,
        capture: args.capture,
        label: args.label,
        answers_on_stdout: args.answers.is_some(),
        heartbeat: args.heartbeat,
        directory: match (args.chdir, args.sandbox) {
            (Some(directory), _) => ProgramDirectory::Shared(directory),
            (None, Some(directory)) => {
                ProgramDirectory::Sandbox(session.member_file_path(&directory))
            }
            (None, None) => ProgramDirectory::Inherited,
        },
        hooks: HookCommands {
            on_start: args.on_start,
            on_exhausted: args.on_exhausted,
            on_crash: args.on_crash,
        },
        error_bytes: args.error_bytes,
        allow_dash: args.allow_dash,
        metrics: ListenOptions {
            listen: args.metrics,
            access: args.access,
        },
        command: args.command,
    };
    match work::run(options, session)? {
        WorkerRunResult::Done | WorkerRunResult::Stopped { .. } => Ok(Exit::Ok),
        WorkerRunResult::JobsFailed(count) => {
            let why = format!("{} failed", format_count(count, "job", "jobs"));
            Err(Error::new(Kind::JobFailed, why).hint("`qless failed` shows why"))
        }
        WorkerRunResult::JobLost => Err(Error::new(Kind::JobFailed, "the job was lost")),
        WorkerRunResult::NoProgram(message) if args.persistent => {
            let why = format!("three starts in a row failed: {message}");
            Err(Error::new(Kind::Error, why).hint("the jobs were given back"))
        }
        WorkerRunResult::NoProgram(message) => {
            let why = format!("three jobs in a row could not be started: {message}");
            Err(Error::new(Kind::Error, why).hint("`qless failed --group exec` lists them"))
        }
        WorkerRunResult::Forbidden(kind, message) => {
            Err(Error::new(kind, message).hint(if kind == Kind::ReadOnly {
                "point `--redis` at its primary"
            } else {
                rights::missing_rights_hint(&session.target()?)
            }))
        }
        WorkerRunResult::Vanished(count) => {
            let jobs = format_count(count, "running job does", "running jobs do");
            let object = if count == 1 { "it" } else { "them" };
            let why = format!("{jobs} not exist any more, and nobody cancelled {object}");
            let hint = "the data of the server was deleted or lost; other jobs may be gone, too";
            Err(Error::new(Kind::JobFailed, why).hint(hint))
        }
        WorkerRunResult::Refused(message) => {
            let why = format!("the server refuses a call of the worker for good: {message}");
            Err(Error::new(Kind::Server, why).hint("`qless doctor` shows what the server offers"))
        }
        WorkerRunResult::NoDirectory(message) => {
            let why = format!("three starts in a row found no directory for their slot: {message}");
            Err(Error::new(Kind::Error, why).hint("the jobs were given back"))
        }
    }
}

/// The first part of the worker's name. It must be UTF-8, because the name of a channel contains it.
fn worker_name_prefix(given: Option<Name>) -> Result<Name, Error> {
    let name = match given
        .or_else(|| env::nonempty_var("QLESS_WORKER").map(|name| Name::from(name.as_os_str())))
    {
        None => return Ok(Name::from(actor::host_name())),
        Some(name) => name,
    };
    let refused = |why: &str| Error::usage(format!("the name of the worker {why}"));
    refuse_as_new_name(name.as_bytes()).map_err(|why| refused(&why))?;
    match name.as_str() {
        Some(_) => Ok(name),
        None => Err(refused("is not UTF-8")),
    }
}
