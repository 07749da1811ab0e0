"""Suites of Python's tools for migrations, models of data, data frames and charts, and of pgcli and pgAdmin."""
import glob
import os
import re
import shutil
import subprocess

from .suite import TIMEOUT, PythonSuite

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")


class Alembic(PythonSuite):
    package = "alembic"
    needs = ["alembic", "psycopg2-binary", "sqlalchemy", "black", "tzdata"]
    what = "its tests (psycopg2)"

    def run(self, server):
        server.fresh("alembic_suite")
        server.psql("alembic_suite", "CREATE SCHEMA test_schema")
        uri = f"postgresql+psycopg2://{server.user}@{server.host}:{server.port}/alembic_suite"
        outcomes = self.pytest(["tests"], ["-p", "no:logging", "--dburi", uri], {})
        return {re.sub(r"_15_\d+", "", name): outcome for name, outcome in outcomes.items()}


class DbtPostgres(PythonSuite):
    package = "dbt-postgres"
    # dbt-core 1.12 wants a parser that PyPI does not hold.
    needs = ["dbt-postgres", "dbt-core<1.12", "dbt-tests-adapter", "pytest<8", "pytest-dotenv", "pytest-mock", "freezegun"]
    what = "its functional tests"
    missing = [
        (r"test_concurrency|RuntimeMaterialization.*test_full_refresh", "transactions at the same time that rename tables of one view"),
    ]

    def unpacked(self):
        # dbt asks for Python's stack so often that most of the time would go there.
        with open(os.path.join(self.source, "quick_stack.py"), "w") as file:
            file.write("import inspect\nimport sys\n\nstack, getmodule = inspect.stack, inspect.getmodule\ninspect.stack = lambda context=1: stack(0)\n"
                       "inspect.getmodule = lambda o, *more: sys.modules.get(o.f_globals.get('__name__')) if inspect.isframe(o) else getmodule(o, *more)\n")

    def run(self, server):
        server.fresh("dbt")
        for role in ("root", "noaccess", "dbt_test_user_1", "dbt_test_user_2", "dbt_test_user_3"):
            server.psql("postgres", f"DO $$ BEGIN CREATE ROLE {role} LOGIN PASSWORD 'password'; EXCEPTION WHEN duplicate_object THEN END $$")
        server.psql("postgres", "GRANT CREATE, CONNECT ON DATABASE dbt TO root WITH GRANT OPTION")
        place = {"POSTGRES_TEST_HOST": server.host, "POSTGRES_TEST_PORT": str(server.port), "POSTGRES_TEST_USER": "root",
                 "POSTGRES_TEST_PASS": "password", "POSTGRES_TEST_DATABASE": "dbt", "POSTGRES_TEST_THREADS": "4",
                 "DBT_TEST_USER_1": "dbt_test_user_1", "DBT_TEST_USER_2": "dbt_test_user_2", "DBT_TEST_USER_3": "dbt_test_user_3"}
        return self.pytest(["tests/functional"], ["-o", "addopts=", "-p", "quick_stack", "--timeout", "300"], place)


class Pandas(PythonSuite):
    """Its tests are in its package, without their data: the flowers are ours."""
    package = "pandas"
    needs = ["pandas", "hypothesis", "sqlalchemy", "psycopg2-binary", "adbc-driver-postgresql", "adbc-driver-manager", "pyarrow"]
    what = "its tests of SQL that use PostgreSQL (psycopg2, ADBC)"
    missing = []
    source = property(lambda self: os.path.join(self.directory, "run"))

    def install(self):
        self.make_environment()

    @property
    def site_packages(self):
        return glob.glob(os.path.join(self.directory, "venv/lib/python*/site-packages"))[0]

    def version(self):
        return self.installed("pandas")

    def run(self, server):
        server.fresh("pandas_suite")
        data = os.path.join(self.source, "tests/io/data/csv")
        os.makedirs(data, exist_ok=True)
        shutil.copy(os.path.join(self.site_packages, "pandas/conftest.py"), self.source)
        with open(os.path.join(data, "iris.csv"), "w") as file:
            file.write("SepalLength,SepalWidth,PetalLength,PetalWidth,Name\n")
            file.writelines(f"{5.1 + max(0, i - 7) / 100:g},3.5,1.4,0.2,Iris-{('setosa', 'versicolor', 'virginica')[i // 50]}\n" for i in range(150))
        # The tests name their server in the text; they are run from a copy that names another.
        with open(os.path.join(self.site_packages, "pandas/tests/io/test_sql.py")) as file:
            text = file.read()
        with open(os.path.join(self.source, "test_sql.py"), "w") as file:
            file.write(text.replace("postgres:postgres@localhost:5432/pandas", f"{server.user}@{server.host}:{server.port}/pandas_suite"))
        return self.pytest(["test_sql.py"], ["-k", "postgres", "--rootdir", self.source, "-m", ""], {})


