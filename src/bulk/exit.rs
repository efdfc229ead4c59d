//! The exit code of a bulk action.

use crate::error::Kind;
use crate::exit::Exit;
use crate::model::bulk::{ItemResult, OutcomeCode};

/// The number of jobs by result and code.
pub(crate) type Codes = std::collections::BTreeMap<(ItemResult, OutcomeCode), usize>;

/// The kind of error for the outcome of a job, if only this job was named.
pub(crate) const fn error_kind(code: OutcomeCode) -> Kind {
    match code {
        OutcomeCode::Gone | OutcomeCode::MissingDependency => Kind::NotFound,
        OutcomeCode::Invalid | OutcomeCode::Ok => Kind::Error,
        OutcomeCode::Server => Kind::Server,
        OutcomeCode::Unknown => Kind::OutcomeUnknown,
        OutcomeCode::StateChanged
        | OutcomeCode::Complete
        | OutcomeCode::NotHolder
        | OutcomeCode::HasDependents
        | OutcomeCode::Cycle
        | OutcomeCode::Exists => Kind::Conflict,
    }
}

/// The exit code of an action; `remaining` jobs were not tried after a failure. With `are_given_by_jid`, the jobs
/// were given by jid, and at least one was not yet as the command would leave it. If none of these jobs could be
/// changed, the code is the one for a single job.
///
/// | done | skipped                    | failed             | exit              |
/// |------|----------------------------|--------------------|-------------------|
/// | none | all of them `gone`         | none               | 4                 |
/// | none | none                       | all, for one code  | that of the code  |
/// | none | all, if `are_given_by_jid`: some not `gone`, or failed    || 5                 |
/// | any  | any                        | none               | 0                 |
/// | any  | any                        | some               | 3                 |
pub(crate) fn bulk_exit(codes: &Codes, remaining: usize, are_given_by_jid: bool) -> Exit {
    let failed = |(result, _): &(ItemResult, OutcomeCode)| *result == ItemResult::Failed;
    let refused = |(result, code): &(ItemResult, OutcomeCode)| {
        matches!(result, ItemResult::Skipped | ItemResult::Failed)
            && matches!(error_kind(*code), Kind::NotFound | Kind::Conflict)
    };
    let mut entries = codes.keys();
    match (entries.next(), entries.next()) {
        (None, _) => Exit::Ok,
        (Some((ItemResult::Skipped, OutcomeCode::Gone)), None) => Exit::NotFound,
        (Some((ItemResult::Failed, code)), None) if remaining == 0 => error_kind(*code).exit(),
        _ if are_given_by_jid && remaining == 0 && codes.keys().all(refused) => Exit::Conflict,
        _ if codes.keys().any(failed) => Exit::Partial,
        _ => Exit::Ok,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_combination_of_codes_has_its_exit_code() {
        for (codes, selected, named) in [
            (&[][..], Exit::Ok, Exit::Ok),
            (&[OutcomeCode::Ok], Exit::Ok, Exit::Ok),
            (
                &[
                    OutcomeCode::Ok,
                    OutcomeCode::Gone,
                    OutcomeCode::StateChanged,
                ],
                Exit::Ok,
                Exit::Ok,
            ),
            (&[OutcomeCode::StateChanged], Exit::Ok, Exit::Conflict),
            (&[OutcomeCode::Gone], Exit::NotFound, Exit::NotFound),
            (
                &[OutcomeCode::Gone, OutcomeCode::Complete],
                Exit::Ok,
                Exit::Conflict,
            ),
            (
                &[OutcomeCode::HasDependents],
                Exit::Conflict,
                Exit::Conflict,
            ),
            (&[OutcomeCode::NotHolder], Exit::Conflict, Exit::Conflict),
            (&[OutcomeCode::Unknown], Exit::Server, Exit::Server),
            (&[OutcomeCode::Invalid], Exit::Error, Exit::Error),
            (
                &[OutcomeCode::Ok, OutcomeCode::HasDependents],
                Exit::Partial,
                Exit::Partial,
            ),
            (
                &[OutcomeCode::Gone, OutcomeCode::HasDependents],
                Exit::Partial,
                Exit::Conflict,
            ),
            (
                &[OutcomeCode::Invalid, OutcomeCode::HasDependents],
                Exit::Partial,
                Exit::Partial,
            ),
        ] {
            let codes: Codes = codes
                .iter()
                .map(|code| ((code.item_result(), *code), 1))
                .collect();
            assert_eq!(bulk_exit(&codes, 0, false), selected, "{codes:?}");
            assert_eq!(bulk_exit(&codes, 0, true), named, "{codes:?}, named");
        }
    }
}
