//! What stands in each document, for `qless help json KIND` and `qless-json(5)`. The models write
//! the documents; a test holds both together.

use serde_json::{Map, Value, json};

/// A kind of document.
pub(crate) struct Kind {
    pub kind: &'static str,
    /// What it is, and which commands write it.
    pub says: &'static str,
    pub fields: &'static [Field],
    /// The fields of its `items`, for a list.
    pub items: Option<&'static [Field]>,
}

/// A field of a document.
#[derive(Clone, Copy)]
pub(crate) struct Field {
    name: &'static str,
    of: Type,
    list: bool,
    null: bool,
    /// Whether it may be left out.
    optional: bool,
    says: &'static str,
}

#[derive(Clone, Copy)]
enum Type {
    /// A text that others chose; `…_bytes` has it in base64 where it is not UTF-8.
    Name,
    Text,
    Moment,
    Number,
    Count,
    Bool,
    /// Any JSON.
    Any,
    Object(&'static [Field]),
}

const fn field(name: &'static str, of: Type, says: &'static str) -> Field {
    Field {
        name,
        of,
        list: false,
        null: false,
        optional: false,
        says,
    }
}

const fn name(name: &'static str, says: &'static str) -> Field {
    field(name, Type::Name, says)
}

const fn text(name: &'static str, says: &'static str) -> Field {
    field(name, Type::Text, says)
}

const fn moment(name: &'static str, says: &'static str) -> Field {
    field(name, Type::Moment, says)
}

const fn number(name: &'static str, says: &'static str) -> Field {
    field(name, Type::Number, says)
}

const fn count(name: &'static str, says: &'static str) -> Field {
    field(name, Type::Count, says)
}

const fn bool(name: &'static str, says: &'static str) -> Field {
    field(name, Type::Bool, says)
}

const fn object(name: &'static str, fields: &'static [Field], says: &'static str) -> Field {
    field(name, Type::Object(fields), says)
}

impl Field {
    /// `null` where there is none.
    const fn null(self) -> Field {
        Field { null: true, ..self }
    }

    const fn list(self) -> Field {
        Field { list: true, ..self }
    }

