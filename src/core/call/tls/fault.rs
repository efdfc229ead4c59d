//! The meaning of the errors of the TLS library.

use std::net::IpAddr;

use rustls::pki_types::UnixTime;
use rustls::{AlertDescription, CertificateError, Error, OtherError};

use crate::clock::moment::Moment;

/// Why there is no TLS connection.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TlsFault {
    /// The server's certificate was not accepted.
    Untrusted(Distrust),
    /// The other end does not speak TLS.
    NotTls,
    /// The two ends have no version or cipher in common.
    Incompatible,
    /// The server requires a certificate of this client, and there is none.
    NoClientCertificate,
    /// The server did not accept the certificate of this client.
    ClientRefused(ClientRefusal),
    /// The server has no certificate for the name in the address.
    UnknownName,
    /// Any other fault, in the words of the library.
    Other(String),
}

/// Why the server's certificate was not accepted.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Distrust {
    /// No trusted CA has issued the certificate. A CA may have the issuer's name, but another key.
    Issuer,
    Expired(Option<Moment>),
    NotYetValid(Option<Moment>),
    /// The certificate is for these names.
    Names(Vec<String>),
    /// The certificate belongs to a CA, which must not be a server's.
    IsCa,
    /// Any other reason, in the words of the library.
    Other(String),
}

/// Why the server did not accept the client's certificate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ClientRefusal {
    /// The issuer of the certificate is not among the server's CAs.
    Issuer,
    Expired,
    Revoked,
    /// The server's alert names no reason.
    Unnamed,
}

impl TlsFault {
    /// The meaning of an error. `has_identity`: this client has a certificate;
    /// `identity_was_requested`: the server requested it.
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

    /// The meaning of an alert from a server that has seen the client's certificate.
    fn from_alert_after_certificate(alert: AlertDescription) -> TlsFault {
        let refusal = match alert {
            AlertDescription::UnknownCA | AlertDescription::DecryptError => ClientRefusal::Issuer,
            AlertDescription::CertificateExpired => ClientRefusal::Expired,
            AlertDescription::CertificateRevoked => ClientRefusal::Revoked,
            AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateUnknown
            | AlertDescription::CertificateRequired
            | AlertDescription::AccessDenied => ClientRefusal::Unnamed,
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
                // A certificate before version 3 cannot name a server: treat it as one that has no names.
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

/// A certificate's name as plain text. The library writes it as a Rust value: `DnsName("a.example")`,
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
