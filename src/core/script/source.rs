//! The Lua sources, in the order in which they are joined. The order is also that of the choice
//! at the top of each call: what is called most stands first.

/// One file of `lua/`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
    /// The path, as faults are reported.
    pub path: &'static str,
    pub text: &'static str,
}

macro_rules! source {
    ($path:literal) => {
        Source {
            path: concat!("lua/", $path),
            text: include_str!(concat!("../../../lua/", $path)),
        }
    };
}

/// The first lines.
pub(crate) const HEAD: Source = source!("head.lua");

/// Every key name; not joined, but written in place of `Keys.<name>`.
pub(crate) const KEYS: Source = source!("keys.lua");

/// The last part of the script that is loaded.
pub(crate) const DISPATCH: Source = source!("dispatch.lua");

/// The last part of the library form.
pub(crate) const LIB: Source = source!("lib.lua");

/// What several commands share, by the name that `need` knows it by.
pub(crate) const ROOMS: &[(&str, Source)] = &[
    ("read", source!("room/read.lua")),
    ("put", source!("room/put.lua")),
    ("append", source!("room/append.lua")),
    ("trim", source!("room/trim.lua")),
    ("many", source!("room/many.lua")),
    ("stat", source!("room/stat.lua")),
    ("render", source!("room/render.lua")),
    ("render_all", source!("room/render_all.lua")),
    ("event", source!("room/event.lua")),
    ("related", source!("room/related.lua")),
    ("tracked", source!("room/tracked.lua")),
    ("leave", source!("room/leave.lua")),
    ("verdict", source!("room/verdict.lua")),
    ("number", source!("room/number.lua")),
    ("names", source!("room/names.lua")),
    ("open", source!("room/open.lua")),
    ("link", source!("room/link.lua")),
    ("release", source!("room/release.lua")),
    ("free", source!("room/free.lua")),
    ("unlink", source!("room/unlink.lua")),
    ("reserved", source!("room/reserved.lua")),
    ("put_options", source!("room/put_options.lua")),
    ("lock_lost", source!("room/lock_lost.lua")),
    ("tags", source!("room/tags.lua")),
    ("untag", source!("room/untag.lua")),
    ("render_existing", source!("room/render_existing.lua")),
    ("expire", source!("room/expire.lua")),
    ("promote", source!("room/promote.lua")),
    ("spawn", source!("room/spawn.lua")),
    ("paused", source!("room/paused.lua")),
    ("forget_complete", source!("room/forget_complete.lua")),
    ("enter_failed", source!("room/enter_failed.lua")),
    ("failure_text", source!("room/failure_text.lua")),
    ("failed_event", source!("room/failed_event.lua")),
    ("failure", source!("room/failure.lua")),
    ("leave_failed", source!("room/leave_failed.lua")),
    ("leave_failed_many", source!("room/leave_failed_many.lua")),
    ("uncount_failed", source!("room/uncount_failed.lua")),
    ("cancel", source!("room/cancel.lua")),
    ("words", source!("room/words.lua")),
    ("count", source!("room/count.lua")),
    ("whole", source!("room/whole.lua")),
    ("defaults", source!("room/defaults.lua")),
    ("integer", source!("room/integer.lua")),
    ("document", source!("room/document.lua")),
    ("set_json", source!("room/set_json.lua")),
    ("migrate", source!("room/migrate.lua")),
    ("when", source!("room/when.lua")),
    ("mark", source!("room/mark.lua")),
    ("sort", source!("room/sort.lua")),
    ("members", source!("room/members.lua")),
    ("json", source!("room/json.lua")),
    ("object", source!("room/object.lua")),
    ("note", source!("room/note.lua")),
    ("sound", source!("room/sound.lua")),
    ("sound_job", source!("room/sound_job.lua")),
    ("judge_dependencies", source!("room/judge_dependencies.lua")),
    ("cycle", source!("room/cycle.lua")),
    ("outcome", source!("room/outcome.lua")),
    ("restore", source!("room/restore.lua")),
];

/// Rooms that only a check enters, or who was refused something. They stay text until they are asked for: as functions they would
/// make every call dearer, by what loading and the collector have to look at.
pub(crate) const RARE: &[(&str, Source)] = &[
    ("check_book", source!("room/check_book.lua")),
    ("check_child", source!("room/check_child.lua")),
    ("check_complete", source!("room/check_complete.lua")),
    ("check_completed", source!("room/check_completed.lua")),
    ("check_config", source!("room/check_config.lua")),
    ("check_count", source!("room/check_count.lua")),
    ("check_counter", source!("room/check_counter.lua")),
    ("check_cycle", source!("room/check_cycle.lua")),
    ("check_day", source!("room/check_day.lua")),
    ("check_edges", source!("room/check_edges.lua")),
    ("check_failed", source!("room/check_failed.lua")),
    ("check_failed_count", source!("room/check_failed_count.lua")),
    ("check_failure", source!("room/check_failure.lua")),
    ("check_failures", source!("room/check_failures.lua")),
    ("check_fields", source!("room/check_fields.lua")),
    ("check_group", source!("room/check_group.lua")),
    ("check_healthy", source!("room/check_healthy.lua")),
    ("check_far", source!("room/check_far.lua")),
    ("check_held", source!("room/check_held.lua")),
    ("check_history", source!("room/check_history.lua")),
    ("check_job", source!("room/check_job.lua")),
    ("check_job_tags", source!("room/check_job_tags.lua")),
    ("check_key", source!("room/check_key.lua")),
    ("check_kind", source!("room/check_kind.lua")),
    ("check_leftovers", source!("room/check_leftovers.lua")),
    ("check_listed", source!("room/check_listed.lua")),
    ("check_lists", source!("room/check_lists.lua")),
    ("check_member", source!("room/check_member.lua")),
    ("check_notes", source!("room/check_notes.lua")),
    ("check_outcomes", source!("room/check_outcomes.lua")),
    (
        "check_paused_queues",
        source!("room/check_paused_queues.lua"),
    ),
    ("check_place", source!("room/check_place.lua")),
    ("check_places", source!("room/check_places.lua")),
    ("check_plan", source!("room/check_plan.lua")),
    ("check_put", source!("room/check_put.lua")),
    ("check_queues", source!("room/check_queues.lua")),
    ("check_recur", source!("room/check_recur.lua")),
    ("check_recurring", source!("room/check_recurring.lua")),
    ("check_running", source!("room/check_running.lua")),
    ("check_stats", source!("room/check_stats.lua")),
    ("check_stub", source!("room/check_stub.lua")),
    ("check_tag", source!("room/check_tag.lua")),
    ("check_tag_list", source!("room/check_tag_list.lua")),
    ("check_tags", source!("room/check_tags.lua")),
    ("check_tracked", source!("room/check_tracked.lua")),
    ("check_type", source!("room/check_type.lua")),
    ("check_worker", source!("room/check_worker.lua")),
    ("check_workers", source!("room/check_workers.lua")),
    ("check_write", source!("room/check_write.lua")),
    ("wrong", source!("room/wrong.lua")),
];

/// The commands, by their name on the wire.
pub(crate) const COMMANDS: &[(&str, Source)] = &[
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
