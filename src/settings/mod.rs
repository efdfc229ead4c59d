//! The configuration file and its contexts.
//!
//! Flags and environment override the file: [`read_config_and_fill`] sets only what neither of them has set.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use crate::address;
use crate::args::globals::{AddressOrigin, Globals};
use crate::env;
use crate::error::{Error, Kind, limit_hint};
use crate::fs::open;
use crate::fs::open_failure::OpenFailure;
use crate::fs::trust;
use crate::model;
use crate::name::Name;
use crate::text::Sanitized;

pub(crate) mod edit;
pub(crate) mod members;
pub(crate) mod protection;
pub(crate) mod read;
pub(crate) mod values;

use members::ContextMembers;
use read::ConfigContents;
use values::ConfigValues;

/// Maximum size of the file in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// The hint for an unreadable file: how to run a command without it.
const NO_FILE: &str = "`--config none` reads no file";

/// Where the configuration file is, and how its path was chosen.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ConfigSource {
    /// No config file: `--config none`, or no home directory.
    None,
    /// The default path, which need not exist.
    Usual(PathBuf),
    /// The path from `--config` or QLESS_CONFIG.
    Given(PathBuf),
}

/// A context: settings with a name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ContextSettings {
    pub name: String,
    pub values: ConfigValues,
}

impl ContextSettings {
    /// The label in prompts.
    pub(crate) fn label_or_name(&self) -> &str {
        self.values.label.as_deref().unwrap_or(&self.name)
    }

    /// The context as `qless context` shows it, without its password.
    pub(crate) fn to_document(
        &self,
        defaults: &ConfigValues,
        is_default: bool,
        is_used: bool,
    ) -> model::context::Context {
        let own = &self.values;
        let values = own.or_defaults(defaults);
        let stands = values.redis.as_deref().is_some_and(address::holds_password);
        let password = match (&own.password_command, &own.password_env) {
            (Some(_), _) => Some("password-command"),
            (_, Some(_)) => Some("password-env"),
            _ if stands => Some("redis"),
            _ => None,
        };
        let address = values.redis.as_deref();
        let file = |path: &Option<PathBuf>| Some(path.as_ref()?.to_str()?.to_owned());
        model::context::Context {
            name: self.name.clone(),
            redis: address.map(|address| address::display_address(address, password.is_some())),
            prefix: values.prefix.clone(),
            prefixes: own.prefixes.clone(),
            members: own.members.clone(),
            label: self.label_or_name().into(),
            protected: own.is_protected(),
            read_only: values.read_only == Some(true),
            password,
            tls_ca: file(&values.tls_ca),
            tls_cert: file(&values.tls_cert),
            tls_key: file(&values.tls_key),
            default: is_default,
            used: is_used,
            server: None,
            error: None,
        }
    }
}

/// The configuration file, its contents, and the context that this command uses. If the file does not exist, the
/// contents are empty.
#[derive(Clone, Debug)]
pub(crate) struct ConfigFile {
    pub source: ConfigSource,
    /// Whether the file exists.
    pub exists: bool,
    pub contents: ConfigContents,
    /// The context in use.
    pub context: Option<ContextSettings>,
    /// Other contexts for the database in use that are protected or read-only.
    pub protecting: Vec<ContextSettings>,
    /// The members of the context in use. `None` if it stands for one prefix on one server.
    pub members: Option<ContextMembers>,
    /// A warning about the file.
    pub warning: Option<String>,
    /// The line about the file for `-v`.
    pub summary: Option<String>,
}

impl ConfigSource {
    /// The path of the configuration file: from `--config`, from QLESS_CONFIG, or the default path.
    pub(crate) fn from_globals(globals: &Globals) -> Result<ConfigSource, Error> {
        match &globals.config {
            Some(none) if none == "none" => return Ok(ConfigSource::None),
            Some(empty) if empty.is_empty() => {
                return Err(Error::usage("`--config` is empty").hint(NO_FILE));
            }
            Some(path) => return Ok(ConfigSource::Given(path.into())),
            None => {}
        }
        let home = |name: &str| {
            env::nonempty_var(name)
                .map(PathBuf::from)
                .filter(|p| p.is_absolute())
        };
        let config =
            home("XDG_CONFIG_HOME").or_else(|| home("HOME").map(|home| home.join(".config")));
        Ok(match config {
            Some(dir) => ConfigSource::Usual(dir.join("qless/config.toml")),
            None => ConfigSource::None,
        })
    }

