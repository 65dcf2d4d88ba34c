//! Listings that are read page by page: one of the known endpoints, or any other path.

pub mod columns;
pub mod cursor;
pub mod endpoint;
pub mod page;
pub(crate) mod quick;
pub(crate) mod read;
pub mod rows;

use serde::{Deserialize, Serialize};

use crate::config::url::{Segment, Template, encoded};
use crate::dates::Moment;
use crate::dates::slices::{self, Every, Slice};
use crate::error::{Error, Result, refuse};
use crate::listing::cursor::CURSOR;
use crate::listing::endpoint::{Endpoint, OTHER, PagedBy};
use crate::listing::page::Page;
use crate::listing::read::PageSeed;
use crate::text::json;
use crate::text::message::{Setting, message};

/// The query parameters that a range becomes.
const DATES: [&str; 2] = ["dateFrom", "dateTo"];

/// A listing with its filters. A checkpoint must agree with it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listing {
    /// The path, with its placeholders.
    pub path: String,
    pub project_id: Option<String>,
    /// Query parameters, without those of paging.
    pub query: Vec<(String, String)>,
    /// The names in an answer; `None` for the endpoints that are known.
    shape: Option<Shape>,
    /// The length of the slices, if the range is read in slices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Every>,
}

/// The names in the answers of an unknown endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// The name of the rows.
    pub items: String,
    /// The name of the flag for more rows.
    pub has_more: String,
    /// The name of the cursor, if there are cursors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

impl Listing {
    /// The listing of a project between two dates, as they go on the wire. The second date is
    /// exclusive.
    pub fn of(
        endpoint: &'static Endpoint,
        project: &Segment,
        from: Option<String>,
        to: Option<String>,
    ) -> Self {
        Self {
            path: endpoint.path.to_owned(),
            project_id: Some(project.as_str().to_owned()),
            query: dates(from, to),
            shape: None,
            every: None,
        }
    }

    /// The listing of a project on some days.
    pub fn days(endpoint: &'static Endpoint, project: &Segment, days: Slice) -> Self {
        Self::of(
            endpoint,
            project,
            Some(days.from.to_string()),
            Some(days.to.to_string()),
        )
    }

    /// The listing of any path.
    pub fn other(
        path: &Template,
        project: Option<&Segment>,
        query: Vec<(String, String)>,
        shape: Shape,
    ) -> Result<Self> {
        check_query(&query)?;
        let mut names = vec![&shape.items, &shape.has_more];
        names.extend(&shape.next_cursor);
        let is_empty = names.iter().any(|name| name.is_empty());
        names.sort_unstable();
        if is_empty || !names.is_sorted_by(|one, other| one < other) {
            return refuse(
                "the rows, the flag for more and the cursor must be different fields, each with a name",
            );
        }
        Ok(Self {
            path: path.as_str().to_owned(),
            project_id: project.map(|project| project.as_str().to_owned()),
            query,
            shape: Some(shape),
            every: None,
        })
    }

    /// Keeps only rows with one of these values, comma-separated, in a field.
    #[must_use]
    pub fn with_filter(mut self, name: &str, value: Option<String>) -> Self {
        self.query
            .extend(value.map(|value| (name.to_owned(), value)));
        self
    }

    /// The range is read slice by slice.
    pub fn in_slices(mut self, every: Option<Every>) -> Result<Self> {
        self.every = every;
        self.slices()?;
        Ok(self)
    }

    /// Its days, if both ends are days.
    pub fn range(&self) -> Option<Slice> {
        let [from, to] = DATES.map(|name| self.filter(name));
        Slice::parse(from?, to?)
    }

    /// Its slices, in order; empty if it is read as a whole.
    pub fn slices(&self) -> Result<Vec<Slice>> {
        if self.every.is_none() {
            return Ok(Vec::new());
        }
        let day = |what: Setting, name| {
            let date = self.filter(name).ok_or_else(|| {
                Error::argument(message![Setting::Every, " needs a period, or ", what])
            })?;
            Moment::parse(what, date)
        };
        let [from, to] = DATES;
        let (from, to) = (day(Setting::DateFrom, from)?, day(Setting::DateTo, to)?);
        slices::slices(&from, &to, self.every)
    }

