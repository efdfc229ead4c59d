//! The address `local:`: a private Redis server on this machine. The first command starts the server and leaves it
//! running.
//!
//! The server listens on a Unix socket in a directory of mode 0700 and on no TCP port. It writes an append-only file
//! and evicts no keys. A lock file keeps two commands from starting two servers. If the server died, the next command
//! starts it again on its data.

use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, DirEntry, File, OpenOptions, TryLockError, read_dir, read_to_string};
use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::io::{Errno, FdFlags, fcntl_setfd, ioctl_fionbio};

use super::connect::{Connection, Fault};
use super::local_socket;
use crate::address::{Address, AppendFsync, ServerTarget, variables};
use crate::command_line::chmod_command;
use crate::env;
use crate::error::{Error, Kind, io_message_without_errno, limit_hint};
use crate::fs::{PRIVATE_DIRECTORY, PRIVATE_FILE, trust};
use crate::text::Sanitized;

/// Maximum length of the path of a Unix socket: the size of `sun_path` in the system's socket address, without the NUL
/// at its end.
const MAX_SOCKET_PATH_BYTES: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// Maximum number of bytes that `qless` reads of the reply to `SHUTDOWN`.
const LONGEST_REPLY: u64 = 64 * 1024;

/// The private server of one directory.
#[derive(Debug)]
pub(crate) struct LocalServer {
    dir: PathBuf,
}

