"""SQLAlchemy: its core over psycopg, psycopg2 and asyncpg, and the reflection of its PostgreSQL dialect."""
import asyncio
import datetime as dt
from decimal import Decimal as D

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import create_async_engine

SCHEMA = """
DROP SCHEMA IF EXISTS shop CASCADE;
CREATE SCHEMA shop;
CREATE TABLE shop.customer (id int PRIMARY KEY, name varchar(40) NOT NULL, balance numeric(12,2) DEFAULT 0.00, born date, note text);
CREATE TABLE shop.orders (customer int NOT NULL, number bigint NOT NULL, placed timestamptz DEFAULT now(), flag char(1), price double precision,
   PRIMARY KEY (customer, number), CONSTRAINT orders_flag_key UNIQUE (flag, price), CONSTRAINT positive CHECK (number > 0));
CREATE VIEW shop.rich AS SELECT id, name FROM shop.customer WHERE balance > 1000;
COMMENT ON TABLE shop.customer IS 'who buys';
COMMENT ON COLUMN shop.customer.name IS 'as written on the bill';
"""


def engine(host, port, driver="psycopg"):
    return sa.create_engine(f"postgresql+{driver}://postgres@{host}:{port}/postgres")


def make_schema(e):
    with e.begin() as c:
        for statement in SCHEMA.split(";\n"):
            if statement.strip():
                c.execute(sa.text(statement))


def check_reflection(e):
    i = sa.inspect(e)
    assert i.default_schema_name == "public"
    assert {"information_schema", "public", "shop"} <= set(i.get_schema_names())
    assert sorted(i.get_table_names(schema="shop")) == ["customer", "orders"]
    assert i.get_view_names(schema="shop") == ["rich"]
    assert i.get_materialized_view_names(schema="shop") == [] and i.get_sequence_names(schema="shop") == []
    assert "customer" in i.get_view_definition("rich", schema="shop")
    assert i.has_table("orders", schema="shop") and not i.has_table("nosuch", schema="shop")
    columns = {c["name"]: c for c in i.get_columns("customer", schema="shop")}
    assert list(columns) == ["id", "name", "balance", "born", "note"]
    assert [str(c["type"]) for c in columns.values()] == ["INTEGER", "VARCHAR(40)", "NUMERIC(12, 2)", "DATE", "TEXT"]
    assert [c["nullable"] for c in columns.values()] == [False, False, True, True, True]
    assert columns["balance"]["default"] == "0.00" and columns["name"]["comment"] == "as written on the bill"
    assert [str(c["type"]) for c in i.get_columns("orders", schema="shop")] == ["INTEGER", "BIGINT", "TIMESTAMP", "CHAR(1)", "DOUBLE PRECISION"]
    assert i.get_pk_constraint("orders", schema="shop")["constrained_columns"] == ["customer", "number"]
    assert i.get_pk_constraint("orders", schema="shop")["name"] == "orders_pkey"
    assert i.get_foreign_keys("orders", schema="shop") == []
    unique = i.get_unique_constraints("orders", schema="shop")
    assert [(u["name"], u["column_names"]) for u in unique] == [("orders_flag_key", ["flag", "price"])], unique
    indexes = i.get_indexes("orders", schema="shop")
    assert [(x["name"], x["unique"], x["column_names"]) for x in indexes] == [("orders_flag_key", True, ["flag", "price"])], indexes
    checks = i.get_check_constraints("orders", schema="shop")
    assert [(c["name"], c["sqltext"]) for c in checks] == [("positive", "number > 0")], checks
    assert i.get_table_comment("customer", schema="shop")["text"] == "who buys"
    metadata = sa.MetaData(schema="shop")
    metadata.reflect(e, views=True)
    assert sorted(metadata.tables) == ["shop.customer", "shop.orders", "shop.rich"]
    return metadata


def check_core(e):
    metadata = sa.MetaData()
    things = sa.Table("client_things", metadata, sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
                      sa.Column("name", sa.String(30), nullable=False), sa.Column("price", sa.Numeric(10, 2)),
                      sa.Column("made", sa.DateTime), sa.Column("ok", sa.Boolean), sa.Column("data", sa.LargeBinary))
    metadata.drop_all(e)
    metadata.create_all(e)
    made = dt.datetime(2024, 5, 6, 7, 8, 9)
    with e.begin() as c:
        c.execute(things.insert(), [{"id": i, "name": f"thing {i}", "price": D(i) / 4, "made": made, "ok": i % 2 == 0, "data": b"\x00\xff"} for i in range(500)])
        assert c.execute(things.insert().returning(things.c.id), [{"id": 1000, "name": "x"}, {"id": 1001, "name": "y"}]).all() == [(1000,), (1001,)]
    with e.connect() as c:
        row = c.execute(sa.select(things).where(things.c.id == 6)).one()
        assert row == (6, "thing 6", D("1.50"), made, True, b"\x00\xff"), row
        query = sa.select(things.c.ok, sa.func.count(), sa.func.sum(things.c.price)).where(things.c.id.in_(range(100))).group_by(things.c.ok).order_by(things.c.ok)
        assert c.execute(query).all() == [(False, 50, D("625.00")), (True, 50, D("612.50"))]
        assert c.execute(sa.select(sa.func.count()).where(things.c.name.like("thing 1%"))).scalar() == 111
        assert c.execute(things.update().where(things.c.id < 5).values(price=things.c.price + 1)).rowcount == 5
        assert c.execute(things.delete().where(things.c.id >= 1000)).rowcount == 2
        c.rollback()
    metadata.drop_all(e)


def test_sqlalchemy_psycopg(host, port):
    e = engine(host, port)
    make_schema(e)
    check_reflection(e)
    check_core(e)
    e.dispose()


def test_sqlalchemy_psycopg2(host, port):
    e = engine(host, port, "psycopg2")
    make_schema(e)
    check_reflection(e)
    check_core(e)
    e.dispose()


def test_sqlalchemy_asyncpg(host, port):
    async def whole():
        e = create_async_engine(f"postgresql+asyncpg://postgres@{host}:{port}/postgres")
        async with e.connect() as c:
            names = await c.run_sync(lambda sync: sa.inspect(sync).get_table_names(schema="shop"))
            assert sorted(names) == ["customer", "orders"]
            assert (await c.execute(sa.text("SELECT :a + 1"), {"a": 41})).scalar() == 42
        await e.dispose()
    asyncio.run(whole())


def test_sqlalchemy_orm(host, port):
    from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

    class Base(DeclarativeBase):
        pass

    class Person(Base):
        __tablename__ = "client_person"
        id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
        name: Mapped[str] = mapped_column(sa.String(50))
    e = engine(host, port)
    Base.metadata.drop_all(e)
    Base.metadata.create_all(e)
    with Session(e) as session:
        session.add_all([Person(id=1, name="Ada"), Person(id=2, name="Grace")])
        session.commit()
        person = session.get(Person, 2)
        person.name = "Grace H."
        session.commit()
        assert [p.name for p in session.scalars(sa.select(Person).order_by(Person.id))] == ["Ada", "Grace H."]
        session.delete(person)
        session.commit()
        assert session.query(Person).count() == 1
    Base.metadata.drop_all(e)
    e.dispose()
