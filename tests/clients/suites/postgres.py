"""Programs of PostgreSQL that talk to servers: postgres_fdw, pgbouncer, pgbench."""
import os
import re
import subprocess

from record_expected import throw_away_postgres

from .suite import TIMEOUT, PythonSuite

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")


class PsycopgProgram(PythonSuite):
    """A program of ours with psycopg."""
    needs = ["psycopg[binary]"]

    def install(self):
        self.make_environment()

    def printed(self, program, *arguments):
        command = [self.python, os.path.join(PROGRAMS, program), *arguments]
        return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=TIMEOUT).stdout


class PostgresFdw(PsycopgProgram):
    package = "postgres_fdw"
    what = "ours: tables of the server in a PostgreSQL 15, imported, queried with what is shipped, estimated, written, analyzed, as partitions"
    tools = {"postgres": "/usr/lib/postgresql/15/bin/postgres"}
    missing = [
        (r"serializable", "a SERIALIZABLE transaction minds the commits of transactions that are not"),
        (r"lock_table", "the row in the context of an error of a row that could not be locked"),
        (r"estimates_of_rows", "EXPLAIN's costs of groupings, by which postgres_fdw ships them or not"),
    ]

    def version(self):
        asked = subprocess.run([self.tool("postgres"), "--version"], capture_output=True, text=True, check=True)
        return re.search(r"[\d.]+", asked.stdout).group()

    def run(self, server):
        server.fresh("fdw_suite")
        with throw_away_postgres() as client:
            place = f"host={server.host} port={server.port} user={server.user} dbname=fdw_suite"
            return self.compared(self.printed("fdw_tests.py", client, place), server)


class PgBouncer(PsycopgProgram):
    package = "pgbouncer"
    what = "ours: passwords that it or the server knows, pools of sessions, transactions and statements, resets, parameters, cancellation, COPY, servers that end, its console (psycopg)"
    tools = {"pgbouncer": "/usr/sbin/pgbouncer"}

    def version(self):
        asked = subprocess.run([self.tool("pgbouncer"), "--version"], capture_output=True, text=True, check=True)
        return re.search(r"PgBouncer ([\d.]+)", asked.stdout).group(1)

    def run(self, server):
        server.fresh("bouncer_suite")
        place = f"host={server.host} port={server.port} user={server.user} dbname=bouncer_suite"
        return self.compared(self.printed("pgbouncer_tests.py", self.tool("pgbouncer"), place), server)


class PgBench(PsycopgProgram):
    package = "pgbench"
    what = "ours: tables made by each of its steps, its scripts in each mode, scripts with variables, results, conditions and pipelines, retries, rates, logs"
    tools = {"pgbench": "/usr/lib/postgresql/15/bin/pgbench"}

    def version(self):
        asked = subprocess.run([self.tool("pgbench"), "--version"], capture_output=True, text=True, check=True)
        return re.search(r"[\d.]+", asked.stdout).group()

    def run(self, server):
        server.fresh("pgbench_suite")
        place = f"host={server.host} port={server.port} user={server.user} dbname=pgbench_suite"
        return self.compared(self.printed("pgbench_tests.py", self.tool("pgbench"), place), server)
