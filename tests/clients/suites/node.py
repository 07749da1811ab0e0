"""Suites of Node's drivers and mappers. npm's packages have no tests in them: these are programs of our own, tests/clients/node."""
import json
import os
import shutil
import subprocess

from .suite import HERE, TIMEOUT, Suite


class NodeSuite(Suite):
    """The program named as the package, with the packages that it needs."""
    tools = {"node": "/usr/bin/node", "npm": "/usr/bin/npm"}
    needs = []
    program = ""

    def install(self):
        with open(os.path.join(self.directory, "package.json"), "w") as file:
            json.dump({"private": True, "type": "module"}, file)
        subprocess.run([self.tool("npm"), "install", "--silent", "--no-audit", "--no-fund", *self.needs], cwd=self.directory, check=True)

    def version(self):
        with open(os.path.join(self.directory, "node_modules", self.needs[0], "package.json")) as file:
            return json.load(file)["version"]

    def run(self, server):
        database = self.program.replace("-", "_") + "_suite"
        server.fresh(database)
        for name in os.listdir(os.path.join(HERE, "node")):
            shutil.copy(os.path.join(HERE, "node", name), self.directory)
        done = subprocess.run([self.tool("node"), f"{self.program}.mjs"], cwd=self.directory, capture_output=True, text=True, timeout=TIMEOUT,
                              env={**os.environ, **server.place, "PGDATABASE": database, "TZ": "UTC"})
        with open(os.path.join(self.directory, "stderr.log"), "w") as file:
            file.write(done.stderr)
        return self.compared(done.stdout, server)


class NodePostgres(NodeSuite):
    package = "node-postgres"
    program = "pg"
    needs = ["pg", "pg-cursor", "pg-query-stream", "pg-copy-streams"]
    what = "ours: types, parameters, errors, transactions, cursors, streams, COPY, notifications, pools (pg and its companions)"


class PostgresJs(NodeSuite):
    package = "postgres.js"
    program = "postgres-js"
    needs = ["postgres"]
    what = "ours: types, parameters, helpers, transactions, cursors, COPY, notifications, cancellation"


class KnexBuilder(NodeSuite):
    package = "knex"
    program = "knex"
    needs = ["knex", "pg"]
    what = "ours: builders of schemas and queries, migrations, transactions"


class KyselyBuilder(NodeSuite):
    package = "kysely"
    program = "kysely"
    missing = []
    needs = ["kysely", "pg", "pg-cursor"]
    what = "ours: builders of queries and schemas, introspection, migrations, transactions"


class SequelizeMapper(NodeSuite):
    package = "sequelize"
    program = "sequelize"
    needs = ["sequelize", "pg"]
    what = "ours: models, sync, associations, queries, types, transactions, the query interface"


class TypeOrm(NodeSuite):
    package = "typeorm"
    program = "typeorm"
    missing = [(r"table dropped", "another order of rows without ORDER BY")]
    needs = ["typeorm", "pg", "pg-query-stream", "reflect-metadata"]
    what = "ours: schemas synchronised, migrations, the query runner, types, relations, trees, the query builder, locks, transactions"


class DrizzleMapper(NodeSuite):
    package = "drizzle"
    program = "drizzle"
    missing = [(r"kit/pulled", "another order of rows without ORDER BY")]
    needs = ["drizzle-orm", "drizzle-kit", "pg"]
    what = "ours: builders of queries, relational queries, types, transactions, drizzle-kit's push, pull and migrations"
