//! The calls of a worker by the typed methods: endings, turns, locks and taking over, also when a
//! reply is lost.

use std::time::Duration;

use qless::internals::ending::{
    EndingAction, EndingOutcome, EndingRequest, FailureReason, LockExtensionOutcome, NextQueue,
};
use qless::internals::work::PoppedJob;
use qless::internals::{
    CallTracer, Clock, ConnectionSettings, Core as Typed, Error, Moment, Name, ServerTarget,
};

use crate::support::core::{Core, Reply};
use crate::support::proxy::{Cut, proxy, proxy_then};

/// Opens the connection of a worker.
fn typed(url: &str) -> Typed {
    Typed::connect(ConnectionSettings {
        target: ServerTarget::parse(url).expect("an address"),
        prefix: "ql:".into(),
        name: "work".into(),
        timeout: Duration::from_secs(10),
        clock: Clock::from_env().expect("a clock"),
        trace: CallTracer::default(),
        read_only: false,
        writes: true,
        asks_for_eviction: false,
    })
    .expect("the private server answers")
}

/// The same behind a proxy that cuts the first call.
fn cut(core: &Core, cut: Cut) -> Typed {
    let port = proxy(core.socket().to_owned(), cut);
    typed(&format!("redis://127.0.0.1:{port}"))
}

fn at(seconds: i64) -> Moment {
    Moment::from_micros(seconds * 1_000_000)
}

fn name(text: &str) -> Name {
    Name::from(text)
}

fn why() -> FailureReason {
    FailureReason {
        group: name("G"),
        message: name("it broke"),
    }
}

fn ending(jid: &str, queue: &str, action: EndingAction) -> EndingRequest {
    EndingRequest {
        jid: name(jid),
        queue: name(queue),
        action,
        exit: None,
    }
}

fn complete() -> EndingAction {
    EndingAction::Complete {
        data: None,
        next: None,
    }
}

fn next(queue: &str) -> EndingAction {
    EndingAction::Complete {
        data: Some(b"{\"new\":1}".to_vec()),
        next: Some(NextQueue {
            queue: name(queue),
            ..NextQueue::default()
        }),
    }
}

fn retry(delay: u64) -> EndingAction {
    EndingAction::Retry {
        delay: Duration::from_secs(delay),
        why: None,
    }
}

fn fail() -> EndingAction {
    EndingAction::Fail {
        why: why(),
        data: None,
    }
}

fn done(state: &str) -> EndingOutcome {
    EndingOutcome::Done {
        state: name(state),
        remaining: None,
    }
}

fn retried(state: &str, remaining: i64) -> EndingOutcome {
    EndingOutcome::Done {
        state: name(state),
        remaining: Some(remaining),
    }
}

fn not_holder(state: &str, worker: &str) -> EndingOutcome {
    EndingOutcome::NotHolder {
        state: name(state),
        worker: name(worker),
    }
}

fn jids(jobs: &[PoppedJob]) -> Vec<String> {
    jobs.iter().map(|job| job.jid.to_string()).collect()
}

fn queues(list: &[(&str, u64)]) -> Vec<(Name, u64)> {
    list.iter()
        .map(|(queue, count)| (name(queue), *count))
        .collect()
}

/// Puts jobs into queues: `a1 a2` go to `a`.
fn put(core: &mut Core, list: &str) {
    for (at, jid) in list.split(' ').enumerate() {
        let at = at + 1;
        let queue = &jid[..1];
        core.ok(&format!("put {at} '' {queue} {jid} K {{}} 0"));
    }
}

fn is_unknown<T: std::fmt::Debug>(result: Result<T, Error>) -> bool {
    let error = result.expect_err("the reply is lost");
    error.message().contains("may or may not have happened")
}

#[test]
fn a_turn_pops_from_the_queues_in_order_up_to_its_total() {
    let mut core = Core::new();
    let mut worker = typed(&core.url());
    put(&mut core, "a1 a2 a3 b1 b2 b3 c1 c2 c3");
    let w = name("w");
    let all = queues(&[("a", 3), ("b", 3), ("c", 3)]);
    let mut turn = |now, total, queues: &[(Name, u64)]| {
        let turn = worker
            .finish_and_pop(at(now), &w, total, queues, &[])
            .unwrap();
        assert!(turn.refused.is_empty() && turn.endings.is_empty());
        jids(&turn.jobs)
    };
    assert_eq!(turn(10, 4, &all), ["a1", "a2", "a3", "b1"]);
    let robin = queues(&[("a", 1), ("b", 1), ("c", 1)]);
    assert_eq!(turn(11, 9, &robin), ["b2", "c1"]);
    assert_eq!(turn(12, 0, &all), [""; 0]);
    assert_eq!(turn(13, 9, &all), ["b3", "c2", "c3"]);
}

