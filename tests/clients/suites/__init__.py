"""The tools' own tests: how they are had, how they are run against a server, and what they are called. One file per language."""
from .java import Flyway, Hibernate, Jooq, Liquibase, PgJdbc
from .odbc import PsqlOdbc
from .python import Asyncpg, Django, Psycopg2, SqlAlchemy
from .suite import Server

ALL = [SqlAlchemy, Psycopg2, Asyncpg, Django, PgJdbc, Flyway, Liquibase, Hibernate, Jooq, PsqlOdbc]

__all__ = ["ALL", "Server"]
