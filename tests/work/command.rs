//! `qless work` with real programs: how jobs reach them, and what their ends mean.

use std::fs;
use std::time::{Duration, Instant};

use expect_test::expect;
use rustix::process::{Pid, Resource, Rlimit, prlimit};

use crate::support::qless::RunOutput;
use crate::support::text::{Shows, lines_with, pick};
use crate::support::work::{WorkSite, is_alive, until};

/// The lines about jobs and other lines of stderr, without durations and the summary.
fn said(ran: &RunOutput) -> String {
    let mut said = String::new();
    for line in ran.stderr().lines() {
        let is_summary =
            line.contains(" completed") && line.starts_with(|c: char| c.is_ascii_digit());
        if is_summary {
            continue;
        }
        let line = match line.split_once(" after ") {
            Some((what, rest)) => match rest.split_once(": ") {
                Some((_, detail)) => format!("{what}: {detail}"),
                None => what.to_owned(),
            },
            None => line.to_owned(),
        };
        said.push_str(&line);
        said.push('\n');
    }
    said
}

#[test]
fn the_data_of_a_job_is_stdin_byte_for_byte() {
    let mut site = WorkSite::new();
    let data = r#"{"b": 1.0,"a":"ü\u0000 $(touch x)",  "a":[ ]}"#;
    site.put("mail", "a", data);
    let large = format!("[\"{}\"]", "x".repeat(3_000_000));
    site.put("mail", "large", &large);
    site.work("mail --drain", "cat > $D/$QLESS_JID").exits(0);
    assert_eq!(site.file("a"), data);
    assert!(site.file("large") == large);
    assert_eq!(site.state("large"), "complete");
    site.must_be_clean();
}

