//! Looks names up: contexts in the config file, all others on the server, which is only read.
//!
//! The server has until the deadline. Its reply is kept for 10 s, and a server that did not reply is
//! not asked again for a minute. Nothing here starts a private server or prompts for a password.

use std::collections::{BTreeSet, HashSet};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use super::Candidate;
use super::cache::Cache;
use crate::address::{Address, ServerTarget};
use crate::app::parse;
use crate::args::globals::Globals;
use crate::args::value::{CompletionKind, JidCompletionKind};
use crate::clock::Clock;
use crate::core::api::index::Index;
use crate::core::api::job::JobFields;
use crate::core::call::local::LocalServer;
use crate::core::call::{ConnectionSettings, Core};
use crate::core::script::USUAL_PREFIX;
use crate::error::Error;
use crate::model::job::Job;
use crate::name::Name;
use crate::session::{password, tls};
use crate::settings;
use crate::settings::ConfigFile as File;
use crate::settings::members::ContextMember;
use crate::text::is_harmful_to_terminal;
use crate::threads;
use crate::ui::Ui;

/// The maximum number of names that are read from one index.
const NAMES: u64 = 2000;

const MAX_JOBS_READ: usize = 500;

/// The names of a kind. `None` if they are not known in time. Without a deadline no server
/// is asked.
pub(super) fn find_candidates(
    kind: CompletionKind,
    globals: &[String],
    lookup_deadline: Option<Instant>,
) -> Option<Vec<Candidate>> {
    let mut globals = parse::parse_globals(globals)?;
    globals.quiet = true;
    globals.verbose = 0;
    let file =
        settings::read_config_and_fill(&mut globals, kind != CompletionKind::Contexts).ok()?;
    if kind == CompletionKind::Contexts {
        return Some(context_candidates(&file));
    }
    let deadline = lookup_deadline?;
    let Some(members) = &file.members else {
        return read_names_from_cache_or_server(kind, globals, &file, deadline);
    };
    let found = thread::scope(|scope| {
        let ask = |member: &ContextMember| {
            let (globals, file) = (member.globals.clone(), member.file.clone());
            threads::spawn_scoped(scope, move || {
                read_names_from_cache_or_server(kind, globals, &file, deadline)
            })
        };
        let lookups: Vec<_> = members.list.iter().map(ask).collect();
        let replies = lookups
            .into_iter()
            .map(|lookup| lookup.ok()?.join().ok().flatten());
        replies.flatten().collect::<Vec<_>>()
    });
    let mut names = found.into_iter().reduce(|mut one, other| {
        one.extend(other);
        one
    })?;
    let mut seen = HashSet::new();
    names.retain(|name| seen.insert(name.value.clone()));
    Some(names)
}

