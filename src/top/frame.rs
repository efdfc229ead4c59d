//! A state as a frame.

use std::time::Instant;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};

use super::format::{Tone, row_line};
use super::keys::{CHANGE_KEYS, VIEW_KEYS};
use super::lists::{TableKind, TableRows};
use super::reader::JobSource;
use super::state::{Overlay, QUEUE_STATES, TopState, ViewAboveTables};
use crate::text::{
    cut_with_ellipsis, format_count, format_duration, format_rough_duration, sanitize_to_line,
    width, with_thousands_separators,
};

/// Maximum number of lines, with the head, of a table that does not have the focus.
const SMALL_TABLE_LINES: usize = 5;

/// Number of lines above the tables: the server, the headline and a blank line. A small screen shows fewer of them.
const HEADER_LINES: usize = 3;

/// Minimum number of lines of a list: its head, one row, and a line with the number of other rows.
const MIN_LIST_LINES: usize = 3;

pub(super) fn draw(state: &mut TopState, frame: &mut Frame) {
    let area = frame.area();
    let (columns, lines) = (area.width as usize, area.height as usize);
    state.width = columns.saturating_sub(1).max(20);
    // A screen of one line shows a row in place of the footer, unless the footer has a prompt.
    let has_footer = lines > 1 || state.has_footer_prompt();
    let above = lines.saturating_sub(1 + MIN_LIST_LINES).min(HEADER_LINES);
    let body = lines.saturating_sub(usize::from(has_footer) + above);
    state.page = body.saturating_sub(1).max(1);
    let mut text = vec![
        header_line(state, columns),
        view_title_headline_or_error(state, columns),
        Line::default(),
    ];
    text.truncate(above);
    let mut content = match state.views.last() {
        None if state.current_server().snapshot.is_none() => lines_before_snapshot(state),
        None => all_or_focused_table_lines(state, body),
        Some(ViewAboveTables::Text { text, scroll, .. }) => {
            let lines = text.lines().skip(*scroll).take(body);
            lines
                .map(|line| Line::raw(format!("  {}", sanitize_to_line(line))))
                .collect()
        }
        Some(ViewAboveTables::Jobs { .. }) => lines_of_jobs(state, body),
    };
    content.truncate(body);
    content.resize(body, Line::default());
    text.append(&mut content);
    if has_footer {
        text.push(footer_line(state, columns));
    }
    frame.render_widget(Paragraph::new(text), area);
    match &state.overlay {
        Some(Overlay::Keys(from)) => draw_overlay(frame, area, key_help_lines(state, *from, body)),
        Some(Overlay::Commands(lines)) => {
            let lines = lines
                .iter()
                .flat_map(|line| wrap_line(line, columns.saturating_sub(4)));
            let lines = lines.map(|line| Line::raw(format!("  {line}")));
            draw_overlay(frame, area, lines.collect());
        }
        Some(Overlay::Question(..) | Overlay::Reason(..)) | None => {}
    }
}

/// Draws lines of text over the middle of the screen.
fn draw_overlay(frame: &mut Frame, area: Rect, lines: Vec<Line<'static>>) {
    let widest = lines.iter().map(Line::width).max().unwrap_or(0) + 2;
    let (wide, high) = (
        widest.min(area.width as usize),
        (lines.len() + 2).min(area.height as usize),
    );
    let place = Rect {
        x: (area.width - wide as u16) / 2,
        y: (area.height - high as u16) / 2,
        width: wide as u16,
        height: high as u16,
    };
    let mut text = vec![Line::default()];
    text.extend(lines);
    frame.render_widget(Clear, place);
    let page = Paragraph::new(text);
    frame.render_widget(
        page.style(Style::default().add_modifier(Modifier::REVERSED)),
        place,
    );
}

fn styled(text: impl Into<String>, tone: Tone, state: &TopState) -> Span<'static> {
    Span::styled(text.into(), tone.style(state.color))
}

/// A line with `left` at its start and `right` at its end. If they do not both fit, only `left`.
fn line_with_right_end_if_fits(
    left: Vec<Span<'static>>,
    right: String,
    tone: Tone,
    state: &TopState,
    columns: usize,
) -> Line<'static> {
    let mut line = Line::from(left);
    let gap = columns.saturating_sub(line.width() + width(&right) + 1);
    if gap > 0 {
        line.push_span(Span::raw(" ".repeat(gap)));
        line.push_span(styled(right, tone, state));
    }
    line
}

