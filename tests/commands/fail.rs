//! `qless fail`

use expect_test::expect;

use crate::support::redis::Redis;

fn running() -> Redis {
    let redis = Redis::start();
    for (now, jid) in [(1, "a"), (2, "b"), (3, "c")] {
        redis.ok(now, &format!("put mail K --jid {jid}"));
    }
    redis.ok(10, "pop mail --worker w1 --count 2");
    redis
}

#[test]
fn a_running_job_is_failed_on_behalf_of_its_holder() {
    running().session(expect![[r#"
        20 $ qless fail a --group hung --message 'no output' --worker w1
        21 $ qless failed --group hung
        a	K	failed	mail	0	5/5	1970-01-01T00:00:20.000Z	hung: no output
        22 $ qless fail b --group hung --message 'no output' --as-holder -o ndjson
        {"jid":"b","result":"done","code":"ok","detail":null,"queue":"mail","state_before":"running","state_after":"failed"}
        {"summary":{"action":"fail","dry_run":false,"context":null,"matched":1,"done":1,"skipped":0,"failed":0,"remaining":0,"elapsed_s":0}}
    "#]]);
}

#[test]
fn the_message_may_come_from_a_file_or_stdin() {
    let redis = running();
    std::fs::write(redis.socket().with_file_name("message"), "from a file").unwrap();
    redis.session(expect![[r#"
        20 $ printf 'a' | qless fail - --group g --message -
        --- stderr
        error: `-` can be given once: stdin cannot be both job ids and the message
        --- exit 2
        20 $ printf 'line one\nline two' | qless fail a --group g --message - --worker w1
        21 $ qless get a --field failure.message
        line one
        line two
        22 $ qless fail b --group g --message @DIR/message --worker w1 --data '[]'
        23 $ qless get b --field failure.message
        from a file
        23 $ qless get b --data
        []
        --- no newline
    "#]]);
}

#[test]
fn failing_a_job_that_is_not_running_or_held_by_another_is_a_conflict() {
    running().session(expect![[r#"
        20 $ qless fail a --worker w2 --group g --message m
        --- stderr
        error: cannot fail `a`: it is held by `w1`
        hint: `--as-holder` acts as the worker that holds the job
        --- exit 5
        20 $ qless fail c --worker w1 --group g --message m
        --- stderr
        error: cannot fail `c`: its state is `waiting`, not `running`
        hint: fail it without a worker: `qless bury --group=g --message=m c`
        --- exit 5
        20 $ qless fail nope --worker w1 --group g --message m
        --- stderr
        error: job `nope` does not exist
        --- exit 4
        20 $ qless fail nope --worker w1 -o json --group g --message m
        --- stderr
        {"kind":"error","v":1,"code":"not_found","exit":4,"message":"job `nope` does not exist","hint":null,"jid":"nope"}
        --- exit 4
        20 $ qless fail a --message m
        --- stderr
        error: `--group` is missing
        hint: usage: `qless fail --group <G> --message <M> <JID>...`
        --- exit 2
        20 $ qless fail a --group '' --message m
        --- stderr
        error: `--group` is empty
        --- exit 2
    "#]]);
}

#[test]
fn several_jobs_are_failed_one_by_one_but_not_those_of_another_holder() {
    running().session(expect![[r#"
        20 $ qless fail a c nope --group g --message m --worker w1 -o ndjson
        {"jid":"c","result":"skipped","code":"state_changed","detail":"it is waiting, not running","queue":"mail","state_before":"waiting","state_after":null}
        {"jid":"nope","result":"skipped","code":"gone","detail":"it does not exist","queue":null,"state_before":null,"state_after":null}
        {"jid":"a","result":"done","code":"ok","detail":null,"queue":"mail","state_before":"running","state_after":"failed"}
        {"summary":{"action":"fail","dry_run":false,"context":null,"matched":3,"done":1,"skipped":2,"failed":0,"remaining":0,"elapsed_s":0}}
        --- stderr
        1 marked failed, 2 skipped
          skipped  1  gone: nope
                   1  waiting, not running: c
        21 $ qless fail a c --group g --message m --worker w1
        --- stderr
        0 marked failed, 2 skipped
          skipped  1  failed, not running: a
                   1  waiting, not running: c
        --- exit 5
        22 $ qless pop mail --worker w2 &>/dev/null
        23 $ qless fail b c --group g --message m --worker w1
        --- stderr
        1 marked failed, 1 failed
          failed   1  held by `w2`: c
        --- exit 3
        23 $ qless fail c c --group g --message m --worker w1 -n &>/dev/null
        --- exit 5
    "#]]);
}

#[test]
fn a_selector_for_fail_means_running_jobs() {
    let redis = Redis::start();
    for at in 0..4 {
        redis.ok(1, &format!("put mail K --jid j{at}"));
    }
    redis.session(expect![[r#"
        2 $ qless pop mail --count 2 --worker mx-1 &>/dev/null
        2 $ qless pop mail --worker mx-2 &>/dev/null
        3 $ qless fail --queue mail --group 'lost host' --message gone
        --- stderr
        0 marked failed, 3 failed
          failed   2  held by `mx-1`: j2, j3
                   1  held by `mx-2`: j1
        --- exit 5
        3 $ qless fail --queue mail --group 'lost host' --message gone --worker mx-2 --yes
        --- stderr
        1 marked failed, 2 failed
          failed   2  held by `mx-1`: j2, j3
        --- exit 3
        3 $ qless fail --queue mail --group 'lost host' --message gone --held-by 'mx-*' --as-holder --dry-run -o jid
        j2
        j3
        --- stderr
        Fail 2 running jobs on unix://DIR/s

          mail	running	2	1970-01-01T00:00:02.000Z	1970-01-01T00:00:02.000Z

          their group becomes `lost host`
        would fail 2
        3 $ qless fail --queue mail --group 'lost host' --message gone --held-by 'mx-*' --as-holder --yes -o jid
        j2
        j3
        --- stderr
        2 marked failed
        4 $ qless failed --time-format unix
        lost host	3	3	mail	gone
        4 $ qless fail --queue mail --group 'lost host' --message gone --state waiting --yes
        --- stderr
        0 marked failed, 1 skipped
          skipped  1  waiting, not running: j0
        4 $ qless fail j3 --queue mail --group g --message m
        --- stderr
        error: give either jids or flags that select jobs, not both
        --- exit 2
    "#]]);
}
