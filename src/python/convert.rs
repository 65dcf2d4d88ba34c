//! Arguments in, JSON out.

use jiff::civil::Date;
use pyo3::exceptions::{PyAttributeError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDate, PyDelta, PyDict, PyList, PyMapping, PyString, PyTuple};
use serde_json::Value;

use crate::client::{Client, WaitOrStop};
use crate::clock::{Clock, Millis};
use crate::config::url::Segment;
use crate::dates::periods::Period;
use crate::dates::slices::{self, Every, Slice};
use crate::dates::{Moment, check_range};
use crate::error::Error;
use crate::job::Prompt;
use crate::job::batch::Task;
use crate::job::once::{self, OnceName};
use crate::listing::endpoint::{ENDPOINTS, Endpoint};
use crate::listing::rows::Totals;
use crate::python::bridge::call::{CallOut as _, import};
use crate::slices::compare::ReaderKind;
use crate::text::message::{Message, Setting, message};

/// `text` as errors show foreign text: nothing that a terminal would obey, cut to `most` characters.
#[pyfunction]
pub(crate) fn _safe(text: &str, most: usize) -> String {
    crate::text::safe(text, most)
}

/// What the service lists, for the command line: of each endpoint its name, the largest page, whether there are totals,
/// whether its counts add up, and the filters.
#[pyfunction]
pub(crate) fn _endpoints() -> Vec<(&'static str, u32, bool, bool, &'static [&'static str])> {
    let facts = |endpoint: &Endpoint| {
        (
            endpoint.name,
            endpoint.max_page_size,
            endpoint.totals,
            endpoint.adds_up,
            endpoint.filters,
        )
    };
    ENDPOINTS.iter().copied().map(facts).collect()
}

/// Whether a slice of a range is shorter than a whole day, week or month, as the range begins or ends within it: plots have to know.
#[pyfunction]
#[pyo3(signature = (every, date_from, date_to))]
pub(crate) fn _is_cut(
    #[pyo3(from_py_with = every)] every: Option<Every>,
    date_from: &Bound<'_, PyAny>,
    date_to: &Bound<'_, PyAny>,
) -> PyResult<bool> {
    let days = slices(None, Some(date_from), Some(date_to), None)?;
    Ok(every.is_some_and(|every| days.iter().any(|&days| !every.is_whole(days))))
}

/// The first days of the whole slices of a range that have begun.
#[pyfunction]
pub(crate) fn _begun<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = every)] every: Option<Every>,
    date_from: &Bound<'py, PyAny>,
    date_to: &Bound<'py, PyAny>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let whole = slices::whole(slices(None, Some(date_from), Some(date_to), every)?, every);
    let begun = whole.and_then(|whole| slices::begun(whole, every, Clock::system().today()));
    // An error says that there is none.
    begun
        .unwrap_or_default()
        .into_iter()
        .map(|days| day(py, days.from))
        .collect()
}

/// An argument of Python as messages name it: one that other faces have, too, is a setting.
fn argument(name: &str) -> Message {
    Setting::named(name).map_or_else(|| name.to_owned().into(), Message::from)
}

/// The error of an argument; `why` continues the sentence that begins with its name.
fn wrong(name: &str, why: impl Into<Message>) -> PyErr {
    Error::argument(message![argument(name), why]).into()
}

