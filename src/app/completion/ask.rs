//! Asks for names: contexts in the config file, all else the server, which is only looked at.

use std::collections::BTreeSet;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use super::Named;
use super::cache::Cache;
use super::kind::{Jids, Kind};
use super::place::Place;
use crate::address::{Address, Target};
use crate::app;
use crate::clock::Clock;
use crate::core::api::index::Index;
use crate::core::api::job::Detail;
use crate::core::call::local::Local;
use crate::core::call::{Core, Settings};
use crate::core::script::USUAL;
use crate::env;
use crate::error::Error;
use crate::model::job::Job;
use crate::name::Name;
use crate::session::password;
use crate::settings;
use crate::settings::ConfigFile as File;
use crate::text::is_harmful;
use crate::ui::Ui;

/// The most names that are asked for.
const NAMES: u64 = 2000;

/// The most jobs that are looked at.
const JOBS: usize = 500;

/// Returns the names of a kind; `None` where they cannot be known in time.
pub(super) fn names(place: &Place, deadline: Instant) -> Option<Vec<Named>> {
    let mut globals = app::parse::globals(&place.globals)?;
    globals.quiet = true;
    globals.verbose = 0;
    let kind = place.wanted.kind;
    let file = settings::fill(&mut globals, kind != Kind::Context).ok()?;
    if kind == Kind::Context {
        return Some(contexts(&file));
    }
    let mut target = Target::parse(globals.redis.as_deref().unwrap_or(Target::DEFAULT)).ok()?;
    let prefix = globals.prefix.clone().unwrap_or_else(|| USUAL.into());
    let cache = Cache::of(&target.to_string(), &prefix);
    if let Some(names) = cache.as_ref().and_then(|cache| cache.read(kind.word())) {
        return Some(names);
    }
    if cache.as_ref().is_some_and(Cache::is_down) {
        return None;
    }
    match &target.address {
        // It is started by commands, not by looking for their names.
        Address::Local { dir, .. } => {
            let local = Local::new(dir.as_deref()).ok()?;
            if !local.running().ok()? {
                return None;
            }
            target = local.target();
        }
        _ => {
            let context = file.context.as_ref();
            let asks = context.is_some_and(|context| context.values.password_command.is_some());
            let told = ["QLESS_REDIS_PASSWORD", "REDISCLI_AUTH"];
            let told = told.into_iter().any(|name| env::var(name).is_some());
            let reads = globals.password_file.as_ref();
            // Nobody may be asked for a password here, not even by another program.
            if globals.askpass || reads.is_some_and(|file| file == "-") {
                return None;
            }
            if asks && !told && reads.is_none() {
                return None;
            }
            let mut out = Ui::new(&globals);
            password::fill(&mut target, &globals, context, &mut out).ok()?;
        }
    }
    let settings = Settings {
        target,
        prefix,
        name: "qless-completion".into(),
        timeout: deadline.saturating_duration_since(Instant::now()),
        clock: Clock::from_env().ok()?,
        trace: Ui::new(&globals).trace(),
        read_only: true,
        writes: false,
    };
    let (sender, answers) = mpsc::channel();
    // It may wait for longer than we do; it is left behind when we end.
    thread::spawn(move || {
        sender.send(Core::open(settings).and_then(|mut core| look(&mut core, kind)))
    });
    let rest = deadline.saturating_duration_since(Instant::now());
    let told = answers.recv_timeout(rest.saturating_sub(Duration::from_millis(10)));
    match (told, cache) {
        (Ok(Ok(names)), cache) => {
            let plain: Vec<Named> = names.into_iter().filter_map(plain).collect();
            if let Some(cache) = cache {
                cache.keep(kind.word(), &plain);
            }
            Some(plain)
        }
        (_, cache) => {
            if let Some(cache) = cache {
                cache.down();
            }
            None
        }
    }
}

