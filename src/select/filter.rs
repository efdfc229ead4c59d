//! Checks the conditions of a selector for each job that an index contains.
//!
//! The first check reads only a few stored fields, which is cheap and excludes most jobs. The second check reads the
//! job as the core returns it, and decides.

use std::borrow::Cow;

use strum::{IntoStaticStr, VariantArray};

use crate::args::shared::Selector;
use crate::clock::moment::Moment;
use crate::core::api::index::Index;
use crate::core::api::job::JobFields;
use crate::json::Json;
use crate::json::data::JobData;
use crate::model::job::{Failure, Job, State};
use crate::model::pattern::passes_filter;
use crate::name::Name;

#[derive(Debug)]
pub(super) struct JobFilter<'a> {
    pub selector: &'a Selector,
    pub states: Vec<State>,
    now: Moment,
}

/// A stored field of a job that a condition of a selector compares, by its name in the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub(super) enum FilterField {
    State,
    Queue,
    Klass,
    Worker,
    Tags,
    Failure,
    Data,
    Key,
    Throttles,
}

impl<'a> JobFilter<'a> {
    pub(super) fn new(selector: &'a Selector, now: Moment) -> JobFilter<'a> {
        JobFilter {
            selector,
            states: selector.effective_states(),
            now,
        }
    }

    pub(super) fn matches_any_state(&self) -> bool {
        self.states.len() == State::VARIANTS.len()
    }

    /// The message why every job is read: no index serves the given flags.
    pub(super) fn unindexed_reason(&self) -> String {
        match self.selector.unindexed_flags().as_slice() {
            [] => "that is what `--all` means".into(),
            [flag] => format!("`{flag}` has no index"),
            flags => format!("`{}` have no index", flags.join("` and `")),
        }
    }

    /// The stored fields that the conditions of the selector compare.
    fn condition_fields(&self) -> impl Iterator<Item = FilterField> {
        let selector = self.selector;
        let needed = [
            (FilterField::State, !self.matches_any_state()),
            (FilterField::Queue, !selector.queues.is_empty()),
            (FilterField::Klass, !selector.klasses.is_empty()),
            (FilterField::Worker, !selector.held_by.is_empty()),
            (FilterField::Tags, !selector.tags.is_empty()),
            (
                FilterField::Failure,
                !selector.groups.is_empty() || selector.message.is_some(),
            ),
            (FilterField::Data, !selector.wheres.is_empty()),
            (FilterField::Key, !selector.keys.is_empty()),
            (FilterField::Throttles, !selector.throttles.is_empty()),
        ];
        needed
            .into_iter()
            .filter(|(_, is_needed)| *is_needed)
            .map(|(field, _)| field)
    }

    /// The stored fields that can exclude a member of an index before the core reads all of the job. Conditions that
    /// every member meets are left out. Without an index, all conditions count.
    pub(super) fn prefilter_fields(&self, index: Option<&Index>) -> Vec<FilterField> {
        let selector = self.selector;
        let sure = |field: FilterField| match (index, field) {
            (None, _) => false,
            (Some(Index::Failed(_)), FilterField::State) => true,
            (Some(Index::Failed(_)), FilterField::Failure) => selector.message.is_none(),
            (Some(Index::Tag(_)), FilterField::Tags) => selector.tags.len() == 1,
            (Some(Index::Complete), FilterField::State) => true,
            (
                Some(
                    Index::Waiting(_)
                    | Index::Locks(_)
                    | Index::Scheduled(_)
                    | Index::Depends(_)
                    | Index::Throttled(_),
                ),
                FilterField::State | FilterField::Queue,
            ) => true,
            _ => false,
        };
        let fields = self.condition_fields();
        fields.filter(|field| !sure(*field)).collect()
    }

    /// The job fields to request from the core: those of `detail`, those that the conditions compare, and the state if
    /// `with_state` is set.
    pub(super) fn field_list(&self, detail: JobFields, with_state: bool) -> Cow<'static, str> {
        let base = detail.into_str();
        match detail {
            // The condition needs the whole data.
            JobFields::BriefExcerpt if !self.selector.wheres.is_empty() => {
                return JobFields::Brief.into_str().into();
            }
            JobFields::Brief
            | JobFields::BriefExcerpt
            | JobFields::Full
            | JobFields::FullExcerpt => {
                return base.into();
            }
            _ => {}
        }
        let mut names: Vec<&str> = base.split(',').collect();
        let mut add = |name| {
            if !names.contains(&name) {
                names.push(name);
            }
        };
        if with_state {
            add("shown");
        }
        for field in self.condition_fields() {
            match field {
                FilterField::State => add("shown"),
                FilterField::Worker => {
                    add("shown");
                    add("state");
                    add("worker");
                }
                field => add(field.into_str()),
            }
        }
        if self.selector.older_than.is_some() || self.selector.newer_than.is_some() {
            add("since");
            add("failure");
        }
        if self.selector.never_due {
            add("shown");
            add("due");
        }
        if self.selector.tracked {
            add("tracked");
        }
        if self.selector.retrying {
            add("retries");
            add("remaining");
        }
        if self.selector.dead {
            add("shown");
            add("queue");
            add("failure");
            add("remaining");
        }
        names.join(",").into()
    }

