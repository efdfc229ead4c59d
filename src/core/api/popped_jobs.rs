//! Reads the jobs that a worker receives from a pop, and the jobs that it already holds.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::clock::moment::Moment;
use crate::core::call::Core;
use crate::core::call::reply;
use crate::error::Error;
use crate::json;
use crate::model::job::{Job, MergePayload};
use crate::model::popped_job::PoppedJob;
use crate::name::{Name, lossless_text};

/// Reads the JSON text of popped jobs, a part of the reply to `call`, which errors name. Skips the history of the jobs.
pub fn read_popped_jobs(call: &str, bytes: &[u8]) -> Result<Vec<PoppedJob>, Error> {
    if bytes == b"{}" {
        return Ok(Vec::new());
    }
    let text = lossless_text(bytes);
    let jobs: Vec<PopReplyJob> =
        serde_json::from_str(&text).map_err(|why| reply::unexpected_reply(call, why))?;
    // The lossless text stands for an invalid byte by a special character. If the whole reply is UTF-8, such a
    // character is an ordinary one.
    let is_exact = matches!(text, Cow::Borrowed(_));
    let bytes = |text: OptionalText| match (is_exact, text.0) {
        (true, Cow::Borrowed(text)) => text.as_bytes().to_vec(),
        (true, Cow::Owned(text)) => text.into_bytes(),
        (false, text) => Name::from_lossless_text(&text).into_bytes(),
    };
    let names = |names: TextList| names.0.into_iter().map(|name| bytes(name).into()).collect();
    let mut read: Vec<PoppedJob> = Vec::with_capacity(jobs.len());
    for job in jobs {
        let (klass, queue) = (bytes(job.klass), bytes(job.queue));
        // Jobs of one reply mostly have the same class and queue: share the names with the job before.
        let shared = |name: Vec<u8>, last: Option<&Name>| match last {
            Some(last) if last.as_bytes() == name => last.clone(),
            _ => Name::from(name),
        };
        let last = read.last();
        let spawned_from = bytes(job.spawned_from_jid);
        let payloads = job.payloads.into_iter();
        let payloads = payloads.map(|(payload, score)| (bytes(payload), score.get().to_owned()));
        let job = PoppedJob {
            jid: bytes(job.jid).into(),
            klass: shared(klass, last.map(|job| &job.klass)),
            queue: shared(queue, last.map(|job| &job.queue)),
            data: bytes(job.data),
            tags: names(job.tags),
            priority: job.priority.0 as i64,
            retries: job.retries.0 as i64,
            remaining: job.remaining.0 as i64,
            expires: job.expires.0,
            spawned_from: (!spawned_from.is_empty()).then(|| spawned_from.into()),
            dependencies: names(job.dependencies),
            key: job.key.map(|key| bytes(key).into()),
            fence: job.fence.map(|fence| fence.0 as u64),
            payloads: payloads.collect(),
        };
        read.push(job);
    }
    Ok(read)
}

/// A job in the reply of a pop. Fields that are not listed here are skipped.
#[derive(Deserialize)]
struct PopReplyJob<'t> {
    #[serde(borrow)]
    jid: OptionalText<'t>,
    #[serde(borrow, default)]
    klass: OptionalText<'t>,
    #[serde(borrow, default)]
    queue: OptionalText<'t>,
    #[serde(borrow, default)]
    data: OptionalText<'t>,
    #[serde(borrow, default)]
    tags: TextList<'t>,
    #[serde(default)]
    priority: NumberOrZero,
    #[serde(default)]
    retries: NumberOrZero,
    #[serde(default)]
    remaining: NumberOrZero,
    #[serde(default)]
    expires: NumberOrZero,
    #[serde(borrow, default)]
    spawned_from_jid: OptionalText<'t>,
    #[serde(borrow, default)]
    dependencies: TextList<'t>,
    #[serde(borrow, default)]
    key: Option<OptionalText<'t>>,
    #[serde(default)]
    fence: Option<NumberOrZero>,
    #[serde(borrow, default)]
    payloads: Vec<(OptionalText<'t>, &'t RawValue)>,
}