    pub(crate) fn path(&self) -> Option<&PathBuf> {
        match self {
            ConfigSource::None => None,
            ConfigSource::Usual(path) | ConfigSource::Given(path) => Some(path),
        }
    }

    /// The path, sanitized for a terminal.
    pub(crate) fn display_path(&self) -> String {
        self.path()
            .map(|path| Sanitized(path.as_os_str().as_bytes()).to_string())
            .unwrap_or_default()
    }

    pub(crate) fn read_config_file(self, must_exist: bool) -> Result<ConfigFile, Error> {
        let mut settings = ConfigFile {
            source: self,
            exists: false,
            contents: ConfigContents::default(),
            context: None,
            protecting: Vec::new(),
            members: None,
            warning: None,
            summary: None,
        };
        let Some((bytes, file)) = settings.source.read_bytes(must_exist)? else {
            return Ok(settings);
        };
        settings.exists = true;
        settings.contents = settings.source.parse_bytes(&bytes)?;
        if let Some(dir) = settings.source.path().and_then(|path| path.parent()) {
            let contents = &mut settings.contents;
            for values in contents
                .contexts
                .values_mut()
                .chain([&mut contents.defaults])
            {
                values.resolve_relative_paths(dir);
            }
        }
        let found = file.metadata();
        if found.is_ok_and(|found| trust::is_readable_by_others(&found))
            && settings.contents.has_password_in_address()
        {
            settings.warning = Some(format!(
                "others may read `{}`, and a password stands in it",
                settings.source.display_path()
            ));
        }
        Ok(settings)
    }

    /// The bytes of the file, and the open file. `None` if the file does not exist, unless it must exist. Refuses a
    /// file that another user can write, because the file names servers, their CAs, and programs to run.
    fn read_bytes(&self, must_exist: bool) -> Result<Option<(Vec<u8>, File)>, Error> {
        use io::ErrorKind::{NotADirectory, NotFound};
        let Some(path) = self.path() else {
            return Ok(None);
        };
        let what = format!("cannot read config file `{}`", self.display_path());
        let failed = |fault: io::Error| {
            let hint = limit_hint(&fault).unwrap_or(NO_FILE);
            Error::from_io(Kind::Usage, &what, &fault).hint(hint)
        };
        let file = match open::open_to_read_unless_pipe(path) {
            Ok(file) => file,
            Err(why)
                if matches!(why.io_kind(), Some(NotFound | NotADirectory))
                    && !(must_exist && matches!(self, ConfigSource::Given(_))) =>
            {
                return Ok(None);
            }
            Err(why) => return Err(why.into_error(&what, Kind::Usage).hint(NO_FILE)),
        };
        trust::refuse_untrusted_file(path, &file).map_err(|why| self.untrusted_file_error(why))?;
        let mut bytes = Vec::new();
        let read = (&file).take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes);
        read.map_err(failed)?;
        if bytes.len() as u64 > MAX_FILE_BYTES {
            Err(Error::usage(format!(
                "config file `{}` is longer than 1 MiB",
                self.display_path()
            )))
        } else {
            Ok(Some((bytes, file)))
        }
    }

    fn untrusted_file_error(&self, why: OpenFailure) -> Error {
        let what = format!("cannot use config file `{}`", self.display_path());
        let error = why.into_error(&what, Kind::Usage);
        let hint = match error.hint_text() {
            Some(hint) => format!("{hint}; {NO_FILE}"),
            None => NO_FILE.into(),
        };
        error.hint(hint)
    }

    fn parse_bytes(&self, bytes: &[u8]) -> Result<ConfigContents, Error> {
        read::parse_config(bytes).map_err(|fault| {
            self.error_at_position(fault.position, &fault.what)
                .hint_if(fault.hint)
        })
    }

    fn error_at_position(&self, position: read::TextPosition, what: &str) -> Error {
        let read::TextPosition { line, column } = position;
        let shown = self.display_path();
        Error::usage(format!(
            "config file `{shown}`, line {line}, column {column}: {what}"
        ))
    }
}

