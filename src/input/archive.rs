//! Reads and validates the lines of an export file. `qless export` or `qless cancel --save` wrote the file, and the
//! user may have edited it.

use std::borrow::Cow;
use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use strum::VariantArray;

use super::data::{BARE_FALSE, is_bare_false};
use crate::clock::moment::Moment;
use crate::json::Json;
use crate::json::object::{
    CowText, FieldConvention, ParsedObject, RawJsonOrBytes, describe_found_value, string_text,
};
use crate::json::syntax::{SyntaxFault, first_nested_deeper};
use crate::model::coordination::{CoordinationOption, CoordinationOptions};
use crate::model::job::{HistoryEntry, State};
use crate::name::{Name, reserved_jid_suffix};

/// The version of the export format that this module reads.
const V: i64 = 1;

/// Maximum depth of nested JSON in a history entry that the core accepts.
const DEEPEST_ENTRY: usize = 100;

/// A line of an export.
#[derive(Debug)]
pub(crate) enum ArchiveLine<'t> {
    /// The first line.
    Head(ArchiveHead),
    Job(Box<ArchivedJob<'t>>),
    Recurring(Box<ArchivedRecurring<'t>>),
    Config(ArchivedConfig),
    Limit(ArchivedThrottleMaximum),
    Paused(ArchivedPause),
}

#[derive(Debug, Deserialize)]
pub(crate) struct ArchiveHead {
    /// The command line that wrote the file.
    command: Option<Name>,
    /// The number of jobs that the file should have, by its first line.
    #[serde(default, deserialize_with = "read_optional_whole_number")]
    pub jobs: Option<i64>,
}

impl ArchiveHead {
    /// Whether `cancel --save` wrote the file.
    pub(crate) fn is_from_cancel_save(&self) -> bool {
        let command = self.command.as_ref();
        command.is_some_and(|command| command.as_bytes().starts_with(b"cancel"))
    }
}

/// A job as its line in an export file describes it. An import converts it to a [`NewJob`](super::line::NewJob): some
/// fields have other names there, and fields such as the state and the history become the job's past.
#[derive(Debug, Deserialize)]
pub(crate) struct ArchivedJob<'t> {
    #[serde(deserialize_with = "read_new_jid")]
    pub jid: Name,
    pub klass: Name,
    /// Absent for a job that is complete.
    pub queue: Option<Name>,
    #[serde(deserialize_with = "read_state")]
    pub state: State,
    #[serde(borrow, deserialize_with = "read_exact_job_data")]
    pub data: Cow<'t, [u8]>,
    pub priority: Option<FiniteNumber<'t>>,
    pub retries: Option<FiniteNumber<'t>>,
    #[serde(default, deserialize_with = "read_optional_whole_number")]
    pub remaining: Option<i64>,
    #[serde(default)]
    pub tracked: Option<bool>,
    #[serde(default, deserialize_with = "read_names")]
    pub tags: Vec<Name>,
    #[serde(default, rename = "dependencies", deserialize_with = "read_names")]
    pub depends: Vec<Name>,
    pub spawned_from: Option<Name>,
    #[serde(default, deserialize_with = "read_rfc3339_or_null")]
    scheduled_for: Option<Moment>,
    due: Option<FiniteNumber<'t>>,
    #[serde(default, deserialize_with = "read_failure")]
    pub failure: Option<ArchivedFailure>,
    #[serde(default, deserialize_with = "read_names")]
    pub throttles: Vec<Name>,
    /// The lane.
    pub key: Option<Name>,
    dup: Option<Name>,
    #[serde(default, deserialize_with = "read_rescore_option")]
    pub rescore: Option<Name>,
    pub hold: Option<bool>,
    #[serde(default, deserialize_with = "read_backoff_option")]
    pub backoff: Option<Name>,
    /// The payloads of a merge job.
    pub payloads: Option<Vec<ArchivedMergePayload<'t>>>,
    history: Option<Vec<HistoryEntryAsCoreJson>>,
    /// The history entries as the core stores them, in base64. The export has this field if JSON in `history` would
    /// change them.
    history_bytes: Option<Vec<DecodedBase64>>,
}

