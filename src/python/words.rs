//! Messages in Python's words: settings are arguments, advice names calls.

use pythonize::pythonize;
use serde_json::Value;

use crate::python::prelude::*;
use crate::text::is_invisible;
use crate::text::message::Part;

const SAME_PAGE: &str = "copy the key and the project's id from the same page of the dashboard";

/// What may name a proxy.
const PROXIES: &str = "proxy=, or the environment's HTTPS_PROXY, HTTP_PROXY or ALL_PROXY";

pub fn words(message: &Message) -> String {
    message.parts().iter().map(part).collect()
}

fn part(part: &Part) -> String {
    match part {
        Part::Text(text) => text.to_string(),
        Part::Setting(setting) => setting.as_str().to_owned(),
        Part::Argument(setting, value) => {
            let value = match value {
                Value::Null => String::new(),
                Value::Bool(flag) => bool_literal(*flag).to_owned(),
                Value::String(text) => quoted(text),
                other => other.to_string(),
            };
            format!("{}={value}", setting.as_str())
        }
        Part::Advice(what) => format!("; {}", advice(what)),
    }
}

fn bool_literal(flag: bool) -> &'static str {
    if flag { "True" } else { "False" }
}

/// The most characters of a literal: no name and no id has more.
const MAX_LITERAL: usize = 256;

/// `text` as a literal of Python, for people to copy.
fn quoted(text: &str) -> String {
    let spelled = |c: char| match c {
        '"' | '\\' => format!("\\{c}"),
        _ if c.is_control() || is_invisible(c) => format!("\\U{:08x}", u32::from(c)),
        _ => c.into(),
    };
    let text: String = text.chars().take(MAX_LITERAL).map(spelled).collect();
    format!("\"{text}\"")
}

fn advice(advice: &Advice) -> String {
    let text = match advice {
        Advice::AvoidCache {} => {
            "a proxy or cache on the way answers for the service: avoid it with proxy= or trust_env=False, and send no \
             conditional headers"
        }
        Advice::CallAfter { seconds: None } => {
            "the answer has no Retry-After that can be read: try again in some minutes"
        }
        Advice::CallAfter {
            seconds: Some(seconds),
        } => return format!("try again after {seconds} s"),
        Advice::CallLater {} => "this often passes: call again later",
        Advice::ChangeAddress { location } => {
            return format!(
                "redirects are never followed (to {location}): set base_url to the service's own address"
            );
        }
        Advice::ChangeRequest { has_text: true } => {
            "the service refuses the request as it is: change what its text names"
        }
        Advice::ChangeRequest { has_text: false } => {
            "the service refuses the request as it is, and does not say why: check the arguments"
        }
        Advice::CheckIds { job_path: true } => {
            "check the ids, job_path=, project_id= and base_url="
        }
        Advice::CheckIds { job_path: false } => {
            return format!("check the ids, project_id and base_url: {SAME_PAGE}");
        }
        Advice::CheckKey { variable } => {
            return format!(
                "check the API key ({}): it may have expired, often after 90 days, or be of another kind; copy a valid \
                 one from the dashboard",
                variable.as_deref().unwrap_or("api_key")
            );
        }
        Advice::CheckKeyRights { write } => {
            let read_only = if *write { "read-only, " } else { "" };
            return format!(
                "the API key may be {read_only}limited to other network addresses, or of another project: {SAME_PAGE}"
            );
        }
        Advice::CheckNetwork {} => {
            "check base_url and the network: docplatform doctor looks at both"
        }
        Advice::CheckPage {} => {
            "a login page, a proxy or another server may have answered: check that base_url is the address of the API"
        }
        Advice::CheckPath {} => "check the path and the ids in it",
        Advice::CheckProxy { from } => {
            return format!("check {}", from.as_deref().unwrap_or(PROXIES));
        }
        Advice::FetchRange {
            listing,
            project,
            date_from,
            date_to,
            every,
            by_path,
        } => {
            let range = format!("date_from={date_from:?}, date_to={date_to:?}");
            let every = every.as_ref().map(|every| format!("every={every:?}"));
            let call = fetch(listing, &quoted(project), &range, every, *by_path);
            return format!("fetch them with client.{call}");
        }
        Advice::FetchSlices {
            listing,
            every,
            stored,
        } => return fetch_slices(listing, every, stored.as_deref()),
        Advice::DoNotRepeat {} => "do not send it again: look for it on the platform",
        Advice::EndAtStatus { status, job } => return end_at(&quoted(status), &quoted(job)),
        Advice::FewerCalls {} => "call again, with fewer calls at a time or a longer deadline=",
        Advice::FillStore { listing: None, .. } => "fill it with client.sync()",
        Advice::FillStore {
            listing: Some(listing),
            every,
            by_path,
        } => return format!("fill it with {}", sync(listing, every.as_deref(), *by_path)),
        Advice::LookAtJob { named: false } => {
            "look at it on the platform, then send it a message or create another one"
        }
        Advice::LookAtJob { named: true } => {
            "look at it on the platform, then send it a message, or use another name: this name keeps this job, and another \
             name creates another one"
        }
        Advice::LookBeforeRepeat {} => {
            "it is not sent again automatically: look on the platform before you send it again"
        }
        Advice::NotStrict {} => "without strict=True its rows come with a warning",
        Advice::ProxyLogin { from } => {
            let from = from.as_deref().unwrap_or(PROXIES);
            return format!("they belong in its URL, in {from}");
        }
        Advice::ReadFromBeginning {} => {
            "read the range from its beginning, with refresh=True where a store has a part of it, and without resume"
        }
        Advice::RecordJob { name, job } => {
            return format!(
                "record it with resolve_once({}, {})",
                quoted(name),
                quoted(job)
            );
        }
        Advice::ResolveName { name, job, exists } => {
            return format!(
                "then record what you found: {}",
                resolve(&quoted(name), job.as_deref(), *exists)
            );
        }
        Advice::SmallerAnswers {} => {
            "raise max_response_bytes=, or lower page_size= where the call has it"
        }
        Advice::SupportedProxy {} => {
            "name one with http:// or https:// there, pass proxy=, or go directly with trust_env=False"
        }
        Advice::TemporaryStore {} => {
            "for a test in a temporary directory (tempfile.TemporaryDirectory(), pytest's tmp_path)"
        }
        Advice::UseHttps {} => {
            "use https (http is for 127.0.0.1, [::1] and localhost, or for allow_http=True)"
        }
        Advice::WaitForBudget {} => "call it again then, or with on_budget=\"wait\"",
        Advice::WaitForReset {} => "no Retry-After: later calls wait for the reset, or an hour",
        Advice::WaitForJob { job, runs } => {
            let runs = if *runs { "it keeps running: " } else { "" };
            return format!("{runs}wait for it with wait_for_job({})", quoted(job));
        }
    };
    text.to_owned()
}

