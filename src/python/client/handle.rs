//! The settings of a client, and its connections in this process.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::sync::Mutex;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;
use std::{env, process, thread};

use http::HeaderValue;
use http::header::ACCEPT;

use crate::budget::Budget;
use crate::client::{ClientStore, Limit, Stats};
use crate::clock::Clock;
use crate::config::{ENV_API_KEY_FILE, Options, Settings};
use crate::error::Result;
use crate::http::reqwest::HttpTransport;
use crate::lock;
use crate::python::bridge::{fork, runtime};
use crate::python::client::hooks::Hooks;
use crate::python::client::options;
use crate::python::prelude::*;
use crate::store::{PendingWork, Store};

/// A client's connections in one process, shared with its handles.
struct Pool {
    pid: u32,
    client: Client,
}

/// The part of a client that both faces share: its settings, and the way to its connections.
pub struct Handle {
    options: Options,
    pub hooks: Arc<Hooks>,
    pub settings: Arc<Settings>,
    /// `None` after `close`. Locked only while attached, and never while Python runs, so that no
    /// lock is held in a fork.
    pool: Mutex<Option<Arc<Mutex<Pool>>>>,
    stats: Arc<Stats>,
    /// Opened once. A forked child uses the same store by itself.
    store: Option<Store>,
}

impl Handle {
    /// The handle of a new client. The options are [resolved](resolve) already.
    pub fn new(py: Python<'_>, options: Options, hooks: Hooks) -> PyResult<Self> {
        // The first client gives the logger its null handler, if the package's import did not. The
        // others are for the first call, which may have no descriptor left to read a file, and may
        // run beside a fork: a child that is forked during an import waits for that import for
        // ever.
        for module in [
            "logging",
            "drive",
            "iteration",
            "frames",
            "progress",
            "children",
            "patience",
        ] {
            import(py, &format!("docplatform._hooks.{module}"))?;
        }
        let (settings, stats) = (Arc::new(options.check()?), Arc::default());
        let store = open_store(py, &options, &settings)?;
        let pool = Pool::new(&settings, &stats, store.as_ref(), None)?;
        look(py, &pool.client)?;
        Ok(Self {
            options,
            hooks: Arc::new(hooks),
            settings,
            pool: Mutex::new(Some(Arc::new(Mutex::new(pool)))),
            stats,
            store,
        })
    }

    /// A second handle, on the same connections where the changes allow it.
    pub fn with_options(
        &self,
        py: Python<'_>,
        changes: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let client = self.client()?;
        let (mut options, mut hooks) = (self.options.clone(), self.hooks.clone_ref(py));
        options::update(&mut options, &mut hooks, changes)?;
        let options = resolve(py, options, |_| true)?;
        let settings = Arc::new(options.check()?);
        let (stats, mut store) = (Arc::clone(&self.stats), self.store.clone());
        let pool = if let Some(client) = client.with(Arc::clone(&settings)) {
            look(py, &client)?;
            lock(&self.pool).clone()
        } else {
            if settings.store != self.settings.store {
                store = open_store(py, &options, &settings)?;
            }
            let pool = Pool::new(&settings, &stats, store.as_ref(), Some(&client))?;
            look(py, &pool.client)?;
            Some(Arc::new(Mutex::new(pool)))
        };
        Ok(Self {
            options,
            hooks: Arc::new(hooks),
            settings,
            pool: Mutex::new(pool),
            stats,
            store,
        })
    }

    /// The core client of this process.
    pub fn client(&self) -> Result<Client> {
        let Some(shared) = lock(&self.pool).clone() else {
            let why = "this client is closed; make a new one";
            return Err(Error::new(Kind::Misuse, why));
        };
        let mut pool = lock(&shared);
        if pool.pid != process::id() {
            *pool = Pool::new(&self.settings, &self.stats, self.store.as_ref(), None)?;
        }
        // Same address, key and wire by construction.
        Ok(pool
            .client
            .with(Arc::clone(&self.settings))
            .unwrap_or_else(|| pool.client.clone()))
    }

    /// The settings of one request, with more headers and another timeout.
    pub fn settings_for(
        &self,
        headers: Vec<(String, String)>,
        timeout: Option<f64>,
        raw: bool,
    ) -> Result<Arc<Settings>> {
        let mut options = self.options.clone();
        options.timeout = timeout.unwrap_or(options.timeout);
        // A write has twice the time. A read has it for its retries.
        options.deadline = timeout.map_or(options.deadline, |timeout| {
            options.deadline.max(2.0 * timeout)
        });
        for (name, value) in headers {
            options
                .headers
                .retain(|(other, _)| !other.eq_ignore_ascii_case(&name));
            options.headers.push((name, value.into()));
        }
        let mut settings = options.check()?;
        if raw {
            let any = HeaderValue::from_static("*/*");
            settings.headers.entry(ACCEPT).or_insert(any);
        }
        Ok(settings.into())
    }

