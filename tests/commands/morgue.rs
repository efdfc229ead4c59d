//! `qless morgue`

use expect_test::expect;

use crate::support::redis::Redis;

/// `a`, `b` and `c` have used up their retries in `mail`, `d` failed there otherwise, `e` is dead in
/// `images`. `x` waits, `y` is scheduled and `z` runs after a retry; `w` waits and has used none.
fn dead() -> Redis {
    let redis = Redis::start();
    for (now, queue, jid) in [
        (1, "mail", "b"),
        (2, "mail", "a"),
        (3, "mail", "c"),
        (4, "images", "e"),
    ] {
        redis.ok(now, &format!("put {queue} K --jid {jid} --retries 0"));
        redis.ok(now, &format!("pop {queue} --worker w1"));
        redis.ok(now, &format!("retry {jid} --worker w1"));
    }
    for (now, line) in [
        (5, "put mail K --jid d"),
        (5, "pop mail --worker w1"),
        (5, "fail d --group boom --message m --worker w1"),
        (6, "put mail K --jid y"),
        (6, "pop mail --worker w1"),
        (6, "retry y --worker w1 --delay 1h"),
        (7, "put mail K --jid z"),
        (7, "pop mail --worker w1"),
        (7, "retry z --worker w1"),
        (7, "pop mail --worker w1"),
        (8, "put mail K --jid x"),
        (8, "pop mail --worker w1"),
        (8, "retry x --worker w1"),
        (9, "put mail K --jid w"),
    ] {
        redis.ok(now, line);
    }
    redis
}

