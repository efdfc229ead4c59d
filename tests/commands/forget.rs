//! `qless forget`

use expect_test::expect;

use crate::support::redis::Redis;

fn known() -> Redis {
    let redis = Redis::start();
    redis.at(1).run("put mail K --jid a").ok();
    redis.at(2).run("put old K --jid b").ok();
    redis.at(3).run("pop old --worker w1").ok();
    redis.at(4).run("complete b --worker w1").ok();
    redis.at(5).run("pop mail --worker w2").ok();
    redis
}

#[test]
fn an_empty_queue_is_forgotten() {
    let redis = known();
    redis.at(10).run("forget queue old").shows(expect![[r#"
        --- stderr
        error: cannot ask whether to forget queue `old`; nothing was changed
        hint: add `--yes`
        --- exit 9
    "#]]);
    redis.at(10).run("forget queue old -n").shows(expect![[r#"
            --- stderr
            would forget queue `old`
        "#]]);
    redis
        .at(10)
        .run("forget queue old --yes -o json")
        .shows(expect![[r#"
            {
              "kind": "done",
              "v": 1,
              "action": "forget queue",
              "targets": [
                "old"
              ]
            }
        "#]]);
    redis
        .at(11)
        .run("queues --columns queue")
        .shows(expect![[r#"
            mail
        "#]]);
    redis
        .at(12)
        .run("forget queue old --yes")
        .shows(expect![[r#"
            --- stderr
            error: queue `old` does not exist
            --- exit 4
        "#]]);
}

#[test]
fn a_queue_with_only_throttled_jobs_is_kept() {
    let redis = Redis::start();
    redis.at(1).run("throttle set none -1").ok();
    redis.at(2).run("put mail K --jid a --throttle none").ok();
    redis.at(3).run("pop mail --worker w").exits(4);
    redis
        .at(4)
        .run("forget queue mail --yes")
        .shows(expect![[r#"
            --- stderr
            error: cannot forget `mail`: it has 1 throttled
            hint: `--force` forgets it and keeps its jobs
            --- exit 5
        "#]]);
}

#[test]
fn a_queue_that_is_not_empty_is_kept() {
    let redis = known();
    redis
        .at(10)
        .run("forget queue mail --yes")
        .shows(expect![[r#"
            --- stderr
            error: cannot forget `mail`: it has 1 running
            hint: `--force` forgets it and keeps its jobs
            --- exit 5
        "#]]);
    redis.at(10).run("forget queue old mail --yes").exits(5);
    redis
        .at(11)
        .run("queues --columns queue")
        .shows(expect![[r#"
            mail
            old
        "#]]);
    redis.at(12).run("forget queue mail --yes --force").ok();
    redis
        .at(13)
        .run("queues --columns queue")
        .shows(expect![[r#"
            old
        "#]]);
}

#[test]
fn a_worker_without_jobs_is_forgotten() {
    let redis = known();
    redis.at(10).run("forget worker w1").shows(expect![[r#"
        --- stderr
        error: cannot ask whether to forget worker `w1`; nothing was changed
        hint: add `--yes`
        --- exit 9
    "#]]);
    redis
        .at(10)
        .run("forget worker w1 --yes -o json")
        .shows(expect![[r#"
            {
              "kind": "done",
              "v": 1,
              "action": "forget worker",
              "targets": [
                "w1"
              ]
            }
        "#]]);
    redis
        .at(11)
        .run("workers --columns worker")
        .shows(expect![[r#"
            w2
        "#]]);
    redis
        .at(11)
        .run("forget worker w2 --yes")
        .shows(expect![[r#"
            --- stderr
            error: cannot forget `w2`: it holds 1 job
            hint: `qless workers w2` shows them
            --- exit 5
        "#]]);
    redis
        .at(11)
        .run("forget worker w1 --yes")
        .shows(expect![[r#"
            --- stderr
            error: worker `w1` does not exist
            --- exit 4
        "#]]);
    redis.at(11).run("forget").exits(2);
}
