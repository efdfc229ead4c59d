//! `qless check`

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use expect_test::expect;

use crate::support::jobs::{call, mixed};
use crate::support::redis::Redis;
use crate::support::text::Shows;

/// Jobs of two queues: one is running, one has a dependency.
fn healthy() -> Redis {
    let redis = Redis::start();
    let calls = [
        (100.0, "put me mail a1 K {} 0 tags [\"eu\"]"),
        (100.0, "put me mail a2 K {} 0 tags [\"eu\"]"),
        (100.0, "put me mail a3 K {} 0 tags [\"eu\"]"),
        (101.0, "put me mail b1 K {} 0 depends [\"a1\"]"),
        (102.0, "put me images r1 K {} 0"),
        (103.0, "pop images w1 1"),
    ];
    redis.calls(calls.map(|(now, line)| call(now, line)));
    redis
}

#[test]
fn a_healthy_database_is_clean() {
    for redis in [Redis::start(), healthy(), mixed()] {
        let ran = redis.at(110).run("check --skip queue-empty");
        assert_eq!(ran.stdout(), "");
        let printed = ran.stderr();
        assert!(
            printed.ends_with("s, no inconsistency in what was scanned\n"),
            "{printed}"
        );
    }
    healthy().at(110).run("check").shows(expect![[r#"
        --- stderr
        scanned 21 keys, 5 jobs, 2 queues in 0.0s, no inconsistency
    "#]]);
    healthy().at(110).run("check -o json").shows(expect![[r#"
            {
              "kind": "check",
              "v": 1,
              "keys": 21,
              "jobs": 5,
              "queues": 2,
              "elapsed_s": 0,
              "complete": true,
              "clean": true,
              "fail_on": "warn",
              "causes": [],
              "items": []
            }
            --- stderr
            scanned 21 keys, 5 jobs, 2 queues in 0.0s, no inconsistency
        "#]]);
    healthy()
        .at(110)
        .run("check -o ndjson -q")
        .shows(expect![[r#""#]]);
}

#[test]
fn a_job_deleted_by_hand_is_found_with_all_its_leftovers() {
    let redis = healthy();
    redis.send(&["DEL", "ql:j:a1"]);
    redis.session(expect![[r#"
        110 $ qless check --headers always
        SEVERITY	FINDING	COUNT	PROBLEM	EXAMPLES
        critical	ghost-waiting	1	id waits in a queue, the job does not exist	mail: a1
        error	dependency-missing	1	job depends on a job that does not exist	b1 needs a1
        warn	tag-index	1	tag's index disagrees with the tags of a job	eu: a1
        info	edges-orphan	1	dependencies of a job that does not exist	j:a1-dependents
        info	history-orphan	1	history of a job that does not exist	j:a1-history
        --- stderr
        scanned 20 keys, 4 jobs, 2 queues in 0.0s
        likely cause: keys of jobs were deleted (DEL) instead of the jobs: 1 history is left behind
        hint: show the plan: qless check --repair --dry-run
        --- exit 7
        110 $ qless check -o json --only dependency-missing
        {
          "kind": "check",
          "v": 1,
          "keys": 20,
          "jobs": 4,
          "queues": 2,
          "elapsed_s": 0,
          "complete": true,
          "clean": false,
          "fail_on": "warn",
          "causes": [],
          "items": [
            {
              "severity": "error",
              "finding": "dependency-missing",
              "count": 1,
              "at_least": false,
              "problem": "job depends on a job that does not exist",
              "invariants": [
                "I-10"
              ],
              "mends": 0,
              "asks": 1,
              "choices": [
                "if the other job is complete or not needed: `qless check --repair --only dependency-missing`",
                "for one job only: `qless depends JID --off=OTHER`",
                "if the other job was lost and must run first: `qless put QUEUE KLASS DATA --jid=OTHER`",
                "cancel the dependent: `qless cancel JID`"
              ],
              "examples": [
                {
                  "item": "b1",
                  "detail": "a1"
                }
              ]
            }
          ]
        }
        --- stderr
        scanned 20 keys, 4 jobs, 2 queues in 0.0s
        --- exit 7
        110 $ qless check -o ndjson --skip history-orphan,edges-orphan,tag-index -q
        {"severity":"critical","finding":"ghost-waiting","count":1,"at_least":false,"problem":"id waits in a queue, the job does not exist","invariants":["I-03"],"mends":1,"asks":0,"choices":[],"examples":[{"item":"a1","detail":"mail"}]}
        {"severity":"error","finding":"dependency-missing","count":1,"at_least":false,"problem":"job depends on a job that does not exist","invariants":["I-10"],"mends":0,"asks":1,"choices":["if the other job is complete or not needed: `qless check --repair --only dependency-missing`","for one job only: `qless depends JID --off=OTHER`","if the other job was lost and must run first: `qless put QUEUE KLASS DATA --jid=OTHER`","cancel the dependent: `qless cancel JID`"],"examples":[{"item":"b1","detail":"a1"}]}
        --- exit 7
    "#]]);
}

#[test]
fn findings_are_sorted_by_severity() {
    let redis = healthy();
    redis.send(&["DEL", "ql:q:images-locks"]);
    redis.send(&["ZADD", "ql:tags", "9", "eu"]);
    redis.send(&["HSET", "ql:j:a1", "tags", "{"]);
    redis.send(&["SET", "ql:f:odd", "x"]);
    redis.at(110).run("check").shows(expect![[r#"
        critical	key-type	1	key of a wrong type, or id with a reserved suffix	f:odd: is a string, not a list
        error	job-unreadable	1	field or history entry that does not parse	a1: tags
        error	running-without-lock	1	job runs without a lock, so it cannot time out	images: r1
        warn	tag-count	1	count of a tag in `tags` differs from its index	eu: 9, is 3
        info	queue-empty	1	queue is listed or paused, but empty	images: nothing in it
        --- stderr
        scanned 21 keys, 5 jobs, 2 queues in 0.0s
        likely cause: clients with the reference core use this database, too: its `tag` leaves tag-count
        hint: show the plan: qless check --repair --dry-run
        --- exit 7
    "#]]);
}

#[test]
fn unknown_finding_names_are_refused_with_the_nearest_known_one() {
    let redis = Redis::start();
    redis.session(expect![[r#"
        1 $ qless check --only ghost-waiting,goast-lock
        --- stderr
        error: `--only` expects the name of a finding, not `goast-lock`
        hint: did you mean `ghost-lock`?
        --- exit 2
        1 $ qless check --skip all
        --- stderr
        error: `--skip` expects the name of a finding, not `all`
        --- exit 2
        1 $ qless check --fail-on bad
        --- stderr
        error: `--fail-on` expects one of `critical`, `error`, `warn`, `info`, not `bad`
        --- exit 2
        1 $ qless check --queue none
        --- stderr
        error: queue `none` does not exist
        hint: nothing is stored under the prefix `ql:` in `unix://DIR/s`
        --- exit 4
    "#]]);
}

/// Severity, finding, count and examples of findings at or above `warn`.
fn rows(redis: &Redis, flags: &str) -> String {
    let columns = "--columns severity,finding,count,examples";
    redis
        .at(110)
        .run(&format!("check {columns} {flags}"))
        .stdout()
}

#[test]
fn a_problem_reached_by_two_paths_is_reported_once() {
    // In a queue that nothing lists: the job lacks its set, and the set reveals its queue.
    for (jid, home, elsewhere, score) in [
        ("a2", "mail-work", "odd-work", "0"),
        ("r1", "images-locks", "odd-locks", "163"),
    ] {
        let redis = healthy();
        redis.send(&["ZREM", &format!("ql:q:{home}"), jid]);
        redis.send(&["ZADD", &format!("ql:q:{elsewhere}"), score, jid]);
        let foreign = format!("error\tin-foreign-queue\t1\tq:{elsewhere}: {jid}\n");
        let unlisted = "warn\tqueue-unlisted\t1\todd\n";
        assert_eq!(rows(&redis, "--skip queue-empty"), foreign + unlisted);
        assert_eq!(rows(&redis, "--only running-without-lock,in-no-set"), "");
    }
}

#[test]
fn a_counter_is_only_compared_with_correct_lists() {
    let redis = healthy();
    redis.send(&["ZADD", "ql:t:eu", "1", "gone"]);
    redis.send(&["ZADD", "ql:tags", "9", "eu"]);
    rows(&redis, "--skip queue-empty").shows(expect![[r#"
        warn	tag-index	1	eu: gone
    "#]]);
    assert_eq!(rows(&redis, "--only tag-count"), "");
    let printed = redis.at(120).run("check --only tag-count").stderr();
    assert!(
        printed.contains("note: tag-count cannot be verified before other findings are repaired"),
        "{printed}"
    );
    assert!(!printed.contains("nothing"), "{printed}");
    let printed = redis.at(120).run("check --only ghost-lock").stderr();
    assert!(
        printed.ends_with(", no inconsistency in what was scanned\n"),
        "{printed}"
    );
    redis.send(&["ZREM", "ql:t:eu", "gone"]);
    rows(&redis, "--only tag-count").shows(expect![[r#"
        warn	tag-count	1	eu: 9, is 3
    "#]]);

    let redis = mixed();
    redis.send(&["HSET", "ql:s:stats:0:mail", "failed", "7"]);
    redis.send(&["LPUSH", "ql:f:boom", "gone"]);
    rows(&redis, "--skip queue-empty").shows(expect![[r#"
        critical	failed-stray	1	boom: gone
    "#]]);
    assert_eq!(rows(&redis, "--only failed-counter"), "");
    // The same without any counter.
    redis.send(&["DEL", "ql:s:stats:0:images"]);
    assert_eq!(rows(&redis, "--only failed-counter"), "");
    redis.send(&["HSET", "ql:s:stats:0:images", "failed", "1"]);
    redis.send(&["LREM", "ql:f:boom", "0", "gone"]);
    rows(&redis, "--only failed-counter").shows(expect![[r#"
        warn	failed-counter	1	s:stats:0:mail: 7, is 1
    "#]]);
}

#[test]
fn a_failed_counter_is_compared_although_a_failure_is_not_utf_8() {
    let redis = Redis::start();
    let worker = OsStr::from_bytes(b"\xfew");
    let args = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
    let at = |now: u32, mut words: Vec<OsString>| {
        words.push(worker.to_owned());
        redis.at(now).args(&words).exits(0);
    };
    redis.at(100).run("put mail K {} --jid m").exits(0);
    at(101, args("pop mail --worker"));
    at(102, args("fail m --group g --message no --worker"));
    assert_eq!(rows(&redis, "--skip queue-empty"), "");
    redis.send(&["HSET", "ql:s:stats:0:mail", "failed", "7"]);
    rows(&redis, "--only failed-counter").shows(expect![[r#"
        warn	failed-counter	1	s:stats:0:mail: 7, is 1
    "#]]);
    redis.send(&["HDEL", "ql:s:stats:0:mail", "failed"]);
    rows(&redis, "--only failed-counter").shows(expect![[r#"
        warn	failed-counter	1	s:stats:0:mail: none, is 1
    "#]]);
}

#[test]
fn a_history_field_that_cannot_be_read_is_critical_if_the_job_can_be_popped() {
    let redis = healthy();
    redis
        .at(100)
        .run("put later K {} --jid s --delay 1h")
        .exits(0);
    for jid in ["a1", "a3", "s"] {
        redis.send(&["HSET", &format!("ql:j:{jid}"), "history", "garbage"]);
    }
    rows(&redis, "--only job-unreadable").shows(expect![[r#"
        critical	job-unreadable	2	a1: field history of a waiting job, a3: field history of a waiting job
        error	job-unreadable	1	s: field history
    "#]]);
}

#[test]
fn severity_depends_on_the_key() {
    let redis = healthy();
    for jid in ["a1", "a3"] {
        redis.send(&["HSET", &format!("ql:j:{jid}"), "tags", "{"]);
    }
    rows(&redis, "--only job-unreadable").shows(expect![[r#"
        critical	job-unreadable	1	a3: tags
        error	job-unreadable	1	a1: tags
    "#]]);
    // No pop reads that set.
    let redis = healthy();
    redis.send(&["HSET", "ql:j:a3", "time", "junk"]);
    rows(&redis, "--only job-unreadable").shows(expect![[r#"
        error	job-unreadable	1	a3: time
    "#]]);
    let redis = mixed();
    redis.send(&["LPUSH", "ql:f:boom", "gone", "w"]);
    rows(&redis, "--only failed-stray").shows(expect![[r#"
        critical	failed-stray	1	boom: gone
        error	failed-stray	1	boom: w
    "#]]);
    let redis = healthy();
    redis.send(&["DEL", "ql:w:w1:jobs"]);
    rows(&redis, "--only worker-gap").shows(expect![[r#"
        warn	worker-gap	1	w1: r1
    "#]]);
    redis.send(&["DEL", "ql:workers"]);
    rows(&redis, "--only worker-gap").shows(expect![[r#"
        info	worker-gap	1	w1: r1
    "#]]);
    let redis = healthy();
    redis.send(&["HSET", "ql:config", "heartbeat", "-1", "grace-period", "x"]);
    rows(&redis, "--only config-value").shows(expect![[r#"
        critical	config-value	1	grace-period: is no number
    "#]]);
}

#[test]
fn a_recurring_job_is_reported_once_with_its_highest_count() {
    let redis = Redis::start();
    redis.ok(0, "recur put mail K --every 60s --jid r");
    for at in [60, 120, 180] {
        redis.ok(at, "pop mail");
    }
    redis.send(&["HSET", "ql:r:r", "count", "0"]);
    rows(&redis, "--only recurring-count").shows(expect![[r#"
        error	recurring-count	1	r: 2
    "#]]);
}

#[test]
fn max_examples_limits_the_examples_shown() {
    let redis = healthy();
    for n in 0..250 {
        redis.send(&["ZADD", "ql:q:mail-work", "0", &format!("ghost-{n:03}")]);
    }
    for (flag, shown) in [
        ("", "mail: ghost-000, ghost-001, ghost-002"),
        ("--max-examples 1", "mail: ghost-000"),
        ("--max-examples 0", ""),
    ] {
        assert_eq!(
            rows(&redis, &format!("--only ghost-waiting {flag}")),
            format!("critical\tghost-waiting\t250\t{shown}\n")
        );
    }
    let all = rows(&redis, "--only ghost-waiting --max-examples 1000");
    assert_eq!(all.matches("ghost-").count(), 251);
}

#[test]
fn control_characters_in_names_are_escaped() {
    let redis = healthy();
    redis.send(&["ZADD", "ql:q:m\x1b[31m\nx-work", "0", "-rf *\t\u{202e}"]);
    redis.send(&["SADD", "ql:failures", "a\tb"]);
    rows(&redis, "--skip queue-empty").shows(expect![[r#"
        critical	ghost-waiting	1	m\x1b[31m\nx: -rf *\t\u{202e}
        warn	group-set	1	a\tb: empty
        warn	queue-unlisted	1	m\x1b[31m\nx
    "#]]);
    redis.session(expect![[r#"
        110 $ qless check -o ndjson -q --only ghost-waiting
        {"severity":"critical","finding":"ghost-waiting","count":1,"at_least":false,"problem":"id waits in a queue, the job does not exist","invariants":["I-03"],"mends":1,"asks":0,"choices":[],"examples":[{"item":"-rf *\t\u202e","detail":"m\u001b[31m\nx"}]}
        --- exit 7
    "#]]);
    let mut zadd = redis::cmd("ZADD");
    zadd.arg(b"ql:q:\xff-work").arg("0").arg(b"\xfe");
    zadd.exec(&mut redis.connection()).unwrap();
    redis.session(expect![[r#"
        110 $ qless check -o ndjson -q --only ghost-waiting
        {"severity":"critical","finding":"ghost-waiting","count":2,"at_least":false,"problem":"id waits in a queue, the job does not exist","invariants":["I-03"],"mends":2,"asks":0,"choices":[],"examples":[{"item":"-rf *\t\u202e","detail":"m\u001b[31m\nx"},{"item":"\\xfe","item_bytes":"/g==","detail":"\\xff","detail_bytes":"/w=="}]}
        --- exit 7
    "#]]);
}

#[test]
fn likely_causes_are_reported() {
    let causes = |redis: &Redis| {
        let ran = redis.at(110).run("check -o json");
        let json: serde_json::Value = serde_json::from_slice(ran.bytes()).unwrap();
        let causes = json["causes"].as_array().unwrap().iter();
        let causes = causes.map(|cause| format!("{}\n", cause.as_str().unwrap()));
        causes.collect::<String>()
    };
    let redis = healthy();
    redis.send(&["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"]);
    // Nothing is lost yet.
    causes(&redis).shows(expect![[r#""#]]);
    redis.send(&["DEL", "ql:j:a1"]);
    causes(&redis).shows(expect![[r#"
        maxmemory-policy is allkeys-lru, so the server may delete parts of jobs
    "#]]);
    redis.send(&["CONFIG", "SET", "maxmemory-policy", "noeviction"]);
    causes(&redis).shows(expect![[r#"
        keys of jobs were deleted (DEL) instead of the jobs: 1 history is left behind
    "#]]);
    redis.send(&["EXPIRE", "ql:j:a2", "1000"]);
    causes(&redis).shows(expect![[r#"
        keys have an expiry, which no client of qless sets: look for EXPIRE in other programs that use this server
    "#]]);

    let redis = healthy();
    redis.send(&["ZADD", "ql:workers", "1795214400000", "w1"]);
    redis.send(&["ZADD", "ql:w:w2:jobs", "1", "a1"]);
    redis.send(&["ZADD", "ql:tags", "7", "eu"]);
    causes(&redis).shows(expect![[r#"
        a client writes times in milliseconds instead of seconds
        clients with the reference core use this database, too: its `timeout` leaves worker-stray, its `tag` leaves tag-count
    "#]]);

    // Deleted jobs leave the same traces.
    let redis = healthy();
    redis.send(&["ZADD", "ql:w:w2:jobs", "1", "a2"]);
    redis.send(&["ZADD", "ql:tags", "7", "eu"]);
    redis.send(&["DEL", "ql:j:a1"]);
    causes(&redis).shows(expect![[r#"
        keys of jobs were deleted (DEL) instead of the jobs: 1 history is left behind
    "#]]);
}

#[test]
fn an_eviction_policy_that_may_drop_keys_is_a_finding() {
    let redis = healthy();
    let policy = |policy: &str| redis.send(&["CONFIG", "SET", "maxmemory-policy", policy]);
    policy("allkeys-lru");
    rows(&redis, "").shows(expect![[r#"
        warn	server-evicts	1	maxmemory-policy: no limit yet, then allkeys-lru
    "#]]);
    redis.send(&["CONFIG", "SET", "maxmemory", "100mb"]);
    rows(&redis, "").shows(expect![[r#"
        error	server-evicts	1	maxmemory-policy: allkeys-lru
    "#]]);
    policy("volatile-ttl");
    rows(&redis, "").shows(expect![[r#"
        info	server-evicts	1	maxmemory-policy: volatile-ttl
    "#]]);
    assert_eq!(rows(&redis, "--queue mail"), "");
    policy("noeviction");
    assert_eq!(rows(&redis, ""), "");
}

#[test]
fn a_dependency_cycle_is_reported_with_its_whole_chain() {
    let redis = healthy();
    redis.ok(104, "put mail K {} --jid b2 --depends b1");
    redis.send(&["SADD", "ql:j:b1-dependencies", "b2"]);
    redis.send(&["SADD", "ql:j:b2-dependents", "b1"]);
    rows(&redis, "--skip queue-empty").shows(expect![[r#"
        error	dependency-cycle	1	b1 needs b2 needs b1
    "#]]);
    let redis = healthy();
    redis.send(&["SADD", "ql:j:b1-dependencies", "b1"]);
    redis.send(&["SADD", "ql:j:b1-dependents", "b1"]);
    rows(&redis, "--skip queue-empty").shows(expect![[r#"
        error	dependency-cycle	1	b1 needs b1
    "#]]);
}

#[test]
fn each_edge_of_a_cycle_may_be_cut() {
    let redis = Redis::start();
    for args in [
        &["put", "mail", "K", "--jid", "it's x"][..],
        &["put", "mail", "K", "--jid=-y", "--depends", "it's x"],
    ] {
        redis.at(100).args(args).ok();
    }
    redis.send(&["HSET", "ql:j:it's x", "state", "depends"]);
    redis.send(&["ZREM", "ql:q:mail-work", "it's x"]);
    redis.send(&["ZADD", "ql:q:mail-depends", "100", "it's x"]);
    redis.send(&["SADD", "ql:j:it's x-dependencies", "-y"]);
    redis.send(&["SADD", "ql:j:-y-dependents", "it's x"]);
    let printed = redis.at(200).run("check").stderr();
    let cuts = [
        "qless depends --off=-y 'it'\\''s x'",
        "qless depends --off='it'\\''s x' -- -y",
    ];
    let document = redis.at(200).run("check -o json").stdout();
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    let choices = document["items"][0]["choices"].to_string();
    for cut in cuts {
        assert!(printed.contains(&format!(": {cut}\n")), "{printed}");
        assert!(choices.contains(&cut.replace('\\', "\\\\")), "{choices}");
    }
    assert_eq!(printed.matches("--off").count(), 2, "{printed}");
    let none = redis.at(200).run("check --max-examples 0").stderr();
    assert!(!none.contains("--off"), "{none}");
    redis
        .at(200)
        .args(["depends", "--off=-y", "--", "it's x"])
        .ok();
    redis.at(200).run("check").exits(0);
}

#[test]
fn a_lost_set_is_rebuilt_from_every_key_that_mentions_it() {
    let redis = healthy();
    redis.ok(104, "depends b1 --on a2");
    redis.send(&["DEL", "ql:j:b1-dependencies"]);
    rows(&redis, "--skip queue-empty").shows(expect![[r#"
        error	dependency-one-sided	2	b1 needs a1, b1 needs a2
    "#]]);
    redis.send(&["DEL", "ql:j:a1-dependents", "ql:j:a2-dependents"]);
    rows(&redis, "--skip queue-empty").shows(expect![[r#"
        error	depends-on-nothing	1	b1
    "#]]);
}

#[test]
fn a_terminal_shows_a_table_and_the_next_command() {
    let redis = healthy();
    let on_terminal = |line: &str, columns: u16| {
        let mut command = redis
            .at(110)
            .env("TERM", "dumb")
            .env("PAGER", "cat")
            .command();
        command.args(crate::support::text::words(line));
        crate::support::terminal::run(command, columns).stdout()
    };
    on_terminal("check", 110).shows(expect![[r#"
        scanned 21 keys, 5 jobs, 2 queues in 0.0s, no inconsistency
    "#]]);
    redis.send(&["DEL", "ql:j:a1"]);
    on_terminal("check --queue mail", 110).shows(expect![[r#"
        scanned 20 keys, 4 jobs, 1 queue in 0.0s

        SEVERITY  FINDING             COUNT  PROBLEM                                      EXAMPLES
        critical  ghost-waiting           1  id waits in a queue, the job does not exist  mail: a1
        error     dependency-missing      1  job depends on a job that does not exist     b1 needs a1
        hint: show the plan: qless check --queue=mail --repair --dry-run
    "#]]);
    on_terminal(
        "check --only dependency-missing,tag-index",
        60,
    ).shows(expect![[r#"
        scanned 20 keys, 4 jobs, 2 queues in 0.0s

        SEVERITY  FINDING             PROBLEM
        error     dependency-missing  job depends on a job that doe…
        warn      tag-index           tag's index disagrees with th…
        hint: show the plan: qless check --only=dependency-missing --only=tag-index --repair --dry-run
    "#]]);
    on_terminal("check --only dependency-missing", 110).shows(expect![[r#"
        scanned 20 keys, 4 jobs, 2 queues in 0.0s

        SEVERITY  FINDING             COUNT  PROBLEM                                   EXAMPLES
        error     dependency-missing      1  job depends on a job that does not exist  b1 needs a1
        hint: show the plan: qless check --only=dependency-missing --repair --dry-run
    "#]]);
    on_terminal("check --only ghost-waiting -q", 110).shows(expect![[r#"
        SEVERITY  FINDING        COUNT  PROBLEM                                      EXAMPLES
        critical  ghost-waiting      1  id waits in a queue, the job does not exist  mail: a1
    "#]]);
}

#[test]
fn keys_set_aside_by_a_repair_are_reported_with_age_and_size() {
    let redis = healthy();
    redis.send(&["DEL", "ql:j:a1"]);
    let aside = redis
        .at(110)
        .run("check --repair --only history-orphan --yes -q");
    aside.exits(0);
    let printed = redis
        .at(7310)
        .run("check --only lost-key --columns severity,finding,examples");
    let printed = printed.stdout();
    assert!(
        printed.starts_with("info\tlost-key\tlost:19700101T000150-"),
        "{printed}"
    );
    assert!(
        printed.ends_with(":j:a1-history: list of 1, 2h old\n"),
        "{printed}"
    );
}

#[test]
fn large_jobs_are_verified_alone_and_expensive_ones_in_small_slices() {
    let redis = Redis::start();
    let data = format!("{{\"x\":\"{}\"}}", "y".repeat(300_000));
    let put =
        |n: usize| ["put", "me", "mail", &format!("j{n:02}"), "K", &data, "0"].map(String::from);
    redis.calls((0..40).map(|n| (100.0, put(n).to_vec())));
    redis.send(&["DEL", "ql:q:mail-work"]);
    redis.send(&["CONFIG", "RESETSTAT"]);
    let printed = rows(&redis, "--only in-no-set");
    assert_eq!(printed, "error\tin-no-set\t40\tmail: j00, j01, j02\n");
    assert!(redis.scripts_run() >= 40);
}

#[test]
fn a_cycle_too_long_for_one_call_is_reported() {
    let redis = Redis::start();
    let lines: String = (0..250)
        .map(|n| match n {
            0 => "{\"queue\":\"q\",\"klass\":\"K\",\"jid\":\"z\"}\n{\"queue\":\"q\",\"klass\":\"K\",\"jid\":\"c0\",\"depends\":[\"z\"]}\n".to_owned(),
            n => format!("{{\"queue\":\"q\",\"klass\":\"K\",\"jid\":\"c{n}\",\"depends\":[\"c{}\"]}}\n", n - 1),
        })
        .collect();
    redis.at(100).input(lines).run("put --from -").ok();
    redis.send(&["SADD", "ql:j:c0-dependencies", "c249"]);
    redis.send(&["SADD", "ql:j:c249-dependents", "c0"]);
    let printed = redis.at(200).run("check --fail-on info");
    assert_eq!(printed.code(), 7);
    assert!(
        printed.stdout().contains("a cycle of 250 jobs"),
        "{}",
        printed.stdout()
    );
}

#[test]
fn the_rate_limits_index_reads_and_verdicts() {
    let redis = Redis::start();
    redis.ok(9, "put mail K --jid stays");
    let mut pipe = redis::pipe();
    for number in 0..500 {
        let jid = format!("ghost-{number}");
        pipe.cmd("ZADD").arg("ql:q:mail-work").arg(0).arg(jid);
    }
    pipe.exec(&mut redis.connection()).unwrap();
    let took = |flags: &str| {
        let begun = std::time::Instant::now();
        redis.at(9).run(&format!("check {flags}")).exits(7);
        begun.elapsed().as_secs_f64()
    };
    // 500 ids are read, read again by name, and verified: the run waits for all but the last tenth
    // of a second. The keys alone would be five.
    let slow = took("--rate 1000/s");
    assert!(slow > 1.35, "{slow}");
    // Every verified finding is reported, whatever the rate.
    let printed = redis.at(9).run("check --rate 100000/s").stdout();
    assert!(printed.contains("ghost-waiting\t500\t"), "{printed}");
}

#[test]
fn a_revert_writes_no_undo_file() {
    let redis = Redis::start();
    let ran = redis.qless().run("check --revert a --undo b --yes");
    ran.says("cannot be used with");
    ran.exits(2);
}

#[test]
fn the_hint_to_the_plan_repeats_no_flag() {
    let redis = healthy();
    redis.send(&["ZADD", "ql:q:mail-work", "1", "ghost"]);
    let printed = redis.at(120).run("check --dry-run").stderr();
    assert!(
        printed.ends_with("show the plan: qless check --dry-run --repair\n"),
        "{printed}"
    );
}

/// The line of the recipe for cron: what it prints is sent.
#[test]
fn with_quiet_nothing_below_fail_on_is_printed() {
    let redis = Redis::start();
    redis.send(&["HSET", "ql:lost:r0:j:old", "state", "waiting"]);
    let quiet = |flags: &str| redis.at(110).run(&format!("check -q {flags}"));
    let none = quiet("--fail-on error").exits(0);
    assert_eq!(
        (none.stdout(), none.stderr()),
        (String::new(), String::new())
    );
    let document = quiet("--fail-on error -o json").json();
    assert_eq!(document["items"][0]["finding"], "lost-key");

    redis.send(&["ZADD", "ql:q:mail-work", "5", "ghost"]);
    let some = quiet("--fail-on error").exits(7);
    assert!(!some.stdout().contains("lost-key"), "{}", some.stdout());
    assert!(some.stdout().contains("ghost"), "{}", some.stdout());
    let all = quiet("--fail-on info").exits(7).stdout();
    assert!(all.contains("lost-key") && all.contains("ghost"), "{all}");
}

#[test]
fn progress_never_runs_backwards_and_its_total_stays() {
    let redis = Redis::start();
    let lines: String = (0..60).map(|n| format!("{{\"jid\":\"j{n}\"}}\n")).collect();
    redis.at(1).input(lines).run("put mail K --from -").ok();
    redis.ok(1, "put mail K --jid b1 --depends j1");
    // One side of a dependency: all keys are scanned a second time.
    redis.send(&["SREM", "ql:j:j1-dependents", "b1"]);
    let mut command = redis.at(110).env("TERM", "xterm").command();
    command.args(["check", "--repair", "--yes", "--rate", "100/s"]);
    let shown = crate::support::terminal::run(command, 110).stdout();
    let mut last: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for frame in shown.split('\r').filter(|frame| frame.contains("/s  ")) {
        let frame = frame.rsplit('\n').next().unwrap().replace("\u{1b}[2K", "");
        let (title, bar) = frame.trim_start().split_once(['█', '░', '\u{1b}']).unwrap();
        let count = bar
            .split_whitespace()
            .find(|word| word.contains('/') && !word.ends_with("/s"));
        let (done, total) = count.unwrap().split_once('/').unwrap();
        let now = (done.parse().unwrap(), total.parse().unwrap());
        let before = last.insert(title.to_owned(), now).unwrap_or((0, now.1));
        assert!(
            before.0 <= now.0 && before.1 == now.1,
            "{before:?} then {frame}"
        );
    }
    let titles: Vec<&str> = last.keys().map(|title| title.trim()).collect();
    assert_eq!(titles, ["scan", "scan 2"], "{shown}");
    assert!(shown.contains("pass 2: "), "{shown}");
}
