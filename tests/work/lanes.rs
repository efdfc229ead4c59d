//! Lanes and merge jobs with real workers: a ledger that the programs write shows the order.

use std::collections::BTreeSet;

use expect_test::expect;
use rustix::process::Signal;
use serde_json::Value;

use crate::support::work::{WorkSite, Worker, until};

/// A run has a line when it starts and one when it has ended.
const LEDGER: &str = r#"
    echo "start $QLESS_JID" >> $D/ledger
    sleep 0.0$((QLESS_FENCE % 5))
    echo "end $QLESS_JID" >> $D/ledger
"#;

/// Puts jobs `<key>-<number>`, for each number one of each key.
fn put_lanes(site: &mut WorkSite, keys: usize, jobs: usize) {
    for number in 0..jobs {
        for key in 0..keys {
            let (jid, key) = (format!("{key}-{number}"), format!("key-{key}"));
            site.put_with("orders", &jid, "{}", &["key", &key]);
        }
    }
}

/// Each key's jobs started in their order, each only after the one before it had ended, and all ended.
#[track_caller]
fn must_be_in_order(ledger: &str, keys: usize, jobs: usize) {
    for key in 0..keys {
        let prefix = format!("{key}-");
        let is_own = |line: &&str| line.split(' ').nth(1).unwrap().starts_with(&prefix);
        let seen: Vec<&str> = ledger.lines().filter(is_own).collect();
        let wanted = (0..jobs).flat_map(|number| {
            let line = |what: &str| format!("{what} {key}-{number}");
            [line("start"), line("end")]
        });
        assert_eq!(seen, wanted.collect::<Vec<String>>(), "key {key}");
    }
}

fn merge(site: &mut WorkSite, jid: &str, key: &str, payload: &str, score: &str) {
    let more = ["key", key, "dup", "merge", "score", score];
    site.put_with("orders", jid, payload, &more);
}

fn ended(site: &WorkSite) -> usize {
    let ledger = site.file("ledger");
    ledger
        .lines()
        .filter(|line| line.starts_with("end"))
        .count()
}

#[test]
fn k2_eight_workers_run_the_jobs_of_eight_keys_at_the_same_time() {
    let mut site = WorkSite::new();
    put_lanes(&mut site, 8, 2);
    // The first job of each key waits until all eight run.
    let script = r#"
        touch $D/in-$QLESS_JID
        case $QLESS_JID in
            *-0) until test $(ls $D/in-*-0 | wc -l) -ge 8; do sleep 0.02; done;;
            *) test $(ls $D/in-*-0 | wc -l) -ge 8 || exit 9;;
        esac
    "#;
    let mut start = |host| site.start(&format!("orders --worker host-{host} --count 2"), script);
    let workers: Vec<Worker> = (0..8).map(|at| start(at % 2)).collect();
    for worker in workers {
        worker.end().exits(0);
    }
    for key in 0..8 {
        assert_eq!(site.state(&format!("{key}-1")), "complete");
    }
    site.must_keep_invariants();
}

