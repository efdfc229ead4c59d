//! Failure lists that are too long to search for each job: entries are verified by position, and
//! missing ones by the mark of the job.

use std::collections::{BTreeMap, HashSet};

use redis::Value;

use super::slice::{NOW, busy};
use crate::support::check_calls::{describe_all, revert, slice};
use crate::support::core::Core;
use crate::support::jobs::call;
use crate::support::redis::Redis;

/// When the repairs run, long after the jobs failed.
const LATER: u32 = 20_000;

/// A list of failed jobs `f…`, the newest first. In between are ids without jobs (every third entry;
/// one of them twice) and waiting jobs `w…` (every fifth).
fn misplaced(jobs: usize) -> Redis {
    let redis = failed(jobs);
    redis.calls((0..jobs / 5).map(|n| call(15_000.0, &format!("put me mail w{n} K {{}} 0"))));
    let script = "local key, list = 'ql:f:G', redis.call('LRANGE', 'ql:f:G', 0, -1)
         redis.call('DEL', key)
         for i, jid in ipairs(list) do
           redis.call('RPUSH', key, jid)
           if i % 3 == 0 then redis.call('RPUSH', key, i == 900 and 'gone3' or 'gone' .. i) end
           if i % 5 == 0 then redis.call('RPUSH', key, 'w' .. i / 5 - 1) end
         end";
    assert_eq!(redis.send(&["EVAL", script, "0"]), Value::Nil);
    redis
}

/// Failed jobs `f0`, `f1`, … of the group `G`.
fn failed(jobs: usize) -> Redis {
    let redis = Redis::start();
    let all = |line: &dyn Fn(usize) -> String| (0..jobs).map(line).collect::<Vec<_>>();
    let lines = [
        all(&|n| format!("put me mail f{n} K {{}} 0")),
        vec![format!("pop mail w {jobs}")],
        all(&|n| format!("fail f{n} w G message")),
    ];
    redis.calls(lines.concat().iter().map(|line| call(10_000.0, line)));
    redis
}

fn list(redis: &Redis) -> Vec<String> {
    let entries = redis.send(&["LRANGE", "ql:f:G", "0", "-1"]);
    redis::from_redis_value(entries).unwrap()
}

/// All keys, but the list by its entries: how Redis packs them depends on how they came.
fn contents(redis: &Redis) -> (BTreeMap<Vec<u8>, Vec<u8>>, Vec<String>) {
    let mut keys = redis.dump();
    keys.remove(b"ql:f:G".as_slice());
    (keys, list(redis))
}

fn file(redis: &Redis) -> String {
    let path = redis.socket().with_file_name("undo.ndjson");
    path.to_str().unwrap().to_owned()
}

/// How often the server ran a command since the last reset.
fn runs(redis: &Redis, command: &str) -> u64 {
    let stats = redis.send(&["INFO", "commandstats"]);
    let stats: String = redis::from_redis_value(stats).unwrap();
    let start = format!("cmdstat_{command}:calls=");
    let line = stats.lines().find_map(|line| line.strip_prefix(&start));
    line.map_or(0, |line| line.split(',').next().unwrap().parse().unwrap())
}

#[test]
fn misplaced_entries_are_removed_in_slices_and_return_exactly() {
    let redis = misplaced(1000);
    let before = contents(&redis);
    let strays = before.1.iter().filter(|jid| !jid.starts_with('f')).count();
    assert_eq!(strays, 333 + 200);
    redis.send(&["CONFIG", "RESETSTAT"]);
    let undo = file(&redis);
    let line = format!("check --repair --undo {undo} --yes");
    redis.at(LATER).run(&line).exits(0);
    // A search only for the entry that is there twice; one removal for each slice.
    assert!(runs(&redis, "lpos") < 10);
    assert!(runs(&redis, "lrem") <= 1533 / 50 + 1);
    let only_failed = before.1.iter().filter(|jid| jid.starts_with('f'));
    assert_eq!(list(&redis), only_failed.cloned().collect::<Vec<_>>());
    redis.at(LATER).run("check").exits(0);

    redis.send(&["CONFIG", "RESETSTAT"]);
    let line = format!("check --revert {undo} --yes");
    let printed = redis.at(LATER).run(&line).exits(0).stderr();
    assert!(printed.ends_with("533 reverted, 0 skipped\n"), "{printed}");
    assert_eq!((runs(&redis, "lpos"), runs(&redis, "rename")), (0, 1));
    assert!(contents(&redis) == before);
    // The second time, the entries are there.
    let printed = redis.at(LATER).run(&line).exits(0).stderr();
    assert!(printed.contains("0 reverted, 533 skipped"), "{printed}");
    assert!(contents(&redis) == before);
}

