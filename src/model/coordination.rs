//! How a job is coordinated with others, by its lane, its throttles and its back-off: the options of `put`, `recur` and
//! `complete --next`.

use std::borrow::Cow;
use std::fmt;

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::clock::duration;
use crate::json::Json;
use crate::name::{Name, reserved_throttle_suffix};

/// An option that coordinates a job with others.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr, EnumString, VariantArray,
)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum CoordinationOption {
    /// Ids of throttles, a JSON array.
    Throttles,
    /// The name of the job's lock: of the jobs with an equal name, one runs at a time. `*` stands for klass and data.
    /// An empty text removes the lock.
    Lock,
    /// The key of the job's lane. An empty key takes the job out of its lane.
    Key,
    /// What a put does if its lane already has a job: `queue`, `merge`, `skip` or `replace`.
    Dup,
    /// The event until which further puts with the job's key are skipped: the `start` or the `end` of the job.
    Until,
    /// How long puts with the job's key are skipped, in seconds.
    Ttl,
    /// The score of a payload, which determines its position among the payloads of a merge job.
    Score,
    /// Which score stays if a merge job gets a payload again: `min` or `max`.
    Rescore,
    /// `1` if a failed job blocks its lane.
    Hold,
    /// The back-off policy: the delay after a lost lock, or after a retry that gives no delay. An empty value means no
    /// delay.
    Backoff,
}

impl CoordinationOption {
    pub fn from_name(name: &[u8]) -> Option<CoordinationOption> {
        std::str::from_utf8(name).ok()?.parse().ok()
    }

    /// The other option that must be given for this option to have an effect. `None` if there is no such option.
    const fn required_option(self) -> Option<RequiredOption> {
        match self {
            CoordinationOption::Until | CoordinationOption::Ttl => {
                Some(RequiredOption::Dup("skip"))
            }
            CoordinationOption::Score | CoordinationOption::Rescore => {
                Some(RequiredOption::Dup("merge"))
            }
            CoordinationOption::Dup | CoordinationOption::Hold => Some(RequiredOption::Key),
            _ => None,
        }
    }

    /// Checks the text of a flag, and returns the value as the core takes it. A duration must have a unit.
    pub fn parse_value<'v>(self, text: &'v [u8]) -> Result<Cow<'v, [u8]>, OptionValueFault> {
        if self == CoordinationOption::Ttl {
            let text = std::str::from_utf8(text).unwrap_or_default();
            duration::parse_duration(text).map_err(OptionValueFault::Expects)?;
        }
        self.normalize_value(text)
    }

    /// Checks a value, and returns it as the core takes it. A duration may be a number of seconds.
    pub fn normalize_value<'v>(self, value: &'v [u8]) -> Result<Cow<'v, [u8]>, OptionValueFault> {
        use OptionValueFault::{Because, Expects};
        let text = std::str::from_utf8(value).unwrap_or_default();
        let one_of = |words: &[&str]| {
            if words.contains(&text) {
                Ok(Cow::Borrowed(value))
            } else {
                let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
                let (last, first) = words
                    .split_last()
                    .map_or(("", &[][..]), |(last, first)| (last.as_str(), first));
                Err(Expects(format!("{} or {last}", first.join(", "))))
            }
        };
        match self {
            CoordinationOption::Throttles => match refuse_wrong_throttle_ids(value) {
                Ok(()) => Ok(Cow::Borrowed(value)),
                Err(wrong) => Err(wrong),
            },
            CoordinationOption::Key if value.len() > LONGEST_KEY => Err(Because(format!(
                "is {} bytes long, the maximum is {LONGEST_KEY}",
                value.len()
            ))),
            CoordinationOption::Lock | CoordinationOption::Key => Ok(Cow::Borrowed(value)),
            CoordinationOption::Dup => one_of(&["queue", "merge", "skip", "replace"]),
            CoordinationOption::Until => one_of(&["start", "end"]),
            CoordinationOption::Rescore => one_of(&["min", "max"]),
            CoordinationOption::Hold => one_of(&["0", "1"]),
            CoordinationOption::Ttl => match duration::parse_duration_or_seconds(text) {
                Ok(ttl) if !ttl.is_zero() => {
                    Ok(Cow::Owned(duration::decimal_seconds_text(ttl).into_bytes()))
                }
                Ok(_) => Err(Expects("a duration of more than 0".to_owned())),
                Err(expected) => Err(Expects(expected)),
            },
            CoordinationOption::Score => match parse_finite(text) {
                Some(_) => Ok(Cow::Borrowed(value)),
                None => Err(Expects("a number".to_owned())),
            },
            CoordinationOption::Backoff
                if value.is_empty() || LostLockBackoff::from_json(value).is_some() =>
            {
                Ok(Cow::Borrowed(value))
            }
            CoordinationOption::Backoff => match backoff_policy_in_seconds(text) {
                Some(policy) => Ok(Cow::Owned(policy.into_bytes())),
                None => Err(Expects(POLICIES.to_owned())),
            },
        }
    }
}

