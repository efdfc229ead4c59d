//! `kill -9` of the binary at every request of a bulk run, before the server sees it and after it
//! replied; then the same command again. Each job is changed exactly once.

use crate::support::client::Client;
use crate::support::proxy::{Cut, run_and_kill};
use crate::support::random;
use crate::support::redis::Redis;

const JIDS: [&str; 4] = ["a", "b", "c", "-x y"];

/// Four jobs that have failed, in two queues.
fn fail_jobs(redis: &Redis) {
    redis.send(&["FLUSHALL"]);
    let mut client = Client::new(redis);
    for (jid, queue) in JIDS.iter().zip(["mail", "images", "mail", "mail"]) {
        client
            .call(&["put", "me", queue, jid, "K", "{}", "0"])
            .unwrap();
    }
    for queue in ["mail", "images"] {
        for jid in client.pop(queue, "w1", 10) {
            client.call(&["fail", &jid, "w1", "boom", "no"]).unwrap();
        }
    }
}

/// Kills a run of the line at each of its requests; after a second, complete run `check` must hold.
/// In `make test`, even requests are cut before and odd ones after; in `make soak`, each both ways.
/// The result is how many requests a complete run makes.
fn killed_at_every_request(line: &str, check: impl Fn(&Redis, &str)) -> usize {
    let cuts: [fn(usize) -> Cut; 2] = [Cut::Before, Cut::After];
    let step = if random::soaking() { 1 } else { 2 };
    let redis = &Redis::start();
    let mut whole = 0;
    for (cut, first) in cuts.into_iter().zip([step, 1]) {
        for request in (first..).step_by(step) {
            fail_jobs(redis);
            let ended = run_and_kill(&redis.qless(), redis.socket(), line, cut(request));
            let at = format!("killed at request {request}");
            if ended {
                check(redis, "not killed");
                redis.must_be_clean();
                whole = request - 1;
                break;
            }
            // After everything is done, the named jobs are as asked, or the group is unknown.
            let again = redis.qless().run(line);
            assert!(
                matches!(again.code(), 0 | 4),
                "{line}: {at}: {}",
                again.stderr()
            );
            // A third run finds nothing to do.
            let before = redis.dump();
            redis.qless().run(line);
            assert!(
                redis.dump() == before,
                "{line}: {at}: a third run changed something"
            );
            check(redis, &at);
            redis.must_be_clean();
        }
    }
    whole
}

/// Each job was moved once, into the given queue or its own, and a worker gets it once.
fn each_once(redis: &Redis, at: &str, queues: [&str; 4], verb: &str) {
    let mut client = Client::new(redis);
    for (jid, queue) in JIDS.iter().zip(queues) {
        let job = client.entry(jid).unwrap();
        let whole = ["put", "popped", "failed", "put", verb];
        assert_eq!(job.history, whole, "{at}: {jid}");
        assert_eq!(
            (&*job.state, &*job.queue),
            ("waiting", queue),
            "{at}: {jid}"
        );
    }
    let mut popped: Vec<String> = ["mail", "images", "slow"]
        .iter()
        .flat_map(|queue| client.pop(queue, "w2", 10))
        .collect();
    popped.sort();
    let mut all = JIDS.map(String::from);
    all.sort();
    assert_eq!(popped, all, "{at}");
    assert_eq!(client.json(&["failed"]), serde_json::json!({}), "{at}");
    let day = client.json(&["stats", "mail", "0"]);
    assert_eq!(day["failed"], 0, "{at}");
}

const OWN: [&str; 4] = ["mail", "images", "mail", "mail"];

#[test]
fn a_killed_retry_all_changes_each_job_once() {
    // One job per slice, so that each has a request of its own.
    let line = "failed --group boom --retry-all --yes --fail-fast";
    let requests = killed_at_every_request(line, |redis, at| {
        each_once(redis, at, OWN, "cli retry");
    });
    assert!(requests > 6, "{requests}");
    killed_at_every_request("failed --group boom --retry-all --yes", |redis, at| {
        each_once(redis, at, OWN, "cli retry");
    });
}

#[test]
fn a_killed_retry_changes_each_named_job_once() {
    killed_at_every_request("retry --fail-fast a b c -- '-x y'", |redis, at| {
        each_once(redis, at, OWN, "cli retry");
    });
}

#[test]
fn a_killed_move_changes_each_job_once() {
    let line = "move --to slow --fail-fast a b c -- '-x y'";
    killed_at_every_request(line, |redis, at| {
        each_once(redis, at, ["slow"; 4], "cli move");
    });
    let line = "move --group boom --to slow --yes --fail-fast";
    killed_at_every_request(line, |redis, at| {
        each_once(redis, at, ["slow"; 4], "cli move");
    });
}

#[test]
fn a_killed_cancel_is_finished_by_the_next() {
    for line in [
        "failed --group boom --cancel-all --yes --fail-fast",
        "cancel --state failed --yes",
    ] {
        killed_at_every_request(line, |redis, at| {
            let mut client = Client::new(redis);
            for jid in JIDS {
                assert!(client.entry(jid).is_none(), "{at}: {jid}");
            }
            let left = redis
                .dump()
                .into_keys()
                .map(|key| String::from_utf8_lossy(&key).into_owned());
            let left: Vec<String> = left
                .filter(|key| key.starts_with("ql:j:") || key.starts_with("ql:f"))
                .collect();
            assert_eq!(left, [""; 0], "{at}");
        });
    }
}
