//! What a range costs, before anything is sent.

use crate::client::Client;
use crate::clock::Millis;
use crate::config::url::Segment;
use crate::dates::slices::Slice;
use crate::error::Result;
use crate::export::pager::Paging;
use crate::listing::Listing;
use crate::store::{Export, Stock, What};

/// What some slices cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The slices, in order.
    pub slices: Vec<Planned>,
    /// Hours to wait for the budget, rounded up to whole ones; `None` where there is none.
    pub hours: Option<f64>,
}

/// What a slice costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Planned {
    /// Its days.
    pub slice: Slice,
    /// Requests to be sent.
    pub requests: u64,
    /// Requests whose answers are in the store.
    pub held: u64,
    /// Whether `requests` is known; else it is a floor.
    pub exact: bool,
}

impl Plan {
    /// Requests to be sent in all.
    pub fn requests(&self) -> u64 {
        self.slices.iter().map(|slice| slice.requests).sum()
    }
}

/// Looks into the store; sends nothing.
pub async fn plan(client: &Client, project: &Segment, slices: Vec<Slice>, what: What) -> Result<Plan> {
    let mut planned = Vec::with_capacity(slices.len());
    for slice in slices {
        let on_hand = on_hand(client, project, slice, what).await?;
        planned.push(match what {
            What::Totals => cost(slice, u64::from(!on_hand.held), u64::from(on_hand.held), true),
            What::Pages => pages(slice, &on_hand.pages),
        });
    }
    let mut plan = Plan { slices: planned, hours: None };
    if let Some(budget) = client.budget() {
        let beyond = plan.requests().saturating_sub(budget.left().await?);
        let hours = beyond.div_ceil(budget.per_hour().max(1));
        plan.hours = Some(f64::from(u32::try_from(hours).unwrap_or(u32::MAX)));
    }
    Ok(plan)
}

/// What the store has of a slice.
#[derive(Debug, Default)]
pub(crate) struct OnHand {
    pages: Stock,
    /// Whether nothing of it has to be bought.
    pub(crate) held: bool,
    /// When it was bought last, whether it had settled by then or not.
    pub(crate) bought: Option<Millis>,
}

pub(crate) async fn on_hand(client: &Client, project: &Segment, slice: Slice, what: What) -> Result<OnHand> {
    let Some(exports) = client.exports() else {
        return Ok(OnHand::default());
    };
    let range = Listing::days(project, slice).range(client.settings().settle_days);
    let begun = |stock: &Stock| stock.latest.as_ref().map(|export| export.begun);
    let pages = exports.stock(range.clone(), What::Pages, Paging::PAGE_SIZE).await?;
    let (mut held, mut bought) = (pages.held.is_some(), begun(&pages));
    if what == What::Totals && !held {
        // They come with the first page, and are bought alone where nothing else is wanted.
        let totals = exports.stock(range, what, 1).await?;
        (held, bought) = (totals.held.is_some(), bought.max(begun(&totals)));
    }
    Ok(OnHand { pages, held, bought })
}

fn cost(slice: Slice, requests: u64, held: u64, exact: bool) -> Planned {
    Planned { slice, requests, held, exact }
}

fn pages(slice: Slice, stock: &Stock) -> Planned {
    if let Some(held) = &stock.held {
        return cost(slice, 0, held.pages, true);
    }
    // As many as the last time.
    let known = stock.latest.as_ref().map(|export: &Export| match export.page_size {
        Paging::PAGE_SIZE => export.pages,
        _ => export.rows.div_ceil(u64::from(Paging::PAGE_SIZE)),
    });
    let held = stock.unfinished.as_ref().map_or(0, |export| export.pages);
    let requests = known.unwrap_or_default().saturating_sub(held).max(1);
    cost(slice, requests, held, known.is_some())
}
