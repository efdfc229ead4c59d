//! The server of a session, as the header of a web page or of a terminal screen shows it.

use super::Session;
use crate::command_line::set_server_flag_of_thread;
use crate::error::Error;

/// A server as a web page or a terminal screen shows it, alone or with the other members of its context.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShownServer {
    /// The flag and value with which a command uses only this server of the context.
    pub flag: Option<(&'static str, String)>,
    /// Whether the page or screen also shows other servers.
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
            has_others: session.is_for_one_member(),
            label: session.context_label_of_database().map(str::to_owned),
            is_protected: session.ui.is_protected(),
            is_read_only: session.globals.read_only,
            address: session.shown_target()?.to_string(),
        })
    }

    /// Adds `flag` to every command line that this thread prints from now on, if the server is one of several.
    pub(crate) fn add_server_flag_to_printed_commands(&self) {
        if let Some((flag, name)) = self.flag.as_ref().filter(|_| self.has_others) {
            set_server_flag_of_thread(flag, name);
        }
    }

    /// The value of `flag`: the prefix or the context that names this server.
    pub(crate) fn context_or_prefix(&self) -> Option<&str> {
        self.flag.as_ref().map(|(_, name)| name.as_str())
    }
}
