//! The files of a connection with TLS.

use std::path::PathBuf;

/// The settings that a connection with TLS needs besides the address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tls {
    /// The CAs to trust instead of those of the system.
    pub ca: Option<PathBuf>,
    pub identity: Option<ClientCertificateFiles>,
}

/// The files that identify this client to the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCertificateFiles {
    /// The file with the certificate and, below it, the certificates of its issuers.
    pub certificate: PathBuf,
    pub key: PathBuf,
}
