//! `check.slice` and `check.revert` as a client uses them: a scan of everything, a repair in the
//! order of docs/check.md, and what both must never do.

use expect_test::expect;

use super::invariants::Excuses;
use super::random_damage::FIELDS;
use crate::support::check_calls::{
    DEFERRED, Finding, NAMES, all_named, candidates, describe_all, finding, repair, revert, slice,
    verify_all,
};
use crate::support::core::{Core, Reply};
use crate::support::redis::Redis;
use crate::support::text::{Shows, words};

/// A database with something of everything. The last call is at 201000.
pub(crate) const TRAFFIC: &str = r#"config.set 200000 q-heartbeat 500
put 200000 w q w1 K {"a":1} 0 priority 5 tags ["x","y"]
put 200000 w q w2 K [] 0 tags ["x"]
put 200000 w q w3 K 17 0 priority -2.5
put 200001 w p p1 K {} 0 tags ["y"]
put 200001 w p p2 K {} 0
put 200002 w run st K {} 0
put 200002 w run r1 K {} 0 tags ["x"]
put 200002 w run r2 K {} 0
put 200002 w run rg K {} 0
put 200002 w run f1 K {} 0 tags ["y"]
put 200002 w run f2 K {} 0
put 200002 w run f3 K {} 0
put 200002 w run f4 K {} 0 retries 0
put 200002 w run c1 K {} 0 tags ["z"]
put 200002 w run c2 K {} 0
put 200002 w run c3 K {} 0
put 200002 w run u1 K {} 0
put 200002 w run y1 K {} 0
config.set 200003 run-heartbeat 5000
pop 200003 run a 20
heartbeat 200010 r1 a {"b":2}
timeout 200020 st
fail 200021 f1 a G message {"c":3}
fail 200022 f2 a G message
fail 200023 f3 a H message
retry 200024 f4 run a
complete 200025 c1 a run {"d":4}
complete 200026 c2 a run {}
complete 200027 c3 a run {} next p delay 5000
fail 200028 u1 a U message
unfail 200029 p U 5
retry 200030 y1 run a 3000
put 200031 w q s1 K {} 3000
put 200031 w q s2 K {} 4000 priority 3 tags ["z"]
put 200032 w q d1 K {} 0 depends ["w1"] tags ["x"]
put 200032 w q d2 K {} 0 depends ["w1","r1"]
put 200032 w q d3 K {} 0 depends ["d1"]
put 200032 w q d4 K {} 3000 depends ["p1"]
put 200032 w q d5 K {} 0 depends ["c2"]
log 200033 w1 'a note' {"x":1}
priority 200034 w2 7
track 200035 track w1
track 200035 track c1
recur 200036 q tpl K {} interval 50 0 tags ["t"] retries 2
recur 200036 p tpm K {} interval 5000 9000
peek 200040 q 1
peek 200090 q 2
config.set 200091 late-heartbeat 10
put 200091 w late l1 K {} 0
pop 200091 late b 1
put 200091 w late rl K {} 0
pop 200092 late b 1
pop 200110 late b 2
config.set 200111 late-heartbeat 5000
heartbeat 200112 l1 b
put 200120 w idle i1 K {} 0
pause 200121 idle
cancel 200122 w3
recur.update 200980 tpl interval 100000
length 201000 q"#;

pub(crate) const NOW: f64 = 201_000.0;

pub(crate) fn busy() -> Core {
    let mut core = Core::new();
    fill(&mut core);
    core
}

pub(crate) fn fill(core: &mut Core) {
    core.flush();
    core.many(TRAFFIC.lines().map(str::to_owned));
    core.events();
}

#[test]
fn a_healthy_database_has_no_findings() {
    let mut core = busy();
    let found = verify_all(&mut core, NOW, "");
    assert_eq!(describe_all(&found), Vec::<String>::new());
}

/// Verifies items of a kind, or repairs them in the mode `mend`.
fn of(core: &mut Core, mode: &str, kind: &str, name: &str, items: &str) -> Vec<Finding> {
    slice(core, NOW, mode, "", kind, name, &words(items))
}

