//! Paging, by offset or by cursor: when to stop, guards against a service that breaks its paging
//! rule, prefetch, and the position.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, Kind, Result};
use crate::export::checkpoint::Checkpoint;
use crate::export::dedupe::{self, Repeat, Seen};
use crate::export::findings::{Finding, Findings};
use crate::export::observer::{ExportObserver, Relay};
use crate::export::page::{FetchedPage, PageRequest, Source};
use crate::export::position::{ExportPosition, PagePosition};
use crate::listing::cursor;
use crate::listing::endpoint::PagedBy;
use crate::listing::page::{Page, Totals};
use crate::listing::rows::{Identity, Rows};
use crate::text::message::{Advice, message};

/// How many pages are remembered, to find repeats, while streaming.
pub const WINDOW: usize = 8;

/// The options of paging.
#[derive(Debug, Clone, Copy)]
pub struct Paging {
    /// The most rows that are handed out.
    pub max_rows: Option<u64>,
    /// Pages requested in advance. With 1, a request is wasted only if the page before it cannot be
    /// used, or the caller stops. Above 1, requests may also go beyond the end.
    pub prefetch: u32,
    /// Whether findings are errors.
    pub strict: bool,
    /// How many pages are remembered to find repeats; `None`: all.
    pub window: Option<usize>,
}

impl Paging {
    /// The rows of a page if neither the caller nor the endpoint names a number.
    pub const PAGE_SIZE: u32 = 250;
}

/// A page without rows that came before unchanged, for the caller.
#[derive(Debug)]
pub struct CheckedPage {
    /// The rows to hand out.
    pub rows: Rows,
    /// Findings that it had for the first time.
    pub findings: Vec<Finding>,
    /// The position for checkpoints after each of its rows.
    pub position: Arc<PagePosition>,
}

/// The state of one export.
pub struct Pager {
    source: Arc<dyn Source>,
    paging: Paging,
    /// Where the next page starts.
    position: ExportPosition,
    handed: u64,
    finished: bool,
    /// The error that ended the export: the service broke its paging rule, or a strict export found
    /// something.
    broken: Option<Error>,
    /// The stored page that breaks the paging rule, until its source has taken it back.
    faulty: Option<(i64, u64)>,
    /// The latest page was as long as the paging asks, and its rows had no repeats and nothing
    /// extra, so the offset of the next one is known.
    is_predictable: bool,
    ahead: VecDeque<PendingPage>,
    seen: Seen,
    /// The cursors that came, as hashes.
    cursors: HashSet<u64>,
    findings: Findings,
    relay: Arc<Relay>,
}

/// A request under way. Dropping it cancels the request.
struct PendingPage {
    /// The number of its slice, and its offset there.
    at: (usize, u64),
    limit: u32,
    /// Comes if the answer says that there is another page.
    promise: oneshot::Receiver<()>,
    task: JoinHandle<Result<(FetchedPage, Vec<Identity>)>>,
}

impl PendingPage {
    async fn came(&mut self) -> Result<(FetchedPage, Vec<Identity>)> {
        match (&mut self.task).await {
            Ok(came) => came,
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_) => Err(Error::new(Kind::Misuse, "this process is ending")),
        }
    }
}

impl Drop for PendingPage {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Pager {
    /// Continues an export at `place`.
    pub fn new(source: Arc<dyn Source>, place: Checkpoint, paging: Paging) -> Self {
        let position = ExportPosition::new(place);
        let place = &position.place;
        let mut seen = Seen::new(paging.window);
        seen.take_in(place.seen(), position.until());
        let cursors = place
            .cursor
            .iter()
            .map(|cursor| xxh3_64(cursor.as_bytes()))
            .collect();
        Self {
            source,
            paging,
            handed: 0,
            finished: place.done,
            broken: None,
            faulty: None,
            is_predictable: false,
            ahead: VecDeque::new(),
            seen,
            cursors,
            findings: Findings {
                totals: place.totals,
                found: Vec::new(),
            },
            relay: Arc::new(Relay::default()),
            position,
        }
    }

    /// Where the next page starts.
    pub fn place(&self) -> &Checkpoint {
        &self.position.place
    }

    /// All findings so far, in words.
    pub fn warnings(&self) -> Vec<String> {
        let found = self.findings.found.iter();
        found.map(ToString::to_string).collect()
    }

    /// How many requests were sent, retries included.
    pub fn requests(&self) -> u64 {
        self.relay.requests()
    }

    /// The totals at the beginning of the export; `None` before the first page.
    pub fn totals(&self) -> Option<Totals> {
        self.findings.totals
    }

    /// Searches for repeats in all pages from now on. A caller that keeps all rows has the memory
    /// for it.
    pub fn remember_all(&mut self) {
        self.seen.window = None;
    }

