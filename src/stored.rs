//! The pages of a listing from the store, where they are held; the others from the service, by way of the store.
//!
//! Everything is bought in whole pages from the beginning on, whatever part of the listing is read, so that what one
//! reader bought serves the next.

use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::sync::OnceCell;

use crate::checkpoint::Checkpoint;
use crate::client::Client;
use crate::error::{Error, Kind, Result};
use crate::observer::Observer;
use crate::pager::{Full, Source};
use crate::rows::{Page, Rows, Totals};
use crate::store::{self, Export, Exports, Fault, What};
use crate::visitor_rows::VisitorRows;
use crate::visitors::{Listing, Pages};

/// Where the pages of an export that stands at `place` come from. `anew`: nothing that is held will do.
pub fn source(client: Client, place: &Checkpoint, anew: bool) -> Arc<dyn Source> {
    let listing = place.listing.clone();
    match client.exports().filter(|_| listing.is_visitors()).cloned() {
        None => Arc::new(Pages::new(client, listing)),
        Some(exports) => {
            let (page_size, export) = (place.page_size, OnceCell::new());
            Arc::new(Stored(Arc::new(Shelf { client, listing, exports, page_size, anew, export })))
        }
    }
}

/// The totals of a range, where the store has them; else one request, for one row, whose answer it keeps.
pub async fn totals(client: &Client, listing: &Listing, observer: &dyn Observer) -> Result<Totals> {
    let Some(exports) = client.exports() else {
        let (page, _) = listing.ask(client, 0, 1, observer).await?;
        return totals_of(&page);
    };
    let range = listing.range(client.settings().settle_days);
    for what in [What::Totals, What::Pages] {
        let stock = exports.stock(range.clone(), what, 1).await?;
        if let Some(totals) = stock.held.and_then(|export| export.totals) {
            return Ok(totals);
        }
    }
    let export = exports.begin(range, What::Totals, 1, false).await?;
    let (page, body) = listing.ask(client, 0, 1, observer).await?;
    exports.put(export.id, stored(exports, &page, 0, 1, body.to_vec()), page.totals).await?;
    totals_of(&page)
}

fn totals_of(page: &Page) -> Result<Totals> {
    page.totals.ok_or_else(|| Error::new(Kind::Response, "the answer has no totals"))
}

/// The rows of a stored page.
pub(crate) fn decode(listing: &Listing, export: i64, page: &store::Page) -> Result<Page, Fault> {
    let damaged = |why| Fault::Damaged(format!("page {} of export {export}: {why}", page.offset));
    listing.decode(&page.body).map_err(damaged)
}

/// A page as the store has it.
fn stored(exports: &Exports, page: &Page, offset: u64, asked: u32, body: Vec<u8>) -> store::Page {
    let (rows, has_more, seen) = (page.rows.len() as u64, page.has_more, exports.now());
    store::Page { offset, asked, rows, has_more, seen, body }
}

/// See the module.
struct Stored(Arc<Shelf>);

struct Shelf {
    client: Client,
    listing: Listing,
    exports: Exports,
    page_size: u32,
    anew: bool,
    /// What is read and added to; found or begun with the first page.
    export: OnceCell<Export>,
}

impl Source for Stored {
    /// `full` is never told: a page is in the store before the next one is asked for.
    fn page(
        &self,
        offset: u64,
        limit: u32,
        _full: Full,
        observer: Arc<dyn Observer>,
    ) -> BoxFuture<'static, Result<Page>> {
        let shelf = Arc::clone(&self.0);
        async move { shelf.page(offset, limit, &*observer).await }.boxed()
    }

    fn in_step(&self) -> bool {
        true
    }
}

