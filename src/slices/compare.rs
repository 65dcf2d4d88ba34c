//! Compares a period with the one before: the site's totals, every path's counts, and which changes are more than chance.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use jiff::civil::Date;
use serde_json::Value;

use crate::client::Client;
use crate::config::url::Segment;
use crate::dates::periods::Period;
use crate::error::{Error, Result};
use crate::export::checkpoint::Checkpoint;
use crate::export::observer::ExportObserver;
use crate::export::pager::Turn;
use crate::listing::Listing;
use crate::listing::columns::Cell;
use crate::listing::endpoint::{ColumnKind, Endpoint, Field, required};
use crate::listing::page::Totals;
use crate::listing::rows::{Identity, Rows, RowsBuilder};
use crate::slices::Subject;
use crate::slices::trend::Reader;
use crate::store::What;
use crate::table::layout::Layout;
use crate::table::{Table, TableBuilder};

pub const COLUMNS: &[Field] = &[
    required("path", ColumnKind::Text),
    required("human", ColumnKind::Integer),
    required("human_before", ColumnKind::Integer),
    required("human_change", ColumnKind::Integer),
    required("ai", ColumnKind::Integer),
    required("ai_before", ColumnKind::Integer),
    required("ai_change", ColumnKind::Integer),
    required("total", ColumnKind::Integer),
    required("total_before", ColumnKind::Integer),
    required("total_change", ColumnKind::Integer),
    required("significant", ColumnKind::Bool),
];

/// Whether two counts differ by more than chance explains: by more than two standard deviations, if the variance of a count
/// is the count itself.
pub fn is_significant(before: i64, now: i64) -> bool {
    let (before, now) = (i128::from(before), i128::from(now));
    (now - before).pow(2) > 4 * (before + now)
}

/// Two periods side by side.
#[derive(Debug)]
pub struct Compared {
    /// A row for each path of either, those of the period itself first.
    pub table: Table,
    /// The site's totals in the period.
    pub totals: Totals,
    /// The same in the one before it.
    pub totals_before: Totals,
    /// What was found on the way, in words.
    pub warnings: Vec<String>,
    /// Requests that were sent, retries included.
    pub requests: u64,
    /// The ends of periods that were not over when they were read.
    pub running: Vec<Date>,
}

/// Reads two periods of what an endpoint counts by path, and puts them side by side. `begins` gets the checkpoint at which the
/// export of each begins: no row is handed out before the end.
pub async fn compare(
    client: &Client,
    endpoint: &'static Endpoint,
    project: &Segment,
    [now, before]: [Period; 2],
    observer: Arc<dyn ExportObserver>,
    begins: impl Fn(Checkpoint) + Send,
) -> Result<Compared> {
    let of = Subject {
        endpoint,
        what: What::Pages,
    };
    let mut reader = Reader::new(client, observer);
    let (mut warnings, mut running) = (Vec::from_iter(uneven(now, before)), Vec::new());
    let (mut sides, mut totals) = ([Side::default(), Side::default()], [Totals::default(); 2]);
    for ((period, side), totals) in [now, before].into_iter().zip(&mut sides).zip(&mut totals) {
        let base_url = client.settings().base_url.as_str();
        let listing = Listing::days(endpoint, project, period.days);
        begins(Checkpoint::new(
            base_url,
            listing,
            endpoint.max_page_size,
            0,
        ));
        let take = |turn: Turn| side.add(&turn.rows);
        let (of_all, found) = reader
            .pages(of, project, period.days, false, None, take)
            .await?;
        *totals = of_all.ok_or_else(|| Error::bug("pages with counts came without totals"))?;
        warnings.extend(
            found
                .into_iter()
                .map(|found| format!("{}: {found}", period.name())),
        );
        if period.days.to > client.today() {
            running.push(period.days.to);
            warnings.push(format!(
                "{} is not over, so its numbers are of fewer days",
                period.name()
            ));
        } else if reader.is_open(of, project, period.days).await? {
            warnings.push(format!(
                "{} may still change, because it ended only recently",
                period.name()
            ));
        }
    }
    let [totals, totals_before] = totals;
    Ok(Compared {
        table: beside(&sides),
        totals,
        totals_before,
        warnings,
        requests: reader.requests,
        running,
    })
}

/// Says that one of two periods is much shorter. Months are as long as each other.
fn uneven(now: Period, before: Period) -> Option<String> {
    let [days, days_before] = [now.days.count(), before.days.count()];
    let is_uneven = days.min(days_before) * 10 < days.max(days_before) * 9;
    is_uneven.then(|| {
        let (name, before) = (now.name(), before.name());
        format!("days of {name}: {days}, of {before}: {days_before}; more days have more readers for that reason alone")
    })
}