impl ArchivedJob<'_> {
    /// When the job is to run.
    pub(crate) fn due_time(&self) -> Option<Moment> {
        exact_time_unless_shown_differs(self.due, self.scheduled_for)
    }

    pub(crate) fn is_merge_job(&self) -> bool {
        let dup = self.dup.as_ref();
        dup.is_some_and(|dup| dup.as_bytes() == b"merge")
    }

    /// The history entries in the form in which the core stores them, and the number of entries that the core would not
    /// accept, which are left out.
    pub(crate) fn history_entries_and_unreadable_count(&self) -> (Vec<&Name>, usize) {
        let exact = self.history_bytes.iter().flatten();
        let exact = exact.map(|DecodedBase64(entry)| entry);
        let shown = self.history.iter().flatten();
        let shown = shown.filter(|_| self.history_bytes.is_none());
        let all = exact.chain(shown.map(|HistoryEntryAsCoreJson(entry)| entry));
        let (taken, unreadable): (Vec<_>, Vec<_>) =
            all.partition(|entry| is_history_entry(entry.as_bytes()));
        (taken, unreadable.len())
    }
}

/// Data of a merge job.
#[derive(Debug, Deserialize)]
pub(crate) struct ArchivedMergePayload<'t> {
    #[serde(borrow, deserialize_with = "read_exact_job_data")]
    pub data: Cow<'t, [u8]>,
    pub score: FiniteNumber<'t>,
}

/// The failure of a job.
#[derive(Debug)]
pub(crate) struct ArchivedFailure {
    pub group: Name,
    pub message: Name,
    pub worker: Name,
    pub when: Moment,
}

/// A recurring job to make again.
#[derive(Debug, Deserialize)]
pub(crate) struct ArchivedRecurring<'t> {
    #[serde(deserialize_with = "read_nonempty_name")]
    pub jid: Name,
    pub klass: Name,
    #[serde(deserialize_with = "read_nonempty_name")]
    pub queue: Name,
    #[serde(borrow, deserialize_with = "read_exact_job_data")]
    pub data: Cow<'t, [u8]>,
    #[serde(rename = "every_s", deserialize_with = "read_positive_interval")]
    pub every: FiniteNumber<'t>,
    #[serde(default, deserialize_with = "read_rfc3339_or_null")]
    next: Option<Moment>,
    due: Option<FiniteNumber<'t>>,
    pub backlog: Option<FiniteNumber<'t>>,
    #[serde(default, deserialize_with = "read_optional_whole_number")]
    count: Option<i64>,
    pub priority: Option<FiniteNumber<'t>>,
    pub retries: Option<FiniteNumber<'t>>,
    #[serde(default, deserialize_with = "read_names")]
    pub tags: Vec<Name>,
    #[serde(
        default,
        rename = "options",
        deserialize_with = "read_recurring_job_options"
    )]
    pub coordination: CoordinationOptions<'static>,
    /// When the recurring job was paused; `None` if it is not paused.
    #[serde(default, deserialize_with = "read_rfc3339_or_null")]
    pub paused_since: Option<Moment>,
    pub paused_by: Option<Name>,
    pub paused_reason: Option<Name>,
}

impl ArchivedRecurring<'_> {
    /// How many jobs it has put.
    pub(crate) fn spawned_job_count(&self) -> u64 {
        let count = self.count.unwrap_or_default();
        count.try_into().unwrap_or_default()
    }

    /// When the next run of the recurring job is due; `None` means immediately.
    pub(crate) fn next_run_if_given(&self) -> Option<Moment> {
        exact_time_unless_shown_differs(self.due, self.next)
    }
}

/// The options of the server.
#[derive(Debug, Deserialize)]
pub(crate) struct ArchivedConfig {
    #[serde(default)]
    pub items: Vec<ArchivedOption>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ArchivedOption {
    pub key: Name,
    pub value: Name,
}

/// The maximum of a throttle to set again.
#[derive(Debug, Deserialize)]
pub(crate) struct ArchivedThrottleMaximum {
    #[serde(deserialize_with = "read_nonempty_name")]
    pub id: Name,
    #[serde(deserialize_with = "read_whole_number")]
    pub maximum: i64,
    /// When the maximum is forgotten, if it is.
    #[serde(default, deserialize_with = "read_rfc3339_or_null")]
    pub expires: Option<Moment>,
}

/// A queue to pause again.
#[derive(Debug, Deserialize)]
pub(crate) struct ArchivedPause {
    #[serde(deserialize_with = "read_nonempty_name")]
    pub queue: Name,
    #[serde(default, deserialize_with = "read_rfc3339_or_null")]
    pub until: Option<Moment>,
    pub reason: Option<Name>,
    pub by: Option<Name>,
}

pub(crate) fn parse_archive_line(text: &[u8]) -> Result<ArchiveLine<'_>, SyntaxFault> {
    let line = ParsedObject::parse(text, FieldConvention::Document)?;
    let kind = read_line_kind(&line)?;
    refuse_unknown_version(&line)?;
    Ok(match kind {
        LineKind::Export => ArchiveLine::Head(line.read_all_fields()?),
        LineKind::Job => ArchiveLine::Job(Box::new(read_archived_job(line)?)),
        LineKind::Recurring => ArchiveLine::Recurring(Box::new(line.read_all_fields()?)),
        LineKind::Config => ArchiveLine::Config(line.read_all_fields()?),
        LineKind::Limit => ArchiveLine::Limit(line.read_all_fields()?),
        LineKind::Paused => ArchiveLine::Paused(line.read_all_fields()?),
    })
}

