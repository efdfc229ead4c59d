//! `qless forget`

use expect_test::expect;

use crate::support::redis::Redis;

fn known() -> Redis {
    let redis = Redis::start();
    redis.ok(1, "put mail K --jid a");
    redis.ok(2, "put old K --jid b");
    redis.ok(3, "pop old --worker w1");
    redis.ok(4, "complete b --worker w1");
    redis.ok(5, "pop mail --worker w2");
    redis
}

#[test]
fn an_empty_queue_is_forgotten_and_one_with_jobs_is_kept() {
    known().session(expect![[r#"
        10 $ qless forget queue old
        --- stderr
        error: cannot ask whether to forget queue `old`; nothing was changed
        hint: add `--yes`
        --- exit 9
        10 $ qless forget queue old -n
        --- stderr
        would forget queue `old`
        10 $ qless forget queue mail --yes
        --- stderr
        error: cannot forget `mail`: it has 1 running
        hint: `--force` forgets it and keeps its jobs
        --- exit 5
        10 $ qless forget queue old mail --yes &>/dev/null
        --- exit 5
        11 $ qless queues --columns queue
        mail
        old
        11 $ qless forget queue old --yes -o json | jq -c
        {"kind":"done","v":1,"action":"forget queue","targets":["old"]}
        12 $ qless forget queue old --yes
        --- stderr
        error: queue `old` does not exist
        --- exit 4
        12 $ qless forget queue mail --yes --force &>/dev/null
        13 $ qless queues --columns queue
        20 $ qless throttle set none -1 &>/dev/null
        20 $ qless put held K --jid c --throttle none &>/dev/null
        20 $ qless pop held --worker w1 &>/dev/null
        --- exit 4
        21 $ qless forget queue held --yes
        --- stderr
        error: cannot forget `held`: it has 1 throttled
        hint: `--force` forgets it and keeps its jobs
        --- exit 5
    "#]]);
}

#[test]
fn a_worker_without_jobs_is_forgotten() {
    let redis = known();
    redis.session(expect![[r#"
        10 $ qless forget worker w1
        --- stderr
        error: cannot ask whether to forget worker `w1`; nothing was changed
        hint: add `--yes`
        --- exit 9
        10 $ qless forget worker w1 --yes -o json | jq -c
        {"kind":"done","v":1,"action":"forget worker","targets":["w1"]}
        11 $ qless workers --columns worker
        w2
        11 $ qless forget worker w2 --yes
        --- stderr
        error: cannot forget `w2`: it holds 1 job
        hint: `qless workers w2` shows them
        --- exit 5
        11 $ qless forget worker w1 --yes
        --- stderr
        error: worker `w1` does not exist
        --- exit 4
    "#]]);
    redis.at(11).run("forget").exits(2);
}
