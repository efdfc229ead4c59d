//! Where a listener can be opened, and its flags.

use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use clap::{Args, FromArgMatches};
use expect_test::expect;
use rustix::io::{Errno, ioctl_fionbio};
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

use qless::internals::listen::{
    AccessRules, ListenAddress, ListenOptions, Listener, Request, Response, Status,
};
use qless::internals::{Error, Secret};

use crate::support::files::give_away;
use crate::support::listener::{bind, listen_address, read_to_end, summary, wait_until};
use crate::support::text::{Shows, rows};

fn shown(error: &Error) -> String {
    let kind: &str = error.kind().into();
    let hint = error.hint_text().unwrap_or_default();
    format!("{kind}: {}\nhint: {hint}\n", error.message())
}

fn refused(address: &ListenAddress) -> String {
    shown(&Listener::bind(address, AccessRules::default()).unwrap_err())
}

fn token() -> AccessRules {
    AccessRules {
        token: Some(Secret::new(b"t".to_vec())),
        ..AccessRules::default()
    }
}

#[test]
fn addresses_are_read_strictly() {
    let table = "
        127.0.0.1:9123 | 127.0.0.1:9123
        :9123 | 127.0.0.1:9123
        [::1]:9123 | [::1]:9123
        Metrics.Example:80 | metrics.example:80
        localhost:0 | localhost:0
        0.0.0.0:65535 | 0.0.0.0:65535
        unix:/run/qless/metrics.sock | unix:/run/qless/metrics.sock
        unix:\u{1b}x | unix:\\x1bx
        : | refused
        9123 | refused
        localhost | refused
        ::1:9123 | refused
        [::1] | refused
        127.0.0.1:65536 | refused
        127.0.0.1:+80 | refused
        127.0.0.1: | refused
        a b:80 | refused
        http://127.0.0.1:80 | refused
        unix: | refused
    ";
    for (typed, expected) in rows(table).chain([("", "refused")]) {
        let read = ListenAddress::parse(typed.as_ref());
        let read = read.map_or("refused".to_owned(), |address| address.to_string());
        assert_eq!(read, expected, "{typed}");
    }
}

