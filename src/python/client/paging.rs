//! The arguments that are the same for all paged listings, and the cursor that they make.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::client::OnBudget;
use crate::error::Result;
use crate::export::checkpoint::{Checkpoint, check_page_size};
use crate::export::pager::{Paging, WINDOW};
use crate::listing::Listing;
use crate::python::client::handle::Handle;
use crate::python::listing::cursor::Cursor;

/// The most pages that are asked for ahead.
const MAX_PREFETCH: u32 = 16;

/// Arguments of a paged listing that are the same for all.
pub(crate) struct PagingArguments<'a> {
    pub(crate) page_size: Option<u32>,
    pub(crate) offset: Option<u64>,
    pub(crate) max_rows: Option<u64>,
    pub(crate) prefetch: u32,
    pub(crate) strict: bool,
    pub(crate) resume: Option<&'a str>,
    pub(crate) on_budget: OnBudget,
    pub(crate) refresh: bool,
}

impl PagingArguments<'_> {
    /// The cursor over what `listing` makes of the arguments and a checkpoint, which must agree.
    pub(crate) fn cursor(
        &self,
        handle: &Arc<Handle>,
        listing: impl FnOnce(Option<&Checkpoint>) -> Result<Listing>,
    ) -> PyResult<Arc<Cursor>> {
        let page_size = self.page_size.unwrap_or(Paging::PAGE_SIZE);
        check_page_size(page_size)?;
        if self.prefetch > MAX_PREFETCH {
            return Err(PyValueError::new_err(format!("prefetch must be 0 to {MAX_PREFETCH}")));
        }
        if self.refresh && self.resume.is_some() {
            return Err(PyValueError::new_err(
                "resume continues with the rows already fetched, and refresh fetches them again: give one of them",
            ));
        }
        let base_url = handle.settings().base_url.as_str();
        let place = self.resume.map(|text| Checkpoint::parse(text, base_url)).transpose()?;
        let listing = listing(place.as_ref())?;
        let place = match place {
            None => Checkpoint::new(base_url, listing, page_size, self.offset.unwrap_or_default()),
            Some(place) => {
                let other_pages = self.page_size.is_some_and(|page_size| page_size != place.page_size);
                let other_begin = self.offset.is_some_and(|offset| offset != place.begin);
                if place.listing != listing || other_pages || other_begin {
                    return Err(PyValueError::new_err(
                        "resume: the checkpoint is of another query; leave out what it knows \
                         (dates, project_id, page_size, offset), or give what the export began with",
                    ));
                }
                place
            }
        };
        let paging = Paging {
            max_rows: self.max_rows,
            prefetch: self.prefetch,
            strict: self.strict,
            window: Some(WINDOW),
        };
        Cursor::new(Arc::clone(handle), self.on_budget, self.refresh, place, paging)
    }
}
