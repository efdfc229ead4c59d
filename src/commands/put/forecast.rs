//! What a put would do, found out by reads. Until the put is sent, other clients may change that.

use super::one::{cycle, exists, missing};
use crate::args::coordination;
use crate::clock::moment::Moment;
use crate::core::api::put::{Policy, Put};
use crate::core::api::read::Read;
use crate::core::call::Core;
use crate::core::script::keys::Keys;
use crate::error::Error;
use crate::json::Json;
use crate::model::coordination::{CoordinationOption, Need};
use crate::model::job::{Job, Neighbor, State};
use crate::model::lane;
use crate::model::put::Put as Shown;
use crate::name::Name;
use crate::session::Session;

/// What a put would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// A job would be put.
    Put,
    /// The job exists and would stay as it is.
    Left,
    Merged,
    Replaced,
    Skipped,
}

impl Effect {
    /// Returns whether the put would change a job.
    pub(crate) fn puts(self) -> bool {
        !matches!(self, Effect::Left | Effect::Skipped)
    }
}

/// Returns what the put of a job would do, and the result that it would show. Fails as the put would.
pub(crate) fn forecast(
    (policy, if_absent): (Policy, bool),
    job: &Put,
    now: Moment,
    session: &mut Session,
) -> Result<(Effect, Shown), Error> {
    let core = session.core()?;
    let defaults = Defaults::read(core, now, &job.queue)?;
    let key = job.coordination.get(CoordinationOption::Key);
    if let Err(unmet) = coordination::check(&job.coordination)
        && key.is_none_or(<[u8]>::is_empty)
        && !defaults.set
    {
        return Err(unmet);
    }
    let found = core.snapshots(now, std::slice::from_ref(&job.jid))?;
    let others = core.snapshots(now, &job.depends)?;
    let known = found.into_iter().flatten().next();
    if let (Some(known), true) = (&known, if_absent) {
        let shown = Shown {
            jid: job.jid.clone(),
            queue: known.queue.clone(),
            state: Some(known.state.clone()),
            ..Shown::default()
        };
        return Ok((Effect::Left, shown));
    }
    if known.is_some() && !policy.replace {
        return Err(exists(job));
    }
    if job.depends.contains(&job.jid) {
        return Err(cycle(job, [&job.jid, &job.jid].into_iter()));
    }
    let pairs = || job.depends.iter().zip(&others);
    let missing_jids: Vec<&Name> = pairs()
        .filter(|(_, job)| job.is_none())
        .map(|(jid, _)| jid)
        .collect();
    if !missing_jids.is_empty() && !policy.allow_missing {
        return Err(missing(job, missing_jids.into_iter()));
    }
    let mut behind = None;
    if let Some(lane) = lane_of(core, now, job, known.is_some(), &defaults)? {
        let jobs = core.lane(now, &lane)?;
        let at = |jid: &Name| jobs.iter().position(|job| job.jid == *jid);
        let before = |at: usize| Some(jobs.get(at.checked_sub(1)?)?.jid.clone());
        match at(&job.jid).filter(|_| known.is_some()) {
            // A job that is put again keeps its place.
            Some(at) => behind = before(at),
            None => {
                let last = last(core, now, &lane, &jobs)?;
                let taken = if known.is_some() {
                    None
                } else {
                    taken(core, now, job, &lane, last.as_ref(), &defaults)?
                };
                if let Some((effect, jid)) = taken {
                    let found = core.snapshots(now, std::slice::from_ref(&jid))?;
                    let found = found.into_iter().flatten().next();
                    let replaced = effect == Effect::Replaced;
                    let shown = Shown {
                        queue: found.as_ref().and_then(|job| job.queue.clone()),
                        state: found.map(|job| job.state.clone()),
                        queued_behind: at(&jid).filter(|_| replaced).and_then(before),
                        jid,
                        dry_run: true,
                        ..Shown::default()
                    };
                    return Ok((effect, shown));
                }
                behind = last.map(|last| last.jid);
            }
        }
    }
    let waits = behind.is_some() || others.iter().flatten().any(|job| !job.is("complete"));
    let delayed = job.delay.is_some_and(|delay| !delay.is_zero());
    let later = delayed || job.at.is_some_and(|at| at > now);
    let state = match (waits, later) {
        (true, _) => "depends",
        (false, true) => "scheduled",
        (false, false) => "waiting",
    };
    let shown = Shown {
        jid: job.jid.clone(),
        queue: Some(job.queue.clone()),
        state: Some(state.into()),
        created: true,
        new: true,
        queued_behind: behind,
        dry_run: true,
    };
    Ok((Effect::Put, shown))
}

/// Returns the option of a put with a key that has no effect, because neither the put nor the queue
/// says how puts of one key are answered, with the sentence about it.
pub(super) fn without_effect(
    job: &Put,
    now: Moment,
    session: &mut Session,
) -> Result<Option<String>, Error> {
    let (Some((_, Need::Dup(needed))), Err(unmet)) = (
        job.coordination.unmet(),
        coordination::check(&job.coordination),
    ) else {
        return Ok(None);
    };
    let given = job.coordination.get(CoordinationOption::Dup);
    let defaults = Defaults::read(session.core()?, now, &job.queue)?;
    let dup = given.or(defaults.dup.as_ref().map(Name::as_bytes));
    let useless = dup != Some(needed.as_bytes());
    Ok(useless.then(|| format!("{}: it has no effect", unmet.message())))
}

/// The defaults of a queue that decide about lanes.
#[derive(Debug, Default)]
struct Defaults {
    set: bool,
    /// A template.
    key: Option<Name>,
    dup: Option<Name>,
    until: Option<Name>,
    /// The setting `merge-max`.
    merge_max: usize,
}

