//! `qless context`

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use expect_test::expect;

use crate::support::config::ConfigHome;
use crate::support::qless::Qless;
use crate::support::redis::Redis;
use crate::support::terminal;

/// A file with all keys, and other servers.
const FILE: &str = r#"# of the whole file
default = "local"   # this machine

[defaults]
output = "table"

[context.local]
redis = "redis://127.0.0.1:6379/0"

# servers

# the big one
[context.prod]
redis            = "rediss://ops@redis.prod.example:6380/0"
password-command = ["pass", "show", "redis/prod"]
protected        = true      # bulk writes ask for the context's name
label            = "PROD"    # shown in prompts, top and dry runs

[context.viewer]
redis     = "redis://replica.prod.example:6379/0"
read-only = true
# the end
"#;

/// Runs it on a terminal and returns what it wrote.
fn on_terminal(qless: &Qless, args: &[&str]) -> String {
    let mut command: Command = qless.command();
    command.args(args);
    terminal::run(command, 100).stdout()
}

#[test]
fn contexts_are_listed_with_a_mark_at_the_current_one() {
    let home = ConfigHome::new(FILE);
    home.qless().session(expect![[r#"
        $ qless context
        *	local	redis://127.0.0.1:6379/0	
        	prod	rediss://ops:***@redis.prod.example:6380/0	protected
        	viewer	redis://replica.prod.example:6379/0	read-only
        $ qless context list --columns nme
        --- stderr
        error: `--columns`: no column is called `nme`
        hint: the columns are used, name, redis, flags
        --- exit 2
        $ qless context -o jid &>/dev/null
        --- exit 2
        $ qless context list -o ndjson
        {"name":"local","redis":"redis://127.0.0.1:6379/0","prefix":null,"label":"local","protected":false,"read_only":false,"password":null,"default":true,"used":true}
        {"name":"prod","redis":"rediss://ops:***@redis.prod.example:6380/0","prefix":null,"label":"PROD","protected":true,"read_only":false,"password":"password-command","default":false,"used":false}
        {"name":"viewer","redis":"redis://replica.prod.example:6379/0","prefix":null,"label":"viewer","protected":false,"read_only":true,"password":null,"default":false,"used":false}
        $ qless context -o json | jq -c '[.kind, .total, .items[].name]'
        ["contexts",3,"local","prod","viewer"]
        $ qless context show prod -o json | jq -c '[.kind, .total, .items[].name]'
        ["contexts",1,"prod"]
    "#]]);
    expect![[r#"
           NAME    REDIS                                       FLAGS
        *  local   redis://127.0.0.1:6379/0
           prod    rediss://ops:***@redis.prod.example:6380/0  protected
           viewer  redis://replica.prod.example:6379/0         read-only
    "#]]
    .assert_eq(&on_terminal(&home.qless(), &["context"]));
    let named = home.qless().env("QLESS_CONTEXT", "viewer");
    named.session(expect![[r#"
        $ qless context list --columns used,name
        	local
        	prod
        *	viewer
    "#]]);
}

#[test]
fn without_a_file_there_are_no_contexts() {
    let home = ConfigHome::empty();
    let seen = on_terminal(&home.qless(), &["context"]);
    assert!(seen.starts_with("no contexts\nhint: "), "{seen}");
    home.qless().session(expect![[r#"
        $ qless context
        $ qless context -o json | jq -c .items
        []
        $ qless context --config here.toml
        --- stderr
        error: cannot read config file `here.toml`: no such file or directory
        hint: `--config none` reads no file
        --- exit 2
        $ qless context use prod
        --- stderr
        error: context `prod` does not exist: there is no config file `HOME/qless/config.toml`
        hint: `qless context add NAME --redis URL` writes it
        --- exit 4
        $ qless context add prod --redis redis://h --config none
        --- stderr
        error: there is no config file to write
        hint: name one with `--config FILE`, or set HOME
        --- exit 2
    "#]]);
}

#[test]
fn one_context_is_shown_in_full() {
    let home = ConfigHome::new(FILE);
    home.qless().session(expect![[r#"
        $ qless context show
        name	local
        redis	redis://127.0.0.1:6379/0
        prefix	–
        password	–
        label	local
        flags	–
        default	yes
        $ qless context show prod
        name	prod
        redis	rediss://ops:***@redis.prod.example:6380/0
        prefix	–
        password	password-command
        label	PROD
        flags	protected
        default	no
        $ qless context show prdo
        --- stderr
        error: context `prdo` does not exist
        hint: did you mean `prod`?
        --- exit 4
        $ qless context show --context zzz
        --- stderr
        error: context `zzz` does not exist
        hint: `qless context` lists those that there are
        --- exit 4
    "#]]);
    assert_eq!(
        home.run("context show --context viewer").ok(),
        home.run("context show viewer").ok()
    );
    let home = ConfigHome::new("[context.a]\nredis = 'redis://h'\n");
    home.qless().session(expect![[r#"
        $ qless context show
        --- stderr
        error: no context is in use
        hint: name one, or make one the default: `qless context use NAME`
        --- exit 4
    "#]]);
}

#[test]
fn changing_the_default_keeps_the_rest_of_the_file() {
    let home = ConfigHome::new(FILE);
    home.qless().session(expect![[r#"
        $ qless context use prod --dry-run
        --- stderr
        would make `prod` the default context
    "#]]);
    assert_eq!(home.text(), FILE);
    let expected = FILE.replace("default = \"local\"", "default = \"prod\"");
    for (name, code) in [("prod", 0), ("prod", 0), ("gone", 4)] {
        home.run(&format!("context use {name}")).exits(code);
        assert_eq!(home.text(), expected);
    }
    home.qless().session(expect![[r#"
        $ qless context use viewer -o json | jq -c
        {"kind":"done","v":1,"action":"context use","targets":["viewer"]}
    "#]]);
    let table = "[context.a]\nredis = \"redis://h\"\n";
    home.write(table);
    home.run("context use a").ok();
    assert_eq!(home.text(), format!("default = \"a\"\n\n{table}"));
    home.write(&format!("default = \"gone\"\n{table}"));
    home.qless().session(expect![[r#"
        $ qless queues
        --- stderr
        error: config file `HOME/qless/config.toml`, line 1, column 11: `default` names no context, `gone` does not exist
        hint: known are a
        --- exit 2
        $ qless context use a
        $ qless context list --columns used,name
        *	a
    "#]]);
}

#[test]
fn a_context_is_removed_with_its_comments() {
    let home = ConfigHome::new(FILE);
    home.run("context remove prod --dry-run").ok();
    assert_eq!(home.text(), FILE);
    home.run("context remove prod").ok();
    let (before, after) = FILE.split_once("\n# the big one").unwrap();
    let after = &after[after.find("\n[context.viewer]").unwrap()..];
    assert_eq!(home.text(), format!("{before}{after}"));
    home.qless().session(expect![[r#"
        $ qless context remove prod &>/dev/null
        --- exit 4
        $ qless context remove local
        --- stderr
        `local` was the default; there is none now
        $ qless context remove viewer
        $ qless context
    "#]]);
    expect![[r##"
        # of the whole file

        [defaults]
        output = "table"

        # servers

        # the end
    "##]]
    .assert_eq(&home.text());
}

#[test]
fn a_context_is_added_from_flags() {
    let home = ConfigHome::empty();
    let add = "context add prod --redis redis://ops@redis.prod.example:6380/0 --protected --label 'PROD EU' \
               --prefix {mail}: --password-command pass show redis/prod";
    home.run(&format!("{add} --dry-run")).shows(expect![[r#"
        --- stderr
        would add context `prod`
    "#]]);
    assert!(!home.path().exists());
    home.run(add).shows(expect![""]);
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&home.path()), 0o600);
    assert_eq!(mode(home.path().parent().unwrap()), 0o700);
    home.qless().session(expect![[r#"
        $ qless context add viewer --redis redis://replica:6379 --read-only --password-env PW
        $ qless context add later --redis redis-sentinel://a,b/0?master=m
        $ qless context add tls --redis rediss://h --tls-ca /etc/ca.pem --tls-cert /c --tls-key /k
        $ qless context add prod --redis redis://h
        --- stderr
        error: context `prod` exists already
        hint: remove it first, or edit the file
        --- exit 5
    "#]]);
    expect![[r#"
        [context.prod]
        redis = "redis://ops@redis.prod.example:6380/0"
        prefix = "{mail}:"
        password-command = ["pass", "show", "redis/prod"]
        protected = true
        label = "PROD EU"

        [context.viewer]
        redis = "redis://replica:6379"
        password-env = "PW"
        read-only = true

        [context.later]
        redis = "redis-sentinel://a,b/0?master=m"

        [context.tls]
        redis = "rediss://h"
        tls-ca = "/etc/ca.pem"
        tls-cert = "/c"
        tls-key = "/k"
    "#]]
    .assert_eq(&home.text());
}

#[test]
fn an_invalid_context_is_not_added() {
    let home = ConfigHome::empty();
    let elsewhere = home.qless().env("QLESS_REDIS_URL", "redis://env:1");
    elsewhere.run("context add prod").shows(expect![[r#"
        --- stderr
        error: `--redis` is missing: a context requires an address
        hint: `qless context add NAME --redis redis://HOST:6379`
        --- exit 2
    "#]]);
    for line in [
        "context add '' --redis redis://h",
        "context add a --redis http://h",
        "context add a --redis redis://h/x",
        "context add a --redis rediss://",
        "context add a --redis redis://h --prefix x",
        "context add a --redis redis://h --label ''",
        "context add a --redis redis://h --password-env A=B",
        "context add a --redis redis://h --password-env A --password-command b",
        "context add a --redis redis://h --password-command",
        "context add 'a\nb' --redis redis://h",
    ] {
        home.run(line).exits(2);
    }
    assert!(!home.path().exists());
}

#[test]
fn contexts_are_added_after_comments_and_in_any_notation() {
    let home = ConfigHome::new("");
    for (name, before, added) in [
        ("a b.c", "# only a comment\n", "[context.\"a b.c\"]"),
        (
            "b",
            "[context.a]\nredis = \"redis://h\"\n\n# the end\n",
            "[context.b]",
        ),
    ] {
        home.write(before);
        home.run(&format!("context add '{name}' --redis redis://h"))
            .ok();
        let text = format!("{before}\n{added}\nredis = \"redis://h\"\n");
        assert_eq!(home.text(), text);
        home.run(&format!("context show '{name}'")).ok();
    }
    for notation in [
        "context = { a = { redis = \"redis://h\" } }\n",
        "context.a.redis = \"redis://h\"\n",
    ] {
        home.write(notation);
        home.qless().session(expect![[r#"
            $ qless context add b --redis redis://g
            $ qless context list --columns name
            a
            b
            $ qless context remove a
            $ qless context list --columns name
            b
        "#]]);
    }
}

#[test]
fn line_ends_and_byte_order_marks_stay() {
    let text = "# c\ndefault = \"a\"  # x\n\n[context.a]\nredis = \"redis://h\"\n# about b\n\
                [context.b]\nredis = \"redis://g\"\n";
    let dos = |text: &str| text.replace('\n', "\r\n");
    let changed = text.replace("\"a\"", "\"b\"");
    let home = ConfigHome::new(&dos(text));
    home.run("context use b").ok();
    assert_eq!(home.text(), dos(&changed));
    home.run("context remove a").ok();
    let left = "# c\ndefault = \"b\"  # x\n\n# about b\n[context.b]\nredis = \"redis://g\"\n";
    assert_eq!(home.text(), dos(left));
    home.write(&format!("\u{feff}{text}"));
    home.run("context use b").ok();
    assert_eq!(home.text(), format!("\u{feff}{changed}"));
}

#[test]
fn a_symbolic_link_is_followed_and_the_mode_of_its_file_kept() {
    let home = ConfigHome::new("");
    let real = home.dir().join("real.toml");
    std::fs::rename(home.path(), &real).unwrap();
    std::fs::set_permissions(&real, PermissionsExt::from_mode(0o640)).unwrap();
    symlink("../real.toml", home.path()).unwrap();
    home.run("context add a --redis redis://h").ok();
    assert!(home.path().is_symlink());
    let found = std::fs::metadata(&real).unwrap();
    assert_eq!(found.permissions().mode() & 0o777, 0o640);
    assert_eq!(std::fs::read_to_string(&real).unwrap(), home.text());
    std::fs::remove_file(&real).unwrap();
    home.run("context add a --redis redis://h").ok();
    assert!(home.path().is_symlink() && real.is_file());
    let names = |dir: &Path| std::fs::read_dir(dir).unwrap().count();
    assert_eq!(
        (names(home.dir()), names(home.path().parent().unwrap())),
        (2, 1)
    );
}

#[test]
fn a_config_file_that_cannot_be_written_is_an_error() {
    ConfigHome::new(FILE).qless().session(expect![[r#"
        $ qless context add a --redis redis://h --config /dev/null
        --- stderr
        error: cannot write `/dev/null`: it is not a file
        hint: `--config FILE` names another file
        --- exit 1
        $ qless context add a --redis redis://h --config /proc/nowhere/c.toml &>/dev/null
        --- exit 1
    "#]]);
}

#[test]
fn contexts_added_concurrently_are_all_kept() {
    let home = ConfigHome::empty();
    let add = |number: usize| {
        let mut command = home.qless().command();
        let name = format!("c{number}");
        command.args(["context", "add", &name, "--redis", "redis://h"]);
        command.spawn().unwrap()
    };
    let children: Vec<_> = (0..20).map(add).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let names = home.run("context list --columns name --sort name").ok();
    assert_eq!(names.lines().count(), 20, "{names}");
    let files = std::fs::read_dir(home.path().parent().unwrap()).unwrap();
    assert_eq!(files.count(), 1);
}

#[test]
fn errors_elsewhere_in_the_file_are_left_alone() {
    let text = "[context.a]\nredis = \"redis://h\"\nlabell = \"A\"\n";
    let home = ConfigHome::new(text);
    for line in [
        "context add b --redis redis://h",
        "context use a",
        "context remove a",
        "context",
    ] {
        home.run(line).exits(2);
    }
    assert_eq!(home.text(), text);
}

#[test]
fn context_validate_connects_to_the_server() {
    let redis = Redis::with(&["--requirepass", "geheim"]);
    let home = ConfigHome::new(&format!(
        "[context.good]\nredis = \"{0}\"\npassword-command = [\"echo\", \"geheim\"]\n\
         [context.bad]\nredis = \"{0}\"\npassword-command = [\"echo\", \"falsch\"]\n\
         [context.none]\nredis = \"unix:///nonexistent/s\"\n",
        redis.url()
    ));
    let qless = home.with(redis.qless()).env("QLESS_REDIS_URL", "");
    let version = qless.run("context validate good -o json").json();
    let version = version["items"][0]["server"].as_str().unwrap().to_owned();
    let qless = qless.hide(&version, "VERSION");
    qless.session(expect![[r#"
        $ qless context validate
        	good	unix://DIR/s	VERSION
        	bad	unix://DIR/s	`unix://DIR/s` refuses the password
        	none	unix:///nonexistent/s	cannot open `/nonexistent/s`: no such file or directory
        --- exit 6
        $ qless context validate good
        	good	unix://DIR/s	VERSION
        $ qless context validate none
        --- stderr
        error: cannot open `/nonexistent/s`: no such file or directory
        hint: pass `--redis URL` or set QLESS_REDIS_URL
        --- exit 6
        $ qless context validate gone &>/dev/null
        --- exit 4
        $ qless context validate -o json | jq -c '[.items[].server, .items[1].error]'
        ["VERSION",null,null,"`unix://DIR/s` refuses the password"]
        --- exit 6
    "#]]);
    let grouped = "[context.both]\nmembers = [\"good\", \"none\"]\n";
    home.write(&format!("{}{grouped}", home.text()));
    qless.session(expect![[r#"
        $ qless context validate both
        	both	–	that of good, none
        	good	unix://DIR/s	VERSION
        	none	unix:///nonexistent/s	cannot open `/nonexistent/s`: no such file or directory
        --- exit 6
    "#]]);
}

#[test]
fn read_only_does_not_protect_the_config_file() {
    let home = ConfigHome::new(FILE);
    let qless = home.qless().env("QLESS_READ_ONLY", "1");
    qless.run("context use viewer").ok();
    qless.run("context add b --redis redis://h").ok();
    let added = "[context.b]\nredis = \"redis://h\"\n";
    assert!(home.text().ends_with(added), "{}", home.text());
    qless.run("context remove b").ok();
}

#[test]
fn control_characters_in_context_names_are_escaped() {
    let home =
        ConfigHome::new("[context.\"a\\u001b[2Jb\"]\nredis = \"redis://h\"\nlabel = \"x\\ty\"\n");
    home.qless().session(expect![[r#"
        $ qless context
        --- stderr
        error: config file `HOME/qless/config.toml`, line 3, column 9: `label` holds a control character, U+0009
        --- exit 2
    "#]]);
    home.write("[context.\"a\\u001b[2J\\u202eb\"]\nredis = \"redis://h\\u001b\"\n");
    for line in ["context -o json", "context show zz", "queues --context zz"] {
        let ran = home.run(line);
        let output = ran.stdout() + &ran.stderr();
        assert!(!output.contains(['\x1b', '\u{202e}']), "{line}: {output:?}");
    }
    home.qless().session(expect![[r#"
        $ qless context --columns name,redis
        a\x1b[2J\u{202e}b	redis://h:6379/0
    "#]]);
}
