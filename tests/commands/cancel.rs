//! `qless cancel`

use expect_test::expect;

use crate::house::redis::Redis;

/// `c` waits for `b`, which waits for `a`; `x` waits alone, `done` is complete.
fn chained() -> Redis {
    let redis = Redis::start();
    redis.at(1).run("put mail K --jid done").ok();
    redis.at(2).run("pop mail --worker w").ok();
    redis.at(3).run("complete done --worker w").ok();
    redis.at(4).run("put mail K --jid a --tag eu").ok();
    redis.at(5).run("put mail K --jid b --depends a").ok();
    redis.at(6).run("put mail K --jid c --depends b").ok();
    redis.at(7).run("put other K --jid x").ok();
    redis
}

fn jids(redis: &Redis) -> String {
    let jids = redis.at(90).run("jobs -o jid").ok();
    let mut jids: Vec<&str> = jids.lines().collect();
    jids.sort_unstable();
    jids.join(" ")
}

#[test]
fn a_job_is_deleted_and_its_jid_printed() {
    let redis = chained();
    redis.at(10).run("cancel x").shows(expect![[r#"
        x
    "#]]);
    redis.at(11).run("cancel x").shows(expect![[r#"
        --- stderr
        error: job `x` does not exist
        --- exit 4
    "#]]);
    redis.at(11).run("cancel x -o json").shows(expect![[r#"
        --- stderr
        {"kind":"error","v":1,"code":"not_found","exit":4,"message":"job `x` does not exist","hint":null,"jid":"x"}
        --- exit 4
    "#]]);
    redis.at(12).run("cancel c -o json").shows(expect![[r#"
        {
          "kind": "bulk",
          "v": 1,
          "action": "cancel",
          "dry_run": false,
          "context": null,
          "matched": 1,
          "done": 1,
          "skipped": 0,
          "failed": 0,
          "remaining": 0,
          "elapsed_s": 0,
          "items": [
            {
              "jid": "c",
              "result": "done",
              "code": "ok",
              "detail": null,
              "queue": "mail",
              "state_before": "depends",
              "state_after": null
            }
          ]
        }
    "#]]);
    redis.at(13).run("cancel b -o raw").shows(expect![[r#"
        b
    "#]]);
}

#[test]
fn complete_jobs_are_left_alone() {
    let redis = chained();
    redis.at(10).run("cancel done").shows(expect![[r#"
        --- stderr
        error: cannot cancel `done`: it is complete
        hint: complete jobs are deleted in time, as `jobs-history` says
        --- exit 5
    "#]]);
    redis.at(10).run("cancel done x --yes").shows(expect![[r#"
            x
            --- stderr
            1 cancelled, 1 skipped
              skipped  1  it is complete
        "#]]);
}

#[test]
fn what_others_wait_for_is_kept() {
    let redis = chained();
    redis.at(10).run("cancel a").shows(expect![[r#"
        --- stderr
        error: cannot cancel `a`: `b` waits for it
        hint: `--dependents cancel` cancels what waits for it, too, `--dependents release` lets it run
        --- exit 5
    "#]]);
    redis.at(10).run("cancel a x --yes").shows(expect![[r#"
        x
        --- stderr
        1 cancelled, 1 failed
          failed   1  `b` waits for it: a
        --- exit 3
    "#]]);
    redis.at(10).run("cancel a b --yes").shows(expect![[r#"
        --- stderr
        0 cancelled, 2 failed
          failed   1  `b` waits for it: a
                   1  `c` waits for it: b
        --- exit 5
    "#]]);
    redis
        .at(10)
        .run("cancel a --dry-run")
        .shows(expect![[r#"
            --- stderr
            error: cannot cancel `a`: `b` waits for it
            hint: `--dependents cancel` cancels what waits for it, too, `--dependents release` lets it run
            --- exit 5
        "#]]);
    assert_eq!(jids(&redis), "a b c");
    redis.at(10).run("cancel a b c --yes").shows(expect![[r#"
            c
            b
            a
            --- stderr
            3 cancelled
        "#]]);
}

#[test]
fn the_tree_below_goes_along() {
    let redis = chained();
    redis
        .at(10)
        .run("cancel a --dependents cancel")
        .shows(expect![[r#"
            --- stderr
            error: cannot ask whether to cancel 3 jobs on unix://DIR/s, 2 of them because they wait for others; nothing was changed
            hint: add `--yes`
            --- exit 9
        "#]]);
    redis
        .at(10)
        .run("cancel a --dependents cancel --dry-run")
        .shows(expect![[r#"
            a
            b
            c
            --- stderr
            would cancel a, and 2 jobs that wait for it
        "#]]);
    redis
        .at(10)
        .run("cancel c --dependents cancel --dry-run")
        .shows(expect![[r#"
            c
            --- stderr
            would cancel c
        "#]]);
    redis
        .at(10)
        .run("cancel a --dependents cancel --yes -o ndjson")
        .shows(expect![[r#"
            {"jid":"a","result":"done","code":"ok","detail":null,"queue":"mail","state_before":"waiting","state_after":null}
            {"jid":"b","result":"done","code":"ok","detail":"waited for a","queue":null,"state_before":null,"state_after":null}
            {"jid":"c","result":"done","code":"ok","detail":"waited for a","queue":null,"state_before":null,"state_after":null}
            {"summary":{"action":"cancel","dry_run":false,"context":null,"matched":3,"done":3,"skipped":0,"failed":0,"remaining":0,"elapsed_s":0}}
        "#]]);
    assert_eq!(jids(&redis), "x");
}

#[test]
fn a_job_that_goes_along_and_is_named_is_told_once() {
    let redis = chained();
    redis
        .at(10)
        .run("cancel c a --dependents cancel --yes -o ndjson")
        .shows(expect![[r#"
            {"jid":"c","result":"done","code":"ok","detail":null,"queue":"mail","state_before":"depends","state_after":null}
            {"jid":"a","result":"done","code":"ok","detail":null,"queue":"mail","state_before":"waiting","state_after":null}
            {"jid":"b","result":"done","code":"ok","detail":"waited for a","queue":null,"state_before":null,"state_after":null}
            {"summary":{"action":"cancel","dry_run":false,"context":null,"matched":3,"done":3,"skipped":0,"failed":0,"remaining":0,"elapsed_s":0}}
            --- stderr
            3 cancelled
        "#]]);
}

#[test]
fn what_waits_is_released() {
    let redis = chained();
    redis
        .at(10)
        .run("cancel a --dependents release")
        .shows(expect![[r#"
            a
        "#]]);
    redis
        .at(11)
        .run("jobs --queue mail --columns jid,state")
        .shows(expect![[r#"
            b	waiting
            c	depends
        "#]]);
}

#[test]
fn several_are_cancelled_only_with_a_yes() {
    let redis = chained();
    redis.at(10).run("cancel x c").shows(expect![[r#"
        --- stderr
        error: cannot ask whether to cancel 2 jobs on unix://DIR/s; nothing was changed
        hint: add `--yes`
        --- exit 9
    "#]]);
    redis
        .at(10)
        .run("cancel x c -o json")
        .shows(expect![[r#"
            --- stderr
            {"kind":"error","v":1,"code":"not_confirmed","exit":9,"message":"cannot ask whether to cancel 2 jobs on unix://DIR/s; nothing was changed","hint":"add `--yes`","jid":null}
            --- exit 9
        "#]]);
    redis.at(10).run("cancel --queue other").shows(expect![[r#"
        --- stderr
        error: cannot ask whether to cancel 1 job on unix://DIR/s; nothing was changed
        hint: add `--yes`
        --- exit 9
    "#]]);
    redis.at(10).run("cancel --queue other --no-input").exits(9);
    assert_eq!(jids(&redis), "a b c x");
    redis
        .at(10)
        .run("cancel --queue other --yes")
        .shows(expect![[r#"
            x
            --- stderr
            1 cancelled
        "#]]);
    redis
        .at(10)
        .run("cancel --queue other --yes")
        .shows(expect![[r#"
            --- stderr
            no jobs to cancel
        "#]]);
    redis
        .at(10)
        .run("cancel nope none --yes")
        .shows(expect![[r#"
            --- stderr
            0 cancelled, 2 skipped
              skipped  2  it does not exist
            --- exit 4
        "#]]);
}

#[test]
fn a_running_job_is_taken_from_its_worker() {
    let redis = chained();
    redis.at(10).run("pop other --worker w").ok();
    redis.at(11).run("cancel x").ok();
    redis.at(12).run("complete x --worker w").exits(4);
}

#[test]
fn a_chain_is_cancelled_across_slices() {
    let redis = Redis::start();
    let depends = |n: usize| match n {
        0 => "[]".to_string(),
        n => format!("[\"j{}\"]", n - 1),
    };
    redis.calls((0..450).map(|n| {
        let jid = format!("j{n}");
        let words = [
            "put",
            "me",
            "q",
            &jid,
            "K",
            "{}",
            "0",
            "depends",
            &depends(n),
        ];
        (1.0, words.map(String::from).to_vec())
    }));
    let jids: Vec<String> = (0..450).map(|n| format!("j{n}")).collect();
    let ran = redis.at(2).input(jids.join("\n")).run("cancel - --yes");
    assert_eq!(ran.ok().lines().count(), 450);
    assert_eq!(redis.at(3).run("jobs -o jid").ok(), "");
}
