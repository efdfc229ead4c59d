//! What all bulk verbs have in common: pace, reports, stops, and lines that break.

use crate::house::qless::Qless;
use crate::house::redis::Redis;
use crate::house::wire::{Cut, proxy};

/// `j000`, `j001` and so on have failed in `mail`, group `boom`.
fn failed(many: usize) -> Redis {
    let redis = running(many);
    redis.calls((0..many).map(|at| (30.0, words(&format!("fail {} w1 boom one", jid(at))))));
    redis
}

/// `j000`, `j001` and so on run in `mail`, held by `w1`.
fn running(many: usize) -> Redis {
    let redis = waiting(many);
    redis.calls(
        (0..many)
            .step_by(100)
            .map(|_| (20.0, words("pop mail w1 100"))),
    );
    redis
}

/// `j000`, `j001` and so on wait in `mail`.
fn waiting(many: usize) -> Redis {
    let redis = Redis::start();
    redis.calls((0..many).map(|at| {
        let line = format!("put me mail {} K {{}} 0", jid(at));
        (10.0 + at as f64 / 1e3, words(&line))
    }));
    redis
}

fn jid(at: usize) -> String {
    format!("j{at:03}")
}

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

/// A line to the server that breaks often, at a moment.
fn breaking(redis: &Redis, now: u32) -> Qless {
    let port = proxy(redis.socket(), Cut::Often(5));
    Qless::bare()
        .env("QLESS_REDIS_URL", format!("redis://127.0.0.1:{port}"))
        .env("USER", "ann")
        .at(now)
}

/// Returns the histories of the jobs of a list, as `what` words, with how many have each.
fn histories(redis: &Redis, list: &str) -> Vec<(String, usize)> {
    let jids = redis.at(100).run(&format!("{list} -o jid")).ok();
    let told = redis
        .at(100)
        .input(jids)
        .run("get - --history -o ndjson")
        .ok();
    let mut counts = std::collections::BTreeMap::new();
    for job in told.lines() {
        let job: serde_json::Value = serde_json::from_str(job).unwrap();
        let history = job["history"].as_array().unwrap().iter();
        let words: Vec<&str> = history
            .map(|entry| entry["what"].as_str().unwrap())
            .collect();
        *counts.entry(words.join(" ")).or_default() += 1;
    }
    counts.into_iter().collect()
}

#[test]
fn each_job_is_retried_once_however_often_the_line_breaks() {
    let redis = failed(900);
    let ran = breaking(&redis, 50).run("retry --group boom --yes -o json");
    let document = ran.json();
    assert_eq!(document["done"], 900, "{}", ran.stderr());
    assert_eq!(document["items"].as_array().unwrap().len(), 0);
    assert_eq!(
        histories(&redis, "jobs --queue mail --state waiting"),
        [("put popped failed put cli".to_string(), 900)]
    );
}

#[test]
fn each_job_is_cancelled_and_told_however_often_the_line_breaks() {
    let redis = waiting(900);
    let ran = breaking(&redis, 50).run("cancel --queue mail --yes -o jid");
    let told = ran.ok();
    let mut told: Vec<&str> = told.lines().collect();
    told.sort_unstable();
    let all: Vec<String> = (0..900).map(jid).collect();
    assert_eq!(told, all);
    assert_eq!(redis.at(60).run("length mail").ok(), "0");
}

#[test]
fn each_job_is_changed_once_by_every_verb_however_often_the_line_breaks() {
    for (line, all, history) in [
        (
            "timeout --queue mail --yes",
            "--queue mail",
            "put popped timed-out cli",
        ),
        (
            "priority --queue mail --to 7 --yes",
            "--queue mail",
            "put popped cli",
        ),
        (
            "tag --queue mail --add a --remove b --yes",
            "--queue mail --tag a",
            "put popped cli",
        ),
        ("track --queue mail --yes", "--queue mail", "put popped cli"),
        (
            "retry --queue mail --as-holder --yes",
            "--queue mail",
            "put popped cli",
        ),
        (
            "retry --queue mail --state running --force --yes",
            "--queue mail",
            "put popped put cli",
        ),
        (
            "move --queue mail --force --to slow --yes",
            "--queue slow",
            "put popped put cli",
        ),
    ] {
        let redis = running(500);
        let ran = breaking(&redis, 21).run(&format!("{line} -o json"));
        let document = ran.json();
        assert_eq!(document["done"], 500, "{line}: {}", ran.stderr());
        let list = format!("jobs {all}");
        assert_eq!(
            histories(&redis, &list),
            [(history.to_string(), 500)],
            "{line}"
        );
    }
}

#[test]
fn a_retry_of_the_holder_spends_one_try_however_often_the_line_breaks() {
    let redis = running(300);
    let jids: Vec<String> = (0..300).map(jid).collect();
    let ran = breaking(&redis, 21).input(jids.join("\n"));
    let left = ran.run("retry - --as-holder").ok();
    assert!(left.lines().all(|line| line.ends_with("\t4")), "{left}");
    assert_eq!(left.lines().count(), 300);
    let remaining = redis.at(22).run("get j007 --field remaining").ok();
    assert_eq!(remaining, "4");
}

#[test]
fn each_put_puts_one_job_wherever_the_line_breaks() {
    let redis = Redis::start();
    let cuts = [Cut::Before(2), Cut::After(2), Cut::Often(3)];
    for (at, cut) in cuts.into_iter().cycle().take(30).enumerate() {
        let url = format!("redis://127.0.0.1:{}", proxy(redis.socket(), cut));
        let qless = Qless::bare().env("QLESS_REDIS_URL", url).at(50);
        let put = qless.run(&format!("put mail K --jid {} -o json", jid(at)));
        let put = put.json();
        assert_eq!(put["created"], true);
        assert_eq!(put["state"], "waiting");
    }
    assert_eq!(
        histories(&redis, "jobs --queue mail"),
        [("put".to_string(), 30)]
    );
}

#[test]
fn a_job_of_somebody_else_is_not_taken_for_ours() {
    let redis = Redis::start();
    redis.at(40).run("put mail K --jid j").ok();
    for at in 1..8 {
        let port = proxy(redis.socket(), Cut::After(2));
        let qless = Qless::bare().env("QLESS_REDIS_URL", format!("redis://127.0.0.1:{port}"));
        qless.at(50 + at).run("put mail K --jid j").exits(5);
    }
}
