//! The lines of an export, parsed and validated: written by `qless export` or `cancel --save`, and
//! perhaps edited.

use strum::VariantArray;

use super::fields::Fields;
use crate::clock::moment::Moment;
use crate::json::Json;
use crate::json::syntax;
use crate::json::syntax::{Fault, Shape, Wrong};
use crate::model::coordination::{Coordination, CoordinationOption};
use crate::model::job::{Entry, State};
use crate::name::Name;

/// The version of the format that this module reads.
const V: i64 = 1;

/// Maximum depth of a history entry in the core.
const DEEPEST_ENTRY: usize = 100;

/// A line of an export.
#[derive(Debug, PartialEq)]
pub(crate) enum ArchiveLine<'t> {
    /// The first line: whether `cancel --save` wrote the file, and the number of jobs that it
    /// announces.
    Head {
        saved: bool,
        jobs: Option<u64>,
    },
    Job(Box<ArchivedJob<'t>>),
    Recurring(Box<ArchivedTemplate<'t>>),
    /// Pairs of option and value.
    Config(Vec<(Name, Name)>),
    Limit(ArchivedLimit),
    Paused(ArchivedPause),
}

/// A job to put again.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct ArchivedJob<'t> {
    pub jid: Name,
    pub klass: Name,
    /// Absent for a job that is complete.
    pub queue: Option<Name>,
    pub state: Option<State>,
    pub data: ArchivedData<'t>,
    /// Numbers are kept as text.
    pub priority: Option<&'t str>,
    pub retries: Option<&'t str>,
    pub remaining: Option<i64>,
    pub tracked: bool,
    pub tags: Vec<Name>,
    pub depends: Vec<Name>,
    pub spawned_from: Option<Name>,
    pub due: Option<Moment>,
    pub failure: Option<ArchivedFailure>,
    pub throttles: Vec<Name>,
    /// The lane.
    pub key: Option<Name>,
    pub is_merge: bool,
    pub rescore: Option<Name>,
    pub hold: bool,
    pub backoff: Option<Name>,
    /// The payloads of a merge job, with their scores as text.
    pub payloads: Vec<(ArchivedData<'t>, &'t str)>,
    /// The history entries that the core takes, as it stores them.
    pub history: Vec<Name>,
    /// The number of entries that the core does not take.
    pub unreadable: usize,
}

/// The data of a job: the text in the line, or the decoded `data_bytes`.
#[derive(Debug, PartialEq)]
pub(crate) enum ArchivedData<'t> {
    There(&'t [u8]),
    Decoded(Vec<u8>),
}

impl Default for ArchivedData<'_> {
    fn default() -> Self {
        ArchivedData::There(b"{}")
    }
}

impl ArchivedData<'_> {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        match self {
            ArchivedData::There(bytes) => bytes,
            ArchivedData::Decoded(bytes) => bytes,
        }
    }
}

#[derive(Debug, PartialEq)]
pub(crate) struct ArchivedFailure {
    pub group: Name,
    pub message: Name,
    pub worker: Name,
    pub when: Moment,
}

/// A recurring job to make again.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct ArchivedTemplate<'t> {
    pub jid: Name,
    pub klass: Name,
    pub queue: Name,
    pub data: ArchivedData<'t>,
    pub every: &'t str,
    /// `None` means immediately.
    pub next: Option<Moment>,
    pub backlog: Option<&'t str>,
    /// How many jobs it has put.
    pub count: u64,
    pub priority: Option<&'t str>,
    pub retries: Option<&'t str>,
    pub tags: Vec<Name>,
    pub coordination: Coordination<'static>,
    /// Since when it is paused, if it is.
    pub paused_since: Option<Moment>,
    pub paused_by: Option<Name>,
    pub paused_reason: Option<Name>,
}

/// The maximum of a throttle to set again.
#[derive(Debug, PartialEq)]
pub(crate) struct ArchivedLimit {
    pub id: Name,
    pub maximum: i64,
    /// When the maximum is forgotten, if it is.
    pub expires: Option<Moment>,
}

/// A queue to pause again.
#[derive(Debug, PartialEq)]
pub(crate) struct ArchivedPause {
    pub queue: Name,
    pub until: Option<Moment>,
    pub reason: Option<Name>,
    pub by: Option<Name>,
}

/// Parses a line.
pub(crate) fn read(text: &[u8]) -> Result<ArchiveLine<'_>, Fault> {
    let fields = Fields::of(text)?;
    line(&fields).map_err(|(at, what)| syntax::fault(text, at, what))
}

/// Returns the column of a member.
pub(crate) fn column(text: &[u8], name: &str) -> usize {
    let place = Fields::of(text).map_or(0, |fields| fields.place(name));
    syntax::fault(text, place, String::new()).column
}

