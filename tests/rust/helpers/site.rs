//! A paged service over a table of visitors, with the habits that services have.

use std::sync::Arc;
use std::time::Duration;

use docplatform::client::Client;
use docplatform::config::url::Template;
use docplatform::error::Result;
use docplatform::export::checkpoint::Checkpoint;
use docplatform::export::findings::Finding;
use docplatform::export::observer::ExportObserver;
use docplatform::export::pager::{CheckedPage, Pager, Paging, WINDOW};
use docplatform::export::service::ServicePages;
use docplatform::listing::columns::Cell;
use docplatform::listing::endpoint::VISITORS;
use docplatform::listing::rows::{Row, Rows};
use docplatform::listing::{Listing, Shape};

use crate::helpers::support::{BASE_URL, Recorder, Script, Step, client, query, reply, segment};

/// See the module.
#[derive(Clone)]
pub(crate) struct Site {
    rows: Vec<String>,
    cap: u64,
    at_least: u64,
    shown: fn(u64) -> bool,
    latency: Duration,
    date: Option<&'static str>,
}

/// A row as the service spells it: without a space.
pub(crate) fn row(path: &str, count: u64) -> String {
    format!(r#"{{"path":"{path}","human":{count},"ai":0,"total":{count}}}"#)
}

/// A visitors object.
pub(crate) fn page(rows: &[String], total: u64, has_more: bool) -> String {
    let (totals, rows) = (
        format!(r#"{{"human":{total},"ai":0,"total":{total}}}"#),
        rows.join(","),
    );
    format!(r#"{{"totals":{totals},"visitors":[{rows}],"hasMore":{has_more}}}"#)
}

impl Site {
    /// With as many rows: `/0`, `/1` and so on.
    pub(crate) fn new(rows: u64) -> Self {
        Self {
            rows: (0..rows)
                .map(|number| row(&format!("/{number}"), number))
                .collect(),
            cap: u64::MAX,
            at_least: 0,
            shown: |_| true,
            latency: Duration::ZERO,
            date: None,
        }
    }

    /// No page is longer, whatever was asked for.
    pub(crate) fn capped(mut self, cap: u64) -> Self {
        self.cap = cap;
        self
    }

    /// No page but the last is shorter, whatever was asked for.
    pub(crate) fn at_least(mut self, rows: u64) -> Self {
        self.at_least = rows;
        self
    }

    /// Cuts pages first and leaves rows out of them after that.
    pub(crate) fn filtered(mut self, shown: fn(u64) -> bool) -> Self {
        self.shown = shown;
        self
    }

    /// So long is the way to it.
    pub(crate) fn latency(mut self, latency: Duration) -> Self {
        self.latency = latency;
        self
    }

    /// The date on its clock.
    pub(crate) fn dated(mut self, date: Option<&'static str>) -> Self {
        self.date = date;
        self
    }

    /// The paths of all rows that it shows.
    pub(crate) fn paths(&self) -> Vec<String> {
        (0..self.rows.len() as u64)
            .filter(|&n| (self.shown)(n))
            .map(|n| format!("/{n}"))
            .collect()
    }

    /// The answer for `limit` rows from `offset`.
    pub(crate) fn answer(&self, offset: u64, limit: u64) -> Step {
        let all = self.rows.len() as u64;
        let end = (offset + limit.min(self.cap).max(self.at_least)).min(all);
        let rows: Vec<_> = (offset..end)
            .filter(|&number| (self.shown)(number))
            .map(|number| self.rows[usize::try_from(number).unwrap()].clone())
            .collect();
        let answer = reply(200, page(&rows, all, end < all)).after(self.latency);
        self.date
            .iter()
            .fold(answer, |answer, date| answer.header("date", date))
            .into()
    }

    /// The service.
    pub(crate) fn serve(&self) -> Arc<Script> {
        self.serve_but(|_| None)
    }

    /// The service, but for what `other` says of a request for the rows from an offset on.
    pub(crate) fn serve_but(
        &self,
        mut other: impl FnMut(u64) -> Option<Step> + Send + 'static,
    ) -> Arc<Script> {
        let site = self.clone();
        Script::each(move |request| {
            let number = |name| query(&request.url, name).unwrap();
            let offset = number("offset");
            other(offset).unwrap_or_else(|| site.answer(offset, number("limit")))
        })
    }
}

/// Pages one after another; each is a body.
pub(crate) fn pages(bodies: impl IntoIterator<Item = String>) -> Arc<Script> {
    Script::new(bodies.into_iter().map(|body| reply(200, body)))
}

/// No prefetch, no cap, not strict, as one streams.
pub(crate) const PLAIN: Paging = Paging {
    max_rows: None,
    prefetch: 0,
    strict: false,
    window: Some(WINDOW),
};

/// An export's beginning.
pub(crate) fn start(page_size: u32) -> Checkpoint {
    Checkpoint::new(
        BASE_URL,
        Listing::of(VISITORS, &segment("demo"), None, None),
        page_size,
        0,
    )
}

/// The names of a listing of rows of unknown shape.
pub(crate) fn shape(items: &str, has_more: &str) -> Shape {
    Shape {
        items: items.to_owned(),
        has_more: has_more.to_owned(),
        next_cursor: None,
    }
}

/// A text of a row.
pub(crate) fn text<'a>(row: &Row<'a>, name: &str) -> &'a str {
    match row.get(name) {
        Cell::Text(text) => text,
        other => panic!("{name}: {other:?}"),
    }
}

/// A whole number of a row.
pub(crate) fn integer(row: &Row<'_>, name: &str) -> i64 {
    match row.get(name) {
        Cell::Integer(number) => number,
        other => panic!("{name}: {other:?}"),
    }
}

/// The beginning of a listing of rows of unknown shape.
pub(crate) fn start_json(page_size: u32) -> Checkpoint {
    let path = Template::parse("path", "/v1/analytics/{project_id}/feedback").unwrap();
    let listing = Listing::other(
        &path,
        Some(&segment("demo")),
        Vec::new(),
        shape("visitors", "hasMore"),
    )
    .unwrap();
    Checkpoint::new(BASE_URL, listing, page_size, 0)
}

/// A pager at `place`, with a client of its own.
pub(crate) fn pager_at(script: &Arc<Script>, place: Checkpoint, paging: Paging) -> Pager {
    pager_of(client(script), place, paging)
}

pub(crate) fn pager_of(client: Client, place: Checkpoint, paging: Paging) -> Pager {
    let listing = place.listing.clone();
    Pager::new(Arc::new(ServicePages::new(client, listing)), place, paging)
}

/// A pager from the beginning.
pub(crate) fn pager(script: &Arc<Script>, page_size: u32, paging: Paging) -> Pager {
    pager_at(script, start(page_size), paging)
}

/// The next page.
pub(crate) async fn turn(pager: &mut Pager) -> Result<Option<CheckedPage>> {
    let observer: Arc<dyn ExportObserver> = Arc::new(Recorder::default());
    pager.next_page(&observer).await
}

/// The name of a row: a visitor's path, or all of a row of unknown shape.
pub(crate) fn names(rows: &Rows) -> Vec<String> {
    let name = |row: Row<'_>| match (row.other, rows.fields) {
        (Some(whole), []) => whole.to_string(),
        _ => text(&row, "path").to_owned(),
    };
    rows.iter().map(name).collect()
}

/// All that is left of an export.
pub(crate) struct Export {
    pub(crate) paths: Vec<String>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) warnings: Vec<String>,
}

pub(crate) async fn export(mut pager: Pager) -> Result<Export> {
    let (mut paths, mut findings) = (Vec::new(), Vec::new());
    while let Some(turn) = turn(&mut pager).await? {
        paths.extend(names(&turn.rows));
        findings.extend(turn.findings);
    }
    Ok(Export {
        paths,
        findings,
        warnings: pager.warnings().iter().map(ToString::to_string).collect(),
    })
}

/// `(offset, limit)` of every request.
pub(crate) fn asked(script: &Script) -> Vec<(u64, u64)> {
    let sent = script.sent();
    sent.iter()
        .map(|sent| (sent.query("offset").unwrap(), sent.query("limit").unwrap()))
        .collect()
}