#[test]
fn a_revert_without_the_right_to_watch_returns_each_entry() {
    let redis = misplaced(300);
    let before = contents(&redis);
    let undo = file(&redis);
    let line = format!("check --repair --undo {undo} --yes");
    redis.at(LATER).run(&line).exits(0);
    redis.send(&["ACL", "SETUSER", "default", "-watch"]);
    let line = format!("check --revert {undo} --yes");
    redis.at(LATER).run(&line).exits(0);
    assert!(contents(&redis) == before);
}

#[test]
fn a_repair_beside_jobs_that_fail_and_are_cancelled_loses_and_doubles_none() {
    let redis = misplaced(1000);
    // Every tenth job is missing, too.
    for n in (0..1000).step_by(10) {
        redis.send(&["LREM", "ql:f:G", "0", &format!("f{n}")]);
    }
    let put = |n: usize| call(16_000.0, &format!("put me other n{n} K {{}} 0"));
    redis.calls((0..400).map(put));
    redis.calls([call(16_000.0, "pop other v 400")]);
    let mut running = redis.at(LATER).start("check --repair --yes");
    let mut n = 0;
    while !running.has_ended() || n < 200 {
        if n < 400 {
            let lines = [
                format!("fail n{n} v G message"),
                format!("cancel f{}", 2 * n + 1),
            ];
            redis.calls(lines.iter().map(|line| call(16_001.0, line)));
        }
        n += 1;
    }
    running.end();
    redis.at(LATER).run("check --repair --yes").exits(0);
    redis.at(LATER).run("check").exits(0);
    let entries = list(&redis);
    let distinct: HashSet<&String> = entries.iter().collect();
    assert_eq!(distinct.len(), entries.len());
    let n = n.min(400);
    let cancelled = (0..n).filter(|n| 2 * n + 1 < 1000).count();
    assert_eq!(entries.len(), 1000 - cancelled + n);
}

#[test]
fn a_lost_list_is_written_without_a_search_for_each_job() {
    let redis = failed(800);
    redis.send(&["DEL", "ql:f:G"]);
    redis.send(&["SREM", "ql:failures", "G"]);
    let before = contents(&redis);
    redis.send(&["CONFIG", "RESETSTAT"]);
    let undo = file(&redis);
    let line = format!("check --repair --undo {undo} --yes");
    redis.at(LATER).run(&line).exits(0);
    let entries: HashSet<String> = list(&redis).into_iter().collect();
    assert_eq!(entries.len(), 800);
    // One for each job and phase: the scan, the plan, the repair.
    assert!(runs(&redis, "lpos") <= 3 * 800 + 10);
    redis.at(LATER).run("check").exits(0);
    let line = format!("check --revert {undo} --yes");
    redis.at(LATER).run(&line).exits(0);
    assert!(contents(&redis) == before);
}

/// `busy` with a long list `G`, in which `f1` is missing.
fn long() -> Core {
    let mut core = busy();
    let script = "redis.call('LREM', 'ql:f:G', 0, 'f1')
         for i = 1, 3000 do redis.call('RPUSH', 'ql:f:G', 'x' .. i) end";
    core.redis_words(&[b"EVAL", script.as_bytes(), b"0"]);
    core
}

fn mark(core: &mut Core, jid: &str) -> String {
    let row = core.ok(&format!("look.jobs 201000 mark {jid}"));
    row.list()[0].texts()[1].clone()
}

#[test]
fn a_job_is_listed_only_if_its_mark_shows_that_it_is_in_no_list() {
    let mut core = long();
    let ask = |core: &mut Core, mode: &str, mark: &str| {
        let items = ["f1".to_owned(), mark.to_owned()];
        describe_all(&slice(core, NOW, mode, "", "unlisted", "G", &items))
    };
    let before = mark(&mut core, "f1");
    assert_eq!(
        ask(&mut core, "look", &before),
        ["failed-unlisted f1 found [G]"]
    );
    // The job failed again since the list was read.
    core.ok("put 200900 w fresh f1 K {} 0");
    assert_eq!(ask(&mut core, "mend", &before), Vec::<String>::new());
    core.ok("pop 200901 fresh a 1");
    core.ok("fail 200902 f1 a G message");
    assert_eq!(ask(&mut core, "mend", &before), Vec::<String>::new());
    // Another repair has listed it since.
    let now = mark(&mut core, "f1");
    assert_eq!(ask(&mut core, "mend", &now), Vec::<String>::new());
    core.redis("LREM ql:f:G 1 f1");
    let listed = ["failed-unlisted f1 mended [G]"];
    assert_eq!(ask(&mut core, "mend", &now), listed);
    assert_eq!(ask(&mut core, "mend", &now), Vec::<String>::new());
    assert_eq!(core.redis("LINDEX ql:f:G 0").text(), "f1");
}

