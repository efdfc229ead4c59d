//! Generates the completion scripts, and the manual pages from the tree of commands.

use std::io;

use clap::{Command, ValueEnum};
use clap_mangen::Man;
use strum::VariantArray;

use super::completion::shell::Shell;
use super::help;
use super::help::layout::DocCommentParts;
use crate::exit::Exit;
use crate::model::documents::DOCUMENTS;
use crate::model::finding::text as findings;
use crate::model::finding::{LIMITS, Severity};
use crate::settings::values::{self, ConfigFileKey};

/// A generated file: its path in the repository and its content.
pub struct GeneratedFile {
    pub path: String,
    pub bytes: Vec<u8>,
}

impl GeneratedFile {
    /// The file's name, without the directory.
    pub fn file_name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }
}

/// All files of `completions/` and `man/`.
pub fn generated_files() -> io::Result<Vec<GeneratedFile>> {
    let scripts = Shell::value_variants().iter().map(|shell| GeneratedFile {
        path: format!("completions/{}", shell.script_name()),
        bytes: shell.script().into(),
    });
    let mut files: Vec<GeneratedFile> = scripts.collect();
    files.extend(manual_pages()?);
    Ok(files)
}

pub fn manual_pages() -> io::Result<Vec<GeneratedFile>> {
    let mut files = Vec::new();
    let mut tree = super::parse::clap_tree();
    tree.build();
    add_command_pages(&tree, &mut files)?;
    files.push(json_man_page());
    files.push(config_man_page());
    files.push(work_man_page());
    Ok(files)
}

/// The manual page `qless-json(5)`: the fields of each document.
fn json_man_page() -> GeneratedFile {
    let mut page = String::from(
        ".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\n.TH qless-json 5 \"\" \"\" \"qless\"\n\
         .SH NAME\nqless\\-json \\- the documents of \\-o json and ndjson\n\
         .SH DESCRIPTION\n\
         Every document has `kind` and `v`. Within one `v`, keys are only added. Times are RFC 3339 in \
         UTC with milliseconds. Durations are seconds, in keys that end in `_s`. A stored string that \
         is not UTF\\-8 is written with `\\\\xff` for its bytes; a key that ends in `_bytes` has the \
         bytes in base64. `qless help json KIND` prints a JSON \
         Schema.\n\
         .SH DOCUMENTS\n",
    );
    for document in &DOCUMENTS {
        page.push_str(&format!(
            ".SS {}\n{}\n.nf\n",
            escape_roff(document.kind),
            escape_roff(document.summary)
        ));
        for line in document.field_outline() {
            let indent = "  ".repeat(line.depth + 1);
            page.push_str(&format!(
                "{indent}\\fB{}\\fR\n{indent}    {}\n",
                escape_roff(&line.field),
                escape_roff(&line.meaning)
            ));
        }
        page.push_str(".fi\n");
    }
    GeneratedFile {
        path: "man/qless-json.5".to_owned(),
        bytes: page.into_bytes(),
    }
}

/// The manual page `qless-work(5)`: the programs of `qless work`.
fn work_man_page() -> GeneratedFile {
    let mut page = String::from(
        ".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\n.TH qless-work 5 \"\" \"\" \"qless\"\n\
         .SH NAME\nqless\\-work \\- programs for `qless work`: jobs, answers, exit codes\n\
         .SH DESCRIPTION\n",
    );
    let mut begins_section = true;
    // A blank line between two indented lines belongs to the example.
    let mut paragraphs: Vec<String> = Vec::new();
    for paragraph in help::WORK.trim_end().split("\n\n") {
        let is_shown = |text: &str| text.trim_start_matches('\n').starts_with("    ");
        match paragraphs.last_mut() {
            Some(last) if is_shown(last) && is_shown(paragraph) => {
                last.push_str("\n\n");
                last.push_str(paragraph);
            }
            _ => paragraphs.push(paragraph.to_owned()),
        }
    }
    for paragraph in &paragraphs {
        if !paragraph.contains(|c: char| c.is_lowercase()) {
            page.push_str(&format!(".SH \"{paragraph}\"\n"));
            begins_section = true;
            continue;
        }
        if !begins_section {
            page.push_str(".PP\n");
        }
        begins_section = false;
        let text = escape_roff(paragraph);
        if paragraph.starts_with("    ") {
            page.push_str(&format!(".nf\n{text}\n.fi\n"))
        } else {
            page.push_str(&format!("{text}\n"))
        }
    }
    page.push_str(".SH \"SEE ALSO\"\nqless(1), qless\\-work(1), qless\\-json(5)\n");
    GeneratedFile {
        path: "man/qless-work.5".to_owned(),
        bytes: page.into_bytes(),
    }
}

