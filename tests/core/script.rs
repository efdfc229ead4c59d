//! The joined script itself: it loads on this server, needs no KEYS, and touches nothing that it
//! shares with others.

use crate::support::core::{Core, Reply, script, words};

/// The commands of the reference, all 37.
pub(crate) const COMMANDS: [&str; 37] = [
    "cancel",
    "complete",
    "config.get",
    "config.set",
    "config.unset",
    "depends",
    "fail",
    "failed",
    "get",
    "heartbeat",
    "jobs",
    "length",
    "log",
    "multiget",
    "pause",
    "peek",
    "pop",
    "priority",
    "put",
    "queue.forget",
    "queues",
    "recur",
    "recur.get",
    "recur.tag",
    "recur.untag",
    "recur.update",
    "requeue",
    "retry",
    "stats",
    "tag",
    "timeout",
    "track",
    "unfail",
    "unpause",
    "unrecur",
    "worker.deregister",
    "workers",
];

/// Our own.
pub(crate) const OURS: [&str; 36] = [
    "bury",
    "check.revert",
    "check.slice",
    "guard.cancel",
    "guard.depends",
    "guard.finish",
    "guard.heartbeat",
    "guard.pause",
    "guard.put",
    "guard.recur",
    "guard.requeue",
    "guard.turn",
    "lag",
    "look.index",
    "look.jobs",
    "look.next",
    "look.pop",
    "look.queues",
    "look.ready",
    "look.recurs",
    "look.scan",
    "look.status",
    "look.throttles",
    "look.traces",
    "look.workers",
    "popByJid",
    "queueIdentifierPatterns.getAll",
    "queueIdentifierPatterns.setAll",
    "queuePriorityPatterns.getAll",
    "queuePriorityPatterns.setAll",
    "subscription",
    "tags",
    "tracked",
    "unfail.jobs",
    "workerJobs",
    "workersCount",
];