/// How to get slices of the wanted length, or the length that is stored.
fn fetch_slices(listing: &str, every: &str, stored: Option<&str>) -> String {
    let give = stored.map(|stored| format!("give every={stored:?}, or "));
    let sync = sync(listing, Some(every), true);
    format!("{}fetch whole ones with {sync}", give.unwrap_or_default())
}

/// The call that ends at a status that the client does not know.
fn end_at(status: &str, job: &str) -> String {
    format!(
        "look at the job on the platform: if it has ended, wait_for_job({job}, final=({status},)) returns it"
    )
}

/// The call that fills a store. The user adds projects and period.
fn sync(listing: &str, every: Option<&str>, by_path: bool) -> String {
    let every = every.map_or("None".to_owned(), quoted);
    let totals = if by_path { "" } else { ", by_path=False" };
    format!("client.sync(..., listing={listing:?}, every={every}{totals})")
}

/// The call that fetches a range. Project, range and `every` are written as arguments.
fn fetch(
    listing: &str,
    project: &str,
    range: &str,
    every: Option<String>,
    by_path: bool,
) -> String {
    match every {
        Some(every) => {
            let by_path = bool_literal(by_path);
            let listing = match listing {
                "visitors" => String::new(),
                other => format!(", listing={other:?}"),
            };
            format!("sync({project}, {range}, {every}, by_path={by_path}{listing})")
        }
        None if by_path => format!("{listing}({range}, project_id={project}).collect()"),
        None => format!(
            "{}_totals({range}, project_id={project})",
            listing.trim_end_matches('s')
        ),
    }
}

/// The calls that record the outcome of a name, which is a literal.
fn resolve(name: &str, job: Option<&str>, exists: bool) -> String {
    let call = |job: &str| format!("resolve_once({name}, {job})");
    match job {
        Some(job) if exists => {
            let call = call(&quoted(job));
            format!("{call} to use what was done, or use another name to do it again")
        }
        Some(job) => format!(
            "{} if the message arrived, or {} if it did not after some minutes",
            call(&quoted(job)),
            call("None")
        ),
        None if exists => call("\"JOB-ID\""),
        None => format!(
            "{}, or {} if there is no such job after some minutes",
            call("\"JOB-ID\""),
            call("None")
        ),
    }
}

/// The parts of a message for other faces: a text; or the name of a setting or an advice, Python's
/// words, and the value or the facts.
fn parts<'py>(py: Python<'py>, message: &Message) -> PyResult<Bound<'py, PyTuple>> {
    let parts = message.parts().iter().map(|one| match one {
        Part::Text(text) => text.into_bound_py_any(py),
        Part::Setting(setting) => (setting.as_str(), part(one), py.None()).into_bound_py_any(py),
        Part::Argument(setting, value) => {
            (setting.as_str(), part(one), pythonize(py, value)?).into_bound_py_any(py)
        }
        Part::Advice(what) => {
            // A dict of its name and its facts.
            let named = pythonize(py, what)?.cast_into::<PyDict>()?;
            let (name, facts) = named
                .items()
                .get_item(0)?
                .extract::<(String, Py<PyAny>)>()?;
            (name, advice(what), facts).into_bound_py_any(py)
        }
    });
    PyTuple::new(py, parts.collect::<PyResult<Vec<_>>>()?)
}

/// Gives an exception the parts of its text.
pub fn carry(exception: &Object<'_>, message: &Message) -> PyResult<()> {
    exception.setattr("_parts", parts(exception.py(), message)?)
}

/// Each setting and each advice as a part of a message: for tests of the faces.
#[pyfunction]
pub fn _all_parts(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
    let mut all = Message::default();
    for &setting in Setting::VARIANTS {
        all.push(setting);
    }
    for advice in Advice::all() {
        all.push(advice);
    }
    parts(py, &all)
}
