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
        let said = redis.at(2).run(line).exits(2).stderr();
        let has_example = said.contains("5m`") || said.contains("+10m`");
        assert!(has_example, "{line}: {said}");
    }
    let set = redis.qless().env("QLESS_TIMEOUT", "5");
    let expected = "`QLESS_TIMEOUT` expects a duration with a unit";
    set.run("queues").exits(2).says(expected);
    for timeout in ["5", "\"5\""] {
        let home = ConfigHome::new(&format!("[defaults]\ntimeout = {timeout}\n"));
        home.with(redis.qless()).run("queues").exits(2);
    }
    redis.session(expect![[r#"
        2 $ qless pause mail --for 5
        --- stderr
        error: `--for` expects a duration with a unit, such as `5s` or `5m`, not `5`
        --- exit 2
        2 $ printf '{"jid":"t","delay":"5"}' | qless put mail K --from - &>/dev/null
        --- exit 2
        2 $ printf '{"jid":"t","key":"k","dup":"skip","ttl":"5"}' | qless put mail K --from - &>/dev/null
        --- exit 2
        2 $ printf '{"jid":"n","delay":5,"key":"k","dup":"skip","ttl":5}' | qless put mail K --from - &>/dev/null
        2 $ qless put mail K --delay 0 &>/dev/null
        2 $ qless config set heartbeat 90
        2 $ qless defaults mail '{"ttl":5}' &>/dev/null
    "#]]);
}
