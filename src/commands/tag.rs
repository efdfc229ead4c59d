//! `qless tag`

use crate::cli::Format;
use crate::core::call::Call;
use crate::cx::Cx;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::list::List;
use crate::model::tag::Tag;

/// Show the most used tags
///
/// With the number of jobs that carry each; the jobs themselves: `qless jobs --tag T`.
///
/// Example: `qless tag --limit 10`
///
/// Exit codes: 0, also if there are none; 6 server.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The first N of them
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Without the first N of them
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    offset: u64,
}

pub fn run(args: Args, cx: &mut Cx) -> Result<Exit, Error> {
    list(args.offset, args.limit, cx)
}

/// Lists the tags, most used first.
fn list(offset: u64, limit: Option<u64>, cx: &mut Cx) -> Result<Exit, Error> {
    cx.out.accepts(&[Format::Raw])?;
    cx.out.shows::<List<Tag>>()?;
    let now = cx.begin()?;
    let (core, out) = cx.parts()?;
    if out.format() == Format::Raw {
        let limit = limit.unwrap_or(25).to_string();
        let text = core.raw(
            now,
            &Call::new("tag")
                .arg("top")
                .arg(offset.to_string())
                .arg(limit),
        )?;
        out.verbatim(&text)?;
        return Ok(Exit::Ok);
    }
    let mut tags = List::whole(core.tags(now)?);
    let total = tags.items.len();
    tags.page(offset, limit.or(out.rows()));
    out.show(&tags)?;
    if total == 0 {
        out.note_on_terminal("no tags");
    }
    Ok(Exit::Ok)
}
