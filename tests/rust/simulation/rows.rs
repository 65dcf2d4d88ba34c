//! Checks the rows that a user got: they are those of one moment and of the right time, for as few
//! requests as promised.

use std::collections::BTreeSet;

use docplatform::error::{Error, Kind};
use docplatform::export::pager::WINDOW;
use docplatform::listing::endpoint::PagedBy;

use crate::budget::check_slot;
use crate::exports::Progress;
use crate::process::{Done, Process};
use crate::scenario::{Export, Habits, OPEN_DAY, What};
use crate::service::{RANK, Row, date};
use crate::world::{End, Sent, World, in_short, lines};

/// An unfinished export of a range that may change is continued for so long.
const DAY: u64 = 24 * 3_600_000;

/// Whether the store has a listing as a whole.
pub(crate) fn is_kept(world: &World, what: What) -> bool {
    let sql =
        "SELECT EXISTS (SELECT 1 FROM export WHERE project_id = ?1 AND path = ?2 AND date_from = ?3
               AND kind = 'pages' AND finished IS NOT NULL AND account IN (SELECT id FROM account WHERE base_url = ?4))";
    let its = (
        what.project(),
        what.endpoint().path,
        date(what.day),
        what.base_url(),
    );
    world.value(sql, its)
}

/// The stored pages of a listing: exports, offsets and numbers of rows.
pub(crate) fn kept_pages(world: &World, what: What) -> String {
    let sql = "SELECT group_concat(printf('%d:%d+%d', export, offset, page.rows), ' ') FROM page JOIN export ON export = export.id
               WHERE project_id = ?1 AND path = ?2 AND date_from = ?3 AND account IN (SELECT id FROM account WHERE base_url = ?4)";
    let its = (
        what.project(),
        what.endpoint().path,
        date(what.day),
        what.base_url(),
    );
    world.value::<Option<String>>(sql, its).unwrap_or_default()
}

/// Whether the store has an export of a listing that began before this time.
pub(crate) fn is_begun_before(world: &World, what: What, time: u64) -> bool {
    let sql = "SELECT count(*) > 0 FROM export
               WHERE project_id = ?1 AND path = ?2 AND date_from = ?3 AND account IN (SELECT id FROM account WHERE base_url = ?4)
                   AND begun < ?5";
    let its = (
        what.project(),
        what.endpoint().path,
        date(what.day),
        what.base_url(),
        (world.base() + time).cast_signed(),
    );
    world.value(sql, its)
}

/// Whether the store alone served a call's rows of the open day: nobody asked for any of it since
/// the call began. The day must have been final by then.
pub(crate) fn is_served(process: &Process, what: What, begun: u64) -> bool {
    let (world, scenario) = (process.world(), &process.world().scenario);
    let is_of_it = |sent: &Sent| sent.page.as_ref().is_none_or(|page| page.what == what);
    // A page that came before may be on its way to a slow disk.
    let since = begun.saturating_sub(60 * scenario.disk.latency);
    let is_asked = {
        let state = world.state();
        let mut since = state
            .sent
            .iter()
            .filter(|sent| sent.lane == 2 && sent.ended.is_none_or(|ended| ended >= since));
        since.any(is_of_it)
    };
    let has_store = process.client.exports().is_some();
    if what.day != OPEN_DAY || is_asked || !has_store || !scenario.clock_is_right() {
        return false;
    }
    if begun < scenario.settles() {
        process.violation(format!("a range that may change is served: {what:?}"));
    }
    true
}

/// Checks the age of rows. With `refresh` all are new. Those of a range that may change are from an
/// export whose last page is a day old at most. Rows that cost no request came when their range was
/// final.
pub(crate) fn check_served(process: &Process, plan: Export, progress: &Progress, begun: u64) {
    let (world, scenario) = (process.world(), &process.world().scenario);
    if !scenario.settings.store || plan.any_path || !scenario.clock_is_right() {
        return;
    }
    let (what, bad) = (plan.what, |wrong: &str| {
        process.violation(format!("{wrong}\n  {plan:?}{}", lines(&asked(process))));
    });
    let rows = progress.rows.get(&what.day).map_or(&[][..], Vec::as_slice);
    let since = process.desk.lock().unwrap().since.unwrap_or(begun);
    let came_since = |time: u64| -> Vec<_> {
        let state = world.state();
        let sent = state.sent.iter();
        let sent = sent.filter(|sent| sent.ended.is_some_and(|ended| ended >= time));
        let pages = sent.filter_map(|sent| sent.page.clone());
        pages.filter(|page| page.what == what).collect()
    };
    let pages = came_since(since);
    let is_new = |row: &(u64, u64)| pages.iter().any(|page| page.rows.contains(row));
    let is_all_new = rows.iter().all(is_new);
    if plan.refresh {
        if !is_all_new {
            bad("rows of before are served as new");
        }
        return;
    }
    let may_change = what.day == OPEN_DAY && since < scenario.settles();
    if may_change && !is_all_new && came_since(since.saturating_sub(DAY)).is_empty() {
        bad("rows of the day before are served");
    }
    // An unfinished export of a range that may change is continued for a day. It may have all rows
    // of a part.
    let is_part = plan.max_rows.is_some() || plan.offset > 0;
    if is_part || !asked(process).is_empty() {
        return;
    }
    // A call that was tried again has the rows of its first try, too.
    let is_fresh = since >= scenario.settles();
    if is_served(process, what, begun) && is_fresh && scenario.habits.settling {
        let last = of_all(world.state().service.truth(what).versions.last().unwrap());
        if !rows.iter().all(|row| last.contains(row)) {
            bad("rows that were not final are served");
        }
    }
}

