//! Reading what `status` shows.

use super::index::Index;
use super::names::NAMES_PER_CALL;
use crate::clock::moment::Moment;
use crate::core::call::{Call, Core, Value, reply};
use crate::error::{Error, Kind};
use crate::model::lag::Why;
use crate::model::overview::{
    BlockingThrottle, LateRecurring, OldWait, Recent, RecentFailures, ServerFacts, StatusFacts,
    StuckLane, Today,
};
use crate::model::queue::Seconds;
use crate::name::Name;

impl Core {
    /// Returns what `status` shows, as it is at one moment unless there are too many names for one
    /// call. Recent failures are those since a moment.
    pub(crate) fn status_facts(
        &mut self,
        now: Moment,
        since: Moment,
    ) -> Result<StatusFacts, Error> {
        let call = Call::read("look.status").arg(since.to_string());
        let reply = match self.call(now, call.clone()) {
            // Names the key of a wrong type, if a queue has one.
            Err(error) if error.kind() == Kind::Damaged => {
                self.queues(now, &[])?;
                return Err(error);
            }
            reply => reply?,
        };
        let mut parts = reply::list(reply)?.into_iter();
        let mut part = || parts.next().unwrap_or(Value::Nil);
        let mut facts = StatusFacts {
            complete: reply::count(&reply::bytes(part())?),
            server: reply::optional(part())?.map(|info| server(&info)),
            ..StatusFacts::default()
        };
        let (groups, queues) = (part(), part());
        let mut recent = texts(part())?.into_iter().flatten();
        if let (Some(completed), Some(seconds)) = (recent.next(), recent.next()) {
            let seconds = std::str::from_utf8(&seconds).ok();
            facts.recent = Some(Recent {
                completed: reply::count(&completed),
                seconds: Seconds(seconds.and_then(|text| text.parse().ok()).unwrap_or(0.0)),
            });
        }
        facts.queues = match part() {
            Value::Nil => self.queues(now, &[])?,
            rows => self.all_queues(now, reply::list(rows)?)?,
        };
        facts.workers = self.all_workers(now, reply::list(part())?)?;
        let mut replies = vec![[groups.clone(), queues.clone()]];
        // If there are too many for one call, the core replies with their number.
        if !matches!(groups, Value::Array(_)) {
            for names in self.members(now, &Index::Groups)?.chunks(NAMES_PER_CALL) {
                let call = call.clone().arg(names.len().to_string()).args(names);
                replies.push(last_two(self.call(now, call)?)?);
            }
        }
        if !matches!(queues, Value::Array(_)) {
            let names = self.members(now, &Index::Queues)?;
            for reply in self.call_in_slices(now, &call.arg("0"), &names)? {
                replies.push(last_two(reply)?);
            }
        }
        for [groups, queues] in replies {
            add_groups(groups, &mut facts)?;
            add_queues(now, queues, &mut facts)?;
        }
        Ok(facts)
    }
}

/// Returns the groups and the queues of a reply.
fn last_two(reply: Value) -> Result<[Value; 2], Error> {
    let mut parts = reply::list(reply)?.into_iter().skip(2);
    let mut part = || parts.next().unwrap_or(Value::Nil);
    Ok([part(), part()])
}

/// Adds the facts about groups, unless there is only their number.
fn add_groups(groups: Value, facts: &mut StatusFacts) -> Result<(), Error> {
    let Value::Array(groups) = groups else {
        return Ok(());
    };
    for group in groups {
        let mut words = texts(group)?.into_iter();
        facts.groups.push(RecentFailures {
            group: words.next().flatten().map(Name::from).unwrap_or_default(),
            jobs: count(words.next()),
            recent: count(words.next()),
        });
    }
    Ok(())
}

/// Adds the facts about queues, unless there is only their number.
fn add_queues(now: Moment, queues: Value, facts: &mut StatusFacts) -> Result<(), Error> {
    let Value::Array(queues) = queues else {
        return Ok(());
    };
    for queue in queues {
        add_queue(now, texts(queue)?, facts);
    }
    Ok(())
}

/// Adds the facts about a queue.
fn add_queue(now: Moment, words: Vec<Option<Vec<u8>>>, facts: &mut StatusFacts) {
    let mut words = words.into_iter();
    let queue = words.next().flatten().map(Name::from).unwrap_or_default();
    let Today {
        popped,
        completed,
        failures,
        ..
    } = &mut facts.today;
    *popped += count(words.next());
    *completed += count(words.next());
    *failures += count(words.next());
    let late = count(words.next());
    let due = words.next().flatten().and_then(|due| Moment::read(&due));
    if late > 0 {
        facts.late_recurring.push(LateRecurring {
            queue: queue.clone(),
            jobs: late,
            due,
        });
    }
    let since = words
        .next()
        .flatten()
        .and_then(|since| Moment::read(&since));
    let mut word = || words.next().flatten();
    let (jid, why, held_by) = (word(), word(), word());
    if let (Some(since), Some(jid)) = (since, jid) {
        facts.waits.push(OldWait {
            queue,
            jid: jid.into(),
            wait_s: Seconds(now.since(since).max(0.0)),
            why: why.and_then(|why| Why::read(&why)),
            held_by: held_by.map(Name::from),
        });
    }
    if let (Some(id), waiting) = (word().map(Name::from), word()) {
        let is_known = facts.throttles.iter().any(|known| known.id == id);
        let waiting = waiting.map_or(0, |text| reply::count(&text));
        facts
            .throttles
            .extend((!is_known).then_some(BlockingThrottle { id, waiting }));
    }
    if let (Some(lane), Some(first)) = (word().map(Name::from), word()) {
        let is_known = facts.lanes.iter().any(|known| known.lane == lane);
        facts.lanes.extend((!is_known).then(|| StuckLane {
            lane,
            first: first.into(),
            worker: word().map(Name::from).unwrap_or_default(),
        }));
    }
}

fn texts(value: Value) -> Result<Vec<Option<Vec<u8>>>, Error> {
    reply::list(value)?
        .into_iter()
        .map(reply::optional)
        .collect()
}

fn count(text: Option<Option<Vec<u8>>>) -> u64 {
    text.flatten().map_or(0, |text| reply::count(&text))
}

/// Reads the text of INFO.
fn server(info: &[u8]) -> ServerFacts {
    let info = String::from_utf8_lossy(info);
    let text = |key: &str| {
        let value = info
            .lines()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
        value.unwrap_or_default().trim().to_owned()
    };
    let number = |key: &str| text(key).parse().unwrap_or(0);
    let is = |key: &str, value: &str| text(key) == value;
    ServerFacts {
        version: text("redis_version"),
        role: text("role"),
        uptime_s: number("uptime_in_seconds"),
        memory_bytes: number("used_memory"),
        max_memory_bytes: number("maxmemory"),
        eviction: text("maxmemory_policy"),
        append_only: is("aof_enabled", "1"),
        last_save: Moment::read(text("rdb_last_save_time").as_bytes()),
        save_failed: is("rdb_last_bgsave_status", "err") || is("aof_last_write_status", "err"),
        link_down: is("master_link_status", "down"),
    }
}
