//! `qless context`

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use expect_test::expect;
use serde_json::json;

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
    home.run("context").shows(expect![[r#"
        *	local	redis://127.0.0.1:6379/0	
        	prod	rediss://ops:***@redis.prod.example:6380/0	protected
        	viewer	redis://replica.prod.example:6379/0	read-only
    "#]]);
    expect![[r#"
           NAME    REDIS                                       FLAGS
        *  local   redis://127.0.0.1:6379/0
           prod    rediss://ops:***@redis.prod.example:6380/0  protected
           viewer  redis://replica.prod.example:6379/0         read-only
    "#]]
    .assert_eq(&on_terminal(&home.qless(), &["context"]));
    let named = home.qless().env("QLESS_CONTEXT", "viewer");
    named
        .run("context list --columns used,name")
        .shows(expect![[r#"
        	local
        	prod
        *	viewer
    "#]]);
    home.run("context list --columns nme").shows(expect![[r#"
        --- stderr
        error: `--columns`: no column is called `nme`
        hint: the columns are used, name, redis, flags
        --- exit 2
    "#]]);
    home.run("context -o jid").exits(2);
}

#[test]
fn contexts_are_printed_as_documents() {
    let home = ConfigHome::new(FILE);
    home.run("context list -o ndjson").shows(expect![[r#"
        {"name":"local","redis":"redis://127.0.0.1:6379/0","prefix":null,"label":"local","protected":false,"read_only":false,"password":null,"default":true,"used":true}
        {"name":"prod","redis":"rediss://ops:***@redis.prod.example:6380/0","prefix":null,"label":"PROD","protected":true,"read_only":false,"password":"password-command","default":false,"used":false}
        {"name":"viewer","redis":"redis://replica.prod.example:6379/0","prefix":null,"label":"viewer","protected":false,"read_only":true,"password":null,"default":false,"used":false}
    "#]]);
    let list = home.run("context -o json").json();
    assert_eq!(list["kind"], "contexts");
    assert_eq!(list["total"], 3);
    let one = home.run("context show prod -o json").json();
    assert_eq!(one["items"].as_array().unwrap().len(), 1);
    assert_eq!(one["items"][0]["name"], "prod");
}

#[test]
fn without_a_file_there_are_no_contexts() {
    let home = ConfigHome::empty();
    home.run("context").shows(expect![""]);
    assert_eq!(home.run("context -o json").json()["items"], json!([]));
    let seen = on_terminal(&home.qless(), &["context"]);
    assert!(seen.starts_with("no contexts\nhint: "), "{seen}");
    home.qless().session(expect![[r#"
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
    home.run("context show").shows(expect![[r#"
        name	local
        redis	redis://127.0.0.1:6379/0
        prefix	–
        password	–
        label	local
        flags	–
        default	yes
    "#]]);
    home.run("context show prod").shows(expect![[r#"
        name	prod
        redis	rediss://ops:***@redis.prod.example:6380/0
        prefix	–
        password	password-command
        label	PROD
        flags	protected
        default	no
    "#]]);
    assert_eq!(
        home.run("context show --context viewer").ok(),
        home.run("context show viewer").ok()
    );
    home.run("context show prdo").shows(expect![[r#"
        --- stderr
        error: context `prdo` does not exist
        hint: did you mean `prod`?
        --- exit 4
    "#]]);
    home.run("context show --context zzz").shows(expect![[r#"
        --- stderr
        error: context `zzz` does not exist
        hint: `qless context` lists those that there are
        --- exit 4
    "#]]);
    let home = ConfigHome::new("[context.a]\nredis = 'redis://h'\n");
    home.run("context show").shows(expect![[r#"
        --- stderr
        error: no context is in use
        hint: name one, or make one the default: `qless context use NAME`
        --- exit 4
    "#]]);
}

#[test]
fn changing_the_default_keeps_the_rest_of_the_file() {
    let home = ConfigHome::new(FILE);
    home.run("context use prod --dry-run").shows(expect![[r#"
        --- stderr
        would make `prod` the default context
    "#]]);
    assert_eq!(home.text(), FILE);
    home.run("context use prod").shows(expect![""]);
    let expected = FILE.replace("default = \"local\"", "default = \"prod\"");
    assert_eq!(home.text(), expected);
    home.run("context use prod").ok();
    assert_eq!(home.text(), expected);
    home.run("context use gone").exits(4);
    assert_eq!(home.text(), expected);
    home.qless().session(expect![[r#"
        $ qless context use viewer -o json | jq -c
        {"kind":"done","v":1,"action":"context use","targets":["viewer"]}
    "#]]);
    let home = ConfigHome::new("[context.a]\nredis = \"redis://h\"\n");
    home.run("context use a").ok();
    assert_eq!(
        home.text(),
        "default = \"a\"\n\n[context.a]\nredis = \"redis://h\"\n"
    );
}

#[test]
fn a_context_is_removed_with_its_comments() {
    let home = ConfigHome::new(FILE);
    home.run("context remove prod --dry-run").ok();
    assert_eq!(home.text(), FILE);
    home.run("context remove prod").shows(expect![""]);
    let (before, after) = FILE.split_once("# the big one").unwrap();
    let after = &after[after.find("\n[context.viewer]").unwrap()..];
    assert_eq!(
        home.text(),
        format!("{}{after}", before.trim_end_matches('\n').to_owned() + "\n")
    );
    home.run("context remove prod").exits(4);
    home.run("context remove local").shows(expect![[r#"
        --- stderr
        `local` was the default; there is none now
    "#]]);
    home.run("context remove viewer").shows(expect![""]);
    expect![[r##"
        # of the whole file

        [defaults]
        output = "table"

        # servers

        # the end
    "##]]
    .assert_eq(&home.text());
    home.run("context").shows(expect![""]);
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
    home.run("context add viewer --redis redis://replica:6379 --read-only --password-env PW")
        .shows(expect![""]);
    let later = "context add later --redis redis-sentinel://a,b/0?master=m";
    home.run(later).shows(expect![""]);
    let tls = "context add tls --redis rediss://h --tls-ca /etc/ca.pem --tls-cert /c --tls-key /k";
    home.run(tls).shows(expect![""]);
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
    home.run(add).shows(expect![[r#"
        --- stderr
        error: context `prod` exists already
        hint: remove it first, or edit the file
        --- exit 5
    "#]]);
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
    let home = ConfigHome::new("# only a comment\n");
    home.run("context add 'a b.c' --redis redis://h").ok();
    assert_eq!(
        home.text(),
        "# only a comment\n\n[context.\"a b.c\"]\nredis = \"redis://h\"\n"
    );
    assert_eq!(home.run("context show 'a b.c'").code(), 0);
    home.write("[context.a]\nredis = \"redis://h\"\n\n# the end\n");
    home.run("context add b --redis redis://h").ok();
    assert_eq!(
        home.text(),
        "[context.a]\nredis = \"redis://h\"\n\n# the end\n\n[context.b]\nredis = \"redis://h\"\n"
    );
    home.write("context = { a = { redis = \"redis://h\" } }\n");
    home.run("context add b --redis redis://g").ok();
    assert_eq!(home.run("context list --columns name").ok(), "a\nb");
    home.run("context remove a").ok();
    assert_eq!(home.run("context list --columns name").ok(), "b");
    home.write("context.a.redis = \"redis://h\"\n");
    home.run("context add b --redis redis://g").ok();
    assert_eq!(home.run("context list --columns name").ok(), "a\nb");
    home.run("context remove a").ok();
    assert_eq!(home.run("context list --columns name").ok(), "b");
}

#[test]
fn line_ends_and_byte_order_marks_stay() {
    let text = "# c\ndefault = \"a\"  # x\n\n[context.a]\nredis = \"redis://h\"\n# about b\n\
                [context.b]\nredis = \"redis://g\"\n";
    let dos = |text: &str| text.replace('\n', "\r\n");
    let home = ConfigHome::new(&dos(text));
    home.run("context use b").ok();
    assert_eq!(home.text(), dos(&text.replace("\"a\"", "\"b\"")));
    home.run("context remove a").ok();
    let left = "# c\ndefault = \"b\"  # x\n\n# about b\n[context.b]\nredis = \"redis://g\"\n";
    assert_eq!(home.text(), dos(left));
    home.write(&format!("\u{feff}{text}"));
    home.run("context use b").ok();
    assert_eq!(
        home.text(),
        format!("\u{feff}{}", text.replace("\"a\"", "\"b\""))
    );
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
    let home = ConfigHome::new(FILE);
    home.run("context add a --redis redis://h --config /dev/null")
        .shows(expect![[r#"
            --- stderr
            error: cannot write `/dev/null`: it is not a file
            hint: `--config FILE` names another file
            --- exit 1
        "#]]);
    home.run("context add a --redis redis://h --config /proc/nowhere/c.toml")
        .exits(1);
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
fn context_use_replaces_a_default_that_does_not_exist() {
    let home = ConfigHome::new("default = \"gone\"\n[context.a]\nredis = \"redis://h\"\n");
    home.run("queues").shows(expect![[r#"
        --- stderr
        error: config file `HOME/qless/config.toml`, line 1, column 11: `default` names no context, `gone` does not exist
        hint: known are a
        --- exit 2
    "#]]);
    home.run("context use a").ok();
    assert_eq!(home.run("context list --columns used,name").ok(), "*\ta");
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
    let qless = redis.qless();
    let qless = home.with(qless).env("QLESS_REDIS_URL", "");
    let version = qless.run("context validate good -o json").json();
    let version = version["items"][0]["server"].as_str().unwrap().to_owned();
    let qless = qless.hide(&version, "VERSION");
    qless.run("context validate").shows(expect![[r#"
        	good	unix://DIR/s	VERSION
        	bad	unix://DIR/s	`unix://DIR/s` refuses the password
        	none	unix:///nonexistent/s	cannot open `/nonexistent/s`: no such file or directory
        --- exit 6
    "#]]);
    assert_eq!(
        qless.run("context validate good").ok(),
        "\tgood\tunix://DIR/s\tVERSION"
    );
    qless.run("context validate none").shows(expect![[r#"
        --- stderr
        error: cannot open `/nonexistent/s`: no such file or directory
        hint: pass `--redis URL` or set QLESS_REDIS_URL
        --- exit 6
    "#]]);
    let grouped = "[context.both]\nmembers = [\"good\", \"none\"]\n";
    home.write(&format!("{}{grouped}", home.text()));
    qless.run("context validate both").shows(expect![[r#"
        	both	–	that of good, none
        	good	unix://DIR/s	VERSION
        	none	unix:///nonexistent/s	cannot open `/nonexistent/s`: no such file or directory
        --- exit 6
    "#]]);
    qless.run("context validate gone").exits(4);
    let all = qless.run("context validate -o json").exits(6);
    let all: serde_json::Value = serde_json::from_str(&all.stdout()).unwrap();
    assert_eq!(all["items"][1]["server"], serde_json::Value::Null);
    assert!(
        all["items"][1]["error"]
            .as_str()
            .unwrap()
            .contains("refuses")
    );
}

#[test]
fn read_only_does_not_protect_the_config_file() {
    let home = ConfigHome::new(FILE);
    let qless = home.qless().env("QLESS_READ_ONLY", "1");
    qless.run("context use viewer").ok();
    qless.run("context use prod").ok();
    qless.run("context add b --redis redis://h").ok();
    assert!(
        !home
            .text()
            .contains("[context.b]\nredis = \"redis://h\"\nread-only")
    );
    home.run("context remove b").ok();
}

#[test]
fn control_characters_in_context_names_are_escaped() {
    let home =
        ConfigHome::new("[context.\"a\\u001b[2Jb\"]\nredis = \"redis://h\"\nlabel = \"x\\ty\"\n");
    home.run("context").shows(expect![[r#"
        --- stderr
        error: config file `HOME/qless/config.toml`, line 3, column 9: `label` holds a control character, U+0009
        --- exit 2
    "#]]);
    home.write("[context.\"a\\u001b[2J\\u202eb\"]\nredis = \"redis://h\\u001b\"\n");
    for line in [
        "context",
        "context -o json",
        "context show zz",
        "queues --context zz",
    ] {
        let ran = home.run(line);
        let output = ran.stdout() + &ran.stderr();
        assert!(!output.contains(['\x1b', '\u{202e}']), "{line}: {output:?}");
    }
    let shown = home.run("context --columns name,redis");
    shown.shows(expect![[r#"
        a\x1b[2J\u{202e}b	redis://h:6379/0
    "#]]);
}
