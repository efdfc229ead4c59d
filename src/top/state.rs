//! What the screen shows: keys and answers in, effects out.

use std::collections::BTreeSet;
use std::mem;
use std::time::{Duration, Instant};

use super::TopOptions;
use super::keys::{CHANGE_KEYS, Key, VIEW_KEYS};
use super::lists::{self, Rows, Table, TableSource};
use super::reader::{
    JobSource, ReadFailure, ReadRequest, ReadResult, ReadTarget, ReaderReply, Samples, TextSource,
};
use crate::clock::moment::Moment;
use crate::command_line::CommandLine;
use crate::error::Error;
use crate::listen::ReadPace;
use crate::look;
use crate::model::job::{Job, State as JobState};
use crate::model::overview::headline::Headline;
use crate::model::overview::history::History;
use crate::model::overview::{Overview, SystemFacts};
use crate::model::pattern::{Pattern, matches_any};
use crate::name::Name;
use crate::session::shown_server::ShownServer;

/// The states of a queue's jobs by their keys.
pub(super) const STATES: [JobState; 6] = [
    JobState::Waiting,
    JobState::Running,
    JobState::Stalled,
    JobState::Scheduled,
    JobState::Depends,
    JobState::Throttled,
];

/// One of the servers, and what was read from it.
pub(super) struct ServerView {
    pub shown: ShownServer,
    pub history: History,
    pub seen: Option<LastSnapshot>,
    /// Why the last read failed, when, and the steps to the server.
    pub away: Option<(Error, Vec<String>, Instant)>,
    pub pace: ReadPace,
    /// When the next read is due; `None` while something is read.
    due: Option<Instant>,
    /// Whether what is being read is already known to be old.
    is_due_again: bool,
}

/// The last snapshot.
pub(super) struct LastSnapshot {
    pub facts: SystemFacts,
    pub samples: Samples,
    pub overview: Overview,
    pub now: Moment,
    pub at: Instant,
}

impl ServerView {
    /// A server that was not read yet, and is read at once.
    pub(super) fn new(shown: ShownServer, interval: Duration) -> ServerView {
        ServerView {
            shown,
            history: History::default(),
            seen: None,
            away: None,
            pace: ReadPace::new(interval),
            due: Some(Instant::now()),
            is_due_again: false,
        }
    }

    /// How many jobs of a list there are, as far as the last snapshot tells.
    fn count(&self, source: &JobSource) -> Option<u64> {
        let JobSource::Queue(name, state) = source else {
            return None;
        };
        let queues = &self.seen.as_ref()?.facts.queues;
        let counts = &queues
            .iter()
            .find(|queue| queue.counts.name == *name)?
            .counts;
        match state {
            JobState::Running => Some(counts.running),
            JobState::Stalled => Some(counts.stalled),
            _ => None,
        }
    }
}

/// What a key asks for beyond the screen.
#[derive(Debug, PartialEq)]
pub(super) enum Effect {
    None,
    Quit,
    Suspend,
    Redraw,
    Copy(Name),
    Run(CommandLine),
}

/// A screen above the first one.
pub(super) enum View {
    Jobs {
        title: String,
        source: JobSource,
        jobs: Vec<Job>,
        total: u64,
        error: Option<String>,
    },
    Text {
        title: String,
        source: TextSource,
        text: String,
        scroll: usize,
    },
}

impl View {
    /// What is read to show it.
    fn wanted(&self) -> ReadTarget {
        match self {
            View::Jobs { source, .. } => ReadTarget::Jobs(source.clone()),
            View::Text { source, .. } => ReadTarget::Text(source.clone()),
        }
    }

    /// Shows a reply. `counted` is the number of jobs by the last snapshot, of which a list may show only some.
    fn take(&mut self, found: Result<ReadResult, ReadFailure>, counted: Option<u64>) {
        match (self, found) {
            (
                View::Jobs {
                    jobs, total, error, ..
                },
                Ok(ReadResult::Jobs {
                    jobs: read,
                    total: all,
                }),
            ) => {
                *total = counted.unwrap_or(all).max(read.len() as u64);
                (*jobs, *error) = (read, None);
            }
            (View::Jobs { error, .. }, Err(away)) => {
                *error = Some(away.error.message().into_owned());
            }
            (View::Text { text, .. }, Ok(ReadResult::Text(read))) => *text = read,
            (View::Text { text, .. }, Err(away)) => *text = away.error.message().into_owned(),
            _ => {}
        }
    }
}

