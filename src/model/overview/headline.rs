//! The state of the system in one sentence, for an operator who sees it for the first time.

use super::{Overview, ProblemCode, StatusProblem, at_least_prefix};
use crate::clock::moment::SECONDS_PER_DAY;
use crate::text::{
    capitalize, format_count, format_duration, format_rough_duration, with_thousands_separators,
};

/// Maximum number of problems that a headline names. The others are counted.
const MAX_NAMED_PROBLEMS: usize = 3;

/// The part of a headline about one problem, in two lengths.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ShortAndLongClause {
    /// The short form, for a line on a terminal and the title of a browser tab: `mail is 4m late`.
    pub short: String,
    /// The long form, for a sentence: `mail is 4 minutes late`.
    pub long: String,
}

/// The headline about the state of the system.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Headline {
    /// A clause for each of the worst problems, the worst first. Empty if nothing needs attention.
    pub clauses: Vec<ShortAndLongClause>,
    /// The sentence to show if nothing needs attention.
    quiet: String,
    /// The number of further problems, which have no clause.
    more: usize,
}

impl Headline {
    pub(crate) fn new(overview: &Overview) -> Headline {
        let mut clauses: Vec<ShortAndLongClause> = Vec::new();
        for problem in &overview.problems {
            let clause = clause_of_problem(problem, overview);
            if !clauses.contains(&clause) {
                clauses.push(clause);
            }
        }
        let more = clauses.len().saturating_sub(MAX_NAMED_PROBLEMS);
        clauses.truncate(MAX_NAMED_PROBLEMS);
        if let (Some(clause), Some(problem)) = (clauses.first_mut(), overview.problems.first()) {
            clause.capitalize_unless_queue_name(problem);
        }
        Headline {
            clauses,
            quiet: quiet_sentence(overview),
            more,
        }
    }

    /// The headline as short parts for one line: `1,237 failed`, `mail is 4m late`, `2 more`.
    pub(crate) fn line_parts(&self) -> Vec<String> {
        if self.clauses.is_empty() {
            return vec![self.quiet.clone()];
        }
        let mut parts: Vec<String> = self
            .clauses
            .iter()
            .map(|clause| clause.short.clone())
            .collect();
        if self.more > 0 {
            parts.push(format!("{} more", self.more));
        }
        parts
    }

    /// Whether the headline has a clause for each problem.
    pub(crate) fn names_all_problems(&self) -> bool {
        self.more == 0
    }

    /// The headline as a sentence: `1,237 jobs have failed, mail is 4 minutes late, and one worker is silent.`
    pub(crate) fn sentence(&self) -> String {
        let mut parts: Vec<String> = self
            .clauses
            .iter()
            .map(|clause| clause.long.clone())
            .collect();
        if self.more > 0 {
            let needs = if self.more == 1 { "needs" } else { "need" };
            parts.push(format!(
                "{} more {needs} a look",
                count_in_words(self.more as u64)
            ));
        }
        let sentence = match parts.as_slice() {
            [] => return self.quiet.clone(),
            [one] => one.clone(),
            [one, other] => format!("{one}, and {other}"),
            [first @ .., last] => format!("{}, and {last}", first.join(", ")),
        };
        format!("{sentence}.")
    }
}

impl ShortAndLongClause {
    /// Capitalizes the first letter of the long form, unless it begins with the name of a queue.
    fn capitalize_unless_queue_name(&mut self, problem: &StatusProblem) {
        let begins_with_queue = matches!(problem.code, ProblemCode::Late | ProblemCode::Paused);
        let is_name = begins_with_queue && problem.queue.is_some();
        if !is_name {
            self.long = capitalize(&self.long);
        }
    }
}

