"""Work in a forked child."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from typing import Any


def in_child(work: Callable[[], Any]) -> Any:
    """What ``work`` comes to in a forked child."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            result = pickle.dumps((True, work()))
        except BaseException as error:  # noqa: BLE001  # told by the parent
            result = pickle.dumps((False, repr(error)))
        os.write(writer, result)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        worked, value = pickle.loads(pipe.read())
    assert os.waitpid(child, 0)[1] == 0
    assert worked, value
    return value
