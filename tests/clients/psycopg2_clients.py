"""psycopg 2: text everywhere, parameters put in by the client."""
import io

import psycopg2
import psycopg2.extras

from client_values import NAMES, ROWS, create

psycopg2.extras.register_uuid()


def connect(host, port):
    return psycopg2.connect(host=host, port=port, user="postgres", dbname="postgres")


def test_psycopg2_types(host, port):
    with connect(host, port) as c, c.cursor() as cursor:
        cursor.execute(create("client_types2"))
        marks = ", ".join(["%s"] * (len(NAMES) + 1))
        for i, row in enumerate(ROWS):
            cursor.execute(f"INSERT INTO client_types2 VALUES ({marks})", (i, *row))
        cursor.execute("SELECT * FROM client_types2 ORDER BY id")
        for got, wanted in zip(cursor.fetchall(), ROWS):
            for name, value, back in zip(NAMES, wanted, got[1:]):
                assert (bytes(back) if isinstance(back, memoryview) else back) == value, (name, back, value)
        psycopg2.extras.execute_values(cursor, "INSERT INTO client_types2 (id, a_text) VALUES %s", [(i, str(i)) for i in range(100)])
        cursor.execute("SELECT count(*) FROM client_types2")
        assert cursor.fetchone() == (103,)
        cursor.execute("DROP TABLE client_types2")


def test_psycopg2_cursors_and_copy(host, port):
    with connect(host, port) as c:
        with c.cursor() as cursor:
            cursor.execute("DROP TABLE IF EXISTS client_copy2; CREATE TABLE client_copy2 (a int, b text)")
            cursor.copy_from(io.StringIO("".join(f"{i}\trow {i}\n" for i in range(1000))), "client_copy2")
            out = io.StringIO()
            cursor.copy_expert("COPY client_copy2 TO STDOUT WITH CSV HEADER", out)
            assert out.getvalue().startswith("a,b\n0,row 0\n") and out.getvalue().count("\n") == 1001
        with c.cursor("named", cursor_factory=psycopg2.extras.DictCursor) as cursor:
            cursor.itersize = 70
            cursor.execute("SELECT * FROM client_copy2 ORDER BY a")
            assert [row["b"] for row in cursor] == [f"row {i}" for i in range(1000)]
        with c.cursor() as cursor:
            cursor.execute("DROP TABLE client_copy2")
            try:
                cursor.execute("SELECT nosuch FROM pg_class")
            except psycopg2.Error as error:
                assert error.pgcode == "42703" and error.diag.statement_position == "8"
            c.rollback()
    for level in ("READ COMMITTED", "REPEATABLE READ"):
        c.set_session(isolation_level=level, readonly=True)
        with c, c.cursor() as cursor:
            cursor.execute("SELECT current_setting('transaction_isolation')")
            assert cursor.fetchone() == (level.lower(),)
    c.close()
