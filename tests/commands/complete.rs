//! `qless complete`

use expect_test::expect;

use crate::support::redis::Redis;

/// `a` runs, held by `w1`, `b` waits, and `c` depends on `a`.
fn running() -> Redis {
    let redis = Redis::start();
    redis.ok(1, r#"put mail K '{"n":1.10,"l":[]}' --jid a"#);
    redis.ok(2, "put mail K --jid b");
    redis.ok(3, "put mail K --jid c --depends a");
    redis.ok(10, "pop mail --worker w1");
    redis
}

#[test]
fn the_new_state_is_printed_also_under_an_expired_lock() {
    running().session(expect![[r#"
        500 $ qless complete a --worker w1
        complete
        501 $ qless get a --data
        {"n":1.10,"l":[]}
        --- no newline
        501 $ qless get c --field state
        waiting
    "#]]);
}

#[test]
fn a_job_is_advanced_to_the_next_queue() {
    running().session(expect![[r#"
        11 $ qless complete a --worker w1 --next thumbs --depends nope
        --- stderr
        error: `nope` does not exist, so no job can depend on it
        --- exit 4
        11 $ qless complete a --worker w1 --next thumbs --depends a
        --- stderr
        error: `a` cannot depend on itself
        --- exit 5
        11 $ qless get a --field state
        running
        11 $ qless complete a --worker w1 --next thumbs --delay 5m --data '[2]' -o json | jq -c
        {"kind":"complete","v":1,"jid":"a","state":"scheduled","queue":"thumbs"}
        12 $ qless jobs --queue thumbs --columns jid,state,queue,detail
        a	scheduled	thumbs	1970-01-01T00:05:11.000Z
        12 $ qless get a --data
        [2]
        --- no newline
        13 $ qless pop mail --worker w1 &>/dev/null
        14 $ qless complete b --as-holder --next thumbs --depends a -o ndjson
        {"kind":"complete","v":1,"jid":"b","state":"depends","queue":"thumbs"}
    "#]]);
}

#[test]
fn only_the_holder_completes_a_job_and_not_in_a_dry_run() {
    running().session(expect![[r#"
        11 $ qless complete a --worker w2
        --- stderr
        error: cannot complete `a`: it is held by `w1`
        hint: `--as-holder` acts as the worker that holds the job
        --- exit 5
        11 $ qless complete a --worker w2 -o json
        --- stderr
        {"kind":"error","v":1,"code":"conflict","exit":5,"message":"cannot complete `a`: it is held by `w1`","hint":"`--as-holder` acts as the worker that holds the job","jid":"a"}
        --- exit 5
        11 $ qless complete a --worker w2 -n &>/dev/null
        --- exit 5
        11 $ qless complete b --worker w1
        --- stderr
        error: cannot complete `b`: its state is `waiting`, not `running`
        --- exit 5
        11 $ qless complete nope --worker w1
        --- stderr
        error: job `nope` does not exist
        --- exit 4
        11 $ qless complete a --worker w1 --delay 5s
        --- stderr
        error: `--delay` and `--at` need `--next`
        hint: a completed job does not run again
        --- exit 2
        11 $ qless complete a --worker w1 --depends b &>/dev/null
        --- exit 2
        11 $ qless complete a --worker w1 --as-holder &>/dev/null
        --- exit 2
        11 $ qless complete a --worker w1 --data '{' &>/dev/null
        --- exit 2
        11 $ qless complete a --worker w1 --rate 5/s
        --- stderr
        error: `--rate` needs several jobs
        --- exit 2
        11 $ qless complete a --worker w1 -n
        --- stderr
        would complete a
        11 $ qless complete a --worker w1 --next q -n
        --- stderr
        note: queue `q` is new
        would advance a to q
        12 $ qless get a --field state
        running
        12 $ qless complete a --as-holder -o raw
        complete
    "#]]);
}

#[test]
fn many_jobs_are_completed_and_each_keeps_its_data() {
    let redis = running();
    redis.session(expect![[r#"
        11 $ qless put mail K '{"big":9007199254740993}' --jid d &>/dev/null
        12 $ qless pop mail --count 2 --worker w1 &>/dev/null
        13 $ qless complete a b d --worker w1
        a	complete
        b	complete
        d	complete
        --- stderr
        3 completed
        14 $ qless get a --data
        {"n":1.10,"l":[]}
        --- no newline
        14 $ qless get d --data
        {"big":9007199254740993}
        --- no newline
    "#]]);
    redis.must_be_clean();
}

#[test]
fn each_job_of_many_has_its_own_outcome() {
    running().session(expect![[r#"
        11 $ qless pop mail --worker w2 &>/dev/null
        12 $ printf '# popped\na\n{"jid":"b"}\nc\nnope\n' | qless complete - --worker w1
        a	complete
        --- stderr
        1 completed, 2 skipped, 1 failed
          skipped  1  depends, not running: c
                   1  gone: nope
          failed   1  held by `w2`: b
        --- exit 3
        13 $ printf 'b\n' | qless complete - --worker w2 -o ndjson
        {"jid":"b","result":"done","code":"ok","detail":null,"queue":"mail","state_before":"running","state_after":"complete"}
        {"summary":{"action":"complete","dry_run":false,"context":null,"matched":1,"done":1,"skipped":0,"failed":0,"remaining":0,"elapsed_s":0}}
        --- stderr
        1 completed
        14 $ qless complete a b --worker w1
        --- stderr
        0 completed, 2 skipped
          skipped  2  complete, not running: a, b
    "#]]);
}

#[test]
fn many_jobs_are_advanced() {
    let redis = running();
    std::fs::write(redis.socket().with_file_name("jids"), "a\nb\n").unwrap();
    redis.session(expect![[r#"
        11 $ qless pop mail --worker w1 &>/dev/null
        12 $ qless complete @DIR/jids --worker w1 --next thumbs --dry-run
        --- stderr
        note: queue `thumbs` is new
        Complete 2 running jobs on unix://DIR/s

          mail	running	2	1970-01-01T00:00:10.000Z	1970-01-01T00:00:11.000Z

          each advances to `thumbs`
        would complete 2
        12 $ qless complete a b --worker w1 --next thumbs --depends a --delay 1m
        b	depends
        --- stderr
        1 completed, 1 failed
          failed   1  it cannot depend on itself: a
        --- exit 3
        13 $ qless complete @DIR/jids --worker w1 --next thumbs -o jid
        a
        --- stderr
        1 completed, 1 skipped
          skipped  1  depends, not running: b
    "#]]);
}