fn header_line(state: &TopState, columns: usize) -> Line<'static> {
    let server = state.current_server();
    let mut left = vec![styled(" qless ", Tone::Strong, state)];
    if let Some(label) = &server.shown.label {
        let tone = if server.shown.is_protected {
            Tone::Bad
        } else {
            Tone::Strong
        };
        left.push(styled(
            format!("▍{}  ", sanitize_to_line(label)),
            tone,
            state,
        ));
    }
    let address = match &server.shown.flag {
        Some(("--prefix", prefix)) => &format!("{} {prefix}", server.shown.address),
        _ => &server.shown.address,
    };
    left.push(styled(sanitize_to_line(address), Tone::Dim, state));
    let pace = &server.pace;
    let every = interval_text(pace.interval.as_secs_f64());
    let every = if pace.is_interval_doubled() {
        format!("{every}, reads are slow")
    } else {
        every
    };
    let (right, tone) = match (&server.failed_read, &server.snapshot) {
        (Some(failed), _) => {
            let ago = Instant::now()
                .saturating_duration_since(failed.at)
                .as_secs();
            (format!("away, tried {ago}s ago"), Tone::Bad)
        }
        (None, Some(seen)) => {
            let age = Instant::now()
                .saturating_duration_since(seen.at)
                .as_secs_f64();
            let clock = seen.now.to_rfc3339().unwrap_or_default();
            let clock = clock.get(11..19).unwrap_or_default().to_owned();
            if age > pace.interval.as_secs_f64() * 2.0 + 2.0 {
                (
                    format!("{} old  {clock}", format_rough_duration(age)),
                    Tone::Bad,
                )
            } else {
                (format!("live {every}  {clock}"), Tone::Dim)
            }
        }
        (None, None) => ("reading".to_owned(), Tone::Dim),
    };
    line_with_right_end_if_fits(left, right, tone, state, columns)
}

fn interval_text(seconds: f64) -> String {
    if seconds < 1.0 {
        format!("{seconds:.1}s")
    } else {
        format_duration(seconds)
    }
}

fn view_title_headline_or_error(state: &TopState, columns: usize) -> Line<'static> {
    let mut text = match state.views.last() {
        Some(ViewAboveTables::Jobs {
            title, jobs, total, ..
        }) => {
            let shown = jobs.len() as u64;
            let of = if *total > shown {
                format!(", the first {shown}")
            } else {
                String::new()
            };
            format!("{title} · {}{of}", format_count(*total, "job", "jobs"))
        }
        Some(ViewAboveTables::Text { title, .. }) => title.clone(),
        None => state.health_headline(),
    };
    if let Some(failed) = &state.current_server().failed_read {
        text = sanitize_to_line(failed.error.message().as_bytes());
        if let Some(seen) = &state.current_server().snapshot {
            let age = Instant::now().saturating_duration_since(seen.at);
            let age = format_rough_duration(age.as_secs_f64());
            text = format!("{age} old · {text}");
        }
    }
    let is_quiet = state
        .current_server()
        .snapshot
        .as_ref()
        .is_some_and(|seen| seen.overview.problems.is_empty());
    let tone = if is_quiet || !state.views.is_empty() {
        Tone::Strong
    } else {
        Tone::Bad
    };
    let text = cut_with_ellipsis(&sanitize_to_line(text), columns.saturating_sub(2));
    Line::from(vec![Span::raw(" "), styled(text, tone, state)])
}

/// The lines before the first snapshot. If the server does not answer, they are the connection steps of `doctor`.
fn lines_before_snapshot(state: &TopState) -> Vec<Line<'static>> {
    match &state.current_server().failed_read {
        None => vec![Line::raw("  …")],
        Some(failed) => failed
            .steps
            .iter()
            .map(|step| Line::raw(format!("  {}", sanitize_to_line(step))))
            .collect(),
    }
}

/// The lines of the tables of the first screen. If these do not all fit, only the table with the focus is shown.
fn all_or_focused_table_lines(state: &TopState, lines: usize) -> Vec<Line<'static>> {
    let all = TableKind::ALL.map(|table| (table, state.filtered_table_rows(table)));
    if lines < 3 * SMALL_TABLE_LINES + 1 {
        let rows = state.filtered_table_rows(state.table);
        return lines_of_table(state, state.table, &rows, lines);
    }
    let focused = state.table;
    let wants = |rows: &TableRows| rows.rows.len().max(1) + 1;
    let others: usize = all
        .iter()
        .filter(|(table, _)| *table != focused)
        .map(|(_, rows)| wants(rows).min(SMALL_TABLE_LINES))
        .sum();
    let mut text = Vec::new();
    for (which, rows) in &all {
        let max_rows = if *which == focused {
            lines.saturating_sub(others + 2)
        } else {
            wants(rows).min(SMALL_TABLE_LINES)
        };
        text.append(&mut lines_of_table(state, *which, rows, max_rows));
        text.push(Line::default());
    }
    text
}

fn lines_of_table(
    state: &TopState,
    which: TableKind,
    rows: &TableRows,
    lines: usize,
) -> Vec<Line<'static>> {
    let is_focused = which == state.table;
    let at = is_focused.then(|| state.selected_row_position(rows, which as usize));
    let omitted = state
        .current_server()
        .snapshot
        .as_ref()
        .map(|seen| seen.facts.omitted());
    let more = omitted.map_or(0, |omitted| match which {
        TableKind::Queues => omitted.queues,
        TableKind::Failed => omitted.groups,
        TableKind::Workers => omitted.workers,
    });
    let none = match which {
        TableKind::Queues => "no queue",
        TableKind::Failed => "nothing has failed",
        TableKind::Workers => "no worker was seen lately",
    };
    list_lines(state, rows, at, lines, none, more)
}

