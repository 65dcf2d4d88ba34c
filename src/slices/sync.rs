//! Fills the store: fetches every slice of some projects, unless the store has it.
//!
//! After a failure the next slice is chosen at random. A sync gives up after several failures in a
//! row, unless they concern single slices alone, and the next run does not know of them. In a fixed
//! order, three projects that always fail would block all others for ever.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::client::observer::{Level, Note, OpenWait};
use crate::client::{Client, WaitOrStop, messages};
use crate::clock::Millis;
use crate::config::url::Segment;
use crate::dates::slices::Slice;
use crate::error::{Error, Kind, Result};
use crate::export::observer::ExportObserver;
use crate::export::pager::{CheckedPage, WINDOW};
use crate::export::service::may_be_of_a_cursor;
use crate::listing::endpoint::PagedBy;
use crate::slices::Subject;
use crate::slices::plan::{PlannedSlice, hours, stored_slice};
use crate::slices::reader::SliceReader;
use crate::store::{Exports, SyncLock};

/// The interval of checks whether the other sync has ended.
const LOCK_POLL: Duration = Duration::from_secs(1);
/// The sync ends after this many failures in a row, if the last is transient, nothing has
/// succeeded, or the last is of a project and listing with an earlier failure.
const MAX_FAILURES_IN_A_ROW: usize = 3;

/// The ranges that a sync fills.
#[derive(Debug)]
pub struct SyncScope {
    pub projects: Vec<Segment>,
    pub slices: Vec<Slice>,
    pub of: Vec<Subject>,
    /// The time at which the sync ends, even if slices are left.
    pub until: Option<Millis>,
}

/// Counts of slices, requests and rows.
#[derive(Debug, Default, PartialEq)]
pub struct SyncCounts {
    /// Slices in all, of each project and listing.
    pub slices: u64,
    /// Slices that the store had already.
    pub cached: u64,
    /// Slices that may still change.
    pub open: u64,
    /// Requests that were sent, retries included.
    pub requests: u64,
    pub rows: u64,
    /// The requests that are still to be sent. A slice that was fetched before counts as many as
    /// last time, less the pages that the store has already. Any other slice counts one.
    pub left: u64,
    /// Hours for these at the request budget; `None` without a budget.
    pub hours: Option<f64>,
}

/// A slice that could not be fetched.
#[derive(Debug)]
pub struct FailedSlice {
    pub project: String,
    pub listing: &'static str,
    pub slice: Slice,
    pub error: Error,
}

/// The result of a sync.
#[derive(Debug, Default)]
pub struct Sync {
    pub filled: SyncCounts,
    /// The slices that failed, but for one whose error is in `ended`.
    pub failures: Vec<FailedSlice>,
    /// Whether it gave up after failures in a row.
    pub gave_up: bool,
    /// The error that ended it early.
    pub ended: Option<Error>,
}

/// A slice to fetch.
struct DueSlice<'a> {
    of: Subject,
    project: &'a Segment,
    slice: Slice,
    /// The time of the last fetch of a slice that may still change.
    fetched: Option<Millis>,
    cost: PlannedSlice,
}

/// The slices that are left to fetch.
#[derive(Default)]
struct Queue<'a> {
    due: VecDeque<DueSlice<'a>>,
    /// Slices of a project and listing with a failed slice. They come after all others.
    doubtful: VecDeque<DueSlice<'a>>,
    /// Slices that failed, and all others of a project and listing that the service refuses.
    failed: Vec<DueSlice<'a>>,
}

impl<'a> Queue<'a> {
    fn len(&self) -> usize {
        self.due.len() + self.doubtful.len()
    }

    /// The next slice, and whether another slice of its project and listing has failed. After a
    /// failure the next slice is chosen at random. Otherwise three that always fail would block the
    /// others.
    fn next(&mut self, failing: bool) -> Option<(DueSlice<'a>, bool)> {
        let doubtful = self.due.is_empty();
        let queue = if doubtful {
            &mut self.doubtful
        } else {
            &mut self.due
        };
        let at = if failing {
            fastrand::usize(..queue.len().max(1))
        } else {
            0
        };
        Some((queue.remove(at)?, doubtful))
    }

