// Knex: the builders of queries and of schemas, migrations, transactions, streams.
import Knex from 'knex';
import { errorOf, place, run, test } from './harness.mjs';

const knex = Knex({ client: 'pg', connection: place, pool: { min: 0, max: 4 } });

/** A test with tables of its own, in a schema of its own. */
let number = 0;
function inSchema(name, body) {
   const schema = `knex_${++number}`;
   test(name, async () => {
      await knex.raw('DROP SCHEMA IF EXISTS ?? CASCADE', [schema]);
      await knex.raw('CREATE SCHEMA ??', [schema]);
      const own = Knex({ client: 'pg', connection: place, searchPath: [schema, 'public'], pool: { min: 0, max: 3 } });
      try {
         return await body(own, schema);
      } finally {
         await own.destroy();
         await knex.raw('DROP SCHEMA ?? CASCADE', [schema]);
      }
   });
}
const types = {
   increments: (t) => t.increments('c'), bigIncrements: (t) => t.bigIncrements('c'), integer: (t) => t.integer('c'), bigint: (t) => t.bigInteger('c'), tinyint: (t) => t.tinyint('c'), smallint: (t) => t.smallint('c'),
   text: (t) => t.text('c'), string: (t) => t.string('c', 40), float: (t) => t.float('c'), double: (t) => t.double('c'), decimal: (t) => t.decimal('c', 14, 3), boolean: (t) => t.boolean('c'), date: (t) => t.date('c'),
   datetime: (t) => t.datetime('c'), timestamp: (t) => t.timestamp('c', { useTz: false, precision: 3 }), timestamps: (t) => t.timestamps(true, true), time: (t) => t.time('c'), binary: (t) => t.binary('c'), enum: (t) => t.enu('c', ['a', 'b']),
   nativeEnum: (t) => t.enu('c', ['a', 'b'], { useNative: true, enumName: 'letters' }), json: (t) => t.json('c'), jsonb: (t) => t.jsonb('c'), uuid: (t) => t.uuid('c').defaultTo(knex.fn.uuid()), specific: (t) => t.specificType('c', 'int[]'),
   'default and comment': (t) => t.integer('c').notNullable().defaultTo(5).comment('five'), unique: (t) => t.string('c').unique(), index: (t) => t.string('c').index(), primary: (t) => t.string('c').primary(),
   'check positive': (t) => t.integer('c').checkPositive(), 'check in': (t) => t.string('c').checkIn(['a', 'b']), 'check between': (t) => t.integer('c').checkBetween([1, 5]), 'check length': (t) => t.string('c').checkLength('<', 5), 'check regex': (t) => t.string('c').checkRegex('^a'),
   collate: (t) => t.string('c').collate('C'), geometry: (t) => t.specificType('c', 'point'), inet: (t) => t.specificType('c', 'inet'),
};
async function described(own, schema, table) {
   const columns = await knex.raw(`SELECT column_name, data_type, udt_name, is_nullable, column_default, character_maximum_length, numeric_precision, numeric_scale, datetime_precision FROM information_schema.columns
      WHERE table_schema = ? AND table_name = ? ORDER BY ordinal_position`, [schema, table]);
   const constraints = await knex.raw(`SELECT conname, contype, pg_get_constraintdef(oid) AS text FROM pg_constraint WHERE conrelid = (quote_ident(?) || '.' || quote_ident(?))::regclass ORDER BY conname`, [schema, table]);
   const indexes = await knex.raw('SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = ? AND tablename = ? ORDER BY indexname', [schema, table]);
   const text = await own(table).columnInfo();
   return [columns.rows, constraints.rows, indexes.rows, text];
}
for (const [name, column] of Object.entries(types))
   inSchema(`schema/column ${name}`, async (own, schema) => {
      await own.schema.createTable('t', (t) => { column(t); });
      return described(own, schema, 't');
   });
