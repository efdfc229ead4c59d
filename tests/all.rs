//! The only test binary: a list of modules, and a test that no file is forgotten.

mod completion;
mod connection;
mod contexts;
mod examples;
mod generated;
mod install;
mod pager;
mod readme;
mod replicas;
mod widths;

mod house {
    pub mod clean;
    pub mod core;
    pub mod jobs;
    pub mod judge;
    pub mod keyboard;
    pub mod ledger;
    pub mod mend;
    pub mod qless;
    pub mod redis;
    pub mod terminal;
    pub mod text;
    pub mod traffic;
    pub mod walk;
    pub mod wire;
}

mod core {
    mod check;
    mod check_damage;
    mod check_property;
    mod check_types;
    mod check_walk;
    mod config;
    mod cost;
    mod damage;
    mod dependencies;
    mod errors;
    mod failures;
    mod guard;
    pub mod invariants;
    mod library;
    mod lifecycle;
    mod lint;
    mod look;
    mod model;
    mod noise;
    mod pop;
    mod property;
    mod queues;
    mod recurring;
    mod refusal;
    mod roundtrip;
    mod script;
    mod statistics;
    mod tags;
    mod tolerated;
    mod traces;
}

mod commands {
    mod api;
    mod bulk;
    mod cancel;
    mod check;
    mod check_halted;
    mod check_repair;
    mod check_sides;
    mod complete;
    mod completions;
    mod config;
    pub mod context;
    mod depends;
    mod export;
    mod fail;
    mod failed;
    mod forget;
    mod get;
    mod heartbeat;
    mod help;
    mod hostile;
    mod import;
    pub mod jobs;
    mod length;
    mod local;
    mod log;
    mod man;
    mod r#move;
    mod pause;
    mod peek;
    mod pop;
    mod priority;
    mod promote;
    mod put;
    mod put_from;
    mod queues;
    mod read_only;
    mod recur;
    mod retry;
    mod script;
    mod selectors;
    mod stats;
    mod tag;
    mod timeout;
    mod track;
    mod unfail;
    mod unpause;
    mod version;
    mod watch;
    mod workers;
}

mod recovery {
    mod asked;
    mod examples;
    mod kill;
    mod mend;
    mod verbs;
    mod worker;
}

use std::path::Path;

#[test]
fn no_test_file_is_forgotten() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let list = std::fs::read_to_string(tests.join("all.rs")).unwrap();
    let mut listed: Vec<String> = vec!["all.rs".into()];
    let mut room = String::new();
    for line in list.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [.., "mod", name, "{"] => room = format!("{name}/"),
            ["}"] => room.clear(),
            [.., "mod", name] => {
                let name = name.trim_start_matches("r#").trim_end_matches(';');
                listed.push(format!("{room}{name}.rs"));
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    for entry in std::fs::read_dir(&tests).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        if !entry.path().is_dir() {
            found.push(name);
            continue;
        }
        for entry in std::fs::read_dir(entry.path()).unwrap().flatten() {
            let file = entry.file_name().into_string().unwrap();
            if file.ends_with(".rs") {
                found.push(format!("{name}/{file}"));
            }
        }
    }
    listed.sort();
    found.sort();
    assert_eq!(listed, found, "tests/all.rs names every file");
}
