"""Suites of Alembic and pgcli."""
import re

from .suite import PythonSuite


class Alembic(PythonSuite):
    package = "alembic"
    needs = ["alembic", "psycopg2-binary", "sqlalchemy", "black", "tzdata"]
    what = "its tests (psycopg2)"
    missing = [(r"TSVECTOR", "full text search")]

    def run(self, server):
        server.fresh("alembic_suite")
        server.psql("alembic_suite", "CREATE SCHEMA test_schema")
        uri = f"postgresql+psycopg2://{server.user}@{server.host}:{server.port}/alembic_suite"
        outcomes = self.pytest(["tests"], ["-p", "no:logging", "--dburi", uri], {})
        return {re.sub(r"_15_\d+", "", name): outcome for name, outcome in outcomes.items()}


class Pgcli(PythonSuite):
    package = "pgcli"
    needs = ["pgcli", "sshtunnel", "paramiko<4"]
    what = "its tests"
    missing = [(r"test_invalid_syntax_verbose", "the names of PostgreSQL's C functions in errors")]

    def run(self, server):
        server.fresh("pgcli_suite")
        server.psql("postgres", "DROP DATABASE IF EXISTS _test_db WITH (FORCE)")
        place = {"PGHOST": server.host, "PGPORT": str(server.port), "PGUSER": server.user, "PGPASSWORD": "x", "PGDATABASE": "pgcli_suite"}
        return self.pytest(["tests"], [], place)
