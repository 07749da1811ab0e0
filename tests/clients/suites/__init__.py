"""The tools' own tests: how they are had, how they are run against a server, and what they are called. One file per language."""
from .python import Asyncpg, Django, Psycopg2, SqlAlchemy
from .suite import Server

ALL = [SqlAlchemy, Psycopg2, Asyncpg, Django]

__all__ = ["ALL", "Server"]
