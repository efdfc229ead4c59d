use std::io::Write;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection};

use super::{TlsClient, TlsFault};
use crate::address::tls::Tls;
use crate::core::call::connect::Fault;
use crate::threads;

/// A server that requires a client certificate, and a client that has none.
fn server_requiring_certificate_and_client_without() -> (ServerConfig, TlsClient) {
    let ca_key = KeyPair::generate().unwrap();
    let mut ca = CertificateParams::new(Vec::new()).unwrap();
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let ca_certificate = ca.self_signed(&ca_key).unwrap();
    let issuer = Issuer::new(ca, ca_key);
    let key = KeyPair::generate().unwrap();
    let names = CertificateParams::new(["127.0.0.1".to_string()]).unwrap();
    let certificate = names.signed_by(&key, &issuer).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(ca_certificate.der().clone()).unwrap();
    let provider = Arc::new(ring::default_provider());
    let verifier =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone()).build();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let server = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(verifier.unwrap())
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("ca.pem");
    std::fs::write(&file, ca_certificate.pem()).unwrap();
    let ca = Some(file);
    let client = TlsClient::new(&Tls { ca, identity: None }, "127.0.0.1").unwrap();
    (server, client)
}

#[test]
fn a_refusal_is_read_even_if_the_server_is_gone_when_the_client_writes() {
    let (server, client) = server_requiring_certificate_and_client_without();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let refusing = threads::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut session = ServerConnection::new(Arc::new(server)).unwrap();
        while session.complete_io(&mut socket).is_ok() && session.is_handshaking() {}
    })
    .unwrap();
    let deadline = Instant::now() + Duration::from_secs(10);
    let socket = std::net::TcpStream::connect(address).unwrap();
    let mut stream = client.connect(socket, &address, deadline).unwrap();
    refusing.join().unwrap();
    let error = loop {
        assert!(Instant::now() < deadline, "all writes succeed");
        let sent = stream.write_all(b"PING\r\n");
        if let Err(error) = sent.and_then(|()| stream.flush()) {
            break error;
        }
    };
    let fault = stream.fault_of_io(&error);
    assert!(
        matches!(fault, Fault::Tls(TlsFault::NoClientCertificate)),
        "{fault:?}"
    );
}
