//! The table of findings: what each is called, how bad it is, what it stands for, and what becomes
//! of it. The help, the manual and the report are made from it.

use super::verdict::{Verdict, VerdictOutcome};

/// How bad a finding is; the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Needs no action.
    Info,
    /// Wrong bookkeeping.
    Warn,
    /// Loses, doubles or blocks a job.
    Error,
    /// Wedges a queue for clients with the reference core.
    Critical,
}

impl Severity {
    pub const ALL: [Severity; 4] = [
        Severity::Critical,
        Severity::Error,
        Severity::Warn,
        Severity::Info,
    ];

    pub const fn word(self) -> &'static str {
        match self {
            Severity::Critical => "critical",
            Severity::Error => "error",
            Severity::Warn => "warn",
            Severity::Info => "info",
        }
    }

    pub const fn says(self) -> &'static str {
        match self {
            Severity::Critical => "wedges a queue for clients with the reference core",
            Severity::Error => "loses, doubles or blocks a job",
            Severity::Warn => "is wrong bookkeeping",
            Severity::Info => "needs no action",
        }
    }
}

/// Whether a repair mends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approval {
    /// Without asking further.
    Unasked,
    /// Only where `--only` names it.
    Asks,
    /// The same, and something is to be typed: it is deleted.
    Typed,
    /// It can only be told.
    Never,
}

/// What a repair does: `remove`, `removed`, `the id`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remedy {
    pub verb: &'static str,
    pub past: &'static str,
    pub what: &'static str,
}

/// A case of a finding that is treated otherwise; the core knows it by this word.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub word: &'static str,
    pub consent: Approval,
    /// When it is this case.
    pub says: &'static str,
}

/// When a finding is worse or better than it usually is.
#[derive(Clone, Copy, Debug)]
pub enum When {
    /// The job stands at the head of a queue.
    Head,
    /// The same, and its detail is one of these.
    HeadWith(&'static [&'static str]),
    /// There is no such job.
    Gone,
    /// It can only be told.
    Told,
    /// Its detail begins so.
    Begins(&'static str),
}

/// Another severity: when, and how that is said.
#[derive(Clone, Copy, Debug)]
pub struct Grade {
    pub severity: Severity,
    pub when: When,
    pub says: &'static str,
}

/// How examples are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `3f2a…`
    Jid,
    /// `mail: 3f2a…, 81c0…`: the detail is where they are.
    JidIn,
    /// `3f2a…: tags`
    JidIs,
    /// `c41d… needs p-77`
    Needs,
    /// `a needs b needs a`: the detail is the rest of the chain.
    Chain,
    /// `mail`
    Name,
    /// `eu: 412, is 409`
    NameIs,
}

/// What may be wrong.
#[derive(Clone, Copy, Debug)]
pub struct Finding {
    pub id: &'static str,
    pub severity: Severity,
    pub grades: &'static [Grade],
    /// The numbers of the invariants I-01 … I-37 that it stands for.
    pub invariants: &'static [u8],
    /// What is wrong, in a line.
    pub problem: &'static str,
    pub remedy: Option<Remedy>,
    pub consent: Approval,
    pub cases: &'static [Case],
    pub form: Form,
    /// Whether the same item with another detail is another damage.
    pub by_detail: bool,
    /// What a human has to decide, and the command for each choice.
    pub choices: &'static [&'static str],
}

const fn finding(
    id: &'static str,
    severity: Severity,
    invariants: &'static [u8],
    form: Form,
    problem: &'static str,
) -> Finding {
    Finding {
        id,
        severity,
        grades: &[],
        invariants,
        problem,
        remedy: None,
        consent: Approval::Never,
        cases: &[],
        form,
        by_detail: false,
        choices: &[],
    }
}

impl Finding {
    /// A repair does this, without asking further.
    const fn mends(self, verb: &'static str, past: &'static str, what: &'static str) -> Finding {
        Finding {
            remedy: Some(Remedy { verb, past, what }),
            consent: Approval::Unasked,
            ..self
        }
    }

