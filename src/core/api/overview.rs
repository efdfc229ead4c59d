//! Reading what `status` shows.

use crate::clock::moment::Moment;
use crate::core::call::{Call, Core, Value, reply};
use crate::error::Error;
use crate::model::overview::{
    LateRecurring, OldWait, RecentFailures, ServerFacts, StatusFacts, Today,
};
use crate::model::queue::Seconds;
use crate::name::Name;

impl Core {
    /// Returns what `status` shows besides queues and workers. Recent failures are those since a
    /// moment.
    pub(crate) fn status_facts(
        &mut self,
        now: Moment,
        since: Moment,
    ) -> Result<StatusFacts, Error> {
        let call = Call::read("look.status").arg(since.to_string());
        let mut parts = reply::list(self.call(now, call)?)?.into_iter();
        let mut part = || parts.next().unwrap_or(Value::Nil);
        let mut facts = StatusFacts {
            complete: reply::count(&reply::bytes(part())?),
            server: reply::optional(part())?.map(|info| server(&info)),
            ..StatusFacts::default()
        };
        for group in reply::list(part())? {
            let mut words = texts(group)?.into_iter();
            facts.groups.push(RecentFailures {
                group: words.next().flatten().map(Name::from).unwrap_or_default(),
                jobs: count(words.next()),
                recent: count(words.next()),
            });
        }
        for queue in reply::list(part())? {
            add_queue(now, texts(queue)?, &mut facts);
        }
        Ok(facts)
    }
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
    if let (Some(since), Some(jid)) = (since, words.next().flatten()) {
        facts.waits.push(OldWait {
            queue,
            jid: jid.into(),
            wait_s: Seconds(now.since(since).max(0.0)),
        });
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
