"""What Apache Superset asks a database for, without its web server: schemas, tables and columns, time grains, the statements of charts as a
dataset makes them, SQL Lab's statements and limits, errors, costs, cancellation, uploads. Prints for each test a line of JSON: its name and
what it has seen, which suite.py compares between servers."""
import datetime as dt
import decimal
import json
import os
import shutil
import sys
import tempfile
import threading
import time
import warnings

uri = sys.argv[1]
home = tempfile.mkdtemp(prefix="superset-")
CACHES = ("CACHE_CONFIG", "DATA_CACHE_CONFIG", "FILTER_STATE_CACHE_CONFIG", "EXPLORE_FORM_DATA_CACHE_CONFIG", "THUMBNAIL_CACHE_CONFIG", "DISTRIBUTED_COORDINATION_CONFIG")
with open(home + "/superset_config.py", "w") as file:
    file.write(f"SECRET_KEY = '{'x' * 42}'\nSQLALCHEMY_DATABASE_URI = 'sqlite:///{home}/metadata.db'\nTESTING = True\nWTF_CSRF_ENABLED = False\nRATELIMIT_ENABLED = False\n"
               + "".join(f"{name} = {{'CACHE_TYPE': 'NullCache'}}\n" for name in CACHES[:5]) + "TALISMAN_ENABLED = False\nLOG_LEVEL = 'CRITICAL'\nSQLLAB_TIMEOUT = 20\n")
os.environ.update(SUPERSET_CONFIG_PATH=home + "/superset_config.py", SUPERSET_HOME=home, SUPERSET_TESTENV="true")
warnings.simplefilter("ignore")

import pandas  # noqa: E402
import psycopg2  # noqa: E402
from flask_appbuilder import Model  # noqa: E402
from harness import TESTS, chosen, report, test  # noqa: E402
from superset.app import create_app  # noqa: E402

app = create_app()
context = app.app_context()
context.push()
request = app.test_request_context()
request.push()

from superset import db  # noqa: E402
from superset.connectors.sqla.models import SqlaTable, SqlMetric  # noqa: E402
from superset.db_engine_specs.postgres import PostgresEngineSpec  # noqa: E402
from superset.models.core import Database  # noqa: E402
from superset.sql.parse import SQLScript, Table  # noqa: E402

Model.metadata.create_all(db.engine)
database = Database(database_name="suite", sqlalchemy_uri=uri.replace("postgresql:", "postgresql+psycopg2:"), expose_in_sqllab=True, allow_ctas=True, allow_cvas=True, allow_dml=True, allow_run_async=False, allow_file_upload=True)
db.session.add(database)
db.session.commit()
dataset = None


def plain(value):
    if isinstance(value, float):
        return f"{value:.12g}"
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(plain(one) for one in value)
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return value if isinstance(value, (int, str, type(None))) else str(value)


def shown(frame):
    return [[[str(name), str(kind)] for name, kind in frame.dtypes.items()], [[plain(value) for value in row] for row in frame.itertuples(index=False, name=None)]]


def failure(action):
    try:
        return ["no error", plain(action())]
    except Exception as error:  # noqa: BLE001: any failure is one
        return [type(error).__name__, str(error)[:600]]


def got(text, **more):
    return database.get_df(text, schema="public", **more)


def sql(text):
    with psycopg2.connect(uri) as connection, connection.cursor() as cursor:
        cursor.execute(text)
        return cursor.fetchall() if cursor.description else None


# What there is in the database

TABLES = ["sales", "shops", "all_types", "sales_view", "sales_kept", "parts", "Odd Name", "outside"]
SCHEMA = {
    "schemas": lambda: database.get_all_schema_names(), "catalogs": lambda: "superset_suite" in database.get_all_catalog_names(), "default_schema": lambda: database.get_default_schema(None), "default_catalog": lambda: database.get_default_catalog(), "functions": lambda: {"abs", "date_trunc", "string_agg", "percentile_cont"} <= set(database.function_names),
    "tables": lambda: database.get_all_table_names_in_schema(None, "public"), "tables_other": lambda: database.get_all_table_names_in_schema(None, "other"), "views": lambda: database.get_all_view_names_in_schema(None, "public"),
    "grains": lambda: [[one.name, one.duration] for one in database.grains()], "dialect": lambda: database.get_dialect().name, "reserved": lambda: "select" in database.get_reserved_words(), "engine_information": lambda: database.engine_information, "search_path": lambda: database.get_df("SELECT a FROM thing", schema="other").to_dict("list"),
    "schema_of_query": lambda: failure(lambda: database.get_df("SELECT a FROM thing", schema="no_such_schema")), "has_table": lambda: [database.has_table(Table("sales", "public")), database.has_table(Table("nothing", "public")), database.has_view(Table("sales_view", "public")), database.has_view(Table("sales", "public"))]}
