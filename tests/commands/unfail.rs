//! `qless unfail`

use expect_test::expect;

use crate::support::redis::Redis;

fn failed() -> Redis {
    let redis = Redis::start();
    for (now, jid) in [(1, "a"), (2, "b"), (3, "c")] {
        redis.ok(now, &format!("put mail K --jid {jid}"));
        redis.ok(now, "pop mail --worker w");
        redis.ok(
            now,
            &format!("fail {jid} --group 'upload error' --message m --worker w"),
        );
    }
    redis
}

#[test]
fn unfail_moves_the_oldest_failures_to_one_queue() {
    let redis = failed();
    redis.session(expect![[r#"
        10 $ qless unfail 'upload error' --to other --count 2
        --- stderr
        error: cannot ask whether to move the 2 oldest jobs of `upload error` to `other`; nothing was changed
        hint: add `--yes`
        --- exit 9
        10 $ qless unfail 'upload error' --to other --count 2 -n
        --- stderr
        note: queue `other` is new
        would move the 2 oldest jobs of `upload error` to `other`
        10 $ qless unfail 'upload error' --to other --count 2 --yes
        2
        11 $ qless jobs --queue other -o jid
        b
        a
        12 $ qless unfail 'upload error' --to other --yes -o ndjson
        {"kind":"bulk","v":1,"action":"unfail","dry_run":false,"context":null,"matched":1,"done":1,"skipped":0,"failed":0,"remaining":0,"elapsed_s":0,"items":[]}
    "#]]);
}

#[test]
fn unfail_of_an_unknown_group_is_not_found() {
    let redis = failed();
    redis.session(expect![[r#"
        10 $ qless unfail 'upload eror' --to other --yes
        --- stderr
        error: group `upload eror` does not exist
        hint: did you mean `upload error`?
        --- exit 4
        10 $ qless unfail 'upload error' --to ''
        --- stderr
        error: `--to` is empty
        --- exit 2
        10 $ qless unfail 'upload error' --to q --count 0 &>/dev/null
        --- exit 2
    "#]]);
}
