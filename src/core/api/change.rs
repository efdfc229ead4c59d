//! Shows a change of a repair as the Redis command that would make it, for people to read.

use crate::core::script::keys::{JobCompanionKey, KeyFamily, Keys};
use crate::model::verdict::KeyChange;
use crate::name::Name;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeyType {
    Hash,
    Zset,
    Set,
    List,
}

impl KeyChange {
    /// The words of the Redis command that makes this change. `finding_item` is the item of the finding: if it is a
    /// job, its key may look like a companion key of another job, such as a history.
    pub fn equivalent_redis_command(&self, keys: &Keys, finding_item: &Name) -> Vec<Name> {
        let key = self.key.clone();
        let word = |text: &str| Name::from(text);
        let (before, after) = (self.before.clone(), self.after.clone());
        let Some(item) = self.item.clone() else {
            return match (before, after) {
                (_, Some(name)) => vec![word("RENAME"), key, name],
                (Some(_), None) => vec![word("PERSIST"), key],
                (None, None) => vec![word("DEL"), key],
            };
        };
        let first = item.as_bytes() == b"0";
        match (type_by_key_name(keys, &key, finding_item), before, after) {
            (KeyType::Hash, _, Some(text)) => vec![word("HSET"), key, item, text],
            (KeyType::Hash, _, None) => vec![word("HDEL"), key, item],
            (KeyType::Zset, _, Some(score)) => vec![word("ZADD"), key, score, item],
            (KeyType::Zset, _, None) => vec![word("ZREM"), key, item],
            (KeyType::Set, _, Some(_)) => vec![word("SADD"), key, item],
            (KeyType::Set, _, None) => vec![word("SREM"), key, item],
            (KeyType::List, Some(_), Some(text)) => vec![word("LSET"), key, item, text],
            (KeyType::List, None, Some(text)) if first => vec![word("LPUSH"), key, text],
            (KeyType::List, None, Some(text)) => vec![word("RPUSH"), key, text],
            // LREM finds an element by its value: search from the head for the first element, else from the tail.
            (KeyType::List, before, None) => {
                let count = if first { "1" } else { "-1" };
                let text = before.unwrap_or_default();
                vec![word("LREM"), key, word(count), text]
            }
        }
    }
}

/// The type that the core gives a key of this name. The key of the job `finding_item` is recognized first,
/// because its name may look like a companion key of another job.
fn type_by_key_name(keys: &Keys, key: &Name, finding_item: &Name) -> KeyType {
    let key = key.as_bytes();
    match keys.family_of_key(key) {
        _ if key == keys.job_key(finding_item.as_bytes()) => KeyType::Hash,
        KeyFamily::Job(_) | KeyFamily::Recurring(_) => KeyType::Hash,
        KeyFamily::DayDurations | KeyFamily::DayCounters(_) => KeyType::Hash,
        KeyFamily::Config | KeyFamily::Pauses | KeyFamily::PausedRecurring => KeyType::Hash,
        KeyFamily::IdentifierPatterns => KeyType::Hash,
        KeyFamily::Companion(JobCompanionKey::History, _) | KeyFamily::Group(_) => KeyType::List,
        KeyFamily::PriorityPatterns | KeyFamily::Releasing => KeyType::List,
        KeyFamily::Companion(..) | KeyFamily::Failures | KeyFamily::Paused => KeyType::Set,
        _ => KeyType::Zset,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command_of(change: [Option<&str>; 4], of: &str) -> String {
        let [key, item, before, after] = change.map(|word| word.map(Name::from));
        let change = KeyChange {
            key: key.unwrap(),
            item,
            before,
            after,
        };
        let words = change.equivalent_redis_command(&Keys::new("p:"), &Name::from(of));
        let words: Vec<&str> = words.iter().filter_map(Name::as_str).collect();
        words.join(" ")
    }

    #[test]
    fn every_change_has_its_command() {
        for (change, command) in [
            (
                [Some("p:j:a"), None, None, Some("p:lost:r:j:a")],
                "RENAME p:j:a p:lost:r:j:a",
            ),
            (
                [Some("p:queues"), None, Some("9000"), None],
                "PERSIST p:queues",
            ),
            ([Some("p:lost:r:j:a"), None, None, None], "DEL p:lost:r:j:a"),
            (
                [Some("p:j:a"), Some("grace"), Some("1"), None],
                "HDEL p:j:a grace",
            ),
            (
                [Some("p:j:a"), Some("tags"), None, Some("{}")],
                "HSET p:j:a tags {}",
            ),
            (
                [Some("p:q:m-n-work"), Some("a"), Some("1"), None],
                "ZREM p:q:m-n-work a",
            ),
            (
                [Some("p:tags"), Some("eu"), Some("3"), Some("2")],
                "ZADD p:tags 2 eu",
            ),
            (
                [Some("p:j:x-dependents"), Some("a"), None, Some("1")],
                "SADD p:j:x-dependents a",
            ),
            (
                [Some("p:failures"), Some("G"), Some("1"), None],
                "SREM p:failures G",
            ),
            (
                [Some("p:j:a-history"), Some("2"), Some("x"), Some("y")],
                "LSET p:j:a-history 2 y",
            ),
            ([Some("p:f:G"), Some("0"), None, Some("a")], "LPUSH p:f:G a"),
            (
                [Some("p:f:G"), Some("0"), Some("a"), None],
                "LREM p:f:G 1 a",
            ),
            (
                [Some("p:f:G"), Some("7"), Some("a"), None],
                "LREM p:f:G -1 a",
            ),
        ] {
            assert_eq!(command_of(change, "a"), command);
        }
        // A job with the name of a companion is a job.
        let change = [Some("p:j:x-history"), Some("tags"), Some("?"), Some("{}")];
        assert_eq!(
            command_of(change, "x-history"),
            "HSET p:j:x-history tags {}"
        );
    }
}
