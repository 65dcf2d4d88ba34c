"""The coroutines of an ``AsyncClient``: each drives an operation of the extension."""

from __future__ import annotations

import functools
from types import FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Coroutine, Generator

    from docplatform._native import _Operation


async def drive(operation: _Operation) -> Any:
    """Runs ``operation`` to its end. Nothing happens before the first step; if it is closed early, its request is dropped."""
    given = None
    while (waits_for := operation.step(given)) is not None:
        try:
            given = await waits_for
        except BaseException as error:
            operation.interrupt(error)
            raise
    return operation.result()


def _named(method: str) -> Callable[[_Operation], Coroutine[Any, Any, Any]]:
    """:func:`drive` under the name that ``method`` has in the asynchronous class, so that its coroutines have that name."""
    function = FunctionType(drive.__code__, globals())
    function.__name__, function.__qualname__ = method.rpartition(".")[2], f"Async{method}"
    return function


named = functools.cache(_named)


class _Turn:
    """Lets the loop have a turn."""

    def __await__(self) -> Generator[None]:
        yield


TURN = _Turn()


def offload(call: Callable[[], Any]) -> Coroutine[Any, Any, Any]:
    """The value of ``call``, which runs in another thread."""
    import asyncio

    return asyncio.to_thread(call)


def future() -> asyncio.Future[None]:
    """A future for the extension to wake the running loop with.

    The extension refers to it weakly, so that a task that can never be resumed is collected, and its request ends. The loop
    keeps it as long as the loop exists, so that a task without other references does not vanish.
    """
    # Imported here, because it takes 60 ms, and programs without asyncio do not need it.
    import asyncio

    loop = asyncio.get_running_loop()
    waiting: set[asyncio.Future[None]] = vars(loop).setdefault("_docplatform_waiting", set())
    made = loop.create_future()
    waiting.add(made)
    made.add_done_callback(waiting.discard)
    return made
