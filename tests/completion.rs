//! Completion: the scripts as shells run them, and the binary that they ask.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

use expect_test::expect;
use tempfile::TempDir;

use super::support::qless::Qless;
use super::support::redis::Redis;
use super::support::terminal::Terminal;
use super::support::text::Shows;

/// A home for the cache.
struct Home(TempDir);

impl Home {
    fn new() -> Home {
        Home(tempfile::tempdir().unwrap())
    }

    /// Uses this cache, and more patience than people have: tests share a busy machine.
    fn of(&self, qless: Qless) -> Qless {
        let qless = qless.env("XDG_CACHE_HOME", self.0.path());
        qless.env("QLESS_COMPLETE_LIVE", "20s")
    }

    /// The files of the cache by what they hold.
    fn files(&self) -> BTreeMap<String, PathBuf> {
        let entries = std::fs::read_dir(self.0.path().join("qless")).into_iter();
        let files = entries.flatten().flatten().map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            let kind = name.rsplit('-').next().unwrap().to_owned();
            (kind, entry.path())
        });
        files.collect()
    }

    fn ages(&self, kind: &str, age: Duration) {
        let file = std::fs::File::options()
            .write(true)
            .open(&self.files()[kind]);
        file.unwrap().set_modified(SystemTime::now() - age).unwrap();
    }
}

/// What bash takes for the end of a word.
const BREAKS: &str = " \t\n\"'@><=;|&(:";

/// What the binary offers for a line of bash. It must print nothing else.
#[track_caller]
fn offers(qless: &Qless, line: &str) -> Vec<String> {
    let ran = qless.args(["__complete", "bash", BREAKS, line]);
    assert_eq!((ran.code(), ran.stderr().as_str()), (0, ""), "{line}");
    // The first line says whether files fit, too.
    ran.stdout().lines().skip(1).map(str::to_owned).collect()
}

/// What the binary offers for words of fish, which shows descriptions.
#[track_caller]
fn described(qless: &Qless, line: &str) -> String {
    let words = ["__complete", "fish", "qless"].into_iter();
    qless.args(words.chain(line.split(' '))).ok()
}

const HOSTILE: [&str; 9] = [
    "my mail",
    "it's",
    "c$t",
    "a\"b",
    "semi;colon",
    "bang!x",
    "back`tick",
    "st*r",
    "Ünï",
];

fn busy() -> Redis {
    let redis = Redis::start();
    for queue in HOSTILE {
        let args = ["put", queue, "K", "--jid", &format!("in {queue}")];
        redis.at(100).args(args).ok();
    }
    for line in [
        "put mail Mail::Welcome --jid wait1 --tag eu",
        "put mail Mail::Welcome --jid later --tag eu --delay 1h",
        "put mail Mail::Welcome --jid blocked --tag eu --depends wait1",
        "put work Work --jid ran1",
        "pop work --worker w-1",
        "put work Work --jid failed1",
        "pop work --worker w-1",
        "fail failed1 --as-holder --group 'upload error' --message m",
        "recur put mail R --every 1h --jid nightly",
    ] {
        redis.ok(100, line);
    }
    redis
}

fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("completions")
}

/// A shell with the environment of the binary's tests, and the binary on its PATH.
fn shell(program: &str, qless: &Qless) -> Command {
    let bin = Path::new(env!("CARGO_BIN_EXE_qless")).parent().unwrap();
    let mut path = bin.as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap());
    let mut command = Command::new(program);
    command.env_clear();
    for (name, value) in qless.command().get_envs() {
        command.env(name, value.unwrap());
    }
    command.env("PATH", path);
    command
}

