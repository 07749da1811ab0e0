// node-postgres: clients, pools, types, prepared statements, cursors, streams, COPY, LISTEN.
import pg from 'pg';
import Cursor from 'pg-cursor';
import QueryStream from 'pg-query-stream';
import { from as copyFrom, to as copyTo, both as copyBoth } from 'pg-copy-streams';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { errorOf, pause, place, run, test, url } from './harness.mjs';
import { nameOf, values } from './values.mjs';

const { Client, Pool, types } = pg;

async function withClient(body, more = {}) {
   const client = new Client({ ...place, ...more });
   client.on('error', () => {});
   await client.connect();
   try {
      return await body(client);
   } finally {
      await client.end().catch(() => {});
   }
}
const onClient = (name, body, more) => test(name, () => withClient(body, more));
const shown = (result) => ({ command: result.command, rowCount: result.rowCount, rows: result.rows,
   fields: result.fields?.map((field) => [field.name, field.dataTypeID, field.dataTypeSize, field.dataTypeModifier, field.format]) });

for (const [type, texts] of values) {
   onClient(`types/text/${nameOf(type)}`, async (client) => {
      const seen = [];
      for (const text of [...texts, null]) seen.push(shown(await client.query(`SELECT $1::${type} AS value`, [text])));
      return seen;
   });
   onClient(`types/binary/${nameOf(type)}`, async (client) => {
      const seen = [];
      for (const text of [...texts, null])
         seen.push((await client.query({ text: `SELECT $1::${type} AS value`, values: [text], binary: true,
            types: { getTypeParser: (oid, format) => (bytes) => `${oid} ${format} ${Buffer.from(bytes).toString('hex')}` } })).rows);
      return seen;
   });
   onClient(`types/stored/${nameOf(type)}`, async (client) => {
      const column = type === 'regclass' ? 'regclass' : type;
      await client.query(`CREATE TEMP TABLE stored (id int, value ${column})`);
      for (const [id, text] of texts.entries()) await client.query('INSERT INTO stored VALUES ($1, $2)', [id, text]);
      return [shown(await client.query('SELECT * FROM stored ORDER BY id')),
         shown(await client.query({ text: 'SELECT value FROM stored ORDER BY id', rowMode: 'array' })),
         (await client.query('SELECT value::text AS text FROM stored ORDER BY id')).rows];
   });
}

const sent = { boolean: true, integer: 42, float: 1.5, text: 'x', date: new Date('2024-02-29T12:34:56.789Z'), object: { a: [1, null] },
   array: [1, 2, null], texts: ['a', 'b"c', null, 'd\\e'], nested: [[1, 2], [3, 4]], bytes: Buffer.from([0, 1, 255]), none: null,
   big: 12345678901234567890n };
const sentTypes = { boolean: 'bool', integer: 'int', float: 'float8', text: 'text', date: 'timestamptz', object: 'jsonb', array: 'int[]',
   texts: 'text[]', nested: 'int[]', bytes: 'bytea', none: 'text', big: 'numeric' };
for (const key of Object.keys(sent))
   onClient(`parameters/${key}`, async (client) => shown(await client.query(`SELECT $1::${sentTypes[key]} AS value`, [sent[key]])));
onClient('parameters/object with toPostgres', async (client) =>
   (await client.query('SELECT $1::text AS value', [{ toPostgres: () => 'made' }])).rows);
onClient('parameters/inferred from operators', async (client) => (await client.query(
   'SELECT $1 + 1 AS a, $2 || \'x\' AS b, now() > $3 AS c, ARRAY[1, 2] @> $4 AS d', [1, 'y', '2000-01-01', [2]])).rows);
onClient('parameters/undetermined', async (client) => shown(await client.query('SELECT $1 AS value', ['x'])));
onClient('parameters/one of several types', (client) => errorOf(client.query('SELECT $1::int, $1::text || $1', ['1'])));
onClient('parameters/too few', (client) => errorOf(client.query('SELECT $1::int, $2::int', [1])));
onClient('parameters/too many', (client) => errorOf(client.query('SELECT $1::int', [1, 2])));
onClient('parameters/does not parse', (client) => errorOf(client.query('SELECT $1::int', ['abc'])));
onClient('parameters/in lists', async (client) => (await client.query(
   'SELECT n FROM generate_series(1, 10) n WHERE n = ANY($1::int[]) ORDER BY n', [[2, 4, 11]])).rows);
onClient('parameters/in LIMIT and OFFSET', async (client) => (await client.query(
   'SELECT n FROM generate_series(1, 10) n ORDER BY n LIMIT $1 OFFSET $2', [2, 3])).rows);
onClient('parameters/json operators', async (client) => (await client.query(
   "SELECT $1::jsonb -> 'a' AS a, $1::jsonb ->> 'b' AS b, $1::jsonb @> $2 AS c, $1::jsonb ? $3 AS d",
   [{ a: { c: 1 }, b: 'x' }, { b: 'x' }, 'a'])).rows);
