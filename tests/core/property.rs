//! Random sequences of calls. After each call, the second implementation has the same events and keys, and after a
//! change the same reply; the invariants hold.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestCaseError;
use serde_json::Value;

use super::model::{Answer, Model, number};
use crate::check::invariants::{Excuses, broken};
use crate::support::core::{Core, Dump, Key, Reply, short};
use crate::support::random;

/// One call, some time after the previous one. `@` words are filled in when the call is made:
/// `@running3` is some running job if there is one, `@w` its worker, `@q` its queue, `@m` its mark.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) after: f64,
    pub(crate) line: String,
}

const JIDS: [&str; 7] = ["a", "b", "c", "d", "e", "r-1", "r-2"];

fn jid() -> impl Strategy<Value = String> {
    select(&JIDS[..]).prop_map(str::to_owned)
}

/// Mostly a job in this state.
fn job_in(state: &'static str) -> impl Strategy<Value = String> {
    prop_oneof![5 => (0..9).prop_map(move |n| format!("@{state}{n}")), 1 => jid()]
}

fn any_job() -> impl Strategy<Value = String> {
    prop_oneof![5 => (0..9).prop_map(|n| format!("@any{n}")), 1 => jid()]
}

/// One of the alternatives in a text, which `|` separates.
fn one(of: &'static str) -> impl Strategy<Value = String> {
    let alternatives: Vec<&str> = of.split('|').map(str::trim).collect();
    select(alternatives).prop_map(str::to_owned)
}

/// One of these texts, which may be empty or begin with a blank.
fn one_of(texts: &'static [&'static str]) -> impl Strategy<Value = String> {
    select(texts).prop_map(str::to_owned)
}

fn queue() -> impl Strategy<Value = String> {
    one("q | q | p")
}

fn worker() -> impl Strategy<Value = String> {
    one("w1 | w1 | w1 | w2 | w2 | ''")
}

/// The worker of the job named before, or any.
fn holder() -> impl Strategy<Value = String> {
    prop_oneof![6 => Just("@w".to_owned()), 1 => worker()]
}

fn own_queue() -> impl Strategy<Value = String> {
    prop_oneof![6 => Just("@q".to_owned()), 1 => queue()]
}

fn mark() -> impl Strategy<Value = String> {
    one("'' | @m | @m | failed:1:1:q")
}

fn data() -> impl Strategy<Value = String> {
    one(r#"{} | [] | null | 17 | {"a":[]} | "x" | {"n":12345678901234567890}"#)
}

fn tags() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(one("x | y | z/1"), 0..3)
}

fn names_of(of: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    prop::collection::vec(of, 0..3).prop_map(|names| serde_json::to_string(&names).unwrap())
}

/// Optional words.
fn maybe(weight: u32, words: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    prop_oneof![10 - weight => Just(String::new()), weight => words.prop_map(|words| format!(" {words}"))]
}

fn tag_list() -> impl Strategy<Value = String> {
    tags().prop_map(|tags| serde_json::to_string(&tags).unwrap())
}

/// Mostly a list; else what the reference takes for an empty one, or stumbles over.
fn list_or(
    list: impl Strategy<Value = String>,
    odd: &'static [&'static str],
) -> impl Strategy<Value = String> {
    prop_oneof![12 => list, 1 => one_of(odd)]
}

const ODD_NAMES: &[&str] = &[
    r#"{"a":"b"}"#,
    r#"{"1":"a"}"#,
    "7",
    "null",
    "[[]]",
    r#"["a",null]"#,
];

/// The options of put; `odd` ones only where they are not refused before the job is looked at.
fn put_options(odd: bool) -> impl Strategy<Value = String> {
    let odd = if odd { ODD_NAMES } else { &["[]"] };
    (
        maybe(
            3,
            one("priority 1 | priority 0 | priority 5 | priority -2 | priority 1.5"),
        ),
        maybe(
            3,
            list_or(tag_list(), odd).prop_map(|tags| format!("tags {tags}")),
        ),
        maybe(
            4,
            one("retries 0 | retries 1 | retries 2 | retries 1.5 | retries 5"),
        ),
        maybe(
            4,
            list_or(names_of(any_job()), odd).prop_map(|jids| format!("depends {jids}")),
        ),
    )
        .prop_map(|(priority, tags, retries, depends)| {
            format!("{priority}{tags}{retries}{depends}")
        })
}

