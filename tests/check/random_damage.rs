//! Random damage between random calls: whatever another program, a partial restore or an eviction
//! left behind, no call stops half-way, and every queue continues.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestCaseError;

use crate::core::model::Model;
use crate::core::property::{Step, fill, step};
use crate::core::refusal::{changed, meant, still_works};
use crate::support::core::Core;
use crate::support::random;

fn one(of: &'static [&'static str]) -> impl Strategy<Value = String> {
    select(of).prop_map(str::to_owned)
}

fn jid() -> impl Strategy<Value = String> {
    one(&["@any0", "@any1", "@any2", "@any3", "ghost", "a", "r-1"])
}

pub(crate) const FIELDS: &[&str] = &[
    "jid",
    "klass",
    "data",
    "priority",
    "tags",
    "state",
    "worker",
    "expires",
    "queue",
    "retries",
    "remaining",
    "time",
    "failure",
    "grace",
    "scheduled",
    "spawned_from_jid",
    "history",
];

fn spoilt() -> impl Strategy<Value = String> {
    one(&[
        "''",
        "0",
        "1",
        "-1",
        "1.5",
        "nan",
        "inf",
        "-inf",
        "1e999",
        "soon",
        "{]",
        "{}",
        "[]",
        "[[]]",
        "[1]",
        "null",
        "false",
        "waiting",
        "running",
        "failed",
        "complete",
        "stalled",
        "scheduled",
        "depends",
        "q",
        "p",
        "nowhere",
        "w1",
        "{\"group\":5}",
        "{\"group\":\"G\"}",
        "{\"group\":\"G\",\"when\":\"x\"}",
        "[\"x\",[]]",
        "[{\"put\":\"x\"}]",
        "99999999999999999999",
    ])
}

/// One raw command that no client would send.
pub(crate) fn damage() -> impl Strategy<Value = String> {
    let part = || one(&["work", "work", "locks", "scheduled", "depends", "recur"]);
    let score = || one(&["0", "1", "500", "1001", "5000", "1e12", "inf", "-inf", "-5"]);
    let queue = || one(&["q", "q", "p"]);
    let set = || one(&["dependencies", "dependents"]);
    prop_oneof![
        2 => jid().prop_map(|jid| format!("DEL ql:j:{jid}")),
        1 => (jid(), one(&["history", "dependencies", "dependents"]))
            .prop_map(|(jid, part)| format!("DEL ql:j:{jid}-{part}")),
        3 => (jid(), select(FIELDS)).prop_map(|(jid, field)| format!("HDEL ql:j:{jid} {field}")),
        6 => (jid(), select(FIELDS), spoilt())
            .prop_map(|(jid, field, text)| format!("HSET ql:j:{jid} {field} {text}")),
        3 => (queue(), part(), score(), jid())
            .prop_map(|(queue, part, score, jid)| format!("ZADD ql:q:{queue}-{part} {score} {jid}")),
        1 => (queue(), part(), jid()).prop_map(|(queue, part, jid)| format!("ZREM ql:q:{queue}-{part} {jid}")),
        1 => (queue(), part()).prop_map(|(queue, part)| format!("DEL ql:q:{queue}-{part}")),
        1 => (jid(), set(), jid()).prop_map(|(jid, set, other)| format!("SADD ql:j:{jid}-{set} {other}")),
        1 => (jid(), set(), jid()).prop_map(|(jid, set, other)| format!("SREM ql:j:{jid}-{set} {other}")),
        1 => jid().prop_map(|jid| format!("RPUSH ql:f:G {jid}")),
        1 => jid().prop_map(|jid| format!("LREM ql:f:G 0 {jid}")),
        1 => one(&["DEL ql:f:G", "DEL ql:failures", "SREM ql:failures G", "SADD ql:failures empty", "DEL ql:completed",
                   "DEL ql:tags", "DEL ql:t:x", "ZADD ql:tags -5 x", "DEL ql:workers", "DEL ql:queues",
                   "DEL ql:w:w1:jobs", "DEL ql:r:r", "DEL ql:tracked", "HSET ql:pauses q oops",
                   "HSET ql:pauses q {\"until\":\"x\"}", "SADD ql:paused_queues q"]),
        1 => jid().prop_map(|jid| format!("ZADD ql:completed 5 {jid}")),
        1 => jid().prop_map(|jid| format!("ZADD ql:tracked 5 {jid}")),
        1 => (score(), jid()).prop_map(|(score, jid)| format!("ZADD ql:failed-jobs-list {score} {jid}")),
        1 => (queue(), jid()).prop_map(|(queue, jid)| format!("ZADD ql:q:{queue}-completed 5 {jid}")),
        1 => jid().prop_map(|jid| format!("ZADD ql:t:x 5 {jid}")),
        1 => jid().prop_map(|jid| format!("ZADD ql:w:w1:jobs 5 {jid}")),
        2 => (jid(), one(&["oops", "5", "{}", "[]", "[1]", "[1,2]", "[\"x\",\"y\"]", "[1,\"x\",5]", "[1,\"x\",[2]]",
                           "[1,\"put\"]", "[NaN,\"put\",{\"q\":\"q\"}]", "[1,\"put\",{\"q\":5}]", "[1,\"x\",{\"a\":NaN}]"]))
            .prop_map(|(jid, entry)| format!("RPUSH ql:j:{jid}-history {entry}")),
        2 => (one(&["klass", "data", "priority", "tags", "queue", "count", "interval", "retries", "backlog", "jid"]), spoilt())
            .prop_map(|(field, text)| format!("HSET ql:r:r {field} {text}")),
        1 => one(&["klass", "data", "priority", "tags", "queue", "count", "interval", "retries", "backlog", "jid"])
            .prop_map(|field| format!("HDEL ql:r:r {field}")),
        1 => (one(&["wait", "run", "stats"]), one(&["total", "mean", "vk", "failed", "failures", "retries", "s0"]))
            .prop_map(|(kind, field)| format!("HDEL ql:s:{kind}:0:q {field}")),
    ]
}

