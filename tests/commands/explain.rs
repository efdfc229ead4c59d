//! `qless explain`, and the reasons that `get` and `pop` show.

use expect_test::expect;
use serde_json::{Value, json};

use crate::support::jobs::put_chain;
use crate::support::redis::Redis;
use crate::support::terminal;
use crate::support::text::{Shows, words};

/// All that a command writes on a terminal of 100 columns, without colors.
fn on_terminal(redis: &Redis, now: f64, line: &str) -> String {
    let host = format!("@{}", qless::internals::host_name());
    redis.on_terminal(now, line).replace(&host, "@HOST")
}

/// A part of what a command writes on a terminal with colors.
#[track_caller]
fn writes_in_color(redis: &Redis, now: f64, line: &str, part: &str) {
    let mut command = redis.at(now).env("TERM", "xterm").command();
    command.args(words(line)).env("QLESS_PAGER", "cat");
    let shown = terminal::run(command, 100).stdout();
    assert!(shown.contains(part), "{shown}");
}

/// The reasons, as `code blocking` or `code delaying`.
#[track_caller]
fn codes(redis: &Redis, now: f64, line: &str) -> Vec<String> {
    let doc = redis.json(now, &format!("explain {line} -o json"));
    let reasons = doc["reasons"].as_array().unwrap().iter();
    let code = |reason: &Value| {
        let how = if reason["blocking"] == true {
            "blocking"
        } else {
            "delaying"
        };
        format!("{} {how}", reason["code"].as_str().unwrap())
    };
    reasons.map(code).collect()
}

