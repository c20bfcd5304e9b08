"""Waiting, repeating, errors, downloads and batches, against a server with scripted responses."""

import contextlib
import datetime
import gzip
import http.server
import io
import json
import os
import pickle
import re
import socketserver
import tempfile
import threading
import time
import unittest
import urllib.parse
from email.utils import formatdate
from unittest import mock

from tipline import Tipline, TiplineError
from tipline.__main__ import _lines, main

LIST = (200, {}, b'{"data": [], "page": 1, "pageSize": 50, "total": 0}')


def failed(status, **headers):
    body = json.dumps({"error": f"Error {status}.", "code": f"code_{status}"}).encode()
    return status, {name.replace("_", "-"): value for name, value in headers.items()}, body


class Sent:
    """A request as the server has received it."""

    def __init__(self, handler, body):
        self.method = handler.command
        self.target = handler.path
        self.query = urllib.parse.parse_qs(urllib.parse.urlsplit(handler.path).query, keep_blank_values=True)
        self.headers = handler.headers
        self.body = body.decode()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        sent = Sent(self, self.rfile.read(int(self.headers.get("Content-Length", 0))))
        self.server.sent.append(sent)
        script = self.server.script
        if callable(script):
            status, headers, body = script(sent)
        else:
            status, headers, body = script[min(len(self.server.sent), len(script)) - 1]
        self.send_response_only(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    do_GET = do_QUERY = answer

    def log_message(self, *args):
        pass


class ScriptedTest(unittest.TestCase):
    def client(self, script, **options):
        """A client whose requests get these responses in turn, the last one again and again, and which does not really
        wait."""
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.script = script
        self.server.sent = self.sent = []
        self.waits = []
        self.serve(self.server)
        url = f"http://127.0.0.1:{self.server.server_port}/intel/"
        return Tipline(url, "tip_test", sleep=self.waits.append, **options)

    def serve(self, server):
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server

    def error_of(self, call, *arguments, **named):
        with self.assertRaises(TiplineError) as caught:
            call(*arguments, **named)
        return caught.exception


class Requests(ScriptedTest):
    def test_have_the_key_the_path_and_the_query_with_lists_repeated(self):
        self.client([LIST]).list_indicators(types=["IPV4", "URL"], for_detection=False, q="a&b")
        (sent,) = self.sent
        self.assertEqual(sent.target, "/intel/api/v1/indicators?q=a%26b&forDetection=false&types=IPV4&types=URL")
        self.assertEqual(sent.headers["Authorization"], "Bearer tip_test")
        self.assertEqual(sent.headers["Accept"], "application/json")
        self.assertRegex(sent.headers["User-Agent"], r"^tipline-python/\d+\.\d+")

    def test_are_not_sent_with_an_empty_list_as_a_filter(self):
        client = self.client([LIST])
        for call in (client.list_indicators, lambda types: client.export_indicators("txt", types=types)):
            with self.assertRaisesRegex(ValueError, "^types must not be an empty list. Without a filter, leave it out.$"):
                call(types=[])
        self.assertEqual(self.sent, [])

    def test_are_not_sent_with_a_parameter_of_another_kind(self):
        client = self.client([LIST])
        with self.assertRaisesRegex(TypeError, "^since must be a string, .* not datetime.$"):
            client.list_indicators(since=datetime.datetime(2024, 1, 1))
        self.assertEqual(self.sent, [])

    def test_have_numbers_with_fractions(self):
        self.client([LIST]).list_indicators(min_epss=0.25)
        self.assertEqual(self.sent[0].target, "/intel/api/v1/indicators?minEpss=0.25")

    def test_have_the_key_without_the_end_of_its_line(self):
        self.client([LIST])
        for end in ("\n", "\r\n", " "):
            Tipline(f"http://127.0.0.1:{self.server.server_port}", f" tip_test{end}").list_actors()
        self.assertEqual([sent.headers["Authorization"] for sent in self.sent], ["Bearer tip_test"] * 3)

    def test_do_not_show_a_key_that_no_header_takes(self):
        for key in ("tip_se\rcret", "tip_se cret", "tip_sécret", "tip_se\0cret"):
            with self.assertRaises(ValueError) as caught:
                Tipline("http://127.0.0.1", key)
            self.assertEqual(str(caught.exception), "key must have no other characters than visible ASCII.")

    def test_cannot_reach_another_path_through_a_part_of_it(self):
        client = self.client([(200, {}, b"{}")])
        for part in ("", ".", ".."):
            with self.assertRaises(ValueError):
                client.get_actor(part)
        client.get_actor("a/../b?c")
        self.assertEqual([sent.target for sent in self.sent], ["/intel/api/v1/actors/a%2F..%2Fb%3Fc"])

    def test_for_the_health_are_sent_without_the_key_and_503_is_a_result(self):
        self.assertEqual(self.client([(503, {}, b'{"status": "degraded"}')]).get_health()["status"], "degraded")
        self.assertNotIn("Authorization", self.sent[0].headers)

    def test_do_not_follow_a_redirect(self):
        client = self.client([(301, {"Location": "https://elsewhere.example/"}, b"")])
        error = self.error_of(client.list_actors)
        self.assertEqual((error.status, error.code, len(self.sent)), (301, "redirect", 1))
        self.assertIn("https://elsewhere.example/", error.message)


class ClosingProxy(socketserver.BaseRequestHandler):
    """A proxy that opens each tunnel, and closes it after the first bytes."""

    def handle(self):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.request.recv(1)
        self.request.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        self.server.tunnels.append((head.split()[1].decode(), self.request.recv(65_536)))


class Proxies(ScriptedTest):
    def test_get_no_request_outside_of_tls_also_after_several_attempts(self):
        proxy = self.serve(socketserver.ThreadingTCPServer(("127.0.0.1", 0), ClosingProxy))
        proxy.tunnels = []
        with mock.patch.dict(os.environ, {"https_proxy": f"http://127.0.0.1:{proxy.server_address[1]}", "no_proxy": ""}):
            client = Tipline("https://tipline.example", "tip_test", sleep=lambda seconds: None)
        for call in (client.list_actors, lambda: client.export_indicators("txt")):
            self.assertEqual(self.error_of(call).code, "network_error")
        self.assertEqual([tunnel for tunnel, _ in proxy.tunnels], ["tipline.example:443"] * 8)
        # The first byte of a TLS handshake.
        self.assertEqual({sent[:1] for _, sent in proxy.tunnels}, {b"\x16"})


class RateLimit(ScriptedTest):
    def test_is_waited_for_after_429_for_the_seconds_of_retry_after(self):
        script = [failed(429, Retry_After="17"), failed(429, Retry_After="0"), failed(429), LIST]
        self.client(script).list_actors()
        self.assertEqual(self.waits, [17, 1, 1])

    def test_is_waited_for_before_a_request_that_it_would_reject_by_the_clock_of_the_server(self):
        yesterday = int(time.time()) - 86_400
        headers = {
            "X-RateLimit-Remaining": "0",
            "X-RateLimit-Reset": str(yesterday + 60),
            "Date": formatdate(yesterday, usegmt=True),
        }
        client = self.client([(200, headers, LIST[2]), LIST])
        client.list_actors()
        client.get_health()
        self.assertEqual(self.waits, [])
        client.list_actors()
        self.assertEqual(len(self.waits), 1)
        self.assertTrue(0 < self.waits[0] <= 60)

    def test_is_an_error_when_it_takes_longer_than_the_call_may_wait(self):
        error = self.error_of(self.client([failed(429, Retry_After="40")], max_wait=100).list_actors)
        self.assertEqual((error.status, error.code, error.retry_after), (429, "code_429", 40))
        self.assertEqual(self.waits, [40, 40])


class Failures(ScriptedTest):
    def test_that_are_temporary_are_repeated_with_back_off(self):
        for name, failure in {
            "500": failed(500),
            "502 of a proxy": (502, {}, b"<html>"),
            "503": failed(503),
            "504": failed(504),
            "a body that ends early": (200, {"Content-Length": "100"}, b'{"data":'),
            "a compressed body that ends early": (200, {"Content-Encoding": "gzip"}, gzip.compress(LIST[2])[:-9]),
        }.items():
            with self.subTest(name):
                self.client([failure, failure, failure, LIST]).list_actors()
                self.assertEqual(len(self.waits), 3)
                for number, seconds in enumerate(self.waits):
                    self.assertTrue(2**number / 2 <= seconds <= 2**number)

    def test_are_errors_after_the_last_attempt(self):
        client = self.client([LIST], retries=2)
        self.server.shutdown()
        self.server.server_close()
        error = self.error_of(client.list_actors)
        self.assertEqual((error.status, error.code, len(self.waits)), (0, "network_error", 2))
        self.assertIn("Connection refused", error.message)

    def test_are_repeated_no_earlier_than_retry_after_also_a_date(self):
        self.client([failed(503, Retry_After=formatdate(time.time() + 600, usegmt=True)), LIST], max_wait=900).list_actors()
        self.assertTrue(300 < self.waits[0] <= 600)

    def test_of_a_query_are_repeated_because_it_changes_nothing(self):
        self.client([failed(503), (200, {}, b'{"data": []}')]).look_up_many_values({"values": ["a"]})
        self.assertEqual([sent.method for sent in self.sent], ["QUERY", "QUERY"])

    def test_are_no_long_time_limits(self):
        for timeout in (float("inf"), 1e12, 30 * 86_400):
            client = self.client([LIST], timeout=timeout)
            client.list_actors()
            self.assertIn("data", client.export_indicators("txt").text())

    def test_that_are_not_temporary_are_not_repeated(self):
        for status in (400, 401, 403, 404, 406, 410, 501):
            with self.subTest(status):
                error = self.error_of(self.client([failed(status)]).list_actors)
                self.assertEqual((error.status, error.code, str(error)), (status, f"code_{status}", f"Error {status}."))
                self.assertEqual((error.retry_after, len(self.sent)), (None, 1))

    def test_are_the_same_after_pickling(self):
        error = self.error_of(self.client([failed(401, Retry_After="7")]).list_actors)
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((vars(again), str(again)), (vars(error), str(error)))
        self.assertEqual((again.status, again.code, again.retry_after), (401, "code_401", 7))

    def test_a_response_that_is_not_json_is_an_error(self):
        error = self.error_of(self.client([(200, {}, b"<html>")]).list_actors)
        self.assertEqual((error.status, error.code, len(self.sent)), (200, "unexpected_response", 1))

    def test_a_response_that_is_not_utf8_is_an_error(self):
        client = self.client([(200, {}, "<html>Gerät</html>".encode("latin-1"))])
        for call in (
            client.list_actors,
            lambda: client.get_actor_sigma("a"),
            lambda: client.export_indicators("txt").text(),
            lambda: client.export_indicators("stix").json(),
            lambda: list(client.export_indicators("txt").lines()),
        ):
            error = self.error_of(call)
            self.assertEqual((error.status, error.code, str(error)), (200, "unexpected_response", "The response is not UTF-8."))

    def test_an_error_of_a_proxy_has_no_code_of_the_api(self):
        error = self.error_of(self.client([(403, {}, b"<html>")]).list_actors)
        self.assertEqual((error.status, error.code), (403, "unexpected_response"))


class Downloads(ScriptedTest):
    def test_are_decompressed_and_read_as_lines(self):
        text = "".join(f"€ {number}\r\n" for number in range(20_000)) + "end"
        for headers, body in (({}, text.encode()), ({"Content-Encoding": "gzip"}, gzip.compress(text.encode()))):
            lines = list(self.client([(200, headers, body)]).export_indicators("txt").lines())
            self.assertEqual((len(lines), lines[19_999], lines[-1]), (20_001, "€ 19999", "end"))

    def test_that_end_early_are_errors_and_leave_a_file_as_it_is(self):
        body = gzip.compress(os.urandom(100_000))
        for headers, cut in (({"Content-Length": "200000"}, body), ({"Content-Encoding": "gzip"}, body[:-9])):
            with tempfile.TemporaryDirectory() as directory:
                path = os.path.join(directory, "list")
                with open(path, "w", encoding="utf-8") as file:
                    file.write("before")
                error = self.error_of(self.client([(200, headers, cut)]).export_indicators("txt").save, path)
                self.assertEqual((error.status, error.code), (0, "network_error"))
                with open(path, encoding="utf-8") as file:
                    self.assertEqual((file.read(), os.listdir(directory)), ("before", ["list"]))

    def test_that_are_not_modified_leave_a_file_as_it_is_and_cannot_be_read(self):
        client = self.client([(200, {"ETag": '"1"'}, b"one\n"), (304, {}, b"")])
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "list")
            etag, saved = None, []
            for _ in range(2):
                download = client.export_indicators("txt", if_none_match=etag)
                saved.append((download.is_not_modified, download.save(path)))
                etag = download.etag or etag
            self.assertEqual(saved, [(False, True), (True, False)])
            with open(path, encoding="utf-8") as file:
                self.assertEqual((file.read(), os.listdir(directory)), ("one\n", ["list"]))
        for read in (
            lambda download: list(download),
            lambda download: download.read(),
            lambda download: download.text(),
            lambda download: download.json(),
            lambda download: list(download.lines()),
            lambda download: list(download.json_lines()),
        ):
            error = self.error_of(read, client.export_indicators("txt", if_none_match=etag))
            self.assertEqual((error.status, error.code), (304, "not_modified"))

    def test_can_be_left_before_the_end(self):
        with self.client([(200, {}, b"a\n" * 1_000_000)]).export_indicators("txt") as download:
            self.assertEqual(next(download.lines()), "a")


