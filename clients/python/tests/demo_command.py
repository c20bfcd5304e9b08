"""The command, against a server with the sample and a saved feed "edge"."""

import json
import os
import subprocess
import sys
import tempfile
import unittest


def run(*arguments, text="", **env):
    """Runs the command. Returns its exit code and output."""
    done = subprocess.run(
        [sys.executable, "-m", "tipline", *arguments],
        input=text,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, **env},
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


class Lookup(unittest.TestCase):
    def test_prints_known_values_of_a_log_once_and_ends_with_3(self):
        log = "10.0.0.1 GET http://fine.example/\n" * 3000
        code, output, errors = run("lookup", text=log + "GET http://185.132.17.160/x\n" * 20 + log)
        self.assertEqual((code, errors), (3, ""))
        self.assertEqual(output, "MALICIOUS 80  http://185.132.17.160/x  url-host 185.132.17.160 (Unit 42)\n")

    def test_ends_with_0_when_nothing_is_known(self):
        self.assertEqual(run("lookup", text="10.0.0.1 GET http://fine.example/\n"), (0, "", ""))

    def test_reads_a_value_a_line_from_a_file_and_prints_json(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("185[.]132[.]17[.]160\nunknown.example")
            file.flush()
            code, output, _ = run("lookup", "--values", "--json", file.name)
        self.assertEqual((code, [json.loads(line)["value"] for line in output.splitlines()]), (3, ["185.132.17.160"]))

    def test_answers_while_a_log_grows(self):
        command = [sys.executable, "-m", "tipline", "lookup", "-"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            process.stdin.write(b"GET http://185.132.17.160/x\n")
            process.stdin.flush()
            self.assertIn(b"url-host 185.132.17.160", process.stdout.readline())
            process.stdin.close()
            self.assertEqual(process.wait(), 3)


class Others(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.path = os.path.join(directory.name, "file")

    def test_context_of_a_known_value(self):
        code, output, _ = run("context", "185[.]132[.]17[.]160")
        context = json.loads(output)
        self.assertEqual((code, context["relation"], context["actors"][0]["name"]), (0, "exact", "APT28"))

    def test_context_of_an_unknown_value(self):
        self.assertEqual(run("context", "unknown.example"), (1, "", "unknown.example is not known.\n"))

    def test_list(self):
        code, output, _ = run("list", "indicators", "--limit", "3", "types=IPV4,DOMAIN", "minConfidence=70")
        types = [json.loads(line)["type"] for line in output.splitlines()]
        self.assertEqual((code, len(types), set(types) <= {"IPV4", "DOMAIN"}), (0, 3, True))

    def test_export_replaces_a_file_and_keeps_its_permissions(self):
        with open(self.path, "w", encoding="utf-8"):
            os.chmod(self.path, 0o640)
        self.assertEqual(run("export", "txt", "types=IPV4", "-o", self.path), (0, "", ""))
        with open(self.path, encoding="utf-8") as file:
            self.assertIn("185.132.17.160\n", file.readlines())
        self.assertEqual(os.stat(self.path).st_mode & 0o777, 0o640)
        self.assertEqual(os.listdir(os.path.dirname(self.path)), ["file"])

    def test_feed(self):
        code, output, _ = run("feed", "edge")
        self.assertEqual((code, "185.132.17.160" in output.splitlines()), (0, True))

    def test_changes_go_on_from_the_cursor_in_a_file(self):
        first, again = [run("changes", "minConfidence=70", "--cursor", self.path) for _ in range(2)]
        self.assertGreater(len(first[1].splitlines()), 100)
        self.assertEqual((first[0], again), (0, (0, "", "")))

    def test_a_cursor_of_other_filters_is_an_error_with_a_remedy(self):
        run("changes", "--feed", "edge", "--cursor", self.path)
        code, output, errors = run("changes", "minConfidence=70", "--cursor", self.path)
        self.assertEqual((code, output), (1, ""))
        self.assertIn(f"Remove {self.path}, discard the copy, and begin again.", errors)

    def test_errors(self):
        for arguments, env, code, message in (
            (["list", "actors"], {"TIPLINE_KEY": ""}, 2, "TIPLINE_KEY must be set to an API key."),
            (["list", "actors"], {"TIPLINE_KEY": "wrong"}, 1, "401: The API key is not valid."),
            (["list", "actors", "colour=red"], {}, 2, "with one of the names pageSize, active, q, uses."),
            (["list", "actors", "--colour"], {}, 2, "unrecognized arguments: --colour"),
            (["list", "actors"], {"TIPLINE_SERVER": "example.org"}, 2, "url must begin with http:// or https://."),
            (["export", "pdf"], {}, 1, "404: There is no such format."),
            (["lookup", "/does/not/exist"], {}, 1, "No such file"),
        ):
            with self.subTest(message=message):
                exit_code, output, errors = run(*arguments, **env)
                self.assertEqual((exit_code, output), (code, ""))
                self.assertIn(message, errors)


if __name__ == "__main__":
    unittest.main()
