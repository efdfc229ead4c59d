//! `qless version`

use crate::core::script::Script;
use crate::cx::Cx;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::version::Version;

/// Print the version of the binary, its commit and the name of its core
///
/// The core is named by the SHA-1 of its script, as `EVALSHA` uses it.
///
/// Example: `qless version -o json`
///
/// Exit codes: 0.
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_: Args, cx: &mut Cx) -> Result<Exit, Error> {
    cx.out.accepts(&[])?;
    let version = Version {
        version: env!("CARGO_PKG_VERSION"),
        commit: option_env!("QLESS_COMMIT").filter(|commit| !commit.is_empty()),
        core: Script::new(cx.prefix()).sha().to_string(),
    };
    cx.out.show(&version)?;
    Ok(Exit::Ok)
}