/// Whether the text is a line of an export whose format version this program cannot read.
pub(crate) fn has_unknown_version(text: &[u8]) -> bool {
    let line = ParsedObject::parse(text, FieldConvention::Document);
    line.is_ok_and(|line| read_line_kind(&line).is_ok() && refuse_unknown_version(&line).is_err())
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum LineKind {
    Export,
    Job,
    Recurring,
    Config,
    Limit,
    Paused,
}

fn read_line_kind(line: &ParsedObject) -> Result<LineKind, SyntaxFault> {
    line.read_required_field("kind")
}

fn refuse_unknown_version(line: &ParsedObject) -> Result<(), SyntaxFault> {
    let version: Option<FiniteNumber> = line.read_field("v")?;
    match version.and_then(|version| version.0.parse().ok()) {
        Some(V) => Ok(()),
        Some(newer) if newer > V => {
            let what = format!("is {newer}: a newer qless wrote it, this one reads {V}");
            Err(line.field_fault("v", &what))
        }
        _ => Err(line.field_fault("v", &format!("expects {V}"))),
    }
}

fn read_archived_job<'t>(line: ParsedObject<'t>) -> Result<ArchivedJob<'t>, SyntaxFault> {
    let mut job: ArchivedJob = line.read_all_fields()?;
    if job.state == State::Complete {
        job.queue = None;
    } else if line.read_required_field::<Name>("queue")?.is_empty() {
        return Err(line.field_fault("queue", "is empty"));
    }
    job.key = job.key.filter(|key| !key.is_empty());
    Ok(job)
}

/// A finite number as it is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FiniteNumber<'t>(pub &'t str);

impl<'de: 't, 't> Deserialize<'de> for FiniteNumber<'t> {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<FiniteNumber<'t>, D::Error> {
        let raw = <&RawValue>::deserialize(value)?;
        // Accept only a JSON number that is finite as a double, which `1e999` is not.
        match raw.get().parse() {
            Ok(number) if f64::is_finite(number) => Ok(FiniteNumber(raw.get())),
            _ => Err(unexpected_value("a number", raw)),
        }
    }
}

fn unexpected_value<E: serde::de::Error>(expected: &str, raw: &RawValue) -> E {
    E::custom(format!(
        "expects {expected}, not {}",
        describe_found_value(raw)
    ))
}

/// Reads a whole number up to 2^53, which a double represents exactly. `5.0` counts as one.
fn read_whole_number<'t, D: Deserializer<'t>>(value: D) -> Result<i64, D::Error> {
    let FiniteNumber(text) = FiniteNumber::deserialize(value)?;
    let number: f64 = text.parse().unwrap_or_default();
    if number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0 {
        Ok(number as i64)
    } else {
        Err(D::Error::custom(format!(
            "expects a whole number, not `{text}`"
        )))
    }
}

fn read_optional_whole_number<'t, D: Deserializer<'t>>(value: D) -> Result<Option<i64>, D::Error> {
    #[derive(Deserialize)]
    struct WholeNumber(#[serde(deserialize_with = "read_whole_number")] i64);

    Option::deserialize(value).map(|number| number.map(|WholeNumber(number)| number))
}

fn read_positive_interval<'t, D: Deserializer<'t>>(value: D) -> Result<FiniteNumber<'t>, D::Error> {
    let every = FiniteNumber::deserialize(value)?;
    match every.0.parse() {
        Ok(seconds) if 0.0 < seconds => Ok(every),
        _ => Err(D::Error::custom("expects a number of more than 0")),
    }
}

