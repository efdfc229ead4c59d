//! The flags of a listener.

use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};
use url::Host;

use super::access::AccessRules;
use super::address::ListenAddress;
use crate::args::invalid::Invalid;
use crate::error::Error;
use crate::fs::open;
use crate::input::secret_file;
use crate::text::Sanitized;

/// The address to listen on, and which requests are answered.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ListenOptions {
    /// Answer HTTP requests at HOST:PORT, at :PORT of this machine only, or at unix:PATH
    #[arg(long, value_name = "ADDR", value_parser = listen_address())]
    pub listen: Option<ListenAddress>,
    #[command(flatten)]
    pub access: AccessOptions,
}

/// The flags that say which requests are answered. A command uses them alone if its own flag for the address is not
/// called `--listen`; that flag has the clap id `listen`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct AccessOptions {
    /// Answer requests for this host name, too; may be repeated
    #[arg(long, value_name = "NAME", requires = "listen", value_parser = host_name)]
    pub allow_host: Vec<Host>,
    /// Answer only requests with the first line of a file as `Authorization: Bearer TOKEN`
    #[arg(long, value_name = "FILE", requires = "listen")]
    pub token_file: Option<PathBuf>,
}

impl AccessOptions {
    /// Reads the token file. `warn` gets a warning if other users may read the file.
    pub fn read_access(&self, warn: impl FnOnce(&str)) -> Result<AccessRules, Error> {
        let token = match &self.token_file {
            Some(path) => {
                // A file that another user may write is refused: that user would choose the token.
                open::refuse_untrusted_path(path)?;
                Some(secret_file::read_secret_in_first_line(
                    "token file",
                    path,
                    warn,
                )?)
            }
            None => None,
        };
        if let (Some(token), Some(path)) = (&token, &self.token_file)
            && !token.reveal().iter().all(u8::is_ascii_graphic)
        {
            let path = Sanitized(path.as_os_str().as_encoded_bytes());
            let message = format!(
                "the token in `{path}` has a character that no request can carry in a header"
            );
            return Err(Error::usage(message).hint("write printable ASCII without blanks"));
        }
        Ok(AccessRules {
            hosts: self.allow_host.clone(),
            token,
        })
    }
}

/// The address of a listener.
pub(crate) fn listen_address() -> impl TypedValueParser<Value = ListenAddress> {
    OsStringValueParser::new()
        .try_map(|given| ListenAddress::parse(&given).map_err(Invalid::Expects))
}

/// A host without a port.
fn host_name(given: &str) -> Result<Host, Invalid> {
    Host::parse(given).map_err(|_| Invalid::expects("a host name without a port"))
}
