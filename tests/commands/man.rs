//! `qless man`

use std::os::unix::fs::PermissionsExt;

use expect_test::expect;

use crate::support::qless::Qless;
use crate::support::terminal;
use crate::support::text::words;

fn run(line: &str) -> crate::support::qless::RunOutput {
    Qless::bare().run(line)
}

#[test]
fn printed_pages_equal_the_files_of_the_directory() {
    // `all_pages_are_written_to_a_directory` compares every page.
    let pages = qless::internals::manual_pages().unwrap();
    let named = |line: &str, name: &str| {
        let page = pages.iter().find(|page| page.file_name() == name).unwrap();
        assert_eq!(run(line).bytes(), page.bytes, "{line}");
    };
    named("man qless-retry.1", "qless-retry.1");
    named("man", "qless.1");
    named("man retry", "qless-retry.1");
    named("man recur put", "qless-recur-put.1");
    named("man config", "qless-config.1");
    named("man json", "qless-json.5");
    named("man json.5", "qless-json.5");
    named("man work", "qless-work.1");
    named("man work.5", "qless-work.5");
}

#[test]
fn an_unknown_page_is_a_usage_error() {
    run("man retyr").shows(expect![[r#"
        --- stderr
        error: no page is called `retyr`
        hint: `qless help` lists the commands; the others are `json.5`, `config.5` and `work.5`
        --- exit 2
    "#]]);
}

#[test]
fn all_pages_are_written_to_a_directory() {
    let dir = tempfile::tempdir().unwrap();
    let man = dir.path().join("share/man one");
    let ran = Qless::bare()
        .hide(dir.path().to_str().unwrap(), "DIR")
        .args(["man".as_ref(), "--out".as_ref(), man.as_os_str()]);
    let pages = qless::internals::manual_pages().unwrap();
    let count = pages.len();
    assert_eq!(
        ran.stderr(),
        format!("wrote {count} pages to DIR/share/man one\n")
    );
    assert_eq!(ran.ok(), "");
    assert_eq!(std::fs::read_dir(&man).unwrap().count(), count);
    for page in pages {
        assert_eq!(
            std::fs::read(man.join(page.file_name())).unwrap(),
            page.bytes
        );
    }
    let one = dir.path().join("one");
    let one = one.to_str().unwrap();
    run(&format!("man retry --out {one}")).ok();
    assert_eq!(std::fs::read_dir(one).unwrap().count(), 1);
    std::fs::write(dir.path().join("file"), "").unwrap();
    let file = dir.path().join("file");
    Qless::bare()
        .hide(dir.path().to_str().unwrap(), "DIR")
        .args(["man".as_ref(), "--out".as_ref(), file.as_os_str()])
        .shows(expect![[r#"
            --- stderr
            error: cannot create directory `DIR/file`: file exists
            --- exit 1
        "#]]);
}

#[test]
fn a_terminal_gets_the_page_that_man_renders() {
    let dir = tempfile::tempdir().unwrap();
    let bin = dir.path().to_str().unwrap().to_owned();
    let shown = |line: &str| {
        let mut command = Qless::bare().env("PATH", &bin).command();
        command
            .args(words(line))
            .env("TERM", "xterm")
            .env("PAGER", "/bin/cat");
        terminal::run(command, 60).ok()
    };
    let roff = run("man length").ok();
    assert_eq!(shown("man length"), roff.trim_end());
    let man = |script: &str| {
        let path = dir.path().join("man");
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    };
    man("echo rendered $* at $MANWIDTH; exec /bin/cat");
    let rendered = format!("rendered -l - at 60\n{}", roff.trim_end());
    assert_eq!(shown("man length"), rendered);
    assert_eq!(shown("man length -o tsv"), roff.trim_end());
    man("echo broken; exit 1");
    assert_eq!(shown("man length"), roff.trim_end());
}
