#!/usr/bin/env python3
"""Foreign tables of postgres_fdw: one server reads tables of another one.

    postgres_fdw.py --binary BUILD/ouzel [--far CONNINFO]

--far: the other server is this one, say a PostgreSQL, instead of a second Ouzel; it is not stopped."""
import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
from run_sql_tests import Server

failures = 0


def psql(conninfo, user="postgres"):
    return ["psql", "-X", "-q", "-A", "-t", "-v", "VERBOSITY=verbose", conninfo.replace("user=postgres", "user=" + user)]


def fail(text):
    global failures
    failures += 1
    print("FAILED: " + text, flush=True)


class Client:
    def __init__(self, conninfo, user="postgres"):
        self.command = psql(conninfo, user)

    def run(self, sql):
        done = subprocess.run(self.command, input=sql, capture_output=True, text=True, timeout=120)
        return done.stdout.strip(), done.stderr.strip()

    def __call__(self, sql, want=""):
        """`want`: the rows; a text that begins with ERROR: has to be a part of the error."""
        out, error = self.run(sql)
        good = want[6:].strip() in error if want.startswith("ERROR:") else not error and out == want
        if not good:
            fail(f"{sql}\n  got:      {out} {error}\n  expected: {want}")


VALUES = {
    "b": ("boolean", "true", "false"),
    "i2": ("smallint", "-32768", "32767"),
    "i4": ("integer", "-2147483648", "7"),
    "i8": ("bigint", "9223372036854775807", "-1"),
    "n": ("numeric", "123456789012345678901234567890.123", "'NaN'"),
    "n2": ("numeric(10,2)", "12345678.91", "-0.5"),
    "f4": ("real", "3.4028235e38", "'-Infinity'"),
    "f8": ("double precision", "0.1", "1e-300"),
    "t": ("text", "E'it''s a \\\\ line\\nand \\ttab, ü€😀'", "''"),
    "v": ("varchar(5)", "'abcde'", "' '"),
    "c": ("char(4)", "'ab'", "''"),
    "d": ("date", "'2024-02-29'", "'0044-03-15 BC'"),
    "ti": ("time", "'23:59:59.999999'", "'00:00'"),
    "tz": ("timetz", "'12:00:00+05:30'", "'12:00-08'"),
    "ts": ("timestamp", "'2024-01-01 00:00:00.000001'", "'infinity'"),
    "tt": ("timestamptz", "'2024-07-01 12:00:00+02'", "'1900-01-01 00:00+00'"),
    "iv": ("interval", "'1 year -2 days 03:04:05.6'", "'-1 mon'"),
    "by": ("bytea", "'\\x00ff7f'", "'\\x'"),
    "u": ("uuid", "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", "'00000000-0000-0000-0000-000000000000'"),
    "j": ("json", "'{\"a\": [1, null]}'", "'1'"),
    "jb": ("jsonb", "'{\"b\": {\"c\": 1.50}}'", "'null'"),
    "ar": ("integer[]", "'{1,NULL,3}'", "'{}'"),
    "at": ("text[]", "'{\"a b\",\"\",NULL,\"\\\"\"}'", "'{{x,y},{z,w}}'"),
    "ip": ("inet", "'10.0.0.1/8'", "'::1'"),
    "ra": ("int4range", "'[1,5)'", "'empty'"),
    "bi": ("bit varying", "B'1010'", "B''"),
}


