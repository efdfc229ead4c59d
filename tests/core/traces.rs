//! The traces of the core's specification. The text of each test is both the script
//! and the expected result: every reply, every event in order, and every key that changed. If a
//! fixed defect changes a line, the comment above the test names it.

use std::collections::{BTreeMap, BTreeSet};

use expect_test::{Expect, expect};

use crate::support::core::{Core, Dump, Key, Reply, g17, short};

/// Runs the commands in the expected text and compares the results with it.
fn check(expected: Expect) {
    let mut core = Core::new();
    let mut seen = String::new();
    for line in expected.data().lines().map(str::trim) {
        if let Some(setup) = line.strip_prefix("* setup: ") {
            for call in setup.split("; ") {
                core.ok(call.trim_matches('`'));
            }
            seen.push_str(&format!("{line}\n"));
            continue;
        }
        let Some((call, reply)) = line
            .strip_prefix("* `")
            .and_then(|rest| rest.split_once("` → "))
        else {
            continue;
        };
        core.events();
        let before = core.dump();
        let answer = core.run(call);
        let events = core.events();
        let after = core.dump();
        let answer = match reply {
            "(reply omitted)" => reply.to_owned(),
            _ => show_reply(&answer),
        };
        seen.push_str(&format!("* `{call}` → {answer}\n"));
        for (channel, payload) in events {
            seen.push_str(&format!("    * event `{channel}` `{payload}`\n"));
        }
        for change in changes(&before, &after) {
            seen.push_str(&format!("    * {change}\n"));
        }
    }
    expected.assert_eq(&seen);
}

fn show_reply(answer: &Result<Reply, String>) -> String {
    match answer {
        Err(error) => format!("**error** `{}`", short(error)),
        Ok(Reply::Nil) => "nil".into(),
        Ok(Reply::Int(number)) => format!(":{number}"),
        Ok(Reply::Text(text)) if text.starts_with(['{', '[']) => {
            let mut document: serde_json::Value = serde_json::from_str(text).expect("JSON");
            document.sort_all_objects();
            format!("`{document}`")
        }
        Ok(Reply::Text(text)) => format!("`\"{text}\"`"),
        Ok(list) => format!("array [{}]", list.texts().join(", ")),
    }
}

/// The changed keys in the notation of the traces.
fn changes(before: &Dump, after: &Dump) -> Vec<String> {
    let names: BTreeSet<&String> = before.0.keys().chain(after.0.keys()).collect();
    let mut changes = Vec::new();
    for name in names {
        let text = match (before.0.get(name), after.0.get(name)) {
            (old, new) if old == new => continue,
            (_, None) => "deleted".to_owned(),
            (None, Some(new)) => whole(new),
            (Some(Key::Hash(old)), Some(Key::Hash(new))) => difference(old, new, String::clone),
            (Some(Key::Zset(old)), Some(Key::Zset(new))) => {
                difference(old, new, |score| g17(*score))
            }
            (Some(Key::Set(old)), Some(Key::Set(new))) => {
                let gone = old.difference(new).map(|member| format!("−{member}"));
                let came = new.difference(old).map(|member| format!("+{member}"));
                gone.chain(came).collect::<Vec<_>>().join(", ")
            }
            (Some(Key::List(old)), Some(Key::List(new))) if new.starts_with(old) => {
                format!("append {}", entries(&new[old.len()..]))
            }
            (_, Some(new)) => whole(new),
        };
        changes.push(format!("`{name}` {text}"));
    }
    changes
}

fn whole(value: &Key) -> String {
    match value {
        Key::Text(text) => format!("string `{text}`"),
        Key::Hash(hash) => {
            let fields: Vec<_> = hash
                .iter()
                .map(|(name, value)| format!("{name}=`{value}`"))
                .collect();
            format!("hash {{{}}}", fields.join(", "))
        }
        Key::List(list) => format!("list {}", entries(list)),
        Key::Set(set) => {
            format!(
                "set {{{}}}",
                set.iter()
                    .map(String::as_str)
                    .collect::<Vec<_>>()
                    .join(", ")
            )
        }
        Key::Zset(zset) => {
            let members: Vec<_> = zset
                .iter()
                .map(|(member, score)| format!("{member}: {}", g17(*score)))
                .collect();
            format!("zset {{{}}}", members.join(", "))
        }
    }
}

fn entries(list: &[String]) -> String {
    list.iter()
        .map(|entry| format!("`{entry}`"))
        .collect::<Vec<_>>()
        .join(" · ")
}

