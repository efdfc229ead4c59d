//! The scan: no candidates in a healthy database, and no content of a database stops it. Tests
//! beside each kind of damage show that it misses nothing (`damage.rs`, `random_repair.rs`).

use std::collections::HashSet;

use qless::internals::verdict::{ItemKind, ItemLocation};

use super::slice::{NOW, busy, fill};
use crate::support::check_calls::{name_bytes, verify_all};
use crate::support::core::{Core, Key, Reply, Wire};
use crate::support::scan::{WHOLE, finds, scanned, scanned_while};

fn candidates(core: &Core, slots: usize, queues: &[&str]) -> Vec<String> {
    let scanned = scanned(core, NOW, slots, queues);
    let all = scanned.first.iter().chain(&scanned.last);
    let all = all.flat_map(|(place, items)| {
        let tell = move |item: &qless::internals::Name| {
            let name = String::from_utf8_lossy(place.name.as_bytes()).into_owned();
            let item = String::from_utf8_lossy(item.as_bytes()).into_owned();
            format!("{} {name} {item}", place.kind.into_str())
        };
        items.iter().map(tell)
    });
    let mut all: Vec<String> = all.collect();
    all.sort();
    all.dedup();
    all
}

#[test]
fn a_healthy_database_gives_no_candidates() {
    let core = busy();
    for slots in [WHOLE, 64, 16] {
        assert_eq!(
            candidates(&core, slots, &[]),
            Vec::<String>::new(),
            "{slots}"
        );
    }
}

#[test]
fn jobs_are_read_completely_however_many_fields_they_have_and_without_a_new_right() {
    let mut core = busy();
    for n in 0..100 {
        core.redis(&format!("HSET ql:j:w1 other-{n} x"));
        core.redis(&format!("HSET ql:j:w2 other-{n} x"));
    }
    assert_eq!(candidates(&core, WHOLE, &[]), Vec::<String>::new());
    core.redis("HSET ql:j:w2 priority inf");
    core.redis("HSET ql:j:r2 priority inf");
    let found = candidates(&core, WHOLE, &[]);
    for job in ["job  w2", "job  r2"] {
        assert!(found.contains(&job.to_owned()), "{found:?}");
    }
    core.redis("ACL SETUSER default -hrandfield");
    assert_eq!(candidates(&core, WHOLE, &[]), found);
}

/// Runs a Lua script of the test.
fn lua(core: &mut Core, script: &str) {
    let reply = core.redis_words(&[b"EVAL", script.as_bytes(), b"0"]);
    assert!(!matches!(reply, Reply::Error(_)), "{script}: {reply:?}");
}

#[test]
fn keys_and_jobs_are_counted_once() {
    let mut core = busy();
    let dump = core.dump();
    let keys = dump.0.len() as u64;
    let job =
        |(key, held): &(&String, &Key)| key.starts_with("ql:j:") && matches!(held, Key::Hash(_));
    let jobs = dump.0.iter().filter(job).count() as u64;
    for slots in [WHOLE, 16] {
        let scanned = scanned(&core, NOW, slots, &[]);
        assert_eq!(scanned.seen.keys, keys, "{slots}");
        assert_eq!(scanned.seen.jobs, jobs, "{slots}");
        assert!(scanned.seen.queues > 1);
    }
}

#[test]
fn one_queue_can_be_scanned_alone() {
    let mut core = busy();
    for line in ["ZADD ql:q:q-work 5 nobody", "ZADD ql:q:run-locks 9 nobody"] {
        core.redis(line);
    }
    core.redis("HSET ql:j:w2 priority inf");
    core.redis("HSET ql:j:r2 priority inf");
    core.redis("ZADD ql:t:x 1 nobody");
    let candidates = candidates(&core, WHOLE, &["run"]);
    assert!(
        candidates.contains(&"locks run nobody".to_owned()),
        "{candidates:?}"
    );
    assert!(candidates.contains(&"job  r2".to_owned()), "{candidates:?}");
    let others = ["q nobody", "w2", "tag"];
    assert!(
        !candidates
            .iter()
            .any(|one| others.iter().any(|word| one.contains(word))),
        "{candidates:?}"
    );
}

