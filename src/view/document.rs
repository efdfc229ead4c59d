//! The documents of `-o json` and ndjson by kind, for `qless help json KIND` and `qless-json(5)`.
//! Models describe their fields, views the documents; a test compares both with what is written.

use serde_json::{Map, Value, json};

use super::list::Row;
use super::{View, error, export};
use crate::model::bulk::BulkReport;
use crate::model::check::Check;
use crate::model::complete::{Complete, Lock};
use crate::model::config::ConfigOption;
use crate::model::context::Context;
use crate::model::defaults::QueueDefaults;
use crate::model::done::Done;
use crate::model::explain::{Explanation, Explanations};
use crate::model::failure::FailureGroup;
use crate::model::field::{Field, Type};
use crate::model::job::{Counts, Dependencies, Job};
use crate::model::lag::Lag;
use crate::model::length::Length;
use crate::model::list::{Jobs, List};
use crate::model::local::Status;
use crate::model::overview::Overview;
use crate::model::put::Put;
use crate::model::queue::Queue;
use crate::model::recur::Recurring;
use crate::model::stats::DayStats;
use crate::model::tag::Tag;
use crate::model::throttle::{Throttle, ThrottleJobs};
use crate::model::version::Version;
use crate::model::wait::Wait;
use crate::model::work_event::WorkEvent;
use crate::model::worker::{Worker, WorkerJobs};

/// All documents, by kind.
pub(crate) const DOCUMENTS: [Document; 37] = [
    BulkReport::DOCUMENT,
    Check::DOCUMENT,
    Complete::DOCUMENT,
    ConfigOption::LIST,
    Context::LIST,
    Counts::DOCUMENT,
    QueueDefaults::DOCUMENT,
    QueueDefaults::LIST,
    Dependencies::DOCUMENT,
    Done::DOCUMENT,
    error::DOCUMENT,
    Explanation::DOCUMENT,
    Explanations::DOCUMENT,
    export::HEAD,
    FailureGroup::LIST,
    Job::DOCUMENT,
    Jobs::DOCUMENT,
    Lag::LIST,
    Length::DOCUMENT,
    export::LIMIT,
    Status::DOCUMENT,
    Lock::DOCUMENT,
    export::PAUSED,
    Put::DOCUMENT,
    Queue::LIST,
    Recurring::DOCUMENT,
    Recurring::LIST,
    DayStats::DOCUMENT,
    Overview::DOCUMENT,
    Tag::LIST,
    ThrottleJobs::DOCUMENT,
    Throttle::LIST,
    Version::DOCUMENT,
    Wait::DOCUMENT,
    WorkEvent::DOCUMENT,
    WorkerJobs::DOCUMENT,
    Worker::LIST,
];

/// A kind of document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Document {
    pub kind: &'static str,
    /// What it contains, and which commands write it.
    pub summary: &'static str,
    /// Its fields besides `kind`, `v` and `items`.
    pub fields: &'static [Field],
    /// The fields of its `items`, for a list.
    pub items: Option<&'static [Field]>,
}

impl Document {
    /// A document of one thing.
    pub(crate) const fn one(
        kind: &'static str,
        summary: &'static str,
        fields: &'static [Field],
    ) -> Document {
        Document {
            kind,
            summary,
            fields,
            items: None,
        }
    }

    /// A document of a [`List`].
    pub(crate) const fn list(
        kind: &'static str,
        summary: &'static str,
        items: &'static [Field],
    ) -> Document {
        Document {
            kind,
            summary,
            fields: List::<()>::FIELDS,
            items: Some(items),
        }
    }