/// Jobs in every state to begin with.
pub(crate) const PRELUDE: &str = r#"put 900 w q e K {} 0 tags ["x"] retries 1
pop 900 q w1 1
fail 900 e w1 G M
put 900 w q d K {} 0 tags ["x","y"]
pop 950 q w1 1
put 900 w q f K {} 0
pop 900 q w2 1
complete 900 f w2 q {}
put 900 w q a K {} 0 priority 2
put 900 w q b K {} 0 depends ["a","d"] tags ["x"]
put 900 w q c K {} 150
track 900 track a
track 900 track d
recur 900 q r K {} interval 60 50 tags ["y"]"#;

#[derive(Clone, Debug)]
enum Event {
    Call(Step),
    Damage(String),
}

fn play(core: &mut Core, events: &[Event]) -> Result<(), TestCaseError> {
    core.flush();
    core.many(PRELUDE.lines().map(str::to_owned));
    core.events();
    let mut model = Model::over(core.dump());
    let mut now = 1000.0;
    let mut calls: Vec<String> = Vec::new();
    for event in events {
        match event {
            Event::Damage(line) => {
                let mut filled = fill(line, now, &model);
                filled.remove(1);
                calls.push(filled.join(" "));
                let filled: Vec<&[u8]> = filled.iter().map(|word| word.as_bytes()).collect();
                core.redis_words(&filled);
                model.keys = core.dump();
            }
            Event::Call(step) => {
                now += step.after;
                let filled = fill(&step.line, now, &model);
                calls.push(filled.join(" "));
                let filled: Vec<&[u8]> = filled.iter().map(|word| word.as_bytes()).collect();
                let answer = core.call(&filled);
                let events = core.events();
                let dump = core.dump();
                if let Err(error) = answer {
                    let script = calls.join("\n    ");
                    prop_assert!(meant(&error), "\n    {script}\nsays {error}");
                    let what = changed(&model.keys, &dump);
                    prop_assert!(
                        dump == model.keys,
                        "\n    {script}\nsays {error}, but changed\n{what}"
                    );
                    prop_assert!(
                        events.is_empty(),
                        "\n    {script}\nsays {error}, but published {events:?}"
                    );
                }
                model.keys = dump;
            }
        }
    }
    still_works(core, now, &model.keys).map_err(|fault| {
        TestCaseError::fail(format!("\n    {}\nthen\n    {fault}", calls.join("\n    ")))
    })
}

#[test]
fn random_damage_never_stops_a_call_half_way() {
    let mut core = Core::new();
    let event = prop_oneof![
        5 => step(true).prop_map(Event::Call),
        2 => damage().prop_map(Event::Damage),
    ];
    let events = prop::collection::vec(event, 1..50);
    random::property(random::more_in_soak(30), events, |events| {
        play(&mut core, &events)
    });
}