    /// Closes the client. Returns the end of the store's work, if there is any.
    pub fn close(&self) -> Option<PendingWork<()>> {
        drop(lock(&self.pool).take()?);
        // If no thread can be started, the end of the process tries again.
        self.store.as_ref()?.close().ok().flatten()
    }

    fn is_closed(&self) -> bool {
        lock(&self.pool).is_none()
    }

    pub fn repr(&self, class: &str) -> String {
        let settings = &self.settings;
        let project = settings.project_id.as_ref();
        let project = project.map_or("None".to_owned(), |id| format!("'{}'", id.shown()));
        let mut more = String::new();
        if let Some(store) = self.store_path() {
            more += &format!(", store='{store}'");
        }
        if let Some(left) = self.left() {
            more += &format!(", budget_left={left}");
        }
        if self.is_closed() {
            more += ", closed";
        }
        format!(
            "{class}(base_url='{}', project_id={project}, api_key='{}'{more})",
            settings.base_url.as_str(),
            self.key(),
        )
    }

    /// The path of the store's file.
    fn store_path(&self) -> Option<String> {
        let path = self.settings.store.as_ref()?.path.to_string_lossy();
        Some(safe(&path, 256))
    }

    /// How many requests the budget allows now, as far as this client knows.
    fn left(&self) -> Option<String> {
        let [requests, _] = self.budgets_left().ok()?;
        requests.map(|left| left.to_string())
    }

    pub fn html(&self, py: Python<'_>, class: &str) -> Returned {
        let settings = &self.settings;
        let stats = self.stats.snapshot();
        let state = if self.is_closed() { "closed" } else { "open" };
        let project = settings.project_id.as_ref();
        let requests = format!("{} ({} of them retries)", stats.requests, stats.retries);
        let mut fields = vec![
            ("address", settings.base_url.as_str().to_owned()),
            ("project", project.map_or("", Segment::as_str).to_owned()),
            ("API key", self.key()),
            ("requests", requests),
            ("state", state.to_owned()),
        ];
        for (name, value) in [("store", self.store_path()), ("budget left", self.left())] {
            fields.extend(value.map(|value| (name, value)));
        }
        convert::call_hook(py, "notebook", "fields", (class, fields))
    }

    /// The part of the key that people may see.
    fn key(&self) -> String {
        let pool = lock(&self.pool).clone();
        let in_use = pool.and_then(|pool| {
            let pool = lock(&pool);
            // A forked child does not touch what its parent's threads may have locked.
            (pool.pid == process::id()).then(|| pool.client.key_hint())?
        });
        let first = || Some(self.settings.api_key.as_ref()?.hint()?.to_owned());
        let hint = in_use.or_else(first);
        format!("…{}", hint.unwrap_or_default())
    }

    pub fn stats(&self, py: Python<'_>) -> Returned {
        let [requests, jobs] = self.budgets_left()?;
        let stats = self.stats.snapshot();
        convert::named_tuple(
            py,
            "Stats",
            (stats.requests, stats.retries, stats.waited, requests, jobs),
        )
    }

    /// The requests and the new jobs that the budgets allow now. The file is never read, because
    /// this may run in the event loop and must not fail where a store does.
    fn budgets_left(&self) -> Result<[Option<u64>; 2]> {
        if self.is_closed() {
            return Ok([None, None]);
        }
        Ok(budgets(&self.client()?).map(|budget| budget.and_then(|budget| budget.left_as_seen())))
    }

    /// The content of its pickle. An error if that would include a secret.
    pub fn reduce<'py>(&self, class: &Bound<'py, PyType>) -> PyResult<(Object<'py>, ())> {
        let py = class.py();
        if let Some(secret) = self.options.secret() {
            return Err(PyTypeError::new_err(format!(
                "this client cannot be pickled or copied, because its {secret} may hold secrets; \
                 make the client where it is used"
            )));
        }
        let settings = options::to_dict(py, &self.options)?;
        settings.set_item("on_attempt", &self.hooks.on_attempt)?;
        // The key comes from the environment of the process that calls it.
        let make = import(py, "functools")?
            .getattr("partial")?
            .call_out_with((class,), Some(&settings))?;
        Ok((make, ()))
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if self.pid != process::id() {
            // A forked child: the parent's connections are not to be touched, nor what its threads
            // may have locked.
            std::mem::forget(self.client.clone());
        }
    }
}

