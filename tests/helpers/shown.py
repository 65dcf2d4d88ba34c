"""What an exception shows, to look for secrets in it."""

from __future__ import annotations

import traceback


def shown(error: BaseException | None) -> str:
    """Text, arguments, attributes, notes and traceback of ``error`` and of all that it rests on."""
    if error is None:
        return ""
    own = [str(error), repr(error), repr(error.args), repr(vars(error))]
    rests_on = [shown(error.__cause__), shown(error.__context__)]
    return "\n".join([*own, *traceback.format_exception(error), *rests_on])
