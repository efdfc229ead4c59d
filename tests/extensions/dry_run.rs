//! What `look.pop`, `look.next` and a dry `guard.put` say and what the next pop or put does, over random databases.

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use super::steps::{self, Profile};
use crate::support::core::{Core, Reply};
use crate::support::random::{self, Draw};

/// The number of histories of each profile in `make test`. One compares some 10 pops.
const HISTORIES: u32 = 4;

/// What an operator does between two pops.
const CHANGES: [&str; 16] = [
    "throttle.set t1 -1",
    "throttle.set t1 0",
    "throttle.set t1 1",
    "throttle.set t2 -1",
    "throttle.set t2 3",
    "throttle.set t3 1",
    "throttle.delete t2",
    "pause a",
    "unpause a",
    "unpause b",
    "config.set a-max-concurrency 2",
    "config.set a-max-concurrency 0",
    "config.set max-pop-scan 2",
    "config.unset max-pop-scan",
    r#"config.set a-defaults {"throttles":["t3"],"order":"due"}"#,
    r#"config.set b-defaults {"lock":"*","key":"{klass}"}"#,
];

/// What the jobs of puts have beside their words.
const OPTIONS: [&str; 14] = [
    "",
    "tags [\"x\"]",
    "priority 3",
    "key k1",
    "key k1 dup merge",
    "key k2 dup merge rescore max",
    "key k1 dup skip",
    "key k1 dup skip until start ttl 60",
    "key k2 dup replace",
    "key ''",
    "throttles [\"t1\",\"t2\"]",
    "throttles []",
    "depends [\"j1\"]",
    "depends [\"j2\",\"m3\"]",
];

/// How many pops and puts were compared, and how many of them got or put a job.
#[derive(Debug, Default)]
struct Compared {
    pops: u64,
    jobs: u64,
    puts: u64,
    done: u64,
}

/// Compares what a dry put says with what the put does.
fn compare_put(
    core: &mut Core,
    draw: &mut Draw,
    now: f64,
    compared: &mut Compared,
) -> Result<String, String> {
    let members = [
        r#""replace":true"#,
        r#""missing":"allow""#,
        r#""lanes":true"#,
        r#""maxima":{"t1":2,"t9":1}"#,
    ];
    let members: Vec<&str> = members.into_iter().filter(|_| draw.below(2) == 0).collect();
    let members = members.join(",");
    // A dry run does not keep the entries of histories, so no jid stands in a call twice.
    let jobs = |draw: &mut Draw, at: u64| {
        let queue = draw.of(&["a", "b", "c"]);
        let jid = match draw.below(3) {
            0 => format!("j{}", 3 * draw.below(3) + at),
            1 => format!("m{}", 3 * draw.below(3) + at),
            _ => format!("new{}", 3 * draw.below(99) + at),
        };
        let delay = draw.of(&[0, 0, 0, 9]);
        let options = draw.of(&OPTIONS);
        let count = 5 + options.split_whitespace().count();
        format!(" {count} {queue} {jid} K {{}} {delay} {options}")
    };
    let jobs: String = (0..=draw.below(3)).map(|at| jobs(draw, at)).collect();
    let before = core.dump();
    let comma = if members.is_empty() { "" } else { "," };
    let dry = core.ok(&format!(
        r#"guard.put {now} {{"dry":true{comma}{members}}}{jobs}"#
    ));
    let unchanged = core.dump() == before;
    let put = format!("guard.put {now} {{{members}}}{jobs}");
    let done = core.ok(&put);
    compared.puts += 1;
    let is_done = |row: &Reply| row.list().first().is_some_and(|word| word.text() == "done");
    compared.done += u64::from(done.list().iter().any(is_done));
    if unchanged && format!("{dry:?}") == format!("{done:?}") {
        Ok(put)
    } else {
        Err(format!(
            "{put}\nsaid {dry:?}, did {done:?}, unchanged: {unchanged}"
        ))
    }
}

/// Builds a random database, then compares pops with what `look.pop` said before.
fn play(
    core: &mut Core,
    numbers: &[u64],
    profile: Profile,
    compared: &mut Compared,
) -> Result<(), String> {
    let (mut now, history) = {
        let ledger = steps::play(core, numbers, profile)?;
        (ledger.now, ledger.report(&[]))
    };
    let mut draw = Draw::new(numbers[0]);
    let mut calls = Vec::new();
    for _ in 0..5 {
        now += draw.of(&[0.0, 0.5, 3.0, 12.0, 61.0, 300.0]);
        if draw.below(2) == 0 {
            let change = draw.of(&CHANGES).replacen(' ', &format!(" {now} "), 1);
            core.ok(&change);
            calls.push(change);
        }
        for queue in ["a", "b"] {
            match compare_put(core, &mut draw, now, compared) {
                Ok(put) => calls.push(put),
                Err(why) => return Err(format!("{history}\n    {}\n{why}", calls.join("\n    "))),
            }
            let before = core.dump();
            let look = core.ok(&format!("look.pop {now} {queue}"));
            let said = look.field("next").map(|jid| jid.text().to_owned());
            let count = draw.of(&[1, 1, 2, 5]);
            let next = core.ok(&format!("look.next {now} {count} pop {queue}"));
            let next: Vec<String> = next
                .list()
                .chunks(2)
                .map(|job| job[0].text().to_owned())
                .collect();
            let unchanged = core.dump() == before;
            let pop = format!("pop {now} {queue} w9 {count}");
            let got = core.ok(&pop).json();
            let got: Vec<String> = got
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|job| job["jid"].as_str().map(str::to_owned))
                .collect();
            calls.push(pop);
            compared.pops += 1;
            compared.jobs += u64::from(!got.is_empty());
            // A pop of one job may find less than a pop of several.
            let agrees = count > 1 || said.as_ref() == got.first();
            if !agrees || next != got || !unchanged {
                let calls = calls.join("\n    ");
                return Err(format!(
                    "{history}\n    {calls}\nsaid {said:?} and {next:?}, got {got:?}, unchanged: {unchanged}; {look:?}"
                ));
            }
        }
    }
    Ok(())
}

fn compare(profile: Profile) {
    let mut core = Core::new();
    let mut compared = Compared::default();
    let numbers = prop::collection::vec(any::<u64>().no_shrink(), 2..40);
    random::property(HISTORIES, numbers, |numbers| {
        play(&mut core, &numbers, profile, &mut compared).map_err(TestCaseError::fail)
    });
    let Compared {
        pops,
        jobs,
        puts,
        done,
    } = compared;
    println!(
        "{profile:?}: {pops} pops agree, {jobs} of them got a job; {puts} puts agree, {done} of them put one"
    );
    assert!(done > puts / 10 && done < puts, "{compared:?}");
    assert!(jobs > pops / 10 && jobs < pops, "{compared:?}");
}

#[test]
fn what_a_dry_run_says_is_what_happens() {
    compare(Profile::Everything);
    compare(Profile::Dependencies);
}

#[test]
fn what_a_dry_run_says_of_throttles_lanes_and_merging_is_what_happens() {
    compare(Profile::Throttles);
    compare(Profile::Lanes);
    compare(Profile::Merging);
}