fn read_nonempty_name<'t, D: Deserializer<'t>>(value: D) -> Result<Name, D::Error> {
    let name = Name::deserialize(value)?;
    if name.is_empty() {
        Err(D::Error::custom("is empty"))
    } else {
        Ok(name)
    }
}

fn read_new_jid<'t, D: Deserializer<'t>>(value: D) -> Result<Name, D::Error> {
    let jid = read_nonempty_name(value)?;
    match reserved_jid_suffix(jid.as_bytes()) {
        Some(suffix) => Err(D::Error::custom(format!(
            "ends in `{suffix}`, which is reserved for the keys beside a job"
        ))),
        None => Ok(jid),
    }
}

fn read_names<'t, D: Deserializer<'t>>(value: D) -> Result<Vec<Name>, D::Error> {
    Option::deserialize(value).map(Option::unwrap_or_default)
}

fn read_state<'t, D: Deserializer<'t>>(value: D) -> Result<State, D::Error> {
    let CowText(word) = CowText::deserialize(value)?;
    word.parse().map_err(|_| {
        let words: Vec<&str> = State::VARIANTS.iter().map(State::into_str).collect();
        D::Error::custom(format!("is none of {}", words.join(", ")))
    })
}

/// Reads the exact bytes of a job's data: the JSON text as it stands in the line, or the decoded `data_bytes`.
fn read_exact_job_data<'t, D: Deserializer<'t>>(value: D) -> Result<Cow<'t, [u8]>, D::Error> {
    let RawJsonOrBytes(data) = RawJsonOrBytes::deserialize(value)?;
    if is_bare_false(&data) {
        return Err(D::Error::custom(BARE_FALSE));
    }
    Ok(data)
}

/// A time in the format of documents.
fn read_rfc3339_or_null<'t, D: Deserializer<'t>>(value: D) -> Result<Option<Moment>, D::Error> {
    let Some(raw) = Option::<&RawValue>::deserialize(value)? else {
        return Ok(None);
    };
    let time = serde_json::from_str::<String>(raw.get()).ok();
    match time.and_then(|time| Moment::from_rfc3339(&time)) {
        Some(time) => Ok(Some(time)),
        None => Err(unexpected_value(
            "a time such as `2026-11-21T06:00:00Z`",
            raw,
        )),
    }
}

/// The exact time from the number of seconds (`exact`). If the readable time (`shown`) is another one, the user has
/// edited the readable time, which counts instead. Without a readable time, the exact one counts.
fn exact_time_unless_shown_differs(
    exact: Option<FiniteNumber>,
    shown: Option<Moment>,
) -> Option<Moment> {
    let exact = exact.and_then(|exact| Moment::from_decimal(exact.0.as_bytes()));
    let same = |exact: &Moment| {
        shown.is_none() || shown.and_then(Moment::to_rfc3339) == exact.to_rfc3339()
    };
    exact.filter(same).or(shown)
}

/// A failure without a group is none.
fn read_failure<'t, D: Deserializer<'t>>(value: D) -> Result<Option<ArchivedFailure>, D::Error> {
    #[derive(Deserialize)]
    struct ShownFailure {
        group: Name,
        message: Option<Name>,
        worker: Option<Name>,
        #[serde(default, deserialize_with = "read_rfc3339_or_null")]
        when: Option<Moment>,
    }
    let shown: Option<ShownFailure> = Option::deserialize(value)?;
    let Some(shown) = shown.filter(|shown| !shown.group.is_empty()) else {
        return Ok(None);
    };
    Ok(Some(ArchivedFailure {
        group: shown.group,
        message: shown.message.unwrap_or_default(),
        worker: shown.worker.unwrap_or_default(),
        when: shown.when.ok_or_else(|| D::Error::missing_field("when"))?,
    }))
}

fn read_rescore_option<'t, D: Deserializer<'t>>(value: D) -> Result<Option<Name>, D::Error> {
    read_coordination_option(value, CoordinationOption::Rescore)
}

fn read_backoff_option<'t, D: Deserializer<'t>>(value: D) -> Result<Option<Name>, D::Error> {
    read_coordination_option(value, CoordinationOption::Backoff)
}

/// Reads and validates an option of a job, such as its back-off. The result has the form that the core expects.
fn read_coordination_option<'t, D: Deserializer<'t>>(
    value: D,
    option: CoordinationOption,
) -> Result<Option<Name>, D::Error> {
    let Some(value) = Option::<Name>::deserialize(value)? else {
        return Ok(None);
    };
    let checked = option
        .normalize_value(value.as_bytes())
        .map_err(D::Error::custom)?;
    Ok(Some(Name::from(&*checked)))
}