fn put() -> impl Strategy<Value = String> {
    (
        one("put | put | put | put | requeue"),
        worker(),
        queue(),
        prop_oneof![jid(), any_job()],
        data(),
        one("0 | 0 | 0 | 30 | -1 | 0.5"),
        put_options(true),
    )
        .prop_map(|(command, me, queue, jid, data, delay, options)| {
            format!("{command} {me} {queue} {jid} K {data} {delay}{options}")
        })
}

fn pop() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (queue(), worker(), one("1 | 1 | 2 | 5 | 0"))
            .prop_map(|(queue, worker, count)| format!("pop {queue} {worker} {count}")),
        1 => (queue(), one("1 | 3")).prop_map(|(queue, count)| format!("peek {queue} {count}")),
    ]
}

fn finish() -> impl Strategy<Value = String> {
    let running = || job_in("running");
    let next = (
        queue(),
        maybe(5, one("delay 0 | delay 20 | delay -1")),
        maybe(
            5,
            list_or(names_of(any_job()), ODD_NAMES).prop_map(|jids| format!("depends {jids}")),
        ),
    )
        .prop_map(|(next, delay, depends)| format!("next {next}{delay}{depends}"));
    let complete = (running(), holder(), own_queue(), data(), maybe(4, next)).prop_map(
        |(jid, worker, queue, data, next)| format!("complete {jid} {worker} {queue} {data}{next}"),
    );
    let fail = (
        running(),
        holder(),
        one("G | 'upload error'"),
        maybe(5, data()),
    )
        .prop_map(|(jid, worker, group, data)| {
            format!("fail {jid} {worker} {group} 'so it goes'{data}")
        });
    let retry = (
        running(),
        own_queue(),
        holder(),
        one_of(&["", " 0", " 15", " 15 G", " 0 G M"]),
    )
        .prop_map(|(jid, queue, worker, rest)| format!("retry {jid} {queue} {worker}{rest}"));
    let heartbeat = (running(), holder(), maybe(4, data()))
        .prop_map(|(jid, worker, data)| format!("heartbeat {jid} {worker}{data}"));
    let timeout = prop_oneof![
        3 => running().prop_map(|jid| format!("timeout {jid}")),
        1 => (running(), running()).prop_map(|(one, other)| format!("timeout {one} {other}")),
    ];
    prop_oneof![4 => complete, 3 => fail, 3 => retry, 2 => heartbeat, 1 => timeout]
}

