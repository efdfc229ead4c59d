//! The flags that coordinate a job with others: lane, throttles and back-off.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use clap::Args;
use clap::builder::{
    OsStringValueParser, PossibleValuesParser, StringValueParser, TypedValueParser,
};

use super::invalid::Invalid;
use super::value;
use crate::error::Error;
use crate::json::Json;
use crate::json::quote::quote_array;
use crate::model::coordination::{
    CoordinationOption, CoordinationOptions, OptionValueFault, RequiredOption,
};
use crate::name;
use crate::name::Name;

/// The heading of these flags.
pub(crate) const COORDINATION: &str = "Coordination";

/// The flags that every command takes that puts jobs or advances them.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct CoordinationFlags {
    /// Lane: jobs with the same key run one at a time, in the order of their puts; with a slash in
    /// front also across queues
    #[arg(help_heading = COORDINATION, long, value_name = "K", value_parser = option_parser(CoordinationOption::Key))]
    pub key: Option<Name>,
    /// Run no two jobs with the same TEXT at the same time; without TEXT, no two equal jobs
    #[arg(help_heading = COORDINATION, long, value_name = "TEXT", num_args = 0..=1, require_equals = true,
          default_missing_value = "*", value_parser = option_parser(CoordinationOption::Lock))]
    pub lock: Option<Name>,
    /// Throttle: limits how many of its jobs run at the same time; MAX sets the limit; an empty ID removes all
    /// throttles. An ID that has a `=` ends in one more: `a=b=` or `a=b=3`
    #[arg(help_heading = COORDINATION, long = "throttle", value_name = "ID[=MAX]",
          value_parser = throttle(), add = value::CompletionKind::Throttles)]
    pub throttles: Vec<ThrottleArg>,
    /// Delay of retries: `fixed:30s`, `linear:30s`, `exp:30s:2:1h:0.1` (factor, maximum, jitter) or
    /// `lowkiq`
    #[arg(help_heading = COORDINATION, long, value_name = "POLICY",
          value_parser = option_parser(CoordinationOption::Backoff))]
    pub backoff: Option<Name>,
    /// Keep the job in its lane if it fails, so that the lane waits for you
    #[arg(help_heading = COORDINATION, long)]
    pub hold: bool,
}

/// The flags about what a put does if the lane of its key has a job.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct OccupiedLaneFlags {
    /// With `--key`: add the data to the last job of the lane, if that has not started
    #[arg(help_heading = COORDINATION, long, conflicts_with_all = ["unique", "dup"])]
    pub merge: bool,
    /// With `--merge`: position of this data among the others [default: the time of the put; data of the
    /// same time, such as that of one file, is ordered by its text]
    #[arg(help_heading = COORDINATION, long, value_name = "N", allow_hyphen_values = true,
          value_parser = option_parser(CoordinationOption::Score))]
    pub score: Option<Name>,
    /// With `--merge`: which score equal data keeps
    #[arg(help_heading = COORDINATION, long, value_name = "min|max", value_parser = one_of_words(["min", "max"]))]
    pub rescore: Option<Name>,
    /// With `--key`: put nothing if the lane has a job, until that job ends or until it starts
    #[arg(help_heading = COORDINATION, long, value_name = "end|start", num_args = 0..=1, require_equals = true,
          default_missing_value = "end", value_parser = one_of_words(["end", "start"]), conflicts_with = "dup")]
    pub unique: Option<Name>,
    /// With `--unique`: put nothing for this time, even if the job has ended
    #[arg(help_heading = COORDINATION, long, value_name = "D", value_parser = option_parser(CoordinationOption::Ttl))]
    pub ttl: Option<Name>,
    /// With `--dup skip`: put nothing until the job of the lane ends, or until it starts
    #[arg(help_heading = COORDINATION, long, value_name = "end|start", value_parser = one_of_words(["end", "start"]),
          conflicts_with = "unique")]
    pub until: Option<Name>,
    /// With `--key`: what to do if the lane has a job: put behind it, `merge`, `skip` (as
    /// `--unique`), or `replace` it if it has not started
    #[arg(help_heading = COORDINATION, long, value_name = "HOW",
          value_parser = one_of_words(["queue", "merge", "skip", "replace"]))]
    pub dup: Option<Name>,
}

