//! `Comparison`: two periods side by side, and what of the difference stands out.

use jiff::civil::Date;
use pyo3::prelude::*;
use pyo3::types::PyList;
use serde::{Deserialize, Serialize};

use crate::dates::periods::Period;
use crate::dates::slices::Slice;
use crate::error::Error;
use crate::listing::rows::Totals;
use crate::python::convert;
use crate::python::table::{BaseTable, data};
use crate::slices::compare::{Movers, movers};

/// The other side of a comparison, as its pickle carries it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Before {
    date_from: String,
    date_to: String,
    totals: (i64, i64, i64),
}

impl Before {
    pub(crate) fn new(period: Period, totals: Totals) -> Self {
        Self {
            date_from: period.days.from.to_string(),
            date_to: period.days.to.to_string(),
            totals: (totals.human, totals.ai, totals.total),
        }
    }
}

#[doc = doc!("Comparison")]
#[pyclass(frozen, extends = BaseTable, module = "docplatform")]
pub(crate) struct Comparison;

#[pymethods]
impl Comparison {
    #[doc = doc!("Comparison.date_from")]
    #[getter]
    fn date_from<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyAny>>> {
        data::day(slf.py(), meta(slf).date_from.as_deref())
    }

    #[doc = doc!("Comparison.date_to")]
    #[getter]
    fn date_to<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyAny>>> {
        data::day(slf.py(), meta(slf).date_to.as_deref())
    }

    #[doc = doc!("Comparison.date_from_before")]
    #[getter]
    fn date_from_before<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyAny>>> {
        data::day(slf.py(), meta(slf).before.as_ref().map(|before| before.date_from.as_str()))
    }

    #[doc = doc!("Comparison.date_to_before")]
    #[getter]
    fn date_to_before<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyAny>>> {
        data::day(slf.py(), meta(slf).before.as_ref().map(|before| before.date_to.as_str()))
    }

    #[doc = doc!("Comparison.period")]
    #[getter]
    fn period(slf: &Bound<'_, Self>) -> PyResult<String> {
        let meta = meta(slf);
        name(meta.date_from.as_deref(), meta.date_to.as_deref())
    }

    #[doc = doc!("Comparison.before")]
    #[getter]
    fn before(slf: &Bound<'_, Self>) -> PyResult<String> {
        let before = meta(slf).before.as_ref();
        name(before.map(|before| before.date_from.as_str()), before.map(|before| before.date_to.as_str()))
    }

    #[doc = doc!("Comparison.totals")]
    #[getter]
    fn totals(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        totals(slf.py(), meta(slf).totals)
    }

    #[doc = doc!("Comparison.totals_before")]
    #[getter]
    fn totals_before(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        totals(slf.py(), meta(slf).before.as_ref().map(|before| before.totals))
    }

    #[doc = doc!("Comparison.risers")]
    #[pyo3(signature = (n = 10))]
    fn risers(slf: &Bound<'_, Self>, n: usize) -> PyResult<Py<PyAny>> {
        rows(slf, Movers::Risers, n)
    }

    #[doc = doc!("Comparison.fallers")]
    #[pyo3(signature = (n = 10))]
    fn fallers(slf: &Bound<'_, Self>, n: usize) -> PyResult<Py<PyAny>> {
        rows(slf, Movers::Fallers, n)
    }

    #[doc = doc!("Comparison.new")]
    #[expect(clippy::new_ret_no_self, reason = "no constructor, but what is new")]
    #[pyo3(signature = (n = 10))]
    fn new(slf: &Bound<'_, Self>, n: usize) -> PyResult<Py<PyAny>> {
        rows(slf, Movers::New, n)
    }

    #[doc = doc!("Comparison.vanished")]
    #[pyo3(signature = (n = 10))]
    fn vanished(slf: &Bound<'_, Self>, n: usize) -> PyResult<Py<PyAny>> {
        rows(slf, Movers::Vanished, n)
    }

    #[doc = doc!("Comparison.plot")]
    #[pyo3(signature = (n = 10, *, ax = None))]
    fn plot(slf: Bound<'_, Self>, n: usize, ax: Option<Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
        let plots = slf.py().import("docplatform._hooks.changes")?;
        Ok(plots.getattr("draw")?.call1((slf, n, ax))?.unbind())
    }
}

fn meta<'a>(slf: &'a Bound<'_, Comparison>) -> &'a data::Meta {
    &slf.as_super().get().0.meta
}

fn rows(slf: &Bound<'_, Comparison>, which: Movers, n: usize) -> PyResult<Py<PyAny>> {
    let (py, data) = (slf.py(), &slf.as_super().get().0);
    let found = py.detach(|| movers(&data.table, which, n));
    let rows = found.into_iter().map(|at| data.row(py, at)).collect::<PyResult<Vec<_>>>()?;
    Ok(PyList::new(py, rows)?.into_any().unbind())
}

fn totals(py: Python<'_>, counts: Option<(i64, i64, i64)>) -> PyResult<Py<PyAny>> {
    let (human, ai, total) = counts.ok_or_else(|| Error::bug("a comparison without totals"))?;
    convert::totals(py, Totals { human, ai, total })
}

fn name(from: Option<&str>, to: Option<&str>) -> PyResult<String> {
    let day = |text: Option<&str>| text.unwrap_or_default().parse::<Date>().map_err(Error::bug);
    Ok(Period::of(Slice { from: day(from)?, to: day(to)? }).name())
}
