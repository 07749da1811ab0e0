#!/usr/bin/env python3
"""Compares our definitions of the system views (catalog/builtin/views/*.inc) with those of a PostgreSQL 15 server:
each is created there in a scratch schema and must have the same columns, base types and rows.

    scripts/check_system_views.py "host=127.0.0.1 port=5432 user=postgres"

Views whose rows are meant to differ (statistics that we do not keep, implicit membership in pg_database_owner) are compared
by columns only, and information_schema's own columns are left out: with us they have no domain types."""
import glob
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VIEWS = os.path.join(ROOT, "catalog", "builtin", "views")
SCRATCH = "ouzel_check_views"
COLUMNS_ONLY = re.compile(r"pg_stat|applicable_roles$|character_sets$|collation_character_set_applicability$")

SAMPLE = """
CREATE TABLE public.a (i int PRIMARY KEY, n numeric(15,2) NOT NULL DEFAULT 1.5, v varchar(10), c char(3), t text COLLATE "C",
   ts timestamp(3), iv interval day to second(2), arr int[], CHECK (i > 0), UNIQUE (v, c));
CREATE TABLE public.b (x int REFERENCES public.a ON DELETE CASCADE, y varchar(10), z char(3), s serial,
   g int GENERATED ALWAYS AS IDENTITY, w int GENERATED ALWAYS AS (x + 1) STORED,
   FOREIGN KEY (z, y) REFERENCES public.a (c, v) MATCH FULL);
CREATE VIEW public.vw AS SELECT i, v FROM public.a WHERE n > 0 GROUP BY i;
CREATE SEQUENCE public.sq AS smallint CYCLE;
CREATE INDEX ON public.a (n DESC);
CREATE DOMAIN public.d AS numeric(5,1)[] DEFAULT '{1}' CHECK (array_ndims(VALUE) = 1);
CREATE TYPE public.e AS ENUM ('x', 'y');
CREATE TYPE public.p AS (x varchar(4), y public.d, z public.e[]);
CREATE TABLE public.f (d public.d, e public.e DEFAULT 'x', p public.p);
CREATE TABLE public.o OF public.p;
CREATE FUNCTION public.h(i int) RETURNS int LANGUAGE sql IMMUTABLE RETURN i + 1;
CREATE FUNCTION public.g(IN x int, OUT y text, INOUT z public.p DEFAULT NULL, VARIADIC w int[] DEFAULT '{2}') LANGUAGE sql
   BEGIN ATOMIC SELECT a.t, NULL::public.p FROM public.a WHERE a.i = x AND nextval('public.sq') > public.h(x); END;
CREATE TRIGGER t BEFORE UPDATE OF i, n ON public.a FOR EACH ROW WHEN (OLD.i > public.h(NEW.i))
   EXECUTE FUNCTION suppress_redundant_updates_trigger();
CREATE VIEW public.u AS SELECT public.h(i) FROM public.a;
CREATE TRIGGER t INSTEAD OF DELETE ON public.u FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger();
ALTER TABLE public.b ADD CHECK (public.h(x) > 0);
CREATE FOREIGN DATA WRAPPER wrap OPTIONS (a '1');
CREATE SERVER server TYPE 't' VERSION '1' FOREIGN DATA WRAPPER wrap OPTIONS (b '2');
CREATE USER MAPPING FOR PUBLIC SERVER server OPTIONS (c '3');
CREATE EXTENSION file_fdw;
CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
CREATE FOREIGN TABLE public.ft (x text OPTIONS (force_not_null 'true')) SERVER files
   OPTIONS (filename '/dev/null', format 'csv');
"""


def run(conninfo, sql):
    done = subprocess.run(["psql", "-X", "-q", "-At", "-v", "ON_ERROR_STOP=1", "-d", conninfo, "-c", sql],
                          capture_output=True, text=True)
    return done.stdout.strip(), done.stderr.strip()


def definitions(schema):
    """The name and the text of each view of a schema, from all files that begin with the schema's name."""
    views = []
    for path in sorted(glob.glob(os.path.join(VIEWS, schema + "*.inc"))):
        text = open(path, encoding="utf8").read()
        text = text[text.index("(") + 1:text.rindex(")sql\"")]
        parts = re.split(r"^-- view: (\w+)\n", text, flags=re.M)
        views += zip(parts[1::2], parts[2::2])
    return views


def columns(conninfo, relation):
    out, _ = run(conninfo, f"SELECT attname, CASE WHEN typtype = 'd' THEN typbasetype ELSE t.oid END::regtype "
                           f"FROM pg_attribute a JOIN pg_type t ON t.oid = atttypid "
                           f"WHERE attrelid = '{relation}'::regclass AND attnum > 0 ORDER BY attnum")
    return out.splitlines()


def as_text(conninfo, relation):
    names = [line.split("|")[0] for line in columns(conninfo, relation)]
    return "SELECT " + ", ".join(f'"{name}"::text' for name in names) + f" FROM {relation}"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    server = sys.argv[1]
    run(server + " dbname=postgres", f"DROP DATABASE IF EXISTS {SCRATCH}")
    run(server + " dbname=postgres", f"CREATE DATABASE {SCRATCH} TEMPLATE template0")
    scratch = f"{server} dbname={SCRATCH}"
    bad = 0
    try:
        print(run(scratch, SAMPLE)[1])
        run(scratch, "CREATE SCHEMA ours")
        for schema in ("pg_catalog", "information_schema"):
            for name, sql in definitions(schema):
                _, error = run(scratch, f"CREATE VIEW ours.v AS {sql}")
                if error:
                    print(f"{schema}.{name}: {error}")
                    bad += 1
                    continue
                ours, theirs = columns(scratch, "ours.v"), columns(scratch, f"{schema}.{name}")
                if ours != theirs:
                    print(f"{schema}.{name}: columns differ: {sorted(set(ours) ^ set(theirs)) or 'order'}")
                    bad += 1
                elif not COLUMNS_ONLY.search(name):
                    one, two = as_text(scratch, "ours.v"), as_text(scratch, f"{schema}.{name}")
                    for left, right, sign in ((one, two, "+"), (two, one, "-")):
                        rows, error = run(scratch, f"SELECT * FROM (({left}) EXCEPT ALL ({right})) d "
                                                   f"WHERE d::text NOT LIKE '%,ours,%' "
                                                   f"AND d::text NOT LIKE '%,information_schema,%'")
                        bad += 1 if rows or error else 0
                        for row in (rows + error).splitlines()[:6]:
                            print(f"{schema}.{name} {sign} {row[:220]}")
                run(scratch, "DROP VIEW ours.v")
    finally:
        run(server + " dbname=postgres", f"DROP DATABASE {SCRATCH}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
