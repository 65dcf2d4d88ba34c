//! The pages of a listing from the service.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::sync::oneshot;
use tokio::task::yield_now;
use tokio::time::Instant;
use xxhash_rust::xxh3::xxh3_64;

use crate::client::observer::{LogFields, Observer};
use crate::client::{Call, Client, Received, SingleFlight, messages};
use crate::config::url::Template;
use crate::dates::slices::{Every, Slice};
use crate::error::{Error, Result};
use crate::export::page::{FetchedPage, PageRequest, Source};
use crate::listing::Listing;
use crate::listing::cursor::CURSOR;
use crate::listing::endpoint::PagedBy;
use crate::listing::read::promises_more;
use crate::text::message::{Advice, Setting, message};

/// Statuses of a query that is too long, and of an answer that took too long.
const TOO_LONG: u16 = 414;
const TOO_SLOW: u16 = 504;
/// The number of first bytes that are compared with the body before. Equal first rows mean that the
/// same page came again.
const MAX_COMPARED: usize = 1024;

/// Whether the service may have refused the cursor that it was sent.
pub(crate) fn may_be_of_a_cursor(error: &Error) -> bool {
    matches!(error.status, Some(400 | 404 | 410 | 422))
}

/// The pages of a listing, from the service.
pub struct ServicePages {
    pub client: Client,
    pub listing: Listing,
    /// A hash of the last body's first bytes. A body that comes again promises nothing, because the
    /// export would never end.
    last: AtomicU64,
    /// Whether the service found a cursor and the dates too long.
    is_too_long: AtomicBool,
}

impl ServicePages {
    pub fn new(client: Client, listing: Listing) -> Self {
        Self {
            client,
            listing,
            last: AtomicU64::default(),
            is_too_long: AtomicBool::default(),
        }
    }

    /// The fields of a log record about its listing.
    pub(super) fn about(&self) -> LogFields {
        messages::fields_of_job(&self.client, self.listing.project_id.as_deref(), None)
    }

    fn call(
        &self,
        wanted: &PageRequest,
        flight: Option<Arc<dyn SingleFlight>>,
        cursor_alone: bool,
    ) -> Result<Call> {
        let listing = &self.listing;
        let mut query = match cursor_alone {
            true => Vec::new(),
            false => listing.part(wanted.days).query,
        };
        let mut add = |name: &str, value: String| query.push((name.to_owned(), value));
        if !cursor_alone {
            add("limit", wanted.limit.to_string());
        }
        if listing.paged_by() == PagedBy::Offset {
            add("offset", wanted.offset.to_string());
        }
        if let Some(cursor) = &wanted.cursor {
            add(CURSOR, cursor.clone());
        }
        let path = Template::own(listing.path.clone());
        Ok(Call {
            query,
            flight,
            is_other: !listing.is_known(),
            ..Call::read(path, listing.project()?)
        })
    }

    /// Fetches a page without parsing it. If the service finds the cursor and the dates too long,
    /// this request and all later ones with a cursor send the cursor alone.
    async fn fetch_page(
        &self,
        wanted: &PageRequest,
        flight: Option<Arc<dyn SingleFlight>>,
        deadline: &mut Instant,
        observer: &dyn Observer,
    ) -> Result<Received> {
        let cursor_alone = wanted.cursor.is_some() && self.is_too_long.load(Ordering::Relaxed);
        let call = self.call(wanted, flight.clone(), cursor_alone)?;
        match self.client.fetch(call, deadline, observer).await {
            Err(error)
                if error.status == Some(TOO_LONG) && wanted.cursor.is_some() && !cursor_alone =>
            {
                self.is_too_long.store(true, Ordering::Relaxed);
                let call = self.call(wanted, flight, true)?;
                self.client.fetch(call, deadline, observer).await
            }
            Err(error) if error.status == Some(TOO_SLOW) => Err(self.too_slow(wanted.days, error)),
            Err(mut error) if wanted.cursor.is_some() && may_be_of_a_cursor(&error) => {
                let why = "; the cursor of the page before may have expired";
                let advice = Advice::ReadFromBeginning {};
                error.message.push(message![why, advice]);
                Err(error)
            }
            received => received,
        }
    }

    /// The error of a service that gave up on a long range, with advice on shorter ones.
    fn too_slow(&self, days: Option<Slice>, mut error: Error) -> Error {
        let known = self.listing.is_known().then_some(&self.listing);
        let sliced = days.is_some();
        let advice = match days.or_else(|| known?.range()) {
            None => "ask for smaller pages, or for a shorter range".into(),
            Some(days) => {
                let mut shorter = [Every::Month, Every::Week, Every::Day].into_iter();
                let fits = |every: &Every| every.end(days.from).is_some_and(|end| end < days.to);
                let one = |every: Every| format!("read one {} at a time", every.as_str());
                match shorter.find(fits) {
                    Some(every) if self.listing.endpoint().totals => one(every).into(),
                    Some(every) => {
                        let option = Setting::Every.to(every.as_str());
                        let shorter = ", with a shorter period, or where the call has it with ";
                        message![one(every), shorter, option]
                    }
                    None if sliced => "a day is the shortest slice".into(),
                    None => message![
                        "a day is the shortest slice; where the call takes times, shorten it by times in ",
                        Setting::DateFrom,
                        " or ",
                        Setting::DateTo
                    ],
                }
            }
        };
        let why = "; the answer may be too large for the service: ";
        error.message.push(message![why, advice]);
        error
    }

    /// Gets a page from the service before `deadline`.
    pub(crate) async fn ask(
        &self,
        wanted: &PageRequest,
        flight: Option<Arc<dyn SingleFlight>>,
        deadline: &mut Instant,
        observer: &dyn Observer,
    ) -> Result<FetchedPage> {
        let received = self.fetch_page(wanted, flight, deadline, observer).await?;
        let asked = received.sent_at();
        received.read(observer, |answer| -> Result<_, String> {
            Ok(FetchedPage {
                body: Some(answer.body.clone()),
                asked,
                date: answer.head.date,
                ..FetchedPage::new(self.listing.decode(&answer.body)?, wanted.limit)
            })
        })
    }
}

impl Source for ServicePages {
    fn fetch(
        self: Arc<Self>,
        wanted: PageRequest,
        more: oneshot::Sender<()>,
        observer: Arc<dyn Observer>,
    ) -> BoxFuture<'static, Result<FetchedPage>> {
        async move {
            let received = self
                .fetch_page(&wanted, None, &mut self.client.deadline(), &*observer)
                .await?;
            let body = &received.answer.body;
            let digest = xxh3_64(body.get(..MAX_COMPARED).unwrap_or(body));
            let endpoint = self.listing.endpoint();
            let is_promised = endpoint.totals
                && self.last.swap(digest, Ordering::Relaxed) != digest
                && endpoint
                    .key
                    .is_some_and(|key| promises_more(body, key, wanted.limit));
            if is_promised && more.send(()).is_ok() {
                yield_now().await;
            }
            let page = received.read(&*observer, |answer| self.listing.decode(&answer.body))?;
            Ok(FetchedPage::new(page, wanted.limit))
        }
        .boxed()
    }
}