fn contexts(file: &File) -> Vec<Named> {
    let contexts = file.contexts().into_iter().filter_map(|context| {
        let redis = context.values.redis.as_deref();
        let redis = redis.and_then(|address| Target::parse(address).ok());
        plain((
            Name::from(context.name.clone()),
            redis.map(|target| target.to_string()).unwrap_or_default(),
        ))
    });
    contexts.collect()
}

/// Returns a name that a command line can hold: none with controls, nor one that is no text.
fn plain((name, says): (Name, String)) -> Option<Named> {
    let name = name.as_str()?;
    let harmless = |c: char| !is_harmful(c) && !c.is_control();
    name.chars().all(harmless).then(|| Named {
        name: name.to_owned(),
        says: says.chars().filter(|c| harmless(*c)).collect(),
    })
}

type Found = Vec<(Name, String)>;

fn look(core: &mut Core, kind: Kind) -> Result<Found, Error> {
    let now = core.now();
    let mut members = |index: Index| {
        let part = core.index(now, &index, 0, NAMES)?;
        let found = part.members.into_iter().map(|name| (name, String::new()));
        Ok(found.collect::<Found>())
    };
    match kind {
        Kind::Queue => members(Index::Queues),
        Kind::Group => members(Index::Groups),
        Kind::Tag => members(Index::Tags),
        Kind::Worker => members(Index::Workers),
        Kind::Context => Ok(Vec::new()),
        Kind::Option => {
            let items = core.config(now)?.into_iter();
            let told = items.map(|item| {
                let value = crate::text::clean(item.value.as_bytes());
                (item.key, value)
            });
            Ok(told.collect())
        }
        Kind::Jid(jids) => jobs(core, jids),
    }
}

/// Returns jids with class and state.
fn jobs(core: &mut Core, which: Jids) -> Result<Found, Error> {
    let now = core.now();
    let all = |core: &mut Core, index: Index| core.index(now, &index, 0, NAMES);
    let queues = |core: &mut Core| Ok::<_, Error>(all(core, Index::Queues)?.members);
    let indexes: Vec<Index> = match which {
        Jids::Failed => {
            let groups = all(core, Index::Groups)?.members;
            groups.into_iter().map(Index::Failed).collect()
        }
        Jids::Held => queues(core)?.into_iter().map(Index::Locks).collect(),
        Jids::Scheduled => queues(core)?.into_iter().map(Index::Scheduled).collect(),
        Jids::Depends => queues(core)?.into_iter().map(Index::Depends).collect(),
        Jids::Recurring => queues(core)?.into_iter().map(Index::Recurring).collect(),
        Jids::Open => {
            let groups = all(core, Index::Groups)?.members;
            let queues = queues(core)?.into_iter();
            let of_queue = queues.flat_map(|queue| {
                [
                    Index::Locks(queue.clone()),
                    Index::Waiting(queue.clone()),
                    Index::Scheduled(queue.clone()),
                    Index::Depends(queue),
                ]
            });
            of_queue
                .chain(groups.into_iter().map(Index::Failed))
                .collect()
        }
    };
    let wanted: Vec<(Index, u64)> = indexes.into_iter().map(|index| (index, 0)).collect();
    // Each set has its share, so that one does not hide the others.
    let share = (JOBS / wanted.len().max(1)).max(10) as u64;
    let parts = core.parts(now, &wanted, share)?;
    let mut seen = BTreeSet::new();
    let mut jids: Vec<Name> = parts.into_iter().flat_map(|part| part.members).collect();
    jids.retain(|jid| seen.insert(jid.clone()));
    jids.truncate(JOBS);
    if which == Jids::Recurring {
        return Ok(jids.into_iter().map(|jid| (jid, String::new())).collect());
    }
    let told = core.jobs(now, Detail::Face, &jids)?;
    let told = jids.into_iter().zip(told);
    Ok(told
        .filter_map(|(jid, job)| Some((jid, face(&job?))))
        .collect())
}

fn face(job: &Job) -> String {
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