onClient('parameters/unnest', async (client) => (await client.query(
   'SELECT * FROM unnest($1::int[], $2::text[]) AS t(id, name)', [[1, 2], ['a', 'b']])).rows);
onClient('parameters/40 of them', async (client) => (await client.query(
   `SELECT ${Array.from({ length: 40 }, (_, i) => `$${i + 1}::int AS c${i}`).join(', ')}`, Array.from({ length: 40 }, (_, i) => i))).rows);
onClient('parameters/30000 of them', async (client) => (await client.query(
   `SELECT count(*), sum(v) FROM (VALUES ${Array.from({ length: 30000 }, (_, i) => `($${i + 1}::int)`).join(', ')}) t(v)`,
   Array.from({ length: 30000 }, (_, i) => i))).rows);

onClient('queries/several statements', async (client) => (await client.query('SELECT 1 AS a; SELECT 2 AS b; CREATE TEMP TABLE t (i int); INSERT INTO t VALUES (1), (2)')).map(shown));
onClient('queries/empty', async (client) => shown(await client.query('')));
onClient('queries/only a comment', async (client) => shown(await client.query('-- nothing')));
onClient('queries/no columns', async (client) => shown(await client.query('SELECT')));
onClient('queries/same names', async (client) => shown(await client.query({ text: 'SELECT 1 AS a, 2 AS a', rowMode: 'array' })));
onClient('queries/wide', async (client) => shown(await client.query(`SELECT ${Array.from({ length: 500 }, (_, i) => `${i} AS c${i}`).join(', ')}`)));
onClient('queries/long text', async (client) => {
   const { rows } = await client.query('SELECT repeat($1, 1000000) AS text', ['äb']);
   return [rows[0].text.length, rows[0].text.slice(-3)];
});
onClient('queries/many rows', async (client) => {
   const { rows } = await client.query('SELECT n, md5(n::text) AS h FROM generate_series(1, 50000) n');
   return [rows.length, rows[0], rows[49999]];
});
onClient('queries/queued', async (client) => (await Promise.all([1, 2, 3, 4].map((n) => client.query('SELECT $1::int AS n', [n])))).map((r) => r.rows));
onClient('queries/queued with an error between', async (client) => (await Promise.allSettled(
   ['SELECT 1 AS n', 'SELECT 1/0', 'SELECT 3 AS n'].map((sql) => client.query(sql)))).map((r) => r.value?.rows ?? r.reason.code));
onClient('queries/pipelined commands and tags', async (client) => {
   const seen = [];
   for (const sql of ['CREATE TEMP TABLE t (id serial PRIMARY KEY, v text)', "INSERT INTO t (v) VALUES ('a'), ('b'), ('c')", "UPDATE t SET v = 'x' WHERE id > 1",
      'DELETE FROM t WHERE id = 1', 'SELECT * FROM t', 'TRUNCATE t', 'BEGIN', 'SAVEPOINT s', 'RELEASE s', 'COMMIT', 'SET work_mem = 65536', 'SHOW work_mem',
      'CREATE TEMP VIEW w AS SELECT * FROM t', 'DROP VIEW w', 'ALTER TABLE t ADD COLUMN n int', 'CREATE INDEX ON t (v)', 'VALUES (1)', 'TABLE t',
      'EXPLAIN (COSTS OFF) SELECT 1', 'DECLARE c CURSOR WITH HOLD FOR SELECT 1', 'FETCH c', 'MOVE c', 'CLOSE c', 'PREPARE p AS SELECT 1', 'EXECUTE p',
      'DEALLOCATE p', 'DO $$ BEGIN END $$', 'ANALYZE t', 'LISTEN x', 'NOTIFY x', 'UNLISTEN x', 'DISCARD ALL', 'WITH a AS (SELECT 1) SELECT * FROM a']) {
      const { command, rowCount } = await client.query(sql);
      seen.push([sql, command, rowCount]);
   }
   return seen;
});

onClient('prepared/named and used again', async (client) => {
   const query = { name: 'again', text: 'SELECT $1::int * 2 AS n' };
   const seen = [];
   for (const n of [1, 2, 3]) seen.push((await client.query({ ...query, values: [n] })).rows);
   const kept = await client.query("SELECT name, statement, parameter_types::text, from_sql FROM pg_prepared_statements WHERE name = 'again'");
   return [seen, kept.rows];
});
onClient('prepared/name with another text', (client) => errorOf(async () => {
   await client.query({ name: 'one', text: 'SELECT 1' });
   await client.query({ name: 'one', text: 'SELECT 2' });
}));
onClient('prepared/after its table has changed', async (client) => {
   await client.query('CREATE TEMP TABLE t AS SELECT 1 AS a');
   const query = { name: 'stale', text: 'SELECT * FROM t' };
   const before = (await client.query(query)).rows;
   await client.query('ALTER TABLE t ADD COLUMN b text');
   return [before, await errorOf(client.query(query))];
});
onClient('prepared/fails and is good again', async (client) => {
   const seen = [];
   for (const n of [0, 1]) seen.push(await client.query({ name: 'div', text: 'SELECT 10 / $1::int AS n', values: [n] }).then((r) => r.rows, (e) => e.code));
   return seen;
});
onClient('prepared/insert many', async (client) => {
   await client.query('CREATE TEMP TABLE t (id int PRIMARY KEY, name text)');
   for (let i = 0; i < 200; i++) await client.query({ name: 'ins', text: 'INSERT INTO t VALUES ($1, $2) RETURNING id', values: [i, `name ${i}`] });
   return (await client.query('SELECT count(*), min(name), max(id) FROM t')).rows;
});