/// Why a value is refused. The message has the name of the option before this text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionValueFault {
    /// The option expects this.
    Expects(String),
    /// The sentence about the value.
    Because(String),
}

impl fmt::Display for OptionValueFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionValueFault::Expects(what) => write!(f, "expects {what}"),
            OptionValueFault::Because(why) => f.write_str(why),
        }
    }
}

/// The maximum length of a key, in bytes.
pub(crate) const LONGEST_KEY: usize = 512;

/// The maximum number of throttles of a job.
pub(crate) const MAX_THROTTLES: usize = 32;

/// The forms of a back-off policy.
const POLICIES: &str = "`fixed:30s`, `linear:30s`, `exp:30s` with a factor, a maximum and \
                        a share of jitter (`exp:30s:2:1h:0.1`), `lowkiq`, or for lost locks \
                        `{\"initial_delay\":30,\"factor\":2}`";

/// Another option that an option requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequiredOption {
    Key,
    /// The option `dup` with this value.
    Dup(&'static str),
}

/// The back-off after lost locks, in the form of qless-php. The delay is `initial_delay` times `factor` to the power of
/// the retries that the job has used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LostLockBackoff {
    /// The delay in seconds. `None` means the setting `backoff-initial-delay`.
    pub initial_delay: Option<f64>,
    /// `None` for the setting `backoff-factor`.
    pub factor: Option<f64>,
}

impl LostLockBackoff {
    /// Reads a JSON object. PHP writes an empty object as `[]`.
    pub(crate) fn from_json(value: &[u8]) -> Option<LostLockBackoff> {
        if let Ok([]) = serde_json::from_slice::<[(); 0]>(value) {
            return Some(LostLockBackoff::default());
        }
        // Refuse an array: serde would read its elements as the fields in their order.
        if !value.trim_ascii_start().starts_with(b"{") {
            return None;
        }
        let read: LostLockBackoff = serde_json::from_slice(value).ok()?;
        let fields = [read.initial_delay, read.factor].into_iter().flatten();
        fields.into_iter().all(|field| field >= 0.0).then_some(read)
    }
}

