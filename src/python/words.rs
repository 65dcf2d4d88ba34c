//! Messages in Python's words: settings are arguments, advice names calls.

use pyo3::IntoPyObjectExt as _;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::text::message::{Advice, Fact, Mention, Message, Part, Setting};
use crate::text::str_literal;

const SAME_PAGE: &str = "copy the key and the project's id from the same page of the dashboard";

pub(crate) fn words(message: &Message) -> String {
    let mut words = String::new();
    for part in message.parts() {
        match part {
            Part::Text(text) => words.push_str(text),
            Part::Setting(name, mention) => words.push_str(&setting(*name, mention)),
            Part::Advice(what) => {
                words.push_str("; ");
                words.push_str(&advice(what));
            }
        }
    }
    words
}

fn setting(setting: Setting, mention: &Mention) -> String {
    let name = setting.name();
    match mention {
        Mention::Name => name.to_owned(),
        Mention::Argument => format!("{name}="),
        Mention::Word(word) => format!("{name}={}", str_literal(word)),
        Mention::Number(number) => format!("{name}={number}"),
        Mention::Flag(true) => format!("{name}=True"),
        Mention::Flag(false) => format!("{name}=False"),
    }
}

pub(crate) fn advice(advice: &Advice) -> String {
    let text = match advice {
        Advice::AvoidCache {} => {
            "the request was unconditional, so a proxy or cache on the way is broken: avoid it with proxy= or \
             trust_env=False"
        }
        Advice::CallAfter { seconds: None } => {
            "the service did not say how long to wait: try again in some minutes"
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
        Advice::CheckIds {} => return format!("check the project and the ids: {SAME_PAGE}"),
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
            "a login page, a proxy or another server answered: check that base_url is the address of the API"
        }
        Advice::CheckProxy {} => "check proxy=, or the environment's HTTPS_PROXY and HTTP_PROXY",
        Advice::FetchRange {
            listing,
            project,
            date_from,
            date_to,
            every,
            by_path,
        } => {
            let range = format!("date_from={date_from:?}, date_to={date_to:?}");
            let project = str_literal(project);
            let call = match every {
                Some(every) => {
                    let by_path = if *by_path { "True" } else { "False" };
                    let listing = match listing.as_str() {
                        "visitors" => String::new(),
                        other => format!(", listing={other:?}"),
                    };
                    format!("sync({project}, {range}, every={every:?}, by_path={by_path}{listing})")
                }
                None if *by_path => format!("{listing}({range}, project_id={project}).collect()"),
                None => format!(
                    "{}_totals({range}, project_id={project})",
                    listing.trim_end_matches('s')
                ),
            };
            return format!("fetch them with client.{call}");
        }
        Advice::FetchSlices { every } => {
            return format!("give their every=, or fetch these with sync() and every={every:?}");
        }
        Advice::FewerCalls {} => "call again, with fewer calls at a time or a longer deadline=",
        Advice::FillStore {} => "fill it with client.sync()",
        Advice::LookAtJob {} => {
            "look at it on the platform, then send it a message or create another one"
        }
        Advice::LookBeforeRepeat {} => {
            "it is not sent again automatically: look on the platform before you send it again"
        }
        Advice::ProxyLogin {} => "they belong into its URL, in proxy= or HTTPS_PROXY",
        Advice::ReadFromBeginning {} => {
            "read the range from its beginning, with refresh=True where a store has a part of it, and without resume"
        }
        Advice::RecordJob { name, job } => {
            return format!(
                "record it with resolve_once({}, {})",
                str_literal(name),
                str_literal(job)
            );
        }
        Advice::ResolveName { name, job: None } => {
            let name = str_literal(name);
            return format!(
                "then record what you found: resolve_once({name}, \"JOB-ID\"), or resolve_once({name}, None) if there \
                 is no such job"
            );
        }
        Advice::ResolveName {
            name,
            job: Some(job),
        } => {
            return format!(
                "then record what you found: resolve_once({}, {}) to use this job, or use another name for another one",
                str_literal(name),
                str_literal(job)
            );
        }
        Advice::SmallerAnswers {} => "raise max_response_bytes= or lower page_size=",
        Advice::SupportedProxy {} => {
            "pass proxy= with http:// or https://, or trust_env=False to go directly"
        }
        Advice::TemporaryStore {} => {
            "for a test in a temporary directory (tempfile.TemporaryDirectory(), pytest's tmp_path)"
        }
        Advice::UseHttps {} => {
            "use https (http is for 127.0.0.1, [::1] and localhost, or for allow_http=True)"
        }
        Advice::WaitForBudget {} => "call it again then, or with on_budget=\"wait\"",
        Advice::WaitForJob { job: _ } => "it keeps running, and you can wait for it again",
    };
    text.to_owned()
}

/// The parts of a message for other faces: a text, or a setting or an advice as its name, Python's words, and its value or facts.
/// `None` for a text alone.
pub(crate) fn parts<'py>(
    py: Python<'py>,
    message: &Message,
) -> PyResult<Option<Bound<'py, PyTuple>>> {
    if message
        .parts()
        .iter()
        .all(|part| matches!(part, Part::Text(_)))
    {
        return Ok(None);
    }
    let parts = message.parts().iter().map(|part| match part {
        Part::Text(text) => text.into_bound_py_any(py),
        Part::Setting(name, mention) => {
            let value = match mention {
                Mention::Name | Mention::Argument => None::<()>.into_bound_py_any(py),
                Mention::Word(word) => word.into_bound_py_any(py),
                Mention::Number(number) => number.into_bound_py_any(py),
                Mention::Flag(flag) => flag.into_bound_py_any(py),
            };
            (name.name(), setting(*name, mention), value?).into_bound_py_any(py)
        }
        Part::Advice(what) => part_of(py, what),
    });
    PyTuple::new(py, parts.collect::<PyResult<Vec<_>>>()?).map(Some)
}

fn part_of<'py>(py: Python<'py>, what: &Advice) -> PyResult<Bound<'py, PyAny>> {
    let facts = PyDict::new(py);
    for (name, fact) in what.facts() {
        let fact = match fact {
            Fact::None => None::<()>.into_bound_py_any(py),
            Fact::Flag(flag) => flag.into_bound_py_any(py),
            Fact::Text(text) => text.into_bound_py_any(py),
        };
        facts.set_item(name, fact?)?;
    }
    (what.name(), advice(what), facts).into_bound_py_any(py)
}

/// Has an exception or a warning carry the parts of its text.
pub(crate) fn carry(value: &Bound<'_, PyAny>, message: &Message) -> PyResult<()> {
    match parts(value.py(), message)? {
        Some(parts) => value.setattr("_parts", parts),
        None => Ok(()),
    }
}

/// Each setting and each advice as a part of a message: for tests of the faces.
#[pyfunction]
pub(crate) fn _all_parts(py: Python<'_>) -> PyResult<Option<Bound<'_, PyTuple>>> {
    let mut all = Message::default();
    for setting in Setting::ALL {
        all.push(*setting);
    }
    for advice in Advice::examples() {
        all.push(advice);
    }
    parts(py, &all)
}
