//! The Lua sources, in the order in which they are joined. The order is also that of the choice
//! at the top of each call: what is called most stands first.

/// One file of `lua/`.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// The path, as faults are reported.
    pub path: &'static str,
    pub text: &'static str,
}

macro_rules! source {
    ($path:literal) => {
        Source {
            path: concat!("lua/", $path),
            text: include_str!(concat!("../../lua/", $path)),
        }
    };
}

/// The first lines.
pub const HEAD: Source = source!("head.lua");

/// Every key name; not joined, but written in place of `Keys.<name>`.
pub const KEYS: Source = source!("keys.lua");

/// The last part of the script that is loaded.
pub const DISPATCH: Source = source!("dispatch.lua");

/// The last part of the library form.
pub const LIB: Source = source!("lib.lua");

/// What several commands share, by the name that `need` knows it by.
pub const ROOMS: &[(&str, Source)] = &[
    ("read", source!("lib/job/read.lua")),
    ("put", source!("lib/job/put.lua")),
    ("append", source!("lib/history/append.lua")),
    ("trim", source!("lib/history/trim.lua")),
    ("many", source!("lib/value/in_chunks.lua")),
    ("stat", source!("lib/stats/add_values.lua")),
    ("render", source!("lib/job/render.lua")),
    ("render_all", source!("lib/job/render_all.lua")),
    ("event", source!("lib/history/entry_json.lua")),
    ("related", source!("lib/dependency/any_related.lua")),
    ("tracked", source!("lib/job/tracked.lua")),
    ("leave", source!("lib/queue/remove_from_state_set.lua")),
    ("verdict", source!("lib/queue/pop_decision.lua")),
    ("number", source!("lib/value/number.lua")),
    ("names", source!("lib/value/names.lua")),
    ("open", source!("lib/dependency/pending_dependencies.lua")),
    ("link", source!("lib/dependency/link.lua")),
    ("release", source!("lib/dependency/release_dependents.lua")),
    ("free", source!("lib/dependency/release_job.lua")),
    ("unlink", source!("lib/dependency/unlink.lua")),
    ("reserved", source!("lib/job/reserved.lua")),
    ("put_options", source!("lib/job/put_options.lua")),
    ("lock_lost", source!("lib/job/lock_lost.lua")),
    ("tags", source!("lib/job/tags.lua")),
    ("untag", source!("lib/job/untag.lua")),
    ("render_existing", source!("lib/job/render_existing.lua")),
    ("expire", source!("lib/queue/expire_locks.lua")),
    ("promote", source!("lib/queue/promote.lua")),
    ("spawn", source!("lib/recurring/spawn.lua")),
    ("paused", source!("lib/queue/paused.lua")),
    ("forget_complete", source!("lib/job/forget_complete.lua")),
    ("enter_failed", source!("lib/failure/enter.lua")),
    ("failure_text", source!("lib/failure/encode.lua")),
    ("failed_event", source!("lib/failure/event.lua")),
    ("failure", source!("lib/failure/decode.lua")),
    ("leave_failed", source!("lib/failure/leave.lua")),
    ("leave_failed_many", source!("lib/failure/leave_many.lua")),
    ("uncount_failed", source!("lib/failure/uncount.lua")),
    ("cancel", source!("lib/job/delete.lua")),
    ("words", source!("lib/value/args_from.lua")),
    ("count", source!("lib/stats/count.lua")),
    ("whole", source!("lib/value/whole_tries.lua")),
    ("defaults", source!("lib/value/defaults.lua")),
    ("integer", source!("lib/value/integer.lua")),
    ("document", source!("lib/value/document.lua")),
    ("set_json", source!("lib/value/set_json.lua")),
    ("migrate", source!("lib/history/migrate.lua")),
    ("when", source!("lib/history/entry_time.lua")),
    ("mark", source!("lib/job/mark.lua")),
    ("sort", source!("lib/value/sort.lua")),
    ("members", source!("lib/value/members.lua")),
    ("json", source!("lib/value/json_arg.lua")),
    ("object", source!("lib/value/object_arg.lua")),
    ("note", source!("lib/history/note.lua")),
    ("sound", source!("lib/value/keys_ok.lua")),
    ("sound_job", source!("lib/job/keys_ok.lua")),
    ("judge_dependencies", source!("lib/dependency/classify.lua")),
    ("cycle", source!("lib/dependency/find_cycle.lua")),
    ("outcome", source!("lib/value/outcome_row.lua")),
    ("restore", source!("lib/job/restore.lua")),
];