impl Defaults {
    fn read(core: &mut Core, now: Moment, queue: &Name) -> Result<Defaults, Error> {
        let key = [queue.as_bytes(), b"-defaults"].concat();
        let mut defaults = Defaults {
            merge_max: 1000,
            ..Defaults::default()
        };
        for option in core.config(now)?.into_iter().filter(|option| option.set) {
            if option.key.as_bytes() == b"merge-max" {
                let number = option.value.as_str().and_then(|text| text.parse().ok());
                defaults.merge_max = number.unwrap_or(defaults.merge_max);
            }
            if option.key.as_bytes() != key {
                continue;
            }
            defaults.set = true;
            let members = Json::read(option.value.as_bytes()).and_then(|all| all.object());
            for (name, value) in members.unwrap_or_default() {
                match name.as_bytes() {
                    b"key" => defaults.key = value.text(),
                    b"dup" => defaults.dup = value.text(),
                    b"until" => defaults.until = value.text(),
                    _ => {}
                }
            }
        }
        Ok(defaults)
    }
}

/// Returns the lane of the put: that of its key, else that of the job, else that of the queue's
/// default. A default with a place for data is not read.
fn lane_of(
    core: &mut Core,
    now: Moment,
    job: &Put,
    exists: bool,
    defaults: &Defaults,
) -> Result<Option<Name>, Error> {
    if let Some(key) = job.coordination.get(CoordinationOption::Key) {
        return Ok((!key.is_empty()).then(|| lane::name(&job.queue, key)));
    }
    if exists {
        let own = core.lane_times(now, std::slice::from_ref(&job.jid))?;
        if let Some(lane) = own.into_iter().find_map(|own| own.lane) {
            return Ok(Some(lane));
        }
    }
    let template = defaults.key.as_ref().and_then(Name::as_str);
    let names = [job.klass.as_str(), job.queue.as_str()];
    let (Some(template), [Some(klass), Some(queue)]) = (template, names) else {
        return Ok(None);
    };
    let key = template.replace("{klass}", klass).replace("{queue}", queue);
    let known = !key.is_empty() && !template.contains("{data");
    Ok(known.then(|| lane::name(&job.queue, key.as_bytes())))
}

/// Returns the last job of a lane. An entry of a job that has ended is no job of the lane any more.
fn last(
    core: &mut Core,
    now: Moment,
    lane: &Name,
    jobs: &[Neighbor],
) -> Result<Option<Job>, Error> {
    for entry in jobs.iter().rev() {
        let fields = "jid,state,queue,klass,key,dup,hold,payloads";
        let found = core.jobs_with(now, fields, std::slice::from_ref(&entry.jid))?;
        let Some(job) = found.into_iter().flatten().next() else {
            continue;
        };
        let live = match stored(&job) {
            Some(State::Complete) | None => false,
            Some(State::Failed) => job.hold,
            Some(_) => true,
        };
        if live && job.key.as_ref() == Some(lane) {
            return Ok(Some(job));
        }
    }
    Ok(None)
}

fn stored(job: &Job) -> Option<State> {
    let state = job.state_stored.as_ref().and_then(Name::as_str);
    state.and_then(|state| state.parse().ok())
}

/// Returns the job that would take the put of a new job, as the core decides it.
fn taken(
    core: &mut Core,
    now: Moment,
    job: &Put,
    lane: &Name,
    last: Option<&Job>,
    defaults: &Defaults,
) -> Result<Option<(Effect, Name)>, Error> {
    let option = |option| job.coordination.get(option);
    let or = |given, default: &Option<Name>| {
        let given: Option<&[u8]> = given;
        let default = default.as_ref().map(|name| name.as_bytes().to_vec());
        given.map(<[u8]>::to_vec).or(default)
    };
    let dup = or(option(CoordinationOption::Dup), &defaults.dup);
    let started = |last: &Job| matches!(stored(last), Some(State::Running | State::Failed));
    let fits = last.filter(|last| !started(last) && last.queue.as_ref() == Some(&job.queue));
    Ok(match dup.as_deref() {
        Some(b"skip") => {
            let until = or(option(CoordinationOption::Until), &defaults.until);
            let starts = until.as_deref() == Some(b"start");
            let known = last.filter(|last| !(starts && started(last)));
            let known = match known {
                Some(last) => Some(last.jid.clone()),
                None => window(core, now, lane)?,
            };
            known.map(|jid| (Effect::Skipped, jid))
        }
        Some(b"merge") => fits
            .filter(|last| last.dup.as_ref().map(Name::as_bytes) == Some(b"merge"))
            .filter(|last| last.klass.as_ref() == Some(&job.klass) && job.depends.is_empty())
            .filter(|last| last.payloads.len() < defaults.merge_max)
            .map(|last| (Effect::Merged, last.jid.clone())),
        Some(b"replace") => fits.map(|last| (Effect::Replaced, last.jid.clone())),
        _ => None,
    })
}

/// Returns the job of the uniqueness window of a lane, if the window is open.
fn window(core: &mut Core, now: Moment, lane: &Name) -> Result<Option<Name>, Error> {
    let key = Keys::new(core.prefix()).window(lane.as_bytes());
    let reply = core.read(now, Read::string(&key))?;
    let mut words = reply
        .first_text()
        .unwrap_or_default()
        .splitn(2, |byte| *byte == b' ');
    let until = words.next().and_then(Moment::read);
    let jid = words.next().map(Name::from);
    Ok(jid.filter(|_| until.is_some_and(|until| until > now)))
}