/// Reads the options of a recurring job.
fn read_recurring_job_options<'t, D: Deserializer<'t>>(
    value: D,
) -> Result<CoordinationOptions<'static>, D::Error> {
    let options = <&RawValue>::deserialize(value)?;
    Ok(CoordinationOptions::from_stored_json(&Json::from(options)))
}

/// Bytes as base64.
#[derive(Debug)]
struct DecodedBase64(Name);

impl<'de> Deserialize<'de> for DecodedBase64 {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<DecodedBase64, D::Error> {
        let raw = <&RawValue>::deserialize(value)?;
        let bytes = STANDARD.decode(string_text(raw).as_bytes());
        let bytes = bytes.map_err(|_| unexpected_value("base64", raw))?;
        Ok(DecodedBase64(Name::from(bytes)))
    }
}

/// A history entry, as the core stores it.
#[derive(Debug)]
struct HistoryEntryAsCoreJson(Name);

impl<'de> Deserialize<'de> for HistoryEntryAsCoreJson {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<HistoryEntryAsCoreJson, D::Error> {
        struct HistoryEntryVisitor;

        impl<'de> Visitor<'de> for HistoryEntryVisitor {
            type Value = HistoryEntryAsCoreJson;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<HistoryEntryAsCoreJson, A::Error> {
                let (mut what, mut when, mut note) = (None, None, Vec::new());
                while let Some(key) = map.next_key::<String>()? {
                    match key.as_str() {
                        "what" => what = Some(map.next_value()?),
                        "when" => when = map.next_value::<HistoryEntryTime>()?.0,
                        _ => {
                            note.push((Name::from(key), Json::from(map.next_value::<&RawValue>()?)))
                        }
                    }
                }
                let entry = HistoryEntry {
                    what: what.ok_or_else(|| A::Error::missing_field("what"))?,
                    when: Some(when.ok_or_else(|| A::Error::missing_field("when"))?),
                    note,
                };
                Ok(HistoryEntryAsCoreJson(Name::from(
                    entry.to_stored_entry_json(),
                )))
            }
        }

