//! Programs of jobs that try to learn the password, to disturb their worker, or to read what other jobs left.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::time::{Duration, Instant};

use expect_test::expect;

use crate::support::config::ConfigHome;
use crate::support::files::{STRANGER, copy_binary, give_away, give_to_group, mode};
use crate::support::proxy::free_port;
use crate::support::redis::Redis;
use crate::support::work::{WorkSite, is_alive};

const SECRET: &str = "geheim-4711";

/// What a job or a hook can see: its own environment, and that of its worker.
const LOOK: &str = "env; tr '\\0' '\\n' </proc/$PPID/environ; true";

#[test]
fn programs_learn_no_secret_from_an_environment() {
    let port = free_port();
    let redis = Redis::with(&["--requirepass", SECRET, "--port", &port.to_string()]);
    let with_password = format!("redis://:{SECRET}@127.0.0.1:{port}/0");
    let socket = format!("unix://{}", redis.socket().display());
    let home = ConfigHome::new(&format!(
        "[context.prod]\nredis = \"{socket}\"\npassword-env = \"PROD_PW\"\n"
    ));
    let site = tempfile::tempdir().unwrap();
    let seen = site.path().join("seen");
    for variables in [
        &[
            ("QLESS_REDIS_URL", &socket[..]),
            ("QLESS_REDIS_PASSWORD", SECRET),
        ][..],
        &[("QLESS_REDIS_URL", &socket), ("REDISCLI_AUTH", SECRET)],
        &[("QLESS_REDIS_URL", &with_password)],
        &[("REDIS_URL", &with_password)],
        &[("QLESS_CONTEXT", "prod"), ("PROD_PW", SECRET)],
    ] {
        _ = fs::remove_file(&seen);
        let mut qless = home.qless().env("SEEN", &seen).env("HARMLESS", "yes");
        for (name, value) in variables {
            qless = qless.env(name, *value);
        }
        qless.run("put q K").ok();
        let look = format!("({LOOK}) >>\"$SEEN\"");
        let args = [
            "work",
            "q",
            "--drain",
            "--on-start",
            &look,
            "--",
            "sh",
            "-c",
            &look,
        ];
        qless.args(args).exits(0);
        let seen = fs::read_to_string(&seen).unwrap();
        assert!(!seen.contains(SECRET), "{variables:?}: {seen}");
        // Those of hook and job were seen, and that of the worker by both. Only root reads the latter.
        let environments = if rustix::process::geteuid().is_root() {
            4
        } else {
            2
        };
        assert_eq!(seen.matches("HARMLESS=yes").count(), environments, "{seen}");
    }
}

/// Root reads the memory of every process, so this runs as another user if this one is root. Otherwise
/// it holds for this user.
#[test]
fn a_program_cannot_look_into_its_worker() {
    let port = free_port();
    let _redis = Redis::with(&["--requirepass", SECRET, "--port", &port.to_string()]);
    let dir = tempfile::tempdir().unwrap();
    mode(dir.path(), 0o777);
    let program = copy_binary(dir.path());
    let run = |args: &[&str]| {
        let mut command = std::process::Command::new(&program);
        command
            .args(args)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("QLESS_REDIS_URL", format!("redis://127.0.0.1:{port}"))
            .env("QLESS_REDIS_PASSWORD", SECRET)
            .current_dir(dir.path());
        if rustix::process::geteuid().is_root() {
            command.uid(STRANGER);
        }
        command.output().unwrap()
    };
    assert!(run(&["put", "q", "K"]).status.success());
    // Reading `mem` at its start always fails, so opening it is what counts.
    let look = "for file in environ maps mem; do
        (exec 9</proc/$PPID/$file) 2>/dev/null && echo $file; done >seen; true";
    let ran = run(&["work", "q", "--drain", "--", "sh", "-c", look]);
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    assert_eq!(fs::read_to_string(dir.path().join("seen")).unwrap(), "");
}

