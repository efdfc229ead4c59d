//! `qless config dump`

use std::collections::BTreeMap;

use crate::args::format::Format;
use crate::args::input_arg::FileOrStreamArg;
use crate::error::Error;
use crate::exit::Exit;
use crate::fs;
use crate::model::config::ConfigOption;
use crate::model::done::CommandResult;
use crate::model::list::List;
use crate::name::Name;
use crate::session::Session;
use crate::view::json;

/// Write the options that are set as a JSON object
///
/// Writes to stdout, or to a file that only its owner can read. Defaults are left out. `config
/// load` reads the object. If the context has several members, each gets a file, whose name ends with
/// that of the member.
///
/// Example: `qless config dump > qless.json`
///
/// Example: `qless config dump /var/backups/qless.json`
///
/// Exit codes: 0, 1 the file cannot be written, 5 a name or value is not UTF-8, 6 server.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// File; `-` means stdout [default: stdout]
    #[arg(value_name = "FILE")]
    file: Option<FileOrStreamArg>,
}

pub(super) fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[])?;
    let now = session.connect()?;
    let mut items = session.core()?.config(now)?;
    items.retain(|item| item.set);
    let Some(FileOrStreamArg::Path(file)) = args.file else {
        match session.ui.format() {
            Format::Table => session.ui.write_bytes(&options_as_object(&items)?)?,
            _ => session.ui.show(&List::of_all(items))?,
        }
        return Ok(Exit::Ok);
    };
    let file = session.member_file_path(&file);
    fs::write_private(&file, &options_as_object(&items)?)?;
    let name = Name::from(file.as_os_str());
    session.ui.note_to_people(&format!("wrote {name}"));
    session
        .ui
        .show_and_exit_ok(&CommandResult::new("config dump", vec![name], false))
}

fn options_as_object(items: &[ConfigOption]) -> Result<Vec<u8>, Error> {
    let mut members = BTreeMap::new();
    for item in items {
        let (Some(key), Some(value)) = (item.key.as_str(), item.value.as_str()) else {
            let key = &item.key;
            return Err(Error::conflict(format!(
                "cannot write option `{key}` as JSON: its name or value is not UTF-8"
            ))
            .hint(
                "`qless config dump -o json` has it in base64, and `config load` reads that, too",
            ));
        };
        members.insert(key, value);
    }
    json::pretty_value(&members).map_err(|error| Error::internal(format!("document: {error}")))
}