    /// One of its slices as a listing; without `days`, all of it.
    pub(crate) fn part(&self, days: Option<Slice>) -> Self {
        let mut part = Self {
            every: None,
            ..self.clone()
        };
        let days = days.into_iter().flat_map(|days| [days.from, days.to]);
        for (date, day) in DATES.into_iter().zip(days) {
            for (_, value) in part.query.iter_mut().filter(|(name, _)| name == date) {
                *value = day.to_string();
            }
        }
        part
    }

    /// Checks a listing that came from outside.
    pub(crate) fn check(&self) -> Result<()> {
        Template::parse("path", &self.path)?;
        if self.shape.is_none() && Endpoint::at(&self.path).is_none() {
            return refuse("the path is not that of a known listing");
        }
        check_query(&self.query)?;
        self.slices()?;
        self.project().map(drop)
    }

    /// Whether it is one of the service's endpoints.
    pub fn is_known(&self) -> bool {
        self.shape.is_none()
    }

    /// Its endpoint.
    pub fn endpoint(&self) -> &'static Endpoint {
        Endpoint::at(&self.path)
            .filter(|_| self.is_known())
            .unwrap_or(OTHER)
    }

    pub fn paged_by(&self) -> PagedBy {
        let shape = self.shape.as_ref();
        match shape.and_then(|shape| shape.next_cursor.as_ref()) {
            Some(_) => PagedBy::Cursor,
            None => self.endpoint().paged_by,
        }
    }

    /// The name of its rows in an answer.
    pub(crate) fn items(&self) -> &str {
        let shape = self.shape.as_ref();
        shape.map_or(self.endpoint().items, |shape| &shape.items)
    }

    /// The name of the flag for more rows.
    pub(crate) fn has_more(&self) -> Option<&str> {
        let shape = self.shape.as_ref();
        shape.map_or(self.endpoint().has_more, |shape| Some(&shape.has_more))
    }

    pub(crate) fn next_cursor(&self) -> Option<&str> {
        match &self.shape {
            Some(shape) => shape.next_cursor.as_deref(),
            None => (self.paged_by() == PagedBy::Cursor).then_some("nextCursor"),
        }
    }

    pub fn project(&self) -> Result<Option<Segment>> {
        let parse = |id: &String| Segment::parse(Setting::ProjectId, id);
        self.project_id.as_ref().map(parse).transpose()
    }

    /// A query parameter's value.
    pub fn filter(&self, name: &str) -> Option<&str> {
        self.query
            .iter()
            .find(|(other, _)| other == name)
            .map(|(_, value)| value.as_str())
    }

    /// Its path and its filters without the dates: the store's name for it.
    pub(crate) fn name(&self) -> String {
        let filters = self
            .query
            .iter()
            .filter(|(name, _)| !DATES.contains(&name.as_str()));
        match encoded(filters) {
            none if none.is_empty() => self.path.clone(),
            filters => format!("{}?{filters}", self.path),
        }
    }

    pub(crate) fn decode(&self, body: &[u8]) -> Result<Page, String> {
        if let Some(page) = quick::read(self, body) {
            return Ok(page);
        }
        let parsed = json::parse_as(body, PageSeed(self))?;
        let (mut page, repaired) = (parsed.value, parsed.repaired);
        if repaired {
            let sent = json::parse_as(json::literal(body).as_bytes(), PageSeed(self))?;
            page.rows.know_keys(&sent.value.rows);
        }
        Ok(Page { repaired, ..page })
    }
}

/// The query parameters of a range, one for each end that it has.
pub(crate) fn dates(from: Option<String>, to: Option<String>) -> Vec<(String, String)> {
    DATES
        .into_iter()
        .zip([from, to])
        .filter_map(|(name, date)| Some((name.to_owned(), date?)))
        .collect()
}

/// Refuses query parameters that the pager sets.
fn check_query(query: &[(String, String)]) -> Result<()> {
    let mut names = query.iter().map(|(name, _)| name.as_str());
    match names.find(|name| matches!(*name, "limit" | "offset" | CURSOR)) {
        Some(name) => refuse(format!(
            "the query must not contain {name:?}: it is kept for the paging"
        )),
        None => Ok(()),
    }
}
