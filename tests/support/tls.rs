//! Certificates made at run time, and a Redis that speaks TLS with them.

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use rcgen::{BasicConstraints, Certificate, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use tempfile::TempDir;

use super::proxy::{free_port, listen};
use super::qless::Qless;
use super::redis::Redis;

/// A CA.
pub struct Authority {
    certificate: Certificate,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate and its key, in PEM.
pub struct Pair {
    pub certificate: String,
    pub key: String,
}

impl Authority {
    pub fn new() -> Authority {
        Authority::called("a CA for tests")
    }

    pub fn called(name: &str) -> Authority {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).unwrap();
        let issuer = Issuer::new(params, key);
        Authority {
            certificate,
            issuer,
        }
    }

    /// The certificate of the CA, in PEM.
    pub fn pem(&self) -> String {
        self.certificate.pem()
    }

    /// Issues a certificate for names and addresses of hosts.
    pub fn issue(&self, names: &[&str]) -> Pair {
        self.issue_with(names, |_| {})
    }

    /// Issues one that differs: `|params| params.not_after = …`.
    pub fn issue_with(&self, names: &[&str], change: impl Fn(&mut CertificateParams)) -> Pair {
        let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(names).unwrap();
        change(&mut params);
        Pair {
            certificate: params.signed_by(&key, &self.issuer).unwrap().pem(),
            key: key.serialize_pem(),
        }
    }
}

/// A Redis with a port for TLS, and the directory of its files.
pub struct TlsRedis {
    pub redis: Redis,
    pub port: u16,
    files: TempDir,
}

impl TlsRedis {
    /// Starts a server with a certificate for this machine. `ca` holds that of its CA.
    pub fn start() -> TlsRedis {
        TlsRedis::with(&["--tls-auth-clients", "no"])
    }

    /// Starts one with further options.
    pub fn with(options: &[&str]) -> TlsRedis {
        let authority = Authority::new();
        let pair = authority.issue(&["localhost", "127.0.0.1", "::1"]);
        TlsRedis::of(&authority, &pair, options)
    }

    /// Starts one with this certificate. The CA is also that of the clients.
    pub fn of(authority: &Authority, pair: &Pair, options: &[&str]) -> TlsRedis {
        assert_has_tls();
        let files = tempfile::tempdir().unwrap();
        let path = |name: &str, text: &str| {
            let path = write(files.path(), name, text);
            path.to_str().unwrap().to_owned()
        };
        let ca = path("ca.pem", &authority.pem());
        let certificate = path("server.pem", &pair.certificate);
        let key = path("server-key.pem", &pair.key);
        // Another process may take a port that was free: then the next one is tried.
        for _ in 0..10 {
            let port = free_port();
            let port_text = port.to_string();
            let mut all = vec!["--tls-port", &port_text, "--bind", "127.0.0.1 -::1"];
            all.extend(["--tls-ca-cert-file", &ca, "--tls-cert-file", &certificate]);
            all.extend(["--tls-key-file", &key]);
            all.extend(options);
            if let Some(redis) = Redis::try_with(&all) {
                return TlsRedis { redis, port, files };
            }
        }
        panic!("redis-server does not start with TLS: {options:?}");
    }

    /// The address of the port.
    pub fn url(&self) -> String {
        format!("rediss://localhost:{}", self.port)
    }

    /// The path of a file beside the files of the server.
    pub fn file(&self, name: &str) -> PathBuf {
        self.files.path().join(name)
    }

    /// Writes a file beside the files of the server, readable by its owner only.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        write(self.files.path(), name, text)
    }

    /// Writes a client's certificate and key. Returns the flags that name them.
    pub fn identity(&self, pair: &Pair) -> String {
        self.write("client.pem", &pair.certificate);
        self.write("client-key.pem", &pair.key);
        let dir = self.files.path().display();
        format!("--tls-cert {dir}/client.pem --tls-key {dir}/client-key.pem")
    }

    /// The binary, pointed at this server. It trusts the server's CA.
    pub fn qless(&self) -> Qless {
        self.stranger().env("QLESS_TLS_CA", self.file("ca.pem"))
    }

    /// The binary, pointed at this server. It trusts the CAs of this system.
    pub fn stranger(&self) -> Qless {
        Qless::bare()
            .env("QLESS_REDIS_URL", self.url())
            .hide(&self.port.to_string(), "PORT")
            .hide(self.files.path().to_str().unwrap(), "DIR")
    }

    /// Listens in front of the port. The first connections end after this many bytes of the client.
    pub fn cut_after(&self, bytes: u64, connections: usize) -> u16 {
        let port = self.port;
        let count = AtomicUsize::new(0);
        listen(move |client| {
            let bytes = if count.fetch_add(1, Ordering::SeqCst) < connections {
                bytes
            } else {
                u64::MAX
            };
            let server = TcpStream::connect(("127.0.0.1", port)).unwrap();
            let (mut from_server, mut to_client) =
                (server.try_clone().unwrap(), client.try_clone().unwrap());
            thread::spawn(move || _ = std::io::copy(&mut from_server, &mut to_client));
            let mut to_server = &server;
            _ = std::io::copy(&mut (&client).take(bytes), &mut to_server);
            _ = server.shutdown(Shutdown::Both);
            _ = client.shutdown(Shutdown::Both);
        })
    }
}

fn write(dir: &Path, name: &str, text: &str) -> PathBuf {
    use std::os::unix::fs::OpenOptionsExt;
    let path = dir.join(name);
    let mut options = fs::OpenOptions::new();
    let options = options.write(true).create(true).truncate(true).mode(0o600);
    let mut file = options.open(&path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    path
}

/// A server that was built without TLS is a failed test with advice.
fn assert_has_tls() {
    static HAS_TLS: OnceLock<bool> = OnceLock::new();
    let has_tls = HAS_TLS.get_or_init(|| {
        let mut server = Command::new(super::redis::program())
            .arg("-")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // The first line that is unknown to the server ends it.
        let config = b"port 0\ntls-port 0\nunknown-to-every-server 0\n";
        server.stdin.take().unwrap().write_all(config).unwrap();
        let output = server.wait_with_output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        assert!(text.contains("FATAL CONFIG"), "{text}");
        text.contains("unknown-to-every-server")
    });
    assert!(
        has_tls,
        "redis-server is built without TLS; set REDIS_SERVER to one that has it"
    );
}