const broken = {
   syntax: 'SELEC 1', 'unknown table': 'SELECT * FROM nowhere', 'unknown column': 'SELECT nothing FROM pg_class', 'unknown function': 'SELECT nothing(1)',
   'unknown type': 'SELECT 1::nothing', division: 'SELECT 1/0', overflow: 'SELECT 2147483647 + 1', 'bad number': "SELECT 'x'::int", 'bad date': "SELECT '2024-02-30'::date",
   'bad json': "SELECT '{a}'::jsonb", 'bad uuid': "SELECT 'x'::uuid", 'bad array': "SELECT '{1'::int[]", ambiguous: 'SELECT oid FROM pg_class a, pg_class b',
   'group by': 'SELECT relname, count(*) FROM pg_class', 'operator': "SELECT 1 + 'x'::text", 'more rows': 'SELECT (SELECT n FROM generate_series(1, 2) n)',
   'unknown schema': 'CREATE TABLE nowhere.t (i int)', 'unknown role': 'SET ROLE nobody', 'unknown setting': 'SET nothing = 1', 'bad setting': "SET work_mem = 'x'",
   'no transaction': 'SAVEPOINT s', 'unknown cursor': 'FETCH nothing', 'unknown prepared': 'EXECUTE nothing', 'raise': "DO $$ BEGIN RAISE EXCEPTION 'no %', 1 USING ERRCODE = 'P1234', HINT = 'h', DETAIL = 'd', TABLE = 't', COLUMN = 'c', CONSTRAINT = 'k', SCHEMA = 's', DATATYPE = 'y'; END $$",
   'wrong arguments': 'SELECT length()', 'limit': 'SELECT 1 LIMIT -1', 'out of range': 'SELECT 99999999999::int', 'too long': "SELECT 'abc'::varchar(2)::char(1), cast('abc' AS varchar(2)); CREATE TEMP TABLE t (c varchar(2)); INSERT INTO t VALUES ('abc')",
};
for (const [name, sql] of Object.entries(broken)) onClient(`errors/${name}`, (client) => errorOf(client.query(sql)));
const rules = {
   'not null': "INSERT INTO t VALUES (1, NULL, 1, 1, 'a')", unique: "INSERT INTO t VALUES (1, 'a', 1, 1, 'a'), (1, 'b', 1, 1, 'b')",
   check: "INSERT INTO t VALUES (1, 'a', -1, 1, 'a')", foreign: "INSERT INTO t VALUES (1, 'a', 1, 99, 'a')", 'two columns': "INSERT INTO t VALUES (1, 'a', 1, 1, 'a'), (2, 'a', 1, 1, 'a')",
   restrict: "INSERT INTO t VALUES (1, 'a', 1, 1, 'a'); DELETE FROM o",
};
for (const [name, sql] of Object.entries(rules))
   onClient(`constraints/${name}`, async (client) => {
      await client.query(`CREATE TEMP TABLE o (id int PRIMARY KEY); INSERT INTO o VALUES (1); CREATE TEMP TABLE t (id int PRIMARY KEY, name text NOT NULL,
         amount int CHECK (amount > 0), other int REFERENCES o, tag text, CONSTRAINT name_and_tag UNIQUE (name, tag))`);
      return errorOf(client.query(sql));
   });

onClient('transactions/commit and rollback', async (client) => {
   await client.query('CREATE TEMP TABLE t (i int)');
   await client.query('BEGIN');
   await client.query('INSERT INTO t VALUES (1)');
   await client.query('COMMIT');
   await client.query('BEGIN');
   await client.query('INSERT INTO t VALUES (2)');
   await client.query('ROLLBACK');
   return (await client.query('SELECT * FROM t')).rows;
});
onClient('transactions/failed', async (client) => {
   await client.query('BEGIN');
   const first = await errorOf(client.query('SELECT 1/0'));
   const second = await errorOf(client.query('SELECT 1'));
   const end = (await client.query('COMMIT')).command;
   return [first, second, end, (await client.query('SELECT 1 AS a')).rows];
});
onClient('transactions/savepoints', async (client) => {
   await client.query('CREATE TEMP TABLE t (i int)');
   await client.query('BEGIN; INSERT INTO t VALUES (1); SAVEPOINT a; INSERT INTO t VALUES (2); SAVEPOINT b; INSERT INTO t VALUES (3)');
   await client.query('ROLLBACK TO b');
   await client.query('INSERT INTO t VALUES (4)');
   await client.query('ROLLBACK TO a');
   await client.query('INSERT INTO t VALUES (5)');
   await client.query('COMMIT');
   return (await client.query('SELECT * FROM t ORDER BY i')).rows;
});
for (const level of ['READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'])
   onClient(`transactions/${level}`, async (client) => {
      await client.query(`BEGIN ISOLATION LEVEL ${level} READ ONLY`);
      const seen = (await client.query('SHOW transaction_isolation')).rows;
      const error = await errorOf(client.query('CREATE TABLE never (i int)'));
      await client.query('ROLLBACK');
      return [seen, error];
   });
