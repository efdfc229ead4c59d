//! The cost of TLS for this machine: CPU of a whole command, which connects, makes the handshake and
//! sends one call. The server has a certificate with an ECDSA key (P-256), issued by a CA.

use std::fs;
use std::path::Path;
use std::process::Command;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

use crate::binary::{TIMES, cpu, millis, run};
use crate::private_redis::{Redis, free_port};

/// The CAs of the system, on most systems.
const BUNDLE: &str = "/etc/ssl/certs/ca-certificates.crt";

pub fn print(rounds: usize) {
    println!("TLS: process CPU in ms of `qless length`, least of {rounds} rounds of {TIMES}");
    if cpu().is_none() {
        println!("  not measured: this system has no /proc");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    write_certificates(dir.path());
    let file = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let [plain, tls] = [(); 2].map(|()| free_port().to_string());
    let (ca, certificate, key) = (file("ca.pem"), file("server.pem"), file("key.pem"));
    let redis = Redis::with(
        &[
            &["--port", &plain, "--tls-port", &tls][..],
            &["--tls-auth-clients", "no", "--tls-ca-cert-file", &ca],
            &["--tls-cert-file", &certificate, "--tls-key-file", &key],
        ]
        .concat(),
    );
    drop(redis.connect());
    let qless = |url: String| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_qless"));
        command
            .args(["length", "mail", "--redis", &url])
            .env_clear();
        command
    };
    let mut lines = vec![
        ("redis://", qless(format!("redis://localhost:{plain}"))),
        (
            "rediss://, --tls-ca",
            qless(format!("rediss://localhost:{tls}")),
        ),
    ];
    lines[1].1.args(["--tls-ca", &ca]);
    match fs::read_to_string(BUNDLE) {
        Ok(bundle) => {
            let own = fs::read_to_string(&ca).unwrap();
            fs::write(file("all.pem"), bundle + &own).unwrap();
            let mut system = qless(format!("rediss://localhost:{tls}"));
            system.env("SSL_CERT_FILE", file("all.pem"));
            lines.push(("rediss://, CAs of the system", system));
        }
        Err(_) => println!("  (no {BUNDLE} here, so the CAs of the system are not measured)"),
    }
    // The first call loads the script.
    run(&mut lines[0].1);
    let mut least = vec![f64::INFINITY; lines.len()];
    for _ in 0..rounds {
        for ((_, command), least) in lines.iter_mut().zip(&mut least) {
            *least = least.min(millis(command));
        }
    }
    println!("  {:<30}{:>9}{:>9}", "address", "ms", "of plain");
    for ((name, _), millis) in lines.iter().zip(&least) {
        println!("  {name:<30}{millis:>9.2}{:>9.2}", millis / least[0]);
    }
}

fn write_certificates(dir: &Path) {
    let ca_key = KeyPair::generate().unwrap();
    let mut ca = CertificateParams::new(Vec::new()).unwrap();
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let ca_certificate = ca.self_signed(&ca_key).unwrap();
    let issuer = Issuer::new(ca, ca_key);
    let key = KeyPair::generate().unwrap();
    let server = CertificateParams::new(["localhost".to_string()]).unwrap();
    let certificate = server.signed_by(&key, &issuer).unwrap();
    fs::write(dir.join("ca.pem"), ca_certificate.pem()).unwrap();
    fs::write(dir.join("server.pem"), certificate.pem()).unwrap();
    fs::write(dir.join("key.pem"), key.serialize_pem()).unwrap();
}