#[test]
fn a_turn_ends_jobs_before_it_pops() {
    let mut core = Core::new();
    let mut worker = typed(&core.url());
    put(&mut core, "a1 a2");
    core.ok("pop 5 a w 1");
    let w = name("w");
    let ends = [ending("a1", "a", next("a")), ending("zz", "a", complete())];
    let turn = worker
        .finish_and_pop(at(10), &w, 5, &queues(&[("a", 5)]), &ends)
        .unwrap();
    assert_eq!(turn.endings, [done("waiting"), EndingOutcome::Gone]);
    assert_eq!(jids(&turn.jobs), ["a2", "a1"]);
    let again = &turn.jobs[1];
    assert_eq!(again.data, b"{\"new\":1}");
    assert_eq!(
        (again.klass.to_string(), again.queue.to_string()),
        ("K".into(), "a".into())
    );
    assert_eq!((again.priority, again.retries, again.remaining), (0, 5, 5));
    assert_eq!(again.expires, 70.0);
}

#[test]
fn a_queue_that_cannot_be_popped_does_not_hide_the_endings() {
    let mut core = Core::new();
    let mut worker = typed(&core.url());
    put(&mut core, "a1 c1");
    core.ok("pop 5 a w 1");
    core.redis("SET ql:q:b-work damaged");
    let w = name("w");
    let from = queues(&[("b", 5), ("c", 5)]);
    let turn = worker
        .finish_and_pop(at(10), &w, 5, &from, &[ending("a1", "a", complete())])
        .unwrap();
    assert_eq!(turn.endings, [done("complete")]);
    assert_eq!(jids(&turn.jobs), ["c1"]);
    assert_eq!(turn.refused[0].0, name("b"));
    assert!(
        turn.refused[0].1.contains("WRONGTYPE"),
        "{:?}",
        turn.refused
    );
    // Without endings nothing would be hidden.
    assert!(worker.finish_and_pop(at(11), &w, 5, &from, &[]).is_err());
}

/// Puts `a1` to `a5` and `last`, which `w` pops.
fn pop_six(core: &mut Core) {
    put(core, "a1 a2 a3 a4 a5");
    core.all("put 8 '' a last K {} 0 retries 0; pop 9 a w 6");
}

/// How these six jobs end, one in each way.
fn six_endings() -> [EndingRequest; 6] {
    [
        ending("a1", "a", complete()),
        ending("a2", "a", next("b")),
        ending("a3", "a", fail()),
        ending("a4", "a", retry(0)),
        ending("a5", "a", retry(30)),
        ending("last", "a", retry(0)),
    ]
}

/// What becomes of them.
fn six_outcomes() -> [EndingOutcome; 6] {
    [
        done("complete"),
        done("waiting"),
        done("failed"),
        retried("waiting", 4),
        retried("scheduled", 4),
        retried("failed", -1),
    ]
}

#[test]
fn each_ending_has_its_outcome() {
    let mut core = Core::new();
    let mut worker = typed(&core.url());
    pop_six(&mut core);
    core.all("put 9 '' c c6 K {} 0; pop 9 c w 1");
    core.all("put 9 '' c c7 K {} 0; pop 9 c w 1; timeout 9 c7; pop 9 c other 1");
    let bad = EndingAction::Complete {
        data: Some(b"{".to_vec()),
        next: None,
    };
    let more = [
        ending("c6", "c", bad),
        ending("c7", "c", complete()),
        ending("a1", "a", fail()),
        ending("nope", "a", fail()),
    ];
    let ends: Vec<EndingRequest> = six_endings().into_iter().chain(more).collect();
    let outcomes = worker
        .finish_jobs(at(10), &name("w"), &ends, false)
        .unwrap();
    assert_eq!(outcomes[..6], six_outcomes());
    let why = "Expected object key string but found T_END at character 2";
    let refused = [
        EndingOutcome::Invalid(why.into()),
        not_holder("running", "other"),
        not_holder("complete", ""),
        EndingOutcome::Gone,
    ];
    assert_eq!(outcomes[6..], refused);
    assert_eq!(core.state("c6"), "running");
}

#[test]
fn endings_whose_reply_is_lost_are_settled() {
    let mut core = Core::new();
    for place in [Cut::Before(2), Cut::After(2)] {
        core.flush();
        pop_six(&mut core);
        let outcomes = cut(&core, place).finish_jobs(at(10), &name("w"), &six_endings(), false);
        assert_eq!(outcomes.unwrap(), six_outcomes());
        assert_eq!(core.history("a1").len(), 3, "once");
        assert_eq!(core.field("a4", "remaining").unwrap(), "4", "once");
    }
}

