//! A key that changes: one 401, then the new key (faults.md, N13).

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use docplatform::client::observer::{About, Note, Observer};
use docplatform::client::{Call, Client, KeyRequest};
use docplatform::config::{ApiKey, Options, Renewal};
use docplatform::error::{Outcome, Result};
use serde_json::Value;
use tokio::time::sleep;

use crate::helpers::support::{
    KEY, Recorder, Script, Step, bare, client_with, good, json, millis, options, read, reply, write,
};

const NEW: &str = "dp_n3wS3cretKey9876543210/zyxwvu";

/// A caller whose function returns one key after another.
#[derive(Default)]
struct Caller {
    keys: Mutex<VecDeque<&'static str>>,
    log: Recorder,
}

impl Observer for Caller {
    fn note(&self, note: Note) {
        match &note.about {
            Some(About::Key(request)) if !request.is_over() => {
                let key = self.keys.lock().unwrap().pop_front();
                let key = key.expect("the function is called too often");
                request.answer(ApiKey::parse("api_key", &key.into()).unwrap());
            }
            _ => self.log.note(note),
        }
    }

    fn write(&self, outcome: Option<Outcome>) {
        self.log.write(outcome);
    }
}

fn caller(keys: impl Into<VecDeque<&'static str>>) -> Caller {
    Caller {
        keys: Mutex::new(keys.into()),
        ..Caller::default()
    }
}

fn client(script: &Arc<Script>, max_retries: u32) -> Client {
    let options = Options {
        api_key: None,
        renewal: Renewal::Function(0),
        max_retries,
        ..options()
    };
    client_with(script, &options, 0.0)
}

async fn send(client: &Client, call: Call, caller: &Caller) -> Result<Value> {
    client.call(call, caller, json).await
}

/// The keys that were sent.
fn sent(script: &Script) -> Vec<String> {
    let key = |value: &http::HeaderValue| value.to_str().unwrap().replace("Bearer ", "");
    let sent = script.sent();
    let headers = sent.iter().map(|sent| &sent.headers["authorization"]);
    headers.map(key).collect()
}

/// Rows: N13.
#[tokio::test(start_paused = true)]
async fn a_401_brings_the_next_key_once() {
    type Case = (&'static [&'static str], Vec<Step>, &'static [&'static str]);
    let cases = || -> Vec<Case> {
        vec![
            (&[KEY], vec![good()], &[KEY]),
            (&[KEY, NEW], vec![bare(401), good()], &[KEY, NEW]),
            // The same key again: a second request would change nothing.
            (&[KEY, KEY], vec![bare(401)], &[KEY]),
            (&[KEY, NEW], vec![bare(401), bare(401)], &[KEY, NEW]),
            (&[KEY], vec![bare(403)], &[KEY]),
        ]
    };
    for call in [read(), write()] {
        for (keys, steps, expected) in cases() {
            let (script, caller) = (Script::new(steps), caller(keys.to_vec()));
            let result = send(&client(&script, 0), call.clone(), &caller).await;
            assert_eq!(sent(&script), expected, "{call:?}");
            assert_eq!(caller.keys.lock().unwrap().len(), 0, "{call:?}");
            match result {
                Ok(_) => assert_eq!(script.count(), keys.len()),
                Err(error) => {
                    assert_eq!(error.attempts.len(), expected.len());
                    let rejected = call.is_write().then_some(Outcome::Rejected);
                    assert_eq!(error.outcome, rejected);
                }
            }
        }
    }
}

/// Rows: N13.
#[tokio::test(start_paused = true)]
async fn calls_at_the_same_time_share_a_new_key() {
    let script = Script::each(|request| match request.headers["authorization"].to_str() {
        Ok(key) if key.ends_with(NEW) => good(),
        // All are under way before the first one is refused.
        _ => reply(401, "").after(millis(1)).into(),
    });
    let (client, caller) = (client(&script, 2), caller([KEY, NEW]));
    let calls = (0..4).map(|_| send(&client, read(), &caller));
    for result in futures_util::future::join_all(calls).await {
        result.unwrap();
    }
    assert_eq!(script.count(), 8);
    send(&client, read(), &caller).await.unwrap();
    assert_eq!(script.count(), 9);
}

/// Keeps the requests for a key, for a test that answers them later.
#[derive(Default)]
struct Slow(Mutex<Vec<KeyRequest>>);

impl Observer for Slow {
    fn note(&self, note: Note) {
        if let Some(About::Key(request)) = note.about {
            self.0.lock().unwrap().push(request);
        }
    }
}

/// Rows: N13.
#[tokio::test(start_paused = true)]
async fn a_function_that_returns_late_does_not_bring_an_old_key_back() {
    let script = Script::each(|request| match request.headers["authorization"].to_str() {
        Ok(key) if key.ends_with(NEW) => good(),
        _ => bare(401),
    });
    let (client, slow) = (client(&script, 0), Slow::default());
    let call = async || client.call(read(), &slow, json).await;
    let answers = async {
        while slow.0.lock().unwrap().len() < 2 {
            sleep(millis(1)).await;
        }
        for text in [NEW, KEY] {
            let request = slow.0.lock().unwrap().remove(0);
            request.answer(ApiKey::parse("api_key", &text.into()).unwrap());
        }
    };
    let (first, second, ()) = tokio::join!(call(), call(), answers);
    first.unwrap();
    second.unwrap();
    assert_eq!(sent(&script), [NEW, NEW]);
}

/// A caller that has left: no request for the key is answered.
struct Left;

impl Observer for Left {
    fn note(&self, _: Note) {}
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_function_is_not_called_in_time_is_not_sent() {
    for (call, outcome) in [(read(), None), (write(), Some(Outcome::NotSent))] {
        let script = Script::new(Vec::<Step>::new());
        let error = client(&script, 2)
            .call(call, &Left, json)
            .await
            .unwrap_err();
        assert_eq!(error.outcome, outcome);
        let text = error.to_string();
        let ends = ": not sent, because the function of api_key was not called in time";
        assert!(text.ends_with(ends), "{text}");
        assert!(sent(&script).is_empty());
    }
}

/// Rows: N13, H1.
#[tokio::test(start_paused = true)]
async fn neither_the_old_nor_the_new_key_is_shown() {
    let echo = |key: &str| reply(401, format!("no such key: {key}"));
    let script = Script::new([echo(KEY), echo(&format!("{KEY} and {NEW}"))]);
    let (client, caller) = (client(&script, 2), caller([KEY, NEW]));
    let error = send(&client, read(), &caller).await.unwrap_err();
    let shown = format!(
        "{error:?} {:?} {client:?}",
        caller.log.notes(),
        client = client.settings()
    );
    for secret in [KEY, NEW] {
        assert!(!shown.contains(&secret[4..20]), "{shown}");
    }
    assert_eq!(client.key_hint().unwrap(), NEW[NEW.len() - 4..]);
}
