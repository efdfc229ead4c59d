//! `kill -9` of the binary at every request of a repair, before the server sees it and after it
//! replied: then a revert restores everything exactly, and another repair gives the same result.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use crate::support::proxy::{Cut, proxy, proxy_then, run_and_kill};
use crate::support::random;
use crate::support::redis::Redis;

/// A database with damage of several kinds.
fn damaged() -> Redis {
    let redis = Redis::start();
    damage(&redis);
    redis
}

/// Replaces everything by a database with damage of several kinds, and removes the undo file.
fn damage(redis: &Redis) {
    emptied(redis);
    redis.calls(
        [
            "put me mail ghost K {} 0",
            "put me mail stays K {} 0 tags [\"eu\"]",
            "put me images runs K {} 0",
            "put me images fails K {} 0",
            "pop images w1 2",
            "fail fails w1 boom no",
            "put me mail astray K {} 0",
        ]
        .map(|line| (9_000.0, line.split(' ').collect())),
    );
    for line in [
        "DEL ql:j:ghost",
        "ZREM ql:q:images-locks runs",
        "DEL ql:f:boom",
        "ZADD ql:tags 7 eu",
        "ZREM ql:q:mail-work astray",
        "ZADD ql:q:other-work 5 astray",
        "HSET ql:j:stub state waiting",
        "ZADD ql:q:mail-work 3 stub",
        "HSET ql:j:stays tags oops",
    ] {
        redis.send(&line.split(' ').collect::<Vec<_>>());
    }
}

fn emptied(redis: &Redis) {
    redis.send(&["FLUSHALL"]);
    _ = std::fs::remove_file(redis.socket().with_file_name("undo.ndjson"));
}

/// All keys; keys set aside have one common name.
fn dump(redis: &Redis) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let keys = redis.dump().into_iter().map(|(key, value)| {
        let aside = key.strip_prefix(b"ql:lost:".as_slice()).map(|rest| {
            let at = rest.iter().position(|&byte| byte == b':').unwrap();
            [b"ql:lost:RUN", &rest[at..]].concat()
        });
        (aside.unwrap_or(key), value)
    });
    keys.collect()
}

#[test]
fn a_killed_repair_can_be_reverted_or_repeated() {
    let whole = damaged();
    whole
        .at(10_000)
        .run("check --repair --only all --yes")
        .exits(0);
    let whole = dump(&whole);
    let cuts: [fn(usize) -> Cut; 2] = [Cut::Before, Cut::After];
    // In `make test`, every 16th request is cut before, and others after.
    let step = if random::soaking() { 1 } else { 16 };
    let redis = Redis::start();
    for (cut, first) in cuts.into_iter().zip([step.min(4), 1]) {
        for request in (first..).step_by(step) {
            damage(&redis);
            let before = redis.dump();
            let undo = redis.socket().with_file_name("undo.ndjson");
            let undo = undo.to_str().unwrap();
            let line = format!("check --repair --only all --undo {undo} --yes");
            let ended = run_and_kill(&redis.at(10_000), redis.socket(), &line, cut(request));
            let at = format!("killed at request {request}");
            if std::fs::metadata(undo).is_ok_and(|file| file.len() > 0) {
                let revert = format!("check --revert {undo} --yes");
                redis.at(10_000).run(&revert).exits(0);
                let back = redis.dump();
                let other = back.iter().chain(&before).filter(|(key, value)| {
                    back.get(*key) != Some(value) || before.get(*key) != Some(value)
                });
                let other: Vec<String> = other
                    .map(|(key, _)| String::from_utf8_lossy(key).into_owned())
                    .collect();
                let printed = std::fs::read_to_string(undo).unwrap();
                assert!(
                    other.is_empty(),
                    "{at}: {other:?} not put back from\n{printed}"
                );
                redis.at(10_000).run(&revert).exits(0);
                assert!(redis.dump() == before, "{at}: put back twice");
            } else {
                assert!(redis.dump() == before, "{at}: changed without a word");
            }
            redis
                .at(10_000)
                .run("check --repair --only all --yes")
                .exits(0);
            assert!(dump(&redis) == whole, "{at}: mended otherwise");
            if ended {
                assert!(request > 10, "{request}");
                break;
            }
        }
    }
}