/// Seconds as a number or a `timedelta`.
pub(crate) fn seconds(what: &str, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    if value.is_instance_of::<PyDelta>() {
        return value
            .call_method_out(intern!(value.py(), "total_seconds"), ())?
            .extract();
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

/// A whole number from 0 on.
pub(crate) fn whole<T: TryFrom<u64>>(what: &str, value: &Bound<'_, PyAny>) -> PyResult<T> {
    if value.is_instance_of::<PyBool>() || !value.hasattr(intern!(value.py(), "__index__"))? {
        return Err(wrong_type(what, "a whole number", value));
    }
    let fits = |number: u64| T::try_from(number).ok();
    value.extract().ok().and_then(fits).ok_or_else(|| {
        wrong(
            what,
            format!(" must be a whole number from 0 on, and not too large; it is {value}"),
        )
    })
}

pub(crate) fn wrong_type(what: &str, expected: &str, value: &Bound<'_, PyAny>) -> PyErr {
    let found = value
        .get_type()
        .name()
        .map_or_else(|_| "an object".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!("{what} must be {expected}, not {found}"))
}

/// Arguments by name, for `from_py_with`. A default that depends on others is `None` here, and never given as such.
macro_rules! arguments {
    ($($name:ident: $type:ty = |$value:ident| $parse:expr;)*) => {
        $(pub(crate) fn $name($value: &Bound<'_, PyAny>) -> PyResult<$type> {
            $parse
        })*
    };
}

arguments! {
    timeout: Option<f64> = |value| if value.is_none() { Ok(None) } else { seconds("timeout", value).map(Some) };
    poll_interval: Option<f64> = |value| seconds("poll_interval", value).map(Some);
    max_poll_interval: Option<f64> = |value| seconds("max_poll_interval", value).map(Some);
    settle: f64 = |value| seconds("settle", value);
    page_size: Option<u32> = |value| whole("page_size", value).map(Some);
    offset: Option<u64> = |value| whole("offset", value).map(Some);
    max_rows: Option<u64> = |value| if value.is_none() { Ok(None) } else { whole("max_rows", value).map(Some) };
    prefetch: u32 = |value| whole("prefetch", value);
    n: usize = |value| whole("n", value);
    settle_days: u32 = |value| whole("settle_days", value);
    every: Option<Every> = |value| match value.is_none() {
        true => Ok(None),
        false => Ok(Some(Every::parse(&text("every", value)?)?)),
    };
    listing: &'static Endpoint = |value| {
        let name = text("listing", value)?;
        Endpoint::named(&name).ok_or_else(|| {
            let known: Vec<_> = ENDPOINTS.iter().map(|endpoint| endpoint.name).collect();
            let why = format!(" must be one of {}; it is {name:?}", known.join(", "));
            Error::argument(message![Setting::Listing, why]).into()
        })
    };
    listings: Vec<&'static Endpoint> = |value| {
        if value.is_instance_of::<PyString>() {
            return Ok(vec![listing(value)?]);
        }
        distinct(value, "listing", "a str or several", listing)
    };
    until: Option<Millis> = |value| {
        if value.is_none() {
            return Ok(None);
        }
        let time = import(value.py(), "docplatform._hooks.until")?.getattr("until")?.call_out((value,))?;
        match time.is_none() {
            true => Err(wrong("until", format!(" must be a time such as \"06:00\" or \"2026-01-31T06:00\"; it is {value:?}"))),
            false => time.extract(),
        }
    };
    on_budget: WaitOrStop = |value| wait_or_stop("on_budget", value);
    on_running: WaitOrStop = |value| wait_or_stop("on_running", value);
    by_path: bool = |value| flag("by_path", value);
    by_path_or_none: Option<bool> = |value| if value.is_none() { Ok(None) } else { by_path(value).map(Some) };
    whole_only: bool = |value| flag("whole", value);
    check: bool = |value| flag("check", value);
    escape_formulas: bool = |value| flag("escape_formulas", value);
    raw: bool = |value| flag("raw", value);
    bom: bool = |value| flag("bom", value);
    once: bool = |value| flag("once", value);
    concurrency: usize = |value| match whole("concurrency", value)? {
        0 => Err(PyValueError::new_err("concurrency must be at least 1")),
        jobs => Ok(jobs),
    };
    on_done: Option<Py<PyAny>> = |value| callback("on_done", value);
    on_poll: Option<Py<PyAny>> = |value| callback("on_poll", value);
    on_attempt: Option<Py<PyAny>> = |value| callback("on_attempt", value);
    progress: Option<bool> = |value| if value.is_none() { Ok(None) } else { flag("progress", value).map(Some) };
}