/// The clause of a headline about a problem.
fn clause_of_problem(problem: &StatusProblem, overview: &Overview) -> ShortAndLongClause {
    let clause = |short: &str, long: &str| ShortAndLongClause {
        short: short.to_owned(),
        long: long.to_owned(),
    };
    let jobs = problem.jobs.unwrap_or_default();
    let age = problem.age_s.map_or(0.0, |age| age.0);
    match problem.code {
        ProblemCode::Damaged => clause("damaged keys", "keys are damaged"),
        ProblemCode::Eviction => clause("keys may be evicted", "Redis may delete parts of jobs"),
        ProblemCode::Memory => clause("memory nearly full", "the memory of Redis is nearly full"),
        ProblemCode::Persistence => clause("saving failed", "Redis could not save its data"),
        ProblemCode::Replica => clause("replica is behind", "this replica has lost its primary"),
        ProblemCode::NoWorkers => clause("no worker", "no worker has been seen"),
        ProblemCode::WorkersSilent => ShortAndLongClause {
            short: format!("workers silent for {}", format_rough_duration(age)),
            long: format!("no worker has been seen for {}", time_in_words(age)),
        },
        ProblemCode::Throttle => {
            let jobs = if jobs > 0 {
                format_count(jobs, "job", "jobs")
            } else {
                "jobs".into()
            };
            ShortAndLongClause {
                short: format!("throttle holds {jobs}"),
                long: format!("a throttle holds {jobs}"),
            }
        }
        ProblemCode::Lane => clause("a lane is blocked", "a lane is blocked"),
        ProblemCode::Failing => {
            let failed = overview.totals.failed;
            let recent: u64 = overview.failures.iter().map(|group| group.recent).sum();
            let since = format_duration(overview.since_s.0);
            let have = if failed == 1 { "has" } else { "have" };
            let count = with_thousands_separators(failed);
            let recent = with_thousands_separators(recent);
            let least = at_least_prefix(overview.omitted.groups);
            ShortAndLongClause {
                short: format!("{least}{count} failed (+{recent} in {since})"),
                long: format!(
                    "{least}{} {have} failed",
                    format_count(failed, "job", "jobs")
                ),
            }
        }
        ProblemCode::Stalled => stalled_jobs_clause(problem, overview),
        ProblemCode::Late => {
            let Some(queue) = &problem.queue else {
                return clause("other queues are late", "other queues are late");
            };
            ShortAndLongClause {
                short: format!("{queue} is {} late", format_rough_duration(age)),
                long: format!("{queue} is {} late", time_in_words(age)),
            }
        }
        ProblemCode::SilentHolder => ShortAndLongClause {
            short: "silent with a lock".into(),
            long: match problem.worker {
                Some(_) => format!("one worker is silent for {}", time_in_words(age)),
                None => "some workers are silent and hold locks".into(),
            },
        },
        ProblemCode::LateRecurring => {
            let (count, are) = (count_in_words(jobs), if jobs == 1 { "is" } else { "are" });
            let noun = if jobs == 1 { "job" } else { "jobs" };
            ShortAndLongClause {
                short: format!("{jobs} recurring {noun} late"),
                long: format!("{count} recurring {noun} {are} late"),
            }
        }
        ProblemCode::Paused => {
            let paused = match &problem.queue {
                Some(queue) => format!("{queue} is paused"),
                None => "more queues are paused".into(),
            };
            clause(&paused, &paused)
        }
    }
}

/// The clause about jobs whose locks have expired. It speaks of workers if the listed workers held all these jobs.
fn stalled_jobs_clause(problem: &StatusProblem, overview: &Overview) -> ShortAndLongClause {
    let jobs = problem.jobs.unwrap_or_default();
    let (verb, locks) = if jobs == 1 {
        ("has", "its lock")
    } else {
        ("have", "their locks")
    };
    let stalled = format_count(jobs, "job", "jobs");
    let long = match overview.stalled_workers.as_slice() {
        [worker] if worker.stalled == jobs => match jobs {
            1 => "one worker has lost its job".to_owned(),
            _ => format!("one worker has lost {stalled}"),
        },
        // Workers that are not in the list lost some of the jobs: do not speak of one worker.
        [] | [_] => format!("{stalled} {verb} lost {locks}"),
        workers => format!(
            "{} workers have lost jobs",
            count_in_words(workers.len() as u64)
        ),
    };
    let short = format!("{} stalled", with_thousands_separators(jobs));
    ShortAndLongClause { short, long }
}

/// The sentence if nothing needs attention.
fn quiet_sentence(overview: &Overview) -> String {
    let totals = &overview.totals;
    if totals.queues == 0 && totals.failed == 0 && totals.complete == 0 {
        return "Nothing is here yet: the first job that is put makes its queue.".into();
    }
    let failed = match totals.failed {
        0 => "nothing has failed".to_owned(),
        failed => format!(
            "no new failure, {}{} from before",
            at_least_prefix(overview.omitted.groups),
            with_thousands_separators(failed)
        ),
    };
    let wait = overview.waits.first().map_or(0.0, |wait| wait.wait_s.0);
    let waits = if wait < 1.0 {
        "nothing waits".to_owned()
    } else {
        format!("nothing waits longer than {}", time_in_words(wait.ceil()))
    };
    format!("All is quiet: {failed}, and {waits}.")
}

/// A duration in words, as its largest unit: `4 minutes`.
fn time_in_words(seconds: f64) -> String {
    let units = [
        (SECONDS_PER_DAY, "day"),
        (3600.0, "hour"),
        (60.0, "minute"),
        (1.0, "second"),
    ];
    let found = units.iter().find(|(size, _)| seconds >= *size);
    let (size, noun) = found.unwrap_or(&units[3]);
    format_count((seconds / size) as u64, noun, &format!("{noun}s"))
}

