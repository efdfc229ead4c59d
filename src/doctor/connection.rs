//! The checks of `qless doctor` for the way to the server: settings, address, connection, TLS, login and prefix.

use std::time::Duration;

use crate::address::{Address, ServerTarget};
use crate::args::globals::AddressOrigin;
use crate::clock::moment::Moment;
use crate::command_line::chmod_command;
use crate::core::call::Core;
use crate::core::call::reach::ReachReport;
use crate::env;
use crate::json::Number;
use crate::model::doctor::{DoctorCheck, DoctorEvidence, DoctorItem};
use crate::session::{Session, hash_tag_warning_and_remedy};
use crate::settings::ConfigSource;
use crate::text::{Sanitized, comma_list, format_count, format_duration};

/// The number of seconds before the expiry of a certificate from which `qless doctor` warns about it.
const CERTIFICATE_WARNING: f64 = 14.0 * 86_400.0;

/// Maximum number of names of a certificate that are shown.
const NAMES: usize = 5;

/// A duration in seconds for the JSON documents, rounded down to a microsecond.
pub(super) fn seconds_number(elapsed: Duration) -> Number {
    Number(elapsed.as_micros() as f64 / 1e6)
}

/// `3.1 ms`
pub(super) fn format_milliseconds(elapsed: Duration) -> String {
    format!("{:.1} ms", elapsed.as_secs_f64() * 1000.0)
}

/// The config file and the context in use.
pub(super) fn config_item(session: &Session) -> DoctorItem {
    let check = DoctorCheck::Config;
    let Some(file) = session.file.as_ref().filter(|file| file.exists) else {
        let source = session.file.as_ref().map(|file| &file.source);
        let why = match source {
            Some(ConfigSource::Usual(_) | ConfigSource::Given(_)) => {
                let path = source.map(ConfigSource::display_path).unwrap_or_default();
                format!("no config file: `{path}` does not exist")
            }
            Some(ConfigSource::None) | None => "no config file".to_owned(),
        };
        return DoctorItem::ok(check, why);
    };
    let path = file.source.display_path();
    let mut what = match &file.context {
        Some(context) => format!("{path}, context {}", Sanitized(&context.name)),
        None => format!("{path}, no context"),
    };
    if file.protecting_context().is_some() {
        what.push_str(", protected");
    }
    if session.globals.read_only {
        what.push_str(", read-only");
    }
    let item = match (&file.warning, file.source.path()) {
        (Some(warning), Some(path)) => {
            let close = chmod_command("600", path);
            DoctorItem::warning(check, warning, format!("`{close}` leaves it to its owner"))
        }
        _ => DoctorItem::ok(check, what),
    };
    item.with_evidence(DoctorEvidence {
        path: Some(path),
        context: file.context.as_ref().map(|context| context.name.clone()),
        ..DoctorEvidence::default()
    })
}

/// The address, and what named it.
pub(super) fn address_item(session: &Session, target: &ServerTarget) -> DoctorItem {
    let file = session.file.as_ref();
    let context = file.and_then(|file| file.context.as_ref());
    let origin = match (session.globals.origin, context) {
        (AddressOrigin::Typed, _) => "`--redis`".to_owned(),
        (AddressOrigin::Environment, _) if env::nonempty_var("QLESS_REDIS_URL").is_some() => {
            "QLESS_REDIS_URL".to_owned()
        }
        (AddressOrigin::Environment, _) => "REDIS_URL".to_owned(),
        (AddressOrigin::File, Some(context)) if context.values.redis.is_some() => {
            format!("context {}", Sanitized(&context.name))
        }
        (AddressOrigin::File, _) => "`[defaults]`".to_owned(),
        (AddressOrigin::Nowhere, _) => "the default".to_owned(),
    };
    let what = format!("{}, from {origin}", Sanitized(target.to_string()));
    DoctorItem::ok(DoctorCheck::Address, what).with_evidence(DoctorEvidence {
        address: Some(target.to_string()),
        origin: Some(origin.replace('`', "")),
        ..DoctorEvidence::default()
    })
}

/// The result of connecting to the server that has the data, with the time of each step.
pub(super) fn connect_item(
    target: &ServerTarget,
    core: Option<&Core>,
    reached: &ReachReport,
) -> DoctorItem {
    let node = core
        .and_then(Core::reached_cluster_node_or_master)
        .or(target.first_host_and_port());
    let place = node.map_or_else(|| target.host_port_or_socket(), ToString::to_string);
    let mut what = place.clone();
    if let (Some(_), Some(peer)) = (reached.resolved, reached.peer) {
        what.push_str(&format!(" ({})", peer.ip()));
    }
    if let (Address::Sentinel(sentinels), Some(_)) = (&target.address, core) {
        what.push_str(&format!(", the master `{}`", sentinels.master));
    }
    if let Some(elapsed) = reached.resolved {
        what.push_str(&format!(", resolved in {}", format_milliseconds(elapsed)));
    }
    if let Some(elapsed) = reached.connected {
        what.push_str(&format!(", connected in {}", format_milliseconds(elapsed)));
    }
    let item = match &reached.error {
        // The first connection succeeded, and only the second one, which measures the steps, failed. So this is a
        // warning, not an error.
        Some(error) if reached.connected.is_none() => {
            let hint = error.hint_text().unwrap_or("run the command again");
            DoctorItem::warning(DoctorCheck::Connect, error.message(), hint)
        }
        _ => DoctorItem::ok(DoctorCheck::Connect, what),
    };
    item.with_evidence(DoctorEvidence {
        node: Some(place),
        resolve_s: reached.resolved.map(seconds_number),
        connect_s: reached.connected.map(seconds_number),
        ..DoctorEvidence::default()
    })
}