#[test]
fn an_address_that_other_machines_reach_needs_a_token() {
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:9123"] {
        let refused = refused(&listen_address(address));
        assert!(refused.starts_with("usage: cannot listen"), "{refused}");
    }
    refused(&listen_address("0.0.0.0:9123")).shows(expect![[r#"
        usage: cannot listen on `0.0.0.0:9123` without `--token-file`: other machines can reach it
        hint: `--token-file FILE` names a file with a token that each request must send; only this machine reaches `127.0.0.1:9123`
    "#]]);
    bind("0.0.0.0:0", token());
    bind("localhost:0", AccessRules::default());
}

#[test]
fn an_address_that_cannot_be_opened_is_an_error_with_a_hint() {
    let taken = bind("127.0.0.1:0", AccessRules::default());
    let address = taken.url().replace("http://", "");
    let port = address.strip_prefix("127.0.0.1:").unwrap();
    let shown = refused(&listen_address(&address)).replace(port, "PORT");
    shown.shows(expect![[r#"
        error: cannot listen on `127.0.0.1:PORT`: address already in use
        hint: another process listens there: name another port, or 0 for any free one
    "#]]);
    let elsewhere = Listener::bind(&listen_address("192.0.2.1:9123"), token()).unwrap_err();
    self::shown(&elsewhere).shows(expect![[r#"
        error: cannot listen on `192.0.2.1:9123`: cannot assign requested address
        hint: name an address of this machine, such as `127.0.0.1:9123`
    "#]]);
    let unknown = refused(&listen_address("no-such-host.invalid:9123"));
    assert!(
        unknown.starts_with("error: cannot listen on `no-such-host.invalid:9123`: "),
        "{unknown}"
    );
}

#[test]
fn a_port_is_free_again_after_the_listener() {
    let first = bind("127.0.0.1:0", AccessRules::default());
    let address = first.url().replace("http://", "");
    drop(first);
    bind(&address, AccessRules::default());
}

#[test]
fn a_unix_socket_is_private_and_removed_at_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("q.sock");
    let listener = bind(&format!("unix:{}", path.display()), AccessRules::default());
    assert_eq!(listener.url(), format!("unix:{}", path.display()));
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let answer = |_: &Request| Response::text(Status::Ok, "hello");
            listener.serve(answer, || stop.load(Ordering::Relaxed));
        });
        let ask = |host: &str| {
            let mut stream = UnixStream::connect(&path).unwrap();
            write!(stream, "GET / HTTP/1.0\r\nHost: {host}\r\n\r\n").unwrap();
            summary(&read_to_end(&mut stream))
        };
        let answers = [ask("localhost"), ask("evil.example")];
        stop.store(true, Ordering::Relaxed);
        answers.join("\n").shows(expect![[r#"
            200 OK: hello
            421 Misdirected Request: `evil.example` is not a name of this listener: start it with `--allow-host` and the name"#]]);
    });
    drop(listener);
    assert!(!path.exists());
}

#[test]
fn a_unix_socket_is_replaced_only_if_nobody_listens() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("q.sock");
    let address = listen_address(&format!("unix:{}", path.display()));
    let refused = || {
        let refused = refused(&address);
        refused.replace(&dir.path().display().to_string(), "DIR")
    };
    let live = Listener::bind(&address, AccessRules::default()).unwrap();
    refused().shows(expect![[r#"
        error: cannot listen on `unix:DIR/q.sock`: another process listens there
        hint: name another path
    "#]]);
    assert!(path.exists());
    drop(live);
    // This one accepts no connection, and its queue is full.
    let own = SocketAddrUnix::new(&path).unwrap();
    // No program that another test starts inherits it: then it would still listen.
    let new_socket = || {
        let flags = SocketFlags::CLOEXEC;
        net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).unwrap()
    };
    let hung = new_socket();
    net::bind(&hung, &own).unwrap();
    net::listen(&hung, 0).unwrap();
    let mut clients = Vec::new();
    wait_until(|| {
        let client = new_socket();
        ioctl_fionbio(&client, true).unwrap();
        let connected = net::connect(&client, &own);
        clients.push(client);
        connected == Err(Errno::AGAIN)
    });
    refused().shows(expect![[r#"
        error: cannot listen on `unix:DIR/q.sock`: another process listens there
        hint: name another path
    "#]]);
    net::shutdown(&hung, net::Shutdown::Both).unwrap();
    drop(hung);
    // The file is left, as after a crash.
    assert!(path.exists());
    let stale = Listener::bind(&address, AccessRules::default()).unwrap();
    // Another socket of this name is not removed.
    fs::remove_file(&path).unwrap();
    let other = UnixListener::bind(&path).unwrap();
    drop(stale);
    assert!(path.exists());
    drop(other);
    if give_away(&path) {
        let refused = refused();
        assert!(refused.contains("belongs to another user"), "{refused}");
    }
    fs::remove_file(&path).unwrap();
    File::create(&path).unwrap();
    refused().shows(expect![[r#"
        error: cannot listen on `unix:DIR/q.sock`: the file exists and is not a socket
        hint: name another path
    "#]]);
    let long = listen_address(&format!(
        "unix:{}/{}",
        dir.path().display(),
        "x".repeat(108)
    ));
    let missing = listen_address("unix:/nonexistent/q.sock");
    for address in [long, missing] {
        let shown = self::refused(&address);
        assert!(shown.ends_with("may write\n"), "{shown}");
        assert!(
            shown.starts_with("error: cannot listen on `unix:"),
            "{shown}"
        );
    }
}

fn parse(args: &[&str]) -> Result<ListenOptions, clap::Error> {
    let command = ListenOptions::augment_args(clap::Command::new("metrics"));
    let matches = command.try_get_matches_from([&["metrics"], args].concat())?;
    ListenOptions::from_arg_matches(&matches)
}

#[test]
fn who_may_ask_is_said_only_of_a_listener() {
    let options = parse(&[
        "--listen",
        ":9123",
        "--allow-host",
        "a.example",
        "--allow-host=B.example",
    ]);
    let options = options.unwrap();
    assert_eq!(options.listen, Some(listen_address("127.0.0.1:9123")));
    let hosts: Vec<String> = options
        .access
        .allow_host
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(hosts, ["a.example", "b.example"]);
    for wrong in [
        ["--allow-host", "a.example"].as_slice(),
        &["--token-file", "f"],
        &["--listen", ":1", "--allow-host", "a.example:80"],
        &["--listen", ":1", "--allow-host", ""],
        &["--listen", "x"],
    ] {
        assert!(parse(wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn the_token_is_the_first_line_of_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("token");
    let read = |content: &str, mode: u32| {
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        let typed = path.to_str().unwrap();
        let options = parse(&["--listen", ":1", "--token-file", typed]).unwrap();
        let mut shown = String::new();
        let access = options
            .access
            .read_access(|warning| shown += &format!("warning: {warning}\n"));
        shown += &match access {
            Ok(access) => format!("{}\n", access.token.unwrap().reveal().escape_ascii()),
            Err(error) => self::shown(&error),
        };
        shown.replace(dir.path().to_str().unwrap(), "DIR")
    };
    let read = [
        read("s3cret+/=\r\nmore\n", 0o600),
        read("s3cret", 0o644),
        read("\ns3cret", 0o600),
        read("two words\n", 0o600),
        read("schlüssel\n", 0o600),
    ];
    read.concat().shows(expect![[r#"
        s3cret+/=
        warning: other users may read the token file `DIR/token`
        s3cret
        usage: the first line of token file `DIR/token` is empty
        hint: 
        usage: the token in `DIR/token` has a character that no request can carry in a header
        hint: write printable ASCII without blanks
        usage: the token in `DIR/token` has a character that no request can carry in a header
        hint: write printable ASCII without blanks
    "#]]);
    fs::remove_file(&path).unwrap();
    let gone = parse(&["--listen", ":1", "--token-file", path.to_str().unwrap()]).unwrap();
    let error = shown(&gone.access.read_access(|_| {}).unwrap_err());
    assert!(error.contains("no such file"), "{error}");
}