for key, look in SCHEMA.items():
    TESTS[f"schema_{key}"] = lambda look=look: plain(look())


@test(*TABLES)
def columns_of(name):
    return plain([{key: value for key, value in one.items() if key in ("column_name", "name", "nullable", "default", "comment", "autoincrement", "identity", "computed")} | {"type": str(one["type"])} for one in database.get_columns(Table(name, "public"))])


@test(*TABLES)
def keys_of(name):
    table = Table(name, "public")
    return plain([database.get_pk_constraint(table), database.get_foreign_keys(table), sorted(database.get_indexes(table), key=str), database.get_table_comment(table)])


@test(*TABLES)
def select_star(name):
    text = database.select_star(Table(name, "public"), limit=3, show_cols=True, cols=database.get_columns(Table(name, "public")))
    return [text, shown(got(text))[0]]


@test(*TABLES)
def dataset_of(name):
    """A dataset, whose columns it finds by itself."""
    made = SqlaTable(table_name=name, schema="public", database=database)
    made.fetch_metadata()
    return [[one.column_name, one.type, one.is_dttm, one.groupby, one.filterable, str(one.type_generic)] for one in sorted(made.columns, key=lambda one: one.column_name)]


@test("sales", "shops")
def values_for_column(name):
    made = SqlaTable(table_name=name, schema="public", database=database)
    made.fetch_metadata()
    db.session.add(made)
    db.session.flush()
    found = [sorted(plain(list(made.values_for_column("region", 10))), key=str)]
    db.session.rollback()
    return found


@test()
def virtual_dataset():
    made = SqlaTable(table_name="virtual", schema="public", database=database, sql="SELECT region, sum(amount) AS total, max(sold_at) AS latest, array_agg(id ORDER BY id) AS ids FROM sales GROUP BY region")
    made.fetch_metadata()
    return [[one.column_name, one.type, one.is_dttm] for one in made.columns]


# Time

GRAINS = {(one or "none"): text for one, text in PostgresEngineSpec.get_time_grain_expressions().items()}


@test(*GRAINS)
def grain(name):
    text = GRAINS[name]
    seen = [text]
    for column in ("sold_at", "day", "zoned", "age('2024-03-01 10:11:12', sold_at)" if name in ("none", "PT1H", "P1D") else "day"):
        expression = text.replace("{col}", column)
        seen.append(failure(lambda expression=expression: shown(got(f"SELECT id, {expression} AS grain FROM sales ORDER BY id LIMIT 4"))))
    return seen


@test("date", "timestamp", "timestamptz", "text")
def convert_dttm(kind):
    text = PostgresEngineSpec.convert_dttm({"date": "DATE", "timestamp": "TIMESTAMP WITHOUT TIME ZONE", "timestamptz": "TIMESTAMP WITH TIME ZONE", "text": "TEXT"}[kind], dt.datetime(2024, 2, 29, 13, 4, 5, 678901))
    return [text, shown(got(f"SELECT {text} AS v")) if text else None]


@test("epoch", "epoch_ms")
def epoch(kind):
    text = PostgresEngineSpec.epoch_to_dttm() if kind == "epoch" else PostgresEngineSpec.epoch_ms_to_dttm()
    return [text, shown(got("SELECT " + text.replace("{col}", "1709211845" if kind == "epoch" else "1709211845678") + " AS v"))]


# Charts

def made_dataset():
    global dataset
    if dataset is None:
        dataset = SqlaTable(table_name="sales", schema="public", database=database, main_dttm_col="sold_at")
        dataset.fetch_metadata()
        dataset.metrics += [SqlMetric(metric_name="total", expression="SUM(amount)"), SqlMetric(metric_name="ratio", expression="SUM(amount) / NULLIF(COUNT(*), 0)")]
        db.session.add(dataset)
        db.session.commit()
    return dataset


