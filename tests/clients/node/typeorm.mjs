// TypeORM: synchronised schemas, migrations, types, relations, trees, the query builder, locks, transactions, introspection.
import { Any, ArrayContainedBy, ArrayContains, ArrayOverlap, Between, Brackets, DataSource, EntitySchema, ILike, In, IsNull, JsonContains, Like, MoreThan, Not, Raw, Table, TableCheck, TableColumn, TableExclusion, TableForeignKey, TableIndex, TableUnique } from 'typeorm';
import { errorOf, place, run, test } from './harness.mjs';

const options = { type: 'postgres', host: place.host, port: place.port, username: place.user, database: place.database, installExtensions: false, uuidExtension: 'pgcrypto', extra: { max: 4 } };
const root = new DataSource({ ...options, entities: [] });
let number = 0;

const id = { type: 'int', primary: true, generated: 'increment' };
const User = new EntitySchema({
   name: 'User', tableName: 'users', orderBy: { id: 'ASC' },
   columns: {
      id, name: { type: 'varchar', length: 40, unique: true, comment: "the user's name" }, age: { type: 'int', nullable: true }, role: { type: 'enum', enum: ['admin', 'guest'], default: 'guest' }, roles: { type: 'enum', enum: ['a', 'b', 'c'], enumName: 'letters', array: true, default: [] },
      tags: { type: 'text', array: true, nullable: true }, doc: { type: 'jsonb', nullable: true }, score: { type: 'numeric', precision: 8, scale: 2, default: () => '1.5' }, secret: { type: 'text', select: false, nullable: true }, label: { type: 'text', asExpression: 'upper(home_town)', generatedType: 'STORED', nullable: true, insert: false, update: false },
      made: { type: 'timestamptz', createDate: true }, changed: { type: 'timestamp', precision: 3, updateDate: true }, gone: { type: 'timestamptz', deleteDate: true, nullable: true }, version: { type: 'int', version: true },
   },
   embeddeds: { home: { prefix: false, schema: new EntitySchema({ name: 'Home', columns: { town: { name: 'home_town', type: 'text', nullable: true }, zip: { name: 'home_zip', type: 'char', length: 5, nullable: true } } }) } },
   relations: {
      profile: { target: 'Profile', type: 'one-to-one', inverseSide: 'user', cascade: true }, posts: { target: 'Post', type: 'one-to-many', inverseSide: 'author', cascade: ['insert', 'update', 'soft-remove', 'recover'] },
      manager: { target: 'User', type: 'many-to-one', nullable: true, onDelete: 'SET NULL', joinColumn: { name: 'manager_id' } },
   },
   indices: [{ name: 'by_age', columns: ['age'] }, { name: 'only_grown', columns: ['age', 'name'], unique: true, where: '(age > 17)' }, { columns: ['doc'], synchronize: false, name: 'by_doc' }],
   checks: [{ name: 'age_is_positive', expression: '"age" > 0' }], uniques: [{ name: 'home_once', columns: ['home.town', 'home.zip'] }],
});
const Profile = new EntitySchema({ name: 'Profile', columns: { id: { type: 'uuid', primary: true, generated: 'uuid' }, bio: { type: 'text' } }, relations: { user: { target: 'User', type: 'one-to-one', joinColumn: true, onDelete: 'CASCADE', inverseSide: 'profile' } } });
const Post = new EntitySchema({
   name: 'Post', columns: { id: { type: 'bigint', primary: true, generated: 'increment' }, title: { type: 'text' }, gone: { type: 'timestamptz', deleteDate: true, nullable: true } },
   relations: { author: { target: 'User', type: 'many-to-one', inverseSide: 'posts', onDelete: 'CASCADE', deferrable: 'INITIALLY DEFERRED', eager: true }, tags: { target: 'Tag', type: 'many-to-many', inverseSide: 'posts', joinTable: { name: 'post_tags' }, cascade: true }, notes: { target: 'Note', type: 'one-to-many', inverseSide: 'post', lazy: true } },
   relationIds: { authorId: { relationName: 'author' } },
});
const Tag = new EntitySchema({ name: 'Tag', orderBy: { label: 'ASC' }, columns: { label: { type: 'varchar', primary: true } }, relations: { posts: { target: 'Post', type: 'many-to-many', inverseSide: 'tags' } } });
const Note = new EntitySchema({ name: 'Note', columns: { part: { type: 'int', primary: true }, line: { type: 'int', primary: true }, text: { type: 'text', default: 'it is' } }, relations: { post: { target: 'Post', type: 'many-to-one', inverseSide: 'notes', lazy: true } }, uniques: [{ columns: ['text', 'part'] }] });
const Closure = new EntitySchema({ name: 'Closure', columns: { id, name: { type: 'text' } }, trees: [{ type: 'closure-table' }], relations: { parent: { target: 'Closure', type: 'many-to-one', treeParent: true, inverseSide: 'children' }, children: { target: 'Closure', type: 'one-to-many', treeChildren: true, inverseSide: 'parent', cascade: true } } });
const tree = (name, type) => new EntitySchema({ name, columns: { id, name: { type: 'text' } }, trees: [{ type }], relations: { parent: { target: name, type: 'many-to-one', treeParent: true, inverseSide: 'children' }, children: { target: name, type: 'one-to-many', treeChildren: true, inverseSide: 'parent', cascade: true } } });
const Path = tree('Path', 'materialized-path');
const Nested = tree('Nested', 'nested-set');
const Booking = new EntitySchema({ name: 'Booking', columns: { id: { type: 'int', primary: true }, room: { type: 'int' }, during: { type: 'int4range' } }, exclusions: [{ name: 'no_overlap', expression: 'USING gist ("during" WITH &&)' }] });
const Grown = new EntitySchema({ name: 'Grown', type: 'view', expression: (s) => s.createQueryBuilder().select('u.id', 'id').addSelect('u.name', 'name').from('User', 'u').where('u.age > 17'), columns: { id: { type: 'int' }, name: { type: 'varchar' } } });
const all = [User, Profile, Post, Tag, Note];
const with_ = (entity, changes) => { const { name, ...rest } = entity.options; return new EntitySchema({ name, ...rest, ...changes, columns: { ...rest.columns, ...changes.columns } }); };

