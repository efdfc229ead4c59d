//! The examples of `docs/monitoring.md` are accepted by the programs that they are for. A program that is not
//! installed is named on stderr, and its test ends.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use regex::Regex;
use tempfile::TempDir;

use super::support::redis::Redis;

/// A file that the page shows.
struct ShownFile {
    name: String,
    text: String,
}

/// The blocks of a language. The first line of each names the file.
fn shown_files(language: &str) -> Vec<ShownFile> {
    let page = std::fs::read_to_string(page()).unwrap();
    let mut files = Vec::new();
    for block in page.split(&format!("\n```{language}\n")).skip(1) {
        let (text, _) = block.split_once("\n```").unwrap();
        let path = text.lines().next().unwrap().strip_prefix("# ").unwrap();
        files.push(ShownFile {
            name: path.rsplit('/').next().unwrap().to_owned(),
            text: format!("{text}\n"),
        });
    }
    assert!(!files.is_empty(), "no block of {language}");
    files
}

fn page() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/monitoring.md")
}

fn write_all(files: &[ShownFile]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for file in files {
        std::fs::write(dir.path().join(&file.name), &file.text).unwrap();
    }
    dir
}

/// Runs a program in a directory; `None` if it is not installed.
fn run(dir: &TempDir, argv: &[&str]) -> Option<Output> {
    let mut command = Command::new(argv[0]);
    command.args(&argv[1..]).current_dir(dir.path());
    match command.stdin(Stdio::null()).output() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            eprintln!("skipped: {} is not installed", argv[0]);
            None
        }
        ran => Some(ran.unwrap()),
    }
}

/// Panics if the program refuses. Returns what it printed; `None` if it is not installed.
fn accepted(dir: &TempDir, argv: &[&str]) -> Option<String> {
    let ran = run(dir, argv)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&ran.stdout), text(&ran.stderr));
    assert!(ran.status.success(), "{argv:?}\n{out}{err}");
    Some(out + &err)
}

#[test]
fn prometheus_accepts_the_configuration_and_the_rules() {
    let dir = write_all(&shown_files("yaml"));
    let config = [
        "promtool",
        "check",
        "config",
        "--syntax-only",
        "prometheus.yml",
    ];
    accepted(&dir, &config);
    if let Some(said) = accepted(&dir, &["promtool", "check", "rules", "qless.yml"]) {
        assert!(said.contains("SUCCESS: 7 rules found"), "{said}");
    }
}

/// At minute 20 of each: which alerts there are.
const ALERTS: &str = r#"
rule_files: [qless.yml]
evaluation_interval: 1m
tests:
  - name: a queue is late, another one is paused, and nobody works
    interval: 1m
    input_series:
      - {series: 'up{job="qless", instance="i"}', values: 1x30}
      - {series: 'qless_up{instance="i"}', values: 1x30}
      - {series: 'qless_workers{instance="i", seen="1h"}', values: 0x30}
      - {series: 'qless_queue_jobs{instance="i", queue="mail", state="waiting"}', values: 3x30}
      - {series: 'qless_queue_jobs{instance="i", queue="images", state="waiting"}', values: 4x30}
      - {series: 'qless_queue_paused{instance="i", queue="mail"}', values: 0x30}
      - {series: 'qless_queue_paused{instance="i", queue="images"}', values: 1x30}
      - {series: 'qless_queue_oldest_wait_seconds{instance="i", queue="mail"}', values: 660x30}
      - {series: 'qless_queue_oldest_wait_seconds{instance="i", queue="images"}', values: 9999x30}
      - {series: 'qless_queue_failures_total{instance="i", queue="mail"}', values: 0x30}
      - {series: 'qless_jobs_stalled{instance="i", queue="mail"}', values: 0x30}
    alert_rule_test:
      - {eval_time: 20m, alertname: QlessDown, exp_alerts: []}
      - {eval_time: 20m, alertname: QlessFailing, exp_alerts: []}
      - {eval_time: 20m, alertname: QlessStalled, exp_alerts: []}
      - eval_time: 20m
        alertname: QlessQueueLate
        exp_alerts:
          - exp_labels: {severity: warning, instance: i, queue: mail}
            exp_annotations:
              summary: "mail: the oldest job has waited 11m 0s"
              action: qless explain --queue mail
      - eval_time: 20m
        alertname: QlessNoWorkers
        exp_alerts:
          - exp_labels: {severity: critical, instance: i}
            exp_annotations:
              summary: "i: 7 jobs wait and no worker has come for an hour"
              action: qless workers
  - name: Redis is away from minute 2 on, and a counter begins again at midnight
    interval: 1m
    input_series:
      - {series: 'up{job="qless", instance="i"}', values: 1x30}
      - {series: 'qless_up{instance="i"}', values: 1x1 0x28}
      - {series: 'qless_queue_failures_total{instance="i", queue="mail"}', values: 900x9 0 1 2x20}
      - {series: 'qless_queue_failures_total{instance="i", queue="bulk"}', values: 900+2x30}
    alert_rule_test:
      - eval_time: 20m
        alertname: QlessDown
        exp_alerts:
          - exp_labels: {severity: critical, instance: i}
            exp_annotations: {summary: "i: the queues cannot be read", action: qless doctor}
      - eval_time: 20m
        alertname: QlessFailing
        exp_alerts:
          - exp_labels: {severity: warning, instance: i, queue: bulk}
            exp_annotations: {summary: "bulk: 30 failures in 15 minutes", action: qless failed}