impl LocalServer {
    /// The private server whose socket and data are in this directory, running or not. The default directory is
    /// `$XDG_STATE_HOME/qless/local`.
    pub(crate) fn new(dir: Option<&Path>) -> Result<LocalServer, Error> {
        let dir = match dir {
            Some(dir) => dir.to_path_buf(),
            None => default_dir()?,
        };
        let local = LocalServer { dir };
        let socket = local.socket_path();
        if socket.as_os_str().len() > MAX_SOCKET_PATH_BYTES {
            return Err(unreachable_error(format!(
                "the socket path `{}` is too long for this system",
                sanitized_path(&socket)
            ))
            .hint(format!(
                "name a shorter directory, at most {} bytes: `--redis local:/DIR`",
                MAX_SOCKET_PATH_BYTES - "/redis.sock".len()
            )));
        }
        Ok(local)
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The socket that the server listens on.
    pub(crate) fn socket_path(&self) -> PathBuf {
        local_socket::socket_path(&self.dir)
    }

    /// The address for other clients.
    pub(crate) fn unix_socket_url(&self) -> String {
        target_without_login(Address::Unix(self.socket_path())).to_string()
    }

    /// The `local:` address of the server, with the flag that a connection to it does not start a missing server.
    pub(crate) fn target_without_start(&self) -> ServerTarget {
        target_without_login(Address::Local {
            dir: Some(self.dir.clone()),
            fsync: None,
            may_start: false,
        })
    }

    /// Whether a server listens.
    pub(crate) fn is_running(&self) -> Result<bool, Error> {
        if !self.safe_dir_exists()? {
            return Ok(false);
        }
        match local_socket::connect_to_own_server(&self.dir) {
            Ok(_) => Ok(true),
            Err(Fault::ForeignServer) => Err(other_users_server_error(&sanitized_path(&self.dir))),
            Err(_) => Ok(false),
        }
    }

    /// Connects to the private server. If no server runs, this starts one first if `may_start` is set, and returns an
    /// error otherwise.
    pub(crate) fn connect(
        &self,
        may_start: bool,
        fsync: Option<AppendFsync>,
        deadline: Instant,
        failure: impl Fn(Fault) -> Error,
    ) -> Result<Connection, Error> {
        let address = self.target_without_start().address;
        if self.safe_dir_exists()? {
            match Connection::open(&address, None, deadline) {
                Ok(connection) => return Ok(connection),
                Err(Fault::Unreachable(..)) if may_start => {}
                Err(fault) => return Err(failure(fault)),
            }
        }
        if !may_start {
            let dir = sanitized_path(&self.dir);
            return Err(unreachable_error(format!("no server runs in `{dir}`")));
        }
        self.start_unless_running(fsync, deadline)?;
        Connection::open(&address, None, deadline).map_err(failure)
    }

    /// Whether the disk of the server's directory has room for a small change (64 KiB) or a large one (1 MiB). The test
    /// writes that many bytes to a temporary file.
    pub(crate) fn has_disk_space_for_change(&self, is_large_change: bool) -> bool {
        let room = if is_large_change { 1 << 20 } else { 1 << 16 };
        let opened = tempfile::tempfile_in(&self.dir);
        let written = opened.and_then(|mut file| file.write_all(&vec![0; room]));
        // Only a full disk and a used-up quota count as missing room: any other error, such as a missing directory,
        // says nothing about the disk.
        !written.is_err_and(|error| {
            matches!(
                error.kind(),
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
            )
        })
    }

    /// Starts the server if none listens. Returns whether this call started it.
    pub(crate) fn start_unless_running(
        &self,
        fsync: Option<AppendFsync>,
        deadline: Instant,
    ) -> Result<bool, Error> {
        if self.is_running()? {
            return Ok(false);
        }
        self.make_private_dir()?;
        let _lock = self.take_start_stop_lock(deadline)?;
        if self.is_running()? {
            return Ok(false);
        }
        let log = self.open_log_for_append()?;
        let log_size = log.metadata().map_or(0, |found| found.len());
        let fsync = fsync.unwrap_or(AppendFsync::Everysec);
        let (server_end, held_by_server) =
            io::pipe().map_err(|error| self.unusable_dir_error(&error))?;
        if self.start_and_await_detach(fsync, log, held_by_server, deadline)?
            && self.becomes_ready_by(deadline, server_end)
        {
            Ok(true)
        } else {
            Err(self.not_started_error(log_size))
        }
    }

    /// Saves the server's data and stops it. Returns whether it ran.
    pub(crate) fn stop_if_running(&self, deadline: Instant) -> Result<bool, Error> {
        if !self.safe_dir_exists()? {
            return Ok(false);
        }
        let _lock = self.take_start_stop_lock(deadline)?;
        let mut stream = match local_socket::connect_to_own_server(&self.dir) {
            Ok(stream) => stream,
            Err(Fault::ForeignServer) => {
                return Err(other_users_server_error(&sanitized_path(&self.dir)));
            }
            Err(_) => return Ok(false),
        };
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => self.no_reply_error(),
            _ => unreachable_error(format!(
                "cannot stop the server: {}",
                io_message_without_errno(&error)
            )),
        };
        let timeout = deadline.saturating_duration_since(Instant::now());
        let timeout = timeout.max(Duration::from_millis(1));
        stream.set_read_timeout(Some(timeout)).map_err(failed)?;
        let log_size = std::fs::metadata(self.dir.join(LOG)).map_or(0, |found| found.len());
        stream.write_all(b"SHUTDOWN SAVE\r\n").map_err(failed)?;
        // If the server stops, it closes the connection without a reply. If it cannot stop, it sends an error reply.
        let mut reply = Vec::new();
        match BufReader::new(stream.take(LONGEST_REPLY)).read_until(b'\n', &mut reply) {
            Err(error) if error.kind() != io::ErrorKind::ConnectionReset => {
                return Err(failed(error));
            }
            _ => {}
        }
        if reply.starts_with(b"-ERR Errors trying to SHUTDOWN") {
            return Err(self.not_saved_error(log_size));
        }
        if let Some(error) = reply.strip_prefix(b"-") {
            let error = Sanitized(error.trim_ascii());
            return Err(unreachable_error(format!(
                "the server did not stop: {error}"
            )));
        }
        self.await_end(deadline)?;
        Ok(true)
    }

    /// The process id of the server, from its pid file; `None` if that file is missing.
    pub(crate) fn pid(&self) -> Option<u32> {
        let text = std::fs::read_to_string(self.dir.join("redis.pid")).ok()?;
        text.trim().parse().ok()
    }

    /// The size of the directory in bytes.
    pub(crate) fn dir_size(&self) -> u64 {
        total_file_bytes(&self.dir)
    }