fn callback(what: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<Py<PyAny>>> {
    match value.is_callable() {
        true => Ok(Some(value.clone().unbind())),
        false if value.is_none() => Ok(None),
        false => Err(wrong_type(what, "callable", value)),
    }
}

/// True or false, and nothing that only counts as such.
pub(crate) fn flag(what: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    value
        .extract()
        .map_err(|_| wrong_type(what, "True or False", value))
}

/// The prompts of many jobs by name, and whether the names are also names of `once=`.
pub(crate) fn tasks(
    client: &Client,
    prompts: &Bound<'_, PyAny>,
    once: bool,
) -> PyResult<(Vec<String>, Vec<Task>)> {
    let Ok(prompts) = prompts.cast::<PyMapping>() else {
        let expected =
            "a dict from names to prompts, such as {\"quickstart\": \"Fix the broken links\"}";
        return Err(wrong_type("prompts", expected, prompts));
    };
    let mut tasks = Vec::with_capacity(prompts.len()?);
    let mut names = Vec::with_capacity(tasks.capacity());
    for item in prompts.items()?.iter() {
        let (name, prompt) = item.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
        let once = once.then_some(&name);
        let once = once_name(client, once)?;
        let name = text("a name in prompts", &name)?;
        let prompt = text("a prompt in prompts", &prompt)?;
        let prompt = Prompt::parse(prompt).map_err(|error| {
            let name = crate::text::safe(&name, 256);
            error.prefixed(format!("prompts[{name:?}]: "))
        })?;
        names.push(name);
        tasks.push(Task { prompt, once });
    }
    Ok((names, tasks))
}

fn wait_or_stop(what: &str, value: &Bound<'_, PyAny>) -> PyResult<WaitOrStop> {
    match text(what, value)?.as_str() {
        "wait" => Ok(WaitOrStop::Wait),
        "stop" => Ok(WaitOrStop::Stop),
        other => Err(wrong(
            what,
            format!(" must be \"wait\" or \"stop\"; it is {other:?}"),
        )),
    }
}

/// A date as `str`, `date` or `datetime`, and so a `pandas.Timestamp`.
pub(crate) fn moment(what: &str, value: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Moment>> {
    let Some(value) = value.filter(|value| !value.is_none()) else {
        return Ok(None);
    };
    let text = if value.is_instance_of::<PyString>() {
        text(what, value)?
    } else if value.is_instance_of::<PyDate>() {
        value
            .call_method_out(intern!(value.py(), "isoformat"), ())?
            .extract()?
    } else {
        return Err(wrong_type(what, "a str, date or datetime", value));
    };
    Ok(Some(Moment::parse(argument(what), &text)?))
}

pub(crate) fn period(what: Setting, value: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Period>> {
    let Some(value) = value else { return Ok(None) };
    if !value.is_instance_of::<PyString>() {
        return Err(wrong_type(
            what.name(),
            "a str such as \"2026-01\" or \"last 7 days\"",
            value,
        ));
    }
    let parsed = Period::parse(&text(what.name(), value)?, Clock::system().today());
    // Two arguments may name one.
    Ok(Some(parsed.map_err(|mut error| {
        error.message.rename(Setting::Period, what);
        error
    })?))
}

/// A period and the one that it is compared with; where none is named the last month, and the same kind of period before.
pub(crate) fn two_periods(
    name: Option<&Bound<'_, PyAny>>,
    name_before: Option<&Bound<'_, PyAny>>,
) -> PyResult<[Period; 2]> {
    let now = match period(Setting::Period, name)? {
        Some(now) => now,
        None => Period::parse("last month", Clock::system().today())?,
    };
    let before = period(Setting::Before, name_before)?.or_else(|| now.before());
    let before = before.ok_or_else(|| {
        Error::argument(message![
            Setting::Period,
            ": there is no earlier one: give ",
            Setting::Before.argument()
        ])
    })?;
    if before.days == now.days {
        let why = format!(" is the period itself, {}: name another", now.name());
        return Err(Error::argument(message![Setting::Before, why]).into());
    }
    Ok([now, before])
}

/// Two days: the first, and the one after the last.
pub(crate) fn days(value: &Bound<'_, PyAny>) -> PyResult<Slice> {
    let (from, to): (Bound<'_, PyAny>, Bound<'_, PyAny>) = value.extract()?;
    slices(None, Some(&from), Some(&to), None)?
        .pop()
        .ok_or_else(|| PyValueError::new_err("a period without a day"))
}

/// The days of a period and of the one that `before` names; `True` stands for the same kind of period before it.
pub(crate) fn compared(
    name: Option<&Bound<'_, PyAny>>,
    before: &Bound<'_, PyAny>,
) -> PyResult<Vec<Slice>> {
    let before = (!before.is(PyBool::new(before.py(), true))).then_some(before);
    Ok(two_periods(name, before)?.map(|period| period.days).into())
}

/// The two ends of a range, which a period names or dates; the second is exclusive.
fn ends(
    name: Option<&Bound<'_, PyAny>>,
    from: Option<&Bound<'_, PyAny>>,
    to: Option<&Bound<'_, PyAny>>,
) -> PyResult<(Option<Moment>, Option<Moment>)> {
    let (from, to) = (moment("date_from", from)?, moment("date_to", to)?);
    let Some(period) = period(Setting::Period, name)? else {
        check_range(from.as_ref(), to.as_ref())?;
        return Ok((from, to));
    };
    if from.is_some() || to.is_some() {
        let (from, to) = (Setting::DateFrom, Setting::DateTo);
        return Err(Error::argument(message![
            "give either a period, or ",
            from,
            " and ",
            to,
            ", not both"
        ])
        .into());
    }
    Ok((
        Some(Moment::of(period.days.from)),
        Some(Moment::of(period.days.to)),
    ))
}

pub(crate) fn slices(
    period: Option<&Bound<'_, PyAny>>,
    from: Option<&Bound<'_, PyAny>>,
    to: Option<&Bound<'_, PyAny>>,
    every: Option<Every>,
) -> PyResult<Vec<Slice>> {
    match ends(period, from, to)? {
        (Some(from), Some(to)) => Ok(slices::slices(&from, &to, every)?),
        _ => Err(Error::argument(message![
            "slices need a range with both ends: give a period such as \"2026-01\", or ",
            Setting::DateFrom,
            " and ",
            Setting::DateTo,
        ])
        .into()),
    }
}

/// What a range of whole days is called, and the one of the same kind before it, for what shows them to people: of
/// each the two days, the kind and the name. `None` if its ends are not days. With `every`, the whole slices that it lies in.
#[pyfunction]
#[pyo3(signature = (period = None, date_from = None, date_to = None, every = None))]
pub(crate) fn _period<'py>(
    py: Python<'py>,
    period: Option<&Bound<'py, PyAny>>,
    date_from: Option<&Bound<'py, PyAny>>,
    date_to: Option<&Bound<'py, PyAny>>,
    #[pyo3(from_py_with = self::every)] every: Option<Every>,
) -> PyResult<Option<Bound<'py, PyTuple>>> {
    let days = |(from, to): (Option<Moment>, Option<Moment>)| {
        let days = Slice {
            from: from?.day()?,
            to: to?.day()?,
        };
        every.map_or(Some(days), |every| every.around(days))
    };
    let Some(days) = days(ends(period, date_from, date_to)?) else {
        return Ok(None);
    };
    let tuple = |Period { days, kind }: Period| {
        let name = Period { days, kind }.name();
        (day(py, days.from)?, day(py, days.to)?, kind.as_str(), name).into_pyobject(py)
    };
    let period = Period::of(days);
    Ok(Some(
        (tuple(period)?, period.before().map(tuple).transpose()?).into_pyobject(py)?,
    ))
}

pub(crate) fn day(py: Python<'_>, day: Date) -> PyResult<Bound<'_, PyAny>> {
    PyDate::new(
        py,
        day.year().into(),
        day.month().unsigned_abs(),
        day.day().unsigned_abs(),
    )
    .map(Bound::into_any)
}

/// The error for an attribute that a table or a listing lacks: it says which method to use.
pub(crate) fn no_attribute(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Py<PyAny>> {
    // Other libraries ask for protocols by names with an underscore, often.
    if name.starts_with('_') {
        let class = object.get_type().name()?;
        let text = format!("'{class}' object has no attribute '{name}'");
        return Err(PyAttributeError::new_err(text));
    }
    let made = hook(object.py(), "shown", "no_attribute")?.call_out((object, name))?;
    Err(PyErr::from_value(made))
}

/// Texts that go into one parameter, comma-separated.
pub(crate) fn words(what: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    // The service may take an empty one for none, and send all rows.
    let given = |what: &str, text: String| match text.is_empty() {
        true => Err(wrong(
            what,
            " is empty: name one or more, or leave it out for all rows",
        )),
        false => check_length(what, &[(what, &text)]).map(|()| text),
    };
    if value.is_instance_of::<PyString>() {
        return given(what, text(what, value)?);
    }
    let all = value
        .try_iter()
        .map_err(|_| wrong_type(what, "a str, or several", value))?;
    let all = all
        .map(|one| text(what, &one?))
        .collect::<PyResult<Vec<_>>>()?;
    if all.iter().any(|one| one.is_empty() || one.contains(',')) {
        return Err(wrong(what, " must not contain an empty text or a comma"));
    }
    given(what, all.join(","))
}

/// A range of dates as it goes on the wire, or the days of a period; the end is exclusive.
pub(crate) fn range(
    period: Option<&Bound<'_, PyAny>>,
    from: Option<&Bound<'_, PyAny>>,
    to: Option<&Bound<'_, PyAny>>,
) -> PyResult<(Option<String>, Option<String>)> {
    let (from, to) = ends(period, from, to)?;
    let text = |moment: Option<Moment>| moment.map(|moment| moment.as_str().to_owned());
    Ok((text(from), text(to)))
}

pub(crate) fn text(what: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    borrowed(what, value).map(str::to_owned)
}

fn borrowed<'a>(what: &str, value: &'a Bound<'_, PyAny>) -> PyResult<&'a str> {
    let Ok(value) = value.cast::<PyString>() else {
        return Err(wrong_type(what, "a str", value));
    };
    // Python's own error would carry the whole text.
    value
        .to_str()
        .map_err(|_| wrong(what, " contains invalid characters (lone surrogates)"))
}

/// Arguments that are texts, by name, for `from_py_with`.
macro_rules! texts {
    ($($name:ident)*) => {
        $(pub(crate) fn $name<'a>(value: &'a Bound<'_, PyAny>) -> PyResult<&'a str> {
            borrowed(stringify!($name), value)
        })*
    };
}

texts! { method path items has_more thread_id by }

pub(crate) fn of(value: &Bound<'_, PyAny>) -> PyResult<ReaderKind> {
    Ok(ReaderKind::parse(borrowed("of", value)?)?)
}

/// The same of those that may be `None`.
macro_rules! optional_texts {
    ($($name:ident)*) => {
        $(pub(crate) fn $name<'a>(value: &'a Bound<'_, PyAny>) -> PyResult<Option<&'a str>> {
            if value.is_none() { Ok(None) } else { borrowed(stringify!($name), value).map(Some) }
        })*
    };
}

optional_texts! { project_id next_cursor resume base_url organization }

pub(crate) fn prompt(value: &Bound<'_, PyAny>) -> PyResult<Prompt> {
    Ok(Prompt::parse(text("prompt", value)?)?)
}

/// The statuses that end a wait besides the known ones.
pub(crate) fn final_statuses(value: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    if value.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err(
            "final must be a tuple or list of statuses, such as (\"cancelled\",)",
        ));
    }
    let statuses = value.try_iter()?;
    statuses.map(|status| text("final", &status?)).collect()
}

/// A name of `once=`, for a client that can keep it.
pub(crate) fn once_name(
    client: &Client,
    value: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<OnceName>> {
    let Some(value) = value else { return Ok(None) };
    let name = OnceName::parse(text("once", value)?)?;
    once::names(client)?;
    Ok(Some(name))
}

/// The most bytes of a query: no URL has more than 64 KiB, with the address and the path.
const MAX_QUERY: usize = 60_000;

/// Query parameters from a mapping; a list or tuple repeats its name, `None` leaves it out.
pub(crate) fn params(value: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<(String, String)>> {
    let mut pairs = Vec::new();
    let given = value
        .map(|value| mapping_items("params", value))
        .transpose()?;
    for (name, value) in given.unwrap_or_default() {
        if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
            for value in value.try_iter()? {
                pairs.extend(param(&name, &value?)?.map(|value| (name.clone(), value)));
            }
        } else {
            pairs.extend(param(&name, &value)?.map(|value| (name.clone(), value)));
        }
    }
    check_length("params", &pairs)?;
    Ok(pairs)
}

/// Refuses what no URL has room for.
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

fn param(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    if value.is_none() {
        return Ok(None);
    }
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(Some(flag.is_true().to_string()));
    }
    if value.is_instance_of::<PyString>() {
        return text(&format!("params[{name:?}]"), value).map(Some);
    }
    if let Some(number) = number(value)? {
        return Ok(Some(number.str()?.to_string()));
    }
    let what = format!("params[{name:?}]");
    if !value.hasattr(intern!(value.py(), "isoformat"))? {
        return Err(wrong_type(
            &what,
            "a str, number, bool, date or None, or a list of them",
            value,
        ));
    }
    moment(&what, Some(value)).map(|moment| moment.map(|moment| moment.as_str().to_owned()))
}

/// A number as it is written, those of numpy too; `None` if it is something else.
fn number<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = value.py();
    if value.hasattr(intern!(py, "__index__"))?
        && let Ok(whole) = import(py, "operator")?.getattr("index")?.call_out((value,))
    {
        return Ok(Some(whole));
    }
    let is_number = value.is_instance(&import(py, "numbers")?.getattr("Real")?)?;
    Ok(is_number.then(|| value.clone()))
}

