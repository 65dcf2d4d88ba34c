//! A range as a store has it, whole or slice by slice: without a client, a key or a request.

use crate::clock::Millis;
use crate::config::url::MAX_SEGMENT;
use crate::dates::periods::Period;
use crate::dates::slices::{Every, Slice};
use crate::error::{Error, Result, refuse};
use crate::listing::page::Totals;
use crate::slices::Subject;
use crate::slices::dataset::{OwnerFilter, read, some};
use crate::slices::reader::{SlicedTable, SlicedTableBuilder};
use crate::store::{Content, FinishedExport, FinishedExports};
use crate::text::message::{Advice, Message, Setting, message};
use crate::text::safe;

#[derive(Debug)]
pub struct StoreQuery {
    pub of: Subject,
    /// The project; `None`: the only one in the store.
    pub project: Option<String>,
    pub owner: OwnerFilter,
    pub slices: Vec<Slice>,
    pub every: Option<Every>,
    /// How many days after its end a slice is treated as final.
    pub settle_days: u32,
    pub now: Millis,
    /// The name of the store, as the user gave it.
    pub store: String,
}

/// The advice for a store that has none of these slices.
pub fn fill(of: Subject, every: Option<Every>) -> Advice {
    Advice::FillStore {
        listing: Some(of.endpoint.name.to_owned()),
        every: every.map(|every| every.as_str().to_owned()),
        by_path: of.content == Content::Pages,
    }
}

#[derive(Debug)]
pub struct StoreAnswer {
    pub project: String,
    /// The totals of the last slice, if the store has them.
    pub totals: Option<Totals>,
    pub trend: SlicedTable,
}

impl StoreQuery {
    /// Reads the slices. If some are missing, the error names the first one and the way to fetch
    /// them.
    pub async fn read(&self, stored: &FinishedExports) -> Result<StoreAnswer> {
        let Subject { endpoint, content } = self.of;
        let mut found = self.owner.latest(stored, content).await?;
        let project = self.project(&found)?;
        found.retain(|one| one.project_id == project);
        let slices = self
            .slices
            .iter()
            .filter_map(|wanted| found.iter().find(|one| one.days == *wanted));
        let slices: Vec<_> = slices.collect();
        if slices.len() < self.slices.len() {
            return Err(self.missing(&project, &found));
        }
        let is_whole = self.every.is_none() && content == Content::Pages;
        let mut builder = SlicedTableBuilder::new(self.of, is_whole);
        for slice in &slices {
            match content {
                Content::Pages => {
                    let found = read(endpoint, stored, slice, &mut builder.rows).await?;
                    builder.end_slice(slice.days, None, found);
                }
                Content::Totals => {
                    let totals = slice.totals.unwrap_or_default();
                    builder.end_slice(slice.days, Some(totals), Vec::new());
                }
            }
        }
        let changing = |days| {
            let slices = slices.iter();
            slices.filter(move |slice| !slice.is_final(days, self.now))
        };
        let open_from = changing(self.settle_days).next();
        let open_from = open_from.map(|slice| slice.days.from);
        let running = changing(0).map(|slice| slice.days.to).collect();
        let totals = slices.last().and_then(|slice| slice.totals);
        let trend = builder.finish(0, open_from, running);
        Ok(StoreAnswer {
            project,
            totals,
            trend,
        })
    }

    /// The project to read.
    fn project(&self, found: &[FinishedExport]) -> Result<String> {
        let ids = || found.iter().map(|one| one.project_id.as_str());
        match &self.project {
            Some(wanted) => Ok(wanted.clone()),
            None => match ids().next() {
                Some(only) if ids().all(|id| id == only) => Ok(only.to_owned()),
                Some(_) => refuse(message![
                    "the store has several projects: name one with ",
                    Setting::ProjectId,
                    format!("; it has {}", some(ids())),
                ]),
                None => {
                    let name = self.of.endpoint.name;
                    let lacks = match self.of.content {
                        Content::Pages => format!("{} has no rows of {name}", self.store),
                        Content::Totals => format!("{} has no totals of {name}", self.store),
                    };
                    let advice = fill(self.of, self.every);
                    refuse(message![lacks, self.of_owner(), " yet", advice])
                }
            },
        }
    }

    /// Whose exports are read, if an argument says so.
    fn of_owner(&self) -> Message {
        let owner = &self.owner;
        let given = [
            (owner.base_url.is_some(), Setting::BaseUrl),
            (owner.organization.is_some(), Setting::Organization),
        ];
        let given = given
            .into_iter()
            .filter_map(|(is_given, what)| is_given.then_some(what));
        let mut text = message![""];
        for (word, what) in [" of this ", " and "].into_iter().zip(given) {
            text.push(message![word, what]);
        }
        text
    }

    /// The error about missing slices, with the way to fetch them.
    fn missing(&self, project: &str, found: &[FinishedExport]) -> Error {
        let missing: Vec<_> = self
            .slices
            .iter()
            .filter(|wanted| found.iter().all(|slice| slice.days != **wanted))
            .collect();
        let (Some(first), Some(last), Some(lacking)) =
            (self.slices.first(), self.slices.last(), missing.first())
        else {
            return Error::argument("there is nothing to read");
        };
        let (from, to, count) = (first.from, last.to, self.slices.len());
        let (by_path, name) = (self.of.content == Content::Pages, self.of.endpoint.name);
        let parts = if by_path { "rows" } else { "totals" };
        let lacks = match self.every {
            Some(_) => format!(
                "{} of {count} slices {} missing, first {}",
                missing.len(),
                if missing.len() == 1 { "is" } else { "are" },
                Period::of(**lacking).name()
            ),
            None => "the range as a whole is missing".to_owned(),
        };
        let others: Vec<_> = found
            .iter()
            .filter(|slice| !self.slices.contains(&slice.days))
            .collect();
        let has = match others.last() {
            Some(other) => message![format!(
                " (other ranges of this project that it has: {}, the last {})",
                others.len(),
                Period::of(other.days).name()
            )],
            None if found.is_empty() => {
                let none = format!(" (it has no {parts} of {name} of this project");
                message![none, self.of_owner(), ")"]
            }
            None => Message::default(),
        };
        let what = format!(
            "{} does not have the {name} of project \"{}\"",
            self.store,
            safe(project, MAX_SEGMENT),
        );
        let range = Period::of(Slice { from, to }).name();
        let how = format!(", {range}: {lacks}");
        let advice = Advice::FetchRange {
            listing: name.to_owned(),
            project: project.to_owned(),
            date_from: from.to_string(),
            date_to: to.to_string(),
            every: self.every.map(|every| every.as_str().to_owned()),
            by_path,
        };
        Error::argument(message![what, self.of_owner(), how, has, advice])
    }
}