def simple(column, aggregate):
    return {"expressionType": "SIMPLE", "column": {"column_name": column, "type": "NUMERIC"}, "aggregate": aggregate, "label": f"{aggregate}({column})"}


def written(text, label):
    return {"expressionType": "SQL", "sqlExpression": text, "label": label}


BASE = {"columns": [], "metrics": ["count"], "filter": [], "extras": {}, "granularity": None, "from_dttm": None, "to_dttm": None, "is_timeseries": False, "row_limit": 100, "orderby": [], "inner_from_dttm": None, "inner_to_dttm": None}
WHOLE = {"granularity": "sold_at", "from_dttm": dt.datetime(2024, 1, 1), "to_dttm": dt.datetime(2024, 7, 1)}
CHARTS = {
    "total": {"metrics": ["total"]}, "count": {"metrics": ["count"]}, "several": {"metrics": ["total", "ratio", "count"]}, "grouped": {"columns": ["region"], "metrics": ["total"], "orderby": [("total", False)]}, "grouped_two": {"columns": ["region", "kind"], "metrics": ["count"], "orderby": [("count", False), ("region", True), ("kind", True)]},
    **{f"aggregate_{one}": {"columns": ["region"], "metrics": [simple("amount", one)], "orderby": [("region", True)]} for one in ("SUM", "AVG", "MIN", "MAX", "COUNT", "COUNT_DISTINCT")},
    **{f"series_{one}": {**WHOLE, "is_timeseries": True, "metrics": ["total"], "extras": {"time_grain_sqla": one}, "orderby": []} for one in ("PT1H", "P1D", "P1W", "P1M", "P3M", "P1Y")},
    "series_grouped": {**WHOLE, "is_timeseries": True, "columns": ["region"], "metrics": ["total"], "extras": {"time_grain_sqla": "P1M"}}, "series_limit": {**WHOLE, "is_timeseries": True, "columns": ["region"], "metrics": ["total"], "series_columns": ["region"], "series_limit": 2, "extras": {"time_grain_sqla": "P1M"}},
    "series_limit_metric": {**WHOLE, "is_timeseries": True, "columns": ["region"], "metrics": ["total"], "series_columns": ["region"], "series_limit": 1, "series_limit_metric": simple("amount", "MAX"), "order_desc": True, "extras": {"time_grain_sqla": "P3M"}}, "series_others": {**WHOLE, "is_timeseries": True, "columns": ["region"], "metrics": ["total"], "series_columns": ["region"], "series_limit": 1, "group_others_when_limit_reached": True, "extras": {"time_grain_sqla": "P3M"}},
    **{f"filter_{name}": {"columns": ["id"], "metrics": None, "filter": [{"col": column, "op": op, "val": value}], "orderby": [("id", True)]} for name, (column, op, value) in {
        "equal": ("region", "==", "north"), "unequal": ("region", "!=", "north"), "more": ("amount", ">", 20), "most": ("amount", "<=", 20), "in": ("region", "IN", ["north", "south"]), "in_null": ("region", "IN", ["north", "<NULL>"]), "not_in": ("region", "NOT IN", ["north"]), "null": ("region", "IS NULL", None), "not_null": ("region", "IS NOT NULL", None), "like": ("kind", "LIKE", "%o%"), "ilike": ("kind", "ILIKE", "FOOD"),
        "not_like": ("kind", "NOT LIKE", "f%"), "true": ("paid", "IS TRUE", None), "false": ("paid", "IS FALSE", None), "date": ("day", "==", "2024-01-01"), "range": ("sold_at", "TEMPORAL_RANGE", "2024-02-01 : 2024-03-01"), "text_number": ("id", "==", "3"), "quote": ("kind", "==", "it's")}.items()},
    "where": {"metrics": ["total"], "extras": {"where": "region = 'north' AND amount > 10"}}, "having": {"columns": ["region"], "metrics": ["total"], "extras": {"having": "SUM(amount) > 60"}, "orderby": [("total", True)]}, "time_filter": {**WHOLE, "metrics": ["count"], "to_dttm": dt.datetime(2024, 3, 1)},
    "table": {"columns": ["id", "region", "amount", "paid", "day", "zoned"], "metrics": None, "orderby": [("id", True)]}, "table_offset": {"columns": ["id"], "metrics": None, "orderby": [("id", False)], "row_limit": 3, "row_offset": 2}, "rowcount": {"columns": ["region"], "metrics": None, "is_rowcount": True}, "adhoc_metric": {"columns": ["region"], "metrics": [written("percentile_cont(0.5) WITHIN GROUP (ORDER BY amount)", "median")], "orderby": [("region", True)]},
    "adhoc_ratio": {"columns": ["region"], "metrics": [written("SUM(CASE WHEN paid THEN amount END) / SUM(amount)", "paid share")], "orderby": [("region", True)]}, "adhoc_column": {"columns": [{"expressionType": "SQL", "sqlExpression": "upper(region)", "label": "Region!"}], "metrics": ["count"]}, "adhoc_time_column": {"columns": [{"columnType": "BASE_AXIS", "sqlExpression": "sold_at", "label": "sold_at", "expressionType": "SQL", "timeGrain": "P1M"}], "metrics": ["total"]},
    "adhoc_window": {"columns": ["region"], "metrics": [written("SUM(SUM(amount)) OVER (ORDER BY region)", "running")], "orderby": [("region", True)]}, "quoted_label": {"columns": ["region"], "metrics": [written("COUNT(*)", 'a "quoted" % label')], "orderby": [("region", True)]}, "long_label": {"metrics": [written("COUNT(*)", "x" * 70)]}, "percent": {"columns": ["id"], "metrics": None, "extras": {"where": "kind LIKE '%%o%%'"}, "orderby": [("id", True)]},
    "error_column": {"metrics": [written("SUM(nothing)", "wrong")]}, "error_division": {"metrics": [written("SUM(1 / (id - id))", "wrong")]}}


