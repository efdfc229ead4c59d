//! An error reply of the server, and the parts of its text: code, message, script line, and an error that it wraps.

/// An error reply of the server. The first word is the code, such as `OOM`; the rest is the message.
#[derive(Clone, Debug)]
pub(crate) struct ServerError {
    pub code: String,
    pub message: String,
}

/// The codes of errors that the script can catch and raise again. The server sends them if it refuses the script's
/// first write, or, with `ERR`, a command for which the user lacks a right.
const MET_BY_SCRIPTS: [&str; 5] = ["OOM", "READONLY", "MISCONF", "NOREPLICAS", "ERR"];

impl ServerError {
    /// Code and message.
    pub(crate) fn full_text(&self) -> String {
        format!("{} {}", self.code, self.message)
    }

    /// Whether the server refused a command or script because its keys are in different slots or on different servers.
    pub(crate) fn is_cross_slot(&self) -> bool {
        let message = &self.message;
        let codes = ["MOVED", "CROSSSLOT"];
        codes.contains(&self.code.as_str())
            || codes.iter().any(|code| message.contains(code))
            || message.contains("non local key")
            || message.contains("same slot")
    }

    /// The message without the position in the script that the server appends: ` script: <sha>, on @user_script:N.`
    /// (Valkey leaves out the SHA).
    pub(super) fn message_without_position(&self) -> String {
        let end = self
            .message
            .rfind(" script: ")
            .filter(|at| self.message[*at..].contains("on @"));
        self.message[..end.unwrap_or(self.message.len())].to_string()
    }

    /// The original error with its own code, taken out of the texts around it: Redis 6.2 wraps the errors of a script
    /// in `ERR Error running script (call to f_…): @user_script:N: …`. Any other error stays as it is.
    pub(crate) fn innermost_error(&self) -> ServerError {
        // The server puts `ERR` before the code of an error that the script caught and raised again: remove `ERR`.
        let raised_again = MET_BY_SCRIPTS.iter().find_map(|code| {
            let message = self.message.strip_prefix(code)?.strip_prefix(' ')?;
            let (code, message) = (code.to_string(), message.to_owned());
            (self.code == "ERR").then_some(ServerError { code, message })
        });
        if let Some(raised_again) = raised_again {
            return raised_again;
        }
        // If a script names no keys, a cluster that is down refuses only its first command, and with the code `ERR`.
        if self.code == "ERR" && self.message.contains("while the cluster is down") {
            let (code, message) = ("CLUSTERDOWN".to_owned(), self.message.clone());
            return ServerError { code, message };
        }
        let wrapped = self.message.split_once("Error running script (call to f_");
        let Some((file, line, mut rest)) =
            wrapped.and_then(|(_, rest)| split_file_line_and_text(rest.split_once("): ")?.1))
        else {
            return self.clone();
        };
        // If the server refused a command of the script, a second position follows: `@user_script: 69: -OOM …`.
        // Remove that as well.
        while let Some((_, _, inner)) = split_file_line_and_text(rest) {
            rest = inner;
        }
        let first = rest.trim_start_matches('-');
        let code = first.split(' ').next().unwrap_or_default();
        let is_code = code.len() > 2 && code.bytes().all(|byte| byte.is_ascii_uppercase());
        if is_code {
            ServerError {
                code: code.to_string(),
                message: first[code.len()..].trim_start().to_string(),
            }
        } else if rest.starts_with("user_script:") || rest.starts_with("lua/") {
            ServerError {
                code: "ERR".into(),
                message: rest.to_string(),
            }
        } else {
            ServerError {
                code: "ERR".into(),
                message: format!("{rest} script: 0, on @{file}:{line}."),
            }
        }
    }

    /// The number of the script line that raised this error, and the raised text; `None` if no script line raised it.
    pub(super) fn raised_line_and_text(&self) -> Option<(usize, &str)> {
        let rest = self.message.strip_prefix("user_script:")?;
        let (line, text) = rest.split_once(':')?;
        let end = text
            .rfind(" script: ")
            .filter(|at| text[*at..].contains("on @user_script:"));
        Some((
            line.parse().ok()?,
            text[..end.unwrap_or(text.len())].trim_start(),
        ))
    }
}

/// The file, the line number and the text of `@user_script:69: text`. If the script compiled the function on demand,
/// the file is its own: `@lua/check/repair/apply.lua: 42: text`.
fn split_file_line_and_text(text: &str) -> Option<(&str, &str, &str)> {
    let (file, rest) = text.strip_prefix('@')?.split_once(':')?;
    let (line, rest) = rest.split_once(':')?;
    let is_script = file == "user_script" || file.starts_with("lua/");
    is_script.then_some((file, line.trim(), rest.trim_start()))
}

/// The number of the script line that the server appended to an error message: `on @user_script:N`.
pub(super) fn appended_line_number(message: &str) -> Option<usize> {
    let line = message.split("on @user_script:").nth(1)?;
    let line: String = line.chars().take_while(char::is_ascii_digit).collect();
    line.parse().ok()
}

/// The text between the first two single quotes of a message, such as the name of a forbidden command.
pub(super) fn first_quoted(message: &str) -> Option<&str> {
    message.split('\'').nth(1)
}