    /// Whether a job meets all conditions.
    pub(super) fn matches(&self, job: &Job) -> bool {
        let selector = self.selector;
        let failure = job.failure.as_ref();
        let age = job
            .unchanged_since()
            .map(|since| self.now.since(since).max(0.0));
        (self.matches_any_state() || job.state.is_some_and(|state| self.states.contains(&state)))
            && passes_filter(&selector.queues, job.queue.as_ref())
            && passes_filter(&selector.klasses, job.klass.as_ref())
            && self.is_held_by_selected_worker(job)
            && self.failure_matches(failure)
            && self.has_all_selected_tags(&job.tags)
            && self.data_matches(&job.data)
            && self.lane_matches(job.key.as_ref())
            && self.throttles_match(&job.throttles)
            && (!selector.never_due || self.is_never_due(job))
            && (!selector.tracked || job.tracked)
            && (!selector.retrying || job.has_used_retry())
            && (!selector.dead || job.is_in_morgue())
            && selector
                .older_than
                .is_none_or(|than| age.is_some_and(|age| age >= than.as_secs_f64()))
            && selector
                .newer_than
                .is_none_or(|than| age.is_some_and(|age| age < than.as_secs_f64()))
    }

    /// Whether one of the selected workers holds the job. The stored state must be `running`, because a job whose lock
    /// was revoked still names its last worker.
    fn is_held_by_selected_worker(&self, job: &Job) -> bool {
        let held_by = &self.selector.held_by;
        let stored = job.state_stored.as_ref().map(Name::as_bytes);
        held_by.is_empty()
            || stored == Some(b"running") && passes_filter(held_by, job.worker.as_ref())
    }

    fn is_never_due(&self, job: &Job) -> bool {
        job.due_score
            .is_some_and(|due| !self.now.score_can_become_due(due))
    }

    fn failure_matches(&self, failure: Option<&Failure>) -> bool {
        let selector = self.selector;
        let regex = selector.message.as_ref();
        passes_filter(&selector.groups, failure.map(|failure| &failure.group))
            && regex
                .is_none_or(|regex| failure.is_some_and(|failure| regex.matches(&failure.message)))
    }

    fn has_all_selected_tags(&self, tags: &[Name]) -> bool {
        self.selector.tags.iter().all(|tag| tags.contains(tag))
    }

    /// Whether `--key` selects the lane: by its whole name, or by the key after `QUEUE/`.
    fn lane_matches(&self, lane: Option<&Name>) -> bool {
        let keys = &self.selector.keys;
        let is_of = |lane: &[u8], key: &[u8]| {
            let queue = lane
                .strip_suffix(key)
                .and_then(|rest| rest.strip_suffix(b"/"));
            lane == key || !key.starts_with(b"/") && queue.is_some_and(|queue| !queue.is_empty())
        };
        let is_selected = |lane: &Name| {
            let mut keys = keys.iter();
            keys.any(|key| is_of(lane.as_bytes(), key.as_bytes()))
        };
        keys.is_empty() || lane.is_some_and(is_selected)
    }

    fn throttles_match(&self, throttles: &[Name]) -> bool {
        let wanted = &self.selector.throttles;
        wanted.is_empty() || throttles.iter().any(|id| passes_filter(wanted, Some(id)))
    }

    fn data_matches(&self, data: &JobData) -> bool {
        self.selector.wheres.iter().all(|equal| equal.matches(data))
    }

    /// Whether a job whose stored fields have these values may match the selector.
    pub(super) fn may_match(&self, fields: &[FilterField], values: Vec<Option<Vec<u8>>>) -> bool {
        let selector = self.selector;
        fields.iter().zip(values).all(|(field, text)| {
            let text = text.unwrap_or_default();
            match field {
                FilterField::State => {
                    let stored = |state: &State| match state {
                        // A job whose lock has expired is stalled, but its stored state is still `running`.
                        State::Stalled => text == b"stalled" || text == b"running",
                        state => text == state.into_str().as_bytes(),
                    };
                    self.states.iter().any(stored)
                }
                FilterField::Queue => passes_filter(&selector.queues, Some(&Name::from(text))),
                FilterField::Klass => passes_filter(&selector.klasses, Some(&Name::from(text))),
                FilterField::Worker => passes_filter(&selector.held_by, Some(&Name::from(text))),
                FilterField::Tags => {
                    let tags = Json::parse(&text).and_then(|tags| tags.text_array());
                    self.has_all_selected_tags(&tags.unwrap_or_default())
                }
                FilterField::Failure => self.failure_matches(Failure::from_stored(&text).as_ref()),
                FilterField::Data => self.data_matches(&JobData::from(text)),
                FilterField::Key => self.lane_matches(Some(&Name::from(text))),
                FilterField::Throttles => {
                    let throttles = Json::parse(&text).and_then(|ids| ids.text_array());
                    self.throttles_match(&throttles.unwrap_or_default())
                }
            }
        })
    }
}