fn lines_of_jobs(state: &TopState, lines: usize) -> Vec<Line<'static>> {
    let Some(ViewAboveTables::Jobs { error, .. }) = state.views.last() else {
        return Vec::new();
    };
    if let Some(error) = error {
        return vec![Line::raw(format!("  {}", sanitize_to_line(error)))];
    }
    let rows = state.filtered_focused_rows();
    let at = state.selected_row_of_focused_list(&rows);
    list_lines(state, &rows, Some(at), lines, "none", 0)
}

/// The head of a list and its rows, scrolled until the selected row is visible. With a single line, no head.
fn list_lines(
    state: &TopState,
    rows: &TableRows,
    selected: Option<usize>,
    lines: usize,
    none: &str,
    more: u64,
) -> Vec<Line<'static>> {
    let mut text = Vec::new();
    if lines > 1 {
        text.push(row_line("  ", &rows.head, state.color));
    }
    if rows.rows.is_empty() {
        let none = if state.filter.is_empty() {
            none
        } else {
            "none matches"
        };
        text.push(styled(format!("  {none}"), Tone::Dim, state).into());
        return text;
    }
    let fits = lines.saturating_sub(1).max(1);
    let is_cut = rows.rows.len() > fits || more > 0;
    let shown = if is_cut {
        fits.saturating_sub(1).max(1)
    } else {
        fits
    };
    let at = selected.unwrap_or(0);
    let from = (at + 1).saturating_sub(shown);
    for (index, one) in rows.rows.iter().enumerate().skip(from).take(shown) {
        let is_selected = selected == Some(index);
        let mark = match (
            is_selected,
            state.marked.contains(&one.name) && selected.is_some(),
        ) {
            (true, true) => "▶●",
            (true, false) => "▶ ",
            (false, true) => " ●",
            (false, false) => "  ",
        };
        let mut line = row_line(mark, &one.cells, state.color);
        if is_selected {
            line = line.patch_style(Style::default().add_modifier(Modifier::BOLD));
        }
        text.push(line);
    }
    let rest = (rows.rows.len() - shown.min(rows.rows.len())) as u64 + more;
    if is_cut && rest > 0 && fits > 1 {
        let rest = format!("  and {} more", with_thousands_separators(rest));
        text.push(styled(rest, Tone::Dim, state).into());
    }
    text
}

/// Breaks a line into lines of this width.
fn wrap_line(line: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut taken = 0;
    for one in line.chars() {
        let wide = width(one.encode_utf8(&mut [0; 4]));
        if taken + wide > columns {
            lines.push(String::new());
            taken = 0;
        }
        taken += wide;
        if let Some(last) = lines.last_mut() {
            last.push(one);
        }
    }
    lines
}

/// The lines of the key help, from the line `from` on if not all fit.
fn key_help_lines(state: &TopState, from: usize, fits: usize) -> Vec<Line<'static>> {
    let line = |key: &str, what: &str| Line::raw(format!("  {key:<10} {what}"));
    let looks = VIEW_KEYS.iter().map(|(key, what)| line(key, what));
    let changes = CHANGE_KEYS
        .iter()
        .filter(|_| !state.current_server().shown.is_read_only)
        .map(|(key, what)| line(&key.to_string(), what));
    let lines: Vec<Line> = looks.chain(changes).collect();
    if lines.len() <= fits {
        return lines;
    }
    let shown = fits.saturating_sub(1).max(1);
    let rest = lines.len().saturating_sub(from + shown);
    let mut lines: Vec<Line> = lines.into_iter().skip(from).take(shown).collect();
    lines.push(Line::raw(match rest {
        0 => "  ↑".to_owned(),
        rest => format!("  ↓ {rest} more"),
    }));
    lines
}

/// The last line of the screen: what is asked or typed, the last message, or the keys; at its end, what is marked,
/// filtered or below.
fn footer_line(state: &TopState, columns: usize) -> Line<'static> {
    let text = match (&state.overlay, state.views.last(), &state.message) {
        (Some(Overlay::Question(line, count)), ..) => {
            let line = line.shell_line().unwrap_or_default();
            let line = cut_with_ellipsis(&line, columns.saturating_sub(28));
            // The shown command may be cut, so the prompt says how many jobs, groups or queues it changes.
            let asks = match count {
                1 => "  y does it".to_owned(),
                count => format!("  y does it to {count}"),
            };
            return Line::from(vec![
                styled(format!(" {line}"), Tone::Strong, state),
                styled(asks, Tone::Warn, state),
            ]);
        }
        (Some(Overlay::Reason(_, _, reason)), ..) => {
            let keys = "  ⏎ goes on, also without a reason  esc stops";
            return Line::from(vec![
                styled(" why? ", Tone::Warn, state),
                Span::raw(format!("{}▏", sanitize_to_line(reason))),
                styled(keys, Tone::Dim, state),
            ]);
        }
        _ if state.is_typing => format!(" / {}▏", state.filter),
        (
            _,
            Some(ViewAboveTables::Jobs {
                source: JobSource::Queue(_, shown),
                ..
            }),
            _,
        ) => {
            let states = QUEUE_STATES.iter().enumerate().map(|(at, one)| {
                let word = one.into_str();
                if one == shown {
                    format!("[{word}]")
                } else {
                    format!("{}{word}", at + 1)
                }
            });
            format!(" {}  ? all", states.collect::<Vec<String>>().join(" "))
        }
        (_, _, Some(message)) => format!(" {message}"),
        (_, view, None) => key_hints(state, view),
    };
    let right = footer_marks_filter_or_scroll(state);
    let room = columns.saturating_sub(width(&right) + 2);
    let left = vec![styled(cut_with_ellipsis(&text, room), Tone::Dim, state)];
    line_with_right_end_if_fits(left, right, Tone::Warn, state, columns)
}

