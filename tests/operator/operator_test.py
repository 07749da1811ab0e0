#!/usr/bin/env python3
"""What an operator does wrong is told by exactly one message that says what, where and what to do, with the right exit
status (2: the command line or the configuration is wrong; 1: what they name is). Nothing is half made, and nothing is lost:
once the mistake is taken back, the server starts and has all rows.

    tests/operator/operator_test.py --binary ouzel --object-server object_server [--only TEXT] [--jobs N] [--verbose]

Prints what failed, and with --verbose what did not, too.
The mistakes are tables in the files beside this one; stories.py has what happens while a server runs."""
import argparse
import concurrent.futures
import os
import shutil
import signal
import sys
import tempfile
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "object_server"))

import access_mistakes
import bucket_mistakes
import command_mistakes
import place_mistakes
import resource_mistakes
import stories
from machine import ROWS, ROWS_ANSWER, Place, Server
from mistake import Failure, check, messages, require_one, tree


def own_mounts():
    """Go on with mounts that end with this process; without the right to have some, tests that need them are skipped."""
    if os.environ.get("OUZEL_TEST_OWN_MOUNTS") or os.geteuid() != 0 or os.system("unshare -m true 2>/dev/null") != 0: return
    os.environ["OUZEL_TEST_OWN_MOUNTS"] = "1"
    os.execvp("unshare", ["unshare", "-m", sys.executable, *sys.argv])


def fill_in(place, text):
    return text.replace("{place}", place.root).replace("{data}", place.data).replace("{port}", str(place.port))


def make(mistake, place):
    """Make the mistake; the server's messages are what they have to be."""
    if mistake.prepare: mistake.prepare(place)
    if mistake.file is not None:
        text = mistake.file if isinstance(mistake.file, bytes) else fill_in(place, mistake.file)
        place.write("ouzel.conf", text, 0o600 if mistake.data == "new" else 0o644)
    before = tree(place.data)
    environment = {name: fill_in(place, value) for name, value in mistake.environment.items()}
    server = Server([*filter(None, [mistake.command]), *(fill_in(place, flag) for flag in mistake.flags)], environment, mistake.as_nobody, mistake.limits)
    place.others.append(server)
    if mistake.status is None:
        server.wait_until_ready()
        if mistake.answers: check(server.sql(ROWS) == ROWS_ANSWER, "rows are missing")
        require_one(server.stderr, mistake.says)
        server.stop()
        require_one(server.stderr, mistake.says)
        return
    status = server.end(mistake.seconds)
    require_one(server.stderr, mistake.says)
    check(status == mistake.status, f"the exit status is {status}, not {mistake.status}:\n{server.stderr}")
    check(server.text(server.out) == "", f"it said on stdout: {server.text(server.out)}")
    if mistake.data in ("new", "none") and not mistake.leaves: check(tree(place.data) == before, f"it left {tree(place.data)}")


def make_good(mistake, place):
    """Take the mistake back: a server starts, with all rows."""
    for other in place.others:
        if isinstance(other, Server) and other.process.poll() is None: other.stop()
    if mistake.mend: mistake.mend(place)
    if not mistake.answers or mistake.data == "none": return
    server = place.serve().wait_until_ready()
    place.others.append(server)
    if mistake.data == "new": server.sql("CREATE TABLE t (n integer)")
    else: check(server.sql(ROWS) == ROWS_ANSWER, "rows are lost")
    server.stop()
    check(not messages(server.stderr), f"the next start complains:\n{server.stderr}")


def run(test, root):
    """Why a test failed; empty: it did not."""
    place = None
    try:
        place = Place(test.data, root)
        if isinstance(test, stories.Story):
            test.tell(place)
        else:
            make(test, place)
            make_good(test, place)
        return ""
    except Failure as failure:
        return str(failure) or "it failed"
    except Exception:
        return traceback.format_exc()
    finally:
        if place: place.clear()


def lowest_port():
    with open("/proc/sys/net/ipv4/ip_unprivileged_port_start") as file: return int(file.read())


def why_skipped(test):
    if test.mounts and not os.environ.get("OUZEL_TEST_OWN_MOUNTS"): return "mounts of its own need root"
    program = getattr(test, "program", "")
    if program and not shutil.which(program): return f"{program} is not installed (scripts/install-deps --test)"
    if test.as_nobody and os.geteuid() != 0: return "another user needs root"
    if "port 80" in " ".join(getattr(test, "says", [])) and lowest_port() <= 80: return "every user may listen there"
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--object-server", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    own_mounts()
    # A job in the background of a shell ignores SIGINT, and servers would inherit that: they would not hear one that comes
    # before they have blocked it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    Server.binary, bucket_mistakes.object_server.binary = os.path.abspath(arguments.binary), arguments.object_server
    tables = [command_mistakes.MISTAKES, place_mistakes.MISTAKES, access_mistakes.MISTAKES, resource_mistakes.MISTAKES, bucket_mistakes.MISTAKES,
              stories.STORIES]
    tests = [test for table in tables for test in table if arguments.only in test.name]
    root = tempfile.mkdtemp(prefix="ouzel-operator-")
    os.chmod(root, 0o755)
    failures = 0
    try:
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            jobs = [(test, None if why_skipped(test) else pool.submit(run, test, root)) for test in tests]
            for test, job in jobs:
                if job is None:
                    print(f"skipped {test.name}: {why_skipped(test)}", flush=True)
                    continue
                reason = job.result()
                failures += reason != ""
                if reason: print(f"FAILED  {test.name}\n    " + reason.replace("\n", "\n    "), flush=True)
                elif arguments.verbose: print(f"ok  {test.name}", flush=True)
    finally:
        shutil.rmtree(root, ignore_errors=True)
    print(f"{len(tests) - failures} passed, {failures} failed")
    return 1 if failures or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