        #[derive(Deserialize)]
        struct HistoryEntryTime(#[serde(deserialize_with = "read_rfc3339_or_null")] Option<Moment>);

        value.deserialize_struct("Entry", &["what", "when"], HistoryEntryVisitor)
    }
}

/// Whether the core accepts these bytes as a history entry: a JSON array of time, event name, and maybe an object.
fn is_history_entry(entry: &[u8]) -> bool {
    let Some(parts) = Json::parse(entry).and_then(|entry| entry.array()) else {
        return false;
    };
    let shaped = match parts.as_slice() {
        [when, what] => when.number().is_some() && what.text().is_some(),
        [when, what, note] => {
            when.number().is_some() && what.text().is_some() && note.object().is_some()
        }
        _ => false,
    };
    shaped && first_nested_deeper(entry, DEEPEST_ENTRY).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> String {
        let fault = parse_archive_line(text.as_bytes()).unwrap_err();
        format!("{}: {}", fault.column, fault.what)
    }

    fn job_of(more: &str) -> ArchivedJob<'static> {
        let text = format!(
            r#"{{"kind":"job","v":1,"jid":"j","klass":"K","queue":"q","state":"waiting","data":{{}}{more}}}"#
        );
        match parse_archive_line(Box::leak(text.into_boxed_str()).as_bytes()) {
            Ok(ArchiveLine::Job(job)) => *job,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn bytes_win_over_the_text_beside_them() {
        let job = job_of(
            r#","data_bytes":"IDEg","jid_bytes":"av8=","history_bytes":["WzEsInB1dCJd","eA=="],"history":[]"#,
        );
        assert_eq!(&*job.data, b" 1 ");
        assert_eq!(job.jid, Name::from(&b"j\xff"[..]));
        assert_eq!(
            job.history_entries_and_unreadable_count(),
            (vec![&Name::from(r#"[1,"put"]"#)], 1)
        );
    }

    #[test]
    fn an_edited_time_wins_over_due() {
        let due = |more: &str| job_of(more).due_time().map(|due| due.to_string());
        let fields = r#","scheduled_for":"1970-01-01T00:00:01.500Z","due":1.500123"#;
        assert_eq!(due(fields).as_deref(), Some("1.500123"));
        let fields = r#","scheduled_for":"1970-01-01T00:00:02.500Z","due":1.500123"#;
        assert_eq!(due(fields).as_deref(), Some("2.5"));
        assert_eq!(
            due(r#","scheduled_for":null,"due":3e11"#).as_deref(),
            Some("300000000000")
        );
    }

    #[test]
    fn history_entries_are_converted_to_the_stored_form() {
        let fields = concat!(
            r#","history":[{"what":"put","when":"1970-01-01T00:00:01.000Z","queue":"q"},"#,
            r#"{"what":"a/b","when":"1970-01-01T00:00:01.500Z","n":9007199254740993,"l":[]}]"#
        );
        assert_eq!(
            job_of(fields).history_entries_and_unreadable_count().0,
            [
                &Name::from(r#"[1,"put",{"q":"q"}]"#),
                &Name::from(r#"[1.5,"a\/b",{"n":9007199254740993,"l":[]}]"#)
            ]
        );
    }

    #[test]
    fn errors_have_their_column() {
        let line =
            r#"{"kind":"job","v":1,"jid":"j","klass":"K","queue":"q","state":"waiting","data":{}}"#;
        let faults: String = [
            ("\"v\":1", "\"v\":2"),
            ("\"v\":1", "\"v\":\"1\""),
            ("\"v\":1,", ""),
            ("\"kind\":\"job\",", ""),
            ("\"job\"", "\"jobs\""),
            ("\"jid\":\"j\",", ""),
            ("\"jid\":\"j\"", "\"jid\":null"),
            ("\"jid\":\"j\"", "\"jid\":7"),
            ("\"jid\":\"j\"", "\"jid\":\"\""),
            ("\"jid\":\"j\"", "\"jid\":\"é-history\""),
            ("\"jid\":\"j\"", "\"jid\":\"j\",\"jid\":\"k\""),
            ("\"q\"", "\"\""),
            ("\"queue\":\"q\",", ""),
            ("waiting", "wating"),
            ("\"data\":{}", "\"data\":false"),
            (",\"data\":{}", ""),
            ("{}", "{},\"data_bytes\":7"),
            ("{}", "{},\"tags\":\"x\""),
            ("{}", "{},\"tags\":[\"x\",1]"),
            ("{}", "{},\"priority\":\"1\""),
            ("{}", "{},\"remaining\":1.5"),
            ("{}", "{},\"tracked\":1"),
            ("{}", "{},\"scheduled_for\":\"soon\""),
            ("{}", "{},\"failure\":[]"),
            ("{}", "{},\"failure\":{\"group\":1}"),
            ("{}", "{},\"history\":[{\"what\":\"x\",\"when\":3}]"),
            ("{}", "{]"),
            (line, "[]"),
        ]
        .into_iter()
        .map(|(from, to)| {
            assert!(line.contains(from), "{from}");
            fault(&line.replace(from, to)) + "\n"
        })
        .collect();
        expect_test::expect![[r#"
            19: `v` is 2: a newer qless wrote it, this one reads 1
            19: `v` expects a number, not `"1"`
            1: `v` expects 1
            1: there is no `kind` in it
            9: `kind` expects one of export, job, recurring, config, limit, paused, not `jobs`
            1: there is no `jid` in it
            27: `jid` expects a text, not null
            27: `jid` expects a text, not `7`
            27: `jid` is empty
            27: `jid` ends in `-history`, which is reserved for the keys beside a job
            31: `jid` stands here twice
            51: `queue` is empty
            1: there is no `queue` in it
            63: `state` is none of running, stalled, waiting, scheduled, depends, throttled, failed, complete
            80: `data` must not be the bare document `false`
            1: there is no `data` in it
            96: `data_bytes` expects base64, not `7`
            90: `tags` expects a list, not `"x"`
            95: `tags[1]` expects a text, not `1`
            94: `priority` expects a number, not `"1"`
            95: `remaining` expects a whole number, not `1.5`
            93: `tracked` expects a boolean, not `1`
            99: `scheduled_for` expects a time such as `2026-11-21T06:00:00Z`, not `"soon"`
            93: `failure` expects an object, not an array
            102: `failure.group` expects a text, not `1`
            113: `history[0].when` expects a time such as `2026-11-21T06:00:00Z`, not `3`
            81: key must be a string at `]`
            1: expected an object, not `[`
        "#]]
        .assert_eq(&faults);
    }
}
