//! Ten projects of thirty days each, filled through `kill -9` and a budget, on a clock that goes on from process to
//! process.

use std::collections::BTreeMap;
use std::env;
use std::fs::{self, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use docplatform::client::WaitOrStop;
use docplatform::clock::Clock;
use docplatform::config::Options;
use docplatform::dates::Moment;
use docplatform::dates::slices::{Every, slices};
use docplatform::listing::endpoint::VISITORS;
use docplatform::slices::Subject;
use docplatform::slices::sync::{SyncCounts, SyncScope, sync};
use docplatform::store::{Content, Store};
use tokio::time::Instant;

use crate::helpers::site::Site;
use crate::helpers::support::{
    Recorder, Script, client_in_store, millis, options, process, segment,
};

const PROJECTS: usize = 10;
const DAYS: usize = 30;
const PER_HOUR: u64 = 50;
const HOUR: u64 = 3_600_000;
/// The tenth of February 2026: all days have settled.
const BEGUN: u64 = 1_770_681_600_000;
/// A process is killed at some moment, after that many requests at most.
const MOST: usize = 40;

const PLACE: &str = "DOCPLATFORM_TEST_SYNC";

/// What was asked for so far, one line each: the time, the project, the day.
fn log(directory: &Path) -> Vec<(u64, String)> {
    let text = fs::read_to_string(directory.join("log")).unwrap_or_default();
    let line = |line: &str| {
        let (at, what) = line.split_once(' ').unwrap();
        (at.parse().unwrap(), what.to_owned())
    };
    text.lines().map(line).collect()
}

/// A service of one page a day that writes down what it is asked, and says so on standard output.
fn serve(directory: &Path, now: impl Fn() -> u64 + Send + 'static) -> Arc<Script> {
    let site = Site::new(3);
    let mut log = OpenOptions::new()
        .create(true)
        .append(true)
        .open(directory.join("log"))
        .unwrap();
    Script::each(move |request| {
        let project = request.url.path_segments().unwrap().nth(3).unwrap();
        let from = request
            .url
            .query_pairs()
            .find(|(name, _)| name == "dateFrom")
            .unwrap()
            .1;
        log.write_all(format!("{} {project} {from}\n", now()).as_bytes())
            .unwrap();
        io::stdout().write_all(b"asked\n").unwrap();
        site.answer(0, 250)
    })
}

#[tokio::test(start_paused = true)]
#[ignore = "a process of the next test"]
async fn child_that_syncs() {
    let directory = PathBuf::from(env::var_os(PLACE).unwrap());
    let (base, begun) = (
        log(&directory).last().map_or(BEGUN, |(at, _)| *at),
        Instant::now(),
    );
    let now = move || base + u64::try_from(begun.elapsed().as_millis()).unwrap();
    let store = Store::open(&directory.join("visitors.db")).unwrap();
    let clock = Clock::new(move || SystemTime::UNIX_EPOCH + Duration::from_millis(now()));
    let options = Options {
        requests_per_hour: Some(PER_HOUR),
        ..options()
    };
    let client = client_in_store(&serve(&directory, now), &options, &store, clock);
    let day = |text| Moment::parse("date", text).unwrap();
    let wanted = SyncScope {
        projects: (0..PROJECTS)
            .map(|number| segment(&format!("project-{number}")))
            .collect(),
        slices: slices(&day("2026-01-01"), &day("2026-01-31"), Some(Every::Day)).unwrap(),
        of: vec![Subject {
            endpoint: VISITORS,
            content: Content::Pages,
        }],
        until: None,
    };
    let recorder = Arc::new(Recorder::default());
    let done = sync(
        &client,
        client.exports().unwrap(),
        &wanted,
        WaitOrStop::Stop,
        recorder,
    )
    .await;
    assert!(done.ended.is_none() && done.failures.is_empty(), "{done:?}");
    let SyncCounts {
        slices,
        cached,
        open,
        requests,
        ..
    } = done.filled;
    let all = u64::try_from(PROJECTS * DAYS).unwrap();
    assert_eq!((slices, open, cached + requests), (all, 0, all));
}

#[test]
fn every_slice_is_fetched_once_through_kills_and_within_the_budget() {
    // In memory, where that can be: a process that is killed leaves what the disk still has to write anyway.
    let place = tempfile::tempdir_in("/dev/shm")
        .or_else(|_| tempfile::tempdir())
        .unwrap();
    let directory = place.path();
    let mut kills = 0;
    loop {
        let mut child = process("slices::sync_killed::child_that_syncs");
        let mut child = child
            .env(PLACE, directory)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap())
            .lines()
            .map_while(Result::ok);
        let behind = fastrand::usize(1..MOST);
        if said
            .by_ref()
            .filter(|line| line == "asked")
            .nth(behind)
            .is_none()
        {
            assert!(child.wait().unwrap().success());
            break;
        }
        // It has gone on meanwhile: wherever it is.
        std::thread::sleep(millis(fastrand::u64(0..5)));
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
    }
    let log = log(directory);
    let mut times = BTreeMap::new();
    for (_, slice) in &log {
        *times.entry(slice).or_insert(0) += 1;
    }
    assert_eq!(times.len(), PROJECTS * DAYS);
    assert!(kills > 5, "{kills}");
    // One request may be under way when its process dies.
    let twice = log.len() - times.len();
    assert!(
        twice <= kills && times.values().all(|&asked| asked <= 2),
        "{twice} for {kills} kills"
    );
    let most = usize::try_from(PER_HOUR).unwrap();
    assert!(
        log.iter()
            .zip(&log[most..])
            .all(|(first, last)| last.0 - first.0 >= HOUR)
    );
    let store = rusqlite::Connection::open(directory.join("visitors.db")).unwrap();
    let all = i64::try_from(PROJECTS * DAYS).unwrap();
    let count = |query| {
        store
            .query_row(query, [], |row| row.get::<_, i64>(0))
            .unwrap()
    };
    assert_eq!(count("SELECT count(*) FROM export"), all);
    assert_eq!(
        count("SELECT count(*) FROM export WHERE finished IS NOT NULL AND rows = 3"),
        all
    );
    assert_eq!(count("SELECT count(*) FROM page"), all);
}