    /// Puts the slices of the project and listing of `failed` after all others, or drops them.
    fn step_back(&mut self, failed: DueSlice<'a>, drop: bool) {
        let is_its = |due: &DueSlice<'_>| {
            due.of == failed.of && due.project.as_str() == failed.project.as_str()
        };
        let split = |all: &mut VecDeque<DueSlice<'a>>| {
            let (its, others): (VecDeque<_>, _) = std::mem::take(all).into_iter().partition(is_its);
            *all = others;
            its
        };
        let its = split(&mut self.due);
        if drop {
            self.failed.extend(its);
            self.failed.extend(split(&mut self.doubtful));
        } else {
            self.doubtful.extend(its);
        }
        self.failed.push(failed);
    }

    fn left(&self) -> impl Iterator<Item = &PlannedSlice> {
        let due = self.due.iter().chain(&self.doubtful).chain(&self.failed);
        due.map(|due| &due.cost)
    }
}

/// Fills the store. Only one sync runs at a time: a second one waits, and logs it, or fails.
pub async fn sync(
    client: &Client,
    exports: &Exports,
    wanted: &SyncScope,
    on_running: WaitOrStop,
    observer: Arc<dyn ExportObserver>,
) -> Sync {
    let mut sync = Sync::default();
    let mut reader = SliceReader::new(client, observer);
    reader.until = wanted.until.and_then(|until| {
        let left = until.saturating_sub(client.now()).max(0).unsigned_abs();
        Instant::now().checked_add(Duration::from_millis(left))
    });
    let lock = lock(exports, on_running, &reader).await;
    sync.ended = sync.fill(wanted, reader, lock).await.err();
    sync
}

/// The right to fill the store; `None` if the sync's time is over before that.
async fn lock(
    exports: &Exports,
    on_running: WaitOrStop,
    reader: &SliceReader<'_>,
) -> Result<Option<SyncLock>> {
    let text = "another sync fills this store";
    let about = messages::fields_of_job(reader.client, None, None);
    let mut wait = OpenWait::new(text, about);
    wait.min_logged = Duration::ZERO;
    loop {
        if reader.is_late() {
            return Ok(None);
        }
        if let Some(lock) = exports.lock().await? {
            return Ok(Some(lock));
        }
        if on_running == WaitOrStop::Stop {
            return Err(Error::new(
                Kind::StoreBusy,
                format!("{text}, so nothing was sent: try again when it has ended"),
            ));
        }
        wait.announce(&*reader.observer, text);
        sleep(LOCK_POLL).await;
    }
}

impl Sync {
    async fn fill(
        &mut self,
        wanted: &SyncScope,
        mut reader: SliceReader<'_>,
        lock: Result<Option<SyncLock>>,
    ) -> Result<()> {
        let mut queue = self.look(wanted, &reader).await?;
        self.forecast(&queue, &reader).await?;
        // A sync that may not fill the store also reports how much is left.
        let _lock = lock?;
        let ended = self.fetch(&mut queue, &mut reader).await;
        self.filled.requests = reader.requests;
        ended.and(self.forecast(&queue, &reader).await)
    }

    /// Counts what is left, and logs it if the number is new.
    async fn forecast(&mut self, queue: &Queue<'_>, reader: &SliceReader<'_>) -> Result<()> {
        let left = queue.left().map(|cost| cost.requests).sum();
        let is_new = left > 0 && left != self.filled.left;
        self.filled.left = left;
        self.filled.hours = hours(reader.client, left).await?;
        if is_new {
            let hours = self.filled.hours.map_or_else(String::new, |hours| {
                format!("; hours at the request budget: {hours}")
            });
            let bound = match queue.left().any(|cost| cost.estimated) {
                true => "about",
                false => "at least",
            };
            let text = format!("missing requests: {bound} {left}{hours}");
            let about = messages::fields_of_job(reader.client, None, None);
            reader
                .observer
                .note(Note::new(Level::Info, text).about(about));
        }
        Ok(())
    }

