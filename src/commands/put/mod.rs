//! `qless put`

use std::ffi::OsString;
use std::path::PathBuf;

use super::{Group, Spec};
use crate::args::shared::{BULK, Later, MaxData, Replicas};
use crate::args::value;
use crate::error::Error;
use crate::exit::Exit;
use crate::input::data;
use crate::input::source::InputSource;
use crate::model::jid_source::JidSource;
use crate::model::rate::Rate;
use crate::name::Name;
use crate::session::Session;

mod from;
mod one;

/// Put a job into a queue, or many from a file
///
/// Prints the jid and nothing else. The data are JSON text, `@FILE`, `-` for stdin, or built from
/// pairs: `--arg user:=42 --arg locale=de`; they are `{}` where nothing is said.
///
/// `--from` puts a job for each line of a file, a JSON object with the members `queue klass data
/// jid delay at priority tags retries depends`; what a line does not say comes from the command
/// line. All lines are checked before the first is sent. Lines may wait for jobs of other lines
/// by jid, in any order. `delay` is a duration or seconds, `at` a time as `--at` takes it or
/// seconds since the epoch.
///
/// `--jid-from PATH` takes jids from a text or number in the data, `--jid-from content` makes them
/// of all that the job is: the first 32 hexadecimal digits of SHA-256 over queue, klass and data,
/// each preceded by its length in bytes and a colon (`4:mail13:Mail::Welcome2:{}`); lines that
/// are alike are one job. Both leave a job that is there already as it is, so the same command can
/// be run again. So it can with `--journal FILE`, which notes each line before it is sent and when
/// it is done, and skips those that are done even if their jobs have long expired.
///
/// Jobs of one priority are popped in the order of their lines where they get new jids; where jids
/// are told or derived, `--batch 1` keeps that order, else it is lost among the jobs of a call.
///
/// Memory stays small however long the file is: a few slices, and a dozen or two bytes for each
/// jid that is told or derived. Only where a line waits for a later one, more is kept of each.
///
/// Example: `jid=$(qless put mail Mail::Welcome --arg user:=42 --delay 10m --tag onboarding)`
///
/// Example: `qless put reports Nightly --jid "nightly-$(date +%F)" --if-absent`
///
/// Example: `jq -c '{queue:"img",klass:"Thumb",data:.}' photos.json | qless put --from - --jid-from sha --rate 500/s`
///
/// Exit codes: 0, 2 usage, 3 some lines failed, 4 a dependency does not exist, 5 the jid exists
/// already or the dependencies form a cycle, 6 server, 130 interrupted.
#[derive(Clone, Debug, clap::Args)]
#[command(override_usage = "qless put [OPTIONS] QUEUE KLASS [DATA] | [QUEUE [KLASS]] --from FILE")]
pub(crate) struct Args {
    /// The queue
    #[arg(value_parser = value::new_name(), required_unless_present = "from",
          add = value::Candidates::Queues)]
    queue: Option<Name>,
    /// The kind of work
    #[arg(value_parser = value::new_name(), required_unless_present = "from")]
    klass: Option<Name>,
    /// The data: JSON, `@FILE`, or `-` for stdin
    #[arg(value_name = "DATA", allow_negative_numbers = true)]
    positional: Option<OsString>,
    /// The data: JSON, `@FILE`, or `-` for stdin
    #[arg(long, allow_hyphen_values = true, conflicts_with = "positional")]
    data: Option<OsString>,
    /// A member of the data: `key=text` or `key:=json`; dots in the key nest
    #[arg(long, value_name = "PAIR", conflicts_with_all = ["positional", "data"])]
    arg: Vec<OsString>,
    #[command(flatten)]
    limit: MaxData,
    /// The job's id; a fresh one where nothing is said
    #[arg(long, value_parser = value::new_jid())]
    jid: Option<Name>,
    /// Leave a job of this id as it is
    #[arg(long, conflicts_with = "replace")]
    if_absent: bool,
    /// Put a job of this id again, taking it from a worker if need be
    #[arg(long)]
    replace: bool,
    #[command(flatten)]
    later: Later,
    /// Higher runs first
    #[arg(long, value_name = "N", value_parser = value::integer, allow_hyphen_values = true)]
    priority: Option<i64>,
    /// A tag
    #[arg(long = "tag", value_name = "T", value_parser = value::new_name(),
          add = value::Candidates::Tags)]
    tags: Vec<Name>,
    /// How often it may be tried again
    #[arg(long, value_name = "N", value_parser = value::count, allow_hyphen_values = true)]
    retries: Option<u64>,
    /// A job that must be complete first
    #[arg(long, value_name = "JID", value_parser = value::name(),
          add = value::Candidates::Jids(value::Jobs::Open))]
    depends: Vec<Name>,
    /// Wait only for those dependencies that exist
    #[arg(long)]
    allow_missing: bool,
    /// Where the jids of lines come from: `content`, or a place in the data such as `user.id`
    #[arg(long, value_name = "content|PATH", value_parser = value::jid_from(), requires = "from",
          conflicts_with = "replace")]
    jid_from: Option<JidSource>,
    /// Put a job for each line of this file, a JSON object; `-` is stdin
    #[arg(help_heading = BULK, long, value_name = "FILE", value_parser = value::input(),
          conflicts_with_all = ["positional", "jid"])]
    from: Option<OsString>,
    /// Note each line in this file; the same command with the same file skips those that are done
    #[arg(help_heading = BULK, long, value_name = "FILE", value_parser = value::file(),
          requires = "from")]
    journal: Option<PathBuf>,
    /// As many jobs as one call puts [default: 200]
    #[arg(help_heading = BULK, long, value_name = "N", value_parser = value::batch,
          allow_hyphen_values = true, requires = "from")]
    batch: Option<usize>,
    /// At most so many jobs a second, such as `500/s`
    #[arg(help_heading = BULK, long, value_name = "N/s", value_parser = value::rate,
          allow_hyphen_values = true, requires = "from")]
    rate: Option<Rate>,
    /// Stop at the first line that fails
    #[arg(help_heading = BULK, long, requires = "from")]
    fail_fast: bool,
    #[command(flatten)]
    replicas: Replicas,
    /// Show what would be done, change nothing
    #[arg(help_heading = BULK, short = 'n', long)]
    dry_run: bool,
}

impl Args {
    /// Returns the data of the command line.
    fn data(&self, source: &mut InputSource) -> Result<Vec<u8>, Error> {
        let most = self.limit.max_data;
        match self.positional.as_ref().or(self.data.as_ref()) {
            Some(given) => Ok(data::read(source, given, most)?.0),
            None => data::limited(data::build(&self.arg)?, most),
        }
    }
}

pub(crate) const SPEC: Spec<Args> = Spec::writes(Group::Submit, run);

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    match &args.from {
        Some(from) => from::run(&args, from, session),
        None => one::run(&args, session),
    }
}
