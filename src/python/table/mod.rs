//! `Table`, `VisitorTable` and `TrendTable`: the rows of an export, and their conversions.

pub mod arrow;
pub mod comparison;
pub mod data;
pub mod dataset;
pub mod fix;
pub mod reports;
pub mod whole_file;

use std::collections::HashMap;

use pyo3::types::{PyByteArray, PyRange};

use crate::dates::slices::{Every, Slice};
use crate::listing::columns::Cell;
use crate::listing::endpoint::{ColumnKind, position};
use crate::listing::rows::Row;
use crate::python::listing::rows;
use crate::python::prelude::*;
use crate::python::table::comparison::Comparison;
use crate::python::table::data::{Data, Meta, load};
use crate::python::table::fix::FixList;
use crate::table::formats::{Encoder, Format};
use crate::table::layout::{DAYS, Layout};
use crate::table::{Table, extras, number};

/// The number of different texts of a column that are shared by its rows.
const MAX_SHARED: usize = 1000;

#[doc = doc!("Table")]
#[pyclass(frozen, subclass, module = "docplatform", sequence, name = "Table")]
pub struct BaseTable(Data);

/// The table of these rows, as the class that `meta` names.
pub fn wrap(py: Python<'_>, table: impl Into<Arc<Table>>, meta: Meta) -> Returned {
    let table = table.into();
    wrap_data(py, Data { table, meta })
}

fn wrap_data(py: Python<'_>, data: Data) -> Returned {
    let class = data.meta.class.clone();
    let base = PyClassInitializer::from(BaseTable(data));
    Ok(match class.as_str() {
        "VisitorTable" => Py::new(py, base.add_subclass(VisitorTable))?.into_any(),
        "Comparison" => Py::new(py, base.add_subclass(Comparison))?.into_any(),
        "FixList" => Py::new(py, base.add_subclass(FixList))?.into_any(),
        "TrendTable" => Py::new(py, base.add_subclass(TrendTable))?.into_any(),
        _ => Py::new(py, base)?.into_any(),
    })
}

getters! {
    BaseTable as Table, |slf, py| meta = &slf.get().0.meta;
    listing = meta.endpoint().map(|endpoint| endpoint.name);
    date_from = data::day(py, meta.date_from.as_deref())?;
    date_to = data::day(py, meta.date_to.as_deref())?;
    project_id = meta.project_id.as_deref();
    requests = meta.requests;
    warnings = meta.warnings.as_slice();
}

impl BaseTable {
    fn field(&self, name: &str) -> PyResult<usize> {
        position(self.0.table.layout.fields, name)
            .ok_or_else(|| PyKeyError::new_err(name.to_owned()))
    }

    /// An extra column's values in some rows.
    fn extra<'py, 'a>(
        py: Python<'py>,
        column: extras::ExtraColumn<'_>,
        rows: impl Iterator<Item = Row<'a>>,
    ) -> PyResult<Vec<Object<'py>>> {
        rows.map(|row| {
            let value = column.value(row.other);
            match column.kind {
                ColumnKind::Text => value
                    .as_deref()
                    .and_then(extras::text)
                    .into_bound_py_any(py),
                _ => rows::value(py, Cell::Null, value.as_deref()),
            }
        })
        .collect()
    }
}

/// The kind of a column, as `docplatform._hooks` names it.
fn holds(kind: ColumnKind) -> &'static str {
    match kind {
        ColumnKind::Text => "text",
        ColumnKind::Integer => "int",
        ColumnKind::Float => "float",
        ColumnKind::Bool => "bool",
        ColumnKind::Time => "time",
        ColumnKind::Json => "json",
    }
}

#[pymethods]
impl BaseTable {
    fn __len__(&self) -> usize {
        self.0.table.len()
    }

    fn __getitem__(slf: &Bound<'_, Self>, at: &Object<'_>) -> Returned {
        if let Ok(name) = at.cast::<PyString>() {
            // The text says what to do instead.
            let text = convert::call_hook(slf.py(), "shown", "column", (slf, name))?;
            return Err(PyTypeError::new_err(text));
        }
        slf.get().0.at(slf.py(), at)
    }

    /// Only for names that a table does not have.
    fn __getattr__(slf: &Bound<'_, Self>, name: &str) -> Returned {
        convert::no_attribute(slf.as_any(), name)
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Object<'py>> {
        let places = PyRange::new(slf.py(), 0, slf.len()?.cast_signed())?;
        import(slf.py(), "builtins")?.call_method_out("map", (slf.getattr("__getitem__")?, places))
    }

