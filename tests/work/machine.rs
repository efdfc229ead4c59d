//! The decisions of a worker, without time, processes or a server: what it does after each event.

use clap::{Args, FromArgMatches};
use expect_test::expect;
use qless::internals::ending::{EndingAction, EndingOutcome, LockExtensionOutcome};
use qless::internals::machine::Machine;
use qless::internals::machine::event::{
    Action, Event, FinishAndPopRequest, Report, ServerRequest, StartupFacts,
};
use qless::internals::options::WorkOptions;
use qless::internals::process::answer::{Answer, EndingOrProgress};
use qless::internals::process::{EndedProcess, StartFailure};
use qless::internals::queues::{QueueOrder, QueueRotation};
use qless::internals::work::{PoppedJob, ProcessExit};
use qless::internals::{Error, FinishAndPopReply, Kind, Name, ReadyQueues};
use rustix::process::Signal;

use crate::support::text::Shows;

/// A worker at a time that the test sets, and the text of what it does.
struct Worker {
    machine: Machine,
    now: f64,
    /// The endings of the turn that is not answered.
    endings: usize,
}

/// The options of a worker of one process, as they are typed.
pub(super) fn options(flags: &str) -> WorkOptions {
    let line = format!("work q {flags} -- run");
    let command = WorkOptions::augment_args(clap::Command::new("work"));
    let matches = command.get_matches_from(line.split_whitespace());
    WorkOptions::from_arg_matches(&matches).unwrap()
}

pub(super) fn facts() -> StartupFacts {
    StartupFacts {
        worker: name("w"),
        timeout: 10.0,
        grace: 10.0,
        hears_cancels: false,
        jitter: 1.0,
    }
}

fn name(text: &str) -> Name {
    Name::from(text)
}

/// The error of a server that does not reply, or without a connection.
fn failure(may_have_been_applied: bool) -> Error {
    let kind = if may_have_been_applied {
        Kind::Timeout
    } else {
        Kind::Unreachable
    };
    Error::new(kind, "no reply")
}

/// The error of a server that replies, but does not write.
fn refusal(is_forbidden: bool) -> Error {
    let kind = if is_forbidden {
        Kind::NoPerm
    } else {
        Kind::Oom
    };
    Error::new(kind, "refused")
}

impl Worker {
    fn new(flags: &str, queues: &[(&str, u32)], order: QueueOrder) -> Worker {
        let queues = queues.iter().map(|(queue, weight)| (name(queue), *weight));
        Worker {
            machine: Machine::new(
                options(flags),
                facts(),
                QueueRotation::new(order, queues.collect()),
                0.0,
            ),
            now: 0.0,
            endings: 0,
        }
    }

    /// A worker of the queue `q`.
    fn of(flags: &str) -> Worker {
        Worker::new(flags, &[("q", 1)], QueueOrder::Ordered)
    }

    fn single(slots: usize) -> Worker {
        Worker::of(&format!("--concurrency {slots}"))
    }

    fn persistent(in_flight: usize) -> Worker {
        Worker::of(&format!("--persistent --in-flight {in_flight}"))
    }

    fn batch(size: usize) -> Worker {
        Worker::of(&format!("--batch {size}"))
    }

    /// The worker after a first turn that brought these jobs.
    fn with_jobs(mut self, jids: &[&str]) -> Worker {
        self.act();
        self.reply(0.0, jids);
        self
    }

    /// What it does now.
    fn act(&mut self) -> String {
        let mut actions = self.machine.stop_overdue_processes(self.now);
        actions.extend(self.machine.decide_actions(self.now));
        let lines = actions
            .iter()
            .map(|action| format!("{}\n", self.describe(action)));
        lines.collect()
    }

    fn describe(&mut self, action: &Action) -> String {
        let jids = |jids: &[Name]| {
            let mut jids: Vec<String> = jids.iter().map(Name::to_string).collect();
            jids.sort();
            jids.join(" ")
        };
        match action {
            Action::Start { slot, jobs } => {
                let jobs: Vec<Name> = jobs.iter().map(|job| job.jid.clone()).collect();
                format!("start {slot}: {}", jids(&jobs))
            }
            Action::CheckProgram => "check the program".to_owned(),
            Action::Send { slot, job } => format!("send {slot}: {}", job.jid),
            Action::Cancel { slot, jid } => format!("cancel {slot}: {jid}"),
            Action::CloseInput { slot } => format!("close {slot}"),
            Action::Signal { slot, signal } => match *signal {
                Signal::TERM => format!("SIGTERM {slot}"),
                Signal::KILL => format!("SIGKILL {slot}"),
                signal => panic!("a machine sends no {signal:?}"),
            },
            Action::Request(ServerRequest::FinishAndPop(request)) => {
                let FinishAndPopRequest {
                    endings,
                    total,
                    queues,
                    is_last,
                } = request;
                self.endings = endings.len();
                let endings = endings.iter().map(|ending| {
                    let way = match &ending.action {
                        EndingAction::Complete { next: None, .. } => "complete".to_owned(),
                        EndingAction::Complete {
                            next: Some(next), ..
                        } => {
                            format!("complete to {}", next.queue)
                        }
                        EndingAction::Retry { .. } => "retry".to_owned(),
                        EndingAction::Fail { why, .. } => format!("fail in {}", why.group),
                    };
                    format!("{} {way}", ending.jid)
                });
                let endings: Vec<String> = endings.collect();
                let queues = queues
                    .iter()
                    .map(|(queue, count)| format!("{queue}:{count}"));
                let queues: Vec<String> = queues.collect();
                let last = if *is_last { "last " } else { "" };
                format!(
                    "{last}turn: [{}] pop {total} from {}",
                    endings.join(", "),
                    queues.join(" ")
                )
            }
            Action::Request(ServerRequest::Recover { endings, known }) => {
                self.endings = endings.len();
                format!("recover: {} endings, known {}", endings.len(), jids(known))
            }
            Action::Request(ServerRequest::FindReadyQueues) => "look".to_owned(),
            Action::Request(ServerRequest::Extend(locks)) => {
                format!("extend: {}", jids(locks))
            }
            Action::Request(ServerRequest::Release(jobs)) => {
                format!("release: {}", jids(jobs))
            }
            Action::Request(ServerRequest::Log { jid, text }) => {
                format!("log {jid}: {text}")
            }
            Action::Request(request) => panic!("a machine does not ask for {request:?}"),
            Action::Report(Report::Job(event)) => {
                let message = event.message.as_deref().unwrap_or_default();
                format!("* {:?} {} {message}", event.event, event.jid)
                    .trim_end()
                    .to_owned()
            }
            Action::Report(Report::Warning(line)) => format!("* {line}"),
            Action::Report(report) => format!("* {report:?}"),
            Action::Finish(result) => format!("finish: {result:?}"),
        }
    }

    /// Notes an event at a time, and returns what follows.
    fn at(&mut self, now: f64, event: Event) -> String {
        self.now = now;
        self.machine.handle_event(now, event);
        self.act()
    }

    /// Answers the turn: its endings are done, and these jobs were popped with a lock of 60 s.
    fn reply(&mut self, now: f64, jids: &[&str]) -> String {
        let reply = FinishAndPopReply {
            endings: vec![done("complete"); self.endings],
            jobs: popped(now, jids),
            ..FinishAndPopReply::default()
        };
        self.at(now, Event::FinishAndPop(Ok(reply)))
    }

    /// Lets time pass.
    fn later(&mut self, now: f64) -> String {
        self.now = now;
        self.act()
    }
}

