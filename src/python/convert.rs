//! Arguments in, JSON and other values out. Dates are in `dates.rs`.

use jiff::civil::Date;
use pyo3::exceptions::PyAttributeError;
use pyo3::types::{PyBool, PyDate, PyDelta, PyMapping};
use serde_json::Value;

use crate::clock::Millis;
use crate::dates::slices::Every;
use crate::job::Prompt;
use crate::job::batch::Task;
use crate::job::once::{self, OnceName};
use crate::listing::endpoint::{ENDPOINTS, Endpoint, PagedBy};
use crate::listing::page::Totals;
use crate::python::dates;
use crate::python::prelude::*;
use crate::slices::compare::ReaderKind;

/// `text` as errors show foreign text: nothing that a terminal would obey, cut to `most`
/// characters.
#[pyfunction]
pub fn _safe(text: &str, most: usize) -> String {
    safe(text, most)
}

/// An endpoint for the command line: name, largest page, whether there is only one page, whether
/// there are totals, whether the counts add up, and filters.
type EndpointFacts = (&'static str, u32, bool, bool, bool, &'static [&'static str]);

#[pyfunction]
pub fn _endpoints() -> Vec<EndpointFacts> {
    ENDPOINTS
        .iter()
        .map(|one| {
            (
                one.name,
                one.max_page_size,
                one.paged_by == PagedBy::Nothing,
                one.totals,
                one.adds_up,
                one.filters,
            )
        })
        .collect()
}

/// An argument of Python, as messages name it. It is a setting if messages of the core name it.
pub fn argument(name: &str) -> Message {
    Setting::named(name).map_or_else(|| name.to_owned().into(), Message::from)
}

/// The error of an argument; `why` continues the sentence that begins with its name.
pub fn wrong(name: &str, why: impl Into<Message>) -> PyErr {
    Error::argument(message![argument(name), why]).into()
}

/// Seconds as a number or a `timedelta`.
pub fn seconds(what: &str, value: &Object<'_>) -> PyResult<f64> {
    if value.is_instance_of::<PyDelta>() {
        return value.call_method_out("total_seconds", ())?.extract();
    }
    if !value.is_instance_of::<PyBool>()
        && let Ok(seconds) = value.extract()
    {
        return Ok(seconds);
    }
    Err(wrong_type(
        what,
        "seconds as a number or a timedelta",
        value,
    ))
}

/// The error of an argument that a method does not have, in Python's words.
pub fn unexpected(method: &str, name: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "{method}() got an unexpected keyword argument '{name}'"
    ))
}

/// A whole number from 0 on.
pub fn count<T: TryFrom<u64>>(what: &str, value: &Object<'_>) -> PyResult<T> {
    if value.is_instance_of::<PyBool>() || !value.hasattr("__index__")? {
        return Err(wrong_type(what, "a whole number", value));
    }
    value
        .extract::<u64>()
        .ok()
        .and_then(|number| number.try_into().ok())
        .ok_or_else(|| {
            wrong(
                what,
                format!(" must be a whole number from 0 on, and not too large; it is {value}"),
            )
        })
}

/// The end of an error about an unknown name: the one of `known` that may be meant.
pub fn nearest(py: Python<'_>, name: &str, known: Vec<&str>) -> PyResult<String> {
    let alike: Vec<String> = import(py, "difflib")?
        .call_method_out("get_close_matches", (name, known))?
        .extract()?;
    Ok(alike
        .first()
        .map_or_else(String::new, |meant| format!("; did you mean {meant:?}?")))
}

pub fn wrong_type(what: &str, expected: &str, value: &Object<'_>) -> PyErr {
    let found = value
        .get_type()
        .name()
        .map_or_else(|_| "an object".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!("{what} must be {expected}, not {found}"))
}

/// Arguments whose type alone tells how they are read.
macro_rules! typed_arguments {
    ($($type:ty: |$value:ident| $parse:expr;)*) => {
        $(impl<'a, 'py> FromPyObject<'a, 'py> for $type {
            type Error = PyErr;

            fn extract($value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
                $parse
            }
        })*
    };
}

