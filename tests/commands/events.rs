//! `qless events`.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::process::ChildStderr;
use std::time::{Duration, Instant};

use expect_test::expect;
use redis::Value;
use rustix::process::{Pid, Signal};

use crate::support::config::ConfigHome;
use crate::support::proxy::free_port;
use crate::support::qless::{Qless, Running};
use crate::support::redis::{Redis, acl_commands};
use crate::support::terminal::Terminal;
use crate::support::text::{Shows, pick, words};
use crate::support::work::until;

/// How many clients have subscribed to a channel.
fn listeners(redis: &Redis, channel: &str) -> i64 {
    match redis.send(&["PUBSUB", "NUMSUB", channel]) {
        Value::Array(reply) => match reply.get(1) {
            Some(Value::Int(count)) => *count,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

/// Starts the command at a pinned moment, and returns when it has subscribed to a channel.
fn listening(redis: &Redis, line: &str, channel: &str) -> Running {
    let before = listeners(redis, channel);
    let running = redis.at("1000.5").start(line);
    await_listeners(redis, channel, before + 1);
    running
}

/// Waits until this number of clients has subscribed to a channel.
#[track_caller]
fn await_listeners(redis: &Redis, channel: &str, count: i64) {
    until("the clients subscribe", || {
        listeners(redis, channel) == count
    });
}

/// Publishes bytes.
fn publish(redis: &Redis, channel: &str, text: &[u8]) {
    let mut publish = redis::cmd("PUBLISH");
    publish.arg(channel).arg(text);
    publish.exec(&mut redis.connection()).unwrap();
}

/// Publishes that a job was put.
fn publish_put(redis: &Redis, channel: &str, jid: &str) {
    let text = format!(r#"{{"jid":"{jid}","event":"put","queue":"q"}}"#);
    publish(redis, channel, text.as_bytes());
}

/// Publishes many failures, with messages of this length.
fn publish_failures(redis: &Redis, count: usize, length: usize) {
    let message = "x".repeat(length);
    let message = format!(r#"{{"event":"failed","jid":"j","message":"{message}"}}"#);
    let mut pipe = redis::pipe();
    for _ in 0..count {
        pipe.cmd("PUBLISH").arg("ql:log").arg(&message).ignore();
    }
    pipe.exec(&mut redis.connection()).unwrap();
}

/// What the command says on stderr, line by line.
fn notes(running: &mut Running) -> BufReader<ChildStderr> {
    BufReader::new(running.child.stderr.take().unwrap())
}

/// The next line of stderr.
fn next_note(notes: &mut BufReader<ChildStderr>) -> String {
    let mut line = String::new();
    notes.read_line(&mut line).unwrap();
    line
}

/// Jobs that are put, fail, lose their lock, advance, complete and are cancelled, and a setting.
fn change_all(redis: &Redis) {
    for line in [
        "put me mail a Welcome {} 0",
        "pop mail mx-1 1",
        "fail a mx-1 'upload error' 'cannot open spool' {}",
        "put me mail b Welcome {} 0",
        "pop mail mx-1 1",
        "timeout b",
        "pop mail mx-1 1",
        "complete b mx-1 mail {} next reports",
        "pop reports mx-2 1",
        "complete b mx-2 reports {}",
        "cancel a",
        "config.set heartbeat 90",
        "config.unset heartbeat",
    ] {
        redis.calls([(1.0, words(line))]);
    }
}

#[test]
fn each_event_is_a_line() {
    let redis = Redis::start();
    let table = redis.at("1000.5").env("COLUMNS", "80");
    let table = table.start("events --count 9 -o table");
    let narrow = redis.at("1000.5").env("COLUMNS", "40");
    let narrow = narrow.start("events --count 3 -o table");
    await_listeners(&redis, "ql:log", 2);
    let pipe = listening(&redis, "events --count 9", "ql:log");
    change_all(&redis);
    pipe.end().shows(expect![[r#"
        1970-01-01T00:16:40.500Z	put	mail	a	
        1970-01-01T00:16:40.500Z	failed	–	a	upload error: cannot open spool
        1970-01-01T00:16:40.500Z	put	mail	b	
        1970-01-01T00:16:40.500Z	lock_lost	–	b	mx-1
        1970-01-01T00:16:40.500Z	advanced	mail	b	reports
        1970-01-01T00:16:40.500Z	completed	reports	b	
        1970-01-01T00:16:40.500Z	canceled	mail	a	
        1970-01-01T00:16:40.500Z	config_set	–	–	heartbeat 90
        1970-01-01T00:16:40.500Z	config_unset	–	–	heartbeat
    "#]]);
    table.end().shows(expect![[r#"
        TIME          EVENT      QUEUE   JID         DETAIL
        00:16:40.500  put        mail    a
        00:16:40.500  failed     –       a           upload error: cannot open spool
        00:16:40.500  put        mail    b
        00:16:40.500  lock_lost  –       b           mx-1
        00:16:40.500  advanced   mail    b           reports
        00:16:40.500  completed  reports  b
        00:16:40.500  canceled   mail     a
        00:16:40.500  config_set  –        –           heartbeat 90
        00:16:40.500  config_unset  –        –           heartbeat
    "#]]);
    narrow.end().shows(expect![[r#"
        TIME          EVENT  QUEUE  JID  DETAIL
        00:16:40.500  put    mail   a
        00:16:40.500  failed  –  a  upload erro…
        00:16:40.500  put  mail  b
    "#]]);
}

#[test]
fn a_document_has_null_where_the_message_says_nothing() {
    let redis = Redis::start();
    let events = listening(
        &redis,
        "events --count 2 --event failed,canceled -o ndjson",
        "ql:log",
    );
    change_all(&redis);
    events.end().shows(expect![[r#"
        {"kind":"event","v":1,"at":"1970-01-01T00:16:40.500Z","event":"failed","jid":"a","queue":null,"worker":"mx-1","group":"upload error","message":"cannot open spool","to":null,"option":null,"value":null,"throttle":null,"into":null,"key":null,"since":null,"channel":"log","raw":null}
        {"kind":"event","v":1,"at":"1970-01-01T00:16:40.500Z","event":"canceled","jid":"a","queue":"mail","worker":null,"group":null,"message":null,"to":null,"option":null,"value":null,"throttle":null,"into":null,"key":null,"since":null,"channel":"log","raw":null}
    "#]]);
}

#[test]
fn events_of_tracked_jobs_name_the_job_only() {
    let redis = Redis::start();
    let events = listening(&redis, "events --tracked --count 7", "ql:popped");
    let both = listening(
        &redis,
        "events --tracked --worker mx-1 --count 4",
        "ql:w:mx-1",
    );
    let jids = listening(&redis, "events --count 2 -o jid", "ql:log");
    redis.calls([
        (1.0, words("put me mail a Welcome {} 0")),
        (1.0, words("put me mail untracked Welcome {} 100")),
        (2.0, words("track track a")),
        (3.0, words("pop mail mx-1 1")),
        // The lock expires.
        (70.0, words("pop mail mx-2 1")),
        (90.0, words("pop mail mx-2 1")),
        (91.0, words("complete a mx-2 mail {} next reports")),
        (92.0, words("cancel a")),
        (93.0, words("track untrack a")),
    ]);
    events.end().shows(expect![[r#"
        1970-01-01T00:16:40.500Z	track	–	a	
        1970-01-01T00:16:40.500Z	popped	–	a	
        1970-01-01T00:16:40.500Z	stalled	–	a	
        1970-01-01T00:16:40.500Z	popped	–	a	
        1970-01-01T00:16:40.500Z	completed	–	a	
        1970-01-01T00:16:40.500Z	canceled	–	a	
        1970-01-01T00:16:40.500Z	untrack	–	a	
    "#]]);
    both.end().shows(expect![[r#"
        1970-01-01T00:16:40.500Z	track	–	a	
        1970-01-01T00:16:40.500Z	popped	–	a	
        1970-01-01T00:16:40.500Z	stalled	–	a	
        1970-01-01T00:16:40.500Z	lock_lost	–	a	mx-1
    "#]]);
    jids.end().shows(expect![[r#"
        a
        untracked
    "#]]);
}

#[test]
fn events_of_this_core_alone_are_shown() {
    let redis = Redis::start();
    let events = listening(
        &redis,
        "events --count 3 --event throttled,skipped,merged",
        "ql:ext",
    );
    let run = |line: &str| redis.at(3).run(line).exits(0);
    run("throttle set api 1");
    redis.at(1).run("put q K --jid a --throttle api").exits(0);
    redis.at(2).run("put q K --jid b --throttle api").exits(0);
    run("pop q --count 2");
    run("put q K --jid c --key k --unique");
    run("put q K --jid d --key k --unique");
    publish(
        &redis,
        "ql:ext",
        br#"{"jid":"e","event":"merged","into":"f"}"#,
    );
    events.end().shows(expect![[r#"
        1970-01-01T00:16:40.500Z	throttled	q	b	api
        1970-01-01T00:16:40.500Z	skipped	q	d	q/k
        1970-01-01T00:16:40.500Z	merged	–	e	f
    "#]]);
}

#[test]
fn filters_match_only_what_a_message_says() {
    let redis = Redis::start();
    let queue = listening(&redis, "events --queue 'r*' --count 2", "ql:log");
    let mail = listening(&redis, "events --queue mail --count 4", "ql:log");
    let jid = listening(
        &redis,
        "events --jid b --jid x --event completed,failed --count 1",
        "ql:log",
    );
    let into = listening(&redis, "events --jid f --count 1", "ql:log");
    change_all(&redis);
    publish(
        &redis,
        "ql:ext",
        br#"{"jid":"e","event":"merged","into":"f"}"#,
    );
    queue.end().shows(expect![[r#"
        1970-01-01T00:16:40.500Z	advanced	mail	b	reports
        1970-01-01T00:16:40.500Z	completed	reports	b	
    "#]]);
    mail.end().shows(expect![[r#"
        1970-01-01T00:16:40.500Z	put	mail	a	
        1970-01-01T00:16:40.500Z	put	mail	b	
        1970-01-01T00:16:40.500Z	advanced	mail	b	reports
        1970-01-01T00:16:40.500Z	canceled	mail	a	
    "#]]);
    jid.end().shows(expect![[r#"
        1970-01-01T00:16:40.500Z	completed	reports	b	
    "#]]);
    into.end().shows(expect![[r#"
        1970-01-01T00:16:40.500Z	merged	–	e	f
    "#]]);
}

/// Anyone with the right may publish anything.
#[test]
fn a_message_of_any_form_is_shown_and_harmless() {
    let redis = Redis::start();
    let table = listening(&redis, "events --count 8", "ql:log");
    let documents = listening(&redis, "events --count 8 -o ndjson", "ql:log");
    let messages: [&[u8]; 7] = [
        b"",
        b"\x1b[2J\xff\n\"",
        br#"{"event":"gap"}"#,
        br#"{"event":"moon","jid":"j","phase":3}"#,
        br#"{"event":"put","jid":["j"],"queue":"q"}"#,
        b"{\"event\":\"failed\",\"jid\":\"\x1b[31m\xfe\",\"group\":\"g\\u0000\\t\",\"message\":\"\\u202e\"}",
        br#"{"event":"put","jid":7,"queue":null}"#,
    ];
    for message in messages {
        publish(&redis, "ql:log", message);
    }
    let deep = [b"[".repeat(200), b"]".repeat(200)].concat();
    publish(&redis, "ql:log", &deep);
    let shown = table.end().stdout();
    assert_eq!(shown.lines().count(), 8);
    let (start, last) = shown.trim_end().rsplit_once('\n').unwrap();
    assert!(last.contains("\tunknown\t–\t–\t[[[["), "{last}");
    start.shows(expect![[r#"
        1970-01-01T00:16:40.500Z	unknown	–	–	
        1970-01-01T00:16:40.500Z	unknown	–	–	\x1b[2J\xff\n"
        1970-01-01T00:16:40.500Z	unknown	–	–	{"event":"gap"}
        1970-01-01T00:16:40.500Z	unknown	–	j	{"event":"moon","jid":"j","phase":3}
        1970-01-01T00:16:40.500Z	put	q	–	{"event":"put","jid":["j"],"queue":"q"}
        1970-01-01T00:16:40.500Z	unknown	–	–	{"event":"failed","jid":"\x1b[31m\xfe","group":"g\\u0000\\t","message":"\\u202e"}
        1970-01-01T00:16:40.500Z	put	–	7	"#]]);
    let shown = documents.end().stdout();
    let fields = "[.event, .jid, .jid_bytes, .queue, .raw, .raw_bytes]";
    let shown = shown
        .lines()
        .take(7)
        .map(|event| pick(event, fields) + "\n");
    shown.collect::<String>().shows(expect![[r#"
        ["unknown",null,null,null,"",null]
        ["unknown",null,null,null,"\u001b[2J\\xff\n\"","G1sySv8KIg=="]
        ["unknown",null,null,null,"{\"event\":\"gap\"}",null]
        ["unknown","j",null,null,"{\"event\":\"moon\",\"jid\":\"j\",\"phase\":3}",null]
        ["put",null,null,"q","{\"event\":\"put\",\"jid\":[\"j\"],\"queue\":\"q\"}",null]
        ["unknown",null,null,null,"{\"event\":\"failed\",\"jid\":\"\u001b[31m\\xfe\",\"group\":\"g\\u0000\\t\",\"message\":\"\\u202e\"}","eyJldmVudCI6ImZhaWxlZCIsImppZCI6IhtbMzFt/iIsImdyb3VwIjoiZ1x1MDAwMFx0IiwibWVzc2FnZSI6Ilx1MjAyZSJ9"]
        ["put","7",null,null,null,null]
    "#]]);
}

#[test]
fn filters_that_nothing_can_match_are_refused() {
    let redis = Redis::start();
    redis.qless().session(expect![[r#"
        $ qless events --event popped
        --- stderr
        error: `--event popped` matches nothing here
        hint: `--tracked` shows it, for tracked jobs
        --- exit 2
        $ qless events --event put --worker w
        --- stderr
        error: `--event put` matches nothing here
        hint: leave out `--tracked` and `--worker`
        --- exit 2
        $ qless events --event lock_lost,canceled --worker w --event throttled &>/dev/null
        --- exit 2
        $ qless events --event gap &>/dev/null
        --- exit 2
        $ qless events --tracked --queue q
        --- stderr
        error: `--queue` matches nothing: no message of these events names a queue
        hint: `--jid` selects by job
        --- exit 2
        $ qless events --event failed,lock_lost --queue q
        --- stderr
        error: `--queue` matches nothing: no message of `failed`, `lock_lost` names a queue
        hint: `--jid` selects by job
        --- exit 2
        $ qless events --event config_set --jid j
        --- stderr
        error: `--jid` matches nothing: no message of `config_set` names a job
        hint: leave it out
        --- exit 2
        $ qless events --event faild
        --- stderr
        error: `--event` expects one of `put`, `popped`, `advanced`, `completed`, `failed`, `stalled`, `lock_lost`, `canceled`, `track`, `untrack`, `throttled`, `merged`, `skipped`, `config_set`, `config_unset`, `unknown`, not `faild`
        hint: did you mean `failed`?
        --- exit 2
        $ qless events --sort queue
        --- stderr
        error: `events` shows events in the order in which they come
        hint: leave out `--sort` and `--reverse`
        --- exit 2
        $ qless events --columns x &>/dev/null
        --- exit 2
        $ qless events --count 0 &>/dev/null
        --- exit 2
        $ qless events -o raw &>/dev/null
        --- exit 2
        $ qless events -o json
        --- stderr
        {"kind":"error","v":1,"code":"usage","exit":2,"message":"`events` writes events line by line","hint":"use `-o ndjson`","jid":null}
        --- exit 2
    "#]]);
}

#[test]
fn the_end_has_the_exit_code_of_its_reason() {
    let redis = Redis::start();
    redis.session(expect![[r#"
        $ qless events --deadline 0.1s
        $ qless --read-only events --deadline 0.1s
        $ qless events --deadline 0.1s --count 2
        --- stderr
        error: the deadline of 0.1s passed after 0 of 2 events
        --- exit 124
    "#]]);
    for (line, signal, code) in [
        ("events", Signal::INT, 0),
        ("events", Signal::TERM, 143),
        ("events --count 1", Signal::INT, 130),
        ("events --deadline 1h", Signal::INT, 130),
        ("events --deadline 1h", Signal::TERM, 143),
    ] {
        let events = listening(&redis, line, "ql:log");
        events.signal(signal);
        let ran = events.end().exits(code);
        assert_eq!(ran.stdout(), "");
        await_listeners(&redis, "ql:log", 0);
    }
}

#[test]
fn a_line_is_flushed_when_it_is_written() {
    let redis = Redis::start();
    let mut events = listening(&redis, "events", "ql:log");
    publish_put(&redis, "ql:log", "a");
    let mut lines = BufReader::new(events.child.stdout.take().unwrap());
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    line.shows(expect![[r#"
        1970-01-01T00:16:40.500Z	put	q	a	
    "#]]);
    drop(lines);
    // The reader is gone.
    publish_put(&redis, "ql:log", "b");
    assert_eq!(events.end().code(), 141);
}

#[test]
fn a_terminal_gets_a_header_once_and_the_time_of_the_day() {
    let redis = Redis::start();
    let mut command = redis.at("1000.5").command();
    command.args(["events", "--count", "2"]);
    let terminal = Terminal::start(command, 80, 24);
    await_listeners(&redis, "ql:log", 1);
    publish_put(&redis, "ql:log", "0b6e5c0d9a4f4d7e8a51f0c2b7d61e9a");
    publish(&redis, "ql:log", br#"{"message":"PermissionError: cannot open","jid":"77be2d0c4a1f4e0f9f0d3b6a5c8e7f10","group":"upload error","event":"failed","worker":"w"}"#);
    terminal.end().shows(expect![[r#"
        events from now on; Ctrl-C ends
        TIME          EVENT      QUEUE   JID                               DETAIL
        00:16:40.500  put        q       0b6e5c0d9a4f4d7e8a51f0c2b7d61e9a
        00:16:40.500  [31mfailed   [0m  –       77be2d0c4a1f4e0f9f0d3b6a5c8e7f10  upload error…
    "#]]);
}

#[test]
fn a_lost_connection_is_a_gap_and_opened_again() {
    let redis = Redis::start();
    let mut events = listening(&redis, "events --count 2 -o ndjson", "ql:log");
    let mut quiet = listening(&redis, "events --count 2 -q", "ql:log");
    let mut notes = notes(&mut events);
    publish_put(&redis, "ql:log", "a");
    redis.send(&["CLIENT", "KILL", "TYPE", "pubsub"]);
    let shown = next_note(&mut notes) + &next_note(&mut notes);
    let dir = redis.socket();
    let shown = shown.replace(dir.parent().unwrap().to_str().unwrap(), "DIR");
    shown.shows(expect![[r#"
        gap since 1970-01-01T00:16:40.500Z: lost `unix://DIR/s`; events may have been missed; connecting again
        gap from 1970-01-01T00:16:40.500Z to 1970-01-01T00:16:40.500Z: connected again after 0.0s
    "#]]);
    await_listeners(&redis, "ql:log", 2);
    assert!(!events.has_ended() && !quiet.has_ended());
    publish_put(&redis, "ql:log", "b");
    events.end().shows(expect![[r#"
        {"kind":"event","v":1,"at":"1970-01-01T00:16:40.500Z","event":"put","jid":"a","queue":"q","worker":null,"group":null,"message":null,"to":null,"option":null,"value":null,"throttle":null,"into":null,"key":null,"since":null,"channel":"log","raw":null}
        {"kind":"event","v":1,"at":"1970-01-01T00:16:40.500Z","event":"gap","jid":null,"queue":null,"worker":null,"group":null,"message":"lost `unix://DIR/s`","to":null,"option":null,"value":null,"throttle":null,"into":null,"key":null,"since":"1970-01-01T00:16:40.500Z","channel":null,"raw":null}
        {"kind":"event","v":1,"at":"1970-01-01T00:16:40.500Z","event":"resumed","jid":null,"queue":null,"worker":null,"group":null,"message":null,"to":null,"option":null,"value":null,"throttle":null,"into":null,"key":null,"since":"1970-01-01T00:16:40.500Z","channel":null,"raw":null}
        {"kind":"event","v":1,"at":"1970-01-01T00:16:40.500Z","event":"put","jid":"b","queue":"q","worker":null,"group":null,"message":null,"to":null,"option":null,"value":null,"throttle":null,"into":null,"key":null,"since":null,"channel":"log","raw":null}
    "#]]);
    quiet.end().shows(expect![[r#"
        1970-01-01T00:16:40.500Z	put	q	a	
        1970-01-01T00:16:40.500Z	put	q	b	
    "#]]);
}

#[test]
fn a_server_that_is_away_is_waited_for() {
    let mut redis = Redis::start();
    let mut events = listening(&redis, "events --count 1 --timeout 1s", "ql:log");
    let mut notes = notes(&mut events);
    redis.kill();
    assert!(next_note(&mut notes).contains(": lost `unix://"));
    redis.restart();
    assert!(next_note(&mut notes).contains(": connected again after "));
    publish_put(&redis, "ql:log", "a");
    assert_eq!(events.end().exits(0).stdout().lines().count(), 1);
}

#[test]
fn a_frozen_server_is_noticed_within_the_timeout() {
    let redis = Redis::start();
    let mut events = listening(&redis, "events --count 1 --timeout 1s", "ql:log");
    let mut notes = notes(&mut events);
    redis.freeze();
    let frozen = Instant::now();
    let note = next_note(&mut notes);
    let noticed = frozen.elapsed();
    redis.thaw();
    assert!(note.contains("no reply from `unix://"), "{note}");
    assert!(noticed < Duration::from_secs(20), "{noticed:?}");
    assert!(next_note(&mut notes).contains(": connected again after "));
    publish_put(&redis, "ql:log", "a");
    events.end().exits(0);
}

/// A server that replies is not lost, however long nothing happens.
#[test]
fn silence_is_no_gap() {
    let redis = Redis::start();
    redis.send(&["CONFIG", "RESETSTAT"]);
    let events = listening(&redis, "events --timeout 1s --count 1", "ql:log");
    // The third one comes after more silence than the timeout.
    until("three pings come", || redis.commands_run("ping") >= 3);
    publish_put(&redis, "ql:log", "a");
    events.end().shows(expect![[r#"
        1970-01-01T00:16:40.500Z	put	q	a	
    "#]]);
}

#[test]
fn a_user_who_may_not_subscribe_is_told_so() {
    let redis = Redis::start();
    let user = |rules: &str| {
        let line = words(&format!("ACL SETUSER poor {rules}"));
        redis.send(&line.iter().map(String::as_str).collect::<Vec<_>>());
    };
    user("on >p ~ql:* resetchannels &ql:log +@all");
    let poor = Qless::bare()
        .env("QLESS_REDIS_URL", redis.url() + "?user=poor")
        .env("QLESS_REDIS_PASSWORD", "p");
    let is_refused = |refused: &str, start: &str| {
        let hint = "hint: `qless help acl` prints the line an administrator needs\n";
        assert!(refused.starts_with(start), "{refused}");
        assert!(refused.ends_with(hint), "{refused}");
    };
    let refused = poor.run("events").exits(6).stderr();
    is_refused(&refused, "error: user `poor` lacks a right: ");
    user("&ql:*");
    let events = poor.start("events");
    await_listeners(&redis, "ql:ext", 1);
    // The server closes the subscription, and refuses the next one.
    user("resetchannels");
    is_refused(&events.end().exits(6).stderr(), "gap since ");
}

/// The users of `qless help acl` may subscribe.
#[test]
fn the_users_of_help_acl_see_events() {
    let redis = Redis::start();
    let help = redis.qless().run("help acl").ok();
    for command in acl_commands(&help, "p") {
        redis.send(&command.iter().map(String::as_str).collect::<Vec<_>>());
    }
    for (user, flags) in [("qless", ""), ("qless-ro", "--read-only")] {
        let events = Qless::bare()
            .env("QLESS_REDIS_URL", redis.url() + "?user=" + user)
            .env("QLESS_REDIS_PASSWORD", "p")
            .start(&format!("{flags} events --count 1"));
        await_listeners(&redis, "ql:log", 1);
        publish_put(&redis, "ql:log", "a");
        events.end().exits(0);
        await_listeners(&redis, "ql:log", 0);
    }
}

/// The most memory that a process had so far, in KiB.
fn peak(running: &Running) -> u64 {
    let pid = Pid::from_child(&running.child);
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    number.unwrap().parse().unwrap()
}

/// The server closes the connection of a reader that does not read. What was published meanwhile is not kept
/// in the memory of the reader.
#[test]
fn a_slow_reader_has_a_gap_and_little_memory() {
    let limit = ["--client-output-buffer-limit", "pubsub", "1mb", "0", "0"];
    let (one, two) = (Redis::with(&limit), Redis::with(&limit));
    let home = two_servers(&one, &two);
    for context in ["one", "both"] {
        let events = home.qless().env("QLESS_CONTEXT", context);
        let mut events = events.start("events -o ndjson");
        await_listeners(&one, "ql:log", 1);
        let mut published = 0;
        while listeners(&one, "ql:log") == 1 {
            publish_failures(&one, 100, 50_000);
            published += 100;
            assert!(published < 20_000, "the server keeps {published} messages");
        }
        assert!(peak(&events) < 80 << 10, "{} KiB", peak(&events));
        let lines = BufReader::new(events.child.stdout.take().unwrap());
        let mut lines = lines.lines().map(Result::unwrap);
        for event in ["gap", "resumed"] {
            let event = format!(r#""event":"{event}""#);
            assert!(lines.any(|line| line.contains(&event)), "{context} {event}");
        }
        events.signal(Signal::INT);
        lines.for_each(drop);
        events.end().exits(0);
        await_listeners(&one, "ql:log", 0);
        await_listeners(&two, "ql:log", 0);
    }
}

/// What stood unread is no younger than the moment from which on nothing was read.
#[test]
fn a_gap_begins_when_the_reader_fell_behind() {
    let redis = Redis::start();
    let mut events = redis.qless().start("events -o ndjson");
    await_listeners(&redis, "ql:log", 1);
    publish_failures(&redis, 3_000, 1_000);
    std::thread::sleep(Duration::from_millis(500));
    redis.send(&["CLIENT", "KILL", "TYPE", "pubsub"]);
    let lines = BufReader::new(events.child.stdout.take().unwrap());
    let mut lines = lines.lines().map(Result::unwrap);
    let gap = lines.find(|line| line.contains(r#""event":"gap""#));
    let gap: serde_json::Value = serde_json::from_str(&gap.unwrap()).unwrap();
    let [since, at] = ["since", "at"].map(|time| {
        let time = gap[time].as_str().unwrap();
        time.parse::<jiff::Timestamp>().unwrap().as_millisecond()
    });
    assert!(at - since >= 400, "{gap}");
    events.signal(Signal::INT);
    lines.for_each(drop);
    events.end().exits(0);
}

/// Two servers, which context `both` names as one. Context `three` also names one that does not answer.
fn two_servers(one: &Redis, two: &Redis) -> ConfigHome {
    ConfigHome::new(&format!(
        "[context.one]\nredis = \"{}\"\n[context.two]\nredis = \"{}\"\n\
         [context.gone]\nredis = \"unix:///no/socket\"\n\
         [context.lost]\nredis = \"unix:///no/other\"\n\
         [context.both]\nmembers = [\"one\", \"two\"]\n\
         [context.three]\nmembers = [\"one\", \"gone\", \"two\"]\n\
         [context.none]\nmembers = [\"gone\", \"lost\"]\n",
        one.url(),
        two.url()
    ))
}

#[test]
fn members_have_one_stream() {
    let (one, two) = (Redis::start(), Redis::start());
    let home = two_servers(&one, &two);
    let both = home.qless().at("1000.5").env("QLESS_CONTEXT", "both");
    let start = |line: &str, count: i64| {
        let started = both.start(line);
        await_listeners(&one, "ql:log", count);
        await_listeners(&two, "ql:log", count);
        started
    };
    let table = start("events --count 3 -o table", 1);
    let mut documents = start("events --count 3 -o ndjson", 2);
    let mut lines = BufReader::new(documents.child.stdout.take().unwrap()).lines();
    let mut shown = String::new();
    for (redis, jid) in [(&one, "a"), (&two, "b"), (&one, "c")] {
        publish_put(redis, "ql:log", jid);
        // Each line is flushed.
        let line = lines.next().unwrap().unwrap();
        shown += &(pick(&line, "[.member, .event, .jid]") + "\n");
    }
    shown.shows(expect![[r#"
        ["one","put","a"]
        ["two","put","b"]
        ["one","put","c"]
    "#]]);
    assert_eq!(lines.count(), 0);
    documents.end().exits(0);
    let table = table.end().exits(0).stdout();
    let mut rows: Vec<&str> = table.lines().collect();
    rows[1..].sort_unstable();
    (rows.join("\n") + "\n").shows(expect![[r#"
        MEMBER      TIME          EVENT      QUEUE   JID         DETAIL
        one         00:16:40.500  put        q       a
        one         00:16:40.500  put        q       c
        two         00:16:40.500  put        q       b
    "#]]);
    both.session(expect![[r#"
        $ qless events --count 2 --deadline 0.5s
        --- stderr
        error: the deadline of 0.5s passed after 0 of 2 events
        --- exit 124
        $ qless events --deadline 0.2s
    "#]]);
}

#[test]
fn a_member_that_is_away_is_a_gap() {
    let (one, two) = (Redis::start(), Redis::start());
    let home = two_servers(&one, &two);
    let qless = |context: &str| home.qless().at("1000.5").env("QLESS_CONTEXT", context);
    let events = qless("three").start("events --count 1");
    await_listeners(&one, "ql:log", 1);
    await_listeners(&two, "ql:log", 1);
    let mut events = events;
    let mut notes = notes(&mut events);
    let note = next_note(&mut notes);
    publish_put(&two, "ql:log", "a");
    let mut rest = String::new();
    notes.read_to_string(&mut rest).unwrap();
    (note + &rest).shows(expect![[r#"
        gone: gap since 1970-01-01T00:16:40.500Z: cannot open `/no/socket`: no such file or directory; events may have been missed; connecting again
    "#]]);
    events.end().shows(expect![[r#"
        two	1970-01-01T00:16:40.500Z	put	q	a	
        --- exit 3
    "#]]);
    // If none can be reached, the address is probably wrong.
    let none = qless("none").run("events").exits(6);
    none.says("error: gone: cannot open `/no/socket`");
    none.says("error: lost: cannot open `/no/other`");
}

/// The next line of stderr that begins so.
fn await_note(notes: &mut BufReader<ChildStderr>, start: &str) {
    loop {
        let note = next_note(notes);
        assert!(!note.is_empty(), "no line begins with {start}");
        if note.starts_with(start) {
            return;
        }
    }
}

/// Frozen members count as away only while they are: one that has come back keeps its stream.
#[test]
fn a_member_that_has_come_back_outlasts_members_that_are_frozen() {
    let (mut one, two, three) = (Redis::start(), Redis::start(), Redis::start());
    let home = ConfigHome::new(&format!(
        "[context.one]\nredis = \"{}\"\n[context.two]\nredis = \"{}\"\n\
         [context.three]\nredis = \"{}\"\n\
         [context.all]\nmembers = [\"one\", \"two\", \"three\"]\n",
        one.url(),
        two.url(),
        three.url()
    ));
    one.kill();
    two.freeze();
    three.freeze();
    let all = home.qless().at("1000.5").env("QLESS_CONTEXT", "all");
    let mut events = all.start("events --count 1 --timeout 4s");
    let mut notes = notes(&mut events);
    await_note(&mut notes, "one: gap since ");
    one.restart();
    await_note(&mut notes, "one: gap from ");
    // Both have timed out when both have said so.
    let mut late = [next_note(&mut notes), next_note(&mut notes)];
    late.sort_unstable();
    assert!(late[0].starts_with("three: gap since "), "{late:?}");
    assert!(late[1].starts_with("two: gap since "), "{late:?}");
    publish_put(&one, "ql:log", "a");
    events.end().shows(expect![[r#"
        one	1970-01-01T00:16:40.500Z	put	q	a	
        --- exit 3
    "#]]);
}

/// The timeout of a server that does not answer is longer.
#[test]
fn the_deadline_ends_an_attempt_to_subscribe() {
    let (one, two) = (Redis::start(), Redis::start());
    let port = free_port();
    let home = two_servers(&one, &two);
    let more = format!(
        "[context.late]\nredis = \"redis://127.0.0.1:{port}\"\n\
         [context.with_late]\nmembers = [\"one\", \"late\"]\n"
    );
    home.write(&(home.text() + &more));
    let qless = |context: &str| home.qless().env("QLESS_CONTEXT", context);
    let begun = Instant::now();
    // Frozen at the start.
    two.freeze();
    let both = qless("both").run("events --deadline 1.5s --timeout 120s");
    both.exits(3);
    // Refused at the start, then silent.
    let mut events = qless("with_late").start("events --deadline 3s --timeout 120s");
    let mut notes = notes(&mut events);
    await_note(&mut notes, "late: gap since ");
    let silent = TcpListener::bind(("127.0.0.1", port)).unwrap();
    events.end().exits(3);
    drop(silent);
    assert!(begun.elapsed() < Duration::from_secs(60));
}