test('transactions/lost update', () => withClient((one) => withClient(async (two) => {
   await one.query('DROP TABLE IF EXISTS lost; CREATE TABLE lost (i int); INSERT INTO lost VALUES (1)');
   await one.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
   await two.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
   await one.query('SELECT * FROM lost');
   await two.query('SELECT * FROM lost');
   await one.query('UPDATE lost SET i = i + 1');
   const waits = errorOf(two.query('UPDATE lost SET i = i + 1'));
   await pause(50);
   await one.query('COMMIT');
   const error = await waits;
   await two.query('ROLLBACK');
   await one.query('DROP TABLE lost');
   return error;
})));
test('transactions/deadlock', () => withClient((one) => withClient(async (two) => {
   await one.query('DROP TABLE IF EXISTS locked; CREATE TABLE locked (id int PRIMARY KEY, i int); INSERT INTO locked VALUES (1, 1), (2, 2)');
   await one.query("SET deadlock_timeout = '50ms'");
   await two.query("SET deadlock_timeout = '10s'");
   await one.query('BEGIN; UPDATE locked SET i = 0 WHERE id = 1');
   await two.query('BEGIN; UPDATE locked SET i = 0 WHERE id = 2');
   const waits = two.query('UPDATE locked SET i = 0 WHERE id = 1');
   await pause(50);
   const error = await errorOf(one.query('UPDATE locked SET i = 0 WHERE id = 2'));
   await one.query('ROLLBACK');
   await waits;
   await two.query('ROLLBACK');
   await one.query('DROP TABLE locked');
   return error.code;
})));
test('transactions/skip locked', () => withClient((one) => withClient(async (two) => {
   await one.query('DROP TABLE IF EXISTS jobs; CREATE TABLE jobs (id int PRIMARY KEY); INSERT INTO jobs SELECT generate_series(1, 4)');
   const take = 'DELETE FROM jobs WHERE id = (SELECT id FROM jobs ORDER BY id FOR UPDATE SKIP LOCKED LIMIT 1) RETURNING id';
   await one.query('BEGIN');
   const first = (await one.query(take)).rows;
   const second = (await two.query(take)).rows;
   const error = await errorOf(two.query('SELECT * FROM jobs WHERE id = 1 FOR UPDATE NOWAIT'));
   await one.query('ROLLBACK');
   await one.query('DROP TABLE jobs');
   return [first, second, error];
})));
test('locks/advisory', () => withClient((one) => withClient(async (two) => [
   (await one.query('SELECT pg_try_advisory_lock(42) AS got')).rows, (await two.query('SELECT pg_try_advisory_lock(42) AS got')).rows,
   (await one.query('SELECT pg_advisory_unlock(42) AS got')).rows, (await two.query('SELECT pg_try_advisory_lock(42) AS got')).rows])));
test('locks/lock_timeout', () => withClient((one) => withClient(async (two) => {
   await one.query('DROP TABLE IF EXISTS held; CREATE TABLE held (i int); BEGIN; LOCK TABLE held');
   await two.query("SET lock_timeout = '50ms'");
   const error = await errorOf(two.query('SELECT * FROM held'));
   await one.query('ROLLBACK; DROP TABLE held');
   return error;
})));

