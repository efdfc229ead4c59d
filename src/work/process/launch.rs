//! How a program is started.

use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::fs;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::io::{Errno, dup2};
use rustix::process::{Pid, fchdir, getpid, getppid};

use super::pipe::{
    AnswerLineSplitter, CaptureUnlessTooLong, InputPipe, OutputPipe, PassedOutputAndTail,
    PipeTarget,
};
use super::sandbox::SlotSandboxes;
use super::{ANSWER_DESCRIPTOR, OutputStream, RunningProgram};
use crate::error::io_message_without_errno;
use crate::text::Sanitized;

/// A program to start.
#[derive(Debug)]
pub struct Launch<'a> {
    /// A path, relative to the directory in which `qless` was started, or the name of a program in PATH.
    pub program: &'a OsStr,
    pub args: Vec<OsString>,
    /// Variables that the program gets besides the inherited environment of `qless`.
    pub variables: Vec<(&'static str, OsString)>,
    pub directory: &'a ProgramDirectory,
    /// The bytes that are written to the program's stdin at its start.
    pub stdin: Vec<u8>,
    /// Whether stdin stays open after these bytes, for [`super::Processes::write_stdin`].
    pub keeps_stdin: bool,
    pub stdout: StdoutMode,
}

/// Where programs run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ProgramDirectory {
    /// The working directory of `qless`.
    #[default]
    Inherited,
    Shared(PathBuf),
    /// A directory per slot below this one, `slot-1` for the first, emptied before each start. When a program ends, the
    /// rest of its process group is killed.
    Sandbox(PathBuf),
}

/// The use of the stdout of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StdoutMode {
    PassOn,
    /// The output is kept and returned when the program ends, if it is not longer than this number of bytes.
    Capture(usize),
    /// Each line of stdout is an answer, as on descriptor 3.
    Answers,
}

/// Why a process could not be started, which shows whether the next starts will probably fail, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartFailure {
    /// The system cannot execute the file of the program. Other jobs will fail to start, too.
    Program(String),
    /// The program or its directory, which [`check_program`] found at the start of the work, is missing or not
    /// executable. Other jobs will fail to start, too.
    Missing(String),
    /// The data of this job cannot be passed to the program.
    Job(String),
    /// The directory of the slot cannot be prepared. Other jobs of the slot will fail to start, too.
    Directory(String),
    /// The machine has no process, memory, descriptor or disk space left. A later start may succeed.
    Busy(String),
}

impl StartFailure {
    pub(super) fn exhausted_system(why: impl Display) -> StartFailure {
        StartFailure::Busy(format!("cannot start a program: {why}"))
    }

    /// The sentence, without a full stop.
    pub fn into_message(self) -> String {
        match self {
            StartFailure::Program(message)
            | StartFailure::Missing(message)
            | StartFailure::Job(message)
            | StartFailure::Directory(message)
            | StartFailure::Busy(message) => message,
        }
    }
}