@test(*CHARTS)
def chart(name):
    query = {**BASE, **CHARTS[name]}
    table = made_dataset()
    text = table.get_query_str_extended(dict(query)).sql
    found = table.query(dict(query))
    frame = found.df
    rows = shown(frame)
    if not query["orderby"]:
        rows[1].sort(key=str)
    return [text, str(found.status), found.error_message, rows]


# SQL Lab

STATEMENTS = {
    "numbers": "SELECT id, amount FROM sales ORDER BY id", "limited": "SELECT id FROM sales ORDER BY id LIMIT 2", "cte": "WITH t AS (SELECT region, count(*) AS n FROM sales GROUP BY 1) SELECT * FROM t ORDER BY n DESC, region", "union": "SELECT 1 AS a UNION ALL SELECT 2 ORDER BY 1", "window": "SELECT id, rank() OVER (PARTITION BY region ORDER BY amount DESC) AS r FROM sales ORDER BY id",
    "types": "SELECT * FROM all_types ORDER BY b", "no_rows": "SELECT * FROM sales WHERE false", "same_names": "SELECT 1 AS a, 2 AS a", "jinja": "SELECT 1 AS one", "explain": "EXPLAIN SELECT 1", "show": "SHOW search_path", "insert": "INSERT INTO shops VALUES (100, 'x', 'east')", "update": "UPDATE shops SET name = 'y' WHERE id = 1", "delete": "DELETE FROM shops WHERE id = 100", "ddl": "CREATE TABLE made_here (a int)",
    "several": "CREATE TABLE made_two (a int); INSERT INTO made_two VALUES (1), (2); SELECT * FROM made_two ORDER BY a", "semicolon": "SELECT ';' AS a; SELECT 2 AS b;", "comment": "-- a comment\nSELECT /* inside */ 1 AS a", "dollar": "SELECT $$it's$$ AS a", "cast": "SELECT '1'::int AS a, CAST('2024-01-01' AS date) AS b", "values": "VALUES (1, 'a'), (2, 'b')", "json": "SELECT '{\"a\": [1, 2]}'::jsonb -> 'a' AS j", "array": "SELECT ARRAY[1,2] AS a, ARRAY['x', NULL] AS b",
    "interval": "SELECT interval '1 day 2 hours' AS i", "big": "SELECT 12345678901234567890.123 AS n, 9223372036854775807 AS i", "infinite": "SELECT 'infinity'::float8 AS f, 'NaN'::float8 AS g", "lateral": "SELECT s.id, x.n FROM shops s, LATERAL (SELECT count(*) AS n FROM sales WHERE shop_id = s.id) x ORDER BY 1", "generate": "SELECT generate_series(1, 5) AS g", "filter": "SELECT count(*) FILTER (WHERE paid) AS n FROM sales", "rollup": "SELECT region, kind, count(*) FROM sales GROUP BY ROLLUP (region, kind) ORDER BY 1, 2",
    "error_syntax": "SELEC 1", "error_table": "SELECT * FROM nothing", "error_column": "SELECT nothing FROM sales", "error_division": "SELECT 1/0", "error_type": "SELECT 'x'::int", "error_key": "INSERT INTO shops VALUES (1, 'again', 'x')", "error_function": "SELECT no_such(1)", "error_group": "SELECT id, count(*) FROM sales", "error_second": "SELECT 1; SELECT nothing"}


