//! Replaces `{jid}`, `{queue}`, `{klass}` and `{data.PATH}` in the arguments of a command by the values of a job. No
//! shell is involved, so an argument stays one argument.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use crate::error::Error;
use crate::json::Json;
use crate::json::path::JsonPath;
use crate::model::popped_job::PoppedJob;
use crate::name::{Name, lossless_text};
use crate::text::Sanitized;
use crate::work::machine::event::StartFailure;

/// The longest argument or variable that Linux passes, in bytes, without its NUL.
pub(super) const LONGEST: usize = 128 * 1024 - 1;

/// The arguments of a command, parsed once.
#[derive(Clone, Debug)]
pub struct ArgTemplate {
    arguments: Vec<ParsedArgument>,
    allows_dash: bool,
}

#[derive(Clone, Debug)]
struct ParsedArgument {
    parts: Vec<ArgPart>,
    /// Whether an argument before this one is `--`.
    is_after_dashes: bool,
}

#[derive(Clone, Debug)]
enum ArgPart {
    Text(Vec<u8>),
    Placeholder {
        input: Vec<u8>,
        field: JobPlaceholder,
    },
}

#[derive(Clone, Debug)]
enum JobPlaceholder {
    Jid,
    Queue,
    Klass,
    Data(JsonPath),
}

impl ArgTemplate {
    /// Parses the placeholders in arguments. Braces around anything else are text. `allows_dash`: whether an argument
    /// that begins with a placeholder may get a value that begins with `-`, as an option does.
    pub fn parse<A: AsRef<OsStr>>(
        arguments: impl IntoIterator<Item = A>,
        allows_dash: bool,
    ) -> Result<ArgTemplate, Error> {
        let mut parsed = Vec::new();
        let mut is_after_dashes = false;
        for argument in arguments {
            let bytes = argument.as_ref().as_bytes();
            parsed.push(ParsedArgument {
                parts: split_placeholders(bytes)?,
                is_after_dashes,
            });
            is_after_dashes |= bytes == b"--";
        }
        Ok(ArgTemplate {
            arguments: parsed,
            allows_dash,
        })
    }

    pub fn has_placeholders(&self) -> bool {
        let mut parts = self.arguments.iter().flat_map(|argument| &argument.parts);
        parts.any(|part| matches!(part, ArgPart::Placeholder { .. }))
    }

    pub fn fill_arguments(&self, job: &PoppedJob) -> Result<Vec<OsString>, StartFailure> {
        self.arguments
            .iter()
            .map(|argument| self.fill_argument(argument, job))
            .collect()
    }

    fn fill_argument(
        &self,
        argument: &ParsedArgument,
        job: &PoppedJob,
    ) -> Result<OsString, StartFailure> {
        let mut filled = Vec::new();
        for part in &argument.parts {
            let (input, field) = match part {
                ArgPart::Text(text) => {
                    filled.extend_from_slice(text);
                    continue;
                }
                ArgPart::Placeholder { input, field } => (Sanitized(input), field),
            };
            let value = field.field_value(job).ok_or_else(|| {
                StartFailure::Job(format!(
                    "`{input}` cannot be replaced: the job's data has no such value"
                ))
            })?;
            if value.contains(&0) {
                return Err(StartFailure::Job(format!(
                    "`{input}` cannot be an argument: it holds NUL"
                )));
            }
            filled.extend_from_slice(&value);
            if filled.len() > LONGEST {
                return Err(StartFailure::Job(format!(
                    "`{input}` cannot be an argument: it would be longer than 128 KiB"
                )));
            }
        }
        if let Some(ArgPart::Placeholder { input, .. }) = argument.parts.first()
            && filled.starts_with(b"-")
            && !argument.is_after_dashes
            && !self.allows_dash
        {
            let input = Sanitized(input);
            return Err(StartFailure::Job(format!(
                "`{input}` cannot be an argument: it begins with `-`, as an option does, and there is \
                 no `--` before it"
            )));
        }
        Ok(OsString::from_vec(filled))
    }
}

impl JobPlaceholder {
    /// The value in a job: a string without its quotes, another value as it is written.
    fn field_value(&self, job: &PoppedJob) -> Option<Vec<u8>> {
        let name = match self {
            JobPlaceholder::Jid => &job.jid,
            JobPlaceholder::Queue => &job.queue,
            JobPlaceholder::Klass => &job.klass,
            JobPlaceholder::Data(path) => {
                let text = lossless_text(&job.data);
                let value = path.find_value(&text)?;
                let name = match Json::from(value).text() {
                    Some(name) => name,
                    None => Name::from_lossless_text(value.get()),
                };
                return Some(name.into_bytes());
            }
        };
        Some(name.as_bytes().to_vec())
    }
}

fn split_placeholders(argument: &[u8]) -> Result<Vec<ArgPart>, Error> {
    let mut parts = Vec::new();
    let mut text = Vec::new();
    let mut rest = argument;
    while let Some((&first, after)) = rest.split_first() {
        let length = match first {
            b'{' => rest.iter().position(|byte| *byte == b'}'),
            _ => None,
        };
        let input = length.map(|length| &rest[..=length]);
        match input.map(|input| (input, parse_placeholder(input))) {
            Some((input, Some(field))) => {
                if !text.is_empty() {
                    parts.push(ArgPart::Text(std::mem::take(&mut text)));
                }
                parts.push(ArgPart::Placeholder {
                    input: input.to_vec(),
                    field: field?,
                });
                rest = &rest[input.len()..];
            }
            _ => {
                text.push(first);
                rest = after;
            }
        }
    }
    if !text.is_empty() {
        parts.push(ArgPart::Text(text));
    }
    Ok(parts)
}

/// The placeholder that a text in braces names, if it is one.
fn parse_placeholder(input: &[u8]) -> Option<Result<JobPlaceholder, Error>> {
    let inside = input.strip_prefix(b"{")?.strip_suffix(b"}")?;
    Some(Ok(match inside {
        b"jid" => JobPlaceholder::Jid,
        b"queue" => JobPlaceholder::Queue,
        b"klass" => JobPlaceholder::Klass,
        _ => {
            let path = inside.strip_prefix(b"data.")?;
            match JsonPath::parse(path) {
                Ok(path) => JobPlaceholder::Data(path),
                Err(expects) => {
                    let input = Sanitized(input);
                    return Some(Err(Error::usage(format!(
                        "`{input}` expects {expects} after `data.`"
                    ))));
                }
            }
        }
    }))
}
