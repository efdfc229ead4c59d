//! The pages of `qless web` in a real browser. Without one, each test says so and ends.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rustix::process::Signal;

use super::support::browser::Browser;
use super::support::qless::Running;
use super::support::redis::Redis;

/// A running page of a server.
struct Site {
    running: Option<Running>,
    url: String,
}

impl Site {
    fn start(redis: &Redis, more: &str) -> Site {
        Site::at(redis, "127.0.0.1:0", more)
    }

    fn at(redis: &Redis, address: &str, more: &str) -> Site {
        let line = format!("web --interval 100ms --listen {address} {more}");
        let mut running = redis.qless().start(&line);
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
    let _again = Site::at(&redis, &address, "");
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
        assert_eq!(said, "1 retried");
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
        for (width, scheme) in [(1200, "light"), (760, "light"), (400, "dark")] {
            browser.view(width, scheme);
            browser.open(&site.page(path));
            let wide = browser.value("document.scrollingElement.scrollWidth");
            if wide.as_u64() > Some(width.into()) {
                found.push(format!("{path} at {width}: {wide} wide"));
            }
            // The dark page has the elements of the light one, so half of all are judged in each.
            let judged = match width {
                1200 => number % 2 == 0,
                400 => number % 2 == 1,
                _ => false,
            };
            if let (Some(axe), true) = (&axe, judged) {
                let violations = browser.violations(axe).into_iter();
                found.extend(violations.map(|what| format!("{path} {scheme} {width}: {what}")));
            }
        }
    }
    found.extend(browser.complaints(&site.url));
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn hostile_names_and_data_are_text() {
    let Some(mut browser) = Browser::start_or_skip() else {
        return;
    };
    let redis = Redis::start();
    let qless = redis.qless();
    let attack = "\"'><script>alert(1)</script><img src=x onerror=alert(2)>";
    let long = "x".repeat(300);
    for (number, name) in [attack, "javascript:alert(3)", "..", "\u{202e}rtl", &long]
        .iter()
        .enumerate()
    {
        let jid = format!("{number}{name}");
        qless
            .args([
                "put",
                name,
                name,
                "--arg",
                &format!("text={name}"),
                "--jid",
                &jid,
                "--tag",
                name,
            ])
            .ok();
        qless.args(["pop", name, "--worker", name]).ok();
        if number < 4 {
            qless
                .args([
                    "fail",
                    &jid,
                    "--worker",
                    name,
                    "--group",
                    name,
                    "--message",
                    name,
                ])
                .ok();
        }
    }
    let site = Site::start(&redis, "--allow-changes");
    let mut paths = vec![String::new()];
    for page in ["", "queues", "jobs", "failed", "workers"] {
        browser.view(400, "light");
        browser.open(&site.page(page));
        let links = browser.value("[...document.querySelectorAll('main a')].map(a => a.href)");
        let links = links.as_array().unwrap().iter();
        paths.extend(links.map(|link| link.as_str().unwrap().to_owned()));
    }
    paths.sort();
    paths.dedup();
    assert!(paths.len() > 15, "{paths:?}");
    let mut found = Vec::new();
    for path in paths.iter().filter(|path| !path.is_empty()) {
        assert!(path.starts_with(&site.url), "{path}");
        browser.open(path);
        let wide = browser
            .value("document.scrollingElement.scrollWidth")
            .as_u64()
            .unwrap();
        let scripts = browser.value("document.querySelectorAll('img, script:not([src])').length");
        let heading = browser.text("document.querySelector('h1').textContent");
        if wide > 400
            || scripts != 0
            || heading.is_empty()
            || heading.contains("There is no such page")
        {
            found.push(format!(
                "{path}: {wide} wide, {scripts} foreign elements, {heading}"
            ));
        }
    }
    found.extend(browser.complaints(&site.url));
    assert!(found.is_empty(), "{}", found.join("\n"));
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
