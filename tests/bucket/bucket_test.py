#!/usr/bin/env python3
"""A database in a bucket: it is there for the next server with nothing but the URL, one server writes at a time, what the
network does to requests is seen by nobody, what it does to bytes is told with the object's name.

    tests/bucket/bucket_test.py --binary ouzel --object-server object_server [--only NAME]"""
import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "object_server"))
from server import KEY, SECRET, ObjectServer


class Failure(Exception):
    pass


def check(condition, message):
    if not condition:
        raise Failure(message)


class Server:
    """An Ouzel on a bucket with a log directory of its own, or of a predecessor."""
    binary = None

    def __init__(self, bucket, log, *flags, wait=True):
        self.log = log
        address = f"s3://data/base?endpoint={bucket.url}&path_style=true&region=us-east-1"
        self.output = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [self.binary, "serve", "--data", address, "--wal", log, "--port", "0", "--threads", "2", "--memory-limit", "256MB",
             "--lease-seconds", "1", *flags], stdout=self.output, stderr=subprocess.STDOUT,
            env=dict(os.environ, AWS_ACCESS_KEY_ID=KEY, AWS_SECRET_ACCESS_KEY=SECRET))
        self.port = self.ready() if wait else None

    def text(self):
        self.output.seek(0)
        return self.output.read()

    def ready(self, seconds=60):
        for _ in range(seconds * 20):
            found = re.search(r"psql -h \S+ -p (\d+)", self.text())
            if found: return found.group(1)
            if self.process.poll() is not None: break
            time.sleep(0.05)
        raise Failure("the server did not start: " + self.text())

    def sql(self, text, fails=False):
        result = subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-v", "VERBOSITY=verbose", "-h", "127.0.0.1", "-p", self.port,
                                 "-U", "postgres", "-c", text], capture_output=True, text=True, timeout=120)
        if fails:
            check(result.returncode != 0, f"should have failed: {text}")
            return result.stderr
        check(result.returncode == 0, f"{text}: {result.stderr}{self.text()}")
        return result.stdout.strip()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        check(self.process.wait(60) == 0, "the server did not end well: " + self.text())

    def kill(self):
        self.process.kill()
        self.process.wait()


def fill(server, rows=200_000):
    server.sql(f"CREATE TABLE t AS SELECT g AS n, md5(g::text) AS s FROM generate_series(1, {rows}) g")


SUMS = "SELECT count(*), sum(n), min(s), max(s) FROM t"


def the_bucket_is_the_database(bucket, directory):
    first = Server(bucket, directory("log"))
    fill(first)
    first.sql("CREATE SEQUENCE ids; SELECT nextval('ids'); UPDATE t SET s = 'changed' WHERE n <= 10; DELETE FROM t WHERE n > 199990")
    answer = first.sql(SUMS)
    first.stop()
    second = Server(bucket, directory("empty"))
    check(second.sql(SUMS) == answer, "another machine has other rows")
    check(second.sql("SELECT nextval('ids')") == "2", "the sequence began anew")
    second.stop()


def the_log_holds_what_the_bucket_does_not(bucket, directory):
    first = Server(bucket, directory("log"))
    fill(first)
    first.sql("CHECKPOINT")
    first.sql("INSERT INTO t SELECT g, 'more' FROM generate_series(1, 1000) g")
    answer = first.sql(SUMS)
    first.kill()
    lost = Server(bucket, directory("empty"), wait=False)
    check(lost.process.wait(30) != 0 and "write-ahead log is missing" in lost.text(), "it started without the log: " + lost.text())
    second = Server(bucket, first.log)
    check(second.sql(SUMS) == answer, "acknowledged rows are gone")
    second.stop()


def one_server_writes(bucket, directory):
    first = Server(bucket, directory("log"))
    second = Server(bucket, directory("other"), wait=False)
    check(second.process.wait(30) != 0 and "in use" in second.text(), "two servers write: " + second.text())
    fill(first, 1000)
    first.stop()


def a_race_has_one_winner(bucket, directory):
    racers = [Server(bucket, directory(f"log{i}"), wait=False) for i in range(4)]
    started = []
    for racer in racers:
        try:
            racer.port = racer.ready(20)
            started.append(racer)
        except Failure:
            pass
    check(len(started) == 1, f"{len(started)} of 4 servers started")
    fill(started[0], 1000)
    started[0].stop()


