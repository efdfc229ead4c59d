//! The pages of `qless web` in a real browser. Without one, each test says so and ends.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::io::{BufRead, BufReader};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::SystemTime;

use expect_test::expect;
use rustix::process::Signal;
use serde_json::json;

use super::support::browser::{self, Browser};
use super::support::qless::{Qless, RunOutput, Running};
use super::support::redis::Redis;

/// A running page of a server.
struct Site {
    running: Option<Running>,
    url: String,
}

impl Site {
    fn start(redis: &Redis, more: &str) -> Site {
        Site::at(&redis.qless(), "127.0.0.1:0", more)
    }

    fn at(qless: &Qless, address: &str, more: &str) -> Site {
        let line = format!("web --interval 100ms --listen {address} {more}");
        let mut running = qless.start(&line);
        let mut stderr = BufReader::new(running.child.stderr.take().unwrap());
        let mut said = String::new();
        stderr.read_line(&mut said).unwrap();
        let url = said.trim().strip_prefix("listening on ").expect(&said);
        Site {
            url: url.to_owned(),
            running: Some(running),
        }
    }

    fn page(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }

    fn end(&mut self) {
        if let Some(running) = self.running.take() {
            running.signal(Signal::KILL);
            running.end();
        }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.end();
    }
}

/// Queues with jobs of all kinds, two groups of failures, a pause and a limit.
fn night() -> Redis {
    let redis = Redis::start();
    let qless = redis.qless();
    for line in [
        "put mail Mail::Welcome --arg user=1 --jid first --tag eu",
        "put mail Mail::Welcome --jid second",
        "put images Photo::Upload --jid photo --arg name=sea",
        "put images Photo::Upload --jid other",
        "put reports Daily --jid later --delay 1h",
        "pop mail images --worker mx-1 --count 3",
        "fail first --worker mx-1 --group timeout --message no-reply",
        "fail photo --worker mx-1 --group upload --message 503",
        "put index Index --jid index --depends first",
        "pause images --reason disk",
        "recur put reports Daily --every 1h --jid daily",
        "throttle set api 2",
    ] {
        qless.run(line);
    }
    redis
}

/// Every page.
const PAGES: [&str; 18] = [
    "",
    "queues",
    "queues/mail",
    "queues/images",
    "queues/index/graph",
    "queues/images/unpause",
    "jobs",
    "jobs?state=failed",
    "jobs/first",
    "jobs/index",
    "jobs/first/retry",
    "jobs/first/priority",
    "failed",
    "failed/timeout",
    "workers",
    "workers/mx-1",
    "recurring",
    "limits",
];

#[test]
fn the_page_follows_what_happens_and_moves_nothing_under_the_pointer() {
    let Some(mut browser) = Browser::start_or_skip() else {
        return;
    };
    let redis = Redis::start();
    let qless = redis.qless();
    for queue in ["beta", "delta"] {
        qless.run(&format!("put {queue} K --jid {queue}")).ok();
    }
    let mut site = Site::start(&redis, "");
    browser.view(1200, "light");
    browser.open(&site.page(""));
    browser.until("document.querySelector('button.live').textContent === 'live'");
    // A job fails.
    qless.run("pop beta --worker w").ok();
    qless
        .run("fail beta --worker w --group upload-error --message 503")
        .ok();
    browser.until("document.querySelector('h1').textContent.includes('1 job has failed')");
    browser.until("document.querySelector('.fails').textContent.includes('upload-error')");
    browser.until("document.title === '1 failed (+1 in 1h) · qless'");
    // A queue that comes first does not come under the pointer.
    let names =
        "[...document.querySelectorAll('table.queues tbody th')].map(e => e.textContent).join()";
    browser.point_at("table.queues tbody tr:nth-child(2) th");
    qless.run("put alpha K --jid alpha").ok();
    browser.until("document.querySelector('button.order') !== null");
    assert_eq!(browser.text(names), "beta,delta");
    browser.until("document.querySelector('.sums b').textContent === '2'");
    browser.mouse("mouseMoved", 2.0, 2.0);
    browser.until(&format!("{names} === 'alpha,beta,delta'"));
    browser.until("document.querySelector('button.order') === null");
    // What has the focus stays the same element.
    browser.value(
        "window.link = document.querySelector('table.queues tbody th a'); window.link.focus()",
    );
    qless.run("put alpha K --jid alpha-2").ok();
    browser.until("document.querySelector('.sums b').textContent === '3'");
    assert_eq!(
        browser.value("document.activeElement === window.link && window.link.isConnected"),
        true
    );
    browser.value("window.link.blur()");
    // Space stops it, and continues.
    browser.press(" ");
    browser.until("document.querySelector('button.live').textContent === 'paused'");
    qless.run("put alpha K --jid alpha-3").ok();
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert_eq!(
        browser.text("document.querySelector('.sums b').textContent"),
        "3"
    );
    browser.press(" ");
    browser.until("document.querySelector('.sums b').textContent === '4'");
    let complaints = browser.complaints(&site.url);
    assert_eq!(complaints, [""; 0]);
    // The listener goes away, and comes back.
    let address = site
        .url
        .trim_start_matches("http://")
        .trim_end_matches('/')
        .to_owned();
    site.end();
    browser.until("/^[0-9]+ s old$/.test(document.querySelector('button.live').textContent)");
    qless.run("put alpha K --jid alpha-4").ok();
    let _again = Site::at(&qless, &address, "");
    browser.until("document.querySelector('.sums b').textContent === '5'");
    browser.until("document.querySelector('button.live').textContent === 'live'");
}

