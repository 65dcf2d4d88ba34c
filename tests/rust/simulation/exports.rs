//! Exports, totals and syncs: every row once, or the user knows.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use docplatform::client::WaitOrStop;
use docplatform::config::url::Template;
use docplatform::dates::slices::{Every, Slice};
use docplatform::error::{Error, Kind};
use docplatform::export::checkpoint::Checkpoint;
use docplatform::export::findings::Finding;
use docplatform::export::observer::ExportObserver;
use docplatform::export::pager::{Pager, Paging, Turn, WINDOW};
use docplatform::export::source;
use docplatform::listing::endpoint::PagedBy;
use docplatform::listing::rows::{Cell, Row};
use docplatform::listing::{Listing, Shape};
use docplatform::slices::Subject;
use docplatform::slices::sync::{SyncScope, sync};
use docplatform::store;
use serde_json::Value;
use tokio::time::sleep;

use crate::budget::check_slot;
use crate::calls::segment;
use crate::process::{Done, Process};
use crate::repeats::Repeats;
use crate::scenario::{ENDPOINTS, Export, Habits, OPEN_DAY, PROJECTS, What};
use crate::service::{Answered, RANK, date, day};
use crate::world::{End, Sent, World, in_short, lines};

/// What was begun of a range that may change is continued for so long.
const DAY: u64 = 24 * 3_600_000;

/// How far an export came, as its user has it on the disk: written with the rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress {
    place: Option<String>,
    /// The day that it is in.
    day: u64,
    /// Ranks and counts of each day.
    rows: BTreeMap<u64, Vec<(u64, u64)>>,
    changed: bool,
    cut: bool,
    parts: u64,
}

impl Progress {
    fn count(&self) -> usize {
        self.rows.values().map(Vec::len).sum()
    }
}

fn slice(day: u64, days: u64) -> Slice {
    Slice {
        from: date(day).parse().unwrap(),
        to: date(day + days).parse().unwrap(),
    }
}

fn listing(what: What, days: u64) -> Listing {
    let listing = Listing::days(
        what.endpoint(),
        &segment(what.project()),
        slice(what.day, days),
    );
    listing.in_slices((days > 1).then_some(Every::Day)).unwrap()
}

/// What it is to a client that knows nothing of it.
fn any_path(what: What) -> Listing {
    let (known, endpoint) = (listing(what, 1), what.endpoint());
    let path = Template::parse("path", known.path()).unwrap();
    let next_cursor = (endpoint.paged_by == PagedBy::Cursor).then(|| "nextCursor".to_owned());
    let shape = Shape {
        items: endpoint.items.to_owned(),
        has_more: "hasMore".to_owned(),
        next_cursor,
    };
    Listing::other(
        &path,
        known.project().unwrap().as_ref(),
        known.query().to_vec(),
        shape,
    )
    .unwrap()
}

/// The rows of a page, as the service knows them.
fn rows(turn: &Turn) -> Vec<(u64, u64)> {
    let row = |row: Row<'_>| {
        let text = |name: &&str| match (row.get(name), row.extra.and_then(|extra| extra.get(*name)))
        {
            (Cell::Text(text), _) => Some(text.to_owned()),
            (Cell::Integer(count), _) => Some(count.to_string()),
            (_, Some(Value::String(text))) => Some(text.clone()),
            (_, other) => other.map(Value::to_string),
        };
        let name = ["path", "searchQuery", "id"].iter().find_map(text).unwrap();
        let count = ["total", "hits", "comment", "query"]
            .iter()
            .find_map(text)
            .unwrap();
        (
            name[1..].split('.').next().unwrap().parse().unwrap(),
            count.parse().unwrap(),
        )
    };
    turn.rows.iter().map(row).collect()
}

/// All that a process exports at one time.
pub(crate) async fn exports(process: &Process, plan: Export) -> Done {
    let of_call = |number| match plan.spread {
        true => Export {
            what: What {
                day: plan.what.day + number,
                ..plan.what
            },
            days: 1,
            spread: false,
            ..plan
        },
        false => plan,
    };
    let calls = (0..plan.calls).map(|number| export(process, of_call(number)));
    let ended = futures_util::future::join_all(calls).await;
    let pause = ended.into_iter().filter_map(|done| match done {
        Done::Yes => None,
        Done::Again(seconds) => Some(seconds),
    });
    pause.max().map_or(Done::Yes, Done::Again)
}

