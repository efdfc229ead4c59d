//! `qless get`

use expect_test::expect;

use crate::support::redis::Redis;

/// A job of each kind: `j` failed, `k` depends on it, `nightly` is a template.
fn night() -> Redis {
    let redis = Redis::start();
    let api = |now: f64, line: &str| redis.ok(now, &format!("api {line}"));
    let data = r#"{"user":9007199254740993,"locale":"de","list":[]}"#;
    api(
        2.0,
        &format!(
            "put me mail j Mail::Welcome '{data}' 0 priority 10 tags '[\"onboarding\",\"eu\"]' retries 5"
        ),
    );
    api(3.0, r#"put me deploy k Deploy '{}' 0 depends '["j"]'"#);
    api(9.0, "pop mail mx-1 1");
    api(
        40.0,
        "fail j mx-1 'upload error' 'PermissionError: cannot open\n  at upload.py:88'",
    );
    api(
        50.0,
        r#"recur reports nightly Nightly '[1.10]' interval 86400 60 retries 2"#,
    );
    redis
}

#[test]
fn one_job_is_shown_in_full() {
    night().at(100).run("get j").shows(expect![[r#"
        jid	j
        klass	Mail::Welcome
        queue	mail
        state	failed	upload error, 1970-01-01T00:00:40.000Z, by mx-1
        priority	10	higher runs first
        retries	5 of 5 remaining
        tags	onboarding, eu
        tracked	no
        depends on	–
        needed by	k (depends)
        data	{"user":9007199254740993,"locale":"de","list":[]}

        failure
          PermissionError: cannot open
            at upload.py:88

        history (3)
          1970-01-01T00:00:02.000Z  put     in mail
          1970-01-01T00:00:09.000Z  popped  by mx-1       waited 7s
          1970-01-01T00:00:40.000Z  failed  upload error  ran 31s
    "#]]);
}

#[test]
fn get_of_one_jid_is_one_document() {
    night().at(100).run("get j -o json").shows(expect![[r#"
        {
          "kind": "job",
          "v": 1,
          "jid": "j",
          "klass": "Mail::Welcome",
          "queue": "mail",
          "state": "failed",
          "state_stored": "failed",
          "priority": 10,
          "retries": 5,
          "remaining": 5,
          "worker": null,
          "expires": null,
          "tracked": false,
          "tags": [
            "onboarding",
            "eu"
          ],
          "data": {"user":9007199254740993,"locale":"de","list":[]},
          "failure": {
            "group": "upload error",
            "message": "PermissionError: cannot open\n  at upload.py:88",
            "worker": "mx-1",
            "when": "1970-01-01T00:00:40.000Z"
          },
          "dependencies": [],
          "dependents": [
            "k"
          ],
          "spawned_from": null,
          "scheduled_for": null,
          "since": "1970-01-01T00:00:40.000Z",
          "history": [
            {
              "what": "put",
              "when": "1970-01-01T00:00:02.000Z",
              "queue": "mail"
            },
            {
              "what": "popped",
              "when": "1970-01-01T00:00:09.000Z",
              "worker": "mx-1"
            },
            {
              "what": "failed",
              "when": "1970-01-01T00:00:40.000Z",
              "group": "upload error",
              "worker": "mx-1"
            }
          ]
        }
    "#]]);
}

#[test]
fn digits_and_empty_lists_survive() {
    let redis = night();
    let data = r#"{"user":9007199254740993,"locale":"de","list":[]}"#;
    assert_eq!(redis.at(100).run("get j --data").stdout(), data);
    let line = redis.ok(100, "get j -o ndjson");
    assert!(line.contains(&format!(r#""data":{data}"#)), "{line}");
    assert_eq!(redis.at(100).run("get nightly --data").stdout(), "[1.10]");
}

#[test]
fn several_jobs_are_a_list_in_the_order_given() {
    let redis = night();
    let list = redis.json(100, "get k nightly j -o json");
    assert_eq!(list["kind"], "jobs");
    assert_eq!(list["items"][0]["jid"], "k");
    assert_eq!(list["items"][0]["dependencies"][0], "j");
    assert_eq!(list["items"][1]["every_s"], 86400);
    assert_eq!(list["items"][2]["dependents"][0], "k");
    assert!(list["items"][2].get("history").is_none());
    assert_eq!(list["missing"], serde_json::json!([]));
    let list = redis.json(100, "get k j --history -o json");
    assert_eq!(list["items"][1]["history"].as_array().unwrap().len(), 3);
}

#[test]
fn get_shows_recurring_jobs() {
    night().at(100).run("get nightly").shows(expect![[r#"
        jid	nightly
        klass	Nightly
        queue	reports
        state	recurring
        every	1d
        next	1970-01-01T00:01:50.000Z
        spawned	0
        backlog	0	all missed runs are made up for
        priority	0	higher runs first
        retries	2
        tags	–
        data	[1.10]
    "#]]);
    night()
        .at(100)
        .run("get nightly -o json")
        .shows(expect![[r#"
            {
              "kind": "recurring",
              "v": 1,
              "jid": "nightly",
              "klass": "Nightly",
              "queue": "reports",
              "every_s": 86400,
              "next": "1970-01-01T00:01:50.000Z",
              "backlog": 0,
              "count": 0,
              "priority": 0,
              "retries": 2,
              "tags": [],
              "data": [1.10]
            }
        "#]]);
}

#[test]
fn missing_jobs_are_reported_after_the_others() {
    let redis = night();
    redis.session(expect![[r#"
        100 $ qless get k nope j gone -o jid
        k
        j
        --- stderr
        error: 2 jobs do not exist: `nope`, `gone`
        --- exit 4
        100 $ qless get nope
        --- stderr
        error: job `nope` does not exist
        --- exit 4
        100 $ qless get nope -o json
        --- stderr
        {"kind":"error","v":1,"code":"not_found","exit":4,"message":"job `nope` does not exist","hint":null,"jid":"nope"}
        --- exit 4
    "#]]);
    let list = redis.at(100).run("get k nope -o json").exits(4);
    let list: serde_json::Value = serde_json::from_str(&list.stdout()).unwrap();
    assert_eq!(list["missing"], serde_json::json!(["nope"]));
}

#[test]
fn one_field_is_printed_as_its_value() {
    let redis = night();
    let field = |path: &str| redis.ok(100, &format!("get j --field {path}"));
    assert_eq!(
        field("failure.message"),
        "PermissionError: cannot open\n  at upload.py:88"
    );
    assert_eq!(field("data.user"), "9007199254740993");
    assert_eq!(field("tags.1"), "eu");
    assert_eq!(field("worker"), "null");
    redis.session(expect![[r#"
        100 $ qless get j --field data.nope
        --- stderr
        error: `j` has no `data.nope`
        --- exit 4
    "#]]);
    // This job is in no lane.
    redis.at(100).run("get j --field key").exits(4);
    redis.session(expect![[r#"
        100 $ qless get j --field failre
        --- stderr
        error: a job has no field `failre`
        hint: its fields are jid, klass, queue, state, state_stored, priority, retries, remaining, worker, expires, tracked, tags, data, failure, dependencies, dependents, spawned_from, scheduled_for, since, history
        --- exit 2
    "#]]);
}

#[test]
fn jobs_are_given_by_jid_or_by_selector() {
    let redis = night();
    redis.session(expect![[r#"
        100 $ qless get --group 'upload error' -o jid
        j
        100 $ qless get j --group 'upload error'
        --- stderr
        error: give either jids or flags that select jobs, not both
        --- exit 2
        100 $ qless get
        --- stderr
        error: no jobs are given
        hint: give jids, or select jobs by flags: `qless help selectors`
        --- exit 2
    "#]]);
    let piped = redis.at(100).input("# comment\nk\n{\"jid\":\"j\"}\n\nk\n");
    piped.run("get - -o jid").shows(expect![[r#"
        k
        j
    "#]]);
}

#[test]
fn raw_prints_the_reply_of_get() {
    let redis = night();
    let get = redis.at(100).run("api get k").stdout();
    assert_eq!(redis.at(100).run("get k -o raw").stdout(), get);
    let multiget = redis.at(100).run("api multiget k nope j").stdout();
    assert_eq!(redis.at(100).run("get k nope j -o raw").stdout(), multiget);
    redis.at(100).run("get nope -o raw").shows(expect![[r#"
        --- stderr
        error: job `nope` does not exist
        --- exit 4
    "#]]);
}

#[test]
fn raw_reports_missing_jobs() {
    let redis = night();
    let ran = redis.at(100).run("get j nope k -o raw").exits(4);
    let jobs: serde_json::Value = serde_json::from_str(&ran.stdout()).unwrap();
    assert_eq!(jobs.as_array().unwrap().len(), 2);
    assert_eq!(ran.stderr(), "error: job `nope` does not exist\n");
}

#[test]
fn jids_are_read_line_by_line() {
    let redis = night();
    let list = "# two\n\n  j \r\n{\"kind\":\"job\",\"jid\":\"k\"}\n{\"summary\":{}}\nj";
    let get = |list: &[u8]| redis.at(100).input(list).run("get - -o jid");
    assert_eq!(get(list.as_bytes()).ok(), "j\nk");
    get(b"j\n{\"jid\":7}\n").shows(expect![[r#"
        --- stderr
        error: job ids, line 2: its `jid` is not a text
        --- exit 2
    "#]]);
    get(&[0; 70_000]).shows(expect![[r#"
        --- stderr
        error: job ids, line 1: this is too long for a job id
        --- exit 2
    "#]]);
}

#[test]
fn a_jid_list_that_is_too_long_is_refused() {
    Redis::start().session(expect![[r#"
        0 $ qless get @/dev/zero
        --- stderr
        error: `/dev/zero`, line 1: it is longer than 67108864 bytes
        --- exit 2
    "#]]);
}

#[test]
fn a_back_off_of_lost_locks_says_what_it_means() {
    let redis = Redis::start();
    for (policy, shown) in [
        (
            r#"{"initial_delay":5,"factor":2}"#,
            Some("5 s × 2^n after a lost lock"),
        ),
        (
            r#"{"initial_delay":1.5}"#,
            Some("1.5 s × `backoff-factor`^n after a lost lock"),
        ),
        (
            r#"{"factor":2}"#,
            Some("`backoff-initial-delay` × 2^n after a lost lock"),
        ),
        ("[]", None),
        ("{}", None),
        ("exp:5:2", Some("exp:5:2")),
    ] {
        redis.ok(
            0,
            &format!("api put w q j K [] 0 tags [] backoff '{policy}'"),
        );
        let printed = redis.ok(1, "get j");
        let line = printed
            .lines()
            .find_map(|line| line.strip_prefix("backoff\t"));
        assert_eq!(line, shown, "{policy}");
        let document = redis.json(1, "get j -o json");
        assert_eq!(document["backoff"], policy);
    }
}

#[test]
fn the_error_names_the_first_of_many_missing_jobs() {
    let redis = Redis::start();
    let jids: Vec<String> = (0..1030).map(|at| format!("j{at:04}")).collect();
    let ran = redis.at(1).input(jids.join("\n")).run("get -").exits(4);
    let error = ran.stderr();
    assert!(
        error.starts_with("error: 1,030 jobs do not exist: `j0000`, `j0001`, "),
        "{error}"
    );
    assert!(error.contains("`j0019` and 1,010 more\n"), "{error}");
}
