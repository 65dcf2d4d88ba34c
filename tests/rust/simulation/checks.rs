//! Invariants over all requests of a run, checked at its end.

use std::collections::{BTreeMap, BTreeSet};

use crate::budget::{self, account};
use crate::calls::retry;
use crate::once::is_doubtful;
use crate::process::{POLLS, jitter, op_of};
use crate::rows::is_begun_before;
use crate::scenario::{Export, Habits, OPEN_DAY, Op, Scenario, What};
use crate::world::{End, Sent, World, lines};

/// The longest that a service's word is taken for, in seconds.
const MAX_BELIEVED: u64 = 24 * 3_600;

/// Holds the history against everything that is promised.
pub(crate) fn check(world: &World) {
    let sent = world.state().sent.clone();
    attempts(world, &sent);
    throttles(world, &sent);
    budget::hours(world, &sent);
    growth(world, &sent);
    whole_pages(world, &sent);
    once(world, &sent);
}

/// Whatever part of a listing is read, a store is filled with whole pages, which serve the next
/// reader.
fn whole_pages(world: &World, sent: &[Sent]) {
    let Scenario {
        habits,
        settings,
        processes,
        ..
    } = &world.scenario;
    let is_within = |op: &Op| {
        matches!(
            op,
            Op::Export(
                Export {
                    stop_every: Some(_),
                    ..
                } | Export { any_path: true, .. }
            )
        )
    };
    let is_odd = habits.cap.is_some() || habits.filters || habits.stands;
    if !settings.store || is_odd || processes.iter().flatten().any(is_within) {
        return;
    }
    for sent in sent {
        let Some((limit, offset)) = sent
            .url
            .rsplit_once("&limit=")
            .and_then(|(_, rest)| rest.split_once("&offset="))
        else {
            continue;
        };
        let (limit, offset): (u64, u64) = (limit.parse().unwrap(), offset.parse().unwrap());
        if offset % limit > 0 {
            return world.violation(format!("a part of a page was asked for{}", lines([sent])));
        }
    }
}

/// A page of a final range is fetched once, over all calls and processes, unless somebody asks for
/// `refresh`.
fn once(world: &World, sent: &[Sent]) {
    let scenario = &world.scenario;
    let Habits {
        moving,
        cap,
        filters,
        stands,
        ..
    } = &scenario.habits;
    // Where pages are not as they were asked for, those of readers with different page sizes do not
    // join.
    let is_odd = cap.is_some() || *filters || *stands || *moving > 0;
    if !scenario.settings.store || is_odd || !scenario.disk_keeps() || !scenario.clock_is_right() {
        return;
    }
    let is_refreshed = |what: What| {
        let mut exports = scenario
            .processes
            .iter()
            .flatten()
            .filter_map(|op| match op {
                Op::Export(export) if export.refresh => Some(*export),
                _ => None,
            });
        exports.any(|export| export.whats().any(|other| other == what))
    };
    // A reader who goes on within a page knows rows and no offsets: pages of another size are no
    // help, nor are those that begin elsewhere, or have the cursors of another export.
    let failed: BTreeSet<_> = sent
        .iter()
        .filter(|sent| sent.end != End::Good)
        .map(|sent| op_of(sent.tag))
        .collect();
    let is_within = |sent: &Sent, what: What| {
        let has_one_size = scenario.has_one_page_size(what);
        let is_regular = has_one_size && what.day != OPEN_DAY;
        let stops =
            |export: &Export| export.stop_every.is_some() && (export.offset > 0 || !is_regular);
        // After a failure it goes on as well.
        scenario.export_of(sent.tag).is_some_and(stops)
            || !has_one_size && failed.contains(&op_of(sent.tag))
    };
    let is_kept = |sent: &&Sent| {
        let any_path = |export: &Export| export.any_path;
        !scenario.export_of(sent.tag).is_some_and(any_path)
    };
    let settles = scenario.settles();
    // A call that a process tries again continues the export of its first try.
    let mut begun = BTreeMap::new();
    for sent in sent {
        begun.entry(op_of(sent.tag)).or_insert(sent.begun);
    }
    let mut pages = BTreeMap::<_, Vec<&Sent>>::new();
    for sent in sent.iter().filter(is_kept) {
        let Some(page) = &sent.page else { continue };
        // Several readers may ask ahead for a page after the end, which is not kept.
        if page.rows.is_empty() && page.offset > 0 {
            continue;
        }
        let is_early = page.what.day == OPEN_DAY && begun[&op_of(sent.tag)] < settles;
        if !is_early && !is_refreshed(page.what) && !is_within(sent, page.what) {
            pages.entry((page.what, &sent.url)).or_default().push(sent);
        }
    }
    let early: BTreeSet<_> = sent
        .iter()
        .filter(|sent| sent.begun < settles)
        .map(|sent| range_of(&sent.url))
        .collect();
    for ((what, url), sent) in pages {
        // A process that died may have lost its page.
        let is_lost = |sent: &Sent| world.life_of(sent.process) > sent.life;
        let good: Vec<_> = sent
            .iter()
            .filter(|sent| sent.end == End::Good && !is_lost(sent))
            .collect();
        // An export that began before its range was final is fetched once more after that.
        let is_begun_early = what.day == OPEN_DAY
            && early.contains(range_of(url))
            && is_begun_before(world, what, settles);
        // The same words ask for the totals and for a page of one row.
        let is_of_one_row = url.contains("limit=1&offset=0");
        let most = 1 + usize::from(is_begun_early) + usize::from(is_of_one_row);
        let overlaps = |pair: &[&Sent]| {
            !is_lost(pair[0]) && pair[0].ended.is_none_or(|ended| pair[1].begun < ended)
        };
        if good.len() > most || most == 1 && sent.windows(2).any(overlaps) {
            return world.violation(format!("a final range was fetched again{}", lines(sent)));
        }
    }
}

