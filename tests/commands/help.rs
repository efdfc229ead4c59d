//! `qless help`, `--help`, and usage errors

use std::collections::BTreeSet;

use expect_test::expect;

use crate::support::qless::Qless;
use crate::support::redis::Redis;

fn run(line: &str) -> crate::support::qless::RunOutput {
    Qless::bare().run(line)
}

#[test]
fn no_arguments_print_the_short_help_on_stderr() {
    let ran = run("").exits(2);
    assert_eq!(ran.stdout(), "");
    assert!(ran.stderr().contains("Usage: qless [OPTIONS] <COMMAND>"));
    assert!(ran.stderr().contains("Print the number of jobs in a queue"));
}

#[test]
fn requested_help_goes_to_stdout() {
    for line in [
        "help",
        "--help",
        "-h",
        "help length",
        "length --help",
        "length -h",
        "help recur list",
    ] {
        let ran = run(line);
        assert!(ran.ok().contains("Usage: qless"), "{line}");
        assert_eq!(ran.stderr(), "", "{line}");
    }
    let version = format!("qless {}", env!("CARGO_PKG_VERSION"));
    assert_eq!(run("--version").ok(), version);
    assert_eq!(run("-V").ok(), version);
}

#[track_caller]
fn are_in_order(text: &str, parts: &[&str]) {
    let place = |part: &&str| text.find(part).unwrap_or_else(|| panic!("{part}\n{text}"));
    assert!(parts.iter().map(place).is_sorted(), "{text}");
}

#[test]
fn every_help_page_has_its_sections_in_one_order() {
    let all = run("--help").ok();
    let places = [
        "Usage:",
        "Examples:",
        "Inspect:",
        "Recover:",
        "  retry ",
        "Global flags:",
        "TOPIC",
    ];
    are_in_order(&all, &places);
    let retry = run("retry --help").ok();
    let places = [
        "Retry failed jobs, each in its own queue\n\nUsage:",
        "\nExamples:\n  qless retry",
        "\nArguments:",
        "\nOptions:",
        "\nBulk:",
        "\nSelector:",
        "Global flags:",
        "Exit codes:",
        "See also:",
    ];
    are_in_order(&retry, &places);
    assert_eq!(run("--help retry").ok(), retry);
    assert_eq!(run("help retry").ok().trim_end(), retry.trim_end());
}