impl Shelf {
    async fn page(&self, offset: u64, limit: u32, observer: &dyn Observer) -> Result<Page> {
        let range = || self.listing.range(self.client.settings().settle_days);
        let begin = || self.exports.begin(range(), What::Pages, self.page_size, self.anew);
        let export = self.export.get_or_try_init(begin).await?;
        if let Some((page, asked)) = self.held(export, offset).await?
            && (asked == limit || (!page.has_more && page.rows.len() <= limit as usize))
        {
            return Ok(page);
        }
        if is_regular(export)
            && let Some(page) = self.part(export, offset, limit).await?
        {
            return Ok(page);
        }
        let size = u64::from(self.page_size);
        let skip = offset % size;
        if skip > 0 && skip + u64::from(limit) == size {
            let page = match self.held(export, offset - skip).await? {
                Some((page, _)) => page,
                None => self.buy(export, offset - skip, self.page_size, observer).await?,
            };
            let mut rest = Part::new(limit);
            if rest.add(page, skip)? || rest.count > 0 {
                return Ok(rest.page());
            }
        }
        self.buy(export, offset, limit, observer).await
    }

    /// The page at `offset`, where the store has it, and how many rows it was asked for.
    async fn held(&self, export: &Export, offset: u64) -> Result<Option<(Page, u32)>> {
        let Some(page) = self.exports.page(export.id, offset).await? else {
            return Ok(None);
        };
        let read = decode(&self.listing, export.id, &page).map_err(|fault| self.exports.fault(&fault))?;
        Ok(Some((read, page.asked)))
    }

    /// `limit` rows from `offset`, of an export that was bought in pages of another size, or is read from another row on.
    async fn part(&self, export: &Export, offset: u64, limit: u32) -> Result<Option<Page>> {
        let size = u64::from(export.page_size.max(1));
        let mut part = Part::new(limit);
        let mut at = offset.min(export.rows.saturating_sub(1)) / size * size;
        loop {
            let Some((page, _)) = self.held(export, at).await? else {
                return Ok(None);
            };
            if part.add(page, offset.saturating_sub(at))? {
                return Ok(Some(part.page()));
            }
            at += size;
        }
    }

    /// Asks the service. The page is in the store when this returns, and also where nobody waits for it any more.
    async fn buy(&self, export: &Export, offset: u64, limit: u32, observer: &dyn Observer) -> Result<Page> {
        let (page, body) = self.listing.ask(&self.client, offset, limit, observer).await?;
        if export.finished.is_none() {
            let stored = stored(&self.exports, &page, offset, limit, body.to_vec());
            self.exports.put(export.id, stored, page.totals).await?;
        }
        Ok(page)
    }
}

/// Whether it is whole, and all its pages but the last were full: then a row's place is its offset.
fn is_regular(export: &Export) -> bool {
    let size = u64::from(export.page_size.max(1));
    export.finished.is_some() && export.pages == export.rows.div_ceil(size).max(1)
}

/// Rows of one page or several.
struct Part {
    limit: usize,
    rows: Vec<VisitorRows>,
    count: usize,
    totals: Option<Totals>,
    has_more: bool,
    repaired: bool,
}

impl Part {
    fn new(limit: u32) -> Self {
        let limit = limit as usize;
        Self { limit, rows: Vec::new(), count: 0, totals: None, has_more: false, repaired: false }
    }

    /// Adds the rows of `page` behind the first `skip`; whether that is all, or all that there is.
    fn add(&mut self, page: Page, skip: u64) -> Result<bool> {
        let mut rows = page.rows.into_visitors()?;
        let received = rows.len();
        let skip = usize::try_from(skip).unwrap_or(usize::MAX).min(received);
        let end = received.min(skip.saturating_add(self.limit - self.count));
        let keep: Vec<_> = (skip..end).filter_map(|row| u32::try_from(row).ok()).collect();
        rows.select(&keep);
        self.count += keep.len();
        self.rows.push(rows);
        self.totals = self.totals.or(page.totals);
        self.repaired |= page.repaired;
        self.has_more = page.has_more || end < received;
        Ok(self.count == self.limit || !self.has_more)
    }

    fn page(self) -> Page {
        let rows = self.rows.iter().flat_map(VisitorRows::iter).collect();
        let Self { totals, has_more, repaired, .. } = self;
        Page { rows: Rows::Visitors(rows), totals, has_more, repaired }
    }
}
