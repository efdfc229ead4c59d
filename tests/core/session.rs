//! Calls of the core and their replies as one text, for tests that only make calls.

use expect_test::Expect;
use serde_json::Value;

use super::errors;
use crate::extensions::foreign::FOREIGN;
use crate::support::core::{Core, Dump, Reply, short};

impl Core {
    /// Makes the calls in the expected text, and compares their replies with it. A line has calls that must
    /// succeed, separated by `; `, or one call and ` → ` with its reply. A number is shown as `:5`, a document with
    /// sorted members; with ` | ` behind a call, only these members are shown. A call that is refused must not
    /// change or publish anything.
    ///
    /// `== …` begins a case, with an empty database; `-- …` is a comment. A command in capitals is one of Redis;
    /// `foreign` before a call makes it by a script without lanes and throttles.
    /// [`Session::answer`] has the further words.
    #[track_caller]
    pub(crate) fn session(&mut self, expected: Expect) {
        let mut session = Session {
            core: self,
            foreign: None,
            unread: Vec::new(),
            kept: None,
        };
        let (mut seen, mut case) = (String::new(), "");
        for line in expected.data().trim().lines().map(str::trim) {
            if line.starts_with("* ") {
                continue;
            }
            if line.starts_with("== ") {
                session.core.flush();
                session.unread.clear();
                case = line;
            }
            let Some((call, wanted)) = line.split_once(" →") else {
                if !line.is_empty() && !line.starts_with("-- ") && !line.starts_with("== ") {
                    for call in line.split("; ") {
                        let reply = session.reply_to(call);
                        assert!(!reply.starts_with("error "), "{case}\n{call} → {reply}");
                    }
                }
                seen.push_str(&format!("{line}\n"));
                continue;
            };
            let reply = session.reply_to(call);
            if reply.lines().next() != Some(wanted.trim_start()) {
                eprintln!("{case}\n{call} → {reply}\nnot{wanted}\n");
            }
            seen.push_str(&format!("{call} → {reply}\n").replace("→ \n", "→\n"));
        }
        expected.assert_eq(&seen);
    }
}

struct Session<'c> {
    core: &'c mut Core,
    /// The script that knows neither lanes nor throttles, once a line has called it.
    foreign: Option<Core>,
    /// Events that no line has shown yet.
    unread: Vec<String>,
    /// All keys at the last `remember`.
    kept: Option<Dump>,
}

impl Session<'_> {
    fn reply_to(&mut self, line: &str) -> String {
        if let Some(answer) = self.answer(line) {
            return answer;
        }
        let (call, members) = line.split_once(" | ").unwrap_or((line, ""));
        let is_of_redis = call.starts_with(|first: char| first.is_ascii_uppercase());
        if is_of_redis {
            return shown(&self.core.redis(call));
        }
        self.unread.extend(self.core.published());
        let before = self.core.dump();
        let reply = match call.strip_prefix("foreign ") {
            Some(call) => {
                let beside = || self.core.beside(FOREIGN);
                self.foreign.get_or_insert_with(beside).run(call)
            }
            None => self.core.run(call),
        };
        match reply {
            Ok(reply) if members.is_empty() => shown(&reply),
            Ok(reply) => selected(&document(&reply), members),
            Err(error) => {
                let events = self.core.published();
                if self.core.dump() != before || !events.is_empty() {
                    return format!("error after a change: {error}");
                }
                match short(&error).strip_prefix("user_script:N: ") {
                    Some(text) => format!("error {}", text.trim_end()),
                    None => "error of Redis".to_owned(),
                }
            }
        }
    }

    /// The answer to a line that is not a call:
    ///
    /// - `events`: the events since the last such line
    /// - `states a b`: the stored states of these jobs
    /// - `sets j`: the sets of queues that have the job
    /// - `history j`: its stored history
    /// - `payloads j`: the payloads of a merge job with their scores
    /// - `shares`: the holders of throttle `t`, its pending jobs, and the held jobs of queue `q`
    /// - `score KEY MEMBER`: a score, in as few digits as are exact
    /// - `keys PATTERN`: the names of keys, sorted
    /// - `members KEY`: the members of a set, sorted
    /// - `remember` and `unchanged`: fails if any key has changed between them
    /// - `clean NOW`: fails if `check` finds anything
    /// - `one_of_each`: puts the jobs of [`errors::one_of_each`]
    fn answer(&mut self, line: &str) -> Option<String> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let core = &mut *self.core;
        Some(match word {
            "events" => {
                self.unread.extend(core.published());
                let events = std::mem::take(&mut self.unread);
                let lines = events.iter().map(|event| format!("\n    * {event}"));
                or_none(lines.collect())
            }
            "states" => {
                let states = rest.split(' ').map(|jid| or_none(core.state(jid)));
                states.collect::<Vec<_>>().join(" ")
            }
            "sets" => {
                let dump = core.dump();
                let sets = dump.0.keys().filter_map(|name| {
                    let set = name.strip_prefix("ql:q:")?;
                    dump.score(name, rest).map(|_| set)
                });
                or_none(sets.collect::<Vec<_>>().join(" "))
            }
            "payloads" => core.payloads(rest),
            "shares" => core.shares(),
            "history" => or_none(core.history(rest).join(" · ")),
            "score" => {
                let (key, member) = rest.split_once(' ').expect("a key and a member");
                let score = core.score(key, member);
                score.map_or("nil".to_owned(), |score| score.to_string())
            }
            "keys" | "members" => {
                let command = if word == "keys" { "KEYS" } else { "SMEMBERS" };
                let mut names = core.redis(&format!("{command} {rest}")).texts();
                names.sort();
                or_none(names.join(" "))
            }
            "remember" => {
                self.kept = Some(core.dump());
                String::new()
            }
            "unchanged" if self.kept == Some(core.dump()) => String::new(),
            "unchanged" => "error a key has changed since `remember`".to_owned(),
            "clean" => {
                core.must_be_clean(rest.parse().expect("a time"), Default::default());
                String::new()
            }
            "one_of_each" => {
                errors::put_one_of_each(core);
                String::new()
            }
            _ => return None,
        })
    }
}

