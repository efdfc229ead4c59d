//! A context that names several prefixes, or several servers, as one.

use std::collections::BTreeSet;
use std::process::Command;

use expect_test::expect;

use crate::support::cluster::{Cluster, await_that};
use crate::support::config::ConfigHome;
use crate::support::keyboard;
use crate::support::qless::{Qless, RunOutput};
use crate::support::redis::Redis;

/// Two servers, which context `both` names as one. Context `three` also names one that does not answer.
struct Two {
    _servers: [Redis; 2],
    home: ConfigHome,
}

impl Two {
    fn new() -> Two {
        let (one, two) = (Redis::start(), Redis::start());
        let home = ConfigHome::new(&format!(
            "default = \"both\"\n\
             [context.one]\nredis = \"{}\"\n[context.two]\nredis = \"{}\"\n\
             [context.gone]\nredis = \"unix:///no/socket\"\n\
             [context.both]\nmembers = [\"one\", \"two\"]\n\
             [context.three]\nmembers = [\"one\", \"gone\", \"two\"]\n",
            one.url(),
            two.url()
        ));
        Two {
            _servers: [one, two],
            home,
        }
    }

    fn qless(&self) -> Qless {
        self.home.qless().at(1000)
    }

    fn on(&self, context: &str) -> Qless {
        self.qless().env("QLESS_CONTEXT", context)
    }

    /// Puts jobs `k1` to `k4`, of which each server gets two.
    fn with_jobs() -> Two {
        let two = Two::new();
        for jid in ["k1", "k2", "k3", "k4"] {
            two.qless()
                .run(&format!("put mail Welcome --jid {jid}"))
                .ok();
        }
        two
    }
}

/// A command for a terminal.
fn typed(two: &Two, line: &str) -> Command {
    let mut command = two.qless().command();
    command.args(line.split(' '));
    command
}

/// The document on stdout of a command that failed.
fn json(run: &RunOutput) -> serde_json::Value {
    serde_json::from_str(&run.stdout()).unwrap()
}

/// The sorted lines of a text.
fn lines(text: &str) -> BTreeSet<&str> {
    text.lines().collect()
}

