//! The pages of a listing: from the store if it has them, otherwise from the service, and kept in
//! the store.
//!
//! Whole pages are fetched, counted from the beginning or from the end of a short page, whichever
//! part is read, so that other readers can use them. Pages that a cursor names are kept only where
//! the pages before them are. Stored rows come in the pages as they were fetched, with any page
//! size.

use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::sync::{Mutex, oneshot};
use tokio::time::{Instant, timeout_at};

use crate::client::observer::{Note, Observer};
use crate::client::policy::MIN_TIME_LEFT;
use crate::clock::Millis;
use crate::dates::slices::Slice;
use crate::error::Result;
use crate::export::flight;
use crate::export::page::{FetchedPage, PageRequest, Source};
use crate::export::service::ServicePages;
use crate::listing::cursor;
use crate::listing::endpoint::PagedBy;
use crate::listing::page::Page;
use crate::lock;
use crate::store::{self, Content, Export, Exports, Fault, Range};

/// A `Date` header that is earlier by at most this much does not show that this machine's clock is
/// ahead: it is in whole seconds, and the answer took time to come.
const DATE_STEPS: Millis = 2_000;

/// Writes a page that came for `(offset, limit)`. The store goes on trying after the caller
/// has left; a failure then is not reported. If the write takes longer than the call may, the rows
/// are handed out before it ends.
pub(super) async fn keep(
    service: &ServicePages,
    exports: &Exports,
    export: &Export,
    fetched: &mut FetchedPage,
    (offset, limit): (u64, u32),
    deadline: Instant,
    observer: &dyn Observer,
) -> Result<()> {
    let FetchedPage {
        page,
        asked,
        date,
        lock,
        ..
    } = fetched;
    // Checked against the service's clock, in case this machine's is ahead.
    let now = exports.0.clock.now();
    let stored = store::StoredPage {
        offset,
        asked: limit,
        rows: page.rows.len() as u64,
        has_more: page.has_more,
        seen: date.filter(|date| *date < now - DATE_STEPS).unwrap_or(now),
        body: fetched.body.take().unwrap_or_default().to_vec(),
    };
    let deadline = deadline.max(Instant::now() + MIN_TIME_LEFT);
    let put = exports.put(export.id, stored, page.totals, *asked, *date, lock.take());
    if let Ok(kept) = timeout_at(deadline, put).await {
        return kept.map(drop);
    }
    let fault = Fault::Late.error(exports.0.store.path());
    let text = format!(
        "the answer is returned, although the store could not keep it yet: {}. If it cannot within half a minute, the page \
         is fetched again when it is next asked for",
        fault.message
    );
    observer.note(Note::warning(text, service.about().with(&fault)));
    Ok(())
}

pub(super) struct StoredPages {
    service: ServicePages,
    exports: Exports,
    page_size: u32,
    refresh: bool,
    /// The slice, and its export in the store, which the first page finds or begins.
    export: Mutex<Option<(Option<Slice>, Export)>>,
    /// The page after the stored page that was read last: the export, the offset and the cursor.
    leads_to: std::sync::Mutex<Option<(i64, u64, String)>>,
}

impl StoredPages {
    /// The pages of an export with this page size. `refresh`: pages of
    /// earlier exports are not used.
    pub(super) fn new(
        service: ServicePages,
        exports: Exports,
        page_size: u32,
        refresh: bool,
    ) -> Self {
        Self {
            service,
            exports,
            page_size,
            refresh,
            export: Mutex::default(),
            leads_to: std::sync::Mutex::default(),
        }
    }
}

impl Source for StoredPages {
    /// Never promises another page.
    fn fetch(
        self: Arc<Self>,
        wanted: PageRequest,
        _more: oneshot::Sender<()>,
        observer: Arc<dyn Observer>,
    ) -> BoxFuture<'static, Result<FetchedPage>> {
        async move {
            let mut deadline = self.service.client.deadline();
            let look = async {
                let export = self.export(wanted.days).await?;
                let is_led_to = self.is_led_to(&export, &wanted).await?;
                let found = match is_led_to {
                    true => self.find(&export, &wanted).await?,
                    false => Err(wanted.offset),
                };
                Ok((export, is_led_to, found))
            };
            let (export, keeps, found) = self.exports.0.store.within(deadline, look).await?;
            let start = match found {
                Ok(page) => {
                    let (skip, limit) = left_of(page.asked, wanted.offset - page.offset);
                    let stored = Some((export.id, page.offset));
                    let page = without(self.read(export.id, &page)?, skip);
                    return Ok(FetchedPage {
                        stored,
                        ..FetchedPage::new(page, limit)
                    });
                }
                Err(offset) => offset,
            };
            let mut asking = PageRequest {
                offset: start,
                limit: self.page_size,
                ..wanted.clone()
            };
            let kept_in = keeps.then_some(&export);
            let mut page = self
                .ask(kept_in, &asking, &mut deadline, &*observer)
                .await?;
            let (mut skip, mut limit) = left_of(self.page_size, wanted.offset - asking.offset);
            if page.has_more && skip >= page.rows.len() && skip > 0 {
                // The page is short, so the row is not where its offset says.
                asking.offset = wanted.offset;
                page = self
                    .ask(kept_in, &asking, &mut deadline, &*observer)
                    .await?;
                (skip, limit) = (0, self.page_size);
            }
            Ok(FetchedPage {
                stored: keeps.then_some((export.id, asking.offset)),
                ..FetchedPage::new(without(page, skip), limit)
            })
        }
        .boxed()
    }

    fn reject(
        self: Arc<Self>,
        (export, offset): (i64, u64),
        observer: Arc<dyn Observer>,
    ) -> BoxFuture<'static, ()> {
        async move {
            let rejected = async {
                if let Some((_, known)) = &mut *self.export.lock().await {
                    known.finished = None;
                }
                self.exports.reject(export, offset).await
            };
            let deadline = Instant::now() + MIN_TIME_LEFT;
            let store = &self.exports.0.store;
            if let Err(fault) = store.within(deadline, rejected).await {
                let text = format!(
                    "the store still has a page that breaks the paging rule: {}",
                    fault.message
                );
                observer.note(Note::warning(text, self.service.about().with(&fault)));
            }
        }
        .boxed()
    }
}