    /// Returns the document of this kind.
    pub(crate) fn named(kind: &str) -> Option<&'static Document> {
        DOCUMENTS.iter().find(|document| document.kind == kind)
    }

    /// Returns its JSON Schema.
    pub(crate) fn schema(&self) -> String {
        let mut properties = Map::new();
        properties.insert("kind".into(), json!({ "const": self.kind }));
        properties.insert("v".into(), json!({ "const": 1 }));
        let mut required = vec!["kind", "v"];
        add_properties(self.fields, &mut properties, &mut required);
        if let Some(items) = self.items {
            let items = json!({ "type": "array", "items": object_schema(items) });
            properties.insert("items".into(), items);
            required.push("items");
        }
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": self.kind,
            "description": self.summary,
            "type": "object",
            "properties": properties,
            "required": required,
        });
        format!("{schema:#}\n")
    }

    /// Returns its fields in order, those of items and objects below them.
    pub(crate) fn outline(&self) -> Vec<OutlineLine> {
        let mut lines = Vec::new();
        outline(self.fields, 0, &mut lines);
        if let Some(items) = self.items {
            lines.push(OutlineLine {
                depth: 0,
                field: "items: list".to_owned(),
                meaning: "one for each, the lines of ndjson",
            });
            outline(items, 1, &mut lines);
        }
        lines
    }
}

/// A field in the outline of a document.
pub(crate) struct OutlineLine {
    /// How many objects or lists the field is in.
    pub depth: usize,
    /// Its name and type: `expires: time or null`.
    pub field: String,
    pub meaning: &'static str,
}

/// Returns the list of kinds, a line for each.
pub(crate) fn kinds() -> String {
    let kinds = DOCUMENTS.iter().map(|document| document.kind.len());
    let widest = kinds.max().unwrap_or(0);
    let lines = DOCUMENTS
        .iter()
        .map(|document| format!("{:widest$}  {}\n", document.kind, document.summary));
    lines.collect()
}

/// Returns the JSON Schema of an object with these fields.
fn object_schema(fields: &[Field]) -> Value {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    add_properties(fields, &mut properties, &mut required);
    json!({ "type": "object", "properties": properties, "required": required })
}