/// Problems of many kinds together.
const DAMAGE: &str = r#"DEL ql:j:w3
ZADD ql:q:q-work 5 ghost
ZREM ql:q:run-locks r2
ZADD ql:q:q-recur 5 ghost
ZREM ql:q:q-work w2
ZADD ql:q:p-work 6.9 w2
DEL ql:j:w1-dependents
SADD ql:j:p1-dependents w2
LPUSH ql:f:G ghost
LREM ql:f:H 0 f3
HSET ql:j:w1 priority inf
RPUSH ql:j:w1-history oops
ZADD ql:completed 5 w1
ZADD ql:t:x 5 ghost
ZADD ql:tags 5 nothing
ZADD ql:w:a:jobs 5 ghost
ZADD ql:tracked 5 ghost
HSET ql:s:stats:172800:run failed 77
SADD ql:j:d1-dependencies ghost
SET ql:t:text text"#;

fn hurt() -> Core {
    let mut core = busy();
    for line in DAMAGE.lines() {
        core.redis(line);
    }
    core
}

fn all_items(core: &mut Core) -> Vec<(&'static str, String, Vec<String>)> {
    let mut all = candidates(&core.dump());
    all.push(("cycle", String::new(), vec!["d1".into(), "d3".into()]));
    all
}

/// The reply of a call that may not write; `None` from a server before 7, which has no such call.
fn read_only(
    core: &mut Core,
    findings: &str,
    kind: &str,
    name: &str,
    items: &[String],
) -> Option<Vec<Finding>> {
    let script = crate::support::core::script();
    let now = NOW.to_string();
    let mut argv = vec!["EVAL_RO", &script, "0", "check.slice", &now, "look"];
    argv.extend([findings, "", kind, name]);
    argv.extend(items.iter().map(String::as_str));
    let argv: Vec<&[u8]> = argv.iter().map(|word| word.as_bytes()).collect();
    match core.redis_words(&argv) {
        Reply::List(reply) => {
            let (rows, _) = crate::support::check_calls::rows(&reply, items.len());
            Some(rows.iter().map(finding).collect())
        }
        Reply::Error(error) if error.contains("unknown command") => None,
        other => panic!("{kind} {name} answers {other:?}"),
    }
}

#[test]
fn a_scan_runs_on_a_server_that_refuses_writes() {
    let mut core = hurt();
    let mut printed = 0;
    for (kind, name, items) in all_items(&mut core) {
        let seen = slice(&mut core, NOW, "look", "", kind, &name, &items);
        let Some(rows) = read_only(&mut core, "", kind, &name, &items) else {
            return;
        };
        assert_eq!(rows, seen, "{kind} {name}");
        printed += rows.len();
    }
    assert!(printed > 20, "{printed}");
}