/// The manual page `qless-config(5)`: the keys of the config file.
fn config_man_page() -> GeneratedFile {
    let mut page = String::from(
        ".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\n.TH qless-config 5 \"\" \"\" \"qless\"\n",
    );
    let mut add = |head: &str, text: &str| {
        page.push_str(&format!("{head}\n{}\n", escape_roff(text)));
    };
    add(".SH NAME", "qless-config - settings of qless, and contexts");
    for (head, text) in ABOUT_SETTINGS {
        add(&format!(".SH {head}"), text);
    }
    add(
        ".SH TABLES",
        "The file has these top-level keys and tables:",
    );
    for (name, says) in values::TABLES {
        add(&format!(".TP\n\\fB{}\\fR", escape_roff(name)), says);
    }
    for (head, defaults) in [("KEYS OF A CONTEXT", false), ("KEYS OF [defaults]", true)] {
        let known = ConfigFileKey::known_keys(defaults);
        if defaults {
            let names: Vec<&str> = known.iter().map(|key| key.name.as_str()).collect();
            add(&format!(".SH {head}"), &format!("{}.", names.join(", ")));
            continue;
        }
        add(&format!(".SH {head}"), "Each is optional.");
        for key in known {
            let name = format!(
                ".TP\n\\fB{}\\fR ({})",
                escape_roff(&key.name),
                key.value_type
            );
            let text = format!("{}. Default: {}.", key.help, key.default);
            add(&name, &text);
        }
    }
    page.push_str(&format!(
        ".SH EXAMPLE\n.nf\n{}.fi\n.SH SEE ALSO\nqless(1), qless\\-context(1)\n",
        escape_roff(values::EXAMPLE)
    ));
    GeneratedFile {
        path: "man/qless-config.5".to_owned(),
        bytes: page.into_bytes(),
    }
}

