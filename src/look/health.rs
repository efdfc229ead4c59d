//! Whether all is well: the problems of `status`, or limits.

use crate::clock::moment::Moment;
use crate::json::Number;
use crate::model::health::{Bound, Health, HealthItem, HealthLevel, Limits, Threshold};
use crate::model::overview::{StatusProblem, SystemFacts};
use crate::model::queue::RoundedSeconds;
use crate::name::Name;
use crate::text::{duration, plural, with_thousands_separators};

/// How long ago a worker may have been seen that counts for `min_workers`, if it runs no job, in seconds.
const ALIVE: f64 = 120.0;

impl Limits {
    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.all().iter().all(|bounds| bounds.is_empty())
    }

    fn all(&self) -> [&Vec<Bound>; 6] {
        [
            &self.max_waiting,
            &self.max_head_wait,
            &self.max_failed,
            &self.max_stalled,
            &self.max_paused,
            &self.min_workers,
        ]
    }

    /// The groups and the queues that they name, which are looked at before all others.
    pub(crate) fn named(&self) -> (Vec<Name>, Vec<Name>) {
        let names = |bounds: &[&Vec<Bound>]| {
            let bounds = bounds.iter().flat_map(|bounds| bounds.iter());
            let subjects = bounds.filter_map(|bound| bound.subject.as_ref()?.as_plain_name());
            subjects.take(500).cloned().collect()
        };
        let queues = [
            &self.max_waiting,
            &self.max_head_wait,
            &self.max_stalled,
            &self.max_paused,
        ];
        (names(&[&self.max_failed]), names(&queues))
    }
}

/// The verdict of limits; without any, that of the problems.
pub(crate) fn judge(
    facts: &SystemFacts,
    problems: &[StatusProblem],
    limits: &Limits,
    now: Moment,
) -> Health {
    if limits.is_empty() {
        return Health::of_items(problems.iter().map(problem_item).collect());
    }
    let mut items = Vec::new();
    let queues = || facts.queues.iter().map(|queue| &queue.counts);
    let name = |name: &Name| name.clone();
    let mut add = |check, none, subjects: Vec<(Name, f64)>, bounds: &[Bound], say: Sentence| {
        items.extend(measured_items(check, none, &subjects, bounds, say));
    };
    add(
        "max_waiting",
        "no job waits",
        queues()
            .map(|queue| (name(&queue.name), queue.waiting as f64))
            .collect(),
        &limits.max_waiting,
        |count| plural(count as u64, "job waits", "jobs wait"),
    );
    let head_wait = |wait: &Option<_>| wait.as_ref().map_or(0.0, seconds);
    add(
        "max_head_wait",
        "no job waits",
        queues()
            .map(|queue| (name(&queue.name), head_wait(&queue.head_wait_s)))
            .collect(),
        &limits.max_head_wait,
        |wait| format!("the next job has waited {}", duration(wait)),
    );
    add(
        "max_failed",
        "no job has failed",
        facts
            .groups
            .iter()
            .map(|group| (name(&group.group), group.jobs as f64))
            .collect(),
        &limits.max_failed,
        |count| plural(count as u64, "failed job", "failed jobs"),
    );
    add(
        "max_stalled",
        "no job is stalled",
        queues()
            .map(|queue| (name(&queue.name), queue.stalled as f64))
            .collect(),
        &limits.max_stalled,
        |count| plural(count as u64, "stalled job", "stalled jobs"),
    );
    // A pause of which nobody knows the beginning has lasted for ever.
    let age = |since: Option<Moment>| since.map_or(f64::MAX, |since| now.since(since).max(0.0));
    let paused = queues().filter(|queue| queue.paused);
    add(
        "max_paused",
        "no queue is paused",
        paused
            .map(|queue| (name(&queue.name), age(queue.paused_since)))
            .collect(),
        &limits.max_paused,
        |age| {
            if age == f64::MAX {
                "paused, nobody knows since when".to_owned()
            } else {
                format!("paused for {}", duration(age))
            }
        },
    );
    for Bound { threshold, .. } in &limits.min_workers {
        items.push(workers_item(facts, *threshold, now));
    }
    Health::of_items(items)
}

/// Says a value.
type Sentence = fn(f64) -> String;

fn seconds(seconds: &RoundedSeconds) -> f64 {
    seconds.0
}