impl ConfigContents {
    fn has_password_in_address(&self) -> bool {
        let all = self.contexts.values().chain([&self.defaults]);
        let mut addresses = all.filter_map(|values| values.redis.as_deref());
        addresses.any(address::holds_password)
    }

    /// The context with this name. The error for an unknown name suggests similar names.
    pub(crate) fn context_by_name(&self, name: &str) -> Result<ContextSettings, Error> {
        match self.contexts.get(name) {
            Some(values) => Ok(ContextSettings {
                name: name.into(),
                values: values.clone(),
            }),
            None => {
                let known: Vec<Name> = self.order.iter().map(|name| name.as_str().into()).collect();
                let error = Error::unknown_name("context", &name.into(), &known);
                Err(match error.hint_text() {
                    None => error.hint("`qless context` lists those that there are"),
                    Some(_) => error,
                })
            }
        }
    }
}

impl ConfigFile {
    /// All contexts, in the order of the file.
    pub(crate) fn contexts(&self) -> Vec<ContextSettings> {
        let named = |name: &String| {
            let values = self.contents.contexts.get(name)?.clone();
            let name = name.clone();
            Some(ContextSettings { name, values })
        };
        self.contents.order.iter().filter_map(named).collect()
    }

    /// Fails if the path of the file is from `--config` or QLESS_CONFIG and the file does not exist.
    pub(crate) fn refuse_missing_given_file(&self) -> Result<(), Error> {
        if self.exists {
            Ok(())
        } else {
            self.source.read_bytes(true).map(drop)
        }
    }

    /// The context with this name. If there is no config file, the error says where it would be.
    pub(crate) fn context_by_name(&self, name: &str) -> Result<ContextSettings, Error> {
        let missing = |why: String| {
            let shown = Sanitized(name);
            Error::not_found(format!("context `{shown}` does not exist: {why}"))
        };
        match (&self.source, self.exists) {
            (_, true) => self.contents.context_by_name(name),
            (ConfigSource::None, _) => Err(missing("there is no config file".into())),
            (source, false) => {
                let why = format!("there is no config file `{}`", source.display_path());
                Err(missing(why).hint("`qless context add NAME --redis URL` writes it"))
            }
        }
    }

    /// The protected context for the database in use: the one in use, or another one. The user must type its label
    /// before a change. `None` if no such context is protected.
    pub(crate) fn protecting_context(&self) -> Option<&ContextSettings> {
        let mut contexts = self.context.iter().chain(&self.protecting);
        contexts.find(|context| context.values.is_protected())
    }

    /// The label of the database in use: that of the protecting context, else that of the context in use. A context
    /// with several members has one label for all of them.
    pub(crate) fn database_label(&self) -> Option<&str> {
        if self.members.is_some() {
            return self.context.as_ref().map(ContextSettings::label_or_name);
        }
        let context = self.protecting_context().or(self.context.as_ref());
        context.map(ContextSettings::label_or_name)
    }

    /// The context with this name. For several names separated by commas, a context that has these contexts as members.
    fn context_by_name_or_joined(&self, name: &str) -> Result<ContextSettings, Error> {
        match self.context_by_name(name) {
            Err(error) if !name.contains(',') => Err(error),
            Err(_) => {
                let names: Vec<String> = name.split(',').map(str::to_owned).collect();
                self.joined_context(&names)
            }
            found => found,
        }
    }

    /// A context that has these contexts as members, as if the file contained it.
    fn joined_context(&self, names: &[String]) -> Result<ContextSettings, Error> {
        for name in names {
            let values = self.context_by_name(name)?.values;
            if values.members.is_some() || values.prefixes.is_some() {
                let name = Sanitized(name);
                let what = format!("context `{name}` names several itself");
                return Err(Error::usage(what).hint("name its members"));
            }
        }
        let values = ConfigValues {
            members: Some(names.to_vec()),
            ..ConfigValues::default()
        };
        Ok(ContextSettings {
            name: names.join(","),
            values,
        })
    }