/// Rooms that only a check enters, or who was refused something. They stay text until they are asked for: as functions they would
/// make every call dearer, by what loading and the collector have to look at.
pub const RARE: &[(&str, Source)] = &[
    ("check_book", source!("check/judge/context.lua")),
    ("check_child", source!("check/judge/child.lua")),
    ("check_complete", source!("check/judge/complete.lua")),
    ("check_completed", source!("check/index/completed.lua")),
    ("check_config", source!("check/index/config.lua")),
    ("check_count", source!("check/judge/template_count.lua")),
    ("check_counter", source!("check/index/tag_counter.lua")),
    ("check_cycle", source!("check/judge/cycle.lua")),
    ("check_day", source!("check/index/day_counter.lua")),
    ("check_edges", source!("check/judge/edges.lua")),
    ("check_failed", source!("check/judge/failed.lua")),
    (
        "check_failed_count",
        source!("check/index/failed_count.lua"),
    ),
    ("check_failure", source!("check/judge/failure.lua")),
    ("check_failures", source!("check/index/failures.lua")),
    ("check_fields", source!("check/judge/fields.lua")),
    ("check_group", source!("check/index/group.lua")),
    ("check_healthy", source!("check/judge/healthy.lua")),
    ("check_far", source!("check/judge/lock_too_late.lua")),
    ("check_held", source!("check/judge/lock_agreement.lua")),
    ("check_history", source!("check/judge/history.lua")),
    ("check_job", source!("check/judge/job.lua")),
    ("check_job_tags", source!("check/judge/job_tags.lua")),
    ("check_key", source!("check/key/key.lua")),
    ("check_kind", source!("check/key/kind.lua")),
    ("check_leftovers", source!("check/judge/leftovers.lua")),
    ("check_listed", source!("check/index/queue_listed.lua")),
    ("check_lists", source!("check/index/failure_lists.lua")),
    ("check_member", source!("check/index/member.lua")),
    ("check_notes", source!("check/repair/record.lua")),
    ("check_outcomes", source!("check/repair/outcomes.lua")),
    (
        "check_paused_queues",
        source!("check/index/paused_queues.lua"),
    ),
    ("check_place", source!("check/repair/current.lua")),
    ("check_places", source!("check/judge/sets.lua")),
    ("check_plan", source!("check/repair/plan.lua")),
    ("check_put", source!("check/repair/apply.lua")),
    ("check_queues", source!("check/index/queues.lua")),
    ("check_recur", source!("check/index/recur.lua")),
    ("check_recurring", source!("check/judge/recurring.lua")),
    ("check_running", source!("check/judge/running.lua")),
    ("check_stats", source!("check/key/stats.lua")),
    ("check_stub", source!("check/judge/stub.lua")),
    ("check_tag", source!("check/index/tag.lua")),
    ("check_tag_list", source!("check/judge/tag_list.lua")),
    ("check_tags", source!("check/index/tags.lua")),
    ("check_tracked", source!("check/index/tracked.lua")),
    ("check_type", source!("check/key/wrong_type.lua")),
    ("check_worker", source!("check/index/worker.lua")),
    ("check_workers", source!("check/index/workers.lua")),
    ("check_write", source!("check/repair/write.lua")),
    ("wrong", source!("lib/value/wrong_type.lua")),
];

/// The commands, by their name on the wire.
pub const COMMANDS: &[(&str, Source)] = &[
    ("put", source!("command/put.lua")),
    ("pop", source!("command/pop.lua")),
    ("heartbeat", source!("command/heartbeat.lua")),
    ("complete", source!("command/complete.lua")),
    ("config.get", source!("command/config.get.lua")),
    ("fail", source!("command/fail.lua")),
    ("retry", source!("command/retry.lua")),
    ("get", source!("command/get.lua")),
    ("length", source!("command/length.lua")),
    ("queues", source!("command/queues.lua")),
    ("cancel", source!("command/cancel.lua")),
    ("multiget", source!("command/multiget.lua")),
    ("peek", source!("command/peek.lua")),
    ("jobs", source!("command/jobs.lua")),
    ("failed", source!("command/failed.lua")),
    ("workers", source!("command/workers.lua")),
    ("timeout", source!("command/timeout.lua")),
    ("unfail", source!("command/unfail.lua")),
    ("priority", source!("command/priority.lua")),
    ("log", source!("command/log.lua")),
    ("tag", source!("command/tag.lua")),
    ("track", source!("command/track.lua")),
    ("stats", source!("command/stats.lua")),
    ("depends", source!("command/depends.lua")),
    ("requeue", source!("command/requeue.lua")),
    ("config.set", source!("command/config.set.lua")),
    ("config.unset", source!("command/config.unset.lua")),
    ("pause", source!("command/pause.lua")),
    ("unpause", source!("command/unpause.lua")),
    ("recur", source!("command/recur.lua")),
    ("unrecur", source!("command/unrecur.lua")),
    ("recur.get", source!("command/recur.get.lua")),
    ("recur.update", source!("command/recur.update.lua")),
    ("recur.tag", source!("command/recur.tag.lua")),
    ("recur.untag", source!("command/recur.untag.lua")),
    ("queue.forget", source!("command/queue.forget.lua")),
    (
        "worker.deregister",
        source!("command/worker.deregister.lua"),
    ),
    ("look.jobs", source!("command/look.jobs.lua")),
    ("look.index", source!("command/look.index.lua")),
    ("look.queues", source!("command/look.queues.lua")),
    ("look.workers", source!("command/look.workers.lua")),
    ("look.recurs", source!("command/look.recurs.lua")),
    ("look.scan", source!("command/look.scan.lua")),
    ("guard.put", source!("command/guard.put.lua")),
    ("guard.requeue", source!("command/guard.requeue.lua")),
    ("guard.cancel", source!("command/guard.cancel.lua")),
    ("guard.depends", source!("command/guard.depends.lua")),
    ("guard.call", source!("command/guard.call.lua")),
    ("guard.pause", source!("command/guard.pause.lua")),
    ("check.slice", source!("command/check.slice.lua")),
    ("check.revert", source!("command/check.revert.lua")),
];
