//! `guard.finish`, `guard.turn` and `guard.heartbeat` do exactly what the single commands do in order.
//!
//! Two servers are brought into the same random state by the same calls. Then one makes a call for
//! many jobs, the other the single commands: replies, events and all keys agree.

use expect_test::expect;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestCaseError;

use super::model::Model;
use super::property::{Step, fill, settings, step};
use crate::support::core::{Core, Key, Reply, short, words};
use crate::support::random;

/// One job of a call, as the words of guard.finish without their number. `@` words are those of
/// [`fill`].
fn ending() -> impl Strategy<Value = String> {
    let one = |of: &'static [&'static str]| select(of).prop_map(str::to_owned);
    let job = || {
        prop_oneof![
            8 => (0..9).prop_map(|n| format!("@running{n}")),
            1 => (0..9).prop_map(|n| format!("@any{n}")),
            1 => one(&["a", "b", "nope"]),
        ]
    };
    let queue = || prop_oneof![9 => Just("@q".to_owned()), 1 => one(&["q", "p"])];
    let data = || one(&["''", "''", "{}", "[]", r#"{"a":[1]}"#, "false", "{"]);
    let jids = || {
        prop::collection::vec((0..9).prop_map(|n| format!("@any{n}")), 0..3)
            .prop_map(|jids| serde_json::to_string(&jids).unwrap())
    };
    let depends = prop_oneof![6 => jids(), 1 => one(&["7", r#"{"a":1}"#, "[["])];
    let next = (
        one(&["q", "p", "@q"]),
        one(&["", "", " delay 0", " delay 20", " delay -1", " delay x"]),
        prop_oneof![2 => Just(String::new()), 1 => depends.prop_map(|jids| format!(" depends {jids}"))],
    )
        .prop_map(|(queue, delay, depends)| format!(" next {queue}{delay}{depends}"));
    let odd = one(&[" next", " delay 5", " nope x", " next q next"]);
    let options = prop_oneof![6 => Just(String::new()), 4 => next, 1 => odd];
    let complete =
        (data(), options).prop_map(|(data, options)| format!("complete {data}{options}"));
    let retry = one(&["", " 0", " 15", " 15 G", " 0 G M", " 0 G M 75", " x", " -1"])
        .prop_map(|rest| format!("retry{rest}"));
    let fail = (
        one(&[" G", " G M", " 'upload error' M", ""]),
        prop_oneof![1 => Just(String::new()), 1 => data()],
    )
        .prop_map(|(why, data)| match why.split(' ').count() {
            3.. => format!("fail{why} {data}"),
            _ => format!("fail{why}"),
        });
    let way = prop_oneof![5 => complete, 3 => retry, 2 => fail];
    (job(), queue(), way).prop_map(|(jid, queue, way)| format!("{jid} {queue} {way}"))
}

/// A call for many jobs.
#[derive(Clone, Debug)]
enum Batch {
    Finish(Vec<String>),
    /// The queues with their counts, the total, the endings.
    Turn(Vec<(String, u64)>, u64, Vec<String>),
    /// Jobs with their data.
    Heartbeat(Vec<(String, String)>),
}

fn batch() -> impl Strategy<Value = Batch> {
    let endings = || prop::collection::vec(ending(), 0..7);
    let queues = prop::collection::vec(
        (
            select(&["q", "q", "p"][..]).prop_map(str::to_owned),
            0..4_u64,
        ),
        0..4,
    );
    let beat = (
        prop_oneof![4 => (0..9).prop_map(|n| format!("@running{n}")), 1 => (0..9).prop_map(|n| format!("@any{n}"))],
        select(&["", "", "{}", "[1]", "false", "{"][..]).prop_map(str::to_owned),
    );
    prop_oneof![
        3 => endings().prop_map(Batch::Finish),
        4 => (queues, 0..8_u64, endings()).prop_map(|(queues, total, endings)| Batch::Turn(queues, total, endings)),
        1 => prop::collection::vec(beat, 1..5).prop_map(Batch::Heartbeat),
    ]
}

/// The worker of a batch is that of the first running job, or `w1`.
fn worker_of(model: &Model) -> String {
    let running = model.keys.0.iter().find_map(|(name, key)| match key {
        Key::Hash(job) if name.starts_with("ql:j:") && job.get("state")? == "running" => {
            job.get("worker").cloned()
        }
        _ => None,
    });
    running.unwrap_or_else(|| "w1".into())
}

fn call(core: &mut Core, words: &[String]) -> Result<Reply, String> {
    let words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
    core.call(&words)
}

/// The outcome of a single command, as the batch reports it.
fn outcome(core: &mut Core, jid: &str, way: &str, result: Result<Reply, String>) -> Vec<String> {
    let text = match result {
        Ok(reply) => {
            let detail = match (way, reply) {
                ("complete", state) => state.text().to_owned(),
                ("retry", left) => left.int().to_string(),
                _ => "failed".to_owned(),
            };
            return vec!["done".into(), detail];
        }
        Err(error) => short(&error),
    };
    let text = text.strip_prefix("user_script:N: ").unwrap_or(&text);
    let held = [
        "not currently running",
        "another worker",
        "given to",
        "another queue",
    ];
    if text.contains("does not exist") {
        return vec!["gone".into()];
    }
    if text.contains("Job ") && held.iter().any(|part| text.contains(part)) {
        let field = |core: &mut Core, name| core.field(jid, name).unwrap_or_default();
        return vec![
            "not_holder".into(),
            field(core, "state"),
            field(core, "worker"),
        ];
    }
    vec!["invalid".into(), text.to_owned()]
}

/// Makes the single commands of endings.
fn end_each(core: &mut Core, now: &str, worker: &str, endings: &[Vec<String>]) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for ending in endings {
        let [jid, queue, way, rest @ ..] = ending.as_slice() else {
            panic!("an ending has three words");
        };
        let stored = |core: &mut Core, data: &String| {
            if data.is_empty() {
                core.field(jid, "data").unwrap_or_else(|| "{}".into())
            } else {
                data.clone()
            }
        };
        let mut words: Vec<String> = match way.as_str() {
            "complete" => [way, now, jid, worker, queue].map(str::to_owned).to_vec(),
            "retry" => [way, now, jid, queue, worker].map(str::to_owned).to_vec(),
            _ => [way, now, jid, worker].map(str::to_owned).to_vec(),
        };
        for (at, word) in rest.iter().enumerate() {
            match (way.as_str(), at) {
                ("complete", 0) | ("fail", 2) => words.push(stored(core, word)),
                _ => words.push(word.clone()),
            }
        }
        let result = call(core, &words);
        let row = outcome(core, jid, way, result);
        if way == "retry" && row[0] == "done" && !row[1].starts_with('-') {
            add_retried(core, now, worker, jid, &rest[1.min(rest.len())..]);
        }
        rows.push(row);
    }
    rows
}

/// Adds the entry that the single command does not leave in the history of a job.
fn add_retried(core: &mut Core, now: &str, worker: &str, jid: &str, reason: &[String]) {
    let mut note = format!("{{\"worker\":\"{worker}\"");
    for (name, word) in ["group", "message"].into_iter().zip(reason) {
        note.push_str(&format!(",\"{name}\":\"{word}\""));
    }
    if let Some(code) = reason.get(2) {
        note.push_str(&format!(",\"exit\":{code}"));
    }
    note.push('}');
    let words = ["log", now, jid, "retried", &note].map(str::to_owned);
    call(core, &words).expect("an entry");
}

fn rows(reply: &Reply) -> Vec<Vec<String>> {
    reply.list().iter().map(Reply::texts).collect()
}

/// Plays a batch on one server and the single commands on the other.
fn play_batch(
    many: &mut Core,
    single: &mut Core,
    now: f64,
    model: &Model,
    batch: &Batch,
) -> Result<String, TestCaseError> {
    let time = format!("{now}");
    let worker = worker_of(model);
    let filled = |endings: &[String]| -> Vec<Vec<String>> {
        let lines = endings.iter().map(|line| {
            // The first word stands for the command, and `fill` adds the time behind it.
            let words = fill(&format!("x {line}"), now, model);
            words[2..].to_vec()
        });
        lines.collect()
    };
    let add = |argv: &mut Vec<String>, endings: &[Vec<String>]| {
        for ending in endings {
            argv.push(ending.len().to_string());
            argv.extend(ending.iter().cloned());
        }
    };
    let (argv, seen, wanted) = match batch {
        Batch::Finish(endings) => {
            let endings = filled(endings);
            let mut argv = vec!["guard.finish".into(), time.clone(), worker.clone()];
            add(&mut argv, &endings);
            let seen = call(many, &argv).map(|reply| (rows(&reply), Vec::new()));
            (
                argv,
                seen,
                (end_each(single, &time, &worker, &endings), Vec::new()),
            )
        }
        Batch::Turn(queues, total, endings) => {
            let endings = filled(endings);
            let mut argv = vec!["guard.turn".into(), time.clone(), worker.clone()];
            argv.extend([total.to_string(), (2 * queues.len()).to_string()]);
            for (queue, count) in queues {
                argv.extend([queue.clone(), count.to_string()]);
            }
            add(&mut argv, &endings);
            let seen = call(many, &argv).map(|reply| {
                let (ended, pops) = reply.list().split_at(endings.len());
                // When the next job is due may follow.
                let pops = &pops[..queues.len()];
                let ended = ended.iter().map(Reply::texts).collect();
                let pops = pops.iter().map(|pop| pop.text().to_owned()).collect();
                (ended, pops)
            });
            let ended = end_each(single, &time, &worker, &endings);
            let (mut left, mut pops) = (*total, Vec::new());
            for (queue, count) in queues {
                let count = left.min(*count);
                if count == 0 {
                    pops.push("{}".to_owned());
                    continue;
                }
                let words = ["pop", &time, queue, &worker, &count.to_string()].map(str::to_owned);
                let reply = call(single, &words).expect("a pop");
                left -= reply.json().as_array().map_or(0, Vec::len) as u64;
                pops.push(reply.text().to_owned());
            }
            (argv, seen, (ended, pops))
        }
        Batch::Heartbeat(beats) => {
            let mut argv = vec!["guard.heartbeat".into(), time.clone(), worker.clone()];
            let mut wanted = Vec::new();
            for (jid, data) in beats {
                let jid = fill(&format!("x {jid}"), now, model).pop().expect("a jid");
                argv.extend([jid.clone(), data.clone()]);
                let mut words: Vec<String> = ["heartbeat", &time, &jid, &worker]
                    .map(str::to_owned)
                    .to_vec();
                words.extend((!data.is_empty()).then(|| data.clone()));
                wanted.push(match call(single, &words) {
                    Ok(ends) => vec!["done".into(), ends.int().to_string()],
                    Err(error) => outcome(single, &jid, "heartbeat", Err(error)),
                });
            }
            let seen = call(many, &argv).map(|reply| {
                let mut rows = rows(&reply);
                // The single command replies in whole seconds.
                for row in rows.iter_mut().filter(|row| row[0] == "done") {
                    row[1] = (row[1].parse::<f64>().expect("a time") as i64).to_string();
                }
                (rows, Vec::new())
            });
            (argv, seen, (wanted, Vec::new()))
        }
    };
    let line = argv.join(" ");
    let seen = seen.map_err(|error| TestCaseError::fail(format!("`{line}`: {error}")))?;
    prop_assert_eq!(&seen, &wanted, "\n{}\nanswers (left), not (right)", line);
    Ok(line)
}

fn play(
    many: &mut Core,
    single: &mut Core,
    steps: &[(Step, Option<Batch>)],
) -> Result<(), TestCaseError> {
    many.flush();
    single.flush();
    let mut model = Model::default();
    let mut now = 1000.0;
    let mut lines = Vec::new();
    for (step, batch) in steps {
        now += step.after;
        let mut argv = fill(&step.line, now, &model);
        if let Some(command) = argv[0].strip_prefix('!') {
            // A command of the server itself, on a key that exists.
            argv[0] = command.to_owned();
            argv.remove(1);
            if !model.keys.has(&argv[1]) {
                continue;
            }
            let words: Vec<&[u8]> = argv.iter().map(|word| word.as_bytes()).collect();
            _ = (many.redis_words(&words), single.redis_words(&words));
        } else {
            _ = (call(many, &argv), call(single, &argv));
        }
        lines.push(argv.join(" "));
        model.keys = many.dump();
        prop_assert_eq!(&model.keys, &single.dump(), "both begin alike");
        many.events();
        single.events();
        let Some(batch) = batch else { continue };
        lines.push(play_batch(many, single, now, &model, batch)?);
        let script = lines.join("\n    ");
        prop_assert_eq!(
            many.events(),
            single.events(),
            "\n    {}\npublishes (left), not (right)",
            &script
        );
        model.keys = many.dump();
        prop_assert_eq!(
            &model.keys,
            &single.dump(),
            "\n    {}\nleaves (left), not (right)",
            &script
        );
    }
    Ok(())
}

#[test]
fn a_call_for_many_jobs_does_what_single_commands_do_in_order() {
    property(15, false, &mut Core::new(), &mut Core::new());
}

#[test]
fn a_call_for_many_jobs_does_so_for_jobs_with_lanes_and_throttles() {
    property(15, true, &mut Core::new(), &mut Core::new());
}

/// Puts a job with a lane, throttles, payloads or a back-off, in any mixture.
fn put_extended() -> impl Strategy<Value = Step> {
    let options = prop::collection::vec(
        select(
            &[
                "key k1",
                "key k1",
                "key k2",
                "key /all",
                "throttles [\"t1\"]",
                "throttles [\"t1\",\"t2\"]",
                "lock *",
                "backoff fixed:5",
                "retries 0",
                "key k1 dup merge score 3",
                "key k1 dup merge score 1",
                "key k2 hold 1",
                "key k2 dup skip",
            ][..],
        ),
        1..4,
    );
    (0..9_usize, select(&["q", "p"][..]), 0..4_u32, options).prop_map(|(jid, queue, n, options)| {
        Step {
            after: 0.0,
            line: format!(
                r#"put w1 {queue} x{jid} K {{"n":{n}}} 0 {}"#,
                options.join(" ")
            ),
        }
    })
}

/// Plays random steps and batches; if `extended`, with jobs that have lanes and throttles.
fn property(cases: u32, extended: bool, many: &mut Core, single: &mut Core) {
    let fast = settings().prop_map(|line| Step { after: 0.0, line });
    let pop = (
        select(&["q", "q", "p"][..]),
        select(&["w1", "w1", "w1", "w2", "''"][..]),
        1..5_u32,
        select(&[0.0, 0.25, 1.0, 70.0][..]),
    )
        .prop_map(|(queue, worker, count, after)| Step {
            after,
            line: format!("pop {queue} {worker} {count}"),
        });
    // What older scripts leave.
    let leftover = select(
        &[
            "!HSET ql:j:@running0 scheduled 1500",
            "!HSET ql:j:@running1 scheduled 99",
            "!HSET ql:j:@running0 grace 1",
            "!HDEL ql:j:@running0 time",
            "!HSET ql:j:@running0 retries 1.5",
            "!HSET ql:j:@running1 remaining 0",
            "!HSET ql:j:@running0 history [{\"put\":5,\"q\":\"q\"}]",
            "!ZREM ql:q:q-locks @running0",
            "!HSET ql:config q-max-concurrency 2",
            "!HSET ql:config max-job-history 3",
        ][..],
    )
    .prop_map(|line| Step {
        after: 0.0,
        line: line.to_owned(),
    });
    let limit = select(&["1", "2", "4"][..]).prop_map(|most| Step {
        after: 0.0,
        line: format!("config.set q-max-concurrency {most}"),
    });
    let throttle = select(&["t1 1", "t1 2", "t2 1", "t2 0"][..]).prop_map(|words| Step {
        after: 0.0,
        line: format!("throttle.set {words}"),
    });
    let more = prop_oneof![8 => put_extended(), 1 => throttle];
    let step = prop_oneof![
        2 => fast, 10 => step(false), 6 => pop, 1 => leftover, 1 => limit,
        if extended { 14 } else { 0 } => more,
    ];
    let calm = (step, prop::option::weighted(0.3, batch()));
    let start = select(&[0.0, 0.0, 1_700_040_000.0][..]).prop_map(|after| {
        let line = "length q".to_owned();
        (Step { after, line }, None)
    });
    let steps = (start, prop::collection::vec(calm, 1..60))
        .prop_map(|(start, steps)| [vec![start], steps].concat());
    random::property(random::more_in_soak(cases), steps, |steps| {
        play(many, single, &steps)
    });
}

#[test]
fn an_old_job_that_cannot_be_deleted_does_not_stop_the_endings() {
    let mut core = Core::new();
    for (count, ends) in [
        (1, "4 b q complete ''"),
        (2, "4 b q complete '' 4 c q complete ''"),
    ] {
        core.flush();
        core.all("config.set 0 jobs-history 10; put 1 '' q a K {} 0 tags [\"t\"]; pop 1 q w 1; complete 2 a w q {}");
        core.redis("DEL ql:t:t");
        core.redis("SET ql:t:t damaged");
        core.all("put 19 '' q b K {} 0; put 19 '' q c K {} 0; pop 20 q w 2");
        let rows = rows(&core.ok(&format!("guard.finish 21 w {ends}")));
        assert_eq!(rows, vec![["done", "complete"]; count]);
        assert_eq!(core.score("ql:completed", "b"), Some(21.0));
        assert_eq!(
            core.redis("ZCARD ql:w:w:jobs"),
            Reply::Int(2 - count as i64)
        );
        assert_eq!(
            core.redis("ZCARD ql:q:q-locks"),
            Reply::Int(2 - count as i64)
        );
    }
}

#[test]
fn a_key_of_a_wrong_type_leaves_the_other_jobs_alone() {
    let mut core = Core::new();
    for (key, bad) in [
        ("ql:j:a-history", "a"),
        ("ql:q:q-locks", "a b c"),
        ("ql:w:w:jobs", "a b c"),
        ("ql:completed", "a"),
        ("ql:f:G", "b"),
        ("ql:q:q-work", "c"),
        ("ql:s:run:0:q", ""),
        ("ql:s:stats:0:q", ""),
        ("ql:config", ""),
    ] {
        core.flush();
        core.all("put 1 '' q a K {} 0; put 1 '' q b K {} 0; put 1 '' q c K {} 0; pop 2 q w 3");
        core.redis(&format!("DEL {key}"));
        core.redis(&format!("SET {key} damaged"));
        let before = core.dump();
        let call = "guard.finish 3 w 4 a q complete '' 5 b q fail G M 4 c q retry 0";
        let rows = rows(&core.ok(call));
        for (jid, row) in ["a", "b", "c"].into_iter().zip(rows) {
            let is_bad = words(bad).contains(&jid.to_owned());
            assert_eq!(
                row[0],
                if is_bad { "invalid" } else { "done" },
                "{key}: {jid}: {row:?}"
            );
            if is_bad {
                assert_eq!(core.state(jid), "running", "{key}");
                let history = format!("ql:j:{jid}-history");
                assert_eq!(core.dump().0.get(&history), before.0.get(&history), "{key}");
            }
        }
    }
}

#[test]
fn calls_for_many_jobs() {
    Core::new().session(expect![[r#"
        == A dependency made in a call is released in it
        put 1 '' q a K {} 0; put 1 '' q b K {} 0; pop 2 q w 2
        guard.finish 3 w 8 a q complete '' next p depends ["b"] 4 b q complete '' → done depends · done complete
        states a → waiting
        keys ql:q:p* → ql:q:p-work
        EXISTS ql:j:b-dependents → :0
        put 1 '' q c K {} 0 key k; put 1 '' q d K {} 0; pop 2 q w 2
        guard.finish 3 w 8 c q complete '' next r depends ["d"] 4 d q complete '' → done depends · done complete
        states c → waiting
        keys ql:q:r* → ql:q:r-work
        EXISTS ql:j:d-dependents → :0

        == Endings of jobs whose locks are elsewhere find them
        put 1 '' q a K {} 0; put 1 '' q b K {} 0; put 1 '' q c K {} 0; pop 2 q w 3
        -- As the `retry` of an older script into another queue leaves it.
        ZREM ql:q:q-locks b; ZADD ql:queues 1 p; ZADD ql:q:p-work 5 b
        guard.finish 3 w 4 a q complete '' 4 b q complete '' 4 c q retry 0
        keys ql:q:* → ql:q:q-work
        EXISTS ql:w:w:jobs → :0
        ZCARD ql:q:q-work → :1

        == A history of a wrong type refuses the retry before anything is written
        put 1 '' q a K {} 0; put 1 '' q b K {} 0 throttles ["t"]; pop 2 q w 2
        DEL ql:j:a-history ql:j:b-history; SET ql:j:a-history x; SET ql:j:b-history x; remember
        guard.finish 3 w 4 a q retry 0 → invalid ql:j:a-history is no list
        guard.finish 3 w 4 b q retry 0 → invalid ql:j:b-history is no list
        unchanged

        == Wrong words are refused before anything changes
        put 1 '' q a K {} 0; pop 2 q w 1
        guard.finish 3 → error Guard(): worker missing
        guard.finish 3 w 5 a q complete → error Guard(): wrong number of words: 5
        guard.finish 3 w x a q complete → error Guard(): wrong number of words: x
        guard.finish 3 w 2 a q → error Guard(): wrong number of words: 2
        guard.finish 3 w 4 a q cancel '' → error Guard(): a job ends by complete, retry or fail: cancel
        guard.finish 3 w 4 a q complete '' 3 a q nope → error Guard(): a job ends by complete, retry or fail: nope
        guard.turn 3 → error Guard(): worker missing
        guard.turn 3 w → error Guard(): wrong number: nil
        guard.turn 3 w 1 → error Guard(): wrong number: nil
        guard.turn 3 w -1 2 q 1 4 a q complete '' → error Guard(): wrong number: -1
        guard.turn 3 w 1 1 q 4 a q complete '' → error Guard(): wrong number of words: 1
        guard.turn 3 w 1 2 q 1.5 4 a q complete '' → error Guard(): wrong number: 1.5
        guard.turn 3 w 1 40 q 1 4 a q complete '' → error Guard(): wrong number of words: 40
        guard.heartbeat 3 → error Guard(): worker missing
        guard.heartbeat 3 w a → error Guard(): a jid has no data beside it
    "#]]);
}

#[test]
fn more_than_500_jobs_are_refused() {
    let mut core = Core::new();
    let many = " 4 a q complete ''".repeat(501);
    core.refused(&format!("guard.finish 3 w{many}"));
    core.refused(&format!("guard.turn 3 w 0 0{many}"));
    core.refused(&format!("guard.heartbeat 3 w{}", " a ''".repeat(501)));
}

#[test]
fn a_retry_by_a_worker_leaves_its_reason_in_the_history() {
    let mut core = Core::new();
    core.all(
        "put 1 '' q a K {} 0 retries 2; put 1 '' q b K {} 0 throttles [\"t\"]; put 1 '' q c K {} 0",
    );
    let last = |core: &mut Core, jid: &str| core.history(jid).pop().unwrap();
    let retried = |core: &mut Core, jid: &str, words: &[&str]| {
        core.ok("pop 2 q w 9");
        let count = (words.len() + 3).to_string();
        let mut call = vec!["guard.finish", "3", "w", &count, jid, "q", "retry"];
        call.extend(words);
        let call: Vec<&[u8]> = call.iter().map(|word| word.as_bytes()).collect();
        core.call(&call).unwrap();
        last(core, jid)
    };
    let plain = retried(&mut core, "a", &["0"]);
    assert_eq!(plain, r#"[3,"retried",{"worker":"w"}]"#);
    let full = retried(&mut core, "a", &["0", "G", "it broke", "75"]);
    let expected = r#"[3,"retried",{"worker":"w","group":"G","message":"it broke","exit":75}]"#;
    assert_eq!(full, expected);
    let entry = core.json("get 4 a")["history"][4].clone();
    let named = ["when", "what", "worker", "group", "message", "exit"];
    assert!(
        named.iter().all(|name| entry.get(name).is_some()),
        "{entry}"
    );
    // A job with a throttle ends by the single command.
    let throttled = retried(&mut core, "b", &["5", "failed-retries-q", "slow", "1"]);
    let expected = r#"[3,"retried",{"worker":"w","message":"slow","exit":1}]"#;
    assert_eq!(throttled, expected);
    // The last reason is that of the failure, and no further entry hides it.
    let failed = retried(&mut core, "a", &["0", "G", "for good", "75"]);
    assert_eq!(failed, r#"[3,"failed",{"group":"G"}]"#);
    assert_eq!(core.json("get 4 a")["failure"]["message"], "for good");
    // The middle of a long message is left out, between two characters.
    let long = format!("begin {}é{} end", "é".repeat(200), "é".repeat(200));
    for shift in ["", "x", "xx"] {
        let words = ["0", "G", &format!("{shift}{long}")];
        let entry = retried(&mut core, "c", &words);
        let entry: serde_json::Value = serde_json::from_str(&entry).unwrap();
        let message = entry[2]["message"].as_str().unwrap();
        assert!((495..=500).contains(&message.len()), "{}", message.len());
        assert!(message.starts_with(&format!("{shift}begin éé")) && message.ends_with("é end"));
    }
    core.ok("config.set 3 max-job-history 3");
    retried(&mut core, "c", &["0"]);
    assert_eq!(core.history("c").len(), 3);
    // The wire's own `retry` is that of qless-core.
    core.all("pop 4 q w 9; retry 5 c q w 0 G M");
    assert!(last(&mut core, "c").contains("popped"));
    for wrong in ["''", "-1", "x", "1.5"] {
        core.all("pop 4 q w 9");
        let reply = core.ok(&format!("guard.finish 5 w 7 c q retry 0 G M {wrong}"));
        assert_eq!(reply.list()[0].texts()[0], "invalid");
    }
}

#[test]
fn a_server_that_refuses_to_write_refuses_the_whole_call_and_not_one_job() {
    let mut core = Core::new();
    core.all("put 1 '' q lane K {} 0 key k; put 1 '' q throttle K {} 0 throttles [\"t\"]");
    core.all("put 1 '' q lock K {} 0 lock l; put 1 '' q plain K {} 0; pop 2 q w 9");
    let endings = ["4 JID q complete ''", "4 JID q retry 0", "5 JID q fail G M"];
    let settings = [
        ("maxmemory", "OOM"),
        ("min-replicas-to-write", "NOREPLICAS"),
    ];
    for (setting, code) in settings {
        core.redis(&format!("CONFIG SET {setting} 1"));
        let mut must_refuse = |line: &str| {
            let error = core.refused(line);
            assert!(error.contains(&format!("{code} ")), "{line}: {error}");
        };
        for jid in ["lane", "throttle", "lock", "plain"] {
            for ending in endings.map(|ending| ending.replace("JID", jid)) {
                must_refuse(&format!("guard.finish 3 w {ending}"));
                must_refuse(&format!("guard.turn 3 w 1 2 q 1 {ending}"));
                must_refuse(&format!("guard.finish 3 w 4 gone q retry 0 {ending}"));
            }
        }
        // No ending writes, so the pop makes the first write.
        must_refuse("guard.turn 3 w 1 2 q 1 4 gone q retry 0");
        must_refuse("guard.put 3 {} 7 q new K {} 0 key k");
        // A job that the core itself refuses has its row.
        let reply = core.ok("guard.finish 3 w 4 lane q complete nonsense 4 gone q retry 0");
        assert_eq!(reply.list()[0].texts()[0], "invalid");
        core.redis(&format!("CONFIG SET {setting} 0"));
    }
    let reply = core.ok("guard.finish 3 w 4 lane q complete '' 4 throttle q complete ''");
    assert!(reply.list().iter().all(|row| row.texts()[0] == "done"));
}
