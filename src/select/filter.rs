//! What a selector asks of a job, once an index has named it.
//!
//! It is asked twice: first of a few stored fields, read plainly and cheaply, of which most jobs
//! are turned away; then of all that the core tells of the job at one moment, which decides.

use std::borrow::Cow;

use crate::args::shared::Selector;
use crate::clock::moment::Moment;
use crate::core::api::index::Index;
use crate::core::api::job::Detail;
use crate::json::{Data, Json};
use crate::model::job::{Failure, Job, State};
use crate::model::pattern::Pattern;
use crate::name::Name;

#[derive(Debug)]
pub(super) struct Filter<'a> {
    pub selector: &'a Selector,
    pub states: Vec<State>,
    now: Moment,
}

/// A stored field of a job that a flag asks about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    State,
    Queue,
    Klass,
    Worker,
    Tags,
    Failure,
    Data,
}

impl Field {
    const fn name(self) -> &'static str {
        match self {
            Field::State => "state",
            Field::Queue => "queue",
            Field::Klass => "klass",
            Field::Worker => "worker",
            Field::Tags => "tags",
            Field::Failure => "failure",
            Field::Data => "data",
        }
    }
}

impl<'a> Filter<'a> {
    pub(super) fn new(selector: &'a Selector, now: Moment) -> Filter<'a> {
        Filter {
            selector,
            states: selector.meant(),
            now,
        }
    }

    /// Whether jobs in any state are meant.
    pub(super) fn any_state(&self) -> bool {
        self.states.len() == State::ALL.len()
    }

    /// Returns why no index helps.
    pub(super) fn unsorted(&self) -> String {
        let flags = [
            ("`--klass`", !self.selector.klasses.is_empty()),
            ("`--where`", !self.selector.wheres.is_empty()),
        ];
        let given = flags.into_iter().filter(|(_, given)| *given);
        let given: Vec<&str> = given.map(|(flag, _)| flag).collect();
        match given.is_empty() {
            true => "that is what `--all` means".into(),
            false => format!("no index knows {}", given.join(" and ")),
        }
    }

    /// Returns the fields that flags ask about.
    fn fields(&self) -> impl Iterator<Item = Field> {
        let selector = self.selector;
        let asked = [
            (Field::State, !self.any_state()),
            (Field::Queue, !selector.queues.is_empty()),
            (Field::Klass, !selector.klasses.is_empty()),
            (Field::Worker, !selector.held_by.is_empty()),
            (Field::Tags, !selector.tags.is_empty()),
            (
                Field::Failure,
                !selector.groups.is_empty() || selector.message.is_some(),
            ),
            (Field::Data, !selector.wheres.is_empty()),
        ];
        asked
            .into_iter()
            .filter(|(_, asked)| *asked)
            .map(|(field, _)| field)
    }

    /// Returns the fields that may turn away a member of this index, or a job of no index.
    pub(super) fn doubts(&self, index: Option<&Index>) -> Doubts {
        let selector = self.selector;
        let sure = |field: Field| match (index, field) {
            (None, _) => false,
            (Some(Index::Failed(_)), Field::State) => true,
            (Some(Index::Failed(_)), Field::Failure) => selector.message.is_none(),
            (Some(Index::Tag(_)), Field::Tags) => selector.tags.len() == 1,
            (Some(Index::Complete), Field::State) => true,
            (
                Some(Index::Waiting(_) | Index::Locks(_) | Index::Scheduled(_) | Index::Depends(_)),
                Field::State | Field::Queue,
            ) => true,
            _ => false,
        };
        Doubts(self.fields().filter(|field| !sure(*field)).collect())
    }

    /// Returns what the core has to tell, so that this much is known and what decides; the state,
    /// where it decides about the order, too.
    pub(super) fn names(&self, tell: Detail, ordered: bool) -> Cow<'static, str> {
        let base = tell.word();
        if matches!(tell, Detail::Brief | Detail::Full) {
            return base.into();
        }
        let mut names: Vec<&str> = base.split(',').collect();
        let mut add = |name| {
            if !names.contains(&name) {
                names.push(name);
            }
        };
        if ordered {
            add("shown");
        }
        for field in self.fields() {
            match field {
                Field::State => add("shown"),
                Field::Worker => {
                    add("shown");
                    add("state");
                    add("worker");
                }
                field => add(field.name()),
            }
        }
        if self.selector.older_than.is_some() || self.selector.newer_than.is_some() {
            add("since");
        }
        if self.selector.tracked {
            add("tracked");
        }
        names.join(",").into()
    }