    /// The context to use: what `--context` names, else the default context. `None` if there is none, or if a flag or
    /// the environment names another server than the default context.
    pub(crate) fn choose_context(
        &self,
        globals: &Globals,
    ) -> Result<Option<ContextSettings>, Error> {
        match globals.context.as_slice() {
            [] => {}
            [name] => return self.context_by_name_or_joined(name).map(Some),
            names => return self.joined_context(names).map(Some),
        }
        let Some((name, position)) = &self.contents.default else {
            return Ok(None);
        };
        let Some(values) = self.contents.contexts.get(name) else {
            let what = format!(
                "`default` names no context, `{}` does not exist",
                Sanitized(name)
            );
            let known = self.contents.order.iter().map(String::as_str);
            let error = self.source.error_at_position(*position, &what);
            return Err(error.hint(read::similar_key_hint(name, known)));
        };
        let addresses = values.redis.as_deref().zip(globals.redis.as_deref());
        let elsewhere = matches!(
            globals.origin,
            AddressOrigin::Typed | AddressOrigin::Environment
        ) && (values.members.is_some()
            || addresses
                .is_some_and(|(one, other)| protection::are_different_databases(one, other)));
        Ok((!elsewhere).then(|| ContextSettings {
            name: name.clone(),
            values: values.clone(),
        }))
    }
}

/// Reads the configuration file and sets the globals that neither flags nor environment have set. The commands that
/// manage contexts pass false for `uses_context`: they use no context.
pub(crate) fn read_config_and_fill(
    globals: &mut Globals,
    uses_context: bool,
) -> Result<ConfigFile, Error> {
    let mut settings = ConfigSource::from_globals(globals)?.read_config_file(uses_context)?;
    if uses_context {
        settings.context = settings.choose_context(globals)?;
    }
    if settings.exists {
        let context = settings.context.as_ref().map(|context| &context.name);
        let context = context.map_or("no context".into(), |name| {
            format!("context {}", Sanitized(name))
        });
        settings.summary = Some(format!(
            "config {}, {context}",
            settings.source.display_path()
        ));
    }
    settings.members = ContextMembers::from_context(globals, &settings)?;
    // The address of the context overrides an address from the environment, but not one from the command line.
    let values = settings.context.as_ref().map(|context| &context.values);
    let address = values.and_then(|values| values.redis.clone());
    if let (Some(address), true) = (address, globals.origin != AddressOrigin::Typed) {
        globals.redis = Some(address);
        globals.origin = AddressOrigin::File;
    }
    let defaults = &settings.contents.defaults;
    match values {
        Some(values) => fill_unset_globals(globals, &values.or_defaults(defaults)),
        None if uses_context => fill_unset_globals(globals, defaults),
        // Without a context, use only the output settings of `[defaults]`, not its settings for the server.
        None => fill_unset_globals(
            globals,
            &ConfigValues {
                redis: None,
                prefix: None,
                timeout: None,
                read_only: None,
                tls_ca: None,
                tls_cert: None,
                tls_key: None,
                ..defaults.clone()
            },
        ),
    }
    if let Some(members) = &settings.members {
        for member in &members.list {
            globals.read_only |= member.globals.read_only;
            let own = member.file.context.iter().cloned();
            let context = settings.context.as_ref().map(|context| &context.name);
            let own = own.filter(|own| Some(&own.name) != context && own.values.is_protected());
            settings.protecting.extend(own);
            settings
                .protecting
                .extend(member.file.protecting.iter().cloned());
        }
    } else if uses_context {
        settings.protecting = protection::other_protecting_contexts(globals, &settings);
        let mut others = settings.protecting.iter();
        globals.read_only |= others.any(|context| context.values.read_only == Some(true));
    }
    Ok(settings)
}

/// Sets the globals that are not set yet.
fn fill_unset_globals(globals: &mut Globals, values: &ConfigValues) {
    if let (None, Some(address)) = (&globals.redis, &values.redis) {
        globals.redis = Some(address.clone());
        globals.origin = AddressOrigin::File;
    }
    if globals.prefix.is_none() {
        globals.prefix = values.prefix.clone();
    }
    globals.timeout = globals.timeout.or(values.timeout);
    globals.tls = globals.tls.or_defaults(&values.tls_files());
    globals.output = globals.output.or(values.output);
    globals.headers = globals.headers.or(values.headers);
    globals.time_format = globals.time_format.or(values.time_format);
    if !env::environment_decides_color() {
        globals.color = globals.color.or(values.color);
    }
    globals.no_pager |= values.no_pager == Some(true);
    globals.no_input |= values.no_input == Some(true);
    globals.read_only |= values.read_only == Some(true);
}