def types(near, far):
    columns = ", ".join(f"{name} {entry[0]}" for name, entry in VALUES.items())
    far(f"CREATE TABLE far.types (k integer, {columns}); INSERT INTO far.types VALUES "
        f"(1, {', '.join(e[1] for e in VALUES.values())}), (2, {', '.join(e[2] for e in VALUES.values())}), "
        f"(3, {', '.join('NULL' for _ in VALUES)})")
    near(f"CREATE FOREIGN TABLE types (k integer, {columns}) SERVER far OPTIONS (schema_name 'far')")
    # Whatever the settings are here, the values are the same.
    for settings in ("", "SET timezone = 'Asia/Tokyo'; SET datestyle = 'German'; SET intervalstyle = 'iso_8601';"):
        for name in VALUES:
            query = f"{settings} SELECT k, {name} FROM TABLE ORDER BY k"
            want, problem = far.run(query.replace("TABLE", "far.types"))
            if problem:
                fail(f"{query}: {problem}")
            near(query.replace("TABLE", "types"), want)
    for name, (kind, first, _) in VALUES.items():
        if kind in ("json", "real"):
            continue
        near(f"SELECT k FROM types WHERE {name} = {first}", "1")
        near(f"SELECT k FROM types WHERE {name} IS NULL", "3")
        near(f"SELECT k FROM types WHERE {name} IS NOT NULL AND NOT {name} = {first} ORDER BY k", "2")
    for name in ("i4", "i8", "n2", "f8", "d", "ts", "tt", "t"):
        first, second = VALUES[name][1:]
        for operator in ("<", "<=", ">", ">=", "<>"):
            query = f"SELECT k FROM TABLE WHERE {name} {operator} {second} ORDER BY k"
            near(query.replace("TABLE", "types"), far.run(query.replace("TABLE", "far.types"))[0])
    # A value that the type here does not take.
    near("CREATE FOREIGN TABLE narrow (k integer, i8 integer, v varchar(3)) SERVER far OPTIONS (schema_name 'far', "
         "table_name 'types')")
    near("SELECT i8 FROM narrow", "ERROR: 22003")
    near("SELECT v FROM narrow", "ERROR: 22001")
    near("SELECT v FROM narrow", 'ERROR: CONTEXT:  column "v" of foreign table "narrow"')


def users_types(near, far):
    for client, schema in ((near, "public"), (far, "far")):
        client(f"CREATE TYPE {schema}.mood AS ENUM ('sad', 'glad'); CREATE TYPE {schema}.pair AS (a integer, m text)")
    far("CREATE TABLE far.own (k integer, m far.mood, p far.pair, ms far.mood[]); "
        "INSERT INTO far.own VALUES (1, 'glad', ROW(1, 'x y'), '{sad,glad}'), (2, NULL, NULL, NULL)")
    near("CREATE FOREIGN TABLE own (k integer, m mood, p pair, ms mood[]) SERVER far OPTIONS (schema_name 'far')")
    near("SELECT * FROM own ORDER BY k", '1|glad|(1,"x y")|{sad,glad}\n2|||')
    near("SELECT k FROM own WHERE m = 'glad' AND (p).a = 1", "1")


