//! `qless depends`

use expect_test::expect;

use super::jobs::busy;

#[test]
fn both_directions_are_shown_with_states() {
    let redis = busy();
    redis.at(100).run("depends blocked").shows(expect![[r#"
        waits for	breaks	Thumb	images	failed
        waits for	runs	Mail::Digest	mail	running
    "#]]);
    redis
        .at(100)
        .run("depends blocked -o json")
        .shows(expect![[r#"
            {
              "kind": "dependencies",
              "v": 1,
              "jid": "blocked",
              "klass": "Deploy",
              "queue": "mail",
              "dependencies": [
                {
                  "jid": "breaks",
                  "klass": "Thumb",
                  "queue": "images",
                  "state": "failed"
                },
                {
                  "jid": "runs",
                  "klass": "Mail::Digest",
                  "queue": "mail",
                  "state": "running"
                }
              ],
              "dependents": []
            }
        "#]]);
    redis.at(100).run("depends runs").shows(expect![[r#"
        needed by	blocked	Deploy	mail	depends
    "#]]);
    redis.at(100).run("depends runs -o jid").shows(expect![[r#"
            blocked
        "#]]);
}

#[test]
fn an_unknown_job_is_not_found() {
    busy().at(100).run("depends nope").shows(expect![[r#"
        --- stderr
        error: job `nope` does not exist
        --- exit 4
    "#]]);
}