def who_was_stopped_commits_no_more(bucket, directory):
    first = Server(bucket, directory("log"))
    fill(first, 1000)
    first.sql("CHECKPOINT")
    first.process.send_signal(signal.SIGSTOP)
    second = Server(bucket, directory("other"), "--take-over")
    second.sql("INSERT INTO t VALUES (0, 'second')")
    writer = subprocess.Popen(["psql", "-Xq", "-h", "127.0.0.1", "-p", first.port, "-U", "postgres", "-c", "INSERT INTO t VALUES (0, 'first')"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    first.process.send_signal(signal.SIGCONT)
    check(writer.wait(60) != 0, "a COMMIT was acknowledged after the take-over")
    check(first.process.wait(60) != 0 or "taken over" in first.text(), "the first server lives on: " + first.text())
    check(second.sql("SELECT string_agg(s, ',') FROM t WHERE n = 0") == "second", "both have written")
    second.stop()


def faults_of_the_network_are_not_seen(bucket, directory):
    bucket.set(error=0.1, reset_body=0.05, stall_body=0.02, stall_ms=1000, seed=3)
    first = Server(bucket, directory("log"))
    fill(first)
    answer = first.sql(SUMS)
    first.sql("CHECKPOINT")
    first.stop()
    second = Server(bucket, directory("empty"))
    check(second.sql(SUMS) == answer, "another answer")
    second.stop()
    check(sum(bucket.counters()["faults"].values()) > 0, "there were no faults")


def changed_bytes_are_told(bucket, directory):
    first = Server(bucket, directory("log"))
    fill(first)
    first.stop()
    second = Server(bucket, directory("empty"))
    bucket.set(flip=1, match="block", methods="GET")
    told = second.sql(SUMS, fails=True)
    check("XX001" in told and re.search(r'in object "table/\d+/block/', told), "the error does not name the object: " + told)
    bucket.set(flip=0)
    check(second.sql(SUMS).startswith("200000|"), "the server did not recover")
    second.stop()


def scans_read_ahead(bucket, directory):
    first = Server(bucket, directory("log"))
    fill(first, 1_500_000)
    sums = "SELECT count(*), sum(n), sum(length(s)), count(*) FILTER (WHERE n % 7 = 0) FROM t"
    answer = first.sql(sums)
    first.stop()
    bucket.set(latency_ms=20, reset=1)
    second = Server(bucket, directory("empty"))
    at_start = bucket.counters()["requests"]["GetObject"]
    plan = second.sql("EXPLAIN ANALYZE " + sums)
    # Page by page it would be more than two hundred requests, one after the other for each worker.
    check("Object Reads: " in plan, "the plan does not tell of reads: " + plan)
    requests = bucket.counters()["requests"]["GetObject"] - at_start
    check(requests <= 40, f"{requests} requests")
    check(second.sql(sums) == answer, "another answer")
    again = bucket.counters()["requests"]["GetObject"] - at_start - requests
    check(again <= 3, f"what is cached was read again: {again}")  # second tries of stragglers may come late
    again = "SELECT sum(x) FROM generate_series(1, 3) g, LATERAL (SELECT sum(n + g) AS x FROM t) q"  # the scan goes over t three times
    check(second.sql(again) == second.sql("SELECT sum(n) * 3 + count(*) * 6 FROM t"), "rewound scans")
    check(second.sql("SELECT n FROM t WHERE n = 1234567") == "1234567", "a row is not found")
    check(second.sql("SELECT count(*) FROM (SELECT n FROM t LIMIT 5) x") == "5", "LIMIT")
    second.stop()
    small = Server(bucket, directory("small"), "--memory-limit", "32MB")
    many = [subprocess.Popen(["psql", "-XAtq", "-h", "127.0.0.1", "-p", small.port, "-U", "postgres", "-c", sums], stdout=subprocess.PIPE, text=True)
            for _ in range(4)]
    for client in many:
        check(client.communicate(timeout=120)[0].strip() == answer, "another answer with little memory")
    stopped = small.sql(f"SET statement_timeout = 5; SELECT count(*) FROM t a JOIN t b ON a.s = b.s WHERE a.n % 2 = 0", fails=True)
    check("57014" in stopped, stopped)
    check(small.sql(sums) == answer, "another answer after a cancelled scan")
    small.stop()


def nothing_is_left_over(bucket, directory):
    log = directory("log")
    server = Server(bucket, log)
    fill(server)
    for _ in range(3):
        server.sql("CREATE TABLE other AS SELECT * FROM t")
        server.process.kill()
        server.process.wait()
        server = Server(bucket, log)
        server.sql("DROP TABLE other")
    server.sql("DROP TABLE t; CHECKPOINT")
    server.stop()
    last = Server(bucket, directory("empty"))
    last.stop()
    left = [name for root, _, names in os.walk(bucket.root) for name in names if "block" in root]
    check(not left, f"blocks are left: {left}")


TESTS = [the_bucket_is_the_database, the_log_holds_what_the_bucket_does_not, one_server_writes, a_race_has_one_winner,
         who_was_stopped_commits_no_more, faults_of_the_network_are_not_seen, changed_bytes_are_told, scans_read_ahead, nothing_is_left_over]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--object-server", required=True)
    parser.add_argument("--only")
    args = parser.parse_args()
    Server.binary = args.binary
    failed = 0
    for test in TESTS:
        if args.only and args.only not in test.__name__: continue
        home = tempfile.mkdtemp(prefix="bucket-test-")
        bucket = ObjectServer(args.object_server, bucket="data", credentials=f"{KEY}:{SECRET}")
        start = time.monotonic()
        try:
            test(bucket, lambda name: os.path.join(home, name))
            print(f"passed  {test.__name__} ({time.monotonic() - start:.1f} s)", flush=True)
        except (Failure, subprocess.TimeoutExpired) as failure:
            failed += 1
            print(f"FAILED  {test.__name__}: {failure}", flush=True)
        finally:
            bucket.stop()
            subprocess.run(["pkill", "-9", "-f", home], check=False)
            shutil.rmtree(home, ignore_errors=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
