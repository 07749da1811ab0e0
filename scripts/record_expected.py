#!/usr/bin/env python3
"""Records the expected results of .slt files from PostgreSQL 15, the referee of semantics.

    scripts/record_expected.py tests/sql/types/numeric.slt ...

Starts a throw-away PostgreSQL 15 (Debian package postgresql-15) unless --conninfo names a running one, and needs a
built slt_runner (--runner)."""
import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile

from free_port import free_port
from run_sql_tests import ROOT

BIN = "/usr/lib/postgresql/15/bin"


def as_postgres(command):
    """PostgreSQL refuses to run as root; the package made a user for it."""
    return ["runuser", "-u", "postgres", "--"] + command if os.geteuid() == 0 else command


@contextlib.contextmanager
def throw_away_postgres():
    """A PostgreSQL 15 with an empty database; gives its conninfo and goes at the end."""
    home = tempfile.mkdtemp(prefix="ouzel-referee-")
    data, port = os.path.join(home, "data"), free_port()
    if os.geteuid() == 0:
        shutil.chown(home, "postgres")
    run = lambda *command: subprocess.run(as_postgres(list(command)), check=True, stdout=subprocess.DEVNULL)
    run(f"{BIN}/initdb", "-D", data, "-U", "postgres", "--locale=C", "--encoding=UTF8", "-A", "trust")
    run(f"{BIN}/pg_ctl", "-w", "-D", data, "-l", os.path.join(home, "log"), "-o",
        f"-p {port} -c listen_addresses=127.0.0.1 -c timezone=UTC -c unix_socket_directories={home} "
        "-c max_prepared_transactions=64 -c shared_preload_libraries=pg_stat_statements", "start")
    try:
        yield f"host=127.0.0.1 port={port} user=postgres dbname=postgres"
    finally:
        run(f"{BIN}/pg_ctl", "-D", data, "-m", "immediate", "stop")
        shutil.rmtree(home, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--conninfo")
    parser.add_argument("--runner", default=os.path.join(ROOT, "build/relassert/tests/support/slt_runner"))
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    record = lambda conninfo: subprocess.call([args.runner, "--record", conninfo] + args.files)
    if args.conninfo:
        return record(args.conninfo)
    with throw_away_postgres() as conninfo:
        return record(conninfo)


if __name__ == "__main__":
    sys.exit(main())
