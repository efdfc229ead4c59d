//! A real browser without a window, driven over the protocol of its developer tools.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::qless::RunOutput;

/// The longest wait for anything that a page does.
const PATIENCE: Duration = Duration::from_secs(30);

/// The script that prints the path of the program.
pub fn finder() -> Command {
    Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/browser.sh"))
}

/// A page of a browser, which has cookies, storage and tabs of its own. A start takes a second of the processor, so the
/// browser serves a later test unless the test has failed.
pub struct Browser {
    /// A value until it is dropped.
    process: Option<BrowserProcess>,
    /// What the page shares with no other.
    context: Value,
    session: Option<String>,
    /// The events of the page, oldest first.
    events: Vec<Value>,
}

/// It is killed on drop.
struct BrowserProcess {
    child: Child,
    to: File,
    from: Receiver<Vec<u8>>,
    calls: u64,
    _home: TempDir,
}

/// The browsers that wait for a later test.
#[derive(Default)]
struct Pool {
    /// The number of browsers that tests have.
    in_use: usize,
    idle: Vec<BrowserProcess>,
}

fn pool() -> MutexGuard<'static, Pool> {
    static POOL: Mutex<Pool> = Mutex::new(Pool {
        in_use: 0,
        idle: Vec::new(),
    });
    POOL.lock().unwrap()
}

impl BrowserProcess {
    fn start(program: &str) -> BrowserProcess {
        let home = tempfile::tempdir().unwrap();
        let pipe = |name: &str| {
            let path = home.path().join(name);
            assert!(
                Command::new("mkfifo")
                    .arg(&path)
                    .status()
                    .unwrap()
                    .success()
            );
            path
        };
        let (commands, answers) = (pipe("commands"), pipe("answers"));
        let child = Command::new("sh")
            .arg("-c")
            .arg("exec \"$@\" 3<\"$COMMANDS\" 4>\"$ANSWERS\"")
            .args(["sh", program, "--headless", "--no-sandbox", "--disable-gpu"])
            .args([
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--remote-debugging-pipe",
            ])
            .arg(format!(
                "--user-data-dir={}",
                home.path().join("home").display()
            ))
            .env("COMMANDS", &commands)
            .env("ANSWERS", &answers)
            // What it leaves behind goes with its home.
            .env("TMPDIR", home.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let to = OpenOptions::new().write(true).open(&commands).unwrap();
        let from = messages(File::open(&answers).unwrap());
        BrowserProcess {
            child,
            to,
            from,
            calls: 0,
            _home: home,
        }
    }
}

impl Drop for BrowserProcess {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

impl Browser {
    /// Opens an empty page. `None`, and a line on stderr, if no browser is installed.
    pub fn start_or_skip() -> Option<Browser> {
        let found = RunOutput::of(&mut finder());
        if found.code() != 0 {
            eprintln!("skipped: {}", found.stderr());
            return None;
        }
        let idle = {
            let mut pool = pool();
            pool.in_use += 1;
            pool.idle.pop()
        };
        let process = idle.unwrap_or_else(|| BrowserProcess::start(found.stdout().trim_end()));
        let mut browser = Browser {
            process: Some(process),
            context: Value::Null,
            session: None,
            events: Vec::new(),
        };
        browser.context =
            browser.call("Target.createBrowserContext", json!({}))["browserContextId"].take();
        let page =
            json!({"url": "about:blank", "browserContextId": browser.context, "newWindow": true});
        let target = browser.call("Target.createTarget", page);
        let target = json!({"targetId": target["targetId"], "flatten": true});
        let attached = browser.call("Target.attachToTarget", target);
        browser.session = Some(attached["sessionId"].as_str().unwrap().to_owned());
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// Calls a method of the protocol, and returns its result.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        let process = self.process.as_mut().unwrap();
        process.calls += 1;
        let id = process.calls;
        let mut call = json!({"id": id, "method": method, "params": params});
        if let Some(session) = &self.session {
            call["sessionId"] = json!(session);
        }
        let mut bytes = call.to_string().into_bytes();
        bytes.push(0);
        process.to.write_all(&bytes).unwrap();
        let deadline = Instant::now() + PATIENCE;
        loop {
            let message = self.receive(deadline, method);
            if message["id"] == id {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message["result"].clone();
            }
            self.events.push(message);
        }
    }

