#!/usr/bin/env python3
"""pg_dump, pg_restore and pg_dumpall: a database with an object of each kind is dumped as PostgreSQL dumps it, and restored in
every format it is the same.

    tests/clients/dump_clients.py --binary build/relassert/ouzel               starts a server of its own
    tests/clients/dump_clients.py --target 127.0.0.1:5432 [--record]           uses that one; --record: PostgreSQL's dump is dump/expected.sql"""
import argparse
import difflib
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import environment  # noqa: E402

DIRECTORY = os.path.join(environment.HERE, "dump")
ROLES = ["rich_owner", "rich_reader"]


class Tools:
    def __init__(self, server):
        self.connection = ["-h", server.host, "-p", str(server.port), "-U", "postgres"]

    def run(self, program, *arguments, **options):
        done = subprocess.run([program, *self.connection, *arguments], capture_output=True, text=True, **options)
        assert done.returncode == 0 and "ERROR" not in done.stderr, f"{program} {' '.join(arguments)}: {done.stderr[-2000:]}"
        return done.stdout

    def sql(self, database, *statements):
        for statement in statements:
            self.run("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", database, "-c", statement)

    def file(self, database, path):
        self.run("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", database, "-f", path)

    def dump(self, database):
        """The text of a dump, without what differs from one run and server to the next."""
        text = self.run("pg_dump", "-d", database)
        return re.sub(r"^(\\(un)?restrict .*|-- Dumped (from|by) .*)\n", "", text, flags=re.M)


def same(expected, found):
    difference = list(difflib.unified_diff(expected.splitlines(), found.splitlines(), "expected", "found", lineterm="", n=2))
    assert not difference, "\n".join(difference[:60])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary")
    parser.add_argument("--target")
    parser.add_argument("--record", action="store_true")
    arguments = parser.parse_args()
    server = environment.Server(arguments.binary, arguments.target)
    tools = Tools(server)
    tools.sql("postgres", *[f"CREATE ROLE {role}" for role in ROLES], "CREATE DATABASE dumped")
    tools.file("dumped", os.path.join(DIRECTORY, "schema.sql"))
    first = tools.dump("dumped")
    if arguments.record:
        with open(os.path.join(DIRECTORY, "expected.sql"), "w") as file:
            file.write(first)
        return 0
    with tempfile.TemporaryDirectory() as home:
        def restored(name, format, *options):
            """The dump of what a dump in this format has restored."""
            path = os.path.join(home, name)
            tools.run("pg_dump", "-d", "dumped", "-F", format, "-f", path, *options)
            tools.sql("postgres", f"CREATE DATABASE {name}")
            if format == "p":
                tools.file(name, path)
            else:
                tools.run("pg_restore", "-d", name, *options, path)
            return tools.dump(name)

        def globals_are_dumped():
            text = tools.run("pg_dumpall", "--globals-only")
            assert all(f"CREATE ROLE {role};" in text for role in ROLES), text

        with open(os.path.join(DIRECTORY, "expected.sql")) as file:
            expected = file.read()
        good = environment.run_tests([
            ("as PostgreSQL dumps it", lambda: same(expected, first)),
            ("plain", lambda: same(first, restored("of_text", "p"))),
            ("custom", lambda: same(first, restored("of_custom", "c"))),
            ("directory, made and restored by two", lambda: same(first, restored("of_directory", "d", "-j", "2"))),
            ("tar", lambda: same(first, restored("of_tar", "t"))),
            ("pg_dumpall --globals-only", globals_are_dumped)], [])
    return 0 if server.stop() and good else 1


if __name__ == "__main__":
    sys.exit(main())
