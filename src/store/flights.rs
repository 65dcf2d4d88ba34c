//! The right to fetch a page. Calls and processes that want a page at the same time send one
//! request.

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

/// The number of lock files. Two pages with the same file wait for each other.
const LOCK_NAMES: u64 = 4096;

/// An export and an offset.
type PagePlace = (i64, u64);

/// The queues of one client: in each, the calls that want the same page wait.
#[derive(Debug, Clone, Default)]
pub(super) struct PageQueues(Arc<Mutex<HashMap<PagePlace, Weak<AsyncMutex<()>>>>>);

/// The state of a page for a call that wants to fetch it.
#[derive(Debug)]
pub enum PageClaim {
    /// It is in the store.
    Stored(StoredPage),
    /// The caller may fetch it while this lives.
    Ours(FileLock),
    /// Another process, or another client, fetches it, or another page with the same lock.
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

    /// The right to fetch a page, unless it is in the store or the right is taken.
    pub async fn claim(&self, export: i64, offset: u64) -> Result<PageClaim> {
        let client = Arc::clone(&self.0);
        let claim = move |connection: &mut Connection| {
            let number = [export.to_le_bytes(), offset.to_le_bytes()].concat();
            let name = format!("-page-{:03x}", xxh3_64(&number) % LOCK_NAMES);
            let Some(lock) = FileLock::take(beside(client.store.path(), &name))? else {
                return Ok(PageClaim::Taken);
            };
            // The last holder of the lock may have stored the page meanwhile.
            let stored = pages::find(connection, export, pages::AT, offset)?;
            Ok(stored.map_or(PageClaim::Ours(lock), PageClaim::Stored))
        };
        self.0.store.run(claim).await
    }
}
