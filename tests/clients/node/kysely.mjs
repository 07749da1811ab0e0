// Kysely: typed builders of queries and schemas, introspection, migrations, transactions, streams.
import pg from 'pg';
import Cursor from 'pg-cursor';
import { Kysely, Migrator, PostgresDialect, sql } from 'kysely';
import { jsonArrayFrom, jsonBuildObject, jsonObjectFrom } from 'kysely/helpers/postgres';
import { errorOf, place, run, test } from './harness.mjs';

const pool = new pg.Pool({ ...place, max: 4 });
const db = new Kysely({ dialect: new PostgresDialect({ pool, cursor: Cursor }) });
let number = 0;

/** A test in a schema of its own, with people and pets. */
function filled(name, body) {
   const schema = `kysely_${++number}`;
   test(name, async () => {
      await sql`drop schema if exists ${sql.ref(schema)} cascade`.execute(db);
      await db.schema.createSchema(schema).execute();
      const own = db.withSchema(schema);
      await own.schema.createTable('person').addColumn('id', 'serial', (c) => c.primaryKey()).addColumn('name', 'varchar(50)', (c) => c.notNull().unique()).addColumn('age', 'integer').addColumn('tags', sql`text[]`)
         .addColumn('doc', 'jsonb').addColumn('at', 'timestamptz', (c) => c.notNull().defaultTo(sql`'2024-01-01 00:00:00+00'`)).execute();
      await own.schema.createTable('pet').addColumn('id', 'bigint', (c) => c.generatedAlwaysAsIdentity().primaryKey()).addColumn('owner_id', 'integer', (c) => c.references('person.id').onDelete('cascade')).addColumn('name', 'text', (c) => c.notNull())
         .addColumn('weight', 'numeric(6, 2)', (c) => c.check(sql`weight > 0`)).addColumn('label', 'text', (c) => c.generatedAlwaysAs(sql`upper(name)`).stored()).execute();
      await own.insertInto('person').values([{ name: 'Ann', age: 30, tags: ['a', 'b'], doc: JSON.stringify({ k: 1, l: [1, 2] }) }, { name: 'Ben', age: 40, tags: [], doc: null }, { name: 'Cid', age: null, tags: null, doc: JSON.stringify([]) }]).execute();
      await own.insertInto('pet').values([{ owner_id: 1, name: 'Rex', weight: 12.5 }, { owner_id: 1, name: 'Tom', weight: 4 }, { owner_id: 2, name: 'Ivy', weight: 0.3 }]).execute();
      try {
         return await body(own, schema);
      } finally {
         await sql`drop schema ${sql.ref(schema)} cascade`.execute(db);
      }
   });
}
const people = (k) => k.selectFrom('person').orderBy('person.id');
const queries = {
   all: (k) => people(k).selectAll().execute(), first: (k) => people(k).select('name').executeTakeFirst(), where: (k) => people(k).where('age', '>', 35).select('name').execute(), in: (k) => people(k).where('name', 'in', ['Ann', 'Cid']).select('id').execute(),
   or: (k) => people(k).where((e) => e.or([e('age', 'is', null), e('name', '=', 'Ann')])).select('name').execute(), like: (k) => people(k).where('name', 'ilike', 'a%').select('name').execute(), 'inner join': (k) => k.selectFrom('pet').innerJoin('person', 'person.id', 'pet.owner_id').select(['pet.name', 'person.name as owner']).orderBy('pet.id').execute(),
   'left join': (k) => people(k).leftJoin('pet', 'pet.owner_id', 'person.id').select(['person.name', 'pet.name as pet']).orderBy('pet.id').execute(), lateral: (k) => people(k).innerJoinLateral((e) => e.selectFrom('pet').whereRef('pet.owner_id', '=', 'person.id').select('pet.name as pet').orderBy('weight').limit(1).as('p'), (j) => j.onTrue()).select(['person.name', 'p.pet']).execute(),
   group: (k) => k.selectFrom('pet').groupBy('owner_id').select((e) => ['owner_id', e.fn.countAll().as('n'), e.fn.sum('weight').as('w'), e.fn.max('name').as('m')]).orderBy('owner_id').execute(), having: (k) => k.selectFrom('pet').groupBy('owner_id').having((e) => e.fn.countAll(), '>', 1).select('owner_id').execute(), filter: (k) => k.selectFrom('pet').select((e) => e.fn.countAll().filterWhere('weight', '>', 1).as('n')).execute(),
   window: (k) => k.selectFrom('pet').select((e) => ['name', e.fn.agg('row_number').over((o) => o.partitionBy('owner_id').orderBy('weight')).as('r')]).orderBy('id').execute(), 'distinct on': (k) => k.selectFrom('pet').distinctOn('owner_id').select(['owner_id', 'name']).orderBy('owner_id').orderBy('weight', 'desc').execute(), with: (k) => k.with('heavy', (e) => e.selectFrom('pet').where('weight', '>', 1).selectAll()).selectFrom('heavy').select('name').orderBy('name').execute(),
   recursive: (k) => k.withRecursive('n(i)', (e) => e.selectNoFrom(sql`1`.as('i')).unionAll(e.selectFrom('n').select(sql`i + 1`.as('i')).where('i', '<', 4))).selectFrom('n').selectAll().execute(), union: (k) => k.selectFrom('person').select('name').union(k.selectFrom('pet').select('name')).orderBy('name').execute(), except: (k) => k.selectFrom('person').select('id').except(k.selectFrom('pet').select('owner_id as id')).execute(),
   case: (k) => people(k).select((e) => e.case().when('age', '>', 35).then('old').when('age', 'is not', null).then('young').else('?').end().as('kind')).execute(), 'json array': (k) => people(k).select((e) => ['name', jsonArrayFrom(e.selectFrom('pet').select(['pet.name', 'pet.weight']).whereRef('pet.owner_id', '=', 'person.id').orderBy('pet.id')).as('pets')]).execute(), 'json object': (k) => people(k).select((e) => jsonObjectFrom(e.selectFrom('pet').select('pet.name').whereRef('pet.owner_id', '=', 'person.id').limit(1).orderBy('pet.id')).as('pet')).execute(),
   'json build': (k) => people(k).select((e) => jsonBuildObject({ n: e.ref('name'), a: e.ref('age') }).as('o')).execute(), 'json path': (k) => people(k).select((e) => e.ref('doc', '->').key('l').at(0).as('l')).execute(), any: (k) => people(k).where((e) => e(e.val('a'), '=', e.fn.any('tags'))).select('name').execute(), exists: (k) => people(k).where((e) => e.exists(e.selectFrom('pet').select('pet.id').whereRef('pet.owner_id', '=', 'person.id'))).select('name').execute(), tuple: (k) => people(k).where((e) => e(e.refTuple('name', 'age'), 'in', [e.tuple('Ann', 30)])).select('id').execute(),
   insert: (k) => k.insertInto('person').values({ name: 'Dan' }).returningAll().execute(), 'insert default': (k) => k.insertInto('pet').values({ name: 'Nil', owner_id: 1 }).returning(['id', 'label']).executeTakeFirst(), 'insert select': (k) => k.insertInto('person').columns(['name']).expression((e) => e.selectFrom('pet').select('name')).returning('name').execute(), 'insert count': async (k) => (await k.insertInto('person').values([{ name: 'x' }, { name: 'y' }]).executeTakeFirst()).numInsertedOrUpdatedRows,
   'on conflict update': (k) => k.insertInto('person').values({ name: 'Ann', age: 1 }).onConflict((c) => c.column('name').doUpdateSet((e) => ({ age: e.ref('excluded.age') }))).returning(['id', 'age']).execute(), 'on conflict nothing': (k) => k.insertInto('person').values({ name: 'Ann' }).onConflict((c) => c.doNothing()).returning('id').execute(), 'on conflict constraint': (k) => k.insertInto('person').values({ name: 'Ann' }).onConflict((c) => c.constraint('person_name_key').doUpdateSet({ age: 5 })).returning('age').execute(),
   update: (k) => k.updateTable('person').set((e) => ({ age: e('age', '+', 1) })).where('name', '=', 'Ann').returning('age').execute(), 'update from': (k) => k.updateTable('pet').from('person').set((e) => ({ name: e.ref('person.name') })).whereRef('person.id', '=', 'pet.owner_id').returning(['pet.id', 'pet.label']).execute(), delete: (k) => k.deleteFrom('pet').where('weight', '<', 1).returningAll().execute(), 'delete using': (k) => k.deleteFrom('pet').using('person').whereRef('pet.owner_id', '=', 'person.id').where('person.name', '=', 'Ann').returning('pet.name').execute(), merge: async (k) => [`${(await k.mergeInto('pet').using('person', 'pet.owner_id', 'person.id').whenMatched().thenUpdateSet({ weight: 1 }).whenNotMatched().thenInsertValues((e) => ({ owner_id: e.ref('person.id'), name: 'new' })).executeTakeFirst()).numChangedRows}`, await k.selectFrom('pet').select(['name', 'weight']).orderBy('id').execute()],
   stream: async (k) => { const seen = []; for await (const row of k.selectFrom('pet').select('name').orderBy('id').stream(2)) seen.push(row.name); return seen; }, 'for update': (k) => people(k).select('id').forUpdate().skipLocked().execute(), explain: async (k) => (await people(k).select('id').explain('json')).length, 'unique violation': (k) => errorOf(k.insertInto('person').values({ name: 'Ann' }).execute()), 'check violation': (k) => errorOf(k.insertInto('pet').values({ name: 'a', weight: -1 }).execute()), 'foreign violation': (k) => errorOf(k.insertInto('pet').values({ name: 'a', owner_id: 99 }).execute()), 'generated always': (k) => errorOf(k.insertInto('pet').values({ id: 1, name: 'a' }).execute()), 'no result': (k) => errorOf(people(k).select('id').where('id', '=', 99).executeTakeFirstOrThrow()),
   transaction: (k) => db.transaction().setIsolationLevel('serializable').execute(async (t) => (await sql`show transaction_isolation`.execute(t)).rows), 'rolled back': async (k, s) => [await errorOf(db.transaction().execute(async (t) => { await t.withSchema(s).deleteFrom('pet').execute(); throw new RangeError('back'); })), await k.selectFrom('pet').select((e) => e.fn.countAll().as('n')).execute()], 'controlled transaction': async (k, s) => { const t = await db.startTransaction().execute(); await t.withSchema(s).deleteFrom('pet').execute(); const p = await t.savepoint('p').execute(); await p.withSchema(s).deleteFrom('person').execute(); await p.rollbackToSavepoint('p').execute(); const seen = await t.withSchema(s).selectFrom('person').select((e) => e.fn.countAll().as('n')).execute(); await t.rollback().execute(); return [seen, await k.selectFrom('pet').select((e) => e.fn.countAll().as('n')).execute()]; },
   tables: async (k, s) => (await db.introspection.getTables()).filter((t) => t.schema === s), schemas: async (k, s) => (await db.introspection.getSchemas()).some((t) => t.name === s),
};
for (const [name, query] of Object.entries(queries)) filled(`queries/${name}`, query);
const changes = {
   'add column': (s) => s.alterTable('pet').addColumn('born', 'date', (c) => c.defaultTo('2024-01-01').notNull()), 'drop column': (s) => s.alterTable('pet').dropColumn('weight'), 'rename column': (s) => s.alterTable('pet').renameColumn('weight', 'mass'), 'alter type': (s) => s.alterTable('pet').alterColumn('weight', (c) => c.setDataType('double precision')), 'set default': (s) => s.alterTable('pet').alterColumn('name', (c) => c.setDefault('n')), 'drop not null': (s) => s.alterTable('pet').alterColumn('name', (c) => c.dropNotNull()), 'add unique': (s) => s.alterTable('pet').addUniqueConstraint('u', ['name', 'owner_id'], (b) => b.nullsNotDistinct()),
   'add check': (s) => s.alterTable('pet').addCheckConstraint('c', sql`length(name) < 9`), 'add foreign': (s) => s.alterTable('pet').addForeignKeyConstraint('f', ['owner_id'], 'person', ['id']).onUpdate('cascade').deferrable().initiallyDeferred(), 'drop constraint': (s) => s.alterTable('pet').dropConstraint('pet_weight_check'), 'rename table': (s) => s.alterTable('pet').renameTo('animal'), 'index': (s) => s.createIndex('i').on('pet').columns(['name', 'weight desc']).unique().where('weight', '>', 1), 'expression index': (s) => s.createIndex('i').on('pet').expression(sql`lower(name)`), 'gin index': (s) => s.createIndex('i').on('person').using('gin').column('tags'), view: (s) => s.createView('v').orReplace().as(db.selectFrom(sql`(values (1, 'x')) as t (a, b)`.as('q')).selectAll()), type: (s) => s.createType('mood').asEnum(['sad', 'happy']), 'materialized view': (s) => s.createView('m').materialized().as(db.selectNoFrom(sql`1`.as('one'))),
};
for (const [name, change] of Object.entries(changes))
   filled(`schema/${name}`, async (own, schema) => {
      await change(own.schema).execute();
      const columns = await sql`select table_name, column_name, data_type, udt_name, is_nullable, column_default, is_identity, generation_expression from information_schema.columns where table_schema = ${schema} order by 1, ordinal_position`.execute(db);
      const constraints = await sql`select conname, pg_get_constraintdef(oid) as text from pg_constraint where connamespace = to_regnamespace(${schema}) order by 1`.execute(db);
      const indexes = await sql`select indexname, indexdef from pg_indexes where schemaname = ${schema} order by 1`.execute(db);
      return [columns.rows, constraints.rows, indexes.rows, (await db.introspection.getTables()).filter((t) => t.schema === schema)];
   });
filled('migrations', async (own, schema) => {
   const steps = { a: { up: (k) => k.schema.createTable(`${schema}.made`).addColumn('id', 'serial').execute(), down: (k) => k.schema.dropTable(`${schema}.made`).execute() }, b: { up: (k) => k.schema.alterTable(`${schema}.made`).addColumn('x', 'text').execute(), down: (k) => k.schema.alterTable(`${schema}.made`).dropColumn('x').execute() } };
   const migrator = new Migrator({ db, migrationTableSchema: schema, provider: { getMigrations: async () => steps } });
   const seen = [];
   for (const step of ['migrateToLatest', 'migrateDown', 'migrateUp']) seen.push(await migrator[step]());
   return [seen, (await migrator.getMigrations()).map((m) => [m.name, m.executedAt !== undefined])];
});
await run(() => db.destroy());
