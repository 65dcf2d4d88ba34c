//! A process: what it does, one thing after another, through kills and restarts.

use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use docplatform::client::observer::{Note, Observer, ObserverOptions, Span, Tracer};
use docplatform::client::{Call, Client, ClientStore, Stats, WaitOrStop};
use docplatform::config::account::{Organization, Owner};
use docplatform::config::{ApiKey, Options};
use docplatform::error::Attempt;
use docplatform::export::observer::ExportObserver;
use docplatform::job::wait::JobObserver;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::HeaderValue;
use tokio::time::{Instant, sleep};
use url::Url;

use crate::dice::Dice;
use crate::disk;
use crate::net::Net;
use crate::scenario::{ADDRESSES, Op, PROJECTS, Scenario};
use crate::world::{End, Life, World};
use crate::{budget, calls, exports, once, ranges};

const KEY: &str = "dp_5ecretKey0123456789/abcdef+WXYZ";
/// Added to the number of a wait: it asks the same again and again.
pub(crate) const POLLS: u64 = 1 << 40;
/// How many calls an operation of a process may make.
const CALLS: u64 = 1_000_000;
/// How many operations a process may have.
const OPS: u64 = 100;
/// How often a user tries the same again.
pub(crate) const MAX_TRIES: u32 = 4;

/// The progress of a process, on its own disk.
#[derive(Default)]
pub(crate) struct Desk {
    op: usize,
    calls: u64,
    tries: u32,
    /// When it began with that.
    pub(crate) since: Option<u64>,
    pub(crate) export: Option<exports::Progress>,
}

impl Desk {
    /// Goes on to the next thing, or says after how many seconds this one is tried again.
    fn after(&mut self, done: Done) -> Option<u64> {
        if let Done::Again(seconds) = done {
            self.tries += 1;
            if self.tries < MAX_TRIES {
                return Some(seconds);
            }
        }
        (self.op, self.tries, self.export, self.since) = (self.op + 1, 0, None, None);
        None
    }
}

/// One life of a process with what it has.
#[derive(Clone)]
pub(crate) struct Process {
    pub(crate) life: Arc<Life>,
    pub(crate) client: Client,
    pub(crate) desk: Arc<Mutex<Desk>>,
}

/// The process and the operation that a call belongs to.
pub(crate) fn op_of(tag: u64) -> (usize, usize) {
    let number = tag % POLLS / CALLS;
    ((number / OPS) as usize, (number % OPS) as usize)
}

/// The observer of a call. It carries the call's number to the network.
pub(crate) struct Ear {
    pub(crate) tag: u64,
    life: Arc<Life>,
}

impl Ear {
    /// The same for the polls of a wait.
    pub(crate) fn of_polls(&self) -> Self {
        Self {
            tag: self.tag + POLLS,
            life: Arc::clone(&self.life),
        }
    }
}

impl Observer for Ear {
    fn note(&self, note: Note) {
        let why = note.waiting.map(|waiting| waiting.why);
        if why.is_some_and(|why| why.contains("budget")) {
            budget::check_spent(&self.life, self.tag);
        }
    }

    fn options(&self) -> ObserverOptions {
        ObserverOptions {
            tracer: Some(Arc::new(Tag(self.tag))),
            ..ObserverOptions::default()
        }
    }
}

/// The span of each of its calls, whose name on the wire is the call's number.
struct Tag(u64);

impl Tracer for Tag {
    fn begin(&self, _call: &Call, _url: &Url) -> BoxFuture<'static, Option<Box<dyn Span>>> {
        let span: Box<dyn Span> = Box::new(Self(self.0));
        std::future::ready(Some(span)).boxed()
    }
}

impl Span for Tag {
    fn header(&self) -> Option<HeaderValue> {
        Some(HeaderValue::from(self.0))
    }

    fn attempted(&mut self, _attempt: &Attempt) {}

    fn end(&mut self, _error: Option<&'static str>) {}
}

impl ExportObserver for Ear {}
impl JobObserver for Ear {}

/// Whether what was done is done with.
pub(crate) enum Done {
    Yes,
    /// The user tries again after this number of seconds.
    Again(u64),
}

impl Process {
    fn new(life: Arc<Life>, desk: Arc<Mutex<Desk>>) -> Self {
        let scenario = &life.world.scenario;
        let settings = &scenario.settings;
        let seconds = |seconds: u64| seconds as f64;
        let base_url = ADDRESSES[scenario.address(life.process)];
        let options = Options {
            api_key: Some(KEY.into()),
            base_url: Some(base_url.to_owned()),
            project_id: Some("alpha".to_owned()),
            timeout: seconds(settings.timeout),
            connect_timeout: seconds(settings.timeout.min(5)),
            deadline: seconds(settings.deadline),
            max_retries: settings.max_retries,
            max_retry_after: seconds(settings.max_retry_after),
            requests_per_hour: settings.budget.map(|(per_hour, _)| per_hour),
            reserve: settings.budget.map(|(_, reserve)| reserve),
            jobs_per_hour: settings.jobs,
            ..Options::default()
        };
        let organization = Organization::Key(ApiKey::parse("api_key", &KEY.into()).unwrap());
        let store = settings.store.then(|| ClientStore {
            store: disk::store(&life),
            clock: life.world.clock(),
            owner: Owner {
                base_url: base_url.to_owned(),
                organization,
            },
        });
        let jitter = jitter(scenario, life.process);
        let net = Arc::new(Net(Arc::clone(&life)));
        let client = Client::new(
            options.validate(|_| None).unwrap(),
            net,
            Arc::<Stats>::default(),
            move || jitter,
            store,
        );
        let client = client.on_budget(if settings.stops {
            WaitOrStop::Stop
        } else {
            WaitOrStop::Wait
        });
        Self { life, client, desk }
    }