/// Has bash complete a line, and returns what it would offer.
fn bash(qless: &Qless, home: &Path, line: &str) -> Vec<String> {
    let script = r#"
        source "$SCRIPT"
        read -ra COMP_WORDS <<<"$LINE"
        [[ $LINE == *' ' ]] && COMP_WORDS+=('')
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$LINE COMP_POINT=${#LINE}
        _qless qless "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    let ran = shell("bash", qless)
        .args(["--norc", "-c", script])
        .env("XDG_CACHE_HOME", home)
        .env("LINE", line)
        .env("SCRIPT", scripts().join("qless.bash"))
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&ran.stderr), "", "{line}");
    let text = String::from_utf8(ran.stdout).unwrap();
    text.lines()
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect()
}

#[test]
fn bash_completes_commands_flags_and_names() {
    let redis = busy();
    let home = Home::new();
    let qless = home.of(redis.at(100));
    let complete = |line: &str| bash(&qless, home.0.path(), line);
    assert_eq!(complete("qless re"), ["recur", "retry", "resume"]);
    assert_eq!(complete("qless retry "), ["failed1"]);
    assert_eq!(complete("qless retry --fail-g"), ["--fail-group"]);
    assert_eq!(complete("qless failed --group "), ["upload\\ error"]);
    assert_eq!(complete("qless jobs --queue ma"), ["mail"]);
    assert_eq!(complete("qless length it"), ["it\\'s"]);
    let put = |queue| (100.0, vec!["put", "me", queue, queue, "K", "{}", "0"]);
    redis.calls([put("--all"), put("z*")]);
    for file in home.files().into_values() {
        std::fs::remove_file(file).unwrap();
    }
    // A name that would be a flag or a pattern stands after `--`.
    assert_eq!(complete("qless queues z"), ["z\\\\\\*"]);
    assert_eq!(complete("qless queues -- z"), ["z\\*"]);
    assert_eq!(complete("qless queues -- --a"), ["--all"]);
    // Neither flags nor commands, nor the files of a cache, needed a server.
    let empty = Home::new();
    let nobody = Qless::bare().env("QLESS_REDIS_URL", "unix:///nonexistent/s");
    assert_eq!(
        bash(&nobody, empty.0.path(), "qless re"),
        ["recur", "retry", "resume"]
    );
    assert_eq!(
        bash(&nobody, empty.0.path(), "qless retry --fail-g"),
        ["--fail-group"]
    );
    assert_eq!(empty.files().len(), 0);
}

#[test]
fn bash_reads_offered_names_back() {
    let redis = busy();
    let home = Home::new();
    for open in ["", "'", "\""] {
        let offered = offers(&home.of(redis.at(100)), &format!("qless length {open}"));
        assert_eq!(offered.len(), HOSTILE.len() + 2, "{offered:?}");
        for written in offered {
            // As it is when it was inserted behind the quote, and that was closed.
            let typed = format!("printf %s {open}{written}{open}");
            let ran = Command::new("bash").args(["-c", &typed]).output().unwrap();
            let read = String::from_utf8(ran.stdout).unwrap();
            let known = HOSTILE.contains(&read.as_str()) || ["mail", "work"].contains(&&*read);
            assert!(known, "{typed}: {read}");
        }
    }
}

#[test]
fn queues_of_work_are_offered_as_names() {
    let redis = Redis::start();
    let queues = ["kk*", "ww=3", "!neg", "@at", "-dash"];
    redis.calls(queues.map(|queue| (0.0, vec!["put", "w", queue, queue, "K", "{}", "0"])));
    let home = Home::new();
    let qless = home.of(redis.at(100));
    for line in ["qless work '", "qless work -- '"] {
        let mut offered = offers(&qless, line);
        offered.sort();
        assert_eq!(
            offered,
            ["\\!neg", "\\-dash", "\\@at", "kk\\*", "ww=3=1"],
            "{line}"
        );
        for typed in offered {
            let run = redis
                .at(100)
                .args(["work", &typed, "--drain", "--", "true"])
                .ok();
            assert_eq!(run.lines().count(), 0, "{typed}: {run}");
        }
    }
    let complete = redis.ok(101, "jobs --state complete -o jid");
    assert_eq!(complete.lines().count(), queues.len(), "{complete}");
}