async function opened(schema, entities, more = {}) {
   return new DataSource({ ...options, schema, entities, synchronize: true, extra: { max: 4, options: `-c search_path=${schema}` }, ...more }).initialize();
}

/** A test in a schema of its own, with tables of the entities. */
function inSchema(name, entities, body, more) {
   const schema = `typeorm_${++number}`;
   test(name, async () => {
      if (!root.isInitialized) await root.initialize();
      await root.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
      await root.query(`CREATE SCHEMA ${schema}`);
      const own = await opened(schema, entities, more);
      try {
         return told(await body(own, schema), schema);
      } finally {
         await own.destroy();
         await root.query(`DROP SCHEMA ${schema} CASCADE`);
      }
   });
}

/** What was seen without what is another at each run: times of now and UUIDs. */
function told(value, schema) {
   const text = JSON.stringify(value ?? null, (key, one) => (key.startsWith('__') ? undefined : typeof one === 'bigint' ? `${one}n` : one));
   return JSON.parse(text.replaceAll(schema, 'own').replace(/"20(2[5-9]|[3-9]\d)-\d\d-\d\dT[\d:.]+Z"/g, '"now"').replace(/20(2[5-9]|[3-9]\d)-\d\d-\d\d \d\d:\d\d:[\d.]+/g, 'now').replace(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'an id'));
}
const filled = (name, body) => inSchema(name, all, async (own, schema) => {
   await own.getRepository('User').save([
      { name: 'Ann', age: 30, role: 'admin', roles: ['a', 'c'], tags: ['x', 'y'], doc: { k: 1, n: { m: ['z'] } }, secret: 's', home: { town: 'Rome', zip: '00100' }, profile: { bio: 'first' } }, { name: 'Ben', age: 40, tags: [], doc: [1, 2] }, { name: 'Cid' }]);
   const users = await own.getRepository('User').find();
   users[1].manager = users[0];
   await own.getRepository('User').save(users[1]);
   await own.getRepository('Post').save([{ title: 'One', author: users[0], tags: [{ label: 'red' }, { label: 'blue' }] }, { title: 'Two', author: users[0], tags: [{ label: 'red' }] }, { title: 'Three', author: users[1] }]);
   await own.getRepository('Note').save([{ part: 1, line: 1, post: { id: 1 } }, { part: 1, line: 2, text: 'other', post: { id: 1 } }]);
   return body(own, schema);
});

const catalog = async (own, schema) => Promise.all([
   `SELECT table_name, column_name, data_type, udt_name, is_nullable, column_default, character_maximum_length, numeric_precision, numeric_scale, datetime_precision, is_generated, generation_expression, is_identity FROM information_schema.columns WHERE table_schema = $1 ORDER BY 1, ordinal_position`,
   `SELECT conrelid::regclass::text AS of, conname, pg_get_constraintdef(oid) AS text FROM pg_constraint WHERE connamespace = $1::regnamespace ORDER BY 1, 2`,
   `SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = $1 ORDER BY 1`,
   `SELECT t.typname, array_agg(e.enumlabel ORDER BY e.enumsortorder)::text AS labels FROM pg_enum e JOIN pg_type t ON t.oid = e.enumtypid WHERE t.typnamespace = $1::regnamespace GROUP BY 1 ORDER BY 1`,
   `SELECT viewname, definition FROM pg_views WHERE schemaname = $1 ORDER BY 1`].map((text) => own.query(text, [schema])));
/** What synchronise() would still do, and how it would be undone: each in no certain order. */
const difference = async (own) => { const log = await own.driver.createSchemaBuilder().log(); return [log.upQueries, log.downQueries].map((side) => side.map((one) => one.query).sort()); };

