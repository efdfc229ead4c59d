//! `qless work --persistent`: processes that stay and answer by lines.

use std::time::{Duration, Instant};

use expect_test::expect;
use rustix::process::Signal;

use crate::support::text::{Shows, lines_with};
use crate::support::work::{WorkSite, until};

/// Reads lines and answers each with what the text before `"` in the data says.
const ANSWER: &str = r#"while read -r line; do
        jid=${line#*\"jid\":\"}; jid=${jid%%\"*}
        echo $jid >> $D/ran
        echo "{\"jid\":\"$jid\",\"result\":\"complete\"}" >&3
    done; echo $$ >> $D/ended"#;

#[test]
fn processes_stay_and_answer_each_job() {
    let site = WorkSite::with_numbered_jobs("mail", 50);
    let script = format!("echo $$ >> $D/started; {ANSWER}");
    site.work("mail --drain --persistent -c 2", &script)
        .exits(0);
    assert_eq!(site.file("ran").lines().count(), 50);
    assert_eq!(site.file("started").lines().count(), 2);
    // Both saw the end of their input.
    assert_eq!(site.file("ended").lines().count(), 2);
    site.must_be_clean();
}

#[test]
fn processes_end_as_soon_as_the_last_job_of_a_count_has_ended() {
    let site = WorkSite::with_jobs("mail", &["a"]);
    let begun = Instant::now();
    site.work("mail --count 1 --persistent", ANSWER).exits(0);
    // No job can come from a queue that no pattern matches, so no process starts.
    site.work("none-* --drain --persistent", ANSWER).exits(0);
    assert_eq!(site.file("ended").lines().count(), 1);
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(20), "{took:?}");
}

#[test]
fn a_process_starts_when_there_is_a_job_for_it_and_stays() {
    let mut site = WorkSite::new();
    let script = format!("echo $$ >> $D/started; {ANSWER}");
    let worker = site.start("mail --persistent -c 100", &script);
    for jid in ["a", "b"] {
        site.put("mail", jid, "{}");
        site.until_state(jid, "complete");
    }
    worker.stop().exits(0);
    assert_eq!(site.file("started").lines().count(), 1);
    // No job, no process.
    site.work("mail --drain --persistent -c 2", &script)
        .exits(0);
    assert_eq!(site.file("started").lines().count(), 1);
    site.must_be_clean();
}

#[test]
fn a_process_that_cannot_be_started_costs_no_job() {
    let mut site = WorkSite::new();
    site.put_with("mail", "a", "{}", &["retries", "0"]);
    let program = site.program("#!/no/such/interpreter\n");
    let line = format!("work mail --persistent -c 3 -- {}", program.display());
    let ran = site.qless().run(&line).exits(1);
    ran.says("error: three starts in a row failed: cannot start ");
    ran.says("hint: the jobs were given back\n");
    assert_eq!(site.job("a")["remaining"], 0);
    assert_eq!(site.client.pop("mail", "other", 1), ["a"]);
}

