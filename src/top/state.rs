//! What the screen shows. Keys and replies change it. A key may also have an effect outside of it, such as running
//! a command.

use std::collections::BTreeSet;
use std::mem;
use std::time::{Duration, Instant};

use super::TopOptions;
use super::keys::{CHANGE_KEYS, Key, VIEW_KEYS};
use super::lists::{self, TableKind, TableRows, TableSource};
use super::reader::{
    ErrorWithConnectionSteps, JobSource, ReadRequest, ReadTarget, ReaderReply, Samples,
    SnapshotJobsOrText, TextSource,
};
use crate::clock::moment::Moment;
use crate::command_line::CommandLine;
use crate::error::Error;
use crate::listen::ReadPace;
use crate::look;
use crate::model::job::{Job, State};
use crate::model::overview::headline::Headline;
use crate::model::overview::history::JobRateHistory;
use crate::model::overview::{Overview, SystemFacts};
use crate::model::pattern::{NamePattern, passes_filter};
use crate::name::Name;
use crate::session::shown_server::ShownServer;

/// The states whose jobs the keys `1` to `6` show, in this order.
pub(super) const QUEUE_STATES: [State; 6] = [
    State::Waiting,
    State::Running,
    State::Stalled,
    State::Scheduled,
    State::Depends,
    State::Throttled,
];

/// One of the servers, with what was read from it.
pub(super) struct ServerView {
    pub shown: ShownServer,
    pub history: JobRateHistory,
    pub snapshot: Option<LastSnapshot>,
    /// Set while the server cannot be read.
    pub failed_read: Option<FailedRead>,
    pub pace: ReadPace,
    /// When the next read is due. `None` while a read is running.
    due: Option<Instant>,
    /// Whether to read again as soon as the running read ends, because the user changed something.
    is_due_again: bool,
}

/// A failed read of a snapshot.
pub(super) struct FailedRead {
    pub error: Error,
    /// The connection steps of `doctor`, if the server does not answer.
    pub steps: Vec<String>,
    pub at: Instant,
}

pub(super) struct LastSnapshot {
    pub facts: SystemFacts,
    pub samples: Samples,
    pub overview: Overview,
    pub now: Moment,
    pub at: Instant,
}

impl ServerView {
    /// A server without a snapshot. Its first read is due now.
    pub(super) fn new(shown: ShownServer, interval: Duration) -> ServerView {
        ServerView {
            shown,
            history: JobRateHistory::default(),
            snapshot: None,
            failed_read: None,
            pace: ReadPace::new(interval),
            due: Some(Instant::now()),
            is_due_again: false,
        }
    }

    /// The number of jobs in a list, by the last snapshot. `None` unless the list has the running or stalled jobs
    /// of a queue.
    fn running_or_stalled_count(&self, source: &JobSource) -> Option<u64> {
        let JobSource::Queue(name, state) = source else {
            return None;
        };
        let queues = &self.snapshot.as_ref()?.facts.queues;
        let counts = &queues
            .iter()
            .find(|queue| queue.counts.name == *name)?
            .counts;
        match state {
            State::Running => Some(counts.running),
            State::Stalled => Some(counts.stalled),
            _ => None,
        }
    }
}

/// The effect of a key outside of the state.
#[derive(Debug, PartialEq)]
pub(super) enum KeyEffect {
    None,
    Quit,
    Suspend,
    Redraw,
    Copy(Name),
    Run(CommandLine),
}

/// A command that changes something, and whether the command itself asks before that.
#[derive(Debug, PartialEq)]
pub(super) struct ChangeCommand {
    pub line: CommandLine,
    pub asks_itself: bool,
}

/// A screen above the first one.
pub(super) enum ViewAboveTables {
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

impl ViewAboveTables {
    /// What to read to show this view.
    fn read_target(&self) -> ReadTarget {
        match self {
            ViewAboveTables::Jobs { source, .. } => ReadTarget::Jobs(source.clone()),
            ViewAboveTables::Text { source, .. } => ReadTarget::Text(source.clone()),
        }
    }