/// What stands over the screen.
#[derive(Debug, PartialEq)]
pub(super) enum Overlay {
    /// All keys, from this line on.
    Keys(usize),
    /// Lines of commands.
    Commands(Vec<String>),
    /// A pause, the number of its queues, and the reason typed so far, which may stay empty.
    Reason(CommandLine, usize, String),
    /// A change that waits for `y`.
    Question(CommandLine, usize),
}

pub(super) struct State {
    pub servers: Vec<ServerView>,
    pub server: usize,
    pub table: Table,
    orders: [usize; 3],
    selected: [Option<Name>; 4],
    pub views: Vec<View>,
    pub overlay: Option<Overlay>,
    pub filter: String,
    pub is_typing: bool,
    pub marked: BTreeSet<Name>,
    pub message: Option<String>,
    pub color: bool,
    queues: Vec<Pattern>,
    /// Further questions, the next first.
    waiting: Vec<ReadTarget>,
    notes: String,
    /// The size of the last frame.
    pub width: usize,
    pub page: usize,
}

impl State {
    pub(super) fn new(options: &TopOptions, servers: Vec<ServerView>) -> State {
        let state = State {
            servers,
            server: 0,
            table: Table::Queues,
            orders: [0; 3],
            selected: Default::default(),
            views: Vec::new(),
            overlay: None,
            filter: String::new(),
            is_typing: false,
            marked: BTreeSet::new(),
            message: None,
            color: options.color,
            queues: options.queues.clone(),
            waiting: Vec::new(),
            notes: String::new(),
            width: 80,
            page: 10,
        };
        state.current_server().shown.direct_commands();
        state
    }

    pub(super) fn current_server(&self) -> &ServerView {
        &self.servers[self.server]
    }

    /// What was noted while the screen was shown.
    pub(super) fn notes(&self) -> &str {
        &self.notes
    }

    pub(super) fn read_again(&mut self) {
        let server = &mut self.servers[self.server];
        server.is_due_again = server.due.is_none();
        server.due = server.due.map(|_| Instant::now());
    }

    /// What to read next, if something is due and nothing is being read.
    pub(super) fn next_request(&mut self, now: Instant) -> Option<ReadRequest> {
        let due = self.current_server().due?;
        let what = if let Some(what) = self.waiting.pop() {
            what
        } else if now >= due {
            let named = self.queues.iter().filter_map(Pattern::as_plain_name);
            ReadTarget::Snapshot(named.cloned().collect())
        } else {
            return None;
        };
        self.servers[self.server].due = None;
        Some(ReadRequest {
            server: self.server,
            width: self.width,
            what,
        })
    }

    /// Takes an answer.
    pub(super) fn take(&mut self, answer: ReaderReply, now: Instant) {
        let ReaderReply {
            request,
            found,
            elapsed,
            notes,
        } = answer;
        self.notes.push_str(&notes);
        let is_here = request.server == self.server;
        let server = &mut self.servers[request.server];
        if matches!(request.what, ReadTarget::Snapshot(_)) {
            server.pace.note_read(elapsed);
        }
        let rest = if mem::take(&mut server.is_due_again) {
            Duration::ZERO
        } else {
            server.pace.interval
        };
        server.due = Some(now + rest);
        match (request.what, found) {
            (ReadTarget::Snapshot(_), Ok(ReadResult::Snapshot(mut facts, samples, at))) => {
                server.history.note(&facts, at, server.pace.interval);
                facts
                    .queues
                    .retain(|queue| matches_any(&self.queues, Some(&queue.counts.name)));
                server.away = None;
                server.seen = Some(LastSnapshot {
                    overview: look::build_overview((*facts).clone(), look::RECENT, at),
                    facts: *facts,
                    samples,
                    now: at,
                    at: now,
                });
                // What stands above is read anew, too.
                if is_here {
                    self.waiting.extend(self.views.last().map(View::wanted));
                }
            }
            (ReadTarget::Snapshot(_), Err(ReadFailure { error, steps })) => {
                server.away = Some((error, steps, now));
            }
            (what, found) if is_here => {
                let counted = match &what {
                    ReadTarget::Jobs(source) => server.count(source),
                    _ => None,
                };
                let shown = self.views.last_mut();
                if let Some(view) = shown.filter(|view| view.wanted() == what) {
                    view.take(found, counted);
                }
            }
            _ => {}
        }
        // A marked row may have left the list since.
        if is_here && !self.is_text() && !self.marked.is_empty() {
            let rows = self.unfiltered_rows().rows;
            self.marked
                .retain(|name| rows.iter().any(|row| row.name == *name));
        }
    }