/// A text. It is empty for `false`, which stands for an absent field.
#[derive(Default)]
struct OptionalText<'t>(Cow<'t, str>);

impl<'de: 't, 't> Deserialize<'de> for OptionalText<'t> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<OptionalText<'t>, D::Error> {
        struct OptionalTextVisitor;
        impl<'de> Visitor<'de> for OptionalTextVisitor {
            type Value = OptionalText<'de>;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a text or false")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<OptionalText<'de>, E> {
                Ok(OptionalText(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<OptionalText<'de>, E> {
                Ok(OptionalText(Cow::Owned(text.to_owned())))
            }
            fn visit_bool<E>(self, _: bool) -> Result<OptionalText<'de>, E> {
                Ok(OptionalText::default())
            }
        }
        deserializer.deserialize_any(OptionalTextVisitor)
    }
}

/// A list of texts. An empty one is `{}`.
#[derive(Default)]
struct TextList<'t>(Vec<OptionalText<'t>>);

impl<'de: 't, 't> Deserialize<'de> for TextList<'t> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TextList<'t>, D::Error> {
        struct TextListVisitor;
        impl<'de> Visitor<'de> for TextListVisitor {
            type Value = TextList<'de>;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a list of texts")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<TextList<'de>, A::Error> {
                let mut names = Vec::new();
                while let Some(name) = items.next_element()? {
                    names.push(name);
                }
                Ok(TextList(names))
            }
            fn visit_map<A: MapAccess<'de>>(
                self,
                mut members: A,
            ) -> Result<TextList<'de>, A::Error> {
                while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(TextList::default())
            }
        }
        deserializer.deserialize_any(TextListVisitor)
    }
}

/// A number, whole or not.
#[derive(Default)]
struct NumberOrZero(f64);

impl<'de> Deserialize<'de> for NumberOrZero {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<NumberOrZero, D::Error> {
        f64::deserialize(deserializer).map(NumberOrZero)
    }
}

impl Core {
    /// Reads these jobs, and keeps only the ones that the worker still holds.
    pub(super) fn jobs_still_held(
        &mut self,
        now: Moment,
        worker: &Name,
        jids: &[Name],
    ) -> Result<Vec<PoppedJob>, Error> {
        let fields = "jid,state,shown,worker,klass,queue,data,tags,priority,retries,remaining,expires,\
                      spawned_from_jid,dependencies,key,fence,payloads";
        let jobs = self
            .jobs_with_fields(now, fields, jids)?
            .into_iter()
            .flatten();
        let held = jobs.filter(|job| job.worker.as_ref() == Some(worker));
        Ok(held.map(popped_job_from_job).collect())
    }
}

/// A job as pop would return it.
fn popped_job_from_job(job: Job) -> PoppedJob {
    let whole = |number: Option<json::Number>| number.map_or(0, |number| number.0 as i64);
    let payloads = job.payloads.into_iter();
    let payload = |payload: MergePayload| {
        let score = payload.score.to_string();
        (payload.data.as_bytes().to_vec(), score)
    };
    PoppedJob {
        jid: job.jid,
        klass: job.klass.unwrap_or_default(),
        queue: job.queue.unwrap_or_default(),
        data: job.data.as_bytes().to_vec(),
        tags: job.tags,
        priority: whole(job.priority),
        retries: whole(job.retries),
        remaining: whole(job.remaining),
        expires: job.expires.map_or(0.0, Moment::seconds),
        spawned_from: job.spawned_from,
        dependencies: job.dependencies,
        key: job.key,
        fence: job.fence.map(|fence| fence.0 as u64),
        payloads: payloads.map(payload).collect(),
    }
}
