//! K1: jobs of many keys, while programs fail and are killed and workers of two hosts are killed. The
//! ledger that the programs write shows the order of each key.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::support::random::{self, Draw};
use crate::support::work::{WorkSite, Worker};

/// What a program does with a job, as its id says. `die` kills it once, `again` retries it once.
const SCRIPT: &str = r#"
    say() { echo "$1 $QLESS_JID $QLESS_WORKER.$$" >> $D/ledger; }
    say start
    case $QLESS_JID in *slow) sleep 0.3;; *) sleep 0.01;; esac
    say works
    case $QLESS_JID in
        *die) mkdir $D/died-$QLESS_JID 2>/dev/null && kill -KILL $$;;
        *again) mkdir $D/again-$QLESS_JID 2>/dev/null && exit 75;;
    esac
    say end
"#;

/// How the workers of a storm are started.
const LINE: &str = "orders --poll 200ms --timeout 1s --kill-after 500ms --worker host-";

fn kind(draw: &mut Draw) -> &'static str {
    match draw.below(100) {
        0..4 => "slow",
        4..10 => "die",
        10..25 => "again",
        _ => "plain",
    }
}

fn storm(seed: u64, keys: usize, jobs: usize, workers: usize, kills: usize) {
    let mut site = WorkSite::new();
    for (name, value) in [("heartbeat", "1"), ("grace-period", "1.5")] {
        site.config(name, value);
    }
    let mut draw = Draw::new(seed);
    let mut jids = vec![Vec::new(); keys];
    for number in 0..jobs {
        for (key, jids) in jids.iter_mut().enumerate() {
            let jid = format!("{key}-{number}-{}", kind(&mut draw));
            // A failed job keeps its place until it is brought back.
            let more = ["key", &format!("key-{key}"), "hold", "1", "retries", "50"];
            site.put_with("orders", &jid, "{}", &more);
            jids.push(jid);
        }
    }
    let start = |site: &mut WorkSite, at: usize| {
        let line = format!("{LINE}{}", ["a", "b"][at % 2]);
        site.start(&line, SCRIPT)
    };
    let mut running: Vec<Worker> = (0..workers).map(|at| start(&mut site, at)).collect();
    let (begun, all) = (Instant::now(), keys * jobs);
    let (mut killed, mut failed) = (0, 0);
    loop {
        let unfail = site
            .client
            .call(&["unfail", "orders", "signal-KILL", "100"]);
        failed += redis::from_redis_value::<usize>(unfail.unwrap()).unwrap();
        let complete = site.redis.send(&["ZCARD", "ql:completed"]);
        let complete: usize = redis::from_redis_value(complete).unwrap();
        if complete == all {
            break;
        }
        // A worker is killed each time a further part of the jobs is complete.
        if killed < kills && complete * (kills + 1) > all * (killed + 1) {
            let at = draw.below(workers as u64) as usize;
            // What it was is killed when it is dropped.
            running[at] = start(&mut site, at);
            killed += 1;
        }
        let is_late = begun.elapsed() > Duration::from_secs(240);
        assert!(
            !is_late,
            "{complete} of {all} jobs are complete: {}",
            rest(&mut site, &jids)
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    for worker in running {
        worker.stop().exits(0);
    }
    let ledger = site.file("ledger");
    let mut runs = 0;
    for (key, jids) in jids.iter().enumerate() {
        runs += check_key(&ledger, key, jids).unwrap_or_else(|why| panic!("key {key}: {why}"));
    }
    site.must_keep_invariants();
    eprintln!(
        "{all} jobs of {keys} keys in {:.1} s: {runs} runs, {killed} workers and {failed} programs killed",
        begun.elapsed().as_secs_f64()
    );
    assert!(
        killed == kills && failed > 0,
        "{killed} killed, {failed} failed"
    );
}

fn rest(site: &mut WorkSite, jids: &[Vec<String>]) -> String {
    let states = jids.iter().flatten().map(|jid| (jid, site.state(jid)));
    let open = states.filter(|(_, state)| state != "complete");
    let open: Vec<String> = open.map(|(jid, state)| format!("{jid} {state}")).collect();
    open.join(", ")
}

/// Checks that the jobs of a key ran one at a time and in their order, each until it had ended. Returns
/// the number of runs.
fn check_key(ledger: &str, key: usize, jids: &[String]) -> Result<usize, String> {
    let prefix = format!("{key}-");
    let (mut next, mut has_ended, mut last) = (0, true, "");
    let mut runs: BTreeMap<&str, &str> = BTreeMap::new();
    for line in ledger.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [what, jid, run] = words[..] else {
            return Err(format!("a line of the ledger: {line}"));
        };
        if !jid.starts_with(&prefix) {
            continue;
        }
        if what == "start" {
            // The next job if this one has ended, or the same one once more.
            if has_ended && next < jids.len() && jid == jids[next] {
                next += 1;
                has_ended = false;
            } else if next == 0 || jid != jids[next - 1] {
                return Err(format!("out of order: {line}"));
            }
            last = run;
            runs.insert(run, jid);
        } else if run != last {
            return Err(format!("a run goes on after another one has begun: {line}"));
        }
        has_ended |= what == "end";
    }
    if next == jids.len() && has_ended {
        Ok(runs.len())
    } else {
        Err(format!("only {next} jobs ran"))
    }
}

#[test]
fn the_ledger_shows_jobs_of_a_key_out_of_order_or_together() {
    let jids = ["0-0", "0-1"].map(str::to_owned);
    let check = |lines: &[&str]| check_key(&lines.join("\n"), 0, &jids);
    let (a, b) = (["start 0-0 x", "end 0-0 x"], ["start 0-1 y", "end 0-1 y"]);
    assert_eq!(check(&[a[0], a[1], "start 1-0 z", b[0], b[1]]), Ok(2));
    assert_eq!(check(&["start 0-0 w", a[0], a[1], b[0], b[1]]), Ok(3));
    assert!(check(&[a[0], b[0], a[1], b[1]]).is_err());
    assert!(check(&[b[0], b[1], a[0], a[1]]).is_err());
    assert!(check(&["start 0-0 w", a[0], "works 0-0 w", a[1], b[0], b[1]]).is_err());
    assert!(check(&[a[0], a[1], b[0]]).is_err());
    assert!(check(&[a[0], b[0], b[1]]).is_err());
}

#[test]
fn k1_random_kills_neither_break_the_order_of_a_key_nor_let_its_jobs_overlap() {
    let is_long = ["TEST_ROUNDS", "TEST_SEED"]
        .into_iter()
        .any(|name| std::env::var_os(name).is_some());
    random::rounds(|seed| {
        if is_long {
            storm(seed, 20, 50, 8, 30)
        } else {
            storm(seed, 5, 10, 4, 3)
        }
    });
}