/// A throttle of a job, and its maximum if that is to be set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ThrottleArg {
    pub id: Name,
    pub maximum: Option<i64>,
}

impl CoordinationFlags {
    /// The options.
    pub(crate) fn coordination_options(&self) -> CoordinationOptions<'static> {
        let mut options = CoordinationOptions::default();
        if !self.throttles.is_empty() {
            let ids = self.throttles.iter().map(|one| &one.id);
            let ids = quote_array(ids.filter(|id| !id.is_empty()));
            options.set_option(CoordinationOption::Throttles, ids);
        }
        let names = [
            (CoordinationOption::Key, &self.key),
            (CoordinationOption::Lock, &self.lock),
            (CoordinationOption::Backoff, &self.backoff),
        ];
        set_given_options(&mut options, &names);
        if self.hold {
            options.set_option(CoordinationOption::Hold, &b"1"[..]);
        }
        options
    }
}

impl OccupiedLaneFlags {
    /// The coordination options that these flags and [`CoordinationFlags`] give.
    pub(crate) fn lane_and_coordination_options(
        &self,
        others: &CoordinationFlags,
    ) -> CoordinationOptions<'static> {
        let mut options = others.coordination_options();
        let dup = match (self.merge, &self.unique) {
            (true, _) => Some(Name::from("merge")),
            (false, Some(_)) => Some(Name::from("skip")),
            (false, None) => self.dup.clone(),
        };
        // `end` is the default of the core.
        let unique = self.unique.clone();
        let unique = unique.filter(|until| until.as_bytes() != b"end");
        let names = [
            (CoordinationOption::Dup, &dup),
            (CoordinationOption::Until, &unique.or(self.until.clone())),
            (CoordinationOption::Ttl, &self.ttl),
            (CoordinationOption::Score, &self.score),
            (CoordinationOption::Rescore, &self.rescore),
        ];
        set_given_options(&mut options, &names);
        options
    }
}

fn set_given_options(
    options: &mut CoordinationOptions,
    values: &[(CoordinationOption, &Option<Name>)],
) {
    for (option, value) in values {
        if let Some(value) = value {
            options.set_option(*option, value.as_bytes().to_vec());
        }
    }
}

/// Refuses an option that has an effect only together with another option, if that one is not given.
pub(crate) fn refuse_unmet_requirements(options: &CoordinationOptions) -> Result<(), Error> {
    match options.first_unmet_requirement() {
        Some((option, need)) => Err(Error::usage(unmet_requirement_text(options, option, need))),
        None => Ok(()),
    }
}

/// Which flag `option` requires, in the form of flags: `` `--hold` needs `--key` ``.
pub(crate) fn unmet_requirement_text(
    options: &CoordinationOptions,
    option: CoordinationOption,
    need: RequiredOption,
) -> String {
    let flag = |option: CoordinationOption| match option {
        CoordinationOption::Dup => match options.option_value(option) {
            Some(b"merge") => "--merge".to_owned(),
            Some(b"skip") => "--unique".to_owned(),
            _ => "--dup".to_owned(),
        },
        option => format!("--{}", option.into_str()),
    };
    let needed = match need {
        RequiredOption::Key if options.option_value(CoordinationOption::Key).is_some() => {
            "a `--key` that is not empty"
        }
        RequiredOption::Key => "`--key`",
        RequiredOption::Dup("merge") => "`--merge`",
        RequiredOption::Dup(_) => "`--unique`",
    };
    format!("`{}` needs {needed}", flag(option))
}

