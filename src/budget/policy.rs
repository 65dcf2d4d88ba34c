//! The policy of the budget, without I/O: it works on a ledger in a file or in memory.
//!
//! It is unknown how a service counts: over the last hour or by the hours of a clock, when a request arrives or when it is
//! answered, with or without refused requests. At most N requests in *any* hour is right in each case. A request counts from
//! its entry, which is made before it is sent, until an hour after its answer: the service counted it in between.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::clock::{Millis, millis};
use crate::config::account::Terms;
use crate::http::rate_limit::Quota;

/// The hour, in milliseconds, and a second for services that count in whole ones.
pub const HOUR: Millis = 3_601_000;
/// How long after its entry a request without an answer, of a process that died, may still have been answered: as long as its
/// client would have waited, and at least as long as a write does with the default timeout.
const MIN_PATIENCE: Millis = 60_000;
/// The longest time for which a service's statement is believed.
const MAX_BELIEVED_WAIT: Millis = 24 * 3_600_000;
/// The time until the next look, if only an answer can help.
const NEXT_LOOK: Millis = 1_000;
/// A service's reset is in whole seconds, perhaps rounded down.
const RESET_ROUNDING: Millis = 1_000;

/// A request of the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// When it was entered, just before it was sent.
    pub at: Millis,
    /// When its answer came, or its failure.
    pub answered: Option<Millis>,
    /// How long its answer may take.
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

    /// When it counts no more.
    pub fn until(&self) -> Millis {
        self.answered.unwrap_or(self.at + self.patience) + HOUR
    }

    /// The same at best: if its answer comes at once.
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
    /// Requests that were left then.
    pub remaining: u64,
}

/// The ledger of one organization at one address, as far as it still counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Account {
    /// Requests by number.
    pub entries: BTreeMap<i64, Entry>,
    /// The number of the next one.
    pub next: i64,
    /// What the service announced: a [`REFUSAL`], a [`QUOTA`].
    pub announced: BTreeMap<String, Announced>,
}

/// The name of a refusal in the ledger.
const REFUSAL: &str = "refusal";
/// The name of a quota in the ledger.
const QUOTA: &str = "policy:";

/// Whether a request may go out now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grant<T = i64, W = Hold> {
    /// It may, and is entered: here under this number.
    Granted(T),
    /// Not before this time.
    Wait(W),
}

/// What keeps the next request back. Of two, the longer one is the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hold {
    /// When it is granted, at best.
    pub until: Millis,
    /// Whether that is the service's doing, which refused a request or announced that none is left, and not the budget's.
    pub by_service: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestEnd {
    /// The service refused it because its limit was reached (429).
    pub refused: bool,
    /// What its `Retry-After` asked for.
    pub retry_after: Option<Duration>,
    /// What its headers say is left.
    pub quota: Option<Quota>,
}

impl Account {
    /// Enters a request, where the terms grant one.
    pub fn acquire(&mut self, terms: Terms, now: Millis) -> Grant {
        if let Some(hold) = self.wait(terms, now) {
            return Grant::Wait(hold);
        }
        Grant::Granted(self.enter(terms, now))
    }

    /// What keeps the next request back, unless one is granted now.
    pub fn wait(&mut self, terms: Terms, now: Millis) -> Option<Hold> {
        self.tidy(now);
        (self.left(terms, now) == 0).then(|| self.next_slot(terms, now))
    }

    /// Enters a request at the later of the clock and the newest entry. Time does not run backwards in a ledger: another
    /// process counts the request, even if this one's clock is behind.
    fn enter(&mut self, terms: Terms, now: Millis) -> i64 {
        let number = self.next;
        self.next += 1;
        let at = self
            .entries
            .values()
            .map(|entry| entry.at)
            .fold(now, Millis::max);
        self.entries
            .insert(number, Entry::new(at, None, terms.patience));
        number
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
        let under_way = self.under_way(now);
        let announced = self
            .announced
            .values()
            .filter(|announced| announced.until > now);
        announced
            .map(|announced| {
                announced
                    .remaining
                    .saturating_sub(terms.reserve)
                    .saturating_sub(under_way)
            })
            .fold(ours, u64::min)
    }

    /// Requests that the service may not have counted in what it announced last.
    fn under_way(&self, now: Millis) -> u64 {
        self.entries
            .values()
            .filter(|entry| entry.in_flight(now))
            .count() as u64
    }

    /// The request never left this machine.
    pub fn withdraw(&mut self, number: i64) {
        self.entries.remove(&number);
    }

    pub fn settle(&mut self, number: i64, outcome: &RequestEnd, now: Millis) {
        self.tidy(now);
        let begun = self.entries.get_mut(&number).map_or(now, |entry| {
            entry.answered = Some(now.max(entry.at));
            entry.at
        });
        let reset = outcome.quota.and_then(|quota| quota.reset);
        let reset = reset.map(|reset| now + millis(reset).min(MAX_BELIEVED_WAIT) + RESET_ROUNDING);
        if outcome.refused {
            let asked = outcome
                .retry_after
                .map(|wait| now + millis(wait).min(MAX_BELIEVED_WAIT));
            let until = asked.or(reset).unwrap_or(now + HOUR);
            let held = self
                .announced
                .get(REFUSAL)
                .map_or(until, |held| held.until.max(until));
            self.announced.insert(
                REFUSAL.to_owned(),
                Announced {
                    at: now,
                    until: held,
                    remaining: 0,
                },
            );
        }
        let Some(quota) = outcome.quota else {
            // The service may have counted it after it last announced how many are left.
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
        // Which of several answers under way came last is unknown: the strictest counts.
        *known = if begun >= known.at {
            announced
        } else {
            Announced {
                at: now,
                until: known.until.max(announced.until),
                remaining: known.remaining.min(announced.remaining),
            }
        };
    }

    /// Forgets what counts no more.
    fn tidy(&mut self, now: Millis) {
        self.entries.retain(|_, entry| entry.until() > now);
        self.announced.retain(|_, announced| announced.until > now);
    }

    /// Until when the next request is kept back, at best.
    fn next_slot(&self, terms: Terms, now: Millis) -> Hold {
        let ours = terms.per_hour.saturating_sub(terms.reserve);
        let mut times: Vec<_> = self.entries.values().map(Entry::until_at_best).collect();
        times.sort_unstable();
        // How many must have expired before there is room for one.
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
                // The requests that are left may be used by those under way, whose answers will tell.
                1.. if left <= under_way => announced.until.min(now + NEXT_LOOK),
                _ => now,
            };
            // What the reserve leaves to others is the budget's doing.
            Hold {
                until,
                by_service: announced.remaining == 0,
            }
        });
        let hold = announced.fold(
            Hold {
                until: own,
                by_service: false,
            },
            Hold::max,
        );
        if hold.until > now {
            hold
        } else {
            Hold {
                until: now + NEXT_LOOK,
                by_service: false,
            }
        }
    }
}
