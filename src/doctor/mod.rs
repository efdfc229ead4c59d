//! The checks of `qless doctor`: whether this machine can use the queues of a server. They test each step of the
//! connection first, and then the server itself.
//!
//! This module prints nothing. No result contains a password. Errors are worded as in the other commands.

mod connection;
mod safety;
mod server;

use std::mem;
use std::time::Duration;

use strum::VariantArray;

use crate::address::ServerTarget;
use crate::core::call::Core;
use crate::core::call::reach::{ReachReport, probe_server};
use crate::error::{Cause, Error, Kind};
use crate::model::doctor::{Diagnosis, DoctorCheck, DoctorItem, DoctorLevel};
use crate::session::Session;

/// The timeout of each step if a screen, such as `qless top`, runs the checks to show why it cannot read the server.
const SHORT_TIMEOUT: Duration = Duration::from_secs(1);

/// Makes all checks with a timeout of at most a second for each step. This is for a screen that has already waited for
/// the server in vain.
pub(crate) fn diagnose_with_short_timeouts(session: &mut Session) -> Result<Diagnosis, Error> {
    let short = Some(session.timeout().min(SHORT_TIMEOUT));
    let timeout = mem::replace(&mut session.globals.timeout, short);
    let found = diagnose(session);
    session.globals.timeout = timeout;
    found
}

/// Makes all checks of the server and prefix in use. A failed check is a result, after which checks that depend on it
/// are skipped. Only a wrong flag or address is an error of this function.
pub(crate) fn diagnose(session: &mut Session) -> Result<Diagnosis, Error> {
    let target = session.target_with_tls()?;
    let settings = match session.connection_settings_with_password(target.clone()) {
        Err(error) if error.kind() == Kind::Usage => return Err(error),
        settings => settings,
    };
    let opened = settings.and_then(|settings| session.connect_once(settings));
    let (mut core, error) = match opened {
        Ok(core) => (Some(core), None),
        Err(error) => (None, Some(error)),
    };
    let failed = error.map(|error| (check_of_error(&error), error));
    let reached = match &failed {
        // The error says it all.
        Some((DoctorCheck::Connect, _)) => ReachReport::default(),
        _ => probe_data_server(&target, core.as_ref(), session),
    };
    // An unusable address is wrong usage, not a result of a check.
    if let Some(error) = reached
        .error
        .as_ref()
        .filter(|error| error.kind() == Kind::Usage)
    {
        return Err(error.clone());
    }
    let connection_items = [
        Some(connection::config_item(session)),
        Some(connection::address_item(session, &target)),
        Some(connection::connect_item(&target, core.as_ref(), &reached)),
        connection::tls_item_unless_socket(&target, &reached, session.now()),
        core.as_ref().and_then(connection::probe_named_nodes_item),
        Some(connection::user_and_database_item(&target)),
        Some(connection::prefix_hash_tag_item(
            session.prefix(),
            core.as_ref(),
        )),
    ];
    let mut checks = CheckResults::default();
    for item in connection_items.into_iter().flatten() {
        match &failed {
            Some((check, error)) if *check == item.check => checks.add_error(*check, error),
            _ => checks.add_or_skip(item),
        }
    }
    match (&mut core, &failed) {
        (Some(core), _) => server::add_server_items(&mut checks, core, &target, session),
        (None, Some((DoctorCheck::Server, error))) => checks.add_error(DoctorCheck::Server, error),
        (None, _) => {}
    }
    Ok(checks.into_diagnosis_with_skipped())
}

/// Measures the steps of a connection to the server with the data. If no server was reached, this tries the first one
/// that the address names.
fn probe_data_server(target: &ServerTarget, core: Option<&Core>, session: &Session) -> ReachReport {
    let node = core
        .and_then(Core::reached_cluster_node_or_master)
        .or(target.first_host_and_port());
    let server = node.map_or_else(|| target.clone(), |node| target.for_one_node(node));
    probe_server(&server, session.timeout())
}

