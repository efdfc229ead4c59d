//! Starts the command for jobs.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::machine::event::StartFailure;
use super::options::{DispatchMode, WorkOptions};
use super::process::job_input::{ArgTemplate, append_job_line, job_variables, worker_variables};
use super::process::{Launch, Processes, ProgramDirectory, StdoutMode, sandbox};
use crate::error::{Error, Kind};
use crate::model::work::PoppedJob;
use crate::name::Name;
use crate::text::Sanitized;

/// Maximum size of a program's output that becomes the data of its job, in bytes.
const MAX_DATA: usize = 16 * 1024 * 1024;

/// Starts the command.
pub(super) struct Launcher {
    mode: DispatchMode,
    program: OsString,
    arguments: ArgTemplate,
    directory: ProgramDirectory,
    stdout: StdoutMode,
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
        let mode = options.mode();
        if mode != DispatchMode::Single && arguments.has_placeholders() {
            return Err(Error::usage(
                "placeholders such as `{jid}` need a process for each job, without `--batch` and `--persistent`",
            ));
        }
        let directory = options.program_directory();
        check_program(program, &directory).map_err(unstartable_program_error)?;
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
            variables: Vec::new(),
        })
    }

    pub(super) fn with_worker_variables(mut self, worker: &Name) -> Result<Launcher, Error> {
        let refused = |why: StartFailure| Error::usage(why.into_message());
        self.variables = worker_variables(worker).map_err(refused)?;
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
                (args, self.variables.clone(), lines)
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

/// The error of a command that cannot be started.
pub(super) fn unstartable_program_error(why: String) -> Error {
    Error::new(Kind::Error, why)
        .hint("no job was popped; is the path right, and is the file executable?")
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
