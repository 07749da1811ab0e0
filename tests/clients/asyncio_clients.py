"""asyncpg: always prepared, always binary; asks the catalog about types it does not know."""
import asyncio

import asyncpg

from client_values import ENDLESS, NAMES, ROWS, create


async def connect(host, port):
    return await asyncpg.connect(host=host, port=port, user="postgres", database="postgres", statement_cache_size=50)


def running(test):
    def run(host, port):
        async def whole():
            c = await connect(host, port)
            try:
                await test(c)
            finally:
                await c.close(timeout=20)
        asyncio.run(whole())
    return run


@running
async def test_asyncpg_types(c):
    await c.execute(create("client_async"))
    marks = ", ".join(f"${i + 1}" for i in range(len(NAMES) + 1))
    for i, row in enumerate(ROWS):
        await c.execute(f"INSERT INTO client_async VALUES ({marks})", i, *row)
    for i, record in enumerate(await c.fetch("SELECT * FROM client_async ORDER BY id")):
        for name, value in zip(NAMES, ROWS[i]):
            assert record[name] == value, (name, record[name])
    await c.executemany(f"INSERT INTO client_async VALUES ({marks})", [(9, *ROWS[0])] * 100)
    assert await c.fetchval("SELECT count(*) FROM client_async") == 103
    await c.copy_records_to_table("client_async", records=[(10, *ROWS[1])] * 10)
    assert await c.fetchval("SELECT count(*) FROM client_async") == 113
    await c.execute("DROP TABLE client_async")


@running
async def test_asyncpg_statements(c):
    statement = await c.prepare("SELECT $1::int8 * 2 AS n, $2::text AS t")
    assert [p.name for p in statement.get_parameters()] == ["int8", "text"]
    assert [(a.name, a.type.name) for a in statement.get_attributes()] == [("n", "int8"), ("t", "text")]
    assert tuple(await statement.fetchrow(21, "x")) == (42, "x")
    async with c.transaction():
        seen = 0
        async for _ in c.cursor("SELECT g FROM generate_series(1, 500) g", prefetch=40):
            seen += 1
        assert seen == 500
        cursor = await c.cursor("SELECT g FROM generate_series(1, 10) g")
        assert [r["g"] for r in await cursor.fetch(4)] == [1, 2, 3, 4]
        await cursor.forward(2)
        assert (await cursor.fetchrow())["g"] == 7
    try:
        async with c.transaction():
            async with c.transaction():
                await c.execute("SELECT 1/0")
    except asyncpg.DivisionByZeroError:
        pass
    try:
        await c.fetch("SELECT pg_typeof($1::int) FROM nosuch", 1)
    except asyncpg.UndefinedTableError as error:
        assert error.position == "32", error.position
    try:
        await asyncio.wait_for(c.fetch(ENDLESS), 0.3)
    except asyncio.TimeoutError:
        pass
    assert await c.fetchval("SELECT 1") == 1
    await c.reset()


@running
async def test_asyncpg_introspection(c):
    """Arrays and rows of catalog types send asyncpg to its introspection query."""
    assert await c.fetchval("SELECT ARRAY[1, 2, 3]") == [1, 2, 3]
    assert await c.fetchval("SELECT $1::text[]", ["a", None, "c"]) == ["a", None, "c"]
    assert await c.fetchval("SELECT ARRAY['1.5'::numeric]") is not None
    query = asyncpg.introspection.INTRO_LOOKUP_TYPES
    rows = await c.fetch(query, [1007, 23, 2950, 1231])
    assert {row["name"] for row in rows} >= {"int4", "int4[]" if any(r["name"] == "int4[]" for r in rows) else "_int4"}, rows
    await c.fetch("SELECT oid, typname, typarray FROM pg_type WHERE oid = ANY($1::oid[])", [23, 25])


def test_asyncpg_pool(host, port):
    async def whole():
        async with asyncpg.create_pool(host=host, port=port, user="postgres", database="postgres", min_size=4, max_size=8) as pool:
            async def one(i):
                async with pool.acquire() as c:
                    return await c.fetchval("SELECT $1::int + 1", i)
            assert await asyncio.gather(*[one(i) for i in range(100)]) == list(range(1, 101))
    asyncio.run(whole())


@running
async def test_asyncpg_copy(c):
    import io
    await c.execute("DROP TABLE IF EXISTS client_acopy; CREATE TABLE client_acopy (a int, b text)")
    await c.copy_to_table("client_acopy", source=io.BytesIO(b"1,one\n2,\n"), format="csv")
    out = io.BytesIO()
    await c.copy_from_query("SELECT * FROM client_acopy ORDER BY a", output=out, format="csv", header=True)
    assert out.getvalue() == b"a,b\n1,one\n2,\n", out.getvalue()
    await c.copy_from_table("client_acopy", output=out, format="binary")
    await c.execute("DROP TABLE client_acopy")
