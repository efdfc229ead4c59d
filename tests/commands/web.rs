//! `qless web`: what the listener answers. How the pages look and move is seen in a browser: `tests/browser.rs`.

use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use expect_test::expect;
use regex::Regex;
use rustix::process::Signal;
use serde_json::Value;

use crate::support::config::ConfigHome;
use crate::support::listening::Listening;
use crate::support::proxy::listen;
use crate::support::qless::Qless;
use crate::support::redis::Redis;
use crate::support::text::{Shows, rows, words};

/// The header of a browser that sends a form of this page.
const OWN: &str = "Sec-Fetch-Site: same-origin\r\n";

/// A queue of each kind, a failed job, and one that waits for it.
fn filled() -> Redis {
    let redis = Redis::start();
    let qless = redis.qless();
    for line in [
        "put mail Mail::Welcome --arg user:=9007199254740993 --jid first --tag eu",
        "put mail Mail::Welcome {} --jid second",
        "put images Photo::Upload {} --jid photo",
        "pop mail --worker mx-1",
        "fail first --worker mx-1 --group upload/error --message 503",
        "put index Index {} --jid index --depends first",
        "pause images --reason disk",
        "recur put reports Daily {} --every 1h --jid daily",
        "throttle set api 2",
    ] {
        qless.run(line).ok();
    }
    redis
}

/// A config file in which URL stands for the address of the server.
fn home(redis: &Redis, contexts: &str) -> ConfigHome {
    ConfigHome::new(&contexts.replace("URL", &format!("{:?}", redis.url())))
}

/// Two contexts of the server: `prod`, and `staging` with a prefix of its own.
fn prod_and_staging(redis: &Redis) -> ConfigHome {
    home(
        redis,
        "[context.prod]\nredis = URL\n[context.staging]\nredis = URL\nprefix = \"other:\"\n",
    )
}

fn state_of(redis: &Redis, jid: &str) -> String {
    redis.qless().run(&format!("get {jid} --field state")).ok()
}

struct Web(Listening);

impl Web {
    fn start(redis: &Redis, more: &str) -> Web {
        Web::with(&redis.qless(), redis, more)
    }

    fn with(qless: &Qless, beside: &Redis, more: &str) -> Web {
        Web(Listening::start(qless, beside, "web", more))
    }

    fn page(&self, path: &str) -> String {
        let (status, body) = self.0.get(path, "localhost");
        assert_eq!(status, 200, "{path}: {body}");
        body
    }

    /// What a reader sees of a page.
    fn text(&self, path: &str) -> String {
        text_of(&self.page(path))
    }

    fn status(&self, path: &str) -> u16 {
        self.0.get(path, "localhost").0
    }

    /// Sends a form. Returns the status, where it leads to, and the text of the page.
    fn post(&self, path: &str, headers: &str, form: &str) -> (u16, String, String) {
        let headers = format!(
            "Host: localhost\r\nContent-Length: {}\r\n{headers}",
            form.len()
        );
        let (status, head, body) = self.0.ask(&format!("POST {path}"), &headers, form);
        let to = head
            .lines()
            .find_map(|line| line.strip_prefix("Location: "));
        (status, to.unwrap_or_default().to_owned(), text_of(&body))
    }

    /// Sends the form of a change, with its token and more values.
    fn confirm(&self, path: &str, more: &str) -> (u16, String, String) {
        let form = format!("token={}{more}", self.token(path));
        self.post(path, OWN, &form)
    }

    /// The token of a form.
    fn token(&self, path: &str) -> String {
        let found = Regex::new("name=\"token\" value=\"([^\"]*)\"").unwrap();
        let page = self.page(path);
        found.captures(&page).unwrap()[1].to_owned()
    }
}

/// What a reader of the content sees, a line for each block.
fn text_of(page: &str) -> String {
    let main = page.split_once("<main").map_or(page, |(_, rest)| rest);
    let main = main.split("</main>").next().unwrap();
    let main = main.split_once('>').map_or(main, |(_, rest)| rest);
    let block =
        Regex::new("</?(h1|h2|p|li|tr|div|pre|section|dd|label|form|button|thead)[^>]*>").unwrap();
    let cell = Regex::new("</t[dh]>").unwrap();
    let tag = Regex::new("<[^>]*>").unwrap();
    let lines = block.replace_all(main, "\n");
    let text = tag
        .replace_all(&cell.replace_all(&lines, " "), "")
        .into_owned();
    let text = text
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&amp;", "&");
    let lines = text.lines().map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.join(" ")
    });
    let lines: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
    lines.join("\n")
}

#[test]
fn every_page_says_first_how_things_stand() {
    let redis = filled();
    let web = Web::start(&redis, "--hide-data");
    let age = Regex::new(r"\d+[smh] ago|for \d+s").unwrap();
    for (path, expected) in rows(
        "
        / | 1 job has failed, and images is paused.
        /queues | 4 queues
        /queues/mail | Workers can take jobs from mail.
        /queues/mail/graph | What jobs of mail hang on.
        /jobs | 4 jobs
        /jobs?queue=mail&state=waiting | 1 job
        /jobs?queue=nope | Jobs
        /jobs?older-than=x | Jobs
        /jobs/first | Mail::Welcome in mail failed ….
        /jobs/index | Index in index waits for another job.
        /jobs/index/graph | What index hangs on.
        /jobs/daily | Daily is put into reports every 1h.
        /failed | 1 job has failed in 1 group
        /failed/upload%2Ferror | 1 job has failed: upload/error
        /workers | 1 worker
        /workers/mx-1 | mx-1 was seen …, holds no job.
        /recurring | 1 recurring job, 1 due
        /limits | 1 throttle
    ",
    ) {
        let text = web.text(path);
        let heading = text.lines().find(|line| !line.contains(" / ")).unwrap();
        assert_eq!(age.replace_all(heading, "…"), expected, "{path}");
    }
    let number = "9007199254740993";
    assert!(!web.page("/jobs").contains(number), "--hide-data");
    assert!(web.page("/jobs/first").contains(number));
    assert_eq!(web.0.end(Signal::INT).code(), 130);
}

#[test]
fn what_is_not_there_is_a_page_with_the_right_status() {
    let redis = filled();
    let web = Web::start(&redis, "");
    for (path, expected) in rows(
        r#"
        /nope | There is no such page.
        /jobs/nope | Job `nope` does not exist.
        /queues/nope | Queue `nope` does not exist.
        /failed/nope | No job has failed in group `nope`.
        /workers/nope | No worker is called `nope`.
        /api/v1/nope | {"kind":"error","v":1,"code":"not_found","exit":4,"message":"there is no such document","hint":null,"jid":null}
        /api/v1/jobs/nope | {"kind":"error","v":1,"code":"not_found","exit":4,"message":"job `nope` does not exist","hint":null,"jid":"nope"}
        /api/v1/queues/nope | {"kind":"error","v":1,"code":"not_found","exit":4,"message":"queue `nope` does not exist","hint":null,"jid":null}
        /?context=nope | no such context is shown here
        /jobs/first/retry | There is no such page.
        //mail | There is no such page.
        /%2e%2e/ | There is no such page.
    "#,
    ) {
        let (status, body) = web.0.get(path, "localhost");
        let said = text_of(&body);
        let first = said.lines().next().unwrap_or_default();
        assert_eq!((status, first), (404, expected), "{path}");
    }
    assert_eq!(web.0.get("/", "evil.example").0, 421);
    let (status, head, _) = web.0.ask("GET /", "Host: localhost\r\n", "");
    assert_eq!(status, 200);
    for header in [
        "\nContent-Security-Policy: default-src 'self';",
        "\nCache-Control: no-store",
        "\nX-Content-Type-Options: nosniff",
    ] {
        assert!(head.contains(header), "{head}");
    }
}

