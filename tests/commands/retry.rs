//! `qless retry`

use expect_test::expect;

use crate::support::jobs::mixed;
use crate::support::redis::Redis;

#[test]
fn retry_returns_a_failed_job_to_its_own_queue() {
    let redis = mixed();
    let ann = redis.qless().env("USER", "ann");
    let host = qless::internals::host_name();
    ann.hide(&host, "HOST").session(expect![[r#"
        20 $ qless retry f1
        21 $ qless get f1 --time-format iso
        jid	f1
        klass	K
        queue	mail
        state	waiting	waits since 1970-01-01T00:00:20.000Z
        priority	7	higher runs first
        retries	3 of 3 remaining
        tags	eu
        tracked	no
        depends on	–
        needed by	–
        data	{"n":1.10}

        failure
          one

        history (5)
          1970-01-01T00:00:04.000Z  put     in mail
          1970-01-01T00:00:06.000Z  popped  by w1                 waited 2s
          1970-01-01T00:00:07.000Z  failed  boom                  ran 1s
          1970-01-01T00:00:20.000Z  put     in mail
          1970-01-01T00:00:20.000Z  cli     verb=retry by=ann@HOST
        22 $ qless retry f2 -o json | jq -c
        {"kind":"bulk","v":1,"action":"retry","dry_run":false,"context":null,"matched":1,"done":1,"skipped":0,"failed":0,"remaining":0,"elapsed_s":0,"items":[{"jid":"f2","result":"done","code":"ok","detail":null,"queue":"images","state_before":"failed","state_after":"waiting"}]}
    "#]]);
}

#[test]
fn retry_can_change_queue_time_and_priority() {
    let redis = mixed();
    redis.session(expect![[r#"
        20 $ qless retry f1 f2 --to slow --delay 10m --priority 9
        --- stderr
        2 retried
        21 $ qless jobs --queue slow --columns jid,state,queue,pri,remaining,detail
        f1	scheduled	slow	9	3/3	1970-01-01T00:10:20.000Z
        f2	scheduled	slow	9	5/5	1970-01-01T00:10:20.000Z
    "#]]);
}

#[test]
fn a_complete_job_is_retried_only_if_requested() {
    let redis = mixed();
    redis.session(expect![[r#"
        20 $ qless retry c
        --- stderr
        error: cannot retry `c`: it is complete
        hint: run it again: `qless retry --completed c`
        --- exit 5
        20 $ qless retry c --completed &>/dev/null
        21 $ qless jobs --columns jid,state,queue
        r	running	mail
        w	waiting	mail
        c	waiting	mail
        s	scheduled	mail
        d	depends	mail
    "#]]);
}

#[test]
fn retry_takes_a_running_job_only_with_force() {
    let redis = mixed();
    redis.session(expect![[r#"
        20 $ qless retry r
        --- stderr
        error: cannot retry `r`: it is running, held by `w1`
        hint: take its lock away: `qless retry --force r`
        --- exit 5
        20 $ qless retry r -o json
        --- stderr
        {"kind":"error","v":1,"code":"conflict","exit":5,"message":"cannot retry `r`: it is running, held by `w1`","hint":"take its lock away: `qless retry --force r`","jid":"r"}
        --- exit 5
        200 $ qless retry r
        --- stderr
        error: cannot retry `r`: it is stalled, `w1` lost its lock
        hint: the next pop of its queue gets it; all its retries again: `qless retry --force r`
        --- exit 5
        200 $ qless retry r --force &>/dev/null
        201 $ qless jobs --queue mail --columns jid,state,remaining
        w	waiting	5/5
        r	waiting	5/5
        s	scheduled	5/5
        d	depends	5/5
        f1	failed	3/3
    "#]]);
    redis.at(202).run("heartbeat r --worker w1").exits(5);
}

#[test]
fn retrying_a_job_in_another_state_is_a_conflict() {
    let redis = mixed();
    redis.session(expect![[r#"
        20 $ qless retry w
        --- stderr
        error: cannot retry `w`: its state is `waiting`
        --- exit 5
        20 $ qless retry s
        --- stderr
        error: cannot retry `s`: its state is `scheduled`
        hint: run it now: `qless promote s`
        --- exit 5
        20 $ qless retry d
        --- stderr
        error: cannot retry `d`: it waits for other jobs
        hint: see which: `qless depends d`
        --- exit 5
        20 $ qless retry nope -o json
        --- stderr
        {"kind":"error","v":1,"code":"not_found","exit":4,"message":"job `nope` does not exist","hint":null,"jid":"nope"}
        --- exit 4
        20 $ qless retry ''
        --- stderr
        error: job `` does not exist
        --- exit 4
    "#]]);
}

#[test]
fn failed_jobs_are_retried_and_others_skipped_with_a_reason() {
    let redis = mixed();
    redis.session(expect![[r#"
        20 $ qless retry f1 w nope f2 c r f1 -o ndjson
        {"jid":"w","result":"skipped","code":"state_changed","detail":"it is waiting","queue":"mail","state_before":"waiting","state_after":null}
        {"jid":"nope","result":"skipped","code":"gone","detail":"it does not exist","queue":null,"state_before":null,"state_after":null}
        {"jid":"c","result":"skipped","code":"complete","detail":"it is complete","queue":null,"state_before":"complete","state_after":null}
        {"jid":"r","result":"skipped","code":"state_changed","detail":"it is running, held by `w1`","queue":"mail","state_before":"running","state_after":null}
        {"jid":"f1","result":"done","code":"ok","detail":null,"queue":"mail","state_before":"failed","state_after":"waiting"}
        {"jid":"f2","result":"done","code":"ok","detail":null,"queue":"images","state_before":"failed","state_after":"waiting"}
        {"summary":{"action":"retry","dry_run":false,"context":null,"matched":6,"done":2,"skipped":4,"failed":0,"remaining":0,"elapsed_s":0}}
        --- stderr
        2 retried, 4 skipped
          skipped  1  complete: c
                   1  gone: nope
                   1  running, held by `w1`: r
                   1  waiting: w
        21 $ qless retry f1 w nope f2 c r -o ndjson
        {"jid":"f1","result":"skipped","code":"state_changed","detail":"it is waiting","queue":"mail","state_before":"waiting","state_after":null}
        {"jid":"w","result":"skipped","code":"state_changed","detail":"it is waiting","queue":"mail","state_before":"waiting","state_after":null}
        {"jid":"nope","result":"skipped","code":"gone","detail":"it does not exist","queue":null,"state_before":null,"state_after":null}
        {"jid":"f2","result":"skipped","code":"state_changed","detail":"it is waiting","queue":"images","state_before":"waiting","state_after":null}
        {"jid":"c","result":"skipped","code":"complete","detail":"it is complete","queue":null,"state_before":"complete","state_after":null}
        {"jid":"r","result":"skipped","code":"state_changed","detail":"it is running, held by `w1`","queue":"mail","state_before":"running","state_after":null}
        {"summary":{"action":"retry","dry_run":false,"context":null,"matched":6,"done":0,"skipped":6,"failed":0,"remaining":0,"elapsed_s":0}}
        --- stderr
        0 retried, 6 skipped
          skipped  3  waiting: f1, w, f2
                   1  complete: c
                   1  gone: nope
                   1  running, held by `w1`: r
        --- exit 5
    "#]]);
}

#[test]
fn jids_may_come_from_stdin_and_files() {
    let redis = mixed();
    let file = redis.socket().with_file_name("jids");
    std::fs::write(&file, "nope\n").unwrap();
    redis.session(expect![[r#"
        20 $ printf '# failed tonight\n\nf1\n{"jid":"f2"}\nf1\n{"summary":{}}\n' | qless retry - -o jid
        f1
        f2
        --- stderr
        2 retried
        21 $ printf 'f1\n{"jid": 7}\n' | qless retry -
        --- stderr
        error: job ids, line 2: its `jid` is not a text
        --- exit 2
        21 $ qless retry -
        --- stderr
        no jobs to retry
        21 $ qless retry @/nowhere/jids
        --- stderr
        error: cannot read `/nowhere/jids`: no such file or directory
        --- exit 2
        21 $ qless retry @DIR/jids
        --- stderr
        0 retried, 1 skipped
          skipped  1  gone: nope
        --- exit 4
    "#]]);
}

#[test]
fn a_selector_for_retry_means_failed_jobs_and_asks_for_confirmation() {
    let redis = mixed();
    redis.session(expect![[r#"
        20 $ qless retry --group boom
        --- stderr
        error: cannot ask whether to retry 2 failed jobs on unix://DIR/s; nothing was changed
        hint: add `--yes`
        --- exit 9
        20 $ qless retry --group boom --dry-run -o ndjson
        {"jid":"f1","result":"planned","code":"ok","detail":null,"queue":"mail","state_before":"failed","state_after":null}
        {"jid":"f2","result":"planned","code":"ok","detail":null,"queue":"images","state_before":"failed","state_after":null}
        {"summary":{"action":"retry","dry_run":true,"context":null,"matched":2,"done":0,"skipped":0,"failed":0,"remaining":0,"elapsed_s":0}}
        --- stderr
        Retry 2 failed jobs on unix://DIR/s

          images	failed	1	1970-01-01T00:00:08.000Z	1970-01-01T00:00:08.000Z
          mail	failed	1	1970-01-01T00:00:07.000Z	1970-01-01T00:00:07.000Z

          each goes back to its own queue with fresh retries
        would retry 2
        20 $ qless retry --queue mail --yes -o ndjson
        {"jid":"f1","result":"done","code":"ok","detail":null,"queue":"mail","state_before":"failed","state_after":"waiting"}
        {"summary":{"action":"retry","dry_run":false,"context":null,"matched":1,"done":1,"skipped":0,"failed":0,"remaining":0,"elapsed_s":0}}
        --- stderr
        1 retried
        20 $ qless retry --group nope --yes
        --- stderr
        error: group `nope` does not exist
        --- exit 4
    "#]]);
}

#[test]
fn the_holder_releases_a_job_and_uses_one_retry() {
    let redis = mixed();
    redis.session(expect![[r#"
        20 $ qless retry r --worker w2
        --- stderr
        error: cannot retry `r`: it is held by `w1`
        hint: `--as-holder` acts as the worker that holds the job
        --- exit 5
        20 $ qless retry r --worker w1 --delay 5m
        r	4
        20 $ qless jobs --state scheduled --columns jid,remaining,detail
        r	4/5	1970-01-01T00:05:20.000Z
        s	5/5	1970-01-01T00:10:12.000Z
        20 $ qless retry w --as-holder
        --- stderr
        error: cannot retry `w`: its state is `waiting`, not `running`
        --- exit 5
        20 $ qless retry r --worker w1 --to other
        --- stderr
        error: `--worker` cannot be used with `--to`
        hint: usage: `qless retry --worker <NAME> <JID>...`
        --- exit 2
        20 $ qless retry r --as-holder --spread 5m
        --- stderr
        error: `--as-holder` cannot be used with `--spread`
        hint: usage: `qless retry --as-holder <JID>...`
        --- exit 2
        20 $ qless retry r --fail-group g
        --- stderr
        error: `--fail-group` needs `--worker` or `--as-holder`
        hint: only the worker that holds a job records a failure with its retry
        --- exit 2
        20 $ qless retry r --worker w1 --fail-message m
        --- stderr
        error: `--fail-group` is missing
        hint: usage: `qless retry --fail-group <G> --worker <NAME> --fail-message <M> <JID>...`
        --- exit 2
    "#]]);
}

#[test]
fn the_holder_fails_a_job_without_remaining_retries() {
    let redis = Redis::start();
    redis.ok(1, "put mail K --jid a --retries 0");
    redis.ok(2, "pop mail --worker w1");
    redis.session(expect![[r#"
        3 $ qless retry a --as-holder --fail-group hung --fail-message 'no output' -o ndjson
        {"jid":"a","result":"done","code":"ok","detail":null,"queue":"mail","state_before":"running","state_after":"failed"}
        {"summary":{"action":"retry","dry_run":false,"context":null,"matched":1,"done":1,"skipped":0,"failed":0,"remaining":0,"elapsed_s":0}}
        4 $ qless failed
        hung	1	1970-01-01T00:00:03.000Z	mail	no output
    "#]]);
}

#[test]
fn a_selector_for_retry_means_only_failed_jobs() {
    let redis = mixed();
    redis.session(expect![[r#"
        20 $ qless retry --queue mail --force --yes -o jid
        f1
        --- stderr
        note: only failed jobs are selected; `--force` needs `--state running` to select running jobs
        1 retried
        20 $ qless retry --state running,stalled --force --yes -o jid
        r
        --- stderr
        1 retried
        20 $ qless retry --state complete --completed --to again --yes -o ndjson
        {"jid":"c","result":"done","code":"ok","detail":null,"queue":"again","state_before":"complete","state_after":"waiting"}
        {"summary":{"action":"retry","dry_run":false,"context":null,"matched":1,"done":1,"skipped":0,"failed":0,"remaining":0,"elapsed_s":0}}
        --- stderr
        1 retried
    "#]]);
}

#[test]
fn retrying_in_an_unknown_queue_is_not_found() {
    mixed().session(expect![[r#"
        20 $ qless retry --queue mial --yes
        --- stderr
        error: queue `mial` does not exist
        hint: did you mean `mail`?
        --- exit 4
        20 $ qless failed --queue mial
        --- stderr
        error: queue `mial` does not exist
        hint: did you mean `mail`?
        --- exit 4
        20 $ qless retry --queue mail --klass none --yes &>/dev/null
    "#]]);
}