    /// How things stand in one line, and how to see the problems that it leaves out.
    pub(super) fn headline(&self) -> String {
        let Some(seen) = &self.current_server().seen else {
            return String::new();
        };
        let headline = Headline::new(&seen.overview);
        let rest = if headline.is_complete() {
            ""
        } else {
            ": i shows all"
        };
        headline.parts().join(" · ") + rest
    }

    pub(super) fn order(&self, table: Table) -> usize {
        self.orders[table as usize]
    }

    /// The rows of a table of the first screen that the filter leaves.
    pub(super) fn rows(&self, table: Table) -> Rows {
        self.filtered(self.all_rows(table))
    }

    fn all_rows(&self, table: Table) -> Rows {
        let server = self.current_server();
        let Some(seen) = &server.seen else {
            return Rows::default();
        };
        let table_source = TableSource {
            facts: &seen.facts,
            samples: &seen.samples,
            history: &server.history,
            now: seen.now,
            width: self.width,
            order: self.order(table),
        };
        table_source.rows(table)
    }

    /// The rows of the list in front that the filter leaves.
    pub(super) fn front_rows(&self) -> Rows {
        self.filtered(self.unfiltered_rows())
    }

    fn unfiltered_rows(&self) -> Rows {
        let now = self
            .current_server()
            .seen
            .as_ref()
            .map_or_else(Moment::default, |seen| seen.now);
        match self.views.last() {
            Some(View::Jobs { jobs, .. }) => lists::jobs(jobs, now, self.width),
            Some(View::Text { .. }) => Rows::default(),
            None => self.all_rows(self.table),
        }
    }

    fn filtered(&self, mut rows: Rows) -> Rows {
        let wanted = self.filter.to_lowercase();
        let fits = |name: &Name| name.to_string().to_lowercase().contains(&wanted);
        rows.rows.retain(|row| fits(&row.name));
        rows
    }

    fn slot(&self) -> usize {
        if self.views.is_empty() {
            self.table as usize
        } else {
            3
        }
    }

    /// Where the selected row stands in a table: it is known by its name.
    pub(super) fn position(&self, rows: &Rows, slot: usize) -> usize {
        let selected = self.selected[slot].as_ref();
        let found = selected.and_then(|name| rows.rows.iter().position(|row| row.name == *name));
        found.unwrap_or(0)
    }

    pub(super) fn position_of_table(&self, table: Table, rows: &Rows) -> usize {
        self.position(rows, table as usize)
    }

    pub(super) fn front_position(&self, rows: &Rows) -> usize {
        self.position(rows, self.slot())
    }

    fn selected_name(&self) -> Option<Name> {
        let rows = self.front_rows();
        let at = self.front_position(&rows);
        rows.rows.get(at).map(|row| row.name.clone())
    }

