//! Output that is longer than the terminal goes through a pager.

use expect_test::expect;

use super::support::qless::Qless;
use super::support::redis::Redis;
use super::support::terminal::Terminal;
use super::support::text::words;

/// Runs on a terminal of 80 columns and 10 rows.
fn on_terminal(qless: &Qless, line: &str) -> (i32, String) {
    let mut command = qless.command();
    command.args(words(line));
    let ran = Terminal::start(command, 80, 10).end();
    let written = ran.stdout();
    (ran.code(), written)
}

fn with(pager: &str) -> Qless {
    Qless::bare().env("QLESS_PAGER", pager)
}

#[test]
fn output_longer_than_the_screen_is_paged() {
    let (code, written) = on_terminal(&with("sed 's/^/| /'"), "help exit-codes");
    assert_eq!(code, 0);
    assert!(written.lines().count() > 9);
    assert!(
        written.lines().all(|line| line.starts_with("| ")),
        "{written}"
    );
    let (_, written) = on_terminal(&with("sed 's/^/| /'"), "version");
    assert!(written.starts_with("qless "), "{written}");
}

#[test]
fn help_flags_are_paged_too() {
    for line in ["--help", "retry --help", "retry -h", "help retry"] {
        let (code, written) = on_terminal(&with("sed 's/^/| /'"), line);
        assert_eq!(code, 0);
        assert!(written.starts_with("| "), "{line}: {written}");
    }
}

#[test]
fn the_pager_variables_are_read_in_order() {
    let says = |qless: Qless| on_terminal(&qless, "help exit-codes").1;
    let first = says(with("sed s/^/Q/").env("PAGER", "sed s/^/P/"));
    assert!(first.starts_with('Q'), "{first}");
    let second = says(with("").env("PAGER", "sed s/^/P/"));
    assert!(second.starts_with('P'), "{second}");
    let set = says(with("LESS=R sed s/^/Q/"));
    assert!(set.starts_with('Q'), "{set}");
    for none in ["cat", "no-such-pager", "/nonexistent/pager -x", "/bin"] {
        let written = says(with(none));
        assert!(written.starts_with("  0  ok"), "{none}: {written}");
    }
}

#[test]
fn less_keeps_colors_and_the_text_on_the_screen() {
    let printed = |qless: Qless| on_terminal(&qless, "help exit-codes").1;
    assert_eq!(printed(with("printenv LESS; cat >/dev/null")), "FIRX\n");
    assert_eq!(
        printed(with("printenv LESS; cat >/dev/null").env("LESS", "R")),
        "R\n"
    );
}

#[test]
fn quitting_the_pager_early_is_not_an_error() {
    let redis = Redis::start();
    redis.calls((0..3000).map(|at| {
        let jid = format!("job-{at}");
        let words = ["put", "", "q", &jid, "K", "{}", "0"];
        (f64::from(at), words.map(str::to_owned).to_vec())
    }));
    let qless = redis.at(5000).env("QLESS_PAGER", "head -2 | cut -c-5");
    let (code, written) = on_terminal(&qless, "jobs --queue q --limit 3000");
    assert_eq!(code, 0, "{written}");
    expect![[r#"
        JID  
        job-0
    "#]]
    .assert_eq(&written);
}

#[test]
fn the_pager_does_not_change_the_exit_code() {
    let redis = Redis::start();
    for at in 0..20 {
        redis.ok(at, &format!("put q K --jid job-{at}"));
    }
    let jids: Vec<String> = (0..21).map(|at| format!("job-{at}")).collect();
    let qless = redis.at(50).env("QLESS_PAGER", "sed s/^/P/");
    let (code, written) = on_terminal(&qless, &format!("get {}", jids.join(" ")));
    assert_eq!(code, 4, "{written}");
    assert!(written.starts_with("Pjid"));
    // Text on stderr comes after the pager, not into it.
    assert!(
        written.ends_with("\nerror: job `job-20` does not exist\n"),
        "{written}"
    );
    let qless = redis.at(50).env("QLESS_PAGER", "cat >/dev/null; exit 7");
    assert_eq!(on_terminal(&qless, "jobs").0, 0);
}

#[test]
fn documents_and_pipes_are_never_paged() {
    let redis = Redis::start();
    for at in 0..20 {
        redis.ok(at, &format!("put q K --jid job-{at}"));
    }
    let qless = redis.at(50).env("QLESS_PAGER", "sed s/^/PAGED/");
    for line in [
        "jobs -o json",
        "jobs -o ndjson",
        "jobs -o jid",
        "jobs --state scheduled --queue q -o raw",
        "jobs --no-pager",
        "jobs -v",
        "--no-pager help exit-codes",
        "retry --help --no-pager",
        "cancel --queue q --yes",
    ] {
        let (_, written) = on_terminal(&qless, line);
        assert!(!written.contains("PAGED"), "{line}: {written}");
    }
    assert!(!qless.run("jobs").ok().contains("PAGED"));
}