/// The result of the TLS handshake and of the server's certificate. `None` for a Unix socket, which has no TLS.
pub(super) fn tls_item_unless_socket(
    target: &ServerTarget,
    reached: &ReachReport,
    now: Moment,
) -> Option<DoctorItem> {
    let check = DoctorCheck::Tls;
    if matches!(target.address, Address::Unix(_) | Address::Local { .. }) {
        return None;
    }
    if target.tls.is_none() {
        return Some(DoctorItem::ok(check, "not used"));
    }
    let Some((elapsed, session)) = reached.encrypted.zip(reached.session.as_ref()) else {
        let why = reached.error.as_ref().map(|error| error.message());
        let why = why.unwrap_or("the connection was lost".into());
        return Some(DoctorItem::skipped(check, format!("not looked at: {why}")));
    };
    let mut names = comma_list(session.names.iter().take(NAMES).map(Sanitized));
    if session.names.len() > NAMES {
        names.push_str(&format!(" and {} more", session.names.len() - NAMES));
    }
    let date = session.expires.and_then(Moment::to_rfc3339);
    let date = date.as_deref().and_then(|date| date.get(..10));
    let until = date.map_or_else(String::new, |date| format!(", valid until {date}"));
    let what = format!(
        "{}, certificate for {names}{until}, {}",
        session.protocol,
        format_milliseconds(elapsed)
    );
    let left = session.expires.map(|end| end.since(now));
    let item = match left.filter(|left| *left < CERTIFICATE_WARNING) {
        Some(left) => DoctorItem::warning(
            check,
            format!(
                "the certificate for {names} expires in {}",
                format_duration(left)
            ),
            "renew the certificate of the server",
        ),
        None => DoctorItem::ok(check, what),
    };
    Some(item.with_evidence(DoctorEvidence {
        protocol: Some(session.protocol.clone()),
        handshake_s: Some(seconds_number(elapsed)),
        names: Some(session.names.clone()),
        expires: session.expires,
        ..DoctorEvidence::default()
    }))
}

/// The result of trying each cluster node or Sentinel that the address names. `None` for an address of one server.
pub(super) fn probe_named_nodes_item(core: &Core) -> Option<DoctorItem> {
    let nodes = core.probe_named_nodes();
    let away = nodes
        .iter()
        .filter_map(|(node, error)| Some((node, error.as_ref()?)));
    let away: Vec<_> = away.collect();
    let count = nodes.len() as u64;
    let item = match away.first() {
        _ if nodes.is_empty() => return None,
        None => DoctorItem::ok(
            DoctorCheck::Nodes,
            match count {
                1 => "the named one replies".to_owned(),
                count => format!("all {count} that the address names reply"),
            },
        ),
        Some((_, error)) => {
            let (some, all) = (away.len(), format_count(count, "node", "nodes"));
            let names = comma_list(away.iter().map(|(node, _)| Sanitized(node.to_string())));
            let why = error.message();
            DoctorItem::warning(
                DoctorCheck::Nodes,
                format!("{some} of {all} cannot be used ({names}): {why}"),
                "start them again, or take them out of the address",
            )
        }
    };
    Some(item.with_evidence(DoctorEvidence {
        nodes: Some(count),
        nodes_away: Some(away.iter().map(|(node, _)| node.to_string()).collect()),
        ..DoctorEvidence::default()
    }))
}

/// The user and the database.
pub(super) fn user_and_database_item(target: &ServerTarget) -> DoctorItem {
    let user = target.user.as_deref().unwrap_or("default");
    let what = format!("user {}, database {}", Sanitized(user), target.db);
    DoctorItem::ok(DoctorCheck::Login, what).with_evidence(DoctorEvidence {
        user: Some(user.to_owned()),
        db: Some(target.db),
        ..DoctorEvidence::default()
    })
}

/// The result for the prefix: a warning if the server is a cluster and the prefix has no hash tag.
pub(super) fn prefix_hash_tag_item(prefix: &str, core: Option<&Core>) -> DoctorItem {
    let check = DoctorCheck::Prefix;
    let item = if core.is_some_and(Core::relies_on_single_cluster_primary) {
        let (fact, way_out) = hash_tag_warning_and_remedy(prefix);
        DoctorItem::warning(check, fact, way_out)
    } else {
        DoctorItem::ok(check, prefix)
    };
    item.with_evidence(DoctorEvidence {
        prefix: Some(prefix.to_owned()),
        ..DoctorEvidence::default()
    })
}
