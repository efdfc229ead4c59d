//! Errors about a connection that could not be encrypted by TLS.

use std::os::unix::ffi::OsStrExt;

use crate::address::{Address, ServerTarget};
use crate::clock::moment::Moment;
use crate::core::call::tls::fault::{ClientCertificateRefusal, Distrust, TlsFault};
use crate::error::{Error, Kind};
use crate::text::Sanitized;

/// The hint about a server's certificate that has expired or is not valid yet.
const CLOCK: &str = "renew the certificate of the server, or correct the clock of this machine";

/// Maximum number of names that are listed.
const NAMES: usize = 5;

/// The error for a connection on which TLS failed, with the reason and the remedy.
pub(super) fn tls_failed(fault: &TlsFault, target: &ServerTarget) -> Error {
    let place = target.host_port_or_socket();
    let place = Sanitized(&place);
    let tls = |message: String| Error::new(Kind::Tls, message);
    match fault {
        TlsFault::Untrusted(reason) => untrusted_certificate(reason, target),
        TlsFault::NotTls => tls(format!("`{place}` does not reply in TLS")).hint(
            "is it the right port? if nothing has to be encrypted, write `redis` for `rediss`",
        ),
        TlsFault::Incompatible => tls(format!(
            "`{place}` has no TLS version or cipher in common with `qless`"
        ))
        .hint("`qless` speaks TLS 1.2 and 1.3"),
        TlsFault::NoClientCertificate => tls(format!("`{place}` requires a client certificate"))
            .hint("pass `--tls-cert FILE` and `--tls-key FILE`"),
        TlsFault::ClientRefused(refusal) => client_certificate_refused(*refusal, target),
        TlsFault::UnknownName => {
            let host = target_host(target);
            tls(format!("`{place}` has no certificate for `{host}`"))
                .hint("use a name of the server in the address")
        }
        TlsFault::Other(reason) => {
            let reason = Sanitized(reason);
            tls(format!(
                "cannot encrypt the connection to `{place}`: {reason}"
            ))
        }
    }
}

fn untrusted_certificate(reason: &Distrust, target: &ServerTarget) -> Error {
    let place = target.host_port_or_socket();
    let place = Sanitized(&place);
    let ca = target.tls.as_ref().and_then(|tls| tls.ca.as_ref());
    let (reason, hint) = match reason {
        Distrust::Issuer => (
            match ca.map(|file| Sanitized(file.as_os_str().as_bytes())) {
                None => "this system does not know the issuer of its certificate".into(),
                Some(file) => format!("its certificate is not issued by a CA in `{file}`"),
            },
            "pass its CA with `--tls-ca FILE`".into(),
        ),
        Distrust::Expired(end) => (
            sentence_with_date(
                "its certificate has expired",
                "its certificate expired on ",
                *end,
            ),
            CLOCK.into(),
        ),
        Distrust::NotYetValid(begin) => (
            sentence_with_date(
                "its certificate is not valid yet",
                "its certificate is not valid before ",
                *begin,
            ),
            CLOCK.into(),
        ),
        Distrust::Names(names) if names.is_empty() => (
            "its certificate names no host".into(),
            format!(
                "the name must be a subject alternative name of the certificate: `{}`",
                subject_alternative_name(target)
            ),
        ),
        Distrust::Names(names) => (
            format!("its certificate is for {}", names_in_backticks(names)),
            "use a name of the certificate in the address".into(),
        ),
        Distrust::IsCa => (
            "its certificate is that of a CA".into(),
            "a server needs a certificate of its own, issued by that CA (`CA:FALSE`)".into(),
        ),
        Distrust::Other(reason) => (
            format!("its certificate is not valid: {}", Sanitized(reason)),
            "the server needs another certificate".into(),
        ),
    };
    Error::new(Kind::Tls, format!("cannot trust `{place}`: {reason}")).hint(hint)
}

fn names_in_backticks(names: &[String]) -> String {
    let shown = names.iter().take(NAMES);
    let mut text = shown
        .map(|name| format!("`{}`", Sanitized(name)))
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > NAMES {
        text.push_str(&format!(" and {} more", names.len() - NAMES));
    }
    text
}

/// `sentence` with a moment appended, such as the expiry of a certificate; `undated` if the moment is not known.
fn sentence_with_date(undated: &str, sentence: &str, moment: Option<Moment>) -> String {
    match moment.and_then(Moment::to_rfc3339) {
        Some(moment) => format!("{sentence}{moment}"),
        None => undated.into(),
    }
}

fn client_certificate_refused(refusal: ClientCertificateRefusal, target: &ServerTarget) -> Error {
    const ISSUER: &str = "it must be issued by a CA that the server trusts";
    let place = target.host_port_or_socket();
    let place = Sanitized(&place);
    let (reason, hint) = match refusal {
        ClientCertificateRefusal::Issuer => (": the server does not know its issuer", ISSUER),
        ClientCertificateRefusal::Expired => (": it has expired", "renew the certificate"),
        ClientCertificateRefusal::Revoked => (": it is revoked", "renew the certificate"),
        ClientCertificateRefusal::Unnamed => ("", ISSUER),
    };
    let identity = target.tls.as_ref().and_then(|tls| tls.identity.as_ref());
    let file = identity.map_or(Sanitized(&b""[..]), |identity| {
        Sanitized(identity.certificate.as_os_str().as_bytes())
    });
    let message = format!("`{place}` refuses the client certificate in `{file}`{reason}");
    Error::new(Kind::Tls, message).hint(hint)
}

fn target_host(target: &ServerTarget) -> String {
    match &target.address {
        Address::Tcp(node) => Sanitized(&node.host).to_string(),
        _ => target.host_port_or_socket(),
    }
}

fn subject_alternative_name(target: &ServerTarget) -> String {
    let host = target_host(target);
    match host.parse::<std::net::IpAddr>() {
        Ok(_) => format!("IP:{host}"),
        Err(_) => format!("DNS:{host}"),
    }
}
