//! `Comparison`: two periods side by side, and what of the difference stands out.

use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::dates::periods::Period;
use crate::dates::slices::Slice;
use crate::python::bridge::call::CallOut as _;
use crate::python::convert;
use crate::python::table::{BaseTable, data};
use crate::slices::compare::{Movers, movers};

#[doc = doc!("Comparison")]
#[pyclass(frozen, extends = BaseTable, module = "docplatform")]
pub(crate) struct Comparison;

getters! {
    Comparison as Comparison, slf:
    date_from_before = meta(slf).before.map(|(days, _)| convert::day(slf.py(), days.from)).transpose()?;
    date_to_before = meta(slf).before.map(|(days, _)| convert::day(slf.py(), days.to)).transpose()?;
    period = days(meta(slf)).map(|days| Period::of(days).name());
    before = meta(slf).before.map(|(days, _)| Period::of(days).name());
    totals = meta(slf).totals(slf.py())?;
    totals_before = meta(slf).before.map(|(_, totals)| convert::totals(slf.py(), totals)).transpose()?;
}

#[pymethods]
impl Comparison {
    #[doc = doc!("Comparison.risers")]
    #[pyo3(signature = (n = 10))]
    fn risers(
        slf: &Bound<'_, Self>,
        #[pyo3(from_py_with = convert::n)] n: usize,
    ) -> PyResult<Py<PyAny>> {
        rows(slf, Movers::Risers, n)
    }

    #[doc = doc!("Comparison.fallers")]
    #[pyo3(signature = (n = 10))]
    fn fallers(
        slf: &Bound<'_, Self>,
        #[pyo3(from_py_with = convert::n)] n: usize,
    ) -> PyResult<Py<PyAny>> {
        rows(slf, Movers::Fallers, n)
    }

    #[doc = doc!("Comparison.new")]
    #[expect(clippy::new_ret_no_self, reason = "no constructor, but what is new")]
    #[pyo3(signature = (n = 10))]
    fn new(
        slf: &Bound<'_, Self>,
        #[pyo3(from_py_with = convert::n)] n: usize,
    ) -> PyResult<Py<PyAny>> {
        rows(slf, Movers::New, n)
    }

    #[doc = doc!("Comparison.vanished")]
    #[pyo3(signature = (n = 10))]
    fn vanished(
        slf: &Bound<'_, Self>,
        #[pyo3(from_py_with = convert::n)] n: usize,
    ) -> PyResult<Py<PyAny>> {
        rows(slf, Movers::Vanished, n)
    }

    #[doc = doc!("Comparison.plot")]
    #[pyo3(signature = (n = 10, *, ax = None))]
    fn plot(
        slf: Bound<'_, Self>,
        #[pyo3(from_py_with = convert::n)] n: usize,
        ax: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        Ok(convert::hook(slf.py(), "changes", "draw")?
            .call_out((slf, n, ax))?
            .unbind())
    }
}

fn meta<'a>(slf: &'a Bound<'_, Comparison>) -> &'a data::Meta {
    &slf.as_super().get().0.meta
}

fn rows(slf: &Bound<'_, Comparison>, which: Movers, n: usize) -> PyResult<Py<PyAny>> {
    let (py, data) = (slf.py(), &slf.as_super().get().0);
    let found = py.detach(|| movers(&data.table, which, n));
    let rows = found
        .into_iter()
        .map(|at| data.row(py, at))
        .collect::<PyResult<Vec<_>>>()?;
    Ok(PyList::new(py, rows)?.into_any().unbind())
}

fn days(meta: &data::Meta) -> Option<Slice> {
    Slice::parse(meta.date_from.as_deref()?, meta.date_to.as_deref()?)
}
