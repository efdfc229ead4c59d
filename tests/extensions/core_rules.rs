//! Rules of the core itself: the number of commands,
//! recurring jobs that do not overlap, uniqueness windows, replacement, fixed windows.

use expect_test::expect;
use serde_json::json;

use super::foreign::FOREIGN;
use crate::core::cost::commands;
use crate::support::core::{Core, Reply};

/// The commands of Redis that one call runs.
fn cost(core: &mut Core, line: &str) -> u64 {
    commands(core, &[line.to_owned()])
}

/// A core after these calls.
fn after(lines: &str) -> Core {
    let mut core = Core::new();
    core.all(lines);
    core
}

/// The same on a server that other calls have used.
fn again_after(core: &mut Core, lines: &str) {
    core.flush();
    core.all(lines);
}

/// Asserts that a call with an extension costs at most `extra` commands more than the same call of a
/// plain job. Both are made on an empty database, after their preparations.
#[track_caller]
fn costs_more(plain: (&str, &str), extended: (&str, &str), extra: u64) {
    let mut core = after(plain.0);
    let base = cost(&mut core, plain.1);
    again_after(&mut core, extended.0);
    let seen = cost(&mut core, extended.1);
    assert!(
        seen <= base + extra,
        "`{}` runs {seen} commands, `{}` {base}: more than {extra} beside",
        extended.1,
        plain.1
    );
}

/// A call that meets a job with any extension reads its further fields by one command. In return,
/// all other jobs cost one field more, and no command. The commands of qless-core differ: its
/// plain `put`, `pop` and `get` run 12, 37 and 6 commands where this core runs 8, 16 and 3.
const FIELDS: u64 = 1;

const PUT: (&str, &str) = ("put 0 me q x K {} 0", "put 2 me q j K {} 0");

#[test]
fn c2_a_put_with_a_key_costs_4_commands_more_and_9_behind_another_job() {
    costs_more(PUT, (PUT.0, "put 2 me q j K {} 0 key k"), 4);
    let before = "put 0 me q x K {} 0 key k";
    costs_more(PUT, (before, "put 2 me q j K {} 0 key k"), 9);
}

#[test]
fn c2_a_merging_put_runs_at_most_8_commands_and_a_skipped_one_5() {
    let mut core = after("put 0 me q x K 1 0 key k dup merge score 1");
    let seen = cost(&mut core, "put 2 me q j K 2 0 key k dup merge score 2");
    assert!(seen <= 8 + FIELDS, "a merge at the end: {seen}");
    let seen = cost(&mut core, "put 3 me q j K 0 0 key k dup merge score 0");
    assert!(seen <= 8 + FIELDS, "a merge at the begin: {seen}");
    assert_eq!(core.data("x"), "[0,1,2]");
    let mut core = after("put 0 me q x K 1 0 key k dup skip");
    let seen = cost(&mut core, "put 2 me q j K 2 0 key k dup skip");
    assert!(seen <= 5, "a skip: {seen}");
    let mut core = after("put 0 me q x K 1 0 key k dup skip ttl 50; cancel 1 nobody");
    let seen = cost(&mut core, "put 2 me q j K 2 0 key k dup skip");
    assert!(seen <= 5, "a skip by its window: {seen}");
}