/// Whether the line is of an export in a version that this program does not read.
pub(crate) fn has_other_version(text: &[u8]) -> bool {
    Fields::of(text).is_ok_and(|fields| kind(&fields).is_ok() && version(&fields).is_err())
}

/// Returns the kind of a line.
fn kind(fields: &Fields) -> Result<&'static str, Wrong> {
    let kind = fields.needed("kind")?;
    let known = ["export", "job", "recurring", "config", "limit", "paused"];
    let named = known
        .into_iter()
        .find(|known| known.as_bytes() == kind.as_bytes());
    named.ok_or_else(|| fields.wrong("kind", format!("is none of {}", known.join(", "))))
}

/// Refuses a line of another version.
fn version(fields: &Fields) -> Result<(), Wrong> {
    match fields.whole("v")? {
        Some(V) => Ok(()),
        Some(newer) if newer > V => {
            let what = format!("is {newer}: a newer qless wrote it, this one reads {V}");
            Err(fields.wrong("v", what))
        }
        _ => Err(fields.wrong("v", format!("expects {V}"))),
    }
}

fn line<'t>(fields: &Fields<'t>) -> Result<ArchiveLine<'t>, Wrong> {
    let kind = kind(fields)?;
    version(fields)?;
    Ok(match kind {
        "job" => ArchiveLine::Job(Box::new(job(fields)?)),
        "recurring" => ArchiveLine::Recurring(Box::new(recurring(fields)?)),
        "config" => ArchiveLine::Config(config(fields)?),
        "limit" => ArchiveLine::Limit(limit(fields)?),
        "paused" => ArchiveLine::Paused(ArchivedPause {
            queue: queue(fields)?,
            until: fields.moment("until")?,
            reason: fields.name("reason")?,
            by: fields.name("by")?,
        }),
        _ => ArchiveLine::Head {
            saved: fields
                .name("command")?
                .is_some_and(|command| command.as_bytes().starts_with(b"cancel")),
            jobs: fields.whole("jobs")?.and_then(|jobs| jobs.try_into().ok()),
        },
    })
}

fn job<'t>(fields: &Fields<'t>) -> Result<ArchivedJob<'t>, Wrong> {
    let state = fields.needed("state")?;
    let state: State = match state.as_str().and_then(|state| state.parse().ok()) {
        Some(state) => state,
        None => {
            let words: Vec<&str> = State::VARIANTS.iter().map(State::into_str).collect();
            let words = words.join(", ");
            return Err(fields.wrong("state", format!("is none of {words}")));
        }
    };
    let mut job = ArchivedJob {
        jid: jid(fields)?,
        klass: fields.needed("klass")?,
        queue: match state {
            State::Complete => None,
            _ => Some(queue(fields)?),
        },
        state: Some(state),
        data: data(fields)?,
        priority: fields.number("priority")?,
        retries: fields.number("retries")?,
        remaining: fields.whole("remaining")?,
        tracked: fields.flag("tracked")?,
        tags: fields.names("tags")?,
        depends: fields.names("dependencies")?,
        spawned_from: fields.name("spawned_from")?,
        due: due(fields, "scheduled_for")?,
        failure: failure(fields)?,
        throttles: fields.names("throttles")?,
        key: fields.name("key")?.filter(|key| !key.is_empty()),
        is_merge: fields
            .name("dup")?
            .is_some_and(|dup| dup.as_bytes() == b"merge"),
        rescore: option(fields, CoordinationOption::Rescore)?,
        hold: fields.flag("hold")?,
        backoff: option(fields, CoordinationOption::Backoff)?,
        payloads: payloads(fields)?,
        history: Vec::new(),
        unreadable: 0,
    };
    for entry in history(fields)? {
        if is_entry(entry.as_bytes()) {
            job.history.push(entry)
        } else {
            job.unreadable += 1
        }
    }
    Ok(job)
}

/// Returns an option that coordinates jobs, as the core takes it.
fn option(fields: &Fields, option: CoordinationOption) -> Result<Option<Name>, Wrong> {
    let Some(value) = fields.name(option.into_str())? else {
        return Ok(None);
    };
    match option.checked(value.as_bytes()) {
        Ok(checked) => Ok(Some(Name::from(&*checked))),
        Err(wrong) => Err(fields.wrong(option.into_str(), wrong)),
    }
}

fn payloads<'t>(fields: &Fields<'t>) -> Result<Vec<(ArchivedData<'t>, &'t str)>, Wrong> {
    let payload = |payload: &Fields<'t>| {
        let score = payload.number("score")?;
        let score = score.ok_or_else(|| payload.wrong("score", "expects a number"))?;
        Ok((data(payload)?, score))
    };
    fields.objects("payloads")?.iter().map(payload).collect()
}

