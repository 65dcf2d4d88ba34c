//! Compares a period with another: the totals of the site, the counts of each path, and how they
//! are judged.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use jiff::civil::Date;

use crate::client::Client;
use crate::config::url::Segment;
use crate::dates::periods::Period;
use crate::error::{Error, Result};
use crate::export::checkpoint::Checkpoint;
use crate::export::findings::Finding;
use crate::export::observer::ExportObserver;
use crate::export::pager::CheckedPage;
use crate::listing::Listing;
use crate::listing::columns::Cell;
use crate::listing::endpoint::{Endpoint, Field, fields};
use crate::listing::page::Totals;
use crate::listing::rows::{Identity, Rows, RowsBuilder};
use crate::slices::Subject;
use crate::slices::judge::{Movement, Pair, SitePace};
use crate::slices::reader::SliceReader;
use crate::store::Content;
use crate::table::layout::Layout;
use crate::table::{Table, TableBuilder};
use crate::text::message::{Setting, message};
use crate::text::named_enum;

pub const COLUMNS: &[Field] = fields![
    Text "path" required,
    Integer "human" required,
    Integer "human_before" required,
    Integer "human_change" required,
    Float "human_growth",
    Bool "human_significant" required,
    Integer "ai" required,
    Integer "ai_before" required,
    Integer "ai_change" required,
    Float "ai_growth",
    Bool "ai_significant" required,
    Integer "total" required,
    Integer "total_before" required,
    Integer "total_change" required,
    Float "total_growth",
    Bool "total_significant" required,
];

/// The columns of a table of sections.
pub const SECTION_COLUMNS: &[Field] = fields![
    Text "section" required,
    Integer "paths" required,
    Integer "now" required,
    Integer "before" required,
    Integer "change" required,
    Float "growth",
    Bool "significant" required,
];

named_enum! {
    /// A kind of readers.
    ReaderKind {
        Human = "human",
        Ai = "ai",
        Total = "total",
    }
}

impl ReaderKind {
    pub const ALL: [Self; 3] = [Self::Human, Self::Ai, Self::Total];

    pub fn parse(name: &str) -> Result<Self> {
        Self::named(name).ok_or_else(|| {
            let name = crate::text::safe(name, 60);
            let why = format!(" must be \"human\", \"ai\" or \"total\"; it is {name:?}");
            Error::argument(message![Setting::Of, why])
        })
    }

    /// The number of its column of counts among [`COLUMNS`].
    fn column(self) -> usize {
        1 + 5 * self as usize
    }

    /// This kind's value of three.
    pub fn of<T: Copy>(self, [human, ai, total]: [T; 3]) -> T {
        match self {
            Self::Human => human,
            Self::Ai => ai,
            Self::Total => total,
        }
    }
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
    /// The findings, in words.
    pub warnings: Vec<String>,
    /// Requests that were sent, retries included.
    pub requests: u64,
    /// The ends of periods that were not over when they were read.
    pub running: Vec<Date>,
    /// The pace of each kind.
    pub paces: [SitePace; 3],
}

/// Reads two periods of an endpoint's counts by path, and puts them side by side. `begins` gets the
/// first checkpoint of each export, because no row is handed out before the end.
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
        content: Content::Pages,
    };
    let mut reader = SliceReader::new(client, observer);
    let (mut warnings, mut running) = (Vec::new(), Vec::new());
    let [days, days_before] = [now, before].map(|period| period.days.count());
    // Any two months are even: of the longer one's days, the shorter has at least nine tenths.
    if days.min(days_before) * 10 < days.max(days_before) * 9 {
        let finding = Finding::Uneven {
            now: now.days,
            before: before.days,
        };
        warnings.push(finding.to_string());
        reader.observer.found(vec![finding]);
    }
    let (mut periods, mut totals) = <([PeriodCounts; 2], [Totals; 2])>::default();
    for ((period, side), totals) in [now, before].into_iter().zip(&mut periods).zip(&mut totals) {
        let base_url = client.settings().base_url.as_str();
        let listing = Listing::days(endpoint, project, period.days);
        let page_size = endpoint.max_page_size;
        begins(Checkpoint::new(base_url, listing, page_size, 0));
        let take = |page: CheckedPage| side.add(&page.rows);
        let read = reader.read(of, project, period.days, false, None, take);
        let (of_all, found) = read.await?;
        *totals = of_all.ok_or_else(|| Error::bug("pages with counts came without totals"))?;
        let name = period.name();
        warnings.extend(found.into_iter().map(|found| format!("{name}: {found}")));
        if period.days.to > client.today() {
            running.push(period.days.to);
            warnings.push(format!(
                "{name} is not over, so its numbers are of a part of it"
            ));
        } else if reader.is_open(of, project, period.days).await? {
            warnings.push(format!(
                "{name} may still change, or was fetched before it was final"
            ));
        }
    }
    Ok(Compared {
        warnings,
        requests: reader.requests,
        running,
        ..Compared::of(&periods, totals)
    })
}