#[test]
fn the_completion_script_registers_itself() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let script = "source completions/qless.bash && complete -p qless";
    let mut bash = Command::new("bash");
    let ran = bash.args(["--norc", "-c", script]).current_dir(root);
    let ran = ran.output().unwrap();
    let told = String::from_utf8(ran.stdout).unwrap();
    assert!(told.contains("-F _qless qless"), "{told}");
}

/// Whether this machine has a shell.
fn is_here(program: &str) -> bool {
    let is_here = Command::new(program).arg("--version").output().is_ok();
    if !is_here {
        println!("not run: {program} is not here");
    }
    is_here
}

/// Starts a shell on a terminal, as its user would, with the script where `make install` puts it;
/// `None` if this machine does not have the shell.
fn session(program: &str, qless: &Qless, home: &Path) -> Option<Terminal> {
    let (args, setup): (&[&str], _) = match program {
        "bash" => (
            &["--norc", "--noprofile", "-i"],
            "source \"$DIR/qless.bash\"",
        ),
        _ => (
            &["-f", "-i"],
            "fpath=(\"$DIR\" $fpath); autoload -U compinit; compinit -u -D",
        ),
    };
    if !is_here(program) {
        return None;
    }
    let mut command = shell(program, qless);
    command.args(args).current_dir(home).env("HOME", home);
    command.env("DIR", scripts()).env("TERM", "xterm");
    command.env("LC_ALL", "C.UTF-8");
    let mut terminal = Terminal::typed(command, 100, 40);
    terminal.types(&format!("{setup}; echo rea''dy\n"));
    terminal.until(|written| written.contains("ready"));
    Some(terminal)
}

#[test]
fn shells_insert_names_that_they_read_back() {
    let redis = busy();
    for queue in ["a:b:c", "u@h", "k=v", "~til", "ba\\ck", "!first", "!fine"] {
        let jid = format!("in {queue}");
        redis.at(100).args(["put", queue, "K", "--jid", &jid]).ok();
    }
    let home = Home::new();
    let qless = home.of(redis.at(100)).env("QLESS_OUTPUT", "jid");
    for program in ["bash", "zsh"] {
        let Some(mut terminal) = session(program, &qless, home.0.path()) else {
            continue;
        };
        for (at, (typed, queue)) in [
            ("my", "my mail"),
            ("\"my", "my mail"),
            ("'my", "my mail"),
            ("my\\ ", "my mail"),
            ("it", "it's"),
            ("st", "st*r"),
            ("semi", "semi;colon"),
            ("a:b", "a:b:c"),
            ("u@", "u@h"),
            ("k=", "k=v"),
            ("\\~", "~til"),
            ("ba\\\\", "ba\\ck"),
            ("Ü", "Ünï"),
            ("'!fir", "!first"),
            ("\"!fir", "!first"),
            // The part that both names begin with is inserted first.
            ("\"!f\tr", "!first"),
        ]
        .into_iter()
        .enumerate()
        {
            // The jid names the queue that the shell has read.
            terminal.types(&format!("qless peek {typed}\t; echo do''ne {at}.\n"));
            let begins = terminal.until(|written| written.contains(&format!("done {at}.")));
            let shown = begins.contains(&format!("in {queue}"));
            assert!(shown, "{program}, {typed}: {begins}");
        }
        terminal.types("exit\n");
        terminal.end();
    }
}