#[test]
fn labels_name_the_jobs_that_a_process_has() {
    let mut site = WorkSite::new();
    for at in 1..=5 {
        site.put("mail", &format!("{at}-of-those-with-long-names"), "{}");
    }
    let script = r#"echo up >&2; for at in 1 2 3 4 5; do read -r line; done; echo got them >&2
        for at in 1 2 3 4 5; do
            echo "{\"jid\":\"$at-of-those-with-long-names\",\"result\":\"complete\"}"
        done
        while test "$(grep -c ^completed $D/stderr-1)" != 5; do sleep 0.02; done
        echo idle >&2; cat"#;
    let line = "mail --persistent --in-flight 5 --count 5 --label --answers stdout";
    let ended = site.start(line, script).end();
    let stderr = ended.stderr.lines();
    let labelled = stderr.filter_map(|line| Some(line.split_once(" 1 ")?.1.to_owned() + "\n"));
    let labelled: String = labelled.collect();
    labelled.shows(expect![[r#"
        1-of-tho…ames,2-of-tho…ames,3-of-tho…ames,4-of-tho…ames,+1 up
        1-of-tho…ames,2-of-tho…ames,3-of-tho…ames,4-of-tho…ames,+1 got them
        - idle
    "#]]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
}

#[test]
fn jobs_that_a_recycled_process_left_unread_keep_their_order() {
    let site = WorkSite::with_jobs("mail", &["a", "b", "c", "d", "e"]);
    let one = ANSWER.replace("while read -r line; do", "read -r line;");
    let one = one.replace("done; echo $$ >> $D/ended", "exit 0");
    site.work("mail --drain --persistent --in-flight 3", &one)
        .exits(0);
    // `d` or `e` may have been popped while a process ended, and then runs before the unread jobs.
    let ran = site.file("ran");
    let first_three: Vec<&str> = ran.lines().filter(|jid| *jid < "d").collect();
    assert_eq!(first_three, ["a", "b", "c"]);
    site.must_be_clean();
}

#[test]
fn answers_may_come_on_stdout() {
    let mut site = WorkSite::with_jobs("mail", &["a"]);
    let script = ANSWER.replace(">&3", "");
    let ran = site
        .work("mail --drain --persistent --answers stdout", &script)
        .exits(0);
    assert_eq!(
        (ran.stdout().as_str(), site.state("a").as_str()),
        ("", "complete")
    );
}

#[test]
fn a_process_has_up_to_in_flight_jobs_and_may_answer_in_any_order() {
    let mut site = WorkSite::with_numbered_jobs("mail", 6);
    // Answers only when it has three, the last one first.
    let script = r#"jid() { jid=${1#*\"jid\":\"}; echo ${jid%%\"*}; }
        while read -r a && read -r b && read -r c; do
            for line in "$c" "$a" "$b"; do
                echo "{\"jid\":\"$(jid "$line")\",\"result\":\"complete\"}" >&3
            done
        done"#;
    site.work("mail --drain --persistent --in-flight 3", script)
        .exits(0);
    for at in 0..6 {
        assert_eq!(site.state(&format!("{at}")), "complete");
    }
    site.must_be_clean();
}

#[test]
fn a_process_that_ends_fails_the_jobs_it_held_and_another_one_goes_on() {
    let mut site = WorkSite::with_jobs("mail", &["7", "KILL", "0", "good"]);
    let script = r#"read -r line || exit 0
        jid=${line#*\"jid\":\"}; jid=${jid%%\"*}
        echo "about $jid" >&2
        case $jid in
            good) echo '{"jid":"good","result":"complete"}' >&3; cat > /dev/null;;
            KILL) kill -KILL $$;;
            *) exit $jid;;
        esac"#;
    let ran = site.work("mail --drain --persistent", script).exits(8);
    site.failures(&["7", "KILL", "0", "good"])
        .shows(expect![[r#"
        7: failed exit-7: about 7
        KILL: failed signal-KILL: about KILL
        0: failed exit-0: about 0
        good: complete -: -
    "#]]);
    ran.says("slot 1: the command ended with exit code 7; it starts again");
    ran.says("slot 1: the command ended with signal KILL; it starts again");
    site.must_be_clean();
}

#[test]
fn a_program_that_ends_after_three_answers_costs_no_job() {
    let mut site = WorkSite::new();
    // It leaves the line of a further job unread: in the pipe, or with its stdin closed.
    for (stderr, close) in [("stderr-1", "true"), ("stderr-2", "exec <&-")] {
        for at in 0..7 {
            site.put_with("mail", &format!("{at}"), "{}", &["retries", "0"]);
        }
        let script = format!(
            r#"for at in 1 2 3; do
                read -r line || exit 0; jid=${{line#*\"jid\":\"}}; jid=${{jid%%\"*}}
                test $at = 3 && {close}
                echo "{{\"jid\":\"$jid\",\"result\":\"complete\"}}" >&3
            done
            until grep -q "^started *$((jid + 1)) of" $D/{stderr}; do sleep 0.02; done"#
        );
        // Jobs that are given back are popped again at once, however seldom the server is polled.
        let ended = site
            .start("mail --drain --persistent --poll 1h", &script)
            .end();
        let released = ended.stderr.lines().filter_map(|line| {
            let (released, _) = line.strip_prefix("released")?.split_once(" of ")?;
            Some(released.trim())
        });
        assert_eq!(released.collect::<Vec<_>>(), ["3", "6"], "{}", ended.stderr);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        for at in 0..7 {
            assert_eq!(site.state(&format!("{at}")), "complete", "{}", ended.stderr);
        }
    }
    site.must_be_clean();
}

#[test]
fn a_process_that_always_dies_is_started_with_growing_pauses() {
    let mut site = WorkSite::with_jobs("mail", &["a", "b", "c", "d"]);
    let begun = Instant::now();
    let mut worker = site.start("mail --persistent", "echo x >> $D/started; exit 1");
    worker.until_says("it starts again in 1s at the earliest");
    let soon = begun.elapsed();
    site.until_lines("started", 4);
    assert!(
        begun.elapsed() - soon > Duration::from_millis(700),
        "it was started too soon"
    );
    site.until_state("d", "failed");
    assert_eq!(site.file("started").lines().count(), 4);
    worker.stop().exits(0);
}

#[test]
fn answers_about_other_jobs_and_second_answers_change_nothing() {
    let mut site = WorkSite::with_jobs("other", &["foreign"]);
    site.put("mail", "a", "{}");
    site.put("mail", "b", "{}");
    let script = r#"while read -r line; do
            jid=${line#*\"jid\":\"}; jid=${jid%%\"*}
            echo '{"jid":"foreign","result":"complete"}' >&3
            echo 'not JSON' >&3
            echo "{\"jid\":\"$jid\",\"result\":\"complete\"}" >&3
            echo "{\"jid\":\"$jid\",\"result\":\"fail\",\"group\":\"g\",\"message\":\"m\"}" >&3
        done"#;
    let ran = site.work("mail --drain --persistent", script).exits(0);
    let states = ["a", "b", "foreign"].map(|jid| site.state(jid));
    assert_eq!(states, ["complete", "complete", "waiting"]);
    lines_with(&ran.stderr(), "warning").shows(expect![[r#"
        warning: slot 1: the command wrote a line about `foreign` that is no answer: the process does not have this job
        warning: slot 1: the command wrote a line that is no answer: column 1: expected an object, not `not`: not JSON
        warning: slot 1: the command wrote a line about `a` that is no answer: the process does not have this job
        warning: slot 1: the command wrote a line about `foreign` that is no answer: the process does not have this job
        warning: slot 1: the command wrote a line that is no answer: column 1: expected an object, not `not`: not JSON
        warning: slot 1: the command wrote a line about `b` that is no answer: the process does not have this job
    "#]]);
    site.must_be_clean();
}

#[test]
fn an_answer_on_stdout_is_reported_once_with_the_flag_that_has_it_read() {
    let mut site = WorkSite::with_jobs("mail", &["a", "b"]);
    let script = ANSWER.replace(">&3", "");
    let line = "mail --drain --persistent --time-limit 800ms --retry-on any --retry-delay 1h";
    let ran = site.work(line, &script).exits(0);
    // All the same, the jobs end.
    assert_eq!(
        [site.state("a"), site.state("b")],
        ["scheduled", "scheduled"]
    );
    lines_with(&ran.stderr(), "stdout").shows(expect![[r#"
        warning: slot 1: the command wrote an answer for `a` to stdout, where it has no effect: write answers to descriptor 3, or use `--answers stdout`
    "#]]);
    site.must_be_clean();
}

#[test]
fn a_process_over_the_time_limit_gives_the_jobs_back_that_it_has_not_read() {
    let mut site = WorkSite::new();
    for jid in ["a", "b", "c"] {
        site.put_with("mail", jid, "{}", &["retries", "0"]);
    }
    // A shell reads byte by byte.
    let script =
        format!("test -e $D/ran && {{ {ANSWER}; }}; read -r line; echo $line > $D/ran; sleep 100");
    let line = "mail --drain --persistent --in-flight 3 --time-limit 1s";
    site.work(line, &script);
    site.failures(&["a", "b", "c"]).shows(expect![[r#"
        a: failed time-limit: the job ran longer than 1s
        b: complete -: -
        c: complete -: -
    "#]]);
    site.must_be_clean();
}

#[test]
fn a_process_that_crashes_retries_its_jobs_if_that_is_asked_for() {
    let mut site = WorkSite::with_jobs("mail", &["0", "7", "KILL"]);
    let script = r#"read -r line || exit 0; jid=${line#*\"jid\":\"}; jid=${jid%%\"*}
        case $jid in KILL) kill -KILL $$;; *) exit $jid;; esac"#;
    let line = "mail --drain --persistent -c 3 --retry-on crash --retry-delay 1h";
    site.work(line, script).exits(0);
    for jid in ["0", "7", "KILL"] {
        assert_eq!(site.state(jid), "scheduled", "{jid}");
    }
    site.must_be_clean();
}

#[test]
fn an_answer_with_members_that_do_not_apply_counts_and_is_reported_once() {
    let mut site = WorkSite::with_jobs("mail", &["a", "b", "late", "bad"]);
    let script = r#"while read -r line; do
            jid=${line#*\"jid\":\"}; jid=${jid%%\"*}
            case $jid in
                late) echo '{"jid":"late","result":"retry","delay":"1h","data":{}}';;
                bad) echo '{"jid":"bad","group":"x"}';;
                *) echo "{\"jid\":\"$jid\",\"progress\":\"1\",\"of\":3}"
                    echo "{\"jid\":\"$jid\",\"result\":\"complete\",\"group\":\"x\",\"delay\":3}";;
            esac >&3
        done"#;
    let ran = site.work("mail --drain --persistent", script);
    let jids = ["a", "b", "late", "bad"];
    site.failures(&jids).shows(expect![[r#"
        a: complete -: -
        b: complete -: -
        late: scheduled -: -
        bad: failed bad-answer: the answer is not valid: there is neither `result` nor `progress` in it
    "#]]);
    lines_with(&ran.stderr(), "warning").shows(expect![[r#"
        warning: slot 1: the answer for `a` counts, but `of` is not allowed in a `progress` answer; this is reported once
        warning: slot 1: the answer for `a` counts, but `group` is not allowed in a `complete` answer; this is reported once
        warning: slot 1: the answer for `a` counts, but `delay` expects `next` beside it; this is reported once
        warning: slot 1: the answer for `late` counts, but `data` is not allowed in a `retry` answer; this is reported once
    "#]]);
    site.must_be_clean();
}

#[test]
fn an_answer_that_cannot_be_read_fails_the_job_that_it_names() {
    let mut site = WorkSite::with_jobs("mail", &["word", "data", "retry", "group"]);
    let script = r#"while read -r line; do
            jid=${line#*\"jid\":\"}; jid=${jid%%\"*}
            case $jid in
                word) echo '{"jid":"word","result":"done"}';;
                data) echo '{"jid":"data","result":"complete","data":NaN}';;
                retry) echo '{"jid":"retry","result":"retry","delay":"1h","message":"later"}';;
                group) echo '{"jid":"group","result":"fail","message":"m"}';;
            esac >&3
        done"#;
    site.work("mail --drain --persistent", script).exits(8);
    site.failures(&["word", "data", "retry", "group"]).shows(expect![[r#"
        word: failed bad-answer: the answer is not valid: `result` expects complete, retry or fail, not `done`
        data: failed bad-answer: the answer is not valid: column 42: expected value at `NaN`
        retry: scheduled failed-retries-mail: later
        group: failed bad-answer: the answer is not valid: there is no `group` in it
    "#]]);
    site.must_be_clean();
}

#[test]
fn a_job_that_is_never_answered_is_given_back_by_the_second_signal() {
    let mut site = WorkSite::new();
    site.config("heartbeat", "1");
    site.put_with("mail", "a", "{}", &["retries", "3"]);
    let script = "while read -r line; do echo got >> $D/ran; done; cat";
    let worker = site.start("mail --persistent --kill-after 1s", script);
    site.until_lines("ran", 1);
    // Longer than the lock: it is extended.
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!(site.state("a"), "running");
    worker.signal(Signal::INT);
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(site.state("a"), "running");
    worker.signal_again(Signal::INT);
    worker.end().exits(130);
    // So the core calls a job whose lock was revoked: it waits.
    assert_eq!(
        (
            site.state("a").as_str(),
            site.job("a")["remaining"].as_u64()
        ),
        ("stalled", Some(3))
    );
    assert_eq!(site.client.pop("mail", "other", 1), ["a"]);
    site.must_be_clean();
}

#[test]
fn a_retry_without_a_delay_waits_for_the_retry_delay() {
    let mut site = WorkSite::new();
    for (jid, delay, state) in [
        ("late", "", "scheduled"),
        ("own", r#","delay":7200"#, "scheduled"),
        ("now", r#","delay":0"#, "complete"),
    ] {
        site.put_with("mail", jid, "{}", &["retries", "1"]);
        // A job that runs again is complete.
        let script = format!(
            r#"read -r line; echo '{{"jid":"{jid}","result":"retry"{delay}}}' >&3
               read -r line && echo '{{"jid":"{jid}","result":"complete"}}' >&3; cat > /dev/null"#
        );
        let worker = site.start("mail --persistent --retry-delay 1h --poll 60s", &script);
        site.until_state(jid, state);
        worker.stop().exits(0);
    }
    let due = |jid: &str| -> f64 {
        redis::cmd("ZSCORE")
            .arg("ql:q:mail-scheduled")
            .arg(jid)
            .query(&mut site.redis.connection())
            .unwrap()
    };
    let (late, own) = (due("late"), due("own"));
    // The second was retried just after the first, with an hour more.
    assert!((3600.0..3660.0).contains(&(own - late)), "{late} {own}");
    let now = site.client.json(&["get", "now"])["history"].to_string();
    assert_eq!(now.matches("popped").count(), 2, "{now}");
    site.must_be_clean();
}

#[test]
fn a_retry_with_a_wrong_delay_fails_its_job_and_uses_no_retry() {
    for delay in ["-5", r#"\"1e9999d\""#, r#"\"soon\""#] {
        let mut site = WorkSite::with_jobs("mail", &["a"]);
        let script = format!(
            r#"while read -r line; do
                echo x >> $D/runs; echo "{{\"jid\":\"a\",\"result\":\"retry\",\"delay\":{delay}}}" >&3
            done"#
        );
        site.work("mail --drain --persistent", &script);
        assert_eq!(site.file("runs"), "x\n", "{delay}");
        assert!(
            site.failure("a").starts_with("failed bad-answer: "),
            "{delay}"
        );
        assert_eq!(site.job("a")["remaining"], 5, "{delay}");
        site.must_be_clean();
    }
}

#[test]
fn progress_is_logged_to_the_history_once_in_ten_seconds() {
    let mut site = WorkSite::with_jobs("mail", &["a"]);
    let script = r#"read -r line
        for at in 1 2 3; do echo "{\"jid\":\"a\",\"progress\":\"page $at\"}" >&3; done
        echo '{"jid":"a","result":"complete"}' >&3; cat >/dev/null"#;
    site.work("mail --drain --persistent", script).exits(0);
    let job = site.job("a").to_string();
    assert!(job.contains("page 1") && !job.contains("page 2"), "{job}");
    assert_eq!(site.state("a"), "complete");
    site.must_be_clean();
}

#[test]
fn a_cancelled_job_is_named_to_its_process_which_goes_on_with_others() {
    let mut site = WorkSite::with_jobs("mail", &["slow"]);
    let script = r#"while read -r line; do
            echo "$line" >> $D/in
            case $line in
                *'"cancel":true'*) echo '{"jid":"slow","result":"complete"}' >&3;;
                *'"b"'*) echo '{"jid":"b","result":"complete"}' >&3;;
            esac
        done; echo $$ >> $D/ended"#;
    let worker = site.start("mail --persistent --poll 50ms", script);
    site.until_lines("in", 1);
    site.client.call(&["cancel", "slow"]).unwrap();
    site.until_lines("in", 2);
    assert_eq!(
        site.file("in").lines().nth(1),
        Some(r#"{"jid":"slow","cancel":true}"#)
    );
    site.put("mail", "b", "{}");
    site.until_state("b", "complete");
    worker.stop().exits(0);
    until("the process ends", || {
        site.file("ended").lines().count() == 1
    });
    assert_eq!(site.state("slow"), "gone");
    site.must_be_clean();
}

#[test]
fn an_answer_that_the_server_does_not_read_fails_its_job_only() {
    let mut site = WorkSite::new();
    // The least that Redis accepts.
    site.redis
        .send(&["CONFIG", "SET", "proto-max-bulk-len", "1mb"]);
    for jid in ["long", "b", "c", "long-fail", "long-words"] {
        site.put("mail", jid, "{}");
    }
    // All answers go out in one call.
    let script = r#"read -r a; read -r b; read -r c; read -r d; read -r e
        long=$(head -c 1500000 /dev/zero | tr '\0' x)
        {
            echo "{\"jid\":\"long\",\"result\":\"complete\",\"data\":{\"x\":\"$long\"}}"
            echo '{"jid":"b","result":"complete"}'
            echo '{"jid":"c","result":"complete"}'
            echo "{\"jid\":\"long-fail\",\"result\":\"fail\",\"group\":\"g\",\"message\":\"m\",\"data\":{\"x\":\"$long\"}}"
            echo "{\"jid\":\"long-words\",\"result\":\"fail\",\"group\":\"g\",\"message\":\"$long\"}"
        } >&3; cat > /dev/null"#;
    site.work("mail --drain --persistent --in-flight 5", script)
        .exits(8);
    site.failures(&["long", "b", "c", "long-fail", "long-words"])
        .shows(expect![[r#"
        long: failed bad-answer: it is longer than the server reads (`proto-max-bulk-len`)
        b: complete -: -
        c: complete -: -
        long-fail: failed bad-answer: it is longer than the server reads (`proto-max-bulk-len`)
        long-words: failed bad-answer: it is longer than the server reads (`proto-max-bulk-len`)
    "#]]);
    site.must_be_clean();
}

#[test]
fn a_process_that_can_no_longer_answer_is_stopped_and_its_jobs_fail() {
    let mut site = WorkSite::with_jobs("mail", &["a", "b"]);
    // It has answered the first job when it closes the descriptor.
    let script = r#"read -r line; echo '{"jid":"a","result":"complete"}' >&3
        exec 3>&-; echo x >> $D/started; while read -r line; do :; done; sleep 100"#;
    let ran = site.work("mail --drain --persistent --kill-after 1s", script);
    site.failures(&["a", "b"]).shows(expect![[r#"
        a: complete -: -
        b: failed bad-answer: the command closed descriptor 3 before it answered
    "#]]);
    // The process gets `b` if it is asked before it closes the descriptor. Else another one gets it.
    let warnings = lines_with(&ran.stderr(), "warning");
    let said =
        "warning: slot 1: the command closed descriptor 3, so it was stopped; it starts again";
    assert!(warnings.starts_with(said), "{warnings}");
    site.must_be_clean();
}

#[test]
fn a_process_that_closes_descriptor_3_may_answer_on_stdout() {
    let mut site = WorkSite::with_jobs("mail", &["a"]);
    let script = format!("exec 3>&-; sleep 1.5; {}", ANSWER.replace(">&3", ""));
    let ran = site
        .work("mail --drain --persistent --answers stdout", &script)
        .exits(0);
    assert_eq!(site.state("a"), "complete");
    assert!(!ran.stderr().contains("warning"), "{}", ran.stderr());
}

#[test]
fn a_process_that_closes_descriptor_3_and_ends_is_judged_by_its_end() {
    let mut site = WorkSite::with_jobs("mail", &["a"]);
    let script = "read -r line || exit 0; exec 3>&-; sleep 0.3; echo why >&2; exit 7";
    site.work("mail --drain --persistent", script);
    assert_eq!(site.failure("a"), "failed exit-7: why");
    site.must_be_clean();
}