#[test]
fn programs_get_the_documents_of_the_commands() {
    let redis = filled();
    // Waits are counted up to the same moment.
    let qless = redis.at(4_000_000_000_u64);
    let web = Web::with(&qless, &redis, "--interval 1ms");
    for (path, line) in [
        ("/api/v1/queues", "queues -o json"),
        ("/api/v1/queues/mail", "queues mail -o json"),
        ("/api/v1/jobs/first", "get first -o json"),
        ("/api/v1/failed", "failed -o json"),
        ("/api/v1/workers", "workers -o json"),
    ] {
        assert_eq!(web.page(path).trim_end(), qless.run(line).ok(), "{path}");
    }
    let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let (page, command) = (web.page("/api/v1/status"), qless.run("status -o json").ok());
    for field in ["kind", "totals", "problems", "paused", "failures"] {
        assert_eq!(parse(&page)[field], parse(&command)[field], "{field}");
    }
    let stats = parse(&web.page("/api/v1/stats"));
    assert_eq!(stats["total"]["length"], 3);
    assert_eq!(stats["total"]["morgue_length"], 0);
    assert_eq!(stats["by_worker"]["mail"]["length"], 1);
    assert!(stats["by_worker"]["mail"]["lag"].is_number());
    assert!(
        web.page("/metrics")
            .contains("qless_queue_jobs{queue=\"mail\",state=\"waiting\"} 1")
    );
    assert_eq!(web.page("/livez"), "ok\n");
    assert_eq!(web.status("/healthz?max-waiting=mail:0"), 503);
}

#[test]
fn looking_is_all_unless_changes_are_allowed() {
    let redis = filled();
    let web = Web::start(&redis, "");
    assert!(!web.page("/jobs/first").contains("/retry\""));
    assert_eq!(web.status("/jobs/first/retry"), 404);
    assert_eq!(web.post("/jobs/first/retry", OWN, "token=x").0, 404);
    assert_eq!(state_of(&redis, "first"), "failed");
}

