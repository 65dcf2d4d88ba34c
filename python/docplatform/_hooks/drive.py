"""What an ``AsyncClient``'s methods return: a coroutine of Python's own over an operation of the extension."""

from __future__ import annotations

import functools
from types import FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Coroutine, Generator

    from docplatform._native import _Operation


async def drive(operation: _Operation) -> Any:
    """Runs ``operation`` to its end. Nothing happens before the first step; left in the middle, its request is dropped."""
    given = None
    while (waits_for := operation.step(given)) is not None:
        try:
            given = await waits_for
        except BaseException as error:
            operation.interrupt(error)
            raise
    return operation.result()


def _named(method: str) -> Callable[[_Operation], Coroutine[Any, Any, Any]]:
    """:func:`drive` under the name that ``method`` of a blocking class has in the asynchronous one, for its coroutines to have."""
    function = FunctionType(drive.__code__, globals())
    function.__name__, function.__qualname__ = method.rpartition(".")[2], f"Async{method}"
    return function


named = functools.cache(_named)


class _Turn:
    """Lets the loop have a turn."""

    def __await__(self) -> Generator[None]:
        yield


TURN = _Turn()


def aside(call: Callable[[], Any]) -> Coroutine[Any, Any, Any]:
    """The value of ``call``, which another thread works out."""
    import asyncio

    return asyncio.to_thread(call)


def future() -> asyncio.Future[None]:
    """A future for the extension to wake the running loop with.

    The extension refers to it weakly, so that a task which nobody can resume any more is collected, and its request
    ends. While its loop is there, the loop keeps it: a task that nobody else refers to must not vanish before.
    """
    # Here: it takes 60 ms, which a program that never awaits anything is spared.
    import asyncio

    loop = asyncio.get_running_loop()
    waiting: set[asyncio.Future[None]] = vars(loop).setdefault("_docplatform_waiting", set())
    made = loop.create_future()
    waiting.add(made)
    made.add_done_callback(waiting.discard)
    return made
