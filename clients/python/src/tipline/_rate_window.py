"""The rate limit of the key."""

from __future__ import annotations

import email.utils
import math
import time
from email.message import Message


class RateWindow:
    """What the last response reported of the rate limit of the key."""

    def __init__(self) -> None:
        self._is_spent = False
        self._ends_at = 0.0

    def note(self, headers: Message) -> None:
        """Reads X-RateLimit-Remaining and X-RateLimit-Reset, which counts from the server's clock."""
        try:
            remaining = int(headers["X-RateLimit-Remaining"])
            reset = int(headers["X-RateLimit-Reset"])
        except (KeyError, TypeError, ValueError):
            return
        try:
            server_now = email.utils.parsedate_to_datetime(headers["Date"]).timestamp()
        except (KeyError, TypeError, ValueError):
            server_now = time.time()
        self._is_spent = remaining <= 0
        self._ends_at = time.monotonic() + reset - server_now

    def seconds_left(self) -> int:
        """Returns the seconds until a request is accepted again; 0: now."""
        return max(0, math.ceil(self._ends_at - time.monotonic())) if self._is_spent else 0

    def forget(self) -> None:
        """The window has ended."""
        self._is_spent = False
