//! The network: a request leaves, or does not; reaches the service; and its answer comes back as
//! its fate will have it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use docplatform::client::observer::TRACEPARENT;
use docplatform::http::{Body, Departure, Incoming, Outgoing, SendError, Transport};
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, pending};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use tokio::time::sleep;

use crate::dice::Dice;
use crate::faults::{self, Fate, Fault, Told};
use crate::service::Asked;
use crate::world::{End, Life, Sent};

/// The connections of a process.
pub(crate) struct Net(pub(crate) Arc<Life>);

/// A request under way; dropping it gives it up.
struct Flight {
    life: Arc<Life>,
    number: usize,
    /// The end of the request if it is given up now; `None` before its head came: then it depends
    /// on whether it had left.
    given_up: Option<End>,
}

impl Flight {
    fn end(&self, end: End) {
        self.life.world.end(self.number, end);
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        if self.life.is_dead() {
            return;
        }
        let left = self.life.world.state().sent[self.number].left.is_some();
        self.end(
            self.given_up
                .unwrap_or(if left { End::TimedOut } else { End::GivenUp }),
        );
    }
}

impl Transport for Net {
    fn send(
        &self,
        request: Outgoing,
        departure: Departure,
    ) -> BoxFuture<'_, Result<Incoming, SendError>> {
        exchange(Arc::clone(&self.0), request, departure).boxed()
    }
}

/// Which group of calls is throttled together.
fn lane(request: &Outgoing) -> usize {
    match (&request.method, request.url.path().contains("/analytics/")) {
        (&Method::GET, true) => 2,
        (&Method::GET, false) => 1,
        _ => 0,
    }
}

async fn exchange(
    life: Arc<Life>,
    request: Outgoing,
    departure: Departure,
) -> Result<Incoming, SendError> {
    let world = Arc::clone(&life.world);
    if life.is_dead() {
        return pending().await;
    }
    let tag = request
        .headers
        .get(TRACEPARENT)
        .map_or(0, |tag| tag.to_str().unwrap().parse().unwrap());
    let (lane, address, url, write) = (
        lane(&request),
        life.world.scenario.address(life.process),
        request.url.to_string(),
        request.method != Method::GET,
    );
    let scenario = &world.scenario;
    let before = world
        .state()
        .sent
        .iter()
        .filter(|sent| sent.tag == tag)
        .count() as u64;
    let mut dice = Dice::of(scenario.seed, &[6, tag, before]);
    let fate = faults::draw(
        &mut dice,
        &scenario.faults,
        scenario.fault_chance,
        scenario.habits.latency,
        world.time(),
    );
    world.note(|| {
        format!(
            "process {} asks {} {url} for {tag}: {:?}",
            life.process, request.method, fate.fault
        )
    });
    let number = world.begin(Sent {
        process: life.process,
        life: life.number,
        tag,
        lane,
        address,
        url,
        write,
        begun: world.now(),
        left: None,
        answered: None,
        ended: None,
        before: 0,
        end: End::Open,
        effect: None,
        page: None,
    });
    let mut flight = Flight {
        life: Arc::clone(&life),
        number,
        given_up: None,
    };
    sleep(Duration::from_millis(fate.ways.0)).await;
    match fate.fault {
        Some(Fault::Unsent) => {
            flight.end(End::Unsent { fatal: fate.fatal });
            return Err(SendError::Unsent {
                reason: "simulated: unsent".into(),
                fatal: fate.fatal,
            });
        }
        Some(Fault::NoConnection) => return pending().await,
        _ if life.is_dead() || !life.step() => return pending().await,
        _ if !departure.leave() => {
            return Err(SendError::Unsent {
                reason: "simulated: given up".into(),
                fatal: false,
            });
        }
        _ => {}
    }
    let (status, body, told) = arrive(&life, number, &request, &fate);
    sleep(Duration::from_millis(fate.ways.1)).await;
    if life.is_dead() {
        return pending().await;
    }
    match fate.fault {
        Some(Fault::Silent) => return pending().await,
        Some(Fault::Broken) => {
            flight.end(End::Broke);
            return Err(SendError::Ambiguous {
                reason: "simulated: broke off".into(),
            });
        }
        _ => {}
    }
    if status != 200 {
        flight.end(End::Status(status, told.means));
    }
    let mut headers = HeaderMap::new();
    for value in &told.values {
        headers.append(
            http::header::RETRY_AFTER,
            HeaderValue::from_str(value).unwrap(),
        );
    }
    let date = told.date.unwrap_or_else(|| world.time());
    headers.insert(
        http::header::DATE,
        httpdate::fmt_http_date(date).parse().unwrap(),
    );
    flight.given_up = Some(End::BodyLost);
    world.state().sent[number].answered = Some(world.now());
    if status == 200 && fate.fault == Some(Fault::Unusable) && fate.unusable.is_multiple_of(5) {
        flight.given_up = Some(End::Unusable);
        headers.insert(
            HeaderName::from_static("content-encoding"),
            HeaderValue::from_static("gzip"),
        );
    }
    let rest = Rest {
        flight,
        body: Some(body.into()),
        status,
        fate,
    };
    Ok(Incoming {
        status: StatusCode::from_u16(status).unwrap(),
        headers,
        body: Box::new(rest),
    })
}

