//! The health of the system: the limits that the user gave, and the values and problems that were found.

use schemars::JsonSchema;
use serde::Serialize;
use strum::{EnumString, IntoStaticStr};

use super::overview::OmittedCounts;
use super::pattern::NamePattern;
use crate::command_line::CommandLine;
use crate::exit::Exit;
use crate::json::Number;
use crate::name::Name;
use crate::text::{
    format_count_without_separators, format_duration_tenths_below_second, wrap_and_indent,
};
use crate::view::document::DocumentKind;
use crate::view::paint::{Style, TextStyler};
use crate::view::{NdjsonLines, RenderOptions, View};

/// The kinds of limits. Their names are flags of `health`, and parameters of `/healthz`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum LimitKind {
    /// Waiting jobs of a queue.
    MaxWaiting,
    /// How long the next job to pop in a queue has waited, in seconds.
    MaxHeadWait,
    /// Failed jobs of a group.
    MaxFailed,
    /// Jobs of a queue whose lock has expired.
    MaxStalled,
    /// How long a queue has been paused, in seconds.
    MaxPaused,
    /// Workers that are alive.
    MinWorkers,
}

impl LimitKind {
    /// Whether the values of this limit are seconds.
    pub(crate) fn is_duration(self) -> bool {
        matches!(self, LimitKind::MaxHeadWait | LimitKind::MaxPaused)
    }

    fn value_sentence(self, value: f64) -> String {
        let count = value as u64;
        match self {
            LimitKind::MaxWaiting => {
                format_count_without_separators(count, "job waits", "jobs wait")
            }
            LimitKind::MaxHeadWait => {
                format!(
                    "the next job has waited {}",
                    format_duration_tenths_below_second(value)
                )
            }
            LimitKind::MaxFailed => {
                format_count_without_separators(count, "failed job", "failed jobs")
            }
            LimitKind::MaxStalled => {
                format_count_without_separators(count, "stalled job", "stalled jobs")
            }
            LimitKind::MaxPaused => {
                format!("paused for {}", format_duration_tenths_below_second(value))
            }
            LimitKind::MinWorkers => {
                format_count_without_separators(count, "worker is alive", "workers are alive")
            }
        }
    }

    fn limit_text(self, limit: f64) -> String {
        match self {
            LimitKind::MinWorkers => format!("at least {limit}"),
            kind if kind.is_duration() && limit.fract() == 0.0 => {
                format!("limit {}", format_duration_tenths_below_second(limit))
            }
            kind if kind.is_duration() => format!("limit {limit}s"),
            _ => format!("limit {limit}"),
        }
    }
}

/// A limit for the queues or groups that match `subject`, or for all if that is absent.
#[derive(Clone, Debug)]
pub(crate) struct HealthLimit {
    pub subject: Option<NamePattern>,
    pub threshold: WarningAndCriticalValues,
}

/// The limits of a value: beyond the first an item is a warning, beyond the second it is critical.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct WarningAndCriticalValues {
    pub warning: f64,
    pub critical: f64,
}

/// The limits that were asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Limits(pub Vec<(LimitKind, HealthLimit)>);

impl Limits {
    /// Whether the verdict is about the whole system: no limit was given, or one applies to all queues or all groups.
    pub(crate) fn cover_whole_system(&self) -> bool {
        let mut bounds = self.0.iter();
        self.0.is_empty()
            || bounds.any(|(kind, bound)| bound.subject.is_none() && *kind != LimitKind::MinWorkers)
    }

    /// The patterns in the limits: those for failure groups if `of_groups`, else those for queues.
    pub(crate) fn patterns(&self, of_groups: bool) -> impl Iterator<Item = &NamePattern> {
        let bounds = self.0.iter();
        let bounds = bounds.filter(move |(kind, _)| (*kind == LimitKind::MaxFailed) == of_groups);
        bounds.filter_map(|(_, bound)| bound.subject.as_ref())
    }

    /// The globs over queues in them.
    pub(crate) fn queue_globs(&self) -> Vec<NamePattern> {
        let globs = self.patterns(false);
        let globs = globs.filter(|pattern| pattern.as_plain_name().is_none());
        globs.cloned().collect()
    }

    /// The plain names in the limits: those of failure groups if `of_groups`, else those of queues.
    pub(crate) fn queue_or_group_names(&self, of_groups: bool) -> Vec<Name> {
        let names = self
            .patterns(of_groups)
            .filter_map(NamePattern::as_plain_name);
        names.cloned().collect()
    }
}

/// The level of an item, ordered by severity.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    JsonSchema,
    IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum HealthLevel {
    #[default]
    Ok,
    Warning,
    Critical,
}