/// The sections of `qless-config(5)` before its keys.
const ABOUT_SETTINGS: [(&str, &str); 9] = [
    (
        "SYNOPSIS",
        "$XDG_CONFIG_HOME/qless/config.toml, else ~/.config/qless/config.toml",
    ),
    (
        "DESCRIPTION",
        "The file is TOML. --config FILE or QLESS_CONFIG names another file; `none` means no file. A \
         missing file is an error only if it was named. Unknown keys and values of the wrong type \
         are errors: `qless` reports line and column and does nothing. `qless` warns of a file that \
         other users can read and that has a password in an address.",
    ),
    (
        "OWNER AND MODE",
        "A file that another user can have written is refused, since it names servers, CAs and \
         programs. It must belong to you or root, and neither group nor others may write it. Each directory above it must belong to you or \
         root, and neither group nor others may write that, unless it is sticky, as /tmp is, or its group \
         has the number of your user or of root. Symbolic links must belong to you or root.",
    ),
    (
        "PRECEDENCE",
        "In this order: flags, the environment, the context, [defaults], the built-in defaults. --context \
         or QLESS_CONTEXT chooses the context. The address of a chosen context overrides \
         QLESS_REDIS_URL and REDIS_URL. --redis overrides that address and keeps the other settings \
         of the context. If no context is chosen, the default context applies, unless \
         --redis, QLESS_REDIS_URL or REDIS_URL names another server than that context: then no \
         context applies. Of the flags, only --config with another file turns `read-only` and `protected` off; else an edit \
         of the file does. Both \
         belong to the server, the database and the prefix: they also hold if --redis, the \
         environment or another context names the same address in any spelling. A context that \
         says `read-only = false` itself stays writable. Addresses of a cluster, or of Sentinels, are \
         equal if they have a node in common: name all of them in the file.",
    ),
    (
        "PASSWORDS",
        "The first of these is used: --password-file, --askpass, QLESS_REDIS_PASSWORD, REDISCLI_AUTH, \
         password-command or password-env of the context, the address. If the address is not that of \
         the context and has a password, this password is used instead of those of the context. If a \
         password-command fails, `qless` exits with 6. A --password-file may belong to anybody; `qless` \
         warns of one that other users can read.",
    ),
    (
        "TLS",
        "A connection to rediss:// or valkeys:// is encrypted, with TLS 1.2 or 1.3. The certificate \
         of the server must be valid now, be issued by a trusted CA, and have the host of the \
         address among its alternative names; no setting turns this off. The trusted CAs are those of the \
         system (SSL_CERT_FILE and SSL_CERT_DIR name others), or only those of tls-ca, if it is set. \
         If the server asks for a client certificate, it gets that of tls-cert. All files are PEM; \
         the key has no passphrase. `qless` warns of a key file that other users can read. For an \
         address without TLS, these keys and their variables have no effect, and their flags are an \
         error.",
    ),
    (
        "REDIS CLUSTER",
        "redis-cluster://HOST:PORT,HOST:PORT names any nodes of a cluster; the others are found from \
         there. All must be of one cluster. The prefix must have a hash tag, such as {mail}:, so that all of its keys are in one \
         slot, on one node; several prefixes use several nodes. A cluster with one primary takes any \
         prefix, and `qless` warns of the second one. If the slot moves or a replica takes over, calls \
         wait and go on, for up to --timeout; a scan begins again, once. While a slot is moved key by \
         key, no call of its prefix runs, not even a heartbeat: pause the queues before, or use the atomic \
         moves of Redis 8.4 and Valkey 9. With rediss-cluster://, each node must have its name in its \
         certificate: set cluster-announce-hostname. Only Valkey 9 has databases other than 0 in a \
         cluster.",
    ),
    (
        "SENTINEL",
        "redis-sentinel://HOST:PORT,HOST:PORT/DB?master=NAME names Sentinels, with 26379 as their \
         default port, and the master that they watch. Each of them has 300 ms; the first that names \
         a server whose ROLE is master is believed. The login of the address is the master's; that of \
         the Sentinels themselves is in QLESS_SENTINEL_USER and QLESS_SENTINEL_PASSWORD. At every new \
         connection, and when the master turns out to be a replica, they are asked again.",
    ),
    (
        "REPLICAS",
        "With --read-only, a replica can be read. What the primary changed lately may be missing; after \
         10 s of silence of the primary, a note says so. A job that falls due is not moved on a replica.",
    ),
];

