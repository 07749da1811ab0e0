"""Spilling to the memory of another machine, which is a redis-server here: the same answers, nothing is left there, and its end costs
the queries that need it and no others."""
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time

import bucket_mistakes
from free_port import free_port
from mistake import check

SPILL = "SET memory_limit = '16MB'; "
ALL = "SET ouzel.spill_all = on; "
SLOW = SPILL + "SET ouzel.spill_compression = 'none'; "
FILL = "CREATE TABLE big AS SELECT g AS n, 'nobody may see ' || md5(g::text) AS s FROM generate_series(1, 300000) g"
QUERIES = [
    "SELECT count(*), sum(c), min(s), max(s) FROM (SELECT s, count(*) AS c FROM big GROUP BY s) x",
    "SELECT count(*), sum(a.n), min(b.s) FROM big a JOIN big b ON a.s = b.s",
    "SELECT sum(n * r % 1000003) FROM (SELECT n, row_number() OVER (ORDER BY s) AS r FROM big) x",
]


class Redis:
    """A redis-server of one place."""
    def __init__(self, place, *options):
        self.directory, self.port, self.options = place.path("redis"), free_port(), options
        os.makedirs(self.directory, exist_ok=True)
        self.start()
        place.others.append(self)

    def start(self):
        with open(os.path.join(self.directory, "log"), "ab") as log:
            self.process = subprocess.Popen(["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
                                             "--dir", self.directory, *self.options], stdout=log, stderr=log)
        for _ in range(500):
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except OSError:
                time.sleep(0.02)
        check(False, "redis-server does not start")

    def ask(self, *arguments):
        return subprocess.run(["redis-cli", "-p", str(self.port), *arguments], capture_output=True, check=True).stdout.strip()

    def keys(self):
        return int(self.ask("DBSIZE"))

    def address(self, options="", secret=""):
        return f"memory://{secret}127.0.0.1:{self.port}{options}"

    def kill(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        if self.process.poll() is None: self.kill()


def soon(is_true, seconds=10):
    for _ in range(seconds * 50):
        if is_true(): return True
        time.sleep(0.02)
    return False


def require_empty(redis, when):
    check(soon(lambda: redis.keys() == 0), f"{redis.keys()} keys are left {when}")


def start(place, *flags, **how):
    server = place.serve("--memory-limit", "256MB", *flags, **how).wait_until_ready()
    place.others.append(server)
    return server


def spilled(server, column, number=0):
    return float(server.sql(f"SELECT {column} FROM ouzel_stat_spill ORDER BY directory").splitlines()[number] or 0)


def in_background(server, text, **how):
    """Run a statement on another thread; the result is its answer and its complaint."""
    result = []

    def run():
        done = server.psql(text, **how)
        result.append((done.stdout.strip(), done.stderr))
    thread = threading.Thread(target=run)
    thread.start()
    return thread, result


def answers(place):
    redis = Redis(place)
    server = start(place, "--spill", redis.address())
    server.sql(FILL)
    expected = [server.sql("SET memory_limit = '200MB'; " + query) for query in QUERIES]
    check(spilled(server, "bytes_written") == 0, "the queries spill without being told to")
    for query, answer in zip(QUERIES, expected):
        for way in (SPILL, ALL, SLOW):
            check(server.sql(way + query) == answer, f"another answer with remote memory: {way + query}")
            require_empty(redis, "after a query")
    check(spilled(server, "bytes_written") > 10e6, "nothing was spilled")
    for column in ("bytes_read", "write_requests", "read_requests", "round_us", "write_wait_ms", "read_wait_ms"):
        check(spilled(server, column) > 0, f"{column} is not counted")
    check(spilled(server, "failures") == 0, "failures are counted")
    check(soon(lambda: spilled(server, "bytes_allocated") == 0), "bytes stay allocated")
    server.sql(SPILL + "SELECT count(*) / (count(*) - 300000) FROM (SELECT s FROM big GROUP BY s) x", fails=True)
    require_empty(redis, "after a query that fails")
    slow = start_slow(place, server, redis)
    failed = slow.sql(SLOW + "SET statement_timeout = 700; " + QUERIES[2], fails=True)
    check("57014" in failed, f"it is not cancelled: {failed}")
    require_empty(redis, "after a query that is cancelled")
    thread, result = in_background(slow, SLOW + QUERIES[2])
    check(soon(lambda: redis.keys() > 0), "nothing is spilled")
    slow.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
    thread.join()
    require_empty(redis, "after a client that is gone")
    slow.stop()


def start_slow(place, server, redis):
    """The server again, with rounds of 30 ms."""
    server.stop()
    return start(place, "--spill", redis.address("?delay=30"))


def it_goes_away(place):
    redis = Redis(place)
    server = start(place, "--spill", redis.address("?delay=30&ttl=5"))
    server.sql(FILL)
    answer = server.sql("SET memory_limit = '200MB'; " + QUERIES[1])
    for round in range(2):
        thread, result = in_background(server, SLOW + QUERIES[2])
        check(soon(lambda: redis.keys() > 0), "nothing is spilled")
        redis.kill()
        thread.join()
        check("58030" in result[0][1], f"the query does not fail with 58030: {result}")
        check(server.sql("SET memory_limit = '200MB'; " + QUERIES[1]) == answer, "queries in memory do not go on")
        check("58030" in server.sql(SPILL + QUERIES[0], fails=True), "a query spills to nowhere")
        redis.start()
        check(soon(lambda: spilled(server, "bytes_in_use") == 0), "bytes stay in use")
        check(server.sql(SPILL + QUERIES[1]) == answer, "it is not used again")
        require_empty(redis, "after its second life")
    check(spilled(server, "failures") > 0, "failures are not counted")
    # A server that hangs: the query ends, by itself or by its time limit.
    thread, result = in_background(server, SLOW + "SET statement_timeout = 2000; " + QUERIES[2])
    check(soon(lambda: redis.keys() > 0), "nothing is spilled")
    redis.process.send_signal(signal.SIGSTOP)
    thread.join(40)
    check(not thread.is_alive(), "the query hangs with the server")
    check(re.search("57014|58030", result[0][1]), f"the query does not fail: {result}")
    redis.process.send_signal(signal.SIGCONT)
    check(server.sql("SELECT count(*) FROM big") == "300000", "the server is gone")
    server.stop()
    require_empty(redis, "after the server's end")


def a_directory_takes_over(place):
    redis = Redis(place)
    server = start(place, "--spill", redis.address() + "," + place.path("spill"))
    server.sql(FILL)
    answer = server.sql("SET memory_limit = '200MB'; " + QUERIES[1])
    check(server.sql(SPILL + QUERIES[1]) == answer, "another answer with two devices")
    redis.kill()
    results = [server.psql(SPILL + QUERIES[1]) for _ in range(3)]
    check([r.stdout.strip() for r in results] == [answer] * 3, f"queries fail though there is a directory: {results}")
    full = Redis(place, "--maxmemory-policy", "noeviction")
    server.stop()
    server = start(place, "--spill", full.address("?size=1MB") + "," + place.path("spill"))
    check(server.sql(SPILL + QUERIES[1]) == answer, "the directory does not take what the memory has no room for")
    server.stop()
    server = start(place, "--spill", full.address("?size=1MB"))
    check("53100" in server.sql(SPILL + QUERIES[1], fails=True), "a full memory is not 53100")
    require_empty(full, "after a query that found no room")
    server.stop()


def a_killed_server(place):
    redis = Redis(place)
    server = start(place, "--spill", redis.address("?ttl=3&delay=30"))
    server.sql(FILL)
    thread, _ = in_background(server, SLOW + QUERIES[2])
    check(soon(lambda: redis.keys() > 0), "nothing is spilled")
    server.kill()
    thread.join()
    check(redis.keys() > 0, "the keys are gone too early")
    require_empty(redis, "by a server that was killed")


def secrets(place):
    redis = Redis(place, "--requirepass", "open:sesame")
    server = start(place, "--spill", redis.address("?size=1GB", ":open%3Asesame@"), "--metrics-port", str(place.port))
    server.sql(FILL)
    server.sql(SPILL + QUERIES[0])
    check(spilled(server, "bytes_written") > 0, "nothing was spilled")
    seen = [server.sql("SELECT * FROM ouzel_stat_spill"), server.sql("SHOW ALL"), server.sql("SELECT * FROM ouzel_stat_compression LIMIT 5")]
    with socket.create_connection(("127.0.0.1", place.port)) as client:
        client.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
        seen.append("".join(iter(lambda: client.recv(65536).decode(), "")))
    check(f'ouzel_spill_write_requests_total{{directory="memory://127.0.0.1:{redis.port}"}}' in seen[-1], "metrics do not tell the requests")
    redis.kill()
    seen.append(server.sql(SPILL + QUERIES[0], fails=True))
    check(f"memory://127.0.0.1:{redis.port}" in seen[-1], f"the error does not name the server: {seen[-1]}")
    server.stop()
    seen.append(server.stderr)
    for text in seen:
        check("sesame" not in text, f"the password is shown: {text}")


def held_pages(server, redis):
    """What the memory server has while a query that has spilled is not over."""
    thread, result = in_background(server, SLOW + "BEGIN; DECLARE c CURSOR FOR SELECT * FROM big ORDER BY s; FETCH 1 FROM c; SELECT pg_sleep(4)")
    check(soon(lambda: redis.keys() > 5), f"nothing is spilled {result}")
    held = b"".join(redis.ask("GET", key.decode()) for key in redis.ask("KEYS", "*").split()[:20])
    thread.join()
    return held


def encryption(place):
    redis = Redis(place)
    key = place.write("key", "00112233445566778899aabbccddeeff" * 2)
    for flags in ([], ["--encryption-key-file", key]):
        server = start(place, "--spill", redis.address(), *flags)
        server.sql(FILL)
        held = held_pages(server, redis)
        check(len(held) > 100_000, "there are no pages")
        check((b"nobody may see" in held) == (not flags), "plain text is in remote memory" if flags else "there is no plain text to be found")
        server.stop()
        shutil.rmtree(place.data)


def a_bucket(place):
    bucket_mistakes.object_server(place)
    store = place.others[-1].thing
    url = f"s3://data/far?endpoint={store.url}&path_style=true&region=us-east-1"

    def objects():
        return sum("ouzel-spill" in directory for directory, _, files in os.walk(store.root) for _ in files)

    def none_is_left(when):
        check(soon(lambda: objects() == 0), f"{objects()} objects are left {when}")
    server = start(place, "--spill", url, environment=bucket_mistakes.KEYS)
    server.sql(FILL)
    for query in QUERIES:
        answer = server.sql("SET memory_limit = '200MB'; " + query)
        check(server.sql(SPILL + query) == answer, f"another answer with a bucket: {query}")
        none_is_left("after a query")
    check(spilled(server, "bytes_written") > 10e6, "nothing was spilled")
    check(server.sql("SELECT directory FROM ouzel_stat_spill") == "s3://data/far/", "the view shows another name")
    store.set(latency_ms=200)
    thread, result = in_background(server, SLOW + "SET statement_timeout = 3000; " + QUERIES[2])
    check(soon(lambda: objects() > 0), "nothing is spilled")
    thread.join()
    check("57014" in result[0][1], f"it is not cancelled: {result}")
    none_is_left("after a query that is cancelled")
    server.stop()


TELLS = {
    "remote memory": answers,
    "remote memory that goes away": it_goes_away,
    "remote memory and a directory": a_directory_takes_over,
    "remote memory of a server that was killed": a_killed_server,
    "secrets of remote memory": secrets,
    "encrypted pages in remote memory": encryption,
    "a bucket to spill to": a_bucket,
}
