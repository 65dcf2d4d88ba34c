//! The client: its settings, and what it and its handles share. [`Client::fetch`], on which
//! [`Client::call`] rests, is the only way to the transport.

pub mod admission;
pub mod messages;
pub mod observer;
pub mod policy;
pub mod throttle;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use jiff::civil::Date;
use tokio::sync::Semaphore;

use crate::budget::{Budget, Ledger};
use crate::client::keys::Keys;
use crate::client::new_jobs::NewJobs;
use crate::client::policy::RetryQuota;
use crate::client::throttle::Throttle;
use crate::clock::{Clock, Millis};
use crate::config::Settings;
use crate::config::url::Segment;
use crate::error::{Error, Result};
use crate::http::{MAX_READS, MAX_WRITES, Transport};
use crate::lock;
use crate::store::{Exports, OnceNames};
use crate::text::message::{Setting, message};

mod attempt;
mod call;
mod keys;
mod new_jobs;
mod retry;
mod stats;

pub use crate::store::ClientStore;
pub use attempt::{Failure, Head};
pub use call::{Answer, CREATE_JOB, Call, DecodeError, Journal, Limit, SingleFlight};
pub use keys::KeyRequest;
pub use retry::Received;
pub use stats::{Snapshot, Stats};

/// The state that a client shares with its handles at one address with one key. Their connections
/// may differ.
struct Shared {
    reads: Permits,
    writes: Permits,
    throttle: Throttle,
    retry_quota: Mutex<RetryQuota>,
    new_jobs: NewJobs,
    keys: Keys,
    jitter: Box<dyn Fn() -> f64 + Send + Sync>,
}

/// The permits of the reads or of the writes of a client.
struct Permits {
    in_flight: Semaphore,
    /// For calls that wait for the ledger or have a grant: at most as many as may be in flight.
    grants: Semaphore,
}

impl Permits {
    fn new(most: usize) -> Self {
        Self {
            in_flight: Semaphore::new(most),
            grants: Semaphore::new(most),
        }
    }
}

/// The state that the handles of one client share, as long as they have the same store.
struct StoreState {
    clock: Clock,
    store: Option<Arc<ClientStore>>,
    /// The ledgers that were used: of analytics, and of the new jobs of projects.
    ledgers: Mutex<BTreeMap<Option<String>, Ledger>>,
    exports: Option<Exports>,
    names: Option<OnceNames>,
}

impl StoreState {
    fn new(store: Option<ClientStore>) -> Arc<Self> {
        let store = store.map(Arc::new);
        let clock = store
            .as_ref()
            .map_or_else(Clock::system, |store| store.clock.clone());
        Arc::new(Self {
            clock,
            ledgers: Mutex::default(),
            exports: store.clone().map(Exports::new),
            names: store.clone().map(OnceNames),
            store,
        })
    }

    fn ledger(&self, limit: Limit<'_>) -> Ledger {
        let project = match limit {
            Limit::Analytics => None,
            Limit::Jobs(project) => Some(project),
        };
        let make = || match self.store.as_deref() {
            None => Ledger::in_memory(Clock::steady()),
            Some(ClientStore {
                store,
                clock,
                owner,
            }) => {
                let owner = project.map_or_else(|| owner.clone(), |project| owner.jobs_of(project));
                Ledger::in_store(clock.clone(), store.clone(), owner)
            }
        };
        let known = project.map(|project| project.as_str().to_owned());
        lock(&self.ledgers)
            .entry(known)
            .or_insert_with(make)
            .clone()
    }
}

/// The choice of a call when the budget is spent, and of a sync while another one fills its store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WaitOrStop {
    /// It waits, and says so.
    #[default]
    Wait,
    Stop,
}

/// The core client. A clone is the same client.
#[derive(Clone)]
pub struct Client {
    settings: Arc<Settings>,
    transport: Arc<dyn Transport>,
    shared: Arc<Shared>,
    store_state: Arc<StoreState>,
    stats: Arc<Stats>,
    on_budget: WaitOrStop,
}