impl Pool {
    /// Connections for `settings`. A handle of another client, `of`, keeps within the limits of
    /// that client.
    fn new(
        settings: &Arc<Settings>,
        stats: &Arc<Stats>,
        store: Option<&Store>,
        of: Option<&Client>,
    ) -> Result<Self> {
        let transport = HttpTransport::new(settings)?;
        let client_store = store
            .zip(settings.store.as_ref())
            .map(|(store, wanted)| ClientStore {
                store: store.clone(),
                clock: Clock::system(),
                owner: wanted.owner.clone(),
            });
        let apart = of.and_then(|of| {
            of.apart(
                Arc::clone(settings),
                transport.clone(),
                client_store.clone(),
            )
        });
        let client = apart.unwrap_or_else(|| {
            let (settings, stats) = (Arc::clone(settings), Arc::clone(stats));
            Client::new(settings, transport, stats, fastrand::f64, client_store)
        });
        let pid = process::id();
        Ok(Self { pid, client })
    }
}

/// Opens the store, if the settings name one. A fork waits while it is worked on. The end of the
/// process closes it.
fn open_store(py: Python<'_>, options: &Options, settings: &Settings) -> PyResult<Option<Store>> {
    let Some(wanted) = &settings.store else {
        return Ok(None);
    };
    fork::register_hooks(py)?;
    runtime::stop_at_exit(py)?;
    let open = || {
        let store = Store::to_write(&wanted.path)?;
        store.ask(|_| Ok(())).map(|asked| (store, asked))
    };
    let named = |error: Error| match options.variable_of(Setting::Store) {
        Some(variable) => error.prefixed(format!("{variable}: ")),
        None => error,
    };
    // A thread that forks keeps the list of open files while it asks for the interpreter.
    let (store, mut asked) = py.detach(open).map_err(named)?;
    wait(py, |step| asked.wait_for(step))?.map_err(named)?;
    Ok(Some(store))
}

/// The budgets that `stats` shows: of requests, and of new jobs in the client's project.
fn budgets(client: &Client) -> [Option<Budget>; 2] {
    let project = client.settings().project_id.as_ref();
    [
        client.budget(),
        project.and_then(|project| client.budget_of(Limit::Jobs(project))),
    ]
}

/// Reads ledgers that this process has not seen yet, for `stats`.
fn look(py: Python<'_>, client: &Client) -> PyResult<()> {
    for budget in budgets(client).into_iter().flatten() {
        if budget.left_as_seen().is_none()
            && let Some(mut asked) = budget.look()?
        {
            wait(py, |step| asked.wait_for(step))??;
        }
    }
    Ok(())
}

/// The options, completed by the variables of the environment that count.
pub fn resolve(py: Python<'_>, options: Options, counts: fn(&str) -> bool) -> PyResult<Options> {
    // A copy, because Python's other threads may change the environment meanwhile.
    let environment: HashMap<_, _> = env::vars_os().collect();
    let names_file = environment.contains_key(OsStr::new(ENV_API_KEY_FILE));
    let resolve = move || {
        options.resolve(|name| {
            environment
                .get(OsStr::new(name))
                .filter(|_| counts(name))
                .cloned()
        })
    };
    if names_file {
        read_aside(py, resolve)
    } else {
        Ok(resolve()?)
    }
}

/// Runs `read` in a thread of its own, because its file may be a pipe without a writer. Ctrl-C ends
/// the wait.
pub fn read_aside<T: Send + 'static>(
    py: Python<'_>,
    read: impl FnOnce() -> Result<T> + Send + 'static,
) -> PyResult<T> {
    let (answer, came) = mpsc::channel();
    thread::Builder::new().spawn(move || drop(answer.send(read())))?;
    let result = wait(py, move |step| match came.recv_timeout(step) {
        Ok(result) => Some(result),
        Err(RecvTimeoutError::Timeout) => None,
        Err(RecvTimeoutError::Disconnected) => Some(Err(Error::bug("a file's reader panicked"))),
    });
    Ok(result??)
}

/// Waits on the calling thread in steps, until `take` has a result. Ctrl-C ends the wait.
pub fn wait<T: Send>(
    py: Python<'_>,
    mut take: impl FnMut(Duration) -> Option<Result<T>> + Send,
) -> PyResult<Result<T>> {
    let mut result = None;
    loop {
        runtime::blocked(py, || result = take(runtime::SIGNAL_CHECK_INTERVAL));
        if let Some(result) = result.take() {
            return Ok(result);
        }
        py.check_signals()?;
    }
}
