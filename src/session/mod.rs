//! The session of a command: its flags, its streams, its clock, and its connection to the server, which is opened on
//! first use.

pub(crate) mod actor;
pub(crate) mod consent;
pub(crate) mod password;
pub(crate) mod secrets;
pub(crate) mod shown_server;
pub(crate) mod tls;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use crate::address::secret::Secret;
use crate::address::{Address, ServerTarget};
use crate::args::format::Format;
use crate::args::globals::{AddressOrigin, CanonicalAndTypedCommand, Globals, TlsFiles};
use crate::clock::Clock;
use crate::clock::moment::Moment;
use crate::command_line::CommandLine;
use crate::core::call::{Call, ConnectionSettings, Core};
use crate::core::script::{USUAL_PREFIX, with_hash_tag};
use crate::env;
use crate::error::{Cause, Error, Kind};
use crate::exit::Exit;
use crate::input::jids::GivenJids;
use crate::input::source::{CommandInputs, StdinAvailability};
use crate::input::two_pass::TwoPassFile;
use crate::model::overview::history::JobRateHistory;
use crate::model::rate::MaxRate;
use crate::model::server::{NO_EVICTION, eviction_sentence};
use crate::settings::members::ContextMember;
use crate::settings::{ConfigFile as File, ContextSettings};
use crate::text::{self, Sanitized};
use crate::ui::{ContextInUse, Ui};
use crate::view::View;

/// The timeout if none is given.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// `qless` prints a note if it uses a replica that has not heard from its primary for longer than this.
const MAX_LAG: Duration = Duration::from_secs(10);

/// The commands that add or run jobs. They warn if the server may evict jobs.
const BRING_WORK: [&str; 3] = ["put", "import", "work"];

/// Everything that a command may use.
pub(crate) struct Session {
    pub globals: Globals,
    pub ui: Ui,
    /// The config file. `None` for commands that do not read it.
    pub file: Option<File>,
    /// Whether this command may change data.
    pub changes: bool,
    /// The members of the context, for a command that shows each member separately. Empty for other commands.
    pub members: Vec<ContextMember>,
    /// The snapshots of earlier updates, from which `status --watch` computes rates.
    pub history: JobRateHistory,
    command_line: CanonicalAndTypedCommand,
    clock: Clock,
    core: Option<Core>,
    warned_of_eviction: bool,
    /// The part of the command that this session runs. `None` if the command does not run on several members.
    part: Option<MemberCommandPart>,
}

/// The part of a command that runs on one member of a context with several: the member's jids and input lines, and the
/// state that all members share.
#[derive(Debug, Default)]
pub(crate) struct MemberCommandPart {
    /// The suffix of the names of the files that this member reads or writes.
    pub suffix: String,
    /// The number of members on which the command runs.
    pub members: u32,
    /// The jids for this member, if the command names jobs.
    pub jids: Option<GivenJids>,
    pub stdin: StdinAvailability,
    /// The number of members among which the lines of an input file were distributed. `None` if they were not.
    pub input_sharing_member_count: Option<usize>,
    /// The lines of the input file for this member, if the command puts jobs from a file.
    pub lines: Option<TwoPassFile>,
    /// Set when all members must stop, because one member has decided the result of the command or has failed.
    pub members_must_stop: Arc<AtomicBool>,
    /// The counters that all members share if they print to one stream of lines.
    pub stream: Arc<SharedStreamCounters>,
}

/// The counters that all members of a context share while they print to one stream of lines, as in `events`.
#[derive(Debug, Default)]
pub(crate) struct SharedStreamCounters {
    /// The number of lines shown so far.
    shown: AtomicU64,
    /// The number of members whose server has not yet been reached since the command began.
    unreached: AtomicU32,
}

impl SharedStreamCounters {
    /// The number of the next line to show, from 1. Counts this line as shown.
    pub(crate) fn count_next_line(&self) -> u64 {
        self.shown.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(crate) fn lines_shown_by_all_members(&self) -> u64 {
        self.shown.load(Ordering::Relaxed)
    }
}

impl Session {
    pub(crate) fn new(
        globals: Globals,
        command_line: CanonicalAndTypedCommand,
        file: Option<File>,
        ui: Ui,
        clock: Clock,
    ) -> Session {
        Session {
            globals,
            ui,
            file,
            changes: false,
            members: Vec::new(),
            history: JobRateHistory::default(),
            command_line,
            clock,
            core: None,
            warned_of_eviction: false,
            part: None,
        }
    }

