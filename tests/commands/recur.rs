//! `qless recur`

use expect_test::expect;

use crate::support::redis::Redis;
use crate::support::terminal;

fn templates() -> Redis {
    let redis = Redis::start();
    let api = |now: f64, line: &str| redis.ok(now, &format!("api {line}"));
    api(0.0, "recur web warm Warm {} interval 300 60");
    api(
        0.0,
        r#"recur reports nightly Nightly '{"n":1.10}' interval 86400 11620 tags '["a"]' backlog 1 priority 5"#,
    );
    redis
}

#[test]
fn templates_are_listed_by_queue() {
    let redis = templates();
    redis.session(expect![[r#"
        100 $ qless recur list --headers always --time-format relative
        JID	QUEUE	KLASS	EVERY	NEXT	SPAWNED	BACKLOG	OWED
        nightly	reports	Nightly	1d	in 3h 12m	0	1	0
        warm	web	Warm	5m	due 40s ago	0	all	1
        100 $ qless recur list reports -o json
        {
          "kind": "recurring-jobs",
          "v": 1,
          "total": 1,
          "offset": 0,
          "items": [
            {
              "jid": "nightly",
              "klass": "Nightly",
              "queue": "reports",
              "every_s": 86400,
              "next": "1970-01-01T03:13:40.000Z",
              "backlog": 1,
              "count": 0,
              "priority": 5,
              "retries": 0,
              "tags": [
                "a"
              ],
              "data": {"n":1.10}
            }
          ]
        }
        100 $ qless recur list -o jid
        nightly
        warm
        100 $ qless recur list reprts
        --- stderr
        error: queue `reprts` does not exist
        hint: did you mean `reports`?
        --- exit 4
    "#]]);
}

#[test]
fn recur_show_prints_one_document() {
    let redis = templates();
    redis.session(expect![[r#"
        100 $ qless recur get nightly -o json | jq -c
        {"kind":"recurring","v":1,"jid":"nightly","klass":"Nightly","queue":"reports","every_s":86400,"next":"1970-01-01T03:13:40.000Z","backlog":1,"count":0,"priority":5,"retries":0,"tags":["a"],"data":{"n":1.10}}
        100 $ qless recur get nightly
        jid	nightly
        klass	Nightly
        queue	reports
        state	recurring
        every	1d
        next	1970-01-01T03:13:40.000Z
        spawned	0
        backlog	1
        priority	5	higher runs first
        retries	0
        tags	a
        data	{"n":1.10}
    "#]]);
    let list = redis.json(100, "recur get nightly warm -o json");
    assert_eq!(
        (list["kind"].as_str(), list["total"].as_u64()),
        (Some("recurring-jobs"), Some(2))
    );
}

#[test]
fn an_unknown_template_is_not_found() {
    let redis = templates();
    redis.session(expect![[r#"
        100 $ qless recur get nope
        --- stderr
        error: recurring job `nope` does not exist
        --- exit 4
        100 $ qless recur get warm nope also -o jid
        warm
        --- stderr
        error: recurring jobs do not exist: `nope`, `also`
        --- exit 4
    "#]]);
}

#[test]
fn raw_prints_the_reply_of_recur() {
    let redis = templates();
    let printed = redis.at(100).run("api recur.get warm").stdout();
    assert_eq!(redis.at(100).run("recur get warm -o raw").stdout(), printed);
    redis.at(100).run("recur list -o raw").exits(2);
}

#[test]
fn a_template_is_put() {
    let redis = Redis::start();
    redis.session(expect![[r#"
        100 $ qless recur put reports Nightly --every 1d --at 03:00 --jid nightly --tag a --arg n:=1.10
        nightly
        --- stderr
        next runs: 1970-01-01T03:00:00.000Z, 1970-01-02T03:00:00.000Z, 1970-01-03T03:00:00.000Z
        100 $ qless recur get nightly -o json | jq -c
        {"kind":"recurring","v":1,"jid":"nightly","klass":"Nightly","queue":"reports","every_s":86400,"next":"1970-01-01T03:00:00.000Z","backlog":0,"count":0,"priority":0,"retries":5,"tags":["a"],"data":{"n":1.10}}
        100 $ qless recur put reports Nightly --every 1d --at 03:00 --jid nightly --tag a --arg n:=1.10
        --- stderr
        error: cannot put `nightly`: a recurring job of this id exists already
        hint: `--if-absent` leaves it as it is, `--replace` replaces it
        --- exit 5
        100 $ qless recur put reports Nightly --every 1d --at 03:00 --jid nightly --tag a --arg n:=1.10 --if-absent -o json | jq -c
        {"kind":"done","v":1,"action":"recur put","targets":["nightly"]}
        100 $ qless recur put reports Nightly --every 1d --at 03:00 --jid nightly --tag a --arg n:=1.10 --replace --offset 5m &>/dev/null
        --- exit 2
        100 $ qless recur put web Warm --every 5m --offset 60s --jid nightly --replace --backlog 2
        nightly
        100 $ qless recur list
        nightly	web	Warm	5m	1970-01-01T00:02:40.000Z	0	2	0
    "#]]);
    let fresh = redis.ok(100, "recur put web Warm --every 90s");
    assert_eq!(fresh.len(), 32);
    redis.session(expect![[r#"
        100 $ qless recur put web Warm --every 5m -n
        --- stderr
        would put a recurring job in web, every 5m
        next runs: 1970-01-01T00:01:40.000Z, 1970-01-01T00:06:40.000Z, 1970-01-01T00:11:40.000Z
    "#]]);
}

/// Its jobs never get the jid of an earlier one.
#[test]
fn a_paused_template_is_replaced_and_stays_paused() {
    let redis = Redis::start();
    let run = |now: u32, line: &str| redis.at(now).run(line);
    run(100, "recur put web Warm --every 5m --jid warm").ok();
    assert_eq!(run(101, "pop web -o jid").ok(), "warm-1");
    run(110, "recur pause warm --reason 'disk swap'").ok();
    let line = "recur put site Hot --every 10m --jid warm --replace";
    run(120, &format!("{line} -n")).shows(expect![[r#"
        --- stderr
        note: queue `site` is new
        would put warm in site, every 10m, which stays paused
    "#]]);
    run(120, line).shows(expect![[r#"
        warm
        --- stderr
        put warm in site, every 10m, which stays paused
    "#]]);
    run(120, "recur list").shows(expect![[r#"
        warm	site	Hot	10m	paused	1	all	0
    "#]]);
    let document = run(120, "get warm -o json").json();
    assert_eq!(document["paused_since"], "1970-01-01T00:01:50.000Z");
    assert_eq!(document["paused_reason"], "disk swap");
    assert_eq!(document["count"], 1);
    run(130, "pop site").exits(4);
    run(140, "recur resume warm").ok();
    assert_eq!(run(9000, "pop site -o jid").ok(), "warm-2");
    redis.must_be_clean();
}

#[test]
fn an_invalid_template_is_refused() {
    let redis = Redis::start();
    redis.session(expect![[r#"
        0 $ qless recur put web Warm
        --- stderr
        error: `--every` or `--at` is missing
        hint: `--at 03:00` means daily, `--at :30` hourly, `--at 'mon 03:00'` weekly
        --- exit 2
        0 $ qless recur put web Warm --every 0
        --- stderr
        error: `--every` expects at least 1ms, not `0`
        --- exit 2
        0 $ qless recur put web Warm --every -5 &>/dev/null
        --- exit 2
        0 $ qless recur put web Warm --every 5m '{' &>/dev/null
        --- exit 2
        0 $ qless recur put '' Warm --every 5m &>/dev/null
        --- exit 2
        0 $ qless recur put web Warm --every 5m --jid a-history &>/dev/null
        --- exit 2
    "#]]);
    assert_eq!(redis.ok(0, "recur list"), "");
}

#[test]
fn a_template_is_changed() {
    let redis = templates();
    redis.session(expect![[r#"
        100 $ qless recur set nightly --every 12h --priority -5 --queue late --klass N --retries 1
        100 $ qless recur set nightly --backlog 3 --data '[1]' -o json | jq -c
        {"kind":"done","v":1,"action":"recur set","targets":["nightly"],"next_runs":["1969-12-31T15:13:40.000Z","1970-01-01T03:13:40.000Z","1970-01-01T15:13:40.000Z"]}
        100 $ qless recur get nightly -o json | jq -c
        {"kind":"recurring","v":1,"jid":"nightly","klass":"N","queue":"late","every_s":43200,"next":"1969-12-31T15:13:40.000Z","backlog":3,"count":0,"priority":-5,"retries":1,"tags":["a"],"data":[1]}
        100 $ qless recur set nightly
        --- stderr
        error: no change is given
        hint: `qless recur set --help` lists what can be changed
        --- exit 2
        100 $ qless recur set nope --priority 1
        --- stderr
        error: recurring job `nope` does not exist
        --- exit 4
        100 $ qless recur set nightly --every 0 &>/dev/null
        --- exit 2
        100 $ qless recur set nightly --priority 9 -n
        --- stderr
        would change nightly
    "#]]);
}

#[test]
fn a_template_is_tagged() {
    let redis = templates();
    redis.session(expect![[r#"
        100 $ qless recur tag nightly --add b --remove a
        nightly	b
        100 $ qless recur tag nightly --add c -o raw
        ["b","c"]
        100 $ qless recur tag nightly &>/dev/null
        --- exit 2
        100 $ qless recur tag nope --add c
        --- stderr
        error: recurring job `nope` does not exist
        --- exit 4
    "#]]);
}

#[test]
fn recur_run_puts_a_copy_immediately() {
    let redis = templates();
    let jid = redis.ok(100, "recur run nightly");
    let job = redis.json(101, &format!("get {jid} -o json"));
    assert_eq!(job["queue"], "reports");
    assert_eq!(job["klass"], "Nightly");
    assert_eq!(job["spawned_from"], "nightly");
    assert_eq!(job["priority"], 5);
    assert_eq!(job["tags"], serde_json::json!(["a"]));
    assert_eq!(redis.ok(101, &format!("get {jid} --data")), r#"{"n":1.10}"#);
    redis.at(101).run("recur run nope").shows(expect![[r#"
        --- stderr
        error: recurring job `nope` does not exist
        --- exit 4
    "#]]);
    redis.at(101).run("recur run nightly -n").exits(0);
    assert_eq!(redis.ok(101, "jobs --queue reports -o jid"), jid);
}

#[test]
fn recur_run_prints_the_job_that_took_the_put() {
    let redis = Redis::start();
    let run = |now: u32, jid: &str| redis.json(now, &format!("recur run {jid} -o json"));
    let jobs = |queue: &str| redis.ok(90, &format!("jobs --queue {queue} -o jid"));
    redis.session(expect![[r#"
        10 $ qless recur put r K --every 1h --no-overlap --jid no &>/dev/null
        11 $ qless pop r --worker w -o jid
        no-1
        12 $ qless recur run no
        no-1
        13 $ qless recur run no -o json | jq -c
        {"kind":"put","v":1,"jid":"no-1","queue":"r","state":"running","created":false,"new":false}
        14 $ qless recur run no -n
        --- stderr
        would put nothing: no-1 is in r, running
    "#]]);
    assert_eq!(jobs("r"), "no-1");

    redis.ok(
        20,
        "recur put m K --every 1h --offset 1h --key k --merge --jid merging",
    );
    let first = run(21, "merging");
    assert_eq!(
        (&first["created"], &first["new"]),
        (&true.into(), &true.into())
    );
    let second = run(22, "merging");
    assert_eq!(
        (
            &second["jid"],
            &second["state"],
            &second["created"],
            &second["new"]
        ),
        (
            &first["jid"],
            &"waiting".into(),
            &false.into(),
            &false.into()
        )
    );
    assert_eq!(jobs("m"), first["jid"].as_str().unwrap());

    redis.ok(
        30,
        "recur put p K --every 1h --offset 1h --key k --dup replace --jid replacing",
    );
    let first = run(31, "replacing");
    let second = run(32, "replacing");
    assert_eq!(
        (&second["jid"], &second["created"], &second["new"]),
        (&first["jid"], &false.into(), &false.into())
    );

    // Behind another job, it is a new one.
    redis.ok(
        40,
        "recur put b K --every 1h --offset 1h --key k --jid behind",
    );
    let first = run(41, "behind");
    let second = run(42, "behind");
    assert_eq!(second["queued_behind"], first["jid"]);
    assert_eq!(
        (&second["state"], &second["new"]),
        (&"depends".into(), &true.into())
    );
}

#[test]
fn no_overlap_replaces_an_older_uniqueness() {
    let redis = Redis::start();
    for (now, line) in [
        (10, "recur put q K --every 1h --jid rm --backoff fixed:5"),
        (11, "recur set rm --key z --unique=start --ttl 3m"),
    ] {
        redis.ok(now, line);
    }
    redis.ok(12, "recur set rm --no-overlap");
    assert_eq!(
        redis.json(13, "recur get rm -o json")["options"],
        serde_json::json!({"key": "rm", "dup": "skip", "backoff": "fixed:5"})
    );
    assert_eq!(redis.ok(14, "pop q --worker w -o jid"), "rm-1");
    // The first job runs, so no second one is put.
    assert_eq!(redis.ok(8_000, "recur run rm"), "rm-1");
    // After its end, no window holds the next one back.
    redis.ok(8_001, "complete rm-1 --worker w");
    let job = redis.json(8_002, "recur run rm -o json");
    assert_eq!(job["new"], true);
    // A `ttl` that is given with it stays.
    redis.ok(8_003, "recur set rm --no-overlap --ttl 5m");
    assert_eq!(
        redis.json(8_004, "recur get rm -o json")["options"]["ttl"],
        300
    );
    redis
        .at(8_005)
        .run("recur set rm --no-overlap --until start")
        .exits(2);
}

#[test]
fn templates_are_removed() {
    let redis = templates();
    redis.session(expect![[r#"
        100 $ qless recur rm nightly warm
        --- stderr
        error: cannot ask whether to remove 2 recurring jobs; nothing was changed
        hint: add `--yes`
        --- exit 9
        100 $ qless recur rm nightly nope --yes
        --- stderr
        error: recurring job `nope` does not exist; nothing was changed
        --- exit 4
        100 $ qless recur rm nightly -n
        --- stderr
        would remove nightly
        100 $ qless recur rm nightly -o json | jq -c
        {"kind":"done","v":1,"action":"recur rm","targets":["nightly"]}
        100 $ qless recur rm nightly &>/dev/null
        --- exit 4
        100 $ qless recur rm warm
    "#]]);
    assert_eq!(redis.ok(101, "recur list"), "");
}

#[test]
fn a_recurring_job_runs_at_a_minute_or_a_time_of_day() {
    let redis = Redis::start();
    let at = 86_400 + 6 * 3600 + 600;
    redis
        .at(at)
        .run("recur put reports Half --every 1h --at :30 --jid half --dry-run")
        .shows(expect![[r#"
            --- stderr
            note: queue `reports` is new
            would put half in reports, every 1h
            next runs: 1970-01-02T06:30:00.000Z, 1970-01-02T07:30:00.000Z, 1970-01-02T08:30:00.000Z
        "#]]);
    redis
        .at(at)
        .run("recur put reports Half --every 1h --at :30 --jid half")
        .shows(expect![[r#"
            half
            --- stderr
            next runs: 1970-01-02T06:30:00.000Z, 1970-01-02T07:30:00.000Z, 1970-01-02T08:30:00.000Z
        "#]]);
    assert_eq!(
        redis.json(at, "recur get half -o json")["next"],
        "1970-01-02T06:30:00.000Z"
    );
    redis
        .at(at)
        .run("recur put reports Nightly --every 1d --at 03:00 --jid nightly -o json")
        .shows(expect![[r#"
            {
              "kind": "done",
              "v": 1,
              "action": "recur put",
              "targets": [
                "nightly"
              ],
              "next_runs": [
                "1970-01-03T03:00:00.000Z",
                "1970-01-04T03:00:00.000Z",
                "1970-01-05T03:00:00.000Z"
              ]
            }
            --- stderr
            next runs: 1970-01-03T03:00:00.000Z, 1970-01-04T03:00:00.000Z, 1970-01-05T03:00:00.000Z
        "#]]);
    redis
        .at(at)
        .run("recur set half --at :05 --every 2h")
        .shows(expect![[r#"
            --- stderr
            next runs: 1970-01-02T07:05:00.000Z, 1970-01-02T09:05:00.000Z, 1970-01-02T11:05:00.000Z
        "#]]);
    redis
        .at(at)
        .run("recur set half --at 04:00 --dry-run -o json")
        .shows(expect![[r#"
            {
              "kind": "done",
              "v": 1,
              "action": "recur set",
              "targets": [
                "half"
              ],
              "dry_run": true,
              "next_runs": [
                "1970-01-03T04:00:00.000Z",
                "1970-01-03T06:00:00.000Z",
                "1970-01-03T08:00:00.000Z"
              ]
            }
            --- stderr
            would change half
            next runs: 1970-01-03T04:00:00.000Z, 1970-01-03T06:00:00.000Z, 1970-01-03T08:00:00.000Z
        "#]]);
    let half = redis.json(at, "recur get half -o json");
    assert_eq!(half["next"], "1970-01-02T07:05:00.000Z");
    assert_eq!(half["every_s"], 7200);
    for text in [":60", ":5", "nonsense"] {
        redis
            .at(at)
            .run(&format!("recur put q K --every 1h --at {text}"))
            .exits(2);
    }
    redis.at(at).run("recur set nope --at :05").exits(4);
}

#[test]
fn a_time_that_recurs_implies_the_interval() {
    let redis = Redis::start();
    // A Friday.
    let at = 86_400 + 6 * 3600 + 600;
    let next = |options: &str| {
        let line = format!("recur put reports K -n -o json {options}");
        redis.json(at, &line)["next_runs"].to_string()
    };
    let runs = |first: &str, second: &str, third: &str| {
        format!(r#"["{first}:00.000Z","{second}:00.000Z","{third}:00.000Z"]"#)
    };
    let hours = runs("1970-01-02T06:30", "1970-01-02T07:30", "1970-01-02T08:30");
    assert_eq!(next("--at :30"), hours);
    let days = runs("1970-01-03T03:00", "1970-01-04T03:00", "1970-01-05T03:00");
    assert_eq!(next("--at 03:00"), days);
    let weeks = runs("1970-01-05T03:00", "1970-01-12T03:00", "1970-01-19T03:00");
    assert_eq!(next("--at 'mon 03:00'"), weeks);
    assert_eq!(next("--every 1w --at 'Monday 03:00'"), weeks);
    let nights = runs("1970-01-03T00:00", "1970-01-04T00:00", "1970-01-05T00:00");
    assert_eq!(next("--every @daily"), nights);
    assert_eq!(next("--every @daily --at 03:00"), days);
    let sundays = runs("1970-01-04T00:00", "1970-01-11T00:00", "1970-01-18T00:00");
    assert_eq!(next("--every @weekly"), sundays);
    let later = runs("1970-01-02T07:10", "1970-01-02T08:10", "1970-01-02T09:10");
    assert_eq!(next("--every @hourly --offset 1h"), later);
    redis.ok(at, "recur put reports K --jid k --every 5m");
    redis.ok(at, "recur set k --every @hourly");
    let k = redis.json(at, "recur get k -o json");
    assert_eq!(
        (&k["every_s"], &k["next"]),
        (&3600.into(), &"1970-01-02T07:00:00.000Z".into())
    );
}

#[test]
fn a_time_that_does_not_recur_and_a_cron_expression_are_refused_with_a_hint() {
    let redis = Redis::start();
    let run = |options: &str| redis.at(0).run(&format!("recur put reports K {options}"));
    run("--at +10m").shows(expect![[r#"
        --- stderr
        error: `--every` is missing: the time of `--at` does not recur
        hint: `--at 03:00` means daily, `--at :30` hourly, `--at 'mon 03:00'` weekly
        --- exit 2
    "#]]);
    run("--cron '0 3 * * *'").shows(expect![[r#"
        --- stderr
        error: recurring jobs have intervals, not cron expressions
        hint: `--at 03:00`, `--at :30`, `--at 'mon 03:00'` and `--every @daily` say when; for other times, let a line of cron put a job: `qless help recipes`, "On weekdays"
        --- exit 2
    "#]]);
    for (options, what) in [
        (
            "--every 1d --on mon-fri --at 07:30 --tz Europe/Berlin",
            "weekdays (`--on`)",
        ),
        ("--tz Europe/Berlin", "time zones (`--tz`)"),
    ] {
        let error = run(options).exits(2).stderr();
        assert!(
            error.contains(what) && error.contains("On weekdays"),
            "{error}"
        );
    }
    run("--every @monthly").shows(expect![[r#"
        --- stderr
        error: `--every` expects a duration such as `1d`, `@hourly`, `@daily` or `@weekly`, not `@monthly`
        --- exit 2
    "#]]);
    run("--at 'someday 03:00'").exits(2);
    assert_eq!(redis.ok(0, "recur list"), "");
}

#[test]
fn a_paused_recurring_job_is_shown_and_resumed_as_it_was() {
    let redis = templates();
    let before = redis.dump();
    redis
        .at(100)
        .env("USER", "me")
        .run("recur pause nightly --dry-run")
        .shows(expect![[r#"
            --- stderr
            would pause nightly
        "#]]);
    assert_eq!(redis.dump(), before);
    for at in [100, 110] {
        redis
            .at(at)
            .run("recur pause nightly --reason 'disk swap'")
            .shows(expect![[r#""#]]);
    }
    let run = |line: &str| {
        redis
            .at(7300)
            .run(&format!("{line} --time-format relative"))
    };
    run("recur list --headers always").shows(expect![[r#"
        JID	QUEUE	KLASS	EVERY	NEXT	SPAWNED	BACKLOG	OWED
        nightly	reports	Nightly	1d	paused	0	1	0
        warm	web	Warm	5m	due 2h ago	0	all	25
    "#]]);
    let shown = run("recur get nightly").ok();
    let state = shown
        .lines()
        .find(|line| line.starts_with("state"))
        .unwrap();
    assert!(
        state.starts_with("state\trecurring\tpaused 2h ago by "),
        "{state}"
    );
    assert!(state.ends_with(" (disk swap)"), "{state}");
    let document = run("get nightly -o json").json();
    assert_eq!(document["paused_since"], "1970-01-01T00:01:40.000Z");
    assert_eq!(document["paused_reason"], "disk swap");
    assert_eq!(run("recur list web -o jid").ok(), "warm");
    run("recur put reports Nightly --every 1d --jid nightly").exits(5);
    run("recur put reports Nightly --every 1d --jid nightly --if-absent").exits(0);
    run("recur pause nope").exits(4);
    run("recur resume nope").exits(4);
    // No pop or peek finds it.
    assert_eq!(redis.at(90_000).run("pop reports").code(), 4);
    redis.must_be_clean();
    let check = redis.at(90_000).run("check").exits(0);
    assert!(
        !check.stdout().contains("queue-empty"),
        "{}",
        check.stdout()
    );
    let resumed = redis.json(7300, "recur resume nightly -o json");
    assert_eq!(
        resumed["next_runs"],
        serde_json::json!([
            "1970-01-01T03:13:40.000Z",
            "1970-01-02T03:13:40.000Z",
            "1970-01-03T03:13:40.000Z"
        ])
    );
    redis
        .at(7300)
        .run("recur resume nightly")
        .shows(expect![[r#""#]]);
    let mut after = redis.dump();
    after.remove(&b"ql:workers"[..]);
    assert_eq!(after, before);
}

#[test]
fn a_paused_recurring_job_is_changed_and_stays_paused() {
    let (redis, live) = (templates(), templates());
    let at = |redis: &Redis, line: &str| redis.at(100).run(line).code();
    assert_eq!(at(&redis, "recur pause nightly --reason r"), 0);
    for line in [
        "recur set nightly --priority 7 --queue q2 --at 04:00",
        "recur set nightly --every 2d --key k --data '{\"n\":1.10}'",
        "recur tag nightly --add x --add y --remove new",
    ] {
        assert_eq!((at(&redis, line), at(&live, line)), (0, 0), "{line}");
    }
    let paused = redis.dump();
    let shown = redis.json(100, "get nightly -o json");
    assert_eq!(shown["paused_reason"], "r");
    // The core refuses it, and changes nothing.
    let wrong = "api guard.recur update 5 nightly priority 9 interval 0";
    assert_eq!(at(&redis, wrong), 2);
    assert_eq!(redis.dump(), paused);
    assert_eq!(redis.at(500_000).run("pop q2").code(), 4);
    assert_eq!(at(&redis, "recur resume nightly"), 0);
    let documents = [&redis, &live].map(|redis| redis.ok(100, "get nightly -o json"));
    assert_eq!(documents[0], documents[1]);
    redis.must_be_clean();
}

#[test]
fn paused_recurring_jobs_are_removed_exported_and_imported() {
    let redis = templates();
    redis.ok(100, "recur pause warm nightly --reason r");
    let export = redis.ok(200, "export --all --with recur");
    assert_eq!(export.matches("\"paused_since\"").count(), 2, "{export}");
    redis.ok(200, "recur rm warm nightly --yes");
    assert_eq!(redis.ok(200, "recur list"), "");
    redis.at(300).input(&export).run("import - --yes").exits(0);
    let list = redis.json(300, "recur list -o json");
    assert_eq!(list["total"], 2);
    for item in list["items"].as_array().unwrap() {
        assert_eq!(item["paused_since"], "1970-01-01T00:01:40.000Z", "{item}");
        assert_eq!(item["paused_reason"], "r");
    }
    assert_eq!(redis.at(400).run("pop web").code(), 4);
    // A file of running ones replaces paused ones.
    let running = export.replace("\"paused_since\"", "\"was_since\"");
    redis
        .at(400)
        .input(&running)
        .run("import - --yes --replace")
        .exits(0);
    assert_eq!(redis.ok(400, "pop web -o jid --count 9").lines().count(), 2);
    redis.must_be_clean();
}

#[test]
fn the_example_of_the_backlog_is_true() {
    let popped = |backlog: u32| {
        let redis = Redis::start();
        redis.ok(
            3600,
            &format!("recur put q K --every 10m --jid r --backlog {backlog}"),
        );
        let now = 7200 + 300;
        let jobs = redis.json(now, "pop q --count 50 -o json");
        let next = redis.json(now, "recur get r -o json")["next"].clone();
        assert_eq!(next, "1970-01-01T02:10:00.000Z");
        let put = |job: &serde_json::Value| {
            let jid = job["jid"].as_str().unwrap();
            let job = redis.json(now, &format!("get {jid} -o json"));
            job["history"][0]["when"].as_str().unwrap()[11..16].to_owned()
        };
        let mut runs: Vec<String> = jobs["items"].as_array().unwrap().iter().map(put).collect();
        runs.sort();
        runs
    };
    assert_eq!(
        popped(0),
        [
            "01:00", "01:10", "01:20", "01:30", "01:40", "01:50", "02:00"
        ]
    );
    assert_eq!(popped(2), ["01:50", "02:00"]);
}

/// A pop makes up for all missed runs, or for the runs that `--backlog` leaves.
#[test]
fn the_runs_that_are_owed_are_counted_as_the_next_pops_put_them() {
    let redis = Redis::start();
    let owed = |now: f64| {
        let list = redis.ok(now, "recur list --columns JID,OWED --sort JID");
        list.replace('\t', " ").replace('\n', ", ")
    };
    for (jid, backlog) in [("all", 0), ("few", 2)] {
        let line = format!("recur put {jid} K --jid {jid} --every 60s --backlog {backlog}");
        redis.ok(1000, &line);
    }
    assert_eq!(owed(1000.0), "all 1, few 1");
    assert_eq!(owed(999.0), "all 0, few 0");
    for now in [1060.0, 1119.0, 1330.5, 1360.0] {
        for jid in ["all", "few"] {
            let count = redis
                .at(now)
                .run(&format!("pop {jid} --count 50 -n -o jid"));
            let popped = count.stdout().lines().count();
            assert!(
                owed(now).contains(&format!("{jid} {popped}")),
                "{now}: {}",
                owed(now)
            );
        }
    }
    let shown = redis.ok(1330.5, "recur get few");
    assert!(shown.contains("\t2 runs owed\n"), "{shown}");
    redis.at(1331).run("explain all").shows(expect![[r#"
        all	recurring_not_polled	blocking	it is due, and no pop has put its job: due 1970-01-01T00:16:40.000Z, 6 runs owed	qless workers
        all	next		all-1	
    "#]]);
    redis.ok(1331, "pop all");
    assert_eq!(owed(1331.0), "all 5, few 2");
}

#[test]
fn a_run_by_hand_says_that_it_leaves_those_that_are_owed() {
    let redis = Redis::start();
    redis.ok(1000, "recur put q K --jid tick --every 60s");
    let run = |now: u32| {
        let mut command = redis.at(now).command();
        command.args(["recur", "run", "tick"]);
        terminal::run(command, 100).stdout()
    };
    let said = run(1100);
    let note = "2 runs owed beside this: the next pops put them\n";
    assert!(said.ends_with(note), "{said}");
    redis.ok(1100, "pop q --count 9");
    assert!(!run(1100).contains("owed"));
}
