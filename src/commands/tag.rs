//! `qless tag`

use super::{HelpGroup, MemberDispatch, Spec, found_and_missing, is_list_or_ls};
use crate::args::format::Format;
use crate::args::shared::{BulkFlags, JobTargets, refuse_overlap, refuse_too_many_tags};
use crate::args::value;
use crate::bulk::{BulkPlan, JobOutcome, add_outcomes_of_replies};
use crate::core::api::job::JobFields;
use crate::core::api::not_found;
use crate::core::call::Call;
use crate::error::Error;
use crate::exit::Exit;
use crate::input::jids;
use crate::json::Json;
use crate::model::bulk::Verb;
use crate::model::bulk::{BulkReport, BulkTableColumns, BulkTableRow, BulkTotals};
use crate::model::job::Job;
use crate::model::list::{JobsAndMissingJids, List};
use crate::model::tag::Tag;
use crate::name::Name;
use crate::select;
use crate::session::Session;
use crate::text::comma_list;

/// Add tags to jobs, remove them, or list the most used tags
///
/// Prints the tags of each job after the change. Without jobs, or with `list` or `ls`, it lists all tags
/// with the number of jobs that have each; `qless jobs --tag T` lists the jobs.
///
/// Examples: `qless tag`
/// · `qless tag 0b6e5c0d9a4f4d7e8a51f0c2b7d61e9a --add seen --remove new`
/// · `qless tag --queue mail --state stalled --add late --yes`
///
/// Exit codes: 0, 2 usage, 3 some failed, 4 unknown jid, 6 server, 9 not confirmed.
///
/// See also: `qless jobs --tag`, `qless help selectors`
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// Tag to add
    #[arg(long, value_name = "T", value_parser = value::new_name(), add = value::CompletionKind::Tags)]
    add: Vec<Name>,
    /// Tag to remove
    #[arg(long, value_name = "T", value_parser = value::name_or_empty(), add = value::CompletionKind::Tags)]
    remove: Vec<Name>,
    #[command(flatten)]
    bulk: BulkFlags,
    #[command(flatten)]
    jobs: JobTargets,
}

const TAG: Verb = Verb {
    of_one: Some("tagged"),
    ..Verb::new("tag", "tag", "tagged")
        .with_table(BulkTableColumns::Tags)
        .allowing_raw_format()
};

impl Args {
    fn writes(&self) -> bool {
        !self.add.is_empty() || !self.remove.is_empty()
    }

    /// Whether the only argument is `list` or `ls`, so that the command lists all tags.
    fn has_list_as_only_argument(&self) -> bool {
        let jids = self.jobs.jids.as_slice();
        matches!(jids, [word] if !self.writes() && is_list_or_ls(&word.as_typed()))
    }

    fn context_member_dispatch(&self) -> MemberDispatch<'_> {
        if self.has_list_as_only_argument() {
            MemberDispatch::Each
        } else {
            MemberDispatch::Jobs(&self.jobs.jids)
        }
    }
}

pub(crate) const SPEC: Spec<Args> = Spec::writes_if(HelpGroup::Submit, Args::writes, run)
    .context_member_dispatch(Args::context_member_dispatch);

fn run(mut args: Args, session: &mut Session) -> Result<Exit, Error> {
    if args.has_list_as_only_argument() {
        args.jobs.jids.clear();
    }
    let selector = &args.jobs.selector;
    let no_jobs = args.jobs.is_empty();
    if args.writes() {
        change_tags(&args, session)
    } else if no_jobs {
        list_tags(selector.offset, selector.limit, session)
    } else {
        show_tags_of_jobs(&args.jobs, session)
    }
}

/// Adds and removes tags.
fn change_tags(args: &Args, session: &mut Session) -> Result<Exit, Error> {
    refuse_overlap(("--add", &args.add), ("--remove", &args.remove))?;
    refuse_too_many_tags("--add", &args.add)?;
    let (flags, targets) = (&args.bulk, &args.jobs);
    let plan = BulkPlan::of_targets(session, &TAG, flags, targets, &[], |_| None)?;
    let consent = plan.ask_consent_or_print_plan(session, "")?;
    plan.change_in_slices(session, consent, |core, now, note, jobs, outcomes| {
        let replies = core.change_tags(now, note, jobs, &args.remove, &args.add);
        add_outcomes_of_replies(outcomes, jobs, replies, |job, tags| {
            let names = Json::parse(tags.as_bytes()).and_then(|tags| tags.text_array());
            let names = names.unwrap_or_default();
            let mut outcome = JobOutcome::done(&job.jid).with_raw_reply(tags.as_bytes());
            // The core makes the change only if the job has not changed since it was read, and keeps its state.
            outcome.state_after = Some(job.state.clone());
            outcome.detail = Some(comma_list(&names).into());
            outcome.with_cells(names)
        })
    })
}

fn show_tags_of_jobs(jobs: &JobTargets, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[Format::Jid])?;
    session.ui.check_columns::<BulkReport>()?;
    jobs.require_either_jids_or_selector()?;
    let given = jids::read_jids(&mut session.input(), &jobs.jids)?;
    let now = session.connect()?;
    let (found, missing) = if jobs.jids.is_empty() {
        let found = select::matching_jobs(session, now, &jobs.selector, JobFields::Brief)?;
        (found, Vec::new())
    } else {
        let jobs = session.core()?.jobs(now, JobFields::Brief, given.jids())?;
        found_and_missing(given.jids(), jobs)
    };
    let out = &mut session.ui;
    if out.format() == Format::Table {
        let row = |job: &Job| BulkTableRow {
            jid: job.jid.clone(),
            cells: job.tags.clone(),
        };
        let rows: Vec<BulkTableRow> = found.iter().map(row).collect();
        out.show(&tag_report(rows))?;
    } else {
        out.show(&JobsAndMissingJids {
            list: List::of_all(found),
            missing: missing.clone(),
            ..JobsAndMissingJids::default()
        })?;
    }
    match missing.as_slice() {
        [] => Ok(Exit::Ok),
        [jid, ..] => Err(not_found::missing_job_error(jid)),
    }
}

pub(super) fn tag_report(rows: Vec<BulkTableRow>) -> BulkReport {
    BulkReport {
        sum: BulkTotals::new("tag", false, 0),
        items: Vec::new(),
        table_columns: BulkTableColumns::Tags,
        rows,
    }
}

/// Lists the tags, most used first.
fn list_tags(offset: u64, limit: Option<u64>, session: &mut Session) -> Result<Exit, Error> {
    let now = session.connect_to_show::<List<Tag>>(&[Format::Raw])?;
    if session.ui.format() == Format::Raw {
        let call = Call::raw_call("tag").arg("top").arg(offset.to_string());
        let call = call.arg(limit.unwrap_or(25).to_string());
        return session.print_core_reply(now, &call);
    }
    let (core, out) = session.core_and_ui()?;
    let mut tags = List::of_all(core.tags(now)?);
    let total = tags.items.len();
    tags.keep_page(offset, limit.or(out.default_row_limit()));
    out.show(&tags)?;
    out.note_rows_left_out(tags.items.len() as u64, tags.total, offset, "tags");
    if total == 0 {
        out.note_to_people("no tags");
    }
    Ok(Exit::Ok)
}
