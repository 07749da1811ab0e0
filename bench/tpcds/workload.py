"""TPC-DS's tables and 99 queries, as DuckDB 0.9.2 generates them: the last release whose library brings its generator along."""
import json
import os
import subprocess

SCRIPT = """
import duckdb, json, os, sys
scale, directory, target = float(sys.argv[1]), sys.argv[2], sys.argv[3]
connection = duckdb.connect(os.path.join(directory, "generator.db"))
connection.execute("LOAD tpcds")
connection.execute(f"CALL dsdgen(sf={scale:g})")
tables = connection.execute("SELECT table_name, sql FROM duckdb_tables() ORDER BY 1").fetchall()
for name, _ in tables:
    connection.execute(f"COPY {name} TO '{os.path.join(directory, name)}.csv' (HEADER)")
queries = connection.execute("SELECT query_nr, query FROM tpcds_queries() ORDER BY 1").fetchall()
connection.close()
os.remove(os.path.join(directory, "generator.db"))
with open(target, "w") as file:
    json.dump({"tables": tables, "queries": queries}, file)
"""


class TpcDs:
    """A source for systems.load(). What the generator tells is kept in `home`."""

    def __init__(self, home, python):
        self.file, self.python = os.path.join(home, "tpcds.json"), python

    def generate(self, scale, csv):
        os.makedirs(csv, exist_ok=True)
        subprocess.run([self.python, "-c", SCRIPT, str(scale), csv, self.file], check=True)

    def told(self, what):
        with open(self.file) as file:
            return json.load(file)[what]

    def schema(self):
        return [sql for _, sql in self.told("tables")]

    def tables(self):
        return [name for name, _ in self.told("tables")]

    def queries(self):
        return dict(self.told("queries"))
