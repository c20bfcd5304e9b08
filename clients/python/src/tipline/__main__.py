"""The command ``python -m tipline``."""

from __future__ import annotations

import argparse
import codecs
import inspect
import json
import os
import re
import sys
from typing import Any, BinaryIO, Callable, Dict, Iterator, List, Optional, Sequence

from ._lookup import TEXT_CHARACTERS, part_end
from .client import Tipline
from .errors import TiplineError
from .types import LookupResult

FAILURE, USAGE, KNOWN = 1, 2, 3
#: Statuses of a cursor that cannot be used.
CURSOR_REJECTED = (400, 409, 410)

EPILOG = """\
The API key is in TIPLINE_KEY. Filters are those of the API, such as types=IPV4,IPV6 minConfidence=70.
Exit codes: 0 success; 1 failure; 2 invalid command; lookup: 3 if something is known.

Examples:
  python -m tipline lookup access.log
  tail -F /var/log/squid/access.log | python -m tipline lookup -
  python -m tipline lookup --values --json < values.txt
  python -m tipline context 185.132.17.160
  python -m tipline list indicators minConfidence=80 --limit 10
  python -m tipline export txt types=IPV4,IPV6 minConfidence=70 -o block.txt
  python -m tipline feed edge-addresses -o block.txt
  python -m tipline changes minConfidence=70 --cursor cursor.txt --follow
"""


class UsageError(Exception):
    """The command line is not valid."""


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs a command. Returns its exit code."""
    parser = _parser()
    # argparse finds no list of arguments behind an option.
    options, rest = parser.parse_known_args(arguments)
    if rest and (not hasattr(options, "filters") or any(text.startswith("-") for text in rest)):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    options.filters = getattr(options, "filters", []) + rest
    try:
        key = os.environ.get("TIPLINE_KEY")
        if not key:
            raise UsageError("TIPLINE_KEY must be set to an API key.")
        run: Callable[[Tipline, argparse.Namespace], int] = options.run
        return run(Tipline(options.server, key), options)
    except (UsageError, ValueError) as error:
        print(error, file=sys.stderr)
        return USAGE
    except TiplineError as error:
        status = f"{error.status}: " if error.status else ""
        hint = " A proxy may reject the method QUERY: use --values." if error.status in (405, 501) else ""
        print(f"{options.server}: {status}{error.message}{hint}", file=sys.stderr)
        return FAILURE
    except BrokenPipeError:
        # The reader has all that it wants. Python writes what is left at its end, to nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILURE
    except OSError as error:
        print(error, file=sys.stderr)
        return FAILURE
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tipline",
        description="A client of Tipline.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--server",
        default=os.environ.get("TIPLINE_SERVER", "http://127.0.0.1:8080"),
        help="address of the server; by default TIPLINE_SERVER, or http://127.0.0.1:8080",
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    lookup = commands.add_parser("lookup", help="list which values in files or a stream are known")
    lookup.add_argument("files", nargs="*", default=["-"], metavar="FILE", help="logs, reports or lists; - is standard input")
    lookup.add_argument("--values", action="store_true", help="each line is one value; otherwise values are found in the text")
    lookup.add_argument("--min-confidence", type=int, metavar="NUMBER", help="only indicators with at least this")
    lookup.add_argument("--json", action="store_true", help="print a JSON object a line")
    lookup.set_defaults(run=_lookup)

    context = commands.add_parser("context", help="print all about each match of a value, as a JSON object a line")
    context.add_argument("value")
    context.set_defaults(run=_context)

    listing = commands.add_parser("list", help="print a list, a JSON object a line")
    listing.add_argument("resource", choices=["indicators", "actors", "campaigns"])
    listing.add_argument("--limit", type=int, metavar="NUMBER", help="at most so many")
    listing.set_defaults(run=_list)

    export = commands.add_parser("export", help="write indicators in a format")
    export.add_argument("format")
    export.set_defaults(run=_export)

    feed = commands.add_parser("feed", help="write a saved feed")
    feed.add_argument("slug")
    feed.set_defaults(run=_feed)

    changes = commands.add_parser("changes", help="print the changes of a list, a JSON object a line")
    changes.add_argument("--feed", metavar="SLUG", help="of a saved feed")
    changes.add_argument("--cursor", metavar="FILE", help="go on from the cursor in this file, and keep it there")
    changes.add_argument("--follow", action="store_true", help="wait for changes; otherwise end when there are no more")
    changes.set_defaults(run=_changes)

    for writing in (export, feed):
        writing.add_argument("-o", "--output", metavar="FILE", help="replace this file when the content is complete")
    for filtered in (listing, export, changes):
        filtered.add_argument("filters", nargs="*", metavar="NAME=VALUE", help="filters of the API")
    return parser


def _lookup(client: Tipline, options: argparse.Namespace) -> int:
    printed = set()
    for text in _texts(options.files):
        if options.values:
            values = [line.strip() for line in text.split("\n") if line.strip()]
            results = client.look_up(values, min_confidence=options.min_confidence)
        else:
            results = client.look_up_text(text, min_confidence=options.min_confidence)
        for result in results:
            name = (result["type"], result["value"])
            if result["known"] and name not in printed:
                printed.add(name)
                _print(json.dumps(result, ensure_ascii=False) if options.json else _line(result))
    return KNOWN if printed else 0


def _texts(files: Sequence[str]) -> Iterator[str]:
    """Yields whole lines of the files, as many as a request takes or as have arrived."""
    for name in files:
        if name == "-":
            yield from _lines(sys.stdin.buffer)
        else:
            with open(name, "rb") as file:
                yield from _lines(file)


def _lines(file: BinaryIO) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    rest = ""
    while True:
        # Returns what has arrived, also while a log grows.
        arrived = os.read(file.fileno(), TEXT_CHARACTERS)
        rest += decoder.decode(arrived, not arrived)
        end = len(rest) if not arrived else rest.rfind("\n") + 1
        if end:
            yield rest[:end]
            rest = rest[end:]
        if not arrived:
            return
        # A line without an end is not kept back for ever.
        while len(rest) > TEXT_CHARACTERS:
            end = part_end(rest, TEXT_CHARACTERS)
            yield rest[:end]
            rest = rest[end:]


def _line(result: LookupResult) -> str:
    """Such as ``MALICIOUS 80  http://a.evil.example/x  parent-domain evil.example (Feed)``."""
    found = []
    for match in result["matches"]:
        indicator = match["indicator"]
        what = "exact" if match["relation"] == "exact" else f"{match['relation']} {indicator['value']}"
        found.append(f"{what} ({indicator['source']})")
    confidence = max(match["indicator"]["confidence"] for match in result["matches"])
    return f"{result['verdict']} {confidence}  {result['value'] or result['asked']}  {', '.join(found)}"