/// JSON-ready Python data as JSON. Python's own encoder says what that is, so that nothing is bent to fit: `pythonize`
/// would send a NaN as null.
pub(crate) fn json_in(what: &str, value: &Bound<'_, PyAny>) -> PyResult<Value> {
    let py = value.py();
    let strict = PyDict::new(py);
    strict.set_item("allow_nan", false)?;
    let text: String = import(py, "json")?
        .getattr("dumps")?
        .call_out_with((value,), Some(&strict))?
        .extract()?;
    serde_json::from_str(&text).map_err(|error| {
        PyValueError::new_err(format!(
            "{what} cannot be sent as JSON (invalid characters, or nested too deeply): {error}"
        ))
    })
}

/// JSON as Python data, numbers as they were sent.
pub(crate) fn json_out<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(pythonize::pythonize(py, value)?)
}

/// A function of a module of `docplatform._hooks`.
pub(crate) fn hook<'py>(py: Python<'py>, module: &str, name: &str) -> PyResult<Bound<'py, PyAny>> {
    import(py, &format!("docplatform._hooks.{module}"))?.getattr(name)
}

/// A class of `docplatform.types`.
pub(crate) fn named_tuple<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    import(py, "docplatform.types")?.getattr(name)
}

pub(crate) fn totals(py: Python<'_>, totals: Totals) -> PyResult<Py<PyAny>> {
    Ok(named_tuple(py, "Totals")?
        .call_out((totals.human, totals.ai, totals.total))?
        .unbind())
}