#[test]
fn help_topics_exist() {
    run("help exit-codes").shows(expect![[r#"
          0  ok             done; also an empty list, nothing to do
          1  error          any other error; a defect; a check of `doctor` failed
          2  usage          bad flags, arguments, config file, JSON or times
          3  partial        some items of a bulk action failed
          4  not found      no such job, queue, group, worker, context or key; pop had no job
          5  conflict       the job's state, lock or dependents forbid it; it exists already
          6  server         cannot connect, TLS error, wrong password, no permission, out of memory, too old
          7  inconsistent   `check` found problems that are still there
          8  job failed     a job that was waited for failed or was cancelled; one of `work --drain` or `--count` failed
          9  not confirmed  a confirmation was refused or could not be asked; `--read-only` or the context forbids writes
         10  threshold      `lag --older-than` or `failed --older-than` lists something; `health` found a problem or a limit that is passed
        124  deadline       `--deadline` passed first, as in timeout(1)
        130  interrupted    SIGINT, after finishing the current slice
        143  terminated     SIGTERM or SIGHUP, after finishing the current slice

        If jobs are named by jid and none can be changed, the code is 4 if none of them exists, else 5,
        as for one job. Otherwise skipped jobs do not count. Several jobs that are all as asked already
        end with 0, a single one with 5 if its state forbids the change: for example, `retry` of a waiting
        job. `--watch` ends with 0 when it is interrupted. `recur rm`, `recur pause` and
        `recur resume` change all of their jobs or none: an unknown jid ends with 4 before any change.
        `throttle release` releases the jobs that it can, and ends with 4 if there are others. A dry run
        ends with the code of the run, as far as its plan tells.

        New codes may be added; treat an unknown code as a failure. A closed stdout ends the process by SIGPIPE; `work` goes on without it.
    "#]]);
    for (topic, part) in [
        ("environment", "QLESS_REDIS_URL"),
        ("selectors", "--group G"),
        ("formats", "-o ndjson"),
        ("findings", "ghost-waiting (critical, I-03)"),
        ("recipes", "After an outage"),
        ("json", "Queues: queues"),
    ] {
        let page = run(&format!("help {topic}")).ok();
        assert!(page.contains(part), "{topic}: {page}");
    }
    Qless::bare().session(expect![[r#"
        $ qless help json queues | jq -c .title
        "queues"
        $ qless help json queus
        --- stderr
        error: no document is called `queus`
        hint: `qless help json` lists them
        --- exit 2
        $ qless help nope
        --- stderr
        error: no command or topic is called `nope`
        hint: `qless help` lists the commands, `qless help help` the topics
        --- exit 2
        $ qless help findings ghost-lock
        --- stderr
        error: topic `findings` takes no further word
        hint: `qless help findings` shows the topic
        --- exit 2
        $ qless help json queues get
        --- stderr
        error: topic `json` takes one kind of document
        hint: `qless help json` shows the topic
        --- exit 2
        $ qless help json --form aclfile
        --- stderr
        error: `--form` belongs to `qless help acl`
        --- exit 2
    "#]]);
}

#[test]
fn the_rights_in_help_are_those_of_the_core() {
    expect![[r#"
        # put, pop, bulk verbs, events; clients that load their own script may need more:
        # the reference also runs zremrangebyrank and zremrangebyscore
        ACL SETUSER qless on >PASSWORD resetkeys ~ql:* resetchannels &ql:* -@all +del +exists +get +hdel +hget +hgetall +hincrby +hmget +hmset +hset +incr +llen +lpop +lpush +lrange +lrem +ltrim +persist +pexpire +publish +rpush +sadd +scard +set +sismember +smembers +srem +sscan +ttl +zadd +zcard +zcount +zincrby +zrange +zrangebyscore +zrank +zrem +zrevrange +zrevrangebyscore +zscore +zunionstore +hlen +eval +evalsha +auth +hello +info +ping +select +time +role +cluster|slots +wait +client|setname +subscribe +psubscribe +unsubscribe +punsubscribe
        # check, export, throttle list --all, selectors that read every job need also
        ACL SETUSER qless +scan +type +hrandfield +hscan +sscan +zscan +strlen +rename +lset +lpos +cluster|keyslot +cluster|countkeysinslot
        # check --repair in a cluster with one primary needs also
        ACL SETUSER qless +dump +pttl +restore
        # --read-only and events, on a primary or a replica (before Redis 7: ~ instead of %R~, and eval, evalsha)
        ACL SETUSER qless-ro on >PASSWORD resetkeys %R~ql:* resetchannels &ql:* -@all +eval_ro +evalsha_ro +exists +get +hget +hgetall +hmget +llen +lrange +lpos +scard +sismember +smembers +sscan +zcard +zcount +zrange +zrangebyscore +zrank +zrevrange +zrevrangebyscore +zscore +auth +hello +ping +select +time +role +subscribe +psubscribe +unsubscribe +punsubscribe +scan +type +ttl +hlen +hrandfield +hscan +sscan +zscan +strlen +info +readonly +cluster|slots +cluster|keyslot +cluster|countkeysinslot"#]].assert_eq(&run("help acl").ok());
    let tagged = run("--prefix {a}: help acl").ok();
    assert!(tagged.contains(" ~{a}:* resetchannels &{a}:* "), "{tagged}");
}

#[test]
fn each_form_of_the_rights_gives_a_server_the_same_users() {
    if !Redis::has_selective_rights_or_skips() {
        // Such a server takes no `%R~`.
        return;
    }
    let redis = Redis::start();
    // A server lists the commands of a user in no order.
    let rules_of = |redis: &Redis, user: &str| {
        let user = format!("{:?}", redis.send(&["ACL", "GETUSER", user]));
        let from = user.find("commands").expect("rules");
        let words = user[from..].split_whitespace();
        let words = words.map(|word| word.trim_matches(['"', '\'', '(', ')', ',']).to_owned());
        words.collect::<BTreeSet<String>>()
    };
    let texts = ["setuser", "access-string", "aclfile"]
        .map(|form| run(&format!("--prefix {{a}}: help acl --form {form}")).ok());
    for line in texts[0].lines().filter(|line| !line.starts_with('#')) {
        redis.send(&line.split(' ').collect::<Vec<_>>());
    }
    let mut users = texts[1].lines().filter(|line| !line.starts_with('#'));
    for name in ["operator", "checker", "reader"] {
        let mut words = vec!["ACL", "SETUSER", name];
        words.extend(users.next().expect("a user").split(' '));
        redis.send(&words);
    }
    assert_eq!(users.next(), None);
    let file = redis.socket().with_file_name("users.acl");
    let text = format!("{}\nuser default on nopass ~* &* +@all\n", texts[2]);
    std::fs::write(&file, text).unwrap();
    let other = Redis::with(&["--aclfile", file.to_str().unwrap()]);
    assert_eq!(rules_of(&redis, "operator"), rules_of(&other, "qless"));
    assert_eq!(rules_of(&redis, "checker"), rules_of(&other, "qless-check"));
    assert_eq!(rules_of(&redis, "qless"), rules_of(&redis, "checker"));
    assert_eq!(rules_of(&redis, "reader"), rules_of(&other, "qless-ro"));
    assert_eq!(rules_of(&redis, "qless-ro"), rules_of(&redis, "reader"));
}

#[test]
fn every_command_has_help_with_exit_codes_or_examples() {
    let mut tree = qless::internals::clap_tree();
    tree.build();
    fn walk(command: &clap::Command, at: &str) {
        for below in command.get_subcommands() {
            let path = format!("{at} {}", below.get_name());
            let about = below.get_about().map(|about| about.to_string());
            let about = about.unwrap_or_else(|| panic!("{path} has no help"));
            assert!(!about.ends_with('.'), "{path}: {about}");
            assert!(about.starts_with(char::is_uppercase), "{path}: {about}");
            walk(below, &path);
        }
    }
    walk(&tree, "qless");
}

#[test]
fn no_flag_shows_a_value_of_the_environment() {
    fn walk(command: &clap::Command) {
        for arg in command.get_arguments() {
            let default = arg.get_default_values();
            assert!(default.is_empty() || arg.is_hide_default_value_set() || default.len() == 1);
        }
        command.get_subcommands().for_each(walk);
    }
    walk(&qless::internals::clap_tree());
    let secret = "redis://:geheim@127.0.0.1:1";
    let help = Qless::bare()
        .env("QLESS_REDIS_URL", secret)
        .run("--help")
        .ok();
    assert!(!help.contains("geheim"));
}

#[test]
fn a_usage_error_is_one_line_and_a_hint() {
    // No other flag of `timeout` is spelled like `--worker`.
    Qless::bare().session(expect![[r#"
        $ qless lenght q
        --- stderr
        error: unknown command `lenght`
        hint: did you mean `length`?
        --- exit 2
        $ qless retyr a
        --- stderr
        error: unknown command `retyr`
        hint: did you mean `retry`?
        --- exit 2
        $ qless frobnicate
        --- stderr
        error: unknown command `frobnicate`
        hint: `qless --help` lists the commands
        --- exit 2
        $ qless length
        --- stderr
        error: `QUEUE` is missing
        hint: usage: `qless length <QUEUE>`
        --- exit 2
        $ qless length a b
        --- stderr
        error: unexpected argument `b`
        hint: usage: `qless length [OPTIONS] <QUEUE>`
        --- exit 2
        $ qless length a --foo
        --- stderr
        error: unknown flag `--foo`
        hint: usage: `qless length <QUEUE>`
        --- exit 2
        $ qless timeout --worker w
        --- stderr
        error: unknown flag `--worker`
        hint: `qless timeout --help` lists the flags
        --- exit 2
        $ qless timeout --quue q
        --- stderr
        error: unknown flag `--quue`
        hint: did you mean `--queue`?
        --- exit 2
        $ qless --timeout soon length a
        --- stderr
        error: `--timeout` expects a duration such as `90s`, `15m` or `2h`, not `soon`
        --- exit 2
        $ qless -o xml length a
        --- stderr
        error: `--output` expects one of `table`, `tsv`, `json`, `ndjson`, `jid`, `raw`, not `xml`
        --- exit 2
        $ qless --redis
        --- stderr
        error: `--redis` expects a value
        --- exit 2
        $ qless lenght q -o json
        --- stderr
        {"kind":"error","v":1,"code":"usage","exit":2,"message":"unknown command `lenght`","hint":"did you mean `length`?","jid":null}
        --- exit 2
        $ qless len q &>/dev/null
        --- exit 2
        $ qless length q --time 5s &>/dev/null
        --- exit 2
    "#]]);
    let with = |name: &str, value: &str| Qless::bare().env(name, value);
    with("QLESS_OUTPUT", "ndjson").session(expect![[r#"
        $ qless lenght q
        --- stderr
        {"kind":"error","v":1,"code":"usage","exit":2,"message":"unknown command `lenght`","hint":"did you mean `length`?","jid":null}
        --- exit 2
    "#]]);
    with("QLESS_TIMEOUT", "soon").session(expect![[r#"
        $ qless version
        --- stderr
        error: `QLESS_TIMEOUT` expects a duration such as `90s`, `15m` or `2h`, not `soon`
        --- exit 2
    "#]]);
    with("QLESS_NOW", "soon").session(expect![[r#"
        $ qless version
        --- stderr
        error: `QLESS_NOW` expects seconds since the epoch, such as `1000.5`
        --- exit 2
    "#]]);
    // An empty variable counts as unset.
    for name in ["QLESS_OUTPUT", "QLESS_NOW"] {
        with(name, "").run("version").ok();
    }
}

#[test]
fn words_of_other_tools_lead_to_the_command_that_does_the_same() {
    let error = |line: &str| Qless::bare().run(line).exits(2).stderr();
    let of_command = |word: &str, hint: &str| {
        let expected = format!("error: unknown command `{word}`\nhint: {hint}\n");
        assert_eq!(error(&format!("{word} a")), expected);
        let expected = format!("error: no command or topic is called `{word}`\nhint: {hint}\n");
        assert_eq!(error(&format!("help {word}")), expected);
    };
    of_command("rm", "the command is `qless cancel`");
    of_command(
        "kill",
        "the commands are `qless timeout` and `qless cancel`",
    );
    of_command("stop", "the command is `qless pause`");
    of_command("continue", "the command is `qless unpause`");
    of_command("show", "the command is `qless get`");
    of_command("ls", "the commands are `qless jobs` and `qless queues`");
    of_command("dequeue", "the command is `qless pop`");
    // A word that stands for a command is no typo of another command.
    of_command("add", "the command is `qless put`");
    of_command("retyr", "did you mean `retry`?");
    // The rest of the line may have the name of a command.
    assert!(error("rm jobs").ends_with("hint: the command is `qless cancel`\n"));
    assert!(error("-o json faild jobs").contains("did you mean `failed`?"));
    // Words of a command are its own.
    assert_eq!(
        error("recur lst"),
        "error: unknown command `lst`\nhint: did you mean `list`?\n"
    );
    assert_eq!(
        error("help recip"),
        "error: no command or topic is called `recip`\nhint: did you mean `recipes`?\n"
    );
}

/// The word after the flag is the next argument.
#[test]
fn an_optional_value_without_its_equals_sign_is_told() {
    let redis = Redis::start();
    redis.ok(1, "put mail K --jid a");
    for (line, hint) in [
        ("put mail K --wait 3s", "--wait=3s"),
        ("put mail K {} --wait 3s", "--wait=3s"),
        ("put mail K --key k --unique start", "--unique=start"),
        ("put mail K --lock user-1", "--lock=user-1"),
        ("queues --watch 5s", "--watch=5s"),
    ] {
        let said = redis.at(1).run(line).exits(2).stderr();
        let hint = format!("hint: did you mean `{hint}`?\n");
        assert!(said.ends_with(&hint), "{line}: {said}");
    }
    // No value of the flag, or the data of the job.
    for line in ["queues --watch mail", "put mail K --lock {} --foo"] {
        let said = redis.at(1).run(line).exits(2).stderr();
        assert!(!said.contains("did you mean `--lock"), "{line}: {said}");
        assert!(!said.contains("did you mean `--watch"), "{line}: {said}");
    }
}

#[test]
fn an_error_about_an_argument_in_the_wrong_place_says_where_it_belongs() {
    let redis = Redis::start();
    redis.ok(1, "put mail K --jid a --key ann");
    redis.ok(1, "recur put mail K --jid nightly --every 1d");
    redis.session(expect![[r#"
        2 $ qless jobs billing
        --- stderr
        error: unexpected argument `billing`
        hint: did you mean `--queue=billing`?
        --- exit 2
        2 $ qless events mail
        --- stderr
        error: unexpected argument `mail`
        hint: did you mean `--queue=mail`?
        --- exit 2
        2 $ qless failed 'upload error'
        --- stderr
        error: unexpected argument `upload error`
        hint: did you mean `--group='upload error'`?
        --- exit 2
        2 $ qless key ann mail
        --- stderr
        error: queue `ann` does not exist
        hint: `mail` is a queue: did you mean `qless key mail ann`?
        --- exit 4
        2 $ qless recur delete nightly
        --- stderr
        error: unknown command `delete`
        hint: did you mean `rm`?
        --- exit 2
        2 $ qless recur add nightly
        --- stderr
        error: unknown command `add`
        hint: did you mean `put`?
        --- exit 2
        2 $ qless throttle get api
        --- stderr
        error: unknown command `get`
        hint: did you mean `show`?
        --- exit 2
        2 $ qless context delete prod
        --- stderr
        error: unknown command `delete`
        hint: did you mean `remove`?
        --- exit 2
        2 $ qless cancel nightly
        --- stderr
        error: job `nightly` does not exist
        hint: `nightly` is a recurring job: `qless recur`
        --- exit 4
        2 $ qless jobs --limit -3
        --- stderr
        error: `--limit` expects a whole number between 0 and 9007199254740992, not `-3`
        --- exit 2
        2 $ qless peek mail --count -3
        --- stderr
        error: `--count` expects a whole number between 0 and 9007199254740992, not `-3`
        --- exit 2
    "#]]);
    // Where negative numbers mean something, they still do.
    redis.at(2).run("throttle set api -1").exits(0);
    redis.at(2).run("priority a --to -5").exits(0);
}
