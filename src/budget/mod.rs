//! The request budget: how many requests an hour may go out, over all who share a ledger.
//!
//! [`account`] is the policy. Here it meets its ledger: in the store, for all processes of the machine, or in memory,
//! for one client. A [`Ticket`] is a request's entry; it is made before the request is sent, and whatever becomes of
//! the request's future, the ledger errs on the side of its having been sent.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use http::HeaderMap;
use jiff::Timestamp;
use rusqlite::Connection;

use crate::clock::{Clock, Millis, timestamp};
use crate::error::{Error, Result};
use crate::rate_limit;
use crate::retry_after::answered_at;
use crate::store::{Fault, Owner, Store, change, look};

pub mod account;

use account::{Account, Answer, Outcome, Terms};

/// Checks what a user gives.
impl Terms {
    /// `per_hour` requests an hour, of which `reserve` are left to others.
    pub fn new(per_hour: u64, reserve: u64) -> Result<Self> {
        if reserve >= per_hour {
            return Err(Error::argument(format!(
                "reserve must be less than requests_per_hour, or no request could ever be sent; \
                 they are {reserve} and {per_hour}"
            )));
        }
        Ok(Self { per_hour, reserve })
    }
}

/// A budget. A clone is the same.
#[derive(Clone, Debug)]
pub struct Budget {
    terms: Terms,
    ledger: Ledger,
}

/// Where requests are entered, for all budgets that rest on it. A clone is the same.
#[derive(Clone, Debug)]
pub struct Ledger(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    clock: Clock,
    place: Place,
    /// What went wrong behind a caller's back; the next one is told.
    fault: Mutex<Option<Error>>,
}

#[derive(Debug)]
enum Place {
    Memory(Mutex<Account>),
    File { store: Store, owner: Arc<Owner> },
}

/// Whether a request may go out.
#[derive(Debug)]
pub enum Grant {
    /// It may, and is entered.
    Granted(Ticket),
    /// Not yet.
    Wait(Slot),
}

/// The next time at which a request may be granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// By the clock.
    pub at: Timestamp,
    /// From now on.
    pub wait: Duration,
}

impl Ledger {
    /// One that is a client's alone.
    pub fn in_memory(clock: Clock) -> Self {
        Self::at(clock, Place::Memory(Mutex::default()))
    }

    /// The one of all that use the store for `owner`.
    pub fn in_store(clock: Clock, store: Store, owner: Owner) -> Self {
        Self::at(clock, Place::File { store, owner: Arc::new(owner) })
    }

    fn at(clock: Clock, place: Place) -> Self {
        Self(Arc::new(Shared { clock, place, fault: Mutex::default() }))
    }

    /// A request that was not entered was refused (429).
    pub fn refused(&self, headers: &HeaderMap, retry_after: Option<Duration>) {
        /// Entries count from 0.
        const NONE: i64 = -1;
        Ticket { number: NONE, sent: true, shared: Some(Arc::clone(&self.0)) }.answered(
            429,
            headers,
            retry_after,
        );
    }

    /// A budget of these terms.
    pub fn budget(&self, terms: Terms) -> Budget {
        Budget { terms, ledger: self.clone() }
    }
}

impl Budget {
    /// How many requests it grants in an hour, at most.
    pub fn per_hour(&self) -> u64 {
        self.terms.per_hour - self.terms.reserve
    }

    /// Asks for one request. Never waits for the budget, only for the ledger.
    pub async fn acquire(&self) -> Result<Grant> {
        let (terms, shared) = (self.terms, Arc::clone(&self.ledger.0));
        if let Some(fault) = lock(&shared.fault).take() {
            return Err(fault);
        }
        match &self.ledger.0.place {
            Place::Memory(account) => {
                let now = shared.clock.now();
                let answer = lock(account).acquire(terms, now);
                Ok(shared.grant(answer, now))
            }
            Place::File { store, owner } => {
                let owner = Arc::clone(owner);
                // A ticket that is made on the store's thread is withdrawn there if nobody waits for it any more.
                store
                    .run(move |connection| {
                        let (answer, now) = change(connection, &owner, &shared.clock, |account, now| {
                            (account.acquire(terms, now), now)
                        })?;
                        Ok(shared.grant(answer, now))
                    })
                    .await
            }
        }
    }

    /// How many requests would be granted now.
    pub async fn left(&self) -> Result<u64> {
        match &self.ledger.0.place {
            Place::Memory(account) => Ok(self.left_in(account)),
            Place::File { store, owner } => store.run(self.look_into(owner)).await,
        }
    }

