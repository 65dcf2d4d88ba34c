//! The request budget: how many requests an hour may be sent by all who share a ledger.
//!
//! [`policy`] decides. This file applies it to a ledger: in the store, for all processes of the
//! machine, or in memory, for one client. A [`Ticket`] is a request's entry. It is made before the
//! request is sent, so that in doubt the request counts.

pub mod ledger;
pub mod policy;

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use http::HeaderMap;
use jiff::Timestamp;
use rusqlite::Connection;
use tokio::time::Instant;

use crate::clock::{Clock, Millis, millis, timestamp};
use crate::config::account::{Owner, Terms};
use crate::error::{Error, Result};
use crate::http::rate_limit;
use crate::http::retry_after::answered_at;
use crate::lock;
use crate::store::{Fault, PendingWork, Store};

use ledger::{change, look};
use policy::{Account, Hold, RequestEnd};

/// A budget. A clone is the same.
#[derive(Clone, Debug)]
pub struct Budget {
    terms: Terms,
    ledger: Ledger,
}

/// The ledger of requests, for all budgets that use it. A clone is the same ledger.
#[derive(Clone, Debug)]
pub struct Ledger(Arc<LedgerState>);

/// A ledger in the store, or that of one client in memory.
#[derive(Debug)]
struct LedgerState {
    clock: Clock,
    /// The store, and the account's owner in it; `None` in memory.
    store: Option<(Store, Owner)>,
    /// The account. With a store, as it was last read or written, for questions that must not read
    /// the file.
    seen: Mutex<Option<Account>>,
    /// Ends of requests that are not written yet. After a failure they are written with the next
    /// request.
    owed: Mutex<Vec<EndedRequest>>,
    /// The reason why they could not be written, until it is logged.
    fault: Mutex<Option<Error>>,
    /// The end of the wait that the service asked this client for. It holds although the file may
    /// be deleted meanwhile, and the clock set.
    asked_until: Mutex<Option<Instant>>,
}

/// The end of one request.
#[derive(Debug)]
struct EndedRequest {
    number: i64,
    /// `None` if it was never sent.
    outcome: Option<RequestEnd>,
}

impl EndedRequest {
    fn enter(&self, account: &mut Account, now: Millis) {
        match &self.outcome {
            Some(outcome) => account.settle(self.number, outcome, now),
            None => account.withdraw(self.number),
        }
    }
}

/// A number that no entry has.
const NO_ENTRY: i64 = -1;

/// The next time at which a request may be granted.
#[derive(Debug, Clone, Copy)]
pub struct Slot {
    /// Its time by the clock.
    pub at: Timestamp,
    /// The wait until then.
    pub wait: Duration,
    /// Whether the limit of the service is reached: it refused a request, or the requests since may
    /// have used all that it had left. Otherwise the budget is spent.
    pub by_service: bool,
}

impl Ledger {
    /// The ledger of one client.
    pub fn in_memory(clock: Clock) -> Self {
        Self::new(clock, None)
    }

    /// The ledger of all processes that use the store for `owner`.
    pub fn in_store(clock: Clock, store: Store, owner: Owner) -> Self {
        Self::new(clock, Some((store, owner)))
    }

    fn new(clock: Clock, store: Option<(Store, Owner)>) -> Self {
        let seen = Mutex::new(store.is_none().then(Account::default));
        let (owed, fault, asked_until) = Default::default();
        Self(Arc::new(LedgerState {
            clock,
            store,
            seen,
            owed,
            fault,
            asked_until,
        }))
    }

    /// Enters a refusal (429) of a client without a budget.
    pub fn refused(&self, headers: &HeaderMap, retry_after: Option<Duration>) {
        Ticket::new(&self.0, NO_ENTRY).answered(429, headers, retry_after);
    }

    pub fn budget(&self, terms: Terms) -> Budget {
        Budget {
            terms,
            ledger: self.clone(),
        }
    }
}

impl Budget {
    /// The most requests that it grants in an hour.
    pub fn per_hour(&self) -> u64 {
        self.terms.per_hour - self.terms.reserve
    }

    /// Asks for one request. It waits only for the ledger, until `deadline` at the latest, and
    /// never for the budget: `Err` has the next time at which it may grant one.
    pub async fn acquire(&self, deadline: Instant) -> Result<Result<Ticket, Slot>> {
        let (terms, state) = (self.terms, Arc::clone(&self.ledger.0));
        let Some((store, _)) = &self.ledger.0.store else {
            // The clock is read after the wait for the account.
            let mut account = lock(&state.seen);
            let now = state.clock.now();
            let answer = account.get_or_insert_default().acquire(terms, now);
            drop(account);
            return Ok(state.grant(answer, now));
        };
        // If the caller has left, the ticket is dropped on the store's thread, and so withdrawn.
        let asked = store.run(move |connection| {
            let (answer, now) = state.change(connection, |account, now| {
                if let Some(until) = *lock(&state.asked_until)
                    && let Some(left) = until.checked_duration_since(Instant::now())
                {
                    account.still_refused(now, millis(left));
                }
                (account.acquire(terms, now), now)
            })?;
            Ok(state.grant(answer, now))
        });
        store.within(deadline, asked).await
    }

    pub async fn left(&self) -> Result<u64> {
        if let Some((store, _)) = &self.ledger.0.store {
            let ledger = Arc::clone(&self.ledger.0);
            let read = store.run(move |connection| ledger.read(connection));
            read.await?;
        }
        Ok(self.left_as_seen().unwrap_or(0))
    }