// Schemas.
inSchema('schema/made', all, catalog);
inSchema('schema/no difference', all, difference);
inSchema('schema/synchronised again', all, async (own, schema) => { const before = await catalog(own, schema); await own.synchronize(); return JSON.stringify(before) === JSON.stringify(await catalog(own, schema)); });
inSchema('schema/comment', all, (own, schema) => own.query(`SELECT col_description('${schema}.users'::regclass, 2) AS text`));
const changes = {
   'column added': { columns: { more: { type: 'int', default: 7 } } }, 'column longer': { columns: { name: { type: 'varchar', length: 80, unique: true } } }, 'column of another type': { columns: { age: { type: 'bigint', nullable: true } } }, 'column not null': { columns: { age: { type: 'int' } } }, 'default changed': { columns: { score: { type: 'numeric', precision: 8, scale: 2, default: () => '2' } } }, 'default dropped': { columns: { score: { type: 'numeric', precision: 8, scale: 2 } } }, 'precision changed': { columns: { score: { type: 'numeric', precision: 10, scale: 3, default: () => '1.5' } } },
   'enum value added': { columns: { role: { type: 'enum', enum: ['admin', 'guest', 'boss'], default: 'guest' } } }, 'enum value dropped': { columns: { roles: { type: 'enum', enum: ['a', 'c'], enumName: 'letters', array: true, default: [] } } }, 'enum renamed': { columns: { role: { type: 'enum', enum: ['admin', 'guest'], enumName: 'kind', default: 'guest' } } }, 'comment changed': { columns: { name: { type: 'varchar', length: 40, unique: true, comment: 'other' } } }, 'unique dropped': { columns: { name: { type: 'varchar', length: 40 } } }, 'index and check changed': { indices: [{ name: 'by_age', columns: ['age', 'role'], unique: true }], checks: [{ name: 'age_is_positive', expression: '"age" >= 0' }, { name: 'two', expression: `"name" <> '' AND length("name") < 39` }] },
   'generated changed': { columns: { label: { type: 'text', asExpression: 'lower(home_town)', generatedType: 'STORED', nullable: true, insert: false, update: false } } }, 'array made scalar': { columns: { tags: { type: 'text', nullable: true } } }, 'key of another kind': { columns: { id: { type: 'bigint', primary: true, generated: 'increment' } } }, 'column dropped and named anew': { columns: { age: { type: 'int', nullable: true, name: 'years' } }, indices: [], checks: [] }, 'foreign key changed': { relations: { ...User.options.relations, manager: { target: 'User', type: 'many-to-one', nullable: true, onDelete: 'CASCADE', onUpdate: 'CASCADE', deferrable: 'INITIALLY IMMEDIATE', joinColumn: { name: 'manager_id' } } } },
};
for (const [name, change] of Object.entries(changes))
   inSchema(`schema/${name}`, all, async (own, schema) => {
      const changed = await opened(schema, [with_(User, change), ...all.slice(1)], { synchronize: false });
      try {
         const planned = await difference(changed);
         await changed.synchronize();
         return [planned, await catalog(own, schema), await difference(changed)];
      } finally {
         await changed.destroy();
      }
   });
inSchema('schema/view', [...all, Grown], async (own, schema) => { await own.getRepository('User').save([{ name: 'Kid', age: 3 }, { name: 'Old', age: 90 }]); return [await own.getRepository('Grown').find(), await catalog(own, schema), await difference(own)]; });
inSchema('schema/materialized view', [], async (own, schema) => { const runner = own.createQueryRunner(); await runner.query('CREATE TABLE t AS SELECT i AS id, i % 3 AS g FROM generate_series(1, 9) i'); await runner.query('CREATE MATERIALIZED VIEW m AS SELECT g, count(*) AS n FROM t GROUP BY g'); await runner.query('CREATE UNIQUE INDEX m_g ON m (g)'); await runner.query('INSERT INTO t VALUES (10, 1)'); await runner.query('REFRESH MATERIALIZED VIEW CONCURRENTLY m'); const seen = [await runner.query('SELECT * FROM m ORDER BY g'), await own.query(`SELECT matviewname, definition FROM pg_matviews WHERE schemaname = '${schema}'`)]; await runner.release(); return seen; });
inSchema('schema/exclusion', [Booking], async (own, schema) => [await catalog(own, schema), await errorOf(own.getRepository('Booking').insert([{ id: 1, room: 1, during: '[1,5)' }, { id: 2, room: 1, during: '[4,9)' }]))]);
inSchema('schema/emptied', all, async (own, schema) => { await own.synchronize(true); const runner = own.createQueryRunner(); await runner.clearDatabase(); await runner.release(); return own.query(`SELECT table_name FROM information_schema.tables WHERE table_schema = '${schema}' ORDER BY 1`); });

