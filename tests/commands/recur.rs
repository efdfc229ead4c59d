//! `qless recur`

use expect_test::expect;

use crate::support::redis::Redis;
use crate::support::text::rows;

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
        100 $ qless recur list reports -o json | jq -c
        {"kind":"recurring-jobs","v":1,"total":1,"offset":0,"items":[{"jid":"nightly","klass":"Nightly","queue":"reports","every_s":86400,"next":"1970-01-01T03:13:40.000Z","backlog":1,"count":0,"priority":5,"retries":0,"tags":["a"],"data":{"n":1.10}}]}
        100 $ qless recur list -o jid
        nightly
        warm
        100 $ qless recur list reprts
        --- stderr
        error: queue `reprts` does not exist
        hint: did you mean `reports`?
        --- exit 4
        100 $ qless recur list -o raw &>/dev/null
        --- exit 2
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
        100 $ qless recur get nightly warm -o json | jq -c '[.kind, .total]'
        ["recurring-jobs",2]
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
    let printed = redis.at(100).run("api recur.get warm").stdout();
    assert_eq!(redis.at(100).run("recur get warm -o raw").stdout(), printed);
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
        100 $ qless recur put reports Nightly --every 1d --jid nightly
        --- stderr
        error: cannot put `nightly`: a recurring job of this id exists already
        hint: `--if-absent` leaves it as it is, `--replace` replaces it
        --- exit 5
        100 $ qless recur put reports Nightly --every 1d --jid nightly --if-absent -o json | jq -c
        {"kind":"done","v":1,"action":"recur put","targets":["nightly"]}
        100 $ qless recur put reports Nightly --every 1d --at 03:00 --jid nightly --replace --offset 5m &>/dev/null
        --- exit 2
        100 $ qless recur put web Warm --every 5m --offset 60s --jid nightly --replace --backlog 2
        nightly
        100 $ qless recur list
        nightly	web	Warm	5m	1970-01-01T00:02:40.000Z	0	2	0
        100 $ qless recur put web Warm --every 5m -n
        --- stderr
        would put a recurring job in web, every 5m
        next runs: 1970-01-01T00:01:40.000Z, 1970-01-01T00:06:40.000Z, 1970-01-01T00:11:40.000Z
    "#]]);
    let fresh = redis.ok(100, "recur put web Warm --every 90s");
    assert_eq!(fresh.len(), 32);
}

