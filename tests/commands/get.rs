//! `qless get`

use expect_test::expect;

use crate::support::redis::Redis;

/// `j` failed, `k` depends on it, `nightly` is a template.
fn night() -> Redis {
    let redis = Redis::start();
    redis.session(expect![[r#"
        2 $ qless put mail Mail::Welcome '{"user":9007199254740993,"locale":"de","list":[]}' --jid j --priority 10 --tag onboarding --tag eu &>/dev/null
        3 $ qless put deploy Deploy --jid k --depends j &>/dev/null
        9 $ qless pop mail --worker mx-1 &>/dev/null
        40 $ printf 'PermissionError: cannot open\n  at upload.py:88' | qless api fail j mx-1 'upload error' - &>/dev/null
        50 $ qless recur put reports Nightly '[1.10]' --jid nightly --every 1d --offset 1m --retries 2 &>/dev/null
    "#]]);
    redis
}

#[test]
fn one_job_is_shown_in_full() {
    night().session(expect![[r#"
        100 $ qless get j
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
        100 $ qless get j -o json
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
        100 $ qless get j --data
        {"user":9007199254740993,"locale":"de","list":[]}
        --- no newline
        100 $ qless get nightly --data
        [1.10]
        --- no newline
    "#]]);
}

#[test]
fn several_jobs_are_a_list_in_the_order_given() {
    let redis = night();
    redis.session(expect![[r#"
        100 $ qless get k nightly j -o json | jq -c '[.kind, .items[].jid, .missing, .items[0].dependencies, .items[1].every_s, .items[2].dependents]'
        ["jobs","k","nightly","j",[],["j"],86400,["k"]]
        100 $ qless get j k --history -o json | jq -c .items[0].history[].what
        "put"
        "popped"
        "failed"
    "#]]);
    let list = redis.json(100, "get k j -o json");
    assert!(list["items"][1].get("history").is_none());
}

#[test]
fn get_shows_recurring_jobs() {
    night().session(expect![[r#"
        100 $ qless get nightly
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
        100 $ qless get nightly -o ndjson
        {"kind":"recurring","v":1,"jid":"nightly","klass":"Nightly","queue":"reports","every_s":86400,"next":"1970-01-01T00:01:50.000Z","backlog":0,"count":0,"priority":0,"retries":2,"tags":[],"data":[1.10]}
    "#]]);
}

#[test]
fn missing_jobs_are_reported_after_the_others() {
    night().session(expect![[r#"
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
        100 $ qless get k nope -o json | jq -c .missing
        ["nope"]
        --- stderr
        {"kind":"error","v":1,"code":"not_found","exit":4,"message":"job `nope` does not exist","hint":null,"jid":"nope"}
        --- exit 4
    "#]]);
}

#[test]
fn one_field_is_printed_as_its_value() {
    // This job is in no lane.
    night().session(expect![[r#"
        100 $ qless get j --field failure.message
        PermissionError: cannot open
          at upload.py:88
        100 $ qless get j --field data.user
        9007199254740993
        100 $ qless get j --field tags.1
        eu
        100 $ qless get j --field worker
        null
        100 $ qless get j --field data.nope
        --- stderr
        error: `j` has no `data.nope`
        --- exit 4
        100 $ qless get j --field key &>/dev/null
        --- exit 4
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
        100 $ printf '# two\n\n  k \r\n{"kind":"job","jid":"j"}\n{"summary":{}}\nk' | qless get - -o jid
        k
        j
        100 $ printf 'j\n{"jid":7}\n' | qless get - -o jid
        --- stderr
        error: job ids, line 2: its `jid` is not a text
        --- exit 2
        100 $ qless get @/dev/zero
        --- stderr
        error: `/dev/zero`, line 1: it is longer than 67108864 bytes
        --- exit 2
    "#]]);
    let long = redis.at(100).input([0; 70_000]);
    long.session(expect![[r#"
        $ qless get -
        --- stderr
        error: job ids, line 1: this is too long for a job id
        --- exit 2
    "#]]);
}

#[test]
fn raw_prints_the_reply_of_get() {
    let redis = night();
    for (line, call, code) in [
        ("get k", "get k", 0),
        ("get k nope j", "multiget k nope j", 4),
    ] {
        let raw = redis.at(100).run(&format!("{line} -o raw")).exits(code);
        assert_eq!(
            raw.stdout(),
            redis.at(100).run(&format!("api {call}")).stdout()
        );
        let error = "error: job `nope` does not exist\n";
        assert_eq!(raw.stderr(), if code == 4 { error } else { "" });
    }
    redis.session(expect![[r#"
        100 $ qless get nope -o raw
        --- stderr
        error: job `nope` does not exist
        --- exit 4
    "#]]);
}

#[test]
fn a_back_off_of_lost_locks_says_what_it_means() {
    let redis = Redis::start();
    for row in [
        r#"{"initial_delay":5,"factor":2} | 5 s × 2^n after a lost lock"#,
        r#"{"initial_delay":1.5} | 1.5 s × `backoff-factor`^n after a lost lock"#,
        r#"{"factor":2} | `backoff-initial-delay` × 2^n after a lost lock"#,
        "[] | ",
        "{} | ",
        "exp:5:2 | exp:5:2",
    ] {
        let (policy, shown) = row.split_once(" | ").unwrap();
        let put = format!("api put w q j K [] 0 tags [] backoff '{policy}'");
        redis.ok(0, &put);
        let printed = redis.ok(1, "get j");
        let mut lines = printed.lines();
        let line = lines.find_map(|line| line.strip_prefix("backoff\t"));
        assert_eq!(line.unwrap_or_default(), shown, "{policy}");
        let document = redis.json(1, "get j -o json");
        assert_eq!(document["backoff"], policy);
    }
}

#[test]
fn the_error_names_the_first_of_many_missing_jobs() {
    let redis = Redis::start();
    let jids: Vec<String> = (0..1030).map(|at| format!("j{at:04}")).collect();
    let ran = redis.at(1).input(jids.join("\n")).run("get -").exits(4);
    ran.says("error: 1,030 jobs do not exist: `j0000`, `j0001`, ");
    ran.says("`j0019` and 1,010 more\n");
}

#[test]
fn a_long_note_of_a_history_is_cut_and_says_so() {
    let redis = Redis::start();
    redis.ok(1, "put mail K --jid a");
    let long = format!("a{}", "é".repeat(3_000_000));
    redis.calls([(2.0, vec!["log", "a", &long])]);
    let printed = redis.ok(3, "get a");
    let line = printed.lines().last().unwrap();
    assert!(line.contains(&format!("a{}…", "é".repeat(998))), "{line}");
    let document = redis.json(3, "get a -o json");
    assert_eq!(
        document["history"][1]["what"].as_str().map(str::len),
        Some(long.len())
    );
}

#[test]
fn the_schema_of_jobs_has_what_is_printed_of_recurring_jobs() {
    let redis = Redis::start();
    redis.ok(1, "put q K --jid a");
    redis.ok(1, "recur put q K --every 1h --jid r --throttle t");
    redis.ok(2, "recur pause r --reason why");
    let schema = redis.at(3).run("help json jobs").json();
    let forms = schema["properties"]["items"]["items"]["anyOf"].as_array();
    let printed = redis.json(3, "get a r -o json")["items"].clone();
    let printed = printed.as_array().unwrap();
    for (item, form) in printed.iter().zip(forms.unwrap()) {
        let item = item.as_object().unwrap();
        for name in item.keys() {
            assert!(form["properties"].get(name).is_some(), "{name}");
        }
        for name in form["required"].as_array().unwrap() {
            assert!(item.contains_key(name.as_str().unwrap()), "{name}");
        }
    }
}