    /// A repair that names it does this.
    const fn asks(self, verb: &'static str, past: &'static str, what: &'static str) -> Finding {
        Finding {
            consent: Approval::Asks,
            ..self.mends(verb, past, what)
        }
    }

    const fn typed(self) -> Finding {
        Finding {
            consent: Approval::Typed,
            ..self
        }
    }

    const fn cases(self, cases: &'static [Case]) -> Finding {
        Finding { cases, ..self }
    }

    const fn grades(self, grades: &'static [Grade]) -> Finding {
        Finding { grades, ..self }
    }

    const fn by_detail(self) -> Finding {
        Finding {
            by_detail: true,
            ..self
        }
    }

    const fn choices(self, choices: &'static [&'static str]) -> Finding {
        Finding { choices, ..self }
    }

    /// Returns the names of the invariants that it stands for.
    pub fn invariants(&self) -> impl Iterator<Item = String> {
        self.invariants.iter().copied().map(invariant)
    }

    /// Returns the finding of this name.
    pub fn named(id: &str) -> Option<&'static Finding> {
        FINDINGS.iter().find(|finding| finding.id == id)
    }

    /// Returns how bad a verdict is, `head` and `gone` being what else is known of its job.
    pub fn grade(&self, verdict: &Verdict, head: bool, gone: bool) -> Severity {
        let holds = |when: When| match when {
            When::Head => head,
            When::HeadWith(details) => {
                head && details
                    .iter()
                    .any(|text| verdict.detail.as_bytes() == text.as_bytes())
            }
            When::Gone => gone,
            When::Told => verdict.outcome == VerdictOutcome::Report,
            When::Begins(text) => verdict.detail.as_bytes().starts_with(text.as_bytes()),
        };
        let grade = self.grades.iter().find(|grade| holds(grade.when));
        grade.map_or(self.severity, |grade| grade.severity)
    }

    /// Whether its severity depends on where the job stands.
    pub fn asks_for_head(&self) -> bool {
        self.grades
            .iter()
            .any(|grade| matches!(grade.when, When::Head | When::HeadWith(_)))
    }

    /// Whether its severity depends on whether there is a job.
    pub fn asks_for_job(&self) -> bool {
        self.grades
            .iter()
            .any(|grade| matches!(grade.when, When::Gone))
    }
}

/// Returns the name of an invariant.
pub fn invariant(number: u8) -> String {
    format!("I-{number:02}")
}

const LOCKED: Case = Case {
    word: "locked",
    consent: Approval::Never,
    says: "while a lock on it lives",
};

const AHEAD: Case = Case {
    word: "ahead",
    consent: Approval::Never,
    says: "where that would lie far ahead",
};

const AT_THE_HEAD: &[Grade] = &[Grade {
    severity: Severity::Critical,
    when: When::Head,
    says: "where the job stands at the head of a queue",
}];

use Form::{Chain, Jid, JidIn, JidIs, Name, NameIs, Needs};
use Severity::{Critical, Error, Info, Warn};

