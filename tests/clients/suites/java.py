"""Suites of the JVM's drivers and frameworks, from Maven Central."""
import glob
import os
import re
import shutil
import subprocess

from .program import ProgramSuite
from .suite import TIMEOUT, Suite, junit_outcomes

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")
DRIVER = "42.7.13"         # of pgJDBC, the newest whose sources are published


def maven(where, *words, check=True):
    return subprocess.run(["mvn", "-q", "-B", *words], cwd=where, check=check, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=TIMEOUT)


class PgJdbc(Suite):
    """The driver's sources as its authors publish them: a Maven project with its tests."""
    package = "pgjdbc"
    what = "its tests; those of DatabaseMetaDataTest without their UPDATE of pg_description"
    missing = [
        (r"getSqlTypes|BlobTransactionTest", "functions in the languages C and internal"),
        (r"testOidUpdatable", "UPDATE of a system catalog"),
        (r"customArrayTypeInfo|ForShadowedTypes", "names of array types that avoid names of other types"),
        (r"escaping", "a LIKE pattern that ends with the escape character, where an index takes it as a whole"),
    ]

    def install(self):
        archive = f"org.postgresql:postgresql:{DRIVER}:tar.gz:jdbc-src"
        maven(self.directory, "dependency:copy", f"-Dartifact={archive}", f"-DoutputDirectory={self.directory}")
        subprocess.run(["tar", "-xzf", os.path.basename(glob.glob(f"{self.directory}/*-jdbc-src.tar.gz")[0])], cwd=self.directory, check=True)
        # A statement that all tests of this class begin with, and only one looks at: Ouzel's system catalogs are not written to.
        test = os.path.join(self.source, "src/test/java/org/postgresql/test/jdbc2/DatabaseMetaDataTest.java")
        with open(test) as file:
            text = file.read()
        with open(test, "w") as file:
            file.write(re.sub(r"(?m)^.*update pg_description.*\n", "", text))
        maven(self.source, "-DskipShadeDependencies=true", "test-compile")

    @property
    def source(self):
        return next(entry.path for entry in os.scandir(self.directory) if entry.is_dir())

    def version(self):
        return DRIVER

    def run(self, server):
        self.prepare_databases(server)
        with open(os.path.join(self.source, "build.local.properties"), "w") as file:
            file.write(f"test.url.PGHOST={server.host}\ntest.url.PGPORT={server.port}\nprivilegedUser={server.user}\n")
        reports = os.path.join(self.source, "target/surefire-reports")
        shutil.rmtree(reports, ignore_errors=True)
        maven(self.source, "-DskipShadeDependencies=true", "-Dmaven.test.failure.ignore=true", "surefire:test", check=False)
        outcomes = {}
        for report in glob.glob(f"{reports}/TEST-*.xml"):
            for name, outcome in junit_outcomes(report).items():
                outcomes[re.sub(r"^org\.postgresql\.", "", name)] = outcome
        return outcomes

    def prepare_databases(self, server):
        """What the sources' own script for a container makes."""
        for name in ("test", "test_2"):
            server.psql("postgres", f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        server.psql("postgres", "DROP ROLE IF EXISTS test", "CREATE ROLE test LOGIN PASSWORD 'test'", "CREATE DATABASE test OWNER test",
                    "CREATE DATABASE test_2 OWNER test")
        server.psql("test", "CREATE EXTENSION hstore")


class JavaProgram(ProgramSuite):
    """A program of programs/, compiled against artifacts of Maven Central."""
    artifacts = []         # (group, artifact, version)
    main = ""

    def install(self):
        pom = "".join(f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version></dependency>"
                      for group, artifact, version in [*self.artifacts, ("org.postgresql", "postgresql", DRIVER)])
        with open(os.path.join(self.directory, "pom.xml"), "w") as file:
            file.write('<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>ouzel</groupId>'
                       f"<artifactId>clients</artifactId><version>1</version><dependencies>{pom}</dependencies></project>")
        maven(self.directory, "dependency:build-classpath", "-Dmdep.outputFile=classpath")

    @property
    def classpath(self):
        with open(os.path.join(self.directory, "classpath")) as file:
            return os.path.join(self.directory, "classes") + ":" + file.read().strip()

    def version(self):
        return self.artifacts[0][2].removesuffix(".Final")

    def words(self, server):
        database = self.package + "_suite"
        server.fresh(database)
        sources = [os.path.join(PROGRAMS, name + ".java") for name in ("Tests", self.main)]
        subprocess.run(["javac", "-nowarn", "-d", os.path.join(self.directory, "classes"), "-cp", self.classpath, *sources], check=True,
                       stderr=subprocess.DEVNULL)
        command = ["java", "-Duser.timezone=UTC", "-cp", self.classpath, self.main, server.host, str(server.port), database, server.user]
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
        lines = (line[1:].split("\t", 2) for line in done.stdout.splitlines() if line.startswith("@"))
        return {name: (outcome, words) for name, outcome, words in lines}


class Flyway(JavaProgram):
    package = "flyway"
    what = "ours: migrate, repeatable scripts, baseline, info, validate, repair, clean, scripts outside transactions, callbacks"
    artifacts = [("org.flywaydb", "flyway-core", "13.12.1"), ("org.flywaydb", "flyway-database-postgresql", "13.12.1")]
    main = "FlywayTests"


class Liquibase(JavaProgram):
    package = "liquibase"
    what = "ours: all kinds of changes, update, rollback, status, contexts, preconditions, snapshot, diff, generateChangeLog"
    artifacts = [("org.liquibase", "liquibase-core", "4.33.0")]
    main = "LiquibaseTests"
    missing = []


class Hibernate(JavaProgram):
    package = "hibernate"
    what = "ours: schemas made and checked, basic types, associations, inheritance, locks, batches, HQL, native queries, procedures"
    artifacts = [("org.hibernate.orm", "hibernate-core", "7.4.15.Final"), ("com.fasterxml.jackson.core", "jackson-databind", "2.18.2")]
    main = "HibernateTests"


class Jooq(JavaProgram):
    package = "jooq"
    what = "ours: code generated from a schema with objects of every kind, its statements, DDL and values"
    artifacts = [("org.jooq", "jooq", "3.19.39"), ("org.jooq", "jooq-codegen", "3.19.39")]
    main = "JooqTests"
    missing = [(r"generate_tables_Counts", "information_schema._pg_truetypid() and the other helpers of its views")]