    /// Finds the slices to fetch. Final slices come first, because they are fetched once; the
    /// listings of each stand together, so that no listing waits for all of another. Slices that
    /// may still change follow, beginning with the one fetched the longest ago, whatever its
    /// listing, so that a sync that is stopped often reaches all of them.
    async fn look<'a>(
        &mut self,
        wanted: &'a SyncScope,
        reader: &SliceReader<'_>,
    ) -> Result<Queue<'a>> {
        let mut due = Vec::new();
        for project in &wanted.projects {
            for &slice in &wanted.slices {
                for &of in &wanted.of {
                    let stored = stored_slice(reader.client, of, project, slice).await?;
                    let open = reader.may_change(slice);
                    self.filled.slices += 1;
                    self.filled.open += u64::from(open);
                    if stored.cached {
                        self.filled.cached += 1;
                        continue;
                    }
                    due.push(DueSlice {
                        of,
                        project,
                        slice,
                        fetched: open.then_some(stored.fetched.unwrap_or(Millis::MIN)),
                        cost: stored.cost(of, slice),
                    });
                }
            }
        }
        due.sort_by_key(|due| due.fetched);
        Ok(Queue {
            due: due.into(),
            ..Queue::default()
        })
    }

    async fn fetch(&mut self, queue: &mut Queue<'_>, reader: &mut SliceReader<'_>) -> Result<()> {
        let (mut granted, mut strikes) = (false, 0);
        loop {
            let left = queue.len() as u64;
            reader
                .observer
                .progress(self.filled.slices.saturating_sub(left));
            if reader.is_late() {
                return Ok(());
            }
            let Some((mut due, doubtful)) = queue.next(strikes > 0) else {
                return Ok(());
            };
            let (of, project, slice, was_open) =
                (due.of, due.project, due.slice, due.fetched.is_some());
            let fetched = self.fetch_slice(of, project, slice, reader).await;
            if fetched.is_err() {
                // Some of its pages may have come.
                let stored = stored_slice(reader.client, of, project, slice).await;
                due.cost = stored.map_or(due.cost, |stored| stored.cost(of, slice));
            }
            match fetched {
                Ok(()) => {
                    (granted, strikes) = (true, 0);
                    let open = reader.is_open(of, project, slice).await?;
                    // It may have become final while it waited for the budget.
                    self.filled.open += u64::from(open);
                    self.filled.open -= u64::from(was_open);
                }
                Err(_) if reader.is_late() => queue.failed.push(due),
                Err(error) if is_of_all(&error) => {
                    queue.failed.push(due);
                    return Err(error);
                }
                Err(error) => {
                    // A project that the service refuses counts once, for all of its listings.
                    let is_known = |failed: &FailedSlice| {
                        failed.project == project.as_str() && is_of_project(&failed.error)
                    };
                    if !(is_of_project(&error) && self.failures.iter().any(is_known)) {
                        strikes += 1;
                    }
                    queue.step_back(due, is_of_project(&error));
                    self.gave_up = strikes >= MAX_FAILURES_IN_A_ROW
                        && (error.transient || !granted || doubtful);
                    self.failures.push(FailedSlice {
                        project: project.as_str().to_owned(),
                        listing: of.endpoint.name,
                        slice,
                        error,
                    });
                    if self.gave_up {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Reads a slice into the store, and counts its rows, also where it fails.
    async fn fetch_slice(
        &mut self,
        of: Subject,
        project: &Segment,
        slice: Slice,
        reader: &mut SliceReader<'_>,
    ) -> Result<()> {
        let (sent, mut refresh) = (reader.requests, false);
        loop {
            let mut rows = 0;
            let count = |page: CheckedPage| rows += page.rows.len() as u64;
            let read = reader.read(of, project, slice, refresh, Some(WINDOW), count);
            let read = read.await.map(drop);
            // The first pages came from the store, and the cursor after them may have expired
            // since.
            let is_late =
                of.endpoint.paged_by == PagedBy::Cursor && rows > 0 && reader.requests == sent + 1;
            if refresh || !is_late || !read.as_ref().is_err_and(may_be_of_a_cursor) {
                self.filled.rows += rows;
                return read;
            }
            refresh = true;
        }
    }
}

/// Whether the error concerns all slices of its project and listing. Other refusals may concern only
/// these days, such as days that the service has deleted.
fn is_of_project(error: &Error) -> bool {
    matches!(error.status, Some(403 | 404 | 410))
}

/// Whether the error concerns all slices: the key, the budget, the store, or the connection to the
/// service.
fn is_of_all(error: &Error) -> bool {
    match error.kind {
        Kind::Timeout | Kind::Transport | Kind::Response | Kind::Pagination => false,
        Kind::Status => matches!(error.status, Some(401 | 429)),
        _ => true,
    }
}
