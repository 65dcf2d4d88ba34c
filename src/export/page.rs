//! A page on its way from a source to the pager.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, ready};
use tokio::sync::{OwnedMutexGuard, oneshot};

use crate::client::observer::Observer;
use crate::clock::Millis;
use crate::dates::slices::Slice;
use crate::error::Result;
use crate::listing::Listing;
use crate::listing::page::Page;
use crate::store::{Fault, FileLock, StoredPage};

/// A source of pages: the service, or the store.
pub trait Source: Send + Sync + 'static {
    /// Gets a page. A source may send `more` as soon as the answer promises another page, so that
    /// the next request leaves before this page is parsed.
    fn fetch(
        self: Arc<Self>,
        wanted: PageRequest,
        more: oneshot::Sender<()>,
        observer: Arc<dyn Observer>,
    ) -> BoxFuture<'static, Result<FetchedPage>>;

    /// Takes a page that breaks the paging rule out of the store, so that it comes from the service
    /// when it is wanted again.
    fn reject(
        self: Arc<Self>,
        _stored: (i64, u64),
        _observer: Arc<dyn Observer>,
    ) -> BoxFuture<'static, ()> {
        ready(()).boxed()
    }
}

/// The page to get.
#[derive(Debug, Clone)]
pub struct PageRequest {
    /// Its slice, if the range is read in several.
    pub days: Option<Slice>,
    /// Rows to skip; with cursors, the number of rows before it.
    pub offset: u64,
    /// The cursor that the page before it gave.
    pub cursor: Option<String>,
    /// The most rows.
    pub limit: u32,
    /// Whether all pages so far were as long as was asked for, so that a row's position is its
    /// offset.
    pub regular: bool,
}

/// A page, and where it is from.
pub struct FetchedPage {
    pub page: Page,
    /// The rows that were asked for: the source may have a page of another length.
    pub limit: u32,
    /// The export in the store that has it, and its offset there.
    pub(crate) stored: Option<(i64, u64)>,
    /// The answer of the service, while the page may still be kept in a store.
    pub(crate) body: Option<Bytes>,
    /// The time at which its request left, if the page may be kept; else 0.
    pub(crate) asked: Millis,
    /// The time of day, by the service's clock.
    pub(crate) date: Option<Millis>,
    /// The right to fetch it, until it is in the store.
    pub(crate) lock: Option<PageLock>,
}

impl FetchedPage {
    pub fn new(page: Page, limit: u32) -> Self {
        Self {
            page,
            limit,
            stored: None,
            body: None,
            asked: 0,
            date: None,
            lock: None,
        }
    }

    /// A page of an export in the store at `path`.
    pub(crate) fn stored(
        listing: &Listing,
        export: i64,
        page: &StoredPage,
        path: &Path,
    ) -> Result<Self> {
        let damaged = |why| {
            Fault::Damaged(format!("page {} of export {export}: {why}", page.offset)).error(path)
        };
        let decoded = listing.decode(&page.body).map_err(damaged)?;
        Ok(Self::new(decoded, page.asked))
    }
}

/// The right to fetch a page. After it is dropped, the next call of this client has it, or another
/// process.
pub(crate) struct PageLock {
    // Dropped first: the next call in the queue finds the file unlocked.
    pub(super) _file: FileLock,
    pub(super) _queue: OwnedMutexGuard<()>,
}