const upsert = 'INSERT INTO t (id, n) VALUES ($1, $2) ON CONFLICT (id) DO';
onClient('writes/upsert', async (client) => {
   await client.query('CREATE TEMP TABLE t (id int PRIMARY KEY, n int, at timestamptz DEFAULT now())');
   const seen = [];
   for (const [id, n] of [[1, 1], [1, 2], [2, 3]])
      seen.push(shown(await client.query(`${upsert} UPDATE SET n = t.n + excluded.n RETURNING id, n`, [id, n])));
   seen.push(shown(await client.query(`${upsert} NOTHING RETURNING id`, [1, 1])));
   return seen;
});
onClient('writes/returning', async (client) => {
   await client.query('CREATE TEMP TABLE t (id serial PRIMARY KEY, name text, made text GENERATED ALWAYS AS (upper(name)) STORED)');
   return [shown(await client.query("INSERT INTO t (name) VALUES ('a'), ('b') RETURNING *")), shown(await client.query("UPDATE t SET name = name || 'x' WHERE id = 1 RETURNING id, name, made")),
      shown(await client.query('DELETE FROM t RETURNING made'))];
});
onClient('writes/returning and a violation', async (client) => {
   await client.query('CREATE TEMP TABLE t (id int PRIMARY KEY)');
   await client.query('INSERT INTO t VALUES (1)');
   const rows = [];
   const query = client.query(new pg.Query('INSERT INTO t VALUES (1), (2) RETURNING id'));
   query.on('row', (row) => rows.push(row));
   const error = await new Promise((done) => query.on('error', done));
   return [rows, error.code];
});
onClient('writes/with', async (client) => {
   await client.query('CREATE TEMP TABLE a (i int); CREATE TEMP TABLE b (i int); INSERT INTO a VALUES (1), (2)');
   return [shown(await client.query('WITH moved AS (DELETE FROM a RETURNING *) INSERT INTO b SELECT * FROM moved RETURNING i')), (await client.query('SELECT * FROM a')).rows];
});
onClient('writes/merge', async (client) => {
   await client.query('CREATE TEMP TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 1), (2, 2)');
   return [shown(await client.query('MERGE INTO t USING (VALUES (2, 20), (3, 30)) s (id, n) ON t.id = s.id WHEN MATCHED THEN UPDATE SET n = s.n WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.n)')),
      (await client.query('SELECT * FROM t ORDER BY id')).rows];
});

onClient('rows/enums', async (client) => {
   await client.query("DROP TYPE IF EXISTS mood_of_pg; CREATE TYPE mood_of_pg AS ENUM ('sad', 'ok', 'happy')");
   const one = await client.query("SELECT 'ok'::mood_of_pg AS mood, ARRAY['sad', 'happy']::mood_of_pg[]::text AS moods, $1::mood_of_pg > 'sad' AS more", ['happy']);
   const error = await errorOf(client.query('SELECT $1::mood_of_pg', ['angry']));
   await client.query('DROP TYPE mood_of_pg');
   return [one.rows, error];
});
onClient('rows/composite', async (client) => {
   await client.query('DROP TYPE IF EXISTS pair_of_pg; CREATE TYPE pair_of_pg AS (a int, b text)');
   const { rows } = await client.query("SELECT ROW(1, 'x y')::pair_of_pg AS pair, ARRAY[ROW(1, 'a')::pair_of_pg] AS pairs, $1::pair_of_pg AS given, row_to_json(ROW(1, 'x')::pair_of_pg) AS json", ['(2,"q""q")']);
   await client.query('DROP TYPE pair_of_pg');
   return rows;
});
onClient('rows/domain', async (client) => {
   await client.query('DROP DOMAIN IF EXISTS positive_of_pg; CREATE DOMAIN positive_of_pg AS int CHECK (VALUE > 0)');
   const seen = [shown(await client.query('SELECT 5::positive_of_pg AS n')).rows, await errorOf(client.query('SELECT $1::int::positive_of_pg', [-1]))];
   await client.query('DROP DOMAIN positive_of_pg');
   return seen;
});
onClient('rows/functions that return tables', async (client) => {
   await client.query("CREATE FUNCTION pg_temp.pairs(n int) RETURNS TABLE (a int, b text) LANGUAGE sql AS $$ SELECT i, 'x' || i FROM generate_series(1, n) i $$");
   return [(await client.query('SELECT * FROM pg_temp.pairs(2)')).rows, (await client.query('SELECT pg_temp.pairs(2) AS pair')).rows, (await client.query('SELECT (pg_temp.pairs($1)).*', [2])).rows];
});
onClient('rows/window and grouping', async (client) => (await client.query(`SELECT g, n, row_number() OVER (PARTITION BY g ORDER BY n) AS r, sum(n) OVER (ORDER BY n) AS s, lag(n) OVER (ORDER BY n) AS l
   FROM (SELECT n % 3 AS g, n FROM generate_series(1, 9) n) t ORDER BY n`)).rows);
onClient('rows/aggregates', async (client) => (await client.query(`SELECT array_agg(n ORDER BY n DESC) AS a, string_agg(n::text, ',' ORDER BY n) AS s, json_agg(n ORDER BY n) AS j, jsonb_object_agg(n, n * n) AS o,
   count(*) FILTER (WHERE n > 2) AS f, bool_and(n > 0) AS b, percentile_cont(0.5) WITHIN GROUP (ORDER BY n) AS p, mode() WITHIN GROUP (ORDER BY n % 2) AS m, stddev(n)::numeric(10, 6) AS d FROM generate_series(1, 5) n`)).rows);
onClient('rows/recursive', async (client) => (await client.query('WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n * 2 FROM t WHERE n < 100) SELECT * FROM t')).rows);
onClient('rows/lateral', async (client) => (await client.query('SELECT a, b FROM generate_series(1, 3) a, LATERAL (SELECT a * 10 AS b) t WHERE a > 1')).rows);
onClient('rows/jsonb path', async (client) => (await client.query("SELECT jsonb_path_query_array($1, '$.a[*] ? (@ > $min)', $2) AS found, jsonb_set($1, '{a,0}', '9') AS changed, $1::jsonb #- '{a}' AS less", [{ a: [1, 2, 3] }, { min: 1 }])).rows);

