//! A service with a limit of requests an hour, counted in a rolling or a fixed window, with or
//! without refused requests, and with any headers.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use docplatform::budget::Budget;
use docplatform::http::retry_after::retry_after;
use http::{HeaderMap, HeaderName};
use tokio::time::{Instant, sleep};

use crate::helpers::support::{far, secs};

pub(crate) const HOUR: Duration = secs(3600);
pub(crate) const LIMIT: usize = 100;

/// How the service counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Window {
    Rolling,
    /// Hours of the service's own clock; the next one begins after this time.
    Fixed(Duration),
}

/// The headers of its answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Headers {
    None,
    RetryAfter,
    Draft,
    Seconds,
    Epoch,
}

impl Headers {
    pub(crate) const ALL: [Self; 5] = [
        Self::None,
        Self::RetryAfter,
        Self::Draft,
        Self::Seconds,
        Self::Epoch,
    ];
}

#[derive(Debug)]
pub(crate) struct Service {
    window: Window,
    counts_refused: bool,
    headers: Headers,
    begun: Instant,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    counted: VecDeque<Instant>,
    accepted: Vec<Instant>,
    refused: usize,
}

impl Service {
    pub(crate) fn new(window: Window, counts_refused: bool, headers: Headers) -> Self {
        let (begun, state) = (Instant::now(), Mutex::default());
        Self {
            window,
            counts_refused,
            headers,
            begun,
            state,
        }
    }

    /// One request, now.
    pub(crate) fn answer(&self) -> (u16, HeaderMap) {
        let now = Instant::now();
        let mut state = self.state.lock().unwrap();
        let hour = match self.window {
            Window::Rolling => now.checked_sub(HOUR).unwrap(),
            Window::Fixed(next) => {
                let before = self.begun.checked_sub(HOUR).unwrap() + next;
                let hours = (now - before).as_secs() / 3600;
                before + secs(hours * 3600)
            }
        };
        let gone = |at: &Instant| {
            if self.window == Window::Rolling {
                *at <= hour
            } else {
                *at < hour
            }
        };
        while state.counted.front().is_some_and(gone) {
            state.counted.pop_front();
        }
        let accepted = state.counted.len() < LIMIT;
        if accepted || self.counts_refused {
            state.counted.push_back(now);
        }
        match accepted {
            true => state.accepted.push(now),
            false => state.refused += 1,
        }
        let oldest = state.counted.front().copied().unwrap_or(now);
        let reset = if self.window == Window::Rolling {
            oldest + HOUR - now
        } else {
            hour + HOUR - now
        };
        let left = LIMIT.saturating_sub(state.counted.len());
        (
            if accepted { 200 } else { 429 },
            self.head(left, reset, accepted),
        )
    }

    /// Its headers: whole seconds, rounded up for `Retry-After`, and down for the others.
    fn head(&self, left: usize, reset: Duration, accepted: bool) -> HeaderMap {
        let seconds = reset.as_secs();
        let wall = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs();
        let lines = match self.headers {
            Headers::None => vec![],
            Headers::RetryAfter if accepted => vec![],
            Headers::RetryAfter => vec![("retry-after", reset.as_secs_f64().ceil().to_string())],
            Headers::Draft => vec![
                ("ratelimit-policy", "\"default\";q=100;w=3600".to_owned()),
                ("ratelimit", format!("\"default\";r={left};t={seconds}")),
            ],
            Headers::Seconds => {
                vec![
                    ("x-ratelimit-remaining", left.to_string()),
                    ("x-ratelimit-reset", seconds.to_string()),
                ]
            }
            Headers::Epoch => vec![
                ("x-ratelimit-remaining", left.to_string()),
                (
                    "x-ratelimit-reset",
                    (wall + self.begun.elapsed().as_secs() + seconds).to_string(),
                ),
            ],
        };
        let lines = lines.into_iter();
        lines
            .map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()))
            .collect()
    }

    /// How many it accepted.
    pub(crate) fn accepted(&self) -> usize {
        self.state.lock().unwrap().accepted.len()
    }

    /// How many it refused.
    pub(crate) fn refused(&self) -> usize {
        self.state.lock().unwrap().refused
    }

    /// The most that it accepted in any hour.
    pub(crate) fn most_in_an_hour(&self) -> usize {
        most_in_an_hour(&self.state.lock().unwrap().accepted)
    }
}

/// The most of `times` that lie in any 3,600 seconds.
pub(crate) fn most_in_an_hour(times: &[Instant]) -> usize {
    let mut times = times.to_vec();
    times.sort_unstable();
    let from = |begin: &Instant| {
        times
            .iter()
            .filter(|at| (*begin..*begin + HOUR).contains(at))
            .count()
    };
    times.iter().map(from).max().unwrap_or(0)
}

/// Sends until `wanted` requests were accepted, one after another.
pub(crate) async fn send(budget: &Budget, service: &Service, wanted: usize, latency: Duration) {
    let mut accepted = 0;
    while accepted < wanted {
        match budget.acquire(far()).await.unwrap() {
            Err(slot) => sleep(slot.pause()).await,
            Ok(mut ticket) => {
                ticket.sent();
                sleep(latency / 2).await;
                let (status, headers) = service.answer();
                sleep(latency / 2).await;
                let (told, _) = retry_after(&headers, SystemTime::now());
                ticket.answered(status, &headers, told);
                accepted += usize::from(status == 200);
            }
        }
    }
}
