//! `qless bury`

use expect_test::expect;

use crate::support::jobs::mixed;

#[test]
fn a_job_that_has_not_started_becomes_failed() {
    let redis = mixed();
    redis
        .at(20)
        .run("bury w --group hold --message 'bad address' --reason why")
        .shows(expect![[""]]);
    redis.at(21).run("failed --group hold").shows(expect![[r#"
        w	K	failed	mail	0	5/5	1970-01-01T00:00:20.000Z	hold: bad address
    "#]]);
    let job = redis.at(21).run("get w --history -o json").json();
    let note = &job["history"][2];
    assert_eq!(
        (&note["verb"], &note["reason"]),
        (&"bury".into(), &"why".into())
    );
    redis
        .at(22)
        .run("bury s --group hold --message m -o json")
        .shows(expect![[r#"
            {
              "kind": "bulk",
              "v": 1,
              "action": "bury",
              "dry_run": false,
              "context": null,
              "matched": 1,
              "done": 1,
              "skipped": 0,
              "failed": 0,
              "remaining": 0,
              "elapsed_s": 0,
              "items": [
                {
                  "jid": "s",
                  "result": "done",
                  "code": "ok",
                  "detail": null,
                  "queue": "mail",
                  "state_before": "scheduled",
                  "state_after": "failed"
                }
              ]
            }
        "#]]);
    redis.at(23).run("retry w -o jid").shows(expect![[r#"
        w
    "#]]);
}

#[test]
fn running_and_ended_jobs_are_refused() {
    let redis = mixed();
    for jid in ["r", "f1", "c", "nope"] {
        redis
            .at(20)
            .run(&format!("bury {jid} --group g --message m"))
            .shows(match jid {
                "r" => expect![[r#"
                    --- stderr
                    error: cannot bury `r`: it is running, held by `w1`
                    hint: fail it for its worker: `qless fail --as-holder r`
                    --- exit 5
                "#]],
                "f1" => expect![[r#"
                    --- stderr
                    error: cannot bury `f1`: its state is `failed`
                    --- exit 5
                "#]],
                "c" => expect![[r#"
                    --- stderr
                    error: cannot bury `c`: it is complete
                    --- exit 5
                "#]],
                _ => expect![[r#"
                    --- stderr
                    error: job `nope` does not exist
                    --- exit 4
                "#]],
            });
    }
    redis.at(20).run("bury w --group g").shows(expect![[r#"
        --- stderr
        error: `--message` is missing
        hint: usage: `qless bury --group <G> --message <M> <JID>...`
        --- exit 2
    "#]]);
}

#[test]
fn a_selector_means_jobs_that_have_not_started() {
    let redis = mixed();
    redis
        .at(20)
        .run("bury --queue mail --group hold --message m --dry-run")
        .shows(expect![[r#"
            --- stderr
            Bury 3 jobs on unix://DIR/s

              mail	depends	1	1970-01-01T00:00:13.000Z	1970-01-01T00:00:13.000Z
              mail	scheduled	1	1970-01-01T00:00:12.000Z	1970-01-01T00:00:12.000Z
              mail	waiting	1	1970-01-01T00:00:11.000Z	1970-01-01T00:00:11.000Z

              their group becomes `hold`
            would bury 3
        "#]]);
    redis
        .at(20)
        .run("bury --queue mail --group hold --message m")
        .shows(expect![[r#"
            --- stderr
            error: cannot ask whether to bury 3 jobs on unix://DIR/s; nothing was changed
            hint: add `--yes`
            --- exit 9
        "#]]);
    redis
        .at(20)
        .run("bury --queue mail --group hold --message m --yes -o jid")
        .shows(expect![[r#"
            w
            s
            d
            --- stderr
            3 buried
        "#]]);
    redis.must_be_clean();
}

#[test]
fn a_bulk_bury_goes_on_where_its_report_ends() {
    let redis = mixed();
    let dir = tempfile::tempdir().unwrap();
    let report = dir.path().join("report");
    let line = format!(
        "bury w s --group hold --message m --report {}",
        report.display()
    );
    redis.at(20).run(&line).ok();
    redis.at(21).run("retry w").ok();
    let again = redis.at(22).run(&line).exits(0);
    assert!(again.stderr().contains("2 skipped"), "{}", again.stderr());
}
