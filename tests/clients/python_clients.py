#!/usr/bin/env python3
"""What programs in Python do with psycopg 3 and asyncpg, against a running server.

    tests/clients/python_clients.py --binary build/relassert/ouzel     starts a server of its own
    tests/clients/python_clients.py --target 127.0.0.1:5432            uses that one (PostgreSQL, to check the tests)

Exit status 77 when neither client is installed (pip install -r tests/clients/requirements.txt)."""
import argparse
import asyncio
import datetime as dt
import decimal
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid

try:
    import psycopg
    from psycopg.rows import dict_row
except ImportError:
    psycopg = None
try:
    import asyncpg
except ImportError:
    asyncpg = None

D = decimal.Decimal
ROW = {
    "a_bool": (True, "boolean"), "a_int2": (-7, "int2"), "a_int4": (2**31 - 1, "int4"), "a_int8": (-(2**63), "int8"),
    "a_float8": (0.1, "float8"), "a_numeric": (D("-12345678901234567890.000123"), "numeric"), "a_text": ("Grüße, 世界 \\ '", "text"),
    "a_bytea": (bytes(range(256)), "bytea"), "a_date": (dt.date(1999, 12, 31), "date"),
    "a_time": (dt.time(23, 59, 59, 999999), "time"), "a_timestamp": (dt.datetime(2024, 2, 29, 12, 0, 0, 5), "timestamp"),
    "a_timestamptz": (dt.datetime(2024, 7, 1, 12, 0, tzinfo=dt.timezone.utc), "timestamptz"),
    "a_interval": (dt.timedelta(days=3, seconds=4, microseconds=5), "interval"),
    "a_uuid": (uuid.UUID("01234567-89ab-cdef-0123-456789abcdef"), "uuid"),
}
TABLE = "CREATE TABLE client_types (" + ", ".join(f"{name} {kind}" for name, (_, kind) in ROW.items()) + ")"


# ---- psycopg 3 ----

def psycopg_types(connect):
    """Every type there and back, as text and in binary."""
    with connect() as c:
        c.execute("DROP TABLE IF EXISTS client_types")
        c.execute(TABLE)
        marks = ", ".join(["%s"] * len(ROW))
        c.execute(f"INSERT INTO client_types VALUES ({marks})", [value for value, _ in ROW.values()])
        c.execute(f"INSERT INTO client_types VALUES ({marks})", [None] * len(ROW))
        for binary in (False, True):
            rows = c.cursor(binary=binary, row_factory=dict_row).execute("SELECT * FROM client_types ORDER BY a_int2 NULLS LAST").fetchall()
            assert len(rows) == 2
            for name, (value, _) in ROW.items():
                assert rows[0][name] == value, (binary, name, rows[0][name])
                assert rows[1][name] is None
        c.execute("DROP TABLE client_types")


def psycopg_transactions(connect):
    with connect() as c:
        c.execute("DROP TABLE IF EXISTS client_tx")
        c.execute("CREATE TABLE client_tx (a int)")
        c.commit()
        with c.transaction():
            c.execute("INSERT INTO client_tx VALUES (1)")
        try:
            with c.transaction():
                c.execute("INSERT INTO client_tx VALUES (2)")
                c.execute("SELECT 1/0")
        except psycopg.errors.DivisionByZero as error:
            assert error.sqlstate == "22012"
        assert c.execute("SELECT count(*), sum(a) FROM client_tx").fetchone() == (1, 1)
        c.execute("DROP TABLE client_tx")


def psycopg_many(connect):
    """executemany uses a pipeline; the same statement run often gets prepared."""
    with connect() as c:
        c.execute("DROP TABLE IF EXISTS client_many")
        c.execute("CREATE TABLE client_many (a int, b text)")
        c.cursor().executemany("INSERT INTO client_many VALUES (%s, %s)", [(i, f"row {i}") for i in range(1000)])
        for i in range(20):
            assert c.execute("SELECT b FROM client_many WHERE a = %s", (i,)).fetchone() == (f"row {i}",)
        with c.pipeline():
            cursors = [c.execute("SELECT %s::int + 1", (i,)) for i in range(50)]
        assert [cursor.fetchone()[0] for cursor in cursors] == list(range(1, 51))
        with c.cursor(name="server_side") as cursor:
            cursor.itersize = 100
            cursor.execute("SELECT a FROM client_many ORDER BY a")
            assert [a for (a,) in cursor] == list(range(1000))
        c.execute("DROP TABLE client_many")


def psycopg_stream(connect):
    with connect() as c:
        total = 0
        for (g,) in c.cursor().stream("SELECT g FROM generate_series(1, 20000) g"):
            total += g
        assert total == 20000 * 20001 // 2


def psycopg_copy(connect):
    rows = [(i, f"text\twith tab {i}\n" if i % 3 else None, D(i) / 4) for i in range(5000)]
    with connect() as c:
        for form in ("", " (FORMAT csv)", " (FORMAT binary)"):
            c.execute("DROP TABLE IF EXISTS client_copy")
            c.execute("CREATE TABLE client_copy (a int, b text, d numeric(12,2))")
            with c.cursor().copy("COPY client_copy FROM STDIN" + (form if "binary" in form else "")) as copy:
                if "binary" in form:
                    copy.set_types(["int4", "text", "numeric"])
                for row in rows:
                    copy.write_row(row)
            assert c.execute("SELECT * FROM client_copy ORDER BY a").fetchall() == rows
            data = b""
            with c.cursor().copy("COPY (SELECT * FROM client_copy ORDER BY a) TO STDOUT" + form) as copy:
                if form == "":
                    copy.set_types(["int4", "text", "numeric"])
                    assert list(copy.rows()) == rows
                else:
                    data = b"".join(bytes(piece) for piece in copy)
            if data:
                c.execute("TRUNCATE client_copy")
                with c.cursor().copy("COPY client_copy FROM STDIN" + form) as copy:
                    for start in range(0, len(data), 777):
                        copy.write(data[start:start + 777])
                assert c.execute("SELECT * FROM client_copy ORDER BY a").fetchall() == rows
        try:
            with c.cursor().copy("COPY client_copy FROM STDIN") as copy:
                copy.write("1\tx\tno number\n")
        except psycopg.errors.InvalidTextRepresentation as error:
            assert "client_copy, line 1, column d" in error.diag.context, error.diag.context
        else:
            raise AssertionError("a bad row was taken")