#[test]
fn what_others_do_before_the_repeat_does_not_hide_an_ending() {
    let mut core = Core::new();
    put(&mut core, "a1 a2 a3 a4 a5");
    core.ok("pop 9 a w 5");
    let ends = [
        ending("a1", "a", complete()),
        ending("a2", "a", next("b")),
        ending("a3", "a", fail()),
        ending("a4", "a", retry(0)),
        ending("a5", "a", complete()),
    ];
    let url = core.url();
    let socket = core.socket().to_owned();
    // Other clients pop, retry and cancel what the first attempt left.
    let port = proxy_then(socket, Cut::After(2), move || {
        let mut other = typed(&url);
        let w = name("other");
        let turn = other
            .finish_and_pop(at(10), &w, 9, &queues(&[("b", 9), ("a", 9)]), &[])
            .unwrap();
        assert_eq!(jids(&turn.jobs), ["a2", "a4"]);
        other
            .finish_jobs(at(10), &w, &[ending("a2", "b", fail())], false)
            .unwrap();
    });
    let mut worker = typed(&format!("redis://127.0.0.1:{port}"));
    let outcomes = worker
        .finish_jobs(at(10), &name("w"), &ends, false)
        .unwrap();
    assert_eq!(
        outcomes,
        [
            done("complete"),
            done("failed"),
            done("failed"),
            retried("waiting", 4),
            done("complete"),
        ]
    );
}

#[test]
fn a_lock_that_was_lost_before_the_ending_is_not_settled_as_done() {
    let mut core = Core::new();
    put(&mut core, "a1 a2 a3 a4");
    core.all("pop 9 a w 4; timeout 9 a1 a2 a3; pop 9 a other 3");
    // The other worker does the same within the same second.
    core.all("complete 10 a1 other a {}; fail 10 a2 other G M; retry 10 a3 a other; cancel 10 a4");
    let ends = [
        ending("a1", "a", complete()),
        ending("a2", "a", fail()),
        ending("a3", "a", retry(0)),
        ending("a4", "a", complete()),
    ];
    let outcomes = cut(&core, Cut::Before(2))
        .finish_jobs(at(10), &name("w"), &ends, false)
        .unwrap();
    assert_eq!(
        outcomes,
        [
            not_holder("complete", ""),
            not_holder("failed", ""),
            not_holder("waiting", "other"),
            EndingOutcome::Unknown,
        ]
    );
}

#[test]
fn a_lost_turn_is_unknown_and_its_jobs_are_taken_over() {
    let mut core = Core::new();
    put(&mut core, "a1 a2 a3 a4");
    core.redis("HSET ql:j:a3 spawned_from_jid r");
    core.ok("tag 5 add a3 x y");
    core.ok("pop 9 a w 2");
    let (w, ends) = (
        name("w"),
        [ending("a1", "a", complete()), ending("a2", "a", retry(60))],
    );
    let from = queues(&[("a", 1)]);
    let mut worker = cut(&core, Cut::After(2));
    assert!(is_unknown(worker.finish_and_pop(
        at(10),
        &w,
        1,
        &from,
        &ends
    )));
    assert_eq!(core.state("a4"), "waiting", "the turn is not repeated");
    assert_eq!(
        worker.finish_jobs(at(10), &w, &ends, true).unwrap(),
        [done("complete"), retried("scheduled", 4)]
    );
    let known = |jid: &Name| jid.as_bytes() == b"a1";
    let jobs = worker.recover_jobs_of_lost_pop(at(12), &w, known).unwrap();
    assert_eq!(jids(&jobs), ["a3"]);
    assert_eq!(jobs[0].expires, 72.0, "the lock is extended");
    assert_eq!(jobs[0].tags, [name("x"), name("y")]);
    assert_eq!(jobs[0].spawned_from, Some(name("r")));
    assert_eq!(
        (jobs[0].queue.clone(), jobs[0].klass.clone()),
        (name("a"), name("K"))
    );
    assert_eq!((jobs[0].retries, jobs[0].remaining), (5, 5));
    let all_known = worker
        .recover_jobs_of_lost_pop(at(13), &w, |_| true)
        .unwrap();
    assert!(all_known.is_empty());
}

