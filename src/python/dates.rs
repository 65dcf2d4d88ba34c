//! Dates, periods and slices, as Python gives them.

use pyo3::types::{PyBool, PyDate};

use crate::clock::Clock;
use crate::dates::periods::Period;
use crate::dates::slices::{self, Every, Slice};
use crate::dates::{Moment, check_range};
use crate::python::convert::{argument, day, text, wrong_type};
use crate::python::prelude::*;

/// Whether these days are not one whole day, week or month, for plots and notes.
#[pyfunction]
pub fn _is_cut(
    every: Option<Every>,
    date_from: &Object<'_>,
    date_to: &Object<'_>,
) -> PyResult<bool> {
    let days = slices(None, Some(date_from), Some(date_to), None)?;
    Ok(every.is_some_and(|every| days.iter().any(|&days| !every.is_whole(days))))
}

/// The first days of the whole slices of a range that have begun.
#[pyfunction]
pub fn _begun<'py>(
    py: Python<'py>,
    every: Option<Every>,
    date_from: &Object<'py>,
    date_to: &Object<'py>,
) -> PyResult<Vec<Object<'py>>> {
    let whole = slices::whole(slices(None, Some(date_from), Some(date_to), every)?, every);
    let begun = whole.and_then(|whole| slices::begun(whole, every, Clock::system().today()));
    // An error means that there is none.
    begun
        .unwrap_or_default()
        .into_iter()
        .map(|days| day(py, days.from))
        .collect()
}

/// A date as `str`, `date` or `datetime`, and so a `pandas.Timestamp`.
pub fn moment(what: &str, value: Option<&Object<'_>>) -> PyResult<Option<Moment>> {
    let Some(value) = value.filter(|value| !value.is_none()) else {
        return Ok(None);
    };
    let text = if value.is_instance_of::<PyString>() {
        text(what, value)?
    } else if value.is_instance_of::<PyDate>() {
        value.call_method_out("isoformat", ())?.extract()?
    } else {
        return Err(wrong_type(what, "a str, date or datetime", value));
    };
    Ok(Some(Moment::parse(argument(what), &text)?))
}

pub fn period(what: Setting, value: Option<&Object<'_>>) -> PyResult<Option<Period>> {
    let Some(value) = value else { return Ok(None) };
    if !value.is_instance_of::<PyString>() {
        let expected = "a str such as \"2026-01\" or \"last 7 days\"";
        return Err(wrong_type(what.as_str(), expected, value));
    }
    let parsed = Period::parse(&text(what.as_str(), value)?, Clock::system().today());
    Ok(Some(parsed.map_err(|mut error| {
        error.message.rename(Setting::Period, what);
        error
    })?))
}

/// A period and the one that it is compared with. The defaults are the last month, and the same
/// kind of period before it.
pub fn two_periods(
    name: Option<&Object<'_>>,
    name_before: Option<&Object<'_>>,
) -> PyResult<[Period; 2]> {
    let now = match period(Setting::Period, name)? {
        Some(now) => now,
        None => Period::parse("last month", Clock::system().today())?,
    };
    let before = period(Setting::Before, name_before)?
        .or_else(|| now.before())
        .ok_or_else(|| {
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
impl<'py> FromPyObject<'_, 'py> for Slice {
    type Error = PyErr;

    fn extract(days: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let (from, to): (Object<'_>, Object<'_>) = days.extract()?;
        slices(None, Some(&from), Some(&to), None)?
            .pop()
            .ok_or_else(|| PyValueError::new_err("a period without a day"))
    }
}

/// The days of a period and of the one that `before` names. `True` means the same kind of period
/// before it.
pub fn compared(name: Option<&Object<'_>>, before: &Object<'_>) -> PyResult<Vec<Slice>> {
    let before = (!before.is(PyBool::new(before.py(), true))).then_some(before);
    Ok(two_periods(name, before)?.map(|period| period.days).into())
}

/// The two ends of a range, from a period or from dates. The second end is exclusive.
pub fn ends(
    name: Option<&Object<'_>>,
    from: Option<&Object<'_>>,
    to: Option<&Object<'_>>,
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
    let Slice { from, to } = period.days;
    Ok((Some(Moment::of(from)), Some(Moment::of(to))))
}

pub fn slices(
    period: Option<&Object<'_>>,
    from: Option<&Object<'_>>,
    to: Option<&Object<'_>>,
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

/// A range of whole days and the one of the same kind before it, to show them to people: the two
/// days, the kind and the name of each. `None` if its ends are not days. With `every`, the range is
/// extended to whole slices.
#[pyfunction]
#[pyo3(signature = (period = None, date_from = None, date_to = None, every = None))]
pub fn _period<'py>(
    py: Python<'py>,
    period: Option<&Object<'py>>,
    date_from: Option<&Object<'py>>,
    date_to: Option<&Object<'py>>,
    every: Option<Every>,
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
    let tuple = |period: Period| {
        let Slice { from, to } = period.days;
        (
            day(py, from)?,
            day(py, to)?,
            period.kind.as_str(),
            period.name(),
        )
            .into_pyobject(py)
    };
    let period = Period::of(days);
    Ok(Some(
        (tuple(period)?, period.before().map(tuple).transpose()?).into_pyobject(py)?,
    ))
}

/// A range of dates, or the days of a period, as the service takes them. The end is exclusive.
pub fn range(
    period: Option<&Object<'_>>,
    from: Option<&Object<'_>>,
    to: Option<&Object<'_>>,
) -> PyResult<(Option<String>, Option<String>)> {
    let (from, to) = ends(period, from, to)?;
    let text = |moment: Moment| moment.as_str().to_owned();
    Ok((from.map(text), to.map(text)))
}
