#!/usr/bin/env python3
"""Runs tests/sql/**/*.slt against a server of a build, once per configuration.

    scripts/run_sql_tests.py [--build build/relassert] [--configs all|NAME,...] [FILE|DIRECTORY...]

A configuration is tests/configs/NAME.conf: lines `server: FLAGS`, `session: SQL`, `runner: FLAGS`. Without --configs the
plain one runs. Prints "N passed, N failed" last."""
import argparse
import concurrent.futures
import glob
import itertools
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from free_port import free_port

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SLOWEST = ("vector_size_2", "hash_zero", "spill_all")


class Server:
    """One ouzel process over a temporary directory."""

    def __init__(self, build, flags=(), data=None):
        self.binary = os.path.join(ROOT, build, "ouzel")
        self.flags, self.port = list(flags), free_port()
        self.data = data or tempfile.mkdtemp(prefix="ouzel-test-")
        self.log = open(os.path.join(self.data + ".log"), "ab")
        self.process = None

    def start(self):
        self.process = subprocess.Popen(
            [self.binary, "serve", "--data", self.data, "--port", str(self.port), *self.flags], stdout=self.log, stderr=self.log)
        for _ in range(3600):
            if self.process.poll() is not None:
                raise SystemExit(f"server ended at start, see {self.data}.log:\n" + open(self.data + ".log", errors="replace").read()[-4000:])
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.05)
        raise SystemExit("server does not listen")

    def stop(self, how=signal.SIGTERM):
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            try:
                self.process.wait(180)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise SystemExit("server did not stop on SIGTERM")
        return self.process.returncode if self.process else 0

    def remove(self):
        shutil.rmtree(self.data, ignore_errors=True)
        os.unlink(self.data + ".log")

    def conninfo(self):
        return f"host=127.0.0.1 port={self.port} user=postgres dbname=postgres"


def read_config(name):
    config = {"server": [], "session": [], "runner": []}
    if name == "plain":
        return config
    for line in open(os.path.join(ROOT, "tests/configs", name + ".conf")):
        if line.strip() and not line.startswith("#"):
            key, _, value = line.partition(":")
            config[key.strip()].append(value.strip())
    return config


def run_config(build, name, files):
    started = time.monotonic()
    config = read_config(name)
    server = Server(build, shlex.split(" ".join(config["server"])))
    server.start()
    # The runner asks for a restart through a pipe-like file: this script restarts the server when it sees SIGUSR1.
    restarted = os.path.join(server.data + ".restarted")

    def restart(*_):
        server.stop()
        server.start()
        open(restarted, "w").close()

    signal.signal(signal.SIGUSR1, restart)
    command = [os.path.join(ROOT, build, "tests/support/slt_runner"), "--config", name,
               "--restart", f"rm -f {restarted}; kill -USR1 {os.getpid()}; for i in $(seq 3600); do [ -e {restarted} ] && exit 0; sleep 0.1; done; exit 1"]
    for sql in config["session"]:
        command += ["--init", sql]
    command += shlex.split(" ".join(config["runner"])) + [server.conninfo()] + files
    runner = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    output = runner.communicate()[0]
    code = runner.returncode
    counts = re.findall(r"^(\d+) passed, (\d+) failed$", output, re.M)
    passed, failed = map(int, counts[-1]) if counts else (0, 1)
    died = server.process.poll() is not None
    stopped = server.stop()
    if died or stopped != 0:
        failed += 1
        output += f"\nserver ended with {stopped}; its log:\n" + open(server.data + ".log", errors="replace").read()[-8000:]
    elif code != 0 and failed == 0:
        failed = 1
    checked = subprocess.run([server.binary, "check", "--data", server.data], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if checked.returncode != 0:
        failed += 1
        output += "\nouzel check:\n" + checked.stdout[-4000:]
    if failed:
        print(f"--- configuration {name}\n{output}", flush=True)
    else:
        print(f"configuration {name}: {passed} passed ({time.monotonic() - started:.0f} s)", flush=True)
        print("".join(re.findall(r"^skipped .*\n", output, re.M)), end="", flush=True)
    if os.path.exists(restarted):
        os.unlink(restarted)
    server.remove()
    return passed, failed


def tests_of(named):
    """The file itself, or all tests below the directory."""
    if not os.path.isdir(named):
        return [named]
    return sorted(glob.glob(os.path.join(named, "**/*.slt"), recursive=True))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build/relassert")
    parser.add_argument("--configs", default="plain")
    parser.add_argument("files", nargs="*", metavar="FILE|DIRECTORY")
    args = parser.parse_args()
    names = [os.path.basename(p)[:-5] for p in sorted(glob.glob(os.path.join(ROOT, "tests/configs/*.conf")))]
    chosen = names if args.configs == "all" else args.configs.split(",")
    files = [f for named in args.files or [os.path.join(ROOT, "tests/sql")] for f in tests_of(named)]
    passed = failed = 0
    # The slowest first: nothing runs beside the last.
    chosen.sort(key=lambda name: name not in SLOWEST)
    # Tests wait for the disk, for locks and for timeouts most of the time: two configurations run at once, each in a process
    # of its own, to which the runner sends its signal.
    with concurrent.futures.ProcessPoolExecutor(min(2, len(chosen))) as pool:
        for good, bad in pool.map(run_config, itertools.repeat(args.build), chosen, itertools.repeat(files)):
            passed, failed = passed + good, failed + bad
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