impl Compared {
    /// Puts the rows of two periods side by side, and judges them.
    pub fn of_rows([now, before]: [&Rows; 2], totals: [Totals; 2]) -> Self {
        let mut periods = <[PeriodCounts; 2]>::default();
        for (side, rows) in periods.iter_mut().zip([now, before]) {
            side.add(rows);
        }
        Self::of(&periods, totals)
    }

    /// A path that is missing in one of the periods had no reader in it.
    fn of([now, before]: &[PeriodCounts; 2], [totals, totals_before]: [Totals; 2]) -> Self {
        let here = now
            .paths
            .iter()
            .map(|(key, path, counts)| (path, *counts, before.counts(*key).unwrap_or_default()));
        let gone = before
            .paths
            .iter()
            .filter(|(key, ..)| now.counts(*key).is_none());
        let gone = gone.map(|(_, path, counts)| (path, Counts::default(), *counts));
        let paths: Vec<_> = here.chain(gone).collect();
        let judged = ReaderKind::ALL.map(|kind| {
            let pair = |(_, now, before): &(_, Counts, Counts)| Pair {
                before: kind.of(*before),
                now: kind.of(*now),
            };
            let pairs: Vec<_> = paths.iter().map(pair).collect();
            let pace = SitePace::of(&pairs);
            (pace, pace.significant(&pairs), pairs)
        });
        let mut rows = RowsBuilder::new(COLUMNS, None, paths.len());
        for (at, (path, ..)) in paths.iter().enumerate() {
            let mut cells = vec![Cell::Text(path)];
            for (_, significant, pairs) in &judged {
                let flag = significant.get(at).copied().unwrap_or_default();
                cells.extend(pairs.get(at).into_iter().flat_map(|pair| counted(*pair)));
                cells.push(Cell::Bool(flag));
            }
            rows.push(cells);
        }
        Self {
            table: table_of(rows),
            totals,
            totals_before,
            warnings: Vec::new(),
            requests: 0,
            running: Vec::new(),
            paces: judged.map(|(pace, ..)| pace),
        }
    }
}

/// The counts of people, AI agents and all.
type Counts = [i64; 3];

/// The paths of a period, in their order.
#[derive(Default)]
struct PeriodCounts {
    /// Each path with its key, because two paths with invalid characters may look alike.
    paths: Vec<(u64, String, Counts)>,
    places: HashMap<u64, usize>,
}

impl PeriodCounts {
    /// Adds rows. A change of the data can leave two rows with one path; the larger one counts.
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

/// The counts of both periods, their difference and the growth.
fn counted(pair: Pair) -> [Cell<'static>; 4] {
    let Pair { before, now } = pair;
    let [now_cell, before_cell, change] = [now, before, now - before].map(Cell::Integer);
    let growth = pair.growth().map_or(Cell::Null, Cell::Float);
    [now_cell, before_cell, change, growth]
}

fn table_of(rows: RowsBuilder) -> Table {
    let mut builder = TableBuilder::new(Layout::of(rows.fields));
    builder.extend(&rows.finish());
    builder.finish()
}

/// The path of each row of a comparison, its counts of a kind, and whether they changed
/// significantly.
fn pairs(table: &Table, kind: ReaderKind) -> impl Iterator<Item = (&str, Pair, bool)> {
    let column = kind.column();
    table.rows().map(move |row| {
        let path = match row.cell(0) {
            Cell::Text(path) => path,
            _ => "",
        };
        let [now, before] = [0, 1].map(|next| integer(row.cell(column + next)));
        let is_significant = row.cell(column + 4) == Cell::Bool(true);
        (path, Pair { before, now }, is_significant)
    })
}

/// The numbers of the rows that changed significantly in some direction, and that direction; the
/// largest change comes first.
pub fn movements(table: &Table, kind: ReaderKind, pace: SitePace) -> Vec<(usize, Movement)> {
    let found = pairs(table, kind).enumerate();
    let significant = found.filter(|(_, (.., is_significant))| *is_significant);
    let mut found: Vec<_> = significant
        .filter_map(|(at, (path, pair, _))| Some((path, pair, at, pace.movement(pair)?)))
        .collect();
    found.sort_unstable_by_key(|(path, Pair { before, now }, at, _)| {
        (
            Reverse((now - before).abs()),
            Reverse(*now.max(before)),
            *path,
            *at,
        )
    });
    found.into_iter().map(|(.., at, how)| (at, how)).collect()
}

/// The sections of a site; those that moved come first.
pub fn sections(table: &Table, kind: ReaderKind, pace: SitePace) -> Table {
    let mut rows = RowsBuilder::new(SECTION_COLUMNS, None, 0);
    for section in pace.sections(pairs(table, kind).map(|(path, pair, _)| (path, pair))) {
        let mut cells = vec![Cell::Text(&section.name), Cell::Integer(section.paths)];
        cells.extend(counted(section.pair));
        cells.push(Cell::Bool(section.moved));
        rows.push(cells);
    }
    table_of(rows)
}