#[test]
fn a_group_is_retried_through_its_confirmation_page_with_and_without_javascript() {
    let Some(mut browser) = Browser::start_or_skip() else {
        return;
    };
    let redis = night();
    let site = Site::start(&redis, "--allow-changes");
    browser.view(1200, "light");
    for (group, jid, has_script) in [("timeout", "first", true), ("upload", "photo", false)] {
        let off = serde_json::json!({"value": !has_script});
        browser.call("Emulation.setScriptExecutionDisabled", off);
        browser.open(&site.page("?live=0"));
        browser.follow(&format!(".needs a[href*='failed/{group}']"));
        let head = browser.text("document.querySelector('h1').textContent");
        assert_eq!(head, format!("1 job has failed: {group}"));
        browser.follow("a.button.main");
        let asked = browser.text("document.querySelector('main').innerText");
        for part in [
            format!("Retry all jobs of {group}?"),
            "would retry 1".to_owned(),
            format!("qless failed --group={group} --retry-all"),
        ] {
            assert!(asked.contains(&part), "{asked}");
        }
        browser.follow("form.confirm button");
        let said = browser.text("document.querySelector('[role=status]').textContent");
        // A busy machine adds how long it took.
        assert!(said.starts_with("1 retried"), "{said}");
        let state = redis.qless().run(&format!("get {jid} --field state")).ok();
        assert_eq!(state, "waiting");
    }
}

