//! The right to fetch a page, so that calls and processes that want it at the same time send one request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

use rusqlite::Connection;
use tokio::sync::Mutex as AsyncMutex;
use xxhash_rust::xxh3::xxh3_64;

use crate::error::Result;
use crate::store::Exports;
use crate::store::file::beside;
use crate::store::lock::FileLock;
use crate::store::pages::{self, StoredPage};

/// Names of lock files. Two pages with the same name wait for each other, and no more files than these are ever left.
const LOCK_NAMES: u64 = 4096;

/// An export and an offset.
type PagePlace = (i64, u64);

/// The queues in which calls of one client that want the same page wait for each other.
#[derive(Debug, Clone, Default)]
pub(super) struct PageQueues(Arc<Mutex<HashMap<PagePlace, Weak<AsyncMutex<()>>>>>);

/// The state of a page for a call that wants to fetch it.
#[derive(Debug)]
pub enum PageClaim {
    /// It is in the store.
    Stored(StoredPage),
    /// It is the caller's to fetch, as long as this lives.
    Ours(FileLock),
    /// Another process, or another client, fetches it.
    Taken,
}

impl Exports {
    /// The queue of this client's calls that want a page.
    pub(crate) fn queue(&self, export: i64, offset: u64) -> Arc<AsyncMutex<()>> {
        let mut queues = crate::lock(&self.1.0);
        if let Some(queue) = queues.get(&(export, offset)).and_then(Weak::upgrade) {
            return queue;
        }
        queues.retain(|_, queue| queue.strong_count() > 0);
        let queue = Arc::default();
        queues.insert((export, offset), Arc::downgrade(&queue));
        queue
    }

    /// The right to fetch a page, unless it is in the store or another process has that right.
    pub async fn claim(&self, export: i64, offset: u64) -> Result<PageClaim> {
        let client = Arc::clone(&self.0);
        let claim = move |connection: &mut Connection| {
            let number = [export.to_le_bytes(), offset.to_le_bytes()].concat();
            let name = format!("-page-{:03x}", xxh3_64(&number) % LOCK_NAMES);
            let Some(lock) = FileLock::take(beside(client.store.path(), &name))? else {
                return Ok(PageClaim::Taken);
            };
            // Only now: the process that had the lock before may have kept the page meanwhile.
            let stored = pages::find(connection, export, pages::AT, offset)?;
            Ok(stored.map_or(PageClaim::Ours(lock), PageClaim::Stored))
        };
        self.0.store.run(claim).await
    }
}
