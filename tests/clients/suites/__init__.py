"""The tools' own tests: how they are had, how they are run against a server, and what they are called. One file per language."""
from .go import Ent, Gorm, LibPq, Pgx
from .java import Flyway, Hibernate, Jooq, Liquibase, PgJdbc
from .node import DrizzleMapper, KnexBuilder, KyselyBuilder, NodePostgres, PostgresJs, SequelizeMapper, TypeOrm
from .odbc import PsqlOdbc
from .postgres import PgBench, PgBouncer, PostgresFdw
from .python import Asyncpg, Django, Psycopg, Psycopg2, SqlAlchemy
from .python_data import Alembic, DbtPostgres, Ibis, Pandas, PgAdmin, Pgcli, Polars, Superset
from .ruby import ActiveRecord
from .rust import Diesel, Sqlx, TokioPostgres
from .suite import Server

ALL = [SqlAlchemy, Psycopg2, Psycopg, Asyncpg, Django, Alembic, DbtPostgres, Pandas, Polars, Ibis, Superset, Pgcli, PgAdmin,
       PgJdbc, Flyway, Liquibase, Hibernate, Jooq, PsqlOdbc,
       Pgx, LibPq, Gorm, Ent,
       NodePostgres, PostgresJs, KnexBuilder, KyselyBuilder, SequelizeMapper, TypeOrm, DrizzleMapper,
       ActiveRecord,
       TokioPostgres, Sqlx, Diesel,
       PostgresFdw, PgBouncer, PgBench]

__all__ = ["ALL", "Server"]