def queries(near, far):
    far("CREATE TABLE far.big AS SELECT g AS a, g % 10 AS b, 'row ' || g AS \"C d\" FROM generate_series(1, 20000) g; "
        "CREATE TABLE far.small AS SELECT g AS a, 'small ' || g AS t FROM generate_series(1, 5) g")
    near("CREATE FOREIGN TABLE big (a integer, b integer, c text OPTIONS (column_name 'C d')) SERVER far "
         "OPTIONS (schema_name 'far'); "
         "CREATE FOREIGN TABLE small (a integer, t text) SERVER far OPTIONS (schema_name 'far', fetch_size '2'); "
         "CREATE TABLE local AS SELECT g AS a FROM generate_series(100, 110) g")
    near("SELECT count(*), sum(a), min(c), max(c) FROM big", "20000|200010000|row 1|row 9999")
    near("SELECT b, count(*) FROM big WHERE a <= 25 GROUP BY b ORDER BY b", "\n".join(f"{b}|{3 if 1 <= b <= 5 else 2}" for b in range(10)))
    near("SELECT * FROM big WHERE c = 'row 77'", "77|7|row 77")
    near("SELECT a FROM big WHERE a IN (5, 3, 20001) ORDER BY a", "3\n5")
    near("SELECT a FROM big WHERE a > 19998 OR c = 'row 1' ORDER BY a", "1\n19999\n20000")
    near("SELECT count(*) FROM big WHERE c LIKE 'row 1999%'", "11")
    near("SELECT count(*) FROM big WHERE c NOT LIKE '%\\_%' AND c LIKE '%7'", "2000")
    near("SELECT count(*) FROM big WHERE length(c) = 5", "9")  # not sent
    near("SELECT big.a, t FROM big JOIN small USING (a) ORDER BY 1", "\n".join(f"{i}|small {i}" for i in range(1, 6)))
    near("SELECT count(*) FROM big JOIN local USING (a)", "11")
    near("SELECT (SELECT max(c) FROM big WHERE big.a = small.a) FROM small ORDER BY 1", "\n".join(f"row {i}" for i in range(1, 6)))
    near("SELECT count(*) FROM small x, small y, small z", "125")
    near("SELECT a FROM big ORDER BY a DESC LIMIT 2", "20000\n19999")
    near("SELECT count(*) FROM (SELECT a FROM big LIMIT 7 OFFSET 3) s", "7")
    near("SELECT s.a, (s).t, s.tableoid::regclass FROM small s WHERE a = 2", "2|small 2|small")
    near("WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r JOIN small ON a = n) SELECT max(n) FROM r", "6")
    near("CREATE TABLE copied AS SELECT * FROM big WHERE b = 3; SELECT count(*) FROM copied", "2000")
    near("COPY (SELECT t FROM small ORDER BY a LIMIT 1) TO STDOUT", "small 1")
    near("PREPARE p AS SELECT a FROM big WHERE a = $1; EXECUTE p(5); EXECUTE p(6); EXECUTE p(20001)", "5\n6")
    near("BEGIN; DECLARE c CURSOR FOR SELECT a FROM big ORDER BY a; FETCH 2 FROM c; SELECT count(*) FROM small; FETCH 1 FROM c; COMMIT",
         "1\n2\n5\n3")
    near("BEGIN; DECLARE c CURSOR FOR SELECT a FROM small; FETCH 1 FROM c; SELECT a FROM small WHERE a = 4; MOVE ALL IN c; COMMIT", "1\n4")
    near("BEGIN; SELECT count(*) FROM small; PREPARE TRANSACTION 'x'",
         "ERROR: 0A000: cannot PREPARE a transaction that has operated on postgres_fdw foreign tables")
    near("BEGIN; DECLARE c CURSOR WITH HOLD FOR SELECT a FROM small; FETCH 1 FROM c; COMMIT; FETCH 2 FROM c", "1\n2\n3")
    near("DO $$ DECLARE r record; n int := 0; BEGIN FOR r IN SELECT a FROM small LOOP n := n + r.a; END LOOP; "
         "IF n <> 15 THEN RAISE 'n is %', n; END IF; END $$")
    # A transaction sees one state of the other server.
    out, _ = near.run("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM small;\n"
                      f"\\! echo \"INSERT INTO far.small VALUES (6, 'six')\" | {' '.join(repr(c) for c in far.command)}\n"
                      "SELECT count(*) FROM small; COMMIT; SELECT count(*) FROM small")
    if out.split() != ["5", "5", "6"]:
        fail(f"a transaction sees one state: {out}")
    near("SELECT count(*) FROM small; SELECT server_name, valid FROM postgres_fdw_get_connections()", "6\nfar|t")
    near("SELECT count(*) FROM small; SELECT postgres_fdw_disconnect('far'), postgres_fdw_disconnect('far'); "
         "SELECT count(*) FROM postgres_fdw_get_connections()", "6\nt|f\n0")
    near("BEGIN; SELECT count(*) FROM small; SELECT postgres_fdw_disconnect_all()", 'ERROR: WARNING:  01000: cannot close connection '
         'for server "far" because it is still in use')


def plans(near):
    for query, remote in (
            ("SELECT a FROM big WHERE b = 3", 'SELECT a, b FROM far.big WHERE ((b = 3))'),
            ("SELECT c FROM big WHERE c = 'x' AND a > 5 AND length(c) = 3", "(\"C d\" = 'x'::text)"),
            ("SELECT c FROM big WHERE c LIKE '%x_y%'", "((\"C d\" ~~ '%x_y%'::text))"),
            ("SELECT count(*) FROM big", "SELECT NULL FROM far.big"),
            ("SELECT a FROM big LIMIT 5 OFFSET 2", "SELECT a FROM far.big LIMIT 7::bigint")):
        out, error = near.run("EXPLAIN (VERBOSE, COSTS OFF) " + query)
        if "Remote SQL: " not in out or remote not in out or "Foreign Scan on" not in out:
            fail(f"plan of {query}: {out} {error}")
    if "Remote SQL" in near.run("EXPLAIN SELECT a FROM big")[0]:
        fail("EXPLAIN without VERBOSE shows the remote query")
    if "LIMIT" in near.run("EXPLAIN (VERBOSE) SELECT a FROM big WHERE length(c) > 3 LIMIT 5")[0].split("Remote SQL")[1]:
        fail("a LIMIT above a predicate that is evaluated here is sent")