#[test]
fn every_page_is_readable_at_400_pixels_and_accessible() {
    let Some(mut browser) = Browser::start_or_skip() else {
        return;
    };
    let redis = night();
    let site = Site::start(&redis, "--allow-changes");
    let axe = axe_or_note();
    let mut found = Vec::new();
    for (number, path) in PAGES.into_iter().enumerate() {
        browser.open(&site.page(path));
        for width in [1200, 760, 400] {
            browser.view(width, "light");
            let wide = browser.value("document.scrollingElement.scrollWidth");
            if wide.as_u64() > Some(width.into()) {
                found.push(format!("{path} at {width}: {wide} wide"));
            }
            // Each page is judged at one width by all rules, and in the dark by that which depends on it.
            let is_judged = width == if number % 2 == 0 { 1200 } else { 400 };
            let Some(axe) = axe.as_ref().filter(|_| is_judged) else {
                continue;
            };
            for (scheme, rules) in [("light", &[][..]), ("dark", &["color-contrast"])] {
                browser.prefer(scheme);
                let violations = browser.violations(axe, rules).into_iter();
                found.extend(violations.map(|what| format!("{path} {scheme} {width}: {what}")));
            }
        }
    }
    found.extend(browser.complaints(&site.url));
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_narrow_page_has_its_navigation_and_the_headings_of_its_figures() {
    let Some(mut browser) = Browser::start_or_skip() else {
        return;
    };
    let redis = night();
    let site = Site::start(&redis, "");
    browser.view(400, "light");
    browser.open(&site.page(""));
    let is_cut = browser.value(
        "(() => { const nav = document.querySelector('nav'); return nav.scrollWidth > nav.clientWidth })()",
    );
    assert_eq!(is_cut, false);
    for width in [760, 400] {
        browser.view(width, "light");
        let tops = browser.value(
        "['.brand', '.where', 'nav'].map(part => document.querySelector(part).getBoundingClientRect()) \
         .map(box => Math.round(box.top + box.height / 2))",
    );
        assert_eq!(tops[0], tops[1], "the brand and the address are one line");
        assert!(
            tops[2].as_u64() > tops[0].as_u64(),
            "the navigation is below them"
        );
    }
    let shown = browser.text(
        "[...document.querySelectorAll('table.queues thead th')].filter(head => head.checkVisibility()) \
         .map(head => head.innerText).join()",
    );
    assert_eq!(shown, "Queue,Waiting,Running,Next waits");
    let told = browser.names_of_role("columnheader");
    assert_eq!(told[..4], ["Queue", "Waiting", "Running", "Next waits"]);
}

#[test]
fn a_narrow_list_cuts_no_word() {
    let Some(mut browser) = Browser::start_or_skip() else {
        return;
    };
    let redis = night();
    redis.qless().run("complete second --worker mx-1").ok();
    redis
        .qless()
        .run("recur pause daily --reason warehouse")
        .ok();
    let hourly = "recur put reports Report::Hourly --every 1h --jid hourly";
    redis.qless().run(hourly).ok();
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    let old = redis.at(now.as_secs() - 2700);
    old.run("pop nothing --worker mx-4-qless-1.0.0-x24-77-0a1b")
        .exits(4);
    let site = Site::start(&redis, "");
    browser.view(400, "light");
    for path in ["jobs", "workers", "workers/mx-1", "recurring", "limits"] {
        browser.open(&site.page(path));
        let cut = browser.text(
            "[...document.querySelectorAll('th, td')].filter(cell => cell.checkVisibility() && \
             cell.scrollWidth > cell.clientWidth).map(cell => cell.innerText).join()",
        );
        assert_eq!(cut, "", "{path}");
    }
}

#[test]
fn a_hidden_tab_closes_its_stream() {
    let Some(mut browser) = Browser::start_or_skip() else {
        return;
    };
    let redis = Redis::start();
    let site = Site::start(&redis, "");
    browser.open(&site.page(""));
    let stream = browser.event("a stream is opened", |event| {
        let url = event["params"]["request"]["url"].as_str();
        event["method"] == "Network.requestWillBeSent"
            && url.is_some_and(|url| url.ends_with("/live"))
    });
    browser.minimize(true);
    browser.event("the stream is closed", |event| {
        let ends = ["Network.loadingFailed", "Network.loadingFinished"];
        ends.iter().any(|end| event["method"] == *end)
            && event["params"]["requestId"] == stream["params"]["requestId"]
    });
    redis.qless().run("put mail K").ok();
    browser.minimize(false);
    browser.until("document.querySelector('.sums b')?.textContent === '1'");
}

/// The name of the lock and of the channel of the tabs that share a stream.
const STREAM: &str = "'qless ' + new URL('live', location.href).href";

/// Runs before the scripts of each page.
fn before_scripts(browser: &mut Browser, script: &str) {
    browser.call(
        "Page.addScriptToEvaluateOnNewDocument",
        json!({"source": script}),
    );
}

#[test]
fn tabs_tell_each_other_of_a_look_only_if_one_stream_serves_them() {
    let Some(mut browser) = Browser::start_or_skip() else {
        return;
    };
    let redis = Redis::start();
    let site = Site::start(&redis, "");
    let listen = format!(
        "window.heard = 0; window.tab = new BroadcastChannel({STREAM}); \
         window.tab.onmessage = () => {{ window.heard += 1; }};"
    );
    before_scripts(&mut browser, &listen);
    browser.open(&site.page(""));
    browser.until("window.heard > 0");
    // As on plain http from another machine.
    let without = "Object.defineProperty(Navigator.prototype, 'locks', { value: undefined });";
    before_scripts(&mut browser, without);
    browser.open(&site.page(""));
    redis.qless().run("put mail K").ok();
    browser.until("document.querySelector('.sums b')?.textContent === '1'");
    assert_eq!(browser.value("window.heard"), 0);
}

#[test]
fn a_tab_that_was_stopped_while_another_had_the_stream_takes_it_over_with_the_lock() {
    let Some(mut browser) = Browser::start_or_skip() else {
        return;
    };
    let redis = Redis::start();
    let site = Site::start(&redis, "");
    let toggle = |browser: &mut Browser, word: &str| {
        browser.press(" ");
        browser.until(&format!(
            "document.querySelector('button.live').textContent === '{word}'"
        ));
    };
    browser.open(&site.page(""));
    toggle(&mut browser, "paused");
    browser.value(&format!(
        "void navigator.locks.request({STREAM}, () => new Promise(end => {{ window.end = end }}))"
    ));
    browser.until("window.end !== undefined");
    for word in ["live", "paused", "live"] {
        toggle(&mut browser, word);
    }
    browser.value("window.end()");
    redis.qless().run("put mail K").ok();
    browser.until("document.querySelector('.sums b')?.textContent === '1'");
    browser.until("navigator.locks.query().then(all => all.held.length === 1)");
    browser.until("navigator.locks.query().then(all => all.pending.length === 0)");
}

#[test]
fn a_problem_keeps_its_line_while_its_age_changes() {
    let Some(mut browser) = Browser::start_or_skip() else {
        return;
    };
    let redis = Redis::start();
    let qless = redis.qless();
    for line in ["put beta K", "put alpha K", "put gamma K", "pause beta"] {
        qless.run(line).ok();
    }
    let site = Site::start(&redis, "");
    browser.open(&site.page(""));
    browser.value(
        "window.line = document.querySelector('.needs li:last-child'); \
         window.before = window.line.textContent",
    );
    browser.until("document.querySelector('.needs li:last-child').textContent !== window.before");
    assert_eq!(browser.value("window.line.isConnected"), true);
    // A new one does not come under the pointer.
    browser.point_at(".needs li:last-child .what");
    let count = "document.querySelectorAll('.needs li').length";
    let before = browser.value(count);
    qless.run("pause alpha").ok();
    browser.until("document.querySelector('h1 button.order') !== null");
    assert_eq!(browser.value(count), before);
    browser.mouse("mouseMoved", 2.0, 2.0);
    browser.until(&format!("{count} > {before}"));
}

#[test]
fn a_selected_row_stays_as_it_is() {
    let Some(mut browser) = Browser::start_or_skip() else {
        return;
    };
    let redis = Redis::start();
    let qless = redis.qless();
    for queue in ["beta", "delta"] {
        qless.run(&format!("put {queue} K")).ok();
    }
    let site = Site::start(&redis, "");
    browser.open(&site.page(""));
    let row = "document.querySelector('table.queues tbody tr')";
    browser.value(&format!(
        "window.row = {row}; document.getSelection().selectAllChildren(window.row)"
    ));
    let before = browser.text("document.getSelection().toString()");
    assert!(before.starts_with("beta"), "{before}");
    for queue in ["alpha", "beta", "delta"] {
        qless.run(&format!("put {queue} K")).ok();
    }
    let delta = "document.querySelector('table.queues tr[data-key=delta] .strong').textContent";
    browser.until(&format!("{delta} === '2'"));
    assert_eq!(browser.value(&format!("{row} === window.row")), true);
    assert_eq!(browser.text("document.getSelection().toString()"), before);
    browser.value("document.getSelection().removeAllRanges()");
    browser.until(&format!("{row}.textContent.startsWith('alpha')"));
    browser.until("window.row.querySelector('.strong').textContent === '2'");
}

#[test]
fn without_redis_the_last_look_stays_and_says_its_age_and_why() {
    let Some(mut browser) = Browser::start_or_skip() else {
        return;
    };
    let mut redis = Redis::start();
    redis.qless().run("put mail K").ok();
    let site = Site::start(&redis, "");
    browser.view(1200, "light");
    browser.open(&site.page("queues"));
    redis.kill();
    browser.until("/^[0-9]+ s old$/.test(document.querySelector('button.live').textContent)");
    browser.until("document.querySelector('body > .away') !== null");
    let told = browser
        .text("document.querySelector('body > .away').innerText")
        .replace(&redis.socket().display().to_string(), "SOCKET");
    expect![[r#"
        Redis does not answer Cannot open `SOCKET`: connection refused.

        Steps to the server"#]]
    .assert_eq(&told);
    let queue = "document.querySelector('table.queues tbody th').textContent";
    assert_eq!(browser.text(queue), "mail");
    // What somebody reads is not closed.
    browser.value("document.querySelector('.away details').open = true");
    browser.until("document.querySelector('.away .checks')?.innerText.includes('connect')");
    redis.restart();
    browser.until("document.querySelector('.away') === null");
    browser.until("document.querySelector('h1').textContent === '0 queues'");
    browser.until("document.querySelector('button.live').textContent === 'live'");
    // A page that is loaded meanwhile has nothing to keep: it shows the steps, and heals.
    redis.kill();
    browser.until("document.querySelector('body > .away') !== null");
    browser.open(&site.page("queues"));
    let text = browser.text("document.querySelector('main').innerText");
    assert!(text.starts_with("Redis does not answer"), "{text}");
    assert!(text.contains("connect"), "{text}");
    assert_eq!(
        browser.value("document.querySelectorAll('.away').length"),
        1
    );
    assert_eq!(
        browser.text("document.querySelector('button.live').textContent"),
        "away"
    );
    redis.restart();
    browser.until("document.querySelector('.away') === null");
    browser.until("document.querySelector('h1').textContent === '0 queues'");
}

#[test]
fn fifty_queues_are_less_than_60_kb() {
    let Some(mut browser) = Browser::start_or_skip() else {
        return;
    };
    let redis = Redis::start();
    let names: Vec<String> = (0..50)
        .map(|at| format!("queue-of-customer-{at}"))
        .collect();
    let lines: Vec<String> = names
        .iter()
        .map(|name| format!("{{\"queue\":\"{name}\",\"klass\":\"K\"}}\n"))
        .collect();
    let qless = redis.qless().input(lines.concat());
    qless.run("put --from -").ok();
    // Each has jobs put and done in each minute of the last hour.
    let history = redis.socket().with_file_name("history.json");
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let minute = now.unwrap().as_secs() / 60;
    let series = |count: u64| {
        let counts = (1..60)
            .rev()
            .map(|ago| (minute - ago, count + ago * 7919 % 60));
        serde_json::json!(counts.collect::<Vec<_>>())
    };
    let of_each = |count| -> serde_json::Value {
        let each = names.iter().map(|name| (name.clone(), series(count)));
        serde_json::Value::Object(each.collect())
    };
    let kept = serde_json::json!({
        "watched": (1..60).rev().map(|ago| (minute - ago, 60)).collect::<Vec<_>>(),
        "put": of_each(60), "done": of_each(50), "failed": {},
    });
    std::fs::write(&history, kept.to_string()).unwrap();
    let site = Site::start(&redis, &format!("--history {}", history.display()));
    browser.open(&site.page("queues"));
    assert_eq!(
        browser.value("document.querySelectorAll('table.queues svg.flow').length"),
        50
    );
    browser.open(&site.page(""));
    let size = browser.value("performance.getEntriesByType('navigation')[0].decodedBodySize");
    assert!(size.as_u64().unwrap() < 60_000, "{size}");
}

#[test]
fn every_page_says_the_same_without_javascript() {
    let Some(mut browser) = Browser::start_or_skip() else {
        return;
    };
    let redis = night();
    // Ages are counted up to the same moment.
    let qless = redis.at(4_000_000_000_u64);
    let site = Site::at(&qless, "127.0.0.1:0", "--allow-changes");
    for path in PAGES {
        let [with, without] = [false, true].map(|is_off| {
            let off = serde_json::json!({"value": is_off});
            browser.call("Emulation.setScriptExecutionDisabled", off);
            browser.open(&site.page(path));
            if !is_off {
                // The script has written what it was given into the page, unless somebody decides there.
                browser.until(
                    "document.querySelector('form.confirm') !== null || performance.getEntriesByType('resource') \
                     .filter(entry => entry.initiatorType === 'fetch').length > 1",
                );
            }
            browser.text("document.querySelector('main').innerText")
        });
        assert_eq!(with, without, "{path}");
        assert!(with.len() > 50, "{path}: {with}");
    }
}

#[test]
fn hostile_names_and_data_are_text_and_lead_to_their_pages() {
    let Some(mut browser) = Browser::start_or_skip() else {
        return;
    };
    let redis = Redis::start();
    let qless = redis.qless();
    let long = [b"\xff\xfe no UTF-8".as_slice(), &[b'x'; 300]].concat();
    let names = [
        "javascript:alert(1)//a/b?c#d%e\u{202e}rtl\"'><script>alert(2)</script><img src=x onerror=alert(3)>".as_bytes(),
        b"..",
        &long,
    ];
    for (number, name) in names.into_iter().enumerate() {
        let name = OsStr::from_bytes(name);
        let mut jid = OsString::from(number.to_string());
        jid.push(name);
        let text = format!("text={}", name.to_string_lossy());
        let put = ["put".as_ref(), name, name, "--arg".as_ref(), text.as_ref()];
        let tagged = ["--jid".as_ref(), jid.as_os_str(), "--tag".as_ref(), name];
        qless.args(put.iter().chain(&tagged)).ok();
        qless
            .args(["pop".as_ref(), name, "--worker".as_ref(), name])
            .ok();
        if name.as_bytes() != long {
            let fail = ["fail".as_ref(), jid.as_os_str(), "--worker".as_ref(), name];
            let why = ["--group".as_ref(), name, "--message".as_ref(), name];
            qless.args(fail.iter().chain(&why)).exits(0);
        }
    }
    let site = Site::start(&redis, "--allow-changes");
    browser.view(400, "light");
    let start = ["", "queues", "jobs", "failed", "workers"];
    let start = start.map(|path| site.page(&format!("{path}?live=0")));
    let mut next = Vec::from(start);
    let mut seen: BTreeSet<String> = next.iter().cloned().collect();
    let mut found = Vec::new();
    while let Some(url) = next.pop() {
        browser.open(&url);
        let judged = browser.value(
            "[document.scrollingElement.scrollWidth, \
              document.querySelectorAll('img, script:not([src])').length, \
              document.querySelector('h1').textContent]",
        );
        let status = browser.status();
        if judged[0].as_u64() > Some(400) || judged[1] != 0 || judged[2] == "" || status != 200 {
            found.push(format!("{url}: {status} {judged}"));
        }
        let links = browser.value("[...document.querySelectorAll('main a')].map(a => a.href)");
        for link in links.as_array().unwrap() {
            let link = link.as_str().unwrap().to_owned();
            assert!(link.starts_with(&site.url), "{url}: {link}");
            if seen.insert(link.clone()) {
                next.push(link);
            }
        }
    }
    found.extend(browser.complaints(&site.url));
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(seen.len() > 18 * names.len(), "{seen:#?}");
}

#[test]
fn a_browser_that_is_no_chromium_is_named_and_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let program = |name: &str, version: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, format!("#!/bin/sh\necho '{version}'\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    };
    let firefox = program("firefox", "Mozilla Firefox 128.0");
    let chromium = program("chromium", "Chromium 130.0 built on Debian");
    let mut path = OsString::from(dir.path());
    _ = write!(path, ":{}", std::env::var("PATH").unwrap());
    let find = |named: &OsStr| {
        let mut finder = browser::finder();
        RunOutput::of(finder.env("BROWSER", named).env("PATH", &path))
    };
    let found = find(firefox.as_os_str());
    assert_eq!(found.ok(), chromium.display().to_string());
    let said = found
        .stderr()
        .replace(&dir.path().display().to_string(), "DIR");
    assert_eq!(
        said,
        "note: BROWSER is `DIR/firefox`, which is no Chromium: looking for one on the path\n"
    );
    let found = find(chromium.as_os_str());
    assert_eq!(found.ok() + &found.stderr(), chromium.display().to_string());
}

/// The checker of accessibility, fetched once into the directory of the tests. Without it, a line says so.
fn axe_or_note() -> Option<PathBuf> {
    const URL: &str = "https://registry.npmjs.org/axe-core/-/axe-core-4.10.3.tgz";
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let script = dir.join("package/axe.min.js");
    if !script.exists() {
        let fetch = format!("curl -sSfL --max-time 60 {URL} | tar xz package/axe.min.js");
        let fetched = Command::new("sh")
            .args(["-c", &fetch])
            .current_dir(&dir)
            .stderr(Stdio::null())
            .status();
        if !fetched.is_ok_and(|status| status.success()) || !script.exists() {
            eprintln!("note: accessibility is not checked, since {URL} cannot be fetched");
            return None;
        }
    }
    Some(script)
}
