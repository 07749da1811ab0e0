#!/usr/bin/env python3
"""read_csv, read_parquet and COPY over s3:// against versitygw, and against an S3 server that fails now and then.

    s3_files.py --binary BUILD/ouzel [--object-server BUILD/tests/object_server/object_server]

Exit code 77: there is no S3 server."""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from parquet_files import Client
from free_port import free_port
from run_sql_tests import Server

failures = 0


def check(what, got, want):
    global failures
    if got != want:
        failures += 1
        print(f"FAILED: {what}: {got}\n  expected: {want}", flush=True)


def answers(port):
    for _ in range(200):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=2)
            return True
        except urllib.error.HTTPError:
            return True
        except OSError:
            time.sleep(0.05)
    return False


def exercise(sql, port, hasParquet):
    def s3(path):
        return f"s3://bucket/{path}?endpoint=http://127.0.0.1:{port}&region=us-east-1"

    def ok(statement, want=""):
        out, error = sql(statement)
        check(statement, error or out, want)

    sql("DROP TABLE IF EXISTS t, u")
    ok("CREATE TABLE t AS SELECT g AS a, 'text number ' || g AS c, date '2020-01-01' + g % 500 AS d "
       "FROM generate_series(1, 300000) g; CREATE TABLE u (LIKE t)")
    ok(f"COPY t TO '{s3('t.csv')}' (FORMAT csv, HEADER)")
    ok(f"SELECT count(*), sum(a), max(c) FROM read_csv('{s3('t.csv')}')", "300000|45000150000|text number 99999")
    ok(f"COPY u FROM '{s3('t.csv')}' (FORMAT csv, HEADER)")
    ok("SELECT count(*) FROM (SELECT * FROM t EXCEPT SELECT * FROM u) x", "0")
    ok(f"COPY (SELECT * FROM t WHERE a <= 10) TO '{s3('p/small.csv')}' (FORMAT csv, HEADER)")
    ok(f"SELECT count(*) FROM read_csv('{s3('**/*.csv')}')", "300010")
    ok(f"SELECT count(*) FROM read_csv('{s3('p/*.csv')}')", "10")
    ok(f"COPY t TO '{s3('j/t.ndjson')}' (FORMAT json)")
    ok(f"SELECT count(*), sum(a), max(c) FROM read_json('{s3('j/*.ndjson')}')", "300000|45000150000|text number 99999")
    ok("TRUNCATE u")
    ok(f"COPY u FROM '{s3('j/t.ndjson')}' (FORMAT json)")
    ok("SELECT count(*) FROM (SELECT * FROM t EXCEPT SELECT * FROM u) x", "0")
    for path, want in (("none.csv", "there is no object"), ("none*.csv", "no object matches"), ("a b.csv", "the name of object")):
        out, error = sql(f"SELECT * FROM read_csv('{s3(path)}')")
        check(path, want in error, True)
    if not hasParquet:
        return
    ok(f"COPY (SELECT * FROM t ORDER BY a) TO '{s3('q/t.parquet')}' (FORMAT parquet, ROW_GROUP_SIZE 20000)")
    ok(f"COPY (SELECT * FROM t WHERE a <= 10) TO '{s3('q/day=1/s.parquet')}' (FORMAT parquet)")
    ok(f"SELECT count(*) FROM (SELECT * FROM read_parquet('{s3('q/t.parquet')}') EXCEPT SELECT * FROM t) x", "0")
    ok(f"SELECT count(*), sum(a), max(c) FROM read_parquet('{s3('q/**/*.parquet')}')", "300010|45000150055|text number 99999")
    ok(f"SELECT count(*), max(c) FROM read_parquet('{s3('q/t.parquet')}') WHERE a BETWEEN 100001 AND 100100", "100|text number 100100")
    ok(f"TRUNCATE u; COPY u FROM '{s3('q/t.parquet')}' (FORMAT parquet)")
    ok("SELECT count(*) FROM (SELECT * FROM t EXCEPT SELECT * FROM u) x", "0")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--object-server", default="")
    args = parser.parse_args()
    gateway = next((p for p in (os.environ.get("VERSITYGW"), os.path.expanduser("~/go/bin/versitygw"), shutil.which("versitygw"))
                    if p and os.path.exists(p)), None)
    servers = []
    if gateway:
        servers.append(lambda port, home: [gateway, "--port", f"127.0.0.1:{port}", "--quiet", "--access", "testkey", "--secret",
                                           "testsecret", "posix", home])
    if os.path.exists(args.object_server):
        servers.append(lambda port, home: [args.object_server, "--root", home + "/bucket", "--bucket", "bucket", "--port", str(port),
                                           "--error", "0.05", "--reset-before", "0.03", "--latency-ms", "5", "--seed", "3"])
    if not servers:
        print("no S3 server")
        return 77
    os.environ.update(AWS_ACCESS_KEY_ID="testkey", AWS_SECRET_ACCESS_KEY="testsecret")
    server = Server(os.path.relpath(os.path.dirname(os.path.abspath(args.binary)), ROOT))
    server.start()
    sql = Client(server)
    hasParquet = "no Parquet support" not in sql("SELECT * FROM read_parquet('/dev/null')")[1]
    try:
        for command in servers:
            home, port = tempfile.mkdtemp(prefix="ouzel-s3-"), free_port()
            os.mkdir(home + "/bucket")
            process = subprocess.Popen(command(port, home), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                if answers(port):
                    exercise(sql, port, hasParquet)
                else:
                    check("the S3 server answers", False, True)
            finally:
                process.kill()
                process.wait()
                shutil.rmtree(home, ignore_errors=True)
        check("the server stops", server.stop(), 0)
    finally:
        server.stop()
        server.remove()
    print("failed" if failures else "passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
