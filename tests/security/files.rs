//! Files that another user can write, has made beforehand, or has replaced by a pipe or a link.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use expect_test::expect;
use rustix::process::Signal;
use tempfile::TempDir;

use crate::support::config::ConfigHome;
use crate::support::files::{STRANGER, copy_binary, give_away, give_to_group, mode, write_private};
use crate::support::proxy::free_port;
use crate::support::qless::{Qless, RunOutput};
use crate::support::redis::Redis;
use crate::support::terminal::Terminal;

/// A folder that nobody else may enter.
fn folder() -> TempDir {
    tempfile::Builder::new()
        .prefix("qs")
        .tempdir_in("/tmp")
        .unwrap()
}

/// A config file whose program leaves a mark, and whether it did.
fn config_that_runs(home: &ConfigHome) -> impl Fn() -> bool {
    let mark = home.dir().join("ran");
    home.write(&format!(
        "default = \"a\"\n[context.a]\nredis = \"redis://127.0.0.1:1\"\npassword-command = [\"touch\", \"{}\"]\n",
        mark.display()
    ));
    move || mark.exists()
}

/// Runs a line. It must end by itself: a test that hangs says nothing.
fn ends(qless: &Qless, line: &str) -> RunOutput {
    let mut running = qless.start(line);
    let begun = Instant::now();
    while !running.has_ended() {
        if begun.elapsed() > Duration::from_secs(20) {
            running.signal(Signal::KILL);
            panic!("`qless {line}` waits for ever");
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    running.end()
}

fn fifo(path: &Path) -> String {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    path.to_str().unwrap().to_owned()
}

#[test]
fn nothing_is_taken_from_a_config_file_that_others_can_write() {
    let home = ConfigHome::empty();
    fs::create_dir_all(home.path().parent().unwrap()).unwrap();
    let has_run = config_that_runs(&home);
    for bits in [0o620, 0o602, 0o666] {
        home.mode(bits);
        home.run("queues").shows(expect![[r#"
            --- stderr
            error: cannot use config file `HOME/qless/config.toml`: other users may write it
            hint: `chmod go-w HOME/qless/config.toml` leaves that to its owner; `--config none` reads no file
            --- exit 2
        "#]]);
        home.run("__complete fish qless queues --context ''")
            .stdout();
        assert!(!has_run());
    }
    // The command of the hint is all that it takes.
    home.mode(0o600);
    home.run("queues").exits(6);
    assert!(has_run());
    // Whatever it holds: where passwords are sent, what is encrypted for whom, and what is protected.
    for text in [
        "[context.a]\nredis = \"redis://:geheim@127.0.0.1:1\"",
        "[context.a]\npassword-env = \"HOME\"",
        "[context.a]\ntls-ca = \"ca.pem\"",
        "[context.a]\nprotected = false",
        "[defaults]\nread-only = false",
        "[defaults]\nprefix = \"theirs:\"",
        "not even TOML",
    ] {
        home.write(text);
        home.mode(0o666);
        let ran = home.run("queues").exits(2);
        let said = ran.stderr();
        assert!(said.starts_with("error: cannot use config file"), "{said}");
        // A way to go on until that is mended.
        home.run("--config none context").ok();
    }
    // Others may read it.
    home.write("[defaults]\noutput = \"json\"\n");
    home.mode(0o644);
    home.run("context").ok();
}

#[test]
fn no_password_is_sent_to_a_server_from_a_config_file_of_others() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    server.set_nonblocking(true).unwrap();
    let address = server.local_addr().unwrap();
    let home = ConfigHome::new(&format!("[defaults]\nredis = \"redis://{address}\"\n"));
    home.mode(0o666);
    let file = home.dir().join("pw");
    write_private(&file, "geheim\n");
    let qless = home.qless().env("QLESS_REDIS_PASSWORD", "geheim");
    qless.run("queues").exits(2);
    qless.run("__complete fish qless length ''").stdout();
    let line = format!("queues --password-file {}", file.display());
    home.run(&line).exits(2);
    let fault = server.accept().unwrap_err();
    assert_eq!(fault.kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn no_program_runs_from_a_config_file_of_another_user() {
    let home = ConfigHome::empty();
    fs::create_dir_all(home.path().parent().unwrap()).unwrap();
    let has_run = config_that_runs(&home);
    if give_away(home.path()) {
        home.run("queues").shows(expect![[r#"
            --- stderr
            error: cannot use config file `HOME/qless/config.toml`: it belongs to another user
            hint: name a copy that is yours; `--config none` reads no file
            --- exit 2
        "#]]);
        assert!(!has_run());
    }
}

#[test]
fn no_program_runs_if_others_can_replace_the_config_file_or_a_directory_above_it() {
    let home = ConfigHome::empty();
    fs::create_dir_all(home.path().parent().unwrap()).unwrap();
    let has_run = config_that_runs(&home);
    let directory = home.path().parent().unwrap().to_owned();
    mode(&directory, 0o777);
    home.run("queues").shows(expect![[r#"
        --- stderr
        error: cannot use config file `HOME/qless/config.toml`: other users may write the directory `HOME/qless`
        hint: `chmod go-w HOME/qless` takes that right away; `--config none` reads no file
        --- exit 2
    "#]]);
    // Also if the directory is that of the target of a link.
    let away = directory_with_link(&home);
    home.run("queues").exits(2);
    mode(&away, 0o700);
    mode(&directory, 0o700);
    // Also if a group can replace it, or another user whose directory it is.
    if give_to_group(home.dir()) {
        mode(home.dir(), 0o770);
        home.run("queues").exits(2);
        mode(home.dir(), 0o700);
    }
    if give_away(home.dir()) {
        home.run("queues").shows(expect![[r#"
            --- stderr
            error: cannot use config file `HOME/qless/config.toml`: the directory `HOME` belongs to another user
            hint: name a path on which all directories belong to you or root; `--config none` reads no file
            --- exit 2
        "#]]);
        std::os::unix::fs::chown(home.dir(), Some(0), Some(0)).unwrap();
    }
    assert!(!has_run());
    // In a directory such as /tmp, others cannot replace it. A link of theirs there may lead anywhere.
    mode(&directory, 0o1777);
    if lchown(home.path(), Some(STRANGER), None).is_ok() {
        home.run("queues").exits(2);
        lchown(home.path(), Some(0), None).unwrap();
    }
    assert!(!has_run());
    home.run("queues").exits(6);
    assert!(has_run());
}

/// Systems that give each user a group of its own let this group write new directories.
#[test]
fn a_directory_of_the_own_group_of_this_user_is_trusted() {
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    if user.as_raw() != group.as_raw() {
        eprintln!("this user has no group of its own");
        return;
    }
    let home = ConfigHome::new("[defaults]\noutput = \"json\"\n");
    mode(home.path().parent().unwrap(), 0o775);
    home.run("context").ok();
}

#[test]
fn a_context_is_not_added_to_a_file_of_others() {
    let add = "context add a --redis redis://:geheim@h";
    let refuses = |home: &ConfigHome| {
        let before = fs::read(home.path()).ok();
        home.run(add).exits(2);
        assert_eq!(fs::read(home.path()).ok(), before);
    };
    let home = ConfigHome::new("");
    home.mode(0o666);
    refuses(&home);
    if give_away(home.path()) {
        home.mode(0o600);
        refuses(&home);
        assert_eq!(fs::metadata(home.path()).unwrap().uid(), STRANGER);
    }
    // Nor to a new one where others can replace it, and no directories are created there.
    let home = ConfigHome::empty();
    mode(home.dir(), 0o777);
    home.run(add).shows(expect![[r#"
        --- stderr
        error: cannot write `HOME/qless/config.toml`: other users may write the directory `HOME`
        hint: `chmod go-w HOME` takes that right away
        --- exit 2
    "#]]);
    assert_eq!(fs::read_dir(home.dir()).unwrap().count(), 0);
    // Nor through a link of others.
    mode(home.dir(), 0o1777);
    let target = home.dir().join("target");
    fs::create_dir(home.path().parent().unwrap()).unwrap();
    symlink(&target, home.path()).unwrap();
    if lchown(home.path(), Some(STRANGER), None).is_ok() {
        home.run(add).exits(2);
        assert!(!target.exists());
    }
}

/// Replaces the config file by a link to it in an open directory. Its own directory is closed then.
fn directory_with_link(home: &ConfigHome) -> PathBuf {
    let away = home.dir().join("away");
    fs::create_dir(&away).unwrap();
    fs::rename(home.path(), away.join("real.toml")).unwrap();
    symlink("../away/real.toml", home.path()).unwrap();
    mode(home.path().parent().unwrap(), 0o700);
    mode(&away, 0o777);
    away
}

#[test]
fn a_password_file_of_another_user_is_read_and_a_pipe_is_refused() {
    let redis = Redis::with(&["--requirepass", "geheim"]);
    let dir = folder();
    let file = dir.path().join("pw");
    write_private(&file, "geheim\n");
    let qless = redis.qless().hide(dir.path().to_str().unwrap(), "TMP");
    let line = format!("--password-file {} length q", file.display());
    assert_eq!(qless.run(&line).ok(), "0");
    mode(&file, 0o666);
    qless.run(&line).shows(expect![[r#"
        0
        --- stderr
        warning: other users may read the password file `TMP/pw`
    "#]]);
    // Such as a secret that a container was given.
    mode(&file, 0o600);
    give_away(&file);
    qless.run(&line).shows(expect!["0\n"]);
    let pipe = fifo(&dir.path().join("pipe"));
    ends(&qless, &format!("--password-file {pipe} length q")).shows(expect![[r#"
        --- stderr
        error: cannot read password file `TMP/pipe`: it is a named pipe
        hint: name a file
        --- exit 2
    "#]]);
}

#[test]
fn a_terminal_is_read_when_somebody_has_typed() {
    let redis = Redis::with(&["--requirepass", "geheim"]);
    let script = "exec \"$0\" --password-file \"$(tty)\" length q";
    let command = redis.qless().shell(script);
    let mut terminal = Terminal::typed(command, 100, 20);
    // It waits silently; what was typed before it reads would not show that it waits.
    std::thread::sleep(Duration::from_millis(500));
    terminal.types("geheim\n");
    let ran = terminal.end().exits(0);
    assert!(ran.stdout().contains("\n0\n"), "{}", ran.stdout());
}

/// In a user namespace, `/dev/stdout` is a link of an unknown user, since root has no number there.
#[test]
fn what_the_shell_opened_is_written_in_a_user_namespace() {
    // Another user may not use the socket.
    let port = free_port();
    let redis = Redis::with(&["--port", &port.to_string()]);
    redis.ok(1, "put q K --jid a");
    let dir = folder();
    mode(dir.path(), 0o755);
    let program = copy_binary(dir.path());
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        command
            .args(["-Ur", "sh", "-c", script])
            .env("Q", &program)
            .env("QLESS_REDIS_URL", format!("redis://127.0.0.1:{port}"))
            .env("HOME", "/nonexistent")
            .current_dir("/");
        if rustix::process::geteuid().is_root() {
            command.uid(STRANGER);
        }
        command
    };
    let can = unshare("true")
        .output()
        .is_ok_and(|ran| ran.status.success());
    if !can {
        eprintln!("this system gives users no namespace of their own");
        return;
    }
    let script = "\"$Q\" export --all --file /dev/stdout -q | grep -c '\"jid\":\"a\"'";
    let ran = RunOutput::of(&mut unshare(script));
    assert_eq!(ran.ok(), "1", "{}", ran.stderr());
}

/// Each command that writes job data or their outcomes to a file that it continues, with the file `F`.
const LEDGERS: [&str; 4] = [
    "cancel a --yes --save F",
    "retry --state failed --yes --report F",
    "put q K --from IN --journal F",
    "check --repair --yes --undo F",
];

#[test]
fn job_data_is_not_written_into_a_file_that_others_made_beforehand() {
    let redis = Redis::start();
    redis.ok(1, "put q K --jid a");
    let before = redis.dump();
    let dir = folder();
    let input = dir.path().join("in");
    write_private(&input, "{\"data\":1}\n");
    for line in LEDGERS {
        let file = dir.path().join("F");
        let shown = file.to_str().unwrap();
        let named = |word| match word {
            "F" => shown,
            "IN" => input.to_str().unwrap(),
            word => word,
        };
        let line = line.split(' ').map(named).collect::<Vec<_>>().join(" ");
        let refuses = |why: &str| {
            let ran = redis.at(2).run(&line).exits(2);
            ran.says(why);
            // A dry run reads it, too.
            let ran = redis.at(2).run(&format!("{line} --dry-run")).exits(2);
            ran.says(why);
        };
        for bits in [0o644, 0o606, 0o620, 0o666] {
            write_private(&file, "");
            mode(&file, bits);
            refuses("other users may use it");
            assert_eq!(fs::metadata(&file).unwrap().len(), 0);
        }
        mode(&file, 0o600);
        if give_away(&file) {
            refuses("it belongs to another user");
            assert_eq!(fs::metadata(&file).unwrap().len(), 0);
        }
        fs::remove_file(&file).unwrap();
        // A name in another directory leads to it, too.
        write_private(&file, "");
        let other = dir.path().join("other");
        fs::hard_link(&file, &other).unwrap();
        refuses("it has another name, a hard link");
        assert_eq!(fs::metadata(&file).unwrap().len(), 0);
        fs::remove_file(&other).unwrap();
        fs::remove_file(&file).unwrap();
        // Others could replace it while it is continued.
        mode(dir.path(), 0o777);
        refuses("other users may write the directory");
        mode(dir.path(), 0o700);
        assert!(!file.exists());
        let target = dir.path().join("target");
        symlink(&target, &file).unwrap();
        refuses("it is a symbolic link");
        assert!(!target.exists());
        fs::remove_file(&file).unwrap();
    }
    assert_eq!(redis.dump(), before);
}

#[test]
fn an_undo_file_that_others_can_write_is_not_believed() {
    let redis = Redis::start();
    redis.ok(1, "put q K --jid a");
    redis.send(&["ZADD", "ql:q:q-work", "1", "ghost"]);
    let dir = folder();
    let undo = dir.path().join("undo");
    let shown = undo.to_str().unwrap();
    redis.ok(2, &format!("check --repair --yes --undo {shown}"));
    let before = redis.dump();
    let revert = || {
        let qless = redis.at(3).hide(shown, "UNDO");
        qless.run(&format!("check --revert {shown} --yes"))
    };
    mode(&undo, 0o602);
    revert().shows(expect![[r#"
        --- stderr
        error: cannot read `UNDO`: other users may use it
        hint: `chmod 600 UNDO` leaves it to its owner
        --- exit 2
    "#]]);
    mode(&undo, 0o600);
    if give_away(&undo) {
        let ran = revert().exits(2);
        ran.says("another user");
    }
    assert_eq!(redis.dump(), before);
}

#[test]
fn an_export_replaces_no_file_through_a_link_of_another_user() {
    let redis = Redis::start();
    redis.ok(1, "put q K --jid a");
    let dir = folder();
    let (link, precious) = (dir.path().join("link"), dir.path().join("precious"));
    write_private(&precious, "precious");
    symlink(&precious, &link).unwrap();
    let line = format!("export --all --file {}", link.display());
    let owner = lchown(&link, Some(STRANGER), None);
    if owner.is_ok() {
        let qless = redis.at(2).hide(dir.path().to_str().unwrap(), "TMP");
        qless.run(&line).shows(expect![[r#"
            --- stderr
            error: cannot write `TMP/link`: the symbolic link `TMP/link` belongs to another user
            hint: name another file
            --- exit 2
        "#]]);
        assert_eq!(fs::read(&precious).unwrap(), b"precious");
    } else {
        // Only root can give the link away. One's own link is followed.
        redis.ok(2, &line);
    }
    // A file that others made beforehand is replaced, not written into.
    let file = dir.path().join("file");
    write_private(&file, "");
    mode(&file, 0o666);
    let before = fs::metadata(&file).unwrap().ino();
    let line = format!("export --all --file {}", file.display());
    redis.ok(2, &line);
    let after = fs::metadata(&file).unwrap();
    assert!(after.ino() != before && after.mode() & 0o777 == 0o600);
}

#[test]
fn named_pipes_are_refused_and_not_waited_for() {
    let redis = Redis::start();
    redis.ok(1, "put q K --jid a");
    let dir = folder();
    let pipe = fifo(&dir.path().join("pipe"));
    let qless = redis.at(2).hide(dir.path().to_str().unwrap(), "TMP");
    for line in [
        "--config F length q",
        "--password-file F length q",
        "--tls-ca F --redis rediss://127.0.0.1:1 length q",
        "cancel a --yes --save F",
        "cancel a --yes --save F --dry-run",
        "tag a --add x --report F",
        "put q K --from /dev/null --journal F",
        "check --repair --yes --undo F",
        "check --revert F --yes",
        "export --all --file F",
        "config dump F",
        "context add a --redis redis://h --config F",
    ] {
        let ran = ends(&qless, &line.replace('F', &pipe)).exits(2);
        ran.says("it is a named pipe");
    }
    ends(&qless, &format!("--config {pipe} length q")).shows(expect![[r#"
        --- stderr
        error: cannot read config file `TMP/pipe`: it is a named pipe
        hint: `--config none` reads no file
        --- exit 2
    "#]]);
}

#[test]
fn an_input_is_no_named_pipe_of_another_user() {
    let redis = Redis::start();
    redis.ok(1, "put q K --jid a");
    let dir = folder();
    let pipe = fifo(&dir.path().join("pipe"));
    let qless = redis.at(2).hide(dir.path().to_str().unwrap(), "TMP");
    let lines = [
        "import F",
        "config load F --yes",
        "put --from F",
        "cancel @F --yes",
        "put q K @F",
        "get @F",
    ];
    // One of this user is waited for.
    for line in lines {
        let running = qless.start(&line.replace('F', &pipe));
        fs::write(&pipe, "{}\n").unwrap();
        let ended = running.end();
        assert!(
            !ended.stderr().contains("pipe\": it is"),
            "{line}: {}",
            ended.stderr()
        );
    }
    if !give_away(&pipe) {
        return;
    }
    for line in lines {
        ends(&qless, &line.replace('F', &pipe)).shows(expect![[r#"
            --- stderr
            error: cannot read `TMP/pipe`: it is a named pipe
            hint: name a file
            --- exit 2
        "#]]);
    }
}

#[test]
fn completion_does_not_wait_for_a_named_pipe() {
    let home = ConfigHome::empty();
    fs::create_dir_all(home.path().parent().unwrap()).unwrap();
    fifo(&home.path());
    ends(&home.qless(), "__complete fish qless length ''");
    ends(&home.qless(), "__complete fish qless --context ''");
}

#[test]
fn completion_believes_no_cache_of_others_and_does_not_wait_for_a_pipe_in_it() {
    let redis = Redis::start();
    redis.qless().run("put q K --jid a").stdout();
    let cache = folder();
    let offered = || {
        let qless = redis.qless().env("XDG_CACHE_HOME", cache.path());
        let qless = qless.env("QLESS_COMPLETE_LIVE", "20s");
        ends(&qless, "__complete fish qless length ''").stdout()
    };
    let before = offered();
    assert!(before.contains("q\t"), "{before}");
    let files = fs::read_dir(cache.path().join("qless")).unwrap();
    let kept: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    let [kept] = &kept[..] else {
        panic!("{kept:?}")
    };
    fs::write(kept, "forged\t\n").unwrap();
    assert!(offered().contains("forged"));
    fs::set_permissions(kept, PermissionsExt::from_mode(0o666)).unwrap();
    assert_eq!(offered(), before);
    fs::remove_file(kept).unwrap();
    fifo(kept);
    assert_eq!(offered(), before);
}

#[test]
fn pipes_that_the_shell_opened_are_read_and_written() {
    let redis = Redis::with(&["--requirepass", "geheim"]);
    let mut shell = Command::new("bash");
    let script = "\"$Q\" --password-file <(echo geheim) put q K --jid a -q &&
        \"$Q\" --config <(printf '[defaults]\\noutput=\"json\"\\n') --password-file <(echo geheim) length q &&
        \"$Q\" --password-file <(echo geheim) export --all --file /dev/stdout -q | grep -c '\"jid\":\"a\"' &&
        \"$Q\" --password-file <(echo geheim) export --all --file /proc/$BASHPID/fd/1 -q | grep -c '\"jid\":\"a\"' &&
        \"$Q\" --password-file <(echo geheim) cancel a --yes -q --save >(cat >\"$D/saved\") &&
        wait && until grep -q '\"jid\":\"a\"' \"$D/saved\"; do :; done";
    let dir = folder();
    shell
        .args(["-c", script])
        .env("Q", env!("CARGO_BIN_EXE_qless"))
        .env("D", dir.path())
        .env("QLESS_REDIS_URL", redis.url())
        .env("HOME", "/nonexistent");
    let ran = RunOutput::of(&mut shell);
    assert!(ran.code() == 0, "{}{}", ran.stdout(), ran.stderr());
    assert!(ran.stdout().contains("\"length\""), "{}", ran.stdout());
}

#[test]
fn a_printed_chmod_names_a_file_that_looks_like_an_option() {
    let redis = Redis::start();
    redis.ok(1, "put q K --jid a");
    let dir = folder();
    let file = dir.path().join("-R");
    fs::write(&file, "").unwrap();
    mode(&file, 0o644);
    let cancel = || {
        let mut command = redis.at(2).command();
        command.args(["cancel", "a", "--yes", "--save=-R"]);
        let output = command.current_dir(dir.path()).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    let refused = cancel();
    let hint = refused.split_once("hint: `").unwrap().1;
    let (line, _) = hint.split_once('`').unwrap();
    assert_eq!(line, "chmod 600 -- -R");
    let mut shell = Command::new("sh");
    let ran = shell.args(["-c", line]).current_dir(dir.path()).status();
    assert!(ran.unwrap().success());
    assert!(!cancel().contains("other users"));
}