    /// The next page, or `None` at the end. If the future is dropped, its requests are cancelled,
    /// and the next call sends them again.
    pub async fn next_page(
        &mut self,
        observer: &Arc<dyn ExportObserver>,
    ) -> Result<Option<CheckedPage>> {
        if self.finished || self.rows_left() == Some(0) {
            self.finished = true;
            self.ahead.clear();
            return Ok(None);
        }
        let listening = self.relay.listen(observer);
        if let Some(error) = &self.broken {
            let error = error.clone();
            self.take_back().await;
            return Err(error);
        }
        // Taken out of the queue first: if this future is dropped, so are the requests.
        let mut waiting = std::mem::take(&mut self.ahead);
        let mut next = waiting.pop_front().unwrap_or_else(|| self.ask(0));
        let ended_before = next.task.is_finished();
        let further = u64::from(next.limit);
        if waiting.is_empty()
            && self.is_predictable
            && self.paging.prefetch > 0
            && self.rows_left().is_none_or(|left| left > further)
            && (&mut next.promise).await.is_ok()
        {
            waiting.push_back(self.ask(further));
        }
        let came = match next.came().await {
            // This page was prefetched, and was refused by the budget or the throttle before the
            // caller waited for it. That answer is old, so the page is requested again.
            Err(early) if ended_before && matches!(early.kind, Kind::Budget | Kind::HeldBack) => {
                self.ask(0).came().await?
            }
            came => came?,
        };
        let page = match self.take_in(came) {
            Ok(page) => page,
            Err(error) => {
                self.broken = Some(error.clone());
                self.take_back().await;
                return Err(error);
            }
        };
        drop(listening);
        self.ahead = waiting;
        if self.is_over()
            || self
                .ahead
                .front()
                .is_some_and(|ahead| ahead.at != self.at())
        {
            self.ahead.clear();
        }
        self.look_ahead();
        Ok(Some(page))
    }

    /// Has the source take back the stored page that breaks the paging rule, if there is one.
    async fn take_back(&mut self) {
        if let Some(stored) = self.faulty {
            let source = Arc::clone(&self.source);
            source.reject(stored, self.relay.asked()).await;
            self.faulty = None;
        }
    }

    /// Whether no page comes after this one.
    fn is_over(&self) -> bool {
        self.finished || self.broken.is_some()
    }

    /// Where the next page starts.
    fn at(&self) -> (usize, u64) {
        (self.place().slice, self.place().offset)
    }

    /// How many rows may still be handed out.
    fn rows_left(&self) -> Option<u64> {
        self.paging
            .max_rows
            .map(|most| most.saturating_sub(self.handed))
    }

    /// Checks a page, drops its rows that came before unchanged, and moves on after it.
    fn take_in(
        &mut self,
        (
            FetchedPage {
                mut page,
                limit,
                stored,
                ..
            },
            identities,
        ): (FetchedPage, Vec<Identity>),
    ) -> Result<CheckedPage> {
        let refused = |pager: &mut Self, why: &str| {
            pager.faulty = stored;
            broken(why)
        };
        let received = page.rows.len();
        let identities = self.position.identities(identities);
        let by_offset = self.position.by_offset;
        let cut_off = page.has_more && self.place().listing.paged_by() == PagedBy::Nothing;
        page.has_more &= !cut_off;
        if page.has_more {
            if received == 0 {
                return Err(refused(
                    self,
                    "it sent no rows and said that there are more",
                ));
            }
            if self.seen.page_again(&identities) {
                return Err(refused(
                    self,
                    "it sent the same page again and said that there are more",
                ));
            }
        }
        let cursor = self.next_cursor(&page);
        // If its cursor is refused, this page's rows are handed out before the error.
        let cursor = cursor.map_err(|why| self.broken = Some(refused(self, &why)));
        // After a short page, repeated rows are expected, and are no change of the data.
        let expected = self.position.may_repeat();
        let mut fresh = self.findings.page(&page, limit, by_offset);
        if cut_off {
            let place = self.place();
            let is_small = place.page_size < place.listing.endpoint().max_page_size;
            let days = self.position.range();
            fresh.push(self.findings.cut_off(received, days, is_small));
        }

        let overlap = self.position.overlap(&identities);
        fresh.extend(self.findings.overlap(overlap, received));
        let skip = overlap + self.position.skip.min(received - overlap);
        let until = match by_offset {
            true => self
                .place()
                .offset
                .saturating_add(u64::from(limit).max(received as u64)),
            false => 0,
        };
        let repeats = self.seen.take_in(&identities, until);
        let mut kept = dedupe::without_repeats(&identities, &repeats, skip);
        if kept.is_some() {
            let count = |wanted| repeats.iter().filter(|&&repeat| repeat == wanted).count();
            let (identical, differing) = (count(Repeat::Identical), count(Repeat::Differing));
            fresh.extend(self.findings.repeats(identical, differing, expected));
        }
        if self.paging.strict
            && let Some(finding) = fresh.first()
        {
            let stops = format!(
                "the export is strict, so it stops before a page that would otherwise only cause a warning: {finding}"
            );
            return Err(Error::new(
                Kind::Pagination,
                message![stops, Advice::NotStrict {}],
            ));
        }
        let most = self
            .rows_left()
            .and_then(|left| usize::try_from(left).ok())
            .unwrap_or(usize::MAX);
        let fit = kept.as_ref().map_or(received, Vec::len);
        // Whether all rows fit and the next cursor is valid. If not, the checkpoint after its rows
        // is within this page, or names it again.
        let whole = fit <= most && cursor.is_ok();
        let mut rows = page.rows;
        let count = fit.min(most);
        if count < fit || kept.is_some() {
            let mut indices = kept.unwrap_or_else(|| (0..).take(received).collect());
            indices.truncate(most);
            rows.select(&indices);
            kept = Some(indices);
        }
        let handed = match &kept {
            Some(kept) => kept
                .iter()
                .filter_map(|&row| identities.get(row as usize).copied())
                .collect(),
            None => identities,
        };
        let mut position = PagePosition {
            before: self.place().clone(),
            after: None,
            rows: handed,
            by_row: false,
            received,
            limit: limit as usize,
            overlap,
            kept: kept.map(Vec::into_boxed_slice),
            whole,
            has_more: page.has_more,
            totals: page.totals,
            cursor: cursor.unwrap_or_default(),
            days: self.position.days(),
        };
        let is_whole = position.kept.is_none();
        self.position.step(&mut position);
        if self.place().slice != position.before.slice {
            // Each slice is a query of its own. Equal cursors of two slices are no loop.
            self.cursors.clear();
        }
        self.is_predictable = !self.place().irregular && is_whole && rows.is_plain();
        self.seen.forget(self.place().offset);
        self.handed += count as u64;
        self.finished = self.place().done || (!page.has_more && !whole);
        Ok(CheckedPage {
            rows,
            findings: fresh,
            position: Arc::new(position),
        })
    }