#[test]
fn blocks_are_counted_from_the_end_so_that_new_failures_move_none() {
    let mut core = long();
    let before = core.dump();
    let starts = ["1000".to_owned(), "1050".to_owned()];
    let ask = |core: &mut Core, mode| slice(core, NOW, mode, "", "entries", "G", &starts);
    let seen = ask(&mut core, "look");
    assert_eq!(seen.len(), 100);
    core.all("put 200950 w fresh new K {} 0; pop 200950 fresh a 1; fail 200951 new a G message");
    let found = ask(&mut core, "mend");
    let items = |found: &[crate::support::check_calls::Finding]| {
        found.iter().map(|one| one.item.clone()).collect::<Vec<_>>()
    };
    assert_eq!(items(&found), items(&seen));
    assert!(found.iter().all(|one| one.outcome == "mended"));
    assert_eq!(items(&found)[..2], ["x2000", "x1999"]);
    core.redis("LREM ql:f:G 1 new");
    // The indexes counted the new entry.
    core.redis("LPUSH ql:f:G new");
    assert_eq!(revert(&mut core, &found), (100, 0));
    core.redis("LREM ql:f:G 1 new");
    assert_eq!(core.dump().list("ql:f:G"), before.list("ql:f:G"));
}

#[test]
fn a_call_ends_early_if_its_items_cost_too_much() {
    let mut core = long();
    let starts: String = (0..60).map(|n| format!(" {}", n * 50)).collect();
    let reply = core.ok(&format!("check.slice 201000 look '' '' entries G{starts}"));
    let rows = reply.list();
    let judged: usize = rows.last().unwrap().texts()[0].parse().unwrap();
    assert_eq!(rows.len() - 1, judged * 50);
    assert!((5..20).contains(&judged), "{judged}");
    // Searches in the list of `G` count by its length.
    core.redis_words(&[
        b"EVAL",
        b"for i = 1, 97000 do redis.call('RPUSH', 'ql:f:G', 'y' .. i) end",
        b"0",
    ]);
    let items: String = (1..100).map(|n| format!(" f{}", n % 3 + 1)).collect();
    let reply = core.ok(&format!("check.slice 201000 look '' '' failed ''{items}"));
    let judged: usize = reply.list().last().unwrap().texts()[0].parse().unwrap();
    assert!(judged < 10, "{judged}");
}

/// Each of them requires searches, so a call judges few of them.
#[test]
fn all_jobs_in_the_list_of_another_group_are_found_and_removed() {
    const JOBS: usize = 400;
    let redis = failed(JOBS);
    let jids: Vec<String> = (0..JOBS).map(|n| format!("f{n}")).collect();
    let jids = jids.iter().map(String::as_str);
    redis.send(
        &["RPUSH", "ql:f:other"]
            .into_iter()
            .chain(jids)
            .collect::<Vec<_>>(),
    );
    redis.send(&["SADD", "ql:failures", "other"]);
    // How Redis packs a list depends on how its entries came.
    let all = || {
        let mut keys = redis.dump();
        let lists = ["ql:f:G", "ql:f:other"].map(|key| {
            keys.remove(key.as_bytes());
            let entries = redis.send(&["LRANGE", key, "0", "-1"]);
            redis::from_redis_value::<Vec<String>>(entries).unwrap()
        });
        (keys, lists)
    };
    let before = all();
    let check = |line: &str, code: i32| -> serde_json::Value {
        let ran = redis.at(LATER).run(line).exits(code);
        serde_json::from_str(&ran.stdout()).unwrap()
    };
    let found = check("check -o json", 7);
    let twice = |doc: &serde_json::Value, field: &str| {
        let items = doc["items"].as_array().unwrap().iter();
        let mut of = items.filter(|item| item["finding"] == "failed-twice");
        of.next().map_or(0, |item| item[field].as_u64().unwrap())
    };
    assert_eq!(twice(&found, "count"), JOBS as u64, "{found}");
    let undo = file(&redis);
    let repaired = check(&format!("check --repair --yes --undo {undo} -o json"), 0);
    assert_eq!(twice(&repaired, "mended"), JOBS as u64, "{repaired}");
    let [own, other] = all().1;
    assert!(own == before.1[0] && other.is_empty());
    redis.must_be_clean();
    redis
        .at(LATER)
        .run(&format!("check --revert {undo} --yes"))
        .exits(0);
    assert!(all() == before);
}
