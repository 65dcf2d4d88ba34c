//! Python's hooks of a fork. Before it, `store/open_files.rs` waits until no connection to a store
//! is open, for 5 seconds at most. The child's first call makes a runtime of its own.

use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::wrap_pyfunction;

use crate::python::prelude::*;
use crate::store;

/// Registers them, once for a process and its children.
pub fn register_hooks(py: Python<'_>) -> PyResult<()> {
    static HOOKED: AtomicBool = AtomicBool::new(false);
    if HOOKED.swap(true, Ordering::AcqRel) {
        return Ok(());
    }
    let Some(register) = import(py, "os")?.getattr_opt("register_at_fork")? else {
        return Ok(());
    };
    let hooks = PyDict::new(py);
    for (when, hook) in [
        ("before", wrap_pyfunction!(before, py)?),
        ("after_in_parent", wrap_pyfunction!(after_in_parent, py)?),
        ("after_in_child", wrap_pyfunction!(after_in_child, py)?),
    ] {
        hooks.set_item(when, hook)?;
    }
    register.call_out_with((), Some(&hooks))?;
    Ok(())
}

#[pyfunction]
fn before(py: Python<'_>) {
    py.detach(store::before_fork);
}

#[pyfunction]
fn after_in_parent() {
    store::after_fork(false);
}

#[pyfunction]
fn after_in_child() {
    store::after_fork(true);
}