onClient('cursor/read in parts', async (client) => {
   const cursor = client.query(new Cursor('SELECT n FROM generate_series(1, $1::int) n', [7]));
   const seen = [];
   for (let rows = await cursor.read(3); rows.length; rows = await cursor.read(3)) seen.push(rows);
   await cursor.close();
   return seen;
});
onClient('cursor/closed early', async (client) => {
   const cursor = client.query(new Cursor('SELECT n FROM generate_series(1, 1000000) n'));
   const rows = await cursor.read(2);
   await cursor.close();
   return [rows, (await client.query('SELECT 1 AS after')).rows];
});
onClient('cursor/error', async (client) => errorOf(client.query(new Cursor('SELECT * FROM nowhere')).read(1)));
onClient('cursor/array mode', async (client) => client.query(new Cursor("SELECT 1, 'x'", [], { rowMode: 'array' })).read(1));
onClient('cursor/no rows', async (client) => client.query(new Cursor('SELECT 1 WHERE false')).read(10));
onClient('cursor/insert returning', async (client) => {
   await client.query('CREATE TEMP TABLE t (i int)');
   const cursor = client.query(new Cursor('INSERT INTO t SELECT generate_series(1, 5) RETURNING i'));
   const seen = [await cursor.read(10)];
   await cursor.close();
   return [seen, (await client.query('SELECT count(*) FROM t')).rows];
});
onClient('cursor/within a transaction', async (client) => {
   await client.query('BEGIN');
   const cursor = client.query(new Cursor('SELECT n FROM generate_series(1, 5) n'));
   const first = await cursor.read(2);
   await cursor.close();
   await client.query('COMMIT');
   return first;
});
onClient('cursor/declared', async (client) => {
   await client.query('BEGIN; DECLARE c SCROLL CURSOR FOR SELECT n FROM generate_series(1, 10) n');
   const seen = [];
   for (const sql of ['FETCH 2 FROM c', 'FETCH PRIOR FROM c', 'FETCH LAST FROM c', 'FETCH ABSOLUTE 5 FROM c', 'FETCH RELATIVE -2 FROM c', 'FETCH BACKWARD ALL FROM c', 'FETCH NEXT FROM c'])
      seen.push(shown(await client.query({ text: sql, rowMode: 'array' })));
   await client.query('COMMIT');
   return seen;
});
onClient('cursor/FETCH as a prepared statement', async (client) => {
   await client.query('BEGIN; DECLARE c CURSOR FOR SELECT n, n::text AS t FROM generate_series(1, 5) n');
   const seen = [];
   for (let i = 0; i < 3; i++) seen.push((await client.query({ name: 'fetch', text: 'FETCH 2 FROM c' })).rows);
   await client.query('CLOSE c; DECLARE c CURSOR FOR SELECT 1.5 AS other');
   seen.push(shown(await client.query({ name: 'fetch', text: 'FETCH 2 FROM c' })));
   await client.query('COMMIT');
   return seen;
});
for (const batchSize of [1, 7, 100])
   onClient(`stream/batches of ${batchSize}`, async (client) => {
      const stream = client.query(new QueryStream('SELECT n FROM generate_series(0, $1::int) n', [50], { batchSize }));
      const seen = [];
      for await (const row of stream) seen.push(row.n);
      return seen;
   });
onClient('stream/left early', async (client) => {
   const stream = client.query(new QueryStream('SELECT n FROM generate_series(1, 1000000) n'));
   const seen = [];
   for await (const row of stream) if (seen.push(row.n) === 3) break;
   return [seen, (await client.query('SELECT 2 AS after')).rows];
});
onClient('stream/error', (client) => errorOf(async () => {
   for await (const row of client.query(new QueryStream('SELECT nothing FROM nowhere'))) void row;
}));
onClient('stream/many rows', async (client) => {
   let sum = 0n;
   for await (const row of client.query(new QueryStream('SELECT n::int8 FROM generate_series(1, 20000) n'))) sum += BigInt(row.n);
   return sum;
});

