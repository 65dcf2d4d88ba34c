//! The trend of a range: its slices, one after another, from the service or the client's store.

use std::sync::Arc;

use crate::client::Client;
use crate::config::url::Segment;
use crate::dates::slices::Slice;
use crate::error::Result;
use crate::export::observer::ExportObserver;
use crate::export::pager::CheckedPage;
use crate::slices::Subject;
use crate::slices::reader::{SliceReader, SlicedTable, SlicedTableBuilder};
use crate::store::Content;

/// Reads the slices of a range, one after another.
pub async fn trend(
    client: &Client,
    project: &Segment,
    slices: &[Slice],
    of: Subject,
    observer: Arc<dyn ExportObserver>,
) -> Result<SlicedTable> {
    let mut reader = SliceReader::new(client, observer);
    let (mut builder, mut running) = (SlicedTableBuilder::new(of, false), Vec::new());
    for (&slice, done) in slices.iter().zip(1..) {
        // Asked for each slice: a budget may hold up a trend for days.
        running.extend((slice.to > client.today()).then_some(slice.to));
        let rows = &mut builder.rows;
        let take = |page: CheckedPage| rows.extend(&page.rows);
        let (totals, found) = reader.read(of, project, slice, false, None, take).await?;
        let totals = totals.filter(|_| of.content == Content::Totals);
        builder.end_slice(slice, totals, found);
        reader.observer.progress(done);
    }
    let mut open_from = None;
    for &slice in slices {
        if reader.is_open(of, project, slice).await? {
            open_from = Some(slice.from);
            break;
        }
    }
    Ok(builder.finish(reader.requests, open_from, running))
}
