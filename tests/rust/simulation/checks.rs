//! What must be true at the end of a run, of all that was sent in it.

use std::collections::BTreeMap;

use crate::calls::retry;
use crate::once::is_doubtful;
use crate::process::{POLLS, jitter};
use crate::scenario::{Export, Op, Scenario, Settings};
use crate::world::{End, Sent, World, lines};

/// The longest that a service's word is taken for, in seconds.
const MAX_BELIEVED: u64 = 24 * 3_600;

/// Holds the history against everything that is promised.
pub(crate) fn check(world: &World) {
    let sent = world.state().sent.clone();
    attempts(world, &sent);
    throttles(world, &sent);
    let Settings { budget, jobs, .. } = world.scenario.settings;
    if let Some((per_hour, reserve)) = budget {
        hours(
            world,
            sent.iter().filter(|sent| sent.lane == 2),
            (per_hour - reserve) as usize,
        );
    }
    if let Some(per_hour) = jobs {
        hours(
            world,
            sent.iter().filter(|sent| sent.creates()),
            per_hour as usize,
        );
    }
    growth(world, &sent);
    whole_pages(world, &sent);
}

/// Whatever part of a listing is read, a store is filled with whole pages, which serve the next reader.
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
            // What a 429 asks for under a budget is the ledger's to keep, however long.
            let spent = has_budget(settings, first) && matches!(first.end, End::Status(429, _));
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
        let is_spent = status == 429 && has_budget(settings, first);
        let asked = match told {
            Some(asked) => asked.min(MAX_BELIEVED),
            None if is_spent && world.scenario.ledger_holds() => 3_600,
            None => continue,
        };
        // What does not say for how long holds for what the budget is kept of.
        let holds_for = |sent: &Sent| told.is_some() || sent.creates() == first.creates();
        let until = ended + asked * 1_000;
        let breaks = |sent: &&Sent| {
            let same =
                (sent.process, sent.life, sent.lane) == (first.process, first.life, first.lane);
            // What the ledger had granted at that moment goes out.
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

/// Whether a budget is kept of what a request does.
fn has_budget(settings: &Settings, sent: &Sent) -> bool {
    settings.budget.is_some() && sent.lane == 2 || settings.jobs.is_some() && sent.creates()
}

/// Never more than the budget in any hour, however the service counts.
fn hours<'a>(world: &World, sent: impl Iterator<Item = &'a Sent>, most: usize) {
    if !world.scenario.ledger_holds() {
        return;
    }
    let mut ledgers = BTreeMap::<_, Vec<(u64, u64)>>::new();
    for sent in sent {
        let Some(left) = sent.left else { continue };
        let owner = if world.scenario.settings.store {
            (0, 0)
        } else {
            (sent.process, sent.life)
        };
        // Somewhere between the two the service counted it.
        ledgers
            .entry(owner)
            .or_default()
            .push((left, sent.answered.or(sent.ended).unwrap_or(left)));
    }
    for requests in ledgers.values() {
        for &(_, begin) in requests {
            // In whole seconds, with both ends.
            let within = |&&(left, ended): &&(u64, u64)| {
                ended >= begin && left / 1_000 <= begin / 1_000 + 3_600
            };
            let count = requests.iter().filter(within).count();
            if count > most {
                world.violation(format!(
                    "{count} requests in the hour from {begin}, of {most}"
                ));
                return;
            }
        }
    }
}

/// Nothing is left over, and nothing kept growing.
fn growth(world: &World, sent: &[Sent]) {
    let connection = world.connection.lock().unwrap();
    let count = |sql: &str| -> i64 { connection.query_row(sql, [], |row| row.get(0)).unwrap() };
    let is_entered = |sent: &&Sent| (sent.lane == 2 || sent.creates()) && sent.left.is_some();
    let left = sent.iter().filter(is_entered).count() as i64;
    let bad = |what: String| world.violation(what);
    let scenario = &world.scenario;
    let is_calm = scenario.kills.is_empty() && scenario.disk_is_good();
    // Where the clock was set ahead by an hour between an entry and its withdrawal, the entry is one that counts no more, and
    // the ledger leaves those as they are: it errs on the side of a request having been sent, and nobody waits for it.
    let is_counted = !scenario.jumps.iter().any(|jump| jump.by > 0);
    if is_calm && is_counted && count("SELECT count(*) FROM request") > left {
        bad("entries of requests that never left".to_owned());
    }
    if count("SELECT count(*) FROM told") > 2 {
        bad("more than a refusal and a quota is remembered".to_owned());
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
    drop(connection);
    let locks = std::fs::read_dir(world.path.parent().unwrap()).unwrap();
    let is_left = |name: &std::ffi::OsString| name.to_string_lossy().contains("-once-");
    if locks
        .map(|entry| entry.unwrap().file_name())
        .any(|name| is_left(&name))
    {
        bad("a lock is left".to_owned());
    }
}