typed_arguments! {
    WaitOrStop: |value| wait_or_stop("on_budget", &value);
    Every: |value| Ok(Self::parse(&text("every", &value)?)?);
    ReaderKind: |value| Ok(Self::parse(&text("of", &value)?)?);
    &'static Endpoint: |value| {
        let name = text("listing", &value)?;
        Endpoint::named(&name).ok_or_else(|| {
                        let known: Vec<_> = ENDPOINTS.iter().map(|one| one.name).collect();
            let why = format!(" must be one of {}; it is {name:?}", known.join(", "));
            Error::argument(message![Setting::Listing, why]).into()
        })
    };
    ProjectId: |value| text("project_id", &value).map(Self);
}

/// The argument `project_id`.
pub struct ProjectId(String);

impl std::ops::Deref for ProjectId {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// `None`, or an argument that is read by `read`.
pub fn optional<'a, 'py, T>(
    what: &str,
    value: &'a Object<'py>,
    read: impl FnOnce(&str, &'a Object<'py>) -> PyResult<T>,
) -> PyResult<Option<T>> {
    match value.is_none() {
        true => Ok(None),
        false => read(what, value).map(Some),
    }
}

/// Arguments by name, for `from_py_with`, and how each is read. `page_size` and `offset` are `None`
/// if the caller leaves them out, and a given `None` is an error.
macro_rules! arguments {
    ($($($name:ident)+: $type:ty = $read:expr;)*) => {
        $($(pub fn $name<'a>(value: &'a Object<'_>) -> PyResult<$type> {
            let read: fn(&str, &'a Object<'_>) -> PyResult<$type> = $read;
            read(stringify!($name), value)
        })+)*
    };
}

arguments! {
    timeout: Option<f64> = |what, value| optional(what, value, seconds);
    page_size: Option<u32> = |what, value| count(what, value).map(Some);
    offset: Option<u64> = |what, value| count(what, value).map(Some);
    max_rows: Option<u64> = |what, value| optional(what, value, count);
    prefetch settle_days: u32 = count;
    n: usize = count;
    listings: Vec<&'static Endpoint> = |_, value| match value.is_instance_of::<PyString>() {
        true => Ok(vec![value.extract()?]),
        false => distinct(value, "listing", "a str or several", |one| one.extract()),
    };
    until: Option<Millis> = |what, value| optional(what, value, |what, value| {
        let time: Option<Millis> = hook(value.py(), "until", "until")?.call_out((value,))?.extract()?;
        time.ok_or_else(|| wrong(what, format!(" must be a time such as \"06:00\" or \"2026-01-31T06:00\"; it is {value:?}")))
    });
    on_running: WaitOrStop = wait_or_stop;
    by_path whole escape_formulas raw bom once: bool = flag;
    by_path_or_none: Option<bool> = |_, value| optional("by_path", value, flag);
    progress: Option<bool> = |what, value| optional(what, value, flag);
    concurrency: usize = |what, value| match count(what, value)? {
        0 => Err(PyValueError::new_err("concurrency must be at least 1")),
        jobs => Ok(jobs),
    };
    on_done on_attempt: Option<Py<PyAny>> = callback;
    method path thread_id by: &'a str = borrowed;
    items has_more: String = text;
    next_cursor resume base_url organization: Option<String> = |what, value| optional(what, value, text);
}

pub fn callback(what: &str, value: &Object<'_>) -> PyResult<Option<Py<PyAny>>> {
    match value.is_callable() {
        true => Ok(Some(value.clone().unbind())),
        false if value.is_none() => Ok(None),
        false => Err(wrong_type(what, "callable", value)),
    }
}

/// True or false, those of numpy, too. Other values that Python takes for true or false are refused.
pub fn flag(what: &str, value: &Object<'_>) -> PyResult<bool> {
    value
        .extract()
        .map_err(|_| wrong_type(what, "True or False", value))
}

