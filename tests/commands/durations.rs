//! Durations, wherever they are typed

use expect_test::expect;

use crate::support::config::ConfigHome;
use crate::support::redis::Redis;

/// A number without a unit may be meant as minutes: nobody reads it as seconds. Zero needs no unit.
#[test]
fn a_number_without_a_unit_is_refused_wherever_it_is_typed() {
    let redis = Redis::start();
    redis.ok(1, "put mail K --jid a");
    for line in [
        "pause mail --for 5",
        "put mail K --delay 5",
        "put mail K --at +5",
        "put mail K --wait=5",
        "put mail K --key k --unique --ttl 5",
        "recur put mail K --every 90",
        "jobs --older-than 5",
        "retry a --spread 5",
        "wait a --deadline 5",
        "status --since 5",
        "status --watch=5",
        "throttle set api 1 --ttl 5",
        "queues --timeout 5",
        "work mail --poll 5 -- true",
        "work mail --time-limit 5 -- true",
        r#"defaults mail '{"ttl":"5"}'"#,
    ] {
        let ran = redis.at(2).run(line).exits(2);
        assert!(
            ran.stderr().contains("5m`") || ran.stderr().contains("+10m`"),
            "{line}: {}",
            ran.stderr()
        );
    }
    let refused = redis.at(2).run("pause mail --for 5").stderr();
    expect![[r#"
        error: `--for` expects a duration with a unit, such as `5s` or `5m`, not `5`
    "#]]
    .assert_eq(&refused);
    let set = redis
        .qless()
        .env("QLESS_TIMEOUT", "5")
        .run("queues")
        .exits(2);
    assert!(
        set.stderr()
            .contains("`QLESS_TIMEOUT` expects a duration with a unit")
    );
    for timeout in ["5", "\"5\""] {
        let home = ConfigHome::new(&format!("[defaults]\ntimeout = {timeout}\n"));
        home.with(redis.qless()).run("queues").exits(2);
    }

    let lines = |text: &str| redis.at(2).input(text).run("put mail K --from -");
    lines(r#"{"jid":"t","delay":"5"}"#).exits(2);
    lines(r#"{"jid":"t","key":"k","dup":"skip","ttl":"5"}"#).exits(2);
    lines(r#"{"jid":"n","delay":5,"key":"k","dup":"skip","ttl":5}"#).ok();
    redis.ok(2, "put mail K --delay 0");
    redis.ok(2, "config set heartbeat 90");
    redis.ok(2, r#"defaults mail '{"ttl":5}'"#);
}
