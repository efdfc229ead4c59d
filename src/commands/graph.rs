//! `qless graph`

use super::{HelpGroup, MemberDispatch, Spec, refuse_missing_tracing_single_jid};
use crate::args::format::{Format, TimeFormat};
use crate::args::input_arg::ValueFileOrStdinArg;
use crate::args::shared::JidsOrQueue;
use crate::args::value;
use crate::command_line::CommandLine;
use crate::error::Error;
use crate::exit::Exit;
use crate::graph::{GraphRequest, read_graph_of_jobs, read_graph_of_queue};
use crate::input::jids;
use crate::input::jids::GivenJids;
use crate::model::graph::{DrawingOptions, Graph, GraphForm};
use crate::model::job::State;
use crate::name::Name;
use crate::session::Session;
use crate::view::View;

/// Draw which jobs depend on which
///
/// The job is the root of a tree. Below it stand the jobs that it depends on, and below `needed by`
/// the jobs that depend on it. `◄ blocks` marks a failed or missing job that others depend on. `(above)`
/// marks a job that has a line already, `(cycle!)` one that depends on itself through others, and
/// `(one-sided!)` a dependency that will not release the job. If a terminal is too narrow to indent a line,
/// the line begins with its level.
///
/// Several jobs, and the jobs of a queue, are drawn as a forest: each job that no other one depends on is a
/// root. `--queue` shows the jobs of the queue that depend on others or that others depend on. Complete
/// jobs do not appear: the core removes them from the dependencies of other jobs.
///
/// In a pipe, each edge is a line: the job that depends, its dependency with class, queue, state and detail,
/// and `blocks`, `cycle` or `one-sided`. A job that no other one depends on has a line that begins with `–`.
///
/// `--as dot` and `--as mermaid` write the input of Graphviz and of Mermaid. An arrow leads from a job to a
/// job that it depends on.
///
/// Examples: `qless graph c41d77aa0e3b4f6c9d1f2a5b8c7e6d50`
/// · `qless graph c41d77aa0e3b4f6c9d1f2a5b8c7e6d50 --as dot | dot -Tsvg > deploy.svg`
/// · `qless graph --queue deploy --as mermaid`
///
/// Exit codes: 0, 4 unknown jid or queue, 6 server.
///
/// See also: `qless explain`, `qless depends`, `qless get`
#[derive(Clone, Debug, clap::Args)]
#[command(add = value::JidCompletionKind::NotComplete)]
pub(crate) struct Args {
    #[command(flatten)]
    targets: JidsOrQueue,
    /// Only what the jobs depend on, directly or through others
    #[arg(long)]
    up: bool,
    /// Only what depends on the jobs, directly or through others
    #[arg(long, conflicts_with = "up")]
    down: bool,
    /// Maximum number of steps from the jobs to others
    #[arg(long, value_name = "N", value_parser = value::at_least_zero)]
    depth: Option<u64>,
    /// Maximum number of jobs. Up to twice as many edges are drawn; a note counts the others
    #[arg(long, value_name = "N", value_parser = value::graph_job_limit, default_value = "2000")]
    limit: usize,
    /// How the graph is drawn; without it, a tree on a terminal and lines in a pipe
    #[arg(long = "as", value_name = "FORM", value_enum)]
    form: Option<GraphForm>,
    /// Print job ids in full
    #[arg(long)]
    full: bool,
}

pub(crate) const SPEC: Spec<Args> =
    Spec::reads(HelpGroup::Inspect, run).context_member_dispatch(|args| {
        let is_picture = matches!(args.form, Some(GraphForm::Dot | GraphForm::Mermaid));
        match args.targets.jids.as_slice() {
            [ValueFileOrStdinArg::Value(_)] => MemberDispatch::Jobs(&args.targets.jids),
            _ if is_picture => {
                MemberDispatch::Refused("`--as dot` and `--as mermaid` draw one graph")
            }
            jids => MemberDispatch::Jobs(jids),
        }
    });

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[Format::Jid])?;
    refuse_drawing_with_document_format(&args, session)?;
    let request = GraphRequest {
        dependencies: !args.down,
        dependents: !args.up,
        depth: args.depth,
        limit: args.limit,
    };
    let drawing = DrawingOptions {
        form: args.form,
        has_one_root: false,
        dependencies: !args.down,
        dependents: !args.up,
        full_jids: args.full,
        has_ages: matches!(session.globals.time_format, None | Some(TimeFormat::Auto)),
    };
    if let Some(queue) = &args.targets.queue {
        let now = session.connect()?;
        let mut graph = read_graph_of_queue(session.core()?, now, queue, request)?;
        graph.drawing = drawing;
        show_graph(&graph, session)?;
        if graph.nodes.is_empty() {
            let none = format!("no job of `{queue}` depends on another one or is needed by one");
            session.ui.note_to_people(&none);
        }
        return Ok(Exit::Ok);
    }
    let given = jids::read_jids(&mut session.input(), &args.targets.jids)?;
    let now = session.connect()?;
    let mut graph = read_graph_of_jobs(session.core()?, now, given.jids(), request)?;
    graph.drawing = DrawingOptions {
        has_one_root: matches!(given, GivenJids::One(_)),
        ..drawing
    };
    let missing = graph.nodes.iter();
    let missing = missing.filter(|node| node.asked && node.is_missing());
    let missing: Vec<Name> = missing.map(|node| node.job.jid.clone()).collect();
    if missing.len() < given.jids().len() || missing.is_empty() {
        show_graph(&graph, session)?;
    }
    if let (GivenJids::One(jid), [node, ..]) = (&given, graph.nodes.as_slice())
        && node.job.state == Some(State::Depends)
    {
        let explain = CommandLine::new("explain").with_name_argument(jid);
        session.ui.hint_if(explain.shell_line());
    }
    refuse_missing_tracing_single_jid(&missing, now, session)
}

/// Refuses `--as` together with an `-o` that asks for a document. A format that only a default sets is no error: `--as`
/// takes precedence.
fn refuse_drawing_with_document_format(args: &Args, session: &Session) -> Result<(), Error> {
    let Some(form) = args.form else {
        return Ok(());
    };
    if session.ui.format() == Format::Table || !session.globals.given.output {
        return Ok(());
    }
    let form = form.into_str();
    Err(Error::usage(format!(
        "`--as {form}` is a drawing, and `-o` asks for a document"
    ))
    .hint(format!("leave out `-o`, or `--as {form}`")))
}

/// Prints the graph, and notes about the jobs and edges that it leaves out.
fn show_graph(graph: &Graph, session: &mut Session) -> Result<(), Error> {
    let form = graph.drawing.form;
    if form.is_some_and(|form| form != GraphForm::Tree || session.ui.format() != Format::Table) {
        let text = graph.text(session.ui.render_options());
        session.ui.print_text(&text)?;
        let larger = graph.mermaid_limit_sentence(&text);
        if let Some(larger) = larger.filter(|_| form == Some(GraphForm::Mermaid)) {
            session.ui.note(&format!("note: {larger}"));
        }
    } else {
        session.ui.show(graph)?;
    }
    if let Some(omission) = graph.omission_sentence() {
        session.ui.note(&format!("note: {omission}"));
    }
    Ok(())
}
