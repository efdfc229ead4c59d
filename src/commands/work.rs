//! `qless work`

use super::{HelpGroup, MemberDispatch, Spec};
use crate::error::Error;
use crate::exit::Exit;
use crate::model::work::RetryCause;
use crate::session::Session;
use crate::work;
use crate::work::options::WorkOptions;

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
/// does. A SIGHUP that is ignored at the start, as under nohup(1), stays ignored. SIGTSTP (Ctrl-Z) freezes `qless`: its
/// locks expire, and other workers run its jobs again. SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXFSZ, SIGIO, SIGPWR and real-time signals are ignored.
///
/// `--order lag` pops from the queue whose oldest due job has been due for longest, as `qless lag` prints
/// it. `--order patterns` pops in the order of the priority patterns that
/// `qless api queuePriorityPatterns.setAll` stores; a fair pattern takes its queues in turn, by weight. Globs and
/// stored patterns are read again every 10 s. Among more than 500 queues, it is asked once a second which have jobs.
///
/// With `--metrics`, the worker answers while it works, without asking Redis: `/metrics` is for Prometheus, `/livez` is 503
/// if a turn or a heartbeat is overdue, and `/readyz` is 503 before it pops, while Redis is away or the program is missing, and
/// from the first signal on. `qless help work-protocol` and qless-work(5) describe them.
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
    #[command(flatten)]
    options: WorkOptions,
}

pub(crate) const SPEC: Spec<Args> = Spec::writes(HelpGroup::Work, run)
    .unpaged()
    .context_member_dispatch(|_| MemberDispatch::Processes);

fn run(Args { options }: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.refuse_json_for_stream("work")?;
    session.ui.require_format(&[])?;
    if options.queues.iter().all(|queue| queue.is_excluded) {
        let error = Error::usage("every queue is left out");
        return Err(error.hint("name a queue, or `*` for all others"));
    }
    // `--retry-on crash` has no effect without `--persistent`, and `--retry-on time-limit` has none without
    // `--time-limit`: refuse both.
    if options.retry_on.contains(&RetryCause::Crash) && !options.persistent {
        return Err(Error::usage("`--retry-on crash` requires `--persistent`"));
    }
    if options.retry_on.contains(&RetryCause::TimeLimit) && options.time_limit.is_none() {
        return Err(Error::usage(
            "`--retry-on time-limit` requires `--time-limit`",
        ));
    }
    work::run(options, session)
}
