//! The client's methods for listings and for single objects.

use crate::client::Call;
use crate::config::url::Template;
use crate::export::checkpoint::Checkpoint;
use crate::listing::endpoint::{self, CALLER_STATS, THREAD, for_each_endpoint};
use crate::listing::{self, Listing, Shape};
use crate::python::client::paging::{PagingArguments, listing_reader};
use crate::python::client::{BaseClient, request};
use crate::python::dates;
use crate::python::listing::rows;
use crate::python::prelude::*;

/// A method for each endpoint, which lists it.
macro_rules! listing_methods {
    ($($method:ident: $endpoint:ident;)*) => {
        #[pymethods]
        impl BaseClient {
            $(
                #[doc = signed!($method)]
                #[pyo3(signature = (period = None, **options), text_signature = None)]
                fn $method(
                    &self,
                    py: Python<'_>,
                    period: Option<&Object<'_>>,
                    options: Option<&Bound<'_, PyDict>>,
                ) -> Returned {
                    let reader = listing_reader(endpoint::$endpoint, &self.handle, period, options)?;
                    rows(py, self.face, reader)
                }
            )*
        }
    };
}
for_each_endpoint!(listing_methods);

#[pymethods]
impl BaseClient {
    #[doc = signed!(fix_first)]
    #[pyo3(signature = (period = None, *, n = 20, unanswered = None, **options), text_signature = None)]
    fn fix_first<'py>(
        slf: &Bound<'py, Self>,
        period: Option<&Object<'py>>,
        #[pyo3(from_py_with = convert::n)] n: usize,
        unanswered: Option<&Object<'py>>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Object<'py>> {
        let unanswered = unanswered
            .map(|some| convert::texts(some, "unanswered", "a list of texts, or one text"))
            .transpose()?;
        convert::hook(slf.py(), "fix", "fix_first")?
            .call_out_with((slf, period, n, unanswered), options)
    }

    #[doc = signed!(conversation)]
    #[pyo3(signature = (thread_id, *, on_budget = WaitOrStop::Wait, project_id = None),
        text_signature = None)]
    fn conversation(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = convert::thread_id)] thread_id: &str,
        on_budget: WaitOrStop,
        project_id: Option<ProjectId>,
    ) -> Returned {
        let id = Segment::parse(Setting::ThreadId, thread_id)?;
        self.object(
            "Client.conversation",
            py,
            THREAD,
            Some(id),
            (None, None),
            on_budget,
            project_id,
        )
    }

    #[doc = signed!(caller_stats)]
    #[pyo3(signature = (period = None, *, date_from = None, date_to = None, on_budget = WaitOrStop::Wait,
        project_id = None),
        text_signature = None)]
    fn caller_stats(
        &self,
        py: Python<'_>,
        period: Option<&Object<'_>>,
        date_from: Option<&Object<'_>>,
        date_to: Option<&Object<'_>>,
        on_budget: WaitOrStop,
        project_id: Option<ProjectId>,
    ) -> Returned {
        let dates = dates::range(period, date_from, date_to)?;
        self.object(
            "Client.caller_stats",
            py,
            CALLER_STATS,
            None,
            dates,
            on_budget,
            project_id,
        )
    }

    #[doc = signed!(paginate)]
    #[pyo3(signature = (path, *, items, has_more = "hasMore".to_owned(), next_cursor = None, params = None,
        page_size = None, offset = None, max_rows = None, prefetch = 1, resume = None, on_budget = WaitOrStop::Wait,
        project_id = None),
        text_signature = None)]
    fn paginate(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = convert::path)] path: &str,
        #[pyo3(from_py_with = convert::items)] items: String,
        #[pyo3(from_py_with = convert::has_more)] has_more: String,
        #[pyo3(from_py_with = convert::next_cursor)] next_cursor: Option<String>,
        params: Option<&Object<'_>>,
        #[pyo3(from_py_with = convert::page_size)] page_size: Option<u32>,
        #[pyo3(from_py_with = convert::offset)] offset: Option<u64>,
        #[pyo3(from_py_with = convert::max_rows)] max_rows: Option<u64>,
        #[pyo3(from_py_with = convert::prefetch)] prefetch: u32,
        #[pyo3(from_py_with = convert::resume)] resume: Option<String>,
        on_budget: WaitOrStop,
        project_id: Option<ProjectId>,
    ) -> Returned {
        let arguments = PagingArguments {
            page_size,
            offset,
            max_rows,
            prefetch,
            resume,
            on_budget,
            ..PagingArguments::default()
        };
        let client = self.handle.client()?;
        let template = request::plain_path(path)?;
        let query = convert::params(params)?;
        let shape = Shape {
            items,
            has_more,
            next_cursor,
        };
        let listing = |place: Option<&Checkpoint>| {
            let known = place.and_then(|place| place.listing.project_id.as_deref());
            let project = request::project(&client, path, project_id.as_deref(), known)?;
            Listing::other(&template, project.as_ref(), query, shape)
        };
        rows(py, self.face, arguments.reader(&self.handle, listing)?)
    }
}

impl BaseClient {
    /// One object of the service, as a dict.
    fn object(
        &self,
        name: &'static str,
        py: Python<'_>,
        path: &str,
        id: Option<Segment>,
        (from, to): (Option<String>, Option<String>),
        on_budget: WaitOrStop,
        project_id: Option<ProjectId>,
    ) -> Returned {
        let client = self.handle.client()?;
        let call = Call::read(
            Template::own(path.to_owned()),
            Some(client.project(project_id.as_deref())?),
        );
        let query = listing::dates(from, to);
        let call = Call { id, query, ..call };
        let op = self.op(
            name,
            move |client, inbox| async move {
                client
                    .on_budget(on_budget)
                    .call(call, &*inbox, request::decode_object)
                    .await
            },
            convert::answer,
        );
        self.face.run(py, op)
    }
}