    /// The next message. A page that goes on telling other things is not waited for longer than a silent one.
    fn receive(&self, deadline: Instant, meant: &str) -> Value {
        let left = deadline.saturating_duration_since(Instant::now());
        match self.process.as_ref().unwrap().from.recv_timeout(left) {
            Ok(message) => serde_json::from_slice(&message).unwrap(),
            Err(RecvTimeoutError::Timeout) => panic!("{meant}: not told in {PATIENCE:?}"),
            Err(RecvTimeoutError::Disconnected) => panic!("{meant}: the browser has ended"),
        }
    }

    /// Opens an address, and waits until it is loaded.
    pub fn open(&mut self, url: &str) {
        self.events
            .retain(|event| event["method"] != "Page.loadEventFired");
        let opened = self.call("Page.navigate", json!({"url": url}));
        assert!(opened["errorText"].is_null(), "{url}: {opened}");
        self.event("the page is loaded", |event| {
            event["method"] == "Page.loadEventFired"
        });
    }

    /// The first event of this kind that has happened or happens yet.
    pub fn event(&mut self, name: &str, is_meant: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(event) = self.events.iter().find(|event| is_meant(event)) {
                return event.clone();
            }
            let event = self.receive(deadline, name);
            self.events.push(event);
        }
    }

    /// The status with which the page was answered.
    pub fn status(&mut self) -> u64 {
        let status = self.value("performance.getEntriesByType('navigation')[0].responseStatus");
        status.as_u64().unwrap()
    }

    /// Hides the window, or shows it again.
    pub fn minimize(&mut self, is_hidden: bool) {
        let window = self.call("Browser.getWindowForTarget", json!({}));
        let state = if is_hidden { "minimized" } else { "normal" };
        let params = json!({"windowId": window["windowId"], "bounds": {"windowState": state}});
        self.call("Browser.setWindowBounds", params);
        self.until(&format!("document.hidden === {is_hidden}"));
    }