/// A small count in words.
fn count_in_words(count: u64) -> String {
    const WORDS: [&str; 10] = [
        "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
    ];
    let word = usize::try_from(count).ok().and_then(|at| WORDS.get(at));
    word.map_or_else(
        || with_thousands_separators(count),
        |word| (*word).to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::model::overview::{OmittedCounts, OverviewTotals};
    use crate::model::queue::RoundedSeconds;
    use crate::model::worker::Worker;
    use crate::name::Name;

    fn told(problems: Vec<StatusProblem>, totals: OverviewTotals) -> String {
        told_of(Overview {
            problems,
            totals,
            since_s: RoundedSeconds(3600.0),
            ..Overview::default()
        })
    }

    fn told_of(overview: Overview) -> String {
        let headline = Headline::new(&overview);
        format!(
            "{}\n{}\n",
            headline.sentence(),
            headline.line_parts().join(" · ")
        )
    }

    #[test]
    fn a_headline_tells_the_worst_three_and_counts_the_rest() {
        let problem = |code| StatusProblem::new(code, "");
        let late = |queue: &str, age| {
            problem(ProblemCode::Late)
                .with_queue(&Name::from(queue))
                .with_age(age)
        };
        let failed = OverviewTotals {
            queues: 3,
            failed: 1237,
            ..OverviewTotals::default()
        };
        let problems = vec![
            problem(ProblemCode::Failing).with_jobs(1204),
            problem(ProblemCode::Failing).with_jobs(21),
            late("mail", 252.0),
            problem(ProblemCode::Stalled).with_jobs(1),
            problem(ProblemCode::Paused).with_queue(&Name::from("images")),
        ];
        expect![[r#"
            1,237 jobs have failed, mail is 4 minutes late, 1 job has lost its lock, and one more needs a look.
            1,237 failed (+0 in 1h) · mail is 4m late · 1 stalled · 1 more
        "#]]
        .assert_eq(&told(problems, failed));
        expect![[r#"
            mail is 1 hour late, and Redis may delete parts of jobs.
            mail is 1h late · keys may be evicted
        "#]]
        .assert_eq(&told(
            vec![late("mail", 3600.0), problem(ProblemCode::Eviction)],
            OverviewTotals::default(),
        ));
        expect![[r#"
            No worker has been seen.
            no worker
        "#]]
        .assert_eq(&told(
            vec![problem(ProblemCode::NoWorkers)],
            OverviewTotals::default(),
        ));
    }

    #[test]
    fn a_headline_begins_with_a_large_letter_whatever_the_queue_is_called() {
        let lane = StatusProblem::new(ProblemCode::Lane, "").with_queue(&Name::from("a"));
        expect![[r#"
            A lane is blocked.
            a lane is blocked
        "#]]
        .assert_eq(&told(vec![lane], OverviewTotals::default()));
    }

    #[test]
    fn a_headline_counts_the_jobs_that_one_worker_has_lost() {
        let told_of_stalled = |jobs, lost_by_worker| {
            told_of(Overview {
                problems: vec![StatusProblem::new(ProblemCode::Stalled, "").with_jobs(jobs)],
                stalled_workers: vec![Worker {
                    stalled: lost_by_worker,
                    ..Worker::default()
                }],
                ..Overview::default()
            })
        };
        let told = [(1, 1), (7, 7), (7, 2)].map(|(jobs, lost)| told_of_stalled(jobs, lost));
        expect![[r#"
            One worker has lost its job.
            1 stalled
            One worker has lost 7 jobs.
            7 stalled
            7 jobs have lost their locks.
            7 stalled
        "#]]
        .assert_eq(&told.concat());
    }

    #[test]
    fn failed_jobs_are_so_many_at_least_if_groups_were_not_read() {
        expect![[r#"
            At least 37 jobs have failed.
            at least 37 failed (+0 in 1h)
        "#]]
        .assert_eq(&told_of(Overview {
            problems: vec![StatusProblem::new(ProblemCode::Failing, "").with_jobs(37)],
            totals: OverviewTotals {
                failed: 37,
                ..OverviewTotals::default()
            },
            since_s: RoundedSeconds(3600.0),
            omitted: OmittedCounts {
                groups: 7,
                ..OmittedCounts::default()
            },
            ..Overview::default()
        }));
    }

    #[test]
    fn a_quiet_system_says_so() {
        let totals = OverviewTotals {
            queues: 1,
            ..OverviewTotals::default()
        };
        expect![[r#"
            All is quiet: nothing has failed, and nothing waits.
            All is quiet: nothing has failed, and nothing waits.
        "#]]
        .assert_eq(&told(Vec::new(), totals));
        expect![[r#"
            Nothing is here yet: the first job that is put makes its queue.
            Nothing is here yet: the first job that is put makes its queue.
        "#]]
        .assert_eq(&told(Vec::new(), OverviewTotals::default()));
    }
}