#[test]
fn labels_stand_before_each_line_of_the_output() {
    let script = r#"printf 'one\n\n\033[1mtwo'; printf 'an \033[1merror\nhalf' >&2
        sleep 0.1; printf "{\"jid\":\"$QLESS_JID\",\"result\":\"complete\"}\n" >&3
        sleep 0.1; printf ' a line' >&2; head -c 9000 /dev/zero | tr '\0' Z >&2; sleep 0.1; echo end >&2; sleep 0.1"#;
    let (mut streams, mut long) = (String::new(), 0);
    for more in ["", " -o ndjson"] {
        let site = WorkSite::with_jobs("mail", &["9f31c0"]);
        let ran = site
            .work(&format!("-q mail --drain --label{more}"), script)
            .exits(0);
        for (name, text) in [("stdout", ran.stdout()), ("stderr", ran.stderr())] {
            streams.push_str(&format!("--- {name}{more}\n"));
            for line in text.lines().filter(|line| !line.starts_with('{')) {
                // The time differs.
                let (time, rest) = line.split_once(' ').unwrap();
                assert_eq!(time.replace(|c: char| c.is_ascii_digit(), "0"), "00:00:00");
                let rest = rest.replace('\x1b', "ESC");
                // The parts of a long line depend on how much of it is read together.
                let short = rest.replace('Z', "");
                long += rest.len() - short.len();
                if rest != short && short == "1 9f31c0 " {
                    continue;
                }
                let rest = short;
                streams.push_str(&format!("{rest}\n"));
            }
        }
        site.must_be_clean();
    }
    assert_eq!(long, 2 * 9000);
    streams.shows(expect![[r#"
        --- stdout
        1 9f31c0 one
        1 9f31c0 
        1 9f31c0 ESC[1mtwo
        --- stderr
        1 9f31c0 an \x1b[1merror
        1 9f31c0 half a line
        1 9f31c0 end
        --- stdout -o ndjson
        --- stderr -o ndjson
        1 9f31c0 one
        1 9f31c0 
        1 9f31c0 an \x1b[1merror
        1 9f31c0 half a line
        1 9f31c0 end
        1 9f31c0 \x1b[1mtwo
    "#]]);
}

#[test]
fn a_hook_has_a_label_of_its_own() {
    let site = WorkSite::with_jobs("mail", &["a"]);
    let line = "mail --drain --label --on-exhausted 'echo why >&2'";
    let stderr = site.work(line, "exit 1").stderr();
    let labelled = stderr.lines().any(|line| line.ends_with(" hook - why"));
    assert!(labelled, "{stderr}");
}

#[test]
fn the_job_is_in_the_environment() {
    let mut site = WorkSite::new();
    let more = ["priority", "7", "tags", r#"["eu","a b"]"#, "retries", "3"];
    site.put_with("mail", "a", "{}", &more);
    let script = "env | grep '^QLESS_' | grep -v -e _URL -e _WORKER -e _TAGS | sort > $D/env
        echo $QLESS_TAGS > $D/tags
        case $QLESS_WORKER in web-qless-*-x2-*) echo good > $D/worker;; esac
        test $QLESS_ATTEMPT = 2 || exit 75";
    site.work("mail --drain --worker web -c 2", script).exits(0);
    site.file("env").shows(expect![[r#"
        QLESS_ATTEMPT=2
        QLESS_JID=a
        QLESS_KLASS=K
        QLESS_PRIORITY=7
        QLESS_QUEUE=mail
        QLESS_RESULT_FD=3
        QLESS_RETRIES_LEFT=2
    "#]]);
    assert_eq!(
        [site.words("tags"), site.words("worker")],
        ["eu a b", "good"]
    );
}

#[test]
fn passwords_of_the_worker_do_not_reach_the_programs() {
    let mut site = WorkSite::with_jobs("mail", &["a"]);
    let qless = site.qless().env("QLESS_SENTINEL_PASSWORD", "secret");
    let worker = site.start_as(&qless, "mail --drain", "env > $D/env");
    worker.end().exits(0);
    assert!(site.file("env").contains("QLESS_JID=a"));
    assert!(!site.file("env").contains("secret"));
}

#[test]
fn each_placeholder_becomes_one_argument_without_a_shell() {
    let mut site = WorkSite::new();
    site.put(
        "mail",
        "a",
        r#"{"repo":"a b; $(touch $D/x) '\"","n":3,"deep":{"list":[1,2]}}"#,
    );
    let line = r#"mail --drain -- sh -c 'for arg; do echo "[$arg]"; done > $D/args' x
        {jid} {queue} {klass} {data.repo} --n={data.n} {data.deep} {}"#;
    site.work(line, "").exits(0);
    site.file("args").shows(expect![[r#"
        [a]
        [mail]
        [K]
        [a b; $(touch $D/x) '"]
        [--n=3]
        [{"list":[1,2]}]
        [{}]
    "#]]);
    assert!(!site.dir().join("x").exists());
}

#[test]
fn a_job_whose_data_does_not_fit_an_argument_fails_alone() {
    let mut site = WorkSite::new();
    site.put("mail", "dash", r#"{"repo":"-rf"}"#);
    site.put("mail", "nul", r#"{"repo":"a\u0000b"}"#);
    site.put("mail", "missing", "{}");
    let long = format!(r#"{{"repo":"{}"}}"#, "x".repeat(200_000));
    site.put("mail", "long", &long);
    site.put("mail", "good", r#"{"repo":"x"}"#);
    let line = "mail --drain -- sh -c 'echo $1 >> $D/ran' x {data.repo}";
    site.work(line, "").exits(8);
    assert_eq!(site.words("ran"), "x");
    let jids = ["dash", "nul", "missing", "long", "good"];
    site.failures(&jids).shows(expect![[r#"
        dash: failed exec: `{data.repo}` cannot be an argument: it begins with `-`, as an option does, and there is no `--` before it
        nul: failed exec: `{data.repo}` cannot be an argument: it holds NUL
        missing: failed exec: `{data.repo}` cannot be replaced: the job's data has no such value
        long: failed exec: `{data.repo}` cannot be an argument: it would be longer than 128 KiB
        good: complete -: -
    "#]]);

    // Behind `--`, or if it is asked for, the dash is an argument as any other.
    site.put("mail", "dash", r#"{"repo":"-rf"}"#);
    let line = "mail --drain -- sh -c 'echo $2 >> $D/ran' x -- {data.repo}";
    site.work(line, "").exits(0);
    site.put("mail", "dash", r#"{"repo":"-rf"}"#);
    let line = "mail --drain --allow-dash -- sh -c 'echo $1 >> $D/ran' x {data.repo}";
    site.work(line, "").exits(0);
    assert_eq!(site.words("ran"), "x -rf -rf");
    site.must_be_clean();
}

#[test]
fn the_end_of_a_program_decides_how_its_job_ends() {
    let jids = ["0", "3", "75", "KILL", "TERM", "quiet"];
    let mut site = WorkSite::with_jobs("mail", &jids);
    let script = "case $QLESS_JID in
            [0-9]*) echo out; echo error of $QLESS_JID >&2; exit $QLESS_JID;;
            quiet) exit 9;;
            *) echo end by signal >&2; kill -$QLESS_JID $$;;
        esac";
    let ran = site.work("mail --drain --retry-delay 1h", script).exits(8);
    site.failures(&jids).shows(expect![[r#"
        0: complete -: -
        3: failed exit-3: error of 3
        75: scheduled failed-retries-mail: error of 75
        KILL: failed signal-KILL: end by signal
        TERM: failed signal-TERM: end by signal
        quiet: failed exit-9: the command ended with exit code 9 and wrote nothing to stderr
    "#]]);
    ran.stdout().shows(expect![[r#"
        out
        out
        out
    "#]]);
    said(&ran).shows(expect![[r#"
        started   0 of mail: K
        error of 0
        completed 0 of mail
        started   3 of mail: K
        error of 3
        failed    3 of mail: exit-3: error of 3
        started   75 of mail: K
        error of 75
        retried   75 of mail: 4 left
        started   KILL of mail: K
        end by signal
        failed    KILL of mail: signal-KILL: end by signal
        started   TERM of mail: K
        end by signal
        failed    TERM of mail: signal-TERM: end by signal
        started   quiet of mail: K
        failed    quiet of mail: exit-9: the command ended with exit code 9 and wrote nothing to stderr
        note: queue `mail` still has jobs: 1 scheduled
        error: 4 jobs failed
        hint: `qless failed` shows why
    "#]]);
    site.must_be_clean();
}

#[test]
fn the_message_of_a_failure_is_the_harmless_end_of_stderr_and_no_longer_than_asked() {
    let mut site = WorkSite::with_jobs("mail", &["a"]);
    let script =
        r#"printf '%05000d' 0 >&2; printf 'last \033[31mwords\nof it\200\n\n' >&2; exit 1"#;
    site.work("mail --drain --error-bytes 40", script).exits(8);
    site.failure("a").shows(expect![[r#"
        failed exit-1: 000000000000last \x1b[31mwords
        of it\x80"#]]);
    site.put("mail", "b", "{}");
    let script = "head -c 9000 /dev/zero >&2; echo end >&2; exit 1";
    site.work("mail --drain", script).exits(8);
    let job = site.job("b");
    let message = job["failure"]["message"].as_str().unwrap();
    assert_eq!(message.len(), 8192);
    assert!(message.ends_with("\\x00\\x00end"), "{message}");
}

#[test]
fn ends_of_retry_on_retry_and_others_fail_in_all_ways_of_running() {
    let mut site = WorkSite::new();
    let jids = ["3", "4", "75", "KILL", "TERM"];
    // A process gets one job, and reads its jid.
    let script = r#"test -n "$QLESS_JID" || { read -r line || exit 0; line=${line#*\"jid\":\"}; QLESS_JID=${line%%\"*}; }
        case $QLESS_JID in [0-9]*) exit $QLESS_JID;; *) kill -$QLESS_JID $$;; esac"#;
    for way in ["", "--batch 1", "--persistent -c 5"] {
        jids.iter().for_each(|jid| site.put("mail", jid, "{}"));
        let line = format!("mail --count 5 {way} --retry-on 3-5,KILL --retry-delay 1h");
        site.work(&line, script);
        let ends = jids.map(|jid| site.failure(jid));
        let ends = ends.map(|end| end.split([' ', ':']).nth(1).unwrap().to_owned());
        let retried = "failed-retries-mail";
        let expected = [retried, retried, "exit-75", retried, "signal-TERM"];
        assert_eq!(ends, expected, "{way}");
    }
    site.must_be_clean();
}

#[test]
fn a_job_that_runs_for_too_long_fails_or_is_retried() {
    let mut site = WorkSite::new();
    // What is left of the group dies with the program.
    let script = "echo at it >&2; trap 'exit 0' TERM; sleep 100 & echo $! >> $D/pids; wait";
    site.put("mail", "a", "{}");
    let ran = site.work("mail --drain --time-limit 0.8s", script);
    assert_eq!(
        site.failure("a"),
        "failed time-limit: the job ran longer than 0.8s: at it"
    );
    let warning = "warning: slot 1: job `a` ran longer than 0.8s, so the command gets SIGTERM\n";
    ran.says(warning);
    site.put_with("mail", "b", "{}", &["retries", "1"]);
    let line = "mail --count 2 --time-limit 0.8s --retry-on time-limit";
    site.work(line, script);
    assert_eq!(site.words("pids").split(' ').count(), 3);
    let end = site.failure("b");
    assert!(
        end.ends_with(": the job ran longer than 0.8s: at it"),
        "{end}"
    );
    for pid in site.file("pids").lines() {
        let pid = Pid::from_raw(pid.parse().unwrap()).unwrap();
        until("nothing of the group is left", || !is_alive(pid));
    }
    site.must_be_clean();
}

#[test]
fn an_answer_on_stdout_has_no_effect_and_is_reported() {
    let mut site = WorkSite::with_jobs("mail", &["a"]);
    let script = r#"echo '{"jid":"b","result":"retry"}'; echo '{"jid":"a","result":"retry"}'"#;
    let says = site.work("mail --drain", script).exits(0).stderr();
    assert_eq!(site.state("a"), "complete");
    let warning = "warning: slot 1: the command wrote an answer for `a` to stdout, where it has no \
                   effect: write answers to descriptor 3\n";
    assert!(says.contains(warning), "{says}");
}

#[test]
fn a_job_without_retries_left_fails() {
    let mut site = WorkSite::new();
    site.put_with("mail", "a", "{}", &["retries", "2"]);
    let script = "echo $QLESS_RETRIES_LEFT >> $D/ran; exit 75";
    let ran = site.work("mail --drain", script).exits(8);
    assert_eq!(site.words("ran"), "2 1 0");
    assert!(
        site.failure("a")
            .starts_with("failed failed-retries-mail: ")
    );
    said(&ran).shows(expect![[r#"
        started   a of mail: K
        retried   a of mail: 1 left
        started   a of mail: K, attempt 2
        retried   a of mail: 0 left
        started   a of mail: K, attempt 3
        failed    a of mail: failed-retries-mail: the command ended with exit code 75 and wrote nothing to stderr
        error: 1 job failed
        hint: `qless failed` shows why
    "#]]);
    site.must_be_clean();
}

#[test]
fn why_an_attempt_failed_stays_to_be_read() {
    let mut site = WorkSite::with_jobs("mail", &["a"]);
    let script = "[ $QLESS_RETRIES_LEFT = 4 ] && exit 0; echo no route >&2; exit 75";
    site.work("mail --drain", script).exits(0);
    let history = site.job("a")["history"].clone();
    let retried = &history[2];
    assert_eq!(retried["what"], "retried", "{history}");
    assert_eq!(
        (&retried["message"], &retried["exit"]),
        (&"no route".into(), &75.into())
    );
    let text = site.qless().run("get a").ok();
    assert!(text.contains("retried  exit code 75: no route"), "{text}");
}

#[test]
fn completed_jobs_go_to_the_next_queue() {
    let mut site = WorkSite::with_jobs("mail", &["a"]);
    let script = "echo $QLESS_QUEUE >> $D/ran; test $QLESS_QUEUE = mail || exit 3";
    site.work("mail sent --drain --next sent", script).exits(8);
    assert_eq!(site.words("ran"), "mail sent");
    assert_eq!(site.job("a")["queue"], "sent");
}

#[test]
fn captured_json_becomes_the_data_and_other_output_does_not() {
    let mut site = WorkSite::new();
    site.put("mail", "json", r#"{"in":1}"#);
    site.put("mail", "text", r#"{"in":1}"#);
    site.put("mail", "nothing", r#"{"in":1}"#);
    let script = r#"case $QLESS_JID in json) echo '{"out": [2]}';; text) echo done;; esac"#;
    let ran = site.work("mail --drain --capture", script).exits(0);
    let data = ["json", "text", "nothing"].map(|jid| site.job(jid)["data"].to_string());
    assert_eq!(
        data,
        [r#""{\"out\": [2]}""#, r#""{\"in\":1}""#, r#""{\"in\":1}""#]
    );
    ran.says("the output is not JSON; the job keeps its data");
    assert_eq!(ran.stdout(), "");
    site.must_be_clean();
}

#[test]
fn output_of_a_program_is_passed_on() {
    let site = WorkSite::with_jobs("mail", &["a"]);
    let script = "printf 'to \\033stdout'; echo to stderr >&2";
    let ran = site.work("mail --drain -q", script);
    assert_eq!(ran.stdout(), "to \u{1b}stdout");
    assert_eq!(ran.stderr(), "to stderr\n");
}

#[test]
fn a_program_that_cannot_be_started_leaves_the_jobs_untouched() {
    let mut site = WorkSite::with_jobs("mail", &["a"]);
    let file = site.dir().join("file");
    fs::write(&file, "echo").unwrap();
    for (command, says) in [
        ("./does-not-exist", "`./does-not-exist` does not exist"),
        (
            "does-not-exist-either",
            "`does-not-exist-either` is not found in PATH",
        ),
        (file.to_str().unwrap(), "is not executable"),
        ("/tmp", "is not executable"),
    ] {
        let ran = site.work(&format!("mail --drain -- {command}"), "");
        ran.says(says);
        ran.says("hint: no job was popped");
        ran.exits(1);
    }
    let line = "mail --drain --chdir /does/not/exist -- true";
    let ran = site.work(line, "").exits(1);
    ran.says("`/does/not/exist` is not a directory");
    assert_eq!(site.state("a"), "waiting");
    assert_eq!(site.job("a")["history"].as_array().unwrap().len(), 1);
}

#[test]
fn a_hangup_that_is_ignored_at_the_start_stays_ignored() {
    let mut site = WorkSite::with_jobs("mail", &["a"]);
    let script = "trap '' HUP; exec \"$0\" work mail -- sh -c 'kill -HUP $PPID $$; echo $QLESS_JID >> $D/ran'";
    let mut shell = site.qless().shell(script);
    let worker = site.start_command(&mut shell);
    site.until_state("a", "complete");
    site.put("mail", "b", "{}");
    site.until_state("b", "complete");
    assert_eq!(site.words("ran"), "a b");
    worker.stop().exits(0);
}

#[test]
fn a_program_that_disappears_is_waited_for_and_costs_no_job() {
    let mut site = WorkSite::with_numbered_jobs("mail", 10);
    let program = site.program("#!/bin/sh\nrm $D/program\n");
    let mut worker = site.start(&format!("mail -- {}", program.display()), "");
    worker.until_says("none is popped until it starts");
    until("no job runs", || {
        site.client.json(&["queues", "mail"])["running"] == 0
    });
    site.program("#!/bin/sh\nexit 0\n");
    for at in 0..10 {
        site.until_state(&at.to_string(), "complete");
    }
    let ended = worker.stop().exits(0);
    let warnings = lines_with(&ended.stderr, "warning");
    let shown = warnings.replace(site.dir().to_str().unwrap(), "$D");
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines.len(), 2, "{shown}");
    assert!(
        lines[0].ends_with("cannot start `$D/program`: it does not exist; trying again for 3s")
    );
    assert!(lines[1].ends_with(
        "cannot start `$D/program`: it does not exist; its jobs are given back, and none is popped until it starts"
    ));
    assert!(
        ended
            .stderr
            .contains("the command can be started again, after ")
    );
    for at in 0..10 {
        let job = site.job(&at.to_string());
        assert_eq!(
            (&job["state"], &job["remaining"]),
            (&"complete".into(), &5.into()),
            "{job}"
        );
    }
    site.must_be_clean();
}

#[test]
fn a_program_that_disappears_ends_a_worker_with_a_limit_and_costs_no_job() {
    let mut site = WorkSite::with_numbered_jobs("mail", 5);
    let program = site.program("#!/bin/sh\nrm $D/program\n");
    let ran = site
        .work(&format!("mail --drain -- {}", program.display()), "")
        .exits(1);
    ran.says(
        "error: cannot start `$D/program`: it does not exist\nhint: the jobs were given back\n",
    );
    let ends: String = (0..5)
        .map(|at| site.failures(&[&format!("{at}")]))
        .collect();
    // The released job is first in the queue, and counts as stalled.
    let counts =
        [": complete", ": failed", ": waiting", ": stalled"].map(|end| ends.matches(end).count());
    assert_eq!(counts, [1, 0, 3, 1], "{ends}");
    assert_eq!(site.job("1")["remaining"], 5);
    site.must_be_clean();
}

#[test]
fn the_only_job_decides_the_exit_code() {
    let mut site = WorkSite::with_jobs("mail", &["a", "b"]);
    site.work("mail --count 1", "exit 0").exits(0);
    site.work("mail --count 1", "exit 3").exits(8);
    assert_eq!([site.state("a"), site.state("b")], ["complete", "failed"]);
}

#[test]
fn a_worker_ends_after_the_count_and_leaves_the_rest() {
    let mut site = WorkSite::with_numbered_jobs("mail", 5);
    site.work("mail --count 3 -c 2", "echo $QLESS_JID >> $D/ran; exit 3")
        .exits(8);
    assert_eq!(site.file("ran").lines().count(), 3);
    let states = [0, 1, 2, 3, 4].map(|at: u8| site.state(&at.to_string()));
    assert_eq!(states, ["failed", "failed", "failed", "waiting", "waiting"]);
}

#[test]
fn a_worker_that_ends_says_that_jobs_failed_if_it_has_a_limit_and_leaves_the_list_of_workers() {
    let mut site = WorkSite::new();
    let workers = |site: &WorkSite| site.qless().run("workers -o ndjson").ok();
    for limit in ["--drain", "--count 2"] {
        for jid in ["a", "b"] {
            site.put("mail", &format!("{jid}{limit}"), "{}");
        }
        let ran = site.work(&format!("mail -q {limit}"), "exit 3").exits(8);
        let error = "error: 2 jobs failed\nhint: `qless failed` shows why\n";
        assert_eq!(ran.stderr(), error);
        assert_eq!(workers(&site), "");
    }
    site.put("mail", "c", "{}");
    let worker = site.start("mail", "exit 3");
    site.until_state("c", "failed");
    assert!(workers(&site).contains("-qless-"));
    assert_eq!(worker.stop().code, 0, "a service is not at fault");
    assert_eq!(workers(&site), "");
}

#[test]
fn a_drain_waits_for_what_stalls_and_counts_what_others_hold() {
    let mut site = WorkSite::new();
    site.config("heartbeat", "1");
    site.config("grace-period", "1");
    site.config("dead-heartbeat", "600");
    for queue in ["mail", "dead"] {
        site.put(queue, queue, "{}");
        site.client.call(&["pop", queue, "other", "1"]).unwrap();
    }
    site.put("mail", "own", "{}");
    let script = "echo $QLESS_JID >> $D/ran; test $QLESS_JID = mail || sleep 1.5";
    let ran = site.work("mail dead --drain", script).exits(0);
    assert_eq!(site.words("ran"), "own mail");
    ran.says("note: queue `dead` still has jobs: 1 running on another worker\n");
    ran.says("; 1 left running on another worker\n");
}

#[test]
fn a_drain_says_once_that_it_waits_for_the_end_of_the_grace_period() {
    let mut site = WorkSite::new();
    site.config("heartbeat", "1");
    site.config("grace-period", "3");
    site.config("dead-heartbeat", "600");
    for (queue, jid) in [("mail", "a"), ("mail", "b"), ("dead", "c"), ("dead", "d")] {
        site.put(queue, jid, "{}");
        site.client.call(&["pop", queue, "other", "1"]).unwrap();
    }
    std::thread::sleep(Duration::from_millis(1100));
    // This pop brings nothing: it begins the grace period of the jobs of `mail`.
    site.client.call(&["pop", "mail", "other", "1"]).unwrap();
    // They are in their grace period.
    assert_eq!([site.state("a"), site.state("b")], ["running", "running"]);
    let line = "mail dead --drain --poll 200ms";
    let ran = site.work(line, "echo $QLESS_JID >> $D/ran").exits(0);
    assert_eq!(site.words("ran"), "a b");
    let says = ran.stderr();
    let waits = says.matches(": 2 stalled (grace period ends in ");
    assert_eq!(waits.count(), 1, "{says}");
    ran.says("\n2 completed in ");
    ran.says("; 2 left running on other workers\n");
    site.must_be_clean();
}

#[test]
fn an_empty_queue_is_drained_at_once_and_a_missing_one_is_waited_for() {
    let mut site = WorkSite::new();
    let ran = site.work("mail --drain", "exit 0").exits(0);
    ran.says("note: queue `mail` does not exist, so it is empty\n");
    site.put("mails", "other", "{}");
    let ran = site.work("mail --drain", "exit 0").exits(0);
    let note = "note: queue `mail` does not exist, so it is empty; did you mean `mails`?\n";
    ran.says(note);
    let mut worker = site.start("mail --count 1 --poll 60s", "echo $QLESS_JID > $D/ran");
    worker.until_says("waiting for it");
    site.put("mail", "a", "{}");
    worker.end().exits(0);
    assert_eq!(site.words("ran"), "a");
}

#[test]
fn an_idle_worker_begins_a_job_when_it_is_due() {
    let mut site = WorkSite::new();
    let calls: [&[&str]; 2] = [
        &["put", "me", "mail", "a", "K", "{}", "1"],
        &["recur", "mail", "r", "K", "{}", "interval", "600", "2"],
    ];
    for call in calls {
        site.client.call(call).unwrap();
    }
    site.put("news", "b", "{}");
    site.qless().run("pause news --for 3s").exits(0);
    let begun = Instant::now();
    // `a` is retried after a second, and runs twice.
    let script = "echo $QLESS_JID >> $D/ran; [ -e $D/once ] || { touch $D/once; exit 75; }";
    let flags = "mail news --count 4 --poll 60s --retry-on 75 --retry-delay 1s";
    site.work(flags, script).exits(0);
    let took = begun.elapsed();
    assert!(
        took < Duration::from_secs(30),
        "not at the next poll: {took:?}"
    );
    let mut ran: Vec<String> = site.words("ran").split(' ').map(str::to_owned).collect();
    ran.sort();
    assert_eq!(ran, ["a", "a", "b", "r-1"]);
}

#[test]
fn a_paused_queue_gives_nothing_until_it_is_resumed() {
    let mut site = WorkSite::with_jobs("mail", &["a"]);
    site.client.call(&["pause", "mail"]).unwrap();
    site.client
        .call(&["put", "me", "mail", "later", "K", "{}", "3600"])
        .unwrap();
    let ran = site.work("mail --drain --next mail", "echo early >> $D/ran");
    lines_with(&ran.exits(0).stderr(), "note").shows(expect![[r#"
        note: queue `mail` is paused; its jobs wait for `qless unpause mail`
        note: queue `mail` of `--next` is popped, too: this worker gets each completed job again
        note: queue `mail` is paused and still has jobs: 1 waiting, 1 scheduled
    "#]]);
    let worker = site.start("mail --count 1 --poll 50ms", "echo $QLESS_JID >> $D/ran");
    std::thread::sleep(std::time::Duration::from_millis(200));
    assert_eq!(site.file("ran"), "");
    site.client.call(&["unpause", "mail"]).unwrap();
    worker.end().exits(0);
    assert_eq!(site.words("ran"), "a");
}

#[test]
fn wrong_arguments_are_refused_before_any_job_is_popped() {
    let mut site = WorkSite::new();
    site.config("heartbeat", "30");
    site.config("mail-heartbeat", "10");
    site.put("mail", "a", "{}");
    site.qless().session(expect![[r#"
        $ qless work mail --heartbeat 10s -- true
        --- stderr
        error: `--heartbeat 10s` is too long: a lock of queue `mail` lasts 10s
        hint: without `--heartbeat`, a lock is extended three times before it expires
        --- exit 2
        $ qless work other --heartbeat 30s -- true
        --- stderr
        error: `--heartbeat 30s` is too long: a lock of queue `other` lasts 30s
        hint: without `--heartbeat`, a lock is extended three times before it expires
        --- exit 2
        $ qless work mail --batch 2 --persistent -- true
        --- stderr
        error: `--batch` cannot be used with `--persistent`
        hint: usage: `qless work --batch <N> <QUEUE>... -- <COMMAND>...`
        --- exit 2
        $ qless work mail --in-flight 2 -- true
        --- stderr
        error: `--persistent` is missing
        hint: usage: `qless work --persistent --in-flight <N> <QUEUE>... -- <COMMAND>...`
        --- exit 2
        $ qless work mail --batch 2 -- echo {jid}
        --- stderr
        error: placeholders such as `{jid}` need a process for each job, without `--batch` and `--persistent`
        --- exit 2
        $ qless work mail --drain --retry-on 0 -- true
        --- stderr
        error: `--retry-on` expects exit codes from 1 to 255 such as `75` or `1-255`, `any`, `signal`, the name of a signal such as `KILL`, `crash` or `time-limit`, not `0`
        --- exit 2
        $ qless work mail --drain --retry-on 75,SIGFOO -- true
        --- stderr
        error: `--retry-on` expects exit codes from 1 to 255 such as `75` or `1-255`, `any`, `signal`, the name of a signal such as `KILL`, `crash` or `time-limit`, not `SIGFOO`
        --- exit 2
        $ qless work mail --drain --retry-on crash -- true
        --- stderr
        error: `--retry-on crash` requires `--persistent`
        --- exit 2
        $ qless work mail --drain --retry-on time-limit -- true
        --- stderr
        error: `--retry-on time-limit` requires `--time-limit`
        --- exit 2
        $ qless work mail --drain --time-limit 0 -- true
        --- stderr
        error: `--time-limit` expects a duration of more than 0, not `0`
        --- exit 2
        $ qless work mail -c 0 -- true
        --- stderr
        error: `--concurrency` expects a whole number between 1 and 1000, not `0`
        --- exit 2
        $ qless work mail -o json -- true
        --- stderr
        {"kind":"error","v":1,"code":"usage","exit":2,"message":"`work` writes events line by line","hint":"use `-o ndjson`","jid":null}
        --- exit 2
        $ qless work !mail -- true
        --- stderr
        error: every queue is left out
        hint: name a queue, or `*` for all others
        --- exit 2
        $ qless work mail=0 -- true
        --- stderr
        error: `QUEUE` expects a weight between 1 and 1000, not `mail=0`
        --- exit 2
        $ qless work mail=-1 -- true
        --- stderr
        error: `QUEUE` expects a weight between 1 and 1000, not `mail=-1`
        --- exit 2
        $ qless work mail=1.5 -- true
        --- stderr
        error: `QUEUE` expects a weight between 1 and 1000, not `mail=1.5`
        --- exit 2
        $ qless work mail= -- true
        --- stderr
        error: `QUEUE` expects a weight between 1 and 1000, not `mail=`
        --- exit 2
        $ qless work mail --error-bytes 1048577 -- true
        --- stderr
        error: `--error-bytes` expects a number of bytes up to 1MiB, such as `8192` or `64KiB`, not `1048577`
        --- exit 2
        $ qless work mail --error-bytes many -- true
        --- stderr
        error: `--error-bytes` expects a number of bytes up to 1MiB, such as `8192` or `64KiB`, not `many`
        --- exit 2
        $ qless work mail --
        --- stderr
        error: `COMMAND` is missing
        hint: usage: `qless work <QUEUE>... -- <COMMAND>...`
        --- exit 2
    "#]]);
    assert_eq!(site.job("a")["history"].as_array().unwrap().len(), 1);
}

#[test]
fn a_batch_ends_by_the_exit_code_of_its_process() {
    let mut site = WorkSite::new();
    for at in 0..5 {
        site.put("mail", &format!("{at}"), r#"{"n": 1.0}"#);
    }
    let script = "cat > $D/in; wc -l < $D/in >> $D/sizes; cat $D/in >> $D/all; echo bad >&2; test -e $D/second && exit 3; touch $D/second";
    site.work("mail --drain --batch 3", script).exits(8);
    assert_eq!(site.words("sizes"), "3 2");
    site.failures(&["0", "1", "2", "3", "4"]).shows(expect![[r#"
        0: complete -: -
        1: complete -: -
        2: complete -: -
        3: failed exit-3: bad
        4: failed exit-3: bad
    "#]]);
    let all = site.file("all");
    pick(all.lines().next().unwrap(), "[.jid, .queue, .attempt]")
        .shows(expect![[r#"["0","mail",1]"#]]);
    assert!(all.contains(r#""data":{"n": 1.0}"#), "{all}");
    site.must_be_clean();
}

#[test]
fn a_failed_batch_ends_its_jobs_as_a_failed_process_ends_a_single_one() {
    let mut site = WorkSite::new();
    let broken = site.program("#!/no/such/interpreter\n");
    let broken = broken.to_str().unwrap();
    let commands = [
        "sh -c 'echo bad >&2; exit 3'",
        "sh -c 'echo busy >&2; exit 75'",
        "sh -c 'kill -KILL $$'",
        broken,
    ];
    let ends = ["", "--batch 2"].map(|way| {
        let mut ends = String::new();
        for command in commands {
            for jid in ["a", "b"] {
                site.put("mail", jid, "{}");
            }
            site.work(
                &format!("mail --drain --retry-delay 1h {way} -- {command}"),
                "",
            );
            ends += &site.failures(&["a", "b"]).replace(broken, "$D/program");
        }
        ends
    });
    assert_eq!(ends[0], ends[1]);
    ends[1].shows(expect![[r#"
        a: failed exit-3: bad
        b: failed exit-3: bad
        a: scheduled failed-retries-mail: busy
        b: scheduled failed-retries-mail: busy
        a: failed signal-KILL: the command ended with signal KILL and wrote nothing to stderr
        b: failed signal-KILL: the command ended with signal KILL and wrote nothing to stderr
        a: failed exec: cannot start `$D/program`: the interpreter that its first line names does not exist
        b: failed exec: cannot start `$D/program`: the interpreter that its first line names does not exist
    "#]]);
    site.must_be_clean();
}

#[test]
fn a_program_that_is_missing_for_a_moment_costs_no_job() {
    let mut site = WorkSite::new();
    // The program is missing for longer than a lock lasts: locks are extended meanwhile.
    site.config("heartbeat", "1");
    let program = site.program(
        "#!/bin/sh\ntest $QLESS_JID = 0 || exit 0\nmv $D/program $D/next\n(sleep 1.5; mv $D/next $D/program) &\n",
    );
    for at in 0..5 {
        site.put("mail", &format!("{at}"), "{}");
    }
    let line = format!("mail --drain -- {}", program.display());
    let stderr = site.work(&line, "").exits(0).stderr();
    lines_with(&stderr, "warning").shows(expect![[r#"
        warning: slot 1: cannot start `$D/program`: it does not exist; trying again for 3s
    "#]]);
    assert_eq!(stderr.matches("started ").count(), 5, "{stderr}");
    site.must_be_clean();
}

#[test]
fn jobs_of_a_batch_may_end_by_lines_of_their_own() {
    let mut site = WorkSite::with_jobs("mail", &["done", "again", "bad", "rest", "moved"]);
    let script = r#"cat >/dev/null
        echo '{"jid":"done","result":"complete","data":{"x": 1}}' >&3
        echo '{"jid":"again","result":"retry","delay":"1h","message":"greylisted"}' >&3
        echo '{"jid":"bad","result":"fail","group":"address","message":"no such user"}' >&3
        echo '{"jid":"moved","result":"complete","next":"sent"}' >&3
        exit 7"#;
    site.work("mail --drain --batch 10", script).exits(8);
    site.failures(&["done", "again", "bad", "rest", "moved"])
        .shows(expect![[r#"
        done: complete -: -
        again: scheduled failed-retries-mail: greylisted
        bad: failed address: no such user
        rest: failed exit-7: the command ended with exit code 7 and wrote nothing to stderr
        moved: waiting -: -
    "#]]);
    assert_eq!(site.job("done")["data"], r#"{"x": 1}"#);
    assert_eq!(site.job("moved")["queue"], "sent");
    site.must_be_clean();
}

#[test]
fn a_worker_with_few_descriptors_has_fewer_slots_or_pops_nothing() {
    let site = WorkSite::with_numbered_jobs("u", 12);
    let limited = |limit: u64, options: &str| {
        let work = format!("exec \"$0\" work u -c 50 {options} --drain -- true");
        RunOutput::of(&mut site.qless().shell(&format!("ulimit -n {limit}; {work}")))
    };
    let hint = "hint: no job was popped; `ulimit -n 1024` allows more open files\n";
    limited(8, "").exits(1).says(hint);
    let refused = limited(24, "").exits(1);
    refused.says("error: no program can run: this process may open 24 files");
    assert_eq!(site.qless().run("length u").ok(), "12");
    let ran = limited(60, "--on-crash true").exits(0);
    ran.says(" at the same time, not 50: this process may open 60 files");
    ran.says("\n12 completed in");
    assert!(!ran.stderr().contains("cannot start"), "{}", ran.stderr());
}

#[test]
fn a_program_that_cannot_be_started_for_want_of_descriptors_gives_its_job_back() {
    let mut site = WorkSite::new();
    site.put_with("u", "a", "{}", &["retries", "0"]);
    site.client.call(&["pause", "u"]).unwrap();
    let mut worker = site.start("u --poll 50ms", "true");
    worker.until_says("is paused");
    until("it has subscribed", || site.redis.subscribers() > 0);
    let limit = |files: u64| Rlimit {
        current: Some(files),
        maximum: Some(4096),
    };
    prlimit(Some(worker.pid()), Resource::Nofile, limit(12)).unwrap();
    site.client.call(&["unpause", "u"]).unwrap();
    worker.until_says("cannot start a program: too many open files");
    worker.until_says("released  a of u");
    prlimit(Some(worker.pid()), Resource::Nofile, limit(1024)).unwrap();
    site.until_state("a", "complete");
    assert_eq!(site.job("a")["remaining"], 0);
    worker.stop().exits(0);
}
