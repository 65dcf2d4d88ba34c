//! The policy of the budget, without I/O: it works on a ledger in a file or in memory.
//!
//! It is unknown how a service counts: over the last hour or by the hours of a clock, when a
//! request arrives or when it is answered, with or without refused requests. At most N requests in
//! *any* hour is right in each case. A request counts from its entry, made before it is sent, until
//! an hour after its answer. The service counts it somewhere between sending and answering.
//!
//! Clocks of processes may differ by hours. A new entry is never earlier than those before it, so
//! that the other processes count it. Each process lets entries expire by its own clock, and
//! deletes them a day after that. So a clock that is ahead by less than a day frees nothing for the
//! others.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::clock::{Millis, millis};
use crate::config::account::Terms;
use crate::http::rate_limit::Quota;

/// An hour and a second, in milliseconds. The second is for services that count in whole seconds.
pub const HOUR: Millis = 3_601_000;
/// The shortest time for which a request without an answer is taken to be under way.
const MIN_PATIENCE: Millis = 60_000;
/// A wait or a reset that the service names is believed for at most this time.
const MAX_BELIEVED_WAIT: Millis = 24 * 3_600_000;
/// The time until the next look, if only an answer to a request under way can help.
const NEXT_LOOK: Millis = 1_000;
/// A service's reset is in whole seconds, perhaps rounded down.
const RESET_ROUNDING: Millis = 1_000;

/// A request of the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The time of its entry, before it is sent.
    pub at: Millis,
    /// The time of its answer or its failure.
    pub answered: Option<Millis>,
    /// The longest time until its answer.
    pub patience: Millis,
}

impl Entry {
    pub(crate) fn new(at: Millis, answered: Option<Millis>, patience: Millis) -> Self {
        Self {
            at,
            answered,
            patience: patience.clamp(MIN_PATIENCE, MAX_BELIEVED_WAIT),
        }
    }

    /// The time at which it stops counting.
    pub fn until(&self) -> Millis {
        self.answered.unwrap_or(self.at + self.patience) + HOUR
    }

    /// The earliest time at which it can stop counting: if it was answered at once.
    fn until_at_best(&self) -> Millis {
        self.answered.unwrap_or(self.at) + HOUR
    }

    /// Whether its answer may still come.
    fn in_flight(&self, now: Millis) -> bool {
        self.answered.is_none() && now < self.at + self.patience
    }
}

/// A refusal, or a quota, as the service reported it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Announced {
    pub at: Millis,
    pub until: Millis,
    /// Requests that are left, less those answered since.
    pub remaining: u64,
}

/// The ledger of one organization at one address, or of its new jobs in a project, as far as it
/// still counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Account {
    /// Requests by number.
    pub entries: BTreeMap<i64, Entry>,
    /// The number of the next one.
    pub next: i64,
    /// Statements of the service by name: [`REFUSAL`], [`QUOTA`].
    pub announced: BTreeMap<String, Announced>,
}

/// The name of a 429 in the ledger.
const REFUSAL: &str = "refusal";
/// The name of the rate-limit headers' statement in the ledger.
const QUOTA: &str = "quota";

/// The wait before the next request, and its reason. They are ordered by their ends.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hold {
    /// The earliest time at which it is granted.
    pub until: Millis,
    /// Whether the limit of the service is reached: it refused a request, or the requests since may
    /// have used all that it had left. Otherwise the budget is spent.
    pub by_service: bool,
}

/// The answer to a request, as far as it concerns the budget.
#[derive(Debug, Default)]
pub struct RequestEnd {
    /// The service refused it because its limit was reached (429).
    pub refused: bool,
    /// The wait of its `Retry-After`.
    pub retry_after: Option<Duration>,
    /// The statement of its rate-limit headers.
    pub quota: Option<Quota>,
}

impl RequestEnd {
    /// The wait that a refusal asks for.
    pub(crate) fn asked(&self) -> Option<Millis> {
        let wait = self.retry_after.filter(|_| self.refused)?;
        Some(millis(wait).min(MAX_BELIEVED_WAIT))
    }
}

impl Account {
    /// Enters a request and returns its number, if the terms grant one. Otherwise returns the wait
    /// before the next.
    pub fn acquire(&mut self, terms: Terms, now: Millis) -> Result<i64, Hold> {
        self.tidy(now);
        if self.left(terms, now) == 0 {
            return Err(self.next_slot(terms, now));
        }
        let number = self.next;
        self.next += 1;
        let newest = self.entries.values().map(|entry| entry.at).max();
        let at = newest.max(Some(now)).unwrap_or(now);
        self.entries
            .insert(number, Entry::new(at, None, terms.patience));
        Ok(number)
    }

