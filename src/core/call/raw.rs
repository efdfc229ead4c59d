//! What may be done with raw calls, whose name and arguments come from the user: whether they may write, and whether
//! they may be repeated. `qless api` makes raw calls, and so do the commands that print the core's reply unchanged.

use serde::Deserialize;

use super::calls::RetryClass::{Guarded, Idempotent, Never};
use super::calls::{self, CallSpec};

/// The spec of a raw call, by its name and arguments: whether the call may write, and whether it may be repeated. A
/// call with an unknown name counts as one that may write and is never repeated.
pub(crate) fn spec_of_raw_call(name: &str, args: &[Vec<u8>]) -> CallSpec {
    let spec = raw_spec_or_unknown(name);
    let reads = CallSpec::for_read(spec.name);
    let first = args.first().map(|arg| arg.to_ascii_lowercase());
    match (name, first.as_deref()) {
        ("tag", Some(b"get" | b"top")) | ("track", None) | ("check.slice", Some(b"look")) => reads,
        ("subscription", _) => match args.get(1).map(Vec::as_slice) {
            Some(b"get" | b"exists") => reads,
            // `subscription all` also writes: it stores the names of queues to which scripts of other clients gave
            // topics.
            Some(b"all") => reads.with_incidental_writes(),
            _ => spec,
        },
        ("jobs", Some(b"scheduled")) => spec.with_incidental_writes(),
        ("guard.put", Some(policy)) => match PutFieldsForRetryClass::from_json(policy) {
            PutFieldsForRetryClass { dry: true, .. } => spec.as_dry_run(),
            PutFieldsForRetryClass { replace: false, .. } => spec.with_retry_class(Idempotent),
            _ => spec,
        },
        ("guard.depends", _) if !has_nonempty_mark_at(args, 1) => spec.with_retry_class(Idempotent),
        // jid, mark, note, then the inner call.
        ("guard.call", _) => {
            let Some(inner) = args.get(3).and_then(|name| std::str::from_utf8(name).ok()) else {
                return spec;
            };
            let inner = spec_of_raw_call(inner, &args[4..]);
            let has_mark = has_nonempty_mark_at(args, 1);
            CallSpec {
                class: if has_mark { spec.class } else { inner.class },
                may_write: !inner.has_read_retry_class(),
                wording: inner.wording,
                ..spec
            }
        }
        _ => spec,
    }
}

const UNKNOWN: CallSpec = CallSpec {
    class: Never,
    may_write: true,
    ..CallSpec::for_read("").with_wording("call", "calling")
};

/// The spec of the raw call with this name. A guarded call is not repeated here: if the core refused the second
/// attempt, no caller of a raw call could say whether the first attempt was applied.
fn raw_spec_or_unknown(name: &str) -> CallSpec {
    let spec = calls::ALL.iter().find(|spec| spec.name == name);
    match spec.copied() {
        Some(spec) if spec.class == Guarded => spec.with_retry_class(Never),
        spec => *spec.unwrap_or(&UNKNOWN),
    }
}

/// Whether the argument at this index is a mark, which changes whenever its job does. A call with a mark is not
/// repeated: the refusal of the second attempt would hide the result of the first. An empty argument is no mark.
fn has_nonempty_mark_at(args: &[Vec<u8>], index: usize) -> bool {
    args.get(index).is_some_and(|mark| !mark.is_empty())
}

/// The fields of the first argument of `guard.put`, a JSON object, that decide whether the call may be repeated.
#[derive(Default, Deserialize)]
#[serde(default)]
struct PutFieldsForRetryClass {
    /// Whether the call replaces a job that exists already.
    replace: bool,
    dry: bool,
}

impl PutFieldsForRetryClass {
    /// Reads the fields from the JSON text. Text that is not valid JSON forbids a repetition; the core will refuse it.
    fn from_json(policy: &[u8]) -> PutFieldsForRetryClass {
        serde_json::from_slice(policy).unwrap_or(PutFieldsForRetryClass {
            replace: true,
            dry: false,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::core::call::calls::RetryClass;

    fn spec_of(name: &str, args: &[&str]) -> CallSpec {
        let args: Vec<Vec<u8>> = args.iter().map(|arg| arg.as_bytes().to_vec()).collect();
        spec_of_raw_call(name, &args)
    }

    #[test]
    fn every_command_of_the_core_has_a_spec() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("lua/command");
        let mut count = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap();
            assert_eq!(raw_spec_or_unknown(name).name, name);
            count += 1;
        }
        assert_eq!(count, calls::ALL.len());
    }

    #[test]
    fn an_unknown_name_may_write_and_is_never_repeated() {
        let spec = spec_of("nope", &[]);
        assert_eq!((spec.class, spec.may_write), (RetryClass::Never, true));
    }

    #[test]
    fn the_arguments_tell_the_reading_forms_from_the_writing_ones() {
        let reads = |name, args: &[&str]| spec_of(name, args).has_read_retry_class();
        assert!(reads("track", &[]));
        assert!(!reads("track", &["track", "j"]));
        assert!(reads("tag", &["get", "t"]));
        assert!(!reads("tag", &["add", "j", "t"]));
        assert!(reads("look.jobs", &["brief", "j"]));
        assert!(!reads("guard.put", &["{}"]));
        assert!(reads("check.slice", &["look", "", "", "job", ""]));
        assert!(!reads("check.slice", &["mend", "", "run", "job", ""]));
    }

    #[test]
    fn some_reads_may_write_in_passing() {
        let may_write = |name, args: &[&str]| spec_of(name, args).may_write;
        assert!(may_write("queues", &[]));
        assert!(may_write("jobs", &["scheduled", "q"]));
        assert!(!may_write("jobs", &["complete"]));
        assert!(!may_write("get", &["j"]));
        assert!(!may_write("guard.call", &["a", "m", "", "get", "a"]));
        assert!(may_write("guard.call", &["a", "m", "", "retry", "a"]));
    }

    #[test]
    fn the_arguments_decide_whether_a_lost_call_may_be_repeated() {
        let class = |name, args: &[&str]| spec_of(name, args).class;
        assert_eq!(class("guard.put", &["{}"]), RetryClass::Idempotent);
        let keep = r#"{"replace":false}"#;
        assert_eq!(class("guard.put", &[keep]), RetryClass::Idempotent);
        let replace = r#"{"replace":true}"#;
        assert_eq!(class("guard.put", &[replace]), RetryClass::Never);
        assert_eq!(class("guard.put", &["nonsense"]), RetryClass::Never);
        let dry = r#"{"replace":true,"dry":true}"#;
        assert_eq!(class("guard.put", &[dry]), RetryClass::Read);
        let call = |mark, inner| class("guard.call", &["a", mark, "", inner, "add", "a"]);
        assert_eq!(call("m", "retry"), RetryClass::Never);
        assert_eq!(call("", "retry"), RetryClass::Never);
        assert_eq!(call("", "tag"), RetryClass::Idempotent);
        assert_eq!(call("", "log"), RetryClass::Never);
        assert_eq!(class("unfail", &["q", "g"]), RetryClass::Never);
    }
}