fn parse_finite(text: &str) -> Option<f64> {
    // `inf` and `nan` parse, too.
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// Refuses a text that is not a JSON array of up to 32 valid throttle ids.
fn refuse_wrong_throttle_ids(array: &[u8]) -> Result<(), OptionValueFault> {
    use OptionValueFault::{Because, Expects};

    let ids = match array.trim_ascii().first() {
        Some(b'[') => Json::parse(array).and_then(|ids| ids.text_array()),
        _ => None,
    };
    match ids {
        None if array.trim_ascii().starts_with(b"[") => {
            Err(Because("holds something that is not a text".to_owned()))
        }
        None => Err(Expects("an array of texts".to_owned())),
        Some(ids) if ids.iter().any(|id| id.is_empty()) => {
            Err(Because("holds an empty id".to_owned()))
        }
        Some(ids)
            if ids
                .iter()
                .any(|id| reserved_throttle_suffix(id.as_bytes()).is_some()) =>
        {
            Err(Because(RESERVED.to_owned()))
        }
        Some(ids) if ids.len() > MAX_THROTTLES => Err(Because(format!(
            "has {} ids, the maximum is {MAX_THROTTLES}",
            ids.len()
        ))),
        Some(_) => Ok(()),
    }
}

/// Why an id with this ending is refused: another throttle has a list under that key.
const RESERVED: &str = "has an id that ends in `-locks` or `-pending`, which is reserved";

/// A back-off policy such as `fixed:30s`, with its durations in seconds. `None` if the text is no policy.
fn backoff_policy_in_seconds(text: &str) -> Option<String> {
    let mut parts = text.split(':');
    let name = parts.next()?;
    let parts: Vec<&str> = parts.collect();
    // Accepts seconds without a unit: documents show a policy in the core's form, which a user may copy.
    let seconds = |text: &str| {
        duration::parse_duration_or_seconds(text)
            .ok()
            .map(duration::decimal_seconds_text)
    };
    let number = |text: &str| parse_finite(text).filter(|number| *number >= 0.0);
    let mut policy = name.to_owned();
    match (name, parts.as_slice()) {
        ("fixed" | "linear", [delay]) => policy.push_str(&format!(":{}", seconds(delay)?)),
        ("exp", [delay, rest @ ..]) if rest.len() <= 3 => {
            policy.push_str(&format!(":{}", seconds(delay)?));
            if let Some(factor) = rest.first() {
                number(factor).filter(|factor| *factor > 0.0)?;
                policy.push_str(&format!(":{factor}"));
            }
            if let Some(longest) = rest.get(1) {
                policy.push_str(&format!(":{}", seconds(longest)?));
            }
            if let Some(jitter) = rest.get(2) {
                number(jitter).filter(|jitter| *jitter <= 1.0)?;
                policy.push_str(&format!(":{jitter}"));
            }
        }
        ("lowkiq", []) => {}
        ("lowkiq", [longest]) => policy.push_str(&format!(":{}", seconds(longest)?)),
        _ => return None,
    }
    Some(policy)
}

/// The coordination options that are given. For an absent option, the core uses the job's present value, else the
/// default of the queue.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CoordinationOptions<'t> {
    /// Each option once, in their order.
    values: Vec<(CoordinationOption, Cow<'t, [u8]>)>,
}

impl<'t> CoordinationOptions<'t> {
    /// Sets an option to a value that was checked already.
    pub fn set_option(&mut self, option: CoordinationOption, value: impl Into<Cow<'t, [u8]>>) {
        let value = value.into();
        match self
            .values
            .binary_search_by_key(&option, |(known, _)| *known)
        {
            Ok(at) => self.values[at].1 = value,
            Err(at) => self.values.insert(at, (option, value)),
        }
    }

    /// The coordination options in a JSON object of the core or an archive: the options of a recurring job, or the
    /// defaults of a queue. Unknown options and invalid values are left out.
    pub fn from_stored_json(object: &Json) -> CoordinationOptions<'static> {
        let mut options = CoordinationOptions::default();
        for (name, value) in object.object().unwrap_or_default() {
            let Some(option) = CoordinationOption::from_name(name.as_bytes()) else {
                continue;
            };
            let value = match (
                option,
                value.text().unwrap_or_else(|| value.to_single_line()),
            ) {
                (CoordinationOption::Hold, flag) if flag.as_bytes() == b"true" => Name::from("1"),
                (_, value) => value,
            };
            if let Ok(checked) = option.normalize_value(value.as_bytes()) {
                options.set_option(option, checked.into_owned());
            }
        }
        options
    }

    pub fn option_value(&self, option: CoordinationOption) -> Option<&[u8]> {
        let mut given = self.values.iter();
        given
            .find(|(known, _)| *known == option)
            .map(|(_, value)| &**value)
    }

    /// Whether no option is given.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The given options as pairs of the core's names and values.
    pub fn option_pairs(&self) -> impl Iterator<Item = (&'static str, &[u8])> {
        let given = self.values.iter();
        given.map(|(option, value)| (option.into_str(), &**value))
    }

    /// Takes the options of `other` that are absent here.
    pub fn fill_absent<'s: 't>(&mut self, other: &'s CoordinationOptions) {
        for (option, value) in &other.values {
            if self.option_value(*option).is_none() {
                self.set_option(*option, &**value);
            }
        }
    }

    /// The first given option without effect, and the option that it requires, which is absent.
    pub fn first_unmet_requirement(&self) -> Option<(CoordinationOption, RequiredOption)> {
        self.first_unmet_requirement_with_defaults(&CoordinationOptions::default())
    }

    /// Whether the job has a lane: by its key, or, if none is given, by the defaults of its queue. With an empty key,
    /// the job has no lane.
    pub fn has_key_with_defaults(&self, defaults: &CoordinationOptions) -> bool {
        let key = self
            .option_value(CoordinationOption::Key)
            .or_else(|| defaults.option_value(CoordinationOption::Key));
        key.is_some_and(|key| !key.is_empty())
    }

    /// The first given option without effect, and the option that it requires, which is absent here and in the
    /// defaults of the queue.
    pub fn first_unmet_requirement_with_defaults(
        &self,
        defaults: &CoordinationOptions,
    ) -> Option<(CoordinationOption, RequiredOption)> {
        let has_key = self.has_key_with_defaults(defaults);
        let dup = self
            .option_value(CoordinationOption::Dup)
            .or_else(|| defaults.option_value(CoordinationOption::Dup));
        let given = self.values.iter().map(|(option, _)| *option);
        let mut needs = given.filter_map(|option| Some((option, option.required_option()?)));
        needs.find_map(|(option, need)| match need {
            RequiredOption::Dup(word) if dup != Some(word.as_bytes()) => Some((option, need)),
            _ if !has_key => Some((option, RequiredOption::Key)),
            _ => None,
        })
    }
}