    /// A session that runs `part` of this command on one member of the context.
    pub(crate) fn for_member(
        &self,
        member: &ContextMember,
        ui: Ui,
        part: MemberCommandPart,
    ) -> Session {
        let (globals, file) = (member.globals.clone(), Some(member.file.clone()));
        let mut session = Session::new(
            globals,
            self.command_line.clone(),
            file,
            ui,
            self.clock.clone(),
        );
        session.changes = self.changes;
        session.part = Some(part);
        session
    }

    /// A session with the settings of this one, which opens its own connection to the server.
    pub(crate) fn with_own_connection(&self) -> Session {
        let mut ui = Ui::new(&self.globals);
        if let Some(file) = &self.file {
            ui.set_context(context_label(file));
        }
        let mut session = Session::new(
            self.globals.clone(),
            self.command_line.clone(),
            self.file.clone(),
            ui,
            self.clock.clone(),
        );
        session.changes = self.changes;
        session
    }

    /// A session for each member of the context. Empty if the context has no members.
    pub(crate) fn sessions_of_members(&self) -> Vec<Session> {
        let sessions = self.members.iter().map(|member| {
            let mut ui = Ui::new(&member.globals);
            ui.set_context(context_label(&member.file));
            self.for_member(member, ui, MemberCommandPart::default())
        });
        sessions.collect()
    }

    /// The flag with which a command uses only this member of the context, such as `--prefix PREFIX`.
    pub(crate) fn flag_naming_member(&self) -> Option<(&'static str, &str)> {
        let context = self.file.as_ref()?.context.as_ref()?;
        Some(match &context.values.prefixes {
            Some(_) => ("--prefix", self.prefix()),
            None => ("--context", &context.name),
        })
    }

    /// The password in the address of `--redis`, if the command line has one.
    pub(crate) fn password_in_given_address(&self) -> Option<Secret> {
        let given = self.globals.redis.as_deref();
        let given = given.filter(|_| self.globals.origin == AddressOrigin::Typed)?;
        ServerTarget::parse(given).ok()?.password
    }

    /// Refuses flags with which the user types a password: with several members, each would ask for it.
    pub(crate) fn refuse_password_prompt_per_member(&self) -> Result<(), Error> {
        if self.globals.takes_typed_or_stdin_password() {
            return Err(Error::usage("a password can be typed only for one member")
                .hint("a context names its source: `password-command` or `password-env`"));
        }
        Ok(())
    }

    /// Changes this session to one that uses only `member` and runs `part` of the command.
    pub(crate) fn use_only_member(&mut self, member: &ContextMember, part: MemberCommandPart) {
        self.globals = member.globals.clone();
        self.file = Some(member.file.clone());
        self.core = None;
        self.part = Some(part);
    }

    /// Whether this session runs a command on one member of a context with several.
    pub(crate) fn is_for_one_member(&self) -> bool {
        self.part.is_some()
    }

    /// Whether sessions of other members run parts of the same command.
    pub(crate) fn has_other_members(&self) -> bool {
        self.part.as_ref().is_some_and(|part| part.members > 1)
    }

    /// `own_count`, plus 1 if other members take part in the command: how many things they change is not known here.
    /// The sum shows whether the whole command changes more than one thing.
    pub(crate) fn min_total_with_other_members(&self, own_count: usize) -> usize {
        own_count + usize::from(self.has_other_members())
    }

    /// The number of members among which the lines of the input file were distributed. `None` if they were not.
    pub(crate) fn input_sharing_member_count(&self) -> Option<usize> {
        self.part.as_ref()?.input_sharing_member_count
    }

    /// The path of a file that this session reads or writes. If the command runs on several members, each member has
    /// its own file: `path` with the member's suffix.
    pub(crate) fn member_file_path(&self, path: &Path) -> PathBuf {
        match &self.part {
            Some(part) if !part.suffix.is_empty() => {
                let mut name = path.as_os_str().to_owned();
                name.push(format!(".{}", part.suffix));
                name.into()
            }
            _ => path.to_path_buf(),
        }
    }

    /// The part of `rate`, the rate of the whole command, that this member may use.
    pub(crate) fn share_of_rate(&self, rate: Option<MaxRate>) -> Option<MaxRate> {
        let members = self.part.as_ref().map_or(1, |part| part.members);
        rate.map(|rate| rate.divided_by(members))
    }