    pub(crate) fn world(&self) -> &Arc<World> {
        &self.life.world
    }

    /// The observer of one more call.
    pub(crate) fn ear(&self) -> Arc<Ear> {
        let tags = self.tags();
        let mut desk = self.desk.lock().unwrap();
        desk.calls += 1;
        Arc::new(Ear {
            tag: tags.start + desk.calls,
            life: Arc::clone(&self.life),
        })
    }

    /// By what all calls are known that belong to what it does now.
    pub(crate) fn tags(&self) -> Range<u64> {
        let begin = (self.life.process as u64 * OPS + self.desk.lock().unwrap().op as u64) * CALLS;
        begin..begin + CALLS
    }

    /// Something that must not be; of the dead, nothing is said.
    pub(crate) fn violation(&self, what: impl Into<String>) {
        if !self.life.is_dead() {
            self.world().violation(what);
        }
    }

    async fn run(self) {
        loop {
            let (number, tries) = {
                let mut desk = self.desk.lock().unwrap();
                desk.since.get_or_insert_with(|| self.world().now());
                (desk.op, desk.tries)
            };
            let Some(&op) = self.world().scenario.processes[self.life.process].get(number) else {
                return;
            };
            self.world()
                .note(|| format!("process {} does {op:?}, try {tries}", self.life.process));
            let done = match op {
                Op::Pause { seconds } => {
                    sleep(Duration::from_secs(seconds)).await;
                    Done::Yes
                }
                Op::Export(plan) => exports::exports(&self, plan).await,
                Op::Totals(what) => ranges::totals(&self, what).await,
                Op::Sync {
                    endpoint,
                    day,
                    days,
                    totals,
                } => ranges::sync_days(&self, endpoint, day..day + days, totals).await,
                Op::Once { name, prompt } if self.client.names().is_some() => {
                    once::once(&self, name, prompt).await
                }
                Op::Nothing | Op::Once { .. } => Done::Yes,
                Op::Job {
                    message,
                    timeout,
                    project,
                } => calls::job(&self, message, timeout, PROJECTS[project]).await,
                Op::Reads { count, analytics } => calls::reads(&self, count, analytics).await,
            };
            let again = self.desk.lock().unwrap().after(done);
            if let Some(seconds) = again {
                sleep(Duration::from_secs(seconds)).await;
            }
        }
    }
}

/// An hour after the last request the whole budget is there again. A clock that was set back delays
/// it by as long.
pub(crate) async fn spend(world: &Arc<World>) {
    let Scenario {
        settings,
        seed,
        jumps,
        processes,
        ..
    } = &world.scenario;
    let Some((per_hour, reserve)) = settings.budget else {
        return;
    };
    // The service may have asked for a longer wait.
    let is_throttled = world
        .state()
        .sent
        .iter()
        .any(|sent| matches!(sent.end, End::Status(429, _)));
    if !settings.store
        || is_throttled
        || !world.scenario.disk_is_good()
        || jumps.is_empty() && !seed.is_multiple_of(8)
    {
        return;
    }
    let life = Life::new(world, processes.len(), 0);
    let client = Process::new(life, Arc::default()).client;
    let Some(budget) = client.budget() else {
        return;
    };
    let back: u64 = jumps.iter().map(|jump| jump.by.min(0).unsigned_abs()).sum();
    // A request without an answer counts for as long as its client would have waited for it.
    let hour = Duration::from_secs(3_601 + settings.deadline.max(60));
    sleep(hour + Duration::from_millis(back)).await;
    let mut tickets = Vec::new();
    while (tickets.len() as u64) < per_hour - reserve
        && let Ok(Ok(ticket)) = budget
            .acquire(Instant::now() + Duration::from_hours(1))
            .await
    {
        tickets.push(ticket);
    }
    let granted = tickets.len() as u64;
    if granted < per_hour - reserve {
        world.violation(format!(
            "{granted} requests are granted an hour later, of {}",
            per_hour - reserve
        ));
    }
}

/// The number that a client's dice always show, so that its pauses are known.
pub(crate) fn jitter(scenario: &Scenario, process: usize) -> f64 {
    ((scenario.settings.jitter + process as u64) % 3) as f64 / 2.0
}

/// Runs a process to its end, and starts it again whenever it is killed.
pub(crate) async fn live(world: Arc<World>, number: usize) {
    let desk = Arc::<Mutex<Desk>>::default();
    let mut dice = Dice::of(world.scenario.seed, &[7, number as u64]);
    for life in 0.. {
        let life = Life::new(&world, number, life);
        let process = Process::new(Arc::clone(&life), Arc::clone(&desk));
        let client = process.client.clone();
        let mut task = tokio::spawn(process.run());
        tokio::select! {
            biased;
            () = life.killed.notified() => {
                task.abort();
                let _ = task.await;
                disk::lose(&life);
                world.bury();
            }
            ended = &mut task => {
                if let Err(error) = ended {
                    world.violation(format!("a panic: {error}"));
                }
                calls::check_counts(&life, &client);
                return;
            }
        }
        drop(client);
        sleep(Duration::from_millis(dice.pick(&[0, 10, 5_000, 600_000]))).await;
    }
}
