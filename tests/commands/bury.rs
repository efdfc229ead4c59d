//! `qless bury`

use expect_test::expect;

use crate::support::jobs::mixed;
use crate::support::redis::Redis;

#[test]
fn a_job_that_has_not_started_becomes_failed() {
    let redis = mixed();
    redis.session(expect![[r#"
        20 $ qless bury w --group hold --message 'bad address' --reason why
        21 $ qless failed --group hold
        w	K	failed	mail	0	5/5	1970-01-01T00:00:20.000Z	hold: bad address
    "#]]);
    let job = redis.json(21, "get w --history -o json");
    let note = &job["history"][2];
    assert_eq!(
        (&note["verb"], &note["reason"]),
        (&"bury".into(), &"why".into())
    );
    redis.session(expect![[r#"
        22 $ qless bury s --group hold --message m -o ndjson
        {"jid":"s","result":"done","code":"ok","detail":null,"queue":"mail","state_before":"scheduled","state_after":"failed"}
        {"summary":{"action":"bury","dry_run":false,"context":null,"matched":1,"done":1,"skipped":0,"failed":0,"remaining":0,"elapsed_s":0}}
        23 $ qless retry w -o jid
        w
    "#]]);
}

#[test]
fn running_and_ended_jobs_are_refused() {
    let redis = mixed();
    for jid in ["r", "f1", "c", "nope"] {
        redis
            .at(20)
            .run(&format!("bury {jid} --group g --message m"))
            .shows(match jid {
                "r" => expect![[r#"
                    --- stderr
                    error: cannot bury `r`: it is running, held by `w1`
                    hint: fail it for its worker: `qless fail --as-holder --group=g --message=m r`
                    --- exit 5
                "#]],
                "f1" => expect![[r#"
                    --- stderr
                    error: cannot bury `f1`: its state is `failed`
                    --- exit 5
                "#]],
                "c" => expect![[r#"
                    --- stderr
                    error: cannot bury `c`: it is complete
                    --- exit 5
                "#]],
                _ => expect![[r#"
                    --- stderr
                    error: job `nope` does not exist
                    --- exit 4
                "#]],
            });
    }
    redis.at(20).run("bury w --group g").shows(expect![[r#"
        --- stderr
        error: `--message` is missing
        hint: usage: `qless bury --group <G> --message <M> <JID>...`
        --- exit 2
    "#]]);
}

#[test]
fn a_selector_means_jobs_that_have_not_started() {
    let redis = mixed();
    redis.session(expect![[r#"
        20 $ qless bury --queue mail --group hold --message m --dry-run
        --- stderr
        Bury 3 jobs on unix://DIR/s

          mail	depends	1	1970-01-01T00:00:13.000Z	1970-01-01T00:00:13.000Z
          mail	scheduled	1	1970-01-01T00:00:12.000Z	1970-01-01T00:00:12.000Z
          mail	waiting	1	1970-01-01T00:00:11.000Z	1970-01-01T00:00:11.000Z

          their group becomes `hold`
        would bury 3
        20 $ qless bury --queue mail --group hold --message m
        --- stderr
        error: cannot ask whether to bury 3 jobs on unix://DIR/s; nothing was changed
        hint: add `--yes`
        --- exit 9
        20 $ qless bury --queue mail --group hold --message m --yes -o jid
        w
        s
        d
        --- stderr
        3 buried
    "#]]);
    redis.must_be_clean();
}

#[test]
fn a_bulk_bury_goes_on_where_its_report_ends() {
    let redis = mixed();
    let dir = tempfile::tempdir().unwrap();
    let report = dir.path().join("report");
    let line = format!(
        "bury w s --group hold --message m --report {}",
        report.display()
    );
    redis.ok(20, &line);
    redis.ok(21, "retry w");
    let again = redis.at(22).run(&line).exits(0);
    again.says("2 skipped");
}

/// A lane of ten jobs, put one by one.
fn lane() -> Redis {
    let redis = Redis::start();
    for n in 1..=10 {
        // Within one second, as a loop in a shell puts them.
        let now = 10.0 + f64::from(n) / 100.0;
        redis.ok(now, &format!("put p K --key k --jid p{n}"));
    }
    redis
}

/// The jids of the lane, in order.
fn order(redis: &Redis) -> Vec<String> {
    let jids = redis.ok(99, "key p k -o jid");
    jids.lines().map(str::to_owned).collect()
}

const ALL: [&str; 10] = ["p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9", "p10"];

#[test]
fn a_whole_lane_is_buried_and_retried_in_its_order() {
    let redis = lane();
    redis.session(expect![[r#"
        20 $ qless bury --key k --group hold --message m --yes
        --- stderr
        10 buried
    "#]]);
    redis.at(20).run("pop p").exits(4);
    redis.must_be_clean();
    redis.session(expect![[r#"
        30 $ qless retry --group hold --yes
        --- stderr
        10 retried
    "#]]);
    assert_eq!(order(&redis), ALL);
    redis.at(31).run("pop p -o jid").shows(expect![[r#"
        p1
    "#]]);
    redis.must_be_clean();
}

#[test]
fn named_jobs_of_a_lane_are_buried_from_its_end() {
    let redis = lane();
    redis.session(expect![[r#"
        20 $ qless bury p4 p5 p6 p1 --group hold --message m -o jid
        p6
        p1
        p5
        p4
        --- stderr
        4 buried
    "#]]);
    assert_eq!(order(&redis), ["p2", "p3", "p7", "p8", "p9", "p10"]);
    redis.at(30).run("retry p6 p1 p4 p5").exits(0);
    let sorted = ["p2", "p3", "p7", "p8", "p9", "p10", "p1", "p4", "p5", "p6"];
    assert_eq!(order(&redis), sorted);
}

#[test]
fn a_lane_whose_first_job_failed_is_retried_with_that_job_first() {
    let redis = lane();
    redis.ok(20, "pop p --worker w");
    for (now, line) in [
        (21, "fail p1 --worker w --group hold --message m"),
        (21, "bury --key k --group hold --message m --yes"),
    ] {
        redis.ok(now, line);
    }
    redis.at(30).run("retry --group hold --yes").exits(0);
    assert_eq!(order(&redis), ALL);
}

#[test]
fn a_lane_that_one_call_put_is_retried_in_its_order() {
    let redis = Redis::start();
    let lines: Vec<String> = (1..=10)
        .map(|n| format!("{{\"jid\":\"p{n}\"}}\n"))
        .collect();
    redis
        .at(10)
        .input(lines.concat())
        .run("put p K --key k --from -")
        .exits(0);
    redis
        .at(20)
        .run("bury --key k --group hold --message m --yes")
        .exits(0);
    redis.at(30).run("retry --group hold --yes").exits(0);
    assert_eq!(order(&redis), ALL);
}
