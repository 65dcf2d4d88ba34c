//! `Comparison`: two periods side by side, and what of the difference stands out.

use jiff::civil::Date;
use pyo3::prelude::*;
use pyo3::types::PyList;
use serde::{Deserialize, Serialize};

use crate::dates::periods::Period;
use crate::dates::slices::Slice;
use crate::error::Error;
use crate::listing::rows::Totals;
use crate::python::bridge::call::CallOut as _;
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

    fn totals(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let (human, ai, total) = self.totals;
        convert::totals(py, Totals { human, ai, total })
    }
}

#[doc = doc!("Comparison")]
#[pyclass(frozen, extends = BaseTable, module = "docplatform")]
pub(crate) struct Comparison;

getters! {
    Comparison as Comparison, slf:
    date_from = data::day(slf.py(), meta(slf).date_from.as_deref())?;
    date_to = data::day(slf.py(), meta(slf).date_to.as_deref())?;
    date_from_before = data::day(slf.py(), meta(slf).before.as_ref().map(|before| before.date_from.as_str()))?;
    date_to_before = data::day(slf.py(), meta(slf).before.as_ref().map(|before| before.date_to.as_str()))?;
    period = name(meta(slf).date_from.as_deref(), meta(slf).date_to.as_deref())?;
    before = meta(slf).before.as_ref().map(|before| name(Some(&before.date_from), Some(&before.date_to))).transpose()?;
    totals = meta(slf).totals(slf.py())?;
    totals_before = meta(slf).before.as_ref().map(|before| before.totals(slf.py())).transpose()?;
}

#[pymethods]
impl Comparison {
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
        Ok(convert::hook(slf.py(), "changes", "draw")?.call_out((slf, n, ax))?.unbind())
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

fn name(from: Option<&str>, to: Option<&str>) -> PyResult<String> {
    let day = |text: Option<&str>| text.unwrap_or_default().parse::<Date>().map_err(Error::bug);
    Ok(Period::of(Slice { from: day(from)?, to: day(to)? }).name())
}