def found(sent):
    values = json.loads(sent.body)["values"] if sent.method == "QUERY" else sent.query["value"]
    data = [{"asked": value, "type": None, "value": None, "known": True, "matches": []} for value in values]
    return 200, {}, json.dumps({"data": data}).encode()


def rejecting(status):
    return lambda sent: (status, {}, b"") if sent.method == "QUERY" else found(sent)


class LookUps(ScriptedTest):
    def asked(self, client, values):
        return [result["asked"] for result in client.look_up(values, min_confidence=5)]

    def test_send_10000_values_a_request(self):
        values = [str(number) for number in range(20_001)]
        self.assertEqual(self.asked(self.client(found), values), values)
        self.assertEqual([len(json.loads(sent.body)["values"]) for sent in self.sent], [10_000, 10_000, 1])
        self.assertEqual(self.sent[0].query, {"minConfidence": ["5"]})

    def test_reject_one_string_whose_characters_would_be_looked_up(self):
        with self.assertRaisesRegex(TypeError, "^values must be a list of strings, not one string"):
            self.asked(self.client(found), "192.0.2.1")
        self.assertEqual(self.sent, [])

    def test_send_no_more_bytes_than_a_body_may_have(self):
        values = ['€"' * 500 + str(number) for number in range(3_000)]
        self.assertEqual(self.asked(self.client(found), values), values)
        self.assertGreater(len(self.sent), 2)
        self.assertLessEqual(max(int(sent.headers["Content-Length"]) for sent in self.sent), 2 * 1024 * 1024)

    def test_read_values_as_they_are_needed(self):
        taken = []

        def endless():
            while True:
                taken.append(str(len(taken)))
                yield taken[-1]

        for result in self.client(found).look_up(endless(), batch_size=3):
            if result["asked"] == "4":
                break
        self.assertEqual((len(taken), len(self.sent)), (7, 2))

    def test_use_get_where_a_proxy_rejects_query(self):
        for status in (405, 501):
            values = [f"http://a.example/?x={number}" for number in range(250)]
            client = self.client(rejecting(status))
            self.assertEqual(self.asked(client, values), values)
            self.assertEqual(self.asked(client, ["0", "1"]), ["0", "1"])
            sent = [(sent.method, len(sent.query.get("value", []))) for sent in self.sent]
            self.assertEqual(sent, [("QUERY", 0), ("GET", 100), ("GET", 100), ("GET", 50), ("GET", 2)])
            self.assertEqual(self.sent[1].query["minConfidence"], ["5"])

    def test_with_get_have_no_url_longer_than_7_kb_but_that_of_a_single_value(self):
        values = ["€" * 100 + str(number) for number in range(90)] + ["x" * 8_000, "y"]
        self.assertEqual(self.asked(self.client(rejecting(405)), values), values)
        long = [sent.query["value"] for sent in self.sent if len(sent.target) > 7_000]
        self.assertEqual(long, [["x" * 8_000]])

    def test_with_get_do_not_know_values_that_no_url_takes(self):
        values = ["", "a", "x" * 8_193, "b\0", "c"]
        results = list(self.client(rejecting(405)).look_up(values))
        self.assertEqual([result["asked"] for result in results], values)
        self.assertEqual([result["known"] for result in results], [False, True, False, False, True])
        self.assertEqual(self.sent[-1].query["value"], ["a", "c"])

    def test_of_a_text_send_it_in_parts_and_yield_an_observable_once(self):
        def observables(sent):
            values = sorted(set(sent.body.split()))
            data = [{"asked": value, "type": "DOMAIN", "value": value, "known": True} for value in values]
            return 200, {}, json.dumps({"data": data}).encode()

        text = "one.example two.example\n" * 5_000
        results = list(self.client(observables).look_up_text(text))
        self.assertEqual([result["value"] for result in results], ["one.example", "two.example"])
        self.assertEqual("".join(sent.body for sent in self.sent), text)
        self.assertLessEqual(max(len(sent.body) for sent in self.sent), 48_000)
        self.assertEqual(self.sent[0].headers["Content-Type"], "text/plain; charset=utf-8")

    def test_of_a_text_of_one_line_cut_no_observable_at_any_offset(self):
        def addresses(sent):
            # Separated as the server does it.
            words = re.split(r"""[\s"'|,]+""", re.sub(r" *\[\.\] *", ".", sent.body))
            values = [word for word in words if re.fullmatch(r"\d+\.\d+\.\d+\.\d+", word)]
            data = [{"asked": value, "type": "IPV4", "value": value, "known": True} for value in values]
            return 200, {}, json.dumps({"data": data}).encode()

        for filler, value in (
            ('{"a":1,"b":"c"},', '{"ip":"185.132.17.160"},'),
            ("word,", "185.132.17.160,"),
            ("word  ", "185 [.] 132 [.] 17 [.] 160  "),
        ):
            client = self.client(addresses)
            before = filler * (47_930 // len(filler))
            for more in range(80):
                text = before + "y" * more + filler + value + filler * 20
                values = [result["value"] for result in client.look_up_text(text)]
                self.assertEqual(values, ["185.132.17.160"])
            self.assertEqual(len(self.sent), 160)

    def test_send_surrogates_as_replacement_characters(self):
        for script in (found, rejecting(405)):
            self.assertEqual(self.asked(self.client(script), ["\ud800 x", "y"]), ["\ufffd x", "y"])
        client = self.client([(200, {}, b'{"data": []}')])
        list(client.look_up_text("\ud800 x"))
        client.get_actor("\ud800")
        self.assertEqual((self.sent[0].body, self.sent[1].target), ("\ufffd x", "/intel/api/v1/actors/%EF%BF%BD"))

    def test_of_a_text_send_no_nul(self):
        list(self.client([(200, {}, b'{"data": []}')]).look_up_text("one.example\0two.example"))
        self.assertEqual([sent.body for sent in self.sent], ["one.example two.example"])

    def test_of_a_text_fail_where_a_proxy_rejects_query(self):
        self.assertEqual(self.error_of(list, self.client(rejecting(405)).look_up_text("a")).status, 405)


class Command(ScriptedTest):
    def test_reads_a_long_line_in_parts_that_cut_no_value(self):
        text = json.dumps(["185.132.17.160 €"] * 20_000, ensure_ascii=False, separators=(",", ":"))
        with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            with open(file.name, "rb") as opened:
                parts = list(_lines(opened))
        self.assertEqual("".join(parts), text)
        self.assertGreater(len(parts), 5)
        self.assertEqual({value for part in parts for value in re.findall(r"[\d.]+", part)}, {"185.132.17.160"})

    def test_names_a_remedy_where_a_proxy_rejects_query(self):
        self.client(rejecting(405))
        with tempfile.NamedTemporaryFile() as log, mock.patch.dict(os.environ, {"TIPLINE_KEY": "tip_test"}):
            log.write(b"evil.example\n")
            log.flush()
            server = f"http://127.0.0.1:{self.server.server_port}"
            with contextlib.redirect_stderr(io.StringIO()) as errors:
                self.assertEqual(main(["--server", server, "lookup", log.name]), 1)
            self.assertIn("405: The server answered 405. A proxy may reject the method QUERY: use --values.", errors.getvalue())
            with contextlib.redirect_stdout(io.StringIO()):
                self.assertEqual(main(["--server", server, "lookup", "--values", "--json", log.name]), 3)


def page(cursor, count, has_more=False):
    body = {"changes": [{"op": "remove"}] * count, "cursor": cursor, "hasMore": has_more}
    return 200, {}, json.dumps(body).encode()


class Changes(ScriptedTest):
    def test_are_pages_then_what_changes_with_rests_between_responses_without_news(self):
        client = self.client([page("1", 2, True), page("2", 1), page("2", 0), page("3", 0), page("4", 1)])
        cursors = []
        for changes in client.follow_indicator_changes(min_confidence=70):
            cursors.append(changes["cursor"])
            if cursors[-1] == "4":
                break
        self.assertEqual(cursors, ["1", "2", "3", "4"])
        self.assertEqual([sent.query.get("cursor", [None])[0] for sent in self.sent], [None, "1", "2", "2", "3"])
        self.assertEqual({sent.query["wait"][0] for sent in self.sent}, {"30"})
        self.assertEqual(self.waits, [1])

    def test_begin_with_a_cursor_yield_the_first_response_in_any_case_and_end_when_nothing_is_left(self):
        changes = list(self.client([page("c", 0)]).follow_feed_changes("edge", cursor="c", wait=0))
        self.assertEqual((len(changes), [sent.query for sent in self.sent]), (1, [{"cursor": ["c"], "wait": ["0"]}]))

    def test_go_on_when_a_server_that_has_answered_is_away(self):
        client = self.client([page("1", 1), *[failed(503)] * 30, page("2", 1), failed(503), failed(410)], retries=0)
        changes = client.follow_indicator_changes(cursor="0")
        self.assertEqual([next(changes)["cursor"] for _ in range(2)], ["1", "2"])
        self.assertEqual([sent.query["cursor"] for sent in self.sent], [["0"], *[["1"]] * 31])
        for number, seconds in enumerate(self.waits):
            most = min(8 * 2**number, 64)
            self.assertTrue(most / 2 <= seconds <= most)
        self.assertEqual(self.error_of(next, changes).status, 410)
        self.assertLessEqual(self.waits[-1], 8)

    def test_raise_when_the_server_does_not_answer_the_first_request_or_when_they_do_not_wait(self):
        self.assertEqual(self.error_of(next, self.client([failed(503)]).follow_actor_changes()).status, 503)
        changes = self.client([page("1", 1, True), failed(503)]).follow_actor_changes(wait=0)
        self.assertEqual(next(changes)["cursor"], "1")
        self.assertEqual(self.error_of(next, changes).status, 503)

    def test_raise_when_the_cursor_cannot_be_used(self):
        self.assertEqual(self.error_of(next, self.client([failed(410)]).follow_actor_changes(cursor="old")).status, 410)


class Pages(ScriptedTest):
    def test_are_read_to_the_last_item_and_no_further(self):
        for total in range(5):

            def of_two(sent, total=total):
                start = (int(sent.query["page"][0]) - 1) * 2
                body = {"data": list(range(total))[start : start + 2], "pageSize": 2, "total": total}
                return 200, {}, json.dumps(body).encode()

            self.assertEqual(list(self.client(of_two).iterate_actors(page_size=2)), list(range(total)))
            self.assertEqual(len(self.sent), max(1, (total + 1) // 2))

    def test_are_of_the_largest_size_that_the_api_allows(self):
        list(self.client([LIST]).iterate_indicators())
        self.assertEqual(self.sent[0].query, {"page": ["1"], "pageSize": ["500"]})


if __name__ == "__main__":
    unittest.main()
