"""psycopg 3."""
import threading
import time
from decimal import Decimal as D

import psycopg
from psycopg import sql
from psycopg.rows import dict_row

from client_values import COLUMNS, ENDLESS, NAMES, ROWS, create


def connect(host, port, **more):
    return psycopg.connect(host=host, port=port, user="postgres", dbname="postgres", **more)


def expect(error_class, action, *args):
    try:
        action(*args)
    except error_class as error:
        return error
    raise AssertionError(f"no {error_class.__name__}")


def test_psycopg_types(host, port):
    """Every type there and back: parameters as text and binary, results as text and binary."""
    with connect(host, port) as c:
        for place in ("%s", "%t", "%b"):
            c.execute(create("client_types"))
            marks = ", ".join(["%s"] + [place] * len(NAMES))
            for i, row in enumerate(ROWS):
                c.execute(f"INSERT INTO client_types VALUES ({marks})", (i, *row))
            for binary in (False, True):
                rows = c.cursor(binary=binary, row_factory=dict_row).execute("SELECT * FROM client_types ORDER BY id").fetchall()
                assert len(rows) == len(ROWS)
                for row, wanted in zip(rows, ROWS):
                    for name, value in zip(NAMES, wanted):
                        assert row[name] == value, (place, binary, name, row[name])
        c.execute("DROP TABLE client_types")


def test_psycopg_type_names(host, port):
    with connect(host, port) as c:
        c.execute(create("client_types"))
        cursor = c.execute("SELECT * FROM client_types")
        kinds = {column.name: column for column in cursor.description}
        assert kinds["a_numeric_12_2"].precision == 12 and kinds["a_numeric_12_2"].scale == 2
        assert kinds["a_varchar"].display_size == 40 and kinds["a_int4"].internal_size == 4
        assert kinds["a_timestamptz"].type_display == "timestamptz", kinds["a_timestamptz"].type_display
        c.execute("DROP TABLE client_types")


def test_psycopg_arrays(host, port):
    with connect(host, port) as c:
        for binary in (False, True):
            row = c.cursor(binary=binary).execute("SELECT ARRAY[1, 2, NULL], ARRAY['a', 'b c', NULL]::text[], %s::int[] || 4",
                                                  ([1, 2, 3],)).fetchone()
            assert row == ([1, 2, None], ["a", "b c", None], [1, 2, 3, 4]), row
        c.execute("DROP TABLE IF EXISTS client_any; CREATE TABLE client_any AS SELECT g AS a FROM generate_series(1, 10) g")
        assert c.execute("SELECT sum(a) FROM client_any WHERE a = ANY(%s)", ([2, 4, 99],)).fetchone() == (6,)
        c.execute("DROP TABLE client_any")


def test_psycopg_transactions(host, port):
    with connect(host, port) as c:
        c.execute("DROP TABLE IF EXISTS client_tx; CREATE TABLE client_tx (a int)")
        c.commit()
        with c.transaction():
            c.execute("INSERT INTO client_tx VALUES (1)")
            with c.transaction(force_rollback=True):
                c.execute("INSERT INTO client_tx VALUES (100)")

        def failing():
            with c.transaction():
                c.execute("INSERT INTO client_tx VALUES (2)")
                c.execute("SELECT 1/0")
        assert expect(psycopg.errors.DivisionByZero, failing).sqlstate == "22012"
        assert c.execute("SELECT count(*), sum(a) FROM client_tx").fetchone() == (1, 1)
        c.execute("INSERT INTO client_tx VALUES (3)")
        c.rollback()
        assert c.execute("SELECT count(*) FROM client_tx").fetchone() == (1,)
        c.execute("DROP TABLE client_tx")
    for level in (psycopg.IsolationLevel.READ_COMMITTED, psycopg.IsolationLevel.REPEATABLE_READ):
        with connect(host, port) as c:
            c.isolation_level = level
            c.read_only = True
            assert c.execute("SHOW transaction_isolation").fetchone()[0] == level.name.lower().replace("_", " ")
            expect(psycopg.errors.ReadOnlySqlTransaction, c.execute, "CREATE TABLE client_never (a int)")


def test_psycopg_prepared(host, port):
    """The same statement run often gets prepared; DDL in between changes what it means."""
    with connect(host, port, prepare_threshold=2, autocommit=True) as c:
        c.execute("DROP TABLE IF EXISTS client_many; CREATE TABLE client_many (a int, b text)")
        c.cursor().executemany("INSERT INTO client_many VALUES (%s, %s)", [(i, f"row {i}") for i in range(1000)])
        for i in range(20):
            assert c.execute("SELECT b FROM client_many WHERE a = %s", (i,)).fetchone() == (f"row {i}",)
        assert c.execute("SELECT count(*) > 0 FROM pg_prepared_statements").fetchone() == (True,)
        rows = c.cursor()
        rows.executemany("INSERT INTO client_many VALUES (%s, %s) RETURNING a", [(5000, "x"), (5001, "y")], returning=True)
        assert rows.fetchone() == (5000,) and rows.nextset() and rows.fetchone() == (5001,)
        assert c.execute("UPDATE client_many SET b = 'new' WHERE a < %s", (10,)).rowcount == 10
        assert c.execute("DELETE FROM client_many WHERE a >= %s", (5000,)).rowcount == 2
        c.execute("DROP TABLE client_many")


