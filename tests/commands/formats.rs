//! The layouts of tables: `-o table` and `-o tsv`, on a terminal and in a pipe.

use expect_test::expect;
use serde_json::json;

use crate::support::redis::Redis;
use crate::support::terminal;
use crate::support::text::words;

fn server() -> Redis {
    let redis = Redis::start();
    redis.ok(100, "put mail Mail::Welcome --jid a");
    let jobs = redis.at(140).input("{}\n".repeat(60));
    jobs.run("put thumbs Thumb --from -").ok();
    redis
}

#[test]
fn a_pipe_gets_tsv_unless_table_is_typed() {
    let redis = server();
    let qless = redis.at(160);
    qless.session(expect![[r#"
        $ qless queues
        mail	1	0	0	0	0	0	1m	
        thumbs	60	0	0	0	0	0	20s	
        $ qless queues -o table
        QUEUE   WAITING  RUNNING  STALLED  SCHEDULED  DEPENDS  RECURRING  NEXT WAITS  STATE
        mail          1        0        0          0        0          0  1m
        thumbs       60        0        0          0        0          0  20s
        $ qless queues -o table --headers never --time-format iso
        mail     1  0  0  0  0  0  1m
        thumbs  60  0  0  0  0  0  20s
        $ qless queues -o tsv --headers always
        QUEUE	WAITING	RUNNING	STALLED	SCHEDULED	DEPENDS	RECURRING	NEXT WAITS	STATE
        mail	1	0	0	0	0	0	1m	
        thumbs	60	0	0	0	0	0	20s	
        $ qless jobs --queue mail -o tsv
        a	Mail::Welcome	waiting	mail	0	5/5	1970-01-01T00:01:40.000Z	waits since 1970-01-01T00:01:40.000Z
        $ qless get a --data -o table
        {}
        --- no newline
    "#]]);
    // A pipe gets all rows.
    assert_eq!(qless.run("jobs -o table").ok().lines().count(), 62);
    let with = |name: &str, value: &str| qless.clone().env(name, value);
    with("COLUMNS", "40").session(expect![[r#"
        $ qless queues -o table
        QUEUE   WAITING  NEXT WAITS  STATE
        mail          1  1m
        thumbs       60  20s
    "#]]);
    let table = qless.run("queues -o table").ok();
    for invalid in ["0", "", "wide"] {
        let other = with("COLUMNS", invalid);
        assert_eq!(other.run("queues -o table").ok(), table);
    }
    // The setting `table` leaves pipes as they are.
    let piped = qless.run("queues").ok();
    assert_eq!(qless.run("queues -o tsv").ok(), piped);
    for setting in ["table", "tsv"] {
        let set = with("QLESS_OUTPUT", setting);
        assert_eq!(set.run("queues").ok(), piped);
    }
    with("QLESS_OUTPUT", "csv").session(expect![[r#"
        $ qless queues
        --- stderr
        error: `QLESS_OUTPUT` expects table, tsv, json, ndjson, jid or raw, not `csv`
        --- exit 2
    "#]]);
}

#[test]
fn a_terminal_gets_tsv_if_it_is_typed() {
    let redis = server();
    let run = |line: &str| {
        let mut command = redis.at(160).command();
        command
            .args(words(line))
            .env("TERM", "xterm")
            .env("PAGER", "false");
        terminal::run(command, 40)
    };
    run("-q queues -o tsv").shows(expect![[r#"
        mail	1	0	0	0	0	0	1m	
        thumbs	60	0	0	0	0	0	20s	
    "#]]);
    assert_eq!(run("-q jobs -o tsv").ok().lines().count(), 61);
    run("queues -o tsv --watch").shows(expect![[r#"
        error: `--watch` cannot be used with `-o tsv`
        hint: `-o ndjson` writes a document for each tick, also without a terminal
        --- exit 2
    "#]]);
}

/// As the README says.
#[test]
fn commands_that_show_or_change_several_jobs_read_ids_from_stdin() {
    let redis = server();
    for jid in ["b", "c"] {
        redis.ok(100, &format!("put mail K --jid {jid}"));
    }
    let listed = redis.ok(160, "jobs --queue mail -o jid");
    assert_eq!(listed.lines().count(), 3);
    let qless = redis.at(160).input(&listed);
    for line in [
        "get -",
        "export -",
        "tag - --add x",
        "tag -",
        "track -",
        "priority - --to 5",
        "move - --to other",
        "retry -",
        "promote -",
        "timeout -",
        "fail - --group g --message m",
        "depends - --off-all",
        "recur get -",
        "recur rm -",
        "cancel -",
    ] {
        let yes = match line {
            "get -" | "export -" | "tag -" | "recur get -" => "",
            _ => "--yes",
        };
        let ran = qless.run(&format!("{line} {yes}"));
        assert_ne!(ran.code(), 2, "{line}: {}", ran.stderr());
    }
    redis.session(expect![[r#"
        160 $ qless jobs --queue mail --queue other -o jid
    "#]]);
}

#[test]
fn names_are_unambiguous_for_programs() {
    let redis = Redis::start();
    let jids = ["a\nb", "a\\nb", "a\\\\nb"];
    redis.calls(jids.map(|jid| (1.0, vec!["put", "me", "q", jid, "K", r#"{"a":"\n"}"#, "0"])));
    redis.session(expect![[r#"
        2 $ qless jobs -o tsv --columns jid,data --queue q
        a\\nb	{"a":"\n"}
        a\\\\nb	{"a":"\n"}
        a\nb	{"a":"\n"}
        2 $ qless jobs -o table --columns jid,data --queue q
        JID    DATA
        a\nb   {"a":"\n"}
        a\\nb  {"a":"\n"}
        a\nb   {"a":"\n"}
        3 $ qless put 'q\t' 'K\tb' --jid j --tag 'a\b' &>/dev/null
    "#]]);
    let tags = redis.ok(4, "get j -o tsv");
    assert!(tags.contains("klass\tK\\\\tb\nqueue\tq\\\\t\n"), "{tags}");
    assert!(tags.contains("tags\ta\\\\b\n"), "{tags}");
    let people = redis.ok(4, "get j -o table");
    assert!(people.contains("K\\tb"), "{people}");
}

#[test]
fn numbers_in_tsv_have_no_thousands_separators() {
    let redis = Redis::start();
    let job = |n| json!({"jid": format!("j{n}"), "klass": "K", "tags": ["eu"], "throttles": ["t"]});
    let jobs: String = (0..2400).map(|n| format!("{}\n", job(n))).collect();
    redis.ok(100, "throttle set t 1200");
    redis.at(100).input(jobs).run("put mail --from -").ok();
    redis.ok(110, "put mail K --jid after --depends j2399");
    let popped = redis.ok(120, "pop mail --count 1200 --worker w -o jid");
    have_no_separators(&redis);
    let fail = "fail - --group g --message m --worker w";
    redis.at(130).input(popped).run(fail).ok();
    have_no_separators(&redis);
}

#[track_caller]
fn have_no_separators(redis: &Redis) {
    for line in [
        "queues",
        "status",
        "failed",
        "jobs --limit 5",
        "stats mail",
        "stats mail --days 2",
        "tag list",
        "lag",
        "explain --queue mail",
        "explain after",
        "graph after",
        "throttle list",
        "throttle show t",
        "workers",
    ] {
        let text = redis.ok(140, &format!("{line} -o tsv"));
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let separated = text.split(',').collect::<Vec<_>>();
        let found = separated
            .windows(2)
            .any(|pair| pair[0].ends_with(|c: char| c.is_ascii_digit()) && digits(pair[1]) == 3);
        assert!(!found, "{line}: {text}");
    }
}