    /// Takes a key.
    pub(super) fn press(&mut self, key: Key) -> Effect {
        if key == Key::Control('l') {
            return Effect::Redraw;
        }
        self.message = None;
        if self.is_typing {
            return self.type_filter(key);
        }
        if let Some(Overlay::Reason(line, count, reason)) = &mut self.overlay {
            let typed = match key {
                Key::Control('c') => return Effect::Quit,
                Key::Escape => {
                    self.overlay = None;
                    self.message = Some(NOTHING.into());
                    return Effect::None;
                }
                Key::Enter => mem::take(reason),
                key => {
                    type_key(key, reason);
                    return Effect::None;
                }
            };
            let line = match typed.trim() {
                "" => line.clone(),
                reason => line.clone().flag("--reason", reason),
            };
            let count = *count;
            return self.ask(line, count, self.current_server().shown.is_protected);
        }
        match (key, self.overlay.take()) {
            (Key::Control('c'), _) => return Effect::Quit,
            (Key::Char('y'), Some(Overlay::Question(line, _))) => {
                self.marked.clear();
                return Effect::Run(line);
            }
            (_, Some(Overlay::Question(..))) => {
                self.message = Some(NOTHING.into());
                return Effect::None;
            }
            (_, Some(Overlay::Keys(from))) => {
                self.overlay = self.scrolled_keys(key, from);
                return Effect::None;
            }
            (_, Some(Overlay::Commands(_))) => return Effect::None,
            _ => {}
        }
        if let (
            Key::Char(state @ '1'..='6'),
            Some(View::Jobs {
                source: JobSource::Queue(queue, _),
                ..
            }),
        ) = (key, self.views.last())
        {
            let state = STATES[state as usize - '1' as usize];
            let queue = queue.clone();
            self.views.pop();
            self.open_jobs(queue_title(&queue, state), JobSource::Queue(queue, state));
            return Effect::None;
        }
        match key.without_vi() {
            Key::Char('q') => return Effect::Quit,
            Key::Control('z') => return Effect::Suspend,
            Key::Char('?') | Key::Control('p') => self.overlay = Some(Overlay::Keys(0)),
            Key::Up => self.step(-1),
            Key::Down => self.step(1),
            Key::PageUp => self.step(-(self.page as isize)),
            Key::PageDown => self.step(self.page as isize),
            Key::First => self.step(isize::MIN),
            Key::Last => self.step(isize::MAX),
            Key::Tab if self.views.is_empty() => {
                let next = (self.table as usize + 1) % Table::ALL.len();
                self.table = Table::ALL[next];
                self.marked.clear();
            }
            Key::Enter => self.open(),
            Key::Escape => self.back(),
            Key::Char('/') if !self.is_text() => self.is_typing = true,
            Key::Char('s') if self.views.is_empty() => {
                let orders = self.table.orders();
                let order = &mut self.orders[self.table as usize];
                *order = (*order + 1) % orders.len();
                self.message = Some(format!("sorted by {}", orders[*order]));
            }
            Key::Char('e') => self.explain(),
            Key::Char('i') if self.views.is_empty() => {
                self.open_text("status".to_owned(), TextSource::Status);
            }
            Key::Char(' ') => {
                if let Some(name) = self.selected_name() {
                    if !self.marked.remove(&name) {
                        self.marked.insert(name);
                    }
                    self.step(1);
                }
            }
            Key::Char('*') => {
                let names: BTreeSet<Name> = self
                    .front_rows()
                    .rows
                    .into_iter()
                    .map(|row| row.name)
                    .collect();
                self.marked = if self.marked == names {
                    BTreeSet::new()
                } else {
                    names
                };
            }
            Key::Char('w') => {
                let lines = self.command_lines();
                self.overlay = Some(Overlay::Commands(lines));
            }
            Key::Char('y') => {
                if let Some(name) = self.subject() {
                    self.message = Some(format!("copied {name}"));
                    return Effect::Copy(name);
                }
            }
            Key::Char('c') if self.servers.len() > 1 => {
                self.server = (self.server + 1) % self.servers.len();
                self.current_server().shown.direct_commands();
                self.views.clear();
                self.marked.clear();
                self.waiting.clear();
                self.selected = Default::default();
                self.read_again();
            }
            Key::Char(key) if key.is_ascii_uppercase() => return self.change_by(key),
            _ => {}
        }
        Effect::None
    }

    /// The list of keys after a key: scrolled, or closed.
    fn scrolled_keys(&self, key: Key, from: usize) -> Option<Overlay> {
        let by = match key.without_vi() {
            Key::Up => -1,
            Key::Down => 1,
            Key::PageUp => -(self.page as isize),
            Key::PageDown => self.page as isize,
            Key::First => isize::MIN,
            Key::Last => isize::MAX,
            _ => return None,
        };
        let last = (VIEW_KEYS.len() + CHANGE_KEYS.len()).saturating_sub(self.page);
        Some(Overlay::Keys(from.saturating_add_signed(by).min(last)))
    }

    fn type_filter(&mut self, key: Key) -> Effect {
        match key {
            Key::Control('c') => return Effect::Quit,
            Key::Enter => self.is_typing = false,
            Key::Escape => {
                self.is_typing = false;
                self.filter.clear();
            }
            key => type_key(key, &mut self.filter),
        }
        Effect::None
    }

