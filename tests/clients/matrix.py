#!/usr/bin/env python3
"""docs/CLIENTS.md: of the tests that PostgreSQL 15 passes in the tools' own suites, those that Ouzel passes.

    tests/clients/matrix.py --binary build/release/ouzel [--only asyncpg,psycopg2] [--cache build/suites] [--write]

Each suite runs against PostgreSQL 15 (Debian package postgresql-15) and against Ouzel, one after the other; the outcomes are kept in
the cache. --write makes the page of the latest outcomes of all suites. The exit status tells whether a test fails for a reason that
is not known."""
import argparse
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "scripts")]

import environment  # noqa: E402
import suites  # noqa: E402
from record_expected import throw_away_postgres  # noqa: E402

PAGE = os.path.join(ROOT, "docs/CLIENTS.md")
HEAD = """# Clients

The tools' own test suites, run against PostgreSQL 15 and against Ouzel by `make clients`, which writes this page. A test counts if
PostgreSQL passes it. Where the authors publish no tests, ours do what the tool's users do, and must see the same on both servers.
`tests/clients/suites/` says which tests run, and knows the reasons below.

| Tool | Version | Tests | PostgreSQL 15 passes | Ouzel passes of these | |
|---|---|---|---|---|---|
"""


def reason_of(suite, test):
    return next((reason for pattern, reason in suite.missing if re.search(pattern, test)), None)


class Result:
    """Of one suite: what PostgreSQL passes, and what of it Ouzel fails. Kept between runs."""

    def __init__(self, suite, expected, found):
        self.suite = suite
        self.outcomes = [expected, found]
        self.counted = sorted(test for test, outcome in expected.items() if outcome == "passed")
        self.failed = [test for test in self.counted if found.get(test) != "passed"]

    @staticmethod
    def file(suite):
        return os.path.join(suite.directory, "outcomes.json")

    @classmethod
    def kept(cls, suite):
        if not os.path.exists(cls.file(suite)):
            return None
        with open(cls.file(suite)) as file:
            return cls(suite, *json.load(file))

    def keep(self):
        with open(self.file(self.suite), "w") as file:
            json.dump(self.outcomes, file)

    def row(self):
        passed = len(self.counted) - len(self.failed)
        share = 1000 * passed // max(1, len(self.counted)) / 10  # 100 only if all pass
        return f"| {self.suite.package} | {self.suite.version()} | {self.suite.what} | {len(self.counted):,} | {passed:,} | {share:.1f} % |"

    def unexplained(self):
        return [test for test in self.failed if not reason_of(self.suite, test)]

    def section(self):
        lines = [f"## {self.suite.package}", ""]
        for reason in dict.fromkeys(reason for _, reason in self.suite.missing):
            count = sum(reason_of(self.suite, test) == reason for test in self.failed)
            if count:
                lines.append(f"* {reason}: {count} {'test' if count == 1 else 'tests'}")
        lines += [f"* {test}" for test in self.unexplained()]
        return "\n".join(lines) + "\n" if self.failed else ""


def run(suite, conninfo, server):
    suite.prepare()
    words = dict(word.split("=", 1) for word in conninfo.split())
    expected = suite.run(suites.Server(words["host"], int(words["port"]), words["user"], is_referee=True))
    found = suite.run(suites.Server(server.host, server.port))
    result = Result(suite, expected, found)
    if not result.counted:
        raise SystemExit(f"{suite.package}: PostgreSQL passes no test")
    result.keep()
    print(result.row(), flush=True)
    for test in result.unexplained():
        print("  fails:", test, flush=True)
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--cache", default=os.path.join(ROOT, "build/suites"))
    parser.add_argument("--only", default="", help="packages, with commas between")
    parser.add_argument("--write", action="store_true", help="write docs/CLIENTS.md")
    args = parser.parse_args()
    only = set(filter(None, args.only.split(",")))
    chosen = [suite(args.cache) for suite in suites.ALL if not only or suite.package in only]
    for suite in chosen:
        if suite.absent():
            print(f"{suite.package} is skipped: this machine has no {' and no '.join(suite.absent())}", flush=True)
    chosen = [suite for suite in chosen if not suite.absent()]
    server = environment.Server(args.binary)
    with throw_away_postgres() as conninfo:
        results = [run(suite, conninfo, server) for suite in chosen]
    stopped = server.stop()
    if args.write:
        known = [result for suite in suites.ALL if (result := Result.kept(suite(args.cache)))]
        page = HEAD + "".join(result.row() + "\n" for result in known)
        page += "".join("\n" + result.section() for result in known if result.failed)
        with open(PAGE, "w") as file:
            file.write(page)
    return 0 if stopped and not any(result.unexplained() for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
