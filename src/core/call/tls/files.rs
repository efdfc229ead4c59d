//! Reads the PEM files for TLS: CA certificates, and the client's certificate and private key.

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

use crate::address::tls::ClientCertificateFiles;
use crate::env;
use crate::error::{Error, Kind, io_message_without_errno};
use crate::fs::open;
use crate::text::Sanitized;

/// Maximum size in bytes of a certificate or key file. All CA certificates of a system take about 250 KiB.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// Reads the certificates of the CAs to trust, from the given file, or else from the operating system.
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
        // Skip certificates of the system that cannot be parsed. It is an error only if none is left.
        let (added, _) = roots.add_parsable_certificates(found.certs);
        return match added {
            0 => Err(no_system_roots(found.errors.first())),
            _ => Ok(roots),
        };
    };
    for certificate in read_certificates(path)? {
        roots.add(certificate).map_err(|_| {
            let path = sanitized_path_text(path);
            config_error(format!("`{path}` holds a certificate that cannot be read"))
        })?;
    }
    Ok(roots)
}

/// Whether the error is about reading the file that the environment variable SSL_CERT_FILE names.
fn is_about_ssl_cert_file(error: &rustls_native_certs::Error) -> bool {
    match &error.kind {
        ErrorKind::Io { path, .. } => {
            env::nonempty_var("SSL_CERT_FILE").is_some_and(|named| path == &named)
        }
        _ => false,
    }
}

fn no_system_roots(error: Option<&rustls_native_certs::Error>) -> Error {
    let reason = match error.map(|error| (&error.kind, error)) {
        None => "this system has no CA certificates".into(),
        Some((ErrorKind::Io { inner, path }, _)) => {
            let (path, why) = (sanitized_path_text(path), io_message_without_errno(inner));
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
    files: &ClientCertificateFiles,
    provider: &CryptoProvider,
) -> Result<CertifiedKey, Error> {
    use rustls::Error::{InconsistentKeys as Inconsistent, InvalidCertificate};
    let chain = read_certificates(&files.certificate)?;
    let key = read_private_key(&files.key)?;
    let (cert_file, key_file) = (
        sanitized_path_text(&files.certificate),
        sanitized_path_text(&files.key),
    );
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
    let bytes = read_certificate_or_key_file(path)?;
    PrivateKeyDer::from_pem_slice(&bytes).map_err(|error| {
        let file = sanitized_path_text(path);
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
    let bytes = read_certificate_or_key_file(path)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    match found {
        Ok(found) if found.is_empty() => {
            let error = config_error(format!(
                "`{}` holds no certificate",
                sanitized_path_text(path)
            ));
            Err(error.hint("PEM is expected: `-----BEGIN CERTIFICATE-----`"))
        }
        Ok(found) => Ok(found),
        Err(_) => Err(config_error(format!(
            "`{}` is not valid PEM",
            sanitized_path_text(path)
        ))),
    }
}

/// Reads a certificate or key file. The buffer is overwritten with zeros when it is dropped, since it may hold a key.
fn read_certificate_or_key_file(path: &Path) -> Result<Zeroizing<Vec<u8>>, Error> {
    let failed = |error: std::io::Error| {
        config_error(format!(
            "cannot read `{}`: {}",
            sanitized_path_text(path),
            io_message_without_errno(&error)
        ))
    };
    let mut bytes = Zeroizing::new(Vec::new());
    let what = format!("cannot read `{}`", sanitized_path_text(path));
    let file =
        open::open_to_read_unless_pipe(path).map_err(|why| why.into_error(&what, Kind::Config))?;
    file.take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        Err(config_error(format!(
            "`{}` is longer than 16 MiB",
            sanitized_path_text(path)
        )))
    } else {
        Ok(bytes)
    }
}

fn contains_bytes(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

fn sanitized_path_text(path: &Path) -> String {
    Sanitized(path.as_os_str().as_bytes()).to_string()
}

fn config_error(message: String) -> Error {
    Error::new(Kind::Config, message)
}
