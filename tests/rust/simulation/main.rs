//! The whole client in simulation: network, clock and disk follow from one seed, and every promise
//! is held against the history. `make simulate` runs seeds by the thousand; a seed that fails is
//! cut down and printed as one command.

#![allow(clippy::disallowed_methods, reason = "a run blocks on its world")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]
#![allow(unexpected_cfgs, reason = "`make simulate` sets `keeps_statements`")]
#![allow(clippy::print_stdout, reason = "what a run found")]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "numbers of a simulation are small"
)]

mod budget;
mod calls;
mod checks;
mod dice;
mod disk;
mod exports;
mod faults;
mod net;
mod once;
mod process;
mod ranges;
mod repeats;
mod rows;
mod runs;
mod scenario;
mod service;
#[cfg(keeps_statements)]
mod statements;
mod world;
mod worlds;

use std::collections::BTreeSet;
use std::env;
use std::num::NonZero;
use std::sync::Mutex;
use std::thread::{self, available_parallelism};
use std::time::{Duration, Instant};

use runs::{MAX_LAST, Runs};
use world::Trace;

fn number<T: std::str::FromStr>(name: &str) -> Option<T> {
    env::var(name).ok()?.parse().ok()
}

/// Seeds that found bugs, which are mended: the pages of two who read a moving listing by cursors
/// were put together; an export resumed after a short page left a gap after that page, so the store
/// never had it whole; another did so that went on within a page, with several asked for at one
/// time; pages of an export of a deleted store went into that of another day; a job that was made
/// under a name of a deleted store took the name's place in the next one, where another prompt had
/// it; pages of one row made an export forget what it had handed out before it was resumed; two
/// that were resumed after short pages took what was asked for ahead of those for theirs, and left
/// gaps in the store; a creation that was answered late, after its process had died, counted too
/// short in a budget; an export that was resumed after a dropped repeat did not find the pages that
/// it had; a page that the budget held back ahead of need ended its export later, with a time that
/// was over; a write was called refused, although its last attempt did not leave.
#[rustfmt::skip]
const FOUND: [u64; 12] = [
    20_545, 10_037_726, 2_007_957, 59_967, 5_117_446, 6_107_467, 6_082_874, 7_092_552, 13_011_975,
    20_295_404, 30_325_418, 200_125_818,
];

/// The seeds that notice the bugs of mutants.py, of the table that `make mutants` writes.
fn noticing() -> impl Iterator<Item = u64> {
    let found = include_str!("mutants.md").split("found by seed ").skip(1);
    found.map(|rest| rest.split_once(':').unwrap().0.parse().unwrap())
}

/// One of this number of seeds is run twice.
const TWICE: u64 = 16;

#[test]
fn seeds_hold_what_the_client_promises_and_run_the_same_each_time() {
    let mut runs = Runs::new();
    let first = 0..number("SEEDS").unwrap_or(30);
    let seeds: BTreeSet<u64> = first.chain(FOUND).chain(noticing()).collect();
    assert!(noticing().count() > 80);
    for seed in seeds {
        let first = runs.run(seed, &[], Trace::Hash);
        assert_eq!(
            first.violations,
            [] as [String; 0],
            "{}",
            runs.command(seed)
        );
        assert_eq!(
            first.hash,
            runs.run(seed, &[], Trace::Hash).hash,
            "seed {seed} runs another way each time"
        );
    }
}

/// `SEEDS` seeds from `FROM`, and those that found bugs, each 16th of them twice; or `SEED` alone,
/// in words, without the parts in `WITHOUT`: the first lines and the last `LINES` (20) of its
/// history.
#[test]
#[ignore = "make simulate"]
fn simulate() {
    if let Some(seed) = number("SEED") {
        let cut: Vec<usize> = env::var("WITHOUT")
            .map(|list| {
                list.split(',')
                    .filter_map(|part| part.parse().ok())
                    .collect()
            })
            .unwrap_or_default();
        let run = Runs::new().run(seed, &cut, Trace::Words);
        println!("{}", run.told(number("LINES").unwrap_or(MAX_LAST)));
        assert!(run.violations.is_empty(), "seed {seed} breaks a promise");
        return;
    }
    let (from, count) = (
        number("FROM").unwrap_or(0_u64),
        number("SEEDS").unwrap_or(10_000_u64),
    );
    let begun = Instant::now();
    let seeds = Mutex::new((from..from + count).chain(FOUND));
    let tally = Mutex::new(Tally::default());
    let threads = available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut runs = Runs::new();
                while let Some(seed) = next(&seeds) {
                    if !hold(&mut runs, seed, &tally) {
                        break;
                    }
                }
            });
        }
    });
    let Tally {
        done,
        requests,
        failed,
    } = tally.into_inner().unwrap();
    let took = begun.elapsed().as_secs_f64();
    println!(
        "{done} seeds from {from}, {requests} requests, {took:.1} s: {:.0} seeds/s",
        done as f64 / took
    );
    assert!(failed.is_empty(), "{failed:?}");
}

/// The counts of all threads, and the seeds that failed.
#[derive(Default)]
struct Tally {
    done: u64,
    requests: usize,
    failed: Vec<u64>,
}

fn next(seeds: &Mutex<impl Iterator<Item = u64>>) -> Option<u64> {
    seeds.lock().unwrap().next()
}

/// Runs a seed, and prints what it breaks. `false`: enough seeds have failed.
fn hold(runs: &mut Runs, seed: u64, tally: &Mutex<Tally>) -> bool {
    let begin = Instant::now();
    let is_twice = seed.is_multiple_of(TWICE);
    let trace = if is_twice { Trace::Hash } else { Trace::None };
    let mut run = runs.run(seed, &[], trace);
    if is_twice && runs.run(seed, &[], trace).hash != run.hash {
        run.violations
            .push("it runs another way each time".to_owned());
    }
    if begin.elapsed() > Duration::from_millis(number("SLOW").unwrap_or(2_000)) {
        println!(
            "seed {seed} took {:.3} s for {} requests",
            begin.elapsed().as_secs_f64(),
            run.requests
        );
    }
    let mut tally = tally.lock().unwrap();
    tally.done += 1;
    tally.requests += run.requests;
    if tally.done.is_multiple_of(100_000) {
        println!("{} seeds", tally.done);
    }
    if let Some(violation) = run.violations.first() {
        println!(
            "found by seed {seed}: {}",
            violation.lines().next().unwrap_or_default()
        );
        tally.failed.push(seed);
        println!("{}", runs.command(seed));
    }
    tally.failed.len() < number("MAX_FAILURES").unwrap_or(5)
}
