// Drizzle: tables, queries, relational queries, views, transactions, prepared statements, types; drizzle-kit's push, pull and migrations.
import { execFile } from 'node:child_process';
import { mkdtemp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import pg from 'pg';
import { and, arrayContained, arrayContains, arrayOverlaps, asc, avg, between, count, countDistinct, desc, eq, exists, getTableColumns, gt, ilike, inArray, isNotNull, isNull, like, lt, max, min, ne, not, notInArray, or, relations, sql, sum, TransactionRollbackError } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { migrate } from 'drizzle-orm/node-postgres/migrator';
import * as c from 'drizzle-orm/pg-core';
import { errorOf, place, run, test, url } from './harness.mjs';

const { generateDrizzleJson, generateMigration, pushSchema } = createRequire(import.meta.url)('drizzle-kit/api');
const pool = new pg.Pool({ ...place, max: 4 });
const plain = drizzle(pool);
let number = 0;

/** The tables of a test, in a schema of its own. */
function tablesOf(name) {
   const space = c.pgSchema(name);
   const mood = space.enum('mood', ['sad', 'ok', 'so so']);
   const person = space.table('person', {
      id: c.integer().primaryKey().generatedAlwaysAsIdentity({ startWith: 10, increment: 5 }), name: c.varchar({ length: 40 }).notNull().unique(), age: c.integer(), mood: mood().default('ok'), tags: c.text().array().default(sql`'{}'::text[]`), doc: c.jsonb().default({ k: [1, 'x'] }), grid: c.integer().array().array(), score: c.numeric({ precision: 8, scale: 2 }).default('1.50'),
      at: c.timestamp({ withTimezone: true, precision: 3 }).notNull().default(sql`'2024-01-01 00:00:00+00'`), label: c.text().generatedAlwaysAs(sql`upper(name)`), boss: c.integer().references(() => person.id, { onDelete: 'set null', onUpdate: 'cascade' }),
   }, (t) => [c.check('age_is_positive', sql`${t.age} > 0`), c.index('by_age').on(t.age.desc().nullsLast(), t.boss), c.uniqueIndex('grown_once').on(sql`lower(${t.name})`).where(sql`${t.age} > 17`), c.index('by_tags').using('gin', t.tags), c.unique('once').on(t.name, t.age).nullsNotDistinct()]);
   const post = space.table('post', { id: c.bigserial({ mode: 'bigint' }).primaryKey(), title: c.text().notNull(), author: c.integer('author_id').notNull().references(() => person.id, { onDelete: 'cascade' }), body: c.text(), words: c.integer().notNull().default(0) });
   const tag = space.table('tag', { label: c.text().primaryKey() });
   const postTag = space.table('post_tag', { post: c.bigint('post_id', { mode: 'bigint' }).notNull().references(() => post.id, { onDelete: 'cascade' }), tag: c.text('tag').notNull().references(() => tag.label) }, (t) => [c.primaryKey({ columns: [t.post, t.tag] })]);
   const grown = space.view('grown').with({ securityInvoker: true }).as((q) => q.select({ id: person.id, name: person.name }).from(person).where(gt(person.age, 17)));
   const counts = space.materializedView('counts').as((q) => q.select({ author: post.author, n: count().as('n') }).from(post).groupBy(post.author));
   const ticket = space.sequence('ticket', { startWith: 100, increment: 10, maxValue: 150, cycle: true, cache: 1, minValue: 100 });
   return { space, mood, person, post, tag, postTag, grown, counts, ticket,
      personRelations: relations(person, ({ many, one }) => ({ posts: many(post), boss: one(person, { fields: [person.boss], references: [person.id], relationName: 'boss' }), team: many(person, { relationName: 'boss' }) })),
      postRelations: relations(post, ({ many, one }) => ({ author: one(person, { fields: [post.author], references: [person.id] }), tags: many(postTag) })),
      postTagRelations: relations(postTag, ({ one }) => ({ post: one(post, { fields: [postTag.post], references: [post.id] }), tag: one(tag, { fields: [postTag.tag], references: [tag.label] }) })) };
}

/** A test in an empty schema. */
function inSchema(name, body) {
   const schema = `drizzle_${++number}`;
   test(name, async () => {
      await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
      await pool.query(`CREATE SCHEMA ${schema}`);
      try {
         return await body(schema);
      } finally {
         await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
      }
   });
}

/** The statements that drizzle-kit makes of tables; the schema itself is there. */
const made = async (tables, before = {}) => (await generateMigration(generateDrizzleJson(before), generateDrizzleJson(tables))).filter((text) => !text.startsWith('CREATE SCHEMA'));

function filled(name, body) {
   inSchema(name, async (schema) => {
      const t = tablesOf(schema);
      for (const text of await made(t)) await pool.query(text);
      const db = drizzle(pool, { schema: t });
      await db.insert(t.person).values([{ name: 'Ann', age: 30, mood: 'so so', tags: ['a', 'b'], grid: [[1, 2], [3, 4]], doc: { a: { b: 1 }, l: [1, 2] } }, { name: 'Ben', age: 40, boss: sql`10`, doc: null }, { name: 'Cid', tags: null }]);
      await db.insert(t.post).values([{ title: 'One', author: 10, words: 5 }, { title: 'Two', author: 10, body: 'text', words: 7 }, { title: 'Three', author: 15 }]);
      await db.insert(t.tag).values([{ label: 'red' }, { label: 'blue' }]);
      await db.insert(t.postTag).values([{ post: 1n, tag: 'red' }, { post: 1n, tag: 'blue' }, { post: 3n, tag: 'red' }]);
      return body({ db, ...t, schema });
   });
}
const catalog = async (schema) => Promise.all([
   'SELECT table_name, column_name, data_type, udt_name, is_nullable, column_default, character_maximum_length, numeric_precision, datetime_precision, generation_expression, is_identity, identity_generation, identity_start, identity_increment FROM information_schema.columns WHERE table_schema = $1 ORDER BY 1, ordinal_position',
   'SELECT conrelid::regclass::text AS of, conname, pg_get_constraintdef(oid) AS text FROM pg_constraint WHERE connamespace = $1::regnamespace ORDER BY 1, 2', 'SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = $1 ORDER BY 1', 'SELECT viewname, definition FROM pg_views WHERE schemaname = $1 ORDER BY 1', 'SELECT matviewname, definition FROM pg_matviews WHERE schemaname = $1 ORDER BY 1',
   'SELECT sequencename, start_value, min_value, max_value, increment_by, cycle, cache_size FROM pg_sequences WHERE schemaname = $1 ORDER BY 1', 'SELECT policyname, permissive, roles::text, cmd, qual, with_check FROM pg_policies WHERE schemaname = $1 ORDER BY 1'].map(async (text) => (await pool.query(text, [schema])).rows));
const people = ({ db, person }) => db.select({ name: person.name, age: person.age }).from(person).orderBy(person.id).$dynamic();

const queries = {
   all: ({ db, person }) => db.select().from(person).orderBy(person.id), 'of columns': ({ db, person }) => { const { doc, at, ...rest } = getTableColumns(person); void doc; void at; return db.select(rest).from(person).orderBy(desc(person.name)); }, comparisons: async (e) => { const { person: p } = e; const seen = []; for (const by of [between(p.age, 30, 35), inArray(p.name, ['Ann', 'Cid']), notInArray(p.id, [10]), isNull(p.age), isNotNull(p.boss), like(p.name, 'A%'), ilike(p.name, '%E%'), or(eq(p.age, 40), lt(p.age, 31)), not(eq(p.name, 'Ben')), and(ne(p.name, 'Ann'), gt(p.id, 10))]) seen.push(await people(e).where(by)); return seen; }, arrays: async (e) => { const { person: p } = e; const seen = []; for (const by of [arrayContains(p.tags, ['a']), arrayContained(p.tags, ['a', 'b', 'c']), arrayOverlaps(p.tags, ['b', 'z']), eq(p.tags, [])]) seen.push(await people(e).where(by)); return seen; }, enums: (e) => people(e).where(eq(e.person.mood, 'so so')), json: ({ db, person: p }) => db.select({ b: sql`${p.doc}->'a'->>'b'`, l: sql`jsonb_path_query_array(${p.doc}, '$.l[*] ? (@ > 1)')`, k: sql`${p.doc} @> '{"k": [1]}'` }).from(p).orderBy(p.id), limits: (e) => people(e).limit(1).offset(1), 'order by': ({ db, person: p }) => db.select({ name: p.name }).from(p).orderBy(sql`${p.age} desc nulls last`, asc(p.name)),
   distinct: ({ db, post }) => db.selectDistinct({ author: post.author }).from(post).orderBy(post.author), 'distinct on': ({ db, post }) => db.selectDistinctOn([post.author], { author: post.author, title: post.title }).from(post).orderBy(post.author, desc(post.title)), aggregates: ({ db, person: p }) => db.select({ n: count(), ages: count(p.age), names: countDistinct(p.name), sum: sum(p.age), avg: avg(p.age), min: min(p.age), max: max(p.name) }).from(p), grouped: ({ db, post }) => db.select({ author: post.author, n: count(), words: sum(post.words).mapWith(Number) }).from(post).groupBy(post.author).having(({ n }) => gt(n, 1)), rollup: ({ db, post }) => db.select({ author: post.author, title: post.title, n: sql`count(*)::int` }).from(post).groupBy(sql`rollup(${post.author}, ${post.title})`).orderBy(post.author, post.title), window: ({ db, post }) => db.select({ title: post.title, r: sql`row_number() over (partition by ${post.author} order by ${post.words} desc)`.mapWith(Number), all: sql`sum(${post.words}) over w` }).from(post).where(sql`true window w as (order by ${post.id})`), counted: ({ db, person, post }) => db.select({ name: person.name, posts: db.$count(post, eq(post.author, person.id)) }).from(person).orderBy(person.id),
   'inner join': ({ db, person, post }) => db.select().from(post).innerJoin(person, eq(person.id, post.author)).orderBy(post.id), 'left join': ({ db, person, post }) => db.select({ name: person.name, post: { title: post.title, words: post.words } }).from(person).leftJoin(post, eq(person.id, post.author)).orderBy(person.id, post.id), 'full join': ({ db, person, tag }) => db.select({ name: person.name, label: tag.label }).from(person).fullJoin(tag, eq(tag.label, person.name)).orderBy(person.name, tag.label), 'right join': ({ db, person, post }) => db.select({ title: post.title, name: person.name }).from(post).rightJoin(person, eq(person.id, post.author)).orderBy(person.id, post.id), 'cross join': ({ db, person, tag }) => db.select({ n: count() }).from(person).crossJoin(tag), 'lateral join': ({ db, person, post }) => { const last = db.select({ title: post.title }).from(post).where(eq(post.author, person.id)).orderBy(desc(post.id)).limit(1).as('last'); return db.select({ name: person.name, last: last.title }).from(person).leftJoinLateral(last, sql`true`).orderBy(person.id); }, 'self join': ({ db, person }) => { const boss = c.alias(person, 'boss'); return db.select({ name: person.name, boss: boss.name }).from(person).leftJoin(boss, eq(boss.id, person.boss)).orderBy(person.id); }, 'many to many': ({ db, post, postTag, tag }) => db.select({ title: post.title, label: tag.label }).from(post).innerJoin(postTag, eq(postTag.post, post.id)).innerJoin(tag, eq(tag.label, postTag.tag)).orderBy(post.id, tag.label),
   'sub-query': ({ db, post }) => { const s = db.select({ author: post.author, n: count().as('n') }).from(post).groupBy(post.author).as('s'); return db.select().from(s).where(gt(s.n, 1)); }, exists: (e) => people(e).where(exists(e.db.select({ one: sql`1` }).from(e.post).where(eq(e.post.author, e.person.id)))), 'in sub-query': (e) => people(e).where(inArray(e.person.id, e.db.select({ id: e.post.author }).from(e.post))), with: ({ db, post }) => { const w = db.$with('w').as(db.select({ author: post.author, n: sql`count(*)::int`.as('n') }).from(post).groupBy(post.author)); return db.with(w).select().from(w).orderBy(w.author); }, 'with insert': ({ db, tag }) => { const w = db.$with('w').as(db.insert(tag).values({ label: 'made' }).returning()); return db.with(w).select().from(w); }, 'with update and delete': async ({ db, post, tag }) => { const w = db.$with('w').as(db.select({ top: max(post.words).as('top') }).from(post)); return [await db.with(w).update(post).set({ body: 'longest' }).where(eq(post.words, sql`(select top from w)`)).returning({ title: post.title }), await db.with(w).delete(tag).where(sql`exists (select from w where top > 99)`).returning()]; }, recursive: ({ db }) => db.execute(sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < ${5}) select * from n`).then((r) => r.rows),
   union: async ({ db, person, tag }) => { const a = db.select({ t: person.name }).from(person); const b = db.select({ t: tag.label }).from(tag); return [await c.union(a, b).orderBy(sql`1`), await db.select({ t: person.name }).from(person).unionAll(db.select({ t: person.name }).from(person)).orderBy(sql`1`).limit(3)]; }, 'intersect and except': async ({ db, person, post }) => { const a = () => db.select({ id: person.id }).from(person); const b = () => db.select({ id: post.author }).from(post); return [await a().intersect(b()).orderBy(sql`1`), await a().except(b()), await a().exceptAll(b()).orderBy(sql`1`), await b().intersectAll(b()).orderBy(sql`1`)]; },
   insert: ({ db, person }) => db.insert(person).values({ name: 'Dan' }).returning(), 'insert of defaults': ({ db, post }) => db.insert(post).values([{ title: 'x', author: 10 }, { title: 'y', author: 15, words: 3 }]).returning({ id: post.id, words: post.words }), 'insert with given identity': ({ db, person }) => db.insert(person).overridingSystemValue().values({ id: 99, name: 'Own' }).returning({ id: person.id }), 'insert select': ({ db, post, tag }) => db.insert(tag).select(db.select({ label: post.title }).from(post)).returning(), 'insert result': async ({ db, tag }) => { const r = await db.insert(tag).values([{ label: 'x' }, { label: 'y' }]); return [r.command, r.rowCount]; }, 'on conflict nothing': ({ db, tag }) => db.insert(tag).values([{ label: 'red' }, { label: 'new' }]).onConflictDoNothing().returning(), 'on conflict update': ({ db, person }) => db.insert(person).values([{ name: 'Ann', age: 31 }, { name: 'Eve', age: 3 }]).onConflictDoUpdate({ target: person.name, set: { age: sql`excluded.age + ${person.age}` }, setWhere: gt(person.age, 1) }).returning({ id: person.id, age: person.age }), 'on conflict of some rows': ({ db, person }) => db.insert(person).values({ name: 'Ann', age: 30 }).onConflictDoUpdate({ target: [person.name, person.age], targetWhere: sql`age > 17`, set: { score: '9' } }).returning({ id: person.id, score: person.score }),
   update: ({ db, person }) => db.update(person).set({ age: sql`${person.age} + 1`, tags: ['q'], mood: 'sad' }).where(eq(person.name, 'Ann')).returning(), 'update from': ({ db, person, post }) => db.update(post).set({ body: sql`${person.name}` }).from(person).where(and(eq(person.id, post.author), gt(person.age, 35))).returning({ id: post.id, body: post.body, name: person.name }), delete: ({ db, post }) => db.delete(post).where(eq(post.author, 10)).returning({ id: post.id }), 'delete cascades': async ({ db, person, post, postTag }) => [(await db.delete(person).where(eq(person.name, 'Ann'))).rowCount, await db.$count(post), await db.$count(postTag), await db.select({ boss: person.boss }).from(person)],
   view: ({ db, grown }) => db.select().from(grown).orderBy(grown.id), 'materialized view': async ({ db, counts, post }) => { const seen = [await db.select().from(counts)]; await db.refreshMaterializedView(counts); seen.push(await db.select().from(counts).orderBy(counts.author)); await db.delete(post).where(eq(post.author, 15)); await db.refreshMaterializedView(counts).withNoData(); return [...seen, await errorOf(db.select().from(counts))]; }, sequence: async ({ db, schema }) => (await db.execute(sql.raw(`SELECT nextval('${schema}.ticket') AS n FROM generate_series(1, 8)`))).rows,
   'unique violated': ({ db, person }) => errorOf(db.insert(person).values({ name: 'Ann' })), 'check violated': ({ db, person }) => errorOf(db.insert(person).values({ name: 'Z', age: -1 })), 'foreign key violated': ({ db, post }) => errorOf(db.insert(post).values({ title: 'x', author: 99 })), 'referenced row': ({ db, tag }) => errorOf(db.delete(tag).where(eq(tag.label, 'red'))), 'bad enum': ({ db, person }) => errorOf(db.insert(person).values({ name: 'Z', mood: 'mad' })), 'identity given': ({ db, person }) => errorOf(db.execute(sql`insert into ${person} (id, name) values (1, 'Z')`)), 'column unknown': ({ db, person }) => errorOf(db.select({ x: sql`nothing` }).from(person)), 'nulls not distinct': async ({ db, person }) => [await errorOf(db.execute(sql`insert into ${person} (name, age) values ('N', null), ('N', null)`))],
   'relational: all': ({ db }) => db.query.person.findMany({ orderBy: (p, o) => o.asc(p.id), with: { posts: { orderBy: (p, o) => o.desc(p.id), with: { tags: { columns: { tag: true }, orderBy: (x, o) => o.asc(x.tag) } } } } }), 'relational: first': ({ db }) => db.query.post.findFirst({ where: (p, o) => o.eq(p.title, 'Three'), with: { author: { columns: { name: true, at: true, tags: true } } } }), 'relational: columns and extras': ({ db, person }) => db.query.person.findMany({ columns: { name: true, age: true }, extras: { twice: sql`${person.age} * 2`.as('twice') }, orderBy: [desc(person.id)], limit: 2, offset: 1 }), 'relational: limits': ({ db }) => db.query.person.findMany({ columns: { name: true }, orderBy: (p) => [asc(p.id)], with: { posts: { columns: { title: true }, limit: 1, where: (p, o) => o.gt(p.words, 5) }, boss: { columns: { name: true } }, team: { columns: { name: true }, orderBy: (p) => [asc(p.id)] } } }),
   transaction: async ({ db, tag }) => [await db.transaction(async (tx) => { await tx.insert(tag).values({ label: 't' }); return (await tx.execute(sql`select current_setting('transaction_isolation') as i, current_setting('transaction_read_only') as r, current_setting('transaction_deferrable') as d`)).rows; }, { isolationLevel: 'serializable', accessMode: 'read write', deferrable: true }), await db.$count(tag)], 'rolled back': async ({ db, tag }) => { const seen = await db.transaction(async (tx) => { await tx.insert(tag).values({ label: 't' }); tx.rollback(); }).catch((e) => e instanceof TransactionRollbackError); return [seen, await db.$count(tag)]; }, 'nested transactions': async ({ db, tag }) => { await db.transaction(async (tx) => { await tx.insert(tag).values({ label: 'out' }); await tx.transaction(async (in_) => { await in_.insert(tag).values({ label: 'in' }); in_.rollback(); }).catch(() => {}); await tx.transaction((in_) => in_.insert(tag).values({ label: 'kept' })); }); return db.select().from(tag).orderBy(tag.label); }, 'read only': ({ db, tag }) => errorOf(db.transaction((tx) => tx.insert(tag).values({ label: 't' }), { accessMode: 'read only' })),
   locked: ({ db, person }) => db.transaction(async (tx) => { await tx.select().from(person).where(eq(person.name, 'Ann')).for('update'); return [await db.select({ name: person.name }).from(person).orderBy(person.id).for('update', { skipLocked: true }), await errorOf(db.select().from(person).for('share', { noWait: true })), await db.select({ name: person.name }).from(person).orderBy(person.id).for('key share', { skipLocked: true })]; }), prepared: async ({ db, person }) => { const q = db.select({ name: person.name }).from(person).where(and(gt(person.age, sql.placeholder('a')), like(person.name, sql.placeholder('n')))).limit(sql.placeholder('l')).prepare('by_age'); return [await q.execute({ a: 20, n: '%', l: 5 }), await q.execute({ a: 35, n: 'B%', l: 1 })]; }, 'prepared insert': async ({ db, person }) => { const q = db.insert(person).values({ name: sql.placeholder('n'), age: sql.placeholder('a'), tags: sql.placeholder('t') }).returning({ id: person.id, tags: person.tags }).prepare('ins'); return [await q.execute({ n: 'x', a: 1, t: ['1'] }), await q.execute({ n: 'y', a: 2, t: [] })]; }, 'prepared relational': async ({ db }) => { const q = db.query.person.findFirst({ columns: { name: true }, where: (p, o) => o.eq(p.id, sql.placeholder('id')), with: { posts: { columns: { title: true }, orderBy: (p) => [asc(p.id)], limit: sql.placeholder('l') } } }).prepare('rel'); return [await q.execute({ id: 10, l: 1 }), await q.execute({ id: 15, l: 5 })]; },
   'sql pieces': async ({ db, person }) => (await db.execute(sql`select ${sql.identifier('name')} from ${person} where ${person.name} = any(${['Ann', 'Ben']}::text[]) and ${sql.join([sql`true`, sql`age > ${1}`], sql` and `)} order by 1`).catch((e) => ({ rows: e.cause.message }))).rows, batch: ({ db, person }) => db.insert(person).values(Array.from({ length: 500 }, (_, i) => ({ name: `n${i}`, age: i + 1 }))).returning({ id: person.id }).then((r) => [r.length, r[499]]),
};
for (const [name, query] of Object.entries(queries)) filled(`queries/${name}`, query);

const types = {
   smallint: [() => c.smallint(), 7], integer: [() => c.integer().default(3), -1], bigint: [() => c.bigint({ mode: 'bigint' }), 9007199254740993n], bigintNumber: [() => c.bigint({ mode: 'number' }), 5], boolean: [() => c.boolean().default(false), true], text: [() => c.text().default("it's"), 'x'], textEnum: [() => c.text({ enum: ['a', 'b'] }), 'a'], varchar: [() => c.varchar({ length: 5 }).default('a'), 'abc'], char: [() => c.char({ length: 3 }), 'ab'], numeric: [() => c.numeric({ precision: 10, scale: 3 }), '12.5'], numericBare: [() => c.numeric(), '1e20'], real: [() => c.real(), 1.5], double: [() => c.doublePrecision().default(0.1), 2.25], json: [() => c.json().default({ a: 1 }), { b: [null, "it's"] }], jsonb: [() => c.jsonb().default([1]), { b: [1.5, true] }],
   time: [() => c.time({ precision: 2 }), '12:30:00.25'], timetz: [() => c.time({ withTimezone: true }), '12:30:00+02'], timestamp: [() => c.timestamp({ mode: 'string' }).default(sql`'2024-01-01'`), '2024-02-29 12:00:00'], timestamptz: [() => c.timestamp({ withTimezone: true }).default(sql`'2024-01-01 00:00:00+00'`), new Date(0)], date: [() => c.date(), '2024-02-29'], dateOfDate: [() => c.date({ mode: 'date' }), new Date(86400000)], interval: [() => c.interval({ fields: 'day to second', precision: 3 }), '1 day 02:03:04.5678'], intervalBare: [() => c.interval(), '1 year 2 mons'], uuid: [() => c.uuid(), 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'], inet: [() => c.inet(), '10.0.0.1'], cidr: [() => c.cidr(), '10.0.0.0/8'], macaddr: [() => c.macaddr(), '08:00:2b:01:02:03'], macaddr8: [() => c.macaddr8(), '08:00:2b:01:02:03:04:05'], point: [() => c.point({ mode: 'xy' }), { x: 1, y: 2 }], line: [() => c.line({ mode: 'abc' }), { a: 1, b: 2, c: 3 }], bit: [() => c.bit({ dimensions: 3 }), '101'],
   serial: [() => c.serial(), 4], smallserial: [() => c.smallserial(), 4], bigserial: [() => c.bigserial({ mode: 'number' }), 4], identity: [() => c.bigint({ mode: 'number' }).generatedByDefaultAsIdentity({ startWith: 5 }), 9], array: [() => c.integer().array().default([1, 2]), [3, null]], matrix: [() => c.text().array().array(), [['a', 'b,c'], ['"', '']]], sizedArray: [() => c.varchar({ length: 3 }).array(2), ['a', 'b']], stamps: [() => c.timestamp({ mode: 'string' }).array(), ['2024-01-01 00:00:00']], bytea: [() => c.customType({ dataType: () => 'bytea' })(), Buffer.from([0, 255])], range: [() => c.customType({ dataType: () => 'int4range' })(), '[1,5)'], multirange: [() => c.customType({ dataType: () => 'datemultirange' })(), '{[2024-01-01,2024-02-01)}'], rangeDefault: [() => c.customType({ dataType: () => 'tstzrange' })().default('empty'), '["2024-01-01 00:00:00+00",)'], money: [() => c.customType({ dataType: () => 'money' })(), '$5.00'],
};
for (const [name, [column, value]] of Object.entries(types))
   inSchema(`types/${name}`, async (schema) => {
      const space = c.pgSchema(schema);
      const typed = space.table('typed', { n: c.integer().notNull(), v: column() });
      for (const text of await made({ space, typed })) await pool.query(text);
      await plain.insert(typed).values([{ n: 1, v: value }, { n: 2 }]);
      return [await plain.select().from(typed).orderBy(typed.n), await plain.select({ n: typed.n }).from(typed).where(/json|point|line$/.test(name) ? sql`true` : eq(typed.v, value)).orderBy(typed.n), (await catalog(schema))[0], await pushed({ space, typed }, schema)];
   });

/** What drizzle-kit would still do to get the tables. It shows on the terminal how far it is. */
async function pushed(tables, schema) {
   const write = process.stdout.write;
   process.stdout.write = () => true;
   try {
      return (await pushSchema(tables, plain, [schema])).statementsToExecute;
   } finally {
      process.stdout.write = write;
   }
}
filled('kit/made', ({ schema }) => catalog(schema));
// pushSchema() reads no key of two columns.
inSchema('kit/pushed', async (schema) => {
   const { postTag, postRelations, postTagRelations, ...tables } = tablesOf(schema);
   await pool.query(`DROP SCHEMA ${schema}`);
   const planned = await pushed(tables, schema);
   for (const text of planned) await pool.query(text);
   return [planned, await catalog(schema), await pushed(tables, schema)];
});
const changes = {
   'column added': (s) => s.table('t', { id: c.serial().primaryKey(), name: c.text(), more: c.integer().notNull().default(7) }), 'column dropped': (s) => s.table('t', { id: c.serial().primaryKey() }), 'column not null': (s) => s.table('t', { id: c.serial().primaryKey(), name: c.text().notNull() }), 'type changed': (s) => s.table('t', { id: c.serial().primaryKey(), name: c.varchar({ length: 9 }).default('x') }), 'key dropped': (s) => s.table('t', { id: c.serial(), name: c.text().primaryKey() }), 'unique and check': (s) => s.table('t', { id: c.serial().primaryKey(), name: c.text() }, (t) => [c.unique('u').on(t.name), c.check('k', sql`length(${t.name}) between 1 and 9`)]), indexed: (s) => s.table('t', { id: c.serial().primaryKey(), name: c.text() }, (t) => [c.index('i').using('btree', t.name.asc().op('text_pattern_ops'), t.id.desc().nullsFirst()).with({ fillfactor: 70 }), c.index('h').using('hash', t.name), c.index('j').on(sql`lower(${t.name})`).concurrently()]), 'foreign key': (s) => s.table('t', { id: c.serial().primaryKey(), name: c.text(), up: c.integer() }, (t) => [c.foreignKey({ columns: [t.up], foreignColumns: [t.id], name: 'up_fk' }).onDelete('cascade').onUpdate('set default')]), generated: (s) => s.table('t', { id: c.serial().primaryKey(), name: c.text(), size: c.integer().generatedAlwaysAs(sql`length(name) + 1`) }),
   policies: (s) => s.table('t', { id: c.serial().primaryKey(), name: c.text() }, () => [c.pgPolicy('own', { as: 'permissive', for: 'all', to: 'public', using: sql`name = current_user`, withCheck: sql`id > 0` }), c.pgPolicy('old', { as: 'restrictive', for: 'select', to: 'current_user', using: sql`id < 100` })]), 'security enabled': (s) => s.table.withRLS?.('t', { id: c.serial().primaryKey(), name: c.text() }) ?? s.table('t', { id: c.serial().primaryKey(), name: c.text() }).enableRLS(),
};
for (const [name, change] of Object.entries(changes))
   inSchema(`kit/${name}`, async (schema) => {
      const space = c.pgSchema(schema);
      const before = { space, t: space.table('t', { id: c.serial().primaryKey(), name: c.text() }) };
      for (const text of await made(before)) await pool.query(text);
      if (name !== 'unique and check') await pool.query(`INSERT INTO ${schema}.t (name) VALUES ('a'), ('b')`); // it asks what shall become of rows
      const after = { space, t: change(space) };
      const planned = await pushed(after, schema);
      for (const text of planned) await pool.query(text);
      return [planned, await catalog(schema), await pushed(after, schema), (await pool.query(`SELECT * FROM ${schema}.t ORDER BY id`)).rows];
   });
filled('kit/policies at work', async ({ schema }) => {
   const role = `${schema}_reader`;
   await pool.query(`DROP ROLE IF EXISTS ${role}`);
   await pool.query(`CREATE ROLE ${role}; GRANT USAGE ON SCHEMA ${schema} TO ${role}; GRANT ALL ON ${schema}.tag TO ${role}; ALTER TABLE ${schema}.tag ENABLE ROW LEVEL SECURITY; CREATE POLICY red ON ${schema}.tag TO ${role} USING (label LIKE 'r%') WITH CHECK (label <> 'rot')`);
   const client = await pool.connect();
   try {
      await client.query(`SET ROLE ${role}`);
      return [(await client.query(`SELECT * FROM ${schema}.tag`)).rows, await errorOf(client.query(`INSERT INTO ${schema}.tag VALUES ('rot')`)), (await client.query(`DELETE FROM ${schema}.tag WHERE label = 'blue'`)).rowCount];
   } finally {
      await client.query('RESET ROLE');
      client.release();
      await pool.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
   }
});
inSchema('kit/migrations', async (schema) => {
   const folder = await mkdtemp('migrations-');
   await mkdir(`${folder}/meta`);
   const entries = ['CREATE TABLE OWN.a (x int);--> statement-breakpoint\nCREATE INDEX ON OWN.a (x);', "ALTER TABLE OWN.a ADD y text DEFAULT 'q';", 'CREATE TABLE OWN.b ();--> statement-breakpoint\nALTER TABLE OWN.none ADD z int;'];
   const journal = async (many) => { for (let i = 0; i < many; i++) await writeFile(`${folder}/000${i}_m.sql`, entries[i].replaceAll('OWN', schema)); await writeFile(`${folder}/meta/_journal.json`, JSON.stringify({ version: '7', dialect: 'postgresql', entries: entries.slice(0, many).map((_, i) => ({ idx: i, version: '7', when: 1000 + i, tag: `000${i}_m`, breakpoints: true })) })); };
   const settings = { migrationsFolder: folder, migrationsSchema: schema };
   try {
      for (const many of [1, 1, 2]) { await journal(many); await migrate(plain, settings); }
      await journal(3);
      return [await errorOf(migrate(plain, settings)), (await pool.query(`SELECT id, created_at FROM ${schema}.__drizzle_migrations ORDER BY 1`)).rows, await catalog(schema)];
   } finally {
      await rm(folder, { recursive: true });
   }
});
filled('kit/pulled', async ({ schema }) => {
   const folder = await mkdtemp('pulled-');
   try {
      await writeFile(`${folder}/config.json`, JSON.stringify({ dialect: 'postgresql', out: `./${folder}`, dbCredentials: { url }, schemaFilter: [schema], introspect: { casing: 'preserve' } }));
      await promisify(execFile)(process.execPath, ['node_modules/drizzle-kit/bin.cjs', 'pull', `--config=${folder}/config.json`], { timeout: 25_000 });
      const lines = async (name) => (await readFile(`${folder}/${name}.ts`, 'utf8')).split('\n').map((line) => (/^import|unique\(/.test(line) ? line.split(/[ ,{}]+/).sort().join(' ') : line)).sort();
      return [await lines('schema'), await lines('relations')];
   } finally {
      await rm(folder, { recursive: true });
   }
});
await run(() => pool.end());