impl Client {
    /// A client with connections of its own. `jitter` gives random numbers from 0 to 1. Without a
    /// store it keeps its budget by itself.
    pub fn new(
        settings: impl Into<Arc<Settings>>,
        transport: Arc<dyn Transport>,
        stats: Arc<Stats>,
        jitter: impl Fn() -> f64 + Send + Sync + 'static,
        store: Option<ClientStore>,
    ) -> Self {
        let settings = settings.into();
        let shared = Shared {
            reads: Permits::new(MAX_READS),
            writes: Permits::new(MAX_WRITES),
            throttle: Throttle::default(),
            retry_quota: Mutex::default(),
            new_jobs: NewJobs::default(),
            keys: Keys::new(settings.api_key.as_ref()),
            jitter: Box::new(jitter),
        };
        Self {
            settings,
            transport,
            shared: Arc::new(shared),
            store_state: StoreState::new(store),
            stats,
            on_budget: WaitOrStop::default(),
        }
    }

    /// A second handle with other settings on the same connections, throttle and counts. `None` if
    /// the change needs connections or a store of its own, or makes it another user of the service.
    pub fn with(&self, settings: impl Into<Arc<Settings>>) -> Option<Self> {
        let settings = settings.into();
        let (old, new) = (&self.settings, &settings);
        let same = self.is_for(new) && old.wire == new.wire && old.store == new.store;
        same.then(|| Self {
            settings,
            ..self.clone()
        })
    }

    /// A second handle on connections of its own. It keeps within the same limits: throttle,
    /// permits and the retry quota, and the budget where its store is the same. With a budget in
    /// another store it does not see this one's 429 of analytics or of a new job. `None` if the
    /// change makes it another user of the service.
    pub fn apart(
        &self,
        settings: impl Into<Arc<Settings>>,
        transport: Arc<dyn Transport>,
        store: Option<ClientStore>,
    ) -> Option<Self> {
        let settings = settings.into();
        let store_state = match self.settings.store == settings.store {
            true => Arc::clone(&self.store_state),
            false => StoreState::new(store),
        };
        self.is_for(&settings).then(|| Self {
            settings,
            transport,
            store_state,
            ..self.clone()
        })
    }

    /// Whether the service takes both for the same user.
    fn is_for(&self, settings: &Settings) -> bool {
        let (old, new) = (&*self.settings, settings);
        old.base_url == new.base_url && old.api_key == new.api_key && old.renewal == new.renewal
    }

    /// The same client, which waits or stops when the budget is spent.
    #[must_use]
    pub fn on_budget(&self, on_budget: WaitOrStop) -> Self {
        Self {
            on_budget,
            ..self.clone()
        }
    }

    /// The budget of analytics requests, if one is kept.
    pub fn budget(&self) -> Option<Budget> {
        self.budget_of(Limit::Analytics)
    }

    pub fn budget_of(&self, limit: Limit<'_>) -> Option<Budget> {
        let terms = match limit {
            Limit::Analytics => self.settings.terms,
            Limit::Jobs(_) => self.settings.job_terms,
        };
        terms.map(|terms| self.store_state.ledger(limit).budget(terms))
    }

    /// The time of day, as it and its store know it.
    pub(crate) fn now(&self) -> Millis {
        self.store_state.clock.now()
    }

    /// The day that it is in UTC.
    pub(crate) fn today(&self) -> Date {
        self.store_state.clock.today()
    }

    pub fn exports(&self) -> Option<&Exports> {
        self.store_state.exports.as_ref()
    }

    /// The names of creations and messages that are made once, if it has a store.
    pub fn names(&self) -> Option<&OnceNames> {
        self.store_state.names.as_ref()
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The last letters of the key in use, for people to tell keys apart.
    pub fn key_hint(&self) -> Option<String> {
        let known = self.shared.keys.known();
        known.last()?.hint().map(str::to_owned)
    }

    /// The secret that `text` repeats, if any.
    pub(crate) fn secret_in(&self, text: &str) -> Option<&'static str> {
        self.settings.secret_in(text, &self.shared.keys.known())
    }

    pub fn stats(&self) -> &Arc<Stats> {
        &self.stats
    }

    pub(crate) fn new_jobs(&self) -> &NewJobs {
        &self.shared.new_jobs
    }

    pub(crate) fn jitter(&self) -> f64 {
        (self.shared.jitter)()
    }

    /// The project of a call: the one named, or the client's.
    pub fn project(&self, named: Option<&str>) -> Result<Segment> {
        if let Some(id) = named {
            return Segment::parse(Setting::ProjectId, id);
        }
        self.settings.project_id.clone().ok_or_else(|| {
            Error::configuration(message![
                "no project: pass ",
                Setting::ProjectId.argument(),
                " or set ",
                crate::config::ENV_PROJECT_ID,
            ])
        })
    }
}