/// The counts of people, AI agents and all.
type Counts = [i64; 3];

/// The paths of a period, in their order.
#[derive(Default)]
struct Side {
    /// Each with what its row is known by: two with invalid characters may look alike.
    paths: Vec<(u64, String, Counts)>,
    places: HashMap<u64, usize>,
}

impl Side {
    /// Adds rows. Of two with one path, which a change of the data leaves, the larger counts.
    fn add(&mut self, rows: &Rows) {
        for (row, Identity { key, .. }) in rows.iter().zip(rows.identities()) {
            let Cell::Text(path) = row.get("path") else {
                continue;
            };
            let counts = ["human", "ai", "total"].map(|name| integer(row.get(name)));
            match self.places.get(&key).and_then(|&at| self.paths.get_mut(at)) {
                Some((.., known)) if known[2] < counts[2] => *known = counts,
                Some(_) => {}
                None => {
                    self.places.insert(key, self.paths.len());
                    self.paths.push((key, path.to_owned(), counts));
                }
            }
        }
    }

    fn counts(&self, key: u64) -> Option<Counts> {
        self.paths
            .get(*self.places.get(&key)?)
            .map(|(.., counts)| *counts)
    }
}

fn integer(cell: Cell<'_>) -> i64 {
    match cell {
        Cell::Integer(value) => value,
        _ => 0,
    }
}

/// Both periods as a table. A path that is missing in one had no reader in it.
fn beside([now, before]: &[Side; 2]) -> Table {
    let mut builder = TableBuilder::new(Layout::of(COLUMNS));
    let here = now
        .paths
        .iter()
        .map(|(key, path, counts)| (path, *counts, before.counts(*key)));
    let gone = before
        .paths
        .iter()
        .filter(|(key, ..)| now.counts(*key).is_none());
    let gone = gone.map(|(_, path, counts)| (path, Counts::default(), Some(*counts)));
    let mut rows = RowsBuilder::new(COLUMNS, None, 0);
    for (path, now, before) in here.chain(gone) {
        let before = before.unwrap_or_default();
        let mut cells = vec![Cell::Text(path)];
        for (now, before) in now.into_iter().zip(before) {
            cells.extend([now, before, now - before].map(Cell::Integer));
        }
        cells.push(Cell::Bool(is_significant(before[2], now[2])));
        rows.push(cells);
    }
    builder.extend(&rows.finish());
    builder.finish()
}

/// Adds a row as it stands in a line of JSON: what a pickle carries. A change may be below 0, which no count of the service is.
pub fn read_line(rows: &mut RowsBuilder, line: &[u8]) -> serde_json::Result<()> {
    let row: serde_json::Map<String, Value> = serde_json::from_slice(line)?;
    let cell = |field: &Field| match row.get(field.name) {
        Some(Value::String(text)) => Cell::Text(text),
        Some(Value::Bool(flag)) => Cell::Bool(*flag),
        Some(value) => value.as_i64().map_or(Cell::Null, Cell::Integer),
        None => Cell::Null,
    };
    rows.push(COLUMNS.iter().map(cell));
    Ok(())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Movers {
    /// Paths with readers in both periods that gained significantly.
    Risers,
    /// Paths with readers in both periods that lost significantly.
    Fallers,
    /// Paths without a reader before.
    New,
    /// Paths without a reader now.
    Vanished,
}

/// The first `n` of them, those that moved most first.
pub fn movers(table: &Table, which: Movers, n: usize) -> Vec<usize> {
    let movers = table.rows().enumerate().filter_map(|(at, row)| {
        let [now, before] = ["total", "total_before"].map(|name| integer(row.get(name)));
        let is_one = match which {
            Movers::Risers => now > before && before > 0 && is_significant(before, now),
            Movers::Fallers => now < before && now > 0 && is_significant(before, now),
            Movers::New => now > 0 && before == 0,
            Movers::Vanished => now == 0 && before > 0,
        };
        let path = if let Cell::Text(path) = row.get("path") {
            path
        } else {
            ""
        };
        is_one.then(|| {
            (
                Reverse((now - before).abs()),
                Reverse(now.max(before)),
                path,
                at,
            )
        })
    });
    let mut found: Vec<_> = movers.collect();
    found.sort_unstable();
    found.into_iter().take(n).map(|(.., at)| at).collect()
}