def errors(near, far):
    near("CREATE FOREIGN TABLE missing (a integer) SERVER far OPTIONS (schema_name 'far'); "
         "CREATE FOREIGN TABLE wrong (a integer, nobody text) SERVER far OPTIONS (schema_name 'far', table_name 'small')")
    near("SELECT * FROM missing", "ERROR: 42P01: relation \"far.missing\" does not exist")
    near("SELECT * FROM missing", "ERROR: remote SQL command: SELECT a FROM far.missing")
    near("SELECT nobody FROM wrong", "ERROR: 42703")
    near("SELECT a FROM wrong WHERE a = 1", "1")
    far("CREATE VIEW far.fails AS SELECT 1 / (a - 3) AS a FROM far.small")
    near("CREATE FOREIGN TABLE fails (a integer) SERVER far OPTIONS (schema_name 'far', fetch_size '1')")
    near("SELECT * FROM fails", "ERROR: 22012: division by zero")
    # The session goes on, and so does a transaction behind a savepoint.
    out, error = near.run("BEGIN; SAVEPOINT s; SELECT * FROM fails; ROLLBACK TO s; SELECT count(*) FROM small; COMMIT")
    if out != "6" or "22012" not in error:
        fail(f"behind a savepoint: {out} {error}")
    for statement, feature in (("INSERT INTO small VALUES (1)", "writing to foreign tables"),
                               ("UPDATE small SET a = 1", "writing to foreign tables"),
                               ("DELETE FROM small", "writing to foreign tables"),
                               ("TRUNCATE small", "TRUNCATE of foreign tables"),
                               ("COPY small FROM STDIN", "COPY FROM to foreign tables"),
                               ("SELECT ctid FROM small", "ctid"),
                               ("SELECT * FROM small FOR UPDATE", "FOR UPDATE"),
                               ("ANALYZE small", "ANALYZE of foreign tables")):
        near(statement, "ERROR: 0A000")
        near(statement, "ERROR: " + feature)
    near("CREATE SERVER nowhere FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '127.0.0.1', port '1'); "
         "CREATE USER MAPPING FOR PUBLIC SERVER nowhere; CREATE FOREIGN TABLE nowhere (a integer) SERVER nowhere")
    near("SELECT * FROM nowhere", "ERROR: 08001: could not connect to server \"nowhere\"")
    near("CREATE SERVER unmapped FOREIGN DATA WRAPPER postgres_fdw; CREATE FOREIGN TABLE unmapped (a integer) SERVER unmapped")
    near("SELECT * FROM unmapped", "ERROR: 42704: user mapping not found for \"postgres\"")
    near("EXPLAIN (COSTS OFF) SELECT * FROM unmapped", "Foreign Scan on unmapped")
    # Options that change between two runs of one prepared statement.
    near("PREPARE p AS SELECT count(*) FROM small; EXECUTE p; ALTER SERVER far OPTIONS (SET port '1');\nEXECUTE p", "ERROR: 08001")
    near(f"ALTER SERVER far OPTIONS (SET port '{far.port}'); SELECT count(*) FROM small", "6")


