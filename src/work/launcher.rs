//! Starts the command for jobs, and gives it its jobs: in its arguments, in its environment, and as lines on its stdin.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::value::RawValue;

use super::options::{DispatchMode, WorkOptions};
use super::process::{
    self, ANSWER_DESCRIPTOR, Launch, Processes, ProgramDirectory, StartFailure, StdoutMode, sandbox,
};
use crate::clock::moment::Moment;
use crate::error::{Error, Kind};
use crate::json::path::JsonPath;
use crate::json::quote::quote_string;
use crate::json::{Json, write};
use crate::model::work::PoppedJob;
use crate::name::{Name, lossless_text};
use crate::text::Sanitized;

/// Maximum size of a program's output that becomes the data of its job, in bytes.
const MAX_DATA: usize = 16 * 1024 * 1024;

/// The longest argument or variable that Linux passes, in bytes, without its NUL.
const LONGEST: usize = 128 * 1024 - 1;

/// Starts the command.
pub(super) struct Launcher {
    mode: DispatchMode,
    program: OsString,
    arguments: ProgramArgsTemplate,
    directory: ProgramDirectory,
    stdout: StdoutMode,
    worker: Name,
}

impl Launcher {
    /// Parses the command. Refuses a command that cannot be started, before any job is popped.
    pub(super) fn new(options: &WorkOptions) -> Result<Launcher, Error> {
        let (program, arguments) = options
            .command
            .split_first()
            .ok_or_else(|| Error::usage("no command is given"))?;
        let arguments = ProgramArgsTemplate::parse(arguments, options.allow_dash)?;
        let mode = options.mode();
        if mode != DispatchMode::Single && arguments.has_placeholders() {
            return Err(Error::usage(
                "placeholders such as `{jid}` need a process for each job, without `--batch` and `--persistent`",
            ));
        }
        let directory = options.program_directory();
        process::check_program(program, &directory).map_err(|why| {
            Error::new(Kind::Error, why)
                .hint("no job was popped; is the path right, and is the file executable?")
        })?;
        if let ProgramDirectory::Sandbox(directory) = &directory {
            sandbox::prepare_parent(directory)?;
        }
        Ok(Launcher {
            mode,
            program: program.clone(),
            arguments,
            directory,
            stdout: match (options.capture, options.answers.is_some()) {
                (true, _) => StdoutMode::Capture(MAX_DATA),
                (_, true) => StdoutMode::Answers,
                _ => StdoutMode::PassOn,
            },
            worker: Name::default(),
        })
    }

    /// Whether the program and its directory are where they were found at the start of the work.
    pub(super) fn is_program_there(&self) -> bool {
        process::check_program(&self.program, &self.directory).is_ok()
    }

    pub(super) fn with_worker(self, worker: Name) -> Launcher {
        Launcher { worker, ..self }
    }

    /// Starts the command in a slot, for one job or for several. Returns the process id.
    pub(super) fn start_program(
        &self,
        slot: usize,
        jobs: &[PoppedJob],
        processes: &mut Processes,
    ) -> Result<u32, StartFailure> {
        let (args, variables, stdin) = match (self.mode, jobs) {
            (DispatchMode::Single, [job]) => (
                self.arguments.fill_arguments(job)?,
                job_variables(job, &self.worker)?,
                job.data.clone(),
            ),
            _ => {
                let mut lines = Vec::new();
                for job in jobs {
                    let refused = |error: Error| StartFailure::Job(error.message().into_owned());
                    append_job_line(job, &mut lines).map_err(refused)?;
                }
                let args = self.arguments.fill_arguments(&PoppedJob::default())?;
                (args, worker_and_result_fd_variables(&self.worker)?, lines)
            }
        };
        let launch = Launch {
            program: &self.program,
            args,
            variables,
            directory: &self.directory,
            stdin,
            keeps_stdin: matches!(self.mode, DispatchMode::Persistent(_)),
            stdout: self.stdout,
        };
        processes.start(slot, launch)
    }
}

