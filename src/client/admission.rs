//! Admission: the waits of a call before its request. It waits for its turn among equal calls, the
//! throttle (a 429 or 503), the budget, a permit, and a note in its journal.

use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, sleep, timeout_at};

use crate::budget::{Budget, Slot, Ticket};
use crate::client::observer::{LogFields, MIN_LOGGED_WAIT, Note, Observer, Waiting};
use crate::client::policy::{self, MIN_TIME_LEFT};
use crate::client::{Call, Client, WaitOrStop, messages};
use crate::clock::{millis, timestamp};
use crate::error::Result;

/// The permits of a call. Dropping it frees them.
pub(super) struct Permit<'a> {
    _grant: Option<SemaphorePermit<'a>>,
    _in_flight: SemaphorePermit<'a>,
}

impl Client {
    /// Returns when the call may send, with its permits and the budget's grant, and adds its pauses
    /// to `waited`. The time spent waiting for the budget is added to `deadline`; the time spent
    /// waiting for a locked ledger is not. The permit in flight comes after the ledger, so that a
    /// locked ledger uses none up; only the journal's note comes later. [`messages::not_admitted`]
    /// completes its errors.
    pub(super) async fn admit<'a>(
        &'a self,
        call: &Call,
        budget: Option<&Budget>,
        deadline: &mut Instant,
        waited: &mut Duration,
        observer: &dyn Observer,
    ) -> Result<(Permit<'a>, Option<Ticket>)> {
        let permits = match call.is_write() {
            true => &self.shared.writes,
            false => &self.shared.reads,
        };
        // A call with a budget finds its 429 in its ledger, so it skips that throttle. A message
        // has no ledger: its 429 throttles new jobs, too.
        let throttled = || self.shared.throttle.throttled(call.lane, budget.is_some());
        let mut announced = None;
        loop {
            if let Some(flight) = &call.flight {
                flight.enter(*deadline, observer).await?;
            }
            // A request that leaves after `latest` has no time for its answer. A write would only
            // leave an unknown outcome.
            let latest = deadline.checked_sub(MIN_TIME_LEFT).unwrap_or(*deadline);
            let had_time = Instant::now() < latest;
            if let Some(throttled) = throttled() {
                let now = Instant::now();
                let time_left = throttled.until.saturating_duration_since(now);
                if throttled.until > latest {
                    return Err(messages::still_throttled(throttled.status, time_left));
                }
                let spread = time_left + policy::spread(throttled.asked, self.jitter());
                let pause = spread.min(latest.saturating_duration_since(now));
                self.pause(call, pause, "throttled", messages::SERVICE_ASKED, observer)
                    .await;
                *waited += pause;
            }
            let late = || {
                messages::too_late(
                    self.settings.deadline,
                    "the service asked this client to wait, too many other calls were in flight, an answer took too long, the store was locked, or this process was suspended",
                )
            };
            let acquire = async |permits: &'a Semaphore| {
                // The semaphore is never closed.
                let permit = timeout_at(latest, permits.acquire()).await;
                permit.ok().and_then(Result::ok).ok_or_else(late)
            };
            let (mut grant, mut ticket) = (None, None);
            if let Some(budget) = budget {
                grant = Some(acquire(&permits.grants).await?);
                if let Some(fault) = budget.take_fault() {
                    observer.note(messages::not_settled(self, &fault));
                }
                let granted = budget.acquire(*deadline).await.map_err(|error| {
                    error.prefixed(", because the store could not count the request: ")
                });
                match granted? {
                    Ok(granted) => ticket = Some(granted),
                    Err(slot) => {
                        drop(grant);
                        if let Some(flight) = &call.flight {
                            flight.leave();
                        }
                        if self.on_budget == WaitOrStop::Stop {
                            return Err(messages::budget_spent(call, slot));
                        }
                        let begun = Instant::now();
                        self.wait_for_slot(call, slot, &mut announced, observer)
                            .await;
                        *waited += begun.elapsed();
                        *deadline += begun.elapsed();
                        continue;
                    }
                }
            }
            let permit = Permit {
                _grant: grant,
                _in_flight: acquire(&permits.in_flight).await?,
            };
            if let Some(journal) = &call.journal {
                journal.begin(*deadline).await?;
            }
            // A locked store or a suspended process may have used up the time, and another call may
            // have been throttled. Nothing waits after this check.
            let now = Instant::now();
            // A call that had less time left than that at its turn may use all of its deadline,
            // but waits for no permit.
            let is_late = now > latest && (had_time || now >= *deadline);
            if !is_late && throttled().is_none() {
                return Ok((permit, ticket));
            }
            call.nothing_happened();
            if is_late {
                return Err(late());
            }
        }
    }

    /// Sleeps until the budget is to be asked again. Logs a slot that differs from `announced`.
    async fn wait_for_slot(
        &self,
        call: &Call,
        slot: Slot,
        announced: &mut Option<Slot>,
        observer: &dyn Observer,
    ) {
        /// A slot moves a little with each answer.
        const MAX_SLOT_DRIFT: Duration = Duration::from_mins(1);
        let is_news = |announced: Slot| {
            let became_long = announced.wait <= Waiting::LONG && slot.wait > Waiting::LONG;
            became_long || slot.at.duration_since(announced.at).unsigned_abs() > MAX_SLOT_DRIFT
        };
        if slot.wait > MIN_LOGGED_WAIT && announced.is_none_or(is_news) {
            observer.note(messages::waits_for_budget(call, self, slot));
            *announced = Some(slot);
        }
        sleep(slot.pause()).await;
        self.stats.paused(slot.pause());
    }

    /// Pauses before a retry or while throttled, and says so in the log if that takes more than a
    /// second. `what` is the reason in a word, such as `retry 2`.
    pub(super) async fn pause(
        &self,
        call: &Call,
        pause: Duration,
        what: &str,
        why: &'static str,
        observer: &dyn Observer,
    ) {
        let what = format!("{}: {what}", call.name());
        self.note_pause(pause, &what, why, messages::fields(call, self), observer);
        sleep(pause).await;
        self.stats.paused(pause);
    }

    /// Logs that `what` is about to pause. Short pauses are not logged.
    pub(crate) fn note_pause(
        &self,
        pause: Duration,
        what: &str,
        why: &'static str,
        about: LogFields,
        observer: &dyn Observer,
    ) {
        if pause > MIN_LOGGED_WAIT {
            let until = timestamp(self.now().saturating_add(millis(pause)));
            let text = format!(
                "{what}: waiting {:.1} s, until {until:.0}",
                pause.as_secs_f64()
            );
            let waiting = Waiting::new(why, pause, until);
            observer.note(Note::waiting(text, waiting, about));
        }
    }
}