const changes = {
   'add column': (s) => s.alterTable('t', (t) => t.string('added').notNullable().defaultTo('x')), 'drop column': (s) => s.alterTable('t', (t) => t.dropColumn('name')), 'rename column': (s) => s.alterTable('t', (t) => t.renameColumn('name', 'title')),
   'alter type': (s) => s.alterTable('t', (t) => t.bigint('n').alter()), 'alter to not null': (s) => s.alterTable('t', (t) => t.dropNullable('n')), 'alter to null': (s) => s.alterTable('t', (t) => t.setNullable('name')), 'alter default': (s) => s.alterTable('t', (t) => t.string('name', 80).notNullable().defaultTo('d').alter()),
   'add unique': (s) => s.alterTable('t', (t) => t.unique(['name', 'n'])), 'add unique index': (s) => s.alterTable('t', (t) => t.unique(['n'], { indexName: 'own', useConstraint: false, predicate: knex.whereNotNull('n') })), 'drop unique': (s) => s.alterTable('t', (t) => t.dropUnique(['name'])),
   'add index': (s) => s.alterTable('t', (t) => t.index(['n', 'name'], 'by_n')), 'partial index': (s) => s.alterTable('t', (t) => t.index(['n'], 'some', { predicate: knex.where('n', '>', 3), indexType: 'btree' })), 'drop primary': (s) => s.alterTable('t', (t) => t.dropPrimary()),
   'add foreign': (s) => s.createTable('o', (t) => t.increments()).alterTable('t', (t) => t.foreign('n').references('o.id').onDelete('SET NULL').onUpdate('CASCADE')), 'foreign deferrable': (s) => s.createTable('o', (t) => t.increments()).alterTable('t', (t) => t.integer('o_id').references('id').inTable('o').deferrable('deferred').onDelete('cascade')),
   'add check': (s) => s.alterTable('t', (t) => t.check('?? > ?', ['n', 0], 'checked')), 'comment': (s) => s.alterTable('t', (t) => t.comment('about t')),
   'rename table': (s) => s.renameTable('t', 'u').renameTable('u', 't'), 'view': (s) => s.createView('v', (v) => { v.columns(['name']); v.as(knex('t').select('name').where('n', '>', 0)); }), 'replace view': (s) => s.createViewOrReplace('v', (v) => { v.columns(['name']); v.as(knex('t').select('name')); }), 'materialized view': (s) => s.createMaterializedView('m', (v) => { v.columns(['name']); v.as(knex('t').select('name')); }).refreshMaterializedView('m'),
   'like': (s) => s.createTableLike('copy', 't', (t) => t.string('extra')),
};
for (const [name, change] of Object.entries(changes))
   inSchema(`schema/${name}`, async (own, schema) => {
      await own.schema.createTable('t', (t) => { t.increments(); t.string('name').notNullable().unique(); t.integer('n'); });
      await own('t').insert([{ name: 'a', n: null }]);
      if (['alter to not null', 'add check'].includes(name)) await own('t').update({ n: 1 });
      await change(own.schema);
      const all = await knex.raw("SELECT relname, relkind, obj_description(oid, 'pg_class') AS comment FROM pg_class WHERE relnamespace = to_regnamespace(?) ORDER BY relname", [schema]);
      return [await described(own, schema, 't'), all.rows, await own('t').select()];
   });
inSchema('schema/has', async (own) => {
   await own.schema.createTable('t', (t) => t.increments());
   return [await own.schema.hasTable('t'), await own.schema.hasTable('u'), await own.schema.hasColumn('t', 'id'), await own.schema.hasColumn('t', 'x'), await own.schema.dropTableIfExists('u').then(() => 1)];
});