/// The sections of `qless-check(1)` about findings, with the choices that the operator has to make.
fn findings_man_sections() -> String {
    let introduction = findings::INTRODUCTION.replace('\n', " ");
    let mut page = format!(".SH FINDINGS\n{}\n", escape_roff(introduction.trim_end()));
    for severity in Severity::VARIANTS.iter().rev() {
        let says = capitalize(severity.severity_meaning());
        page.push_str(&format!(".TP\n\\fB{}\\fR\n{says}.\n", severity.into_str()));
    }
    for finding in findings::manual_entries() {
        let name = escape_roff(finding.name);
        let standing = escape_roff(&finding.severity_and_invariants);
        let text = escape_roff(&finding.sentences.join(" "));
        page.push_str(&format!(".TP\n\\fB{name}\\fR ({standing})\n{text}\n"));
        for choice in finding.choices {
            page.push_str(&format!(".IP\n\\(bu {}\n", escape_roff(choice)));
        }
    }
    page.push_str(".SH \"NOT CHECKED\"\n");
    for (invariant, says) in LIMITS {
        page.push_str(&format!(
            ".TP\nI\\-{invariant:02}\n{}.\n",
            capitalize(&escape_roff(says))
        ));
    }
    page.push_str(".SH \"KNOWN DEVIATIONS\"\nNormal, though it may look damaged:\n");
    for line in findings::tolerated_deviation_lines() {
        page.push_str(&format!(".IP \\(bu 2\n{}\n", escape_roff(&line)));
    }
    page.push_str(".PP\nClients with the reference core leave this behind; `check` reports it:\n");
    for line in findings::reference_core_defect_lines() {
        page.push_str(&format!(".IP \\(bu 2\n{}\n", escape_roff(&line)));
    }
    page
}

/// The text with an upper-case first letter.
fn capitalize(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// Escapes the characters that are special in roff.
fn escape_roff(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('-', "\\-")
        .replace('\'', "\\*(Aq")
}

/// Adds the manual pages of a command and its subcommands.
fn add_command_pages(command: &Command, files: &mut Vec<GeneratedFile>) -> io::Result<()> {
    let name = command.get_display_name().unwrap_or("qless");
    let parts = DocCommentParts::of_command(command);
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").to_owned();
    let page = command.clone().long_about(parts.first.clone());
    let page = page.before_long_help(None::<&str>);
    let man = Man::new(page.override_usage(usage)).manual("qless");
    let man = man.source(concat!("qless ", env!("CARGO_PKG_VERSION")));
    let mut bytes = Vec::new();
    man.render_title(&mut bytes)?;
    man.render_name_section(&mut bytes)?;
    man.render_synopsis_section(&mut bytes)?;
    man.render_description_section(&mut bytes)?;
    for (text, program) in parts.paragraphs_with_example_program() {
        bytes.extend(format!(".PP\n{}\n", escape_roff(&text.replace('\n', " "))).bytes());
        if let Some(program) = program {
            bytes.extend(format!(".PP\n.nf\n{}\n.fi\n", escape_roff(program)).bytes());
        }
    }
    man.render_options_section(&mut bytes)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut bytes)?;
    }
    let mut rest = String::new();
    if !parts.examples.is_empty() {
        rest.push_str(".SH EXAMPLES\n.nf\n");
        for example in &parts.examples {
            rest.push_str(&format!("{}\n", escape_roff(example)));
        }
        rest.push_str(".fi\n");
    }
    if name == "qless-check" {
        rest.push_str(&findings_man_sections());
    }
    rest.push_str(".SH \"EXIT STATUS\"\n");
    match parts.exit_codes {
        Some(codes) => rest.push_str(&format!("{}\n", escape_roff(&codes))),
        None => {
            for exit in Exit::VARIANTS {
                let (name, when) = exit.name_and_meaning();
                let (code, name, when) = (exit.code(), escape_roff(name), escape_roff(when));
                rest.push_str(&format!(".TP\n.B {code}\n{name}: {when}\n"));
            }
        }
    }
    rest.push_str(".SH \"SEE ALSO\"\n");
    if let Some(others) = parts.see_also {
        rest.push_str(&format!("{}\n.PP\n", escape_roff(&others)));
    }
    rest.push_str("qless(1), qless\\-json(5), qless\\-config(5)\n");
    bytes.extend_from_slice(rest.as_bytes());
    files.push(GeneratedFile {
        path: format!("man/{name}.1"),
        bytes,
    });
    for below in command
        .get_subcommands()
        .filter(|below| below.get_name() != "help")
    {
        add_command_pages(below, files)?;
    }
    Ok(())
}
