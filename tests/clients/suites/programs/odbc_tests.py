"""What users of psqlODBC do, through pyodbc: values of all types, prepared statements, fetching by cursors (UseDeclareFetch), catalog
functions, transactions. Writes a JSON object: for each test what it has seen, which odbc.py compares between servers."""
import datetime
import decimal
import json
import re
import sys
import uuid

import pyodbc

driver, host, port, user, database = sys.argv[1:6]
pyodbc.pooling = False
TESTS = {}

KINDS = {int: "bigint", float: "float8", decimal.Decimal: "numeric", bool: "bool", datetime.date: "date", datetime.time: "time", datetime.datetime: "timestamp", bytes: "bytea",
         uuid.UUID: "uuid"}


def connect(autocommit=False, **options):
    words = {"Driver": driver, "Server": host, "Port": port, "Uid": user, "Pwd": "x", "Database": database, "BoolsAsChar": "0", "MaxVarcharSize": "255", **options}
    connection = pyodbc.connect(";".join(f"{name}={value}" for name, value in words.items()), autocommit=autocommit)
    connection.setdecoding(pyodbc.SQL_CHAR, encoding="utf-8")
    connection.setdecoding(pyodbc.SQL_WCHAR, encoding="utf-16le")
    connection.setencoding(encoding="utf-8")
    return connection


def test(*variants):
    """A test for each set of options: plain, by cursors, ..."""
    def enter(function):
        for options in variants or ({},):
            suffix = "".join(f"_{name}_{value}" for name, value in options.items())
            TESTS[function.__name__ + suffix] = (function, options)
        return function
    return enter


PLAIN, FETCH, SERVER = {}, {"UseDeclareFetch": "1", "Fetch": "7"}, {"UseServerSidePrepare": "1"}
CLIENT = {"UseServerSidePrepare": "0"}


def shown(rows):
    return [[str(type(value).__name__) + " " + repr(value) for value in row] for row in rows]


def described(cursor):
    return [[column[0], column[1].__name__, *column[3:]] for column in cursor.description or []]


def state(action):
    try:
        action()
        return "none"
    except pyodbc.Error as error:
        return error.args[0]


LITERALS = {
    "smallint": "-5::smallint", "int": "2147483647", "bigint": "-9223372036854775807", "real": "1.5::real", "double": "1e300::float8", "numeric": "12345.6789::numeric",
    "numeric_scale": "1.5::numeric(9,3)", "text": "'it''s'::text", "unicode": "'\u00e4\u20ac'::text", "varchar": "'x'::varchar(9)", "bpchar": "'x'::char(4)", "name": "'n'::name",
    "bool": "true", "date": "'1999-12-31'::date", "time": "'23:59:59'::time", "timestamp": "'2024-02-29 12:34:56.789'::timestamp", "bytea": "'\\x0001ff'::bytea",
    "uuid": "'00000000-0000-0000-0000-00000000002a'::uuid", "json": "'{\"a\": 1}'::jsonb", "array": "ARRAY[1, NULL, 3]", "interval": "'1 day 2:03'::interval",
    "inet": "'10.0.0.1/8'::inet", "bit": "B'101'", "money": "'1234.5'::money", "oid": "7::oid", "null": "NULL::int", "point": "'(1,2)'::point", "range": "int4range(1, 5)",
    "timetz": "'12:00+02'::timetz", "nan": "'NaN'::float8", "char": "'c'::\"char\"", "regclass": "'pg_class'::regclass", "circle": "'<(1,2),3>'::circle", "enum": "'b'::odbc_mood",
    "composite": "ROW(1, 'x')::odbc_pair", "empty": "''", "long": "repeat('x', 5000)"}
