"""Texts that UTF-8 cannot write, and bytes that are not UTF-8."""

from __future__ import annotations

import re

from .errors import TiplineError

_SURROGATE = re.compile("[\ud800-\udfff]")


def encodable(text: str) -> str:
    """Returns a text with U+FFFD for each surrogate, as other programs encode it.

    >>> encodable("\\ud800 x") == "\\ufffd x"
    True
    """
    return _SURROGATE.sub("\ufffd", text)


def decoded(content: bytes, status: int) -> str:
    """Returns the text of a response."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise not_utf8(status) from error


def not_utf8(status: int) -> TiplineError:
    return TiplineError(status, "unexpected_response", "The response is not UTF-8.")