impl Launch<'_> {
    /// Starts the program. `removed` are the variables that the program does not inherit.
    pub(super) fn start_program(
        self,
        slot: usize,
        sandboxes: &mut SlotSandboxes,
        removed: &[OsString],
        error_bytes: usize,
    ) -> Result<RunningProgram, StartFailure> {
        let (directory, folder) = match self.directory {
            ProgramDirectory::Inherited => (None, None),
            ProgramDirectory::Shared(directory) => (Some(directory.clone()), None),
            ProgramDirectory::Sandbox(directory) => {
                let (path, opened) = sandboxes.prepare_empty_slot_folder(directory, slot)?;
                (Some(path), Some(opened))
            }
        };
        let is_sandbox = folder.is_some();
        let exhausted =
            |fault: io::Error| StartFailure::exhausted_system(io_message_without_errno(&fault));
        let (answers, writer) = io::pipe().map_err(exhausted)?;
        let mut command = Command::new(resolve_program_before_directory_change(
            self.program,
            directory.as_deref(),
        ));
        command
            .arg0(self.program)
            .args(&self.args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        for name in removed {
            command.env_remove(name);
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        if let Some(directory) = directory.as_ref().filter(|_| !is_sandbox) {
            command.current_dir(directory);
        }
        set_up_child_before_exec(&mut command, writer.into(), folder);
        let spawned = command.spawn();
        // `command` holds a write end of the answer pipe. While that is open, reads never see the end of the answers.
        drop(command);
        let mut child = match spawned {
            Ok(child) => child,
            Err(fault) => return Err(start_failure(self.program, directory.as_deref(), &fault)),
        };
        let group = Pid::from_child(&child);
        let stdout = match self.stdout {
            StdoutMode::PassOn => {
                PipeTarget::PassOn(PassedOutputAndTail::new(OutputStream::Stdout, 0))
            }
            StdoutMode::Capture(max_bytes) => {
                PipeTarget::Capture(CaptureUnlessTooLong::new(max_bytes))
            }
            StdoutMode::Answers => PipeTarget::Answers(AnswerLineSplitter::default()),
        };
        let stderr =
            PipeTarget::PassOn(PassedOutputAndTail::new(OutputStream::Stderr, error_bytes));
        let pipes = || -> io::Result<(InputPipe, [OutputPipe; 3])> {
            Ok((
                InputPipe::new(child.stdin.take())?,
                [
                    OutputPipe::new(child.stdout.take().map(OwnedFd::from), stdout)?,
                    OutputPipe::new(child.stderr.take().map(OwnedFd::from), stderr)?,
                    OutputPipe::new(
                        Some(answers.into()),
                        PipeTarget::Answers(AnswerLineSplitter::default()),
                    )?,
                ],
            ))
        };
        let (mut stdin, outputs) = match pipes() {
            Ok(pipes) => pipes,
            Err(fault) => {
                // The pipes cannot be made non-blocking, and would block this process: end the program.
                _ = child.kill();
                _ = child.wait();
                return Err(exhausted(fault));
            }
        };
        stdin.write_or_queue(self.stdin);
        if !self.keeps_stdin {
            stdin.close_when_written();
        }
        Ok(RunningProgram {
            child,
            group,
            stdin,
            outputs,
            stays: self.keeps_stdin,
            ends_group: is_sandbox,
        })
    }
}

/// Makes the child, between fork and exec, get SIGTERM when `qless` dies, enter its sandbox (`folder`), and use descriptor
/// 3 for its answers. The standard library resets the action of SIGPIPE and the blocked signals, and sets the process
/// group.
#[allow(unsafe_code)]
fn set_up_child_before_exec(command: &mut Command, answers: OwnedFd, folder: Option<OwnedFd>) {
    let parent = getpid();
    let prepare = move || {
        terminate_when_parent_dies()?;
        // If the parent died before this call, no signal comes: do not run the program.
        if getppid() != Some(parent) {
            return Err(Errno::SRCH.into());
        }
        if let Some(folder) = &folder {
            fchdir(folder)?;
        }
        // SAFETY: nothing in the child owns descriptor 3: `qless` has reserved it for this purpose, or its
        // present use ends at exec. The value is never dropped here.
        let mut third = ManuallyDrop::new(unsafe { OwnedFd::from_raw_fd(ANSWER_DESCRIPTOR) });
        dup2(&answers, &mut third)?;
        Ok(())
    };
    // SAFETY: between fork and exec only system calls are made: no memory is allocated and no lock
    // is taken, since another thread may have held it.
    unsafe { command.pre_exec(prepare) };
}

/// Checks that the program can be executed and its directory exists, with the rules of a start: a relative path is
/// resolved from the working directory of `qless`, not from that of the process.
pub(in crate::work) fn check_program(
    program: &OsStr,
    directory: &ProgramDirectory,
) -> Result<(), String> {
    if let ProgramDirectory::Shared(directory) = directory
        && !directory.is_dir()
    {
        return Err(format!(
            "`{}` is not a directory",
            Sanitized(directory.as_os_str().as_encoded_bytes())
        ));
    }
    let is_executable = |path: &Path| match path.metadata() {
        Ok(file) => file.is_file() && file.permissions().mode() & 0o111 != 0,
        Err(_) => false,
    };
    let shown = Sanitized(program.as_encoded_bytes());
    if program.as_encoded_bytes().contains(&b'/') {
        let path = Path::new(program);
        return match (path.exists(), is_executable(path)) {
            (_, true) => Ok(()),
            (true, false) => Err(format!("`{shown}` is not executable")),
            (false, _) => Err(format!("`{shown}` does not exist")),
        };
    }
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    let mut paths = std::env::split_paths(&path).map(|place| place.join(program));
    if paths.any(|path| is_executable(&path)) {
        Ok(())
    } else {
        Err(format!("`{shown}` is not found in PATH"))
    }
}

/// The path to execute. A relative path is resolved from the working directory of `qless`, not from that of the child,
/// which may be an empty sandbox.
fn resolve_program_before_directory_change(program: &OsStr, directory: Option<&Path>) -> PathBuf {
    let path = Path::new(program);
    let is_path = program.as_encoded_bytes().contains(&b'/');
    match (is_path && path.is_relative(), directory) {
        (true, Some(_)) => std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
        _ => path.to_owned(),
    }
}

/// Why the system did not start the program.
fn start_failure(program: &OsStr, directory: Option<&Path>, fault: &io::Error) -> StartFailure {
    let words = io_message_without_errno(fault);
    match fault.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::AGAIN | Errno::NOMEM | Errno::MFILE | Errno::NFILE) => {
            return StartFailure::exhausted_system(words);
        }
        Some(Errno::TOOBIG) => {
            return StartFailure::Job(
                "the arguments and variables of the job are longer than the system allows".into(),
            );
        }
        None if fault.kind() == io::ErrorKind::InvalidInput => {
            return StartFailure::Job("an argument or a variable of the job holds NUL".into());
        }
        _ => {}
    }
    if let Some(directory) = directory
        && let Err(fault) = fs::read_dir(directory)
    {
        let directory = Sanitized(directory.as_os_str().as_encoded_bytes());
        let why = io_message_without_errno(&fault);
        let message = format!("cannot change to directory `{directory}`: {why}");
        return StartFailure::Missing(message);
    }
    let mut failure: fn(String) -> StartFailure = StartFailure::Missing;
    let why = match find_in_path(program) {
        None if program.as_encoded_bytes().contains(&b'/') => "it does not exist".into(),
        None => "it is not in PATH".into(),
        Some(metadata) if metadata.is_dir() => "it is a directory".into(),
        Some(metadata) if metadata.permissions().mode() & 0o111 == 0 => {
            "it is not executable".into()
        }
        Some(_) => {
            failure = StartFailure::Program;
            if fault.kind() == io::ErrorKind::NotFound {
                "the interpreter that its first line names does not exist".into()
            } else {
                words
            }
        }
    };
    let program = Sanitized(program.as_encoded_bytes());
    failure(format!("cannot start `{program}`: {why}"))
}

/// The file that a program's name means.
fn find_in_path(program: &OsStr) -> Option<fs::Metadata> {
    if program.as_encoded_bytes().contains(&b'/') {
        return fs::metadata(program).ok();
    }
    let path = std::env::var_os("PATH")?;
    // The first file with this name explains the failed start, even if it is not executable. Directories do not count.
    std::env::split_paths(&path)
        .filter_map(|directory| fs::metadata(directory.join(program)).ok())
        .find(fs::Metadata::is_file)
}

/// Asks the system to send SIGTERM to this process when its parent dies, for any reason. Only Linux can do this. The
/// function allocates no memory, so that a child may call it between fork and exec.
#[cfg(target_os = "linux")]
pub(crate) fn terminate_when_parent_dies() -> rustix::io::Result<()> {
    use rustix::process::{Signal, set_parent_process_death_signal};

    set_parent_process_death_signal(Some(Signal::TERM))
}

/// Other systems have no such option.
#[cfg(not(target_os = "linux"))]
pub(crate) fn terminate_when_parent_dies() -> rustix::io::Result<()> {
    Ok(())
}
