//! Fills the store: every slice of some projects is fetched, unless the store has it.
//!
//! After a failure the next slice is drawn by lot. Nothing remembers failures from run to run, and a sync that meets
//! failure upon failure gives up: in a fixed order, three projects at its front that fail each time would keep all others
//! out for ever.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use crate::client::observer::{Observer, OpenWait};
use crate::client::{Client, WaitOrStop, messages};
use crate::clock::Millis;
use crate::config::url::Segment;
use crate::dates::slices::Slice;
use crate::error::{Error, Kind, Result};
use crate::export::observer::ExportObserver;
use crate::export::pager::{Turn, WINDOW};
use crate::export::service::may_be_of_a_cursor;
use crate::listing::endpoint::PagedBy;
use crate::slices::Subject;
use crate::slices::plan::stored_slice;
use crate::slices::trend::Reader;
use crate::store::{Exports, SyncLock, What};

/// How often is looked whether the other one has ended.
const LOCK_POLL: Duration = Duration::from_secs(1);
/// Failures in a row that are not the fault of some slices any more.
const MAX_FAILURES_IN_A_ROW: usize = 3;

/// The ranges that a sync fills.
#[derive(Debug)]
pub struct SyncScope {
    pub projects: Vec<Segment>,
    pub slices: Vec<Slice>,
    pub of: Subject,
}

/// Counts of slices, requests and rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Filled {
    /// Slices in all, over all projects.
    pub slices: u64,
    /// Those of them that were there already.
    pub cached: u64,
    /// Those that may still change.
    pub open: u64,
    /// Requests that were sent, retries included.
    pub requests: u64,
    pub rows: u64,
}

/// A slice that could not be fetched, while others could.
#[derive(Debug)]
pub struct FailedSlice {
    pub project: String,
    pub slice: Slice,
    pub error: Error,
}

/// How it ended.
#[derive(Debug, Default)]
pub struct Sync {
    pub filled: Filled,
    /// The slices that failed.
    pub failures: Vec<FailedSlice>,
    /// Whether it was given up, as failure came upon failure.
    pub given_up: bool,
    /// The error that ended it early.
    pub ended: Option<Error>,
}

/// A slice that has to be fetched.
struct Due<'a> {
    project: &'a Segment,
    slice: Slice,
    /// Of one that may still change: when it was fetched last.
    fetched: Option<Millis>,
}

/// The slices that are left to fetch.
#[derive(Default)]
struct Queue<'a> {
    due: VecDeque<Due<'a>>,
    /// Slices of projects with a failed slice. They come after all others.
    doubtful: VecDeque<Due<'a>>,
}

impl<'a> Queue<'a> {
    fn len(&self) -> usize {
        self.due.len() + self.doubtful.len()
    }

    /// The next slice, and whether another slice of its project has failed. After a failure the next slice is chosen at
    /// random. Otherwise one slice that always fails would block the others.
    fn next(&mut self, failing: bool) -> Option<(Due<'a>, bool)> {
        let doubtful = self.due.is_empty();
        let queue = if doubtful {
            &mut self.doubtful
        } else {
            &mut self.due
        };
        let at = if failing && !queue.is_empty() {
            fastrand::usize(..queue.len())
        } else {
            0
        };
        Some((queue.remove(at)?, doubtful))
    }

    /// Puts what is left of `project` after all others, or drops it.
    fn step_back(&mut self, project: &Segment, drop: bool) {
        let is_its = |due: &Due<'_>| due.project.as_str() == project.as_str();
        let (its, due) = std::mem::take(&mut self.due)
            .into_iter()
            .partition::<VecDeque<_>, _>(is_its);
        self.due = due;
        if drop {
            self.doubtful.retain(|due| !is_its(due));
        } else {
            self.doubtful.extend(its);
        }
    }
}

/// Fills the store, alone: of two that run at one time the second one waits, and says so, or fails.
pub async fn sync(
    client: &Client,
    exports: &Exports,
    wanted: &SyncScope,
    on_running: WaitOrStop,
    observer: Arc<dyn ExportObserver>,
) -> Sync {
    let mut sync = Sync::default();
    sync.ended = match lock(client, exports, on_running, &*observer).await {
        Ok(_lock) => sync
            .fill(client, wanted, Reader::new(client, observer))
            .await
            .err(),
        Err(error) => Some(error),
    };
    sync
}

