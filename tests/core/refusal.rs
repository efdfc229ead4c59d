//! All or nothing: whatever arguments arrive, a call that answers with an error has changed no key
//! and published nothing, has a message for its user, and leaves a database that still works.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestCaseError;

use super::model::Model;
use super::property::{Step, fill, step};
use super::script::{COMMANDS, OURS};
use crate::check::invariants::Excuses;
use crate::check::random_damage::PRELUDE;
use crate::support::core::{Core, Dump, Reply};
use crate::support::random;

/// Words that no command expects, and some that many expect.
fn garbage() -> impl Strategy<Value = Vec<u8>> {
    let plain = r#"
        - 0 -0 1 -1 1.5 1e3 1e15 -1e15 1e19 1e308 1e999 nan -nan inf -inf infinity 0x10 0x 1,5
        9007199254740993 99999999999999999999 1e-400 true false null {} [] [1] [1.5] [null] [false] [[]]
        [{}] ["x"] ["x","x"] [""] ["a",[]] {"a":1} {"1":"a"} {"replace":1} {"from":[]} {] [ " "x" NaN [NaN]
        [Infinity] [-Infinity] [1e999] [0x10] {"a":1e999} {}x a b c r r-1 q p w1 G x y on off all next delay
        depends tags priority retries interval backlog data klass queue at note history remaining failed add
        remove get top track untrack TRACK running complete waiting recurring scheduled stalled heartbeat
        q-heartbeat grace-period max-job-history jobs-history jobs-history-count q-max-concurrency
        max-worker-age a-history a-dependents -dependencies / %s%d waiting:1:1:q refuse cancel release brief
        full jobs keys"#;
    let odd: &[&[u8]] = &[
        b"",
        b" ",
        b" 5 ",
        b"5 5",
        b"[\"\\u0000\"]",
        b"[\"\\ud800\"]",
        b"[\"\xff\"]",
        b"{} {}",
        b"1\x002",
        b"\0",
        b"a\0b",
        b"{}\0",
        b"\xff\xfe",
        b"\x1b[31m",
        b"\\",
        b"user_script:1: x",
    ];
    let plain = plain.split_whitespace().map(str::as_bytes);
    let words: Vec<Vec<u8>> = plain
        .chain(odd.iter().copied())
        .map(<[u8]>::to_vec)
        .collect();
    let long: &[Vec<u8>] = &[
        b"x".repeat(20_000),
        b"[".repeat(1001),
        [b"[".repeat(1000), b"]".repeat(1000)].concat(),
        [b"[".repeat(990), b"]".repeat(990)].concat(),
        [&b"[\""[..], &b"y".repeat(20_000), b"\"]"].concat(),
    ];
    prop_oneof![30 => select(words), 1 => select(long.to_vec())]
}

/// How a well-formed call is made invalid.
#[derive(Clone, Debug)]
enum Damage {
    Replace(usize, Vec<u8>),
    Insert(usize, Vec<u8>),
    Remove(usize),
    Truncate(usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = || 1..14usize;
    prop_oneof![
        6 => (at(), garbage()).prop_map(|(at, word)| Damage::Replace(at, word)),
        2 => (at(), garbage()).prop_map(|(at, word)| Damage::Insert(at, word)),
        1 => at().prop_map(Damage::Remove),
        1 => at().prop_map(Damage::Truncate),
    ]
}

#[derive(Clone, Debug)]
enum Call {
    Spoilt(Step, Vec<Damage>),
    Wild(&'static str, Vec<Vec<u8>>),
}

fn call() -> impl Strategy<Value = Call> {
    let wild = (
        select([&COMMANDS[..], &OURS[..]].concat()),
        prop::collection::vec(garbage(), 0..9),
    );
    prop_oneof![
        8 => (step(true), prop::collection::vec(damage(), 0..3))
            .prop_map(|(step, damage)| Call::Spoilt(step, damage)),
        1 => wild.prop_map(|(command, words)| Call::Wild(command, words)),
    ]
}

impl Call {
    fn argv(&self, now: f64, keys: &Model) -> Vec<Vec<u8>> {
        match self {
            Call::Wild(command, words) => {
                let front = [command.as_bytes().to_vec(), now.to_string().into_bytes()];
                [&front[..], words].concat()
            }
            Call::Spoilt(step, damage) => {
                let words = fill(&step.line, now, keys);
                let mut argv: Vec<Vec<u8>> = words.into_iter().map(String::into_bytes).collect();
                for damage in damage {
                    let inside = |at: &usize| 1 + at % argv.len().max(2);
                    match damage {
                        Damage::Replace(at, word) => {
                            let at = inside(at);
                            match argv.get_mut(at) {
                                Some(old) => *old = word.clone(),
                                None => argv.push(word.clone()),
                            }
                        }
                        Damage::Insert(at, word) => {
                            let at = inside(at).min(argv.len());
                            argv.insert(at, word.clone());
                        }
                        Damage::Remove(at) => {
                            let at = inside(at);
                            if at < argv.len() {
                                argv.remove(at);
                            }
                        }
                        Damage::Truncate(at) => {
                            let at = inside(at);
                            argv.truncate(at);
                        }
                    }
                }
                argv
            }
        }
    }
}

fn shown(argv: &[Vec<u8>]) -> String {
    let words = argv.iter().map(|word| {
        let text = String::from_utf8_lossy(word);
        match text.len() {
            0..80 if !text.contains(' ') && !text.is_empty() => text.into_owned(),
            0..80 => format!("'{text}'"),
            len => format!("{}…({len})", &text[..20]),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Whether an error is meant for callers.
pub(crate) fn meant(error: &str) -> bool {
    let fault = [
        "attempt to",
        "Script attempted",
        "must be strings or integers",
        "too many results",
        "not a valid float",
        "stack overflow",
        "hash value is not",
        "Unknown Redis command",
    ];
    let meant_anyway = "bad argument #1 to 'tonumber' (value expected)";
    !fault.iter().any(|fault| error.contains(fault))
        && (!error.contains("bad argument") || error.contains(meant_anyway))
}

fn play(core: &mut Core, calls: &[Call]) -> Result<(), TestCaseError> {
    core.flush();
    core.many(PRELUDE.lines().map(str::to_owned));
    core.events();
    let mut model = Model::over(core.dump());
    let mut now = 1000.0;
    let mut sent: Vec<String> = Vec::new();
    // Accepted settings and dependencies are part of the test.
    let mut excuses = Excuses {
        reference: true,
        garbage: true,
        ..Excuses::default()
    };
    for call in calls {
        if let Call::Spoilt(step, _) = call {
            now += step.after;
        }
        let argv = call.argv(now, &model);
        match argv[0].as_slice() {
            b"queue.forget" => excuses.forgotten = true,
            b"unrecur" => excuses.unrecurred = true,
            b"guard.requeue" => excuses.kept = true,
            b"workers" | b"worker.deregister" => excuses.aged = true,
            _ => {}
        }
        sent.push(shown(&argv));
        let words: Vec<&[u8]> = argv.iter().map(Vec::as_slice).collect();
        let answer = core.call(&words);
        let events = core.events();
        let dump = core.dump();
        let script = || sent.join("\n    ");
        if let Err(error) = answer {
            prop_assert!(
                dump == model.keys,
                "\n    {}\nsays {error}, but changed\n{}",
                script(),
                changed(&model.keys, &dump)
            );
            prop_assert!(
                events.is_empty(),
                "\n    {}\nsays {error}, but published {events:?}",
                script()
            );
            prop_assert!(meant(&error), "\n    {}\nsays {error}", script());
        }
        model.keys = dump;
    }
    let damage = core.damage_within(now, excuses);
    prop_assert!(
        damage.as_ref().is_ok_and(String::is_empty),
        "\n    {}\nmakes the check tell\n{}",
        sent.join("\n    "),
        damage.unwrap_or_else(|fault| fault)
    );
    still_works(core, now, &model.keys).map_err(|fault| {
        TestCaseError::fail(format!("\n    {}\nthen\n    {fault}", sent.join("\n    ")))
    })
}

pub(crate) fn changed(before: &Dump, after: &Dump) -> String {
    let names = before.0.keys().chain(after.0.keys());
    let names: std::collections::BTreeSet<_> = names
        .filter(|name| before.0.get(*name) != after.0.get(*name))
        .collect();
    names
        .into_iter()
        .map(|name| {
            format!(
                "{name}: {:?} → {:?}\n",
                before.0.get(name),
                after.0.get(name)
            )
        })
        .collect()
}

/// No accepted call may make a later, well-formed call fail.
pub(crate) fn still_works(core: &mut Core, now: f64, keys: &Dump) -> Result<(), String> {
    let later = format!("{}", now + 100.0);
    let mut ask = |words: &[&str]| {
        let argv: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        core.call(&argv)
            .map_err(|error| format!("{} says {error}", words.join(" ")))
    };
    for (name, _) in keys.0.iter().filter(|(name, _)| name.starts_with("ql:j:")) {
        let jid = &name["ql:j:".len()..];
        if !jid.contains('\u{fffd}')
            && !jid.ends_with("-history")
            && !jid.ends_with("-dependencies")
            && !jid.ends_with("-dependents")
        {
            let job = ask(&["get", &later, jid])?;
            let text = if let Reply::Text(text) = job {
                text
            } else {
                continue;
            };
            // Documents a thousand levels deep are valid, but this test cannot read them.
            let read = serde_json::from_str::<serde_json::Value>(&text);
            if read.is_err_and(|error| !error.to_string().contains("recursion limit")) {
                return Err(format!("get {jid} answers {text}"));
            }
        }
    }
    for words in [
        &["queues", &later][..],
        &["workers", &later],
        &["failed", &later],
        &["track", &later],
        &["tag", &later, "top"],
        &["config.get", &later],
        &["peek", &later, "q", "100"],
        &["pop", &later, "q", "w1", "100"],
        &["pop", &later, "p", "w1", "100"],
        &[
            "put", &later, "w", "q", "fresh", "K", "{}", "0", "priority", "1000000",
        ],
    ] {
        ask(words)?;
    }
    let much_later = format!("{}", now + 200_000.0);
    ask(&["pop", &much_later, "q", "w2", "100"])?;
    ask(&["pop", &much_later, "p", "w2", "100"])?;
    Ok(())
}

#[test]
fn random_calls_that_are_refused_change_nothing() {
    let mut core = Core::new();
    let calls = prop::collection::vec(call(), 1..40);
    random::property(random::more_in_soak(15), calls, |calls| {
        play(&mut core, &calls)
    });
}