    /// The same for threads that may block.
    pub fn left_blocking(&self) -> Result<u64> {
        match &self.ledger.0.place {
            Place::Memory(account) => Ok(self.left_in(account)),
            Place::File { store, owner } => store.run_blocking(self.look_into(owner)),
        }
    }

    fn left_in(&self, account: &Mutex<Account>) -> u64 {
        lock(account).left(self.terms, self.ledger.0.clock.now())
    }

    fn look_into(
        &self,
        owner: &Arc<Owner>,
    ) -> impl FnOnce(&mut Connection) -> Result<u64, Fault> + Send + 'static {
        let (terms, shared, owner) = (self.terms, Arc::clone(&self.ledger.0), Arc::clone(owner));
        move |connection| look(connection, &owner, &shared.clock, |account, now| account.left(terms, now))
    }
}

impl Shared {
    fn grant(self: Arc<Self>, answer: Answer, now: Millis) -> Grant {
        match answer {
            Answer::Granted(number) => Grant::Granted(Ticket { number, sent: false, shared: Some(self) }),
            Answer::Wait(until) => {
                let wait = Duration::from_millis(u64::try_from(until - now).unwrap_or(0));
                Grant::Wait(Slot { at: timestamp(until), wait })
            }
        }
    }

    /// Changes the ledger behind whoever goes on, or is gone.
    fn post(self: Arc<Self>, work: impl FnOnce(&mut Account, Millis) + Send + 'static) {
        match &self.place {
            Place::Memory(account) => work(&mut lock(account), self.clock.now()),
            Place::File { store, owner } => {
                let (store, owner) = (store.clone(), Arc::clone(owner));
                let failed = Arc::clone(&self);
                store.post(
                    move |connection| change(connection, &owner, &self.clock, work),
                    move |error| *lock(&failed.fault) = Some(error),
                );
            }
        }
    }
}

/// Never held over an await; a panic elsewhere leaves nothing half done in it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The entry of one request.
#[derive(Debug)]
#[must_use = "a ticket that is dropped before `sending` is withdrawn"]
pub struct Ticket {
    number: i64,
    sent: bool,
    /// Until it was settled.
    shared: Option<Arc<Shared>>,
}

impl Ticket {
    /// From now on the service may count it. Dropped before, the entry is withdrawn; dropped later, it stands.
    pub fn sending(&mut self) {
        self.sent = true;
    }

    /// It is proven that no byte of it left.
    pub fn unsent(mut self) {
        self.sent = false;
    }

    /// An answer came, with this status and these headers, in which `retry_after` was found.
    pub fn answered(mut self, status: u16, headers: &HeaderMap, retry_after: Option<Duration>) {
        let Some(shared) = self.shared.take() else { return };
        // A reset may be a date: it is measured by the service's own clock, as a date in `Retry-After` is.
        let now =
            SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(shared.clock.now()).unwrap_or(0));
        let since = answered_at(headers, now).duration_since(SystemTime::UNIX_EPOCH);
        let wall = since.map_or(0, |since| since.as_secs());
        let outcome =
            Outcome { refused: status == 429, retry_after, quotas: rate_limit::quotas(headers, wall) };
        let number = self.number;
        shared.post(move |account, now| account.settle(number, &outcome, now));
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let Some(shared) = self.shared.take() else { return };
        let (number, sent) = (self.number, self.sent);
        shared.post(move |account, now| match sent {
            true => account.settle(number, &Outcome::default(), now),
            false => account.withdraw(number),
        });
    }
}

impl Slot {
    /// How long at most to sleep before asking again: clocks are set, machines sleep, requests under way end.
    pub fn nap(&self) -> Duration {
        /// Often enough for people; one look into the ledger each.
        const LONGEST: Duration = Duration::from_secs(30);
        self.wait.min(LONGEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reserve_that_leaves_nothing_is_refused() {
        assert!(Terms::new(100, 99).is_ok());
        for (per_hour, reserve) in [(0, 0), (100, 100), (1, 2)] {
            assert!(Terms::new(per_hour, reserve).unwrap_err().message.contains("reserve"));
        }
    }

    #[test]
    fn a_nap_is_never_longer_than_the_wait() {
        let slot = |wait| Slot { at: timestamp(0), wait: Duration::from_millis(wait) };
        assert_eq!(slot(10).nap(), Duration::from_millis(10));
        assert!(slot(3_600_000).nap() <= Duration::from_secs(30));
    }
}