    /// How many requests would be granted at once.
    pub fn left(&self, terms: Terms, now: Millis) -> u64 {
        let counted = self
            .entries
            .values()
            .filter(|entry| entry.until() > now)
            .count() as u64;
        let ours = terms
            .per_hour
            .saturating_sub(terms.reserve)
            .saturating_sub(counted);
        let held = terms.reserve.saturating_add(self.under_way(now));
        let announced = self.announced.values();
        announced
            .filter(|announced| announced.until > now)
            .map(|announced| announced.remaining.saturating_sub(held))
            .fold(ours, u64::min)
    }

    /// Requests under way. The service's latest statement may not include them.
    fn under_way(&self, now: Millis) -> u64 {
        self.entries
            .values()
            .filter(|entry| entry.in_flight(now))
            .count() as u64
    }

    /// Enters a refusal that lasts another `left`, if the ledger does not know it: its file may
    /// have been deleted.
    pub(crate) fn still_refused(&mut self, now: Millis, left: Millis) {
        let refusal = Announced {
            at: now,
            until: now + left,
            remaining: 0,
        };
        self.announced.entry(REFUSAL.to_owned()).or_insert(refusal);
    }

    /// The request never left this machine.
    pub fn withdraw(&mut self, number: i64) {
        self.entries.remove(&number);
    }

    /// Records the answer to the request `number`, and what the service said in it about its limit.
    pub fn settle(&mut self, number: i64, outcome: &RequestEnd, now: Millis) {
        self.tidy(now);
        // Without its entry, the request counts as begun first, so that its statement replaces no
        // newer one.
        let begun = self.entries.get_mut(&number).map_or(0, |entry| {
            entry.answered = Some(now.max(entry.at));
            entry.at
        });
        let reset = outcome.quota.and_then(|quota| quota.reset);
        let reset = reset.map(|reset| now + millis(reset).min(MAX_BELIEVED_WAIT) + RESET_ROUNDING);
        if outcome.refused {
            let asked = outcome.asked().map(|wait| now + wait);
            let until = asked.or(reset).unwrap_or(now + HOUR);
            let held = self.announced.get(REFUSAL);
            let until = held.map_or(until, |held| held.until.max(until));
            let refusal = Announced {
                at: now,
                until,
                remaining: 0,
            };
            self.announced.insert(REFUSAL.to_owned(), refusal);
        }
        let Some(quota) = outcome.quota else {
            // The answer says nothing about the limit. The service may have counted this request
            // after its latest statement.
            for announced in self.announced.values_mut() {
                announced.remaining = announced.remaining.saturating_sub(1);
            }
            return;
        };
        let announced = Announced {
            at: now,
            until: reset.unwrap_or(now + HOUR),
            remaining: quota.remaining,
        };
        let known = self.announced.entry(QUOTA.to_owned()).or_insert(announced);
        // Answers may come in any order. A request that began before the latest statement can only
        // lower what is left.
        *known = if begun >= known.at {
            announced
        } else {
            Announced {
                until: known.until.max(announced.until),
                remaining: known.remaining.min(announced.remaining),
                ..announced
            }
        };
    }

    /// Removes all that has expired.
    fn tidy(&mut self, now: Millis) {
        self.entries.retain(|_, entry| entry.until() > now);
        self.announced.retain(|_, announced| announced.until > now);
    }

    /// The earliest time at which the next request can be granted.
    fn next_slot(&self, terms: Terms, now: Millis) -> Hold {
        let ours = terms.per_hour.saturating_sub(terms.reserve);
        let mut times: Vec<_> = self.entries.values().map(Entry::until_at_best).collect();
        times.sort_unstable();
        // This number of requests must expire before there is room for one.
        let excess =
            usize::try_from((times.len() as u64 + 1).saturating_sub(ours)).unwrap_or(usize::MAX);
        let own = excess
            .checked_sub(1)
            .map_or(now, |last| times.get(last).copied().unwrap_or(now + HOUR));
        let under_way = self.under_way(now);
        let announced = self.announced.values().map(|announced| {
            let left = announced.remaining.saturating_sub(terms.reserve);
            let until = match left {
                0 => announced.until,
                // The requests under way may use those that are left. Their answers will tell.
                1.. if left <= under_way => announced.until.min(now + NEXT_LOOK),
                _ => now,
            };
            // If only our reserve is left, the budget holds the request back.
            Hold {
                until,
                by_service: announced.remaining <= under_way,
            }
        });
        let ours = |until| Hold {
            until,
            by_service: false,
        };
        let hold = announced.fold(ours(own), Hold::max);
        if hold.until > now {
            hold
        } else {
            ours(now + NEXT_LOOK)
        }
    }
}