/// The range that an address asks for, also if the answer failed: all before the place in it.
fn range_of(url: &str) -> &str {
    url.split_once("limit=").map_or(url, |(range, _)| range)
}

/// No call is tried again where, or before, or more often than the policy says.
fn attempts(world: &World, sent: &[Sent]) {
    let settings = &world.scenario.settings;
    let mut calls = BTreeMap::<_, Vec<&Sent>>::new();
    for sent in sent.iter().filter(|sent| sent.tag < POLLS) {
        calls.entry((sent.tag, &sent.url)).or_default().push(sent);
    }
    for (call, tries) in calls {
        let bad = |what: String| {
            world.violation(format!(
                "{what}: call {call:?}{}",
                lines(tries.iter().copied())
            ));
        };
        if tries.len() > settings.max_retries as usize + 1 {
            bad("more attempts than the policy has".to_owned());
        }
        if tries.iter().filter(|sent| sent.effect.is_some()).count() > 1 {
            bad("it happened twice".to_owned());
        }
        for (number, pair) in (1..).zip(tries.windows(2)) {
            let (first, then) = (pair[0], pair[1]);
            let Some(ended) = first.ended else { continue };
            // Under a budget the ledger keeps what a 429 asks for, however long.
            let is_counted = account(settings, first).is_some();
            let spent = is_counted && matches!(first.end, End::Status(429, _));
            let longest = if spent {
                u64::MAX
            } else {
                settings.max_retry_after
            };
            let jitter = jitter(&world.scenario, first.process);
            match retry(first.end, first.write, number, jitter, longest) {
                None => bad(format!("tried again after {:?}", first.end)),
                Some(pause) if !spent && then.begun < ended + pause => {
                    bad(format!(
                        "tried again after {} ms, not {pause}",
                        then.begun - ended
                    ));
                }
                Some(_) => {}
            }
        }
    }
}

/// A client that was asked to wait sends nothing of the kind meanwhile.
fn throttles(world: &World, sent: &[Sent]) {
    let settings = &world.scenario.settings;
    for first in sent {
        let (End::Status(status @ (429 | 503), told), Some(ended)) = (first.end, first.ended)
        else {
            continue;
        };
        let budget = account(settings, first);
        let is_spent = status == 429 && budget.is_some();
        let asked = match told {
            Some(asked) => asked.min(MAX_BELIEVED),
            None if is_spent && world.scenario.ledger_holds() => 3_600,
            None => continue,
        };
        // Under a budget a refusal holds for that, and for what has none if it says for how long.
        let holds_for = |sent: &Sent| match account(settings, sent) {
            other if is_spent && other.is_some() => other == budget,
            other => told.is_some() || other == budget,
        };
        let until = ended + asked * 1_000;
        let breaks = |sent: &&Sent| {
            let same =
                (sent.process, sent.life, sent.lane) == (first.process, first.life, first.lane);
            // A request that the ledger had granted at that moment still leaves.
            same && holds_for(sent) && (!is_spent || sent.begun > ended) && sent.begun < until
        };
        if let Some(then) = sent[first.before..].iter().find(breaks) {
            world.violation(format!(
                "asked to wait until {until}, and did not{}",
                lines([first, then])
            ));
        }
    }
}

/// Nothing is left over, and nothing kept growing.
fn growth(world: &World, sent: &[Sent]) {
    let count = |sql: &str| world.value::<i64>(sql, []);
    let is_entered = |sent: &&Sent| (sent.lane == 2 || sent.creates()) && sent.left.is_some();
    let left = sent.iter().filter(is_entered).count() as i64;
    let bad = |what: String| world.violation(what);
    let scenario = &world.scenario;
    let is_calm = scenario.kills.is_empty() && scenario.disk_is_good();
    // If the clock was set between an entry and its withdrawal, ahead by an hour or back by a day,
    // the entry is one that counts no more. The ledger leaves those as they are: it errs on the
    // side of a request having been sent, and nobody waits for it.
    let by = || scenario.jumps.iter().map(|jump| jump.by);
    let back: i64 = by().filter(|by| *by < 0).sum();
    let is_counted = back > -24 * 3_600_000 && by().all(|by| by <= 0);
    if is_calm && is_counted && count("SELECT count(*) FROM request") > left {
        bad("entries of requests that never left".to_owned());
    }
    if count("SELECT max(n) FROM (SELECT count(*) AS n FROM told GROUP BY account UNION SELECT 0)")
        > 2
    {
        bad("more than a refusal and a quota of an account is remembered".to_owned());
    }
    let doubtful = sent
        .iter()
        .filter(|sent| sent.write && is_doubtful(sent.end))
        .count() as i64;
    if is_calm && count("SELECT count(*) FROM once WHERE job IS NULL") > doubtful {
        bad("a name is kept that nobody doubts".to_owned());
    }
    if count("SELECT count(*) FROM page WHERE export NOT IN (SELECT id FROM export)") > 0 {
        bad("pages of no export".to_owned());
    }
    let locks = std::fs::read_dir(world.path.parent().unwrap()).unwrap();
    let is_left = |name: &std::ffi::OsString| {
        ["-once-", "-page-"]
            .iter()
            .any(|kind| name.to_string_lossy().contains(kind))
    };
    if locks
        .map(|entry| entry.unwrap().file_name())
        .any(|name| is_left(&name))
    {
        bad("a lock is left".to_owned());
    }
}