/// The arguments of a command, parsed once: `{jid}`, `{queue}`, `{klass}` and `{data.PATH}` are replaced by the values
/// of a job. No shell is involved, so an argument stays one argument.
#[derive(Clone, Debug)]
pub struct ProgramArgsTemplate {
    arguments: Vec<Vec<ArgPart>>,
    allows_dash: bool,
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

impl ProgramArgsTemplate {
    /// Parses the placeholders in arguments. Braces around anything else are text. `allows_dash`: whether an argument
    /// that begins with a placeholder may get a value that begins with `-`, as an option does.
    pub fn parse<A: AsRef<OsStr>>(
        arguments: impl IntoIterator<Item = A>,
        allows_dash: bool,
    ) -> Result<ProgramArgsTemplate, Error> {
        let arguments = arguments.into_iter();
        let parsed = arguments.map(|argument| split_placeholders(argument.as_ref().as_bytes()));
        Ok(ProgramArgsTemplate {
            arguments: parsed.collect::<Result<_, _>>()?,
            allows_dash,
        })
    }

    pub fn has_placeholders(&self) -> bool {
        let mut parts = self.arguments.iter().flatten();
        parts.any(|part| matches!(part, ArgPart::Placeholder { .. }))
    }

    pub fn fill_arguments(&self, job: &PoppedJob) -> Result<Vec<OsString>, StartFailure> {
        let mut may_begin_with_dash = self.allows_dash;
        let mut filled = Vec::with_capacity(self.arguments.len());
        for parts in &self.arguments {
            let argument = fill_argument(parts, job, may_begin_with_dash)?;
            // After an argument `--`, a program takes no argument for an option.
            may_begin_with_dash |=
                matches!(parts.as_slice(), [ArgPart::Text(text)] if text == b"--");
            filled.push(argument);
        }
        Ok(filled)
    }
}

fn fill_argument(
    parts: &[ArgPart],
    job: &PoppedJob,
    may_begin_with_dash: bool,
) -> Result<OsString, StartFailure> {
    let mut filled = Vec::new();
    for part in parts {
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
    if let Some(ArgPart::Placeholder { input, .. }) = parts.first()
        && filled.starts_with(b"-")
        && !may_begin_with_dash
    {
        let input = Sanitized(input);
        return Err(StartFailure::Job(format!(
            "`{input}` cannot be an argument: it begins with `-`, as an option does, and there is \
                 no `--` before it"
        )));
    }
    Ok(OsString::from_vec(filled))
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
        match input.map(|input| (input, parse_braced_placeholder(input))) {
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
fn parse_braced_placeholder(input: &[u8]) -> Option<Result<JobPlaceholder, Error>> {
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

/// The variables that tell a program about its job. A program never inherits them: `qless` itself may run in a job.
const JOB: [&str; 11] = [
    "QLESS_JID",
    "QLESS_QUEUE",
    "QLESS_KLASS",
    "QLESS_TAGS",
    "QLESS_PRIORITY",
    "QLESS_RETRIES_LEFT",
    "QLESS_ATTEMPT",
    "QLESS_WORKER",
    "QLESS_KEY",
    "QLESS_FENCE",
    "QLESS_RESULT_FD",
];

/// The variables for messages between a service manager and `qless`. The programs that `qless` starts do not get them.
const SERVICE: [&str; 3] = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"];

/// The variables of each program: the name of the worker, and the descriptor for answers.
pub fn worker_and_result_fd_variables(
    worker: &Name,
) -> Result<Vec<(&'static str, OsString)>, StartFailure> {
    let descriptor = OsString::from(ANSWER_DESCRIPTOR.to_string());
    Ok(vec![
        (
            "QLESS_WORKER",
            variable_value("QLESS_WORKER", worker.as_bytes())?,
        ),
        ("QLESS_RESULT_FD", descriptor),
    ])
}

/// The variables of a program that runs one job. `QLESS_TAGS` has one tag per line: a tag may hold blanks and commas,
/// but the core accepts no new tag with a line break.
pub fn job_variables(
    job: &PoppedJob,
    worker: &Name,
) -> Result<Vec<(&'static str, OsString)>, StartFailure> {
    let mut variables = worker_and_result_fd_variables(worker)?;
    let tags: Vec<&[u8]> = job.tags.iter().map(Name::as_bytes).collect();
    let texts = [
        ("QLESS_JID", job.jid.as_bytes()),
        ("QLESS_QUEUE", job.queue.as_bytes()),
        ("QLESS_KLASS", job.klass.as_bytes()),
        ("QLESS_TAGS", &tags.join(&b'\n')),
    ];
    for (name, bytes) in texts {
        variables.push((name, variable_value(name, bytes)?));
    }
    let numbers = [
        ("QLESS_PRIORITY", job.priority),
        ("QLESS_RETRIES_LEFT", job.remaining),
        ("QLESS_ATTEMPT", job.attempt_number()),
    ];
    variables.extend(numbers.map(|(name, number)| (name, number.to_string().into())));
    if let Some(key) = &job.key {
        variables.push(("QLESS_KEY", variable_value("QLESS_KEY", key.as_bytes())?));
    }
    if let Some(fence) = job.fence {
        variables.push(("QLESS_FENCE", fence.to_string().into()));
    }
    Ok(variables)
}

fn variable_value(name: &str, bytes: &[u8]) -> Result<OsString, StartFailure> {
    if bytes.contains(&0) {
        return Err(StartFailure::Job(format!(
            "`{name}` cannot be set: its value holds NUL"
        )));
    }
    if name.len() + 1 + bytes.len() > LONGEST {
        return Err(StartFailure::Job(format!(
            "`{name}` cannot be set: its value is {} bytes long, more than 128 KiB",
            bytes.len()
        )));
    }
    Ok(OsString::from_vec(bytes.to_vec()))
}

/// The variables of `qless` that no program inherits, besides the variables with secrets.
pub(super) fn job_and_service_variables() -> impl Iterator<Item = OsString> {
    JOB.into_iter().chain(SERVICE).map(OsString::from)
}

/// A job as one line of JSON, for programs that receive many.
#[derive(Serialize)]
struct JobLine<'a> {
    jid: &'a Name,
    queue: &'a Name,
    klass: &'a Name,
    /// `null` if the stored data is not JSON. Then `data_bytes` has the data in Base64.
    data: Option<OneLineJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data_bytes: Option<String>,
    tags: &'a Vec<Name>,
    priority: i64,
    attempt: i64,
    retries_left: i64,
    spawned_from: &'a Option<Name>,
    dependencies: &'a Vec<Name>,
    expires: Option<Moment>,
    key: &'a Option<Name>,
    fence: Option<u64>,
    /// Absent unless the job is a merge job.
    payloads: Option<Vec<(Option<OneLineJson<'a>>, &'a RawValue)>>,
}

/// JSON without line breaks.
type OneLineJson<'a> = Cow<'a, RawValue>;

/// The stored JSON with a blank for each line break, which are all between tokens. `None` if the bytes are not JSON.
fn one_line_json_if_valid(stored: &[u8]) -> Result<Option<OneLineJson<'_>>, Error> {
    let text = std::str::from_utf8(stored).ok();
    let value: Option<&RawValue> = text.and_then(|text| serde_json::from_str(text).ok());
    let Some(value) = value else {
        return Ok(None);
    };
    if !value.get().contains(['\n', '\r']) {
        return Ok(Some(Cow::Borrowed(value)));
    }
    let text = value.get().replace(['\n', '\r'], " ");
    let value = RawValue::from_string(text).map_err(Error::internal)?;
    Ok(Some(Cow::Owned(value)))
}

/// Appends the line of a job, with its newline. The data is copied as it is stored, but line breaks
/// between its tokens become blanks.
pub fn append_job_line<'j>(job: &'j PoppedJob, into: &mut Vec<u8>) -> Result<(), Error> {
    let data = one_line_json_if_valid(&job.data)?;
    let payload = |(payload, score): &'j (Vec<u8>, String)| {
        let score: &RawValue = serde_json::from_str(score).map_err(Error::internal)?;
        Ok((one_line_json_if_valid(payload)?, score))
    };
    let payloads = if job.payloads.is_empty() {
        None
    } else {
        Some(
            job.payloads
                .iter()
                .map(payload)
                .collect::<Result<_, Error>>()?,
        )
    };
    let line = JobLine {
        jid: &job.jid,
        queue: &job.queue,
        klass: &job.klass,
        data_bytes: data.is_none().then(|| STANDARD.encode(&job.data)),
        data,
        tags: &job.tags,
        priority: job.priority,
        attempt: job.attempt_number(),
        retries_left: job.remaining,
        spawned_from: &job.spawned_from,
        dependencies: &job.dependencies,
        expires: Moment::from_seconds(job.expires),
        key: &job.key,
        fence: job.fence,
        payloads,
    };
    into.reserve(job.data.len() + 256);
    write::write_unsanitized_compact(&line, into).map_err(Error::internal)?;
    into.push(b'\n');
    Ok(())
}

/// The line of JSON that tells a persistent process to drop a job.
pub(super) fn cancel_line(jid: &Name) -> Vec<u8> {
    let mut line = b"{\"jid\":".to_vec();
    line.extend(quote_string(jid.as_bytes()));
    line.extend(b",\"cancel\":true}\n");
    line
}