#[test]
fn c2_each_throttle_costs_2_commands_in_a_put() {
    costs_more(PUT, (PUT.0, r#"put 2 me q j K {} 0 throttles ["t"]"#), 2);
    costs_more(
        PUT,
        (PUT.0, r#"put 2 me q j K {} 0 throttles ["t","u","v"]"#),
        6,
    );
}

#[test]
fn c2_a_back_off_and_queue_defaults_cost_no_command_in_a_put() {
    costs_more(PUT, (PUT.0, "put 2 me q j K {} 0 backoff exp:5"), 0);
    let before = r#"put 0 me q x K {} 0; config.set 1 q-defaults {"backoff":"exp:5","retries":3}"#;
    costs_more(PUT, (before, PUT.1), 0);
}

const POP: (&str, &str) = ("put 0 me q j K {} 0", "pop 2 q w1 1");

#[test]
fn c2_a_pop_costs_1_command_more_for_a_key_3_for_each_throttle_and_1_for_the_fence() {
    costs_more(POP, ("put 0 me q j K {} 0 key k", POP.1), 2 + FIELDS);
    costs_more(
        POP,
        (r#"put 0 me q j K {} 0 throttles ["t"]"#, POP.1),
        4 + FIELDS,
    );
    let two = r#"throttle.set 0 t 3; put 0 me q j K {} 0 throttles ["t","u"]"#;
    costs_more(POP, (two, POP.1), 7 + FIELDS);
    let both = r#"put 0 me q j K {} 0 key k throttles ["t"]"#;
    costs_more(POP, (both, POP.1), 5 + FIELDS);
}

#[test]
fn c2_holding_a_candidate_costs_about_8_commands_once() {
    let mut core = Core::new();
    core.many((0..100).map(|n| format!("put {n} me q j{n} K {{}} 0 lock one")));
    core.ok("pop 200 q w1 1");
    let all = cost(&mut core, "pop 201 q w1 1");
    assert!(all <= 99 * 9 + 20, "holding 99 candidates: {all}");
    let again = cost(&mut core, "pop 202 q w1 1");
    assert!(again <= 60, "they are not candidates again: {again}");
    // What is left is the re-check of ten held jobs, however many there are.
    let mut small = Core::new();
    small.many((0..20).map(|n| format!("put {n} me q j{n} K {{}} 0 lock one")));
    small.all("pop 200 q w1 1; pop 201 q w1 1");
    let few = cost(&mut small, "pop 202 q w1 1");
    assert!(
        again.abs_diff(few) <= 10,
        "{again} with 99 held jobs, {few} with 19"
    );
}

#[test]
fn c2_the_end_of_a_keyed_job_costs_2_to_8_commands_more() {
    let plain = "put 0 me q j K {} 0; pop 1 q w1 1";
    let alone = "put 0 me q j K {} 0 key k; pop 1 q w1 1";
    let followed = "put 0 me q j K {} 0 key k; put 0 me q n K {} 0 key k; pop 1 q w1 1";
    for end in ["complete 2 j w1 q {}", "fail 2 j w1 G M", "cancel 2 j"] {
        costs_more((plain, end), (alone, end), 8 + FIELDS);
    }
    // The next job of a lane is released as a dependent is.
    let dependent = r#"put 0 me q j K {} 0; put 0 me q n K {} 0 depends ["j"]; pop 1 q w1 1"#;
    let complete = "complete 2 j w1 q {}";
    costs_more((dependent, complete), (followed, complete), 8 + FIELDS);
    costs_more(
        (plain, "retry 2 j q w1 5"),
        (followed, "retry 2 j q w1 5"),
        2 + FIELDS,
    );
}

#[test]
fn c2_the_end_of_a_throttled_job_costs_2_commands_and_8_for_each_woken_job() {
    let plain = "put 0 me q j K {} 0; pop 1 q w1 1";
    let alone = r#"put 0 me q j K {} 0 throttles ["t"]; pop 1 q w1 1"#;
    let pending = format!(
        "throttle.set 0 t 1; {alone}; {}",
        r#"put 2 me q n K {} 0 throttles ["t"]"#
    );
    for end in [
        "complete 2 j w1 q {}",
        "fail 2 j w1 G M",
        "retry 2 j q w1 5",
        "cancel 2 j",
    ] {
        costs_more((plain, end), (alone, end), 2 + FIELDS);
        costs_more((plain, end), (&pending, end), 10 + FIELDS);
    }
    let policy = "put 0 me q j K {} 0 backoff fixed:5; pop 1 q w1 1";
    // The policy is read before the call writes, the other fields after it.
    let retries = ("retry 2 j q w1 5", "retry 2 j q w1");
    costs_more((plain, retries.0), (policy, retries.1), 2 * FIELDS);
}

#[test]
fn c2_heartbeats_peeks_and_reads_cost_no_more() {
    let plain = "put 0 me q j K {} 0; pop 1 q w1 1";
    let extended = r#"put 0 me q j K {} 0 key k throttles ["t"] backoff fixed:5; pop 1 q w1 1"#;
    for line in ["heartbeat 2 j w1", "get 2 j", "multiget 2 j"] {
        let read = if line.contains("get") { FIELDS } else { 0 };
        costs_more((plain, line), (extended, line), read);
    }
    let (plain, extended) = ("put 0 me q j K {} 0", "put 0 me q j K {} 0 key k lock one");
    costs_more((plain, "peek 2 q 1"), (extended, "peek 2 q 1"), FIELDS);
    let merge = "put 0 me q j K {} 0 key k dup merge";
    costs_more((plain, "get 2 j"), (merge, "get 2 j"), 1 + FIELDS);
}

#[test]
fn c2_the_cost_does_not_grow_with_jobs_lanes_and_throttles() {
    let cycle = |core: &mut Core| {
        [
            "put 900 me q j K {} 0 key mine lock mine",
            "pop 901 q w1 1",
            "complete 902 j w1 q {}",
        ]
        .map(|line| cost(core, line))
    };
    let mut core = Core::new();
    let alone = cycle(&mut core);
    let mut core = Core::new();
    core.many((0..300).map(|n| format!("put 1 me q k{n} K {{}} 0 key k{} priority -1", n % 30)));
    core.many((0..300).map(|n| format!("put 2 me q t{n} K {{}} 0 lock l{} priority -1", n % 30)));
    assert_eq!(cycle(&mut core), alone);
}

#[test]
fn jobs_held_by_lanes_and_throttles() {
    Core::new().session(expect![[r#"
        == An unfail lists its queue even if the job waits in its lane
        put 0 me a j1 K {} 0 key /g; pop 1 a w1 1; fail 2 j1 w1 G M; put 3 me a j2 K {} 0 key /g
        -- An older script may have left a further entry.
        RPUSH ql:f:G j1
        unfail 4 b G 1 → :1
        get 4 j1 | state → depends
        queues 4 b | depends → 1
        score ql:queues b → 4
        failed 4 → {}

        == A job whose lock expired and that is held keeps no slot
        throttle.set 0 t 1; throttle.set 0 u 1; put 1 me b j K {} 0 throttles ["t","u"]; pop 1 b w1 1
        throttle.release 2 t j; put 2 me a k K {} 0 throttles ["t"]; pop 2 a w2 1; heartbeat 60 k w2
        put 61 me a l K {} 0 throttles ["u"]; pop 61 a w2 1; pop 62 b w3 1
        throttle.locks 62 u → ["j"]
        -- `k` has the only slot of `t` now, so `j` may not run again, and lets `l` have that of `u`.
        pop 75 b w3 1 | jid → {}
        get 75 j | state → throttled
        throttle.locks 75 u → []
        pop 75 a w3 1 | jid → l

        == A job that waited for a holder whose lock expired in another queue is popped immediately
        config.set 0 grace-period 0; throttle.set 0 t 1; put 1 me a j1 K {} 0 retries 0 key /g throttles ["t"]
        put 2 me b j2 K {} 0 key /g; put 3 me b j3 K {} 0 priority 2 throttles ["t"]
        pop 4 a w1 1 | jid → j1
        states j1 j2 j3 → running depends waiting
        -- The pop fails j1 for the slot that j3 needs. The end of j1 puts j2 into the queue that is being popped.
        pop 101 b w2 5 | jid → j3 j2
        states j1 j2 j3 → failed running running

        == A job that a pop holds and then brings back is popped
        config.set 0 grace-period 0; throttle.set 0 u 4; throttle.set 0 t 1
        put 1 me q j K {} 0 priority 5 throttles ["u"]; put 1 me q k K {} 0 throttles ["t"]
        put 1 me a r1 K {} 0 throttles ["u"]; put 1 me a r2 K {} 0 throttles ["u"]
        put 1 me a r3 K {} 0 throttles ["u"]
        pop 2 a w1 3 | jid → r3 r2 r1
        put 3 me b h K {} 0 retries 0 throttles ["u","t"]
        pop 4 b w2 1 | jid → h
        heartbeat 50 r1 w1; heartbeat 50 r2 w1; heartbeat 50 r3 w1
        -- `h` is the fourth holder of `u`, so `j` is held. `k` finds the lock of `h` over, and its end wakes `j`.
        pop 100 q w3 5 | jid → k j
        states h j k → failed running running

        == An unfail brings failed jobs back in the order of their lane
        put 0 me q c K {} 0 key k; pop 1 q w1 1; fail 2 c w1 G M; put 10 me q a K {} 0 key k; pop 11 q w1 1
        fail 12 a w1 G M; put 20 me q b K {} 0 key k; pop 21 q w1 1; fail 22 b w1 G M
        unfail 30 q G 25 → :3
        ZRANGE ql:k:q/k 0 -1 → c a b
        states c a b → waiting depends depends

        == A requeued job is held if a throttle is full
        throttle.set 0 t 1; put 1 me q a K {} 0 throttles ["t"]; pop 1 q w 1; put 2 me p b K {} 0 throttles ["t"]
        put 3 me p c K {} 0 throttles ["t"] priority 5
        guard.requeue 4 {"from":["throttled"],"to":"q"} '' b '' '' c '' '' → done '' throttled q · done '' throttled q
        states b → throttled
        keys *-throttled → ql:q:q-throttled
        throttle.pending 5 t → ["c","b"]
        history b → [2,"put",{"q":"p"}] · [2,"throttled",{"q":"p","throttle":"t"}] · [4,"put",{"q":"q"}] · [4,"throttled",{"q":"q","throttle":"t"}]
        -- A job that is due later takes no notice of the throttle, nor does one that depends on another.
        guard.requeue 6 {"from":["throttled"]} '' b '' 90
        states b → scheduled
        -- The holder frees its slot and takes its place among the others.
        guard.requeue 7 {"from":["running"]} '' a '' ''
        pop 8 q w 5 | jid → c
        states a → throttled
        complete 9 c w q {}
        pop 10 q w 5 | jid → a
        -- What holds the job must be a sorted set, and is tested before anything is written.
        SET ql:q:z-throttled x; remember
        guard.requeue 11 {"from":["scheduled"],"to":"z"} '' b '' '' → invalid scheduled:6:5:q ql:q:z-throttled is no zset
        unchanged
    "#]]);
}

#[test]
fn a_pop_looks_again_at_all_held_jobs_if_they_are_up_to_ten() {
    let mut core = Core::new();
    // Whatever the second of the pop: only the job held last may run, and nobody woke it.
    for now in 101..110 {
        core.flush();
        core.all(
            "throttle.set 0 t 1; throttle.set 0 u 1; put 1 me q holder K {} 0 throttles [\"t\"]",
        );
        core.ok("put 2 me q other K {} 0 throttles [\"u\"]");
        assert_eq!(core.jids("pop 90 q w 2"), ["holder", "other"]);
        for at in 0..7 {
            core.ok(&format!(
                "put {} me q t{at} K {{}} 0 throttles [\"t\"]",
                91 + at
            ));
        }
        core.ok("put 99 me q last K {} 0 throttles [\"u\"]");
        core.redis("ZREM ql:th:u-locks other");
        assert_eq!(core.jids(&format!("pop {now} q w 5")), ["last"], "at {now}");
    }
}

#[test]
fn a_buried_job_that_keeps_its_place_does_not_wait_for_a_deleted_job() {
    let mut core = Core::new();
    for gone in ["guard.cancel 5 release a ''", "guard.cancel 5 refuse a ''"] {
        core.flush();
        core.ok("put 1 me q a K {} 0");
        core.ok(r#"put 2 me q b K {} 0 key k hold 1 depends ["a"]"#);
        core.ok("bury 3 b G M");
        core.ok(gone);
        assert_eq!(core.state("b"), "failed");
        core.ok("unfail 6 q G 1");
        assert_eq!(core.jids("pop 7 q w 5"), ["b"], "after {gone}");
    }
}

#[test]
fn a_pop_passes_a_thousand_numbers_of_children_that_are_in_use() {
    let mut core = Core::new();
    core.many((1..=2500).map(|number| format!("put 0 me other r-{number} K {{}} 0")));
    core.ok("recur 1 q r K {} interval 60 0 throttles [\"t\"]");
    assert_eq!(core.jids("pop 2 q w 9"), [""; 0]);
    assert_eq!(core.jids("pop 3 q w 9"), [""; 0]);
    assert_eq!(core.jids("pop 4 q w 9"), ["r-2501"]);
    assert_eq!(core.jids("pop 62 q w 9"), ["r-2502"]);
}

#[test]
fn windows_and_lanes() {
    Core::new().session(expect![[r#"
        == C4: recurring jobs with their own key and skip do not overlap
        recur 0 q r K {} interval 10 0 retries 1 key r dup skip
        pop 0 q w1 5 | jid → r-1
        -- Three further runs are due while the first one runs: none is made, and none is counted.
        pop 35 q w1 5 | jid → {}
        recur.get 35 r | count → 1
        -- the job and its history
        keys ql:j:r-* → ql:j:r-1 ql:j:r-1-history
        score ql:q:q-recur r → 40
        complete 36 r-1 w1 q {}
        pop 39 q w1 5 | jid → {}
        pop 40 q w1 5 | jid → r-2
        -- A lost lock does not let the next run start.
        config.set 40 grace-period 0
        pop 101 q w2 5 | jid → r-2
        recur.get 101 r | count → 2
        -- After it has failed for good, the next tick runs.
        fail 102 r-2 w2 G M
        pop 110 q w2 5 | jid → r-3

        == C4: the options of a template are those of its children
        recur 0 q r K 1 interval 10 0 key k throttles ["t"] backoff fixed:5 hold 1; pop 0 q w1 1
        get 0 r-1 | key throttles backoff hold → q/k ["t"] fixed:5 true
        peek 20 q 5
        ZRANGE ql:k:q/k 0 -1 → r-1 r-2 r-3
        -- Merging children: the payload of the template is one payload.
        recur.update 20 r key m dup merge; peek 40 q 5
        ZRANGE ql:k:q/m 0 -1 → r-4

        == C5: replace starts the delay again
        put 1 me q a K 1 30 key u dup replace → a
        put 20 me q b L 2 30 key u dup replace priority 4 tags ["x"] retries 2 → a
        score ql:q:q-scheduled a → 50
        pop 31 q w1 1 | jid → {}
        get 32 a | klass data priority tags retries → L "2" 4 ["x"] 2
        EXISTS ql:j:b → :0
        pop 50 q w1 1 | jid → a
        -- Once it has started, the next put is a job of its own.
        put 51 me q c K 3 30 key u dup replace → c
        states c → depends
        complete 52 a w1 q {}
        score ql:q:q-scheduled c → 81

        == C5: a delayed first put and merge are a fixed window
        put 1 me q a K 1 30 key u dup merge → a
        put 15 me q b K 2 30 key u dup merge → a
        put 29 me q c K 3 30 key u dup merge → a
        pop 30 q w1 1 | jid → {}
        pop 31 q w1 1 | jid → a
        HGET ql:j:a data → [1,2,3]
        put 32 me q d K 4 30 key u dup merge → d

        == A job whose name ends in a large number is split
        put 1 me q order~1700000000000000000 K 1 0 key k dup merge retries 0; put 2 me q x K 2 0 key k dup merge
        pop 3 q w 1; retry 4 order~1700000000000000000 q w
        pop 5 q w 9 | jid → order~1700000000000000000~1

        == A job of a lane does not come to depend on one behind it
        put 1 me q a K {} 0 key k; put 2 me q b K {} 0 key k; remember
        put 3 me q a K {} 0 depends ["b"] → error Put(): Arg "depends" closes a cycle: a b
        unchanged
        -- Outside of the lane, nothing waits for it.
        put 4 me q a K {} 0 key '' depends ["b"]
        pop 5 q w 9 | jid → b

        == A completed job goes behind the job of its lane on which it comes to depend
        put 1 me q a K {} 0 key k; put 2 me q b K {} 0 key k; put 3 me q c K {} 0 key k; pop 4 q w 9
        complete 5 a w q {} next q depends ["b"]
        pop 6 q w 9 | jid → b
        complete 7 b w q {}
        pop 6 q w 9 | jid → c
        complete 7 c w q {}
        pop 6 q w 9 | jid → a
        complete 7 a w q {}
        pop 8 q w 9 | jid → {}

        == A key of another type does not stop the jobs of a lane
        put 1 me q a K {} 0 key k; put 1 me q b K {} 0 key l; pop 2 q w 2; fail 3 a w g m; fail 3 b w g m
        SET ql:k:q/l x
        guard.requeue 4 {} '' a '' '' b '' '' → done '' waiting q · done '' waiting q
        EXISTS ql:f:g → :0
        pop 5 q w 9 | jid → b a
        FLUSHALL; put 1 me q a K {} 0 key k; put 2 me q b K {} 0 key k; pop 3 q w 9; SET ql:j:a-dependents x
        complete 4 a w q {}
        pop 5 q w 9 | jid → b

        == Payloads of another type leave a failed job in its list
        put 1 me q a K 1 0 key k dup merge; pop 2 q w 9; fail 3 a w g m; put 4 me q b K {} 0; SET ql:j:a-payloads x
        remember
        guard.requeue 5 {} '' a '' '' → invalid failed:3:3:q ql:j:a-payloads is no zset
        unchanged

        == A job that joins a lane goes behind the one that runs
        put 1 me q x K {} 0 key k; put 2 me q a K {} 0 key k; put 3 me q b K {} 0 key k depends ["x"]; pop 4 q w 9
        fail 5 x w g m; pop 6 q w 9; unfail 7 q g 1
        -- While a runs, neither of the others does.
        pop 8 q w 9 | jid → {}
        complete 9 a w q {}
        pop 10 q w 9 | jid → x
        complete 11 x w q {}
        pop 10 q w 9 | jid → b
        complete 11 b w q {}

        == A job of a lane does not come to wait for itself by depends
        put 1 me q a K {} 0 key k; put 2 me q b K {} 0 key k; put 3 me q c K {} 0 key k
        depends 4 b on c → error Depends(): "on" closes a cycle: b c
        pop 5 q w 9 | jid → a
        complete 6 a w q {}
        pop 5 q w 9 | jid → b
        complete 6 b w q {}
        pop 5 q w 9 | jid → c
        complete 6 c w q {}

        == A pop does not make a job depend on itself behind entries without jobs
        put 1 me q a K {} 0 key k; pop 2 q w 1; put 3 me q b K {} 0 key k; put 4 me q c K {} 0 key k
        put 5 me q d K {} 0 key k; DEL ql:j:b ql:j:c; depends 6 d off c
        pop 7 q w 9 | jid → {}
        complete 8 a w q {}
        pop 9 q w 9 | jid → d

        == A replacing put closes no cycle
        -- A dependency on itself is none.
        put 1 me q a K {} 0 key k; put 2 me q b K {} 0 key k dup replace depends ["a"]
        pop 3 q w 9 | jid → a
        FLUSHALL; put 1 me q a K {} 0 key k; put 2 me q c K {} 0 depends ["a"]; remember
        put 3 me q b K {} 0 key k dup replace depends ["c"] → error Put(): Arg "depends" closes a cycle: a c
        guard.put 3 {} 11 q b K {} 0 key k dup replace depends ["c"] → cycle '' a c
        guard.put 3 {} 11 q b K {} 0 key k dup replace depends ["a"] → cycle '' a
        unchanged

        == A key of another type refuses a call before lanes change
        put 1 me q a K {} 0 key k; put 2 me q b K {} 0 key k; put 3 me q c K {} 0; pop 4 q w 1; SET ql:j:a-history x
        complete 5 a w q {} next p key l → error of Redis
        DEL ql:j:a-history; SET ql:k:p/l x
        complete 5 a w q {} next p key l → error of Redis
        DEL ql:k:p/l; SET ql:j:c-dependents x
        complete 5 a w q {} next p key l depends ["c"] → error of Redis
        DEL ql:j:c-dependents; SET ql:j:b-history x
        put 5 me q b K {} 0 key l → error of Redis
        DEL ql:j:b-history; SET ql:k:q/l x
        put 5 me q b K {} 0 key l → error of Redis

        == Payloads of another type do not stop an unfail half way
        put 1 me q a K 1 0 key k dup merge; put 1 me q b K 1 0; pop 2 q w 9; fail 3 a w g m; fail 3 b w g m
        SET ql:j:a-payloads x
        unfail 4 q g 9 → :2
        EXISTS ql:f:g → :0
        pop 5 q w 9 | jid → b a
    "#]]);
}

#[test]
fn c5_a_uniqueness_window_outlives_completion_and_failure_and_ends_with_cancel() {
    let mut core = Core::new();
    for (end, within, after) in [
        ("complete 4 a w1 q {}", "a", "d"),
        ("fail 4 a w1 G M", "a", "d"),
        ("cancel 4 a", "c", "c"),
    ] {
        core.flush();
        core.ok("put 1 me q a K {} 0 key u dup skip ttl 100");
        assert_eq!(core.ok("put 2 me q b K {} 0 key u dup skip").text(), "a");
        core.all(&format!("pop 3 q w1 1; {end}"));
        let put = core.ok("put 5 me q c K {} 0 key u dup skip ttl 100");
        assert_eq!(put.text(), within, "{end}");
        // The window of a ends at 101.
        let put = core.ok("put 102 me q d K {} 0 key u dup skip ttl 100");
        assert_eq!(put.text(), after, "{end}");
    }
}

#[test]
fn c5_without_ttl_the_place_is_free_once_the_job_has_ended() {
    let mut core = Core::new();
    for end in ["complete 4 a w1 q {}", "fail 4 a w1 G M", "cancel 4 a"] {
        core.flush();
        core.all("put 1 me q a K {} 0 key u dup skip; pop 2 q w1 1");
        assert_eq!(core.ok("put 3 me q b K {} 0 key u dup skip").text(), "a");
        core.ok(end);
        let put = core.ok("put 5 me q c K {} 0 key u dup skip");
        assert_eq!((put.text(), &*core.state("c")), ("c", "waiting"), "{end}");
    }
}

#[test]
fn a_key_of_another_type_refuses_a_call_before_slots_and_dependents_change() {
    let mut core = Core::new();
    let running = r#"throttle.set 1 t 1; put 1 me q b K {} 0 throttles ["t"]"#;
    for (start, key, line) in [
        (
            format!("{running} key k; pop 2 q w 9"),
            "ql:k:q/k",
            "put 5 me q b K {} 0",
        ),
        (
            format!("{running}; pop 2 q w 9"),
            "ql:k:q/l",
            "put 5 me q b K {} 0 key l",
        ),
        (
            r#"put 1 me q a K {} 0; put 1 me q b K {} 0 depends ["a"]; put 1 me q c K {} 0"#
                .to_owned(),
            "ql:j:b-dependencies",
            "depends 5 b on c",
        ),
    ] {
        again_after(&mut core, &start);
        core.redis(&format!("SET {key} x"));
        let before = core.dump();
        core.refused(line);
        assert_eq!(core.dump(), before, "{key}: {line}");
    }
}

#[test]
fn any_number_of_jobs_can_join_a_lane_before_the_same_job() {
    let names: Vec<String> = (0..60).map(|n| format!("z{n:02}")).collect();
    let mut core = after("put 1 me q a K {} 0 key k");
    core.many(names.iter().map(|jid| format!("put 2 me p {jid} K {{}} 0")));
    core.ok(&format!(
        "put 3 me q last K {{}} 0 key k depends {}",
        json!(names)
    ));
    core.many(
        names
            .iter()
            .map(|jid| format!("put 4 me q {jid} K {{}} 0 key k")),
    );
    let mut order = Vec::new();
    for now in 5.. {
        let jids = core.jids(&format!("pop {now} q w 9"));
        let [jid] = &jids[..] else {
            assert!(jids.is_empty(), "{jids:?}");
            break;
        };
        core.ok(&format!("complete {now} {jid} w q {{}}"));
        order.push(jid.clone());
    }
    assert_eq!(order[0], "a");
    assert_eq!(order[1..61], names);
    assert_eq!(order[61..], ["last"]);
}

#[test]
fn a_put_that_another_job_takes_heals_the_lane_first() {
    let mut core = Core::new();
    for put in [
        "put 5 me q c K 3 0 key k dup merge",
        "put 5 me q c K 3 0 key k dup skip",
        "put 5 me q c K 3 0 key k dup replace",
        "put 5 me q b K 3 0",
    ] {
        again_after(
            &mut core,
            "put 1 me q a K 1 0 key k dup merge; pop 2 q w 1; put 3 me q b K 2 0 key k dup merge",
        );
        core.beside(FOREIGN).ok("fail 4 a w group message {}");
        assert!(core.jids("pop 4 q w 9").is_empty());
        core.ok(put);
        assert_eq!(core.jids("pop 6 q w 9"), ["b"], "{put}");
    }
}

/// The maximum of a throttle, and whether it is set.
fn maximum(core: &mut Core, id: &str) -> (i64, bool) {
    let throttle = core.json(&format!("throttle.get 9 {id}"));
    (throttle["maximum"].as_i64().unwrap(), throttle["ttl"] == -1)
}

#[test]
fn defaults_give_a_throttle_that_has_none_a_maximum() {
    let put = |n: u32, c: &str| format!(r#"put 2 me q {c}{n} K {{"c":"{c}"}} 0"#);
    let mut core = after(r#"config.set 1 q-defaults {"throttles":["c:{data.c}=3","a=b="]}"#);
    for n in 0..6 {
        core.ok(&put(n, "x"));
    }
    assert_eq!(maximum(&mut core, "c:x"), (3, true));
    assert_eq!(maximum(&mut core, "a=b"), (0, false));
    assert_eq!(core.jids("pop 3 q w 9").len(), 3);
    assert_eq!(core.ok("jobs 3 throttled q 0 9").list().len(), 3);
    // Each throttle has its own; what the data has after a `=` is part of the id.
    core.ok(&put(0, "y=7"));
    assert_eq!(maximum(&mut core, "c:y=7"), (3, true));
    // A maximum that is set wins, until it is deleted.
    core.ok("throttle.set 4 c:x 1");
    core.ok(&put(7, "x"));
    assert_eq!(maximum(&mut core, "c:x"), (1, true));
    core.ok("throttle.delete 4 c:x");
    core.ok(&put(8, "x"));
    assert_eq!(maximum(&mut core, "c:x"), (3, true));
    // In the option of a put, all of a member is the id.
    core.ok(r#"put 5 me q own K {} 0 throttles ["z=2"]"#);
    assert_eq!(maximum(&mut core, "z=2"), (0, false));
    // No maximum where nothing is put, or where the key cannot be one.
    core.redis("SET ql:th:c:w x");
    core.ok(&put(1, "w"));
    assert_eq!(core.redis("GET ql:th:c:w"), Reply::Text("x".into()));
}

#[test]
fn a_maximum_of_the_defaults_costs_a_put_no_command_once_it_is_set() {
    let before =
        r#"put 0 me q x K {} 0; throttle.set 1 t 9; config.set 1 q-defaults {"throttles":["#;
    let plain = format!(r#"{before}"t"]}}"#);
    let given = format!(r#"{before}"t=3"]}}"#);
    costs_more((&plain, PUT.1), (&given, PUT.1), 0);
}

#[test]
fn a_pop_returns_work_behind_due_jobs_that_are_held() {
    let mut core = after(r#"throttle.set 1 t 1; put 1 me q h K {} 0 throttles ["t"]; pop 2 q w 1"#);
    core.many((0..30).map(|n| format!(r#"put 3 me q a{n} K {{}} 5 throttles ["t"]"#)));
    core.ok("put 3 me q free K {} 6");
    assert_eq!(core.jids("pop 11 q w 1"), ["free"]);
    // Runs of templates that are skipped.
    let mut core = after("put 1 me q h K {} 0 key k");
    core.many((0..3).map(|n| format!("recur 2 q r{n} K {{}} interval 100 0 key k dup skip")));
    core.ok("recur 2 q s K {} interval 100 1");
    assert_eq!(core.jids("pop 3 q w 1"), ["h"]);
    assert_eq!(core.jids("pop 4 q w 1"), ["s-1"]);
}

#[test]
fn a_pop_holds_no_more_jobs_than_max_pop_scan() {
    let mut core = after("config.set 1 max-pop-scan 10; throttle.set 1 x -1");
    core.many((0..50).map(|n| format!(r#"put 2 me q j{n:02} K {{}} 0 lock l{n}"#)));
    core.many((0..50).map(|n| format!("throttle.set 3 lock:l{n} -1")));
    assert!(core.jids("pop 4 q w 50").is_empty());
    let held = core.redis("ZCARD ql:q:q-throttled");
    assert_eq!(held.int(), 10);
}

#[test]
fn defaults_and_maxima() {
    Core::new().session(expect![[r#"
        == A window ends with its job also if that has another key now
        put 1 me q a K {} 0 key k dup skip ttl 100; put 2 me q a K {} 0 key other
        put 3 me q b K {} 0 key k dup skip
        pop 4 q w 9 | jid → a b
        FLUSHALL; put 1 me q a K {} 0 key k; put 2 me q a K {} 0 key k dup skip ttl 100
        -- it created no job
        EXISTS ql:u:q/k → :0

        == A held job of a very large priority gets another
        throttle.set 1 t -1; put 1 me q a K {} 0 throttles ["t"] priority 1e18
        put 2 me q b K {} 0 throttles ["t"] priority 5; priority 3 a 7; throttle.set 3 t 1
        pop 4 q w 1 | jid → a

        == A queue has no limit below 0
        queue.throttle.set 1 q -1 → error Throttle(): Arg "maximum" below 0, which pause is for: -1
        config.set 1 q-max-concurrency 1.7
        queue.throttle.get 1 q | maximum → 1

        == A pop gives a throttle the maximum of the defaults
        put 1 me q a K {} 0; put 1 me q b K {} 0; put 1 me q c K {} 0; config.set 2 q-defaults {"throttles":["t=1"]}
        pop 3 q w 9 | jid → c
        throttle.get 9 t | maximum ttl → 1 -1
        pop 4 q w 9 → {}
        FLUSHALL; put 1 me q a K {} 0; put 1 me q b K {} 0; put 1 me q c K {} 0; config.set 2 q-defaults {"throttles":["t=1"]}
        popByJid 3 q b w | jid → b
        throttle.get 9 t | maximum ttl → 1 -1
        pop 4 q w 9 → {}

        == The names of the lists of a throttle are no throttles
        throttle.set 1 x 1; config.set 1 p-defaults {"throttles":["{data.t}-locks"]}; remember
        throttle.set 1 x-pending 1 → error Throttle(): Arg "id" ends in -locks or -pending: x-pending
        throttle.set 1 x-locks 1 → error Throttle(): Arg "id" ends in -locks or -pending: x-locks
        throttle.delete 1 x-locks → error Throttle(): Arg "id" ends in -locks or -pending: x-locks
        put 1 me q a K {} 0 throttles ["x-pending"] → error Put(): Arg "throttles" has an id that ends in -locks or -pending
        guard.put 1 {} 7 q a K {} 0 throttles ["x-pending"] → error Guard(): Arg "throttles" has an id that ends in -locks or -pending
        -- A default is left out.
        unchanged; put 1 me p a K {"t":"x"} 0
        pop 2 p w 9 | jid → a
        -- Locks have no setting, so any text will do.
        put 3 me q b K {} 0 lock x; put 3 me q c K {} 0 lock x-pending

        == A put that cannot be held is refused whole and a pop goes on
        throttle.set 1 x 1; put 2 me q a K {} 0 throttles ["x"]; put 3 me q b K {} 0 throttles ["x"]
        put 3 me q c K {} 0; SET ql:th:x-pending text
        pop 4 q w 9 | jid → a c
        remember
        put 4 me q d K {} 0 throttles ["x"] → error of Redis
        guard.put 4 {} 7 q d K {} 0 throttles ["x"]; unchanged; complete 5 a w q {}
        pop 6 q w 9 | jid → b

        == Defaults hold for scores and false is a value
        config.set 1 q-defaults {"key":"k","dup":"merge","score":5,"backoff":"fixed:9"}; put 2 me q a K 1 0
        put 3 me q b K 2 0 score 4
        HGET ql:j:a data → [2,1]
        put 4 me q c K 1 0 key other backoff ''
        pop 5 q w 9 | jid backoff → a fixed:9 · c -
        config.set 6 r-defaults {"lock":"x{data.f}"}; put 6 me r d K {"f":false} 0
        get 7 d | throttles → ["lock:xfalse"]

        == Places that a foreign hand changed do not stop a lane
        put 1 me q u K {} 0 key k; ZADD ql:k:q/k inf u; put 2 me q n1 K {} 0 key k; put 3 me q n2 K {} 0 key k
        pop 4 q w 9 | jid → u
        complete 4 u w q {}
        pop 5 q w 9 | jid → n1
        complete 5 n1 w q {}
        pop 6 q w 9 | jid → n2
        FLUSHALL; put 1 me q u K {} 0 key k; ZADD ql:k:q/k -inf u; put 2 me q n1 K {} 0 key k; put 3 me q n2 K {} 0 key k
        pop 4 q w 9 | jid → u
        complete 4 u w q {}
        pop 5 q w 9 | jid → n1
        complete 5 n1 w q {}
        pop 6 q w 9 | jid → n2
        FLUSHALL; put 1 me q u K {} 0 key k; ZADD ql:k:q/k 1e18 u; put 2 me q n1 K {} 0 key k; put 3 me q n2 K {} 0 key k
        pop 4 q w 9 | jid → u
        complete 4 u w q {}
        pop 5 q w 9 | jid → n1
        complete 5 n1 w q {}
        pop 6 q w 9 | jid → n2
        FLUSHALL; put 1 me q a K {} 0 key k; put 2 me q b K {} 0 key k; ZADD ql:k:q/k -1 b
        pop 3 q w 9 | jid → a
        complete 4 a w q {}
        pop 5 q w 9 | jid → b

        == A payload without a finite score can be read
        put 1 me q m K 1 0 key k dup merge; put 2 me q n K 2 0 key k dup merge; ZADD ql:j:m-payloads inf 2
        pop 3 q w 9 | jid → m
        get 4 m | payloads → [["1",1],["2",1.7976931348623157e+308]]
    "#]]);
}

#[test]
fn a_payload_with_a_nul_byte_leaves_the_data_json() {
    let mut core = after("put 1 me q a K [1] 0 key k dup merge");
    let put = b"put 2 me q b K [2]\0x 0 key k dup merge";
    let words: Vec<&[u8]> = put.split(|byte| *byte == b' ').collect();
    core.call(&words).unwrap();
    assert_eq!(core.data("a"), "[[1],[2]]");
}

#[test]
fn a_pop_makes_a_bounded_number_of_children_that_cannot_run() {
    let mut core = Core::new();
    for (options, interval) in [("key k", "1"), ("lock l", "1"), ("key k", "0.04")] {
        again_after(
            &mut core,
            &format!("put 1 me q h K {{}} 0 {options}; pop 2 q w 1"),
        );
        core.ok(&format!(
            "recur 3 q r K {{}} interval {interval} 0 {options}"
        ));
        assert!(core.jids("pop 30003 q w 1").is_empty());
        let children = core
            .dump()
            .0
            .keys()
            .filter(|key| key.starts_with("ql:j:r-") && key.ends_with("-history"))
            .count();
        assert!(
            (20..1100).contains(&children),
            "{options} {interval}: {children}"
        );
    }
    let mut core = after("put 1 me q h K {} 0 key k; pop 2 q w 1");
    core.many((0..20).map(|n| format!("recur 3 q r{n} K {{}} interval 1 0 key k dup skip")));
    let seen = cost(&mut core, "pop 10003 q w 1");
    assert!(seen < 20_000, "{seen} commands");
    // Numbers in use are looked at once, also where another job takes each child.
    let mut core = after("put 1 me q h K {} 0 key k; pop 2 q w 1");
    core.many((1..900).map(|n| format!("put 2 me p r-{n} K {{}} 0")));
    core.ok("recur 3 q r K {} interval 1 0 key k dup skip");
    let seen = cost(&mut core, "pop 503 q w 1");
    assert!(seen < 10_000, "{seen} commands");
}

#[test]
fn a_job_joins_a_long_lane_whose_last_job_waits_for_it_in_a_bounded_number_of_commands() {
    let mut core = after("put 1 me p x K {} 0");
    core.many((0..400).map(|n| format!("put 2 me q b{n} K {{}} 0 key k")));
    core.ok(r#"put 3 me q z K {} 0 key k depends ["x"]"#);
    let seen = cost(&mut core, "put 4 me q x K {} 0 key k");
    assert!(seen < 5000, "{seen} commands");
    let mut order = Vec::new();
    while let [jid] = &core.jids("pop 6 q w 1")[..] {
        core.ok(&format!("complete 7 {jid} w q {{}}"));
        order.push(jid.clone());
    }
    assert_eq!(order.len(), 402);
    assert_eq!(order[400..], ["x", "z"]);
}

#[test]
fn a_merge_job_takes_16_mib_of_data() {
    let mut core = Core::new();
    let put = |core: &mut Core, jid: &str, payload: &str, size: usize| {
        let data = format!("\"{payload}{}\"", "x".repeat(size));
        let words = [
            "put", "1", "me", "q", jid, "K", &data, "0", "key", "k", "dup", "merge",
        ];
        let words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        core.call(&words).unwrap().text().to_owned()
    };
    const MIB: usize = 1 << 20;
    assert_eq!(put(&mut core, "a", "1", 9 * MIB), "a");
    assert_eq!(put(&mut core, "b", "2", 6 * MIB), "a");
    // The same payload again needs no room.
    assert_eq!(put(&mut core, "c", "2", 6 * MIB), "a");
    assert_eq!(put(&mut core, "c", "3", 2 * MIB), "c");
    assert_eq!(put(&mut core, "d", "4", 2 * MIB), "c");
    // A job that is put alone may be longer.
    assert_eq!(put(&mut core, "e", "5", 17 * MIB), "e");
    // A job that runs again does not take what would be too long.
    core.all("pop 2 q w 1; retry 3 a q w 0");
    let count =
        |core: &mut Core, jid: &str| core.redis(&format!("ZCARD ql:j:{jid}-payloads")).int();
    assert_eq!((count(&mut core, "a"), count(&mut core, "c")), (2, 2));
    // But what has room.
    core.all("pop 4 q w 1; complete 5 a w q {}; pop 6 q w 1");
    assert_eq!(put(&mut core, "f", "6", MIB), "f");
    assert_eq!(put(&mut core, "g", "7", MIB), "f");
}
