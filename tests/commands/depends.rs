//! `qless depends`

use expect_test::expect;

use super::jobs::busy;
use crate::support::redis::Redis;

#[test]
fn dependencies_and_dependents_are_shown_with_states() {
    busy().session(expect![[r#"
        100 $ qless depends blocked
        waits for	breaks	Thumb	images	failed
        waits for	runs	Mail::Digest	mail	running
        100 $ qless depends blocked -o json
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
        100 $ qless depends runs
        needed by	blocked	Deploy	mail	depends
        100 $ qless depends runs -o jid
        blocked
        100 $ qless depends nope
        --- stderr
        error: job `nope` does not exist
        --- exit 4
    "#]]);
}

/// `d` depends on `a`; `b` has no dependencies, `c` is complete.
fn waiting() -> Redis {
    let redis = Redis::start();
    redis.ok(1, "put mail K --jid c");
    redis.ok(2, "pop mail --worker w");
    redis.ok(3, "complete c --worker w");
    redis.ok(4, "put mail K --jid a");
    redis.ok(5, "put mail K --jid b");
    redis.ok(6, "put mail K --jid d --depends a");
    redis
}

#[test]
fn dependencies_are_added_and_dropped() {
    waiting().session(expect![[r#"
        10 $ qless depends d --on b c
        waits for	a	K	mail	waiting
        waits for	b	K	mail	waiting
        --- stderr
        note: `c` is complete already, not a dependency
        11 $ qless depends d --off a
        waits for	b	K	mail	waiting
        12 $ qless depends d --off b
        13 $ qless get d --field state
        waiting
        14 $ qless put mail K --jid e --depends a --depends b &>/dev/null
        15 $ qless depends e --off-all -n
        waits for	a	K	mail	waiting
        waits for	b	K	mail	waiting
        --- stderr
        would change the dependencies of the job; now they are:
        15 $ qless depends e --off-all -o json | jq -c
        {"kind":"dependencies","v":1,"jid":"e","klass":"K","queue":"mail","dependencies":[],"dependents":[]}
        16 $ qless get e --field state
        waiting
    "#]]);
}

#[test]
fn an_invalid_dependency_is_refused() {
    let redis = waiting();
    let many: String = (0..9000).map(|at| format!(" j{at}")).collect();
    let ran = redis.at(10).run(&format!("depends d --on{many}"));
    ran.shows(expect![[r#"
        --- stderr
        error: `--on` takes up to 500 jobs, not 9,000
        hint: one call adds all of them or none; add the others in a further one
        --- exit 2
    "#]]);
    redis.session(expect![[r#"
        10 $ qless depends d --on b nope
        --- stderr
        error: cannot change the dependencies of `d`: `nope` does not exist
        --- exit 4
        10 $ qless depends d --on d
        --- stderr
        error: cannot change the dependencies of `d`: it would wait for itself: d → d
        --- exit 5
        10 $ qless put mail K --jid e --depends d &>/dev/null
        10 $ qless depends d --on e
        --- stderr
        error: cannot change the dependencies of `d`: it would wait for itself: d → e → d
        --- exit 5
        10 $ qless depends a --on b
        --- stderr
        error: cannot change the dependencies of `a`: its state is `waiting`, not `depends`
        --- exit 5
        10 $ qless depends nope --on b
        --- stderr
        error: job `nope` does not exist
        --- exit 4
        10 $ qless depends d --off b
        waits for	a	K	mail	waiting
        needed by	e	K	mail	depends
        --- stderr
        note: it does not depend on `b`
        10 $ qless depends d --off a --off-all &>/dev/null
        --- exit 2
        11 $ qless depends d
        waits for	a	K	mail	waiting
        needed by	e	K	mail	depends
    "#]]);
}

#[test]
fn off_all_releases_many_jobs() {
    let redis = Redis::start();
    redis.ok(1, "put ci Build --jid root");
    for job in ["--jid a", "--jid b --delay 1h", "--jid 'c d'", "--jid=-x"] {
        redis.ok(2, &format!("put deploy Deploy --depends root {job}"));
    }
    redis.session(expect![[r#"
        3 $ qless depends --off-all a root 'c d' nope -o ndjson
        {"jid":"root","result":"skipped","code":"state_changed","detail":"it is waiting, not depends","queue":"ci","state_before":"waiting","state_after":null}
        {"jid":"nope","result":"skipped","code":"gone","detail":"it does not exist","queue":null,"state_before":null,"state_after":null}
        {"jid":"a","result":"done","code":"ok","detail":null,"queue":"deploy","state_before":"depends","state_after":"waiting"}
        {"jid":"c d","result":"done","code":"ok","detail":null,"queue":"deploy","state_before":"depends","state_after":"waiting"}
        {"summary":{"action":"depends","dry_run":false,"context":null,"matched":4,"done":2,"skipped":2,"failed":0,"remaining":0,"elapsed_s":0}}
        --- stderr
        2 released, 2 skipped
          skipped  1  gone: nope
                   1  waiting, not depends: root
        3 $ printf 'b\n-x\n' | qless depends --off-all - --dry-run
        --- stderr
        Release 2 jobs on unix://DIR/s

          deploy	depends	2	1970-01-01T00:00:02.000Z	1970-01-01T00:00:02.000Z
        would release 2
        3 $ qless depends --queue deploy --off-all
        --- stderr
        error: cannot ask whether to release 2 jobs on unix://DIR/s; nothing was changed
        hint: add `--yes`
        --- exit 9
        3 $ qless depends --queue deploy --off-all --yes --reason 'root is stuck' -o jid
        -x
        b
        --- stderr
        2 released
        4 $ qless depends --queue deploy --off-all --yes
        --- stderr
        no jobs to release
        4 $ qless jobs --queue deploy --columns jid,state
        c d	waiting
        a	waiting
        -x	waiting
        b	scheduled
        5 $ qless get b -o json | jq -c .history[1].reason
        "root is stuck"
    "#]]);
}

#[test]
fn only_off_all_takes_several_jobs() {
    let redis = Redis::start();
    for line in [
        "depends --queue q",
        "depends --queue q --off c",
        "depends",
        "depends --off-all",
        "depends a --queue q --off-all",
        "depends a --off-all --on b",
    ] {
        redis.at(1).run(line).exits(2);
    }
    redis.session(expect![[r#"
        1 $ qless depends a b &>/dev/null
        --- exit 2
        1 $ qless depends a b --on c
        --- stderr
        error: `qless depends` takes one job
        hint: only `--off-all` takes several jobs
        --- exit 2
        1 $ qless depends a --rate 5/s
        --- stderr
        error: `--rate` needs `--off-all` and several jobs
        --- exit 2
    "#]]);
}

#[test]
fn a_blocked_dependent_has_as_many_dependencies_as_in_other_lists() {
    let redis = Redis::start();
    redis.session(expect![[r#"
        1 $ qless put mail K --jid s1 --priority 9 &>/dev/null
        2 $ qless put mail K --jid s2 --depends s1 &>/dev/null
        3 $ qless put mail K --jid s3 --depends s1 --depends s2 &>/dev/null
        4 $ qless pop mail --worker w &>/dev/null
        5 $ qless fail s1 --worker w --group boom --message no
        10 $ qless depends s1 -o table
        s1 (K, mail) depends on nothing
        and is needed by
          s2  K  depends  on 1 job, 1 failed
          s3  K  depends  on 2 jobs, 1 failed
        10 $ qless jobs --state depends --columns jid,detail -o table
        JID  DETAIL
        s2   on 1 job, 1 failed
        s3   on 2 jobs, 1 failed
    "#]]);
    assert!(redis.ok(10, "get s2 -o table").contains("on 1 job"));
}

/// `v1`, `v2` and `v3` in a lane; `v3` also depends on `x`.
fn lane() -> Redis {
    let redis = Redis::start();
    redis.ok(10, "put v K --jid x");
    redis.ok(11, "put v K --jid v1 --key k");
    redis.ok(12, "put v K --jid v2 --key k");
    redis.ok(13, "put v K --jid v3 --key k --depends x");
    redis
}

#[test]
fn the_dependency_of_a_lane_cannot_be_removed() {
    lane().session(expect![[r#"
        20 $ qless depends v2 --off v1
        --- stderr
        error: cannot change the dependencies of `v2`: it waits in its lane
        hint: `v1` is before it in the lane: `qless key v k`
        --- exit 5
        20 $ qless depends v2 --off v1 --dry-run &>/dev/null
        --- exit 5
        20 $ qless depends v2 --off-all
        --- stderr
        error: cannot change the dependencies of `v2`: it waits in its lane
        hint: `v1` is before it in the lane: `qless key v k`
        --- exit 5
        20 $ qless depends v3 --on v1 --off v2
        --- stderr
        error: cannot change the dependencies of `v3`: it waits in its lane
        hint: `v2` is before it in the lane: `qless key v k`
        --- exit 5
        20 $ qless promote v2
        --- stderr
        error: cannot promote `v2`: it waits in its lane
        hint: `v1` is before it in the lane: `qless key v k`
        --- exit 5
        20 $ qless get v3 --field dependencies
        ["v2","x"]
        20 $ qless depends --queue v --off-all --dry-run
        --- stderr
        Release 1 job on unix://DIR/s

          v	depends	1	1970-01-01T00:00:13.000Z	1970-01-01T00:00:13.000Z
        would release 1, 1 skipped
          skipped  1  it waits in its lane: v2
        20 $ qless depends --queue v --off-all --yes
        --- stderr
        1 released, 1 skipped
          skipped  1  it waits in its lane: v2
        21 $ qless depends v2 v3 --off-all -o ndjson
        {"jid":"v2","result":"skipped","code":"state_changed","detail":"it waits in its lane","queue":"v","state_before":"depends","state_after":null}
        {"jid":"v3","result":"skipped","code":"state_changed","detail":"it waits in its lane","queue":"v","state_before":"depends","state_after":null}
        {"summary":{"action":"depends","dry_run":false,"context":null,"matched":2,"done":0,"skipped":2,"failed":0,"remaining":0,"elapsed_s":0}}
        --- stderr
        0 released, 2 skipped
          skipped  2  it waits in its lane: v2, v3
        --- exit 5
        22 $ qless get v3 --field dependencies
        ["v2"]
    "#]]);
}

#[test]
fn a_dry_run_refuses_what_the_run_refuses() {
    let redis = waiting();
    redis.ok(7, "put mail K --jid e --depends d");
    let before = redis.dump();
    redis.session(expect![[r#"
        10 $ qless depends d --on e --dry-run
        --- stderr
        error: cannot change the dependencies of `d`: it would wait for itself: d → e → d
        --- exit 5
        10 $ qless depends d --on nope --dry-run
        --- stderr
        error: cannot change the dependencies of `d`: `nope` does not exist
        --- exit 4
        10 $ qless depends d --on b c --dry-run -o json | jq -c '[.dry_run, .dependencies[0].jid]'
        [true,"a"]
        --- stderr
        note: `c` is complete already, not a dependency
        would change the dependencies of the job; now they are:
    "#]]);
    assert!(redis.dump() == before);
}
