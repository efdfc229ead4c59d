//! Limits of `health`: `1000`, `mail=1000`, `mail=1000,5000`.

use super::invalid::Invalid;
use super::value;
use crate::clock::duration::parse_duration;
use crate::model::health::{Bound, Threshold};
use crate::model::pattern::Pattern;
use crate::name::Name;

/// How a limit is read.
pub(crate) type ParseBound = fn(&str) -> Result<Bound, Invalid>;

/// A limit of a number of jobs or workers.
pub(crate) fn count_bound(text: &str) -> Result<Bound, Invalid> {
    parse_bound(text, '=', |text| {
        value::count(text).map(|count| count as f64)
    })
}

/// A limit of a number, of nothing in particular.
pub(crate) fn plain_count_bound(text: &str) -> Result<Bound, Invalid> {
    match count_bound(text)? {
        Bound {
            subject: Some(_), ..
        } => Err(Invalid::expects("a whole number, or two with a comma")),
        bound => Ok(bound),
    }
}

/// A limit of a duration, in seconds.
pub(crate) fn duration_bound(text: &str) -> Result<Bound, Invalid> {
    let seconds = |text: &str| {
        let duration = parse_duration(text).map_err(Invalid::expects)?;
        Ok(duration.as_secs_f64())
    };
    parse_bound(text, '=', seconds)
}

/// Reads `[NAME=]WARNING[,CRITICAL]`. A name may hold the separator; a value does not.
fn parse_bound(
    text: &str,
    separator: char,
    number: impl Fn(&str) -> Result<f64, Invalid>,
) -> Result<Bound, Invalid> {
    let (subject, values) = match text.rsplit_once(separator) {
        Some((subject, values)) => (Some(subject), values),
        None => (None, text),
    };
    let subject = subject.map(|subject| Pattern::parse(Name::from(subject)));
    let (warning, critical) = match values.split_once(',') {
        Some((warning, critical)) => (number(warning)?, number(critical)?),
        None => (number(values)?, number(values)?),
    };
    Ok(Bound {
        subject: subject.transpose().map_err(Invalid::expects)?,
        threshold: Threshold { warning, critical },
    })
}