fn difference<V: PartialEq>(
    old: &BTreeMap<String, V>,
    new: &BTreeMap<String, V>,
    show: impl Fn(&V) -> String,
) -> String {
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let parts = names
        .into_iter()
        .filter_map(|name| match (old.get(name), new.get(name)) {
            (old, new) if old == new => None,
            (_, None) => Some(format!("−{name}")),
            (None, Some(value)) => Some(format!("+{name}=`{}`", show(value))),
            (Some(_), Some(value)) => Some(format!("{name}=`{}`", show(value))),
        });
    parts.collect::<Vec<_>>().join(", ")
}

// D-61: heartbeat stores the text it was given, so `[]` stays `[]`.
#[test]
fn b1_put_pop_heartbeat_complete() {
    check(expect![[r#"
        * `put 1000.5 w0 q j K {"a":[]} 0 tags ["t"] priority 2 retries 3` → `"j"`
            * event `ql:log` `{"jid":"j","event":"put","queue":"q"}`
            * `ql:j:j` hash {data=`{"a":[]}`, expires=`0`, jid=`j`, klass=`K`, priority=`2`, queue=`q`, remaining=`3`, retries=`3`, state=`waiting`, tags=`["t"]`, time=`1000.50000000000000000000`, worker=``}
            * `ql:j:j-history` list `[1000,"put",{"q":"q"}]`
            * `ql:q:q-work` zset {j: 1.9999998999499999}
            * `ql:queues` zset {q: 1000.5}
            * `ql:t:t` zset {j: 1000.5}
            * `ql:tags` zset {t: 1}
        * `pop 1003.25 q w1 1` → `[{"data":"{\"a\":[]}","dependencies":{},"dependents":{},"expires":1063.25,"failure":{},"history":[{"q":"q","what":"put","when":1000},{"what":"popped","when":1003,"worker":"w1"}],"jid":"j","klass":"K","priority":2,"queue":"q","remaining":3,"retries":3,"spawned_from_jid":false,"state":"running","tags":["t"],"tracked":false,"worker":"w1"}]`
            * `ql:j:j` expires=`1063.25`, state=`running`, time=`1003.25000000000000000000`, worker=`w1`
            * `ql:j:j-history` append `[1003,"popped",{"worker":"w1"}]`
            * `ql:q:q-locks` zset {j: 1063.25}
            * `ql:q:q-work` deleted
            * `ql:s:wait:0:q` hash {mean=`2.75`, s2=`1`, total=`1`, vk=`0`}
            * `ql:w:w1:jobs` zset {j: 1063.25}
            * `ql:workers` zset {w1: 1003.25}
        * `heartbeat 1010.75 j w1` → :1070
            * `ql:j:j` expires=`1070.75`
            * `ql:q:q-locks` j=`1070.75`
            * `ql:w:w1:jobs` j=`1070.75`
            * `ql:workers` w1=`1010.75`
        * `heartbeat 1010.75 j w1 {"a":[]}` → :1070
        * `complete 1013.75 j w1 q {"a":[]}` → `"complete"`
            * event `ql:log` `{"jid":"j","event":"completed","queue":"q"}`
            * `ql:completed` zset {j: 1013.75}
            * `ql:j:j` expires=`0`, +failure=`{}`, queue=``, state=`complete`, time=`1013.75000000000000000000`, worker=``
            * `ql:j:j-history` append `[1013,"done"]`
            * `ql:q:q-locks` deleted
            * `ql:s:run:0:q` hash {mean=`10.5`, s10=`1`, total=`1`, vk=`0`}
            * `ql:w:w1:jobs` deleted
    "#]]);
}

// D-40: unfail registers the queue.
// D-52: unfail lowers the counter of the queue in which the job failed.
// D-55: an id without a job can be untracked.
#[test]
fn b2_tracked_job_all_events() {
    check(expect![[r#"
        * `put 0 w0 q j K {} 0` → `"j"`
            * event `ql:log` `{"jid":"j","event":"put","queue":"q"}`
            * `ql:j:j` hash {data=`{}`, expires=`0`, jid=`j`, klass=`K`, priority=`0`, queue=`q`, remaining=`5`, retries=`5`, state=`waiting`, tags=`{}`, time=`0.00000000000000000000`, worker=``}
            * `ql:j:j-history` list `[0,"put",{"q":"q"}]`
            * `ql:q:q-work` zset {j: 0}
            * `ql:queues` zset {q: 0}
        * `track 1 track j` → `"1"`
            * event `ql:track` `j`
            * `ql:tracked` zset {j: 1}
        * `pop 2 q w1 1` → (reply omitted)
            * event `ql:popped` `j`
            * `ql:j:j` expires=`62`, state=`running`, time=`2.00000000000000000000`, worker=`w1`
            * `ql:j:j-history` append `[2,"popped",{"worker":"w1"}]`
            * `ql:q:q-locks` zset {j: 62}
            * `ql:q:q-work` deleted
            * `ql:s:wait:0:q` hash {mean=`2`, s2=`1`, total=`1`, vk=`0`}
            * `ql:w:w1:jobs` zset {j: 62}
            * `ql:workers` zset {w1: 2}
        * `put 3 w2 q2 j K {} 0` → `"j"`
            * event `ql:log` `{"jid":"j","event":"put","queue":"q2"}`
            * event `ql:w:w1` `{"jid":"j","event":"lock_lost","worker":"w1"}`
            * event `ql:log` `{"jid":"j","event":"lock_lost","worker":"w1"}`
            * event `ql:put` `j`
            * `ql:j:j` expires=`0`, queue=`q2`, state=`waiting`, time=`3.00000000000000000000`, worker=``
            * `ql:j:j-history` append `[3,"put",{"q":"q2"}]`
            * `ql:q:q-locks` deleted
            * `ql:q:q2-work` zset {j: -3e-10}
            * `ql:queues` +q2=`3`
            * `ql:w:w1:jobs` deleted
        * `pop 4 q2 w1 1` → (reply omitted)
            * event `ql:popped` `j`
            * `ql:j:j` expires=`64`, state=`running`, time=`4.00000000000000000000`, worker=`w1`
            * `ql:j:j-history` append `[4,"popped",{"worker":"w1"}]`
            * `ql:q:q2-locks` zset {j: 64}
            * `ql:q:q2-work` deleted
            * `ql:s:wait:0:q2` hash {mean=`1`, s1=`1`, total=`1`, vk=`0`}
            * `ql:w:w1:jobs` zset {j: 64}
            * `ql:workers` w1=`4`
        * `fail 5.75 j w1 G M {"x":1}` → `"j"`
            * event `ql:log` `{"message":"M","jid":"j","group":"G","event":"failed","worker":"w1"}`
            * event `ql:failed` `j`
            * `ql:f:G` list `j`
            * `ql:failures` set {G}
            * `ql:j:j` data=`{"x":1}`, expires=``, +failure=`{"group":"G","message":"M","when":5,"worker":"w1"}`, state=`failed`, worker=``
            * `ql:j:j-history` append `[5,"failed",{"group":"G","worker":"w1"}]`
            * `ql:q:q2-locks` deleted
            * `ql:s:stats:0:q2` hash {failed=`1`, failures=`1`}
            * `ql:w:w1:jobs` deleted
        * `unfail 6 q3 G 10` → :1
            * `ql:f:G` deleted
            * `ql:failures` deleted
            * `ql:j:j` expires=`0`, queue=`q3`, state=`waiting`
            * `ql:j:j-history` append `[6,"put",{"q":"q3"}]`
            * `ql:q:q3-work` zset {j: -6e-10}
            * `ql:queues` +q3=`6`
            * `ql:s:stats:0:q2` failed=`0`
        * `pop 7 q3 w1 1` → (reply omitted)
            * event `ql:popped` `j`
            * `ql:j:j` expires=`67`, state=`running`, time=`7.00000000000000000000`, worker=`w1`
            * `ql:j:j-history` append `[7,"popped",{"worker":"w1"}]`
            * `ql:q:q3-locks` zset {j: 67}
            * `ql:q:q3-work` deleted
            * `ql:s:wait:0:q3` hash {mean=`3`, s3=`1`, total=`1`, vk=`0`}
            * `ql:w:w1:jobs` zset {j: 67}
            * `ql:workers` w1=`7`
        * `complete 8 j w1 q3 {} next q4` → `"waiting"`
            * event `ql:completed` `j`
            * event `ql:log` `{"jid":"j","to":"q4","event":"advanced","queue":"q3"}`
            * `ql:j:j` data=`{}`, expires=`0`, failure=`{}`, queue=`q4`, state=`waiting`, time=`8.00000000000000000000`, worker=``
            * `ql:j:j-history` append `[8,"done"]` · `[8,"put",{"q":"q4"}]`
            * `ql:q:q3-locks` deleted
            * `ql:q:q4-work` zset {j: -8.0000000000000003e-10}
            * `ql:queues` +q4=`8`
            * `ql:s:run:0:q3` hash {mean=`1`, s1=`1`, total=`1`, vk=`0`}
            * `ql:w:w1:jobs` deleted
        * `cancel 9 j` → array [j]
            * event `ql:log` `{"jid":"j","queue":"q4","event":"canceled","worker":""}`
            * event `ql:canceled` `j`
            * `ql:j:j` deleted
            * `ql:j:j-history` deleted
            * `ql:q:q4-work` deleted
        * `track 10` → `{"expired":["j"],"jobs":{}}`
        * `track 10 untrack j` → `"1"`
            * event `ql:untrack` `j`
            * `ql:tracked` deleted
    "#]]);
}

#[test]
fn b3_lock_expiry_in_two_phases_grace_10() {
    check(expect![[r#"
        * setup: `put 0 w0 q j K {} 0 retries 1`; `pop 0 q w1 1`; `track 0 track j`
        * `pop 61.5 q w2 1` → `{}`
            * event `ql:stalled` `j`
            * event `ql:w:w1` `{"jid":"j","event":"lock_lost","worker":"w1"}`
            * event `ql:log` `{"jid":"j","event":"lock_lost","worker":"w1"}`
            * `ql:j:j` +grace=`1`
            * `ql:j:j-history` append `[61,"timed-out"]`
            * `ql:q:q-locks` j=`71.5`
            * `ql:s:stats:0:q` hash {retries=`1`}
            * `ql:w:w1:jobs` deleted
            * `ql:workers` +w2=`61.5`
        * `pop 71.5 q w2 1` → (reply omitted)
            * event `ql:popped` `j`
            * `ql:j:j` expires=`131.5`, −grace, remaining=`0`, time=`71.50000000000000000000`, worker=`w2`
            * `ql:j:j-history` append `[71,"popped",{"worker":"w2"}]`
            * `ql:q:q-locks` j=`131.5`
            * `ql:s:wait:0:q` +m1=`1`, mean=`35.75`, total=`2`, vk=`2556.125`
            * `ql:w:w2:jobs` zset {j: 131.5}
            * `ql:workers` w2=`71.5`
        * `pop 140 q w3 1` → `{}`
            * event `ql:stalled` `j`
            * event `ql:w:w2` `{"jid":"j","event":"lock_lost","worker":"w2"}`
            * event `ql:log` `{"jid":"j","event":"lock_lost","worker":"w2"}`
            * `ql:j:j` +grace=`1`
            * `ql:j:j-history` append `[140,"timed-out"]`
            * `ql:q:q-locks` j=`150`
            * `ql:s:stats:0:q` retries=`2`
            * `ql:w:w2:jobs` deleted
            * `ql:workers` +w3=`140`
        * `pop 150 q w3 1` → `{}`
            * event `ql:failed` `j`
            * event `ql:log` `{"message":"Job exhausted retries in queue \"q\"","jid":"j","group":"failed-retries-q","event":"failed","worker":"w2"}`
            * `ql:f:failed-retries-q` list `j`
            * `ql:failures` set {failed-retries-q}
            * `ql:j:j` expires=``, +failure=`{"group":"failed-retries-q","message":"Job exhausted retries in queue \"q\"","when":150,"worker":""}`, −grace, remaining=`-1`, state=`failed`, worker=``
            * `ql:j:j-history` append `[150,"failed",{"group":"failed-retries-q"}]`
            * `ql:q:q-locks` deleted
            * `ql:s:stats:0:q` +failed=`1`, +failures=`1`
            * `ql:workers` w3=`150`
    "#]]);
}

// D-26: the time of a failure is whole seconds here too.
#[test]
fn b4_grace_disabled_retries_exhausted_in_one_pop() {
    check(expect![[r#"
        * setup: `config.set 0 grace-period 0`; `put 0 w0 q j K {} 0 retries 0`; `pop 0 q w1 1`
        * `pop 60.5 q w2 1` → `{}`
            * event `ql:w:w1` `{"jid":"j","event":"lock_lost","worker":"w1"}`
            * event `ql:log` `{"jid":"j","event":"lock_lost","worker":"w1"}`
            * event `ql:log` `{"message":"Job exhausted retries in queue \"q\"","jid":"j","group":"failed-retries-q","event":"failed","worker":"w1"}`
            * `ql:f:failed-retries-q` list `j`
            * `ql:failures` set {failed-retries-q}
            * `ql:j:j` expires=``, +failure=`{"group":"failed-retries-q","message":"Job exhausted retries in queue \"q\"","when":60,"worker":""}`, remaining=`-1`, state=`failed`, worker=``
            * `ql:j:j-history` append `[60,"timed-out"]` · `[60,"failed",{"group":"failed-retries-q"}]`
            * `ql:q:q-locks` deleted
            * `ql:s:stats:0:q` hash {failed=`1`, failures=`1`, retries=`1`}
            * `ql:w:w1:jobs` deleted
            * `ql:workers` +w2=`60.5`
    "#]]);
}

// D-26: the time of a failure is whole seconds here too.
#[test]
fn b5_retry_delayed_immediate_exhausted_with_and_without_group() {
    check(expect![[r#"
        * setup: `put 0 w0 q j K {} 0 retries 2`; `pop 0 q w1 1`
        * `retry 1 j q w1 30 G M` → :1
            * `ql:j:j` +failure=`{"group":"G","message":"M","when":1,"worker":"w1"}`, remaining=`1`, state=`scheduled`
            * `ql:q:q-locks` deleted
            * `ql:q:q-scheduled` zset {j: 31}
            * `ql:w:w1:jobs` deleted
        * setup: `pop 31 q w1 1`
        * `retry 32 j q w1` → :0
            * `ql:j:j` remaining=`0`, state=`waiting`
            * `ql:q:q-locks` deleted
            * `ql:q:q-work` zset {j: -3.2000000000000001e-09}
            * `ql:w:w1:jobs` deleted
        * setup: `pop 33 q w1 1`
        * `retry 34.5 j q w1 0 G2 M2` → :-1
            * `ql:f:G2` list `j`
            * `ql:failures` set {G2}
            * `ql:j:j` expires=``, failure=`{"group":"G2","message":"M2","when":34,"worker":"w1"}`, remaining=`-1`, state=`failed`, worker=``
            * `ql:j:j-history` append `[34,"failed",{"group":"G2"}]`
            * `ql:q:q-locks` deleted
            * `ql:s:stats:0:q` hash {failed=`1`, failures=`1`}
            * `ql:w:w1:jobs` deleted
        * setup: `put 35 w0 q k K {} 0 retries 0`; `pop 35 q w1 1`
        * `retry 36.5 k q w1` → :-1
            * `ql:f:failed-retries-q` list `k`
            * `ql:failures` +failed-retries-q
            * `ql:j:k` expires=``, +failure=`{"group":"failed-retries-q","message":"Job exhausted retries in queue \"q\"","when":36,"worker":""}`, remaining=`-1`, state=`failed`, worker=``
            * `ql:j:k-history` append `[36,"failed",{"group":"failed-retries-q"}]`
            * `ql:q:q-locks` deleted
            * `ql:s:stats:0:q` failed=`2`, failures=`2`
            * `ql:w:w1:jobs` deleted
    "#]]);
}

// D-22: timeout removes the job from the list of its worker.
#[test]
fn b6_timeout() {
    check(expect![[r#"
        * setup: `put 0 w0 q j K {} 0`; `pop 0 q w1 1`
        * `timeout 5 j` → nil
            * event `ql:w:w1` `{"jid":"j","event":"lock_lost","worker":"w1"}`
            * event `ql:log` `{"jid":"j","event":"lock_lost","worker":"w1"}`
            * `ql:j:j` expires=`0`, state=`stalled`
            * `ql:j:j-history` append `[5,"timed-out"]`
            * `ql:q:q-locks` deleted
            * `ql:q:q-work` zset {j: inf}
            * `ql:w:w1:jobs` deleted
        * `pop 6 q w2 1` → (reply omitted)
            * `ql:j:j` expires=`66`, state=`running`, time=`6.00000000000000000000`, worker=`w2`
            * `ql:j:j-history` append `[6,"popped",{"worker":"w2"}]`
            * `ql:q:q-locks` zset {j: 66}
            * `ql:q:q-work` deleted
            * `ql:s:wait:0:q` mean=`3`, +s6=`1`, total=`2`, vk=`18`
            * `ql:w:w2:jobs` zset {j: 66}
            * `ql:workers` +w2=`6`
    "#]]);
}

#[test]
fn b7_schedule_and_promotion() {
    check(expect![[r#"
        * `put 0 w0 q j K {} 30` → `"j"`
            * event `ql:log` `{"jid":"j","event":"put","queue":"q"}`
            * `ql:j:j` hash {data=`{}`, expires=`0`, jid=`j`, klass=`K`, priority=`0`, queue=`q`, remaining=`5`, retries=`5`, state=`scheduled`, tags=`{}`, time=`0.00000000000000000000`, worker=``}
            * `ql:j:j-history` list `[0,"put",{"q":"q"}]`
            * `ql:q:q-scheduled` zset {j: 30}
            * `ql:queues` zset {q: 0}
        * `queues 29 q` → `{"depends":0,"name":"q","paused":false,"recurring":0,"running":0,"scheduled":1,"stalled":0,"waiting":0}`
        * `queues 30 q` → `{"depends":0,"name":"q","paused":false,"recurring":0,"running":0,"scheduled":0,"stalled":0,"waiting":1}`
            * `ql:j:j` state=`waiting`
            * `ql:q:q-scheduled` deleted
            * `ql:q:q-work` zset {j: -3e-09}
    "#]]);
}

#[test]
fn b8_dependencies() {
    check(expect![[r#"
        * setup: `put 0 w0 q a K {} 0`
        * `put 1 w0 q b K {} 0 depends ["a","nope"]` → `"b"`
            * event `ql:log` `{"jid":"b","event":"put","queue":"q"}`
            * `ql:j:a-dependents` set {b}
            * `ql:j:b` hash {data=`{}`, expires=`0`, jid=`b`, klass=`K`, priority=`0`, queue=`q`, remaining=`5`, retries=`5`, state=`depends`, tags=`{}`, time=`1.00000000000000000000`, worker=``}
            * `ql:j:b-dependencies` set {a}
            * `ql:j:b-history` list `[1,"put",{"q":"q"}]`
            * `ql:q:q-depends` zset {b: 1}
        * `put 2 w0 q c K {} 50 depends ["a"]` → `"c"`
            * event `ql:log` `{"jid":"c","event":"put","queue":"q"}`
            * `ql:j:a-dependents` +c
            * `ql:j:c` hash {data=`{}`, expires=`0`, jid=`c`, klass=`K`, priority=`0`, queue=`q`, remaining=`5`, retries=`5`, scheduled=`52`, state=`depends`, tags=`{}`, time=`2.00000000000000000000`, worker=``}
            * `ql:j:c-dependencies` set {a}
            * `ql:j:c-history` list `[2,"put",{"q":"q"}]`
            * `ql:q:q-depends` +c=`2`
        * `depends 3 b on c` → :1
            * `ql:j:b-dependencies` +c
            * `ql:j:c-dependents` set {b}
        * `depends 4 b off c` → :1
            * `ql:j:b-dependencies` −c
            * `ql:j:c-dependents` deleted
        * setup: `pop 5 q w1 1`
        * `complete 6 a w1 q {}` → `"complete"`
            * event `ql:log` `{"jid":"a","event":"completed","queue":"q"}`
            * `ql:completed` zset {a: 6}
            * `ql:j:a` expires=`0`, +failure=`{}`, queue=``, state=`complete`, time=`6.00000000000000000000`, worker=``
            * `ql:j:a-dependents` deleted
            * `ql:j:a-history` append `[6,"done"]`
            * `ql:j:b` state=`waiting`
            * `ql:j:b-dependencies` deleted
            * `ql:j:c` −scheduled, state=`scheduled`
            * `ql:j:c-dependencies` deleted
            * `ql:q:q-depends` deleted
            * `ql:q:q-locks` deleted
            * `ql:q:q-scheduled` zset {c: 52}
            * `ql:q:q-work` zset {b: -6e-10}
            * `ql:s:run:0:q` hash {mean=`1`, s1=`1`, total=`1`, vk=`0`}
            * `ql:w:w1:jobs` deleted
    "#]]);
}

// D-48: a tag without jobs is removed from the list of tags.
#[test]
fn b9_cancel_clique() {
    check(expect![[r#"
        * setup: `put 0 w0 q a K {} 0 tags ["t"]`; `put 1 w0 q b K {} 0 depends ["a"]`
        * `cancel 2 a` → **error** `user_script:N: Cancel(): a is a dependency of b but is not mentioned to be canceled`
        * `cancel 2 a b` → array [a, b]
            * event `ql:log` `{"jid":"a","queue":"q","event":"canceled","worker":""}`
            * event `ql:log` `{"jid":"b","queue":"q","event":"canceled","worker":""}`
            * `ql:j:a` deleted
            * `ql:j:a-dependents` deleted
            * `ql:j:a-history` deleted
            * `ql:j:b` deleted
            * `ql:j:b-dependencies` deleted
            * `ql:j:b-history` deleted
            * `ql:q:q-depends` deleted
            * `ql:q:q-work` deleted
            * `ql:t:t` deleted
            * `ql:tags` deleted
        * `cancel 3 a` → array [a]
            * event `ql:log` `{"jid":"a","queue":false,"event":"canceled","worker":false}`
    "#]]);
}

// D-29: a job that advances with a delay is `scheduled`.
#[test]
fn b10_complete_with_next_delay_depends() {
    check(expect![[r#"
        * setup: `put 0 w0 q a K {} 0`; `put 0 w0 z d K {} 0`; `pop 1 q w1 1`
        * `complete 2 a w1 q {} next q2 delay 10` → `"scheduled"`
            * event `ql:log` `{"jid":"a","to":"q2","event":"advanced","queue":"q"}`
            * `ql:j:a` expires=`0`, +failure=`{}`, queue=`q2`, state=`scheduled`, time=`2.00000000000000000000`, worker=``
            * `ql:j:a-history` append `[2,"done"]` · `[2,"put",{"q":"q2"}]`
            * `ql:q:q-locks` deleted
            * `ql:q:q2-scheduled` zset {a: 12}
            * `ql:queues` +q2=`2`
            * `ql:s:run:0:q` hash {mean=`1`, s1=`1`, total=`1`, vk=`0`}
            * `ql:w:w1:jobs` deleted
        * setup: `pop 20 q2 w1 1`
        * `complete 21 a w1 q2 {} next q3 delay 10 depends ["d"]` → `"depends"`
            * event `ql:log` `{"jid":"a","to":"q3","event":"advanced","queue":"q2"}`
            * `ql:j:a` expires=`0`, queue=`q3`, +scheduled=`31`, state=`depends`, time=`21.00000000000000000000`, worker=``
            * `ql:j:a-dependencies` set {d}
            * `ql:j:a-history` append `[21,"done"]` · `[21,"put",{"q":"q3"}]`
            * `ql:j:d-dependents` set {a}
            * `ql:q:q2-locks` deleted
            * `ql:q:q3-depends` zset {a: 21}
            * `ql:queues` +q3=`21`
            * `ql:s:run:0:q2` hash {mean=`1`, s1=`1`, total=`1`, vk=`0`}
            * `ql:w:w1:jobs` deleted
    "#]]);
}

// D-37: the counter of the queue in which the job failed is lowered, not that of the new one.
#[test]
fn b11_fail_put_elsewhere_fail_again_cancel_counters() {
    check(expect![[r#"
        * setup: `put 0 w0 q a K {} 0`; `pop 1 q w1 1`
        * `fail 2.5 a w1 G M` → `"a"`
            * event `ql:log` `{"message":"M","jid":"a","group":"G","event":"failed","worker":"w1"}`
            * `ql:f:G` list `a`
            * `ql:failures` set {G}
            * `ql:j:a` expires=``, +failure=`{"group":"G","message":"M","when":2,"worker":"w1"}`, state=`failed`, worker=``
            * `ql:j:a-history` append `[2,"failed",{"group":"G","worker":"w1"}]`
            * `ql:q:q-locks` deleted
            * `ql:s:stats:0:q` hash {failed=`1`, failures=`1`}
            * `ql:w:w1:jobs` deleted
        * `put 3 w0 q2 a K {} 0` → `"a"`
            * event `ql:log` `{"jid":"a","event":"put","queue":"q2"}`
            * `ql:f:G` deleted
            * `ql:failures` deleted
            * `ql:j:a` expires=`0`, queue=`q2`, state=`waiting`, time=`3.00000000000000000000`
            * `ql:j:a-history` append `[3,"put",{"q":"q2"}]`
            * `ql:q:q2-work` zset {a: -3e-10}
            * `ql:queues` +q2=`3`
            * `ql:s:stats:0:q` failed=`0`
        * setup: `pop 4 q2 w1 1`; `fail 5 a w1 G M`
        * `cancel 6 a` → array [a]
            * event `ql:log` `{"jid":"a","queue":"q2","event":"canceled","worker":""}`
            * `ql:f:G` deleted
            * `ql:failures` deleted
            * `ql:j:a` deleted
            * `ql:j:a-history` deleted
            * `ql:s:stats:0:q2` failed=`0`
    "#]]);
}

#[test]
fn b12_recurring() {
    check(expect![[r#"
        * `recur 100.5 q r K {} interval 60 5 tags ["t"] retries 2 priority 1 backlog 1` → `"r"`
            * `ql:q:q-recur` zset {r: 105.5}
            * `ql:queues` zset {q: 100.5}
            * `ql:r:r` hash {backlog=`1`, count=`0`, data=`{}`, interval=`60`, jid=`r`, klass=`K`, priority=`1`, queue=`q`, retries=`2`, state=`recur`, tags=`["t"]`, type=`interval`}
        * `pop 230 q w1 10` → (reply omitted)
            * `ql:j:r-1` hash {data=`{}`, expires=`290`, jid=`r-1`, klass=`K`, priority=`1`, queue=`q`, remaining=`2`, retries=`2`, spawned_from_jid=`r`, state=`running`, tags=`["t"]`, time=`230.00000000000000000000`, worker=`w1`}
            * `ql:j:r-1-history` list `[225,"put",{"q":"q"}]` · `[230,"popped",{"worker":"w1"}]`
            * `ql:q:q-locks` zset {r-1: 290}
            * `ql:q:q-recur` r=`285`
            * `ql:r:r` count=`1`
            * `ql:s:wait:0:q` hash {mean=`5`, s5=`1`, total=`1`, vk=`0`}
            * `ql:t:t` zset {r-1: 230}
            * `ql:tags` zset {t: 1}
            * `ql:w:w1:jobs` zset {r-1: 290}
            * `ql:workers` zset {w1: 230}
        * `recur.update 231 r interval 30 queue q2 data [] klass K2 backlog 0 retries 4 priority 9` → :1
            * `ql:q:q-recur` deleted
            * `ql:q:q2-recur` zset {r: 255}
            * `ql:queues` +q2=`231`
            * `ql:r:r` backlog=`0`, data=`[]`, interval=`30`, klass=`K2`, priority=`9`, queue=`q2`, retries=`4`
        * `recur.tag 232 r u t` → `["t","u"]`
            * `ql:r:r` tags=`["t","u"]`
        * `recur.untag 233 r t` → `["u"]`
            * `ql:r:r` tags=`["u"]`
        * `recur.get 234 r` → `{"backlog":0,"count":1,"data":"[]","interval":30,"jid":"r","klass":"K2","priority":9,"queue":"q2","retries":4,"state":"recur","tags":["u"]}`
        * `unrecur 235 r` → :1
            * `ql:q:q2-recur` deleted
            * `ql:r:r` deleted
        * `unrecur 235 r` → :1
    "#]]);
}

// D-48: the counter of a tag is the number of its jobs.
#[test]
fn b13_tags() {
    check(expect![[r#"
        * setup: `put 0 w0 q a K {} 0 tags ["x"]`
        * `tag 1 add a x y` → `["x","y"]`
            * `ql:j:a` tags=`["x","y"]`
            * `ql:t:x` a=`1`
            * `ql:t:y` zset {a: 1}
            * `ql:tags` +y=`1`
        * `tag 2 remove a x nope` → `["y"]`
            * `ql:j:a` tags=`["y"]`
            * `ql:t:x` deleted
            * `ql:tags` −x
        * `tag 3 get y` → `{"jobs":["a"],"total":1}`
        * `tag 3 top` → `{}`
    "#]]);
}

// D-63: the score keeps its time, so jobs of equal priority stay in order.
#[test]
fn b14_priority() {
    check(expect![[r#"
        * setup: `put 5 w0 q a K {} 0`; `put 5 w0 q b K {} 0`
        * `priority 6 a 0` → :0
        * `priority 6 b 3` → :3
            * `ql:j:b` priority=`3`
            * `ql:q:q-work` b=`2.9999999995`
        * setup: `pop 7 q w1 1`
        * `priority 8 b 4` → :4
            * `ql:j:b` priority=`4`
    "#]]);
}

// D-48: a tag without jobs is removed from the list of tags.
#[test]
fn b15_expiry_of_completed_jobs() {
    check(expect![[r#"
        * setup: `config.set 0 jobs-history 10`; `put 0 w0 q a K {} 0 tags ["t"]`; `pop 0 q w1 1`; `complete 1 a w1 q {}`; `put 2 w0 q b K {} 0`; `pop 2 q w1 1`
        * `complete 11 b w1 q {}` → `"complete"`
            * event `ql:log` `{"jid":"b","event":"completed","queue":"q"}`
            * `ql:completed` −a, +b=`11`
            * `ql:j:a` deleted
            * `ql:j:a-history` deleted
            * `ql:j:b` expires=`0`, +failure=`{}`, queue=``, state=`complete`, time=`11.00000000000000000000`, worker=``
            * `ql:j:b-history` append `[11,"done"]`
            * `ql:q:q-locks` deleted
            * `ql:s:run:0:q` mean=`5`, +s9=`1`, total=`2`, vk=`32`
            * `ql:t:t` deleted
            * `ql:tags` deleted
            * `ql:w:w1:jobs` deleted
    "#]]);
}

#[test]
fn b16_config_pause_queues_workers_log() {
    check(expect![[r#"
        * `config.set 0 heartbeat 30` → nil
            * event `ql:log` `{"option":"heartbeat","event":"config_set","value":"30"}`
            * `ql:config` hash {heartbeat=`30`}
        * `config.get 0 heartbeat` → `"30"`
        * `config.get 0 grace-period` → :10
        * `config.get 0` → `{"application":"qless","grace-period":10,"heartbeat":"30","histogram-history":7,"jobs-history":604800,"jobs-history-count":50000,"stats-history":30}`
        * `config.unset 0 heartbeat` → nil
            * event `ql:log` `{"event":"config_unset","option":"heartbeat"}`
            * `ql:config` deleted
        * `pause 0 q` → nil
            * `ql:paused_queues` set {q}
        * `pop 1 q w1 1` → `{}`
        * `unpause 0 q` → nil
            * `ql:paused_queues` deleted
        * setup: `put 0 w0 q a K {} 0`; `pop 1 q w1 1`
        * `queues 2` → `[{"depends":0,"name":"q","paused":false,"recurring":0,"running":1,"scheduled":0,"stalled":0,"waiting":0}]`
        * `workers 2` → `[{"jobs":1,"name":"w1","stalled":0}]`
        * `workers 2 w1` → `{"jobs":["a"],"stalled":{}}`
        * `workers 100000 w1` → `{"jobs":{},"stalled":{}}`
            * `ql:w:w1:jobs` deleted
            * `ql:workers` deleted
        * `log 3.9 a note {"k":[1]}` → nil
            * `ql:j:a-history` append `[3,"note",{"k":[1]}]`
        * `worker.deregister 4 w1` → nil
        * `queue.forget 4 q` → nil
            * `ql:queues` deleted
        * `length 4 q` → :1
    "#]]);
}
