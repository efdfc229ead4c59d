//! `failed --retry-all` while workers pop, complete and fail the same jobs, and another client
//! cancels and requeues some: no job is lost or duplicated, and skipped ones are counted.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::client::Client;
use crate::support::redis::Redis;

const JOBS: usize = 600;

#[test]
fn no_job_is_lost_or_duplicated_while_workers_run() {
    let redis = Redis::start();
    let mut client = Client::new(&redis);
    let jids: Vec<String> = (0..JOBS).map(|at| format!("job {at}")).collect();
    for (at, jid) in jids.iter().enumerate() {
        let queue = ["mail", "images"][at % 2];
        client
            .call(&["put", "me", queue, jid, "K", "{}", "0"])
            .unwrap();
    }
    for queue in ["mail", "images"] {
        for jid in client.pop(queue, "w0", JOBS as u32) {
            client.call(&["fail", &jid, "w0", "boom", "no"]).unwrap();
        }
    }

    let ended = AtomicBool::new(false);
    let (ran, interference) = thread::scope(|scope| {
        let worker = |name: &'static str, queue: &'static str| {
            let (redis, ended) = (&redis, &ended);
            scope.spawn(move || work(redis, name, queue, ended))
        };
        let workers = [worker("w1", "mail"), worker("w2", "images")];
        let interferer = scope.spawn(|| interfere(&redis));
        let line = "failed --group boom --retry-all --yes --rate 500/s -o ndjson";
        let ran = redis.qless().run(line);
        ended.store(true, Ordering::SeqCst);
        for worker in workers {
            worker.join().unwrap();
        }
        (ran, interferer.join().unwrap())
    });

    let lines: Vec<Value> = ran
        .ok()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let (summary, items) = lines.split_last().unwrap();
    let outcomes: BTreeMap<&str, &str> = items
        .iter()
        .map(|item| {
            (
                item["jid"].as_str().unwrap(),
                item["code"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(items.len(), JOBS, "each is told once");
    assert_eq!(outcomes.len(), JOBS);

    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let mut states: BTreeMap<String, u64> = BTreeMap::new();
    for jid in &jids {
        let code = outcomes[jid.as_str()];
        *counts.entry(code).or_default() += 1;
        let Some(job) = client.entry(jid) else {
            assert!(interference.cancelled.contains(jid), "{jid} is lost");
            *states.entry("cancelled".into()).or_default() += 1;
            continue;
        };
        *states.entry(job.state.clone()).or_default() += 1;
        let retried = usize::from(code == "ok");
        let requeued = usize::from(interference.requeued.contains(jid));
        assert_eq!(job.count("cli retry"), retried, "{jid}: {job:?}");
        assert_eq!(job.count("put"), 1 + retried + requeued, "{jid}: {job:?}");
        let ends = job.count("done") + job.count("failed");
        assert_eq!(job.count("popped"), ends, "{jid}: {job:?}");
        assert!(job.count("done") <= 1, "{jid}: {job:?}");
        assert!(
            ["complete", "failed"].contains(&&*job.state),
            "{jid}: {job:?}"
        );
    }
    let count = |code: &str| counts.get(code).copied().unwrap_or(0);
    let sum = &summary["summary"];
    assert_eq!(sum["matched"], JOBS as u64);
    assert_eq!(sum["done"], count("ok"));
    assert_eq!(sum["skipped"], count("gone") + count("state_changed"));
    assert_eq!((&sum["failed"], &sum["remaining"]), (&0.into(), &0.into()));
    assert!(
        count("gone") > 0 && count("state_changed") > 0,
        "{counts:?}"
    );
    assert_eq!(states.values().sum::<u64>(), JOBS as u64, "{states:?}");
    // Jobs that failed again are in their list once, and nowhere else.
    let failed = client.json(&["failed"])["boom"].as_u64().unwrap_or(0);
    assert_eq!(
        failed,
        states.get("failed").copied().unwrap_or(0),
        "{states:?}"
    );
    for queue in ["mail", "images"] {
        assert_eq!(client.pop(queue, "w3", 1000), [""; 0], "{queue} is empty");
    }
    redis.must_be_clean();
}

/// Pops until the queue is empty and the end was announced: fails every seventh job, completes the
/// others.
fn work(redis: &Redis, name: &str, queue: &str, ended: &AtomicBool) {
    let mut client = Client::new(redis);
    let mut taken = 0;
    loop {
        let last = ended.load(Ordering::SeqCst);
        let popped = client.pop(queue, name, 5);
        if popped.is_empty() && last {
            return;
        }
        for jid in popped {
            taken += 1;
            match taken % 7 {
                0 => client.call(&["fail", &jid, name, "boom", "again"]).unwrap(),
                _ => client.call(&["complete", &jid, name, queue, "{}"]).unwrap(),
            };
        }
    }
}

/// Changes made by another client.
struct Interference {
    cancelled: Vec<String>,
    requeued: Vec<String>,
}

/// As soon as the first jobs run again, removes the newest failures: they are retried last.
fn interfere(redis: &Redis) -> Interference {
    let mut client = Client::new(redis);
    let deadline = Instant::now() + Duration::from_secs(20);
    let newest = loop {
        let listed = client.json(&["failed", "boom", "0", "40"]);
        if listed["total"].as_u64().unwrap_or(0) < JOBS as u64 {
            break listed;
        }
        assert!(Instant::now() < deadline, "no job was retried");
        thread::yield_now();
    };
    let jobs = newest["jobs"].as_array().unwrap().clone();
    let jids: Vec<String> = jobs
        .iter()
        .map(|jid| jid.as_str().unwrap().to_string())
        .collect();
    let mut interference = Interference {
        cancelled: Vec::new(),
        requeued: Vec::new(),
    };
    for (at, jid) in jids.into_iter().enumerate() {
        let job = client.entry(&jid).filter(|job| job.state == "failed");
        let Some(job) = job else {
            continue;
        };
        match at % 2 {
            0 => {
                client.call(&["cancel", &jid]).unwrap();
                interference.cancelled.push(jid);
            }
            _ => {
                let words = ["requeue", "me", &job.queue, &jid, "K", "{}", "0"];
                client.call(&words).unwrap();
                interference.requeued.push(jid);
            }
        }
    }
    interference
}
