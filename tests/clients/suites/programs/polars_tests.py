"""What users of Polars and ConnectorX do: queries into frames by each way there is (ConnectorX's four protocols and partitions, ADBC,
psycopg, SQLAlchemy), frames into tables. Prints for each test a line of JSON: its name and what it has seen, which suite.py compares."""
import datetime as dt
import decimal
import sys

import adbc_driver_postgresql.dbapi
import connectorx
import polars as pl
import psycopg
import sqlalchemy
from harness import TESTS, chosen, report, test

uri = sys.argv[1]
PROTOCOLS = ["binary", "csv", "cursor", "simple"]


def shown(frame):
    return [[[name, str(kind)] for name, kind in frame.schema.items()], [[repr(value) for value in row] for row in frame.rows()]]


def by_connectorx(query, **options):
    return pl.from_arrow(connectorx.read_sql(uri, query, return_type="arrow", **options))


def by_adbc(query):
    with adbc_driver_postgresql.dbapi.connect(uri) as connection:
        return pl.read_database(query, connection)


def by_psycopg(query):
    with psycopg.connect(uri) as connection:
        return pl.read_database(query, connection)


def by_sqlalchemy(query):
    engine = sqlalchemy.create_engine(uri.replace("postgresql:", "postgresql+psycopg:"))
    try:
        with engine.connect() as connection:
            return pl.read_database(query, connection)
    finally:
        engine.dispose()


WAYS = {**{f"connectorx_{one}": lambda query, one=one: by_connectorx(query, protocol=one) for one in PROTOCOLS}, "adbc": by_adbc, "psycopg": by_psycopg,
        "sqlalchemy": by_sqlalchemy, "uri": lambda query: pl.read_database_uri(query, uri), "uri_adbc": lambda query: pl.read_database_uri(query, uri, engine="adbc")}

COLUMNS = {
    "bool": ["true", "false"], "int2": ["-5", "32767"], "int4": ["7"], "int8": ["9223372036854775807"], "float4": ["1.5", "NaN"], "float8": ["1e300", "-Infinity"],
    "numeric": ["1.5", "-12345678901234567890.123"], "numeric(10,2)": ["1.5"], "text": ["a\u20ac", ""], "varchar(9)": ["x"], "char(4)": ["x"], "name": ["n"], "bytea": ["\\x00ff"],
    "date": ["2024-02-29", "1900-01-01"], "time": ["12:34:56.789"], "timestamp": ["2024-02-29 12:34:56.789", "1969-12-31"], "timestamptz": ["2024-07-01 12:00+02"],
    "interval": ["1 day 02:03:04"], "uuid": ["00000000-0000-0000-0000-00000000002a"], "json": ['{"a": 1}'], "jsonb": ['{"a": [1, null]}'], "int4[]": ["{1,2,3}"], "int8[]": ["{}"],
    "float8[]": ["{1.5}"], "text[]": ["{a,b}"], "bool[]": ["{t,f}"], "inet": ["10.0.0.1"], "pol_mood": ["happy"], "oid": ["7"], "point": ["(1,2)"], "int4range": ["[1,5)"], "money": ["1.50"]}


def column(kind, texts, way, read):
    def run():
        rows = ", ".join(f"({i}, '{text}'::{kind})" for i, text in enumerate(texts)) + f", (9, NULL::{kind})"
        return shown(read(f"SELECT v FROM (VALUES {rows}) AS t (i, v) ORDER BY i"))
    TESTS[f"column_{kind}_{way}"] = run


for kind, texts in COLUMNS.items():
    for way, read in WAYS.items():
        column(kind, texts, way, read)


@test(*WAYS)
def many_rows(way):
    frame = WAYS[way]("SELECT i, 'row ' || i AS t, i / 2.0::float8 AS f, CASE WHEN i % 3 = 0 THEN i END AS n FROM generate_series(1, 30000) AS i")
    return [str(frame.schema), frame.height, frame["i"].sum(), frame["n"].null_count(), frame["t"].max(), frame["f"].sum()]


@test(*WAYS)
def no_rows(way):
    return shown(WAYS[way]("SELECT a, b, c FROM pol_numbers WHERE false"))


@test(*WAYS)
def queries(way):
    return [shown(WAYS[way](query)) for query in ("WITH w AS (SELECT a FROM pol_numbers WHERE a < 4) SELECT a, count(*) AS n FROM w GROUP BY a ORDER BY a",
                                                  "SELECT a, row_number() OVER (ORDER BY a DESC) AS r FROM pol_numbers ORDER BY a LIMIT 3", "SELECT * FROM pol_numbers ORDER BY a LIMIT 2 OFFSET 1")]


@test(*[f"{protocol}_{parts}" for protocol in PROTOCOLS for parts in (1, 3, 7)])
def partitions(variant):
    protocol, parts = variant.split("_")
    frame = by_connectorx("SELECT * FROM pol_numbers", protocol=protocol, partition_on="a", partition_num=int(parts))
    return shown(frame.sort("a").head(3)), frame.height, frame["a"].sum()


@test(*PROTOCOLS)
def partitions_of_range(protocol):
    frame = by_connectorx("SELECT a, c FROM pol_numbers WHERE b LIKE 'b%'", protocol=protocol, partition_on="a", partition_num=4, partition_range=(10, 200))
    return frame.height, frame["a"].min(), frame["a"].max()