/// The requests of the operation that the process is in.
pub(crate) fn asked(process: &Process) -> Vec<Sent> {
    let tags = process.tags();
    process
        .world()
        .state()
        .sent
        .iter()
        .filter(|sent| tags.contains(&sent.tag))
        .cloned()
        .collect()
}

pub(crate) fn longest(process: &Process) -> u64 {
    // A page may be written for a second more, and a timer may be late.
    process.world().scenario.settings.deadline * 1_000 + 2_000
}

/// An export failed: with a reason?
pub(crate) fn failed(process: &Process, plan: Export, error: &Error) -> Done {
    let Habits {
        cap,
        filters,
        stands,
        ..
    } = &process.world().scenario.habits;
    let moves = process.world().scenario.habits.moves(plan.what);
    let is_odd = cap.is_some() || *filters || moves || *stands;
    let by_page = plan.what.endpoint().paged_by == PagedBy::Nothing;
    // Rows that move by a whole page bring it again.
    let comes_again = *filters || *stands || moves;
    check_reason(
        process,
        error,
        comes_again || plan.strict && (is_odd || by_page),
    );
    match error.kind {
        Kind::Pagination => Done::Yes,
        _ => Done::Again(300),
    }
}

/// Whether an error of the kind could come about. `breaks_rules`: the service does.
pub(crate) fn check_reason(process: &Process, error: &Error, breaks_rules: bool) {
    let scenario = &process.world().scenario;
    let sent = asked(process);
    let has = |is: &dyn Fn(&Sent) -> bool| sent.iter().any(is);
    let is_due = match error.kind {
        Kind::Pagination => breaks_rules,
        Kind::Response => has(&|sent| sent.end == End::Unusable),
        Kind::Status => {
            has(&|sent| matches!(sent.end, End::Status(status, _) if Some(status) == error.status))
        }
        Kind::Connect => has(&|sent| matches!(sent.end, End::Unsent { .. } | End::GivenUp)),
        Kind::Transport => has(&|sent| matches!(sent.end, End::Broke | End::BodyLost)),
        Kind::Timeout => {
            let is_calm = scenario.fault_chance == 0
                && scenario.habits.limit.is_none()
                // An answer that is no page is asked for by each call in turn.
                && scenario.habits.cap.is_none()
                && scenario.disk_is_good()
                && scenario.kills.is_empty();
            // A request is quick there, and who waits for the budget holds up nobody.
            !is_calm
                || !error
                    .to_string()
                    .contains("another call was still fetching")
        }
        Kind::HeldBack => process.world().state().sent.iter().any(|sent| {
            sent.process == process.life.process
                && matches!(sent.end, End::Status(429 | 503, Some(_)))
        }),
        Kind::Budget => {
            check_slot(process, error);
            scenario.settings.budget.is_some() && scenario.settings.stops
        }
        Kind::Store | Kind::Configuration => !scenario.disk_is_good(),
        _ => false,
    };
    if !is_due {
        process.violation(format!(
            "an error without a reason{}{}",
            in_short(error),
            lines(&sent)
        ));
    }
}

