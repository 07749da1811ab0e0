#!/usr/bin/env python3
"""Runs the isolation tests: scripts in which several sessions take turns, with who waits for whom.

    tests/isolation/run.py [--build build/relassert] [--record CONNINFO] [--print] [SPEC...]

A spec (specs/NAME.iso) has cases. `setup:` lines run before each case, `teardown:` lines after it. `[title]` begins a case,
`levels:` names the isolation levels it runs at (rc, rr, ser; default rc), `sN: SQL` is a step of session N; `begin` gets the
level. A step that waits for a lock, as pg_locks tells, is left waiting; its outcome is shown after the step that lets it
go. The transcript must be that of PostgreSQL 15 in expected/NAME.out, recorded with --record; where we mean to differ, the
case stands in expected/NAME.ouzel.out too, with the reason in the spec. Ends with "N passed, N failed"."""
import argparse
import difflib
import glob
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../scripts"))
from libpq import Connection  # noqa: E402
from run_sql_tests import Server  # noqa: E402

LEVELS = {"rc": "read committed", "rr": "repeatable read", "ser": "serializable"}
WAITS = 0.1  # seconds; timeouts in specs are far shorter, so that they have passed when a step is said to wait
PATIENCE = 30  # seconds until a step that neither ends nor waits for a lock is a failure


def read_spec(path):
    """[(title, level, setup, steps, teardown)]"""
    setup, teardown, cases = [], [], []
    for number, line in enumerate(open(path), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            cases.append({"title": line[1:-1], "levels": ["rc"], "steps": []})
            continue
        key, _, rest = line.partition(":")
        rest = rest.strip()
        if key == "setup" and not cases:
            setup.append(rest)
        elif key == "teardown" and not cases:
            teardown.append(rest)
        elif key == "levels":
            cases[-1]["levels"] = rest.split()
        elif key[0] == "s" and key[1:].isdigit():
            cases[-1]["steps"].append((key, rest))
        else:
            raise SystemExit(f"{path}:{number}: what is this? {line}")
    return [(f"{c['title']} ({LEVELS[level]})", level, setup, c["steps"], teardown) for c in cases for level in c["levels"]]


class Case:
    def __init__(self, conninfo, control, level):
        self.conninfo, self.control, self.level = conninfo, control, level
        self.sessions, self.waiting, self.lines = {}, {}, []

    def session(self, name):
        if name not in self.sessions:
            self.sessions[name] = Connection(self.conninfo)
        return self.sessions[name]

    def settle(self, running):
        """Wait until each session of `running` has ended its statement or waits for a lock; {name: lines or None}."""
        outcome, deadline, pause, since = {}, time.monotonic() + PATIENCE, 0.0005, {}
        while True:
            for name in running:
                if outcome.get(name) is None:
                    outcome[name] = self.sessions[name].result()
            open_names = [n for n in running if outcome[n] is None]
            if not open_names:
                return outcome
            time.sleep(pause)
            pause = min(pause * 2, 0.02)
            rows = self.control.run("SELECT pid FROM pg_locks WHERE NOT granted")
            blocked = {int(r) for r in rows if r.isdigit()}
            # Who was about to end may have done so while pg_locks was read.
            for name in open_names:
                outcome[name] = self.sessions[name].result()
            now = time.monotonic()
            since = {n: since.get(n, now) for n in open_names if outcome[n] is None and self.sessions[n].pid in blocked}
            if all(outcome[n] is not None or (n in since and now - since[n] > WAITS) for n in open_names):
                return outcome
            if time.monotonic() > deadline:
                raise SystemExit(f"{open_names} neither ended nor wait for a lock; so far:\n" + "\n".join(self.lines))

    def step(self, name, sql):
        if name in self.waiting:
            raise SystemExit(f"{name} still waits and cannot run: {sql}; so far:\n" + "\n".join(self.lines))
        text = sql
        if sql == "begin":
            text = "BEGIN ISOLATION LEVEL " + LEVELS[self.level]
        self.session(name).send(text)
        self.waiting[name] = None
        outcome = self.settle(sorted(self.waiting))
        own = outcome[name]
        self.lines.append(f"{name}: {sql}" + ("  <waits>" if own is None else ""))
        if own is not None:
            self.lines.extend("    " + line for line in own)
            del self.waiting[name]
        for other in sorted(self.waiting):
            if other in outcome and outcome[other] is not None:
                self.lines.append(f"    {other} goes on")
                self.lines.extend("        " + line for line in outcome[other])
                del self.waiting[other]

    def close(self):
        """Roll back what is open; whoever waits is let go by that."""
        deadline = time.monotonic() + PATIENCE
        left = dict(self.sessions)
        while left and time.monotonic() < deadline:
            for name, session in list(left.items()):
                if name in self.waiting:
                    if session.result() is None:
                        continue
                    del self.waiting[name]
                session.run("ROLLBACK")
                session.close()
                del left[name]
            time.sleep(0.001)


def run_spec(path, conninfo):
    """{title: transcript}"""
    control, out = Connection(conninfo), {}
    for title, level, setup, steps, teardown in read_spec(path):
        case = Case(conninfo, control, level)
        for sql in teardown:  # remains of a failed run
            control.run(sql)
        for sql in setup:
            for line in control.run(sql):
                if line.startswith("ERROR"):
                    raise SystemExit(f"{path}: setup: {sql}: {line}")
        try:
            for name, sql in steps:
                case.step(name, sql)
        finally:
            case.close()
        for sql in teardown:
            control.run(sql)
        out[title] = "\n".join(case.lines)
    control.close()
    return out


def read_transcripts(path):
    out = {}
    if os.path.exists(path):
        for part in open(path).read().split("== ")[1:]:
            title, _, body = part.partition("\n")
            out[title] = body.rstrip("\n")
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build/relassert")
    parser.add_argument("--record", metavar="CONNINFO")
    parser.add_argument("--conninfo", help="a server that runs already")
    parser.add_argument("--print", action="store_true", help="show our transcripts")
    parser.add_argument("specs", nargs="*")
    args = parser.parse_args()
    specs = args.specs or sorted(glob.glob(os.path.join(HERE, "specs/*.iso")))
    expected_path = lambda spec, suffix: os.path.join(HERE, "expected", os.path.basename(spec)[:-4] + suffix)
    if args.record:
        for spec in specs:
            with open(expected_path(spec, ".out"), "w") as out:
                for title, body in run_spec(spec, args.record).items():
                    out.write(f"== {title}\n{body}\n\n")
        return 0
    server = None
    if not args.conninfo:
        server = Server(args.build)
        server.start()
    conninfo = args.conninfo or f"host=127.0.0.1 port={server.port} user=postgres dbname=postgres"
    passed = failed = 0
    try:
        for spec in specs:
            expected = read_transcripts(expected_path(spec, ".out")) | read_transcripts(expected_path(spec, ".ouzel.out"))
            for title, body in run_spec(spec, conninfo).items():
                if args.print:
                    print(f"== {title}\n{body}\n")
                if body == expected.get(title):
                    passed += 1
                    continue
                failed += 1
                print(f"FAILED {os.path.basename(spec)}: {title}")
                print("\n".join(difflib.unified_diff(expected.get(title, "").split("\n"), body.split("\n"), "expected", "found",
                                                     lineterm="", n=3)))
    finally:
        if server:
            server.stop()
            server.remove()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