    /// Puts the jobs or the text that were read for this view into it, or the message of the error. A list keeps its
    /// jobs on an error. The reply may have fewer jobs than the last snapshot counted.
    fn show_jobs_or_text(
        &mut self,
        found: Result<SnapshotJobsOrText, ErrorWithConnectionSteps>,
        count_in_snapshot: Option<u64>,
    ) {
        match (self, found) {
            (
                ViewAboveTables::Jobs {
                    jobs, total, error, ..
                },
                Ok(SnapshotJobsOrText::Jobs {
                    jobs: read,
                    total: all,
                }),
            ) => {
                *total = count_in_snapshot.unwrap_or(all).max(read.len() as u64);
                (*jobs, *error) = (read, None);
            }
            (ViewAboveTables::Jobs { error, .. }, Err(away)) => {
                *error = Some(away.error.message().into_owned());
            }
            (ViewAboveTables::Text { text, .. }, Ok(SnapshotJobsOrText::Text(read))) => {
                *text = read
            }
            (ViewAboveTables::Text { text, .. }, Err(away)) => {
                *text = away.error.message().into_owned()
            }
            _ => {}
        }
    }
}

/// A text over the middle of the screen or a prompt in the footer, until the user answers or closes it.
#[derive(Debug, PartialEq)]
pub(super) enum Overlay {
    /// All keys, from this line on.
    Keys(usize),
    /// Lines of commands.
    Commands(Vec<String>),
    /// The prompt for a reason: the `pause` command, the number of its queues, and the reason typed so far. An
    /// empty reason is allowed.
    Reason(CommandLine, usize, String),
    /// A change that waits for `y`.
    Question(CommandLine, usize),
}

pub(super) struct TopState {
    pub servers: Vec<ServerView>,
    pub server: usize,
    pub table: TableKind,
    sort_columns: [usize; 3],
    /// The name in the selected row of each of the three tables, and of the open list of jobs.
    selected: [Option<Name>; 4],
    pub views: Vec<ViewAboveTables>,
    pub overlay: Option<Overlay>,
    pub filter: String,
    pub is_typing: bool,
    pub marked: BTreeSet<Name>,
    pub message: Option<String>,
    pub color: bool,
    queues: Vec<NamePattern>,
    /// What to read before the next snapshot. The last one is read first.
    queued_reads: Vec<ReadTarget>,
    notes: String,
    /// The size of the last frame.
    pub width: usize,
    pub page: usize,
}

impl TopState {
    pub(super) fn new(options: &TopOptions, servers: Vec<ServerView>) -> TopState {
        let state = TopState {
            servers,
            server: 0,
            table: TableKind::Queues,
            sort_columns: [0; 3],
            selected: Default::default(),
            views: Vec::new(),
            overlay: None,
            filter: String::new(),
            is_typing: false,
            marked: BTreeSet::new(),
            message: None,
            color: options.color,
            queues: options.queues.clone(),
            queued_reads: Vec::new(),
            notes: String::new(),
            width: 80,
            page: 10,
        };
        state
            .current_server()
            .shown
            .add_server_flag_to_printed_commands();
        state
    }

    pub(super) fn current_server(&self) -> &ServerView {
        &self.servers[self.server]
    }

    /// The notes for stderr that were held back while the screen was shown.
    pub(super) fn held_back_notes(&self) -> &str {
        &self.notes
    }

    pub(super) fn schedule_read_now(&mut self) {
        let server = &mut self.servers[self.server];
        server.is_due_again = server.due.is_none();
        server.due = server.due.map(|_| Instant::now());
    }

