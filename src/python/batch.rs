//! The caller's side of `run_jobs`: the results as they come, and the report of all.

use crate::job::batch::{Batch, Ended};
use crate::python::job;
use crate::python::prelude::*;

/// The results of a batch of jobs, by name.
pub struct BatchResults {
    pub batch: Arc<Batch>,
    pub names: Py<PyList>,
    pub results: Py<PyDict>,
    pub on_done: Option<Py<PyAny>>,
    /// Further statuses of a job that has ended.
    pub also_final: Vec<String>,
}

impl BatchResults {
    /// Keeps the result of the job at this place; returns its name and the result.
    pub fn ended<'py>(
        &self,
        py: Python<'py>,
        at: usize,
    ) -> PyResult<Option<(Object<'py>, Object<'py>)>> {
        let ended = self.batch.take(at);
        ended.map(|ended| self.keep(py, at, ended)).transpose()
    }

    /// How many jobs have ended.
    pub fn done(&self, py: Python<'_>) -> usize {
        self.results.bind(py).len()
    }

    fn keep<'py>(
        &self,
        py: Python<'py>,
        at: usize,
        Ended { result, last }: Ended,
    ) -> PyResult<(Object<'py>, Object<'py>)> {
        let result = match result {
            Ok(found) => job::wrap(py, found)?.into_bound(py),
            Err(error) => {
                let error = errors::to_py(py, error).into_value(py).into_bound(py);
                if let Some(last) = last {
                    error.setattr("job", job::wrap(py, last)?)?;
                }
                error.into_any()
            }
        };
        let name = self.names.bind(py).get_item(at)?;
        self.results.bind(py).set_item(&name, &result)?;
        Ok((name, result))
    }

    /// The report of the jobs that have ended. After an interruption also of those that were begun.
    pub fn report(&self, py: Python<'_>) -> Returned {
        for (at, ended) in self.batch.rest() {
            self.keep(py, at, ended)?;
        }
        let report = import(py, "docplatform.types")?.getattr("JobsReport")?;
        let requests = self.batch.requests();
        let facts = (&self.names, &self.results, requests, &self.also_final);
        Ok(report.call_method_out("_of", facts)?.unbind())
    }
}
