"""What users of psycopg 3 do: values of all types as text and binary, its four kinds of cursors, COPY, pipelines, prepared statements,
transactions, two phases, notifications, types of the user's own, libpq's calls, pools, asyncio. Prints for each test a line of JSON:
its name and what it has seen, which suite.py compares between servers."""
import asyncio
import datetime as dt
import decimal
import enum
import ipaddress
import sys
import threading
import time
import uuid

import psycopg
from psycopg import pq, rows, sql
from psycopg.types import TypeInfo, composite, enum as penum, hstore, json as pjson, multirange, numeric, range as ranges, string
from harness import TESTS, chosen, report, test
from psycopg_pool import AsyncConnectionPool, ConnectionPool, NullConnectionPool

place = sys.argv[1]
D = decimal.Decimal
UTC = dt.timezone.utc
FORMATS = {"text": False, "binary": True}
CURSORS = {"plain": psycopg.Cursor, "client": psycopg.ClientCursor, "raw": psycopg.RawCursor, "raw_server": psycopg.RawServerCursor, "server": psycopg.ServerCursor}


def connect(**options):
    return psycopg.connect(place, autocommit=options.pop("autocommit", True), **options)


def failure(action, *arguments):
    """What goes wrong: the class, the SQLSTATE, all fields of the message that a server of another name can have, too."""
    try:
        found = action(*arguments)
    except psycopg.Error as error:
        diag = error.diag
        fields = ["sqlstate", "severity", "message_primary", "message_detail", "message_hint", "statement_position", "internal_position", "internal_query",
                  "context", "schema_name", "table_name", "column_name", "datatype_name", "constraint_name"]
        return [type(error).__name__, *[f"{field}: {value}" for field in fields if (value := getattr(diag, field))], *([] if diag.sqlstate else [str(error)])]
    return ["no error", repr(found)]


def failure_of_any(action):
    """As failure(), also of what is wrong in the program itself."""
    try:
        return failure(action)
    except Exception as wrong:  # noqa: BLE001: any failure is one
        return [type(wrong).__name__, str(wrong)]


def described(cursor):
    return [[one.name, one.type_display, one.display_size, one.internal_size, one.precision, one.scale] for one in cursor.description or []]


def result(cursor):
    return [described(cursor), [[repr(value) for value in row] for row in cursor.fetchall()] if cursor.description else None, cursor.rowcount, cursor.statusmessage]


def of_result(found):
    """Of libpq's result, all that there is."""
    return [found.status, found.command_status, found.command_tuples, found.ntuples, found.nfields, found.oid_value, found.nparams,
            [[found.fname(i), found.ftablecol(i), found.fformat(i), found.ftype(i), found.fmod(i), found.fsize(i)] for i in range(found.nfields)],
            [[found.get_value(r, i) for i in range(found.nfields)] for r in range(found.ntuples)],
            [found.error_field(field) for field in (pq.DiagnosticField.SEVERITY, pq.DiagnosticField.SQLSTATE, pq.DiagnosticField.MESSAGE_PRIMARY,
                                                    pq.DiagnosticField.STATEMENT_POSITION)]]


# Values

VALUES = {
    "none": None, "true": True, "small": 7, "negative": -32769, "int8": 2 ** 40, "huge": 2 ** 70, "float": 1.5e300, "nan": float("nan"), "inf": float("-inf"),
    "decimal": D("-12345.67890"), "decimal_exp": D("1E+30"), "decimal_small": D("1E-40"), "decimal_nan": D("NaN"), "decimal_inf": D("Infinity"),
    "text": "it's \\ \u00e4\u20ac \U0001f600", "empty": "", "long": "x" * 100000, "bytes": b"\x00'\\\xff", "bytes_empty": b"", "bytearray": bytearray(b"ab"),
    "uuid": uuid.UUID(int=2 ** 100 + 5), "date": dt.date(2024, 2, 29), "date_first": dt.date.min, "date_last": dt.date.max, "time": dt.time(23, 59, 59, 999999),
    "timetz": dt.time(1, 2, 3, tzinfo=dt.timezone(dt.timedelta(hours=5, minutes=30))), "timestamp": dt.datetime(1969, 12, 31, 23, 59, 59, 1), "timestamp_first": dt.datetime.min,
    "timestamptz": dt.datetime(2024, 7, 1, 12, tzinfo=UTC), "timedelta": dt.timedelta(days=-3, seconds=5, microseconds=7), "timedelta_big": dt.timedelta(days=400000),
    "ipv4": ipaddress.ip_address("10.1.2.3"), "ipv6": ipaddress.ip_address("::ffff:1.2.3.4"), "interface": ipaddress.ip_interface("192.168.0.1/24"),
    "network": ipaddress.ip_network("2001:db8::/32"), "list_int": [1, None, 300], "list_big": [1, 2 ** 40], "list_text": ["a", 'q"u\\o', None, ""], "list_nested": [[1, 2], [3, 4]],
    "list_empty": [], "list_date": [dt.date(2000, 1, 1), None], "list_decimal": [D("1.5"), D("NaN")], "list_bytes": [b"\x00", b"{}"], "list_bool": [True, False], "list_float": [1.0, 2.5],
    "json": pjson.Json({"a": [1, None, "\u00e4"]}), "jsonb": pjson.Jsonb([1, {"b": "c"}]), "json_list": [pjson.Jsonb(1), pjson.Jsonb({"x": 2})],
    "range_int": ranges.Range(1, 5), "range_empty": ranges.Range(empty=True), "range_open": ranges.Range(None, D("2.5"), "(]"), "range_date": ranges.Range(dt.date(2024, 1, 1), None),
    "range_timestamptz": ranges.Range(dt.datetime(2024, 1, 1, tzinfo=UTC), dt.datetime(2025, 1, 1, tzinfo=UTC), "()"),
    "multirange": multirange.Multirange([ranges.Range(1, 3), ranges.Range(7, None)]), "multirange_empty": multirange.Int4Multirange([]),
    "tuple": (1, "a,b", None, dt.date(2024, 1, 1)), "int2": numeric.Int2(3), "int4": numeric.Int4(-3), "oid": numeric.Oid(4000000000), "float4": numeric.Float4(1.25)}
KINDS = {"list_empty": "int[]", "none": "text", "tuple": None}


def typed(name, value):
    """Where Python's type tells which SQL type it is, nothing is cast."""
    def run(connection):
        found = []
        for mark in ("%s", "%t", "%b"):
            for binary in (False, True):
                cursor = connection.cursor(binary=binary)
                cast = f"::{KINDS[name]}" if KINDS.get(name) else ""
                try:
                    if name == "tuple":
                        row = cursor.execute(f"SELECT ({mark})::psy_row = ROW(1, 'a,b', NULL, '2024-01-01')::psy_row, {mark}::text", (value, "x")).fetchone()
                    else:
                        row = cursor.execute(f"SELECT {mark}{cast}, pg_typeof({mark}{cast})::text, {mark}{cast} IS NULL", (value,) * 3).fetchone()
                    found.append([mark, binary, repr(row)])
                except (psycopg.Error, NotImplementedError) as error:
                    found.append([mark, binary, type(error).__name__, str(error)])
        return found
    TESTS[f"parameter_{name}"] = run

    def literal(connection):
        cursor = psycopg.ClientCursor(connection)
        text = cursor.mogrify("SELECT %s", (value,))
        composed = sql.SQL("SELECT {}").format(value).as_string(connection)
        return [failure(lambda: cursor.execute(text).fetchall()), failure(lambda: connection.execute(composed).fetchall())]
    TESTS[f"literal_{name}"] = literal


