//! Where the password of the server comes from, in this order: `--password-file`, `--askpass`,
//! QLESS_REDIS_PASSWORD, REDISCLI_AUTH, the address. No flag takes one.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, IsTerminal, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::cli::{Globals, env};
use crate::core::secret::Secret;
use crate::core::url::Target;
use crate::error::{Error, io_words};
use crate::out::Out;
use crate::view::text;

/// As long as the first line of a password file may be.
const LONGEST: u64 = 64 * 1024;

/// Puts the password in its place.
pub fn fill(target: &mut Target, globals: &Globals, out: &mut Out) -> Result<(), Error> {
    if globals.redis_typed && target.password.is_some() && io::stderr().is_terminal() {
        out.warn("others can see a password in `--redis` in the list of processes");
    }
    if let Some(given) = find(globals, target, out)? {
        target.password = Some(given);
    }
    Ok(())
}

fn find(globals: &Globals, target: &Target, out: &mut Out) -> Result<Option<Secret>, Error> {
    if let Some(path) = &globals.password_file {
        return from_file(path, out).map(Some);
    }
    if globals.askpass {
        let password = out.password(&format!("Password for {target}"))?;
        return Ok(Some(Secret::new(password.into_bytes())));
    }
    let variables = ["QLESS_REDIS_PASSWORD", "REDISCLI_AUTH"];
    let found = variables.into_iter().find_map(env::var);
    Ok(found.map(|password| Secret::new(password.into_vec())))
}

/// Reads the first line of a file, `-` being stdin.
fn from_file(path: &OsStr, out: &mut Out) -> Result<Secret, Error> {
    let shown = text::clean(path.as_bytes());
    let unreadable = |error: io::Error| {
        Error::usage(format!(
            "cannot read password file `{shown}`: {}",
            io_words(&error)
        ))
    };
    let password = if path == "-" {
        if io::stdin().is_terminal() {
            return Err(
                Error::usage("`--password-file -` reads stdin, but that is a terminal")
                    .hint("`--askpass` prompts for it"),
            );
        }
        first_line(&mut io::stdin().lock())
    } else {
        let file = std::fs::File::open(Path::new(path)).map_err(unreadable)?;
        let found = file.metadata().map_err(unreadable)?;
        if found.is_file() && found.mode() & 0o077 != 0 {
            out.warn(&format!("others may read the password file `{shown}`"));
        }
        first_line(&mut BufReader::new(file))
    }
    .map_err(unreadable)?;
    match password.is_empty() {
        true => Err(Error::usage(format!(
            "the first line of password file `{shown}` is empty"
        ))),
        false => Ok(password),
    }
}

fn first_line(from: &mut impl BufRead) -> io::Result<Secret> {
    let mut line = Vec::new();
    from.take(LONGEST).read_until(b'\n', &mut line)?;
    for end in [b'\n', b'\r'] {
        if line.last() == Some(&end) {
            line.pop();
        }
    }
    Ok(Secret::new(line))
}
