//! The data of Python's tables: rows, facts about them, and their pickle.

use jiff::civil::Date;
use pyo3::exceptions::PyOverflowError;
use pyo3::types::PySlice;
use serde::{Deserialize, Serialize};

use crate::dates::periods::Period;
use crate::dates::slices::{Every, Slice};
use crate::export::file::FileWriter;
use crate::export::stream::ExportStream;
use crate::listing::Listing;
use crate::listing::endpoint::{COUNTS, Endpoint, Field};
use crate::listing::page::Totals;
use crate::listing::rows::RowsBuilder;
use crate::python::listing::collect::{self, os_error};
use crate::python::listing::rows;
use crate::python::prelude::*;
use crate::python::table::fix;
use crate::slices::Subject;
use crate::slices::compare::{self, Compared};
use crate::slices::judge::SitePace;
use crate::slices::reader::SlicedTable;
use crate::slices::reading::StoreAnswer;
use crate::store::Content;
use crate::table::formats::Format;
use crate::table::layout::Layout;
use crate::table::{Table, TableBuilder};

/// The facts about an export besides its rows.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub struct Meta {
    pub class: String,
    /// The endpoint; `None` for another path.
    endpoint: Option<String>,
    /// Of a trend: whether its rows are of the whole site.
    #[serde(default)]
    site: bool,
    pub totals: Option<Totals>,
    pub date_from: Option<String>,
    pub date_to: Option<String>,
    pub project_id: Option<String>,
    pub requests: u64,
    pub warnings: Vec<String>,
    /// The slice length of a trend, and the first day whose slice may still change.
    #[serde(default)]
    pub every: Option<Every>,
    #[serde(default)]
    pub open_from: Option<String>,
    /// Of a trend or a comparison: the ends of slices or periods that were not over when they were
    /// read.
    #[serde(default)]
    pub running: Vec<Date>,
    /// Of a table in slices: where the rows of each slice end.
    #[serde(default)]
    slices: Vec<(usize, Slice)>,
    /// Of a comparison: the days and the totals of its other side.
    #[serde(default)]
    pub before: Option<(Slice, Totals)>,
    /// Of a comparison: the pace and the scatter of each kind. They are bits, because JSON may lose
    /// the last digit of a float.
    #[serde(default)]
    paces: [[u64; 2]; 3],
    /// Whether the rows are the sections of a comparison.
    #[serde(default)]
    sections: bool,
    /// The order of the rows, in words, if they were chosen or sorted.
    #[serde(default)]
    pub order: Option<String>,
}

impl Meta {
    /// Of the trend of a range.
    pub fn of_trend(
        of: Subject,
        project: &Segment,
        slices: &[Slice],
        every: Option<Every>,
        trend: &SlicedTable,
    ) -> Self {
        Self {
            class: "TrendTable".to_owned(),
            endpoint: Some(of.endpoint.name.to_owned()),
            site: of.content == Content::Totals,
            date_from: slices.first().map(|slice| slice.from.to_string()),
            date_to: slices.last().map(|slice| slice.to.to_string()),
            project_id: Some(project.as_str().to_owned()),
            requests: trend.requests,
            warnings: trend.warnings.clone(),
            every,
            open_from: trend.open_from.map(|day| day.to_string()),
            running: trend.running.clone(),
            slices: trend.table.slices.clone(),
            ..Self::default()
        }
    }

    /// Of two periods side by side.
    pub fn of_comparison(
        endpoint: &Endpoint,
        project: Option<&Segment>,
        [now, before]: [Period; 2],
        compared: &Compared,
    ) -> Self {
        Self {
            class: "Comparison".to_owned(),
            endpoint: Some(endpoint.name.to_owned()),
            totals: Some(compared.totals),
            date_from: Some(now.days.from.to_string()),
            date_to: Some(now.days.to.to_string()),
            project_id: project.map(|project| project.as_str().to_owned()),
            requests: compared.requests,
            running: compared.running.clone(),
            warnings: compared.warnings.clone(),
            before: Some((before.days, compared.totals_before)),
            paces: compared
                .paces
                .map(|pace| [pace.ratio, pace.scatter].map(f64::to_bits)),
            ..Self::default()
        }
    }

    /// Of the sections of a comparison.
    pub fn of_sections(self) -> Self {
        Self {
            class: "Table".to_owned(),
            sections: true,
            order: Some("those that moved first".to_owned()),
            ..self
        }
    }

    /// Of a comparison: the pace of each kind.
    pub fn paces(&self) -> [SitePace; 3] {
        self.paces.map(|bits| {
            let [ratio, scatter] = bits.map(f64::from_bits);
            SitePace { ratio, scatter }
        })
    }

    /// The days of the range, if its ends are days.
    pub fn days(&self) -> Option<Slice> {
        Slice::parse(self.date_from.as_deref()?, self.date_to.as_deref()?)
    }

    /// Of a range that came out of a store.
    pub fn of_stored(
        of: Subject,
        project: &Segment,
        slices: &[Slice],
        stored: &StoreAnswer,
    ) -> Self {
        Self {
            class: "VisitorTable".to_owned(),
            totals: stored.totals,
            open_from: None,
            ..Self::of_trend(of, project, slices, None, &stored.trend)
        }
    }