/// What was measured against a limit, or a problem.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct HealthItem {
    /// The limit, such as max-waiting, or the code of a problem
    pub check: String,
    /// The queue that the item is about
    pub queue: Option<Name>,
    /// The group of failures
    pub group: Option<Name>,
    /// One of ok, warning or critical
    pub level: HealthLevel,
    /// The sentence for people
    pub message: String,
    /// The value, in jobs, workers or seconds; null for a problem, and for a pause without a known beginning
    pub value: Option<Number>,
    /// The value from which on the item is a warning
    pub warning: Option<Number>,
    /// The value from which on the item is critical
    pub critical: Option<Number>,
    /// The message without the command that helps.
    #[serde(skip)]
    pub fact: String,
    /// The kind of the limit, and whether the limit applies to all queues or groups. `None` for a problem.
    #[serde(skip)]
    pub limit: Option<(LimitKind, bool)>,
}

impl HealthItem {
    /// An item for a value that was measured against a limit. An unknown value (`None`) is beyond each limit.
    pub(crate) fn from_measurement(
        kind: LimitKind,
        subject: &Name,
        known_value: Option<f64>,
        threshold: WarningAndCriticalValues,
        is_for_all: bool,
    ) -> HealthItem {
        let WarningAndCriticalValues { warning, critical } = threshold;
        let is_beyond = |limit: f64| match known_value {
            Some(value) if kind == LimitKind::MinWorkers => value < limit,
            Some(value) => value > limit,
            None => true,
        };
        let (level, limit) = if is_beyond(critical) {
            (HealthLevel::Critical, critical)
        } else if is_beyond(warning) {
            (HealthLevel::Warning, warning)
        } else {
            (HealthLevel::Ok, warning)
        };
        let value_text = match known_value {
            Some(value) => kind.value_sentence(value),
            None if kind == LimitKind::MinWorkers => "an unknown number of workers".into(),
            None => "paused since an unknown time".into(),
        };
        let fact = format!("{value_text}, {}", kind.limit_text(limit));
        let fact = if subject.is_empty() {
            fact
        } else {
            format!("{subject}: {fact}")
        };
        let is_group = kind == LimitKind::MaxFailed;
        let name = (!subject.is_empty()).then(|| subject.clone());
        let word: &str = kind.into();
        HealthItem {
            check: word.into(),
            queue: name.clone().filter(|_| !is_group),
            group: name.filter(|_| is_group),
            level,
            message: fact.clone(),
            value: known_value.map(Number),
            warning: Some(Number(warning)),
            critical: Some(Number(critical)),
            fact,
            limit: Some((kind, is_for_all)),
        }
    }

    /// An item for a fact that has no limit, such as a problem of `status`.
    pub(crate) fn from_fact(
        check: &str,
        level: HealthLevel,
        fact: &str,
        message: &str,
    ) -> HealthItem {
        HealthItem {
            check: check.into(),
            queue: None,
            group: None,
            level,
            message: message.into(),
            value: None,
            warning: None,
            critical: None,
            fact: fact.into(),
            limit: None,
        }
    }

    /// The value and its limits as Nagios performance data: `'mail max-waiting'=1204;1000;5000;0`. A quote in a name is
    /// doubled, `=` and `|` become `_`. A limit that is a minimum ends in a colon.
    fn nagios_performance_data(&self) -> Option<String> {
        let (kind, _) = self.limit?;
        let [value, warning, critical] = [&self.value, &self.warning, &self.critical]
            .map(|number| number.as_ref().map(|number| number.0));
        let label = match self.queue.as_ref().or(self.group.as_ref()) {
            Some(subject) => format!("{subject} {}", self.check),
            None => self.check.clone(),
        };
        let label = label.replace('\'', "''").replace(['=', '|'], "_");
        let unit = if kind.is_duration() { "s" } else { "" };
        let lowest = if kind == LimitKind::MinWorkers {
            ":"
        } else {
            ""
        };
        Some(format!(
            "'{label}'={}{unit};{}{lowest};{}{lowest};0",
            value?, warning?, critical?
        ))
    }

    /// The kind of the limit, if it is a maximum for all queues or groups and the value does not exceed it.
    fn satisfied_general_limit(&self) -> Option<LimitKind> {
        let (kind, is_for_all) = self.limit?;
        (is_for_all && self.level == HealthLevel::Ok && kind != LimitKind::MinWorkers)
            .then_some(kind)
    }
}

/// Whether all is well.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Health {
    /// The worst level: one of ok, warning or critical
    pub level: HealthLevel,
    /// The worst first
    pub items: Vec<HealthItem>,
    /// Queues, groups and workers beyond the first 500 of each, which are not read; zeros if only named ones count
    pub omitted: OmittedCounts,
    /// Whether the prefix has no queue, so that there is nothing to judge.
    #[serde(skip)]
    pub has_no_queue: bool,
}

