//! Exports: every row once, or the user knows.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use docplatform::config::url::Template;
use docplatform::dates::slices::{Every, Slice};
use docplatform::error::Kind;
use docplatform::export::checkpoint::Checkpoint;
use docplatform::export::findings::Finding;
use docplatform::export::observer::ExportObserver;
use docplatform::export::pager::{CheckedPage, Pager, Paging, WINDOW};
use docplatform::export::source;
use docplatform::listing::columns::Cell;
use docplatform::listing::endpoint::PagedBy;
use docplatform::listing::rows::Row;
use docplatform::listing::{Listing, Shape};
use serde_json::Value;
use tokio::time::sleep;

use crate::calls::segment;
use crate::process::{Done, Process};
use crate::repeats::Repeats;
use crate::rows::{
    asked, check, check_requests, check_served, failed, is_kept, kept_pages, longest,
};
use crate::scenario::{Export, Habits, OPEN_DAY, What};
use crate::service::{Answered, date, day};
use crate::world::{End, Sent, lines};

/// How far an export came, as its user has it on the disk: written with the rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress {
    place: Option<String>,
    /// The day that it is in.
    pub(crate) day: u64,
    /// Ranks and counts of each day.
    pub(crate) rows: BTreeMap<u64, Vec<(u64, u64)>>,
    pub(crate) changed: bool,
    pub(crate) cut: bool,
    pub(crate) parts: u64,
}

impl Progress {
    fn count(&self) -> usize {
        self.rows.values().map(Vec::len).sum()
    }
}

pub(crate) fn slice(day: u64, days: u64) -> Slice {
    Slice {
        from: date(day).parse().unwrap(),
        to: date(day + days).parse().unwrap(),
    }
}

pub(crate) fn listing(what: What, days: u64) -> Listing {
    let listing = Listing::days(
        what.endpoint(),
        &segment(what.project()),
        slice(what.day, days),
    );
    listing.in_slices((days > 1).then_some(Every::Day)).unwrap()
}

/// The same listing for a client that does not know its endpoint.
fn any_path(what: What) -> Listing {
    let (known, endpoint) = (listing(what, 1), what.endpoint());
    let path = Template::parse("path", &known.path).unwrap();
    let next_cursor = (endpoint.paged_by == PagedBy::Cursor).then(|| "nextCursor".to_owned());
    let shape = Shape {
        items: endpoint.items.to_owned(),
        has_more: "hasMore".to_owned(),
        next_cursor,
    };
    Listing::other(
        &path,
        known.project().unwrap().as_ref(),
        known.query.clone(),
        shape,
    )
    .unwrap()
}

/// The rows of a page, as the service knows them.
fn rows(turn: &CheckedPage) -> Vec<(u64, u64)> {
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
    // Several calls at one time are begun again as a whole.
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
    // A resumed reader requests again the page that it is within: it knows the rows of a short one,
    // and not their numbers. With cursors, the pages of another reader at the same time may be
    // different.
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
                        .position
                        .days
                        .map_or(what.day, |days| day(&days.from.to_string()));
                    progress
                        .rows
                        .entry(progress.day)
                        .or_default()
                        .extend(&came[..taken]);
                    part.check_place(&turn, &came, taken);
                    progress.place = Some(turn.position.checkpoint(taken).text());
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
                    check_kept(process, plan);
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

/// Whether the store has all that was read, where it was read from its beginning to its end.
fn check_kept(process: &Process, plan: Export) {
    let (what, world) = (plan.what, process.world());
    let scenario = &world.scenario;
    let from_start = what.endpoint().paged_by != PagedBy::Offset || plan.offset == 0;
    let is_kept_whole = from_start
        && plan.max_rows.is_none()
        && !plan.refresh
        && !plan.any_path
        && process.client.exports().is_some()
        && what.day != OPEN_DAY
        // Where the data moves, the pages of two readers, or of one before and after a stop, need
        // not join.
        && scenario.habits.moving == 0
        && scenario.clock_is_right()
        && scenario.disk_is_good();
    let pages_join = |what: &What| is_kept_whole && scenario.pages_join(*what);
    for what in plan.whats().filter(pages_join) {
        world.state().whole.insert(what);
        if !is_kept(world, what) {
            let pages = kept_pages(world, what);
            process.violation(format!(
                "all was read, and the store has it not whole\n  {plan:?}\n  {pages}"
            ));
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
    fn check_place(&self, turn: &CheckedPage, came: &[(u64, u64)], taken: usize) {
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
            .filter(|page| page.offset == turn.position.offset());
        let (Some(page), None) = (its.next(), its.next()) else {
            return;
        };
        let Some(position) = page.rows.iter().position(|(rank, _)| rank == last) else {
            return;
        };
        let place = turn.position.checkpoint(taken);
        let ahead = place.offset - turn.position.offset();
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
    fn check(&self, is_warned: bool) {
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
        if came_twice && !is_warned {
            bad("a row came twice, and nobody was told");
        }
    }
}
