"""Sends requests, waits for the rate limit, and repeats what fails temporarily."""

from __future__ import annotations

import http.client
import json
import random
import re
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
import zlib
from functools import partial
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, TypeVar, Union, cast

from ._rate_window import RateWindow
from ._unicode import decoded, encodable
from .download import BodyReader, Download
from .errors import TiplineError, error_of

#: Responses by URL, with their ETags. A request for one of them has If-None-Match; if it is unchanged (304), it is
#: returned again.
Cache = Dict[str, Tuple[str, str]]

QueryValue = Union[None, str, int, float, bool, Sequence[Union[str, int]]]

T = TypeVar("T")

#: Statuses after which the same request may succeed; 0 is a network error.
REPEATED = (0, 500, 502, 503, 504)

#: What the standard library raises when a transfer fails.
NETWORK_ERRORS = (OSError, EOFError, http.client.HTTPException, zlib.error)


#: The longest time limit in seconds that a socket takes.
_MAX_TIMEOUT = (2**31 - 1) / 1000

_KEY = re.compile("[!-~]+")


class _EveryStatus(urllib.request.HTTPErrorProcessor):
    """Returns responses of every status. Redirects are not followed: urllib would send the key to another host."""

    def http_response(self, request: urllib.request.Request, response: Any) -> Any:
        return response

    https_response = http_response