#[test]
fn what_the_members_have_is_listed_as_one() {
    let two = Two::with_jobs();
    let qless = two.qless();
    qless.session(expect![[r#"
        $ qless queues -o table
        MEMBER  QUEUE  WAITING  RUNNING  STALLED  SCHEDULED  DEPENDS  RECURRING  NEXT WAITS  STATE
        one     mail         2        0        0          0        0          0  0s
        two     mail         2        0        0          0        0          0  0s
        $ qless queues
        one	mail	2	0	0	0	0	0	0s	
        two	mail	2	0	0	0	0	0	0s	
        $ qless length mail
        4
    "#]]);
    let queues = qless.run("queues -o json").json();
    assert_eq!(queues["total"], 2);
    assert_eq!(queues["items"][0]["member"], "one");
    assert_eq!(queues["items"][1]["member"], "two");
    let found = qless.run("queues -o ndjson").ok();
    assert!(found.lines().all(|line| line.starts_with("{\"member\":\"")));
    let jids = qless.run("jobs --queue mail -o jid").ok();
    assert_eq!(lines(&jids), BTreeSet::from(["k1", "k2", "k3", "k4"]));
    qless.session(expect![[r#"
        $ qless jobs --queue mail --columns jid,member --sort jid
        k1	one
        k2	two
        k3	two
        k4	one
    "#]]);
    // Documents without items stay whole.
    let status = qless.run("status -o json").json();
    assert_eq!(status["kind"], "members");
    assert_eq!(status["items"][1]["member"], "two");
    assert_eq!(status["items"][1]["kind"], "status");
}

#[test]
fn contexts_that_are_named_together_are_as_one() {
    let two = Two::with_jobs();
    let both = two.qless().run("queues").ok();
    for line in [
        "queues --context one --context two",
        "queues --context one,two",
    ] {
        assert_eq!(two.qless().run(line).ok(), both);
    }
    assert_eq!(two.on("one,two").run("queues").ok(), both);
    let mut refused = String::new();
    for contexts in [
        "--context one --context nope",
        "--context both --context two",
        "--context one --context one",
    ] {
        let run = two.qless().run(&format!("queues {contexts}"));
        refused.push_str(&format!("{contexts}: {} {}\n", run.code(), run.stderr()));
    }
    expect![[r#"
        --context one --context nope: 4 error: context `nope` does not exist
        hint: did you mean `one`?

        --context both --context two: 2 error: context `both` names several itself
        hint: name its members

        --context one --context one: 2 error: members `one` and `one` of the context have the same jobs

    "#]].assert_eq(&refused);
}

#[test]
fn completion_offers_the_names_of_all_members() {
    let two = Two::new();
    for (context, queue) in [("one", "images"), ("two", "mail"), ("two", "images")] {
        two.on(context).run(&format!("put {queue} K")).ok();
    }
    let cache = two.home.dir().join("cache");
    let qless = two.qless().env("XDG_CACHE_HOME", cache);
    let qless = qless.env("QLESS_COMPLETE_LIVE", "20s");
    let offered = qless
        .args(["__complete", "fish", "qless", "jobs", "--queue", ""])
        .ok();
    let names = offered
        .lines()
        .skip(1)
        .filter_map(|line| line.split('\t').next());
    assert_eq!(names.collect::<Vec<_>>(), ["images", "mail"], "{offered}");
}

#[test]
fn a_member_that_is_away_is_a_row_and_not_a_smaller_total() {
    let two = Two::with_jobs();
    let three = two.on("three");
    three.session(expect![[r#"
        $ qless queues -o table
        MEMBER  QUEUE  WAITING  RUNNING  STALLED  SCHEDULED  DEPENDS  RECURRING  NEXT WAITS  STATE
        one     mail         2        0        0          0        0          0  0s
        two     mail         2        0        0          0        0          0  0s
        gone  cannot open `/no/socket`: no such file or directory
        --- stderr
        error: gone: cannot open `/no/socket`: no such file or directory
        --- exit 3
        $ qless queues
        one	mail	2	0	0	0	0	0	0s	
        two	mail	2	0	0	0	0	0	0s	
        gone	cannot open `/no/socket`: no such file or directory
        --- stderr
        error: gone: cannot open `/no/socket`: no such file or directory
        --- exit 3
        $ qless length mail
        one	2
        two	2
        gone	cannot open `/no/socket`: no such file or directory
        --- stderr
        error: gone: cannot open `/no/socket`: no such file or directory
        --- exit 3
    "#]]);
    let queues = json(&three.run("queues -o json").exits(3));
    assert_eq!(queues["items"].as_array().map(Vec::len), Some(2));
    assert_eq!(queues["away"][0]["member"], "gone");
    assert_eq!(queues["away"][0]["code"], "unreachable");
    let listed = three.run("queues -o ndjson").exits(3).stdout();
    assert!(listed.contains("{\"member\":\"gone\",\"kind\":\"error\""));
    // A job that a member has is found without the one that is away; another one may be there.
    three.session(expect![[r#"
        $ qless get k1 -o jid
        k1
        $ qless get z
        --- stderr
        error: cannot find job `z`: `gone`: cannot open `/no/socket`: no such file or directory
        --- exit 3
        $ qless cancel k1 k2 z --yes -q
        k1
        k2
        --- stderr
        error: cannot find job `z`: `gone`: cannot open `/no/socket`: no such file or directory
        --- exit 3
    "#]]);
    // Nobody answers: that is no partial result.
    let none = two
        .home
        .text()
        .replace("\"one\", \"gone\", \"two\"", "\"gone\"");
    two.home.write(&none);
    three.session(expect![[r#"
        $ qless queues
        --- stderr
        error: gone: cannot open `/no/socket`: no such file or directory
        --- exit 6
    "#]]);
}

#[test]
fn a_job_is_put_where_its_jid_belongs_and_found_where_it_is() {
    let two = Two::with_jobs();
    let qless = two.qless();
    let on_one = two.on("one").run("jobs --queue mail -o jid").ok();
    let on_two = two.on("two").run("jobs --queue mail -o jid").ok();
    assert_eq!((on_one.lines().count(), on_two.lines().count()), (2, 2));
    // The same jid goes to the same member.
    qless.run("put mail Welcome --jid k1").exits(5);
    // A job that is elsewhere is found there.
    two.on("two").run("put mail Welcome --jid moved").ok();
    qless.run("priority moved --to 7").ok();
    qless.run("tag moved --add x").ok();
    let job = qless.run("get moved -o json").json();
    assert_eq!(
        (&job["priority"], &job["tags"][0]),
        (&7.into(), &"x".into())
    );
    two.on("one").run("put mail Welcome --jid moved").ok();
    qless.session(expect![[r#"
        $ qless cancel moved
        --- stderr
        error: `one` and `two` both have a job `moved`
        hint: `--prefix` or `--context` names one of them
        --- exit 5
        $ qless cancel nowhere
        --- stderr
        error: job `nowhere` does not exist
        --- exit 4
    "#]]);
    // Several jobs, also from a list.
    let all = format!("{on_one}\n{on_two}\n");
    let seen = qless.clone().input(&all).run("get - -o jid").ok();
    assert_eq!(lines(&seen), lines(&all));
    qless.run("explain k1 k2").ok();
    // A recurring job has its member, too.
    qless
        .run("recur put mail Nightly --every 1d --jid nightly")
        .ok();
    qless.run("recur pause nightly").ok();
    qless.run("recur get nightly").ok();
}

#[test]
fn jobs_of_one_value_or_one_key_stay_together() {
    let two = Two::new();
    let qless = two.qless();
    for number in 0..12 {
        let data = format!("'{{\"customer\":{{\"id\":{}}}}}'", number % 3);
        let put = format!("put mail Welcome {data} --shard-by customer.id --jid j{number}");
        qless.run(&put).ok();
        qless
            .run(&format!("put lane Step --key k --jid l{number}"))
            .ok();
    }
    for customer in 0..3 {
        let jobs = qless.run(&format!(
            "jobs --queue mail --where customer.id={customer} -o ndjson"
        ));
        let jobs = jobs.ok();
        let members: BTreeSet<&str> = jobs.lines().map(|line| &line[..16]).collect();
        assert_eq!((jobs.lines().count(), members.len()), (4, 1), "{jobs}");
    }
    let lane = qless.run("jobs --queue lane -o ndjson").ok();
    let members: BTreeSet<&str> = lane.lines().map(|line| &line[..16]).collect();
    assert_eq!((lane.lines().count(), members.len()), (12, 1));
    let near = qless.run("jobs --queue lane -o jid --limit 1").ok();
    assert_eq!(near, "l0");
}

#[test]
fn a_dependency_on_another_member_is_refused_with_the_reason() {
    let two = Two::with_jobs();
    let qless = two.qless();
    let on_one = two.on("one").run("jobs --queue mail -o jid").ok();
    let first = on_one.lines().next().unwrap();
    let other = two.on("two").run("jobs --queue mail -o jid").ok();
    let other = other.lines().next().unwrap().to_owned();
    let jid = (0..)
        .map(|number| format!("n{number}"))
        .find(|jid| {
            qless.run(&format!("put side K --jid {jid}")).ok();
            let there = two.on("one").run("jobs -o jid").ok();
            qless.run(&format!("cancel {jid}")).ok();
            there.contains(jid.as_str())
        })
        .unwrap();
    let hidden = qless.clone().hide(&other, "OTHER").hide(&jid, "JID");
    hidden
        .run(&format!("put mail Welcome --jid {jid} --depends {other}"))
        .shows(expect![[r#"
            --- stderr
            error: cannot put `JID`: `OTHER` does not exist
            hint: a job can depend only on jobs of the same member: `--shard-by PATH` puts jobs with one value in their data together, `--prefix` or `--context` names a member
            --- exit 4
        "#]]);
    qless
        .run(&format!("put mail Welcome --jid {jid} --depends {first}"))
        .ok();
    let line =
        format!("{{\"queue\":\"q\",\"klass\":\"K\",\"jid\":\"{jid}x\",\"depends\":[\"a\"]}}\n");
    qless.clone().input(line).session(expect![[r#"
        $ qless put --from - --allow-missing
        --- stderr
        error: `--allow-missing` asks one for its jobs, and the context has 2 members
        hint: name one, such as `--context=one`
        --- exit 2
    "#]]);
}

#[test]
fn bulk_verbs_ask_once_and_change_all_members() {
    let two = Two::with_jobs();
    let asked = keyboard::answer(
        typed(&two, "cancel --queue mail"),
        &[("Proceed? [y/N]", "n\r")],
    );
    let asked = asked.exits(9).stdout();
    for name in ["one", "two"] {
        let plan = format!("{name}: Cancel 2 waiting jobs on {name} (unix://");
        assert!(asked.contains(&plan), "{asked}");
    }
    assert_eq!(asked.matches("Proceed?").count(), 1);
    assert_eq!(two.qless().run("length mail").ok(), "4");
    two.qless().session(expect![[r#"
        $ qless cancel --queue mail --limit 1 --yes
        --- stderr
        error: `--limit` counts the jobs of one, and the context has 2 members
        hint: name one, such as `--context=one`
        --- exit 2
    "#]]);
    two.qless().run("cancel --queue mail --yes -n").exits(0);
    assert_eq!(two.qless().run("length mail").ok(), "4");
    let report = two.home.dir().join("report");
    let report = report.to_str().unwrap();
    two.qless()
        .run(&format!(
            "move --queue mail --to post --yes --report {report}"
        ))
        .ok();
    for name in ["one", "two"] {
        let text = std::fs::read_to_string(format!("{report}.{name}")).unwrap();
        assert_eq!(text.lines().count(), 5, "{text}");
    }
    keyboard::answer(
        typed(&two, "cancel --queue post"),
        &[("Proceed? [y/N]", "y\r")],
    )
    .exits(0);
    assert_eq!(two.qless().run("length post").ok(), "0");
    two.qless().run("put post K --jid k1").ok();
    let last = two.qless().run("cancel --queue post --yes -o ndjson").ok();
    let summaries = last.lines().filter(|line| line.contains("\"summary\""));
    assert!(
        summaries
            .clone()
            .all(|line| line.starts_with("{\"member\":"))
    );
    assert_eq!(summaries.count(), 2);
    two.qless().session(expect![[r#"
        $ qless import x
        --- stderr
        error: an export belongs to one, and the context has 2 members
        hint: name one, such as `--context=one`
        --- exit 2
    "#]]);
}

#[test]
fn the_lines_of_a_file_are_shared_out_after_all_were_checked() {
    let two = Two::new();
    let qless = two.qless();
    let line = |at: u32| format!("{{\"queue\":\"q\",\"klass\":\"K\",\"jid\":\"j{at}\"}}\n");
    let text: String = (0..300).map(line).collect();
    let wrong = format!("{text}{{\"queue\":\"q\"}}\n");
    qless.clone().input(&wrong).session(expect![[r#"
        $ qless put --from -
        --- stderr
        error: stdin, line 301, column 1: it has no `klass`
        hint: add `"klass"` to the line, or give it on the command line: `qless put QUEUE KLASS --from …`
        --- exit 2
    "#]]);
    assert_eq!(qless.run("length q").ok(), "0");
    let journal = two.home.dir().join("journal");
    let put = format!("put --from - --journal {} -o json", journal.display());
    let done = qless.clone().input(&text).run(&put).json();
    assert_eq!(
        (&done["matched"], &done["done"]),
        (&300.into(), &300.into())
    );
    let again = qless.clone().input(&text).run(&put).json();
    assert_eq!(
        (&again["done"], &again["skipped"]),
        (&0.into(), &300.into())
    );
    for name in ["one", "two"] {
        let size: u64 = two.on(name).run("length q").ok().trim().parse().unwrap();
        assert!((100..200).contains(&size), "{size}");
    }
    // A line without a jid has its place, so that a repetition finds it there.
    let fresh: String = (0..50)
        .map(|_| "{\"queue\":\"new\",\"klass\":\"K\"}\n")
        .collect();
    let journal = two.home.dir().join("other");
    let put = format!("put --from - --journal {} -q", journal.display());
    qless.clone().input(&fresh).run(&put).ok();
    qless.clone().input(&fresh).run(&put).ok();
    assert_eq!(qless.run("length new").ok(), "50");
}

#[test]
fn a_line_that_was_not_put_is_told_by_the_exit_code() {
    let two = Two::with_jobs();
    let on_one = two.on("one").run("jobs --queue mail -o jid").ok();
    let first = on_one.lines().next().unwrap();
    // A dependency is only on one of the members, so one of these lines fails.
    let line = |at: u32| {
        format!("{{\"queue\":\"q\",\"klass\":\"K\",\"jid\":\"j{at}\",\"depends\":[\"{first}\"]}}\n")
    };
    let text: String = (0..8).map(line).collect();
    two.qless().input(text).run("put --from - -q").exits(3);
    // Nothing is put before the parts of all members are checked.
    let line = |at: u32| format!("{{\"queue\":\"n\",\"klass\":\"K\",\"jid\":\"n{at}\"}}\n");
    let twice: String = (0..20).chain([3]).map(line).collect();
    two.qless().input(twice).run("put --from - -q").exits(2);
    assert_eq!(two.qless().run("length n").ok(), "0");
}

#[test]
fn several_named_jobs_are_one_question_and_unknown_ones_are_told() {
    let two = Two::with_jobs();
    let qless = two.qless();
    let asked = keyboard::answer(typed(&two, "cancel k1 k2"), &[("Proceed? [y/N]", "n\r")]);
    asked.exits(9);
    assert_eq!(qless.run("length mail").ok(), "4");
    qless.run("cancel k1 k2").exits(9);
    assert_eq!(qless.run("length mail").ok(), "4");
    qless.session(expect![[r#"
        $ qless get k1 nope
        jid	k1
        klass	Welcome
        queue	mail
        state	waiting	waits since 1970-01-01T00:16:40.000Z
        priority	0	higher runs first
        retries	5 of 5 remaining
        tags	–
        tracked	no
        depends on	–
        needed by	–
        data	{}
        --- stderr
        error: two: job `nope` does not exist
        --- exit 4
    "#]]);
    qless.run("recur put r K --every 1d --jid r1").ok();
    qless.session(expect![[r#"
        $ qless recur rm r1 nope --yes
        --- stderr
        error: job `nope` does not exist; nothing was changed
        --- exit 4
    "#]]);
    qless.run("recur get r1").ok();
    // A list without jobs does what it does on one server.
    qless
        .clone()
        .input("")
        .run("cancel - --require-match --yes")
        .exits(4);
    // The order of output without names is that of the jids.
    for (at, jid) in ["k4", "k2", "k1", "k3"].iter().enumerate() {
        qless
            .run(&format!("put mail K {at} --jid {jid} --replace"))
            .ok();
    }
    assert_eq!(qless.run("get --data k4 k2 k1 k3").ok(), "0\n1\n2\n3");
    // stdin is one.
    qless.clone().input("x").session(expect![[r#"
        $ qless bury k1 k2 --group g --message -
        --- stderr
        error: several members cannot read the message from stdin
        hint: name a file: `@FILE`
        --- exit 2
    "#]]);
}

#[test]
fn a_queue_that_one_member_lacks_is_told_and_the_rest_is_changed() {
    let two = Two::new();
    two.on("two").run("put only K").ok();
    let paused = two.qless().run("pause only --yes -q").exits(3);
    assert_eq!(paused.stderr(), "error: one: queue `only` does not exist\n");
    let queue = two.on("two").run("queues only -o json").json();
    assert_eq!(queue["items"][0]["paused"], true);
    two.qless().run("pause nowhere --yes").exits(4);
    // There is nothing to change where the queue or the group is missing.
    two.qless().run("unpause only").ok();
    two.on("two").run("pop only --worker w").ok();
    let jid = two.on("two").run("jobs --queue only -o jid").ok();
    let fail = format!("fail {} --worker w --group g --message m", jid.trim());
    two.on("two").run(&fail).ok();
    two.qless().run("failed --group g --retry-all --yes").ok();
    two.qless()
        .run("failed --group none --retry-all --yes")
        .exits(4);
    two.qless().run("forget queue nowhere --yes").exits(4);
}

/// Of several names, the command does nothing for the others where one is missing.
#[test]
fn a_member_that_lacks_one_of_several_names_is_told() {
    let two = Two::new();
    for (member, queue) in [("one", "a"), ("one", "b"), ("two", "a")] {
        let put = format!("put {queue} K --jid {member}-{queue}");
        two.on(member).run(&put).ok();
        two.on(member).run(&format!("pause {queue}")).ok();
    }
    for line in ["unpause a b", "check --repair --queue a --queue b --yes"] {
        let ran = two.qless().run(line).exits(3);
        let error = "error: two: queue `b` does not exist\n";
        assert!(ran.stderr().ends_with(error), "{line}: {}", ran.stderr());
    }
    for member in ["one", "two"] {
        let bury = format!("bury {member}-a --group g --message m");
        two.on(member).run(&bury).ok();
    }
    two.on("one").run("bury one-b --group h --message m").ok();
    for line in [
        "retry --group g --group h --yes",
        "failed --group g --group h --retry-all --yes",
    ] {
        two.qless().run(&format!("{line} --dry-run")).exits(3);
    }
    two.qless().run("unpause a").ok();
    let queue = two.on("two").run("queues a -o json").json();
    assert_eq!(queue["items"][0]["paused"], false);
}

#[test]
fn a_job_that_exists_elsewhere_is_not_put_a_second_time() {
    let two = Two::with_jobs();
    let elsewhere = two.on("two").run("jobs --queue mail -o jid").ok();
    let jid = elsewhere.lines().next().unwrap();
    two.on("two").run(&format!("cancel {jid}")).ok();
    two.on("one").run(&format!("put mail K --jid {jid}")).ok();
    two.qless()
        .run(&format!("put mail K --jid {jid} --if-absent"))
        .ok();
    two.qless().run(&format!("get {jid} -o jid")).ok();
}

#[test]
fn a_wait_is_decided_by_a_member_that_has_such_jobs() {
    let two = Two::new();
    two.on("two").run("put only K --jid w1").ok();
    let wait = two.qless().start("wait --queue only --any");
    std::thread::sleep(std::time::Duration::from_millis(600));
    two.on("two").run("pop only --worker w").ok();
    two.on("two").run("complete w1 --worker w").ok();
    wait.end().exits(0);
    two.qless().run("wait --queue none --deadline 1s").exits(4);
}

#[test]
fn members_have_files_and_databases_of_their_own() {
    let redis = Redis::start();
    let home = ConfigHome::new(&format!(
        "default = \"all\"\n[context.all]\nredis = \"{0}\"\n\
         prefixes = [\"mail:\", \"{{mail}}:\", \"{{mail-1}}:\", \"a/b:\"]\n\
         [context.x]\nredis = \"{0}\"\n[context.y]\nredis = \"{0}\"\n[context.z]\nmembers = [\"x\", \"y\"]\n",
        redis.url()
    ));
    let file = home.dir().join("e");
    home.run(&format!("export --all --file {}", file.display()))
        .exits(0);
    for name in ["mail", "{mail}", "{mail-1}", "a%2Fb"] {
        assert!(home.dir().join(format!("e.{name}")).exists(), "{name}");
    }
    home.run("--prefix a/b: config set heartbeat 90 --yes").ok();
    home.run(&format!("config dump {}", home.dir().join("d").display()))
        .ok();
    let dumped = |name: &str| std::fs::read_to_string(home.dir().join(name)).unwrap();
    assert_eq!(dumped("d.a%2Fb"), "{\n  \"heartbeat\": \"90\"\n}\n");
    for name in ["mail", "{mail}", "{mail-1}"] {
        assert_eq!(dumped(&format!("d.{name}")), "{}\n", "{name}");
    }
    assert!(!home.dir().join("d").exists());
    home.qless().session(expect![[r#"
        $ qless --context z queues
        --- stderr
        error: members `x` and `y` of the context have the same jobs
        --- exit 2
    "#]]);
}

#[test]
fn a_killed_worker_is_started_again_and_all_end_with_the_first() {
    let two = Two::new();
    let mut qless = two.qless();
    qless = qless.env("QLESS_TIMEOUT", "20s");
    let ran = two.home.dir().join("ran");
    let work = format!(
        "work w --poll 100ms -- sh -c 'echo $QLESS_JID >> {}'",
        ran.display()
    );
    let worker = qless.start(&work);
    let pids = || {
        let workers = qless.run("workers -o ndjson").stdout();
        let pids = workers.lines().filter_map(|line| {
            let line: serde_json::Value = serde_json::from_str(line).ok()?;
            line["pid"].as_i64()
        });
        pids.collect::<BTreeSet<i64>>()
    };
    await_that("two workers run", || pids().len() == 2);
    let before = pids();
    let first = before.first().unwrap().to_string();
    assert!(
        Command::new("kill")
            .args(["-9", &first])
            .status()
            .unwrap()
            .success()
    );
    await_that("another one runs", || !pids().is_subset(&before));
    for jid in ["k1", "k2", "k3", "k4"] {
        qless.run(&format!("put w K --jid {jid}")).ok();
    }
    await_that("all have run", || {
        std::fs::read_to_string(&ran).is_ok_and(|text| lines(&text).len() == 4)
    });
    worker.signal(rustix::process::Signal::TERM);
    let ended = worker.end();
    ended.says("signal 9 ended its worker");
}

#[test]
fn six_prefixes_of_a_cluster_are_one() {
    let mut cluster = Cluster::of(3, 0);
    let prefixes: Vec<String> = (0..6).map(|at| format!("\"{{mail-{at}}}:\"")).collect();
    let home = ConfigHome::new(&format!(
        "default = \"mail\"\n[context.mail]\nredis = \"{}\"\nprefixes = [{}]\n",
        cluster.urls(),
        prefixes.join(", ")
    ));
    let qless = home.qless().env("QLESS_TIMEOUT", "20s");
    let line = |at: u32| format!("{{\"queue\":\"q\",\"klass\":\"K\",\"jid\":\"j{at}\"}}\n");
    let text: String = (0..120).map(line).collect();
    qless.clone().input(&text).run("put --from - -q").ok();
    assert_eq!(qless.run("length q").ok(), "120");
    let queues = qless.run("queues -o json").json();
    assert_eq!(queues["items"].as_array().map(Vec::len), Some(6));
    assert_eq!(queues["items"][5]["prefix"], "{mail-5}:");
    qless
        .run("bury --queue q --group broken --message no --yes -q")
        .ok();
    let failed = qless.run("failed -o json").json();
    assert_eq!(failed["items"].as_array().map(Vec::len), Some(6));
    qless.run("failed --group broken --retry-all --yes -q").ok();
    let popped = qless.run("pop q --count 2 -o jid").ok();
    assert_eq!(popped.lines().count(), 2);
    let jids: Vec<&str> = popped.lines().collect();
    qless.run(&format!("complete {}", jids.join(" "))).ok();
    qless.run("check").exits(0);

    // One worker for each prefix: they end when nothing is left.
    let ran = home.dir().join("ran");
    let work = format!(
        "work q --drain -- sh -c 'echo $QLESS_JID >> {}'",
        ran.display()
    );
    qless.run(&work).ok();
    let done = std::fs::read_to_string(&ran).unwrap();
    assert_eq!(lines(&done).len(), 118);
    assert_eq!(qless.run("length q").ok(), "0");
    let worker = qless.start("work q -- true");
    await_that("all workers are there", || {
        let workers = qless.run("workers -o ndjson").ok();
        workers
            .lines()
            .filter(|line| line.contains("\"slots\":1"))
            .count()
            >= 6
    });
    worker.signal(rustix::process::Signal::TERM);
    worker.end().exits(0);

    // A cluster serves the other slots without a node only if it is told to.
    for member in &cluster.members {
        member.send::<()>(&["CONFIG", "SET", "cluster-require-full-coverage", "no"]);
    }
    // Without one of the nodes its prefixes are rows, and the rest goes on.
    let lost = cluster.owner("{mail-0}:");
    let prefixes = (0..6).map(|at| format!("{{mail-{at}}}:"));
    let away: Vec<String> = prefixes
        .filter(|prefix| cluster.owner(prefix) == lost)
        .collect();
    cluster.members[lost].kill();
    let quick = qless.env("QLESS_TIMEOUT", "2s");
    let queues = json(&quick.run("queues -o json").exits(3));
    let told = queues["away"].as_array().unwrap();
    let told: Vec<&str> = told
        .iter()
        .filter_map(|one| one["prefix"].as_str())
        .collect();
    assert_eq!(told, away);
    let rest = queues["items"].as_array().map(Vec::len);
    assert_eq!(rest, Some(6 - away.len()));
    let checked = quick.run("check").exits(3);
    checked.says("{mail-0}: ");
    quick.run("put q K --jid again").ok();
}