for entry in VALUES.items():
    typed(*entry)

LITERALS = {
    "bool": ["true", "false"], "int2": ["-32768", "32767"], "int4": ["-2147483648"], "int8": ["9223372036854775807"], "oid": ["4294967295"], "float4": ["1.1", "NaN", "-Infinity"],
    "float8": ["1.1", "-1e-300", "Infinity"], "numeric": ["0", "0.00", "-1.50", "1e100", "123456789012345678901234567890.123456789", "NaN", "Infinity", "-Infinity", "1e-1000"],
    "numeric(10,3)": ["1.5"], "text": ["", "a\nb", "\u20ac"], "varchar(5)": ["abc"], "char(5)": ["ab"], '"char"': ["x"], "name": ["nm"], "bytea": ["\\x", "\\x00ff"],
    "date": ["0001-01-01", "9999-12-31", "10000-01-01", "0044-03-15 BC", "infinity", "-infinity"], "time": ["00:00", "24:00:00", "12:34:56.789"],
    "timetz": ["12:00+02", "12:00:00.5-12:59", "24:00+00"], "timestamp": ["0001-01-01", "9999-12-31 23:59:59.999999", "10000-01-01", "0044-03-15 BC", "infinity"],
    "timestamptz": ["2024-07-01 12:00+00", "1900-01-01 00:00+00", "-infinity", "10000-01-01 00:00+00"], "interval": ["1 year 2 mons 3 days 04:05:06.789", "-1 day +02:03", "0", "5 years"],
    "uuid": ["00000000-0000-0000-0000-00000000002a"], "json": ['{"a" :  1, "a": 2}', "null", "[]"], "jsonb": ['{"b": 1.50, "a": [true, null]}', '"x"'], "jsonpath": ["$.a[*]"],
    "inet": ["10.0.0.1", "10.0.0.1/8", "::1/64", "10.0.0.1/32"], "cidr": ["10.0.0.0/8", "2001:db8::/32"], "macaddr": ["08:00:2b:01:02:03"], "macaddr8": ["08:00:2b:01:02:03:04:05"],
    "bit(3)": ["101"], "varbit": ["", "0110"], "money": ["1234.50"], "point": ["(1,2)"], "box": ["(1,2),(3,4)"], "circle": ["<(1,2),3>"], "line": ["{1,2,3}"], "lseg": ["[(1,2),(3,4)]"],
    "path": ["((1,2),(3,4))"], "polygon": ["((1,2),(3,4))"], "int4range": ["[1,5)", "empty", "(,)", "[1,5]"], "int8range": ["[1,)"], "numrange": ["(1.5,2.5]"], "daterange": ["[2024-01-01,)"],
    "tsrange": ["[2024-01-01,2025-01-01)"], "tstzrange": ["[2024-01-01 00:00+00,)"], "int4multirange": ["{}", "{[1,3),[7,9)}"], "nummultirange": ["{(1.5,2]}"],
    "datemultirange": ["{[2024-01-01,2024-02-01)}"], "tstzmultirange": ["{[2024-01-01 00:00+00,)}"], "int4[]": ["{}", "{1,NULL,3}", "{{1,2},{3,4}}", "[2:3]={5,6}"],
    "text[]": ['{a,"b,c",NULL,"NULL",""}'], "numeric[]": ["{1.5,NaN}"], "date[]": ["{2024-01-01}"], "timestamptz[]": ["{2024-01-01 00:00+00}"], "uuid[]": ["{00000000-0000-0000-0000-00000000002a}"],
    "bytea[]": ['{"\\\\x00"}'], "jsonb[]": ['{"{\\"a\\": 1}"}'], "inet[]": ["{10.0.0.1}"], "int4range[]": ['{"[1,5)"}'], "interval[]": ["{1 day}"], "bool[]": ["{t,f}"], "point[]": ['{"(1,2)"}'],
    "box[]": ["{(3,4),(1,2)}"], "regclass": ["pg_class"], "regtype": ["int4"], "regproc": ["now"], "regnamespace": ["pg_catalog"], "regrole": ["postgres"], "pg_lsn": ["16/B374D848"], "xid": ["7"],
    "tid": ["(1,2)"], "oidvector": ["1 2"], "int2vector": ["1 2"], "psy_mood": ["happy"], "psy_mood[]": ["{sad,NULL}"], "psy_row": ['(1,"a,b",,2024-01-01)'],
    "psy_row[]": ['{"(1,x,2.5,)"}'], "psy_domain": ["7"], "psy_range": ["[1.5,2.5)"], "psy_multirange": ["{[1.5,2.5)}"], "hstore": ['"a"=>"1", "b"=>NULL'], "citext": ["Ab"], "tsvector": ["'a':1"],
    "tsquery": ["'a' & 'b'"], "xml": ["<a/>"], "txid_snapshot": ["1:2:"], "pg_snapshot": ["1:2:"]}


def loaded(kind, texts):
    for form, binary in FORMATS.items():
        def run(connection, kind=kind, texts=texts, binary=binary):
            found = []
            for text in texts:
                try:
                    cursor = connection.cursor(binary=binary).execute(f"SELECT '{text}'::{kind} AS v, pg_typeof('{text}'::{kind})::text")
                    found.append([[described(cursor)[0][i] for i in (0, 2, 3, 4, 5)], cursor.pgresult.get_value(0, 0).hex(), repr([bytes(one) if isinstance(one, memoryview) else one for one in cursor.fetchone()])])
                except (psycopg.Error, ValueError, OverflowError) as error:
                    found.append([type(error).__name__, str(error)])
            # The binary form of arrays and rows of the user's own types has their OIDs.
            return [one[:1] for one in found] if binary and "psy_" in kind else found
        TESTS[f"value_{kind}_{form}"] = run


for entry in LITERALS.items():
    loaded(*entry)


# Cursors

@test(*CURSORS)
def cursors(connection, kind):
    mark = "$1" if "raw" in kind else "%s"
    named = ["psy"] if "server" in kind else []
    found = []
    with connection.transaction(), CURSORS[kind](connection, *named) as cursor:
        cursor.execute(f"SELECT i, 'row ' || i FROM generate_series(1, {mark}::int) AS i ORDER BY i", (25,))
        found += [described(cursor), cursor.rowcount, cursor.fetchone(), cursor.fetchmany(3), cursor.rownumber, len(cursor.fetchall()), cursor.fetchone()]
        found.append(failure_of_any(lambda: cursor.scroll(2, "absolute")))
        found += [cursor.fetchone(), cursor.rownumber]
        found.append(failure_of_any(lambda: cursor.scroll(-1)))
        found += [cursor.fetchone(), failure_of_any(lambda: cursor.scroll(-20))]
    return found