    /// The cursor of the next page. A repeated cursor is refused, because the export would never
    /// end.
    fn next_cursor(&mut self, page: &Page) -> Result<Option<String>, String> {
        let place = self.place();
        if !page.has_more || place.listing.paged_by() != PagedBy::Cursor {
            return Ok(None);
        }
        let Some(sent) = &page.cursor else {
            return Err("it sent no cursor and said that there are more".to_owned());
        };
        let cursor = cursor::plain(&place.base_url, sent)?;
        if !self.cursors.insert(xxh3_64(cursor.as_bytes())) {
            return Err("it sent a cursor that it had sent before".to_owned());
        }
        Ok(Some(cursor))
    }

    /// Requests the pages that a caller who goes on needs and, above `prefetch=1`, those that it may
    /// need.
    fn look_ahead(&mut self) {
        let page_size = u64::from(self.place().page_size);
        // After a short page, or with cursors, only the latest page tells where the next one
        // starts.
        let is_certain = self.position.is_by_position();
        let depth = if is_certain {
            self.paging.prefetch
        } else {
            self.paging.prefetch.min(1)
        };
        for page in self.ahead.len() as u64..u64::from(depth) {
            let ahead = page * page_size;
            if self.is_over() || self.rows_left().is_some_and(|left| ahead >= left) {
                break;
            }
            let page = self.ask(ahead);
            self.ahead.push_back(page);
        }
    }

    /// Requests the page that begins `further` rows after the next one.
    fn ask(&self, further: u64) -> PendingPage {
        let place = self.place();
        let left = self.rows_left().map(|left| left.saturating_sub(further));
        let page_size = u64::from(place.page_size);
        let offset = place.offset.saturating_add(further);
        // A full page is requested if some of its rows may be repeats: after a short page, or after
        // a page that was handed out in part. A listing of one page is always requested in full.
        let is_one_page = place.listing.paged_by() == PagedBy::Nothing;
        let again = self.position.may_repeat() || is_one_page;
        let room = left.filter(|_| !again).unwrap_or(page_size).min(page_size);
        let limit = u32::try_from(room).unwrap_or(place.page_size);
        let (sender, promise) = oneshot::channel();
        let wanted = PageRequest {
            days: self.position.days(),
            offset,
            cursor: place.cursor.clone(),
            limit,
            regular: self.position.is_by_position(),
        };
        let page = Arc::clone(&self.source).fetch(wanted, sender, self.relay.asked());
        let task = tokio::spawn(async move {
            let fetched = page.await?;
            let identities = fetched.page.rows.identities();
            Ok((fetched, identities))
        });
        PendingPage {
            at: (place.slice, offset),
            limit,
            promise,
            task,
        }
    }
}

fn broken(what: &str) -> Error {
    Error::new(
        Kind::Pagination,
        format!("the service broke its paging rule, so the export stopped: {what}"),
    )
}