async function filled(own) {
   await own.schema.createTable('authors', (t) => { t.increments(); t.string('name').notNullable(); t.jsonb('facts'); t.integer('age'); });
   await own.schema.createTable('books', (t) => { t.increments(); t.integer('author_id').references('authors.id').onDelete('CASCADE'); t.string('title').unique(); t.decimal('price', 8, 2); t.specificType('tags', 'text[]'); t.date('published'); });
   await own('authors').insert([{ name: 'Ada', facts: { born: 1815, likes: ['math'] }, age: 36 }, { name: 'Bob', facts: { born: 1950 }, age: 70 }, { name: 'Cy', facts: null, age: null }]);
   await own('books').insert([{ author_id: 1, title: 'Notes', price: 12.5, tags: ['a', 'b'], published: '1843-09-01' }, { author_id: 1, title: 'More', price: 7, tags: [], published: null }, { author_id: 2, title: 'Food', price: 30, tags: ['c'], published: '1990-01-01' }]);
}
const queries = {
   'first': (k) => k('authors').where({ name: 'Ada' }).first(), 'pluck': (k) => k('books').orderBy('id').pluck('title'), 'where in': (k) => k('books').whereIn('title', ['Notes', 'Food']).orderBy('id'), 'where null': (k) => k('authors').whereNull('facts').select('id'), 'where between': (k) => k('books').whereBetween('price', [5, 15]).orderBy('id'),
   'where like': (k) => k('books').whereLike('title', 'N%'), 'where ilike': (k) => k('books').whereILike('title', 'n%'), 'where exists': (k) => k('authors').whereExists(k('books').whereRaw('books.author_id = authors.id')).orderBy('id').select('name'), 'where raw': (k) => k('books').whereRaw('price > ? AND title <> ?', [10, 'Food']), 'nested where': (k) => k('books').where((b) => b.where('price', '>', 20).orWhere('title', 'More')).orderBy('id'),
   'where json': (k) => k('authors').whereJsonPath('facts', '$.born', '>', 1900).select('name'), 'where json superset': (k) => k('authors').whereJsonSupersetOf('facts', { born: 1950 }).select('name'), 'where json subset': (k) => k('authors').whereJsonSubsetOf('facts', { born: 1950, more: 1 }).select('name'), 'json extract': (k) => k('authors').jsonExtract('facts', '$.likes[0]', 'likes').orderBy('id'), 'json set': (k) => k('authors').jsonSet('facts', '$.x', '"y"', 'changed').where('id', 1), 'json insert': (k) => k('authors').jsonInsert('facts', '$.new', '1', 'changed').where('id', 1), 'json remove': (k) => k('authors').jsonRemove('facts', '$.born', 'changed').where('id', 1),
   'join': (k) => k('books').join('authors', 'authors.id', 'books.author_id').select('title', 'name').orderBy('books.id'), 'left join': (k) => k('authors').leftJoin('books', 'authors.id', 'books.author_id').select('name', 'title').orderBy(['authors.id', 'books.id']), 'join on': (k) => k('authors').join('books', function () { this.on('authors.id', '=', 'books.author_id').andOnVal('price', '>', 10); }).select('title').orderBy('books.id'), 'cross join': (k) => k('authors').crossJoin('books').count('* as n'), 'full join': (k) => k('authors').fullOuterJoin('books', 'authors.id', 'books.author_id').count('* as n'),
   'group and having': (k) => k('books').groupBy('author_id').having(k.raw('count(*) > 1')).select('author_id').count('* as n').sum('price as total').max('price as most').avg('price as mean'), 'count distinct': (k) => k('books').countDistinct('author_id as n'), 'distinct on': (k) => k('books').distinctOn('author_id').orderBy([{ column: 'author_id' }, { column: 'price', order: 'desc' }]).select('title'), 'order nulls': (k) => k('authors').orderBy('age', 'desc', 'last').select('name'), 'limit and offset': (k) => k('books').orderBy('id').limit(1).offset(1), 'union': (k) => k('authors').select('name').union([k('books').select('title')]).orderBy('name'), 'intersect': (k) => k('authors').select('id').intersect(k('books').select('id')).orderBy('id'), 'except': (k) => k('authors').select('id').except(k('books').select('author_id')).orderBy('id'),
   'with': (k) => k.with('dear', k('books').where('price', '>', 10)).select('title').from('dear').orderBy('title'), 'with recursive': (k) => k.withRecursive('n', ['i'], (q) => q.select(k.raw('1')).unionAll((u) => u.select(k.raw('i + 1')).from('n').where('i', '<', 4))).select('i').from('n'), 'with materialized': (k) => k.withMaterialized('m', k('books').select('id')).from('m').count('* as n'), 'window': (k) => k('books').select('title').rowNumber('r', 'price').rank('p', 'price', 'author_id').orderBy('title'), 'subquery': (k) => k('authors').select('name', k('books').whereRaw('author_id = authors.id').count('*').as('n')).orderBy('id'), 'from subquery': (k) => k(k('books').select('price').as('s')).max('price as m'),
   'array': (k) => k('books').whereRaw("'a' = ANY(tags)").select('title'), 'array overlap': (k) => k('books').where('tags', '&&', ['a', 'c']).orderBy('id').pluck('title'), 'raw': (k) => k.raw('SELECT ?::int AS a, ?::text AS b, ?? AS c FROM authors ORDER BY 3', [1, 'x', 'name']).then((r) => r.rows), 'named bindings': (k) => k.raw('SELECT :a::int + :b::int AS n', { a: 1, b: 2 }).then((r) => r.rows), 'for update': (k) => k.transaction((t) => t('authors').forUpdate().where('id', 1).select('name')), 'skip locked': (k) => k.transaction((t) => t('authors').forUpdate().skipLocked().orderBy('id').pluck('id')), 'no key update': (k) => k.transaction((t) => t('authors').forNoKeyUpdate().noWait().pluck('id')),
   'update': (k) => k('books').where('id', 1).update({ price: 1.25 }, ['id', 'price']), 'update raw': (k) => k('books').update({ price: k.raw('?? * 2', ['price']) }).returning(['id', 'price']), 'increment': (k) => k('books').where('id', 1).increment('price', 2).then(() => k('books').orderBy('id').pluck('price')), 'update from': (k) => k('books').update({ title: k.raw('authors.name || books.id') }).updateFrom('authors').whereRaw('authors.id = books.author_id').returning('title'), 'delete': (k) => k('authors').where('id', 1).del(['name']).then(async (gone) => [gone, await k('books').count('* as n')]), 'delete using': (k) => k('books').using('authors').whereRaw('authors.id = books.author_id').where('authors.name', 'Bob').del().returning('books.title'), 'truncate': (k) => k.raw('TRUNCATE authors RESTART IDENTITY CASCADE').then(() => k('books').count('* as n')),
   'insert returning': (k) => k('authors').insert([{ name: 'D' }, { name: 'E', age: 3 }], ['id', 'name', 'age']), 'insert default': (k) => k('authors').insert({ name: 'F', age: k.raw('1 + 1') }).returning('*'), 'insert from select': (k) => k.into(k.raw('?? (??)', ['authors', 'name'])).insert(k('books').select('title').orderBy('id')).returning('name'), 'on conflict ignore': (k) => k('books').insert({ title: 'Notes' }).onConflict('title').ignore().returning('id'), 'on conflict merge': (k) => k('books').insert({ title: 'Notes', price: 99 }).onConflict('title').merge(['price']).returning(['id', 'title', 'price']), 'on conflict where': (k) => k('books').insert({ title: 'Notes', price: 1 }).onConflict('title').merge().where('books.price', '<', 5).returning('id'), 'upsert': (k) => k('books').insert({ title: 'New', price: 5 }).onConflict('title').merge().returning(['title', 'price']),
   'batch insert': (k) => k.batchInsert('authors', Array.from({ length: 250 }, (_, i) => ({ name: `n${i}` })), 100).returning('id').then((all) => all.length), 'unique violation': (k) => errorOf(k('books').insert({ title: 'Notes' })), 'not null violation': (k) => errorOf(k('authors').insert({ age: 1 })), 'foreign violation': (k) => errorOf(k('books').insert({ author_id: 99, title: 'x' })), 'unknown column': (k) => errorOf(k('books').select('nothing')), 'bad value': (k) => errorOf(k('books').where('id', 'x')),
   'stream': async (k) => { const seen = []; for await (const row of k('books').orderBy('id').select('title').stream()) seen.push(row.title); return seen; }, 'columns info': (k) => k('books').columnInfo(), 'explain': (k) => k.raw('EXPLAIN (COSTS OFF) SELECT 1').then((r) => r.rows.length > 0),
   'transaction commits': (k) => k.transaction(async (t) => { await t('authors').insert({ name: 'T' }); return t('authors').count('* as n'); }), 'transaction rolls back': async (k) => [await errorOf(k.transaction(async (t) => { await t('authors').insert({ name: 'T' }); throw new RangeError('no'); })), await k('authors').count('* as n')], 'nested transaction': (k) => k.transaction(async (t) => { await t('authors').insert({ name: 'out' }); await t.transaction(async (s) => { await s('authors').insert({ name: 'in' }); throw new Error('back'); }).catch(() => {}); return t('authors').orderBy('id').pluck('name'); }), 'isolation level': (k) => k.transaction((t) => t.raw('SHOW transaction_isolation').then((r) => r.rows), { isolationLevel: 'repeatable read' }), 'read only': (k) => errorOf(k.transaction((t) => t('authors').insert({ name: 'x' }), { readOnly: true })),
};
for (const [name, query] of Object.entries(queries))
   inSchema(`queries/${name}`, async (own) => {
      await filled(own);
      return query(own);
   });

