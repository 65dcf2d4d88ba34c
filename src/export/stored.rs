//! The pages of a listing from the store, where they are held; the others from the service, by way of the store.
//!
//! Everything is bought in whole pages from the beginning on, whatever part of the listing is read, so that what one
//! reader bought serves the next.

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
use crate::export::pager::{Full, Source};
use crate::export::service::{Asked, Pages};
use crate::listing::Listing;
use crate::listing::rows::{Page, Rows, Totals};
use crate::listing::visitor_rows::VisitorRows;
use crate::store::{self, Export, Exports, Fault, What};

/// A `Date` header is in whole seconds, and older by the way that the answer took.
const DATE_STEPS: Millis = 2_000;

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
    let mut deadline = client.deadline();
    let Some(exports) = client.exports() else {
        return totals_of(&listing.ask(client, 0, 1, &mut deadline, observer).await?.page);
    };
    let look = async {
        let range = listing.range(client.settings().settle_days);
        for what in [What::Totals, What::Pages] {
            let stock = exports.stock(range.clone(), what, 1).await?;
            if let Some(totals) = stock.held.and_then(|export| export.totals) {
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
pub(crate) fn decode(listing: &Listing, export: i64, page: &store::Page) -> Result<Page, Fault> {
    let damaged = |why| Fault::Damaged(format!("page {} of export {export}: {why}", page.offset));
    listing.decode(&page.body).map_err(damaged)
}

/// Writes a page that came for `(offset, limit)`. It is written also where nobody waits for it any more: where that
/// takes longer than the call may, its rows are handed out before.
async fn keep(
    exports: &Exports,
    export: &Export,
    asked: &Asked,
    (offset, limit): (u64, u32),
    deadline: Instant,
    observer: &dyn Observer,
) -> Result<()> {
    let Asked { page, body, date } = asked;
    let (rows, has_more) = (page.rows.len() as u64, page.has_more);
    // The service's clock is a second opinion: what it has sent today is no answer of tomorrow.
    let now = exports.now();
    let seen = date.filter(|date| *date < now - DATE_STEPS).unwrap_or(now);
    let stored = store::Page { offset, asked: limit, rows, has_more, seen, body: body.to_vec() };
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
        let mut deadline = self.client.deadline();
        let look = async {
            let range = || self.listing.range(self.client.settings().settle_days);
            let begin = || self.exports.begin(range(), What::Pages, self.page_size, self.anew);
            let export = self.export.get_or_try_init(begin).await?;
            Ok((export, self.look(export, offset, limit).await?))
        };
        let (export, found) = self.exports.within(deadline, look).await?;
        let mut buy = async |offset, limit| self.buy(export, offset, limit, &mut deadline, observer).await;
        match found {
            Found::Page(page) => return Ok(page),
            Found::Around { page, skip } => {
                let page = match page {
                    Some(page) => page,
                    None => buy(offset - skip, self.page_size).await?,
                };
                let mut rest = Part::new(limit);
                if rest.add(page, skip)? || rest.count > 0 {
                    return Ok(rest.page());
                }
            }
            Found::Nothing => {}
        }
        buy(offset, limit).await
    }

    /// What the store has for `limit` rows from `offset`.
    async fn look(&self, export: &Export, offset: u64, limit: u32) -> Result<Found> {
        if let Some((page, asked)) = self.held(export, offset).await?
            && (asked == limit || (!page.has_more && page.rows.len() <= limit as usize))
        {
            return Ok(Found::Page(page));
        }
        if is_regular(export)
            && let Some(page) = self.part(export, offset, limit).await?
        {
            return Ok(Found::Page(page));
        }
        let size = u64::from(self.page_size);
        let skip = offset % size;
        if skip > 0 && skip + u64::from(limit) == size {
            let page = self.held(export, offset - skip).await?.map(|(page, _)| page);
            return Ok(Found::Around { page, skip });
        }
        Ok(Found::Nothing)
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

    /// Asks the service, and keeps what came.
    async fn buy(
        &self,
        export: &Export,
        offset: u64,
        limit: u32,
        deadline: &mut Instant,
        observer: &dyn Observer,
    ) -> Result<Page> {
        let asked = self.listing.ask(&self.client, offset, limit, deadline, observer).await?;
        if export.finished.is_none() {
            keep(&self.exports, export, &asked, (offset, limit), *deadline, observer).await?;
        }
        Ok(asked.page)
    }
}

/// What the store has of the rows that are wanted.
enum Found {
    /// All of them.
    Page(Page),
    /// They are the end of a whole page, which is here if the store has it, behind `skip` other rows.
    Around { page: Option<Page>, skip: u64 },
    /// Nothing that would serve.
    Nothing,
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