/// The prompts of many jobs by name, and whether the names are also names of `once=`.
pub fn tasks(
    client: &Client,
    prompts: &Object<'_>,
    once: bool,
) -> PyResult<(Vec<String>, Vec<Task>)> {
    let Ok(prompts) = prompts.cast::<PyMapping>() else {
        let expected =
            "a dict from names to prompts, such as {\"quickstart\": \"Fix the broken links\"}";
        return Err(wrong_type("prompts", expected, prompts));
    };
    prompts
        .items()?
        .iter()
        .map(|item| {
            let (name, prompt) = item.extract::<(Object<'_>, Object<'_>)>()?;
            let name = text("a name in prompts", &name)?;
            let prompt = text("a prompt in prompts", &prompt)?;
            let of = |error: Error| error.prefixed(format!("prompts[{:?}]: ", safe(&name, 256)));
            let prompt = Prompt::parse(prompt).map_err(of)?;
            let once = once
                .then(|| OnceName::parse(name.clone()))
                .transpose()
                .map_err(of)?;
            if once.is_some() {
                once::names(client)?;
            }
            Ok((name, Task { prompt, once }))
        })
        .collect()
}

fn wait_or_stop(what: &str, value: &Object<'_>) -> PyResult<WaitOrStop> {
    match text(what, value)?.as_str() {
        "wait" => Ok(WaitOrStop::Wait),
        "stop" => Ok(WaitOrStop::Stop),
        other => Err(wrong(
            what,
            format!(" must be \"wait\" or \"stop\"; it is {other:?}"),
        )),
    }
}

pub fn day(py: Python<'_>, day: Date) -> PyResult<Object<'_>> {
    PyDate::new(
        py,
        day.year().into(),
        day.month().unsigned_abs(),
        day.day().unsigned_abs(),
    )
    .map(Bound::into_any)
}

/// The error for an attribute that a table or a listing lacks. It names the method to use.
pub fn no_attribute(object: &Object<'_>, name: &str) -> Returned {
    // Other libraries often ask for protocols by names with an underscore.
    if name.starts_with('_') {
        let class = object.get_type().name()?;
        let text = format!("'{class}' object has no attribute '{name}'");
        return Err(PyAttributeError::new_err(text));
    }
    let py = object.py();
    let made = call_hook(py, "shown", "no_attribute", (object, name))?;
    Err(PyErr::from_value(made.into_bound(py)))
}

/// Texts for one parameter, comma-separated.
pub fn words(what: &str, value: &Object<'_>) -> PyResult<String> {
    let given = if value.is_instance_of::<PyString>() {
        text(what, value)?
    } else {
        let all = value
            .try_iter()
            .map_err(|_| wrong_type(what, "a str, or several", value))?
            .map(|one| text(what, &one?))
            .collect::<PyResult<Vec<_>>>()?;
        if all.iter().any(|one| one.is_empty() || one.contains(',')) {
            return Err(wrong(what, " must not contain an empty text or a comma"));
        }
        all.join(",")
    };
    // The service may take an empty value for none, and send all rows.
    if given.is_empty() {
        let why = " is empty: name one or more, or leave it out for all rows";
        return Err(wrong(what, why));
    }
    check_length(what, &[(what, &given)]).map(|()| given)
}

pub fn text(what: &str, value: &Object<'_>) -> PyResult<String> {
    borrowed(what, value).map(str::to_owned)
}

fn borrowed<'a>(what: &str, value: &'a Object<'_>) -> PyResult<&'a str> {
    let Ok(value) = value.cast::<PyString>() else {
        return Err(wrong_type(what, "a str", value));
    };
    // Python's own error would carry the whole text.
    value
        .to_str()
        .map_err(|_| wrong(what, " contains invalid characters (lone surrogates)"))
}

/// The statuses that end a wait besides the known ones.
pub fn final_statuses(value: &Object<'_>) -> PyResult<Vec<String>> {
    if value.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err(
            "final must be a tuple or list of statuses, such as (\"cancelled\",)",
        ));
    }
    value
        .try_iter()?
        .map(|status| text("final", &status?))
        .collect()
}

/// A name of `once=`, for a client that can keep it.
pub fn once_name(client: &Client, value: Option<&Object<'_>>) -> PyResult<Option<OnceName>> {
    let Some(value) = value else { return Ok(None) };
    let name = OnceName::parse(text("once", value)?)?;
    once::names(client)?;
    Ok(Some(name))
}

