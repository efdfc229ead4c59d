//! `qless tag`

use expect_test::expect;

use super::jobs::busy;
use crate::support::redis::Redis;

#[test]
fn tags_are_listed_most_used_first() {
    let redis = busy();
    redis.session(expect![[r#"
        100 $ qless tag
        eu	2
        vip	1
        100 $ qless tag --limit 1 -o json | jq -c
        {"kind":"tags","v":1,"total":2,"offset":0,"items":[{"tag":"eu","jobs":2}]}
    "#]]);
    let printed = redis.at(100).run("api tag top").stdout();
    assert_eq!(redis.at(100).run("tag -o raw").stdout(), printed);
}

#[test]
fn tags_are_added_and_removed() {
    let redis = Redis::start();
    redis.ok(1, "put mail K --jid a --tag new");
    redis.ok(2, "put mail K --jid b");
    redis.session(expect![[r#"
        3 $ qless tag a --add seen --add eu --remove new
        a	seen, eu
        3 $ qless tag a b --add vip
        a	seen, eu, vip
        b	vip
        --- stderr
        2 tagged
        3 $ qless tag b --remove vip
        b	–
        3 $ qless tag a
        a	seen, eu, vip
        3 $ qless tag a -o ndjson --add seen
        {"jid":"a","result":"done","code":"ok","detail":"seen, eu, vip","queue":"mail","state_before":"waiting","state_after":"waiting"}
        {"summary":{"action":"tag","dry_run":false,"context":null,"matched":1,"done":1,"skipped":0,"failed":0,"remaining":0,"elapsed_s":0}}
        3 $ qless tag a --add x -o raw
        ["seen","eu","vip","x"]
        3 $ qless tag
        eu	1
        seen	1
        vip	1
        x	1
        3 $ qless tag a --add y -n
        --- stderr
        would tag a
        3 $ qless tag --queue mail --add y
        --- stderr
        error: cannot ask whether to tag 2 waiting jobs on unix://DIR/s; nothing was changed
        hint: add `--yes`
        --- exit 9
        3 $ qless tag --queue mail --add y --yes
        a	seen, eu, vip, x, y
        b	y
        --- stderr
        2 tagged
    "#]]);
}

#[test]
fn an_unknown_job_or_an_invalid_tag_is_refused() {
    let redis = Redis::start();
    redis.ok(1, "put mail K --jid a --tag new");
    redis.session(expect![[r#"
        3 $ qless tag nope &>/dev/null
        --- exit 4
        3 $ qless tag a --add ''
        --- stderr
        error: `--add` is empty
        --- exit 2
        3 $ qless tag a --add a --add x --remove x
        --- stderr
        error: `--add` and `--remove` both name `x`
        --- exit 2
        3 $ qless recur tag j --add x --remove x &>/dev/null
        --- exit 2
        3 $ qless depends a --on x --off x &>/dev/null
        --- exit 2
        3 $ qless tag a nope --add x -o ndjson
        {"jid":"nope","result":"skipped","code":"gone","detail":"it does not exist","queue":null,"state_before":null,"state_after":null}
        {"jid":"a","result":"done","code":"ok","detail":"new, x","queue":"mail","state_before":"waiting","state_after":"waiting"}
        {"summary":{"action":"tag","dry_run":false,"context":null,"matched":2,"done":1,"skipped":1,"failed":0,"remaining":0,"elapsed_s":0}}
        --- stderr
        1 tagged, 1 skipped
          skipped  1  gone: nope
    "#]]);
}

#[test]
fn a_job_that_would_get_too_many_tags_does_not_stop_the_others() {
    let redis = Redis::start();
    for jid in ["a", "full", "z"] {
        redis.ok(1, &format!("put mail K --jid {jid}"));
    }
    let tags: Vec<String> = (0..1000).map(|n| format!("t{n}")).collect();
    let tags = serde_json::to_string(&tags).unwrap();
    redis.send(&["HSET", "ql:j:full", "tags", &tags]);
    redis.session(expect![[r#"
        2 $ qless tag a full z --add new --yes
        a	new
        z	new
        --- stderr
        2 tagged, 1 failed
          failed   1  more than 1000 tags: full
        --- exit 3
        2 $ qless tag full --add new
        --- stderr
        error: cannot tag `full`: more than 1000 tags
        --- exit 1
    "#]]);
}

/// 1,001 tags.
fn too_many_tags() -> impl Iterator<Item = String> {
    (0..1001).map(|number| format!("t{number}"))
}

#[test]
fn more_tags_than_a_job_may_have_are_a_usage_error_also_in_a_dry_run() {
    let redis = Redis::start();
    redis.ok(1, "put q K --jid a");
    redis.ok(1, "recur put q K --every 1h --jid r --tag old");
    let before = redis.dump();
    let mut printed = String::new();
    for (line, flag) in [
        ("put q K", "--tag"),
        ("put q K --from -", "--tag"),
        ("recur put q K --every 1h", "--tag"),
        ("tag a", "--add"),
        ("recur tag r --remove old", "--add"),
    ] {
        for dry_run in ["", "-n"] {
            let mut words: Vec<String> = format!("{line} {dry_run}")
                .split_whitespace()
                .map(str::to_owned)
                .collect();
            for tag in too_many_tags() {
                words.extend([flag.to_owned(), tag]);
            }
            let ran = redis.at(2).input("{}\n").args(&words).exits(2);
            printed += &format!("{line} {dry_run}: {}", ran.stderr());
        }
    }
    assert!(redis.dump() == before);
    expect![[r#"
        put q K : error: `--tag` names more than 1000 tags
        put q K -n: error: `--tag` names more than 1000 tags
        put q K --from - : error: `--tag` names more than 1000 tags
        put q K --from - -n: error: `--tag` names more than 1000 tags
        recur put q K --every 1h : error: `--tag` names more than 1000 tags
        recur put q K --every 1h -n: error: `--tag` names more than 1000 tags
        tag a : error: `--add` names more than 1000 tags
        tag a -n: error: `--add` names more than 1000 tags
        recur tag r --remove old : error: `--add` names more than 1000 tags
        recur tag r --remove old -n: error: `--add` names more than 1000 tags
    "#]]
    .assert_eq(&printed);
}

#[test]
fn a_recurring_job_with_the_most_tags_loses_none_to_a_refused_change() {
    let redis = Redis::start();
    let mut put: Vec<String> = "recur put q K --every 1h --jid r"
        .split(' ')
        .map(str::to_owned)
        .collect();
    for tag in too_many_tags().take(1000) {
        put.extend(["--tag".to_owned(), tag]);
    }
    redis.at(1).args(&put).exits(0);
    let before = redis.dump();
    redis.session(expect![[r#"
        2 $ qless recur tag r --remove t1 --add x --add y
        --- stderr
        error: `r` would have more than 1000 tags
        --- exit 2
        2 $ qless recur tag r --remove t1 --add x --add y -n
        --- stderr
        error: `r` would have more than 1000 tags
        --- exit 2
    "#]]);
    assert!(redis.dump() == before);
    redis.at(2).run("recur tag r --remove t1 --add x").exits(0);
}