async function copied(client, sql) {
   const parts = [];
   await pipeline(client.query(copyTo(sql)), new Writable({ write(part, _, done) { parts.push(part); done(); } }));
   return Buffer.concat(parts);
}
onClient('copy/text', async (client) => {
   await client.query('CREATE TEMP TABLE t (id int, name text, at date)');
   await pipeline(Readable.from(['1\ta\t2024-01-01\n', '2\t\\N\t\\N\n', '3\ttab\\there\t2024-02-29\n']), client.query(copyFrom('COPY t FROM STDIN')));
   return [(await client.query('SELECT * FROM t ORDER BY id')).rows, (await copied(client, 'COPY t TO STDOUT')).toString()];
});
onClient('copy/csv', async (client) => {
   await client.query('CREATE TEMP TABLE t (id int, name text)');
   const stream = client.query(copyFrom("COPY t FROM STDIN WITH (FORMAT csv, HEADER, DELIMITER ';')"));
   await pipeline(Readable.from(['id;na', 'me\n1;"a ""q"" b"\n2;\n3;"line', '\nbreak"\n']), stream);
   return [stream.rowCount, (await client.query('SELECT * FROM t ORDER BY id')).rows, (await copied(client, 'COPY (SELECT * FROM t ORDER BY id) TO STDOUT WITH (FORMAT csv, HEADER, FORCE_QUOTE *)')).toString()];
});
onClient('copy/binary', async (client) => {
   await client.query("CREATE TEMP TABLE t AS SELECT 1 AS id, 'a'::text AS name, 1.5::float8 AS f UNION ALL SELECT 2, NULL, NULL; CREATE TEMP TABLE u (LIKE t)");
   const bytes = await copied(client, 'COPY t TO STDOUT WITH (FORMAT binary)');
   await pipeline(Readable.from([bytes]), client.query(copyFrom('COPY u FROM STDIN WITH (FORMAT binary)')));
   return [bytes, (await client.query('SELECT * FROM u ORDER BY id')).rows];
});
onClient('copy/binary without trailer', async (client) => {
   await client.query("CREATE TEMP TABLE t AS SELECT 1 AS id; CREATE TEMP TABLE u (LIKE t)");
   const bytes = await copied(client, 'COPY t TO STDOUT WITH (FORMAT binary)');
   await pipeline(Readable.from([bytes.subarray(0, -2)]), client.query(copyFrom('COPY u FROM STDIN WITH (FORMAT binary)')));
   return (await client.query('SELECT * FROM u ORDER BY id')).rows;
});
onClient('copy/bad row', async (client) => {
   await client.query('CREATE TEMP TABLE t (id int)');
   const error = await errorOf(pipeline(Readable.from(['1\n', 'x\n', '3\n']), client.query(copyFrom('COPY t FROM STDIN'))));
   return [error, (await client.query('SELECT count(*) FROM t')).rows];
});
onClient('copy/given up', async (client) => {
   await client.query('CREATE TEMP TABLE t (id int)');
   const stream = client.query(copyFrom('COPY t FROM STDIN'));
   const end = errorOf(new Promise((done, fail) => stream.on('error', fail).on('finish', done)));
   stream.write('1\n');
   stream.destroy(new Error('enough'));
   await end;
   return (await client.query('SELECT count(*) FROM t')).rows;
});
onClient('copy/many rows', async (client) => {
   await client.query('CREATE TEMP TABLE t (id int, h text)');
   function* lines() { for (let i = 0; i < 30000; i++) yield `${i}\trow ${i}\n`; }
   const stream = client.query(copyFrom('COPY t FROM STDIN'));
   await pipeline(Readable.from(lines()), stream);
   return [stream.rowCount, (await client.query('SELECT count(*), sum(id), max(h) FROM t')).rows, (await copied(client, 'COPY (SELECT id FROM t ORDER BY id) TO STDOUT')).length];
});

test('notify/listen', () => withClient((one) => withClient(async (two) => {
   const heard = [];
   one.on('notification', (message) => heard.push([message.channel, message.payload, message.processId === two.processID]));
   await one.query('LISTEN news; LISTEN "Other"');
   await two.query("NOTIFY news, 'first'");
   await two.query("SELECT pg_notify('Other', $1)", ['second ä']);
   await two.query('BEGIN; NOTIFY news; NOTIFY news; ROLLBACK');
   await two.query("BEGIN; NOTIFY news, 'a'; NOTIFY news, 'a'; NOTIFY news, 'b'; COMMIT");
   await pause(100);
   await one.query('UNLISTEN news');
   await two.query('NOTIFY news');
   await pause(50);
   return [heard, (await one.query('SELECT pg_listening_channels() AS c')).rows];
})));
onClient('notices/raise', async (client) => {
   const heard = [];
   client.on('notice', (notice) => heard.push([notice.severity, notice.code, notice.message, notice.hint]));
   await client.query("DO $$ BEGIN RAISE NOTICE 'one %', 1; RAISE WARNING 'two' USING HINT = 'h'; RAISE INFO 'three'; RAISE DEBUG 'four'; END $$");
   await client.query('DROP TABLE IF EXISTS nowhere');
   await client.query('CREATE TEMP TABLE t (i int); CREATE TABLE IF NOT EXISTS t (i int)');
   await client.query('COMMIT');
   return heard;
});