#[test]
fn a_repair_with_lost_replies_finishes_correctly() {
    let summary = |stderr: String| {
        let mut lines = stderr.lines().filter(|line| line.contains(" repaired"));
        lines.next().unwrap_or_default().to_owned()
    };
    let whole = damaged().at(10_000).run("check --repair --only all --yes");
    let whole = summary(whole.exits(0).stderr());
    // The binary does not retry the first connection of a process.
    let step = if random::soaking() { 1 } else { 13 };
    let redis = Redis::start();
    for request in (2..40).step_by(step) {
        damage(&redis);
        let before = redis.dump();
        let undo = redis.socket().with_file_name("undo.ndjson");
        let undo = undo.to_str().unwrap();
        let cut = |line: &str| {
            let port = proxy(redis.socket(), Cut::After(request));
            let ran = redis
                .at(10_000)
                .env("QLESS_REDIS_URL", format!("redis://127.0.0.1:{port}"))
                .run(line);
            let printed = summary(ran.exits(0).stderr());
            assert_eq!(printed, whole, "cut at request {request}");
        };
        cut(&format!("check --repair --only all --undo {undo} --yes"));
        redis.at(10_000).run("check").exits(0);
        redis
            .at(10_000)
            .run(&format!("check --revert {undo} --yes"))
            .exits(0);
        assert!(redis.dump() == before, "cut at request {request}");
        cut("check --repair --only all --yes");
        redis.at(10_000).run("check").exits(0);
    }
}

#[test]
fn sets_that_are_lost_at_any_time_of_a_repair_release_no_job() {
    let redis = Redis::start();
    let mut lines = vec![
        "put me mail other K {} 0".to_owned(),
        "put me mail stuck K {} 0 depends [\"other\"]".to_owned(),
    ];
    let below: Vec<String> = (0..20).map(|at| format!("below{at}")).collect();
    for (at, jid) in below.iter().enumerate() {
        lines.push(format!("put me mail above{at} K {{}} 0"));
        lines.push(format!(
            "put me mail {jid} K {{}} 0 depends [\"above{at}\"]"
        ));
    }
    let lines = lines
        .iter()
        .map(|line| (9_000.0, line.split(' ').collect()));
    let lines: Vec<(f64, Vec<&str>)> = lines.collect();
    let step = if random::soaking() { 1 } else { 23 };
    for request in (1..).step_by(step) {
        redis.send(&["FLUSHALL"]);
        redis.calls(lines.clone());
        redis.send(&["DEL", "ql:j:stuck-dependencies", "ql:j:other-dependents"]);
        let happened = Arc::new(AtomicBool::new(false));
        let (shared, connection) = (happened.clone(), Mutex::new(redis.connection()));
        let sets: Vec<String> = below
            .iter()
            .map(|jid| format!("ql:j:{jid}-dependencies"))
            .collect();
        let lose = move || {
            let mut connection = connection.lock().unwrap();
            redis::cmd("DEL").arg(&sets).exec(&mut connection).unwrap();
            shared.store(true, Ordering::SeqCst);
        };
        let port = proxy_then(redis.socket(), Cut::Meanwhile(request), lose);
        // The rate makes small pages, so that a job and its sets are read at different times.
        let ran = redis
            .at(10_000)
            .env("QLESS_REDIS_URL", format!("redis://127.0.0.1:{port}"))
            .run("check --repair --yes --rate 1000/s");
        assert!([0, 7].contains(&ran.code()), "{request}: {}", ran.stderr());
        let depends = || {
            let printed = redis
                .at(10_000)
                .run("jobs --queue mail --state depends -o jid");
            printed
                .ok()
                .lines()
                .filter(|jid| jid.starts_with("below"))
                .count()
        };
        assert_eq!(depends(), below.len(), "lost before request {request}");
        redis.at(10_000).run("check --repair --yes").exits(0);
        assert_eq!(depends(), below.len(), "repaired after request {request}");
        redis.must_be_clean();
        if !happened.load(Ordering::SeqCst) {
            assert!(request > 20, "{request}");
            break;
        }
    }
}

/// A long list with misplaced entries and without some failed jobs.
fn damage_list(redis: &Redis) {
    emptied(redis);
    let jobs = 0..60;
    let lines = [
        jobs.clone()
            .map(|n| format!("put me mail f{n} K {{}} 0"))
            .collect::<Vec<_>>(),
        vec!["pop mail w 60".to_owned()],
        jobs.map(|n| format!("fail f{n} w boom no")).collect(),
    ];
    let call = |line: &String| (9_000.0, line.split(' ').map(str::to_owned).collect());
    redis.calls(lines.concat().iter().map(call));
    let script = "for i = 1, 1200 do redis.call('RPUSH', 'ql:f:boom', 'gone' .. i) end
         for i = 50, 59 do redis.call('LREM', 'ql:f:boom', 1, 'f' .. i) end
         for i = 0, 20 do redis.call('LREM', 'ql:f:boom', 1, 'f' .. i) end
         for i = 20, 0, -1 do redis.call('RPUSH', 'ql:f:boom', 'f' .. i) end";
    redis.send(&["EVAL", script, "0"]);
}

