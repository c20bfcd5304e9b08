"""Exports and other files, read as they arrive."""

from __future__ import annotations

import codecs
import contextlib
import http.client
import json
import os
import secrets
import zlib
from types import TracebackType
from typing import Any, Iterator, Optional, Type, Union, cast

from ._unicode import decoded, not_utf8
from .errors import TiplineError

_PART = 64 * 1024


class BodyReader:
    """Reads the body of a response: decompresses it, and notices when it ends early."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self._response = response
        self._left = response.length
        self._inflate = zlib.decompressobj(31) if response.headers["Content-Encoding"] == "gzip" else None

    def part(self) -> bytes:
        """Returns the next bytes; none at the end."""
        while True:
            raw = self._response.read1(_PART)
            if self._left is not None:
                self._left -= len(raw)
            if not raw:
                # read1 of a body with a length does not notice its end.
                if self._left:
                    raise http.client.IncompleteRead(b"", self._left)
                if self._inflate is not None and not self._inflate.eof and self._response.status != 304:
                    raise EOFError("The compressed body ends early")
                return b""
            part = raw if self._inflate is None else self._inflate.decompress(raw)
            if part:
                return part

    def read(self) -> bytes:
        return b"".join(iter(self.part, b""))


class Download:
    """A file in a format. Read it once: by iterating (bytes), or with one of its methods; they close it at the end.

    A transfer that ends early raises a :class:`TiplineError`. To leave before the end, use it as a context manager::

        with client.export_indicators("csv") as download:
            for line in download.lines():
                ...
    """

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self._response = response
        self._body = BodyReader(response)
        #: All headers of the response.
        self.headers = response.headers
        #: The content is that of ``if_none_match``, and is not sent: reading it raises a :class:`TiplineError`.
        self.is_not_modified = response.status == 304

    @property
    def etag(self) -> Optional[str]:
        return cast(Optional[str], self.headers["ETag"])

    @property
    def total_count(self) -> Optional[int]:
        """How many indicators match; None: not stated."""
        count = self.headers["X-Total-Count"]
        return None if count is None else int(count)

    @property
    def skipped(self) -> Optional[str]:
        """How many of them the format leaves out, and why, as in ``3;type=2;limit=1``."""
        return cast(Optional[str], self.headers["X-Skipped"])

    @property
    def change_cursor(self) -> Optional[str]:
        """The cursor from which the change feed goes on after this content."""
        return cast(Optional[str], self.headers["X-Change-Cursor"])

    def __iter__(self) -> Iterator[bytes]:
        """Yields the bytes as they arrive."""
        with self:
            if self.is_not_modified:
                message = "The content is that of if_none_match, and was not sent again. Check is_not_modified first."
                raise TiplineError(304, "not_modified", message)
            while True:
                try:
                    part = self._body.part()
                except (OSError, EOFError, http.client.HTTPException, zlib.error) as error:
                    raise TiplineError(0, "network_error", f"The transfer ended early: {error}.") from error
                if not part:
                    return
                yield part

    def read(self) -> bytes:
        return b"".join(self)

    def text(self) -> str:
        return decoded(self.read(), self._response.status)

    def json(self) -> Any:
        """Returns the document of the formats stix and misp."""
        return json.loads(self.text())

    def lines(self) -> Iterator[str]:
        """Yields the lines of a text without their ends."""
        decoder = codecs.getincrementaldecoder("utf-8")()
        text = ""
        try:
            for part in self:
                lines = (text + decoder.decode(part)).split("\n")
                text = lines.pop()
                for line in lines:
                    yield line[:-1] if line.endswith("\r") else line
            text += decoder.decode(b"", True)
        except UnicodeDecodeError as error:
            raise not_utf8(self._response.status) from error
        if text:
            yield text

    def json_lines(self) -> Iterator[Any]:
        """Yields the documents of JSON Lines: the formats ndjson and ecs."""
        for line in self.lines():
            if line:
                yield json.loads(line)

    def save(self, path: Union[str, "os.PathLike[str]"]) -> bool:
        """Replaces a file by the content, once that is complete. A reader of the file never sees a part of it.

        Returns whether it did so: content that ``is_not_modified`` leaves the file as it is.
        """
        if self.is_not_modified:
            self.close()
            return False
        target = os.path.realpath(path)
        part_path = f"{target}.{secrets.token_hex(4)}.part"
        try:
            with open(part_path, "xb") as file:
                for part in self:
                    file.write(part)
                file.flush()
                os.fsync(file.fileno())
            with contextlib.suppress(FileNotFoundError):
                os.chmod(part_path, os.stat(target).st_mode & 0o777)
            os.replace(part_path, target)
            return True
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(part_path)
            raise

    def close(self) -> None:
        self._response.close()

    def __enter__(self) -> "Download":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

