//! The store: one SQLite file that all processes of a machine may share. `docs/store.md` describes
//! it.
//!
//! A blocking thread does the work, so that waits for locks and the database's disk never hold up
//! the runtime. The file is opened for the work and closed soon after, so that a fork or a kill can
//! only interrupt the work itself. Another copy of SQLite in the same process does not see its
//! locks.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use crate::clock::Clock;
use crate::config::account::Owner;
use crate::error::{Error, Result};

pub(crate) mod account;
mod busy;
mod exports;
mod fault;
mod file;
mod finished;
mod flights;
mod lock;
mod once;
mod open_files;
mod pages;
mod worker;

use busy::BusyTimeout;
pub use exports::{Content, Export, Exports, Range, StoredRange, is_final};
pub use fault::Fault;
pub use finished::{FinishedExport, FinishedExports};
pub use flights::PageClaim;
pub use lock::{FileLock, SyncLock};
pub use once::{CreatedJob, Creation, NameRecord, NameState, NamedWrite, OnceKey, OnceNames};
pub use open_files::{after_fork, before_fork};
pub use pages::StoredPage;
pub(crate) use pages::{whole, wire};
use worker::Worker;
pub use worker::leave_runtime;
pub use worker::{StoreExecutor, StoreWork};

/// A piece of work on the file, for the store's thread.
pub trait Work<T>: FnOnce(&mut Connection) -> Result<T, Fault> + Send + 'static {}

impl<T, W: FnOnce(&mut Connection) -> Result<T, Fault> + Send + 'static> Work<T> for W {}

/// A store. A clone is the same.
#[derive(Clone)]
pub struct Store(Arc<Worker>);

/// The store of a client, and the clock that it goes by.
#[derive(Debug, Clone)]
pub struct ClientStore {
    pub store: Store,
    pub clock: Clock,
    pub owner: Owner,
}

impl ClientStore {
    /// `work` in a transaction of its own: see [`write`].
    fn writing<T, W>(
        self: &Arc<Self>,
        work: W,
    ) -> impl FnOnce(&mut Connection) -> Result<T, Fault> + Send + 'static + use<T, W>
    where
        W: FnOnce(&Transaction<'_>, &Self) -> Result<T, Fault> + Send + 'static,
    {
        let client = Arc::clone(self);
        move |connection| write(connection, |transaction| work(transaction, &client))
    }
}

/// Does `work` in a transaction that excludes every other writer from its first statement.
pub(crate) fn write<T>(
    connection: &mut Connection,
    work: impl FnOnce(&Transaction<'_>) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let result = work(&transaction)?;
    transaction.commit()?;
    Ok(result)
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Store").field(&self.path()).finish()
    }
}

impl Store {
    /// Opens or creates the file at `path`, and checks that it can be used. Blocks for as long as
    /// it takes.
    pub fn open(path: &Path) -> Result<Self> {
        let store = Self::to_write(path)?;
        store.ask(|_| Ok(()))?.wait()?;
        Ok(store)
    }

    /// The file at `path`, which the first work opens or creates.
    pub fn to_write(path: &Path) -> Result<Self> {
        Self::at(path, file::open, None)
    }

    /// The same, with an executor in place of the thread.
    pub fn done_by(path: &Path, executor: StoreExecutor) -> Result<Self> {
        Self::at(path, file::open, Some(executor))
    }

    /// The file at `path`, only to read. The first work fails if it is missing or cannot be read.
    pub fn to_read(path: &Path) -> Result<Self> {
        Self::at(path, file::open_to_read, None)
    }

    fn at(path: &Path, open: worker::Open, executor: Option<StoreExecutor>) -> Result<Self> {
        Ok(Self(Worker::new(
            file::resolve(path).map_err(|fault| fault.error(path))?,
            open,
            executor,
        )))
    }

    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Does `work` after all earlier work. After the future is dropped, `work` may still be done,
    /// but it waits for no lock.
    pub async fn run<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T> {
        let (timeout, _caller) = BusyTimeout::of_caller();
        self.answer(timeout, work).await
    }