    /// The next request to send to a reader, if one is due and no read is running.
    pub(super) fn next_due_request(&mut self, now: Instant) -> Option<ReadRequest> {
        let due = self.current_server().due?;
        let what = if let Some(what) = self.queued_reads.pop() {
            what
        } else if now >= due {
            let named = self.queues.iter().filter_map(NamePattern::as_plain_name);
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

    /// Shows a reply of a reader, and plans the next read.
    pub(super) fn show_reply_and_plan_read(&mut self, answer: ReaderReply, now: Instant) {
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
            server.pace.adjust_to_read(elapsed);
        }
        let rest = if mem::take(&mut server.is_due_again) {
            Duration::ZERO
        } else {
            server.pace.interval
        };
        server.due = Some(now + rest);
        match (request.what, found) {
            (ReadTarget::Snapshot(_), Ok(SnapshotJobsOrText::Snapshot(mut facts, samples, at))) => {
                server
                    .history
                    .add_snapshot(&facts, at, server.pace.interval);
                facts
                    .queues
                    .retain(|queue| passes_filter(&self.queues, Some(&queue.counts.name)));
                server.failed_read = None;
                server.snapshot = Some(LastSnapshot {
                    overview: look::build_overview((*facts).clone(), look::RECENT, at),
                    facts: *facts,
                    samples,
                    now: at,
                    at: now,
                });
                // Read the open list or text again, too.
                if is_here {
                    self.queued_reads
                        .extend(self.views.last().map(ViewAboveTables::read_target));
                }
            }
            (ReadTarget::Snapshot(_), Err(ErrorWithConnectionSteps { error, steps })) => {
                server.failed_read = Some(FailedRead {
                    error,
                    steps,
                    at: now,
                });
            }
            (what, found) if is_here => {
                let counted = match &what {
                    ReadTarget::Jobs(source) => server.running_or_stalled_count(source),
                    _ => None,
                };
                let shown = self.views.last_mut();
                if let Some(view) = shown.filter(|view| view.read_target() == what) {
                    view.show_jobs_or_text(found, counted);
                }
            }
            _ => {}
        }
        // Unmark rows that are no longer in the list.
        if is_here && !self.is_text_view_open() && !self.marked.is_empty() {
            let rows = self.unfiltered_focused_rows().rows;
            self.marked
                .retain(|name| rows.iter().any(|row| row.name == *name));
        }
    }

    /// The health of the queues in one line, with the key that shows the problems that the line leaves out.
    pub(super) fn health_headline(&self) -> String {
        let Some(seen) = &self.current_server().snapshot else {
            return String::new();
        };
        let headline = Headline::new(&seen.overview);
        let rest = if headline.names_all_problems() {
            ""
        } else {
            ": i shows all"
        };
        headline.line_parts().join(" · ") + rest
    }

    pub(super) fn sort_column(&self, table: TableKind) -> usize {
        self.sort_columns[table as usize]
    }

    /// The rows of a table of the first screen that match the filter.
    pub(super) fn filtered_table_rows(&self, table: TableKind) -> TableRows {
        self.apply_filter(self.unfiltered_table_rows(table))
    }

    fn unfiltered_table_rows(&self, table: TableKind) -> TableRows {
        let server = self.current_server();
        let Some(seen) = &server.snapshot else {
            return TableRows::default();
        };
        let table_source = TableSource {
            facts: &seen.facts,
            samples: &seen.samples,
            history: &server.history,
            now: seen.now,
            width: self.width,
            sort_column: self.sort_column(table),
        };
        table_source.rows_of_table(table)
    }

    /// The rows that match the filter: of the open list, or of the table with the focus if no list is open.
    pub(super) fn filtered_focused_rows(&self) -> TableRows {
        self.apply_filter(self.unfiltered_focused_rows())
    }

    fn unfiltered_focused_rows(&self) -> TableRows {
        let now = self
            .current_server()
            .snapshot
            .as_ref()
            .map_or_else(Moment::default, |seen| seen.now);
        match self.views.last() {
            Some(ViewAboveTables::Jobs { jobs, .. }) => lists::job_rows(jobs, now, self.width),
            Some(ViewAboveTables::Text { .. }) => TableRows::default(),
            None => self.unfiltered_table_rows(self.table),
        }
    }

    fn apply_filter(&self, mut rows: TableRows) -> TableRows {
        let wanted = self.filter.to_lowercase();
        let fits = |name: &Name| name.to_string().to_lowercase().contains(&wanted);
        rows.rows.retain(|row| fits(&row.name));
        rows
    }

    /// The index in `selected` for the open list, or for the table with the focus if no list is open.
    fn focused_list_index(&self) -> usize {
        if self.views.is_empty() {
            self.table as usize
        } else {
            3
        }
    }

    /// The index of the selected row in `rows`, found by the row's name. 0 if no row has that name any more.
    pub(super) fn selected_row_position(&self, rows: &TableRows, list_index: usize) -> usize {
        let selected = self.selected[list_index].as_ref();
        let found = selected.and_then(|name| rows.rows.iter().position(|row| row.name == *name));
        found.unwrap_or(0)
    }

    pub(super) fn selected_row_of_focused_list(&self, rows: &TableRows) -> usize {
        self.selected_row_position(rows, self.focused_list_index())
    }

    fn selected_name(&self) -> Option<Name> {
        let rows = self.filtered_focused_rows();
        let at = self.selected_row_of_focused_list(&rows);
        rows.rows.get(at).map(|row| row.name.clone())
    }

    pub(super) fn press_key(&mut self, key: Key) -> KeyEffect {
        if key == Key::Control('l') {
            return KeyEffect::Redraw;
        }
        self.message = None;
        if key == Key::Control('c') {
            return KeyEffect::Quit;
        }
        if self.is_typing {
            self.edit_filter(key);
            return KeyEffect::None;
        }
        if let Some(overlay) = self.overlay.take() {
            return self.press_key_in_overlay(key, overlay);
        }
        if let (
            Key::Char(state @ '1'..='6'),
            Some(ViewAboveTables::Jobs {
                source: JobSource::Queue(queue, _),
                ..
            }),
        ) = (key, self.views.last())
        {
            let state = QUEUE_STATES[state as usize - '1' as usize];
            let queue = queue.clone();
            self.views.pop();
            self.open_job_list(queue_title(&queue, state), JobSource::Queue(queue, state));
            return KeyEffect::None;
        }
        match key.mapped_from_vi() {
            Key::Char('q') => return KeyEffect::Quit,
            Key::Control('z') => return KeyEffect::Suspend,
            Key::Char('?') | Key::Control('p') => self.overlay = Some(Overlay::Keys(0)),
            Key::Up => self.move_or_scroll(-1),
            Key::Down => self.move_or_scroll(1),
            Key::PageUp => self.move_or_scroll(-(self.page as isize)),
            Key::PageDown => self.move_or_scroll(self.page as isize),
            Key::First => self.move_or_scroll(isize::MIN),
            Key::Last => self.move_or_scroll(isize::MAX),
            Key::Tab if self.views.is_empty() => {
                let next = (self.table as usize + 1) % TableKind::ALL.len();
                self.table = TableKind::ALL[next];
                self.marked.clear();
            }
            Key::Enter => self.open_selected_row(),
            Key::Escape => self.clear_filter_marks_or_close_view(),
            Key::Char('/') if !self.is_text_view_open() => self.is_typing = true,
            Key::Char('s') if self.views.is_empty() => {
                let columns = self.table.sort_columns();
                let order = &mut self.sort_columns[self.table as usize];
                *order = (*order + 1) % columns.len();
                self.message = Some(format!("sorted by {}", columns[*order]));
            }
            Key::Char('e') => self.explain_queue_or_job(),
            Key::Char('i') if self.views.is_empty() => {
                self.open_text_view("status".to_owned(), TextSource::Status);
            }
            Key::Char(' ') => {
                if let Some(name) = self.selected_name() {
                    if !self.marked.remove(&name) {
                        self.marked.insert(name);
                    }
                    self.move_or_scroll(1);
                }
            }
            Key::Char('*') => {
                let names: BTreeSet<Name> = self
                    .filtered_focused_rows()
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
                let lines = self.view_and_change_command_lines();
                self.overlay = Some(Overlay::Commands(lines));
            }
            Key::Char('y') => {
                if let Some(name) = self.name_to_act_on() {
                    self.message = Some(format!("copied {name}"));
                    return KeyEffect::Copy(name);
                }
            }
            Key::Char('c') if self.servers.len() > 1 => {
                self.server = (self.server + 1) % self.servers.len();
                self.current_server()
                    .shown
                    .add_server_flag_to_printed_commands();
                self.views.clear();
                self.marked.clear();
                self.queued_reads.clear();
                self.selected = Default::default();
                self.schedule_read_now();
            }
            Key::Char(key) if key.is_ascii_uppercase() => return self.begin_change(key),
            _ => {}
        }
        KeyEffect::None
    }

    /// Handles a key that was pressed while this overlay was open. It stays open only if `self.overlay` is set again.
    fn press_key_in_overlay(&mut self, key: Key, overlay: Overlay) -> KeyEffect {
        match (key, overlay) {
            (Key::Enter, Overlay::Reason(line, count, reason)) => {
                let line = match reason.trim() {
                    "" => line,
                    reason => line.with_flag("--reason", reason),
                };
                return self.ask_or_run(line, count, self.current_server().shown.is_protected);
            }
            (Key::Char('y'), Overlay::Question(line, _)) => {
                self.marked.clear();
                return KeyEffect::Run(line);
            }
            (Key::Escape, Overlay::Reason(..)) | (_, Overlay::Question(..)) => {
                self.message = Some(NOTHING_CHANGED.into());
            }
            (key, Overlay::Reason(line, count, mut reason)) => {
                edit_line(key, &mut reason);
                self.overlay = Some(Overlay::Reason(line, count, reason));
            }
            (key, Overlay::Keys(from)) => self.overlay = self.scroll_or_close_key_help(key, from),
            (_, Overlay::Commands(_)) => {}
        }
        KeyEffect::None
    }

    /// The key help after a key was pressed: scrolled by the key, or `None` if the key closes the help.
    fn scroll_or_close_key_help(&self, key: Key, from: usize) -> Option<Overlay> {
        let by = match key.mapped_from_vi() {
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

    fn edit_filter(&mut self, key: Key) {
        match key {
            Key::Enter => self.is_typing = false,
            Key::Escape => {
                self.is_typing = false;
                self.filter.clear();
            }
            key => edit_line(key, &mut self.filter),
        }
    }

    /// Whether the footer shows a question or a line that the user is typing.
    pub(super) fn has_footer_prompt(&self) -> bool {
        self.is_typing
            || matches!(
                self.overlay,
                Some(Overlay::Question(..) | Overlay::Reason(..))
            )
    }

    fn is_text_view_open(&self) -> bool {
        matches!(self.views.last(), Some(ViewAboveTables::Text { .. }))
    }

    /// Moves the selection, or scrolls a text.
    fn move_or_scroll(&mut self, by: isize) {
        if let Some(ViewAboveTables::Text { text, scroll, .. }) = self.views.last_mut() {
            let last = text.lines().count().saturating_sub(1);
            *scroll = scroll.saturating_add_signed(by).min(last);
            return;
        }
        let rows = self.filtered_focused_rows();
        let at = self
            .selected_row_of_focused_list(&rows)
            .saturating_add_signed(by);
        let at = at.min(rows.rows.len().saturating_sub(1));
        let index = self.focused_list_index();
        self.selected[index] = rows.rows.get(at).map(|row| row.name.clone());
    }

    fn clear_filter_marks_or_close_view(&mut self) {
        if !self.filter.is_empty() {
            self.filter.clear();
        } else if !self.marked.is_empty() && !self.is_text_view_open() {
            self.marked.clear();
        } else {
            self.views.pop();
        }
    }

    fn open_selected_row(&mut self) {
        let Some(name) = self.selected_name() else {
            return;
        };
        if !self.views.is_empty() {
            let title = format!("job {name}");
            return self.open_text_view(title, TextSource::Job(name));
        }
        match self.table {
            TableKind::Queues => {
                let state = QUEUE_STATES[0];
                self.open_job_list(queue_title(&name, state), JobSource::Queue(name, state));
            }
            TableKind::Failed => {
                self.open_job_list(format!("failed: {name}"), JobSource::Group(name))
            }
            TableKind::Workers => {
                self.open_job_list(format!("jobs of {name}"), JobSource::Worker(name))
            }
        }
    }

    fn open_job_list(&mut self, title: String, source: JobSource) {
        self.filter.clear();
        self.marked.clear();
        self.selected[3] = None;
        self.queued_reads = vec![ReadTarget::Jobs(source.clone())];
        self.views.push(ViewAboveTables::Jobs {
            title,
            source,
            jobs: Vec::new(),
            total: 0,
            // Until the answer comes.
            error: Some("…".to_owned()),
        });
    }

    fn open_text_view(&mut self, title: String, source: TextSource) {
        self.queued_reads = vec![ReadTarget::Text(source.clone())];
        self.views.push(ViewAboveTables::Text {
            title,
            source,
            text: String::new(),
            scroll: 0,
        });
    }

    fn explain_queue_or_job(&mut self) {
        let (title, source) = match self.views.last() {
            None if self.table == TableKind::Queues => match self.selected_name() {
                Some(queue) => (format!("why: {queue}"), TextSource::ExplainQueue(queue)),
                None => return,
            },
            Some(ViewAboveTables::Text {
                source: TextSource::Job(jid),
                ..
            }) => (format!("why: {jid}"), TextSource::ExplainJob(jid.clone())),
            Some(ViewAboveTables::Jobs { .. }) => match self.selected_name() {
                Some(jid) => (format!("why: {jid}"), TextSource::ExplainJob(jid)),
                None => return,
            },
            _ => return,
        };
        self.open_text_view(title, source);
    }

    /// The name that a key acts on: that of the selected row, or of the job or queue that the open text is about.
    fn name_to_act_on(&self) -> Option<Name> {
        match self.views.last() {
            Some(ViewAboveTables::Text { source, .. }) => match source {
                TextSource::Job(name)
                | TextSource::ExplainJob(name)
                | TextSource::ExplainQueue(name) => Some(name.clone()),
                TextSource::Status => None,
            },
            _ => self.selected_name(),
        }
    }

    /// The names that a change acts on: those of the marked rows, else of the selected row, or of the job or queue
    /// that the open text is about.
    fn names_to_act_on(&self) -> Vec<Name> {
        // An open text acts on its own job or queue, even if rows of the list below it are marked.
        if self.marked.is_empty() || self.is_text_view_open() {
            self.name_to_act_on().into_iter().collect()
        } else {
            self.marked.iter().cloned().collect()
        }
    }

    /// The `qless` command that prints what the screen shows.
    fn equivalent_view_command(&self) -> CommandLine {
        match self.views.last() {
            Some(ViewAboveTables::Text { source, .. }) => match source {
                TextSource::Job(jid) => CommandLine::new("get").with_name_argument(jid),
                TextSource::ExplainJob(jid) => CommandLine::new("explain").with_name_argument(jid),
                TextSource::ExplainQueue(queue) => {
                    CommandLine::new("explain").with_flag("--queue", queue)
                }
                TextSource::Status => CommandLine::new("status"),
            },
            Some(ViewAboveTables::Jobs { source, .. }) => match source {
                JobSource::Queue(queue, state) => CommandLine::new("jobs")
                    .with_exact_pattern("--queue", queue)
                    .with_flag("--state", state.into_str()),
                JobSource::Group(group) => {
                    CommandLine::new("failed").with_exact_pattern("--group", group)
                }
                JobSource::Worker(worker) => CommandLine::new("workers").with_name_argument(worker),
            },
            None => match self.table {
                TableKind::Queues => {
                    let queues: Vec<Name> = self.queues.iter().map(NamePattern::as_typed).collect();
                    CommandLine::new("queues").with_name_arguments(&queues)
                }
                TableKind::Failed => CommandLine::new("failed"),
                TableKind::Workers => CommandLine::new("workers"),
            },
        }
    }

    fn view_and_change_command_lines(&self) -> Vec<String> {
        let changes = CHANGE_KEYS
            .iter()
            .filter_map(|(key, _)| self.change_command(*key));
        let view = std::iter::once(self.equivalent_view_command());
        let lines = view.chain(changes.map(|change| change.line));
        lines.filter_map(|line| line.shell_line()).collect()
    }

    pub(super) fn change_command(&self, key: char) -> Option<ChangeCommand> {
        let command = self.change_command_unless_read_only(key)?;
        // Offer no command for an empty name or one with a NUL: a command line cannot contain it.
        _ = command.line.shell_line()?;
        Some(command)
    }

    fn change_command_unless_read_only(&self, key: char) -> Option<ChangeCommand> {
        let names = self.names_to_act_on();
        if names.is_empty() || self.current_server().shown.is_read_only {
            return None;
        }
        let of_groups = |word: &str| {
            let line = CommandLine::new("failed");
            let line = names.iter().fold(line, |line, group| {
                line.with_exact_pattern("--group", group)
            });
            Some(ChangeCommand {
                line: line.with_word(word),
                asks_itself: true,
            })
        };
        // A command about named jobs asks by itself in a protected context, or before it cancels more than one job.
        let asks_itself = self.current_server().shown.is_protected || key == 'C' && names.len() > 1;
        let of_jobs = |verb: &str| {
            let line = CommandLine::new(verb).with_name_arguments(&names);
            Some(ChangeCommand { line, asks_itself })
        };
        let is_first = self.views.is_empty();
        match (key, self.table) {
            ('R', TableKind::Failed) if is_first => of_groups("--retry-all"),
            ('C', TableKind::Failed) if is_first => of_groups("--cancel-all"),
            ('P', TableKind::Queues) if is_first => {
                let facts = self
                    .current_server()
                    .snapshot
                    .as_ref()
                    .map(|seen| &seen.facts);
                let is_paused = facts.is_some_and(|facts| {
                    let mut queues = facts.queues.iter();
                    queues.any(|queue| queue.counts.name == names[0] && queue.counts.paused)
                });
                of_jobs(if is_paused { "unpause" } else { "pause" })
            }
            _ if is_first
                || matches!(
                    self.views.last(),
                    Some(ViewAboveTables::Text {
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

    fn begin_change(&mut self, key: char) -> KeyEffect {
        let Some(ChangeCommand { line, asks_itself }) = self.change_command(key) else {
            self.message = Some(if self.current_server().shown.is_read_only {
                "this server is only read".into()
            } else {
                format!("{key} changes nothing here")
            });
            return KeyEffect::None;
        };
        let count = self.names_to_act_on().len();
        if line.has_first_word("pause") {
            self.overlay = Some(Overlay::Reason(line, count, String::new()));
            return KeyEffect::None;
        }
        self.ask_or_run(line, count, asks_itself)
    }

    /// Asks before a command about `count` names runs. A command that asks by itself runs immediately.
    fn ask_or_run(&mut self, line: CommandLine, count: usize, asks_itself: bool) -> KeyEffect {
        self.overlay = None;
        if asks_itself {
            self.marked.clear();
            return KeyEffect::Run(line);
        }
        self.overlay = Some(Overlay::Question(line, count));
        KeyEffect::None
    }
}

const NOTHING_CHANGED: &str = "nothing was changed";

/// Changes a line of text by a key.
fn edit_line(key: Key, line: &mut String) {
    match key {
        Key::Backspace => _ = line.pop(),
        Key::Char(c) => line.push(c),
        _ => {}
    }
}

fn queue_title(queue: &Name, state: State) -> String {
    format!("{queue}: {}", state.into_str())
}
