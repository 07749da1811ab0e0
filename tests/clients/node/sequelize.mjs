// Sequelize: models, sync, associations, queries, transactions, the query interface.
import { DataTypes, Op, QueryTypes, Sequelize } from 'sequelize';
import { errorOf, run, test, url } from './harness.mjs';

const sequelize = new Sequelize(url, { logging: false, pool: { max: 4 } });
let number = 0;

/** A test with models in a schema of its own. */
function filled(name, body) {
   const schema = `sequelize_${++number}`;
   test(name, async () => {
      await sequelize.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
      await sequelize.createSchema(schema);
      const own = new Sequelize(url, { logging: false, define: { schema, timestamps: false }, pool: { max: 3 } });
      const User = own.define('user', { name: { type: DataTypes.STRING(40), allowNull: false, unique: true }, age: { type: DataTypes.INTEGER, validate: { min: 0 } }, role: DataTypes.ENUM('admin', 'guest'), tags: DataTypes.ARRAY(DataTypes.TEXT), doc: DataTypes.JSONB, score: { type: DataTypes.DECIMAL(8, 2), defaultValue: 1.5 } },
         { indexes: [{ fields: ['age'] }, { fields: ['doc'], using: 'gin' }] });
      const Post = own.define('post', { id: { type: DataTypes.UUID, primaryKey: true, defaultValue: DataTypes.UUIDV4 }, title: DataTypes.TEXT, at: DataTypes.DATE });
      const Tag = own.define('tag', { label: { type: DataTypes.STRING, unique: true } });
      User.hasMany(Post, { onDelete: 'CASCADE' });
      Post.belongsTo(User);
      Post.belongsToMany(Tag, { through: 'post_tags' });
      Tag.belongsToMany(Post, { through: 'post_tags' });
      await own.sync();
      await User.bulkCreate([{ name: 'Ann', age: 30, role: 'admin', tags: ['a', 'b'], doc: { k: 1, n: { m: 'x' } } }, { name: 'Ben', age: 40, role: 'guest', tags: [] }, { name: 'Cid' }]);
      await Post.bulkCreate([{ title: 'One', userId: 1, at: new Date(0) }, { title: 'Two', userId: 1 }, { title: 'Three', userId: 2 }]);
      try {
         return await body({ own, User, Post, Tag, schema });
      } finally {
         await own.close();
         await sequelize.query(`DROP SCHEMA ${schema} CASCADE`);
      }
   });
}
const plain = (rows) => JSON.parse(JSON.stringify(rows));
const order = [['id', 'ASC']];
const queries = {
   all: ({ User }) => User.findAll({ order }), 'by key': ({ User }) => User.findByPk(2), one: ({ User }) => User.findOne({ where: { name: 'Ann' } }), attributes: ({ User }) => User.findAll({ attributes: ['name', ['age', 'years']], order }), where: ({ User }) => User.findAll({ where: { age: { [Op.between]: [35, 45] } } }), or: ({ User }) => User.findAll({ where: { [Op.or]: [{ name: 'Ann' }, { age: null }] }, order }), in: ({ User }) => User.findAll({ where: { id: [1, 3] }, order }), like: ({ User }) => User.findAll({ where: { name: { [Op.iLike]: 'b%' } } }), regexp: ({ User }) => User.findAll({ where: { name: { [Op.regexp]: '^[AB]' } }, order }),
   'array contains': ({ User }) => User.findAll({ where: { tags: { [Op.contains]: ['a'] } } }), 'array overlap': ({ User }) => User.findAll({ where: { tags: { [Op.overlap]: ['a', 'z'] } } }), 'json path': ({ User }) => User.findAll({ where: { 'doc.n.m': 'x' } }), 'json nested': ({ User }) => User.findAll({ where: { doc: { k: { [Op.gt]: 0 } } } }), 'json contains': ({ User }) => User.findAll({ where: { doc: { [Op.contains]: { k: 1 } } } }), enum: ({ User }) => User.findAll({ where: { role: 'guest' } }), count: ({ User }) => User.count(), 'find and count': ({ User }) => User.findAndCountAll({ limit: 1, offset: 1, order }), sum: ({ User }) => User.sum('age'), max: ({ User }) => User.max('name'), group: ({ User, own }) => User.findAll({ attributes: ['role', [own.fn('COUNT', own.col('id')), 'n']], group: 'role', order: ['role'] }),
   having: ({ Post, own }) => Post.findAll({ attributes: ['userId'], group: 'userId', having: own.where(own.fn('COUNT', own.col('id')), Op.gt, 1) }), include: ({ User, Post }) => User.findAll({ include: { model: Post, attributes: ['title'] }, order: [['id', 'ASC'], [Post, 'title', 'ASC']] }), 'include required': ({ User, Post }) => User.findAll({ include: { model: Post, where: { title: 'Three' }, attributes: [] } }), 'include separate': ({ User, Post }) => User.findAll({ include: { model: Post, separate: true, attributes: ['title', 'userId'], order: [['title', 'ASC']] }, order }), 'include and limit': ({ User, Post }) => User.findAll({ include: { model: Post, attributes: ['title'] }, limit: 1, order: [['id', 'ASC'], [Post, 'title', 'ASC']] }), 'belongs to': async ({ Post, User }) => Post.findOne({ where: { title: 'One' }, include: User, attributes: ['title'] }),
   'many to many': async ({ Post, Tag }) => { const post = await Post.findOne({ where: { title: 'One' } }); await post.createTag({ label: 'x' }); await post.addTag(await Tag.create({ label: 'y' })); return [(await post.getTags({ order: ['label'] })).map((t) => t.label), await post.countTags(), await Tag.findAll({ include: { model: Post, attributes: ['title'], through: { attributes: [] } }, order: ['label'] })]; },
   create: async ({ User }) => User.create({ name: 'Dan', role: 'guest', doc: [1] }), update: ({ User }) => User.update({ age: 1 }, { where: { name: 'Ann' }, returning: true }), save: async ({ User }) => { const user = await User.findByPk(1); user.name = 'New'; await user.save(); return user.reload(); }, increment: async ({ User }) => { await User.increment({ age: 5 }, { where: { id: 1 } }); return User.findByPk(1); }, destroy: async ({ User, Post }) => [await User.destroy({ where: { id: 1 } }), await Post.count()], truncate: async ({ Post }) => { await Post.truncate({ cascade: true }); return Post.count(); }, upsert: async ({ User }) => [(await User.upsert({ name: 'Ann', age: 99 }, { conflictFields: ['name'] }))[0], await User.count()], 'find or create': async ({ User }) => { const [a, made] = await User.findOrCreate({ where: { name: 'Zed' }, defaults: { age: 3 } }); const [b, again] = await User.findOrCreate({ where: { name: 'Zed' } }); return [a, made, b, again]; }, 'bulk ignore': async ({ User }) => { await User.bulkCreate([{ name: 'Ann' }, { name: 'Eve' }], { ignoreDuplicates: true }); return User.count(); }, 'bulk update': async ({ User }) => { await User.bulkCreate([{ name: 'Ann', age: 7 }], { updateOnDuplicate: ['age'], conflictAttributes: ['name'] }); return User.findOne({ where: { name: 'Ann' } }); },
   'unique violation': ({ User }) => errorOf(User.create({ name: 'Ann' })), 'foreign violation': ({ Post }) => errorOf(Post.create({ userId: 99 })), 'bad enum': ({ own, schema }) => errorOf(own.query(`INSERT INTO ${schema}.users (name, role) VALUES ('q', 'boss')`)), 'not null': ({ User }) => errorOf(User.create({})), 'unknown column': ({ User }) => errorOf(User.findAll({ attributes: ['nothing'] })), replacements: ({ own }) => own.query('SELECT :a::int AS a, ?::text AS b'.replace('?', ':b'), { replacements: { a: 1, b: 'x' }, type: QueryTypes.SELECT }), bind: ({ own }) => own.query('SELECT $1::int AS a, $2::text AS b', { bind: [1, 'y'], type: QueryTypes.SELECT }),
   transaction: async ({ own, User }) => { await own.transaction((transaction) => User.create({ name: 'T' }, { transaction })); return User.count(); }, 'rolled back': async ({ own, User }) => [await errorOf(own.transaction(async (transaction) => { await User.create({ name: 'T' }, { transaction }); throw new RangeError('back'); })), await User.count()], 'isolation level': ({ own }) => own.transaction({ isolationLevel: 'REPEATABLE READ' }, (transaction) => own.query('SHOW transaction_isolation', { transaction, type: QueryTypes.SELECT })), locked: ({ own, User }) => own.transaction((transaction) => User.findAll({ lock: transaction.LOCK.UPDATE, skipLocked: true, transaction, order })),
   'describe table': ({ own, schema }) => own.getQueryInterface().describeTable('users', { schema }), 'show indexes': ({ own, schema }) => own.getQueryInterface().showIndex({ tableName: 'users', schema }).then((all) => all.map((i) => [i.name, i.unique, i.primary, i.fields.map((f) => f.attribute)]).sort()), 'foreign keys': ({ own, schema }) => own.getQueryInterface().getForeignKeyReferencesForTable({ tableName: 'posts', schema }), 'all tables': ({ own, schema }) => own.getQueryInterface().showAllTables().then((all) => all.filter((t) => (t.schema ?? '') === schema)), 'sync alter': async ({ own, schema }) => { own.define('user', { name: { type: DataTypes.STRING(80), allowNull: false }, age: DataTypes.BIGINT, more: { type: DataTypes.BOOLEAN, defaultValue: true } }); await own.sync({ alter: true }); return own.getQueryInterface().describeTable('users', { schema }); }, 'sync force': async ({ own, User }) => { await own.sync({ force: true }); return User.count(); },
   'add and change columns': async ({ own, schema }) => { const q = own.getQueryInterface(); const t = { tableName: 'tags', schema }; await q.addColumn(t, 'n', { type: DataTypes.INTEGER, defaultValue: 3 }); await q.changeColumn(t, 'n', { type: DataTypes.BIGINT, allowNull: false }); await q.renameColumn(t, 'n', 'm'); await q.addIndex(t, ['m'], { name: 'by_m' }); await q.addConstraint(t, { fields: ['m'], type: 'check', name: 'm_check', where: { m: { [Op.gt]: 0 } } }); const seen = await q.describeTable(t); await q.removeConstraint(t, 'm_check'); await q.removeIndex(t, 'by_m'); await q.removeColumn(t, 'm'); return [seen, await q.describeTable(t)]; },
};
for (const [name, query] of Object.entries(queries))
   filled(`queries/${name}`, async (models) => JSON.parse(JSON.stringify(await query(models) ?? null).replace(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f-]{22}/g, 'an id')));