def test_psycopg_pipeline(host, port):
    with connect(host, port, autocommit=True) as c:
        c.execute("DROP TABLE IF EXISTS client_pipe; CREATE TABLE client_pipe (a int)")
        with c.pipeline() as pipeline:
            cursors = [c.execute("SELECT %s::int + 1", (i,)) for i in range(50)]
            c.execute("INSERT INTO client_pipe VALUES (1)")
            pipeline.sync()
            after = c.execute("SELECT 'after'")
        assert [cursor.fetchone()[0] for cursor in cursors] == list(range(1, 51))
        assert after.fetchone() == ("after",)

        def failing():
            with c.pipeline():
                c.execute("SELECT 1 / %s::int", (0,))
                c.execute("INSERT INTO client_pipe VALUES (2)")
        expect(psycopg.errors.DivisionByZero, failing)
        assert c.execute("SELECT sum(a) FROM client_pipe").fetchone() == (1,)
        c.execute("DROP TABLE client_pipe")


def test_psycopg_cursors(host, port):
    with connect(host, port) as c:
        c.execute("DROP TABLE IF EXISTS client_cursor; CREATE TABLE client_cursor AS SELECT g AS a, g::text AS b FROM generate_series(0, 999) g")
        for binary in (False, True):
            with c.cursor(name="server_side", binary=binary) as cursor:
                cursor.itersize = 100
                cursor.execute("SELECT a, b FROM client_cursor WHERE a >= %s ORDER BY a", (0,))
                assert [column.name for column in cursor.description] == ["a", "b"]
                assert cursor.fetchone() == (0, "0")
                assert cursor.fetchmany(3) == [(1, "1"), (2, "2"), (3, "3")]
                assert [a for a, _ in cursor] == list(range(4, 1000))
        total = 0
        for (g,) in c.cursor().stream("SELECT g FROM generate_series(1, 20000) g"):
            total += g
        assert total == 20000 * 20001 // 2
        with psycopg.ClientCursor(c) as cursor:
            assert cursor.execute("SELECT %s, %s", ("it's \\", D("1.50"))).fetchone() == ("it's \\", D("1.50"))
        with psycopg.RawCursor(c) as cursor:
            assert cursor.execute("SELECT $1::int + $2::int", [1, 2]).fetchone() == (3,)
        c.execute("DROP TABLE client_cursor")


def test_psycopg_copy(host, port):
    rows = [(i, f"text\twith tab {i}\n" if i % 3 else None, D(i) / 4) for i in range(5000)]
    with connect(host, port) as c:
        for form in ("", " (FORMAT csv)", " (FORMAT binary)"):
            c.execute("DROP TABLE IF EXISTS client_copy; CREATE TABLE client_copy (a int, b text, d numeric(12,2))")
            with c.cursor().copy("COPY client_copy FROM STDIN" + (form if "binary" in form else "")) as copy:
                if "binary" in form:
                    copy.set_types(["int4", "text", "numeric"])
                for row in rows:
                    copy.write_row(row)
            assert c.execute("SELECT * FROM client_copy ORDER BY a").fetchall() == rows
            data = b""
            with c.cursor().copy("COPY (SELECT * FROM client_copy ORDER BY a) TO STDOUT" + form) as copy:
                if "csv" in form:
                    data = b"".join(bytes(piece) for piece in copy)
                else:
                    copy.set_types(["int4", "text", "numeric"])
                    assert list(copy.rows()) == rows
            if data:
                c.execute("TRUNCATE client_copy")
                with c.cursor().copy("COPY client_copy FROM STDIN" + form) as copy:
                    for start in range(0, len(data), 777):
                        copy.write(data[start:start + 777])
                assert c.execute("SELECT * FROM client_copy ORDER BY a").fetchall() == rows

        def bad_row():
            with c.cursor().copy("COPY client_copy FROM STDIN") as copy:
                copy.write("1\tx\t1\n2\tx\tno number\n")
        error = expect(psycopg.errors.InvalidTextRepresentation, bad_row)
        assert error.diag.context == 'COPY client_copy, line 2, column d: "no number"', error.diag.context
        c.rollback()

        def given_up():
            with c.cursor().copy("COPY client_none FROM STDIN"):
                pass
        expect(psycopg.errors.UndefinedTable, given_up)


