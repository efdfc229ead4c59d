//! Contexts that are read-only or protected: what is refused, and what has to be confirmed.

use expect_test::expect;

use crate::support::config::ProtectedServer;
use crate::support::keyboard;

#[test]
fn a_read_only_context_refuses_writes_and_no_flag_overrides_it() {
    let server =
        ProtectedServer::new("[context.viewer]\nread-only = true\nredis = \"unix:///nowhere\"\n");
    let viewer = server.qless().env("QLESS_CONTEXT", "viewer");
    viewer.session(expect![[r#"
        $ qless put q K
        --- stderr
        error: `qless put` may change something, and context `viewer` is read-only
        hint: no flag overrides that, only an edit of `HOME/qless/config.toml` does
        --- exit 9
    "#]]);
    let url = server.redis.url();
    for line in [
        "put q K --yes --confirm viewer",
        "put q K --read-only",
        "retry j -y",
        "api put w q j K {} 0",
        "queues -o raw",
        &format!("cancel j --redis {url} --yes"),
    ] {
        viewer.run(line).exits(9);
    }
    viewer.run(&format!("queues --redis {url}")).ok();
    assert!(server.redis.dump().is_empty());
    server.home.write("[defaults]\nread-only = true\n");
    server.qless().session(expect![[r#"
        $ qless put q K
        --- stderr
        error: `qless put` may change something, and `[defaults]` is read-only
        hint: no flag overrides that, only an edit of `HOME/qless/config.toml` does
        --- exit 9
    "#]]);
    server.home.write(&format!(
        "default = \"a\"\n[defaults]\nread-only = true\n[context.a]\nread-only = false\nredis = \"{url}\"\n"
    ));
    server.qless().session(expect![[r#"
        $ qless put q K &>/dev/null
        $ qless put q K --read-only
        --- stderr
        error: `qless put` may change something, and `--read-only` was given
        --- exit 9
    "#]]);
}

#[test]
fn the_page_of_each_command_that_asks_has_exit_code_9() {
    let server = ProtectedServer::new("");
    server.failed(&["a", "b"]);
    let prod = server.prod();
    for line in [
        "track a b",
        "priority a b --to 1",
        "tag a b --add t",
        "retry a b",
        "move a b --to q",
        "cancel a b",
        "put q K --throttle t=1",
        "depends --queue mail --off-all",
        "timeout --queue mail --state failed",
        "bury --queue mail --state failed --group g --message m",
        "promote --queue mail --state failed",
        "fail --queue mail --state failed --group g --message m --as-holder",
        "failed --group boom --retry-all",
        "recur put q K --every 1h",
        "throttle set t 1",
        "pause mail",
        "config set heartbeat 5",
        "api put me q j K {} 0",
    ] {
        let asks = prod.run(line).code();
        // A plan without jobs asks nothing.
        assert!(asks == 9 || line.contains("--queue"), "{line}: {asks}");
        let command: Vec<&str> = line.split(' ').take(2).collect();
        let command = match command[0] {
            "recur" | "throttle" | "config" => command.join(" "),
            one => one.to_owned(),
        };
        let page = prod.run(&format!("{command} --help")).ok();
        let codes = page.split("Exit codes:").nth(1).unwrap();
        let codes = codes.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(codes.contains("9 not confirmed"), "{command}: {codes}");
    }
    for line in ["put q K --jid c", "put q K --jid c --replace", "cancel c"] {
        prod.run(line).ok();
    }
}

#[test]
fn a_refusal_names_the_flags_a_script_has_to_add() {
    let server = ProtectedServer::new("label = \"PROD EU\"\n");
    server.failed(&["a", "b"]);
    server.prod().session(expect![[r#"
        $ qless retry --group boom
        --- stderr
        error: cannot ask whether to retry 2 failed jobs on PROD EU (unix://DIR/s); nothing was changed
        hint: add `--yes --confirm='PROD EU'`: the context is protected
        --- exit 9
        $ qless retry --group boom --yes
        --- stderr
        error: cannot ask whether to retry 2 failed jobs on PROD EU (unix://DIR/s); nothing was changed
        hint: add `--confirm='PROD EU'`: the context is protected
        --- exit 9
        $ qless retry --group boom --confirm 'PROD EU'
        --- stderr
        error: cannot ask whether to retry 2 failed jobs on PROD EU (unix://DIR/s); nothing was changed
        hint: add `--yes`
        --- exit 9
        $ qless retry --group boom --yes --confirm prod
        --- stderr
        error: `--confirm` says `prod`, but this is `PROD EU`; nothing was changed
        --- exit 9
        $ qless jobs --group boom -o jid
        a
        b
        $ qless retry --group boom --yes --confirm 'PROD EU' -o json | jq -c '[.context, .done]'
        ["prod",2]
        --- stderr
        2 retried
    "#]]);
    server.failed(&["c", "d"]);
    let bare = server.redis.at(1000).env("QLESS_CONFIG", "none");
    bare.session(expect![[r#"
        $ qless retry --group boom --yes --confirm prod
        --- stderr
        error: `--confirm` says `prod`, but no context is in use; nothing was changed
        --- exit 9
        $ qless retry --group boom --yes -o json | jq -c '[.context, .done]'
        [null,2]
        --- stderr
        2 retried
    "#]]);
}

#[test]
fn every_write_of_more_than_one_named_job_asks_for_confirmation() {
    let server = ProtectedServer::new("");
    server.failed(&["a", "b"]);
    let prod = server.prod();
    for jid in ["c", "d"] {
        prod.run(&format!("put mail K --jid {jid}")).ok();
    }
    let bare = server.redis.at(1000).env("QLESS_CONFIG", "none");
    for recurring in ["r", "s"] {
        bare.run(&format!("recur put mail K --every 1h --jid {recurring}"))
            .ok();
    }
    for jid in ["e", "f"] {
        prod.run(&format!("put run K --jid {jid}")).ok();
        prod.run(&format!("put late K --delay 1h --jid {jid}-late"))
            .ok();
        prod.run(&format!("put mail K --depends e --jid {jid}-waits"))
            .ok();
    }
    prod.run("pop run --count 2 --worker v").ok();
    bare.run("config set heartbeat 30").ok();
    bare.run("pause late").ok();
    bare.run("put gone K --jid g").ok();
    bare.run("track g").ok();
    bare.run("cancel g").ok();
    let before = server.redis.dump();
    for line in [
        "retry --group boom",
        "failed --group boom --retry-all",
        "failed --group boom --cancel-all",
        "cancel --queue mail",
        "promote --queue late",
        "timeout --held-by v",
        "config load - --clear",
        "config load -",
        "unfail boom --to mail",
        "recur rm r s",
        "recur rm r",
        "recur put mail K --every 1h --jid t",
        "recur put mail K --every 1h --jid r --replace",
        "recur set r --priority 3",
        "recur tag r --add t",
        "pause mail",
        "pause --all",
        "unpause late",
        "unpause --all",
        "config set heartbeat 60",
        "forget queue mail --force",
        "forget worker w",
        "config unset heartbeat",
        "pause run --stop-running",
        "api cancel c",
        "api put w mail e K {} 0",
    ] {
        for flags in ["", "--yes", "--confirm prod", "--yes --confirm PROD"] {
            let prod = prod.clone().input("{\"heartbeat\": 90}");
            prod.run(&format!("{line} {flags}")).exits(9);
        }
    }
    assert_eq!(server.redis.dump(), before);
    for line in [
        "priority c d --to 5 --yes --confirm prod",
        "retry a",
        "tag c --add t",
        "track c",
        "cancel c",
        "api cancel d --yes --confirm prod",
        "api queues --yes --confirm prod",
        "api get a",
        "cancel a b --dry-run",
        "cancel --queue mail --dependents cancel --yes --confirm prod",
        "timeout e",
        "promote e-late",
        "recur run r",
        "recur put mail K --every 1h --jid r --if-absent",
        "recur set r --priority 3 --dry-run",
        "pop mail --worker w",
        "put mail K --jid u",
        "pause mail --yes --confirm prod",
        "recur rm r --yes --confirm prod",
    ] {
        prod.run(line).ok();
    }
}

#[test]
fn one_job_that_a_list_names_is_not_named_by_the_operator() {
    let server = ProtectedServer::new("");
    server.failed(&["a"]);
    let before = server.redis.dump();
    for line in ["retry -", "cancel -", "priority - --to 5", "tag - --add t"] {
        let prod = server.prod().input("a\n");
        prod.run(line).exits(9);
        prod.run(&format!("{line} --dry-run")).exits(0);
    }
    assert_eq!(server.redis.dump(), before);
    let prod = server.prod().input("a\n");
    prod.run("cancel - --yes --confirm prod").ok();
}

#[test]
fn putting_and_importing_many_jobs_asks_for_confirmation() {
    let server = ProtectedServer::new("label = \"PROD\"\n");
    let lines = "{\"queue\":\"mail\",\"klass\":\"K\"}\n".repeat(3);
    let prod = server.prod().input(lines);
    prod.session(expect![[r#"
        $ qless put --from - --yes
        --- stderr
        error: cannot ask whether to put 3 jobs on PROD (unix://DIR/s); nothing was changed
        hint: add `--confirm=PROD`: the context is protected
        --- exit 9
        $ qless put --from - -n
        --- stderr
        note: queue `mail` is new
        PROD: would put 3
    "#]]);
    assert!(server.redis.dump().is_empty());
    prod.session(expect![[r#"
        $ qless put --from - --yes --confirm PROD -o json | jq -c '[.context, .done]'
        ["prod",3]
        --- stderr
        3 put
        $ qless put mail K --jid one
        one
        $ qless put mail K -n
        --- stderr
        PROD: would put a job in mail, waiting
    "#]]);
    let export = server.prod().run("export one").ok();
    server.prod().run("cancel one").ok();
    server.prod().input(export).session(expect![[r#"
        $ qless import - --yes
        --- stderr
        error: cannot ask whether to import 1 job on PROD (unix://DIR/s); nothing was changed
        hint: add `--confirm=PROD`: the context is protected
        --- exit 9
        $ qless import - -n
        --- stderr
        Import 1 job on PROD (unix://DIR/s)

          mail	1
        PROD: would import 1
        $ qless import - --yes --confirm PROD &>/dev/null
        $ qless get one &>/dev/null
    "#]]);
}

#[test]
fn dry_runs_do_not_ask_and_name_the_server() {
    let server = ProtectedServer::new("label = \"PROD\"\n");
    server.failed(&["a", "b"]);
    let before = server.redis.dump();
    server.prod().session(expect![[r#"
        $ qless cancel a -n
        a
        --- stderr
        PROD: would cancel a
        $ qless unfail boom --to mail -n
        --- stderr
        PROD: would move the 2 oldest jobs of `boom` to `mail`
        $ qless pause mail -n
        --- stderr
        PROD: would pause mail
        $ qless forget queue mail --force -n
        --- stderr
        PROD: would forget queue `mail`
        $ qless forget queue mail --force
        --- stderr
        error: cannot ask whether to forget queue `mail` on PROD (unix://DIR/s); nothing was changed
        hint: add `--yes --confirm=PROD`: the context is protected
        --- exit 9
    "#]]);
    for line in [
        "retry --group boom -n",
        "cancel a b -n",
        "tag a b --add t -n",
    ] {
        let output = server.prod().run(line).exits(0).stderr();
        assert!(output.contains(" on PROD (unix://DIR/s)\n"), "{output}");
        assert!(output.contains("\nPROD: would "), "{output}");
    }
    assert_eq!(server.redis.dump(), before);
}

#[test]
fn a_terminal_asks_for_the_label_unless_no_input_is_set() {
    let server = ProtectedServer::new("label = \"PROD\"\n");
    server.failed(&["a", "b"]);
    let retry = ["retry", "--group", "boom"];
    let (code, seen) = server.answers(&retry, &[("to proceed", "prod\n")]);
    assert_eq!(code, 9, "{seen}");
    let seen = plain(&seen);
    let (plan, answer) = seen.split_once("Type PROD to proceed").unwrap();
    expect![[r#"
        Retry 2 failed jobs on PROD (URL)

          QUEUE  STATE   JOBS  OLDEST  NEWEST
          mail   failed     2  0s      0s

          each goes back to its own queue with 5 fresh retries

    "#]]
    .assert_eq(plan);
    let refused = "error: not confirmed; nothing was changed\n";
    assert!(answer.ends_with(refused), "{seen}");
    for answer in ["\n", "y\n", "yes\n", "2\n"] {
        let (code, seen) = server.answers(&retry, &[("to proceed", answer)]);
        assert_eq!(code, 9, "{seen}");
    }
    // `--yes` alone does not confirm.
    let yes = ["retry", "--group", "boom", "--yes"];
    let (code, seen) = server.answers(&yes, &[("to proceed", "no\n")]);
    assert_eq!(code, 9, "{seen}");
    let no_input = ["retry", "--group", "boom", "--no-input"];
    let (code, seen) = server.answers(&no_input, &[]);
    assert_eq!(code, 9, "{seen}");
    assert!(seen.contains("--yes --confirm=PROD"), "{seen}");
    let text = server.home.text();
    let set = format!("[defaults]\nno-input = true\n{text}");
    server.home.write(&set);
    assert_eq!(server.answers(&retry, &[]).0, 9);
    server.home.write(&text);
    assert_eq!(server.count("failed"), 2);
    let (code, seen) = server.answers(&retry, &[("to proceed", " PROD \n")]);
    assert_eq!(code, 0, "{seen}");
    assert_eq!(server.count("failed"), 0);
}

#[test]
fn an_unprotected_context_asks_for_yes_or_the_number_of_jobs() {
    let server = ProtectedServer::new("[context.test]\n");
    let url = server.redis.url();
    server
        .home
        .write(&format!("[context.test]\nredis = \"{url}\"\n"));
    let calls = (0..1001).map(|job| {
        let jid = format!("j{job}");
        let words = ["put", "w", "mail", &jid, "K", "{}", "0"];
        (1.0, words.map(str::to_owned).to_vec())
    });
    server.redis.calls(calls);
    let ask = |args: &[&str], dialogue: &[(&str, &str)]| {
        let mut command = server.qless().env("QLESS_CONTEXT", "test").command();
        command.args(args);
        let ran = keyboard::answer(command, dialogue);
        let seen = ran.stdout();
        (ran.code(), plain(&seen.replace(&url, "URL")))
    };
    let (code, seen) = ask(&["cancel", "j1", "j2"], &[("[y/N]", "n\n")]);
    assert_eq!(code, 9, "{seen}");
    assert!(
        seen.starts_with("Cancel 2 waiting jobs on test (URL)\n"),
        "{seen}"
    );
    let all = ["cancel", "--queue", "mail"];
    let (code, seen) = ask(&all, &[("to proceed", "y\n")]);
    assert_eq!(code, 9, "{seen}");
    assert!(seen.contains("Type 1001 to proceed"), "{seen}");
    let (code, seen) = ask(&all, &[("to proceed", "1001\n")]);
    assert_eq!(code, 0, "{seen}");
    assert!(server.qless().run("jobs --context test").ok().is_empty());
}

#[test]
fn neither_another_address_nor_the_environment_lifts_the_protection() {
    let server = ProtectedServer::new("");
    server.failed(&["a", "b"]);
    let url = server.redis.url();
    let retry = "retry a b --yes";
    server
        .prod()
        .run(&format!("{retry} --redis {url}"))
        .exits(9);
    let named = server.prod().env("QLESS_REDIS_URL", &url);
    named.run(retry).exits(9);
    let text = server.home.text();
    server.home.write(&format!("default = \"prod\"\n{text}"));
    server.qless().run(retry).exits(9);
    server.qless().env("REDIS_URL", &url).run(retry).exits(9);
}

#[test]
fn protection_holds_however_the_server_is_named() {
    let server =
        ProtectedServer::new("label = \"PROD\"\n[context.staging]\nredis = \"unix:///nowhere\"\n");
    server.failed(&["a", "b"]);
    let url = server.redis.url();
    let socket = url.strip_prefix("unix://").unwrap();
    let link = server.home.dir().join("link");
    std::os::unix::fs::symlink(std::path::Path::new(socket).parent().unwrap(), &link).unwrap();
    let spellings = [
        url.clone(),
        format!("redis+unix://{socket}?db=0"),
        format!("unix://{}/%73", link.display()),
        format!("unix://{}/../link/s", link.display()),
    ];
    let before = server.redis.dump();
    for url in &spellings {
        for (qless, flags) in [
            (server.qless().env("REDIS_URL", url), ""),
            (server.qless().env("QLESS_REDIS_URL", url), " --prefix ql:"),
            (
                server.qless(),
                &*format!(" --context staging --redis {url}"),
            ),
        ] {
            let line = format!("retry a b --yes{flags}");
            qless.run(&line).exits(9).says("add `--confirm=PROD`");
            qless.run(&format!("{line} --confirm staging")).exits(9);
        }
    }
    assert_eq!(server.redis.dump(), before);
    // Neither another prefix nor another database is protected, and nothing is said when reading.
    let bare = server.qless().env("REDIS_URL", &url);
    bare.session(expect![[r#"
        $ qless retry --group boom --yes
        --- stderr
        note: this is the server of context `prod`, which is protected
        error: cannot ask whether to retry 2 failed jobs on PROD (unix://DIR/s); nothing was changed
        hint: add `--confirm=PROD`: the context is protected
        --- exit 9
        $ qless retry a b --dry-run
        --- stderr
        note: this is the server of context `prod`, which is protected
        Retry 2 failed jobs on PROD (unix://DIR/s)

          mail	failed	2	1970-01-01T00:16:40.000Z	1970-01-01T00:16:40.000Z

          each goes back to its own queue with 5 fresh retries
        PROD: would retry 2
        $ qless failed --group boom -o jid
        b
        a
        $ qless pause --all --prefix x:
    "#]]);
    let other = server.qless().env("REDIS_URL", format!("{url}?db=1"));
    other.run("pause --all").shows(expect![""]);
    bare.run("retry a b --yes --confirm PROD").ok();
}

#[test]
fn another_context_of_a_read_only_server_is_read_only() {
    let server = ProtectedServer::new("");
    let url = server.redis.url();
    let file = |more: &str| {
        server.home.write(&format!(
            "[context.viewer]\nredis = \"{url}\"\nread-only = true\n[context.app]\nredis = \"{url}\"\n{more}"
        ));
    };
    file("");
    let app = server.qless().env("QLESS_CONTEXT", "app");
    app.session(expect![[r#"
        $ qless put q K
        --- stderr
        error: `qless put` may change something, and this is the server of context `viewer`, which is read-only
        hint: no flag overrides that, only an edit of `HOME/qless/config.toml` does
        --- exit 9
        $ qless queues
    "#]]);
    let bare = server.qless().env("REDIS_URL", &url);
    bare.run("pop q").exits(9);
    assert!(server.redis.dump().is_empty());
    // An edit of the file lifts it, for this context only.
    file("read-only = false\n");
    app.run("put q K --jid j").ok();
    bare.run("put q K").exits(9);
    app.run(&format!("put q K --redis {url}")).exits(9);
}

#[test]
fn ctrl_d_at_a_question_means_no() {
    let server = ProtectedServer::new("label = \"PROD\"\n");
    server.failed(&["a", "b"]);
    let before = server.redis.dump();
    for answer in ["\x04", "PRO\x04", "PROD\x04"] {
        let (code, seen) = server.answers(&["retry", "--group", "boom"], &[("to proceed", answer)]);
        assert_eq!(code, 9, "{seen}");
        let refused = "not confirmed; nothing was changed";
        assert!(seen.contains(refused), "{seen}");
    }
    for (answer, code) in [
        ("\x04", 9),
        ("y\x04", 9),
        ("yn\n", 9),
        ("\n", 9),
        ("nx\x7f\x7fY\n", 0),
    ] {
        let mut command = server.redis.at(1000).env("QLESS_CONFIG", "none").command();
        command.args(["retry", "--group", "boom"]);
        let ran = keyboard::answer(command, &[("[y/N]", answer)]);
        assert_eq!(ran.code(), code, "{answer:?} {}", ran.stdout());
        assert_eq!(server.redis.dump() == before, code == 9, "{answer:?}");
    }
}

/// Removes sequences that move the cursor.
fn plain(seen: &str) -> String {
    let mut plain = String::new();
    for line in seen.split_inclusive('\n') {
        let line = line.replace("\x1b[?25h", "").replace("\x1b[?25l", "");
        // A line that was repainted comes after the last of its beginnings.
        let line = line.rsplit("\x1b[2K").next().unwrap_or_default();
        plain.push_str(line.rsplit('\r').next().unwrap_or_default());
    }
    plain
}
