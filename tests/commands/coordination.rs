//! The options of lanes, throttles and back-off of `put`, `put --from`, `recur`, `complete --next`,
//! `export` and `import`.

use expect_test::expect;
use serde_json::Value;

use crate::support::redis::Redis;
use crate::support::work::until;

fn job(redis: &Redis, jid: &str) -> Value {
    redis.json(99, &format!("get {jid} -o json"))
}

#[test]
fn put_tells_whether_a_job_is_new_and_what_it_waits_for() {
    Redis::start().session(expect![[r#"
        10 $ qless put orders Sync --jid a --key k -o json | jq -c
        {"kind":"put","v":1,"jid":"a","queue":"orders","state":"waiting","created":true,"new":true}
        11 $ qless put orders Sync --jid b --key k -o json | jq -c
        {"kind":"put","v":1,"jid":"b","queue":"orders","state":"depends","created":true,"new":true,"queued_behind":"a"}
        12 $ qless put orders Sync --jid c --key k --unique -o json | jq -c
        {"kind":"put","v":1,"jid":"b","queue":"orders","state":"depends","created":false,"new":false}
        12 $ qless put orders Sync --jid c --key k --unique
        b
        13 $ qless put orders Other --jid d --key k --dup replace -o json | jq -c
        {"kind":"put","v":1,"jid":"b","queue":"orders","state":"depends","created":false,"new":false,"queued_behind":"a"}
        14 $ qless get b --field klass
        Other
    "#]]);
}

#[test]
fn merged_puts_are_one_job_with_payloads_by_score() {
    let redis = Redis::start();
    redis.session(expect![[r#"
        10 $ qless put orders Sync '{"v":1}' --jid m --key k --merge --score 5
        m
        11 $ qless put orders Sync '{"v":2}' --key k --merge --score -3
        m
        12 $ qless put orders Sync '{"v":1}' --key k --merge --score 9
        m
        13 $ qless get m -o json | jq -c '[.data, .payloads]'
        [[{"v":2},{"v":1}],[{"data":{"v":2},"score":-3},{"data":{"v":1},"score":5}]]
        14 $ qless put orders Sync '{"v":1}' --key k --merge --score 9 --rescore max
        m
        15 $ qless get m -o json | jq -c .payloads[].score
        -3
        9
        16 $ qless put orders Sync --jid plain &>/dev/null
    "#]]);
    for line in ["get plain m", "get --key k", "pop orders --worker w"] {
        let jobs = redis.json(17, &format!("{line} -o json"));
        let jobs = jobs["items"].as_array().unwrap();
        let merged = jobs.iter().find(|job| job["jid"] == "m").unwrap();
        assert_eq!(merged["payloads"][1]["score"], 9, "{line}");
        let plain = jobs.iter().find(|job| job["jid"] == "plain");
        assert_eq!(plain.and_then(|job| job.get("payloads")), None, "{line}");
    }
    assert_eq!(redis.ok(18, "get m --field fence"), "1");
}

#[test]
fn a_window_outlives_the_job() {
    let redis = Redis::start();
    let line = "put reports Nightly --key nightly --unique --ttl 24h";
    let jid = redis.ok(10, line);
    redis.ok(11, "pop reports --worker w");
    redis.ok(12, &format!("complete {jid} --worker w"));
    assert_eq!(redis.ok(20, line), jid);
    assert_ne!(redis.ok(86_500, line), jid);
}

#[test]
fn unique_until_the_start_lets_one_wait_behind_the_running_job() {
    let redis = Redis::start();
    let put = |now: u32| redis.ok(now, "put q K --key k --unique=start");
    let first = put(10);
    assert_eq!(put(11), first);
    redis.ok(12, "pop q --worker w");
    let second = put(13);
    assert_ne!(second, first);
    assert_eq!(put(14), second);
}

#[test]
fn all_options_reach_the_job() {
    let redis = Redis::start();
    redis.session(expect![[r#"
        10 $ qless put q K --jid a --key k --hold --lock=sales.csv --throttle api=10 --throttle db --backoff exp:30s:2:1h:0.1
        a
        10 $ qless get a -o json | jq -c '[.throttles, .backoff, .hold]'
        [["api","db","lock:sales.csv"],"exp:30:2:3600:0.1",true]
        11 $ qless put q K --jid a --replace --key '' --throttle '' --lock= --backoff ''
        a
    "#]]);
    let a = job(&redis, "a");
    for field in ["key", "throttles", "backoff", "hold"] {
        assert_eq!(a.get(field), None, "{field}");
    }
    redis.ok(12, "put q K '{\"x\":1}' --jid b --lock");
    let throttle = redis.ok(12, "get b --field throttles.0");
    assert!(throttle.starts_with("lock:K:"), "{throttle}");
}

#[test]
fn options_that_make_no_sense_together_are_refused() {
    let redis = Redis::start();
    redis.session(expect![[r#"
        10 $ qless put q K --merge
        --- stderr
        error: `--merge` needs `--key`
        --- exit 2
        10 $ qless put q K --unique
        --- stderr
        error: `--unique` needs `--key`
        --- exit 2
        10 $ qless put q K --hold
        --- stderr
        error: `--hold` needs `--key`
        --- exit 2
        10 $ qless put q K --dup replace
        --- stderr
        error: `--dup` needs `--key`
        --- exit 2
        10 $ qless put q K --key k --merge --unique
        --- stderr
        error: `--merge` cannot be used with `--unique`
        hint: usage: `qless put [OPTIONS] QUEUE KLASS [DATA] | [QUEUE [KLASS]] --from FILE`
        --- exit 2
        10 $ qless put q K --key k --merge --rescore best
        --- stderr
        error: `--rescore` expects one of `min`, `max`, not `best`
        --- exit 2
        10 $ qless put q K --key k --merge --score high
        --- stderr
        error: `--score` expects a number, not `high`
        --- exit 2
        10 $ qless put q K --key k --unique=never
        --- stderr
        error: `--unique` expects one of `end`, `start`, not `never`
        --- exit 2
        10 $ qless put q K --key k --unique --ttl 0
        --- stderr
        error: `--ttl` expects a duration of more than 0, not `0`
        --- exit 2
        10 $ qless put q K --backoff soon
        --- stderr
        error: `--backoff` expects `fixed:30s`, `linear:30s`, `exp:30s` with a factor, a maximum and a share of jitter (`exp:30s:2:1h:0.1`), `lowkiq`, or for lost locks `{"initial_delay":30,"factor":2}`, not `soon`
        --- exit 2
        10 $ qless put q K --at 9999-01-01T00:00:00Z
        --- stderr
        error: `--at` is more than ten years ahead
        --- exit 2
    "#]]);
    redis.at(10).run("put q K --merge --dry-run").exits(2);
    let long = "k".repeat(513);
    redis
        .at(10)
        .args(["put", "q", "K", "--key", &long])
        .exits(2);
    assert!(redis.dump().is_empty());
}

#[test]
fn the_lines_of_a_file_have_the_same_options() {
    let redis = Redis::start();
    let lines = r#"
        {"queue":"q","klass":"K","jid":"a","key":"k","hold":true,"throttles":["api"],"backoff":"fixed:1m"}
        {"queue":"q","klass":"K","jid":"m","data":1,"key":"m","dup":"merge","score":2}
        {"queue":"q","klass":"K","data":2,"key":"m","dup":"merge","score":1}
        {"queue":"q","klass":"K","key":"k","dup":"skip","ttl":"1d"}
    "#;
    redis.at(10).input(lines).session(expect![[r#"
        $ qless put --from - -o jid
        a
        m
        m
        a
        --- stderr
        3 put, 1 already there
        $ qless get a -o json | jq -c '[.backoff, .hold]'
        ["fixed:60",true]
        $ qless get m --field data
        [2,1]
        $ printf '{"queue":"q","klass":"K","data":3}' | qless put --from - --key m --merge --score 0 -o json | jq -c
        {"kind":"bulk","v":1,"action":"put","dry_run":false,"context":null,"matched":1,"done":1,"skipped":0,"failed":0,"remaining":0,"elapsed_s":0,"items":[]}
        --- stderr
        1 put
        $ qless get m --field data
        [3,2,1]
    "#]]);
}

#[test]
fn wrong_options_of_a_line_are_refused_before_anything_is_sent() {
    let redis = Redis::start();
    let mut table = String::new();
    for members in [
        r#""dup":"merge""#,
        r#""key":7"#,
        r#""key":"k","dup":"all""#,
        r#""throttles":"api""#,
        r#""throttles":["api",1]"#,
        r#""key":"k","hold":"yes""#,
        r#""key":"k","dup":"merge","score":"1""#,
        r#""backoff":"exp""#,
        r#""key":"","dup":"merge""#,
        r#""unique":true"#,
        r#""merge":true"#,
        r#""throttles":["db","a=b"]"#,
        r#""throttles":["a=1","a=2"]"#,
    ] {
        let line = format!("{{}}\n{{{members}}}\n");
        let ran = redis.at(10).input(line).run("put q K --from -").exits(2);
        table += &format!("{members}\n{}", ran.stderr());
    }
    expect![[r#"
        "dup":"merge"
        error: stdin, line 2, column 1: `dup` needs `key`
        "key":7
        error: stdin, line 2, column 8: `key` expects a text, not `7`
        "key":"k","dup":"all"
        error: stdin, line 2, column 18: `dup` expects `queue`, `merge`, `skip` or `replace`, not `"all"`
        "throttles":"api"
        error: stdin, line 2, column 14: `throttles` expects an array of texts, not `"api"`
        "throttles":["api",1]
        error: stdin, line 2, column 14: `throttles` holds something that is not a text
        "key":"k","hold":"yes"
        error: stdin, line 2, column 19: `hold` expects `0` or `1`, not `"yes"`
        "key":"k","dup":"merge","score":"1"
        error: stdin, line 2, column 34: `score` expects a number, not `"1"`
        "backoff":"exp"
        error: stdin, line 2, column 12: `backoff` expects `fixed:30s`, `linear:30s`, `exp:30s` with a factor, a maximum and a share of jitter (`exp:30s:2:1h:0.1`), `lowkiq`, or for lost locks `{"initial_delay":30,"factor":2}`, not `"exp"`
        "key":"","dup":"merge"
        error: stdin, line 2, column 1: `dup` needs a `key` that is not empty
        "unique":true
        error: stdin, line 2, column 2: a job has no field `unique`
        hint: `"dup":"skip"` is what `--unique` does
        "merge":true
        error: stdin, line 2, column 2: a job has no field `merge`
        hint: `"dup":"merge"` is what `--merge` does
        "throttles":["db","a=b"]
        error: stdin, line 2, column 14: `throttles` expects `ID` or `ID=MAX`, where MAX is a number (`a=b=` is the id `a=b`), not `a=b`
        "throttles":["a=1","a=2"]
        error: stdin, line 2, column 14: `throttles` gives `a` two maxima
    "#]]
    .assert_eq(&table);
    assert!(redis.dump().is_empty());
    redis.session(expect![[r#"
        11 $ printf '{"throttles":["a=b="]}' | qless put q K --from - &>/dev/null
        11 $ qless jobs --columns throttles
        a=b
    "#]]);
}

#[test]
fn recurring_jobs_put_jobs_with_their_options() {
    let redis = Redis::start();
    redis.session(expect![[r#"
        10 $ qless recur put reports Hourly --every 1h --jid hourly --no-overlap --throttle db=2 --backoff fixed:1m &>/dev/null
        10 $ qless recur get hourly -o json
        {
          "kind": "recurring",
          "v": 1,
          "jid": "hourly",
          "klass": "Hourly",
          "queue": "reports",
          "every_s": 3600,
          "next": "1970-01-01T00:00:10.000Z",
          "backlog": 0,
          "count": 0,
          "priority": 0,
          "retries": 5,
          "tags": [],
          "data": {},
          "options": {
            "throttles": ["db"],
            "key": "hourly",
            "dup": "skip",
            "backoff": "fixed:60"
          }
        }
        20 $ qless pop reports --worker w &>/dev/null
        20 $ qless jobs --state running -o json | jq -c '[.items[].key, .items[].throttles]'
        ["reports/hourly",["db"]]
    "#]]);
    // The next runs are left out while the first one has not ended.
    redis.ok(9_000, "peek reports");
    let open = redis.ok(9_000, "jobs --queue reports -o jid");
    assert_eq!(open.lines().count(), 1, "{open}");
    redis.session(expect![[r#"
        9000 $ qless recur set hourly --backoff linear:2m --key other &>/dev/null
        9000 $ qless recur get hourly -o json | jq -c .options
        {"throttles":["db"],"key":"other","dup":"skip","backoff":"linear:120"}
        9000 $ qless recur put q K --every 1h --no-overlap --key k &>/dev/null
        --- exit 2
    "#]]);
    let jid = redis.ok(9_001, "recur run hourly");
    assert_eq!(job(&redis, &jid)["backoff"], "linear:120");
}

#[test]
fn an_advanced_job_gets_the_options_of_the_next_queue() {
    let redis = Redis::start();
    redis.session(expect![[r#"
        10 $ qless put q K --jid a &>/dev/null
        11 $ qless pop q --worker w &>/dev/null
        12 $ qless complete a --worker w --next ship --key k --hold --throttle api=3 --backoff fixed:5 &>/dev/null
        12 $ qless get a -o json | jq -c '[.key, .hold, .throttles, .backoff]'
        ["ship/k",true,["api"],"fixed:5"]
    "#]]);
    // A refused call changes no throttle.
    for jids in ["a --depends a", "a --depends nobody", "b", "b nobody"] {
        let line = format!("complete --worker w --next ship --throttle api=9 {jids}");
        assert_ne!(redis.at(13).run(&line).code(), 0, "{line}");
    }
    redis.session(expect![[r#"
        13 $ qless throttle show api -o json | jq -c .maximum
        3
        13 $ qless complete a --worker w --key k
        --- stderr
        error: `--key`, `--hold`, `--lock`, `--throttle` and `--backoff` need `--next`
        hint: a completed job does not run again
        --- exit 2
        13 $ qless complete a --worker w --hold &>/dev/null
        --- exit 2
    "#]]);
}

#[test]
fn an_import_restores_lanes_throttles_and_payloads() {
    let old = Redis::start();
    old.session(expect![[r#"
        10 $ qless put orders Sync '{"v":1}' --jid a --key k --merge --score 5 --rescore max &>/dev/null
        11 $ qless put orders Sync '{"v":2}' --key k --merge --score 3 &>/dev/null
        12 $ qless put orders Sync --jid b --key k --hold --throttle api=1 --backoff lowkiq &>/dev/null
        13 $ qless put orders Sync --jid c --key /all &>/dev/null
        14 $ qless recur put orders Tick --every 1h --jid tick --no-overlap --offset 1d &>/dev/null
    "#]]);
    let export = old.ok(20, "export --all --with recur");
    let new = Redis::start();
    new.at(30).input(&export).run("import - --yes").ok();
    for jid in ["a", "b", "c"] {
        let (before, mut after) = (job(&old, jid), job(&new, jid));
        after["history"] = before["history"].clone();
        after["since"] = before["since"].clone();
        assert_eq!(after, before, "{jid}");
    }
    let lane = "key orders k -o jid";
    assert_eq!(new.ok(30, lane), old.ok(30, lane));
    let options = |redis: &Redis| redis.json(30, "recur get tick -o json")["options"].clone();
    assert_eq!(options(&new), options(&old));
    let renamed = new.at(30).input(export);
    renamed.session(expect![[r#"
        $ qless import - --yes --map-queue orders=shop --prefix x: &>/dev/null
        $ qless get b --field key --prefix x:
        shop/k
        $ qless get c --field key --prefix x:
        /all
    "#]]);
}

#[test]
fn a_terminal_tells_what_happened_to_a_put() {
    let redis = Redis::start();
    redis.ok(9, "put q K --jid z");
    let shown = [
        (10, "put q K --jid a --key k --merge"),
        (11, "put q K 1 --jid b --key k --merge"),
        (12, "put q K 2 --jid c --key k --unique"),
        (13, "put q K 3 --jid d --key k --dup replace"),
        (14, "put q K 4 --jid e --key k"),
        (15, "put q K 5 --jid f --throttle api=-1"),
    ]
    .map(|(now, line)| redis.on_terminal(now, line))
    .concat();
    expect![[r#"
        a
        put a in q, waiting
        a
        merged into a in q, waiting
        a
        skipped: a is in q, waiting
        a
        replaced a in q, waiting
        e
        put e in q, depends, behind a
        f
        put f in q, throttled
        set the maximum of throttle api to -1 (no job runs)
    "#]]
    .assert_eq(&shown);
}

#[test]
fn a_put_waits_for_the_job_that_took_it() {
    let redis = Redis::start();
    redis.ok(10, "put q K --jid a --key k");
    let waiting = redis.qless().start("put q K --key k --unique --wait=30s");
    redis.qless().run("pop q --worker w").ok();
    until("the put waits", || redis.subscribers() > 0);
    redis.qless().run("complete a --worker w").ok();
    assert_eq!(waiting.end().ok(), "a");
}

/// The maxima of the throttles that are set.
fn maxima(redis: &Redis) -> String {
    let throttles = redis.json(99, "throttle list -o json");
    let items = throttles["items"].as_array().unwrap().iter();
    let shown = items.filter(|item| item["defined"] == true);
    let shown = shown.map(|item| format!("{}={}", item["id"].as_str().unwrap(), item["maximum"]));
    shown.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_put_that_puts_nothing_changes_no_throttle() {
    for id in ["api", "new"] {
        let redis = Redis::start();
        redis.ok(9, "throttle set api 1");
        redis.ok(10, "put t K --jid a --key k");
        let put = |more: &str, code: i32| {
            let line = format!("put t K --throttle {id}=9 {more}");
            redis.at(11).run(&line).exits(code);
            assert_eq!(maxima(&redis), "api=1", "{line}");
        };
        put("--jid a", 5);
        put("--jid a --if-absent", 0);
        put("--key k --unique", 0);
        put("--depends nope", 4);
        put("--jid b --depends b", 5);
        put("--merge", 2);
        put("--key k --unique -n", 0);
        put("--jid c -n", 0);
        let from = |lines: &str, more: &str, code: i32| {
            let line = format!("put t K --from - --throttle {id}=9 {more}");
            redis.at(12).input(lines).run(&line).exits(code);
            assert_eq!(maxima(&redis), "api=1", "{line}");
        };
        from("{\"jid\":\"a\"}", "", 5);
        from("{\"jid\":\"a\"}", "--if-absent", 0);
        from("{\"key\":\"k\",\"dup\":\"skip\"}", "", 0);
        from("{\"jid\":\"c\"}", "-n", 0);
        from("", "", 0);

        let line = format!("put t K --jid d --throttle {id}=9");
        redis.ok(13, &line);
        let expected = if id == "api" { "api=9" } else { "api=1 new=9" };
        assert_eq!(maxima(&redis), expected);
        let line = format!("put t K --from - --throttle {id}=7");
        redis
            .at(14)
            .input("{\"jid\":\"e\"}\n{\"jid\":\"d\"}\n")
            .run(&line)
            .exits(3);
        let expected = if id == "api" { "api=7" } else { "api=1 new=7" };
        assert_eq!(maxima(&redis), expected);
    }
}

#[test]
fn a_put_counts_with_the_maximum_that_it_sets() {
    let redis = Redis::start();
    redis.session(expect![[r#"
        9 $ qless throttle set api 1 --ttl 1h &>/dev/null
        10 $ qless put t K --jid a --throttle api &>/dev/null
        11 $ qless pop t --worker w &>/dev/null
        12 $ qless put t K --jid b --throttle api=1 --throttle new=-1 -n -o json | jq -c .state
        "throttled"
        --- stderr
        would put a job in t, throttled
        would set the maximum of throttle new to -1 (no job runs)
    "#]]);
    assert_eq!(maxima(&redis), "api=1");
    // With a larger maximum, the job has a slot.
    redis.session(expect![[r#"
        12 $ qless put t K --jid b --throttle api=1 --throttle new=-1 -o json | jq -c .state
        "throttled"
        12 $ qless throttle show new -o json | jq -c .maximum
        -1
        12 $ qless put t K --jid c --throttle api=2 -o json | jq -c .state
        "waiting"
    "#]]);
    let shown = redis.json(13, "throttle show api -o json");
    assert_eq!(shown["maximum"], 2);
    assert!(shown["ttl_s"].as_u64() > Some(3000), "{shown}");
}

#[test]
fn a_dry_run_tells_what_the_lane_does_with_a_put() {
    let put = |prefix: &str, redis: &Redis| {
        redis.ok(10, &format!("--prefix {prefix} put q K --jid a --key c"));
        let merge = "put q K --jid m --key d --merge";
        redis.ok(10, &format!("--prefix {prefix} {merge}"));
    };
    let redis = Redis::start();
    put("dry:", &redis);
    let mut table = String::new();
    for (at, line) in [
        "put q K --jid x --key c --unique",
        "put q K --jid x --key d --merge",
        "put q Other --jid x --key d --merge",
        "put q K --jid x --key c --dup replace",
        "put q K --jid x --key c --dup queue",
        "put q K --jid x --key new --unique",
        "put q K --jid m --key c --replace",
    ]
    .into_iter()
    .enumerate()
    {
        // Each put is carried out among jobs of its own.
        let prefix = format!("real{at}:");
        put(&prefix, &redis);
        let before = redis.dump();
        let ran = redis
            .at(11)
            .run(&format!("--prefix dry: {line} -n -o json"));
        let (dry, said) = (ran.json(), ran.stderr());
        assert_eq!(redis.dump(), before);
        let real = redis.json(11, &format!("--prefix {prefix} {line} -o json"));
        let members = ["jid", "state", "new", "queued_behind", "queue", "created"];
        for member in members {
            assert_eq!(real[member], dry[member], "{line}: {member}");
        }
        let [jid, state, new, behind, ..] = members.map(|member| &dry[member]);
        table += &format!("{line}\n{jid} {state} {new} {behind}: {said}");
    }
    expect![[r#"
        put q K --jid x --key c --unique
        "a" "waiting" false null: would put nothing: a is in q, waiting
        put q K --jid x --key d --merge
        "m" "waiting" false null: would merge the data into m in q, waiting
        put q Other --jid x --key d --merge
        "x" "depends" true "m": would put a job in q, depends, behind m
        put q K --jid x --key c --dup replace
        "a" "waiting" false null: would replace a in q, waiting
        put q K --jid x --key c --dup queue
        "x" "depends" true "a": would put a job in q, depends, behind a
        put q K --jid x --key new --unique
        "x" "waiting" true null: would put a job in q, waiting
        put q K --jid m --key c --replace
        "m" "depends" true "a": would put a job in q, depends, behind a
    "#]]
    .assert_eq(&table);
}

#[test]
fn a_dry_run_reads_the_uniqueness_window_and_the_defaults_of_the_queue() {
    Redis::start().session(expect![[r#"
        9 $ qless defaults q '{"key":"{klass}","dup":"skip"}' &>/dev/null
        10 $ qless put q K --jid a --ttl 60s &>/dev/null
        11 $ qless pop q --worker w &>/dev/null
        12 $ qless complete a --worker w &>/dev/null
        13 $ qless put q K -n
        --- stderr
        would put nothing: a is complete
        13 $ qless put q K
        a
        90 $ qless put q K -n
        --- stderr
        would put a job in q, waiting
    "#]]);
}

#[test]
fn an_empty_key_cannot_be_merged() {
    let redis = Redis::start();
    redis.session(expect![[r#"
        10 $ qless put q K --key '' --merge
        --- stderr
        error: `--merge` needs a `--key` that is not empty
        --- exit 2
    "#]]);
    for flags in ["--unique", "--dup replace", "--hold"] {
        redis
            .at(10)
            .run(&format!("put q K --key '' {flags}"))
            .exits(2);
    }
    assert!(redis.dump().is_empty());
}

#[test]
fn a_maximum_means_the_same_in_a_flag_in_a_line_and_in_defaults() {
    let lines = r#"{"throttles":["cust:new=3"]}
"#;
    for way in ["flag", "line", "defaults"] {
        let redis = Redis::start();
        let run = |line: &str| redis.at(10).input(lines.repeat(6)).run(line).exits(0);
        match way {
            "flag" => (0..6).for_each(|_| drop(run("put th K --throttle cust:new=3"))),
            "line" => drop(run("put th K --from -")),
            _ => {
                let defaults = r#"{"throttles":["cust:{data.c}=3"]}"#;
                redis.at(9).args(["defaults", "th", defaults]).ok();
                (0..6).for_each(|_| drop(run("put th K --arg c=new")));
            }
        }
        assert_eq!(maxima(&redis), "cust:new=3", "{way}");
        let popped = redis.ok(11, "pop th --worker w --count 9 -o jid");
        assert_eq!(popped.lines().count(), 3, "{way}");
    }
}

#[test]
fn the_maxima_of_lines_agree_and_are_set_as_those_of_the_flag() {
    let redis = Redis::start();
    redis.session(expect![[r#"
        10 $ printf '{"throttles":["a=1","b"]}\n{"throttles":["a=2"]}\n' | qless put q K --from -
        --- stderr
        error: stdin, line 2, column 1: throttle `a` has two maxima, 1 and 2
        --- exit 2
        10 $ printf '{"throttles":["a=1","b"]}' | qless put q K --from - --throttle a=2 &>/dev/null
        --- exit 2
        10 $ printf '{"throttles":["a=1","b"]}' | qless put q K --from - -n
        --- stderr
        note: queue `q` is new
        would set the maximum of throttle a to 1
        would put 1
    "#]]);
    assert!(redis.dump().is_empty());
    redis.session(expect![[r#"
        10 $ qless throttle set a 5 &>/dev/null
        11 $ printf '{"throttles":["a=1","b"]}' | qless put q K --from - &>/dev/null
    "#]]);
    assert_eq!(maxima(&redis), "a=1");
}

#[test]
fn an_option_without_effect_is_noted() {
    Redis::start().session(expect![[r#"
        10 $ qless put q K --jid a --key k --ttl 60s -n
        --- stderr
        note: queue `q` is new
        note: `--ttl` needs `--unique`: it has no effect
        would put a job in q, waiting
        10 $ qless put q K --jid a --key k --ttl 60s
        a
        --- stderr
        note: `--ttl` needs `--unique`: it has no effect
        11 $ qless defaults q '{"dup":"skip"}' &>/dev/null
        12 $ qless put q K --jid b --key k --ttl 60s
        a
    "#]]);
}

#[test]
fn a_put_names_the_command_that_finds_keys_of_a_wrong_type() {
    for key in ["ql:k:q/k", "ql:j:a"] {
        let redis = Redis::start();
        redis.send(&["SET", key, "x"]);
        let ran = redis.at(10).run("put q K --jid a --key k");
        ran.says("`qless check --only key-type` names it");
        assert!(!ran.stderr().contains("WRONGTYPE"), "{}", ran.stderr());
        assert_eq!(redis.dump().len(), 1);
    }
}

#[test]
fn lines_and_recurring_jobs_take_what_an_option_requires_from_the_defaults() {
    let redis = Redis::start();
    redis.session(expect![[r#"
        10 $ qless defaults q '{"key":"{klass}","dup":"merge"}' &>/dev/null
        11 $ printf '{"data":2,"score":2,"jid":"a"}\n{"data":1,"score":1}' | qless put q K --from - -n
        --- stderr
        note: queue `q` is new
        would put 2
        11 $ printf '{"data":2,"score":2,"jid":"a"}\n{"data":1,"score":1}' | qless put q K --from -
        --- stderr
        2 put
        11 $ qless get a --field data
        [1,2]
        12 $ printf '{"hold":true,"klass":"Held","jid":"held"}' | qless put q --from - &>/dev/null
        12 $ qless get held --field hold
        true
        13 $ qless recur put q K --every 1h --jid r --key k --score 5
        r
        13 $ qless recur get r -o json | jq -c .options
        {"key":"k","score":5}
        14 $ printf '{"score":1,"key":""}' | qless put q K --from -
        --- stderr
        error: stdin, line 1, column 1: `score` needs `dup` to be `merge`
        --- exit 2
        14 $ printf '{}\n{"hold":true}' | qless put other K --from -
        --- stderr
        error: stdin, line 2, column 1: `hold` needs `key`
        --- exit 2
        14 $ qless length other
        0
        15 $ printf '{"key":"k","ttl":5}\n{"key":"k","ttl":6}' | qless put other K --from -
        --- stderr
        note: stdin, line 1: `ttl` needs `dup` to be `skip`: it has no effect
        2 put
        16 $ qless recur put other K --every 1h --jid o --key k --score 5
        o
        --- stderr
        note: `--score` needs `--merge`: it has no effect
        16 $ qless recur put q K --every 1h --hold
        --- stderr
        error: `--hold` needs `--key`
        --- exit 2
    "#]]);
}

#[test]
fn a_line_that_replaces_a_job_keeps_the_lane_that_an_option_requires() {
    let redis = Redis::start();
    redis.session(expect![[r#"
        10 $ qless put q K --jid a --key k &>/dev/null
        11 $ printf '{"jid":"a","hold":true}' | qless put q K --from - --replace
        --- stderr
        1 put
        11 $ qless get a -o json | jq -c '[.key, .hold]'
        ["q/k",true]
        11 $ printf '{"jid":"b","hold":true}' | qless put q K --from - --replace
        --- stderr
        0 put, 1 failed
          failed   1  Guard(): "hold" cannot be used without "key": b
        --- exit 1
    "#]]);
}