/// Jobs that were popped at a time.
fn popped(now: f64, jids: &[&str]) -> Vec<PoppedJob> {
    let jobs = jids.iter().map(|jid| PoppedJob {
        jid: name(jid),
        klass: name("K"),
        queue: name("q"),
        expires: now + 60.0,
        retries: 5,
        remaining: 5,
        ..PoppedJob::default()
    });
    jobs.collect()
}

/// The process of the first slot could not be started for these jobs.
fn not_started(why: StartFailure, jids: &[&str]) -> Event {
    Event::NotStarted {
        slot: 0,
        why,
        jobs: popped(0.0, jids),
    }
}

fn missing(jid: &str) -> Event {
    not_started(StartFailure::Program("no such file".to_owned()), &[jid])
}

fn ended(slot: usize, code: i32) -> Event {
    ended_by(slot, ProcessExit::Code(code), 0)
}

fn ended_by(slot: usize, exit: ProcessExit, unread_lines: usize) -> Event {
    Event::Ended {
        slot,
        end: EndedProcess {
            exit,
            message: "stderr".to_owned(),
            data: None,
            unusable_output: None,
            unread_lines,
        },
    }
}

fn line(jid: Option<&str>, content: Result<EndingOrProgress, String>) -> Event {
    let answer = Answer {
        jid: jid.map(name),
        content,
        ignored: Vec::new(),
    };
    Event::Line { slot: 0, answer }
}

fn answer(jid: &str) -> Event {
    line(
        Some(jid),
        Ok(EndingOrProgress::Ending(EndingAction::Complete {
            data: None,
            next: None,
        })),
    )
}

fn released(jids: &[&str]) -> Event {
    Event::Released(Ok(jids.iter().map(|jid| name(jid)).collect()))
}

/// The server says this about the lock of one job.
fn lock_is(outcome: LockExtensionOutcome) -> Event {
    Event::Extended(Ok(vec![outcome]))
}

/// The end of a job in this state.
fn done(state: &str) -> EndingOutcome {
    EndingOutcome::Done {
        state: name(state),
        remaining: None,
    }
}

/// A search that has found nothing.
fn nothing_found() -> Event {
    Event::Recovered(Ok(FinishAndPopReply::default()))
}

fn extended(times: &[f64]) -> Event {
    let extended = times
        .iter()
        .map(|expires| LockExtensionOutcome::Extended(*expires));
    Event::Extended(Ok(extended.collect()))
}