PARAMETERS = {
    "int": 5, "big": 2 ** 40, "negative": -1, "float": 2.5, "decimal": decimal.Decimal("123.450"), "text": "it's \u00e4", "empty": "", "bool": True, "date": datetime.date(2024, 2, 29),
    "time": datetime.time(1, 2, 3), "timestamp": datetime.datetime(2024, 1, 2, 3, 4, 5, 678000), "bytes": b"\x00\x01\xff", "uuid": uuid.UUID(int=42), "null": None,
    "long": "y" * 20000, "long_bytes": b"z" * 20000, "quote": "a'b\\c\"d", "question": "what? $1 :x"}


def literals(name, sql):
    def run(connection):
        cursor = connection.execute(f"SELECT {sql} AS v")
        return described(cursor), shown(cursor.fetchall())
    run.__name__ = f"value_{name}"
    test(PLAIN, FETCH)(run)


def parameters(name, value):
    def run(connection):
        kind = KINDS.get(type(value), "text")
        cursor = connection.execute(f"SELECT ?::{kind} AS v, ?::{kind} IS NULL", value, value)
        return shown(cursor.fetchall())
    run.__name__ = f"parameter_{name}"
    test(SERVER, CLIENT)(run)


for one in LITERALS.items():
    literals(*one)
for one in PARAMETERS.items():
    parameters(*one)


@test(PLAIN, FETCH)
def many_rows(connection):
    cursor = connection.execute("SELECT i, 'row ' || i FROM generate_series(1, 1000) AS i ORDER BY i")
    first = [tuple(row) for row in cursor.fetchmany(3)]
    rest = cursor.fetchall()
    return first, len(rest), tuple(rest[-1])


@test(PLAIN, FETCH)
def two_cursors(connection):
    a, b = connection.cursor(), connection.cursor()
    a.execute("SELECT i FROM generate_series(1, 30) AS i ORDER BY 1")
    b.execute("SELECT i * 2 FROM generate_series(1, 30) AS i ORDER BY 1")
    return [(x[0], y[0]) for x, y in zip(a, b)]


@test(PLAIN, FETCH)
def cursor_over_commit(connection):
    cursor = connection.execute("SELECT i FROM generate_series(1, 30) AS i ORDER BY 1")
    first = cursor.fetchone()[0]
    connection.commit()
    return first, state(cursor.fetchall)


@test(PLAIN, FETCH)
def no_rows(connection):
    cursor = connection.execute("SELECT 1 AS a WHERE false")
    return described(cursor), cursor.fetchall()


@test(PLAIN, FETCH, CLIENT)
def several_results(connection):
    cursor = connection.execute("SELECT 1 AS a; SELECT 2 AS b, 3; UPDATE odbc_book SET price = price")
    results = [shown(cursor.fetchall())]
    while cursor.nextset():
        results.append(shown(cursor.fetchall()) if cursor.description else cursor.rowcount)
    return results


@test(PLAIN, FETCH, CLIENT)
def repeated(connection):
    cursor, found = connection.cursor(), []
    for i in range(12):
        found.append([tuple(row) for row in cursor.execute("SELECT title FROM odbc_book WHERE id = ?", i)])
    return found


@test(SERVER, CLIENT)
def writes(connection):
    cursor = connection.cursor()
    counts = []
    for sql, values in [("INSERT INTO odbc_book (title, price) VALUES (?, ?)", ("new", decimal.Decimal("9.75"))), ("UPDATE odbc_book SET price = price + ? WHERE price > ?", (1, 2)),
                        ("DELETE FROM odbc_book WHERE title LIKE ?", ("n%",)), ("UPDATE odbc_book SET title = title WHERE false", ())]:
        counts.append(cursor.execute(sql, *values).rowcount)
    return counts, shown(cursor.execute("SELECT title, price FROM odbc_book ORDER BY id").fetchall())


@test(SERVER, CLIENT)
def executemany(connection):
    cursor = connection.cursor()
    cursor.executemany("INSERT INTO odbc_book (title, price) VALUES (?, ?)", [(f"t{i}", decimal.Decimal(i)) for i in range(20)])
    return cursor.execute("SELECT count(*), sum(price) FROM odbc_book").fetchone()[0]


