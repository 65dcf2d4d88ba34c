//! The pages of a listing from the store, where it has them; the others from the service, by way of the store.
//!
//! Whole pages are fetched from the beginning on, whatever part of the listing is read, so that what one reader fetched
//! serves the next. What is in the store comes in the pages in which it was fetched, whatever page size is asked for.

use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::sync::OnceCell;
use tokio::time::{Instant, timeout_at};

use crate::client::Client;
use crate::client::observer::{Level, Note, Observer};
use crate::client::retry::LAST_CALL;
use crate::clock::Millis;
use crate::error::{Error, Kind, Result};
use crate::export::checkpoint::Checkpoint;
use crate::export::pager::{Fetched, Source, Wanted};
use crate::export::service::{Answered, ServicePages};
use crate::listing::Listing;
use crate::listing::rows::{Page, Totals};
use crate::store::{self, Export, Exports, Fault, What};

/// A `Date` header is in whole seconds, and older by the way that the answer took.
const DATE_STEPS: Millis = 2_000;

/// Where the pages of an export that stands at `place` come from. `refresh`: stored pages are not used.
pub fn source(client: Client, place: &Checkpoint, refresh: bool) -> Arc<dyn Source> {
    let listing = place.listing.clone();
    match client.exports().filter(|_| listing.is_visitors()).cloned() {
        None => Arc::new(ServicePages::new(client, listing)),
        Some(exports) => {
            let (page_size, export) = (place.page_size, OnceCell::new());
            Arc::new(Stored(Arc::new(StoredRange { client, listing, exports, page_size, refresh, export })))
        }
    }
}

/// The totals of a range, where the store has them; else one request, for one row, whose answer it keeps.
pub async fn totals(client: &Client, listing: &Listing, observer: &dyn Observer) -> Result<Totals> {
    let mut deadline = client.deadline();
    let Some(exports) = client.exports() else {
        return totals_of(&listing.ask(client, 0, 1, &mut deadline, observer).await?.page);
    };
    let look = async {
        let range = listing.range(client.settings().settle_days);
        for what in [What::Totals, What::Pages] {
            let stock = exports.stock(range.clone(), what, 1).await?;
            if let Some(totals) = stock.finished.and_then(|export| export.totals) {
                return Ok(Err(totals));
            }
        }
        exports.begin(range, What::Totals, 1, false).await.map(Ok)
    };
    let export = match exports.within(deadline, look).await? {
        Ok(export) => export,
        Err(totals) => return Ok(totals),
    };
    let asked = listing.ask(client, 0, 1, &mut deadline, observer).await?;
    let totals = totals_of(&asked.page)?;
    if let Err(error) = keep(exports, &export, &asked, (0, 1), deadline, observer).await {
        let text = format!("totals are returned, but could not be kept: {}", error.message);
        observer.note(Note::new(Level::Warning, text));
    }
    Ok(totals)
}

fn totals_of(page: &Page) -> Result<Totals> {
    page.totals.ok_or_else(|| Error::new(Kind::Response, "the answer has no totals"))
}

/// The rows of a stored page.
pub(crate) fn decode(listing: &Listing, export: i64, page: &store::StoredPage) -> Result<Page, Fault> {
    let damaged = |why| Fault::Damaged(format!("page {} of export {export}: {why}", page.offset));
    listing.decode(&page.body).map_err(damaged)
}

/// Writes a page that came for `(offset, limit)`. It is written also where nobody waits for it any more: where that
/// takes longer than the call may, its rows are handed out before.
async fn keep(
    exports: &Exports,
    export: &Export,
    asked: &Answered,
    (offset, limit): (u64, u32),
    deadline: Instant,
    observer: &dyn Observer,
) -> Result<()> {
    let Answered { page, body, date } = asked;
    let (rows, has_more) = (page.rows.len() as u64, page.has_more);
    // The service's clock is a second opinion: what it has sent today is no answer of tomorrow.
    let now = exports.now();
    let seen = date.filter(|date| *date < now - DATE_STEPS).unwrap_or(now);
    let stored = store::StoredPage { offset, asked: limit, rows, has_more, seen, body: body.to_vec() };
    let deadline = deadline.max(Instant::now() + LAST_CALL);
    if let Ok(kept) = timeout_at(deadline, exports.put(export.id, stored, page.totals)).await {
        return kept.map(drop);
    }
    let fault = exports.fault(&Fault::Late);
    let text = format!("a page is handed out before it is in the store: {}", fault.message);
    observer.note(Note::new(Level::Warning, text));
    Ok(())
}

