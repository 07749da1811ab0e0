// postgres.js: tagged templates, types, transactions, cursors, COPY, LISTEN, cancellation.
import postgres from 'postgres';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { errorOf, pause, place, run, test } from './harness.mjs';
import { nameOf, values } from './values.mjs';

const open = (more = {}) => postgres({ host: place.host, port: place.port, user: place.user, database: place.database, max: 1, onnotice: () => {}, ...more });
const sql = open({ max: 3 });

async function withSql(more, body) {
   const own = open(more);
   try {
      return await body(own);
   } finally {
      await own.end({ timeout: 1 });
   }
}
const onOne = (name, body, more) => test(name, () => withSql(more, body));
const shown = (result) => ({ rows: [...result], count: result.count, command: result.command, columns: result.columns?.map((c) => [c.name, c.type]), statement: result.statement?.types });

for (const [type, texts] of values) {
   onOne(`types/${nameOf(type)}`, async (own) => {
      const seen = [];
      for (const text of [...texts, null]) {
         seen.push(await own.unsafe(`SELECT ${text === null ? 'NULL' : `'${text.replaceAll("'", "''")}'`}::${type} AS value`).then(shown));
         seen.push(await own.unsafe(`SELECT $1::text::${type} AS value, $1::text::${type}::text AS text`, [text]).then(shown));
      }
      return seen;
   });
   onOne(`types/described/${nameOf(type)}`, async (own) => {
      const description = await own.unsafe(`SELECT $1::${type} AS value`, [null], { prepare: true }).describe();
      return [description.types, description.columns.map((c) => [c.name, c.type])];
   });
}
const sent = { int: [42, 'int'], bigint: [9007199254740993n, 'int8'], float: [1.25, 'float8'], bool: [true, 'bool'], text: ['ä "\' \\', 'text'], date: [new Date('2024-02-29T01:02:03.456Z'), 'timestamptz'],
   bytes: [Buffer.from([0, 1, 254]), 'bytea'], json: [{ a: [1, { b: null }] }, 'json'], jsonb: [[1, 'x', null], 'jsonb'], none: [null, 'text'], uuid: ['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'uuid'], numeric: ['1.50', 'numeric'] };
for (const [name, [value, type]] of Object.entries(sent))
   test(`parameters/${name}`, async () => shown(await sql`SELECT ${value}::${sql.unsafe(type)} AS value`));
const arrays = { int: [[1, 2, null], 'int[]'], text: [['a', 'b,c', 'd"e', null, ''], 'text[]'], bool: [[true, false], 'bool[]'], nested: [[[1, 2], [3, 4]], 'int[]'], date: [[new Date(0)], 'timestamptz[]'], none: [[], 'text[]'], uuid: [['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'], 'uuid[]'], float: [[1.5, -2], 'float8[]'], bigint: [['1', '2'], 'int8[]'] };
for (const [name, [value, type]] of Object.entries(arrays))
   test(`parameters/arrays/${name}`, async () => shown(await sql`SELECT ${value}::${sql.unsafe(type)} AS value`));
test('parameters/typed arrays', async () => [...(await sql`SELECT ${sql.array([1, 2, 3])} AS a, ${sql.array(['x', 'y'])} AS b, ${sql.array([new Date(0)])} AS c`)]);
test('parameters/json helper', async () => [...(await sql`SELECT ${sql.json({ a: 1 })} AS value, pg_typeof(${sql.json([1])})::text AS type`)]);
test('parameters/inferred', async () => shown(await sql`SELECT 1 + ${2} AS a, 'x' || ${'y'} AS b, ${'2024-01-01'} < now() AS c`));

async function table(own) {
   await own`CREATE TEMP TABLE t (id int PRIMARY KEY, name text, n numeric(10, 2), tags text[], doc jsonb, at timestamptz)`;
}
const rows = [{ id: 1, name: 'a', n: 1.5, tags: ['x', 'y'], doc: { k: 1 }, at: new Date(0) }, { id: 2, name: null, n: null, tags: [], doc: [1, null], at: null }, { id: 3, name: "it's", n: -3, tags: null, doc: 'text', at: new Date(1e12) }];
onOne('helpers/insert', async (own) => {
   await table(own);
   return [shown(await own`INSERT INTO t ${own(rows)} RETURNING *`), shown(await own`INSERT INTO t ${own({ id: 9, name: 'z', more: 1 }, 'id', 'name')} RETURNING id`)];
});
onOne('helpers/update', async (own) => {
   await table(own);
   await own`INSERT INTO t ${own(rows)}`;
   return shown(await own`UPDATE t SET ${own({ name: 'new', tags: ['q'] })} WHERE id = ${1} RETURNING id, name, tags`);
});
onOne('helpers/update many', async (own) => {
   await table(own);
   await own`INSERT INTO t ${own(rows)}`;
   return shown(await own`UPDATE t SET name = u.name FROM (VALUES ${own([[1, 'one'], [3, 'three']])}) AS u (id, name) WHERE t.id = u.id::int RETURNING t.id, t.name`);
});
onOne('helpers/in and columns', async (own) => {
   await table(own);
   await own`INSERT INTO t ${own(rows)}`;
   return shown(await own`SELECT ${own(['id', 'name'])} FROM ${own('t')} WHERE id IN ${own([1, 3])} ORDER BY ${own('id')}`);
});
onOne('helpers/fragments', async (own) => {
   await table(own);
   await own`INSERT INTO t ${own(rows)}`;
   const only = (id) => (id ? own`WHERE id = ${id}` : own``);
   return [shown(await own`SELECT id FROM t ${only(2)}`), shown(await own`SELECT id FROM t ${only()} ORDER BY id`)];
});
onOne('helpers/upsert', async (own) => {
   await table(own);
   const put = (id, name) => own`INSERT INTO t (id, name) VALUES (${id}, ${name}) ON CONFLICT (id) DO UPDATE SET name = t.name || excluded.name RETURNING id, name, xmax::text <> '0' AS updated`;
   return [shown(await put(1, 'a')), shown(await put(1, 'b'))];
});
onOne('helpers/camel case', async (own) => [...(await own`SELECT 1 AS user_id, ${own.json({ deep_key: 1 })} AS some_doc`)], { transform: postgres.camel });
onOne('helpers/undefined as null', async (own) => [...(await own`SELECT ${undefined}::int AS n`)], { transform: { undefined: null } });
test('queries/simple', async () => (await sql`SELECT 1 AS a; SELECT 2 AS b, 'x' AS c`.simple()).map((one) => [...one]));
test('queries/raw', async () => [...(await sql`SELECT 1 AS a, NULL AS b, 'ä' AS c`.raw())]);
test('queries/values', async () => [...(await sql`SELECT 1 AS a, 2 AS a`.values())]);
test('queries/no rows', async () => shown(await sql`SELECT 1 AS a WHERE false`));
test('queries/many at once', async () => (await Promise.all(Array.from({ length: 50 }, (_, i) => sql`SELECT ${i}::int AS i`))).map((r) => r[0].i));
test('queries/pipelined with errors', async () => (await Promise.allSettled([1, 0, 2, 0].map((n) => sql`SELECT 10 / ${n}::int AS n`))).map((r) => r.value?.[0].n ?? r.reason.code));
test('queries/describe', async () => {
   const { types, columns, string } = await sql`SELECT ${1}::int AS a, ${'x'}::text AS b, now() AS c, relname FROM pg_class`.describe();
   return [types, columns.map((c) => [c.name, c.type, c.number]), string];
});
test('queries/large result', async () => {
   const all = await sql`SELECT n, repeat('x', 100) AS t FROM generate_series(1, 20000) n`;
   return [all.length, all[19999].n, all[0].t.length];
});
onOne('queries/not prepared', async (own) => shown(await own`SELECT ${1}::int AS a, ${'b'} AS b`), { prepare: false });
test('queries/prepared again after ALTER', async () => withSql({}, async (own) => {
   await own`CREATE TEMP TABLE p AS SELECT 1 AS a`;
   const read = () => own`SELECT * FROM p`;
   const first = [...(await read())];
   await own`ALTER TABLE p ADD COLUMN b text DEFAULT 'x'`;
   return [first, await read().then((r) => [...r], (e) => e.code)];
}));

for (const [name, text] of Object.entries({ syntax: 'SELEC', table: 'SELECT * FROM nowhere', column: 'SELECT nothing FROM pg_class', division: 'SELECT 1/0', cast: "SELECT 'x'::int", function: 'SELECT nothing()', schema: 'SELECT * FROM a.b', type: 'SELECT 1::nothing', role: 'SET ROLE nobody' }))
   test(`errors/${name}`, () => errorOf(sql.unsafe(text)));
onOne('errors/constraints', async (own) => {
   await own`CREATE TEMP TABLE e (id int PRIMARY KEY, n int NOT NULL CONSTRAINT positive CHECK (n > 0))`;
   const seen = [];
   for (const text of ['INSERT INTO e VALUES (1, NULL)', 'INSERT INTO e VALUES (1, 0)', 'INSERT INTO e VALUES (1, 1), (1, 2)']) seen.push(await errorOf(own.unsafe(text)));
   return seen;
});

onOne('transactions/begin', async (own) => {
   await table(own);
   const result = await own.begin(async (tx) => {
      await tx`INSERT INTO t (id) VALUES (1)`;
      return tx`SELECT count(*)::int AS n FROM t`;
   });
   return [[...result], [...(await own`SELECT id FROM t`)]];
});
onOne('transactions/rollback on error', async (own) => {
   await table(own);
   const error = await errorOf(own.begin(async (tx) => {
      await tx`INSERT INTO t (id) VALUES (1)`;
      await tx`INSERT INTO t (id) VALUES (1)`;
   }));
   return [error.code, [...(await own`SELECT id FROM t`)]];
});
onOne('transactions/savepoints', async (own) => {
   await table(own);
   await own.begin(async (tx) => {
      await tx`INSERT INTO t (id) VALUES (1)`;
      await tx.savepoint(async (inner) => {
         await inner`INSERT INTO t (id) VALUES (2)`;
         throw new Error('back');
      }).catch(() => {});
      await tx.savepoint((inner) => inner`INSERT INTO t (id) VALUES (3)`);
   });
   return [...(await own`SELECT id FROM t ORDER BY id`)];
});
onOne('transactions/pipelined', async (own) => {
   await table(own);
   const results = await own.begin((tx) => [tx`INSERT INTO t (id) VALUES (1)`, tx`INSERT INTO t (id) VALUES (2)`, tx`SELECT count(*)::int AS n FROM t`]);
   return [...results[2]];
});
onOne('transactions/read only', async (own) => errorOf(own.begin('read only', (tx) => tx`CREATE TABLE never (i int)`)));
onOne('transactions/isolation', async (own) => [...(await own.begin('isolation level serializable', (tx) => tx`SHOW transaction_isolation`))]);
onOne('transactions/prepare', async (own) => {
   await own`DROP TABLE IF EXISTS two_phase`;
   await own`CREATE TABLE two_phase (i int)`;
   await own.begin(async (tx) => {
      await tx`INSERT INTO two_phase VALUES (1)`;
      await tx.prepare('js_1');
   });
   const waiting = [...(await own`SELECT gid, owner FROM pg_prepared_xacts WHERE gid = 'js_1'`)];
   await own.unsafe("COMMIT PREPARED 'js_1'");
   const after = [...(await own`SELECT * FROM two_phase`)];
   await own`DROP TABLE two_phase`;
   return [waiting, after];
});
for (const size of [1, 3, 100])
   test(`cursor/of ${size}`, async () => {
      const seen = [];
      await sql`SELECT n FROM generate_series(1, 10) n`.cursor(size, (part) => void seen.push(part.map((row) => row.n)));
      return seen;
   });
test('cursor/ended early', async () => {
   const seen = [];
   await sql`SELECT n FROM generate_series(1, 100000) n`.cursor(2, (part) => {
      seen.push(part.map((row) => row.n));
      if (seen.length === 2) return sql.CLOSE;
   });
   return [seen, [...(await sql`SELECT 1 AS after`)]];
});
test('cursor/iterated', async () => {
   const seen = [];
   for await (const part of sql`SELECT n FROM generate_series(1, 5) n`.cursor(2)) seen.push(part.map((row) => row.n));
   return seen;
});
test('cursor/error', () => errorOf(async () => {
   for await (const part of sql`SELECT 1/0`.cursor(2)) void part;
}));
test('forEach', async () => {
   const seen = [];
   const result = await sql`SELECT n FROM generate_series(1, 5) n`.forEach((row) => void seen.push(row.n));
   return [seen, result.count];
});
onOne('copy/in', async (own) => {
   await table(own);
   await pipeline(Readable.from(['1\ta\t1.5\t{x,y}\t{"a": 1}\t\\N\n', '2\t\\N\t\\N\t\\N\t\\N\t2024-01-01 00:00:00+00\n']), await own`COPY t FROM STDIN`.writable());
   return [...(await own`SELECT * FROM t ORDER BY id`)];
});
onOne('copy/out', async (own) => {
   await table(own);
   await own`INSERT INTO t ${own(rows)}`;
   const parts = [];
   for await (const part of await own`COPY (SELECT * FROM t ORDER BY id) TO STDOUT WITH (FORMAT csv, HEADER)`.readable()) parts.push(part);
   return Buffer.concat(parts).toString();
});
onOne('copy/bad row', async (own) => {
   await table(own);
   const error = await errorOf(async () => pipeline(Readable.from(['x\ty\n']), await own`COPY t FROM STDIN`.writable()));
   return [error.code, [...(await own`SELECT count(*)::int AS n FROM t`)]];
});
test('listen', async () => withSql({}, async (own) => {
   const heard = [];
   const { unlisten } = await own.listen('of_js', (payload) => heard.push(payload));
   await sql.notify('of_js', 'one');
   await sql.notify('of_js', 'zwei ä');
   await pause(100);
   await unlisten();
   await sql.notify('of_js', 'three');
   await pause(50);
   return heard;
}));
test('cancel', async () => withSql({}, async (own) => {
   const query = own`SELECT pg_sleep(20)`;
   const error = errorOf(query);
   await pause(100);
   await query.cancel();
   return [(await error).code, [...(await own`SELECT 1 AS a`)]];
}));
test('notices', async () => {
   const heard = [];
   await withSql({ onnotice: (notice) => heard.push([notice.severity, notice.code, notice.message]) }, async (own) => {
      await own.unsafe("DO $$ BEGIN RAISE NOTICE 'a'; RAISE WARNING 'b'; END $$");
      await own`DROP TABLE IF EXISTS nowhere`;
   });
   return heard;
});
test('connection/parameters', async () => withSql({ connection: { application_name: 'of js', search_path: 'pg_catalog', statement_timeout: 1234 } }, async (own) =>
   [...(await own`SELECT current_setting('application_name') AS a, current_setting('search_path') AS b, current_setting('statement_timeout') AS c`)]));
test('connection/reserve', async () => {
   const reserved = await sql.reserve();
   const pids = [await reserved`SELECT pg_backend_pid() AS pid`, await reserved`SELECT pg_backend_pid() AS pid`];
   reserved.release();
   return pids[0][0].pid === pids[1][0].pid;
});
test('connection/unknown database', () => errorOf(withSql({ database: 'nowhere' }, (own) => own`SELECT 1`)));
test('connection/idle ends', () => withSql({ idle_timeout: 1 }, async (own) => {
   const [before] = await own`SELECT pg_backend_pid() AS pid`;
   await pause(1400);
   const [after] = await own`SELECT pg_backend_pid() AS pid`;
   return before.pid !== after.pid;
}));
onOne('rows/own types', async (own) => {
   await own`DROP TYPE IF EXISTS mood_of_js CASCADE`;
   await own`CREATE TYPE mood_of_js AS ENUM ('sad', 'happy')`;
   await own`CREATE TEMP TABLE m (mood mood_of_js, moods mood_of_js[])`;
   await own`INSERT INTO m VALUES (${'sad'}, ${['sad', 'happy']})`;
   const seen = [...(await own`SELECT *, moods::text AS text FROM m WHERE mood = ${'sad'}`)];
   await own`DROP TYPE mood_of_js CASCADE`;
   return seen;
}, { fetch_types: false });
onOne('rows/arrays of own types', async (own) => {
   await own`DROP TYPE IF EXISTS other_mood_of_js CASCADE`;
   await own`CREATE TYPE other_mood_of_js AS ENUM ('sad', 'happy')`;
   const seen = await withSql({}, async (after) => [...(await after`SELECT '{sad,happy}'::other_mood_of_js[] AS moods`)]);
   await own`DROP TYPE other_mood_of_js CASCADE`;
   return seen;
});
onOne('rows/big integers', async (own) => [...(await own`SELECT 9223372036854775807::int8 AS n, ${123n} AS m`)], { types: { bigint: postgres.BigInt } });
await run(() => sql.end({ timeout: 1 }));