test('pool/many queries', async () => {
   const pool = new Pool({ ...place, max: 4 });
   const seen = await Promise.all(Array.from({ length: 40 }, (_, i) => pool.query('SELECT $1::int AS i, pg_backend_pid() > 0 AS pid', [i])));
   const count = pool.totalCount;
   await pool.end();
   return [seen.map((r) => r.rows[0]), count];
});
test('pool/client whose query fails', async () => {
   const pool = new Pool({ ...place, max: 1 });
   const error = await errorOf(pool.query('SELECT 1/0'));
   const after = (await pool.query('SELECT 1 AS a')).rows;
   await pool.end();
   return [error, after];
});
test('pool/terminated client', async () => {
   const pool = new Pool({ ...place, max: 2 });
   pool.on('error', () => {});
   const client = await pool.connect();
   let seen;
   client.on('error', (error) => (seen ??= error.code ?? error.message));
   const pid = (await client.query('SELECT pg_backend_pid() AS pid')).rows[0].pid;
   const ended = (await pool.query('SELECT pg_terminate_backend($1) AS ended', [pid])).rows;
   const error = await errorOf(client.query('SELECT 1'));
   client.release(true);
   const after = (await pool.query('SELECT 1 AS a')).rows;
   await pool.end();
   return [ended, seen ?? error.code, after];
});
test('pool/idle clients time out', async () => {
   const pool = new Pool({ ...place, idleTimeoutMillis: 20 });
   await pool.query('SELECT 1');
   await pause(100);
   const count = pool.totalCount;
   await pool.end();
   return count;
});
test('cancel/pg_cancel_backend', () => withClient((one) => withClient(async (two) => {
   const waits = errorOf(one.query('SELECT pg_sleep(20)'));
   await pause(50);
   await two.query('SELECT pg_cancel_backend($1)', [one.processID]);
   return [await waits, (await one.query('SELECT 1 AS a')).rows];
})));
onClient('cancel/statement_timeout', async (client) => [await errorOf(client.query('SELECT pg_sleep(20)')), (await client.query('SELECT 1 AS a')).rows], { statement_timeout: 60 });
onClient('cancel/query_timeout', async (client) => errorOf(client.query({ text: 'SELECT pg_sleep(1)', query_timeout: 50 })));
onClient('cancel/idle_in_transaction_session_timeout', async (client) => {
   const ended = new Promise((done) => client.on('error', (error) => done(error.code)));
   await client.query('BEGIN');
   return Promise.race([ended, pause(2000).then(() => 'goes on')]);
}, { idle_in_transaction_session_timeout: 60 });

test('connect/by url', () => withClient(async (client) => (await client.query('SELECT current_user, current_database()')).rows, { connectionString: url }));
test('connect/application_name and options', () => withClient(async (client) => [(await client.query('SHOW application_name')).rows, (await client.query('SHOW work_mem')).rows,
   (await client.query("SELECT application_name FROM pg_stat_activity WHERE pid = pg_backend_pid()")).rows], { application_name: 'the tests', options: '-c work_mem=77MB' }));
test('connect/unknown database', () => errorOf(withClient(async () => 1, { database: 'nowhere' })));
test('connect/unknown role', () => errorOf(withClient(async () => 1, { user: 'nobody_at_all' })));
test('connect/client_encoding', () => withClient(async (client) => (await client.query('SHOW client_encoding')).rows, { client_encoding: 'UTF8' }));
onClient('connect/settings', async (client) => {
   const seen = {};
   for (const name of ['server_version_num', 'server_encoding', 'integer_datetimes', 'standard_conforming_strings', 'DateStyle', 'IntervalStyle', 'max_identifier_length', 'bytea_output', 'search_path', 'default_transaction_isolation'])
      seen[name] = Object.values((await client.query(`SHOW ${name}`)).rows[0])[0];
   seen.server_version_num = seen.server_version_num.slice(0, 2);
   return seen;
});
onClient('types/own parser', async (client) => {
   const own = { getTypeParser: (oid, format) => (oid === 20 ? BigInt : oid === 1700 ? Number : types.getTypeParser(oid, format)) };
   return (await client.query({ text: 'SELECT 9223372036854775807::int8 AS big, 1.50::numeric AS n, now() IS NOT NULL AS b', types: own })).rows;
});
onClient('catalog/columns', async (client) => {
   await client.query(`DROP TABLE IF EXISTS shown_of_pg; CREATE TABLE shown_of_pg (id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, name varchar(30) NOT NULL DEFAULT 'x', price numeric(10, 2), tags text[], at timestamptz DEFAULT CURRENT_TIMESTAMP, doc jsonb,
      CHECK (price > 0), UNIQUE (name, price))`);
   const columns = await client.query("SELECT * FROM information_schema.columns WHERE table_name = 'shown_of_pg' ORDER BY ordinal_position");
   const keys = await client.query("SELECT conname, contype, pg_get_constraintdef(oid) AS def FROM pg_constraint WHERE conrelid = 'shown_of_pg'::regclass ORDER BY conname");
   const indexes = await client.query("SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'shown_of_pg' ORDER BY indexname");
   await client.query('DROP TABLE shown_of_pg');
   return [columns.rows.map(({ table_catalog, udt_catalog, ...row }) => row), keys.rows, indexes.rows];
});
void copyBoth;
await run();
