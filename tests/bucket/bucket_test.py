#!/usr/bin/env python3
"""A database in a bucket: it is there for the next server with nothing but the URL, one server writes at a time, what the
network does to requests is seen by nobody, what it does to bytes is told with the object's name.

    tests/bucket/bucket_test.py --binary ouzel --object-server object_server [--only NAME] [--cache]

With --cache every server has a cache (--cache of the server) of its own."""
import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "object_server"))
from server import KEY, SECRET, ObjectServer


class Failure(Exception):
    pass


def check(condition, message):
    if not condition:
        raise Failure(message)


class Server:
    """An Ouzel on a bucket with a log directory of its own, or of a predecessor; None: it only reads; False: it has no
    log, and commits wait for the bucket."""
    binary = None
    caches = None  # where every server gets one of its own
    started = []  # processes that a failed test leaves are ended by their ids

    def __init__(self, bucket, log, *flags, wait=True, data=None, temporary=None, environment={}):
        self.log = log
        address = data or f"s3://data/base?endpoint={bucket.url}&path_style=true&region=us-east-1"
        if self.caches and not data and "--cache" not in flags: flags += ("--cache", tempfile.mkdtemp(dir=self.caches) + ":64MB")
        self.output = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [self.binary, "serve", "--data", address, *self.log_flags(), "--port", "0", "--threads", "2", "--memory-limit", "256MB",
             "--lease-seconds", "1", *flags], stdout=self.output, stderr=subprocess.STDOUT,
            env=dict(os.environ, AWS_ACCESS_KEY_ID=KEY, AWS_SECRET_ACCESS_KEY=SECRET, **({"TMPDIR": temporary} if temporary else {}), **environment))
        self.started.append(self.process)
        self.port = self.ready() if wait else None

    def log_flags(self):
        if self.log is False: return ["--commit", "object_store"]
        return ["--wal", self.log] if self.log else ["--read-only"]

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

    def sql(self, text, fails=False, database="postgres"):
        result = subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-v", "VERBOSITY=verbose", "-h", "127.0.0.1", "-p", self.port,
                                 "-U", "postgres", "-d", database, "-c", text], capture_output=True, text=True, timeout=120)
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


def a_put_without_an_answer_is_known_after_a_conflict(bucket, directory):
    for seed in range(4):
        bucket.set(reset_after=0.3, conflict=0.25, seed=seed, methods="PUT")
        first = Server(bucket, directory(f"log{seed}"), "--take-over")
        first.sql("CREATE TABLE IF NOT EXISTS t (a int)")
        first.sql("CHECKPOINT")
        check("taken over" not in first.text(), "the server took its own put for another's: " + first.text())
        first.stop()


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


def files_with(directory, *texts):
    """Those below the directory that hold any of the texts."""
    found = []
    for path, _, names in os.walk(directory):
        for name in names:
            with open(os.path.join(path, name), "rb") as file:
                content = file.read()
            if any(text.encode() in content for text in texts): found.append(name)
    return found


def an_encrypted_database_opens_with_its_key(bucket, directory):
    keys = directory("keys")
    os.makedirs(keys, exist_ok=True)
    for name, key in (("own", "5a" * 32), ("other", "5b" * 32)):
        with open(os.path.join(keys, name), "w") as file:
            file.write(key + "\n")
    own, other = (["--encryption-key-file", os.path.join(keys, name)] for name in ("own", "other"))
    secret = "a needle that nobody may find"
    clear = Server(bucket, directory("clear log"), data=directory("clear"))
    for server in (Server(bucket, directory("log"), *own), clear):
        fill(server, 100_000)
        server.sql(f"CREATE TABLE needles AS SELECT '{secret}' AS needle; CHECKPOINT; INSERT INTO needles VALUES ('{secret}, again')")
        answer = server.sql(SUMS)
        found = files_with(server.log, secret) + files_with(directory("clear") if server is clear else bucket.root, secret, "needles", "OUZELOBJ")
        check(bool(found) == (server is clear), f"what can be read: {found}")
        server.kill()
    log = directory("log")
    for flags, told in (([], "the database is encrypted, and no key was given"), (other, "is encrypted with another key")):
        for where in (log, None):
            refused = Server(bucket, where, *flags, wait=False)
            check(refused.process.wait(30) == 1 and told in refused.text() and "HINT" in refused.text(), "not refused: " + refused.text())
    refused = Server(bucket, directory("clear log"), *own, data=directory("clear"), wait=False)
    check(refused.process.wait(30) == 1 and "is not encrypted" in refused.text(), "not refused: " + refused.text())
    second = Server(bucket, log, *own)
    check(second.sql(SUMS) == answer, "other rows with the key")
    check(second.sql("SELECT count(*) FROM needles") == "2", "a row of the log is missing")
    second.stop()
    reader = Server(bucket, None, *own)
    check(reader.sql(SUMS) == answer, "the reader has other rows")
    reader.stop()
    third = Server(bucket, directory("empty"), *own)
    bucket.set(flip=1, match="block", methods="GET")
    told = third.sql(SUMS, fails=True)
    check("XX001" in told and re.search(r'decryption failed in object "table/\d+/block/', told), "the error does not name the object: " + told)
    bucket.set(flip=0)
    check(third.sql(SUMS) == answer, "the server did not recover")
    third.stop()
    url = f"s3://data/base?endpoint={bucket.url}&path_style=true&region=us-east-1"
    checked = subprocess.run([Server.binary, "check", "--data", url, "--wal", directory("empty"), *own], capture_output=True, text=True, timeout=60,
                             env=dict(os.environ, AWS_ACCESS_KEY_ID=KEY, AWS_SECRET_ACCESS_KEY=SECRET))
    check(checked.returncode == 0 and "no problems found" in checked.stdout, checked.stdout + checked.stderr)


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
    stopped = small.sql("SET statement_timeout = 5; SELECT count(*) FROM t a JOIN t b ON a.s = b.s WHERE a.n % 2 = 0", fails=True)
    check("57014" in stopped, stopped)
    check(small.sql(sums) == answer, "another answer after a cancelled scan")
    small.stop()