/// The check of `qless doctor` that fails if connecting or logging in brought this error.
fn check_of_error(error: &Error) -> DoctorCheck {
    match error.kind() {
        Kind::Tls | Kind::Config => DoctorCheck::Tls,
        Kind::Auth | Kind::NoPerm => DoctorCheck::Login,
        Kind::ClusterPrefix => DoctorCheck::Prefix,
        Kind::Usage if matches!(error.cause(), Some(Cause::WrongAddressKind { .. })) => {
            DoctorCheck::Address
        }
        // A database that does not exist.
        Kind::Usage => DoctorCheck::Login,
        Kind::Unreachable
        | Kind::Timeout
        | Kind::Protocol
        | Kind::ConnectionRefused
        | Kind::NoMaster
        | Kind::ClusterDown => DoctorCheck::Connect,
        _ => DoctorCheck::Server,
    }
}

/// The hint for an error that has none.
fn default_hint(kind: Kind) -> &'static str {
    match kind {
        Kind::Unreachable => {
            "is the name of the host right? `getent hosts NAME` asks the same source"
        }
        Kind::Config => "`--tls-ca`, `--tls-cert` and `--tls-key` name the files of TLS",
        Kind::Auth => {
            "QLESS_REDIS_PASSWORD, `--password-file FILE` or `--askpass` gives another password"
        }
        Kind::Usage => "`redis-cli CONFIG GET databases` shows how many it has",
        Kind::ConnectionRefused => {
            "`redis-cli CONFIG GET maxclients` and `CONFIG GET protected-mode` show its limits"
        }
        Kind::Loading => "`redis-cli INFO persistence` shows how far it is",
        Kind::Stale => "`redis-cli INFO replication` shows its primary",
        Kind::Unsupported => "use Redis 6.2 or later, or Valkey",
        _ => "`-v` shows each call and the server's own message",
    }
}

/// The results so far.
#[derive(Default)]
struct CheckResults {
    items: Vec<DoctorItem>,
    /// The failed check because of which all later checks are skipped.
    stopped_by: Option<DoctorCheck>,
}

impl CheckResults {
    /// Adds the result of a check. If an earlier step to the server failed, this adds the check as skipped instead.
    fn add_or_skip(&mut self, item: DoctorItem) {
        match self.stopped_by {
            Some(by) if !is_made_despite_failure(by, item.check) => {
                self.add_skipped(item.check, by)
            }
            Some(_) => self.items.push(item),
            None => {
                let is_connection_item = item.check as u8 <= DoctorCheck::Server as u8;
                let stops = item.level == DoctorLevel::Error && is_connection_item;
                self.stopped_by = stops.then_some(item.check);
                self.items.push(item);
            }
        }
    }

    fn add_error(&mut self, check: DoctorCheck, error: &Error) {
        self.add_or_skip(DoctorItem::error(check, error, default_hint(error.kind())));
    }

    fn add_skipped(&mut self, check: DoctorCheck, by: DoctorCheck) {
        self.items.push(skipped_item(check, by));
    }

    /// The diagnosis with all results. If a failed check stopped the others, each missing check is added as skipped.
    fn into_diagnosis_with_skipped(mut self) -> Diagnosis {
        if let Some(by) = self.stopped_by {
            let made = |check: &DoctorCheck| self.items.iter().any(|item| item.check == *check);
            let missing = DoctorCheck::VARIANTS.iter().copied();
            // Only some addresses have these.
            let missing =
                missing.filter(|check| !matches!(check, DoctorCheck::Tls | DoctorCheck::Nodes));
            let missing: Vec<DoctorCheck> = missing.filter(|check| !made(check)).collect();
            for check in missing {
                self.add_skipped(check, by);
            }
        }
        Diagnosis::from_items(self.items)
    }
}

/// The result of a check that was skipped because an earlier one failed.
fn skipped_item(check: DoctorCheck, failed: DoctorCheck) -> DoctorItem {
    let why = format!("not looked at: `{}` failed", failed.into_str());
    DoctorItem::skipped(check, why)
}

/// Whether `check` was made although the earlier check `failed` did not pass. This is so for an address of the wrong
/// kind, such as of a cluster: only the login reveals that, so the steps through the login were made.
fn is_made_despite_failure(failed: DoctorCheck, check: DoctorCheck) -> bool {
    failed == DoctorCheck::Address && (check as u8) <= DoctorCheck::Login as u8
}
