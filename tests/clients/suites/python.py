"""Suites of Python's drivers and frameworks."""
import os
import re
import subprocess

from .suite import TIMEOUT, PythonSuite

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs/psycopg_tests.py")


class SqlAlchemy(PythonSuite):
    package = "sqlalchemy"
    needs = ["psycopg2-binary", "sqlalchemy"]
    what = "suite of its dialects, and all tests of its PostgreSQL dialect (psycopg2)"
    missing = [
        (r"InvalidIndexReflection", "an index that CREATE INDEX CONCURRENTLY leaves invalid"),
        (r"table_using_custom", "CREATE ACCESS METHOD"),
        (r"test_generate_series_scalar", "another order of rows without ORDER BY"),
    ]

    def run(self, server):
        server.fresh("sqlalchemy_suite")
        server.psql("sqlalchemy_suite", "CREATE SCHEMA test_schema", "CREATE SCHEMA test_schema_2", "CREATE EXTENSION hstore", "CREATE EXTENSION citext")
        uri = f"postgresql+psycopg2://{server.user}@{server.host}:{server.port}/sqlalchemy_suite"
        outcomes = self.pytest(["test/dialect/test_suite.py", "test/dialect/postgresql"], ["-p", "no:logging", "--dburi", uri], {})
        return {re.sub(r"_15_\d+", "", name): outcome for name, outcome in outcomes.items()}


class Psycopg2(PythonSuite):
    package = "psycopg2"
    needs = ["psycopg2-binary"]
    what = "its tests"
    missing = [
        (r"[Nn]ot_?[Gg]reedy", "a cursor's query that runs as far as its rows are fetched, and no further"),
        (r"isolation_level_serializable", "a SERIALIZABLE transaction minds the commits of transactions that are not"),
    ]

    def run(self, server):
        server.fresh("psycopg2_suite")
        place = {"PSYCOPG2_TESTDB": "psycopg2_suite", "PSYCOPG2_TESTDB_HOST": server.host, "PSYCOPG2_TESTDB_PORT": str(server.port),
                 "PSYCOPG2_TESTDB_USER": server.user}
        return self.pytest(["tests"], [], place)


class Psycopg(PythonSuite):
    """Its tests are in no package."""
    package = "psycopg"
    needs = ["psycopg[binary]", "psycopg-pool"]
    what = "ours: values, parameters, cursors, COPY, pipelines, prepared statements, transactions, errors, notifications, own types, libpq, pools, asyncio"
    missing = [
        (r"bad_copy_(unique|domain)", "the line or the column that the context of COPY's error shows"),
        (r"connecting_replication", "connections for replication"),
    ]

    def install(self):
        self.make_environment()

    def version(self):
        return self.installed("psycopg")

    def run(self, server):
        server.fresh("psycopg_suite")
        place = f"host={server.host} port={server.port} user={server.user} dbname=psycopg_suite"
        done = subprocess.run([self.python, PROGRAM, place], capture_output=True, text=True, check=True, timeout=TIMEOUT)
        return self.compared(done.stdout, server)


class Asyncpg(PythonSuite):
    package = "asyncpg"
    needs = ["asyncpg", "distro", "uvloop"]
    what = "its tests"
    missing = [
        (r"test_unhandled_type_fallback", "the extension isn"),
        (r"test_unknown_type_text_fallback", "ranges of citext"),
        (r"test_prepare_14_explain", "EXPLAIN (FORMAT json) with PostgreSQL's names"),
    ]

    def unpacked(self):
        # The sources would hide the package that pip has built.
        os.rename(os.path.join(self.source, "asyncpg"), os.path.join(self.source, "asyncpg_source"))

    def run(self, server):
        server.fresh("asyncpg_suite")
        place = {"PGHOST": server.host, "PGPORT": str(server.port), "PGUSER": server.user, "PGDATABASE": "asyncpg_suite"}
        return self.pytest(["tests"], [], place)


class Django(PythonSuite):
    package = "django"
    needs = ["psycopg[binary]", "asgiref", "sqlparse", "jinja2", "pytz", "tzdata", "python-memcached"]
    what = "the tests of its backends, schemas, migrations, queries, expressions, fields and inspectdb (psycopg 3)"
    missing = [(r"test_foreign_data_wrapper", "the extension file_fdw")]
    labels = ["backends", "schema", "inspectdb", "introspection", "migrations", "migrations2", "transactions", "transaction_hooks", "constraints", "indexes",
              "queries", "expressions", "expressions_case", "expressions_window", "aggregation", "aggregation_regress", "annotations", "lookup",
              "db_functions", "db_typecasts", "db_utils", "model_fields", "datatypes", "dates", "datetimes", "bulk_create", "delete", "foreign_object",
              "get_or_create", "select_for_update", "savepoints", "custom_pk", "many_to_many", "ordering", "raw_query", "select_related",
              "prefetch_related", "update"]

    def run(self, server):
        server.fresh("django_suite")
        server.psql("postgres", "DROP DATABASE IF EXISTS test_django_suite WITH (FORCE)", "DROP DATABASE IF EXISTS test_django_other WITH (FORCE)")
        tests = os.path.join(self.source, "tests")
        place = f"'ENGINE': 'django.db.backends.postgresql', 'HOST': '{server.host}', 'PORT': '{server.port}', 'USER': '{server.user}'"
        with open(os.path.join(tests, "suite_settings.py"), "w") as file:
            file.write(f"DATABASES = {{'default': {{{place}, 'NAME': 'django_suite'}}, 'other': {{{place}, 'NAME': 'django_other'}}}}\n"
                       "SECRET_KEY = 'x'\nUSE_TZ = False\nDEFAULT_AUTO_FIELD = 'django.db.models.AutoField'\n"
                       "PASSWORD_HASHERS = ['django.contrib.auth.hashers.MD5PasswordHasher']\n")
        command = [self.python, "runtests.py", "--settings", "suite_settings", "--parallel", "1", "--noinput", "-v", "2",
                   *[label for label in self.labels if os.path.isdir(os.path.join(tests, label))]]
        done = subprocess.run(command, cwd=tests, env={**os.environ, "PYTHONPATH": self.source}, capture_output=True, text=True, timeout=TIMEOUT)
        outcomes = {}
        words = {"ok": "passed", "FAIL": "failed", "ERROR": "failed", "skipped": "skipped", "expected failure": "skipped",
                 "unexpected success": "failed"}
        # A test's name, perhaps its description, "..." and what has become of it.
        for name, where, word in re.findall(r"^(\w+) \(([\w.]+)\)(?:\n[^\n]*?)? \.\.\. (ok|FAIL|ERROR|skipped|expected failure|unexpected success)",
                                            done.stderr, re.MULTILINE):
            outcomes[f"{where}.{name}" if not where.endswith("." + name) else where] = words[word]
        return outcomes