    const fn optional(self) -> Field {
        Field {
            optional: true,
            ..self
        }
    }
}

const CHECK: &[Field] = &[
    count("keys", "how many keys were walked"),
    count("jobs", "how many of them are jobs"),
    count("queues", "how many queues there are, or were asked for"),
    number("elapsed_s", "how long that took"),
    bool("complete", "whether everything was walked"),
    bool(
        "clean",
        "whether it was, and no finding is at or above `fail_on`",
    ),
    text("fail_on", "from which severity on findings are exit 7"),
    text("causes", "what probably led to it").list(),
    text(
        "run",
        "with --repair: the name under which whole keys were set aside; null if nothing was mended",
    )
    .null()
    .optional(),
    MENDED,
    GONE,
    REFUSED,
    bool("dry_run", "true where a repair was only rehearsed").optional(),
    object(
        "plan",
        PLANNED,
        "with --repair --dry-run: what would be mended, in this order",
    )
    .list()
    .optional(),
];

const MENDED: Field = count("mended", "with --repair: how many were mended").optional();
const GONE: Field = count("gone", "how many were gone when they were to be mended").optional();
const REFUSED: Field = count("refused", "how many the server did not take").optional();

const PLANNED: &[Field] = &[
    text("finding", "what is wrong"),
    name("item", "the job, name or key"),
    name("detail", "what is wrong with it"),
    text("commands", "the commands of Redis, as redis-cli takes them").list(),
];

const FOUND: &[Field] = &[
    text("severity", "critical, error, warn or info"),
    text(
        "finding",
        "what is wrong; names are stable, never used again",
    ),
    count("count", "how often"),
    bool("at_least", "whether it may be there more often"),
    text("problem", "what is wrong, in words"),
    text("invariants", "the invariants of the core that it breaks").list(),
    count(
        "mends",
        "how many of them a repair mends without asking further",
    ),
    count(
        "asks",
        "how many it mends only if `--only` names the finding",
    ),
    text("choices", "what a human may decide, and the command for it").list(),
    object("examples", EXAMPLE, "the first few").list(),
    MENDED,
    GONE,
    REFUSED,
];

const EXAMPLE: &[Field] = &[
    name("item", "the job, name or key"),
    name("detail", "what is wrong with it"),
];

const ENTRY: &[Field] = &[
    name(
        "what",
        "put, popped, done, failed, timed-out, or what a log says",
    ),
    moment("when", "when it happened").null(),
];

const FAILURE: &[Field] = &[
    name("group", "the kind of failure"),
    name("message", "its words"),
    name("worker", "who ran the job").null(),
    moment("when", "when it failed").null(),
];

const JOB: &[Field] = &[
    name("jid", "the job's id"),
    name("klass", "the kind of work").null(),
    name("queue", "its queue; null when complete").null(),
    text(
        "state",
        "waiting, running, stalled, scheduled, depends, failed or complete",
    )
    .null(),
    name(
        "state_stored",
        "the state as stored: a lock that ran out does not change it",
    )
    .null(),
    number("priority", "higher runs first").null(),
    number("retries", "tries allowed").null(),
    number("remaining", "tries left").null(),
    name("worker", "who holds its lock, or lost it").null(),
    moment("expires", "when its lock lapses, or did").null(),
    bool("tracked", "whether it has events of its own"),
    name("tags", "its tags").list(),
    field(
        "data",
        Type::Any,
        "its data as stored; null where that is not JSON",
    ),
    text(
        "data_bytes",
        "its data in base64, where it is not JSON; in an export where `data` does not tell each byte",
    )
    .optional(),
    object("failure", FAILURE, "its last failure").null(),
    name("dependencies", "the jobs that it waits for").list(),
    name("dependents", "the jobs that wait for it").list(),
    name("spawned_from", "the recurring job that put it").null(),
    moment("scheduled_for", "when it is due, if that is ahead").null(),
    moment("since", "when its newest history entry was made").null(),
    object(
        "history",
        ENTRY,
        "what happened to it, with what was noted; lists have it if asked for",
    )
    .list()
    .optional(),
    text(
        "history_bytes",
        "in an export, each entry as stored, in base64, where `history` does not tell each byte",
    )
    .list()
    .optional(),
    number(
        "due",
        "in an export, `scheduled_for` in seconds since the epoch, where that has no milliseconds",
    )
    .optional(),
    object(
        "cancelled",
        CANCELLED,
        "in what `cancel --save` wrote, by whom it was deleted",
    )
    .optional(),
];

const CANCELLED: &[Field] = &[
    moment("at", "when"),
    name("by", "who typed it, and where"),
    name("reason", "why, where that was said").null(),
];

const EXPORT: &[Field] = &[
    moment("at", "when it was begun"),
    text("prefix", "the prefix of the keys"),
    count(
        "jobs",
        "how many jobs there were to be, where the index knew",
    )
    .null(),
    text("command", "export, or cancel"),
];

const PAUSED: &[Field] = &[
    name("queue", "the queue"),
    moment("since", "since when, where that is known").null(),
    moment("until", "until when, where that was said").null(),
    name("reason", "why, where that was said").null(),
    name("by", "who paused it, where that is known").null(),
];

const RECURRING: &[Field] = &[
    name("jid", "its id"),
    name("klass", "the kind of work").null(),
    name("queue", "where its jobs are put").null(),
    number("every_s", "seconds from one job to the next").null(),
    moment("next", "when the next job is due").null(),
    number("backlog", "most missed jobs that are made up for; 0 is all").null(),
    number("count", "how many jobs it has put").null(),
    number("priority", "that of its jobs").null(),
    number("retries", "that of its jobs").null(),
    name("tags", "those of its jobs").list(),
    field(
        "data",
        Type::Any,
        "that of its jobs; null where it is not JSON",
    ),
    text(
        "data_bytes",
        "the data in base64, where it is not JSON; in an export where `data` does not tell each byte",
    )
    .optional(),
    number(
        "due",
        "in an export, `next` in seconds since the epoch, where that has no milliseconds",
    )
    .optional(),
];

const QUEUE: &[Field] = &[
    name("name", "the queue"),
    count("waiting", "jobs that may run now"),
    count("running", "jobs that are run"),
    count("stalled", "jobs whose lock ran out or was taken away"),
    count("scheduled", "jobs that are not due yet"),
    count("depends", "jobs that wait for others"),
    count("recurring", "recurring jobs"),
    bool("paused", "whether nothing is popped from it"),
    moment("paused_since", "since when, where that is known").null(),
    moment("paused_until", "until when, where that was said").null(),
    name("paused_reason", "why, where that was said").null(),
    number(
        "head_wait_s",
        "how long the next job to pop has been waiting",
    )
    .null(),
];

const COUNTS: &[Field] = &[
    count("waiting", "jobs in this state"),
    count("running", "jobs in this state"),
    count("stalled", "jobs in this state"),
    count("scheduled", "jobs in this state"),
    count("depends", "jobs in this state"),
    count("complete", "jobs in this state"),
    count("failed", "jobs in this state"),
];

const WORKER: &[Field] = &[
    name("name", "the worker"),
    count("running", "jobs that it runs"),
    count("stalled", "jobs whose lock it lost"),
    moment("last_seen", "its last pop or heartbeat").null(),
];

const HOLDER: &[Field] = &[
    name("name", "the worker"),
    moment("last_seen", "its last pop or heartbeat").null(),
    name("jobs", "jids of the jobs that it runs").list(),
    name("stalled", "jids of the jobs whose lock it lost").list(),
];

const GROUP: &[Field] = &[
    name("group", "the kind of failure"),
    count("jobs", "how many jobs are in it"),
    moment("last", "its newest failure").null(),
    name("queues", "the queues of its newest 200 jobs").list(),
    name("sample", "the message of its newest failure").null(),
];

const BOUND: &[Field] = &[
    number("lo_s", "at least this long"),
    number("hi_s", "not longer than this; null beyond the last bucket").null(),
];

const BUCKET: &[Field] = &[
    number("le_s", "not longer than this; null beyond the last bucket").null(),
    count("count", "how many jobs, without those of shorter buckets"),
];

const SPREAD: &[Field] = &[
    count("count", "how many jobs"),
    number("mean_s", "their mean").null(),
    number("std_s", "their standard deviation").null(),
    object("p50", BOUND, "the median is within; 0 to 0 without jobs"),
    object("p90", BOUND, "the 90th percentile is within"),
    object("p95", BOUND, "the 95th percentile is within"),
    object("p99", BOUND, "the 99th percentile is within"),
    object("max", BOUND, "the longest is within"),
    object("buckets", BUCKET, "the histogram, without empty buckets").list(),
];

const STATS: &[Field] = &[
    name("queue", "the queue"),
    text("day", "the day, in UTC"),
    count("completed", "jobs completed"),
    count("failures", "failures"),
    count(
        "failed",
        "jobs that failed on this day and are still failed",
    ),
    count("retries", "locks that ran out"),
    object("wait", SPREAD, "how long jobs waited"),
    object("run", SPREAD, "how long jobs ran"),
    number(
        "completed_per_hour",
        "jobs completed in an hour of the day so far",
    ),
    number(
        "change",
        "how much of that more than on the day before, 0.1 is a tenth; null without `--days`, or \
         if there was nothing",
    )
    .null(),
];

const TAG: &[Field] = &[
    name("tag", "the tag"),
    count("jobs", "how many jobs carry it"),
];

const OPTION: &[Field] = &[
    name("key", "the option"),
    name("value", "its value, set or by default"),
    text("default", "its default").null(),
    bool("known", "whether it means something to the core"),
];

const CONTEXT: &[Field] = &[
    text("name", "the context"),
    text("redis", "its address; a password is shown as `***`").null(),
    text("prefix", "the prefix of its keys, where the file says").null(),
    text("label", "what prompts call it"),
    bool("protected", "whether writes to many jobs ask for the label"),
    bool("read_only", "whether nothing may be changed"),
    text(
        "password",
        "where its password comes from: password-command, password-env or redis",
    )
    .null(),
    bool("default", "whether it is the file's default"),
    bool("used", "whether commands use it"),
    text("server", "what answered: context validate").optional(),
    text("error", "why nothing answered: context validate").optional(),
];

const NEIGHBOUR: &[Field] = &[
    name("jid", "the job's id"),
    name("klass", "the kind of work").null(),
    name("queue", "its queue").null(),
    text("state", "its state; null for a job that does not exist").null(),
];

const DEPENDENCIES: &[Field] = &[
    name("jid", "the job's id"),
    name("klass", "the kind of work").null(),
    name("queue", "its queue").null(),
    object("dependencies", NEIGHBOUR, "the jobs that it waits for").list(),
    object("dependents", NEIGHBOUR, "the jobs that wait for it").list(),
];

const LENGTH: &[Field] = &[
    name("queue", "the queue"),
    count(
        "length",
        "waiting, running, stalled and scheduled jobs, as the core counts them",
    ),
];

const PUT: &[Field] = &[
    name("jid", "the job's id"),
    name("queue", "its queue").null(),
    name("state", "its state").null(),
    bool(
        "created",
        "false for a job that existed and was left as it is",
    ),
    bool("dry_run", "true where nothing was changed").optional(),
];

const COMPLETE: &[Field] = &[
    name("jid", "the job's id"),
    name("state", "its state now"),
    name("queue", "its queue now; null when complete").null(),
];

const LOCK: &[Field] = &[
    name("jid", "the job's id"),
    name("worker", "who holds its lock"),
    moment("expires", "when it lapses"),
];

const DONE: &[Field] = &[
    text("action", "the command"),
    name("targets", "what it was done to").list(),
    bool("dry_run", "true where nothing was changed").optional(),
];

const OUTCOME: &[Field] = &[
    name("jid", "the job's id"),
    text("result", "done, skipped, failed or planned"),
    text("code", "ok, or why not"),
    text("detail", "why, in words").null(),
    name("queue", "its queue").null(),
    name("state_before", "its state as it was seen").null(),
    name("state_after", "its state now").null(),
    count("line", "where it stands in the file: put --from").optional(),
];

const BULK: &[Field] = &[
    text("action", "the command"),
    bool("dry_run", "true where nothing was changed"),
    text("context", "the settings by name").null(),
    count("matched", "jobs that were meant"),
    count("done", "jobs that were changed"),
    count("skipped", "jobs that changed meanwhile or are gone"),
    count("failed", "jobs that could not be changed"),
    count("remaining", "jobs that were not tried"),
    number("elapsed_s", "how long it took"),
    object(
        "items",
        OUTCOME,
        "what was skipped and failed; with -v, all",
    )
    .list(),
];

const LOCAL: &[Field] = &[
    bool("running", "whether the server runs"),
    count("pid", "its process").null(),
    name("dir", "its directory"),
    name("url", "its address for other clients"),
    count("jobs", "jobs that it holds").null(),
    count("bytes", "size on disk"),
];

const VERSION: &[Field] = &[
    text("version", "that of the binary"),
    text("commit", "what it was built from").null(),
    text("core", "the SHA-1 of its Lua core"),
];

const ERROR: &[Field] = &[
    text("code", "what kind of error it is"),
    count("exit", "the exit code"),
    text("message", "what went wrong"),
    text("hint", "what to do next").null(),
    name("jid", "the job that it is about").null(),
];

const LIST: &[Field] = &[
    count("total", "how many match, where the index knows it").null(),
    count("offset", "how many were left out at the beginning"),
];

const JOBS: &[Field] = &[
    count("total", "how many match, where the index knows it").null(),
    count("offset", "how many were left out at the beginning"),
    name("missing", "jids that were asked for and that no job has").list(),
];

const fn one(kind: &'static str, says: &'static str, fields: &'static [Field]) -> Kind {
    Kind {
        kind,
        says,
        fields,
        items: None,
    }
}

const fn list(kind: &'static str, says: &'static str, items: &'static [Field]) -> Kind {
    Kind {
        kind,
        says,
        fields: LIST,
        items: Some(items),
    }
}

/// All kinds, by name.
pub(crate) const KINDS: [Kind; 26] = [
    one(
        "bulk",
        "Jobs that one command changed or put: retry, cancel, put --from and the like",
        BULK,
    ),
    Kind {
        kind: "check",
        says: "What is damaged: check",
        fields: CHECK,
        items: Some(FOUND),
    },
    one(
        "complete",
        "A job that was completed or handed on: complete",
        COMPLETE,
    ),
    list("config", "Options: config list, config get", OPTION),
    list(
        "contexts",
        "Settings by name: context list, context show, context validate",
        CONTEXT,
    ),
    one("counts", "Jobs by state: jobs --count", COUNTS),
    one("dependencies", "A job's neighbours: depends", DEPENDENCIES),
    one(
        "done",
        "What a write did that answers nothing: pause, log and the like",
        DONE,
    ),
    one("error", "What went wrong, on stderr", ERROR),
    one(
        "export",
        "The first line of an export, before those of job, recurring, config, paused: export",
        EXPORT,
    ),
    list("failed", "Failure groups: failed", GROUP),
    one("job", "A job in full: get", JOB),
    Kind {
        kind: "jobs",
        says: "Jobs: jobs, peek, pop, failed --group, track, get of several",
        fields: JOBS,
        items: Some(JOB),
    },
    one("length", "A queue's length: length", LENGTH),
    one("local", "The private server: local", LOCAL),
    one("lock", "A lock that was pushed back: heartbeat", LOCK),
    one(
        "paused",
        "A queue that is paused: export --with paused",
        PAUSED,
    ),
    one("put", "A job that was put: put", PUT),
    list("queues", "Queues: queues", QUEUE),
    one("recurring", "A recurring job in full: recur get", RECURRING),
    list("recurring-jobs", "Recurring jobs: recur list", RECURRING),
    list("stats", "What happened in queues on a day: stats", STATS),
    list("tags", "Tags: tag", TAG),
    one("version", "The binary and its core: version", VERSION),
    one("worker", "A worker's jobs: workers NAME", HOLDER),
    list("workers", "Workers: workers", WORKER),
];

impl Kind {
    /// Returns the kind of this name.
    pub(crate) fn named(kind: &str) -> Option<&'static Kind> {
        KINDS.iter().find(|known| known.kind == kind)
    }

