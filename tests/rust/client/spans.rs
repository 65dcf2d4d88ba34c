//! A span for each call: its name on the wire, its attempts, its end.

use std::sync::{Arc, Mutex};

use docplatform::client::observer::{Note, Observer, ObserverOptions, Span, Tracer};
use docplatform::client::{Call, Client, SingleFlight};
use docplatform::config::Options;
use docplatform::error::{Attempt, Error, Result};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::HeaderValue;
use tokio::time::Instant;
use url::Url;

use crate::helpers::support::{
    Script, Step, bare, client, client_with, good, json, millis, options, read, reply, write,
};

/// A span that ended: its attempts, and the error of a call that failed.
#[derive(Debug, Clone, Default, PartialEq)]
struct Seen {
    attempts: Vec<(u32, Option<u16>, Option<&'static str>)>,
    ends: Vec<Option<&'static str>>,
}

type Dropped = Arc<Mutex<Vec<Seen>>>;

/// A caller that makes spans, and gets those of calls that have ended.
#[derive(Default)]
struct Caller {
    begun: Arc<Mutex<Vec<String>>>,
    dropped: Dropped,
    ended: Mutex<usize>,
}

impl Observer for Caller {
    fn note(&self, _note: Note) {}

    fn options(&self) -> ObserverOptions {
        let (begun, dropped) = (Arc::clone(&self.begun), Arc::clone(&self.dropped));
        ObserverOptions {
            tracer: Some(Arc::new(Numbers(begun, dropped))),
            ..ObserverOptions::default()
        }
    }

    fn span_ended(&self, _span: Box<dyn Span>) {
        *self.ended.lock().unwrap() += 1;
    }
}

/// Numbers spans from 1 on.
struct Numbers(Arc<Mutex<Vec<String>>>, Dropped);

impl Tracer for Numbers {
    fn begin(&self, call: &Call, url: &Url) -> BoxFuture<'static, Option<Box<dyn Span>>> {
        let mut begun = self.0.lock().unwrap();
        begun.push(format!("{} {url}", call.method));
        let span = Numbered(begun.len(), Seen::default(), Arc::clone(&self.1));
        std::future::ready(Some(Box::new(span) as Box<dyn Span>)).boxed()
    }
}

struct Numbered(usize, Seen, Dropped);

impl Span for Numbered {
    fn header(&self) -> Option<HeaderValue> {
        Some(HeaderValue::from(self.0))
    }

    fn attempted(&mut self, attempt: &Attempt) {
        let seen = (attempt.number, attempt.status, attempt.class);
        self.1.attempts.push(seen);
    }

    fn end(&mut self, error: Option<&'static str>) {
        self.1.ends.push(error);
    }
}

impl Drop for Numbered {
    fn drop(&mut self) {
        self.2.lock().unwrap().push(std::mem::take(&mut self.1));
    }
}

/// The `traceparent` of each request.
fn sent(script: &Script) -> Vec<String> {
    let sent = script.sent();
    let name = |headers: &http::HeaderMap| headers["traceparent"].to_str().unwrap().to_owned();
    sent.iter().map(|sent| name(&sent.headers)).collect()
}

async fn watched(client: &Client, call: Call, caller: &Caller) {
    let _ = client.call(call, caller, json).await;
}

#[tokio::test(start_paused = true)]
async fn a_span_has_the_attempts_of_its_call_and_ends_as_the_call_does() {
    type Case = (
        Call,
        Vec<Step>,
        Vec<(u16, Option<&'static str>)>,
        Option<&'static str>,
    );
    let server = Some("ServerError");
    let unreadable = Some("ResponseError");
    let cases: Vec<Case> = vec![
        (read(), vec![good()], vec![(200, None)], None),
        (
            read(),
            vec![bare(503), good()],
            vec![(503, server), (200, None)],
            None,
        ),
        (
            read(),
            vec![bare(503), bare(404)],
            vec![(503, server), (404, Some("NotFoundError"))],
            Some("NotFoundError"),
        ),
        (
            read(),
            vec![reply(200, "no").into()],
            vec![(200, unreadable)],
            unreadable,
        ),
        (
            write(),
            vec![bare(500)],
            vec![(500, Some("UnconfirmedWriteError"))],
            Some("UnconfirmedWriteError"),
        ),
    ];
    for (call, steps, attempts, end) in cases {
        let (script, caller) = (Script::new(steps), Caller::default());
        watched(&client(&script), call, &caller).await;
        let numbered = (1..).zip(attempts);
        let attempts = numbered.map(|(number, (status, class))| (number, Some(status), class));
        let seen = Seen {
            attempts: attempts.collect(),
            ends: vec![end],
        };
        assert_eq!(*caller.dropped.lock().unwrap(), [seen]);
        assert_eq!(*caller.ended.lock().unwrap(), 1);
        assert!(sent(&script).iter().all(|name| name == "1"));
    }
}

/// Another call has got the answer.
struct Landed;

impl SingleFlight for Landed {
    fn enter<'a>(
        &'a self,
        _deadline: Instant,
        _observer: &'a dyn Observer,
    ) -> BoxFuture<'a, Result<()>> {
        std::future::ready(Err(Error::bug("another call has got the answer"))).boxed()
    }

    fn leave(&self) {}

    fn is_landed(&self) -> bool {
        true
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_answer_another_call_got_has_not_failed() {
    let (script, caller) = (Script::new([good()]), Caller::default());
    let call = Call {
        flight: Some(Arc::new(Landed)),
        ..read()
    };
    watched(&client(&script), call, &caller).await;
    assert_eq!(script.count(), 0);
    assert_eq!(caller.dropped.lock().unwrap()[0].ends, [None]);
}

#[tokio::test(start_paused = true)]
async fn each_call_has_a_span_of_its_own_and_a_header_of_the_users_holds() {
    let (script, caller) = (Script::new([good(), good(), good()]), Caller::default());
    let plain = client(&script);
    watched(&plain, read(), &caller).await;
    let call = Call {
        query: vec![("q".to_owned(), "x".to_owned())],
        ..write()
    };
    watched(&plain, call, &caller).await;
    let headers = vec![("traceparent".to_owned(), "mine".into())];
    let own = client_with(
        &script,
        &Options {
            headers,
            ..options()
        },
        0.0,
    );
    watched(&own, read(), &caller).await;
    assert_eq!(sent(&script), ["1", "2", "mine"]);
    let at = "https://docs.example.com/api/v2/thing";
    let expected = [
        format!("GET {at}"),
        format!("POST {at}?q=x"),
        format!("GET {at}"),
    ];
    assert_eq!(*caller.begun.lock().unwrap(), expected);
}

#[tokio::test(start_paused = true)]
async fn the_span_of_a_call_that_is_dropped_has_no_end() {
    let (script, caller) = (Script::new([Step::Never]), Caller::default());
    let client = client(&script);
    let call = watched(&client, read(), &caller);
    assert!(tokio::time::timeout(millis(10), call).await.is_err());
    assert_eq!(*caller.dropped.lock().unwrap(), [Seen::default()]);
    assert_eq!(*caller.ended.lock().unwrap(), 0);
}