#[test]
fn a_turn_that_never_arrived_is_unknown_too() {
    let mut core = Core::new();
    put(&mut core, "a1");
    core.ok("pop 9 a w 1");
    let (w, ends) = (name("w"), [ending("a1", "a", complete())]);
    let mut worker = cut(&core, Cut::Before(2));
    assert!(is_unknown(worker.finish_and_pop(
        at(10),
        &w,
        1,
        &queues(&[("a", 1)]),
        &ends
    )));
    assert_eq!(
        worker.finish_jobs(at(10), &w, &ends, true).unwrap(),
        [done("complete")]
    );
    assert!(
        worker
            .recover_jobs_of_lost_pop(at(10), &w, |_| false)
            .unwrap()
            .is_empty()
    );
}

#[test]
fn taking_over_is_repeated_and_leaves_what_others_hold() {
    let mut core = Core::new();
    for place in [Cut::Before(3), Cut::After(2), Cut::After(3), Cut::After(4)] {
        core.flush();
        put(&mut core, "a1 a2 a3");
        core.ok("pop 9 a w 3");
        // A list that still names what another worker holds.
        core.all("timeout 9 a2; pop 9 a other 1");
        core.redis("ZADD ql:w:w:jobs 69 a2");
        let jobs = cut(&core, place)
            .recover_jobs_of_lost_pop(at(12), &name("w"), |_| false)
            .unwrap();
        assert_eq!(jids(&jobs), ["a1", "a3"]);
        assert_eq!(core.field("a2", "worker").unwrap(), "other");
    }
}

#[test]
fn a_turn_is_repeated_if_the_server_lost_the_script() {
    let mut core = Core::new();
    let mut worker = typed(&core.url());
    put(&mut core, "a1");
    core.redis("SCRIPT FLUSH");
    let turn = worker
        .finish_and_pop(at(10), &name("w"), 1, &queues(&[("a", 1)]), &[])
        .unwrap();
    assert_eq!(jids(&turn.jobs), ["a1"]);
}

#[test]
fn locks_are_extended_in_one_call() {
    let mut core = Core::new();
    for place in [Cut::Before(99), Cut::After(2)] {
        core.flush();
        put(&mut core, "a1 a2 a3");
        core.all("config.set 1 heartbeat 90; pop 9 a w 3; timeout 9 a2; pop 9 a other 1");
        let jids = ["a1", "a2", "nope", "a3"].map(name);
        let mut worker = cut(&core, place);
        let locks = worker.extend_locks(at(20), &name("w"), &jids).unwrap();
        let extended = LockExtensionOutcome::Extended(110.0);
        assert_eq!(
            locks,
            [
                extended.clone(),
                LockExtensionOutcome::Lost,
                LockExtensionOutcome::Gone,
                extended
            ]
        );
        assert_eq!(core.score("ql:q:a-locks", "a3"), Some(110.0));
    }
}

#[test]
fn a_lock_that_cannot_be_extended_hides_no_other_one() {
    let mut core = Core::new();
    put(&mut core, "a1 a2 a3");
    core.ok("pop 9 a w 3");
    core.redis("DEL ql:j:a2");
    core.redis("SET ql:j:a2 text");
    let (mut worker, w) = (typed(&core.url()), name("w"));
    let jids = ["a1", "a2", "a3"].map(name);
    let locks = worker.extend_locks(at(20), &w, &jids).unwrap();
    let extended = LockExtensionOutcome::Extended(80.0);
    assert_eq!([&locks[0], &locks[2]], [&extended, &extended]);
    let LockExtensionOutcome::Invalid(why) = &locks[1] else {
        panic!("{:?}", locks[1]);
    };
    assert!(why.contains("ql:j:a2"), "{why}");
    let jobs = worker.recover_jobs_of_lost_pop(at(21), &w, |_| false);
    assert_eq!(self::jids(&jobs.unwrap()), ["a1", "a3"]);
}

#[test]
fn more_jobs_than_one_call_takes_are_split() {
    let mut core = Core::new();
    let mut worker = typed(&core.url());
    core.many((0..1201).map(|at| format!("put 1 '' a j{at} K {{}} 0")));
    let w = name("w");
    let turn = worker
        .finish_and_pop(at(10), &w, 5000, &queues(&[("a", 5000)]), &[])
        .unwrap();
    assert_eq!(turn.jobs.len(), 1201);
    let held: Vec<Name> = turn.jobs.iter().map(|job| job.jid.clone()).collect();
    let locks = worker.extend_locks(at(11), &w, &held).unwrap();
    assert_eq!(locks, vec![LockExtensionOutcome::Extended(71.0); 1201]);
    assert_eq!(
        worker
            .recover_jobs_of_lost_pop(at(11), &w, |_| false)
            .unwrap()
            .len(),
        1201
    );
    let end = |jid: &Name| EndingRequest {
        jid: jid.clone(),
        queue: name("a"),
        action: complete(),
        exit: None,
    };
    let ends: Vec<EndingRequest> = held.iter().map(end).collect();
    let turn = worker
        .finish_and_pop(at(12), &w, 5, &queues(&[("a", 5)]), &ends[..600])
        .unwrap();
    assert_eq!(turn.endings, vec![done("complete"); 600]);
    let ended = worker.finish_jobs(at(12), &w, &ends[600..], false).unwrap();
    assert_eq!(ended, vec![done("complete"); 601]);
    assert_eq!(core.redis("ZCARD ql:completed"), Reply::Int(1201));
}

