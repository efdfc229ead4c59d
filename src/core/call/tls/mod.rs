//! TLS connections: the trusted CAs, the client certificate, and the handshake over an open TCP socket.
//!
//! The TLS versions are 1.2 and 1.3, and the cryptography is `ring`. `qless` always verifies the server's certificate;
//! no setting turns that off.

pub(super) mod fault;
mod files;
mod silence;
mod tls_session;

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustls::client::{ResolvesClientCert, Resumption};
use rustls::crypto::ring;
use rustls::pki_types::ServerName;
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, ClientConnection, SignatureScheme, StreamOwned};

use self::fault::TlsFault;
pub(crate) use self::tls_session::TlsSessionInfo;
use crate::address::tls::Tls;
use crate::core::call::connect::Fault;
use crate::error::Error;
use crate::text::Sanitized;

/// The TLS configuration for connections to one server: trusted CAs, the server's name, and the client certificate.
#[derive(Clone, Debug)]
pub(crate) struct TlsClient {
    config: ClientConfig,
    /// The name that the server's certificate must have.
    name: ServerName<'static>,
    identity: Option<Arc<CertifiedKey>>,
}

impl TlsClient {
    /// Reads the CA certificates, and the client's certificate and key, from their files. Without `Tls::ca`, this
    /// trusts the CAs of the operating system.
    pub(crate) fn new(tls: &Tls, host: &str) -> Result<TlsClient, Error> {
        let name = parse_server_name(host)?;
        let provider = Arc::new(ring::default_provider());
        let identity = match &tls.identity {
            Some(identity) => Some(Arc::new(files::read_client_identity(identity, &provider)?)),
            None => None,
        };
        let roots = files::read_root_certificates(tls.ca.as_deref())?;
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(Error::internal)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        // Turn off the resumption of TLS sessions: a process usually connects only once.
        config.resumption = Resumption::disabled();
        Ok(TlsClient {
            config,
            name,
            identity,
        })
    }

    /// A copy of this configuration for another server, whose certificate must name `host`.
    pub(crate) fn for_host(&self, host: &str) -> Result<TlsClient, Error> {
        Ok(TlsClient {
            name: parse_server_name(host)?,
            ..self.clone()
        })
    }

    /// Makes the TLS handshake over a connected socket. The reads of the handshake have no timeout: the caller runs
    /// this in a thread that it abandons at the deadline.
    pub(super) fn connect(
        &self,
        socket: TcpStream,
        address: &SocketAddr,
        deadline: Instant,
    ) -> Result<TlsStream, Fault> {
        let identity_was_requested = Arc::new(AtomicBool::new(false));
        let mut config = self.config.clone();
        config.client_auth_cert_resolver = Arc::new(ClientCertificateResolver {
            identity: self.identity.clone(),
            identity_was_requested: identity_was_requested.clone(),
        });
        let session = ClientConnection::new(Arc::new(config), self.name.clone())
            .map_err(|error| Fault::Tls(TlsFault::Other(error.to_string())))?;
        let mut stream = TlsStream {
            stream: StreamOwned::new(session, socket),
            has_identity: self.identity.is_some(),
            identity_was_requested,
        };
        stream.send_hello()?;
        silence::refuse_server_without_tls(&stream.stream.sock, address, deadline)?;
        stream.finish_handshake()?;
        Ok(stream)
    }
}

fn parse_server_name(host: &str) -> Result<ServerName<'static>, Error> {
    ServerName::try_from(host.to_owned()).map_err(|_| {
        let host = Sanitized(host);
        Error::usage(format!("`{host}` cannot be the name of a server with TLS"))
    })
}

/// An encrypted connection.
pub(super) struct TlsStream {
    stream: StreamOwned<ClientConnection, TcpStream>,
    has_identity: bool,
    /// Whether the server requested a client certificate in the handshake.
    identity_was_requested: Arc<AtomicBool>,
}

impl TlsStream {
    /// The TLS version of the connection, and the names and the expiry of the server's certificate.
    pub(super) fn session(&self) -> TlsSessionInfo {
        TlsSessionInfo::of_connection(&self.stream.conn)
    }

    fn send_hello(&mut self) -> Result<(), Fault> {
        let StreamOwned { conn, sock } = &mut self.stream;
        while conn.wants_write() {
            conn.write_tls(sock)
                .map_err(|error| closed_if_unreachable(Fault::from_io(&error)))?;
        }
        Ok(())
    }

    /// Sets the timeout of each read and each write of the TCP socket; `None` for no limit.
    pub(super) fn set_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        self.stream.sock.set_read_timeout(timeout)?;
        self.stream.sock.set_write_timeout(timeout)
    }

    fn finish_handshake(&mut self) -> Result<(), Fault> {
        while self.stream.conn.is_handshaking() {
            let StreamOwned { conn, sock } = &mut self.stream;
            if let Err(error) = conn.complete_io(sock) {
                return Err(closed_if_unreachable(self.fault_of_io(&error)));
            }
        }
        Ok(())
    }

    /// Why a read or write failed. If the server closed the connection, this looks for an alert that explains it: in
    /// TLS 1.3, a server refuses the client certificate only after the handshake, and its alert may still be unread.
    pub(super) fn fault_of_io(&mut self, error: &io::Error) -> Fault {
        use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};
        let cause = error.get_ref().and_then(|cause| cause.downcast_ref());
        let alert = match error.kind() {
            BrokenPipe | ConnectionReset | ConnectionAborted => self.pending_alert(),
            _ => None,
        };
        match alert.as_ref().or(cause) {
            Some(cause) => {
                let identity_was_requested = self.identity_was_requested.load(Ordering::Relaxed);
                Fault::Tls(TlsFault::from_error(
                    cause,
                    self.has_identity,
                    identity_was_requested,
                ))
            }
            None => Fault::from_io(error),
        }
    }

    /// Reads the bytes that the server sent before it closed the connection. Returns the alert in them, if any.
    fn pending_alert(&mut self) -> Option<rustls::Error> {
        let StreamOwned { conn, sock } = &mut self.stream;
        while let Ok(1..) = conn.read_tls(sock) {
            if let Err(error) = conn.process_new_packets() {
                return Some(error);
            }
        }
        None
    }
}

/// Turns `Unreachable` into `Closed`, because a server to which the socket was connected is reachable.
fn closed_if_unreachable(fault: Fault) -> Fault {
    match fault {
        Fault::Unreachable(..) => Fault::Closed,
        fault => fault,
    }
}

impl Read for TlsStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.read(buffer)
    }
}

impl Write for TlsStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// Gives the client certificate, if there is one, to the TLS library when the server requests it, and records that
/// request.
#[derive(Debug)]
struct ClientCertificateResolver {
    identity: Option<Arc<CertifiedKey>>,
    identity_was_requested: Arc<AtomicBool>,
}

impl ResolvesClientCert for ClientCertificateResolver {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.identity_was_requested.store(true, Ordering::Relaxed);
        self.identity.clone()
    }

    fn has_certs(&self) -> bool {
        self.identity.is_some()
    }
}

#[cfg(test)]
mod tests;