/// The most bytes of a query: no URL has more than 64 KiB, with the address and the path.
const MAX_QUERY: usize = 60_000;

/// Query parameters from a mapping. A list or tuple repeats its name, and `None` leaves it out.
pub fn params(value: Option<&Object<'_>>) -> PyResult<Vec<(String, String)>> {
    let mut pairs = Vec::new();
    let given = value.map_or(Ok(Vec::new()), |value| mapping_items("params", value))?;
    for (name, value) in given {
        let values = if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
            value.extract()?
        } else {
            vec![value]
        };
        for value in values {
            pairs.extend(param(&name, &value)?.map(|value| (name.clone(), value)));
        }
    }
    check_length("params", &pairs)?;
    Ok(pairs)
}

/// Refuses a query that is too long for a URL.
fn check_length<T: AsRef<str>>(what: &str, query: &[(T, T)]) -> PyResult<()> {
    let length = url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(query)
        .finish()
        .len();
    if length > MAX_QUERY {
        let why = format!(
            " has {length} bytes in a URL, which has room for {MAX_QUERY}: ask for less at a time"
        );
        return Err(wrong(what, why));
    }
    Ok(())
}

fn param(name: &str, value: &Object<'_>) -> PyResult<Option<String>> {
    let what = format!("params[{name:?}]");
    Ok(if value.is_none() {
        None
    } else if let Ok(flag) = value.cast::<PyBool>() {
        Some(flag.is_true().to_string())
    } else if value.is_instance_of::<PyString>() {
        Some(text(&what, value)?)
    } else if let Some(number) = number(value)? {
        Some(number.str()?.to_string())
    } else if value.hasattr("isoformat")? {
        dates::moment(&what, Some(value))?.map(|moment| moment.as_str().to_owned())
    } else {
        let expected = "a str, number, bool, date or None, or a list of them";
        return Err(wrong_type(&what, expected, value));
    })
}

/// A number as it is written, those of numpy too; `None` if it is something else.
fn number<'py>(value: &Object<'py>) -> PyResult<Option<Object<'py>>> {
    let py = value.py();
    if value.hasattr("__index__")?
        && let Ok(whole) = import(py, "operator")?.call_method_out("index", (value,))
    {
        return Ok(Some(whole));
    }
    Ok(value
        .is_instance(&import(py, "numbers")?.getattr("Real")?)?
        .then(|| value.clone()))
}

/// JSON-ready Python data as JSON, by Python's own encoder. `pythonize` would send a NaN as null.
pub fn json_in(value: &Object<'_>) -> PyResult<Value> {
    let py = value.py();
    let strict = PyDict::new(py);
    strict.set_item("allow_nan", false)?;
    let text: String = import(py, "json")?
        .getattr("dumps")?
        .call_out_with((value,), Some(&strict))?
        .extract()?;
    serde_json::from_str(&text).map_err(|error| {
        PyValueError::new_err(format!(
            "json cannot be sent as JSON (invalid characters, or nested too deeply): {error}"
        ))
    })
}

/// JSON as Python data, whole numbers exact, others as floats. A number with more digits than
/// Python reads is its text.
pub fn json_out<'py>(py: Python<'py>, value: &Value) -> PyResult<Object<'py>> {
    let made = pythonize::pythonize(py, value);
    Ok(made.or_else(|_| pythonize::pythonize(py, &with_long_numbers_as_text(py, value)))?)
}

/// The JSON of an answer, for an operation to end with.
pub fn answer(py: Python<'_>, value: Value) -> Returned {
    json_out(py, &value).map(Bound::unbind)
}

fn with_long_numbers_as_text(py: Python<'_>, value: &Value) -> Value {
    let same = |value| with_long_numbers_as_text(py, value);
    match value {
        Value::Number(number) if pythonize::pythonize(py, value).is_err() => {
            Value::String(number.to_string())
        }
        Value::Array(items) => items.iter().map(same).collect(),
        Value::Object(fields) => {
            let fields = fields.iter();
            fields
                .map(|(name, value)| (name.clone(), same(value)))
                .collect()
        }
        other => other.clone(),
    }
}