@test(*STATEMENTS)
def lab(name):
    """Each statement as SQL Lab runs it: taken apart, limited, executed, its rows and types made ready for the browser."""
    from superset.result_set import SupersetResultSet
    seen = []
    script = failure(lambda: [one.format() for one in SQLScript(STATEMENTS[name], "postgresql").statements])
    seen.append(script)
    if script[0] != "no error":
        return seen
    with database.get_raw_connection(schema="public") as connection:
        cursor = connection.cursor()
        for statement in SQLScript(STATEMENTS[name], "postgresql").statements:
            limited = database.apply_limit_to_sql(statement.format(), 5, force=False) if not statement.is_mutating() and name not in ("explain", "show", "values") else statement.format()
            try:
                PostgresEngineSpec.execute(cursor, limited, database)
                if cursor.description:
                    result = SupersetResultSet(PostgresEngineSpec.fetch_data(cursor), cursor.description, PostgresEngineSpec)
                    seen.append([limited, plain([[one["column_name"], one["type"], one["is_dttm"]] for one in result.columns]), plain(result.to_pandas_df().to_dict("list"))])
                else:
                    seen.append([limited, cursor.rowcount])
            except Exception as error:  # noqa: BLE001: any failure is one
                seen.append([limited, type(error).__name__, PostgresEngineSpec.extract_error_message(error), plain([[one.error_type.value, one.message, one.extra] for one in PostgresEngineSpec.extract_errors(error)])])
                break
        connection.commit() if "error" not in name else connection.rollback()
    return seen


@test(*[name for name in STATEMENTS if not name.startswith("error")])
def executed(name):
    """As the API of Superset's own extensions runs it."""
    found = database.execute(STATEMENTS[name])
    return [str(found.status), found.error_message, [[one.row_count, None if one.data is None else shown(one.data)] for one in found.statements]]


@test("one", "join", "insert", "several")
def cost(name):
    text = {"one": "SELECT * FROM sales", "join": "SELECT * FROM sales JOIN shops ON shop_id = shops.id", "insert": "DELETE FROM shops", "several": "SELECT 1; SELECT 2"}[name]
    found = PostgresEngineSpec.estimate_query_cost(database, None, "public", text)
    return [sorted(one) for one in PostgresEngineSpec.query_cost_formatter(found)]


@test("limit", "top", "offset", "subquery", "union", "comment")
def limiting(name):
    text = {"limit": "SELECT id FROM sales ORDER BY id LIMIT 8", "top": "SELECT id FROM sales ORDER BY id", "offset": "SELECT id FROM sales ORDER BY id OFFSET 2", "subquery": "SELECT * FROM (SELECT id FROM sales ORDER BY id LIMIT 9) t", "union": "SELECT id FROM sales WHERE id < 3 UNION SELECT id FROM shops", "comment": "SELECT id FROM sales ORDER BY id -- the end"}[name]
    limited = database.apply_limit_to_sql(text, 3)
    return [limited, len(got(limited))]