def filters_save_reading(bucket, directory):
    first = Server(bucket, directory("log"))
    first.sql("CREATE TABLE t AS SELECT g AS n, md5(g::text)::uuid AS u, md5('s' || g) AS s FROM generate_series(1, 400000) g")
    first.sql("CREATE TABLE v (u uuid); INSERT INTO v SELECT u FROM t WHERE n % 100000 = 77")
    first.stop()
    bucket.set(latency_ms=5, reset=1)
    second = Server(bucket, directory("empty"))
    before = moved(bucket)
    plan = second.sql("EXPLAIN ANALYZE SELECT n, s FROM t WHERE u = md5('123456')::uuid")
    skipped = re.search(r"Row Groups Skipped by Filter: (\d+)", plan)
    check(skipped and int(skipped[1]) >= 11, "filters exclude too little: " + plan)
    after = moved(bucket)
    requests = after["requests"]["GetObject"] - before["requests"]["GetObject"]
    sent = after["bytes_sent"] - before["bytes_sent"]
    # Of 20 MB the filters of a column, 0.6 MB, and one row group or two of 1.8 MB.
    check(requests <= 12, f"{requests} requests")
    check(sent < 5_000_000, f"{sent} bytes")
    check(second.sql("SELECT n FROM t WHERE u = md5('123456')::uuid") == "123456", "a row is not found")
    check(second.sql("SELECT n FROM t WHERE s IN (md5('s7'), md5('s399999'), 'none') ORDER BY n") == "7\n399999", "IN finds other rows")
    check(second.sql("SELECT count(*) FROM t WHERE u = md5('none')::uuid") == "0", "a row that is not there")
    check(second.sql("SELECT count(*) FROM v, LATERAL (SELECT n FROM t WHERE t.u = md5('5')::uuid) x") == "4", "rewound scans")
    second.stop()
    url = f"s3://data/base?endpoint={bucket.url}&path_style=true&region=us-east-1"
    checked = subprocess.run([Server.binary, "check", "--data", url, "--wal", directory("empty")], capture_output=True, text=True, timeout=60,
                             env=dict(os.environ, AWS_ACCESS_KEY_ID=KEY, AWS_SECRET_ACCESS_KEY=SECRET))
    check(checked.returncode == 0 and "no problems found" in checked.stdout, checked.stdout + checked.stderr)


OPERATIONS = {"get": ["GetObject"], "put": ["PutObject", "CreateMultipartUpload", "UploadPart", "CompleteMultipartUpload"],
              "list": ["ListObjectsV2", "ListMultipartUploads"], "delete": ["DeleteObject", "DeleteObjects", "AbortMultipartUpload"],
              "head": ["HeadObject"]}
PRICES = {"get": 0.4e-6, "head": 0.4e-6, "put": 5e-6, "list": 5e-6, "delete": 0}


def moved(bucket):
    counters = bucket.counters()
    return {name: counters[name] for name in ("requests", "faults", "bytes_sent", "bytes_received")}


def statistics(server, *columns):
    """Rows of ouzel_stat_object_store by kind."""
    rows = server.sql(f"SELECT request, {', '.join(columns)} FROM ouzel_stat_object_store")
    return {row.split("|")[0]: dict(zip(columns, [float(field or 0) for field in row.split("|")[1:]])) for row in rows.splitlines()}


def both_count(bucket, server):
    """The server's statistics and the bucket's counters while nothing is under way: the lease is renewed all the time."""
    for _ in range(200):
        before = moved(bucket)
        rows = statistics(server, "requests", "bytes", "errors", "retries", "hedges", "active", "estimated_cost")
        if rows["put"]["active"] + rows["get"]["active"] == 0 and moved(bucket) == before:
            return rows, before
    raise Failure("the server never rests")