/// See the module.
struct Stored(Arc<StoredRange>);

struct StoredRange {
    client: Client,
    listing: Listing,
    exports: Exports,
    page_size: u32,
    refresh: bool,
    /// What is read and added to; found or begun with the first page.
    export: OnceCell<Export>,
}

impl Source for Stored {
    /// Never promises more: a page is in the store before the next one is asked for.
    fn fetch(&self, wanted: Wanted, observer: Arc<dyn Observer>) -> BoxFuture<'static, Result<Fetched>> {
        let range = Arc::clone(&self.0);
        async move { range.fetch(wanted, &*observer).await }.boxed()
    }
}

impl StoredRange {
    async fn fetch(self: Arc<Self>, wanted: Wanted, observer: &dyn Observer) -> Result<Fetched> {
        let mut deadline = self.client.deadline();
        let look = async {
            let range = || self.listing.range(self.client.settings().settle_days);
            let begin = || self.exports.begin(range(), What::Pages, self.page_size, self.refresh);
            let export = self.export.get_or_try_init(begin).await?.clone();
            let stored = self.stored(&export, wanted).await?;
            Ok((export, stored))
        };
        let (export, stored) = self.exports.within(deadline, look).await?;
        if let Some(page) = stored {
            let (range, asked) = (Arc::clone(&self), page.asked);
            let (skip, limit) = left_of(asked, wanted.offset - page.offset);
            let read = move || {
                let read = decode(&range.listing, export.id, &page);
                Ok(without(read.map_err(|fault| range.exports.fault(&fault))?, skip))
            };
            return Ok(Fetched { limit, promises_more: false, decode: Box::new(read) });
        }
        let mut offset = self.start(wanted);
        let mut page = self.ask(&export, offset, &mut deadline, observer).await?;
        let (mut skip, mut limit) = left_of(self.page_size, wanted.offset - offset);
        if page.has_more && skip >= page.rows.len() && skip > 0 {
            // It is short, so that the row is not where its offset says.
            offset = wanted.offset;
            page = self.ask(&export, offset, &mut deadline, observer).await?;
            (skip, limit) = (0, self.page_size);
        }
        Ok(Fetched { limit, promises_more: false, decode: Box::new(move || Ok(without(page, skip))) })
    }

    /// The page that has the row at an offset, where the store has it: it may be longer or shorter than is asked for.
    async fn stored(&self, export: &Export, wanted: Wanted) -> Result<Option<store::StoredPage>> {
        let Wanted { offset, regular, .. } = wanted;
        if let Some(page) = self.exports.page(export.id, offset).await? {
            return Ok(Some(page));
        }
        let size = u64::from(export.page_size.max(1));
        // After the last row, the last page says that there are no more.
        let last = if export.finished.is_some() { export.rows.saturating_sub(1) } else { u64::MAX };
        let start = offset.min(last) / size * size;
        if !regular || start == offset {
            return Ok(None);
        }
        let page = self.exports.page(export.id, start).await?;
        Ok(page.filter(|page| offset - start < page.rows || !page.has_more))
    }

    /// Where the page begins that is to be asked for: whole pages are fetched, whatever part of one is read.
    fn start(&self, wanted: Wanted) -> u64 {
        let into = if wanted.regular { wanted.offset % u64::from(self.page_size) } else { 0 };
        wanted.offset - into
    }

    /// Asks the service for a page, and keeps it.
    async fn ask(
        &self,
        export: &Export,
        offset: u64,
        deadline: &mut Instant,
        observer: &dyn Observer,
    ) -> Result<Page> {
        let asked = self.listing.ask(&self.client, offset, self.page_size, deadline, observer).await?;
        if export.finished.is_none() {
            keep(&self.exports, export, &asked, (offset, self.page_size), *deadline, observer).await?;
        }
        Ok(asked.page)
    }
}

/// How many rows of a page that was asked for `asked` come before the one that is `into` it, and how many are left.
fn left_of(asked: u32, into: u64) -> (usize, u32) {
    let skip = u32::try_from(into).unwrap_or(u32::MAX);
    (skip as usize, asked.saturating_sub(skip))
}

/// The page without its first rows.
fn without(mut page: Page, skip: usize) -> Page {
    if skip > 0 {
        let rest: Vec<_> = (0..).take(page.rows.len()).skip(skip).collect();
        page.rows.select(&rest);
    }
    page
}