fn or_none(text: String) -> String {
    if text.is_empty() {
        "none".to_owned()
    } else {
        text
    }
}

fn shown(reply: &Reply) -> String {
    match reply {
        Reply::Nil => "nil".to_owned(),
        Reply::Int(number) => format!(":{number}"),
        Reply::Error(error) => format!("error {error}"),
        Reply::Text(text) if text.is_empty() => "''".to_owned(),
        Reply::Text(text) if text.starts_with(['{', '[']) => {
            serde_json::from_str(text).map_or_else(|_| text.clone(), sorted)
        }
        Reply::Text(text) => text.clone(),
        Reply::List(items) => {
            let has_rows = matches!(items.first(), Some(Reply::List(_)));
            let separator = if has_rows { " · " } else { " " };
            let items: Vec<String> = items.iter().map(shown).collect();
            or_none(items.join(separator))
        }
    }
}

fn sorted(mut document: Value) -> String {
    document.sort_all_objects();
    document.to_string()
}

/// A reply as a document. A list of names and values is an object.
fn document(reply: &Reply) -> Value {
    match reply {
        Reply::Nil => Value::Null,
        Reply::Int(number) => (*number).into(),
        Reply::Text(text) if text.starts_with(['{', '[']) => {
            serde_json::from_str(text).unwrap_or_else(|_| text.clone().into())
        }
        Reply::Text(text) | Reply::Error(text) => text.clone().into(),
        Reply::List(items) => match items.first() {
            Some(Reply::Text(_)) if items.len().is_multiple_of(2) => {
                let pairs = items.chunks(2);
                let members = pairs.map(|pair| (pair[0].text().to_owned(), text_of(&pair[1])));
                Value::Object(members.collect())
            }
            _ => items.iter().map(document).collect(),
        },
    }
}

/// A value of a list of names and values, in which a document is only a text.
fn text_of(reply: &Reply) -> Value {
    match reply {
        Reply::Text(text) => text.clone().into(),
        Reply::List(items) => items.iter().map(text_of).collect(),
        other => document(other),
    }
}

/// These members of a document, or of each document of a list: `jid failure.group history.-1`.
fn selected(document: &Value, members: &str) -> String {
    let members: Vec<&str> = members.split(' ').collect();
    let is_position = members[0].starts_with(|first: char| first.is_ascii_digit());
    match document {
        Value::Array(items) if !is_position => {
            let items: Vec<String> = items
                .iter()
                .map(|item| members_of(item, &members))
                .collect();
            items.join(if members.len() > 1 { " · " } else { " " })
        }
        Value::Object(all) if all.is_empty() => "{}".to_owned(),
        document => members_of(document, &members),
    }
}

fn members_of(document: &Value, members: &[&str]) -> String {
    let texts = members.iter().map(|path| {
        let found = path.split('.').try_fold(document, |at, name| match at {
            Value::Array(items) => match name.strip_prefix('-') {
                Some(from_end) => items.iter().nth_back(from_end.parse::<usize>().ok()? - 1),
                None => items.get(name.parse::<usize>().ok()?),
            },
            at => at.get(name),
        });
        found.map_or("-".to_owned(), plain)
    });
    texts.collect::<Vec<_>>().join(" ")
}

/// A value as JSON, a word without its quotes.
fn plain(value: &Value) -> String {
    let is_word = |text: &str| {
        text.starts_with(|first: char| first.is_ascii_alphabetic())
            && text
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "_-~:/".contains(c))
            && !["true", "false", "null"].contains(&text)
    };
    match value {
        Value::String(text) if is_word(text) => text.clone(),
        value => sorted(value.clone()),
    }
}