#[test]
fn names_and_data_that_are_not_utf8_stay_exact() {
    let mut core = Core::new();
    let mut worker = typed(&core.url());
    let (jid, queue, data) = (b"j\xff", b"q\xfe", b"{\"a\":\"\xfd\\u0000\\n \xc3\xa9\"}");
    let put: [&[u8]; 10] = [
        b"put",
        b"1",
        b"",
        queue,
        jid,
        b"K\xfc",
        data,
        b"0",
        b"tags",
        b"[\"t\xfb\"]",
    ];
    core.call(&put).unwrap();
    // A character that stands for a byte elsewhere stands for itself where all is UTF-8.
    core.ok("put 1 '' plain \u{10ffff} K {} 0");
    let w = Name::from(b"w\xfa".to_vec());
    let from = [(Name::from(queue.to_vec()), 1), (name("plain"), 1)];
    let turn = worker.finish_and_pop(at(10), &w, 2, &from, &[]).unwrap();
    let job = &turn.jobs[0];
    assert_eq!(job.jid.as_bytes(), jid);
    assert_eq!(job.klass.as_bytes(), b"K\xfc");
    assert_eq!(job.queue.as_bytes(), queue);
    assert_eq!(job.data, data);
    assert_eq!(job.tags, [Name::from(b"t\xfb".to_vec())]);
    assert_eq!(turn.jobs[1].jid, name("\u{10ffff}"));
    let same = worker
        .recover_jobs_of_lost_pop(at(10), &w, |_| false)
        .unwrap();
    assert_eq!(same.iter().find(|held| held.jid == job.jid), Some(job));
    let end = EndingRequest {
        jid: job.jid.clone(),
        queue: job.queue.clone(),
        action: EndingAction::Fail {
            why: why(),
            data: None,
        },
        exit: None,
    };
    assert_eq!(
        worker.finish_jobs(at(11), &w, &[end], false).unwrap(),
        [done("failed")]
    );
}

#[test]
fn a_turn_that_brings_too_little_says_when_the_next_job_is_due() {
    let mut core = Core::new();
    let mut due_in = |lines: &str, now: i64, total: u64, named: &[&str]| {
        core.many(
            lines
                .split("; ")
                .filter(|line| !line.is_empty())
                .map(str::to_owned),
        );
        let counts: Vec<(&str, u64)> = named.iter().map(|queue| (*queue, 1)).collect();
        let mut worker = typed(&core.url());
        let turn = worker.finish_and_pop(at(now), &name("w"), total, &queues(&counts), &[]);
        turn.expect("a turn").due_in
    };
    let put = "put 1 x q a K {} 9; put 1 x q b K {} 4; put 1 x p c K {} 0";
    assert_eq!(due_in(put, 2, 1, &["q"]), Some(3.001));
    assert_eq!(due_in("", 2, 1, &["p", "q"]), None, "it has its job");
    assert_eq!(due_in("put 2 x p d K {} 0", 3, 2, &["p", "q"]), Some(2.001));
    assert_eq!(due_in("", 5, 2, &["q", "none"]), Some(5.001));
    // The limit of a queue leaves what is due.
    let full = "config.set 5 q-max-concurrency 1";
    assert_eq!(due_in(full, 20, 1, &["q"]), Some(45.001), "the lock");
    // A grace period ends like a lock.
    assert_eq!(due_in("", 66, 1, &["q"]), Some(10.001));
    let template = "recur 65 r t K {} interval 30 7";
    assert_eq!(due_in(template, 66, 1, &["r"]), Some(6.001));
    let pause = "guard.pause 66 69.5 '' r s; pause 66 t; put 66 x t e K {} 9";
    assert_eq!(due_in(pause, 67, 1, &["r", "s", "t"]), Some(2.501));
    assert_eq!(due_in("", 67, 1, &["t", "none"]), None);
}