    /// The same for work that is done in any case, once this was polled.
    pub async fn see_to<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T> {
        self.answer(BusyTimeout::in_any_case(), work).await
    }

    async fn answer<T: Send + 'static>(
        &self,
        timeout: BusyTimeout,
        work: impl Work<T>,
    ) -> Result<T> {
        let (answer, receiver) = oneshot::channel();
        // After the caller has left, dropping the result undoes the work where needed.
        self.submit(timeout, work, move |result| drop(answer.send(result)))?;
        receiver.await.map_err(|_| lost())?
    }

    /// Closes the file after all earlier work, so that everything is in this one file. `None` if
    /// this process has nothing to close.
    pub fn close(&self) -> Result<Option<PendingWork<()>>> {
        let (closed, receiver) = mpsc::sync_channel(1);
        let pending = PendingWork {
            receiver,
            _caller: Arc::new(()),
        };
        Ok(self.0.close(closed)?.then_some(pending))
    }

    /// `waiting`, a part of a call that ends at `deadline`.
    pub(crate) async fn within<T>(
        &self,
        deadline: Instant,
        waiting: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        match timeout_at(deadline, waiting).await {
            Ok(result) => result,
            Err(_) => Err(Fault::Late.error(self.path()).past_deadline()),
        }
    }

    /// Like [`Store::run`], for a thread that may wait.
    pub fn ask<T: Send + 'static>(&self, work: impl Work<T>) -> Result<PendingWork<T>> {
        let (answer, receiver) = mpsc::sync_channel(1);
        let (timeout, caller) = BusyTimeout::of_caller();
        self.submit(timeout, work, move |result| drop(answer.send(result)))?;
        Ok(PendingWork {
            receiver,
            _caller: caller,
        })
    }

    /// The same without waiting. `failed` gets the error of the work. Work that gets no thread is
    /// dropped, and the next work says so if it gets none either.
    pub(crate) fn post(&self, work: impl Work<()>, failed: impl FnOnce(Error) + Send + 'static) {
        let _ = self.submit(BusyTimeout::in_any_case(), work, |result| {
            if let Err(error) = result {
                failed(error);
            }
        });
    }

    fn submit<T>(
        &self,
        timeout: BusyTimeout,
        work: impl Work<T>,
        done: impl FnOnce(Result<T>) + Send + 'static,
    ) -> Result<()> {
        let store = self.clone();
        let perform = move |connection: Result<&mut Connection>| {
            // A panic is a bug. It must not end the work of others.
            let worked =
                connection.map(|connection| catch_unwind(AssertUnwindSafe(|| work(connection))));
            done(match worked {
                Ok(Ok(result)) => result.map_err(|fault| fault.error(store.path())),
                Ok(Err(_)) => Err(Error::bug("the store panicked")),
                Err(error) => Err(error),
            });
        };
        self.0.submit(StoreWork {
            timeout,
            run: Box::new(perform),
        })
    }
}

/// Closes every store of this process within `timeout`. Otherwise the last data would stay in a log
/// beside the file.
pub fn close_all(timeout: Duration) {
    let until = Instant::now() + timeout;
    // If no thread can be started, the log stays.
    let closing: Vec<_> = open_files::workers()
        .into_iter()
        .filter_map(|worker| Store(worker).close().ok().flatten())
        .collect();
    for mut closing in closing {
        let _ = closing.wait_for(until.saturating_duration_since(Instant::now()));
    }
}

/// Work that a thread waits for. After this is dropped, the work waits for no lock.
pub struct PendingWork<T> {
    receiver: mpsc::Receiver<Result<T>>,
    _caller: Arc<()>,
}

impl<T> PendingWork<T> {
    pub fn wait(&self) -> Result<T> {
        self.receiver.recv().map_err(|_| lost())?
    }

    /// Its result, if it comes within a `step`.
    pub fn wait_for(&mut self, step: Duration) -> Option<Result<T>> {
        match self.receiver.recv_timeout(step) {
            Ok(result) => Some(result),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Err(lost())),
        }
    }
}

fn lost() -> Error {
    Error::bug("the store's work was dropped")
}