    /// Returns its JSON Schema.
    pub(crate) fn schema(&self) -> String {
        let mut properties = Map::new();
        properties.insert("kind".into(), json!({ "const": self.kind }));
        properties.insert("v".into(), json!({ "const": 1 }));
        let mut required = vec!["kind", "v"];
        describe(self.fields, &mut properties, &mut required);
        if let Some(items) = self.items {
            let items = json!({ "type": "array", "items": shape(items) });
            properties.insert("items".into(), items);
            required.push("items");
        }
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": self.kind,
            "description": self.says,
            "type": "object",
            "properties": properties,
            "required": required,
        });
        format!("{schema:#}\n")
    }

    /// Returns its fields as lines of `name`, type and words; those of items and objects set in.
    pub(crate) fn outline(&self) -> Vec<(usize, String, &'static str)> {
        let mut lines = Vec::new();
        outline(self.fields, 0, &mut lines);
        if let Some(items) = self.items {
            lines.push((
                0,
                "items: list".to_owned(),
                "one for each, the lines of ndjson",
            ));
            outline(items, 1, &mut lines);
        }
        lines
    }
}

/// Returns the list of kinds.
pub(crate) fn kinds() -> String {
    let widest = KINDS.iter().map(|kind| kind.kind.len()).max().unwrap_or(0);
    let lines = KINDS
        .iter()
        .map(|kind| format!("{:widest$}  {}\n", kind.kind, kind.says));
    lines.collect()
}

