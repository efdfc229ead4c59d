//! Why TLS failed, derived from the errors of the TLS library (rustls).

use std::net::IpAddr;

use rustls::pki_types::UnixTime;
use rustls::{AlertDescription, CertificateError, Error, OtherError};

use crate::clock::moment::Moment;

/// Why there is no TLS connection.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TlsFault {
    /// `qless` does not trust the server's certificate, for this reason.
    Untrusted(Distrust),
    /// The other end does not speak TLS.
    NotTls,
    /// The server and `qless` have no TLS version or cipher in common.
    Incompatible,
    /// The server requires a client certificate, but the user gave none.
    NoClientCertificate,
    /// The server refused the client certificate, for this reason.
    ClientRefused(ClientCertificateRefusal),
    /// The server has no certificate for the host name in the address, as its TLS alert says.
    UnknownName,
    /// Any other fault, in the words of the library.
    Other(String),
}

/// Why `qless` does not trust the server's certificate.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Distrust {
    /// No trusted CA has issued the certificate. A trusted CA may have the name of the issuer, but then another key.
    Issuer,
    Expired(Option<Moment>),
    NotYetValid(Option<Moment>),
    /// The certificate is for these names.
    Names(Vec<String>),
    /// The certificate is a CA's own certificate, which a server must not use.
    IsCa,
    /// Any other reason, in the words of the library.
    Other(String),
}

/// Why the server refused the client certificate, by its TLS alert.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ClientCertificateRefusal {
    /// The server does not trust the CA that issued the client certificate.
    Issuer,
    Expired,
    Revoked,
    /// The server's alert names no reason.
    Unnamed,
}

impl TlsFault {
    /// Why TLS failed, from an error of the TLS library. An alert of the server means more if the server had requested
    /// a client certificate (`identity_was_requested`), and if `qless` has one (`has_identity`).
    pub(super) fn from_error(
        error: &Error,
        has_identity: bool,
        identity_was_requested: bool,
    ) -> TlsFault {
        match error {
            Error::InvalidCertificate(error) => {
                TlsFault::Untrusted(Distrust::from_certificate_error(error))
            }
            Error::InvalidMessage(_) => TlsFault::NotTls,
            Error::PeerIncompatible(_) => TlsFault::Incompatible,
            Error::AlertReceived(alert) => match (identity_was_requested, has_identity) {
                (true, false) => TlsFault::NoClientCertificate,
                (true, true) => TlsFault::from_alert_after_certificate(*alert),
                (false, _) => TlsFault::from_alert(*alert),
            },
            error => TlsFault::Other(error.to_string()),
        }
    }

    /// Why TLS failed, from an alert of a server that had requested and received a client certificate.
    fn from_alert_after_certificate(alert: AlertDescription) -> TlsFault {
        let refusal = match alert {
            AlertDescription::UnknownCA | AlertDescription::DecryptError => {
                ClientCertificateRefusal::Issuer
            }
            AlertDescription::CertificateExpired => ClientCertificateRefusal::Expired,
            AlertDescription::CertificateRevoked => ClientCertificateRefusal::Revoked,
            AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateUnknown
            | AlertDescription::CertificateRequired
            | AlertDescription::AccessDenied => ClientCertificateRefusal::Unnamed,
            alert => return TlsFault::from_alert(alert),
        };
        TlsFault::ClientRefused(refusal)
    }

    fn from_alert(alert: AlertDescription) -> TlsFault {
        match alert {
            AlertDescription::ProtocolVersion
            | AlertDescription::HandshakeFailure
            | AlertDescription::InsufficientSecurity => TlsFault::Incompatible,
            AlertDescription::UnrecognisedName => TlsFault::UnknownName,
            alert => TlsFault::Other(Error::AlertReceived(alert).to_string()),
        }
    }
}

impl Distrust {
    fn from_certificate_error(error: &CertificateError) -> Distrust {
        match error {
            CertificateError::UnknownIssuer | CertificateError::BadSignature => Distrust::Issuer,
            CertificateError::Expired => Distrust::Expired(None),
            CertificateError::ExpiredContext { not_after, .. } => {
                Distrust::Expired(moment_of(not_after))
            }
            CertificateError::NotValidYet => Distrust::NotYetValid(None),
            CertificateError::NotValidYetContext { not_before, .. } => {
                Distrust::NotYetValid(moment_of(not_before))
            }
            CertificateError::NotValidForName => Distrust::Names(Vec::new()),
            CertificateError::NotValidForNameContext { presented, .. } => Distrust::Names(
                presented
                    .iter()
                    .map(|name| plain_certificate_name(name))
                    .collect(),
            ),
            CertificateError::Other(OtherError(cause)) => match cause.downcast_ref() {
                Some(webpki::Error::CaUsedAsEndEntity) => Distrust::IsCa,
                // An X.509 certificate before version 3 cannot name a server: report it as a certificate without names.
                Some(webpki::Error::UnsupportedCertVersion) => Distrust::Names(Vec::new()),
                _ => Distrust::Other(error.to_string()),
            },
            error => Distrust::Other(error.to_string()),
        }
    }
}

pub(super) fn moment_of(time: &UnixTime) -> Option<Moment> {
    let micros = i64::try_from(time.as_secs()).ok()?.checked_mul(1_000_000)?;
    Some(Moment::from_micros(micros))
}

/// A name in a certificate as plain text. The TLS library writes names as Rust values: `DnsName("a.example")` or
/// `IpAddress(10.0.0.1)`.
pub(super) fn plain_certificate_name(name: &str) -> String {
    let inner = name
        .strip_suffix(')')
        .and_then(|name| name.split_once('('))
        .map(|(_, inner)| inner.trim_matches('"'));
    let inner = inner.unwrap_or(name);
    match inner.parse::<IpAddr>() {
        Ok(address) => address.to_string(),
        Err(_) => inner.to_owned(),
    }
}
