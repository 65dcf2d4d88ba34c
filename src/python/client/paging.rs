//! The arguments of listings, and the reader that they make.

use crate::dates::slices;
use crate::error::Result;
use crate::export::checkpoint::{Checkpoint, check_page_size};
use crate::export::pager::{Paging, WINDOW};
use crate::listing::Listing;
use crate::listing::endpoint::{Endpoint, PagedBy};
use crate::python::client::handle::Handle;
use crate::python::dates;
use crate::python::listing::reader::RowReader;
use crate::python::prelude::*;

/// The most pages that are asked for ahead.
const MAX_PREFETCH: u32 = 16;

/// Arguments of a paged listing that are the same for all.
#[derive(Default)]
pub struct PagingArguments {
    pub page_size: Option<u32>,
    pub offset: Option<u64>,
    pub max_rows: Option<u64>,
    pub prefetch: u32,
    pub strict: bool,
    pub resume: Option<String>,
    pub on_budget: WaitOrStop,
    pub refresh: bool,
}

impl PagingArguments {
    /// The reader over what `listing` makes of the arguments and a checkpoint, which must agree.
    pub fn reader(
        &self,
        handle: &Arc<Handle>,
        listing: impl FnOnce(Option<&Checkpoint>) -> Result<Listing>,
    ) -> PyResult<Arc<RowReader>> {
        if self.refresh && self.resume.is_some() {
            return Err(PyValueError::new_err(
                "resume continues with the rows already fetched, and refresh fetches them again: give one of them",
            ));
        }
        let base_url = handle.settings.base_url.as_str();
        let place = self
            .resume
            .as_ref()
            .map(|text| Checkpoint::parse(text, base_url))
            .transpose()?;
        let listing = listing(place.as_ref())?;
        if listing.paged_by() == PagedBy::Cursor
            && (self.prefetch > 1 || self.offset.is_some_and(|offset| offset > 0))
        {
            return Err(PyValueError::new_err(
                "each page names the next one here: prefetch must be 0 or 1, and there is no offset",
            ));
        }
        if self.prefetch > MAX_PREFETCH {
            return Err(PyValueError::new_err(format!(
                "prefetch must be 0 to {MAX_PREFETCH}"
            )));
        }
        let default = if listing.is_known() {
            listing.endpoint().max_page_size
        } else {
            Paging::PAGE_SIZE
        };
        let page_size = self.page_size.unwrap_or(default);
        check_page_size(page_size, &listing)?;
        let mut place = match place {
            None => Checkpoint::new(
                base_url,
                listing,
                page_size,
                self.offset.unwrap_or_default(),
            ),
            Some(place) => {
                let other_pages = self
                    .page_size
                    .is_some_and(|page_size| page_size != place.page_size);
                let other_begin = self.offset.is_some_and(|offset| offset != place.begin);
                if place.listing.path != listing.path {
                    let name = match place.listing.is_known() {
                        true => place.listing.endpoint().name,
                        false => &place.listing.path,
                    };
                    return Err(PyValueError::new_err(format!(
                        "resume: the checkpoint is of {}, so pass it to the method that made it",
                        safe(name, 120)
                    )));
                }
                if place.listing != listing || other_pages || other_begin {
                    let how = match place.listing.is_known() {
                        true => {
                            "leave out what it contains (dates, every, filters, project_id, page_size, offset), or give the same values"
                        }
                        false => {
                            "give the same path, params, items, has_more and next_cursor; leave out project_id and page_size, or give the same"
                        }
                    };
                    return Err(PyValueError::new_err(format!(
                        "resume: the checkpoint belongs to another query: {how}"
                    )));
                }
                place
            }
        };
        let slices = slices::begun(
            place.listing.slices()?,
            place.listing.every,
            handle.client()?.today(),
        )?;
        // The checkpoint may come from a machine on which a later day has begun. The slice that it
        // names is read in any case.
        place.begun = Some(slices.len().max(place.slice + 1));
        let paging = Paging {
            max_rows: self.max_rows,
            prefetch: self.prefetch,
            strict: self.strict,
            window: Some(WINDOW),
        };
        // `refresh` of the client does not apply to a resumed export: the first call has fetched it
        // again already.
        let refresh = self.refresh || (handle.settings.refresh && self.resume.is_none());
        RowReader::new(Arc::clone(handle), self.on_budget, refresh, place, paging)
    }
}

/// The reader for the arguments of an endpoint's method. The checkpoint has the values of those
/// that are left out.
pub fn listing_reader(
    endpoint: &'static Endpoint,
    handle: &Arc<Handle>,
    period: Option<&Object<'_>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Arc<RowReader>> {
    let mut paging = PagingArguments {
        prefetch: 1,
        ..Default::default()
    };
    let (mut from, mut to, mut every, mut project_id) = (None, None, None, None::<String>);
    let mut filters: Vec<(&str, String)> = Vec::new();
    for (name, value) in options.into_iter().flatten() {
        let name: String = name.extract()?;
        match name.as_str() {
            "date_from" => from = Some(value),
            "date_to" => to = Some(value),
            "every" if !endpoint.totals => every = value.extract()?,
            "offset" if endpoint.paged_by == PagedBy::Offset => {
                paging.offset = convert::offset(&value)?;
            }
            "prefetch" if endpoint.paged_by != PagedBy::Nothing => {
                paging.prefetch = convert::prefetch(&value)?;
            }
            "max_rows" => paging.max_rows = convert::max_rows(&value)?,
            "strict" => paging.strict = convert::flag("strict", &value)?,
            "refresh" => paging.refresh = convert::flag("refresh", &value)?,
            "on_budget" => paging.on_budget = value.extract()?,
            _ if value.is_none() && is_known(endpoint, &name) => {}
            "page_size" => paging.page_size = convert::page_size(&value)?,
            "resume" => paging.resume = Some(convert::text("resume", &value)?),
            "project_id" => project_id = Some(convert::text("project_id", &value)?),
            other => {
                let filter = endpoint
                    .filters
                    .iter()
                    .find(|filter| **filter == other)
                    .ok_or_else(|| convert::unexpected(endpoint.name, other))?;
                filters.push((filter, convert::words(other, &value)?));
            }
        }
    }
    let dates = dates::range(period, from.as_ref(), to.as_ref())?;
    let client = handle.client()?;
    paging.reader(handle, |place| {
        let known = place.map(|place| &place.listing);
        let project = match (
            &project_id,
            known.map(Listing::project).transpose()?.flatten(),
        ) {
            (None, Some(project)) => project,
            _ => client.project(project_id.as_deref())?,
        };
        let filter = |name| known.and_then(|known| known.filter(name).map(str::to_owned));
        let (from, to) = (
            dates.0.or_else(|| filter("dateFrom")),
            dates.1.or_else(|| filter("dateTo")),
        );
        let mut listing = Listing::of(endpoint, &project, from, to);
        for name in endpoint.filters {
            let given = filters
                .iter()
                .find(|(given, _)| given == name)
                .map(|(_, value)| value.clone());
            listing = listing.with_filter(name, given.or_else(|| filter(name)));
        }
        listing.in_slices(every.or_else(|| known.and_then(|known| known.every)))
    })
}

/// Whether an endpoint's method has an argument of this name, which may be left out.
fn is_known(endpoint: &Endpoint, name: &str) -> bool {
    matches!(name, "page_size" | "resume" | "project_id") || endpoint.filters.contains(&name)
}
