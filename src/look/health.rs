//! Judges the health of the system by the problems that `status` shows, or by given limits.

use crate::clock::moment::Moment;
use crate::model::health::{Health, HealthItem, HealthLevel, HealthLimit, LimitKind, Limits};
use crate::model::overview::{
    OmittedCounts, ProblemCode, StatusProblem, SystemFacts, SystemWideList,
};
use crate::model::pattern::NamePattern;
use crate::name::Name;
use crate::text::nearest_spelling;

/// Judges the health of the system by the given limits. Without limits, the problems that `status` shows decide. Keys
/// of a wrong type count in both cases.
pub(crate) fn judge_health(
    facts: &SystemFacts,
    problems: &[StatusProblem],
    limits: &Limits,
    now: Moment,
) -> Health {
    let omitted = if limits.cover_whole_system() {
        facts.omitted()
    } else {
        OmittedCounts::default()
    };
    let judged = |items| Health {
        has_no_queue: facts.queue_count == 0 && facts.is_list_readable(SystemWideList::Queues),
        ..Health::new(items, omitted)
    };
    if limits.0.is_empty() {
        return judged(problems.iter().map(problem_item).collect());
    }
    let is_damage = |problem: &&StatusProblem| problem.code == ProblemCode::Damaged;
    let damage = problems.iter().filter(is_damage).map(problem_item);
    let mut items: Vec<HealthItem> = damage.collect();
    for kind in [
        LimitKind::MaxWaiting,
        LimitKind::MaxHeadWait,
        LimitKind::MaxFailed,
        LimitKind::MaxStalled,
        LimitKind::MaxPaused,
        LimitKind::MinWorkers,
    ] {
        let bounds = limits.0.iter().filter(|(other, _)| *other == kind);
        let bounds: Vec<&HealthLimit> = bounds.map(|(_, bound)| bound).collect();
        if !bounds.is_empty() {
            add_limit_items(
                kind,
                &measured_values(kind, facts, now),
                &bounds,
                &mut items,
            );
        }
    }
    let groups = facts.groups.iter().filter(|group| group.jobs > 0);
    let groups: Vec<Name> = groups.map(|group| group.group.clone()).collect();
    for subject in unknown_subjects(limits.patterns(true), &groups) {
        // A group disappears with its last job, so an unknown group is no warning. Only add the most similar name, if
        // there is one.
        let items = items.iter_mut();
        let mut items = items.filter(|item| item.group.as_ref() == subject.as_plain_name());
        let near = nearest_spelling(subject.as_typed(), &groups);
        if let (Some(item), Some(near)) = (items.next(), near) {
            let what = format!("; no group is called so, but one is {near}");
            item.fact.push_str(&what);
            item.message.push_str(&what);
        }
    }
    let mut queues = facts.damaged_queues.clone();
    queues.extend(facts.queues.iter().map(|queue| queue.counts.name.clone()));
    for subject in unknown_subjects(limits.patterns(false), &queues) {
        items.push(unknown_queue_item(subject, &queues));
    }
    judged(items)
}

/// The measured values for a kind of limit, each with its queue or group. `None` if a value is unknown.
fn measured_values(kind: LimitKind, facts: &SystemFacts, now: Moment) -> Vec<(Name, Option<f64>)> {
    let queues = facts.queues.iter().map(|queue| &queue.counts);
    match kind {
        LimitKind::MaxWaiting => queues
            .map(|queue| (queue.name.clone(), Some(queue.waiting as f64)))
            .collect(),
        LimitKind::MaxHeadWait => queues
            .map(|queue| {
                let wait = queue.head_wait_s.map_or(0.0, |wait| wait.0);
                (queue.name.clone(), Some(wait))
            })
            .collect(),
        LimitKind::MaxStalled => queues
            .map(|queue| (queue.name.clone(), Some(queue.stalled as f64)))
            .collect(),
        LimitKind::MaxPaused => queues
            .filter(|queue| queue.paused)
            .map(|queue| {
                let age = queue.paused_since.map(|since| now.since(since).max(0.0));
                (queue.name.clone(), age)
            })
            .collect(),
        LimitKind::MaxFailed => facts
            .groups
            .iter()
            .map(|group| (group.group.clone(), Some(group.jobs as f64)))
            .collect(),
        LimitKind::MinWorkers => {
            let alive = facts
                .workers
                .iter()
                .filter(|worker| worker.is_busy_or_recent(now));
            let alive = alive.count() as f64;
            vec![(
                Name::default(),
                facts
                    .is_list_readable(SystemWideList::Workers)
                    .then_some(alive),
            )]
        }
    }
}

/// Adds an item for each value with a limit. The last limit whose pattern matches the queue or group applies, else the
/// last limit for all.
fn add_limit_items(
    kind: LimitKind,
    values: &[(Name, Option<f64>)],
    bounds: &[&HealthLimit],
    items: &mut Vec<HealthItem>,
) {
    let for_all = bounds.iter().rev().find(|bound| bound.subject.is_none());
    for (subject, value) in values {
        let mut bounds = bounds.iter().rev();
        let named = bounds.find(|bound| {
            let pattern = bound.subject.as_ref();
            pattern.is_some_and(|pattern| pattern.matches(subject))
        });
        if let Some(bound) = named.or(for_all) {
            let (threshold, is_for_all) = (bound.threshold, named.is_none());
            items.push(HealthItem::from_measurement(
                kind, subject, *value, threshold, is_for_all,
            ));
        }
    }
}

fn problem_item(problem: &StatusProblem) -> HealthItem {
    let level = if problem.code.is_mild() {
        HealthLevel::Warning
    } else {
        HealthLevel::Critical
    };
    HealthItem {
        queue: problem.queue.clone(),
        group: problem.group.clone(),
        ..HealthItem::from_fact(
            problem.code.as_str(),
            level,
            &problem.fact,
            &problem.message,
        )
    }
}

/// The patterns that match no known queue or group, each once. A misspelled name would otherwise count as healthy for
/// ever.
fn unknown_subjects<'a>(
    subjects: impl Iterator<Item = &'a NamePattern>,
    known: &[Name],
) -> Vec<&'a NamePattern> {
    let mut unknown: Vec<&NamePattern> = Vec::new();
    for subject in subjects {
        let is_new = || {
            !unknown
                .iter()
                .any(|other| other.as_typed() == subject.as_typed())
        };
        if !known.iter().any(|name| subject.matches(name)) && is_new() {
            unknown.push(subject);
        }
    }
    unknown
}

fn unknown_queue_item(subject: &NamePattern, known: &[Name]) -> HealthItem {
    let name = subject.as_plain_name();
    let fact = match name {
        None => format!("no queue matches {}", subject.as_typed()),
        Some(name) => match nearest_spelling(name, known) {
            None => format!("no queue is called {name}"),
            Some(near) => format!("no queue is called {name}; is it {near}?"),
        },
    };
    HealthItem {
        queue: name.cloned(),
        ..HealthItem::from_fact("unknown-queue", HealthLevel::Warning, &fact, &fact)
    }
}
