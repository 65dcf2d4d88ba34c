//! Budgets: each address has one for its analytics requests, and each project there one for its new
//! jobs.

use std::collections::BTreeMap;

use docplatform::error::Error;

use crate::process::{Process, op_of};
use crate::scenario::{Export, Op, PROJECTS, Scenario, Settings};
use crate::world::{End, Life, Sent, World, lines};

/// So long a request counts: an hour, and a second for services that count in whole ones.
const HOUR: u64 = 3_601_000;

/// The owner of a budget: an address, and for new jobs one of its projects.
type Account = (usize, Option<String>);

/// The budget that a request counts for, if there is one.
pub(crate) fn account(settings: &Settings, sent: &Sent) -> Option<Account> {
    if settings.jobs.is_some() && sent.creates() {
        let project = sent.url.rsplit('/').nth(1).map(str::to_owned);
        return Some((sent.address, project));
    }
    (settings.budget.is_some() && sent.lane == 2).then_some((sent.address, None))
}

/// How many requests a budget grants in an hour.
fn granted(settings: &Settings, account: &Account) -> Option<u64> {
    match account {
        (_, Some(_)) => settings.jobs,
        (_, None) => settings
            .budget
            .map(|(per_hour, reserve)| per_hour - reserve),
    }
}

/// The budget of an operation, and the requests until now that count for it, as far as its process
/// knows of them.
fn sent_for(life: &Life, tag: u64) -> (Account, Vec<Sent>) {
    let (world, settings) = (&life.world, &life.world.scenario.settings);
    let (process, op) = op_of(tag);
    let project = match world.scenario.processes[process][op] {
        Op::Job { project, .. } => Some(PROJECTS[project].to_owned()),
        Op::Once { .. } => Some(PROJECTS[0].to_owned()),
        _ => None,
    };
    let its = (world.scenario.address(process), project);
    let is_known =
        |sent: &&Sent| settings.store || (sent.process, sent.life) == (life.process, life.number);
    let state = world.state();
    let sent = state.sent.iter().filter(is_known);
    let sent = sent.filter(|sent| account(settings, sent).as_ref() == Some(&its));
    let sent = sent.cloned().collect();
    (its, sent)
}

/// Whether a budget depends on requests alone.
fn is_plain(scenario: &Scenario) -> bool {
    scenario.clock_is_right() && scenario.disk_is_good() && scenario.kills.is_empty()
}

/// A call waits for its budget, or gets an error instead: checks that the budget is spent.
pub(crate) fn check_spent(life: &Life, tag: u64) {
    let (world, now) = (&life.world, life.world.now());
    let (account, sent) = sent_for(life, tag);
    let Some(most) = granted(&world.scenario.settings, &account) else {
        return world.violation(format!("call {tag} waits for a budget that there is not"));
    };
    // A page that is asked for ahead waits before its reader hears of it.
    let is_late = |export: &Export| export.prefetch > 0 && export.thinks > 0;
    if world.scenario.export_of(tag).is_some_and(is_late) {
        return;
    }
    // The service may have said more.
    let is_throttled = sent
        .iter()
        .any(|sent| matches!(sent.end, End::Status(429, _)));
    if is_throttled || !is_plain(&world.scenario) {
        return;
    }
    // A second more: the two clocks tick at different times.
    let counts = |sent: &&Sent| sent.ended.unwrap_or(now) + HOUR + 1_000 > now;
    let counted = sent.iter().filter(counts).count() as u64;
    if counted < most {
        world.violation(format!(
            "{counted} of {most} requests were sent, and call {tag} waits for the budget at {now}{}",
            lines(&sent)
        ));
    }
}

/// Whether a budget that is spent promises no request before one may go out.
pub(crate) fn check_slot(process: &Process, error: &Error) {
    let (world, life) = (process.world(), &process.life);
    let Some(slot) = error.resets_at else {
        return;
    };
    let (account, sent) = sent_for(life, process.tags().start);
    let Some(most) = granted(&world.scenario.settings, &account) else {
        return;
    };
    check_spent(life, process.tags().start);
    if !is_plain(&world.scenario) {
        return;
    }
    // At best a request counts from its beginning on: it may have been under way when the slot was
    // promised.
    let left = sent.iter().filter(|sent| sent.left.is_some());
    let until = left.map(|sent| sent.begun + HOUR);
    let until: Vec<_> = until.filter(|until| *until > world.now()).collect();
    let slot = slot
        .as_millisecond()
        .cast_unsigned()
        .saturating_sub(world.base());
    let first = until.iter().min().copied().unwrap_or(0);
    if until.len() as u64 >= most && slot < first {
        process.violation(format!(
            "a slot at {slot} is promised, the next one is at {first}"
        ));
    }
}

/// Never more than a budget in any hour, however the service counts.
pub(crate) fn hours(world: &World, sent: &[Sent]) {
    let settings = &world.scenario.settings;
    if !world.scenario.ledger_holds() {
        return;
    }
    let mut ledgers = BTreeMap::<_, Vec<(u64, u64)>>::new();
    for sent in sent {
        let (Some(left), Some(account)) = (sent.left, account(settings, sent)) else {
            continue;
        };
        let owner = (!settings.store).then_some((sent.process, sent.life));
        // Somewhere between the two the service counted it.
        ledgers
            .entry((account, owner))
            .or_default()
            .push((left, sent.answered.or(sent.ended).unwrap_or(left)));
    }
    for ((account, _), requests) in &ledgers {
        let most = granted(settings, account).unwrap_or(u64::MAX) as usize;
        for &(_, begin) in requests {
            // In whole seconds, with both ends.
            let within = |&&(left, ended): &&(u64, u64)| {
                ended >= begin && left / 1_000 <= begin / 1_000 + 3_600
            };
            let count = requests.iter().filter(within).count();
            if count > most {
                return world.violation(format!(
                    "{count} requests in the hour from {begin}, of {most}"
                ));
            }
        }
    }
}
