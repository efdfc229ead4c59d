//! Deviations that look like damage and are none (`src/model/known_deviations.rs`): each shape as the
//! reference leaves it, made with server commands alone, is verified by the core and by the binary.

use std::collections::BTreeSet;

use qless::internals::finding::FindingId;
use qless::internals::known_deviations::{DEFECTS, TOLERATED};

use super::slice::{NOW, fill};
use crate::support::check_calls::{Finding, INFO, verify_all};
use crate::support::core::{Core, Reply};

/// How to make each shape, by name: commands over a database with something of everything, or,
/// after `FLUSHALL`, over an empty one. `@job jid state field=value …` is what a put at 200000
/// makes of a job, with these fields changed, its list of queues and its first entry.
const SHAPES: &[(&str, &[&str])] = &[
    (
        "lapsed-lock",
        &[
            "ZADD ql:q:run-locks 200500 r2\nHSET ql:j:r2 expires 200500\nZADD ql:w:a:jobs 200500 r2",
            "FLUSHALL
             @job j running worker=w1 expires=200063.25 time=200003.25000000000000000000
             RPUSH ql:j:j-history [200003,\"popped\",{\"worker\":\"w1\"}]
             ZADD ql:q:q-locks 200063.25 j
             ZADD ql:w:w1:jobs 200063.25 j
             ZADD ql:workers 200003.25 w1
             HSET ql:s:wait:172800:q mean 2.75 s2 1 total 1 vk 0",
        ],
    ),
    (
        "due-job",
        &[
            "ZADD ql:q:q-scheduled 200500 s2",
            "FLUSHALL\n@job j scheduled\nZADD ql:q:q-scheduled 200030 j",
        ],
    ),
    (
        "due-template",
        &[
            "ZADD ql:q:q-recur 200500 tpl",
            "FLUSHALL
             HSET ql:r:r jid r klass K data {} priority 1 tags [\"t\"] state recur queue q type interval count 0 interval 60 retries 2 backlog 1
             ZADD ql:q:q-recur 200105.5 r
             ZADD ql:queues 200100.5 q",
            "HSET ql:r:tpl interval 0.7 backlog -3\nZADD ql:q:q-recur 200500.125 tpl",
        ],
    ),
    (
        "courtesy",
        &[
            "HSET ql:j:r2 grace 1\nZADD ql:q:run-locks 205013 r2\nZREM ql:w:a:jobs r2",
            "FLUSHALL
             @job j running worker=w1 expires=200060 retries=1 remaining=1 grace=1
             RPUSH ql:j:j-history [200000,\"popped\",{\"worker\":\"w1\"}] [200061,\"timed-out\"]
             ZADD ql:q:q-locks 200071.5 j
             ZADD ql:workers 200000 w1 200061.5 w2
             HSET ql:s:stats:172800:q retries 1",
        ],
    ),
    (
        "grace-left",
        &[
            // For a running job whose lock was renewed, and in every other state.
            "HSET ql:j:r2 grace 1",
            "HSET ql:j:w2 grace 1",
            "HSET ql:j:c1 grace 1",
            "HSET ql:j:f1 grace 1",
            "HSET ql:j:st grace 1",
            "HSET ql:j:s1 grace 1",
            "HSET ql:j:d1 grace 1",
        ],
    ),
    (
        "scheduled-left",
        &[
            "HSET ql:j:w2 scheduled 200500",
            "HSET ql:j:r2 scheduled 290000.5",
            "HSET ql:j:c1 scheduled 200500",
        ],
    ),
    (
        "holder-before",
        &[
            "HSET ql:j:w2 worker a expires 200500",
            "HSET ql:j:s2 worker a expires 200500",
            "FLUSHALL
             @job j scheduled worker=w1 expires=200060 retries=2 remaining=1 failure={\"group\":\"G\",\"message\":\"M\",\"when\":200001,\"worker\":\"w1\"}
             RPUSH ql:j:j-history [200000,\"popped\",{\"worker\":\"w1\"}]
             ZADD ql:q:q-scheduled 200031 j
             ZADD ql:workers 200000 w1",
        ],
    ),
    (
        "stalled-holder",
        &[
            "HSET ql:j:st worker a expires 200500",
            // Before another worker takes the job (D-22).
            "ZADD ql:w:a:jobs 205003 st",
            "FLUSHALL
             @job j stalled worker=w1 expires=0
             RPUSH ql:j:j-history [200000,\"popped\",{\"worker\":\"w1\"}] [200005,\"timed-out\"]
             ZADD ql:q:q-work inf j
             ZADD ql:w:w1:jobs 200060 j
             ZADD ql:workers 200000 w1",
        ],
    ),
    (
        // D-29.
        "waiting-scheduled",
        &[
            "ZREM ql:q:q-work w2\nZADD ql:q:q-scheduled 205000 w2",
            "FLUSHALL
             @job a waiting queue=q2 failure={} time=200002.00000000000000000000
             RPUSH ql:j:a-history [200000,\"popped\",{\"worker\":\"w1\"}] [200002,\"done\"] [200002,\"put\",{\"q\":\"q2\"}]
             ZADD ql:q:q2-scheduled 200012 a
             ZADD ql:queues 200002 q2
             HSET ql:s:run:172800:q mean 1 s1 1 total 1 vk 0",
        ],
    ),
    (
        "bare-priority",
        &[
            "ZADD ql:q:q-work 7 w2",
            "ZADD ql:q:run-work 0 st",
            "FLUSHALL\n@job a waiting priority=3\nZADD ql:q:q-work 3 a",
            "FLUSHALL\n@job a stalled priority=-1 worker=w\nZADD ql:q:q-work -1 a",
        ],
    ),
    (
        "large-priority",
        &[
            "HSET ql:j:w2 priority 1e16\nZADD ql:q:q-work 1e16 w2",
            "HSET ql:j:w2 priority -10000\nZADD ql:q:q-work -10000.0000200000000001 w2",
        ],
    ),
    ("rounding", &["ZADD ql:w:a:jobs 205003.00000001 r2", "ZADD ql:q:run-locks 205002.99999999 r2"]),
    (
        "failure-before",
        &[
            "HSET ql:j:w2 failure {}",
            "HSET ql:j:w2 failure {\"group\":\"G\",\"when\":200000}",
            "HSET ql:j:r2 failure {\"group\":\"G\",\"message\":\"m\",\"when\":200000,\"worker\":\"a\"}",
        ],
    ),
    (
        // D-26.
        "exhausted",
        &["FLUSHALL
           @job j failed worker= expires= retries=0 remaining=-1 failure={\"group\":\"failed-retries-q\",\"message\":\"m\",\"when\":200060.5,\"worker\":\"\"}
           RPUSH ql:j:j-history [200000,\"popped\",{\"worker\":\"w1\"}] [200060,\"timed-out\"] [200060,\"failed\",{\"group\":\"failed-retries-q\"}]
           LPUSH ql:f:failed-retries-q j
           SADD ql:failures failed-retries-q
           ZADD ql:workers 200060 w2
           HSET ql:s:stats:172800:q failed 1 failures 1 retries 1"],
    ),
    ("fields-missing", &["FLUSHALL\n@job j waiting\nZADD ql:q:q-work -2.00000e-05 j"]),
    (
        "spawned-from-nobody",
        &["HSET ql:j:w2 spawned_from_jid nobody", "HSET ql:j:tpl-1 spawned_from_jid gone"],
    ),
    (
        "history-old",
        &[
            "DEL ql:j:w2-history",
            "HSET ql:j:w2 history []",
            "DEL ql:j:w2-history\nHSET ql:j:w2 history [{\"put\":200000,\"q\":\"q\"}]",
        ],
    ),
    (
        "history-forms",
        &[
            "RPUSH ql:j:w2-history '[ 7, \"a\\u0041\" ]' '[7.5,\"x\",{\"a\":[1,{}]}]' [1,\"x\",{}]",
            "RPUSH ql:j:w2-history '[200001,\"a note\"]' [200001,\"cli\",{\"verb\":\"retry\",\"by\":\"ann@h\",\"n\":3}]",
        ],
    ),
    (
        "document-forms",
        &[
            "HSET ql:j:w2 tags [\"x\",\"x\"]",
            "HSET ql:j:p2 tags []",
            "HSET ql:j:p2 tags [7]\nZADD ql:t:7 200000 p2\nZADD ql:tags 1 7",
            "HSET ql:j:w2 retries 2.5 remaining 2",
            "HSET ql:j:w2 data '{\"n\":12345678901234567890}'",
            "HSET ql:j:w2 data null",
            "HSET ql:j:w2 time 200000 priority 7.0",
        ],
    ),
    ("foreign-fields", &["HSET ql:j:w2 colour red"]),
    (
        "same-name",
        &["HSET ql:r:w2 jid w2 klass K data {} priority 0 tags {} state recur queue q type interval count 0 interval 60 retries 0 backlog 0\nZADD ql:q:q-recur 300000 w2"],
    ),
    (
        // D-79.
        "empty-names",
        &[
            "HSET ql:j:r2 worker ''\nZREM ql:w:a:jobs r2",
            "FLUSHALL
             @job j failed expires= failure={\"group\":\"\",\"message\":\"m\",\"when\":200060,\"worker\":\"w\"}
             LPUSH ql:f: j
             SADD ql:failures ''
             HSET ql:s:stats:172800:q failed 1 failures 1",
        ],
    ),
    ("retagged", &["ZADD ql:t:x 200900 w1"]),
    (
        "counters-small",
        &["HSET ql:s:stats:86400:q retries 5", "HSET ql:s:stats:86400:q failed 0"],
    ),
    ("paused", &["SADD ql:paused_queues q", "HSET ql:pauses nothing {}"]),
    (
        "idle-queue",
        &["ZADD ql:queues 200000 idle2", "SADD ql:paused_queues nobody"],
    ),
    (
        // D-73.
        "worker-aged",
        &["DEL ql:w:a:jobs\nZREM ql:workers a"],
    ),
    ("worker-forgotten", &["ZREM ql:workers a"]),
    ("tracked-gone", &["ZADD ql:tracked 200000 nobody"]),
    ("edges-left", &["SADD ql:j:nobody-dependencies c1", "SADD ql:j:nobody-dependents w2"]),
    ("after-failure", &["SADD ql:j:d1-dependencies f1\nSADD ql:j:f1-dependents d1"]),
    (
        // D-07.
        "crowded",
        &["HSET ql:config run-max-concurrency 1"],
    ),
];

/// The same for the leftovers of defects, by defect number.
const LEFT: &[(u8, &[&str])] = &[
    (16, &["HSET ql:r:tpl count 0"]),
    (
        18,
        &["ZREM ql:q:run-locks r2\nZREM ql:w:a:jobs r2\nHSET ql:j:r2 state waiting remaining 4\nZADD ql:q:q-work -2.00050e-05 r2"],
    ),
    (
        22,
        &["FLUSHALL
           @job j running worker=w2 expires=200066 time=200006.00000000000000000000
           RPUSH ql:j:j-history [200000,\"popped\",{\"worker\":\"w1\"}] [200005,\"timed-out\"] [200006,\"popped\",{\"worker\":\"w2\"}]
           ZADD ql:q:q-locks 200066 j
           ZADD ql:w:w1:jobs 200060 j
           ZADD ql:w:w2:jobs 200066 j
           ZADD ql:workers 200000 w1 200006 w2"],
    ),
    (
        37,
        &["FLUSHALL
           @job a waiting queue=q2 failure={\"group\":\"G\",\"message\":\"M\",\"when\":200002,\"worker\":\"w1\"}
           ZADD ql:q:q2-work -2.00003e-05 a
           ZADD ql:queues 200003 q2
           HSET ql:s:stats:172800:q failed 1 failures 1
           HSET ql:s:stats:172800:q2 failed -1"],
    ),
    (40, &["ZREM ql:queues q", "ZREM ql:queues p"]),
    (
        48,
        &["FLUSHALL
           @job a waiting tags=[\"y\"]
           ZADD ql:q:q-work -2.00000e-05 a
           ZADD ql:t:y 200001 a
           ZADD ql:tags 1 x 1 y -1 nope",
          "FLUSHALL\n@job a waiting\nZADD ql:q:q-work -2.00000e-05 a\nZADD ql:tags 0 t"],
    ),
    (
        52,
        &["FLUSHALL
           @job j waiting queue=q3 failure={\"group\":\"G\",\"message\":\"M\",\"when\":200005,\"worker\":\"w1\"}
           ZADD ql:q:q3-work -2.00006e-05 j
           ZADD ql:queues 200006 q3
           HSET ql:s:stats:172800:q failed 1 failures 1"],
    ),
    (
        70,
        &["SADD ql:j:d1-dependencies d3\nSADD ql:j:d3-dependents d1"],
    ),
];

/// The words of a shape.
fn commands(line: &str) -> Vec<String> {
    let Some(rest) = line.strip_prefix("@job ") else {
        return vec![line.to_owned()];
    };
    let mut words = rest.split(' ');
    let (jid, state) = (words.next().expect("a jid"), words.next().expect("a state"));
    let time = "200000.00000000000000000000";
    let mut fields = vec![
        ("jid", jid),
        ("klass", "K"),
        ("data", "{}"),
        ("priority", "0"),
        ("tags", "{}"),
        ("state", state),
        ("worker", ""),
        ("expires", "0"),
        ("queue", "q"),
        ("retries", "5"),
        ("remaining", "5"),
        ("time", time),
    ];
    for word in words {
        let (name, value) = word.split_once('=').expect("a field and its value");
        fields.retain(|(other, _)| *other != name);
        fields.push((name, value));
    }
    let fields = fields
        .iter()
        .map(|(name, value)| format!(" {name} '{value}'"));
    vec![
        format!("HSET ql:j:{jid}{}", fields.collect::<String>()),
        format!("RPUSH ql:j:{jid}-history [200000,\"put\",{{\"q\":\"q\"}}]"),
        "ZADD ql:queues 200000 q".to_owned(),
    ]
}

fn make(core: &mut Core, shape: &str) {
    for line in shape.lines().map(str::trim) {
        for command in commands(line) {
            let reply = core.redis(&command);
            assert!(!matches!(reply, Reply::Error(_)), "{command}: {reply:?}");
        }
    }
}

/// An empty queue of this database is a finding of its own.
fn finding_ids(found: &[Finding], base: &str) -> Vec<String> {
    let idle = |one: &&Finding| !(base.contains("FLUSHALL") && one.id == "queue-empty");
    let mut ids: Vec<String> = found
        .iter()
        .filter(idle)
        .map(|one| one.id.clone())
        .collect();
    ids.sort();
    ids.dedup();
    ids
}

/// Runs the binary and returns its exit code and finding ids.
fn checked(core: &Core, base: &str) -> (i32, Vec<String>) {
    let ran = core.qless().at(NOW).run("check -o ndjson");
    let mut ids: Vec<String> = ran
        .stdout()
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("a line of JSON"))
        .filter_map(|line| line["finding"].as_str().map(str::to_owned))
        .filter(|id| !(base.contains("FLUSHALL") && id == "queue-empty"))
        .collect();
    ids.sort();
    ids.dedup();
    (ran.code(), ids)
}

fn sorted(ids: &[FindingId]) -> Vec<String> {
    let ids: BTreeSet<&str> = ids.iter().map(|id| id.into_str()).collect();
    ids.into_iter().map(str::to_owned).collect()
}

/// Makes each variant of a shape, and compares the findings of the core and of the binary with these, and the exit
/// code with this one.
fn check_variants(
    core: &mut Core,
    name: &str,
    variants: &[&str],
    findings: &[FindingId],
    code: i32,
) {
    for variant in variants {
        if !variant.starts_with("FLUSHALL") {
            fill(core);
        }
        make(core, variant);
        let found = verify_all(core, NOW, "");
        assert_eq!(
            finding_ids(&found, variant),
            sorted(findings),
            "{name}: {variant}: {found:?}"
        );
        assert_eq!(
            checked(core, variant),
            (code, sorted(findings)),
            "{name}: {variant}"
        );
    }
}

#[test]
fn tolerated_deviations_are_not_reported() {
    let mut names: Vec<&str> = SHAPES.iter().map(|(name, _)| *name).collect();
    let mut listed: Vec<&str> = TOLERATED.iter().map(|shape| shape.name).collect();
    names.sort_unstable();
    listed.sort_unstable();
    assert_eq!(names, listed, "each has its shapes");
    let mut core = Core::new();
    for shape in TOLERATED {
        let (_, variants) = SHAPES.iter().find(|(name, _)| *name == shape.name).unwrap();
        check_variants(&mut core, shape.name, variants, shape.findings, 0);
    }
}

#[test]
fn leftovers_of_known_reference_defects_are_the_only_findings() {
    let numbers: Vec<u8> = LEFT.iter().map(|(number, _)| *number).collect();
    let listed: Vec<u8> = DEFECTS.iter().map(|defect| defect.number).collect();
    assert_eq!(numbers, listed);
    let mut core = Core::new();
    for (defect, (number, variants)) in DEFECTS.iter().zip(LEFT) {
        let name = format!("D-{number}");
        let is_info = |id: &FindingId| INFO.contains(&id.into_str());
        let code = if defect.findings.iter().all(is_info) {
            0
        } else {
            7
        };
        check_variants(&mut core, &name, variants, defect.findings, code);
    }
}
