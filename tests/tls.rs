//! Connections with TLS: what works, and what is reported if one cannot be made.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use expect_test::expect;
use rcgen::{BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, date_time_ymd};

use crate::support::proxy::{answering, free_port, listen};
use crate::support::qless::{Qless, RunOutput};
use crate::support::redis::Redis;
use crate::support::tls::{Authority, Pair, TlsRedis};

const SECRET: &str = "geheim-4711";

/// Long after each timeout of these tests, and long before the end of a call without one.
const LATE: Duration = Duration::from_secs(8);

/// Starts a server with a certificate that differs, and runs a command that trusts its CA.
fn run_against(names: &[&str], change: impl Fn(&mut CertificateParams)) -> RunOutput {
    let authority = Authority::new();
    let pair = authority.issue_with(names, change);
    let server = TlsRedis::of(&authority, &pair, &["--tls-auth-clients", "no"]);
    server.qless().run("length q")
}

#[test]
fn commands_run_over_tls() {
    let server = TlsRedis::start();
    let qless = server.stranger();
    let ca = format!("--tls-ca {}", server.file("ca.pem").display());
    let put = qless.run(&format!("{ca} put mail K {{}} --jid welcome-42"));
    assert_eq!(put.ok(), "welcome-42");
    for scheme in ["rediss", "valkeys"] {
        for host in ["localhost", "127.0.0.1"] {
            let url = format!("{scheme}://{host}:{}/0", server.port);
            let length = qless.run(&format!("--redis {url} {ca} length mail"));
            assert_eq!(length.ok(), "1", "{url}");
        }
    }
    let traced = server.qless().run("-v length mail");
    assert!(
        traced
            .stderr()
            .contains("connected to rediss://localhost:PORT/0, Redis")
    );
}

#[test]
fn an_address_of_ipv6_is_a_name_of_a_certificate() {
    if TcpListener::bind("[::1]:0").is_err() {
        eprintln!("not tested: this machine has no IPv6");
        return;
    }
    let server = TlsRedis::start();
    let url = format!("rediss://[::1]:{}", server.port);
    assert_eq!(
        server
            .qless()
            .env("QLESS_REDIS_URL", url)
            .run("length q")
            .ok(),
        "0"
    );
}

#[test]
fn both_versions_of_tls_are_spoken() {
    for version in ["TLSv1.2", "TLSv1.3"] {
        let server = TlsRedis::with(&["--tls-auth-clients", "no", "--tls-protocols", version]);
        assert_eq!(server.qless().run("length q").ok(), "0", "{version}");
    }
}