    /// Whether the footer waits for an answer or for text.
    pub(super) fn is_answering(&self) -> bool {
        self.is_typing
            || matches!(
                self.overlay,
                Some(Overlay::Question(..) | Overlay::Reason(..))
            )
    }

    fn is_text(&self) -> bool {
        matches!(self.views.last(), Some(View::Text { .. }))
    }

    /// Moves the selection, or scrolls a text.
    fn step(&mut self, by: isize) {
        if let Some(View::Text { text, scroll, .. }) = self.views.last_mut() {
            let last = text.lines().count().saturating_sub(1);
            *scroll = scroll.saturating_add_signed(by).min(last);
            return;
        }
        let rows = self.front_rows();
        let at = self.front_position(&rows).saturating_add_signed(by);
        let at = at.min(rows.rows.len().saturating_sub(1));
        let slot = self.slot();
        self.selected[slot] = rows.rows.get(at).map(|row| row.name.clone());
    }

    fn back(&mut self) {
        if !self.filter.is_empty() {
            self.filter.clear();
        } else if !self.marked.is_empty() && !self.is_text() {
            self.marked.clear();
        } else {
            self.views.pop();
        }
    }

    fn open(&mut self) {
        let Some(name) = self.selected_name() else {
            return;
        };
        if !self.views.is_empty() {
            let title = format!("job {name}");
            return self.open_text(title, TextSource::Job(name));
        }
        match self.table {
            Table::Queues => {
                let state = STATES[0];
                self.open_jobs(queue_title(&name, state), JobSource::Queue(name, state));
            }
            Table::Failed => self.open_jobs(format!("failed: {name}"), JobSource::Group(name)),
            Table::Workers => self.open_jobs(format!("jobs of {name}"), JobSource::Worker(name)),
        }
    }

    fn open_jobs(&mut self, title: String, source: JobSource) {
        self.filter.clear();
        self.marked.clear();
        self.selected[3] = None;
        self.waiting = vec![ReadTarget::Jobs(source.clone())];
        self.views.push(View::Jobs {
            title,
            source,
            jobs: Vec::new(),
            total: 0,
            // Until the answer comes.
            error: Some("…".to_owned()),
        });
    }

    fn open_text(&mut self, title: String, source: TextSource) {
        self.waiting = vec![ReadTarget::Text(source.clone())];
        self.views.push(View::Text {
            title,
            source,
            text: String::new(),
            scroll: 0,
        });
    }

    fn explain(&mut self) {
        let (title, source) = match self.views.last() {
            None if self.table == Table::Queues => match self.selected_name() {
                Some(queue) => (format!("why: {queue}"), TextSource::ExplainQueue(queue)),
                None => return,
            },
            Some(View::Text {
                source: TextSource::Job(jid),
                ..
            }) => (format!("why: {jid}"), TextSource::ExplainJob(jid.clone())),
            Some(View::Jobs { .. }) => match self.selected_name() {
                Some(jid) => (format!("why: {jid}"), TextSource::ExplainJob(jid)),
                None => return,
            },
            _ => return,
        };
        self.open_text(title, source);
    }

    /// What the screen is about: the selected row, or the job of the text.
    fn subject(&self) -> Option<Name> {
        match self.views.last() {
            Some(View::Text { source, .. }) => match source {
                TextSource::Job(name)
                | TextSource::ExplainJob(name)
                | TextSource::ExplainQueue(name) => Some(name.clone()),
                TextSource::Status => None,
            },
            _ => self.selected_name(),
        }
    }

    /// The marked rows, or what the screen is about.
    fn subjects(&self) -> Vec<Name> {
        // A text is about its own job, whatever is marked in the list below it.
        if self.marked.is_empty() || self.is_text() {
            self.subject().into_iter().collect()
        } else {
            self.marked.iter().cloned().collect()
        }
    }

