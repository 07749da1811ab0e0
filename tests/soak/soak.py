#!/usr/bin/env python3
"""A server under everything at once, which has at the end what it had after the warm-up (README.md).

    tests/soak/soak.py --binary ouzel [--minutes 30] [--memory 512MB] [--port 0]"""
import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from workloads import SETUP, WORKLOADS

QUIET_SECONDS = 13  # threads that are idle end after ten; freed memory goes back to the system meanwhile
# What may be more at the end: a number and a part of what it was.
SLACK = {"resident MB": (64, 0.1), "files": (40, 0.1), "handles": (16, 0), "threads": (4, 0), "sessions": (0, 0)}
ACCOUNT_SLACK = (16, 0.1)  # MB
FREE_ACCOUNTS = ("cache", "cache kept", "used", "peak", "limit", "withheld")  # bounded by the limit, or not of this moment


class Server:
    def __init__(self, binary, memory, directory):
        self.data = os.path.join(directory, "data")
        self.out = open(os.path.join(directory, "out"), "w+")
        self.log = open(os.path.join(directory, "log"), "w+")
        self.process = subprocess.Popen([binary, "serve", "--data", self.data, "--port", "0", "--memory-limit", memory, "--checkpoint-wal-size", "32MB"],
                                        stdout=self.out, stderr=self.log)
        for _ in range(600):
            self.out.seek(0)
            found = re.search(r"-p (\d+)", self.out.read())
            if found: break
            time.sleep(0.1)
        else:
            raise SystemExit("the server did not start")
        self.port = found.group(1)

    def psql(self, text, timeout=600):
        return subprocess.run(self.command(), input=text, capture_output=True, text=True, timeout=timeout)

    def command(self):
        return ["psql", "-XAtq", "-h", "127.0.0.1", "-p", self.port, "-U", "postgres"]

    def ask(self, text):
        result = self.psql(text)
        if result.returncode != 0 or "ERROR" in result.stderr: raise SystemExit(f"{text}: {result.stderr}")
        return result.stdout.strip()

    def sample(self):
        found = {}
        with open(f"/proc/{self.process.pid}/status") as file:
            status = file.read()
        found["resident MB"] = int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) >> 10
        found["threads"] = int(re.search(r"Threads:\s+(\d+)", status).group(1))
        found["handles"] = len(os.listdir(f"/proc/{self.process.pid}/fd"))
        found["files"] = sum(len(files) for _, _, files in os.walk(self.data))
        found["sessions"] = int(self.ask("SELECT count(*) - 1 FROM pg_stat_activity"))
        for line in self.ask("SELECT * FROM ouzel_stat_memory").splitlines():
            account, size = line.split("|")[:2]
            if account == "resident" or account.startswith("allocated by"): continue  # not of the ledger; looked at above
            found["ledger " + account] = int(size) >> 20
        return found

    def thread_names(self):
        return sorted(open(f"/proc/{self.process.pid}/task/{task}/comm").read().strip() for task in os.listdir(f"/proc/{self.process.pid}/task"))


class Load:
    """All workloads, each again and again on a thread of its own while it is on."""

    def __init__(self, server):
        self.server, self.on, self.over = server, threading.Event(), False
        self.rounds, self.problems, self.busy, self.lock = {}, [], 0, threading.Lock()
        self.threads = [threading.Thread(target=self.run, args=(name, work, i), daemon=True) for i, (name, work) in enumerate(WORKLOADS.items())]
        for thread in self.threads: thread.start()

    def run(self, name, work, seed):
        chance = random.Random(seed)
        while not self.over:
            if not self.on.wait(0.2): continue
            with self.lock: self.busy += 1
            try:
                problem = work(self.server, chance)
            except Exception as error:
                problem = f"{type(error).__name__}: {error}"
            with self.lock:
                self.busy -= 1
                self.rounds[name] = self.rounds.get(name, 0) + 1
                if problem: self.problems.append(f"{name}: {problem}")
            if self.server.process.poll() is not None: return

    def rest(self):
        """Stop, and wait until what is under way has ended; the server is quiet then."""
        self.on.clear()
        while self.busy: time.sleep(0.1)
        for _ in range(2): self.server.ask("CHECKPOINT")
        time.sleep(QUIET_SECONDS)
        return self.server.sample()


def show(when, sample):
    print(f"{when:>9}  " + "  ".join(f"{name} {value}" for name, value in sample.items()), flush=True)


def excesses(begin, end):
    for name, was in begin.items():
        account = name.removeprefix("ledger ")
        if account != name and account in FREE_ACCOUNTS: continue
        fixed, part = SLACK.get(name, ACCOUNT_SLACK)
        if end[name] > was + fixed + was * part: yield f"{name}: {was} -> {end[name]}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--memory", default="512MB")
    arguments = parser.parse_args()
    directory = tempfile.mkdtemp(prefix="ouzel-soak-")
    server = Server(os.path.abspath(arguments.binary), arguments.memory, directory)
    failures = []
    try:
        server.ask(SETUP)
        load = Load(server)
        seconds = arguments.minutes * 60
        start = time.monotonic()

        def run_until(end):
            load.on.set()
            every = min(60, seconds / 12)
            while time.monotonic() < start + end and server.process.poll() is None:
                time.sleep(min(every, max(start + end - time.monotonic(), 0)))
                show(f"{time.monotonic() - start:.0f} s", server.sample())
            return load.rest()

        begin = run_until(seconds / 4)
        show("quiet", begin)
        end = run_until(seconds)
        show("quiet", end)
        load.over = True
        print("rounds: " + ", ".join(f"{name} {count}" for name, count in sorted(load.rounds.items())))
        failures += [f"after the warm-up -> at the end: {excess}" for excess in excesses(begin, end)] + load.problems[:20]
        if end["threads"] > begin["threads"]: print("threads: " + " ".join(server.thread_names()))
        server.process.send_signal(signal.SIGTERM)
        if server.process.wait(120) != 0: failures.append("the server did not end well")
    finally:
        if server.process.poll() is None: server.process.kill()
        shutil.rmtree(directory, ignore_errors=True)
    for failure in failures: print("FAILED  " + failure)
    print(f"{0 if failures else 1} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
