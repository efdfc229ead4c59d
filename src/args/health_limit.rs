//! Parses the limits of `health`: `1000`, `mail=1000`, `mail=1000,5000`.

use std::str::FromStr;

use super::invalid::Invalid;
use super::value;
use crate::clock::duration::parse_duration;
use crate::model::health::{HealthLimit, LimitKind, Limits, WarningAndCriticalValues};
use crate::model::pattern::NamePattern;
use crate::name::Name;

/// A limit of a number of jobs.
pub(crate) fn parse_health_count_limit(text: &str) -> Result<HealthLimit, Invalid> {
    parse_health_limit(text, false)
}

/// A limit of a duration, in seconds.
pub(crate) fn parse_health_duration_limit(text: &str) -> Result<HealthLimit, Invalid> {
    parse_health_limit(text, true)
}

/// The lowest number of workers.
pub(crate) fn parse_health_min_workers_limit(text: &str) -> Result<HealthLimit, Invalid> {
    let (warning, critical) = parse_warning_and_critical(text, false)
        .ok_or_else(|| Invalid::expects("a number such as `2`, or two such as `5,2`"))?;
    if critical > warning {
        return Err(Invalid::because("has a critical number above the first"));
    }
    let threshold = WarningAndCriticalValues { warning, critical };
    Ok(HealthLimit {
        subject: None,
        threshold,
    })
}

/// The limits in the query of a URL: `max-waiting=mail:1000,5000`, where a colon stands for `=`.
pub(crate) fn parse_health_limits_in_url(query: &[(String, String)]) -> Result<Limits, String> {
    let mut limits = Limits::default();
    for (name, value) in query {
        let Ok(kind) = LimitKind::from_str(name) else {
            return Err(format!("`{name}` is none of the limits of `qless health`"));
        };
        let input = match value.rsplit_once(':') {
            Some((subject, values)) if !value.contains('=') => format!("{subject}={values}"),
            _ => value.clone(),
        };
        let bound = match kind {
            LimitKind::MinWorkers => parse_health_min_workers_limit(&input),
            kind => parse_health_limit(&input, kind.is_duration()),
        };
        let bound = bound.map_err(|wrong| wrong.refusal_sentence(name, value))?;
        limits.0.push((kind, bound));
    }
    Ok(limits)
}

/// Reads `[NAME=]WARNING[,CRITICAL]`. A name may hold `=`. A value does not.
fn parse_health_limit(text: &str, is_duration: bool) -> Result<HealthLimit, Invalid> {
    let (subject, values) = match text.rsplit_once('=') {
        Some((subject, values)) => (Some(subject), values),
        None => (None, text),
    };
    let forms = if is_duration {
        "a limit such as `5m`, `mail=5m` or `mail=5m,1h`"
    } else {
        "a limit such as `1000`, `mail=1000` or `mail=1000,5000`"
    };
    let (warning, critical) =
        parse_warning_and_critical(values, is_duration).ok_or_else(|| Invalid::expects(forms))?;
    if subject.is_some_and(str::is_empty) {
        return Err(Invalid::expects(forms));
    }
    if critical < warning {
        return Err(Invalid::because("has a critical value below the first"));
    }
    let subject = subject.map(|subject| NamePattern::parse(Name::from(subject)));
    Ok(HealthLimit {
        subject: subject.transpose().map_err(Invalid::expects)?,
        threshold: WarningAndCriticalValues { warning, critical },
    })
}

/// Reads `WARNING,CRITICAL`, or one value for both.
fn parse_warning_and_critical(text: &str, is_duration: bool) -> Option<(f64, f64)> {
    let number = |text: &str| {
        if is_duration {
            parse_duration(text).ok().map(|time| time.as_secs_f64())
        } else {
            value::at_least_zero(text)
                .ok()
                .map(|at_least_zero| at_least_zero as f64)
        }
    };
    match text.split_once(',') {
        Some((warning, critical)) => Some((number(warning)?, number(critical)?)),
        None => number(text).map(|number| (number, number)),
    }
}
