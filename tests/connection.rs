//! What is reported if a server is missing, is not Redis, refuses, or does not reply.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use expect_test::expect;

use crate::support::proxy::{Cut, answering, forward, free_port, listen, proxy};
use crate::support::qless::{Qless, RunOutput};
use crate::support::redis::{Redis, acl_commands};

fn at_port(port: u16) -> Qless {
    Qless::bare()
        .env("QLESS_REDIS_URL", format!("redis://127.0.0.1:{port}"))
        .hide(&port.to_string(), "PORT")
}

#[test]
fn an_address_without_a_redis_that_fits_is_reported() {
    const FULL: &[u8] = b"-ERR max number of clients reached\r\n";
    let attempts = AtomicUsize::new(0);
    let full_at_first = listen(move |mut stream| {
        if attempts.fetch_add(1, Ordering::Relaxed) == 0 {
            _ = stream.write_all(FULL);
        } else {
            _ = stream.read_to_end(&mut Vec::new());
        }
    });
    let old = answering(
        b"*4\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$6\r\n6.0.16\r\n*2\r\n$1\r\n1\r\n$1\r\n1\r\n",
    );
    let without_hello = listen(|mut stream| {
        let mut asked = [0; 4096];
        while let Ok(read @ 1..) = stream.read(&mut asked) {
            let text = String::from_utf8_lossy(&asked[..read]).into_owned();
            let time = "*2\r\n$1\r\n1\r\n$1\r\n1\r\n";
            let answer = if text.contains("HELLO") {
                format!("-ERR unknown command `HELLO`\r\n{time}")
            } else {
                format!("{time}$22\r\n\r\nredis_version:5.0.7\r\n\r\n")
            };
            _ = stream.write_all(answer.as_bytes());
        }
    });
    let ports = [
        ("CLOSED", free_port()),
        ("WEB", answering(b"HTTP/1.1 400 Bad Request\r\n\r\n")),
        ("DROPS", listen(drop)),
        ("FULL", listen(|mut stream| _ = stream.write_all(FULL))),
        ("SILENT", full_at_first),
        ("OLD", old),
        ("ANCIENT", without_hello),
    ];
    let qless = ports.iter().fold(Qless::bare(), |qless, (name, port)| {
        qless.hide(&port.to_string(), name)
    });
    qless.session(expect![[r#"
        $ qless --redis redis://127.0.0.1:CLOSED length q # failure: refused | free port
        --- stderr
        error: cannot reach Redis at `redis://127.0.0.1:CLOSED/0`: connection refused
        hint: pass `--redis URL` or set QLESS_REDIS_URL
        --- exit 6
        $ qless --redis redis://127.0.0.1:CLOSED length q -o json
        --- stderr
        {"kind":"error","v":1,"code":"unreachable","exit":6,"message":"cannot reach Redis at `redis://127.0.0.1:CLOSED/0`: connection refused","hint":"pass `--redis URL` or set QLESS_REDIS_URL","jid":null}
        --- exit 6
        $ qless --redis redis://nowhere.invalid length q # failure: name unknown | host in .invalid
        --- stderr
        error: cannot resolve `nowhere.invalid`
        --- exit 6
        $ qless --redis unix:///nonexistent/r.sock length q # failure: socket missing | no such file
        --- stderr
        error: cannot open `/nonexistent/r.sock`: no such file or directory
        hint: pass `--redis URL` or set QLESS_REDIS_URL
        --- exit 6
        $ qless --redis http://h length q
        --- stderr
        error: address `http://h` has an unknown scheme `http:`
        hint: known are `redis://`, `valkey://`, `redis-cluster://`, `redis-sentinel://`, with TLS `rediss://`, `valkeys://`, `rediss-cluster://`, `rediss-sentinel://`, and `unix://`, `local:`
        --- exit 2
        $ qless --redis redis://127.0.0.1:WEB length q # failure: not Redis | server answers HTTP
        --- stderr
        error: `127.0.0.1:WEB` does not speak the Redis protocol
        hint: is it a Redis server, and the right port?
        --- exit 6
        $ qless --redis redis://127.0.0.1:DROPS length q # failure: closed at once | listener that drops
        --- stderr
        error: `127.0.0.1:DROPS` closed the connection immediately
        hint: if it is restarting, try again; is it a Redis server, and the right port? if it requires TLS, use `rediss://`
        --- exit 6
        $ qless --redis redis://127.0.0.1:FULL --timeout 1s length q # failure: max clients | server answers so
        --- stderr
        error: `redis://127.0.0.1:FULL/0` refuses connections: max number of clients reached
        --- exit 6
        $ qless --redis redis://127.0.0.1:SILENT --timeout 1s length q
        --- stderr
        error: `redis://127.0.0.1:SILENT/0` refuses connections: max number of clients reached
        --- exit 6
        $ qless --redis redis://127.0.0.1:OLD length q # failure: version too old | server says 6.0.16
        --- stderr
        error: Redis 6.0.16 is too old; `qless` requires 6.2
        --- exit 6
        $ qless --redis redis://127.0.0.1:ANCIENT length q
        --- stderr
        error: `127.0.0.1:ANCIENT` does not speak the Redis protocol
        hint: is it a Redis server, and the right port?
        --- exit 6
    "#]]);
}

#[test]
fn random_bytes_are_not_a_redis_server() {
    for noise in [
        "\0\x01\x02\r\n",
        "$x\r\n",
        ":\r\n",
        "*-5\r\n+\r\n",
        "%1\r\n",
    ] {
        let port = answering(noise.as_bytes());
        let ran = at_port(port).run("--timeout 1s length q").exits(6);
        let said = ran.stderr();
        assert!(
            said.contains("does not speak") || said.contains("no reply"),
            "{noise:?}: {said}"
        );
    }
}

/// Passwords: their sources, and what is reported about them.
mod passwords {
    use super::*;

    const SECRET: &str = "geheim-4711";

    fn redis() -> Redis {
        Redis::with(&["--requirepass", SECRET])
    }

    #[test]
    fn a_missing_or_wrong_password_is_reported() {
        let redis = redis();
        redis.session(expect![[r#"
            $ qless length q # failure: NOAUTH | requirepass
            --- stderr
            error: `unix://DIR/s` requires a password
            hint: set QLESS_REDIS_PASSWORD, or pass `--password-file FILE` or `--askpass`
            --- exit 6
            $ qless --password-file /dev/null length q
            --- stderr
            error: the first line of password file `/dev/null` is empty
            --- exit 2
            $ qless --password-file - length q
            --- stderr
            error: the first line of password file `-` is empty
            --- exit 2
            $ qless --askpass length q
            --- stderr
            error: `--askpass` needs a terminal
            hint: set QLESS_REDIS_PASSWORD or pass `--password-file FILE`
            --- exit 2
        "#]]);
        let wrong = redis.qless().env("QLESS_REDIS_PASSWORD", "falsch");
        wrong.session(expect![[r#"
            $ qless length q # failure: WRONGPASS | requirepass, another one given
            --- stderr
            error: `unix://DIR/s` refuses the password
            --- exit 6
        "#]]);
        let stranger = redis.qless().with_user(&redis.url(), "ops", SECRET);
        stranger.session(expect![[r#"
            $ qless length q # failure: WRONGPASS | user that does not exist
            --- stderr
            error: `unix://DIR/s` refuses user `ops`: wrong name or password
            --- exit 6
        "#]]);
        let open = Redis::start();
        let needless = open.qless().env("QLESS_REDIS_PASSWORD", SECRET);
        needless.session(expect![[r#"
            $ qless length q # failure: password, none set | no requirepass
            --- stderr
            error: `unix://DIR/s` has no password, but one was given
            hint: is it the right server?
            --- exit 6
        "#]]);
    }

    #[test]
    fn passwords_come_from_files_stdin_and_variables_in_this_order() {
        let redis = redis();
        let file = redis.socket().with_file_name("password");
        std::fs::write(&file, format!("{SECRET}\nmore\n")).unwrap();
        let file = file.display();
        let qless = redis.qless();
        let wrong = qless.clone().env("QLESS_REDIS_PASSWORD", "falsch");
        assert_eq!(
            wrong.run(&format!("--password-file {file} length q")).ok(),
            "0"
        );
        let piped = wrong.input(format!("{SECRET}\n"));
        assert_eq!(piped.run("--password-file - length q").ok(), "0");
        let both = qless.clone().env("REDISCLI_AUTH", "falsch");
        let both = both.env("QLESS_REDIS_PASSWORD", SECRET);
        assert_eq!(both.run("length q").ok(), "0");
        assert_eq!(qless.env("REDISCLI_AUTH", SECRET).run("length q").ok(), "0");
    }

    #[test]
    fn passwords_are_never_printed() {
        let redis = redis();
        let port = proxy(redis.socket(), Cut::Before(99));
        let right = format!("redis://:{SECRET}@127.0.0.1:{port}/0");
        let wrong = format!("redis://ops:{SECRET}@127.0.0.1:{port}/0");
        let broken = format!("redis://ops:{SECRET}#@127.0.0.1:{port}/0");
        let refused = format!("redis://ops:{SECRET}@127.0.0.1:{}/0", free_port());
        for url in [right, wrong, broken, refused] {
            for line in [
                "-vv length q",
                "length q -o json",
                "-vv get x",
                "version",
                "--help",
            ] {
                let ran = Qless::bare().env("QLESS_REDIS_URL", &url).run(line);
                let printed = format!("{}{}", ran.stdout(), ran.stderr());
                assert!(!printed.contains(SECRET), "{line}: {printed}");
            }
        }
    }

    #[test]
    fn a_password_in_place_of_the_user_is_never_printed() {
        let redis = redis();
        let port = proxy(redis.socket(), Cut::Before(99));
        let refused = format!("redis://{SECRET}@127.0.0.1:{port}/0");
        let nowhere = format!("redis://{SECRET}@127.0.0.1:{}/0", free_port());
        let lines = ["length q", "-vv length q", "doctor", "retry a b", "context"];
        for url in [&refused, &nowhere] {
            for line in lines {
                let by_flag = format!("{line} --redis {url}");
                let by_variable = Qless::bare().env("QLESS_REDIS_URL", url);
                for ran in [Qless::bare().run(&by_flag), by_variable.run(line)] {
                    let printed = format!("{}{}", ran.stdout(), ran.stderr());
                    assert!(!printed.contains(SECRET), "{line}: {printed}");
                }
            }
        }
        let qless = Qless::bare().env("QLESS_REDIS_URL", refused);
        qless.hide(&port.to_string(), "PORT").session(expect![[r#"
            $ qless length q
            --- stderr
            error: `redis://***@127.0.0.1:PORT/0` refuses the user of the address, which has no password
            hint: a password without a user has a colon before it: `redis://:PASSWORD@HOST`
            --- exit 6
        "#]]);
        // A user whose password comes from elsewhere is no password.
        let url = format!("redis://ops@127.0.0.1:{}/0", free_port());
        let qless = Qless::bare().env("QLESS_REDIS_PASSWORD", SECRET);
        let ran = qless.run(&format!("length q --redis {url}")).exits(6);
        ran.says("redis://ops:***@127.0.0.1:");
    }
}

#[test]
fn a_read_that_takes_too_long_names_the_timeout() {
    let redis = Redis::start();
    // The handshake has its reply.
    at_port(proxy(redis.socket(), Cut::Hold(2))).session(expect![[r#"
        $ qless --timeout 1s length q
        --- stderr
        error: no reply from `redis://127.0.0.1:PORT/0` within 1s
        hint: the server may be frozen, or this takes longer: `--timeout` gives it more time
        --- exit 6
    "#]]);
}

#[test]
fn a_server_that_replied_before_it_became_silent_names_the_timeout() {
    let redis = Redis::start();
    let (socket, connections) = (redis.socket(), AtomicUsize::new(0));
    // The first connection ends after the handshake, and the others have no reply.
    let port = listen(
        move |mut client| match connections.fetch_add(1, Ordering::Relaxed) {
            0 => forward(client, &socket, Some(1)),
            _ => _ = client.read_to_end(&mut Vec::new()),
        },
    );
    at_port(port).session(expect![[r#"
        $ qless --timeout 1s length q
        --- stderr
        error: no reply from `redis://127.0.0.1:PORT/0` within 1s
        hint: the server may be frozen, or this takes longer: `--timeout` gives it more time
        --- exit 6
    "#]]);
}

/// Long after each timeout of these tests, and long before the end of a call without one.
const LATE: Duration = Duration::from_secs(20);

#[test]
fn a_frozen_server_times_out() {
    let redis = Redis::start();
    redis.freeze();
    let begun = Instant::now();
    redis.session(expect![[r#"
        $ qless --timeout 1s length q # failure: frozen | SIGSTOP
        --- stderr
        error: no reply from `unix://DIR/s` within 1s
        hint: the server may be frozen or a firewall may drop packets
        --- exit 6
    "#]]);
    assert!(begun.elapsed() < LATE);
    redis.thaw();
}

#[test]
fn a_command_stopped_and_continued_finishes() {
    let redis = Redis::start();
    redis.freeze();
    let mut command = redis.qless().command();
    command.args(["length", "q"]).stdout(Stdio::piped());
    let child = command.spawn().unwrap();
    let pid = child.id().to_string();
    let send = |signal: &str| {
        Command::new("kill")
            .args([signal, pid.as_str()])
            .status()
            .unwrap()
    };
    // Usually the binary reads the reply by now; if not, the test passes as well.
    thread::sleep(Duration::from_millis(200));
    assert!(send("-STOP").success() && send("-CONT").success());
    redis.thaw();
    assert_eq!(RunOutput::of_child(child).ok(), "0");
}

#[test]
fn a_server_that_drips_bytes_times_out() {
    let port = listen(|mut stream| {
        for byte in "*2\r\n".bytes().chain("$1\r\n1\r\n".bytes().cycle()) {
            thread::sleep(Duration::from_millis(100));
            if stream.write_all(&[byte]).is_err() {
                return;
            }
        }
    });
    let begun = Instant::now();
    let ran = at_port(port).run("--timeout 1s length q").exits(6);
    ran.says("no reply from");
    assert!(begun.elapsed() < LATE);
}

#[test]
fn a_read_without_reply_is_repeated() {
    let redis = Redis::start();
    redis.ok(0, "api put w mail j K {} 0");
    for cut in [Cut::Before(2), Cut::After(2)] {
        let port = proxy(redis.socket(), cut);
        assert_eq!(at_port(port).run("length mail").ok(), "1");
    }
}

#[test]
fn a_lost_write_that_is_safe_to_repeat_is_repeated() {
    let redis = Redis::start();
    redis.ok(0, "api put w mail j K {} 0");
    for (cut, to) in [(Cut::Before(2), "7"), (Cut::After(2), "8")] {
        let port = proxy(redis.socket(), cut);
        let line = format!("api priority j {to}");
        assert_eq!(at_port(port).run(&line).ok(), to);
        assert_eq!(redis.ok(1, "get j --field priority"), to);
    }
}

#[test]
fn a_lost_write_that_is_not_safe_to_repeat_is_reported_as_unknown() {
    let redis = Redis::start();
    redis.ok(0, "api put w mail j K {} 0");
    for cut in [Cut::Before(2), Cut::After(2)] {
        at_port(proxy(redis.socket(), cut)).session(expect![[r#"
            $ qless api log j looked # failure: lost, not settled | proxy cuts before and after the call
            --- stderr
            error: lost `redis://127.0.0.1:PORT/0` while logging to `j`; the change may or may not have happened
            hint: `qless get j` shows it
            --- exit 6
        "#]]);
    }
    at_port(proxy(redis.socket(), Cut::Before(2))).session(expect![[r#"
        $ qless api log j looked -o json
        --- stderr
        {"kind":"error","v":1,"code":"unknown","exit":6,"message":"lost `redis://127.0.0.1:PORT/0` while logging to `j`; the change may or may not have happened","hint":"`qless get j` shows it","jid":"j"}
        --- exit 6
    "#]]);
    at_port(proxy(redis.socket(), Cut::Hold(2))).session(expect![[r#"
        $ qless --timeout 1s api priority j 7 # failure: timed out, not settled | proxy holds the reply
        --- stderr
        error: no reply from `redis://127.0.0.1:PORT/0` within 1s while changing the priority of `j`; the change may or may not have happened
        hint: `qless get j` shows it; `--timeout` gives it more time
        --- exit 6
    "#]]);
}

#[test]
fn a_guarded_call_through_api_is_not_repeated() {
    let redis = Redis::start();
    redis.ok(0, "api put w mail j K {} 0");
    redis.ok(1, "api pop mail w 1");
    let port = proxy(redis.socket(), Cut::After(2));
    at_port(port).run("api timeout j").exits(6);
    assert_eq!(redis.ok(1, "get j --field state"), "stalled");
}

/// Runs in front of a server that makes the calls of this name, and then answers them with `reply`.
fn with_reply(redis: &Redis, call: &str, reply: &'static [u8]) -> Qless {
    let (socket, call) = (redis.socket(), format!("\r\n{call}\r\n"));
    at_port(listen(move |mut client| {
        let mut server = UnixStream::connect(&socket).unwrap();
        let mut bytes = vec![0; 1 << 20];
        while let Ok(asked @ 1..) = client.read(&mut bytes) {
            let is_call = String::from_utf8_lossy(&bytes[..asked]).contains(&call);
            server.write_all(&bytes[..asked]).unwrap();
            let answered = server.read(&mut bytes).unwrap();
            let answer = if is_call { reply } else { &bytes[..answered] };
            if client.write_all(answer).is_err() {
                return;
            }
        }
    }))
}

#[test]
fn a_change_with_a_reply_that_makes_no_sense_is_reported_as_unknown() {
    let redis = Redis::start();
    redis.ok(0, "put mail K --jid j");
    with_reply(&redis, "guard.put", b"$-1\r\n").session(expect![[r#"
        $ qless put mail K --jid new
        --- stderr
        error: unexpected reply to `guard.put`: invalid type: unit value, expected a tuple of size 1; the change may or may not have happened
        hint: `qless get new` shows it
        --- exit 6
        $ qless put mail K --jid k -o json
        --- stderr
        {"kind":"error","v":1,"code":"unknown","exit":6,"message":"unexpected reply to `guard.put`: invalid type: unit value, expected a tuple of size 1; the change may or may not have happened","hint":"`qless get k` shows it","jid":"k"}
        --- exit 6
    "#]]);
    assert_eq!(redis.ok(1, "get new --field state"), "waiting");
    for reply in ["$-1\r\n", "$1\r\nx\r\n", ":7\r\n"] {
        let ran = with_reply(&redis, "pop", reply.as_bytes()).run("pop mail --worker w");
        ran.says("the change may or may not have happened");
        ran.says("hint: `qless workers w` shows it");
        ran.exits(6);
    }
    let none = with_reply(&redis, "pop", b"$2\r\n[]\r\n");
    none.run("pop mail --worker w").exits(4);
    with_reply(&redis, "guard.cancel", b"*0\r\n").session(expect![[r#"
        $ qless cancel j
        --- stderr
        error: unexpected reply to `guard.cancel`: not an outcome for each job; the change may or may not have happened
        --- exit 6
    "#]]);
    // A call that only reads has changed nothing.
    with_reply(&redis, "look.jobs", b":7\r\n").session(expect![[r#"
        $ qless get j
        --- stderr
        error: unexpected reply to `look.jobs`: not a row for each job
        hint: is it a Redis server, and the right port?
        --- exit 6
    "#]]);
}

#[test]
fn a_read_waits_for_a_server_that_restarts() {
    // The proxy closes the first connection after the handshake, and a few more before theirs.
    let redis = Redis::start();
    redis.ok(0, "api put w mail j K {} 0");
    let socket = redis.socket();
    let count = AtomicUsize::new(0);
    let port = listen(move |client| {
        let number = count.fetch_add(1, Ordering::SeqCst);
        match number {
            0 => forward(client, &socket, Some(1)),
            1..4 => drop(client),
            _ => forward(client, &socket, None),
        }
    });
    assert_eq!(at_port(port).run("api priority j 7").ok(), "7");
}

#[test]
fn a_forgotten_script_is_loaded_silently() {
    let redis = Redis::start();
    for _ in 0..2 {
        redis.session(expect![[r#"
            $ qless length q
            0
        "#]]);
        redis.send(&["SCRIPT", "FLUSH"]);
    }
}

#[test]
fn the_time_is_that_of_the_server_unless_it_is_pinned() {
    let redis = Redis::start();
    redis.ok(1000.5, "api put w mail j K {} 0");
    let history = redis.send(&["LINDEX", "ql:j:j-history", "0"]);
    assert_eq!(
        history,
        redis::Value::BulkString(br#"[1000,"put",{"q":"mail"}]"#.to_vec())
    );
    redis.qless().run("api put w mail k K {} 0").ok();
    let pinned = redis.send(&["HGET", "ql:j:j", "time"]);
    assert_eq!(
        pinned,
        redis::Value::BulkString(b"1000.50000000000000000000".to_vec())
    );
    let redis::Value::BulkString(printed) = redis.send(&["HGET", "ql:j:k", "time"]) else {
        panic!("no time");
    };
    let printed: f64 = String::from_utf8(printed).unwrap().parse().unwrap();
    let here = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    assert!((here.as_secs_f64() - printed).abs() < 5.0);
    assert!(printed.fract() > 0.0, "microseconds are sent");
}

#[test]
fn databases_and_prefixes_are_separate() {
    let redis = Redis::start();
    redis.at(0).env("QLESS_PREFIX", "e:").session(expect![[r#"
        $ qless --redis unix://DIR/s?db=3 --prefix ql: api put w mail j K {} 0
        j
        $ qless --redis unix://DIR/s?db=3 --prefix ql: length mail
        1
        $ qless --redis unix://DIR/s?db=99 --prefix ql: length mail
        --- stderr
        error: `unix://DIR/s?db=99` has no database 99
        hint: leave the number away, or set a higher number of databases on the server
        --- exit 2
        $ qless --prefix ql: length mail
        0
        $ qless --prefix {t}: api put w mail j K {} 0
        j
        $ qless --prefix {t}: length mail
        1
        $ qless --prefix t length mail
        --- stderr
        error: `--prefix` expects 1 to 64 printable characters ending in `:`, without blanks, quotes, backslash and `*?[]`, not `t`
        --- exit 2
        $ qless length mail
        0
        $ qless api put w mail j K {} 0
        j
        $ qless --prefix e: length mail
        1
        $ qless --prefix ql: length mail
        0
    "#]]);
}

/// Refusals of the server.
mod refusals {
    use super::*;

    #[test]
    fn a_server_that_accepts_no_change_says_why() {
        let redis = Redis::start();
        let send = |line: &str| redis.send(&line.split(' ').collect::<Vec<_>>());
        redis.ok(0, "api put w mail j K {} 0");
        send("CONFIG SET maxmemory 1");
        redis.session(expect![[r#"
            $ qless api put w mail k K {} 0 -o json # failure: oom | CONFIG SET maxmemory 1
            --- stderr
            {"kind":"error","v":1,"code":"oom","exit":6,"message":"`unix://DIR/s` is out of memory; nothing was changed","hint":"`qless cancel` and a shorter `jobs-history` free some","jid":"k"}
            --- exit 6
        "#]]);
        let ran = redis.at(0).run("-v api put w mail k K {} 0").exits(6);
        ran.says("server: OOM command not allowed");
        send("CONFIG SET maxmemory 0");
        send("CONFIG SET min-replicas-to-write 1");
        redis.session(expect![[r#"
            $ qless api put w mail k K {} 0 -o json # failure: noreplicas | CONFIG SET min-replicas-to-write 1
            --- stderr
            {"kind":"error","v":1,"code":"noreplicas","exit":6,"message":"`unix://DIR/s` has too few replicas and refuses changes","hint":"start its replicas, or lower `min-replicas-to-write`","jid":"k"}
            --- exit 6
        "#]]);
        send("CONFIG SET min-replicas-to-write 0");
        send("REPLICAOF 127.0.0.1 1");
        redis.session(expect![[r#"
            $ qless api put w mail k K {} 0 -o json # failure: readonly | REPLICAOF 127.0.0.1 1
            --- stderr
            {"kind":"error","v":1,"code":"readonly","exit":6,"message":"`unix://DIR/s` is a replica","hint":"point `--redis` at its primary","jid":"k"}
            --- exit 6
        "#]]);
    }

    #[test]
    fn data_that_the_server_does_not_read_are_reported() {
        let port = free_port();
        let redis = Redis::with(&["--port", &port.to_string(), "--proto-max-bulk-len", "1mb"]);
        let data = format!("\"{}\"", "x".repeat(3_000_000));
        for qless in [redis.qless(), at_port(port)] {
            let ran = qless.input(&data).run("put q K - --jid long -o json");
            let error = ran.error();
            assert_eq!(
                (&error["code"], &error["exit"]),
                (&"server".into(), &6.into())
            );
            let message = error["message"].as_str().unwrap();
            let why = "refuses the call: one of its texts is too long; nothing was changed";
            assert!(message.ends_with(why), "{message}");
            assert_eq!(redis.qless().run("get long").code(), 4);
        }
    }

    #[test]
    fn a_key_of_a_wrong_type_is_reported() {
        let redis = Redis::start();
        redis.send(&["SET", "ql:q:mail-locks", "x"]);
        redis.session(expect![[r#"
            $ qless length mail # failure: key of a wrong type | SET
            --- stderr
            error: cannot read `mail`: a key that it needs has the wrong type
            hint: `qless check --only key-type` names it
            --- exit 1
        "#]]);
    }

    /// Gives the user `ops`, whose password is `x`, further rules.
    fn allow(redis: &Redis, rules: &str) {
        let rules = format!("ACL SETUSER ops on >x {rules}");
        redis.send(&rules.split(' ').collect::<Vec<_>>());
    }

    #[test]
    fn a_missing_right_is_reported() {
        let redis = Redis::start();
        allow(&redis, "~* &* +@all -zcard");
        let qless = redis.at(0).with_user(&redis.url(), "ops", "x");
        let right = if Redis::has_selective_rights() {
            "ZCARD on `ql:*`"
        } else {
            "this command or subcommand"
        };
        qless.hide(right, "RIGHT").session(expect![[r#"
            $ qless length mail
            --- stderr
            error: user `ops` may not run RIGHT
            hint: `qless help acl` prints the line an administrator needs
            --- exit 6
        "#]]);
    }

    #[test]
    fn a_missing_right_is_reported_before_any_change() {
        if !Redis::has_selective_rights_or_skips() {
            // Such a server refuses a command of a script only when it comes to it.
            return;
        }
        let redis = Redis::start();
        redis.ok(0, "put mail K --jid j");
        allow(&redis, "~* &* +@all -zrem -lrem");
        let qless = redis.at(1).with_user(&redis.url(), "ops", "x");
        let before = redis.dump();
        qless.session(expect![[r#"
            $ qless pop mail --worker w # failure: right missing, found by preflight | ACL without ZREM, LREM
            --- stderr
            error: user `ops` may not run LREM, ZREM on `ql:*`; nothing was changed
            hint: `qless help acl` prints the line an administrator needs
            --- exit 6
        "#]]);
        assert_eq!(redis.dump(), before);
        // Reading commands need fewer rights.
        qless.run("cancel j --dry-run").ok();
        assert_eq!(qless.run("length mail").ok(), "1");
        allow(&redis, "resetkeys ~other:*");
        qless.session(expect![[r#"
            $ qless put mail K
            --- stderr
            error: user `ops` may not run DEL, EXISTS, GET, HDEL, HGET and 34 more on `ql:*`; nothing was changed
            hint: `qless help acl` prints the line an administrator needs
            --- exit 6
        "#]]);
        allow(&redis, "allkeys resetchannels +zrem +lrem");
        qless.session(expect![[r#"
            $ qless put mail K
            --- stderr
            error: user `ops` may not run PUBLISH on `ql:*`; nothing was changed
            hint: `qless help acl` prints the line an administrator needs
            --- exit 6
        "#]]);
        // The server logs refusals; a question about rights is not one.
        assert_eq!(redis.send(&["ACL", "LOG"]), redis::Value::Array(Vec::new()));
    }

    #[test]
    fn the_first_line_in_help_suffices_for_dry_runs() {
        let redis = Redis::start();
        let printed = redis.ok(0, "help acl");
        let first = &acl_commands(&printed, "PASSWORD")[0];
        redis.send(&first.iter().map(String::as_str).collect::<Vec<_>>());
        for line in [
            "put mail K --jid a",
            "put mail K --jid b --key k --throttle t=1",
        ] {
            redis.ok(1, line);
        }
        let ops = redis.at(2).with_user(&redis.url(), "qless", "PASSWORD");
        for line in [
            "get a",
            "peek mail",
            "explain b",
            "explain --queue mail",
            "put mail K --dry-run",
            "put mail K --jid b --replace --dry-run",
            "cancel a b --dry-run",
            "recur put mail K --every 1h --dry-run",
        ] {
            ops.run(line).exits(0);
        }
        // What is missing is named, though this user may not run EVAL_RO.
        let ran = ops.run("throttle list --all").exits(6);
        ran.says("may not run");
        redis.send(&["ACL", "SETUSER", "qless", "-hlen"]);
        let ran = ops.run("peek mail").exits(6);
        let missing = if Redis::has_selective_rights() {
            "may not run HLEN"
        } else {
            "may not run this command or subcommand"
        };
        ran.says(missing);
    }

    #[test]
    fn the_rights_listed_in_help_suffice() {
        let redis = Redis::start();
        let printed = redis.ok(0, "help acl");
        for command in acl_commands(&printed, "PASSWORD") {
            redis.send(&command.iter().map(String::as_str).collect::<Vec<_>>());
        }
        let as_user = |user: &str, at: u32| redis.at(at).with_user(&redis.url(), user, "PASSWORD");
        let ops = as_user("qless", 100);
        for line in [
            "put mail K --jid a --tag t --priority 3",
            "put mail K --jid b --depends a",
            "put mail K --jid c --delay 1h",
            "put mail K --jid d",
            "recur put mail K --jid r --every 60s",
            "pop mail --worker w --count 2",
            "heartbeat a --worker w",
            "complete a --worker w",
            "retry c --queue other",
            "move c --to other --yes",
            "fail d --worker w --group g --message m",
            "failed --group g --retry-all --yes",
            "track b",
            "tag b new",
            "log b text",
            "cancel b",
            "pause mail",
            "unpause mail",
            "config set heartbeat 30",
            "jobs --klass K",
            "export --all",
            "queues",
            "workers",
            "stats mail",
        ] {
            let ran = ops.run(line);
            assert!(
                !ran.stderr().contains("may not"),
                "{line}: {}",
                ran.stderr()
            );
        }
        // The line of readers has each command of the others that only reads.
        let rights = |user: &str| {
            let lines = printed.lines().filter(|line| line.contains(user));
            let words = lines.flat_map(str::split_whitespace);
            words
                .filter_map(|word| word.strip_prefix('+'))
                .collect::<Vec<_>>()
        };
        let reader = rights("qless-ro");
        for name in rights("SETUSER qless ") {
            let info = format!("{:?}", redis.send(&["COMMAND", "INFO", name]));
            // A repair reads by these what it sets aside.
            let is_of_repair = ["dump", "pttl"].contains(&name);
            assert!(
                !info.contains("readonly") || reader.contains(&name) || is_of_repair,
                "{name}"
            );
        }
        for line in [
            "put mail K --jid e --throttle th=1 --key lane",
            "put mail K --jid f --throttle th --key lane",
            "recur pause r",
            "bury f --group failed-retries-mail --message m",
        ] {
            ops.run(line).ok();
        }
        // What `check` verifies: entries without a job, a stub, lists and fields that lead nowhere.
        for damage in [
            "RPUSH ql:f:bogus none",
            "SADD ql:failures bogus",
            "ZADD ql:q:mail-work 5 none",
            "ZADD ql:q:lost-work 5 none",
            "HSET ql:j:stub state waiting",
        ] {
            redis.send(&damage.split(' ').collect::<Vec<_>>());
        }
        let reader = as_user("qless-ro", 200);
        for (line, code) in [
            ("api get d", 0),
            ("check", 7),
            ("check --queue mail", 7),
            ("config list --all", 0),
            ("defaults mail", 0),
            ("depends e", 0),
            ("explain --queue mail", 0),
            ("explain e", 0),
            ("export --all --with config,recur,paused,throttles", 0),
            ("failed", 0),
            ("failed --group failed-retries-mail", 0),
            ("get d", 0),
            ("jobs --klass K", 0),
            ("jobs --state waiting", 0),
            ("jobs --tag t", 0),
            ("key mail lane", 0),
            ("lag", 0),
            ("length mail", 0),
            ("morgue mail ls", 0),
            ("peek mail", 0),
            ("queues", 0),
            ("recur get r", 0),
            ("recur list", 0),
            ("stats mail --days 2", 0),
            ("status", 0),
            ("tag", 0),
            ("throttle ls", 0),
            ("throttle ls --all", 0),
            ("throttle show th", 0),
            ("track", 0),
            ("wait d --for waiting", 0),
            ("workers", 0),
        ] {
            reader.run(&format!("--read-only {line}")).exits(code);
        }
        assert_eq!(redis.send(&["ACL", "LOG"]), redis::Value::Array(Vec::new()));
    }

    #[test]
    fn a_key_without_read_permission_is_not_reported_as_missing() {
        let redis = Redis::start();
        redis.ok(0, "put mail K --jid j");
        redis.ok(0, "put mail K --jid k --depends j");
        redis.ok(0, "put mail K --jid m");
        redis.ok(0, "recur put mail K --every 1h --jid r");
        let qless = redis.at(0).with_user(&redis.url(), "ops", "x");
        // Commands that check the type of a key report no key, queue or dependency as missing.
        for (rights, lines) in [
            (
                "~other:*",
                &["get j", "cancel j", "priority j --to 5", "recur get r"][..],
            ),
            (
                "~ql:j:* ~ql:r:* ~ql:config ~ql:tracked",
                &["cancel k", "move k --to other", "put mail K --jid l"],
            ),
            (
                "~ql:j:j* ~ql:q* ~ql:config ~ql:tracked",
                &["cancel j", "put mail K --jid jj --depends k"],
            ),
            ("~* -llen", &["cancel k", "depends k --on m"]),
        ] {
            allow(&redis, &format!("reset on >x &* +@all {rights}"));
            for line in lines {
                let ran = qless.run(line).exits(6);
                ran.says("`ops` may not");
            }
        }
        assert_eq!(redis.at(0).run("length mail").stdout(), "2\n");
    }

    #[test]
    fn a_busy_server_is_reported() {
        let redis = Redis::with(&["--lua-time-limit", "1"]);
        let mut busy = redis.connection();
        let spin = redis::cmd("EVAL")
            .arg("while true do end")
            .arg(0)
            .get_packed_command();
        busy.send_packed_command(&spin).unwrap();
        let deadline = Instant::now() + Duration::from_secs(20);
        while redis::cmd("PING").exec(&mut redis.connection()).is_ok() {
            assert!(Instant::now() < deadline, "the script does not run");
        }
        redis.session(expect![[r#"
            $ qless --timeout 1s length mail # failure: BUSY | a script that runs
            --- stderr
            error: `unix://DIR/s` is busy with a script
            hint: `redis-cli SCRIPT KILL` ends it if it has not written yet
            --- exit 6
        "#]]);
        // The binary waits until the server has loaded its data.
        let mut child = redis.at(0).command();
        let child = child.args(["length", "mail"]).spawn().unwrap();
        // If the binary has not connected yet, it finds an idle server, which is also right.
        thread::sleep(Duration::from_millis(200));
        let kill = redis::cmd("SCRIPT")
            .arg("KILL")
            .exec(&mut redis.connection());
        kill.unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "0\n");
    }

    #[test]
    fn a_server_that_is_still_loading_is_reported() {
        // The reply to each command of the handshake.
        const BOTH: &[u8] = b"-LOADING Redis is loading\r\n-LOADING Redis is loading\r\n";
        at_port(answering(BOTH)).session(expect![[r#"
            $ qless --timeout 2s length mail # failure: LOADING | server answers so
            --- stderr
            error: `redis://127.0.0.1:PORT/0` is still loading its data
            --- exit 6
        "#]]);
    }

    #[test]
    fn a_server_that_is_full_or_loading_is_retried_until_the_timeout() {
        let redis = Redis::start();
        for reply in [
            "-ERR max number of clients reached\r\n",
            "-LOADING Redis is loading the dataset in memory\r\n",
        ] {
            let (socket, count) = (redis.socket(), AtomicUsize::new(0));
            let port = listen(
                move |mut client| match count.fetch_add(1, Ordering::SeqCst) {
                    0..3 => _ = client.write_all(reply.as_bytes()),
                    _ => forward(client, &socket, None),
                },
            );
            assert_eq!(at_port(port).run("length mail").ok(), "0", "{reply}");
        }
    }
}

/// stdout: a closed pipe and a full disk.
mod streams {
    use super::*;

    #[test]
    fn a_closed_pipe_ends_without_an_error() {
        let mut child = Qless::bare().command().arg("script").spawn().unwrap();
        drop(child.stdout.take());
        let ran = RunOutput::of_child(child);
        assert_eq!((ran.code(), ran.stderr().as_str()), (128 + 13, ""));
    }

    #[test]
    fn a_full_disk_is_reported() {
        let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else {
            return;
        };
        let mut command = Qless::bare().command();
        RunOutput::of(command.arg("script").stdout(full)).fails(
            "stdout full | /dev/full",
            expect![[r#"
                --- stderr
                error: cannot write to stdout: no space left on device
                hint: make room on the disk
                --- exit 1
            "#]],
        );
    }

    /// Rust opens `/dev/null` in place of a stdout that is not open.
    #[test]
    fn a_stdout_that_is_not_open_loses_nothing() {
        let redis = Redis::start();
        redis.qless().run("put mail K --jid a").ok();
        let mut command = redis.qless().shell("exec \"$0\" pop mail >&-");
        RunOutput::of(&mut command).fails(
            "stdout not open | >&-",
            expect![[r#"
                --- stderr
                error: cannot write to stdout: bad file descriptor
                hint: 1 job given back; no retry was used
                --- exit 1
            "#]],
        );
        let open = redis
            .qless()
            .run("jobs --state waiting,stalled -o jid")
            .ok();
        assert_eq!(open, "a");
    }

    /// Runs a line with a stdout that is full.
    fn full(redis: &Redis, line: &str) -> RunOutput {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
        let mut command = redis.at(5).command();
        RunOutput::of(command.args(line.split(' ')).stdout(full.unwrap())).exits(1)
    }

    #[test]
    fn a_command_that_changed_nothing_does_not_say_that_it_made_changes() {
        let redis = Redis::start();
        for line in [
            "check --repair --yes -o json",
            "retry --state failed --yes -o json",
        ] {
            let stderr = full(&redis, line).stderr();
            assert!(stderr.contains("no space left on device"), "{stderr}");
            assert!(!stderr.contains("changes were made"), "{stderr}");
        }
    }

    #[test]
    fn what_was_done_is_on_stderr_if_stdout_is_full() {
        let redis = Redis::start();
        full(&redis, "put mail K --jid a").shows(expect![[r#"
            --- stderr
            this could not be written to stdout:
            a
            error: cannot write to stdout: no space left on device
            hint: the changes were made
            --- exit 1
        "#]]);
        let ran = full(&redis, "put mail K --jid b -o json");
        ran.says("  \"jid\": \"b\",\n");
        let lines = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&lines, "{}\n".repeat(1_500)).unwrap();
        let ran = full(
            &redis,
            &format!("put q K -o jid --from {}", lines.path().display()),
        );
        for line in [
            "1000 put, 500 not tried",
            "1,000 lines could not be written to stdout",
            "hint: the same command would put them again; with `--jid-from` or",
        ] {
            ran.says(line);
        }
    }

    #[test]
    fn pop_gives_back_what_it_cannot_show() {
        let redis = Redis::start();
        for jid in ["a", "b"] {
            redis.ok(1, &format!("put mail K --jid {jid}"));
        }
        full(&redis, "pop mail --count 2 -o raw").shows(expect![[r#"
            --- stderr
            error: cannot write to stdout: no space left on device
            hint: 2 jobs given back; no retry was used
            --- exit 1
        "#]]);
        let mut child = redis.at(6).command().args(["pop", "mail"]).spawn().unwrap();
        drop(child.stdout.take());
        let ran = RunOutput::of_child(child);
        assert_eq!((ran.code(), ran.stderr().as_str()), (128 + 13, ""));
        let columns = "jobs --queue mail --sort jid --columns jid,state,remaining";
        redis.at(7).run(columns).shows(expect![[r#"
            a	stalled	5/5
            b	stalled	5/5
        "#]]);
        redis.at(7).run("pop mail --count 2 -o jid").exits(0);
    }

    #[test]
    fn verbose_lists_calls_and_masks_data() {
        let redis = Redis::start();
        let ran = redis.at(0).run("-v length mail");
        ran.says(" ms  length\n");
        let ran = redis
            .at(0)
            .run(r#"-vv api put w mail j K '{"card":4711}' 0"#);
        ran.says("put 0 w mail j K <13 bytes> 0 → j");
        assert!(!ran.stderr().contains("4711"));
    }
}
