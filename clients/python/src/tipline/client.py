"""A client of Tipline."""

from __future__ import annotations

import ssl
import time
from typing import Any, Callable, Iterable, Iterator, List, Optional, Sequence

from ._lookup import (
    BULK_BYTES,
    BULK_VALUES,
    TEXT_CHARACTERS,
    URL_BYTES,
    URL_VALUES,
    batches,
    is_for_url,
    json_bytes,
    parts,
    unread,
    url_bytes,
)
from ._transport import Transport
from .errors import TiplineError
from .operations import VERSION, Operations
from .types import IndicatorType, LookupResult

#: Statuses of proxies that reject the method QUERY.
_NO_QUERY = (405, 501)


class Tipline(Operations):
    """A client of Tipline: a method for each operation of the API, and iterators. Requests change nothing on the server.

    :param url: The address of Tipline, such as ``https://tipline.example.org``.
    :param key: The API key. Only ``get_health`` and ``get_readiness`` work without one.
    :param retries: How often a request is repeated after a network error or one of the statuses 500, 502, 503 and 504.
    :param max_wait: How many seconds a call may wait for the rate limit and between attempts, in total. 0: it never
        waits or repeats.
    :param timeout: After how many seconds without data an attempt fails; ``float("inf")``: never.
    :param ssl_context: For TLS; by default with the certificates of the system.
    :param sleep: Waits for so many seconds.
    """

    def __init__(
        self,
        url: str,
        key: Optional[str] = None,
        *,
        retries: int = 3,
        max_wait: float = 120,
        timeout: float = 60,
        ssl_context: Optional[ssl.SSLContext] = None,
        user_agent: str = f"tipline-python/{VERSION}",
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        super().__init__(
            Transport(
                url,
                key,
                retries=retries,
                max_wait=max_wait,
                timeout=timeout,
                ssl_context=ssl_context,
                user_agent=user_agent,
                sleep=sleep,
            )
        )
        self._has_query = True

    def look_up(
        self,
        values: Iterable[str],
        *,
        types: Optional[Sequence[IndicatorType]] = None,
        min_confidence: Optional[int] = None,
        related: Optional[bool] = None,
        batch_size: int = BULK_VALUES,
    ) -> Iterator[LookupResult]:
        """Looks up any number of values, plain or defanged, and yields a result for each, in their order.

        It sends up to ``batch_size`` values a request, with the method QUERY, or with GET, up to 100, where a proxy
        rejects QUERY.
        """
        # A string is an iterable of its characters, each of which would be looked up.
        if isinstance(values, str):
            raise TypeError("values must be a list of strings, not one string: look_up([value]).")
        filters = {"types": types, "min_confidence": min_confidence, "related": related}
        for batch in batches(values, min(batch_size, BULK_VALUES), BULK_BYTES, json_bytes):
            found = self._by_query(batch, filters)
            yield from self._by_url(batch, filters) if found is None else found

    def look_up_text(
        self,
        text: str,
        *,
        types: Optional[Sequence[IndicatorType]] = None,
        min_confidence: Optional[int] = None,
        related: Optional[bool] = None,
    ) -> Iterator[LookupResult]:
        """Looks up the observables in a text of any length, such as a report, an e-mail or a log, and yields a result
        for each, once.

        :raises TiplineError: 405 or 501 where a proxy rejects QUERY: the server finds the observables, and GET has no
            body
        """
        seen = set()
        # NUL is part of no observable, and earlier servers reject a body with it.
        for part in parts(text.replace("\0", " "), TEXT_CHARACTERS):
            if not part.strip():
                continue
            found = self.look_up_many_values(
                part, types=types, min_confidence=min_confidence, related=related, extract=True
            )
            for result in found["data"]:
                name = (result["type"], result["value"] or result["asked"])
                if name not in seen:
                    yield result
                seen.add(name)

    def _by_query(self, values: List[str], filters: Any) -> Optional[List[LookupResult]]:
        """Returns None where a proxy rejects QUERY."""
        if not self._has_query:
            return None
        try:
            return self.look_up_many_values({"values": values}, **filters)["data"]
        except TiplineError as error:
            if error.status not in _NO_QUERY:
                raise
            self._has_query = False
            return None

    def _by_url(self, values: List[str], filters: Any) -> Iterator[LookupResult]:
        for batch in batches(values, URL_VALUES, URL_BYTES, url_bytes):
            accepted = [value for value in batch if is_for_url(value)]
            found = iter(self.look_up_values(value=accepted, **filters)["data"] if accepted else [])
            for value in batch:
                yield next(found) if is_for_url(value) else unread(value)
