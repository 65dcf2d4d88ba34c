//! A range slice by slice: what each has, as a table.

use std::sync::Arc;

use jiff::civil::Date;
use tokio::time::{Instant, timeout_at};

use crate::client::Client;
use crate::config::url::Segment;
use crate::dates::slices::Slice;
use crate::error::{Error, Kind, Result};
use crate::export::checkpoint::Checkpoint;
use crate::export::observer::{ExportObserver, Relay};
use crate::export::pager::{Pager, Paging, Turn};
use crate::export::source;
use crate::listing::Listing;
use crate::listing::columns::Cell;
use crate::listing::endpoint::COUNTS;
use crate::listing::page::Totals;
use crate::listing::rows::{Rows, RowsBuilder};
use crate::slices::Subject;
use crate::slices::plan::in_store;
use crate::store::{What, is_final};
use crate::table::layout::Layout;
use crate::table::{Table, TableBuilder};

/// The rows of each slice of a range.
#[derive(Debug)]
pub struct Trend {
    /// A row a slice, or a row a slice and path.
    pub table: Table,
    /// Findings, in words.
    pub warnings: Vec<String>,
    /// Requests that were sent, retries included.
    pub requests: u64,
    /// From which day on slices may still change.
    pub open_from: Option<Date>,
    /// The ends of slices that were not over when they were read.
    pub running: Vec<Date>,
}

/// Reads the slices of a range, one after another.
pub async fn trend(
    client: &Client,
    project: &Segment,
    slices: &[Slice],
    of: Subject,
    observer: Arc<dyn ExportObserver>,
) -> Result<Trend> {
    let fields = if of.what == What::Pages {
        of.endpoint.fields
    } else {
        COUNTS
    };
    let mut builder = TableBuilder::new(Layout::sliced(fields));
    let mut reader = Reader::new(client, observer);
    let mut warnings = Vec::new();
    let mut running = Vec::new();
    for (&slice, done) in slices.iter().zip(1..) {
        // Asked for each slice: a budget may hold up a trend for days.
        running.extend((slice.to > client.today()).then_some(slice.to));
        match of.what {
            What::Totals => builder.extend(&of_site(reader.totals(of, project, slice).await?)),
            What::Pages => {
                let take = |turn: Turn| builder.extend(&turn.rows);
                let (_, found) = reader.pages(of, project, slice, false, None, take).await?;
                warnings.extend(
                    found
                        .into_iter()
                        .map(|found| format!("{}: {found}", slice.from)),
                );
            }
        }
        builder.end_slice(slice);
        reader.observer.progress(done);
    }
    let mut open_from = None;
    for &slice in slices {
        if reader.is_open(of, project, slice).await? {
            open_from = Some(slice.from);
            break;
        }
    }
    warnings.extend(open_from.map(may_still_change));
    Ok(Trend {
        table: builder.finish(),
        warnings,
        requests: reader.requests,
        open_from,
        running,
    })
}

/// The warning about slices that are not final.
pub(crate) fn may_still_change(from: Date) -> String {
    format!(
        "the slices from {from} on may still change, because they ended only recently or have not ended yet"
    )
}

/// The totals as a row of their own.
pub(crate) fn of_site(totals: Totals) -> Rows {
    let mut rows = RowsBuilder::new(COUNTS, None, 1);
    rows.push(<[i64; 3]>::from(totals).map(Cell::Integer));
    rows.finish()
}

/// Reads slices, and counts what that costs, also where it fails.
pub(crate) struct Reader<'a> {
    pub(crate) client: &'a Client,
    pub(crate) observer: Arc<dyn ExportObserver>,
    pub(crate) requests: u64,
    /// The time at which every read ends with an error.
    pub(crate) until: Option<Instant>,
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

impl<'a> Reader<'a> {
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

    /// Whether a slice that was fetched may still change: a store knows better than this machine's clock, which may
    /// have been ahead of the service's.
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

    pub(crate) async fn totals(
        &mut self,
        of: Subject,
        project: &Segment,
        slice: Slice,
    ) -> Result<Totals> {
        let relay = Arc::new(Relay::default());
        let _listening = relay.listen(Arc::<dyn ExportObserver>::clone(&self.observer));
        let listing = Listing::days(of.endpoint, project, slice);
        let asked = relay.asked();
        let totals = in_time(self.until, source::totals(self.client, &listing, &*asked)).await;
        self.requests += relay.requests();
        totals
    }

    /// Gives every page to `take`; returns the totals, if the endpoint has them, and what was found on the way, in words.
    /// `refresh`: stored pages are not used.
    pub(crate) async fn pages(
        &mut self,
        of: Subject,
        project: &Segment,
        slice: Slice,
        refresh: bool,
        window: Option<usize>,
        mut take: impl FnMut(Turn) + Send,
    ) -> Result<(Option<Totals>, Vec<String>)> {
        let (base_url, page_size) = (
            self.client.settings().base_url.as_str(),
            of.endpoint.max_page_size,
        );
        let listing = Listing::days(of.endpoint, project, slice);
        let place = Checkpoint::new(base_url, listing, page_size, 0);
        let paging = Paging {
            max_rows: None,
            prefetch: 1,
            strict: false,
            window,
        };
        let mut pager = Pager::new(
            source::source(
                self.client.clone(),
                &place,
                refresh || self.client.settings().refresh,
            ),
            place,
            paging,
        );
        let ended = loop {
            match in_time(self.until, pager.next_page(&self.observer)).await {
                Ok(Some(mut turn)) => {
                    self.observer.found(std::mem::take(&mut turn.findings));
                    take(turn);
                }
                Ok(None) => break Ok((pager.totals(), pager.warnings())),
                Err(error) => break Err(error),
            }
        };
        self.requests += pager.requests();
        ended
    }
}
