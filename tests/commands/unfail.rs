//! `qless unfail`

use expect_test::expect;

use crate::support::redis::Redis;

fn failed() -> Redis {
    let redis = Redis::start();
    for (now, jid) in [(1, "a"), (2, "b"), (3, "c")] {
        redis.at(now).run(&format!("put mail K --jid {jid}")).ok();
        redis.at(now).run("pop mail --worker w").ok();
        redis
            .at(now)
            .run(&format!(
                "fail {jid} --group 'upload error' --message m --worker w"
            ))
            .ok();
    }
    redis
}

#[test]
fn unfail_moves_the_oldest_failures_to_one_queue() {
    let redis = failed();
    redis
        .at(10)
        .run("unfail 'upload error' --to other --count 2")
        .shows(expect![[r#"
            --- stderr
            error: cannot ask whether to move the 2 oldest jobs of `upload error` to `other`; nothing was changed
            hint: add `--yes`
            --- exit 9
        "#]]);
    redis
        .at(10)
        .run("unfail 'upload error' --to other --count 2 -n")
        .shows(expect![[r#"
            --- stderr
            note: queue `other` is new
            would move the 2 oldest jobs of `upload error` to `other`
        "#]]);
    redis
        .at(10)
        .run("unfail 'upload error' --to other --count 2 --yes")
        .shows(expect![[r#"
            2
        "#]]);
    redis
        .at(11)
        .run("jobs --queue other -o jid")
        .shows(expect![[r#"
            b
            a
        "#]]);
    redis
        .at(12)
        .run("unfail 'upload error' --to other --yes -o ndjson")
        .shows(expect![[r#"
            {"kind":"bulk","v":1,"action":"unfail","dry_run":false,"context":null,"matched":1,"done":1,"skipped":0,"failed":0,"remaining":0,"elapsed_s":0,"items":[]}
        "#]]);
}

#[test]
fn unfail_of_an_unknown_group_is_not_found() {
    let redis = failed();
    redis
        .at(10)
        .run("unfail 'upload eror' --to other --yes")
        .shows(expect![[r#"
            --- stderr
            error: group `upload eror` does not exist
            hint: did you mean `upload error`?
            --- exit 4
        "#]]);
    redis
        .at(10)
        .run("unfail 'upload error' --to ''")
        .shows(expect![[r#"
            --- stderr
            error: `--to` is empty
            --- exit 2
        "#]]);
    redis
        .at(10)
        .run("unfail 'upload error' --to q --count 0")
        .exits(2);
}