// The query runner: changes one by one, and what it reads of the catalog.
const steps = {
   'create table': (r, t) => r.createTable(new Table({ name: t('made'), columns: [{ name: 'id', type: 'int', isPrimary: true, isGenerated: true, generationStrategy: 'identity', generatedIdentity: 'BY DEFAULT' }, { name: 'a', type: 'varchar', length: '9', default: "'x'", isNullable: true, collation: 'C' }, { name: 'b', type: 'timestamp', precision: 2, default: 'now()' }, { name: 'u', type: 'uuid', default: 'gen_random_uuid()' }], checks: [{ name: 'a_check', expression: "a IN ('x', 'y')" }], uniques: [{ name: 'a_once', columnNames: ['a', 'b'] }], indices: [{ name: 'by_b', columnNames: ['b'] }] }), true),
   'add column': (r, t) => r.addColumn(t('users'), new TableColumn({ name: 'extra', type: 'varchar', isNullable: true, isUnique: true })), 'change column': (r, t) => r.changeColumn(t('users'), 'age', new TableColumn({ name: 'years', type: 'int', isNullable: false, default: 5 })), 'rename column': (r, t) => r.renameColumn(t('users'), 'name', 'called'), 'drop column': (r, t) => r.dropColumn(t('users'), 'role'), 'rename table': (r, t) => r.renameTable(t('users'), 'people'), 'primary key changed': async (r, t) => { await r.dropPrimaryKey(t('note')); await r.createPrimaryKey(t('note'), ['line', 'part'], 'line_first'); },
   'unique': (r, t) => r.createUniqueConstraint(t('post'), new TableUnique({ columnNames: ['title'] })), check: (r, t) => r.createCheckConstraint(t('post'), new TableCheck({ expression: "title ~ '^[A-Z]' OR title IS NULL" })), exclusion: (r, t) => r.createExclusionConstraint(t('post'), new TableExclusion({ expression: 'USING btree (title WITH =)' })), 'foreign key': async (r, t) => { await r.addColumn(t('tag'), new TableColumn({ name: 'by', type: 'int', isNullable: true })); await r.createForeignKey(t('tag'), new TableForeignKey({ columnNames: ['by'], referencedTableName: t('users'), referencedColumnNames: ['id'], onDelete: 'SET NULL', onUpdate: 'CASCADE', deferrable: 'INITIALLY DEFERRED' })); },
   index: (r, t) => r.createIndex(t('post'), new TableIndex({ name: 'by_title', columnNames: ['title', 'id'], isUnique: true, where: 'gone IS NULL' })), 'index concurrently': (r, t) => r.createIndex(t('post'), new TableIndex({ name: 'by_title', columnNames: ['title'], isConcurrent: true })), 'index dropped': (r, t) => r.dropIndex(t('users'), 'by_age'), 'table comment': (r, t) => r.changeTableComment(t('users'), "it's theirs"), truncate: async (r, t) => { await r.query('TRUNCATE post_tags, note, post CASCADE'); await r.clearTable(t('profile')); }, 'table dropped': (r, t) => r.dropTable(t('note')),
};
for (const [name, step] of Object.entries(steps))
   inSchema(`runner/${name}`, all, async (own, schema) => {
      const runner = own.createQueryRunner();
      try {
         const t = (table) => `${schema}.${table}`;
         await step(runner, t);
         const tables = await runner.getTables(['users', 'people', 'made', 'note', 'post', 'tag'].map(t));
         for (const table of tables) for (const key of ['columns', 'indices', 'foreignKeys', 'uniques', 'checks', 'exclusions']) table[key].sort((a, b) => (a.name < b.name ? -1 : 1));
         return [tables.sort((a, b) => (a.name < b.name ? -1 : 1)), await catalog(own, schema)];
      } finally {
         await runner.release();
      }
   });
inSchema('runner/views and schemas', [...all, Grown], async (own, schema) => { const runner = own.createQueryRunner(); const seen = [(await runner.getViews()).map((v) => [v.name, v.expression, v.materialized]), await runner.hasTable('users'), await runner.hasColumn('users', 'age'), await runner.hasSchema(schema), await runner.getCurrentSchema(), await runner.hasDatabase('none'), (await runner.getSchemas()).includes('public')]; await runner.release(); return seen; });
class First1000000000001 { name = 'First1000000000001'; async up(r) { await r.query('CREATE TABLE made (id serial PRIMARY KEY)'); } async down(r) { await r.query('DROP TABLE made'); } }
class Second1000000000002 { name = 'Second1000000000002'; async up(r) { await r.query("ALTER TABLE made ADD x text NOT NULL DEFAULT ''"); } async down(r) { await r.query('ALTER TABLE made DROP x'); } }
class Third1000000000003 { name = 'Third1000000000003'; async up(r) { await r.query('CREATE TABLE half (a int)'); await r.query('ALTER TABLE nothing ADD y int'); } async down() {} }
inSchema('migrations/run and revert', [], async (own) => { const seen = [await own.showMigrations(), (await own.runMigrations()).map((m) => m.name), await own.showMigrations()]; await own.undoLastMigration(); return [...seen, await own.query('SELECT id, timestamp, name FROM migrations ORDER BY id'), await own.query('SELECT * FROM made')]; }, { synchronize: false, migrations: [First1000000000001, Second1000000000002] });
inSchema('migrations/that fail', [], async (own) => [await errorOf(own.runMigrations({ transaction: 'all' })), await errorOf(own.runMigrations({ transaction: 'each' })), await own.query('SELECT name FROM migrations ORDER BY id'), await own.query("SELECT to_regclass('half') AS half")], { synchronize: false, migrations: [First1000000000001, Second1000000000002, Third1000000000003] });

