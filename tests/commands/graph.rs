//! `qless graph`

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Stdio};

use expect_test::expect;
use proptest::prelude::*;
use qless::internals::{Name, width};

use super::jobs::busy;
use crate::support::config::ConfigHome;
use crate::support::jobs::{put_call, put_chain};
use crate::support::random;
use crate::support::redis::Redis;
use crate::support::terminal;
use crate::support::text::{Shows, words};

const DEPLOY: &str = "c41d77aa0e3b4f6c9d1f2a5b8c7e6d50";
const TEST: &str = "77be2d0c4a1f4e0f9f0d3b6a5c8e7f10";
/// `Deploy` depends on `Test`, which failed, and on `Docs`, which runs. `announce` depends on `Deploy`, `archive`
/// on both.
fn release() -> Redis {
    let redis = Redis::start();
    redis.session(expect![[r#"
        1000 $ qless put test Test --jid 77be2d0c4a1f4e0f9f0d3b6a5c8e7f10 &>/dev/null
        1000 $ qless put docs Docs --jid 5510a4d2b8c34e6f8a9b0c1d2e3f4a5b &>/dev/null
        1001 $ qless put deploy Deploy --jid c41d77aa0e3b4f6c9d1f2a5b8c7e6d50 --depends 77be2d0c4a1f4e0f9f0d3b6a5c8e7f10 --depends 5510a4d2b8c34e6f8a9b0c1d2e3f4a5b &>/dev/null
        1002 $ qless put mail Announce --jid announce --depends c41d77aa0e3b4f6c9d1f2a5b8c7e6d50 &>/dev/null
        1003 $ qless put mail Archive --jid archive --depends announce --depends c41d77aa0e3b4f6c9d1f2a5b8c7e6d50 &>/dev/null
        1010 $ qless pop test --worker t-1 &>/dev/null
        1940 $ qless fail 77be2d0c4a1f4e0f9f0d3b6a5c8e7f10 --group 'upload error' --message 'cannot open' --as-holder
        12700 $ qless pop docs --worker d-1-77 &>/dev/null
    "#]]);
    redis
}

/// `a`, `b` and `c` depend on each other, `c` also on a job that does not exist, and `b` on one that does not
/// list it.
fn damaged() -> Redis {
    let redis = Redis::start();
    for line in [
        "put ci K --jid other",
        "put ci K --jid base",
        "put ci K --jid a --depends base",
        "put ci K --jid b --depends base",
        "put ci K --jid c --depends a",
    ] {
        redis.ok(1000, line);
    }
    for (dependent, dependency) in [("a", "b"), ("b", "c"), ("c", "gone")] {
        let key = format!("ql:j:{dependent}-dependencies");
        redis.send(&["SADD", &key, dependency]);
        let key = format!("ql:j:{dependency}-dependents");
        redis.send(&["SADD", &key, dependent]);
    }
    redis.send(&["SADD", "ql:j:b-dependencies", "other"]);
    redis
}

#[test]
fn a_tree_shows_what_blocks_a_job_and_what_needs_it() {
    release().session(expect![[r#"
        12741 $ qless graph c41d77aa0e3b4f6c9d1f2a5b8c7e6d50 --up -o table
        c41d77aa…     Deploy  deploy  depends
        ├─ 5510a4d2…  Docs    docs    running 41s on d-1-77
        └─ 77be2d0c…  Test    test    failed 3h ago: upload error  ◄ blocks
        12741 $ qless graph c41d77aa0e3b4f6c9d1f2a5b8c7e6d50 --depth 1 --as tree
        c41d77aa…      Deploy    deploy  depends
        depends on
        ├─ 5510a4d2…   Docs      docs    running 41s on d-1-77
        └─ 77be2d0c…   Test      test    failed 3h ago: upload error  ◄ blocks
        needed by
        ├─ announce    Announce  mail    depends
        │  └─ archive  Archive   mail    depends
        └─ archive     Archive   mail    depends                      (above)
        12741 $ qless graph c41d77aa0e3b4f6c9d1f2a5b8c7e6d50 --down --full -o table
        c41d77aa0e3b4f6c9d1f2a5b8c7e6d50  Deploy    deploy  depends
        needed by
        ├─ announce                       Announce  mail    depends
        │  └─ archive                     Archive   mail    depends
        └─ archive                        Archive   mail    depends  (above)
        12741 $ qless graph archive --depth 0 -o table
        archive      Archive  mail  depends
        └─ … 2 more
        --- stderr
        note: the graph is cut: it shows 1 job without 2 of their edges; `--depth N` shows more
    "#]]);
}

#[test]
fn several_jobs_and_a_queue_are_a_forest_with_each_job_once() {
    // No index has the failed jobs of a queue.
    release().session(expect![[r#"
        1100 $ qless put other Alone --jid alone &>/dev/null
        12741 $ qless graph archive announce alone -o table
        archive             Archive   mail    depends
        ├─ announce         Announce  mail    depends
        │  └─ c41d77aa…     Deploy    deploy  depends
        │     ├─ 5510a4d2…  Docs      docs    running 41s on d-1-77
        │     └─ 77be2d0c…  Test      test    failed 3h ago: upload error  ◄ blocks
        └─ c41d77aa…        Deploy    deploy  depends                      (above)
        alone               Alone     other   waiting 3h 14m
        12741 $ qless graph 77be2d0c4a1f4e0f9f0d3b6a5c8e7f10 5510a4d2b8c34e6f8a9b0c1d2e3f4a5b --down -o table
        77be2d0c…         Test      test    failed 3h ago: upload error  ◄ blocks
        needed by
        └─ c41d77aa…      Deploy    deploy  depends
           ├─ announce    Announce  mail    depends
           │  └─ archive  Archive   mail    depends
           └─ archive     Archive   mail    depends                      (above)
        5510a4d2…         Docs      docs    running 41s on d-1-77
        needed by
        └─ c41d77aa…      Deploy    deploy  depends                      (above)
        12741 $ qless graph --queue mail --up -o table
        archive             Archive   mail    depends
        ├─ announce         Announce  mail    depends
        │  └─ c41d77aa…     Deploy    deploy  depends
        │     ├─ 5510a4d2…  Docs      docs    running 41s on d-1-77
        │     └─ 77be2d0c…  Test      test    failed 3h ago: upload error  ◄ blocks
        └─ c41d77aa…        Deploy    deploy  depends                      (above)
        12741 $ qless graph --queue test --down --depth 1 -o table
        77be2d0c…       Test    test    failed 3h ago: upload error  ◄ blocks
        needed by
        └─ c41d77aa…    Deploy  deploy  depends
           └─ … 2 more
        --- stderr
        note: the graph is cut: it shows 2 jobs without 2 of their edges; `--depth N` shows more
    "#]]);
}

#[test]
fn two_jids_that_would_look_alike_are_printed_in_full() {
    let redis = Redis::start();
    redis.session(expect![[r#"
        1 $ qless put q K --jid nightly-report-1 &>/dev/null
        1 $ qless graph --queue q
    "#]]);
    let shown = redis.on_terminal(1, "graph --queue q");
    shown.shows(expect![[r#"
        no job of `q` depends on another one or is needed by one
    "#]]);
    redis.session(expect![[r#"
        1 $ qless put q K --jid nightly-report-2 --depends nightly-report-1 &>/dev/null
        2 $ qless graph nightly-report-2 -o table
        nightly-report-2     K  q  depends
        └─ nightly-report-1  K  q  waiting 1s
    "#]]);
}

#[test]
fn cycles_missing_and_one_sided_dependencies_are_marked() {
    let redis = damaged();
    redis.session(expect![[r#"
        1010 $ qless graph a --up -o table
        a              K  ci  depends
        ├─ b           K  ci  depends
        │  ├─ base     K  ci  waiting 10s
        │  ├─ c        K  ci  depends
        │  │  ├─ a     K  ci  depends      (cycle!)
        │  │  └─ gone  –  –   (missing!)   ◄ blocks
        │  └─ other    K  ci  waiting      (one-sided!)
        └─ base        K  ci  waiting      (above)
        1010 $ qless graph a --up
        a	b	K	ci	depends		
        a	base	K	ci	waiting	waits since 1970-01-01T00:16:40.000Z	
        b	base	K	ci	waiting	waits since 1970-01-01T00:16:40.000Z	
        b	c	K	ci	depends		
        b	other	K	ci	waiting	waits since 1970-01-01T00:16:40.000Z	one-sided
        c	a	K	ci	depends		cycle
        c	gone	–	–	missing		blocks
        1010 $ qless graph a --up -o jid
        a
        b
        base
        c
        other
    "#]]);
    let doc = redis.json(1010, "graph a --up -o json");
    let marked = |field: &str| {
        let edges = doc["edges"].as_array().unwrap().iter();
        let edges = edges.filter(|edge| edge[field] == true);
        let ends = edges.map(|edge| format!("{} {}", edge["from"], edge["to"]));
        ends.collect::<Vec<String>>()
    };
    assert_eq!(marked("closes_cycle"), [r#""c" "a""#]);
    assert_eq!(marked("one_sided"), [r#""b" "other""#]);
    // All jobs of this queue are on the cycle or below it.
    assert_eq!(
        redis.ok(1010, "graph --queue ci --up -o table"),
        redis.ok(1010, "graph a --up -o table")
    );
}

#[test]
fn each_state_has_its_sentence() {
    let redis = busy();
    redis.ok(50, "put later K --jid soon --delay 10m");
    for line in [
        "put late K --jid lost",
        "pop late --worker gone-1",
        "put last K --jid last --depends lost --depends soon --depends runs",
    ] {
        redis.ok(60, line);
    }
    redis.session(expect![[r#"
        200 $ qless graph last --up -o table
        last     K             last   depends
        ├─ lost  K             late   stalled: the lock of gone-1 expired 1m 20s ago
        ├─ runs  Mail::Digest  mail   stalled: the lock of mx-1 expired 1m 21s ago
        └─ soon  K             later  scheduled in 7m 30s
    "#]]);
}

#[test]
fn in_a_pipe_each_edge_is_a_line() {
    let redis = release();
    redis.session(expect![[r#"
        12741 $ qless graph c41d77aa0e3b4f6c9d1f2a5b8c7e6d50
        –	archive	Archive	mail	depends		
        c41d77aa0e3b4f6c9d1f2a5b8c7e6d50	5510a4d2b8c34e6f8a9b0c1d2e3f4a5b	Docs	docs	running	d-1-77, lock until 1970-01-01T03:32:40.000Z	
        c41d77aa0e3b4f6c9d1f2a5b8c7e6d50	77be2d0c4a1f4e0f9f0d3b6a5c8e7f10	Test	test	failed	upload error: cannot open	blocks
        announce	c41d77aa0e3b4f6c9d1f2a5b8c7e6d50	Deploy	deploy	depends		
        archive	c41d77aa0e3b4f6c9d1f2a5b8c7e6d50	Deploy	deploy	depends		
        archive	announce	Announce	mail	depends		
        12741 $ qless graph 77be2d0c4a1f4e0f9f0d3b6a5c8e7f10 --up --headers always
        DEPENDENT	JID	KLASS	QUEUE	STATE	DETAIL	MARK
        –	77be2d0c4a1f4e0f9f0d3b6a5c8e7f10	Test	test	failed	upload error: cannot open	
    "#]]);
}

#[test]
fn the_document_lists_nodes_and_edges() {
    let redis = release();
    redis.session(expect![[r#"
        12741 $ qless graph c41d77aa0e3b4f6c9d1f2a5b8c7e6d50 --up -o json
        {
          "kind": "graph",
          "v": 1,
          "complete": true,
          "omitted_edges": 0,
          "omitted_jobs": 0,
          "nodes": [
            {
              "jid": "c41d77aa0e3b4f6c9d1f2a5b8c7e6d50",
              "klass": "Deploy",
              "queue": "deploy",
              "state": "depends",
              "worker": null,
              "expires": null,
              "failure": null,
              "scheduled_for": null,
              "since": "1970-01-01T00:16:41.000Z",
              "asked": true,
              "blocks": false,
              "omitted_dependencies": 0,
              "omitted_dependents": 0
            },
            {
              "jid": "5510a4d2b8c34e6f8a9b0c1d2e3f4a5b",
              "klass": "Docs",
              "queue": "docs",
              "state": "running",
              "worker": "d-1-77",
              "expires": "1970-01-01T03:32:40.000Z",
              "failure": null,
              "scheduled_for": null,
              "since": "1970-01-01T03:31:40.000Z",
              "asked": false,
              "blocks": false,
              "omitted_dependencies": 0,
              "omitted_dependents": 0
            },
            {
              "jid": "77be2d0c4a1f4e0f9f0d3b6a5c8e7f10",
              "klass": "Test",
              "queue": "test",
              "state": "failed",
              "worker": null,
              "expires": null,
              "failure": {
                "group": "upload error",
                "message": "cannot open",
                "worker": "t-1",
                "when": "1970-01-01T00:32:20.000Z"
              },
              "scheduled_for": null,
              "since": "1970-01-01T00:32:20.000Z",
              "asked": false,
              "blocks": true,
              "omitted_dependencies": 0,
              "omitted_dependents": 0
            }
          ],
          "edges": [
            {
              "from": "c41d77aa0e3b4f6c9d1f2a5b8c7e6d50",
              "to": "5510a4d2b8c34e6f8a9b0c1d2e3f4a5b",
              "one_sided": false,
              "closes_cycle": false
            },
            {
              "from": "c41d77aa0e3b4f6c9d1f2a5b8c7e6d50",
              "to": "77be2d0c4a1f4e0f9f0d3b6a5c8e7f10",
              "one_sided": false,
              "closes_cycle": false
            }
          ]
        }
        12741 $ qless graph c41d77aa0e3b4f6c9d1f2a5b8c7e6d50 -o jid
        c41d77aa0e3b4f6c9d1f2a5b8c7e6d50
        5510a4d2b8c34e6f8a9b0c1d2e3f4a5b
        77be2d0c4a1f4e0f9f0d3b6a5c8e7f10
        announce
        archive
    "#]]);
    let ndjson = redis.ok(12_741, &format!("graph {DEPLOY} -o ndjson"));
    assert_eq!(ndjson.lines().count(), 1);
}

#[test]
fn unknown_names_are_not_found() {
    let redis = release();
    redis.session(expect![[r#"
        12741 $ qless graph nope
        --- stderr
        error: job `nope` does not exist
        --- exit 4
        12741 $ qless graph nope archive --depth 0
        –	nope	–	–	missing		
        –	archive	Archive	mail	depends		
        --- stderr
        note: the graph is cut: it shows 2 jobs without 2 of their edges; `--depth N` shows more
        error: job `nope` does not exist
        --- exit 4
        12741 $ qless graph --queue mial
        --- stderr
        error: queue `mial` does not exist
        hint: did you mean `mail`?
        --- exit 4
    "#]]);
    redis.send(&["DEL", &format!("ql:j:{TEST}")]);
    redis.session(expect![[r#"
        12741 $ qless graph 77be2d0c4a1f4e0f9f0d3b6a5c8e7f10
        --- stderr
        error: job `77be2d0c4a1f4e0f9f0d3b6a5c8e7f10` does not exist
        hint: traces are left: a history of 4 entries; these depend on it: `c41d77aa0e3b4f6c9d1f2a5b8c7e6d50`
        --- exit 4
    "#]]);
}

#[test]
fn what_is_left_out_is_counted() {
    let redis = Redis::start();
    redis.ok(1, "put q Hub --jid hub");
    for at in 0..6 {
        redis.ok(1, &format!("put q Leaf --jid leaf{at} --depends hub"));
    }
    redis.session(expect![[r#"
        2 $ qless graph hub --limit 3 -o table
        hub          Hub   q  waiting 1s
        needed by
        ├─ leaf0     Leaf  q  depends
        ├─ leaf1     Leaf  q  depends
        └─ … 4 more
        --- stderr
        note: the graph is cut: it shows 3 jobs without 4 of their edges; `--limit N` shows more
        2 $ qless graph leaf0 hub --depth 0 -o table
        leaf0   Leaf  q  depends
        └─ hub  Hub   q  waiting 1s
        --- stderr
        note: the graph is cut: it shows 2 jobs without 5 of their edges; `--depth N` shows more
        2 $ qless graph hub --limit 3 -q -o json | jq -c '[.complete, .omitted_edges, .nodes[0].omitted_dependents]'
        [false,4,4]
        2 $ qless graph --queue q --limit 4
        –	leaf0	Leaf	q	depends		
        –	leaf1	Leaf	q	depends		
        leaf0	hub	Hub	q	waiting	waits since 1970-01-01T00:00:01.000Z	
        leaf1	hub	Hub	q	waiting	waits since 1970-01-01T00:00:01.000Z	
        --- stderr
        note: the graph is cut: it shows 3 jobs; 4 further jobs were not read; `--limit N` shows more
        2 $ qless graph hub --limit 0
        --- stderr
        error: `--limit` expects a whole number between 1 and 10000, not `0`
        --- exit 2
        2 $ qless put alone K &>/dev/null
    "#]]);
    // Failure groups that are not read are counted, too.
    let add = "for i = 1, 103 do redis.call('sadd', 'ql:failures', 'g' .. i)
               redis.call('rpush', 'ql:f:g' .. i, 'j' .. i) end";
    redis.send(&["EVAL", add, "0"]);
    redis.session(expect![[r#"
        2 $ qless graph --queue alone
        --- stderr
        note: the graph is cut: it shows 0 jobs; 3 further jobs were not read; `--limit N` shows more
    "#]]);
}

/// The jobs of each level depend on all jobs of the next one.
fn layers(redis: &Redis, levels: usize, jobs: usize) {
    let names = |level: usize| (0..jobs).map(move |at| format!("j{level}-{at}"));
    redis.calls((0..levels).flat_map(|level| {
        let below: Vec<String> = match level {
            0 => Vec::new(),
            level => names(level - 1).collect(),
        };
        names(level).map(move |jid| put_call(&jid, &below))
    }));
}

#[test]
fn a_graph_of_100_000_edges_is_cut_after_few_calls() {
    let redis = Redis::start();
    layers(&redis, 11, 100);
    redis.ok(2, "length q");
    let before = redis.scripts_run();
    let some = redis.ok(2, "graph j10-0 --limit 300 -o jid");
    assert_eq!(some.lines().count(), 300);
    assert!(redis.scripts_run() - before <= 12);
    let all = redis.json(2, "graph j10-0 -o json");
    assert_eq!(all["nodes"].as_array().unwrap().len(), 1001);
    assert_eq!(all["edges"].as_array().unwrap().len(), 4000);
    assert_eq!(all["complete"], false);
    // 100 and 9 times 10,000 edges.
    assert_eq!(all["omitted_edges"], 90_100 - 4000);
}

#[test]
fn a_job_with_100_000_dependents_is_cut() {
    let redis = Redis::start();
    redis.ok(1, "put q Hub --jid hub");
    let add = "for i = 1, 100000 do redis.call('sadd', KEYS[1], 'leaf' .. i) end";
    redis.send(&["EVAL", add, "1", "ql:j:hub-dependents"]);
    let before = redis.scripts_run();
    let ran = redis.at(2).run("graph hub -o json");
    assert!(redis.scripts_run() - before <= 8);
    let doc = ran.json();
    assert_eq!(doc["nodes"].as_array().unwrap().len(), 2000);
    assert_eq!(doc["omitted_edges"], 100_000 - 1999);
    assert_eq!(
        ran.stderr(),
        "note: the graph is cut: it shows 2,000 jobs without 98,001 of their edges; \
         `--limit N` shows more\n"
    );
}

/// A lane is a chain: each of its jobs depends on the one before it.
#[test]
fn a_deep_tree_fits_a_narrow_terminal() {
    let redis = Redis::start();
    put_chain(&redis, 1500);
    let mut command = redis.at(2).command();
    command
        .args(words("graph j1499 --up --limit 5000"))
        .env("TERM", "xterm")
        .env("PAGER", "cat")
        .env("NO_COLOR", "1");
    let text = terminal::run(command, 40).stdout();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.iter().all(|line| width(line) <= 40), "{text}");
    lines[..4].join("\n").shows(expect![[r#"
        j1499        K  q  depends
        └─ j1498     K  q  depends
        2  └─ j1497  K  q  depends
        3  └─ j1496  K  q  depends"#]]);
    expect!["1499└─ j0    K  q  waiting 1s"].assert_eq(lines[1499]);
}

#[test]
fn graphviz_and_mermaid_get_their_input() {
    let redis = release();
    let up = |form: &str| format!("graph {DEPLOY} --up --as {form}");
    redis.at(12_741).run(&up("dot")).shows(expect![[r##"
        // An arrow leads from a job to a job that it depends on.
        digraph jobs {
          rankdir=LR
          ranksep=0.6
          graph [fontname="Helvetica", fontsize=10, labelloc=b, labeljust=l]
          node [fontname="Helvetica", fontsize=11, shape=box, style="rounded,filled", color="#444444", fillcolor="#ffffff", margin="0.15,0.08"]
          edge [fontname="Helvetica", fontsize=10, color="#444444", arrowsize=0.8]
          label="As of 1970-01-01 03:32:21 UTC. An arrow leads from a job to a job that it depends on.\l"
          "c41d77aa0e3b4f6c9d1f2a5b8c7e6d50" [label="Deploy\lin deploy\lc41d77aa…\ldepends\l", fillcolor="#dff3f5", peripheries=2]
          "5510a4d2b8c34e6f8a9b0c1d2e3f4a5b" [label="Docs\lin docs\l5510a4d2…\lrunning 41s on d-1-77\l", fillcolor="#d3efd3", penwidth=2]
          "77be2d0c4a1f4e0f9f0d3b6a5c8e7f10" [label="Test\lin test\l77be2d0c…\lfailed 3h ago: upload error\l", style=filled, fillcolor="#fbd5d0", color="#b3261e", penwidth=3]
          "c41d77aa0e3b4f6c9d1f2a5b8c7e6d50" -> "5510a4d2b8c34e6f8a9b0c1d2e3f4a5b"
          "c41d77aa0e3b4f6c9d1f2a5b8c7e6d50" -> "77be2d0c4a1f4e0f9f0d3b6a5c8e7f10"
        }
    "##]]);
    redis.at(12_741).run(&up("mermaid")).shows(expect![[r#"
        %% An arrow leads from a job to a job that it depends on.
        flowchart LR
          n0[["Deploy<br/>in deploy<br/>c41d77aa#8230;<br/>depends"]]:::depends
          n1["Docs<br/>in docs<br/>5510a4d2#8230;<br/>running 41s on d#45;1#45;77"]:::running
          n2["Test<br/>in test<br/>77be2d0c#8230;<br/>failed 3h ago#58; upload error"]:::failed
          n0 --> n1
          n0 --> n2
          classDef running fill:#d3efd3,stroke:#444444,stroke-width:2px,color:#000000
          classDef waiting fill:#ffffff,stroke:#444444,color:#000000
          classDef scheduled fill:#dbe8fb,stroke:#444444,color:#000000
          classDef depends fill:#dff3f5,stroke:#444444,color:#000000
          classDef stalled fill:#fff0c2,stroke:#444444,color:#000000
          classDef throttled fill:#fff0c2,stroke:#444444,color:#000000
          classDef failed fill:#fbd5d0,stroke:#b3261e,stroke-width:3px,color:#000000
          classDef complete fill:#eeeeee,stroke:#999999,color:#555555
          classDef missing fill:#ffffff,stroke:#b3261e,stroke-width:3px,stroke-dasharray:5 5,color:#000000
          classDef unknown fill:#ffffff,stroke:#444444,color:#000000
    "#]]);
    // A typed format contradicts; one from the environment gives way.
    redis
        .at(12_741)
        .run(&format!("{} -o json", up("dot")))
        .shows(expect![[r#"
            --- stderr
            {"kind":"error","v":1,"code":"usage","exit":2,"message":"`--as dot` is a drawing, and `-o` asks for a document","hint":"leave out `-o`, or `--as dot`","jid":null}
            --- exit 2
        "#]]);
    let set = redis.at(12_741).env("QLESS_OUTPUT", "json");
    assert!(set.run(&up("dot")).ok().starts_with("// An arrow"));
    assert!(set.run(&up("tree")).ok().starts_with("c41d77aa…"));
    let iso = redis
        .at(12_741)
        .run(&format!("{} --time-format iso", up("tree")));
    assert!(
        iso.ok()
            .contains("failed 1970-01-01T00:32:20.000Z: upload error")
    );
}

#[test]
fn damage_is_drawn() {
    let redis = damaged();
    let edges = |form: &str, parts: &[&str]| {
        let text = redis.ok(1010, &format!("graph a --up --as {form}"));
        let is_edge = |line: &&str| parts.iter().any(|part| line.contains(part));
        let edges = text.lines().filter(is_edge).map(str::trim_start);
        edges.collect::<Vec<&str>>().join("\n") + "\n"
    };
    edges("dot", &[" -> "]).shows(expect![[r##"
        "a" -> "b"
        "a" -> "base"
        "b" -> "base"
        "b" -> "c"
        "b" -> "other" [label="one-sided", color="#b3261e", fontcolor="#b3261e", style=dashed]
        "c" -> "a" [label="cycle", color="#b3261e", fontcolor="#b3261e", penwidth=2]
        "c" -> "gone"
    "##]]);
    edges("mermaid", &[".->", "cycle"]).shows(expect![[r#"
        n1 -.->|one sided| n4
        n3 -->|cycle| n0
    "#]]);
}

#[test]
fn a_picture_that_mermaid_would_not_draw_is_noted() {
    let redis = Redis::start();
    layers(&redis, 2, 23);
    let ran = redis.at(2).run("graph --queue q --as mermaid");
    ran.stderr().shows(expect![[r#"
        note: by default, Mermaid draws up to 500 edges and 50,000 characters: draw less with `--limit N` or `--depth N`, or set `maxEdges` and `maxTextSize` in Mermaid
    "#]]);
}

/// Texts of names that mean something to Graphviz, Mermaid, HTML, Markdown or SVG.
const WORDS: [&str; 28] = [
    "end",
    "graph",
    "subgraph",
    "style",
    ":#",
    "\"",
    "\\",
    "\\N",
    "\\l",
    "&lt;",
    "&amp",
    "<b>",
    "<br/>",
    "]",
    "\"]",
    "#35;",
    "#quot;",
    "`",
    "%%",
    "{",
    "}",
    "ﬂ°°35¶ß",
    "1. ",
    "- ",
    "**",
    "http://x.y",
    ";",
    "\u{ffff}",
];

/// A name that takes up to 44 columns when it is printed.
fn hostile_name() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        proptest::sample::select(&WORDS[..]).prop_map(str::to_owned),
        "\\PC{1,2}",
        "[\u{1}-\u{a0}\u{200b}-\u{2030}]",
    ];
    let name = proptest::collection::vec(part, 1..4).prop_map(|parts| parts.concat());
    name.prop_filter("a name is as wide as a box", |name| {
        width(&Name::from(name.as_str()).to_string()) <= 44
    })
}

/// Class, queue and jid of jobs.
fn hostile_jobs() -> impl Strategy<Value = Vec<[String; 3]>> {
    let job = [hostile_name(), hostile_name(), hostile_name()];
    proptest::collection::vec(job, 1..12)
}

/// Puts the jobs, and `root`, which depends on all. Returns the lines in the box of each job, without its state.
fn put_hostile(redis: &Redis, jobs: &[[String; 3]]) -> Vec<Vec<String>> {
    redis.send(&["FLUSHALL"]);
    let jobs: BTreeMap<&str, &[String; 3]> =
        jobs.iter().map(|job| (job[2].as_str(), job)).collect();
    let jids = serde_json::to_string(&jobs.keys().collect::<Vec<_>>()).unwrap();
    let root = ["K", "q", "root"].map(str::to_owned);
    let put = |[klass, queue, jid]: &[String; 3], on: &str| {
        let words = ["put", "me", queue, jid, klass, "{}", "0", "depends", on];
        (1.0, words.map(str::to_owned).to_vec())
    };
    let dependencies = jobs.values().map(|job| put(job, "[]"));
    redis.calls(dependencies.chain([put(&root, &jids)]));
    let all = jobs.values().copied().chain([&root]);
    let boxes = all.map(|[klass, queue, jid]| {
        let text = |name: &String| Name::from(name.as_str()).to_string();
        vec![text(klass), format!("in {}", text(queue)), text(jid)]
    });
    boxes.collect()
}

/// Runs `dot` on a text. `None` if it is not installed.
fn graphviz(text: &[u8]) -> Option<String> {
    let mut command = Command::new("dot");
    command
        .arg("-Tsvg")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let Ok(mut child) = command.stderr(Stdio::piped()).spawn() else {
        eprintln!("skipped: Graphviz is not installed, so `dot` cannot open what is written");
        return None;
    };
    child.stdin.take().unwrap().write_all(text).unwrap();
    let ran = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(
        ran.status.success(),
        "{said}\n{}",
        String::from_utf8_lossy(text)
    );
    assert!(
        !said.contains("syntax") && !said.contains("UTF-8"),
        "{said}"
    );
    Some(String::from_utf8(ran.stdout).expect("an SVG is UTF-8"))
}

/// The texts of an SVG, decoded.
fn svg_texts(svg: &str) -> Vec<String> {
    let texts = svg.split("<text").skip(1).map(|text| {
        let text = &text[text.find('>').unwrap() + 1..text.find("</text>").unwrap()];
        let mut decoded = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('&') {
            decoded.push_str(&rest[..at]);
            let (entity, after) = rest[at + 1..].split_once(';').unwrap();
            decoded.push(match entity {
                "lt" => '<',
                "gt" => '>',
                "amp" => '&',
                "quot" => '"',
                number => {
                    let number = number.strip_prefix('#').unwrap();
                    char::from_u32(number.parse().unwrap()).unwrap()
                }
            });
            rest = after;
        }
        decoded + rest
    });
    texts.collect()
}

/// Blanks of any kind as one kind, and the two characters that no SVG contains as their escapes.
fn as_in_svg(text: &str) -> String {
    let text = text.replace('\u{a0}', " ");
    text.replace('\u{fffe}', "\\u{fffe}")
        .replace('\u{ffff}', "\\u{ffff}")
}

#[test]
fn graphviz_prints_hostile_names_as_they_are() {
    if graphviz(b"digraph {}").is_none() {
        return;
    }
    let redis = Redis::start();
    random::property(random::more_in_soak(24), hostile_jobs(), |jobs| {
        let boxes = put_hostile(&redis, &jobs);
        let dot = redis.ok(5, "graph root --full --as dot");
        let svg = graphviz(dot.as_bytes()).expect("it was there");
        let texts = svg_texts(&svg).into_iter().map(|text| as_in_svg(&text));
        let texts: Vec<String> = texts.collect();
        for line in boxes.iter().flatten() {
            let line = as_in_svg(line);
            prop_assert!(texts.contains(&line), "{line:?} is not in {texts:?}\n{dot}");
        }
        // The fourth line of a box is the state; the caption is one more text.
        prop_assert_eq!(texts.len(), 4 * boxes.len() + 1, "{}", dot);
        prop_assert_eq!(svg.matches("class=\"node\"").count(), boxes.len());
        prop_assert_eq!(svg.matches("class=\"edge\"").count(), boxes.len() - 1);
        Ok(())
    });
}

#[test]
fn bytes_that_are_not_text_are_escaped_in_pictures() {
    let redis = Redis::start();
    let run = |words: &[&[u8]]| {
        let words = words.iter().map(|word| OsStr::from_bytes(word));
        redis.at(5).args(words).ok()
    };
    let jid = b"j\xfe\"\\".as_slice();
    run(&[
        b"api", b"put", b"me", b"q\xff", jid, b"K\n\x1b", b"{}", b"0",
    ]);
    let draw = |form: &[u8]| {
        let text = run(&[b"graph", b"--as", form, b"--", jid]);
        let mut lines = text.lines();
        let line = lines.find(|line| line.contains("waiting"));
        line.unwrap().to_owned()
    };
    expect![[
        r#"  "j\xfe\"\\" [label="K\\n\\x1b\lin q\\xff\lj\\xfe\"\\\lwaiting 0s\l", peripheries=2]"#
    ]]
    .assert_eq(&draw(b"dot"));
    expect![[
        r#"  n0[["K#92;n#92;x1b<br/>in q#92;xff<br/>j#92;xfe#34;#92;<br/>waiting 0s"]]:::waiting"#
    ]]
    .assert_eq(&draw(b"mermaid"));
}

/// A flowchart of the subset of Mermaid that is written: the lines of each box, and the number of edges. Fails
/// on anything else.
fn parse_mermaid(text: &str) -> (Vec<Vec<String>>, usize) {
    let mut lines = text.lines().skip_while(|line| line.starts_with("%% "));
    assert_eq!(lines.next(), Some("flowchart LR"));
    let number = |id: &str| -> usize { id.strip_prefix('n').unwrap().parse().unwrap() };
    let (mut boxes, mut edges, mut classes) = (Vec::new(), 0, Vec::new());
    let mut used = Vec::new();
    for line in lines {
        let line = line.strip_prefix("  ").unwrap();
        if let Some(class) = line.strip_prefix("classDef ") {
            let (class, style) = class.split_once(' ').unwrap();
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "#:,- ".contains(c);
            assert!(style.chars().all(is_plain), "{line}");
            classes.push(class.to_owned());
        } else if let Some((id, label)) = line.split_once('"') {
            let (label, class) = label.split_once('"').unwrap();
            let (id, class) = match id.strip_suffix("[[") {
                Some(id) => (id, class.strip_prefix("]]:::").unwrap()),
                None => (
                    id.strip_suffix('[').unwrap(),
                    class.strip_prefix("]:::").unwrap(),
                ),
            };
            assert_eq!(number(id), boxes.len());
            used.push(class.to_owned());
            boxes.push(label.split("<br/>").map(decode_mermaid).collect());
        } else {
            let (from, to) = line.split_once(" --> ").unwrap();
            assert!(
                number(from) < boxes.len() && number(to) < boxes.len(),
                "{line}"
            );
            edges += 1;
        }
    }
    assert!(used.iter().all(|class| classes.contains(class)), "{used:?}");
    (boxes, edges)
}

/// A line of a label: letters, digits, blanks, and entities of anything else.
fn decode_mermaid(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        if c == '#' {
            let (number, after) = rest.split_once(';').unwrap();
            text.push(char::from_u32(number.parse().unwrap()).unwrap());
            rest = after;
        } else {
            let is_plain = c == ' ' || c.is_alphanumeric() && !"ﬂ°¶ß".contains(c);
            assert!(is_plain, "{c:?} in {line}");
            text.push(c);
        }
    }
    text
}

#[test]
fn mermaid_gets_hostile_names_as_entities() {
    let redis = Redis::start();
    random::property(random::more_in_soak(24), hostile_jobs(), |jobs| {
        let expected = put_hostile(&redis, &jobs);
        let text = redis.ok(5, "graph root --full --as mermaid");
        let (mut boxes, edges) = parse_mermaid(&text);
        prop_assert_eq!(edges, expected.len() - 1);
        for lines in &mut boxes {
            prop_assert_eq!(lines.len(), 4);
            lines.pop();
        }
        let sorted = |mut boxes: Vec<Vec<String>>| {
            boxes.sort();
            boxes
        };
        prop_assert_eq!(sorted(boxes), sorted(expected));
        Ok(())
    });
}

#[test]
fn a_job_is_drawn_where_it_is_and_a_picture_shows_one_member() {
    let redis = Redis::start();
    for jid in ["a", "b"] {
        for job in [jid.to_owned(), format!("next-{jid} --depends {jid}")] {
            redis.ok(1, &format!("put q K --prefix {{{jid}}}: --jid {job}"));
        }
    }
    let home = ConfigHome::new(&format!(
        "default = \"both\"\n[context.both]\nredis = \"{}\"\nprefixes = [\"{{a}}:\", \"{{b}}:\"]\n",
        redis.url()
    ));
    let qless = home.qless().at(5);
    qless.session(expect![[r#"
        $ qless graph next-b -o table
        next-b  K  q  depends
        └─ b    K  q  waiting 4s
        $ qless graph next-b next-a -o table
        {a}:
        next-a  K  q  depends
        └─ a    K  q  waiting 4s

        {b}:
        next-b  K  q  depends
        └─ b    K  q  waiting 4s
        $ qless graph --queue q
        –	next-a	K	q	depends		
        next-a	a	K	q	waiting	waits since 1970-01-01T00:00:01.000Z	
        –	next-b	K	q	depends		
        next-b	b	K	q	waiting	waits since 1970-01-01T00:00:01.000Z	
        $ qless graph --queue q --as mermaid
        --- stderr
        error: `--as dot` and `--as mermaid` draw one graph, and the context has 2 members
        hint: name one, such as `--prefix='{a}:'`
        --- exit 2
        $ qless graph nope
        --- stderr
        error: job `nope` does not exist
        --- exit 4
    "#]]);
    let drawn = qless.run("graph next-b --as dot").ok();
    assert!(drawn.contains("\"next-b\" -> \"b\""), "{drawn}");
}
