//! The server of a session, as the header of a page or of a screen names it.

use super::Session;
use crate::command_line::set_server_flag_of_thread;
use crate::error::Error;

/// A server as a page or a screen names it, perhaps beside other servers.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShownServer {
    /// The flag that names this server alone among the servers of its context.
    pub flag: Option<(&'static str, String)>,
    /// Whether other servers are shown beside this one.
    pub has_others: bool,
    /// The label of the context.
    pub label: Option<String>,
    pub is_protected: bool,
    pub is_read_only: bool,
    /// The address without a password.
    pub address: String,
}

impl ShownServer {
    pub(crate) fn of_session(session: &Session) -> Result<ShownServer, Error> {
        let flag = session.flag_naming_member();
        Ok(ShownServer {
            flag: flag.map(|(flag, name)| (flag, name.to_owned())),
            has_others: session.is_member(),
            label: session.context_label_text().map(str::to_owned),
            is_protected: session.ui.is_protected(),
            is_read_only: session.globals.read_only,
            address: session.target()?.to_string(),
        })
    }

    /// Makes the commands that this thread prints go to this server: if it is one of several, they name it alone.
    pub(crate) fn direct_printed_commands(&self) {
        if let Some((flag, name)) = self.flag.as_ref().filter(|_| self.has_others) {
            set_server_flag_of_thread(flag, name);
        }
    }

    /// The name of the context of the server, or its prefix.
    pub(crate) fn name(&self) -> Option<&str> {
        self.flag.as_ref().map(|(_, name)| name.as_str())
    }
}