/// One good call of each command, which runs after the calls before it.
const CALLS: &str = "put 0 w q j K {} 0
put 0 w q k K {} 0 depends [\"j\"] tags [\"t\"] priority 1 retries 2
put 0 w q l K {} 9
get 0 j
multiget 0 j k
pop 1 q w1 1
heartbeat 2 j w1
retry 3 j q w1
peek 4 q 5
pop 4 q w1 1
fail 5 j w1 G M
failed 5
failed 5 G
unfail 6 q G
pop 7 q w1 1
timeout 8 j
pop 9 q w1 1
complete 10 j w1 q {} next p
requeue 11 w q j K {} 0
priority 12 j 3
log 12 j note {}
tag 12 add j t u
tag 12 get t
tag 12 top
tag 12 remove j t
track 12 track j
track 12
track 12 untrack j
depends 12 k on l
depends 12 k off all
jobs 12 running q
jobs 12 complete
queues 12
queues 12 q
workers 12
workers 12 w1
length 12 q
stats 12 q 12
pause 12 q
unpause 12 q
config.set 12 heartbeat 50
config.get 12
config.get 12 heartbeat
config.unset 12 heartbeat
recur 12 q r K {} interval 10 0
recur.get 12 r
recur.tag 12 r t
recur.untag 12 r t
recur.update 12 r interval 20
pop 13 q w1 9
complete 14 j w1 q {}
unrecur 15 r
queue.forget 15 q
worker.deregister 15 w1
cancel 15 k l
look.jobs 15 full j
look.recurs 15 r
look.index 15 waiting q 0 5
look.scan 15 keys 0 10
look.queues 15
look.ready 15
look.workers 15
look.next 15 5 peek q
look.pop 15 q j
look.status 15 0 counts
look.throttles 15
look.traces 15 j
guard.put 15 {} 5 q m K {} 0
guard.put 15 {} 7 q n K {} 0 depends [\"m\"]
guard.depends 15 n '' '' j
guard.requeue 15 {\"from\":[\"waiting\"]} '' m '' ''
guard.turn 15 w1 1 2 q 1
guard.heartbeat 15 w1 m ''
guard.finish 15 w1 4 m q retry 0
guard.pause 15 '' '' q
guard.cancel 15 cancel m ''
guard.recur 15 put '{\"since\":3}' q r K {} interval 10 0
guard.recur 15 resume r
guard.recur 15 update 30 r priority 2
guard.recur 15 pause {} r
guard.recur 15 remove r
check.slice 15 look '' '' job '' j k
check.slice 15 mend '' run work q j k
check.revert 15 ql:t:x +j - +1
put 15 w q o K {} 0
lag 16 q p
bury 16 o G M
unfail.jobs 17 q G o
popByJid 17 q o w1
workerJobs 17 w1 5
workersCount 17
tracked 17
tags 17 0 5
subscription 17 q add t
subscription 17 '' all
queueIdentifierPatterns.setAll 17 web [\"web-*\"]
queueIdentifierPatterns.getAll 17
queuePriorityPatterns.setAll 17 {\"pattern\":[\"web-*\"]}
queuePriorityPatterns.getAll 17";

#[test]
fn the_script_loads_and_runs_every_command() {
    let mut core = Core::new();
    let mut left: Vec<&str> = COMMANDS.into_iter().chain(OURS).collect();
    for line in CALLS.lines() {
        core.ok(line);
        left.retain(|command| line.split(' ').next() != Some(*command));
    }
    assert!(left.is_empty(), "{left:?}");
    core.flush();
    for command in COMMANDS.into_iter().chain(OURS) {
        if let Err(error) = core.run(&format!("{command} 0")) {
            assert!(!error.contains("Unknown command"), "{error}");
        }
    }
}

#[test]
fn the_script_creates_no_global_and_changes_no_shared_table() {
    let mut core = Core::new();
    // The script runs inside a function that looks at the global tables before and after.
    let watch = format!(
        "local function names()
           local all = {{}}
           for name, value in pairs(_G) do
             all[name] = value
             if type(value) == 'table' and name ~= '_G' and name ~= 'ARGV' and name ~= 'KEYS' then
               for field, member in pairs(value) do all[name .. '.' .. tostring(field)] = member end
             end
           end
           return all
         end
         local before = names()
         local ok, error = pcall(function() {} end)
         if not ok then return 'raised ' .. tostring(error) end
         for name, value in pairs(names()) do
           if before[name] ~= value then return 'changed ' .. name end
         end
         return 'clean'",
        script()
    );
    for line in CALLS.lines() {
        let words = words(line);
        let mut argv: Vec<&[u8]> = vec![b"EVAL", watch.as_bytes(), b"0"];
        argv.extend(words.iter().map(|word| word.as_bytes()));
        assert_eq!(
            core.redis_words(&argv),
            Reply::Text("clean".into()),
            "{line}"
        );
    }
}

#[test]
fn the_script_needs_no_keys_and_no_shebang() {
    let script = script();
    assert!(!script.starts_with("#!"));
    assert!(script.starts_with("--!df flags=allow-undeclared-keys\n"));
}

#[test]
fn the_script_uses_neither_server_time_nor_random_numbers() {
    let script = script();
    for call in [
        "('time'",
        "math.random",
        "os.clock",
        "os.time",
        "'srandmember'",
        "'randomkey'",
        "'spop'",
    ] {
        assert!(!script.contains(call), "{call}");
    }
}

#[test]
fn own_read_commands_run_on_a_server_that_refuses_writes() {
    let mut core = super::errors::one_of_each();
    core.ok("guard.pause 9 20 '' q");
    let script = script();
    for line in [
        "look.jobs 99 full waiting running failed nope",
        "look.jobs 99 brief waiting",
        "look.jobs 99 data,mark waiting",
        "look.recurs 99 template",
        "look.index 99 waiting q 0 9",
        "look.index 99 scheduled q 0 9",
        "look.index 99 failed G 0 9",
        "look.index 99 groups '' 0 9",
        "look.scan 99 jobs 0 100",
        "look.scan 99 recurring 0 100",
        "look.scan 99 keys 0 100",
        "look.queues 99",
        "look.queues 9999 q",
        "look.next 99 5 pop q",
        r#"guard.put 99 {"dry":true} 7 q new K {} 0 tags ["t"]"#,
        "look.pop 99 q j",
        "look.lag 99 q",
        "look.status 99 0 counts",
        "look.throttles 99 holding",
        "look.traces 99 j",
        "look.workers 99",
        "look.workers 999999 w1",
    ] {
        let before = core.dump();
        let words = words(line);
        let mut argv: Vec<&[u8]> = vec![b"EVAL_RO", script.as_bytes(), b"0"];
        argv.extend(words.iter().map(|word| word.as_bytes()));
        match core.redis_words(&argv) {
            Reply::List(_) => {}
            Reply::Error(error) if error.contains("unknown command") => {}
            other => panic!("`{line}` answers {other:?}"),
        }
        assert!(!core.ok(line).list().is_empty(), "{line}");
        assert_eq!(core.dump(), before, "{line}");
    }
    for line in [
        "lag 99 q nope",
        "queueIdentifierPatterns.getAll 99",
        "queuePriorityPatterns.getAll 99",
    ] {
        let words = words(line);
        let mut argv: Vec<&[u8]> = vec![b"EVAL_RO", script.as_bytes(), b"0"];
        argv.extend(words.iter().map(|word| word.as_bytes()));
        match core.redis_words(&argv) {
            Reply::Error(error) if error.contains("unknown command") => {}
            reply => assert_eq!(reply, core.ok(line), "{line}"),
        }
    }
}