def test_psycopg_copy_every_type(host, port):
    with connect(host, port) as c:
        for form in ("", " (FORMAT binary)"):
            c.execute(create("client_copy_types"))
            kinds = ["int4"] + [kind.split("(")[0] for kind, _ in COLUMNS.values()]
            kinds = [{"char": "text", "boolean": "bool"}.get(kind, kind) for kind in kinds]  # psycopg writes no bpchar
            with c.cursor().copy("COPY client_copy_types FROM STDIN" + form) as copy:
                copy.set_types(kinds)
                for i, row in enumerate(ROWS):
                    copy.write_row((i, *row))
            with c.cursor().copy("COPY client_copy_types TO STDOUT" + form) as copy:
                copy.set_types(kinds)
                back = sorted(copy.rows())
            for got, wanted in zip(back, ROWS):
                assert got[1:] == wanted, (form, got, wanted)
        c.execute("DROP TABLE client_copy_types")


def test_psycopg_cancel_and_timeout(host, port):
    with connect(host, port, autocommit=True) as c:
        done = threading.Event()

        def cancel_until_heard():  # one that comes before the statement has begun has no effect
            while not done.wait(0.3):
                c.cancel()
        canceller = threading.Thread(target=cancel_until_heard)
        canceller.start()
        try:
            assert "user request" in str(expect(psycopg.errors.QueryCanceled, c.execute, ENDLESS))
        finally:
            done.set()
            canceller.join()
        assert c.execute("SELECT 1").fetchone() == (1,)
        c.execute("SET statement_timeout = '200ms'")
        start = time.monotonic()
        assert "statement timeout" in str(expect(psycopg.errors.QueryCanceled, c.execute, ENDLESS))
        assert time.monotonic() - start < 120


def test_psycopg_errors(host, port):
    with connect(host, port, autocommit=True) as c:
        for text, state, position in (
                ("SELEC 1", "42601", 1), ("SELECT * FROM nosuch", "42P01", 15), ("SELECT nosuch", "42703", 8), ("SELECT nosuch(1)", "42883", 8),
                ("SELECT 'x'::int", "22P02", 8), ("SELECT 1/0", "22012", None), ("SELECT 2147483647 + 1", "22003", None),
                ("SELECT 1 + true", "42883", 10), ("SELECT 'ä', nosuch", "42703", 13)):
            error = expect(psycopg.Error, c.execute, text)
            assert error.sqlstate == state, (text, error.sqlstate)
            assert error.diag.statement_position == (str(position) if position else None), (text, error.diag.statement_position)
            assert error.diag.severity == error.diag.severity_nonlocalized == "ERROR"
        c.execute("DROP TABLE IF EXISTS client_unique; CREATE TABLE client_unique (a int PRIMARY KEY, b int NOT NULL)")
        c.execute("INSERT INTO client_unique VALUES (1, 1)")
        error = expect(psycopg.errors.UniqueViolation, c.execute, "INSERT INTO client_unique VALUES (%s, 2)", (1,))
        assert error.diag.message_primary == 'duplicate key value violates unique constraint "client_unique_pkey"'
        assert error.diag.message_detail == "Key (a)=(1) already exists.", error.diag.message_detail
        assert (error.diag.schema_name, error.diag.table_name, error.diag.constraint_name) == ("public", "client_unique", "client_unique_pkey")
        error = expect(psycopg.errors.NotNullViolation, c.execute, "INSERT INTO client_unique VALUES (2, NULL)")
        assert (error.diag.table_name, error.diag.column_name) == ("client_unique", "b")
        assert error.diag.message_detail == "Failing row contains (2, null).", error.diag.message_detail
        error = expect(psycopg.errors.UndefinedFunction, c.execute, "SELECT abs('a', 2)")
        assert "explicit type casts" in error.diag.message_hint
        c.execute("DROP TABLE client_unique")
        assert c.info.server_version // 10000 == 15 and c.info.encoding == "utf-8"
        assert c.info.parameter_status("standard_conforming_strings") == "on"
        notices = []
        c.add_notice_handler(lambda diag: notices.append((diag.severity, diag.message_primary)))
        c.execute("DROP TABLE IF EXISTS client_nosuch")
        assert notices == [("NOTICE", 'table "client_nosuch" does not exist, skipping')], notices


def test_psycopg_composed(host, port):
    with connect(host, port) as c:
        name = 'odd "name" Ü'
        c.execute(sql.SQL("DROP TABLE IF EXISTS {}; CREATE TABLE {} ({} int)").format(*[sql.Identifier(name)] * 3))
        c.execute(sql.SQL("INSERT INTO {} VALUES ({})").format(sql.Identifier(name), sql.Literal(5)))
        cursor = c.execute(sql.SQL("SELECT * FROM {}").format(sql.Identifier(name)))
        assert cursor.description[0].name == name and cursor.fetchone() == (5,)
        c.execute(sql.SQL("DROP TABLE {}").format(sql.Identifier(name)))
        assert psycopg.types.TypeInfo.fetch(c, "numeric").oid == 1700
