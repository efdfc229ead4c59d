//! `qless unpause`

use expect_test::expect;

use crate::support::redis::Redis;
use crate::support::terminal;

#[test]
fn an_unpaused_queue_gives_jobs_again() {
    let redis = Redis::start();
    redis.at(1).run("put images K --jid a").ok();
    redis.at(2).run("pause images").ok();
    redis.at(3).run("unpause images -n").shows(expect![[r#"
        --- stderr
        would unpause images
    "#]]);
    redis.at(3).run("pop images").exits(4);
    redis.at(4).run("unpause images -o json").shows(expect![[r#"
            {
              "kind": "done",
              "v": 1,
              "action": "unpause",
              "targets": [
                "images"
              ]
            }
        "#]]);
    redis.at(5).run("unpause images").shows(expect![[r#""#]]);
    assert_eq!(redis.at(6).run("pop images -o jid").ok(), "a");
}

#[test]
fn unpausing_an_unknown_queue_is_not_found() {
    let redis = Redis::start();
    redis.at(1).run("put images K").ok();
    redis.at(2).run("unpause imags").shows(expect![[r#"
        --- stderr
        error: queue `imags` does not exist
        hint: did you mean `images`?
        --- exit 4
    "#]]);
    redis.at(2).run("unpause").shows(expect![[r#"
        --- stderr
        error: `QUEUE` is missing
        hint: usage: `qless unpause <QUEUE>...`
        --- exit 2
    "#]]);
    redis.at(2).run("unpause --all").shows(expect![[r#""#]]);
}

#[test]
fn a_queue_that_was_not_paused_is_not_said_to_be_unpaused() {
    let redis = Redis::start();
    redis.at(1).run("put images K").ok();
    redis.at(1).run("put mail K").ok();
    redis.at(2).run("pause mail").ok();
    let mut command = redis.at(3).command();
    command.args(["unpause", "images", "mail"]);
    let printed = terminal::run(command, 100).stdout();
    assert_eq!(printed, "images is not paused\nunpaused mail\n");
    let done = redis.at(4).run("unpause images -o json").json();
    assert_eq!(done["targets"], serde_json::json!([]));
}
