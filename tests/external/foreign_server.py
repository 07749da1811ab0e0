#!/usr/bin/env python3
"""Objects of a bucket for roles that may not use the server's own keys: CREATE SERVER and USER MAPPING.

    foreign_server.py --binary BUILD/ouzel --object-server BUILD/tests/object_server/object_server

Exit code 77: there is no S3 server."""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from free_port import free_port
from run_sql_tests import Server
from s3_files import answers

failures = 0
DENIED = "must be superuser or have privileges of the"


class Client:
    def __init__(self, server, user):
        self.command = ["psql", "-X", "-q", "-A", "-t", server.conninfo().replace("user=postgres", "user=" + user)]

    def __call__(self, sql, want=""):
        """`want`: the rows, or a part of the error."""
        global failures
        done = subprocess.run(self.command, input=sql, capture_output=True, text=True, timeout=120)
        out, error = done.stdout.strip(), done.stderr.strip()
        good = want in error if error and want and not want.isdigit() else (error or out) == want
        if not good:
            failures += 1
            print(f"FAILED: {self.command[-1]}: {sql}: {error or out}\n  expected: {want}", flush=True)


def exercise(server, port):
    admin, ann, bob = Client(server, "postgres"), Client(server, "ann"), Client(server, "bob")
    end = f"?endpoint=http://127.0.0.1:{port}&region=us-east-1"
    admin("CREATE ROLE ann LOGIN; CREATE ROLE bob LOGIN; CREATE TABLE t AS SELECT g AS a FROM generate_series(1, 1000) g; "
          "GRANT SELECT, INSERT ON t TO ann, bob; ALTER ROLE ann SET log_statement = 'all'; "
          "ALTER ROLE postgres SET log_statement = 'all'")
    admin(f"COPY t TO 's3://bucket/lake/own.csv{end}' (FORMAT csv, HEADER)", ": 403 ")  # the server's own keys are wrong
    admin(f"CREATE SERVER lake FOREIGN DATA WRAPPER s3 OPTIONS (url 's3://bucket/lake', endpoint 'http://127.0.0.1:{port}', "
          "region 'us-east-1')")
    keys = "OPTIONS (access_key_id 'lakekey', secret_access_key 'lakesecret')"
    ann(f"CREATE USER MAPPING FOR ann SERVER lake {keys}", "permission denied for foreign server lake")
    ann("COPY t TO 's3://bucket/lake/t.csv' (FORMAT csv, HEADER)", DENIED)
    admin("GRANT USAGE ON FOREIGN SERVER lake TO ann")
    ann("COPY t TO 's3://bucket/lake/t.csv' (FORMAT csv, HEADER)", DENIED)  # no keys yet
    ann(f"CREATE USER MAPPING FOR ann SERVER lake {keys}")
    for name, options in (("t.csv", "FORMAT csv, HEADER"), ("j/t.ndjson", "FORMAT json"), ("q/t.parquet", "FORMAT parquet")):
        ann(f"COPY t TO 's3://bucket/lake/{name}' ({options})")
        ann(f"COPY t FROM 's3://bucket/lake/{name}' ({options})")
    ann("SELECT count(*) FROM t", "8000")  # each COPY FROM has doubled it
    for function, pattern, rows in (("csv", "*.csv", 1000), ("csv", "t.csv", 1000), ("json", "**/*.ndjson", 2000),
                                    ("parquet", "q/*.parquet", 4000)):
        ann(f"SELECT count(*) FROM read_{function}('s3://bucket/lake/{pattern}')", str(rows))
    ann(f"SELECT count(*) FROM read_csv('s3://bucket/lake/t.csv{end}')", "1000")
    # Not below the prefix, whatever the way; another endpoint; others' rights; files.
    for path in ("other.csv", "lake2/t.csv", "lak*/t.csv", "lake/../other.csv", "lake/*/../../other.csv", "lake"):
        ann(f"SELECT * FROM read_csv('s3://bucket/{path}')", DENIED)
    ann("SELECT * FROM read_csv('s3://bucket2/lake/t.csv')", DENIED)
    ann("SELECT * FROM read_csv('s3://bucket/lake/t.csv?endpoint=http://127.0.0.1:1')", DENIED)
    ann("SELECT * FROM read_csv(ARRAY['s3://bucket/lake/t.csv', 's3://bucket/other.csv'])", DENIED)
    ann("SELECT * FROM read_csv('/etc/passwd')", DENIED)
    bob("SELECT * FROM read_csv('s3://bucket/lake/t.csv')", DENIED)
    bob("SELECT umoptions FROM pg_user_mapping", "permission denied")
    bob("SELECT umoptions IS NULL, usename FROM pg_user_mappings", "t|ann")
    ann("SELECT umoptions FROM pg_user_mappings", "{access_key_id=lakekey,secret_access_key=lakesecret}")
    # A pattern takes no time that nobody can stop.
    ann(f"COPY t TO 's3://bucket/lake/{'d/' * 26}f.csv' (FORMAT csv)")
    ann(f"SET statement_timeout = '20s'; SELECT * FROM read_csv('s3://bucket/lake/{'**/' * 12}x')", "no object matches")
    ann("SELECT count(*) FROM read_csv('s3://bucket/lake/**/d/**/d/**/f.csv')", "8000")
    # A prepared statement keeps no right that was taken.
    ann("PREPARE p AS SELECT count(*) FROM read_csv('s3://bucket/lake/t.csv'); EXECUTE p", "1000")
    admin("REVOKE USAGE ON FOREIGN SERVER lake FROM ann")
    ann("SELECT * FROM read_csv('s3://bucket/lake/t.csv')", DENIED)
    admin("GRANT USAGE ON FOREIGN SERVER lake TO PUBLIC; CREATE USER MAPPING FOR PUBLIC SERVER lake "
          "OPTIONS (access_key_id 'nobody', secret_access_key 'x')")
    bob("SELECT * FROM read_csv('s3://bucket/lake/t.csv')", ": 403 ")  # of the store: other keys than ann's
    admin("ALTER USER MAPPING FOR PUBLIC SERVER lake OPTIONS (SET access_key_id 'lakekey', SET secret_access_key 'lakesecret')")
    bob("SELECT count(*) FROM read_csv('s3://bucket/lake/t.csv')", "1000")
    # They outlive a restart.
    server.stop()
    server.start()
    ann("SELECT count(*) FROM read_csv('s3://bucket/lake/t.csv')", "1000")
    log = open(server.data + ".log", errors="replace").read()
    global failures
    if "lakesecret" in log or "CREATE USER MAPPING" not in log:
        failures += 1
        print("FAILED: the log has no statements, or has secrets")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--object-server", default="")
    args = parser.parse_args()
    if not os.path.exists(args.object_server):
        print("no S3 server")
        return 77
    os.environ.update(AWS_ACCESS_KEY_ID="wrongkey", AWS_SECRET_ACCESS_KEY="wrongsecret")
    home, port = tempfile.mkdtemp(prefix="ouzel-s3-"), free_port()
    store = subprocess.Popen([args.object_server, "--root", home, "--bucket", "bucket", "--port", str(port), "--credentials",
                              "lakekey:lakesecret"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    server = Server(os.path.relpath(os.path.dirname(os.path.abspath(args.binary)), ROOT))
    try:
        if not answers(port):
            print("the S3 server does not answer")
            return 1
        server.start()
        exercise(server, port)
        if server.stop() != 0:
            print("FAILED: the server stops")
            return 1
    finally:
        server.stop()
        server.remove()
        store.kill()
        store.wait()
        shutil.rmtree(home, ignore_errors=True)
    print("failed" if failures else "passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
