//! Starts the command for jobs, and reads data and failure message from what it wrote when it has ended.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::machine::event::{DispatchMode, EndedProcess, StartFailure};
use super::options::WorkOptions;
use super::process::substitute::ArgTemplate;
use super::process::{
    CapturedStdout, Launch, ProcessEnd, Processes, ProgramDirectory, StartFault, StartFaultScope,
    StdoutMode, environment, job_line as line_of_job, sandbox,
};
use super::reporter::Reporter;
use crate::error::{Error, Kind};
use crate::json::quote::quote_string;
use crate::json::syntax;
use crate::model::popped_job::PoppedJob;
use crate::name::Name;
use crate::text::{Sanitized, sanitize_keeping_lines};

/// Maximum size of a program's output that becomes the data of its job, in bytes.
const MAX_DATA: usize = 16 * 1024 * 1024;

/// Starts the command.
pub(super) struct Launcher {
    mode: DispatchMode,
    program: OsString,
    arguments: ArgTemplate,
    directory: ProgramDirectory,
    stdout: StdoutMode,
    /// The maximum length of a message.
    error_bytes: usize,
    worker: Name,
    /// The environment variables of a process for more than one job (`--batch`, `--persistent`).
    variables: Vec<(&'static str, OsString)>,
}

impl Launcher {
    /// Parses the command. Refuses a command that cannot be started, before any job is popped.
    pub(super) fn new(options: &WorkOptions) -> Result<Launcher, Error> {
        let (program, arguments) = options
            .command
            .split_first()
            .ok_or_else(|| Error::usage("no command is given"))?;
        let arguments = ArgTemplate::parse(arguments, options.allow_dash)?;
        if options.mode != DispatchMode::Single && arguments.has_placeholders() {
            return Err(Error::usage(
                "placeholders such as `{jid}` need a process for each job, without `--batch` and `--persistent`",
            ));
        }
        if let Err(why) = check_program(program, &options.directory) {
            return Err(unstartable_program_error(why));
        }
        if let ProgramDirectory::Sandbox(directory) = &options.directory {
            sandbox::prepare_parent(directory)?;
        }
        Ok(Launcher {
            mode: options.mode,
            program: program.clone(),
            arguments,
            directory: options.directory.clone(),
            stdout: match (options.capture, options.answers_on_stdout) {
                (true, _) => StdoutMode::Capture(MAX_DATA),
                (_, true) => StdoutMode::Answers,
                _ => StdoutMode::PassOn,
            },
            error_bytes: options.error_bytes,
            worker: Name::default(),
            variables: Vec::new(),
        })
    }

    pub(super) fn with_worker_variables(mut self, worker: &Name) -> Result<Launcher, Error> {
        let refused = |fault: StartFault| Error::usage(fault.message);
        self.variables = environment::worker_variables(worker).map_err(refused)?;
        self.worker = worker.clone();
        Ok(self)
    }

    /// Starts the command in a slot, for one job or for several. Returns the process id.
    pub(super) fn start_program(
        &self,
        slot: usize,
        jobs: &[PoppedJob],
        processes: &mut Processes,
    ) -> Result<u32, StartFailure> {
        let launch = self.prepare_launch(jobs);
        launch
            .and_then(|launch| processes.start(slot, launch))
            .map_err(start_failure)
    }

    fn prepare_launch(&self, jobs: &[PoppedJob]) -> Result<Launch<'_>, StartFault> {
        let (args, variables, stdin) = match (self.mode, jobs) {
            (DispatchMode::Single, [job]) => (
                self.arguments.fill_arguments(job)?,
                environment::job_variables(job, &self.worker)?,
                job.data.clone(),
            ),
            _ => {
                let mut lines = Vec::new();
                for job in jobs {
                    let refused = |error: Error| StartFault {
                        kind: StartFaultScope::Job,
                        message: error.message().into_owned(),
                    };
                    line_of_job::append_job_line(job, &mut lines).map_err(refused)?;
                }
                let args = self.arguments.fill_arguments(&PoppedJob::default())?;
                (args, self.variables.clone(), lines)
            }
        };
        Ok(Launch {
            program: &self.program,
            args,
            variables,
            directory: &self.directory,
            stdin,
            keeps_stdin: matches!(self.mode, DispatchMode::Persistent(_)),
            stdout: self.stdout,
        })
    }