#[test]
fn a_hash_of_very_many_fields_is_scanned_as_a_job() {
    let mut core = busy();
    lua(
        &mut core,
        "for i = 1, 200000, 1000 do
           local words = {}
           for k = i, i + 999 do words[#words + 1] = 'f' .. k words[#words + 1] = 'x' end
           redis.call('HSET', 'ql:j:w2', unpack(words))
         end",
    );
    assert_eq!(candidates(&core, WHOLE, &[]), Vec::<String>::new());
    core.redis("HSET ql:j:w2 remaining many");
    assert_eq!(candidates(&core, WHOLE, &[]), ["job  w2"]);
    // Settings and names are scanned, too.
    lua(
        &mut core,
        "for i = 1, 30000 do redis.call('HSET', 'ql:config', 'f' .. i, 'x') end
         redis.call('HSET', 'ql:config', 'heartbeat', 'soon')",
    );
    assert_eq!(
        candidates(&core, WHOLE, &[]),
        ["job  w2", "names config heartbeat"]
    );
}

#[test]
fn very_long_lists_are_read_in_pages() {
    let mut core = busy();
    lua(
        &mut core,
        "local words = {}
         for i = 1, 5000 do words[i] = '[1000,\"x\"]' end
         for i = 1, 50 do redis.call('RPUSH', 'ql:j:w2-history', unpack(words)) end
         for i = 1, 3 do
           local ids = {}
           for k = 1, 5000 do ids[k] = 'nobody-' .. (i * 5000 + k) end
           redis.call('RPUSH', 'ql:f:G', unpack(ids))
         end
         for i = 1, 3 do
           local ids = {}
           for k = 1, 5000 do ids[k] = 'nobody-' .. (i * 5000 + k) end
           redis.call('SADD', 'ql:j:w1-dependents', unpack(ids))
         end",
    );
    let candidates = candidates(&core, WHOLE, &[]);
    assert!(candidates.contains(&"job  w2".to_owned()));
    assert!(candidates.contains(&"job  w1".to_owned()));
    let misplaced = candidates
        .iter()
        .filter(|one| one.starts_with("entries G "));
    assert_eq!(misplaced.count(), 15_000 / 50);
}

#[test]
fn names_may_be_any_bytes_and_keys_of_any_type() {
    let mut core = Core::new();
    for text in [
        "plain",
        "with space\nand more",
        "\u{fffd}ff\u{fffd}00",
        "-",
        "*",
        "a-history",
    ] {
        fill(&mut core);
        let name = name_bytes(text);
        let key = |begin: &str, end: &str| [begin.as_bytes(), &name, end.as_bytes()].concat();
        for (begin, end) in [("ql:q:", "-work"), ("ql:t:", ""), ("ql:w:", ":jobs")] {
            core.redis_words(&[b"ZADD", &key(begin, end), b"1", &name]);
        }
        core.redis_words(&[b"LPUSH", &key("ql:f:", ""), &name]);
        core.redis_words(&[
            b"HSET",
            &key("ql:j:", ""),
            b"data",
            b"\xff",
            b"state",
            &name,
        ]);
        core.redis_words(&[b"SADD", &key("ql:j:", "-dependencies"), &name, b"w1"]);
        core.redis_words(&[b"SADD", &key("ql:j:", "-dependents"), &name, b"w1"]);
        core.redis_words(&[b"RPUSH", &key("ql:j:", "-history"), &name]);
        core.redis_words(&[b"SET", &key("ql:", ""), b"x"]);
        let found = verify_all(&mut core, NOW, "");
        finds(&mut core, NOW, &found);
    }
}

#[test]
fn no_key_of_a_wrong_type_stops_the_scan() {
    let mut core = busy();
    let keys: Vec<String> = core.dump().0.into_keys().collect();
    for kind in ["string", "list", "set", "zset", "hash"] {
        for key in &keys {
            let key = key.as_bytes();
            core.redis_words(&[b"DEL", key]);
            match kind {
                "string" => core.redis_words(&[b"SET", key, b"x"]),
                "list" => core.redis_words(&[b"RPUSH", key, b"x"]),
                "set" => core.redis_words(&[b"SADD", key, b"x"]),
                "zset" => core.redis_words(&[b"ZADD", key, b"1", b"x"]),
                _ => core.redis_words(&[b"HSET", key, b"x", b"x"]),
            };
        }
        let found = verify_all(&mut core, NOW, "");
        finds(&mut core, NOW, &found);
    }
}

#[test]
fn a_scan_of_one_queue_finds_what_a_full_scan_finds_of_its_jobs() {
    let mut core = Core::new();
    for line in [
        "put 1000 me A x1 K {} 0",
        "put 1000 me B x2 K {} 0",
        "put 1000 me C y K {} 0 depends '[\"x1\",\"x2\"]'",
        "put 1000 me mail j K {} 0",
    ] {
        core.ok(line);
    }
    core.redis("DEL ql:j:y-dependencies");
    core.redis("ZREM ql:q:mail-work j");
    core.redis("ZADD ql:q:odd-work 0 j");
    core.redis("ZADD ql:q:odd-work 0 nobody");
    assert_eq!(
        candidates(&core, WHOLE, &["mail"]),
        ["job  j", "names queues mail", "work odd j"]
    );
    // All keys that mention a job without its own set are verified together.
    for queue in ["A", "B", "C"] {
        let scanned = scanned(&core, NOW, WHOLE, &[queue]);
        let groups = scanned.first.iter().filter(|(_, items)| items.len() == 2);
        assert_eq!(groups.count(), 1, "{queue}: {scanned:?}");
    }
    assert_eq!(candidates(&core, WHOLE, &["none"]), Vec::<String>::new());
}

#[test]
fn a_cycle_with_a_one_sided_edge_is_found() {
    let mut core = Core::new();
    for line in [
        "put 1000 me q d K {} 0",
        "put 1000 me q b K {} 0 depends '[\"d\"]'",
        "put 1000 me q a K {} 0 depends '[\"b\"]'",
    ] {
        core.ok(line);
    }
    core.redis("SADD ql:j:b-dependencies a");
    let scanned = scanned(&core, NOW, WHOLE, &[]);
    let cycle = |place: &ItemLocation| place.kind == ItemKind::Cycle;
    assert!(
        scanned.first.iter().any(|(place, _)| cycle(place)),
        "{scanned:?}"
    );
}

/// The sets whose pages are read by rank, by their candidates, and the failure list.
const PAGED: [(&str, &str); 9] = [
    ("work q", "ql:q:q-work"),
    ("scheduled q", "ql:q:q-scheduled"),
    ("locks q", "ql:q:q-locks"),
    ("depends q", "ql:q:q-depends"),
    ("worker w", "ql:w:w:jobs"),
    ("tag t", "ql:t:t"),
    ("completed ", "ql:completed"),
    ("tracked ", "ql:tracked"),
    ("entries G", "ql:f:G"),
];

#[test]
fn members_that_stay_are_not_missed_while_others_come_and_go_between_pages() {
    // Changes by other clients: where members enter, where they leave, and which return.
    let moves = [
        (
            "pop the first",
            "redis.call('ZPOPMAX', k, 3)",
            "redis.call('LPOP', k, 3)",
        ),
        (
            "pop the last",
            "redis.call('ZPOPMIN', k, 3)",
            "redis.call('RPOP', k, 3)",
        ),
        (
            "enter before the first",
            "redis.call('ZADD', k, 1e6 + n, 'new-' .. n)",
            "redis.call('LPUSH', k, 'new-' .. n)",
        ),
        (
            "enter after the last, and leave from the middle",
            "redis.call('ZADD', k, -n, 'new-' .. n)
             redis.call('ZREMRANGEBYRANK', k, 1200, 1204)",
            "redis.call('LREM', k, 1, redis.call('LINDEX', k, 1200))
             redis.call('LREM', k, 1, redis.call('LINDEX', k, 2))",
        ),
        (
            "renew, and enter anywhere",
            "redis.call('ZINCRBY', k, 5000, redis.call('ZRANGE', k, 700, 700)[1])
             redis.call('ZADD', k, n * 379 % 3000, 'new-' .. n)",
            "redis.call('LREM', k, 1, redis.call('LINDEX', k, -900))
             redis.call('LPUSH', k, 'new-' .. n)",
        ),
    ];
    let keys = PAGED.map(|(_, key)| format!("'{key}'")).join(",");
    for (what, set, list) in moves {
        let mut core = Core::new();
        core.redis("ZADD ql:queues 1 q");
        core.redis("ZADD ql:workers 1 w");
        core.redis("ZADD ql:tags 1 t");
        core.redis("SADD ql:failures G");
        // Many of the same priority, and many with the same time.
        lua(
            &mut core,
            &format!(
                "for _, k in ipairs({{{keys}}}) do for i = 1, 3000 do
                   if k == 'ql:f:G' then redis.call('LPUSH', k, 'old-' .. i)
                   else redis.call('ZADD', k, math.floor(i / 7), 'old-' .. i) end
                 end end"
            ),
        );
        let mut other = Wire::connect(core.socket());
        let mut n = 0;
        let scanned = scanned_while(&core, NOW, usize::MAX, &mut |_| {
            n += 1;
            let script = format!(
                "local n = {n} for _, k in ipairs({{{keys}}}) do
                   if k == 'ql:f:G' then {list} else {set} end
                 end"
            );
            let reply = other.ask(&[b"EVAL", script.as_bytes(), b"0"]);
            assert_eq!(reply, Reply::Nil, "{script}");
        });
        assert!(n > 100, "{what}: {n}");
        let dump = core.dump();
        let by_score = ["work q", "locks q", "worker w"];
        for (place, key) in PAGED {
            let all: Vec<String> = match dump.0.get(key) {
                Some(Key::List(list)) => list.clone(),
                Some(Key::Zset(set)) => {
                    // The score is part of these entries: a renewed one is another entry.
                    let renewed = |score: f64| score >= 5000.0 && by_score.contains(&place);
                    let all = set.iter().filter(|(_, score)| !renewed(**score));
                    all.map(|(name, _)| name.clone()).collect()
                }
                other => panic!("{key}: {other:?}"),
            };
            let stayed = all.iter().filter(|one| one.starts_with("old-"));
            let stayed: Vec<&String> = stayed.collect();
            assert!(stayed.len() > 1500, "{what}: {place} {}", stayed.len());
            let candidates = scanned.first.iter().filter(|(candidates, _)| {
                format!(
                    "{} {}",
                    candidates.kind.into_str(),
                    candidates.name.as_str().unwrap()
                ) == place
            });
            let candidates: Vec<_> = candidates.flat_map(|(_, items)| items).collect();
            let candidates: HashSet<&str> =
                candidates.iter().filter_map(|item| item.as_str()).collect();
            let missed = |name: &String, at: usize| match key {
                // Entries of a list are candidates by blocks, counted from its end.
                "ql:f:G" => !candidates.contains(format!("{:012}", at / 50 * 50).as_str()),
                _ => !candidates.contains(name.as_str()),
            };
            let behind = (0..stayed.len()).rev();
            let missed = stayed
                .iter()
                .zip(behind)
                .filter(|(one, at)| missed(one, *at));
            assert_eq!(missed.count(), 0, "{what}: {place}");
        }
    }
}

#[test]
fn a_slow_scan_reads_small_pages_and_misses_nothing() {
    let mut core = busy();
    lua(
        &mut core,
        "for i = 1, 2000 do
           redis.call('ZADD', 'ql:q:q-work', i, 'nobody-' .. i)
           redis.call('ZADD', 'ql:t:x', i, 'nobody-' .. i)
           redis.call('SADD', 'ql:j:w1-dependents', 'nobody-' .. i)
           redis.call('LPUSH', 'ql:f:G', 'nobody-' .. i)
         end",
    );
    let members = |(key, held): (&String, &Key)| match held {
        Key::Zset(set) => set.len(),
        Key::Set(set) => set.len(),
        Key::List(list) if key.starts_with("ql:f:") => list.len(),
        _ => 0,
    };
    let dump = core.dump();
    let all = dump.0.len() + dump.0.iter().map(members).sum::<usize>();
    let mut walks = Vec::new();
    for most in [usize::MAX, 50] {
        let mut steps = Vec::new();
        let scanned = scanned_while(&core, NOW, most, &mut |read| steps.push(read));
        let read: usize = steps.iter().sum();
        assert!(read >= all, "{most}: {read} of {all}");
        // A small set is read whole, whatever the page size.
        let largest = steps.iter().max().copied().unwrap_or_default();
        assert!(largest <= most.saturating_mul(4), "{most}: {largest}");
        let mut candidates: Vec<_> = scanned.first.into_iter().chain(scanned.last).collect();
        candidates.sort();
        candidates.dedup();
        walks.push((candidates, largest));
    }
    let [(fast, many), (slow, few)] = &walks[..] else {
        panic!("two walks");
    };
    assert_eq!(fast, slow);
    assert!(few * 2 < *many, "{few} of {many}");
}
