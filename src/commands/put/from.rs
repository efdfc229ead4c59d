//! `qless put --from`: one job per line of a file.

use std::borrow::Cow;

use super::Args;
use crate::args::format::Format;
use crate::args::input_arg::FileArg;
use crate::core::api::put::Policy;
use crate::error::Error;
use crate::exit::Exit;
use crate::input::line::{Dependency, NewJob, NewName};
use crate::name::Name;
use crate::session::Session;
use crate::submit;
use crate::submit::SubmitOptions;
use crate::submit::job_spec::JobDefaults;
use crate::wait::Waiter;

pub(super) fn run(args: &Args, from: &FileArg, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[Format::Jid, Format::Raw])?;
    let mut source = session.input();
    let data = args.data(&mut source)?;
    if *from == FileArg::Stream {
        source.claim("jobs")?;
    }
    let bytes = |name: &Name| Cow::Owned(name.as_bytes().to_vec());
    let number = |number: String| Cow::Owned(number.into_bytes());
    let tags = args.tags.iter().map(bytes).map(NewName).collect();
    let depends = args.depends.iter().map(bytes).map(Dependency).collect();
    let job = NewJob {
        queue: args.queue.as_ref().map(bytes).map(NewName),
        klass: args.klass.as_ref().map(bytes).map(NewName),
        data: Some(Cow::Owned(data)),
        delay: args.later.delay,
        at: args.later.at.clone(),
        priority: args.priority.map(|priority| number(priority.to_string())),
        retries: args.retries.map(|retries| number(retries.to_string())),
        tags: (!args.tags.is_empty()).then_some(tags),
        depends: (!args.depends.is_empty()).then_some(depends),
        coordination: args.lane.options(&args.coordinated),
        ..NewJob::default()
    };
    let plan = JobDefaults {
        job,
        jids: args.jid_from.clone().unwrap_or_default(),
        max_data: args.limit.max_data,
    };
    let order = SubmitOptions {
        from: from.clone(),
        defaults: plan,
        throttles: args.coordinated.throttles.clone(),
        policy: Policy {
            replace: args.replace,
            allow_missing: args.allow_missing,
            tell_lanes: true,
        },
        existing: args.existing,
        if_absent: args.if_absent || args.jid_from.is_some(),
        batch: args.batch,
        rate: args.rate,
        fail_fast: args.fail_fast,
        journal: args.journal.clone(),
        dry_run: args.dry_run,
        replicas: args.replicas.wait_replicas,
        keep_jids: args.wait.is_some() && !args.dry_run,
    };
    let submitted = submit::run(&order, session)?;
    if !submitted.jids.is_empty()
        && let Some(options) = args.wait_options(session.now())
    {
        let waiter = Waiter::open(options, session)?;
        super::wait_for(waiter, submitted.jids, session)?;
    }
    Ok(submitted.exit)
}
