"""Batches of look-ups."""

from __future__ import annotations

import json
import re
import urllib.parse
from typing import Callable, Iterable, Iterator, List

from ._unicode import encodable
from .types import LookupResult

#: What a request to /bulk/lookup may have: values, and bytes, with room for the rest of the body.
BULK_VALUES = 10_000
BULK_BYTES = 2_000_000
#: Characters of a text that cannot have more than BULK_VALUES observables.
TEXT_CHARACTERS = 48_000
#: What a request to /api/v1/lookup may have, and what proxies accept of a URL.
URL_VALUES = 100
URL_BYTES = 6_000
_VALUE_CHARACTERS = 8192


def batches(
    values: Iterable[str], most_values: int, most_bytes: int, bytes_of: Callable[[str], int]
) -> Iterator[List[str]]:
    """Splits values into batches of at most so many values and bytes. A value of more bytes is one of its own.

    >>> list(batches(["a", "bb", "ccc", "d"], 2, 4, len))
    [['a', 'bb'], ['ccc', 'd']]
    """
    batch: List[str] = []
    size = 0
    for value in values:
        more = bytes_of(value)
        if batch and (len(batch) >= most_values or size + more > most_bytes):
            yield batch
            batch, size = [], 0
        batch.append(value)
        size += more
    if batch:
        yield batch


def json_bytes(value: str) -> int:
    """Bytes of a value in JSON, with a separator."""
    return len(encodable(json.dumps(value, ensure_ascii=False)).encode("utf-8")) + 2


def url_bytes(value: str) -> int:
    """Bytes of a value in a query string, with its name; none for a value that is not sent."""
    return len("&" + urllib.parse.urlencode({"value": encodable(value)})) if is_for_url(value) else 0


def is_for_url(value: str) -> bool:
    """Whether GET accepts a value; QUERY accepts any, and finds nothing for the others."""
    return 0 < len(value) <= _VALUE_CHARACTERS and "\0" not in value


def unread(asked: str) -> LookupResult:
    """Returns the result for a value that GET does not accept."""
    return {
        "asked": asked,
        "type": None,
        "value": None,
        "reason": f"A value has 1 to {_VALUE_CHARACTERS} characters, and no NUL.",
        "known": False,
        "verdict": "UNKNOWN",
        "matches": [],
    }


#: Where a text may be cut, the best first: at characters that separate observables in every text; at blanks, unless
#: they belong to a defanged dot such as `` [.] ``; within a word that is longer than any observable, where the server
#: separates it.
_CUTS = [
    re.compile(pattern, re.DOTALL)
    for pattern in (
        r""".*[\t\n\v\f\r"'`|“”‘’«»]""",
        r".*[^ \])}）］】>] +(?=[^ \[({（［【<\\])",
        r".*[,;=]",
    )
]


def parts(text: str, most: int) -> Iterator[str]:
    """Splits a text into parts that are small enough for a request, so that no observable is cut.

    >>> list(parts("one two three\\nfour", 9))
    ['one two ', 'three\\n', 'four']
    """
    start = 0
    while start < len(text):
        end = start + part_end(text[start : start + most + 1], most)
        yield text[start:end]
        start = end


def part_end(text: str, most: int) -> int:
    """Returns where the first part of a text ends.

    >>> part_end('{"a":"one","b":"two"}', 15)
    14
    """
    if len(text) <= most:
        return len(text)
    head = text[:most]
    for cut in _CUTS:
        found = cut.match(head)
        if found:
            return found.end()
    return most