@test("ctas", "cvas")
def made_as(kind):
    from superset.sql.parse import CTASMethod
    statement = SQLScript("SELECT region, count(*) AS n FROM sales GROUP BY region", "postgresql").statements[0]
    text = statement.as_create_table(Table("made_as", "public"), CTASMethod.TABLE if kind == "ctas" else CTASMethod.VIEW).format()
    with database.get_raw_connection() as connection:
        connection.cursor().execute(text)
        connection.commit()
    return [text, shown(got("SELECT * FROM made_as ORDER BY 1")), sql("SELECT relkind FROM pg_class WHERE relname = 'made_as'")]


@test()
def cancelled():
    with database.get_raw_connection() as connection:
        cursor = connection.cursor()
        number = PostgresEngineSpec.get_cancel_query_id(cursor, None)
        seen = []

        def runs():
            seen.append(failure(lambda: cursor.execute("SELECT pg_sleep(20)"))[0])
        thread = threading.Thread(target=runs)
        thread.start()
        for _ in range(200):
            if sql(f"SELECT 1 FROM pg_stat_activity WHERE pid = {number} AND query LIKE '%pg_sleep%'"):
                break
            time.sleep(0.05)
        with database.get_raw_connection() as other:
            seen.append(PostgresEngineSpec.cancel_query(other.cursor(), None, number))
        thread.join(30)
        return sorted(map(str, seen))


WRONG = {"database": {"database": "no_such_database"}, "port": {"port": 1}, "user": {"username": "no_such_role"}}


@test(*WRONG)
def connection_error(name):
    from sqlalchemy.engine.url import make_url
    wrong = Database(database_name=name, sqlalchemy_uri=str(make_url(uri).set(**WRONG[name])))
    try:
        wrong.get_df("SELECT 1")
    except Exception as error:  # noqa: BLE001: any failure is one
        import re
        return re.sub(r"port \d+", "port N", json.dumps(plain([[one.error_type.value, one.message] for one in PostgresEngineSpec.extract_errors(error)])))
    return "connected"


# Uploads

FRAMES = {
    "plain": pandas.DataFrame({"a": [1, 2, 3], "b": ["x", None, "it's"], "c": [1.5, None, float("inf")]}), "dates": pandas.DataFrame({"d": pandas.to_datetime(["2024-01-01", None, "2024-02-29 12:00:01.5"], format="ISO8601"), "z": pandas.to_datetime(["2024-01-01", "2024-01-02", None], utc=True)}), "booleans": pandas.DataFrame({"t": [True, False, True], "o": [True, None, False]}),
    "names": pandas.DataFrame({"Two Words": [1], 'quo"ted': ["x"], "per%cent": [2.5], "select": [3]}), "large": pandas.DataFrame({"i": range(2500), "t": [f"row {i}" for i in range(2500)]}), "decimals": pandas.DataFrame({"n": [decimal.Decimal("1.25"), decimal.Decimal("-7")]}), "empty": pandas.DataFrame({"a": pandas.Series([], dtype="int64"), "b": pandas.Series([], dtype="object")}), "int8": pandas.DataFrame({"n": pandas.Series([2 ** 40, None], dtype="Int64")})}


@test(*FRAMES)
def uploaded(name):
    PostgresEngineSpec.df_to_sql(database, Table("uploaded", "public"), FRAMES[name].copy(), {"if_exists": "fail", "index": name == "plain", "chunksize": 1000})
    again = failure(lambda: PostgresEngineSpec.df_to_sql(database, Table("uploaded", "public"), FRAMES[name].copy(), {"if_exists": "fail", "index": False}))
    PostgresEngineSpec.df_to_sql(database, Table("uploaded", "public"), FRAMES[name].copy(), {"if_exists": "append", "index": name == "plain"})
    counts = sql("SELECT count(*) FROM uploaded")
    PostgresEngineSpec.df_to_sql(database, Table("uploaded", "public"), FRAMES[name].copy(), {"if_exists": "replace", "index": False})
    found = got("SELECT * FROM uploaded")
    return [again, counts, plain([[one["column_name"], str(one["type"])] for one in database.get_columns(Table("uploaded", "public"))]), len(found), shown(found.head(5))]