/// All of them, in the order of the manual. Names are stable and never used again.
#[rustfmt::skip]
pub const FINDINGS: &[Finding] = &[
    // Entries of a queue without a job, or in the wrong place.
    finding("ghost-waiting", Critical, &[3], JidIn, "id waits in a queue, the job does not exist")
        .mends("remove", "removed", "the id").by_detail(),
    finding("ghost-lock", Critical, &[3], JidIn, "id is locked in a queue, the job does not exist")
        .mends("remove", "removed", "the id").by_detail(),
    finding("ghost-scheduled", Critical, &[3], JidIn, "id is scheduled in a queue, the job does not exist")
        .mends("remove", "removed", "the id").by_detail(),
    finding("ghost-depends", Warn, &[3], JidIn, "id is blocked in a queue, the job does not exist")
        .mends("remove", "removed", "the id").by_detail(),
    finding("ghost-recurring", Critical, &[17], JidIn, "id recurs in a queue, the job does not exist")
        .mends("remove", "removed", "the id").by_detail(),
    finding("in-two-sets", Error, &[5], JidIn, "job is in a set that does not fit its state")
        .mends("keep", "kept", "the set that fits its state, or put it there")
        .cases(&[LOCKED]).by_detail(),
    finding("in-foreign-queue", Error, &[4], JidIn, "job is in a set of a queue that is not its own")
        .mends("move", "moved", "it to its own queue, or remove it there")
        .cases(&[LOCKED]).by_detail(),
    finding("in-no-set", Error, &[6], JidIn, "job is in no set, nothing will ever take it")
        .mends("put", "put", "it into the set that fits its state"),
    finding("queue-unlisted", Warn, &[24], Name, "queue with content is missing from the list")
        .mends("list", "listed", "it"),
    finding("queue-empty", Info, &[25], NameIs, "queue is listed or paused, but empty")
        .choices(&["take it off the list: `qless forget queue QUEUE`", "let it take jobs again: `qless unpause QUEUE`"]),
    finding("queue-stuck", Info, &[36], NameIs, "work is due for a day, nobody takes it")
        .choices(&["see what is due: `qless peek QUEUE`", "see who works: `qless workers`"]),
    finding("over-limit", Info, &[37], NameIs, "more jobs run than the queue's limit allows")
        .choices(&["change the limit: `qless config set QUEUE-max-concurrency 10`"]),
    // The job itself.
    finding("job-stub", Error, &[1, 2], JidIs, "job without its mandatory fields")
        .grades(AT_THE_HEAD)
        .mends("set aside", "set aside", "the stub, and remove its ids")
        .cases(&[
            Case { word: "data", consent: Approval::Asks, says: "with data or klass: its id is written anew from the name of its key" },
            Case { word: "part", consent: Approval::Never, says: "where klass, data, state or queue is missing" },
        ])
        .choices(&[
            "give it the id that its key has: `qless check --repair --only job-stub`",
            "put it anew under its id, with the klass and data that it should have: `qless put QUEUE KLASS DATA --jid JID`",
        ]),
    finding("job-unreadable", Error, &[2, 29], JidIs, "field or history entry that does not parse")
        .grades(&[Grade {
            severity: Critical,
            when: When::HeadWith(&["tags", "no tags", "priority", "no priority", "remaining", "no remaining", "history"]),
            says: "at the head of a queue, where it is what pop reads: tags, priority, remaining, history",
        }])
        .mends("replace", "replaced", "what can be replaced without guessing; the old text is kept beside it")
        .cases(&[
            Case { word: "part", consent: Approval::Never, says: "data, state, retries, time, or what no history tells" },
        ])
        .by_detail()
        .choices(&[
            "read what is there: `qless get JID -o json`",
            "where nothing tells why it failed, run it again: `qless retry JID`",
            "put the job anew: `qless put QUEUE KLASS DATA --jid JID`, or give it up: `qless cancel JID`",
        ]),
    finding("field-leftover", Info, &[15, 16], JidIs, "field of an earlier state is left over")
        .asks("drop", "dropped", "the field").by_detail()
        .choices(&["drop it: `qless check --repair --only field-leftover`", "it does no harm: leave it"]),
    finding("remaining", Info, &[31], JidIs, "more tries are left than the job has")
        .choices(&["leave it: it is tried more often, nothing else"]),
    finding("score", Warn, &[12, 32], JidIs, "place does not fit the priority, or lock its end")
        .mends("write", "wrote", "the place that fits, of two ends of a lock the later"),
    finding("clock", Warn, &[12, 32, 33], JidIs, "moment lies ahead, a client's clock is wrong")
        .grades(&[Grade { severity: Error, when: When::Begins("locked until"), says: "of a lock: the job is blocked until then" }])
        .by_detail()
        .choices(&[
            "set the clock of the client that wrote it right",
            "end the lock, so that the job is run again: `qless timeout JID`",
            "leave out the others: `qless check --skip clock`",
        ]),
    // Running jobs and their workers.
    finding("running-without-lock", Error, &[6, 12], JidIn, "job runs without a lock, it can't time out")
        .mends("give", "gave", "it a lock that ends when it should have").cases(&[AHEAD]),
    finding("lock-without-run", Error, &[5, 12], JidIn, "lock of a job that is not running")
        .mends("remove", "removed", "the lock").by_detail(),
    finding("worker-stray", Info, &[13], JidIn, "worker's list has a job that it does not run")
        .mends("remove", "removed", "the job from the list").by_detail(),
    finding("worker-gap", Warn, &[14], JidIn, "worker's list lacks a job that it runs")
        .grades(&[Grade { severity: Info, when: When::Told, says: "where the worker was forgotten with age" }])
        .mends("add", "added", "the job to the list")
        .cases(&[Case { word: "aged", consent: Approval::Never, says: "where the worker was forgotten with age" }]),
    finding("worker-unknown", Info, &[26], Name, "worker runs jobs, and is not listed")
        .choices(&["nothing: it is listed again as soon as it takes a job or beats"]),
    // Dependencies.
    finding("dependency-missing", Error, &[10], Needs, "job waits for a job that does not exist")
        .asks("drop", "dropped", "the dependency; who waits for nothing else runs")
        .cases(&[LOCKED]).by_detail()
        .choices(&[
            "what it waited for was done, or need not be: `qless check --repair --only dependency-missing`",
            "the same for one job: `qless depends JID --off OTHER`",
            "it was lost, and is to run first: `qless put QUEUE KLASS DATA --jid OTHER`",
            "give up what waits for it: `qless cancel JID`",
        ]),
    finding("dependency-complete", Error, &[10], Needs, "job waits for a job that is complete")
        .mends("drop", "dropped", "the dependency; who waits for nothing else runs")
        .cases(&[LOCKED]).by_detail(),
    finding("dependency-one-sided", Error, &[10], Needs, "dependency that only one of the two jobs knows")
        .mends("complete", "completed", "it, or drop it where nothing waits")
        .cases(&[Case { word: "idle", consent: Approval::Asks, says: "of a job that no longer waits: dropped" }])
        .by_detail()
        .choices(&["drop what a job names that no longer waits: `qless check --repair --only dependency-one-sided`"]),
    finding("dependency-cycle", Error, &[11], Chain, "jobs wait for each other, none will ever run")
        .by_detail()
        .choices(&["break it where it does least harm: `qless depends JID --off OTHER`", "give one up, with all that waits for it: `qless cancel JID --dependents cancel`"]),
    finding("depends-on-nothing", Error, &[10], Jid, "job is blocked, and waits for nothing")
        .mends("release", "released", "it").cases(&[LOCKED]),
    finding("depends-on-failed", Info, &[], Needs, "job waits for a failed job")
        .by_detail()
        .choices(&["run that again: `qless retry OTHER`", "let it run without: `qless depends JID --off OTHER`"]),
    // Failures.
    finding("failed-stray", Error, &[8], JidIn, "job is in a failure list where it does not belong")
        .grades(&[Grade { severity: Critical, when: When::Gone, says: "where the job does not exist" }])
        .mends("remove", "removed", "it there, or move it to its own list").by_detail(),
    finding("failed-unlisted", Error, &[8], JidIn, "failed job is in no failure list")
        .mends("list", "listed", "it in the group of its failure"),
    finding("failed-twice", Error, &[8], JidIn, "failed job is in failure lists more than once")
        .mends("keep", "kept", "one, in the group of its failure").by_detail(),
    finding("group-set", Warn, &[9], NameIs, "list of groups disagrees with the failure lists")
        .mends("align", "aligned", "it to the lists"),
    finding("failed-counter", Warn, &[27], NameIs, "failed counter differs from the failed jobs")
        .mends("set", "set", "it"),
    // Completed, tags, tracked.
    finding("completed-stray", Error, &[7], JidIs, "job listed as complete is not, it will be deleted")
        .mends("remove", "removed", "it from the list")
        .cases(&[Case { word: "queue", consent: Approval::Never, says: "where it is complete and has a queue: no core writes that" }])
        .choices(&["look at it: `qless get JID -o json`", "put it anew: `qless put QUEUE KLASS DATA --jid JID`"]),
    finding("completed-unlisted", Warn, &[7], Jid, "complete job is not listed, it never expires")
        .mends("list", "listed", "it; the next completion may delete many that are old")
        .cases(&[AHEAD]),
    finding("tag-index", Warn, &[20], JidIn, "tag's index disagrees with the tags of a job")
        .mends("align", "aligned", "it to the tags of the job").by_detail(),
    finding("tag-count", Warn, &[21], NameIs, "tag counter differs from the tagged jobs")
        .mends("set", "set", "it to what the index holds"),
    finding("tracked-gone", Info, &[23], Jid, "tracked job has expired")
        .asks("stop", "stopped", "tracking it")
        .choices(&["the same: `qless track --prune`", "it is what `track` shows as expired: leave it"]),
    // Recurring jobs.
    finding("recurring-unscheduled", Error, &[17], JidIn, "recurring job is in no queue, it never fires")
        .asks("schedule", "scheduled", "it, the next run one interval from now")
        .choices(&["let it fire again: `qless check --repair --only recurring-unscheduled`", "take it away: `qless recur rm JID`"]),
    finding("recurring-foreign", Error, &[17], JidIn, "recurring job is in a queue that is not its own")
        .mends("move", "moved", "it to its own queue").by_detail(),
    finding("recurring-invalid", Error, &[18], JidIs, "recurring job with a field that makes it unusable")
        .mends("replace", "replaced", "what can be replaced without guessing; without an interval it stops")
        .cases(&[Case { word: "part", consent: Approval::Never, says: "klass, data, queue, count or next run, or no interval" }])
        .by_detail()
        .choices(&["see it: `qless recur get JID`", "give it an interval: `qless recur set JID --every 1h`", "take it away: `qless recur rm JID`"]),
    finding("recurring-count", Error, &[19], JidIs, "recurring job counts fewer jobs than it has made")
        .mends("raise", "raised", "the count"),
    // Keys and the server.
    finding("key-type", Critical, &[22], NameIs, "key of a wrong type, or id with a reserved ending")
        .asks("set aside", "set aside", "the key, never one that holds a job")
        .cases(&[Case { word: "job", consent: Approval::Never, says: "where it holds a job" }])
        .choices(&[
            "find out who wrote it; nothing of ours does",
            "move it out of the way: `qless check --repair --only key-type`",
            "a job with a reserved ending, once it may go: `qless cancel JID`",
        ]),
    finding("key-expires", Error, &[34], NameIs, "key has an expiry, the server will delete it")
        .mends("persist", "persisted", "it"),
    finding("server-evicts", Error, &[34], NameIs, "the server may evict keys to make room")
        .grades(&[
            Grade { severity: Info, when: When::Begins("volatile-"), says: "where only keys with an expiry may go" },
            Grade { severity: Warn, when: When::Begins("no limit"), says: "while it has no limit of memory" },
        ])
        .choices(&["let it refuse writes instead: `redis-cli CONFIG SET maxmemory-policy noeviction`"]),
    finding("key-unknown", Info, &[22], NameIs, "key under the prefix that is none of ours")
        .choices(&["whoever wrote it knows: leave it, or use a `--prefix` of your own"]),
    finding("history-orphan", Info, &[30], Name, "history of a job that does not exist")
        .asks("set aside", "set aside", "the history")
        .choices(&["it is the only trace of a lost job; when it is no longer wanted: `qless check --repair --only history-orphan`"]),
    finding("edges-orphan", Info, &[30], Name, "dependencies of a job that does not exist")
        .asks("set aside", "set aside", "the list")
        .choices(&["when they are no longer wanted: `qless check --repair --only edges-orphan`"]),
    finding("lost-key", Info, &[], NameIs, "key that a repair set aside")
        .asks("delete", "deleted", "it").typed()
        .choices(&["delete it: `qless check --repair --only lost-key`", "put it back, with the file of `--undo`: `qless check --revert FILE`"]),
    finding("stats-sum", Warn, &[28], NameIs, "statistics of a day contradict themselves")
        .choices(&["nothing can make them anew: leave them out: `qless check --skip stats-sum`"]),
    finding("config-value", Critical, &[35], NameIs, "option that has to be a number is none")
        .grades(&[
            Grade { severity: Warn, when: When::Begins("is below 0"), says: "where it is below 0" },
            Grade { severity: Warn, when: When::Begins("nobody reads it"), says: "of an option that nobody reads" },
        ])
        .choices(&["take the default: `qless config unset OPTION`", "set it: `qless config set OPTION 60`"]),
    finding("not-judged", Info, &[], NameIs, "more than one call may judge")
        .choices(&["nothing: it may be damaged or not"]),
];