    #[doc = doc!("Table.__arrow_c_schema__")]
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        arrow::schema(py, &*self.0.table.schema()?)
    }

    #[doc = doc!("Table.__arrow_c_stream__")]
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Object<'py>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        arrow::stream(py, self.0.table.reader()?)
    }

    #[doc = doc!("Table.top")]
    #[pyo3(signature = (n = 10, *, by = "total"))]
    fn top(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = convert::n)] n: usize,
        #[pyo3(from_py_with = convert::by)] by: &str,
    ) -> Returned {
        let taken = py.detach(|| {
            let mut rows = self.0.table.ranked(by)?;
            rows.truncate(n);
            Ok::<_, Error>(self.0.take(&rows, Some(format!("sorted by {by}"))))
        })?;
        wrap_data(py, taken)
    }

    #[doc = doc!("Table.head")]
    #[pyo3(signature = (n = 10))]
    fn head(&self, py: Python<'_>, #[pyo3(from_py_with = convert::n)] n: usize) -> Returned {
        let rows: Vec<_> = (0..n.min(self.0.table.len())).collect();
        let order = self.0.order().map(str::to_owned);
        wrap_data(py, py.detach(|| self.0.take(&rows, order)))
    }

    #[doc = doc!("Table.to_dicts")]
    fn to_dicts(&self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        let mut dicts = rows::Dicts::new(py, self.0.table.layout);
        self.0.table.rows().map(|row| dicts.make(row)).collect()
    }

    #[doc = doc!("Table.to_csv")]
    #[pyo3(signature = (path, *, escape_formulas = true, bom = false))]
    fn to_csv(
        &self,
        py: Python<'_>,
        path: &Object<'_>,
        #[pyo3(from_py_with = convert::escape_formulas)] escape_formulas: bool,
        #[pyo3(from_py_with = convert::bom)] bom: bool,
    ) -> PyResult<usize> {
        let format = Format::Csv {
            escape_formulas,
            bom,
        };
        self.0.write(py, path, format)
    }

    #[doc = doc!("Table.to_jsonl")]
    fn to_jsonl(&self, py: Python<'_>, path: &Object<'_>) -> PyResult<usize> {
        self.0.write(py, path, Format::JsonLines)
    }

    fn __repr__(&self) -> String {
        self.0.repr()
    }

    fn __str__(slf: Bound<'_, Self>) -> Returned {
        convert::call_hook(slf.py(), "shown", "text", (slf,))
    }

    /// The columns in order: the name, what it holds, and whether it is one of the listing's own.
    /// All others are whatever else the service sent.
    fn _schema(&self) -> Vec<(String, &'static str, bool)> {
        let layout = self.0.table.layout;
        let days = DAYS.into_iter().zip(["days", "days", "count"]);
        let fields = layout.fields.iter().map(|field| match field.kind {
            ColumnKind::Integer if field.required => (field.name, "count"),
            kind => (field.name, holds(kind)),
        });
        let own = days
            .filter(|_| layout.days)
            .chain(fields)
            .map(|(name, holds)| (name.to_owned(), holds, true));
        let extra = extras::columns(self.0.table.others());
        let extra = extra.iter().map(|column| {
            // A name in Arrow's C interface ends at a NUL.
            let name = layout.extra(column.name).replace('\0', "\u{FFFD}");
            (name, holds(column.kind), false)
        });
        own.chain(extra).collect()
    }

    fn _repr_html_(slf: Bound<'_, Self>) -> Returned {
        convert::call_hook(slf.py(), "notebook", "table", (slf,))
    }

    fn __reduce__(&self, py: Python<'_>) -> Returned {
        let (meta, lines) = py
            .detach(|| {
                let mut lines = Vec::new();
                let layout = Layout::of(self.0.table.layout.fields);
                Encoder::new(Format::Pickled, layout).encode(self.0.table.rows(), &mut lines)?;
                Ok((serde_json::to_string(&self.0.meta)?, lines))
            })
            .map_err(|error: std::io::Error| PyOSError::new_err(error.to_string()))?;
        let load = import(py, "docplatform._native")?.getattr("_table")?;
        (load, (meta, lines)).into_py_any(py)
    }

    /// A column of numbers, instants or days (since 1970), in 8 bytes each, as this machine has
    /// them. A missing number is NaN in a column of floats, and the smallest number in others.
    fn _numbers<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyByteArray>> {
        let table = &self.0.table;
        if table.layout.days && DAYS.contains(&name) {
            let numbers = table.days(0..table.len()).map(|days| {
                let days = days.ok_or_else(|| Error::bug("a row of a table has no days"))?;
                let number = match name {
                    "date_from" => number(days.from),
                    "date_to" => number(days.to),
                    _ => days.count(),
                };
                Ok(i64::from(number).to_ne_bytes())
            });
            let numbers = numbers.collect::<PyResult<Vec<_>>>()?;
            return Ok(PyByteArray::new(py, numbers.as_flattened()));
        }
        if let Some(chunks) = table.integers(name) {
            let values = chunks.into_iter().flatten();
            return bytes(py, table.len(), values.map(|value| value.to_ne_bytes()));
        }
        let field = self.field(name)?;
        let none = match table.layout.fields.get(field).map(|field| field.kind) {
            Some(ColumnKind::Float) => f64::NAN.to_ne_bytes(),
            _ => i64::MIN.to_ne_bytes(),
        };
        let values = table.rows().map(|row| match row.cell(field) {
            Cell::Integer(value) | Cell::Time(value) => value.to_ne_bytes(),
            Cell::Float(value) => value.to_ne_bytes(),
            _ => none,
        });
        bytes(py, table.len(), values)
    }

    /// A byte for each row, which is 1 where a column has no value.
    fn _missing<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyByteArray>> {
        let (table, field) = (&self.0.table, self.field(name)?);
        let values = table
            .rows()
            .map(|row| [u8::from(row.cell(field) == Cell::Null)]);
        bytes(py, table.len(), values)
    }

    /// A column, as Python's own values; what is deeper as JSON. Most texts that come twice are one
    /// object.
    fn _values<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Vec<Object<'py>>> {
        let (table, field) = (&self.0.table, self.field(name)?);
        let (mut texts, mut again) = (HashMap::new(), 0);
        let mut values = Vec::with_capacity(table.len());
        for row in table.rows() {
            let (Cell::Text(text) | Cell::Json(text)) = row.cell(field) else {
                values.push(rows::value(py, row.cell(field), None)?);
                continue;
            };
            // Many different ones are seldom the same as any after them.
            let share = texts.len() < MAX_SHARED || again > MAX_SHARED;
            let known: Option<&Bound<'py, PyString>> = share.then(|| texts.get(text)).flatten();
            again += usize::from(known.is_some());
            let made = known.cloned().unwrap_or_else(|| PyString::new(py, text));
            if texts.len() < MAX_SHARED {
                texts.insert(text, made.clone());
            }
            values.push(made.into_any());
        }
        Ok(values)
    }

    /// Whatever else the service sent: for each name the values or `None`.
    fn _extras<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for column in extras::columns(self.0.table.others()).iter() {
            let values = Self::extra(py, column, self.0.table.rows())?;
            all.set_item(self.0.table.layout.extra(column.name), values)?;
        }
        Ok(all)
    }

    /// Some rows as their columns have them: for each column of `_schema` a list of values, what is
    /// deeper as JSON.
    fn _part<'py>(
        &self,
        py: Python<'py>,
        start: usize,
        stop: usize,
    ) -> PyResult<Vec<Vec<Object<'py>>>> {
        let table = &self.0.table;
        let stop = stop.min(table.len());
        let places = start.min(stop)..stop;
        let mut all = Vec::new();
        if table.layout.days {
            let days: Vec<_> = table.days(places.clone()).flatten().collect();
            for of in [|days: &Slice| days.from, |days: &Slice| days.to] {
                let ends = days.iter().map(|days| convert::day(py, of(days)));
                all.push(ends.collect::<PyResult<_>>()?);
            }
            let counts = days.iter().map(|days| days.count().into_bound_py_any(py));
            all.push(counts.collect::<PyResult<_>>()?);
        }
        let rows = || places.clone().filter_map(|at| table.row(at));
        for field in 0..table.layout.fields.len() {
            let values = rows().map(|row| match row.cell(field) {
                Cell::Json(text) => text.into_bound_py_any(py),
                cell => rows::value(py, cell, None),
            });
            all.push(values.collect::<PyResult<_>>()?);
        }
        for column in extras::columns(table.others()).iter() {
            all.push(Self::extra(py, column, rows())?);
        }
        Ok(all)
    }

    /// The ends of slices or periods that were not over when they were read: charts do not show
    /// them as a fall.
    #[getter]
    fn _running<'py>(&self, py: Python<'py>) -> PyResult<Vec<Object<'py>>> {
        self.0
            .meta
            .running
            .iter()
            .map(|&day| convert::day(py, day))
            .collect()
    }

    /// The order of the rows, in words; `None` if it is that of the days.
    #[getter]
    fn _order(&self) -> Option<&str> {
        self.0.order()
    }

    /// Whether what it counts adds up over its rows: charts and notebooks say so.
    #[getter]
    fn _adds_up(&self) -> bool {
        self.0.meta.adds_up()
    }
}