@test(*FORMATS)
def server_cursor(connection, form):
    found = []
    with connection.transaction():
        for scrollable in (None, True, False):
            with connection.cursor("cur \" ' x", binary=FORMATS[form], scrollable=scrollable) as cursor:
                cursor.itersize = 7
                cursor.execute("SELECT i, NULL::text FROM generate_series(1, %s) AS i", (20,))
                found.append([[row[0] for row in cursor], cursor.statusmessage])
                asked = connection.execute("SELECT name, statement, is_holdable, is_binary, is_scrollable FROM pg_cursors WHERE name LIKE 'cur%'").fetchall()
                found.append([[name, text.replace("\n", " "), *more[:2]] + ([more[2]] if scrollable is not None else []) for name, text, *more in asked])
    with connection.cursor("held", withhold=True) as cursor:
        with connection.transaction():
            cursor.execute("SELECT i FROM generate_series(1, 5) AS i ORDER BY i DESC")
        found.append(cursor.fetchall())
    with connection.transaction(), connection.cursor("written") as cursor:
        found.append(failure(lambda: cursor.execute("INSERT INTO psy_t VALUES (99) RETURNING a")))
    found.append(failure(lambda: connection.cursor("outside").execute("SELECT 1")))
    return found


@test("tuple", "dict", "named", "scalar", "args")
def row_factories(connection, kind):
    factory = {"tuple": rows.tuple_row, "dict": rows.dict_row, "named": rows.namedtuple_row, "scalar": rows.scalar_row, "args": rows.args_row(lambda *a: list(a))}[kind]
    cursor = connection.cursor(row_factory=factory)
    return [repr(cursor.execute(text).fetchall()) for text in ("SELECT 1 AS a, 'x' AS \"b c\", 2 AS d", "VALUES (1), (2)", "SELECT 5 AS _x WHERE false")]


@test()
def stream(connection):
    found = [list(connection.cursor().stream("SELECT i FROM generate_series(1, 10) AS i", binary=binary, size=size)) for binary in (False, True) for size in (1, 4)]
    return [*found, failure(lambda: list(connection.cursor().stream("SELECT 10 / (5 - i) FROM generate_series(1, 10) AS i"))), connection.info.transaction_status,
            failure(lambda: list(connection.cursor().stream("INSERT INTO psy_t VALUES (1)"))),
            list(connection.cursor().stream("DELETE FROM psy_t RETURNING a"))]


@test()
def executemany(connection):
    cursor = connection.cursor()
    cursor.executemany("INSERT INTO psy_t (a, b) VALUES (%s, %s)", [(i, f"t{i}") for i in range(20)])
    found = [cursor.rowcount, cursor.statusmessage]
    cursor.executemany("UPDATE psy_t SET b = b || '!' WHERE a < %s RETURNING a, b", [(1,), (3,), (0,)], returning=True)
    while True:
        found.append(result(cursor))
        if not cursor.nextset():
            break
    found.append([result(one)[1] for one in cursor.results()])
    found.append(failure(lambda: cursor.executemany("INSERT INTO psy_t (a, b) VALUES (%s, %s)", [(30, "a"), ("x", "b"), (31, "c")])))
    found.append(connection.execute("SELECT count(*), max(a) FROM psy_t").fetchall())
    return found


@test(*CURSORS)
def several_statements(connection, kind):
    if "server" in kind:
        return []
    cursor = CURSORS[kind](connection)
    found = []
    cursor.execute("SELECT 1 AS a; SELECT 2 AS b, 'x'; INSERT INTO psy_t (a) VALUES (5); SELECT 3 WHERE false; ; UPDATE psy_t SET a = a")
    while True:
        found.append(result(cursor))
        if not cursor.nextset():
            break
    found.append(failure(lambda: cursor.execute("SELECT 1; SELECT nosuch; SELECT 2")))
    found.append(failure(lambda: cursor.execute("SELECT %s; SELECT %s" if kind != "raw" else "SELECT $1; SELECT $2", (1, 2)) and None))
    found += [result(cursor.execute(text)) for text in ("", ";", "-- nothing", "/* */")]
    return found


@test()
def statuses(connection):
    found = []
    for text in ["CREATE TABLE psy_s (a int)", "INSERT INTO psy_s VALUES (1), (2)", "SELECT * FROM psy_s", "UPDATE psy_s SET a = 1", "DELETE FROM psy_s WHERE false", "BEGIN", "SAVEPOINT x",
                 "ROLLBACK TO x", "RELEASE x", "COMMIT", "CREATE VIEW psy_sv AS SELECT 1", "DROP VIEW psy_sv", "SET search_path = public", "SHOW search_path", "RESET ALL", "TRUNCATE psy_s", "VALUES (1), (2)", "TABLE psy_s", "CREATE TABLE psy_s2 AS SELECT 1 AS a", "SELECT 1 AS a INTO psy_s3", "CREATE INDEX ON psy_s (a)", "ANALYZE psy_s",
                 "VACUUM psy_s", "COMMENT ON TABLE psy_s IS 'x'", "GRANT SELECT ON psy_s TO PUBLIC", "PREPARE psy_p AS SELECT 1", "EXECUTE psy_p", "DEALLOCATE psy_p", "DEALLOCATE ALL",
                 "LISTEN psy", "NOTIFY psy", "UNLISTEN *", "DISCARD ALL", "LOCK psy_s", "DO $$ BEGIN END $$", "CREATE SCHEMA psy_sc", "DROP SCHEMA psy_sc", "CREATE SEQUENCE psy_sq",
                 "ALTER SEQUENCE psy_sq RESTART", "CREATE MATERIALIZED VIEW psy_m AS SELECT 1", "REFRESH MATERIALIZED VIEW psy_m", "DROP MATERIALIZED VIEW psy_m", "CHECKPOINT",
                 "MERGE INTO psy_s USING (VALUES (1)) v (x) ON a = x WHEN NOT MATCHED THEN INSERT VALUES (x)", "CALL psy_procedure(1)", "ALTER TABLE psy_s RENAME TO psy_s9",
                 "DROP TABLE psy_s9, psy_s2, psy_s3", "CREATE FUNCTION psy_f9() RETURNS int LANGUAGE sql AS 'SELECT 1'", "DROP FUNCTION psy_f9", "START TRANSACTION", "ABORT"]:
        cursor = connection.cursor()
        try:
            cursor.execute(text)
            found.append([text, cursor.statusmessage, cursor.rowcount, cursor.pgresult.status, connection.info.transaction_status])
        except psycopg.Error as error:
            found.append([text, error.sqlstate, str(error)])
    return found


@test()
def descriptions(connection):
    cursor = connection.execute("SELECT a, b, n, v, c, t, ts, bits, arr, iv FROM psy_d LIMIT 0")
    return [described(cursor), of_result(cursor.pgresult)[7]]