class UriProgram(PythonSuite):
    """A program of ours, which is told where the server is by a URI."""
    program = ""

    def install(self):
        self.make_environment()

    def run(self, server):
        database = f"{self.package}_suite"
        server.fresh(database)
        uri = f"postgresql://{server.user}@{server.host}:{server.port}/{database}"
        # What goes through a set of names, as pgAdmin's comparison of schemas does, takes the same way each time.
        words = {**os.environ, "PYTHONHASHSEED": "0"}
        done = subprocess.run([self.python, os.path.join(PROGRAMS, self.program), uri], capture_output=True, text=True, check=True, timeout=TIMEOUT, env=words)
        return self.compared(done.stdout, server)


class Polars(UriProgram):
    package = "polars"
    program = "polars_tests.py"
    needs = ["polars", "connectorx", "adbc-driver-postgresql", "adbc-driver-manager", "pyarrow", "psycopg[binary]", "sqlalchemy", "pandas"]
    what = "ours: columns of all types read by ConnectorX, ADBC, psycopg and SQLAlchemy, partitions, frames written, ADBC's catalog and ingestion"
    missing = []

    def version(self):
        return self.installed("polars")


class Ibis(UriProgram):
    package = "ibis"
    program = "ibis_tests.py"
    # Of SQLGlot 30, which Ibis 12 allows, it makes statements with errors of syntax (DROP, json).
    needs = ["ibis-framework[postgres]", "sqlglot<30", "polars", "pandas", "pyarrow"]
    what = "ours: expressions of all kinds with known values, windows, joins, columns of all types, tables and views made, catalogs, frames read (psycopg)"
    missing = [
        (r"catalog_databases", "pg_toast in information_schema.schemata"),
        (r"catalog_query_information", "the domains that are the types of information_schema's columns"),
    ]

    def version(self):
        return self.installed("ibis-framework")


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


class PgAdmin(UriProgram):
    """Its package holds the scenarios of its tests and what they must show, but not the program that runs them."""
    package = "pgadmin4"
    program = "pgadmin4_tests.py"
    needs = ["pgadmin4", "psycopg[binary]"]
    what = "the scenarios of SQL in its package; ours: its tree over objects of every kind, lists, dashboard, query tool, data edited, grants, search, ERD, schema diff"
    missing = [
        (r"publication|ubscription", "logical replication: publications and subscriptions"),
        (r"databases/extensions/|list extension avails|(Create|Drop) Extension", "extensions that Ouzel does not have"),
        (r"with extensions|NO DEPENDS|test_(function|procedures): Drop (function|procedure)|Drop Materialised Views$|indexes: Drop (index -- 13|Table)|views/tests: Drop Table", "ALTER ... DEPENDS ON EXTENSION"),
        (r"information_schema", "dependencies of the views in information_schema"),
        (r"column/code dependent$", "a key's use of the columns that it includes"),
        (r"/column/\w+ stats$", "pg_stats after ANALYZE"),
        (r"^query view", "the table of a view's columns in the description of a result"),
        (r"^query listen", "a notification that pgAdmin reads only with the next statement, now and then"),
        (r"Alter schema of FTS Template|Drop Foreign Key 7", "objects that pgAdmin does not find again after ALTER ... SET SCHEMA and DROP"),
        (r"^dashboard locks", "a statement's own locks in pg_locks"),
        (r"toast", "TOAST tables and their options"),
        (r"estimate of a new one", "reltuples of a table before its first ANALYZE"),
        (r"/s3[ /]|foreign_data_wrapper (nodes|properties)", "the extension s3, which every database has"),
        (r"tables/columns/|foreign_table_columns/", "a mark that late releases of PostgreSQL 15 keep in the options of a column"),
        (r"list type get_external_functions$", "functions that only Ouzel has"),
        (r"fts_configuration|Alter Role options", "another order of rows without ORDER BY"),
    ]

    def version(self):
        return self.installed("pgadmin4")


class Superset(UriProgram):
    package = "superset"
    program = "superset_tests.py"
    # It wants an older Flask-Caching than it says.
    needs = ["apache-superset", "psycopg2-binary", "flask-caching<2.4", "cachetools"]
    what = "ours: schemas, columns and keys of tables of all kinds, time grains, statements of charts, SQL Lab with its limits, costs, errors, cancellation, uploads (psycopg2)"
    missing = [(r"explain", "plans in EXPLAIN")]

    def version(self):
        return self.installed("apache-superset")
