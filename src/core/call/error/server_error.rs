//! An error as the server sent it, and its parts.

/// An error of the server: its code, and the message after it.
#[derive(Clone, Debug)]
pub(crate) struct ServerError {
    pub code: String,
    pub message: String,
}

/// The codes of errors that a script can catch and raise again: the ones of its first write, and `ERR` for a missing
/// right.
const MET_BY_SCRIPTS: [&str; 5] = ["OOM", "READONLY", "MISCONF", "NOREPLICAS", "ERR"];

impl ServerError {
    /// Code and message.
    pub(crate) fn full_text(&self) -> String {
        format!("{} {}", self.code, self.message)
    }

    /// Whether two keys of a call are on different servers.
    pub(crate) fn is_cross_slot(&self) -> bool {
        let message = &self.message;
        let codes = ["MOVED", "CROSSSLOT"];
        codes.contains(&self.code.as_str())
            || codes.iter().any(|code| message.contains(code))
            || message.contains("non local key")
            || message.contains("same slot")
    }

    /// The message without ` script: <sha>, on @user_script:N.`, which Valkey writes without the SHA.
    pub(super) fn without_position(&self) -> String {
        let end = self
            .message
            .rfind(" script: ")
            .filter(|at| self.message[*at..].contains("on @"));
        self.message[..end.unwrap_or(self.message.len())].to_string()
    }

    /// The error inside `ERR Error running script (call to f_…): @user_script:N: …`, as
    /// Redis 6.2 wraps it.
    pub(crate) fn innermost_error(&self) -> ServerError {
        // An error that the script caught and raised again has `ERR` before its own code: remove it.
        let raised_again = MET_BY_SCRIPTS.iter().find_map(|code| {
            let message = self.message.strip_prefix(code)?.strip_prefix(' ')?;
            let (code, message) = (code.to_string(), message.to_owned());
            (self.code == "ERR").then_some(ServerError { code, message })
        });
        if let Some(raised_again) = raised_again {
            return raised_again;
        }
        // A script that names no keys is refused only at its first command, with the code `ERR`.
        if self.code == "ERR" && self.message.contains("while the cluster is down") {
            let (code, message) = ("CLUSTERDOWN".to_owned(), self.message.clone());
            return ServerError { code, message };
        }
        let wrapped = self.message.split_once("Error running script (call to f_");
        let Some((file, line, mut rest)) =
            wrapped.and_then(|(_, rest)| split_position(rest.split_once("): ")?.1))
        else {
            return self.clone();
        };
        // The error of a command in the script has a second position, which is removed too: `@user_script: 69: -OOM
        // …`.
        while let Some((_, _, inner)) = split_position(rest) {
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

    /// The line of the script that raised the error, and its text.
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

/// The file, the line and the text of `@user_script:69: text`. A function that is compiled on demand has a file of
/// its own: `@lua/check/repair/apply.lua: 42: text`.
fn split_position(text: &str) -> Option<(&str, &str, &str)> {
    let (file, rest) = text.strip_prefix('@')?.split_once(':')?;
    let (line, rest) = rest.split_once(':')?;
    let is_script = file == "user_script" || file.starts_with("lua/");
    is_script.then_some((file, line.trim(), rest.trim_start()))
}

/// The last line of the script that a message names.
pub(super) fn last_script_line(message: &str) -> Option<usize> {
    let line = message.split("on @user_script:").nth(1)?;
    let line: String = line.chars().take_while(char::is_ascii_digit).collect();
    line.parse().ok()
}

/// The text between the first pair of quotes.
pub(super) fn first_quoted(message: &str) -> Option<&str> {
    message.split('\'').nth(1)
}
