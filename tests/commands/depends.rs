//! `qless depends`

use expect_test::expect;

use super::jobs::busy;
use crate::support::redis::Redis;

#[test]
fn dependencies_and_dependents_are_shown_with_states() {
    let redis = busy();
    redis.at(100).run("depends blocked").shows(expect![[r#"
        waits for	breaks	Thumb	images	failed
        waits for	runs	Mail::Digest	mail	running
    "#]]);
    redis
        .at(100)
        .run("depends blocked -o json")
        .shows(expect![[r#"
            {
              "kind": "dependencies",
              "v": 1,
              "jid": "blocked",
              "klass": "Deploy",
              "queue": "mail",
              "dependencies": [
                {
                  "jid": "breaks",
                  "klass": "Thumb",
                  "queue": "images",
                  "state": "failed"
                },
                {
                  "jid": "runs",
                  "klass": "Mail::Digest",
                  "queue": "mail",
                  "state": "running"
                }
              ],
              "dependents": []
            }
        "#]]);
    redis.at(100).run("depends runs").shows(expect![[r#"
        needed by	blocked	Deploy	mail	depends
    "#]]);
    redis.at(100).run("depends runs -o jid").shows(expect![[r#"
            blocked
        "#]]);
}

#[test]
fn depends_of_an_unknown_job_is_not_found() {
    busy().at(100).run("depends nope").shows(expect![[r#"
        --- stderr
        error: job `nope` does not exist
        --- exit 4
    "#]]);
}

/// `d` depends on `a`; `b` has no dependencies, `c` is complete.
fn waiting() -> Redis {
    let redis = Redis::start();
    redis.at(1).run("put mail K --jid c").ok();
    redis.at(2).run("pop mail --worker w").ok();
    redis.at(3).run("complete c --worker w").ok();
    redis.at(4).run("put mail K --jid a").ok();
    redis.at(5).run("put mail K --jid b").ok();
    redis.at(6).run("put mail K --jid d --depends a").ok();
    redis
}

#[test]
fn dependencies_are_added_and_dropped() {
    let redis = waiting();
    redis.at(10).run("depends d --on b c").shows(expect![[r#"
            waits for	a	K	mail	waiting
            waits for	b	K	mail	waiting
            --- stderr
            note: `c` is complete already, not a dependency
        "#]]);
    redis.at(11).run("depends d --off a").shows(expect![[r#"
            waits for	b	K	mail	waiting
        "#]]);
    redis
        .at(12)
        .run("depends d --off b")
        .shows(expect![[r#""#]]);
    assert_eq!(redis.at(13).run("get d --field state").ok(), "waiting");
}

#[test]
fn all_dependencies_are_dropped_together() {
    let redis = waiting();
    redis.at(10).run("depends d --on b").ok();
    redis
        .at(11)
        .run("depends d --off-all -n")
        .shows(expect![[r#"
            waits for	a	K	mail	waiting
            waits for	b	K	mail	waiting
            --- stderr
            would change the dependencies of the job; now they are:
        "#]]);
    redis
        .at(11)
        .run("depends d --off-all -o json")
        .shows(expect![[r#"
            {
              "kind": "dependencies",
              "v": 1,
              "jid": "d",
              "klass": "K",
              "queue": "mail",
              "dependencies": [],
              "dependents": []
            }
        "#]]);
    assert_eq!(redis.at(13).run("get d --field state").ok(), "waiting");
}

#[test]
fn an_invalid_dependency_is_refused() {
    let redis = waiting();
    redis.at(10).run("depends d --on b nope").shows(expect![[r#"
        --- stderr
        error: cannot change the dependencies of `d`: `nope` does not exist
        --- exit 4
    "#]]);
    redis.at(10).run("depends d --on d").shows(expect![[r#"
        --- stderr
        error: cannot change the dependencies of `d`: it would wait for itself: d → d
        --- exit 5
    "#]]);
    redis.at(10).run("put mail K --jid e --depends d").ok();
    redis.at(10).run("depends d --on e").shows(expect![[r#"
        --- stderr
        error: cannot change the dependencies of `d`: it would wait for itself: d → e → d
        --- exit 5
    "#]]);
    redis.at(10).run("depends a --on b").shows(expect![[r#"
        --- stderr
        error: cannot change the dependencies of `a`: its state is `waiting`, not `depends`
        --- exit 5
    "#]]);
    redis.at(10).run("depends nope --on b").shows(expect![[r#"
            --- stderr
            error: job `nope` does not exist
            --- exit 4
        "#]]);
    redis.at(10).run("depends d --off b").shows(expect![[r#"
        waits for	a	K	mail	waiting
        needed by	e	K	mail	depends
        --- stderr
        note: it does not depend on `b`
    "#]]);
    redis.at(10).run("depends d --off a --off-all").exits(2);
    redis.at(11).run("depends d").shows(expect![[r#"
        waits for	a	K	mail	waiting
        needed by	e	K	mail	depends
    "#]]);
}

#[test]
fn off_all_releases_many_jobs() {
    let redis = Redis::start();
    redis.at(1).run("put ci Build --jid root").ok();
    for (jid, more) in [("a", ""), ("b", "--delay 1h"), ("c d", ""), ("-x", "")] {
        let line = format!("put deploy Deploy --jid '{jid}' --depends root {more}");
        redis
            .at(2)
            .run(&line.replace("--jid '-x'", "--jid=-x"))
            .ok();
    }
    redis
        .at(3)
        .run("depends --off-all a root 'c d' nope -o ndjson")
        .shows(expect![[r#"
            {"jid":"root","result":"skipped","code":"state_changed","detail":"it is waiting, not depends","queue":"ci","state_before":"waiting","state_after":null}
            {"jid":"nope","result":"skipped","code":"gone","detail":"it does not exist","queue":null,"state_before":null,"state_after":null}
            {"jid":"a","result":"done","code":"ok","detail":null,"queue":"deploy","state_before":"depends","state_after":"waiting"}
            {"jid":"c d","result":"done","code":"ok","detail":null,"queue":"deploy","state_before":"depends","state_after":"waiting"}
            {"summary":{"action":"depends","dry_run":false,"context":null,"matched":4,"done":2,"skipped":2,"failed":0,"remaining":0,"elapsed_s":0}}
            --- stderr
            2 released, 2 skipped
              skipped  1  gone: nope
                       1  waiting, not depends: root
        "#]]);
    redis
        .at(3)
        .input("b\n-x\n")
        .run("depends --off-all - --dry-run")
        .shows(expect![[r#"
            --- stderr
            Release 2 jobs on unix://DIR/s

              deploy	depends	2	1970-01-01T00:00:02.000Z	1970-01-01T00:00:02.000Z
            would release 2
        "#]]);
    redis
        .at(3)
        .run("depends --queue deploy --off-all")
        .shows(expect![[r#"
            --- stderr
            error: cannot ask whether to release 2 jobs on unix://DIR/s; nothing was changed
            hint: add `--yes`
            --- exit 9
        "#]]);
    redis
        .at(3)
        .run("depends --queue deploy --off-all --yes --reason 'root is stuck' -o jid")
        .shows(expect![[r#"
            -x
            b
            --- stderr
            2 released
        "#]]);
    redis
        .at(4)
        .run("depends --queue deploy --off-all --yes")
        .shows(expect![[r#"
            --- stderr
            no jobs to release
        "#]]);
    redis
        .at(4)
        .hide(&qless::internals::host_name(), "HOST")
        .env("USER", "ann")
        .run("jobs --queue deploy --columns jid,state --headers never")
        .shows(expect![[r#"
            c d	waiting
            a	waiting
            -x	waiting
            b	scheduled
        "#]]);
    let history = redis.at(5).run("get b -o json").json()["history"].clone();
    assert_eq!(history[1]["reason"], "root is stuck");
}

#[test]
fn only_off_all_takes_several_jobs() {
    let redis = Redis::start();
    for line in [
        "depends a b",
        "depends a b --on c",
        "depends --queue q",
        "depends --queue q --off c",
        "depends",
        "depends --off-all",
        "depends a --queue q --off-all",
        "depends a --off-all --on b",
        "depends a --rate 5/s",
    ] {
        redis.at(1).run(line).exits(2);
    }
    redis.at(1).run("depends a b --on c").shows(expect![[r#"
        --- stderr
        error: `qless depends` takes one job
        hint: only `--off-all` takes several jobs
        --- exit 2
    "#]]);
    redis.at(1).run("depends a --rate 5/s").shows(expect![[r#"
        --- stderr
        error: `--rate` needs `--off-all` and several jobs
        --- exit 2
    "#]]);
}

#[test]
fn a_blocked_dependent_has_as_many_dependencies_as_in_other_lists() {
    let redis = Redis::start();
    redis.at(1).run("put mail K --jid s1 --priority 9").ok();
    redis.at(2).run("put mail K --jid s2 --depends s1").ok();
    redis
        .at(3)
        .run("put mail K --jid s3 --depends s1 --depends s2")
        .ok();
    redis.at(4).run("pop mail --worker w").ok();
    redis
        .at(5)
        .run("fail s1 --worker w --group boom --message no")
        .ok();
    let table = |line: &str| redis.at(10).run(&format!("{line} -o table")).ok();
    expect![[r#"
        s1 (K, mail) depends on nothing
        and is needed by
          s2  K  depends  on 1 job, 1 failed
          s3  K  depends  on 2 jobs, 1 failed"#]]
    .assert_eq(&table("depends s1"));
    expect![[r#"
        JID  DETAIL
        s2   on 1 job, 1 failed
        s3   on 2 jobs, 1 failed"#]]
    .assert_eq(&table("jobs --state depends --columns jid,detail"));
    assert!(table("get s2").contains("on 1 job"));
}

/// `v1`, `v2` and `v3` in a lane; `v3` also depends on `x`.
fn lane() -> Redis {
    let redis = Redis::start();
    redis.at(10).run("put v K --jid x").ok();
    redis.at(11).run("put v K --jid v1 --key k").ok();
    redis.at(12).run("put v K --jid v2 --key k").ok();
    redis
        .at(13)
        .run("put v K --jid v3 --key k --depends x")
        .ok();
    redis
}

#[test]
fn the_dependency_of_a_lane_cannot_be_removed() {
    let redis = lane();
    for line in [
        "depends v2 --off v1",
        "depends v2 --off v1 --dry-run",
        "depends v2 --off-all",
        "depends v3 --on v1 --off v2",
        "promote v2",
    ] {
        let ran = redis.at(20).run(line).exits(5);
        ran.shows(match line {
            "promote v2" => expect![[r#"
                --- stderr
                error: cannot promote `v2`: it waits in its lane
                hint: `v1` is before it in the lane: `qless key v k`
                --- exit 5
            "#]],
            "depends v3 --on v1 --off v2" => expect![[r#"
                --- stderr
                error: cannot change the dependencies of `v3`: it waits in its lane
                hint: `v2` is before it in the lane: `qless key v k`
                --- exit 5
            "#]],
            _ => expect![[r#"
                --- stderr
                error: cannot change the dependencies of `v2`: it waits in its lane
                hint: `v1` is before it in the lane: `qless key v k`
                --- exit 5
            "#]],
        });
    }
    let dependencies = redis.at(20).run("get v3 -o json").json()["dependencies"].clone();
    assert_eq!(dependencies, serde_json::json!(["v2", "x"]));
}

#[test]
fn jobs_that_wait_in_their_lane_are_not_released() {
    let redis = lane();
    for flag in ["--dry-run", "--yes"] {
        redis
            .at(20)
            .run(&format!("depends --queue v --off-all {flag}"))
            .shows(match flag {
                "--yes" => expect![[r#"
                    --- stderr
                    1 released, 1 skipped
                      skipped  1  it waits in its lane: v2
                "#]],
                _ => expect![[r#"
                    --- stderr
                    Release 1 job on unix://DIR/s

                      v	depends	1	1970-01-01T00:00:13.000Z	1970-01-01T00:00:13.000Z
                    would release 1, 1 skipped
                      skipped  1  it waits in its lane: v2
                "#]],
            });
    }
    let items = redis
        .at(21)
        .run("depends v2 v3 --off-all -o ndjson")
        .exits(5);
    items.shows(expect![[r#"
        {"jid":"v2","result":"skipped","code":"state_changed","detail":"it waits in its lane","queue":"v","state_before":"depends","state_after":null}
        {"jid":"v3","result":"skipped","code":"state_changed","detail":"it waits in its lane","queue":"v","state_before":"depends","state_after":null}
        {"summary":{"action":"depends","dry_run":false,"context":null,"matched":2,"done":0,"skipped":2,"failed":0,"remaining":0,"elapsed_s":0}}
        --- stderr
        0 released, 2 skipped
          skipped  2  it waits in its lane: v2, v3
        --- exit 5
    "#]]);
    let dependencies = redis.at(22).run("get v3 -o json").json()["dependencies"].clone();
    assert_eq!(dependencies, serde_json::json!(["v2"]));
}
