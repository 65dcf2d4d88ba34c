//! `Comparison`: two periods side by side, and the changes that are significant.

use crate::dates::periods::Period;
use crate::dates::slices::Slice;
use crate::listing::columns::Cell;
use crate::listing::endpoint::VISITORS;
use crate::listing::page::Totals;
use crate::listing::rows::RowsBuilder;
use crate::python::prelude::*;
use crate::python::table::data::{Data, Meta};
use crate::python::table::{BaseTable, wrap, wrap_data};
use crate::slices::compare::{self, Compared, ReaderKind};
use crate::slices::judge::{Movement, Pair, SiteChange};

#[doc = doc!("Comparison")]
#[pyclass(frozen, extends = BaseTable, module = "docplatform")]
pub struct Comparison;

getters! {
    Comparison as Comparison, |slf, py| meta = meta(slf);
    date_from_before = meta.before.map(|(days, _)| convert::day(py, days.from)).transpose()?;
    date_to_before = meta.before.map(|(days, _)| convert::day(py, days.to)).transpose()?;
    period = meta.days().map(|days| Period::of(days).name());
    before = meta.before.map(|(days, _)| Period::of(days).name());
    totals = meta.totals(py)?;
    totals_before = meta.before.map(|(_, totals)| convert::totals(py, totals)).transpose()?;
    change = fractions(py, ReaderKind::ALL.map(|kind| site_change(meta, kind).and_then(|found| found.change)))?;
    pace = fractions(py, meta.paces().map(|pace| Some(pace.ratio - 1.0)))?;
}

/// A method for each movement of a row.
macro_rules! movements {
    ($($method:ident = $movement:ident;)*) => {
        #[pymethods]
        #[expect(clippy::new_ret_no_self, reason = "`new` is no constructor")]
        impl Comparison {
            $(
                #[doc = doc!("Comparison.", stringify!($method))]
                #[pyo3(signature = (n = 10, of = ReaderKind::Total), text_signature = "($self, n=10, of='total')")]
                fn $method(
                    slf: &Bound<'_, Self>,
                    #[pyo3(from_py_with = convert::n)] n: usize,
                    of: ReaderKind,
                ) -> Returned {
                    moved(slf, Movement::$movement, n, of)
                }
            )*
        }
    };
}

movements! {
    risers = Riser;
    fallers = Faller;
    new = New;
    vanished = Vanished;
}

#[pymethods]
impl Comparison {
    #[doc = doc!("Comparison.sections")]
    #[pyo3(signature = (of = ReaderKind::Total), text_signature = "($self, of='total')")]
    fn sections(slf: &Bound<'_, Self>, of: ReaderKind) -> Returned {
        let (py, data) = (slf.py(), data(slf));
        let pace = of.of(data.meta.paces());
        let table = py.detach(|| compare::sections(&data.table, of, pace));
        wrap(py, table, data.meta.clone().of_sections())
    }

    #[doc = doc!("Comparison.plot")]
    #[pyo3(signature = (n = 10, *, of = ReaderKind::Total, ax = None), text_signature = "($self, n=10, *, of='total', ax=None)")]
    fn plot(
        slf: Bound<'_, Self>,
        #[pyo3(from_py_with = convert::n)] n: usize,
        of: ReaderKind,
        ax: Option<Object<'_>>,
    ) -> Returned {
        convert::call_hook(slf.py(), "changes", "draw", (slf, n, of.as_str(), ax))
    }

    /// Whether its rows are all paths of both periods.
    #[getter]
    fn _is_whole(slf: &Bound<'_, Self>) -> bool {
        meta(slf).order.is_none()
    }

    fn __str__(slf: Bound<'_, Self>) -> Returned {
        convert::call_hook(slf.py(), "changes", "text", (slf,))
    }

    /// The numbers of the rows that changed significantly, and their directions; the largest change
    /// comes first.
    fn _movements(slf: &Bound<'_, Self>, of: ReaderKind) -> Vec<(usize, &'static str)> {
        movements(slf, of)
            .into_iter()
            .map(|(at, how)| (at, how.as_str()))
            .collect()
    }
}

fn data<'a>(slf: &'a Bound<'_, Comparison>) -> &'a Data {
    &slf.as_super().get().0
}

fn meta<'a>(slf: &'a Bound<'_, Comparison>) -> &'a Meta {
    &data(slf).meta
}

fn movements(slf: &Bound<'_, Comparison>, of: ReaderKind) -> Vec<(usize, Movement)> {
    let data = data(slf);
    let pace = of.of(data.meta.paces());
    slf.py()
        .detach(|| compare::movements(&data.table, of, pace))
}

/// The first `n` rows that moved in this way, as a comparison of their own.
fn moved(slf: &Bound<'_, Comparison>, which: Movement, n: usize, of: ReaderKind) -> Returned {
    let rows: Vec<_> = movements(slf, of)
        .into_iter()
        .filter(|(_, how)| *how == which)
        .map(|(at, _)| at)
        .take(n)
        .collect();
    let order = format!("sorted by {}_change", of.as_str());
    wrap_data(slf.py(), data(slf).take(&rows, Some(order)))
}

fn site_change(meta: &Meta, kind: ReaderKind) -> Option<SiteChange> {
    let (days_before, before) = meta.before?;
    let [now, before] = [meta.totals?, before].map(|totals| kind.of(totals.into()));
    Some(SiteChange::of(
        Pair { before, now },
        days_before,
        meta.days()?,
    ))
}

fn fractions(py: Python<'_>, [human, ai, total]: [Option<f64>; 3]) -> Returned {
    convert::named_tuple(py, "Fractions", (human, ai, total))
}

/// The unit of a rate, and the change of that rate.
type RateChange = (&'static str, f64);

/// The change of a site's totals; "rose", "fell" or "hardly changed"; the plain change; and the
/// change per "day" or "working day", if it was used instead or contradicts the plain one. The
/// changes are `None` if there are readers, and were none before.
#[pyfunction]
pub fn _site_change(
    before: i64,
    now: i64,
    days_before: Slice,
    days: Slice,
) -> (Option<f64>, &'static str, Option<f64>, Option<RateChange>) {
    let found = SiteChange::of(Pair { before, now }, days_before, days);
    let other = found.other.map(|(per, value)| (per.as_str(), value));
    (found.change, found.verdict.as_str(), found.plain, other)
}

/// A comparison of visitors that the caller has read: of each period the rows (path, human, ai,
/// total), the totals and the days.
#[pyfunction]
pub fn _comparison(
    py: Python<'_>,
    rows: Vec<(String, i64, i64, i64)>,
    totals: [i64; 3],
    days: Slice,
    rows_before: Vec<(String, i64, i64, i64)>,
    totals_before: [i64; 3],
    days_before: Slice,
) -> Returned {
    let compared = py.detach(|| {
        let [rows, rows_before] = [rows, rows_before].map(|listed| {
            let mut rows = RowsBuilder::new(VISITORS.fields, Some("path"), listed.len());
            for (path, human, ai, total) in &listed {
                let [human, ai, total] = [*human, *ai, *total].map(Cell::Integer);
                rows.push([Cell::Text(path), human, ai, total]);
            }
            rows.finish()
        });
        let totals = [totals, totals_before].map(|[human, ai, total]| Totals { human, ai, total });
        Compared::of_rows([&rows, &rows_before], totals)
    });
    let periods = [days, days_before].map(Period::of);
    let meta = Meta::of_comparison(VISITORS, None, periods, &compared);
    wrap(py, compared.table, meta)
}
