//! Connections with TLS: what works, and what is reported if one cannot be made.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use expect_test::expect;
use rcgen::{BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, date_time_ymd};

use crate::support::files::mode;
use crate::support::proxy::{answering, free_port, listen};
use crate::support::qless::Qless;
use crate::support::redis::Redis;
use crate::support::tls::{Authority, TlsRedis};
use crate::support::work::until;

const SECRET: &str = "geheim-4711";

/// Long after each timeout of these tests, and long before the end of a call without one.
const LATE: Duration = Duration::from_secs(20);

#[test]
fn commands_run_over_tls() {
    let server = TlsRedis::start();
    server.stranger().session(expect![[r#"
        $ qless --tls-ca DIR/ca.pem put mail K {} --jid welcome-42
        welcome-42
        $ qless --tls-ca DIR/ca.pem --redis rediss://localhost:PORT/0 length mail
        1
        $ qless --tls-ca DIR/ca.pem --redis rediss://127.0.0.1:PORT/0 length mail
        1
        $ qless --tls-ca DIR/ca.pem --redis valkeys://localhost:PORT/0 length mail
        1
        $ qless --tls-ca DIR/ca.pem --redis valkeys://127.0.0.1:PORT/0 length mail
        1
    "#]]);
    let traced = server.qless().run("-v length mail");
    traced.says("connected to rediss://localhost:PORT/0, Redis");
}

#[test]
fn an_address_of_ipv6_is_a_name_of_a_certificate() {
    if TcpListener::bind("[::1]:0").is_err() {
        eprintln!("not tested: this machine has no IPv6");
        return;
    }
    let line = "--redis rediss://[::1]:PORT length q";
    let server = TlsRedis::start();
    let line = line.replace("PORT", &server.port.to_string());
    assert_eq!(server.qless().run(&line).ok(), "0");
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
    server.qless().session(expect![[r#"
        $ qless length q
        --- stderr
        error: `localhost:PORT` has no TLS version or cipher in common with `qless`
        hint: `qless` speaks TLS 1.2 and 1.3
        --- exit 6
    "#]]);
}

/// Jobs `j0`, `j1` and so on for `put --from`, whose data is this text.
fn lines(count: usize, data: &str) -> String {
    let line =
        |n| format!("{{\"queue\":\"q\",\"klass\":\"K\",\"jid\":\"j{n}\",\"data\":\"{data}\"}}\n");
    (0..count).map(line).collect()
}

#[test]
fn pipelines_of_megabytes_travel_over_tls() {
    let server = TlsRedis::start();
    let data = "x".repeat(20_000);
    let qless = server.qless().input(lines(500, &data));
    qless.run("put --from - --quiet").exits(0);
    assert_eq!(server.qless().run("length q").ok(), "500");
    let data_back = server.qless().run("get j499 --data").ok();
    assert_eq!(data_back, format!("\"{data}\""));
}

/// The job expires as soon as it is complete, so that only the message says that it was.
#[test]
fn messages_arrive_over_tls() {
    let server = TlsRedis::start();
    server
        .redis
        .calls([(1.0, vec!["config.set", "jobs-history", "-1"])]);
    let qless = server.qless();
    let until_subscribed = || until("it has subscribed", || server.redis.subscribers() > 0);
    for jid in ["a", "b"] {
        qless.run(&format!("put q K --jid {jid}")).ok();
        qless.run("pop q").ok();
        let wait = qless.start(&format!("wait {jid} --deadline 30s"));
        until_subscribed();
        if jid == "b" {
            // The connection is opened again, with TLS.
            server.redis.send(&["CLIENT", "KILL", "TYPE", "pubsub"]);
            until_subscribed();
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
    fn an_issuer_that_is_not_trusted_is_reported() {
        let server = TlsRedis::start();
        server.write("other.pem", &Authority::called("other").pem());
        // A CA that was made anew has the same name, but another key.
        server.write("namesake.pem", &Authority::new().pem());
        server.stranger().session(expect![[r#"
            $ qless length q # failure: TLS: issuer unknown | certificate of an own CA
            --- stderr
            error: cannot trust `localhost:PORT`: this system does not know the issuer of its certificate
            hint: pass its CA with `--tls-ca FILE`
            --- exit 6
            $ qless length q -o json
            --- stderr
            {"kind":"error","v":1,"code":"tls","exit":6,"message":"cannot trust `localhost:PORT`: this system does not know the issuer of its certificate","hint":"pass its CA with `--tls-ca FILE`","jid":null}
            --- exit 6
            $ qless --tls-ca DIR/other.pem length q
            --- stderr
            error: cannot trust `localhost:PORT`: its certificate is not issued by a CA in `DIR/other.pem`
            hint: pass its CA with `--tls-ca FILE`
            --- exit 6
            $ qless --tls-ca DIR/namesake.pem length q
            --- stderr
            error: cannot trust `localhost:PORT`: its certificate is not issued by a CA in `DIR/namesake.pem`
            hint: pass its CA with `--tls-ca FILE`
            --- exit 6
            $ qless --redis rediss://localhost:PORT#insecure length q
            --- stderr
            error: address `rediss://localhost:PORT#insecure` has a fragment, `#…`
            --- exit 2
            $ qless --redis rediss://localhost:PORT?insecure=true length q
            --- stderr
            error: address `rediss://localhost:PORT?insecure=true` has a query, `?…`; the database belongs in the path: `/3`
            --- exit 2
            $ qless --redis rediss://localhost:PORT?verify=none length q
            --- stderr
            error: address `rediss://localhost:PORT?verify=none` has a query, `?…`; the database belongs in the path: `/3`
            --- exit 2
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
    fn a_certificate_that_does_not_fit_is_reported() {
        let authority = Authority::new();
        let server = |names: &[&str], change: fn(&mut CertificateParams)| {
            let pair = authority.issue_with(names, change);
            TlsRedis::of(&authority, &pair, &["--tls-auth-clients", "no"])
        };
        let others = ["other.example", "*.b.example", "10.0.0.1", "::2"];
        let local = ["localhost"];
        let servers = [
            ("LOCAL", server(&local, |_| {})),
            ("OTHER", server(&others, |_| {})),
            ("ESCAPED", server(&["a\u{1b}[2Jb.example"], |_| {})),
            ("NAMELESS", server(&[], |_| {})),
            (
                "EXPIRED",
                server(&local, |params| {
                    params.not_after = date_time_ymd(2024, 2, 1)
                }),
            ),
            (
                "EARLY",
                server(&local, |params| {
                    params.not_before = date_time_ymd(2200, 1, 1)
                }),
            ),
            (
                "AUTHORITY",
                server(&local, |params| {
                    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
                }),
            ),
            (
                "CLIENT",
                server(&local, |params| {
                    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
                }),
            ),
        ];
        let trusting = Qless::bare().env("QLESS_TLS_CA", servers[0].1.file("ca.pem"));
        let qless = servers.iter().fold(trusting, |qless, (name, server)| {
            qless.hide(&server.port.to_string(), name)
        });
        qless.session(expect![[r#"
            $ qless --redis rediss://localhost:LOCAL length q
            0
            $ qless --redis rediss://127.0.0.1:LOCAL length q
            --- stderr
            error: cannot trust `127.0.0.1:LOCAL`: its certificate is for `localhost`
            hint: use a name of the certificate in the address
            --- exit 6
            $ qless --redis rediss://localhost:OTHER length q # failure: TLS: wrong name | made so
            --- stderr
            error: cannot trust `localhost:OTHER`: its certificate is for `other.example`, `*.b.example`, `10.0.0.1`, `::2`
            hint: use a name of the certificate in the address
            --- exit 6
            $ qless --redis rediss://localhost:ESCAPED length q
            --- stderr
            error: cannot trust `localhost:ESCAPED`: its certificate is for `a\x1b[2Jb.example`
            hint: use a name of the certificate in the address
            --- exit 6
            $ qless --redis rediss://localhost:NAMELESS length q
            --- stderr
            error: cannot trust `localhost:NAMELESS`: its certificate names no host
            hint: the name must be a subject alternative name of the certificate: `DNS:localhost`
            --- exit 6
            $ qless --redis rediss://localhost:EXPIRED length q # failure: TLS: certificate expired | made so
            --- stderr
            error: cannot trust `localhost:EXPIRED`: its certificate expired on 2024-02-01T00:00:00.000Z
            hint: renew the certificate of the server, or correct the clock of this machine
            --- exit 6
            $ qless --redis rediss://localhost:EARLY length q
            --- stderr
            error: cannot trust `localhost:EARLY`: its certificate is not valid before 2200-01-01T00:00:00.000Z
            hint: renew the certificate of the server, or correct the clock of this machine
            --- exit 6
            $ qless --redis rediss://localhost:AUTHORITY length q
            --- stderr
            error: cannot trust `localhost:AUTHORITY`: its certificate is that of a CA
            hint: a server needs a certificate of its own, issued by that CA (`CA:FALSE`)
            --- exit 6
            $ qless --redis rediss://localhost:CLIENT length q
            --- stderr
            error: cannot trust `localhost:CLIENT`: its certificate is not valid: certificate does not allow extended key usage for server authentication, allows client authentication
            hint: the server needs another certificate
            --- exit 6
        "#]]);
    }
}

#[test]
fn ports_that_do_not_speak_tls_or_speak_only_tls_are_reported() {
    let (server, plain) = (TlsRedis::start(), free_port());
    let _redis = Redis::with(&["--port", &plain.to_string()]);
    let ports = [
        ("SECURE", server.port),
        ("PLAIN", plain),
        ("WEB", answering(b"HTTP/1.1 400 Bad Request\r\n\r\n")),
        ("DROPS", listen(drop)),
        ("ALERT", answering(b"\x15\x03\x01\x00\x02\x02\x46")),
        ("CLOSED", free_port()),
    ];
    let qless = ports.iter().fold(Qless::bare(), |qless, (name, port)| {
        qless.hide(&port.to_string(), name)
    });
    qless.session(expect![[r#"
        $ qless --redis rediss://localhost:PLAIN length q # failure: plain port, TLS asked | redis-server without TLS
        --- stderr
        error: `localhost:PLAIN` does not reply in TLS
        hint: is it the right port? if nothing has to be encrypted, write `redis` for `rediss`
        --- exit 6
        $ qless --redis rediss://localhost:PLAIN length q -o json
        --- stderr
        {"kind":"error","v":1,"code":"tls","exit":6,"message":"`localhost:PLAIN` does not reply in TLS","hint":"is it the right port? if nothing has to be encrypted, write `redis` for `rediss`","jid":null}
        --- exit 6
        $ qless --redis rediss://localhost:WEB length q
        --- stderr
        error: `localhost:WEB` does not reply in TLS
        hint: is it the right port? if nothing has to be encrypted, write `redis` for `rediss`
        --- exit 6
        $ qless --redis rediss://localhost:DROPS length q
        --- stderr
        error: `localhost:DROPS` closed the connection immediately
        hint: if it is restarting, try again; is it a Redis server, and the right port? if it has no TLS, use `redis://`
        --- exit 6
        $ qless --redis redis://localhost:SECURE length q # failure: TLS port, plain asked | redis-server with TLS
        --- stderr
        error: `localhost:SECURE` closed the connection immediately
        hint: if it is restarting, try again; is it a Redis server, and the right port? if it requires TLS, use `rediss://`
        --- exit 6
        $ qless --redis redis://localhost:SECURE length q -o json
        --- stderr
        {"kind":"error","v":1,"code":"protocol","exit":6,"message":"`localhost:SECURE` closed the connection immediately","hint":"if it is restarting, try again; is it a Redis server, and the right port? if it requires TLS, use `rediss://`","jid":null}
        --- exit 6
        $ qless --redis redis://localhost:ALERT length q
        --- stderr
        error: `localhost:ALERT` requires TLS
        hint: use `rediss://`
        --- exit 6
        $ qless --redis rediss://ops:geheim-4711@localhost:CLOSED length q
        --- stderr
        error: cannot reach Redis at `rediss://ops:***@localhost:CLOSED/0`: connection refused
        hint: pass `--redis URL` or set QLESS_REDIS_URL
        --- exit 6
        $ qless --redis rediss://-a.-b length q
        --- stderr
        error: `-a.-b` cannot be the name of a server with TLS
        --- exit 2
    "#]]);
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

    /// The same is reported in both versions of TLS.
    #[test]
    fn a_required_certificate_is_shown() {
        for version in ["TLSv1.2", "TLSv1.3"] {
            let authority = Authority::new();
            let pair = authority.issue(&["localhost"]);
            let server = TlsRedis::of(&authority, &pair, &["--tls-protocols", version]);
            let expired =
                authority.issue_with(&[], |params| params.not_after = date_time_ymd(2024, 2, 1));
            for (name, pair) in [
                ("good", authority.issue(&[])),
                ("stranger", Authority::called("other").issue(&[])),
                ("namesake", Authority::new().issue(&[])),
                ("expired", expired),
            ] {
                server.write(&format!("{name}.pem"), &pair.certificate);
                server.write(&format!("{name}-key.pem"), &pair.key);
            }
            server.qless().session(expect![[r#"
                $ qless --tls-cert DIR/good.pem --tls-key DIR/good-key.pem length q
                0
                $ qless length q # failure: TLS: client certificate missing | tls-auth-clients
                --- stderr
                error: `localhost:PORT` requires a client certificate
                hint: pass `--tls-cert FILE` and `--tls-key FILE`
                --- exit 6
                $ qless --tls-cert DIR/stranger.pem --tls-key DIR/stranger-key.pem length q
                --- stderr
                error: `localhost:PORT` refuses the client certificate in `DIR/stranger.pem`: the server does not know its issuer
                hint: it must be issued by a CA that the server trusts
                --- exit 6
                $ qless --tls-cert DIR/namesake.pem --tls-key DIR/namesake-key.pem length q
                --- stderr
                error: `localhost:PORT` refuses the client certificate in `DIR/namesake.pem`: the server does not know its issuer
                hint: it must be issued by a CA that the server trusts
                --- exit 6
                $ qless --tls-cert DIR/expired.pem --tls-key DIR/expired-key.pem length q
                --- stderr
                error: `localhost:PORT` refuses the client certificate in `DIR/expired.pem`: it has expired
                hint: renew the certificate
                --- exit 6
                $ qless --tls-cert DIR/good.pem --tls-key DIR/expired-key.pem length q
                --- stderr
                error: the key in `DIR/expired-key.pem` does not belong to the certificate in `DIR/good.pem`
                --- exit 2
            "#]]);
        }
    }

    #[test]
    fn an_optional_certificate_may_be_missing() {
        let server = TlsRedis::with(&["--tls-auth-clients", "optional"]);
        assert_eq!(server.qless().run("length q").ok(), "0");
    }

    #[test]
    fn certificate_and_key_go_together() {
        let server = TlsRedis::start();
        let with = |name, file| server.qless().env(name, server.file(file));
        with("QLESS_TLS_CERT", "server.pem").session(expect![[r#"
            $ qless length q
            --- stderr
            error: there is a client certificate for TLS, but no key
            hint: `--tls-cert FILE` and `--tls-key FILE` go together
            --- exit 2
        "#]]);
        with("QLESS_TLS_KEY", "server-key.pem").session(expect![[r#"
            $ qless length q
            --- stderr
            error: there is a client key for TLS, but no certificate
            hint: `--tls-cert FILE` and `--tls-key FILE` go together
            --- exit 2
        "#]]);
    }

    #[test]
    fn a_key_that_others_may_read_is_warned_about() {
        let server = TlsRedis::start();
        server.qless().session(expect![[r#"
            $ qless --tls-cert DIR/server.pem --tls-key DIR/server-key.pem length q
            0
        "#]]);
        mode(server.file("server-key.pem"), 0o644);
        server.qless().session(expect![[r#"
            $ qless --tls-cert DIR/server.pem --tls-key DIR/server-key.pem length q
            0
            --- stderr
            warning: other users may read the key file `DIR/server-key.pem`
        "#]]);
    }
}

/// The files of TLS.
mod files {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_used_is_reported() {
        let server = TlsRedis::start();
        let pair = Authority::new().issue(&[]);
        for (name, text) in [
            ("torn.pem", "-----BEGIN CERTIFICATE-----\nAAAA"),
            (
                "garbage.pem",
                "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            ),
            ("empty.pem", ""),
            (
                "encrypted.pem",
                &pair.key.replace("PRIVATE KEY", "ENCRYPTED PRIVATE KEY"),
            ),
        ] {
            server.write(name, text);
        }
        server.qless().session(expect![[r#"
            $ qless --tls-ca DIR/missing.pem length q
            --- stderr
            error: cannot read `DIR/missing.pem`: no such file or directory
            --- exit 2
            $ qless --tls-ca DIR/ length q
            --- stderr
            error: cannot read `DIR/`: is a directory
            --- exit 2
            $ qless --tls-ca /dev/null length q # failure: TLS: CA file without certificate | /dev/null
            --- stderr
            error: `/dev/null` holds no certificate
            hint: PEM is expected: `-----BEGIN CERTIFICATE-----`
            --- exit 2
            $ qless --tls-ca /dev/null length q -o json
            --- stderr
            {"kind":"error","v":1,"code":"config","exit":2,"message":"`/dev/null` holds no certificate","hint":"PEM is expected: `-----BEGIN CERTIFICATE-----`","jid":null}
            --- exit 2
            $ qless --tls-ca DIR/torn.pem length q
            --- stderr
            error: `DIR/torn.pem` is not valid PEM
            --- exit 2
            $ qless --tls-ca DIR/garbage.pem length q
            --- stderr
            error: `DIR/garbage.pem` holds a certificate that cannot be read
            --- exit 2
            $ qless --tls-cert DIR/server.pem --tls-key DIR/empty.pem length q
            --- stderr
            error: `DIR/empty.pem` holds no private key in PEM
            --- exit 2
            $ qless --tls-cert DIR/server.pem --tls-key DIR/encrypted.pem length q
            --- stderr
            error: the key in `DIR/encrypted.pem` is encrypted with a passphrase
            hint: `openssl pkey` writes it without one; keep that file readable by its owner only
            --- exit 2
        "#]]);
    }

    #[test]
    fn a_system_without_readable_cas_is_reported() {
        let server = TlsRedis::start();
        let system = |file: &str| server.stranger().env("SSL_CERT_FILE", file);
        system("/nonexistent/ca.pem").session(expect![[r#"
            $ qless length q
            --- stderr
            error: cannot read the CA certificates of this system, `/nonexistent/ca.pem`: no such file or directory
            hint: pass the CA with `--tls-ca FILE`, or name a file of CAs in SSL_CERT_FILE
            --- exit 6
        "#]]);
        system("/dev/null").session(expect![[r#"
            $ qless length q
            --- stderr
            error: this system has no CA certificates
            hint: pass the CA with `--tls-ca FILE`, or name a file of CAs in SSL_CERT_FILE
            --- exit 6
        "#]]);
        // Not even if there are others.
        let others = server.file("");
        let both = system("/nonexistent/ca.pem").env("SSL_CERT_DIR", &others);
        both.run("length q").exits(6).says("/nonexistent/ca.pem");
        let dir = server.stranger().env("SSL_CERT_DIR", &others);
        assert_eq!(dir.run("length q").ok(), "0");
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
            $ qless --redis redis://ops:geheim-4711@h --tls-cert c.pem length q
            --- stderr
            error: `--tls-cert` requires an address with TLS, not `redis://ops:***@h:6379/0`
            hint: use `rediss://`
            --- exit 2
        "#]]);
        // The variables may be there for another server.
        let variables = redis.qless().env("QLESS_TLS_CA", "/nonexistent");
        assert_eq!(variables.run("length q").ok(), "0");
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
        bare.session(expect![[r#"
            $ qless --context prod length q
            0
            $ qless context show prod
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
            $ qless context show stranger -o json | jq -c .items[0].tls_ca
            "DIR/client.pem"
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
    let port = server.cut_after(300_000, usize::MAX);
    let qless = server.qless().input(lines(100, &"x".repeat(100_000)));
    let line = format!("--redis rediss://localhost:{port} --timeout 2s put --from - --quiet");
    qless.run(&line).exits(6);
}

#[test]
fn a_read_without_reply_is_repeated_over_tls() {
    let server = TlsRedis::start();
    server.redis.qless().run("put q K {}").exits(0);
    server.redis.send(&["SCRIPT", "FLUSH"]);
    // Within the text of the script, which is longer than all before it.
    let port = server.cut_after(20_000, 1);
    let line = format!("--redis rediss://localhost:{port} -v length q");
    let ran = server.qless().run(&line);
    assert_eq!(ran.ok(), "1");
    let said = ran.stderr();
    assert_eq!(said.matches("connected to").count(), 2, "{said}");
}