/// What fish offers for a line.
#[track_caller]
fn fish(qless: &Qless, home: &Path, line: &str) -> Vec<String> {
    let script = "source \"$DIR/qless.fish\"; complete -C \"$LINE\"";
    let ran = shell("fish", qless)
        .args(["--no-config", "-c", script])
        .current_dir(home)
        .env("HOME", home)
        .env("DIR", scripts())
        .env("LINE", line)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&ran.stderr), "", "{line}");
    let text = String::from_utf8(ran.stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn fish_offers_names_files_and_descriptions() {
    if !is_here("fish") {
        return;
    }
    let redis = busy();
    redis.ok(100, "put a:b:c K");
    let home = Home::new();
    let qless = home.of(redis.at(100));
    std::fs::write(home.0.path().join("my file.toml"), "").unwrap();
    std::fs::create_dir(home.0.path().join("my dir")).unwrap();
    for (line, offered) in [
        ("qless peek my", "my mail"),
        ("qless peek 'my", "my mail"),
        ("qless peek \"my", "my mail"),
        ("qless peek my\\ ", "my mail"),
        ("qless peek it", "it's"),
        ("qless peek a:b", "a:b:c"),
        ("qless jobs --queue=my", "--queue=my mail"),
        ("qless jobs --queue st", "st\\*r"),
        ("qless retry ", "failed1\tWork, failed"),
        (
            "qless help ret",
            "retry\tRetry failed jobs, each in its own queue",
        ),
        ("qless import my\\ f", "my file.toml"),
        ("qless --config=my\\ f", "--config=my file.toml"),
        ("qless man --out m", "my dir/"),
        ("qless --config ~/my\\ f", "~/my file.toml"),
    ] {
        assert_eq!(fish(&qless, home.0.path(), line), [offered], "{line}");
    }
}

#[test]
fn shells_complete_files_themselves() {
    let home = Home::new();
    let qless = home.of(Qless::bare());
    let file = home.0.path().join("my file.toml");
    std::fs::write(&file, "[context.one]\n").unwrap();
    std::fs::create_dir(home.0.path().join("direct")).unwrap();
    for program in ["bash", "zsh"] {
        let Some(mut terminal) = session(program, &qless, home.0.path()) else {
            continue;
        };
        for (at, typed) in ["--config my", "--config=my", "--config ~/my"]
            .into_iter()
            .enumerate()
        {
            let line = format!("qless {typed}\t context list; echo do''ne {at}.\n");
            terminal.types(&line);
            let written = terminal.until(|written| written.contains(&format!("done {at}.")));
            let shown = written.matches("one\t").count() + written.matches("one ").count();
            assert!(shown > at, "{program}, {typed}: {written}");
        }
        terminal.types("exit\n");
        terminal.end();
    }
}

#[test]
fn throttles_are_offered_without_a_scan() {
    let redis = busy();
    let home = Home::new();
    let qless = home.of(redis.at(100));
    redis.ok(100, "throttle set api 3");
    redis.ok(100, "put mail K --key lane");
    redis.ok(100, "put mail K --key lane");
    redis.send(&["CONFIG", "RESETSTAT"]);
    assert_eq!(offers(&qless, "qless throttle show "), ["api"]);
    let calls = redis.send(&["INFO", "commandstats"]);
    assert!(!format!("{calls:?}").contains("cmdstat_scan:"), "{calls:?}");
}

#[test]
fn offered_jids_fit_the_command() {
    let redis = busy();
    let home = Home::new();
    let qless = home.of(redis.at(100));
    let told = |line: &str| {
        let text = described(&qless, line);
        text.strip_prefix("names\t\n").unwrap().to_owned()
    };
    told("retry ").shows(expect!["failed1	Work, failed"]);
    told("timeout ").shows(expect!["ran1	Work, running"]);
    told("promote ").shows(expect!["later	Mail::Welcome, scheduled"]);
    told("depends ").shows(expect!["blocked	Mail::Welcome, depends"]);
    told("recur rm ").shows(expect!["nightly	"]);
    told("cancel wait").shows(expect!["wait1	Mail::Welcome, waiting"]);
    told("jobs --tag ").shows(expect!["eu	"]);
    told("workers ").shows(expect!["w-1	"]);
    told("config get heart").shows(expect!["heartbeat	60"]);
    assert_eq!(told("cancel ").lines().count(), 5 + HOSTILE.len());
}

#[test]
fn the_binary_offers_what_can_be_typed() {
    let qless = Home::new()
        .of(Qless::bare())
        .env("QLESS_COMPLETE_LIVE", "0");
    let mut all = String::new();
    for line in [
        "re",
        "recur r",
        "--context local que",
        "put --d",
        "jobs --state failed,wa",
        "jobs -oj",
        "jobs --watch --wat",
        "jobs --queue a --queu",
        "queues --askpass --pass",
        "check --only tag",
        "completions ",
        "stats q --histogram ",
        "help js",
        "help json que",
        "help recur ru",
        "man re",
        "man js",
        "import ",
        "--config=x/",
        "man --out ",
        "put mail K x --if",
        "length q ",
        "get -- -",
        "context use ",
        "recur run x ",
        "log x ",
        "nosuch ",
    ] {
        all.push_str(&format!("qless {line}\n{}\n\n", described(&qless, line)));
    }
    all.shows(expect![[r#"
        qless re
        names	
        recur	Show and change recurring jobs
        retry	Retry failed jobs, each in its own queue
        resume	Resume paused queues

        qless recur r
        names	
        resume	Resume paused recurring jobs
        rm	Remove recurring jobs
        run	Put one job of a recurring job now

        qless --context local que
        names	
        queues	Show queues with the number of jobs in each state

        qless put --d
        names	
        --data	Data: JSON, `@FILE`, or `-` for stdin
        --delay	Run it after this time, such as `10m`
        --depends	Jid of a job that must be complete first
        --deadline	With `--wait`: the same as the D of `--wait=D`; also a time, such as `06:00`. With both, the earlier one counts
        --dup	With `--key`: what to do if the lane has a job: put behind it, `merge`, `skip` (as `--unique`), or `replace` it if it has not started
        --dry-run	Show what would be done; change nothing

        qless jobs --state failed,wa
        names	failed,
        failed,waiting	

        qless jobs -oj
        names	-o
        -ojson	One document, stable
        -ojid	Only job ids, one per line

        qless jobs --watch --wat
        names	

        qless jobs --queue a --queu
        names	
        --queue	Jobs of this queue (name or glob)

        qless queues --askpass --pass
        names	

        qless check --only tag
        names	
        tag-index	
        tag-count	

        qless completions 
        names	
        bash	
        elvish	
        fish	
        powershell	
        zsh	

        qless stats q --histogram 
        names	
        wait	How long jobs waited
        run	How long jobs ran

        qless help js
        names	
        json	Documents of `-o json`; with a kind: its schema

        qless help json que
        names	
        queues	Queues: queues

        qless help recur ru
        names	
        run	Put one job of a recurring job now

        qless man re
        names	
        recur	Show and change recurring jobs
        retry	Retry failed jobs, each in its own queue
        resume	Resume paused queues

        qless man js
        names	

        qless import 
        files	

        qless --config=x/
        files	--config=

        qless man --out 
        directories	

        qless put mail K x --if
        names	
        --if-absent	Leave an existing job with this jid as it is, also a complete one that is still known

        qless length q 
        names	

        qless get -- -
        names	

        qless context use 
        names	

        qless recur run x 
        names	

        qless log x 
        names	
        --data	More fields of the entry: a JSON object, `@FILE`, or `-` for stdin
        --max-data	Maximum size of the data, in bytes, up to 500MiB
        --dry-run	Show what would be done; change nothing

        qless nosuch 
        names	

    "#]]);
    expect!["files	"].assert_eq(
        &qless
            .args(["__complete", "bash", BREAKS, "qless queues >fi"])
            .ok(),
    );
}

#[test]
fn a_second_name_is_completed_where_only_it_fits() {
    let redis = busy();
    let home = Home::new();
    let qless = home.of(redis.at(100));
    let offered = |line: &str| offers(&qless, line);
    assert_eq!(offered("qless resu"), ["resume"]);
    assert_eq!(offered("qless unp"), ["unpause"]);
    assert_eq!(offered("qless throttle ls"), ["ls"]);
    assert_eq!(offered("qless throttle li"), ["list"]);
    assert_eq!(offered("qless recur unp"), ["unpause"]);
    assert_eq!(offered("qless resume mai"), offered("qless unpause mai"));
    assert!(!offered("qless resume mai").is_empty());
}

#[test]
fn help_prints_every_topic_that_completion_offers() {
    let offered = described(&Home::new().of(Qless::bare()), "help ");
    let words: Vec<&str> = offered
        .lines()
        .skip(1)
        .map(|line| line.split('\t').next().unwrap())
        .collect();
    assert!(
        words.contains(&"recipes") && words.contains(&"retry"),
        "{words:?}"
    );
    for word in words {
        Qless::bare().args(["help", word]).ok();
    }
}

#[test]
fn names_are_offered_in_the_format_of_each_shell() {
    let redis = busy();
    let home = Home::new();
    let qless = home.of(redis.at(100));
    let told = |args: &[&str]| qless.args(["__complete"].iter().chain(args)).ok();
    let zsh = ["zsh", "qless", "jobs", "--queue", "'my"];
    told(&zsh).shows(expect![[r#"
        names	
        my mail"#]]);
    let elvish = ["elvish", "qless", "jobs", "--queue=my"];
    told(&elvish).shows(expect![[r#"
        names	--queue=
        --queue=my mail	"#]]);
    let power = ["powershell", "qless", "length", "=it"];
    told(&power).shows(expect![[r#"
        names	
        'it''s'	it's	"#]]);
}

#[test]
fn names_are_cached_for_ten_seconds() {
    let mut redis = busy();
    let home = Home::new();
    let qless = home.of(redis.at(100));
    assert_eq!(offers(&qless, "qless length ma"), ["mail"]);
    let file = &home.files()["queue"];
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(file), mode(file.parent().unwrap())), (0o600, 0o700));
    redis.kill();
    assert_eq!(offers(&qless, "qless length wo"), ["work"]);
    // Another prefix is another place.
    assert_eq!(offers(&qless, "qless --prefix x: length wo"), [""; 0]);
    home.ages("queue", Duration::from_secs(11));
    assert_eq!(offers(&qless, "qless length wo"), [""; 0]);
}

#[test]
fn a_server_that_did_not_reply_is_not_asked_for_a_minute() {
    let mut redis = Redis::start();
    redis.kill();
    let home = Home::new();
    let qless = home.of(redis.at(100));
    assert_eq!(offers(&qless, "qless length "), [""; 0]);
    redis.restart();
    redis.ok(100, "put mail K");
    assert_eq!(offers(&qless, "qless length "), [""; 0]);
    home.ages("down", Duration::from_secs(59));
    assert_eq!(offers(&qless, "qless length "), [""; 0]);
    home.ages("down", Duration::from_secs(61));
    assert_eq!(offers(&qless, "qless length "), ["mail"]);
}

#[test]
fn completion_does_not_wait_for_a_server_that_hangs() {
    let redis = busy();
    redis.freeze();
    let home = Home::new();
    let qless = home.of(redis.at(100)).env("QLESS_COMPLETE_LIVE", "150ms");
    let qless = qless.env("QLESS_TIMEOUT", "60s");
    let begun = Instant::now();
    assert_eq!(offers(&qless, "qless length "), [""; 0]);
    let took = begun.elapsed();
    redis.thaw();
    assert!(took < Duration::from_secs(20), "{took:?}");
    assert!(home.files().contains_key("down"));
}

#[test]
fn completion_never_starts_a_local_server() {
    let home = Home::new();
    let dir = tempfile::Builder::new()
        .prefix("ql")
        .tempdir_in("/tmp")
        .unwrap();
    let night = dir.path().join("night");
    let qless = home.of(Qless::bare());
    let line = format!("qless --redis local:{} length ", night.display());
    assert_eq!(offers(&qless, &line), [""; 0]);
    assert!(!night.exists());
    // Once it runs it is asked: that it did not run is not remembered.
    let local = format!("--redis local:{}", night.display());
    Qless::bare().run(&format!("{local} put mail K")).ok();
    let offered = offers(&qless, &line);
    Qless::bare().run(&format!("{local} local stop")).ok();
    assert_eq!(offered, ["mail"]);
}

#[test]
fn flags_on_the_line_choose_the_server() {
    let redis = busy();
    redis.ok(100, "--prefix other: put elsewhere K");
    let home = Home::new();
    let config = home.0.path().join("config.toml");
    let text = format!(
        "[context.here]\nredis = \"{0}\"\n[context.there]\nredis = \"{0}\"\nprefix = \"other:\"\n",
        redis.url()
    );
    std::fs::write(&config, text).unwrap();
    let bare = home.of(Qless::bare());
    let url = redis.url();
    let other = offers(
        &bare,
        &format!("qless --redis {url} --prefix other: length "),
    );
    assert_eq!(other, ["elsewhere"]);
    let config = config.display();
    let there = offers(
        &bare,
        &format!("qless --config '{config}' length --context=there "),
    );
    assert_eq!(there, ["elsewhere"]);
    let contexts = offers(&bare, &format!("qless --config {config} --context "));
    assert_eq!(contexts, ["here", "there"]);
    // What only the shell knows is not guessed.
    assert_eq!(
        offers(&home.of(redis.at(100)), "qless --redis \"$URL\" length "),
        [""; 0]
    );
}

#[test]
fn completion_changes_nothing_and_prints_no_errors() {
    let redis = busy();
    let before = redis.dump();
    let home = Home::new();
    let qless = home.of(redis.at(9_999_999));
    for line in [
        "length ",
        "retry ",
        "cancel ",
        "recur rm ",
        "timeout ",
        "config get ",
    ] {
        assert!(
            !offers(&qless, &format!("qless {line}")).is_empty(),
            "{line}"
        );
    }
    assert_eq!(redis.dump(), before);
    let off = home.of(redis.at(100)).env("QLESS_COMPLETE_LIVE", "0");
    assert_eq!(offers(&off, "qless length "), [""; 0]);
    for (name, value) in [
        ("QLESS_TIMEOUT", "soon"),
        ("QLESS_CONFIG", "/nonexistent/config.toml"),
        ("QLESS_NOW", "soon"),
        ("QLESS_REDIS_URL", "nonsense"),
    ] {
        let wrong = home.of(redis.qless()).env(name, value);
        offers(&wrong, "qless length x");
    }
    for args in [
        &["__complete"][..],
        &["__complete", "csh", "x"],
        &["__complete", "bash"],
        &["__complete", "zsh"],
    ] {
        let ran = Qless::bare().args(args);
        assert_eq!(
            (ran.code(), ran.stdout() + &ran.stderr()),
            (0, String::new())
        );
    }
}

#[test]
fn names_that_no_shell_accepts_are_left_out_and_the_rest_is_limited() {
    let redis = Redis::start();
    for queue in [&b"plain"[..], b"-dash", b"bytes\xff"] {
        let queue = std::os::unix::ffi::OsStrExt::from_bytes(queue);
        let args: [&std::ffi::OsStr; 4] = ["put".as_ref(), "--".as_ref(), queue, "K".as_ref()];
        redis.at(100).args(args).ok();
    }
    let many = (0..300).map(|at| format!("many-{at:03}"));
    // A name with a line end can come from other clients only.
    let queues: Vec<String> = many.chain(["line\nend\x1b[31m".into()]).collect();
    let put = |queue| (100.0, vec!["put", "", queue, queue, "K", "{}", "0"]);
    redis.calls(queues.iter().map(|queue| put(queue)));
    let home = Home::new();
    let qless = home.of(redis.at(100));
    let all = offers(&qless, "qless length ");
    assert_eq!(all.len(), 200);
    let odd = |name: &&String| !name.starts_with("many-");
    assert!(all.iter().filter(odd).all(|name| name == "plain"));
    assert_eq!(offers(&qless, "qless length pl"), ["plain"]);
    assert_eq!(offers(&qless, "qless length line"), [""; 0]);
    assert_eq!(offers(&qless, "qless length many-29").len(), 10);
}
