//! `qless track`

use expect_test::expect;

use super::jobs::busy;
use crate::support::redis::Redis;

#[test]
fn tracked_jobs_are_listed_and_expired_ones_reported() {
    let redis = busy();
    for (now, jid) in [(80, "waits"), (81, "runs"), (82, "waits-2")] {
        redis.at(now).run(&format!("api track track {jid}")).ok();
    }
    redis.at(90).run("api cancel waits-2").ok();
    redis
        .at(100)
        .run("track --columns jid,state")
        .shows(expect![[r#"
            waits	waiting
            runs	running
            --- stderr
            1 tracked job has expired: waits-2
        "#]]);
    let list = redis.at(100).run("track -o json").json();
    assert_eq!(list["items"][0]["tracked"], true);
    assert_eq!(list["missing"], serde_json::json!(["waits-2"]));
}

#[test]
fn no_tracked_jobs_give_an_empty_list() {
    busy().at(100).run("track").shows(expect![[""]]);
    busy().at(100).run("track -o json").shows(expect![[r#"
        {
          "kind": "jobs",
          "v": 1,
          "total": 0,
          "offset": 0,
          "items": [],
          "missing": []
        }
    "#]]);
}

#[test]
fn jobs_are_tracked_and_untracked() {
    let redis = Redis::start();
    redis.at(1).run("put mail K --jid a").ok();
    redis.at(2).run("put mail K --jid b").ok();
    redis.at(3).run("track a b").shows(expect![[r#"
        --- stderr
        2 tracked
    "#]]);
    redis.at(3).run("track a -o raw").shows(expect![[r#"
        0
    "#]]);
    redis.at(4).run("track --columns jid").shows(expect![[r#"
            a
            b
        "#]]);
    redis
        .at(5)
        .run("track a --remove -o ndjson")
        .shows(expect![[r#"
            {"jid":"a","result":"done","code":"ok","detail":null,"queue":"mail","state_before":"waiting","state_after":null}
            {"summary":{"action":"untrack","dry_run":false,"context":null,"matched":1,"done":1,"skipped":0,"failed":0,"remaining":0,"elapsed_s":0}}
        "#]]);
    redis.at(6).run("track --columns jid").shows(expect![[r#"
            b
        "#]]);
    redis.at(7).run("track nope --remove").exits(4);
    redis.at(7).run("track --remove").shows(expect![[r#"
        --- stderr
        error: no jobs are given
        hint: give jids, or select jobs by flags: `qless help selectors`
        --- exit 2
    "#]]);
}

#[test]
fn prune_untracks_expired_jobs() {
    let redis = Redis::start();
    for jid in ["a", "b", "c"] {
        redis.at(1).run(&format!("put mail K --jid {jid}")).ok();
    }
    redis.at(2).run("track a b c").ok();
    redis.at(3).run("cancel a b --yes").ok();
    redis
        .at(4)
        .run("track a --remove -o jid")
        .shows(expect![[r#"
            a
        "#]]);
    redis
        .at(5)
        .run("track --prune -n -o jid")
        .shows(expect![[r#"
            b
            --- stderr
            Stop tracking 1 job on unix://DIR/s

              –	–	1	–	–
            would stop tracking 1
        "#]]);
    redis.at(5).run("track --prune").shows(expect![[r#"
        --- stderr
        1 no longer tracked
    "#]]);
    redis.at(6).run("track --columns jid").shows(expect![[r#"
            c
        "#]]);
    redis.at(6).run("track --prune").shows(expect![[r#"
        --- stderr
        no jobs to stop tracking
    "#]]);
}
