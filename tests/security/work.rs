//! Programs of jobs that try to learn the password, to disturb their worker, or to read what other jobs left.

use std::fs;
use std::os::unix::process::CommandExt;

use crate::support::config::ConfigHome;
use crate::support::files::{STRANGER, mode};
use crate::support::proxy::free_port;
use crate::support::redis::Redis;

const SECRET: &str = "geheim-4711";

/// What a job or a hook can see: its own environment, and that of its worker.
const LOOK: &str = "env; tr '\\0' '\\n' </proc/$PPID/environ";

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
        let ran = qless.args(args);
        assert_eq!(ran.code(), 0, "{}", ran.stderr());
        let seen = fs::read_to_string(&seen).unwrap();
        assert!(!seen.contains(SECRET), "{variables:?}: {seen}");
        // All four were seen: of the hook, of the job, and of the worker from both.
        assert_eq!(seen.matches("HARMLESS=yes").count(), 4, "{seen}");
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
    // The other user may not reach the folder of the build.
    let program = dir.path().join("qless");
    fs::copy(env!("CARGO_BIN_EXE_qless"), &program).unwrap();
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
    let look = "for file in environ maps mem; do
        head -c 1 /proc/$PPID/$file >/dev/null 2>&1 && echo $file; done >seen; true";
    let ran = run(&["work", "q", "--drain", "--", "sh", "-c", look]);
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    assert_eq!(fs::read_to_string(dir.path().join("seen")).unwrap(), "");
}
