//! One request for a page that several calls want at the same time. The others wait for it, in this
//! process and in every other one that uses the store.

use std::mem;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::time::{Instant, timeout_at};

use crate::client::observer::{LogFields, MIN_LOGGED_WAIT, Observer, OpenWait};
use crate::client::{SingleFlight, messages};
use crate::error::{Error, Result};
use crate::export::page::{FetchedPage, PageLock, PageRequest};
use crate::export::service::ServicePages;
use crate::lock;
use crate::store::{Exports, PageClaim, StoredPage};

/// Asks the service for a page that is kept in `export`, unless another call gets it first.
pub(super) async fn ask(
    service: &ServicePages,
    (exports, export): (&Exports, i64),
    wanted: &PageRequest,
    deadline: &mut Instant,
    observer: &dyn Observer,
) -> Result<FetchedPage> {
    let flight = Arc::new(PageFlight {
        exports: exports.clone(),
        export,
        offset: wanted.offset,
        deadline: service.client.settings().deadline,
        about: service.about(),
        state: Mutex::default(),
    });
    let asked = service
        .ask(wanted, Some(Arc::clone(&flight) as _), deadline, observer)
        .await;
    let lock = match mem::take(&mut *lock(&flight.state)) {
        FlightState::Landed(page) => {
            let path = exports.0.store.path();
            return FetchedPage::stored(&service.listing, export, &page, path);
        }
        FlightState::Ours(lock) => Some(lock),
        FlightState::Waiting => None,
    };
    asked.map(|page| FetchedPage { lock, ..page })
}

struct PageFlight {
    exports: Exports,
    export: i64,
    offset: u64,
    /// How long the call may take, for its error.
    deadline: Duration,
    about: LogFields,
    state: Mutex<FlightState>,
}

#[derive(Default)]
enum FlightState {
    /// Another call may fetch the page.
    #[default]
    Waiting,
    Ours(PageLock),
    /// Another call has fetched it.
    Landed(StoredPage),
}

impl PageFlight {
    /// Waits until the page is this call's to fetch, or in the store.
    async fn wait(&self, deadline: Instant, observer: &dyn Observer) -> Result<FlightState> {
        let why = "another call is fetching the same page";
        let mut wait = OpenWait::new(why, self.about.clone());
        let late = || {
            messages::too_late(
                self.deadline,
                "another call was still fetching the same page",
            )
        };
        let mut queue = pin!(self.exports.queue(self.export, self.offset).lock_owned());
        let queue = loop {
            let step = deadline.min(Instant::now() + MIN_LOGGED_WAIT);
            match timeout_at(step, &mut queue).await {
                Ok(queue) => break queue,
                Err(_) if step == deadline => return Err(late()),
                Err(_) => wait.announce(observer, why),
            }
        };
        loop {
            let claim = self.exports.claim(self.export, self.offset);
            let claimed = self.exports.0.store.within(deadline, claim).await;
            match claimed.map_err(|error| {
                error.prefixed(", because the store could not be asked for the page again: ")
            })? {
                PageClaim::Stored(page) => return Ok(FlightState::Landed(page)),
                PageClaim::Ours(file) => {
                    return Ok(FlightState::Ours(PageLock {
                        _file: file,
                        _queue: queue,
                    }));
                }
                PageClaim::Taken => wait.announce(observer, why),
            }
            if !wait.pause(deadline).await {
                return Err(late());
            }
        }
    }
}

impl SingleFlight for PageFlight {
    fn enter<'a>(
        &'a self,
        deadline: Instant,
        observer: &'a dyn Observer,
    ) -> BoxFuture<'a, Result<()>> {
        async move {
            if matches!(*lock(&self.state), FlightState::Ours(_)) {
                return Ok(());
            }
            let state = self.wait(deadline, observer).await?;
            let is_ours = matches!(state, FlightState::Ours(_));
            *lock(&self.state) = state;
            is_ours
                .then_some(())
                .ok_or_else(|| Error::bug("another call has fetched the page"))
        }
        .boxed()
    }

    fn leave(&self) {
        *lock(&self.state) = FlightState::Waiting;
    }

    fn is_landed(&self) -> bool {
        matches!(*lock(&self.state), FlightState::Landed(_))
    }
}
