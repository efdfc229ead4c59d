//! `qless recur rm`

use super::gone;
use crate::cli::shared::DryRun;
use crate::cli::{Format, value};
use crate::cx::Cx;
use crate::error::Error;
use crate::exit::Exit;
use crate::input::jids;
use crate::input::source::Source;
use crate::model::done::Done;
use crate::model::name::Name;
use crate::view::text::{clean, plural};

/// Remove recurring jobs
///
/// The jobs that they put already stay.
///
/// Example: `qless recur rm nightly`
///
/// Exit codes: 0, 4 no such recurring job, 6 server, 9 not confirmed (two or more).
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The recurring jobs; `-` reads their jids from stdin, `@FILE` from a file
    #[arg(value_name = "JID", required = true, value_parser = value::jids(),
          add = value::Candidates::Jids(value::Jobs::Recurring))]
    jids: Vec<Name>,
    #[command(flatten)]
    dry: DryRun,
}

pub fn run(args: Args, cx: &mut Cx) -> Result<Exit, Error> {
    cx.out.accepts(&[Format::Raw])?;
    let told = jids::read(&mut Source::default(), &args.jids)?;
    let jids = told.jids().to_vec();
    let now = cx.begin()?;
    let found = cx.core()?.recurs(now, &jids)?;
    for (jid, found) in jids.iter().zip(found) {
        if found.is_none() {
            return Err(gone(jid));
        }
    }
    let names: Vec<String> = jids.iter().map(clean).collect();
    let dry = args.dry.dry_run;
    if dry {
        cx.out.would(&format!("would remove {}", names.join(", ")));
    } else {
        let count = jids.len() as u64;
        let what = format!(
            "remove {}{}",
            plural(count, "recurring job", "recurring jobs"),
            cx.on()?
        );
        let consent = match count {
            0 | 1 => cx.out.named(),
            _ => cx
                .out
                .confirm(&what, |_| format!("  {}\n", names.join(", ")))?,
        };
        for jid in &jids {
            cx.core()?.unrecur(now, jid, consent)?;
        }
        cx.out
            .note_on_terminal(&format!("removed {}", names.join(", ")));
    }
    if cx.out.format() == Format::Raw && !dry {
        // What the core answers, to each.
        cx.out.text(&"1\n".repeat(jids.len()))?;
    }
    cx.out.show(&Done::new("recur rm", jids, dry))?;
    Ok(Exit::Ok)
}