async fn export(process: &Process, plan: Export) -> Done {
    let (what, world) = (plan.what, process.world());
    // What several do at one time is begun again as a whole.
    let saves = plan.calls == 1;
    let by_offset = what.endpoint().paged_by == PagedBy::Offset;
    let offset = if by_offset { plan.offset } else { 0 };
    let saved = process
        .desk
        .lock()
        .unwrap()
        .export
        .clone()
        .filter(|_| saves);
    // Who resumes asks again for a page that he is within: what he has of a short one is known by its rows, not by their
    // numbers, and where pages name each other those of another who read at the same time may be other ones.
    let is_whole_read = saved.is_none() && plan.stop_every.is_none();
    let mut progress = saved.unwrap_or_default();
    let is_there = !plan.any_path && plan.whats().all(|what| world.state().whole.contains(&what));
    let is_there = is_there && !plan.refresh && is_whole_read;
    let asked_before = asked(process).len();
    let (base_url, since) = (what.base_url(), world.now());
    loop {
        let place = match &progress.place {
            None => {
                let listing = if plan.any_path {
                    any_path(what)
                } else {
                    listing(what, plan.days)
                };
                Checkpoint::new(base_url, listing, plan.page_size, offset)
            }
            Some(text) => Checkpoint::parse(text, base_url).unwrap(),
        };
        let paging = Paging {
            max_rows: plan.max_rows.map(|most| most - progress.count() as u64),
            prefetch: plan.prefetch,
            strict: plan.strict,
            window: (!plan.remember_all).then_some(WINDOW),
        };
        let source = source::source(process.client.clone(), &place, plan.refresh);
        let mut pager = Pager::new(source, place, paging);
        let mut room = plan.stop_every.map_or(usize::MAX, |rows| rows as usize);
        progress.parts += 1;
        let part = Part {
            process,
            plan,
            begin: world.state().sent.len(),
        };
        let mut repeats = (progress.parts == 1).then(|| Repeats::new(plan));
        while room > 0 {
            let observer: Arc<dyn ExportObserver> = process.ear();
            let begun = world.now();
            let page = pager.next_page(&observer).await;
            let took = world.now() - begun;
            if process.client.budget().is_none() && took > longest(process) {
                process.violation(format!("a page took {took} ms"));
            }
            match page {
                Ok(Some(turn)) => {
                    progress.changed |= turn.findings.iter().any(Finding::is_change);
                    progress.cut |= turn
                        .findings
                        .iter()
                        .any(|found| matches!(found, Finding::CutOff { .. }));
                    let came = rows(&turn);
                    if let Some(repeats) = &mut repeats {
                        repeats.check(&part, &turn, &came);
                    }
                    let taken = came.len().min(room);
                    room -= taken;
                    progress.day = turn
                        .mark
                        .shape()
                        .days
                        .map_or(what.day, |days| day(&days.from.to_string()));
                    progress
                        .rows
                        .entry(progress.day)
                        .or_default()
                        .extend(&came[..taken]);
                    part.check_place(&turn, &came, taken);
                    progress.place = Some(turn.mark.behind(taken).text());
                    world.note(|| {
                        format!(
                            "process {} has {} rows",
                            process.life.process,
                            progress.count()
                        )
                    });
                    if saves {
                        process.desk.lock().unwrap().export = Some(progress.clone());
                    }
                    if plan.thinks > 0 {
                        sleep(Duration::from_millis(plan.thinks)).await;
                    }
                }
                Ok(None) => {
                    part.check(progress.changed);
                    check(process, plan, &progress, true);
                    check_served(process, plan, &progress, since);
                    let of_others = |sent: &Sent| {
                        let page = sent.page.as_ref();
                        plan.calls > 1
                            && page.is_none_or(|page| plan.whats().all(|what| what != page.what))
                    };
                    let asked = &asked(process)[asked_before..];
                    if is_there && !asked.iter().all(of_others) {
                        process.violation(format!("fetched again\n  {plan:?}{}", lines(asked)));
                    }
                    check_requests(process, plan, &progress);
                    let is_whole =
                        offset == 0 && plan.max_rows.is_none() && !plan.refresh && !plan.any_path;
                    let scenario = &world.scenario;
                    let is_kept_whole = is_whole
                        && process.client.exports().is_some()
                        && what.day != OPEN_DAY
                        // Where the data moves, the pages of two readers, or of one before and after a stop, need not join.
                        && scenario.habits.moving == 0
                        && scenario.clock_is_right()
                        && scenario.disk_is_good();
                    for what in plan
                        .whats()
                        .filter(|what| is_kept_whole && scenario.pages_join(*what))
                    {
                        world.state().whole.insert(what);
                        if !is_kept(world, what) {
                            let pages = kept_pages(world, what);
                            process.violation(format!(
                                "all was read, and the store has it not whole\n  {plan:?}\n  {pages}"
                            ));
                        }
                    }
                    return Done::Yes;
                }
                Err(error) => {
                    part.check(progress.changed || error.kind == Kind::Pagination);
                    check(process, plan, &progress, false);
                    return failed(process, plan, &error);
                }
            }
        }
    }
}

