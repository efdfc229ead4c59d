//! The files of TLS: certificates and keys in PEM.

use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use rustls::{InconsistentKeys, RootCertStore};
use rustls_native_certs::ErrorKind;
use zeroize::Zeroizing;

use crate::address::tls::ClientCertificate;
use crate::env;
use crate::error::{Error, Kind, io_message};
use crate::fs::open;
use crate::text::Sanitized;

/// Maximum size of a file in bytes. The CAs of a system take about 250 KiB.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// The CAs to trust, from a file or from the system.
pub(super) fn read_root_certificates(file: Option<&Path>) -> Result<RootCertStore, Error> {
    let mut roots = RootCertStore::empty();
    let Some(path) = file else {
        let found = rustls_native_certs::load_native_certs();
        if let Some(error) = found
            .errors
            .iter()
            .find(|error| is_about_ssl_cert_file(error))
        {
            return Err(no_system_roots(Some(error)));
        }
        // Some of a system's certificates may be unreadable or outdated. The others count.
        let (added, _) = roots.add_parsable_certificates(found.certs);
        return match added {
            0 => Err(no_system_roots(found.errors.first())),
            _ => Ok(roots),
        };
    };
    for certificate in read_certificates(path)? {
        roots.add(certificate).map_err(|_| {
            let path = shown_path(path);
            config_error(format!("`{path}` holds a certificate that cannot be read"))
        })?;
    }
    Ok(roots)
}

/// Whether the error is about the file that SSL_CERT_FILE names.
fn is_about_ssl_cert_file(error: &rustls_native_certs::Error) -> bool {
    match &error.kind {
        ErrorKind::Io { path, .. } => env::var("SSL_CERT_FILE").is_some_and(|named| path == &named),
        _ => false,
    }
}

fn no_system_roots(error: Option<&rustls_native_certs::Error>) -> Error {
    let reason = match error.map(|error| (&error.kind, error)) {
        None => "this system has no CA certificates".into(),
        Some((ErrorKind::Io { inner, path }, _)) => {
            let (path, why) = (shown_path(path), io_message(inner));
            format!("cannot read the CA certificates of this system, `{path}`: {why}")
        }
        Some((_, error)) => {
            let why = error.to_string();
            let why = Sanitized(&why);
            format!("cannot read the CA certificates of this system: {why}")
        }
    };
    Error::new(Kind::Tls, reason)
        .hint("pass the CA with `--tls-ca FILE`, or name a file of CAs in SSL_CERT_FILE")
}

/// Reads the client's certificate and key.
pub(super) fn read_client_identity(
    files: &ClientCertificate,
    provider: &CryptoProvider,
) -> Result<CertifiedKey, Error> {
    use rustls::Error::{InconsistentKeys as Inconsistent, InvalidCertificate};
    let chain = read_certificates(&files.certificate)?;
    let key = read_private_key(&files.key)?;
    let (cert_file, key_file) = (shown_path(&files.certificate), shown_path(&files.key));
    CertifiedKey::from_der(chain, key, provider).map_err(|error| {
        config_error(match error {
            Inconsistent(InconsistentKeys::KeyMismatch) => {
                format!(
                    "the key in `{key_file}` does not belong to the certificate in `{cert_file}`"
                )
            }
            InvalidCertificate(_) => {
                format!("`{cert_file}` holds a certificate that cannot be read")
            }
            error => format!("the key in `{key_file}` cannot be used: {error}"),
        })
    })
}

fn read_private_key(path: &Path) -> Result<PrivateKeyDer<'static>, Error> {
    let bytes = read_secret_file(path)?;
    PrivateKeyDer::from_pem_slice(&bytes).map_err(|error| {
        let file = shown_path(path);
        let label = b"-----BEGIN ENCRYPTED PRIVATE KEY-----";
        match error {
            pem::Error::NoItemsFound if contains_bytes(&bytes, label) => config_error(format!(
                "the key in `{file}` is encrypted with a passphrase"
            ))
            .hint(
                "`openssl pkey` writes it without one; keep that file readable by its owner only",
            ),
            pem::Error::NoItemsFound => {
                config_error(format!("`{file}` holds no private key in PEM"))
            }
            _ => config_error(format!("`{file}` is not valid PEM")),
        }
    })
}

fn read_certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let bytes = read_secret_file(path)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    match found {
        Ok(found) if found.is_empty() => {
            let error = config_error(format!("`{}` holds no certificate", shown_path(path)));
            Err(error.hint("PEM is expected: `-----BEGIN CERTIFICATE-----`"))
        }
        Ok(found) => Ok(found),
        Err(_) => Err(config_error(format!(
            "`{}` is not valid PEM",
            shown_path(path)
        ))),
    }
}

/// Reads a file. It may hold a key, so the bytes are wiped when they are dropped.
fn read_secret_file(path: &Path) -> Result<Zeroizing<Vec<u8>>, Error> {
    let failed = |error: std::io::Error| {
        config_error(format!(
            "cannot read `{}`: {}",
            shown_path(path),
            io_message(&error)
        ))
    };
    let mut bytes = Zeroizing::new(Vec::new());
    let what = format!("cannot read `{}`", shown_path(path));
    let file = open::open_to_read(path).map_err(|why| why.into_error(&what, Kind::Config))?;
    file.take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        Err(config_error(format!(
            "`{}` is longer than 16 MiB",
            shown_path(path)
        )))
    } else {
        Ok(bytes)
    }
}

fn contains_bytes(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

fn shown_path(path: &Path) -> String {
    Sanitized(path.as_os_str().as_bytes()).to_string()
}

fn config_error(message: String) -> Error {
    Error::new(Kind::Config, message)
}
