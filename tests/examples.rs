//! The examples of the help texts and man pages are understood when they are typed: none is a
//! usage error, names an unknown program, or meets a fault.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use super::house::redis::Redis;

/// Programs that examples name and a machine need not have.
const OTHERS: &[&str] = &["jq", "redis-cli", "send"];

/// Exit codes that say that an example is wrong: errors, usage, not executable, not found, panic.
const WRONG: &[i32] = &[1, 2, 101, 126, 127];

#[test]
fn examples_of_the_help_are_understood() {
    let redis = Redis::start();
    let dir = tempfile::tempdir().unwrap();
    for name in OTHERS {
        let path = dir.path().join(name);
        std::fs::write(&path, "#!/bin/sh\nexec cat >/dev/null\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = [
        dir.path().as_os_str(),
        Path::new(env!("CARGO_BIN_EXE_qless"))
            .parent()
            .unwrap()
            .as_os_str(),
        &std::env::var_os("PATH").unwrap(),
    ]
    .join(":".as_ref());
    let mut examples = Vec::new();
    collect(&qless::cli::command(), &mut examples);
    assert!(examples.len() > 30, "{examples:?}");
    let mut wrong = Vec::new();
    for example in examples {
        // What an example starts is stopped with it.
        let script = format!(
            "set -o pipefail; {example}; code=$?\n\
             [ ! -e night ] || qless local stop --redis local:$PWD/night; exit $code"
        );
        let ran = Command::new("bash")
            .args(["-c", &script])
            .current_dir(dir.path())
            .env_clear()
            .env("PATH", &path)
            .env("HOME", dir.path())
            .env("QLESS_REDIS_URL", redis.url())
            .env("jid", "0b6e5c0d9a4f4d7e8a51f0c2b7d61e9a")
            .output()
            .unwrap();
        if ran.status.code().is_none_or(|code| WRONG.contains(&code)) {
            let said = String::from_utf8_lossy(&ran.stderr);
            wrong.push(format!("{example}\n{}\n{said}", ran.status));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Takes what stands between backticks in the paragraphs that begin with `Example`.
fn collect(command: &clap::Command, examples: &mut Vec<String>) {
    let help = command.get_long_about().unwrap_or_default().to_string();
    for paragraph in help.split("\n\n") {
        if paragraph.starts_with("Example") {
            let quoted = paragraph.split('`').skip(1).step_by(2);
            examples.extend(quoted.map(|example| example.replace('\n', " ")));
        }
    }
    for below in command.get_subcommands() {
        collect(below, examples);
    }
}