#[test]
fn the_dead_jobs_of_a_queue_are_listed() {
    let redis = dead();
    redis.session(expect![[r#"
        20 $ qless morgue mail ls
        c	K	failed	mail	0	0/0	1970-01-01T00:00:03.000Z	failed-retries-mail: Job exhausted retries in queue "mail"
        a	K	failed	mail	0	0/0	1970-01-01T00:00:02.000Z	failed-retries-mail: Job exhausted retries in queue "mail"
        b	K	failed	mail	0	0/0	1970-01-01T00:00:01.000Z	failed-retries-mail: Job exhausted retries in queue "mail"
        20 $ qless morgue mail ls --sort jid --columns jid,age -o table
        JID  AGE
        a    18s
        b    19s
        c    17s
        20 $ qless morgue mail ls --group boom -o jid
        d
        20 $ qless put quiet K &>/dev/null
        20 $ qless morgue quiet ls -o json | jq -c
        {"kind":"jobs","v":1,"total":0,"offset":0,"items":[],"missing":[]}
        20 $ qless morgue nope ls
        --- stderr
        error: queue `nope` does not exist
        --- exit 4
        20 $ qless morgue mail --group bom ls
        --- stderr
        error: group `bom` does not exist
        hint: did you mean `boom`?
        --- exit 4
    "#]]);
}

#[test]
fn dead_jobs_are_in_the_morgue_whatever_their_group() {
    let redis = dead();
    for (now, jid) in [(10, "g"), (11, "h"), (12, "i")] {
        let put = format!("put mail K --jid {jid} --retries 0 --priority 9");
        redis.ok(now, &put);
        redis.ok(now, "pop mail --worker w1");
    }
    // The holder of `i` fails it: no retry was used up.
    redis.session(expect![[r#"
        10 $ qless retry g --worker w1 --fail-group upstream --fail-message m &>/dev/null
        11 $ qless retry h --worker w1 --fail-group upstream --fail-message m &>/dev/null
        12 $ qless fail i --group upstream --message m --worker w1 &>/dev/null
        20 $ qless morgue mail ls --columns jid,remaining,detail
        c	0/0	failed-retries-mail: Job exhausted retries in queue "mail"
        a	0/0	failed-retries-mail: Job exhausted retries in queue "mail"
        b	0/0	failed-retries-mail: Job exhausted retries in queue "mail"
        h	0/0	upstream: m
        g	0/0	upstream: m
        20 $ qless morgue mail ls --group upstream -o jid
        i
        h
        g
        20 $ qless morgue mail requeue i &>/dev/null
        --- exit 5
        20 $ qless morgue mail requeue g &>/dev/null
        20 $ qless morgue mail delete --all --yes -o jid
        b
        a
        c
        h
        --- stderr
        4 cancelled
        21 $ qless morgue mail ls -o json | jq -c
        {"kind":"jobs","v":1,"total":0,"offset":0,"items":[],"missing":[]}
    "#]]);
    redis.must_be_clean();
}

#[test]
fn used_up_retries_are_shown_as_0_and_in_documents_as_on_the_wire() {
    let redis = dead();
    let text = redis.ok(20, "get a");
    assert!(text.contains("0 of 0 remaining"), "{text}");
    redis.session(expect![[r#"
        20 $ qless get a -o json | jq -c .remaining
        -1
        20 $ qless put one K --jid o --retries 0 &>/dev/null
        20 $ qless pop one --worker w1 &>/dev/null
        21 $ qless retry o --worker w1 -o table
        JID  REMAINING
        o    0, failed
    "#]]);
}

#[test]
fn k10_dead_jobs_are_requeued_one_by_one_or_all() {
    let redis = dead();
    redis.session(expect![[r#"
        20 $ qless morgue mail requeue a
        20 $ qless jobs --queue mail --state waiting --columns jid,remaining
        x	4/5
        w	5/5
        a	0/0
        20 $ qless morgue mail requeue --all
        --- stderr
        error: cannot ask whether to retry 2 failed jobs on unix://DIR/s; nothing was changed
        hint: add `--yes`
        --- exit 9
        20 $ qless morgue mail requeue --all -n
        --- stderr
        Retry 2 failed jobs on unix://DIR/s

          mail	failed	2	1970-01-01T00:00:01.000Z	1970-01-01T00:00:03.000Z

          each goes back to its own queue with 0 fresh retries
        would retry 2
        20 $ qless morgue mail requeue --all --yes -o jid
        b
        c
        --- stderr
        2 retried
        21 $ qless morgue mail requeue --all --yes
        --- stderr
        no jobs to retry
        21 $ qless failed
        boom	1	1970-01-01T00:00:05.000Z	mail	m
        failed-retries-images	1	1970-01-01T00:00:04.000Z	images	Job exhausted retries in queue "images"
    "#]]);
    redis.must_be_clean();
}

#[test]
fn k10_the_payloads_of_a_requeued_job_join_the_job_that_waits_in_its_lane() {
    Redis::start().session(expect![[r#"
        1 $ qless put mail K 1 --jid a --key c --merge --retries 0 &>/dev/null
        2 $ qless pop mail --worker w1 &>/dev/null
        3 $ qless retry a --worker w1 &>/dev/null
        4 $ qless put mail K 2 --jid b --key c --merge --retries 0 &>/dev/null
        5 $ qless morgue mail requeue --all --yes -o json | jq -c .done
        1
        --- stderr
        1 retried
        6 $ qless get b --data
        [1,2]
        --- no newline
        6 $ qless failed
        6 $ qless get a &>/dev/null
        --- exit 4
    "#]]);
}

#[test]
fn k10_dead_jobs_are_deleted_one_by_one_or_all() {
    let redis = dead();
    redis.session(expect![[r#"
        20 $ qless morgue mail delete a
        a
        20 $ qless morgue mail --group boom delete --all --yes
        d
        --- stderr
        1 cancelled
        20 $ qless morgue mail delete --all --yes -o ndjson
        {"jid":"b","result":"done","code":"ok","detail":null,"queue":"mail","state_before":"failed","state_after":null}
        {"jid":"c","result":"done","code":"ok","detail":null,"queue":"mail","state_before":"failed","state_after":null}
        {"summary":{"action":"cancel","dry_run":false,"context":null,"matched":2,"done":2,"skipped":0,"failed":0,"remaining":0,"elapsed_s":0}}
        --- stderr
        2 cancelled
        21 $ qless failed
        failed-retries-images	1	1970-01-01T00:00:04.000Z	images	Job exhausted retries in queue "images"
    "#]]);
    redis.must_be_clean();
}

#[test]
fn dead_jobs_with_dependents_are_deleted_only_if_these_are_dealt_with() {
    let redis = dead();
    // The morgue of a forgotten queue is still there.
    redis.session(expect![[r#"
        20 $ qless put mail K --jid n --depends a &>/dev/null
        20 $ qless morgue mail delete a
        --- stderr
        error: cannot cancel `a`: `n` waits for it
        hint: `--dependents cancel` also cancels the jobs that wait for it, `--dependents release` lets them run
        --- exit 5
        20 $ qless morgue mail delete a --dependents release --yes
        a
        21 $ qless jobs --queue mail --state waiting -o jid
        x
        w
        n
        20 $ qless forget queue images --yes &>/dev/null
        20 $ qless morgue images requeue --all --yes -o jid
        e
        --- stderr
        1 retried
    "#]]);
}

#[test]
fn only_jobs_of_this_morgue_are_taken() {
    dead().session(expect![[r#"
        20 $ qless morgue mail requeue d
        --- stderr
        error: cannot retry `d`: its retries are not used up in `mail`
        hint: retry it all the same: `qless retry d`
        --- exit 5
        20 $ qless morgue mail requeue e
        --- stderr
        error: cannot retry `e`: it failed in queue `images`, not in `mail`
        hint: retry it all the same: `qless retry e`
        --- exit 5
        20 $ qless morgue mail --group boom delete e
        --- stderr
        error: cannot cancel `e`: it failed in queue `images`, not in `mail`
        hint: cancel it all the same: `qless cancel e`
        --- exit 5
        20 $ qless morgue mail requeue w
        --- stderr
        error: cannot retry `w`: its state is `waiting`, not `failed`
        --- exit 5
        20 $ qless morgue mail requeue nope
        --- stderr
        error: job `nope` does not exist
        --- exit 4
        20 $ printf 'a\nd\n' | qless morgue mail delete -
        a
        --- stderr
        1 cancelled, 1 skipped
          skipped  1  its retries are not used up in `mail`: d
    "#]]);
}

#[test]
fn k11_only_retrying_jobs_are_buried() {
    let redis = dead();
    redis.session(expect![[r#"
        20 $ qless morgue mail bury --retrying
        --- stderr
        error: cannot ask whether to bury 2 jobs on unix://DIR/s; nothing was changed
        hint: add `--yes`
        --- exit 9
        20 $ qless morgue mail bury --retrying --yes -o ndjson
        {"jid":"x","result":"done","code":"ok","detail":null,"queue":"mail","state_before":"waiting","state_after":"failed"}
        {"jid":"y","result":"done","code":"ok","detail":null,"queue":"mail","state_before":"scheduled","state_after":"failed"}
        {"summary":{"action":"bury","dry_run":false,"context":null,"matched":2,"done":2,"skipped":0,"failed":0,"remaining":0,"elapsed_s":0}}
        --- stderr
        2 buried
        21 $ qless morgue mail ls --columns jid,remaining,detail
        y	4/5	failed-retries-mail: buried while it was retrying
        x	4/5	failed-retries-mail: buried while it was retrying
        c	0/0	failed-retries-mail: Job exhausted retries in queue "mail"
        a	0/0	failed-retries-mail: Job exhausted retries in queue "mail"
        b	0/0	failed-retries-mail: Job exhausted retries in queue "mail"
        21 $ qless jobs --queue mail --columns jid,state
        z	running
        w	waiting
        d	failed
        b	failed
        a	failed
        c	failed
        x	failed
        y	failed
    "#]]);
    redis.must_be_clean();
}

#[test]
fn k11_all_scheduled_jobs_are_promoted() {
    let redis = dead();
    redis.ok(20, "put mail K --jid v --delay 2h");
    redis.session(expect![[r#"
        20 $ qless promote --queue mail --yes -o jid
        y
        v
        --- stderr
        2 promoted
        21 $ qless jobs --queue mail --state waiting --columns jid,remaining
        x	4/5
        w	5/5
        y	4/5
        v	5/5
    "#]]);
}

#[test]
fn k11_only_retrying_jobs_are_dropped() {
    let redis = dead();
    redis.session(expect![[r#"
        20 $ qless morgue mail drop --retrying -n
        x
        y
        --- stderr
        Cancel 2 jobs on unix://DIR/s

          mail	scheduled	1	1970-01-01T00:00:06.000Z	1970-01-01T00:00:06.000Z
          mail	waiting	1	1970-01-01T00:00:08.000Z	1970-01-01T00:00:08.000Z
        would cancel 2
        20 $ qless morgue mail drop --retrying --yes
        x
        y
        --- stderr
        2 cancelled
        21 $ qless jobs --queue mail --columns jid,state
        z	running
        w	waiting
        d	failed
        b	failed
        a	failed
        c	failed
    "#]]);
    redis.must_be_clean();
}

#[test]
fn actions_refuse_what_they_do_not_take() {
    let redis = dead();
    for line in [
        "requeue",
        "delete --retrying --all",
        "requeue --all a",
        "bury",
        "drop",
        "bury a",
        "drop --retrying --message m",
        "ls a",
        "ls --dry-run",
        "requeue a --message m",
        "requeue a --dependents cancel",
    ] {
        let ran = redis.at(20).run(&format!("morgue mail {line}")).exits(2);
        assert!(ran.stderr().starts_with("error: "), "{line}");
    }
    redis.session(expect![[r#"
        20 $ qless morgue mail bury a
        --- stderr
        error: `bury` does not take jids
        --- exit 2
        20 $ qless morgue mail ls --read-only &>/dev/null
        20 $ qless morgue mail delete a --read-only &>/dev/null
        --- exit 9
    "#]]);
}
