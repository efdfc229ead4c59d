//! The Lua sources, in the order in which they are joined. A call compares names in this order
//! until one matches, so the names that most calls use stand first.

/// One file of `lua/`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
    /// The path, as errors report it.
    pub path: &'static str,
    pub text: &'static str,
}

macro_rules! source {
    ($path:expr) => {
        Source {
            path: concat!("lua/", $path),
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/lua/", $path)),
        }
    };
}

/// Names with their files: `"job/read"` of folder `"lib/"` is `lua/lib/job/read.lua`.
macro_rules! sources {
    ($($folder:literal { $($name:literal,)* })*) => {
        &[$($(($name, source!(concat!($folder, $name, ".lua")))),*),*]
    };
}

/// The first lines.
pub(crate) const HEAD: Source = source!("head.lua");

/// Every key name. It is not joined: the join writes each key in place of `Keys.<name>`.
pub(crate) const KEYS: Source = source!("keys.lua");

/// The last part of the script that is loaded.
pub(crate) const DISPATCH: Source = source!("dispatch.lua");

/// The last part of the library form.
pub(crate) const LIB: Source = source!("lib.lua");

/// The functions that several commands share, by the name that `need` takes.
pub(crate) const SHARED: &[(&str, Source)] = sources! { "lib/" {
    "job/read",
    "job/put",
    "history/append",
    "history/trim",
    "value/in_chunks",
    "stats/add_values",
    "job/render",
    "job/render_all",
    "history/entry_json",
    "dependency/any_related",
    "job/tracked",
    "queue/remove_from_state_set",
    "queue/pop_decision",
    "value/number",
    "value/names",
    "dependency/pending_dependencies",
    "dependency/link",
    "dependency/release_dependents",
    "dependency/release_job",
    "dependency/unlink",
    "job/reserved",
    "job/put_options",
    "job/lock_lost",
    "job/tags",
    "job/untag",
    "job/render_existing",
    "queue/expire_locks",
    "queue/promote",
    "recurring/spawn",
    "recurring/pause",
    "recurring/paused",
    "recurring/resume",
    "queue/paused",
    "job/forget_complete",
    "failure/enter",
    "failure/encode",
    "failure/event",
    "failure/decode",
    "failure/leave",
    "failure/leave_many",
    "failure/uncount",
    "job/delete",
    "value/args_from",
    "stats/count",
    "value/whole_tries",
    "value/defaults",
    "value/integer",
    "value/document",
    "value/set_json",
    "history/legacy",
    "history/migrate",
    "history/entry_time",
    "job/mark",
    "value/sort",
    "value/members",
    "value/json_arg",
    "value/object_arg",
    "history/note",
    "value/key_fault",
    "job/key_fault",
    "dependency/classify",
    "dependency/find_cycle",
    "value/outcome_row",
    "job/restore",
    "job/put_args",
    "dependency/waiting_dependents",
    "dependency/keep_blocked",
    "queue/oldest",
} };

/// The functions that only `check.slice`, `check.revert` or a refusal uses. The script holds them as
/// text and compiles them on demand: as functions, they would make every call slower to load and to
/// garbage-collect.
pub(crate) const ON_DEMAND: &[(&str, Source)] = sources! { "check/" {
    "index/completed",
    "index/config",
    "index/day_counter",
    "index/entries",
    "index/failed",
    "index/failed_count",
    "index/failure_lists",
    "index/failures",
    "index/group",
    "index/member",
    "index/paused_queues",
    "index/queue_listed",
    "index/queues",
    "index/recur",
    "index/tag",
    "index/tag_counter",
    "index/tags",
    "index/tracked",
    "index/unlisted",
    "index/worker",
    "index/workers",
    "judge/child",
    "judge/complete",
    "judge/context",
    "judge/cycle",
    "judge/dependencies",
    "judge/dependents",
    "judge/edge_sets",
    "judge/edges",
    "judge/failed",
    "judge/failure",
    "judge/fields",
    "judge/healthy",
    "judge/history",
    "judge/job",
    "judge/job_tags",
    "judge/leftovers",
    "judge/legacy_history",
    "judge/lock_agreement",
    "judge/lock_too_late",
    "judge/never_due",
    "judge/recurring",
    "judge/running",
    "judge/sets",
    "judge/stub",
    "judge/tag_list",
    "judge/template_count",
    "key/key",
    "key/kind",
    "key/stats",
    "key/wrong_type",
    "repair/apply",
    "repair/current",
    "repair/entry_mark",
    "repair/home",
    "repair/outcomes",
    "repair/plan",
    "repair/record",
    "repair/remove_entries",
    "repair/write",
} "lib/" {
    "value/wrong_type",
} };

/// The commands, by their wire name.
pub(crate) const COMMANDS: &[(&str, Source)] = sources! { "command/" {
    "put",
    "pop",
    "heartbeat",
    "complete",
    "config.get",
    "fail",
    "retry",
    "get",
    "length",
    "queues",
    "cancel",
    "multiget",
    "peek",
    "jobs",
    "failed",
    "workers",
    "timeout",
    "unfail",
    "priority",
    "log",
    "tag",
    "track",
    "stats",
    "depends",
    "requeue",
    "config.set",
    "config.unset",
    "pause",
    "unpause",
    "recur",
    "unrecur",
    "recur.get",
    "recur.update",
    "recur.tag",
    "recur.untag",
    "queue.forget",
    "worker.deregister",
    "look.jobs",
    "look.index",
    "look.queues",
    "look.workers",
    "look.recurs",
    "look.scan",
    "look.pop",
    "look.status",
    "look.traces",
    "guard.put",
    "guard.requeue",
    "guard.cancel",
    "guard.depends",
    "guard.call",
    "guard.pause",
    "guard.recur",
    "check.slice",
    "check.revert",
} };
