//! `qless track`

use expect_test::expect;

use super::jobs::busy;

#[test]
fn tracked_jobs_are_listed_and_the_expired_told() {
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
fn nothing_tracked_is_an_empty_list() {
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