def requests_are_counted(bucket, directory):
    first = Server(bucket, directory("log"))
    fill(first)
    first.sql("CREATE TABLE gone AS SELECT * FROM t; CHECKPOINT; DROP TABLE gone; CHECKPOINT")
    rows, counted = both_count(bucket, first)
    check(set(rows) == set(OPERATIONS), f"the kinds are {sorted(rows)}")
    for kind, operations in OPERATIONS.items():
        expected = sum(counted["requests"].get(operation, 0) for operation in operations)
        check(rows[kind]["requests"] == expected, f"{kind}: {rows[kind]} but {counted}")
        check(abs(rows[kind]["estimated_cost"] - PRICES[kind] * expected) < 1e-9, f"{kind} costs {rows[kind]}")
        check(rows[kind]["errors"] == 0, f"errors without a fault: {rows}")
    check(rows["put"]["requests"] > 5 and rows["delete"]["requests"] > 0 and rows["list"]["requests"] > 0, f"{rows}")
    check(rows["put"]["bytes"] >= 200_000 * 30, f"fewer bytes than the rows have: {rows}")
    first.stop()

    second = Server(bucket, directory("empty"))
    old, old_counted = both_count(bucket, second)
    second.sql(SUMS)
    new, counted = both_count(bucket, second)
    check(new["get"]["bytes"] - old["get"]["bytes"] > 1_000_000, f"the scan has read nothing: {new}")
    # Both ways and of all kinds: the lease is renewed meanwhile.
    moved_here = sum(new[kind]["bytes"] - old[kind]["bytes"] for kind in OPERATIONS)
    moved_there = sum(counted[way] - old_counted[way] for way in ("bytes_sent", "bytes_received"))
    # A hedge that lost was sent, in part.
    is_same = moved_here == moved_there if new["get"]["hedges"] == 0 else moved_here <= moved_there
    check(is_same, f"{moved_here} bytes here, {moved_there} at the bucket: {old}, {new}")
    limit = second.sql("SELECT string_agg(request, ',') FROM ouzel_stat_object_store WHERE request_limit > 0 AND latency_ms > 0")
    check(limit == "get", f"the retriever's measurements are at {limit}")
    second.stop()

    third = Server(bucket, directory("empty too"))
    old, _ = both_count(bucket, third)
    bucket.set(reset=1, error=1, match="block", methods="GET")
    third.sql(SUMS, fails=True)
    bucket.set(error=0)
    new, counted = both_count(bucket, third)
    get = {name: new["get"][name] - old["get"][name] for name in new["get"]}
    answered = counted["requests"]["GetObject"] + counted["requests"]["Refused"]
    check(get["errors"] > 0 and get["requests"] == answered, f"{get} but {counted}")
    # Each refused request was tried again or given up, but for hedges: their primary was.
    refused = sum(counted["faults"].values())
    check(refused - get["hedges"] <= get["retries"] + get["errors"] <= refused, f"{get} but {refused} were refused")
    third.stop()


