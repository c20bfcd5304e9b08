"""Pages and changes."""

from __future__ import annotations

from typing import Any, Callable, Iterator, Optional

from ._transport import Transport

#: Seconds between responses without news: a server that stops does not wait.
_IDLE = 1


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
    """Yields the responses of a change feed that have changes or a new cursor, and the first one."""
    is_first = True
    while True:
        found = fetch_changes(cursor)
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
