//! Looking at all that is stored of jobs, so that they can be put again.

use super::job;
use crate::clock::moment::Moment;
use crate::core::call::Core;
use crate::core::call::Value;
use crate::core::call::reply;
use crate::error::Error;
use crate::json::Json;
use crate::json::quote::encoded;
use crate::model::export::{PausedQueue, SavedJob};
use crate::model::job::{Entry, State};
use crate::name::Name;

use super::index::Index;

/// How many bytes of jobs are held at once, about.
const ROOM: usize = 4 << 20;

/// The most jobs that one call tells: each brings its history.
const MOST: usize = 200;

/// A way through jobs, as many at once as there is room for.
#[derive(Debug)]
pub(crate) struct Savings<'a> {
    left: &'a [Name],
    size: usize,
}

impl<'a> Savings<'a> {
    pub(crate) fn of(jids: &'a [Name]) -> Savings<'a> {
        // Before the first answer nothing is known of their size.
        let size = 20;
        Savings { left: jids, size }
    }

    /// Returns the next jobs, each as it was at one moment; `None` at the end. Those that are
    /// gone are left out.
    pub(crate) fn next(
        &mut self,
        core: &mut Core,
        now: Moment,
    ) -> Result<Option<Vec<SavedJob>>, Error> {
        if self.left.is_empty() {
            return Ok(None);
        }
        let (slice, left) = self.left.split_at(self.size.min(self.left.len()));
        self.left = left;
        let mut words: Vec<&[u8]> = vec![b"full"];
        words.extend(slice.iter().map(Name::as_bytes));
        let answer = reply::list(core.call(now, "look.jobs", &words)?)?;
        let mut jobs = Vec::with_capacity(slice.len());
        let mut bytes = 0;
        for (jid, told) in slice.iter().zip(answer) {
            if !matches!(told, Value::Nil) {
                let saved = read(jid, told)?;
                bytes += saved.job.data.as_bytes().len() + 1000 + 50 * saved.entries.len();
                jobs.push(saved);
            }
        }
        let each = bytes / slice.len();
        self.size = (ROOM / each.max(1)).clamp(1, MOST);
        Ok(Some(jobs))
    }
}

/// A way through all keys, for what is in no set: ids of `jobs`, or of `recurring` ones.
#[derive(Debug)]
pub(crate) struct Scan {
    kind: &'static str,
    /// `None` at the end.
    cursor: Option<Vec<u8>>,
}

impl Scan {
    pub(crate) fn of(kind: &'static str) -> Scan {
        let cursor = Some(b"0".to_vec());
        Scan { kind, cursor }
    }

    /// Returns the next ids, perhaps none; `None` at the end. An id may come twice.
    pub(crate) fn next(
        &mut self,
        core: &mut Core,
        now: Moment,
    ) -> Result<Option<Vec<Name>>, Error> {
        let Some(cursor) = self.cursor.take() else {
            return Ok(None);
        };
        let words: [&[u8]; 3] = [self.kind.as_bytes(), &cursor, b"1000"];
        let mut told = reply::list(core.call(now, "look.scan", &words)?)?.into_iter();
        let next = told.next().map(reply::bytes).transpose()?;
        self.cursor = next.filter(|next| next != b"0");
        let ids = told.map(|id| reply::bytes(id).map(Name::from));
        ids.collect::<Result<_, Error>>().map(Some)
    }
}

impl Core {
    /// Returns the queues from which nothing is popped, by name.
    pub fn paused(&mut self, now: Moment) -> Result<Vec<PausedQueue>, Error> {
        let names = self.members(now, &Index::Paused)?;
        let mut paused = Vec::new();
        for names in names.chunks(crate::model::bulk::MOST) {
            for queue in self.queues(now, names)? {
                paused.extend(queue.paused.then_some(PausedQueue {
                    queue: queue.name,
                    since: queue.paused_since,
                    until: queue.paused_until,
                    reason: queue.paused_reason,
                    by: queue.paused_by,
                }));
            }
        }
        Ok(paused)
    }
}

fn read(jid: &Name, told: Value) -> Result<SavedJob, Error> {
    let (mut entries, mut legacy, mut due, mut scheduled) = (Vec::new(), None, None, None);
    let Value::Array(words) = &told else {
        return Err(reply::unexpected("a job"));
    };
    for pair in words.chunks_exact(2) {
        match pair {
            [Value::BulkString(name), Value::Array(list)] if name == b"history" => {
                entries = reply::names(Value::Array(list.clone()))?;
            }
            [Value::BulkString(name), Value::BulkString(text)] => match name.as_slice() {
                b"legacy" => legacy = Json::read(text),
                b"due" => due = Moment::read(text),
                b"scheduled" => scheduled = Moment::read(text),
                _ => {}
            },
            _ => {}
        }
    }
    if let Some(legacy) = legacy {
        entries.append(&mut migrated(&legacy));
    }
    let mut job = job::read(jid, told)?;
    job.history = Some(
        entries
            .iter()
            .filter_map(|entry| Entry::read(entry.as_bytes()))
            .collect(),
    );
    if job.state == Some(State::Depends) {
        due = scheduled;
    }
    Ok(SavedJob { job, entries, due })
}

/// Returns the entries that the core will make of a history as versions before the list kept it.
fn migrated(legacy: &Json) -> Vec<Name> {
    let mut entries = Vec::new();
    for item in legacy.array().unwrap_or_default() {
        let fields = item.object().unwrap_or_default();
        let field = |name: &str| {
            let mut fields = fields.iter();
            let found = fields.find(|(key, _)| key.as_bytes() == name.as_bytes());
            found.map(|(_, value)| value)
        };
        let text = |name: &str| {
            let value = field(name);
            let text = value.and_then(|value| value.text().or_else(|| Some(value.to_name())));
            encoded(text.unwrap_or_default().as_bytes())
        };
        for (name, what) in [
            ("put", "put"),
            ("popped", "popped"),
            ("failed", "failed"),
            ("done", "done"),
        ] {
            let when = field(name).and_then(|when| match when.text() {
                Some(text) => text.as_str()?.trim().parse().ok(),
                None => when.number(),
            });
            let Some(when) = when.filter(|when: &f64| when.is_finite()) else {
                continue;
            };
            let mut entry = format!("[{:.0},\"{what}\"", when.floor()).into_bytes();
            let noted = match what {
                "put" => Some(("q", text("q"))),
                "popped" => Some(("worker", text("worker"))),
                _ => None,
            };
            if let Some((key, value)) = noted {
                entry.extend(format!(",{{\"{key}\":").into_bytes());
                entry.extend(value);
                entry.push(b'}');
            }
            entry.push(b']');
            entries.push(Name::from(entry));
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_history_becomes_entries() {
        let old = r#"[{"put":1.7,"q":"a/b","popped":"3","worker":"w","failed":null},{"done":9},7]"#;
        let entries = migrated(&Json::read(old.as_bytes()).unwrap());
        let texts: Vec<&str> = entries.iter().filter_map(Name::as_str).collect();
        assert_eq!(
            texts,
            [
                r#"[1,"put",{"q":"a\/b"}]"#,
                r#"[3,"popped",{"worker":"w"}]"#,
                r#"[9,"done"]"#
            ]
        );
    }
}