def psycopg_cancel(connect):
    with connect() as c:
        done = threading.Event()

        def cancel_until_heard():  # one that comes before the statement has begun has no effect
            while not done.wait(0.3):
                c.cancel()

        canceller = threading.Thread(target=cancel_until_heard)
        canceller.start()
        try:
            c.execute("SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b")
        except psycopg.errors.QueryCanceled:
            pass
        else:
            raise AssertionError("not cancelled")
        finally:
            done.set()
            canceller.join()
        c.rollback()
        assert c.execute("SELECT 1").fetchone() == (1,)
        c.rollback()
        c.autocommit = True
        c.execute("SET statement_timeout = '200ms'")
        start = time.monotonic()
        try:
            c.execute("SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b")
        except psycopg.errors.QueryCanceled as error:
            assert "statement timeout" in str(error)
        assert time.monotonic() - start < 120


def psycopg_errors(connect):
    with connect() as c:
        c.autocommit = True
        for sql, state in (("SELEC 1", "42601"), ("SELECT * FROM nosuch", "42P01"), ("SELECT nosuch", "42703"), ("SELECT nosuch(1)", "42883"),
                           ("SELECT 'x'::int", "22P02"), ("SELECT 1/0", "22012"), ("SELECT 2147483647 + 1", "22003"), ("SELECT 1 + true", "42883")):
            try:
                c.execute(sql)
            except psycopg.Error as error:
                assert error.sqlstate == state, (sql, error.sqlstate)
            else:
                raise AssertionError(sql)
        assert c.info.server_version // 10000 == 15
        assert c.info.encoding == "utf-8"


# ---- asyncpg: always prepared, always binary ----

async def asyncpg_all(host, port):
    c = await asyncpg.connect(host=host, port=port, user="postgres", database="postgres", statement_cache_size=50)
    await c.execute("DROP TABLE IF EXISTS client_types; " + TABLE)
    marks = ", ".join(f"${i + 1}" for i in range(len(ROW)))
    values = [value for value, _ in ROW.values()]
    await c.execute(f"INSERT INTO client_types VALUES ({marks})", *values)
    row = await c.fetchrow("SELECT * FROM client_types")
    for name, (value, _) in ROW.items():
        assert row[name] == value, (name, row[name])
    await c.executemany(f"INSERT INTO client_types VALUES ({marks})", [values] * 100)
    assert await c.fetchval("SELECT count(*) FROM client_types") == 101
    async with c.transaction():
        seen = 0
        async for _ in c.cursor("SELECT g FROM generate_series(1, 500) g", prefetch=40):
            seen += 1
        assert seen == 500
    statement = await c.prepare("SELECT $1::int8 * 2, $2::text")
    assert [p.name for p in statement.get_parameters()] == ["int8", "text"]
    assert tuple(await statement.fetchrow(21, "x")) == (42, "x")
    await c.copy_records_to_table("client_types", records=[values] * 10, columns=list(ROW))
    assert await c.fetchval("SELECT count(*) FROM client_types") == 111
    try:
        await c.fetch("SELECT pg_typeof($1::int) FROM nosuch")
    except asyncpg.UndefinedTableError:
        pass
    try:
        await asyncio.wait_for(c.fetch("SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b"), 1)
    except asyncio.TimeoutError:
        pass
    assert await c.fetchval("SELECT 1") == 1
    await c.execute("DROP TABLE client_types")
    await c.reset()
    await c.close()


def start_server(binary):
    home = tempfile.mkdtemp(prefix="ouzel-clients-")
    process = subprocess.Popen([binary, "serve", "--data", home + "/data", "--port", "0"], stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        found = re.search(r" -p (\d+)", line)
        if found:
            return process, home, int(found.group(1))
    raise SystemExit("the server ended at start")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary")
    parser.add_argument("--target")
    parser.add_argument("only", nargs="*")
    arguments = parser.parse_args()
    if psycopg is None and asyncpg is None:
        return 77
    process = home = None
    if arguments.target:
        host, port = arguments.target.rsplit(":", 1)
    else:
        process, home, port = start_server(arguments.binary)
        host = "127.0.0.1"
    tests = []
    if psycopg:
        connect = lambda: psycopg.connect(host=host, port=port, user="postgres", dbname="postgres")  # noqa: E731
        tests += [(name, lambda test=test: test(connect)) for name, test in sorted(globals().items()) if name.startswith("psycopg_")]
    if asyncpg:
        tests.append(("asyncpg_all", lambda: asyncio.run(asyncpg_all(host, int(port)))))
    passed = failed = 0
    for name, test in tests:
        if arguments.only and name not in arguments.only:
            continue
        try:
            test()
            passed += 1
        except Exception as error:  # noqa: BLE001: any failure is reported and the next test goes on
            failed += 1
            print(f"{name}: {type(error).__name__}: {error}", flush=True)
    if process:
        process.send_signal(signal.SIGTERM)
        if process.wait(180) != 0:
            failed += 1
            print(f"server ended with {process.returncode}")
        shutil.rmtree(home, ignore_errors=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
