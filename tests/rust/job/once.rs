//! Creations under a name: calls at the same time, and what each costs.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use docplatform::client::Client;
use docplatform::client::observer::{Note, Observer};
use docplatform::clock::Clock;
use docplatform::error::{Kind, Result};
use docplatform::job::once::{self, OnceName};
use docplatform::job::wait::JobObserver;
use docplatform::job::{Job, NamedJob, Prompt};
use docplatform::store::{NameState, Store, StoreExecutor, StoreWork};
use futures_util::future::join_all;
use rusqlite::Connection;
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

fn name(name: &str) -> OnceName {
    OnceName::parse(name.to_owned()).unwrap()
}

async fn create(client: &Client, under: &str, observer: &dyn JobObserver) -> Result<Job> {
    let (project, under) = (segment("demo"), Some(name(under)));
    once::write(client, project, None, prompt(), under, observer).await
}

/// Rows: M12.
#[tokio::test(start_paused = true)]
async fn a_wait_for_anothers_creation_is_announced_within_ten_seconds_and_once_it_is_long() {
    let (_directory, _path, store) = opened();
    let script = Script::each(|_| reply(201, job_body("active")).after(secs(40)).into());
    let client = client_in_store(&script, &options(), &store, Clock::system());
    let first = tokio::spawn({
        let client = client.clone();
        async move { create(&client, "docs-1.4", &Recorder::default()).await }
    });
    while script.count() == 0 {
        sleep(millis(1)).await;
    }
    let (waits, begun) = (Waits::default(), Instant::now());
    let second = create(&client, "docs-1.4", &waits).await;
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

/// Processes that look at a name do not keep each other from it.
#[tokio::test]
async fn a_name_whose_job_no_call_creates_is_never_being_created() {
    let (_directory, path, store) = opened();
    let script = Script::each(|_| reply(500, "{}").into());
    // A store of its own has a thread of its own, as in another process.
    let clients = [
        store,
        Store::open(&path).unwrap(),
        Store::open(&path).unwrap(),
    ]
    .map(|store| client_in_store(&script, &options(), &store, Clock::system()));
    let (project, ear) = (segment("demo"), Recorder::default());
    let unknown = |made: Result<Job>| made.is_err_and(|error| error.kind == Kind::UnconfirmedWrite);
    for number in 0..20 {
        let under = format!("docs-{number}");
        assert!(unknown(create(&clients[0], &under, &ear).await));
        let looks = join_all(clients.iter().map(|client| create(client, &under, &ear)));
        let lists = join_all(clients.iter().map(|client| once::list(client, &project)));
        let id = format!("job-{number}");
        let job = NamedJob {
            id: segment(&id),
            last: None,
        };
        let resolve = once::resolve(&clients[2], &project, name(&under), Some(job));
        let (looks, lists, resolved) = tokio::join!(looks, lists, resolve);
        resolved.unwrap();
        for look in looks {
            assert!(look.as_ref().is_ok_and(|job| job.id.as_str() == id) || unknown(look));
        }
        for (_, state) in lists.into_iter().flat_map(Result::unwrap) {
            assert_ne!(state, NameState::Creating);
        }
    }
    assert_eq!(script.count(), 20);
}

#[tokio::test]
async fn a_creation_under_a_name_uses_the_store_four_times() {
    let (_directory, path, _) = opened();
    let (trips, connection) = (
        Arc::new(AtomicUsize::new(0)),
        Mutex::new(Connection::open(&path).unwrap()),
    );
    let counted = Arc::clone(&trips);
    let desk: StoreExecutor = Arc::new(move |work: StoreWork| {
        counted.fetch_add(1, Ordering::Relaxed);
        work.perform(Ok(&mut connection.lock().unwrap()));
    });
    let store = Store::done_by(&path, desk).unwrap();
    let script = Script::each(|_| reply(201, job_body("active")).into());
    let client = client_in_store(&script, &options(), &store, Clock::system());
    let ear = Recorder::default();
    let job = create(&client, "docs-1.4", &ear).await.unwrap();
    assert_eq!(trips.load(Ordering::Relaxed), 4);
    assert_eq!(create(&client, "docs-1.4", &ear).await.unwrap(), job);
    assert_eq!(trips.load(Ordering::Relaxed), 5);
}

/// Rows: N3.
#[tokio::test]
async fn a_name_is_of_one_creation_or_of_one_message_to_one_job() {
    let (_directory, path, store) = opened();
    let script = Script::each(|_| reply(200, job_body("active")).into());
    let ear = Recorder::default();
    let clients = [store, Store::open(&path).unwrap()]
        .map(|store| client_in_store(&script, &options(), &store, Clock::system()));
    let send = |client: &Client, to: Option<&str>, under: &str, text: &str| {
        let (client, to, under) = (client.clone(), to.map(segment), Some(name(under)));
        let text = Prompt::parse(text.to_owned()).unwrap();
        let ear = &ear;
        async move { once::write(&client, segment("demo"), to, text, under, ear).await }
    };
    let both = clients
        .iter()
        .map(|client| send(client, Some("job_1"), "more", "More"));
    for sent in join_all(both).await {
        assert_eq!(sent.unwrap().id.as_str(), "job_1");
    }
    send(&clients[0], None, "new", "More").await.unwrap();
    assert_eq!(script.count(), 2);
    for (to, under, text, says) in [
        (Some("job_1"), "more", "Less", "with another prompt"),
        (Some("job_2"), "more", "More", "for a message to job job_1"),
        (None, "more", "More", "for a message to job job_1"),
        (Some("job_1"), "new", "More", "to create a job"),
    ] {
        let error = send(&clients[1], to, under, text).await.unwrap_err();
        assert_eq!(error.kind, Kind::Argument);
        assert!(error.to_string().contains(says), "{error}");
    }
    assert_eq!(script.count(), 2);
}