/// An export from its start, or from where it was resumed.
pub(crate) struct Part<'a> {
    pub(crate) process: &'a Process,
    pub(crate) plan: Export,
    /// How many requests there were before.
    begin: usize,
}

impl Part<'_> {
    /// The pages that came for it. From a store come others, too.
    pub(crate) fn pages(&self) -> Vec<Answered> {
        if self.process.world().scenario.settings.store {
            return Vec::new();
        }
        let tags = self.process.tags();
        let state = self.process.world().state();
        let its = state.sent[self.begin..].iter();
        its.filter(|sent| tags.contains(&sent.tag) && sent.end == End::Good)
            .filter_map(|sent| sent.page.clone())
            .filter(|page| self.plan.whats().any(|what| what == page.what))
            .collect()
    }

    /// Whether the checkpoint after the first `taken` rows of a page lies right after these.
    fn check_place(&self, turn: &Turn, came: &[(u64, u64)], taken: usize) {
        let by_offset = self.plan.what.endpoint().paged_by == PagedBy::Offset;
        let Some((last, _)) = came[..taken].last() else {
            return;
        };
        if taken == came.len() || !by_offset {
            return;
        }
        let pages = self.pages();
        let mut its = pages
            .iter()
            .filter(|page| page.offset == turn.mark.offset());
        let (Some(page), None) = (its.next(), its.next()) else {
            return;
        };
        let Some(position) = page.rows.iter().position(|(rank, _)| rank == last) else {
            return;
        };
        let place = turn.mark.behind(taken);
        let ahead = place.offset - turn.mark.offset();
        // Or at the page's beginning, with rows that it knows again.
        let knows = || !place.text().ends_with("\"near\":0}");
        if ahead != position as u64 + 1 && (ahead > 0 || !knows()) {
            self.process.violation(format!(
                "a checkpoint {ahead} rows into its page, after row {position}\n  {:?}",
                self.plan
            ));
        }
    }

    /// Whether it went on where it had to stop, and told of what it saw.
    fn check(&self, is_told: bool) {
        let Self { process, plan, .. } = self;
        // More may be asked for before it is known where a page leads.
        if plan.prefetch > 1 {
            return;
        }
        let pages = self.pages();
        let bad = |what: &str| process.violation(format!("{what}\n  {plan:?}\n  {pages:?}"));
        for (number, page) in pages.iter().enumerate() {
            // A full one promises more, unless its body came before.
            let ranks = |page: &Answered| page.rows.iter().map(|row| row.0).collect::<Vec<_>>();
            let same = |before: &Answered| (before.what, ranks(before)) == (page.what, ranks(page));
            let is_again = || pages[..number].iter().any(same);
            // Of any path, rows whose counts moved are other rows.
            let leads_nowhere =
                page.rows.is_empty() || plan.prefetch == 0 && !plan.any_path && is_again();
            let is_paged = plan.what.endpoint().paged_by != PagedBy::Nothing;
            if is_paged && page.has_more && leads_nowhere && number + 1 < pages.len() {
                return bad("it went on after a page that leads nowhere");
            }
        }
        let Habits {
            cap,
            filters,
            stands,
            ..
        } = process.world().scenario.habits;
        let by_offset = plan.what.endpoint().paged_by == PagedBy::Offset;
        if plan.prefetch > 0
            || !by_offset
            || cap.is_some()
            || filters
            || stands
            || plan.strict
            || plan.any_path
        {
            return;
        }
        let window = if plan.remember_all {
            usize::MAX
        } else {
            WINDOW
        };
        let has = |page: &Answered, rank| page.rows.iter().any(|row| row.0 == rank);
        let came_twice = pages.iter().enumerate().any(|(number, page)| {
            let before = &pages[number.saturating_sub(window)..number];
            page.rows
                .iter()
                .any(|row| before.iter().any(|before| has(before, row.0)))
        });
        if came_twice && !is_told {
            bad("a row came twice, and nobody was told");
        }
    }
}