#[test]
fn signals_of_a_job_do_not_end_its_worker() {
    let mut site = WorkSite::new();
    for number in 0..6 {
        site.put("mail", &format!("j{number}"), "{}");
    }
    // USR1, USR2, ALRM, STKFLT, XFSZ, VTALRM, PROF, IO, PWR and real-time signals.
    let numbers = "10 12 14 16 25 26 27 29 30 34 50 64";
    let script = format!("for n in {numbers}; do kill -$n $PPID; done; echo ran >>$D/ran");
    let script = &script;
    site.work("mail --drain", script).exits(0);
    assert_eq!(site.words("ran"), "ran ran ran ran ran ran");
    // A program gets their default action.
    for number in [10, 25, 34] {
        let line = format!("mail --drain --on-start 'kill -{number} $$'");
        let own = site.work(&line, "true").stderr();
        assert!(own.contains("`--on-start` failed"), "{own}");
    }
    site.must_be_clean();
}

#[test]
fn sigquit_is_the_first_signal_of_an_orderly_end() {
    let mut site = WorkSite::with_jobs("mail", &["first", "second"]);
    let script = "kill -QUIT $PPID; until grep -q stopping $D/stderr-1; do sleep 0.01; done; echo done >>$D/ran";
    let worker = site.start("mail", script);
    worker.end().exits(0);
    assert_eq!(site.words("ran"), "done");
    assert_eq!(site.state("first"), "complete");
    assert_eq!(site.state("second"), "waiting");
    site.must_be_clean();
}