    /// What a screen reader calls the elements of a role.
    pub fn names_of_role(&mut self, role: &str) -> Vec<String> {
        let tree = self.call("Accessibility.getFullAXTree", json!({}));
        let nodes = tree["nodes"].as_array().unwrap().iter();
        let meant = nodes.filter(|node| node["role"]["value"] == role && node["ignored"] == false);
        meant
            .map(|node| {
                node["name"]["value"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned()
            })
            .collect()
    }

    /// The value of an expression in the page.
    pub fn value(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let found = self.call("Runtime.evaluate", params);
        assert!(found["exceptionDetails"].is_null(), "{expression}: {found}");
        found["result"]["value"].clone()
    }

    pub fn text(&mut self, expression: &str) -> String {
        self.value(expression)
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    /// Waits until an expression is true.
    pub fn until(&mut self, expression: &str) {
        let deadline = Instant::now() + PATIENCE;
        while self.value(expression) != true {
            if Instant::now() > deadline {
                let text = self.text("document.body.innerText");
                panic!("never true: {expression}\n{text}");
            }
            thread::sleep(Duration::from_millis(30));
        }
    }

    /// Moves the pointer to the middle of an element.
    pub fn point_at(&mut self, selector: &str) -> (f64, f64) {
        let at = self.value(&format!(
            "(() => {{ const e = document.querySelector({selector:?}); e.scrollIntoView({{block: 'center'}}); \
             const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2] }})()"
        ));
        let (x, y) = (at[0].as_f64().unwrap(), at[1].as_f64().unwrap());
        self.mouse("mouseMoved", x, y);
        (x, y)
    }

    pub fn mouse(&mut self, kind: &str, x: f64, y: f64) {
        let params = json!({"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1});
        self.call("Input.dispatchMouseEvent", params);
    }

    /// Clicks an element, and waits for the page that it leads to.
    pub fn follow(&mut self, selector: &str) {
        self.value("window.isOld = true");
        let (x, y) = self.point_at(selector);
        self.mouse("mousePressed", x, y);
        self.mouse("mouseReleased", x, y);
        self.until("window.isOld !== true && document.readyState === 'complete'");
    }

    pub fn press(&mut self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            self.call(
                "Input.dispatchKeyEvent",
                json!({"type": kind, "key": key, "text": key}),
            );
        }
    }

    /// Sets the width of the window, and the colors that the reader prefers.
    pub fn view(&mut self, width: u32, scheme: &str) {
        let size = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", size);
        self.prefer(scheme);
    }

    /// Sets the colors that the reader prefers.
    pub fn prefer(&mut self, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call("Emulation.setEmulatedMedia", json!({"features": features}));
    }

    /// What the browser has complained of: errors and warnings of the console, dialogs, and requests to other hosts.
    pub fn complaints(&mut self, host: &str) -> Vec<String> {
        // What has happened is told before the answer.
        self.value("1");
        let told = self.events.drain(..).filter_map(|event| {
            let params = &event["params"];
            match event["method"].as_str()? {
                "Runtime.exceptionThrown" | "Page.javascriptDialogOpening" => Some(brief(params)),
                "Runtime.consoleAPICalled" => Some(brief(params)),
                "Log.entryAdded" => Some(brief(&params["entry"])),
                "Network.requestWillBeSent" => {
                    let url = params["request"]["url"].as_str()?;
                    (!url.starts_with(host)).then(|| format!("asked for {url}"))
                }
                _ => None,
            }
        });
        let mut told: Vec<String> = told.collect();
        told.dedup();
        told
    }

    /// Lets a script judge the page by some of its rules, or by all if none is named:
    /// [axe-core](https://github.com/dequelabs/axe-core).
    pub fn violations(&mut self, axe: &Path, rules: &[&str]) -> Vec<String> {
        if self.value("typeof axe") == "undefined" {
            let script = std::fs::read_to_string(axe).unwrap();
            self.call("Runtime.evaluate", json!({"expression": script}));
        }
        let mut options = json!({"resultTypes": ["violations"]});
        if !rules.is_empty() {
            options["runOnly"] = json!(rules);
        }
        let found = self.value(&format!(
            "axe.run(document, {options}).then(found => found.violations \
             .filter(one => ['serious', 'critical'].includes(one.impact)) \
             .map(one => one.id + ': ' + one.nodes.map(node => node.html.slice(0, 120) + ' ' + \
             (node.any[0] || node.all[0] || {{message: ''}}).message).slice(0, 3).join(' | ')))",
        ));
        let found = found.as_array().unwrap().iter();
        found.map(|one| one.as_str().unwrap().to_owned()).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let is_reusable = !thread::panicking();
        if is_reusable {
            self.session = None;
            let context = json!({"browserContextId": self.context});
            self.call("Target.disposeBrowserContext", context);
        }
        let mut process = self.process.take();
        let mut pool = pool();
        if is_reusable {
            pool.idle.extend(process.take());
        }
        pool.in_use -= 1;
        let unused = (pool.in_use == 0).then(|| std::mem::take(&mut pool.idle));
        drop(pool);
        drop((process, unused));
    }
}

/// What the browser sends, read apart from the test, so that the test need not wait for ever.
fn messages(pipe: File) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let messages = BufReader::new(pipe).split(0);
        messages
            .map_while(Result::ok)
            .try_for_each(|message| sender.send(message))
    });
    receiver
}

fn brief(told: &Value) -> String {
    let exception = &told["exceptionDetails"]["exception"]["description"];
    let text = exception
        .as_str()
        .map_or_else(|| told.to_string(), str::to_owned);
    text.chars().take(300).collect()
}