// Types: one column of each, its array, what is read back, and no difference afterwards.
const types = {
   int: 1, int2: 2, int8: '9007199254740993', smallint: 3, bigint: '-1', decimal: '1.50', numeric: '12345678901234567890.5', real: 1.5, float: 2.5, 'double precision': 0.1, money: '$1,000.50', varchar: 'abc', char: 'c', 'character varying': 'cv', text: "it's", citext: null, hstore: null, bytea: Buffer.from([0, 1, 255]), bit: '1', varbit: '101', 'bit varying': '11', timetz: '12:30:00+02', timestamptz: new Date(0), timestamp: new Date(86400000), date: '2024-02-29', time: '12:30:00', interval: '1 day 02:03:04',
   boolean: true, point: '(1,2)', line: '{1,2,3}', lseg: '((0,0),(1,1))', box: '(2,2),(0,0)', path: '((0,0),(1,1))', polygon: '((0,0),(1,1),(1,0))', circle: '<(1,1),2>', cidr: '10.0.0.0/8', inet: '10.0.0.1', macaddr: '08:00:2b:01:02:03', macaddr8: '08:00:2b:01:02:03:04:05', tsvector: 'a:1 b:2', tsquery: "'a' & 'b'", uuid: 'a0eebc99-9c0b-1ef8-bb6d-6bb9bd380a11', xml: '<a/>', json: { a: [1] }, jsonb: { b: null }, jsonpath: '$."a"[*]', int4range: '[1,5)', int8range: '[1,)', numrange: '(0.5,1.5]', tsrange: '["2024-01-01 00:00:00","2024-02-01 00:00:00")', tstzrange: '["2024-01-01 00:00:00+00",)', daterange: '[2024-01-01,2024-02-01)', int4multirange: '{[1,3),[5,7)}', nummultirange: '{[1.5,2]}', datemultirange: '{[2024-01-01,2024-02-01)}', ltree: null, 'simple-array': ['a', 'b'], 'simple-json': { s: 1 }, 'simple-enum': null,
};
for (const [type, value] of Object.entries(types))
   if (value !== null) {
      const many = type.startsWith('simple') || ['money', 'json', 'jsonb', 'bytea', 'box', 'tsvector', 'tsquery'].includes(type) || /range/.test(type) ? {} : { many: { type, array: true, nullable: true } };
      inSchema(`types/${type}`, [new EntitySchema({ name: 'Typed', columns: { id, v: { type, nullable: true }, ...many } })], async (own, schema) => {
         const typed = own.getRepository('Typed');
         await typed.save([{ v: value, ...(many.many && typeof value !== 'object' ? { many: [value, value] } : {}) }, {}]);
         const [one] = await typed.find({ order: { id: 'ASC' } });
         const runner = own.createQueryRunner();
         const table = await runner.getTable(`${schema}.typed`);
         await runner.release();
         return [one, await own.query('SELECT v::text AS v FROM typed ORDER BY id'), table.columns.map((c) => [c.name, c.type, c.length, c.precision, c.scale, c.isArray, c.isNullable]).sort(), await difference(own)];
      });
   }
const sized = { v: { type: 'varchar', length: 5, default: 'a' }, n: { type: 'numeric', precision: 5, scale: 1, default: -1.5 }, t: { type: 'timestamptz', precision: 2, default: () => 'now()' }, b: { type: 'bool', default: false }, j: { type: 'jsonb', default: { a: 1, b: 'x' } }, d: { type: 'date', default: () => 'CURRENT_DATE' }, a: { type: 'int', array: true, default: [1, 2] }, i: { type: 'interval', default: '1 day' }, u: { type: 'uuid', generated: 'uuid' }, s: { type: 'int', generated: 'increment' }, e: { type: 'enum', enum: ['a b', "c'd"], default: 'a b' }, x: { type: 'bigint', default: '9007199254740993' }, c: { type: 'varchar', collation: 'C', default: 'it is' } };
inSchema('types/sizes and defaults', [new EntitySchema({ name: 'Sized', columns: { id: { type: 'int', primary: true }, ...sized } })], async (own, schema) => [await catalog(own, schema), await difference(own)]);

