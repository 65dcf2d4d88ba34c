"""The end of a process that ``multiprocessing`` started: one that was forked runs no callback of ``atexit`` before Python 3.13."""

from __future__ import annotations

import sys
from collections.abc import Callable


def at_end(close: Callable[[], None]) -> None:
    """Calls ``close`` at the end of this process and of its children, if they belong to ``multiprocessing``."""
    util = sys.modules.get("multiprocessing.util")
    if util is None:
        return

    def finalize(_: object = None) -> None:
        util.Finalize(None, close, exitpriority=-1)

    finalize()
    # A child begins without the finalizers of its parent, and of the import of its main module.
    util.register_after_fork(at_end, finalize)
