//! The exit code of a bulk action.

use crate::error::Kind;
use crate::exit::Exit;
use crate::model::bulk::{Code, ItemResult};

/// The number of jobs by result and code.
pub(crate) type Codes = std::collections::BTreeMap<(ItemResult, Code), usize>;

/// Returns the kind of error for a code if one job was named.
pub(crate) const fn kind(code: Code) -> Kind {
    match code {
        Code::Gone | Code::MissingDependency => Kind::NotFound,
        Code::Invalid | Code::Ok => Kind::Error,
        Code::Server => Kind::Server,
        Code::Unknown => Kind::Unknown,
        Code::StateChanged
        | Code::Complete
        | Code::NotHolder
        | Code::HasDependents
        | Code::Cycle
        | Code::Exists => Kind::Conflict,
    }
}

/// Returns the exit code of an action; `remaining` jobs were not tried after a failure.
/// after a failure.
///
/// | done | skipped             | failed             | exit              |
/// |------|---------------------|--------------------|-------------------|
/// | any  | any                 | none               | 0                 |
/// | none | all of them `gone`  | none               | 4                 |
/// | none | none                | all, for one code  | that of the code  |
/// | else |                     | some               | 3                 |
pub(crate) fn exit(codes: &Codes, remaining: usize) -> Exit {
    let mut entries = codes.keys();
    match (entries.next(), entries.next()) {
        (Some((ItemResult::Skipped, Code::Gone)), None) => Exit::NotFound,
        (Some((ItemResult::Failed, code)), None) if remaining == 0 => kind(*code).exit(),
        _ if codes
            .keys()
            .any(|(result, _)| *result == ItemResult::Failed) =>
        {
            Exit::Partial
        }
        _ => Exit::Ok,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_combination_of_codes_has_its_exit_code() {
        for (codes, expected) in [
            (&[][..], Exit::Ok),
            (&[Code::Ok], Exit::Ok),
            (&[Code::Ok, Code::Gone, Code::StateChanged], Exit::Ok),
            (&[Code::StateChanged], Exit::Ok),
            (&[Code::Gone], Exit::NotFound),
            (&[Code::Gone, Code::Complete], Exit::Ok),
            (&[Code::HasDependents], Exit::Conflict),
            (&[Code::NotHolder], Exit::Conflict),
            (&[Code::Unknown], Exit::Server),
            (&[Code::Invalid], Exit::Error),
            (&[Code::Ok, Code::HasDependents], Exit::Partial),
            (&[Code::Gone, Code::HasDependents], Exit::Partial),
            (&[Code::Invalid, Code::HasDependents], Exit::Partial),
        ] {
            let codes: Codes = codes
                .iter()
                .map(|code| ((code.result(), *code), 1))
                .collect();
            assert_eq!(exit(&codes, 0), expected, "{codes:?}");
        }
    }
}
