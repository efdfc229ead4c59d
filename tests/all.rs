//! The only test binary: a list of modules, and a test that no file is forgotten.

#![allow(unreachable_pub)] // A test binary exports nothing.
#![allow(clippy::disallowed_methods)] // A panic for want of a thread is a failed test.

mod architecture;
mod browser;
mod completion;
mod connection;
mod examples;
mod generated;
mod install;
mod links;
mod monitoring;
mod pager;
mod readme;
mod replicas;
mod stable;
mod tls;
mod widths;

mod support {
    pub mod browser;
    pub mod check_calls;
    pub mod clean;
    pub mod client;
    pub mod cluster;
    pub mod config;
    pub mod core;
    pub mod files;
    pub mod jobs;
    pub mod keyboard;
    pub mod listener;
    pub mod listening;
    pub mod promtool;
    pub mod proxy;
    pub mod qless;
    pub mod random;
    pub mod redis;
    pub mod repair;
    pub mod scan;
    pub mod sentinel;
    pub mod terminal;
    pub mod text;
    pub mod tls;
    pub mod traffic;
    pub mod work;
}

mod check {
    mod command;
    mod concurrent;
    mod coordination;
    mod damage;
    mod interrupted;
    pub mod invariants;
    mod known_deviations;
    mod long_lists;
    mod overlaps;
    mod qless_php;
    pub mod random_damage;
    mod random_repair;
    mod repair;
    mod scan;
    mod slice;
    mod wrong_types;
}

mod core {
    mod batches;
    mod bury;
    mod config;
    pub mod cost;
    mod dependencies;
    pub mod errors;
    mod failed_age;
    mod failures;
    mod guard;
    mod lag;
    mod library;
    mod lifecycle;
    pub mod limits;
    mod lint;
    mod look;
    mod lost_lock;
    pub mod model;
    mod patterns;
    mod pop;
    pub mod property;
    mod qless_php;
    mod queues;
    mod recurring;
    pub mod refusal;
    pub mod script;
    mod session;
    mod statistics;
    mod tags;
    mod throttles;
    mod traces;
    mod turn;
}

mod commands {
    mod api;
    mod bulk;
    mod bury;
    mod cancel;
    mod complete;
    mod completions;
    mod config;
    mod context;
    mod context_choice;
    mod context_file;
    mod context_password;
    mod context_protection;
    mod coordination;
    mod defaults;
    mod depends;
    mod doctor;
    mod durations;
    mod events;
    mod explain;
    mod export;
    mod fail;
    mod failed;
    mod forget;
    mod formats;
    mod get;
    mod graph;
    mod health;
    mod heartbeat;
    mod help;
    mod hostile;
    mod import;
    mod jid_lists;
    pub mod jobs;
    mod key;
    mod lag;
    mod length;
    mod local;
    mod log;
    mod man;
    mod many_names;
    mod metrics;
    mod morgue;
    mod r#move;
    mod new_queues;
    mod nothing;
    mod pause;
    mod peek;
    mod plain_names;
    mod pop;
    mod printed;
    mod priority;
    mod promote;
    mod put;
    mod put_from;
    mod queues;
    mod read_only;
    mod recur;
    mod retry;
    mod roundtrip;
    mod script;
    mod selectors;
    mod stats;
    mod status;
    mod tag;
    mod throttle;
    mod timeout;
    mod top;
    mod track;
    mod unfail;
    mod unpause;
    mod version;
    mod wait;
    mod watch;
    mod web;
    mod workers;
}

mod extensions {
    mod core_rules;
    mod dry_run;
    mod examples;
    pub mod foreign;
    mod histories;
    pub mod invariants;
    mod ledger;
    mod locket;
    mod lowkiq;
    mod reqless;
    mod steps;
}

mod listen {
    mod bind;
    mod cache;
    mod limits;
    mod random;
    mod requests;
    mod stream;
}

mod recovery {
    mod asked;
    mod examples;
    mod faults;
    mod kill;
    mod lane_storm;
    mod repair;
    mod storm;
    mod verbs;
    mod work_storm;
    mod worker;
}

mod security {
    mod files;
    mod local;
    mod memory;
    mod page;
    mod replies;
    mod work;
}

mod topologies {
    mod cluster;
    mod members;
    mod sentinel;
}

mod work {
    mod absence;
    mod command;
    mod examples;
    mod hooks;
    mod lanes;
    mod locks;
    mod machine;
    mod metrics;
    mod persistent;
    mod process;
    mod queues;
    mod random;
    mod readers;
    mod service;
    mod throttles;
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