/// The names of a kind on one server.
fn read_names_from_cache_or_server(
    kind: CompletionKind,
    globals: Globals,
    file: &File,
    deadline: Instant,
) -> Option<Vec<Candidate>> {
    let file_name = cache_file_name(kind)?;
    let mut target =
        ServerTarget::parse(globals.redis.as_deref().unwrap_or(ServerTarget::DEFAULT)).ok()?;
    let prefix = globals
        .prefix
        .clone()
        .unwrap_or_else(|| USUAL_PREFIX.into());
    let cache = Cache::for_server(&target.to_string(), &prefix);
    if let Some(names) = cache
        .as_ref()
        .and_then(|cache| cache.read_fresh_names(file_name))
    {
        return Some(names);
    }
    if cache.as_ref().is_some_and(Cache::is_server_down) {
        return None;
    }
    match &target.address {
        // Completion asks a private server only if it runs already: it starts none.
        Address::Local { dir, .. } => {
            let local = LocalServer::new(dir.as_deref()).ok()?;
            if !local.is_running().ok()? {
                return None;
            }
            target = local.target_without_start();
        }
        _ => {
            let context = file.context.as_ref();
            let asks = context.is_some_and(|context| context.values.password_command.is_some());
            let is_set = password::password_from_environment().is_some();
            let reads = globals.password_file.as_ref();
            // No prompt for a password, not even by another program.
            if globals.askpass || reads.is_some_and(|file| file == "-") {
                return None;
            }
            if asks && !is_set && reads.is_none() {
                return None;
            }
            let mut ui = Ui::new(&globals);
            password::fill_password(&mut target, &globals, context, &mut ui).ok()?;
            tls::fill_tls(&mut target, &globals.tls, &globals.given.tls, &mut ui).ok()?;
        }
    }
    let settings = ConnectionSettings {
        target,
        prefix,
        name: "qless-completion".into(),
        timeout: deadline.saturating_duration_since(Instant::now()),
        clock: Clock::from_env().ok()?,
        trace: Ui::new(&globals).trace(),
        read_only: true,
        writes: false,
        asks_for_eviction: false,
    };
    let (sender, replies) = mpsc::channel();
    // The look-up thread may outlast the deadline. It ends with the process.
    threads::spawn(move || {
        sender
            .send(Core::connect(settings).and_then(|mut core| read_names_of_kind(&mut core, kind)))
    })
    .ok()?;
    let rest = deadline.saturating_duration_since(Instant::now());
    let reply = replies.recv_timeout(rest.saturating_sub(Duration::from_millis(10)));
    match (reply, cache) {
        (Ok(Ok(names)), cache) => {
            let plain: Vec<Candidate> = names.into_iter().filter_map(printable_candidate).collect();
            if let Some(cache) = cache {
                cache.store_names(file_name, &plain);
            }
            Some(plain)
        }
        (_, cache) => {
            if let Some(cache) = cache {
                cache.mark_server_down();
            }
            None
        }
    }
}

/// The name of the file that keeps names of a kind. `None` for kinds that no server knows.
fn cache_file_name(kind: CompletionKind) -> Option<&'static str> {
    Some(match kind {
        CompletionKind::Queues => "queue",
        CompletionKind::Groups => "group",
        CompletionKind::Tags => "tag",
        CompletionKind::Workers => "worker",
        CompletionKind::Throttles => "throttle",
        CompletionKind::Options => "option",
        CompletionKind::Jids(JidCompletionKind::Failed) => "failed",
        CompletionKind::Jids(JidCompletionKind::Held) => "held",
        CompletionKind::Jids(JidCompletionKind::Scheduled) => "scheduled",
        CompletionKind::Jids(JidCompletionKind::Depends) => "depends",
        CompletionKind::Jids(JidCompletionKind::Recurring) => "recurring",
        CompletionKind::Jids(JidCompletionKind::NotComplete) => "open",
        CompletionKind::Targets
        | CompletionKind::Contexts
        | CompletionKind::Commands
        | CompletionKind::Topics => {
            return None;
        }
    })
}

fn context_candidates(file: &File) -> Vec<Candidate> {
    let contexts = file.contexts().into_iter().filter_map(|context| {
        let redis = context.values.redis.as_deref();
        let redis = redis.and_then(|address| ServerTarget::parse(address).ok());
        printable_candidate((
            Name::from(context.name.clone()),
            redis.map(|target| target.to_string()).unwrap_or_default(),
        ))
    });
    contexts.collect()
}

/// A name that a command line can hold: UTF-8 without control characters.
fn printable_candidate((name, help): (Name, String)) -> Option<Candidate> {
    let name = name.as_str()?;
    let is_printable = |c: char| !is_harmful_to_terminal(c) && !c.is_control();
    name.chars().all(is_printable).then(|| {
        let help: String = help.chars().filter(|c| is_printable(*c)).collect();
        Candidate::new(name, help)
    })
}

type Found = Vec<(Name, String)>;

