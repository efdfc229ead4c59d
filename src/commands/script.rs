//! `qless script`

use crate::core::script::Script;
use crate::cx::Cx;
use crate::error::Error;
use crate::exit::Exit;

/// Print the Lua core, for clients of other languages to load
///
/// Exactly the bytes that this binary loads: their SHA-1 is what `EVALSHA` takes, and what `qless
/// version` prints. A client that loads it in place of its bundled core runs on Redis 6.2 and
/// later. `--lib` prints the library form instead, which plugins put before a script of their own.
/// `--prefix` writes another prefix into it. It needs no server.
///
/// Examples: `qless script > qless.lua`, `redis-cli -x script load < qless.lua`
///
/// Exit codes: 0.
///
/// See also: `qless version`
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print the library form: no commands, but the names that plugins use
    #[arg(long)]
    lib: bool,
}

pub fn run(args: Args, cx: &mut Cx) -> Result<Exit, Error> {
    cx.out.accepts(&[])?;
    let script = match args.lib {
        true => Script::library(cx.prefix()),
        false => Script::new(cx.prefix()),
    };
    cx.out.text(script.text())?;
    Ok(Exit::Ok)
}
