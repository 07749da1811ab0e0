#!/usr/bin/env python3
"""Writes catalog/builtin/data/*.inc from a running PostgreSQL 15: its built-in types, functions, operators, casts and
the column lists of its system relations. The output is committed; run this only to regenerate it.

    scripts/generate_builtins.py "host=127.0.0.1 port=5432 user=postgres"

A scratch database made from template0 is read, so nothing of yours leaks in. Each file is one C++ raw string literal:
a line of column names, then one line a row in COPY's text format."""
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OUT = os.path.join(ROOT, "catalog", "builtin", "data")
SCRATCH = "ouzel_generate_builtins"
OPEN, CLOSE = 'R"tsv(', ')tsv"'

# OIDs of regproc columns are wanted as numbers, expression trees as text.
EXPRESSIONS = {
    "proargdefaults": "pg_get_expr(proargdefaults, 0)",
    "typdefaultbin": "NULL",
    "proacl": "NULL", "typacl": "NULL", "lanacl": "NULL", "nspacl": "NULL",
    "rolpassword": "NULL", "prosqlbody": "NULL",
}

# Catalogs whose rows are the same in every database; True where rows are known by an oid of their own.
ROWS = {
    "pg_aggregate": False, "pg_am": True, "pg_amop": True, "pg_amproc": True, "pg_authid": True,
    "pg_auth_members": False, "pg_cast": True, "pg_collation": True, "pg_conversion": True, "pg_description": False,
    "pg_language": True, "pg_namespace": True, "pg_opclass": True, "pg_operator": True, "pg_opfamily": True,
    "pg_proc": True, "pg_range": False, "pg_shdescription": False, "pg_tablespace": True, "pg_ts_config": True,
    "pg_ts_config_map": False, "pg_ts_dict": True, "pg_ts_parser": True, "pg_ts_template": True, "pg_type": True,
}
ORDER = {"pg_aggregate": "aggfnoid", "pg_auth_members": "roleid, member",
         "pg_description": "classoid, objoid, objsubid", "pg_range": "rngtypid",
         "pg_shdescription": "classoid, objoid", "pg_ts_config_map": "mapcfg, maptokentype, mapseqno"}
WHERE = {"pg_namespace": "nspname NOT LIKE 'pg_toast%' AND nspname NOT LIKE 'pg_temp%'",
         "pg_description": "classoid IN ('pg_proc'::regclass, 'pg_type'::regclass, 'pg_operator'::regclass, "
                           "'pg_namespace'::regclass, 'pg_cast'::regclass, 'pg_language'::regclass, "
                           "'pg_am'::regclass, 'pg_opfamily'::regclass, 'pg_opclass'::regclass, "
                           "'pg_ts_config'::regclass, 'pg_ts_dict'::regclass, 'pg_ts_parser'::regclass, "
                           "'pg_ts_template'::regclass, 'pg_class'::regclass, 'pg_extension'::regclass)"}


def query(conninfo, sql):
    return subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", conninfo, "-c", sql],
                          capture_output=True, text=True, check=True).stdout


def write(name, header, body):
    text = "\t".join(header) + "\n" + body
    if CLOSE in text:
        sys.exit(f"{name}: data contains the closing delimiter")
    with open(os.path.join(OUT, name + ".inc"), "w", encoding="utf8") as out:
        out.write(OPEN + text + CLOSE + "\n")


def columns(conninfo, catalog):
    rows = query(conninfo, f"COPY (SELECT attname, atttypid::regtype FROM pg_attribute "
                           f"WHERE attrelid = 'pg_catalog.{catalog}'::regclass AND attnum > 0 ORDER BY attnum) TO STDOUT")
    return [line.split("\t") for line in rows.splitlines()]


def dump_rows(conninfo, catalog, has_oid):
    cols = columns(conninfo, catalog)
    targets = []
    for name, kind in cols:
        expression = EXPRESSIONS.get(name, name)
        if kind in ("regproc", "regoper", "regtype", "regclass"):
            expression = f"{expression}::oid"
        targets.append(f"{expression} AS {name}")
    where = WHERE.get(catalog, "true") + (" AND oid < 16384" if has_oid else "")
    order = "oid" if has_oid else ORDER[catalog]
    body = query(conninfo, f"COPY (SELECT {', '.join(targets)} FROM pg_catalog.{catalog} "
                           f"WHERE {where} ORDER BY {order}) TO STDOUT")
    write(catalog, [name for name, _ in cols], body)


def dump_relations(conninfo):
    where = ("relkind IN ('r', 'v') AND oid < 16384 AND relnamespace IN ('pg_catalog'::regnamespace, "
             "'information_schema'::regnamespace)")
    body = query(conninfo, f"COPY (SELECT oid, relname, relnamespace::oid, relkind, reltype, relisshared FROM pg_class "
                           f"WHERE {where} ORDER BY oid) TO STDOUT")
    write("system_relation", ["oid", "relname", "relnamespace", "relkind", "reltype", "relisshared"], body)
    body = query(conninfo, f"COPY (SELECT attrelid, attnum, attname, atttypid::oid, atttypmod, attcollation, attnotnull, "
                           f"attndims FROM pg_attribute WHERE attnum > 0 AND attrelid IN (SELECT oid FROM pg_class WHERE "
                           f"{where}) ORDER BY attrelid, attnum) TO STDOUT")
    write("system_column",
          ["attrelid", "attnum", "attname", "atttypid", "atttypmod", "attcollation", "attnotnull", "attndims"], body)


def dump_keywords(conninfo):
    body = query(conninfo, "COPY (SELECT * FROM pg_get_keywords() ORDER BY word) TO STDOUT")
    write("keywords", ["word", "catcode", "barelabel", "catdesc", "baredesc"], body)


def dump_sql_features(conninfo):
    """information_schema's own tables, which describe conformance."""
    for table, key in (("sql_features", "feature_id, sub_feature_id"), ("sql_implementation_info", "implementation_info_id"),
                       ("sql_parts", "feature_id"), ("sql_sizing", "sizing_id")):
        cols = query(conninfo, f"COPY (SELECT attname FROM pg_attribute WHERE attnum > 0 AND attrelid = "
                               f"'information_schema.{table}'::regclass ORDER BY attnum) TO STDOUT").split()
        write(table, cols, query(conninfo, f"COPY (SELECT * FROM information_schema.{table} ORDER BY {key}) TO STDOUT"))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    server = sys.argv[1]
    os.makedirs(OUT, exist_ok=True)
    query(server + " dbname=postgres", f"DROP DATABASE IF EXISTS {SCRATCH}")
    query(server + " dbname=postgres", f"CREATE DATABASE {SCRATCH} TEMPLATE template0")
    try:
        scratch = f"{server} dbname={SCRATCH}"
        for catalog, has_oid in ROWS.items():
            dump_rows(scratch, catalog, has_oid)
        dump_relations(scratch)
        dump_keywords(scratch)
        dump_sql_features(scratch)
    finally:
        query(server + " dbname=postgres", f"DROP DATABASE {SCRATCH}")


if __name__ == "__main__":
    main()