    /// How many requests would be granted now, as far as this process knows. It reads no file, so
    /// it does not include requests of others since this client last read the ledger. `None` if the
    /// client has not read the ledger yet.
    pub fn left_as_seen(&self) -> Option<u64> {
        let state = &self.ledger.0;
        let left = |account: &Account| account.left(self.terms, state.clock.now());
        lock(&state.seen).as_ref().map(left)
    }

    /// Reads the ledger for [`Budget::left_as_seen`]. `None` if it is in memory.
    pub fn look(&self) -> Result<Option<PendingWork<()>>> {
        let ledger = Arc::clone(&self.ledger.0);
        let store = self.ledger.0.store.as_ref();
        let read = store.map(|(store, _)| store.ask(move |connection| ledger.read(connection)));
        read.transpose()
    }

    /// The reason why the end of an earlier request could not be written yet. It is returned once.
    pub fn take_fault(&self) -> Option<Error> {
        lock(&self.ledger.0.fault).take()
    }
}

impl LedgerState {
    fn grant(self: &Arc<Self>, answer: Result<i64, Hold>, now: Millis) -> Result<Ticket, Slot> {
        let slot = |Hold { until, by_service }| Slot {
            at: timestamp(until),
            wait: Duration::from_millis((until - now).max(0).unsigned_abs()),
            by_service,
        };
        answer.map(|number| Ticket::new(self, number)).map_err(slot)
    }

    /// Enters the end of a request. Its caller does not wait for that.
    fn settle(self: &Arc<Self>, ended: EndedRequest) {
        if let Some(account) = &mut *lock(&self.seen) {
            ended.enter(account, self.clock.now());
        }
        let Some((store, _)) = &self.store else {
            return;
        };
        if let Some(wait) = ended.outcome.as_ref().and_then(RequestEnd::asked) {
            let mut until = lock(&self.asked_until);
            *until = (*until).max(Some(
                Instant::now() + Duration::from_millis(wait.unsigned_abs()),
            ));
        }
        lock(&self.owed).push(ended);
        let (writer, failed) = (Arc::clone(self), Arc::clone(self));
        store.post(
            move |connection| {
                // Another request may have written it.
                if lock(&writer.owed).is_empty() {
                    Ok(())
                } else {
                    writer.change(connection, |_, _| ())
                }
            },
            move |error| *lock(&failed.fault) = Some(error),
        );
    }

    /// Writes the ends of earlier requests, does `work`, and remembers the account.
    fn change<T>(
        &self,
        connection: &mut Connection,
        work: impl FnOnce(&mut Account, Millis) -> T,
    ) -> Result<T, Fault> {
        let owed = std::mem::take(&mut *lock(&self.owed));
        let changed = change(connection, self.owner()?, &self.clock, |account, now| {
            for ended in &owed {
                ended.enter(account, now);
            }
            let result = work(account, now);
            (result, account.clone())
        });
        match changed {
            Ok((result, account)) => {
                *lock(&self.seen) = Some(account);
                Ok(result)
            }
            Err(fault) => {
                lock(&self.owed).splice(..0, owed);
                Err(fault)
            }
        }
    }

    /// Reads the account and remembers it.
    fn read(&self, connection: &mut Connection) -> Result<(), Fault> {
        *lock(&self.seen) = Some(look(connection, self.owner()?, &self.clock)?);
        Ok(())
    }

    /// The owner of the account in the store.
    fn owner(&self) -> Result<&Owner, Fault> {
        let store = self.store.as_ref();
        store.map(|(_, owner)| owner).ok_or(Fault::Missing)
    }
}

/// The entry of one request. When it is dropped, the end of the request is entered.
#[derive(Debug)]
#[must_use = "a ticket that is dropped before `sent` is withdrawn"]
pub struct Ticket {
    state: Arc<LedgerState>,
    number: i64,
    /// `None` if it was never sent.
    outcome: Option<RequestEnd>,
}

impl Ticket {
    fn new(state: &Arc<LedgerState>, number: i64) -> Self {
        Self {
            state: Arc::clone(state),
            number,
            outcome: None,
        }
    }

    /// The request left, so the service may count it. A ticket that is dropped without this call
    /// or `answered` is withdrawn.
    pub fn sent(&mut self) {
        self.outcome = Some(RequestEnd::default());
    }

    /// Enters the answer. `retry_after` is the wait of its `Retry-After`.
    pub fn answered(mut self, status: u16, headers: &HeaderMap, retry_after: Option<Duration>) {
        // A reset may be a date. The service's own clock measures it, as a date in `Retry-After`.
        let at = answered_at(headers, self.state.clock.time());
        let wall = at.duration_since(SystemTime::UNIX_EPOCH);
        self.outcome = Some(RequestEnd {
            refused: status == 429,
            retry_after,
            quota: rate_limit::quota(headers, wall.map_or(0, |since| since.as_secs())),
        });
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let (number, outcome) = (self.number, self.outcome.take());
        self.state.settle(EndedRequest { number, outcome });
    }
}

impl Slot {
    /// The pause before the budget is asked again. It is short, because clocks are set, machines
    /// sleep, and requests under way end.
    pub fn pause(&self) -> Duration {
        /// Each question reads the ledger once.
        const MAX_PAUSE: Duration = Duration::from_secs(30);
        self.wait.min(MAX_PAUSE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_the_wait_but_at_most_half_a_minute() {
        let slot = |wait| Slot {
            at: timestamp(0),
            wait: Duration::from_millis(wait),
            by_service: false,
        };
        assert_eq!(slot(10).pause(), Duration::from_millis(10));
        assert!(slot(3_600_000).pause() <= Duration::from_secs(30));
    }
}
