#!/usr/bin/env python3
"""Tests of object_server with boto3 as the referee: what S3's own client says it is.

    tests/object_server/object_server_test.py --binary build/relassert/tests/object_server/object_server [TESTS]

boto3 comes from PyPI into --venv (requirements.txt); exit status 77 when no registry answers."""
import argparse
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "clients")]
import environment  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("--binary", required=True)
parser.add_argument("--venv", default=os.path.join(HERE, "../../build/s3-venv"))
parser.add_argument("only", nargs="*")
arguments = parser.parse_args()
environment.HERE, environment.REQUIREMENTS = HERE, os.path.join(HERE, "requirements.txt")
environment.inside_venv(os.path.abspath(arguments.venv))

import fault_tests  # noqa: E402
import network_tests  # noqa: E402
import s3_tests  # noqa: E402


def main():
    tests = [(name, lambda test=test: test(os.path.abspath(arguments.binary))) for module in (s3_tests, fault_tests, network_tests)
             for name, test in vars(module).items() if name.startswith("test_")]
    return 0 if environment.run_tests(tests, arguments.only) else 1


if __name__ == "__main__":
    sys.exit(main())
