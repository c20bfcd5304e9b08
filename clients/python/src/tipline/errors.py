"""The error of this package."""

from __future__ import annotations

import email.utils
import json
import math
import time
from email.message import Message
from typing import Any, Optional, Tuple


class TiplineError(Exception):
    """Raised when a request gets no usable response.

    >>> error = TiplineError(429, "rate_limit_exceeded", "Too many requests.", retry_after=7)
    >>> error.status, error.code, str(error), error.retry_after
    (429, 'rate_limit_exceeded', 'Too many requests.', 7)
    """

    #: The status of the response; 0: there was none.
    status: int
    #: The ``code`` of the response, such as ``rate_limit_exceeded``; stable. Without one: ``network_error``,
    #: ``redirect``, ``not_modified`` or ``unexpected_response``.
    code: str
    #: What is wrong, for a person.
    message: str
    #: Seconds after which the server accepts the request again; None: not stated.
    retry_after: Optional[int]

    def __init__(self, status: int, code: str, message: str, retry_after: Optional[int] = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.retry_after = retry_after

    def __reduce__(self) -> Tuple[Any, ...]:
        # Other processes, such as those of a ProcessPoolExecutor, send it on.
        return type(self), (self.status, self.code, self.message, self.retry_after)


def error_of(status: int, headers: Message, text: str) -> TiplineError:
    """Returns the error that a response of another status than expected stands for."""
    if 300 <= status < 400:
        target = headers.get("Location", "another address")
        return TiplineError(status, "redirect", f"The server redirects to {target}. Redirects are not followed.")
    retry_after = _seconds(headers.get("Retry-After"))
    try:
        body = json.loads(text)
        return TiplineError(status, str(body["code"]), str(body["error"]), retry_after)
    except (ValueError, KeyError, TypeError):
        return TiplineError(status, "unexpected_response", f"The server answered {status}.", retry_after)


def _seconds(header: Optional[str]) -> Optional[int]:
    """Reads Retry-After: seconds or a date (RFC 9110, section 10.2.3).

    >>> _seconds("17")
    17
    >>> _seconds("Thu, 01 Jan 1970 00:00:00 GMT")
    0
    """
    if header is None:
        return None
    if header.isdigit():
        return int(header)
    try:
        return max(0, math.ceil(email.utils.parsedate_to_datetime(header).timestamp() - time.time()))
    except (TypeError, ValueError):
        return None
