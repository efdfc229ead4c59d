//! `qless version`

use expect_test::expect;

use crate::support::qless::Qless;

#[test]
fn the_version_document_names_version_and_core() {
    let document = Qless::bare().run("version -o json").json();
    assert_eq!(document["kind"], "version");
    assert_eq!(document["v"], 1);
    assert_eq!(document["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(
        document["commit"].as_str(),
        option_env!("QLESS_COMMIT").filter(|c| !c.is_empty())
    );
    assert_eq!(document["core"].as_str().unwrap().len(), 40);
}

#[test]
fn version_refuses_a_job_argument() {
    Qless::bare().run("version -o jid").shows(expect![[r#"
        --- stderr
        error: `-o jid` is only for commands whose result is jobs
        --- exit 2
    "#]]);
}