@test(SERVER, CLIENT, FETCH)
def returning(connection):
    return shown(connection.execute("INSERT INTO odbc_book (title) VALUES (?) RETURNING title, price", "r").fetchall())


@test(SERVER, CLIENT)
def upsert(connection):
    sql = "INSERT INTO odbc_book (id, title) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET title = excluded.title RETURNING id, title"
    return shown(connection.execute(sql, 1, "again").fetchall())


@test(SERVER, CLIENT)
def procedure(connection):
    cursor = connection.execute("{CALL odbc_add(?, ?)}", 2, 3)
    return shown(cursor.fetchall())


@test(SERVER, CLIENT)
def escapes(connection):
    cursor = connection.execute("SELECT {fn UCASE('x')}, {d '2024-01-02'}, {ts '2024-01-02 03:04:05'}, {fn LENGTH('abc')}, {fn CONCAT('a', 'b')}, {fn MOD(7, 3)}, {fn SUBSTRING('hello', 2, 3)}")
    return shown(cursor.fetchall())


@test()
def transactions(connection):
    cursor = connection.cursor()
    cursor.execute("UPDATE odbc_book SET title = 'changed'")
    connection.rollback()
    before = cursor.execute("SELECT count(*) FROM odbc_book WHERE title = 'changed'").fetchone()[0]
    cursor.execute("UPDATE odbc_book SET title = 'changed' WHERE id = 1")
    connection.commit()
    after = cursor.execute("SELECT count(*) FROM odbc_book WHERE title = 'changed'").fetchone()[0]
    cursor.execute("UPDATE odbc_book SET title = 'Alpha' WHERE id = 1")
    connection.commit()
    return before, after


@test({"Protocol": "7.4-0"}, {"Protocol": "7.4-1"}, {"Protocol": "7.4-2"})
def rollback_on_error(connection):
    cursor = connection.cursor()
    cursor.execute("UPDATE odbc_book SET title = 'kept' WHERE id = 2")
    failed = state(lambda: cursor.execute("SELECT 1 / 0").fetchall())
    return failed, state(lambda: cursor.execute("SELECT title FROM odbc_book WHERE id = 2").fetchall()), connection.rollback()


@test()
def isolation(connection):
    connection.set_attr(pyodbc.SQL_ATTR_TXN_ISOLATION, pyodbc.SQL_TXN_REPEATABLE_READ)
    return connection.execute("SHOW transaction_isolation").fetchone()[0]


@test(SERVER, CLIENT)
def errors(connection):
    found = []
    for sql in ["SELECT * FROM nothing_here", "SELEC", "SELECT 1 / 0", "INSERT INTO odbc_book (id, title) VALUES (1, 'x')", "INSERT INTO odbc_book (title) VALUES (NULL)",
                "INSERT INTO odbc_book (title, price) VALUES ('x', -1)", "SELECT 'x'::int", "SELECT nothing(1)", "CREATE TABLE odbc_book (a int)", "INSERT INTO odbc_loan VALUES (1, 99)"]:
        found.append(state(lambda sql=sql: connection.execute(sql)))
        connection.rollback()
    return found


@test()
def error_text(connection):
    try:
        connection.execute("SELECT nothing FROM odbc_book")
    except pyodbc.Error as error:
        return error.args[1]


def catalog_test(name, call):
    def run(connection):
        cursor = call(connection.cursor())
        columns = [column[0] for column in cursor.description]
        # What differs between databases, numbers of objects and of pages.
        hidden = [i for i, column in enumerate(columns) if re.search("_cat$|_qualifier$|oid|typeid|field_type|^pages$|^cardinality$", column.lower())]
        rows = [[repr(value) for i, value in enumerate(row) if i not in hidden] for row in cursor.fetchall()]
        return columns, sorted(rows) if name == "table_types" else rows
    run.__name__ = f"catalog_{name}"
    test(PLAIN, FETCH)(run)