#[test]
fn one_call_ends_a_job_and_pops_the_next() {
    let mut worker = Worker::single(1);
    expect!["turn: [] pop 1 from q:1\n"].assert_eq(&worker.act());
    worker.reply(0.1, &["a"]).shows(expect![[r#"
        * Started a
        start 0: a
    "#]]);
    expect!["turn: [a complete] pop 1 from q:1\n"].assert_eq(&worker.at(1.0, ended(0, 0)));
    worker.reply(1.1, &["b"]).shows(expect![[r#"
        * Completed a
        * Started b
        start 0: b
    "#]]);
    expect!["turn: [b retry] pop 1 from q:1\n"].assert_eq(&worker.at(2.0, ended(0, 75)));
    worker.reply(2.1, &["c"]);
    expect!["turn: [c fail in exit-3] pop 1 from q:1\n"].assert_eq(&worker.at(3.0, ended(0, 3)));
}

#[test]
fn what_ends_while_a_call_is_under_way_goes_into_the_next_one() {
    let mut worker = Worker::single(3).with_jobs(&["a", "b", "c"]);
    // An ending waits at most 5 ms for others.
    expect![""].assert_eq(&worker.at(1.0, ended(0, 0)));
    assert_eq!(worker.machine.next_action_due(), 1.005);
    expect!["turn: [a complete] pop 1 from q:1\n"].assert_eq(&worker.later(1.005));
    expect![""].assert_eq(&worker.at(1.01, ended(1, 0)));
    expect![""].assert_eq(&worker.at(1.01, ended(2, 0)));
    worker.reply(1.1, &[]).shows(expect![[r#"
        * Completed a
        turn: [b complete, c complete] pop 3 from q:3
    "#]]);
}

/// A worker that has just ended half of its jobs, each after 3 ms; and what it did.
fn half_ended(slots: usize) -> (Worker, String) {
    let mut worker = Worker::single(slots);
    let jids: Vec<String> = (0..slots).map(|at| format!("j{at}")).collect();
    worker.act();
    worker.reply(0.0, &jids.iter().map(String::as_str).collect::<Vec<_>>());
    for slot in 1..slots / 2 {
        worker.machine.handle_event(0.003, ended(slot, 0));
    }
    let did = worker.at(0.003, ended(0, 0));
    (worker, did)
}

#[test]
fn endings_of_short_jobs_wait_for_others_as_long_as_a_call_of_all_takes() {
    let (_, did) = half_ended(8);
    assert!(did.ends_with(" pop 4 from q:4\n"), "{did}");
    // A hundred processes with such jobs ask for more than any server gives: larger calls help.
    let (mut worker, did) = half_ended(100);
    assert_eq!(did, "");
    assert_eq!(worker.machine.next_action_due(), 0.0055);
    let did = worker.later(0.0055);
    assert!(did.ends_with(" pop 50 from q:50\n"), "{did}");
    // They do not wait for what takes longer.
    let (mut worker, _) = half_ended(100);
    let last: Vec<Event> = (50..100).map(|slot| ended(slot, 0)).collect();
    for event in last {
        worker.machine.handle_event(0.004, event);
    }
    let did = worker.later(0.004);
    assert!(did.ends_with(" pop 100 from q:100\n"), "{did}");
}

#[test]
fn an_empty_queue_is_polled_and_a_put_ends_the_wait() {
    let mut worker = Worker::single(1).with_jobs(&[]);
    assert_eq!(worker.machine.next_action_due(), 5.0);
    expect![""].assert_eq(&worker.later(4.9));
    expect!["turn: [] pop 1 from q:1\n"].assert_eq(&worker.later(5.0));
    // A job that is put during the call may have come too late for it.
    worker.at(5.0, Event::Put(Some(name("q"))));
    expect!["turn: [] pop 1 from q:1\n"].assert_eq(&worker.reply(5.1, &[]));
    worker.reply(5.2, &[]);
    expect![""].assert_eq(&worker.at(6.0, Event::Put(Some(name("other")))));
    expect!["turn: [] pop 1 from q:1\n"].assert_eq(&worker.at(6.0, Event::Put(None)));
}

#[test]
fn queues_take_turns_by_their_weights() {
    let queues = [("a", 2), ("b", 1), ("c", 1)];
    let mut rotation = Worker::new("", &queues, QueueOrder::RoundRobin);
    let mut popped = Vec::new();
    // Each queue has jobs: the first one asked gives one.
    let mut asked = rotation.act();
    for turn in 0..8 {
        let (_, queues) = asked.rsplit_once("from ").unwrap();
        let queue = queues.split(':').next().unwrap().to_owned();
        let jid = format!("{queue}{turn}");
        let job = PoppedJob {
            jid: name(&jid),
            queue: name(&queue),
            expires: 1000.0,
            ..PoppedJob::default()
        };
        let reply = FinishAndPopReply {
            endings: vec![done("complete"); rotation.endings],
            jobs: vec![job],
            ..FinishAndPopReply::default()
        };
        rotation.at(1.0, Event::FinishAndPop(Ok(reply)));
        popped.push(queue);
        asked = rotation.at(1.0, ended(0, 0));
    }
    assert_eq!(popped.join(" "), "a a b c a a b c");
    // Several jobs at once are shared out in the same way.
    let mut several = Worker::new("--concurrency 6", &queues, QueueOrder::RoundRobin);
    expect!["turn: [] pop 6 from a:4 b:1 c:1\n"].assert_eq(&several.act());
}

#[test]
fn locks_are_extended_at_a_third_of_their_time_and_together() {
    let mut worker = Worker::single(2).with_jobs(&["a"]);
    worker.reply(3.0, &["b"]);
    assert_eq!(worker.machine.next_action_due(), 5.0);
    worker.later(5.0);
    worker.reply(5.0, &["b"]);
    expect!["extend: a b\n"].assert_eq(&worker.later(21.0));
    // Only one extension at a time.
    expect![""].assert_eq(&worker.later(22.0));
    worker.at(22.0, extended(&[81.0, 81.0]));
    assert!(
        worker.machine.next_action_due() > 40.0,
        "{}",
        worker.machine.next_action_due()
    );
}

#[test]
fn a_process_is_gone_before_another_worker_may_get_its_job() {
    let mut worker = Worker::single(1).with_jobs(&["a"]);
    expect!["extend: a\n"].assert_eq(&worker.later(20.0));
    worker
        .at(30.0, Event::Extended(Err(failure(true))))
        .shows(expect![[r#"
        * ConnectionLost { message: "no reply" }
    "#]]);
    expect!["extend: a\n"].assert_eq(&worker.later(30.1));
    worker.at(40.0, Event::Extended(Err(failure(true))));
    worker.later(41.0);
    // The lock ends at 60, the grace period at 70.
    worker.later(60.0).shows(expect![[r#"
        SIGTERM 0
        * Lost a its lock expired before it was extended
    "#]]);
    expect![""].assert_eq(&worker.later(68.9));
    expect!["SIGKILL 0\n"].assert_eq(&worker.later(69.0));
    // Nothing is written for it.
    expect![""].assert_eq(&worker.at(69.0, ended(0, 0)));
    worker.at(71.0, extended(&[131.0])).shows(expect![[r#"
        * ConnectionBack { after: 41.0, was_refused: false }
        release: a
        turn: [] pop 1 from q:1
    "#]]);
}

#[test]
fn a_long_lock_is_extended_every_half_hour() {
    let mut worker = Worker::single(1);
    worker.act();
    let mut jobs = popped(0.0, &["a"]);
    jobs[0].expires = 864_000.0;
    let reply = FinishAndPopReply {
        jobs,
        ..FinishAndPopReply::default()
    };
    worker.at(0.0, Event::FinishAndPop(Ok(reply)));
    expect![""].assert_eq(&worker.later(1_799.0));
    expect!["extend: a\n"].assert_eq(&worker.later(1_800.0));
}

#[test]
fn a_cancelled_job_stops_its_process_and_nothing_is_written() {
    let mut worker = Worker::single(1).with_jobs(&["a"]);
    // A notice is a reason to ask.
    expect!["extend: a\n"].assert_eq(&worker.at(1.0, Event::Notice(name("a"))));
    let cancelled = lock_is(LockExtensionOutcome::Gone);
    worker.at(1.0, cancelled).shows(expect![[r#"
        SIGTERM 0
        * Lost a cancelled
    "#]]);
    expect!["SIGKILL 0\n"].assert_eq(&worker.later(11.0));
    expect!["turn: [] pop 1 from q:1\n"].assert_eq(&worker.at(11.1, ended(0, 0)));
}

#[test]
fn a_lock_that_the_core_does_not_extend_is_tried_again_until_it_expires() {
    let mut worker = Worker::single(1).with_jobs(&["a"]);
    let refused = || lock_is(LockExtensionOutcome::Invalid("wrong type".to_owned()));
    expect!["extend: a\n"].assert_eq(&worker.later(20.0));
    // The server replies, and the lock is still valid.
    expect![[r#"
        * cannot extend the lock of `a`: wrong type
    "#]]
    .assert_eq(&worker.at(20.0, refused()));
    expect!["extend: a\n"].assert_eq(&worker.later(40.0));
    expect![""].assert_eq(&worker.at(40.0, extended(&[100.0])));
    expect!["extend: a\n"].assert_eq(&worker.later(60.0));
    expect![[r#"
        * cannot extend the lock of `a`: wrong type
    "#]]
    .assert_eq(&worker.at(60.0, refused()));
    expect!["extend: a\n"].assert_eq(&worker.later(80.0));
    expect![""].assert_eq(&worker.at(80.0, refused()));
    worker.later(100.0).shows(expect![[r#"
        SIGTERM 0
        * Lost a its lock could not be extended: wrong type
    "#]]);
    // No call could release the lock.
    expect!["turn: [] pop 1 from q:1\n"].assert_eq(&worker.at(101.0, ended(0, 0)));
}

#[test]
fn a_notice_about_an_earlier_lock_stops_nothing() {
    let mut worker = Worker::single(1).with_jobs(&["a"]);
    let notice = || Event::Notice(name("a"));
    expect!["extend: a\n"].assert_eq(&worker.at(1.0, notice()));
    // The reply may be older than the second notice.
    expect![""].assert_eq(&worker.at(1.1, notice()));
    expect!["extend: a\n"].assert_eq(&worker.at(1.2, extended(&[61.2])));
    expect![""].assert_eq(&worker.at(1.3, extended(&[61.3])));
}

#[test]
fn a_process_that_stays_is_started_for_a_job_that_no_idle_one_can_have() {
    let mut worker = Worker::of("--persistent --in-flight 2 --concurrency 3");
    worker.act().shows(expect![[r#"
        turn: [] pop 6 from q:6
    "#]]);
    worker.reply(0.0, &["a"]).shows(expect![[r#"
        * Started a
        start 0: a
    "#]]);
    worker.at(1.0, answer("a"));
    worker.reply(1.0, &["b", "c", "d"]).shows(expect![[r#"
        * Completed a
        * Started b
        send 0: b
        * Started c
        start 1: c
        * Started d
        start 2: d
    "#]]);
    // Each has one now: the fourth job goes beside another.
    worker.later(6.0);
    worker.reply(6.0, &["e"]).shows(expect![[r#"
        * Started e
        send 0: e
    "#]]);
}

#[test]
fn a_process_that_stays_and_cannot_be_started_costs_no_job() {
    let mut worker = Worker::persistent(2);
    let mut did = worker.act();
    did += &worker.reply(0.0, &["a", "b"]);
    did += &worker.at(0.0, missing("a"));
    did += &worker.at(0.0, released(&["b"]));
    did += &worker.later(3.0);
    did += &worker.at(3.0, missing("a"));
    did += &worker.at(3.0, released(&["a"]));
    did += &worker.reply(3.0, &[]);
    did += &worker.later(8.0);
    for now in [8.0, 9.0] {
        did += &worker.reply(now, &["a", "b"]);
        did += &worker.at(now, missing("a"));
        did += &worker.at(now, released(&["a", "b"]));
        did += &worker.later(now + 1.0);
    }
    did.shows(expect![[r#"
        turn: [] pop 2 from q:2
        * Started a
        start 0: a
        * Started b
        send 0: b
        * warning: slot 1: no such file; trying again for 3s
        release: b
        * Released b
        start 0: a
        turn: [] pop 1 from q:1
        * warning: slot 1: no such file
        release: a
        * Released a
        turn: [] pop 2 from q:2
        * Started a
        start 0: a
        * Started b
        send 0: b
        * warning: slot 1: no such file
        release: a b
        * Released a
        * Released b
        turn: [] pop 2 from q:2
        * Started a
        start 0: a
        * Started b
        send 0: b
        * warning: slot 1: no such file
        release: a b
        * Released a
        * Released b
        finish: NoProgram("no such file")
    "#]]);
}

#[test]
fn a_process_that_stays_may_leave_a_lost_job_and_go_on() {
    let mut worker = Worker::persistent(2);
    worker.act();
    worker.reply(0.1, &["a", "b"]);
    let lost = || lock_is(LockExtensionOutcome::Lost);
    worker.at(1.0, Event::Notice(name("a")));
    worker.at(1.0, lost()).shows(expect![[r#"
        cancel 0: a
        * Lost a another worker may have it
    "#]]);
    // Its answer about the lost job counts for nothing, but it is not stopped.
    expect!["turn: [] pop 1 from q:1\n"].assert_eq(&worker.at(2.0, answer("a")));
    expect![""].assert_eq(&worker.later(15.0));
    // A process that does not react is stopped, and its other jobs are released.
    worker.reply(19.0, &["c"]);
    worker.at(20.0, Event::Notice(name("b")));
    worker.at(20.0, lost());
    expect!["SIGTERM 0\n"].assert_eq(&worker.later(25.0));
    expect!["SIGKILL 0\n"].assert_eq(&worker.later(30.0));
    worker.at(30.1, ended(0, 0)).shows(expect![[r#"
        release: c
        turn: [] pop 2 from q:2
    "#]]);
}

#[test]
fn the_end_of_a_process_that_stays_fails_the_jobs_that_it_has() {
    let mut worker = Worker::persistent(2).with_jobs(&["a", "b"]);
    worker.at(1.0, answer("a"));
    worker.reply(1.0, &[]);
    worker.at(2.0, ended(0, 0)).shows(expect![[r#"
        * warning: slot 1: the command ended with exit code 0; it starts again with the next job
        turn: [b fail in exit-0] pop 2 from q:2
    "#]]);
}

#[test]
fn jobs_that_a_recycled_process_has_not_read_are_given_back() {
    let unread = |answered: &[&str], exit| {
        let mut worker = Worker::persistent(3).with_jobs(&["a", "b", "c"]);
        for jid in answered {
            worker.at(1.0, answer(jid));
        }
        worker.at(2.0, ended_by(0, ProcessExit::Code(exit), 1))
    };
    let did = [unread(&["a"], 0), unread(&[], 0), unread(&["a"], 1)].join("");
    did.shows(expect![[r#"
        * warning: slot 1: the command ended with exit code 0; it starts again with the next job
        release: c
        turn: [a complete, b fail in exit-0] pop 3 from q:3
        * warning: slot 1: the command ended with exit code 0; it starts again with the next job
        turn: [a fail in exit-0, b fail in exit-0, c fail in exit-0] pop 3 from q:3
        * warning: slot 1: the command ended with exit code 1; it starts again with the next job
        turn: [a complete, b fail in exit-1, c fail in exit-1] pop 3 from q:3
    "#]]);
}

/// The core pops jobs that were given back in descending order of their jids.
#[test]
fn the_next_process_gets_unread_jobs_in_their_earlier_order() {
    let mut worker = Worker::persistent(3).with_jobs(&["a", "b", "c"]);
    worker.at(1.0, answer("a"));
    worker.at(2.0, ended_by(0, ProcessExit::Code(0), 2));
    worker.at(2.1, released(&["b", "c"]));
    worker.reply(2.2, &["c", "b", "d"]).shows(expect![[r#"
        * Completed a
        * Started b
        start 0: b
        * Started c
        send 0: c
        * Started d
        send 0: d
    "#]]);
}

#[test]
fn the_unread_line_of_a_recycled_process_may_be_about_a_lost_job() {
    let mut worker = Worker::persistent(3).with_jobs(&["a", "b", "c"]);
    worker.at(1.0, Event::Notice(name("a")));
    worker.at(1.0, lock_is(LockExtensionOutcome::Lost));
    worker.at(1.1, answer("a"));
    worker.at(1.2, answer("b"));
    let did = worker.at(2.0, ended_by(0, ProcessExit::Code(0), 1));
    (did + &worker.reply(2.1, &[])).shows(expect![[r#"
        * warning: slot 1: the command ended with exit code 0; it starts again with the next job
        turn: [b complete, c fail in exit-0] pop 3 from q:3
    "#]]);
}

#[test]
fn a_process_that_dies_at_once_is_started_again_ever_later() {
    let mut worker = Worker::persistent(1);
    worker.act();
    let mut waits = Vec::new();
    let mut now = 0.0;
    for _ in 0..6 {
        worker.reply(now, &["a"]);
        let text = worker.at(now, ended(0, 1));
        let wait = text.split("starts again in ").nth(1);
        let wait: f64 = wait.map_or(0.0, |wait| wait.split('s').next().unwrap().parse().unwrap());
        waits.push(wait.to_string());
        if wait > 0.0 {
            worker.reply(now, &[]);
            assert_eq!(worker.later(now + wait - 0.01), "");
        }
        now += wait;
        worker.later(now);
    }
    assert_eq!(waits.join(" "), "0 0 1 2 4 8");
}

#[test]
fn a_process_that_cannot_answer_from_its_start_is_started_again_ever_later() {
    let mut worker = Worker::persistent(1);
    worker.act();
    let mut now = 0.0;
    let mut said = String::new();
    for _ in 0..3 {
        worker.reply(now, &["a"]);
        worker.at(now + 0.1, Event::Mute { slot: 0 });
        worker.later(now + 1.1);
        said.push_str(&worker.at(now + 1.2, ended(0, 0)));
        now += 1.2;
    }
    said.shows(expect![[r#"
        * warning: slot 1: the command closed descriptor 3, so it was stopped; it starts again with the next job
        turn: [a fail in bad-answer] pop 1 from q:1
        * warning: slot 1: the command closed descriptor 3, so it was stopped; it starts again with the next job
        turn: [a fail in bad-answer] pop 1 from q:1
        * warning: slot 1: the command closed descriptor 3, so it was stopped; it starts again in 1s at the earliest
        turn: [a fail in bad-answer] pop 0 from 
    "#]]);
}

#[test]
fn three_programs_in_a_row_that_cannot_be_started_end_the_work() {
    let mut worker = Worker::single(1).with_jobs(&["a"]);
    worker.at(0.0, missing("a")).shows(expect![[r#"
        * warning: slot 1: no such file; trying again for 3s
    "#]]);
    for jid in ["a", "b"] {
        let turn = format!("turn: [{jid} fail in exec] pop 1 from q:1\n");
        worker.later(3.0);
        assert_eq!(worker.at(3.0, missing(jid)), turn);
        worker.reply(3.0, &[if jid == "a" { "b" } else { "c" }]);
    }
    expect!["turn: [c fail in exec] pop 0 from \n"].assert_eq(&worker.at(3.0, missing("c")));
    worker.reply(3.0, &[]).shows(expect![[r#"
        * Completed c exec: no such file
        finish: NoProgram("no such file")
    "#]]);
}

#[test]
fn a_program_that_comes_back_within_three_seconds_costs_no_job() {
    let mut worker = Worker::single(1);
    let mut did = worker.act();
    did += &worker.reply(0.0, &["a"]);
    for now in [0.0, 0.1, 0.2, 0.4, 0.8, 1.6] {
        did += &worker.later(now);
        did += &worker.at(now, missing("a"));
        assert_eq!(worker.later(now + 0.05), "");
    }
    did += &worker.later(2.6);
    worker.at(2.6, Event::Started { slot: 0 });
    did += &worker.at(2.7, ended(0, 0));
    did.shows(expect![[r#"
        turn: [] pop 1 from q:1
        * Started a
        start 0: a
        * warning: slot 1: no such file; trying again for 3s
        start 0: a
        start 0: a
        start 0: a
        start 0: a
        start 0: a
        start 0: a
        turn: [a complete] pop 1 from q:1
    "#]]);
    // A signal releases a job that waits for the program.
    worker.reply(2.8, &["b"]);
    worker.at(2.8, missing("b"));
    worker.at(2.9, Event::Stop).shows(expect![[r#"
        * Stopping { running: 0 }
        release: b
    "#]]);
}

#[test]
fn a_program_that_was_there_is_waited_for_without_a_job() {
    let mut worker = Worker::single(2);
    let mut did = worker.act();
    did += &worker.reply(0.0, &["a", "b"]);
    worker.at(0.0, Event::Started { slot: 0 });
    worker.at(0.0, Event::Started { slot: 1 });
    did += &worker.at(1.0, ended(0, 0));
    did += &worker.reply(1.0, &["c"]);
    did += &worker.at(1.0, missing("c"));
    did += &worker.later(4.0);
    did += &worker.at(4.0, missing("c"));
    did += &worker.at(4.0, released(&["c"]));
    for now in [4.9, 5.0, 5.9, 6.0] {
        did += &worker.later(now);
    }
    // Its file is back, but cannot be started: the next attempt comes later.
    did += &worker.at(6.0, Event::ProgramFound);
    did += &worker.reply(6.0, &["c"]);
    did += &worker.at(6.0, missing("c"));
    did += &worker.at(6.0, released(&["c"]));
    for now in [7.9, 8.0] {
        did += &worker.later(now);
    }
    did += &worker.at(8.0, Event::ProgramFound);
    did += &worker.reply(8.0, &["c"]);
    did += &worker.at(8.0, Event::Started { slot: 0 });
    did += &worker.at(9.0, ended(0, 0));
    did.shows(expect![[r#"
        turn: [] pop 2 from q:2
        * Started a
        start 0: a
        * Started b
        start 1: b
        turn: [a complete] pop 1 from q:1
        * Completed a
        * Started c
        start 0: c
        * warning: slot 1: no such file; trying again for 3s
        start 0: c
        * warning: slot 1: no such file; its jobs are given back, and none is popped until it starts
        release: c
        * Released c
        check the program
        check the program
        turn: [] pop 1 from q:1
        * Started c
        start 0: c
        release: c
        * Released c
        check the program
        turn: [] pop 1 from q:1
        * Started c
        start 0: c
        * the command can be started again, after 7s
        turn: [c complete] pop 1 from q:1
    "#]]);
    // Once more. A signal ends the wait.
    worker.reply(9.0, &["d"]);
    worker.at(9.0, missing("d"));
    worker.later(12.0);
    worker.at(12.0, missing("d"));
    worker.at(12.0, released(&["d"]));
    worker.at(12.1, ended(1, 0));
    worker.reply(12.1, &[]);
    worker.at(12.5, Event::Stop).shows(expect![[r#"
        * Stopping { running: 0 }
        finish: Done
    "#]]);
    assert_eq!(worker.later(60.0), "");
}

/// Someone waits for a worker with a limit.
#[test]
fn a_worker_with_a_limit_ends_if_its_program_is_missing() {
    let mut worker = Worker::of("--drain").with_jobs(&["a"]);
    let gone = || {
        let why = StartFailure::Missing("it does not exist".to_owned());
        not_started(why, &["a"])
    };
    worker.at(0.0, gone());
    worker.later(3.0);
    let mut did = worker.at(3.0, gone());
    did += &worker.at(3.0, released(&["a"]));
    did.shows(expect![[r#"
        release: a
        * Released a
        finish: ProgramLost("it does not exist")
    "#]]);
}

#[test]
fn a_refused_argument_fails_its_job_only() {
    let mut worker = Worker::single(1);
    worker.act();
    for jid in ["a", "b", "c", "d"] {
        worker.reply(0.0, &[jid]);
        let refused = not_started(StartFailure::Job("holds NUL".to_owned()), &[jid]);
        let turn = format!("turn: [{jid} fail in exec] pop 1 from q:1\n");
        assert_eq!(worker.at(0.0, refused), turn);
    }
}

#[test]
fn a_machine_without_room_gives_the_job_back_and_waits() {
    let mut worker = Worker::single(1).with_jobs(&["a"]);
    let busy = not_started(StartFailure::Busy("no process left".to_owned()), &["a"]);
    worker.at(0.0, busy).shows(expect![[r#"
        * warning: slot 1: no process left
        release: a
    "#]]);
    expect!["* Released a\n"].assert_eq(&worker.at(0.1, released(&["a"])));
    expect!["turn: [] pop 1 from q:1\n"].assert_eq(&worker.later(1.0));
}

#[test]
fn the_first_signal_drains_and_the_second_gives_jobs_back() {
    let mut worker = Worker::single(2).with_jobs(&["a", "b"]);
    expect!["* Stopping { running: 2 }\n"].assert_eq(&worker.at(1.0, Event::Stop));
    expect!["turn: [a complete] pop 0 from \n"].assert_eq(&worker.at(2.0, ended(0, 0)));
    expect!["* Completed a\n"].assert_eq(&worker.reply(2.1, &[]));
    expect!["SIGTERM 1\n"].assert_eq(&worker.at(3.0, Event::Stop));
    expect!["SIGKILL 1\n"].assert_eq(&worker.later(13.0));
    expect!["release: b\n"].assert_eq(&worker.at(13.0, ended(1, 0)));
    // The server announces it before it replies.
    let lost = Event::Notice(name("b"));
    expect![""].assert_eq(&worker.at(13.0, lost));
    worker.at(13.1, released(&["b"])).shows(expect![[r#"
        * Released b
        finish: Stopped { released: 1, left: 0 }
    "#]]);
}

#[test]
fn a_stopped_worker_leaves_its_jobs_to_a_server_that_is_away() {
    let mut worker = Worker::single(1).with_jobs(&["a"]);
    worker.at(1.0, Event::Stop);
    expect!["SIGTERM 0\n"].assert_eq(&worker.at(2.0, Event::Stop));
    // The time begins when no process is left.
    expect!["release: a\n"].assert_eq(&worker.at(3.0, ended(0, 0)));
    assert_eq!(worker.machine.next_action_due(), 13.0);
    worker.at(12.5, Event::Released(Err(failure(true))));
    // The last attempt is not waited for.
    worker.later(13.0).shows(expect![[r#"
        extend: a
        finish: Stopped { released: 0, left: 1 }
    "#]]);
}

#[test]
fn a_third_signal_kills_and_ends_at_once_if_the_server_is_away() {
    let mut worker = Worker::single(1).with_jobs(&["a"]);
    worker.later(20.0);
    worker.at(30.0, Event::Extended(Err(failure(true))));
    worker.at(30.01, Event::Stop);
    worker.at(30.02, Event::Stop);
    worker.at(30.03, Event::Stop).shows(expect![[r#"
        SIGKILL 0
        finish: Stopped { released: 0, left: 1 }
    "#]]);
}

#[test]
fn a_slot_without_a_directory_ends_the_work_at_the_third_time() {
    let mut worker = Worker::single(1);
    worker.act();
    let refused = || not_started(StartFailure::Directory("it is a file".to_owned()), &["a"]);
    for at in 1..=3 {
        worker.reply(f64::from(at) * 2.0, &["a"]);
        worker.at(f64::from(at) * 2.0, refused());
        let text = worker.at(f64::from(at) * 2.0, released(&["a"]));
        let ends = text.contains("finish: NoDirectory(\"it is a file\")");
        assert_eq!(ends, at == 3, "{text}");
        let next = worker.later(f64::from(at) * 2.0 + 1.0);
        assert_eq!(next.contains("turn: [] pop 1"), at < 3, "{next}");
    }
}

#[test]
fn a_job_that_runs_again_when_its_earlier_lock_is_released_is_stopped() {
    let mut worker = Worker::single(1).with_jobs(&["a"]);
    worker.later(20.0);
    worker.at(30.0, Event::Extended(Err(failure(true))));
    worker.later(30.1);
    worker.later(60.0);
    worker.at(61.0, ended(0, 0));
    worker.at(71.0, extended(&[131.0])).shows(expect![[r#"
        * ConnectionBack { after: 41.0, was_refused: false }
        release: a
        turn: [] pop 1 from q:1
    "#]]);
    worker.reply(71.1, &["a"]).shows(expect![[r#"
        * Started a
        start 0: a
    "#]]);
    // The released lock may have been the new one.
    worker.at(71.2, released(&["a"])).shows(expect![[r#"
        SIGTERM 0
        * Released a
    "#]]);
}

#[test]
fn a_job_whose_end_could_not_be_written_in_time_is_released() {
    let mut worker = Worker::single(1).with_jobs(&["a"]);
    worker.later(20.0);
    // The server may have extended the lock.
    worker.at(30.0, Event::Extended(Err(failure(true))));
    worker.at(31.0, ended(0, 0));
    expect!["* Lost a its lock expired before it was extended\n"].assert_eq(&worker.later(60.0));
    // It may even have extended the lock once more.
    worker.at(65.0, Event::Extended(Err(failure(true))));
    worker.later(70.0).shows(expect![[r#"
        release: a
        turn: [] pop 1 from q:1
    "#]]);
    // That is said once.
    worker.at(71.0, released(&["a"])).shows(expect![[r#"
        * ConnectionBack { after: 41.0, was_refused: false }
    "#]]);
}

#[test]
fn processes_that_stay_end_with_their_input() {
    let mut worker = Worker::persistent(1).with_jobs(&["a"]);
    worker.at(0.5, answer("a"));
    worker.reply(0.5, &[]);
    worker.at(1.0, Event::Stop).shows(expect![[r#"
        * Stopping { running: 0 }
        close 0
    "#]]);
    expect!["SIGTERM 0\n"].assert_eq(&worker.later(11.0));
    expect!["finish: Done\n"].assert_eq(&worker.at(12.0, ended(0, 0)));
}

#[test]
fn a_drain_ends_when_a_pop_finds_nothing_and_nothing_runs() {
    let mut worker = Worker::of("--concurrency 2 --drain").with_jobs(&["a"]);
    expect!["turn: [] pop 1 from q:1\n"].assert_eq(&worker.later(5.0));
    expect![""].assert_eq(&worker.reply(5.0, &[]));
    expect!["last turn: [a retry] pop 2 from q:2\n"].assert_eq(&worker.at(6.0, ended(0, 75)));
    worker.reply(6.0, &["a"]);
    worker.at(7.0, ended(0, 0));
    worker.reply(7.0, &[]).shows(expect![[r#"
        * Completed a
        finish: Done
    "#]]);
}

#[test]
fn a_drain_waits_for_jobs_that_others_hold_back() {
    let mut worker = Worker::of("--drain");
    expect!["last turn: [] pop 1 from q:1\n"].assert_eq(&worker.act());
    let held = FinishAndPopReply {
        has_rest: true,
        ..FinishAndPopReply::default()
    };
    expect![""].assert_eq(&worker.at(1.0, Event::FinishAndPop(Ok(held))));
    expect![""].assert_eq(&worker.later(5.9));
    expect!["last turn: [] pop 1 from q:1\n"].assert_eq(&worker.later(6.0));
    expect!["finish: Done\n"].assert_eq(&worker.reply(6.0, &[]));
}

#[test]
fn a_worker_without_a_job_asks_again_when_the_next_one_is_due() {
    let due_in = |seconds| {
        Event::FinishAndPop(Ok(FinishAndPopReply {
            due_in: Some(seconds),
            ..FinishAndPopReply::default()
        }))
    };
    let mut worker = Worker::single(1);
    worker.act();
    expect![""].assert_eq(&worker.at(0.1, due_in(1.5)));
    assert_eq!(worker.machine.next_action_due(), 1.6);
    expect!["turn: [] pop 1 from q:1\n"].assert_eq(&worker.later(1.6));
    // Other workers take jobs, too: not more than 20 times a second.
    worker.at(1.6, due_in(0.001));
    assert_eq!(worker.machine.next_action_due(), 1.6 + 0.05);
    worker.later(1.7);
    // Never later than the poll.
    worker.at(1.7, due_in(600.0));
    assert_eq!(worker.machine.next_action_due(), 6.7);
}

#[test]
fn what_a_job_released_is_popped_as_soon_as_its_process_has_ended() {
    let mut worker = Worker::batch(3);
    worker.act();
    // The queue has no more jobs: the next poll is due in 5 s.
    worker.reply(0.0, &["a"]);
    // The process has answered and still runs.
    expect!["turn: [a complete] pop 0 from \n"].assert_eq(&worker.at(1.0, answer("a")));
    worker.reply(1.0, &[]);
    expect!["turn: [] pop 3 from q:3\n"].assert_eq(&worker.at(1.1, ended(0, 0)));
}

#[test]
fn a_count_limits_what_is_popped() {
    let mut worker = Worker::of("--concurrency 4 --count 1");
    expect!["turn: [] pop 1 from q:1\n"].assert_eq(&worker.act());
    worker.reply(0.0, &["a"]);
    worker.at(1.0, ended(0, 1));
    let failed = FinishAndPopReply {
        endings: vec![done("failed")],
        ..FinishAndPopReply::default()
    };
    worker
        .at(1.0, Event::FinishAndPop(Ok(failed)))
        .shows(expect![[r#"
        * Failed a exit-1: stderr
        finish: JobsFailed(1)
    "#]]);
}

#[test]
fn a_turn_whose_reply_is_lost_is_settled_and_its_jobs_are_found() {
    let mut worker = Worker::single(2).with_jobs(&["a"]);
    expect!["turn: [a complete] pop 2 from q:2\n"].assert_eq(&worker.at(1.0, ended(0, 0)));
    worker.at(2.0, Event::FinishAndPop(Err(failure(true))));
    // The locks first.
    expect!["extend: a\n"].assert_eq(&worker.later(2.1));
    let gone = lock_is(LockExtensionOutcome::Lost);
    worker.at(3.0, gone).shows(expect![[r#"
        * ConnectionBack { after: 1.0, was_refused: false }
        recover: 1 endings, known a
    "#]]);
    let found = FinishAndPopReply {
        endings: vec![done("complete")],
        jobs: vec![PoppedJob {
            jid: name("b"),
            queue: name("q"),
            expires: 60.0,
            ..PoppedJob::default()
        }],
        ..FinishAndPopReply::default()
    };
    worker
        .at(3.1, Event::Recovered(Ok(found)))
        .shows(expect![[r#"
        * Completed a
        * Started b
        start 0: b
        turn: [] pop 1 from q:1
    "#]]);
    // The lost call may still reach the server: one more search.
    worker.reply(3.2, &[]);
    expect!["recover: 0 endings, known b\n"].assert_eq(&worker.later(8.2));
}

#[test]
fn a_turn_that_was_not_made_is_repeated_with_growing_waits() {
    let mut worker = Worker::single(1);
    worker.act();
    let mut waits = Vec::new();
    let mut now = 0.0;
    for _ in 0..8 {
        worker.at(now, Event::FinishAndPop(Err(failure(false))));
        waits.push(format!("{:.2}", worker.machine.next_action_due() - now));
        now = worker.machine.next_action_due();
        assert_eq!(worker.later(now), "turn: [] pop 1 from q:1\n");
    }
    assert_eq!(waits.join(" "), "0.05 0.10 0.20 0.40 0.80 1.60 2.00 2.00");
}

#[test]
fn lines_that_are_no_answers_are_reported_and_answers_count_once() {
    let mut worker = Worker::persistent(1).with_jobs(&["a"]);
    let bad_line = |jid| line(jid, Err("it is not JSON".to_owned()));
    worker.at(1.0, bad_line(None)).shows(expect![[r#"
        * warning: slot 1: the command wrote a line that is no answer: it is not JSON
    "#]]);
    expect!["turn: [a complete] pop 1 from q:1\n"].assert_eq(&worker.at(1.0, answer("a")));
    let twice = worker.at(1.0, answer("a"));
    assert!(
        twice.contains("the process does not have this job"),
        "{twice}"
    );
    worker.reply(1.0, &["b"]);
    // The end of the job names the reason.
    expect!["turn: [b fail in bad-answer] pop 1 from q:1\n"]
        .assert_eq(&worker.at(2.0, bad_line(Some("b"))));
}

#[test]
fn progress_is_logged_at_most_once_in_ten_seconds() {
    let mut worker = Worker::persistent(1).with_jobs(&["a"]);
    let progress = |text| line(Some("a"), Ok(EndingOrProgress::Progress(name(text))));
    expect!["log a: page 1\n"].assert_eq(&worker.at(1.0, progress("page 1")));
    expect![""].assert_eq(&worker.at(5.0, progress("page 2")));
    expect!["log a: page 3\n"].assert_eq(&worker.at(11.0, progress("page 3")));
}

#[test]
fn a_batch_shares_one_exit_code_except_for_jobs_that_were_answered() {
    let mut worker = Worker::batch(3);
    expect!["turn: [] pop 3 from q:3\n"].assert_eq(&worker.act());
    worker.reply(0.0, &["a", "b", "c"]);
    expect![""].assert_eq(&worker.at(1.0, answer("b")));
    expect!["turn: [b complete] pop 0 from \n"].assert_eq(&worker.later(1.1));
    worker.reply(1.1, &[]);
    expect!["turn: [a fail in exit-1, c fail in exit-1] pop 3 from q:3\n"]
        .assert_eq(&worker.at(2.0, ended(0, 1)));
}

/// A worker with a time limit of 5 s.
fn limited(flags: &str) -> Worker {
    let mut worker = Worker::of(&format!("--time-limit 5s {flags}"));
    worker.act();
    worker
}

#[test]
fn a_job_fails_or_is_retried_after_the_time_limit_however_its_process_ends() {
    for (retry_on, end) in [("75", "fail in time-limit"), ("time-limit", "retry")] {
        let mut worker = limited(&format!("--retry-on {retry_on}"));
        worker.reply(1.0, &["a"]);
        assert_eq!(worker.machine.next_action_due(), 6.0);
        assert_eq!(worker.later(5.9), "");
        worker.later(6.0).shows(expect![[r#"
            * warning: slot 1: job `a` ran longer than 5s, so the command gets SIGTERM
            SIGTERM 0
        "#]]);
        assert_eq!(worker.machine.next_action_due(), 16.0);
        expect!["SIGKILL 0\n"].assert_eq(&worker.later(16.0));
        let did = worker.at(16.0, ended(0, 0));
        assert_eq!(did, format!("turn: [a {end}] pop 1 from q:1\n"));
    }
    // What ended in time is only noted late, as after a sleep of the machine.
    let mut worker = limited("");
    worker.reply(1.0, &["a"]);
    worker.at(30.0, ended(0, 0)).shows(expect![[r#"
        extend: a
        turn: [a complete] pop 1 from q:1
    "#]]);
}

#[test]
fn jobs_that_a_stopped_process_had_for_a_shorter_time_or_did_not_read_are_released() {
    let stopped = |unread| {
        let mut worker = limited("--persistent --in-flight 4");
        worker.reply(0.0, &["a", "b"]);
        worker.at(3.0, Event::Put(None));
        worker.reply(3.0, &["c"]);
        worker.later(5.0);
        (worker, ended_by(0, ProcessExit::Signal("TERM"), unread))
    };
    // `a` and `b` had their time; `c` had not.
    for (unread, expected) in [
        (
            0,
            "release: c\nturn: [a fail in time-limit, b fail in time-limit] ",
        ),
        (2, "release: b c\nturn: [a fail in time-limit] "),
        // Otherwise a process that reads nothing would run for ever.
        (3, "release: b c\nturn: [a fail in time-limit] "),
    ] {
        let (mut worker, end) = stopped(unread);
        let did = worker.at(5.1, end) + &worker.later(5.2);
        assert!(did.contains(expected), "{unread}: {did}");
        assert!(!did.contains("starts again"), "{did}");
    }
    // An answer counts until the end: `b` was not even read.
    let (mut worker, end) = stopped(2);
    worker.at(5.1, answer("a"));
    let did = worker.at(5.2, end);
    assert!(did.contains("release: b c\n"), "{did}");
    // The jobs of a batch come at the same time, and are read at once.
    let mut batch = limited("--batch 2");
    batch.reply(0.0, &["a", "b"]);
    batch.at(1.0, answer("a"));
    batch.later(1.1);
    batch.reply(1.1, &[]);
    batch.later(5.0);
    let did = batch.at(5.1, ended_by(0, ProcessExit::Signal("TERM"), 1));
    assert!(did.starts_with("turn: [b fail in time-limit] "), "{did}");
}

#[test]
fn a_second_signal_gives_a_job_back_that_is_over_its_time() {
    let mut worker = limited("");
    worker.reply(0.0, &["a"]);
    worker.later(5.0);
    worker.at(6.0, Event::Stop);
    worker.at(6.0, Event::Stop);
    let did = worker.at(6.1, ended(0, 1));
    assert!(did.contains("release: a"), "{did}");
}

#[test]
fn completed_jobs_go_to_the_next_queue() {
    let mut worker = Worker::of("--next ship").with_jobs(&["a"]);
    expect!["turn: [a complete to ship] pop 1 from q:1\n"].assert_eq(&worker.at(1.0, ended(0, 0)));
}

#[test]
fn a_search_does_not_bring_a_lost_job_back_beside_its_process() {
    let mut worker = Worker::single(2).with_jobs(&["a"]);
    worker.at(1.0, Event::Put(None));
    worker.at(2.0, Event::Notice(name("a")));
    worker.at(2.0, lock_is(LockExtensionOutcome::Lost));
    worker.at(2.1, Event::FinishAndPop(Err(failure(true))));
    // The process still ends.
    worker.later(2.2).shows(expect![[r#"
        recover: 0 endings, known a
    "#]]);
}

#[test]
fn a_job_that_the_server_gives_once_more_waits_for_the_end_of_its_first_run() {
    let mut worker = Worker::single(2).with_jobs(&["a"]);
    worker.at(1.0, Event::Put(None));
    // Its lock was taken away, and the notice about that is late.
    worker.reply(1.1, &["a"]).shows(expect![[r#"
        SIGTERM 0
        * Lost a its lock was taken away
    "#]]);
    // It does not run beside its earlier process.
    worker.at(2.0, ended(0, 0)).shows(expect![[r#"
        * Started a
        start 0: a
        turn: [] pop 1 from q:1
    "#]]);
}

#[test]
fn a_server_that_refuses_to_write_is_asked_less_and_less_often_and_reported_once() {
    let mut worker = Worker::single(1);
    let mut reports = String::new();
    let mut turns = 0;
    for tick in 0..1000 {
        worker.now = f64::from(tick) / 100.0;
        let done = worker.act();
        for line in done.lines() {
            if line.starts_with("recover") {
                worker.machine.handle_event(worker.now, nothing_found());
            } else if line.starts_with("turn") {
                turns += 1;
                let refused = Event::FinishAndPop(Err(refusal(false)));
                worker.machine.handle_event(worker.now, refused);
            } else {
                reports.push_str(line);
            }
        }
    }
    expect![[r#"* ConnectionLost { message: "refused" }"#]].assert_eq(&reports);
    assert!((6..15).contains(&turns), "{turns} turns in ten seconds");
    worker.later(20.0).shows(expect![[r#"
        recover: 0 endings, known 
    "#]]);
    let found = nothing_found();
    worker.at(20.0, found).shows(expect![[r#"
        turn: [] pop 1 from q:1
    "#]]);
    worker.reply(20.0, &["a"]).shows(expect![[r#"
        * ConnectionBack { after: 20.0, was_refused: true }
        * Started a
        start 0: a
    "#]]);
}

#[test]
fn a_worker_without_a_right_ends_before_its_first_job() {
    let mut worker = Worker::single(1);
    worker.act();
    worker
        .at(0.0, Event::FinishAndPop(Err(refusal(true))))
        .shows(expect![[r#"
        finish: Forbidden(NoPerm, "refused")
    "#]]);
}

#[test]
fn heartbeats_are_in_time_for_locks_that_became_shorter() {
    let mut worker = Worker::of("--heartbeat 20s").with_jobs(&["a"]);
    expect!["extend: a\n"].assert_eq(&worker.later(20.0));
    worker.at(20.0, extended(&[26.0]));
    expect!["extend: a\n"].assert_eq(&worker.later(22.0));
}

#[test]
fn locks_are_extended_while_turns_are_refused() {
    let mut worker = Worker::single(2).with_jobs(&["a"]);
    worker.later(5.0);
    worker.at(5.0, Event::FinishAndPop(Err(refusal(false))));
    let mut extended_at = Vec::new();
    let mut turns = 0;
    for tick in 51..1200 {
        worker.now = f64::from(tick) / 10.0;
        for line in worker.act().lines() {
            let reply = match line {
                line if line.starts_with("extend: a") => {
                    extended_at.push(worker.now);
                    extended(&[worker.now + 60.0])
                }
                line if line.starts_with("recover") => nothing_found(),
                line if line.starts_with("turn") => {
                    turns += 1;
                    Event::FinishAndPop(Err(refusal(true)))
                }
                line => panic!("{line}"),
            };
            worker.machine.handle_event(worker.now, reply);
        }
    }
    assert_eq!(extended_at, [20.0, 40.0, 60.0, 80.0, 100.0]);
    assert!((40..90).contains(&turns), "{turns} turns in two minutes");
}

#[test]
fn a_stopped_worker_whose_jobs_are_not_taken_back_asks_less_and_less_often_and_ends() {
    let mut worker = Worker::single(1).with_jobs(&["a"]);
    worker.at(1.0, Event::Stop);
    worker.at(1.0, Event::Stop);
    let mut seen = worker.at(1.1, ended(0, 143));
    let (mut releases, mut lines) = (0, 0);
    for tick in 12..400 {
        worker.now = f64::from(tick) / 10.0;
        for line in seen.lines() {
            lines += usize::from(line.starts_with("* Connection"));
            let reply = match line {
                line if line.starts_with("release") => {
                    releases += 1;
                    Event::Released(Err(refusal(false)))
                }
                line if line.starts_with("extend") => extended(&[worker.now + 60.0]),
                line if line.starts_with("finish") => {
                    expect!["finish: Stopped { released: 0, left: 1 }"].assert_eq(line);
                    assert!(worker.now < 20.0, "{}", worker.now);
                    assert!((4..20).contains(&releases), "{releases} releases");
                    return assert_eq!(lines, 1);
                }
                _ => continue,
            };
            worker.machine.handle_event(worker.now, reply);
        }
        seen = worker.act();
    }
    panic!("it does not end");
}

#[test]
fn a_worker_that_ends_while_turns_are_refused_gives_its_lost_jobs_back_first() {
    let mut worker = Worker::single(2).with_jobs(&["a"]);
    worker.later(5.0);
    worker.at(5.0, Event::FinishAndPop(Err(refusal(false))));
    worker.at(6.0, Event::Stop);
    let found = nothing_found();
    worker.at(6.0, found);
    worker.later(20.0).shows(expect![[r#"
        extend: a
    "#]]);
    worker.later(60.0);
    worker.at(60.0, extended(&[120.0]));
    // Nothing is to be asked, so the next attempt is later.
    worker.later(63.0);
    expect![""].assert_eq(&worker.at(64.0, ended(0, 0)));
    worker.later(66.0).shows(expect![[r#"
        release: a
    "#]]);
}

#[test]
fn among_many_queues_only_those_that_may_have_jobs_are_asked() {
    let names: Vec<String> = (0..600).map(|at| format!("q{at}")).collect();
    let queues: Vec<(&str, u32)> = names.iter().map(|name| (name.as_str(), 1)).collect();
    for order in [QueueOrder::Ordered, QueueOrder::RoundRobin] {
        let mut worker = Worker::new("--concurrency 2", &queues, order);
        let none = |emptied: &[&str]| {
            Event::FinishAndPop(Ok(FinishAndPopReply {
                emptied: emptied.iter().map(|queue| name(queue)).collect(),
                ..FinishAndPopReply::default()
            }))
        };
        let ready = |queues: &[&str], due_in| {
            Event::ReadyQueues(Ok(ReadyQueues {
                queues: queues.iter().map(|queue| name(queue)).collect(),
                due_in,
            }))
        };
        expect!["look\n"].assert_eq(&worker.act());
        let asked = worker.at(0.01, ready(&["q7", "q3", "other"], None));
        let each = if order == QueueOrder::Ordered { 2 } else { 1 };
        assert_eq!(asked, format!("turn: [] pop 2 from q3:{each} q7:{each}\n"));
        // What one of them lacks, the next one may have.
        expect!["turn: [] pop 2 from q7:2\n"].assert_eq(&worker.at(0.02, none(&["q3"])));
        expect![""].assert_eq(&worker.at(0.03, none(&["q7"])));
        expect!["look\n"].assert_eq(&worker.later(5.1));
        // The turn keeps the worker listed.
        expect!["turn: [] pop 2 from q0:2\n"].assert_eq(&worker.at(5.2, ready(&[], Some(2.0))));
        worker.at(5.3, none(&["q0"]));
        expect![""].assert_eq(&worker.later(7.1));
        // Another queue is due.
        expect!["look\n"].assert_eq(&worker.later(7.3));
        expect!["turn: [] pop 2 from q0:2\n"].assert_eq(&worker.at(7.4, ready(&[], None)));
        expect![""].assert_eq(&worker.at(7.5, none(&["q0"])));
        let put = Event::Put(Some(name("q9")));
        expect!["turn: [] pop 2 from q9:2\n"].assert_eq(&worker.at(8.0, put));
    }
}