    /// Whether the server's directory exists. It is an error if the directory belongs to another user, or if another
    /// user can create a socket in it or replace the directory.
    fn safe_dir_exists(&self) -> Result<bool, Error> {
        let what = format!("cannot use `{}`", sanitized_path(&self.dir));
        trust::refuse_untrusted_parents(&self.dir)
            .map_err(|why| why.into_error_of_kind(&what, Kind::Unreachable))?;
        let found = match std::fs::metadata(&self.dir) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(self.unusable_dir_error(&error)),
        };
        let dir = sanitized_path(&self.dir);
        if !found.is_dir() {
            return Err(unreachable_error(format!("`{dir}` is not a directory")).hint(OTHER_DIR));
        }
        if found.uid() != rustix::process::geteuid().as_raw() {
            return Err(
                unreachable_error(format!("`{dir}` belongs to someone else")).hint(OTHER_DIR),
            );
        }
        if trust::others_may_write(found.mode()) {
            // With the umask 002, `mkdir` lets the group write. An empty directory with that mode counts as missing, so
            // that the start of the server makes the directory private.
            if !trust::everybody_may_write(found.mode())
                && self
                    .is_dir_empty()
                    .map_err(|error| self.unusable_dir_error(&error))?
            {
                return Ok(false);
            }
            let close = format!(
                "`{}` leaves it to its owner",
                chmod_command("700", &self.dir)
            );
            let shown = sanitized_path(&self.dir);
            return Err(unreachable_error(format!("other users may write `{shown}`")).hint(close));
        }
        Ok(true)
    }

    /// Creates the server's directory if it is missing, and sets its mode to 0700. Refuses a directory that other users
    /// may enter and that holds other files, such as `/tmp`.
    fn make_private_dir(&self) -> Result<(), Error> {
        let refused = |why: &str| {
            let dir = sanitized_path(&self.dir);
            unreachable_error(format!("cannot use `{dir}`: {why}")).hint(OTHER_DIR)
        };
        let unusable = |error: io::Error| self.unusable_dir_error(&error);
        let close =
            || std::fs::set_permissions(&self.dir, PermissionsExt::from_mode(PRIVATE_DIRECTORY));
        if self.safe_dir_exists()? {
            return if self.would_lock_out_other_users().map_err(unusable)? {
                Err(refused("others may enter it, and it holds other things"))
            } else {
                close().map_err(unusable)
            };
        }
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(PRIVATE_DIRECTORY);
        builder.create(&self.dir).map_err(unusable)?;
        close().map_err(unusable)?;
        // Before the mode was 0700, the group could create files in the directory: refuse a directory with such files.
        if self.owns_all_files().map_err(unusable)? {
            Ok(())
        } else {
            Err(refused("it holds files of another user"))
        }
    }

    fn is_dir_empty(&self) -> io::Result<bool> {
        Ok(std::fs::read_dir(&self.dir)?.next().is_none())
    }

    /// Whether all files in the directory belong to this user.
    fn owns_all_files(&self) -> io::Result<bool> {
        let own = rustix::process::geteuid().as_raw();
        for entry in std::fs::read_dir(&self.dir)? {
            match entry?.metadata() {
                Ok(found) if found.uid() != own => return Ok(false),
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(true)
    }

    /// Whether the mode 0700 could lock other users out of their files: other users may enter the directory, the
    /// directory is not empty, and the lock file of a private server is missing there.
    fn would_lock_out_other_users(&self) -> io::Result<bool> {
        let open = trust::others_have_any_right(std::fs::metadata(&self.dir)?.mode());
        let is_private = || self.dir.join("lock").is_file();
        Ok(open && !is_private() && !self.is_dir_empty()?)
    }

    fn unusable_dir_error(&self, error: &io::Error) -> Error {
        let dir = sanitized_path(&self.dir);
        unreachable_error(format!(
            "cannot use `{dir}`: {}",
            io_message_without_errno(error)
        ))
        .hint(limit_hint(error).unwrap_or(OTHER_DIR))
    }

    /// Waits for the file lock that only one process may hold while it starts or stops the server.
    fn take_start_stop_lock(&self, deadline: Instant) -> Result<File, Error> {
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(PRIVATE_FILE)
            .open(self.dir.join("lock"))
            .map_err(|error| self.unusable_dir_error(&error))?;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::Error(error)) => return Err(self.unusable_dir_error(&error)),
                Err(TryLockError::WouldBlock) if Instant::now() >= deadline => {
                    return Err(self.no_reply_error());
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    }

    /// Opens the server's log to append to it. The program that starts the server also prints there.
    fn open_log_for_append(&self) -> Result<File, Error> {
        OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.dir.join(LOG))
            .map_err(|error| self.unusable_dir_error(&error))
    }

    /// Starts the server, which detaches from the terminal and outlives this process. False means that the server
    /// program failed, or did not detach before the deadline. The server inherits `held_by_server`, and so closes it
    /// when it ends.
    fn start_and_await_detach(
        &self,
        fsync: AppendFsync,
        log: File,
        held_by_server: PipeWriter,
        deadline: Instant,
    ) -> Result<bool, Error> {
        let program = server_program()?;
        let file = |name: &str| self.dir.join(name).into_os_string();
        let options: [(&str, OsString); 13] = [
            ("--port", "0".into()),
            ("--unixsocket", self.socket_path().into_os_string()),
            ("--unixsocketperm", "700".into()),
            ("--dir", self.dir.clone().into_os_string()),
            ("--appendonly", "yes".into()),
            ("--appendfsync", fsync.into_str().into()),
            ("--save", "".into()),
            ("--maxmemory-policy", "noeviction".into()),
            ("--daemonize", "yes".into()),
            ("--pidfile", file("redis.pid")),
            ("--logfile", file(LOG)),
            ("--loglevel", "notice".into()),
            ("--always-show-logo", "no".into()),
        ];
        let failed = |error: io::Error| {
            let program = sanitized_path(Path::new(&program));
            let message = format!(
                "cannot start `{program}`: {}",
                io_message_without_errno(&error)
            );
            match limit_hint(&error) {
                Some(hint) => unreachable_error(message).hint(hint),
                None => no_program_error(message),
            }
        };
        let options = options.iter();
        let mut command = command_without_descriptors(&program, &inherited_descriptors());
        command.args(options.flat_map(|(name, value)| [OsStr::new(name), value]));
        for variable in variables::secret_variables() {
            command.env_remove(variable);
        }
        fcntl_setfd(&held_by_server, FdFlags::empty()).map_err(|errno| failed(errno.into()))?;
        let mut child = command
            .stdin(Stdio::null())
            .stdout(
                log.try_clone()
                    .map_err(|error| self.unusable_dir_error(&error))?,
            )
            .stderr(log)
            .spawn()
            .map_err(failed)?;
        loop {
            if let Some(status) = child.try_wait().map_err(failed)? {
                // A shell that cannot start a program exits with 127 (not found) or 126 (not executable).
                return match status.code() {
                    Some(127) => Err(failed(Errno::NOENT.into())),
                    Some(126) => Err(failed(Errno::ACCESS.into())),
                    _ => Ok(status.success()),
                };
            }
            if Instant::now() >= deadline {
                _ = child.kill();
                _ = child.wait();
                return Ok(false);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Waits until the server replies PONG to a PING. False means that the server ended, which closes `server_end`, or
    /// that the deadline passed first. A server that still loads its data replies with an error, which does not count.
    fn becomes_ready_by(&self, deadline: Instant, mut server_end: PipeReader) -> bool {
        let is_watched = ioctl_fionbio(&server_end, true).is_ok();
        while !self.is_ready() {
            let has_ended = is_watched && matches!(server_end.read(&mut [0]), Ok(0));
            if has_ended || Instant::now() >= deadline {
                return false;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        true
    }

    fn is_ready(&self) -> bool {
        let Ok(mut stream) = local_socket::connect_to_own_server(&self.dir) else {
            return false;
        };
        let mut reply = [0; 5];
        stream
            .set_read_timeout(Some(Duration::from_millis(500)))
            .and_then(|()| stream.write_all(b"PING\r\n"))
            .and_then(|()| stream.read_exact(&mut reply))
            .is_ok_and(|()| &reply == b"+PONG")
    }

    /// Waits until the server has ended: its socket accepts no connection, and its pid file is removed.
    fn await_end(&self, deadline: Instant) -> Result<(), Error> {
        while local_socket::connect_to_own_server(&self.dir).is_ok() || self.pid().is_some() {
            if Instant::now() >= deadline {
                return Err(self.no_reply_error());
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok(())
    }

    /// The error for a server that did not start: the disk is full, or else the last line of the server's log. The log
    /// had `log_size` bytes before the start.
    fn not_started_error(&self, log_size: u64) -> Error {
        if !self.has_disk_space_for_change(false) {
            let dir = sanitized_path(&self.dir);
            let full = format!("the server of `local:` did not start: the disk of `{dir}` is full");
            return unreachable_error(full).hint("make room on the disk");
        }
        let log = self.log_since(log_size);
        let last = log.lines().rfind(|line| !line.trim().is_empty());
        let last = Sanitized(last.unwrap_or("it logged nothing").trim());
        unreachable_error(format!("the server of `local:` did not start: {last}")).hint(format!(
            "its log is `{}`",
            sanitized_path(&self.dir.join(LOG))
        ))
    }

    /// The error for a server that does not stop because it cannot save its data. The reason comes from the server's
    /// log, which had `log_size` bytes before.
    fn not_saved_error(&self, log_size: u64) -> Error {
        let log = self.log_since(log_size);
        let warnings = log.lines().filter_map(|line| line.split_once(" # "));
        let mut reasons = warnings.filter_map(|(_, warning)| warning.rsplit_once(": "));
        let reason = reasons.next_back().map_or_else(String::new, |(_, reason)| {
            let reason = Sanitized(reason.trim()).to_string();
            format!(": {}", io_message_without_errno(&io::Error::other(reason)))
        });
        let dir = sanitized_path(&self.dir);
        let message =
            format!("the server in `{dir}` still runs, since it cannot save its data{reason}");
        Error::new(Kind::Misconf, message).hint(format!(
            "make room on its disk if that is full, and stop it again; its log is `{}`",
            sanitized_path(&self.dir.join(LOG))
        ))
    }

    /// The part of the server's log after its first `log_size` bytes.
    fn log_since(&self, log_size: u64) -> String {
        let log = std::fs::read(self.dir.join(LOG)).unwrap_or_default();
        let log = log.get(log_size as usize..).unwrap_or_default();
        String::from_utf8_lossy(log).into_owned()
    }

    fn no_reply_error(&self) -> Error {
        Error::new(
            Kind::Timeout,
            format!(
                "no reply from the server in `{}`",
                sanitized_path(&self.dir)
            ),
        )
    }
}

fn target_without_login(address: Address) -> ServerTarget {
    ServerTarget {
        address,
        user: None,
        password: None,
        db: 0,
        tls: None,
    }
}

/// The error for a directory or socket of `local:` in which a process of another user listens.
pub(super) fn other_users_server_error(address: &impl std::fmt::Display) -> Error {
    unreachable_error(format!("a process of another user listens in `{address}`")).hint(OTHER_DIR)
}

/// The server's log.
const LOG: &str = "redis.log";

const OTHER_DIR: &str = "name another directory: `--redis local:/DIR`";

fn unreachable_error(message: String) -> Error {
    Error::new(Kind::Unreachable, message)
}

fn sanitized_path(path: &Path) -> Sanitized<&[u8]> {
    Sanitized(path.as_os_str().as_bytes())
}

fn default_dir() -> Result<PathBuf, Error> {
    let state = env::nonempty_var("XDG_STATE_HOME").map(PathBuf::from);
    let state = state.filter(|state| state.is_absolute());
    let home = env::nonempty_var("HOME").map(|home| PathBuf::from(home).join(".local/state"));
    let home = home.filter(|home| home.is_absolute());
    match state.or(home) {
        Some(state) => Ok(state.join("qless/local")),
        None => Err(Error::usage("`local:` requires HOME or XDG_STATE_HOME").hint(OTHER_DIR)),
    }
}

/// The open file descriptors above 2 that the server would inherit from this process. The caller of `qless` left them
/// open, such as a shell its lock file. Empty on systems other than Linux, which do not list descriptors.
fn inherited_descriptors() -> Vec<u32> {
    const CLOSE_ON_EXEC: u32 = 0o2_000_000;
    let Ok(open) = read_dir("/proc/self/fdinfo") else {
        return Vec::new();
    };
    let stays_open = |entry: io::Result<DirEntry>| {
        let entry = entry.ok()?;
        let number: u32 = entry.file_name().to_str()?.parse().ok()?;
        let info = read_to_string(entry.path()).ok()?;
        let flags = info.lines().find_map(|line| line.strip_prefix("flags:"))?;
        let flags = u32::from_str_radix(flags.trim(), 8).ok()?;
        (number > 2 && flags & CLOSE_ON_EXEC == 0).then_some(number)
    };
    open.filter_map(stays_open).collect()
}

/// A command that runs the program with the given file descriptors closed. A shell closes them, because Rust would need
/// `unsafe` for that. Without bash, `/bin/sh` closes only descriptors up to 9: some shells cannot close higher ones.
fn command_without_descriptors(program: &OsStr, descriptors: &[u32]) -> Command {
    if descriptors.is_empty() {
        return Command::new(program);
    }
    let bash = Path::new("/bin/bash");
    let (shell, max_descriptor) = if bash.exists() {
        (bash, u32::MAX)
    } else {
        (Path::new("/bin/sh"), 9)
    };
    let script = "for n do shift; [ \"$n\" = - ] && break; eval \"exec $n>&-\"; done; exec \"$@\"";
    let mut command = Command::new(shell);
    command.env_remove("BASH_ENV").args(["-c", script, "sh"]);
    let closed = descriptors
        .iter()
        .filter(|number| **number <= max_descriptor);
    command
        .args(closed.map(u32::to_string))
        .arg("-")
        .arg(program);
    command
}

/// The server program to start: QLESS_REDIS_SERVER, else `redis-server` or `valkey-server` from PATH.
fn server_program() -> Result<OsString, Error> {
    if let Some(program) = env::nonempty_var("QLESS_REDIS_SERVER") {
        return Ok(program);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    for name in ["redis-server", "valkey-server"] {
        let runnable = |dir: PathBuf| {
            let found = std::fs::metadata(dir.join(name));
            found.is_ok_and(|found| found.is_file() && found.mode() & 0o111 != 0)
        };
        if std::env::split_paths(&path).any(runnable) {
            return Ok(name.into());
        }
    }
    Err(no_program_error(
        "`local:` requires `redis-server` or `valkey-server`, and neither is installed".into(),
    ))
}

/// The error for a server program that is missing or cannot start. The hint is the command that installs Redis on this
/// operating system.
fn no_program_error(message: String) -> Error {
    let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    unreachable_error(message).hint(match install_command(&release) {
        Some(line) => format!("`{line}`, or set QLESS_REDIS_SERVER"),
        None => "install Redis or Valkey, or set QLESS_REDIS_SERVER".into(),
    })
}

/// The command that installs Redis on the operating system that the text of `/etc/os-release` names; `None` for an
/// unknown system.
fn install_command(os_release: &str) -> Option<&'static str> {
    if cfg!(target_os = "macos") {
        return Some("brew install redis");
    }
    let mut ids = Vec::new();
    for key in ["ID=", "ID_LIKE="] {
        let value = os_release.lines().find_map(|line| line.strip_prefix(key));
        let value = value.unwrap_or_default().trim_matches('"');
        ids.extend(value.split_whitespace());
    }
    ids.into_iter().find_map(|id| match id {
        "debian" | "ubuntu" => Some("sudo apt-get install redis-server"),
        "fedora" | "rhel" | "centos" => Some("sudo dnf install redis"),
        "alpine" => Some("sudo apk add redis"),
        "arch" => Some("sudo pacman -S valkey"),
        "suse" | "opensuse" => Some("sudo zypper install redis"),
        _ => None,
    })
}

fn total_file_bytes(dir: &Path) -> u64 {
    let mut bytes = 0;
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        match entry.metadata() {
            Ok(found) if found.is_dir() => bytes += total_file_bytes(&entry.path()),
            Ok(found) if found.is_file() => bytes += found.len(),
            _ => {}
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hint_is_the_install_command_of_the_system() {
        let line = |release| install_command(release);
        if cfg!(target_os = "macos") {
            return;
        }
        assert_eq!(
            line("NAME=x\nID=linuxmint\nID_LIKE=\"ubuntu debian\"\n"),
            Some("sudo apt-get install redis-server")
        );
        assert_eq!(line("ID=alpine\n"), Some("sudo apk add redis"));
        assert_eq!(
            line("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n"),
            Some("sudo dnf install redis")
        );
        assert_eq!(line(""), None);
    }

    #[test]
    fn a_socket_path_that_is_too_long_is_refused_with_a_hint() {
        let dir = format!("/{}", "d".repeat(100));
        let error = LocalServer::new(Some(Path::new(&dir))).unwrap_err();
        assert!(error.message().contains("too long"));
        assert!(error.hint_text().unwrap().contains("shorter"));
    }
}