#[test]
fn check_slice_refuses_bad_usage() {
    let mut core = busy();
    core.session(expect![[r#"
        check.slice 1 → error Check(): "look" or "mend" missing
        check.slice 1 repair '' r job '' w1 → error Check(): "look" or "mend" missing
        check.slice 1 look '' → error Check(): findings, run, kind or name missing
        check.slice 1 look '' '' job → error Check(): findings, run, kind or name missing
        check.slice 1 mend '' '' job '' w1 → error Check(): a repair needs the name of its run
        check.slice 1 look '' '' jobs '' w1 → error Check(): unknown kind jobs
        check.slice 1 look '' '' names jobs w1 → error Check(): unknown names jobs
        check.slice 1 look ghosts '' job '' w1 → error Check(): unknown finding ghosts
        check.slice 1 look ghost-lock, '' job '' w1 → error Check(): unknown finding
        check.slice 1 look --ghost-lock '' job '' w1 → error Check(): unknown finding --ghost-lock
        check.revert 1 → error Check(): key, item, before and after for each change
        check.revert 1 ql:tags → error Check(): key, item, before and after for each change
        check.revert 1 ql:tags x - +1 → error Check(): "-" or "+" missing before x
        check.revert 1 other:tags +x - +1 → error Check(): not under the prefix: other:tags
        check.revert 1 ql:tags +x - +one → error Check(): score is not a number: one
        check.revert 1 ql:tags +x - +nan → error Check(): score is not a number: nan
        check.revert 1 ql:nobodys +x - +1 → error Check(): no key of ours: ql:nobodys
        check.revert 1 ql:f:G +x - +1 → error Check(): index is not a number: x
        check.revert 1 ql:j:w1 - - +ql:j:w2 → error Check(): no change: ql:j:w1
        check.revert 1 ql:j:w1 - +soon - → error Check(): no change: ql:j:w1
        check.revert 1 ql:j:w1 - +1 +ql:lost:r:j:w1 → error Check(): no change: ql:j:w1
    "#]]);
    let many: Vec<Vec<u8>> = (0..201).map(|n| format!("j{n}").into_bytes()).collect();
    let mut argv: Vec<&[u8]> = vec![b"check.slice", b"1", b"look", b"", b"", b"job", b""];
    argv.extend(many.iter().map(Vec::as_slice));
    let error = core.refused_words(&argv);
    assert!(error.contains("Check(): more than 200 items"), "{error}");
}

#[test]
fn findings_are_chosen_and_named() {
    let mut core = hurt();
    let mut ask = |findings: &str| {
        let items = words("w1 d1");
        let found = slice(&mut core, NOW, "look", findings, "job", "", &items);
        describe_all(&found).join("\n")
    };
    let all = ask("");
    assert!(
        all.contains("dependency-missing d1 decide [ghost]"),
        "{all}"
    );
    assert_eq!(
        ask("dependency-missing"),
        "dependency-missing d1 found [ghost]"
    );
    assert_eq!(
        ask("dependency-missing,-dependency-missing"),
        "",
        "left out wins"
    );
    let rest = ask("-dependency-missing,-job-unreadable");
    assert!(!rest.contains("dependency-missing") && !rest.contains("job-unreadable"));
    assert!(
        rest.contains("completed-stray w1 found [waiting]"),
        "{rest}"
    );
    // Excluding one finding approves no other.
    assert!(ask("-completed-stray").contains("dependency-missing d1 decide"));
}

#[test]
fn a_scan_plans_exactly_what_a_repair_does() {
    let mut core = hurt();
    for (kind, name, items) in candidates(&core.dump()) {
        for item in items {
            let item = [item];
            let plan = slice(&mut core, NOW, "look", DEFERRED, kind, &name, &item);
            let done = slice(&mut core, NOW, "mend", DEFERRED, kind, &name, &item);
            let plan: Vec<Finding> = plan
                .into_iter()
                .map(|mut one| {
                    for word in one.changes.iter_mut().flatten().flatten() {
                        *word = word.replacen("ql:lost::", "ql:lost:run1:", 1);
                    }
                    if one.outcome == "found" {
                        one.outcome = "mended".into();
                    }
                    one
                })
                .collect();
            assert_eq!(plan, done, "{kind} {name} {item:?}");
        }
    }
}

#[test]
fn check_revert_leaves_later_changes_alone() {
    let mut core = hurt();
    let repaired = repair(&mut core, NOW, "");
    assert!(repaired.len() > 12, "{repaired:?}");
    core.ok(&format!("priority {NOW} w1 3"));
    core.ok(&format!("cancel {NOW} w2"));
    core.redis("RPUSH ql:f:G ghost");
    core.redis("DEL ql:tags");
    core.redis("SET ql:tags text");
    let before = core.dump();
    let (back, alone) = revert(&mut core, &repaired);
    assert!(back > 5 && alone > 2, "{back} {alone}");
    let after = core.dump();
    assert_eq!(after.field("ql:j:w1", "priority").as_deref(), Some("3"));
    assert_eq!(after.0.get("ql:j:w2"), before.0.get("ql:j:w2"));
    assert_eq!(after.0.get("ql:tags"), before.0.get("ql:tags"));
    assert!(after.score("ql:q:q-work", "ghost").is_some());
}

#[test]
fn check_revert_renames_whole_keys_back() {
    let mut core = busy();
    core.redis("DEL ql:j:w2");
    core.redis("HSET ql:j:w2 state waiting");
    core.redis("SET ql:lost:run1:j:w2 'an earlier one'");
    let before = core.dump();
    let repaired = repair(&mut core, NOW, "job-stub,history-orphan");
    assert!(
        core.dump().has("ql:lost:run1:j:w2:2"),
        "a name that is free"
    );
    assert!(core.dump().has("ql:lost:run1:j:w2-history"));
    assert_eq!(revert(&mut core, &repaired).1, 0);
    assert_eq!(core.dump(), before);
    // A lost key is deleted only by name.
    let gone = repair(&mut core, NOW, "lost-key");
    assert_eq!(gone.len(), 1);
    assert!(!core.dump().has("ql:lost:run1:j:w2"));
    assert_eq!(revert(&mut core, &gone), (0, 1));
}

#[test]
fn an_expiry_is_found_and_reverted() {
    let mut core = busy();
    core.redis("EXPIRE ql:j:w1 5000");
    core.redis("PEXPIRE ql:q:q-work 7000000");
    let items = "j:w1 q:q-work tags";
    let printed = of(&mut core, "look", "key", "", items);
    let ids: Vec<&str> = printed.iter().map(|one| one.id.as_str()).collect();
    assert_eq!(ids, ["key-expires", "key-expires"]);
    let repaired = of(&mut core, "mend", "key", "", items);
    assert_eq!(repaired.len(), 2);
    assert_eq!(core.redis("PTTL ql:j:w1"), Reply::Int(-1));
    assert_eq!(of(&mut core, "look", "key", "", items), []);
    assert_eq!(revert(&mut core, &repaired), (2, 0));
    let left = core.redis("PTTL ql:j:w1").int();
    assert!((4_000_000..=5_000_000).contains(&left), "{left}");
    let left = core.redis("PTTL ql:q:q-work").int();
    assert!((6_000_000..=7_000_000).contains(&left), "{left}");
}

#[test]
fn a_repair_that_the_server_refuses_leaves_nothing_half_done() {
    if !Redis::has_selective_rights_or_skips() {
        // Such a server refuses a command only when it comes to it, and then also where it would undo another.
        return;
    }
    let mut core = hurt();
    core.redis("DEL ql:j:stub");
    core.redis("HSET ql:j:stub state waiting");
    let named = all_named();
    let mut refused = 0;
    for command in [
        "hset", "hdel", "zadd", "zrem", "sadd", "srem", "lset", "lrem", "lpush", "rename",
    ] {
        core.redis(&format!("ACL SETUSER default -{command}"));
        let before = core.dump();
        for (kind, name, items) in candidates(&before) {
            for item in items {
                let now = NOW.to_string();
                let answer = core.call(&[
                    b"check.slice",
                    now.as_bytes(),
                    b"mend",
                    named.as_bytes(),
                    b"run",
                    kind.as_bytes(),
                    name.as_bytes(),
                    item.as_bytes(),
                ]);
                let Ok(reply) = answer else {
                    refused += 1;
                    assert_eq!(core.dump(), before, "{command} {kind} {name} {item}");
                    continue;
                };
                // Repairs before the refusal are reported.
                let rows: Vec<Finding> = reply.list().iter().map(finding).collect();
                let repaired: Vec<Finding> = rows
                    .into_iter()
                    .filter(|one| one.outcome == "mended")
                    .collect();
                if repaired.is_empty() {
                    continue;
                }
                revert_where_allowed(&mut core, command, &repaired);
                assert_eq!(core.dump(), before, "{command} {kind} {name} {item}");
            }
        }
        core.redis(&format!("ACL SETUSER default +{command}"));
    }
    assert!(refused > 10, "{refused}");
}

fn revert_where_allowed(core: &mut Core, denied: &str, repaired: &[Finding]) {
    core.redis(&format!("ACL SETUSER default +{denied}"));
    revert(core, repaired);
    core.redis(&format!("ACL SETUSER default -{denied}"));
}

#[test]
fn a_full_server_loses_nothing() {
    let mut core = hurt();
    let before = core.dump();
    core.redis("CONFIG SET maxmemory 1");
    let answer = core.run("check.slice 201000 mend '' r job '' w1 w2 r2");
    assert!(answer.is_err_and(|error| error.contains("OOM")));
    // Ghosts are only removed; entries after them are not verified in this call.
    let found = of(&mut core, "mend", "work", "q", "ghost w2 w1 d5");
    core.redis("CONFIG SET maxmemory 0");
    assert_eq!(describe_all(&found), ["ghost-waiting ghost mended [q]"]);
    revert(&mut core, &found);
    assert_eq!(core.dump(), before);
}

#[test]
fn keys_set_aside_stay() {
    let mut core = busy();
    core.redis("DEL ql:j:w2");
    core.redis("HSET ql:j:w2 state waiting");
    core.redis("EXPIRE ql:j:w2 100000");
    let found = of(&mut core, "mend", "job", "", "w2");
    let stub = "job-stub w2 mended [nothing but leftovers]";
    assert_eq!(found[0].describe(), stub);
    assert_eq!(core.redis("PTTL ql:lost:run1:j:w2"), Reply::Int(-1));
    revert(&mut core, &found);
    assert!(matches!(core.redis("PTTL ql:j:w2"), Reply::Int(1..)));
}

#[test]
fn a_job_put_back_into_its_set_is_released_from_it() {
    let mut core = busy();
    core.redis("DEL ql:j:d1-dependencies");
    core.redis("SADD ql:j:d1-dependencies c1");
    core.redis("ZREM ql:q:q-depends d1");
    of(&mut core, "mend", "job", "", "d1");
    assert_eq!(core.redis("EXISTS ql:j:d1"), Reply::Int(1));
    assert_eq!(core.redis("ZSCORE ql:q:q-depends d1"), Reply::Nil);
    assert_eq!(core.field("d1", "state").as_deref(), Some("waiting"));
}

#[test]
fn leftovers_of_a_lost_job_still_block_its_dependents() {
    let mut core = busy();
    core.redis("DEL ql:j:w1 ql:j:d1-dependencies");
    let found = of(&mut core, "look", "key", "", "j:w1-dependents");
    // The order of a set differs between servers.
    let mut printed = describe_all(&found);
    printed.sort();
    printed.join("\n").shows(expect![[r#"
        dependency-missing d1 decide [w1]
        dependency-missing d2 decide [w1]
        edges-orphan j:w1-dependents decide [no job]"#]]);
}

#[test]
fn a_lock_may_last_as_long_as_the_heartbeat_of_its_queue() {
    let mut core = Core::new();
    core.many(
        [
            "config.set 1000 year-heartbeat 31536000",
            "put 1000 w year long K {} 0",
            "put 1000 w q short K {} 0",
            "pop 1000 year w 1",
            "pop 1000 q w 1",
        ]
        .map(str::to_owned),
    );
    core.must_be_clean(1000.0, Excuses::default());
    core.redis("HSET ql:j:short expires 31537000");
    core.redis("ZADD ql:q:q-locks 31537000 short");
    core.redis("ZADD ql:w:w:jobs 31537000 short");
    let printed = describe_all(&verify_all(&mut core, 1000.0, ""));
    assert_eq!(printed, ["clock short report [locked until 31537000]"]);
    core.redis("HSET ql:config heartbeat 31536000");
    core.must_be_clean(1000.0, Excuses::default());
}

#[test]
fn changes_of_the_same_call_are_not_listed_again() {
    let mut core = busy();
    core.redis("RPUSH ql:f:new nobody w1");
    core.redis("ZADD ql:q:new-recur 5 nobody");
    let mut repaired = of(&mut core, "mend", "group", "new", "nobody w1");
    repaired.extend(of(&mut core, "mend", "recur", "new", "nobody w1"));
    describe_all(&repaired).join("\n").shows(expect![[r#"
        failed-stray nobody mended [new]
        failed-stray w1 mended [new]
        ghost-recurring nobody mended [new]"#]]);
    core.must_be_clean(NOW, Excuses::default());
}

#[test]
fn the_readable_part_of_a_failure_is_kept() {
    let mut core = busy();
    let stored = r#"{"group":"G","message":"why"}"#;
    core.redis_words(&[b"HSET", b"ql:j:f1", b"failure", stored.as_bytes()]);
    repair(&mut core, NOW, "");
    let whole = r#"{"group":"G","message":"why","when":200021,"worker":"a"}"#;
    assert_eq!(core.field("f1", "failure").as_deref(), Some(whole));
    assert_eq!(core.field("f1", "bad-failure").as_deref(), Some(stored));
    core.must_be_clean(NOW, Excuses::default());
}

#[test]
fn a_day_is_named_as_calls_name_it() {
    let mut core = Core::new();
    let lines = [
        "put 1000 w q far K {} 0",
        "pop 1000 q w 1",
        "fail 1e15 far w G M",
    ];
    core.many(lines.map(str::to_owned));
    assert_eq!(
        core.dump().hash("ql:s:stats:9.999999999936e+14:q")["failed"],
        "1"
    );
    let printed = describe_all(&verify_all(&mut core, 1e15, ""));
    printed.join("\n").shows(expect![[r#"
        queue-empty q report [nothing in it]
        key-unknown s:stats:9.999999999936e+14:q report [hash]"#]]);
}

#[test]
fn without_the_right_to_lpos_the_verdict_is_the_same() {
    let mut core = busy();
    for n in 0..2500 {
        core.redis(&format!("RPUSH ql:f:G x{n}"));
    }
    core.redis("RPUSH ql:f:G f1 w1");
    let items = "f1 f2 w1 x1200";
    let with = of(&mut core, "look", "group", "G", items);
    core.redis("ACL SETUSER default -lpos");
    let without = of(&mut core, "look", "group", "G", items);
    core.redis("ACL SETUSER default +lpos");
    assert_eq!(with, without);
    assert_eq!(with.len(), 3, "{with:?}");
}

#[test]
fn the_least_rights_suffice() {
    let mut core = hurt();
    core.redis("HSET ql:j:stub state waiting");
    for line in qless::internals::acl_lines("ql:", qless::internals::AclOutputForm::Setuser).lines()
    {
        if line.starts_with("ACL ") {
            core.redis(line);
        }
    }
    let dump = core.dump();
    let mut repaired = Vec::new();
    for (kind, name, items) in candidates(&dump) {
        let seen = slice(&mut core, NOW, "look", DEFERRED, kind, &name, &items);
        core.redis("AUTH qless-ro PASSWORD");
        let rows = read_only(&mut core, DEFERRED, kind, &name, &items);
        assert!(rows.is_none_or(|rows| rows == seen), "{kind} {name}");
        core.redis("AUTH qless PASSWORD");
        let found = slice(&mut core, NOW, "mend", DEFERRED, kind, &name, &items);
        core.redis("AUTH default p");
        assert!(found.iter().all(|one| one.outcome != "found"), "{found:?}");
        repaired.extend(found.into_iter().filter(|one| one.outcome == "mended"));
    }
    assert!(repaired.len() > 12);
    core.redis("AUTH qless PASSWORD");
    let (_, alone) = revert(&mut core, &repaired);
    core.redis("AUTH default p");
    assert_eq!((core.dump(), alone), (dump, 0));
}

#[test]
fn values_beyond_the_limits_are_reported() {
    let mut core = busy();
    let mut many = |key: &str, command: &str, count: usize, word: &dyn Fn(usize) -> String| {
        for from in (0..count).step_by(5000) {
            let words: Vec<String> = (from..count.min(from + 5000)).map(word).collect();
            let mut argv: Vec<&[u8]> = vec![command.as_bytes(), key.as_bytes()];
            argv.extend(
                words
                    .iter()
                    .flat_map(|word| word.split(' '))
                    .map(str::as_bytes),
            );
            core.redis_words(&argv);
        }
    };
    many("ql:j:w1-history", "RPUSH", 1500, &|n| {
        format!("[{},\"x\"]", n + 1)
    });
    many("ql:j:d2-dependencies", "SADD", 1500, &|n| format!("x{n}"));
    many("ql:f:big", "RPUSH", 150_000, &|n| format!("x{n}"));
    many("ql:s:wait:172800:q", "HSET", 5000, &|n| format!("s{n} 1"));
    many("ql:queues", "ZADD", 700, &|n| format!("{n} queue{n}"));
    core.redis("SADD ql:failures big");
    core.redis("HSET ql:j:f1 failure {\"group\":\"big\",\"when\":200021}");
    core.redis("HSET ql:s:stats:172800:q failed 4");
    core.redis("ZREM ql:q:q-work w2");
    core.redis("ZREM ql:q:q-recur tpl");
    let long = format!("\"{}\"", "x".repeat(2_000_000));
    core.redis_words(&[b"HSET", b"ql:j:p2", b"data", long.as_bytes()]);
    let mut found = Vec::new();
    for (kind, items) in [
        ("job", "w1 w2 d2 f1 p2"),
        ("recurring", "tpl"),
        ("key", "s:wait:172800:q s:stats:172800:q"),
    ] {
        found.extend(of(&mut core, "look", kind, "", items));
    }
    found.retain(|one| one.id == "not-judged");
    describe_all(&found).join("\n").shows(expect![[r#"
        not-judged j:w1-history report [more than 1000 entries]
        not-judged w2 report [more than 500 queues]
        not-judged j:d2-dependencies report [more than 1000 dependencies]
        not-judged f1 report [failure list of more than 100000]
        not-judged j:p2 report [data beyond 250000 bytes]
        not-judged tpl report [more than 500 queues]
        not-judged s:wait:172800:q report [more than 1000 fields]
        not-judged s:stats:172800:q report [more than 2000 failed jobs]"#]]);
}

#[test]
fn hostile_data_is_verified_or_skipped() {
    let mut core = busy();
    let big: Vec<String> = (0..30_000).map(|n| format!("m{n}")).collect();
    for part in big.chunks(10_000) {
        for (command, key) in [
            ("SADD", "ql:j:w1-dependents"),
            ("SADD", "ql:j:huge-dependencies"),
            ("RPUSH", "ql:j:w2-history"),
            ("RPUSH", "ql:f:G"),
            ("SADD", "ql:failures"),
        ] {
            let mut argv: Vec<&[u8]> = vec![command.as_bytes(), key.as_bytes()];
            argv.extend(part.iter().map(|word| word.as_bytes()));
            core.redis_words(&argv);
        }
        for key in ["ql:j:huge", "ql:r:huge", "ql:s:run:172800:q", "ql:config"] {
            let mut argv: Vec<&[u8]> = vec![b"HSET", key.as_bytes()];
            argv.extend(part.iter().flat_map(|word| [word.as_bytes(), b"nan"]));
            core.redis_words(&argv);
        }
        for key in [
            "ql:queues",
            "ql:tags",
            "ql:t:x",
            "ql:completed",
            "ql:q:q-work",
        ] {
            let mut argv: Vec<&[u8]> = vec![b"ZADD", key.as_bytes()];
            argv.extend(part.iter().flat_map(|word| [&b"-inf"[..], word.as_bytes()]));
            core.redis_words(&argv);
        }
    }
    let deep = [b"[".repeat(100_000), b"]".repeat(100_000)].concat();
    for field in FIELDS {
        for (jid, value) in [
            ("deep", deep.as_slice()),
            ("odd", b"\xff\0\x1b[31m"),
            ("inf", b"1e999"),
        ] {
            core.redis_words(&[
                b"HSET",
                format!("ql:j:{jid}").as_bytes(),
                field.as_bytes(),
                value,
            ]);
        }
    }
    for (jid, state) in [
        ("deep", "failed"),
        ("odd", "running"),
        ("inf", "waiting"),
        ("huge", "depends"),
    ] {
        for (field, value) in [("jid", jid), ("state", state), ("queue", "q")] {
            core.redis_words(&[
                b"HSET",
                format!("ql:j:{jid}").as_bytes(),
                field.as_bytes(),
                value.as_bytes(),
            ]);
        }
    }
    core.redis_words(&[
        b"RPUSH",
        b"ql:j:inf-history",
        &deep,
        b"\0",
        b"[1,\"x\",\"\xff\"]",
        b"[-1e999,1e999]",
    ]);
    core.redis_words(&[b"HSET", b"ql:j:\xff\0\n", b"state", b"waiting"]);
    core.redis_words(&[b"ZADD", b"ql:q:\xff-work", b"1", b"\xff\0\n"]);
    core.redis_words(&[b"ZADD", b"ql:q:q-locks", b"inf", b"odd", b"-inf", b"w1"]);
    let items = words("w1 w2 deep odd inf huge m1 m29999 '' %s '\u{fffd}ff\0\n' d1");
    let kinds = "job recurring work locks scheduled depends recur worker group tag completed \
                 completed_in failed_times tracked cycle";
    let keys = words(
        "j:w1 j:w1-history j:w1-dependents j:huge j:huge-dependencies r:huge f:G t:x s:run:172800:q \
         s:stats:172800:q s:stats:x:q queues config q:q-work q:\u{fffd}ff-work '' : lost: j: w:a:jobs \
         'j:\u{fffd}ff\0\n'",
    );
    for mode in ["look", "mend"] {
        for kind in kinds.split_whitespace() {
            for name in ["q", "G", "x", "", "\u{fffd}ff"] {
                slice(&mut core, NOW, mode, DEFERRED, kind, name, &items);
            }
        }
        for name in NAMES {
            slice(&mut core, NOW, mode, DEFERRED, "names", name, &items);
        }
        slice(&mut core, NOW, mode, DEFERRED, "key", "", &keys);
    }
    // Whatever was repaired, the queue continues.
    core.ok("put 201000 w fine j K {} 0");
    assert_eq!(core.jids("pop 201000 fine w 1"), ["j"]);
}

/// The commands that the script ran while it verified these items.
fn commands(core: &mut Core, mode: &str, kind: &str, name: &str, items: &[String]) -> u64 {
    core.redis("CONFIG RESETSTAT");
    slice(core, NOW, mode, "", kind, name, items);
    let Reply::Text(stats) = core.redis("INFO commandstats") else {
        panic!("no statistics")
    };
    let outside = ["config", "info", "evalsha"];
    let calls = stats.lines().filter_map(|line| {
        let (name, rest) = line.strip_prefix("cmdstat_")?.split_once(":calls=")?;
        let count: u64 = rest.split(',').next()?.parse().ok()?;
        (!outside.iter().any(|other| name.starts_with(other))).then_some(count)
    });
    calls.sum()
}

#[test]
fn a_ghost_costs_few_commands() {
    let mut core = busy();
    let ghosts: Vec<String> = (0..100).map(|n| format!("ghost{n}")).collect();
    for ghost in &ghosts {
        core.redis(&format!("ZADD ql:q:q-work 5 {ghost}"));
    }
    assert_eq!(commands(&mut core, "look", "work", "q", &ghosts), 200);
    assert_eq!(commands(&mut core, "mend", "work", "q", &ghosts), 300);
}

#[test]
fn a_sound_job_costs_few_commands() {
    let mut core = busy();
    let jids: Vec<String> = (0..100).map(|n| format!("j{n}")).collect();
    for jid in &jids {
        core.all(&format!(
            "put 200999 w q9 {jid} K {{\"a\":1}} 0 tags [\"x\",\"y\"]; log 200999 {jid} a; log 200999 {jid} b"
        ));
    }
    // Fields, history, four sets, the complete jobs, edges, two tags; and once the queue.
    assert_eq!(commands(&mut core, "look", "job", "", &jids), 1001);
    assert_eq!(commands(&mut core, "look", "work", "q9", &jids), 601);
    core.ok("pop 200999 q9 a 100");
    assert_eq!(commands(&mut core, "look", "job", "", &jids), 1102);
    assert_eq!(commands(&mut core, "look", "locks", "q9", &jids), 601);
}

#[test]
fn a_list_of_misplaced_jobs_is_searched_once_per_call() {
    let mut core = busy();
    core.redis("DEL ql:f:G");
    for n in 0..3000 {
        core.redis(&format!("RPUSH ql:f:G x{n}"));
    }
    core.redis("RPUSH ql:f:G f1 x2990");
    let items: Vec<String> = (2900..3000).map(|n| format!("x{n}")).collect();
    let before = core.dump();
    let calls = |core: &mut Core| -> u64 {
        let printed = core.redis("INFO commandstats");
        let of = printed
            .text()
            .lines()
            .find_map(|line| line.strip_prefix("cmdstat_lpos:calls="));
        of.map_or(0, |of| of.split(',').next().unwrap().parse().unwrap())
    };
    let asked = calls(&mut core);
    let seen = slice(&mut core, NOW, "look", "", "group", "G", &items);
    // One entry is there twice: a search finds it.
    assert!(calls(&mut core) - asked <= 3);
    assert_eq!(seen.len(), 100);
    assert_eq!(core.dump(), before);
    let asked = calls(&mut core);
    let found = slice(&mut core, NOW, "mend", "", "group", "G", &items);
    assert!(calls(&mut core) - asked <= 3);
    assert!(found.iter().all(|one| one.outcome == "mended"), "{found:?}");
    assert_eq!(core.redis("LLEN ql:f:G").int(), 2901);
    let again = slice(&mut core, NOW, "look", "", "group", "G", &items);
    assert_eq!(again, []);
    revert(&mut core, &found);
    assert_eq!(core.dump(), before);
    // All that remain, with the group.
    core.redis("LTRIM ql:f:G 0 199");
    let items: Vec<String> = (0..200).map(|n| format!("x{n}")).collect();
    let found = slice(&mut core, NOW, "mend", "", "group", "G", &items);
    assert_eq!(found.len(), 200);
    assert_eq!(core.redis("SISMEMBER ql:failures G").int(), 0);
}
