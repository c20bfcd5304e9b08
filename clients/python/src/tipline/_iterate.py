"""Pages and changes."""

from __future__ import annotations

from typing import Any, Callable, Iterator, Optional

from ._transport import REPEATED, Transport, back_off
from .errors import TiplineError

#: Seconds between responses without news: a server that stops does not wait.
_IDLE = 1
#: Powers of 2 of the seconds between the attempts to reach a server that has answered before.
_FIRST_BACK_OFF, _LAST_BACK_OFF = 3, 6


def items(fetch_page: Callable[[int], Any]) -> Iterator[Any]:
    """Yields the items of all pages.

    >>> pages = {1: [1, 2], 2: [3]}
    >>> list(items(lambda page: {"data": pages[page], "pageSize": 2, "total": 3}))
    [1, 2, 3]
    """
    page = 1
    while True:
        found = fetch_page(page)
        yield from found["data"]
        if not found["data"] or page * found["pageSize"] >= found["total"]:
            return
        page += 1


def follow(
    transport: Transport, cursor: Optional[str], wait: int, fetch_changes: Callable[[Optional[str]], Any]
) -> Iterator[Any]:
    """Yields the responses of a change feed that have changes or a new cursor, and the first one.

    Unless it ends anyway, it goes on when a server that has answered cannot be reached.
    """
    is_first = True
    failures = 0
    while True:
        try:
            found = fetch_changes(cursor)
        except TiplineError as error:
            if is_first or wait == 0 or error.status not in REPEATED:
                raise
            seconds = back_off(min(_FIRST_BACK_OFF + failures, _LAST_BACK_OFF))
            failures += 1
            transport.sleep(max(seconds, error.retry_after or 0))
            continue
        failures = 0
        is_new = is_first or found["changes"] or found["cursor"] != cursor
        if is_new:
            yield found
        is_first = False
        cursor = found["cursor"]
        if found["hasMore"]:
            continue
        if wait == 0:
            return
        if not is_new:
            transport.sleep(_IDLE)