fn shape(fields: &[Field]) -> Value {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    describe(fields, &mut properties, &mut required);
    json!({ "type": "object", "properties": properties, "required": required })
}

fn describe(
    fields: &[Field],
    properties: &mut Map<String, Value>,
    required: &mut Vec<&'static str>,
) {
    for field in fields {
        properties.insert(field.name.into(), field.schema());
        if let Type::Name = field.of {
            let bytes = json!({ "type": "string", "contentEncoding": "base64" });
            let bytes = if field.list {
                json!({ "type": "array", "items": bytes })
            } else {
                bytes
            };
            properties.insert(format!("{}_bytes", field.name), bytes);
        }
        if !field.optional {
            required.push(field.name);
        }
    }
}

impl Field {
    fn schema(&self) -> Value {
        let mut schema = match self.of {
            Type::Name | Type::Text => json!({ "type": "string" }),
            Type::Moment => json!({ "type": "string", "format": "date-time" }),
            Type::Number => json!({ "type": "number" }),
            Type::Count => json!({ "type": "integer" }),
            Type::Bool => json!({ "type": "boolean" }),
            Type::Any => json!({}),
            Type::Object(fields) => shape(fields),
        };
        if self.list {
            schema = json!({ "type": "array", "items": schema });
        }
        if self.null {
            schema["type"] = json!([schema["type"], "null"]);
        }
        schema["description"] = self.says.into();
        schema
    }

