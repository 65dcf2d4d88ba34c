//! Creations under a name: what a call tells while another one creates its job.

use std::sync::Mutex;

use docplatform::client::observer::{Note, Observer};
use docplatform::clock::Clock;
use docplatform::job::observer::JobObserver;
use docplatform::job::once::{self, OnceName};
use tokio::time::{Instant, sleep};

use crate::budget::ledger::opened;
use crate::helpers::support::{
    Recorder, Script, client_in_store, job_body, millis, options, prompt, reply, secs, segment,
};

/// Keeps when a call told of a wait, and whether that was long.
#[derive(Default)]
struct Waits(Mutex<Vec<(Instant, bool)>>);

impl Observer for Waits {
    fn note(&self, note: Note) {
        if let Some(waiting) = note.waiting {
            self.0.lock().unwrap().push((Instant::now(), waiting.long));
        }
    }
}

impl JobObserver for Waits {}

/// Rows: M12.
#[tokio::test(start_paused = true)]
async fn a_wait_for_anothers_creation_is_announced_within_ten_seconds_and_once_it_is_long() {
    let (_directory, _path, store) = opened();
    let script = Script::each(|_| reply(201, job_body("active")).after(secs(40)).into());
    let client = client_in_store(&script, &options(), &store, Clock::system());
    let name = || Some(OnceName::parse("docs-1.4".to_owned()).unwrap());
    let first = tokio::spawn({
        let client = client.clone();
        async move {
            once::create(
                &client,
                segment("demo"),
                prompt(),
                name(),
                &Recorder::default(),
            )
            .await
        }
    });
    while script.count() == 0 {
        sleep(millis(1)).await;
    }
    let (waits, begun) = (Waits::default(), Instant::now());
    let second = once::create(&client, segment("demo"), prompt(), name(), &waits).await;
    assert_eq!(second.unwrap(), first.await.unwrap().unwrap());
    let announced: Vec<_> = waits
        .0
        .lock()
        .unwrap()
        .iter()
        .map(|&(at, long)| (at - begun, long))
        .collect();
    let [(soon, false), (late, true)] = announced[..] else {
        panic!("{announced:?}")
    };
    assert!(soon <= secs(2), "{soon:?}");
    assert!(late > secs(10) && late <= secs(11), "{late:?}");
    assert_eq!(script.count(), 1);
}