#[test]
fn a_pause_is_named_with_who_and_since_when() {
    let redis = Redis::start();
    redis.ok(1000, "put mail Mail::Welcome --jid welcome-42");
    let ann = redis.at(1010).env("USER", "ann");
    ann.run("pause mail --reason 'disk swap'").ok();
    let shown = |line: &str| on_terminal(&redis, 1070.0, line);
    shown("explain welcome-42").shows(expect![[r#"
        Mail::Welcome in mail is waiting and cannot run now

          ✗ the queue is paused  for 1m, "disk swap", by ann@HOST  qless unpause mail
    "#]]);
    let red = "  \x1b[31m✗\x1b[0m the queue is paused";
    writes_in_color(&redis, 1070.0, "explain welcome-42", red);
    let yellow = "blocked     \x1b[33mthe queue is paused for 1m";
    writes_in_color(&redis, 1070.0, "get welcome-42", yellow);
    shown("pop mail").shows(expect![[r#"
            nothing to pop from mail: the queue is paused for 1m, "disk swap", by ann@HOST
            hint: qless unpause mail
        "#]]);
    shown("explain --queue mail").shows(expect![[r#"
            no job can be popped from mail now
            1 waiting, the oldest wait is 1m 10s

              ✗ the queue is paused  for 1m, "disk swap", by ann@HOST  qless unpause mail
        "#]]);
    shown("get welcome-42").shows(expect![[r#"
            jid         welcome-42
            klass       Mail::Welcome
            queue       mail
            state       waiting    waits 1m 10s
            blocked     the queue is paused for 1m, "disk swap", by ann@HOST
            priority    0          higher runs first
            retries     5 of 5 remaining
            tags        –
            tracked     no
            depends on  –
            needed by   –
            data        {}

            history (1)
              1970-01-01 00:16:40  put  in mail
            hint: qless unpause mail
        "#]]);
    redis.session(expect![[r#"
        1070 $ qless explain welcome-42 -o json | jq -c '[.reasons[0].fix, .reasons[0].evidence.reason]'
        [["qless","unpause","mail"],"disk swap"]
    "#]]);
}

#[test]
fn each_state_has_its_reason() {
    let redis = Redis::start();
    for jid in ["failed", "complete", "running", "stalled"] {
        redis.ok(1000, &format!("put q K --jid {jid}"));
        redis.ok(1001, &format!("pop q --worker {jid}"));
    }
    redis.session(expect![[r#"
        1000 $ qless put q K --jid waiting &>/dev/null
        1000 $ qless put q K --jid later --delay 5m &>/dev/null
        1002 $ qless fail failed --group g --message m --worker failed
        1003 $ qless complete complete --worker complete
        complete
        1050 $ qless heartbeat running --worker running &>/dev/null
    "#]]);
    for (now, jid, code) in [
        (1004.0, "failed", "failed blocking"),
        (1004.0, "complete", "complete blocking"),
        (1004.0, "running", "running blocking"),
        (1100.0, "stalled", "stalled delaying"),
        (1004.0, "later", "scheduled blocking"),
    ] {
        assert_eq!(codes(&redis, now, jid), [code]);
    }
    assert_eq!(codes(&redis, 1004.0, "waiting"), [""; 0]);
    // The lock is extended once, for the holder.
    redis.session(expect![[r#"
        1100 $ qless pop q --worker other --count 5 &>/dev/null
        1101 $ qless explain failed complete running stalled later
        failed	failed	blocking	it failed: g: m, 1970-01-01T00:16:42.000Z	qless retry failed
        complete	complete	blocking	it is complete: 1970-01-01T00:16:43.000Z	qless retry --completed complete
        running	running	blocking	a worker runs it: running, popped 1970-01-01T00:16:41.000Z, lock expires 1970-01-01T00:18:30.000Z	qless timeout running
        stalled	grace	blocking	its lock expired and was extended once: stalled, popped 1970-01-01T00:18:20.000Z, lock expires 1970-01-01T00:18:30.000Z	qless timeout stalled
        later	scheduled	blocking	it is scheduled: due 1970-01-01T00:21:40.000Z	qless promote later
    "#]]);
}

#[test]
fn a_queue_says_that_the_next_pop_extends_an_expired_lock() {
    let redis = Redis::start();
    for jid in ["a", "b"] {
        redis.ok(1000, &format!("put q K --jid {jid}"));
    }
    redis.ok(1000, "pop q --worker gone --count 2");
    let of_locks = |now: u32| {
        let said = redis.ok(now, "explain --queue q");
        let mut lines = said.lines().filter(|line| line.contains("\tgrace\t"));
        lines.next().unwrap_or_default().to_owned()
    };
    assert_eq!(of_locks(1001), "");
    // A pop of one job extends one lock, and brings nothing.
    for _ in ["a", "b"] {
        assert_eq!(
            of_locks(1100),
            "q\tgrace\tblocking\tthe next pop extends 1 expired lock and warns the worker\tqless workers"
        );
        redis.at(1100).run("pop q --worker other").exits(4);
    }
    assert_eq!(of_locks(1101), "");
}

#[test]
fn jobs_ahead_and_concurrency_are_counted() {
    let redis = Redis::start();
    redis.ok(86_400, "config set q-max-concurrency 2");
    for jid in ["a", "b", "c", "d"] {
        redis.ok(86_500, &format!("put q K --jid {jid}"));
    }
    redis.ok(86_520, "pop q --count 2 --worker w1");
    assert_eq!(
        codes(&redis, 86_530.0, "b"),
        ["concurrency blocking"],
        "the last put is popped first: all have the same score"
    );
    on_terminal(&redis, 86_530.0, "explain a").shows(expect![[r#"
            K in q is waiting and cannot run now

              ✗ concurrency is used up  2 of 2 running, c (q, running on w1), d (q, running on w1)
                  qless config set q-max-concurrency N
              · 1 job is ahead of it 
                  qless priority --to=N a
              ✓ newest held lock was granted  10s ago
        "#]]);
    let green = "  \x1b[32m✓\x1b[0m newest held lock";
    writes_in_color(&redis, 86_530.0, "explain a", green);
    assert_eq!(
        codes(&redis, 86_530.0, "--queue q"),
        ["concurrency blocking"]
    );
}

#[test]
fn a_queue_without_a_worker_is_concluded_from_the_wait() {
    let redis = Redis::start();
    redis.ok(1000, "put q K --jid a");
    assert_eq!(codes(&redis, 1005.0, "a"), [""; 0]);
    assert_eq!(codes(&redis, 1011.0, "a"), ["no_consumer blocking"]);
    let story = redis.ok(1061, "get a");
    let said = "no worker has taken the next job yet: it has waited since 1970";
    assert!(story.contains(said), "{story}");
    // A worker was seen since, elsewhere. It may poll this queue seldom.
    redis.at(1020).run("pop other").exits(4);
    assert_eq!(codes(&redis, 1030.0, "a"), [""; 0]);
    assert_eq!(codes(&redis, 1061.0, "a"), ["no_consumer blocking"]);
    // A job that was scheduled has waited since it was due, not since it was put.
    redis.ok(1000, "put r K --jid b --delay 1h");
    redis.ok(4601, "queues r -o raw");
    assert_eq!(codes(&redis, 4605.0, "b"), [""; 0]);
}

#[test]
fn the_chain_of_dependencies_is_followed_to_its_end() {
    let redis = Redis::start();
    let put = |line: &str| redis.ok(1000, &format!("put q {line}"));
    put("Build --jid build");
    put("Docs --jid docs");
    put("Test --jid test --depends build");
    put("Deploy --jid deploy --depends test --depends docs");
    assert_eq!(codes(&redis, 1001.0, "deploy"), ["depends blocking"]);
    on_terminal(&redis, 1001.0, "explain deploy").shows(expect![[r#"
            Deploy in q depends on other jobs and cannot run now

              ✗ 2 jobs must be complete first  build (q, waiting), docs (q, waiting)  qless explain build
        "#]]);
    redis.ok(1002, "pop q --count 2");
    redis.ok(1003, "fail build --group oops --message boom");
    assert_eq!(
        codes(&redis, 1004.0, "deploy"),
        ["depends_failed blocking", "depends blocking"]
    );
    redis.session(expect![[r#"
        1004 $ qless explain deploy -o json | jq -c '[.reasons[0].fix, .reasons[0].evidence.roots[0].jid]'
        [["qless","retry","build"],"build"]
    "#]]);
    redis.send(&["DEL", "ql:j:build"]);
    assert_eq!(
        codes(&redis, 1005.0, "deploy"),
        ["depends_missing blocking", "depends blocking"]
    );
    redis.send(&["SADD", "ql:j:test-dependencies", "deploy"]);
    assert_eq!(
        codes(&redis, 1005.0, "deploy"),
        [
            "depends_cycle blocking",
            "depends_missing blocking",
            "depends blocking"
        ]
    );
    redis.send(&["DEL", "ql:j:test-dependencies"]);
    assert_eq!(codes(&redis, 1005.0, "test"), ["queue_broken blocking"]);
}

/// The end of the other job would not release it, so the usual wait is not the reason.
#[test]
fn a_dependency_that_does_not_list_its_dependent_is_named() {
    let redis = Redis::start();
    redis.ok(1000, "put ci K --jid build");
    redis.ok(1000, "put ci K --jid test --depends build");
    redis.ok(1000, "put ci K --jid deploy --depends test");
    assert_eq!(codes(&redis, 1001.0, "deploy"), ["depends blocking"]);
    redis.send(&["SREM", "ql:j:build-dependents", "test"]);
    redis.session(expect![[r#"
        1001 $ qless explain test
        test	depends_one_sided	blocking	1 job it depends on does not list it, and will not release it: build (ci, waiting)	qless check --repair --only=dependency-one-sided
        test	depends	blocking	1 job must be complete first: build (ci, waiting)	qless explain build
        test	next		build	
    "#]]);
    // Also at the end of a chain.
    let both = ["depends_one_sided blocking", "depends blocking"];
    assert_eq!(codes(&redis, 1001.0, "deploy"), both);
    redis.ok(1002, "check --repair --only dependency-one-sided --yes");
    assert_eq!(codes(&redis, 1003.0, "deploy"), ["depends blocking"]);
    // A job that does not list its dependency is in no queue.
    redis.send(&["SREM", "ql:j:test-dependencies", "build"]);
    redis.session(expect![[r#"
        1004 $ qless explain test
        test	queue_broken	blocking	no pop can find it	qless check --repair
        test	next		build	
        1004 $ qless check --repair --yes &>/dev/null
    "#]]);
    assert_eq!(codes(&redis, 1005.0, "test"), ["depends blocking"]);
}

#[test]
fn a_chain_of_thousands_is_followed_in_few_calls() {
    let redis = Redis::start();
    put_chain(&redis, 300);
    redis.session(expect![[r#"
        2 $ qless explain j299 -o json | jq -c .reasons[0].evidence.roots[0].jid
        "j0"
    "#]]);
}

#[test]
fn a_broken_queue_is_found() {
    let redis = Redis::start();
    redis.ok(1000, "put q K --jid a");
    redis.send(&["ZADD", "ql:q:q-work", "5", "nobody"]);
    assert_eq!(
        codes(&redis, 1001.0, "a"),
        ["queue_broken delaying", "ahead delaying"]
    );
    redis.send(&["DEL", "ql:q:q-work"]);
    assert_eq!(codes(&redis, 1001.0, "a"), ["queue_broken blocking"]);
    redis.send(&["ZREM", "ql:queues", "q"]);
    assert_eq!(codes(&redis, 1001.0, "a"), ["queue_broken blocking"]);
    redis.send(&["ZADD", "ql:queues", "1", "q"]);
    redis.ok(1000, "put q K --jid later --delay 1h");
    redis.send(&["ZREM", "ql:q:q-scheduled", "later"]);
    assert_eq!(codes(&redis, 1001.0, "later"), ["queue_broken blocking"]);
    redis.send(&["HSET", "ql:j:a", "data", "{nonsense"]);
    assert_eq!(
        codes(&redis, 1001.0, "a"),
        ["queue_broken blocking", "data_invalid delaying"]
    );
}

#[test]
fn a_recurring_job_that_nobody_polls_is_explained() {
    let redis = Redis::start();
    redis.ok(1000, "recur put q K --jid r --every 60s");
    let not_polled = "recurring_not_polled";
    let codes = |now, line| codes(&redis, now, line);
    assert_eq!(codes(1100.0, "r"), [format!("{not_polled} blocking")]);
    let of_queue = codes(1100.0, "--queue q");
    assert_eq!(of_queue, [format!("{not_polled} delaying")]);
    redis.ok(1100, "pop q --count 5");
    assert_eq!(codes(1101.0, "r"), ["scheduled blocking"]);
}

#[test]
fn a_paused_recurring_job_is_explained() {
    let redis = Redis::start();
    redis.ok(1000, "recur put r K --every 60s --jid rp");
    let pause = redis.at(1001).env("USER", "ann").run("recur pause rp");
    pause.ok();
    // Also when it is due.
    for now in [1002.0, 1100.0] {
        assert_eq!(codes(&redis, now, "rp"), ["recurring_paused blocking"]);
    }
    on_terminal(&redis, 1100.0, "explain rp").shows(expect![[r#"
        K in r is a recurring job

          ✗ it is paused  for 1m 39s, by ann@HOST  qless recur resume rp
    "#]]);
    redis.session(expect![[r#"
        1100 $ qless explain rp -o json | jq -c '[.runnable, .reasons[0].evidence.since, .reasons[0].fix]'
        [false,"1970-01-01T00:16:41.000Z",["qless","recur","resume","rp"]]
        1100 $ qless recur resume rp &>/dev/null
    "#]]);
    let resumed = codes(&redis, 1101.0, "rp");
    assert_eq!(resumed, ["recurring_not_polled blocking"]);
}

#[test]
fn tsv_names_the_job_that_a_pop_would_get_and_the_number_of_jobs_ahead() {
    Redis::start().session(expect![[r#"
        1000 $ qless put mail K --jid a &>/dev/null
        1001 $ qless explain a
        a	next		a	
        1001 $ qless explain --queue mail
        mail	next		a	
        1001 $ qless put mail K --jid b &>/dev/null
        1002 $ qless put mail K --jid c &>/dev/null
        1003 $ qless explain a c
        a	next		a	
        c	ahead	delaying	2 jobs are ahead of it	qless priority --to=N c
        c	next		a	
        1004 $ qless pop mail --count 3 &>/dev/null
        1004 $ qless explain --queue mail
    "#]]);
}

#[test]
fn a_queue_tells_why_it_hands_out_nothing() {
    let redis = Redis::start();
    redis.ok(1000, "put q K --jid a --delay 1h");
    redis.ok(1000, "put q K --jid b --depends a");
    assert_eq!(
        codes(&redis, 1001.0, "--queue q"),
        ["scheduled blocking", "depends blocking"]
    );
    on_terminal(&redis, 1001.0, "pop q").shows(expect![[r#"
            nothing to pop from q: 1 job is scheduled: the next is due in 59m 59s
            hint: qless jobs --queue=q --state=scheduled
        "#]]);
    on_terminal(&redis, 1001.0, "explain --queue q").shows(expect![[r#"
            no job can be popped from q now
            1 scheduled, 1 depends

              ✗ 1 job is scheduled          the next is due in 59m 59s  qless jobs --queue=q --state=scheduled
              ✗ 1 job waits for other jobs                              qless jobs --queue=q --state=depends
        "#]]);
    redis.ok(1000, "put q K --jid old --priority -5");
    redis.ok(1005, "put q K --jid new");
    // Nothing is promoted or popped.
    redis.session(expect![[r#"
        1008 $ qless explain --queue q -o json | jq -c '[.oldest_wait_s, .runnable, .counts.waiting]'
        [8,true,2]
        9999 $ qless --read-only explain a &>/dev/null
        1008 $ qless get a --field state
        scheduled
    "#]]);
}

#[test]
fn an_unknown_job_is_an_error_with_the_traces_that_are_left() {
    let redis = Redis::start();
    redis.session(expect![[r#"
        1000 $ qless explain nope
        --- stderr
        error: job `nope` does not exist
        hint: nothing is stored under the prefix `ql:` in `unix://DIR/s`
        --- exit 4
        1000 $ qless put q K --jid a --tag t &>/dev/null
        1000 $ qless put q K --jid b --depends a &>/dev/null
        1000 $ qless track a &>/dev/null
    "#]]);
    redis.send(&["DEL", "ql:j:a"]);
    redis.session(expect![[r#"
        1000 $ qless explain a
        --- stderr
        error: job `a` does not exist
        hint: traces are left: a history of 2 entries; it is tracked; it is in queue `q`; it has tag `t`; these depend on it: `b`
        --- exit 4
        1000 $ qless explain a b -o jid
        b
        --- stderr
        error: job `a` does not exist
        hint: traces are left: a history of 2 entries; it is tracked; it is in queue `q`; it has tag `t`; these depend on it: `b`
        --- exit 4
        1000 $ qless explain --queue nope
        --- stderr
        error: queue `nope` does not exist
        --- exit 4
        1000 $ qless explain &>/dev/null
        --- exit 2
        1000 $ qless explain a --queue q &>/dev/null
        --- exit 2
    "#]]);
}

/// The facts about a queue are read once for up to 200 jobs.
#[test]
fn many_jobs_are_explained_together() {
    let redis = Redis::start();
    let queue = |n: usize| format!("q{}", n % 3);
    let line = |n: usize| json!({"queue": queue(n), "klass": "K", "jid": format!("j{n}")});
    let lines: String = (0..250).map(|n| format!("{}\n", line(n))).collect();
    let run = |line: &str| redis.qless().input(&lines).run(line).ok();
    run("put --from - -q");
    run("pause q1");
    run("recur put q1 K --every 1d --jid r");
    let mut jids: Vec<String> = (0..250).map(|n| format!("j{n}")).collect();
    jids.insert(100, "r".to_owned());
    let before = redis.scripts_run();
    let explain = redis.qless().input(jids.join("\n"));
    let explained = explain.run("explain - -o ndjson").ok();
    // One call for the place of each job in its queue, and a few for each 200 jobs.
    let calls = redis.scripts_run() - before;
    assert!(calls < 265, "{calls}");
    assert_eq!(explained.lines().count(), 251);
    for (jid, line) in jids.iter().zip(explained.lines()) {
        let doc: Value = serde_json::from_str(line).unwrap();
        assert_eq!(doc["jid"], jid.as_str());
        let paused = doc["queue"] == "q1";
        assert_eq!(doc["runnable"], !paused, "{doc}");
    }
}

#[test]
fn a_job_that_waits_for_its_back_off_says_so() {
    let redis = Redis::start();
    for line in [
        r#"put w q lost K [] 0 retries 3 backoff '{"initial_delay":60,"factor":2}'"#,
        "put w q retried K [] 0 backoff fixed:90",
        "put w q asked K [] 0",
        "put w q later K [] 300",
        "pop q w1 3",
        "retry retried q w1",
        "retry asked q w1 200",
    ] {
        redis.ok(1000, &format!("api {line}"));
    }
    for now in [1061, 1072] {
        redis.ok(now, "api pop q w2 1");
    }
    let jids = ["lost", "retried", "asked", "later"];
    let shown = jids.map(|jid| on_terminal(&redis, 1080.0, &format!("explain {jid}")));
    shown.concat().shows(expect![[r#"
        K in q is scheduled and cannot run now

          ✗ its lock was lost, and it waits for its back-off  due in 1m 52s, 2 retries remaining
              qless promote lost
        K in q is scheduled and cannot run now

          ✗ it was retried, and waits for its back-off  due in 10s, 4 retries remaining
              qless promote retried
        K in q is scheduled and cannot run now

          ✗ it is scheduled to run again  due in 2m, 4 retries remaining  qless promote asked
        K in q is scheduled and cannot run now

          ✗ it is scheduled  due in 3m 40s  qless promote later
    "#]]);
    redis.session(expect![[r#"
        1080 $ qless explain lost -o json | jq -c '[.reasons[0].code, .reasons[0].evidence.remaining, .reasons[0].evidence.backoff]'
        ["scheduled",2,"lost_lock"]
    "#]]);
}

#[test]
fn jobs_that_a_throttle_will_hold_do_not_wait_for_it_before_a_pop() {
    let redis = Redis::start();
    for jid in ["a", "b"] {
        redis.ok(1000, &format!("put export K --jid {jid} --throttle s3"));
    }
    redis.ok(1000, "throttle set s3 -1");
    assert!(redis.ok(1000, "throttle show s3").contains("pending\t0"));
    redis.session(expect![[r#"
        1001 $ qless explain --queue export
        export	throttled	blocking	throttle s3 has no free slot: no job may run	qless throttle set s3 N
        1001 $ qless pop export
        --- exit 4
        1002 $ qless explain --queue export
        export	throttled	blocking	throttle s3 has no free slot: no job may run, 2 jobs wait for it	qless throttle set s3 N
    "#]]);
}

#[test]
fn what_is_said_of_a_pop_is_what_the_next_pop_does() {
    let redis = Redis::start();
    redis.ok(1000, "throttle set s3 -1");
    for jid in ["a", "b"] {
        let put = format!("put export K --jid {jid} --throttle s3");
        redis.ok(1000, &put);
    }
    let shown = |now: f64, line: &str| on_terminal(&redis, now, line);
    // No pop has held the jobs yet.
    shown(1001.0, "explain --queue export").shows(expect![[r#"
            no job can be popped from export now
            2 throttled, the oldest wait is 1s

              ✗ throttle s3 has no free slot  no job may run, 2 jobs wait for it  qless throttle set s3 N
        "#]]);
    shown(1001.0, "explain a").shows(expect![[r#"
        K in export is throttled and cannot run now

          ✗ throttle s3 has no free slot  no job may run, 2 jobs wait for it  qless throttle set s3 N
    "#]]);
    redis.at(1002).run("pop export").exits(4);
    shown(1002.0, "pop export").shows(expect![[r#"
        nothing to pop from export: throttle s3 has no free slot: no job may run, 2 jobs wait for it
        hint: qless throttle set s3 N
    "#]]);
    redis.ok(1003, "throttle set s3 1");
    shown(1783.0, "explain --queue export").shows(expect![[r#"
            a pop of export would get a
            1 waiting, 1 throttled, the oldest wait is 13m 3s

              ✗ no worker has taken the next job yet  it has waited for 13m 3s
                  qless workers
              · 1 job waits for a throttle; slots are free 
                  qless jobs --queue=export --state=throttled
        "#]]);
    shown(1783.0, "explain a").shows(expect![[r#"
            K in export is waiting; a pop would get it now

              ✗ no worker has taken the next job yet  it has waited for 13m 3s  qless workers
        "#]]);
    assert_eq!(
        redis.at(1783).run("pop export --worker w1 -o jid").stdout(),
        "a\n"
    );
    shown(1784.0, "explain b").shows(expect![[r#"
            K in export is throttled and cannot run now

              ✗ throttle s3 has no free slot  1 of 1 taken, 1 job waits for it, a (export, running on w1)
                  qless throttle show s3
              ✓ newest held lock was granted  1s ago
        "#]]);
}

#[test]
fn the_holders_of_a_full_queue_and_their_silence_are_named() {
    let redis = Redis::start();
    redis.ok(1000, "config set q-heartbeat 36000");
    redis.ok(1000, "config set q-max-concurrency 2");
    for jid in ["a", "b", "c"] {
        redis.ok(1000, &format!("put q K --jid {jid}"));
        if jid != "c" {
            redis.ok(1001, &format!("pop q --worker of-{jid}"));
        }
    }
    redis.ok(1100, "heartbeat b --worker of-b");
    let of_queue = redis.at(1150).run("explain --queue q");
    let expected = "q\tconcurrency\tblocking\tconcurrency is used up: 2 of 2 running, \
                    a (q, running on of-a, silent for 2m 29s), b (q, running on of-b)\t\
                    qless config set q-max-concurrency N";
    assert_eq!(of_queue.ok(), expected);
    let doc = redis.json(1150, "explain c -o json");
    let holder = &doc["reasons"][0]["evidence"]["roots"][0];
    assert_eq!(holder["worker"], "of-a");
    assert_eq!(holder["last_seen"], "1970-01-01T00:16:41.000Z");
    let of_job = |jid: &str| redis.ok(1150, &format!("explain {jid}"));
    assert!(
        of_job("a").contains(", silent for 2m 29s\t"),
        "{}",
        of_job("a")
    );
    assert!(!of_job("b").contains("silent"), "{}", of_job("b"));
}

/// The pop that would take or extend the lock does not come.
#[test]
fn stalled_jobs_that_no_worker_comes_for_have_no_consumer() {
    let redis = Redis::start();
    redis.ok(1000, "put q K --jid a");
    redis.ok(1000, "pop q --worker gone");
    let all = |now: f64| (codes(&redis, now, "a"), codes(&redis, now, "--queue q"));
    let (job, queue) = all(1065.0);
    assert_eq!(job, ["stalled delaying"]);
    assert_eq!(queue, ["grace blocking", "stalled delaying"]);
    let (job, queue) = all(1075.0);
    assert_eq!(job, ["no_consumer blocking", "stalled delaying"]);
    assert_eq!(
        queue,
        ["no_consumer blocking", "grace blocking", "stalled delaying"]
    );
    // A pop has extended the lock, and none came since that ended.
    redis.at(1080).run("pop q --worker other").exits(4);
    assert_eq!(all(1095.0).0, ["stalled delaying"]);
    assert_eq!(all(1151.0).0, ["no_consumer blocking", "stalled delaying"]);
}

/// The lock is long, so nothing proves that its worker is gone. But no worker comes for the next job.
#[test]
fn a_held_lock_does_not_hide_that_all_workers_are_silent() {
    let redis = Redis::start();
    redis.ok(1000, "config set q-heartbeat 864000");
    redis.ok(1000, "put q K --jid a");
    redis.ok(1001, "put q K --jid b");
    redis.ok(1002, "pop q --worker gone");
    assert_eq!(codes(&redis, 1100.0, "b"), [""; 0]);
    assert_eq!(codes(&redis, 1125.0, "b"), ["no_consumer delaying"]);
    on_terminal(&redis, 1302.0, "explain b").shows(expect![[r#"
            K in q is waiting; a pop would get it now

              · no worker has taken the next job yet  it has waited for 5m 1s, 1 job runs  qless workers
              ✓ newest held lock was granted          5m ago
        "#]]);
    redis.at(1300).run("pop other --worker alive").exits(4);
    assert_eq!(codes(&redis, 1302.0, "b"), [""; 0]);
}

#[test]
fn the_last_worker_stands_in_the_sentence_about_its_silence() {
    let redis = Redis::start();
    redis.ok(1000, "put q K --jid a");
    redis.ok(1000, "put q K --jid later --delay 1h");
    redis.ok(1000, "pop q --worker w");
    for (jid, expected) in [
        (
            "a",
            "\nblocked\tno worker has asked for a job for 1m 20s (last: w)\n",
        ),
        ("later", "\nstate\tscheduled\tin 58m 40s\n"),
    ] {
        let shown = redis.ok(1080, &format!("--time-format relative get {jid}"));
        assert!(shown.contains(expected), "{shown}");
    }
}
