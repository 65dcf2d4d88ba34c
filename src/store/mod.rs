//! The store: one SQLite file that all processes of a machine may share. `docs/store.md` describes it.
//!
//! Work on it is done on a thread where no lock and no disk holds up the runtime's workers. The file is opened when
//! there is work and closed soon after: what a fork, another copy of SQLite in the same process, or a kill could meet
//! half done is the work itself and nothing else.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, mpsc};

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::error::{Error, Result};

mod exports;
mod fault;
mod file;
mod gate;
mod held;
mod ledger;
mod lock;
mod owner;
mod pages;
mod shelf;
mod worker;

pub use exports::{Export, Exports, Range, Stock, What};
pub use fault::Fault;
pub use gate::{after_fork, before_fork};
pub use held::{Held, Holdings};
pub(crate) use ledger::{change, look};
pub use lock::SyncLock;
pub use owner::{Organization, Owner};
pub use pages::Page;
use worker::Worker;

/// A store. A clone is the same.
#[derive(Clone)]
pub struct Store(Arc<Worker>);

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Store").field(&self.path()).finish()
    }
}

impl Store {
    /// Opens the file at `path`, or makes it, and tells whether that can be done. Blocks for as long as it takes.
    pub fn open(path: &Path) -> Result<Self> {
        let store = Self::at(path, file::open)?;
        store.run_blocking(|_| Ok(()))?;
        Ok(store)
    }

    /// The file at `path`, to read what it holds; whether it is there and can be read is told by the first work.
    pub fn to_read(path: &Path) -> Result<Self> {
        Self::at(path, file::open_to_read)
    }

    fn at(path: &Path, open: worker::Open) -> Result<Self> {
        Ok(Self(Worker::new(file::resolve(path).map_err(|fault| fault.error(path))?, open)))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Does `work` behind all that was asked for before. Whoever stops waiting may or may not have prevented it.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T> {
        self.answer(work, false).await
    }

    /// The same for what has to be done in any case, once this was polled.
    pub async fn see_to<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T> {
        self.answer(work, true).await
    }

    async fn answer<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, Fault> + Send + 'static,
        in_any_case: bool,
    ) -> Result<T> {
        let (answer, receiver) = oneshot::channel();
        self.submit(move |store, connection| {
            if in_any_case || !answer.is_closed() {
                // Where nobody waits any more, dropping the result undoes what has to be undone.
                drop(answer.send(store.perform(connection, work)));
            }
        })?;
        receiver.await.map_err(|_| lost())?
    }

    /// The same for threads that may block.
    pub fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T> {
        let (answer, receiver) = mpsc::sync_channel(1);
        self.submit(move |store, connection| drop(answer.send(store.perform(connection, work))))?;
        receiver.recv().map_err(|_| lost())?
    }

    /// The same where nobody waits; `failed` hears if it cannot be done.
    pub(crate) fn post(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<(), Fault> + Send + 'static,
        failed: impl FnOnce(Error) + Send + 'static,
    ) {
        // Where not even a thread can be started, the next piece of work says so.
        let _ = self.submit(move |store, connection| {
            if let Err(error) = store.perform(connection, work) {
                failed(error);
            }
        });
    }

    fn perform<T>(
        &self,
        connection: Result<&mut Connection>,
        work: impl FnOnce(&mut Connection) -> Result<T, Fault>,
    ) -> Result<T> {
        let connection = connection?;
        // A panic is a bug, but must not take the others' work with it.
        match catch_unwind(AssertUnwindSafe(|| work(connection))) {
            Ok(result) => result.map_err(|fault| fault.error(self.path())),
            Err(_) => Err(Error::bug("the store panicked")),
        }
    }

    fn submit(&self, job: impl FnOnce(&Self, Result<&mut Connection>) + Send + 'static) -> Result<()> {
        let store = self.clone();
        self.0.submit(Box::new(move |connection| job(&store, connection)))
    }
}

fn lost() -> Error {
    Error::bug("the store's work was dropped")
}