@test(*PROTOCOLS)
def several_queries(protocol):
    frame = pl.from_arrow(connectorx.read_sql(uri, ["SELECT a FROM pol_numbers WHERE a <= 100", "SELECT a FROM pol_numbers WHERE a > 900"], return_type="arrow", protocol=protocol))
    return frame.height, frame["a"].sum()


@test(*WAYS)
def failing(way):
    found = []
    for query in ("SELECT nosuch FROM pol_numbers", "SELECT 1 / (a - 500) AS q FROM pol_numbers ORDER BY a"):
        try:
            found.append(WAYS[way](query).height)
        except BaseException as wrong:  # noqa: B036: ConnectorX panics with one of these
            found.append([type(wrong).__name__, str(wrong).split("\n")[0]])
    return found


FRAME = {"i": [1, None, 3], "big": [2 ** 40, 0, None], "f": [1.5, float("nan"), None], "t": ["a", "\u20ac'\"\\", None], "b": [True, None, False], "d": [dt.date(2024, 2, 29), None, dt.date(1900, 1, 1)],
         "ts": [dt.datetime(2024, 1, 2, 3, 4, 5, 678901), None, dt.datetime(1969, 1, 1)], "tm": [dt.time(1, 2, 3), None, dt.time(23, 59, 59)], "y": [b"\x00\xff", None, b""]}


@test(*[f"{engine}_{mode}" for engine in ("sqlalchemy", "adbc") for mode in ("replace", "append", "fail")])
def written(variant):
    engine, mode = variant.split("_")
    frame = pl.DataFrame(FRAME)
    target = uri if engine == "adbc" else uri.replace("postgresql:", "postgresql+psycopg:")
    found = [frame.write_database("pol_written", target, engine=engine)]
    try:
        found.append(frame.write_database("pol_written", target, engine=engine, if_table_exists=mode))
    except Exception as wrong:  # noqa: BLE001: which one it is, is seen
        found.append(type(wrong).__name__)
    return found, shown(by_psycopg("SELECT * FROM pol_written ORDER BY big NULLS LAST, i")), shown(
        by_psycopg("SELECT column_name, data_type, is_nullable FROM information_schema.columns WHERE table_name = 'pol_written' ORDER BY ordinal_position"))


@test("adbc", "sqlalchemy")
def written_much(engine):
    frame = pl.DataFrame({"i": range(20000), "t": [f"row {i}" for i in range(20000)]})
    frame.write_database("pol_written", uri if engine == "adbc" else uri.replace("postgresql:", "postgresql+psycopg:"), engine=engine)
    return shown(by_adbc("SELECT count(*), sum(i), max(t) FROM pol_written"))


@test()
def adbc_objects():
    with adbc_driver_postgresql.dbapi.connect(uri) as connection:
        objects = connection.adbc_get_objects(depth="all", catalog_filter="polars_suite", db_schema_filter="public", table_name_filter="pol_numbers").read_all().to_pylist()
        kinds = connection.adbc_get_table_types()
        return [objects, kinds, str(connection.adbc_get_table_schema("pol_numbers")), connection.adbc_get_info()["vendor_name"]]


@test()
def adbc_ingest():
    found = []
    table = pl.DataFrame({"i": [1, 2], "n": [decimal.Decimal("1.50"), None], "l": [[1, 2], []]}).to_arrow()
    with adbc_driver_postgresql.dbapi.connect(uri) as connection, connection.cursor() as cursor:
        for mode, options in (("create", {}), ("append", {}), ("replace", {}), ("create_append", {}), ("create", {"temporary": True}), ("create", {"db_schema_name": "pol_schema"})):
            found.append(cursor.adbc_ingest("pol_ingested", table, mode=mode, **options))
        cursor.execute("SELECT * FROM public.pol_ingested ORDER BY i")
        found.append(str(cursor.fetchall()))
        cursor.execute("SELECT $1 + 1, $2", (4, "x"))
        found.append(str(cursor.fetchall()))
        cursor.executemany("INSERT INTO pol_numbers (a, b) VALUES ($1, $2)", [(2000, "x"), (2001, None)])
        cursor.execute("SELECT count(*) FROM pol_numbers")
        found.append(str(cursor.fetchall()))
        connection.rollback()
        cursor.execute("SELECT count(*) FROM pol_numbers")
        return [*found, str(cursor.fetchall()), str(cursor.adbc_execute_schema("SELECT a, b, c FROM pol_numbers"))]


SETUP = """
DROP SCHEMA public CASCADE; CREATE SCHEMA public; DROP SCHEMA IF EXISTS pol_schema CASCADE; CREATE SCHEMA pol_schema;
CREATE TYPE pol_mood AS ENUM ('happy', 'sad');
CREATE TABLE pol_numbers (a int PRIMARY KEY, b text, c float8);
INSERT INTO pol_numbers SELECT i, 'b' || i, i / 4.0 FROM generate_series(1, 1000) AS i;
"""


for number, (test_name, function) in enumerate(chosen()):
    if number == 0 or not test_name.startswith("column"):
        with psycopg.connect(uri, autocommit=True) as admin:
            admin.execute("SET client_min_messages = warning; SET lock_timeout = '20s'")
            admin.execute(SETUP)
    report(test_name, function, wrongs=BaseException)  # ConnectorX panics with one of these