def _context(client: Tipline, options: argparse.Namespace) -> int:
    (result,) = client.look_up([options.value])
    for match in result["matches"]:
        context = client.get_indicator_context(match["indicator"]["id"])
        _print(json.dumps({"relation": match["relation"], **context}, ensure_ascii=False))
    if result["known"]:
        return 0
    print(f"{options.value} is not known.", file=sys.stderr)
    return FAILURE


def _list(client: Tipline, options: argparse.Namespace) -> int:
    iterate: Any = {
        "indicators": client.iterate_indicators,
        "actors": client.iterate_actors,
        "campaigns": client.iterate_campaigns,
    }[options.resource]
    filters = _filters(options.filters, iterate)
    if options.limit is not None and options.limit < 1:
        raise UsageError("--limit must be 1 or more.")
    if options.limit is not None and "page_size" not in filters:
        filters["page_size"] = str(min(options.limit, 200))
    for number, item in enumerate(iterate(**filters), 1):
        _print(json.dumps(item, ensure_ascii=False))
        if number == options.limit:
            break
    return 0


def _export(client: Tipline, options: argparse.Namespace) -> int:
    export: Any = client.export_indicators
    return _write(export(options.format, **_filters(options.filters, export)), options.output)


def _feed(client: Tipline, options: argparse.Namespace) -> int:
    return _write(client.read_feed(options.slug), options.output)


def _write(download: Any, path: Optional[str]) -> int:
    if path is not None:
        download.save(path)
        return 0
    for part in download:
        sys.stdout.buffer.write(part)
    sys.stdout.buffer.flush()
    return 0


def _changes(client: Tipline, options: argparse.Namespace) -> int:
    cursor = _read(options.cursor) if options.cursor else None
    follow: Any = client.follow_feed_changes if options.feed else client.follow_indicator_changes
    filters = _filters(options.filters, follow)
    if options.feed:
        filters["slug"] = options.feed
    try:
        for found in follow(**filters, cursor=cursor, wait=30 if options.follow else 0):
            for change in found["changes"]:
                print(json.dumps(change, ensure_ascii=False))
            sys.stdout.flush()
            if options.cursor:
                _replace(options.cursor, found["cursor"])
    except TiplineError as error:
        if cursor is None or error.status not in CURSOR_REJECTED:
            raise
        remedy = f"Remove {options.cursor}, discard the copy, and begin again."
        raise TiplineError(error.status, error.code, f"{error.message} {remedy}") from error
    return 0


def _read(path: str) -> Optional[str]:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().strip() or None
    except FileNotFoundError:
        return None


def _replace(path: str, text: str) -> None:
    with open(f"{path}.part", "w", encoding="utf-8") as file:
        file.write(text + "\n")
    os.replace(f"{path}.part", path)


def _filters(texts: List[str], method: Callable[..., Any]) -> Dict[str, str]:
    """Returns NAME=VALUE arguments as arguments of a method, which have Python's names.

    >>> _filters(["minConfidence=70"], Tipline.list_indicators)
    {'min_confidence': '70'}
    >>> _filters(["types=IPV4", "types=DOMAIN"], Tipline.list_indicators)
    Traceback (most recent call last):
    tipline.__main__.UsageError: types is given twice. A list has commas, as in types=IPV4,IPV6.
    """
    ours = ("self", "format", "slug", "cursor", "wait", "page", "cache", "if_none_match")
    allowed = {_camel(name): name for name in inspect.signature(method).parameters if name not in ours}
    filters: Dict[str, str] = {}
    for text in texts:
        name, separator, value = text.partition("=")
        if not separator or name not in allowed:
            raise UsageError(f"{text} must be NAME=VALUE, with one of the names {', '.join(allowed)}.")
        if allowed[name] in filters:
            raise UsageError(f"{name} is given twice. A list has commas, as in types=IPV4,IPV6.")
        filters[allowed[name]] = value
    return filters


def _camel(name: str) -> str:
    return re.sub("_([a-z])", lambda match: match[1].upper(), name)


def _print(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