    /// The line that shows the same.
    fn view_line(&self) -> Option<CommandLine> {
        match self.views.last() {
            Some(View::Text { source, .. }) => Some(match source {
                TextSource::Job(jid) => CommandLine::new("get").name(jid),
                TextSource::ExplainJob(jid) => CommandLine::new("explain").name(jid),
                TextSource::ExplainQueue(queue) => {
                    CommandLine::new("explain").flag("--queue", queue)
                }
                TextSource::Status => CommandLine::new("status"),
            }),
            Some(View::Jobs { source, .. }) => Some(match source {
                JobSource::Queue(queue, state) => CommandLine::new("jobs")
                    .exact_pattern("--queue", queue)
                    .flag("--state", state.into_str()),
                JobSource::Group(group) => {
                    CommandLine::new("failed").exact_pattern("--group", group)
                }
                JobSource::Worker(worker) => CommandLine::new("workers").name(worker),
            }),
            None => Some(match self.table {
                Table::Queues => {
                    let queues: Vec<Name> = self.queues.iter().map(Pattern::as_typed).collect();
                    CommandLine::new("queues").names(&queues)
                }
                Table::Failed => CommandLine::new("failed"),
                Table::Workers => CommandLine::new("workers"),
            }),
        }
    }

    fn command_lines(&self) -> Vec<String> {
        let changes = CHANGE_KEYS.iter().filter_map(|(key, _)| self.change(*key));
        let lines = self
            .view_line()
            .into_iter()
            .chain(changes.map(|(line, _)| line));
        lines.filter_map(|line| line.shell_line()).collect()
    }

    /// The change that a key makes, and whether its command asks by itself.
    pub(super) fn change(&self, key: char) -> Option<(CommandLine, bool)> {
        let (line, asks) = self.plain_change(key)?;
        // An empty name, or one with a NUL, can be given to no command.
        _ = line.shell_line()?;
        Some((line, asks))
    }

    fn plain_change(&self, key: char) -> Option<(CommandLine, bool)> {
        let names = self.subjects();
        if names.is_empty() || self.current_server().shown.is_read_only {
            return None;
        }
        let of_groups = |word: &str| {
            let line = CommandLine::new("failed");
            let line = names
                .iter()
                .fold(line, |line, group| line.exact_pattern("--group", group));
            Some((line.word(word), true))
        };
        // Commands about named jobs ask in a protected context, and before they cancel several.
        let asks = self.current_server().shown.is_protected || key == 'C' && names.len() > 1;
        let of_jobs = |verb: &str| Some((CommandLine::new(verb).names(&names), asks));
        let is_first = self.views.is_empty();
        match (key, self.table) {
            ('R', Table::Failed) if is_first => of_groups("--retry-all"),
            ('C', Table::Failed) if is_first => of_groups("--cancel-all"),
            ('P', Table::Queues) if is_first => {
                let facts = self.current_server().seen.as_ref().map(|seen| &seen.facts);
                let is_paused = facts.is_some_and(|facts| {
                    let mut queues = facts.queues.iter();
                    queues.any(|queue| queue.counts.name == names[0] && queue.counts.paused)
                });
                of_jobs(if is_paused { "unpause" } else { "pause" })
            }
            _ if is_first
                || matches!(
                    self.views.last(),
                    Some(View::Text {
                        source: TextSource::ExplainQueue(_),
                        ..
                    })
                ) =>
            {
                None
            }
            ('R', _) => of_jobs("retry"),
            ('C', _) => of_jobs("cancel"),
            ('U', _) => of_jobs("promote"),
            ('T', _) => of_jobs("track"),
            _ => None,
        }
    }

    fn change_by(&mut self, key: char) -> Effect {
        let Some((line, asks)) = self.change(key) else {
            self.message = Some(if self.current_server().shown.is_read_only {
                "this server is only read".into()
            } else {
                format!("{key} changes nothing here")
            });
            return Effect::None;
        };
        let count = self.subjects().len();
        if line.begins_with("pause") {
            self.overlay = Some(Overlay::Reason(line, count, String::new()));
            return Effect::None;
        }
        self.ask(line, count, asks)
    }

    /// Asks before a command about this many runs, unless it asks by itself.
    fn ask(&mut self, line: CommandLine, count: usize, asks: bool) -> Effect {
        self.overlay = None;
        if asks {
            self.marked.clear();
            return Effect::Run(line);
        }
        self.overlay = Some(Overlay::Question(line, count));
        Effect::None
    }
}

const NOTHING: &str = "nothing was changed";

/// A key in a line that is typed.
fn type_key(key: Key, line: &mut String) {
    match key {
        Key::Backspace => _ = line.pop(),
        Key::Char(c) => line.push(c),
        _ => {}
    }
}

fn queue_title(queue: &Name, state: JobState) -> String {
    format!("{queue}: {}", state.into_str())
}