const types = { STRING: ['abc'], TEXT: ['x'], CITEXT: null, CHAR: ['c'], BOOLEAN: [true], INTEGER: [1], BIGINT: ['9007199254740993'], SMALLINT: [3], REAL: [1.5], DOUBLE: [2.5], FLOAT: [0.25], DECIMAL: ['1.5'], DATE: [new Date(0)], DATEONLY: ['2024-02-29'], TIME: ['12:30:00'], UUID: ['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'], JSON: [{ a: 1 }, [1]], JSONB: [{ b: [1, null] }], BLOB: [Buffer.from('ab')], INET: ['10.0.0.1'], CIDR: ['10.0.0.0/8'], MACADDR: ['08:00:2b:01:02:03'] };
for (const [name, all] of Object.entries(types))
   if (all) filled(`types/${name}`, async ({ own, schema }) => {
      const T = own.define('typed', { v: DataTypes[name], many: DataTypes.ARRAY(DataTypes[name]) });
      await T.sync();
      for (const v of all) await T.create({ v, many: name.startsWith('JSON') || name === 'BLOB' ? null : [v, v] });
      return [plain(await T.findAll({ order })), (await own.getQueryInterface().describeTable('typeds', { schema })).v];
   });
filled('types/ranges', async ({ own }) => {
   const T = own.define('ranged', { v: DataTypes.RANGE(DataTypes.INTEGER), d: DataTypes.RANGE(DataTypes.DATEONLY) });
   await T.sync();
   await T.create({ v: [1, 5], d: ['2024-01-01', '2024-02-01'] });
   return [plain(await T.findAll({ where: { v: { [Op.contains]: 2 } } })), await T.count({ where: { v: { [Op.overlap]: [7, 9] } } })];
});
void plain;
await run(() => sequelize.close());