/// Calls a function of a module of `docplatform._hooks`.
pub fn call_hook<'py>(
    py: Python<'py>,
    module: &str,
    name: &str,
    arguments: impl Arguments<'py>,
) -> Returned {
    Ok(hook(py, module, name)?.call_out(arguments)?.unbind())
}

/// A function of a module of `docplatform._hooks`.
pub fn hook<'py>(py: Python<'py>, module: &str, name: &str) -> PyResult<Object<'py>> {
    import(py, &format!("docplatform._hooks.{module}"))?.getattr(name)
}

/// What `make` makes at the first use. `PyOnceLock::get_or_try_init` lets the interpreter go inside
/// its lock, and a child that is forked then would wait for that lock for ever.
pub fn made_once<'a, T>(
    py: Python<'_>,
    place: &'a PyOnceLock<T>,
    make: impl FnOnce() -> PyResult<T>,
) -> PyResult<&'a T> {
    if let Some(made) = place.get(py) {
        return Ok(made);
    }
    let made = make()?;
    // Another thread may have been faster.
    let _ = place.set(py, made);
    place
        .get(py)
        .ok_or_else(|| PyRuntimeError::new_err("docplatform has lost what it made"))
}

/// A named tuple of `docplatform.types`.
pub fn named_tuple<'py>(py: Python<'py>, class: &str, values: impl Arguments<'py>) -> Returned {
    import(py, "docplatform.types")?
        .call_method_out(class, values)
        .map(Bound::unbind)
}

pub fn totals(py: Python<'_>, totals: Totals) -> Returned {
    named_tuple(py, "Totals", (totals.human, totals.ai, totals.total))
}

/// The items of a `dict[str, str]`.
pub fn pairs(what: &str, value: &Object<'_>) -> PyResult<Vec<(String, String)>> {
    mapping_items(what, value)?
        .into_iter()
        .map(|(name, value)| {
            let value = text(&format!("{what}[{name:?}]"), &value)?;
            Ok((name, value))
        })
        .collect()
}

/// The items of a mapping whose names are texts.
fn mapping_items<'py>(what: &str, value: &Object<'py>) -> PyResult<Vec<(String, Object<'py>)>> {
    let Ok(mapping) = value.cast::<PyMapping>() else {
        return Err(wrong_type(what, "a mapping", value));
    };
    mapping
        .items()?
        .iter()
        .map(|item| {
            let (name, value): (Object<'_>, _) = item.extract()?;
            Ok((text(&format!("a name in {what}"), &name)?, value))
        })
        .collect()
}

/// Ids of projects, or one id. Repeats are left out.
pub fn projects(value: &Object<'_>) -> PyResult<Vec<Segment>> {
    ids(value)?.iter().map(|id| listed_project(id)).collect()
}

/// One of several projects.
pub fn listed_project(id: &str) -> PyResult<Segment> {
    let named = format!("projects: \"{}\"", safe(id, 60));
    Ok(Segment::parse(named, id)?)
}

/// Ids of projects that are sent nowhere.
pub fn ids(value: &Object<'_>) -> PyResult<Vec<String>> {
    texts(value, "projects", "ids of projects")
}

/// Some texts, or one.
pub fn texts(value: &Object<'_>, argument: &str, wanted: &str) -> PyResult<Vec<String>> {
    if value.is_instance_of::<PyString>() {
        return Ok(vec![text(argument, value)?]);
    }
    distinct(value, argument, wanted, |one| text(argument, one))
}

/// The items of an iterable, each of them once.
fn distinct<T: PartialEq>(
    value: &Object<'_>,
    argument: &str,
    wanted: &str,
    item: impl Fn(&Object<'_>) -> PyResult<T>,
) -> PyResult<Vec<T>> {
    let all = value
        .try_iter()
        .map_err(|_| wrong_type(argument, wanted, value))?;
    let mut items = Vec::new();
    for one in all {
        let one = item(&one?)?;
        if !items.contains(&one) {
            items.push(one);
        }
    }
    Ok(items)
}