catalog_test("tables", lambda cursor: cursor.tables(schema="public", table="odbc_%"))
catalog_test("tables_of_a_type", lambda cursor: cursor.tables(schema="public", tableType="VIEW"))
catalog_test("table_types", lambda cursor: cursor.tables(catalog="", schema="", table="", tableType="%"))
catalog_test("schemas", lambda cursor: cursor.tables(catalog="", schema="%", table="", tableType=""))
catalog_test("columns", lambda cursor: cursor.columns(table="odbc_book"))
catalog_test("columns_of_types", lambda cursor: cursor.columns(table="odbc_types"))
catalog_test("columns_of_view", lambda cursor: cursor.columns(table="odbc_cheap"))
catalog_test("one_column", lambda cursor: cursor.columns(table="odbc_book", column="ti%"))
catalog_test("primary_keys", lambda cursor: cursor.primaryKeys("odbc_loan"))
catalog_test("primary_keys_of_two", lambda cursor: cursor.primaryKeys("odbc_pairs"))
catalog_test("foreign_keys", lambda cursor: cursor.foreignKeys(table="odbc_book"))
catalog_test("foreign_keys_of", lambda cursor: cursor.foreignKeys(foreignTable="odbc_loan"))
catalog_test("statistics", lambda cursor: cursor.statistics("odbc_book"))
catalog_test("statistics_unique", lambda cursor: cursor.statistics("odbc_book", unique=True))
catalog_test("row_id", lambda cursor: cursor.rowIdColumns("odbc_book"))
catalog_test("row_version", lambda cursor: cursor.rowVerColumns("odbc_book"))
catalog_test("procedures", lambda cursor: cursor.procedures(schema="public", procedure="odbc_%"))
catalog_test("procedure_columns", lambda cursor: cursor.procedureColumns(schema="public", procedure="odbc_%"))
catalog_test("types", lambda cursor: cursor.getTypeInfo())


@test()
def server_info(connection):
    return [connection.getinfo(getattr(pyodbc, name)) for name in ("SQL_DBMS_NAME", "SQL_IDENTIFIER_QUOTE_CHAR", "SQL_TXN_CAPABLE", "SQL_MAX_IDENTIFIER_LEN", "SQL_USER_NAME",
                                                                   "SQL_DATABASE_NAME", "SQL_CURSOR_COMMIT_BEHAVIOR", "SQL_OJ_CAPABILITIES")]


@test({"UpdatableCursors": "1"}, {"UpdatableCursors": "1", "UseDeclareFetch": "1"})
def updatable(connection):
    cursor = connection.execute("SELECT id, title FROM odbc_book ORDER BY id")
    return shown(cursor.fetchall())


@test({"LFConversion": "1"}, {"TextAsLongVarchar": "0"}, {"BoolsAsChar": "1"}, {"ByteaAsLongVarBinary": "0"}, {"UnknownSizes": "1"}, {"MaxLongVarcharSize": "100"}, {"RowVersioning": "1"},
      {"ShowSystemTables": "1"}, {"ReadOnly": "1"}, {"TrueIsMinus1": "1"}, {"Int8As": "4"}, {"NumericAs": "12"}, {"Parse": "1"}, {"DisallowPremature": "1"}, {"ConnSettings": "SET+extra_float_digits=0"})
def options(connection):
    cursor = connection.execute("SELECT 'a\nb'::text AS a, true AS b, '\\x01'::bytea AS c, 5::int8 AS d, 1.5::numeric AS e, 0.1::float8 + 0.2 AS f")
    return described(cursor), shown(cursor.fetchall())


@test()
def metadata_without_rows(connection):
    cursor = connection.cursor()
    cursor.execute("SELECT * FROM odbc_types WHERE false")
    return described(cursor)