#[test]
fn k12_a_batch_of_ten_ids_sees_their_payloads_by_score_and_is_retried_as_a_whole() {
    let mut site = WorkSite::new();
    for key in 0..10 {
        let (jid, key) = (format!("j{key}"), format!("id-{key}"));
        merge(&mut site, &jid, &key, r#"{"v":3}"#, "3");
        merge(&mut site, "x", &key, r#"{"v": 1}"#, "-1.5");
        merge(&mut site, "y", &key, "2", "2");
    }
    // The first batch is retried; of the second one, two jobs have answers of their own.
    let script = r#"
        count=$(ls $D/batch-* 2>/dev/null | wc -l)
        cat > $D/batch-$count
        test $count -gt 0 || { echo 'not now' >&2; exit 75; }
        echo '{"jid":"j3","result":"fail","group":"address","message":"no such user"}' >&3
        echo '{"jid":"j7","result":"retry","delay":3600}' >&3
    "#;
    site.work("orders --drain --batch 10", script).exits(8);
    let line = site.file("batch-0").lines().next().unwrap().to_owned();
    let (_, end) = line.split_once(r#""key""#).unwrap();
    expect![[r#":"orders/id-0","fence":1,"payloads":[[{"v": 1},-1.5],[2,2],[{"v":3},3]]}"#]]
        .assert_eq(end);
    assert!(line.contains(r#""data":[{"v": 1},2,{"v":3}],"#), "{line}");
    for (batch, attempt) in [("batch-0", 1), ("batch-1", 2)] {
        let lines = site.file(batch);
        let jobs: Vec<Value> = lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let keys: BTreeSet<&str> = jobs
            .iter()
            .map(|job| job["key"].as_str().unwrap())
            .collect();
        assert_eq!([jobs.len(), keys.len()], [10, 10], "{lines}");
        for job in &jobs {
            assert_eq!(job["attempt"], attempt);
            assert_eq!(job["payloads"][0][1].to_string(), "-1.5");
            assert_eq!(job["payloads"][2][0]["v"], 3);
        }
    }
    assert_eq!(site.failure("j3"), "failed address: no such user");
    assert_eq!(site.state("j7"), "scheduled");
    assert_eq!(site.state("j0"), "complete");
    assert!(!site.dir().join("batch-2").exists());
    site.must_keep_invariants();
}

#[test]
fn k14_workers_come_and_go_during_the_load_without_a_break_in_the_order() {
    let mut site = WorkSite::new();
    put_lanes(&mut site, 10, 8);
    let mut first = site.start("orders -c 2 --poll 1h", LEDGER);
    until("the first jobs have ended", || ended(&site) >= 8);
    let second = site.start("orders -c 5 --poll 1h", LEDGER);
    let third = site.start("orders -c 3 --poll 1h --persistent", PERSISTENT);
    until("a third has ended", || ended(&site) >= 28);
    assert!(!first.has_ended());
    first.stop().exits(0);
    third.stop().exits(0);
    // What the others left is not left to a poll: this worker goes on with it.
    let fourth = site.start("orders -c 8 --poll 1h", LEDGER);
    until("all have ended", || ended(&site) == 80);
    assert_eq!([second.stop().code, fourth.stop().code], [0, 0]);
    must_be_in_order(&site.file("ledger"), 10, 8);
    site.must_keep_invariants();
}

/// The same as `LEDGER`, for a process that stays.
const PERSISTENT: &str = r#"
    while read -r line; do
        jid=${line#*\"jid\":\"} jid=${jid%%\"*}
        echo "start $jid" >> $D/ledger
        sleep 0.02
        echo "end $jid" >> $D/ledger
        echo "{\"jid\":\"$jid\",\"result\":\"complete\"}" >&3
    done
"#;

#[test]
fn k15_a_busy_lane_never_waits_for_a_poll() {
    let mut site = WorkSite::new();
    put_lanes(&mut site, 2, 10);
    site.work("orders -c 3 --poll 1h --count 20", LEDGER)
        .exits(0);
    must_be_in_order(&site.file("ledger"), 2, 10);
    let mut site = WorkSite::new();
    put_lanes(&mut site, 2, 10);
    site.work("orders -c 3 --poll 1h --count 20 --persistent", PERSISTENT)
        .exits(0);
    must_be_in_order(&site.file("ledger"), 2, 10);
    site.must_keep_invariants();
}

#[test]
fn k16_a_signal_lets_the_running_job_finish_and_leaves_its_lane_in_order() {
    let mut site = WorkSite::new();
    put_lanes(&mut site, 1, 3);
    let script = "echo start $QLESS_JID >> $D/ledger
        until test -e $D/go; do sleep 0.02; done
        echo end $QLESS_JID >> $D/ledger";
    let worker = site.start("orders -c 2", script);
    site.until_lines("ledger", 1);
    worker.signal(Signal::TERM);
    let mut worker = worker;
    worker.until_says("1 job is still running");
    std::fs::write(site.dir().join("go"), "").unwrap();
    worker.end().exits(0);
    assert_eq!(site.words("ledger"), "start 0-0 end 0-0");
    assert_eq!(
        ["0-0", "0-1", "0-2"].map(|jid| site.state(jid)),
        ["complete", "waiting", "depends"]
    );
    site.work("orders --drain", LEDGER).exits(0);
    must_be_in_order(&site.file("ledger"), 1, 3);
    site.must_keep_invariants();
}

#[test]
fn k16_the_job_of_a_killed_worker_comes_back_before_the_next_one_of_its_lane() {
    let mut site = WorkSite::new();
    site.config("heartbeat", "0.6");
    site.config("grace-period", "1");
    put_lanes(&mut site, 1, 2);
    let script = "echo $QLESS_FENCE $QLESS_JID >> $D/ledger; test -e $D/killed || exec sleep 100";
    let worker = site.start("orders --worker a", script);
    site.until_lines("ledger", 1);
    std::fs::write(site.dir().join("killed"), "").unwrap();
    worker.signal(Signal::KILL);
    // The job still has a holder, and the other waits behind it.
    let ran = site.work("orders --drain --poll 100ms --worker b", script);
    ran.exits(0);
    assert_eq!(site.words("ledger"), "1 0-0 2 0-0 3 0-1");
    site.must_keep_invariants();
}

#[test]
fn a_drain_waits_for_the_lane_of_a_running_job_and_not_for_one_that_backs_off() {
    let mut site = WorkSite::new();
    site.put_with("orders", "a", "{}", &["key", "k"]);
    site.put_with("orders", "b", "{}", &["key", "k"]);
    assert_eq!(site.client.pop("orders", "other", 1), ["a"]);
    let worker = site.start("orders --drain --poll 100ms", LEDGER);
    wait_for_looks(&site);
    site.client
        .call(&["complete", "a", "other", "orders", "{}"])
        .unwrap();
    let ended = worker.end();
    assert_eq!(
        [ended.code.to_string(), site.state("b")],
        ["0", "complete"],
        "{}",
        ended.stderr
    );
    // The first job of this lane is due in an hour.
    site.put_with("orders", "c", "{}", &["key", "k"]);
    site.put_with("orders", "d", "{}", &["key", "k"]);
    let script = "test $QLESS_JID = d || exit 75";
    site.work("orders --drain --retry-delay 1h", script)
        .exits(0);
    assert_eq!(
        ["c", "d"].map(|jid| site.state(jid)),
        ["scheduled", "depends"]
    );
    site.must_keep_invariants();
}

/// Waits until a worker has looked for jobs more than once: one look takes up to five calls.
pub(super) fn wait_for_looks(site: &WorkSite) {
    let before = site.redis.scripts_run();
    until("the worker looks for jobs again", || {
        site.redis.scripts_run() > before + 10
    });
}

#[test]
fn a_process_knows_its_lane_and_a_later_grant_has_a_larger_fence() {
    let mut site = WorkSite::new();
    site.put_with("orders", "a", "{}", &["key", "customer 7"]);
    site.put_with(
        "orders",
        "b",
        "{}",
        &["throttles", r#"["api"]"#, "key", "/all"],
    );
    site.put("orders", "plain", "{}");
    let script =
        "echo $QLESS_JID $QLESS_FENCE $QLESS_KEY >> $D/ran; test $QLESS_ATTEMPT = 2 || exit 75";
    let outer = site
        .qless()
        .env("QLESS_FENCE", "99")
        .env("QLESS_KEY", "outer");
    let worker = site.start_as(&outer, "orders --drain", script);
    worker.end().exits(0);
    expect![[r#"
        a 1 orders/customer 7
        a 3 orders/customer 7
        b 2 /all
        b 4 /all
        plain
        plain
    "#]]
    .assert_eq(&sorted(&site.file("ran")));
    site.must_keep_invariants();
}

fn sorted(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort();
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn k7_a_retry_without_a_delay_follows_the_policy_of_the_job() {
    let mut site = WorkSite::new();
    for jid in ["a", "b"] {
        site.put_with("orders", jid, "{}", &["backoff", "fixed:7200"]);
    }
    let answer = r#"test $QLESS_JID = a && exit 75
        echo '{"jid":"b","result":"retry"}' >&3"#;
    site.work("orders --drain", answer).exits(0);
    assert_eq!(["a", "b"].map(|jid| delay(&site, jid)), [7200, 7200]);
    // A delay of the worker wins.
    for jid in ["c", "d"] {
        site.put_with("orders", jid, "{}", &["backoff", "fixed:7200"]);
    }
    let answer = r#"test $QLESS_JID = c && exit 75
        echo '{"jid":"d","result":"retry"}' >&3"#;
    site.work("orders --drain --retry-delay 1h", answer)
        .exits(0);
    assert_eq!(["c", "d"].map(|jid| delay(&site, jid)), [3600, 3600]);
    site.must_keep_invariants();
}

/// In how many seconds a job is due, rounded to a minute.
fn delay(site: &WorkSite, jid: &str) -> i64 {
    let due = site.redis.send(&["ZSCORE", "ql:q:orders-scheduled", jid]);
    let due: f64 = redis::from_redis_value(due).unwrap();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    ((due - now.unwrap().as_secs_f64()) / 60.0).round() as i64 * 60
}