#[test]
fn a_flood_of_lines_that_are_no_answers_is_five_warnings_and_a_count() {
    let mut site = WorkSite::with_jobs("mail", &["a", "b"]);
    let script = "yes nonsense | head -n 20000 >&3; yes '{\"jid\":\"other\",\"result\":\"complete\"}' | head -n 20000 >&3";
    let ended = site.start("mail --drain --batch 2", script).end();
    let warnings: Vec<&str> = ended
        .stderr
        .lines()
        .filter(|line| line.starts_with("warning"))
        .collect();
    expect![[r#"
        warning: slot 1: the command wrote a line that is no answer: column 1: expected an object, not `nonsense`: nonsense
        warning: slot 1: the command wrote a line that is no answer: column 1: expected an object, not `nonsense`: nonsense
        warning: slot 1: the command wrote a line that is no answer: column 1: expected an object, not `nonsense`: nonsense
        warning: slot 1: the command wrote a line that is no answer: column 1: expected an object, not `nonsense`: nonsense
        warning: slot 1: the command wrote a line that is no answer: column 1: expected an object, not `nonsense`: nonsense
        warning: slot 1: the command wrote a line about `other` that is no answer: the process does not have this job
        warning: slot 1: the command wrote a line about `other` that is no answer: the process does not have this job
        warning: slot 1: the command wrote a line about `other` that is no answer: the process does not have this job
        warning: slot 1: the command wrote a line about `other` that is no answer: the process does not have this job
        warning: slot 1: the command wrote a line about `other` that is no answer: the process does not have this job
        warning: slot 1: the command wrote 19,995 further lines that were no answers
        warning: slot 1: the command wrote 19,995 further lines about jobs that it did not have
    "#]]
    .assert_eq(&(warnings.join("\n") + "\n"));
    site.must_be_clean();
}

#[test]
fn a_sandbox_in_a_folder_of_another_user_is_refused_before_any_pop() {
    let mut site = WorkSite::with_jobs("mail", &["a"]);
    let boxes = site.dir().join("boxes");
    fs::create_dir(&boxes).unwrap();
    let line = format!("mail --drain --sandbox {}", boxes.display());
    // What a member of the group could have renamed to the directory of a slot.
    let precious = boxes.join("slot-1/precious");
    fs::create_dir(boxes.join("slot-1")).unwrap();
    fs::write(&precious, "precious").unwrap();
    for bits in [0o777, 0o775, 0o2770] {
        mode(&boxes, bits);
        site.work(&line, "touch $D/ran").shows(expect![[r#"
            --- stderr
            error: cannot use the directory `$D/boxes`: other users may write it
            hint: `chmod go-w $D/boxes` takes that right away
            --- exit 1
        "#]]);
    }
    assert_eq!(fs::read(&precious).unwrap(), b"precious");
    if give_away(&boxes) {
        for bits in [0o755, 0o1777] {
            mode(&boxes, bits);
            site.work(&line, "touch $D/ran").shows(expect![[r#"
                --- stderr
                error: cannot use the directory `$D/boxes`: it belongs to another user
                hint: name a directory of your own
                --- exit 1
            "#]]);
        }
    }
    // Nor below a folder in which others can replace it.
    let way = site.dir().join("way");
    fs::create_dir(&way).unwrap();
    mode(&way, 0o777);
    let line = format!("mail --drain --sandbox {}/boxes", way.display());
    site.work(&line, "touch $D/ran").exits(1);
    mode(&way, 0o775);
    if give_to_group(&way) {
        site.work(&line, "touch $D/ran").exits(1);
    }
    mode(&way, 0o755);
    if give_away(&way) {
        site.work(&line, "touch $D/ran").exits(1);
        std::os::unix::fs::chown(&way, Some(0), None).unwrap();
    }
    assert!(!site.dir().join("ran").exists());
    assert_eq!(site.state("a"), "waiting");
    // In a sticky folder, as /tmp is, nobody else can replace it.
    mode(&way, 0o1777);
    site.work(&line, "touch $D/ran").exits(0);
    assert!(site.dir().join("ran").exists());
}

/// While jobs run, the folder itself is what is named, and what helps.
#[test]
fn a_sandbox_that_is_opened_to_others_during_work_says_what_helps() {
    let mut site = WorkSite::with_jobs("mail", &["a"]);
    let boxes = site.dir().join("boxes");
    let line = format!("mail --drain --poll 50ms --sandbox {}", boxes.display());
    site.put("mail", "b", "{}");
    let ended = site.start(&line, "chmod 770 ..").end().exits(1);
    let stderr = ended.stderr.replace(site.dir().to_str().unwrap(), "$D");
    let why = "cannot use the directory `$D/boxes`: other users may write it: \
               `chmod go-w $D/boxes` takes that right away\n";
    assert!(stderr.contains(why), "{stderr}");
}

/// The attacker is this test, which may rename anything: programs enter the folder that was checked and
/// emptied, or the start fails.
#[test]
fn no_job_runs_in_a_folder_that_is_swapped_for_its_sandbox() {
    let mut site = WorkSite::new();
    for number in 0..100 {
        site.put("mail", &format!("j{number}"), "{}");
    }
    let (boxes, evil) = (site.dir().join("boxes"), site.dir().join("evil"));
    fs::create_dir(&boxes).unwrap();
    mode(&boxes, 0o700);
    fs::create_dir(&evil).unwrap();
    fs::write(evil.join("mine"), "").unwrap();
    let line = format!("mail --drain --sandbox {}", boxes.display());
    // A job that runs in the folder of the attacker finds its file there.
    let script = "test -e mine && echo caught >>$D/caught; echo ran >>$D/ran";
    let mut worker = site.start(&line, script);
    site.until_lines("ran", 1);
    let (slot, away) = (boxes.join("slot-1"), boxes.join("away"));
    let begun = Instant::now();
    // Starts that fail wait a second, so not all jobs need to run.
    while !worker.has_ended() && begun.elapsed() < Duration::from_secs(3) {
        if fs::rename(&slot, &away).is_ok() {
            _ = symlink(&evil, &slot);
            _ = fs::remove_file(&slot);
            _ = fs::rename(&away, &slot);
        }
    }
    drop(worker);
    assert_eq!(site.file("caught"), "");
    assert!(evil.join("mine").exists());
}

#[test]
fn what_a_job_leaves_running_does_not_see_the_next_sandbox() {
    let mut site = WorkSite::with_jobs("mail", &["spy", "victim"]);
    let script = "case $QLESS_JID in
        spy) while :; do cat ./secret >>$D/stolen 2>/dev/null; sleep 0.01; done &
            echo $! >$D/spy; exec >/dev/null 2>&1 3>&- ;;
        *) echo geheim >secret; sleep 0.3 ;; esac";
    let line = format!("mail --drain --sandbox {}/boxes", site.dir().display());
    site.work(&line, script).exits(0);
    assert_eq!(site.file("stolen"), "");
    assert!(!is_alive(site.pid("spy")));
    assert_eq!(site.state("victim"), "complete");
}