/// The entries of the list, and the values of the other keys.
fn with_list(redis: &Redis) -> (redis::Value, BTreeMap<Vec<u8>, Vec<u8>>) {
    let mut keys = redis.dump();
    keys.remove(b"ql:f:boom".as_slice());
    keys.retain(|key, _| !key.starts_with(b"ql:lost:"));
    (redis.send(&["LRANGE", "ql:f:boom", "0", "-1"]), keys)
}

#[test]
fn a_killed_repair_of_a_long_list_and_its_killed_revert_can_be_repeated() {
    let repair = |redis: &Redis, undo: &str| {
        format!(
            "check --repair --undo {} --yes",
            redis.socket().with_file_name(undo).display()
        )
    };
    let redis = Redis::start();
    damage_list(&redis);
    redis.at(10_000).run("check --repair --yes").exits(0);
    let whole = with_list(&redis);
    let mut ends = 0;
    let step = if random::soaking() { 3 } else { 53 };
    for request in (1..).step_by(step) {
        damage_list(&redis);
        let before = with_list(&redis);
        let line = repair(&redis, "undo.ndjson");
        let cut = if request % 2 == 0 {
            Cut::Before
        } else {
            Cut::After
        };
        let ended = run_and_kill(&redis.at(10_000), redis.socket(), &line, cut(request));
        let undo = redis.socket().with_file_name("undo.ndjson");
        let revert = format!("check --revert {} --yes", undo.display());
        let at = format!("killed at request {request}");
        if std::fs::metadata(&undo).is_ok_and(|file| file.len() > 0) {
            // The revert is killed, too, each time at another request.
            run_and_kill(
                &redis.at(10_000),
                redis.socket(),
                &revert,
                cut(3 + request % 12),
            );
            redis.at(10_000).run(&revert).exits(0);
        }
        let back = with_list(&redis);
        let undone = std::fs::read_to_string(&undo).unwrap_or_default();
        assert!(
            back == before,
            "{at}: not put back from\n{undone}\n{:?}\nbefore: {:?}",
            back.0,
            before.0
        );
        redis.at(10_000).run("check --repair --yes").exits(0);
        let mended = with_list(&redis);
        assert!(mended == whole, "{at}: mended otherwise");
        ends += usize::from(ended);
        if ends == 2 {
            assert!(request > 20, "{request}");
            break;
        }
    }
}

#[test]
fn a_killed_revert_of_a_few_entries_of_a_list_can_be_repeated() {
    // The repair lists `f0` to `f9` again, and removes `gone0` to `gone19`.
    let redis = Redis::start();
    let damage = || {
        emptied(&redis);
        let jobs = 0..30;
        let lines = [
            jobs.clone()
                .map(|n| format!("put me mail f{n} K {{}} 0"))
                .collect::<Vec<_>>(),
            vec!["pop mail w 30".to_owned()],
            jobs.map(|n| format!("fail f{n} w boom no")).collect(),
        ];
        let call = |line: &String| (9_000.0, line.split(' ').map(str::to_owned).collect());
        redis.calls(lines.concat().iter().map(call));
        for n in 0..20 {
            redis.send(&["LINSERT", "ql:f:boom", "AFTER", "f15", &format!("gone{n}")]);
        }
        for n in 0..10 {
            redis.send(&["LREM", "ql:f:boom", "0", &format!("f{n}")]);
        }
    };
    let step = if random::soaking() { 1 } else { 7 };
    for request in (1..).step_by(step) {
        damage();
        let before = with_list(&redis);
        let undo = redis.socket().with_file_name("undo.ndjson");
        // The rate makes several slices.
        let line = format!(
            "check --repair --undo {} --yes --rate 400/s",
            undo.display()
        );
        redis.at(10_000).run(&line).exits(0);
        let revert = format!("check --revert {} --yes --rate 400/s", undo.display());
        let ended = run_and_kill(
            &redis.at(10_000),
            redis.socket(),
            &revert,
            Cut::After(request),
        );
        redis.at(10_000).run(&revert).exits(0);
        let back = with_list(&redis);
        assert!(back == before, "killed at request {request}: {:?}", back.0);
        if ended {
            assert!(request > 5, "{request}");
            break;
        }
    }
}
