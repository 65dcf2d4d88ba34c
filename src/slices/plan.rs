//! The cost of a range, before anything is sent.

use crate::client::Client;
use crate::clock::Millis;
use crate::config::url::Segment;
use crate::dates::slices::Slice;
use crate::error::Result;
use crate::listing::Listing;
use crate::listing::endpoint::PagedBy;
use crate::slices::Subject;
use crate::store::{Content, Export, Range, StoredRange};

/// The number of ranges for an estimate: days of a whole week, because weekends differ.
const MAX_NEIGHBOURS: usize = 7;

#[derive(Debug)]
pub struct Plan {
    pub content: Content,
    pub slices: Vec<PlannedSlice>,
    /// See [`hours`].
    pub hours: Option<f64>,
}

#[derive(Debug)]
pub struct PlannedSlice {
    pub slice: Slice,
    pub requests: u64,
    /// Requests whose answers are in the store.
    pub cached: u64,
    /// Whether `requests` is known. Otherwise it is an estimate or a minimum.
    pub exact: bool,
    /// Whether it is an estimate, from the slice's last export or from the ranges around it.
    pub estimated: bool,
}

impl Plan {
    pub fn requests(&self) -> u64 {
        self.slices.iter().map(|slice| slice.requests).sum()
    }
}

/// Looks into the store; sends nothing.
pub async fn plan(
    client: &Client,
    project: &Segment,
    slices: Vec<Slice>,
    of: Subject,
) -> Result<Plan> {
    let mut plan = Plan {
        content: of.content,
        slices: Vec::with_capacity(slices.len()),
        hours: None,
    };
    let mut neighbours = None;
    for slice in slices {
        let stored = stored_slice(client, of, project, slice).await?;
        let mut cost = stored.cost(of, slice);
        if !cost.exact && !cost.estimated {
            if neighbours.is_none()
                && let Some(exports) = client.exports()
            {
                let range = range(client, of, project, slice);
                neighbours = Some(exports.neighbours(range).await?);
            }
            cost.estimate(
                neighbours.as_deref().unwrap_or_default(),
                of.endpoint.max_page_size,
            );
        }
        plan.slices.push(cost);
    }
    plan.hours = hours(client, plan.requests()).await?;
    Ok(plan)
}

/// Hours to wait for the budget until `requests` were sent, rounded up to whole ones; `None`
/// without a budget.
pub(crate) async fn hours(client: &Client, requests: u64) -> Result<Option<f64>> {
    let Some(budget) = client.budget() else {
        return Ok(None);
    };
    let beyond = requests.saturating_sub(budget.left().await?);
    let hours = beyond.div_ceil(budget.per_hour().max(1));
    Ok(Some(f64::from(u32::try_from(hours).unwrap_or(u32::MAX))))
}

/// The part of a slice that is in the store.
#[derive(Debug, Default)]
pub(crate) struct StoredSlice {
    pages: StoredRange,
    /// Whether nothing of it has to be fetched.
    pub(crate) cached: bool,
    /// The time of its last fetch, final or not.
    pub(crate) fetched: Option<Millis>,
}

impl StoredSlice {
    /// The slice's cost, by its own exports in the store.
    pub(crate) fn cost(&self, of: Subject, slice: Slice) -> PlannedSlice {
        let (stock, page_size) = (&self.pages, of.endpoint.max_page_size);
        if of.content == Content::Totals || of.endpoint.paged_by == PagedBy::Nothing {
            return cost(slice, u64::from(!self.cached), self.cached.into());
        }
        if let Some(cached) = &stock.finished {
            return cost(slice, 0, cached.pages);
        }
        // The number of pages in the last export.
        let known =
            stock
                .latest
                .as_ref()
                .map(|export: &Export| match export.page_size == page_size {
                    true => export.pages,
                    false => export.rows.div_ceil(u64::from(page_size)),
                });
        let cached = stock.unfinished.as_ref().map_or(0, |export| export.pages);
        let requests = known.unwrap_or_default().saturating_sub(cached).max(1);
        PlannedSlice {
            exact: false,
            estimated: known.is_some(),
            ..cost(slice, requests, cached)
        }
    }
}

/// The part of a slice that the store has. If the client is set to refresh, nothing counts as
/// cached; the last export stays known, for the estimate.
pub(crate) async fn stored_slice(
    client: &Client,
    of: Subject,
    project: &Segment,
    slice: Slice,
) -> Result<StoredSlice> {
    let mut stored = in_store(client, of, project, slice).await?;
    if client.settings().refresh {
        stored.cached = false;
        (stored.pages.finished, stored.pages.unfinished) = (None, None);
    }
    Ok(stored)
}

/// The part of a slice that is in the store.
pub(crate) async fn in_store(
    client: &Client,
    of: Subject,
    project: &Segment,
    slice: Slice,
) -> Result<StoredSlice> {
    let Some(exports) = client.exports() else {
        return Ok(StoredSlice::default());
    };
    let (range, page_size) = (range(client, of, project, slice), of.endpoint.max_page_size);
    let begun = |stored: &StoredRange| stored.latest.as_ref().map(|export| export.begun);
    let pages = exports
        .stored_range(range.clone(), Content::Pages, page_size)
        .await?;
    let (mut cached, mut fetched) = (pages.finished.is_some(), begun(&pages));
    if of.content == Content::Totals && !cached {
        // Totals come with the first page. They are fetched alone if nothing else is wanted.
        let totals = exports.stored_range(range, of.content, 1).await?;
        (cached, fetched) = (totals.finished.is_some(), fetched.max(begun(&totals)));
    }
    Ok(StoredSlice {
        pages,
        cached,
        fetched,
    })
}

fn range(client: &Client, of: Subject, project: &Segment, slice: Slice) -> Range {
    Range::of(
        &Listing::days(of.endpoint, project, slice),
        client.settings().settle_days,
    )
}

/// A cost that is known.
fn cost(slice: Slice, requests: u64, cached: u64) -> PlannedSlice {
    PlannedSlice {
        slice,
        requests,
        cached,
        exact: true,
        estimated: false,
    }
}

impl PlannedSlice {
    /// Estimates the cost from other ranges and their numbers of rows: the mean of the nearest
    /// ranges of about the same length, or else of any length, because most paths are read every
    /// day. It is never less than a range within this one.
    fn estimate(&mut self, ranges: &[(Slice, u64)], page_size: u32) {
        let is_within = |days: &Slice| self.slice.from <= days.from && days.to <= self.slice.to;
        let is_alike = |days: &Slice| {
            let (length, own) = (days.count(), self.slice.count());
            length <= 2 * own && own <= 2 * length
        };
        let least = ranges
            .iter()
            .filter(|(days, _)| is_within(days))
            .map(|(_, rows)| *rows)
            .max();
        let any = !ranges.iter().any(|(days, _)| is_alike(days));
        let mut alike: Vec<_> = ranges
            .iter()
            .filter(|(days, _)| any || is_alike(days))
            .collect();
        alike.sort_by_key(|(days, _)| (days.from - self.slice.from).get_days().abs());
        alike.truncate(MAX_NEIGHBOURS);
        let sum: u64 = alike.iter().map(|(_, rows)| *rows).sum();
        let mean = (!alike.is_empty()).then(|| sum.div_ceil(alike.len() as u64));
        let Some(rows) = mean.max(least) else { return };
        let pages = rows.div_ceil(u64::from(page_size));
        self.requests = self.requests.max(pages.saturating_sub(self.cached));
        self.estimated = true;
    }
}
