//! Totals and syncs.

use std::ops::Range;

use docplatform::client::WaitOrStop;
use docplatform::export::source;
use docplatform::slices::Subject;
use docplatform::slices::sync::{SyncScope, sync};
use docplatform::store;

use crate::calls::segment;
use crate::exports::{listing, slice};
use crate::process::{Done, Process};
use crate::rows::{check_reason, is_served};
use crate::scenario::{ENDPOINTS, OPEN_DAY, PROJECTS, What};

pub(crate) async fn totals(process: &Process, what: What) -> Done {
    let begun = process.world().now();
    let found = source::totals(&process.client, &listing(what, 1), &*process.ear()).await;
    match found {
        Ok(totals) => {
            let versions = process.world().state().service.truth(what).versions.len() as i64;
            let quiet = process.world().scenario.habits.quiet;
            if !(1..=versions).contains(&totals.total) {
                process.violation(format!("{totals:?} of {versions} versions"));
            }
            if is_served(process, what, begun) && !quiet && totals.total != versions {
                process.violation(format!(
                    "totals that were not final are served: {totals:?} of {versions} versions"
                ));
            }
            Done::Yes
        }
        Err(error) => {
            check_reason(process, &error, false);
            Done::Again(60)
        }
    }
}

/// Fills the store, and looks whether it is full.
pub(crate) async fn sync_days(
    process: &Process,
    endpoint: usize,
    days: Range<u64>,
    totals: bool,
) -> Done {
    let Some(exports) = process.client.exports() else {
        return Done::Yes;
    };
    let (world, scenario) = (process.world(), &process.world().scenario);
    let what = store::Content::of(!totals);
    let first = scenario.address(process.life.process) * PROJECTS.len();
    let whats: Vec<_> = (0..PROJECTS.len())
        .flat_map(|project| {
            days.clone().map(move |day| What {
                endpoint,
                project: first + project,
                day,
            })
        })
        .collect();
    let scope = SyncScope {
        projects: PROJECTS.iter().map(|project| segment(project)).collect(),
        slices: days.map(|day| slice(day, 1)).collect(),
        of: vec![Subject {
            endpoint: ENDPOINTS[endpoint],
            content: what,
        }],
        until: None,
    };
    let known = {
        let state = world.state();
        whats
            .iter()
            .filter(|what| state.whole.contains(what))
            .count() as u64
    };
    let found = sync(
        &process.client,
        exports,
        &scope,
        WaitOrStop::Wait,
        process.ear(),
    )
    .await;
    world.note(|| {
        format!(
            "sync: {:?}, {} failures, {:?}",
            found.filled,
            found.failures.len(),
            found.ended
        )
    });
    let habits = &scenario.habits;
    let moves = whats.iter().any(|what| habits.moves(*what));
    let odd = habits.filters || habits.stands || moves;
    for error in found
        .failures
        .iter()
        .map(|failure| &failure.error)
        .chain(&found.ended)
    {
        check_reason(process, error, odd);
    }
    let is_good = scenario.clock_is_right() && scenario.disk_is_good();
    // Others may have fetched days that became final while it waited for the budget.
    let is_open = |what: &What| what.day == OPEN_DAY && world.now() < scenario.settles();
    if is_good && found.filled.cached > 0 && whats.iter().all(is_open) {
        process.violation(format!(
            "days that may change are taken for final: {:?}",
            found.filled
        ));
    }
    if found.ended.is_none() && is_good && found.filled.cached < known {
        process.violation(format!(
            "{known} slices are there, a sync found {:?}",
            found.filled
        ));
    }
    if found.ended.is_some() || found.gave_up || !found.failures.is_empty() {
        return Done::Again(600);
    }
    if is_good && !totals {
        let is_final = |what: &What| what.day != OPEN_DAY;
        world
            .state()
            .whole
            .extend(whats.into_iter().filter(is_final));
    }
    Done::Yes
}
