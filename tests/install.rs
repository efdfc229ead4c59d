//! `make install` puts files where the system expects them, `make uninstall` removes them, and the packed
//! crate has what a build needs.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

fn make(target: &str, root: &Path) {
    let ran = Command::new("make")
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["-s", target, "PREFIX=/usr"])
        .arg(format!("DESTDIR={}", root.display()))
        .arg(format!("QLESS={}", env!("CARGO_BIN_EXE_qless")))
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "make {target}: {output}");
}

/// Names of the files below a directory.
fn below(dir: &Path, root: &Path, names: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        if entry.path().is_dir() {
            below(&entry.path(), root, names)
        } else {
            let path = entry.path();
            let name = path.strip_prefix(root).unwrap();
            names.insert(name.to_str().unwrap().to_owned());
        }
    }
}

#[test]
fn install_puts_files_in_place_and_uninstall_removes_them() {
    let root = tempfile::Builder::new().prefix("q l").tempdir().unwrap();
    let root = root.path();
    let files = || {
        let mut names = BTreeSet::new();
        below(root, root, &mut names);
        names
    };
    make("install", root);
    let mut wanted: BTreeSet<String> = [
        "usr/bin/qless",
        "usr/share/bash-completion/completions/qless",
        "usr/share/zsh/site-functions/_qless",
        "usr/share/fish/vendor_completions.d/qless.fish",
    ]
    .map(String::from)
    .into();
    for page in qless::internals::manual_pages().unwrap() {
        let name = page.file_name();
        let section = name.rsplit('.').next().unwrap();
        wanted.insert(format!("usr/share/man/man{section}/{name}"));
    }
    for example in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/examples")).unwrap() {
        let name = example.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".service") {
            wanted.insert(format!("usr/lib/systemd/system/{name}"));
        }
        wanted.insert(format!("usr/share/doc/qless/examples/{name}"));
    }
    assert_eq!(files(), wanted);
    let printed = Command::new(root.join("usr/bin/qless"))
        .arg("version")
        .output();
    assert!(printed.unwrap().status.success());
    let unit = std::fs::read_to_string(root.join("usr/lib/systemd/system/qless-web.service"));
    assert!(unit.unwrap().contains("\nExecStart=/usr/bin/qless web "));
    std::fs::write(root.join("usr/share/man/man1/other.1"), "").unwrap();
    make("uninstall", root);
    assert_eq!(files(), ["usr/share/man/man1/other.1".to_owned()].into());
}

#[test]
fn the_packed_crate_has_what_a_build_needs_and_no_more() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = tempfile::tempdir().unwrap();
    let ran = Command::new(env!("CARGO"))
        .current_dir(root)
        .args(["package", "--no-verify", "--allow-dirty", "--locked"])
        .args(["--offline", "--quiet", "--target-dir"])
        .arg(target.path())
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{output}");
    let name = format!("qless-{}", env!("CARGO_PKG_VERSION"));
    let packed = target.path().join(format!("package/{name}.crate"));
    let size = packed.metadata().unwrap().len();
    assert!(size < 2_000_000, "{size} bytes");

    let unpacked = Command::new("tar")
        .arg("-xzf")
        .arg(&packed)
        .arg("-C")
        .arg(target.path())
        .status();
    assert!(unpacked.unwrap().success());
    let crate_root = target.path().join(&name);
    let mut found = BTreeSet::new();
    below(&crate_root, &crate_root, &mut found);
    let mut wanted: BTreeSet<String> = [
        "Cargo.lock",
        "Cargo.toml",
        "Cargo.toml.orig",
        "LICENSE",
        "build.rs",
        "crate.md",
    ]
    .map(String::from)
    .into();
    for dir in ["src", "lua", "completions"] {
        below(&root.join(dir), root, &mut wanted);
    }
    // Only a clean working tree has it.
    found.remove(".cargo_vcs_info.json");
    assert_eq!(found, wanted);
}

#[test]
fn the_workflow_calls_only_what_runs_here() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
    let (workflow, makefile) = (read(".github/workflows/ci.yml"), read("Makefile"));
    let targets = makefile
        .lines()
        .find_map(|line| line.strip_prefix(".PHONY: "));
    let targets: Vec<&str> = targets.unwrap().split(' ').collect();
    let mut called = Vec::new();
    for line in workflow.lines() {
        let Some(command) = line.trim().strip_prefix("- run: ") else {
            continue;
        };
        match command.strip_prefix("make ") {
            Some(words) => called.extend(words.split(' ')),
            None => assert!(
                command == ".ci/run" || command.starts_with("sudo apt-get "),
                "{command}"
            ),
        }
    }
    called.retain(|target| !targets.contains(target));
    assert_eq!(called, [""; 0], "no targets of the Makefile");
}