/// The keys of this view, and those of the changes that are possible now.
fn key_hints(state: &TopState, view: Option<&ViewAboveTables>) -> String {
    let keys = match view {
        None => " ↑↓ select  ⏎ open  ⇥ next  / filter  e explain  w command",
        Some(ViewAboveTables::Jobs { .. }) => " ↑↓ select  ⏎ open  esc back  w command",
        Some(ViewAboveTables::Text { .. }) => " ↑↓ scroll  esc back  w command",
    };
    let possible = CHANGE_KEYS
        .iter()
        .filter(|(key, _)| state.change_command(*key).is_some());
    let changes = possible.map(|(key, what)| {
        let word = what.split([':', ' ']).next().unwrap_or_default();
        format!("  {key} {word}")
    });
    format!("{keys}{}  ? all", changes.collect::<String>())
}

fn footer_marks_filter_or_scroll(state: &TopState) -> String {
    if !state.marked.is_empty() {
        return format!("{} marked", state.marked.len());
    }
    if !state.filter.is_empty() && !state.is_typing {
        return format!("only {}", sanitize_to_line(&state.filter));
    }
    match state.views.last() {
        Some(ViewAboveTables::Text { text, scroll, .. }) => {
            let below = text.lines().count().saturating_sub(scroll + state.page + 1);
            if below > 0 {
                format!("↓ {below} more")
            } else {
                String::new()
            }
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use expect_test::{Expect, expect};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use ratatui::buffer::Buffer;
    use ratatui::style::Color;

    use super::*;
    use crate::clock::moment::Moment;
    use crate::error::{Error, Kind};
    use crate::model::job::{Job, State};
    use crate::model::overview::{GroupWithRecentFailures, QueueFacts, SystemFacts};
    use crate::model::queue::{Queue, RoundedSeconds};
    use crate::model::worker::Worker;
    use crate::model::worker_name::WorkerProcess;
    use crate::name::Name;
    use crate::session::shown_server::ShownServer;
    use crate::top::keys::Key;
    use crate::top::lists::flow_cell;
    use crate::top::reader::{
        ErrorWithConnectionSteps, ReadRequest, ReadTarget, ReaderReply, Samples,
        SnapshotJobsOrText, TextSource,
    };
    use crate::top::state::{KeyEffect, ServerView};
    use crate::top::{CommandConnectionArgs, TopOptions};

    const NOON: f64 = 1_800_014_400.0;

    fn facts(tick: u64) -> SystemFacts {
        let queue = |name: &str, waiting, running, stalled, wait: Option<f64>| Queue {
            name: Name::from(name),
            waiting,
            running,
            stalled,
            head_wait_s: wait.map(RoundedSeconds),
            ..Queue::default()
        };
        let fact = |counts, completed| QueueFacts {
            counts,
            completed,
            since: Moment::from_seconds(NOON - 252.0),
            jid: Some(Name::from("first")),
            ..QueueFacts::default()
        };
        let mut images = queue("images", 0, 3, 1, None);
        images.paused = true;
        images.paused_reason = Some(Name::from("disk swap"));
        let worker = |name: &str, running, stalled, slots, seen: f64| Worker {
            name: Name::from(name),
            running,
            stalled,
            last_seen: Moment::from_seconds(NOON - seen),
            process: WorkerProcess {
                slots,
                ..WorkerProcess::default()
            },
            recent: true,
            locked_until: None,
        };
        let group = |name: &str, jobs, recent| GroupWithRecentFailures {
            group: Name::from(name),
            jobs,
            recent,
        };
        SystemFacts {
            group_count: 2,
            queue_count: 3,
            worker_count: 2,
            groups: vec![
                group("timeout", 21, 0),
                group("upload error", 1204 + tick, 80),
            ],
            queues: vec![
                fact(images, 400),
                fact(
                    queue("mail", 1204 + 2 * tick, 8, 0, Some(252.0)),
                    9000 + 60 * tick,
                ),
                fact(queue("\x1b[31mred", 2, 0, 0, Some(6.0)), 3),
            ],
            workers: vec![
                worker("mx-1-220", 4, 0, Some(4), 2.0),
                worker("mx-3-91", 0, 1, Some(4), 1320.0),
            ],
            ..SystemFacts::default()
        }
    }

    fn samples() -> Samples {
        let message = "PUT /bucket/9c1: 503 Slow Down".to_owned();
        Samples::from([(Name::from("upload error"), message)])
    }

    /// A reply of the first server.
    fn answer(
        state: &mut TopState,
        what: ReadTarget,
        found: Result<SnapshotJobsOrText, ErrorWithConnectionSteps>,
    ) {
        let request = ReadRequest {
            server: 0,
            width: 80,
            what,
        };
        let answer = ReaderReply {
            request,
            found,
            elapsed: Duration::from_millis(1),
            notes: String::new(),
        };
        state.show_reply_and_plan_read(answer, Instant::now());
    }

    fn state(queues: u64) -> TopState {
        let options = TopOptions {
            interval: Duration::from_secs(2),
            queues: Vec::new(),
            color: true,
            access: CommandConnectionArgs::default(),
        };
        let shown = ShownServer {
            flag: Some(("--context", "prod".into())),
            label: Some("PROD".into()),
            has_others: false,
            is_protected: true,
            is_read_only: false,
            address: "rediss://redis.example:6380/0".into(),
        };
        let server = ServerView::new(shown, options.interval);
        let mut state = TopState::new(&options, vec![server]);
        for tick in 0..queues {
            let at = Moment::from_seconds(NOON + 2.0 * tick as f64 - 2.0 * queues as f64).unwrap();
            answer(
                &mut state,
                ReadTarget::Snapshot(Vec::new()),
                Ok(SnapshotJobsOrText::Snapshot(
                    Box::new(facts(tick)),
                    samples(),
                    at,
                )),
            );
        }
        state
    }

    /// A frame as text, with its styles: `*` bold, `.` dim, letters for colors.
    fn frame(state: &mut TopState, columns: u16, lines: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(columns, lines)).unwrap();
        terminal.draw(|frame| draw(state, frame)).unwrap();
        let buffer: &Buffer = terminal.backend().buffer();
        let mut text = String::new();
        for y in 0..lines {
            let cells: Vec<_> = (0..columns).map(|x| &buffer[(x, y)]).collect();
            let line: String = cells.iter().map(|cell| cell.symbol()).collect();
            let style = cells.iter().map(|cell| match cell.fg {
                Color::Red => 'r',
                Color::Green => 'g',
                Color::Yellow => 'y',
                _ if cell.modifier.contains(Modifier::REVERSED) => '#',
                _ if cell.modifier.contains(Modifier::BOLD) => '*',
                _ if cell.modifier.contains(Modifier::DIM) => '.',
                _ => ' ',
            });
            let style: String = style.collect();
            text.push_str(&format!("|{}\n", line.trim_end()));
            if !style.trim().is_empty() {
                text.push_str(&format!(":{}\n", style.trim_end()));
            }
        }
        text
    }

    fn check(state: &mut TopState, columns: u16, lines: u16, expected: Expect) {
        expected.assert_eq(&frame(state, columns, lines));
    }

    #[test]
    fn a_frame_of_80_by_24() {
        check(
            &mut state(31),
            80,
            24,
            expect![[r#"
                | qless ▍PROD  rediss://redis.example:6380/0                   live 2s  11:59:58
                :*******rrrrrrr.............................                   .................
                | 1,255 failed (+80 in 1h) · 1 stalled · mail is 4m late · 2 more: i shows all
                : rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr
                |
                |  QUEUE         WAIT  ±/min  RUN  STALL  NEXT WAITS  PUT/DONE LAST HOUR  STATE
                :  ..........  ......  .....  ...  .....  ..........  ..................  ......
                |▶ images           0      0    3      1           –           ▁ –        paused
                :**********************************rrrrr**************gggggggggggggggggg**yyyyyy
                |  mail         1,264    +60    8      0      4m 12s           █ 31/30/s  late
                :  **********          .....       .....  rrrrrrrrrr  gggggggggggggggggg  rrrrrr
                |  \x1b[31mr…       2      0    0      0          6s           ▁ –        late
                :  **********          .....  ...  .....              gggggggggggggggggg  rrrrrr
                |
                |  FAILED                  JOBS  LAST 1H  LAST 2H       SAMPLE
                :  ...................  .......  .......  ............  ........................
                |  upload error           1,234      +80             █  PUT /bucket/9c1: 503 Sl…
                :  *******************           rrrrrrr  rrrrrrrrrrrr
                |  timeout                   21        –             ▁
                :  *******************           .......  rrrrrrrrrrrr
                |
                |  WORKER               SLOTS        LAST  HOLDS
                :  ...................  ..........  .....  .....................................
                |  mx-3-91              ✗□□□          21m  1 job, its lock has expired
                :  *******************  rrrrrrrrrr  rrrrr  rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr
                |  mx-1-220             ■■■■           0s  4 jobs
                :  *******************  gggggggggg  .....
                |
                |
                |
                |
                |
                |
                |
                |
                | ↑↓ select  ⏎ open  ⇥ next  / filter  e explain  w command  P pause  ? all
                :..........................................................................
            "#]],
        );
    }

    #[test]
    fn a_frame_of_40_by_15_shows_the_table_with_the_focus() {
        let mut state = state(2);
        check(
            &mut state,
            40,
            15,
            expect![[r#"
                | qless ▍PROD  rediss://redis.example:638
                :*******rrrrrrr..........................
                | 1,226 failed (+80 in 1h) · 1 stalled …
                : rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr
                |
                |  QUEUE             WAIT  RUN    NEXT
                :  ..............  ......  ...  ......
                |▶ images               0    3       –
                :***************************************
                |  mail             1,206    8  4m 12s
                :  **************               rrrrrr
                |  \x1b[31mred          2    0      6s
                :  **************          ...
                |
                |
                |
                |
                |
                |
                |
                | ↑↓ select  ⏎ open  ⇥ next  / filter …
                :......................................
            "#]],
        );
        state.press_key(Key::Tab);
        state.press_key(Key::Char('j'));
        state.press_key(Key::Char(' '));
        check(
            &mut state,
            40,
            15,
            expect![[r#"
                | qless ▍PROD  rediss://redis.example:638
                :*******rrrrrrr..........................
                | 1,226 failed (+80 in 1h) · 1 stalled …
                : rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr
                |
                |  FAILED                JOBS  LAST 1H
                :  .................  .......  .......
                |  upload error         1,205      +80
                :  *****************           rrrrrrr
                |▶●timeout                 21        –
                :*************************************
                |
                |
                |
                |
                |
                |
                |
                |
                | ↑↓ select  ⏎ open  ⇥ next  /… 1 marked
                :.............................. yyyyyyyy
            "#]],
        );
    }

    #[test]
    fn a_frame_of_200_by_24_is_filled() {
        check(
            &mut state(31),
            200,
            24,
            expect![[r#"
                | qless ▍PROD  rediss://redis.example:6380/0                                                                                                                                           live 2s  11:59:58
                :*******rrrrrrr.............................                                                                                                                                           .................
                | 1,255 failed (+80 in 1h) · 1 stalled · mail is 4m late · 2 more: i shows all
                : rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr
                |
                |  QUEUE                                                                    WAIT  ±/min  RUN  STALL  NEXT WAITS  PUT/DONE LAST HOUR  STATE
                :  .....................................................................  ......  .....  ...  .....  ..........  ..................  ...................................................................
                |▶ images                                                                      0      0    3      1           –           ▁ –        paused (disk swap)
                :*********************************************************************************************rrrrr**************gggggggggggggggggg**yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy
                |  mail                                                                    1,264    +60    8      0      4m 12s           █ 31/30/s  late
                :  *********************************************************************          .....       .....  rrrrrrrrrr  gggggggggggggggggg  rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr
                |  \x1b[31mred                                                                 2      0    0      0          6s           ▁ –        oldest 4m 10s
                :  *********************************************************************          .....  ...  .....              gggggggggggggggggg  rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr
                |
                |  FAILED                                       JOBS  LAST 1H  LAST 2H       SAMPLE
                :  ........................................  .......  .......  ............  ...........................................................................................................................
                |  upload error                                1,234      +80             █  PUT /bucket/9c1: 503 Slow Down
                :  ****************************************           rrrrrrr  rrrrrrrrrrrr
                |  timeout                                        21        –             ▁
                :  ****************************************           .......  rrrrrrrrrrrr
                |
                |  WORKER                                    SLOTS        LAST  HOLDS
                :  ........................................  ..........  .....  ........................................................................................................................................
                |  mx-3-91                                   ✗□□□          21m  1 job, its lock has expired
                :  ****************************************  rrrrrrrrrr  rrrrr  rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr
                |  mx-1-220                                  ■■■■           0s  4 jobs
                :  ****************************************  gggggggggg  .....
                |
                |
                |
                |
                |
                |
                |
                |
                | ↑↓ select  ⏎ open  ⇥ next  / filter  e explain  w command  P pause  ? all
                :..........................................................................
            "#]],
        );
    }

    #[test]
    fn keys_and_commands_stand_over_the_screen() {
        let mut state = state(2);
        state.press_key(Key::Char('w'));
        check(
            &mut state,
            60,
            10,
            expect![[r#"
                | qless ▍PROD  rediss://redis.example:6380/0
                :*******rrrrrrr.............................
                | 1,226 failed (+80 in 1h) · 1 stalled · mail is 4m late · …
                : rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr
                |
                |  QUEUE                                   L  NEXT WAITS  S…
                :  ..............  ########################.  ..........  ..
                |▶ images            qless queues          1           –  p…
                :******************########################r**************yy
                |  mail              qless unpause images  0      4m 12s  l…
                :  **************  ########################.  rrrrrrrrrr  rr
                |  \x1b[31mred                             0          6s  l…
                :  **************  ########################.              rr
                |
                |
                | ↑↓ select  ⏎ open  ⇥ next  / filter  e explain  w comman…
                :..........................................................
            "#]],
        );
        state.press_key(Key::Escape);
        // In a protected context the command itself asks.
        assert!(matches!(state.press_key(Key::Char('P')), KeyEffect::Run(_)));
        state.servers[0].shown.is_protected = false;
        state.press_key(Key::Char('P'));
        check(
            &mut state,
            60,
            6,
            expect![[r#"
                | qless ▍PROD  rediss://redis.example:6380/0
                :**************.............................
                | 1,226 failed (+80 in 1h) · 1 stalled · mail is 4m late · …
                : rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr
                |  QUEUE             WAIT  ±/min  RUN  STALL  NEXT WAITS  S…
                :  ..............  ......  .....  ...  .....  ..........  ..
                |▶ images               0      0    3      1           –  p…
                :**************************************rrrrr**************yy
                |  and 2 more
                :............
                | qless unpause images  y does it
                :*********************yyyyyyyyyyy
            "#]],
        );
        state.press_key(Key::Char('n'));
        assert_eq!(state.message.as_deref(), Some("nothing was changed"));
        state.servers[0].shown.is_read_only = true;
        state.press_key(Key::Char('P'));
        assert_eq!(state.message.as_deref(), Some("this server is only read"));
    }

    #[test]
    fn a_change_is_about_the_open_job_and_names_the_context_that_is_shown() {
        let mut state = state(2);
        state.press_key(Key::Enter);
        let job = |jid: &str| Job {
            jid: Name::from(jid),
            ..Job::default()
        };
        let source = JobSource::Queue(Name::from("images"), State::Waiting);
        answer(
            &mut state,
            ReadTarget::Jobs(source),
            Ok(SnapshotJobsOrText::Jobs {
                jobs: ["j1", "j2", "j3"].map(job).to_vec(),
                total: 3,
            }),
        );
        let line = |state: &TopState| {
            let change = state.change_command('C').unwrap();
            change.line.shell_line().unwrap()
        };
        // Marks `j1` and `j2`, and opens `j3`.
        for key in [Key::Char(' '), Key::Char(' ')] {
            state.press_key(key);
        }
        assert_eq!(line(&state), "qless cancel j1 j2");
        state.press_key(Key::Enter);
        assert_eq!(line(&state), "qless cancel j3");
        state.press_key(Key::Escape);
        assert_eq!(line(&state), "qless cancel j1 j2");
        let mut other = self::state(0);
        state.servers.append(&mut other.servers);
        state.servers[0].shown.has_others = true;
        state.servers[0].shown.add_server_flag_to_printed_commands();
        assert_eq!(line(&state), "qless --context=prod cancel j1 j2");
    }

    #[test]
    fn a_list_of_keys_that_does_not_fit_is_scrolled() {
        let mut state = state(2);
        let all = |state: &mut TopState| frame(state, 40, 15);
        state.press_key(Key::Control('p'));
        let first = all(&mut state);
        assert!(
            first.contains("↑ ↓ j k") && first.contains("↓ 13 more"),
            "{first}"
        );
        state.press_key(Key::Char('G'));
        let last = all(&mut state);
        assert!(last.contains("P          pause or unpause"), "{last}");
        // Keys that do not scroll close it, and do nothing else.
        state.press_key(Key::Char('q'));
        assert!(state.overlay.is_none());
    }

    #[test]
    fn a_filter_that_leaves_nothing_does_not_say_that_nothing_has_failed() {
        let mut state = state(2);
        for key in [Key::Char('/'), Key::Char('z'), Key::Char('z'), Key::Enter] {
            state.press_key(key);
        }
        let shown = frame(&mut state, 80, 24);
        assert_eq!(shown.matches("none matches").count(), 3, "{shown}");
    }

    #[test]
    fn numbers_from_before_a_loss_are_told_with_their_age_and_the_reason() {
        let mut state = state(2);
        let away = ErrorWithConnectionSteps {
            error: Error::new(Kind::Unreachable, "Redis does not answer"),
            steps: Vec::new(),
        };
        answer(&mut state, ReadTarget::Snapshot(Vec::new()), Err(away));
        let shown = frame(&mut state, 80, 24);
        assert!(shown.contains("0s old · Redis does not answer"), "{shown}");
        assert!(shown.contains("mail"), "{shown}");
    }

    #[test]
    fn a_long_command_is_shown_whole() {
        let mut state = state(2);
        state.overlay = Some(Overlay::Commands(vec!["ß".repeat(100)]));
        let shown = frame(&mut state, 40, 10);
        assert_eq!(shown.matches('ß').count(), 100, "{shown}");
    }

    #[test]
    fn a_list_of_running_jobs_counts_those_that_it_does_not_show() {
        let mut state = state(2);
        state.press_key(Key::Down);
        state.press_key(Key::Enter);
        state.press_key(Key::Char('2'));
        let source = JobSource::Queue(Name::from("mail"), State::Running);
        let job = |jid: &str| Job {
            jid: Name::from(jid),
            ..Job::default()
        };
        answer(
            &mut state,
            ReadTarget::Jobs(source),
            Ok(SnapshotJobsOrText::Jobs {
                jobs: vec![job("a"), job("b")],
                total: 2,
            }),
        );
        let shown = frame(&mut state, 80, 10);
        assert!(
            shown.contains("mail: running · 8 jobs, the first 2"),
            "{shown}"
        );
    }

    #[test]
    fn a_small_screen_shows_a_row() {
        for (columns, lines) in [(20, 5), (20, 4), (40, 6), (80, 7)] {
            let shown = frame(&mut state(2), columns, lines);
            assert!(shown.contains("▶ images"), "{columns}×{lines}:\n{shown}");
            assert!(shown.contains("and 2 more"), "{columns}×{lines}:\n{shown}");
        }
        for lines in 1..4 {
            let mut state = state(2);
            state.press_key(Key::Last);
            let shown = frame(&mut state, 20, lines);
            assert!(shown.contains("▶ \\x1b[31mred"), "{lines}:\n{shown}");
        }
    }

    #[test]
    fn a_question_is_shown_on_one_line_in_place_of_a_row() {
        let mut state = state(2);
        state.servers[0].shown.is_protected = false;
        state.press_key(Key::Char('P'));
        let shown = frame(&mut state, 60, 1);
        assert!(shown.contains("qless unpause images  y does it"), "{shown}");
    }

    #[test]
    fn the_problems_that_the_headline_leaves_out_are_on_the_status_screen() {
        let mut state = state(2);
        let shown = frame(&mut state, 80, 24);
        assert!(shown.contains("· 2 more: i shows all"), "{shown}");
        state.press_key(Key::Char('i'));
        let lines: Vec<String> = (1..=30).map(|line| format!("problem {line}")).collect();
        answer(
            &mut state,
            ReadTarget::Text(TextSource::Status),
            Ok(SnapshotJobsOrText::Text(lines.join("\n"))),
        );
        let shown = frame(&mut state, 80, 10);
        assert!(shown.contains("problem 6\n"), "{shown}");
        assert!(shown.contains("↓ 24 more"), "{shown}");
        state.press_key(Key::Last);
        let shown = frame(&mut state, 80, 10);
        assert!(shown.contains("problem 30"), "{shown}");
        assert!(!shown.contains(" more"), "{shown}");
        // The server has no name that a change could be about.
        assert_eq!(state.change_command('C'), None);
    }

    #[test]
    fn rates_are_whole() {
        let mut state = state(31);
        let queues = &mut state.servers[0].snapshot.as_mut().unwrap().facts.queues;
        queues.truncate(2);
        let shown = frame(&mut state, 80, 24);
        assert!(shown.contains(" 31/30/s "), "{shown}");
        assert!(!shown.contains(" 0/0"), "{shown}");
        for rates in [(1.3, 1.2), (1234.5, 1234.5)] {
            let flow = flow_cell(&[Some(1.0); 60], Some(rates.0), Some(rates.1));
            assert!(flow.ends_with("/s") && width(&flow) <= 18, "{flow}");
        }
    }

    #[test]
    fn a_mark_goes_with_its_row_and_stays_behind_a_filter() {
        let mut state = state(2);
        state.press_key(Key::Enter);
        let source = JobSource::Queue(Name::from("images"), State::Waiting);
        let jobs = |state: &mut TopState, jids: &[&str]| {
            let job = |jid: &&str| Job {
                jid: Name::from(*jid),
                ..Job::default()
            };
            let found = SnapshotJobsOrText::Jobs {
                jobs: jids.iter().map(job).collect(),
                total: jids.len() as u64,
            };
            answer(state, ReadTarget::Jobs(source.clone()), Ok(found));
        };
        jobs(&mut state, &["j1", "j2", "j3"]);
        state.press_key(Key::Char('*'));
        for key in [Key::Char('/'), Key::Char('2'), Key::Enter] {
            state.press_key(key);
        }
        jobs(&mut state, &["j1", "j2"]);
        let change = state.change_command('C').unwrap();
        let line = change.line.shell_line().unwrap();
        assert_eq!(line, "qless cancel j1 j2");
        assert!(frame(&mut state, 80, 10).contains("2 marked"));
    }

    #[test]
    fn a_read_that_is_requested_during_another_one_is_made_after_it() {
        for is_asked in [false, true] {
            let mut state = state(2);
            let later = Instant::now() + Duration::from_secs(60);
            let request = state.next_due_request(later).unwrap();
            if is_asked {
                state.schedule_read_now();
            }
            let found = Ok(SnapshotJobsOrText::Snapshot(
                Box::new(facts(3)),
                samples(),
                Moment::default(),
            ));
            answer(&mut state, request.what, found);
            assert_eq!(state.next_due_request(Instant::now()).is_some(), is_asked);
        }
    }

    #[test]
    fn no_frame_is_too_small() {
        for (columns, lines) in [(1, 1), (2, 40), (300, 1), (10, 3), (21, 7)] {
            for key in [Key::Escape, Key::Char('?'), Key::Char('w'), Key::Enter] {
                let mut state = state(2);
                state.press_key(key);
                frame(&mut state, columns, lines);
            }
        }
    }
}
