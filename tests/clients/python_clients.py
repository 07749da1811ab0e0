#!/usr/bin/env python3
"""What programs in Python do with psycopg 3, psycopg 2, asyncpg and SQLAlchemy, against a running server.

    tests/clients/python_clients.py --binary build/relassert/ouzel     starts a server of its own
    tests/clients/python_clients.py --target 127.0.0.1:5432            uses that one (PostgreSQL, to check the tests)

The libraries come from PyPI into --venv (requirements.txt); exit status 77 when no registry answers."""
import argparse
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import environment  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("--binary")
parser.add_argument("--target")
parser.add_argument("--venv", default=os.path.join(os.path.dirname(environment.HERE), "..", "build", "clients-venv"))
parser.add_argument("only", nargs="*")
arguments = parser.parse_args()
environment.inside_venv(os.path.abspath(arguments.venv))

import asyncio_clients  # noqa: E402
import psycopg2_clients  # noqa: E402
import psycopg_clients  # noqa: E402
import sqlalchemy_clients  # noqa: E402


def main():
    server = environment.Server(arguments.binary, arguments.target)
    tests = []
    for module in (psycopg_clients, psycopg2_clients, asyncio_clients, sqlalchemy_clients):
        tests += [(name, lambda test=test: test(server.host, server.port))
                  for name, test in vars(module).items() if name.startswith("test_")]
    good = environment.run_tests(tests, arguments.only)
    return 0 if server.stop() and good else 1


if __name__ == "__main__":
    sys.exit(main())