/// Adds a property for each field, with its `…_bytes`, and the names of those that are required.
fn add_properties(
    fields: &[Field],
    properties: &mut Map<String, Value>,
    required: &mut Vec<&'static str>,
) {
    for field in fields {
        properties.insert(field.name.into(), field_schema(field));
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

/// Returns the JSON Schema of a field's value.
fn field_schema(field: &Field) -> Value {
    let mut schema = match field.of {
        Type::Name | Type::Text => json!({ "type": "string" }),
        Type::Moment => json!({ "type": "string", "format": "date-time" }),
        Type::Number => json!({ "type": "number" }),
        Type::Count => json!({ "type": "integer" }),
        Type::Bool => json!({ "type": "boolean" }),
        Type::Any => json!({}),
        Type::Object(fields) => object_schema(fields),
    };
    if field.list {
        schema = json!({ "type": "array", "items": schema });
    }
    if field.null {
        schema["type"] = json!([schema["type"], "null"]);
    }
    schema["description"] = field.meaning.into();
    schema
}

/// Returns the type of a field for people: `list of strings`, `time or null`.
fn type_name(field: &Field) -> String {
    let name = match field.of {
        Type::Name | Type::Text => "string",
        Type::Moment => "time",
        Type::Number => "number",
        Type::Count => "integer",
        Type::Bool => "boolean",
        Type::Any => "any JSON",
        Type::Object(_) => "object",
    };
    match (field.list, field.null) {
        (true, _) => format!("list of {name}s"),
        (_, true) => format!("{name} or null"),
        _ => name.to_owned(),
    }
}

/// Adds a line for each field, those of objects one step deeper.
fn outline(fields: &[Field], depth: usize, lines: &mut Vec<OutlineLine>) {
    for field in fields {
        lines.push(OutlineLine {
            depth,
            field: format!("{}: {}", field.name, type_name(field)),
            meaning: field.meaning,
        });
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
    use crate::command_line::CommandLine;
    use crate::error::Error;
    use crate::json::{Data, Json, Number};
    use crate::model::bulk::{BulkItem, Code, RowContent, Totals};
    use crate::model::check::{Example, Found};
    use crate::model::context::{ContextsInFull, ValidatedContexts};
    use crate::model::coordination::Coordination;
    use crate::model::explain::{Evidence, Reason, ReasonCode};
    use crate::model::export::{
        Cancellation, ExportHead, PausedQueue, SavedJob, SavedRecurring, SavedThrottle,
    };
    use crate::model::finding::FINDINGS;
    use crate::model::job::{Entry, Failure, Neighbor, Payload, State};
    use crate::model::queue::Seconds;
    use crate::model::repair::{Planned, RepairCounts, RepairPlan, Repaired};
    use crate::model::stats::{Histogram, Spread, Stats, StatsByDay};
    use crate::model::wait::{WaitItem, WaitOutcome, WaitResult, WaitTotals};
    use crate::model::work_event::WorkEventKind;
    use crate::model::{list::List, repair};
    use crate::name::Name;
    use crate::view::json;

    fn job() -> Job {
        Job {
            data: Data::from(b"{}".to_vec()),
            failure: Some(Failure::default()),
            history: Some(vec![Entry::read(b"[1,\"done\"]").unwrap()]),
            ..Job::default()
        }
    }

    /// A job with all that coordinates it with others.
    fn coordinated() -> Job {
        Job {
            throttles: vec![Name::from(&b"\xff"[..])],
            key: Some(Name::from(&b"\xff"[..])),
            dup: Some(Name::from("merge")),
            rescore: Some(Name::from("max")),
            hold: true,
            backoff: Some(Name::from("fixed:1")),
            fence: Some(Number(7.0)),
            payloads: vec![Payload {
                data: Data::from(b"x".to_vec()),
                score: Number(1.5),
            }],
            ..job()
        }
    }

    /// Compares a serialized view with the description of its document, in which the kind is listed.
    fn compare<V: View>(kinds: &mut BTreeSet<&'static str>, view: &V) {
        let document: Value = serde_json::from_slice(&json::document(view).unwrap()).unwrap();
        compare_fields(kinds, &document);
        let listed = Document::named(V::DOCUMENT.kind).unwrap();
        assert_eq!(V::DOCUMENT.schema(), listed.schema());
    }

    /// Compares a document with the description of its kind.
    fn compare_fields(kinds: &mut BTreeSet<&'static str>, document: &Value) {
        let kind = document["kind"].as_str().unwrap();
        let described =
            Document::named(kind).unwrap_or_else(|| panic!("kind {kind} is not described"));
        let schema: Value = serde_json::from_str(&described.schema()).unwrap();
        assert_fits(kind, &schema, document);
        kinds.insert(described.kind);
    }

    /// Fails unless the fields of `value` are those of the schema.
    fn assert_fits(path: &str, schema: &Value, value: &Value) {
        if let Some(items) = value.as_array() {
            items
                .iter()
                .for_each(|item| assert_fits(path, &schema["items"], item));
        }
        let (Some(properties), Some(fields)) =
            (schema["properties"].as_object(), value.as_object())
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
            let described = properties
                .get(name)
                .unwrap_or_else(|| panic!("{path} is not described"));
            let null = described["type"]
                .as_array()
                .is_some_and(|types| types.contains(&"null".into()));
            assert!(
                !value.is_null() || null || described.get("type").is_none(),
                "{path} is null"
            );
            assert_fits(&path, described, value);
        }
    }

    #[test]
    fn each_document_has_the_fields_of_its_description() {
        let mut kinds = BTreeSet::new();
        let name = Name::from("n");
        let neighbor = || vec![Neighbor::new(Name::from("n"), None)];
        let now = Moment::from_micros(0);
        compare(&mut kinds, &job());
        compare(&mut kinds, &coordinated());
        compare(
            &mut kinds,
            &Jobs {
                list: List::whole(vec![job()]),
                missing: vec![name.clone()],
            },
        );
        compare(
            &mut kinds,
            &Recurring {
                data: Data::from(b"1".to_vec()),
                ..Recurring::default()
            },
        );
        compare(
            &mut kinds,
            &List::whole(vec![Recurring {
                options: Json::read(b"{\"key\":\"k\"}").map(|options| Coordination::read(&options)),
                ..Recurring::default()
            }]),
        );
        let queue = Queue {
            throttled: 1,
            ..Queue::default()
        };
        compare(&mut kinds, &List::whole(vec![queue]));
        let counts = Counts {
            throttled: 1,
            ..Counts::default()
        };
        compare(&mut kinds, &counts);
        let throttle = Throttle {
            ttl_s: Some(1),
            ..Throttle::default()
        };
        compare(&mut kinds, &List::whole(vec![throttle.clone()]));
        compare(
            &mut kinds,
            &ThrottleJobs {
                changed: Moment::from_seconds(1.0),
                changed_by: Some(name.clone()),
                throttle,
                holders: neighbor(),
                waiting: neighbor(),
            },
        );
        compare(
            &mut kinds,
            &QueueDefaults {
                queue: name.clone(),
                defaults: None,
                dry_run: true,
            },
        );
        let defaults = QueueDefaults {
            queue: name.clone(),
            defaults: None,
            dry_run: true,
        };
        compare(&mut kinds, &List::whole(vec![defaults]));
        compare(&mut kinds, &List::whole(vec![Worker::default()]));
        compare(&mut kinds, &WorkerJobs::default());
        compare(&mut kinds, &List::whole(vec![FailureGroup::default()]));
        let stats = Stats {
            wait: Spread::read(1, None, None, Histogram::read(&[1], 1, 0.0)),
            ..Stats::default()
        };
        compare(&mut kinds, &StatsByDay(List::whole(vec![stats.clone()])));
        let list = List::whole(vec![stats]);
        compare(
            &mut kinds,
            &DayStats {
                list,
                picture: None,
            },
        );
        compare(&mut kinds, &List::whole(vec![Tag::default()]));
        compare(
            &mut kinds,
            &List::whole(vec![ConfigOption {
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
        compare(&mut kinds, &List::whole(vec![context.clone()]));
        compare(
            &mut kinds,
            &ContextsInFull(List::whole(vec![context.clone()])),
        );
        compare(&mut kinds, &ValidatedContexts(List::whole(vec![context])));
        compare(
            &mut kinds,
            &Dependencies {
                jid: name.clone(),
                klass: None,
                queue: None,
                dependencies: neighbor(),
                dependents: neighbor(),
            },
        );
        compare(
            &mut kinds,
            &List::whole(vec![Lag {
                queue: name.clone(),
                lag_s: Seconds(1.5),
                jid: Some(name.clone()),
                why: Some(crate::model::lag::Why::Throttled),
                held_by: Some(name.clone()),
            }]),
        );
        compare(
            &mut kinds,
            &Length {
                queue: name.clone(),
                length: 1,
            },
        );
        compare(
            &mut kinds,
            &Put {
                jid: name.clone(),
                queue: None,
                state: None,
                created: true,
                new: true,
                queued_behind: Some(name.clone()),
                dry_run: true,
            },
        );
        compare(
            &mut kinds,
            &Complete {
                jid: name.clone(),
                state: name.clone(),
                queue: None,
            },
        );
        let evidence = Evidence {
            since: Some(now),
            until: Some(now),
            by: Some(Name::from(&b"\xff"[..])),
            reason: Some(name.clone()),
            worker: Some(name.clone()),
            group: Some(name.clone()),
            message: Some(name.clone()),
            entry: Some(name.clone()),
            throttle: Some(name.clone()),
            lane: Some(name.clone()),
            jobs: Some(1),
            waiting: Some(1),
            limit: Some(1),
            remaining: Some(1),
            backoff: Some(crate::model::explain::Backoff::Retry),
            per_minute: Some(Seconds(1.5)),
            eta_s: Some(Seconds(1.0)),
            roots: neighbor(),
            cycle: vec![name.clone()],
        };
        let explanation = Explanation {
            reasons: vec![Reason::new(
                ReasonCode::Paused,
                evidence,
                CommandLine::new("unpause"),
            )],
            counts: Some(Queue::default()),
            ..Explanation::default()
        };
        compare(&mut kinds, &explanation);
        let list = List::whole(vec![explanation]);
        compare(&mut kinds, &Explanations { list });
        compare(&mut kinds, &Overview::example());
        compare(
            &mut kinds,
            &Wait {
                totals: WaitTotals {
                    outcome: WaitOutcome::Deadline,
                    awaited: State::Complete,
                    jobs: 1,
                    reached: 0,
                    pending: 1,
                    elapsed_s: Seconds(1.0),
                    silent_s: Some(Seconds(1.0)),
                },
                items: vec![WaitItem {
                    jid: name.clone(),
                    state: None,
                    result: WaitResult::Pending,
                    elapsed_s: None,
                }],
                decisive: None,
            },
        );
        compare(
            &mut kinds,
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
                examples: vec![Example::new(name.clone(), name.clone())],
                ..Found::new(finding.id, finding.severity)
            }],
        };
        compare(&mut kinds, &check);
        compare(
            &mut kinds,
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
        compare(
            &mut kinds,
            &Repaired {
                items: check.items.iter().cloned().map(repair::Row::from).collect(),
                check,
                run: Some("a run".to_owned()),
                totals: RepairCounts::default(),
            },
        );
        compare(&mut kinds, &Done::new("pause", vec![name.clone()], true));
        compare(
            &mut kinds,
            &BulkReport {
                sum: Totals::of("retry", false, 1),
                items: vec![BulkItem::new(&name, Code::Gone)],
                row_content: RowContent::Nothing,
                rows: Vec::new(),
            },
        );
        compare(
            &mut kinds,
            &Status {
                running: false,
                pid: None,
                dir: name.clone(),
                url: name.clone(),
                jobs: None,
                bytes: 0,
            },
        );
        compare(
            &mut kinds,
            &Version {
                version: "1",
                core: String::new(),
                commit: None,
            },
        );
        let started = WorkEvent {
            at: now,
            event: WorkEventKind::Started,
            jid: name.clone(),
            queue: Some(name.clone()),
            klass: name.clone(),
            worker: name.clone(),
            attempt: 1,
            exit: None,
            signal: None,
            elapsed_s: None,
            message: None,
        };
        let failed = WorkEvent {
            event: WorkEventKind::Failed,
            exit: Some(1),
            signal: Some("KILL".to_owned()),
            elapsed_s: Some(Seconds(0.5)),
            message: Some(String::new()),
            ..started.clone()
        };
        compare(&mut kinds, &started);
        compare(&mut kinds, &failed);
        let lines = [
            export::head(&ExportHead {
                at: now,
                prefix: String::new(),
                jobs: None,
                command: "export",
            }),
            export::job(
                SavedJob {
                    job: job(),
                    entries: vec![Name::from("nonsense")],
                    due: Some(now),
                },
                Some(&Cancellation {
                    at: now,
                    by: name.clone(),
                    reason: None,
                }),
            ),
            export::recurring(SavedRecurring {
                due: Some(now),
                ..SavedRecurring::default()
            }),
            export::throttle(&SavedThrottle {
                id: name.clone(),
                maximum: 1,
                expires: None,
            }),
            export::paused(&PausedQueue {
                queue: name.clone(),
                since: None,
                until: None,
                reason: None,
                by: None,
            }),
        ];
        for line in lines {
            let document: Value = serde_json::from_slice(&line.unwrap()).unwrap();
            compare_fields(&mut kinds, &document);
        }
        let error = Error::not_found("no").jid(&name);
        let error = json::line(&error).unwrap();
        compare_fields(&mut kinds, &serde_json::from_slice(&error).unwrap());
        let described: Vec<&str> = DOCUMENTS.iter().map(|document| document.kind).collect();
        assert_eq!(described, Vec::from_iter(kinds));
    }
}
