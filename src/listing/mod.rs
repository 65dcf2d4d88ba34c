//! What can be listed page by page: a project's visitors, or whatever a sibling endpoint lists.

pub mod quick;
pub mod rows;
pub mod visitor_rows;

use crate::config::url::{Segment, Template};
use crate::dates::slices::Slice;
use crate::error::{Error, Result};
use crate::listing::rows::{Page, Rows};
use crate::listing::visitor_rows::VisitorsObject;
use crate::text::json;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Where visitors are read.
pub(crate) const VISITORS: &str = "/v1/analytics/{project_id}/visitors";

/// What is listed, with its filters: the part of an export that a checkpoint must agree with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listing {
    path: String,
    project_id: Option<String>,
    /// Query parameters but `limit` and `offset`.
    query: Vec<(String, String)>,
    /// The names of the rows and of the flag that says there are more; `None` for visitors.
    shape: Option<Shape>,
}

/// The names that a sibling endpoint uses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    items: String,
    has_more: String,
}

impl Listing {
    /// A project's visitors, from a date up to but not including another, as they go on the wire.
    pub fn visitors(project: &Segment, from: Option<String>, to: Option<String>) -> Self {
        let filters = [("dateFrom", from), ("dateTo", to)];
        let query = filters.into_iter().filter_map(|(name, date)| Some((name.to_owned(), date?)));
        Self {
            path: VISITORS.to_owned(),
            project_id: Some(project.as_str().to_owned()),
            query: query.collect(),
            shape: None,
        }
    }

    /// A project's visitors on some days.
    pub fn days(project: &Segment, days: Slice) -> Self {
        Self::visitors(project, Some(days.from.to_string()), Some(days.to.to_string()))
    }

    /// Whatever `path` lists.
    pub fn of(
        path: &Template,
        project: Option<&Segment>,
        query: Vec<(String, String)>,
        items: &str,
        has_more: &str,
    ) -> Result<Self> {
        check_query(&query)?;
        if items == has_more {
            return Err(Error::argument("items and has_more must name two fields"));
        }
        Ok(Self {
            path: path.as_str().to_owned(),
            project_id: project.map(|project| project.as_str().to_owned()),
            query,
            shape: Some(Shape { items: items.to_owned(), has_more: has_more.to_owned() }),
        })
    }

    /// Checks one that came from outside.
    pub(crate) fn check(&self) -> Result<()> {
        Template::parse("resume: path", &self.path)?;
        if self.shape.is_none() && self.path != VISITORS {
            return Err(Error::argument("resume: the path is not that of visitors"));
        }
        check_query(&self.query)?;
        self.project().map(drop)
    }

    /// Whether it lists visitors.
    pub fn is_visitors(&self) -> bool {
        self.shape.is_none()
    }

    /// The project, where there is one.
    pub fn project(&self) -> Result<Option<Segment>> {
        let id = self.project_id.as_deref();
        id.map(|id| Segment::parse("project_id", id)).transpose()
    }

    /// The project's id, where there is one.
    pub fn project_id(&self) -> Option<&str> {
        self.project_id.as_deref()
    }

    /// A query parameter's value.
    pub fn filter(&self, name: &str) -> Option<&str> {
        let found = self.query.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The query parameters.
    pub fn query(&self) -> &[(String, String)] {
        &self.query
    }

    /// The path, with its placeholders.
    pub fn path(&self) -> &str {
        &self.path
    }

    pub(crate) fn decode(&self, body: &[u8]) -> Result<Page, String> {
        let Some(shape) = &self.shape else {
            let parsed = match quick::read(body) {
                Some(value) => json::Parsed { value, repaired: false },
                None => json::parse::<VisitorsObject>(body)?,
            };
            let mut visitors = parsed.value.visitors;
            if parsed.repaired {
                let literal = json::parse::<VisitorsObject>(json::literal(body).as_bytes())?;
                visitors.know_by(&literal.value.visitors);
            }
            return Ok(Page {
                rows: Rows::Visitors(visitors),
                totals: Some(parsed.value.totals),
                has_more: parsed.value.has_more,
                repaired: parsed.repaired,
            });
        };
        let mut parsed = json::parse::<Value>(body)?;
        let Value::Object(fields) = &mut parsed.value else {
            return Err(json::wrong_type(&parsed.value, "an object"));
        };
        let mut field = |name: &str| fields.remove(name).ok_or_else(|| format!("missing field {name:?}"));
        let has_more = match field(&shape.has_more)? {
            Value::Bool(flag) => flag,
            other => return Err(format!("{}: {}", shape.has_more, json::wrong_type(&other, "a boolean"))),
        };
        let rows = match field(&shape.items)? {
            Value::Array(rows) => rows,
            other => return Err(format!("{}: {}", shape.items, json::wrong_type(&other, "an array"))),
        };
        Ok(Page { rows: Rows::Json(rows), totals: None, has_more, repaired: parsed.repaired })
    }
}

/// Refuses what the pager itself puts into the query.
fn check_query(query: &[(String, String)]) -> Result<()> {
    match query.iter().find(|(name, _)| name == "limit" || name == "offset") {
        Some((name, _)) => {
            Err(Error::argument(format!("params may not hold {name:?}: use page_size and offset")))
        }
        None => Ok(()),
    }
}
