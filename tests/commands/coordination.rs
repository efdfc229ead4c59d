//! The options of lanes, throttles and back-off of `put`, `put --from`, `recur`, `complete --next`,
//! `export` and `import`.

use expect_test::expect;
use serde_json::{Value, json};

use crate::support::redis::Redis;
use crate::support::terminal;
use crate::support::text::words;

fn job(redis: &Redis, jid: &str) -> Value {
    redis.json(99, &format!("get {jid} -o json"))
}

#[test]
fn put_tells_whether_a_job_is_new_and_what_it_waits_for() {
    let redis = Redis::start();
    redis.session(expect![[r#"
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
    "#]]);
    assert_eq!(job(&redis, "b")["klass"], "Other");
}

#[test]
fn merged_puts_are_one_job_with_payloads_by_score() {
    let redis = Redis::start();
    for (now, data, score) in [
        (10, "{\"v\":1}", "5"),
        (11, "{\"v\":2}", "-3"),
        (12, "{\"v\":1}", "9"),
    ] {
        let args = [
            "put", "orders", "Sync", data, "--key", "k", "--merge", "--score", score,
        ];
        redis.at(now).args(args).ok();
    }
    let jobs = redis.json(13, "jobs --queue orders -o json");
    assert_eq!(jobs["items"].as_array().unwrap().len(), 1);
    let jid = jobs["items"][0]["jid"].as_str().unwrap();
    let merged = job(&redis, jid);
    assert_eq!(merged["data"], json!([{"v": 2}, {"v": 1}]));
    assert_eq!(
        merged["payloads"][0],
        json!({"data": {"v": 2}, "score": -3})
    );
    assert_eq!(merged["payloads"][1]["score"], 5);
    redis
        .at(14)
        .run("put orders Sync {\"v\":1} --key k --merge --score 9 --rescore max")
        .exits(2);
    let args = [
        "put",
        "orders",
        "Sync",
        "{\"v\":1}",
        "--key",
        "k",
        "--merge",
        "--score",
        "9",
        "--rescore",
        "max",
    ];
    redis.at(14).args(args).ok();
    assert_eq!(job(&redis, jid)["payloads"][1]["score"], 9);
}

#[test]
fn a_popped_merge_job_has_its_payloads() {
    let redis = Redis::start();
    for (now, data) in [(10, "1"), (11, "2")] {
        let args = ["put", "orders", "Sync", data, "--key", "k", "--merge"];
        redis.at(now).args(args).ok();
    }
    redis.ok(12, "put orders Sync --jid plain");
    let jid = redis.ok(13, "jobs --key k -o jid");
    let lists = [
        format!("get plain {jid} -o json"),
        "get --key k -o json".to_owned(),
        "pop orders --worker w -o json".to_owned(),
    ];
    for line in lists {
        let jobs = redis.json(14, &line);
        let jobs = jobs["items"].as_array().unwrap();
        let merged = jobs.iter().find(|job| job["jid"] == *jid).unwrap();
        assert_eq!(merged["payloads"][1]["data"], 2, "{line}");
        let plain = jobs.iter().find(|job| job["jid"] == "plain");
        assert_eq!(plain.and_then(|job| job.get("payloads")), None, "{line}");
    }
    let fence = redis.ok(15, &format!("get {jid} --field fence"));
    assert_eq!(fence, "1");
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
    redis.ok(
        10,
        "put q K --jid a --key k --hold --lock=sales.csv --throttle api=10 --throttle db \
             --backoff exp:30s:2:1h:0.1",
    );
    let a = job(&redis, "a");
    assert_eq!(a["throttles"], json!(["api", "db", "lock:sales.csv"]));
    assert_eq!(a["backoff"], "exp:30:2:3600:0.1");
    assert_eq!(a["hold"], true);
    redis.ok(
        11,
        "put q K --jid a --replace --key '' --throttle '' --lock= --backoff ''",
    );
    let a = job(&redis, "a");
    for field in ["key", "throttles", "backoff", "hold"] {
        assert_eq!(a.get(field), None, "{field}");
    }
    redis.ok(12, "put q K '{\"x\":1}' --jid b --lock");
    let id = job(&redis, "b")["throttles"][0]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(id.starts_with("lock:K:"), "{id}");
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
    let lines = concat!(
        r#"{"queue":"q","klass":"K","jid":"a","key":"k","hold":true,"throttles":["api"],"backoff":"fixed:1m"}"#,
        "\n",
        r#"{"queue":"q","klass":"K","data":1,"key":"m","dup":"merge","score":2}"#,
        "\n",
        r#"{"queue":"q","klass":"K","data":2,"key":"m","dup":"merge","score":1}"#,
        "\n",
        r#"{"queue":"q","klass":"K","key":"k","dup":"skip","ttl":"1d"}"#,
        "\n",
    );
    let jids = redis.at(10).input(lines).run("put --from - -o jid").ok();
    let jids: Vec<&str> = jids.lines().collect();
    assert_eq!(
        (jids.len(), jids[0], jids[1], jids[3]),
        (4, "a", jids[2], "a")
    );
    let a = job(&redis, "a");
    assert_eq!(
        (&a["backoff"], &a["hold"]),
        (&"fixed:60".into(), &true.into())
    );
    assert_eq!(job(&redis, jids[1])["data"], json!([2, 1]));
    let defaults = r#"{"queue":"q","klass":"K","data":3}"#;
    redis
        .at(11)
        .input(defaults)
        .run("put --from - --key m --merge --score 0 -o json")
        .shows(expect![[r#"
            {
              "kind": "bulk",
              "v": 1,
              "action": "put",
              "dry_run": false,
              "context": null,
              "matched": 1,
              "done": 1,
              "skipped": 0,
              "failed": 0,
              "remaining": 0,
              "elapsed_s": 0,
              "items": []
            }
            --- stderr
            1 put
        "#]]);
    assert_eq!(job(&redis, jids[1])["data"], json!([3, 2, 1]));
}

#[test]
fn wrong_options_of_a_line_are_refused_before_anything_is_sent() {
    let redis = Redis::start();
    let good = r#"{"queue":"q","klass":"K"}"#;
    for (members, expected) in [
        (
            r#""dup":"merge""#,
            expect![[r#"
            --- stderr
            error: stdin, line 2, column 1: `dup` needs `key`
            --- exit 2
        "#]],
        ),
        (
            r#""key":"k","ttl":5"#,
            expect![[r#"
            --- stderr
            error: stdin, line 2, column 1: `ttl` needs `dup` to be `skip`
            --- exit 2
        "#]],
        ),
        (
            r#""key":7"#,
            expect![[r#"
                --- stderr
                error: stdin, line 2, column 32: `key` expects a text, not `7`
                --- exit 2
            "#]],
        ),
        (
            r#""key":"k","dup":"all""#,
            expect![[r#"
            --- stderr
            error: stdin, line 2, column 42: `dup` expects `queue`, `merge`, `skip` or `replace`, not `"all"`
            --- exit 2
        "#]],
        ),
        (
            r#""throttles":"api""#,
            expect![[r#"
                --- stderr
                error: stdin, line 2, column 38: `throttles` expects an array of texts, not `"api"`
                --- exit 2
            "#]],
        ),
        (
            r#""throttles":["api",1]"#,
            expect![[r#"
                --- stderr
                error: stdin, line 2, column 38: `throttles` holds something that is not a text
                --- exit 2
            "#]],
        ),
        (
            r#""key":"k","hold":"yes""#,
            expect![[r#"
            --- stderr
            error: stdin, line 2, column 43: `hold` expects `0` or `1`, not `"yes"`
            --- exit 2
        "#]],
        ),
        (
            r#""key":"k","dup":"merge","score":"1""#,
            expect![[r#"
                --- stderr
                error: stdin, line 2, column 58: `score` expects a number, not `"1"`
                --- exit 2
            "#]],
        ),
        (
            r#""backoff":"exp""#,
            expect![[r#"
                --- stderr
                error: stdin, line 2, column 36: `backoff` expects `fixed:30s`, `linear:30s`, `exp:30s` with a factor, a maximum and a share of jitter (`exp:30s:2:1h:0.1`), `lowkiq`, or for lost locks `{"initial_delay":30,"factor":2}`, not `"exp"`
                --- exit 2
            "#]],
        ),
    ] {
        let line = format!("{good}\n{{\"queue\":\"q\",\"klass\":\"K\",{members}}}\n");
        redis
            .at(10)
            .input(line)
            .run("put --from -")
            .exits(2)
            .shows(expected);
    }
    assert!(redis.dump().is_empty());
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
    "#]]);
    redis.ok(20, "pop reports --worker w");
    let running = redis.json(20, "jobs --state running -o json");
    assert_eq!(running["items"][0]["key"], "reports/hourly");
    assert_eq!(running["items"][0]["throttles"], json!(["db"]));
    // The next runs are left out while the first one has not ended.
    redis.ok(9_000, "peek reports");
    let open = redis.ok(9_000, "jobs --queue reports -o jid");
    assert_eq!(open.lines().count(), 1, "{open}");
    redis.ok(9_000, "recur set hourly --backoff linear:2m --key other");
    let options = redis.json(9_000, "recur get hourly -o json")["options"].clone();
    assert_eq!(
        (&options["backoff"], &options["key"]),
        (&"linear:120".into(), &"other".into())
    );
    let jid = redis.ok(9_001, "recur run hourly");
    assert_eq!(job(&redis, &jid)["backoff"], "linear:120");
    redis
        .at(10)
        .run("recur put q K --every 1h --no-overlap --key k")
        .exits(2);
}

#[test]
fn an_advanced_job_gets_the_options_of_the_next_queue() {
    let redis = Redis::start();
    redis.ok(10, "put q K --jid a");
    redis.ok(11, "pop q --worker w");
    redis.ok(
        12,
        "complete a --worker w --next ship --key k --throttle api=3 --backoff fixed:5",
    );
    let a = job(&redis, "a");
    assert_eq!(a["key"], "ship/k");
    assert_eq!(a["throttles"], json!(["api"]));
    assert_eq!(a["backoff"], "fixed:5");
    // A refused call changes no throttle.
    for (jids, depends) in [("a", "a"), ("a", "nobody"), ("b", ""), ("b nobody", "")] {
        let depends = if depends.is_empty() {
            String::new()
        } else {
            format!("--depends {depends}")
        };
        let line = format!("complete {jids} --worker w --next ship --throttle api=9 {depends}");
        assert_ne!(redis.at(13).run(&line).code(), 0, "{line}");
    }
    assert_eq!(redis.json(13, "throttle show api -o json")["maximum"], 3);
    redis.session(expect![[r#"
        13 $ qless complete a --worker w --key k
        --- stderr
        error: `--key`, `--hold`, `--lock`, `--throttle` and `--backoff` need `--next`
        hint: a completed job does not run again
        --- exit 2
    "#]]);
}

#[test]
fn an_import_restores_lanes_throttles_and_payloads() {
    let old = Redis::start();
    for (now, line) in [
        (
            10,
            "put orders Sync '{\"v\":1}' --jid a --key k --merge --score 5 --rescore max",
        ),
        (11, "put orders Sync '{\"v\":2}' --key k --merge --score 3"),
        (
            12,
            "put orders Sync --jid b --key k --hold --throttle api=1 --backoff lowkiq",
        ),
        (13, "put orders Sync --jid c --key /all"),
        (
            14,
            "recur put orders Tick --every 1h --jid tick --no-overlap --offset 1d",
        ),
    ] {
        old.at(now).run(line).ok();
    }
    let export = old.at(20).run("export --all --with recur").ok();
    let new = Redis::start();
    new.at(30).input(export.clone()).run("import - --yes").ok();
    for jid in ["a", "b", "c"] {
        let (before, mut after) = (job(&old, jid), job(&new, jid));
        after["history"] = before["history"].clone();
        after["since"] = before["since"].clone();
        assert_eq!(after, before, "{jid}");
    }
    let lane = |redis: &Redis| redis.ok(30, "key orders k -o jid");
    assert_eq!(lane(&new), lane(&old));
    let options = |redis: &Redis| redis.json(30, "recur get tick -o json")["options"].clone();
    assert_eq!(options(&new), options(&old));
    let renamed = Redis::start();
    renamed
        .at(30)
        .input(export)
        .run("import - --yes --map-queue orders=shop")
        .ok();
    assert_eq!(job(&renamed, "b")["key"], "shop/k");
    assert_eq!(job(&renamed, "c")["key"], "/all");
}

#[test]
fn a_terminal_tells_what_happened_to_a_put() {
    let redis = Redis::start();
    let on_terminal = |now: u32, line: &str| {
        let mut command = redis.at(now).command();
        command.args(words(line)).env("TERM", "xterm");
        terminal::run(command, 100).stdout()
    };
    redis.ok(9, "put q K --jid z");
    let shown: String = [
        (10, "put q K --jid a --key k --merge"),
        (11, "put q K 1 --jid b --key k --merge"),
        (12, "put q K 2 --jid c --key k --unique"),
        (13, "put q K 3 --jid d --key k --dup replace"),
        (14, "put q K 4 --jid e --key k"),
        (15, "put q K 5 --jid f --throttle api=-1"),
    ]
    .map(|(now, line)| on_terminal(now, line))
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
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while redis.subscribers() == 0 {
        assert!(std::time::Instant::now() < deadline);
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
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
    redis.ok(9, "throttle set api 1 --ttl 1h");
    redis.ok(10, "put t K --jid a --throttle api");
    redis.ok(11, "pop t --worker w");
    let put = |line: &str| redis.json(12, &format!("{line} -o json"));
    let line = "put t K --jid b --throttle api=1 --throttle new=-1";
    let dry = put(&format!("{line} -n"));
    assert_eq!(maxima(&redis), "api=1");
    let done = put(line);
    assert_eq!(
        (&dry["state"], &done["state"]),
        (&"throttled".into(), &"throttled".into())
    );
    assert_eq!(maxima(&redis), "api=1 new=-1");
    // Its place was taken by the maximum of `api`, too: it is held as long as one of them has no slot.
    assert_eq!(put("put t K --jid c --throttle api=2")["state"], "waiting");
    let shown = redis.json(13, "throttle show api -o json");
    assert_eq!(shown["maximum"], 2);
    assert!(shown["ttl_s"].as_u64() > Some(3000), "{shown}");
}

#[test]
fn a_dry_run_tells_what_the_lane_does_with_a_put() {
    let redis = Redis::start();
    redis.ok(10, "put q K --jid a --key c");
    redis.ok(10, "put q K --jid m --key d --merge");
    let before = redis.dump();
    for line in [
        "put q K --jid x --key c --unique",
        "put q K --jid x --key d --merge",
        "put q Other --jid x --key d --merge",
        "put q K --jid x --key c --dup replace",
        "put q K --jid x --key c --dup queue",
        "put q K --jid x --key new --unique",
        "put q K --jid m --key c --replace",
    ] {
        let ran = redis.at(11).run(&format!("{line} -n -o json")).exits(0);
        let document: Value = serde_json::from_str(&ran.stdout()).unwrap();
        let members = ["jid", "state", "new", "queued_behind"].map(|name| &document[name]);
        let rehearsal = format!("{members:?}\n{}", ran.stderr());
        assert_eq!(redis.dump(), before);
        let expected = match line {
            "put q K --jid x --key c --unique" => expect![[r#"
                [String("a"), String("waiting"), Bool(false), Null]
                would put nothing: a is in q, waiting
            "#]],
            "put q K --jid x --key d --merge" => expect![[r#"
                [String("m"), String("waiting"), Bool(false), Null]
                would merge the data into m in q, waiting
            "#]],
            "put q Other --jid x --key d --merge" => expect![[r#"
                [String("x"), String("depends"), Bool(true), String("m")]
                would put a job in q, depends, behind m
            "#]],
            "put q K --jid x --key c --dup replace" => expect![[r#"
                [String("a"), String("waiting"), Bool(false), Null]
                would replace a in q, waiting
            "#]],
            "put q K --jid x --key c --dup queue" => expect![[r#"
                [String("x"), String("depends"), Bool(true), String("a")]
                would put a job in q, depends, behind a
            "#]],
            "put q K --jid x --key new --unique" => expect![[r#"
                [String("x"), String("waiting"), Bool(true), Null]
                would put a job in q, waiting
            "#]],
            _ => expect![[r#"
                [String("m"), String("depends"), Bool(true), String("a")]
                would put a job in q, depends, behind a
            "#]],
        };
        expected.assert_eq(&rehearsal);
        // A second server with the same jobs, where the put is carried out.
        let real = Redis::start();
        real.at(10).run("put q K --jid a --key c").ok();
        real.at(10).run("put q K --jid m --key d --merge").ok();
        let put = real.at(11).run(&format!("{line} -o json")).json();
        for member in ["jid", "queue", "state", "created", "new", "queued_behind"] {
            assert_eq!(put[member], document[member], "{line}: {member}");
        }
    }
}

#[test]
fn a_dry_run_reads_the_uniqueness_window_and_the_defaults_of_the_queue() {
    let redis = Redis::start();
    redis
        .at(9)
        .args(["defaults", "q", r#"{"key":"{klass}","dup":"skip"}"#])
        .ok();
    redis.at(10).run("put q K --jid a --ttl 60s").exits(0);
    redis.ok(11, "pop q --worker w");
    redis.ok(12, "complete a --worker w");
    redis.session(expect![[r#"
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
    for flags in ["--merge", "--unique", "--dup replace", "--hold"] {
        let mut args = vec!["put", "q", "K", "--key", ""];
        args.extend(flags.split(' '));
        let ran = redis.at(10).args(args).exits(2);
        if flags == "--merge" {
            ran.shows(expect![[r#"
                --- stderr
                error: `--merge` needs a `--key` that is not empty
                --- exit 2
            "#]]);
        }
    }
    redis
        .at(10)
        .input(r#"{"key":"","dup":"merge"}"#)
        .run("put q K --from -")
        .shows(expect![[r#"
            --- stderr
            error: stdin, line 1, column 1: `dup` needs a `key` that is not empty
            --- exit 2
        "#]]);
    assert!(redis.dump().is_empty());
}

#[test]
fn lines_with_the_names_of_flags_get_a_hint() {
    let redis = Redis::start();
    for line in [
        r#"{"throttles":["db","a=b"]}"#,
        r#"{"unique":true}"#,
        r#"{"merge":true}"#,
    ] {
        redis
            .at(10)
            .input(line)
            .run("put q K --key k --from -")
            .shows(match line {
                r#"{"unique":true}"# => expect![[r#"
                    --- stderr
                    error: stdin, line 1, column 2: a job has no field `unique`
                    hint: `"dup":"skip"` is what `--unique` does
                    --- exit 2
                "#]],
                r#"{"merge":true}"# => expect![[r#"
                    --- stderr
                    error: stdin, line 1, column 2: a job has no field `merge`
                    hint: `"dup":"merge"` is what `--merge` does
                    --- exit 2
                "#]],
                _ => expect![[r#"
                    --- stderr
                    error: stdin, line 1, column 14: `throttles` expects `ID` or `ID=MAX`, where MAX is a number (`a=b=` is the id `a=b`), not `a=b`
                    --- exit 2
                "#]],
            });
    }
    redis
        .at(11)
        .input(r#"{"throttles":["a=b="]}"#)
        .run("put q K --from -")
        .exits(0);
    assert_eq!(redis.ok(11, "jobs --columns throttles"), "a=b");
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
    redis
        .at(10)
        .input("{\"throttles\":[\"a=1\",\"b\"]}\n{\"throttles\":[\"a=2\"]}\n")
        .run("put q K --from -")
        .shows(expect![[r#"
            --- stderr
            error: stdin, line 2, column 1: throttle `a` has two maxima, 1 and 2
            --- exit 2
        "#]]);
    let one = "{\"throttles\":[\"a=1\",\"b\"]}\n";
    redis
        .at(10)
        .input(one)
        .run("put q K --from - --throttle a=2")
        .exits(2);
    redis
        .at(10)
        .input("{\"throttles\":[\"a=1\",\"a=2\"]}\n")
        .run("put q K --from -")
        .exits(2);
    redis
        .at(10)
        .input(one)
        .run("put q K --from - -n")
        .shows(expect![[r#"
            --- stderr
            note: queue `q` is new
            would set the maximum of throttle a to 1
            would put 1
        "#]]);
    assert!(redis.dump().is_empty());
    redis.ok(10, "throttle set a 5");
    redis.at(11).input(one).run("put q K --from -").exits(0);
    assert_eq!(maxima(&redis), "a=1");
}

#[test]
fn an_option_without_effect_is_noted() {
    let redis = Redis::start();
    redis.session(expect![[r#"
        10 $ qless put q K --jid a --key k --ttl 60s -n
        --- stderr
        note: queue `q` is new
        note: `--ttl` needs `--unique`: it has no effect
        would put a job in q, waiting
        10 $ qless put q K --jid a --key k --ttl 60s
        a
        --- stderr
        note: `--ttl` needs `--unique`: it has no effect
    "#]]);
    redis
        .at(11)
        .args(["defaults", "q", r#"{"dup":"skip"}"#])
        .ok();
    redis.session(expect![[r#"
        12 $ qless put q K --jid b --key k --ttl 60s
        a
    "#]]);
}

#[test]
fn a_put_names_the_command_that_finds_keys_of_a_wrong_type() {
    for (key, value) in [("ql:k:q/k", "x"), ("ql:j:a", "x")] {
        let redis = Redis::start();
        redis.send(&["SET", key, value]);
        let said = redis.at(10).run("put q K --jid a --key k").stderr();
        assert!(!said.contains("WRONGTYPE"), "{said}");
        assert!(
            said.contains("`qless check --only key-type` names it"),
            "{said}"
        );
        assert_eq!(redis.dump().len(), 1);
    }
}

#[test]
fn a_job_can_be_advanced_with_a_place_that_it_keeps() {
    let redis = Redis::start();
    redis.ok(10, "put q K --jid a");
    redis.ok(11, "pop q --worker w");
    redis.ok(12, "complete a --worker w --next q --key k --hold");
    let job = redis.json(13, "get a -o json");
    assert_eq!((&job["key"], &job["hold"]), (&"q/k".into(), &true.into()));
    redis.ok(14, "pop q --worker w");
    redis.at(15).run("complete a --worker w --hold").exits(2);
}