class Transport:
    """One server and key. May be shared by threads."""

    def __init__(
        self,
        url: str,
        key: Optional[str],
        *,
        retries: int,
        max_wait: float,
        timeout: float,
        ssl_context: Optional[ssl.SSLContext],
        user_agent: str,
        sleep: Callable[[float], None],
    ) -> None:
        if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
            raise ValueError("url must begin with http:// or https://.")
        # Files and variables end in an end of line. http.client would show the whole header that it rejects.
        key = None if key is None else key.strip()
        if key and not _KEY.fullmatch(key):
            raise ValueError("key must have no other characters than visible ASCII.")
        self._base = url.rstrip("/")
        self._key = key
        self._retries = retries
        self._max_wait = max_wait
        self._timeout = timeout
        self._user_agent = user_agent
        self._window = RateWindow()
        self._opener = urllib.request.build_opener(
            _EveryStatus(), urllib.request.HTTPSHandler(context=ssl_context)
        )
        self.sleep = sleep

    def json(self, path: str, **options: Any) -> Any:
        """Returns the document of a response. The options are those of :meth:`_read`."""
        status, text = self._read(path, **{"accept": "application/json", **options})
        try:
            return json.loads(text)
        except ValueError as error:
            raise TiplineError(status, "unexpected_response", "The response is not JSON.") from error

    def text(self, path: str, **options: Any) -> str:
        """Returns the text of a response. The options are those of :meth:`_read`."""
        return self._read(path, **options)[1]

    def _read(
        self,
        path: str,
        *,
        method: str = "GET",
        query: Optional[Mapping[str, QueryValue]] = None,
        body: Union[None, str, Mapping[str, Any]] = None,
        accept: str = "*/*",
        statuses: Sequence[int] = (),
        is_public: bool = False,
        cache: Optional[Cache] = None,
    ) -> Tuple[int, str]:
        """Returns status and text of a response.

        :param body: a text is sent as text/plain, everything else as JSON
        :param statuses: statuses other than 200 whose responses are results
        :param is_public: without a key, and not limited
        """
        url = self._url(path, query)
        known = None if cache is None else cache.get(url)
        headers = {"Accept": accept, **({"If-None-Match": known[0]} if known else {})}

        def read(response: http.client.HTTPResponse) -> Tuple[int, str]:
            with response:
                if response.status == 304 and known:
                    return 200, known[1]
                text = decoded(BodyReader(response).read(), response.status)
            etag = response.headers["ETag"]
            if etag and cache is not None:
                cache[url] = (etag, text)
            return response.status, text

        new_request = partial(self._request, url, method, headers, body, is_public)
        return self._send(new_request, statuses, self._timeout + _waits(query), read)

    def download(
        self,
        path: str,
        *,
        query: Optional[Mapping[str, QueryValue]] = None,
        if_none_match: Optional[str] = None,
    ) -> Download:
        """Returns a file in a format, once its headers have arrived."""
        headers = {"Accept": "*/*", **({"If-None-Match": if_none_match} if if_none_match else {})}
        new_request = partial(self._request, self._url(path, query), "GET", headers, None, False)
        return self._send(new_request, (), self._timeout, Download)

    def _url(self, path: str, query: Optional[Mapping[str, QueryValue]]) -> str:
        parameters: List[Tuple[str, str]] = []
        for name, value in (query or {}).items():
            if isinstance(value, (str, int, float)):
                parameters.append((name, _text(value)))
            elif value is not None:
                if not isinstance(value, Iterable):
                    kind = type(value).__name__
                    raise TypeError(f"{name} must be a string, a number, a boolean or a list of these, not {kind}.")
                texts = [_text(one) for one in value]
                if not texts:
                    # Nothing would be sent, which is no filter.
                    raise ValueError(f"{name} must not be an empty list. Without a filter, leave it out.")
                parameters.extend((name, text) for text in texts)
        return self._base + path + ("?" + urllib.parse.urlencode(parameters) if parameters else "")

    def _request(
        self,
        url: str,
        method: str,
        headers: Dict[str, str],
        body: Union[None, str, Mapping[str, Any]],
        is_public: bool,
    ) -> urllib.request.Request:
        headers = {**headers, "Accept-Encoding": "gzip", "User-Agent": self._user_agent}
        if self._key is not None and not is_public:
            headers["Authorization"] = f"Bearer {self._key}"
        data = None
        if body is not None:
            headers["Content-Type"] = "text/plain; charset=utf-8" if isinstance(body, str) else "application/json"
            data = encodable(body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)).encode("utf-8")
        return urllib.request.Request(url, data, headers, method=method)

    def _send(
        self,
        new_request: Callable[[], urllib.request.Request],
        statuses: Sequence[int],
        timeout: float,
        read: Callable[[http.client.HTTPResponse], T],
    ) -> T:
        waited = 0.0

        def pause(seconds: float, failure: TiplineError) -> None:
            nonlocal waited
            waited += seconds
            if waited > self._max_wait:
                raise failure
            self.sleep(seconds)

        failures = 0
        while True:
            # urllib changes a request that it sends through a proxy. Sent again, it would go out without TLS.
            request = new_request()
            seconds = self._window.seconds_left() if request.has_header("Authorization") else 0
            if seconds > 0:
                message = f"The rate limit is spent for {seconds} seconds."
                pause(seconds, TiplineError(429, "rate_limit_exceeded", message, seconds))
                self._window.forget()
            try:
                return self._attempt(request, statuses, timeout, read)
            except TiplineError as error:
                if error.status == 429:
                    self._window.forget()
                    pause(max(1, error.retry_after or 1), error)
                elif error.status in REPEATED and failures < self._retries:
                    wait = max(back_off(failures), error.retry_after or 0)
                    failures += 1
                    pause(wait, error)
                else:
                    raise

    def _attempt(
        self,
        request: urllib.request.Request,
        statuses: Sequence[int],
        timeout: float,
        read: Callable[[http.client.HTTPResponse], T],
    ) -> T:
        try:
            limit = timeout if timeout <= _MAX_TIMEOUT else None
            response = cast(http.client.HTTPResponse, self._opener.open(request, timeout=limit))
            self._window.note(response.headers)
            # urllib capitalizes names of headers.
            is_not_modified = response.status == 304 and request.has_header("If-none-match")
            if response.status in (200, *statuses) or is_not_modified:
                return read(response)
            with response:
                text = BodyReader(response).read().decode("utf-8", "replace")
            raise error_of(response.status, response.headers, text)
        except NETWORK_ERRORS as error:
            reason = error.reason if isinstance(error, urllib.error.URLError) else error
            raise TiplineError(0, "network_error", f"The server does not answer: {reason}.") from error


def back_off(failures: int) -> float:
    """Returns for how many seconds to wait after so many failures before the last one."""
    # Between half of it and all of it, so that clients do not return at the same moment.
    return 2.0**failures * (1 + random.random()) / 2


def _waits(query: Optional[Mapping[str, QueryValue]]) -> float:
    """Returns for how many seconds the server may wait for changes."""
    wait = (query or {}).get("wait")
    return wait if isinstance(wait, int) else 0


def _text(value: Union[str, int, float]) -> str:
    return str(value).lower() if isinstance(value, bool) else encodable(str(value))


def segment(value: str) -> str:
    """Returns a part of a path.

    >>> segment("a/b")
    'a%2Fb'
    >>> segment("..")
    Traceback (most recent call last):
    ValueError: '..' is no part of a path.
    """
    if value in ("", ".", ".."):
        raise ValueError(f"{value!r} is no part of a path.")
    return urllib.parse.quote(encodable(value), safe="")