    /// A flag that all members share. It is set when all must stop, because one has decided the result or has failed.
    pub(crate) fn members_must_stop_flag(&self) -> Arc<AtomicBool> {
        let part = self.part.as_ref();
        part.map(|part| part.members_must_stop.clone())
            .unwrap_or_default()
    }

    /// The counters that all members share if they print to one stream of lines.
    pub(crate) fn shared_stream_counters(&self) -> Arc<SharedStreamCounters> {
        let part = self.part.as_ref();
        part.map(|part| part.stream.clone()).unwrap_or_default()
    }

    /// Counts this member as one whose server has not been reached yet.
    pub(crate) fn count_as_not_yet_reached(&self) {
        if let Some(part) = &self.part {
            part.stream.unreached.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// No longer counts this member as one whose server has not been reached.
    pub(crate) fn count_as_reached(&self) {
        if let Some(part) = &self.part {
            part.stream.unreached.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Whether at least one member is not counted as unreached. False if the command does not run on several members.
    pub(crate) fn is_any_member_reachable(&self) -> bool {
        let part = self.part.as_ref();
        part.is_some_and(|part| part.stream.unreached.load(Ordering::Relaxed) < part.members)
    }

    /// Takes the lines of the input file for this member. `None` if the lines were not distributed among members.
    pub(crate) fn take_input_lines_of_member(&mut self) -> Option<TwoPassFile> {
        self.part.as_mut()?.lines.take()
    }

    pub(crate) fn command_name(&self) -> &str {
        &self.command_line.name
    }

    /// The command with the arguments that determine what it does, without the arguments for its output.
    pub(crate) fn canonical_command(&self) -> &CommandLine {
        &self.command_line.canonical_command
    }

    pub(crate) fn input(&self) -> CommandInputs {
        let part = self.part.as_ref();
        let source = CommandInputs::new(self.globals.null);
        match part {
            Some(part) => source.for_member_run(part.jids.clone(), part.stdin),
            None => source,
        }
    }

    /// The whole command line, to be typed again. `None` if it contains a secret.
    pub(crate) fn command_line_unless_secret(&self) -> Option<String> {
        self.command_line
            .line_unless_secret
            .as_ref()
            .map(CommandLine::shell_line_without_destination)
    }

    /// The hint after a command that ended early: run it again to go on from there.
    pub(crate) fn resume_hint(&self) -> String {
        let again = "run the same command again to go on";
        match self.command_line_unless_secret() {
            Some(line) => format!("{again}: `{line}`"),
            None => again.to_owned(),
        }
    }

    /// The whole command line, to be typed again, with another value for one of its flags. `None` if it contains a
    /// secret.
    pub(crate) fn command_replacing_value_unless_secret(
        &self,
        flag: &str,
        value: &str,
    ) -> Option<String> {
        let line = self.command_line.line_unless_secret.as_ref()?;
        Some(
            line.with_changed_typed_value(flag, value)
                .shell_line_without_destination(),
        )
    }

    pub(crate) fn context_label_of_database(&self) -> Option<&str> {
        self.file.as_ref()?.database_label()
    }

    /// The server that a command changes, as questions and dry runs name it: `LABEL (ADDRESS)`. The label is that of
    /// the context in use, or of another context that protects the database.
    pub(crate) fn server_label_and_address(&mut self) -> Result<String, Error> {
        let address = match &self.core {
            Some(core) => core.address(),
            None => self.shown_target()?.to_string(),
        };
        Ok(match self.context_label_of_database() {
            Some(label) => format!("{} ({address})", Sanitized(label)),
            None => address,
        })
    }

    /// The end of a question that does not name the server yet: ` on LABEL (ADDRESS)` if the database has a label, else
    /// empty.
    pub(crate) fn on_server_text_if_labeled(&mut self) -> Result<String, Error> {
        if self.context_label_of_database().is_some() {
            self.server_label_and_address()
                .map(|place| format!(" on {place}"))
        } else {
            Ok(String::new())
        }
    }

    /// The prefix of all keys.
    pub(crate) fn prefix(&self) -> &str {
        self.globals.prefix.as_deref().unwrap_or(USUAL_PREFIX)
    }

    /// The connection to the core, if it is open.
    pub(crate) fn core_if_open(&mut self) -> Option<&mut Core> {
        self.core.as_mut()
    }

    /// Gives away the session's connection to the core, for use in another thread. The session opens a new one when it
    /// needs one.
    pub(crate) fn take_or_open_core(&mut self) -> Result<Core, Error> {
        match self.core.take() {
            Some(core) => Ok(core),
            None => self.connect_new_core_and_warn(Duration::MAX),
        }
    }

    /// Connects if there is no connection yet. Takes at most `limit` or the timeout, whichever is shorter.
    pub(crate) fn ensure_connected_within(&mut self, limit: Duration) -> Result<(), Error> {
        if self.core.is_none() {
            self.core = Some(self.connect_new_core_and_warn(limit)?);
        }
        Ok(())
    }

    /// Connects within `limit`, and warns of dangers: a prefix without hash tag in a cluster, a replica without its
    /// primary, and a server that may evict jobs.
    fn connect_new_core_and_warn(&mut self, limit: Duration) -> Result<Core, Error> {
        let settings = self.connection_settings()?;
        let core = Core::connect_within(settings, limit);
        let core = core.map_err(|error| self.with_corrected_command_hint(error))?;
        if core.relies_on_single_cluster_primary() && self.changes {
            let (fact, way_out) = hash_tag_warning_and_remedy(self.prefix());
            self.ui.note(&format!("note: {fact}: {way_out}"));
        }
        if let Some(sentence) = silent_primary_message(core.time_since_primary_contact()) {
            self.ui.note(&format!("note: {sentence}"));
        }
        if let Some(policy) = core.job_eviction_policy()
            && !std::mem::replace(&mut self.warned_of_eviction, true)
        {
            let sentence = eviction_sentence(&Sanitized(policy).to_string());
            self.ui.warn(&format!("{sentence}; {NO_EVICTION}"));
        }
        Ok(core)
    }

    /// Tries once to connect, without retries, for a command that reports why it cannot connect.
    pub(crate) fn connect_once(&self, settings: ConnectionSettings) -> Result<Core, Error> {
        Core::connect_once(settings).map_err(|error| self.with_corrected_command_hint(error))
    }

    fn with_corrected_command_hint(&self, error: Error) -> Error {
        with_corrected_command_hint(error, self.command_line.line_unless_secret.as_ref())
    }

    /// The connection to the core. Opens it if necessary.
    pub(crate) fn core(&mut self) -> Result<&mut Core, Error> {
        Ok(self.core_and_ui()?.0)
    }

    pub(crate) fn core_and_ui(&mut self) -> Result<(&mut Core, &mut Ui), Error> {
        if self.core.is_none() {
            self.core = Some(self.connect_new_core_and_warn(Duration::MAX)?);
        }
        match &mut self.core {
            Some(core) => Ok((core, &mut self.ui)),
            None => unreachable!("the core was opened above"),
        }
    }

    /// Whether QLESS_NOW pins the time.
    pub(crate) fn is_time_pinned(&self) -> bool {
        self.clock.is_pinned()
    }

    /// The present time: by the server's clock if there is a connection, else by this host's clock.
    pub(crate) fn now(&self) -> Moment {
        self.clock().now()
    }

    /// The server's clock if there is a connection, else this host's clock.
    pub(crate) fn clock(&self) -> &Clock {
        self.core.as_ref().map_or(&self.clock, Core::clock)
    }

    /// Connects, and returns the time of this command by the server's clock. A command calls this once, at its start.
    pub(crate) fn connect(&mut self) -> Result<Moment, Error> {
        self.core()?;
        let now = self.now();
        self.ui.set_now(now);
        Ok(now)
    }

    /// Connects for a command that shows `V`. Before that, refuses formats and columns that `V` does not have.
    pub(crate) fn connect_to_show<V: View>(&mut self, formats: &[Format]) -> Result<Moment, Error> {
        self.ui.require_format(formats)?;
        self.ui.check_columns::<V>()?;
        self.connect()
    }

    /// Makes a call and prints the reply of the core as it is, for `-o raw`.
    pub(crate) fn print_core_reply(&mut self, now: Moment, call: &Call) -> Result<Exit, Error> {
        let (core, ui) = self.core_and_ui()?;
        let reply = core.call_for_raw_output(now, call)?;
        ui.write_verbatim_unless_terminal(&reply)?;
        Ok(Exit::Ok)
    }

    /// Refuses `what`, the name of a change, if the session is read-only. Needs no connection.
    pub(crate) fn require_writable(&self, what: &str) -> Result<(), Error> {
        let Some((why, hint)) = self.read_only_setting_and_remedy() else {
            return Ok(());
        };
        let message = format!("{what} may change something, and {why}");
        Err(Error::new(Kind::NotConfirmed, message).hint_if(hint))
    }

    /// The setting that makes the session read-only, and a hint for how to change it, if there is one. `None` if the
    /// session may write.
    pub(crate) fn read_only_setting_and_remedy(&self) -> Option<(String, Option<String>)> {
        if !self.globals.read_only {
            return None;
        }
        let by_flag = || {
            Some(match env::nonempty_var("QLESS_READ_ONLY") {
                Some(_) => (
                    "QLESS_READ_ONLY is set".to_owned(),
                    Some("unset it: its value does not matter".to_owned()),
                ),
                None => ("`--read-only` was given".to_owned(), None),
            })
        };
        let Some(file) = &self.file else {
            return by_flag();
        };
        let own = file
            .context
            .as_ref()
            .map(|context| (context, context.values.read_only));
        let read_only = |context: &&ContextSettings| context.values.read_only == Some(true);
        let other = file.protecting.iter().find(read_only);
        let by = match (own, file.contents.defaults.read_only, other) {
            (Some((context, Some(true))), ..) => {
                format!("context `{}` is read-only", Sanitized(&context.name))
            }
            (None | Some((_, None)), Some(true), _) => "`[defaults]` is read-only".into(),
            (_, _, Some(other)) => format!(
                "this is the server of context `{}`, which is read-only",
                Sanitized(&other.name)
            ),
            _ => return by_flag(),
        };
        let path = file.source.display_path();
        Some((
            by,
            Some(format!(
                "no flag overrides that, only an edit of `{path}` does"
            )),
        ))
    }

    /// Refuses a command with `-o raw` if the session is read-only: it runs a call of the reference core, which may
    /// change data as a side effect.
    pub(crate) fn require_writable_if_raw_output(&self) -> Result<(), Error> {
        match self.ui.format() {
            Format::Raw => {
                self.require_writable(&format!("the core's own `{}`", self.command_name()))
            }
            _ => Ok(()),
        }
    }

    /// The server's address: the one that was given, else the default. Its only password is one in the address itself.
    pub(crate) fn target(&self) -> Result<ServerTarget, Error> {
        ServerTarget::parse(
            self.globals
                .redis
                .as_deref()
                .unwrap_or(ServerTarget::DEFAULT),
        )
    }

    /// As [`Session::target`], for display: a user whose password comes from elsewhere is shown.
    pub(crate) fn shown_target(&self) -> Result<ServerTarget, Error> {
        let target = self.target()?;
        let context = self.file.as_ref().and_then(|file| file.context.as_ref());
        let has_password = context.is_some_and(|context| {
            let values = &context.values;
            values.password_command.is_some() || values.password_env.is_some()
        });
        Ok(if has_password || self.globals.has_password_source() {
            target.with_user_shown()
        } else {
            target
        })
    }

    /// The timeout for connecting, and for one call.
    pub(crate) fn timeout(&self) -> Duration {
        self.globals.timeout.unwrap_or(DEFAULT_TIMEOUT)
    }

    /// Connects to this address instead of the one that was given.
    pub(crate) fn connect_to(&mut self, target: ServerTarget) -> Result<&mut Core, Error> {
        let settings = self.connection_settings_for(target);
        Ok(self.core.insert(Core::connect(settings)?))
    }

    /// The server's version, to test a context: connects with the settings of that context.
    pub(crate) fn probe_server_version(
        &mut self,
        context: &ContextSettings,
    ) -> Result<String, Error> {
        let defaults = self.file.as_ref().map(|file| &file.contents.defaults);
        let values = match defaults {
            Some(defaults) => context.values.or_defaults(defaults),
            None => context.values.clone(),
        };
        let mut globals = self.globals.clone();
        globals.origin = AddressOrigin::File;
        let mut target =
            ServerTarget::parse(values.redis.as_deref().unwrap_or(ServerTarget::DEFAULT))?;
        if !matches!(target.address, Address::Local { .. }) {
            password::fill_password(&mut target, &globals, Some(context), &mut self.ui)?;
        }
        let files = globals.tls.or_defaults(&values.tls_files());
        tls::fill_tls(&mut target, &files, &TlsFiles::default(), &mut self.ui)?;
        let first = values
            .prefixes
            .as_ref()
            .and_then(|prefixes| prefixes.first());
        let prefix = globals.prefix.or(values.prefix).or(first.cloned());
        let settings = ConnectionSettings {
            prefix: prefix.unwrap_or_else(|| USUAL_PREFIX.into()),
            timeout: globals
                .timeout
                .or(values.timeout)
                .unwrap_or(DEFAULT_TIMEOUT),
            read_only: globals.read_only || values.read_only == Some(true),
            ..self.connection_settings_for(target)
        };
        Ok(Core::connect(settings)?.server_version().to_owned())
    }

    fn connection_settings(&mut self) -> Result<ConnectionSettings, Error> {
        let target = self.target_with_tls()?;
        self.connection_settings_with_password(target)
    }

    /// As [`Session::target`], with the TLS certificates and key of flags, environment and context.
    pub(crate) fn target_with_tls(&mut self) -> Result<ServerTarget, Error> {
        let mut target = self.target()?;
        let Globals { tls, given, .. } = &self.globals;
        tls::fill_tls(&mut target, tls, &given.tls, &mut self.ui)?;
        Ok(target)
    }

    /// The settings for a connection to `target`. Finds the password first: may prompt for it, or run a program.
    pub(crate) fn connection_settings_with_password(
        &mut self,
        mut target: ServerTarget,
    ) -> Result<ConnectionSettings, Error> {
        if !matches!(target.address, Address::Local { .. }) {
            let context = self.file.as_ref().and_then(|file| file.context.as_ref());
            password::fill_password(&mut target, &self.globals, context, &mut self.ui)?;
        }
        Ok(self.connection_settings_for(target))
    }

    fn connection_settings_for(&self, target: ServerTarget) -> ConnectionSettings {
        ConnectionSettings {
            target,
            prefix: self.prefix().to_string(),
            name: format!("qless-{}", self.command_name()),
            timeout: self.timeout(),
            clock: self.clock.clone(),
            trace: self.ui.trace(),
            read_only: self.globals.read_only,
            writes: self.changes,
            asks_for_eviction: self.changes && BRING_WORK.contains(&self.command_name()),
        }
    }
}

/// The name and the label of the context in use, for prompts and plans, and whether the database is protected.
pub(crate) fn context_label(settings: &File) -> ContextInUse {
    let context = settings.context.as_ref();
    ContextInUse {
        name: context.map(|context| context.name.clone()),
        label: settings.database_label().map(str::to_owned),
        protected: settings.protecting_context().is_some(),
    }
}

/// The message that a replica has not heard from its primary for `lag`. `None` up to [`MAX_LAG`].
pub(crate) fn silent_primary_message(lag: Option<Duration>) -> Option<String> {
    let lag = lag.filter(|lag| *lag > MAX_LAG)?;
    let lag = text::format_duration(lag.as_secs_f64());
    Some(format!(
        "this replica has heard nothing from its primary for {lag}"
    ))
}

/// The warning that a prefix without a hash tag works in a cluster only while it has one primary, and the remedy.
pub(crate) fn hash_tag_warning_and_remedy(prefix: &str) -> (String, String) {
    let fact = format!(
        "prefix `{prefix}` works in this cluster because it has one primary; with a second one, each call \
         will fail"
    );
    let tagged = with_hash_tag(prefix);
    let way_out = format!("move with `export` and `import --prefix '{tagged}'`");
    (fact, way_out)
}

/// Adds a hint to an error about the wrong kind of address or prefix, such as a cluster given as a single server: the
/// command line with the right one.
pub(crate) fn with_corrected_command_hint(error: Error, line: Option<&CommandLine>) -> Error {
    let (Some(Cause::WrongAddressKind { redis, prefix }), Some(line)) =
        (error.cause().cloned(), line)
    else {
        return error;
    };
    let mut line = line.clone();
    for (flag, value) in [("--redis", redis), ("--prefix", prefix.clone())] {
        match value {
            // `***` stands for a password in the address: a line without the password would not work.
            Some(value) if value.contains("***") => return error,
            Some(value) => line = line.with_global_flag_set_to(flag, &value),
            None => {}
        }
    }
    let works = format!("this works: {}", line.shell_line_without_destination());
    match (prefix, error.hint_text()) {
        (Some(_), Some(hint)) => {
            let hint = format!("{hint}; {works}");
            error.hint(hint)
        }
        _ => error.hint(works),
    }
}
