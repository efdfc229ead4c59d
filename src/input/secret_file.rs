//! Files whose first line is a secret, such as a password.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use crate::address::secret::Secret;
use crate::error::{Error, Kind, io_message_without_errno};
use crate::fs::{open, trust};
use crate::text::Sanitized;

/// Maximum length of the first line, in bytes.
const LONGEST_LINE: u64 = 64 * 1024;

/// Reads the first line of a file, which must not be empty. `what` names the kind of file, such as
/// `password file`. `warn` gets a warning if other users may read the file.
///
/// It does not matter who may write the file: a wrong secret only makes a login fail.
pub(crate) fn read_secret_in_first_line(
    what: &str,
    path: &Path,
    warn: impl FnOnce(&str),
) -> Result<Secret, Error> {
    let shown = Sanitized(path.as_os_str().as_encoded_bytes());
    let unreadable = format!("cannot read {what} `{shown}`");
    let failed = |fault: io::Error| {
        Error::usage(format!(
            "{unreadable}: {}",
            io_message_without_errno(&fault)
        ))
    };
    let file = open::open_to_read_unless_pipe(path)
        .map_err(|why| why.into_error(&unreadable, Kind::Usage))?;
    if trust::is_readable_by_others(&file.metadata().map_err(failed)?) {
        warn(&format!("other users may read the {what} `{shown}`"));
    }
    let secret = read_first_line(&mut BufReader::new(file)).map_err(failed)?;
    refuse_empty_secret(what, path, secret)
}

pub(crate) fn refuse_empty_secret(
    what: &str,
    path: &Path,
    secret: Secret,
) -> Result<Secret, Error> {
    if secret.is_empty() {
        let shown = Sanitized(path.as_os_str().as_encoded_bytes());
        let message = format!("the first line of {what} `{shown}` is empty");
        return Err(Error::usage(message));
    }
    Ok(secret)
}

/// The first line without its end.
pub(crate) fn read_first_line(from: &mut impl BufRead) -> io::Result<Secret> {
    let mut line = Vec::new();
    from.take(LONGEST_LINE).read_until(b'\n', &mut line)?;
    for end in [b'\n', b'\r'] {
        if line.last() == Some(&end) {
            line.pop();
        }
    }
    Ok(Secret::new(line))
}