#[test]
fn a_change_is_confirmed_with_the_plan_of_the_command_line() {
    let redis = filled();
    let web = Web::start(&redis, "--allow-changes --interval 1ms");
    let path = "/failed/upload%2Ferror/retry";
    let asked = web.text(path).replace(&redis.url(), "REDIS");
    let ages = Regex::new(r"\d+s \d+s").unwrap();
    ages.replace(&asked, "AGES").shows(expect![[r#"
        ← back, and change nothing
        Retry all jobs of upload/error?
        Retry 1 failed job on REDIS
        QUEUE STATE JOBS OLDEST NEWEST
        mail failed 1 AGES
        each goes back to its own queue with 5 fresh retries
        would retry 1
        Retry
        Backqless failed --group=upload/error --retry-all"#]]);
    let form = format!("token={}", web.token(path));
    // A page of another origin, a form of another process.
    for (headers, form) in [
        ("", form.as_str()),
        ("Sec-Fetch-Site: cross-site\r\n", &form),
        ("Sec-Fetch-Site: same-site\r\n", &form),
        ("Origin: http://evil.example\r\n", &form),
        (OWN, ""),
        (OWN, "token=x"),
    ] {
        assert_eq!(web.post(path, headers, form).0, 403, "{headers} {form}");
    }
    assert_eq!(state_of(&redis, "first"), "failed");
    // A browser that sends no such header, but an origin.
    let (status, to, _) = web.post(path, "Origin: http://localhost\r\n", &form);
    assert_eq!(status, 303);
    assert!(to.starts_with("../../failed?did="), "{to}");
    let after = web.text(&to.replace("../../", "/"));
    assert!(after.contains("1 retried"), "{after}");
    assert_eq!(state_of(&redis, "first"), "waiting");
    // Again: there is nothing to retry any more.
    let (status, _, text) = web.post(path, OWN, &form);
    let first = text.lines().next();
    assert_eq!((status, first), (404, Some("Nothing was changed.")));
}

#[test]
fn each_change_is_that_of_its_command() {
    let redis = filled();
    let qless = redis.qless();
    qless.run("put mail Later {} --jid later --delay 1h").ok();
    let web = Web::start(&redis, "--allow-changes --interval 1ms");
    let token = web.token("/queues/mail/pause");
    for (change, expected) in rows(
        "
        /jobs/second/priority value=-7 | 303 JID OLD NEW, second 0 -7
        /jobs/second/tag value=vip | 303 JID TAGS, second vip
        /jobs/second/track | 303 Track: done., Queues / mail / second
        /jobs/second/untrack | 303 Untrack: done., Queues / mail / second
        /jobs/later/promote | 303 Run now: done., Queues / mail / later
        /jobs/second/cancel | 303 JID, second
        /jobs/first/cancel | 409 Nothing was changed., cannot cancel `first`: `index` waits for it
        /jobs/second/priority value=high | 400 Nothing was changed., invalid value 'high' for '--to <N>': expects a whole number between -9007199254740992 and 9007199254740992
        /jobs/second/pause | 404 there is no such page
        /queues/mail/retry | 404 there is no such page
        /failed/upload%2Ferror/tag value=vip | 404 there is no such page
        /queues/mail/pause value=night | 303 Pause: done., Queues / mail
        /queues/images/unpause | 303 Unpause: done., Queues / images
        /failed/upload%2Ferror/cancel | 303 0 cancelled, 1 failed, failed 1 `index` waits for it: first
    ",
    ) {
        let (path, value) = change.split_once(' ').unwrap_or((change, ""));
        let (status, to, text) = web.post(path, OWN, &format!("token={token}&{value}"));
        let said = match status {
            303 => web.text(&to.replace("../../", "/")),
            _ => text,
        };
        let first: Vec<&str> = said.lines().take(2).collect();
        assert_eq!(format!("{status} {}", first.join(", ")), expected, "{change}");
    }
    qless.session(expect![[r#"
        $ qless get later --field state
        waiting
        $ qless queues mail images -o json | jq -c '[.items[].paused_reason]'
        ["night",null]
    "#]]);
}

#[test]
fn a_protected_context_asks_for_its_label_and_a_read_only_one_has_no_buttons() {
    let redis = filled();
    let home = home(
        &redis,
        "[context.prod]\nredis = URL\nlabel = \"PROD\"\nprotected = true\n\
         [context.still]\nredis = URL\nprefix = \"other:\"\nread-only = true\n",
    );
    let flags = "--allow-changes --interval 1ms --context prod --context still";
    let web = Web::with(&home.qless(), &redis, flags);
    let page = web.page("/jobs/first");
    assert!(page.contains("class=\"label bad\">PROD"), "{page}");
    assert!(page.contains("?context=still"), "{page}");
    let path = "/jobs/first/retry";
    for label in ["", "&label=prod", "&label=still"] {
        let (status, _, text) = web.confirm(path, label);
        assert_eq!(status, 403);
        let refused = "The label was not typed; nothing was changed.";
        assert!(text.contains(refused), "{text}");
    }
    let token = web.token(path);
    assert_eq!(web.confirm(path, "&label=PROD").0, 303);
    let state = home.run("get first --field state --context prod");
    assert_eq!(state.ok(), "waiting");
    // The other context: its own prefix, and no change.
    let page = web.page("/?context=still");
    assert!(page.contains("Nothing is here yet"), "{page}");
    let path = "/queues/mail/pause?context=still";
    assert_eq!(web.status(path), 404);
    let form = format!("token={token}");
    assert_eq!(web.post(path, OWN, &form).0, 404);
}

#[test]
fn the_page_starts_without_redis_and_heals() {
    let redis = Redis::start();
    let socket = redis.socket();
    let elsewhere = socket.with_file_name("later.sock");
    let qless = Qless::bare().env("QLESS_REDIS_URL", format!("unix://{}", elsewhere.display()));
    let web = Web::with(&qless, &redis, "--interval 50ms");
    let (status, body) = web.0.get("/", "localhost");
    assert_eq!(status, 503);
    let text = text_of(&body);
    assert!(text.starts_with("Redis does not answer\n"), "{text}");
    assert!(text.contains("connect"), "{text}");
    std::os::unix::fs::symlink(socket, &elsewhere).unwrap();
    assert!(web.0.until("/", 200).contains("Nothing is here yet"));
    let refused = Qless::bare().env("QLESS_REDIS_URL", "unix:///no/socket");
    let line = "web --listen unix:never.sock --no-retry";
    refused.run(line).exits(6);
}

#[test]
fn a_lost_server_is_reported_without_waiting_for_it() {
    let mut redis = filled();
    let web = Web::start(&redis, "--interval 1h");
    web.page("/jobs/first");
    redis.kill();
    let socket = redis.socket();
    std::fs::remove_file(&socket).unwrap();
    let listener = UnixListener::bind(&socket).unwrap();
    let attempts = std::thread::spawn(move || {
        let mut attempts = 0;
        for stream in listener.incoming() {
            let mut first = [0];
            // A command of Redis begins with `*`; the end of the test with another byte.
            match stream.unwrap().read(&mut first) {
                Ok(1) if first == *b"." => break,
                _ => attempts += 1,
            }
        }
        attempts
    });
    assert_eq!(web.status("/jobs/second"), 503);
    UnixStream::connect(&socket)
        .unwrap()
        .write_all(b".")
        .unwrap();
    // One for the page, the others for its diagnosis; who waits tries seven times at least.
    assert!(attempts.join().unwrap() < 5);
}

/// The events of a listener, as they come.
struct Events(UnixStream, String);

impl Events {
    fn of(web: &Web) -> Events {
        let mut stream = UnixStream::connect(&web.0.socket).unwrap();
        stream
            .write_all(b"GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n")
            .unwrap();
        Events(stream, String::new())
    }

    /// Waits until this has come so often, and returns all that has.
    fn until(&mut self, wanted: &str, times: usize) -> &str {
        while self.1.matches(wanted).count() < times {
            let mut bytes = [0; 512];
            let count = self.0.read(&mut bytes).unwrap();
            assert!(count > 0, "{}", self.1);
            self.1
                .push_str(std::str::from_utf8(&bytes[..count]).unwrap());
        }
        &self.1
    }
}

#[test]
fn while_redis_is_frozen_pages_say_at_once_what_is_known_and_recover_with_it() {
    let redis = filled();
    let web = Web::start(&redis, "--interval 50ms");
    web.page("/");
    let mut events = Events::of(&web);
    events.until("event: look", 1);
    redis.freeze();
    events.until("event: away", 1);
    for path in ["/", "/queues", "/jobs", "/jobs/first", "/api/v1/queues"] {
        assert_eq!(web.status(path), 503, "{path}");
    }
    assert!(text_of(&web.0.get("/", "localhost").1).contains("no reply from"));
    redis.thaw();
    // The next try was under way: none of the pages has waited for its end.
    let told = events.until("event: look", 2);
    let (_, after) = told.split_once("event: away").unwrap();
    assert!(!after.contains("event: away"), "{told}");
    for path in ["/", "/jobs/first", "/api/v1/queues"] {
        assert_eq!(web.status(path), 200, "{path}");
    }
}

#[test]
fn a_stream_says_that_there_is_something_new() {
    let redis = filled();
    let web = Web::start(&redis, "--interval 50ms");
    let mut events = Events::of(&web);
    let text = events.until("event: look\ndata: {\"interval_s\":0.05}", 3);
    for header in [
        "Content-Type: text/event-stream",
        "X-Accel-Buffering: no",
        "Cache-Control: no-store",
    ] {
        assert!(text.contains(header), "{text}");
    }
}

#[test]
fn nothing_is_read_while_nobody_looks_and_ten_browsers_cost_what_one_does() {
    let redis = filled();
    let web = Web::start(&redis, "--interval 1ms");
    web.page("/");
    let before = redis.scripts_run();
    // Fifty times as long as a look stands.
    let look_time = || thread::sleep(Duration::from_millis(50));
    look_time();
    assert_eq!(redis.scripts_run(), before);
    let mut events = Events::of(&web);
    events.until("event: look", 3);
    drop(events);
    // The end of the stream is noticed at the next event.
    let deadline = Instant::now() + Duration::from_secs(20);
    let mut before = 0;
    while redis.scripts_run() != std::mem::replace(&mut before, redis.scripts_run()) {
        assert!(Instant::now() < deadline, "reads go on");
        look_time();
    }
    drop(web);
    let read_all = |web: &Web| {
        let api = "stats status queues queues/mail jobs/first failed workers".split(' ');
        for name in api {
            web.page(&format!("/api/v1/{name}"));
        }
        for path in ["/", "/jobs/first", "/failed", "/metrics"] {
            web.page(path);
        }
    };
    // All browsers come at once, to a listener that has read nothing.
    let cost = |browsers: usize| {
        let web = Web::start(&redis, "--interval 1h");
        let before = redis.scripts_run();
        std::thread::scope(|scope| {
            for _ in 0..browsers {
                scope.spawn(|| read_all(&web));
            }
        });
        read_all(&web);
        redis.scripts_run() - before
    };
    let (ten, one) = (cost(10), cost(1));
    // Each connection may have to learn more of the server if it begins to read later.
    assert!(ten < one + one / 2, "{ten}, and {one} for one");
}

/// Forwards to a server, but holds each request with `slow` in it until the gate is open. Counts these.
fn hold_slow_requests(mut client: TcpStream, socket: &Path, held: &AtomicUsize, gate: &AtomicBool) {
    let mut server = UnixStream::connect(socket).unwrap();
    let (mut from, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    thread::spawn(move || std::io::copy(&mut from, &mut to));
    let mut bytes = vec![0; 1 << 16];
    while let Ok(read @ 1..) = client.read(&mut bytes) {
        if bytes[..read].windows(4).any(|word| word == b"slow") {
            held.fetch_add(1, Ordering::SeqCst);
            while !gate.load(Ordering::SeqCst) {
                thread::sleep(Duration::from_millis(5));
            }
        }
        if server.write_all(&bytes[..read]).is_err() {
            return;
        }
    }
    _ = server.shutdown(Shutdown::Both);
}

#[test]
fn searches_are_two_at_a_time_and_nothing_else_waits_for_them() {
    let redis = filled();
    let (held, gate) = (
        Arc::new(AtomicUsize::new(0)),
        Arc::new(AtomicBool::new(false)),
    );
    let (socket, counted, opened) = (redis.socket(), held.clone(), gate.clone());
    let port = listen(move |client| hold_slow_requests(client, &socket, &counted, &opened));
    let qless = redis
        .qless()
        .env("QLESS_REDIS_URL", format!("redis://127.0.0.1:{port}"));
    let web = Web::with(&qless, &redis, "--interval 1ms");
    web.page("/");
    thread::scope(|scope| {
        for tag in ["slow1", "slow2"] {
            let path = format!("/jobs?tag={tag}");
            let web = &web;
            scope.spawn(move || web.status(&path));
        }
        let deadline = Instant::now() + Duration::from_secs(20);
        while held.load(Ordering::SeqCst) < 2 {
            assert!(Instant::now() < deadline, "no two searches run");
            thread::sleep(Duration::from_millis(5));
        }
        let third = web.0.ask("GET /jobs?tag=slow3", "Host: localhost\r\n", "");
        let others = ["/", "/jobs/first", "/api/v1/stats"].map(|path| web.status(path));
        gate.store(true, Ordering::SeqCst);
        assert_eq!(others, [200; 3]);
        let (status, head, page) = third;
        assert_eq!(status, 503, "{page}");
        assert!(head.contains("Retry-After: "), "{head}");
        let text = text_of(&page);
        assert!(
            text.starts_with("Another search is still running."),
            "{text}"
        );
        assert!(!text.contains("Steps to the server"), "{text}");
    });
}

#[test]
fn values_of_the_query_that_decide_nothing_are_not_kept_apart() {
    let redis = filled();
    let web = Web::start(&redis, "--interval 1h");
    let page = web.page("/jobs/first");
    let document = web.page("/api/v1/jobs/first");
    let before = redis.scripts_run();
    for path in [
        "/jobs/first?x=1",
        "/jobs/first?x=2&x=3",
        "/jobs/first?state=failed",
        "/jobs/first?did=none",
        "/jobs/first?live=1",
        "/jobs/first?time=never",
        "/jobs/%66irst",
    ] {
        assert_eq!(web.page(path), page, "{path}");
    }
    assert_eq!(web.page("/api/v1/jobs/first?x=1"), document);
    assert_eq!(redis.scripts_run(), before);
    // One value is not taken for two.
    web.page("/jobs?klass=Index%00state%00failed");
    let page = web.page("/jobs?klass=Index&state=failed");
    let selected = "<option value=\"failed\" selected>";
    assert!(page.contains(selected), "{page}");
}

#[test]
fn of_long_data_a_page_has_the_beginning() {
    let redis = Redis::start();
    let file = redis.socket().with_file_name("data.json");
    std::fs::write(&file, format!("{{\"a\":[{}1]}}", "1,".repeat(60_000))).unwrap();
    let data = format!("@{}", file.display());
    redis
        .qless()
        .args(["put", "q", "K", &data, "--jid", "a"])
        .ok();
    let web = Web::start(&redis, "");
    let text = web.text("/jobs/a");
    assert!(text.contains("The beginning of 120,009 bytes."), "{text}");
    assert!(text.contains("{\n\"a\": [\n1,\n1,"), "{text:.900}");
    assert!(text.contains("Now\nNothing keeps it."), "{text:.900}");
    let list = web.page("/jobs");
    assert!(list.contains("{&quot;a&quot;:[1,1,1"), "{list}");
}

#[test]
fn a_client_that_reads_slowly_leaves_memory_for_others() {
    let redis = Redis::start();
    let slow = ["a", "c", "d", "e"];
    let put = |jid: &str, half_mebibytes: usize| {
        redis.qless().args(["put", "q", "K", "--jid", jid]).ok();
        let key = format!("ql:j:{jid}");
        // Characters of four bytes: it takes time for each character to be printed.
        let set = "local half_mebibyte = ('😀'):rep(2^10):rep(2^7)
                   redis.call('hset', KEYS[1], 'data', '\"' .. half_mebibyte:rep(ARGV[1]) .. '\"')";
        redis.send(&["EVAL", set, "1", &key, &half_mebibytes.to_string()]);
    };
    slow.iter().for_each(|jid| put(jid, 31));
    put("b", 5);
    let web = Web::start(&redis, "");
    let is_over = AtomicBool::new(false);
    let (status, body) = thread::scope(|scope| {
        for jid in slow {
            let mut client = UnixStream::connect(&web.0.socket).unwrap();
            let request = format!("GET /api/v1/jobs/{jid} HTTP/1.1\r\nHost: localhost\r\n\r\n");
            client.write_all(request.as_bytes()).unwrap();
            let mut part = vec![0; 64 << 10];
            client.read_exact(&mut part).unwrap();
            // A client that reads nothing at all is left after five seconds.
            let is_over = &is_over;
            scope.spawn(move || {
                while !is_over.load(Ordering::SeqCst) && client.read_exact(&mut part).is_ok() {
                    thread::sleep(Duration::from_millis(500));
                }
            });
        }
        let refused = web.0.get("/api/v1/jobs/b", "localhost");
        web.page("/jobs/b");
        is_over.store(true, Ordering::SeqCst);
        refused
    });
    assert_eq!(status, 503, "{body:.300}");
    assert_eq!(body, "other clients have not read their responses yet\n");
    web.0.until("/api/v1/jobs/b", 200);
}

#[test]
fn a_base_path_has_only_segments_that_browsers_keep() {
    for path in ["/../x", "/a/./b", "/a/..", "/.", "a", "/a//b"] {
        let line = format!("web --listen unix:never.sock --base-path {path}");
        let refused = Qless::bare().run(&line).exits(2);
        refused.says("error: `--base-path` expects a path such as `/qless`");
    }
}

#[test]
fn a_proxy_may_leave_its_path_and_the_history_survives_a_restart() {
    let redis = filled();
    let history = redis.socket().with_file_name("history.json");
    let more = format!(
        "--base-path /qless --allow-host ops.example --interval 20ms --history {}",
        history.display()
    );
    let start = |now: u64| Web::with(&redis.at(now), &redis, &more);
    // 1970-01-12T13:46:00Z
    let minute = 999_960 / 60;
    let kept = format!(
        "{{\"watched\":[[{minute},60]],\"put\":{{\"mail\":[[{minute},60]]}},\"done\":{{}},\
         \"failed\":{{\"upload/error\":[[{minute},3]]}}}}"
    );
    std::fs::write(&history, kept).unwrap();
    let since = "title=\"1970-01-12T13:46:00.000Z\">13:46<";
    let web = start(1_000_100);
    let (status, head, _) = web.0.ask("GET /qless", "Host: ops.example\r\n", "");
    assert_eq!(status, 303);
    assert!(head.contains("Location: /qless/"), "{head}");
    assert_eq!(web.status("/qless/jobs"), 200);
    assert_eq!(web.status("/jobs"), 404);
    assert!(
        web.page("/qless/queues/mail")
            .contains("href=\"../style.css\"")
    );
    assert!(web.page("/qless/").contains(since));
    std::fs::remove_file(&history).unwrap();
    assert_eq!(web.0.end(Signal::TERM).code(), 143);
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(
        history.metadata().unwrap().permissions().mode() & 0o777,
        0o600
    );
    let web = start(1_003_000);
    let page = web.page("/qless/");
    assert!(page.contains(since), "{page}");
    // What was counted before is still drawn.
    assert!(
        page.contains("3 failures seen in the last two hours"),
        "{page}"
    );
    assert!(page.contains("<path class=\"put\" d=\"M"), "{page}");
    web.0.end(Signal::INT);
}

#[test]
fn a_history_that_cannot_be_kept_is_an_error_at_the_start() {
    let redis = Redis::start();
    let beside = |name: &str| redis.socket().with_file_name(name);
    std::fs::write(beside("text"), "no history").unwrap();
    let endless = std::fs::File::create(beside("endless")).unwrap();
    endless.set_len(1 << 40).unwrap();
    redis.session(expect![[r#"
        $ qless web --listen unix:never.sock --history DIR/missing/history
        --- stderr
        error: cannot write `DIR/missing/history`: no such file or directory
        hint: name a file in a directory that exists and that you may write to
        --- exit 1
        $ qless web --listen unix:never.sock --history DIR/.
        --- stderr
        error: cannot read `DIR/.`: is a directory
        --- exit 1
        $ qless web --listen unix:never.sock --history DIR/endless
        --- stderr
        error: `DIR/endless` is not a history
        hint: name another file, or delete this one
        --- exit 1
        $ qless web --listen unix:never.sock --history DIR/text
        --- stderr
        error: `DIR/text` is not a history
        hint: name another file, or delete this one
        --- exit 1
    "#]]);
    prod_and_staging(&redis).qless().session(expect![[r#"
        $ qless web --listen unix:never.sock --history kept.json --context prod --context staging
        --- stderr
        error: `--history` keeps what was counted of one context only
        hint: leave it out, or name one context
        --- exit 2
    "#]]);
}

#[test]
fn a_page_of_the_last_look_does_not_wait_for_another_that_reads() {
    let redis = filled();
    let web = Web::start(&redis, "--interval 1h");
    web.page("/");
    redis.freeze();
    std::thread::scope(|scope| {
        let search = scope.spawn(|| web.status("/jobs"));
        for page in 0..20 {
            web.page(&format!("/queues?page={page}"));
        }
        let is_searching = !search.is_finished();
        redis.thaw();
        assert_eq!(search.join().unwrap(), 200);
        assert!(is_searching);
    });
}

#[test]
fn hostile_names_are_text_and_lead_to_their_pages() {
    let redis = Redis::start();
    let qless = redis.qless();
    let names = [
        b"<script>alert(1)</script>",
        &b"\"><img src=x>"[..],
        b"..",
        b"~",
        b"a/b?c#d%e",
        b"a*[b]",
        "\u{202e}rtl".as_bytes(),
        b"o'k",
        b"\xff no UTF-8",
    ];
    for name in names.map(OsStr::from_bytes) {
        let mut jid = OsString::from("j");
        jid.push(name);
        let job = ["put".as_ref(), name, name, "{}".as_ref(), "--jid".as_ref()];
        qless.args(job.into_iter().chain([jid.as_os_str()])).ok();
    }
    let web = Web::start(&redis, "");
    let link = Regex::new("<th scope=\"row\"><a[^>]* href=\"\\./([^\"]*)\"").unwrap();
    let waiting = Regex::new("href=\"\\.\\./([^\"]*&amp;state=waiting)\"").unwrap();
    for page in ["/", "/queues", "/jobs"] {
        let text = web.page(page);
        assert!(!text.contains("<script>alert"), "{page}");
        assert!(!text.contains("<img"), "{page}");
        assert!(!text.contains('\u{202e}'), "{page}");
        let links: Vec<String> = link
            .captures_iter(&text)
            .map(|found| found[1].to_owned())
            .collect();
        assert_eq!(links.len(), names.len(), "{page}: {text}");
        for link in links {
            let found = web.page(&format!("/{}", link.replace("&amp;", "&")));
            if page == "/queues" {
                // Its figures lead to its own jobs.
                let jobs = waiting.captures(&found).unwrap()[1].replace("&amp;", "&");
                let jobs = web.text(&format!("/{jobs}"));
                assert!(jobs.starts_with("1 job\n"), "{link}: {jobs}");
            }
        }
    }
}

#[test]
fn the_middle_of_an_axis_is_a_whole_number_of_jobs() {
    let redis = Redis::start();
    let qless = redis.qless();
    for (jobs, labels) in [(1, ["1", "2"]), (3, ["2", "4"]), (4, ["2", "4"])] {
        let queue = format!("queue-{jobs}");
        for _ in 0..jobs {
            qless.run(&format!("put {queue} K {{}}")).ok();
        }
        qless
            .run(&format!("pop {queue} --worker w --count {jobs}"))
            .ok();
        let web = Web::start(&redis, "");
        let page = web.page(&format!("/queues/{queue}"));
        assert_eq!(drawn_texts(&page)[..2], labels, "{jobs}");
    }
}

/// The texts of drawings, one after the other.
fn drawn_texts(page: &str) -> Vec<String> {
    let text = Regex::new("<text[^>]*>([^<]*)</text>").unwrap();
    let found = text.captures_iter(page);
    found.map(|found| found[1].to_owned()).collect()
}

#[test]
fn a_life_and_a_story_tell_each_thing_once_with_its_cause() {
    let redis = Redis::start();
    let worker = "mx-1-qless-1.0.0-x8-220-3fa9";
    redis.ok(1000, "put images Photo::Upload {} --jid photo");
    redis.ok(1002, &format!("pop images --worker {worker}"));
    redis.ok(1014, &format!("retry photo --worker {worker} --delay 30s"));
    redis.ok(1044, "pop images --worker w");
    redis.ok(1074, "fail photo --worker w --group upload --message 503");
    let web = Web::with(&redis.at(1080), &redis, "");
    let page = web.page("/jobs/photo");
    assert_eq!(
        drawn_texts(&page),
        [
            "ran 12s on mx-1-220",
            "retried, waited 30s",
            "ran 30s on w",
            "failed"
        ]
    );
    let by = Regex::new(r"by \S*@\S*").unwrap();
    let story = by.replace_all(&text_of(&page), "by USER@HOST").into_owned();
    let (_, story) = story.split_once("Story\n").unwrap();
    let (story, _) = story.split_once("\nJob\n").unwrap();
    expect![[r#"
        00:16:40.000 put in images
        00:16:42.000 popped by mx-1-qless-1.0.0-x8-220-3fa9, waited 2s
        00:16:54.000 retried by USER@HOST
        00:17:24.000 popped by w
        00:17:54.000 failed upload, ran 30s, by USER@HOST"#]]
    .assert_eq(story);
    let group = web.text("/failed/upload");
    assert!(group.contains("\nQueues: images 1\n"), "{group}");
}

#[test]
fn the_first_page_shows_a_worker_that_lost_its_job_before_more_recent_ones() {
    let redis = Redis::start();
    redis.ok(1000, "put mail K --jid a");
    redis.ok(1000, "pop mail --worker lost");
    for number in 10..30 {
        let pop = format!("pop images --worker w{number}");
        redis.at(2000).run(&pop).exits(4);
    }
    let page = Web::with(&redis.at(2010), &redis, "").page("/");
    let (_, table) = page.split_once("<table class=\"workers\"").unwrap();
    let links = Regex::new("href=\"[^\"]*workers/([^\"/?]+)").unwrap();
    let shown: Vec<&str> = links
        .captures_iter(table)
        .map(|link| link.extract::<1>().1[0])
        .collect();
    expect!["lost w10 w11 w12 w13 w14 w15 w16 w17 w18 w19 w20"].assert_eq(&shown.join(" "));
}

#[test]
fn the_axis_of_a_chart_has_times_of_the_wanted_form() {
    let redis = Redis::start();
    redis.qless().run("put mail K {}").ok();
    // 1970-01-12T13:46:40Z
    let minute = 1_000_000 / 60;
    let history = redis.socket().with_file_name("history.json");
    let kept = format!(
        "{{\"watched\":[[{0},60]],\"put\":{{\"mail\":[[{0},30]]}},\"done\":{{}},\"failed\":{{}}}}",
        minute - 20
    );
    std::fs::write(&history, kept).unwrap();
    let qless = redis.at(1_000_000).env("TZ", "XXX-9");
    let web = Web::with(&qless, &redis, &format!("--history {}", history.display()));
    let axis = |query: &str| {
        let text = web.text(&format!("/queues/mail{query}"));
        let axis = text
            .lines()
            .skip_while(|line| !line.starts_with("Last hour"));
        axis.skip(1).take(1).collect::<String>()
    };
    ["", "?time=utc", "?time=local"]
        .map(axis)
        .join("\n")
        .shows(expect![[r#"
        1h ago 30m ago now
        12:46 13:16 13:46
        21:46 22:16 22:46"#]]);
}

#[test]
fn a_change_that_failed_tells_what_it_had_done() {
    let redis = filled();
    let web = Web::start(&redis, "--allow-changes");
    let path = "/failed/upload%2Ferror/retry";
    let form = format!("token={}", web.token(path));
    redis.send(&["CONFIG", "SET", "maxmemory", "1"]);
    let (status, _, text) = web.post(path, OWN, &form);
    assert_eq!(status, 503);
    text.replace(&redis.url(), "REDIS").shows(expect![[r#"
        The change failed.
        `REDIS` is out of memory; nothing was changed
        `qless cancel` and a shorter `jobs-history` free some
        0 retried, 1 failed
        failed 1 `REDIS` is out of memory; nothing was changed: first
        To the overview"#]]);
}

#[test]
fn a_plan_is_never_older_than_its_request() {
    let redis = filled();
    // Flags of the start do not reach the commands of pages.
    let flags = "--allow-changes --quiet --sort nothing --interval 1h";
    let web = Web::start(&redis, flags);
    assert_eq!(web.status("/api/v1/queues"), 200);
    let path = "/failed/upload%2Ferror/retry";
    let plan = web.text(path);
    assert!(plan.contains("Retry 1 failed job"), "{plan}");
    redis.qless().run("retry first").ok();
    assert_eq!(web.status(path), 404);
}

#[test]
fn a_command_names_the_context_of_its_page_alone() {
    let redis = filled();
    let home = prod_and_staging(&redis);
    let web = Web::with(
        &home.qless(),
        &redis,
        "--allow-changes --context prod --context staging",
    );
    let command = Regex::new("<code class=\"command\"[^>]*>([^<]*)</code>").unwrap();
    for (path, context) in [
        ("/jobs?state=failed", "prod"),
        ("/jobs?context=staging", "staging"),
        ("/jobs/first", "prod"),
        ("/jobs/index", "prod"),
        ("/jobs/first/retry", "prod"),
        ("/jobs/index/graph", "prod"),
        ("/jobs/daily", "prod"),
        ("/queues/mail", "prod"),
        ("/queues/images", "prod"),
        ("/failed/upload%2Ferror", "prod"),
        ("/failed/upload%2Ferror/retry", "prod"),
        ("/workers/mx-1", "prod"),
    ] {
        let page = web.page(path);
        let mut lines = command.captures_iter(&page).peekable();
        assert!(lines.peek().is_some(), "{path}: {page}");
        for line in lines {
            let start = format!("qless --context={context} ");
            assert!(line[1].starts_with(&start), "{path}: {}", &line[1]);
            assert_eq!(line[1].matches("--context").count(), 1, "{}", &line[1]);
        }
    }
    // What is said of a problem and of an error, too.
    home.qless().run("put mail K --context staging").ok();
    home.qless().run("pause mail --context staging").ok();
    let status = web.page("/api/v1/status?context=staging");
    assert!(
        status.contains("qless --context=staging unpause mail"),
        "{status}"
    );
    assert!(!status.contains("--context=prod"), "{status}");
    let path = "/failed/upload%2Ferror/retry";
    let form = format!("token={}", web.token(path));
    redis.send(&["CONFIG", "SET", "maxmemory", "1"]);
    let (_, _, text) = web.post(path, OWN, &form);
    assert!(text.contains("`qless --context=prod cancel`"), "{text}");
    assert!(!text.contains("--context=staging"), "{text}");
}

#[test]
fn it_is_ready_if_each_context_answers() {
    let redis = filled();
    let down = "[context.prod]\nredis = URL\n[context.down]\nredis = \"unix:///no/socket\"\n";
    let home = home(&redis, down);
    let web = Web::with(&home.qless(), &redis, "--context prod --context down");
    let ready = |query: &str| web.0.get(&format!("/readyz{query}"), "localhost");
    let why = "down: cannot open `/no/socket`: no such file or directory\n";
    assert_eq!(ready(""), (503, why.to_owned()));
    assert_eq!(ready("?context=prod"), (200, "ok\n".to_owned()));
    assert_eq!(ready("?context=down").0, 503);
    // Its page has no look that could be live, and the other one has.
    assert_eq!(web.status("/?context=down"), 503);
    assert_eq!(web.status("/"), 200);
}

#[test]
fn of_a_long_result_the_first_lines_and_the_total_are_kept() {
    let redis = Redis::start();
    let qless = redis.qless();
    let jobs = "{\"queue\":\"mail\",\"klass\":\"K\"}\n".repeat(150);
    qless.clone().input(jobs).run("put --from -").ok();
    qless.run("pop mail --worker w --count 150").ok();
    let fail = "fail --held-by w --worker w --group boom --message 503 --yes";
    qless.run(fail).ok();
    let web = Web::start(&redis, "--allow-changes");
    let (status, to, _) = web.confirm("/failed/boom/cancel", "");
    assert_eq!(status, 303);
    let page = web.page(&to.replace("../../", "/"));
    let (notice, _) = page.split_once("</pre>").unwrap();
    let (_, notice) = notice.split_once("<pre class=\"notice\"").unwrap();
    let mut lines = notice.lines().rev();
    // A slow machine also says how long it took.
    let last = lines.next().unwrap();
    assert!(last.starts_with("150 cancelled"), "{last}");
    assert_eq!(lines.next(), Some("… and 51 more lines"));
    assert_eq!(lines.count(), 100);
}

#[test]
fn a_stream_is_that_of_a_context_whatever_else_the_query_says() {
    let redis = Redis::start();
    let home = prod_and_staging(&redis);
    let web = Web::with(&home.qless(), &redis, "--context prod --context staging");
    for (query, stream) in [
        ("?time=utc&live=0", "./live"),
        ("?time=utc&live=0&context=staging", "./live?context=staging"),
    ] {
        let page = web.page(&format!("/{query}"));
        let stream = format!("data-stream=\"{stream}\"");
        assert!(page.contains(&stream), "{page}");
    }
}

#[test]
fn a_name_in_a_path_is_never_a_file_stdin_or_a_pattern() {
    let redis = filled();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"first\nsecond\n").unwrap();
    let web = Web::start(&redis, "--allow-changes --interval 1ms");
    let path = file.path().to_str().unwrap().replace('/', "%2F");
    for name in [format!("@{path}"), "-".into(), "@-".into()] {
        let (status, body) = web.0.get(&format!("/api/v1/jobs/{name}"), "localhost");
        assert_eq!(status, 404, "{name}: {body}");
        assert!(!body.contains("first"), "{name}: {body}");
    }
    // A change by such a name changes no job of the file.
    let token = web.token("/jobs/first/track");
    let form = format!("token={token}");
    web.post(&format!("/jobs/@{path}/track"), OWN, &form);
    assert_eq!(
        redis.qless().run("get second --field tracked").ok(),
        "false"
    );
    // Nor does a queue with a wildcard in its name stand for others.
    redis.qless().args(["put", "m*", "K"]).ok();
    web.post("/queues/m*/pause", OWN, &form);
    redis.session(expect![[r#"
        $ qless queues m\* mail -o json | jq -c '[.items[].name, .items[].paused]'
        ["m*","mail",true,false]
    "#]]);
}

#[test]
fn each_prefix_of_a_context_has_its_pages() {
    let redis = Redis::start();
    for prefix in ["a:", "b:"] {
        let line = format!("put of-{prefix} K --prefix {prefix}");
        redis.qless().run(&line).ok();
    }
    let both = "[context.both]\nredis = URL\nprefixes = [\"a:\", \"b:\"]\n";
    let home = home(&redis, both);
    let web = Web::with(&home.qless(), &redis, "--interval 1ms --context both");
    assert!(web.page("/").contains("of-a:"));
    let other = web.page("/?context=b:");
    assert!(
        other.contains("of-b:") && !other.contains("of-a:"),
        "{other}"
    );
    let page = web.page("/queues/of-b:?context=b:");
    assert!(page.contains("--prefix=b:"), "{page}");
}

#[test]
fn a_page_reads_no_more_than_it_shows() {
    const STEP: usize = 1000;
    let redis = Redis::start();
    let mut filled = 0;
    let mut fill = || {
        let now = 1000.0;
        let mut calls = vec![(now, words("put me mail top K {} 0"))];
        for at in filled..filled + STEP {
            for line in [
                format!("put me mail j{at} K {{}} 0"),
                format!("put me bad f{at} K {{}} 0"),
                format!("put me next n{at} K {{}} 0 depends '[\"top\"]'"),
                format!("recur reports r{at} K {{}} interval 3600 0"),
            ] {
                calls.push((now, words(&line)));
            }
        }
        // A call for the limits ends after about 5,000 commands, more than the others need.
        for at in 2 * filled..2 * (filled + STEP) {
            calls.push((now, words(&format!("throttle.set t{at} 2"))));
        }
        calls.push((now, words(&format!("pop mail w {STEP}"))));
        calls.push((now, words(&format!("pop bad b {STEP}"))));
        for at in filled..filled + STEP {
            calls.push((now, words(&format!("fail f{at} b boom 503 {{}}"))));
        }
        redis.calls(calls);
        filled += STEP;
    };
    let costs = || {
        let web = Web::with(&redis.at(1000), &redis, "--allow-changes --interval 1h");
        web.page("/");
        let paths = [
            "/queues/mail",
            "/jobs/top",
            "/jobs",
            "/failed",
            "/failed/boom",
            "/failed/boom/retry",
            "/workers/w",
            "/recurring",
            "/limits",
        ];
        paths.map(|path| {
            let before = redis.commands_run("");
            web.page(path);
            (path, redis.commands_run("") - before)
        })
    };
    fill();
    let few = costs();
    fill();
    for ((path, cost), (_, many)) in few.into_iter().zip(costs()) {
        // The jobs shown are others, in other states.
        assert!(many < cost + cost / 5, "{path}: {cost}, then {many}");
    }
}

#[test]
fn changes_that_a_read_only_context_forbids_are_named_at_the_start() {
    let redis = filled();
    let home = home(
        &redis,
        "[context.prod]\nredis = URL\n[context.audit]\nredis = URL\nread-only = true\n\
         [context.other]\nredis = URL\nprefix = \"other:\"\n",
    );
    let said = |flags: &str| {
        let web = Web::with(&home.qless(), &redis, &format!("--allow-changes {flags}"));
        assert!(!web.page("/jobs/first").contains("/retry\""), "{flags}");
        let said = web.0.end(Signal::INT).stderr();
        said.lines().next().unwrap().to_owned() + "\n"
    };
    let flags = [
        "--context prod",
        "--context audit",
        "--context prod,other",
        "--read-only --context prod",
    ];
    flags.map(said).concat().shows(expect![[r#"
        warning: `--allow-changes` adds no button for `prod`: this is the server of context `audit`, which is read-only
        warning: `--allow-changes` adds no button for `audit`: context `audit` is read-only
        warning: `--allow-changes` adds no button for `prod`: this is the server of context `audit`, which is read-only
        warning: `--allow-changes` adds no button for `prod`: this is the server of context `audit`, which is read-only
    "#]]);
}

#[test]
fn no_link_leads_to_what_a_request_cannot_name() {
    let redis = Redis::start();
    for name in ["plain", &"x".repeat(10_000), "n\0l"] {
        let calls = [
            "put me NAME runNAME K {} 0",
            "pop NAME NAME 1",
            "put me NAME failNAME K {} 0",
            "pop NAME other 1",
            "fail failNAME other NAME 503 {}",
            "put me NAME waitNAME K {} 0",
        ];
        redis.calls(calls.map(|call| (1000.0, words(&call.replace("NAME", name)))));
    }
    let web = Web::with(&redis.at(1000), &redis, "--allow-changes --interval 1ms");
    let link = Regex::new("href=\"([^\"]*)\"").unwrap();
    let mut next = vec!["/".to_owned()];
    let mut seen = next.clone();
    while let Some(path) = next.pop() {
        let page = web.page(&path);
        let (_, page) = page.split_once("<main").unwrap();
        let (page, _) = page.split_once("</main").unwrap();
        let deep = path.split('?').next().unwrap().matches('/').count();
        for link in link.captures_iter(page) {
            let link = link[1].replace("&amp;", "&");
            let up = link.matches("../").count();
            assert!(up < deep, "{path}: {link}");
            let to = format!(
                "/{}",
                link.trim_start_matches("../").trim_start_matches("./")
            );
            if !link.starts_with('?') && up + 1 == deep && !seen.contains(&to) {
                seen.push(to.clone());
                next.push(to);
            }
        }
    }
    assert!(
        web.page("/")
            .contains("x… <span class=\"dim\">(too long for a page)")
    );
    for path in ["/queues/n%00l", "/jobs/failn%00l", "/jobs/failplain/retry"] {
        assert!(seen.contains(&path.to_owned()), "{path}: {seen:#?}");
    }
}

#[test]
fn figures_and_words_of_a_page_agree() {
    let redis = Redis::start();
    for (at, line) in [
        (1000, "put mail K --jid lost"),
        (1000, "pop mail --worker w"),
        (1000, "put mail K --jid old"),
        (1300, "put mail K --jid new --priority 10"),
        (1300, "put images K --jid bad"),
        (1300, "pop images --worker w"),
        (1300, "fail bad --worker w --group group-0 --message 503"),
    ] {
        redis.at(at).run(line).exits(0);
    }
    let web = Web::with(&redis.at(1305), &redis, "--interval 1ms");
    let queue = web.text("/queues/images");
    assert!(
        queue.contains("0 done today, 1 failure, 0 lost locks"),
        "{queue}"
    );
    let page = web.page("/");
    let text = text_of(&page);
    assert!(text.contains("running, 1 stalled"), "{text}");
    assert!(text.contains("failed in 1 group"), "{text}");
    // The next job has not waited for long, but another one has.
    assert!(page.contains("<td class=\"n\">5s</td>"), "{page}");
    assert!(page.contains("oldest waits 5m 5s"), "{page}");
    let mut calls = Vec::new();
    for at in 0..600 {
        for line in [
            format!("put me images f{at} K {{}} 0"),
            "pop images w 1".to_owned(),
            format!("fail f{at} w group-{at} 503 {{}}"),
        ] {
            calls.push((1301.0, words(&line)));
        }
    }
    redis.calls(calls);
    let text = web.text("/");
    assert!(text.contains("at least, failed in 600 groups"), "{text}");
}

#[test]
fn a_worker_whose_expired_lock_was_extended_has_an_empty_list_with_its_reason() {
    let redis = Redis::start();
    redis.ok(1000, "put mail K --jid first");
    redis.ok(1000, "pop mail --worker mx-1");
    redis.at(1100).run("pop mail --worker mx-2").exits(4);
    let web = Web::with(&redis.at(1101), &redis, "");
    let job = web.text("/jobs/first");
    assert!(job.contains("on mx-1."), "{job}");
    let worker = web.text("/workers/mx-1");
    assert!(worker.contains("holds no job"), "{worker}");
    assert!(
        worker.contains("None. A job whose expired lock was extended"),
        "{worker}"
    );
}

#[test]
fn messages_that_differ_in_numbers_are_one_line_without_these_numbers() {
    let redis = Redis::start();
    for (jid, message) in [
        ("a", "PUT /bucket/1: 503"),
        ("b", "PUT /bucket/12: 503"),
        ("c", "disk 7 is full"),
    ] {
        let qless = redis.qless();
        let fail = format!("fail {jid} --worker w --group upload --message '{message}'");
        qless.run(&format!("put uploads K --jid {jid}")).ok();
        qless.run("pop uploads --worker w").ok();
        qless.run(&fail).ok();
    }
    let page = Web::start(&redis, "").page("/failed/upload");
    let messages: Vec<&str> = page
        .split("<td class=\"mono wrap\">")
        .skip(1)
        .map(|cell| cell.split('<').next().unwrap())
        .collect();
    assert_eq!(messages, ["PUT /bucket/…: 503", "disk 7 is full"]);
}

#[test]
fn workers_that_need_somebody_come_first() {
    let redis = Redis::start();
    redis.ok(1, "config set long-heartbeat 4000");
    redis.ok(1, "put long K --jid a");
    redis.ok(1, "put mail K --jid b");
    redis.ok(1, "pop long --worker m-silent");
    redis.ok(2, "pop mail --worker z-lost");
    redis.at(2995).run("pop other --worker a-fresh").exits(4);
    let web = Web::with(&redis.at(3000), &redis, "");
    let page = web.page("/workers");
    let rows: Vec<&str> = page.split("<tr data-key=\"").skip(1).collect();
    let names: Vec<&str> = rows
        .iter()
        .filter_map(|row| row.split('"').next())
        .collect();
    assert_eq!(names, ["z-lost", "m-silent", "a-fresh"]);
    let is_late = |row: &&&str| row.contains("class=\"n late\"");
    assert_eq!(rows.iter().filter(is_late).count(), 2, "{page}");
}

#[test]
fn a_late_recurring_job_says_how_many_runs_it_owes() {
    let redis = Redis::start();
    redis.ok(1000, "recur put q K --jid tick --every 60s");
    let web = Web::with(&redis.at(1330), &redis, "");
    let list = web.text("/recurring");
    assert!(list.ends_with(" – 6 runs owed"), "{list}");
    let job = web.text("/jobs/tick");
    assert!(job.contains("\nbacklog\nall\n"), "{job}");
    assert!(job.contains("\n6 runs owed\n"), "{job}");
    drop(web);
    redis.ok(1331, "pop q --count 9");
    let web = Web::with(&redis.at(1332), &redis, "");
    assert!(!web.text("/recurring").contains("owed"));
}

#[test]
fn a_queue_is_held_in_the_words_of_the_commands() {
    let redis = Redis::start();
    for line in [
        "put mail K",
        "pause mail --reason disk --for 2h",
        "throttle set api 0",
        "put sync K --throttle api --jid held",
        "put lane K --key a --jid first",
        "put lane K --key a",
    ] {
        redis.ok(1000, line);
    }
    redis.ok(1000, "throttle set api -1");
    redis.ok(1000, "pop lane --worker w");
    redis.at(1000).run("pop sync --worker w").exits(4);
    let web = Web::with(&redis.at(1060), &redis, "");
    let page = web.text("/queues");
    for (line, words) in rows(
        "
        queues mail --columns STATE | paused 1m, ends in 1h 59m (disk)
        lag sync --columns WHY | throttle api has no free slot
        lag lane --columns WHY | behind other jobs in lane lane/a
    ",
    ) {
        let said = redis.ok(1060, &format!("--time-format relative {line}"));
        assert_eq!(said, words);
        assert!(page.contains(words), "{words}: {page}");
    }
}