/// Whether the store has a listing as a whole.
fn is_kept(world: &World, what: What) -> bool {
    let sql =
        "SELECT EXISTS (SELECT 1 FROM export WHERE project_id = ?1 AND path = ?2 AND date_from = ?3
               AND kind = 'pages' AND finished IS NOT NULL AND account IN (SELECT id FROM account WHERE base_url = ?4))";
    let its = (
        what.project(),
        what.endpoint().path,
        date(what.day),
        what.base_url(),
    );
    world
        .connection
        .lock()
        .unwrap()
        .query_row(sql, its, |row| row.get(0))
        .unwrap()
}

/// What the store has of it: exports, offsets and numbers of rows.
fn kept_pages(world: &World, what: What) -> String {
    let sql = "SELECT group_concat(printf('%d:%d+%d', export, offset, page.rows), ' ') FROM page JOIN export ON export = export.id
               WHERE project_id = ?1 AND path = ?2 AND date_from = ?3 AND account IN (SELECT id FROM account WHERE base_url = ?4)";
    let its = (
        what.project(),
        what.endpoint().path,
        date(what.day),
        what.base_url(),
    );
    let pages: Option<String> = world
        .connection
        .lock()
        .unwrap()
        .query_row(sql, its, |row| row.get(0))
        .unwrap();
    pages.unwrap_or_default()
}

/// Whether the store served what a call read of the open day, as nobody asked for any of it since the call began; that must be final
/// by then.
fn is_served(process: &Process, what: What, begun: u64) -> bool {
    let (world, scenario) = (process.world(), &process.world().scenario);
    let is_of_it = |sent: &Sent| sent.page.as_ref().is_none_or(|page| page.what == what);
    let is_asked = {
        let state = world.state();
        let mut since = state
            .sent
            .iter()
            .filter(|sent| sent.lane == 2 && sent.ended.is_none_or(|ended| ended >= begun));
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

/// Whether rows came from where they may: with `refresh` from what was asked for meanwhile, of a range that may change from what was begun
/// a day ago at most, and without a request from what was final when it came.
fn check_served(process: &Process, plan: Export, progress: &Progress, begun: u64) {
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
    // What was begun of a range that may change is continued for a day, and so may be all of a part.
    let is_part = plan.max_rows.is_some() || plan.offset > 0;
    if is_part || !asked(process).is_empty() {
        return;
    }
    if is_served(process, what, begun) && scenario.habits.settling {
        let last = of_all(world.state().service.truth(what).versions.last().unwrap());
        if !rows.iter().all(|row| last.contains(row)) {
            bad("rows that were not final are served");
        }
    }
}

/// What the process has asked for in what it does now.
fn asked(process: &Process) -> Vec<Sent> {
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

fn longest(process: &Process) -> u64 {
    // What came may be written for a second more, and a timer that was late is caught up with.
    process.world().scenario.settings.deadline * 1_000 + 2_000
}

/// An export failed: with a reason?
fn failed(process: &Process, plan: Export, error: &Error) -> Done {
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
fn check_reason(process: &Process, error: &Error, breaks_rules: bool) {
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
                && scenario.disk_is_good()
                && scenario.kills.is_empty();
            // A request is quick there, and who waits for the budget holds up nobody.
            !is_calm || !error.message.contains("another call was still fetching")
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
fn check(process: &Process, plan: Export, progress: &Progress, whole: bool) {
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
        let of = |version: &[crate::service::Row]| -> Vec<(u64, u64)> {
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

fn of_all(version: &[crate::service::Row]) -> Vec<(u64, u64)> {
    version
        .iter()
        .filter(|row| !row.hidden)
        .map(|row| (row.rank, row.count))
        .collect()
}

/// Where nothing is out of the ordinary, no request is wasted.
fn check_requests(process: &Process, plan: Export, progress: &Progress) {
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
    let begun = world.now();
    let what = store::What::of(!totals);
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
        of: Subject {
            endpoint: ENDPOINTS[endpoint],
            what,
        },
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
    let is_open = |what: &What| what.day == OPEN_DAY && begun < scenario.settles();
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
    if found.ended.is_some() || found.given_up || !found.failures.is_empty() {
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
