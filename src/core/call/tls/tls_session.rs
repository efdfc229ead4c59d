//! Facts about an open TLS connection: the TLS version, and the names and the expiry of the server's certificate.

use std::time::Duration;

use rustls::pki_types::{CertificateDer, DnsName, ServerName, UnixTime};
use rustls::{ClientConnection, ProtocolVersion};
use webpki::{EndEntityCert, KeyUsage};

use super::fault::{moment_of, plain_certificate_name};
use crate::clock::moment::Moment;

/// A host name that no certificate has, since RFC 6761 reserves names in `.invalid`.
const PLACEHOLDER_NAME: &str = "nobody.invalid";

/// The facts about a TLS connection that `qless doctor` shows.
#[derive(Clone, Debug)]
pub(crate) struct TlsSessionInfo {
    /// `TLS 1.3`
    pub protocol: String,
    /// The names that the server's certificate is for.
    pub names: Vec<String>,
    /// When that certificate expires.
    pub expires: Option<Moment>,
}

impl TlsSessionInfo {
    pub(super) fn of_connection(connection: &ClientConnection) -> TlsSessionInfo {
        let protocol = match connection.protocol_version() {
            Some(ProtocolVersion::TLSv1_2) => "TLS 1.2".to_owned(),
            Some(ProtocolVersion::TLSv1_3) => "TLS 1.3".to_owned(),
            Some(other) => format!("{other:?}"),
            None => "TLS".to_owned(),
        };
        let certificates = connection.peer_certificates().unwrap_or_default();
        let certificate = certificates.first();
        TlsSessionInfo {
            protocol,
            names: certificate.map(certificate_names).unwrap_or_default(),
            expires: certificate.and_then(certificate_end),
        }
    }
}

/// The host names in a certificate. The TLS library lists them only in its error about a wrong name, so this verifies
/// the certificate for a name that it cannot have.
fn certificate_names(certificate: &CertificateDer) -> Vec<String> {
    let (Ok(certificate), Ok(unused)) = (
        EndEntityCert::try_from(certificate),
        DnsName::try_from(PLACEHOLDER_NAME),
    ) else {
        return Vec::new();
    };
    match certificate.verify_is_valid_for_subject_name(&ServerName::DnsName(unused)) {
        Err(webpki::Error::CertNotValidForName(context)) => {
            let names = context.presented.iter();
            names.map(|name| plain_certificate_name(name)).collect()
        }
        _ => Vec::new(),
    }
}

/// When a certificate expires. The TLS library gives this time only in its error about an expired certificate, so this
/// verifies the certificate for the latest possible time.
fn certificate_end(certificate: &CertificateDer) -> Option<Moment> {
    let certificate = EndEntityCert::try_from(certificate).ok()?;
    let end_of_time = UnixTime::since_unix_epoch(Duration::from_secs(u64::MAX));
    let usage = KeyUsage::server_auth();
    let verified = certificate.verify_for_usage(&[], &[], &[], end_of_time, usage, None, None);
    match verified.err()? {
        webpki::Error::CertExpired { not_after, .. } => moment_of(&not_after),
        _ => None,
    }
}