SETUP = """
DROP SCHEMA public CASCADE; CREATE SCHEMA public; DROP SCHEMA IF EXISTS other CASCADE; CREATE SCHEMA other; DROP FOREIGN DATA WRAPPER IF EXISTS super_wrapper CASCADE;
CREATE TYPE mood AS ENUM ('happy', 'sad'); CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE TABLE shops (id int PRIMARY KEY, name text NOT NULL DEFAULT 'shop', region varchar(20)); INSERT INTO shops VALUES (1, 'first', 'north'), (2, 'second', 'south'); COMMENT ON TABLE shops IS 'all shops'; COMMENT ON COLUMN shops.name IS 'its name';
CREATE TABLE sales (id serial PRIMARY KEY, shop_id int REFERENCES shops (id) ON DELETE CASCADE, region text, kind text, amount numeric(10,2), paid boolean, sold_at timestamp, day date, zoned timestamptz, UNIQUE (id, kind));
INSERT INTO sales (shop_id, region, kind, amount, paid, sold_at, day, zoned) SELECT 1 + i % 2, (ARRAY['north', 'south', 'west', NULL])[1 + i % 4], (ARRAY['food', 'tools', 'it''s'])[1 + i % 3], i * 2.5, CASE WHEN i % 5 > 0 THEN i % 2 = 0 END, timestamp '2024-01-01 00:10:20.5' + i * interval '9 days 7 hours 13 minutes', date '2024-01-01' + i * 9, timestamptz '2024-01-01 00:10:20+00' + i * interval '9 days' FROM generate_series(0, 19) AS i;
CREATE INDEX sales_region ON sales (region, amount DESC); CREATE INDEX sales_lower ON sales (lower(kind)) WHERE amount > 0; CREATE UNIQUE INDEX sales_day ON sales (day) INCLUDE (amount);
CREATE TABLE all_types (b bool, i2 smallint, i4 int, i8 bigint, f4 real, f8 float8, n numeric, n2 numeric(10,2), t text, v varchar(9), c char(3), by bytea, d date, ti time, tz timetz, ts timestamp(3), tsz timestamptz, iv interval, u uuid, j json, jb jsonb, ai int[], at text[], inet inet, m mood, mo money, bits bit(3), r int4range, p positive, pt point, x xml, o oid, gen int GENERATED ALWAYS AS (i4 + 1) STORED, ident int GENERATED BY DEFAULT AS IDENTITY);
INSERT INTO all_types (b, i2, i4, i8, f4, f8, n, n2, t, v, c, by, d, ti, tz, ts, tsz, iv, u, j, jb, ai, at, inet, m, mo, bits, r, p, pt, x, o) VALUES (true, 1, 2, 3, 1.5, 2.5, 1.25, 7.5, 't', 'v', 'c', '\\x00ff', '2024-02-29', '12:00', '12:00+02', '2024-02-29 01:02:03.456', '2024-02-29 01:02:03+00', '1 day', '00000000-0000-0000-0000-00000000002a', '{"a": 1}', '[1]', '{1,NULL}', '{a}', '10.0.0.1', 'happy', '1.50', '101', '[1,5)', 1, '(1,2)', '<a/>', 7);
CREATE VIEW sales_view AS SELECT region, sum(amount) AS total, max(sold_at) AS latest FROM sales GROUP BY region; CREATE MATERIALIZED VIEW sales_kept AS SELECT kind, count(*) AS n FROM sales GROUP BY kind; CREATE INDEX sales_kept_kind ON sales_kept (kind);
CREATE TABLE parts (a int, at timestamp, region text) PARTITION BY RANGE (a); CREATE TABLE parts_one PARTITION OF parts FOR VALUES FROM (0) TO (10); INSERT INTO parts VALUES (1, '2024-01-01', 'x'); CREATE TABLE "Odd Name" ("Two Words" int, "select" text, "per%cent" float8);
CREATE FOREIGN DATA WRAPPER super_wrapper; CREATE SERVER super_server FOREIGN DATA WRAPPER super_wrapper; CREATE FOREIGN TABLE outside (a int, b text) SERVER super_server; CREATE TABLE other.thing (a int); INSERT INTO other.thing VALUES (7);
"""
CHANGING = ("lab", "executed", "made_as", "uploaded")

sql(SETUP)
for test_name, run in chosen():
    if test_name.startswith(CHANGING):
        sql(SETUP)
    if not report(test_name, run) or test_name.startswith("dataset_of"):
        db.session.rollback()
shutil.rmtree(home, ignore_errors=True)
os._exit(0)