@test({"UseDeclareFetch": "1", "Fetch": "100"})
def big_fetch(connection):
    cursor = connection.execute("SELECT i, repeat('x', 100) FROM generate_series(1, 20000) AS i")
    return sum(row[0] for row in cursor)


@test()
def large_text(connection):
    return len(connection.execute("SELECT repeat('\u00e4', 300000)").fetchone()[0])


@test(SERVER, CLIENT)
def null_parameters(connection):
    cursor = connection.cursor()
    cursor.execute("INSERT INTO odbc_types (a, h, j, l) VALUES (?, ?, ?, ?)", None, None, None, None)
    return shown(cursor.execute("SELECT a, h, j, l FROM odbc_types").fetchall())


@test(SERVER, CLIENT)
def all_columns(connection):
    cursor = connection.cursor()
    cursor.execute("INSERT INTO odbc_types (a, b, c, d, e, f, g, h, i, j, k, l) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", 1, 2, 3, 1.5, 2.5, decimal.Decimal("1.25"), True, "text", "c",
                   datetime.datetime(2024, 1, 2, 3, 4, 5), datetime.date(2024, 1, 2), b"\x01\x02")
    return shown(cursor.execute("SELECT * FROM odbc_types").fetchall())


@test({"Autocommit": "on"})
def autocommit(connection):
    connection.autocommit = True
    connection.execute("CREATE TEMP TABLE odbc_temporary (a int)")
    connection.execute("VACUUM odbc_temporary")
    return connection.execute("SELECT count(*) FROM odbc_temporary").fetchone()[0]


SETUP = """
CREATE TYPE odbc_mood AS ENUM ('a', 'b');
CREATE TYPE odbc_pair AS (x int, y text);
CREATE TABLE odbc_book (id serial PRIMARY KEY, title varchar(40) NOT NULL, price numeric(8, 2) DEFAULT 1 CHECK (price >= 0), about text, added timestamp DEFAULT '2024-01-01');
CREATE TABLE odbc_loan (id int PRIMARY KEY, book int REFERENCES odbc_book ON DELETE CASCADE);
CREATE TABLE odbc_pairs (a int, b varchar(3), CONSTRAINT both_of PRIMARY KEY (b, a));
CREATE TABLE odbc_types (a smallint, b int, c bigint, d real, e double precision, f numeric(9, 2), g bool, h text, i char(3), j timestamp, k date, l bytea, m uuid, n jsonb, o int[], p odbc_mood,
   q timestamptz, r interval, s inet, t bit(3), u varbit, v name, w time, x money, y oid);
CREATE INDEX odbc_by_title ON odbc_book (title, price DESC);
CREATE INDEX odbc_lower ON odbc_book (lower(title));
CREATE VIEW odbc_cheap AS SELECT id, title FROM odbc_book WHERE price < 2;
CREATE FUNCTION odbc_add(a int, b int) RETURNS int LANGUAGE sql AS 'SELECT a + b';
CREATE FUNCTION odbc_out(IN a int, OUT b text, INOUT c numeric) LANGUAGE plpgsql AS $$ BEGIN b := 'x'; END $$;
COMMENT ON TABLE odbc_book IS 'all books';
COMMENT ON COLUMN odbc_book.title IS 'its title';
INSERT INTO odbc_book (title) VALUES ('Alpha'), ('Beta'), ('Gamma');
"""


def main():
    connection = connect(autocommit=True)
    for statement in SETUP.split(";\n"):
        if statement.strip():
            connection.execute(statement)
    connection.close()
    found = {}
    for name, (function, options) in TESTS.items():
        try:
            connection = connect(**options)
            try:
                found[name] = ["ok", json.loads(json.dumps(function(connection), default=repr))]
            finally:
                connection.rollback()
                connection.close()
        except Exception as error:  # noqa: BLE001: what a test fails with is what it has seen
            found[name] = ["error", repr(error)]
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