impl Health {
    /// The verdict on these items.
    pub(crate) fn new(mut items: Vec<HealthItem>, omitted: OmittedCounts) -> Health {
        items.sort_by_key(|item| std::cmp::Reverse(item.level));
        let level = items.first().map_or(HealthLevel::Ok, |item| item.level);
        Health {
            level,
            items,
            omitted,
            has_no_queue: false,
        }
    }

    /// The sentence if nothing was measured and no problem was found.
    fn sentence_without_items(&self) -> &'static str {
        if self.has_no_queue {
            "no queue exists under this prefix"
        } else {
            "all is well"
        }
    }

    /// Leaves out what is well.
    pub(crate) fn drop_ok_items(&mut self) {
        self.items.retain(|item| item.level > HealthLevel::Ok);
    }

    /// The exit code of `health`: an item is a warning or critical, or all are well.
    pub(crate) fn ok_or_threshold_exit(&self) -> Exit {
        match self.level {
            HealthLevel::Ok => Exit::Ok,
            HealthLevel::Warning | HealthLevel::Critical => Exit::Threshold,
        }
    }

    /// The output line of a Nagios plugin: what is wrong, then a bar and the values.
    pub(crate) fn nagios_line(&self) -> String {
        let wrong = self
            .items
            .iter()
            .filter(|item| item.level > HealthLevel::Ok);
        let wrong: Vec<&str> = wrong.map(|item| item.fact.as_str()).collect();
        let mut what = match (wrong.as_slice(), self.items.len()) {
            ([], 0) => self.sentence_without_items().to_owned(),
            ([], items) => format!("{items} within limits"),
            (wrong, _) => wrong.join("; "),
        };
        if let Some(omitted) = self.omitted.omission_sentence() {
            what.push_str(&format!(" ({omitted})"));
        }
        let values = self
            .items
            .iter()
            .filter_map(HealthItem::nagios_performance_data);
        let values: Vec<String> = values.collect();
        let values = match values.as_slice() {
            [] => String::new(),
            values => format!(" | {}", values.join(" ")),
        };
        let level: &str = self.level.into();
        // A bar ends the text.
        format!("QLESS {level} - {}{values}\n", what.replace('|', "/"))
    }

    /// One sentence for all queues or groups that a limit for all applies to and that do not exceed it, with the
    /// highest value.
    fn satisfied_limit_sentence(&self, kind: LimitKind) -> String {
        let met = self.items.iter();
        let met = met.filter(|item| item.satisfied_general_limit() == Some(kind));
        let met: Vec<&HealthItem> = met.collect();
        let value = |item: &HealthItem| item.value.as_ref().map_or(0.0, |value| value.0);
        let highest = met
            .iter()
            .max_by(|one, other| value(one).total_cmp(&value(other)));
        let highest = highest.map_or("", |item| item.fact.as_str());
        let noun = if kind == LimitKind::MaxFailed {
            "groups"
        } else {
            "queues"
        };
        match met.len() {
            1 => highest.to_owned(),
            count => format!("{count} {noun} within the limit; the most, {highest}"),
        }
    }
}

impl View for Health {
    const DOCUMENT: DocumentKind =
        DocumentKind::new::<Health>("health", "Whether all is well: health");

    fn text(&self, options: &RenderOptions) -> String {
        let marks = TextStyler::new(options.color);
        let mut text = String::new();
        let mut add = |level: HealthLevel, sentence: &str| {
            let (sign, style) = match level {
                HealthLevel::Ok => ("✓", Style::Green),
                HealthLevel::Warning => ("!", Style::Yellow),
                HealthLevel::Critical => ("✗", Style::Red),
            };
            let sign = marks.mark_text(sign, Some(style));
            if options.terminal {
                let lines = wrap_and_indent(sentence, options.width.max(20), 2);
                let rest = lines.strip_prefix(' ').unwrap_or(&lines);
                text.push_str(&format!("{sign}{rest}"));
            } else {
                text.push_str(&format!("{sign} {sentence}\n"));
            }
        };
        let mut met: Vec<LimitKind> = Vec::new();
        for item in &self.items {
            match item.satisfied_general_limit() {
                Some(kind) if met.contains(&kind) => {}
                Some(kind) => {
                    met.push(kind);
                    add(HealthLevel::Ok, &self.satisfied_limit_sentence(kind));
                }
                None => add(item.level, &item.message),
            }
        }
        if self.items.is_empty() {
            let doctor = CommandLine::new("doctor");
            let hint = doctor.fill_sentence(": {} looks for others");
            let hint = hint.filter(|_| self.has_no_queue).unwrap_or_default();
            add(
                HealthLevel::Ok,
                &format!("{}{hint}", self.sentence_without_items()),
            );
        }
        if let Some(omitted) = self.omitted.omission_sentence() {
            text.push_str(&format!("– {omitted}\n"));
        }
        marks.marks_to_ansi_codes(text)
    }

    fn lines(&self, lines: &mut NdjsonLines) -> Result<(), serde_json::Error> {
        lines.write_items(&self.items)
    }
}