fn change() -> impl Strategy<Value = String> {
    let on =
        prop::collection::vec(any_job(), 0..3).prop_map(|jids| format!("on {}", jids.join(" ")));
    let off =
        prop::collection::vec(any_job(), 0..3).prop_map(|jids| format!("off {}", jids.join(" ")));
    let depends = (
        job_in("depends"),
        prop_oneof![on, off, Just("off all".to_owned())],
    )
        .prop_map(|(jid, how)| format!("depends {jid} {how}"));
    prop_oneof![
        3 => prop::collection::vec(any_job(), 1..4).prop_map(|jids| format!("cancel {}", jids.join(" "))),
        3 => depends,
        2 => (any_job(), one("0 | 3 | -1 | 2.5")).prop_map(|(jid, p)| format!("priority {jid} {p}")),
        2 => (any_job(), maybe(6, one(r#"{} | {"k":[1]} | [1] | null | 5 | "x" | {"what":1}"#)))
            .prop_map(|(jid, data)| format!("log {jid} 'a note'{data}")),
        3 => (one("add | remove"), any_job(), tags())
            .prop_map(|(how, jid, tags)| format!("tag {how} {jid} {}", tags.join(" "))),
        3 => (one("track | track | untrack"), any_job())
            .prop_map(|(how, jid)| format!("track {how} {jid}")),
        3 => (queue(), one("G | G | 'upload error' | failed-retries-q | nope"),
              one_of(&["", " 1", " 2", " 0", " -1"]))
            .prop_map(|(queue, group, count)| format!("unfail {queue} {group}{count}")),
    ]
}

fn read() -> impl Strategy<Value = String> {
    let page = || one_of(&["", " 0", " 1", " 0 2", " 1 1", " -1", " 0 -1", " 0 0"]);
    const STATES: [&str; 5] = ["running", "stalled", "scheduled", "depends", "recurring"];
    prop_oneof![
        any_job().prop_map(|jid| format!("get {jid}")),
        prop::collection::vec(any_job(), 0..3)
            .prop_map(|jids| format!("multiget {}", jids.join(" "))),
        page().prop_map(|page| format!("jobs complete{page}")),
        (select(&STATES[..]), queue(), page())
            .prop_map(|(state, queue, page)| format!("jobs {state} {queue}{page}")),
        Just("queues".to_owned()),
        queue().prop_map(|queue| format!("queues {queue}")),
        queue().prop_map(|queue| format!("length {queue}")),
        Just("workers".to_owned()),
        worker().prop_map(|worker| format!("workers {worker}")),
        Just("failed".to_owned()),
        page().prop_map(|page| format!("failed G{page}")),
        page().prop_map(|page| format!("tag get x{page}")),
        page().prop_map(|page| format!("tag top{page}")),
        Just("track".to_owned()),
        queue().prop_map(|queue| format!("stats {queue} @now")),
        one("
            config.get | config.get heartbeat | config.get nope | config.get application
        "),
        Just("recur.get r".to_owned()),
    ]
}

pub(crate) fn settings() -> impl Strategy<Value = String> {
    prop_oneof![
        one("
            config.set heartbeat 20 | config.set heartbeat soon | config.set heartbeat -10 |
            config.set q-heartbeat 40 | config.set grace-period 0 | config.set grace-period 5 |
            config.set q-max-concurrency 1 | config.set q-max-concurrency 2 |
            config.set q-max-concurrency '' | config.set jobs-history 50 |
            config.set jobs-history -1 | config.set jobs-history-count 1 |
            config.set jobs-history-count 0 | config.set max-job-history 3 |
            config.set max-job-history 5 | config.set max-job-history 0 |
            config.set max-job-history all | config.set max-worker-age 60
        "),
        one("
            config.unset heartbeat | config.unset grace-period | config.unset q-max-concurrency |
            config.unset jobs-history | config.unset jobs-history-count |
            config.unset max-job-history
        "),
        one("pause q | unpause q | unpause q p"),
        one("queue.forget q | worker.deregister w1 | worker.deregister w1 w2"),
    ]
}

fn recurring() -> impl Strategy<Value = String> {
    let options = (
        maybe(3, one("priority 2 | priority -1")),
        maybe(
            4,
            list_or(
                tag_list(),
                &[
                    "7",
                    "null",
                    r#"'"x"'"#,
                    r#"{"a":"b"}"#,
                    r#"["x",null,5,["y"],"x"]"#,
                ],
            )
            .prop_map(|tags| format!("tags {tags}")),
        ),
        maybe(3, one("retries 1 | retries 3")),
        maybe(4, one("backlog 1 | backlog 3 | backlog 0")),
    )
        .prop_map(|(priority, tags, retries, backlog)| {
            format!("{priority}{tags}{retries}{backlog}")
        });
    let pair = one("
        priority 4 | interval 5 | interval 70 | retries 2 | data [] | klass K2 | queue p |
        queue q | backlog 2
    ");
    let update = prop::collection::vec(pair, 0..4)
        .prop_map(|pairs| format!("recur.update r {}", pairs.join(" ")));
    prop_oneof![
        4 => (queue(), one("10 | 60 | 7.5"), one("0 | 5 | -20 | 0.25"), options)
            .prop_map(|(queue, interval, offset, options)| {
                format!("recur {queue} r K {{}} interval {interval} {offset}{options}")
            }),
        2 => update,
        1 => Just("unrecur r".to_owned()),
        1 => (one("recur.tag | recur.untag"), tags())
            .prop_map(|(command, tags)| format!("{command} r {}", tags.join(" "))),
    ]
}

fn guard() -> impl Strategy<Value = String> {
    let note = || one(r#"'' | {"verb":"retry","by":"ann"}"#);
    let policy = one(r#"{} | {} | {"replace":true} | {"missing":"allow","me":"w1"}"#);
    let item = (
        queue(),
        prop_oneof![jid(), any_job()],
        data(),
        one("0 | 0 | 0 | 30 | -1"),
        put_options(false),
        maybe(2, note()),
    )
        .prop_map(|(queue, jid, data, delay, options, note)| {
            let note = if note.is_empty() {
                note
            } else {
                format!(" note{note}")
            };
            format!("{queue} {jid} K {data} {delay}{options}{note}")
        });
    let put = (policy, prop::collection::vec(item, 1..6)).prop_map(|(policy, items)| {
        let items = items
            .iter()
            .map(|item| format!("{} {item}", crate::support::core::words(item).len()));
        format!("guard.put {policy} {}", items.collect::<Vec<_>>().join(" "))
    });
    let options = one(r#"
        {} | {"to":"p","priority":3} |
        {"from":["failed","scheduled","waiting","stalled"],"keep":true} |
        {"from":["complete","running","depends","failed"]}
    "#);
    let moved = prop::collection::vec((any_job(), mark(), one("'' | @later | 5")), 1..4);
    let requeue = (options, note(), moved).prop_map(|(options, note, items)| {
        let items = items
            .iter()
            .map(|(jid, mark, due)| format!("{jid} {mark} {due}"));
        format!(
            "guard.requeue {options} {note} {}",
            items.collect::<Vec<_>>().join(" ")
        )
    });
    let gone = prop::collection::vec((any_job(), mark()), 1..4);
    let cancel = (one("refuse | cancel | release"), gone).prop_map(|(policy, items)| {
        let items = items.iter().map(|(jid, mark)| format!("{jid} {mark}"));
        format!(
            "guard.cancel {policy} {}",
            items.collect::<Vec<_>>().join(" ")
        )
    });
    let depends = (
        job_in("depends"),
        mark(),
        note(),
        prop::collection::vec(any_job(), 1..3),
    )
        .prop_map(|(jid, mark, note, names)| {
            format!("guard.depends {jid} {mark} {note} {}", names.join(" "))
        });
    let pause = (one("'' | @later"), one(r#"'' | {"reason":"x","by":"ann"}"#))
        .prop_map(|(until, note)| format!("guard.pause {until} {note} q"));
    prop_oneof![4 => put, 4 => requeue, 3 => cancel, 2 => depends, 1 => pause]
}

pub(crate) fn step(ours: bool) -> impl Strategy<Value = Step> {
    let line = if ours {
        prop_oneof![
            6 => put(), 6 => pop(), 6 => finish(), 4 => change(), 2 => read(), 1 => settings(),
            2 => recurring(), 5 => guard(),
        ]
        .boxed()
    } else {
        prop_oneof![
            6 => put(), 6 => pop(), 6 => finish(), 4 => change(), 2 => read(), 1 => settings(),
            2 => recurring(),
        ]
        .boxed()
    };
    (
        select(&[0.0, 0.0, 1.0, 0.25, 5.0, 30.0, 90.0, 50_000.0][..]),
        line,
    )
        .prop_map(|(after, line)| Step { after, line })
}

/// Fills in the `@` words from what is stored.
pub(crate) fn fill(line: &str, now: f64, keys: &Model) -> Vec<String> {
    let jobs = keys.keys.0.iter().filter_map(|(name, key)| match key {
        Key::Hash(hash) => {
            let state = hash.get("state").cloned().unwrap_or_default();
            Some((name.strip_prefix("ql:j:")?.to_owned(), state))
        }
        _ => None,
    });
    let jobs: Vec<(String, String)> = jobs.collect();
    let pick = |state: &str, n: usize| {
        let fits = jobs
            .iter()
            .filter(|(_, own)| state == "any" || own == state);
        let fits: Vec<&str> = fits.map(|(jid, _)| jid.as_str()).collect();
        if fits.is_empty() {
            JIDS[n % JIDS.len()].to_owned()
        } else {
            fits[n % fits.len()].to_owned()
        }
    };
    let mut last = String::new();
    let mut words = crate::support::core::words(line);
    let now = format!("{now}");
    words.insert(1, now.clone());
    for word in &mut words {
        let field = |name: &str, default: &str| {
            let text = keys.keys.field(&format!("ql:j:{last}"), name);
            text.filter(|text| !text.is_empty())
                .unwrap_or_else(|| default.into())
        };
        match word.as_str() {
            "@w" => *word = field("worker", "w1"),
            "@q" => *word = field("queue", "q"),
            "@m" if keys.keys.has(&format!("ql:j:{last}")) => *word = keys.mark(&last),
            "@m" => *word = "waiting:1:1:q".into(),
            "@now" => *word = now.clone(),
            "@later" => *word = format!("{}", now.parse::<f64>().unwrap() + 40.0),
            _ => {
                // A single name, or a name in a list.
                while let Some(at) = word.find('@') {
                    let rest = &word[at + 1..];
                    let digit = rest.find(|c: char| c.is_ascii_digit()).expect("a number");
                    last = pick(&rest[..digit], rest[digit..=digit].parse().unwrap());
                    word.replace_range(at..=at + 1 + digit, &last);
                }
            }
        }
    }
    words
}

fn near(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= 1e-12 * a.abs().max(b.abs()).max(1e-3)
}

fn same_number(a: &str, b: &str) -> bool {
    matches!((number(a), number(b)), (Some(a), Some(b)) if near(a, b))
}

/// The differences between the stored keys and the expected ones.
fn differences(seen: &Dump, wanted: &Dump) -> Vec<String> {
    let mut found = Vec::new();
    let names: std::collections::BTreeSet<_> = seen.0.keys().chain(wanted.0.keys()).collect();
    for name in names {
        let (seen, wanted) = (seen.0.get(name), wanted.0.get(name));
        let same = match (seen, wanted) {
            (Some(Key::Hash(seen)), Some(Key::Hash(wanted))) => {
                seen.len() == wanted.len()
                    && seen.iter().all(|(field, a)| {
                        wanted.get(field).is_some_and(|b| {
                            a == b
                                || (field != "data" && same_number(a, b))
                                || (name == "ql:pauses" && same_pause(a, b))
                        })
                    })
            }
            (Some(Key::Zset(seen)), Some(Key::Zset(wanted))) => {
                seen.len() == wanted.len()
                    && seen
                        .iter()
                        .all(|(member, a)| wanted.get(member).is_some_and(|b| near(*a, *b)))
            }
            (seen, wanted) => seen == wanted,
        };
        if !same {
            found.push(format!("{name}: seen {seen:?}\n    wanted {wanted:?}"));
        }
    }
    found
}

fn same_pause(a: &str, b: &str) -> bool {
    let members = |text: &str| -> BTreeMap<String, Value> {
        let all: BTreeMap<String, Value> = serde_json::from_str(text).expect("a pause");
        all.into_iter()
            .filter(|(_, value)| !value.is_null() && *value != "")
            .collect()
    };
    let (a, b) = (members(a), members(b));
    a.len() == b.len()
        && a.iter()
            .all(|(name, a)| b.get(name).is_some_and(|b| same_value(a, b)))
}

fn same_value(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => near(a, b),
        _ => a == b,
    }
}

fn row(reply: &Reply) -> Vec<Option<String>> {
    let text = |item: &Reply| match item {
        Reply::Nil => None,
        item => Some(item.text().to_owned()),
    };
    reply.list().iter().map(text).collect()
}

/// The texts in a JSON list; none in `{}`, as which an empty list is sent.
fn listed(json: &str, text: fn(&Value) -> &Value) -> Vec<String> {
    let list: Value = serde_json::from_str(json).expect("JSON");
    let items = list.as_array().into_iter().flatten();
    items
        .map(|item| text(item).as_str().expect("text").to_owned())
        .collect()
}

fn same_answer(command: &str, seen: &Result<Reply, String>, wanted: &Answer) -> bool {
    match (seen, wanted) {
        (Err(error), Answer::Refused(text)) => short(error) == format!("user_script:N: {text}"),
        (Ok(Reply::Nil), Answer::Nil) => true,
        (Ok(Reply::Int(a)), Answer::Int(b)) => a == b,
        (Ok(Reply::Text(a)), Answer::Text(b)) => a == b,
        (Ok(_), Answer::Unjudged) => true,
        (Ok(Reply::Text(a)), Answer::Names(b)) => listed(a, |name| name) == *b,
        (Ok(Reply::Text(a)), Answer::Jobs(b)) => listed(a, |job| &job["jid"]) == *b,
        (Ok(reply @ Reply::List(_)), Answer::Texts(b)) => reply.texts() == *b,
        (Ok(Reply::List(list)), Answer::Rows(b)) => {
            let rows: Vec<_> = match command {
                "guard.depends" => vec![row(&Reply::List(list.clone()))],
                _ => list.iter().map(row).collect(),
            };
            rows.len() == b.len()
                && rows.iter().zip(b).all(|(a, b)| {
                    // Dependents and cascaded jobs are answered in no fixed order.
                    let loose = command == "guard.cancel" || b[0].as_deref() == Some("cycle");
                    if loose { a[..2] == b[..2] } else { a == b }
                })
        }
        _ => false,
    }
}

fn play(core: &mut Core, steps: &[Step]) -> Result<(), TestCaseError> {
    core.flush();
    let mut model = Model::default();
    // Settings are among the calls, and the reference accepts every dependency.
    let mut excuses = Excuses {
        reference: true,
        ..Excuses::default()
    };
    let mut now = 1000.0;
    let mut calls = Vec::new();
    for step in steps {
        now += step.after;
        let words = fill(&step.line, now, &model);
        calls.push(words.join(" "));
        match words[0].as_str() {
            "queue.forget" => excuses.forgotten = true,
            "unrecur" => excuses.unrecurred = true,
            "workers" | "worker.deregister" => excuses.aged = true,
            "guard.requeue" if words[2].contains("keep") => excuses.kept = true,
            _ => {}
        }
        let argv: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        let seen = core.call(&argv);
        let mut events = core.events();
        let wanted = model.call(&words);
        if words[0] == "guard.cancel" {
            events.sort();
            model.events.sort();
        }
        let dump = core.dump();
        let script = calls.join("\n    ");
        prop_assert!(
            same_answer(&words[0], &seen, &wanted),
            "\n    {script}\nanswers {seen:?}\nnot     {wanted:?}"
        );
        prop_assert_eq!(
            &events,
            &model.events,
            "\n    {}\npublishes (left), not (right)",
            script
        );
        let wrong = differences(&dump, &model.keys);
        prop_assert!(
            wrong.is_empty(),
            "\n    {script}\nleaves\n{}",
            wrong.join("\n")
        );
        let wrong = broken(&dump, excuses);
        prop_assert!(
            wrong.is_empty(),
            "\n    {script}\nbreaks\n{}",
            wrong.join("\n")
        );
        model.keys = dump;
    }
    // No source reports damage; the binary is asked for some cases only.
    let damage = match calls.len() % 8 {
        0 => core.damage(now, excuses),
        _ => core.damage_within(now, excuses),
    };
    prop_assert!(
        damage.as_ref().is_ok_and(String::is_empty),
        "\n    {}\nmakes the check tell\n{}",
        calls.join("\n    "),
        damage.unwrap_or_else(|fault| fault)
    );
    Ok(())
}

fn run(cases: u32, ours: bool) {
    let mut core = Core::new();
    let prelude = prop::collection::vec(settings(), 0..4).prop_map(|lines| {
        lines
            .into_iter()
            .map(|line| Step { after: 0.0, line })
            .collect()
    });
    // From the first hour of the clock, or from a present day.
    let start = select(&[0.0, 0.0, 1_700_040_000.0][..]).prop_map(|after| Step {
        after,
        line: "length q".to_owned(),
    });
    let steps = (start, prelude, prop::collection::vec(step(ours), 1..60)).prop_map(
        |(start, prelude, steps): (Step, Vec<Step>, Vec<Step>)| {
            [vec![start], prelude, steps].concat()
        },
    );
    random::property(random::more_in_soak(cases), steps, |steps| {
        play(&mut core, &steps)
    });
}

#[test]
fn random_calls_of_reference_commands_match_the_second_implementation() {
    run(25, false);
}

#[test]
fn random_calls_of_own_commands_match_the_second_implementation() {
    run(20, true);
}
