"""Suites of Python's tools for migrations, models of data and data frames, and of pgcli."""
import os
import re
import shutil

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


class Adbc(PythonSuite):
    package = "adbc-driver-postgresql"
    needs = ["adbc-driver-postgresql", "adbc-driver-manager", "pyarrow", "polars", "pandas", "numpy"]
    what = "its tests of Python"
    missing = []

    def unpacked(self):
        # The sources would hide the package that pip has built.
        os.rename(os.path.join(self.source, "adbc_driver_postgresql"), os.path.join(self.source, "adbc_source"))
        with open(os.path.join(self.source, "tests/conftest.py"), "w") as file:  # it is not published with the tests
            file.write("import os\n\nimport pytest\n\n\n@pytest.fixture(scope='session')\ndef postgres_uri():\n"
                       "    return os.environ['ADBC_POSTGRESQL_TEST_URI']\n")

    def run(self, server):
        server.fresh("adbc_suite")
        place = {"ADBC_POSTGRESQL_TEST_URI": f"postgresql://{server.user}@{server.host}:{server.port}/adbc_suite"}
        return self.pytest(["tests"], [], place)


class DbtPostgres(PythonSuite):
    package = "dbt-postgres"
    needs = ["dbt-postgres", "dbt-core<2", "dbt-tests-adapter", "pytest<8", "pytest-dotenv", "pytest-mock", "freezegun", "psycopg2-binary"]
    what = "its functional tests"
    missing = []

    def unpacked(self):
        os.rename(os.path.join(self.source, "dbt"), os.path.join(self.source, "dbt_source"))

    def run(self, server):
        server.fresh("dbt_suite")
        for role in ("root", "noaccess", "dbt_test_user_1", "dbt_test_user_2", "dbt_test_user_3"):
            server.psql("postgres", f"DO $$ BEGIN CREATE ROLE {role} LOGIN PASSWORD 'password'; EXCEPTION WHEN duplicate_object THEN END $$")
        server.psql("postgres", "GRANT CREATE, CONNECT ON DATABASE dbt_suite TO root WITH GRANT OPTION")
        place = {"POSTGRES_TEST_HOST": server.host, "POSTGRES_TEST_PORT": str(server.port), "POSTGRES_TEST_USER": server.user,
                 "POSTGRES_TEST_PASS": "password", "POSTGRES_TEST_DATABASE": "dbt_suite", "POSTGRES_TEST_THREADS": "2",
                 "DBT_TEST_USER_1": "dbt_test_user_1", "DBT_TEST_USER_2": "dbt_test_user_2", "DBT_TEST_USER_3": "dbt_test_user_3"}
        return self.pytest(["tests/functional"], ["-p", "dbt.tests.fixtures.project"], place)


class Pandas(PythonSuite):
    package = "pandas"
    needs = ["pandas", "pytest", "hypothesis", "sqlalchemy", "psycopg2-binary", "adbc-driver-postgresql", "pyarrow"]
    what = "its tests of SQL that use PostgreSQL (psycopg2, ADBC)"
    missing = []

    def install(self):
        super().install()
        # The tests name their server in the text; they are run from a copy that names another.
        shutil.copy(os.path.join(self.source, "pandas/tests/io/test_sql.py"), os.path.join(self.directory, "test_sql.txt"))
        shutil.copy(os.path.join(self.source, "pandas/conftest.py"), os.path.join(self.directory, "conftest.txt"))

    def run(self, server):
        server.fresh("pandas_suite")
        home = os.path.join(self.directory, "run")
        os.makedirs(home, exist_ok=True)
        shutil.copy(os.path.join(self.directory, "conftest.txt"), os.path.join(home, "conftest.py"))
        with open(os.path.join(self.directory, "test_sql.txt")) as file:
            text = file.read()
        place = f"{server.user}@{server.host}:{server.port}/pandas_suite"
        text = re.sub(r"postgres:postgres@localhost:5432/pandas", place, text)
        with open(os.path.join(home, "test_sql.py"), "w") as file:
            file.write(text)
        return self.pytest([os.path.join(home, "test_sql.py")], ["-k", "postgres", "--rootdir", home, "-m", ""], {})


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