#[test]
fn a_server_without_a_common_version_is_reported() {
    let options = ["--tls-auth-clients", "no", "--tls-protocols", "TLSv1.2"];
    // `qless` has no cipher with SHA-1.
    let cipher = ["--tls-ciphers", "ECDHE-ECDSA-AES128-SHA"];
    let server = TlsRedis::with(&[&options[..], &cipher].concat());
    server.qless().run("length q").shows(expect![[r#"
        --- stderr
        error: `localhost:PORT` has no TLS version or cipher in common with `qless`
        hint: `qless` speaks TLS 1.2 and 1.3
        --- exit 6
    "#]]);
}

#[test]
fn pipelines_of_megabytes_travel_over_tls() {
    let server = TlsRedis::start();
    let data = "x".repeat(20_000);
    let lines: String = (0..500)
        .map(|n| {
            format!("{{\"queue\":\"q\",\"klass\":\"K\",\"jid\":\"j{n}\",\"data\":\"{data}\"}}\n")
        })
        .collect();
    let qless = server.qless().input(lines);
    qless.run("put --from - --quiet").exits(0);
    assert_eq!(server.qless().run("length q").ok(), "500");
    let data_back = server.qless().run("get j499 --data").ok();
    assert_eq!(data_back, format!("\"{data}\""));
}

/// Waits until a command has subscribed.
#[track_caller]
fn until_subscribed(server: &TlsRedis) {
    let deadline = Instant::now() + LATE;
    while server.redis.subscribers() == 0 {
        assert!(Instant::now() < deadline);
        thread::sleep(Duration::from_millis(2));
    }
}

/// The job expires as soon as it is complete, so that only the message says that it was.
#[test]
fn messages_arrive_over_tls() {
    let server = TlsRedis::start();
    server
        .redis
        .calls([(1.0, vec!["config.set", "jobs-history", "-1"])]);
    let qless = server.qless();
    for jid in ["a", "b"] {
        qless.run(&format!("put q K --jid {jid}")).ok();
        qless.run("pop q").ok();
        let wait = qless.start(&format!("wait {jid} --deadline 30s"));
        until_subscribed(&server);
        if jid == "b" {
            // The connection is opened again, with TLS.
            server.redis.send(&["CLIENT", "KILL", "TYPE", "pubsub"]);
            until_subscribed(&server);
        }
        qless.run(&format!("complete {jid}")).ok();
        assert_eq!(qless.run(&format!("get {jid}")).code(), 4);
        wait.end().exits(0);
    }
}

/// The certificate of the server.
mod server {
    use super::*;

    #[test]
    fn an_unknown_issuer_is_reported() {
        let server = TlsRedis::start();
        server.stranger().run("length q").shows(expect![[r#"
            --- stderr
            error: cannot trust `localhost:PORT`: this system does not know the issuer of its certificate
            hint: pass its CA with `--tls-ca FILE`
            --- exit 6
        "#]]).row("TLS: issuer unknown", "certificate of an own CA", 6, "cannot trust");
        let error = server.stranger().run("length q -o json").exits(6).error();
        assert_eq!(error["code"], "tls");
    }

    #[test]
    fn the_wrong_ca_is_reported_with_its_file() {
        let server = TlsRedis::start();
        let other = server.write("other.pem", &Authority::called("other").pem());
        let ca = format!("--tls-ca {}", other.display());
        let ran = server.stranger().run(&format!("{ca} length q"));
        // A CA that was made anew has the same name, but another key.
        server.write("other.pem", &Authority::new().pem());
        let namesake = server.stranger().run(&format!("{ca} length q"));
        assert_eq!(ran.stderr(), namesake.stderr());
        ran.shows(expect![[r#"
            --- stderr
            error: cannot trust `localhost:PORT`: its certificate is not issued by a CA in `DIR/other.pem`
            hint: pass its CA with `--tls-ca FILE`
            --- exit 6
        "#]]);
    }

    #[test]
    fn a_ca_replaces_those_of_the_system() {
        let server = TlsRedis::start();
        let system = server
            .stranger()
            .env("SSL_CERT_FILE", server.file("ca.pem"));
        assert_eq!(system.run("length q").ok(), "0");
        let other = server.write("other.pem", &Authority::new().pem());
        system.env("QLESS_TLS_CA", other).run("length q").exits(6);
        // With a CA, the CAs of the system are not even read.
        let broken = server.qless().env("SSL_CERT_FILE", "/nonexistent");
        assert_eq!(broken.run("length q").ok(), "0");
    }

    #[test]
    fn an_expired_certificate_is_reported() {
        run_against(&["localhost"], |params| {
            params.not_after = date_time_ymd(2024, 2, 1);
        })
        .shows(expect![[r#"
            --- stderr
            error: cannot trust `localhost:PORT`: its certificate expired on 2024-02-01T00:00:00.000Z
            hint: renew the certificate of the server, or correct the clock of this machine
            --- exit 6
        "#]]).row("TLS: certificate expired", "made so", 6, "cannot trust");
    }

    #[test]
    fn a_certificate_that_is_not_valid_yet_is_reported() {
        run_against(&["localhost"], |params| {
            params.not_before = date_time_ymd(2200, 1, 1);
        })
        .shows(expect![[r#"
            --- stderr
            error: cannot trust `localhost:PORT`: its certificate is not valid before 2200-01-01T00:00:00.000Z
            hint: renew the certificate of the server, or correct the clock of this machine
            --- exit 6
        "#]]);
    }

    #[test]
    fn a_certificate_for_another_name_is_reported() {
        let names = ["other.example", "*.b.example", "10.0.0.1", "::2"];
        run_against(&names, |_| {}).shows(expect![[r#"
            --- stderr
            error: cannot trust `localhost:PORT`: its certificate is for `other.example`, `*.b.example`, `10.0.0.1`, `::2`
            hint: use a name of the certificate in the address
            --- exit 6
        "#]]).row("TLS: wrong name", "made so", 6, "cannot trust");
    }

    #[test]
    fn an_address_is_not_a_name() {
        let authority = Authority::new();
        let pair = authority.issue(&["localhost"]);
        let server = TlsRedis::of(&authority, &pair, &["--tls-auth-clients", "no"]);
        let url = format!("rediss://127.0.0.1:{}", server.port);
        let qless = server.qless().env("QLESS_REDIS_URL", url);
        qless.run("length q").shows(expect![[r#"
            --- stderr
            error: cannot trust `127.0.0.1:PORT`: its certificate is for `localhost`
            hint: use a name of the certificate in the address
            --- exit 6
        "#]]);
    }

    #[test]
    fn a_certificate_without_names_is_reported() {
        run_against(&[], |_| {}).shows(expect![[r#"
            --- stderr
            error: cannot trust `localhost:PORT`: its certificate names no host
            hint: the name must be a subject alternative name of the certificate: `DNS:localhost`
            --- exit 6
        "#]]);
    }

    #[test]
    fn the_certificate_of_a_ca_is_reported() {
        run_against(&["localhost"], |params| {
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        })
        .shows(expect![[r#"
            --- stderr
            error: cannot trust `localhost:PORT`: its certificate is that of a CA
            hint: a server needs a certificate of its own, issued by that CA (`CA:FALSE`)
            --- exit 6
        "#]]);
    }

    #[test]
    fn a_certificate_that_is_not_for_servers_is_reported() {
        run_against(&["localhost"], |params| {
            params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        })
        .shows(expect![[r#"
            --- stderr
            error: cannot trust `localhost:PORT`: its certificate is not valid: certificate does not allow extended key usage for server authentication, allows client authentication
            hint: the server needs another certificate
            --- exit 6
        "#]]);
    }

    #[test]
    fn names_in_a_certificate_are_harmless() {
        let ran = run_against(&["a\u{1b}[2Jb.example"], |_| {}).exits(6);
        assert!(!ran.stderr().contains('\u{1b}'), "{}", ran.stderr());
    }

    #[test]
    fn verification_cannot_be_switched_off() {
        let server = TlsRedis::start();
        for suffix in ["#insecure", "?insecure=true", "?verify=none"] {
            let url = format!("{}{suffix}", server.url());
            let ran = server.stranger().env("QLESS_REDIS_URL", url);
            ran.run("length q").exits(2);
        }
    }
}

/// Ports that do not speak TLS, or speak only TLS.
mod other_ports {
    use super::*;

    fn at(url: &str, port: u16) -> Qless {
        let server_url = format!("{url}:{port}");
        Qless::bare()
            .env("QLESS_REDIS_URL", server_url)
            .hide(&port.to_string(), "PORT")
    }

    #[test]
    fn a_plain_server_is_reported() {
        let port = free_port();
        let _redis = Redis::with(&["--port", &port.to_string()]);
        let qless = at("rediss://localhost", port);
        qless
            .run("length q")
            .shows(expect![[r#"
            --- stderr
            error: `localhost:PORT` does not reply in TLS
            hint: is it the right port? if nothing has to be encrypted, write `redis` for `rediss`
            --- exit 6
        "#]])
            .row(
                "plain port, TLS asked",
                "redis-server without TLS",
                6,
                "does not reply in TLS",
            );
        assert_eq!(qless.run("length q -o json").error()["code"], "tls");
    }

    #[test]
    fn a_web_server_is_reported() {
        let port = answering(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        at("rediss://localhost", port)
            .run("length q")
            .shows(expect![[r#"
                --- stderr
                error: `localhost:PORT` does not reply in TLS
                hint: is it the right port? if nothing has to be encrypted, write `redis` for `rediss`
                --- exit 6
            "#]]);
    }

    #[test]
    fn a_server_that_closes_the_connection_is_reported() {
        let port = listen(drop);
        at("rediss://localhost", port)
            .run("length q")
            .shows(expect![[r#"
                --- stderr
                error: `localhost:PORT` closed the connection immediately
                hint: if it is restarting, try again; is it a Redis server, and the right port? if it has no TLS, use `redis://`
                --- exit 6
            "#]]);
    }

    #[test]
    fn a_port_that_requires_tls_is_reported() {
        let server = TlsRedis::start();
        let qless = at("redis://localhost", server.port);
        qless
            .run("length q")
            .shows(expect![[r#"
                --- stderr
                error: `localhost:PORT` closed the connection immediately
                hint: if it is restarting, try again; is it a Redis server, and the right port? if it requires TLS, use `rediss://`
                --- exit 6
            "#]])
            .row(
                "TLS port, plain asked",
                "redis-server with TLS",
                6,
                "closed the connection immediately",
            );
        assert_eq!(qless.run("length q -o json").error()["code"], "protocol");
    }

    #[test]
    fn a_port_that_replies_with_an_alert_requires_tls() {
        let port = answering(b"\x15\x03\x01\x00\x02\x02\x46");
        at("redis://localhost", port)
            .run("length q")
            .shows(expect![[r#"
                --- stderr
                error: `localhost:PORT` requires TLS
                hint: use `rediss://`
                --- exit 6
            "#]]);
    }

    #[test]
    fn a_refused_port_is_reported() {
        at("rediss://ops:geheim-4711@localhost", free_port())
            .run("length q")
            .shows(expect![[r#"
                --- stderr
                error: cannot reach Redis at `rediss://ops:***@localhost:PORT/0`: connection refused
                hint: pass `--redis URL` or set QLESS_REDIS_URL
                --- exit 6
            "#]]);
    }

    #[test]
    fn a_host_that_no_certificate_can_name_is_bad_usage() {
        Qless::bare()
            .run("--redis rediss://-a.-b length q")
            .shows(expect![[r#"
                --- stderr
                error: `-a.-b` cannot be the name of a server with TLS
                --- exit 2
            "#]]);
    }
}

/// Servers that take the connection and do not reply.
mod deadlines {
    use super::*;

    fn times_out(port: u16) {
        let begun = Instant::now();
        let line = format!("--redis rediss://127.0.0.1:{port} --timeout 1s length q");
        let ran = Qless::bare().run(&line).exits(6);
        let sentence = format!("no reply from `rediss://127.0.0.1:{port}/0` within 1s");
        ran.says(&sentence);
        assert!(begun.elapsed() >= Duration::from_secs(1));
        assert!(begun.elapsed() < LATE);
    }

    #[test]
    fn a_server_that_never_replies_times_out() {
        times_out(listen(|stream| {
            thread::sleep(Duration::from_secs(30));
            drop(stream);
        }));
    }

    #[test]
    fn a_server_that_drips_bytes_times_out() {
        // A record of a handshake, with a length that it takes minutes to send.
        times_out(listen(|mut stream: TcpStream| {
            for byte in [0x16, 3, 3, 0x20, 0]
                .into_iter()
                .chain(std::iter::repeat(2))
            {
                if stream.write_all(&[byte]).is_err() {
                    return;
                }
                thread::sleep(Duration::from_millis(300));
            }
        }));
    }

    #[test]
    fn a_frozen_server_times_out() {
        let server = TlsRedis::start();
        server.redis.freeze();
        times_out(server.port);
        server.redis.thaw();
    }
}

#[test]
fn a_slow_reply_is_awaited() {
    let server = TlsRedis::start();
    server.redis.send(&["CLIENT", "PAUSE", "2500", "ALL"]);
    assert_eq!(server.qless().run("length q").ok(), "0");
}

/// The certificate of the client.
mod client {
    use super::*;

    /// Runs a command against servers of both versions that require a certificate. Both must report
    /// the same.
    fn run(identity: impl Fn(&Authority) -> Option<Pair>) -> RunOutput {
        let runs = ["TLSv1.2", "TLSv1.3"].map(|version| {
            let authority = Authority::new();
            let pair = authority.issue(&["localhost"]);
            let server = TlsRedis::of(&authority, &pair, &["--tls-protocols", version]);
            let flags = identity(&authority).map(|pair| server.identity(&pair));
            let flags = flags.unwrap_or_default();
            server.qless().run(&format!("{flags} length q"))
        });
        let [old, new] = runs;
        assert_eq!(old.stderr(), new.stderr());
        new
    }

    #[test]
    fn a_required_certificate_is_shown() {
        assert_eq!(run(|authority| Some(authority.issue(&[]))).ok(), "0");
    }

    #[test]
    fn a_missing_certificate_is_reported() {
        run(|_| None)
            .shows(expect![[r#"
            --- stderr
            error: `localhost:PORT` requires a client certificate
            hint: pass `--tls-cert FILE` and `--tls-key FILE`
            --- exit 6
        "#]])
            .row(
                "TLS: client certificate missing",
                "tls-auth-clients",
                6,
                "requires a client certificate",
            );
    }

    #[test]
    fn a_certificate_of_an_unknown_issuer_is_reported() {
        let ran = run(|_| Some(Authority::called("other").issue(&[])));
        let namesake = run(|_| Some(Authority::new().issue(&[])));
        assert_eq!(ran.stderr(), namesake.stderr());
        ran.shows(expect![[r#"
            --- stderr
            error: `localhost:PORT` refuses the client certificate in `DIR/client.pem`: the server does not know its issuer
            hint: it must be issued by a CA that the server trusts
            --- exit 6
        "#]]);
    }

    #[test]
    fn an_expired_certificate_is_reported() {
        run(|authority| {
            Some(authority.issue_with(&[], |params| params.not_after = date_time_ymd(2024, 2, 1)))
        })
        .shows(expect![[r#"
            --- stderr
            error: `localhost:PORT` refuses the client certificate in `DIR/client.pem`: it has expired
            hint: renew the certificate
            --- exit 6
        "#]]);
    }

    #[test]
    fn an_optional_certificate_may_be_missing() {
        let server = TlsRedis::with(&["--tls-auth-clients", "optional"]);
        assert_eq!(server.qless().run("length q").ok(), "0");
    }

    #[test]
    fn a_key_that_does_not_belong_to_the_certificate_is_reported() {
        let server = TlsRedis::start();
        let authority = Authority::new();
        let flags = server.identity(&Pair {
            key: authority.issue(&[]).key,
            ..authority.issue(&[])
        });
        server
            .qless()
            .run(&format!("{flags} length q"))
            .shows(expect![[r#"
                --- stderr
                error: the key in `DIR/client-key.pem` does not belong to the certificate in `DIR/client.pem`
                --- exit 2
            "#]]);
    }

    #[test]
    fn certificate_and_key_go_together() {
        let server = TlsRedis::start();
        server.identity(&Authority::new().issue(&[]));
        let qless = server.qless();
        let certificate = server.file("client.pem");
        let alone = qless.clone().env("QLESS_TLS_CERT", &certificate);
        alone.run("length q").shows(expect![[r#"
            --- stderr
            error: there is a client certificate for TLS, but no key
            hint: `--tls-cert FILE` and `--tls-key FILE` go together
            --- exit 2
        "#]]);
        let key = server.file("client-key.pem");
        qless
            .env("QLESS_TLS_KEY", key)
            .run("length q")
            .shows(expect![[r#"
                --- stderr
                error: there is a client key for TLS, but no certificate
                hint: `--tls-cert FILE` and `--tls-key FILE` go together
                --- exit 2
            "#]]);
    }

    #[test]
    fn a_key_that_others_may_read_is_warned_about() {
        use std::os::unix::fs::PermissionsExt;
        let server = TlsRedis::start();
        let flags = server.identity(&Authority::new().issue(&[]));
        let line = format!("{flags} length q");
        server.qless().run(&line).shows(expect![[r#"
            0
        "#]]);
        let open = PermissionsExt::from_mode(0o644);
        std::fs::set_permissions(server.file("client-key.pem"), open).unwrap();
        server.qless().run(&line).shows(expect![[r#"
            0
            --- stderr
            warning: other users may read the key file `DIR/client-key.pem`
        "#]]);
    }
}

/// The files of TLS.
mod files {
    use super::*;

    fn run(server: &TlsRedis, ca: &str) -> RunOutput {
        server.qless().run(&format!("--tls-ca {ca} length q"))
    }

    #[test]
    fn a_ca_file_that_cannot_be_used_is_reported() {
        let server = TlsRedis::start();
        let path = |name| server.file(name).display().to_string();
        run(&server, &path("missing.pem")).shows(expect![[r#"
            --- stderr
            error: cannot read `DIR/missing.pem`: no such file or directory
            --- exit 2
        "#]]);
        run(&server, &path("")).shows(expect![[r#"
            --- stderr
            error: cannot read `DIR/`: is a directory
            --- exit 2
        "#]]);
        run(&server, "/dev/null")
            .shows(expect![[r#"
            --- stderr
            error: `/dev/null` holds no certificate
            hint: PEM is expected: `-----BEGIN CERTIFICATE-----`
            --- exit 2
        "#]])
            .row(
                "TLS: CA file without certificate",
                "/dev/null",
                2,
                "holds no certificate",
            );
        server.write("torn.pem", "-----BEGIN CERTIFICATE-----\nAAAA");
        run(&server, &path("torn.pem")).shows(expect![[r#"
            --- stderr
            error: `DIR/torn.pem` is not valid PEM
            --- exit 2
        "#]]);
        let garbage = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        server.write("garbage.pem", garbage);
        run(&server, &path("garbage.pem")).shows(expect![[r#"
            --- stderr
            error: `DIR/garbage.pem` holds a certificate that cannot be read
            --- exit 2
        "#]]);
        let line = "--tls-ca /dev/null length q -o json";
        let error = server.qless().run(line).exits(2).error();
        assert_eq!(
            (&error["code"], &error["exit"]),
            (&"config".into(), &2.into())
        );
    }

    #[test]
    fn a_key_file_that_cannot_be_used_is_reported() {
        let server = TlsRedis::start();
        let pair = Authority::new().issue(&[]);
        let encrypted = pair.key.replace("PRIVATE KEY", "ENCRYPTED PRIVATE KEY");
        for (key, expected) in [
            (
                String::new(),
                expect![[r#"
                --- stderr
                error: `DIR/client-key.pem` holds no private key in PEM
                --- exit 2
            "#]],
            ),
            (
                encrypted,
                expect![[r#"
                --- stderr
                error: the key in `DIR/client-key.pem` is encrypted with a passphrase
                hint: `openssl pkey` writes it without one; keep that file readable by its owner only
                --- exit 2
            "#]],
            ),
        ] {
            let certificate = pair.certificate.clone();
            let flags = server.identity(&Pair { certificate, key });
            let ran = server.qless().run(&format!("{flags} length q"));
            ran.shows(expected);
        }
    }

    #[test]
    fn a_system_without_readable_cas_is_reported() {
        let server = TlsRedis::start();
        let system = |file: &str| server.stranger().env("SSL_CERT_FILE", file);
        system("/nonexistent/ca.pem")
            .run("length q")
            .shows(expect![[r#"
                --- stderr
                error: cannot read the CA certificates of this system, `/nonexistent/ca.pem`: no such file or directory
                hint: pass the CA with `--tls-ca FILE`, or name a file of CAs in SSL_CERT_FILE
                --- exit 6
            "#]]);
        // Not even if there are others.
        let others = server.file("ca.pem");
        let others = others.parent().unwrap();
        let both = system("/nonexistent/ca.pem").env("SSL_CERT_DIR", others);
        assert!(
            both.run("length q")
                .exits(6)
                .stderr()
                .contains("/nonexistent/ca.pem")
        );
        let dir = server.stranger().env("SSL_CERT_DIR", others);
        assert_eq!(dir.run("length q").ok(), "0");
        system("/dev/null").run("length q").shows(expect![[r#"
            --- stderr
            error: this system has no CA certificates
            hint: pass the CA with `--tls-ca FILE`, or name a file of CAs in SSL_CERT_FILE
            --- exit 6
        "#]]);
        // A command without TLS does not read them.
        let plain = server.redis.qless().env("SSL_CERT_FILE", "/nonexistent");
        assert_eq!(plain.run("length q").ok(), "0");
    }

    #[test]
    fn flags_for_tls_require_an_address_with_tls() {
        let redis = Redis::start();
        redis.qless().session(expect![[r#"
            $ qless --tls-ca ca.pem length q
            --- stderr
            error: `--tls-ca` requires an address with TLS, not `unix://DIR/s`
            hint: use `rediss://`
            --- exit 2
        "#]]);
        // The variables may be there for another server.
        let variables = redis.qless().env("QLESS_TLS_CA", "/nonexistent");
        assert_eq!(variables.run("length q").ok(), "0");
        Qless::bare()
            .run("--redis redis://ops:geheim-4711@h --tls-cert c.pem length q")
            .shows(expect![[r#"
                --- stderr
                error: `--tls-cert` requires an address with TLS, not `redis://ops:***@h:6379/0`
                hint: use `rediss://`
                --- exit 2
            "#]]);
    }

    #[test]
    fn contexts_have_files() {
        let server = TlsRedis::with(&[]);
        let authority = Authority::new();
        server.identity(&authority.issue(&[]));
        let url = server.url();
        // Relative paths start at the directory of the file.
        let config = server.write(
            "config.toml",
            &format!(
                "[defaults]\ntls-ca = \"ca.pem\"\n\
                 [context.prod]\nredis = \"{url}\"\ntls-cert = \"server.pem\"\n\
                 tls-key = \"server-key.pem\"\n\
                 [context.stranger]\nredis = \"{url}\"\ntls-ca = \"client.pem\"\n"
            ),
        );
        let bare = Qless::bare()
            .env("QLESS_CONFIG", config)
            .hide(&server.port.to_string(), "PORT")
            .hide(
                server.file("").to_str().unwrap().trim_end_matches('/'),
                "DIR",
            );
        assert_eq!(bare.run("--context prod length q").ok(), "0");
        bare.run("context show prod").shows(expect![[r#"
            name	prod
            redis	rediss://localhost:PORT/0
            prefix	–
            password	–
            tls-ca	DIR/ca.pem
            tls-cert	DIR/server.pem
            tls-key	DIR/server-key.pem
            label	prod
            flags	–
            default	no
        "#]]);
        let shown = bare.run("context show stranger -o json").json();
        assert_eq!(shown["items"][0]["tls_ca"], "DIR/client.pem");
        bare.session(expect![[r#"
            $ qless context validate
            	prod	rediss://localhost:PORT/0	Redis 7.0.15
            	stranger	rediss://localhost:PORT/0	cannot trust `localhost:PORT`: its certificate is not issued by a CA in `DIR/client.pem`
            --- exit 6
            $ qless context add test --redis rediss://h --tls-ca here.pem &>/dev/null
            $ qless context add plain --redis redis://h --tls-ca /etc/ca.pem
            --- stderr
            error: `--tls-ca` requires an address with TLS, not `redis://h:6379/0`
            hint: use `rediss://`
            --- exit 2
        "#]]);
        let text = std::fs::read_to_string(server.file("config.toml")).unwrap();
        // A path of the command line starts at the current directory.
        let here = std::env::current_dir().unwrap().join("here.pem");
        let added = format!("tls-ca = \"{}\"\n", here.display());
        assert!(text.ends_with(&added), "{text}");
    }
}

#[test]
fn a_password_is_not_shown_by_any_failure() {
    let server = TlsRedis::with(&["--requirepass", SECRET]);
    let plain = free_port();
    let _redis = Redis::with(&["--port", &plain.to_string()]);
    let closed = free_port();
    let pair = Authority::new().issue(&[]);
    let flags = server.identity(&pair);
    let body = pair.key.lines().nth(1).unwrap();
    for port in [server.port, plain, closed] {
        for qless in [server.qless(), server.stranger()] {
            let url = format!("rediss://ops:{SECRET}@localhost:{port}/0");
            let qless = qless.env("QLESS_REDIS_URL", url);
            for line in ["-vv length q", "length q -o json"] {
                let ran = qless.run(&format!("{flags} --timeout 2s {line}"));
                let printed = format!("{}{}", ran.stdout(), ran.stderr());
                assert_eq!(ran.code(), 6, "{printed}");
                assert!(!printed.contains(SECRET), "{printed}");
                assert!(!printed.contains(body), "{printed}");
            }
        }
    }
}

#[test]
fn a_connection_that_ends_while_it_is_written_to_is_an_error() {
    let server = TlsRedis::start();
    let data = "x".repeat(100_000);
    let lines: String = (0..100)
        .map(|n| {
            format!("{{\"queue\":\"q\",\"klass\":\"K\",\"jid\":\"j{n}\",\"data\":\"{data}\"}}\n")
        })
        .collect();
    let port = server.cut_after(300_000, usize::MAX);
    let qless = server
        .qless()
        .env("QLESS_REDIS_URL", format!("rediss://localhost:{port}"))
        .input(lines);
    qless.run("--timeout 2s put --from - --quiet").exits(6);
}

#[test]
fn a_read_without_reply_is_repeated_over_tls() {
    let server = TlsRedis::start();
    server.redis.qless().run("put q K {}").exits(0);
    server.redis.send(&["SCRIPT", "FLUSH"]);
    // Within the text of the script, which is longer than all before it.
    let port = server.cut_after(20_000, 1);
    let url = format!("rediss://localhost:{port}");
    let ran = server
        .qless()
        .env("QLESS_REDIS_URL", url)
        .run("-v length q");
    assert_eq!(ran.ok(), "1");
    assert!(
        ran.stderr().matches("connected to").count() == 2,
        "{}",
        ran.stderr()
    );
}
