#!/usr/bin/env python3
"""Loads TPC-H at scale factor 0.1 through psql's \\copy and compares the 22 answers with those recorded from PostgreSQL 15.

    tests/tpch/check_answers.py --binary build/relassert/ouzel

The data come from tpchgen-cli (PyPI), installed into build/test-venv."""
import argparse
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(ROOT, "bench/tpch"), os.path.join(ROOT, "scripts")]
import workload
from run_sql_tests import Server

VENV = os.path.join(ROOT, "build/test-venv")
SKIPPED = 77 # the exit status that ctest takes for it
SCALE = 0.1


def generator():
    tool = os.path.join(VENV, "bin/tpchgen-cli")
    if not os.path.exists(tool):
        if not os.path.exists(os.path.join(VENV, "bin/pip")):
            subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
        if subprocess.run([os.path.join(VENV, "bin/pip"), "-q", "install", "tpchgen-cli"]).returncode != 0:
            print("skipped: the generator tpchgen-cli cannot be installed from PyPI")
            sys.exit(SKIPPED)
    return tool


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    args = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="ouzel-tpch-") as csv:
        subprocess.run([generator(), "csv", "-s", str(SCALE), f"--output-dir={csv}"], check=True, stdout=subprocess.DEVNULL)
        server = Server(os.path.relpath(os.path.dirname(os.path.abspath(args.binary)), ROOT))
        server.start()
        psql = ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(server.port), "-U", "postgres"]
        try:
            for statement in workload.schema():
                subprocess.run(psql + ["-c", statement], check=True)
            for table in workload.TABLES:
                subprocess.run(psql + ["-c", f"\\copy {table} from '{csv}/{table}.csv' csv header"], check=True)
            for number, query in workload.queries(scale=SCALE).items():
                got = subprocess.run(psql + ["-At", "-F", "\t", "-c", query], capture_output=True, text=True)
                want = open(os.path.join(HERE, "answers", f"q{number:02}.txt")).read()
                if got.stdout != want:
                    wrong += 1
                    print(f"Q{number} differs: {got.stderr.strip() or got.stdout[:300]}")
        finally:
            server.stop()
            server.remove()
    print(f"{22 - wrong} passed, {wrong} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