/// Its jobs never get the jid of an earlier one.
#[test]
fn a_paused_template_is_replaced_and_stays_paused() {
    let redis = Redis::start();
    redis.session(expect![[r#"
        100 $ qless recur put web Warm --every 5m --jid warm &>/dev/null
        101 $ qless pop web -o jid
        warm-1
        110 $ qless recur pause warm --reason 'disk swap'
        120 $ qless recur put site Hot --every 10m --jid warm --replace -n
        --- stderr
        note: queue `site` is new
        would put warm in site, every 10m, which stays paused
        120 $ qless recur put site Hot --every 10m --jid warm --replace
        warm
        --- stderr
        put warm in site, every 10m, which stays paused
        120 $ qless recur list
        warm	site	Hot	10m	paused	1	all	0
        120 $ qless get warm -o json | jq -c '[.paused_since, .paused_reason, .count]'
        ["1970-01-01T00:01:50.000Z","disk swap",1]
        130 $ qless pop site
        --- exit 4
        140 $ qless recur resume warm &>/dev/null
        9000 $ qless pop site -o jid
        warm-2
    "#]]);
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
        0 $ qless recur put web Warm --at +10m
        --- stderr
        error: `--every` is missing: the time of `--at` does not recur
        hint: `--at 03:00` means daily, `--at :30` hourly, `--at 'mon 03:00'` weekly
        --- exit 2
        0 $ qless recur put web Warm --cron '0 3 * * *'
        --- stderr
        error: recurring jobs have intervals, not cron expressions
        hint: `--at 03:00`, `--at :30`, `--at 'mon 03:00'` and `--every @daily` say when; for other times, let a line of cron put a job: `qless help recipes`, "On weekdays"
        --- exit 2
        0 $ qless recur put web Warm --every 1d --on mon-fri --at 07:30 --tz Europe/Berlin
        --- stderr
        error: recurring jobs have intervals, not weekdays (`--on`)
        hint: `--at 03:00`, `--at :30`, `--at 'mon 03:00'` and `--every @daily` say when; for other times, let a line of cron put a job: `qless help recipes`, "On weekdays"
        --- exit 2
        0 $ qless recur put web Warm --tz Europe/Berlin
        --- stderr
        error: recurring jobs have intervals, not time zones (`--tz`)
        hint: `--at 03:00`, `--at :30`, `--at 'mon 03:00'` and `--every @daily` say when; for other times, let a line of cron put a job: `qless help recipes`, "On weekdays"
        --- exit 2
        0 $ qless recur put web Warm --every @monthly
        --- stderr
        error: `--every` expects a duration such as `1d`, `@hourly`, `@daily` or `@weekly`, not `@monthly`
        --- exit 2
        0 $ qless recur put web Warm --at 'someday 03:00' &>/dev/null
        --- exit 2
        0 $ qless recur put web Warm --every 1h --at :60 &>/dev/null
        --- exit 2
        0 $ qless recur put web Warm --every 1h --at :5 &>/dev/null
        --- exit 2
        0 $ qless recur list
    "#]]);
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
    redis.qless().hide(&jid, "JID").session(expect![[r#"
        101 $ qless get JID -o json | jq -c '[.queue, .klass, .spawned_from, .priority, .tags]'
        ["reports","Nightly","nightly",5,["a"]]
        101 $ qless get JID --data
        {"n":1.10}
        --- no newline
        101 $ qless recur run nope
        --- stderr
        error: recurring job `nope` does not exist
        --- exit 4
        101 $ qless recur run nightly -n &>/dev/null
        101 $ qless jobs --queue reports -o jid
        JID
    "#]]);
}

#[test]
fn recur_run_prints_the_job_that_took_the_put() {
    let redis = Redis::start();
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
        15 $ qless jobs --queue r -o jid
        no-1
    "#]]);
    // Behind another job, it is a new one.
    for (flag, second_run) in [
        ("--merge", r#"["JID","waiting",false,false,null]"#),
        ("--dup replace", r#"["JID","waiting",false,false,null]"#),
        ("", r#"["NEW","depends",true,true,"JID"]"#),
    ] {
        let put = "recur put m K --every 1h --offset 1h --key k --replace --jid again";
        redis.ok(20, &format!("{put} {flag}"));
        let run = |now: u32| redis.json(now, "recur run again -o json");
        let (first, second) = (run(21), run(22));
        assert_eq!([&first["created"], &first["new"]], [true, true], "{flag}");
        let members = ["jid", "state", "created", "new", "queued_behind"];
        let shown = serde_json::json!(members.map(|name| &second[name])).to_string();
        let shown = shown.replace(first["jid"].as_str().unwrap(), "JID");
        let shown = shown.replace(second["jid"].as_str().unwrap(), "NEW");
        assert_eq!(shown, second_run, "{flag}");
        redis.ok(23, "cancel --queue m --yes");
    }
}

#[test]
fn no_overlap_replaces_an_older_uniqueness() {
    let redis = Redis::start();
    redis.session(expect![[r#"
        10 $ qless recur put q K --every 1h --jid rm --backoff fixed:5 &>/dev/null
        11 $ qless recur set rm --key z --unique=start --ttl 3m &>/dev/null
        12 $ qless recur set rm --no-overlap &>/dev/null
        13 $ qless recur get rm -o json | jq -c .options
        {"key":"rm","dup":"skip","backoff":"fixed:5"}
        14 $ qless pop q --worker w -o jid
        rm-1
    "#]]);
    // The first job runs, so no second one is put. After its end, no window holds the next one back. A `ttl` that is
    // given with it stays.
    redis.session(expect![[r#"
        8000 $ qless recur run rm
        rm-1
        8001 $ qless complete rm-1 --worker w
        complete
        8002 $ qless recur run rm -o json | jq -c .new
        true
        8003 $ qless recur set rm --no-overlap --ttl 5m &>/dev/null
        8004 $ qless recur get rm -o json | jq -c .options.ttl
        300
        8005 $ qless recur set rm --no-overlap --until start &>/dev/null
        --- exit 2
    "#]]);
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
    // It is 06:10 on 1970-01-02.
    redis.session(expect![[r#"
        108600 $ qless recur put reports Half --every 1h --at :30 --jid half --dry-run
        --- stderr
        note: queue `reports` is new
        would put half in reports, every 1h
        next runs: 1970-01-02T06:30:00.000Z, 1970-01-02T07:30:00.000Z, 1970-01-02T08:30:00.000Z
        108600 $ qless recur put reports Half --every 1h --at :30 --jid half
        half
        --- stderr
        next runs: 1970-01-02T06:30:00.000Z, 1970-01-02T07:30:00.000Z, 1970-01-02T08:30:00.000Z
        108600 $ qless recur get half -o json | jq -c .next
        "1970-01-02T06:30:00.000Z"
        108600 $ qless recur put reports Nightly --every 1d --at 03:00 --jid nightly -o json | jq -c
        {"kind":"done","v":1,"action":"recur put","targets":["nightly"],"next_runs":["1970-01-03T03:00:00.000Z","1970-01-04T03:00:00.000Z","1970-01-05T03:00:00.000Z"]}
        --- stderr
        next runs: 1970-01-03T03:00:00.000Z, 1970-01-04T03:00:00.000Z, 1970-01-05T03:00:00.000Z
        108600 $ qless recur set half --at :05 --every 2h
        --- stderr
        next runs: 1970-01-02T07:05:00.000Z, 1970-01-02T09:05:00.000Z, 1970-01-02T11:05:00.000Z
        108600 $ qless recur set half --at 04:00 --dry-run -o json | jq -c
        {"kind":"done","v":1,"action":"recur set","targets":["half"],"dry_run":true,"next_runs":["1970-01-03T04:00:00.000Z","1970-01-03T06:00:00.000Z","1970-01-03T08:00:00.000Z"]}
        --- stderr
        would change half
        next runs: 1970-01-03T04:00:00.000Z, 1970-01-03T06:00:00.000Z, 1970-01-03T08:00:00.000Z
        108600 $ qless recur get half -o json | jq -c '[.next, .every_s]'
        ["1970-01-02T07:05:00.000Z",7200]
        108600 $ qless recur set nope --at :05 &>/dev/null
        --- exit 4
    "#]]);
}

#[test]
fn a_time_that_recurs_implies_the_interval() {
    let redis = Redis::start();
    // A Friday, 06:10.
    let at = 86_400 + 6 * 3600 + 600;
    for (options, runs) in rows(
        "
        --at :30 | 1970-01-02T06:30 1970-01-02T07:30 1970-01-02T08:30
        --at 03:00 | 1970-01-03T03:00 1970-01-04T03:00 1970-01-05T03:00
        --at 'mon 03:00' | 1970-01-05T03:00 1970-01-12T03:00 1970-01-19T03:00
        --every 1w --at 'Monday 03:00' | 1970-01-05T03:00 1970-01-12T03:00 1970-01-19T03:00
        --every @daily | 1970-01-03T00:00 1970-01-04T00:00 1970-01-05T00:00
        --every @daily --at 03:00 | 1970-01-03T03:00 1970-01-04T03:00 1970-01-05T03:00
        --every @weekly | 1970-01-04T00:00 1970-01-11T00:00 1970-01-18T00:00
        --every @hourly --offset 1h | 1970-01-02T07:10 1970-01-02T08:10 1970-01-02T09:10
    ",
    ) {
        let line = format!("recur put reports K -n -o json {options}");
        let next = redis.json(at, &line)["next_runs"].clone();
        let expected: Vec<String> = runs
            .split(' ')
            .map(|run| format!("{run}:00.000Z"))
            .collect();
        assert_eq!(next, serde_json::json!(expected), "{options}");
    }
    redis.session(expect![[r#"
        108600 $ qless recur put reports K --jid k --every 5m &>/dev/null
        108600 $ qless recur set k --every @hourly &>/dev/null
        108600 $ qless recur get k -o json | jq -c '[.every_s, .next]'
        [3600,"1970-01-02T07:00:00.000Z"]
    "#]]);
}

#[test]
fn a_paused_recurring_job_is_shown_and_resumed_as_it_was() {
    let redis = templates();
    let before = redis.dump();
    let user = format!("me@{}", qless::internals::host_name());
    let me = redis.qless().env("USER", "me").hide(&user, "ME");
    me.session(expect![[r#"
        100 $ qless recur pause nightly --dry-run
        --- stderr
        would pause nightly
    "#]]);
    assert_eq!(redis.dump(), before);
    // No pop or peek finds it.
    me.session(expect![[r#"
        100 $ qless recur pause nightly --reason 'disk swap'
        110 $ qless recur pause nightly --reason 'disk swap'
        7300 $ qless recur list --headers always --time-format relative
        JID	QUEUE	KLASS	EVERY	NEXT	SPAWNED	BACKLOG	OWED
        nightly	reports	Nightly	1d	paused	0	1	0
        warm	web	Warm	5m	due 2h ago	0	all	25
        7300 $ qless recur get nightly --time-format relative
        jid	nightly
        klass	Nightly
        queue	reports
        state	recurring	paused 2h ago by ME (disk swap)
        every	1d
        next	in 1h 12m
        spawned	0
        backlog	1
        priority	5	higher runs first
        retries	0
        tags	a
        data	{"n":1.10}
        7300 $ qless get nightly -o json | jq -c '[.paused_since, .paused_reason]'
        ["1970-01-01T00:01:40.000Z","disk swap"]
        7300 $ qless recur put reports Nightly --every 1d --jid nightly &>/dev/null
        --- exit 5
        7300 $ qless recur put reports Nightly --every 1d --jid nightly --if-absent &>/dev/null
        7300 $ qless recur pause nope &>/dev/null
        --- exit 4
        7300 $ qless recur resume nope &>/dev/null
        --- exit 4
        90000 $ qless pop reports
        --- exit 4
    "#]]);
    redis.must_be_clean();
    let check = redis.ok(90_000, "check");
    assert!(!check.contains("queue-empty"), "{check}");
    redis.session(expect![[r#"
        7300 $ qless recur resume nightly -o json | jq -c .next_runs
        ["1970-01-01T03:13:40.000Z","1970-01-02T03:13:40.000Z","1970-01-03T03:13:40.000Z"]
        7300 $ qless recur resume nightly
    "#]]);
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
    redis.qless().input(&export).session(expect![[r#"
        200 $ qless recur rm warm nightly --yes
        200 $ qless recur list
        300 $ qless import - --yes &>/dev/null
        300 $ qless recur list -o json | jq -c '[.items[].paused_since, .items[].paused_reason]'
        ["1970-01-01T00:01:40.000Z","1970-01-01T00:01:40.000Z","r","r"]
        400 $ qless pop web
        --- exit 4
    "#]]);
    // A file of running ones replaces paused ones.
    let running = export.replace("\"paused_since\"", "\"was_since\"");
    redis.qless().input(running).session(expect![[r#"
        400 $ qless import - --yes --replace &>/dev/null
        400 $ qless pop web -o jid --count 9
        warm-1
        warm-2
    "#]]);
    redis.must_be_clean();
}

#[test]
fn the_example_of_the_backlog_is_true() {
    let redis = Redis::start();
    for (backlog, runs) in [
        (0, "01:00 01:10 01:20 01:30 01:40 01:50 02:00"),
        (2, "01:50 02:00"),
    ] {
        redis.send(&["FLUSHALL"]);
        let put = format!("recur put q K --every 10m --jid r --backlog {backlog}");
        redis.ok(3600, &put);
        let now = 7200 + 300;
        redis.ok(now, "pop q --count 50");
        let next = redis.json(now, "recur get r -o json")["next"].clone();
        assert_eq!(next, "1970-01-01T02:10:00.000Z");
        let jobs = redis.ok(now, "export --queue q");
        let puts = jobs.split("\"what\":\"put\",\"when\":\"1970-01-01T");
        let mut put: Vec<&str> = puts.skip(1).map(|rest| &rest[..5]).collect();
        put.sort();
        assert_eq!(put.join(" "), runs);
    }
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
    let run = |now: u32| redis.on_terminal(now, "recur run tick");
    let said = run(1100);
    let note = "2 runs owed beside this: the next pops put them\n";
    assert!(said.ends_with(note), "{said}");
    redis.ok(1100, "pop q --count 9");
    assert!(!run(1100).contains("owed"));
}