/// The service gets the request: what it does, and what it answers.
fn arrive(life: &Life, number: usize, request: &Outgoing, fate: &Fate) -> (u16, String, Told) {
    let (world, now) = (&life.world, life.world.now());
    let empty = Bytes::new();
    let body = request.body.as_ref().unwrap_or(&empty);
    let asked = Asked {
        url: &request.url,
        body,
    };
    let mut told = fate.told.clone();
    let mut state = world.state();
    state.sent[number].left = Some(now);
    let Sent {
        lane,
        address,
        write,
        ..
    } = state.sent[number];
    let short = if lane == 2 {
        state.service.grant(now, address)
    } else {
        None
    };
    let mut status = fate.status.unwrap_or(200);
    if let Some(seconds) = short {
        status = 429;
        told = match world.scenario.habits.limit_told {
            0 => Told::default(),
            1 => Told {
                values: vec!["0".to_owned()],
                date: None,
                means: Some(0),
            },
            _ => Told {
                values: vec![seconds.to_string()],
                date: None,
                means: Some(seconds),
            },
        };
    }
    // A refused write is not done. A write without a verdict may be done.
    let verdict = match fate.fault {
        Some(Fault::Broken | Fault::Silent) => None,
        _ => Some(status),
    };
    let does = match verdict {
        Some(200) => true,
        Some(408 | 500.. | 101) | None => fate.applied,
        Some(_) => false,
    };
    let answer = match (write, does) {
        (true, true) => {
            let (id, body) = state.service.write(&asked, now);
            state.sent[number].effect = Some(id);
            body
        }
        (true, false) => String::new(),
        (false, _) if status == 200 => {
            let (found, body, page) = state.service.read(&asked, now, address);
            status = found;
            state.sent[number].page = page;
            body
        }
        (false, _) => "{\"error\": \"simulated\"}".to_owned(),
    };
    drop(state);
    world.note(|| format!("#{number} answered {status}, Retry-After {:?}", told.values));
    (status, answer, told)
}

/// The body after a head.
struct Rest {
    flight: Flight,
    body: Option<Bytes>,
    status: u16,
    fate: Fate,
}

impl Body for Rest {
    fn chunk(&mut self) -> BoxFuture<'_, Result<Option<Bytes>, String>> {
        async {
            let Some(body) = self.body.take() else {
                // A good answer has come when its last byte has.
                let unusable = self.fate.fault == Some(Fault::Unusable);
                self.flight
                    .end(if unusable { End::Unusable } else { End::Good });
                return Ok(None);
            };
            match self.fate.fault {
                Some(Fault::BodyBroken) => {
                    self.flight.end(End::BodyLost);
                    Err("simulated: the body broke off".to_owned())
                }
                Some(Fault::BodyHangs) => pending().await,
                Some(Fault::Unusable) if self.status == 200 => {
                    Ok(Some(spoilt(&body, self.fate.unusable)))
                }
                _ => Ok(Some(body)),
            }
        }
        .boxed()
    }
}

/// A whole body that nothing can be made of.
fn spoilt(body: &Bytes, number: u64) -> Bytes {
    match number % 4 {
        0 => Bytes::from_static(b"<html>Sign in</html>"),
        1 => Bytes::from_static(
            b"{\"id\": 5, \"visitors\": 3, \"nextCursor\": 7, \"hasMore\": \"false\"}",
        ),
        2 => body.slice(..body.len().saturating_sub(1)),
        _ => Bytes::from_static(b"[]"),
    }
}
