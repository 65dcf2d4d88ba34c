//! The waits of a call before its request: the throttle, a permit, the budget, a note in its journal, a retry's pause.

use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, sleep, timeout_at};

use crate::budget::{Budget, Grant, Slot, Ticket};
use crate::client::Call;
use crate::client::Client;
use crate::client::WaitOrStop;
use crate::client::messages;
use crate::client::observer::{About, Level, Note, Observer, Waiting};
use crate::client::retry::{self, LAST_CALL};
use crate::clock::{millis, timestamp};
use crate::error::Result;

/// A pause longer than this is logged before it begins.
const MIN_LOGGED_PAUSE: Duration = Duration::from_secs(1);

/// A permit among the requests in flight, and the budget's grant.
pub(super) struct Admitted<'a> {
    pub(super) permit: Permit<'a>,
    pub(super) ticket: Option<Ticket>,
}

/// A place among the requests in flight, until this is dropped.
pub(super) struct Permit<'a> {
    _turn: Option<SemaphorePermit<'a>>,
    _permit: SemaphorePermit<'a>,
}

impl Client {
    /// Waits until it is not throttled, the budget grants a request and a permit is free; adds its pauses to `waited`.
    /// The deadline does not run while it waits for the budget, but it does while it waits for the ledger. A permit is
    /// taken last: while the ledger is locked, calls that do not need it go on. [`messages::not_admitted`] makes its errors whole.
    pub(super) async fn admit<'a>(
        &'a self,
        call: &Call,
        budget: Option<&Budget>,
        deadline: &mut Instant,
        waited: &mut Duration,
        observer: &dyn Observer,
    ) -> Result<Admitted<'a>> {
        let places = if call.is_write() {
            &self.shared.writes
        } else {
            &self.shared.reads
        };
        // A 429 of a call that a budget counts stands in its ledger, which it may wait for beyond its deadline. One of a message
        // does not, and holds up new jobs as well.
        let throttled = || self.shared.throttle.throttled(call.lane, budget.is_some());
        let mut announced = None;
        loop {
            if let Some(flight) = &call.flight {
                flight.enter(*deadline, observer).await?;
            }
            // A write that goes out with no time left for its answer would only leave an unknown outcome.
            let last_call = deadline.checked_sub(LAST_CALL).unwrap_or(*deadline);
            let had_time = Instant::now() < last_call;
            if let Some(throttled) = throttled() {
                let now = Instant::now();
                let time_left = throttled.until.saturating_duration_since(now);
                if throttled.until > last_call {
                    return Err(messages::still_throttled(throttled.status, time_left));
                }
                let spread = time_left + retry::spread(throttled.asked, self.jitter());
                let pause = spread.min(last_call.saturating_duration_since(now));
                let what = format!("{}: throttled", messages::what(call));
                let about = Some(messages::fields(call, self).into());
                self.pause(pause, &what, messages::SERVICE_ASKED, about, observer)
                    .await;
                *waited += pause;
            }
            let in_line = async |places: &'a Semaphore| {
                // Places are never closed.
                let permit = timeout_at(last_call, places.acquire())
                    .await
                    .ok()
                    .and_then(Result::ok);
                permit.ok_or_else(|| messages::no_place(self.settings.deadline))
            };
            let (mut turn, mut ticket) = (None, None);
            if let Some(budget) = budget {
                turn = Some(in_line(&places.turns).await?);
                if let Some(fault) = budget.take_fault() {
                    observer.note(messages::not_settled(self, &fault));
                }
                let granted = budget.acquire(*deadline).await;
                match granted.map_err(messages::no_ledger)? {
                    Grant::Granted(granted) => ticket = Some(granted),
                    Grant::Wait(slot) => {
                        drop(turn);
                        if let Some(flight) = &call.flight {
                            flight.leave();
                        }
                        if self.on_budget == WaitOrStop::Stop {
                            return Err(messages::budget_spent(call, slot));
                        }
                        let begun = Instant::now();
                        self.nap(call, slot, &mut announced, observer).await;
                        *waited += begun.elapsed();
                        *deadline += begun.elapsed();
                        continue;
                    }
                }
            }
            let permit = Permit {
                _turn: turn,
                _permit: in_line(&places.in_flight).await?,
            };
            if let Some(journal) = &call.journal {
                journal.begin(*deadline).await?;
            }
            // Nothing waits after this check. A locked store, or a suspended process, may have used up the time, and another
            // call may have been throttled.
            let now = Instant::now();
            let is_late = match had_time {
                true => now > last_call,
                false => now >= *deadline,
            };
            if !is_late && throttled().is_none() {
                return Ok(Admitted { permit, ticket });
            }
            if let Some(journal) = &call.journal {
                journal.nothing_happened();
            }
            if is_late {
                return Err(messages::no_place(self.settings.deadline));
            }
        }
    }

    /// Waits for the budget, at most until it is worth asking again. Says so where the next slot is another than `announced`.
    async fn nap(
        &self,
        call: &Call,
        slot: Slot,
        announced: &mut Option<Slot>,
        observer: &dyn Observer,
    ) {
        /// Slots move a little as answers come in.
        const MAX_SLOT_DRIFT: Duration = Duration::from_mins(1);
        let is_news = |announced: Slot| {
            let became_long = announced.wait <= Waiting::LONG && slot.wait > Waiting::LONG;
            became_long || slot.at.duration_since(announced.at).unsigned_abs() > MAX_SLOT_DRIFT
        };
        if slot.wait > MIN_LOGGED_PAUSE && announced.is_none_or(is_news) {
            observer.note(messages::waits_for_budget(call, self, slot));
            *announced = Some(slot);
        }
        let nap = slot.nap();
        sleep(nap).await;
        self.stats.paused(nap);
    }

    pub(super) async fn pause(
        &self,
        pause: Duration,
        what: &str,
        why: &'static str,
        about: Option<About>,
        observer: &dyn Observer,
    ) {
        self.note_pause(pause, what, why, about, observer);
        sleep(pause).await;
        self.stats.paused(pause);
    }

    /// Says that `what` is about to pause, unless that is over in a moment.
    pub(crate) fn note_pause(
        &self,
        pause: Duration,
        what: &str,
        why: &'static str,
        about: Option<About>,
        observer: &dyn Observer,
    ) {
        if pause > MIN_LOGGED_PAUSE {
            let until = timestamp(self.now().saturating_add(millis(pause)));
            let text = format!(
                "{what}: waiting {:.1} s, until {until:.0}",
                pause.as_secs_f64()
            );
            let waiting = Some(Waiting::new(why, pause, until));
            observer.note(Note {
                waiting,
                about,
                ..Note::new(Level::Info, text)
            });
        }
    }
}
