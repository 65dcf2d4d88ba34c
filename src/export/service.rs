//! The pages of a listing from the service.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::Method;
use tokio::time::Instant;
use xxhash_rust::xxh3::xxh3_64;

use crate::client::observer::Observer;
use crate::client::throttle::Lane;
use crate::client::{Call, Client};
use crate::clock::Millis;
use crate::config::url::Template;
use crate::dates::Moment;
use crate::error::Result;
use crate::export::pager::{Fetched, Source, Wanted};
use crate::listing::Listing;
use crate::listing::rows::Page;
use crate::listing::visitor_rows::promises_more;
use crate::store::Range;

impl Listing {
    /// The call for `limit` rows from `offset`.
    fn call(&self, client: &Client, offset: u64, limit: u32) -> Result<Call> {
        let mut query = self.query().to_vec();
        query.push(("limit".to_owned(), limit.to_string()));
        query.push(("offset".to_owned(), offset.to_string()));
        Ok(Call {
            method: Method::GET,
            path: Template::own(self.path().to_owned()),
            project: self.project()?,
            id: None,
            query,
            body: None,
            lane: Lane::of_read(self.path()),
            cap: client.settings().max_response_bytes,
            prompt: None,
            journal: None,
        })
    }

    /// As the store knows it, treated as final that many days after its end.
    pub(crate) fn range(&self, settle_days: u32) -> Range {
        let date = |name| self.filter(name).map(str::to_owned);
        let (date_from, date_to) = (date("dateFrom"), date("dateTo"));
        let end = date_to.as_deref().and_then(|date| Moment::parse("date_to", date).ok());
        let settles = end.and_then(|end| end.settles(settle_days));
        let project_id = self.project_id().map(str::to_owned);
        Range { project_id, path: self.path().to_owned(), date_from, date_to, settles }
    }

    /// Asks the service for `limit` rows from `offset`, as a part of what ends at `deadline`.
    pub(crate) async fn ask(
        &self,
        client: &Client,
        offset: u64,
        limit: u32,
        deadline: &mut Instant,
        observer: &dyn Observer,
    ) -> Result<Answered> {
        let received = client.fetch(self.call(client, offset, limit)?, deadline, observer).await?;
        received.read(observer, |answer| {
            let (page, body) = (self.decode(&answer.body)?, answer.body.clone());
            Ok(Answered { page, body, date: answer.head.date })
        })
    }
}

/// A page as it came.
pub(crate) struct Answered {
    /// Its rows.
    pub(crate) page: Page,
    /// The body that it came in.
    pub(crate) body: Bytes,
    /// The time of day, by the service's clock.
    pub(crate) date: Option<Millis>,
}

/// The pages of a listing, from the service.
pub struct ServicePages {
    /// The client that asks.
    pub client: Client,
    /// What for.
    pub listing: Arc<Listing>,
    /// The last body: a service that sends it again will not end, and is not asked for more.
    last: Arc<AtomicU64>,
}

impl ServicePages {
    /// The pages of `listing`, as `client` gets them.
    pub fn new(client: Client, listing: Listing) -> Self {
        Self { client, listing: Arc::new(listing), last: Arc::default() }
    }
}

impl Source for ServicePages {
    fn fetch(&self, wanted: Wanted, observer: Arc<dyn Observer>) -> BoxFuture<'static, Result<Fetched>> {
        let Wanted { offset, limit, .. } = wanted;
        let client = self.client.clone();
        let listing = Arc::clone(&self.listing);
        let last = Arc::clone(&self.last);
        async move {
            let call = listing.call(&client, offset, limit)?;
            let received = client.fetch(call, &mut client.deadline(), &*observer).await?;
            let body = &received.answer().body;
            let digest = xxh3_64(body);
            let promises_more = listing.is_visitors()
                && last.swap(digest, Ordering::Relaxed) != digest
                && promises_more(body, limit);
            let decode = move || received.read(&*observer, |answer| listing.decode(&answer.body));
            Ok(Fetched { limit, promises_more, decode: Box::new(decode) })
        }
        .boxed()
    }
}