    /// The event for the end of a process.
    pub(super) fn to_ended_process(
        &self,
        slot: usize,
        end: ProcessEnd,
        reporter: &mut Reporter,
    ) -> EndedProcess {
        let mut warn = |why: &str| {
            reporter.add_stderr_line(&format!(
                "warning: slot {}: the output {why}; the job keeps its data",
                slot + 1
            ));
        };
        let data = match end.stdout {
            CapturedStdout::NotCaptured => None,
            CapturedStdout::Whole(bytes) if bytes.trim_ascii().is_empty() => None,
            CapturedStdout::Whole(bytes) => {
                let data = bytes.trim_ascii();
                match syntax::check_syntax(data) {
                    Ok(_) => Some(data.to_vec()),
                    Err(_) => {
                        warn("is not JSON");
                        None
                    }
                }
            }
            CapturedStdout::TooLong => {
                warn("is longer than 16 MiB");
                None
            }
        };
        EndedProcess {
            exit: end.exit,
            message: failure_message(&end.stderr_tail, self.error_bytes),
            data,
            unread_lines: end.unread_lines,
        }
    }
}

/// The line of JSON that hands a job to a persistent process.
pub(super) fn job_line(job: &PoppedJob) -> Result<Vec<u8>, Error> {
    let mut line = Vec::with_capacity(256 + job.data.len());
    line_of_job::append_job_line(job, &mut line)?;
    Ok(line)
}

/// The line of JSON that tells a persistent process to drop a job.
pub(super) fn cancel_line(jid: &Name) -> Vec<u8> {
    let mut line = b"{\"jid\":".to_vec();
    line.extend(quote_string(jid.as_bytes()));
    line.extend(b",\"cancel\":true}\n");
    line
}

/// The message of a failure: the end of what a program wrote to stderr, sanitized and trimmed. The text is cut after it
/// is sanitized, since an escape is longer than the byte that it stands for.
fn failure_message(stderr_tail: &[u8], max_bytes: usize) -> String {
    let text = sanitize_keeping_lines(stderr_tail);
    let text = text.trim();
    let mut start = text.len().saturating_sub(max_bytes);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text[start..].trim_start().to_owned()
}

/// The error of a command that cannot be started.
pub(super) fn unstartable_program_error(why: String) -> Error {
    Error::new(Kind::Error, why)
        .hint("no job was popped; is the path right, and is the file executable?")
}

fn start_failure(fault: StartFault) -> StartFailure {
    match fault.kind {
        StartFaultScope::Exec => StartFailure::Program(fault.message),
        StartFaultScope::Job => StartFailure::Job(fault.message),
        StartFaultScope::Sandbox => StartFailure::Directory(fault.message),
        StartFaultScope::Exhausted => StartFailure::Busy(fault.message),
    }
}

/// Checks that the program can be executed and its directory exists, with the rules of a start: a relative path is
/// resolved from the working directory of `qless`, not from that of the process.
fn check_program(program: &OsStr, directory: &ProgramDirectory) -> Result<(), String> {
    if let ProgramDirectory::Shared(directory) = directory
        && !directory.is_dir()
    {
        return Err(format!(
            "`{}` is not a directory",
            Sanitized(directory.as_os_str().as_bytes())
        ));
    }
    let is_executable = |path: &Path| match path.metadata() {
        Ok(file) => file.is_file() && file.permissions().mode() & 0o111 != 0,
        Err(_) => false,
    };
    let shown = Sanitized(program.as_bytes());
    if program.as_bytes().contains(&b'/') {
        let path = Path::new(program);
        return match (path.exists(), is_executable(path)) {
            (_, true) => Ok(()),
            (true, false) => Err(format!("`{shown}` is not executable")),
            (false, _) => Err(format!("`{shown}` does not exist")),
        };
    }
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    let mut paths = std::env::split_paths(&path).map(|place: PathBuf| place.join(program));
    if paths.any(|path| is_executable(&path)) {
        Ok(())
    } else {
        Err(format!("`{shown}` is not found in PATH"))
    }
}
