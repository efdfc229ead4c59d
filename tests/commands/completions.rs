//! `qless completions`

use expect_test::expect;

use crate::support::qless::Qless;

#[test]
fn completion_scripts_equal_the_files_of_the_directory() {
    for (shell, file) in [
        ("bash", "qless.bash"),
        ("zsh", "_qless"),
        ("fish", "qless.fish"),
        ("elvish", "qless.elv"),
        ("powershell", "_qless.ps1"),
    ] {
        let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("completions");
        let wanted = std::fs::read(dir.join(file)).unwrap();
        let ran = Qless::bare().run(&format!("completions {shell}"));
        ran.ok();
        assert_eq!(ran.bytes(), wanted, "{shell}");
    }
}

#[test]
fn an_unknown_shell_is_refused_with_the_known_ones() {
    Qless::bare().run("completions csh").shows(expect![[r#"
        --- stderr
        error: `SHELL` expects one of `bash`, `elvish`, `fish`, `powershell`, `zsh`, not `csh`
        hint: did you mean `zsh`?
        --- exit 2
    "#]]);
}
