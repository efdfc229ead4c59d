//! `qless defaults`

use std::slice;

use super::{HelpGroup, Spec, is_list_or_ls};
use crate::args::input_arg::ValueFileOrStdinArg;
use crate::args::shared::DryRunFlag;
use crate::args::value;
use crate::bulk::new_queues::note_misspelled_queues;
use crate::error::Error;
use crate::exit::Exit;
use crate::input::data;
use crate::input::option::validate_queue_defaults;
use crate::input::source::ByteLimit;
use crate::json::Json;
use crate::model::defaults::QueueDefaults;
use crate::model::list::List;
use crate::name::Name;
use crate::session::Session;
use crate::session::consent::AskWhen;

/// Show or set the options for puts into a queue that do not give them
///
/// The options are those of `put`: `throttles`, `lock`, `key`, `dup`, `until`, `ttl`, `score`,
/// `rescore`, `hold`, `backoff`, `retries` and `priority`; and `"order":"due"`, with which jobs that
/// become due stand in the queue by their due time. They hold for all clients. In `lock`, `key` and
/// `throttles`, `{klass}`, `{queue}`, `{data}` and `{data.a.b}` stand for parts of the job; if the job
/// has no such part, the option is not applied.
///
/// `"throttles":["cust:{data.c}=3"]` gives a throttle the maximum 3 when a job gets it by these
/// defaults and it has none yet, for each `cust:…` on its own. `qless throttle set` changes it later, and
/// wins over the defaults. The text after the last `=` is the maximum; an id that has a `=` itself ends in
/// one more (`a=b=`).
///
/// An option of the put wins over these, and so does an option that an existing job has. Jobs that are
/// in the queue already get `lock`, `throttles` and `backoff` when they are popped; a key cannot be
/// added late.
///
/// Without a queue, or with `list` or `ls`, it lists the defaults of all queues.
///
/// Examples: `qless defaults list` · `qless defaults mail` · `qless defaults hi '{"lock":"*"}'`
/// · `qless defaults orders '{"key":"{data.customer}","backoff":"exp:30s:2:1h"}'`
/// · `qless defaults api '{"throttles":["cust:{data.c}=3"]}'` · `qless defaults hi --unset`
///
/// Exit codes: 0, 2 wrong options, 6 server, 9 not confirmed.
///
/// See also: `qless put --help`, `qless config`
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// Queue; `list` for all that have defaults
    #[arg(value_parser = value::new_name(), add = value::CompletionKind::Queues)]
    queue: Option<Name>,
    /// Options: a JSON object, `@FILE`, or `-` for stdin
    #[arg(value_name = "JSON", conflicts_with = "unset")]
    options: Option<ValueFileOrStdinArg>,
    /// Remove all defaults of the queue
    #[arg(long, requires = "queue")]
    unset: bool,
    #[command(flatten)]
    dry: DryRunFlag,
}

impl Args {
    fn writes(&self) -> bool {
        self.unset || self.options.is_some()
    }
}

pub(crate) const SPEC: Spec<Args> = Spec::writes_if(HelpGroup::Operate, Args::writes, run);

/// The option with the defaults of a queue is named after the queue, with this suffix.
const SUFFIX: &[u8] = b"-defaults";

/// Maximum number of bytes of the options.
const MAX_OPTIONS_BYTES: ByteLimit = ByteLimit::fixed(1 << 16);

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[])?;
    let queue = match &args.queue {
        None => return list_queue_defaults(session),
        Some(word) if is_list_or_ls(word) && !args.writes() => return list_queue_defaults(session),
        Some(queue) => queue,
    };
    let wanted = match &args.options {
        Some(given) => {
            let (text, _) = data::read_json_data(&mut session.input(), given, MAX_OPTIONS_BYTES)?;
            Some(validate_queue_defaults(&text)?)
        }
        None => None,
    };
    let now = session.connect()?;
    let key = Name::from([queue.as_bytes(), SUFFIX].concat());
    let mut options = session.core()?.config(now)?.into_iter();
    let stored = options.find(|option| option.set && option.key == key);
    let stored = stored.map(|option| option.value);
    let dry_run = args.dry.dry_run;
    let mut shown = QueueDefaults {
        queue: queue.clone(),
        defaults: stored
            .as_ref()
            .and_then(|text| Json::parse(text.as_bytes())),
        dry_run: false,
    };
    if !args.writes() {
        session.ui.show(&shown)?;
        match &stored {
            None => session
                .ui
                .note_to_people(&format!("queue {queue} has no defaults")),
            Some(stored) => warn_of_unusable_defaults(stored, queue, session),
        }
        return Ok(Exit::Ok);
    }
    let what = match (&wanted, &stored) {
        (Some(wanted), _) => format!("set the defaults of queue {queue} to {wanted}"),
        (None, _) => format!("unset the defaults of queue {queue}"),
    };
    if wanted.is_some() {
        note_misspelled_queues(slice::from_ref(queue), dry_run, now, session)?;
    }
    let before = |_: &_| match &stored {
        Some(stored) => format!("  they are {stored}\n"),
        None => String::new(),
    };
    let asks = match &wanted {
        Some(_) => AskWhen::IfProtected,
        None => AskWhen::Always,
    };
    if let Some(consent) = session.ask_unless_dry_run(args.dry, asks, &what, before)? {
        let core = session.core()?;
        match &wanted {
            Some(wanted) => core.set_config(now, &key, wanted)?,
            None => core.unset_config(now, &key, consent)?,
        }
        session.ui.note_to_people(&what);
    }
    shown.defaults = wanted.and_then(|wanted| Json::parse(wanted.as_bytes()));
    shown.dry_run = dry_run;
    session.ui.show_and_exit_ok(&shown)
}

/// Lists the default job options of each queue that has some.
fn list_queue_defaults(session: &mut Session) -> Result<Exit, Error> {
    session.ui.check_columns::<List<QueueDefaults>>()?;
    let now = session.connect()?;
    let options = session.core()?.config(now)?.into_iter();
    let defaults = options.filter(|option| option.set).filter_map(|option| {
        let queue = option.key.as_bytes().strip_suffix(SUFFIX)?;
        Some(QueueDefaults {
            queue: Name::from(queue),
            defaults: Json::parse(option.value.as_bytes()),
            dry_run: false,
        })
    });
    let defaults: Vec<QueueDefaults> = defaults.collect();
    let none = defaults.is_empty();
    session.ui.show(&List::of_all(defaults))?;
    if none {
        session.ui.note_to_people("no queue has defaults");
    }
    Ok(Exit::Ok)
}

/// Warns if the core cannot use all stored defaults of a queue, as another program may have written them.
fn warn_of_unusable_defaults(stored: &Name, queue: &Name, session: &mut Session) {
    let Err(error) = validate_queue_defaults(stored.as_bytes()) else {
        return;
    };
    let object = Json::parse(stored.as_bytes()).and_then(|stored| stored.object());
    session.ui.warn(&match object {
        Some(_) => format!(
            "not all defaults of queue {queue} can be used: {}",
            error.message()
        ),
        None => format!("the defaults of queue {queue} are no JSON object and ignored: {stored}"),
    });
}
