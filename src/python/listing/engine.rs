//! What turns the pages behind every iterator: the pager, and what came and is not handed out yet.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::client::Client;
use crate::error::Result;
use crate::export::checkpoint::Checkpoint;
use crate::export::coming::Coming;
use crate::export::file::{Writing, Written};
use crate::export::gather::{Finished, Gathered};
use crate::export::observer::ExportObserver;
use crate::export::pager::{Pager, Paging, Source, Turn};
use crate::export::stored;
use crate::listing::rows::Totals;
use crate::table::formats::Format;

/// See the module. It is only worked on by whoever holds its lock, and may be left at any await.
pub(crate) struct Engine {
    source: Arc<dyn Source>,
    /// Pages that are not at hand yet.
    coming: Coming,
    /// Requests of pagers before this one.
    requests: u64,
    /// Pages on their way into a table.
    gathered: Option<Gathered>,
    /// Where an export to a file began, and what was found before: until it is known to have ended, its rows were not
    /// handed out.
    rewind: Option<(Checkpoint, Paging, Vec<String>)>,
    /// What pagers before this one found, in words.
    found: Vec<String>,
    /// How many pages were put at hand.
    pub(crate) turns: u64,
}

impl Engine {
    pub(crate) fn new(client: Client, anew: bool, place: Checkpoint, paging: Paging) -> Self {
        let source = stored::source(client, &place, anew);
        Self {
            coming: Coming::new(Pager::new(Arc::clone(&source), place, paging)),
            source,
            requests: 0,
            gathered: None,
            rewind: None,
            found: Vec::new(),
            turns: 0,
        }
    }

    /// Puts in order what an interrupted operation left, and before it `rest`.
    pub(crate) fn settle(&mut self, rest: Option<Turn>) {
        if let Some((place, paging, found)) = self.rewind.take() {
            self.found = found;
            self.requests += self.coming.pager().requests();
            self.coming = Coming::new(Pager::new(Arc::clone(&self.source), place, paging));
        }
        if let Some(gathered) = self.gathered.take() {
            self.put_back(gathered.finish());
        }
        if let Some(rest) = rest {
            self.coming.put_back(std::iter::once(rest));
        }
    }

    /// Makes sure that a page is there; there is none at the end.
    pub(crate) async fn turn(&mut self, observer: &Arc<dyn ExportObserver>) -> Result<()> {
        self.coming.look(observer).await
    }

    /// The page that is next.
    pub(crate) fn next(&self) -> Option<&Turn> {
        self.coming.front()
    }

    /// Takes it.
    pub(crate) fn take_next(&mut self) -> Option<Turn> {
        self.coming.take()
    }

    /// Reads all that is left; [`Engine::take_gathered`] has it, also what came before an error.
    pub(crate) async fn collect(&mut self, observer: &Arc<dyn ExportObserver>) -> Result<()> {
        self.coming.remember_all();
        let gathered = self.gathered.get_or_insert_default();
        while let Some(mut turn) = self.coming.next(observer).await? {
            observer.found(std::mem::take(&mut turn.findings));
            observer.rows(&turn.rows);
            gathered.add(turn)?;
            observer.progress(gathered.len() as u64);
        }
        Ok(())
    }

    /// See [`Engine::collect`].
    pub(crate) fn take_gathered(&mut self) -> Gathered {
        self.gathered.take().unwrap_or_default()
    }

    /// Takes back what nobody got.
    pub(crate) fn put_back(&mut self, finished: Finished) {
        self.coming.put_back(finished.into_turns());
    }

    /// Writes all that is left into a file, up to its name. Until [`Engine::keep`] says that the caller knows of it, the export stands
    /// where it stood.
    pub(crate) async fn write(
        &mut self,
        from: (Checkpoint, Paging),
        target: PathBuf,
        format: Format,
        observer: &Arc<dyn ExportObserver>,
    ) -> Result<io::Result<Written>> {
        let writing = match Writing::begin_aside(target, format).await {
            Ok(writing) => writing,
            Err(error) => return Ok(Err(error)),
        };
        let (place, paging) = from;
        self.rewind = Some((place, paging, self.warnings()));
        writing.pages(&mut self.coming, observer).await
    }

    /// The file stands, and its rows were handed out with it.
    pub(crate) fn keep(&mut self) {
        self.rewind = None;
    }

    /// How many requests were sent, retries included.
    pub(crate) fn requests(&self) -> u64 {
        self.requests + self.coming.pager().requests()
    }

    /// The totals that the export began with, once a page came.
    pub(crate) fn totals(&self) -> Option<Totals> {
        self.coming.pager().totals()
    }

    /// All that was found so far, in words.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let fresh = self.coming.pager().warnings().into_iter().filter(|text| !self.found.contains(text));
        self.found.iter().cloned().chain(fresh).collect()
    }
}