/// The conversions by a library, into a frame or into a file.
macro_rules! library_methods {
    ($($method:ident($($path:ident)?))*) => {
        #[pymethods]
        impl BaseTable {
            $(
                #[doc = doc!("Table.", stringify!($method))]
                fn $method(slf: Bound<'_, Self>, $($path: Object<'_>)?) -> Returned {
                    convert::call_hook(slf.py(), "frames", stringify!($method), (slf, $($path)?))
                }
            )*
        }
    };
}

library_methods! { to_pandas() to_polars() to_arrow() to_parquet(path) to_excel(path) }

/// Values of the same number of bytes, one after the other.
fn bytes<const N: usize>(
    py: Python<'_>,
    len: usize,
    values: impl Iterator<Item = [u8; N]>,
) -> PyResult<Bound<'_, PyByteArray>> {
    PyByteArray::new_with(py, len * N, |bytes| {
        for (place, value) in bytes.chunks_exact_mut(N).zip(values) {
            place.copy_from_slice(&value);
        }
        Ok(())
    })
}

#[doc = doc!("VisitorTable")]
#[pyclass(frozen, extends = BaseTable, module = "docplatform")]
pub struct VisitorTable;

getters! {
    VisitorTable as VisitorTable, |slf, py| meta = &slf.as_super().get().0.meta;
    totals = meta.totals(py)?;
}