/// An item for each name with a limit: that which names it, the last of several, or else that for all.
fn measured_items(
    check: &'static str,
    none: &'static str,
    subjects: &[(Name, f64)],
    bounds: &[Bound],
    say: Sentence,
) -> Vec<HealthItem> {
    let named = |subject: &Name| {
        let mut bounds = bounds.iter().rev();
        bounds.find(|bound| matches!(&bound.subject, Some(pattern) if pattern.matches(subject)))
    };
    let general = bounds.iter().rev().find(|bound| bound.subject.is_none());
    let mut items = Vec::new();
    for (subject, value) in subjects {
        if let Some(bound) = named(subject).or(general) {
            items.push(measured_item(check, subject, *value, bound.threshold, say));
        }
    }
    // All that is within the limit for all is one item.
    let is_plain = |item: &HealthItem| {
        item.level == HealthLevel::Ok
            && item
                .queue
                .as_ref()
                .or(item.group.as_ref())
                .is_none_or(|name| named(name).is_none())
    };
    let within = items.iter().filter(|item| is_plain(item)).count();
    let most = items.iter().filter(|item| is_plain(item));
    let most = most
        .max_by(|one, other| value_of(one).total_cmp(&value_of(other)))
        .cloned();
    items.retain(|item| !is_plain(item));
    if let Some(most) = most {
        let noun = if most.group.is_some() {
            "groups"
        } else {
            "queues"
        };
        let message = match within {
            1 => most.message,
            within => format!(
                "{within} {noun} within the limit; the most, {}",
                most.message
            ),
        };
        items.push(HealthItem { message, ..most });
    } else if let (Some(bound), true) = (general, subjects.is_empty()) {
        items.push(HealthItem {
            queue: None,
            group: None,
            message: none.into(),
            ..measured_item(check, &Name::default(), 0.0, bound.threshold, say)
        });
    }
    items
}

fn value_of(item: &HealthItem) -> f64 {
    item.value.as_ref().map_or(0.0, |value| value.0)
}

fn measured_item(
    check: &'static str,
    subject: &Name,
    value: f64,
    threshold: Threshold,
    say: Sentence,
) -> HealthItem {
    let Threshold { warning, critical } = threshold;
    let (level, limit) = if value > critical {
        (HealthLevel::Critical, critical)
    } else if value > warning {
        (HealthLevel::Warning, warning)
    } else {
        (HealthLevel::Ok, warning)
    };
    let is_time = matches!(check, "max_head_wait" | "max_paused");
    let limit = if is_time {
        duration(limit)
    } else {
        with_thousands_separators(limit as u64)
    };
    let is_group = check == "max_failed";
    HealthItem {
        check: check.into(),
        queue: (!is_group).then(|| subject.clone()),
        group: is_group.then(|| subject.clone()),
        level,
        message: format!("{subject}: {}, at most {limit}", say(value)),
        value: Some(Number(value)),
        warning: Some(Number(warning)),
        critical: Some(Number(critical)),
    }
}

/// Workers that run a job or were seen just now.
fn workers_item(facts: &SystemFacts, threshold: Threshold, now: Moment) -> HealthItem {
    let Threshold { warning, critical } = threshold;
    let alive = facts.workers.iter().filter(|worker| {
        worker.running > 0
            || worker
                .last_seen
                .is_some_and(|seen| now.since(seen) <= ALIVE)
    });
    let alive = alive.count() as f64;
    let (level, limit) = if alive < critical.min(warning) {
        (HealthLevel::Critical, critical.min(warning))
    } else if alive < warning.max(critical) {
        (HealthLevel::Warning, warning.max(critical))
    } else {
        (HealthLevel::Ok, warning.max(critical))
    };
    let workers = plural(alive as u64, "worker is", "workers are");
    HealthItem {
        check: "min_workers".into(),
        queue: None,
        group: None,
        level,
        message: format!("{workers} at work, at least {limit}"),
        value: Some(Number(alive)),
        warning: Some(Number(warning)),
        critical: Some(Number(critical)),
    }
}

fn problem_item(problem: &StatusProblem) -> HealthItem {
    let level = if problem.code.is_mild() {
        HealthLevel::Warning
    } else {
        HealthLevel::Critical
    };
    HealthItem {
        check: problem.code.as_str().into(),
        queue: problem.queue.clone(),
        group: problem.group.clone(),
        level,
        message: problem.message.clone(),
        value: None,
        warning: None,
        critical: None,
    }
}

/// The queues that limits name and that are not there.
pub(crate) fn unknown_queues(facts: &SystemFacts, limits: &Limits) -> Vec<Name> {
    let (_, queues) = limits.named();
    let is_known = |name: &Name| {
        let mut queues = facts.queues.iter();
        queues.any(|queue| queue.counts.name == *name && queue.counts.exists())
    };
    queues.into_iter().filter(|name| !is_known(name)).collect()
}
