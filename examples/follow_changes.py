#!/usr/bin/env python3
"""Keeps a copy of a list of Tipline's indicators in an SQLite database.

    TIPLINE_KEY=tip_... ./follow_changes.py http://127.0.0.1:8080 copy.db minConfidence=70 forDetection=true

Each change is printed once it is stored: "+ DOMAIN evil.example" or "- DOMAIN evil.example". With --once it ends when
the copy is complete. Python 3.9 or newer, without other packages.
"""

import argparse
import gzip
import http.client
import json
import os
import re
import sqlite3
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

PAGE = 5000
WAIT_SECONDS = 30
# The cursor is not valid here, belongs to another key, or is too old: the copy is replaced.
BEGIN_AGAIN = {400, 409, 410}
TRY_LATER = {429, 502, 503, 504}


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """Makes a redirect an error: urllib would send the key to the other address."""

    def redirect_request(self, *_):
        return None


def fetch(url, key):
    """Returns the response; None: the cursor cannot be used. Waits while the server cannot answer."""
    opener = urllib.request.build_opener(NoRedirects)
    delay = 1
    while True:
        # New for each attempt: behind an HTTPS proxy, urllib changes it, and would send it without TLS if it were used again.
        request = urllib.request.Request(url, headers={"Authorization": f"Bearer {key}", "Accept-Encoding": "gzip"})
        try:
            with opener.open(request, timeout=WAIT_SECONDS + 30) as response:
                body = response.read()
                return json.loads(gzip.decompress(body) if response.headers["Content-Encoding"] == "gzip" else body)
        except urllib.error.HTTPError as error:
            if error.code in BEGIN_AGAIN and "cursor=" in url:
                print(f"{error.code}: beginning again", file=sys.stderr)
                return None
            if error.code not in TRY_LATER:
                sys.exit(f"{error.code}: {error.read().decode(errors='replace')}")
            # It may also be a date.
            seconds = re.fullmatch("[0-9]{1,5}", error.headers.get("Retry-After", ""))
            pause = max(1, int(seconds[0])) if seconds else delay
        except (OSError, EOFError, ValueError, http.client.HTTPException) as error:
            print(f"{error}: trying again in {delay} s", file=sys.stderr)
            pause = delay
        time.sleep(pause)
        delay = min(2 * delay, 60)


def open_copy(path):
    copy = sqlite3.connect(path, isolation_level=None)
    copy.execute("create table if not exists indicator (id text primary key, type text, value text, document text, generation integer)")
    copy.execute("create table if not exists state (cursor text, generation integer)")
    if copy.execute("select count(*) from state").fetchone()[0] == 0:
        copy.execute("insert into state values (null, 0)")
    return copy


def apply(copy, changes, generation):
    """Stores changes. Returns lines about them."""
    lines = []
    for change in changes:
        if change["op"] == "upsert":
            indicator = change["indicator"]
            row = (indicator["id"], indicator["type"], indicator["value"], json.dumps(indicator), generation)
            copy.execute("insert or replace into indicator values (?, ?, ?, ?, ?)", row)
            lines.append(f"+ {indicator['type']} {indicator['value']}")
        else:
            copy.execute("delete from indicator where id = ?", (change["id"],))
            lines.append(f"- {change['type']} {change['value']}")
    return lines


def step(copy, base, filters, key, wait):
    """Fetches and stores the next changes, with the cursor in the same transaction. Returns whether there are more."""
    cursor, generation = copy.execute("select cursor, generation from state").fetchone()
    # The server rejects a cursor of other filters: then the copy is replaced.
    query = {"limit": PAGE, "wait": wait, **filters, **({"cursor": cursor} if cursor else {})}
    found = fetch(f"{base}/api/v1/indicators/changes?{urllib.parse.urlencode(query)}", key)
    copy.execute("begin immediate")
    if found is None:
        # The rows stay until the new copy is complete.
        copy.execute("update state set cursor = null, generation = generation + 1")
        copy.execute("commit")
        return True
    lines = apply(copy, found["changes"], generation)
    if not found["hasMore"]:
        for kind, value in copy.execute("select type, value from indicator where generation < ?", (generation,)):
            lines.append(f"- {kind} {value}")
        copy.execute("delete from indicator where generation < ?", (generation,))
        copy.execute("update indicator set generation = 0")
        generation = 0
    copy.execute("update state set cursor = ?, generation = ?", (found["cursor"], generation))
    copy.execute("commit")
    for line in lines:
        print(line)
    sys.stdout.flush()
    return found["hasMore"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", help="address of Tipline")
    parser.add_argument("copy", help="SQLite database")
    parser.add_argument("filters", nargs="*", metavar="name=value", help="filters of the list")
    parser.add_argument("--once", action="store_true", help="end when the copy is complete")
    options = parser.parse_args()
    filters = {}
    for text in options.filters:
        name, separator, value = text.partition("=")
        if not separator or name in filters:
            parser.error(f"{text}: a filter is name=value, each name once; a list has commas, as in types=IPV4,IPV6")
        filters[name] = value
    # Files end in an end of line. http.client would show the whole header that it rejects.
    key = os.environ.get("TIPLINE_KEY", "").strip()
    if not re.fullmatch("[!-~]+", key):
        parser.error("TIPLINE_KEY must be set to an API key")
    copy = open_copy(options.copy)
    while True:
        has_more = step(copy, options.base, filters, key, 0 if options.once else WAIT_SECONDS)
        if options.once and not has_more:
            return


if __name__ == "__main__":
    main()
