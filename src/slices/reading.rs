//! A range as a store has it, whole or slice by slice: without a client, a key or a request.

use crate::clock::Millis;
use crate::config::url::MAX_SEGMENT;
use crate::dates::periods::Period;
use crate::dates::slices::{Every, Slice};
use crate::error::{Error, Result};
use crate::listing::endpoint::COUNTS;
use crate::listing::page::Totals;
use crate::slices::Subject;
use crate::slices::dataset::{Whose, read, some};
use crate::slices::trend::{Trend, may_still_change, of_site};
use crate::store::{FinishedExport, FinishedExports, What};
use crate::table::TableBuilder;
use crate::table::layout::Layout;
use crate::text::message::{Advice, Setting, message};
use crate::text::safe;

#[derive(Debug, Clone)]
pub struct StoreQuery {
    pub of: Subject,
    /// Of which project; `None`: of the only one that there is.
    pub project: Option<String>,
    pub whose: Whose,
    pub slices: Vec<Slice>,
    pub every: Option<Every>,
    /// How many days after its end a slice is treated as final.
    pub settle_days: u32,
    pub now: Millis,
    /// The store, as it was named.
    pub store: String,
}

#[derive(Debug)]
pub struct StoreAnswer {
    pub project: String,
    /// The totals of the last slice, if its pages had some.
    pub totals: Option<Totals>,
    pub trend: Trend,
}

impl StoreQuery {
    /// Reads them; an error that says what is missing, and what to run, if the store has not all of it.
    pub async fn read(&self, stored: &FinishedExports) -> Result<StoreAnswer> {
        let Subject { endpoint, what } = self.of;
        let mut found = self
            .whose
            .latest(stored, what, |name| std::env::var_os(name))
            .await?;
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
        let is_whole = self.every.is_none() && what == What::Pages;
        let fields = if what == What::Pages {
            endpoint.fields
        } else {
            COUNTS
        };
        let mut builder = TableBuilder::new(Layout {
            days: !is_whole,
            fields,
        });
        let mut warnings = Vec::new();
        for slice in &slices {
            match (what, slice.totals) {
                (What::Pages, _) => {
                    let found = read(endpoint, stored, slice, &mut builder).await?;
                    let named = |found| {
                        if is_whole {
                            found
                        } else {
                            format!("{}: {found}", slice.days.from)
                        }
                    };
                    warnings.extend(found.into_iter().map(named));
                }
                (What::Totals, totals) => builder.extend(&of_site(totals.unwrap_or_default())),
            }
            if !is_whole {
                builder.end_slice(slice.days);
            }
        }
        let is_open = |slice: &&&FinishedExport| !slice.is_final(self.settle_days, self.now);
        let open_from = slices.iter().find(is_open).map(|slice| slice.days.from);
        warnings.extend(open_from.map(may_still_change));
        let is_running = |slice: &&&FinishedExport| !slice.is_final(0, self.now);
        let running = slices
            .iter()
            .filter(is_running)
            .map(|slice| slice.days.to)
            .collect();
        let totals = slices.last().and_then(|slice| slice.totals);
        let trend = Trend {
            table: builder.finish(),
            warnings,
            requests: 0,
            open_from,
            running,
        };
        Ok(StoreAnswer {
            project,
            totals,
            trend,
        })
    }

    /// The project that is meant.
    fn project(&self, found: &[FinishedExport]) -> Result<String> {
        let ids = || found.iter().map(|one| one.project_id.as_str());
        match &self.project {
            Some(wanted) => Ok(wanted.clone()),
            None => match ids().next() {
                Some(only) if ids().all(|id| id == only) => Ok(only.to_owned()),
                Some(_) => Err(Error::argument(message![
                    "the store has several projects: name one with ",
                    Setting::ProjectId,
                    format!("; it has {}", some(ids())),
                ])),
                None => {
                    let Whose {
                        base_url,
                        organization,
                    } = &self.whose;
                    let named = base_url.is_some() || organization.is_some();
                    let mut text =
                        message![format!("{} has no {}", self.store, self.of.endpoint.name)];
                    if named {
                        text.push(message![
                            " of this ",
                            Setting::BaseUrl,
                            " and ",
                            Setting::Organization
                        ]);
                    }
                    text.push(message![" yet", Advice::FillStore {}]);
                    Err(Error::argument(text))
                }
            },
        }
    }

    /// The error that says what the store has not, and how to fetch it.
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
        let (by_path, name) = (self.of.what == What::Pages, self.of.endpoint.name);
        let lacks = match self.every {
            Some(_) => format!(
                "{} of {count} slices {} missing, first {}",
                missing.len(),
                if missing.len() == 1 { "is" } else { "are" },
                Period::of(**lacking).name()
            ),
            None => "the range as a whole is missing".to_owned(),
        };
        let has = match found.last() {
            Some(other) => format!(
                "other ranges of this project that it has: {}, the last {}",
                found.len(),
                Period::of(other.days).name()
            ),
            None => "it has none of this project".to_owned(),
        };
        let what = format!(
            "{} does not have the {name} of project \"{}\", {}: {lacks} ({has})",
            self.store,
            safe(project, MAX_SEGMENT),
            Period::of(Slice { from, to }).name(),
        );
        let advice = Advice::FetchRange {
            listing: name.to_owned(),
            project: project.to_owned(),
            date_from: from.to_string(),
            date_to: to.to_string(),
            every: self.every.map(|every| every.as_str().to_owned()),
            by_path,
        };
        Error::argument(message![what, advice])
    }
}