    /// Whether a job is meant, as far as it is told.
    pub(super) fn means(&self, job: &Job) -> bool {
        let selector = self.selector;
        let failure = job.failure.as_ref();
        let age = job.since.map(|since| self.now.since(since).max(0.0));
        (self.any_state() || job.state.is_some_and(|state| self.states.contains(&state)))
            && fits(&selector.queues, job.queue.as_ref())
            && fits(&selector.klasses, job.klass.as_ref())
            && self.held(job)
            && self.fails(failure)
            && self.tagged(&job.tags)
            && self.holds(&job.data)
            && (!selector.tracked || job.tracked)
            && selector
                .older_than
                .is_none_or(|than| age.is_some_and(|age| age >= than.as_secs_f64()))
            && selector
                .newer_than
                .is_none_or(|than| age.is_some_and(|age| age < than.as_secs_f64()))
    }

    /// Whether one of the workers has its lock. A job whose lock was taken away still tells who had
    /// it, but nobody holds it.
    fn held(&self, job: &Job) -> bool {
        let held_by = &self.selector.held_by;
        let stored = job.state_stored.as_ref().map(Name::as_bytes);
        held_by.is_empty() || stored == Some(b"running") && fits(held_by, job.worker.as_ref())
    }

    fn fails(&self, failure: Option<&Failure>) -> bool {
        let selector = self.selector;
        let wording = selector.message.as_ref();
        fits(&selector.groups, failure.map(|failure| &failure.group))
            && wording.is_none_or(|wording| {
                failure.is_some_and(|failure| wording.matches(&failure.message))
            })
    }

    fn tagged(&self, tags: &[Name]) -> bool {
        self.selector.tags.iter().all(|tag| tags.contains(tag))
    }

    fn holds(&self, data: &Data) -> bool {
        self.selector.wheres.iter().all(|equal| equal.matches(data))
    }
}

/// Fields by which a job may be turned away before it is looked at.
#[derive(Debug, Default)]
pub(super) struct Doubts(Vec<Field>);

impl Doubts {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the names of the fields.
    pub(super) fn names(&self) -> Vec<&'static str> {
        self.0.iter().map(|field| field.name()).collect()
    }

    /// Whether a job with these fields, in that order, may be meant, if it is one.
    pub(super) fn leave(&self, filter: &Filter, told: Vec<Option<Vec<u8>>>) -> bool {
        let selector = filter.selector;
        self.0.iter().zip(told).all(|(field, text)| {
            let text = text.unwrap_or_default();
            match field {
                Field::State => {
                    let stored = |state: &State| match state {
                        // A lock that ran out leaves its job running.
                        State::Stalled => text == b"stalled" || text == b"running",
                        state => text == state.word().as_bytes(),
                    };
                    filter.states.iter().any(stored)
                }
                Field::Queue => fits(&selector.queues, Some(&Name::from(text))),
                Field::Klass => fits(&selector.klasses, Some(&Name::from(text))),
                Field::Worker => fits(&selector.held_by, Some(&Name::from(text))),
                Field::Tags => {
                    let tags = Json::read(&text).and_then(|tags| tags.names());
                    filter.tagged(&tags.unwrap_or_default())
                }
                Field::Failure => filter.fails(Failure::read(&text).as_ref()),
                Field::Data => filter.holds(&Data::from(text)),
            }
        })
    }
}

/// Whether a name is among those that are meant; what has no name is like an empty one.
fn fits(patterns: &[Pattern], name: Option<&Name>) -> bool {
    let nobody = Name::default();
    let name = name.unwrap_or(&nobody);
    patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(name))
}
