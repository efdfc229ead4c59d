//! The flags that name the files of TLS. The config file has the same settings.

use std::path::{Path, PathBuf};

use clap::Args;

/// The files of a connection with TLS.
#[derive(Clone, Debug, Default, PartialEq, Args)]
pub(crate) struct TlsFiles {
    /// CA certificates to trust instead of the system's, for `rediss://` and `valkeys://` [QLESS_TLS_CA]
    #[arg(id = "tls-ca", long, global = true, value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// Certificate that identifies `qless` to the server, with `--tls-key` [QLESS_TLS_CERT]
    #[arg(id = "tls-cert", long, global = true, value_name = "FILE")]
    pub cert: Option<PathBuf>,
    /// Private key of that certificate [QLESS_TLS_KEY]
    #[arg(id = "tls-key", long, global = true, value_name = "FILE")]
    pub key: Option<PathBuf>,
}

impl TlsFiles {
    /// These files, completed from others.
    pub(crate) fn or_defaults(&self, others: &TlsFiles) -> TlsFiles {
        let first = |own: &Option<PathBuf>, other: &Option<PathBuf>| {
            own.as_ref().or(other.as_ref()).cloned()
        };
        TlsFiles {
            ca: first(&self.ca, &others.ca),
            cert: first(&self.cert, &others.cert),
            key: first(&self.key, &others.key),
        }
    }

    /// The files, with relative paths resolved against `dir`.
    pub(crate) fn relative_to(self, dir: &Path) -> TlsFiles {
        let within = |path: PathBuf| dir.join(path);
        TlsFiles {
            ca: self.ca.map(within),
            cert: self.cert.map(within),
            key: self.key.map(within),
        }
    }

    /// The files with the names of their settings: `tls-ca`.
    pub(crate) fn files_with_setting_names(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let all = [
            ("tls-ca", &self.ca),
            ("tls-cert", &self.cert),
            ("tls-key", &self.key),
        ];
        all.into_iter()
            .filter_map(|(name, path)| Some((name, path.as_deref()?)))
    }
}