"#;

#[test]
fn alerts_begin_when_they_should() {
    let mut files = shown_files("yaml");
    files.push(ShownFile {
        name: "alerts.yml".into(),
        text: ALERTS.into(),
    });
    let dir = write_all(&files);
    if let Some(said) = accepted(&dir, &["promtool", "test", "rules", "alerts.yml"]) {
        assert!(said.contains("SUCCESS"), "{said}");
    }
}

#[test]
fn systemd_accepts_the_units() {
    let mut units: Vec<ShownFile> = shown_files("ini");
    for name in ["qless-web.service", "qless-work@.service"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
        units.push(ShownFile {
            name: name.into(),
            text: std::fs::read_to_string(path.join(name)).unwrap(),
        });
    }
    let dir = tempfile::tempdir().unwrap();
    for ShownFile { name, text } in &units {
        // The program of a unit must exist.
        let text = text.replace("/usr/local/bin/qless", env!("CARGO_BIN_EXE_qless"));
        std::fs::write(dir.path().join(name), text).unwrap();
        let path = format!("./{}", name.replace("@.", "@mail."));
        let argv = ["systemd-analyze", "verify", "--man=no", &path];
        if let Some(said) = accepted(&dir, &argv) {
            // It only warns of an unknown key. Other units of this machine are not ours.
            let warnings = said.lines().filter(|line| line.contains(name.as_str()));
            assert_eq!(warnings.collect::<Vec<_>>(), [""; 0]);
        }
    }
}

#[test]
fn all_yaml_can_be_parsed() {
    let files = shown_files("yaml");
    let dir = write_all(&files);
    let have = run(&dir, &["python3", "-c", "import yaml"]);
    if !have.is_some_and(|ran| ran.status.success()) {
        eprintln!("skipped: python3 has no module yaml");
        return;
    }
    let parse = "import sys, yaml
for document in yaml.safe_load_all(open(sys.argv[1])): assert isinstance(document, dict)";
    for file in &files {
        accepted(&dir, &["python3", "-c", parse, &file.name]);
    }
}

#[test]
fn the_page_names_only_figures_that_there_are() {
    let redis = Redis::start();
    redis.ok(90_000, "put mail K --jid j");
    let printed = redis.ok(90_000, "metrics");
    let name = Regex::new(r"\bqless_[a-z_]+").unwrap();
    let names = |text: &str| -> BTreeSet<String> {
        name.find_iter(text)
            .map(|found| found.as_str().to_owned())
            .collect()
    };
    let known = names(&printed);
    let page = std::fs::read_to_string(page()).unwrap();
    let unknown: Vec<_> = names(&page).difference(&known).cloned().collect();
    // A part of the regular expression of the first example.
    assert_eq!(unknown, ["qless_queue_"]);
}