def imports(near, far):
    far("CREATE SCHEMA shop; CREATE TABLE shop.a (x integer NOT NULL DEFAULT 5, \"Y z\" varchar(7), g integer GENERATED ALWAYS AS (x + 1) STORED); "
        "CREATE TABLE shop.\"B\" (k numeric(8,3)); CREATE VIEW shop.v AS SELECT 1 AS one; INSERT INTO shop.a VALUES (DEFAULT, 'why')")
    near("CREATE SCHEMA shop; IMPORT FOREIGN SCHEMA nobody FROM SERVER far INTO shop",
         'ERROR: HV00Q: schema "nobody" is not present on foreign server "far"')
    near("IMPORT FOREIGN SCHEMA shop FROM SERVER far INTO shop OPTIONS (nonsense 'true')", 'ERROR: HV00D: invalid option "nonsense"')
    near("IMPORT FOREIGN SCHEMA shop LIMIT TO (a, nobody) FROM SERVER far INTO shop; SELECT * FROM shop.a", "5|why|6")
    near("SELECT attname, format_type(atttypid, atttypmod), attnotnull, attgenerated, attfdwoptions FROM pg_attribute "
         "WHERE attrelid = 'shop.a'::regclass AND attnum > 0 ORDER BY attnum",
         'x|integer|t||{column_name=x}\nY z|character varying(7)|f||{"column_name=Y z"}\ng|integer|f|s|{column_name=g}')
    near("IMPORT FOREIGN SCHEMA shop EXCEPT (a) FROM SERVER far INTO shop; SELECT relname FROM pg_class "
         "WHERE relnamespace = 'shop'::regnamespace ORDER BY 1", "B\na\nv")
    near("SELECT * FROM shop.v", "1")
    near("IMPORT FOREIGN SCHEMA shop FROM SERVER far INTO shop", 'ERROR: CONTEXT:  importing foreign table "B"')


def rights(near, far, conninfo, asks):
    """`asks`: the other server asks the role walter for his password."""
    walter = Client(conninfo, "walter")
    near("CREATE ROLE walter LOGIN; GRANT SELECT ON small, big TO walter; CREATE VIEW seen AS SELECT * FROM small WHERE a = 1; "
         "GRANT SELECT ON seen TO walter; GRANT USAGE ON FOREIGN SERVER far TO walter")
    far("CREATE ROLE walter LOGIN PASSWORD 'secret'; GRANT USAGE ON SCHEMA far TO walter; GRANT SELECT ON far.small TO walter")
    walter("SELECT count(*) FROM small", "ERROR: 42704: user mapping not found for \"walter\"")
    walter("SELECT * FROM seen", "1|small 1")  # as the view's owner
    walter("CREATE USER MAPPING FOR walter SERVER far OPTIONS (user 'walter')")
    walter("SELECT count(*) FROM small", "ERROR: 2F003: password is required")
    walter("SELECT count(*) FROM small", "ERROR: Non-superusers must provide a password in the user mapping.")
    walter("ALTER USER MAPPING FOR walter SERVER far OPTIONS (ADD password 'secret')")
    if asks:
        walter("SELECT count(*) FROM small", "6")
        walter("SELECT count(*) FROM big", "ERROR: 42501")
        walter("ALTER USER MAPPING FOR walter SERVER far OPTIONS (SET password 'wrong'); SELECT count(*) FROM small", "ERROR: 08001")
        walter("ALTER USER MAPPING FOR walter SERVER far OPTIONS (SET user 'postgres'); SELECT count(*) FROM small",
               "ERROR: Non-superuser cannot connect if the server does not request a password.")
    near("SET ROLE walter; SELECT 1 FROM unmapped", "ERROR: 42501")