/// Parses the value of a coordination option into the form that the core takes.
fn option_parser(option: CoordinationOption) -> impl TypedValueParser<Value = Name> {
    OsStringValueParser::new().try_map(move |text: OsString| {
        let checked = option.parse_value(text.as_bytes())?;
        if let CoordinationOption::Key | CoordinationOption::Lock = option
            && !checked.is_empty()
        {
            name::refuse_as_new_name(&checked).map_err(Invalid::Because)?;
        }
        Ok::<Name, Invalid>(Name::from(&*checked))
    })
}

/// One of these words.
fn one_of_words<const N: usize>(words: [&'static str; N]) -> impl TypedValueParser<Value = Name> {
    PossibleValuesParser::new(words).map(Name::from)
}

/// Parses the id of a throttle whose maximum the command sets.
pub(crate) fn new_throttle_id() -> impl TypedValueParser<Value = Name> {
    value::any_word().try_map(|text: OsString| {
        refuse_as_new_throttle_id(text.as_bytes())?;
        Ok::<Name, Invalid>(Name::from(text.as_os_str()))
    })
}

/// Refuses an id that no new throttle may have.
fn refuse_as_new_throttle_id(id: &[u8]) -> Result<(), Invalid> {
    name::refuse_as_new_name(id)?;
    match name::reserved_throttle_suffix(id) {
        Some(ending) => Err(Invalid::because(format!(
            "ends in `{ending}`, which is reserved for the lists of throttles"
        ))),
        None => Ok(()),
    }
}

/// Parses a throttle, `ID` or `ID=MAX`. An empty text stands for no throttle.
fn throttle() -> impl TypedValueParser<Value = ThrottleArg> {
    StringValueParser::new().try_map(|text: String| {
        if text.is_empty() {
            Ok(ThrottleArg::default())
        } else {
            ThrottleArg::parse(text.as_bytes())
        }
    })
}

impl ThrottleArg {
    /// Reads `ID` or `ID=MAX`, in all places where jobs get throttles. The text after the last `=` is the maximum. So
    /// an id that contains a `=` needs one more `=` at its end if no maximum is given.
    fn parse(text: &[u8]) -> Result<ThrottleArg, Invalid> {
        let at = text.iter().rposition(|byte| *byte == b'=');
        let (id, maximum) = match at.map(|at| (&text[..at], &text[at + 1..])) {
            None => (text, None),
            Some((id, b"")) => (id, None),
            Some((id, maximum)) => {
                let maximum = std::str::from_utf8(maximum).unwrap_or_default();
                let expected = "`ID` or `ID=MAX`, where MAX is a number (`a=b=` is the id `a=b`)";
                let maximum = value::integer(maximum).map_err(|_| Invalid::expects(expected))?;
                (id, Some(maximum))
            }
        };
        refuse_as_new_throttle_id(id)?;
        let id = Name::from(id);
        Ok(ThrottleArg { id, maximum })
    }

    /// Reads throttles from a JSON array of texts that is known to be valid. In the error message, the returned text
    /// follows the name of the option.
    pub(crate) fn parse_json_array(array: &[u8]) -> Result<Vec<ThrottleArg>, String> {
        let texts = Json::parse(array).and_then(|texts| texts.text_array());
        let mut list: Vec<ThrottleArg> = Vec::new();
        for text in texts.unwrap_or_default() {
            let read = ThrottleArg::parse(text.as_bytes()).map_err(|wrong| match wrong {
                Invalid::Expects(what) => format!("expects {what}, not `{text}`"),
                Invalid::Because(why) => format!("has an id that {why}: `{text}`"),
            })?;
            let differs = |other: &ThrottleArg| {
                other.id == read.id
                    && other.maximum.is_some()
                    && read.maximum.is_some()
                    && other.maximum != read.maximum
            };
            if list.iter().any(differs) {
                return Err(format!("gives `{}` two maxima", read.id));
            }
            list.push(read);
        }
        Ok(list)
    }
}

impl From<OptionValueFault> for Invalid {
    fn from(wrong: OptionValueFault) -> Invalid {
        match wrong {
            OptionValueFault::Expects(what) => Invalid::Expects(what),
            OptionValueFault::Because(why) => Invalid::Because(why),
        }
    }
}
