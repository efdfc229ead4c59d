//! `qless put --from`: one job per line of a file.

use super::Args;
use crate::args::format::Format;
use crate::args::input_arg::FileArg;
use crate::core::api::put::PutPolicy;
use crate::error::Error;
use crate::exit::Exit;
use crate::session::Session;
use crate::submit;
use crate::submit::SubmitOptions;
use crate::wait::SubscribedWait;

pub(super) fn run(args: &Args, from: &FileArg, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[Format::Jid, Format::Raw])?;
    let mut source = session.input();
    let data = args.read_data(&mut source)?;
    // Claim stdin for the jobs, unless its lines were read before, to divide them among the members of the context.
    if *from == FileArg::Stream && session.input_sharing_member_count().is_none() {
        source.claim_stdin_for("jobs")?;
    }
    let defaults = args.line_defaults(data);
    let order = SubmitOptions {
        from: from.clone(),
        defaults,
        throttles: args.coordinated.throttles.clone(),
        policy: PutPolicy {
            replace: args.replace,
            allow_missing: args.allow_missing,
            tell_lanes: true,
            dry_run: args.dry_run,
        },
        existing: args.existing,
        if_absent: args.if_absent || args.jid_from.is_some(),
        batch: args.batch,
        rate: args.rate,
        fail_fast: args.fail_fast,
        record: args.record_file(),
        replicas: args.replicas.wait_replicas,
        keep_jids: args.wait.is_some() && !args.dry_run,
    };
    let submitted = submit::submit_file(&order, session)?;
    if !submitted.jids.is_empty()
        && let Some(options) = args.wait_options(session.now())
    {
        let waiter = SubscribedWait::subscribe_and_handle_signals(options, session)?;
        super::wait_for_jobs(waiter, submitted.jids, session)?;
    }
    Ok(submitted.exit)
}
