"""Suites of Go's drivers and mappers. Go modules have their tests in them."""
import json
import os
import re
import shutil
import subprocess

from .suite import HERE, TIMEOUT, Suite


def go_outcomes(events):
    """The outcomes in what `go test -json` prints, of tests without tests in them. One that never ends, since its process died, has failed."""
    outcomes = {}
    for line in events.splitlines():
        event = json.loads(line) if line.startswith("{") else {}
        if "Test" not in event:
            continue
        name = f"{event['Package']}.{re.sub(r'(?<=[a-z])[0-9]{6,}(?=/)', 'N', event['Test'])}"  # directories of the run's own
        if event["Action"] == "run":
            outcomes[name] = "failed"
        elif event["Action"] in ("pass", "skip"):
            outcomes[name] = {"pass": "passed", "skip": "skipped"}[event["Action"]]
    outer = {name[:place] for name in outcomes for place, letter in enumerate(name) if letter == "/"}
    return {name: outcome for name, outcome in outcomes.items() if name not in outer}


class GoSuite(Suite):
    """Packages of a module, tested in a copy of it."""
    tools = {"go": "/usr/local/go/bin/go"}
    module = ""
    packages = ["./..."]
    skip = "^$"            # tests that are not run: that need what no server of the suite has

    @property
    def source(self):
        return os.path.join(self.directory, "source")

    def go(self, *arguments, check=True, **environment):
        return subprocess.run([self.tool("go"), *arguments], cwd=self.source if os.path.isdir(self.source) else self.directory, check=check,
                              env={**os.environ, "GOFLAGS": "-mod=mod", **environment}, capture_output=True, text=True, timeout=TIMEOUT).stdout

    def install(self):
        module = json.loads(self.go("mod", "download", "-json", f"{self.module}@latest"))
        shutil.copytree(module["Dir"], self.source)
        subprocess.run(["chmod", "-R", "u+w", self.source], check=True)
        with open(os.path.join(self.directory, "version"), "w") as file:
            file.write(module["Version"].removeprefix("v"))

    def version(self):
        with open(os.path.join(self.directory, "version")) as file:
            return file.read()

    def test(self, **environment):
        # One package after the other: they use the same tables.
        return go_outcomes(self.go("test", "-json", "-count=1", "-p=1", "-timeout=20m", f"-skip={self.skip}", *self.packages, check=False,
                                   **environment))


class Pgx(GoSuite):
    package = "pgx"
    module = "github.com/jackc/pgx/v5"
    what = "its tests: connections, types, pools, database/sql"
    missing = [
        (r"ErrorWhileReceivingRows|SendBatchQueryError", "rows that come before the row of an error"),
        (r"MidwayAbortsWithoutWaiting", "COPY FROM STDIN ends with a bad row once enough rows have come, or all"),
    ]
    packages = [".", "./pgconn/...", "./pgtype/...", "./pgxpool/...", "./stdlib/...", "./tracelog/...", "./multitracer/..."]

    def run(self, server):
        server.fresh("pgx_suite")
        server.extend("pgx_suite", "hstore", "ltree")
        server.psql("pgx_suite", "CREATE DOMAIN uint64 AS numeric(20,0)")
        for role in ["pgx_md5", "pgx_pw", "pgx_scram", """ tricky, ' } " \\ test user """]:
            quoted = role.replace('"', '""')
            server.psql("pgx_suite", f'DROP ROLE IF EXISTS "{quoted}"', f"CREATE ROLE \"{quoted}\" LOGIN SUPERUSER PASSWORD 'secret'")
        place = f"host={server.host} port={server.port} dbname=pgx_suite"
        return self.test(PGX_TEST_DATABASE=f"{place} user={server.user}", PGX_TEST_TCP_CONN_STRING=f"{place} user={server.user}",
                         PGX_TEST_PLAIN_PASSWORD_CONN_STRING=f"{place} user=pgx_pw password=secret",
                         PGX_TEST_MD5_PASSWORD_CONN_STRING=f"{place} user=pgx_md5 password=secret",
                         PGX_TEST_SCRAM_PASSWORD_CONN_STRING=f"{place} user=pgx_scram password=secret")


class LibPq(GoSuite):
    package = "lib-pq"
    module = "github.com/lib/pq"
    what = "its tests"
    missing = [(r"TestQueryRowBugWorkaround", "rows that come before the row of an error")]

    def run(self, server):
        server.fresh("pqgo")
        for role in ["pqgo", "pqgomd5", "pqgopassword", "pqgoscram"]:
            server.psql("postgres", f"DROP ROLE IF EXISTS {role}", f"CREATE ROLE {role} LOGIN SUPERUSER PASSWORD 'wordpass'")
        return self.test(PGHOST=server.host, PGPORT=str(server.port), PGUSER="pqgo", PGDATABASE="pqgo", PGSSLMODE="disable")


class GoProgram(Suite):
    """A program of our own, tests/clients/go, with the modules that it needs."""
    tools = GoSuite.tools
    program = ""
    needs = []

    def go(self, *arguments, **environment):
        return subprocess.run([self.tool("go"), *arguments], cwd=self.directory, check=True, env={**os.environ, **environment}, capture_output=True,
                              text=True, timeout=TIMEOUT).stdout

    def install(self):
        shutil.copy(os.path.join(HERE, "go", self.program, "main.go"), self.directory)
        self.go("mod", "init", "clients")
        self.go("get", *[f"{module}@latest" for module in self.needs])
        self.go("mod", "tidy")

    def version(self):
        return json.loads(self.go("list", "-m", "-json", self.needs[0]))["Version"].removeprefix("v")

    def run(self, server):
        database = f"{self.program}_suite"
        server.fresh(database)
        shutil.copy(os.path.join(HERE, "go", self.program, "main.go"), self.directory)
        return self.compared(self.go("run", ".", PGDATABASE=database, **server.place), server)


class Gorm(GoProgram):
    package = "gorm"
    program = "gorm"
    needs = ["gorm.io/gorm", "gorm.io/driver/postgres"]
    what = "ours: migrations, queries, associations, writes, transactions (pgx)"


class Ent(GoProgram):
    """Its code is made of the schema beside the program."""
    package = "ent"
    program = "ent"
    needs = ["entgo.io/ent", "github.com/jackc/pgx/v5", "github.com/google/uuid"]
    what = "ours: migrations, edges, queries, aggregates, upserts, locks, transactions (pgx)"

    def install(self):
        shutil.copytree(os.path.join(HERE, "go/ent/schema"), os.path.join(self.directory, "ent/schema"), dirs_exist_ok=True)
        shutil.copy(os.path.join(HERE, "go/ent/main.go"), self.directory)
        self.go("mod", "init", "clients")
        self.go("get", *[f"{module}@latest" for module in self.needs])
        self.go("run", "entgo.io/ent/cmd/ent", "generate", "--feature", "sql/upsert,sql/lock,sql/modifier,sql/execquery", "./ent/schema", GOFLAGS="-mod=mod")
        self.go("mod", "tidy")