#[pymethods]
impl VisitorTable {
    #[doc = doc!("VisitorTable.plot")]
    #[pyo3(signature = (n = 15, *, by = "total", ax = None))]
    fn plot(
        slf: Bound<'_, Self>,
        #[pyo3(from_py_with = convert::n)] n: usize,
        #[pyo3(from_py_with = convert::by)] by: &str,
        ax: Option<Object<'_>>,
    ) -> Returned {
        convert::call_hook(slf.py(), "plots", "top_pages", (slf, n, by, ax))
    }
}

#[doc = doc!("TrendTable")]
#[pyclass(frozen, extends = BaseTable, module = "docplatform")]
pub struct TrendTable;

getters! {
    TrendTable as TrendTable, |slf, py| meta = &slf.as_super().get().0.meta;
    every = meta.every.map(Every::as_str);
    open_from = data::day(py, meta.open_from.as_deref())?;
}

#[pymethods]
impl TrendTable {
    #[doc = doc!("TrendTable.plot")]
    #[pyo3(signature = (*, ax = None))]
    fn plot(slf: Bound<'_, Self>, ax: Option<Object<'_>>) -> Returned {
        convert::call_hook(slf.py(), "plots", "trend", (slf, ax))
    }

    #[doc = doc!("TrendTable.sum")]
    #[pyo3(signature = (*args, **kwargs), text_signature = "($self, *args, **kwargs)")]
    fn sum(
        slf: &Bound<'_, Self>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> Returned {
        let data = &slf.as_super().get().0;
        if !data.meta.adds_up() {
            return Err(PyTypeError::new_err(
                "unique visitors do not add up: a visitor who came on two days, or read two pages, would count twice; \
                 visitor_totals(date_from=..., date_to=...) has those of the whole range, for one request",
            ));
        }
        if !args.is_empty() || kwargs.is_some() {
            return Err(PyTypeError::new_err(
                "sum() takes no arguments: it is of all rows, and of each count",
            ));
        }
        // A sum of counts may be larger than any count.
        let sum = |name| {
            data.table
                .integers(name)
                .into_iter()
                .flatten()
                .flatten()
                .copied()
                .map(i128::from)
                .sum::<i128>()
        };
        convert::named_tuple(slf.py(), "Totals", (sum("human"), sum("ai"), sum("total")))
    }
}

/// Makes a table again from what its pickle carries.
#[pyfunction]
pub fn _table(py: Python<'_>, meta: &str, lines: &[u8]) -> Returned {
    wrap_data(py, load(py, meta, lines)?)
}