// Finding.
const users = (own) => own.getRepository('User');
const posts = (own) => own.getRepository('Post');
const finds = {
   all: (o) => users(o).find(), by: (o) => users(o).findBy({ name: In(['Ann', 'Cid']) }), one: (o) => users(o).findOneBy({ name: 'Ann' }), 'one or fail': (o) => errorOf(users(o).findOneByOrFail({ name: 'Z' })), select: (o) => users(o).find({ select: { name: true, secret: true } }), operators: async (o) => [await users(o).findBy({ name: Like('A%') }), await users(o).findBy({ name: ILike('b%') }), await users(o).findBy({ age: Between(35, 45) }), await users(o).findBy({ age: IsNull() }), await users(o).findBy([{ age: MoreThan(35) }, { name: Not('Ben') }])].map((r) => r.map((u) => u.name)),
   arrays: async (o) => [await users(o).findBy({ tags: ArrayContains(['x']) }), await users(o).findBy({ tags: ArrayContainedBy(['x']) }), await users(o).findBy({ tags: ArrayOverlap(['y', 'q']) }), await users(o).findBy({ name: Any(['Ann', 'Ben']) }), await users(o).findBy({ roles: ArrayContains(['c']) })].map((r) => r.map((u) => u.name)), json: async (o) => [await users(o).findBy({ doc: JsonContains({ k: 1 }) }), await users(o).findBy({ doc: Raw((c) => `${c} @? '$.n.m[*] ? (@ == "z")'`) })].map((r) => r.map((u) => u.name)), embedded: (o) => users(o).findBy({ home: { town: 'Rome' } }),
   relations: (o) => users(o).find({ relations: { profile: true, posts: { tags: true }, manager: true }, order: { id: 'ASC', posts: { id: 'ASC', tags: { label: 'ASC' } } } }), 'relations by queries': (o) => users(o).find({ relations: { profile: true, posts: true }, relationLoadStrategy: 'query', order: { id: 'ASC' } }), 'relation in where': (o) => posts(o).find({ where: { author: { name: 'Ann' } }, order: { title: 'DESC' } }), eager: (o) => posts(o).findOneBy({ title: 'Three' }), lazy: async (o) => { const post = await posts(o).findOneBy({ title: 'One' }); return (await post.notes).map((n) => n.text).sort(); }, page: (o) => users(o).findAndCount({ skip: 1, take: 1, relations: { posts: true } }), aggregates: async (o) => [await users(o).count(), await users(o).sum('age'), await users(o).average('age'), await users(o).minimum('age'), await users(o).maximum('age'), await users(o).exists({ where: { age: 30 } })],
};
for (const [name, find] of Object.entries(finds)) filled(`find/${name}`, find);
const queries = {
   joins: (o) => users(o).createQueryBuilder('u').leftJoinAndSelect('u.posts', 'p', 'p.title <> :t', { t: 'Two' }).leftJoinAndSelect('p.tags', 't').where('u.age IS NOT NULL').orderBy({ 'u.id': 'ASC', 'p.id': 'ASC', 't.label': 'DESC' }).getMany(), 'inner join of entity': (o) => users(o).createQueryBuilder('u').innerJoin('Post', 'p', 'p."authorId" = u.id').select(['u.name AS name', 'p.title AS title']).orderBy('p.id').getRawMany(), 'mapped': (o) => users(o).createQueryBuilder('u').leftJoinAndMapOne('u.latest', 'u.posts', 'p', "p.title = 'Two'").orderBy('u.id').getMany(), 'relation count and ids': (o) => posts(o).createQueryBuilder('p').loadRelationIdAndMap('p.labels', 'p.tags').orderBy('p.id').getMany(), 'raw and entities': (o) => users(o).createQueryBuilder('u').addSelect('u.age * 2', 'twice').getRawAndEntities().then((r) => [r.entities.length, r.raw.map((x) => x.twice)]),
   'sub-query in where': (o) => posts(o).createQueryBuilder('p').where((q) => `p."authorId" IN ${q.subQuery().select('u.id').from('User', 'u').where('u.age > :a').getQuery()}`).setParameter('a', 35).getMany(), 'sub-query in from': (o) => o.createQueryBuilder().select('s.who', 'who').addSelect('s.n', 'n').from((q) => q.select('p."authorId"', 'who').addSelect('count(*)', 'n').from('Post', 'p').groupBy('p."authorId"'), 's').orderBy('s.who').getRawMany(), 'sub-query in select': (o) => users(o).createQueryBuilder('u').select('u.name', 'name').addSelect((q) => q.select('max(p.title)').from('Post', 'p').where('p."authorId" = u.id'), 'last').orderBy('u.id').getRawMany(), exists: (o) => users(o).createQueryBuilder('u').whereExists(posts(o).createQueryBuilder('p').where('p."authorId" = u.id')).getMany().then((r) => r.map((u) => u.name)), brackets: (o) => users(o).createQueryBuilder('u').where('u.age > 1').andWhere(new Brackets((b) => b.where("u.name = 'Ann'").orWhere("u.role = 'guest'"))).getCount(),
   cte: (o) => o.createQueryBuilder().addCommonTableExpression(posts(o).createQueryBuilder('p').select('p."authorId"', 'who').addSelect('count(*)', 'n').groupBy('p."authorId"'), 'c', { columnNames: ['who', 'n'] }).select('c.who', 'who').addSelect('c.n', 'n').from('c', 'c').orderBy('c.who').getRawMany(), 'recursive cte': (o) => o.createQueryBuilder().addCommonTableExpression('SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5', 'n', { recursive: true, columnNames: ['i'] }).select('sum(i)', 's').from('n', 'n').getRawOne(), 'materialized cte': (o) => o.createQueryBuilder().addCommonTableExpression('SELECT name FROM users', 'n', { materialized: true }).select('count(*)', 'c').from('n', 'n').getRawOne(), 'distinct on': (o) => posts(o).createQueryBuilder('p').distinctOn(['p.authorId']).orderBy('p.authorId').addOrderBy('p.title', 'DESC').getMany(), 'group and having': (o) => posts(o).createQueryBuilder('p').select('p."authorId"', 'who').addSelect("string_agg(p.title, ',' ORDER BY p.title)", 'all').groupBy('p."authorId"').having('count(*) > 1').getRawMany(), window: (o) => posts(o).createQueryBuilder('p').select('p.title', 'title').addSelect('rank() OVER (PARTITION BY p."authorId" ORDER BY p.title)', 'r').orderBy('p.id').getRawMany(), 'order with nulls': (o) => users(o).createQueryBuilder('u').orderBy('u.age', 'DESC', 'NULLS FIRST').getMany().then((r) => r.map((u) => u.name)), 'page of joined': (o) => users(o).createQueryBuilder('u').leftJoinAndSelect('u.posts', 'p').orderBy('u.name', 'DESC').addOrderBy('p.id').skip(1).take(2).getManyAndCount(),
   stream: async (o) => { const seen = []; for await (const row of await users(o).createQueryBuilder('u').select('u.name', 'n').orderBy('u.id').stream()) seen.push(row); return seen; }, cached: async (o) => [await users(o).createQueryBuilder('u').select('u.name').cache('k', 60000).getMany(), await users(o).createQueryBuilder('u').select('u.name').cache('k', 60000).getMany()].map((r) => r.length),
   insert: (o) => o.createQueryBuilder().insert().into('User').values([{ name: 'Dan' }, { name: () => "upper('eve')", age: 5 }]).returning(['id', 'name', 'label']).execute(), 'insert from select': (o) => o.createQueryBuilder().insert().into('Tag', ['label']).valuesFromSelect((q) => q.select('p.title', 'label').from('Post', 'p')).returning('label').execute().then((r) => r.raw), 'or ignore': (o) => o.createQueryBuilder().insert().into('Tag').values([{ label: 'red' }, { label: 'new' }]).orIgnore().returning('*').execute().then((r) => r.raw), 'or update': (o) => o.createQueryBuilder().insert().into('User').values([{ name: 'Ann', age: 77 }, { name: 'Fay', age: 6 }]).orUpdate(['age'], ['name'], { skipUpdateIfNoValuesChanged: true }).returning(['id', 'age']).execute().then((r) => r.raw), upsert: async (o) => [await users(o).upsert([{ name: 'Ann', age: 31 }, { name: 'Gus', age: 8 }], { conflictPaths: ['name'], skipUpdateIfNoValuesChanged: true }), await users(o).count()], 'upsert of some': async (o) => { await users(o).upsert({ name: 'Hal', age: 20 }, { conflictPaths: ['age', 'name'], indexPredicate: '"age" > 17' }); return users(o).find({ select: { name: true, age: true } }); },
   update: (o) => o.createQueryBuilder().update('User').set({ age: () => 'age + 1', doc: { z: 1 } }).where('name = :n', { n: 'Ann' }).returning(['id', 'age', 'version', 'doc']).execute(), delete: (o) => o.createQueryBuilder().delete().from('Post').where('title LIKE :t', { t: 'T%' }).returning('*').execute(), 'soft delete and restore': async (o) => { const seen = [await users(o).softDelete({ name: 'Ann' }), await users(o).count(), await users(o).count({ withDeleted: true })]; await users(o).restore({ name: 'Ann' }); return [...seen, await users(o).count()]; }, 'soft remove cascades': async (o) => { await users(o).softRemove(await users(o).findOne({ where: { name: 'Ann' }, relations: { posts: true } })); const seen = [await posts(o).count(), await posts(o).count({ withDeleted: true })]; await users(o).recover(await users(o).findOne({ where: { name: 'Ann' }, relations: { posts: true }, withDeleted: true })); return [...seen, await posts(o).count()]; }, increment: async (o) => { await users(o).increment({ name: 'Ann' }, 'age', 5); await users(o).decrement({ name: 'Ben' }, 'age', 1); return users(o).find(); },
   'save changes': async (o) => { const ann = await users(o).findOneBy({ name: 'Ann' }); ann.age = 50; ann.home.zip = '1'; ann.tags.push('z'); await users(o).save(ann); return users(o).findOneBy({ id: ann.id }); }, 'remove cascades': async (o) => { await users(o).remove(await users(o).findOneBy({ name: 'Ann' })); return [await posts(o).count(), await o.getRepository('Profile').count(), await o.query('SELECT count(*)::int AS n FROM post_tags'), await users(o).find({ relations: { manager: true } })]; }, 'relation builder': async (o) => { const q = (of) => o.createQueryBuilder().relation('Post', of); await q('tags').of({ id: 3 }).add({ label: 'red' }); await q('tags').of({ id: 1 }).remove({ label: 'blue' }); await q('author').of({ id: 3 }).set({ id: 3 }); return [await q('tags').of({ id: 3 }).loadMany(), await q('author').of({ id: 3 }).loadOne()]; }, 'many to many replaced': async (o) => { const post = await posts(o).findOne({ where: { id: '1' }, relations: { tags: true } }); post.tags = [{ label: 'green' }]; await posts(o).save(post); return o.getRepository('Tag').find({ relations: { posts: true } }); },
   'unique violated': (o) => errorOf(users(o).insert({ name: 'Ann' })), 'check violated': (o) => errorOf(users(o).insert({ name: 'N', age: -1 })), 'foreign key violated': (o) => errorOf(posts(o).insert({ title: 'x', author: { id: 99 } })), 'bad enum': (o) => errorOf(users(o).insert({ name: 'N', role: 'king' })), 'too long': (o) => errorOf(users(o).insert({ name: 'N'.repeat(41) })), 'null where none may be': (o) => errorOf(posts(o).insert({})), 'bad version': (o) => errorOf(o.transaction((m) => m.findOne('User', { where: { id: 1 }, lock: { mode: 'optimistic', version: 9 } }))),
   transaction: async (o) => { const seen = await o.transaction('REPEATABLE READ', async (m) => [await m.query('SHOW transaction_isolation'), (await m.save('Tag', { label: 't' })).label]); return [seen, await o.getRepository('Tag').count()]; }, 'rolled back': async (o) => [await errorOf(o.transaction(async (m) => { await m.save('Tag', { label: 't' }); throw new RangeError('back'); })), await o.getRepository('Tag').count()], 'nested transactions': async (o) => { await o.transaction(async (m) => { await m.save('Tag', { label: 'out' }); await errorOf(m.transaction(async (n) => { await n.save('Tag', { label: 'in' }); throw new RangeError('back'); })); await m.transaction((n) => n.save('Tag', { label: 'kept' })); }); return o.getRepository('Tag').find(); }, 'deferred foreign key': (o) => errorOf(o.transaction(async (m) => { await m.insert('Post', { title: 'x', author: { id: 99 } }); await m.query('SELECT 1'); })), 'error within': (o) => errorOf(o.transaction(async (m) => { await errorOf(m.query('SELECT 1/0')); await m.query('SELECT 1'); })),
};
for (const [name, query] of Object.entries(queries)) filled(`queries/${name}`, query);
for (const mode of ['pessimistic_read', 'pessimistic_write', 'for_no_key_update', 'for_key_share'])
   filled(`locks/${mode}`, (o) => o.transaction(async (m) => {
      const held = await m.findOne('User', { where: { name: 'Ann' }, lock: { mode } });
      const skipped = await o.transaction((n) => n.find('User', { lock: { mode: 'pessimistic_write', onLocked: 'skip_locked' }, select: { id: true, name: true } }));
      return [held.name, skipped.map((u) => u.name), await errorOf(o.transaction((n) => n.findOne('User', { where: { name: 'Ann' }, lock: { mode: 'pessimistic_write', onLocked: 'nowait' } })))];
   }));