/// What no look can tell, by invariant.
pub const BEYOND: &[(u8, &str)] = &[
    (11, "cycles are looked for among jobs that wait"),
    (
        25,
        "whether a queue is meant to be paused, nobody but its operators knows",
    ),
    (
        28,
        "mean and vk cannot be computed anew: only whether they are numbers, and vk not below 0",
    ),
    (
        33,
        "a moment that lies in the past is plausible, however old",
    ),
    (
        34,
        "where the server does not tell its policy, only expiries are looked at",
    ),
    (36, "whether anybody is meant to take jobs from a queue"),
];

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    /// What the core says becomes of each, and of each case.
    fn outcomes() -> BTreeMap<String, String> {
        let text = include_str!("../../lua/check/repair/outcomes.lua");
        let lines = text.lines().filter_map(|line| {
            let line = line.trim().strip_prefix("['")?;
            let (name, rest) = line.split_once("'] = '")?;
            Some((name.to_owned(), rest.trim_end_matches("',").to_owned()))
        });
        lines.collect()
    }

    fn word(consent: Approval) -> String {
        match consent {
            Approval::Unasked => "found",
            Approval::Asks | Approval::Typed => "decide",
            Approval::Never => "report",
        }
        .to_owned()
    }

    #[test]
    fn the_table_says_what_the_core_does() {
        let mut told = BTreeMap::new();
        for finding in FINDINGS {
            told.insert(finding.id.to_owned(), word(finding.consent));
            for case in finding.cases {
                told.insert(format!("{} {}", finding.id, case.word), word(case.consent));
            }
        }
        assert_eq!(told, outcomes());
    }

    #[test]
    fn every_invariant_has_a_finding() {
        let covered: BTreeSet<u8> = FINDINGS
            .iter()
            .flat_map(|finding| finding.invariants.iter().copied())
            .collect();
        assert_eq!(covered, (1..=37).collect());
    }

    #[test]
    fn no_name_twice_and_what_nobody_mends_has_a_choice() {
        let mut names = BTreeSet::new();
        for finding in FINDINGS {
            assert!(names.insert(finding.id), "{}", finding.id);
            let mends = finding.consent != Approval::Never;
            assert_eq!(finding.remedy.is_some(), mends, "{}", finding.id);
            assert!(
                finding.consent == Approval::Unasked || !finding.choices.is_empty(),
                "{}",
                finding.id
            );
            assert!(finding.problem.len() <= 50, "{}", finding.id);
        }
    }
}