def scrape(server):
    """{'name{label="value"}': number} of /metrics."""
    address = re.search(r"metrics at (http://\S+)", server.text()).group(1)
    text = urllib.request.urlopen(address, timeout=10).read().decode()
    samples = [line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#")]
    check(len({name for name, _ in samples}) == len(samples), "a sample is there twice: " + text)
    return {name: float(value) for name, value in samples}


def metrics_tell_what_happens(bucket, directory):
    first = Server(bucket, directory("log"), "--metrics-port", "0", "--memory-limit", "64MB")
    old = scrape(first)
    fill(first)
    first.sql("SELECT 1; SELECT 2; CHECKPOINT")
    first.sql("SELECT 1/0", fails=True)
    first.sql("SELEC", fails=True)
    check(first.sql("SELECT count(DISTINCT s || 'and so on until it is long') FROM t") == "200000", "wrong count")
    first.sql("SET ouzel.spill_all = on; SELECT count(*) FROM (SELECT s FROM t ORDER BY s OFFSET 1) x")
    new = scrape(first)
    grown = {name: value - old.get(name, 0) for name, value in new.items()}
    # CREATE TABLE AS, three, the division, count(DISTINCT), SET and SELECT; text that cannot be parsed is no statement.
    check(grown["ouzel_statements_total"] == 8, f"statements: {grown}")
    check(grown["ouzel_errors_total"] == 2, f"errors: {grown}")
    check(grown["ouzel_connections_total"] == 6, f"connections: {grown}")
    check(0 < grown["ouzel_statement_seconds_total"] < 600, f"seconds: {grown}")
    check(grown["ouzel_wal_bytes_total"] > 0 and new["ouzel_memory_limit_bytes"] == 64 << 20, f"{new}")
    check(new["ouzel_memory_used_bytes"] <= new["ouzel_memory_peak_bytes"] and new["process_resident_memory_bytes"] > 10 << 20, f"{new}")
    spilled = first.sql("SELECT sum(bytes_written), sum(raw_bytes_written) FROM ouzel_stat_spill").split("|")
    label = "{directory=\"" + first.log + "/spill\"}"
    check(float(spilled[0]) > 0 and new["ouzel_spill_written_bytes_total" + label] == float(spilled[0])
          and new["ouzel_spill_written_raw_bytes_total" + label] == float(spilled[1]), f"{spilled} but {new}")
    with subprocess.Popen(["psql", "-XAtq", "-h", "127.0.0.1", "-p", first.port, "-U", "postgres"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as waiting:
        waiting.stdin.write("BEGIN; SELECT 'here';\n")
        waiting.stdin.flush()
        check(waiting.stdout.readline() == "here\n", "psql did not start")
        for _ in range(100):
            now = scrape(first)
            if now['ouzel_sessions{state="idle in transaction"}'] == 1: break
            time.sleep(0.05)
        else:
            raise Failure(f"nobody is idle in transaction: {now}")
        check(now["ouzel_connections"] == 1, f"connections: {now}")
    for _ in range(200):
        before = moved(bucket)
        now = scrape(first)
        if sum(value for name, value in now.items() if "_active_requests" in name) == 0 and moved(bucket) == before: break
    else:
        raise Failure("the server never rests")
    for kind, operations in OPERATIONS.items():
        expected = sum(before["requests"].get(operation, 0) for operation in operations)
        label = "{request=\"" + kind + "\"}"
        check(now["ouzel_object_store_requests_total" + label] == expected, f"{kind}: {now} but {before}")
        check(abs(now["ouzel_object_store_cost_dollars_total" + label] - PRICES[kind] * expected) < 1e-9, f"{kind}: {now}")
    pages = now["ouzel_cache_hits_total"] + now["ouzel_cache_misses_total"]
    first.sql(SUMS)
    now = scrape(first)
    check(now["ouzel_cache_hits_total"] + now["ouzel_cache_misses_total"] > pages, "a scan asks the cache for pages")
    first.stop()


def who_is_ready_says_so(bucket, directory):
    def ready(port):
        return subprocess.run([Server.binary, "ready", "--port", port], capture_output=True, text=True, env={}, timeout=30).returncode
    server = Server(bucket, directory("log"))
    check(ready(server.port) == 0, "a server is not ready")
    check(ready("none") == 2, "a port that is none")
    server.sql("SELECT 1")
    server.stop()
    check(ready(server.port) == 1, "a server that is gone is ready")


CACHE = ("size", "bytes_used", "hits", "hit_bytes", "misses", "miss_bytes", "dropped_fills", "corruptions", "errors")


def cache_use(server):
    row = server.sql(f"SELECT {', '.join(CACHE)} FROM ouzel_stat_cache")
    return dict(zip(CACHE, [int(field) for field in row.split("|")])) if row else None


def a_local_cache_saves_the_bucket(bucket, directory):
    first = Server(bucket, directory("log"))
    fill(first, 1_500_000)
    sums = "SELECT count(*), sum(n), sum(length(s)), min(s) FROM t"
    answer = first.sql(sums)
    check(Server.caches or cache_use(first) is None, "a cache that nobody wanted")
    first.stop()
    cache = f"{directory('cache')}:256MB"
    second = Server(bucket, directory("empty"), "--cache", cache, "--metrics-port", "0", "--memory-limit", "1GB")
    plan = second.sql("EXPLAIN ANALYZE " + sums)
    check(re.search(r"Object Requests: [1-9]\d*, \d{7,} bytes, \d+ retries, \d+ hedges, \$0\.0000\d+", plan), plan)
    check(second.sql(sums) == answer, "another answer while the cache is filled")
    other = Server(bucket, None, "--cache", cache, wait=False)
    check(other.process.wait(30) != 0 and "is in use" in other.text(), "two servers share a cache: " + other.text())
    second.stop()

    third = Server(bucket, directory("empty too"), "--cache", cache, "--metrics-port", "0", "--memory-limit", "1GB")
    bucket.set(reset=1)
    plan = third.sql("EXPLAIN ANALYZE " + sums)
    check(re.search(r"Object Cache Hits: \d+, \d{7,} bytes", plan) and "Object Requests" not in plan, plan)
    check(third.sql(sums) == answer, "another answer from the cache")
    sent = bucket.counters()["bytes_sent"]
    check(sent < 100_000, f"the bucket has sent {sent} bytes")
    use = cache_use(third)
    check(use["hit_bytes"] > 10_000_000 and use["corruptions"] == use["errors"] == 0, f"{use}")
    metrics = scrape(third)
    check(metrics["ouzel_object_cache_hit_bytes_total"] == use["hit_bytes"] and metrics["ouzel_object_cache_limit_bytes"] == 256 << 20, f"{metrics}")
    third.sql("UPDATE t SET s = 'changed' WHERE n <= 10; CHECKPOINT")
    changed = third.sql(sums)
    third.stop()

    # Damaged bytes in the cache's file do not change answers. A read-only server has a cache, too.
    with open(os.path.join(directory("cache"), "ouzel.cache"), "r+b") as file:
        for at in range(0, 8 << 20, 200_000):
            file.seek(at)
            file.write(b"changed")
    reader = Server(bucket, None, "--cache", cache)
    check(reader.sql(sums) == changed, "another answer with changed bytes in the cache")
    use = cache_use(reader)
    check(use["corruptions"] > 10 and use["errors"] == 0 and use["size"] == 256 << 20, f"{use}")
    reader.stop()
    full = Server(bucket, None, "--cache", cache, environment={"OUZEL_TEST_POINTS": "cache.read=eio@3"})
    check(full.sql(sums) == changed and full.sql(sums) == changed, "another answer without the cache")
    check(cache_use(full)["size"] == 0 and full.text().count("is off from now on") == 1, full.text())
    full.stop()
    for wrong, told in (("/proc/nothing:1GB", "/proc/nothing"), ("/tmp:1MB", "at least 64MB"), ("/tmp", "DIR:SIZE")):
        server = Server(bucket, None, "--cache", wrong, wait=False)
        check(server.process.wait(30) != 0 and told in server.text(), f"{wrong}: {server.text()}")


def who_waits_can_be_stopped(bucket, directory):
    first = Server(bucket, directory("log"))
    fill(first)
    first.stop()
    second = Server(bucket, directory("empty"))
    bucket.set(stall_body=1, stall_ms=20000, match="block", methods="GET")
    # Waits for read-ahead, for single pages of an index that is being made, and for a page that another statement waits for.
    for text in (SUMS, "SELECT count(*) FROM t WHERE s = md5('5')", "SELECT max(n) FROM t a JOIN (SELECT 5 AS n) b USING (n)"):
        start = time.monotonic()
        told = second.sql(f"SET statement_timeout = 300; {text}", fails=True)
        check("57014" in told and time.monotonic() - start < 5, f"statement_timeout took {time.monotonic() - start:.2f} s: {told}")

    def client():
        return subprocess.Popen(["psql", "-XAtq", "-h", "127.0.0.1", "-p", second.port, "-U", "postgres", "-c", SUMS],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    active = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT count(%' AND state = 'active' AND pid <> pg_backend_pid()"

    def wait(text, value, seconds):
        end = time.monotonic() + seconds
        while second.sql(text) != value:
            check(time.monotonic() < end, f"{text} is not {value}")
            time.sleep(0.02)

    waiting = client()
    wait(active, "1", 10)
    time.sleep(0.3)
    start = time.monotonic()
    waiting.send_signal(signal.SIGINT)  # psql asks for it
    told = waiting.communicate(timeout=30)[1]
    check("canceling statement due to user request" in told and time.monotonic() - start < 5, f"cancelling took {time.monotonic() - start:.2f} s: {told}")
    waiting = client()
    wait(active, "1", 10)
    waiting.kill()
    waiting.communicate()
    wait(active, "0", 1.5)
    bucket.set(stall_body=0)
    check(second.sql(SUMS).startswith("200000|"), "the server did not recover")
    second.stop()


def until(server, text, value, seconds):
    """How long it takes until the answer is `value`."""
    start = time.monotonic()
    while server.sql(text) != value:
        check(time.monotonic() - start < seconds, f"{text} is still not {value}")
        time.sleep(0.02)
    return time.monotonic() - start


REFUSED = {
    "INSERT INTO t VALUES (1, 'x')": "cannot execute INSERT in a read-only transaction",
    "UPDATE t SET n = 1": "cannot execute UPDATE in a read-only transaction",
    "DELETE FROM t": "cannot execute DELETE in a read-only transaction",
    "CREATE TABLE x (a int)": "cannot execute CREATE TABLE in a read-only transaction",
    "CREATE TEMP TABLE x (a int)": "cannot execute CREATE TABLE in a read-only transaction",
    "DROP TABLE t": "cannot execute DROP TABLE in a read-only transaction",
    "TRUNCATE t": "cannot execute TRUNCATE TABLE in a read-only transaction",
    "COPY t FROM STDIN": "cannot execute COPY FROM in a read-only transaction",
    "SELECT nextval('ids')": "cannot execute nextval() in a read-only transaction",
    "SELECT n FROM t FOR UPDATE": "cannot execute SELECT FOR UPDATE in a read-only transaction",
}


def follow(writer, reader):
    """A server that only reads, on what `writer` writes."""
    check(reader.sql(SUMS) == writer.sql(SUMS), "the reader has other rows")
    check(reader.sql("SELECT pg_is_in_recovery(), current_setting('transaction_read_only'), current_setting('in_hot_standby')") == "t|on|on",
          "the reader does not say what it is")
    check(writer.sql("SELECT pg_is_in_recovery()") == "f", "the writer does not say what it is")
    for text, told in REFUSED.items():
        error = reader.sql(text, fails=True)
        check("25006" in error and told in error, f"{text}: {error}")
    for text in ("BEGIN READ WRITE", "SET transaction_read_only = off", "BEGIN; SET TRANSACTION READ WRITE"):
        error = reader.sql(text, fails=True)
        check("0A000" in error and "cannot set transaction read-write mode during recovery" in error, f"{text}: {error}")
    check(reader.sql("SET default_transaction_read_only = off; SHOW transaction_read_only") == "on", "it would write")
    check(1 <= int(reader.sql("SELECT last_value FROM ids")) <= 33, "the sequence is elsewhere")  # the log runs ahead
    rows = int(reader.sql("SELECT count(*) FROM t"))
    writer.sql("INSERT INTO t SELECT g, 'new' FROM generate_series(1, 100) g; SELECT nextval('ids') FROM generate_series(1, 50)")
    time.sleep(0.7)
    check(reader.sql("SELECT count(*) FROM t") == str(rows), "rows without a checkpoint")
    writer.sql("CREATE TABLE u AS SELECT 7 AS a; ALTER TABLE t ADD COLUMN extra int DEFAULT 5; CREATE VIEW v AS SELECT extra FROM t")
    writer.sql("CHECKPOINT")
    took = until(reader, "SELECT count(*) FROM t", str(rows + 100), 5)
    check(took < 1, f"it took {took:.2f} s to see a checkpoint")
    check(reader.sql("SELECT a, (SELECT sum(extra) FROM v) FROM u") == f"7|{5 * (rows + 100)}", "what was defined since is missing")
    check(51 <= int(reader.sql("SELECT last_value FROM ids")) <= 83, "the sequence is elsewhere")
    writer.sql("DROP VIEW v; DROP TABLE u; UPDATE t SET s = 'changed' WHERE n <= 10")
    writer.sql("CHECKPOINT")
    reader.sql("CHECKPOINT")  # looks at once
    check("42P01" in reader.sql("SELECT * FROM u", fails=True), "a dropped table is there")
    check(reader.sql(SUMS) == writer.sql(SUMS), "the reader has other rows")


def readers_follow(bucket, directory):
    writer = Server(bucket, directory("log"))
    fill(writer, 50_000)
    writer.sql("CREATE SEQUENCE ids; SELECT nextval('ids')")
    writer.sql("CHECKPOINT")
    reader, others = Server(bucket, None), [Server(bucket, None) for _ in range(2)]
    follow(writer, reader)
    answer = writer.sql(SUMS)
    for other in others:
        until(other, SUMS, answer, 1.5)
    # The writer removes blocks that a reader has not read yet. The reader's transaction fails, the next one sees the new state.
    late = Server(bucket, None)
    session = subprocess.Popen(["psql", "-XAtq", "-v", "VERBOSITY=verbose", "-h", "127.0.0.1", "-p", late.port, "-U", "postgres"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    session.stdin.write("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 'begun' FROM pg_class LIMIT 1;\n")
    session.stdin.flush()
    check(session.stdout.readline().strip() == "begun", "no transaction")
    writer.sql("DELETE FROM t WHERE n > 1000")
    writer.sql("CHECKPOINT")
    answer = writer.sql(SUMS)
    time.sleep(1.2)  # for so long the writer leaves the old blocks to its readers
    writer.sql("INSERT INTO t VALUES (0, 'later')")
    told = session.communicate("SELECT min(s) FROM t;\n", timeout=60)[1]
    check("40001" in told and "conflict with recovery" in told, "the transaction did not end as it should: " + told)
    check(late.sql(SUMS) == answer, "the reader has other rows")
    # Readers need no writer, and follow the next one.
    writer.kill()
    until(reader, SUMS, answer, 1.5)
    second = Server(bucket, writer.log)
    second.sql("INSERT INTO t VALUES (-1, 'second')")
    second.sql("CHECKPOINT")
    for server in (reader, late):
        until(server, "SELECT s FROM t WHERE n = -1", "second", 1.5)
    second.stop()
    bucket.set(error=0.3, reset_body=0.1, seed=5)
    check(reader.sql(SUMS) != answer and late.sql(SUMS) == reader.sql(SUMS), "the readers have other rows when requests fail")
    for server in (reader, late, *others):
        server.stop()


def readers_follow_in_a_directory(bucket, directory):
    data = directory("data")
    early = Server(bucket, None, data=data, wait=False)
    check(early.process.wait(30) != 0 and "there is no database" in early.text(), "it serves nothing: " + early.text())
    writer = Server(bucket, directory("log"), data=data)
    fill(writer, 50_000)
    writer.sql("CREATE SEQUENCE ids; SELECT nextval('ids')")
    writer.sql("CHECKPOINT")
    reader = Server(bucket, None, "--password", "secret", data=data)
    follow(writer, reader)
    writer.stop()
    check(reader.sql("SELECT count(*) FROM t") == "50100", "the reader has other rows")
    reader.stop()


def databases_are_prefixes_of_the_bucket(bucket, directory):
    def below(prefix): return [root for root, _, names in os.walk(bucket.root) if names and f"/{prefix}/" in root + "/"]
    writer = Server(bucket, directory("log"))
    writer.sql("CREATE DATABASE lake")
    oid = writer.sql("SELECT oid FROM pg_database WHERE datname = 'lake'")
    for database in ("postgres", "lake"):
        writer.sql("CREATE TABLE t AS SELECT g AS n, current_database() AS s FROM generate_series(1, 50000) g", database=database)
    writer.sql("CHECKPOINT")
    check(below(f"database/{oid}/table"), "the tables of a database are elsewhere")
    where = "SELECT count(*), min(s), max(s) FROM t"
    answer = {database: f"50000|{database}|{database}" for database in ("postgres", "lake")}
    reader = Server(bucket, None)
    writer.sql("INSERT INTO t VALUES (-1, 'lake')", database="lake")
    writer.kill()
    writer = Server(bucket, writer.log)
    check(writer.sql(where, database="lake") == "50001|lake|lake", "what was committed is lost")
    writer.sql("DELETE FROM t WHERE n < 0", database="lake")
    writer.sql("CHECKPOINT")
    for database in answer:
        check(writer.sql(where, database=database) == answer[database], "the writer has other rows")
    reader.sql("CHECKPOINT")
    for database in answer:
        check(reader.sql(where, database=database) == answer[database], "the reader has other rows")
    check("25006" in reader.sql("CREATE DATABASE other", fails=True), "a reader makes databases")
    session = subprocess.Popen(["psql", "-XAtq", "-v", "VERBOSITY=verbose", "-h", "127.0.0.1", "-p", reader.port, "-U", "postgres", "-d", "lake"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    session.stdin.write("SELECT 'begun';\n")
    session.stdin.flush()
    check(session.stdout.readline().strip() == "begun", "no session")
    writer.sql("DROP DATABASE lake")
    writer.sql("CHECKPOINT")
    until(reader, "SELECT count(*) FROM pg_database WHERE datname = 'lake'", "0", 5)
    told = session.communicate("SELECT count(*) FROM t;\n", timeout=60)[1]
    check("57P01" in told or "closed" in told, "the session stays in a database that is gone: " + told)
    check("lake" in reader.sql("SELECT 1", database="lake", fails=True), "a dropped database lets in")
    check(reader.sql(where) == answer["postgres"], "the reader has other rows")
    reader.stop()
    writer.stop()
    last = Server(bucket, directory("empty"))
    check(last.sql(where) == answer["postgres"], "the bucket has other rows")
    last.stop()
    check(not [root for root in below("database") if "block" in root], "blocks of a dropped database are left")


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


def without_a_log(bucket, temporary):
    """A server that keeps nothing; what it had before on its disk is gone."""
    shutil.rmtree(temporary, ignore_errors=True)
    os.mkdir(temporary)
    return Server(bucket, False, temporary=temporary)


def what_is_acknowledged_is_in_the_bucket(bucket, directory):
    temporary = directory("tmp")
    server = without_a_log(bucket, temporary)
    check(server.sql("SELECT current_setting('ouzel.commit'), current_setting('ouzel.keeps_log')") == "object_store|off", "the settings")
    for text in ("SET ouzel.commit = log", "BEGIN; SET LOCAL ouzel.commit TO 'log'"):
        told = server.sql(text, fails=True)
        check("22023" in told and "keeps no log" in told and "--wal" in told, told)
    server.sql("CREATE TABLE t (n int PRIMARY KEY, s text); CREATE SEQUENCE ids")
    ids = 0
    for turn in range(6):
        server.sql(f"INSERT INTO t SELECT g, 'turn {turn}' FROM generate_series({turn * 100}, {turn * 100 + 99}) g")
        server.sql(f"BEGIN; UPDATE t SET s = 'changed' WHERE n % 10 = {turn}; DELETE FROM t WHERE n % 100 = {turn}; COMMIT")
        server.sql(f"SET synchronous_commit = off; CREATE TABLE u{turn} AS SELECT {turn} AS a")
        ids = max(ids, int(server.sql("SELECT nextval('ids')")))
        answer = server.sql("SELECT count(*), sum(n), count(*) FILTER (WHERE s = 'changed') FROM t")
        tables = server.sql("SELECT string_agg(relname, ',' ORDER BY relname) FROM pg_class WHERE relname ~ '^u[0-9]'")
        check(len(os.listdir(temporary)) == 1, f"the log is not alone: {os.listdir(temporary)}")
        server.kill()
        server = without_a_log(bucket, temporary)
        check(server.sql("SELECT count(*), sum(n), count(*) FILTER (WHERE s = 'changed') FROM t") == answer, f"turn {turn}: rows are lost")
        check(server.sql("SELECT string_agg(relname, ',' ORDER BY relname) FROM pg_class WHERE relname ~ '^u[0-9]'") == tables, "tables are lost")
        check(int(server.sql("SELECT nextval('ids')")) > ids, "the sequence gives a number twice")
    # Small commits put a block, its header, the list and the manifest, and now and then merged blocks.
    server.sql("CREATE TABLE small (n int)")
    time.sleep(0.5)
    at_start, merged = bucket.counters()["requests"]["PutObject"], 40
    for n in range(merged):
        server.sql(f"INSERT INTO small VALUES ({n})")
    puts = bucket.counters()["requests"]["PutObject"] - at_start
    check(puts <= merged * 5 + 20, f"{puts} objects for {merged} commits")
    time.sleep(0.5)
    objects = sum(len(names) for root, _, names in os.walk(bucket.root) if "table/" in root + "/")
    check(objects < 150, f"there are {objects} objects")
    at_start = bucket.counters()["requests"]["PutObject"]
    server.sql("SELECT count(*) FROM small; BEGIN; SELECT 1; COMMIT")
    check(bucket.counters()["requests"]["PutObject"] - at_start <= 2, "a transaction that reads waits")
    answer = server.sql("SELECT count(*), sum(n) FROM small")
    server.stop()
    check(os.listdir(temporary) == [], f"something is left: {os.listdir(temporary)}")
    # With a log again, which then is needed.
    logging = Server(bucket, directory("log"))
    check(logging.sql("SELECT count(*), sum(n) FROM small") == answer, "another answer")
    logging.sql("INSERT INTO small VALUES (1)")
    logging.kill()
    lost = Server(bucket, False, wait=False)
    check(lost.process.wait(30) != 0 and "write-ahead log is missing" in lost.text(), "it started without the log: " + lost.text())
    refused = Server(bucket, False, "--commit", "log", wait=False)
    check(refused.process.wait(30) == 2 and "--wal DIR is required" in refused.text(), "it runs without a log: " + refused.text())


def commits_may_wait_for_the_bucket(bucket, directory):
    first = Server(bucket, directory("log"))
    fill(first, 1000)
    first.sql("CHECKPOINT; INSERT INTO t VALUES (0, 'log')")
    first.sql("SET ouzel.commit = object_store; INSERT INTO t VALUES (0, 'bucket')")
    first.sql("INSERT INTO t VALUES (0, 'log again')")
    first.sql("BEGIN; SET LOCAL ouzel.commit = object_store; INSERT INTO t VALUES (0, 'local'); COMMIT")
    first.sql("INSERT INTO t VALUES (0, 'lost')")
    first.kill()
    second = Server(bucket, directory("other"), "--take-over")
    there = second.sql("SELECT string_agg(s, ',' ORDER BY s) FROM t WHERE n = 0")
    check(there == "bucket,local,log,log again", "there is " + there)

    bucket.set(error=1, match="table/", methods="PUT")
    result = subprocess.run(["psql", "-XAt", "-h", "127.0.0.1", "-p", second.port, "-U", "postgres", "-c",
                             "SET ouzel.commit = object_store; SET statement_timeout = 500", "-c", "INSERT INTO t VALUES (1, 'timeout')"],
                            capture_output=True, text=True, timeout=60)
    check(result.returncode == 0 and "INSERT 0 1" in result.stdout and "canceling wait for the object store" in result.stderr
          and "already committed locally" in result.stderr, f"{result}")
    waiting = subprocess.Popen(["psql", "-XAt", "-h", "127.0.0.1", "-p", second.port, "-U", "postgres", "-c", "SET ouzel.commit = object_store",
                                "-c", "INSERT INTO t VALUES (2, 'cancelled')"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until(second, "SELECT count(*) FROM t WHERE s = 'cancelled'", "1", 5)  # seen, and its locks are gone
    second.sql("UPDATE t SET s = 'changed' WHERE s = 'cancelled'")
    check(waiting.poll() is None, "it does not wait")
    waiting.send_signal(signal.SIGINT)
    out, told = waiting.communicate(timeout=30)
    check("INSERT 0 1" in out and "WARNING:  canceling wait for the object store due to user request" in told, out + told)
    late = subprocess.Popen(["psql", "-XAt", "-h", "127.0.0.1", "-p", second.port, "-U", "postgres", "-c", "SET ouzel.commit = object_store",
                             "-c", "INSERT INTO t VALUES (3, 'late')"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until(second, "SELECT count(*) FROM t WHERE s = 'late'", "1", 5)
    bucket.set(error=0)
    out, told = late.communicate(timeout=120)
    check(late.returncode == 0 and told == "", out + told)
    second.kill()
    third = Server(bucket, directory("third"), "--take-over")
    check(third.sql("SELECT string_agg(s, ',' ORDER BY n) FROM t WHERE s IN ('timeout', 'changed', 'late') AND n < 4") == "timeout,changed,late",
          "what waited is not there")
    third.stop()


TESTS = [what_is_acknowledged_is_in_the_bucket, commits_may_wait_for_the_bucket, the_bucket_is_the_database, the_log_holds_what_the_bucket_does_not, one_server_writes, a_race_has_one_winner,
         who_was_stopped_commits_no_more, faults_of_the_network_are_not_seen,
         a_put_without_an_answer_is_known_after_a_conflict, changed_bytes_are_told, an_encrypted_database_opens_with_its_key, scans_read_ahead, filters_save_reading, a_local_cache_saves_the_bucket,
         who_waits_can_be_stopped, readers_follow, readers_follow_in_a_directory, databases_are_prefixes_of_the_bucket, requests_are_counted, metrics_tell_what_happens,
         who_is_ready_says_so, nothing_is_left_over]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--object-server", required=True)
    parser.add_argument("--only")
    parser.add_argument("--cache", action="store_true")
    args = parser.parse_args()
    Server.binary = args.binary
    failed = 0
    for test in TESTS:
        if args.only and args.only not in test.__name__: continue
        home = tempfile.mkdtemp(prefix="bucket-test-")
        Server.caches = home if args.cache else None
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
            for process in Server.started:
                if process.poll() is None:
                    process.kill()
                    process.wait()
            Server.started.clear()
            shutil.rmtree(home, ignore_errors=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