    pub fn new(listing: &Listing, stream: &ExportStream, table: &Table) -> Self {
        let endpoint = listing.endpoint();
        Self {
            class: if endpoint.totals {
                "VisitorTable"
            } else {
                "Table"
            }
            .to_owned(),
            endpoint: listing.is_known().then(|| endpoint.name.to_owned()),
            totals: stream.totals(),
            date_from: listing.filter("dateFrom").map(str::to_owned),
            date_to: listing.filter("dateTo").map(str::to_owned),
            project_id: listing.project_id.clone(),
            requests: stream.requests(),
            warnings: stream.warnings(),
            slices: table.slices.clone(),
            ..Self::default()
        }
    }

    pub fn totals(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        self.totals
            .map(|totals| convert::totals(py, totals))
            .transpose()
    }

    pub fn endpoint(&self) -> Option<&'static Endpoint> {
        Endpoint::named(self.endpoint.as_deref()?)
    }

    /// Whether what it counts adds up over its rows.
    pub fn adds_up(&self) -> bool {
        self.endpoint().is_some_and(|endpoint| endpoint.adds_up)
    }

    fn fields(&self) -> &'static [Field] {
        match self.endpoint() {
            _ if self.sections => compare::SECTION_COLUMNS,
            _ if self.class == "Comparison" => compare::COLUMNS,
            _ if self.class == "FixList" => fix::FIX_COLUMNS,
            _ if self.site => COUNTS,
            endpoint => endpoint.map_or(&[], |endpoint| endpoint.fields),
        }
    }
}

/// A table's rows, and what is known of them.
pub struct Data {
    pub table: Arc<Table>,
    pub meta: Meta,
}

impl Data {
    /// The table of these rows, in this order.
    pub fn take(&self, rows: &[usize], order: Option<String>) -> Self {
        let table = Arc::new(self.table.take(rows));
        let meta = Meta {
            slices: table.slices.clone(),
            order,
            ..self.meta.clone()
        };
        Self { table, meta }
    }

    /// The order of the rows, in words; `None` if it is that of the days.
    pub fn order(&self) -> Option<&str> {
        let own = (!self.meta.site).then_some("in the service's order");
        self.meta.order.as_deref().or(own)
    }

    pub fn row(&self, py: Python<'_>, at: usize) -> Returned {
        match self.table.row(at) {
            Some(row) => rows::Dicts::new(py, self.table.layout).make(row),
            None => Err(PyIndexError::new_err("row index out of range")),
        }
    }

    /// A row, or those of a slice.
    pub fn at(&self, py: Python<'_>, at: &Object<'_>) -> Returned {
        if let Ok(slice) = at.cast::<PySlice>() {
            let range = slice.indices(self.table.len().cast_signed())?;
            let rows = (0..range.slicelength).map(|step| {
                let at = range.start + step.cast_signed() * range.step;
                self.row(py, at.cast_unsigned())
            });
            return rows.collect::<PyResult<Vec<_>>>()?.into_py_any(py);
        }
        let at: isize = at.extract().map_err(|error: PyErr| {
            match error.is_instance_of::<PyOverflowError>(py) {
                true => PyIndexError::new_err("row index out of range"),
                false => error,
            }
        })?;
        let from = if at < 0 {
            self.table.len().cast_signed()
        } else {
            0
        };
        // No table has a row of a negative number.
        self.row(py, (from + at).cast_unsigned())
    }

    pub fn write(&self, py: Python<'_>, path: &Object<'_>, format: Format) -> PyResult<usize> {
        let path = collect::path_of("path", path)?;
        py.detach(|| FileWriter::table(path.clone(), format, &self.table))
            .map_err(|error| os_error(&path, &error))
    }

    pub fn repr(&self) -> String {
        let meta = &self.meta;
        let mut shown = format!("{}({} rows", meta.class, self.table.len());
        let every = meta.every.map(|every| every.as_str().to_owned());
        for (name, value) in [
            ("project_id", &meta.project_id),
            ("date_from", &meta.date_from),
            ("date_to", &meta.date_to),
            ("every", &every),
            ("open_from", &meta.open_from),
        ] {
            if let Some(value) = value {
                shown += &format!(", {name}='{}'", safe(value, 60));
            }
        }
        shown + ")"
    }
}

/// An end of a range as a `date`, or as it was given if it has a time.
pub fn day<'py>(py: Python<'py>, text: Option<&str>) -> PyResult<Option<Object<'py>>> {
    text.map(|text| match text.parse() {
        Ok(day) if text.len() == "2026-01-31".len() => convert::day(py, day),
        _ => text.into_bound_py_any(py),
    })
    .transpose()
}

/// Lines of a pickle that are read into columns at once.
const LINES: usize = 1000;

/// Reads the content of a pickle.
pub fn load(py: Python<'_>, meta: &str, lines: &[u8]) -> PyResult<Data> {
    let broken =
        |error: serde_json::Error| PyValueError::new_err(format!("not a pickled table: {error}"));
    let meta: Meta = serde_json::from_str(meta).map_err(broken)?;
    let (fields, slices) = (meta.fields(), &meta.slices);
    let layout = Layout {
        days: !slices.is_empty(),
        fields,
    };
    let table = py.detach(|| {
        let lines: Vec<_> = lines
            .split(|&byte| byte == b'\n')
            .filter(|line| !line.is_empty())
            .collect();
        let mut builder = TableBuilder::new(layout);
        for lines in lines.chunks(LINES) {
            let mut rows = RowsBuilder::new(fields, None, lines.len());
            for line in lines {
                rows.read_line(line)?;
            }
            builder.extend(&rows.finish());
        }
        let mut table = builder.finish();
        table.slices.clone_from(slices);
        Ok(table)
    });
    Ok(Data {
        table: Arc::new(table.map_err(broken)?),
        meta,
    })
}