/// Whether the rows are those of the service, day by day. `whole`: the end was reached.
pub(crate) fn check(process: &Process, plan: Export, progress: &Progress, whole: bool) {
    let world = process.world();
    let Habits {
        stands,
        filters,
        quiet,
        ..
    } = world.scenario.habits;
    let by_offset = plan.what.endpoint().paged_by == PagedBy::Offset;
    let offset = if by_offset { plan.offset as usize } else { 0 };
    let versions_of = |what| world.state().service.truth(what).versions.clone();
    let is_still = plan.whats().all(|what| versions_of(what).len() == 1);
    let mut left = plan.max_rows.unwrap_or(u64::MAX) as usize;
    for what in plan.whats() {
        let (versions, whole) = (versions_of(what), whole || what.day < progress.day);
        let rows = progress.rows.get(&what.day).map_or(&[][..], Vec::as_slice);
        let bad = |wrong: &str| {
            let (parts, last) = (progress.parts, versions.last().map_or(0, Vec::len));
            let rows: Vec<_> = rows
                .iter()
                .map(|(rank, count)| format!("{}:{count}", *rank as f64 / RANK))
                .collect();
            let came = format!(
                "{} rows of {what:?} in {parts} parts: {}",
                rows.len(),
                rows.join(" ")
            );
            process.violation(format!(
                "{wrong}\n  {plan:?}\n  {came}\n  of {} versions, the last of {last}",
                versions.len()
            ));
        };
        if rows.len() > left {
            return bad("more rows than were wanted");
        }
        if progress.changed && is_still && !stands && !filters {
            return bad("told of a change that there was not");
        }
        // Where rows are left out or stand still, an offset is no row's number.
        if progress.changed
            || (stands && (offset > 0 || progress.parts > 1))
            || (filters && offset > 0)
        {
            return;
        }
        // Its rows may rightly come twice, and it has no totals that would tell of a change.
        if plan.any_path && (!is_still || stands) {
            return;
        }
        let of = |version: &[Row]| -> Vec<(u64, u64)> {
            let shown = version.iter().skip(offset).filter(|row| !row.hidden);
            shown.map(|row| (row.rank, row.count)).take(left).collect()
        };
        let known = |row: &(u64, u64)| versions.iter().any(|version| of_all(version).contains(row));
        let fits = match what.endpoint().paged_by {
            // A reader that got no warning cannot know of the change, but gets no row twice.
            PagedBy::Offset if quiet && versions.len() > 1 => {
                let ranks: BTreeSet<_> = rows.iter().map(|row| row.0).collect();
                let is_near = plan.remember_all || rows.len() <= WINDOW * plan.page_size as usize;
                rows.iter().all(known) && (ranks.len() == rows.len() || !is_near)
            }
            // Of one moment, as the totals would have told.
            PagedBy::Offset => versions.iter().any(|version| {
                let all = of(version);
                if whole {
                    rows == all
                } else {
                    all.starts_with(rows)
                }
            }),
            PagedBy::Cursor => {
                let stayed = of_all(&versions[0]).into_iter().filter(|(rank, _)| {
                    versions
                        .iter()
                        .all(|version| version.iter().any(|row| row.rank == *rank))
                });
                rows.iter().map(|row| row.0).collect::<BTreeSet<_>>().len() == rows.len()
                    && rows.iter().all(known)
                    && (!whole
                        || rows.len() == left
                        || stayed
                            .into_iter()
                            .all(|(rank, _)| rows.iter().any(|row| row.0 == rank)))
            }
            PagedBy::Nothing => {
                versions.len() > 1
                    || versions.iter().any(|version| {
                        let all = of(version);
                        all.starts_with(rows) && (!whole || rows.len() == all.len() || progress.cut)
                    })
            }
        };
        if !fits {
            return bad("not the service's rows");
        }
        left -= rows.len();
    }
}

fn of_all(version: &[Row]) -> Vec<(u64, u64)> {
    version
        .iter()
        .filter(|row| !row.hidden)
        .map(|row| (row.rank, row.count))
        .collect()
}

/// Where nothing is out of the ordinary, no request is wasted.
pub(crate) fn check_requests(process: &Process, plan: Export, progress: &Progress) {
    let scenario = &process.world().scenario;
    let Habits {
        cap,
        filters,
        stands,
        limit,
        ..
    } = &scenario.habits;
    let moves = scenario.habits.moves(plan.what);
    let is_odd = cap.is_some() || *filters || moves || *stands || limit.is_some();
    let by_offset = plan.what.endpoint().paged_by == PagedBy::Offset;
    if is_odd
        || !by_offset
        || scenario.fault_chance > 0
        || scenario.settings.store
        || plan.calls > 1
        || progress.parts > 1
        || !scenario.kills.is_empty()
    {
        return;
    }
    let all = process.world().state().service.truth(plan.what).versions[0].len() as u64;
    let rows = all
        .saturating_sub(plan.offset)
        .min(plan.max_rows.unwrap_or(u64::MAX));
    let pages = rows
        .div_ceil(u64::from(plan.page_size))
        .max(u64::from(plan.max_rows != Some(0)));
    let more = u64::from(plan.prefetch.saturating_sub(1));
    let asked = asked(process).len() as u64;
    if !(pages..=pages + more).contains(&asked) {
        process.violation(format!("{asked} requests for {pages} pages\n  {plan:?}"));
    }
}