async fn lock(
    client: &Client,
    exports: &Exports,
    on_running: WaitOrStop,
    observer: &dyn Observer,
) -> Result<SyncLock> {
    let text = "another sync fills this store";
    let about = messages::fields_of(client.settings(), None, None);
    let mut wait = OpenWait::new(text, about, Duration::ZERO);
    loop {
        if let Some(lock) = exports.lock().await? {
            return Ok(lock);
        }
        if on_running == WaitOrStop::Stop {
            return Err(Error::new(
                Kind::StoreBusy,
                format!("{text}, so nothing was sent: try again when it has ended"),
            ));
        }
        wait.announce(observer, || format!("{text}: waiting for it"));
        sleep(LOCK_POLL).await;
    }
}

impl Sync {
    async fn fill(
        &mut self,
        client: &Client,
        wanted: &SyncScope,
        mut reader: Reader<'_>,
    ) -> Result<()> {
        let due = self.look(client, wanted, &reader).await?;
        let ended = self.fetch(wanted.of, due, &mut reader).await;
        self.filled.requests = reader.requests;
        ended
    }

    /// Finds the slices to fetch. Final slices come first, because they are fetched once. Slices that may still change follow,
    /// beginning with the one fetched the longest ago, so that a sync that is stopped often reaches all of them.
    async fn look<'a>(
        &mut self,
        client: &Client,
        wanted: &'a SyncScope,
        reader: &Reader<'_>,
    ) -> Result<Queue<'a>> {
        let mut due = Vec::new();
        for project in &wanted.projects {
            for &slice in &wanted.slices {
                let stored = stored_slice(client, wanted.of, project, slice).await?;
                let open = reader.may_change(slice);
                self.filled.slices += 1;
                self.filled.open += u64::from(open);
                if stored.cached {
                    self.filled.cached += 1;
                } else {
                    let fetched = open.then_some(stored.fetched.unwrap_or(Millis::MIN));
                    due.push(Due {
                        project,
                        slice,
                        fetched,
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

    async fn fetch(
        &mut self,
        of: Subject,
        mut queue: Queue<'_>,
        reader: &mut Reader<'_>,
    ) -> Result<()> {
        let (mut granted, mut strikes) = (false, 0);
        loop {
            reader
                .observer
                .progress(self.filled.slices.saturating_sub(queue.len() as u64));
            let Some((due, doubtful)) = queue.next(strikes > 0) else {
                return Ok(());
            };
            let (project, slice, was_open) = (due.project, due.slice, due.fetched.is_some());
            let fetched = match of.what {
                What::Totals => reader.totals(of, project, slice).await.map(drop),
                What::Pages => self.fetch_pages(of, project, slice, reader).await,
            };
            match fetched {
                Ok(()) => {
                    (granted, strikes) = (true, 0);
                    let open = reader.is_open(of, project, slice).await?;
                    // It may have become final while it waited for the budget.
                    self.filled.open += u64::from(open);
                    self.filled.open -= u64::from(was_open);
                }
                Err(error) if is_of_all(&error) => return Err(error),
                Err(error) => {
                    strikes += 1;
                    queue.step_back(project, is_of_project(&error));
                    self.given_up = strikes >= MAX_FAILURES_IN_A_ROW
                        && (error.transient || !granted || doubtful);
                    self.failures.push(FailedSlice {
                        project: project.as_str().to_owned(),
                        slice,
                        error,
                    });
                    if self.given_up {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Reads a slice into the store, and counts its rows, also where it fails.
    async fn fetch_pages(
        &mut self,
        of: Subject,
        project: &Segment,
        slice: Slice,
        reader: &mut Reader<'_>,
    ) -> Result<()> {
        let (sent, mut refresh) = (reader.requests, false);
        loop {
            let mut rows = 0;
            let count = |turn: Turn| rows += turn.rows.len() as u64;
            let read = reader
                .pages(of, project, slice, refresh, Some(WINDOW), count)
                .await
                .map(drop);
            // The store has the first pages, and the cursor that leads on from them may have expired since.
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

/// Whether it stands for all slices of its project. Other refusals may be of these days alone, as of days that the
/// service has no more.
fn is_of_project(error: &Error) -> bool {
    matches!(error.status, Some(403 | 404 | 410))
}

/// Whether no other slice would fare better: the key, the budget, the store, or the way to the service.
fn is_of_all(error: &Error) -> bool {
    match error.kind {
        Kind::Timeout | Kind::Transport | Kind::Response | Kind::Pagination => false,
        Kind::Status => matches!(error.status, Some(401 | 429)),
        _ => true,
    }
}