/// The items of a `dict[str, str]`.
pub(crate) fn pairs(what: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<(String, String)>> {
    let pair = |(name, value): (String, Bound<'_, PyAny>)| {
        let value = text(&format!("{what}[{name:?}]"), &value)?;
        Ok((name, value))
    };
    mapping_items(what, value)?.into_iter().map(pair).collect()
}

/// The items of a mapping whose names are texts.
fn mapping_items<'py>(
    what: &str,
    value: &Bound<'py, PyAny>,
) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
    let Ok(mapping) = value.cast::<PyMapping>() else {
        return Err(wrong_type(what, "a mapping", value));
    };
    let item = |item: Bound<'py, PyAny>| {
        let (name, value): (Bound<'_, PyAny>, _) = item.extract()?;
        Ok((text(&format!("a name in {what}"), &name)?, value))
    };
    mapping.items()?.iter().map(item).collect()
}

/// Ids of projects: some, or one; each of them once.
pub(crate) fn projects(value: &Bound<'_, PyAny>) -> PyResult<Vec<Segment>> {
    // Of hundreds, which one.
    let what = |id: &str| format!("projects: \"{}\"", crate::text::safe(id, 60));
    ids(value)?
        .iter()
        .map(|id| Ok(Segment::parse(what(id), id)?))
        .collect()
}

/// The same as texts, for what is sent nowhere.
pub(crate) fn ids(value: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    texts(value, "projects", "ids of projects")
}

/// Some texts, or one.
pub(crate) fn texts(
    value: &Bound<'_, PyAny>,
    argument: &str,
    wanted: &str,
) -> PyResult<Vec<String>> {
    if value.is_instance_of::<PyString>() {
        return Ok(vec![text(argument, value)?]);
    }
    distinct(value, argument, wanted, |one| text(argument, one))
}

/// The items of an iterable, each of them once.
fn distinct<T: PartialEq>(
    value: &Bound<'_, PyAny>,
    argument: &str,
    wanted: &str,
    item: impl Fn(&Bound<'_, PyAny>) -> PyResult<T>,
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
