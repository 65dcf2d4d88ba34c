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
use docplatform::listing::columns::Cell;
use docplatform::listing::endpoint::PagedBy;
use docplatform::listing::rows::Row;
use docplatform::listing::{Listing, Shape};
use docplatform::slices::Subject;
use docplatform::slices::sync::{SyncScope, sync};
use docplatform::store;
use serde_json::Value;
use tokio::time::sleep;

use crate::calls::segment;
use crate::process::{BASE_URL, Done, Process};
use crate::scenario::{ENDPOINTS, Export, Habits, OPEN_DAY, PROJECTS, What};
use crate::service::{Answered, RANK, date, day};
use crate::world::{BASE, End, Sent, World, in_short, lines};

/// So long a request counts: an hour, and a second for services that count in whole ones.
const HOUR: u64 = 3_601_000;

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
        &segment(PROJECTS[what.project]),
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
        let text = |name: &&str| match (row.get(name), row.other.and_then(|other| other.get(*name)))
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

pub(crate) async fn export(process: &Process, plan: Export) -> Done {
    let (what, world) = (plan.what, process.world());
    let by_offset = what.endpoint().paged_by == PagedBy::Offset;
    let offset = if by_offset { plan.offset } else { 0 };
    let saved = process.desk.lock().unwrap().export.clone();
    // Who resumes asks again for a page that he is within: what he has of a short one is known by its rows, not by their
    // numbers, and where pages name each other those of another who read at the same time may be other ones.
    let is_whole_read = saved.is_none() && plan.stop_every.is_none();
    let mut progress = saved.unwrap_or_default();
    let is_there = !plan.any_path && plan.whats().all(|what| world.state().whole.contains(&what));
    let is_there = is_there && !plan.refresh && is_whole_read;
    let asked_before = asked(process).len();
    loop {
        let place = match &progress.place {
            None => {
                let listing = if plan.any_path {
                    any_path(what)
                } else {
                    listing(what, plan.days)
                };
                Checkpoint::new(BASE_URL, listing, plan.page_size, offset)
            }
            Some(text) => Checkpoint::parse(text, BASE_URL).unwrap(),
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
                    process.desk.lock().unwrap().export = Some(progress.clone());
                    if plan.thinks > 0 {
                        sleep(Duration::from_millis(plan.thinks)).await;
                    }
                }
                Ok(None) => {
                    part.check(progress.changed);
                    check(process, plan, &progress, true);
                    if is_there && asked(process).len() > asked_before {
                        process.violation(format!(
                            "fetched again\n  {plan:?}{}",
                            lines(&asked(process)[asked_before..])
                        ));
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
struct Part<'a> {
    process: &'a Process,
    plan: Export,
    /// How many requests there were before.
    begin: usize,
}

impl Part<'_> {
    /// The pages that came for it. From a store come others, too.
    fn pages(&self) -> Vec<Answered> {
        if self.process.world().scenario.settings.store {
            return Vec::new();
        }
        let tags = self.process.tags();
        let state = self.process.world().state();
        let its = state.sent[self.begin..].iter();
        its.filter(|sent| tags.contains(&sent.tag) && sent.end == End::Good)
            .filter_map(|sent| sent.page.clone())
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
        let Some(position) = page.ranks.iter().position(|rank| rank == last) else {
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
            let same = |before: &Answered| (before.day, &before.ranks) == (page.day, &page.ranks);
            let is_again = || pages[..number].iter().any(same);
            // Of any path, rows whose counts moved are other rows.
            let leads_nowhere =
                page.ranks.is_empty() || plan.prefetch == 0 && !plan.any_path && is_again();
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
        let came_twice = pages.iter().enumerate().any(|(number, page)| {
            let before = &pages[number.saturating_sub(window)..number];
            page.ranks
                .iter()
                .any(|rank| before.iter().any(|before| before.ranks.contains(rank)))
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
               AND kind = 'pages' AND finished IS NOT NULL)";
    let its = (PROJECTS[what.project], what.endpoint().path, date(what.day));
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
               WHERE project_id = ?1 AND path = ?2 AND date_from = ?3";
    let its = (PROJECTS[what.project], what.endpoint().path, date(what.day));
    let pages: Option<String> = world
        .connection
        .lock()
        .unwrap()
        .query_row(sql, its, |row| row.get(0))
        .unwrap();
    pages.unwrap_or_default()
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
        moving,
        stands,
        ..
    } = &process.world().scenario.habits;
    let is_odd = cap.is_some() || *filters || *moving > 0 || *stands;
    let by_page = plan.what.endpoint().paged_by == PagedBy::Nothing;
    // Rows that move by a whole page bring it again.
    let comes_again = *filters || *stands || *moving > 0;
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
        Kind::Timeout => true,
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

/// Whether a budget that is spent promises no request before one may go out.
fn check_slot(process: &Process, error: &Error) {
    let (world, scenario) = (process.world(), &process.world().scenario);
    let (Some((per_hour, reserve)), Some(slot)) = (scenario.settings.budget, error.resets_at)
    else {
        return;
    };
    if !scenario.clock_is_right() || !scenario.disk_is_good() || !scenario.kills.is_empty() {
        return;
    }
    let (now, life) = (world.now(), &process.life);
    // At best a request counts from its beginning on: it may have been under way when the slot was promised.
    let mut counted = Vec::new();
    for sent in world
        .state()
        .sent
        .iter()
        .filter(|sent| sent.lane == 2 && sent.left.is_some())
    {
        if scenario.settings.store || (sent.process, sent.life) == (life.process, life.number) {
            counted.extend(Some(sent.begun).filter(|begun| begun + HOUR > now));
        }
    }
    let slot = slot.as_millisecond().cast_unsigned().saturating_sub(BASE);
    let first = counted.iter().min().map_or(0, |first| first + HOUR);
    if counted.len() as u64 >= per_hour - reserve && slot < first {
        process.violation(format!(
            "a slot at {slot} is promised, the next one is at {first}"
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
        moving,
        stands,
        limit,
        ..
    } = &scenario.habits;
    let is_odd = cap.is_some() || *filters || *moving > 0 || *stands || limit.is_some();
    let by_offset = plan.what.endpoint().paged_by == PagedBy::Offset;
    if is_odd
        || !by_offset
        || scenario.fault_chance > 0
        || scenario.settings.store
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
    let found = source::totals(&process.client, &listing(what, 1), &*process.ear()).await;
    match found {
        Ok(totals) => {
            let versions = process.world().state().service.truth(what).versions.len() as i64;
            if !(1..=versions).contains(&totals.total) {
                process.violation(format!("{totals:?} of {versions} versions"));
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
    let what = store::What::of(!totals);
    let whats: Vec<_> = (0..PROJECTS.len())
        .flat_map(|project| {
            days.clone().map(move |day| What {
                endpoint,
                project,
                day,
            })
        })
        .collect();
    let scope = SyncScope {
        projects: PROJECTS.iter().map(|project| segment(project)).collect(),
        slices: days.map(|day| slice(day, 1)).collect(),
        of: vec![Subject {
            endpoint: ENDPOINTS[endpoint],
            what,
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
    let Habits {
        filters,
        stands,
        moving,
        ..
    } = scenario.habits;
    let odd = filters || stands || moving > 0;
    for error in found
        .failures
        .iter()
        .map(|failure| &failure.error)
        .chain(&found.ended)
    {
        check_reason(process, error, odd);
    }
    let is_good = scenario.clock_is_right() && scenario.disk_is_good();
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
        world.state().whole.extend(whats);
    }
    Done::Yes
}