fn read_names_of_kind(core: &mut Core, kind: CompletionKind) -> Result<Found, Error> {
    let now = core.now();
    let mut members = |index: Index| {
        let part = core.index_range(now, &index, 0, NAMES)?;
        let found = part.members.into_iter().map(|name| (name, String::new()));
        Ok(found.collect::<Found>())
    };
    match kind {
        CompletionKind::Queues => members(Index::Queues),
        CompletionKind::Groups => members(Index::Groups),
        CompletionKind::Tags => members(Index::Tags),
        CompletionKind::Workers => members(Index::Workers),
        CompletionKind::Throttles => {
            let ids = core.throttle_ids_to_suggest(now)?.into_iter();
            Ok(ids.map(|id| (id, String::new())).collect())
        }
        CompletionKind::Options => {
            let items = core.config(now)?.into_iter();
            let options = items.map(|item| {
                let value = item.value.to_string();
                (item.key, value)
            });
            Ok(options.collect())
        }
        CompletionKind::Jids(which) => read_jids_with_help(core, which),
        CompletionKind::Targets
        | CompletionKind::Contexts
        | CompletionKind::Commands
        | CompletionKind::Topics => Ok(Vec::new()),
    }
}

/// Jids with class and state.
fn read_jids_with_help(core: &mut Core, which: JidCompletionKind) -> Result<Found, Error> {
    let now = core.now();
    let all = |core: &mut Core, index: Index| core.index_range(now, &index, 0, NAMES);
    let queues = |core: &mut Core| Ok::<_, Error>(all(core, Index::Queues)?.members);
    let indexes: Vec<Index> = match which {
        JidCompletionKind::Failed => {
            let groups = all(core, Index::Groups)?.members;
            groups.into_iter().map(Index::Failed).collect()
        }
        JidCompletionKind::Held => queues(core)?.into_iter().map(Index::Locks).collect(),
        JidCompletionKind::Scheduled => queues(core)?.into_iter().map(Index::Scheduled).collect(),
        JidCompletionKind::Depends => queues(core)?.into_iter().map(Index::Depends).collect(),
        JidCompletionKind::Recurring => {
            let running = queues(core)?.into_iter().map(Index::Recurring);
            running.chain([Index::PausedRecurring]).collect()
        }
        JidCompletionKind::NotComplete => {
            let groups = all(core, Index::Groups)?.members;
            let queues = queues(core)?.into_iter();
            let of_queue = queues.flat_map(|queue| {
                [
                    Index::Locks(queue.clone()),
                    Index::Waiting(queue.clone()),
                    Index::Scheduled(queue.clone()),
                    Index::Throttled(queue.clone()),
                    Index::Depends(queue),
                ]
            });
            of_queue
                .chain(groups.into_iter().map(Index::Failed))
                .collect()
        }
    };
    let wanted: Vec<(Index, u64)> = indexes.into_iter().map(|index| (index, 0)).collect();
    // Read a share of the jobs from each index, so that a long index does not hide the others.
    let share = (MAX_JOBS_READ / wanted.len().max(1)).max(10) as u64;
    let parts = core.index_ranges(now, &wanted, share)?;
    let mut seen = BTreeSet::new();
    let mut jids: Vec<Name> = parts.into_iter().flat_map(|part| part.members).collect();
    jids.retain(|jid| seen.insert(jid.clone()));
    jids.truncate(MAX_JOBS_READ);
    if which == JidCompletionKind::Recurring {
        return Ok(jids.into_iter().map(|jid| (jid, String::new())).collect());
    }
    let read = core.jobs(now, JobFields::Label, &jids)?;
    let read = jids.into_iter().zip(read);
    Ok(read
        .filter_map(|(jid, job)| Some((jid, klass_and_state(&job?))))
        .collect())
}

fn klass_and_state(job: &Job) -> String {
    let klass = job
        .klass
        .as_ref()
        .and_then(Name::as_str)
        .unwrap_or_default();
    match job.state {
        Some(state) => format!("{klass}, {state}"),
        None => klass.to_owned(),
    }
}