fn jid(fields: &Fields) -> Result<Name, Wrong> {
    let jid = fields.needed("jid")?;
    if jid.is_empty() {
        return Err(fields.wrong("jid", "is empty"));
    }
    match crate::name::reserved(jid.as_bytes()) {
        Some(suffix) => Err(fields.wrong(
            "jid",
            format!("ends in `{suffix}`, which is reserved for the keys beside a job"),
        )),
        None => Ok(jid),
    }
}

fn queue(fields: &Fields) -> Result<Name, Wrong> {
    let queue = fields.needed("queue")?;
    if queue.is_empty() {
        Err(fields.wrong("queue", "is empty"))
    } else {
        Ok(queue)
    }
}

fn data<'t>(fields: &Fields<'t>) -> Result<ArchivedData<'t>, Wrong> {
    let bytes = match fields.value("data_bytes") {
        None | Some((_, Shape::Null)) => None,
        // `name` returns the decoded bytes.
        Some(_) => fields.name("data")?,
    };
    let data = match (bytes, fields.value("data")) {
        (Some(bytes), _) => ArchivedData::Decoded(bytes.into_bytes()),
        (None, Some((text, _))) => ArchivedData::There(text),
        (None, None) => return Err((fields.place("data"), "there is no `data` in it".into())),
    };
    match data.as_bytes().trim_ascii() {
        b"false" => Err(fields.wrong("data", "must not be the bare document `false`")),
        _ => Ok(data),
    }
}

/// Returns a time in microseconds from `due`, unless the member beside it was edited.
fn due(fields: &Fields, beside: &str) -> Result<Option<Moment>, Wrong> {
    let shown = fields.moment(beside)?;
    let exact = fields.number("due")?;
    let exact = exact.and_then(|text| Moment::read(text.as_bytes()));
    let same =
        |exact: &Moment| shown.is_none() || shown.and_then(Moment::rfc3339) == exact.rfc3339();
    Ok(exact.filter(same).or(shown))
}

fn failure(fields: &Fields) -> Result<Option<ArchivedFailure>, Wrong> {
    let Some(failure) = fields.object("failure")? else {
        return Ok(None);
    };
    let group = failure.needed("group")?;
    if group.is_empty() {
        return Ok(None);
    }
    let Some(when) = failure.moment("when")? else {
        return Err(failure.wrong("when", "expects the time of the failure"));
    };
    Ok(Some(ArchivedFailure {
        group,
        message: failure.name("message")?.unwrap_or_default(),
        worker: failure.name("worker")?.unwrap_or_default(),
        when,
    }))
}

/// Returns the history entries as the core stores them.
fn history(fields: &Fields) -> Result<Vec<Name>, Wrong> {
    if let Some((_, Shape::Array)) = fields.value("history_bytes") {
        return fields.names("history");
    }
    let mut entries = Vec::new();
    for entry_fields in fields.objects("history")? {
        let entry = Entry {
            what: entry_fields.needed("what")?,
            when: match entry_fields.moment("when")? {
                Some(when) => Some(when),
                None => return Err(entry_fields.wrong("when", "expects the time of the entry")),
            },
            note: entry_fields
                .members()
                .filter(|(key, _)| !matches!(key.as_bytes(), b"what" | b"when" | b"what_bytes"))
                .filter_map(|(key, value)| Some((key, Json::read(value)?)))
                .collect(),
        };
        entries.push(Name::from(entry.stored()));
    }
    Ok(entries)
}

/// Whether the core takes these bytes as an entry.
fn is_entry(entry: &[u8]) -> bool {
    let Some(parts) = Json::read(entry).and_then(|entry| entry.array()) else {
        return false;
    };
    let shaped = match parts.as_slice() {
        [when, what] => when.number().is_some() && what.text().is_some(),
        [when, what, note] => {
            when.number().is_some() && what.text().is_some() && note.object().is_some()
        }
        _ => false,
    };
    shaped && depth(entry) <= DEEPEST_ENTRY
}