/// A JSON object of the given options. Lists and numbers are JSON values, `hold` is true or false, and other options
/// are strings.
impl Serialize for CoordinationOptions<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_map(None)?;
        for (option, value) in &self.values {
            let name = option.into_str();
            match option {
                CoordinationOption::Hold => fields.serialize_entry(name, &(&**value == b"1"))?,
                CoordinationOption::Throttles
                | CoordinationOption::Ttl
                | CoordinationOption::Score => {
                    fields.serialize_entry(name, &Json::parse(value))?;
                }
                _ => fields.serialize_entry(name, &Name::from(&**value))?,
            }
        }
        fields.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(option: CoordinationOption, value: &str) -> Result<String, String> {
        let checked = option.normalize_value(value.as_bytes());
        let checked = checked.map_err(|wrong| wrong.to_string())?;
        Ok(String::from_utf8(checked.into_owned()).unwrap())
    }

    #[test]
    fn durations_of_a_policy_become_seconds() {
        let policy = |text: &str| checked(CoordinationOption::Backoff, text);
        for (input, stored) in [
            ("fixed:30", "fixed:30"),
            ("linear:5m", "linear:300"),
            ("exp:1.5s", "exp:1.5"),
            ("exp:30s:2:1h:0.1", "exp:30:2:3600:0.1"),
            ("lowkiq", "lowkiq"),
            ("lowkiq:1d", "lowkiq:86400"),
        ] {
            assert_eq!(policy(input).as_deref(), Ok(stored), "{input}");
        }
        for wrong in [
            "fixed",
            "fixed:",
            "fixed:-1",
            "fixed:1:2",
            "exp:1:0",
            "exp:1:nan",
            "exp:1:2:3:1.5",
            "exp:1:2:3:0.1:5",
            "lowkiq:1:2",
            "cubic:3",
        ] {
            assert!(policy(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn values_are_checked_as_the_core_checks_them() {
        use CoordinationOption::{Dup, Hold, Key, Score, Throttles, Ttl};
        let many = format!("[{}\"x\"]", "\"x\",".repeat(MAX_THROTTLES));
        for (option, value, expected) in [
            (Throttles, "api", "expects an array of texts"),
            (Throttles, "{}", "expects an array of texts"),
            (Throttles, "[1]", "holds something that is not a text"),
            (Throttles, "[\"\"]", "holds an empty id"),
            (Throttles, &many, "has 33 ids, the maximum is 32"),
            (Dup, "both", "expects `queue`, `merge`, `skip` or `replace`"),
            (Hold, "yes", "expects `0` or `1`"),
            (Ttl, "0", "expects a duration of more than 0"),
            (
                Ttl,
                "day",
                "expects a duration such as `90s`, `15m` or `2h`",
            ),
            (Score, "inf", "expects a number"),
        ] {
            assert_eq!(checked(option, value), Err(expected.to_owned()), "{value}");
        }
        let long = "k".repeat(LONGEST_KEY + 1);
        assert!(checked(Key, &long).is_err());
        assert_eq!(checked(Key, &long[1..]).as_deref(), Ok(&long[1..]));
        assert_eq!(checked(Ttl, "1d").as_deref(), Ok("86400"));
        assert_eq!(checked(Throttles, "[]").as_deref(), Ok("[]"));
    }

    #[test]
    fn an_option_without_the_one_it_needs_is_unmet() {
        use CoordinationOption::{Dup, Hold, Key, Score, Ttl};
        let unmet = |given: &[(CoordinationOption, &'static str)]| {
            let mut all = CoordinationOptions::default();
            for (option, value) in given {
                all.set_option(*option, value.as_bytes());
            }
            all.first_unmet_requirement()
        };
        assert_eq!(unmet(&[]), None);
        assert_eq!(unmet(&[(Hold, "1")]), Some((Hold, RequiredOption::Key)));
        assert_eq!(unmet(&[(Key, "k"), (Hold, "1")]), None);
        assert_eq!(
            unmet(&[(Key, "k"), (Ttl, "1")]),
            Some((Ttl, RequiredOption::Dup("skip")))
        );
        assert_eq!(
            unmet(&[(Key, "k"), (Dup, "skip"), (Score, "1")]),
            Some((Score, RequiredOption::Dup("merge")))
        );
        assert_eq!(unmet(&[(Key, "k"), (Dup, "skip"), (Ttl, "1")]), None);
    }
}