filled('locks/of one table', (o) => o.transaction(async (m) => (await m.createQueryBuilder('Post', 'p').innerJoinAndSelect('p.author', 'u').setLock('pessimistic_write', undefined, ['p']).where('u.id = 1').getMany()).map((p) => p.title)));

// Trees.
for (const [entity, kind] of [[Closure, 'closure'], [Path, 'path'], [Nested, 'nested']])
   inSchema(`trees/${kind}`, [entity], async (own, schema) => {
      const nodes = own.getTreeRepository(entity);
      const top = await nodes.save({ name: 'top' });
      const left = await nodes.save({ name: 'left', parent: top });
      await nodes.save({ name: 'right', parent: top });
      const leaf = await nodes.save({ name: 'leaf', parent: left });
      const seen = [await nodes.findTrees(), await nodes.countDescendants(top), (await nodes.findAncestors(leaf)).map((n) => n.name).sort(), await nodes.findDescendantsTree(left), (await nodes.findRoots()).length];
      if (kind !== 'nested') { leaf.parent = top; await nodes.save(leaf); }
      return [...seen, (await nodes.findDescendants(left)).map((n) => n.name), await own.query(`SELECT * FROM ${entity.options.name.toLowerCase()} ORDER BY id`), await catalog(own, schema), await difference(own)];
   });
// Inheritance in one table.
class Animal {}
class Dog extends Animal {}
const AnimalSchema = new EntitySchema({ name: 'Animal', target: Animal, columns: { id, name: { type: 'text' }, kind: { type: 'varchar' } }, inheritance: { pattern: 'STI', column: 'kind' } });
const DogSchema = new EntitySchema({ name: 'Dog', target: Dog, type: 'entity-child', columns: { id, name: { type: 'text' }, kind: { type: 'varchar' }, bark: { type: 'text', nullable: true } } });
inSchema('inheritance', [AnimalSchema, DogSchema], async (own, schema) => { await own.manager.save(Object.assign(new Dog(), { name: 'Rex', bark: 'wau' })); await own.manager.save(Object.assign(new Animal(), { name: 'Any' })); return [await own.manager.find(Animal, { order: { id: 'ASC' } }), await own.manager.find(Dog), await catalog(own, schema), await difference(own)]; });
await run(() => root.destroy());