impl StoredPages {
    /// The export of a slice, or of the whole range.
    async fn export(&self, days: Option<Slice>) -> Result<Export> {
        let mut known = self.export.lock().await;
        if let Some((of, export)) = &*known
            && *of == days
        {
            return Ok(export.clone());
        }
        let settle_days = self.service.client.settings().settle_days;
        let range = Range::of(&self.service.listing.part(days), settle_days);
        let begun = self
            .exports
            .begin(range, Content::Pages, self.page_size, self.refresh);
        let (_, export) = known.insert((days, begun.await?));
        Ok(export.clone())
    }

    /// Whether the export's pages lead to the wanted one. With cursors, another process may have
    /// begun the export at another time. Its cursors then lead to other pages.
    async fn is_led_to(&self, export: &Export, wanted: &PageRequest) -> Result<bool> {
        let Some(cursor) = &wanted.cursor else {
            return Ok(true);
        };
        let here = Some((export.id, wanted.offset, cursor.clone()));
        if *lock(&self.leads_to) != here
            && let Some(before) = self.exports.page_before(export.id, wanted.offset).await?
        {
            self.read(export.id, &before)?;
        }
        Ok(*lock(&self.leads_to) == here)
    }

    /// Reads a stored page, and remembers the page that it leads to.
    fn read(&self, export: i64, stored: &store::StoredPage) -> Result<Page> {
        let path = self.exports.0.store.path();
        let page = FetchedPage::stored(&self.service.listing, export, stored, path)?.page;
        self.remember_next(export, stored.offset, &page);
        Ok(page)
    }

    /// Remembers the page that a stored page leads to.
    fn remember_next(&self, export: i64, offset: u64, page: &Page) {
        let base_url = self.service.client.settings().base_url.as_str();
        let cursor = page.cursor.as_ref();
        let cursor = cursor.and_then(|sent| cursor::plain(base_url, sent).ok());
        let next = offset + page.rows.len() as u64;
        *lock(&self.leads_to) = cursor.map(|cursor| (export, next, cursor));
    }

    /// The page with the row at an offset, or the offset of the whole page to fetch. The stored
    /// page may be longer or shorter than the wanted one.
    async fn find(
        &self,
        export: &Export,
        wanted: &PageRequest,
    ) -> Result<Result<store::StoredPage, u64>> {
        let &PageRequest {
            offset, regular, ..
        } = wanted;
        if let Some(page) = self.exports.page(export.id, offset).await? {
            return Ok(Ok(page));
        }
        if !regular {
            return Ok(Err(offset));
        }
        Ok(match self.exports.page_before(export.id, offset).await? {
            // After the last row, the last page says that there are no more.
            Some(page) if offset - page.offset < page.rows || !page.has_more => Ok(page),
            before => {
                // Calls count whole pages from there on, so that calls at the same time join, also
                // after a short page.
                let led_to = before.map_or(0, |page| page.next());
                Err(offset - offset.saturating_sub(led_to) % u64::from(self.page_size))
            }
        })
    }

    /// Asks the service for a page, and keeps it in an unfinished export. Another call may get it
    /// first.
    async fn ask(
        &self,
        export: Option<&Export>,
        asking: &PageRequest,
        deadline: &mut Instant,
        observer: &dyn Observer,
    ) -> Result<Page> {
        let service = &self.service;
        let export = export.filter(|export| export.finished.is_none());
        let mut asked = match export {
            None => service.ask(asking, None, deadline, observer).await?,
            Some(&Export { id, .. }) => {
                let kept_in = (&self.exports, id);
                let fetched = flight::ask(service, kept_in, asking, deadline, observer).await?;
                if fetched.body.is_none() {
                    self.remember_next(id, asking.offset, &fetched.page);
                    return Ok(fetched.page);
                }
                fetched
            }
        };
        let (rows, by) = (asked.page.rows.len(), service.listing.paged_by());
        // If pages name each other, the next one is found by the number of rows before it.
        let limit = match by {
            PagedBy::Offset => self.page_size,
            _ => u32::try_from(rows).unwrap_or(u32::MAX),
        };
        let is_last_there_is = by == PagedBy::Nothing && std::mem::take(&mut asked.page.has_more);
        let leads_on = by == PagedBy::Offset
            || !asked.page.has_more
            || (rows > 0 && asked.page.cursor.is_some());
        if let Some(export) = export.filter(|_| leads_on) {
            let (exports, place) = (&self.exports, (asking.offset, limit));
            let kept = keep(
                service, exports, export, &mut asked, place, *deadline, observer,
            );
            kept.await?;
        }
        asked.page.has_more |= is_last_there_is;
        Ok(asked.page)
    }
}

/// How many rows of a page that was asked for `asked` come before the one that is `into` it, and
/// how many are left.
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