ERRORS = ["SELEC 1", "SELECT * FROM nosuch", "SELECT nosuch", "SELECT nosuch(1)", "SELECT 'x'::int", "SELECT 1/0", "SELECT 2147483647 + 1", "SELECT 1 + true", "SELECT '\u00e4\U0001f600', nosuch",
          "INSERT INTO psy_c (a) VALUES (1)", "INSERT INTO psy_c (a, b) VALUES (2, NULL)", "INSERT INTO psy_c (a, b) VALUES (3, -1)", "INSERT INTO psy_c (a, b, r) VALUES (3, 1, 77)",
          "INSERT INTO psy_c (a, b, d) VALUES (3, 1, 0)", "INSERT INTO psy_c (a, b, v) VALUES (3, 1, 'toolong')", "SELECT * FROM psy_raise()", "SELECT psy_error_inside(0)", "SELECT abs('a', 2)",
          "CREATE TABLE psy_t (a int)", "DROP TABLE nosuch", "DROP TABLE psy_c", "SELECT a FROM psy_t GROUP BY b", "SELECT 'a' || ", "SELECT '", 'SELECT "', "SELECT $$", "SELECT $1",
          "SELECT 1::nosuchtype", "SET nosuch.x.y TO", "SET timezone = 'x/y'", "ROLLBACK TO x", "DEALLOCATE nosuch", "EXECUTE nosuch", "FETCH FROM nosuch", "SELECT ARRAY[1, 'x']",
          "SELECT '{1,2'::int[]", "SELECT '2024-13-01'::date", "SELECT '{\"a\"'::json", "SELECT (SELECT 1 UNION SELECT 2)", "SELECT sum(sum(1))", "UPDATE psy_c SET a = 1", "VALUES (1), (1, 2)",
          "INSERT INTO psy_t (a, a) VALUES (1, 2)", "SELECT 1 UNION SELECT 'x'", "SELECT repeat('x', -1), 1 LIMIT -1", "SELECT sqrt(-1)", "SELECT ln(0)", "SELECT 'x' COLLATE nosuch",
          "SELECT pg_sleep('a')", "SELECT row(1, 2) = row(1)", "ALTER TABLE psy_t ADD COLUMN a int", "SELECT regexp_replace('a', '(', '')", "SELECT to_date('x', 'YYYY')", "SELECT 1 AS a ORDER BY 2",
          "SELECT convert_from('\\xff', 'utf8')", "SELECT chr(0)", "SELECT decode('x', 'hex')", "SELECT '1.2.3'::inet", "SELECT 'x'::uuid", "SELECT int4range(5, 1)", "SELECT 'zz'::psy_mood"]


@test(*range(len(ERRORS)))
def error(connection, i):
    with connection.cursor() as cursor:
        found = [failure(cursor.execute, ERRORS[i]), failure(lambda: cursor.execute(ERRORS[i], prepare=True))]
    with connection.pipeline():
        found.append(failure(lambda: connection.execute(ERRORS[i]).fetchall()))
    return [ERRORS[i], *found]


# COPY

ROWS = [(i, f"t\t{i}\n\\" if i % 3 else None, D(i) / 4, dt.date(2024, 1, 1) + dt.timedelta(i), [i, None], {"i": i}) for i in range(50)]
COPIED = "psy_copy (a int, b text, n numeric, d date, arr int[], j jsonb)"
COPY_TYPES = ["int4", "text", "numeric", "date", "int4[]", "jsonb"]
COPY_FORMS = {"text": "", "binary": "(FORMAT binary)", "csv": "(FORMAT csv)", "csv_options": "(FORMAT csv, HEADER, DELIMITER ';', QUOTE '''', NULL 'nil')", "text_options": "(DELIMITER '|', NULL '-')"}


def copied(row):
    return (*row[:5], pjson.Jsonb(row[5]))


@test("text", "binary")
def copy_rows(connection, form):
    connection.execute(f"CREATE TEMP TABLE {COPIED}")
    cursor = connection.cursor()
    with cursor.copy(f"COPY psy_copy FROM STDIN {COPY_FORMS[form]}") as copy:
        copy.set_types(COPY_TYPES)
        for row in ROWS:
            copy.write_row(copied(row))
    found = [cursor.statusmessage, cursor.rowcount, repr(connection.execute("SELECT * FROM psy_copy ORDER BY a").fetchall())]
    with cursor.copy(f"COPY (SELECT * FROM psy_copy WHERE a < %s ORDER BY a) TO STDOUT {COPY_FORMS[form]}", (9,)) as copy:
        copy.set_types(COPY_TYPES)
        found.append(repr(list(copy.rows())))
    return [*found, cursor.statusmessage, cursor.rowcount, [one.name for one in cursor.description or []], copy.cursor.pgresult.status]


@test(*COPY_FORMS)
def copy_bytes(connection, form):
    connection.execute(f"CREATE TEMP TABLE {COPIED}")
    connection.execute("INSERT INTO psy_copy SELECT i, CASE WHEN i % 2 = 0 THEN 'q\"u''o;|' || i END, i / 3.0, '2024-01-01', ARRAY[i], jsonb_build_object('a', i) FROM generate_series(1, 9) AS i")
    cursor = connection.cursor()
    with cursor.copy(f"COPY (TABLE psy_copy ORDER BY a) TO STDOUT {COPY_FORMS[form]}") as copy:
        data = b"".join(bytes(one) for one in copy)
    connection.execute("CREATE TEMP TABLE psy_again AS TABLE psy_copy WITH NO DATA")
    for size in (1, 13, 100000):
        with cursor.copy(f"COPY psy_again FROM STDIN {COPY_FORMS[form]}") as copy:
            for start in range(0, len(data), size):
                copy.write(data[start:start + size])
    return [data.hex(), connection.execute("SELECT count(*), sum(a), count(b) FROM psy_again").fetchall(), connection.execute("TABLE psy_copy EXCEPT TABLE psy_again").fetchall()]