def endings(near, far, farServer):
    far("CREATE VIEW far.slow AS SELECT g AS a, pg_sleep(0.05)::text AS t FROM generate_series(1, 100000) g")
    near("CREATE FOREIGN TABLE slow (a integer, t text) SERVER far OPTIONS (schema_name 'far', fetch_size '100000')")
    begun = time.monotonic()
    near("SET statement_timeout = '500ms'; SELECT count(t) FROM slow", "ERROR: 57014")
    if time.monotonic() - begun > 10:
        fail("a statement that is cancelled goes on")
    running = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%far.slow%' AND state = 'active' AND pid <> pg_backend_pid()"
    for _ in range(100):
        if far.run(running)[0] == "0":
            break
        time.sleep(0.1)
    else:
        fail("the other server still runs what was cancelled")
    # While one session waits for the other server, others go on.
    waiting = [subprocess.Popen(near.command + ["-c", "SELECT count(t) FROM slow"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True) for _ in range(6)]
    time.sleep(1)
    begun = time.monotonic()
    near("SELECT sum(g) FROM generate_series(1, 1000000) g", "500000500000")
    near("SELECT count(*) FROM big WHERE b = 1", "2000")
    if time.monotonic() - begun > 15:
        fail(f"others wait for a session that waits: {time.monotonic() - begun:.1f} s")
    for process in waiting:
        process.send_signal(signal.SIGINT)
    for process in waiting:
        _, error = process.communicate(timeout=60)
        if "57014" not in error and "canceling" not in error:
            fail(f"cancel: {error}")
    if not farServer:
        return
    # The other server does not answer: before a connection, and in the middle of one.
    farServer.process.send_signal(signal.SIGSTOP)
    begun = time.monotonic()
    near("SET statement_timeout = '500ms'; SELECT count(*) FROM small", "ERROR: 57014")
    farServer.process.send_signal(signal.SIGCONT)
    out, error = near.run("SELECT count(*) FROM small;\n"
                          f"\\! kill -STOP {farServer.process.pid}\n"
                          "SET statement_timeout = '500ms'; SELECT count(*) FROM small;\n"
                          f"\\! kill -CONT {farServer.process.pid}\n"
                          "SET statement_timeout = 0; SELECT count(*) FROM small")
    if out != "6\n6" or "57014" not in error:
        fail(f"a server that does not answer: {out} {error}")
    if time.monotonic() - begun > 30:
        fail(f"a server that does not answer holds a statement for {time.monotonic() - begun:.1f} s")
    # The other server dies while it is read, and between two statements.
    reading = subprocess.Popen(near.command + ["-c", "SELECT count(t) FROM slow"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True)
    time.sleep(1)
    session = subprocess.Popen(near.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    session.stdin.write("SELECT count(*) FROM small;\n\\! sleep 3\nSELECT count(*) FROM small;\nSELECT 'goes on';\n")
    session.stdin.flush()
    time.sleep(1)
    farServer.process.kill()
    farServer.process.wait()
    _, error = reading.communicate(timeout=60)
    if "08006" not in error:
        fail(f"a server that dies while it is read: {error}")
    out, error = session.communicate(timeout=60)
    if out.split("\n")[0] != "6" or "goes on" not in out or "08001" not in error:
        fail(f"a server that has died: {out} {error}")
    farServer.start()
    near("SELECT count(*) FROM small", "6")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--far", default="")
    args = parser.parse_args()
    build = os.path.relpath(os.path.dirname(os.path.abspath(args.binary)), ROOT)
    rules = tempfile.NamedTemporaryFile("w", suffix=".conf")
    rules.write("host all walter 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n")
    rules.flush()
    nearServer = Server(build)
    farServer = None if args.far else Server(build, ["--hba", rules.name])
    try:
        nearServer.start()
        if farServer:
            farServer.start()
        conninfo = args.far or farServer.conninfo()
        near, far = Client(nearServer.conninfo()), Client(conninfo)
        settings = dict(pair.split("=") for pair in conninfo.split())
        far.port = settings["port"]
        far("CREATE SCHEMA far")
        near("CREATE EXTENSION postgres_fdw; "
             f"CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '{settings['host']}', port '{settings['port']}', "
             f"dbname '{settings['dbname']}'); CREATE USER MAPPING FOR postgres SERVER far OPTIONS (user 'postgres')")
        types(near, far)
        users_types(near, far)
        queries(near, far)
        plans(near)
        errors(near, far)
        imports(near, far)
        rights(near, far, nearServer.conninfo(), farServer is not None)
        endings(near, far, farServer)
        if nearServer.stop() != 0 or (farServer and farServer.stop() != 0):
            fail("the servers stop")
        if "secret" in open(nearServer.data + ".log", errors="replace").read():
            fail("the log has a password")
    finally:
        for server in (nearServer, farServer):
            if server:
                server.stop()
                server.remove()
    print("failed" if failures else "passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
