//! Reads a slice page by page, or its totals. Trend, comparison and sync read theirs here.

use std::sync::Arc;

use jiff::civil::Date;
use tokio::time::{Instant, timeout_at};

use crate::client::Client;
use crate::config::url::Segment;
use crate::dates::slices::Slice;
use crate::error::{Error, Kind, Result};
use crate::export::checkpoint::Checkpoint;
use crate::export::observer::{ExportObserver, Relay};
use crate::export::page::Source;
use crate::export::pager::{CheckedPage, Pager, Paging};
use crate::export::source;
use crate::listing::Listing;
use crate::listing::columns::Cell;
use crate::listing::endpoint::COUNTS;
use crate::listing::page::Totals;
use crate::listing::rows::RowsBuilder;
use crate::slices::Subject;
use crate::slices::plan::in_store;
use crate::store::{Content, is_final};
use crate::table::layout::Layout;
use crate::table::{Table, TableBuilder};

/// The totals of a slice, if its endpoint has them, and the findings in it, in words.
pub(crate) type SliceResult = (Option<Totals>, Vec<String>);

/// A pager over all pages of `listing`.
pub(crate) fn pager(
    base_url: &str,
    listing: Listing,
    page_size: u32,
    window: Option<usize>,
    source: impl FnOnce(&Checkpoint) -> Arc<dyn Source>,
) -> Pager {
    let place = Checkpoint::new(base_url, listing, page_size, 0);
    let paging = Paging {
        max_rows: None,
        prefetch: 1,
        strict: false,
        window,
    };
    Pager::new(source(&place), place, paging)
}

/// Gives every page to `take`.
pub(crate) async fn read_pages(
    pager: &mut Pager,
    observer: &Arc<dyn ExportObserver>,
    mut take: impl FnMut(CheckedPage) + Send,
) -> Result<SliceResult> {
    while let Some(mut page) = pager.next_page(observer).await? {
        observer.found(std::mem::take(&mut page.findings));
        take(page);
    }
    Ok((pager.totals(), pager.warnings()))
}

/// Reads slices, and counts the requests, also if one fails.
pub(crate) struct SliceReader<'a> {
    pub(crate) client: &'a Client,
    pub(crate) observer: Arc<dyn ExportObserver>,
    pub(crate) requests: u64,
    /// The time at which every read ends with an error.
    pub(crate) until: Option<Instant>,
}

impl<'a> SliceReader<'a> {
    pub(crate) fn new(client: &'a Client, observer: Arc<dyn ExportObserver>) -> Self {
        Self {
            client,
            observer,
            requests: 0,
            until: None,
        }
    }

    /// Whether the time to read is over.
    pub(crate) fn is_late(&self) -> bool {
        self.until.is_some_and(|until| until <= Instant::now())
    }

    /// Whether a slice may still change, if it is fetched now.
    pub(crate) fn may_change(&self, slice: Slice) -> bool {
        let now = self.client.now();
        !is_final(now, slice.settles(self.client.settings().settle_days), now)
    }

    /// Whether a slice that was fetched may still change. A store knows better than this machine's
    /// clock, which may have been ahead of the service's.
    pub(crate) async fn is_open(
        &self,
        of: Subject,
        project: &Segment,
        slice: Slice,
    ) -> Result<bool> {
        let may_change = self.may_change(slice);
        if may_change || self.client.exports().is_none() {
            return Ok(may_change);
        }
        Ok(!in_store(self.client, of, project, slice).await?.cached)
    }

    /// Reads a slice, and gives its pages to `take`; its totals alone have none. `refresh`:
    /// pages of earlier exports are not used. Totals follow the client's own setting.
    pub(crate) async fn read(
        &mut self,
        of: Subject,
        project: &Segment,
        slice: Slice,
        refresh: bool,
        window: Option<usize>,
        take: impl FnMut(CheckedPage) + Send,
    ) -> Result<SliceResult> {
        let (client, settings) = (self.client, self.client.settings());
        let listing = Listing::days(of.endpoint, project, slice);
        match of.content {
            Content::Totals => {
                let relay = Arc::new(Relay::default());
                let _listening = relay.listen(&self.observer);
                let asked = relay.asked();
                let totals = source::totals(client, &listing, &*asked);
                let totals = in_time(self.until, totals).await;
                self.requests += relay.requests();
                Ok((Some(totals?), Vec::new()))
            }
            Content::Pages => {
                let (base_url, page_size) = (settings.base_url.as_str(), of.endpoint.max_page_size);
                let refresh = refresh || settings.refresh;
                let mut pager = pager(base_url, listing, page_size, window, |place| {
                    source::source(client.clone(), place, refresh)
                });
                let reading = read_pages(&mut pager, &self.observer, take);
                let ended = in_time(self.until, reading).await;
                self.requests += pager.requests();
                ended
            }
        }
    }
}

/// Ends `work` with an error at `until`.
async fn in_time<T>(
    until: Option<Instant>,
    work: impl Future<Output = Result<T>> + Send,
) -> Result<T> {
    match until {
        None => work.await,
        Some(until) => timeout_at(until, work)
            .await
            .unwrap_or_else(|_| Err(Error::new(Kind::Timeout, "the time of the sync is over"))),
    }
}

/// The slices of a range as a table.
#[derive(Debug)]
pub struct SlicedTable {
    /// A row for each slice (its totals), or all rows of each slice.
    pub table: Table,
    /// Findings, in words.
    pub warnings: Vec<String>,
    /// Requests that were sent, retries included.
    pub requests: u64,
    /// The first day of the first slice that may still change.
    pub open_from: Option<Date>,
    /// The ends of slices that were not over when they were fetched.
    pub running: Vec<Date>,
}

/// Slices on their way into a table.
pub(crate) struct SlicedTableBuilder {
    pub(crate) rows: TableBuilder,
    warnings: Vec<String>,
    is_whole: bool,
}

impl SlicedTableBuilder {
    /// `is_whole`: the range is one slice, so no row names its days.
    pub(crate) fn new(of: Subject, is_whole: bool) -> Self {
        let fields = match of.content {
            Content::Pages => of.endpoint.fields,
            Content::Totals => COUNTS,
        };
        let days = !is_whole;
        Self {
            rows: TableBuilder::new(Layout { days, fields }),
            warnings: Vec::new(),
            is_whole,
        }
    }

    /// Ends a slice; `totals` are its only row, if it has no others.
    pub(crate) fn end_slice(&mut self, days: Slice, totals: Option<Totals>, found: Vec<String>) {
        if let Some(totals) = totals {
            let mut row = RowsBuilder::new(COUNTS, None, 1);
            row.push(<[i64; 3]>::from(totals).map(Cell::Integer));
            self.rows.extend(&row.finish());
        }
        if self.is_whole {
            self.warnings.extend(found);
            return;
        }
        let named = found.iter().map(|found| format!("{}: {found}", days.from));
        self.warnings.extend(named);
        self.rows.end_slice(days);
    }

    pub(crate) fn finish(
        mut self,
        requests: u64,
        open_from: Option<Date>,
        running: Vec<Date>,
    ) -> SlicedTable {
        let may_still_change = |from| {
            format!("some data from {from} on may still change, or was fetched before it was final")
        };
        self.warnings.extend(open_from.map(may_still_change));
        SlicedTable {
            table: self.rows.finish(),
            warnings: self.warnings,
            requests,
            open_from,
            running,
        }
    }
}