    fn of(&self) -> String {
        let of = match self.of {
            Type::Name | Type::Text => "string",
            Type::Moment => "time",
            Type::Number => "number",
            Type::Count => "integer",
            Type::Bool => "boolean",
            Type::Any => "any JSON",
            Type::Object(_) => "object",
        };
        match (self.list, self.null) {
            (true, _) => format!("list of {of}s"),
            (_, true) => format!("{of} or null"),
            _ => of.to_owned(),
        }
    }
}

fn outline(fields: &[Field], depth: usize, lines: &mut Vec<(usize, String, &'static str)>) {
    for field in fields {
        lines.push((depth, format!("{}: {}", field.name, field.of()), field.says));
        if let Type::Object(fields) = field.of {
            outline(fields, depth + 1, lines);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::clock::moment::Moment;
    use crate::error::Error;
    use crate::json::{Data, Number};
    use crate::model::bulk::{Bulk, Code, Item, Shows, Sum};
    use crate::model::check::{Check, Example, Found};
    use crate::model::complete::{Complete, Lock};
    use crate::model::config;
    use crate::model::context::{Context, One, Validated};
    use crate::model::done::Done;
    use crate::model::export::{Cancelled, Head, Paused, Saved, SavedRecurring};
    use crate::model::failure::Group;
    use crate::model::finding::FINDINGS;
    use crate::model::job::{Counts, Dependencies, Entry, Failure, Job, Neighbour};
    use crate::model::length::Length;
    use crate::model::list::{Jobs, List};
    use crate::model::local::Status;
    use crate::model::put::Put;
    use crate::model::queue::Queue;
    use crate::model::recur::Recurring;
    use crate::model::repair::{Planned, RepairCounts, RepairPlan, Repaired, Row};
    use crate::model::stats::{Day, Days, Histogram, Spread, Stats};
    use crate::model::tag::Tag;
    use crate::model::version::Version;
    use crate::model::worker::{Holder, Worker};
    use crate::name::Name;
    use crate::view::{View, export, json};

    fn job() -> Job {
        Job {
            data: Data::from(b"{}".to_vec()),
            failure: Some(Failure::default()),
            history: Some(vec![Entry::read(b"[1,\"done\"]").unwrap()]),
            ..Job::default()
        }
    }

    fn held<V: View>(seen: &mut BTreeSet<&'static str>, view: &V) {
        let document: Value = serde_json::from_slice(&json::document(view).unwrap()).unwrap();
        seen.insert(V::KIND);
        let kind = Kind::named(V::KIND).unwrap_or_else(|| panic!("{} is not told", V::KIND));
        let schema: Value = serde_json::from_str(&kind.schema()).unwrap();
        fits(V::KIND, &schema, &document);
    }

    /// The fields are those of the schema, and there are no others.
    fn fits(path: &str, schema: &Value, value: &Value) {
        if let Some(items) = value.as_array() {
            items
                .iter()
                .for_each(|item| fits(path, &schema["items"], item));
        }
        let (Some(told), Some(fields)) = (schema["properties"].as_object(), value.as_object())
        else {
            return;
        };
        for name in schema["required"].as_array().unwrap() {
            assert!(
                fields.contains_key(name.as_str().unwrap()),
                "{path} lacks {name}"
            );
        }
        for (name, value) in fields {
            let path = format!("{path}.{name}");
            let told = told
                .get(name)
                .unwrap_or_else(|| panic!("{path} is not told"));
            let null = told["type"]
                .as_array()
                .is_some_and(|types| types.contains(&"null".into()));
            assert!(
                !value.is_null() || null || told.get("type").is_none(),
                "{path} is null"
            );
            fits(&path, told, value);
        }
    }

    #[test]
    fn each_document_has_the_fields_that_are_told_of_it() {
        let mut seen = BTreeSet::new();
        let name = Name::from("n");
        let neighbour = || vec![Neighbour::new(Name::from("n"), None)];
        let now = Moment::from_micros(0);
        held(&mut seen, &job());
        held(
            &mut seen,
            &Jobs {
                list: List::whole(vec![job()]),
                missing: vec![name.clone()],
            },
        );
        held(
            &mut seen,
            &Recurring {
                data: Data::from(b"1".to_vec()),
                ..Recurring::default()
            },
        );
        held(&mut seen, &List::whole(vec![Recurring::default()]));
        held(&mut seen, &List::whole(vec![Queue::default()]));
        held(&mut seen, &Counts::default());
        held(&mut seen, &List::whole(vec![Worker::default()]));
        held(&mut seen, &Holder::default());
        held(&mut seen, &List::whole(vec![Group::default()]));
        let stats = Stats {
            wait: Spread::read(1, None, None, Histogram::read(&[1], 1, 0.0)),
            ..Stats::default()
        };
        held(&mut seen, &Days(List::whole(vec![stats.clone()])));
        let list = List::whole(vec![stats]);
        held(
            &mut seen,
            &Day {
                list,
                picture: None,
            },
        );
        held(&mut seen, &List::whole(vec![Tag::default()]));
        held(
            &mut seen,
            &List::whole(vec![config::Item {
                key: name.clone(),
                value: name.clone(),
                default: None,
                known: false,
                set: true,
            }]),
        );
        let context = Context {
            server: Some("Redis".into()),
            error: Some("none".into()),
            ..Context::default()
        };
        held(&mut seen, &List::whole(vec![context.clone()]));
        held(&mut seen, &One(List::whole(vec![context.clone()])));
        held(&mut seen, &Validated(List::whole(vec![context])));
        held(
            &mut seen,
            &Dependencies {
                jid: name.clone(),
                klass: None,
                queue: None,
                dependencies: neighbour(),
                dependents: neighbour(),
            },
        );
        held(
            &mut seen,
            &Length {
                queue: name.clone(),
                length: 1,
            },
        );
        held(
            &mut seen,
            &Put {
                jid: name.clone(),
                queue: None,
                state: None,
                created: true,
                dry_run: true,
            },
        );
        held(
            &mut seen,
            &Complete {
                jid: name.clone(),
                state: name.clone(),
                queue: None,
            },
        );
        held(
            &mut seen,
            &Lock {
                jid: name.clone(),
                worker: name.clone(),
                expires: now,
            },
        );
        let finding = &FINDINGS[0];
        let check = Check {
            keys: 1,
            jobs: 1,
            queues: 1,
            elapsed_s: Number(0.1),
            complete: true,
            clean: false,
            fail_on: finding.severity,
            causes: vec!["a cause".to_owned()],
            items: vec![Found {
                examples: vec![Example {
                    item: name.clone(),
                    detail: name.clone(),
                }],
                ..Found::new(finding.id, finding.severity)
            }],
        };
        held(&mut seen, &check);
        held(
            &mut seen,
            &RepairPlan {
                check: check.clone(),
                dry_run: true,
                plan: vec![Planned {
                    finding: finding.id.to_owned(),
                    item: name.clone(),
                    detail: name.clone(),
                    commands: vec!["ZREM k m".to_owned()],
                }],
            },
        );
        held(
            &mut seen,
            &Repaired {
                items: check.items.iter().cloned().map(Row::from).collect(),
                check,
                run: Some("a run".to_owned()),
                totals: RepairCounts::default(),
            },
        );
        held(&mut seen, &Done::new("pause", vec![name.clone()], true));
        held(
            &mut seen,
            &Bulk {
                sum: Sum::of("retry", false, 1),
                items: vec![Item::new(&name, Code::Gone)],
                shows: Shows::Nothing,
                rows: Vec::new(),
            },
        );
        held(
            &mut seen,
            &Status {
                running: false,
                pid: None,
                dir: name.clone(),
                url: name.clone(),
                jobs: None,
                bytes: 0,
            },
        );
        held(
            &mut seen,
            &Version {
                version: "1",
                core: String::new(),
                commit: None,
            },
        );
        let lines = [
            export::head(&Head {
                at: now,
                prefix: String::new(),
                jobs: None,
                command: "export",
            }),
            export::job(
                Saved {
                    job: job(),
                    entries: vec![Name::from("nonsense")],
                    due: Some(now),
                },
                Some(&Cancelled {
                    at: now,
                    by: name.clone(),
                    reason: None,
                }),
            ),
            export::recurring(SavedRecurring {
                due: Some(now),
                ..SavedRecurring::default()
            }),
            export::paused(&Paused {
                queue: name.clone(),
                since: None,
                until: None,
                reason: None,
                by: None,
            }),
        ];
        for line in lines {
            let document: Value = serde_json::from_slice(&line.unwrap()).unwrap();
            let kind = Kind::named(document["kind"].as_str().unwrap()).unwrap();
            let schema: Value = serde_json::from_str(&kind.schema()).unwrap();
            fits(kind.kind, &schema, &document);
            seen.insert(kind.kind);
        }
        seen.insert("error");
        let error = Error::not_found("no").jid(&name);
        let schema: Value = serde_json::from_str(&Kind::named("error").unwrap().schema()).unwrap();
        fits("error", &schema, &serde_json::to_value(&error).unwrap());
        let told: BTreeSet<&str> = KINDS.iter().map(|kind| kind.kind).collect();
        assert_eq!(told, seen);
    }
}