/// Returns the depth of nested arrays and objects in a JSON text.
fn depth(text: &[u8]) -> usize {
    let (mut deep, mut deepest, mut inside, mut escaped) = (0_usize, 0, false, false);
    for byte in text {
        match (inside, byte) {
            (true, _) => {
                (inside, escaped) = (escaped || *byte != b'"', !escaped && *byte == b'\\');
            }
            (false, b'"') => inside = true,
            (false, b'[' | b'{') => deep += 1,
            (false, b']' | b'}') => deep = deep.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(deep);
    }
    deepest
}

fn recurring<'t>(fields: &Fields<'t>) -> Result<ArchivedTemplate<'t>, Wrong> {
    let every = match fields.number("every_s")? {
        Some(every) if every.parse().is_ok_and(|every: f64| every > 0.0) => every,
        _ => return Err(fields.wrong("every_s", "expects a number of more than 0")),
    };
    let jid = fields.needed("jid")?;
    if jid.is_empty() {
        return Err(fields.wrong("jid", "is empty"));
    }
    Ok(ArchivedTemplate {
        jid,
        klass: fields.needed("klass")?,
        queue: queue(fields)?,
        data: data(fields)?,
        every,
        next: due(fields, "next")?,
        backlog: fields.number("backlog")?,
        count: fields
            .whole("count")?
            .and_then(|count| count.try_into().ok())
            .unwrap_or(0),
        priority: fields.number("priority")?,
        retries: fields.number("retries")?,
        tags: fields.names("tags")?,
        coordination: match fields.value("options") {
            Some((options, Shape::Object)) => {
                let options = Json::read(options);
                options.map_or_else(Coordination::default, |options| {
                    Coordination::read(&options)
                })
            }
            _ => Coordination::default(),
        },
        paused_since: fields.moment("paused_since")?,
        paused_by: fields.name("paused_by")?,
        paused_reason: fields.name("paused_reason")?,
    })
}

fn limit(fields: &Fields) -> Result<ArchivedLimit, Wrong> {
    let id = fields.needed("id")?;
    if id.is_empty() {
        return Err(fields.wrong("id", "is empty"));
    }
    let Some(maximum) = fields.whole("maximum")? else {
        return Err(fields.wrong("maximum", "expects a whole number"));
    };
    Ok(ArchivedLimit {
        id,
        maximum,
        expires: fields.moment("expires")?,
    })
}

fn config(fields: &Fields) -> Result<Vec<(Name, Name)>, Wrong> {
    let items = fields.objects("items")?;
    let pair = |item: &Fields| Ok((item.needed("key")?, item.needed("value")?));
    items.iter().map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> String {
        let fault = read(text.as_bytes()).unwrap_err();
        format!("{}: {}", fault.column, fault.what)
    }

    fn job_of(more: &str) -> ArchivedJob<'static> {
        let text = format!(
            r#"{{"kind":"job","v":1,"jid":"j","klass":"K","queue":"q","state":"waiting","data":{{}}{more}}}"#
        );
        match read(Box::leak(text.into_boxed_str()).as_bytes()) {
            Ok(ArchiveLine::Job(job)) => *job,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn bytes_win_over_the_text_beside_them() {
        let job = job_of(
            r#","data_bytes":"IDEg","jid_bytes":"av8=","history_bytes":["WzEsInB1dCJd","eA=="],"history":[]"#,
        );
        assert_eq!(job.data.as_bytes(), b" 1 ");
        assert_eq!(job.jid, Name::from(&b"j\xff"[..]));
        assert_eq!(job.history, [Name::from(r#"[1,"put"]"#)]);
        assert_eq!(job.unreadable, 1);
    }

    #[test]
    fn an_edited_time_wins_over_due() {
        let due = |more: &str| job_of(more).due.map(|due| due.to_string());
        let members = r#","scheduled_for":"1970-01-01T00:00:01.500Z","due":1.500123"#;
        assert_eq!(due(members).as_deref(), Some("1.500123"));
        let members = r#","scheduled_for":"1970-01-01T00:00:02.500Z","due":1.500123"#;
        assert_eq!(due(members).as_deref(), Some("2.5"));
        assert_eq!(
            due(r#","scheduled_for":null,"due":3e11"#).as_deref(),
            Some("300000000000")
        );
    }

    #[test]
    fn history_entries_are_converted_to_the_stored_form() {
        let members = concat!(
            r#","history":[{"what":"put","when":"1970-01-01T00:00:01.000Z","queue":"q"},"#,
            r#"{"what":"a/b","when":"1970-01-01T00:00:01.500Z","n":9007199254740993,"l":[]}]"#
        );
        assert_eq!(
            job_of(members).history,
            [
                Name::from(r#"[1,"put",{"q":"q"}]"#),
                Name::from(r#"[1.5,"a\/b",{"n":9007199254740993,"l":[]}]"#)
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
            9: `kind` is none of export, job, recurring, config, limit, paused
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
            90: `tags` expects a list of texts, not `"x"`
            95: `tags` expects texts, not a number
            94: `priority` expects a number, not `"1"`
            95: `remaining` expects a whole number, not `1.5`
            93: `tracked` expects true or false, not `1`
            99: `scheduled_for` expects a time such as `2026-11-21T06:00:00Z`, not `"soon"`
            93: `failure` expects an object, not an array
            102: `group` expects a text, not `1`
            113: `when` expects a time such as `2026-11-21T06:00:00Z`, not `3`
            81: expected a key in double quotes, not `]`
            1: expected `{`, not `[`
        "#]]
        .assert_eq(&faults);
    }
}
