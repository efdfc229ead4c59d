//! The certificate and key files for an address with TLS: `--tls-ca`, `--tls-cert` and `--tls-key`.

use std::os::unix::ffi::OsStrExt;

use crate::address::ServerTarget;
use crate::address::tls::{ClientCertificateFiles, Tls};
use crate::args::globals::TlsFiles;
use crate::error::Error;
use crate::fs::trust;
use crate::text::Sanitized;
use crate::ui::Ui;

/// Refuses TLS flags with an address without TLS, because the user expects an encrypted connection. TLS settings of the
/// environment and the config file are not refused: they may be for other addresses.
pub(crate) fn refuse_tls_flags_without_tls(
    target: &ServerTarget,
    flags: &TlsFiles,
) -> Result<(), Error> {
    match (&target.tls, flags.tls_files_with_setting_names().next()) {
        (None, Some((flag, _))) => Err(Error::usage(format!(
            "`--{flag}` requires an address with TLS, not `{target}`"
        ))
        .hint("use `rediss://`")),
        _ => Ok(()),
    }
}

/// Sets the certificate and key files of a target with TLS, and warns if other users can read the key. `flags`: those
/// of `files` that are from the command line.
pub(crate) fn fill_tls(
    target: &mut ServerTarget,
    files: &TlsFiles,
    flags: &TlsFiles,
    ui: &mut Ui,
) -> Result<(), Error> {
    refuse_tls_flags_without_tls(target, flags)?;
    if target.tls.is_none() {
        return Ok(());
    }
    let identity = match (files.cert.clone(), files.key.clone()) {
        (None, None) => None,
        (Some(certificate), Some(key)) => Some(ClientCertificateFiles { certificate, key }),
        (given, _) => {
            let (given, missing) = match given {
                Some(_) => ("certificate", "key"),
                None => ("key", "certificate"),
            };
            let message = format!("there is a client {given} for TLS, but no {missing}");
            return Err(
                Error::usage(message).hint("`--tls-cert FILE` and `--tls-key FILE` go together")
            );
        }
    };
    if let Some(identity) = &identity {
        // Ignore errors here: the connection reads the key file later and reports them.
        let is_open = identity
            .key
            .metadata()
            .is_ok_and(|found| trust::is_readable_by_others(&found));
        if is_open {
            let path = Sanitized(identity.key.as_os_str().as_bytes());
            ui.warn(&format!("other users may read the key file `{path}`"));
        }
    }
    let ca = files.ca.clone();
    target.tls = Some(Tls { ca, identity });
    Ok(())
}