BAD_COPIES = {
    "value": ("COPY psy_t (a, b) FROM STDIN", "1\tx\nx\ty\n"), "extra": ("COPY psy_t (a, b) FROM STDIN", "1\tx\ty\n"), "missing": ("COPY psy_t (a, b) FROM STDIN", "1\n"),
    "csv_quote": ("COPY psy_t (a, b) FROM STDIN (FORMAT csv)", '1,"x\n'), "csv_value": ("COPY psy_t (a, b) FROM STDIN (FORMAT csv, HEADER)", "a,b\n1,x\n\nx,y\n"),
    "csv_header": ("COPY psy_t (a, b) FROM STDIN (FORMAT csv, HEADER MATCH)", "a,c\n1,x\n"), "signature": ("COPY psy_t (a, b) FROM STDIN (FORMAT binary)", b"nonsense"),
    "binary_fields": ("COPY psy_t (a, b) FROM STDIN (FORMAT binary)", b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0\0\1\0\0\0\4\0\0\0\1"),
    "binary_value": ("COPY psy_t (a) FROM STDIN (FORMAT binary)", b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0\0\1\0\0\0\2\0\1"), "table": ("COPY nosuch FROM STDIN", ""),
    "unique": ("COPY psy_c (a, b) FROM STDIN", "1\t1\n"), "check": ("COPY psy_c (a, b) FROM STDIN", "5\t-1\n"), "foreign": ("COPY psy_c (a, b, r) FROM STDIN", "5\t1\t99\n"),
    "not_null": ("COPY psy_c (a, b) FROM STDIN", "4\t1\n5\t\\N\n"), "domain": ("COPY psy_c (a, b, d) FROM STDIN", "5\t1\t0\n"), "length": ("COPY psy_c (a, b, v) FROM STDIN", "5\t1\ttoolong\n"),
    "column": ("COPY psy_t (nosuch) FROM STDIN", ""), "option": ("COPY psy_t FROM STDIN (NOSUCH true)", ""), "encoding": ("COPY psy_t (b) FROM STDIN", b"\xff\n"),
    "zero": ("COPY psy_t (b) FROM STDIN", b"a\0b\n"), "end": ("COPY psy_t (a, b) FROM STDIN", "1\tx\n\\.\n2\ty\n"), "newline": ("COPY psy_t (a, b) FROM STDIN", "1\tx\r\n2\ty\n"),
    "view": ("COPY psy_view FROM STDIN", ""), "select": ("SELECT 1", ""), "insert": ("INSERT INTO psy_t (a) VALUES (1)", "")}


@test(*BAD_COPIES)
def bad_copy(connection, name):
    def with_data(text, data):
        with connect() as other, other.cursor().copy(text) as copy:
            copy.write(data)
    return failure(with_data, *BAD_COPIES[name]), connection.execute("SELECT count(*) FROM psy_t").fetchall()


@test()
def copy_broken_off(connection):
    def raising():
        with connection.cursor().copy("COPY psy_t (a, b) FROM STDIN") as copy:
            copy.write("1\tx\n")
            raise psycopg.DataError("stopped by the program")

    def broken_off():
        with connect() as other, other.cursor().copy("COPY (SELECT * FROM generate_series(1, 100000)) TO STDOUT") as copy:
            copy.read()
    return [failure(raising), failure(broken_off), connection.info.transaction_status, connection.execute("SELECT count(*) FROM psy_t").fetchall(),
            failure(lambda: connect().execute("COPY psy_t FROM STDIN")), failure(lambda: connect().execute("COPY psy_t TO STDOUT")), connection.execute("SELECT 1").fetchone()]


@test()
def copy_between(connection):
    with connect() as other:
        connection.execute("INSERT INTO psy_t SELECT i, 'b' || i FROM generate_series(1, 1000) AS i")
        other.execute("CREATE TEMP TABLE psy_target (LIKE psy_t)")
        with connection.cursor().copy("COPY psy_t TO STDOUT (FORMAT binary)") as source, other.cursor().copy("COPY psy_target FROM STDIN (FORMAT binary)") as target:
            for data in source:
                target.write(data)
        return other.execute("SELECT count(*), sum(a), max(b) FROM psy_target").fetchall()


# Pipelines

@test()
def pipeline(connection):
    found = []
    with connection.pipeline() as line:
        cursors = [connection.execute("SELECT %s::int * 2", (i,)) for i in range(30)]
        connection.execute("INSERT INTO psy_t (a) VALUES (1), (2)")
        line.sync()
        found.append([cursor.fetchone() for cursor in cursors])
        found.append(connection.execute("SELECT count(*) FROM psy_t").fetchall())

    def failing():
        with connection.pipeline():
            connection.execute("INSERT INTO psy_t (a) VALUES (3)")
            connection.execute("SELECT 1 / %s::int", (0,))
            connection.execute("INSERT INTO psy_t (a) VALUES (4)")
    found.append(failure(failing))
    found.append(connection.execute("SELECT a FROM psy_t ORDER BY a").fetchall())
    return found


@test()
def pipeline_transactions(connection):
    found = []
    with connection.pipeline():
        with connection.transaction():
            connection.execute("INSERT INTO psy_t (a) VALUES (1)")
            found.append(failure(lambda: inner(connection)))
            connection.execute("INSERT INTO psy_t (a) VALUES (2)")
        found.append(connection.execute("SELECT a FROM psy_t ORDER BY a").fetchall())
    for text in ("VACUUM psy_t", "CREATE INDEX CONCURRENTLY ON psy_t (a)", "BEGIN", "SELECT 1", "COMMIT"):
        with connection.pipeline():
            found.append(failure(lambda text=text: connection.execute(text).fetchall() if text == "SELECT 1" else connection.execute(text) and None))
    with connection.pipeline():
        cursor = connection.cursor()
        cursor.executemany("INSERT INTO psy_t (a) VALUES (%s) RETURNING a", [(5,), (6,)], returning=True)
        found.append([result(cursor), cursor.nextset(), result(cursor)])
    return [*found, connection.execute("SELECT a FROM psy_t ORDER BY a").fetchall()]


def inner(connection):
    with connection.transaction():
        connection.execute("INSERT INTO psy_t (a) VALUES (7)")
        connection.execute("SELECT 1/0")


@test()
def pipeline_raw(connection):
    """libpq's own pipeline: what comes for each message, and PGRES_PIPELINE_ABORTED after an error."""
    pg = connection.pgconn
    pg.enter_pipeline_mode()
    pg.send_query_params(b"SELECT $1::int", [b"1"])
    pg.send_prepare(b"psy_a", b"SELECT $1::text || $2")
    pg.send_query_prepared(b"psy_a", [b"x", b"y"])
    pg.send_describe_prepared(b"psy_a")
    pg.pipeline_sync()
    pg.send_query_params(b"SELECT 1/0", [])
    pg.send_query_params(b"SELECT 2", [])
    pg.pipeline_sync()
    pg.send_query_params(b"SELECT 3", [])
    pg.send_flush_request()
    pg.send_query_params(b"INSERT INTO psy_t (a) VALUES (1) RETURNING a", [])
    pg.pipeline_sync()
    pg.flush()
    found, syncs = [], 0
    while syncs < 3:
        one = pg.get_result()
        found.append(of_result(one) if one else None)
        syncs += bool(one) and one.status == pq.ExecStatus.PIPELINE_SYNC
    pg.exit_pipeline_mode()
    return repr(found)


# Prepared statements

@test()
def prepared(connection):
    connection.prepare_threshold = 2
    connection.prepared_max = 3
    found = []
    for i in range(5):
        found.append(connection.execute("SELECT %s + 1", (i,)).fetchone())
    ask = "SELECT statement, parameter_types::text, from_sql FROM pg_prepared_statements WHERE statement NOT LIKE '%pg_prepared%' ORDER BY prepare_time"
    found.append(connection.execute(ask, prepare=False).fetchall())
    for i in range(6):
        connection.execute(f"SELECT {i}, %s::text", ("a",), prepare=True)
    found.append(connection.execute(ask, prepare=False).fetchall())
    connection.execute("DISCARD ALL")
    found += [connection.execute("SELECT %s + 1", (9,)).fetchone(), connection.execute("SELECT %s + 1", (2 ** 40,)).fetchone(), connection.execute("SELECT %s + 1", (1.5,)).fetchone()]
    connection.execute("DEALLOCATE ALL")
    return [*found, connection.execute("SELECT 5, %s::text", ("b",), prepare=True).fetchone()]


@test()
def prepared_after_ddl(connection):
    found = [connection.execute("SELECT * FROM psy_t", prepare=True).fetchall()]
    connection.execute("ALTER TABLE psy_t ADD COLUMN more int DEFAULT 7")
    connection.execute("INSERT INTO psy_t (a) VALUES (1)")
    found.append(failure(lambda: connection.execute("SELECT * FROM psy_t", prepare=True).fetchall()))
    found.append(failure(lambda: connection.execute("SELECT a FROM psy_t", prepare=True).fetchall()))
    connection.execute("ALTER TABLE psy_t DROP COLUMN more")
    connection.execute("ALTER TABLE psy_t ALTER COLUMN a TYPE bigint")
    found.append(failure(lambda: connection.execute("SELECT a FROM psy_t", prepare=True).fetchall()))
    connection.execute("DROP TABLE psy_t")
    found.append(failure(lambda: connection.execute("SELECT a FROM psy_t", prepare=True).fetchall()))
    connection.execute("CREATE TABLE psy_t (a text)")
    found.append(failure(lambda: connection.execute("SELECT a FROM psy_t", prepare=True).fetchall()))
    return found


# Transactions

@test()
def transactions(connection):
    found = []
    with connection.transaction():
        connection.execute("INSERT INTO psy_t (a) VALUES (1)")
        with connection.transaction("named"):
            connection.execute("INSERT INTO psy_t (a) VALUES (2)")
        with connection.transaction(force_rollback=True):
            connection.execute("INSERT INTO psy_t (a) VALUES (3)")
        with connection.transaction() as outer:
            connection.execute("INSERT INTO psy_t (a) VALUES (4)")
            raise psycopg.Rollback(outer)
        found += [failure(lambda: inner(connection)), connection.info.transaction_status]
    found.append(failure(lambda: inner(connection)))
    connection.autocommit = False
    for level in (*psycopg.IsolationLevel, None):
        for read_only in (True, False, None):
            for deferrable in (True, None):
                connection.isolation_level, connection.read_only, connection.deferrable = level, read_only, deferrable
                found.append([connection.execute(f"SHOW transaction_{name}").fetchone()[0] for name in ("isolation", "read_only", "deferrable")])
                found.append(failure(lambda: connection.execute("INSERT INTO psy_t (a) VALUES (5)") and None) if read_only else None)
                connection.rollback()
    found.append(connection.info.transaction_status)
    failure(lambda: connection.execute("SELECT nosuch"))
    found += [connection.info.transaction_status, failure(lambda: connection.execute("SELECT 1"))]
    connection.rollback()
    return [*found, connection.execute("SELECT a FROM psy_t ORDER BY a").fetchall()]


@test()
def two_phases(connection):
    connection.autocommit = False
    found = []
    connection.tpc_begin(connection.xid(1, "global'\"", "branch"))
    connection.execute("INSERT INTO psy_t (a) VALUES (1)")
    connection.tpc_prepare()
    with connect(autocommit=False) as other:
        waiting = other.tpc_recover()
        found += [[[one.format_id, one.gtrid, one.bqual, one.owner, one.database, type(one.prepared).__name__] for one in waiting], other.execute("TABLE psy_t").fetchall()]
        other.rollback()
        other.tpc_commit(waiting[0])
        found.append(other.execute("SELECT a FROM psy_t").fetchall())
    connection.close()
    with connect(autocommit=False) as other:
        other.tpc_begin("plain")
        other.execute("INSERT INTO psy_t (a) VALUES (2)")
        found += [failure(other.commit), failure(lambda: other.tpc_begin("again"))]
        other.tpc_prepare()
        other.tpc_rollback()
        found += [failure(lambda: other.tpc_commit("nosuch")), failure(other.tpc_recover)]
        other.rollback()
        return [*found, other.execute("SELECT a FROM psy_t").fetchall()]


# Notifications, notices, cancelling

@test()
def notifications(connection):
    with connect() as other:
        other.execute("LISTEN psy_channel")
        other.execute('LISTEN "\u00e4 Odd"')
        connection.execute("NOTIFY psy_channel, 'first'")
        with connection.transaction():
            connection.execute("SELECT pg_notify(%s, %s)", ("\u00e4 Odd", "second \u20ac"))
            connection.execute("NOTIFY psy_channel, 'same'")
            connection.execute("NOTIFY psy_channel, 'same'")
        connection.execute("NOTIFY psy_nobody")
        heard = [[one.channel, one.payload, one.pid == connection.info.backend_pid] for one in other.notifies(timeout=10, stop_after=3)]
        other.execute("NOTIFY psy_channel")
        own = [[one.channel, one.payload, one.pid == other.info.backend_pid] for one in other.notifies(timeout=10, stop_after=1)]
        channels = other.execute("SELECT pg_listening_channels() ORDER BY 1").fetchall()
        return [heard, own, channels, failure(lambda: connection.execute("SELECT pg_notify('', 'x')")), failure(lambda: connection.execute("SELECT pg_notify('x', repeat('y', 8000))"))]


@test()
def notices(connection):
    found = []
    connection.add_notice_handler(lambda diag: found.append([diag.severity, diag.sqlstate, diag.message_primary, diag.message_detail, diag.message_hint, diag.context]))
    for text in ["DROP TABLE IF EXISTS nosuch", "DO $$ BEGIN RAISE NOTICE 'hi % %', 1, 'x' USING HINT = 'h', DETAIL = 'd', ERRCODE = '01234'; RAISE WARNING 'w'; END $$", "CREATE TABLE IF NOT EXISTS psy_t ()",
                 "ROLLBACK", "BEGIN", "BEGIN", "COMMIT", "COMMIT", "SET LOCAL work_mem = '1MB'", "DROP VIEW IF EXISTS nosuch.x", "CREATE TABLE psy_n (a serial PRIMARY KEY)", "DROP TABLE psy_n CASCADE",
                 "CREATE EXTENSION IF NOT EXISTS hstore", "SET client_min_messages = debug1", "SET client_min_messages = error", "DROP TABLE IF EXISTS nosuch"]:
        connection.execute(text)
    return found


@test()
def cancel(connection):
    found = []
    for how in (lambda c: c.cancel(), lambda c: c.cancel_safe(timeout=5)):
        done = threading.Event()

        def cancel_until_heard(how=how, done=done):  # one that comes before the statement has begun has no effect
            while not done.wait(0.3):
                how(connection)
        thread = threading.Thread(target=cancel_until_heard)
        thread.start()
        found.append(failure(lambda: connection.execute("SELECT pg_sleep(60)")))
        done.set()
        thread.join()
        time.sleep(0.2)
        found.append(failure(lambda: connection.execute("SELECT 1").fetchone()))
    connection.execute("SET statement_timeout = 200")
    found.append(failure(lambda: connection.execute("SELECT pg_sleep(60)")))
    return found


@test()
def terminated(connection):
    with connect() as other:
        connection.execute("SELECT pg_terminate_backend(%s, 5000)", (other.info.backend_pid,))
        found = failure(lambda: other.execute("SELECT 1"))
        return [found[0], found[1:3], other.closed, other.broken]


@test()
def lock_timeout(connection):
    with connect(autocommit=False) as other:
        other.execute("LOCK TABLE psy_t")
        connection.execute("SET lock_timeout = '100ms'")
        found = [failure(lambda: connection.execute("SELECT * FROM psy_t")), failure(lambda: connection.execute("LOCK TABLE psy_t NOWAIT"))]
        other.rollback()
        other.execute("INSERT INTO psy_t (a) VALUES (1)")
        other.commit()
        other.execute("SELECT * FROM psy_t FOR UPDATE")
        return [*found, failure(lambda: connection.execute("SELECT * FROM psy_t FOR UPDATE NOWAIT")), connection.execute("SELECT * FROM psy_t FOR UPDATE SKIP LOCKED").fetchall()]


# Types of the user's own

class Mood(enum.Enum):
    happy = 1
    sad = 2


@test(*FORMATS)
def own_types(connection, form):
    found = []
    info = penum.EnumInfo.fetch(connection, "psy_mood")
    found.append([info.name, info.labels, info.regtype])
    penum.register_enum(info, connection, Mood)
    found.append(repr(connection.execute("SELECT %s, %s, 'sad'::psy_mood", (Mood.happy, [Mood.sad, Mood.happy]), binary=FORMATS[form]).fetchall()))
    info = composite.CompositeInfo.fetch(connection, "psy_row")
    found.append([info.name, info.field_names, info.field_types])
    composite.register_composite(info, connection)
    value = info.python_type(5, 'q"(,', D("1.50"), dt.date(2024, 1, 2))
    found.append(repr(connection.execute("SELECT %s, %s, (%s::psy_row).b, ROW(1, NULL, NULL, NULL)::psy_row", (value, [value, None], value), binary=FORMATS[form]).fetchall()))
    info = ranges.RangeInfo.fetch(connection, "psy_range")
    ranges.register_range(info, connection)
    found.append([info.name, TypeInfo.fetch(connection, "float8").oid == info.subtype_oid])
    found.append(repr(connection.execute("SELECT '[1.5,2.5)'::psy_range, %s::psy_range", (ranges.Range(1.5, 9.25),), binary=FORMATS[form]).fetchall()))
    info = multirange.MultirangeInfo.fetch(connection, "psy_multirange")
    multirange.register_multirange(info, connection)
    found.append(repr(connection.execute("SELECT '{[1.5,2.5)}'::psy_multirange, %s::psy_multirange", (multirange.Multirange([ranges.Range(1.5, 9.25)]),), binary=FORMATS[form]).fetchall()))
    info = TypeInfo.fetch(connection, "hstore")
    hstore.register_hstore(info, connection)
    found.append(repr(connection.execute("SELECT %s, 'a=>NULL'::hstore, %s", ({"k": "v", "n": None, '"': "\\"}, [{"a": "b"}]), binary=FORMATS[form]).fetchall()))
    return found


@test("int4", "_int4", "numeric", "psy_mood", "public.psy_mood", "psy_row", "psy_domain", "nosuch", "pg_catalog.text", "psy_range", "psy_multirange", "hstore", "citext", "varchar(5)", "int4[]", "psy_t", "record")
def type_info(connection, name):
    found = []
    for kind in (TypeInfo, ranges.RangeInfo, multirange.MultirangeInfo, composite.CompositeInfo):
        info = kind.fetch(connection, name)
        found.append(info and [info.name, info.regtype, info.delimiter, bool(info.array_oid)])
    return found


@test()
def adapters(connection):
    class Point:
        def __init__(self, x):
            self.x = x

    class PointDumper(psycopg.adapt.Dumper):
        oid = psycopg.adapters.types["int4"].oid

        def dump(self, value):
            return str(value.x).encode()

    class NumericLoader(psycopg.adapt.Loader):
        def load(self, data):
            return "numeric " + bytes(data).decode()
    connection.adapters.register_dumper(Point, PointDumper)
    connection.adapters.register_loader("numeric", NumericLoader)
    connection.adapters.register_dumper(str, string.StrDumperVarchar)
    return [connection.execute("SELECT %s, pg_typeof(%s)::text, 1.50, ARRAY[2.5], pg_typeof(%s)::text", (Point(4), Point(5), "x")).fetchall(),
            failure(lambda: connection.execute("SELECT %s", (object(),)) and None)]


# libpq

@test()
def libpq_results(connection):
    pg = connection.pgconn
    found = [of_result(pg.exec_(text)) for text in (b"SELECT 1 AS a, 'x'::varchar(7) AS b", b"", b"INSERT INTO psy_t (a) VALUES (1)", b"SELECT nosuch", b"BEGIN; SELECT a, b FROM psy_t; COMMIT")]
    found.append(of_result(pg.exec_params(b"SELECT $1, $2::int4 + 1", [b"a", b"\0\0\0\5"], param_types=[25, 0], param_formats=[0, 1], result_format=1)))
    found.append(of_result(pg.exec_params(b"SELECT $1, $1 IS NULL", [None])))
    found.append(of_result(pg.prepare(b"psy_one", b"SELECT a, b, $1::int FROM psy_t WHERE b = $2 AND a = $3")))
    described_one = pg.describe_prepared(b"psy_one")
    found += [of_result(described_one), [described_one.param_type(i) for i in range(described_one.nparams)]]
    found.append(of_result(pg.exec_prepared(b"psy_one", [b"1", b"x", b"2"])))
    found += [of_result(pg.prepare(b"psy_one", b"SELECT 1")), of_result(pg.describe_prepared(b"nosuch")), of_result(pg.exec_prepared(b"nosuch", []))]
    found.append(of_result(pg.exec_params(b"SELECT $1, $2", [b"1"])))
    found.append(of_result(pg.exec_params(b"SELECT $1::int", [b"\0\0\0"], param_formats=[1])))
    found.append(of_result(pg.exec_params(b"SELECT 1; SELECT 2", [])))
    found.append(of_result(pg.prepare(b"psy_two", b"SELECT $1", [20])))
    found += [[one.param_type(0), of_result(one)] for one in [pg.describe_prepared(b"psy_two")]]
    pg.exec_(b"BEGIN")
    pg.exec_(b"DECLARE psy_portal CURSOR FOR SELECT a, b FROM psy_t")
    found += [of_result(pg.describe_portal(b"psy_portal")), of_result(pg.describe_portal(b"nosuch"))]
    return repr(found)


@test()
def libpq_origins(connection):
    found = connection.pgconn.exec_(b"SELECT a, b, a + 1, t.a AS other, (SELECT 1), count(*) OVER () FROM psy_t AS t JOIN psy_c AS c USING (a, b)")
    table = connection.execute("SELECT oid FROM pg_class WHERE relname IN ('psy_t', 'psy_c') ORDER BY relname").fetchall()
    return [[found.ftable(i) and [(found.ftable(i),) == one for one in table], found.ftablecol(i)] for i in range(found.nfields)]


@test()
def info(connection):
    found = connection.info
    names = ["server_encoding", "client_encoding", "is_superuser", "session_authorization", "DateStyle", "IntervalStyle", "TimeZone", "integer_datetimes", "standard_conforming_strings",
             "application_name", "in_hot_standby", "default_transaction_read_only", "nosuch"]
    return [found.dbname, found.user, found.vendor, found.server_version // 10000, found.encoding, str(found.timezone), found.status, found.transaction_status, found.error_message,
            [[name, found.parameter_status(name)] for name in names], sorted(found.get_parameters())[:4], connection.pgconn.protocol_version, connection.pgconn.needs_password]


@test("SET timezone = 'Europe/Rome'", "SET timezone = '-05:30'", "SET client_encoding = latin1", "SET datestyle = 'SQL, DMY'", "SET intervalstyle = iso_8601",
      "SET application_name = 'psy'", "SET bytea_output = escape", "SET extra_float_digits = 0", "SET SESSION AUTHORIZATION psy_role", "SET intervalstyle = postgres_verbose", "SET lc_monetary = 'C'")
def session(connection, text):
    connection.execute(text)
    found = [[name, connection.info.parameter_status(name)] for name in ("TimeZone", "client_encoding", "DateStyle", "IntervalStyle", "application_name", "is_superuser", "session_authorization")]
    for binary in (False, True):
        for asked in ("'2024-07-01 12:00+00'::timestamptz", "'\u00e4'", "'2024-02-01'::date", "interval '1 day 2 hours'", "'\\x00ff'::bytea", "0.1::float8 + 0.2", "'1.5'::money"):
            found.append(failure_of_any(lambda asked=asked, binary=binary: connection.execute(f"SELECT {asked}", binary=binary).fetchone()))
    return found


@test("options='-c search_path=psy_schema -c statement_timeout=5s'", "options='-c geqo=off' application_name=psy", "client_encoding=latin1", "connect_timeout=5", "dbname=nosuch", "user=nosuch", "options='-c nosuch=1'",
      "options='-c work_mem=x'", "gssencmode=disable sslmode=prefer", "sslmode=require", "target_session_attrs=read-write", "target_session_attrs=read-only", "target_session_attrs=standby",
      "replication=database", "options='--work-mem=1MB'", "fallback_application_name=fb", "max_protocol_version=3.2")
def connecting(connection, more):
    def run():
        with psycopg.connect(f"{place} {more}") as other:
            return other.execute("SELECT current_setting('search_path'), current_setting('statement_timeout'), current_setting('application_name'), current_setting('client_encoding'), "
                                 "current_setting('work_mem'), current_setting('geqo'), current_database(), current_user").fetchall()
    found = failure(run)
    return found if "sqlstate" in str(found) or found[0] == "no error" else [found[0], found[1].rsplit(": ", 1)[-1].strip()]


# Pools, asyncio

@test("plain", "null")
def pool(connection, kind):
    found = []
    with (ConnectionPool if kind == "plain" else NullConnectionPool)(place, min_size=1 if kind == "plain" else 0, max_size=3, kwargs={"autocommit": True}, check=ConnectionPool.check_connection) as made:
        with made.connection() as one, made.connection() as two:
            found += [one.execute("SELECT 1").fetchone(), two.execute("SELECT 2").fetchone(), one is two]
            victim = two.info.backend_pid
        connection.execute("SELECT pg_terminate_backend(%s, 5000)", (victim,))
        for i in range(4):
            with made.connection() as one:
                found.append(one.execute("SELECT %s", (i,)).fetchone())

        def failing():
            with made.connection() as one:
                one.execute("BEGIN")
                one.execute("SELECT nosuch")
        found.append(failure(failing))
        with made.connection() as one:
            found.append([one.info.transaction_status, one.execute("SELECT 1").fetchone()])
        threads, total = [], []
        for i in range(12):
            def work(i=i):
                with made.connection() as one:
                    total.append(one.execute("SELECT %s::int FROM pg_sleep(0.01)", (i,)).fetchone()[0])
            threads.append(threading.Thread(target=work))
            threads[-1].start()
        for thread in threads:
            thread.join()
        return [*found, sorted(total)]


@test()
def asynchronous(connection):
    async def run():
        found = []
        async with await psycopg.AsyncConnection.connect(place, autocommit=True) as one:
            async with one.cursor() as cursor:
                await cursor.execute("SELECT i FROM generate_series(1, 5) AS i")
                found.append([row async for row in cursor])
                async with cursor.copy("COPY psy_t (a) FROM STDIN") as copy:
                    await copy.write_row((1,))
            async with one.pipeline():
                found.append([await (await one.execute("SELECT %s::int", (i,))).fetchone() for i in range(3)])
            async with one.transaction(), one.cursor("named") as cursor:
                await cursor.execute("SELECT a FROM psy_t")
                found.append(await cursor.fetchall())
            task = asyncio.ensure_future(one.execute("SELECT pg_sleep(60)"))
            await asyncio.sleep(0.5)
            task.cancel()
            try:
                await task
            except asyncio.CancelledError:
                found.append("cancelled")
            found.append(await (await one.execute("SELECT 1")).fetchone())
        async with AsyncConnectionPool(place, min_size=1, max_size=2, open=False) as made:
            async def work(i):
                async with made.connection() as two:
                    return await (await two.execute("SELECT %s::int", (i,))).fetchone()
            found.append(await asyncio.gather(*[work(i) for i in range(6)]))
        return found
    return asyncio.run(run())


SETUP = """
DROP SCHEMA public CASCADE; CREATE SCHEMA public; CREATE SCHEMA IF NOT EXISTS psy_schema;
CREATE EXTENSION hstore; CREATE EXTENSION citext;
CREATE TYPE psy_mood AS ENUM ('happy', 'sad'); CREATE TYPE psy_row AS (a int, b text, n numeric, d date); CREATE DOMAIN psy_domain AS int CHECK (VALUE > 0);
CREATE TYPE psy_range AS RANGE (SUBTYPE = float8, MULTIRANGE_TYPE_NAME = psy_multirange);
CREATE TABLE psy_t (a int, b text);
CREATE TABLE psy_d (a int, b text, n numeric(12,3), v varchar(30), c char(4), t time(3), ts timestamptz(2), bits bit(7), arr numeric(5,2)[], iv interval(3));
CREATE TABLE psy_c (a int CONSTRAINT psy_key PRIMARY KEY, b int NOT NULL CONSTRAINT psy_check CHECK (b > 0), r int CONSTRAINT psy_ref REFERENCES psy_c, d psy_domain, v varchar(3));
INSERT INTO psy_c VALUES (1, 1), (2, 1);
CREATE VIEW psy_view AS SELECT * FROM psy_c;
CREATE FUNCTION psy_raise() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE 'raised %', 1 USING ERRCODE = 'P0042', HINT = 'h', DETAIL = 'd', TABLE = 't', COLUMN = 'c', SCHEMA = 's', DATATYPE = 'dt', CONSTRAINT = 'co'; END $$;
CREATE FUNCTION psy_error_inside(x int) RETURNS int LANGUAGE plpgsql AS $$ DECLARE y int; BEGIN y := 1 / x; RETURN y; END $$;
CREATE PROCEDURE psy_procedure(x int) LANGUAGE plpgsql AS $$ BEGIN PERFORM x; END $$;
DO $$ BEGIN CREATE ROLE psy_role; EXCEPTION WHEN duplicate_object THEN END $$;
"""


def shown(value):
    return value.hex() if isinstance(value, (bytes, memoryview)) else str(value)


for test_name, function in chosen():
    with connect() as admin:
        for (waiting,) in admin.execute("SELECT gid FROM pg_prepared_xacts WHERE database = current_database()").fetchall():
            admin.execute(sql.SQL("ROLLBACK PREPARED {}").format(waiting))
        admin.execute("SET client_min_messages = warning; SET lock_timeout = '30s'")
        admin.execute(SETUP)
    connection = connect()
    report(test_name, lambda function=function, connection=connection: function(connection), shown)
    connection.close()