class Migrations {
   constructor(all) { this.all = all; }
   async getMigrations() { return Object.keys(this.all); }
   getMigrationName(name) { return name; }
   getMigration(name) { return this.all[name]; }
}
const steps = {
   one: { up: (k) => k.schema.createTable('a', (t) => { t.increments(); t.string('name'); }), down: (k) => k.schema.dropTable('a') },
   two: { up: (k) => k.schema.alterTable('a', (t) => t.integer('n').defaultTo(1)), down: (k) => k.schema.alterTable('a', (t) => t.dropColumn('n')) },
   three: { up: (k) => k.schema.raw('CREATE INDEX a_n ON a (n)'), down: (k) => k.schema.raw('DROP INDEX a_n') },
};
inSchema('migrations/up, down, up', async (own, schema) => {
   const config = { migrationSource: new Migrations(steps) };
   const seen = [await own.migrate.latest(config), await own.migrate.currentVersion(config), await own.migrate.status(config), await own.migrate.rollback(config), await own.migrate.up(config), await own.migrate.up(config), (await own.migrate.list(config)).map((l) => l.length), await own.migrate.down(config)];
   return [seen, await described(own, schema, 'a'), await own('knex_migrations').select('id', 'name', 'batch')];
});
inSchema('migrations/that fail', async (own) => {
   const config = { migrationSource: new Migrations({ ...steps, wrong: { up: (k) => k.schema.raw('CREATE TABLE b (i int); SELECT 1/0'), down: () => 1 } }) };
   return [await errorOf(own.migrate.latest(config)), await own.schema.hasTable('a'), await own.schema.hasTable('b'), await own('knex_migrations_lock').select('is_locked')];
});
inSchema('migrations/at once', async (own) => {
   const config = { migrationSource: new Migrations(steps) };
   const results = await Promise.allSettled([own.migrate.latest(config), own.migrate.latest(config)]);
   return results.some((r) => r.status === 'fulfilled') && own('knex_migrations').count('* as n');
});
await run(() => knex.destroy());
